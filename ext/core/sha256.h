/*
** SHA-256 (FIPS 180-4) over a stream of bytes, by the library that the system has for it: CNG on
** Windows, whose own it is and where libcrypto would have to be built and shipped; else libcrypto.
** Interface to code in sha256_libcrypto.c and sha256_cng.c.
*/
#ifndef ZT_CORE_SHA256_H
#define ZT_CORE_SHA256_H

#include "core/span.h"

#ifdef _WIN32
# define ZT_SHA256_CNG 1
#else
# define ZT_SHA256_CNG 0
#endif

#define ZT_SHA256_BYTES 32

typedef struct zt_sha256 zt_sha256;

/* Begin. NULL if memory is short. */
zt_sha256 *zt_sha256_new(void);

/* Take in the next bytes. */
void zt_sha256_update(zt_sha256 *s, zt_span bytes);

/* The digest of all bytes taken in; nothing but zt_sha256_free() may follow. */
void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]);

void zt_sha256_free(zt_sha256 *s);

/* Name and version of the library. */
const char *zt_sha256_library(void);

#endif
