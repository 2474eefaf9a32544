/*
** The table of encodings, which decode stored bytes, and encode if they can (frames.h). A new
** encoding is one row in encoding.c, and a file of its own like zstd.c. Interface between stream.c
** and these files.
**
**   raw    the stored bytes
**   zstd   consecutive frames of RFC 8878, including skippable ones, and nothing else
**   zt.zstd-seekable/1   frames of equal content, and a table of their places (seekable.c)
**   deflate   one stream of RFC 1951, and nothing behind it
**   protobuf.varint, protobuf.unpacked   numbers in protobuf's wire format (varint.c)
**   zlib, gzip   one stream of RFC 1950, or of RFC 1952, and nothing behind it
**   matlab.uint8 ...   numbers of another type than the component's (numbers.c)
**   pickle   bytes that are text in a pickle, or part of a compressed pickle (kept.c)
**   msgpack.chunked   bytes in several places (pieces.c)
**   chunked   chunks of a grid, each filtered (chunked.c)
** Rules (tests/formats has files for each):
**   E1  the encoding is known
**   E2  every byte belongs to a frame or stream that decodes: nothing cut, no dictionary, checksums
**       right
**   E3  the decoded length is uncompressed_length; if that is absent, shape and type of a dense
**       object determine it
**   E4  decoding stops as soon as it would exceed that; lengths in frames are not trusted
**   E5  the number of stored bytes is known
**   E6  the type can express numbers that are stored as another type, without rounding
*/
#ifndef ZT_TENSOR_ENCODING_H
#define ZT_TENSOR_ENCODING_H

#include "tensor/frames.h"
#include "tensor/payload.h"

/* The state of decoding a component from front to back. Each encoding defines its own. */
typedef void zt_decoder;

typedef struct zt_encoding {
  const char *name;
  /* zt_encoding_whole(). NULL: decode piece by piece. */
  int (*whole)(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err);
  int (*open)(const zt_payload *p, zt_decoder **out, zt_error *err);
  /* Return the next bytes, 1 to n. *got is 0 at the end: all stored bytes are decoded and sound. */
  int (*next)(zt_decoder *d, uint8_t *out, size_t n, size_t *got, zt_error *err);
  void (*close)(zt_decoder *d);
  /* Move to byte `offset` of the content, or to a place before it. *position is the next byte.
  ** NULL: decoding is possible only from the beginning. */
  int (*seek)(zt_decoder *d, uint64_t offset, uint64_t *position, zt_error *err);
  const zt_frames *frames;   /* How to encode. NULL: it does not */
  /* Decode the whole content, n bytes, by the threads of the budget's pool, each straight into its
  ** place in out. *done false: out has any bytes, and the decoder is to be used, which also finds
  ** what is wrong. The only error is SQLITE_INTERRUPT. NULL: it cannot. */
  int (*together)(const zt_payload *p, uint8_t *out, uint64_t n, bool *done, zt_error *err);
  /* Open at byte `offset` of the content, or before it, where a decoder of the same stored bytes
  ** has stopped. *position is the next byte. NULL: all decoders begin with the first byte. */
  int (*go_on)(const zt_payload *p, uint64_t offset, zt_decoder **out, uint64_t *position,
               zt_error *err);
  /* True if the content is known to have n bytes, and to be sound. Only with go_on. */
  bool (*sound)(const zt_decoder *d, uint64_t n);
} zt_encoding;

#define ZT_WHOLE_MAX ((uint64_t)32 << 20)   /* Larger content is decoded piece by piece, so that it
                                            ** can be interrupted */
/* Content that is worth several threads. C tests are built with less. */
#ifndef ZT_TOGETHER_WORTH
# define ZT_TOGETHER_WORTH ((uint64_t)1 << 20)
#endif
#define ZT_POLL_BYTES ((uint64_t)4 << 20)   /* Bytes between checks for an interrupt */

/* NULL if unknown. For raw, all functions are NULL: the decoded bytes are the stored ones. */
const zt_encoding *zt_encoding_of(const zt_component *component);

/* Decode the whole content, n bytes, in one call that cannot be interrupted; not for raw. *got is
** the decoded length; any number above n means more than n. Nothing is written beyond n. */
int zt_encoding_whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err);

extern const zt_encoding zt_encoding_zstd, zt_encoding_seekable, zt_encoding_deflate,
  zt_encoding_zlib, zt_encoding_gzip, zt_encoding_varint, zt_encoding_unpacked, zt_encoding_kept,
  zt_encoding_pieces, zt_encoding_numbers, zt_encoding_chunked;

#endif
