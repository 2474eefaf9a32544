/*
** Statistics of integers of up to 64 bits: sums and sums of squares are exact, and rounded when
** they are asked for. Interface to code in integers.c.
*/
#ifndef ZT_TENSOR_INTEGERS_H
#define ZT_TENSOR_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include "tensor/exact.h"

#define ZT_INTEGERS_BLOCK 4096     /* Integers that are taken at once, at most */

/* Of n integers. All is of their bits, where these have a sign plus 2^63: from 0 to 2^64-1, in the
** integers' order. */
typedef struct zt_integers {
  bool negative;             /* Some may be: the bits have a sign */
  uint64_t n, zeros;
  uint64_t low, high;        /* If n is not 0 */
  zt_natural sum, squares;
} zt_integers;

zt_integers zt_integers_none(bool negative);
/* 1 to ZT_INTEGERS_BLOCK more, their bits. */
void zt_integers_take(zt_integers *all, const uint64_t *bits, size_t n);
/* As many zeros. */
void zt_integers_take_zeros(zt_integers *all, uint64_t n);
void zt_integers_merge(zt_integers *all, const zt_integers *more);

/* The bits of an integer that is said as `low` and `high` are. */
uint64_t zt_integers_bits(const zt_integers *all, uint64_t value);

/* Of 1 or more. The mean is rounded once; std and l2 are of the exact sums, whose root is. */
double zt_integers_mean(const zt_integers *all);
double zt_integers_std(const zt_integers *all);
double zt_integers_l2(const zt_integers *all);

#endif
