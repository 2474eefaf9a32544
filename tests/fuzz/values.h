/* Values of tensors, computed in the plainest way: what the targets compare the extension's with. Written from the
** section Values of ext/REFERENCE.md and the formats' own descriptions, not from the code under test. */
#ifndef ZT_TESTS_VALUES_H
#define ZT_TESTS_VALUES_H

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "core/host.h"
#include "fuzz.h"

/* Every number of a tensor is one of these, exactly, where a long double has 64 bits of significand or more; elsewhere
** nothing is compared that needs them. */
typedef long double number;
#define EXACT (LDBL_MANT_DIG>=64)

typedef enum kind_of_type { K_FLOAT, K_INT, K_UINT, K_BOOL, K_COMPLEX } kind_of_type;

typedef struct dtype {
  const char *name, *storage;
  kind_of_type kind;
  unsigned width;           /* Bytes of an element */
  unsigned bits, mantissa;  /* A float's, or those of a complex number's part */
  int bias;
  char special;             /* i: infinities and NaN as in IEEE 754; n: one NaN, all ones; z: one NaN, -0; e: a power of 2; -: none */
  unsigned each;            /* Elements in a byte, the first in the lowest bits; 1: it is not packed */
} dtype;

static const dtype types[] = {
  { "f64",  "f64",  K_FLOAT, 8, 64, 52, 1023, 'i', 1 },
  { "f32",  "f32",  K_FLOAT, 4, 32, 23, 127, 'i', 1 },
  { "f16",  "f16",  K_FLOAT, 2, 16, 10, 15, 'i', 1 },
  { "bf16", "bf16", K_FLOAT, 2, 16, 7, 127, 'i', 1 },
  { "i64",  "i64",  K_INT,   8, 0, 0, 0, 0, 1 },
  { "i32",  "i32",  K_INT,   4, 0, 0, 0, 0, 1 },
  { "i16",  "i16",  K_INT,   2, 0, 0, 0, 0, 1 },
  { "i8",   "i8",   K_INT,   1, 0, 0, 0, 0, 1 },
  { "u64",  "u64",  K_UINT,  8, 0, 0, 0, 0, 1 },
  { "u32",  "u32",  K_UINT,  4, 0, 0, 0, 0, 1 },
  { "u16",  "u16",  K_UINT,  2, 0, 0, 0, 0, 1 },
  { "u8",   "u8",   K_UINT,  1, 0, 0, 0, 0, 1 },
  { "bool", "bool", K_BOOL,  1, 0, 0, 0, 0, 1 },
  { "f8_e4m3fn",   "u8", K_FLOAT, 1, 8, 3, 7,  'n', 1 },
  { "f8_e5m2",     "u8", K_FLOAT, 1, 8, 2, 15, 'i', 1 },
  { "f8_e4m3fnuz", "u8", K_FLOAT, 1, 8, 3, 8,  'z', 1 },
  { "f8_e5m2fnuz", "u8", K_FLOAT, 1, 8, 2, 16, 'z', 1 },
  { "complex64",   "f32", K_COMPLEX, 8, 32, 23, 127, 'i', 1 },
  { "complex128",  "f64", K_COMPLEX, 16, 64, 52, 1023, 'i', 1 },
  { "f8_e8m0",     "u8", K_FLOAT, 1, 8, 0, 127, 'e', 1 },
  { "f4_e2m1",     "u8", K_FLOAT, 1, 4, 1, 1, '-', 2 },
  /* No zTensor file has these */
  { "i4",          "u8", K_INT,   1, 4, 0, 0, 0, 2 },
  { "u4",          "u8", K_UINT,  1, 4, 0, 0, 0, 2 },
  { "i2",          "u8", K_INT,   1, 2, 0, 0, 0, 4 },
  { "u2",          "u8", K_UINT,  1, 2, 0, 0, 0, 4 },
};
#define N_TYPES (ALL_TYPES-4)   /* Those of zTensor */
#define ALL_TYPES (sizeof(types)/sizeof(*types))

static inline const dtype *type_named(const char *name){
  for(size_t i=0; name && i<ALL_TYPES; i++) if( strcmp(types[i].name, name)==0 ) return &types[i];
  return NULL;
}

static inline uint64_t size_of(const dtype *t, uint64_t elements){
  return t->each>1 ? elements/t->each + (elements%t->each>0) : elements*t->width;
}

/* --- Reading elements --- */

static inline uint64_t load_le(const uint8_t *p, unsigned n){
  uint64_t u = 0;
  for(unsigned i=n; i-->0;) u = u<<8 | p[i];
  return u;
}

