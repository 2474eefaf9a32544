/*
** Arguments of pickles that are text: those of protocol 0. Functions return what is wrong with one
** (PK3 of pickle.c), NULL if nothing is. Interface to code in pickle_text.c.
*/
#ifndef ZT_CONTAINER_PICKLE_TEXT_H
#define ZT_CONTAINER_PICKLE_TEXT_H

#include "core/span.h"

/* The bytes of a quoted text with the escapes of Python's bytes. What follows a backslash and is
** none of them stands, with it, for itself. out has room for as many bytes as the text. */
const char *zt_pickle_unquote(zt_span text, uint8_t *out, size_t *n);

/* The UTF-8 of Latin-1 with \uXXXX and \UXXXXXXXX, surrogates being characters like others; no
** other backslash is special. out has room for twice as many bytes as the text. */
const char *zt_pickle_unescape(zt_span text, uint8_t *out, size_t *n);

/* The little-endian two's complement of a decimal number, in no more bytes than it needs. out has
** room for ZT_PICKLE_INTEGER_BYTES. */
#define ZT_PICKLE_INTEGER_BYTES 2048
const char *zt_pickle_decimal(zt_span text, uint8_t *out, size_t *n);

/* Bytes of a little-endian two's complement that tell something, and the number that they are if
** they are 8 at most. */
size_t zt_pickle_trim(zt_span bytes);
int64_t zt_pickle_small(zt_span bytes);

/* A real number as Python writes it. */
const char *zt_pickle_real(zt_span text, double *out);

#endif
