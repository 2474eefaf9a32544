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

int main(void){
  return run_all("histogram", NULL, NULL);
}
