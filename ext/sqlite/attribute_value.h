/*
** Values of attributes between SQL and files. In SQL they are what the columns value and type of
** zt_attributes show (table_attributes.c); for a file that is written they are one item of
** deterministic CBOR (container/draft.h). Interface to code in attribute_value.c.
**
** SQL does not show all of some values; a copy through SQL then differs from the value, or fails:
**
**   the order of keys           copied in the order of deterministic CBOR
**   NaN in an array or object   shown as null, copied as null
**   bytes in an array or object, and keys of other types than text: shown and copied as text
**   tags                        dropped, except that an integer beyond 64 bits fails
**   a key that occurs twice     shown twice; fails
*/
#ifndef ZT_SQLITE_ATTRIBUTE_VALUE_H
#define ZT_SQLITE_ATTRIBUTE_VALUE_H

#include "core/cbor_write.h"
#include "sqlite/value.h"

/* Append the CBOR of a value of that type, which may be NULL: the type is then the SQL value's own,
** and TEXT is text even if it is JSON. The types and their values:
**
**   null               NULL
**   true, false        1, 0
**   integer            INTEGER; TEXT: decimal, from -2^64 to 2^64-1
**   real               REAL; NULL: NaN; INTEGER that a REAL has exactly
**   text, blob         TEXT, BLOB
**   array, object      TEXT: JSON. Numbers without point and exponent are integers; 9e999 and
**                      9.0e+999 are infinite, -9e999 and -9.0e+999 negatively so
**
** out->err is err. Any other value, and JSON that would not stay the same, is an SQLITE_ERROR.
** After a failure `out` is as before. */
int zt_attribute_cbor(sqlite3_value *value, sqlite3_value *type, zt_cbor_out *out, zt_error *err);

/* The way back: a file's value as zt_attributes shows it, and its type. */
void zt_attribute_result_value(sqlite3_context *ctx, const zt_container *c, const zt_value *value,
                               zt_interrupt interrupt);
const char *zt_attribute_type_of(const zt_value *value);

#endif
