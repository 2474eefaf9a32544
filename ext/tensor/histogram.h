/* The distribution of a tensor's finite values. Interface to code in histogram.c. */
#ifndef ZT_TENSOR_HISTOGRAM_H
#define ZT_TENSOR_HISTOGRAM_H

#include "tensor/layout.h"

#define ZT_HISTOGRAM_MAX 65536   /* Bins */

/* Bins of equal width from the min to the max finite value. Bin i has the values from edge i to
** below edge i+1; the last bin includes its upper edge. Edges are f64. If the min or the max is an
** integer that f64 may not hold, edges are integers, rounded up. */
typedef struct zt_histogram {
  uint32_t bins;       /* 0: no value is finite; 1: all are equal; else the requested number */
  double *edges;       /* bins+1; owned */
  bool whole;          /* Edges are integers, and `edges` has the nearest f64 */
  zt_scalar least;
  uint64_t range;      /* The max minus the min, if whole */
  uint64_t *counts;    /* bins; owned */
} zt_histogram;

/* This reads the tensor twice. bins is 1 to ZT_HISTOGRAM_MAX. Complex numbers are an error. *out
** always needs zt_histogram_clear(). */
int zt_histogram_compute(zt_tensor *t, uint32_t bins, zt_histogram *out, zt_error *err);
void zt_histogram_clear(zt_histogram *h);

/* Return edge i, from 0 to the number of bins: a float, or an integer of the tensor's class. */
zt_scalar zt_histogram_edge(const zt_histogram *h, uint32_t i);

#endif
