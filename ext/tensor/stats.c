/*
** Statistics of a tensor's values. See stats.h.
**
** Elements come in blocks that stay in the nearest cache. Within a block, sums are taken of the
** distances to one of its elements, which loses nothing where a small spread lies far from 0;
** blocks are then merged as Chan, Golub and LeVeque do, and what they add up to is kept in twice
** the digits. All else is f64. Sums of numbers whose squares f64 cannot hold are taken in units of
** a power of two.
*/
#include "tensor/stats.h"

#include <math.h>
#include "core/host.h"
#include "core/vector.h"
#include "tensor/conversions.h"
#include "tensor/ranges.h"

#define STATS_BLOCK 4096
/* Numbers whose squares need no unit, however many there are. Of 2^64 squares of 1e144 the sum is
** 1.8e307, which f64 holds. A small square, or one of a distance, loses up to 2^-1075, and 2^64 of
** them as much as 2^-1011. Where not all numbers are equal, one of up to x is x*2^-54 away from
** others at least: beside the square of that, 2^-906 for 1e-120, it is less than f64 shows. */
#define STATS_HUGE_SQUARE 1e144
#define STATS_TINY_SQUARE 1e-120
#define STATS_SUM_LANES 16         /* Sums that are taken side by side */
#define STATS_BOUND_LANES 32       /* The same of bounds and counts */

/* high + low, for sums of which the small rest matters. */
typedef struct stats_twofold {
  double high, low;
} stats_twofold;

/* Of some finite numbers, in units of 2^exponent (squares: 2^(2*exponent)). */
typedef struct stats_moments {
  uint64_t n;
  int exponent;
  stats_twofold sum;
  double squares;     /* Sum of the squared distances to the mean */
  double origin;      /* Sum of the squared distances to 0 */
} stats_moments;

typedef struct stats_accumulator {
  const zt_dtype *dtype;
  uint64_t zeros, nans, infs;
  stats_moments all;
  double low, high;               /* Of floats, and of integers that f64 holds */
  int64_t lowInt, highInt;        /* i64 */
  uint64_t lowUint, highUint; /* u64 */
  ZT_NUMBERS(STATS_BLOCK) wide;   /* A block as the wide type */
  double real[STATS_BLOCK];       /* Its finite numbers, as f64 */
} stats_accumulator;

/* What is taken over a block: first the two sums, then the rest. */
typedef struct stats_sums {
  double distance, square;    /* Of the distances to the origin that the loop was given, and of
                              ** their squares */
  double low, high;
  uint64_t zeros;
} stats_sums;

/* Lanes are arrays and loops over them innermost, which compilers make vectors of without changing
** the order of a sum. (Bounds are compared, not fmin() and fmax() of: there gcc 12 for ARM ends
** with an internal error.) */
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
STATS_SUMS(f64, double)
STATS_BOUNDS(f32, float, uint32_t)
STATS_BOUNDS(f64, double, uint64_t)

#define STATS_SUMS_NONE ((stats_sums){ 0, 0, HUGE_VAL, -HUGE_VAL, 0 })

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

static void stats_rescale(stats_moments *m, int exponent){
  int by = m->exponent-exponent;
  m->sum.high = ldexp(m->sum.high, by);
  m->sum.low = ldexp(m->sum.low, by);
  m->squares = ldexp(m->squares, 2*by);
  m->origin = ldexp(m->origin, 2*by);
  m->exponent = exponent;
}

/* Zeros are zeros in any unit. */
static bool stats_all_zero(const stats_moments *m){
  return m->sum.high==0 && m->squares==0 && m->origin==0;
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
  all->squares += m.squares + delta*delta*(n/(n+k)*k);
  all->origin += m.origin;
}

