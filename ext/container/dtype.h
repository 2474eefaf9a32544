/*
** THE table of storage and logical types (zTensor 1.2.0 section 2; f8_e8m0 and f4_e2m1: zTensor 2;
** i4, u4, i2 and u2: ONNX). Elements of less than a byte are packed, the first in the lowest bits.
** A new type is one row below, and its conversions in tensor/convert.c.
*/
#ifndef ZT_CONTAINER_DTYPE_H
#define ZT_CONTAINER_DTYPE_H

#include "container/container.h"

typedef enum zt_class { ZT_FLOAT, ZT_INT, ZT_UINT, ZT_BOOL, ZT_COMPLEX } zt_class;

/* Conversions of a type go through one of these, without loss. */
typedef enum zt_wide { ZT_F32, ZT_F64, ZT_I64, ZT_U64 } zt_wide;
#define ZT_WIDES 4

/* X(name, storage, class, wide, width, unit, elements, bytes, conversion): a row for each type,
** with the columns of zt_dtype. A complex type converts by the type of its parts. */
#define ZT_DTYPES(X) \
  X(f64,         f64,  ZT_FLOAT,   ZT_F64,  8, 8, 1,  8, f64) \
  X(f32,         f32,  ZT_FLOAT,   ZT_F32,  4, 4, 1,  4, f32) \
  X(f16,         f16,  ZT_FLOAT,   ZT_F32,  2, 2, 1,  2, f16) \
  X(bf16,        bf16, ZT_FLOAT,   ZT_F32,  2, 2, 1,  2, bf16) \
  X(i64,         i64,  ZT_INT,     ZT_I64,  8, 8, 1,  8, i64) \
  X(i32,         i32,  ZT_INT,     ZT_I64,  4, 4, 1,  4, i32) \
  X(i16,         i16,  ZT_INT,     ZT_I64,  2, 2, 1,  2, i16) \
  X(i8,          i8,   ZT_INT,     ZT_I64,  1, 1, 1,  1, i8) \
  X(u64,         u64,  ZT_UINT,    ZT_U64,  8, 8, 1,  8, u64) \
  X(u32,         u32,  ZT_UINT,    ZT_U64,  4, 4, 1,  4, u32) \
  X(u16,         u16,  ZT_UINT,    ZT_U64,  2, 2, 1,  2, u16) \
  X(u8,          u8,   ZT_UINT,    ZT_U64,  1, 1, 1,  1, u8) \
  X(bool,        bool, ZT_BOOL,    ZT_U64,  1, 1, 1,  1, bool) \
  X(f8_e4m3fn,   u8,   ZT_FLOAT,   ZT_F32,  1, 1, 1,  1, f8_e4m3fn) \
  X(f8_e5m2,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 1,  1, f8_e5m2) \
  X(f8_e4m3fnuz, u8,   ZT_FLOAT,   ZT_F32,  1, 1, 1,  1, f8_e4m3fnuz) \
  X(f8_e5m2fnuz, u8,   ZT_FLOAT,   ZT_F32,  1, 1, 1,  1, f8_e5m2fnuz) \
  X(f8_e8m0,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 1,  1, f8_e8m0) \
  X(f4_e2m1,     u8,   ZT_FLOAT,   ZT_F32,  1, 1, 2,  1, f4_e2m1) \
  X(i4,          u8,   ZT_INT,     ZT_I64,  1, 1, 2,  1, i4) \
  X(u4,          u8,   ZT_UINT,    ZT_U64,  1, 1, 2,  1, u4) \
  X(i2,          u8,   ZT_INT,     ZT_I64,  1, 1, 4,  1, i2) \
  X(u2,          u8,   ZT_UINT,    ZT_U64,  1, 1, 4,  1, u2) \
  X(complex64,   f32,  ZT_COMPLEX, ZT_F32,  8, 4, 1,  8, f32) \
  X(complex128,  f64,  ZT_COMPLEX, ZT_F64, 16, 8, 1, 16, f64)

typedef enum zt_dtype_id {
#define ZT_DTYPE_ID(name, ...) ZT_DTYPE_##name,
  ZT_DTYPES(ZT_DTYPE_ID)
#undef ZT_DTYPE_ID
  ZT_DTYPE_COUNT
} zt_dtype_id;

struct zt_dtype {
  zt_dtype_id id;        /* Index in the table */
  const char *name;      /* dtype or type in the model's words */
  const char *storage;   /* The dtype of its bytes; a storage type's own name */
  zt_class class;
  zt_wide wide;          /* Holds every value; for complex numbers, every part */
  unsigned width;        /* Bytes of an element in memory, of both parts if complex */
  unsigned unit;         /* Bytes that a change of byte order reverses */
  unsigned elements;     /* Elements of a block in a file: 1 unless packed */
  unsigned bytes;        /* Bytes of that block */
};

/* True if several elements share a byte in files, but not in memory. */
static inline bool zt_dtype_is_packed(const zt_dtype *dtype){ return dtype->elements>1; }

const zt_dtype *zt_dtype_get(zt_dtype_id id);

/* For drivers: set storage, element and misplaced of a component with dtype and type in the model's
** words. */
void zt_dtype_decide(zt_component *out);

/* The type of that name, storage or logical; NULL if there is none. */
const zt_dtype *zt_dtype_named(zt_text name);

/* The type of that name in numpy and torch (float32); NULL if there is none. */
const zt_dtype *zt_dtype_long(zt_text name);

/* The type's name in numpy's files ("<f4"); n 0: numpy has no such type. */
zt_text zt_dtype_numpy(zt_dtype_id id);

/* The type of a user's name: the model's, or one in dtype.c's table. An unknown name is an
** error. */
int zt_dtype_find(zt_text name, const zt_dtype **out, zt_error *err);

/* The storage type of that name; NULL if there is none. */
const zt_dtype *zt_dtype_storage(zt_text name);

/* Bytes of that many elements in a file, in whole blocks; false beyond 64 bits. */
bool zt_dtype_size(const zt_dtype *dtype, uint64_t elements, uint64_t *out);

#endif
