/*
** Protobuf's wire format, read with positions alone: fields are handed out as they come, and bytes
** are neither copied nor read unless they are asked for, so that a gigabyte of a field costs
** nothing to pass over. It knows no message. Interface to code in protobuf.c.
**
**   P1  a varint ends within 10 bytes, and its value within 64 bits
**   P2  a field has a number from 1 on, and one of the types 0, 1, 2 and 5 (groups, which are 3 and
**       4, are passed over as a pair)
**   P3  no field goes beyond the message that it is in
*/
#ifndef ZT_CORE_PROTOBUF_H
#define ZT_CORE_PROTOBUF_H

#include "core/interrupt.h"
#include "core/source.h"

enum { ZT_WIRE_VARINT = 0, ZT_WIRE_FIXED64 = 1, ZT_WIRE_BYTES = 2, ZT_WIRE_FIXED32 = 5 };

/* A source read forward in pieces. Messages are positions in it. */
typedef struct zt_protobuf {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;
  uint8_t *window;                /* Owned */
  uint64_t from;                  /* Place of its first byte */
  size_t n;
} zt_protobuf;

/* A message, or what is left of it. */
typedef struct zt_message {
  uint64_t at, end;
} zt_message;

typedef struct zt_field {
  uint32_t number;
  unsigned type;                  /* ZT_WIRE_ */
  uint64_t value;                 /* Of a number */
  zt_message bytes;               /* Where those of ZT_WIRE_BYTES are; of numbers, where they are */
} zt_field;

void zt_protobuf_open(zt_source *source, const zt_interrupt *interrupt, zt_protobuf *out,
                      zt_error *err);
void zt_protobuf_close(zt_protobuf *p);

/* The next field. False at the end of the message, and after a failure. */
bool zt_protobuf_next(zt_protobuf *p, zt_message *m, zt_field *out);

/* The next of a packed field's varints. */
bool zt_protobuf_varint(zt_protobuf *p, zt_message *m, uint64_t *out);

/* The n bytes at a place, borrowed until the next call; they must be fewer than
** ZT_PROTOBUF_TEXT. */
#define ZT_PROTOBUF_TEXT ((size_t)1 << 20)
bool zt_protobuf_bytes(zt_protobuf *p, uint64_t at, size_t n, zt_span *out);

#endif
