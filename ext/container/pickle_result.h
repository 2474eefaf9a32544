/* Results of calls in a pickle: bytes, dates and numpy's scalars. They are known without calling
** anything. numpy's arrays: pickle_numpy.h. */
#ifndef ZT_CONTAINER_PICKLE_RESULT_H
#define ZT_CONTAINER_PICKLE_RESULT_H

#include "container/pickle_calls.h"
#include "core/cbor_write.h"

typedef enum zt_pickle_result_kind {
  ZT_RESULT_BOOL, ZT_RESULT_INTEGER, ZT_RESULT_UNSIGNED, ZT_RESULT_REAL, ZT_RESULT_COMPLEX,
  ZT_RESULT_TEXT,            /* `text` */
  ZT_RESULT_UTF32,           /* `bytes` as text */
  ZT_RESULT_BYTES            /* `bytes` */
} zt_pickle_result_kind;

typedef struct zt_pickle_result {
  zt_pickle_result_kind kind;
  int64_t integer;           /* Also a bool */
  uint64_t u;
  double real, imag;
  char text[32];             /* NUL-terminated */
  zt_pickle_bytes bytes;
  size_t zeros;              /* Zero bytes that were stripped from `bytes` */
  bool big;                  /* UTF-32 is big-endian */
} zt_pickle_result;

/* False if the node is not a call with a known result, or has more than `most` bytes. */
bool zt_pickle_read_result(const zt_pickle *p, zt_pickle_node node, size_t most,
                           zt_pickle_result *out);

/* Append the result. Complex numbers are arrays of two. */
void zt_pickle_put_result(const zt_pickle_result *r, zt_cbor_out *out);

#define ZT_PICKLE_KEY_BYTES 1024   /* The most bytes that zt_pickle_show_result() shows */

/* Append the result as Python shows it. Texts have no quotes, as in keys; bytes are hexadecimal. */
void zt_pickle_show_result(const zt_pickle_result *r, sqlite3_str *out);

/* Append a real number as Python shows it. */
void zt_pickle_show_real(double real, sqlite3_str *out);

/* The approximate bytes that zt_pickle_put_result() appends. */
uint64_t zt_pickle_result_size(const zt_pickle_result *r);

#endif
