/*
** JSON text, written through sqlite3_str. Interface to code in json.c.
**
** How CBOR becomes JSON: byte strings as lowercase hexadecimal text; undefined, unassigned simple
** values and NaN as null; infinities as 9.0e+999 and -9.0e+999; tags dropped, bignums (tags 2 and
** 3) as integers; keys that are not text as the text of their JSON form, byte strings without its
** quotes. A float has a point or an exponent and as many digits as read back as the same double.
*/
#ifndef ZT_CORE_JSON_H
#define ZT_CORE_JSON_H

#include "core/cbor.h"
#include "core/host.h"

/* A text, quoted and escaped. */
void zt_json_text(sqlite3_str *out, zt_text text);

/* Lowercase hexadecimal digits, without quotes. */
void zt_hex(sqlite3_str *out, zt_span bytes);

/* A number, in the fewest digits that read back as the same double. */
void zt_json_real(sqlite3_str *out, double r);

/* An unsigned integer, in decimal. */
void zt_json_uint(sqlite3_str *out, uint64_t u);

/* The integer that a CBOR head of type ZT_CBOR_UINT or ZT_CBOR_NINT states, in decimal. */
void zt_json_integer(sqlite3_str *out, const zt_cbor_item *item);

/* The bignum (RFC 7049, 2.4.2) whose magnitude is the big-endian bytes, in decimal; negative: -1
** minus the magnitude. False, and nothing written, above ZT_BIGNUM_MAX bytes: the conversion takes
** quadratic time. */
#define ZT_BIGNUM_MAX 1024
bool zt_json_bignum(sqlite3_str *out, zt_span magnitude, bool negative);

/* The next item of c, whatever it is. */
void zt_json_item(sqlite3_str *out, zt_cbor *c);

/* The next two items of c, a key and its value, as a JSON member. */
void zt_json_member(sqlite3_str *out, zt_cbor *c);

/* The next item of c as the name of a JSON member, not quoted. */
void zt_json_key(sqlite3_str *out, zt_cbor *c);

#endif
