/*
** A component in its place: what the manifest tells of its bytes, and the bounds on reading them.
** Knows nothing of what the elements mean. Interface to code in payload.c; the bytes come from
** stream.h and content.h.
*/
#ifndef ZT_TENSOR_PAYLOAD_H
#define ZT_TENSOR_PAYLOAD_H

#include "container/container.h"
#include "core/interrupt.h"
#include "core/source.h"

/* Bounds on one call, and whom to ask whether it shall go on. */
typedef struct zt_budget {
  uint64_t result;         /* Most bytes of a result (SQLITE_LIMIT_LENGTH) */
  uint64_t decode;         /* Most bytes to decode, those passed over included */
  zt_interrupt interrupt;
  bool manifest_only;      /* No stored byte may be read: what would need one fails with
                           ** SQLITE_ABORT */
  uint64_t decoded;        /* Bytes decoded so far; starts as 0 */
  struct zt_pool *pool;    /* Threads that may help (core/pool.h); NULL: none */
  struct zt_spare *spare;  /* Where results may take memory from (buffer.h); NULL: from nowhere */
} zt_budget;

/* A component in its place. Everything is borrowed. */
typedef struct zt_payload {
  zt_source *source;
  const zt_object *object;
  const zt_component *component;
  zt_budget *budget;
  unsigned side_by_side;           /* Streams that read it at the same time, if more than one: they
                                   ** share what memory one may have */
} zt_payload;

typedef enum zt_length_state {
  ZT_LENGTH_KNOWN,
  ZT_LENGTH_UNKNOWN,       /* Nothing short of decoding tells */
  ZT_LENGTH_OVERFLOW       /* What shape and dtype make is beyond 64 bits */
} zt_length_state;

/* The number of bytes after decoding, without what is skipped, as far as the manifest tells: raw:
** the stored length; else what it states, and where it does not, what shape and type of a dense
** object's data make (zTensor's specification, sections 1 and 2). Wants of the component role,
** length, decoded length, encoding and element. */
zt_length_state zt_payload_length(const zt_object *object, const zt_component *component,
                                  uint64_t *out);

/* Where its own stored bytes begin, and how many they are: of what is encoded, all; else without
** what is skipped. Wants of the component offset, or length: who has something to skip decodes
** the encoding with them. */
uint64_t zt_payload_offset(const zt_component *component);
uint64_t zt_payload_stored(const zt_component *component);

/* E4 (encoding.h): what is stored decodes to more bytes than those that the manifest tells. */
int zt_payload_fail_long(uint64_t reported, const char *encoding, zt_error *err);

/* `little`; `big` for multi-byte elements, and for blocks, of a file that says so; else as
** stored. */
zt_text zt_payload_byte_order(const zt_component *component);

#endif
