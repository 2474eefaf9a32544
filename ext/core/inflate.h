/*
** Decoder of deflate streams (RFC 1951), also within zlib or gzip. Interface to code in inflate.c,
** which is for ISA-L, and in inflate_zlib.c, which is for zlib.
**
** The caller passes the stored bytes in successive spans. A call consumes only the bytes that it
** needs and never writes more than requested.
*/
#ifndef ZT_CORE_INFLATE_H
#define ZT_CORE_INFLATE_H

#include "core/error.h"

/* ISA-L is several times as fast as zlib, but wrong on big-endian machines. */
#ifndef ZT_INFLATE_ISAL
# define ZT_INFLATE_ISAL (__BYTE_ORDER__==__ORDER_LITTLE_ENDIAN__)
#endif

typedef struct zt_inflate zt_inflate;   /* 90 KB of ISA-L's, 40 KB of zlib's */

/* Returns NULL if memory is short (recorded). */
zt_inflate *zt_inflate_new(zt_error *err);
void zt_inflate_free(zt_inflate *d);

/* Begins another stream. */
void zt_inflate_reset(zt_inflate *d);

/* Begins a stream with a header and a checksum around it: zlib's (RFC 1950), or gzip's (RFC 1952).
** A wrong checksum breaks E2, too. */
typedef enum zt_inflate_around {
  ZT_INFLATE_BARE, ZT_INFLATE_ZLIB, ZT_INFLATE_GZIP
} zt_inflate_around;
void zt_inflate_begin(zt_inflate *d, zt_inflate_around around);

/* Decodes up to n bytes to out and consumes their input from the front of *in. *n_read is less than
** n only if *in is used up or the stream has ended. Invalid bytes break the rule E2. */
int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *n_read,
                    zt_error *err);

/* Returns whether the stream has ended. *behind is how many consumed bytes lie behind it: 0 for
** gzip. */
bool zt_inflate_ended(const zt_inflate *d, size_t *behind);

/* Several members of gzip, one behind the other, are one stream (RFC 1952, 2.2). Behind the end of
** one, zeros are passed over, as Python does. True if another one begins, which is begun. */
static inline bool zt_inflate_next_member(zt_inflate *d, zt_span *in){
  while( in->n>0 && *in->p==0 ) *in = (zt_span){ in->p+1, in->n-1 };
  if( in->n==0 || *in->p!=0x1F ) return false;
  zt_inflate_begin(d, ZT_INFLATE_GZIP);
  return true;
}

#endif
