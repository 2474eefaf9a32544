/* Is a key of a map there twice. Interface to code in duplicate_keys.c. */
#ifndef ZT_CORE_DUPLICATE_KEYS_H
#define ZT_CORE_DUPLICATE_KEYS_H

#include "core/cbor.h"

/* The keys of a map, which was checked, one after the other. */
typedef struct zt_duplicate_keys {
  /* Begin before the first one. */
  void (*rewind)(void *context);
  /* Position of the next one, and its hash: equal ones have the same. False behind the last, and
  ** after a failure. */
  bool (*next)(void *context, uint64_t seed, size_t *at, uint64_t *hash);
  /* Are those at two positions equal. */
  bool (*equal)(void *context, size_t a, size_t b);
  void *context;
  uint64_t n;                      /* How many there are */
  size_t bytes;                    /* Of what they are in: positions are less */
  const zt_interrupt *interrupt;   /* May be NULL */
  zt_error *err;                   /* Of every failure */
} zt_duplicate_keys;

/* The position of the first key that stands before that one, too; SIZE_MAX if there is none. Takes
** 8 bytes a key, and at most half of `bytes` or 512 KiB. */
int zt_duplicate_keys_find(const zt_duplicate_keys *keys, size_t *found);

/* Check the map whose head is next for a key that occurs twice, and pass over it. what names the
** map in the message. Keys are compared by value, however they are encoded: 0x00 and 0x1800 are the
** same key; 0, "0" and h'30' are three. Takes no memory while text keys ascend; else as above. */
bool zt_cbor_skip_unique(zt_cbor *c, const char *rule, const char *what);

#endif
