/*
** Conversions between types, with one IEEE 754 rounding to nearest even from the exact source
** value. Interface to code in convert.c (loops that compilers vectorise) and small_floats.c (floats
** of 16 bits and less).
**
** Elements in memory have the machine's byte order and are aligned to their parts' width. Each
** element of a packed type has a byte of its own.
**
**   to a float     NaN stays NaN; too large values become an infinity, or NaN in the fp8 types
**                  without infinities
**   to an integer  values are truncated toward zero; too large values and NaN cannot be converted
**   to bool        0 is false, all else is true; as a source, any byte but 0 is 1
**   to f8_e8m0, f4_e2m1  values outside the type (0, negative, NaN, infinities, too large) cannot
**                        be converted
**   to complex     the imaginary part is 0; complex converts to complex only
*/
#ifndef ZT_TENSOR_CONVERT_H
#define ZT_TENSOR_CONVERT_H

#include "container/dtype.h"

/* Memory for n numbers, or n parts of complex ones, of any type. It is declared as all of them,
** because compilers assume that an object is accessed only by its declared type (C11 6.5, paragraph
** 7). Memory from sqlite3_malloc64() has no declared type, and does not need this. */
#define ZT_NUMBERS(n) union { \
    uint64_t u64[n]; int64_t i64[n]; double f64[n]; uint32_t u32[n]; int32_t i32[n]; float f32[n]; \
    uint16_t u16[n]; int16_t i16[n]; uint8_t u8[n]; int8_t i8[n]; uint8_t bytes[8*(n)]; \
  }

/* False for complex to real. */
bool zt_convertible(const zt_dtype *from, const zt_dtype *to);

/* Convert n elements. Returns the number of converted elements: fewer than n if the type cannot
** express the next one. src and dst do not overlap. */
size_t zt_convert(const zt_dtype *from, const void *src, const zt_dtype *to, void *dst, size_t n);

/* Reverse the bytes of each unit, in place. */
void zt_swap_bytes(void *p, size_t n, unsigned unit);

/* True if this machine's byte order is not the files'. */
bool zt_big_endian(void);

/* Unpack elements of a packed type to a byte each, from index `first` of the first byte on; and
** pack them again. A byte holds two or four of them, the first in the lowest bits. Elements may be
** packed in place. */
void zt_unpack(const zt_dtype *dtype, const uint8_t *from, unsigned first, uint8_t *to, size_t n);
void zt_pack(const zt_dtype *dtype, const uint8_t *from, uint8_t *to, size_t n);

/* *cell += *value in the type's own arithmetic: floats are rounded once, integers wrap modulo
** 2^bits, and bools are combined by or. False if the type cannot express the sum. */
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

/* The number of an element whose bytes are 0, as cells of a sparse tensor are that have no stored
** element: 0, but 2^-127 in f8_e8m0, which has no 0. */
double zt_blank_number(const zt_dtype *dtype);

#endif
