/*
** Reader of protobuf's wire format. It returns fields by position and reads their bytes only on
** request, so a field of a gigabyte costs nothing to skip. It knows no message types. Interface to
** code in protobuf.c.
**
**   PB1  a varint ends within 10 bytes, and its value within 64 bits
**   PB2  a field has a number from 1 to 2^29-1, and a type 0, 1, 2 or 5; groups (types 3 and 4)
**        are skipped in pairs, at most ZT_PROTOBUF_DEPTH deep
**   PB3  fields lie within their message
*/
#ifndef ZT_CORE_PROTOBUF_H
#define ZT_CORE_PROTOBUF_H

#include "core/interrupt.h"
#include "core/source.h"

enum { ZT_WIRE_VARINT = 0, ZT_WIRE_FIXED64 = 1, ZT_WIRE_BYTES = 2, ZT_WIRE_FIXED32 = 5 };

#define ZT_PROTOBUF_DEPTH 64

/* The unread bytes of a message, of a packed field or of other bytes. */
typedef struct zt_message {
  uint64_t at, end;
} zt_message;

typedef struct zt_wire_field {
  uint32_t number;
  unsigned type;                  /* ZT_WIRE_ */
  uint64_t value;                 /* A number, or the length of ZT_WIRE_BYTES */
  zt_message bytes;               /* Position of the bytes, or of the number */
} zt_wire_field;

/* A source that is read forward in pieces: small at first and after a skip. */
typedef struct zt_protobuf {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;                  /* Receives every failure */
  const uint8_t *window;          /* Buffered bytes; all of an image */
  uint64_t from;                  /* Position of the first one */
  size_t n;
  uint8_t *owned;                 /* The buffer of a file, of capacity bytes */
  size_t capacity;
  size_t piece;                   /* Bytes to read next */
  uint32_t steps;                 /* Counts up to a check for an interrupt */
} zt_protobuf;

/* Opens a reader without reading. zt_protobuf_close() must follow. */
void zt_protobuf_open(zt_source *source, const zt_interrupt *interrupt, zt_protobuf *out,
                      zt_error *err);

/* Opens a reader of bytes in memory, which must stay. zt_protobuf_all() does not serve it. */
void zt_protobuf_open_bytes(zt_span bytes, const zt_interrupt *interrupt, zt_protobuf *out,
                            zt_error *err);
void zt_protobuf_close(zt_protobuf *p);

zt_message zt_protobuf_all(const zt_protobuf *p);

/* Reads the next field. False at the end of the message and after a failure. */
bool zt_protobuf_next(zt_protobuf *p, zt_message *m, zt_wire_field *out);

/* Reads the next varint, or the next little-endian value of width bytes (at most 8), of a packed
** field. */
bool zt_protobuf_varint(zt_protobuf *p, zt_message *m, uint64_t *out);
bool zt_protobuf_fixed(zt_protobuf *p, zt_message *m, unsigned width, uint64_t *out);

/* Reads all bytes of a message, borrowed until the next call. The caller must bound their
** number. */
bool zt_protobuf_bytes(zt_protobuf *p, zt_message m, zt_span *out);

#endif
