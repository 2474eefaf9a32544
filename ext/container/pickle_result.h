/*
** What calls in a pickle would give, where that is known without making them: bytes, dates and
** numpy's numbers. Nothing is called. Interface to code in pickle_result.c; numpy's arrays are in
** pickle_numpy.h.
*/
#ifndef ZT_CONTAINER_PICKLE_RESULT_H
#define ZT_CONTAINER_PICKLE_RESULT_H

#include "container/pickle_calls.h"
#include "core/cbor_write.h"

typedef enum zt_pickle_result_kind {
  ZT_RESULT_BOOL, ZT_RESULT_INTEGER, ZT_RESULT_UNSIGNED, ZT_RESULT_REAL, ZT_RESULT_COMPLEX,
  ZT_RESULT_TEXT,            /* `text` */
  ZT_RESULT_UTF32,           /* `bytes`, as text */
  ZT_RESULT_BYTES            /* `bytes` */
} zt_pickle_result_kind;

/* What a call would give. */
typedef struct zt_pickle_result {
  zt_pickle_result_kind kind;
  int64_t integer;           /* Also of a bool */
  uint64_t u;                /* Of an unsigned */
  double real, imag;
  char text[32];             /* With a NUL behind it */
  zt_pickle_bytes bytes;
  size_t zeros;              /* Bytes behind these that are none of them, but were read */
  bool big;                  /* Of UTF-32 */
} zt_pickle_result;

/* False if it is no call, or not known what it would give; or bytes of which there are more than
** `most`. */
bool zt_pickle_read_result(const zt_pickle *p, zt_pickle_node node, size_t most,
                           zt_pickle_result *out);

/* Append it; complex numbers are arrays of two. */
void zt_pickle_put_result(const zt_pickle_result *r, zt_cbor_out *out);

#define ZT_PICKLE_KEY_BYTES 1024   /* Bytes that the next one shows, at most */

/* Append it as Python shows it, or as a key of a dict that is text: without quotes; bytes as
** hexadecimal digits. */
void zt_pickle_show_result(const zt_pickle_result *r, sqlite3_str *out);

/* A real number as Python shows it. */
void zt_pickle_show_real(double real, sqlite3_str *out);

/* Bytes that this takes, about. */
uint64_t zt_pickle_result_size(const zt_pickle_result *r);

#endif
