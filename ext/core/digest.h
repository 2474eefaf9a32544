/*
** Digests over a stream of bytes: crc32c (RFC 3720; by ISA-L), sha256 (FIPS 180-4; see sha256.h)
** and xxh3 (XXH3-64, seed 0; by xxHash). Two more nobody gets by name: crc32 (ISO 3309, as zip
** archives have it; by ISA-L), which is checked where a file has it; and xxh3-128 (seed 0, in its
** canonical byte order), which fingerprints are. Interface to code in digest.c. A digest's text is
** `algorithm:hex`: crc32c and crc32 have 8 digits, the former with or without 0x before them,
** sha256 has 64, in either case.
*/
#ifndef ZT_CORE_DIGEST_H
#define ZT_CORE_DIGEST_H

#include "core/error.h"

typedef enum zt_digest_parse {
  ZT_DIGEST_OK,           /* A known algorithm and the right number of digits */
  ZT_DIGEST_UNSUPPORTED,  /* Another algorithm */
  ZT_DIGEST_MALFORMED     /* No algorithm, or the wrong number of digits, or characters that
                          ** are none */
} zt_digest_parse;

/* A digest being computed. */
typedef struct zt_digest zt_digest;

/* The algorithms, as a set of which a file's digests may be. */
enum {
  ZT_DIGEST_CRC32C = 0x1, ZT_DIGEST_SHA256 = 0x2, ZT_DIGEST_XXH3 = 0x4, ZT_DIGEST_CRC32 = 0x8,
  ZT_DIGEST_XXH3_128 = 0x10
};

/* What a digest's text is, without computing anything. of: ZT_DIGEST_ bits. */
zt_digest_parse zt_digest_check(zt_text text, unsigned of);

/* Take a digest's text apart and begin to compute one of its kind. *out is set for ZT_DIGEST_OK
** only, and NULL there if memory was short (recorded in err). */
zt_digest_parse zt_digest_open(zt_text text, unsigned of, zt_digest **out, zt_error *err);

/* True if there is an algorithm of that name that zt_digest_new() knows. */
bool zt_digest_known(zt_text name);

/* Begin to compute one of the algorithm of that name. False if it is not known; else *out is NULL
** if memory was short (recorded). */
bool zt_digest_new(zt_text name, zt_digest **out, zt_error *err);
#define ZT_DIGEST_ALGORITHMS "'sha256', 'crc32c', 'xxh3'"   /* For messages */

/* Begin to compute the one of a ZT_DIGEST_ bit, whatever it is. NULL: memory was short
** (recorded). */
zt_digest *zt_digest_begin(unsigned algorithm, zt_error *err);

/* Take in the next bytes. */
void zt_digest_update(zt_digest *d, zt_span bytes);

/* True if all bytes taken in have the digest that the text states. */
bool zt_digest_matches(zt_digest *d);

/* The text of all bytes taken in, in lowercase digits, without 0x. */
#define ZT_DIGEST_TEXT 80
void zt_digest_text(zt_digest *d, char out[ZT_DIGEST_TEXT]);

/* The xxh3-128 of all bytes taken in. */
#define ZT_DIGEST_XXH3_128_BYTES 16
void zt_digest_xxh3_128(zt_digest *d, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]);

void zt_digest_close(zt_digest *d);

/* The xxh3 of bytes in memory, as a number. */
uint64_t zt_digest_xxh3(zt_span bytes);

#endif
