/*
** The values in a pickle of torch.save. See torch_tree.h.
**
**   PT4  values are nested at most TREE_DEPTH_MAX deep
**   PT5  there are at most as many as TREE_VISITS and the pickle's bytes, those that stand in
**        several places counted in each
**   PT6  a path has at most TREE_PATH_MAX bytes, and no U+0000
**   PT13 no key stands twice in a dict: of such, Python keeps the last value alone
**
** A path is what leads to a value: keys of dicts and indices of lists, tuples and sets, with dots
** between them. Keys that are no text are written as Python shows them: 1, 0.5, True, None, (1, 2);
** bytes as hexadecimal digits. A cycle is followed once. Of calls torch's own have a meaning; so
** have sets, and OrderedDict, of whom alone the entries count; what else would be called is a value
** of its own, opaque, before what would be put into it, and its state.
*/
#include "container/torch_tree.h"

#include <assert.h>
#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/host.h"
#include "core/json.h"
#include "core/unique.h"
#include "core/utf8.h"

#define TREE_DEPTH_MAX 1000
#define TREE_VISITS 65536u
#define TREE_KEY_BYTES 32        /* Bytes of a path that count as a value: it takes time */
#define TREE_PATH_MAX ((size_t)1 << 20)
#define TREE_EXACT ((int64_t)1 << 53)   /* Integers up to which f64 has all */
#define TREE_POLL 0xFFFF         /* Visits between two questions whether to go on, less 1 */
#define TREE_PLAIN_MAX 65536     /* Bytes of what something opaque is called with: it is not shown
                                 ** if it has more, */
#define TREE_PLAIN_DEPTH 8       /* or is nested deeper */
#define TREE_QUANTIZER 16        /* Parts of a quantizer, at most: torch has 3 or 4 */
#define TREE_KEY_ITEMS 16        /* Of a tuple that is a key: more are not shown, */
#define TREE_KEY_DEPTH 4         /* nor what is nested deeper */
#define TREE_KEY_INTEGER 64      /* Bytes of an integer that is: longer ones are not, for that takes
                                 ** quadratic time */
#define TREE_FEW_KEYS 4          /* Keys that are compared one with another */

/* --- Values that are no tensors --- */

/* Whether a value is made of None, booleans, numbers, texts, bytes, lists and tuples alone, in no
** more than *left bytes; what it takes is taken from them. */
static bool tree_is_plain(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *left){
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_get(p, node, &value);
  if( value.kind>=ZT_PICKLE_DICT || depth>TREE_PLAIN_DEPTH || *left<9+value.bytes.n ) return false;
  *left -= 9+value.bytes.n;
  c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    if( !tree_is_plain(p, node, depth+1, left) ) return false;
  }
  return true;
}

/* The bytes of an integer's magnitude, the most significant first. True: it is negative, and -1
** minus that. */
static bool tree_get_magnitude(zt_span bytes, uint8_t *out){
  const bool negative = bytes.p[bytes.n-1]>>7;
  for(size_t i=0; i<bytes.n; i++){
    uint8_t byte = bytes.p[bytes.n-1-i];
    out[i] = negative ? (uint8_t)~byte : byte;
  }
  return negative;
}

static void tree_put_integer(const zt_pickle_value *value, zt_cbor_out *out){
  const zt_span bytes = value->bytes;
  bool negative;
  uint8_t *p;
  if( !bytes.p ){
    zt_cbor_put_int(out, value->integer);
    return;
  }
  p = sqlite3_malloc64(bytes.n);
  if( !p ){
    zt_fail_nomem(out->err);
    return;
  }
  negative = tree_get_magnitude(bytes, p);
  zt_cbor_put_bignum(out, negative, (zt_span){ p, bytes.n });
  sqlite3_free(p);
}

