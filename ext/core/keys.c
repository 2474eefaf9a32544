/* The keys of one CBOR map. See keys.h. */
#include "core/keys.h"

#include <assert.h>
#include "core/host.h"
#include "core/item.h"
#include "core/os.h"

#define KEYS_POLL_KEYS (1u<<16)   /* Keys between two questions whether to go on */

static zt_cbor keys_key_at(const zt_keys *k, size_t at, zt_error *err){
  zt_cbor c;
  zt_cbor_init_trusted(&c, k->bytes, at, 0, err);
  return c;
}

static uint64_t keys_hash_key(const zt_keys *k, size_t at){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor c = keys_key_at(k, at, &ignored);
  return zt_item_hash(&c, k->seed);
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

static int keys_compare(const zt_keys *k, zt_text a, zt_text b){
  if( k->encoded && a.n!=b.n ) return a.n<b.n ? -1 : 1;
  return zt_text_compare(a, b);
}

zt_text zt_keys_text(const zt_keys *k, uint32_t i){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor c = keys_key_at(k, k->at.a[i], &ignored);
  zt_text text = { NULL, 0 };
  if( zt_cbor_peek(&c)==ZT_CBOR_TEXT ) zt_cbor_text(&c, &text);
  return text;
}

/* What a slot has of a hash: the bits that are above those of an index. Keys of other bits are
** other keys, and need not be looked at, which in a manifest of some size would be a miss of the
** cache each. */
static uint32_t keys_tag(const zt_keys *k, uint64_t hash){
  return (uint32_t)(hash>>32) & ~k->mask;
}

static void keys_put_slot(zt_keys *k, uint64_t hash, uint32_t i){
  uint32_t s = (uint32_t)hash & k->mask;
  while( k->slots[s] ) s = (s+1) & k->mask;
  k->slots[s] = keys_tag(k, hash) | (i+1);
}

/* A hash table with room for `room` keys, two thirds full at the most, and all keys so far
** in it. */
static int keys_rehash(zt_keys *k, uint32_t room, zt_error *err){
  uint64_t n = 16;
  while( n*2/3<room ) n *= 2;
  sqlite3_free(k->slots);
  k->slots = sqlite3_malloc64(n*sizeof(*k->slots));
  if( !k->slots ) return zt_fail_nomem(err);
  zt_os_advise_large(k->slots, (size_t)n*sizeof(*k->slots));
  memset(k->slots, 0, (size_t)n*sizeof(*k->slots));
  k->mask = (uint32_t)(n-1);
  if( !k->seed ) sqlite3_randomness(sizeof(k->seed), &k->seed);
  for(uint32_t i=0; i<k->at.n; i++){
    keys_put_slot(k, keys_hash_key(k, k->at.a[i]), i);
    if( i%KEYS_POLL_KEYS==KEYS_POLL_KEYS-1 && zt_interrupt_check(k->interrupt, err) ){
      return err->rc;
    }
  }
  return SQLITE_OK;
}

/* Room for twice the keys there are, or for as many as are expected. */
static uint32_t keys_room(const zt_keys *k){
  uint32_t room = k->at.n<16 ? 16 : k->at.n*2;
  return room<k->at.capacity ? k->at.capacity : room;
}

int zt_keys_add(zt_keys *k, const uint8_t *p, zt_text text, bool *duplicate, zt_error *err){
  size_t at = (size_t)(p - k->bytes.p);
  uint64_t hash;
  *duplicate = false;
  if( !k->slots ){
    if( text.z && (!k->last.z || keys_compare(k, k->last, text)<0) ){
      k->last = text;
      return zt_positions_push(&k->at, at, err);
    }
    if( keys_rehash(k, keys_room(k), err) ) return err->rc;
  }
  assert( p>=k->bytes.p && p<k->bytes.p+k->bytes.n );
  hash = text.z ? zt_item_hash_text(text, k->seed) : keys_hash_key(k, at);
  for(uint32_t s=(uint32_t)hash & k->mask; k->slots[s]; s=(s+1) & k->mask){
    if( (k->slots[s] & ~k->mask)!=keys_tag(k, hash) ) continue;
    if( !zt_item_equal_at(k->bytes, k->at.a[(k->slots[s] & k->mask)-1], at) ) continue;
    *duplicate = true;
    return SQLITE_OK;
  }
  if( (uint64_t)k->at.n+1>((uint64_t)k->mask+1)*2/3 && keys_rehash(k, keys_room(k), err) ){
    return err->rc;
  }
  if( zt_positions_push(&k->at, at, err) ) return err->rc;
  keys_put_slot(k, hash, k->at.n-1);
  return SQLITE_OK;
}

int64_t zt_keys_find(const zt_keys *k, zt_text text){
  uint32_t lo = 0, hi = k->at.n;
  if( k->slots ){
    uint64_t hash = zt_item_hash_text(text, k->seed);
    for(uint32_t s=(uint32_t)hash & k->mask; k->slots[s]; s=(s+1) & k->mask){
      uint32_t i = (k->slots[s] & k->mask)-1;
      zt_text found = { NULL, 0 };
      if( (k->slots[s] & ~k->mask)==keys_tag(k, hash) ) found = zt_keys_text(k, i);
      if( found.z && zt_text_equal(found, text) ) return i;
    }
    return -1;
  }
  while( lo<hi ){
    uint32_t mid = lo + (hi-lo)/2;
    zt_text key = zt_keys_text(k, mid);
    int c;
    assert( key.z );   /* Only texts ascend */
    c = keys_compare(k, key, text);
    if( c==0 ) return mid;
    if( c<0 ) lo = mid+1;
    else hi = mid;
  }
  return -1;
}
