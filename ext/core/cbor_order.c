/* Arrays and maps of deterministic CBOR. See cbor_order.h. */
#include "core/cbor_order.h"

#include "core/grow.h"
#include "core/host.h"
#include "core/sort.h"

void zt_cbor_order_init(zt_cbor_order *o, zt_cbor_out *out, const zt_interrupt *interrupt){
  *o = (zt_cbor_order){ .out = out, .interrupt = interrupt };
}

void zt_cbor_order_clear(zt_cbor_order *o){
  sqlite3_free(o->pairs);
  o->pairs = NULL;
  o->n = o->room = 0;
}

bool zt_cbor_order_open(zt_cbor_order *o, bool map, zt_cbor_opened *opened){
  *opened = (zt_cbor_opened){ .map = map, .at = o->out->n, .first = o->n };
  if( o->depth==ZT_CBOR_MAX_DEPTH ){
    zt_fail(o->out->err, SQLITE_ERROR, "nested deeper than %d levels", ZT_CBOR_MAX_DEPTH);
  }
  o->depth++;
  return o->out->err->rc==SQLITE_OK;
}

bool zt_cbor_order_item(zt_cbor_order *o, zt_cbor_opened *opened){
  opened->items++;
  return o->out->err->rc==SQLITE_OK;
}

bool zt_cbor_order_key(zt_cbor_order *o){
  zt_cbor_pair *pairs;
  if( o->out->err->rc ) return false;
  pairs = zt_grow(o->pairs, &o->room, (uint64_t)o->n+1, sizeof(*pairs), o->out->err);
  if( !pairs ) return false;
  o->pairs = pairs;
  o->pairs[o->n++] = (zt_cbor_pair){ .at = o->out->n };
  return true;
}

/* The pairs of an inner map are gone when its outer map's value comes. */
bool zt_cbor_order_value(zt_cbor_order *o){
  if( o->out->err->rc ) return false;
  o->pairs[o->n-1].key = o->out->n-o->pairs[o->n-1].at;
  return true;
}

static int cbor_order_compare(const void *context, const void *x, const void *y){
  const zt_cbor_out *out = context;
  const zt_cbor_pair *a = x, *b = y;
  return zt_text_compare((zt_text){ (const char*)out->p+a->at, a->key },
                         (zt_text){ (const char*)out->p+b->at, b->key });
}

static void cbor_order_fail_twice(zt_cbor_order *o, const zt_cbor_pair *pair){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor_item key;
  zt_cbor c;
  zt_cbor_init(&c, o->out->p+pair->at, pair->key, &unused);
  if( zt_cbor_next(&c, &key) && key.type==ZT_CBOR_TEXT ){
    const zt_text text = { (const char*)key.p, (size_t)key.n };
    zt_fail(o->out->err, SQLITE_ERROR, "key '%.*s' occurs twice", zt_shown(text), text.z);
  }else{
    zt_fail(o->out->err, SQLITE_ERROR, "a key of a map occurs twice");
  }
  zt_error_clear(&unused);
}

/* Moves the pairs, which follow each other from `at` on, to their places. */
static void cbor_order_move(zt_cbor_order *o, size_t at, const zt_cbor_pair *pairs, size_t n){
  const size_t size = o->out->n-at;
  uint8_t *copy = sqlite3_malloc64(size), *p = o->out->p+at;
  if( !copy ){
    zt_fail_nomem(o->out->err);
    return;
  }
  memcpy(copy, p, size);
  for(size_t i=0; i<n; p+=pairs[i++].n) memcpy(p, copy+(pairs[i].at-at), pairs[i].n);
  sqlite3_free(copy);
}

static void cbor_order_sort(zt_cbor_order *o, const zt_cbor_opened *opened){
  const zt_sort_by by = { sizeof(zt_cbor_pair), cbor_order_compare, o->out, o->interrupt };
  zt_cbor_pair *pairs = o->pairs+opened->first;
  const size_t n = o->n-opened->first;
  size_t ascending = 1;
  for(size_t i=0; i<n; i++) pairs[i].n = (i+1<n ? pairs[i+1].at : o->out->n)-pairs[i].at;
  while( ascending<n && cbor_order_compare(o->out, &pairs[ascending-1], &pairs[ascending])<0 ){
    ascending++;
  }
  if( ascending>=n || zt_sort(pairs, n, &by, o->out->err) ) return;
  for(size_t i=1; i<n; i++){
    if( cbor_order_compare(o->out, &pairs[i-1], &pairs[i])==0 ){
      cbor_order_fail_twice(o, &pairs[i]);
      return;
    }
  }
  cbor_order_move(o, opened->at, pairs, n);
}

bool zt_cbor_order_close(zt_cbor_order *o, const zt_cbor_opened *opened){
  zt_cbor_out *out = o->out;
  uint8_t head[ZT_CBOR_HEAD];
  const size_t size = out->n-opened->at;
  size_t n;
  if( out->err->rc ) return false;
  if( opened->map && o->n>opened->first ) cbor_order_sort(o, opened);
  n = zt_cbor_write_head(head, opened->map ? ZT_CBOR_MAP : ZT_CBOR_ARRAY,
                         opened->map ? o->n-opened->first : opened->items);
  o->n = opened->first;
  o->depth--;
  zt_cbor_put_items(out, (zt_span){ head, n });   /* Makes room */
  if( out->err->rc ) return false;
  memmove(out->p+opened->at+n, out->p+opened->at, size);
  memcpy(out->p+opened->at, head, n);
  return true;
}