static void tree_put_plain(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_get(p, node, &value);
  switch( value.kind ){
    case ZT_PICKLE_NONE:    zt_cbor_put_null(out); break;
    case ZT_PICKLE_FALSE:   zt_cbor_put_bool(out, false); break;
    case ZT_PICKLE_TRUE:    zt_cbor_put_bool(out, true); break;
    case ZT_PICKLE_INTEGER: tree_put_integer(&value, out); break;
    case ZT_PICKLE_REAL:    zt_cbor_put_real(out, value.real); break;
    case ZT_PICKLE_TEXT:
      zt_cbor_put_text(out, (zt_text){ (const char*)value.bytes.p, value.bytes.n });
      break;
    case ZT_PICKLE_BYTES:   zt_cbor_put_bytes(out, value.bytes); break;
    default:
      zt_cbor_put_head(out, ZT_CBOR_ARRAY, value.n);
      c = zt_pickle_begin(p, node);
      while( (node = zt_pickle_next(p, &c))!=0 ) tree_put_plain(p, node, out);
      break;
  }
}

/* A text that consists of two with a dot between them. */
static void tree_put_dotted(zt_text module, zt_text name, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_TEXT, module.n+1+name.n);
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)module.z, module.n });
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)".", 1 });
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)name.z, name.n });
}

/* What has the name of something opaque: of a call, what would be called; of a storage, its
** class. */
static void tree_get_named(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out){
  zt_pickle_value class;
  zt_pickle_get(p, node, out);
  for(int i=0; i<TREE_PLAIN_DEPTH && out->kind==ZT_PICKLE_CALL; i++){
    zt_pickle_get(p, out->callee, out);
  }
  if( out->kind==ZT_PICKLE_PERSISTENT && zt_pickle_child(p, out->args, 1) ){
    zt_pickle_get(p, zt_pickle_child(p, out->args, 1), &class);
    if( class.kind==ZT_PICKLE_GLOBAL ) *out = class;
  }
}

/* The name of what something opaque is, as a text. */
static void tree_put_name(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_value value;
  char extension[40];
  tree_get_named(p, node, &value);
  if( value.kind==ZT_PICKLE_GLOBAL ){
    tree_put_dotted(value.module, value.name, out);
  }else if( value.kind==ZT_PICKLE_EXTENSION ){
    sqlite3_snprintf(sizeof(extension), extension, "copyreg.extension_%lld",
                     (long long)value.integer);
    zt_cbor_put_text(out, (zt_text){ extension, strlen(extension) });
  }else{
    zt_cbor_put_text(out, value.kind==ZT_PICKLE_PERSISTENT ? ZT_TEXT("persistent id")
                                                           : ZT_TEXT("unknown"));
  }
}

static void tree_put_opaque(const zt_pickle *p, zt_pickle_node node, uint32_t members,
                            zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, members);
  zt_cbor_put_text(out, ZT_TEXT("$opaque"));
  if( node ) tree_put_name(p, node, out);
  else zt_cbor_put_text(out, ZT_TEXT("cycle"));
}

/* Something opaque, with what it would be called with, if that is plain. */
void zt_torch_put(const zt_pickle *p, zt_pickle_node node, bool cycle, zt_cbor_out *out){
  uint64_t left = TREE_PLAIN_MAX;
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( cycle ){
    tree_put_opaque(p, 0, 1, out);
  }else if( value.kind==ZT_PICKLE_CALL && tree_is_plain(p, value.args, 0, &left) ){
    tree_put_opaque(p, node, 2, out);
    zt_cbor_put_text(out, ZT_TEXT("args"));
    tree_put_plain(p, value.args, out);
  }else if( value.kind>ZT_PICKLE_DICT ){
    tree_put_opaque(p, node, 1, out);
  }else{
    tree_put_plain(p, node, out);
  }
}

uint64_t zt_torch_size(const zt_pickle *p, zt_pickle_node node){
  uint64_t left = TREE_PLAIN_MAX, size = 64;
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( value.kind<=ZT_PICKLE_TRUE ) return 1;
  if( value.kind<ZT_PICKLE_TUPLE ) return 9+value.bytes.n;
  /* Also in vain: it takes time, too */
  if( value.kind<=ZT_PICKLE_DICT ) tree_is_plain(p, node, 0, &left);
  if( value.kind==ZT_PICKLE_CALL ) tree_is_plain(p, value.args, 0, &left);
  tree_get_named(p, node, &value);
  if( value.kind==ZT_PICKLE_GLOBAL ) size += value.module.n+value.name.n;
  return size+TREE_PLAIN_MAX-left;
}

