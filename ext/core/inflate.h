/*
** Decoder of deflate streams (RFC 1951) by ISA-L. Interface to code in inflate.c.
**
** The caller passes the stored bytes in successive spans. A call consumes only the bytes that it
** needs and never writes more than requested.
*/
#ifndef ZT_CORE_INFLATE_H
#define ZT_CORE_INFLATE_H

#include "core/error.h"

typedef struct zt_inflate zt_inflate;   /* 90 KB */

/* Returns NULL if memory is short (recorded). */
zt_inflate *zt_inflate_new(zt_error *err);
void zt_inflate_free(zt_inflate *d);

/* Begins another stream. */
void zt_inflate_reset(zt_inflate *d);

/* Decodes up to n bytes to out and consumes their input from the front of *in. *n_read is less than
** n only if *in is used up or the stream has ended. Invalid bytes break the rule E2. */
int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *n_read,
                    zt_error *err);

/* Returns whether the stream has ended. *behind is how many consumed bytes lie behind it. */
bool zt_inflate_ended(const zt_inflate *d, size_t *behind);

#endif
