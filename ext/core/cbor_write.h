/*
** Writer of CBOR into memory that grows. Drivers whose formats have values of another kind (a
** Python literal, a pickle, protobuf) convert them to CBOR, keep the bytes (zt_builder_keep), and
** let the steps of container/manifest.h walk them. Interface to code in cbor_write.c.
**
** The only failure is SQLITE_NOMEM. It goes to err and is sticky: later calls do nothing. The
** caller must keep the counts of arrays and maps, UTF-8 and ZT_CBOR_MAX_DEPTH; nothing is checked.
*/
#ifndef ZT_CORE_CBOR_WRITE_H
#define ZT_CORE_CBOR_WRITE_H

#include "core/cbor.h"

typedef struct zt_cbor_out {
  uint8_t *p;          /* Owned: zt_cbor_out_clear() */
  size_t n, capacity;
  zt_error *err;
} zt_cbor_out;

/* Writes the head of an item: for an array or a map, n items or pairs must follow. */
void zt_cbor_put_head(zt_cbor_out *o, zt_cbor_type type, uint64_t n);

void zt_cbor_put_text(zt_cbor_out *o, zt_text text);     /* UTF-8 */
void zt_cbor_put_bytes(zt_cbor_out *o, zt_span bytes);
void zt_cbor_put_int(zt_cbor_out *o, int64_t i);
void zt_cbor_put_uint(zt_cbor_out *o, uint64_t u);

/* Writes an integer of any size: its absolute value, big-endian; minus 1 for a negative integer. */
void zt_cbor_put_bignum(zt_cbor_out *o, bool negative, zt_span magnitude);

void zt_cbor_put_real(zt_cbor_out *o, double real);

/* Writes the shortest form that has the value (RFC 8949 section 4.2.1); NaN is f97e00. */
void zt_cbor_put_shortest(zt_cbor_out *o, double real);

void zt_cbor_put_bool(zt_cbor_out *o, bool truth);
void zt_cbor_put_null(zt_cbor_out *o);

/* Copies items that are CBOR already. */
void zt_cbor_put_items(zt_cbor_out *o, zt_span items);

/* Writes UTF-8 as text, and anything else as bytes. */
void zt_cbor_put_name(zt_cbor_out *o, zt_span name);

/* Discards the content but keeps the memory. */
void zt_cbor_out_reset(zt_cbor_out *o);

void zt_cbor_out_clear(zt_cbor_out *o);

#endif