void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  uint64_t left = TREE_PLAIN_MAX;
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_TUPLE || value.n>TREE_QUANTIZER ){
    zt_cbor_put_null(out);
    return;
  }
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, value.n);
  c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    zt_pickle_get(p, node, &value);
    if( value.kind==ZT_PICKLE_GLOBAL ) tree_put_name(p, node, out);
    else if( value.kind>ZT_PICKLE_DICT ) tree_put_opaque(p, node, 1, out);
    else if( tree_is_plain(p, node, 0, &left) ) tree_put_plain(p, node, out);
    else zt_cbor_put_null(out);
  }
}

/* The same for that: its parts, each by itself. */
static uint64_t tree_quantizer_size(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  uint64_t size = 64;
  for(int i=0; i<TREE_QUANTIZER && (node = zt_pickle_next(p, &c))!=0; i++){
    size += zt_torch_size(p, node);
  }
  return size;
}

uint64_t zt_torch_view_size(const zt_pickle *p, const zt_torch_view *v){
  uint64_t size = 256+v->key.n+v->view_key.n+v->location.n+v->dtype_name.n+v->rank*(uint64_t)48;
  return v->quantizer ? size+tree_quantizer_size(p, v->quantizer) : size;
}

/* --- The walk --- */

typedef enum tree_keys { TREE_INDICES, TREE_KEYS, TREE_PAIRS } tree_keys;

/* An array or a map that is being walked. */
typedef struct tree_level {
  zt_pickle_cursor cursor;
  zt_pickle_node node, owner;   /* Itself, and the call that it belongs to: 0: to none, or another
                                ** level has it */
  tree_keys keys;
  uint32_t index;
  uint32_t path;                /* Bytes of the path to it */
  bool dotted;                  /* A dot comes behind that */
} tree_level;

typedef struct tree_walk {
  const zt_pickle *p;
  const zt_torch_visitor *visitor;
  const zt_interrupt *interrupt;
  zt_error *err;
  size_t bytes;                 /* Of the pickle */
  uint8_t *open;                /* A bit for each node that is being walked */
  tree_level *levels;           /* TREE_DEPTH_MAX of them */
  uint32_t depth;
  struct { char *z; size_t n, room; } path;   /* When nobody looks at paths, z stays NULL */
  bool inside;                  /* What is visited has a path */
  uint64_t visits;
} tree_walk;

static bool tree_is_open(const tree_walk *w, zt_pickle_node node){
  return w->open[node/8]>>(node%8) & 1;
}

static void tree_mark(tree_walk *w, zt_pickle_node node){
  if( node ) w->open[node/8] ^= (uint8_t)(1u<<(node%8));
}

static void tree_path_add(tree_walk *w, const char *z, size_t n){
  if( n==0 ) return;
  if( n>TREE_PATH_MAX-w->path.n ){
    zt_break(w->err, "PT6", "a path of more than %d bytes", (int)TREE_PATH_MAX);
    return;
  }
  if( w->visitor->no_paths ){
    w->path.n += n;
    w->visits += n/TREE_KEY_BYTES;
    return;
  }
  if( n>w->path.room-w->path.n ){
    size_t room = w->path.room+w->path.room/2+n+64;
    char *p = sqlite3_realloc64(w->path.z, room);
    if( !p ){
      zt_fail_nomem(w->err);
      return;
    }
    w->path.z = p;
    w->path.room = room;
  }
  assert( w->path.z );
  memcpy(w->path.z+w->path.n, z, n);
  w->path.n += n;
  w->visits += n/TREE_KEY_BYTES;
}

/* A number in decimal. */
static void tree_path_add_index(tree_walk *w, uint64_t u){
  char z[24], *p = z+sizeof(z);
  if( w->visitor->no_paths ){
    for(; u>=10; u/=10) w->path.n++;
    w->path.n++;
    return;
  }
  do *--p = (char)('0'+u%10); while( (u /= 10)>0 );
  tree_path_add(w, p, (size_t)(z+sizeof(z)-p));
}

