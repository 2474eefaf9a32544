/*
** A tensor as bytes or text for a result. Interface to code in assemble.c.
*/
#ifndef ZT_TENSOR_ASSEMBLE_H
#define ZT_TENSOR_ASSEMBLE_H

#include "core/host.h"
#include "tensor/buffer.h"
#include "tensor/layout.h"

/* Elements first to first+n, which exist, converted to `as`: little-endian, packed where the type
** is. SQLITE_TOOBIG before anything is read if that exceeds the budget; a value that cannot be
** converted is an error that names the element. *out is empty on failure. */
int zt_assemble(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out,
                zt_error *err);

/* Hand all elements to `take` in their own type, as they are in that result: in pieces of bounded
** memory, one after the other. */
int zt_assemble_pieces(zt_tensor *t, void (*take)(void *context, zt_span bytes), void *context,
                       zt_error *err);

/* Fail as that would before it reads anything: the types cannot be converted, or the result is
** too big. */
int zt_assemble_check(const zt_tensor *t, const zt_dtype *as, uint64_t n, zt_error *err);

/* Indices of the first dimension, and the elements that they have. */
typedef struct zt_slice {
  uint64_t row, rows;          /* row to row+rows; of a scalar 0 and 1 */
  uint64_t first, n;           /* Flat: first to first+n */
} zt_slice;

/* All of an object; and `rows` indices from `row` on, clipped at the end, which a scalar does not
** have. */
zt_slice zt_slice_all(const zt_object *object);
int zt_slice_of(const zt_object *object, uint64_t row, uint64_t rows, zt_slice *out, zt_error *err);

/* A slice, converted to `as`, as nested JSON arrays; a scalar as itself. Numbers as in json.h, bool
** as true and false, complex numbers as [re,im]. Fails as zt_assemble() does. */
int zt_assemble_json(zt_tensor *t, const zt_dtype *as, const zt_slice *slice, sqlite3_str *out,
                     zt_error *err);
void zt_json_scalar(sqlite3_str *out, zt_scalar value);

/* The indices of a flat position as a JSON array: "[2,0,5]". */
void zt_json_coords(sqlite3_str *out, const zt_object *object, uint64_t position);

#endif
