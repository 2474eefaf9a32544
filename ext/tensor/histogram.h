/*
** How a tensor's finite values are spread. Interface to code in histogram.c.
*/
#ifndef ZT_TENSOR_HISTOGRAM_H
#define ZT_TENSOR_HISTOGRAM_H

#include "tensor/layout.h"

#define ZT_HISTOGRAM_MAX 65536   /* Bins */

/* Bins of equal width from the least to the greatest finite value, as f64. Bin i has the values
** from edges[i] up to, not with, edges[i+1]; the last one has that, too. */
typedef struct zt_histogram {
  uint32_t bins;       /* 0: no value is finite; 1: all are equal; else as many as were asked for */
  double *edges;       /* bins+1; owned */
  uint64_t *counts;    /* bins; owned */
} zt_histogram;

/* Goes through the tensor twice. bins: 1 to ZT_HISTOGRAM_MAX. Complex numbers are an error. *out
** needs zt_histogram_clear() in any case. */
int zt_histogram_compute(zt_tensor *t, uint32_t bins, zt_histogram *out, zt_error *err);
void zt_histogram_clear(zt_histogram *h);

#endif
