/* Conversions between types, and functions of single elements. See convert.h. */
#include "tensor/convert.h"

#include <assert.h>
#include <math.h>
#include "core/vector.h"
#include "tensor/conversions.h"

#define CONVERT_BLOCK 1024   /* Elements converted at once; the wide form fits the nearest cache */

/* --- The wide types themselves, and integers --- */

#define CONVERT_LOADER(name, T, Wide) \
  ZT_VECTOR static void convert_load_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    Wide *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++) out[i] = (Wide)p[i]; \
  }

CONVERT_LOADER(i32, int32_t, int64_t)
CONVERT_LOADER(i16, int16_t, int64_t)
CONVERT_LOADER(i8, int8_t, int64_t)
CONVERT_LOADER(u32, uint32_t, uint64_t)
CONVERT_LOADER(u16, uint16_t, uint64_t)
CONVERT_LOADER(u8, uint8_t, uint64_t)

/* An unpacked element has a byte of its own; its value is in the low bits. */
#define CONVERT_LOADER_PACKED(name, Wide, value) \
  ZT_VECTOR static void convert_load_##name(const void *from, void *to, size_t n){ \
    const uint8_t *p = from; \
    Wide *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++){ \
      int code = p[i]; \
      out[i] = (Wide)(value); \
    } \
  }

CONVERT_LOADER_PACKED(i4, int64_t, ((code & 15) ^ 8) - 8)
CONVERT_LOADER_PACKED(u4, uint64_t, code & 15)
CONVERT_LOADER_PACKED(i2, int64_t, ((code & 3) ^ 2) - 2)
CONVERT_LOADER_PACKED(u2, uint64_t, code & 3)

ZT_VECTOR static void convert_load_bool(const void *from, void *to, size_t n){
  const uint8_t *p = from;
  uint64_t *out = to;
  for(size_t i=0; i<n; i++) out[i] = p[i]!=0;
}

/* C's own conversion rounds as convert.h demands. */
#define CONVERT_STORE_ALL(name, wide, T, U) \
  ZT_VECTOR static size_t convert_store_##wide##_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    U *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++) out[i] = (U)p[i]; \
    return n; \
  }

CONVERT_STORE_ALL(f64, f32, float, double)
CONVERT_STORE_ALL(f64, f64, double, double)
CONVERT_STORE_ALL(f64, i64, int64_t, double)
CONVERT_STORE_ALL(f64, u64, uint64_t, double)
CONVERT_STORE_ALL(f32, f32, float, float)
CONVERT_STORE_ALL(f32, f64, double, float)
CONVERT_STORE_ALL(f32, i64, int64_t, float)
CONVERT_STORE_ALL(f32, u64, uint64_t, float)

/* x is converted only if `fits`. `mask` selects the stored bits. */
#define CONVERT_STORE_MASKED(name, wide, T, U, fits, mask) \
  static size_t convert_store_##wide##_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    U *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++){ \
      T x = p[i]; \
      if( !(fits) ) return i; \
      out[i] = (U)((U)x mask); \
    } \
    return n; \
  }
#define CONVERT_STORE_SOME(name, wide, T, U, fits) CONVERT_STORE_MASKED(name, wide, T, U, fits, )

/* Values between the doubles above and below fit after truncation; NaN does not. */
#define CONVERT_STORE_INT(name, U, above, below, least, most) \
  CONVERT_STORE_SOME(name, f32, float, U, (double)x>(above) && (double)x<(below)) \
  CONVERT_STORE_SOME(name, f64, double, U, x>(above) && x<(below)) \
  CONVERT_STORE_SOME(name, i64, int64_t, U, x>=(least) && x<=(most)) \
  CONVERT_STORE_SOME(name, u64, uint64_t, U, x<=(uint64_t)(most))

#define CONVERT_STORE_UINT(name, U, below, most) \
  CONVERT_STORE_SOME(name, f32, float, U, (double)x>-1.0 && (double)x<(below)) \
  CONVERT_STORE_SOME(name, f64, double, U, x>-1.0 && x<(below)) \
  CONVERT_STORE_SOME(name, i64, int64_t, U, x>=0 && (uint64_t)x<=(most)) \
  CONVERT_STORE_SOME(name, u64, uint64_t, U, x<=(most))

