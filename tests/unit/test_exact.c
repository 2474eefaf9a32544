/* Sums without a rounding: tensor/exact.h and tensor/integers.h. */
#include "test.h"

#include <float.h>
#include <math.h>
#include "tensor/exact.h"
#include "tensor/integers.h"

/* --- Natural numbers --- */

static zt_natural power(unsigned exponent){
  const zt_natural one = zt_natural_of(0, UINT64_C(1)<<(exponent%32));
  return zt_natural_shifted(&one, exponent/32);
}

TEST(test_carries_go_through_all_limbs){
  const zt_natural one = power(0);
  zt_natural most = { { 0 } }, top = power(255);
  for(int i=0; i<ZT_NATURAL_LIMBS; i++) most.limb[i] = i==ZT_NATURAL_LIMBS-1 ? UINT32_MAX>>1 : UINT32_MAX;
  check( zt_natural_compare(&most, &top)<0 && zt_natural_compare(&top, &most)>0, "order" );
  zt_natural_add(&most, &one);
  check( zt_natural_compare(&most, &top)==0, "sum" );
  zt_natural_subtract(&most, &one);
  for(int i=0; i+1<ZT_NATURAL_LIMBS; i++) check( most.limb[i]==UINT32_MAX, "limb %d: %x", i, most.limb[i] );
}

/* (2^64-1)^2 * (2^64-1) + (2^64-1)^2 = 2^64 * (2^64-1)^2 */
TEST(test_products_of_the_largest){
  const zt_natural most = zt_natural_of(0, UINT64_MAX);
  const zt_natural square = zt_natural_product(&most, &most), want = zt_natural_shifted(&square, 2);
  zt_natural cube = zt_natural_product(&square, &most);
  check( square.limb[0]==1 && square.limb[1]==0 && square.limb[2]==UINT32_MAX-1 && square.limb[3]==UINT32_MAX, "square" );
  zt_natural_add(&cube, &square);
  check( zt_natural_compare(&cube, &want)==0, "cube" );
}

TEST(test_division_rounds_once_to_even){
  static const struct { uint64_t high, low, n; double want; } rows[] = {
    { 0, 0, 1, 0 }, { 0, 1, 1, 1 }, { 0, 1, 3, 1.0/3 }, { 0, 1, UINT64_MAX, 0x1p-64 }, { 0, UINT64_MAX, UINT64_MAX, 1 },
    { 0, UINT64_MAX, 1, 0x1p64 }, { UINT64_MAX, UINT64_MAX, 1, 0x1p128 }, { UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x1p64 },
    { 0, (UINT64_C(1)<<53)+1, 1, 0x1p53 }, { 0, (UINT64_C(1)<<53)+3, 1, 0x1p53+4 }, { 0, (UINT64_C(1)<<54)+2, 1, 0x1p54 },
    { 0, (UINT64_C(1)<<54)+3, 1, 0x1p54+4 }, { 0, (UINT64_C(1)<<55)+9, 2, 0x1p54+4 }, { 1, 0, 3, 0x1p64/3 },
    { UINT64_C(1)<<63, 0, UINT64_C(1)<<63, 0x1p64 }, { 1, 1, 1, 0x1p64 }, { 1, 2048, 1, 0x1p64 }, { 1, 2049, 1, 0x1p64+4096 },
    { UINT64_C(1)<<21, UINT64_C(1)<<32, 1, 0x1p85 }, { UINT64_C(1)<<21, UINT64_C(3)<<32, 1, 0x1p85+0x1p34 },   /* A tie above whole limbs */
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_natural a = zt_natural_of(rows[i].high, rows[i].low);
    const double got = zt_natural_divided(&a, rows[i].n);
    check( got==rows[i].want, "row %zu: %.17g, not %.17g", i, got, rows[i].want );
  }
  for(unsigned k=0; k<256; k++){
    const zt_natural a = power(k);
    check( zt_natural_divided(&a, 1)==ldexp(1, (int)k), "2^%u", k );
  }
}

/* Nothing changes by nothing. */
TEST(test_no_integers){
  zt_integers all = zt_integers_none(true), before;
  const zt_integers none = zt_integers_none(true);
  zt_integers_take_zeros(&all, 3);
  before = all;
  zt_integers_take_zeros(&all, 0);
  zt_integers_merge(&all, &none);
  assert_memory_equal(&all, &before, sizeof(all));
}

/* --- Sums of doubles --- */

static zt_real_sum sum_of(const double *p, size_t n){
  zt_real_sum sum = { .added = 0 };
  for(size_t i=0; i<n; i++) zt_real_sum_add(&sum, p[i]);
  return sum;
}

