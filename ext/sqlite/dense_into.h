/*
** zt_dense() into memory of C code, which may be larger than a result of SQLite.
*/
#ifndef ZT_SQLITE_DENSE_INTO_H
#define ZT_SQLITE_DENSE_INTO_H

#include "core/span.h"

/* The type of a pointer to a zt_dense_into, which SQL cannot make. Bound in place of zt_dense()'s
** dtype, it takes the elements: exactly n bytes. The function's result is then NULL. */
#define ZT_DENSE_INTO "zt_dense_into"

typedef struct zt_dense_into {
  zt_text dtype;   /* To convert to; z NULL: the tensor's own type, f32 if it is quantized */
  uint8_t *p;
  uint64_t n;      /* Bytes at p */
} zt_dense_into;

#endif
