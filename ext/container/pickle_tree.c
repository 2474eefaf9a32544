/* The tree of a pickle: reading and closing it. See pickle.h and pickle_tree.h. */
#include "container/pickle_tree.h"

#include <assert.h>
#include "core/host.h"

void zt_pickle_close(zt_pickle *p){
  if( !p ) return;
  sqlite3_free(p->items);
  sqlite3_free(p->words);
  sqlite3_free(p->calls);
  sqlite3_free(p->made);
  sqlite3_free(p->behind);
  sqlite3_free(p);
}

int zt_pickle_protocol(const zt_pickle *p){
  return p->protocol;
}

uint32_t zt_pickle_count_latin1(zt_span text){
  uint32_t n = 0;
  for(size_t i=0; i<text.n; i++, n++){
    if( text.p[i]<0x80 ) continue;
    if( text.p[i]>0xC3 ) return UINT32_MAX;
    i++;
  }
  return n;
}

zt_pickle_node zt_pickle_root(const zt_pickle *p){
  return p->root;
}

uint32_t zt_pickle_nodes(const zt_pickle *p){
  return p->n-1;
}

bool zt_pickle_has_dropped(const zt_pickle *p){
  return p->drops;
}

bool zt_pickle_is_dropped(const zt_pickle *p, zt_pickle_node node){
  return (p->items[node].flags & ZT_PICKLE_DROPPED)!=0;
}

void zt_pickle_clear_dropped(zt_pickle *p, zt_pickle_node node){
  p->items[node].flags &= (uint16_t)~ZT_PICKLE_DROPPED;
}

void zt_pickle_set_state(zt_pickle *p, zt_pickle_node node, zt_pickle_node state){
  zt_pickle_parts *call = &p->calls[p->items[node].a];
  assert( p->items[node].kind==ZT_PICKLE_CALL && call->state==0 );
  call->state = state;
}

zt_pickle_kind zt_pickle_kind_of(const zt_pickle *p, zt_pickle_node node){
  return (zt_pickle_kind)p->items[node].kind;
}

bool zt_pickle_is_empty(const zt_pickle *p, zt_pickle_node node){
  const zt_pickle_item *item = &p->items[node];
  return item->n==0 && item->kind>=ZT_PICKLE_TUPLE && item->kind<=ZT_PICKLE_DICT;
}

static zt_span pickle_bytes(const zt_pickle *p, const zt_pickle_item *item){
  return (zt_span){ (item->flags & ZT_PICKLE_MADE ? p->made : p->bytes.p)+item->a, item->n };
}

static void pickle_get_global(const zt_pickle *p, const zt_pickle_item *item, zt_pickle_value *out){
  zt_span a, b;
  if( item->flags & ZT_PICKLE_PAIR ){
    a = pickle_bytes(p, &p->items[item->a]);
    b = pickle_bytes(p, &p->items[item->b]);
  }else{
    a = (zt_span){ p->bytes.p+item->a, item->b };
    b = (zt_span){ a.p+item->b+1, item->n-item->b-1 };
  }
  out->module = (zt_text){ (const char*)a.p, a.n };
  out->name = (zt_text){ (const char*)b.p, b.n };
}

void zt_pickle_get(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out){
  const zt_pickle_item *item = &p->items[node];
  const zt_pickle_parts *call;
  assert( node<p->n );
  out->kind = (zt_pickle_kind)item->kind;
  out->n = 0;
  out->bytes = (zt_span){ NULL, 0 };
  switch( out->kind ){
    case ZT_PICKLE_INTEGER:
      if( item->flags & ZT_PICKLE_WIDE ) out->bytes = pickle_bytes(p, item);
      else out->integer = item->integer;
      break;
    case ZT_PICKLE_EXTENSION:  out->integer = item->integer; break;
    case ZT_PICKLE_REAL:       out->real = item->real; break;
    case ZT_PICKLE_TEXT:
    case ZT_PICKLE_BYTES:
      out->bytes = pickle_bytes(p, item);
      out->string = (item->flags & ZT_PICKLE_STRING)!=0;
      break;
    case ZT_PICKLE_GLOBAL:     pickle_get_global(p, item, out); break;
    case ZT_PICKLE_PERSISTENT: out->args = item->a; break;
    case ZT_PICKLE_CALL:
      call = &p->calls[item->a];
      out->callee = call->callee;
      out->args = call->args;
      out->keywords = call->keywords;
      out->list = call->list;
      out->dict = call->dict;
      out->state = call->state;
      out->placed = call->behind>0;
      if( !out->placed ) break;
      out->behind = p->behind[call->behind-1].node;
      out->place = p->behind[call->behind-1].offset;
      break;
    default:
      out->n = item->n;
      break;
  }
}

