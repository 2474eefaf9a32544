/*
** How far two tensors of equal shape are from each other, in one pass over both and a few MB.
** Interface to code in compare.c.
*/
#ifndef ZT_TENSOR_COMPARE_H
#define ZT_TENSOR_COMPARE_H

#include "tensor/layout.h"

/* Over pairs of elements as f64; of two integers as they are. Pairs with a NaN count as such, and
** for nothing else. */
typedef struct zt_comparison {
  uint64_t elements;         /* All pairs */
  uint64_t equal;            /* -0 equals 0, and an infinity itself */
  uint64_t nans;
  uint64_t pairs;            /* Those without a NaN; if 0, what follows has no meaning */
  double max_abs, mean_abs, rmse;   /* Of the differences */
  double l2, other_l2;       /* Roots of the sums of squares */
  double dot;                /* NaN, if an infinity met 0 */
  bool has_cosine;           /* Neither length is 0, and both are finite: */
  double cosine;             /* From -1 to 1 */
} zt_comparison;

/* Shapes that differ, and complex numbers, are an error. */
int zt_compare(zt_tensor *t, zt_tensor *other, zt_comparison *out, zt_error *err);

#endif
