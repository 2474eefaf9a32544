/*
** JSON text, written through sqlite3_str. container/value.h writes a file's values. Interface to
** code in json.c.
*/
#ifndef ZT_CORE_JSON_H
#define ZT_CORE_JSON_H

#include "core/host.h"
#include "core/span.h"

/* Writes a quoted and escaped text. */
void zt_json_text(sqlite3_str *out, zt_text text);

/* Writes lowercase hexadecimal digits without quotes. */
void zt_hex(sqlite3_str *out, zt_span bytes);

/* Writes a number in the fewest digits that read back as the same double. */
void zt_json_real(sqlite3_str *out, double r);

void zt_json_uint(sqlite3_str *out, uint64_t u);

/* Writes the integer of a big-endian magnitude in decimal; negative: -1 minus the magnitude.
** Returns false and writes nothing above ZT_BIGNUM_MAX bytes, because the conversion takes
** quadratic time. */
#define ZT_BIGNUM_MAX 1024
bool zt_json_bignum(sqlite3_str *out, zt_span magnitude, bool negative);

#endif
