/*
** A component on its way into an output: its decoded bytes come in pieces, are encoded in frames on
** all threads, digested and appended in order. Interface to code in part.c.
*/
#ifndef ZT_TENSOR_PART_H
#define ZT_TENSOR_PART_H

#include "container/encoder.h"
#include "tensor/payload.h"

typedef struct zt_part zt_part;

/* Memory of parts, frames and digests, which one part after the other uses. NULL: out of memory. */
typedef struct zt_part_room zt_part_room;
zt_part_room *zt_part_room_new(zt_error *err);
void zt_part_room_free(zt_part_room *room);

/* How the bytes are stored. */
typedef struct zt_part_options {
  zt_codec_id codec;
  int level;
  unsigned digest;         /* A ZT_DIGEST_ bit; 0: none */
  bool digest_of_decoded;  /* The digest covers decoded bytes; else stored ones */
  bool xxh3, crc32;        /* Fields of zt_stored that are wanted */
} zt_part_options;

/* Begin. Room and output are borrowed until the part is closed: a room has one part at a time. */
int zt_part_open(const zt_part_options *options, zt_part_room *room, zt_output *output,
                 zt_budget *budget, zt_part **out, zt_error *err);

/* Take the next bytes. */
int zt_part_take(zt_part *p, zt_span bytes, zt_error *err);

/* Append all that waits. text is the digest's, or empty. *decoded: bytes taken. */
int zt_part_finish(zt_part *p, zt_stored *out, char text[ZT_DIGEST_TEXT], uint64_t *decoded,
                   zt_error *err);

void zt_part_close(zt_part *p);

#endif
