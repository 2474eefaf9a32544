/*
** THE table of storage and logical types (zTensor 1.2.0 section 2; f8_e8m0 and f4_e2m1: zTensor 2).
** Whoever needs to know a type asks here; a new type is one row below, and its conversions in
** tensor/convert.c.
*/
#ifndef ZT_CONTAINER_DTYPE_H
#define ZT_CONTAINER_DTYPE_H

#include "container/container.h"

typedef enum zt_class { ZT_FLOAT, ZT_INT, ZT_UINT, ZT_BOOL, ZT_COMPLEX } zt_class;

/* How a conversion goes through a type: each is converted from and to one of these four
** without loss. */
typedef enum zt_wide { ZT_F32, ZT_F64, ZT_I64, ZT_U64 } zt_wide;
#define ZT_WIDES 4

/*
** X(name, storage, class, wide, width, unit, packed, conversion): one row a type, the columns being
** those of zt_dtype. A complex type converts by the type of its parts.
*/
#define ZT_DTYPES(X) \
  X(f64,         f64,  ZT_FLOAT,   ZT_F64,  8, 8, 0, f64) \
  X(f32,         f32,  ZT_FLOAT,   ZT_F32,  4, 4, 0, f32) \
  X(f16,         f16,  ZT_FLOAT,   ZT_F32,  2, 2, 0, f16) \
  X(bf16,        bf16, ZT_FLOAT,   ZT_F32,  2, 2, 0, bf16) \
  X(i64,         i64,  ZT_INT,     ZT_I64,  8, 8, 0, i64) \
  X(i32,         i32,  ZT_INT,     ZT_I64,  4, 4, 0, i32) \
  X(i16,         i16,  ZT_INT,     ZT_I64,  2, 2, 0, i16) \
  X(i8,          i8,   ZT_INT,     ZT_I64,  1, 1, 0, i8) \
  X(u64,         u64,  ZT_UINT,    ZT_U64,  8, 8, 0, u64) \
  X(u32,         u32,  ZT_UINT,    ZT_U64,  4, 4, 0, u32) \
  X(u16,         u16,  ZT_UINT,    ZT_U64,  2, 2, 0, u16) \
  X(u8,          u8,   ZT_UINT,    ZT_U64,  1, 1, 0, u8) \
  X(bool,        bool, ZT_BOOL,    ZT_U64,  1, 1, 0, bool) \
  X(f8_e4m3fn,   u8,   ZT_FLOAT,   ZT_F32,  1, 1, 0, f8_e4m3fn) \
  X(f8_e5m2,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 0, f8_e5m2) \
  X(f8_e4m3fnuz, u8,   ZT_FLOAT,   ZT_F32,  1, 1, 0, f8_e4m3fnuz) \
  X(f8_e5m2fnuz, u8,   ZT_FLOAT,   ZT_F32,  1, 1, 0, f8_e5m2fnuz) \
  X(f8_e8m0,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 0, f8_e8m0) \
  X(f4_e2m1,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 2, f4_e2m1) \
  X(complex64,   f32,  ZT_COMPLEX, ZT_F32,  8, 4, 0, f32) \
  X(complex128,  f64,  ZT_COMPLEX, ZT_F64, 16, 8, 0, f64)

typedef enum zt_dtype_id {
#define ZT_DTYPE_ID(name, ...) ZT_DTYPE_##name,
  ZT_DTYPES(ZT_DTYPE_ID)
#undef ZT_DTYPE_ID
  ZT_DTYPE_COUNT
} zt_dtype_id;

typedef struct zt_dtype {
  zt_dtype_id id;        /* Its place in the table */
  const char *name;      /* dtype or type, as the model spells it */
  const char *storage;   /* The dtype that its bytes have; the name itself for a storage type */
  zt_class class;
  zt_wide wide;          /* Holds every value of it (of a complex number: of either part) */
  unsigned width;        /* Bytes of one element in memory (a complex number: both parts) */
  unsigned unit;         /* Bytes that a change of byte order reverses: the storage type's width */
  unsigned packed;       /* Elements in a byte of a file, if more than one; else 0 */
} zt_dtype;

/* The type of a component's elements: its logical type if it has one, else its dtype. NULL if that
** is not known, or stands on another storage type than its own. */
const zt_dtype *zt_dtype_of(const zt_component *component);

/* The type of that name, storage or logical; NULL if there is none. */
const zt_dtype *zt_dtype_named(zt_text name);

/* The type that numpy and torch call so (float32); NULL if there is none. */
const zt_dtype *zt_dtype_long(zt_text name);

/* The type that a user gave a name of: ours, or one of the others in dtype.c's table. One that
** there is not is an error. */
int zt_dtype_find(zt_text name, const zt_dtype **out, zt_error *err);

/* The storage type of that name; NULL if there is none. */
const zt_dtype *zt_dtype_storage(zt_text name);

/* Bytes of that many elements in a file; false beyond 64 bits. */
bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out);

#endif
