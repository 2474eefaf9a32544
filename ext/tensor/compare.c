/*
** The distance of two tensors. See compare.h.
**
** Pairs come in blocks that stay in the nearest cache, whose sums are kept in twice the digits of
** f64, in the order of the elements: they do not depend on how many are read at once. Where a
** square is more or less than f64 holds, a block's numbers are taken in units of a power of two.
*/
#include "tensor/compare.h"

#include <math.h>
#include "core/host.h"
#include "core/vector.h"
#include "tensor/convert.h"
#include "tensor/ranges.h"

#define COMPARE_BLOCK 4096
#define COMPARE_LANES 8          /* Sums that are taken side by side */
/* Numbers whose squares need no unit, however many there are. Those of the differences of 1e144 and
** -1e144 are 7.4e307 for 2^64 pairs, which f64 holds. A small square loses up to 2^-1075, and 2^64
** of them as much as 2^-1011: beside one block's sum, of at least 1e-280, less than f64 shows. */
#define COMPARE_HUGE 1e144
#define COMPARE_TINY 1e-140
#define COMPARE_MOST (4*COMPARE_BLOCK*COMPARE_HUGE*COMPARE_HUGE)   /* Of one block's squares */
#define COMPARE_WINDOW_MAX ((uint64_t)1 << 22)   /* Elements of either that are read at once */

/* (high + low) * 2^exponent. */
typedef struct compare_sum {
  double high, low;
  int exponent;
} compare_sum;

/* What is taken over a block. */
typedef struct compare_sums {
  double distance, square;       /* Of the differences: absolute values, squares */
  double one, other, dot;        /* Squares of the one and the other, and products */
  double most;                   /* The largest absolute difference */
  double equal;                  /* How many; a double for the loop's sake */
} compare_sums;

/* What is known of pairs, of a range or of all. */
typedef struct compare_state {
  const zt_dtype *dtype[2];
  const zt_dtype *wide;          /* What both become */
  uint64_t pairs, equal, nans;
  double most;
  compare_sum distance, square, one, other, dot;
  ZT_NUMBERS(COMPARE_BLOCK) block[2];
} compare_state;

/* --- Sums --- */

static void compare_add(compare_sum *sum, double value, int exponent){
  double high, rest;
  const bool none = sum->high==0 && sum->low==0;
  if( value==0 ) return;
  if( exponent>sum->exponent ){
    if( none ) sum->exponent = exponent;
    sum->high = ldexp(sum->high, sum->exponent-exponent);
    sum->low = ldexp(sum->low, sum->exponent-exponent);
    sum->exponent = exponent;
  }else if( none ){
    sum->exponent = exponent;
  }
  value = ldexp(value, exponent-sum->exponent);
  high = sum->high+value;
  rest = high-sum->high;
  if( isfinite(high) ) sum->low += (sum->high-(high-rest)) + (value-rest);
  sum->high = high;
}

static double compare_root(const compare_sum *sum, double n){
  double value = sum->high+sum->low;
  /* The exponents of squares are even */
  return ldexp(sqrt(value/n), sum->exponent/2);
}

/* --- A block --- */

