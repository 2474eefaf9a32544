/*
** The names of a list of things: are they distinct, and where is one. A name is a range of some
** bytes, and is compared by these.
**
** Names in strictly ascending order, which real writers produce, or in a few such runs, as of those
** who sort by type first, are found by binary search and need eight bytes each; names of another
** order get a hash table, seeded at random, of 6 to 12 bytes each. Interface to code in keys.c.
*/
#ifndef ZT_CORE_KEYS_H
#define ZT_CORE_KEYS_H

#include "core/interrupt.h"
#include "core/span.h"

typedef struct zt_key {
  uint32_t at, n;     /* Its first byte, and how many */
} zt_key;

#define ZT_KEYS_RUNS 8

typedef struct zt_keys {
  zt_key *a;          /* In order of appearance; owned */
  uint32_t n, capacity;
  uint32_t runs[ZT_KEYS_RUNS];   /* Indices of names from which on they ascend, as long as there is
                                 ** no hash table: that many more than one as */
  uint32_t last;
  uint32_t merged[ZT_KEYS_RUNS]; /* Of each run but the last: the first name that does not come
                                 ** before the last one added */
  uint32_t *slots;    /* Hash table of indices into a, plus one, below bits of the hash; 0 is empty.
                      ** NULL while there are few runs. Owned */
  uint32_t mask;      /* Number of slots - 1, and the bits of an index */
  uint64_t seed;
  bool short_first;   /* Ascending means short ones first */
  const zt_interrupt *interrupt;   /* Asked while many names are added; borrowed, may be NULL */
} zt_keys;

/* A set is empty when it is all zeros; it then may be told that short names come first, and whom to
** ask. Both stay. */
void zt_keys_clear(zt_keys *k);

/* Empty it for another list, to which the memory of this one's names is left, and nothing else. */
void zt_keys_empty(zt_keys *k);

/* Bytes of memory that it holds. */
size_t zt_keys_memory(const zt_keys *k);

/* Make room for n, which is only an estimate: no failure if memory is short. And give back memory
** that was allocated ahead. */
void zt_keys_reserve(zt_keys *k, uint64_t n);
void zt_keys_trim(zt_keys *k);

/* Add a name. bytes is where positions count from, at most 4 GiB; they may move between calls.
** *duplicate tells that an equal one is there already; it is then not added. Returns SQLITE_OK,
** SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
int zt_keys_add(zt_keys *k, const uint8_t *bytes, zt_key key, bool *duplicate, zt_error *err);

/* Add the first n names of another set, of the same bytes, at once: if they ascend and come after
** all that are there. False: that is not so, or there is no memory, and none was added. */
bool zt_keys_append(zt_keys *k, const uint8_t *bytes, const zt_keys *other, uint32_t n);

/* What is in `a` was put in another order, which is that of appearance from here on. Returns
** SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
int zt_keys_reordered(zt_keys *k, const uint8_t *bytes, zt_error *err);

/* The index of a name, in order of appearance; -1 if there is none. */
int64_t zt_keys_find(const zt_keys *k, const uint8_t *bytes, zt_text text);

/* Name i. */
static inline zt_text zt_keys_text(const zt_keys *k, const uint8_t *bytes, uint32_t i){
  return (zt_text){ (const char*)bytes+k->a[i].at, k->a[i].n };
}

#endif
