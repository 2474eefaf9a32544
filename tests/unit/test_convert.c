/*
** From one type to another: tensor/convert.h.
**
** A second implementation here gives the value of a code and the nearest code. It knows one thing of a float
** format: value = mantissa * 2^exponent, codes ascending with it. The nearest is searched, and compared without rounding.
*/
#include "test.h"

#include <float.h>
#include <math.h>
#include "tensor/convert.h"

/* --- Types, as the formats define them --- */

/* IEEE has infinities and NaN above `largest`; FN one NaN there; FNUZ one NaN, where -0 would be; FINITE neither. */
typedef enum kind { DOUBLE, IEEE, FN, FNUZ, FINITE, E8M0, SIGNED, UNSIGNED, BOOL } kind;

typedef struct type {
  const char *name;
  kind kind;
  unsigned bits, mantissa;
  int bias;
  uint32_t largest;        /* Magnitude of the largest finite number */
  uint64_t nan;            /* The NaN that sums give */
} type;

static const type types[] = {
  { "f64",         DOUBLE,   64, 52, 1023, 0,          0x7FF8000000000000 },
  { "f32",         IEEE,     32, 23, 127,  0x7F7FFFFF, 0x7FC00000 },
  { "f16",         IEEE,     16, 10, 15,   0x7BFF,     0x7E00 },
  { "bf16",        IEEE,     16, 7,  127,  0x7F7F,     0x7FC0 },
  { "f8_e5m2",     IEEE,     8,  2,  15,   0x7B,       0x7E },
  { "f8_e4m3fn",   FN,       8,  3,  7,    0x7E,       0x7F },
  { "f8_e4m3fnuz", FNUZ,     8,  3,  8,    0x7F,       0x80 },
  { "f8_e5m2fnuz", FNUZ,     8,  2,  16,   0x7F,       0x80 },
  { "f4_e2m1",     FINITE,   4,  1,  1,    0x7,        0 },
  { "f8_e8m0",     E8M0,     8,  0,  127,  0xFE,       0xFF },
  { "i64",         SIGNED,   64, 0,  0,    0,          0 },
  { "i32",         SIGNED,   32, 0,  0,    0,          0 },
  { "i16",         SIGNED,   16, 0,  0,    0,          0 },
  { "i8",          SIGNED,   8,  0,  0,    0,          0 },
  { "u64",         UNSIGNED, 64, 0,  0,    0,          0 },
  { "u32",         UNSIGNED, 32, 0,  0,    0,          0 },
  { "u16",         UNSIGNED, 16, 0,  0,    0,          0 },
  { "u8",          UNSIGNED, 8,  0,  0,    0,          0 },
  { "bool",        BOOL,     8,  0,  0,    0,          0 },
  { "i4",          SIGNED,   4,  0,  0,    0,          0 },
  { "u4",          UNSIGNED, 4,  0,  0,    0,          0 },
  { "i2",          SIGNED,   2,  0,  0,    0,          0 },
  { "u2",          UNSIGNED, 2,  0,  0,    0,          0 },
};

#define F64 (&types[0])
#define F32 (&types[1])
#define F16 (&types[2])
#define BF16 (&types[3])

static bool is_float(const type *t){
  return t->kind<=E8M0;
}

/* A float of few codes, each of which can be tried. */
static bool is_small(const type *t){
  return is_float(t) && t->bits<=16;
}

static const zt_dtype *dtype(const type *t){
  const zt_dtype *d = zt_dtype_named((zt_text){ t->name, strlen(t->name) });
  assert_non_null(d);
  return d;
}

static const zt_dtype *named(const char *name){
  return zt_dtype_named((zt_text){ name, strlen(name) });
}

static uint64_t codes(const type *t){
  return t->bits<64 ? (uint64_t)1 << t->bits : 0;
}

/* --- Values without rounding --- */

typedef struct number {
  enum { NUMBER, INFINITE, NOT_A_NUMBER } is;
  bool negative;
  bool integer;            /* The magnitude is u, else d */
  uint64_t u;
  double d;
} number;

static double double_of(uint64_t bits){
  double d;
  memcpy(&d, &bits, 8);
  return d;
}

static uint64_t bits_of(double d){
  uint64_t bits;
  memcpy(&bits, &d, 8);
  return bits;
}

