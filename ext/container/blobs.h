/*
** The stored bytes of a file's components and its manifest, sorted by offset: overlaps and gaps.
** Interface to code in blobs.c.
*/
#ifndef ZT_CONTAINER_BLOBS_H
#define ZT_CONTAINER_BLOBS_H

#include "container/container.h"

#define ZT_BLOB_MANIFEST UINT32_MAX   /* `object` of the manifest's blob */

typedef struct zt_blob {
  uint64_t offset, length;       /* length is at least 1 */
  uint32_t shard;                /* 0: this file; else the index of a shard, plus 1 */
  uint32_t object, component;    /* Its owner */
} zt_blob;

typedef struct zt_blobs {
  zt_blob *a;                    /* Sorted by shard, offset, length, component; owned */
  uint32_t n;
  uint32_t next;                 /* Index of the next one */
  uint32_t furthest;             /* Index of the earlier blob of this file with the maximum end */
  uint64_t alignment;            /* The greatest power of two that all components of this file
                                 ** stand at multiples of; 0: it has none */
  bool unsized;                  /* Some components of unknown length are not included */
  uint64_t end;                  /* That maximum; at first the header's end */
} zt_blobs;

/* Takes 32 bytes a component, and 64 during sorting. `interrupt` may be NULL. *out always needs
** zt_blobs_clear(). */
int zt_blobs_sort(const zt_container *c, const zt_interrupt *interrupt, zt_blobs *out,
                  zt_error *err);
void zt_blobs_clear(zt_blobs *b);

/* A blob and its relation to earlier ones. */
typedef struct zt_blob_step {
  const zt_blob *blob;           /* NULL: the end of this file's blobs */
  uint64_t gap, end;             /* Bytes gap to end belong to no blob; none if gap>=end */
  const zt_blob *other;          /* A blob that it overlaps without being identical; NULL: none */
} zt_blob_step;

/* The next blob. False at the end. */
bool zt_blobs_next(const zt_container *c, zt_blobs *b, zt_blob_step *out);

/* Record the overlap, at the place of step->blob. */
int zt_blobs_fail(const zt_container *c, const zt_blob_step *step, const char *rule, zt_error *err);

#endif
