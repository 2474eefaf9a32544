/*
** Elements of a MATLAB file, read forward: from the file, or out of a compressed element. Interface
** to code in matlab_input.c, for matlab.c, which has the grammar and its rules.
*/
#ifndef ZT_CONTAINER_MATLAB_INPUT_H
#define ZT_CONTAINER_MATLAB_INPUT_H

#include "core/inflate.h"
#include "core/interrupt.h"
#include "core/source.h"

#define ZT_MATLAB_WINDOW 4096

typedef struct zt_matlab_in {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;                  /* Receives every failure */
  bool big;
  uint64_t at;                    /* The next byte's position: in the file, or in the content of the
                                  ** compressed element */
  bool packed;                    /* The latter; then: */
  uint64_t offset, length;        /* its stored bytes, */
  uint64_t read;                  /* how many of them are read, */
  zt_span in;                     /* and read, but not decoded yet */
  zt_inflate *inflate;            /* Owned; NULL until needed */
  uint64_t from;                  /* Otherwise: the file's position of the window, */
  size_t n;                       /* and its bytes */
  uint8_t window[ZT_MATLAB_WINDOW];
} zt_matlab_in;

void zt_matlab_close(zt_matlab_in *in);

/* Go on inside a compressed element with these stored bytes, or in the file. */
bool zt_matlab_unpack(zt_matlab_in *in, uint64_t offset, uint64_t length);
void zt_matlab_return(zt_matlab_in *in, uint64_t at);

/* Read the next n bytes, or pass over bytes up to a position. The caller has checked that they lie
** within their element. False after a failure. */
bool zt_matlab_take(zt_matlab_in *in, void *out, size_t n);
bool zt_matlab_pass(zt_matlab_in *in, uint64_t to);

/* All bytes of the matrix in a compressed element are read: the stream ends there, and its checksum
** is right (ML4, E2). False if not. */
bool zt_matlab_end(zt_matlab_in *in);

/* An unsigned number of the file's byte order; width is 1, 2, 4 or 8. */
uint64_t zt_matlab_number(const zt_matlab_in *in, const uint8_t *p, unsigned width);

/* The head of an element. */
typedef struct zt_matlab_tag {
  uint32_t type;
  uint64_t data, size;            /* Position and number of its bytes */
  uint64_t next;                  /* Position of the next element */
} zt_matlab_tag;

/* Read the next head, of an element that lies in front of `end` (ML2). */
bool zt_matlab_next(zt_matlab_in *in, uint64_t end, zt_matlab_tag *out);

enum { ZT_MATLAB_MATRIX = 14, ZT_MATLAB_COMPRESSED = 15 };   /* Types that matlab_input.c knows */

#endif