static void tree_show_integer(const zt_pickle_value *value, sqlite3_str *out){
  uint8_t magnitude[TREE_KEY_INTEGER];
  const zt_span bytes = value->bytes;
  if( !bytes.p ){
    sqlite3_str_appendf(out, "%lld", (long long)value->integer);
  }else if( bytes.n>sizeof(magnitude) ){
    sqlite3_str_appendall(out, "...");
  }else{
    bool negative = tree_get_magnitude(bytes, magnitude);
    zt_json_bignum(out, (zt_span){ magnitude, bytes.n }, negative);
  }
}

static void tree_show_real(double r, sqlite3_str *out){
  if( isnan(r) ) sqlite3_str_appendall(out, "nan");
  else if( isinf(r) ) sqlite3_str_appendall(out, r<0 ? "-inf" : "inf");
  else zt_json_real(out, r);
}

/* A key that is no text, as Python shows it. */
static void tree_show_key(const zt_pickle *p, zt_pickle_node node, int depth, sqlite3_str *out){
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_get(p, node, &value);
  switch( value.kind ){
    case ZT_PICKLE_NONE:    sqlite3_str_appendall(out, "None"); return;
    case ZT_PICKLE_FALSE:   sqlite3_str_appendall(out, "False"); return;
    case ZT_PICKLE_TRUE:    sqlite3_str_appendall(out, "True"); return;
    case ZT_PICKLE_REAL:    tree_show_real(value.real, out); return;
    case ZT_PICKLE_INTEGER: tree_show_integer(&value, out); return;
    case ZT_PICKLE_TEXT:    sqlite3_str_append(out, (const char*)value.bytes.p,
                                               (int)value.bytes.n); return;
    case ZT_PICKLE_BYTES:   zt_hex(out, value.bytes); return;
    case ZT_PICKLE_GLOBAL:
      sqlite3_str_append(out, value.module.z, (int)value.module.n);
      sqlite3_str_append(out, ".", 1);
      sqlite3_str_append(out, value.name.z, (int)value.name.n);
      return;
    case ZT_PICKLE_TUPLE:
      if( depth<TREE_KEY_DEPTH && value.n<=TREE_KEY_ITEMS ) break;
      /* fall through */
    default: sqlite3_str_appendall(out, "..."); return;
  }
  sqlite3_str_append(out, "(", 1);
  c = zt_pickle_begin(p, node);
  for(uint32_t i=0; i<value.n; i++){
    if( i ) sqlite3_str_append(out, ", ", 2);
    tree_show_key(p, zt_pickle_next(p, &c), depth+1, out);
    if( sqlite3_str_length(out)>(int)TREE_PATH_MAX ) break;
  }
  sqlite3_str_appendall(out, value.n==1 ? ",)" : ")");
}

static void tree_path_add_key(tree_walk *w, zt_pickle_node node){
  zt_pickle_value key;
  sqlite3_str *text;
  zt_pickle_get(w->p, node, &key);
  if( key.kind==ZT_PICKLE_TEXT ){
    if( zt_has_nul((const char*)key.bytes.p, key.bytes.n) ){
      zt_break(w->err, "PT6", "a key with U+0000 in it");
    }
    tree_path_add(w, (const char*)key.bytes.p, key.bytes.n);
    return;
  }
  if( key.kind==ZT_PICKLE_INTEGER && !key.bytes.p && key.integer>=0 ){
    tree_path_add_index(w, (uint64_t)key.integer);
    return;
  }
  text = sqlite3_str_new(NULL);
  tree_show_key(w->p, node, 0, text);
  if( sqlite3_str_errcode(text)==SQLITE_NOMEM ) zt_fail_nomem(w->err);
  else if( sqlite3_str_errcode(text) ) zt_fail(w->err, SQLITE_TOOBIG, "a key is too long");
  else if( zt_has_nul(sqlite3_str_value(text), (size_t)sqlite3_str_length(text)) ){
    zt_break(w->err, "PT6", "a key with U+0000 in it");
  }else{
    tree_path_add(w, sqlite3_str_value(text), (size_t)sqlite3_str_length(text));
  }
  sqlite3_free(sqlite3_str_finish(text));
}

/* A key of a dict as Python compares keys: 1, 1.0 and True are one, which is a real. */
typedef struct tree_key {
  zt_pickle_node node;
  zt_pickle_kind kind;   /* A text, bytes or a real */
  zt_span bytes;
  double real;
} tree_key;

