/*
** THE table of storage and logical types (zTensor 1.2.0 section 2; f8_e8m0 and f4_e2m1: zTensor 2). Whoever needs to know
** a type asks here; a new type is one row in dtype.c, and its conversions in convert.c.
*/
#ifndef ZT_TENSOR_DTYPE_H
#define ZT_TENSOR_DTYPE_H

#include "container/container.h"

typedef enum zt_class { ZT_FLOAT, ZT_INT, ZT_UINT, ZT_BOOL, ZT_COMPLEX } zt_class;

/* How a conversion goes through a type: each is converted from and to one of these four without loss. */
typedef enum zt_wide { ZT_F32, ZT_F64, ZT_I64, ZT_U64 } zt_wide;
#define ZT_WIDES 4

typedef struct zt_dtype {
  const char *name;      /* dtype or type, as the model spells it */
  const char *storage;   /* The dtype that its bytes have; the name itself for a storage type */
  zt_class class;
  zt_wide wide;          /* Holds every value of it (of a complex number: of either part) */
  unsigned width;        /* Bytes of one element in memory (a complex number: both parts) */
  unsigned unit;         /* Bytes that a change of byte order reverses: the storage type's width */
  unsigned packed;       /* Elements in a byte of a file, if more than one; else 0 */
  const struct zt_conversion *conversion;   /* convert.h */
} zt_dtype;

/* The type of a component's elements: its logical type if it has one, else its dtype. NULL if that is not known, or
** stands on another storage type than its own. */
const zt_dtype *zt_dtype_of(const zt_component *component);

/* The type of that name, storage or logical; NULL if there is none. */
const zt_dtype *zt_dtype_named(zt_text name);

/* The same for a name that a user gave: one that there is not is an error. */
int zt_dtype_find(zt_text name, const zt_dtype **out, zt_error *err);

/* The storage type of that name; NULL if there is none. */
const zt_dtype *zt_dtype_storage(zt_text name);

/* Bytes of that many elements in a file; false beyond 64 bits. */
bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out);


#endif
