/* Equality and hash of CBOR items. See item.h. */
#include "core/item.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t item_mix(uint64_t h, uint64_t x){
  const uint64_t both[2] = { h, x };
  return XXH3_64bits(both, sizeof(both));
}

/* Returns the bits of a number, simple value or float. */
static uint64_t item_value(const zt_cbor_item *item){
  uint64_t u = item->n;
  if( item->is_float ) memcpy(&u, &item->real, sizeof(u));
  return u;
}

static uint64_t item_hash_bytes(zt_cbor_type type, const void *p, size_t n, uint64_t seed){
  return XXH3_64bits_withSeed(p, n, seed+type);
}

uint64_t zt_item_hash_text(zt_text text, uint64_t seed){
  return item_hash_bytes(ZT_CBOR_TEXT, text.z, text.n, seed);
}

uint64_t zt_item_hash(zt_cbor *c, uint64_t seed){
  zt_cbor_item item;
  zt_cbor_level level;
  uint64_t h;
  if( !zt_cbor_next(c, &item) ) return 0;
  switch( item.type ){
    case ZT_CBOR_TEXT: case ZT_CBOR_BYTES:
      return item_hash_bytes(item.type, item.p, (size_t)item.n, seed);
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      h = item_mix(seed, item.type);
      if( !zt_cbor_enter(c, &item, &level) ) return 0;
      while( zt_cbor_more(c, &level) ){
        h = item_mix(h, zt_item_hash(c, seed));
        if( item.type==ZT_CBOR_MAP ) h = item_mix(h, zt_item_hash(c, seed));
      }
      return h;
    case ZT_CBOR_TAG:
      h = item_mix(item_mix(seed, item.type), item.n);
      return item_mix(h, zt_item_hash(c, seed));
    default:
      return item_mix(item_mix(seed, (uint64_t)item.type + (item.is_float ? 100 : 0)),
                      item_value(&item));
  }
}

bool zt_item_equal(zt_cbor *a, zt_cbor *b){
  zt_cbor_item x, y;
  zt_cbor_level la, lb;
  bool ma, mb;
  if( !zt_cbor_next(a, &x) || !zt_cbor_next(b, &y) || x.type!=y.type || x.is_float!=y.is_float ){
    return false;
  }
  switch( x.type ){
    case ZT_CBOR_TEXT: case ZT_CBOR_BYTES:
      return x.n==y.n && memcmp(x.p, y.p, (size_t)x.n)==0;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      if( !zt_cbor_enter(a, &x, &la) || !zt_cbor_enter(b, &y, &lb) ) return false;
      for(;;){
        ma = zt_cbor_more(a, &la);
        mb = zt_cbor_more(b, &lb);
        if( !ma || !mb ) return ma==mb;
        if( !zt_item_equal(a, b) ) return false;
        if( x.type==ZT_CBOR_MAP && !zt_item_equal(a, b) ) return false;
      }
    case ZT_CBOR_TAG:
      return x.n==y.n && zt_item_equal(a, b);
    default:
      return item_value(&x)==item_value(&y);
  }
}

bool zt_item_equal_at(zt_span bytes, size_t at, size_t bt){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor a, b;
  zt_cbor_init_trusted(&a, bytes, at, 0, &ignored);
  zt_cbor_init_trusted(&b, bytes, bt, 0, &ignored);
  return zt_item_equal(&a, &b);
}
