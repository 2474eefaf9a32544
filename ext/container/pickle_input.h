/* The bytes of a file that is a pickle, or the zlib or gzip stream of one, from front to back.
** Interface to code in pickle_input.c. */
#ifndef ZT_CONTAINER_PICKLE_INPUT_H
#define ZT_CONTAINER_PICKLE_INPUT_H

#include "container/builder.h"
#include "core/inflate.h"

typedef struct zt_pickle_input {
  zt_builder *b;
  zt_inflate_around around;  /* ZT_INFLATE_BARE: the file is not compressed */
  uint64_t position;         /* Of the next byte, decoded */
  uint64_t size;             /* All decoded bytes; of a compressed file set by
                             ** zt_pickle_input_end() */
  uint64_t at;               /* Stored bytes that were read */
  zt_inflate *inflate;       /* Owned; NULL: not compressed */
  uint8_t *window;           /* Stored bytes; owned */
  zt_span in;                /* Those not used */
} zt_pickle_input;

#define ZT_PICKLE_HEAD 3   /* PROTO, its argument, and an opcode */

/* True if bytes begin with PROTO of a protocol from 2 on, and another opcode. */
bool zt_pickle_has_mark(const uint8_t *p, size_t n);

/* How a file is compressed, by its first bytes. */
zt_inflate_around zt_pickle_input_around(const zt_head_tail *input);

/* *out needs zt_pickle_input_clear() in any case. */
int zt_pickle_input_open(zt_builder *b, zt_inflate_around around, zt_pickle_input *out);
void zt_pickle_input_clear(zt_pickle_input *in);

/* Read n bytes; *got is less only at the end. */
int zt_pickle_input_read(zt_pickle_input *in, uint8_t *out, size_t n, size_t *got);

/* Skip bytes: those of a file are not read. *skipped is less than n only at the end. */
int zt_pickle_input_skip(zt_pickle_input *in, uint64_t n, uint64_t *skipped);

/* Decode the rest of a compressed file, which must end with its stream (E2). */
int zt_pickle_input_end(zt_pickle_input *in);

#endif
