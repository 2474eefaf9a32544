/*
** The keys of one CBOR map (or the names of a list of tensors): are they distinct, and where is
** one. Keys are compared by value, however they are encoded: 0x00 and 0x1800 are the same key; 0,
** "0" and h'30' are three.
**
** Text keys in strictly ascending order, which real writers produce, are found by binary search and
** need four bytes each; other keys get a hash table, seeded at random, of 6 to 12 bytes each.
** Interface to code in keys.c, and in unique.c, which keeps no keys.
*/
#ifndef ZT_CORE_KEYS_H
#define ZT_CORE_KEYS_H

#include "core/cbor.h"
#include "core/positions.h"

typedef struct zt_keys {
  zt_span bytes;      /* The CBOR bytes that the positions count in, at most 4 GiB; borrowed */
  zt_positions at;    /* Position of each key, in order of appearance */
  uint32_t *slots;    /* Hash table of indices into at, plus one, below bits of the hash; 0 is
                      ** empty. NULL while the keys ascend. Owned */
  uint32_t mask;      /* Number of slots - 1, and the bits of an index */
  uint64_t seed;
  bool encoded;       /* Ascending is meant of the encoded texts: short ones first (RFC 8949
                      ** section 4.2.1) */
  zt_text last;       /* The last key while they ascend; z NULL before the first */
  const zt_interrupt *interrupt;   /* Asked while many keys are added; borrowed, may be NULL */
} zt_keys;

/* An empty set over the given bytes. */
void zt_keys_init(zt_keys *k, zt_span bytes);
void zt_keys_clear(zt_keys *k);

/* Bytes of memory that it holds. */
size_t zt_keys_memory(const zt_keys *k);

/* Before the first key: they will ascend by their encoding, not by their texts. */
void zt_keys_by_encoding(zt_keys *k);

/* Add the key at p, which is `text` if it is a text key (else text.z is NULL). *duplicate tells
** that an equal one is there already; it is then not added. Returns SQLITE_OK or SQLITE_NOMEM
** (recorded in err). */
int zt_keys_add(zt_keys *k, const uint8_t *p, zt_text text, bool *duplicate, zt_error *err);

/* The index of a text key, in order of appearance; -1 if there is none. */
int64_t zt_keys_find(const zt_keys *k, zt_text text);

/* The text of key i; z NULL if it is no text. */
zt_text zt_keys_text(const zt_keys *k, uint32_t i);

/* Check the map whose head is next for a key that occurs twice, and pass over it. what names the
** map in the message. Takes no memory while text keys ascend; else 8 bytes a key, and at most half
** of the bytes that c reads or 512 KiB. */
bool zt_cbor_skip_unique(zt_cbor *c, const char *rule, const char *what);

#endif
