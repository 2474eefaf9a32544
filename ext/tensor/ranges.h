/*
** Passes over the elements of a tensor, or of two in parallel, in ranges. The ranges depend on the
** tensors alone, and the results of ranges are merged in order, so that the final result has the
** same bits with any number of threads. Several threads read the ranges if random access is cheap.
** Interface to code in ranges.c.
*/
#ifndef ZT_TENSOR_RANGES_H
#define ZT_TENSOR_RANGES_H

#include "tensor/layout.h"

#define ZT_RANGE_ELEMENTS ((uint64_t)1 << 19)   /* Elements of a range, at least */

typedef struct zt_ranges {
  zt_tensor *t[2];           /* The second has the same shape, or is NULL */
  uint64_t first, n;         /* Elements first to first+n of each; there are some if it has some */
  uint64_t window;           /* Elements of each tensor taken at once, at most */
  size_t size;               /* Bytes of a range's result */
  void *context;
  /* Begin a range's result in memory that may have had another one. `first` is the range's first
  ** element, counted from the pass's first one; in any thread. */
  void (*begin)(void *context, void *part, uint64_t first);
  /* Return the memory that gets the next elements of a single tensor, counted in the same way; in
  ** any thread. NULL: memory that each thread uses again. */
  void *(*place)(void *context, uint64_t first);
  /* Take the next n elements of each tensor; in any thread. */
  int (*take)(void *part, const void *const elements[2], size_t n, zt_error *err);
  /* Merge the results in the order of the ranges; in the caller's thread. */
  void (*merge)(void *context, void *part);
} zt_ranges;

/* Make the pass. The stored bytes of a tensor without elements are still checked. The error is that
** of the first range that fails; if there are two tensors, its place names the one that failed. */
int zt_ranges_go(const zt_ranges *r, zt_error *err);

#endif