/* -2^63-1 is no double: the next double below -2^63 stands for it. */
CONVERT_STORE_INT(i64, int64_t, -9223372036854777856.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)
CONVERT_STORE_INT(i32, int32_t, -2147483649.0, 2147483648.0, INT32_MIN, INT32_MAX)
CONVERT_STORE_INT(i16, int16_t, -32769.0, 32768.0, INT16_MIN, INT16_MAX)
CONVERT_STORE_INT(i8, int8_t, -129.0, 128.0, INT8_MIN, INT8_MAX)
CONVERT_STORE_UINT(u64, uint64_t, 18446744073709551616.0, UINT64_MAX)
CONVERT_STORE_UINT(u32, uint32_t, 4294967296.0, UINT32_MAX)
CONVERT_STORE_UINT(u16, uint16_t, 65536.0, UINT16_MAX)
CONVERT_STORE_UINT(u8, uint8_t, 256.0, UINT8_MAX)

/* Integers of less than a byte, least <= x <= most. */
#define CONVERT_STORE_PACKED(name, U, least, most, bits) \
  CONVERT_STORE_MASKED(name, f32, float, U, x>(least)-1 && x<(most)+1, & (bits)) \
  CONVERT_STORE_MASKED(name, f64, double, U, x>(least)-1 && x<(most)+1, & (bits)) \
  CONVERT_STORE_MASKED(name, i64, int64_t, U, x>=(least) && x<=(most), & (bits)) \
  CONVERT_STORE_MASKED(name, u64, uint64_t, U, x<=(most), & (bits))

CONVERT_STORE_PACKED(i4, int8_t, -8, 7, 15)
CONVERT_STORE_PACKED(u4, uint8_t, 0, 15, 15)
CONVERT_STORE_PACKED(i2, int8_t, -2, 1, 3)
CONVERT_STORE_PACKED(u2, uint8_t, 0, 3, 3)

#define CONVERT_STORE_BOOL(wide, T) \
  ZT_VECTOR static size_t convert_store_##wide##_bool(const void *from, void *to, size_t n){ \
    const T *p = from; \
    uint8_t *out = to; \
    for(size_t i=0; i<n; i++) out[i] = p[i]!=0; \
    return n; \
  }

CONVERT_STORE_BOOL(f32, float)
CONVERT_STORE_BOOL(f64, double)
CONVERT_STORE_BOOL(i64, int64_t)
CONVERT_STORE_BOOL(u64, uint64_t)

