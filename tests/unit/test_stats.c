/*
** Statistics of values: tensor/stats.h. Two passes in long double give the expected ones.
*/
#include "tensors.h"

#include <float.h>
#include <math.h>
#include "tensor/stats.h"

/* --- The reference --- */

typedef struct reference {
  uint64_t elements, zeros, nans, infs, finite;
  double low, high;
  long double mean, std, l2;
  long double summed;      /* Mean of the absolute values */
} reference;

static bool is_finite(double x){
  return !isnan(x) && !isinf(x);
}

/* Of n values and zeros that are not among them. Squares are of distances to a double near the mean, which loses nothing. */
static reference reference_of(const double *p, size_t n, uint64_t more_zeros){
  reference r = { .elements = n+more_zeros, .zeros = more_zeros, .low = HUGE_VAL, .high = -HUGE_VAL };
  long double sum = 0, distance = 0, squares = 0, origin = 0, near, count;
  for(size_t i=0; i<n; i++){
    r.nans += isnan(p[i])!=0;
    r.infs += isinf(p[i])!=0;
    if( !is_finite(p[i]) ) continue;
    r.finite++;
    r.zeros += p[i]==0;
    sum += (long double)p[i];
    r.summed += fabsl((long double)p[i]);
    origin += (long double)p[i]*(long double)p[i];
    if( p[i]<r.low ) r.low = p[i];
    if( p[i]>r.high ) r.high = p[i];
  }
  r.finite += more_zeros;
  if( more_zeros && r.low>0 ) r.low = 0;
  if( more_zeros && r.high<0 ) r.high = 0;
  if( r.finite==0 ) return r;
  count = (long double)r.finite;
  near = more_zeros ? 0 : (long double)fmax(fmin((double)(sum/count), DBL_MAX), -DBL_MAX);
  for(size_t i=0; i<n; i++){
    long double d = (long double)p[i]-near;
    if( !is_finite(p[i]) ) continue;
    distance += d;
    squares += d*d;
  }
  r.mean = near + distance/count;
  r.std = sqrtl(fmaxl(squares - distance*distance/count, 0)/count);
  r.l2 = sqrtl(origin);
  r.summed /= count;
  return r;
}

static unsigned faults;   /* Those of one test are all shown */

static int no_faults(void **state){
  unsigned n = faults;
  (void)state;
  faults = 0;
  return n>0;
}

/* Within 1e-12 of it or, where sums cancel out, of what is summed up. A number that f64 does not have is the next one. */
static void check_near(double x, long double want, long double summed, const char *what, const char *row){
  long double distance = fabsl((long double)x-want);
  if( distance<=1e-12L*fabsl(want) || distance<=1e-12L*summed || distance<=0x1p-1074L ) return;
  if( want>(long double)DBL_MAX*(1-1e-12L) && isinf(x) ) return;
  print_error("%s: %s is %.17g, expected %.17Lg\n", row, what, x, want);
  faults++;
}

static void check_real_stats(const zt_stats *s, const reference *r, const char *row){
  check( s->elements==r->elements, "%s: %llu", row, (unsigned long long)s->elements );
  check( s->nans==r->nans && s->infs==r->infs, "%s: %llu NaN, %llu infinities", row, (unsigned long long)s->nans, (unsigned long long)s->infs );
  check( s->finite==r->finite, "%s: %llu", row, (unsigned long long)s->finite );
  check( s->zeros==r->zeros, "%s: %llu", row, (unsigned long long)s->zeros );
  if( r->finite==0 ) return;
  check_near(s->mean, r->mean, r->summed, "mean", row);
  check_near(s->std, r->std, 0, "std", row);
  check_near(s->l2, r->l2, 0, "l2", row);
}

/* --- Objects --- */

static zt_stats stats_of_object(const recipe *r, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_stats s;
  zt_tensor t;
  opened o;
  memset(&s, 0xA5, sizeof(s));
  open_recipe(&o, r, NULL, row);
  open_tensor(&o, &t, row);
  zt_stats_compute(&t, &s, &err);
  assert_succeeded(&err, row);
  zt_tensor_close(&t);
  close_opened(&o);
  return s;
}

