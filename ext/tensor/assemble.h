/*
** A tensor as bytes or text for a result. Interface to code in assemble.c.
*/
#ifndef ZT_TENSOR_ASSEMBLE_H
#define ZT_TENSOR_ASSEMBLE_H

#include "core/host.h"
#include "tensor/buffer.h"
#include "tensor/layout.h"

/* Elements first to first+n, which exist, converted to `as`: little-endian, packed where the type is. SQLITE_TOOBIG before
** anything is read if that exceeds the budget; a value that cannot be converted is an error that names the element.
** *out is empty on failure. */
int zt_assemble(zt_tensor *t, const zt_dtype *as, uint64_t first, uint64_t n, zt_buffer *out, zt_error *err);

/* Fail as that would before it reads anything: the types cannot be converted, or the result is too big. */
int zt_assemble_check(const zt_tensor *t, const zt_dtype *as, uint64_t n, zt_error *err);

/* All of it as nested JSON arrays; a scalar as itself. Numbers as in json.h, bool as true and false, complex numbers as
** [re,im]. */
int zt_assemble_json(zt_tensor *t, sqlite3_str *out, zt_error *err);
void zt_json_scalar(sqlite3_str *out, zt_scalar value);

/* The indices of a flat position as a JSON array: "[2,0,5]". */
void zt_json_coords(sqlite3_str *out, const zt_object *object, uint64_t position);

#endif
