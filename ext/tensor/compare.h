/*
** The distance of two tensors of equal shape, in one pass over both and a few MB. Interface to code
** in compare.c.
*/
#ifndef ZT_TENSOR_COMPARE_H
#define ZT_TENSOR_COMPARE_H

#include "tensor/layout.h"

/* The pairs of elements are compared as f64, two integers as integers. `nans` counts the pairs with
** a NaN, and they count nowhere else but in `elements`. */
typedef struct zt_comparison {
  uint64_t elements;         /* All pairs */
  uint64_t equal;            /* -0 equals 0, and an infinity equals itself */
  uint64_t nans;
  uint64_t pairs;            /* Pairs without a NaN; if 0, the fields below have no meaning */
  double max_abs, mean_abs, rmse;   /* Of the differences */
  double l2, other_l2;       /* Roots of the sums of squares */
  double dot;                /* NaN if an infinity met 0 */
  bool has_cosine;           /* l2 and other_l2 are finite and not 0 */
  double cosine;             /* From -1 to 1 */
} zt_comparison;

/* Different shapes and complex numbers are errors. */
int zt_compare(zt_tensor *t, zt_tensor *other, zt_comparison *out, zt_error *err);

#endif
