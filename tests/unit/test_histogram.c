/*
** How values are spread: tensor/histogram.h. Its source is built in here once more, so that the edges that it looks at are
** counted: what an element costs must not grow with the number of bins.
*/
#include "test.h"

#include <float.h>
#include <math.h>

static uint64_t looks;
#define ZT_HISTOGRAM_EDGE(h, i) (looks++, (h)->edges[i])
#define zt_histogram_compute counted_histogram_compute
#define zt_histogram_clear counted_histogram_clear
#define zt_histogram_edge counted_histogram_edge
#include "tensor/histogram.c"

#define BINS_MAX 65536

static double edges[BINS_MAX+1];

static zt_histogram histogram_of(double low, double high, uint32_t bins){
  zt_histogram h = { .bins = bins, .edges = edges };
  histogram_set_edges(&h, low, high);
  return h;
}

/* The last bin that does not begin above the value. */
static uint32_t bin_of(const zt_histogram *h, double value){
  uint32_t i = h->bins-1;
  while( i>0 && value<h->edges[i] ) i--;
  return i;
}

/* Bins of values between low and high: the right ones, for which few edges are looked at. */
static void check_values(const zt_histogram *h, const double *values, size_t n, const char *row){
  const double low = h->edges[0], high = h->edges[h->bins], unit = isfinite(high-low) ? 1 : 0.25;
  for(size_t i=0; i<n; i++){
    uint32_t bin;
    looks = 0;
    bin = histogram_bin(h, values[i], unit, high*unit-low*unit);
    check( bin==bin_of(h, values[i]), "%s: %u bins: %.17g is in %u", row, h->bins, values[i], bin );
    check( looks<=40, "%s: %u bins: %.17g costs %llu looks", row, h->bins, values[i], (unsigned long long)looks );
  }
}

static void check_between(double low, double high, const char *row){
  static const uint32_t bins[] = { 2, 3, 7, 64, 1000, 4096, BINS_MAX };
  double values[200], at = low;
  size_t n = 0;
  uint64_t seed = 5;
  values[n++] = low;
  values[n++] = high;
  while( n<20 && (at = nextafter(at, high))<high ) values[n++] = at;
  while( n<COUNT(values)/2 ){
    const double part = (double)random_below(&seed, 1<<20)/(1<<20);
    values[n++] = fmin(fmax(low*(1-part)+high*part, low), high);
  }
  for(size_t k=0; k<COUNT(bins); k++){
    const zt_histogram h = histogram_of(low, high, bins[k]);
    size_t m = n;
    /* Those that begin a bin, and their neighbours */
    while( m+3<=COUNT(values) ){
      const double edge = h.edges[random_below(&seed, bins[k]+1)];
      values[m++] = edge;
      values[m++] = fmax(nextafter(edge, low), low);
      values[m++] = fmin(nextafter(edge, high), high);
    }
    check_values(&h, values, m, row);
  }
}

TEST(test_an_element_costs_few_looks_however_many_bins){
  check_between(0, 1, "usual");
  check_between(-3.5, 1e9, "usual");
  check_between(1, nextafter(1, 2), "two neighbours");
  check_between(1, 1+5*DBL_EPSILON, "a few numbers between them");
  check_between(1e16, 1e16+4, "a few numbers between them");
  check_between(-DBL_MAX, DBL_MAX, "a distance beyond f64");
  check_between(0, DBL_TRUE_MIN, "the least number");
  check_between(-DBL_TRUE_MIN, 3*DBL_TRUE_MIN, "the least numbers");
}

/* Edges never fall, however they are rounded. */
TEST(test_edges_ascend){
  const zt_histogram near = histogram_of(0x1.7b750916a5368p-24, 0x1.7b750916a536bp-24, 976);   /* Edge 22 would be below edge 21 */
  uint64_t seed = 6;
  for(uint32_t k=1; k<=near.bins; k++) check( near.edges[k]>=near.edges[k-1], "%u", k );
  for(int i=0; i<3000; i++){
    const double low = ldexp((double)(int64_t)random64(&seed), (int)random_below(&seed, 40)-60);
    double high = low;
    for(size_t k=1+random_below(&seed, 40); k-->0; ) high = nextafter(high, HUGE_VAL);
    const zt_histogram h = histogram_of(low, high, 2+(uint32_t)random_below(&seed, 300));
    assert_true(h.edges[0]==low && h.edges[h.bins]==high);
    for(uint32_t k=1; k<=h.bins; k++) check( h.edges[k]>=h.edges[k-1], "%.17g to %.17g, %u bins: %u", low, high, h.bins, k );
  }
}

/* An integer's bin is the last one that begins at or below it, by integers alone. */
TEST(test_bins_of_integers){
  static const uint32_t bins[] = { 2, 3, 7, 1000, 65536 };
  static const uint64_t ranges[] = { 5, 1000, UINT32_MAX, (UINT64_C(1)<<53)+1, (UINT64_C(1)<<62)+12345, UINT64_MAX-1, UINT64_MAX };
  const zt_histogram h = { .bins = 12269, .range = 989893293503818859u, .whole = true };
  uint64_t seed = 7;
  assert_int_equal(histogram_whole_bin(&h, 559613650969311893u), 6936);   /* The rounded quotient is below it */
  for(size_t r=0; r<COUNT(ranges); r++){
    for(size_t b=0; b<COUNT(bins); b++){
      const zt_histogram g = { .bins = bins[b], .range = ranges[r], .whole = true };
      for(int k=0; k<500; k++){
        const uint32_t i = (uint32_t)random_below(&seed, bins[b]);
        const uint64_t edge = histogram_whole_edge(&g, i), near = edge+(uint64_t)(k%3)-1;
        const uint64_t more = k%3==0 && edge==0 ? 0 : near<=ranges[r] ? near : edge;
        const uint32_t bin = histogram_whole_bin(&g, more);
        check( histogram_whole_edge(&g, bin)<=more && (bin+1==bins[b] || more<histogram_whole_edge(&g, bin+1)),
               "%llu of %llu in %u bins: %u", (unsigned long long)more, (unsigned long long)ranges[r], bins[b], bin );
      }
    }
  }
}

int main(void){
  return run_all("histogram", NULL, NULL);
}
