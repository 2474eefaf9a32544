/* A tensor as bytes or text for a result. Interface to code in assemble.c. */
#ifndef ZT_TENSOR_ASSEMBLE_H
#define ZT_TENSOR_ASSEMBLE_H

#include "core/host.h"
#include "tensor/buffer.h"
#include "tensor/layout.h"

/* Return the existing elements first to first+n, converted to `as`: little-endian, packed if the
** type is. A result beyond the budget fails with SQLITE_TOOBIG before anything is read. If a value
** cannot be converted, the error names the element. *out is empty on failure. */
int zt_assemble(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out,
                zt_error *err);

/* The same into the caller's memory, which is exactly as large, and has any bytes after a failure.
** The budget's bound on results does not apply. */
int zt_assemble_into(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out,
                     zt_error *err);

/* Give all elements to `take`, converted to `as`, as zt_assemble() returns them, in consecutive
** pieces of bounded memory. `take` ends it by a failure in err. */
int zt_assemble_pieces(zt_tensor *t, const zt_dtype *as,
                       void (*take)(void *context, zt_span bytes), void *context, zt_error *err);

/* Check the types and the size of a result as zt_assemble() does before it reads anything. */
int zt_assemble_check(const zt_tensor *t, const zt_dtype *as, uint64_t n, zt_error *err);

/* A range of indices of the first dimension, and of their elements. */
typedef struct zt_slice {
  uint64_t row, rows;          /* row to row+rows; for a scalar 0 and 1 */
  uint64_t first, n;           /* Flat: first to first+n */
} zt_slice;

/* All of an object; or `rows` indices from `row` on, clipped at the end. The latter fails for
** scalars. */
zt_slice zt_slice_all(const zt_object *object);
int zt_slice_of(const zt_object *object, uint64_t row, uint64_t rows, zt_slice *out, zt_error *err);

/* Write a slice, converted to `as`, as nested JSON arrays; a scalar is a plain value. Numbers are
** written as in json.h, complex numbers as [re,im]. Fails as zt_assemble() does. */
int zt_assemble_json(zt_tensor *t, const zt_dtype *as, const zt_slice *slice, zt_buffer *out,
                     zt_error *err);
void zt_json_scalar(sqlite3_str *out, zt_scalar value);

/* Write the indices of a flat position as a JSON array: "[2,0,5]". */
void zt_json_coords(sqlite3_str *out, const zt_object *object, uint64_t position);

#endif
