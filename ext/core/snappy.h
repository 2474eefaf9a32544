/*
** Decoder of blocks of Snappy (google/snappy, format_description.txt). Interface to code in
** snappy.c.
*/
#ifndef ZT_CORE_SNAPPY_H
#define ZT_CORE_SNAPPY_H

#include "core/error.h"

/* Reads the decoded length at the front of a block, and sets *body to the bytes behind it. False if
** no such length stands there, or if the bytes are too few to make that many. */
bool zt_snappy_length(zt_span block, zt_span *body, uint64_t *out);

/* Decodes a body into exactly n bytes. False if its elements make another number, copy bytes that
** are not there, or end early. */
bool zt_snappy_decode(zt_span body, uint8_t *out, size_t n);

#endif
