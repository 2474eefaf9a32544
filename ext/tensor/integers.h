/*
** Statistics of integers of up to 64 bits, from exact sums and sums of squares. Interface to code
** in integers.c.
*/
#ifndef ZT_TENSOR_INTEGERS_H
#define ZT_TENSOR_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include "tensor/exact.h"

#define ZT_INTEGERS_BLOCK 4096     /* Integers taken at once, at most */

/* The sums of n integers. 2^63 is added to integers of signed types, so that all are from 0 to
** 2^64-1 in their own order. */
typedef struct zt_integers {
  bool negative;             /* The type is signed */
  uint64_t n, zeros;
  uint64_t low, high;        /* Min and max, if n is not 0 */
  zt_natural sum, squares;
} zt_integers;

zt_integers zt_integers_none(bool negative);
void zt_integers_take(zt_integers *all, const uint64_t *bits, size_t n);   /* 1 to the block size */
void zt_integers_take_zeros(zt_integers *all, uint64_t n);
void zt_integers_merge(zt_integers *all, const zt_integers *more);
void zt_integers_repeat(zt_integers *all, uint64_t times);   /* As if each was taken so often */

/* Return the bits of `low` or `high`. */
uint64_t zt_integers_bits(const zt_integers *all, uint64_t value);

/* Results of 1 or more integers. The mean is rounded once; std and l2 are roots of exact sums. */
double zt_integers_mean(const zt_integers *all);
double zt_integers_std(const zt_integers *all);
double zt_integers_l2(const zt_integers *all);

#endif
