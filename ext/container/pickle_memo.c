/* The memo of a pickle. See pickle_memo.h. */
#include "container/pickle_memo.h"

#include "core/host.h"

#define MEMO_BITS 4          /* Of a hash table's slots at first, */
#define MEMO_BITS_MAX 31     /* and at most: pickles have at most 256 MiB */

/* Memory grows by half at least. */
int zt_pickle_memo_reserve(zt_pickle_memo *memo, uint64_t n, zt_error *err){
  const uint64_t least = memo->room+memo->room/2, room = n>least ? n : least;
  zt_pickle_node *a;
  if( n<=memo->room ) return SQLITE_OK;
  a = sqlite3_realloc64(memo->a, room*sizeof(*a));
  if( !a ) return zt_fail_nomem(err);
  memset(a+memo->room, 0, (size_t)(room-memo->room)*sizeof(*a));
  memo->a = a;
  memo->room = room;
  for(uint32_t i=0; memo->nHashed && i<(uint32_t)1<<memo->bits; i++){
    const zt_pickle_entry *entry = &memo->hashed[i];
    if( entry->node && entry->key<room && !a[entry->key] ) a[entry->key] = entry->node;
  }
  return SQLITE_OK;
}

/* The slot of a key, or a free one for it. */
static zt_pickle_entry *memo_slot(const zt_pickle_memo *memo, uint32_t key){
  const uint32_t mask = UINT32_MAX>>(32-memo->bits);
  uint32_t i = (uint32_t)((key*memo->multiplier)>>32)>>(32-memo->bits);
  while( memo->hashed[i].node && memo->hashed[i].key!=key ) i = (i+1) & mask;
  return &memo->hashed[i];
}

/* Make room for one more: at least half of the slots are free. */
static int memo_grow(zt_pickle_memo *memo, zt_error *err){
  zt_pickle_memo larger = *memo;
  if( memo->hashed && memo->nHashed<(uint32_t)1<<(memo->bits-1) ) return SQLITE_OK;
  if( memo->bits==MEMO_BITS_MAX ) return zt_fail_nomem(err);
  larger.bits = memo->hashed ? memo->bits+1 : MEMO_BITS;
  larger.hashed = sqlite3_malloc64((uint64_t)sizeof(*larger.hashed)<<larger.bits);
  if( !larger.hashed ) return zt_fail_nomem(err);
  memset(larger.hashed, 0, sizeof(*larger.hashed)<<larger.bits);
  sqlite3_randomness(sizeof(larger.multiplier), &larger.multiplier);
  larger.multiplier |= 1;
  for(uint32_t i=0; memo->hashed && i<(uint32_t)1<<memo->bits; i++){
    const zt_pickle_entry *entry = &memo->hashed[i];
    if( entry->node ) *memo_slot(&larger, entry->key) = *entry;
  }
  sqlite3_free(memo->hashed);
  *memo = larger;
  return SQLITE_OK;
}

int zt_pickle_memo_put(zt_pickle_memo *memo, uint32_t key, zt_pickle_node node, zt_error *err){
  zt_pickle_entry *entry;
  if( key<memo->room ){
    memo->entries += memo->a[key]==0;
    memo->a[key] = node;
    return SQLITE_OK;
  }
  if( memo_grow(memo, err) ) return err->rc;
  entry = memo_slot(memo, key);
  memo->nHashed += entry->node==0;
  memo->entries += entry->node==0;
  *entry = (zt_pickle_entry){ key, node };
  return SQLITE_OK;
}

zt_pickle_node zt_pickle_memo_get(const zt_pickle_memo *memo, uint32_t key){
  if( key<memo->room ) return memo->a[key];
  return memo->hashed ? memo_slot(memo, key)->node : 0;
}

void zt_pickle_memo_clear(zt_pickle_memo *memo){
  sqlite3_free(memo->a);
  sqlite3_free(memo->hashed);
  *memo = (zt_pickle_memo){ .room = 0 };
}
