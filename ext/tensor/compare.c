/*
** The distance of two tensors. See compare.h.
**
** Pairs are taken in blocks that fit the nearest cache. The sums over blocks have twice the digits
** of f64 and follow the order of the elements, so they do not depend on how many are read at once.
** Products may cancel each other, so within a block of f64 they are added up in twice the digits
** too (Ogita, Rump and Oishi's Dot2). Where a square overflows or underflows f64, each product is
** added with an exponent of its own. Integers that f64 does not hold are taken as integers.
** REFERENCE.md states the accuracy.
*/
#include "tensor/compare.h"

#include <math.h>
#include "core/host.h"
#include "core/vector.h"
#include "tensor/broadcast.h"
#include "tensor/convert.h"
#include "tensor/exact.h"
#include "tensor/ranges.h"

#define COMPARE_BLOCK 4096
#define COMPARE_LANES 8          /* Parallel sums */
/* Between these bounds, f64 holds the squares of any number of pairs. For 2^64 pairs, the squared
** differences of 1e144 and -1e144 add up to 7.4e307. A small square loses up to 2^-1075, and 2^64
** of them lose 2^-1011, which is negligible beside one block's sum of at least 1e-280. */
#define COMPARE_HUGE 1e144
#define COMPARE_TINY 1e-140
#define COMPARE_MOST (4*COMPARE_BLOCK*COMPARE_HUGE*COMPARE_HUGE)   /* Sum of one block's squares */
#define COMPARE_WINDOW_MAX ((uint64_t)1 << 22)   /* Elements of each tensor read at once */
#define COMPARE_SPARSE 8         /* Such a window's elements for each one that is sorted at once */

/* (high + low) * 2^exponent. */
typedef struct compare_sum {
  double high, low;
  int exponent;
} compare_sum;

/* If a block's sum of squares is less, all of its integers are less than 2^53. */
#define COMPARE_WHOLE 0x1p106

/* The sums over a block. */
typedef struct compare_sums {
  double distance, square;       /* Absolute values and squares of the differences */
  double one, other, dot;        /* Squares of either tensor, and products, all summed alike */
  double rest;                   /* The rounding errors of dot; for f64, all that matter */
  double most;                   /* The largest absolute difference */
  double equal;                  /* Equal pairs; a double, so that the loop vectorises */
} compare_sums;