/* Values as a dense object of that type, which must have them. */
static recipe dense_of(const char *dtype, const char *logical, const double *p, size_t n){
  recipe r = { .format = "dense", .rank = 1, .shape = { n } };
  blob data = { 0 };
  for(size_t i=0; i<n; i++) put_real(&data, logical ? logical : dtype, p[i]);
  add_part(&r, "data", dtype, logical, data);
  return r;
}

/* The same, its zeros not stored, the others in an order that is not theirs. */
static recipe sparse_of(const char *dtype, const char *logical, const double *p, size_t n){
  recipe r = { .format = "sparse_coo", .rank = 1, .shape = { n } };
  blob values = { 0 }, coords = { 0 };
  for(size_t k=0; k<n; k++){
    size_t i = n-1-k;
    if( p[i]==0 && i%3 ) continue;   /* Some zeros are stored, though */
    put_real(&values, logical ? logical : dtype, p[i]);
    put_bits(&coords, i, 4);
  }
  add_part(&r, "values", dtype, logical, values);
  add_part(&r, "coords", "u32", NULL, coords);
  return r;
}

static void check_values_as(const char *dtype, const char *logical, const double *p, size_t n, const char *what){
  reference want = reference_of(p, n, 0);
  for(int sparse=0; sparse<2; sparse++){
    recipe r = sparse ? sparse_of(dtype, logical, p, n) : dense_of(dtype, logical, p, n);
    char row[200];
    zt_stats s;
    snprintf(row, sizeof(row), "%s, %s, %s", what, logical ? logical : dtype, sparse ? "sparse" : "dense");
    s = stats_of_object(&r, row);
    check_real_stats(&s, &want, row);
    if( want.finite ){
      check( s.min.class==ZT_FLOAT && s.max.class==ZT_FLOAT, "%s", row );
      check( s.min.real==want.low && s.max.real==want.high, "%s: %g to %g", row, s.min.real, s.max.real );
    }
    clear_recipe(&r);
  }
}

static void check_values(const double *p, size_t n, const char *what){
  check_values_as("f64", NULL, p, n, what);
}

/* --- Hard numbers --- */

static double uniform(uint64_t *seed){
  return (double)(random64(seed)>>11)*0x1p-53;
}

/* Nearly normal: 0 and 1 */
static double normal(uint64_t *seed){
  double x = -6;
  for(int i=0; i<12; i++) x += uniform(seed);
  return x;
}

#define N 100000

static double values[N];

/* value of element i for a row's numbers. */
typedef double (*maker)(size_t i, uint64_t *seed);