static inline number decode_float(const dtype *t, uint64_t code){
  uint64_t ones = ((uint64_t)1 << (t->bits-1-t->mantissa))-1;
  uint64_t exponent = code>>t->mantissa & ones, fraction = code & (((uint64_t)1 << t->mantissa)-1);
  int sign = code>>(t->bits-1) & 1 ? -1 : 1, scale;
  if( t->special=='e' ) return code==255 ? (number)NAN : ldexpl(1, (int)code-t->bias);
  if( t->special=='z' && code==0x80 ) return (number)NAN;
  if( t->special=='n' && exponent==ones && fraction==7 ) return (number)NAN;
  if( t->special=='i' && exponent==ones ) return fraction ? (number)NAN : sign*(number)INFINITY;
  scale = (exponent ? (int)exponent : 1) - t->bias - (int)t->mantissa;
  if( exponent ) fraction |= (uint64_t)1 << t->mantissa;
  return sign*ldexpl((number)fraction, scale);
}

/* Element i of an array, little-endian; of a complex number part 0 or 1. */
static inline number value_at(const dtype *t, const uint8_t *p, uint64_t i, unsigned part){
  unsigned width = t->kind==K_COMPLEX ? t->width/2 : t->width;
  uint64_t u;
  if( t->each>1 ){
    const unsigned bits = 8/t->each;
    u = (unsigned)p[i/t->each] >> bits*(i%t->each) & ((1u<<bits)-1);
    if( t->kind==K_FLOAT ) return decode_float(t, u);
    return t->kind==K_INT && u>>(bits-1) ? (number)u-(1<<bits) : (number)u;
  }
  u = load_le(p+i*t->width+part*width, width);
  switch( t->kind ){
    case K_UINT: return (number)u;
    case K_BOOL: return u!=0;
    case K_INT:
      if( width<8 && u>>(8*width-1) ) u |= ~(uint64_t)0 << 8*width;
      return u>>63 ? -(number)(~u) - 1 : (number)u;
    default: return decode_float(t, u);
  }
}

/* --- Conversions --- */

/* A number to the nearest code of a float of 16 bits or less, ties to even; false: it has none. */
static inline bool round_small(const dtype *t, number x, uint64_t *code){
  uint64_t low = 0, high = t->special=='i' ? ((uint64_t)1<<(t->bits-1)) - ((uint64_t)1<<t->mantissa) - 1
                         : t->special=='n' ? 0x7E : t->special=='z' ? 0x7F : 7;
  const uint64_t largest = high, nan = t->special=='z' ? 0x80 : ((uint64_t)1<<(t->bits-1))-1;
  number v, next, size = fabsl(x);
  *code = nan;
  if( isnan(x) ) return t->special!='-';
  while( low<high ){
    uint64_t middle = (low+high+1)/2;
    if( decode_float(t, middle)<=size ) low = middle;
    else high = middle-1;
  }
  v = decode_float(t, low);
  next = low<largest ? decode_float(t, low+1) : v + (v-decode_float(t, low-1));
  if( isinf(size) || next-size<size-v || (next-size==size-v && (low & 1)) ) low++;
  if( low>largest && t->special!='i' ) return t->special!='-';   /* NaN where there is no infinity */
  *code = low;
  if( signbit(x) && !(t->special=='z' && low==0) ) *code |= (uint64_t)1 << (t->bits-1);
  return true;
}

/* A power of two. */
static inline bool round_e8m0(number x, number *out){
  int exponent;
  number m;
  if( !(x>0) || isinf(x) ) return false;
  m = 2*frexpl(x, &exponent);   /* x = m * 2^(exponent-1), 1 <= m < 2 */
  exponent += 126;
  if( m>1.5L || (m==1.5L && exponent%2) ) exponent++;
  *out = ldexpl(1, exponent-127);
  return exponent>=0 && exponent<=254;
}

/* Converts x to a type (a complex number: to its part's type); false: it cannot be converted. */
static inline bool convert_number(const dtype *t, number x, number *out){
  unsigned bits = 8*t->width/t->each;
  uint64_t code = 0;
  switch( t->kind ){
    case K_BOOL: *out = x!=0; return true;
    case K_INT:
      *out = truncl(x) + 0;   /* No -0 */
      return *out>=-ldexpl(1, (int)bits-1) && *out<ldexpl(1, (int)bits-1);
    case K_UINT:
      *out = truncl(x) + 0;   /* No -0 */
      return *out>=0 && *out<ldexpl(1, (int)bits);
    default: break;
  }
  *out = x;
  if( isnan(x) ) return t->special!='-';
  if( t->bits==64 ) *out = (double)x;
  else if( t->bits==32 ) *out = (float)x;
  else if( t->special=='e' ) return round_e8m0(x, out);
  else{
    if( !round_small(t, x, &code) ) return false;
    *out = decode_float(t, code);
  }
  return true;
}

