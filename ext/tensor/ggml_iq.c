/*
** ggml's IQ blocks, whose codes are numbers of vectors in grids, or of one number in a list. See
** ggml.h; d is f16. All but iq4_nl have 256 elements, in 8 groups of 32.
*/
#include "tensor/ggml_blocks.h"
#include "tensor/ggml_grids.h"

/* Signs of 8 elements in 7 bits: the eighth makes the number of negative ones even. */
ZT_INLINE uint32_t ggml_iq_signs(uint32_t bits){
  uint32_t parity = bits ^ bits >> 4;
  parity ^= parity >> 2;
  return bits | ((parity ^ parity >> 1) & 1) << 7;
}

/* 8 elements of an entry of the iq2 grids. */
ZT_INLINE void ggml_iq_put2(uint32_t entry, float scale, uint32_t signs, float *restrict out){
  for(int k=0; k<8; k++){
    int code = (int)(entry >> 2*k & 3);
    float value = scale * (float)(8 + 17*code + (code >> 1));
    out[k] = signs >> k & 1 ? -value : value;
  }
}

/* d, then for each group 4 entries of one byte and a word: 4 times 7 bits of signs, and above them
** the scale: d*(scale+0.5)/4. */
ZT_VECTOR void zt_ggml_decode_iq2_xxs(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=66, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int g=0; g<8; g++){
      const uint8_t *q = p + 2 + 8*g;
      uint32_t word = zt_ggml_le32(q+4);
      float dl = d * (0.5f + (float)(int)(word >> 28)) * 0.25f;
      for(int v=0; v<4; v++){
        ggml_iq_put2(zt_ggml_grid_iq2_xxs[q[v]], dl, ggml_iq_signs(word >> 7*v & 127),
                     out + 32*g + 8*v);
      }
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* The scales of 16 elements each of iq2_xs and iq2_s, 4 bits: d*(scale+0.5)/4. */
ZT_INLINE float ggml_iq_scale2(const uint8_t *scales, float d, int v){
  return d * (0.5f + (float)(scales[v/4] >> v%4/2*4 & 15)) * 0.25f;
}

/* d, 32 words of 16 bits with an entry of 9 bits and signs of 7; s[8]. */
ZT_VECTOR void zt_ggml_decode_iq2_xs(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=74, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int v=0; v<32; v++){
      uint32_t word = zt_ggml_le16(p + 2 + 2*v);
      ggml_iq_put2(zt_ggml_grid_iq2_xs[word & 511], ggml_iq_scale2(p+66, d, v),
                   ggml_iq_signs(word >> 9), out + 8*v);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* d, q[32], signs[32], h[8] with 2 bits more for each entry, s[8]. */
ZT_VECTOR void zt_ggml_decode_iq2_s(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=82, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int v=0; v<32; v++){
      unsigned entry = p[2+v] | (p[66+v/4] >> v%4*2 & 3u) << 8;
      ggml_iq_put2(zt_ggml_grid_iq2_s[entry], ggml_iq_scale2(p+74, d, v), p[34+v], out + 8*v);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* 8 elements of two entries of the iq3 grids, whose codes stand for first + step*code; the last code
** for `last` more. */
ZT_INLINE void ggml_iq_put3(uint32_t a, uint32_t b, int first, int step, int last, float scale,
                            uint32_t signs, float *restrict out){
  uint32_t entry = a | b << 12;
  for(int k=0; k<8; k++){
    int code = (int)(entry >> 3*k & 7);
    float value = scale * (float)(first + step*code + (code==7 ? last : 0));
    out[k] = signs >> k & 1 ? -value : value;
  }
}

/* d, q[64], then for each group a word as in iq2_xxs: d*(scale+0.5)/2. */
ZT_VECTOR void zt_ggml_decode_iq3_xxs(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=98, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int g=0; g<8; g++){
      const uint8_t *q = p + 2 + 8*g;
      uint32_t word = zt_ggml_le32(p + 66 + 4*g);
      float dl = d * (0.5f + (float)(int)(word >> 28)) * 0.5f;
      for(int v=0; v<4; v++){
        ggml_iq_put3(zt_ggml_grid_iq3_xxs[q[2*v]], zt_ggml_grid_iq3_xxs[q[2*v+1]], 4, 8, 2, dl,
                     ggml_iq_signs(word >> 7*v & 127), out + 32*g + 8*v);
      }
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* d, q[64], h[8] with a bit more for each entry, signs[32], s[4]; each group has a scale of 4 bits:
** d*(1+2*scale). */
ZT_VECTOR void zt_ggml_decode_iq3_s(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=110, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int v=0; v<32; v++){
      const uint8_t *q = p + 2 + 2*v;
      unsigned high = p[66+v/4] >> v%4*2;
      float dl = d * (float)(1 + 2*(p[106+v/8] >> v%8/4*4 & 15));
      ggml_iq_put3(zt_ggml_grid_iq3_s[q[0] | (high & 1) << 8],
                   zt_ggml_grid_iq3_s[q[1] | (high >> 1 & 1) << 8], 1, 2, 0, dl, p[74+v], out + 8*v);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* 8 elements of an entry of the iq1 grid: each is an eighth more or less than its number. */
ZT_INLINE void ggml_iq_put1(uint32_t entry, float scale, bool less, float *restrict out){
  float shift = less ? -0.125f : 0.125f;
  for(int k=0; k<8; k++) out[k] = scale * ((float)((int)(entry >> 2*k & 3) - 1) + shift);
}

/* d, q[32], for each group a word of 16 bits: 4 times 3 bits more for the entries, a scale of 3 bits,
** and whether it is an eighth less: d*(1+2*scale). */
ZT_VECTOR void zt_ggml_decode_iq1_s(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=50, out+=256){
    uint32_t scale = zt_ggml_le16(p);
    float d = zt_ggml_half(scale);
    for(int v=0; v<32; v++){
      uint32_t word = zt_ggml_le16(p + 34 + v/4*2);
      float dl = d * (float)(int)(1 + 2*(word >> 12 & 7));
      ggml_iq_put1(zt_ggml_grid_iq1[p[2+v] | (word >> v%4*3 & 7) << 8], dl, word >> 15, out + 8*v);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* q[32], h[16], 4 words of 16 bits. h has for each 8 elements 3 bits more for the entry, and whether
** it is an eighth less. A word has 4 scales of 3 bits, of 16 elements each, and 4 bits of d, the
** first the lowest: d*(1+2*scale). */
ZT_VECTOR void zt_ggml_decode_iq1_m(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=56, out+=256){
    const uint8_t *words = p+48;
    uint32_t scale = (uint32_t)(words[1] >> 4 | (words[3] & 0xF0) | (words[5] >> 4) << 8
                                | (words[7] >> 4) << 12);
    float d = zt_ggml_half(scale);
    for(int v=0; v<32; v++){
      uint32_t high = p[32+v/2] >> v%2*4, word = zt_ggml_le16(words + v/8*2);
      float dl = d * (float)(int)(1 + 2*(word >> v%8/2*3 & 7));
      ggml_iq_put1(zt_ggml_grid_iq1[p[v] | (high & 7) << 8], dl, high >> 3 & 1, out + 8*v);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}

/* --- Codes of 4 bits that stand for numbers of a list --- */

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
ZT_VECTOR void zt_ggml_decode_iq4_nl(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=18, out+=32){
    uint32_t scale = zt_ggml_le16(p);
    ggml_iq_put4(p+2, zt_ggml_half(scale), out);
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 32);
  }
}

/* d, h of 16 bits, s[4], and for each group q[16]. Scales have 6 bits, the lower 4 in s, the upper 2
** in h: d*(scale-32)*q. */
ZT_VECTOR void zt_ggml_decode_iq4_xs(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=136, out+=256){
    uint32_t scale = zt_ggml_le16(p), high = zt_ggml_le16(p+2);
    float d = zt_ggml_half(scale);
    for(int g=0; g<8; g++){
      int factor = (p[4+g/2] >> g%2*4 & 15) | (int)(high >> 2*g & 3) << 4;
      ggml_iq_put4(p + 8 + 16*g, d * (float)(factor-32), out + 32*g);
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 256);
  }
}