/* False: a key that is not compared. */
static bool tree_get_key(const zt_pickle *p, zt_pickle_node node, tree_key *out){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  *out = (tree_key){ .node = node, .kind = ZT_PICKLE_REAL };
  switch( value.kind ){
    case ZT_PICKLE_TEXT: case ZT_PICKLE_BYTES:
      out->kind = value.kind;
      out->bytes = value.bytes;
      return true;
    case ZT_PICKLE_FALSE: return true;
    case ZT_PICKLE_TRUE:  out->real = 1; return true;
    case ZT_PICKLE_REAL:
      if( value.real!=0 ) out->real = value.real;   /* -0 is 0 */
      return true;
    case ZT_PICKLE_INTEGER:
      if( value.bytes.p || value.integer>TREE_EXACT || value.integer<-TREE_EXACT ) return false;
      out->real = (double)value.integer;
      return true;
    default: return false;
  }
}

/* What is not equal to itself, NaN, still is the same key. */
static bool tree_keys_equal(const tree_key *a, const tree_key *b){
  if( a->kind!=b->kind ) return false;
  if( a->kind==ZT_PICKLE_REAL ) return a->real==b->real || a->node==b->node;
  return a->bytes.n==b->bytes.n && zt_equal(a->bytes.p, b->bytes.p, a->bytes.n);
}

/* A walk through the keys of a dict. */
typedef struct tree_dict {
  const zt_pickle *p;
  zt_pickle_node node;
  zt_pickle_cursor at;
} tree_dict;

static void tree_rewind_keys(void *context){
  tree_dict *d = context;
  d->at = zt_pickle_begin(d->p, d->node);
}

/* The next one that is compared; false behind the last. */
static bool tree_next_key(tree_dict *d, tree_key *out){
  zt_pickle_node node;
  do{
    node = zt_pickle_next(d->p, &d->at);
    zt_pickle_next(d->p, &d->at);
  }while( node && !tree_get_key(d->p, node, out) );
  return node!=0;
}

static bool tree_next_hash(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  tree_key key;
  if( !tree_next_key(context, &key) ) return false;
  if( key.kind==ZT_PICKLE_REAL ){
    key.bytes = (zt_span){ (const uint8_t*)&key.real, sizeof(key.real) };
  }
  *at = key.node;
  *hash = XXH3_64bits_withSeed(key.bytes.n ? (const void*)key.bytes.p : "", key.bytes.n, seed);
  return true;
}

static bool tree_equal_at(void *context, size_t a, size_t b){
  const tree_dict *d = context;
  tree_key x, y;
  return tree_get_key(d->p, (zt_pickle_node)a, &x) && tree_get_key(d->p, (zt_pickle_node)b, &y)
      && tree_keys_equal(&x, &y);
}

/* The first of a few keys that another one equals; 0: there is none. */
static zt_pickle_node tree_find_in_few(tree_dict *d){
  tree_key keys[TREE_FEW_KEYS];
  tree_rewind_keys(d);
  for(int n=0; n<TREE_FEW_KEYS && tree_next_key(d, &keys[n]); n++){
    for(int i=0; i<n; i++) if( tree_keys_equal(&keys[i], &keys[n]) ) return keys[i].node;
  }
  return 0;
}

/* The same of any number. */
static zt_pickle_node tree_find_twice(tree_walk *w, zt_pickle_node dict){
  tree_dict d = { .p = w->p, .node = dict };
  zt_unique_keys keys = {
    .rewind = tree_rewind_keys, .next = tree_next_hash, .equal = tree_equal_at, .context = &d,
    .bytes = w->bytes+zt_pickle_nodes(w->p)+1, .interrupt = w->interrupt, .err = w->err
  };
  zt_pickle_value value;
  tree_key key = { 0 };
  size_t found;
  zt_pickle_get(w->p, dict, &value);
  keys.n = value.n/2;
  if( keys.n<=TREE_FEW_KEYS ) return tree_find_in_few(&d);
  if( zt_unique_find(&keys, &found) || found==SIZE_MAX ) return 0;
  tree_rewind_keys(&d);
  while( tree_next_key(&d, &key) && !tree_equal_at(&d, key.node, found) ){}
  return key.node;
}

