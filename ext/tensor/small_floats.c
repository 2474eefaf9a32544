/*
** Floats of 16 bits and less (zTensor's specification, section 2; OCP 8-bit and microscaling
** formats): f16, bf16, four fp8 types, f8_e8m0, f4_e2m1. See convert.h. The last six have the
** values of ml_dtypes, including the sign of NaN.
**
** No step of decoding makes a subnormal f32, because the host may have set its processor to flush
** subnormals to zero.
*/
#include "core/vector.h"
#include "tensor/conversions.h"

ZT_INLINE float small_as_float(uint32_t bits){
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

ZT_INLINE uint32_t small_as_bits(float f){
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

/* Decode a pattern of 8 or 16 bits: one sign bit, the exponent with its bias, `mantissa` bits.
** Magnitudes above `infinity` are NaN. Types of 16 bits keep its payload. */
ZT_INLINE float small_decode(uint32_t code, unsigned bits, unsigned mantissa, int bias,
                             uint32_t infinity){
  uint32_t sign = code >> (bits-1) << 31;
  uint32_t magnitude = code & ((1u << (bits-1))-1);
  uint32_t shifted = magnitude << (23-mantissa);
  uint32_t normal = shifted + ((uint32_t)(127-bias) << 23);
  uint32_t subnormal = small_as_bits((float)(int32_t)magnitude
                                     * small_as_float((uint32_t)(127+1-bias-(int)mantissa) << 23));
  uint32_t value = magnitude < (1u << mantissa) ? subnormal : normal;
  uint32_t nan = bits==16 ? shifted | 0x7FC00000u : 0x7FC00000u;
  value = magnitude==infinity ? 0x7F800000u : value;
  return small_as_float(sign | (magnitude > infinity ? nan : value));
}

/* Types without infinity: e4m3fn has NaN in place of its largest magnitude, the fnuz types in place
** of -0. */
ZT_INLINE float small_decode_fn(uint32_t code, unsigned mantissa, int bias){
  return (code & 0x7F)==0x7F ? small_as_float(code >> 7 << 31 | 0x7FC00000u)
       : small_decode(code, 8, mantissa, bias, 0x80);
}
ZT_INLINE float small_decode_fnuz(uint32_t code, unsigned mantissa, int bias){
  return code==0x80 ? small_as_float(0xFFC00000u) : small_decode(code, 8, mantissa, bias, 0x80);
}

#define SMALL_LOADER(name, T, expression) \
  ZT_VECTOR static void small_load_##name(const void *from, void *to, size_t n){ \
    const T *restrict p = from; \
    float *restrict out = to; \
    for(size_t i=0; i<n; i++){ \
      uint32_t code = p[i]; \
      out[i] = expression; \
    } \
  }

SMALL_LOADER(f16_plain, uint16_t, small_decode(code, 16, 10, 15, 0x7C00))
SMALL_LOADER(bf16, uint16_t, small_as_float(code << 16))
SMALL_LOADER(f8_e4m3fn_plain, uint8_t, small_decode_fn(code, 3, 7))
SMALL_LOADER(f8_e5m2_plain, uint8_t, small_decode(code, 8, 2, 15, 0x7C))
SMALL_LOADER(f8_e4m3fnuz, uint8_t, small_decode_fnuz(code, 3, 8))
SMALL_LOADER(f8_e5m2fnuz, uint8_t, small_decode_fnuz(code, 2, 16))
SMALL_LOADER(f4_e2m1, uint8_t, small_decode((code & 8) << 4 | (code & 7), 8, 1, 1, 0x80))

/* Code 0 is 2^-127, which is subnormal as f32 and is therefore made from its bits. */
SMALL_LOADER(f8_e8m0, uint8_t,
             code==0xFF ? small_as_float(0x7FC00000u) : small_as_float(code==0 ? 0x00400000u
                                                                       : code << 23))

/* --- f32 to f16 and bf16, in loops that vectorise --- */

/* Round to nearest even. Below 2^-14, adding 0.5 rounds, because the sum's last bit is f16's. */
ZT_INLINE uint16_t small_f16_of(float f){
  uint32_t bits = small_as_bits(f), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13;
  uint32_t subnormal = small_as_bits(small_as_float(magnitude < 0x38800000u ? magnitude : 0) + 0.5f)
                       - small_as_bits(0.5f);
  uint32_t nan = 0x7E00u | (magnitude >> 13 & 0x3FFu);
  uint32_t value = magnitude < 0x38800000u ? subnormal : normal;
  value = magnitude >= 0x477FF000u ? 0x7C00u : value;
  value = magnitude > 0x7F800000u ? nan : value;
  return (uint16_t)(sign | value);
}

ZT_INLINE uint16_t small_bf16_of(float f){
  uint32_t bits = small_as_bits(f), magnitude = bits & 0x7FFFFFFFu;
  uint32_t value = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
  return (uint16_t)(magnitude > 0x7F800000u ? bits >> 16 | 0x40u : value);
}

#define SMALL_STORE_F32(name, f) \
  ZT_VECTOR static size_t small_store_f32_##name(const void *from, void *to, size_t n){ \
    const float *restrict p = from; \
    uint16_t *restrict out = to; \
    for(size_t i=0; i<n; i++) out[i] = f(p[i]); \
    return n; \
  }

