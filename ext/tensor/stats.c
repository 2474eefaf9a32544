/*
** Statistics of a tensor's values. See stats.h.
**
** Elements are taken in blocks that fit the nearest cache. A block's sums are those of the
** distances to one of its elements, or to their mean if that is far from it, so that a small spread
** far from 0, or beside a few outliers, stays precise. Blocks are merged by the method of Chan,
** Golub and LeVeque, and the sums are kept in twice the digits. If f64 cannot hold the numbers'
** squares, sums are taken in units of a power of two.
**
** The sum of f64 is exact: the numbers of a block are cut into slices that f64 adds up without
** rounding (Rump's ExtractVector). The sum of narrower floats is not, but f64 has room for the
** digits of many. REFERENCE.md states the bounds of both. Integers are in integers.c.
*/
#include "tensor/stats.h"

#include <math.h>
#include "core/host.h"
#include "core/vector.h"
#include "tensor/broadcast.h"
#include "tensor/conversions.h"
#include "tensor/exact.h"
#include "tensor/integers.h"
#include "tensor/ranges.h"

#define STATS_BLOCK ZT_INTEGERS_BLOCK
/* Between these bounds, f64 holds the squares of any number of numbers. 2^64 squares of 1e144 add
** up to 1.8e307. A small square, or one of a distance, loses up to 2^-1075, and 2^64 of them lose
** 2^-1011. Different numbers up to x are at least x*2^-54 apart, and the square of that (2^-906 for
** 1e-120) makes the loss negligible. */
#define STATS_HUGE_SQUARE 1e144
#define STATS_TINY_SQUARE 1e-120
#define STATS_SUM_LANES 32         /* Parallel sums */
#define STATS_BOUND_LANES 32       /* Parallel bounds and counts */
/* The largest part of the squared distances to an origin that may be due to the mean's distance.
** Near 1, few digits remain; 0.9 is a mean 3 standard deviations away, which few blocks have. */
#define STATS_FAR 0.9
/* Bits. For numbers below 2^e, a block's first slices are multiples of 2^(e-STATS_SLICE), so that
** 4,096 of them are less than 2^53 units; the rests are below 2^(e-STATS_SLICE-1). */
#define STATS_SLICE 40
/* The bits of a sum of 4,096 rests that f64 holds, down to the smallest number's last digit. */
#define STATS_SPAN (STATS_SLICE+1-12)

/* high + low, for sums whose rounding errors matter. */
typedef struct stats_twofold {
  double high, low;
} stats_twofold;

/* Moments of finite numbers, in units of 2^exponent (squares: 2^(2*exponent)). */
typedef struct stats_moments {
  uint64_t n;
  int exponent;
  stats_twofold sum;
  stats_twofold squares;   /* Sum of the squared distances to the mean */
  stats_twofold origin;    /* Sum of the squared distances to 0 */
} stats_moments;

typedef struct stats_accumulator {
  const zt_dtype *dtype;
  uint64_t zeros, nans, infs;
  stats_moments all;              /* Floats only */
  double low, high;               /* Floats only */
  zt_real_sum exact;              /* f64 only */
  zt_integers integers;           /* Integers only, including their zeros */
  ZT_NUMBERS(STATS_BLOCK) wide;   /* A block as the wide type */
  double real[STATS_BLOCK];       /* Its finite numbers, as f64 */
} stats_accumulator;

/* The sums over a block. */
typedef struct stats_sums {
  double distance, square;    /* Of the distances to the loop's origin, and of their squares */
  double low, high;
  uint64_t zeros;
  double least;               /* The smallest absolute value but 0; f64 only */
  double slices, rests;       /* The sum of the numbers, in two parts; f64 only */
} stats_sums;

