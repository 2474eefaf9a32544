/*
** All elements of a tensor, or of two side by side, in ranges that the tensors alone determine:
** what comes of each range is merged in their order, so that a result has the same bits with any
** number of threads. Where elements can be read from anywhere, ranges are read by several.
** Interface to code in ranges.c.
*/
#ifndef ZT_TENSOR_RANGES_H
#define ZT_TENSOR_RANGES_H

#include "tensor/layout.h"

#define ZT_RANGE_ELEMENTS ((uint64_t)1 << 19)   /* Of a range, at least */

typedef struct zt_ranges {
  zt_tensor *t[2];           /* The second of equal shape, or NULL */
  uint64_t window;           /* Elements of each that are taken at once, at most */
  size_t size;               /* Bytes of what comes of a range */
  void *context;
  /* Begin one, in memory that may have had another; in any thread, like the next. */
  void (*begin)(void *context, void *part);
  /* Take n elements of each, which follow those before. */
  void (*take)(void *part, const void *const elements[2], size_t n);
  /* In the thread that asks, in the order of the ranges. */
  void (*merge)(void *context, void *part);
} zt_ranges;

/* Go through them. Of a tensor without elements what is stored is checked all the same. Failures
** are those of the first range that has one; of two tensors, they name the one that it is of. */
int zt_ranges_go(const zt_ranges *r, zt_error *err);

#endif
