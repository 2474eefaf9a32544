/*
** Exact sums, which are divided and rounded once at the end. Results are the same on every machine,
** because no integer is wider than 64 bits. Interface to code in exact.c.
*/
#ifndef ZT_TENSOR_EXACT_H
#define ZT_TENSOR_EXACT_H

#include <stdint.h>

/* A natural number below 2^256, the least limb first. It holds n times the sum of n squares of
** 64-bit integers for any n. */
#define ZT_NATURAL_LIMBS 8
typedef struct zt_natural {
  uint32_t limb[ZT_NATURAL_LIMBS];
} zt_natural;

/* high*2^64 + low. */
zt_natural zt_natural_of(uint64_t high, uint64_t low);
void zt_natural_add(zt_natural *a, const zt_natural *b);
void zt_natural_subtract(zt_natural *a, const zt_natural *b);   /* Not more than a */
int zt_natural_compare(const zt_natural *a, const zt_natural *b);   /* As memcmp() */
zt_natural zt_natural_product(const zt_natural *a, const zt_natural *b);
zt_natural zt_natural_shifted(const zt_natural *a, unsigned limbs);   /* a * 2^(32*limbs) */
/* Return a/n, rounded to the nearest double, ties to even. */
double zt_natural_divided(const zt_natural *a, uint64_t n);

/* A sum of up to 2^64 finite doubles, in units of the smallest positive double: limb i counts
** 2^(32*i) of them. Limbs have a sign and room for carries. {0} is the empty sum. */
#define ZT_REAL_LIMBS 70
typedef struct zt_real_sum {
  int64_t limb[ZT_REAL_LIMBS];
  uint32_t added;            /* Numbers added since the last carry */
} zt_real_sum;

void zt_real_sum_add(zt_real_sum *sum, double x);
void zt_real_sum_merge(zt_real_sum *sum, const zt_real_sum *other);
/* Return sum/n, rounded to the nearest double, ties to even. */
double zt_real_sum_divided(const zt_real_sum *sum, uint64_t n);

#endif