/* Lanes are arrays, and the loops over them are innermost: compilers vectorise these without
** changing the order of a sum. (Bounds are compared without fmin() and fmax(), which make gcc 12
** for ARM fail with an internal error.) */
#define STATS_SUMS(name, T) \
  ZT_VECTOR static void stats_sum_##name(const T *restrict p, size_t n, double origin, \
                                         stats_sums *restrict out){ \
    double distance[STATS_SUM_LANES] = { 0 }, square[STATS_SUM_LANES] = { 0 }; \
    size_t i = 0; \
    for(; i+STATS_SUM_LANES<=n; i+=STATS_SUM_LANES){ \
      const T *q = p+i; \
      for(size_t k=0; k<STATS_SUM_LANES; k++){ \
        double d = (double)q[k] - origin; \
        distance[k] += d; \
        square[k] += d*d; \
      } \
    } \
    for(; i<n; i++){ \
      double d = (double)p[i] - origin; \
      distance[0] += d; \
      square[0] += d*d; \
    } \
    for(size_t k=0; k<STATS_SUM_LANES; k++){ \
      out->distance += distance[k]; \
      out->square += square[k]; \
    } \
  }

#define STATS_BOUNDS(name, T, Count) \
  ZT_VECTOR static void stats_bound_##name(const T *restrict p, size_t n, \
                                           stats_sums *restrict out){ \
    T low[STATS_BOUND_LANES], high[STATS_BOUND_LANES]; \
    Count zeros[STATS_BOUND_LANES] = { 0 }; \
    size_t i = 0; \
    for(size_t k=0; k<STATS_BOUND_LANES; k++) low[k] = high[k] = p[0]; \
    for(; i+STATS_BOUND_LANES<=n; i+=STATS_BOUND_LANES){ \
      const T *q = p+i; \
      for(size_t k=0; k<STATS_BOUND_LANES; k++){ \
        low[k] = q[k]<low[k] ? q[k] : low[k]; \
        high[k] = q[k]>high[k] ? q[k] : high[k]; \
        zeros[k] += q[k]==0; \
      } \
    } \
    for(; i<n; i++){ \
      low[0] = p[i]<low[0] ? p[i] : low[0]; \
      high[0] = p[i]>high[0] ? p[i] : high[0]; \
      zeros[0] += p[i]==0; \
    } \
    for(size_t k=0; k<STATS_BOUND_LANES; k++){ \
      if( (double)low[k]<out->low ) out->low = (double)low[k]; \
      if( (double)high[k]>out->high ) out->high = (double)high[k]; \
      out->zeros += zeros[k]; \
    } \
  }

STATS_SUMS(f32, float)
STATS_BOUNDS(f32, float, uint32_t)
STATS_BOUNDS(f64, double, uint64_t)

ZT_VECTOR static void stats_least(const double *restrict p, size_t n, stats_sums *restrict out){
  double least[STATS_BOUND_LANES];
  size_t i = 0;
  for(size_t k=0; k<STATS_BOUND_LANES; k++) least[k] = HUGE_VAL;
  for(; i+STATS_BOUND_LANES<=n; i+=STATS_BOUND_LANES){
    const double *q = p+i;
    for(size_t k=0; k<STATS_BOUND_LANES; k++){
      const double x = fabs(q[k]), y = x==0 ? HUGE_VAL : x;
      least[k] = y<least[k] ? y : least[k];
    }
  }
  for(; i<n; i++){
    const double x = fabs(p[i]);
    if( x!=0 && x<least[0] ) least[0] = x;
  }
  for(size_t k=0; k<STATS_BOUND_LANES; k++){
    if( least[k]<out->least ) out->least = least[k];
  }
}

/* Add up the squares of the distances to the origin, and the numbers in two parts: slices and
** rests. `cutter` is 1.5*2^52 units of the slices: adding it rounds to a whole unit. */
ZT_VECTOR static void stats_sum_f64(const double *restrict p, size_t n, double origin,
                                    double cutter, stats_sums *restrict out){
  double square[STATS_SUM_LANES] = { 0 }, sum[STATS_SUM_LANES] = { 0 };
  double rest[STATS_SUM_LANES] = { 0 };
  size_t i = 0;
  for(; i+STATS_SUM_LANES<=n; i+=STATS_SUM_LANES){
    const double *q = p+i;
    for(size_t k=0; k<STATS_SUM_LANES; k++){
      const double x = q[k], d = x-origin, cut = x+cutter, slice = cut-cutter;
      square[k] += d*d;
      sum[k] += slice;
      rest[k] += x-slice;
    }
  }
  for(; i<n; i++){
    const double x = p[i], d = x-origin, cut = x+cutter, slice = cut-cutter;
    square[0] += d*d;
    sum[0] += slice;
    rest[0] += x-slice;
  }
  for(size_t k=0; k<STATS_SUM_LANES; k++){
    out->square += square[k];
    out->slices += sum[k];
    out->rests += rest[k];
  }
}