/* PT13 */
static bool tree_check_keys(tree_walk *w, zt_pickle_node dict){
  const zt_pickle_node key = tree_find_twice(w, dict);
  sqlite3_str *text;
  char *z;
  if( w->err->rc || !key ) return !w->err->rc;
  text = sqlite3_str_new(NULL);
  tree_show_key(w->p, key, 0, text);
  z = sqlite3_str_finish(text);
  if( z ){
    zt_break(w->err, "PT13", "a dict has the key '%.*s' twice",
             zt_shown((zt_text){ z, strlen(z) }), z);
  }else{
    zt_fail_nomem(w->err);
  }
  sqlite3_free(z);
  return false;
}

/* PT4: begin to walk an array or a map, which has the path that there is. */
static bool tree_enter(tree_walk *w, zt_pickle_node node, tree_keys keys, zt_pickle_node owner){
  if( w->depth==TREE_DEPTH_MAX ){
    zt_break(w->err, "PT4", "values are nested more than %d deep", TREE_DEPTH_MAX);
    return false;
  }
  if( keys==TREE_KEYS && !tree_check_keys(w, node) ) return false;
  w->levels[w->depth++] = (tree_level){
    .cursor = zt_pickle_begin(w->p, node), .node = node, .owner = owner, .keys = keys,
    .path = (uint32_t)w->path.n, .dotted = w->inside
  };
  tree_mark(w, node);
  tree_mark(w, owner);
  return true;
}

/* The path of what the walk stands on; the empty one is a text, too. */
static zt_text tree_path(const tree_walk *w){
  return (zt_text){ w->path.z ? w->path.z : "", w->path.n };
}

static void tree_leaf(tree_walk *w, zt_pickle_node node, bool cycle){
  w->visitor->leaf(w->visitor->context, tree_path(w), node, cycle);
}

/* The parts of a call that is opaque. What is entered last is walked first. */
static void tree_enter_parts(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call){
  zt_pickle_node parts[4] = { call->state, 0, call->dict, call->list };
  if( call->state && zt_pickle_kind_of(w->p, call->state)==ZT_PICKLE_TUPLE ){
    /* What has slots: a dict, or None, and another for these */
    parts[0] = zt_pickle_child(w->p, call->state, 1);
    parts[1] = zt_pickle_child(w->p, call->state, 0);
  }
  for(int i=0; i<4; i++){
    zt_pickle_kind kind = parts[i] ? zt_pickle_kind_of(w->p, parts[i]) : ZT_PICKLE_NONE;
    if( kind!=ZT_PICKLE_DICT && (i<2 || kind!=ZT_PICKLE_LIST) ) continue;
    if( tree_is_open(w, parts[i]) ) continue;
    if( !tree_enter(w, parts[i], kind==ZT_PICKLE_DICT ? TREE_KEYS : TREE_INDICES, node) ) return;
    node = 0;   /* The first one has it */
  }
}

/* An OrderedDict: of what is put into it, and of a list of pairs that it is made of. */
static void tree_enter_dict(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call){
  zt_pickle_node pairs = zt_torch_argument(w->p, call, 0);
  if( call->dict && tree_enter(w, call->dict, TREE_KEYS, node) ) node = 0;
  if( !w->err->rc && pairs && zt_pickle_kind_of(w->p, pairs)==ZT_PICKLE_LIST
   && !tree_is_open(w, pairs) ) tree_enter(w, pairs, TREE_PAIRS, node);
}

static void tree_visit_call(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                            zt_torch_meaning meaning){
  zt_torch_tensor tensor;
  if( meaning==ZT_TORCH_DICT ){
    tree_enter_dict(w, node, call);
  }else if( zt_torch_read_tensor(w->p, call, meaning, &tensor) ){
    w->visitor->tensor(w->visitor->context, tree_path(w), &tensor);
  }else{
    tree_leaf(w, node, false);
    if( !w->err->rc ) tree_enter_parts(w, node, call);
  }
}