/* An integer, of 64 bits two's complement if `negative`, is in the range of an integer type. */
static inline bool in_range(const dtype *t, uint64_t u, bool negative){
  const unsigned bits = 8*t->width/t->each - (t->kind==K_INT);
  if( negative ) return t->kind==K_INT && ~u>>bits==0;
  return bits==64 || u>>bits==0;
}

/* Converts a part of element i of an array. Whether an integer fits is asked of integers: 2^64-1 is no number where that is
** no longer than a double. */
static inline bool convert_element(const dtype *from, const uint8_t *p, uint64_t i, unsigned part, const dtype *to, number *out){
  const bool converted = convert_number(to, value_at(from, p, i, part), out);
  uint64_t u;
  bool fits;
  if( from->width<8 || (from->kind!=K_INT && from->kind!=K_UINT) || (to->kind!=K_INT && to->kind!=K_UINT) ) return converted;
  u = load_le(p+i*from->width, 8);
  fits = in_range(to, u, from->kind==K_INT && u>>63);
  CHECK(!EXACT || fits==converted, "%" PRIu64 " of %s as %s", u, from->name, to->name);
  return fits;
}

/* The same number, down to the sign of 0; any NaN is as good as another. */
static inline bool same_number(number a, number b){
  if( isnan(a) || isnan(b) ) return isnan(a) && isnan(b);
  return a==b && (a!=0 || signbit(a)==signbit(b));
}

/* --- Values in SQL and JSON --- */

/* Column i of a row, as zt_value and zt_elements give an element. */
static inline void check_scalar(sqlite3_stmt *s, int i, const dtype *t, number real, number imag){
  int storage = sqlite3_column_type(s, i);
  const char *text = (const char*)sqlite3_column_text(s, i);
  char expected[32], *end;
  double parts[2];
  switch( t->kind ){
    case K_COMPLEX:
      CHECK(text && text[0]=='[', "a complex value is %s", text);
      for(int k=0; k<2; k++){
        text++;
        parts[k] = strncmp(text, "null", 4)==0 ? (double)NAN : strtod(text, &end);
        text = strchr(text, k ? ']' : ',');
        CHECK(text, "a complex value has %d parts", k);
      }
      CHECK(text[1]==0 && same_number(parts[0], real) && same_number(parts[1], imag), "[%g, %g], expected [%Lg, %Lg]", parts[0],
            parts[1], real, imag);
      break;
    case K_FLOAT:
      if( isnan(real) ) CHECK(storage==SQLITE_NULL, "NaN is %s", text);
      else CHECK(storage==SQLITE_FLOAT && sqlite3_column_double(s, i)==(double)real, "%s, expected %Lg", text, real);
      break;
    default:
      if( !EXACT ) break;
      snprintf(expected, sizeof(expected), "%.0Lf", real);
      CHECK(text && strcmp(text, expected)==0, "%s, expected %s", text, expected);
      CHECK(storage==(real>=0x1p63L ? SQLITE_TEXT : SQLITE_INTEGER), "%s has another type", text);
      break;
  }
}

/* The rest of a JSON text, and the expected contents. */
typedef struct json_reader {
  const char *p;
  const dtype *type;
  const uint8_t *array;     /* The elements */
  const uint64_t *shape;
  unsigned rank;
  uint64_t i;               /* The next element */
} json_reader;

static inline bool json_part(json_reader *r, unsigned part){
  number expected = value_at(r->type, r->array, r->i, part), x;
  char *end = NULL;
  if( r->type->kind==K_BOOL ){
    size_t n = expected!=0 ? 4 : 5;
    if( strncmp(r->p, expected!=0 ? "true" : "false", n) ) return false;
    r->p += n;
    return true;
  }
  if( isnan(expected) ){
    if( strncmp(r->p, "null", 4) ) return false;
    r->p += 4;
    return true;
  }
  if( *r->p!='-' && !isdigit((unsigned char)*r->p) ) return false;
  x = r->type->kind==K_INT || r->type->kind==K_UINT ? strtold(r->p, &end) : (number)strtod(r->p, &end);
  r->p = end;
  return same_number(x, expected) || !EXACT;
}

static inline bool json_char(json_reader *r, char c){
  return *r->p++==c;
}