/* Take the sums over n numbers, of which `origin` is one, in units of 2^exponent. */
static void stats_take_sums(stats_accumulator *a, const stats_sums *s, uint64_t n, double origin,
                            int exponent){
  double k = (double)n, squares = s->square - s->distance*s->distance/k;
  stats_merge(&a->all,
              (stats_moments){ n, exponent,
                               stats_add_twofold(stats_times(k, origin),
                                                 (stats_twofold){ s->distance, 0 }),
                               squares>0 ? squares : 0,
                               s->square + 2*origin*s->distance + k*origin*origin });
}

/* The number that distances are taken to: any of a block will do for their squares, and a small one
** for their sum. */
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

/* True if squares of numbers up to those bounds may be too large or too small for f64. */
static bool stats_needs_scale(const stats_sums *s){
  double most = fmax(fabs(s->low), fabs(s->high));
  return most>STATS_HUGE_SQUARE || (most>0 && most<STATS_TINY_SQUARE);
}

/* n finite numbers, whatever their size. They are overwritten if they have to be scaled. */
static void stats_take_finite(stats_accumulator *a, double *p, size_t n){
  stats_sums s = STATS_SUMS_NONE;
  double origin;
  int exponent = 0;
  if( n==0 ) return;
  stats_bound_f64(p, n, &s);
  stats_take_bounds(a, &s);
  if( stats_needs_scale(&s) ){
    frexp(fmax(fabs(s.low), fabs(s.high)), &exponent);
    for(size_t i=0; i<n; i++) p[i] = ldexp(p[i], -exponent);
  }
  origin = stats_origin_of(p[0], p[n/2], p[n-1]);
  stats_sum_f64(p, n, origin, &s);
  stats_take_sums(a, &s, n, origin, exponent);
}

/* A block in which some may not be finite. */
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

/* The sums of squares show what the usual block has none of: NaN, infinities, squares that are. */
static void stats_take_f32(stats_accumulator *a, const float *p, size_t n){
  double origin = stats_origin_of((double)p[0], (double)p[n/2], (double)p[n-1]);
  stats_sums s = STATS_SUMS_NONE;
  stats_sum_f32(p, n, origin, &s);
  if( !isfinite(s.square) ){
    stats_take_mixed(a, p, NULL, n);
    return;
  }
  stats_bound_f32(p, n, &s);
  stats_take_bounds(a, &s);
  stats_take_sums(a, &s, n, origin, 0);
}

static void stats_take_f64(stats_accumulator *a, const double *p, size_t n){
  double origin = stats_origin_of(p[0], p[n/2], p[n-1]);
  stats_sums s = STATS_SUMS_NONE;
  stats_sum_f64(p, n, origin, &s);
  if( isfinite(s.square) ) stats_bound_f64(p, n, &s);
  if( !isfinite(s.square) || stats_needs_scale(&s) ){
    stats_take_mixed(a, NULL, p, n);
    return;
  }
  stats_take_bounds(a, &s);
  stats_take_sums(a, &s, n, origin, 0);
}

/* Integers: bounds exact, the rest as f64. */
#define STATS_TAKE_INT(name, T, least, most) \
  static void stats_take_##name(stats_accumulator *a, const T *p, size_t n){ \
    for(size_t i=0; i<n; i++){ \
      a->least = p[i]<a->least ? p[i] : a->least; \
      a->most = p[i]>a->most ? p[i] : a->most; \
      a->real[i] = (double)p[i]; \
    } \
    stats_take_finite(a, a->real, n); \
  }

STATS_TAKE_INT(i64, int64_t, lowInt, highInt)
STATS_TAKE_INT(u64, uint64_t, lowUint, highUint)

/* At most STATS_BLOCK elements of the tensor's type. */
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
    case ZT_I64: stats_take_i64(a, wide, n); break;
    case ZT_U64: stats_take_u64(a, wide, n); break;
  }
}

static void stats_take(void *context, const void *elements, size_t n){
  stats_accumulator *a = context;
  const uint8_t *p = elements;
  for(size_t i=0; i<n; i+=STATS_BLOCK){
    stats_take_block(a, p+i*a->dtype->width, n-i<STATS_BLOCK ? n-i : STATS_BLOCK);
  }
}

