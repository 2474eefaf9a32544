/* Text arguments of protocol 0. Functions return an error (PK3 of pickle.c), or NULL. */
#ifndef ZT_CONTAINER_PICKLE_TEXT_H
#define ZT_CONTAINER_PICKLE_TEXT_H

#include "core/span.h"

/* Decode a quoted text with the escapes of Python's bytes. Unknown escapes stay as they are. out
** has room for as many bytes as the text. */
const char *zt_pickle_unquote(zt_span text, uint8_t *out, size_t *n);

/* Decode Latin-1 with \uXXXX and \UXXXXXXXX to UTF-8. Surrogates are ordinary characters; other
** backslashes stay. out has room for twice as many bytes as the text. */
const char *zt_pickle_unescape(zt_span text, uint8_t *out, size_t *n);

/* Decode a decimal number to the shortest little-endian two's complement. out has room for
** ZT_PICKLE_INTEGER_BYTES. */
#define ZT_PICKLE_INTEGER_BYTES 2048
const char *zt_pickle_decimal(zt_span text, uint8_t *out, size_t *n);

/* The significant bytes of a little-endian two's complement, and the value of at most 8. */
size_t zt_pickle_trim(zt_span bytes);
int64_t zt_pickle_small(zt_span bytes);

/* Decode a real number as Python writes it. */
const char *zt_pickle_real(zt_span text, double *out);

#endif
