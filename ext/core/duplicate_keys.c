/*
** Search for duplicate keys of a map. See duplicate_keys.h.
**
** Keys in ascending order are distinct and need no memory: the reader of the map checks for that,
** as zt_cbor_skip_unique() does below. Other keys are collected, each as 32 bits of its hash and
** its position, and sorted, so that equal ones become neighbours. If a map has too many keys for
** the memory limit, one part of the hash range is collected at a time.
*/
#include "core/duplicate_keys.h"
#include "core/host.h"
#include "core/item.h"
#include "core/os.h"

#define DUPLICATE_SMALL 32   /* Keys that are sorted by insertion */
#define DUPLICATE_MIN_ROOM ((size_t)1 << 16)   /* Keys that may always be collected */
#define DUPLICATE_BYTES_PER_GATHERED 16   /* Bytes of the map for each collected key, of 8 bytes */
#define DUPLICATE_BUCKETS 256

typedef struct duplicate_search {
  const zt_duplicate_keys *keys;
  uint64_t seed;
  uint64_t *entries;          /* Of one part of the hash range; owned */
  size_t nEntry, room;
  size_t reached;             /* Position of the first key without room */
  size_t found;               /* Position of the first key that equals an earlier one, or
                              ** SIZE_MAX */
} duplicate_search;

/* --- Entries: a hash above a position --- */

static uint64_t duplicate_entry(uint64_t hash, size_t at){
  return (hash & 0xFFFFFFFF00000000u) | at;
}

static size_t duplicate_position(uint64_t entry){
  return (size_t)(entry & 0xFFFFFFFFu);
}

static void duplicate_insert(uint64_t *a, size_t n){
  for(size_t i=1; i<n; i++){
    uint64_t x = a[i];
    size_t k = i;
    for(; k>0 && a[k-1]>x; k--) a[k] = a[k-1];
    a[k] = x;
  }
}

/* Moves entries to their buckets by the byte at `shift`. end[b] becomes the end of bucket b. */
static void duplicate_spread(uint64_t *a, size_t n, unsigned shift, size_t end[DUPLICATE_BUCKETS]){
  size_t next[DUPLICATE_BUCKETS], sum = 0;
  memset(end, 0, DUPLICATE_BUCKETS*sizeof(*end));
  for(size_t i=0; i<n; i++) end[a[i]>>shift & (DUPLICATE_BUCKETS-1)]++;
  for(size_t b=0; b<DUPLICATE_BUCKETS; b++){
    next[b] = sum;
    end[b] = sum += end[b];
  }
  for(size_t b=0; b<DUPLICATE_BUCKETS; b++){
    while( next[b]<end[b] ){
      uint64_t x = a[next[b]];
      for(size_t d=x>>shift & (DUPLICATE_BUCKETS-1); d!=b; d=x>>shift & (DUPLICATE_BUCKETS-1)){
        uint64_t y = a[next[d]];
        a[next[d]++] = x;
        x = y;
      }
      a[next[b]++] = x;
    }
  }
}

/* Sorts in place by the byte at `shift` and those below it. */
static void duplicate_sort(uint64_t *a, size_t n, unsigned shift, const zt_duplicate_keys *keys){
  size_t end[DUPLICATE_BUCKETS], from = 0;
  if( n<=DUPLICATE_SMALL ){
    duplicate_insert(a, n);
    return;
  }
  duplicate_spread(a, n, shift, end);
  for(size_t b=0; shift>0 && b<DUPLICATE_BUCKETS && !keys->err->rc; from=end[b++]){
    if( end[b]-from>1 ) duplicate_sort(a+from, end[b]-from, shift-8, keys);
    if( n>DUPLICATE_MIN_ROOM ) zt_interrupt_check(keys->interrupt, keys->err);
  }
}

/* Compares keys with equal hashes. Sorted, they are neighbours in the order of their positions. */
static void duplicate_compare(duplicate_search *u, const uint64_t *a, size_t n){
  for(size_t i=0, k; i<n; i=k){
    for(k=i+1; k<n && a[k]>>32==a[i]>>32; k++){
      for(size_t j=i; j<k && duplicate_position(a[k])<u->found; j++){
        if( u->keys->equal(u->keys->context, duplicate_position(a[j]), duplicate_position(a[k])) ){
          u->found = duplicate_position(a[k]);
        }
      }
    }
  }
}

/* Collects the keys of one part of the hash range. False if there is no room for all of them, which
** may happen by chance. */
static bool duplicate_collect(duplicate_search *u, uint64_t part, uint64_t parts){
  void *context = u->keys->context;
  uint64_t hash;
  size_t at;
  u->nEntry = 0;
  u->keys->rewind(context);
  while( u->keys->next(context, u->seed, &at, &hash) ){
    if( (hash & 0xFFFFFFFFu)*parts>>32!=part ) continue;
    u->reached = at;
    if( u->nEntry==u->room ) return false;
    u->entries[u->nEntry++] = duplicate_entry(hash, at);
  }
  return true;
}