/* The sums over a range of pairs, or all pairs. */
typedef struct compare_state {
  const zt_dtype *dtype[2];
  const zt_dtype *wide;          /* Both are converted to this */
  bool whole;                    /* Both are integer types, at least one of 64 bits */
  uint64_t pairs, equal, nans;
  double most;
  compare_sum distance, square, one, other, dot, rest;
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

static double compare_root(const compare_sum *sum, double times, double n){
  double value = sum->high+sum->low;
  /* The exponents of squares are even */
  return ldexp(sqrt(value*times/n), sum->exponent/2);
}

/* --- A block --- */

/* *sum += value. Returns the rounding error (Knuth's TwoSum). */
static double compare_lost(double *sum, double value){
  const double before = *sum, after = before+value, part = after-before;
  *sum = after;
  return (before-(after-part)) + (value-part);
}

/* Adds the numbers x and y to lane k. */
#define COMPARE_PAIR(k) \
  const double d = x-y, a = d<0 ? -d : d; \
  distance[k] += a; \
  square[k] += d*d; \
  one[k] += x*x; \
  other[k] += y*y; \
  most[k] = a>most[k] ? a : most[k]; \
  equal[k] += x==y ? 1.0 : 0.0;

/* The product of two f32 is exact in f64. */
#define COMPARE_PRODUCT_f32(k) dot[k] += x*y;
/* rest[k] has the rounding errors of Dekker's product (of halves of 26 bits) and of Knuth's sum. */
#define COMPARE_PRODUCT_f64(k) \
  const double product = x*y, cx = 134217729.0*x, cy = 134217729.0*y; \
  const double hx = cx-(cx-x), lx = x-hx, hy = cy-(cy-y), ly = y-hy; \
  const double rounding = lx*ly-(((product-hx*hy)-lx*hy)-hx*ly); \
  const double sum = dot[k]+product, part = sum-dot[k]; \
  rest[k] += ((dot[k]-(sum-part)) + (product-part)) + rounding; \
  dot[k] = sum;

/* Lanes are arrays, and the loops over them are innermost: see stats.c. */
#define COMPARE_KERNEL(name, T) \
  ZT_VECTOR static void compare_##name(const T *restrict p, const T *restrict q, size_t n, \
                                       compare_sums *restrict out){ \
    double distance[COMPARE_LANES] = { 0 }, square[COMPARE_LANES] = { 0 }; \
    double one[COMPARE_LANES] = { 0 }, other[COMPARE_LANES] = { 0 }, dot[COMPARE_LANES] = { 0 }; \
    double most[COMPARE_LANES] = { 0 }, equal[COMPARE_LANES] = { 0 }, rest[COMPARE_LANES] = { 0 }; \
    for(size_t i=0; i+COMPARE_LANES<=n; i+=COMPARE_LANES){ \
      for(size_t k=0; k<COMPARE_LANES; k++){ \
        const double x = (double)p[i+k], y = (double)q[i+k]; \
        COMPARE_PAIR(k) \
        COMPARE_PRODUCT_##name(k) \
      } \
    } \
    for(size_t i=n-n%COMPARE_LANES; i<n; i++){ \
      const double x = (double)p[i], y = (double)q[i]; \
      COMPARE_PAIR(0) \
      COMPARE_PRODUCT_##name(0) \
    } \
    *out = (compare_sums){ 0 }; \
    for(size_t k=0; k<COMPARE_LANES; k++){ \
      out->distance += distance[k]; \
      out->square += square[k]; \
      out->one += one[k]; \
      out->other += other[k]; \
      out->rest += compare_lost(&out->dot, dot[k]) + rest[k]; \
      out->most = most[k]>out->most ? most[k] : out->most; \
      out->equal += equal[k]; \
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
  compare_add(&s->rest, sums->rest, 0);
}

/* True if these sums are precise and stay so when blocks are added: the squares, which bound the
** other sums, did not overflow, and underflow does not matter. */
static bool compare_is_safe(const compare_sums *s, bool narrow){
  const double least = COMPARE_TINY*COMPARE_TINY;
  if( !(s->square<=COMPARE_MOST && s->one<=COMPARE_MOST && s->other<=COMPARE_MOST) ) return false;
  return narrow || (s->one>=least && s->other>=least && (s->square>=least || s->most==0));
}

/* True if f64 may not hold the number's square. */
static bool compare_is_extreme(double x){
  return x>COMPARE_HUGE || (x<COMPARE_TINY && x>0);
}

/* Add x*y*2^exponent of any size, with all digits. Exponents of squares are even. */
static void compare_add_product(compare_sum *sum, double x, double y, int exponent){
  int ex = 0, ey = 0;
  const double a = isfinite(x) ? frexp(x, &ex) : x, b = isfinite(y) ? frexp(y, &ey) : y;
  const double product = a*b;
  compare_add(sum, product, ex+ey+exponent);
  if( isfinite(product) ) compare_add(sum, fma(a, b, -product), ex+ey+exponent);
}

/* Add pairs one by one: infinities, and numbers whose squares or sums may overflow or underflow. */
static void compare_take_each(compare_state *s, const double *p, const double *q, size_t n){
  for(size_t i=0; i<n; i++){
    double d = p[i]==q[i] ? 0 : p[i]-q[i];
    int exponent = 0;
    if( isinf(d) && isfinite(p[i]) && isfinite(q[i]) ){
      d = p[i]/2-q[i]/2;
      exponent = 1;
    }
    s->equal += p[i]==q[i];
    compare_add_product(&s->distance, fabs(d), 1, exponent);
    compare_add_product(&s->square, d, d, 2*exponent);
    compare_add_product(&s->one, p[i], p[i], 0);
    compare_add_product(&s->other, q[i], q[i], 0);
    compare_add_product(&s->dot, p[i], q[i], 0);
  }
}

/* Take a block that is not safe. Pairs with a NaN are removed from p and q. */
static void compare_take_slowly(compare_state *s, double *p, double *q, size_t n){
  double x = 0, y = 0, most = 0;
  compare_sums sums = { 0 };
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
  compare_f64(p, q, m, &sums);
  if( !compare_is_extreme(x) && !compare_is_extreme(y) && !compare_is_extreme(most)
   && compare_is_safe(&sums, true) ){
    compare_take_sums(s, &sums, m);
    return;
  }
  s->pairs += m;
  if( most>s->most ) s->most = most;
  compare_take_each(s, p, q, m);
}

/* A sum over a block of integers: part i counts 2^(32*i), and stays below 2^63. */
#define COMPARE_PARTS 5
typedef struct compare_parts {
  uint64_t part[COMPARE_PARTS];
} compare_parts;

static void compare_multiply(compare_parts *to, uint64_t x, uint64_t y){
  const uint64_t xh = x>>32, xl = x & UINT32_MAX, yh = y>>32, yl = y & UINT32_MAX;
  const uint64_t hh = xh*yh, hl = xh*yl, lh = xl*yh, ll = xl*yl;
  to->part[0] += ll & UINT32_MAX;
  to->part[1] += (ll>>32) + (hl & UINT32_MAX) + (lh & UINT32_MAX);
  to->part[2] += (hl>>32) + (lh>>32) + (hh & UINT32_MAX);
  to->part[3] += hh>>32;
}

static void compare_add_parts(compare_sum *sum, const compare_parts *add,
                              const compare_parts *less){
  for(int i=0; i<COMPARE_PARTS; i++){
    const int64_t count = (int64_t)(add->part[i]-(less ? less->part[i] : 0));
    compare_add(sum, ldexp((double)count, 32*i), 0);
  }
}

typedef struct compare_integers {
  compare_parts distance, square, one, other, dot, minus;   /* minus: products below 0 */
  uint64_t most[2];              /* The largest difference: most[0]*2^64 + most[1] */
} compare_integers;

/* The absolute difference is high*2^64 + low; high is 0 or 1. */
static void compare_take_distance(compare_integers *b, uint64_t high, uint64_t low){
  b->distance.part[0] += low & UINT32_MAX;
  b->distance.part[1] += low>>32;
  b->distance.part[2] += high;
  compare_multiply(&b->square, low, low);
  b->square.part[2] += high*2*(low & UINT32_MAX);
  b->square.part[3] += high*2*(low>>32);
  b->square.part[4] += high;
  if( high>b->most[0] || (high==b->most[0] && low>b->most[1]) ){
    b->most[0] = high;
    b->most[1] = low;
  }
}

/* x and y are the bits of two integers. */
static void compare_take_integers(compare_integers *b, uint64_t x, bool xSigned, uint64_t y,
                                  bool ySigned){
  const bool xMinus = xSigned && x>>63, yMinus = ySigned && y>>63;
  const uint64_t p = xMinus ? 0-x : x, q = yMinus ? 0-y : y;
  if( xMinus==yMinus ) compare_take_distance(b, 0, p>q ? p-q : q-p);
  else compare_take_distance(b, p+q<p, p+q);
  compare_multiply(&b->one, p, p);
  compare_multiply(&b->other, q, q);
  compare_multiply(xMinus==yMinus ? &b->dot : &b->minus, p, q);
}

/* Take n pairs of integers, in each tensor's own type. */
static void compare_take_whole(compare_state *s, const void *const elements[2], size_t n){
  compare_integers b = { .most = { 0, 0 } };
  const bool sign[2] = { s->dtype[0]->wide==ZT_I64, s->dtype[1]->wide==ZT_I64 };
  zt_natural most;
  double distance;
  for(int k=0; k<2; k++){
    const zt_dtype *to = zt_dtype_get(sign[k] ? ZT_DTYPE_i64 : ZT_DTYPE_u64);
    zt_convert(s->dtype[k], elements[k], to, s->block[k].bytes, n);
  }
  for(size_t i=0; i<n; i++){
    const uint64_t x = s->block[0].u64[i], y = s->block[1].u64[i];
    s->equal += x==y && (sign[0]==sign[1] || !(x>>63));
    compare_take_integers(&b, x, sign[0], y, sign[1]);
  }
  most = zt_natural_of(b.most[0], b.most[1]);
  distance = zt_natural_divided(&most, 1);
  s->pairs += n;
  if( distance>s->most ) s->most = distance;
  compare_add_parts(&s->distance, &b.distance, NULL);
  compare_add_parts(&s->square, &b.square, NULL);
  compare_add_parts(&s->one, &b.one, NULL);
  compare_add_parts(&s->other, &b.other, NULL);
  compare_add_parts(&s->dot, &b.dot, &b.minus);
}

/* Take n pairs, given both in the wide type and in their own types. */
static void compare_take_block(compare_state *s, const void *p, const void *q,
                               const void *const elements[2], size_t n){
  const void *of[2] = { p, q };
  bool narrow = s->wide->width==sizeof(float);
  compare_sums sums = { 0 };
  bool exact;
  if( narrow ) compare_f32(p, q, n, &sums);
  else compare_f64(p, q, n, &sums);
  exact = sums.one<COMPARE_WHOLE && sums.other<COMPARE_WHOLE;
  if( s->whole && !exact ){
    compare_take_whole(s, elements, n);
    return;
  }
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

static void compare_begin(void *context, void *part, uint64_t first){
  (void)first;
  const compare_state *all = context;
  compare_state *s = part;
  s->dtype[0] = all->dtype[0];
  s->dtype[1] = all->dtype[1];
  s->wide = all->wide;
  s->whole = all->whole;
  s->pairs = s->equal = s->nans = 0;
  s->most = 0;
  s->distance = s->square = (compare_sum){ 0, 0, 0 };
  s->one = s->other = s->dot = s->rest = (compare_sum){ 0, 0, 0 };
}

static const void *compare_widen(compare_state *s, int k, const void *from, size_t n){
  if( s->dtype[k]==s->wide ) return from;
  zt_convert(s->dtype[k], from, s->wide, s->block[k].bytes, n);
  return s->block[k].bytes;
}

static int compare_take(void *part, const void *const elements[2], size_t n,
                        zt_error *err){
  compare_state *s = part;
  for(size_t i=0; i<n; i+=COMPARE_BLOCK){
    const size_t m = n-i<COMPARE_BLOCK ? n-i : COMPARE_BLOCK;
    const void *const from[2] = { (const uint8_t*)elements[0] + i*s->dtype[0]->width,
                                  (const uint8_t*)elements[1] + i*s->dtype[1]->width };
    const void *p = compare_widen(s, 0, from[0], m), *q = compare_widen(s, 1, from[1], m);
    compare_take_block(s, p, q, from, m);
  }
  return err->rc;
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
  compare_add_sum(&all->rest, &s->rest);
}

/* --- The tensors --- */

/* Return how many elements to read at once: the smaller window of the two tensors; the larger one
** if a tensor is sparse, because each window reads all its stored elements. */
static uint64_t compare_window(const zt_tensor *t, const zt_tensor *other){
  uint64_t a = zt_tensor_window(t), b = zt_tensor_window(other), n;
  bool sparse = zt_tensor_is_sparse(t) || zt_tensor_is_sparse(other);
  n = (a>b)==sparse ? a : b;
  if( n>COMPARE_WINDOW_MAX ) n = COMPARE_WINDOW_MAX;
  return n<COMPARE_BLOCK ? COMPARE_BLOCK : n-n%COMPARE_BLOCK;
}

/* Return the root of the product of two sums of squares, in units of 2^*exponent. For equal sums it
** is exact, because the root of a rounded square is. */
static double compare_lengths(const compare_sum *one, const compare_sum *other, int *exponent){
  int a, b;
  double product = frexp(one->high+one->low, &a);
  product *= frexp(other->high+other->low, &b);
  a += b + one->exponent + other->exponent;
  if( a%2 ){
    product *= 2;
    a--;
  }
  *exponent = a/2;
  return sqrt(product);
}

/* Near 1, the products are summed like the squares, so that both lose the same; for parallel
** tensors exactly the same. Elsewhere the precise sum is used. */
static double compare_cosine(const compare_state *s, const compare_sum *dot){
  int exponent;
  const double lengths = compare_lengths(&s->one, &s->other, &exponent);
  double cosine = ldexp((s->dot.high+s->dot.low)/lengths, s->dot.exponent-exponent);
  if( fabs(cosine)<0.5 ) cosine = ldexp((dot->high+dot->low)/lengths, dot->exponent-exponent);
  return cosine>1 ? 1 : cosine<-1 ? -1 : cosine;
}

/* `times` is how often the tensors have each pair that was taken. */
static void compare_finish(const compare_state *s, uint64_t times, zt_comparison *r){
  const double n = (double)s->pairs, by = (double)times;
  compare_sum dot = s->dot;
  r->pairs = s->pairs*times;
  r->equal = s->equal*times;
  r->nans = s->nans*times;
  r->max_abs = s->most;
  if( r->pairs==0 ) return;
  compare_add_sum(&dot, &s->rest);
  r->mean_abs = ldexp((s->distance.high+s->distance.low)/n, s->distance.exponent);
  r->rmse = compare_root(&s->square, 1, n);
  r->l2 = compare_root(&s->one, by, 1);
  r->other_l2 = compare_root(&s->other, by, 1);
  r->dot = ldexp((dot.high+dot.low)*by, dot.exponent);
  r->has_cosine = s->one.high>0 && s->other.high>0 && isfinite(s->one.high)
               && isfinite(s->other.high);
  if( r->has_cosine ) r->cosine = compare_cosine(s, &dot);
}

/* The message has "[2,3] and [3,2]". */
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

static bool compare_is_integer(const zt_dtype *d){
  return d->wide==ZT_I64 || d->wide==ZT_U64;
}

/* True if f32 holds the type's values. */
static bool compare_is_narrow(const zt_dtype *d){
  return d->wide==ZT_F32 || (compare_is_integer(d) && d->width<=2);
}

/* True if two sparse tensors have so few stored elements that sorting them takes fewer passes over
** them than filling windows of their dense forms. */
static bool compare_is_sparse(const zt_tensor *t, const zt_tensor *other){
  uint64_t stored;
  return zt_tensor_is_sparse(t) && zt_tensor_is_sparse(other)
      && zt_add64(t->stored, other->stored, &stored) && stored<t->object->elements/COMPARE_SPARSE;
}

/* Take n pairs of cells without a stored element. They are all alike, and usually 0. */
static void compare_take_blank(compare_state *s, uint64_t n){
  const double x = zt_blank_number(s->dtype[0]), y = zt_blank_number(s->dtype[1]), by = (double)n;
  compare_sums sums = { 0 };
  if( n==0 ) return;
  compare_f64(&x, &y, 1, &sums);
  s->pairs += n;
  if( x==y ) s->equal += n;
  if( sums.most>s->most ) s->most = sums.most;
  compare_add(&s->distance, sums.distance*by, 0);
  compare_add(&s->square, sums.square*by, 0);
  compare_add(&s->one, sums.one*by, 0);
  compare_add(&s->other, sums.other*by, 0);
  compare_add(&s->dot, sums.dot*by, 0);
}

static int compare_take_sparse(compare_state *s, zt_tensor *t, zt_tensor *other, zt_error *err){
  zt_tensor *const both[2] = { t, other };
  if( zt_sparse_pairs(both, compare_take, s, err)==SQLITE_OK ){
    compare_take_blank(s, t->object->elements-s->pairs-s->nans);
  }
  return err->rc;
}

/* Take all pairs of two tensors of one shape. */
static int compare_take_tensors(compare_state *s, zt_tensor *t, zt_tensor *other, zt_error *err){
  const zt_ranges ranges = {
    .t = { t, other }, .n = t->object->elements, .window = compare_window(t, other),
    .size = sizeof(*s), .context = s, .begin = compare_begin, .take = compare_take,
    .merge = compare_merge
  };
  return compare_is_sparse(t, other) ? compare_take_sparse(s, t, other, err)
       : zt_ranges_go(&ranges, err);
}

/* Take each pair once, however often it occurs. */
static int compare_take_once(compare_state *s, zt_tensor *t, zt_tensor *other, uint64_t *times,
                             zt_error *err){
  zt_broadcast one, two = { .once = NULL };
  if( zt_broadcast_open(t, other, &one, err)==SQLITE_OK ){
    zt_tensor_enter(other, err);
    if( zt_broadcast_open(other, t, &two, err)==SQLITE_OK ){
      compare_take_tensors(s, one.once, two.once, err);
    }
  }
  *times = one.times;
  zt_broadcast_close(&one);
  zt_broadcast_close(&two);
  return err->rc;
}

int zt_compare(zt_tensor *t, zt_tensor *other, zt_comparison *out, zt_error *err){
  const zt_object *a = t->object, *b = other->object;
  compare_state *s;
  uint64_t times;
  *out = (zt_comparison){ .elements = a->elements };
  zt_tensor_enter(t, err);
  if( a->rank!=b->rank || memcmp(a->shape, b->shape, a->rank*sizeof(*a->shape))!=0 ){
    return compare_fail_shapes(a, b, err);
  }
  if( t->dtype->class==ZT_COMPLEX || other->dtype->class==ZT_COMPLEX ){
    return zt_fail(err, SQLITE_ERROR, "complex numbers are not compared");
  }
  s = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  *s = (compare_state){ .dtype = { t->dtype, other->dtype } };
  s->wide = zt_dtype_get(compare_is_narrow(t->dtype) && compare_is_narrow(other->dtype)
                         ? ZT_DTYPE_f32 : ZT_DTYPE_f64);
  s->whole = compare_is_integer(t->dtype) && compare_is_integer(other->dtype)
          && (t->dtype->width==8 || other->dtype->width==8);
  if( compare_take_once(s, t, other, &times, err)==SQLITE_OK ) compare_finish(s, times, out);
  sqlite3_free(s);
  return err->rc;
}
