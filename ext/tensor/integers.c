/*
** Statistics of integers. See integers.h.
**
** A block's sums are those of the distances to its least integer, which are natural numbers and
** usually short. Squares are added up as halves of 32 bits: 4,096 halves make 44 bits.
*/
#include "tensor/integers.h"

#include <math.h>
#include "core/vector.h"

#define INTEGERS_SIGN (UINT64_C(1)<<63)
#define INTEGERS_LANES 32          /* Parallel sums */

/* The min and max of a block, as signed numbers in the integers' order. */
typedef struct integers_ends {
  int64_t low, high;
  uint64_t zeros;
} integers_ends;

/* XOR with `flip` turns the bits into signed numbers of the same order. */
ZT_VECTOR static void integers_find_ends(const uint64_t *restrict p, size_t n, uint64_t flip,
                                         integers_ends *restrict out){
  int64_t low[INTEGERS_LANES], high[INTEGERS_LANES];
  uint64_t zeros[INTEGERS_LANES] = { 0 };
  size_t i = 0;
  for(size_t k=0; k<INTEGERS_LANES; k++) low[k] = high[k] = (int64_t)(p[0]^flip);
  for(; i+INTEGERS_LANES<=n; i+=INTEGERS_LANES){
    const uint64_t *q = p+i;
    for(size_t k=0; k<INTEGERS_LANES; k++){
      const int64_t x = (int64_t)(q[k]^flip);
      low[k] = x<low[k] ? x : low[k];
      high[k] = x>high[k] ? x : high[k];
      zeros[k] += q[k]==0;
    }
  }
  for(; i<n; i++){
    const int64_t x = (int64_t)(p[i]^flip);
    low[0] = x<low[0] ? x : low[0];
    high[0] = x>high[0] ? x : high[0];
    zeros[0] += p[i]==0;
  }
  *out = (integers_ends){ low[0], high[0], 0 };
  for(size_t k=0; k<INTEGERS_LANES; k++){
    if( low[k]<out->low ) out->low = low[k];
    if( high[k]>out->high ) out->high = high[k];
    out->zeros += zeros[k];
  }
}

/* Sums over a block: entry i counts 2^(32*i). */
typedef struct integers_sums {
  uint64_t sum[2], squares[4];
} integers_sums;

/* All distances are below 2^32. */
ZT_VECTOR static void integers_sum_near(const uint64_t *restrict p, size_t n, uint64_t least,
                                        integers_sums *restrict out){
  uint64_t sum[INTEGERS_LANES] = { 0 }, low[INTEGERS_LANES] = { 0 }, high[INTEGERS_LANES] = { 0 };
  size_t i = 0;
  for(; i+INTEGERS_LANES<=n; i+=INTEGERS_LANES){
    const uint64_t *q = p+i;
    for(size_t k=0; k<INTEGERS_LANES; k++){
      const uint64_t d = (q[k]-least) & UINT32_MAX, square = d*d;
      sum[k] += d;
      low[k] += square & UINT32_MAX;
      high[k] += square>>32;
    }
  }
  for(; i<n; i++){
    const uint64_t d = p[i]-least, square = d*d;
    sum[0] += d;
    low[0] += square & UINT32_MAX;
    high[0] += square>>32;
  }
  for(size_t k=0; k<INTEGERS_LANES; k++){
    out->sum[0] += sum[k];
    out->squares[0] += low[k];
    out->squares[1] += high[k];
  }
}

/* Distances have any size. (a*2^32 + b)^2 is a*a*2^64 + 2*a*b*2^32 + b*b. */
ZT_VECTOR static void integers_sum_far(const uint64_t *restrict p, size_t n, uint64_t least,
                                       integers_sums *restrict out){
  uint64_t sum0 = 0, sum1 = 0, square0 = 0, square1 = 0, square2 = 0, square3 = 0;
  for(size_t i=0; i<n; i++){
    const uint64_t d = p[i]-least, a = d>>32, b = d & UINT32_MAX;
    const uint64_t aa = a*a, ab = a*b, bb = b*b;
    sum0 += b;
    sum1 += a;
    square0 += bb & UINT32_MAX;
    square1 += (bb>>32) + 2*(ab & UINT32_MAX);
    square2 += 2*(ab>>32) + (aa & UINT32_MAX);
    square3 += aa>>32;
  }
  *out = (integers_sums){ { sum0, sum1 }, { square0, square1, square2, square3 } };
}

static zt_natural integers_natural(const uint64_t *part, unsigned parts){
  zt_natural all = { { 0 } };
  for(unsigned i=0; i<parts; i++){
    const zt_natural one = zt_natural_of(0, part[i]), at = zt_natural_shifted(&one, i);
    zt_natural_add(&all, &at);
  }
  return all;
}

