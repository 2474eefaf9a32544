/* Calls that have a meaning in any pickle, and the bytes that some of them make. Nothing is called.
** Other results: pickle_result.h. */
#ifndef ZT_CONTAINER_PICKLE_CALLS_H
#define ZT_CONTAINER_PICKLE_CALLS_H

#include "container/pickle.h"
#include "core/host.h"

/* A row of a table of known globals. */
typedef struct zt_pickle_name {
  zt_text module, name;
  int meaning;               /* 0: the end of the table */
} zt_pickle_name;

#define ZT_PICKLE_NAME(module, name, meaning) { ZT_TEXT_INIT(module), ZT_TEXT_INIT(name), meaning }

/* A global's meaning in a table that ends with meaning 0; 0: not found. */
int zt_pickle_name_find(const zt_pickle_name *table, const zt_pickle_value *global);

typedef enum zt_pickle_meaning {
  ZT_CALL_OTHER,
  ZT_CALL_BYTES, ZT_CALL_BYTEARRAY, ZT_CALL_ENCODE,
  ZT_CALL_DATETIME, ZT_CALL_DATE, ZT_CALL_TIME,
  ZT_CALL_NUMPY_DTYPE, ZT_CALL_NUMPY_SCALAR,
  ZT_CALL_NUMPY_ARRAY, ZT_CALL_NUMPY_BUFFER, ZT_CALL_NUMPY_MASKED,   /* Arrays, */
  ZT_CALL_NUMPY_PARTS,                        /* as JAX and dill have them, */
  ZT_CALL_JOBLIB_ARRAY, ZT_CALL_JOBLIB_FILE,  /* also whose elements are behind, or elsewhere, */
  ZT_CALL_ARRAY_UNREAD                        /* or that are not read */
} zt_pickle_meaning;

/* A node's meaning: ZT_CALL_OTHER if it is not a call of a global with a tuple. Sets *call. */
zt_pickle_meaning zt_pickle_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call);

typedef struct zt_pickle_bytes {
  zt_span span;              /* Borrowed */
  bool latin1;               /* The span is UTF-8, and each character is one byte */
  size_t n;                  /* Number of bytes */
} zt_pickle_bytes;

/* Read bytes, a bytearray, a string of Python 2, or a call that makes one of them from others.
** Latin-1 texts are scanned. False if the value is something else, or has more than `most`
** bytes. */
bool zt_pickle_read_bytes(const zt_pickle *p, zt_pickle_node node, size_t most,
                          zt_pickle_bytes *out);

/* Copy the first n bytes. */
void zt_pickle_copy_bytes(const zt_pickle_bytes *b, uint8_t *out, size_t n);

#endif