static double far(size_t i, uint64_t *seed){ (void)i; return 1e8+1e-3*normal(seed); }
static double very_far(size_t i, uint64_t *seed){ (void)i; return -1e15+normal(seed); }
static double far_and_sorted(size_t i, uint64_t *seed){ (void)seed; return 1e8+1e-6*(double)i; }
static double around_zero(size_t i, uint64_t *seed){ (void)i; return normal(seed); }
static double steps(size_t i, uint64_t *seed){ return (double)(i/4096)*1e6+1e-4*normal(seed); }
static double outlier_first(size_t i, uint64_t *seed){ return i==0 ? 1e12 : normal(seed); }
static double outlier_8(size_t i, uint64_t *seed){ return i==0 ? 1e8 : normal(seed); }
static double outlier_last(size_t i, uint64_t *seed){ return i==N-1 ? -1e12 : normal(seed); }
static double outlier_in_each_block(size_t i, uint64_t *seed){ return i%4096==0 ? 1e9 : normal(seed); }
static double outlier_then_far(size_t i, uint64_t *seed){ return i==0 ? -1e10 : 1e3+normal(seed); }
static double small_after_large(size_t i, uint64_t *seed){ return i<10 ? 1e16 : uniform(seed); }
static double constant(size_t i, uint64_t *seed){ (void)i; (void)seed; return 0.1; }
static double huge(size_t i, uint64_t *seed){ (void)i; return 1e300*normal(seed); }
static double largest(size_t i, uint64_t *seed){ (void)seed; return i%2 ? DBL_MAX : -DBL_MAX; }
static double all_largest(size_t i, uint64_t *seed){ (void)i; (void)seed; return DBL_MAX; }
static double tiny(size_t i, uint64_t *seed){ (void)i; return 1e-300*normal(seed); }
static double least(size_t i, uint64_t *seed){ (void)seed; return i%2 ? 5e-324 : -5e-324; }
static double all_least(size_t i, uint64_t *seed){ (void)i; (void)seed; return 5e-324; }
static double tiny_among_zeros(size_t i, uint64_t *seed){ return i%7 ? 0 : 1e-300*normal(seed); }
static double tiny_after_zeros(size_t i, uint64_t *seed){ return i<20000 ? 0 : 1e-300*normal(seed); }
static double zeros_after_tiny(size_t i, uint64_t *seed){ return i>20000 ? 0 : 1e-300*normal(seed); }
static double least_after_zeros(size_t i, uint64_t *seed){ (void)seed; return i<20000 ? 0 : 5e-324; }
static double huge_after_zeros(size_t i, uint64_t *seed){ return i<20000 ? 0 : 1e300*normal(seed); }
static double huge_among_tiny(size_t i, uint64_t *seed){ return (i%5 ? 1e-300 : 1e300)*normal(seed); }
static double tiny_then_huge(size_t i, uint64_t *seed){ return (i<N/2 ? 1e-300 : 1e300)*normal(seed); }
static double huge_then_tiny(size_t i, uint64_t *seed){ return (i<N/2 ? 1e300 : 1e-300)*normal(seed); }
static double all_exponents(size_t i, uint64_t *seed){ return ldexp(normal(seed), (int)(i%2000)-1000); }
static double rising(size_t i, uint64_t *seed){ return ldexp(normal(seed), (int)(i/50)-1000); }
static double falling(size_t i, uint64_t *seed){ return ldexp(normal(seed), 1000-(int)(i/50)); }
static double near_1e150(size_t i, uint64_t *seed){ (void)i; return 1e150*(0.5+uniform(seed)); }
static double near_tiny_bound(size_t i, uint64_t *seed){ (void)i; return 1e-140*(0.5+uniform(seed)); }
/* The first, the middle and the last of a block are what sums may be taken around */
static double three_outliers_in_each_block(size_t i, uint64_t *seed){ return i%4096==0 || i%4096==2048 || i%4096==4095 ? 1e9 : normal(seed); }
static double far_and_a_zero(size_t i, uint64_t *seed){ return i%4096==2048 ? 0 : 1e8+normal(seed); }
static double far_and_zero_first(size_t i, uint64_t *seed){ return i%4096==0 ? 0 : -1e12+normal(seed); }
static double far_and_zero_last(size_t i, uint64_t *seed){ return i%4096==4095 || i==4999 || i==N-1 ? 1e-300 : 1e8+1e-3*normal(seed); }
static double far_both_ways(size_t i, uint64_t *seed){ return (i%2 ? 1e8 : -1e8)+normal(seed); }
static double all_zero(size_t i, uint64_t *seed){ (void)seed; return i%2 ? 0.0 : -0.0; }

TEST_WITH(test_hard_numbers, NULL, no_faults){
#define ROW(f) { #f, f }
  static const struct { const char *what; maker make; } rows[] = {
    ROW(far), ROW(very_far), ROW(far_and_sorted), ROW(around_zero), ROW(steps), ROW(outlier_first), ROW(outlier_8), ROW(outlier_last), ROW(outlier_in_each_block),
    ROW(outlier_then_far), ROW(small_after_large), ROW(constant), ROW(huge), ROW(largest), ROW(all_largest), ROW(tiny), ROW(least), ROW(all_least),
    ROW(tiny_among_zeros), ROW(zeros_after_tiny), ROW(huge_after_zeros), ROW(huge_among_tiny), ROW(tiny_then_huge), ROW(huge_then_tiny), ROW(all_exponents), ROW(rising),
    ROW(falling), ROW(near_1e150), ROW(near_tiny_bound), ROW(all_zero), ROW(three_outliers_in_each_block), ROW(far_and_a_zero), ROW(far_and_zero_first), ROW(far_and_zero_last), ROW(far_both_ways),
    ROW(tiny_after_zeros), ROW(least_after_zeros),
  };
#undef ROW
  for(size_t i=0; i<COUNT(rows); i++){
    static const size_t lengths[] = { 2, 1000, 4096, 5000, N };
    for(size_t k=0; k<COUNT(lengths); k++){
      uint64_t seed = 5;
      char row[100];
      for(size_t e=0; e<lengths[k]; e++) values[e] = rows[i].make(e, &seed);
      snprintf(row, sizeof(row), "%s, %zu", rows[i].what, lengths[k]);
      check_values(values, lengths[k], row);
    }
  }
}