SMALL_STORE_F32(f16_plain, small_f16_of)
SMALL_STORE_F32(bf16, small_bf16_of)

/* --- f16 in hardware, and the fp8 types that are the upper bits of an f16 --- */

#if defined(__x86_64__) && defined(__GNUC__) \
 && (defined(__clang__) ? __clang_major__>=18 : __GNUC__>=11)
#include <immintrin.h>

__attribute__((target("avx,f16c")))
static void small_load_f16_hardware(const uint16_t *p, float *out, size_t n){
  size_t i = 0;
  for(; i+8<=n; i+=8){
    _mm256_storeu_ps(out+i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(const void*)(p+i))));
  }
  small_load_f16_plain(p+i, out+i, n-i);
}

__attribute__((target("avx,f16c")))
static void small_store_f16_hardware(const float *p, uint16_t *out, size_t n){
  size_t i = 0;
  for(; i+8<=n; i+=8){
    __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(p+i),
                                   _MM_FROUND_TO_NEAREST_INT|_MM_FROUND_NO_EXC);
    _mm_storeu_si128((__m128i*)(void*)(out+i), half);
  }
  small_store_f32_f16_plain(p+i, out+i, n-i);
}

/* A magnitude shifted left is that of an f16, but for its factor: the exponents differ in their
** bias. Magnitudes above `most`, the bits of an f32, are NaN. */
#define SMALL_LOAD_F8_HARDWARE(name, shift, factor, most) \
  __attribute__((target("avx2,f16c"))) \
  static void small_load_##name##_hardware(const uint8_t *p, float *out, size_t n){ \
    const __m128i low = _mm_set1_epi16(0x7F), high = _mm_set1_epi16(0x80); \
    const __m256i sign = _mm256_set1_epi32(INT32_MIN), nan = _mm256_set1_epi32(0x7FC00000); \
    size_t i = 0; \
    for(; i+8<=n; i+=8){ \
      __m128i code = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i*)(const void*)(p+i))); \
      __m128i half = _mm_or_si128(_mm_slli_epi16(_mm_and_si128(code, high), 8), \
                                  _mm_slli_epi16(_mm_and_si128(code, low), shift)); \
      __m256i bits = _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtph_ps(half), \
                                                       _mm256_set1_ps(factor))); \
      __m256i is_nan = _mm256_cmpgt_epi32(_mm256_andnot_si256(sign, bits), \
                                          _mm256_set1_epi32(most)); \
      __m256i as_nan = _mm256_or_si256(_mm256_and_si256(sign, bits), nan); \
      bits = _mm256_blendv_epi8(bits, as_nan, is_nan); \
      _mm256_storeu_si256((__m256i*)(void*)(out+i), bits); \
    } \
    small_load_##name##_plain(p+i, out+i, n-i); \
  }
SMALL_LOAD_F8_HARDWARE(f8_e4m3fn, 7, 256, 0x43E00000)   /* 448 */
SMALL_LOAD_F8_HARDWARE(f8_e5m2, 8, 1, 0x7F800000)

static bool small_has_f16(void){
  return __builtin_cpu_supports("f16c");
}

static void small_load_f16(const void *from, void *to, size_t n){
  if( small_has_f16() ) small_load_f16_hardware(from, to, n);
  else small_load_f16_plain(from, to, n);
}

static size_t small_store_f32_f16(const void *from, void *to, size_t n){
  if( small_has_f16() ) small_store_f16_hardware(from, to, n);
  else small_store_f32_f16_plain(from, to, n);
  return n;
}
#define SMALL_LOAD_F8(name) \
  static void small_load_##name(const void *from, void *to, size_t n){ \
    if( small_has_f16() && __builtin_cpu_supports("avx2") ){ \
      small_load_##name##_hardware(from, to, n); \
    }else{ \
      small_load_##name##_plain(from, to, n); \
    } \
  }