#define convert_load_f64 NULL
#define convert_load_f32 NULL
#define convert_load_i64 NULL
#define convert_load_u64 NULL
#define CONVERT_CONVERSION(name) const zt_conversion zt_conversion_##name = { \
  convert_load_##name, \
    { [ZT_F32] = convert_store_f32_##name, [ZT_F64] = convert_store_f64_##name, \
      [ZT_I64] = convert_store_i64_##name, [ZT_U64] = convert_store_u64_##name } };

CONVERT_CONVERSION(f64) CONVERT_CONVERSION(f32) CONVERT_CONVERSION(bool)
CONVERT_CONVERSION(i64) CONVERT_CONVERSION(i32) CONVERT_CONVERSION(i16) CONVERT_CONVERSION(i8)
CONVERT_CONVERSION(u64) CONVERT_CONVERSION(u32) CONVERT_CONVERSION(u16) CONVERT_CONVERSION(u8)
CONVERT_CONVERSION(i4) CONVERT_CONVERSION(u4) CONVERT_CONVERSION(i2) CONVERT_CONVERSION(u2)

const zt_conversion *zt_conversion_of(const zt_dtype *dtype){
#define CONVERT_ROW(name, storage, class, wide, width, unit, elements, bytes, conversion) \
  &zt_conversion_##conversion,
  static const zt_conversion *const aConversion[] = { ZT_DTYPES(CONVERT_ROW) };
  return aConversion[dtype->id];
}

/* --- Any type to any other --- */

bool zt_convertible(const zt_dtype *from, const zt_dtype *to){
  return from->class!=ZT_COMPLEX || to->class==ZT_COMPLEX;
}

/* Convert n real numbers, or n parts of complex ones. */
static size_t convert_elements(const zt_dtype *from, const uint8_t *src, unsigned width,
                               const zt_dtype *to, uint8_t *dst, unsigned widthTo, size_t n){
  size_t (*store)(const void*, void*, size_t) = zt_conversion_of(to)->store[from->wide];
  ZT_NUMBERS(CONVERT_BLOCK) block;
  if( !zt_conversion_of(from)->load ) return store(src, dst, n);
  if( !zt_conversion_of(to)->load && to->wide==from->wide ){
    assert( widthTo==(to->wide==ZT_F32 ? 4u : 8u) );
    zt_conversion_of(from)->load(src, dst, n);
    return n;
  }
  for(size_t done=0; done<n;){
    size_t m = n-done<CONVERT_BLOCK ? n-done : CONVERT_BLOCK, stored;
    zt_conversion_of(from)->load(src+done*width, &block, m);
    stored = store(&block, dst+done*widthTo, m);
    done += stored;
    if( stored<m ) return done;
  }
  return n;
}

/* Convert real numbers to complex ones: convert a block, then place the real parts. */
static size_t convert_spread(const zt_dtype *from, const uint8_t *src, const zt_dtype *to,
                             uint8_t *dst, size_t n){
  ZT_NUMBERS(CONVERT_BLOCK) block;
  memset(dst, 0, n*to->width);
  for(size_t done=0; done<n;){
    size_t m = n-done<CONVERT_BLOCK ? n-done : CONVERT_BLOCK;
    convert_elements(from, src+done*from->width, from->width, to, block.bytes, to->unit, m);
    for(size_t i=0; i<m; i++) memcpy(dst+(done+i)*to->width, block.bytes+i*to->unit, to->unit);
    done += m;
  }
  return n;
}

size_t zt_convert(const zt_dtype *from, const void *src, const zt_dtype *to, void *dst, size_t n){
  assert( zt_convertible(from, to) );
  if( from==to ){
    memcpy(dst, src, n*from->width);
    return n;
  }
  if( to->class!=ZT_COMPLEX ){
    return convert_elements(from, src, from->width, to, dst, to->width, n);
  }
  if( from->class!=ZT_COMPLEX ) return convert_spread(from, src, to, dst, n);
  convert_elements(from, src, from->unit, to, dst, to->unit, 2*n);
  return n;
}

/* --- Bytes --- */

bool zt_big_endian(void){
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first==0;
}

#define CONVERT_SWAP(bits, T) \
  ZT_VECTOR static void convert_swap##bits(uint8_t *p, size_t n){ \
    for(size_t i=0; i+sizeof(T)<=n; i+=sizeof(T)){ \
      T x, y = 0; \
      memcpy(&x, p+i, sizeof(x)); \
      for(unsigned b=0; b<sizeof(T); b++) y = (T)(y<<8 | (x>>8*b & 0xFF)); \
      memcpy(p+i, &y, sizeof(y)); \
    } \
  }

CONVERT_SWAP(16, uint16_t)
CONVERT_SWAP(32, uint32_t)
CONVERT_SWAP(64, uint64_t)

void zt_swap_bytes(void *p, size_t n, unsigned unit){
  switch( unit ){
    case 2: convert_swap16(p, n); break;
    case 4: convert_swap32(p, n); break;
    case 8: convert_swap64(p, n); break;
    default: break;
  }
}

ZT_VECTOR static void convert_unpack_pairs(const uint8_t *restrict from, uint8_t *restrict to,
                                           size_t bytes){
  for(size_t i=0; i<bytes; i++){
    to[2*i] = from[i] & 0xF;
    to[2*i+1] = from[i] >> 4;
  }
}

ZT_VECTOR static void convert_unpack_fours(const uint8_t *restrict from, uint8_t *restrict to,
                                           size_t bytes){
  for(size_t i=0; i<bytes; i++){
    to[4*i] = from[i] & 3;
    to[4*i+1] = from[i]>>2 & 3;
    to[4*i+2] = from[i]>>4 & 3;
    to[4*i+3] = from[i] >> 6;
  }
}

/* Unpack n elements of one byte, from index `first` on. */
static void convert_unpack_byte(const zt_dtype *dtype, uint8_t byte, unsigned first, uint8_t *to,
                                size_t n){
  const unsigned bits = 8/dtype->elements, mask = (1u<<bits)-1;
  for(unsigned i=0; i<n; i++) to[i] = (uint8_t)((unsigned)byte>>bits*(first+i) & mask);
}

