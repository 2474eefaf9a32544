/* Histograms of two tensors with the same values. */
#ifndef ZT_TESTS_HISTOGRAMS_H
#define ZT_TESTS_HISTOGRAMS_H

#include "test.h"

#include "tensor/histogram.h"

static inline void check_histograms(zt_tensor *t, zt_tensor *expected, uint32_t bins, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_histogram x, y;
  zt_histogram_compute(t, bins, &x, &err);
  assert_succeeded(&err, row);
  zt_histogram_compute(expected, bins, &y, &err);
  assert_succeeded(&err, row);
  check( x.bins==y.bins && x.whole==y.whole, "%s: %u bins, expected %u", row, x.bins, y.bins );
  for(uint32_t i=0; i<y.bins; i++){
    check( x.counts[i]==y.counts[i], "%s: %llu in bin %u, expected %llu", row, (unsigned long long)x.counts[i], i, (unsigned long long)y.counts[i] );
  }
  zt_histogram_clear(&x);
  zt_histogram_clear(&y);
}

#endif