/* --- NaN, infinities and lengths --- */

TEST_WITH(test_every_length_with_something_not_finite_anywhere, NULL, no_faults){
  static const size_t lengths[] = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33 };
  static const char *const dtypes[] = { "f64", "f32", "f16", "bf16" };
  for(size_t d=0; d<COUNT(dtypes); d++){
    for(size_t k=0; k<COUNT(lengths); k++){
      size_t n = lengths[k];
      for(size_t at=0; at<=n; at++){   /* n: nowhere */
        for(int what=0; what<3; what++){
          static const double odd[] = { (double)NAN, HUGE_VAL, -HUGE_VAL };
          char row[100];
          for(size_t i=0; i<n; i++) values[i] = i==at ? odd[what] : (double)((int)(i*5%11)-4)*0.25;
          snprintf(row, sizeof(row), "%zu, %g at %zu", n, odd[what], at);
          check_values_as(dtypes[d], NULL, values, n, row);
        }
      }
    }
  }
}

TEST_WITH(test_blocks_with_something_not_finite, NULL, no_faults){
  static const size_t lengths[] = { 4095, 4096, 4097, 8192, 8193, 20000 };
  static const size_t places[] = { 0, 1, 4094, 4095, 4096, 8191, 8192, 19999 };
  for(size_t k=0; k<COUNT(lengths); k++){
    for(size_t p=0; p<COUNT(places); p++){
      uint64_t seed = 6;
      char row[100];
      for(size_t i=0; i<lengths[k]; i++) values[i] = (double)(float)normal(&seed);
      values[places[p]%lengths[k]] = k%2 ? (double)NAN : HUGE_VAL;
      snprintf(row, sizeof(row), "%zu, at %zu", lengths[k], places[p]%lengths[k]);
      check_values(values, lengths[k], row);
      check_values_as("f32", NULL, values, lengths[k], row);
    }
  }
}

TEST_WITH(test_nothing_finite, NULL, no_faults){
  for(size_t n=0; n<10000; n=n*3+1){
    for(size_t i=0; i<n; i++) values[i] = i%3==0 ? HUGE_VAL : i%3==1 ? (double)NAN : -HUGE_VAL;
    check_values(values, n, "nothing finite");
    check_values_as("f16", NULL, values, n, "nothing finite");
    for(size_t i=0; i<n; i++) values[i] = (double)NAN;
    check_values(values, n, "all NaN");
    check_values_as("f32", NULL, values, n, "all NaN");
    check_values_as("u8", "f8_e4m3fnuz", values, n, "all NaN");
  }
}

/* --- Types --- */

TEST_WITH(test_floats_of_every_type, NULL, no_faults){
  static const struct { const char *dtype, *logical; double unit; } rows[] = { { "f64", NULL, 0.125 }, { "f32", NULL, 0.125 }, { "f16", NULL, 0.125 }, { "bf16", NULL, 0.125 },
    { "u8", "f8_e4m3fn", 0.5 }, { "u8", "f8_e5m2", 1 }, { "u8", "f8_e4m3fnuz", 0.5 }, { "u8", "f8_e5m2fnuz", 1 } };
  uint64_t seed = 7;
  for(size_t i=0; i<COUNT(rows); i++){
    size_t m = rows[i].unit<1 ? 15 : 7;
    for(size_t k=0; k<10000; k++) values[k] = ((double)random_below(&seed, m)-3)*rows[i].unit;
    check_values_as(rows[i].dtype, rows[i].logical, values, 10000, "a few values");
  }
  for(size_t k=0; k<N; k++) values[k] = (double)(float)(1e8+8*normal(&seed));
  check_values_as("f32", NULL, values, N, "far");
  for(size_t k=0; k<N; k++) values[k] = (double)(float)(1e38*normal(&seed)/8);
  check_values_as("f32", NULL, values, N, "large");
  for(size_t k=0; k<N; k++) values[k] = (double)(float)(1e-44*normal(&seed));
  check_values_as("f32", NULL, values, N, "subnormal");
  for(size_t k=0; k<N; k++) values[k] = k%2 ? (double)FLT_MAX : -(double)FLT_MAX;
  check_values_as("f32", NULL, values, N, "the largest");
}