SMALL_LOAD_F8(f8_e4m3fn)
SMALL_LOAD_F8(f8_e5m2)
#else
# define small_load_f8_e4m3fn small_load_f8_e4m3fn_plain
# define small_load_f8_e5m2 small_load_f8_e5m2_plain
# define small_load_f16 small_load_f16_plain
# define small_store_f32_f16 small_store_f32_f16_plain
#endif

/* --- Encoding in general --- */

/* A float format with a sign and subnormal numbers. */
typedef struct small_float {
  unsigned bits, mantissa;
  int bias;
  uint32_t largest;        /* Magnitude of the largest finite number */
  int32_t infinity, nan;   /* Codes of too large numbers, without sign, and of NaN, or SMALL_NONE */
  bool fnuz;               /* NaN and 0 have no sign */
} small_float;

#define SMALL_NONE (-1)

/* Return the code nearest to x, ties to even; SMALL_NONE if there is none. */
static int32_t small_encode(const small_float *s, double x){
  uint64_t bits, significand, half, rest;
  uint32_t sign, magnitude;
  int exponent, least = 1-s->bias, shift;
  memcpy(&bits, &x, sizeof(bits));
  sign = (uint32_t)(bits >> 63) << (s->bits-1);
  bits &= ~((uint64_t)1 << 63);
  exponent = (int)(bits >> 52) - 1023;
  if( exponent==1024 && bits << 12 ){
    return s->nan==SMALL_NONE || s->fnuz ? s->nan : s->nan | (int32_t)sign;
  }
  significand = (bits & (((uint64_t)1 << 52)-1)) | (uint64_t)1 << 52;
  shift = 52-(int)s->mantissa + (exponent<least ? least-exponent : 0);
  if( shift>54 ){
    magnitude = 0;   /* Less than half the smallest number */
  }else{
    half = (uint64_t)1 << (shift-1);
    rest = significand & (2*half-1);
    magnitude = (uint32_t)(significand >> shift);
    magnitude += rest>half || (rest==half && (magnitude & 1));
    magnitude += (uint32_t)((exponent>least ? exponent : least) - least) << s->mantissa;
  }
  if( exponent==1024 || magnitude>s->largest ){
    if( s->infinity==SMALL_NONE || s->fnuz ) return s->infinity;
    magnitude = (uint32_t)s->infinity;
  }
  if( s->fnuz && magnitude==0 ) sign = 0;
  return (int32_t)(sign | magnitude);
}

/* f8_e8m0 is 2^(code-127), rounded to the nearest, ties to the even code. */
static int32_t small_encode_e8m0(double x){
  uint64_t bits, fraction;
  int exponent;
  memcpy(&bits, &x, sizeof(bits));
  exponent = (int)(bits >> 52 & 0x7FF) - 1023 + 127;
  fraction = bits & (((uint64_t)1 << 52)-1);
  if( exponent==1024+127 && fraction ) return 0xFF;
  if( bits>>63 || exponent<-1 ) return SMALL_NONE;
  exponent += fraction > (uint64_t)1 << 51 || (fraction==(uint64_t)1 << 51 && (exponent & 1));
  return exponent<0 || exponent>0xFE ? SMALL_NONE : exponent;
}

enum {
  SMALL_F16, SMALL_BF16, SMALL_F8_E4M3FN, SMALL_F8_E5M2, SMALL_F8_E4M3FNUZ, SMALL_F8_E5M2FNUZ,
  SMALL_F4_E2M1
};

static const small_float small_table[] = {
  [SMALL_F16] = { 16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, false },
  [SMALL_BF16] = { 16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, false },
  [SMALL_F8_E4M3FN] = { 8, 3, 7, 0x7E, 0x7F, 0x7F, false },
  [SMALL_F8_E5M2] = { 8, 2, 15, 0x7B, 0x7C, 0x7E, false },
  [SMALL_F8_E4M3FNUZ] = { 8, 3, 8, 0x7F, 0x80, 0x80, true },
  [SMALL_F8_E5M2FNUZ] = { 8, 2, 16, 0x7F, 0x80, 0x80, true },
  [SMALL_F4_E2M1] = { 4, 1, 1, 0x7, SMALL_NONE, SMALL_NONE, false },
};

