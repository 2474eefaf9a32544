/*
** A component and its source, the manifest's facts about its bytes, and bounds on reading them.
** Nothing here depends on the meaning of elements. Interface to code in payload.c; stream.h and
** content.h read the bytes.
*/
#ifndef ZT_TENSOR_PAYLOAD_H
#define ZT_TENSOR_PAYLOAD_H

#include "container/container.h"
#include "core/interrupt.h"
#include "core/source.h"

/* Bounds on one call, and its interrupt. */
typedef struct zt_budget {
  uint64_t result;         /* Maximum bytes of a result (SQLITE_LIMIT_LENGTH) */
  uint64_t decode;         /* Maximum bytes to decode, including skipped ones */
  zt_interrupt interrupt;
  bool manifest_only;      /* Reading a stored byte fails with SQLITE_ABORT */
  uint64_t decoded;        /* Bytes decoded so far; starts as 0 */
  struct zt_pool *pool;    /* Threads that may help (core/pool.h); NULL: none */
  struct zt_spare *spare;  /* The spare buffer for results (buffer.h); NULL: none */
} zt_budget;

/* A component with its context. Everything is borrowed. */
typedef struct zt_payload {
  zt_source *source;
  const zt_object *object;
  const zt_component *component;
  zt_budget *budget;
  unsigned side_by_side;           /* Streams that read it at the same time, if more than one: they
                                   ** share the memory that one may use */
} zt_payload;

typedef enum zt_length_state {
  ZT_LENGTH_KNOWN,
  ZT_LENGTH_UNKNOWN,       /* Only decoding shows it */
  ZT_LENGTH_OVERFLOW       /* Shape and dtype demand more than 2^64 bytes */
} zt_length_state;

/* Return the decoded length by the manifest, without skipped bytes: for raw the stored length; else
** the stated length; else the one that shape and type of a dense object's data demand (zTensor's
** specification, sections 1 and 2). The component needs role, length, decoded length, encoding and
** element. */
zt_length_state zt_payload_length(const zt_object *object, const zt_component *component,
                                  uint64_t *out);

/* Return the offset of a component's own stored bytes, and their number: all bytes if it is
** encoded, else without skipped ones. The component needs offset or length, and with bytes to skip
** also the encoding. */
uint64_t zt_payload_offset(const zt_component *component);
uint64_t zt_payload_stored(const zt_component *component);

/* Announce that all stored bytes will be read in order, unless they are in another file. */
void zt_payload_expect(const zt_payload *p);

/* Report that the content is longer than the manifest states (E4, encoding.h). */
int zt_payload_fail_long(uint64_t reported, const char *encoding, zt_error *err);

/* Return `little`, or `big` for multi-byte elements and blocks of a big-endian file, or an unknown
** order as stored. */
zt_text zt_payload_byte_order(const zt_component *component);

#endif
