/*
** Protobuf's wire format, read with positions alone: fields are handed out as they come, and bytes
** are neither copied nor read unless they are asked for, so that a gigabyte of a field costs
** nothing to pass over. It knows no message. Interface to code in protobuf.c.
**
**   PB1  a varint ends within 10 bytes, and its value within 64 bits
**   PB2  a field has a number from 1 to 2^29-1, and one of the types 0, 1, 2 and 5; groups, which
**        are 3 and 4, are passed over as a pair, nested at most ZT_PROTOBUF_DEPTH deep
**   PB3  no field goes beyond the message that it is in
*/
#ifndef ZT_CORE_PROTOBUF_H
#define ZT_CORE_PROTOBUF_H

#include "core/interrupt.h"
#include "core/source.h"

enum { ZT_WIRE_VARINT = 0, ZT_WIRE_FIXED64 = 1, ZT_WIRE_BYTES = 2, ZT_WIRE_FIXED32 = 5 };

#define ZT_PROTOBUF_DEPTH 64

/* A message, or what is left of it: its bytes from `at` to `end`. Fields that are packed, and any
** other bytes, are one, too. */
typedef struct zt_message {
  uint64_t at, end;
} zt_message;

typedef struct zt_wire_field {
  uint32_t number;
  unsigned type;                  /* ZT_WIRE_ */
  uint64_t value;                 /* Of a number; a fixed one's is little-endian */
  zt_message bytes;               /* Where those of ZT_WIRE_BYTES are; of numbers, where they are */
} zt_wire_field;

/* A source read forward in pieces, which are small at first and behind what was passed over. */
typedef struct zt_protobuf {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;                  /* Of every failure */
  const uint8_t *window;          /* Bytes of the source; all of an image */
  uint64_t from;                  /* Place of the first one */
  size_t n;
  uint8_t *owned;                 /* Where they are, unless it is an image; capacity bytes */
  size_t capacity;
  size_t piece;                   /* How many are read next */
  uint32_t steps;                 /* Since the last question whether to go on */
} zt_protobuf;

/* Nothing is read so far. *out needs zt_protobuf_close(). */
void zt_protobuf_open(zt_source *source, const zt_interrupt *interrupt, zt_protobuf *out,
                      zt_error *err);
void zt_protobuf_close(zt_protobuf *p);

/* All of the source as a message. */
zt_message zt_protobuf_all(const zt_protobuf *p);

/* The next field. False at the end of the message, and after a failure. */
bool zt_protobuf_next(zt_protobuf *p, zt_message *m, zt_wire_field *out);

/* The next varint of a packed field; a value of width bytes, at most 8, little-endian. */
bool zt_protobuf_varint(zt_protobuf *p, zt_message *m, uint64_t *out);
bool zt_protobuf_fixed(zt_protobuf *p, zt_message *m, unsigned width, uint64_t *out);

/* The bytes of a message, borrowed until the next call. They are read at once: how many they may be
** is the caller's to bound. */
bool zt_protobuf_bytes(zt_protobuf *p, zt_message m, zt_span *out);

#endif
