/* The keys of one CBOR map. See keys.h. */
#include "core/keys.h"

#include <assert.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/host.h"

/* --- Equality and hash of keys, by value --- */

static uint64_t mix(uint64_t h, uint64_t x){
  const uint64_t both[2] = { h, x };
  return XXH3_64bits(both, sizeof(both));
}

/* What distinguishes a head's value from that of another of the same type. */
static uint64_t head_value(const zt_cbor_item *item){
  uint64_t u = item->n;
  if( item->is_float ) memcpy(&u, &item->real, sizeof(u));
  return u;
}

/* The hash of the next item of c, which was checked before. */
static uint64_t hash_item(zt_cbor *c, uint64_t seed){
  zt_cbor_item item;
  zt_cbor_level level;
  uint64_t h;
  if( !zt_cbor_next(c, &item) ) return 0;
  switch( item.type ){
    case ZT_CBOR_TEXT: case ZT_CBOR_BYTES:
      return XXH3_64bits_withSeed(item.p, (size_t)item.n, seed+item.type);
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      h = mix(seed, item.type);
      if( !zt_cbor_enter(c, &item, &level) ) return 0;
      while( zt_cbor_more(c, &level) ){
        h = mix(h, hash_item(c, seed));
        if( item.type==ZT_CBOR_MAP ) h = mix(h, hash_item(c, seed));
      }
      return h;
    case ZT_CBOR_TAG:
      h = mix(mix(seed, item.type), item.n);
      return mix(h, hash_item(c, seed));
    default:
      return mix(mix(seed, (uint64_t)item.type + (item.is_float ? 100 : 0)), head_value(&item));
  }
}

/* True if the next items of a and b, which were checked before, are equal. Reads no further than the first difference. */
static bool equal_items(zt_cbor *a, zt_cbor *b){
  zt_cbor_item x, y;
  zt_cbor_level la, lb;
  bool ma, mb;
  if( !zt_cbor_next(a, &x) || !zt_cbor_next(b, &y) || x.type!=y.type || x.is_float!=y.is_float ) return false;
  switch( x.type ){
    case ZT_CBOR_TEXT: case ZT_CBOR_BYTES:
      return x.n==y.n && memcmp(x.p, y.p, (size_t)x.n)==0;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      if( !zt_cbor_enter(a, &x, &la) || !zt_cbor_enter(b, &y, &lb) ) return false;
      for(;;){
        ma = zt_cbor_more(a, &la);
        mb = zt_cbor_more(b, &lb);
        if( !ma || !mb ) return ma==mb;
        if( !equal_items(a, b) ) return false;
        if( x.type==ZT_CBOR_MAP && !equal_items(a, b) ) return false;
      }
    case ZT_CBOR_TAG:
      return x.n==y.n && equal_items(a, b);
    default:
      return head_value(&x)==head_value(&y);
  }
}

static zt_cbor key_at(const zt_keys *k, size_t at, zt_error *err){
  zt_cbor c;
  zt_cbor_init_trusted(&c, k->bytes, at, 0, err);
  return c;
}

static bool equal_keys(const zt_keys *k, size_t at, size_t bt){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor a = key_at(k, at, &ignored), b = key_at(k, bt, &ignored);
  return equal_items(&a, &b);
}

static uint64_t hash_key(const zt_keys *k, size_t at){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor c = key_at(k, at, &ignored);
  return hash_item(&c, k->seed);
}

static uint64_t hash_text(const zt_keys *k, zt_text text){
  return XXH3_64bits_withSeed(text.z, text.n, k->seed+ZT_CBOR_TEXT);
}

/* --- The set --- */

void zt_keys_init(zt_keys *k, zt_span bytes){
  *k = (zt_keys){ .bytes = bytes };
}

void zt_keys_clear(zt_keys *k){
  zt_positions_clear(&k->at);
  sqlite3_free(k->slots);
  *k = (zt_keys){ .bytes = k->bytes };
}

size_t zt_keys_memory(const zt_keys *k){
  return (k->at.capacity + (k->slots ? (size_t)k->mask+1 : 0))*sizeof(uint32_t);
}

void zt_keys_by_encoding(zt_keys *k){
  k->encoded = true;
}

static int compare(const zt_keys *k, zt_text a, zt_text b){
  if( k->encoded && a.n!=b.n ) return a.n<b.n ? -1 : 1;
  return zt_text_compare(a, b);
}

