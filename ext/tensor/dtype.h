/*
** THE table of storage and logical types (zTensor 1.2.0 section 2). Whoever needs to
** know a type asks here; a new type is one row in dtype.c.
*/
#ifndef ZT_TENSOR_DTYPE_H
#define ZT_TENSOR_DTYPE_H

#include "container/container.h"

typedef struct zt_dtype {
  const char *name;      /* dtype or type, as the model spells it */
  const char *storage;   /* The dtype that its bytes have; the name itself for a storage type */
  unsigned width;        /* Bytes of one element (a complex number: both parts) */
  unsigned unit;         /* Bytes that a change of byte order reverses: the storage type's width */
} zt_dtype;

/* The type of a component's elements: its logical type if it has one, else its dtype. NULL if that is not known, or
** stands on another storage type than its own. */
const zt_dtype *zt_dtype_of(const zt_component *component);

/* The storage type of that name; NULL if there is none. */
const zt_dtype *zt_dtype_storage(zt_text name);

/* Bytes of that many elements; false beyond 64 bits. */
bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out);

#endif