/* The text is the array's elements, nested as its shape is. */
static inline bool json_matches(json_reader *r, unsigned d){
  bool ok;
  if( d==r->rank ){
    ok = r->type->kind!=K_COMPLEX ? json_part(r, 0)
       : json_char(r, '[') && json_part(r, 0) && json_char(r, ',') && json_part(r, 1) && json_char(r, ']');
    r->i++;
    return ok;
  }
  if( !json_char(r, '[') ) return false;
  for(uint64_t i=0; i<r->shape[d]; i++){
    if( (i>0 && !json_char(r, ',')) || !json_matches(r, d+1) ) return false;
  }
  return json_char(r, ']');
}

/* "[2,0,5]" as numbers; how many there are. */
static inline unsigned read_shape(const char *json, uint64_t shape[64]){
  unsigned n = 0;
  const char *p = json+1;
  char *end;
  while( *p!=']' && n<64 ){
    shape[n++] = strtoull(p, &end, 10);
    CHECK(end>p && (*end==',' || *end==']'), "shape %s", json);
    p = *end==',' ? end+1 : end;
  }
  return n;
}

/* --- Statistics --- */

typedef struct plain_stats {
  uint64_t zeros, nans, infs, finite;
  number min, max, mean, std, l2, largest;
} plain_stats;

/* Of n elements that are no complex numbers. */
static inline plain_stats stats_of(const dtype *t, const uint8_t *array, uint64_t n){
  plain_stats r = { 0 };
  number sum = 0, squares = 0, distances = 0;
  for(uint64_t i=0; i<n; i++){
    number x = value_at(t, array, i, 0);
    if( isnan(x) ) r.nans++;
    else if( isinf(x) ) r.infs++;
    else{
      if( r.finite==0 || x<r.min ) r.min = x;
      if( r.finite==0 || x>r.max ) r.max = x;
      r.zeros += x==0;
      r.finite++;
      sum += x;
      squares += x*x;
    }
  }
  r.largest = fmaxl(fabsl(r.min), fabsl(r.max));
  if( r.finite==0 ) return r;
  r.mean = sum/(number)r.finite;
  r.l2 = sqrtl(squares);
  for(uint64_t i=0; i<n; i++){
    number x = value_at(t, array, i, 0);
    if( isfinite(x) ) distances += (x-r.mean)*(x-r.mean);
  }
  r.std = sqrtl(distances/(number)r.finite);
  return r;
}

/* x is as near to what it should be as f64 sums let it be, where numbers are as large as `largest`. */
static inline void check_near(const char *what, double x, number expected, number largest){
  number tolerance = 1e-10L*fabsl(expected) + 1e-14L*largest + 1e-322L;
  if( !EXACT || (isinf(x) && expected>DBL_MAX*(1-1e-10L)) ) return;
  CHECK(fabsl(x-expected)<=tolerance, "%s is %.17g, expected %.17Lg", what, x, expected);
}

/* Columns zeros, nans, infs, min, max, mean, std, l2 of a row, from column i on. */
static inline void check_stats(sqlite3_stmt *s, int i, const dtype *t, const plain_stats *e){
  CHECK((uint64_t)sqlite3_column_int64(s, i)==e->zeros, "%lld zeros, expected %" PRIu64, sqlite3_column_int64(s, i), e->zeros);
  CHECK((uint64_t)sqlite3_column_int64(s, i+1)==e->nans, "%lld nans, expected %" PRIu64, sqlite3_column_int64(s, i+1), e->nans);
  CHECK((uint64_t)sqlite3_column_int64(s, i+2)==e->infs, "%lld infs, expected %" PRIu64, sqlite3_column_int64(s, i+2), e->infs);
  for(int k=3; k<8; k++) CHECK((sqlite3_column_type(s, i+k)==SQLITE_NULL)==(e->finite==0), "%s", sqlite3_column_name(s, i+k));
  if( e->finite==0 ) return;
  check_scalar(s, i+3, t, e->min, 0);
  check_scalar(s, i+4, t, e->max, 0);
  check_near("mean", sqlite3_column_double(s, i+5), e->mean, e->largest);
  check_near("std", sqlite3_column_double(s, i+6), e->std, e->largest);
  check_near("l2", sqlite3_column_double(s, i+7), e->l2, 0);
}

/* --- Digests --- */

static inline uint32_t crc32c_of(const uint8_t *p, size_t n){
  uint32_t crc = ~(uint32_t)0;
  for(size_t i=0; i<n; i++){
    crc ^= p[i];
    for(int k=0; k<8; k++) crc = crc>>1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

#endif