zt_text zt_keys_text(const zt_keys *k, uint32_t i){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor c = key_at(k, k->at.a[i], &ignored);
  zt_text text = { NULL, 0 };
  if( zt_cbor_peek(&c)==ZT_CBOR_TEXT ) zt_cbor_text(&c, &text);
  return text;
}

static void put_slot(zt_keys *k, uint64_t hash, uint32_t i){
  uint32_t s = (uint32_t)hash & k->mask;
  while( k->slots[s] ) s = (s+1) & k->mask;
  k->slots[s] = i+1;
}

/* A hash table with room for `room` keys, two thirds full at the most, and all keys so far in it. */
static int rehash(zt_keys *k, uint32_t room, zt_error *err){
  uint64_t n = 16;
  while( n*2/3<room ) n *= 2;
  sqlite3_free(k->slots);
  k->slots = sqlite3_malloc64(n*sizeof(*k->slots));
  if( !k->slots ) return zt_fail_nomem(err);
  memset(k->slots, 0, (size_t)n*sizeof(*k->slots));
  k->mask = (uint32_t)(n-1);
  if( !k->seed ) sqlite3_randomness(sizeof(k->seed), &k->seed);
  for(uint32_t i=0; i<k->at.n; i++) put_slot(k, hash_key(k, k->at.a[i]), i);
  return SQLITE_OK;
}

int zt_keys_add(zt_keys *k, const uint8_t *p, zt_text text, bool *duplicate, zt_error *err){
  uint64_t hash;
  *duplicate = false;
  if( !k->slots ){
    if( text.z && (!k->last.z || compare(k, k->last, text)<0) ){
      k->last = text;
      return zt_positions_push(&k->at, (size_t)(p - k->bytes.p), err);
    }
    if( rehash(k, k->at.n<16 ? 16 : k->at.n*2, err) ) return err->rc;
  }
  assert( p>=k->bytes.p && p<k->bytes.p+k->bytes.n );
  hash = text.z ? hash_text(k, text) : hash_key(k, (size_t)(p - k->bytes.p));
  for(uint32_t s=(uint32_t)hash & k->mask; k->slots[s]; s=(s+1) & k->mask){
    if( equal_keys(k, k->at.a[k->slots[s]-1], (size_t)(p - k->bytes.p)) ){
      *duplicate = true;
      return SQLITE_OK;
    }
  }
  if( (uint64_t)k->at.n+1>((uint64_t)k->mask+1)*2/3 && rehash(k, k->at.n*2, err) ) return err->rc;
  if( zt_positions_push(&k->at, (size_t)(p - k->bytes.p), err) ) return err->rc;
  put_slot(k, hash, k->at.n-1);
  return SQLITE_OK;
}

int64_t zt_keys_find(const zt_keys *k, zt_text text){
  uint32_t lo = 0, hi = k->at.n;
  if( k->slots ){
    for(uint32_t s=(uint32_t)hash_text(k, text) & k->mask; k->slots[s]; s=(s+1) & k->mask){
      zt_text found = zt_keys_text(k, k->slots[s]-1);
      if( found.z && zt_text_equal(found, text) ) return k->slots[s]-1;
    }
    return -1;
  }
  while( lo<hi ){
    uint32_t mid = lo + (hi-lo)/2;
    int c = compare(k, zt_keys_text(k, mid), text);
    if( c==0 ) return mid;
    if( c<0 ) lo = mid+1;
    else hi = mid;
  }
  return -1;
}

bool zt_cbor_skip_unique(zt_cbor *c, const char *rule, const char *what){
  zt_keys keys;
  zt_cbor_level level;
  zt_keys_init(&keys, (zt_span){ c->base, (size_t)(c->end - c->base) });
  if( !zt_cbor_open(c, ZT_CBOR_MAP, &level) ) return false;
  while( zt_cbor_more(c, &level) ){
    const uint8_t *at = c->p;
    bool duplicate = false;
    zt_text text = { NULL, 0 };
    if( zt_cbor_peek(c)==ZT_CBOR_TEXT ) zt_cbor_text(c, &text);
    else zt_cbor_skip(c);
    /* Keys in chunks are compared when the chunks were joined. */
    if( !c->err->rc && !c->chunked ) zt_keys_add(&keys, at, text, &duplicate, c->err);
    if( duplicate ){
      c->p = at;
      zt_cbor_fail(c, rule, "a key stands twice in %s", what);
    }
    zt_cbor_skip(c);
  }
  zt_keys_clear(&keys);
  return c->err->rc==SQLITE_OK;
}