int zt_duplicate_keys_find(const zt_duplicate_keys *keys, size_t *found){
  duplicate_search u = { .keys = keys, .found = SIZE_MAX };
  size_t max_keys = keys->bytes/DUPLICATE_BYTES_PER_GATHERED;
  uint64_t parts = 1;
  if( max_keys<DUPLICATE_MIN_ROOM ) max_keys = DUPLICATE_MIN_ROOM;
  if( keys->n>max_keys ) parts = keys->n/(max_keys-max_keys/32)+1;
  u.room = keys->n<max_keys ? (size_t)keys->n : max_keys;
  u.entries = sqlite3_malloc64(u.room*sizeof(*u.entries));
  if( !u.entries ) return zt_fail_nomem(keys->err);
  zt_os_advise_large(u.entries, u.room*sizeof(*u.entries));
  sqlite3_randomness(sizeof(u.seed), &u.seed);
  for(uint64_t part=0; part<parts && !keys->err->rc; part++){
    bool all = duplicate_collect(&u, part, parts);
    duplicate_sort(u.entries, u.nEntry, 56, keys);
    duplicate_compare(&u, u.entries, u.nEntry);
    if( all || u.found<=u.reached ) continue;   /* Keys that were not collected lie behind that */
    parts *= 2;
    part = UINT64_MAX;
  }
  sqlite3_free(u.entries);
  *found = u.found;
  return keys->err->rc;
}

/* --- CBOR --- */

typedef struct duplicate_map {
  zt_cbor map;                /* At its head */
  zt_cbor at;                 /* Current key or value */
  zt_cbor_level level;
  zt_span bytes;              /* Positions count from here */
  uint64_t n;                 /* Keys of the map */
  uint64_t small[DUPLICATE_SMALL]; /* Entries of the first keys */
} duplicate_map;

static uint64_t duplicate_hash(const duplicate_map *m, size_t at, uint64_t seed){
  zt_error ignored = ZT_ERROR_NONE;
  zt_cbor c;
  zt_cbor_init_trusted(&c, m->bytes, at, 0, &ignored);
  return zt_item_hash(&c, seed);
}

/* Reads the next key; z is NULL if it is not text. False at the end and after a failure. */
static bool duplicate_next(zt_cbor *c, zt_cbor_level *level, zt_text *key){
  *key = (zt_text){ NULL, 0 };
  if( !zt_cbor_more(c, level) || !zt_cbor_poll(c) ) return false;
  return zt_cbor_peek(c)==ZT_CBOR_TEXT ? zt_cbor_text(c, key) : zt_cbor_skip(c);
}

/* Skips the map and counts its keys. Returns whether the order does not prove them distinct. */
static bool duplicate_pass(duplicate_map *m, zt_cbor *c){
  zt_text key, last = { NULL, 0 };
  bool ascend = true;
  zt_cbor_level level;
  if( !zt_cbor_open(c, ZT_CBOR_MAP, &level) ) return false;
  for(const uint8_t *at=c->p; duplicate_next(c, &level, &key); at=c->p){
    if( m->n<DUPLICATE_SMALL ) m->small[m->n] = (uint64_t)(at - c->base);
    m->n++;
    ascend = ascend && key.z && (!last.z || zt_text_compare(last, key)<0);
    last = key;
    zt_cbor_skip(c);
  }
  return !ascend && !c->err->rc;
}

static void duplicate_rewind_map(void *context){
  duplicate_map *m = context;
  m->at = m->map;
  m->at.trusted = true;   /* It was checked by duplicate_pass() */
  zt_cbor_open(&m->at, ZT_CBOR_MAP, &m->level);
}

static bool duplicate_next_of_map(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  duplicate_map *m = context;
  zt_text key;
  *at = (size_t)(m->at.p - m->at.base);   /* The next key follows the value directly */
  if( !duplicate_next(&m->at, &m->level, &key) ) return false;
  *hash = key.z ? zt_item_hash_text(key, seed) : duplicate_hash(m, *at, seed);
  zt_cbor_skip(&m->at);
  return true;
}

static bool duplicate_equal_in_map(void *context, size_t a, size_t b){
  const duplicate_map *m = context;
  return zt_item_equal_at(m->bytes, a, b);
}

static void duplicate_check_small(duplicate_map *m, const zt_duplicate_keys *keys, size_t *found){
  duplicate_search u = { .keys = keys, .found = SIZE_MAX };
  sqlite3_randomness(sizeof(u.seed), &u.seed);
  for(size_t i=0; i<m->n; i++){
    m->small[i] = duplicate_entry(duplicate_hash(m, (size_t)m->small[i], u.seed),
                                  (size_t)m->small[i]);
  }
  duplicate_insert(m->small, (size_t)m->n);
  duplicate_compare(&u, m->small, (size_t)m->n);
  *found = u.found;
}

bool zt_cbor_skip_unique(zt_cbor *c, const char *rule, const char *name){
  duplicate_map m = { .map = *c, .bytes = { c->base, (size_t)(c->end - c->base) } };
  zt_duplicate_keys keys = {
    .rewind = duplicate_rewind_map, .next = duplicate_next_of_map, .equal = duplicate_equal_in_map,
    .context = &m, .bytes = m.bytes.n, .interrupt = c->interrupt, .err = c->err
  };
  size_t found;
  /* Keys in chunks are compared after zt_cbor_join() */
  if( !duplicate_pass(&m, c) || c->chunked ) return c->err->rc==SQLITE_OK;
  keys.n = m.n;
  if( m.n<=DUPLICATE_SMALL ) duplicate_check_small(&m, &keys, &found);
  else if( zt_duplicate_keys_find(&keys, &found) ){
    c->p = c->end;
    return false;
  }
  if( found==SIZE_MAX ) return true;
  c->p = c->base+found;
  return zt_cbor_fail(c, rule, "a key stands twice in %s", name);
}