/* Lanes are arrays and loops over them innermost: see stats.c. */
#define COMPARE_KERNEL(name, T) \
  ZT_VECTOR static void compare_##name(const T *restrict p, const T *restrict q, size_t n, \
                                       compare_sums *restrict out){ \
    double distance[COMPARE_LANES] = { 0 }, square[COMPARE_LANES] = { 0 }; \
    double one[COMPARE_LANES] = { 0 }, other[COMPARE_LANES] = { 0 }, dot[COMPARE_LANES] = { 0 }; \
    double most[COMPARE_LANES] = { 0 }, equal[COMPARE_LANES] = { 0 }; \
    for(size_t i=0; i+COMPARE_LANES<=n; i+=COMPARE_LANES){ \
      for(size_t k=0; k<COMPARE_LANES; k++){ \
        double x = (double)p[i+k], y = (double)q[i+k], d = x-y, a = d<0 ? -d : d; \
        distance[k] += a; \
        square[k] += d*d; \
        one[k] += x*x; \
        other[k] += y*y; \
        dot[k] += x*y; \
        most[k] = a>most[k] ? a : most[k]; \
        equal[k] += x==y ? 1.0 : 0.0; \
      } \
    } \
    *out = (compare_sums){ 0 }; \
    for(size_t k=0; k<COMPARE_LANES; k++){ \
      out->distance += distance[k]; \
      out->square += square[k]; \
      out->one += one[k]; \
      out->other += other[k]; \
      out->dot += dot[k]; \
      out->most = most[k]>out->most ? most[k] : out->most; \
      out->equal += equal[k]; \
    } \
    for(size_t i=n-n%COMPARE_LANES; i<n; i++){ \
      double x = (double)p[i], y = (double)q[i], d = x-y, a = d<0 ? -d : d; \
      out->distance += a; \
      out->square += d*d; \
      out->one += x*x; \
      out->other += y*y; \
      out->dot += x*y; \
      out->most = a>out->most ? a : out->most; \
      out->equal += x==y ? 1.0 : 0.0; \
    } \
  }
COMPARE_KERNEL(f32, float)
COMPARE_KERNEL(f64, double)
#undef COMPARE_KERNEL

static void compare_take_sums(compare_state *s, const compare_sums *sums, size_t n){
  s->pairs += n;
  s->equal += (uint64_t)sums->equal;
  if( sums->most>s->most ) s->most = sums->most;
  compare_add(&s->distance, sums->distance, 0);
  compare_add(&s->square, sums->square, 0);
  compare_add(&s->one, sums->one, 0);
  compare_add(&s->other, sums->other, 0);
  compare_add(&s->dot, sums->dot, 0);
}

/* True if no number was lost, nor will be where many such blocks are added: no square was too large
** or infinite, which bounds the other sums, and none too small to count. */
static bool compare_is_safe(const compare_sums *s, bool narrow){
  const double least = COMPARE_TINY*COMPARE_TINY;
  if( !(s->square<=COMPARE_MOST && s->one<=COMPARE_MOST && s->other<=COMPARE_MOST) ) return false;
  return narrow || (s->one>=least && s->other>=least && (s->square>=least || s->most==0));
}

/* The exponent whose unit brings the largest of some numbers near to 1; 0 where that is
** not needed. */
static int compare_unit(double most){
  int exponent = 0;
  if( most>COMPARE_HUGE || (most<COMPARE_TINY && most>0) ) frexp(most, &exponent);
  return isfinite(most) ? exponent : 0;
}

/* The product of two numbers, one by one: what is nothing beside its tensor's largest may meet the
** other's. */
static void compare_add_product(compare_sum *sum, double x, double y){
  int ex = 0, ey = 0;
  const double a = isfinite(x) ? frexp(x, &ex) : x, b = isfinite(y) ? frexp(y, &ey) : y;
  compare_add(sum, a*b, ex+ey);
}

/* The same of numbers of which a square, or a sum, may be beyond f64, or that are infinite. */
static void compare_take_each(compare_state *s, const double *p, const double *q, size_t n,
                              int ux, int uy, int ud){
  for(size_t i=0; i<n; i++){
    double d = p[i]==q[i] ? 0 : ldexp(p[i]-q[i], -ud);
    double a = ldexp(p[i], -ux), b = ldexp(q[i], -uy);
    s->equal += p[i]==q[i];
    compare_add(&s->distance, fabs(d), ud);
    compare_add(&s->square, d*d, 2*ud);
    compare_add(&s->one, a*a, 2*ux);
    compare_add(&s->other, b*b, 2*uy);
    compare_add_product(&s->dot, p[i], q[i]);
  }
}

