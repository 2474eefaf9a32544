/*
** The tensors of a file, counted by their types. Interface to code in type_counts.c.
**
** Two tensors count together if they have the same format, dtype and type, and the same `bits`: the
** attribute that says how many bits a code has. It is looked for in tensors whose layout has such
** codes or is unknown. A hostile file may have as many types as tensors.
*/
#ifndef ZT_SQLITE_TYPE_COUNTS_H
#define ZT_SQLITE_TYPE_COUNTS_H

#include "sqlite/describe.h"

/* Write a JSON array with an object for each of these types, in the order of their first tensors:
** format, dtype, type, bits, and over the tensors objects, elements and stored_bytes, sums of those
** that are known. *totals are those of the file. The container is borrowed; a failure is
** SQLITE_NOMEM or SQLITE_INTERRUPT (recorded), or of *out. */
int zt_type_counts(const zt_container *c, const zt_interrupt *interrupt, sqlite3_str *out,
                   zt_totals *totals, zt_error *err);

#endif
