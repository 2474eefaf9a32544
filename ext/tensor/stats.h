/*
** Statistics of a tensor's values, in one pass and a few MB. Interface to code in stats.c.
*/
#ifndef ZT_TENSOR_STATS_H
#define ZT_TENSOR_STATS_H

#include "tensor/layout.h"

/* Over the elements of the dense form; min to l2 over those that are finite. */
typedef struct zt_stats {
  uint64_t elements, zeros, nans, infs;
  uint64_t finite;           /* How many are; if 0, what follows has no meaning */
  zt_scalar min, max;        /* Of the tensor's own class */
  double mean;               /* How accurate these are, REFERENCE.md states */
  double std;                /* Of the population: the mean of squared distances, not n-1 */
  double l2;                 /* Root of the sum of squares */
} zt_stats;

/* Complex numbers have no statistics: an error that says so. */
int zt_stats_compute(zt_tensor *t, zt_stats *out, zt_error *err);

#endif
