/*
** A component made of chunks: a grid of equal blocks of a row-major array, each stored on its own
** and filtered, or absent. The driver keeps the places of the chunks; tensor/chunked.c decodes
** them. Interface to code in chunks.c.
**
** Chunk i of the grid, counted row-major, has the elements from i's coordinates times `chunk` on.
** Chunks at the array's edges are stored whole. Absent chunks have the fill value.
*/
#ifndef ZT_CONTAINER_CHUNKS_H
#define ZT_CONTAINER_CHUNKS_H

#include "core/error.h"

struct zt_builder;   /* container/builder.h */

#define ZT_CHUNKS_RANK 32
#define ZT_CHUNKS_FILTERS 32

typedef enum zt_chunk_filter_id {
  ZT_FILTER_UNKNOWN,
  ZT_FILTER_ZLIB,          /* A zlib stream (RFC 1950) */
  ZT_FILTER_SHUFFLE,       /* First bytes of all elements, then second bytes ... */
  ZT_FILTER_FLETCHER32     /* A checksum of 4 bytes behind the data */
} zt_chunk_filter_id;

typedef struct zt_chunk_filter {
  uint32_t id;             /* A zt_chunk_filter_id */
  uint32_t number;         /* In the format's words, for messages */
  uint32_t width;          /* ZT_FILTER_SHUFFLE: bytes of an element */
} zt_chunk_filter;

/* The array, its grid, and how chunks are stored. */
typedef struct zt_chunks {
  uint32_t rank;                       /* 1 to ZT_CHUNKS_RANK */
  uint32_t width;                      /* Bytes of an element */
  uint32_t filters;                    /* Number of filters, in the order of writing */
  uint32_t fill;                       /* Bytes of the fill value: `width`, or 0 for zeros */
  bool computed;                       /* Chunks stand one behind the other, without filters: */
  uint64_t first;                      /* from this offset on, */
  uint64_t across[ZT_CHUNKS_RANK];     /* in the order of a grid of so many chunks */
  uint64_t shape[ZT_CHUNKS_RANK];      /* Elements of the array, */
  uint64_t chunk[ZT_CHUNKS_RANK];      /* and of a chunk; none is 0 */
  uint64_t bytes;                      /* Of a decoded chunk, at most ZT_CHUNK_MAX */
  zt_chunk_filter filter[ZT_CHUNKS_FILTERS];
  /* Set by zt_chunks_read(): */
  uint64_t grid[ZT_CHUNKS_RANK];       /* Chunks along each dimension */
  uint64_t n;                          /* Chunks in all */
  const uint8_t *fill_value;           /* Borrowed, as the table */
  const uint8_t *table;
  uint64_t stored;                     /* Its entries */
} zt_chunks;
#define ZT_CHUNK_MAX ((uint64_t)1 << 30)

/* The place of a chunk. */
typedef struct zt_chunk {
  uint64_t index;          /* In the grid */
  uint64_t offset;
  uint32_t length;         /* Stored bytes */
  uint32_t skipped;        /* Bit i: filter i was not applied */
} zt_chunk;

/* Keep the description and the places of n chunks, with distinct indices that ascend. `fill` has
** chunks->fill bytes. Sets *at and *size, the range of kept bytes for zt_chunks_read(). */
int zt_chunks_keep(struct zt_builder *b, const zt_chunks *chunks, const uint8_t *fill,
                   const zt_chunk *a, uint32_t n, uint32_t *at, uint32_t *size);

/* Decode a component's `chunks`. */
void zt_chunks_read(zt_span kept, zt_chunks *out);

/* The place of chunk i. False: it is absent. */
bool zt_chunks_find(const zt_chunks *c, uint64_t i, zt_chunk *out);

/* The number of the first chunk from i on that is not absent. False: there is none. */
bool zt_chunks_next(const zt_chunks *c, uint64_t i, uint64_t *out);

/* Set the numbers of chunks along each dimension, and in all: 64 bits hold the array's bytes. */
void zt_chunks_count(zt_chunks *c);

#endif
