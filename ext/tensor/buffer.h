/*
** Memory for results, which SQLite takes over. Interface to code in buffer.c.
**
** New memory is dear: the system clears every page of it. Large results begin at the boundary of a
** large page, and one of them is kept when it is done with, for the next. Where few bytes are other
** than 0, the system's cleared pages are what is wanted: then they are mapped for the result, and
** given back with it.
*/
#ifndef ZT_TENSOR_BUFFER_H
#define ZT_TENSOR_BUFFER_H

#include "tensor/payload.h"

/* Bytes for the caller; p is NULL if n is 0. */
typedef struct zt_buffer {
  uint8_t *p;
  uint64_t n;
} zt_buffer;

/* n bytes. SQLITE_TOOBIG if that exceeds the budget. *out is empty on failure. */
int zt_buffer_new(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err);

/* The same of bytes that are 0. */
int zt_buffer_new_zeros(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err);

/* Room for `capacity` bytes, of which the first n are as they were; n stays. On failure,
** everything does. */
int zt_buffer_reserve(zt_buffer *b, uint64_t capacity, zt_error *err);

void zt_buffer_clear(zt_buffer *b);   /* Free it */
void zt_buffer_free(void *p);         /* The same by its pointer: what SQLite calls when a result is
                                      ** done with */

/* What a connection's results leave for the next. Counts its references: buffers that are out have
** one each. NULL when out of memory. */
typedef struct zt_spare zt_spare;
zt_spare *zt_spare_new(void);
void zt_spare_release(zt_spare *s);   /* Frees what it keeps */

#define ZT_SPARE_MAX ((uint64_t)64 << 20)   /* Largest result whose memory is kept */

#endif
