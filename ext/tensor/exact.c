/* Exact sums. See exact.h. */
#include "tensor/exact.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define EXACT_DIGITS 53            /* Bits of a double */
#define EXACT_LEAST (-1074)        /* Exponent of the smallest positive double */
#define EXACT_ADDED_MAX 1000       /* Numbers of up to 54 bits that a limb can add up */

/* --- Natural numbers --- */

zt_natural zt_natural_of(uint64_t high, uint64_t low){
  return (zt_natural){ { (uint32_t)low, (uint32_t)(low>>32), (uint32_t)high,
                         (uint32_t)(high>>32) } };
}

void zt_natural_add(zt_natural *a, const zt_natural *b){
  uint64_t carry = 0;
  for(int i=0; i<ZT_NATURAL_LIMBS; i++){
    carry += (uint64_t)a->limb[i]+b->limb[i];
    a->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

void zt_natural_subtract(zt_natural *a, const zt_natural *b){
  uint64_t borrow = 0;
  for(int i=0; i<ZT_NATURAL_LIMBS; i++){
    const uint64_t d = (uint64_t)a->limb[i]-b->limb[i]-borrow;
    a->limb[i] = (uint32_t)d;
    borrow = d>>63;
  }
}

int zt_natural_compare(const zt_natural *a, const zt_natural *b){
  for(int i=ZT_NATURAL_LIMBS-1; i>=0; i--){
    if( a->limb[i]!=b->limb[i] ) return a->limb[i]<b->limb[i] ? -1 : 1;
  }
  return 0;
}

zt_natural zt_natural_product(const zt_natural *a, const zt_natural *b){
  zt_natural out = { { 0 } };
  for(int i=0; i<ZT_NATURAL_LIMBS; i++){
    uint64_t carry = 0;
    for(int k=0; b->limb[i] && i+k<ZT_NATURAL_LIMBS; k++){
      carry += (uint64_t)a->limb[k]*b->limb[i] + out.limb[i+k];
      out.limb[i+k] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  return out;
}

zt_natural zt_natural_shifted(const zt_natural *a, unsigned limbs){
  zt_natural out = { { 0 } };
  for(unsigned i=limbs; i<ZT_NATURAL_LIMBS; i++) out.limb[i] = a->limb[i-limbs];
  return out;
}

/* --- Division --- */

static int exact_bits(const uint32_t *limb, int limbs){
  int bits = 32*limbs;
  while( bits>0 && !(limb[(bits-1)/32]>>((bits-1)%32) & 1) ) bits--;
  return bits;
}

static bool exact_any_below(const uint32_t *limb, int bits){
  int i = 0;
  for(; bits>=32; bits-=32, i++) if( limb[i] ) return true;
  return bits>0 && (limb[i] & ((UINT32_C(1)<<bits)-1));
}

/* Return the double nearest to the number, in units of 2^unit, divided by n. The long division runs
** bit by bit, to one bit more than a double has. */
static double exact_divide(const uint32_t *limb, int limbs, int unit, uint64_t n){
  uint64_t quotient = 0, rest = 0;
  int at = exact_bits(limb, limbs), digits = 0;
  if( at==0 ) return 0;
  while( digits<=EXACT_DIGITS && at+unit>=EXACT_LEAST ){
    const uint64_t carry = rest>>63;
    at--;
    rest = rest<<1 | (at>=0 ? limb[at/32]>>(at%32) & 1 : 0);
    quotient <<= 1;
    if( carry || rest>=n ){
      rest -= n;
      quotient |= 1;
    }
    if( quotient ) digits++;
  }
  if( quotient & 1 ){
    const bool more = rest || (at>0 && exact_any_below(limb, at));
    quotient += more || (quotient & 2);
  }
  return ldexp((double)(quotient>>1), at+1+unit);
}

double zt_natural_divided(const zt_natural *a, uint64_t n){
  return exact_divide(a->limb, ZT_NATURAL_LIMBS, 0, n);
}

/* --- Sums of doubles --- */

/* Carry, so that all limbs but the last one are from 0 to 2^32-1. */
static void exact_carry(zt_real_sum *sum){
  for(int i=0; i+1<ZT_REAL_LIMBS; i++){
    const int64_t low = (int64_t)((uint64_t)sum->limb[i] & UINT32_MAX);
    sum->limb[i+1] += (sum->limb[i]-low)/((int64_t)1<<32);
    sum->limb[i] = low;
  }
  sum->added = 0;
}

void zt_real_sum_add(zt_real_sum *sum, double x){
  uint64_t bits, digits, low, high;
  unsigned exponent, shift;
  int64_t *limb;
  memcpy(&bits, &x, sizeof(bits));
  digits = bits & ((UINT64_C(1)<<52)-1);
  exponent = (unsigned)(bits>>52) & 0x7FF;
  if( exponent ) digits |= UINT64_C(1)<<52;
  else exponent = 1;
  shift = (exponent-1)%32;
  limb = sum->limb + (exponent-1)/32;
  low = (digits & UINT32_MAX)<<shift;
  high = ((digits>>32)<<shift) + (low>>32);
  low &= UINT32_MAX;
  limb[0] += bits>>63 ? -(int64_t)low : (int64_t)low;
  limb[1] += bits>>63 ? -(int64_t)high : (int64_t)high;
  if( ++sum->added>=EXACT_ADDED_MAX ) exact_carry(sum);
}

void zt_real_sum_merge(zt_real_sum *sum, const zt_real_sum *other){
  zt_real_sum add = *other;
  exact_carry(sum);
  exact_carry(&add);
  for(int i=0; i<ZT_REAL_LIMBS; i++) sum->limb[i] += add.limb[i];
  sum->added = 1;
}

double zt_real_sum_divided(const zt_real_sum *sum, uint64_t n){
  zt_real_sum whole = *sum;
  uint32_t limb[ZT_REAL_LIMBS];
  bool negative;
  double value;
  exact_carry(&whole);
  negative = whole.limb[ZT_REAL_LIMBS-1]<0;
  for(int i=0; negative && i<ZT_REAL_LIMBS; i++) whole.limb[i] = -whole.limb[i];
  exact_carry(&whole);
  for(int i=0; i<ZT_REAL_LIMBS; i++) limb[i] = (uint32_t)whole.limb[i];
  value = exact_divide(limb, ZT_REAL_LIMBS, EXACT_LEAST, n);
  return negative ? -value : value;
}