/* Cut slices off the numbers, and return the sum of the slices. */
ZT_VECTOR static double stats_slice(const double *from, double *to, size_t n, double cutter){
  double sum[STATS_SUM_LANES] = { 0 }, all = 0;
  size_t i = 0;
  for(; i+STATS_SUM_LANES<=n; i+=STATS_SUM_LANES){
    const double *q = from+i;
    double *r = to+i;
    for(size_t k=0; k<STATS_SUM_LANES; k++){
      const double x = q[k], cut = x+cutter, slice = cut-cutter;
      sum[k] += slice;
      r[k] = x-slice;
    }
  }
  for(; i<n; i++){
    const double x = from[i], cut = x+cutter, slice = cut-cutter;
    sum[0] += slice;
    to[i] = x-slice;
  }
  for(size_t k=0; k<STATS_SUM_LANES; k++) all += sum[k];
  return all;
}

#define STATS_SUMS_NONE ((stats_sums){ .low = HUGE_VAL, .high = -HUGE_VAL, .least = HUGE_VAL })

/* --- Merging --- */

static stats_twofold stats_add_twofold(stats_twofold a, stats_twofold b){
  double s = a.high+b.high, part = s-a.high;
  double rest = (a.high-(s-part)) + (b.high-part) + a.low + b.low;
  return (stats_twofold){ s+rest, rest-((s+rest)-s) };
}

static stats_twofold stats_times(double a, double b){
  double p = a*b;
  return (stats_twofold){ p, fma(a, b, -p) };
}

static stats_twofold stats_divided(stats_twofold a, double b){
  double q = a.high/b;
  return (stats_twofold){ q, (fma(-q, b, a.high) + a.low)/b };
}

static stats_twofold stats_scaled(stats_twofold a, int by){
  return (stats_twofold){ ldexp(a.high, by), ldexp(a.low, by) };
}

static void stats_rescale(stats_moments *m, int exponent){
  int by = m->exponent-exponent;
  m->sum = stats_scaled(m->sum, by);
  m->squares = stats_scaled(m->squares, 2*by);
  m->origin = stats_scaled(m->origin, 2*by);
  m->exponent = exponent;
}

/* Zeros need no unit. */
static bool stats_all_zero(const stats_moments *m){
  return m->sum.high==0 && m->squares.high==0 && m->origin.high==0;
}

static void stats_merge(stats_moments *all, stats_moments m){
  double n = (double)all->n, k = (double)m.n, delta;
  stats_twofold a, b;
  if( m.n==0 ) return;
  if( all->n==0 ){
    *all = m;
    return;
  }
  if( stats_all_zero(&m) ) m.exponent = all->exponent;
  if( stats_all_zero(all) ) all->exponent = m.exponent;
  if( all->exponent<m.exponent ) stats_rescale(all, m.exponent);
  else stats_rescale(&m, all->exponent);
  a = stats_divided(all->sum, n);
  b = stats_divided(m.sum, k);
  delta = (b.high-a.high) + (b.low-a.low);
  all->n += m.n;
  all->sum = stats_add_twofold(all->sum, m.sum);
  all->squares = stats_add_twofold(all->squares, m.squares);
  all->squares = stats_add_twofold(all->squares, (stats_twofold){ delta*delta*(n/(n+k)*k), 0 });
  all->origin = stats_add_twofold(all->origin, m.origin);
}

/* True if the mean of n numbers is so far from the origin that the sums are imprecise: they must be
** taken again, around *mean. */
static bool stats_is_far(const stats_sums *s, size_t n, double origin, double *mean){
  const double away = s->distance/(double)n;
  *mean = origin+away;
  return s->distance*away>STATS_FAR*s->square && *mean!=origin;
}

static void stats_take_sums(stats_accumulator *a, const stats_sums *s, uint64_t n, double origin,
                            int exponent){
  const double k = (double)n, squares = fmax(s->square - s->distance*s->distance/k, 0);
  const stats_twofold sum = stats_add_twofold(stats_times(k, origin),
                                              (stats_twofold){ s->distance, 0 });
  stats_merge(&a->all, (stats_moments){ n, exponent, sum, { squares, 0 },
                                        { squares + sum.high*sum.high/k, 0 } });
}

