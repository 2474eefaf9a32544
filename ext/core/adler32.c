/* Adler-32. See adler32.h. */
#include "core/adler32.h"

#include "core/vector.h"

#define ADLER32_MODULUS 65521u
#define ADLER32_LANES 64
#define ADLER32_ROWS 22   /* So many rows of lanes do not overflow 16 bits: 255*22*21/2 */

/* Adds rows of ADLER32_LANES bytes. Each lane sums up its bytes, and the sums before each of them;
** what the sums of all bytes are follows from these. */
ZT_VECTOR static void adler32_rows(const uint8_t *p, size_t rows, uint32_t *a, uint32_t *b){
  uint16_t sum[ADLER32_LANES] = { 0 }, sums[ADLER32_LANES] = { 0 };
  uint32_t all = 0, before = 0, within = 0;
  for(size_t row=0; row<rows; row++, p+=ADLER32_LANES){
    for(unsigned i=0; i<ADLER32_LANES; i++){
      sums[i] = (uint16_t)(sums[i]+sum[i]);
      sum[i] = (uint16_t)(sum[i]+p[i]);
    }
  }
  for(unsigned i=0; i<ADLER32_LANES; i++){
    all += sum[i];
    before += sums[i];
    within += (ADLER32_LANES-i)*sum[i];
  }
  *b += (uint32_t)(rows*ADLER32_LANES)**a+ADLER32_LANES*before+within;
  *a += all;
}

uint32_t zt_adler32(const uint8_t *p, size_t n){
  uint32_t a = 1, b = 0;
  while( n>=ADLER32_LANES ){
    const size_t rows = n/ADLER32_LANES<ADLER32_ROWS ? n/ADLER32_LANES : ADLER32_ROWS;
    adler32_rows(p, rows, &a, &b);
    a %= ADLER32_MODULUS;
    b %= ADLER32_MODULUS;
    p += rows*ADLER32_LANES;
    n -= rows*ADLER32_LANES;
  }
  for(; n>0; n--){
    a += *p++;
    b += a;
  }
  return b%ADLER32_MODULUS<<16 | a%ADLER32_MODULUS;
}
