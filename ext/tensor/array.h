/*
** Elements of one type, one after the other in a component's decoded bytes. Interface to code
** in array.c.
*/
#ifndef ZT_TENSOR_ARRAY_H
#define ZT_TENSOR_ARRAY_H

#include "tensor/convert.h"
#include "tensor/stream.h"

typedef struct zt_array {
  zt_text role;             /* Of the component, for messages */
  zt_stream *stream;        /* Owned */
  const zt_dtype *dtype;
  uint64_t base;            /* Byte where the first element begins */
  uint64_t length;          /* Elements */
  bool canonical;           /* Bytes that no value of the type has are a failure (L9) */
  unsigned big;             /* The component is big-endian: bytes of its own elements, in which all
                            ** of it is reversed */
} zt_array;

/* All elements of a component, whose type must be known (L2, L5, L6) and whose length a whole
** number of them (L3); of a packed type, what the last byte has too many counts. Failures of these
** functions name the component. *out needs zt_array_close() in any case. */
int zt_array_open(const zt_payload *p, zt_array *out, zt_error *err);

/* The same of a component that must have that many elements; another length breaks the rule. */
int zt_array_open_of(const zt_payload *p, uint64_t length, const char *rule, zt_array *out,
                     zt_error *err);

/* Elements of a type among the bytes of a component, from byte `base` on. They must be there: who
** asks has measured. */
int zt_array_open_part(const zt_payload *p, const zt_dtype *dtype, uint64_t base, uint64_t length,
                       zt_array *out, zt_error *err);
void zt_array_close(zt_array *a);

/* It has n elements, if the bytes may be those: of a packed type, they tell only about how many
** there are. */
void zt_array_trim(zt_array *a, uint64_t n);

/* Elements first to first+n, which exist, as elements in memory (convert.h). Reads whole bytes of
** the component alone. */
int zt_array_read(zt_array *a, uint64_t first, size_t n, void *out, zt_error *err);

/* The same of an array of integers, none of which may be negative. */
int zt_array_read_indices(zt_array *a, uint64_t first, size_t n, uint64_t *out, zt_error *err);

/* Decode to the end of an array that has no element, which no read does: its bytes are
** checked, too. */
int zt_array_check_empty(zt_array *a, zt_error *err);

/* The type of a component's elements (L2, L5, L6, L8). */
int zt_array_dtype(const zt_payload *p, const zt_dtype **out, zt_error *err);

/* Bytes of a component after decoding; decodes where nothing else tells. */
int zt_array_measure(const zt_payload *p, uint64_t *out, zt_error *err);

#endif
