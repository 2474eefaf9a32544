/*
** Deflate streams (RFC 1951), decoded piece by piece by ISA-L. Interface to code in inflate.c.
**
** The stored bytes come in spans, one after the other, of which each call takes what it can use.
** A stream never makes more than what is asked of it.
*/
#ifndef ZT_CORE_INFLATE_H
#define ZT_CORE_INFLATE_H

#include "core/error.h"

typedef struct zt_inflate zt_inflate;   /* 90 KB */

/* NULL when out of memory (recorded). */
zt_inflate *zt_inflate_new(zt_error *err);
void zt_inflate_free(zt_inflate *d);

/* Begin with another stream. */
void zt_inflate_reset(zt_inflate *d);

/* Decode up to n bytes to out, and take from the front of *in what that needed. *got is how many
** came; fewer than n only if *in is used up, or the stream has ended. What is no deflate stream
** breaks the rule E2. */
int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *got,
                    zt_error *err);

/* The stream has ended, and so many bytes that were taken come after it. */
bool zt_inflate_ended(const zt_inflate *d, size_t *behind);

#endif
