/* Search for duplicate keys of a map. Interface to code in duplicate_keys.c. */
#ifndef ZT_CORE_DUPLICATE_KEYS_H
#define ZT_CORE_DUPLICATE_KEYS_H

#include "core/cbor.h"

/* The keys of a map that was checked, as an iterator. */
typedef struct zt_duplicate_keys {
  /* Moves before the first key. */
  void (*rewind)(void *context);
  /* Returns the position and hash of the next key. Equal keys have equal hashes. False at the end
  ** and after a failure. */
  bool (*next)(void *context, uint64_t seed, size_t *at, uint64_t *hash);
  /* Returns whether the keys at two positions are equal. */
  bool (*equal)(void *context, size_t a, size_t b);
  void *context;
  uint64_t n;                      /* Number of keys */
  size_t bytes;                    /* All positions are less than this */
  const zt_interrupt *interrupt;   /* May be NULL */
  zt_error *err;                   /* Receives every failure */
} zt_duplicate_keys;

/* Finds the first key that equals an earlier one; *found is its position or SIZE_MAX. Takes 8 bytes
** a key, at most half of `bytes` or 512 KiB. */
int zt_duplicate_keys_find(const zt_duplicate_keys *keys, size_t *found);

/* Checks the next item, a map, for duplicate keys and skips it. name is the map in the message.
** Keys are compared by value (item.h). Takes no memory while text keys ascend; else as above. */
bool zt_cbor_skip_unique(zt_cbor *c, const char *rule, const char *name);

#endif
