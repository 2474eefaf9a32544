/* The memo of a pickle: nodes by numbers. Real picklers number entries in the order of writing, so
** an array of as many entries as are written holds them. Other keys are hashed, with a random
** multiplier. */
#ifndef ZT_CONTAINER_PICKLE_MEMO_H
#define ZT_CONTAINER_PICKLE_MEMO_H

#include "container/pickle.h"

typedef struct zt_pickle_entry { uint32_t key; zt_pickle_node node; } zt_pickle_entry;

/* All zeros at first. */
typedef struct zt_pickle_memo {
  zt_pickle_node *a;         /* Entries with keys below room; owned */
  uint64_t room;
  uint32_t entries;          /* Of all keys */
  zt_pickle_entry *hashed;   /* A hash table of other keys, and of those that were there before the
                             ** array had room; node 0 marks a free slot. Owned */
  uint32_t nHashed;
  unsigned bits;             /* Of a slot's number */
  uint64_t multiplier;
} zt_pickle_memo;

/* Make room in the array for keys below n. */
int zt_pickle_memo_reserve(zt_pickle_memo *memo, uint64_t n, zt_error *err);

int zt_pickle_memo_put(zt_pickle_memo *memo, uint32_t key, zt_pickle_node node, zt_error *err);

/* 0: there is none. */
zt_pickle_node zt_pickle_memo_get(const zt_pickle_memo *memo, uint32_t key);

void zt_pickle_memo_clear(zt_pickle_memo *memo);

#endif