/* Bounds of integers are exact, where f64 would not tell them from their neighbours. */
TEST_WITH(test_integers_at_their_bounds, NULL, no_faults){
  static const struct { const char *dtype; size_t n; uint64_t values[4], low, high; } rows[] = {
    { "i64", 2, { 0x7FFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFE }, 0x7FFFFFFFFFFFFFFE, 0x7FFFFFFFFFFFFFFF },
    { "i64", 2, { 0x8000000000000000, 0x8000000000000001 }, 0x8000000000000000, 0x8000000000000001 },
    { "i64", 3, { 0x8000000000000000, 0, 0x7FFFFFFFFFFFFFFF }, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF },
    { "i64", 1, { 9007199254740993 }, 9007199254740993, 9007199254740993 }, { "i64", 2, { (uint64_t)-5, (uint64_t)-3 }, (uint64_t)-5, (uint64_t)-3 },
    { "u64", 2, { UINT64_MAX, UINT64_MAX-1 }, UINT64_MAX-1, UINT64_MAX }, { "u64", 2, { 5, 3 }, 3, 5 }, { "u64", 1, { 0 }, 0, 0 },
    { "i32", 2, { 0x80000000, 0x7FFFFFFF }, 0xFFFFFFFF80000000, 0x7FFFFFFF }, { "u32", 2, { 0xFFFFFFFF, 1 }, 1, 0xFFFFFFFF },
    { "i16", 2, { 0x8000, 0x7FFF }, (uint64_t)-32768, 32767 }, { "u16", 2, { 0xFFFF, 2 }, 2, 0xFFFF }, { "i8", 3, { 0x80, 0x7F, 0 }, (uint64_t)-128, 127 },
    { "u8", 2, { 255, 254 }, 254, 255 }, { "bool", 3, { 1, 0, 1 }, 0, 1 }, { "bool", 2, { 1, 2 }, 1, 1 }, { "bool", 1, { 0 }, 0, 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int sparse=0; sparse<3; sparse++){   /* The last with an element that is not stored */
      recipe r = { .format = sparse ? "sparse_coo" : "dense", .rank = 1, .shape = { rows[i].n+(sparse==2) } };
      const zt_dtype *d = named(rows[i].dtype);
      uint64_t low = rows[i].low, high = rows[i].high;
      blob data = { 0 }, coords = { 0 };
      char row[50];
      zt_stats s;
      for(size_t k=0; k<rows[i].n; k++){
        put_bits(&data, rows[i].values[k], d->width);
        put_byte(&coords, (unsigned)(rows[i].n-1-k));
      }
      add_part(&r, sparse ? "values" : "data", rows[i].dtype, NULL, data);
      if( sparse ) add_part(&r, "coords", "u8", NULL, coords);
      else free(coords.p);
      snprintf(row, sizeof(row), "row %zu, %d", i, sparse);
      s = stats_of_object(&r, row);
      if( sparse==2 ){
        if( d->class==ZT_INT ){
          if( (int64_t)low>0 ) low = 0;
          if( (int64_t)high<0 ) high = 0;
        }else{
          low = 0;
        }
      }
      check( s.min.class==d->class && s.max.class==d->class, "%s", row );
      if( d->class==ZT_INT ) check( s.min.i==(int64_t)low && s.max.i==(int64_t)high, "%s: %lld to %lld", row, (long long)s.min.i, (long long)s.max.i );
      else check( s.min.u==low && s.max.u==high, "%s: %llu to %llu", row, (unsigned long long)s.min.u, (unsigned long long)s.max.u );
      check( s.finite==s.elements && s.nans==0 && s.infs==0, "%s", row );
      clear_recipe(&r);
    }
  }
}

