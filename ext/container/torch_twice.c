/* Duplicate keys of a dict. See torch_twice.h. */
#include "container/torch_twice.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/duplicate_keys.h"
#include "core/host.h"

#define TWICE_EXACT ((int64_t)1 << 53)   /* f64 has all integers up to this */
#define TWICE_FEW 4           /* Keys that are compared pairwise */

/* A key as Python compares it: 1, 1.0 and True are one real. */
typedef struct twice_key {
  zt_pickle_node node;
  zt_pickle_kind kind;   /* A text, bytes or a real */
  zt_span bytes;
  double real;
} twice_key;

/* False for keys that are not compared. */
static bool twice_get_key(const zt_pickle *p, zt_pickle_node node, twice_key *out){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  *out = (twice_key){ .node = node, .kind = ZT_PICKLE_REAL };
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
      if( value.bytes.p || value.integer>TWICE_EXACT || value.integer<-TWICE_EXACT ) return false;
      out->real = (double)value.integer;
      return true;
    default: return false;
  }
}

/* NaN is the same key as itself. */
static bool twice_equal(const twice_key *a, const twice_key *b){
  if( a->kind!=b->kind ) return false;
  if( a->kind==ZT_PICKLE_REAL ) return a->real==b->real || a->node==b->node;
  return a->bytes.n==b->bytes.n && zt_equal(a->bytes.p, b->bytes.p, a->bytes.n);
}

/* Iterates over the keys of a dict. */
typedef struct twice_dict {
  const zt_pickle *p;
  zt_pickle_node node;
  zt_pickle_cursor at;
  uint64_t bytes;               /* Of the keys so far */
} twice_dict;

static void twice_rewind(void *context){
  twice_dict *d = context;
  d->at = zt_pickle_begin(d->p, d->node);
}

/* The next compared key; false at the end. */
static bool twice_next(twice_dict *d, twice_key *out){
  zt_pickle_node node;
  do{
    node = zt_pickle_next(d->p, &d->at);
    zt_pickle_next(d->p, &d->at);
  }while( node && !twice_get_key(d->p, node, out) );
  if( node ) d->bytes += out->bytes.n;
  return node!=0;
}

static bool twice_next_hash(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  twice_key key;
  if( !twice_next(context, &key) ) return false;
  if( key.kind==ZT_PICKLE_REAL ){
    key.bytes = (zt_span){ (const uint8_t*)&key.real, sizeof(key.real) };
  }
  *at = key.node;
  *hash = XXH3_64bits_withSeed(key.bytes.n ? (const void*)key.bytes.p : "", key.bytes.n, seed);
  return true;
}

static bool twice_equal_at(void *context, size_t a, size_t b){
  const twice_dict *d = context;
  twice_key x, y;
  return twice_get_key(d->p, (zt_pickle_node)a, &x) && twice_get_key(d->p, (zt_pickle_node)b, &y)
      && twice_equal(&x, &y);
}

/* The first of a few keys that another one equals; 0: none. */
static zt_pickle_node twice_find_in_few(twice_dict *d){
  twice_key keys[TWICE_FEW];
  twice_rewind(d);
  for(int n=0; n<TWICE_FEW && twice_next(d, &keys[n]); n++){
    for(int i=0; i<n; i++) if( twice_equal(&keys[i], &keys[n]) ) return keys[i].node;
  }
  return 0;
}

zt_pickle_node zt_torch_twice(const zt_pickle *p, zt_pickle_node dict, size_t bytes,
                              uint64_t *compared, const zt_interrupt *interrupt, zt_error *err){
  twice_dict d = { .p = p, .node = dict };
  zt_duplicate_keys keys = {
    .rewind = twice_rewind, .next = twice_next_hash, .equal = twice_equal_at, .context = &d,
    .bytes = bytes+zt_pickle_nodes(p)+1, .interrupt = interrupt, .err = err
  };
  zt_pickle_value value;
  twice_key key = { 0 };
  size_t found;
  int rc;
  zt_pickle_get(p, dict, &value);
  keys.n = value.n/2;
  if( keys.n<=TWICE_FEW ){
    key.node = twice_find_in_few(&d);
    *compared += d.bytes;
    return key.node;
  }
  rc = zt_duplicate_keys_find(&keys, &found);
  *compared += d.bytes;
  if( rc || found==SIZE_MAX ) return 0;
  twice_rewind(&d);
  while( twice_next(&d, &key) && !twice_equal_at(&d, key.node, found) ){}
  return key.node;
}
