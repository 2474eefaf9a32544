/*
** ggml's IQ blocks, whose codes are indices of vectors in grids, or of numbers in a list. See
** ggml.h; d is f16. All but iq4_nl have 256 elements, in 8 groups of 32.
*/
#include "tensor/ggml_blocks.h"
#include "tensor/ggml_grids.h"

/* A u64 holds eight numbers of a byte each, the first in the lowest byte. */
#define GGML_IQ_EACH 0x0101010101010101u

ZT_INLINE void ggml_iq_put(uint64_t bytes, int8_t *codes){
  for(int k=0; k<8; k++) codes[k] = (int8_t)(uint8_t)(bytes >> 8*k);
}

/* Multiply n codes by a scale. */
ZT_INLINE void ggml_iq_multiply(const int8_t *restrict codes, size_t n, float scale,
                                float *restrict out){
  for(size_t k=0; k<n; k++) out[k] = (float)codes[k] * scale;
}

/* Negate the numbers whose bit is 1. No number is 0. */
ZT_INLINE uint64_t ggml_iq_negate(uint64_t bytes, uint32_t bits){
  /* Byte k becomes bit k */
  uint64_t ones = bits*GGML_IQ_EACH & 0x8040201008040201u;
  ones = (ones + 0x00406070787C7E7Fu) >> 7 & GGML_IQ_EACH;
  return (bytes ^ ones*0xFF) + ones;
}

/* Extend 7 bits of signs to 8: the eighth makes the number of negative elements even. */
ZT_INLINE uint32_t ggml_iq_signs(uint32_t bits){
  uint32_t parity = bits ^ bits >> 4;
  parity ^= parity >> 2;
  return bits | ((parity ^ parity >> 1) & 1) << 7;
}

/* --- 2 bits an element, and less --- */

/* Spread an entry's 8 codes of 2 bits to bytes. */
ZT_INLINE uint64_t ggml_iq_spread2(uint64_t entry){
  entry = (entry | entry << 24) & 0x000000FF000000FFu;
  entry = (entry | entry << 12) & 0x000F000F000F000Fu;
  return (entry | entry << 6) & 0x0303030303030303u;
}

/* Decode an entry of the iq2 grids. */
ZT_INLINE void ggml_iq_put2(uint32_t entry, uint32_t signs, int8_t *codes){
  uint64_t numbers = ggml_iq_spread2(entry);
  numbers = numbers*17 + (numbers >> 1 & GGML_IQ_EACH) + 8*GGML_IQ_EACH;
  ggml_iq_put(ggml_iq_negate(numbers, signs), codes);
}