/* Convert an integer to a double that rounds to these types as the integer would. Integers of more
** than 53 bits are cut, and the last remaining bit is set if a lost bit was. */
static double small_sticky(uint64_t u){
  return u>>53 ? (double)(u>>11 | ((u & 0x7FF)!=0)) * 2048.0 : (double)u;
}

static double small_sticky_signed(int64_t i){
  return i<0 ? -small_sticky(0-(uint64_t)i) : small_sticky((uint64_t)i);
}

#define SMALL_STORE(name, wide, T, U, value, encoder) \
  static size_t small_store_##wide##_##name(const void *from, void *to, size_t n){ \
    const T *restrict p = from; \
    U *out = to; /* NOLINT(bugprone-macro-parentheses): a type */ \
    for(size_t i=0; i<n; i++){ \
      int32_t code = encoder(value(p[i])); \
      if( code==SMALL_NONE ) return i; \
      out[i] = (U)code; \
    } \
    return n; \
  }

#define SMALL_STORE_WIDES(name, U, encoder) \
  SMALL_STORE(name, f64, double, U, (double), encoder) \
  SMALL_STORE(name, i64, int64_t, U, small_sticky_signed, encoder) \
  SMALL_STORE(name, u64, uint64_t, U, small_sticky, encoder)

#define SMALL_ENCODE_F16(x) small_encode(&small_table[SMALL_F16], x)
#define SMALL_ENCODE_BF16(x) small_encode(&small_table[SMALL_BF16], x)
#define SMALL_ENCODE_F8_E4M3FN(x) small_encode(&small_table[SMALL_F8_E4M3FN], x)
#define SMALL_ENCODE_F8_E5M2(x) small_encode(&small_table[SMALL_F8_E5M2], x)
#define SMALL_ENCODE_F8_E4M3FNUZ(x) small_encode(&small_table[SMALL_F8_E4M3FNUZ], x)
#define SMALL_ENCODE_F8_E5M2FNUZ(x) small_encode(&small_table[SMALL_F8_E5M2FNUZ], x)
#define SMALL_ENCODE_F4_E2M1(x) small_encode(&small_table[SMALL_F4_E2M1], x)

SMALL_STORE_WIDES(f16, uint16_t, SMALL_ENCODE_F16)
SMALL_STORE_WIDES(bf16, uint16_t, SMALL_ENCODE_BF16)
SMALL_STORE_WIDES(f8_e4m3fn, uint8_t, SMALL_ENCODE_F8_E4M3FN)
SMALL_STORE_WIDES(f8_e5m2, uint8_t, SMALL_ENCODE_F8_E5M2)
SMALL_STORE_WIDES(f8_e4m3fnuz, uint8_t, SMALL_ENCODE_F8_E4M3FNUZ)
SMALL_STORE_WIDES(f8_e5m2fnuz, uint8_t, SMALL_ENCODE_F8_E5M2FNUZ)
SMALL_STORE_WIDES(f8_e8m0, uint8_t, small_encode_e8m0)
SMALL_STORE_WIDES(f4_e2m1, uint8_t, SMALL_ENCODE_F4_E2M1)
SMALL_STORE(f8_e4m3fn, f32, float, uint8_t, (double), SMALL_ENCODE_F8_E4M3FN)
SMALL_STORE(f8_e5m2, f32, float, uint8_t, (double), SMALL_ENCODE_F8_E5M2)
SMALL_STORE(f8_e4m3fnuz, f32, float, uint8_t, (double), SMALL_ENCODE_F8_E4M3FNUZ)
SMALL_STORE(f8_e5m2fnuz, f32, float, uint8_t, (double), SMALL_ENCODE_F8_E5M2FNUZ)
SMALL_STORE(f8_e8m0, f32, float, uint8_t, (double), small_encode_e8m0)
SMALL_STORE(f4_e2m1, f32, float, uint8_t, (double), SMALL_ENCODE_F4_E2M1)

#define SMALL_CONVERSION(name) const zt_conversion zt_conversion_##name = { \
  small_load_##name, \
    { [ZT_F32] = small_store_f32_##name, [ZT_F64] = small_store_f64_##name, \
      [ZT_I64] = small_store_i64_##name, [ZT_U64] = small_store_u64_##name } };

SMALL_CONVERSION(f16) SMALL_CONVERSION(bf16)
SMALL_CONVERSION(f8_e4m3fn) SMALL_CONVERSION(f8_e5m2) SMALL_CONVERSION(f8_e4m3fnuz)
SMALL_CONVERSION(f8_e5m2fnuz) SMALL_CONVERSION(f8_e8m0) SMALL_CONVERSION(f4_e2m1)
