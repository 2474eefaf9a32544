/*
** ggml's blocks of 256 elements whose codes are numbers: the K types, which scale in two steps, and
** the ternary types. See ggml.h; d and m are f16.
**
** Codes lie in parts of 32 or 16 bytes: the lowest bits of these bytes are the part's first 32 or
** 16 codes, the next bits the next codes.
*/
#include "tensor/ggml_blocks.h"

/* s[16], q[64] of 2 bits, d, m; each 16 elements have a scale and a minimum of 4 bits in s:
** d*scale*q - m*minimum. */
ZT_VECTOR static void ggml_k_decode_q2_k(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=84, out+=256){
    uint32_t scale = zt_le16(p+80), least = zt_le16(p+82);
    float d = zt_ggml_half(scale), m = zt_ggml_half(least);
    for(size_t g=0; g<16; g++){
      const uint8_t *q = p + 16 + g/8*32 + g%2*16;
      float dl = d * (float)(p[g] & 15), ml = m * (float)(p[g] >> 4);
      ZT_ROLLED for(size_t k=0; k<16; k++){
        out[16*g+k] = dl * (float)(q[k] >> g%8/2*2 & 3) - ml;
      }
    }
    if( zt_ggml_is_special(scale) || zt_ggml_is_special(least) ) zt_ggml_settle(out, 256);
  }
}