/* k cells that are not stored. */
static void stats_take_zeros(stats_accumulator *a, uint64_t k){
  const stats_sums s = { .zeros = k };
  if( k==0 ) return;
  stats_take_bounds(a, &s);
  if( a->lowInt>0 ) a->lowInt = 0;
  if( a->highInt<0 ) a->highInt = 0;
  a->lowUint = 0;
  stats_merge(&a->all, (stats_moments){ .n = k });
}

/* --- The tensor --- */

static void stats_begin(stats_accumulator *a, const zt_dtype *dtype){
  a->dtype = dtype;
  a->zeros = a->nans = a->infs = 0;
  a->all = (stats_moments){ 0 };
  a->low = HUGE_VAL;
  a->high = -HUGE_VAL;
  a->lowInt = INT64_MAX;
  a->highInt = INT64_MIN;
  a->lowUint = UINT64_MAX;
  a->highUint = 0;
}

static void stats_begin_range(void *context, void *part){
  stats_begin(part, ((const stats_accumulator*)context)->dtype);
}

static void stats_take_range(void *part, const void *const elements[2], size_t n){
  stats_take(part, elements[0], n);
}

static void stats_merge_range(void *context, void *part){
  stats_accumulator *a = context;
  const stats_accumulator *b = part;
  a->zeros += b->zeros;
  a->nans += b->nans;
  a->infs += b->infs;
  a->low = fmin(a->low, b->low);
  a->high = fmax(a->high, b->high);
  if( b->lowInt<a->lowInt ) a->lowInt = b->lowInt;
  if( b->highInt>a->highInt ) a->highInt = b->highInt;
  if( b->lowUint<a->lowUint ) a->lowUint = b->lowUint;
  if( b->highUint>a->highUint ) a->highUint = b->highUint;
  stats_merge(&a->all, b->all);
}

static void stats_finish(stats_accumulator *a, zt_stats *out){
  const stats_moments *m = &a->all;
  stats_twofold mean;
  out->zeros = a->zeros;
  out->nans = a->nans;
  out->infs = a->infs;
  out->finite = m->n;
  out->min = out->max = (zt_scalar){ .class = a->dtype->class };
  if( m->n==0 ) return;
  out->min.real = a->low==0 ? 0 : a->low;   /* Machines differ in whether -0 is less than 0 */
  out->max.real = a->high==0 ? 0 : a->high;
  out->min.i = a->lowInt;
  out->max.i = a->highInt;
  out->min.u = a->lowUint;
  out->max.u = a->highUint;
  mean = stats_divided(m->sum, (double)m->n);
  out->mean = ldexp(mean.high+mean.low, m->exponent);
  out->std = ldexp(sqrt(m->squares/(double)m->n), m->exponent);
  out->l2 = ldexp(sqrt(m->origin), m->exponent);
}

int zt_stats_compute(zt_tensor *t, zt_stats *out, zt_error *err){
  stats_accumulator *a;
  *out = (zt_stats){ .elements = t->object->elements };
  if( t->dtype->class==ZT_COMPLEX ){
    return zt_fail(err, SQLITE_ERROR,
                   "complex numbers have no order: there are no statistics of %s", t->dtype->name);
  }
  a = sqlite3_malloc64(sizeof(*a));
  if( !a ) return zt_fail_nomem(err);
  stats_begin(a, t->dtype);
  if( !zt_tensor_is_sparse(t) ){
    const zt_ranges ranges = {
      .t = { t }, .window = zt_tensor_window(t), .size = sizeof(*a), .context = a,
      .begin = stats_begin_range, .take = stats_take_range, .merge = stats_merge_range
    };
    zt_ranges_go(&ranges, err);
  }else if( zt_sparse_cells(t, stats_take, a, err)==SQLITE_OK ){
    stats_take_zeros(a, out->elements-a->all.n-a->nans-a->infs);
  }
  if( !err->rc ) stats_finish(a, out);
  sqlite3_free(a);
  return err->rc;
}
