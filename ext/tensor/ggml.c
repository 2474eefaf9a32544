/*
** The table of decoders of ggml's blocks, and those of blocks below 256 elements. See ggml.h.
**
** The comment of each decoder lists a block's fields. "q[16] of 4 bits" are codes in 16 bytes: the
** lower halves are the first 16 codes, and the upper halves the next; d and m are f16.
*/
#include <math.h>
#include "tensor/ggml_blocks.h"

#define GGML_ROW(name, ...) [ZT_GGML_##name] = &zt_ggml_decode_##name,
static zt_ggml_decoder *const *const ggml_decoders[] = { ZT_GGML_BLOCK_TYPES(GGML_ROW) };

zt_ggml_decoder *zt_ggml_decoder_of(const zt_ggml_type *type){
  const size_t n = sizeof(ggml_decoders)/sizeof(*ggml_decoders);
  return type->id<n ? *ggml_decoders[type->id] : NULL;   /* Types with decoders come first */
}

void zt_ggml_settle(float *out, size_t n){
  for(size_t i=0; i<n; i++) if( isnan(out[i]) ) out[i] = (float)NAN;
}

/* --- Codes times a scale --- */

/* d, q[16] of 4 bits: d*(q-8). */
ZT_VECTOR static void ggml_decode_q4_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=18, out+=32){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    ZT_ROLLED for(int k=0; k<16; k++){
      out[k] = (float)((p[2+k] & 15) - 8) * d;
      out[16+k] = (float)((p[2+k] >> 4) - 8) * d;
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 32);
  }
}

/* d, m, q[16] of 4 bits: d*q + m. */
ZT_VECTOR static void ggml_decode_q4_1(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=20, out+=32){
    uint32_t scale = zt_le16(p), least = zt_le16(p+2);
    float d = zt_ggml_half(scale), m = zt_ggml_half(least);
    ZT_ROLLED for(int k=0; k<16; k++){
      out[k] = (float)(p[4+k] & 15) * d + m;
      out[16+k] = (float)(p[4+k] >> 4) * d + m;
    }
    if( zt_ggml_is_special(scale) || zt_ggml_is_special(least) ) zt_ggml_settle(out, 32);
  }
}

/* d, h, q[16] of 4 bits; h, of 32 bits, has the fifth bit of each code: d*(q-16). */
ZT_VECTOR static void ggml_decode_q5_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=22, out+=32){
    uint32_t scale = zt_le16(p), high = zt_le32(p+2);
    float d = zt_ggml_half(scale);
    for(int k=0; k<16; k++){
      out[k] = (float)((int)((p[6+k] & 15u) | (high>>k & 1) << 4) - 16) * d;
      out[16+k] = (float)((int)((uint32_t)p[6+k] >> 4 | (high>>(16+k) & 1) << 4) - 16) * d;
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 32);
  }
}

/* d, m, h, q[16] of 4 bits; h as in q5_0: d*q + m. */
ZT_VECTOR static void ggml_decode_q5_1(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=24, out+=32){
    uint32_t scale = zt_le16(p), least = zt_le16(p+2), high = zt_le32(p+4);
    float d = zt_ggml_half(scale), m = zt_ggml_half(least);
    for(int k=0; k<16; k++){
      out[k] = (float)(int)((p[8+k] & 15u) | (high>>k & 1) << 4) * d + m;
      out[16+k] = (float)(int)((uint32_t)p[8+k] >> 4 | (high>>(16+k) & 1) << 4) * d + m;
    }
    if( zt_ggml_is_special(scale) || zt_ggml_is_special(least) ) zt_ggml_settle(out, 32);
  }
}

/* d, 32 signed bytes: d*q. */
ZT_VECTOR static void ggml_decode_q8_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=34, out+=32){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(int k=0; k<32; k++) out[k] = (float)(int8_t)p[2+k] * d;
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 32);
  }
}

/* d, 128 bits, the lowest of a byte first: d for 1, -d for 0. */
ZT_VECTOR static void ggml_decode_q1_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=18, out+=128){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t b=0; b<16; b++){
      ZT_ROLLED for(size_t k=0; k<8; k++) out[8*b+k] = (float)((p[2+b] >> k & 1)*2 - 1) * d;
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 128);
  }
}