bool zt_pickle_latin1(const zt_pickle *p, zt_pickle_node node, size_t *out){
  const zt_pickle_item *item = &p->items[node];
  uint32_t n;
  if( item->kind!=ZT_PICKLE_TEXT ) return false;
  n = item->n>=ZT_PICKLE_LONG_TEXT ? item->b : zt_pickle_count_latin1(pickle_bytes(p, item));
  *out = n;
  return n!=UINT32_MAX;
}

bool zt_pickle_position(const zt_pickle *p, zt_span bytes, size_t *out){
  const uintptr_t first = (uintptr_t)p->bytes.p, at = (uintptr_t)bytes.p;
  if( at<first || !zt_claim(p->bytes.n, at-first, bytes.n) ) return false;
  *out = (size_t)(at-first);
  return true;
}

zt_pickle_node zt_pickle_child(const zt_pickle *p, zt_pickle_node node, uint32_t i){
  const zt_pickle_item *item = &p->items[node];
  return item->kind==ZT_PICKLE_TUPLE && i<item->n ? p->words[item->a+i] : 0;
}

zt_pickle_cursor zt_pickle_begin(const zt_pickle *p, zt_pickle_node node){
  const zt_pickle_item *item = &p->items[node];
  if( item->kind==ZT_PICKLE_TUPLE ) return (zt_pickle_cursor){ item->a, item->n, 0 };
  if( item->kind<ZT_PICKLE_TUPLE || item->kind>ZT_PICKLE_DICT || item->n==0 ){
    return (zt_pickle_cursor){ 0 };
  }
  return (zt_pickle_cursor){ 0, 0, item->a };
}

zt_pickle_node zt_pickle_next(const zt_pickle *p, zt_pickle_cursor *c){
  if( c->remaining==0 ){
    if( c->next==0 ) return 0;
    c->remaining = p->words[c->next+ZT_PICKLE_PIECE_N];
    c->at = c->next+ZT_PICKLE_PIECE_HEAD;
    c->next = p->words[c->next+ZT_PICKLE_PIECE_NEXT];
  }
  c->remaining--;
  return p->words[c->at++];
}

bool zt_pickle_text(const zt_pickle *p, zt_pickle_node node, zt_text *out){
  zt_pickle_value value;
  const bool is_text = zt_pickle_kind_of(p, node)==ZT_PICKLE_TEXT;
  value.bytes = (zt_span){ NULL, 0 };
  if( is_text ) zt_pickle_get(p, node, &value);
  *out = (zt_text){ (const char*)value.bytes.p, value.bytes.n };
  return is_text;
}

bool zt_pickle_integer(const zt_pickle *p, zt_pickle_node node, int64_t *out){
  const zt_pickle_item *item = &p->items[node];
  if( item->kind!=ZT_PICKLE_INTEGER || (item->flags & ZT_PICKLE_WIDE) ) return false;
  *out = item->integer;
  return true;
}

bool zt_pickle_integers(const zt_pickle *p, zt_pickle_node node, uint32_t most, uint32_t *n,
                        int64_t *out){
  const zt_pickle_kind kind = zt_pickle_kind_of(p, node);
  zt_pickle_cursor c;
  *n = 0;
  if( kind!=ZT_PICKLE_TUPLE && kind!=ZT_PICKLE_LIST ) return false;
  c = zt_pickle_begin(p, node);
  for(; (node = zt_pickle_next(p, &c))!=0; ++*n){
    if( *n==most || !zt_pickle_integer(p, node, &out[*n]) ) return false;
  }
  return true;
}
