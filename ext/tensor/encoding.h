/*
** The table of encodings: how stored bytes become decoded ones. A new encoding is one row in
** encoding.c, and a file of its own like zstd.c. Interface between stream.c and these.
**
**   raw    the bytes as they are
**   zstd   frames of RFC 8878, one after the other, skippable ones among them, and nothing else
**   zt.zstd-seekable/1   frames of equal content, and a table of where they are (seekable.c)
**   deflate   one stream of RFC 1951, and nothing behind it
**   protobuf.varint, protobuf.unpacked   numbers as protobuf's messages have them (varint.c)
**   pickle   bytes that are text in a pickle, or part of one that is compressed (kept.c)
** Rules (tests/formats has files for each):
**   E1  the encoding is known
**   E2  every byte belongs to a frame or stream that decodes: nothing cut, no dictionary, checksums
**       right
**   E3  the decoded length is uncompressed_length, and where that is absent, what shape and type of
**       a dense object make
**   E4  decoding stops as soon as it would exceed that; no frame's own word is trusted
**   E5  something tells how many bytes are stored
*/
#ifndef ZT_TENSOR_ENCODING_H
#define ZT_TENSOR_ENCODING_H

#include "tensor/payload.h"

/* What an encoding keeps between calls while it decodes a component from front to back: each has
** its own. */
typedef void zt_decoder;

typedef struct zt_encoding {
  const char *name;
  /* zt_encoding_whole(). NULL: there is nothing better than to decode piece by piece. */
  int (*whole)(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err);
  int (*open)(const zt_payload *p, zt_decoder **out, zt_error *err);
  /* The next bytes, at least one and at most n. *got is 0 at the end, where all stored bytes are
  ** used up and sound. */
  int (*next)(zt_decoder *d, uint8_t *out, size_t n, size_t *got, zt_error *err);
  void (*close)(zt_decoder *d);
  /* Go to a place from which the content's byte `offset` is next, or near. *position is the byte
  ** that comes next; it is not behind offset. NULL: there is no way but to decode from
  ** the beginning. */
  int (*seek)(zt_decoder *d, uint64_t offset, uint64_t *position, zt_error *err);
} zt_encoding;

#define ZT_WHOLE_MAX ((uint64_t)32 << 20)   /* What is larger is decoded piece by piece, so that it
                                            ** can be interrupted */
#define ZT_POLL_BYTES ((uint64_t)4 << 20)   /* Bytes between two questions whether to go on */

/* NULL if it is not known. For raw, all functions are NULL: the decoded bytes are the
** stored ones. */
const zt_encoding *zt_encoding_of(const zt_component *component);

/* All of the content, n bytes of it, in one call that cannot be interrupted, of what is not raw.
** *got is what it makes, more than n (not how much more) or less; nothing is written beyond n. */
int zt_encoding_whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err);

extern const zt_encoding zt_encoding_zstd, zt_encoding_seekable, zt_encoding_deflate,
  zt_encoding_varint, zt_encoding_unpacked, zt_encoding_kept;

#endif
