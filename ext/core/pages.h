/*
** Bytes of a source in any order, few at a time, for metadata between bytes of tensors. Pages of a
** file are kept in memory. A new one replaces that of its set which was not used longest. An image
** is read in place. Interface to code in pages.c.
*/
#ifndef ZT_CORE_PAGES_H
#define ZT_CORE_PAGES_H

#include "core/interrupt.h"
#include "core/source.h"

#define ZT_PAGE ((size_t)4 << 10)
#define ZT_PAGES 64              /* In memory, */
#define ZT_PAGES_SET 4           /* and those of a set */

typedef struct zt_pages {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;                  /* Receives every failure */
  uint64_t size;                  /* Of the source */
  const uint8_t *image;           /* All of an image; NULL: a file */
  uint8_t *p;                     /* Owned; NULL until needed */
  uint64_t held[ZT_PAGES];        /* Number of each page plus 1; 0: none */
  uint64_t used[ZT_PAGES];        /* When each page was used last */
  uint64_t clock;
  uint32_t reads;                 /* Counts up to a check for an interrupt */
} zt_pages;

/* Opens them without reading. zt_pages_close() must follow. */
void zt_pages_open(zt_source *source, const zt_interrupt *interrupt, zt_pages *out, zt_error *err);
void zt_pages_close(zt_pages *pages);

/* Copies n bytes inside the source. False after a failure. */
bool zt_pages_read(zt_pages *pages, uint64_t at, size_t n, void *out);

/* Reads a little-endian number of at most 8 bytes inside the source; 0 after a failure. */
uint64_t zt_pages_number(zt_pages *pages, uint64_t at, unsigned width);

#endif
