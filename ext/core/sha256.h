/*
** SHA-256 (FIPS 180-4) over a stream of bytes, by the system's library: CNG on Windows, where
** libcrypto would have to be built and shipped; else libcrypto. Interface to code in
** sha256_libcrypto.c and sha256_cng.c.
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

/* Returns NULL if memory is short. */
zt_sha256 *zt_sha256_new(void);

void zt_sha256_update(zt_sha256 *s, zt_span bytes);

/* Writes the digest. Only zt_sha256_free() may follow. */
void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]);

void zt_sha256_free(zt_sha256 *s);

/* Returns the library's name and version. */
const char *zt_sha256_library(void);

#endif
