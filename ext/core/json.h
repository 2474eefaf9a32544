/*
** JSON text, written through sqlite3_str. What a file's values become is in container/value.h.
** Interface to code in json.c.
*/
#ifndef ZT_CORE_JSON_H
#define ZT_CORE_JSON_H

#include "core/host.h"
#include "core/span.h"

/* A text, quoted and escaped. */
void zt_json_text(sqlite3_str *out, zt_text text);

/* Lowercase hexadecimal digits, without quotes. */
void zt_hex(sqlite3_str *out, zt_span bytes);

/* A number, in the fewest digits that read back as the same double. */
void zt_json_real(sqlite3_str *out, double r);

/* An unsigned integer, in decimal. */
void zt_json_uint(sqlite3_str *out, uint64_t u);

/* The integer whose magnitude is the big-endian bytes, in decimal; negative: -1 minus the
** magnitude. False, and nothing written, above ZT_BIGNUM_MAX bytes: the conversion takes
** quadratic time. */
#define ZT_BIGNUM_MAX 1024
bool zt_json_bignum(sqlite3_str *out, zt_span magnitude, bool negative);

#endif