/* Mean, std and l2 of integers, whose squares f64 holds as well as any. */
TEST_WITH(test_integers_of_every_type, NULL, no_faults){
  static const char *const dtypes[] = { "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool" };
  for(size_t d=0; d<COUNT(dtypes); d++){
    const zt_dtype *t = named(dtypes[d]);
    recipe r = { .format = "dense", .rank = 1, .shape = { 30000 } };
    uint64_t seed = 8;
    blob data = { 0 };
    reference want;
    zt_stats s;
    for(size_t i=0; i<30000; i++){
      uint64_t u = t->class==ZT_BOOL ? random_below(&seed, 2) : random64(&seed);
      uint8_t element[8];
      if( i%5==0 ) u = 0;
      if( t->width==8 ) u &= 0x800FFFFFFFFFFFFF;   /* As f64 without loss; those of i64 then come from far below 0 */
      if( t->class==ZT_INT && t->width==8 ) u = (uint64_t)((int64_t)u/1048576);
      if( t->width==8 && t->class==ZT_UINT ) u &= 0x000FFFFFFFFFFFFF;
      put_bits(&data, u, t->width);
      memcpy(element, data.p+data.n-t->width, t->width);
      if( zt_big_endian() ) zt_swap_bytes(element, t->width, t->unit);
      assert_int_equal(zt_convert(t, element, named("f64"), &values[i], 1), 1);
    }
    add_part(&r, "data", dtypes[d], NULL, data)->storing = ZSTD;
    want = reference_of(values, 30000, 0);
    s = stats_of_object(&r, dtypes[d]);
    check_real_stats(&s, &want, dtypes[d]);
    clear_recipe(&r);
  }
}

TEST_WITH(test_complex_numbers_have_none, NULL, no_faults){
  static const char *const formats[] = { "dense", "sparse_coo" };
  for(int i=0; i<2; i++){
    for(int wide=0; wide<2; wide++){
      recipe r = { .format = formats[i], .rank = 1, .shape = { 1 } };
      zt_error err = ZT_ERROR_NONE;
      blob data = { 0 }, coords = { 0 };
      zt_stats s;
      zt_tensor t;
      opened o;
      put_repeated(&data, 0, wide ? 16 : 8);
      put_byte(&coords, 0);
      add_part(&r, i ? "values" : "data", wide ? "f64" : "f32", wide ? "complex128" : "complex64", data);
      add_part(&r, "coords", "u8", NULL, coords);
      open_recipe(&o, &r, NULL, "complex");
      open_tensor(&o, &t, "complex");
      assert_int_equal(zt_stats_compute(&t, &s, &err), SQLITE_ERROR);
      assert_failed(&err, wide ? "complex numbers have no order: there are no statistics of complex128" : "complex numbers have no order: there are no statistics of complex64", "complex");
      zt_tensor_close(&t);
      close_opened(&o);
      clear_recipe(&r);
    }
  }
}

/* --- Other layouts --- */

TEST_WITH(test_values_of_one_cell_count_once, NULL, no_faults){
  recipe r = { .format = "sparse_coo", .rank = 2, .shape = { 10, 10 } };
  double want[] = { 3, -1, HUGE_VAL, 0 };   /* 1+2, -1, inf, 5-5, and what is not stored */
  static const double stored[] = { 1, -1, HUGE_VAL, 5, 2, -5 };
  static const uint8_t rows[] = { 1, 1, 9, 4, 1, 4 }, columns[] = { 2, 3, 9, 4, 2, 4 };
  blob data = { 0 }, coords = { 0 };
  reference expected = reference_of(want, 4, 96);
  zt_stats s;
  for(size_t i=0; i<6; i++) put_real(&data, "f32", stored[i]);
  put(&coords, rows, 6);
  put(&coords, columns, 6);
  add_part(&r, "values", "f32", NULL, data);
  add_part(&r, "coords", "u8", NULL, coords);
  s = stats_of_object(&r, "one cell");
  check_real_stats(&s, &expected, "one cell");
  assert_true(s.zeros==97 && s.infs==1 && s.min.real==-1 && s.max.real==3);
  clear_recipe(&r);
}