/* What stands for another value: that. Of a call, *call and *meaning become what it is. */
static zt_pickle_node tree_resolve(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call,
                                   zt_torch_meaning *meaning){
  for(int i=0; zt_pickle_kind_of(p, node)==ZT_PICKLE_CALL; i++){
    *meaning = zt_torch_call(p, node, call);
    if( *meaning!=ZT_TORCH_SAME || i==TREE_PLAIN_DEPTH || !zt_torch_argument(p, call, 0) ) break;
    node = zt_torch_argument(p, call, 0);
  }
  return node;
}

static void tree_visit(tree_walk *w, zt_pickle_node node){
  zt_torch_meaning meaning = ZT_TORCH_OPAQUE;
  zt_pickle_value call = { 0 };
  node = tree_resolve(w->p, node, &call, &meaning);
  if( tree_is_open(w, node) ){
    tree_leaf(w, node, true);
    return;
  }
  switch( zt_pickle_kind_of(w->p, node) ){
    case ZT_PICKLE_TUPLE: case ZT_PICKLE_LIST: case ZT_PICKLE_SET:
      tree_enter(w, node, TREE_INDICES, 0);
      break;
    case ZT_PICKLE_DICT: tree_enter(w, node, TREE_KEYS, 0); break;
    case ZT_PICKLE_CALL: tree_visit_call(w, node, &call, meaning); break;
    default:             tree_leaf(w, node, false); break;
  }
}

/* The next value of the innermost level, and its path; 0 at the level's end, which is left, and
** where there is nothing to visit. */
static zt_pickle_node tree_next(tree_walk *w){
  tree_level *level = &w->levels[w->depth-1];
  zt_pickle_node node = zt_pickle_next(w->p, &level->cursor), key = node;
  if( !node ){
    tree_mark(w, level->node);
    tree_mark(w, level->owner);
    w->depth--;
    return 0;
  }
  if( level->keys==TREE_KEYS ) node = zt_pickle_next(w->p, &level->cursor);
  w->visits++;
  if( zt_pickle_is_empty(w->p, node) ){
    level->index++;
    return 0;
  }
  w->path.n = level->path;
  if( level->dotted ) tree_path_add(w, ".", 1);
  if( level->keys==TREE_PAIRS ){
    zt_pickle_cursor pair = zt_pickle_begin(w->p, node);
    zt_pickle_node first = zt_pickle_next(w->p, &pair), second = zt_pickle_next(w->p, &pair);
    if( first && second ){
      tree_path_add_key(w, first);
      return second;
    }
  }
  if( level->keys==TREE_KEYS ) tree_path_add_key(w, key);
  else tree_path_add_index(w, level->index);
  level->index++;
  return node;
}

/* PT5 */
static void tree_run(tree_walk *w){
  const uint64_t most = TREE_VISITS+(uint64_t)w->bytes;
  uint64_t steps = 0;
  tree_visit(w, zt_pickle_root(w->p));
  w->inside = true;
  while( w->depth && !w->err->rc ){
    zt_pickle_node node = tree_next(w);
    if( (++steps & TREE_POLL)==0 && zt_interrupt_check(w->interrupt, w->err) ) return;
    if( w->visits>most ){
      zt_break(w->err, "PT5", "more than %llu values, for the pickle holds some in many places",
               (unsigned long long)most);
      return;
    }
    if( node && !w->err->rc ) tree_visit(w, node);
  }
}

int zt_torch_walk(const zt_pickle *p, zt_text prefix, size_t bytes,
                  const zt_torch_visitor *visitor, const zt_interrupt *interrupt, zt_error *err){
  tree_walk w = {
    .p = p, .visitor = visitor, .interrupt = interrupt, .err = err, .bytes = bytes,
    .inside = prefix.n>0
  };
  const size_t bits = zt_pickle_nodes(p)/8+1;
  w.open = sqlite3_malloc64(bits);
  w.levels = sqlite3_malloc64(TREE_DEPTH_MAX*sizeof(*w.levels));
  if( w.open && w.levels ){
    memset(w.open, 0, bits);
    tree_path_add(&w, prefix.z, prefix.n);
    if( !err->rc ) tree_run(&w);
  }else{
    zt_fail_nomem(err);
  }
  sqlite3_free(w.open);
  sqlite3_free(w.levels);
  sqlite3_free(w.path.z);
  return err->rc;
}
