/* Elements at strides, read in the row-major order of the shape. Interface to code in strided.c. */
#ifndef ZT_TENSOR_STRIDED_H
#define ZT_TENSOR_STRIDED_H

#include "tensor/layout.h"

/* A reader, which keeps the stored elements of many windows, at most ZT_STRIDED_KEPT bytes. */
typedef struct zt_strided zt_strided;

#define ZT_STRIDED_KEPT ((uint64_t)32 << 20)

/* Return how many elements must be stored: with strides, from the first to the last one (D1). */
int zt_strided_measure(const zt_object *object, uint64_t *out, zt_error *err);

/* NULL when out of memory (recorded). data has the stored elements, up to the last one that the
** strides reach; borrowed. */
zt_strided *zt_strided_new(zt_tensor *t, zt_array *data, zt_error *err);
void zt_strided_free(zt_strided *s);

/* As zt_tensor_read(), of at least one element. */
int zt_strided_read(zt_strided *s, uint64_t first, uint64_t n, uint8_t *out, zt_error *err);

#endif
