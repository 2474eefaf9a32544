/* The distinct names of a list of things. See keys.h. */
#include "core/keys.h"

#include "core/host.h"
#include "core/os.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define KEYS_POLL_KEYS (1u<<16)   /* Names between two checks for an interrupt */

void zt_keys_clear(zt_keys *k){
  sqlite3_free(k->a);
  sqlite3_free(k->slots);
  *k = (zt_keys){ .short_first = k->short_first, .interrupt = k->interrupt };
}

void zt_keys_empty(zt_keys *k){
  sqlite3_free(k->slots);
  *k = (zt_keys){ .a = k->a, .capacity = k->capacity };
}

size_t zt_keys_memory(const zt_keys *k){
  return k->capacity*sizeof(*k->a) + (k->slots ? (size_t)k->mask+1 : 0)*sizeof(*k->slots);
}

/* --- The list --- */

ZT_COLD static bool keys_resize(zt_keys *k, uint32_t capacity){
  zt_key *a = sqlite3_realloc64(k->a, (uint64_t)capacity*sizeof(*a));
  if( !a ) return false;
  k->a = a;
  k->capacity = capacity;
  return true;
}

void zt_keys_reserve(zt_keys *k, uint64_t n){
  if( n<=k->capacity || n>UINT32_MAX || !keys_resize(k, (uint32_t)n) ) return;
  zt_os_advise_large(k->a, (size_t)n*sizeof(*k->a));
}

void zt_keys_trim(zt_keys *k){
  if( k->n>0 && k->n<k->capacity ) keys_resize(k, k->n);   /* A failure changes nothing */
}

ZT_INLINE int keys_push(zt_keys *k, zt_key key, zt_error *err){
  if( k->n==k->capacity && !keys_resize(k, k->capacity<8 ? 8 : k->capacity+k->capacity/2) ){
    return zt_fail_nomem(err);
  }
  k->a[k->n++] = key;
  return SQLITE_OK;
}

ZT_INLINE int keys_compare(const zt_keys *k, zt_text a, zt_text b){
  if( k->short_first && a.n!=b.n ) return a.n<b.n ? -1 : 1;
  return zt_text_compare(a, b);
}

/* --- The hash table --- */

static uint64_t keys_hash(const zt_keys *k, zt_text text){
  return XXH3_64bits_withSeed(text.z, text.n, k->seed);
}

/* Returns the bits of a hash in a slot: those above the index. Names with other bits differ, and
** need not be read, which would be a cache miss each in a large manifest. */
static uint32_t keys_tag(const zt_keys *k, uint64_t hash){
  return (uint32_t)(hash>>32) & ~k->mask;
}

static void keys_put_slot(zt_keys *k, uint64_t hash, uint32_t i){
  uint32_t s = (uint32_t)hash & k->mask;
  while( k->slots[s] ) s = (s+1) & k->mask;
  k->slots[s] = keys_tag(k, hash) | (i+1);
}

/* Makes a hash table for `room` names, at most two thirds full, and inserts all names. */
static int keys_rehash(zt_keys *k, const uint8_t *bytes, uint32_t room, zt_error *err){
  uint64_t n = 16;
  while( n*2/3<room ) n *= 2;
  sqlite3_free(k->slots);
  k->slots = sqlite3_malloc64(n*sizeof(*k->slots));
  if( !k->slots ) return zt_fail_nomem(err);
  zt_os_advise_large(k->slots, (size_t)n*sizeof(*k->slots));
  memset(k->slots, 0, (size_t)n*sizeof(*k->slots));
  k->mask = (uint32_t)(n-1);
  if( !k->seed ) sqlite3_randomness(sizeof(k->seed), &k->seed);
  for(uint32_t i=0; i<k->n; i++){
    keys_put_slot(k, keys_hash(k, zt_keys_text(k, bytes, i)), i);
    if( i%KEYS_POLL_KEYS==KEYS_POLL_KEYS-1 && zt_interrupt_check(k->interrupt, err) ){
      return err->rc;
    }
  }
  return SQLITE_OK;
}

/* Returns room for twice the names, or for as many as are expected. */
static uint32_t keys_room(const zt_keys *k){
  uint32_t room = k->n<16 ? 16 : k->n*2;
  return room<k->capacity ? k->capacity : room;
}

/* Returns the index of a name in the table, or -1. */
static int64_t keys_look_up(const zt_keys *k, const uint8_t *bytes, zt_text text, uint64_t hash){
  for(uint32_t s=(uint32_t)hash & k->mask; k->slots[s]; s=(s+1) & k->mask){
    uint32_t i = (k->slots[s] & k->mask)-1;
    if( (k->slots[s] & ~k->mask)!=keys_tag(k, hash) ) continue;
    if( zt_text_equal(zt_keys_text(k, bytes, i), text) ) return i;
  }
  return -1;
}

/* --- Runs --- */

