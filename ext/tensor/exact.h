/*
** Sums without a rounding, and what is divided and rounded once at the end. The same on every
** machine: no integer is wider than 64 bits. Interface to code in exact.c.
*/
#ifndef ZT_TENSOR_EXACT_H
#define ZT_TENSOR_EXACT_H

#include <stdint.h>

/* A natural number below 2^256, the least limb first. It holds n times the sum of n squares of 64
** bits, whatever n is. */
#define ZT_NATURAL_LIMBS 8
typedef struct zt_natural {
  uint32_t limb[ZT_NATURAL_LIMBS];
} zt_natural;

/* high*2^64 + low. */
zt_natural zt_natural_of(uint64_t high, uint64_t low);
void zt_natural_add(zt_natural *a, const zt_natural *b);
void zt_natural_subtract(zt_natural *a, const zt_natural *b);   /* Not more than a */
/* Negative, 0 or positive, as a is less than b, equal or more. */
int zt_natural_compare(const zt_natural *a, const zt_natural *b);
zt_natural zt_natural_product(const zt_natural *a, const zt_natural *b);
/* times 2^(32*limbs). */
zt_natural zt_natural_shifted(const zt_natural *a, unsigned limbs);
/* The nearest double to a/n, of two the even one. */
double zt_natural_divided(const zt_natural *a, uint64_t n);

/* A sum of up to 2^64 finite doubles, in units of the least one: limb i counts 2^(32*i) of them.
** Limbs have a sign and room for carries. {0} is no number yet. */
#define ZT_REAL_LIMBS 70
typedef struct zt_real_sum {
  int64_t limb[ZT_REAL_LIMBS];
  uint32_t added;            /* Numbers since carries were last brought to their limbs */
} zt_real_sum;

void zt_real_sum_add(zt_real_sum *sum, double x);
void zt_real_sum_merge(zt_real_sum *sum, const zt_real_sum *other);
/* The nearest double to sum/n, of two the even one. */
double zt_real_sum_divided(const zt_real_sum *sum, uint64_t n);

#endif