static uint32_t bits_of_float(float f){
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

/* The value of a magnitude's code; one beyond the largest is where the next number would be. Powers alone begin below 2^-127. */
static double magnitude(const type *t, int64_t code){
  int64_t exponent, fraction;
  if( t->kind==E8M0 ) return ldexp(1, (int)code-127);
  exponent = code >> t->mantissa;
  fraction = code & ((1 << t->mantissa)-1);
  if( exponent==0 ) return ldexp((double)fraction, 1-t->bias-(int)t->mantissa);
  return ldexp((double)(fraction + (1 << t->mantissa)), (int)exponent-t->bias-(int)t->mantissa);
}

/* The same, of a small type out of a table: a search asks for many, and an emulated machine takes long over each. */
static double known_magnitude(const type *t, int64_t code){
  static double *tables[COUNT(types)];
  double **table = &tables[t-types];
  if( t->bits>16 ) return magnitude(t, code);
  if( !*table ){
    *table = malloc(((size_t)t->largest+3)*sizeof(**table));
    assert_non_null(*table);
    for(int64_t c=t->kind==E8M0 ? -1 : 0; c<=(int64_t)t->largest+1; c++) (*table)[c+1] = magnitude(t, c);
  }
  return (*table)[code+1];
}

static number value_of(const type *t, uint64_t code){
  uint64_t sign = (uint64_t)1 << (t->bits-1), rest = code & (sign-1);
  number x = { .is = NUMBER, .negative = (code & sign)!=0 };
  switch( t->kind ){
    case DOUBLE:
      x.d = fabs(double_of(code));
      if( isnan(x.d) ) x.is = NOT_A_NUMBER;
      if( isinf(x.d) ) x.is = INFINITE;
      return x;
    case E8M0:
      x.negative = false;
      if( code==0xFF ) x.is = NOT_A_NUMBER;
      else x.d = magnitude(t, (int64_t)code);
      return x;
    case SIGNED:
      x.integer = true;
      x.u = x.negative ? (~code & (sign-1))+1 : code;
      return x;
    case UNSIGNED: return (number){ .is = NUMBER, .integer = true, .u = code };
    case BOOL: return (number){ .is = NUMBER, .integer = true, .u = code!=0 };
    default: break;
  }
  if( t->kind==FNUZ && code==sign ) x.is = NOT_A_NUMBER;
  else if( t->kind==FN && rest>t->largest ) x.is = NOT_A_NUMBER;
  else if( t->kind==IEEE && rest>(uint64_t)t->largest+1 ) x.is = NOT_A_NUMBER;
  else if( t->kind==IEEE && rest>t->largest ) x.is = INFINITE;
  else x.d = magnitude(t, (int64_t)rest);
  return x;
}

/* The sign of |x| - m. */
static int compare(const number *x, double m){
  double whole = floor(m);
  uint64_t u;
  if( !x->integer ) return (x->d>m) - (x->d<m);
  if( whole>=18446744073709551616.0 ) return -1;
  u = (uint64_t)whole;
  if( x->u!=u ) return x->u>u ? 1 : -1;
  return m>whole ? -1 : 0;
}

/* --- The nearest code --- */

#define IMPOSSIBLE (-1)

/* A magnitude's code, perhaps one beyond the largest; IMPOSSIBLE below the powers' least. Ties to even. */
static int64_t nearest(const type *t, const number *x){
  int64_t low = t->kind==E8M0 ? -1 : 0, high = (int64_t)t->largest+1;
  int c;
  if( compare(x, known_magnitude(t, high))>=0 ) return high;
  if( compare(x, known_magnitude(t, low))<0 ) return IMPOSSIBLE;
  while( high-low>1 ){   /* magnitude(low) <= |x| < magnitude(high) */
    int64_t middle = low + (high-low)/2;
    if( compare(x, known_magnitude(t, middle))>=0 ) low = middle;
    else high = middle;
  }
  c = compare(x, (known_magnitude(t, low)+known_magnitude(t, high))/2);
  return c<0 || (c==0 && low%2==0) ? low : high;
}

static double nearest_double(const number *x){
  uint64_t u = x->u, rest = 0, half = 0;
  int shift = 0;
  if( !x->integer ) return x->d;
  while( u>>53 ){
    shift++;
    u = x->u >> shift;
  }
  if( shift ){
    half = (uint64_t)1 << (shift-1);
    rest = x->u & (2*half-1);
  }
  if( rest>half || (rest && rest==half && u%2) ) u++;
  return ldexp((double)u, shift);
}

/* Truncated toward zero; false if it does not fit. */
static bool integer_code(const type *t, const number *x, uint64_t *code){
  uint64_t u, most = t->bits==64 ? UINT64_MAX : codes(t)-1;
  if( x->is!=NUMBER || compare(x, 18446744073709551616.0)>=0 ) return false;
  u = x->integer ? x->u : (uint64_t)floor(x->d);
  *code = (x->negative ? 0-u : u) & most;
  return t->kind==SIGNED ? u<=most/2+(x->negative ? 1 : 0) : u<=most && (!x->negative || u==0);
}

/* The code that a conversion must give; false if there is none; *nan if it may be any NaN. */
static bool expected(const type *t, const number *x, uint64_t *code, bool *nan){
  uint64_t sign = x->negative ? (uint64_t)1 << (t->bits-1) : 0;
  int64_t found;
  *nan = false;
  *code = 0;
  if( t->kind==BOOL ){
    *code = x->is!=NUMBER || compare(x, 0)!=0;
    return true;
  }
  if( t->kind==SIGNED || t->kind==UNSIGNED ) return integer_code(t, x, code);
  if( x->is==NOT_A_NUMBER ){
    *nan = true;
    return t->kind!=FINITE;
  }
  if( t->kind==DOUBLE ){
    *code = sign | (x->is==INFINITE ? 0x7FF0000000000000 : bits_of(nearest_double(x)));
    return true;
  }
  if( t->kind==E8M0 && (x->negative || x->is==INFINITE) ) return false;
  found = x->is==INFINITE ? (int64_t)t->largest+1 : nearest(t, x);
  if( found==IMPOSSIBLE ) return false;
  if( found>t->largest ){
    if( t->kind==FINITE || t->kind==E8M0 ) return false;
    if( t->kind!=IEEE ) *nan = true;
  }
  *code = (uint64_t)found | (t->kind==FNUZ && found==0 ? 0 : sign);
  return true;
}

/* --- Elements in memory --- */

static uint64_t load(const void *p, unsigned width){
  uint8_t a;
  uint16_t b;
  uint32_t c;
  uint64_t d;
  switch( width ){
    case 1: memcpy(&a, p, 1); return a;
    case 2: memcpy(&b, p, 2); return b;
    case 4: memcpy(&c, p, 4); return c;
    default: memcpy(&d, p, 8); return d;
  }
}

static void store(void *p, unsigned width, uint64_t code){
  uint8_t a = (uint8_t)code;
  uint16_t b = (uint16_t)code;
  uint32_t c = (uint32_t)code;
  switch( width ){
    case 1: memcpy(p, &a, 1); break;
    case 2: memcpy(p, &b, 2); break;
    case 4: memcpy(p, &c, 4); break;
    default: memcpy(p, &code, 8); break;
  }
}

/* Compares a conversion's result with the expected one. */
static void check_code(const type *from, uint64_t code, const type *to, bool possible, uint64_t got){
  number x = value_of(from, code);
  uint64_t want;
  bool nan, can = expected(to, &x, &want, &nan);
  bool ok = possible==can && (!can || (nan ? value_of(to, got).is==NOT_A_NUMBER : got==want));
  if( ok ) return;
  check( ok, "%s %llx to %s: %s%llx, expected %s%llx%s", from->name, (unsigned long long)code, to->name, possible ? "" : "not, ",
         (unsigned long long)got, can ? "" : "not, ", (unsigned long long)want, nan ? " (NaN)" : "" );
}

/* Convert n elements with those codes at once, going on behind each that cannot be converted, and check every one. */
static void check_codes(const type *from, const uint64_t *code, size_t n, const type *to){
  const zt_dtype *a = dtype(from), *b = dtype(to);
  uint8_t *src = malloc(n*a->width), *dst = malloc(n*b->width);
  for(size_t i=0; i<n; i++) store(src+i*a->width, a->width, code[i]);
  for(size_t i=0; i<n; ){
    size_t done = zt_convert(a, src+i*a->width, b, dst, n-i);
    assert_true(done<=n-i);
    for(size_t k=0; k<done; k++) check_code(from, code[i+k], to, true, load(dst+k*b->width, b->width));
    i += done;
    if( i<n ) check_code(from, code[i++], to, false, 0);
  }
  free(src);
  free(dst);
}

/* Codes that grow. */
typedef struct list {
  uint64_t *a;
  size_t n, room;
} list;

static void add_code(list *l, uint64_t code){
  if( l->n==l->room ){
    l->room = l->room*2+1024;
    l->a = realloc(l->a, l->room*sizeof(*l->a));
    assert_non_null(l->a);
  }
  l->a[l->n++] = code;
}

static void check_list(const type *from, const list *l, const type *to){
  check_codes(from, l->a, l->n, to);
}

static list all_codes(const type *t){
  list l = { 0 };
  for(uint64_t c=0; c<codes(t); c++) add_code(&l, c);
  return l;
}

/* --- Floats of few bits --- */

TEST(test_every_code_of_small_floats_becomes_its_value){
  for(const type *t=types; t<types+COUNT(types); t++){
    list l;
    if( !is_small(t) ) continue;
    l = all_codes(t);
    check_list(t, &l, F32);
    check_list(t, &l, F64);
    free(l.a);
  }
}

/* A few that everybody knows, so that the reference cannot be wrong in silence. */
TEST(test_well_known_values){
  static const struct { const char *dtype; uint64_t code; double value; } rows[] = {
    { "f16", 0x3C00, 1 }, { "f16", 0x7BFF, 65504 }, { "f16", 0x0001, 0x1p-24 }, { "f16", 0x0400, 0x1p-14 }, { "f16", 0xC000, -2 },
    { "f16", 0x7C00, HUGE_VAL }, { "bf16", 0x3F80, 1 }, { "bf16", 0x7F7F, 0x1.FEp127 }, { "bf16", 0x0001, 0x1p-133 },
    { "bf16", 0xFF80, -HUGE_VAL }, { "f8_e4m3fn", 0x7E, 448 }, { "f8_e4m3fn", 0x01, 0x1p-9 }, { "f8_e4m3fn", 0x38, 1 },
    { "f8_e5m2", 0x7B, 57344 }, { "f8_e5m2", 0x7C, HUGE_VAL }, { "f8_e5m2", 0x01, 0x1p-16 }, { "f8_e5m2", 0x3C, 1 },
    { "f8_e4m3fnuz", 0x7F, 240 }, { "f8_e4m3fnuz", 0x40, 1 }, { "f8_e4m3fnuz", 0x01, 0x1p-10 },
    { "f8_e5m2fnuz", 0x7F, 57344 }, { "f8_e5m2fnuz", 0x40, 1 }, { "f8_e5m2fnuz", 0x01, 0x1p-17 },
    { "f8_e8m0", 0x7F, 1 }, { "f8_e8m0", 0x00, 0x1p-127 }, { "f8_e8m0", 0xFE, 0x1p127 },
    { "f4_e2m1", 0x1, 0.5 }, { "f4_e2m1", 0x2, 1 }, { "f4_e2m1", 0x3, 1.5 }, { "f4_e2m1", 0x5, 3 }, { "f4_e2m1", 0x7, 6 }, { "f4_e2m1", 0xF, -6 },
  };
  static const struct { const char *dtype; uint64_t code; } nans[] = {
    { "f16", 0x7C01 }, { "f16", 0xFE00 }, { "bf16", 0x7F81 }, { "bf16", 0xFFC0 }, { "f8_e4m3fn", 0x7F }, { "f8_e4m3fn", 0xFF },
    { "f8_e5m2", 0x7D }, { "f8_e5m2", 0xFF }, { "f8_e4m3fnuz", 0x80 }, { "f8_e5m2fnuz", 0x80 }, { "f8_e8m0", 0xFF },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *d = named(rows[i].dtype);
    uint64_t element = 0;
    double value;
    float narrow;
    store(&element, d->width, rows[i].code);
    assert_int_equal(zt_convert(d, &element, named("f64"), &value, 1), 1);
    assert_int_equal(zt_convert(d, &element, named("f32"), &narrow, 1), 1);
    check( value==rows[i].value && (double)narrow==rows[i].value, "%s %llx: %g", rows[i].dtype, (unsigned long long)rows[i].code, value );
    assert_true(zt_scalar_of(d, &element).real==rows[i].value);
  }
  for(size_t i=0; i<COUNT(nans); i++){
    const zt_dtype *d = named(nans[i].dtype);
    uint64_t element = 0;
    double value = 0;
    store(&element, d->width, nans[i].code);
    assert_int_equal(zt_convert(d, &element, named("f64"), &value, 1), 1);
    check( isnan(value) && isnan(zt_scalar_of(d, &element).real), "%s %llx: %g", nans[i].dtype, (unsigned long long)nans[i].code, value );
  }
}

TEST(test_every_code_of_small_floats_comes_back){
  for(const type *t=types; t<types+COUNT(types); t++){
    const zt_dtype *d;
    if( !is_small(t) ) continue;
    d = dtype(t);
    for(int wide=0; wide<2; wide++){
      const zt_dtype *w = dtype(wide ? F64 : F32);
      size_t n = (size_t)codes(t);
      uint8_t *small = malloc(n*d->width), *back = malloc(n*d->width);
      uint64_t *large = malloc(n*8);
      for(uint64_t c=0; c<n; c++) store(small+c*d->width, d->width, c);
      assert_int_equal(zt_convert(d, small, w, large, n), n);
      assert_int_equal(zt_convert(w, large, d, back, n), n);
      for(uint64_t c=0; c<codes(t); c++){
        uint64_t got = load(back+c*d->width, d->width);
        if( value_of(t, c).is==NOT_A_NUMBER ) check( value_of(t, got).is==NOT_A_NUMBER, "%s %llx: %llx", t->name, (unsigned long long)c, (unsigned long long)got );
        else check( got==c, "%s %llx: %llx", t->name, (unsigned long long)c, (unsigned long long)got );
      }
      free(small);
      free(back);
      free(large);
    }
  }
}

/* --- Halfway between two neighbours, and the numbers next to it --- */

/* A number, the doubles and the floats beside it, of both signs; floats where it is one. */
static void add_around(list *doubles, list *floats, double x){
  for(int sign=-1; sign<2; sign+=2){
    double s = sign*x;
    add_code(doubles, bits_of(s));
    add_code(doubles, bits_of(nextafter(s, HUGE_VAL)));
    add_code(doubles, bits_of(nextafter(s, -HUGE_VAL)));
    if( (double)(float)s!=s ) continue;
    add_code(floats, bits_of_float((float)s));
    add_code(floats, bits_of_float(nextafterf((float)s, HUGE_VALF)));
    add_code(floats, bits_of_float(nextafterf((float)s, -HUGE_VALF)));
  }
}

TEST(test_every_halfway_point_of_small_floats){
  for(const type *t=types; t<types+COUNT(types); t++){
    list doubles = { 0 }, floats = { 0 };
    if( !is_small(t) ) continue;
    for(int64_t c=t->kind==E8M0 ? -1 : 0; c<=t->largest; c++){
      add_around(&doubles, &floats, (magnitude(t, c)+magnitude(t, c+1))/2);
      add_around(&doubles, &floats, magnitude(t, c));
    }
    add_around(&doubles, &floats, magnitude(t, t->largest+1));
    check_list(F64, &doubles, t);
    check_list(F32, &floats, t);
    free(doubles.a);
    free(floats.a);
  }
}

TEST(test_halfway_points_of_f32){
  list doubles = { 0 }, floats = { 0 };
  uint64_t seed = 32;
  for(int i=0; i<60000; i++){
    int64_t c = (int64_t)random_below(&seed, 0x7F800000);
    if( i<512 ) c = i;                                /* Subnormal */
    else if( i<1024 ) c = 0x800000-256+(i-512);       /* Around the least normal */
    else if( i<1536 ) c = 0x7F7FFFFF-(i-1024);        /* The largest */
    else if( i<2046 ) c = (int64_t)(i/2-767)<<23;      /* Powers of two: neighbours are not equally far */
    add_around(&doubles, &floats, (magnitude(F32, c)+magnitude(F32, c+1))/2);
    add_around(&doubles, &floats, magnitude(F32, c));
  }
  check_list(F64, &doubles, F32);
  free(doubles.a);
  free(floats.a);
}

/* An f64 that lies beside a halfway point by less than f32 can tell, which a detour through f32 would lose. */
TEST(test_f64_to_small_floats_is_rounded_once){
  static const struct { double from; const char *to; uint64_t code; } rows[] = {
    { 1+0x1p-11, "f16", 0x3C00 }, { 1+0x1p-11+0x1p-40, "f16", 0x3C01 }, { 1+3*0x1p-11, "f16", 0x3C02 },
    { 1+3*0x1p-11-0x1p-40, "f16", 0x3C01 }, { 1+0x1p-8, "bf16", 0x3F80 }, { 1+0x1p-8+0x1p-50, "bf16", 0x3F81 },
    { 1+0x1p-4+0x1p-52, "f8_e4m3fn", 0x39 }, { 1+0x1p-3+0x1p-52, "f8_e5m2", 0x3D }, { 0x1p-25+0x1p-70, "f16", 0x0001 },
    { 0x1p-25, "f16", 0x0000 }, { 65520-0x1p-30, "f16", 0x7BFF }, { 65520, "f16", 0x7C00 }, { 464, "f8_e4m3fn", 0x7E },
    { 464+0x1p-40, "f8_e4m3fn", 0x7F }, { 5e-324, "f16", 0 }, { -5e-324, "bf16", 0x8000 }, { 1e308, "bf16", 0x7F80 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *to = named(rows[i].to);
    uint64_t got = 0;
    assert_int_equal(zt_convert(named("f64"), &rows[i].from, to, &got, 1), 1);
    check( load(&got, to->width)==rows[i].code, "%.17g to %s: %llx", rows[i].from, rows[i].to, (unsigned long long)load(&got, to->width) );
  }
}

/* Bit patterns of f32 all over, in one call (vectors, the processor's own f16) and, some of them, one at a time. */
TEST(test_a_large_sample_of_f32_to_f16_and_bf16){
  enum { STEP = 1009, N = 0x100000000/STEP };
  uint32_t *src = malloc(4*(size_t)N);
  uint16_t *dst = malloc(2*(size_t)N);
  for(size_t i=0; i<N; i++) src[i] = (uint32_t)(i*STEP + i%7);
  for(const type *t=F16; t<=BF16; t++){
    assert_int_equal(zt_convert(named("f32"), src, dtype(t), dst, N), N);
    for(size_t i=0; i<N; i++) check_code(F32, src[i], t, true, dst[i]);
    for(size_t i=0; i<N; i+=5){
      uint16_t one;
      assert_int_equal(zt_convert(named("f32"), &src[i], dtype(t), &one, 1), 1);
      if( one!=dst[i] ) fail_msg("%s: %08x alone is %04x, among others %04x", t->name, src[i], one, dst[i]);
    }
  }
  free(src);
  free(dst);
}

/* Every subnormal f16 and what lies between them, in f32, is in the tests above only as far as it is halfway. */
TEST(test_every_f32_around_small_f16){
  list l = { 0 };
  for(uint32_t e=0; e<40; e++){
    for(uint32_t m=0; m<4096; m++){
      add_code(&l, (127-30+e)<<23 | m<<11 | m%3);
      add_code(&l, (uint64_t)1<<31 | (127-30+e)<<23 | m<<11 | (m%5 ? 0 : 0x7FF));
    }
  }
  check_list(F32, &l, F16);
  free(l.a);
}

/* --- Integers --- */

static void add_integer(list *l, const type *t, uint64_t u){
  uint64_t most = t->bits==64 ? UINT64_MAX : codes(t)-1;
  add_code(l, u & most);
  add_code(l, (0-u) & most);
}

/* Odd numbers of p+1 bits, shifted: halfway between two floats of p bits; and what is next to them. */
TEST(test_integers_to_floats_are_rounded_once){
  for(const type *from=types; from<types+COUNT(types); from++){
    if( from->kind!=SIGNED && from->kind!=UNSIGNED ) continue;
    for(const type *to=types; to<types+COUNT(types); to++){
      list l = { 0 };
      uint64_t seed = to->bits*100+to->mantissa;
      if( !is_float(to) ) continue;
      for(unsigned shift=0; shift<64; shift++){
        for(int k=0; k<20; k++){
          uint64_t least = (uint64_t)1 << (to->mantissa+1), odd = least + (random64(&seed)>>8)%least;
          if( k==0 ) odd = 2*least-1;
          if( k==1 ) odd = least+1;
          if( k==2 ) odd = least+3;
          odd |= 1;
          if( odd<<shift>>shift!=odd ) continue;
          for(uint64_t near=0; near<3; near++) add_integer(&l, from, (odd<<shift)+near-1);
        }
      }
      check_list(from, &l, to);
      free(l.a);
    }
  }
}

/* --- Every pair --- */

/* All codes of a type of up to 16 bits; of others where something happens, and many more. */
static list samples(const type *t){
  static const double around[] = { 0, 0.5, 1, 1.5, 2, 6, 7, 8, 127, 128, 129, 255, 256, 257, 448, 464, 480, 32767, 32768, 32769, 65504, 65519, 65520,
    65535, 65536, 65537, 2147483647.0, 2147483648.0, 2147483649.0, 4294967295.0, 4294967296.0, 4294967297.0, 9007199254740993.0,
    9223372036854774784.0, 9223372036854775808.0, 18446744073709549568.0, 18446744073709551616.0, FLT_MAX, FLT_MIN, DBL_MIN, 0x1p-149, 0x1p-127, DBL_MAX };
  list l = { 0 }, other = { 0 };
  uint64_t seed = 7+t->bits;
  if( t->bits<=16 ) return all_codes(t);
  for(size_t i=0; i<COUNT(around) && is_float(t); i++){
    if( t==F64 ) add_around(&l, &other, around[i]);
    else if( around[i]<=FLT_MAX ) add_around(&other, &l, around[i]);
    for(double less=0.25; less<1; less+=0.25){   /* Truncation removes it */
      if( t==F64 ) add_around(&l, &other, around[i]+less);
      else if( around[i]<=FLT_MAX ) add_around(&other, &l, around[i]+less);
    }
  }
  for(int b=0; b<64 && !is_float(t); b++){
    for(uint64_t near=0; near<5; near++) add_integer(&l, t, ((uint64_t)1<<b)+near-2);
  }
  for(int i=0; i<4000; i++){
    uint64_t r = random64(&seed);
    if( is_float(t) ){   /* Any pattern, and any exponent near those of small types */
      add_code(&l, t==F64 ? r : r & 0xFFFFFFFF);
      if( t==F64 ) add_code(&l, (r & 0x800FFFFFFFFFFFFF) | (uint64_t)(1023-30+i%100)<<52);
      else add_code(&l, (r & 0x807FFFFF) | (uint64_t)(127-30+i%100)<<23);
    }else{
      add_integer(&l, t, r >> i%64);
    }
  }
  if( is_float(t) ){
    static const uint64_t special[] = { 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001,
      0xFFFFFFFFFFFFFFFF, 0x8000000000000000, 1, 0x8000000000000001 };
    for(size_t i=0; i<COUNT(special) && t==F64; i++) add_code(&l, special[i]);
    for(size_t i=0; i<COUNT(special) && t==F32; i++) add_code(&l, (special[i]>>32 & 0x80000000) | (i<6 ? 0x7F800000 | special[i]>>29 | (i>3) : special[i] & 1));
  }
  free(other.a);
  return l;
}

TEST(test_every_pair_of_types){
  for(const type *from=types; from<types+COUNT(types); from++){
    list l = samples(from);
    for(const type *to=types; to<types+COUNT(types); to++){
      assert_true(zt_convertible(dtype(from), dtype(to)));
      if( from!=to ) check_list(from, &l, to);
    }
    free(l.a);
  }
}

TEST(test_a_type_to_itself_keeps_every_bit){
  for(const type *t=types; t<types+COUNT(types); t++){
    const zt_dtype *d = dtype(t);
    list l = samples(t);
    uint8_t *src = malloc(l.n*d->width), *dst = malloc(l.n*d->width);
    for(size_t i=0; i<l.n; i++) store(src+i*d->width, d->width, l.a[i]);
    assert_int_equal(zt_convert(d, src, d, dst, l.n), l.n);
    assert_memory_equal(src, dst, l.n*d->width);
    free(src);
    free(dst);
    free(l.a);
  }
}

/* --- What cannot be converted --- */

TEST(test_truncation_and_the_first_that_does_not_fit){
  static const struct { const char *to; double least, most; } rows[] = {   /* Doubles that just fit; the next ones do not */
    { "i8", -128.99999999999997, 127.99999999999999 }, { "u8", -0.99999999999999989, 255.99999999999997 },
    { "i16", -32768.999999999993, 32767.999999999996 }, { "u16", -0.99999999999999989, 65535.999999999993 },
    { "i32", -2147483648.9999995, 2147483647.9999998 }, { "u32", -0.99999999999999989, 4294967295.9999995 },
    { "i64", -9223372036854775808.0, 9223372036854774784.0 }, { "u64", -0.99999999999999989, 18446744073709549568.0 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *to = named(rows[i].to);
    double bad[] = { nextafter(rows[i].least, -HUGE_VAL), nextafter(rows[i].most, HUGE_VAL), (double)NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e300 };
    uint64_t got = 0, want = to->class==ZT_INT ? ~(uint64_t)0 << (8*to->width-1) : 0, mask = to->width<8 ? ((uint64_t)1 << 8*to->width)-1 : ~(uint64_t)0;
    assert_int_equal(zt_convert(named("f64"), &rows[i].least, to, &got, 1), 1);
    check( load(&got, to->width)==(want & mask), "%s: %llx", rows[i].to, (unsigned long long)got );
    assert_int_equal(zt_convert(named("f64"), &rows[i].most, to, &got, 1), 1);
    want = to->class==ZT_INT ? mask/2 : mask;
    if( to->width==8 ) want -= to->class==ZT_INT ? 1023 : 2047;
    check( load(&got, to->width)==want, "%s: %llx", rows[i].to, (unsigned long long)got );
    for(size_t k=0; k<COUNT(bad); k++) check( zt_convert(named("f64"), &bad[k], to, &got, 1)==0, "%s: %g", rows[i].to, bad[k] );
  }
}

/* At any index, in blocks and between them. */
TEST(test_the_index_of_what_cannot_be_converted){
  static const struct { const char *from; uint64_t bad; const char *to; } rows[] = {
    { "f64", 0x7FF8000000000000, "i32" }, { "f32", 0x7FC00000, "u8" }, { "f16", 0x7E00, "i64" }, { "bf16", 0x7F80, "u16" }, { "f8_e4m3fn", 0x7F, "i8" },
    { "i64", 0x8000000000000000, "u64" }, { "i8", 0xFF, "u8" }, { "u64", 0x8000000000000000, "i64" }, { "u16", 0x100, "u8" }, { "i32", 128, "i8" },
    { "f32", 0, "f8_e8m0" }, { "f64", 0, "f8_e8m0" }, { "i16", 0, "f8_e8m0" }, { "u8", 0, "f8_e8m0" }, { "f32", 0x41000000, "f4_e2m1" },
    { "f16", 0x7C00, "f4_e2m1" }, { "i64", 7, "f4_e2m1" }, { "f64", 0x7FF0000000000000, "f4_e2m1" }, { "f8_e5m2", 0x7C, "i16" }, { "f32", 0x4B800000, "u16" },
  };
  static const size_t at[] = { 0, 1, 7, 8, 15, 16, 31, 33, 1023, 1024, 1025, 2047, 2048, 2999 };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *from = named(rows[i].from), *to = named(rows[i].to);
    uint64_t one = 0, want = 0;
    uint8_t u8 = 1;
    assert_int_equal(zt_convert(named("u8"), &u8, from, &one, 1), 1);   /* A 1, which every type has */
    assert_int_equal(zt_convert(named("u8"), &u8, to, &want, 1), 1);
    for(size_t k=0; k<COUNT(at); k++){
      uint8_t *src = malloc(3000*from->width), *dst = malloc(3000*to->width);
      for(size_t e=0; e<3000; e++) memcpy(src+e*from->width, &one, from->width);
      store(src+at[k]*from->width, from->width, rows[i].bad);
      check( zt_convert(from, src, to, dst, 3000)==at[k], "%s to %s at %zu", rows[i].from, rows[i].to, at[k] );
      for(size_t e=0; e<at[k]; e++) check( memcmp(dst+e*to->width, &want, to->width)==0, "%s to %s: %zu", rows[i].from, rows[i].to, e );
      check( zt_convert(from, src, to, dst, at[k])==at[k], "%s to %s before %zu", rows[i].from, rows[i].to, at[k] );
      free(src);
      free(dst);
    }
  }
}

/* --- Lengths and places --- */

static const char *const all_names[] = { "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool", "f8_e4m3fn",
  "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz", "f8_e8m0", "f4_e2m1", "i4", "u4", "i2", "u2", "complex64", "complex128" };

/* Elements of a type that nearly every other can express: 1 and 2. */
static void put_elements(const zt_dtype *d, uint8_t *p, size_t n){
  for(size_t i=0; i<n; i++){
    uint8_t u8 = (uint8_t)(d->class==ZT_BOOL ? i%2 : d->id==ZT_DTYPE_i2 ? 1 : (uint64_t)1 << i*i%3);
    assert_int_equal(zt_convert(named("u8"), &u8, d, p+i*d->width, 1), 1);
  }
}

/* Some elements at once, wherever they begin, are what each is alone; nothing is written before them or behind. */
TEST(test_some_at_once_are_as_one_at_a_time){
  enum { MOST = 40 };
  static const size_t more[] = { 1023, 1024, 1025, 2050 };
  for(size_t a=0; a<COUNT(all_names); a++){
    const zt_dtype *from = named(all_names[a]);
    for(size_t b=0; b<COUNT(all_names); b++){
      const zt_dtype *to = named(all_names[b]);
      if( !zt_convertible(from, to) ) continue;
      for(size_t k=0; k<=MOST+COUNT(more); k++){
        size_t n = k<=MOST ? k : more[k-MOST-1], shift = k%5, room = (n+shift+2)*to->width;
        uint8_t *src = malloc((n+shift)*from->width+1), *dst = malloc(room), *want = malloc(room);
        size_t possible;
        put_elements(from, src, n+shift);
        memset(dst, 0xA5, room);
        memset(want, 0xA5, room);
        for(possible=0; possible<n; possible++){
          if( zt_convert(from, src+(shift+possible)*from->width, to, want+(shift+possible)*to->width, 1)!=1 ) break;
        }
        check( zt_convert(from, src+shift*from->width, to, dst+shift*to->width, n)==possible, "%s to %s, %zu", from->name, to->name, n );
        check( memcmp(dst, want, (shift+possible)*to->width)==0, "%s to %s, %zu at %zu", from->name, to->name, n, shift );
        check( memcmp(dst+(n+shift)*to->width, want+(n+shift)*to->width, 2*to->width)==0, "%s to %s, %zu: written behind", from->name, to->name, n );
        free(src);
        free(dst);
        free(want);
      }
    }
  }
}

/* Any bits, not only tame ones: both ways that f16 has in one processor give the same. */
TEST(test_all_f16_alone_and_in_eights){
  uint16_t *half = malloc(65536*2), *back = malloc(65536*2);
  float *wide = malloc(65536*4);
  for(uint32_t c=0; c<65536; c++) half[c] = (uint16_t)c;
  assert_int_equal(zt_convert(named("f16"), half, named("f32"), wide, 65536), 65536);
  assert_int_equal(zt_convert(named("f32"), wide, named("f16"), back, 65536), 65536);
  for(uint32_t c=0; c<65536; c++){
    float one;
    uint16_t one_back;
    assert_int_equal(zt_convert(named("f16"), &half[c], named("f32"), &one, 1), 1);
    assert_int_equal(zt_convert(named("f32"), &wide[c], named("f16"), &one_back, 1), 1);
    if( bits_of_float(one)!=bits_of_float(wide[c]) ) fail_msg("f16 %04x alone is %08x, among others %08x", c, bits_of_float(one), bits_of_float(wide[c]));
    if( one_back!=back[c] ) fail_msg("f32 %08x alone is %04x, among others %04x", bits_of_float(wide[c]), one_back, back[c]);
  }
  free(half);
  free(back);
  free(wide);
}

TEST(test_all_fp8_alone_and_in_eights){
  static const char *const names[] = { "f8_e4m3fn", "f8_e5m2" };
  for(size_t t=0; t<COUNT(names); t++){
    uint8_t code[256+3];
    float wide[256+3], one;
    for(size_t i=0; i<COUNT(code); i++) code[i] = (uint8_t)(i*11);   /* NaN, infinity and others side by side */
    assert_int_equal(zt_convert(named(names[t]), code, named("f32"), wide, COUNT(code)), COUNT(code));
    for(size_t i=0; i<COUNT(code); i++){
      assert_int_equal(zt_convert(named(names[t]), &code[i], named("f32"), &one, 1), 1);
      check( bits_of_float(one)==bits_of_float(wide[i]), "%s %02x alone is %08x, among others %08x", names[t], code[i],
             bits_of_float(one), bits_of_float(wide[i]) );
    }
  }
}

#if defined(__SSE2__)
#include <xmmintrin.h>

/* A host may have told its processor to take subnormal numbers for 0. */
TEST(test_decoding_when_subnormal_numbers_are_flushed){
  unsigned before = _mm_getcsr();
  for(const type *t=types; t<types+COUNT(types); t++){
    const zt_dtype *d;
    uint8_t *src;
    uint32_t *normal, *flushed;
    if( !is_small(t) ) continue;
    d = dtype(t);
    src = malloc(codes(t)*d->width);
    normal = malloc(codes(t)*4);
    flushed = malloc(codes(t)*4);
    for(uint64_t c=0; c<codes(t); c++) store(src+c*d->width, d->width, c);
    assert_int_equal(zt_convert(d, src, named("f32"), normal, codes(t)), codes(t));
    _mm_setcsr(before | 0x8040);
    zt_convert(d, src, named("f32"), flushed, codes(t));
    _mm_setcsr(before);
    for(uint64_t c=0; c<codes(t); c++) check( normal[c]==flushed[c], "%s %llx: %08x, %08x", t->name, (unsigned long long)c, normal[c], flushed[c] );
    free(src);
    free(normal);
    free(flushed);
  }
}
#endif

/* --- Complex numbers --- */

TEST(test_complex_numbers){
  const zt_dtype *c64 = named("complex64"), *c128 = named("complex128");
  float narrow[4] = { 1.5f, -0.0f, (float)NAN, HUGE_VALF }, back[4];
  double wide[4], large[2] = { 1+0x1p-24, 1e300 };
  for(size_t i=0; i<COUNT(all_names); i++){
    const zt_dtype *d = named(all_names[i]);
    assert_int_equal(zt_convertible(c64, d), d==c64 || d==c128);
    assert_int_equal(zt_convertible(c128, d), d==c64 || d==c128);
    assert_true(zt_convertible(d, c64) && zt_convertible(d, c128));
  }
  assert_int_equal(zt_convert(c64, narrow, c128, wide, 2), 2);
  assert_true(wide[0]==1.5 && wide[1]==0 && signbit(wide[1]) && isnan(wide[2]) && wide[3]==HUGE_VAL);
  assert_int_equal(zt_convert(c128, wide, c64, back, 2), 2);
  assert_true(back[0]==1.5f && back[1]==0 && signbit(back[1]) && isnan(back[2]) && back[3]==HUGE_VALF);
  assert_int_equal(zt_convert(c128, large, c64, back, 1), 1);
  assert_true(back[0]==1 && back[1]==HUGE_VALF);
}

TEST(test_real_numbers_become_complex_ones){
  for(const type *t=types; t<types+COUNT(types); t++){
    const zt_dtype *d = dtype(t);
    list l = samples(t);
    uint8_t *src = malloc(l.n*d->width);
    float *f32 = malloc(l.n*4), *c64 = malloc(l.n*8);
    double *f64 = malloc(l.n*8), *c128 = malloc(l.n*16);
    for(size_t i=0; i<l.n; i++) store(src+i*d->width, d->width, l.a[i]);
    assert_int_equal(zt_convert(d, src, named("f32"), f32, l.n), l.n);
    assert_int_equal(zt_convert(d, src, named("f64"), f64, l.n), l.n);
    assert_int_equal(zt_convert(d, src, named("complex64"), c64, l.n), l.n);
    assert_int_equal(zt_convert(d, src, named("complex128"), c128, l.n), l.n);
    for(size_t i=0; i<l.n; i++){
      if( memcmp(&c64[2*i], &f32[i], 4) || bits_of_float(c64[2*i+1]) ) fail_msg("%s %llx to complex64", t->name, (unsigned long long)l.a[i]);
      if( memcmp(&c128[2*i], &f64[i], 8) || bits_of(c128[2*i+1]) ) fail_msg("%s %llx to complex128", t->name, (unsigned long long)l.a[i]);
    }
    free(src);
    free(f32);
    free(f64);
    free(c64);
    free(c128);
    free(l.a);
  }
}

/* --- Bytes --- */

TEST(test_swapping_bytes){
  static const unsigned units[] = { 1, 2, 4, 8 };
  for(size_t u=0; u<COUNT(units); u++){
    for(size_t n=0; n<=140; n+=units[u]){
      for(size_t shift=0; shift<3; shift++){
        uint8_t *p = malloc(n+shift+1);
        for(size_t i=0; i<n+shift+1; i++) p[i] = (uint8_t)(i*7+3);
        zt_swap_bytes(p+shift, n, units[u]);
        for(size_t i=0; i<n+shift+1; i++){
          size_t k = i-shift, from = i<shift || k>=n ? i : shift + k/units[u]*units[u] + units[u]-1-k%units[u];
          check( p[i]==(uint8_t)(from*7+3), "%zu bytes in units of %u: byte %zu", n, units[u], i );
        }
        free(p);
      }
    }
  }
}

TEST(test_packing_and_unpacking){
  static const char *const names[] = { "f4_e2m1", "i4", "u4", "i2", "u2" };
  uint8_t packed[21], elements[84], again[21];
  for(size_t i=0; i<sizeof(packed); i++) packed[i] = (uint8_t)(i*37+11);
  for(size_t k=0; k<COUNT(names); k++){
    const zt_dtype *d = named(names[k]);
    unsigned each = d->elements, bits = 8/each, mask = (1u<<bits)-1;
    for(unsigned first=0; first<each; first++){
      for(size_t n=0; n<=each*20-first; n++){
        memset(elements, 0xEE, sizeof(elements));
        zt_unpack(d, packed, first, elements, n);
        for(size_t i=0; i<n; i++){   /* The first is in the lowest bits */
          unsigned code = packed[(first+i)/each] >> bits*((first+i)%each) & mask;
          check( elements[i]==code, "%s from %u: %zu of %zu", d->name, first, i, n );
        }
        check( elements[n]==0xEE, "%s from %u: %zu", d->name, first, n );
      }
    }
    for(size_t n=0; n<=each*20; n++){
      memset(again, 0xEE, sizeof(again));
      zt_unpack(d, packed, 0, elements, n);
      zt_pack(d, elements, again, n);
      assert_memory_equal(again, packed, n/each);
      if( n%each ) assert_int_equal(again[n/each], packed[n/each] & ((1u<<bits*(n%each))-1));   /* Surplus bits are 0 */
      assert_int_equal(again[(n+each-1)/each], 0xEE);
    }
  }
  memset(elements, 0xF3, 5);
  zt_pack(named("u4"), elements, again, 3);   /* The low bits of a larger byte count */
  assert_true(again[0]==0x33 && again[1]==0x03);
  zt_pack(named("i2"), elements, again, 5);
  assert_true(again[0]==0xFF && again[1]==0x03);
}

/* --- Sums --- */

/* The expected sum; false: there is none. */
static void check_sum(const type *t, uint64_t a, uint64_t b){
  const zt_dtype *d = dtype(t);
  uint64_t cell = 0, value = 0, mask = t->bits<64 ? codes(t)-1 : ~(uint64_t)0, want;
  number x = value_of(t, a), y = value_of(t, b), sum = { .is = NUMBER };
  bool added, can = true, nan = false;
  double r, s;
  store(&cell, d->width, a);
  store(&value, d->width, b);
  added = zt_add(d, &cell, &value);
  if( t->kind==BOOL ){
    want = a || b;
  }else if( !is_float(t) ){
    want = (a+b) & mask;
  }else{
    r = x.is==NOT_A_NUMBER ? (double)NAN : x.is==INFINITE ? HUGE_VAL : x.d;
    s = y.is==NOT_A_NUMBER ? (double)NAN : y.is==INFINITE ? HUGE_VAL : y.d;
    r = (x.negative ? -r : r) + (y.negative ? -s : s);   /* Twice as many bits as the type has and two more: rounded as if once */
    if( isnan(r) ) sum.is = NOT_A_NUMBER;
    if( isinf(r) ) sum.is = INFINITE;
    sum.negative = signbit(r) && !isnan(r);
    sum.d = fabs(r);
    can = expected(t, &sum, &want, &nan);
    if( nan ) want = t->nan | (t->kind==FN && sum.is!=NOT_A_NUMBER && sum.negative ? 0x80 : 0);
  }
  check( added==can, "%s %llx + %llx: %s", t->name, (unsigned long long)a, (unsigned long long)b, added ? "added" : "not" );
  if( can ) check( load(&cell, d->width)==want, "%s %llx + %llx: %llx, expected %llx", t->name, (unsigned long long)a, (unsigned long long)b,
                   (unsigned long long)load(&cell, d->width), (unsigned long long)want );
}

TEST(test_sums_of_every_type){
  for(const type *t=types; t<types+COUNT(types); t++){
    uint64_t seed = 99+t->mantissa;
    list l;
    if( t->bits<=8 ){
      for(uint64_t a=0; a<codes(t); a++) for(uint64_t b=0; b<codes(t); b++) check_sum(t, a, b);
      continue;
    }
    l = samples(t);
    for(int i=0; i<60000; i++){
      uint64_t a = l.a[random_below(&seed, l.n)], b = l.a[random_below(&seed, l.n)];
      uint64_t near = (a & ~(uint64_t)0xFF) + random_below(&seed, 256);   /* Of about the same size */
      check_sum(t, a, b);
      check_sum(t, a, t->bits<64 ? near & (codes(t)-1) : near);
    }
    free(l.a);
  }
}

TEST(test_sums_of_complex_numbers){
  float a[2] = { 1, HUGE_VALF }, b[2] = { 0x1p-24f, -HUGE_VALF };
  double c[2] = { -0.0, 1 }, d[2] = { 0.0, 0x1p-52 };
  assert_true(zt_add(named("complex64"), a, b));
  assert_true(a[0]==1 && bits_of_float(a[1])==0x7FC00000);
  assert_true(zt_add(named("complex128"), c, d));
  assert_true(bits_of(c[0])==0 && c[1]==1+0x1p-52);
}

TEST(test_sums_that_wrap_and_sums_that_a_type_does_not_have){
  static const struct { const char *dtype; uint64_t a, b, sum; bool can; } rows[] = {
    { "i8", 0x7F, 1, 0x80, true }, { "u8", 0xFF, 1, 0, true }, { "i16", 0x8000, 0xFFFF, 0x7FFF, true }, { "u16", 0xFFFF, 0xFFFF, 0xFFFE, true },
    { "i32", 0x7FFFFFFF, 1, 0x80000000, true }, { "u32", 0xFFFFFFFF, 2, 1, true }, { "i64", INT64_MAX, 1, (uint64_t)1<<63, true },
    { "u64", UINT64_MAX, 1, 0, true }, { "bool", 1, 1, 1, true }, { "bool", 2, 0, 1, true }, { "bool", 0, 0, 0, true },
    { "f16", 0x7BFF, 0x7BFF, 0x7C00, true }, { "f8_e5m2", 0x7B, 0x7B, 0x7C, true }, { "f8_e4m3fn", 0x7E, 0x7E, 0x7F, true },
    { "f8_e4m3fnuz", 0x7F, 0x7F, 0x80, true }, { "f4_e2m1", 7, 7, 0, false }, { "f4_e2m1", 7, 1, 7, true }, { "f8_e8m0", 0xFE, 0xFE, 0, false },
    { "f8_e8m0", 0, 0, 1, true }, { "f8_e8m0", 0xFF, 5, 0xFF, true }, { "f16", 0x7C00, 0xFC00, 0x7E00, true }, { "bf16", 0xFFFF, 0, 0x7FC0, true },
    { "f32", 0xFF800001, 0, 0x7FC00000, true }, { "f64", 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, true },
    { "f32", 0x80000000, 0, 0, true }, { "f32", 0x80000000, 0x80000000, 0x80000000, true }, { "f16", 0x3C00, 0x1000, 0x3C00, true }, { "f16", 0x3C01, 0x1000, 0x3C02, true },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *d = named(rows[i].dtype);
    uint64_t cell = 0, value = 0;
    store(&cell, d->width, rows[i].a);
    store(&value, d->width, rows[i].b);
    check( zt_add(d, &cell, &value)==rows[i].can, "row %zu", i );
    check( !rows[i].can || load(&cell, d->width)==rows[i].sum, "row %zu, %s: %llx", i, rows[i].dtype, (unsigned long long)load(&cell, d->width) );
  }
}

/* --- Single values --- */

TEST(test_scalars){
  float c64[2] = { 1.5f, -2 };
  double c128[2] = { 0x1p-1000, -0.0 };
  zt_scalar s;
  for(const type *t=types; t<types+COUNT(types); t++){
    list l = samples(t);
    const zt_dtype *d = dtype(t);
    for(size_t i=0; i<l.n; i++){
      number x = value_of(t, l.a[i]);
      uint64_t element = 0;
      bool ok;
      store(&element, d->width, l.a[i]);
      s = zt_scalar_of(d, &element);
      if( is_float(t) ) ok = x.is==NOT_A_NUMBER ? isnan(s.real) : x.is==INFINITE ? s.real==(x.negative ? -HUGE_VAL : HUGE_VAL)
                           : bits_of(s.real)==bits_of(x.negative ? -x.d : x.d);
      else if( t->kind==SIGNED ) ok = (uint64_t)s.i==(x.negative ? 0-x.u : x.u);
      else ok = s.u==x.u;
      if( !ok || s.class!=d->class ) fail_msg("%s %llx", t->name, (unsigned long long)l.a[i]);
    }
    free(l.a);
  }
  s = zt_scalar_of(named("complex64"), c64);
  assert_true(s.class==ZT_COMPLEX && s.real==1.5 && s.imag==-2);
  s = zt_scalar_of(named("complex128"), c128);
  assert_true(s.class==ZT_COMPLEX && s.real==0x1p-1000 && s.imag==0 && signbit(s.imag));
}

TEST(test_names_that_a_user_may_give){
  static const struct { const char *name, *ours; } others[] = {
    { "float32", "f32" }, { "torch.float32", "f32" }, { "F32", "f32" }, { "<f4", "f32" }, { "double", "f64" },
    { "torch.half", "f16" }, { "bfloat16", "bf16" }, { "BF16", "bf16" }, { "|u1", "u8" }, { "U8", "u8" },
    { "torch.bool", "bool" }, { "BOOL", "bool" }, { "F8_E4M3", "f8_e4m3fn" }, { "float8_e5m2fnuz", "f8_e5m2fnuz" },
    { "torch.complex64", "complex64" }, { "<c16", "complex128" }, { "F4", "f4_e2m1" }, { "int4", "i4" }, { "torch.uint4", "u4" }, { "I2", "i2" }, { "uint2", "u2" },
  };
  static const char *const unknown[] = { "float", "", "f3", "float3", "float322", "Float32", "torch.", "torch.f32", "torch.F32",
                                         "torch.<f4", ">f4", "f4", "F8_E4M3FN", "torch.torch.int8" };
  for(size_t i=0; i<COUNT(all_names); i++){
    zt_error err = ZT_ERROR_NONE;
    const zt_dtype *d;
    assert_int_equal(zt_dtype_find((zt_text){ all_names[i], strlen(all_names[i]) }, &d, &err), SQLITE_OK);
    assert_string_equal(d->name, all_names[i]);
  }
  for(size_t i=0; i<COUNT(others); i++){
    zt_error err = ZT_ERROR_NONE;
    const zt_dtype *d;
    blob b = exact(others[i].name, strlen(others[i].name));   /* Nothing is read beyond it */
    assert_int_equal(zt_dtype_find((zt_text){ (char*)b.p, b.n }, &d, &err), SQLITE_OK);
    assert_string_equal(d->name, others[i].ours);
    assert_null(strcmp(others[i].name, others[i].ours) ? zt_dtype_named((zt_text){ (char*)b.p, b.n }) : NULL);
    free(b.p);
  }
  for(size_t i=0; i<COUNT(unknown); i++){
    zt_error err = ZT_ERROR_NONE;
    const zt_dtype *d = (const zt_dtype*)&err;
    char want[100];
    assert_int_equal(zt_dtype_find((zt_text){ unknown[i], strlen(unknown[i]) }, &d, &err), SQLITE_ERROR);
    assert_null(d);
    snprintf(want, sizeof(want), "dtype '%s' is not known: there are f64, f32, f16, bf16, i64, ", unknown[i]);
    assert_failed(&err, want, unknown[i]);
  }
}

int main(void){
  return run_all("convert", NULL, NULL);
}