/* Return the origin of distances: any number of the block suits their squares, and a small one
** their sum. */
static double stats_origin_of(double a, double b, double c){
  double least = fabs(b)<fabs(a) ? b : a;
  return fabs(c)<fabs(least) ? c : least;
}

static void stats_take_bounds(stats_accumulator *a, const stats_sums *s){
  a->zeros += s->zeros;
  a->low = fmin(a->low, s->low);
  a->high = fmax(a->high, s->high);
}

/* --- Blocks --- */

static double stats_most(const stats_sums *s){
  return fmax(fabs(s->low), fabs(s->high));
}

/* True if the squares of numbers within these bounds may overflow or underflow f64. */
static bool stats_needs_scale(const stats_sums *s){
  const double most = stats_most(s);
  return most>STATS_HUGE_SQUARE || (most>0 && most<STATS_TINY_SQUARE);
}

/* Return the exponent of the smallest power of two above x. */
static int stats_exponent(double x){
  int exponent = 0;
  frexp(x, &exponent);
  return exponent;
}

static double stats_cutter(int exponent){
  return ldexp(1.5, exponent-STATS_SLICE+52);
}

static void stats_sum_from(const double *p, size_t n, double origin, double cutter, stats_sums *s){
  const stats_twofold from = stats_times(-(double)n, origin);
  stats_twofold sum;
  s->square = s->slices = s->rests = 0;
  stats_sum_f64(p, n, origin, cutter, s);
  sum = stats_add_twofold((stats_twofold){ s->slices, 0 }, (stats_twofold){ s->rests, 0 });
  s->distance = stats_add_twofold(sum, from).high;
}

/* Take the sums over numbers below 2^exponent, whose squares f64 holds. Returns the origin of the
** distances. */
static double stats_sum_around(const double *p, size_t n, int exponent, stats_sums *s){
  const double cutter = stats_cutter(exponent);
  double origin = stats_origin_of(p[0], p[n/2], p[n-1]), mean;
  stats_sum_from(p, n, origin, cutter, s);
  if( !stats_is_far(s, n, origin, &mean) ) return origin;
  stats_sum_from(p, n, mean, cutter, s);
  return mean;
}

/* Add the exact sum of numbers that need no scale. After enough slices, f64 holds all digits of the
** rests. If the numbers' exponents are close, *s has the sum already. */
static void stats_take_exact(stats_accumulator *a, const double *p, size_t n, stats_sums *s){
  double *rest = a->wide.f64;
  int e = stats_exponent(stats_most(s)), least;
  if( stats_most(s)==0 ) return;
  stats_least(p, n, s);
  least = stats_exponent(s->least);
  if( e-least>STATS_SPAN ){
    for(; e-least>STATS_SPAN; e-=STATS_SLICE+1, p=rest){
      zt_real_sum_add(&a->exact, stats_slice(p, rest, n, stats_cutter(e)));
    }
    s->slices = s->rests = 0;
    stats_sum_f64(p, n, 0, stats_cutter(e), s);
  }
  zt_real_sum_add(&a->exact, s->slices);
  zt_real_sum_add(&a->exact, s->rests);
}

/* Take n finite numbers of any size. They are overwritten if they must be scaled. */
static void stats_take_finite(stats_accumulator *a, double *p, size_t n){
  stats_sums s = STATS_SUMS_NONE;
  double origin;
  int exponent = 0;
  if( n==0 ) return;
  stats_bound_f64(p, n, &s);
  stats_take_bounds(a, &s);
  if( stats_needs_scale(&s) ){
    exponent = stats_exponent(stats_most(&s));
    for(size_t i=0; i<n; i++){
      zt_real_sum_add(&a->exact, p[i]);
      p[i] = ldexp(p[i], -exponent);
    }
    origin = stats_sum_around(p, n, 0, &s);
  }else{
    origin = stats_sum_around(p, n, stats_exponent(stats_most(&s)), &s);
  }
  stats_take_sums(a, &s, n, origin, exponent);
  if( exponent==0 ) stats_take_exact(a, p, n, &s);
}

