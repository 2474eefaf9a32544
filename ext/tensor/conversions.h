/*
** The conversions of each type. Interface to code in convert.c (all types of 8 and 4 bytes, and
** integers) and small_floats.c (floats of 2 bytes and less).
*/
#ifndef ZT_TENSOR_CONVERSIONS_H
#define ZT_TENSOR_CONVERSIONS_H

#include "container/dtype.h"

/* `load` converts n elements of a type to its wide type; it is NULL for the wide types themselves.
** store[wide] converts from a wide type, and returns the number of converted elements: fewer than n
** if the type cannot express the next one. */
typedef struct zt_conversion {
  void (*load)(const void *from, void *to, size_t n);
  size_t (*store[ZT_WIDES])(const void *from, void *to, size_t n);
} zt_conversion;

extern const zt_conversion zt_conversion_f64, zt_conversion_f32, zt_conversion_f16,
  zt_conversion_bf16, zt_conversion_i64, zt_conversion_i32, zt_conversion_i16, zt_conversion_i8,
  zt_conversion_u64, zt_conversion_u32, zt_conversion_u16, zt_conversion_u8, zt_conversion_bool,
  zt_conversion_f8_e4m3fn, zt_conversion_f8_e5m2, zt_conversion_f8_e4m3fnuz,
  zt_conversion_f8_e5m2fnuz, zt_conversion_f8_e8m0, zt_conversion_f4_e2m1, zt_conversion_i4,
  zt_conversion_u4, zt_conversion_i2, zt_conversion_u2;

const zt_conversion *zt_conversion_of(const zt_dtype *dtype);

#endif
