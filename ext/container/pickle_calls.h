/*
** Calls in a pickle that have a meaning in any, and the bytes that some of them make. Nothing is
** called. Interface to code in pickle_calls.c; what others make is in pickle_result.h.
*/
#ifndef ZT_CONTAINER_PICKLE_CALLS_H
#define ZT_CONTAINER_PICKLE_CALLS_H

#include "container/pickle.h"
#include "core/host.h"

/* A call of a table, by the global that is called. */
typedef struct zt_pickle_name {
  zt_text module, name;
  int meaning;               /* Not 0 */
} zt_pickle_name;

/* The meaning that a table of n gives a global; 0: none. */
int zt_pickle_name_find(const zt_pickle_name *table, size_t n, const zt_pickle_value *global);

/* Calls that have a meaning in any pickle. */
typedef enum zt_pickle_meaning {
  ZT_CALL_OTHER,
  ZT_CALL_BYTES, ZT_CALL_BYTEARRAY, ZT_CALL_ENCODE,
  ZT_CALL_DATETIME, ZT_CALL_DATE, ZT_CALL_TIME,
  ZT_CALL_NUMPY_DTYPE, ZT_CALL_NUMPY_SCALAR,
  ZT_CALL_NUMPY_ARRAY, ZT_CALL_NUMPY_BUFFER, ZT_CALL_NUMPY_MASKED   /* Arrays */
} zt_pickle_meaning;

/* What a call means, whose parts are set in *call: other, too, if it is none, or not called with
** a tuple. */
zt_pickle_meaning zt_pickle_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call);

/* Bytes that a value is. */
typedef struct zt_pickle_bytes {
  zt_span span;              /* Borrowed; if they are latin1: */
  bool latin1;               /* UTF-8, each of whose characters is one byte */
  size_t n;                  /* Bytes that they are */
} zt_pickle_bytes;

/* Read bytes, a bytearray, a string of Python 2, or a call that makes one of them of others. Goes
** through all of them if they are latin1: of more than `most` bytes not. False: it is
** something else, or longer than that. */
bool zt_pickle_read_bytes(const zt_pickle *p, zt_pickle_node node, size_t most,
                          zt_pickle_bytes *out);

/* Copy the first n of them, which are there. */
void zt_pickle_copy_bytes(const zt_pickle_bytes *b, uint8_t *out, size_t n);

#endif
