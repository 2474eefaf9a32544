/* From one type to another, and what is done with single elements. See convert.h. */
#include "tensor/convert.h"

#include <assert.h>
#include <math.h>
#include "core/vector.h"
#include "tensor/conversions.h"

#define BLOCK 1024   /* Elements between two loops: their wide form stays in the nearest cache */

/* --- The wide types themselves, and integers --- */

#define LOADER(name, T, Wide) \
  ZT_VECTOR static void load_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    Wide *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++) out[i] = (Wide)p[i]; \
  }

LOADER(i32, int32_t, int64_t)
LOADER(i16, int16_t, int64_t)
LOADER(i8, int8_t, int64_t)
LOADER(u32, uint32_t, uint64_t)
LOADER(u16, uint16_t, uint64_t)
LOADER(u8, uint8_t, uint64_t)

ZT_VECTOR static void load_bool(const void *from, void *to, size_t n){
  const uint8_t *p = from;
  uint64_t *out = to;
  for(size_t i=0; i<n; i++) out[i] = p[i]!=0;
}

/* What a C conversion rounds as convert.h wants it. */
#define STORE_ALL(name, wide, T, U) \
  ZT_VECTOR static size_t store_##wide##_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    U *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++) out[i] = (U)p[i]; \
    return n; \
  }

STORE_ALL(f64, f32, float, double)
STORE_ALL(f64, f64, double, double)
STORE_ALL(f64, i64, int64_t, double)
STORE_ALL(f64, u64, uint64_t, double)
STORE_ALL(f32, f32, float, float)
STORE_ALL(f32, f64, double, float)
STORE_ALL(f32, i64, int64_t, float)
STORE_ALL(f32, u64, uint64_t, float)

/* What fits only if `fits` says so of x. */
#define STORE_SOME(name, wide, T, U, fits) \
  static size_t store_##wide##_##name(const void *from, void *to, size_t n){ \
    const T *p = from; \
    U *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++){ \
      T x = p[i]; \
      if( !(fits) ) return i; \
      out[i] = (U)x; \
    } \
    return n; \
  }

/* above and below are doubles that the truncated value lies between; NaN is not. */
#define STORE_INT(name, U, above, below, least, most) \
  STORE_SOME(name, f32, float, U, (double)x>(above) && (double)x<(below)) \
  STORE_SOME(name, f64, double, U, x>(above) && x<(below)) \
  STORE_SOME(name, i64, int64_t, U, x>=(least) && x<=(most)) \
  STORE_SOME(name, u64, uint64_t, U, x<=(uint64_t)(most))

#define STORE_UINT(name, U, below, most) \
  STORE_SOME(name, f32, float, U, (double)x>-1.0 && (double)x<(below)) \
  STORE_SOME(name, f64, double, U, x>-1.0 && x<(below)) \
  STORE_SOME(name, i64, int64_t, U, x>=0 && (uint64_t)x<=(most)) \
  STORE_SOME(name, u64, uint64_t, U, x<=(most))

/* -2^63-1 is no double: the next one below -2^63 is. */
STORE_INT(i64, int64_t, -9223372036854777856.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)
STORE_INT(i32, int32_t, -2147483649.0, 2147483648.0, INT32_MIN, INT32_MAX)
STORE_INT(i16, int16_t, -32769.0, 32768.0, INT16_MIN, INT16_MAX)
STORE_INT(i8, int8_t, -129.0, 128.0, INT8_MIN, INT8_MAX)
STORE_UINT(u64, uint64_t, 18446744073709551616.0, UINT64_MAX)
STORE_UINT(u32, uint32_t, 4294967296.0, UINT32_MAX)
STORE_UINT(u16, uint16_t, 65536.0, UINT16_MAX)
STORE_UINT(u8, uint8_t, 256.0, UINT8_MAX)

#define STORE_BOOL(wide, T) \
  ZT_VECTOR static size_t store_##wide##_bool(const void *from, void *to, size_t n){ \
    const T *p = from; \
    uint8_t *out = to; \
    for(size_t i=0; i<n; i++) out[i] = p[i]!=0; \
    return n; \
  }

STORE_BOOL(f32, float)
STORE_BOOL(f64, double)
STORE_BOOL(i64, int64_t)
STORE_BOOL(u64, uint64_t)

#define load_f64 NULL
#define load_f32 NULL
#define load_i64 NULL
#define load_u64 NULL
#define CONVERSION(name) const zt_conversion zt_conversion_##name = { \
  load_##name, { [ZT_F32] = store_f32_##name, [ZT_F64] = store_f64_##name, [ZT_I64] = store_i64_##name, [ZT_U64] = store_u64_##name } };

CONVERSION(f64)
CONVERSION(f32)
CONVERSION(i64)
CONVERSION(i32)
CONVERSION(i16)
CONVERSION(i8)
CONVERSION(u64)
CONVERSION(u32)
CONVERSION(u16)
CONVERSION(u8)
CONVERSION(bool)

const zt_conversion *zt_conversion_of(const zt_dtype *dtype){
#define ROW(name, storage, class, wide, width, unit, packed, conversion) &zt_conversion_##conversion,
  static const zt_conversion *const aConversion[] = { ZT_DTYPES(ROW) };
  return aConversion[dtype->id];
}

/* --- Any type to any other --- */

bool zt_convertible(const zt_dtype *from, const zt_dtype *to){
  return from->class!=ZT_COMPLEX || to->class==ZT_COMPLEX;
}

