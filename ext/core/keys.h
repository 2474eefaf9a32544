/*
** The distinct names of a list of things, with search by name. A name is a range of some bytes, and
** names are compared by these bytes.
**
** Real writers sort names, or write a few sorted runs, as when they sort by type first. Such names
** are found by binary search and take 8 bytes each. Names in another order get a hash table with a
** random seed, of 6 to 12 bytes each. Interface to code in keys.c.
*/
#ifndef ZT_CORE_KEYS_H
#define ZT_CORE_KEYS_H

#include "core/interrupt.h"
#include "core/span.h"

typedef struct zt_key {
  uint32_t at, n;     /* First byte and length */
} zt_key;

#define ZT_KEYS_RUNS 8

typedef struct zt_keys {
  zt_key *a;          /* In order of appearance; owned */
  uint32_t n, capacity;
  uint32_t runs[ZT_KEYS_RUNS];   /* Index of the first name of each ascending run, while there is no
                                 ** hash table */
  uint32_t last;      /* Index of the last run */
  uint32_t merged[ZT_KEYS_RUNS]; /* For each run but the last: the first name that does not sort
                                 ** before the last name added */
  uint32_t *slots;    /* Hash table: index into a plus 1, below bits of the hash; 0 is empty. NULL
                      ** while runs suffice. Owned */
  uint32_t mask;      /* Number of slots - 1, which masks the index */
  uint64_t seed;
  bool short_first;   /* Shorter names sort first */
  const zt_interrupt *interrupt;   /* Borrowed, may be NULL */
} zt_keys;

/* A set is empty when it is all zeros but for short_first and interrupt, which zt_keys_clear()
** keeps. */
void zt_keys_clear(zt_keys *k);

/* Empties the set and keeps only the memory of the names. */
void zt_keys_empty(zt_keys *k);

size_t zt_keys_memory(const zt_keys *k);

/* Makes room for n names, an estimate: lack of memory is not a failure. zt_keys_trim() gives unused
** room back. */
void zt_keys_reserve(zt_keys *k, uint64_t n);
void zt_keys_trim(zt_keys *k);

/* Adds a name unless an equal one exists: *duplicate. bytes, at most 4 GiB, is the base of
** positions and may move between calls. Returns SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT
** (recorded in err). */
int zt_keys_add(zt_keys *k, const uint8_t *bytes, zt_key key, bool *duplicate, zt_error *err);

/* Adds a name that sorts after all others, in line. False: it may not, or there is no room for it,
** and nothing was added. */
ZT_INLINE bool zt_keys_add_last(zt_keys *k, const uint8_t *bytes, zt_key key){
  zt_key last;
  if( k->n==0 || k->n==k->capacity || k->last>0 || k->short_first ) return false;
  last = k->a[k->n-1];
  if( zt_text_compare((zt_text){ (const char*)bytes+last.at, last.n },
                      (zt_text){ (const char*)bytes+key.at, key.n })>=0 ) return false;
  k->a[k->n++] = key;
  return true;
}

/* Adds the first n names of another set of the same bytes if they ascend and sort after all names
** here. Returns false and adds none if they do not, or if memory is short. */
bool zt_keys_append(zt_keys *k, const uint8_t *bytes, const zt_keys *other, uint32_t n);

/* Adapts to a new order of `a`, which becomes the order of appearance. Returns SQLITE_OK,
** SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
int zt_keys_reordered(zt_keys *k, const uint8_t *bytes, zt_error *err);

/* Returns the index of a name, or -1. */
int64_t zt_keys_find(const zt_keys *k, const uint8_t *bytes, zt_text text);

static inline zt_text zt_keys_text(const zt_keys *k, const uint8_t *bytes, uint32_t i){
  return (zt_text){ (const char*)bytes+k->a[i].at, k->a[i].n };
}

#endif