/* Take a block that may have NaN or infinities. */
static void stats_take_mixed(stats_accumulator *a, const float *f32, const double *f64, size_t n){
  size_t k = 0;
  for(size_t i=0; i<n; i++){
    double x = f32 ? (double)f32[i] : f64[i];
    if( isfinite(x) ) a->real[k++] = x;
    else if( isnan(x) ) a->nans++;
    else a->infs++;
  }
  stats_take_finite(a, a->real, k);
}

/* The sum of squares shows NaN, infinities and overflowing squares, which are rare. */
static void stats_take_f32(stats_accumulator *a, const float *p, size_t n){
  double origin = stats_origin_of((double)p[0], (double)p[n/2], (double)p[n-1]), mean;
  stats_sums s = STATS_SUMS_NONE;
  stats_sum_f32(p, n, origin, &s);
  if( !isfinite(s.square) ){
    stats_take_mixed(a, p, NULL, n);
    return;
  }
  if( stats_is_far(&s, n, origin, &mean) ){
    s.distance = s.square = 0;
    stats_sum_f32(p, n, mean, &s);
    origin = mean;
  }
  stats_bound_f32(p, n, &s);
  stats_take_bounds(a, &s);
  stats_take_sums(a, &s, n, origin, 0);
}

static void stats_take_f64(stats_accumulator *a, const double *p, size_t n){
  stats_sums s = STATS_SUMS_NONE;
  double origin = 0;
  bool usual;
  stats_bound_f64(p, n, &s);
  usual = !stats_needs_scale(&s);
  if( usual ) origin = stats_sum_around(p, n, stats_exponent(stats_most(&s)), &s);
  if( !usual || !isfinite(s.square) ){
    stats_take_mixed(a, NULL, p, n);
    return;
  }
  stats_take_bounds(a, &s);
  stats_take_sums(a, &s, n, origin, 0);
  stats_take_exact(a, p, n, &s);
}

/* Take at most STATS_BLOCK elements of the tensor's type. */
static void stats_take_block(stats_accumulator *a, const void *elements, size_t n){
  const zt_conversion *conversion = zt_conversion_of(a->dtype);
  const void *wide = elements;
  if( conversion->load ){
    conversion->load(elements, &a->wide, n);
    wide = &a->wide;
  }
  switch( a->dtype->wide ){
    case ZT_F32: stats_take_f32(a, wide, n); break;
    case ZT_F64: stats_take_f64(a, wide, n); break;
    default:     zt_integers_take(&a->integers, wide, n); break;
  }
}

static void stats_take(void *context, const void *elements, size_t n){
  stats_accumulator *a = context;
  const uint8_t *p = elements;
  for(size_t i=0; i<n; i+=STATS_BLOCK){
    stats_take_block(a, p+i*a->dtype->width, n-i<STATS_BLOCK ? n-i : STATS_BLOCK);
  }
}

static bool stats_is_integer(const stats_accumulator *a){
  return a->dtype->wide==ZT_I64 || a->dtype->wide==ZT_U64;
}

/* Take the cells without stored elements. `elements` counts all cells. */
static void stats_take_blank(stats_accumulator *a, uint64_t elements){
  const uint64_t k = elements-a->integers.n-a->all.n-a->nans-a->infs;
  const double x = zt_blank_number(a->dtype), n = (double)k;
  if( k==0 ) return;
  if( stats_is_integer(a) ){
    zt_integers_take_zeros(&a->integers, k);
    return;
  }
  stats_take_bounds(a, &(const stats_sums){ .low = x, .high = x, .zeros = x==0 ? k : 0 });
  stats_merge(&a->all, (stats_moments){
    .n = k, .sum = stats_times(n, x), .origin = stats_times(n, x*x)
  });
}

/* --- The tensor --- */

static void stats_begin(stats_accumulator *a, const zt_dtype *dtype){
  a->dtype = dtype;
  a->zeros = a->nans = a->infs = 0;
  a->all = (stats_moments){ 0 };
  a->low = HUGE_VAL;
  a->high = -HUGE_VAL;
  a->exact = (zt_real_sum){ .added = 0 };
  a->integers = zt_integers_none(dtype->wide==ZT_I64);
}

static void stats_begin_range(void *context, void *part, uint64_t first){
  (void)first;
  stats_begin(part, ((const stats_accumulator*)context)->dtype);
}

