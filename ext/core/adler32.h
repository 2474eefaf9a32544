/* The checksum of zlib streams (RFC 1950, section 8.2). */
#ifndef ZT_CORE_ADLER32_H
#define ZT_CORE_ADLER32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the Adler-32 of n bytes. */
uint32_t zt_adler32(const uint8_t *p, size_t n);

#endif