TEST(test_what_is_left_of_numbers_that_cancel){
  static const struct { double p[6]; uint64_t n; double want; } rows[] = {
    { { 1e308, 1, -1e308 }, 3, 1.0/3 }, { { DBL_MAX, DBL_MAX, DBL_MAX }, 3, DBL_MAX }, { { -DBL_MAX, -DBL_MAX }, 2, -DBL_MAX },
    { { 1e300, 1e-300, 3, -1e300, 5e-324 }, 1, 3 }, { { 5e-324, -1e-323 }, 1, -5e-324 }, { { 5e-324 }, 2, 0 }, { { 1.5e-323 }, 2, 1e-323 },
    { { 5e-324, 5e-324 }, 3, 5e-324 }, { { 0.0, -0.0 }, 2, 0 }, { { 1, 0x1p-53 }, 1, 1 }, { { 1, 0x1p-53, 5e-324 }, 1, 1+DBL_EPSILON },
    { { -1, -0x1p-53, -5e-324 }, 1, -1-DBL_EPSILON }, { { DBL_MAX, 0x1p969 }, 1, DBL_MAX }, { { DBL_MAX, 0x1p970 }, 1, HUGE_VAL },
    { { 1+DBL_EPSILON, 0x1p-53 }, 1, 1+2*DBL_EPSILON }, { { DBL_MIN, -5e-324 }, 1, DBL_MIN-5e-324 }, { { DBL_MIN, 5e-324 }, 2, DBL_MIN/2 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_real_sum sum = sum_of(rows[i].p, COUNT(rows[i].p));
    const double got = zt_real_sum_divided(&sum, rows[i].n);
    check( got==rows[i].want, "row %zu: %.17g, not %.17g", i, got, rows[i].want );
  }
}

/* Every exponent: a number, many times over, of either sign, with all its digits. */
TEST(test_every_exponent){
  for(int e=-1074; e<=1023; e++){
    const double x = e<-1021 ? ldexp(1, e) : ldexp(2-DBL_EPSILON, e);
    zt_real_sum sum = { .added = 0 }, other = { .added = 0 };
    for(int i=0; i<3001; i++) zt_real_sum_add(&sum, x);
    check( zt_real_sum_divided(&sum, 3001)==x, "3001 times %g", x );
    for(int i=0; i<3000; i++) zt_real_sum_add(&other, -x);
    zt_real_sum_merge(&other, &sum);
    check( zt_real_sum_divided(&other, 1)==x, "%g is left of it", x );
    for(int i=0; i<2; i++) zt_real_sum_add(&other, -x);
    check( zt_real_sum_divided(&other, 1)==-x, "-%g", x );
  }
}

/* A sum of 2^63 of the largest. */
TEST(test_as_many_as_there_can_be){
  zt_real_sum sum = { .added = 0 };
  zt_real_sum_add(&sum, -DBL_MAX);
  for(int i=0; i<63; i++){
    const zt_real_sum same = sum;
    zt_real_sum_merge(&sum, &same);
  }
  check( zt_real_sum_divided(&sum, UINT64_C(1)<<63)==-DBL_MAX, "%g", zt_real_sum_divided(&sum, UINT64_C(1)<<63) );
}

/* --- Integers --- */

static uint64_t bits[ZT_INTEGERS_BLOCK];

/* Half of them the least, half of them the greatest of 64 bits, doubled until there are 2^63. */
TEST(test_2_to_the_63_integers_at_both_ends){
  for(int negative=0; negative<2; negative++){
    zt_integers all = zt_integers_none(negative);
    const double l2 = negative ? 0x1p63 : 0x1p64*sqrt(0.5);
    for(size_t i=0; i<ZT_INTEGERS_BLOCK; i++) bits[i] = (i%2 ? UINT64_MAX : 0) ^ (negative ? UINT64_C(1)<<63 : 0);
    zt_integers_take(&all, bits, ZT_INTEGERS_BLOCK);
    for(int i=12; i<63; i++){
      const zt_integers same = all;
      zt_integers_merge(&all, &same);
    }
    check( all.n==UINT64_C(1)<<63 && all.zeros==(negative ? 0 : all.n/2), "%llu", (unsigned long long)all.zeros );
    check( zt_integers_mean(&all)==(negative ? -0.5 : 0x1p63), "mean %.17g", zt_integers_mean(&all) );
    check( zt_integers_std(&all)==0x1p63, "std %.17g", zt_integers_std(&all) );
    check( fabs(zt_integers_l2(&all)/(sqrt(0x1p63)*l2)-1)<=2*DBL_EPSILON, "l2 %.17g", zt_integers_l2(&all) );
  }
}

/* Distances below 2^32 and above are taken by loops of their own. */
TEST(test_either_loop_and_every_length){
  static const uint64_t spans[] = { 1, 3, 1<<20, UINT32_MAX, UINT64_C(1)<<32, (UINT64_C(1)<<32)+1, UINT64_MAX };
  for(size_t k=0; k<COUNT(spans); k++){
    for(size_t n=1; n<ZT_INTEGERS_BLOCK; n=n*5/4+1){
      zt_integers all = zt_integers_none(false);
      const long double near = (long double)spans[k]*(long double)(n/2), mean = near/(long double)n, d = (long double)spans[k];
      const long double variance = d*d*(long double)(n/2)/(long double)n - mean*mean;
      for(size_t i=0; i<n; i++) bits[i] = i%2 ? spans[k] : 0;
      zt_integers_take(&all, bits, n);
      check( fabsl((long double)zt_integers_mean(&all)-mean)<=1e-15L*mean, "%llu, %zu: mean %.17g", (unsigned long long)spans[k], n, zt_integers_mean(&all) );
      check( fabsl((long double)zt_integers_std(&all)-sqrtl(variance))<=4e-15L*sqrtl(variance), "%llu, %zu: std %.17g",
             (unsigned long long)spans[k], n, zt_integers_std(&all) );
      check( all.zeros==n-n/2 && all.low==0 && all.high==(n>1 ? spans[k] : 0), "%zu", n );
    }
  }
}

int main(void){
  return run_all("exact", NULL, NULL);
}