static void integers_take_ends(zt_integers *all, uint64_t low, uint64_t high){
  if( all->n==0 || low<all->low ) all->low = low;
  if( all->n==0 || high>all->high ) all->high = high;
}

/* Add n numbers, given by the sums of their distances to `from`. */
static void integers_add(zt_integers *all, uint64_t n, uint64_t from, const zt_natural *sum,
                         const zt_natural *squares){
  const zt_natural origin = zt_natural_of(0, from), count = zt_natural_of(0, n);
  const zt_natural origins = zt_natural_product(&origin, &count);
  const zt_natural both = zt_natural_product(sum, &origin);
  const zt_natural square = zt_natural_product(&origins, &origin);
  all->n += n;
  zt_natural_add(&all->sum, &origins);
  zt_natural_add(&all->sum, sum);
  zt_natural_add(&all->squares, &square);
  zt_natural_add(&all->squares, &both);
  zt_natural_add(&all->squares, &both);
  zt_natural_add(&all->squares, squares);
}

zt_integers zt_integers_none(bool negative){
  return (zt_integers){ .negative = negative };
}

void zt_integers_take(zt_integers *all, const uint64_t *bits, size_t n){
  const uint64_t flip = all->negative ? 0 : INTEGERS_SIGN;
  integers_ends ends = { 0, 0, 0 };
  integers_sums sums = { { 0 }, { 0 } };
  zt_natural sum, squares;
  uint64_t low, high;
  integers_find_ends(bits, n, flip, &ends);
  low = (uint64_t)ends.low^INTEGERS_SIGN;
  high = (uint64_t)ends.high^INTEGERS_SIGN;
  if( high-low<=UINT32_MAX ) integers_sum_near(bits, n, (uint64_t)ends.low^flip, &sums);
  else integers_sum_far(bits, n, (uint64_t)ends.low^flip, &sums);
  sum = integers_natural(sums.sum, 2);
  squares = integers_natural(sums.squares, 4);
  all->zeros += ends.zeros;
  integers_take_ends(all, low, high);
  integers_add(all, n, low, &sum, &squares);
}

void zt_integers_take_zeros(zt_integers *all, uint64_t n){
  const zt_natural none = { { 0 } };
  const uint64_t zero = all->negative ? INTEGERS_SIGN : 0;
  if( n==0 ) return;
  all->zeros += n;
  integers_take_ends(all, zero, zero);
  integers_add(all, n, zero, &none, &none);
}

void zt_integers_merge(zt_integers *all, const zt_integers *more){
  if( more->n==0 ) return;
  integers_take_ends(all, more->low, more->high);
  all->n += more->n;
  all->zeros += more->zeros;
  zt_natural_add(&all->sum, &more->sum);
  zt_natural_add(&all->squares, &more->squares);
}

void zt_integers_repeat(zt_integers *all, uint64_t times){
  const zt_natural by = zt_natural_of(0, times);
  all->n *= times;
  all->zeros *= times;
  all->sum = zt_natural_product(&all->sum, &by);
  all->squares = zt_natural_product(&all->squares, &by);
}

uint64_t zt_integers_bits(const zt_integers *all, uint64_t value){
  return all->negative ? value^INTEGERS_SIGN : value;
}

/* --- Results: signed numbers are 2^63 less than the numbers that were added up --- */

double zt_integers_mean(const zt_integers *all){
  const zt_natural by = zt_natural_of(0, all->negative ? INTEGERS_SIGN : 0);
  const zt_natural n = zt_natural_of(0, all->n);
  zt_natural more = all->sum, less = zt_natural_product(&by, &n);
  if( zt_natural_compare(&more, &less)<0 ){
    zt_natural_subtract(&less, &more);
    return -zt_natural_divided(&less, all->n);
  }
  zt_natural_subtract(&more, &less);
  return zt_natural_divided(&more, all->n);
}

/* n times the sum of squares, less the square of the sum, is n*n times the variance. The offset of
** 2^63 does not change it. */
double zt_integers_std(const zt_integers *all){
  const zt_natural n = zt_natural_of(0, all->n);
  const zt_natural square = zt_natural_product(&all->sum, &all->sum);
  zt_natural distance = zt_natural_product(&all->squares, &n);
  zt_natural_subtract(&distance, &square);
  return sqrt(zt_natural_divided(&distance, 1))/(double)all->n;
}

/* (x-2^63)^2 is x^2 + 2^126 - 2^64*x. */
double zt_integers_l2(const zt_integers *all){
  zt_natural squares = all->squares;
  if( all->negative ){
    const zt_natural n = zt_natural_of(0, all->n), by = zt_natural_of(UINT64_C(1)<<62, 0);
    const zt_natural more = zt_natural_product(&n, &by), less = zt_natural_shifted(&all->sum, 2);
    zt_natural_add(&squares, &more);
    zt_natural_subtract(&squares, &less);
  }
  return sqrt(zt_natural_divided(&squares, 1));
}
