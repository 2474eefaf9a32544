/*
** Digests over a stream of bytes. Users name three: crc32c (RFC 3720, by ISA-L), sha256 (FIPS
** 180-4, see sha256.h) and xxh3 (XXH3-64, seed 0, by xxHash). Two are internal: crc32 (ISO 3309, by
** ISA-L), which zip archives store, and xxh3-128 (seed 0, canonical byte order), which fingerprints
** use. Interface to code in digest.c. A digest's text is `algorithm:hex` in either case: 8 digits
** for crc32c, with an optional 0x, and for crc32; 64 for sha256.
*/
#ifndef ZT_CORE_DIGEST_H
#define ZT_CORE_DIGEST_H

#include "core/error.h"

typedef enum zt_digest_parse {
  ZT_DIGEST_OK,           /* A known algorithm and the right number of digits */
  ZT_DIGEST_UNSUPPORTED,  /* An unknown or excluded algorithm */
  ZT_DIGEST_MALFORMED     /* No algorithm, or not the right number of hexadecimal digits */
} zt_digest_parse;

typedef struct zt_digest zt_digest;

/* Bits of a set of algorithms. */
enum {
  ZT_DIGEST_CRC32C = 0x1, ZT_DIGEST_SHA256 = 0x2, ZT_DIGEST_XXH3 = 0x4, ZT_DIGEST_CRC32 = 0x8,
  ZT_DIGEST_XXH3_128 = 0x10
};

/* Checks a digest's text. algorithms has the ZT_DIGEST_ bits that are allowed. */
zt_digest_parse zt_digest_check(zt_text text, unsigned algorithms);

/* Parses a digest's text and begins to compute a digest of that kind. *out is set only with
** ZT_DIGEST_OK; it is NULL if memory is short (recorded in err). */
zt_digest_parse zt_digest_open(zt_text text, unsigned algorithms, zt_digest **out, zt_error *err);

/* Returns whether zt_digest_new() knows the algorithm. */
bool zt_digest_known(zt_text name);

/* Begins to compute a digest by its name. False if the name is unknown; else *out is NULL if memory
** is short (recorded). */
bool zt_digest_new(zt_text name, zt_digest **out, zt_error *err);
#define ZT_DIGEST_ALGORITHMS "'sha256', 'crc32c', 'xxh3'"   /* For messages */

/* Begins to compute the digest of any one ZT_DIGEST_ bit. NULL if memory is short (recorded). */
zt_digest *zt_digest_begin(unsigned algorithm, zt_error *err);

/* Begins anew, with the same algorithm. False: memory is short (recorded), and it can only be
** closed. */
bool zt_digest_restart(zt_digest *d, zt_error *err);

void zt_digest_update(zt_digest *d, zt_span bytes);

/* Returns whether the bytes so far have the digest that the parsed text states. */
bool zt_digest_matches(zt_digest *d);

/* Writes the digest's text in lowercase, without 0x. */
#define ZT_DIGEST_TEXT 80
void zt_digest_text(zt_digest *d, char out[ZT_DIGEST_TEXT]);

/* Returns the digest's first 8 bytes, or all of fewer, as a big-endian number: the value of xxh3,
** crc32 and crc32c. */
uint64_t zt_digest_number(zt_digest *d);

#define ZT_DIGEST_XXH3_128_BYTES 16
void zt_digest_xxh3_128(zt_digest *d, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]);

void zt_digest_close(zt_digest *d);

/* Returns the xxh3 of bytes in memory. */
uint64_t zt_digest_xxh3(zt_span bytes);

#endif
