/*
** A component's decoded bytes, at any offset; reading forward is cheap. Interface to code in
** stream.c; the rules of decoding are in encoding.h.
*/
#ifndef ZT_TENSOR_STREAM_H
#define ZT_TENSOR_STREAM_H

#include "tensor/payload.h"

typedef struct zt_stream zt_stream;

/* Bytes read at once in a pass over a component. With fewer the system copies more slowly; more
** would leave the processor's caches before they are used. C tests are built with less, so that
** there are several pieces. A power of two, so that packed elements are whole in it. */
#ifndef ZT_STREAM_PIECE
# define ZT_STREAM_PIECE ((size_t)1 << 20)
#endif

/* The source, object and budget of *p must stay until the stream is closed; *p and its component
** are copied. This reads no byte. Unknown encodings (E1) and lengths beyond 64 bits fail. err's
** place should name the component, here and below. */
int zt_stream_open(const zt_payload *p, zt_stream **out, zt_error *err);
void zt_stream_close(zt_stream *s);

/* Copy the n bytes at offset. *got is less than n only at the content's end. Then, and whenever the
** last byte is read, all rules of encoding.h are checked. Decoding goes no further than needed,
** from the end of the last read. A read that goes back decodes from the beginning, and keeps the
** content unless it is too large. */
int zt_stream_read(zt_stream *s, uint64_t offset, void *buffer, size_t n, size_t *got,
                   zt_error *err);

/* Return how many bytes to read at once in a pass: ZT_STREAM_PIECE, or if fewer are known to exist,
** one more than these, which meets the end. */
size_t zt_stream_piece(const zt_stream *s);

/* Return the decoded length. This decodes if only decoding shows it: if it is not known yet. */
int zt_stream_length(zt_stream *s, uint64_t *out, zt_error *err);
bool zt_stream_is_known(const zt_stream *s);

#endif
