/*
** Values as CBOR, one after the other, in memory that grows. Drivers whose formats have values of
** another kind (a Python literal, a pickle, protobuf) make these of them, keep the bytes
** (zt_builder_keep) and have the steps of container/manifest.h walk them. Interface to code in
** cbor_write.c.
**
** A failure, of memory alone, goes to err, and sticks: the calls after it do nothing. What is put
** is not checked: that as many items follow as an array or a map announces is the caller's to keep,
** and so are UTF-8 and ZT_CBOR_MAX_DEPTH.
*/
#ifndef ZT_CORE_CBOR_WRITE_H
#define ZT_CORE_CBOR_WRITE_H

#include "core/cbor.h"

typedef struct zt_cbor_out {
  uint8_t *p;          /* Owned: zt_cbor_out_clear() */
  size_t n, capacity;
  zt_error *err;
} zt_cbor_out;

/* The head of an item: of an array or a map, of n items or pairs that follow. */
void zt_cbor_put_head(zt_cbor_out *o, zt_cbor_type type, uint64_t n);

void zt_cbor_put_text(zt_cbor_out *o, zt_text text);     /* UTF-8 */
void zt_cbor_put_bytes(zt_cbor_out *o, zt_span bytes);
void zt_cbor_put_int(zt_cbor_out *o, int64_t i);
void zt_cbor_put_uint(zt_cbor_out *o, uint64_t u);

/* A number of any size: its absolute value, big-endian; of a negative one, minus 1. */
void zt_cbor_put_bignum(zt_cbor_out *o, bool negative, zt_span magnitude);

void zt_cbor_put_real(zt_cbor_out *o, double real);
void zt_cbor_put_bool(zt_cbor_out *o, bool truth);
void zt_cbor_put_null(zt_cbor_out *o);

/* Items that are CBOR already. */
void zt_cbor_put_items(zt_cbor_out *o, zt_span items);

/* UTF-8 as a text, anything else as bytes. */
void zt_cbor_put_name(zt_cbor_out *o, zt_span name);

/* Forget all that was put, and keep the memory for what is put next. */
void zt_cbor_out_reset(zt_cbor_out *o);

void zt_cbor_out_clear(zt_cbor_out *o);

#endif