void zt_unpack(const zt_dtype *dtype, const uint8_t *from, unsigned first, uint8_t *to, size_t n){
  const unsigned packed = dtype->elements;
  size_t m = n<packed-first ? n : packed-first;
  if( first ){
    convert_unpack_byte(dtype, n ? *from : 0, first, to, m);
    from++;
    to += m;
    n -= m;
  }
  if( packed==2 ) convert_unpack_pairs(from, to, n/2);
  else convert_unpack_fours(from, to, n/4);
  m = n%packed;
  if( m ) convert_unpack_byte(dtype, from[n/packed], 0, to+(n-m), m);
}

void zt_pack(const zt_dtype *dtype, const uint8_t *from, uint8_t *to, size_t n){
  const unsigned packed = dtype->elements, bits = 8/packed, mask = (1u<<bits)-1;
  for(size_t i=0; i<n; i+=packed){
    unsigned byte = 0;
    for(unsigned k=0; k<packed && i+k<n; k++) byte |= (from[i+k] & mask) << bits*k;
    to[i/packed] = (uint8_t)byte;
  }
}

/* --- Single elements --- */

typedef union convert_wide {
  float f32;
  double f64;
  int64_t i64;
  uint64_t u64;
} convert_wide;

/* Return a number, or a part of a complex one, of `width` bytes as the wide type. */
static convert_wide convert_load_one(const zt_dtype *dtype, const void *element, unsigned width){
  convert_wide w = { .u64 = 0 };
  if( zt_conversion_of(dtype)->load ) zt_conversion_of(dtype)->load(element, &w, 1);
  else memcpy(&w, element, width);
  return w;
}

/* Add a number, or a part of a complex one. Machines differ in NaN: every NaN becomes the same. */
static bool convert_add_one(const zt_dtype *dtype, void *cell, const void *value, unsigned width){
  convert_wide a = convert_load_one(dtype, cell, width), b = convert_load_one(dtype, value, width);
  uint64_t sum;
  switch( dtype->wide ){
    case ZT_F32:
      a.f32 += b.f32;
      if( isnan(a.f32) ) a.f32 = (float)NAN;
      break;
    case ZT_F64:
      a.f64 += b.f64;
      if( isnan(a.f64) ) a.f64 = (double)NAN;
      break;
    case ZT_I64: case ZT_U64:
      sum = dtype->class==ZT_BOOL ? a.u64 | b.u64 : a.u64 + b.u64;
      /* Store the low bytes (modulo 2^bits); conversions would fail instead */
      for(unsigned i=0; i<width; i++){
        ((uint8_t*)cell)[zt_big_endian() ? width-1-i : i] = (uint8_t)(sum >> 8*i);
      }
      if( zt_dtype_is_packed(dtype) ) *(uint8_t*)cell &= (uint8_t)(0xFF >> (8-8/dtype->elements));
      return true;
  }
  return zt_conversion_of(dtype)->store[dtype->wide](&a, cell, 1)==1;
}

bool zt_add(const zt_dtype *dtype, void *cell, const void *value){
  if( dtype->class!=ZT_COMPLEX ) return convert_add_one(dtype, cell, value, dtype->width);
  return convert_add_one(dtype, cell, value, dtype->unit)
      && convert_add_one(dtype, (uint8_t*)cell+dtype->unit, (const uint8_t*)value+dtype->unit,
                         dtype->unit);
}

zt_scalar zt_scalar_of(const zt_dtype *dtype, const void *element){
  zt_scalar s = { .class = dtype->class };
  unsigned width = dtype->class==ZT_COMPLEX ? dtype->unit : dtype->width;
  convert_wide w = convert_load_one(dtype, element, width);
  switch( dtype->wide ){
    case ZT_F32: s.real = w.f32; break;
    case ZT_F64: s.real = w.f64; break;
    case ZT_I64: s.i = w.i64; break;
    case ZT_U64: s.u = w.u64; break;
  }
  if( dtype->class==ZT_COMPLEX ){
    w = convert_load_one(dtype, (const uint8_t*)element+width, width);
    s.imag = dtype->wide==ZT_F32 ? w.f32 : w.f64;
  }
  return s;
}

double zt_blank_number(const zt_dtype *dtype){
  const uint64_t blank[2] = { 0 };   /* The widest element has 16 bytes */
  return zt_scalar_of(dtype, blank).real;
}
