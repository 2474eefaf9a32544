/* Statistics of a tensor's values, in one pass and a few MB. Interface to code in stats.c. */
#ifndef ZT_TENSOR_STATS_H
#define ZT_TENSOR_STATS_H

#include "tensor/layout.h"

/* Statistics of the elements of the dense form; min to l2 are those of finite elements.
** REFERENCE.md states the accuracy. */
typedef struct zt_stats {
  uint64_t elements, zeros, nans, infs;
  uint64_t finite;           /* If 0, the fields below have no meaning */
  zt_scalar min, max;        /* In the tensor's own class */
  double mean;
  double std;                /* Of the population: divided by n, not n-1 */
  double l2;                 /* Root of the sum of squares */
} zt_stats;

/* Complex numbers are an error. */
int zt_stats_compute(zt_tensor *t, zt_stats *out, zt_error *err);

#endif
