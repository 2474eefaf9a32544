/*
** The stored bytes of a file's components in the order in which they lie in the file: what
** overlaps, and what lies between. The manifest is among them. Interface to code in blobs.c.
*/
#ifndef ZT_CONTAINER_BLOBS_H
#define ZT_CONTAINER_BLOBS_H

#include "container/container.h"

#define ZT_BLOB_MANIFEST UINT32_MAX   /* As an object: the manifest */

typedef struct zt_blob {
  uint64_t offset, length;       /* Where it lies; length is at least 1 */
  uint32_t shard;                /* In which file: 0 is this one, else the index of a shard,
                                 ** plus 1 */
  uint32_t object, component;    /* Whose it is */
} zt_blob;

typedef struct zt_blobs {
  zt_blob *a;                    /* Ascending by shard, offset, length, then in the manifest's
                                 ** order; owned */
  uint32_t n;
  uint32_t next;                 /* Index of the next one */
  uint32_t furthest;             /* Of those before it in the same file, the one that ends last, */
  bool unsized;                  /* A component has bytes that nothing tells the number of: they
                                 ** are not here */
  uint64_t end;                  /* and where; the header's end before the first */
} zt_blobs;

/* 32 bytes a component, 64 while they are put into order, which takes a few passes. `interrupt`,
** which may be NULL, is asked whether to go on. *out needs zt_blobs_clear() in any case. */
int zt_blobs_sort(const zt_container *c, const zt_interrupt *interrupt, zt_blobs *out,
                  zt_error *err);
void zt_blobs_clear(zt_blobs *b);

/* One blob, and how it lies to those before it. */
typedef struct zt_blob_step {
  const zt_blob *blob;           /* NULL: what lies between this file's last blob and its footer */
  uint64_t gap, end;             /* Bytes from gap to end are none of any blob; there are none if
                                 ** gap is not less */
  const zt_blob *other;          /* One that it overlaps without being identical; NULL: there
                                 ** is none */
} zt_blob_step;

/* The next blob. False at the end. */
bool zt_blobs_next(const zt_container *c, zt_blobs *b, zt_blob_step *out);

/* Record that a blob overlaps another, in the first one's place. */
int zt_blobs_fail(const zt_container *c, const zt_blob_step *step, const char *rule, zt_error *err);

#endif