/* d, 64 codes of 2 bits, the lowest of a byte first: d*(q-1). */
ZT_VECTOR static void ggml_decode_q2_0(const uint8_t *restrict p, float *restrict out, size_t n){
  for(size_t i=0; i<n; i++, p+=18, out+=64){
    uint32_t scale = zt_le16(p);
    float d = zt_ggml_half(scale);
    for(size_t b=0; b<8; b++){
      uint32_t codes = zt_le16(p + 2 + 2*b);
      ZT_ROLLED for(size_t k=0; k<8; k++) out[8*b+k] = (float)((int)(codes >> 2*k & 3) - 1) * d;
    }
    if( zt_ggml_is_special(scale) ) zt_ggml_settle(out, 64);
  }
}

/* --- Floats of 4 bits times a scale --- */

/* Twice the value of each code of f4_e2m1; there is no -0. */
static const float ggml_f4[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* The products of mxfp4's two least scales and these values. Some are subnormal, and are not
** computed, because the host may have set its processor to flush subnormals to zero. */
static const uint32_t ggml_least[2][8] = {
  { 0, 0x00200000, 0x00400000, 0x00600000, 0x00800000, 0x00C00000, 0x01000000, 0x01400000 },
  { 0, 0x00400000, 0x00800000, 0x00C00000, 0x01000000, 0x01400000, 0x01800000, 0x01C00000 },
};

/* Multiply the codes by the scale 2^(e-128); e = 255 is a power of two like the others. */
static void ggml_scale_f4(unsigned e, float *products){
  float scale = zt_ggml_float((e-1) << 23);
  for(unsigned k=0; k<16; k++){
    products[k] = e<2 ? zt_ggml_float(ggml_least[e][k & 7] | (k>8 ? 0x80000000u : 0))
                : ggml_f4[k] * scale;
  }
}

/* e, of one byte, q[16] of 4 bits: twice the f4_e2m1 times 2^(e-128). */
static void ggml_decode_mxfp4(const uint8_t *restrict p, float *restrict out, size_t n){
  float products[16];
  for(size_t i=0; i<n; i++, p+=17, out+=32){
    ggml_scale_f4(p[0], products);
    for(int k=0; k<16; k++){
      out[k] = products[p[1+k] & 15];
      out[16+k] = products[p[1+k] >> 4];
    }
  }
}

/* Half the f8_e4m3fn without its sign. 0x7F (NaN in that type) is 0; 0xFF is decoded like any
** number. */
static float ggml_half_e4m3(unsigned code){
  unsigned magnitude = code & 0x7F;
  if( code==0x7F ) return 0;
  return magnitude<8 ? (float)magnitude * 0x1p-10f
       : zt_ggml_float((magnitude << 20) + ((uint32_t)(127-8) << 23));
}

/* d[4], of one byte each, then for each of them q[8] of 4 bits: twice the f4_e2m1 times half the
** f8_e4m3fn. */
static void ggml_decode_nvfp4(const uint8_t *restrict p, float *restrict out, size_t n){
  float products[16];
  for(size_t i=0; i<4*n; i++, out+=16){
    const uint8_t *block = p + i/4*36, *q = block + 4 + i%4*8;
    float d = ggml_half_e4m3(block[i%4]);
    for(int k=0; k<16; k++) products[k] = ggml_f4[k] * d;
    for(int k=0; k<8; k++){
      out[k] = products[q[k] & 15];
      out[8+k] = products[q[k] >> 4];
    }
  }
}

#define GGML_SHOW(name) zt_ggml_decoder *const zt_ggml_decode_##name = ggml_decode_##name;
GGML_SHOW(q4_0) GGML_SHOW(q4_1) GGML_SHOW(q5_0) GGML_SHOW(q5_1) GGML_SHOW(q8_0)
GGML_SHOW(q1_0) GGML_SHOW(q2_0) GGML_SHOW(mxfp4) GGML_SHOW(nvfp4)