/* A block that is not safe. The pairs in which there is a NaN are left out of p and q. */
static void compare_take_slowly(compare_state *s, double *p, double *q, size_t n){
  double x = 0, y = 0, most = 0;
  compare_sums sums = { 0 };
  int ux, uy, ud;
  size_t m = 0;
  for(size_t i=0; i<n; i++){
    if( isnan(p[i]) || isnan(q[i]) ) continue;
    p[m] = p[i];
    q[m] = q[i];
    x = fmax(x, fabs(p[m]));
    y = fmax(y, fabs(q[m]));
    if( p[m]!=q[m] ) most = fmax(most, fabs(p[m]-q[m]));
    m++;
  }
  s->nans += n-m;
  ux = compare_unit(x);
  uy = compare_unit(y);
  ud = compare_unit(most);
  compare_f64(p, q, m, &sums);
  if( !ux && !uy && !ud && compare_is_safe(&sums, true) ){
    compare_take_sums(s, &sums, m);
    return;
  }
  s->pairs += m;
  if( most>s->most ) s->most = most;
  compare_take_each(s, p, q, m, ux, uy, ud);
}

static void compare_take_block(compare_state *s, const void *p, const void *q, size_t n){
  const void *of[2] = { p, q };
  bool narrow = s->wide->width==sizeof(float);
  compare_sums sums = { 0 };
  if( narrow ) compare_f32(p, q, n, &sums);
  else compare_f64(p, q, n, &sums);
  if( compare_is_safe(&sums, narrow) ){
    compare_take_sums(s, &sums, n);
    return;
  }
  for(int k=0; k<2; k++){
    if( of[k]!=s->block[k].bytes ) memcpy(s->block[k].bytes, of[k], n*s->wide->width);
    for(size_t i=n; narrow && i-->0; ) s->block[k].f64[i] = (double)s->block[k].f32[i];
  }
  compare_take_slowly(s, s->block[0].f64, s->block[1].f64, n);
}

/* --- Ranges --- */

static void compare_begin(void *context, void *part){
  const compare_state *all = context;
  compare_state *s = part;
  s->dtype[0] = all->dtype[0];
  s->dtype[1] = all->dtype[1];
  s->wide = all->wide;
  s->pairs = s->equal = s->nans = 0;
  s->most = 0;
  s->distance = s->square = s->one = s->other = s->dot = (compare_sum){ 0, 0, 0 };
}

/* Elements first to first+n of a window, as the wide type. */
static const void *compare_widen(compare_state *s, int k, const void *window, size_t first,
                                 size_t n){
  const uint8_t *from = (const uint8_t*)window + first*s->dtype[k]->width;
  if( s->dtype[k]==s->wide ) return from;
  zt_convert(s->dtype[k], from, s->wide, s->block[k].bytes, n);
  return s->block[k].bytes;
}

static void compare_take(void *part, const void *const elements[2], size_t n){
  compare_state *s = part;
  for(size_t i=0; i<n; i+=COMPARE_BLOCK){
    const size_t m = n-i<COMPARE_BLOCK ? n-i : COMPARE_BLOCK;
    compare_take_block(s, compare_widen(s, 0, elements[0], i, m),
                       compare_widen(s, 1, elements[1], i, m), m);
  }
}

static void compare_add_sum(compare_sum *sum, const compare_sum *other){
  compare_add(sum, other->high, other->exponent);
  compare_add(sum, other->low, other->exponent);
}

static void compare_merge(void *context, void *part){
  compare_state *all = context;
  const compare_state *s = part;
  all->pairs += s->pairs;
  all->equal += s->equal;
  all->nans += s->nans;
  if( s->most>all->most ) all->most = s->most;
  compare_add_sum(&all->distance, &s->distance);
  compare_add_sum(&all->square, &s->square);
  compare_add_sum(&all->one, &s->one);
  compare_add_sum(&all->other, &s->other);
  compare_add_sum(&all->dot, &s->dot);
}

/* --- The tensors --- */