/* d, then for each group 4 entries of one byte and a word, which has 4 times 7 bits of signs, and
** the scale above them: d*(scale+0.5)/4. */
ZT_VECTOR static void ggml_iq_decode_iq2_xxs(const uint8_t *restrict p, float *restrict out,
                                             size_t n){
  int8_t codes[32];
  for(size_t i=0; i<n; i++, p+=66, out+=256){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<8; g++){
      const uint8_t *q = p + 2 + 8*g;
      uint32_t word = zt_le32(q+4);
      float dl = d * (0.5f + (float)(int)(word >> 28)) * 0.25f;
      for(size_t v=0; v<4; v++){
        ggml_iq_put2(zt_ggml_grid_iq2_xxs[q[v]], ggml_iq_signs(word >> 7*v & 127), codes + 8*v);
      }
      ggml_iq_multiply(codes, 32, dl, out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* Scale the codes of iq2_xs and iq2_s: 16 elements share a scale of 4 bits, d*(scale+0.5)/4. */
ZT_INLINE void ggml_iq_multiply2(const int8_t *restrict codes, const uint8_t *restrict scales,
                                 float d, float *restrict out){
  for(size_t g=0; g<16; g++){
    float dl = d * (0.5f + (float)(scales[g/2] >> g%2*4 & 15)) * 0.25f;
    ggml_iq_multiply(codes + 16*g, 16, dl, out + 16*g);
  }
}

/* d, 32 words of 16 bits (an entry of 9 bits and signs of 7), s[8]. */
ZT_VECTOR static void ggml_iq_decode_iq2_xs(const uint8_t *restrict p, float *restrict out,
                                            size_t n){
  int8_t codes[256];
  for(size_t i=0; i<n; i++, p+=74, out+=256){
    uint32_t scale = zt_le16(p);
    for(size_t v=0; v<32; v++){
      uint32_t word = zt_le16(p + 2 + 2*v);
      ggml_iq_put2(zt_ggml_grid_iq2_xs[word & 511], ggml_iq_signs(word >> 9), codes + 8*v);
    }
    ggml_iq_multiply2(codes, p+66, zt_ggml_half(scale), out);
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* d, q[32], signs[32], h[8] with the 2 upper bits of each entry, s[8]. */
ZT_VECTOR static void ggml_iq_decode_iq2_s(const uint8_t *restrict p, float *restrict out,
                                           size_t n){
  int8_t codes[256];
  for(size_t i=0; i<n; i++, p+=82, out+=256){
    uint32_t scale = zt_le16(p);
    for(size_t v=0; v<32; v++){
      unsigned entry = p[2+v] | ((unsigned)p[66+v/4] >> v%4*2 & 3) << 8;
      ggml_iq_put2(zt_ggml_grid_iq2_s[entry], p[34+v], codes + 8*v);
    }
    ggml_iq_multiply2(codes, p+74, zt_ggml_half(scale), out);
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* Decode an entry of the iq1 grid. Its numbers are -1, 0 and 1, plus or minus an eighth. A code is
** 8 times the number, plus 16. */
ZT_INLINE void ggml_iq_put1(uint32_t entry, bool less, int8_t *codes){
  ggml_iq_put(ggml_iq_spread2(entry)*8 + (less ? 7 : 9)*GGML_IQ_EACH, codes);
}

ZT_INLINE void ggml_iq_multiply1(const int8_t *restrict codes, size_t n, float scale,
                                 float *restrict out){
  for(size_t k=0; k<n; k++) out[k] = (float)(codes[k]-16) * 0.125f * scale;
}

/* d, q[32], for each group a word of 16 bits: the 3 upper bits of each of 4 entries, a scale of 3
** bits, and a bit for minus an eighth: d*(1+2*scale). */
ZT_VECTOR static void ggml_iq_decode_iq1_s(const uint8_t *restrict p, float *restrict out,
                                           size_t n){
  int8_t codes[32];
  for(size_t i=0; i<n; i++, p+=50, out+=256){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<8; g++){
      uint32_t word = zt_le16(p + 34 + 2*g);
      float dl = d * (float)(int)(1 + 2*(word >> 12 & 7));
      for(size_t v=0; v<4; v++){
        uint32_t entry = p[2+4*g+v] | (word >> 3*v & 7) << 8;
        ggml_iq_put1(zt_ggml_grid_iq1[entry], word >> 15, codes + 8*v);
      }
      ggml_iq_multiply1(codes, 32, dl, out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* q[32], h[16], 4 words of 16 bits. h has 4 bits for each 8 elements: the entry's 3 upper bits, and
** a bit for minus an eighth. A word has 4 scales of 3 bits, for 16 elements each, and 4 bits of d,
** the lowest in the first word: d*(1+2*scale). */
ZT_VECTOR static void ggml_iq_decode_iq1_m(const uint8_t *restrict p, float *restrict out,
                                           size_t n){
  int8_t codes[16];
  for(size_t i=0; i<n; i++, p+=56, out+=256){
    const uint8_t *words = p+48;
    uint32_t scale = (uint32_t)(words[1] >> 4 | (words[3] & 0xF0) | (words[5] >> 4) << 8
                                | (words[7] >> 4) << 12);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<16; g++){
      uint32_t low = p[32+g] & 15, high = p[32+g] >> 4, word = zt_le16(words + g/4*2);
      float dl = d * (float)(int)(1 + 2*(word >> g%4*3 & 7));
      ggml_iq_put1(zt_ggml_grid_iq1[p[2*g] | (low & 7) << 8], low >> 3, codes);
      ggml_iq_put1(zt_ggml_grid_iq1[p[2*g+1] | (high & 7) << 8], high >> 3, codes + 8);
      ggml_iq_multiply1(codes, 16, dl, out + 16*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* --- 3 bits an element --- */

/* Spread two entries' 4 codes of 3 bits to bytes. */
ZT_INLINE uint64_t ggml_iq_spread3(uint64_t a, uint64_t b){
  uint64_t entry = a | b << 32;
  entry = (entry | entry << 10) & 0x003F003F003F003Fu;
  return (entry | entry << 5) & 0x0707070707070707u;
}

/* d, q[64], then for each group a word as in iq2_xxs: d*(scale+0.5)/2. */
ZT_VECTOR static void ggml_iq_decode_iq3_xxs(const uint8_t *restrict p, float *restrict out,
                                             size_t n){
  int8_t codes[32];
  for(size_t i=0; i<n; i++, p+=98, out+=256){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<8; g++){
      const uint8_t *q = p + 2 + 8*g;
      uint32_t word = zt_le32(p + 66 + 4*g);
      float dl = d * (0.5f + (float)(int)(word >> 28)) * 0.5f;
      for(size_t v=0; v<4; v++){
        /* The last code is not 60, but 62 */
        uint64_t numbers = ggml_iq_spread3(zt_ggml_grid_iq3_xxs[q[2*v]],
                                           zt_ggml_grid_iq3_xxs[q[2*v+1]]);
        numbers = numbers*8 + ((numbers + GGML_IQ_EACH) >> 2 & 2*GGML_IQ_EACH) + 4*GGML_IQ_EACH;
        ggml_iq_put(ggml_iq_negate(numbers, ggml_iq_signs(word >> 7*v & 127)), codes + 8*v);
      }
      ggml_iq_multiply(codes, 32, dl, out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* d, q[64], h[8] with the upper bit of each entry, signs[32], s[4]; each group has a scale of 4
** bits: d*(1+2*scale). */
ZT_VECTOR static void ggml_iq_decode_iq3_s(const uint8_t *restrict p, float *restrict out,
                                           size_t n){
  int8_t codes[256];
  for(size_t i=0; i<n; i++, p+=110, out+=256){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t v=0; v<32; v++){
      const uint8_t *q = p + 2 + 2*v;
      unsigned high = (unsigned)p[66+v/4] >> v%4*2;
      uint64_t numbers = ggml_iq_spread3(zt_ggml_grid_iq3_s[q[0] | (high & 1) << 8],
                                         zt_ggml_grid_iq3_s[q[1] | (high >> 1 & 1) << 8]);
      ggml_iq_put(ggml_iq_negate(2*numbers + GGML_IQ_EACH, p[74+v]), codes + 8*v);
    }
    for(size_t g=0; g<8; g++){
      float dl = d * (float)(1 + 2*(p[106+g/2] >> g%2*4 & 15));
      ggml_iq_multiply(codes + 32*g, 32, dl, out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* --- 4 bits an element: indices of a list --- */

static const float ggml_iq4[16] = {
  -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
};

/* q[16]: the lower halves of the bytes are the first codes. */
ZT_INLINE void ggml_iq_put4(const uint8_t *restrict q, float scale, float *restrict out){
  float products[16];
  for(int k=0; k<16; k++) products[k] = ggml_iq4[k] * scale;
  for(int k=0; k<16; k++){
    out[k] = products[q[k] & 15];
    out[16+k] = products[q[k] >> 4];
  }
}

/* d, q[16]: d*q. */
ZT_VECTOR static void ggml_iq_decode_iq4_nl(const uint8_t *restrict p, float *restrict out,
                                            size_t n){
  for(size_t i=0; i<n; i++, p+=18, out+=32){
    uint32_t scale = zt_le16(p);
    ggml_iq_put4(p+2, zt_ggml_half(scale), out);
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 32);
  }
}

/* d, h of 16 bits, s[4], and for each group q[16]. Scales have 6 bits, the lower 4 in s, the upper
** 2 in h: d*(scale-32)*q. */
ZT_VECTOR static void ggml_iq_decode_iq4_xs(const uint8_t *restrict p, float *restrict out,
                                            size_t n){
  for(size_t i=0; i<n; i++, p+=136, out+=256){
    uint32_t scale = zt_le16(p), high = zt_le16(p+2);
    float d = zt_ggml_half(scale);
    for(size_t g=0; g<8; g++){
      int factor = (p[4+g/2] >> g%2*4 & 15) | (int)(high >> 2*g & 3) << 4;
      ggml_iq_put4(p + 8 + 16*g, d * (float)(factor-32), out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

#define GGML_IQ_SHOW(name) zt_ggml_decoder *const zt_ggml_decode_##name = ggml_iq_decode_##name;
GGML_IQ_SHOW(iq2_xxs) GGML_IQ_SHOW(iq2_xs) GGML_IQ_SHOW(iq2_s)
GGML_IQ_SHOW(iq1_s) GGML_IQ_SHOW(iq1_m)
GGML_IQ_SHOW(iq3_xxs) GGML_IQ_SHOW(iq3_s)
GGML_IQ_SHOW(iq4_nl) GGML_IQ_SHOW(iq4_xs)