/* Returns whether a name that sorts after the last run is in an earlier run. If not, the caller
** adds it, and the next name of its run need not be compared with names before it. */
static bool keys_merge(zt_keys *k, const uint8_t *bytes, zt_text text){
  uint32_t at[ZT_KEYS_RUNS];
  for(uint32_t r=0; r<k->last; r++){
    int c = -1;
    at[r] = k->merged[r];
    while( at[r]<k->runs[r+1] && (c = keys_compare(k, zt_keys_text(k, bytes, at[r]), text))<0 ){
      at[r]++;
    }
    if( at[r]<k->runs[r+1] && c==0 ) return true;
  }
  memcpy(k->merged, at, k->last*sizeof(*at));
  return false;
}

static void keys_begin_run(zt_keys *k){
  for(uint32_t r=0; r<=k->last; r++) k->merged[r] = k->runs[r];
  k->runs[++k->last] = k->n;
}

static int64_t keys_search(const zt_keys *k, const uint8_t *bytes, zt_text text, uint32_t lo,
                           uint32_t hi){
  while( lo<hi ){
    uint32_t mid = lo + (hi-lo)/2;
    int c = keys_compare(k, zt_keys_text(k, bytes, mid), text);
    if( c==0 ) return mid;
    if( c<0 ) lo = mid+1;
    else hi = mid;
  }
  return -1;
}

/* Returns the index of a name without a table, or -1. */
static int64_t keys_find_in_runs(const zt_keys *k, const uint8_t *bytes, zt_text text){
  int64_t found = -1;
  for(uint32_t r=0; r<=k->last && found<0; r++){
    found = keys_search(k, bytes, text, k->runs[r], r<k->last ? k->runs[r+1] : k->n);
  }
  return found;
}

/* Adds a name without a table. *full: a table is needed now. */
static int keys_add_to_runs(zt_keys *k, const uint8_t *bytes, zt_key key, bool *duplicate,
                            bool *full, zt_error *err){
  zt_text text = { (const char*)bytes+key.at, key.n };
  int c = k->n ? keys_compare(k, zt_keys_text(k, bytes, k->n-1), text) : -1;
  *full = false;
  *duplicate = c<0 ? k->last>0 && keys_merge(k, bytes, text)
             : c==0 || keys_find_in_runs(k, bytes, text)>=0;
  if( *duplicate ) return SQLITE_OK;
  if( c>0 && k->last+1==ZT_KEYS_RUNS ){
    *full = true;
    return SQLITE_OK;
  }
  if( c>0 ) keys_begin_run(k);
  return keys_push(k, key, err);
}

/* --- Runs or table --- */

int zt_keys_add(zt_keys *k, const uint8_t *bytes, zt_key key, bool *duplicate, zt_error *err){
  zt_text text = { (const char*)bytes+key.at, key.n };
  uint64_t hash;
  bool full;
  *duplicate = false;
  if( !k->slots ){
    if( keys_add_to_runs(k, bytes, key, duplicate, &full, err) || !full ) return err->rc;
    if( keys_rehash(k, bytes, keys_room(k), err) ) return err->rc;
  }
  hash = keys_hash(k, text);
  *duplicate = keys_look_up(k, bytes, text, hash)>=0;
  if( *duplicate ) return SQLITE_OK;
  if( (uint64_t)k->n+1>((uint64_t)k->mask+1)*2/3 && keys_rehash(k, bytes, keys_room(k), err) ){
    return err->rc;
  }
  if( keys_push(k, key, err) ) return err->rc;
  keys_put_slot(k, hash, k->n-1);
  return SQLITE_OK;
}

bool zt_keys_append(zt_keys *k, const uint8_t *bytes, const zt_keys *other, uint32_t n){
  if( n==0 || k->slots || k->last>0 || other->slots || other->last>0 ) return false;
  if( k->n>0 && keys_compare(k, zt_keys_text(k, bytes, k->n-1), zt_keys_text(other, bytes, 0))>=0 ){
    return false;
  }
  if( n>k->capacity-k->n ) zt_keys_reserve(k, (uint64_t)k->n+n);
  if( n>k->capacity-k->n ) return false;
  memcpy(k->a+k->n, other->a, n*sizeof(*k->a));
  k->n += n;
  return true;
}

int zt_keys_reordered(zt_keys *k, const uint8_t *bytes, zt_error *err){
  sqlite3_free(k->slots);
  k->slots = NULL;
  k->last = 0;
  for(uint32_t i=1; i<k->n; i++){
    if( keys_compare(k, zt_keys_text(k, bytes, i-1), zt_keys_text(k, bytes, i))<0 ) continue;
    if( k->last+1==ZT_KEYS_RUNS ) return keys_rehash(k, bytes, k->n, err);
    k->runs[++k->last] = i;
  }
  memcpy(k->merged, k->runs, sizeof(k->merged));   /* The next name is compared with all */
  return SQLITE_OK;
}

int64_t zt_keys_find(const zt_keys *k, const uint8_t *bytes, zt_text text){
  if( k->slots ) return keys_look_up(k, bytes, text, keys_hash(k, text));
  return keys_find_in_runs(k, bytes, text);
}
