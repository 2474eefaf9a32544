/* Filters of chunks (container/chunks.h), undone. Interface to code in chunk_filters.c. */
#ifndef ZT_TENSOR_CHUNK_FILTERS_H
#define ZT_TENSOR_CHUNK_FILTERS_H

#include "container/chunks.h"
#include "core/inflate.h"

/* Memory of one thread. All zeros at first. */
typedef struct zt_unfilter {
  zt_inflate *inflate;           /* NULL until needed; owned, as all */
  uint8_t *stored;
  uint64_t stored_room;
  uint8_t *half[2];              /* Between two filters */
  uint64_t half_room[2];
} zt_unfilter;
void zt_unfilter_clear(zt_unfilter *u);

/* Decode a chunk's stored bytes, n of them, into c->bytes bytes. They are overwritten. */
int zt_unfilter_chunk(zt_unfilter *u, const zt_chunks *c, const zt_chunk *chunk, uint8_t *stored,
                      uint64_t n, uint8_t *out, zt_error *err);

/* Make room for the stored bytes of a chunk. */
uint8_t *zt_unfilter_room(zt_unfilter *u, uint64_t n, zt_error *err);

#endif