/* h[32], q[64] of 2 bits, s[12], d. Bit g/2 of h belongs to the elements of group g: if it is 0, 4
** is subtracted. 16 elements share a scale of 6 bits, the lower 4 in s[0..8], the upper 2 in
** s[8..12]: d*(scale-32)*q. */
ZT_VECTOR static void ggml_k_decode_q3_k(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=110, out+=256){
    const uint8_t *s = p+96;
    uint32_t scale = zt_le16(p+108);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<16; g++){
      const uint8_t *high = p + g%2*16, *q = p + 32 + g/8*32 + g%2*16;
      int factor = (s[g%8] >> g/8*4 & 15) | (s[8+g%4] >> g/4*2 & 3) << 4;
      float dl = d * (float)(factor-32);
      for(size_t k=0; k<16; k++){
        int code = (q[k] >> g%8/2*2 & 3) - 4 + (high[k] >> g/2 & 1)*4;
        out[16*g+k] = dl * (float)code;
      }
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* Unpack s[12] of q4_k and q5_k: 8 scales and 8 minima of 6 bits. The first 4 of each are the lower
** bits of a byte. The others have 4 bits in the last bytes, and 2 above the first ones. */
ZT_INLINE void ggml_k_unpack(const uint8_t *s, float d, float m, float *scales, float *minima){
  for(size_t g=0; g<4; g++){
    scales[g] = d * (float)(s[g] & 63);
    minima[g] = m * (float)(s[4+g] & 63);
    scales[4+g] = d * (float)((s[8+g] & 15) | s[g] >> 6 << 4);
    minima[4+g] = m * (float)(s[8+g] >> 4 | s[4+g] >> 6 << 4);
  }
}

/* d, m, s[12], q[128] of 4 bits; each 32 elements have a scale and a minimum:
** d*scale*q - m*minimum. */
ZT_VECTOR static void ggml_k_decode_q4_k(const uint8_t *restrict p, float *restrict out, size_t n){
  float scales[8], minima[8];
  for(size_t i=0; i<n; i++, p+=144, out+=256){
    uint32_t scale = zt_le16(p), least = zt_le16(p+2);
    ggml_k_unpack(p+4, zt_ggml_half(scale), zt_ggml_half(least), scales, minima);
    for(size_t g=0; g<8; g+=2){
      const uint8_t *q = p + 16 + g*16;
      for(size_t k=0; k<32; k++){
        out[32*g+k] = scales[g] * (float)(q[k] & 15) - minima[g];
        out[32*g+32+k] = scales[g+1] * (float)(q[k] >> 4) - minima[g+1];
      }
    }
    if( zt_ggml_is_special(scale) || zt_ggml_is_special(least) ) zt_ggml_settle(out, 256);
  }
}

/* d, m, s[12], h[32], q[128] of 4 bits; bit g of h is the fifth bit of the codes of group g. The
** rest is as in q4_k. */
ZT_VECTOR static void ggml_k_decode_q5_k(const uint8_t *restrict p, float *restrict out, size_t n){
  float scales[8], minima[8];
  for(size_t i=0; i<n; i++, p+=176, out+=256){
    const uint8_t *high = p+16;
    uint32_t scale = zt_le16(p), least = zt_le16(p+2);
    ggml_k_unpack(p+4, zt_ggml_half(scale), zt_ggml_half(least), scales, minima);
    for(size_t g=0; g<8; g+=2){
      const uint8_t *q = p + 48 + g*16;
      for(size_t k=0; k<32; k++){
        int a = (q[k] & 15) | (high[k] >> g & 1) << 4, b = q[k] >> 4 | (high[k] >> (g+1) & 1) << 4;
        out[32*g+k] = scales[g] * (float)a - minima[g];
        out[32*g+32+k] = scales[g+1] * (float)b - minima[g+1];
      }
    }
    if( zt_ggml_is_special(scale) || zt_ggml_is_special(least) ) zt_ggml_settle(out, 256);
  }
}

/* q[128] of 4 bits, in parts of 64; h[64] with the 2 upper bits of each, in parts of 32; s[16],
** signed bytes, one for each 16 elements; d: d*scale*(q-32). */
ZT_VECTOR static void ggml_k_decode_q6_k(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=210, out+=256){
    uint32_t scale = zt_le16(p+208);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<16; g++){
      /* Group g is 16 of the 32 elements of a quarter of half a block */
      size_t quarter = g%8/2, at = g%2*16;
      const uint8_t *q = p + g/8*64 + quarter%2*32 + at, *high = p + 128 + g/8*32 + at;
      float dl = d * (float)(int8_t)p[192+g];
      for(size_t k=0; k<16; k++){
        int code = (q[k] >> quarter/2*4 & 15) | (high[k] >> quarter*2 & 3) << 4;
        out[16*g+k] = dl * (float)(code-32);
      }
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* Each of n bytes is a fraction of 256 with `digits` ternary digits: 3 times the fractional part
** has the next digit as its integer part. The first digits of all bytes come first. */
ZT_INLINE void ggml_k_digits(const uint8_t *restrict p, size_t n, size_t digits, float d,
                             float *restrict out){
  static const uint8_t powers[] = { 1, 3, 9, 27, 81 };
  for(size_t g=0; g<digits; g++){
    for(size_t k=0; k<n; k++){
      uint8_t rest = (uint8_t)(p[k] * powers[g]);
      int16_t digit = (int16_t)((uint16_t)(rest*3) >> 8);
      out[n*g+k] = (float)(digit-1) * d;
    }
  }
}

/* q[32] and q[16] of 5 digits, q[4] of 4, d: d*(digit-1). */
ZT_VECTOR static void ggml_k_decode_tq1_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=54, out+=256){
    uint32_t scale = zt_le16(p+52);
    float d = zt_ggml_half(scale);
    ggml_k_digits(p, 32, 5, d, out);
    ggml_k_digits(p+32, 16, 5, d, out+160);
    ggml_k_digits(p+48, 4, 4, d, out+240);
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* q[64] of 2 bits, d: d*(q-1). */
ZT_VECTOR static void ggml_k_decode_tq2_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=66, out+=256){
    uint32_t scale = zt_le16(p+64);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<8; g++){
      for(size_t k=0; k<32; k++) out[32*g+k] = (float)((p[g/4*32+k] >> g%4*2 & 3) - 1) * d;
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

#define GGML_K_SHOW(name) zt_ggml_decoder *const zt_ggml_decode_##name = ggml_k_decode_##name;
GGML_K_SHOW(q2_k) GGML_K_SHOW(q3_k) GGML_K_SHOW(q4_k) GGML_K_SHOW(q5_k) GGML_K_SHOW(q6_k)
GGML_K_SHOW(tq1_0) GGML_K_SHOW(tq2_0)
