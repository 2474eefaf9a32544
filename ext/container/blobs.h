/*
** The stored bytes of a file's components in the order in which they lie in the file: what overlaps, and what lies between.
** Interface to code in blobs.c.
*/
#ifndef ZT_CONTAINER_BLOBS_H
#define ZT_CONTAINER_BLOBS_H

#include "container/container.h"

typedef struct zt_blob {
  uint64_t offset, length;       /* Where it lies in the file; length is at least 1 */
  uint32_t object, component;    /* Whose it is */
} zt_blob;

/* Components with bytes, ascending by offset, then by length, then in the manifest's order. */
typedef struct zt_blobs {
  zt_blob *a;                    /* Owned */
  uint32_t n;
} zt_blobs;

/* 24 bytes a component, n log n time. *out needs zt_blobs_clear() in any case. */
int zt_blobs_sort(const zt_container *c, zt_blobs *out, zt_error *err);
void zt_blobs_clear(zt_blobs *b);

#endif
