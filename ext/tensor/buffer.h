/*
** Memory for results, which SQLite takes over. Interface to code in buffer.c.
**
** New memory is slow, because the system clears every page of it. Large results begin at the
** boundary of a large page, and one of them is kept after use for the next result. A result with
** few bytes other than 0 uses the system's cleared pages instead: they are mapped for it, and
** unmapped with it.
*/
#ifndef ZT_TENSOR_BUFFER_H
#define ZT_TENSOR_BUFFER_H

#include "tensor/payload.h"

/* p is NULL if n is 0. */
typedef struct zt_buffer {
  uint8_t *p;
  uint64_t n;
} zt_buffer;

/* Allocate n bytes: SQLITE_TOOBIG if that exceeds the budget. *out is empty on failure. */
int zt_buffer_new(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err);

/* The same, all bytes 0. */
int zt_buffer_new_zeros(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err);

/* Make room for `capacity` bytes; n and the first n bytes stay. A failure changes nothing. */
int zt_buffer_reserve(zt_buffer *b, uint64_t capacity, zt_error *err);

void zt_buffer_clear(zt_buffer *b);   /* Free it */
void zt_buffer_free(void *p);         /* The same by pointer, as SQLite's destructor of results */

/* A connection's spare buffer, with counted references: each buffer in use has one. NULL when out
** of memory. */
typedef struct zt_spare zt_spare;
zt_spare *zt_spare_new(void);
void zt_spare_release(zt_spare *s);   /* Frees what it keeps */

#define ZT_SPARE_MAX ((uint64_t)64 << 20)   /* Largest result whose memory is kept */

#endif
