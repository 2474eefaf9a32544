/*
** What each type gives to conversions. Interface between those who define them: convert.c (8 bytes
** down to integers of one) and small_floats.c.
*/
#ifndef ZT_TENSOR_CONVERSIONS_H
#define ZT_TENSOR_CONVERSIONS_H

#include "container/dtype.h"

/* One type's part: from its elements to its wide type, and from each of the wide types to its
** elements. load is NULL where an element is of the wide type already. store gives how many
** elements were converted: fewer than n where the next one cannot be. */
typedef struct zt_conversion {
  void (*load)(const void *from, void *to, size_t n);
  size_t (*store[ZT_WIDES])(const void *from, void *to, size_t n);
} zt_conversion;

extern const zt_conversion zt_conversion_f64, zt_conversion_f32, zt_conversion_f16,
  zt_conversion_bf16, zt_conversion_i64,
  zt_conversion_i32, zt_conversion_i16, zt_conversion_i8, zt_conversion_u64, zt_conversion_u32,
    zt_conversion_u16,
  zt_conversion_u8, zt_conversion_bool, zt_conversion_f8_e4m3fn, zt_conversion_f8_e5m2,
    zt_conversion_f8_e4m3fnuz,
  zt_conversion_f8_e5m2fnuz, zt_conversion_f8_e8m0, zt_conversion_f4_e2m1, zt_conversion_i4,
  zt_conversion_u4, zt_conversion_i2, zt_conversion_u2;

const zt_conversion *zt_conversion_of(const zt_dtype *dtype);

#endif
