/*
** From one type to another, exact: IEEE 754 round-to-nearest-even from the source's own value, in
** one rounding. Interface to code in convert.c (loops that compilers vectorise) and
** small_floats.c (floats of 16 bits and less).
**
** Elements in memory have the machine's byte order and lie at multiples of their parts' width; one
** of a packed type has a byte of its own.
**
**   to a float     NaN stays NaN; what is too large becomes an infinity, or NaN in the fp8 types
**                  that have none
**   to an integer  truncated toward zero; what does not fit, and NaN, cannot be converted
**   to bool        0 is false, all else true; as a source any byte but 0 is 1
**   to f8_e8m0, f4_e2m1  what they cannot express (0, negative, NaN, infinities, too large) cannot
**                        be converted
**   to complex     the imaginary part is 0; complex to anything else is no conversion
*/
#ifndef ZT_TENSOR_CONVERT_H
#define ZT_TENSOR_CONVERT_H

#include "container/dtype.h"

/* Memory for n numbers, or n parts of complex ones, of whatever type is found when it is there:
** declared as each of them, since C has an object read as nothing else than it was declared to be
** (C11 6.5, paragraph 7), and compilers count on that. Memory from sqlite3_malloc64() is not
** declared, and needs none of this. */
#define ZT_NUMBERS(n) union { \
    uint64_t u64[n]; int64_t i64[n]; double f64[n]; uint32_t u32[n]; int32_t i32[n]; float f32[n]; \
    uint16_t u16[n]; int16_t i16[n]; uint8_t u8[n]; int8_t i8[n]; uint8_t bytes[8*(n)]; \
  }

/* False for complex to real. */
bool zt_convertible(const zt_dtype *from, const zt_dtype *to);

/* Convert n elements. Returns how many were: fewer than n where the next one cannot be expressed.
** src and dst do not overlap. */
size_t zt_convert(const zt_dtype *from, const void *src, const zt_dtype *to, void *dst, size_t n);

/* Reverse the bytes of each unit, in place. */
void zt_swap_bytes(void *p, size_t n, unsigned unit);

/* True if this machine's byte order is not that of files. */
bool zt_big_endian(void);

/* Elements of a packed type to a byte each, from the one at index `first` of the first byte on; and
** back. A byte holds two or four of them, the first in the lowest bits. What is packed may begin
** where the elements do. */
void zt_unpack(const zt_dtype *dtype, const uint8_t *from, unsigned first, uint8_t *to, size_t n);
void zt_pack(const zt_dtype *dtype, const uint8_t *from, uint8_t *to, size_t n);

/* *cell += *value in the type's own arithmetic: floats rounded once, integers modulo 2^bits, bool
** as or. False if the type cannot express the sum. */
bool zt_add(const zt_dtype *dtype, void *cell, const void *value);

/* One element's value. */
typedef struct zt_scalar {
  zt_class class;
  double real;           /* ZT_FLOAT; ZT_COMPLEX: the real part */
  double imag;           /* ZT_COMPLEX */
  int64_t i;             /* ZT_INT */
  uint64_t u;            /* ZT_UINT, ZT_BOOL */
} zt_scalar;
zt_scalar zt_scalar_of(const zt_dtype *dtype, const void *element);

#endif
