/*
** The table of encodings: how stored bytes become decoded ones. A new encoding is one row in encoding.c, and a file of its
** own like zstd.c. Interface between payload.c and these.
**
**   raw    the bytes as they are
**   zstd   frames of RFC 8878, one after the other, skippable ones among them, and nothing else
** Rules (tests/hostile has files for each):
**   E1  the encoding is known
**   E2  every byte belongs to a frame that decodes: nothing cut, no dictionary, checksums right
**   E3  the decoded length is uncompressed_length, and where that is absent, what shape and type of a dense object make
**   E4  decoding stops as soon as it would exceed that; no frame's own word is trusted
*/
#ifndef ZT_TENSOR_ENCODING_H
#define ZT_TENSOR_ENCODING_H

#include "tensor/payload.h"

/* Where decoded bytes go. They are written once, into the room that the sink offers. */
typedef struct zt_sink {
  /* Room for the next bytes, *n of them and at least one. NULL on failure (recorded). */
  uint8_t *(*room)(struct zt_sink *sink, size_t *n, zt_error *err);
  /* n bytes were written there. */
  int (*commit)(struct zt_sink *sink, size_t n, zt_error *err);
} zt_sink;

/* What to decode. */
typedef struct zt_decode_job {
  const zt_payload *payload;
  bool known;             /* The decoded length is known: */
  uint64_t total;
  uint64_t start;         /* Wanted range; within total if that is known, else `length` may be UINT64_MAX for all */
  uint64_t length;
} zt_decode_job;

typedef struct zt_encoding {
  const char *name;
  /* All of the content, whose length is known and no more than ZT_WHOLE_MAX, in one piece. */
  int (*whole)(const zt_decode_job *job, uint8_t *out, zt_error *err);
  /* The wanted range, into the sink. */
  int (*stream)(const zt_decode_job *job, zt_sink *sink, zt_error *err);
} zt_encoding;

#define ZT_WHOLE_MAX ((uint64_t)32 << 20)   /* What is larger is decoded piece by piece, so that it can be interrupted */
#define ZT_POLL_BYTES ((uint64_t)4 << 20)   /* Bytes between two questions whether to go on */

/* NULL if it is not known. For raw, both functions are NULL: the decoded bytes are the stored ones. */
const zt_encoding *zt_encoding_of(zt_text name);

extern const zt_encoding zt_encoding_zstd;

#endif