/* How many elements to read at once: the fewer of what is best for either; where one is sparse, the
** more, since its stored elements are gone through once for each. */
static uint64_t compare_window(const zt_tensor *t, const zt_tensor *other){
  uint64_t a = zt_tensor_window(t), b = zt_tensor_window(other), n;
  bool sparse = zt_tensor_is_sparse(t) || zt_tensor_is_sparse(other);
  n = (a>b)==sparse ? a : b;
  if( n>COMPARE_WINDOW_MAX ) n = COMPARE_WINDOW_MAX;
  return n<COMPARE_BLOCK ? COMPARE_BLOCK : n-n%COMPARE_BLOCK;
}

static void compare_finish(const compare_state *s, zt_comparison *r){
  double n = (double)s->pairs, cosine;
  r->pairs = s->pairs;
  r->equal = s->equal;
  r->nans = s->nans;
  r->max_abs = s->most;
  if( r->pairs==0 ) return;
  r->mean_abs = ldexp((s->distance.high+s->distance.low)/n, s->distance.exponent);
  r->rmse = compare_root(&s->square, n);
  r->l2 = compare_root(&s->one, 1);
  r->other_l2 = compare_root(&s->other, 1);
  r->dot = ldexp(s->dot.high+s->dot.low, s->dot.exponent);
  cosine = (s->dot.high+s->dot.low)/sqrt(s->one.high+s->one.low)/sqrt(s->other.high+s->other.low);
  cosine = ldexp(cosine, s->dot.exponent-s->one.exponent/2-s->other.exponent/2);
  r->has_cosine = s->one.high>0 && s->other.high>0 && isfinite(s->one.high)
               && isfinite(s->other.high);
  r->cosine = cosine>1 ? 1 : cosine<-1 ? -1 : cosine;
}

/* "[2,3] and [3,2]". */
static int compare_fail_shapes(const zt_object *a, const zt_object *b, zt_error *err){
  const zt_object *of[2] = { a, b };
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *z;
  for(int k=0; k<2; k++){
    sqlite3_str_appendall(text, k ? " and [" : "[");
    for(uint32_t i=0; i<of[k]->rank; i++){
      sqlite3_str_appendf(text, "%s%llu", i ? "," : "", (unsigned long long)of[k]->shape[i]);
    }
    sqlite3_str_appendall(text, "]");
  }
  z = sqlite3_str_finish(text);
  if( z ) zt_fail(err, SQLITE_ERROR, "the shapes differ: %s", z);
  else zt_fail_nomem(err);
  sqlite3_free(z);
  return err->rc;
}

int zt_compare(zt_tensor *t, zt_tensor *other, zt_comparison *out, zt_error *err){
  const zt_object *a = t->object, *b = other->object;
  const char *path = zt_source_path(t->source);
  zt_ranges ranges = {
    .t = { t, other }, .size = sizeof(compare_state), .begin = compare_begin, .take = compare_take,
    .merge = compare_merge
  };
  compare_state *s;
  *out = (zt_comparison){ .elements = a->elements };
  err->path = path ? path : "<blob>";
  err->object = a->name;
  if( a->rank!=b->rank || memcmp(a->shape, b->shape, a->rank*sizeof(*a->shape))!=0 ){
    return compare_fail_shapes(a, b, err);
  }
  if( t->dtype->class==ZT_COMPLEX || other->dtype->class==ZT_COMPLEX ){
    return zt_fail(err, SQLITE_ERROR, "complex numbers are not compared");
  }
  s = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  *s = (compare_state){ .dtype = { t->dtype, other->dtype } };
  s->wide = zt_dtype_get(t->dtype->wide==ZT_F32 && other->dtype->wide==ZT_F32 ? ZT_DTYPE_f32
                                                                              : ZT_DTYPE_f64);
  ranges.window = compare_window(t, other);
  ranges.context = s;
  if( zt_ranges_go(&ranges, err)==SQLITE_OK ) compare_finish(s, out);
  sqlite3_free(s);
  return err->rc;
}