/* Convert n numbers that are no complex ones, or the parts of such. */
static size_t convert(const zt_dtype *from, const uint8_t *src, unsigned width, const zt_dtype *to, uint8_t *dst,
                      unsigned widthTo, size_t n){
  size_t (*store)(const void*, void*, size_t) = zt_conversion_of(to)->store[from->wide];
  ZT_NUMBERS(BLOCK) block;
  if( !zt_conversion_of(from)->load ) return store(src, dst, n);
  if( !zt_conversion_of(to)->load && to->wide==from->wide ){
    assert( widthTo==(to->wide==ZT_F32 ? 4u : 8u) );
    zt_conversion_of(from)->load(src, dst, n);
    return n;
  }
  for(size_t done=0; done<n;){
    size_t m = n-done<BLOCK ? n-done : BLOCK, stored;
    zt_conversion_of(from)->load(src+done*width, &block, m);
    stored = store(&block, dst+done*widthTo, m);
    done += stored;
    if( stored<m ) return done;
  }
  return n;
}

/* Real numbers to complex ones, in blocks whose real parts are then spread. */
static size_t spread(const zt_dtype *from, const uint8_t *src, const zt_dtype *to, uint8_t *dst, size_t n){
  ZT_NUMBERS(BLOCK) block;
  memset(dst, 0, n*to->width);
  for(size_t done=0; done<n;){
    size_t m = n-done<BLOCK ? n-done : BLOCK;
    convert(from, src+done*from->width, from->width, to, block.u8, to->unit, m);
    for(size_t i=0; i<m; i++) memcpy(dst+(done+i)*to->width, block.u8+i*to->unit, to->unit);
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
  if( to->class!=ZT_COMPLEX ) return convert(from, src, from->width, to, dst, to->width, n);
  if( from->class!=ZT_COMPLEX ) return spread(from, src, to, dst, n);
  convert(from, src, from->unit, to, dst, to->unit, 2*n);
  return n;
}

/* --- Bytes --- */

bool zt_big_endian(void){
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first==0;
}

#define SWAP(bits, T) \
  ZT_VECTOR static void swap##bits(uint8_t *p, size_t n){ \
    for(size_t i=0; i+sizeof(T)<=n; i+=sizeof(T)){ \
      T x, y = 0; \
      memcpy(&x, p+i, sizeof(x)); \
      for(unsigned b=0; b<sizeof(T); b++) y = (T)(y<<8 | (x>>8*b & 0xFF)); \
      memcpy(p+i, &y, sizeof(y)); \
    } \
  }

SWAP(16, uint16_t)
SWAP(32, uint32_t)
SWAP(64, uint64_t)

void zt_swap_bytes(void *p, size_t n, unsigned unit){
  switch( unit ){
    case 2: swap16(p, n); break;
    case 4: swap32(p, n); break;
    case 8: swap64(p, n); break;
    default: break;
  }
}

ZT_VECTOR static void unpack_pairs(const uint8_t *restrict from, uint8_t *restrict to, size_t pairs){
  for(size_t i=0; i<pairs; i++){
    to[2*i] = from[i] & 0xF;
    to[2*i+1] = from[i] >> 4;
  }
}

void zt_unpack(const uint8_t *from, unsigned first, uint8_t *to, size_t n){
  if( first && n>0 ){
    *to++ = *from++ >> 4;
    n--;
  }
  unpack_pairs(from, to, n/2);
  if( n%2 ) to[n-1] = from[n/2] & 0xF;
}

void zt_pack(const uint8_t *from, uint8_t *to, size_t n){
  for(size_t i=0; i<n; i+=2) to[i/2] = (uint8_t)((from[i] & 0xF) | (i+1<n ? from[i+1] << 4 : 0));
}

/* --- Single elements --- */

/* One number, or one part of a complex one, of a type whose numbers are `width` bytes wide, as the wide type. */
typedef union wide {
  float f32;
  double f64;
  int64_t i64;
  uint64_t u64;
} wide;

static wide load_one(const zt_dtype *dtype, const void *element, unsigned width){
  wide w = { .u64 = 0 };
  if( zt_conversion_of(dtype)->load ) zt_conversion_of(dtype)->load(element, &w, 1);
  else memcpy(&w, element, width);
  return w;
}

/* A sum that is NaN is the one NaN that all machines agree on. */
static bool add_one(const zt_dtype *dtype, void *cell, const void *value, unsigned width){
  wide a = load_one(dtype, cell, width), b = load_one(dtype, value, width);
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
      for(unsigned i=0; i<width; i++){   /* The low bytes: modulo 2^bits, which no conversion does */
        ((uint8_t*)cell)[zt_big_endian() ? width-1-i : i] = (uint8_t)(sum >> 8*i);
      }
      return true;
  }
  return zt_conversion_of(dtype)->store[dtype->wide](&a, cell, 1)==1;
}

bool zt_add(const zt_dtype *dtype, void *cell, const void *value){
  if( dtype->class!=ZT_COMPLEX ) return add_one(dtype, cell, value, dtype->width);
  return add_one(dtype, cell, value, dtype->unit)
      && add_one(dtype, (uint8_t*)cell+dtype->unit, (const uint8_t*)value+dtype->unit, dtype->unit);
}

zt_scalar zt_scalar_of(const zt_dtype *dtype, const void *element){
  zt_scalar s = { .class = dtype->class };
  unsigned width = dtype->class==ZT_COMPLEX ? dtype->unit : dtype->width;
  wide w = load_one(dtype, element, width);
  switch( dtype->wide ){
    case ZT_F32: s.real = w.f32; break;
    case ZT_F64: s.real = w.f64; break;
    case ZT_I64: s.i = w.i64; break;
    case ZT_U64: s.u = w.u64; break;
  }
  if( dtype->class==ZT_COMPLEX ){
    w = load_one(dtype, (const uint8_t*)element+width, width);
    s.imag = dtype->wide==ZT_F32 ? w.f32 : w.f64;
  }
  return s;
}