TEST_WITH(test_sparse_objects_of_unusual_shapes, NULL, no_faults){
  static const struct { uint32_t rank; uint64_t shape[3]; size_t n; } rows[] = {
    { 0, { 0 }, 1 }, { 0, { 0 }, 0 }, { 1, { 0 }, 0 }, { 3, { 5, 0, 2 }, 0 }, { 1, { 9 }, 0 }, { 2, { (uint64_t)1<<32, (uint64_t)1<<31 }, 3 }, { 1, { (uint64_t)1<<52 }, 1 }, { 1, { 1000000 }, 3 }, { 2, { 100000, 100000 }, 3 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = { .format = "sparse_coo", .rank = rows[i].rank };
    double stored[] = { 1e6, -2, 3 };
    uint64_t elements = 1;
    blob data = { 0 }, coords = { 0 };
    reference want;
    char row[50];
    zt_stats s;
    for(uint32_t d=0; d<r.rank; d++) elements *= r.shape[d] = rows[i].shape[d];
    for(size_t k=0; k<rows[i].n; k++) put_real(&data, "f64", stored[k]);
    for(uint32_t d=0; d<r.rank; d++) for(size_t k=0; k<rows[i].n; k++) put_bits(&coords, r.shape[d]-1-k, 8);
    add_part(&r, "coords", "u64", NULL, coords);
    add_part(&r, "values", "f64", NULL, data);
    want = reference_of(stored, rows[i].n, elements-rows[i].n);
    snprintf(row, sizeof(row), "shape %zu", i);
    s = stats_of_object(&r, row);
    check_real_stats(&s, &want, row);
    if( want.finite ) check( s.min.real==want.low && s.max.real==want.high, "%s: %g to %g", row, s.min.real, s.max.real );
    clear_recipe(&r);
  }
}

TEST_WITH(test_quantized_groups_have_those_of_their_values, NULL, no_faults){
  recipe r = { .format = "quantized_group", .rank = 2, .shape = { 40, 1024 } };
  blob words = { 0 }, scales = { 0 }, zeros = { 0 };
  uint64_t seed = 9;
  reference want;
  zt_stats s;
  put_map(&r.attributes, 3);
  put_key_uint(&r.attributes, "bits", 4);
  put_key_uint(&r.attributes, "group_size", 32);
  put_key_text(&r.attributes, "packing", "8_per_u32");
  for(size_t g=0; g<40*1024/32; g++){
    double scale = g==77 ? HUGE_VAL : 0.25*(double)(1+random_below(&seed, 8));
    put_real(&scales, "f16", scale);
    put_real(&zeros, "i8", 8);
    for(size_t k=0; k<32; k+=2){
      uint8_t byte = (uint8_t)random_below(&seed, 256);
      put_byte(&words, byte);
      values[g*32+k] = ((double)(byte & 15)-8)*scale;
      values[g*32+k+1] = ((double)(byte>>4)-8)*scale;
    }
  }
  add_part(&r, "packed_weight", "u32", NULL, words);
  add_part(&r, "scales", "f16", NULL, scales);
  add_part(&r, "zeros", "i8", NULL, zeros);
  want = reference_of(values, 40*1024, 0);
  assert_true(want.infs>0);
  s = stats_of_object(&r, "quantized");
  check_real_stats(&s, &want, "quantized");
  assert_true(s.min.real==want.low && s.max.real==want.high);
  clear_recipe(&r);
}

/* A failure of reading is one of statistics. */
TEST_WITH(test_a_fault_of_the_content, NULL, no_faults){
  static const double some[] = { 1, 2, 3, 4 };
  recipe r = dense_of("f32", NULL, some, 4);
  zt_error err = ZT_ERROR_NONE;
  zt_stats s;
  zt_tensor t;
  opened o;
  blob file;
  r.parts[0].storing = ZSTD;
  file = file_of(&r);
  file.p[64+8] ^= 0xFF;
  open_bytes(&o, file, "fault");
  open_tensor(&o, &t, "fault");
  assert_int_equal(zt_stats_compute(&t, &s, &err), SQLITE_ERROR);
  assert_failed(&err, "component 'data': zstd: ", "fault");
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

int main(void){
  if( LDBL_MAX_EXP<=DBL_MAX_EXP ){
    print_message("stats: long double is no wider than double here, nothing to compare with\n");
    return 0;
  }
  return run_all("stats", NULL, NULL);
}
