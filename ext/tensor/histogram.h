/*
** How a tensor's finite values are spread. Interface to code in histogram.c.
*/
#ifndef ZT_TENSOR_HISTOGRAM_H
#define ZT_TENSOR_HISTOGRAM_H

#include "tensor/layout.h"

#define ZT_HISTOGRAM_MAX 65536   /* Bins */

/* Bins of equal width from the least to the greatest finite value. Bin i has the values from edge i
** up to, not with, edge i+1; the last one has that, too. Edges are f64. Where the least or the
** greatest is an integer that f64 may not hold, they are integers: the next ones above. */
typedef struct zt_histogram {
  uint32_t bins;       /* 0: no value is finite; 1: all are equal; else as many as were asked for */
  double *edges;       /* bins+1; owned */
  bool whole;          /* Edges are integers, and these those of f64 next to them: */
  zt_scalar least;
  uint64_t range;      /* How much more the greatest is */
  uint64_t *counts;    /* bins; owned */
} zt_histogram;

/* Goes through the tensor twice. bins: 1 to ZT_HISTOGRAM_MAX. Complex numbers are an error. *out
** needs zt_histogram_clear() in any case. */
int zt_histogram_compute(zt_tensor *t, uint32_t bins, zt_histogram *out, zt_error *err);
void zt_histogram_clear(zt_histogram *h);

/* Edge i, from 0 to the number of bins: a float, or an integer of the tensor's class. */
zt_scalar zt_histogram_edge(const zt_histogram *h, uint32_t i);

#endif
