/* Consecutive elements of one type in a component's decoded bytes. Interface to code in array.c. */
#ifndef ZT_TENSOR_ARRAY_H
#define ZT_TENSOR_ARRAY_H

#include "tensor/convert.h"
#include "tensor/stream.h"

typedef struct zt_array {
  zt_text role;             /* The component's, for messages */
  zt_stream *stream;        /* Owned */
  const zt_dtype *dtype;
  uint64_t base;            /* Byte where the first element begins */
  uint64_t length;          /* Elements */
  bool canonical;           /* L9 is checked */
  unsigned big;             /* Big-endian: bytes of a stored element, which are reversed; else 0 */
  struct zt_array *parts;   /* Of complex elements: arrays of real and imaginary parts, owned, and
                            ** no stream. NULL: elements lie together */
} zt_array;

/* Open all elements of a component. The type must be known (L2, L5, L6), and the length a whole
** number of elements (L3). For a packed type, the spare elements of the last byte are included.
** Errors of these functions name the component. *out always needs zt_array_close(). */
int zt_array_open(const zt_payload *p, zt_array *out, zt_error *err);

/* The same, but another number of elements breaks the rule. */
int zt_array_open_of(const zt_payload *p, uint64_t length, const char *rule, zt_array *out,
                     zt_error *err);

/* Open elements of a type from byte `base` of a component on. The caller has checked that they
** exist. */
int zt_array_open_part(const zt_payload *p, const zt_dtype *dtype, uint64_t base, uint64_t length,
                       zt_array *out, zt_error *err);

/* Open complex elements whose parts are components of their own, of f32 or f64 both (L6). length is
** as in zt_array_open_of(); UINT64_MAX: both parts have any number, but the same. */
int zt_array_open_parts(const zt_payload *real, const zt_payload *imag, uint64_t length,
                        const char *rule, zt_array *out, zt_error *err);
void zt_array_close(zt_array *a);

/* Set the length to n if only spare elements of the last byte are dropped: the bytes of a packed
** type do not tell the exact number. */
void zt_array_trim(zt_array *a, uint64_t n);

/* Read the existing elements first to first+n into memory (convert.h). */
int zt_array_read(zt_array *a, uint64_t first, size_t n, void *out, zt_error *err);

/* The same for integers as u64. Negative ones are an error (L7). */
int zt_array_read_indices(zt_array *a, uint64_t first, size_t n, uint64_t *out, zt_error *err);

/* Decode the bytes of an array without elements, so that they are checked too. */
int zt_array_check_empty(zt_array *a, zt_error *err);

/* Return the type of a component's elements (L2, L5, L6, L8). */
int zt_array_dtype(const zt_payload *p, const zt_dtype **out, zt_error *err);

/* Return a component's decoded length; this decodes if the length is not stated. */
int zt_array_measure(const zt_payload *p, uint64_t *out, zt_error *err);

#endif
