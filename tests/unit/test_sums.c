/*
** Sums over more elements than a machine has: a block's sums in stats.c and compare.c are merged with themselves until they
** are those of 2^63 elements. long double gives the expected result.
*/
#include "test.h"

#include <float.h>
#include <math.h>

#define zt_stats_compute foreign_stats_compute
#define zt_compare foreign_compare
#include "tensor/stats.c"
#include "tensor/compare.c"
#undef zt_stats_compute
#undef zt_compare

#define BLOCK 4096
#define DOUBLINGS 51    /* A block then has 2^63 elements */

static double block[2][BLOCK];

static const zt_dtype *f64(void){
  return zt_dtype_get(ZT_DTYPE_f64);
}

/* Within 1e-12 of it, or as near as f64 has. */
static void check_number(double x, long double want, const char *what, double of){
  check( fabsl((long double)x-want)<=fmaxl(1e-12L*fabsl(want), 0x1p-1074L), "%s of %g: %.17g, expected %.17Lg", what, of, x, want );
}

/* Around the bounds beyond which units are taken, and far from them. */
static const double sizes[] = {
  1, 1e140, 0.99e144, 1.01e144, 1e146, 9.9e149, 1.01e150, 1e152, 1e154, 1e200, 1e298, 1e-100, 1.01e-120, 0.99e-120, 1.01e-140, 0.99e-140,
  1e-150, 1e-160, 1e-200, 1e-290
};

/* --- Statistics --- */

static stats_accumulator all, part, same_as;

static void begin_stats(stats_accumulator *a, double but_one, double rest){
  stats_begin(a, f64());
  for(size_t i=0; i<BLOCK; i++) block[0][i] = i==BLOCK/3 ? but_one : rest;
  stats_take(a, block[0], BLOCK);
}

/* Merge it with one of so many elements that is like it. */
static void double_stats(stats_accumulator *a, int times){
  for(int i=0; i<times; i++){
    same_as = *a;
    stats_merge_range(a, &same_as);
  }
}

static zt_stats finished(stats_accumulator *a){
  zt_stats s = { 0 };
  stats_finish(a, 1, &s);
  return s;
}

TEST(test_statistics_of_either_sign){
  for(size_t k=0; k<COUNT(sizes); k++){
    const double x = sizes[k];
    zt_stats s;
    begin_stats(&all, x, x);
    begin_stats(&part, -x, -x);
    double_stats(&all, DOUBLINGS-1);
    double_stats(&part, DOUBLINGS-1);
    stats_merge_range(&all, &part);
    s = finished(&all);
    check( s.finite==UINT64_C(1)<<63, "%llu", (unsigned long long)s.finite );
    check( s.mean==0, "mean of %g: %g", x, s.mean );
    check_number(s.std, x, "std", x);
    check_number(s.l2, sqrtl(0x1p63L)*x, "l2", x);
  }
}

/* The next double, one among ever more that are not: its distance to their mean is all there is. */
TEST(test_statistics_of_one_that_is_next_to_all_others){
  for(size_t k=0; k<COUNT(sizes); k++){
    const double x = sizes[k], next = nextafter(x, HUGE_VAL);
    begin_stats(&all, next, x);
    begin_stats(&part, x, x);
    for(int i=0; i<40; i++){
      const long double n = ldexpl(BLOCK, i);
      const zt_stats s = finished(&all);
      check_number(s.std, ((long double)next-x)*sqrtl((n-1)/n/n), "std", x);
      stats_merge_range(&all, &part);
      double_stats(&part, 1);
    }
  }
}

/* --- Comparison --- */

static compare_state state_of, same_of;
static zt_error none;   /* Nothing fails here */

TEST(test_comparison){
  for(size_t k=0; k<COUNT(sizes); k++){
    const double x = sizes[k];
    const void *elements[2] = { block[0], block[1] };
    zt_comparison r = { 0 };
    state_of = (compare_state){ .dtype = { f64(), f64() }, .wide = f64() };
    for(size_t i=0; i<BLOCK; i++) block[1][i] = -(block[0][i] = x);
    compare_take(&state_of, elements, BLOCK, &none);
    for(int i=0; i<DOUBLINGS; i++){
      same_of = state_of;
      compare_merge(&state_of, &same_of);
    }
    compare_finish(&state_of, 1, &r);
    check( r.pairs==UINT64_C(1)<<63 && r.max_abs==2*x, "%llu, %g", (unsigned long long)r.pairs, r.max_abs );
    check_number(r.mean_abs, 2*(long double)x, "mean_abs", x);
    check_number(r.rmse, 2*(long double)x, "rmse", x);
    check_number(r.l2, sqrtl(0x1p63L)*x, "l2", x);
    check_number(r.other_l2, sqrtl(0x1p63L)*x, "other_l2", x);
    check( r.has_cosine, "%g", x );
    check_number(r.cosine, -1, "cosine", x);
  }
}

/* Blocks of which one is beyond a bound, and one is not. */
TEST(test_comparison_of_blocks_on_either_side_of_a_bound){
  for(size_t k=0; k<COUNT(sizes); k++){
    const double x = sizes[k];
    long double squares = 0;
    zt_comparison r = { 0 };
    state_of = (compare_state){ .dtype = { f64(), f64() }, .wide = f64() };
    for(int i=0; i<40; i++){
      const double each = i%2 ? x : x/50;
      const void *elements[2] = { block[0], block[1] };
      for(size_t e=0; e<BLOCK; e++){
        block[0][e] = each;
        block[1][e] = each/2;
      }
      compare_take(&state_of, elements, BLOCK, &none);
      squares += BLOCK*(long double)each*each;
    }
    compare_finish(&state_of, 1, &r);
    check_number(r.l2, sqrtl(squares), "l2", x);
    check_number(r.rmse, sqrtl(squares/40/BLOCK)/2, "rmse", x);
    check_number(r.cosine, 1, "cosine", x);
  }
}

int main(void){
  if( LDBL_MAX_EXP<=DBL_MAX_EXP ){
    print_message("sums: long double is no wider than double here, nothing to compare with\n");
    return 0;
  }
  return run_all("sums", NULL, NULL);
}
