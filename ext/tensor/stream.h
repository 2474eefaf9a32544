/*
** A component's decoded bytes, read at any place, cheaply from front to back. Interface to code in
** stream.c; the rules of decoding are in encoding.h.
*/
#ifndef ZT_TENSOR_STREAM_H
#define ZT_TENSOR_STREAM_H

#include "tensor/payload.h"

typedef struct zt_stream zt_stream;

/* Bytes that who goes through a component reads at once: of fewer the system copies each more
** slowly, and more leave the processor's caches before they are used. C tests are built with less,
** so that there are several. A power of two: packed elements are whole in it. */
#ifndef ZT_STREAM_PIECE
# define ZT_STREAM_PIECE ((size_t)1 << 20)
#endif

/* The source, object and budget of *p must stay until the stream is closed; *p and its component
** are copied. Reads no byte. Unknown encodings (E1) and lengths beyond 64 bits fail here. err's
** place should name the component, here and below. */
int zt_stream_open(const zt_payload *p, zt_stream **out, zt_error *err);
void zt_stream_close(zt_stream *s);

/* Copy the n bytes at offset. *got is less than n only where the content ends; then, and whenever
** the last byte is read, all rules of encoding.h are checked. What has to be decoded to get there,
** and no more, is decoded: forward from where the last read ended. A read that goes back decodes
** from the beginning, and keeps all of a content that is not too large. */
int zt_stream_read(zt_stream *s, uint64_t offset, void *buffer, size_t n, size_t *got,
                   zt_error *err);

/* Bytes to read at once for who goes through all of it: ZT_STREAM_PIECE, or if there are fewer, as
** far as is known, one more than these: that meets the end. */
size_t zt_stream_piece(const zt_stream *s);

/* The number of bytes in all. Where nothing short of decoding tells, this decodes. */
int zt_stream_length(zt_stream *s, uint64_t *out, zt_error *err);

#endif
