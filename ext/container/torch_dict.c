/* Duplicate keys of a dict. See torch_dict.h. */
#include "container/torch_dict.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/duplicate_keys.h"
#include "core/host.h"

#define DICT_EXACT ((int64_t)1 << 53)   /* f64 has all integers up to this */
#define DICT_FEW 4           /* Keys that are compared pairwise */

/* A key as Python compares it: 1, 1.0 and True are one real. */
typedef struct dict_key {
  zt_pickle_node node;
  zt_pickle_kind kind;   /* A text, bytes or a real */
  zt_span bytes;
  double real;
} dict_key;

/* False for keys that are not compared. */
static bool dict_get_key(const zt_pickle *p, zt_pickle_node node, dict_key *out){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  *out = (dict_key){ .node = node, .kind = ZT_PICKLE_REAL };
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
      if( value.bytes.p || value.integer>DICT_EXACT || value.integer<-DICT_EXACT ) return false;
      out->real = (double)value.integer;
      return true;
    default: return false;
  }
}

/* NaN is the same key as itself. */
static bool dict_equal(const dict_key *a, const dict_key *b){
  if( a->kind!=b->kind ) return false;
  if( a->kind==ZT_PICKLE_REAL ) return a->real==b->real || a->node==b->node;
  return a->bytes.n==b->bytes.n && zt_equal(a->bytes.p, b->bytes.p, a->bytes.n);
}

/* Iterates over the keys of a dict. */
typedef struct dict_walk {
  const zt_pickle *p;
  zt_pickle_node node;
  zt_pickle_cursor at;
  uint64_t bytes;               /* Of the keys so far */
} dict_walk;

static void dict_rewind(void *context){
  dict_walk *d = context;
  d->at = zt_pickle_begin(d->p, d->node);
}

/* The next compared key; false at the end. */
static bool dict_next(dict_walk *d, dict_key *out){
  zt_pickle_node node;
  do{
    node = zt_pickle_next(d->p, &d->at);
    zt_pickle_next(d->p, &d->at);
  }while( node && !dict_get_key(d->p, node, out) );
  if( node ) d->bytes += out->bytes.n;
  return node!=0;
}

static bool dict_next_hash(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  dict_key key;
  if( !dict_next(context, &key) ) return false;
  if( key.kind==ZT_PICKLE_REAL ){
    key.bytes = (zt_span){ (const uint8_t*)&key.real, sizeof(key.real) };
  }
  *at = key.node;
  *hash = XXH3_64bits_withSeed(key.bytes.n ? (const void*)key.bytes.p : "", key.bytes.n, seed);
  return true;
}

static bool dict_equal_at(void *context, size_t a, size_t b){
  const dict_walk *d = context;
  dict_key x, y;
  dict_get_key(d->p, (zt_pickle_node)a, &x);   /* dict_next() gave both */
  dict_get_key(d->p, (zt_pickle_node)b, &y);
  return dict_equal(&x, &y);
}

/* The first of a few keys that another one equals; 0: none. */
static zt_pickle_node dict_find_in_few(dict_walk *d){
  dict_key keys[DICT_FEW];
  dict_rewind(d);
  for(int n=0; n<DICT_FEW && dict_next(d, &keys[n]); n++){
    for(int i=0; i<n; i++) if( dict_equal(&keys[i], &keys[n]) ) return keys[i].node;
  }
  return 0;
}

zt_pickle_node zt_torch_duplicate_key(const zt_pickle *p, zt_pickle_node dict, size_t bytes,
                              uint64_t *compared, const zt_interrupt *interrupt, zt_error *err){
  dict_walk d = { .p = p, .node = dict };
  zt_duplicate_keys keys = {
    .rewind = dict_rewind, .next = dict_next_hash, .equal = dict_equal_at, .context = &d,
    .bytes = bytes+zt_pickle_nodes(p)+1, .interrupt = interrupt, .err = err
  };
  zt_pickle_value value;
  dict_key key = { 0 };
  size_t found;
  int rc;
  zt_pickle_get(p, dict, &value);
  keys.n = value.n/2;
  if( keys.n<=DICT_FEW ){
    key.node = dict_find_in_few(&d);
    *compared += d.bytes;
    return key.node;
  }
  rc = zt_duplicate_keys_find(&keys, &found);
  *compared += d.bytes;
  if( rc || found==SIZE_MAX ) return 0;
  dict_rewind(&d);
  while( dict_next(&d, &key) && !dict_equal_at(&d, key.node, found) ){}
  return key.node;
}
