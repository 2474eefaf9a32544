/*
** The index of a TensorFlow checkpoint: what tensorflow.c, the driver, tensorflow_entry.c, its
** entries, and tensorflow_values.c, its walk through attributes and manifest, share.
**
** Entries are kept as items, one behind the other: fields of fixed size, the shape, the key. The
** number of an object is the position of its item.
*/
#ifndef ZT_CONTAINER_TENSORFLOW_H
#define ZT_CONTAINER_TENSORFLOW_H

#include "container/builder.h"

/* An entry as its message has it. */
typedef struct zt_tensorflow_entry {
  int64_t type, shard, offset, size;
  uint32_t rank;
  bool ranked;             /* The rank is known, and at most ZT_MAX_RANK */
  bool has_crc;            /* Neither is set from an item, */
  uint32_t crc;            /* which has the digest's text. Masked */
  uint32_t slices;
  int64_t shape[ZT_MAX_RANK];   /* The first rank are set, if ranked */
} zt_tensorflow_entry;

#define ZT_TENSORFLOW_DIGEST 15   /* Bytes of a digest's text, which a 0 ends */

typedef struct zt_tensorflow_item {
  zt_span key;
  zt_text digest;          /* z NULL: none */
  size_t end;              /* Position behind it */
} zt_tensorflow_item;

typedef struct zt_tensorflow_state {
  int64_t shards;          /* num_shards */
  int64_t endianness;
  char version[24];        /* The producer */
  size_t items;            /* Position of the first item */
  uint64_t n;              /* Items; slices are some of them */
} zt_tensorflow_state;

/* Read an entry's message (PB1 to PB3). The interrupt may be NULL. */
int zt_tensorflow_read(zt_span value, const zt_interrupt *interrupt, zt_tensorflow_entry *out,
                       zt_error *err);

/* Keep an entry as the next item, which ends with the key; *at is its position. digest: crc32c is
** one of the bytes. */
int zt_tensorflow_keep(zt_builder *b, zt_span key, const zt_tensorflow_entry *e, bool digest,
                       uint32_t *at);

/* The item at a position, and its entry. */
void zt_tensorflow_item_at(const zt_container *c, size_t at, zt_tensorflow_item *out);
void zt_tensorflow_entry_at(const zt_container *c, size_t at, zt_tensorflow_item *item,
                            zt_tensorflow_entry *out);

/* Kinds of values: `at` of a value is 1 and more behind the item's position. */
enum {
  ZT_TENSORFLOW_HEADER,    /* Map: num_shards, endianness */
  ZT_TENSORFLOW_MANIFEST,  /* Map: header, entries */
  ZT_TENSORFLOW_ENTRIES,   /* Array of ZT_TENSORFLOW_ENTRY */
  ZT_TENSORFLOW_ENTRY,     /* Map: all of an entry */
  ZT_TENSORFLOW_SHAPE,     /* Array of integers */
  ZT_TENSORFLOW_OBJECT     /* Map: tensor_type, slices if there are any */
};
zt_value zt_tensorflow_map(size_t at, uint32_t kind, uint64_t count);

extern const zt_steps zt_tensorflow_steps;

#endif