static int stats_take_range(void *part, const void *const elements[2], size_t n,
                            zt_error *err){
  stats_take(part, elements[0], n);
  return err->rc;
}

static void stats_merge_range(void *context, void *part){
  stats_accumulator *a = context;
  const stats_accumulator *b = part;
  a->zeros += b->zeros;
  a->nans += b->nans;
  a->infs += b->infs;
  a->low = fmin(a->low, b->low);
  a->high = fmax(a->high, b->high);
  if( stats_is_integer(a) ) zt_integers_merge(&a->integers, &b->integers);
  if( a->dtype->wide==ZT_F64 ) zt_real_sum_merge(&a->exact, &b->exact);
  stats_merge(&a->all, b->all);
}

static void stats_finish_integers(stats_accumulator *a, uint64_t times, zt_stats *out){
  zt_integers *all = &a->integers;
  zt_integers_repeat(all, times);
  out->zeros = all->zeros;
  out->finite = all->n;
  if( all->n==0 ) return;
  out->min.u = zt_integers_bits(all, all->low);
  out->max.u = zt_integers_bits(all, all->high);
  out->min.i = (int64_t)out->min.u;
  out->max.i = (int64_t)out->max.u;
  out->mean = zt_integers_mean(all);
  out->std = zt_integers_std(all);
  out->l2 = zt_integers_l2(all);
}

/* Only the sum of squares grows with repetitions. */
static void stats_finish_floats(const stats_accumulator *a, uint64_t times, zt_stats *out){
  const stats_moments *m = &a->all;
  stats_twofold mean;
  out->zeros = a->zeros*times;
  out->finite = m->n*times;
  if( m->n==0 ) return;
  out->min.real = a->low==0 ? 0 : a->low;   /* Machines differ in whether -0 is less than 0 */
  out->max.real = a->high==0 ? 0 : a->high;
  mean = stats_divided(m->sum, (double)m->n);
  out->mean = a->dtype->wide==ZT_F64 ? zt_real_sum_divided(&a->exact, m->n)
                                     : ldexp(mean.high+mean.low, m->exponent);
  out->std = ldexp(sqrt(m->squares.high/(double)m->n), m->exponent);
  out->l2 = ldexp(sqrt(m->origin.high*(double)times), m->exponent);
  if( a->low==a->high ){
    out->mean = out->min.real;
    out->std = 0;
  }
}

/* `times` is how often the tensor has each element that was taken. */
static void stats_finish(stats_accumulator *a, uint64_t times, zt_stats *out){
  out->nans = a->nans*times;
  out->infs = a->infs*times;
  out->min = out->max = (zt_scalar){ .class = a->dtype->class };
  if( stats_is_integer(a) ) stats_finish_integers(a, times, out);
  else stats_finish_floats(a, times, out);
}

static int stats_take_tensor(stats_accumulator *a, zt_tensor *t, zt_error *err){
  const uint64_t n = t->object->elements;
  const zt_ranges ranges = {
    .t = { t }, .n = n, .window = zt_tensor_window(t), .size = sizeof(*a), .context = a,
    .begin = stats_begin_range, .take = stats_take_range, .merge = stats_merge_range
  };
  if( !zt_tensor_is_sparse(t) ) return zt_ranges_go(&ranges, err);
  if( zt_sparse_cells(t, stats_take, a, err)==SQLITE_OK ) stats_take_blank(a, n);
  return err->rc;
}

int zt_stats_compute(zt_tensor *t, zt_stats *out, zt_error *err){
  stats_accumulator *a;
  zt_broadcast b;
  *out = (zt_stats){ .elements = t->object->elements };
  if( t->dtype->class==ZT_COMPLEX ){
    return zt_fail(err, SQLITE_ERROR,
                   "complex numbers have no order: there are no statistics of %s", t->dtype->name);
  }
  a = sqlite3_malloc64(sizeof(*a));
  if( !a ) return zt_fail_nomem(err);
  stats_begin(a, t->dtype);
  if( zt_broadcast_open(t, NULL, &b, err)==SQLITE_OK
   && stats_take_tensor(a, b.once, err)==SQLITE_OK ) stats_finish(a, b.times, out);
  zt_broadcast_close(&b);
  sqlite3_free(a);
  return err->rc;
}
