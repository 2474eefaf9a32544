/*
** Shared parts of the decoders of ggml's blocks, and their names. Numbers of several bytes are
** little-endian; scales are f16 unless stated otherwise.
*/
#ifndef ZT_TENSOR_GGML_BLOCKS_H
#define ZT_TENSOR_GGML_BLOCKS_H

#include "core/vector.h"
#include "tensor/ggml.h"

/* These are pointers, because functions compiled for several processors must be static: compilers
** name the dispatcher as they like, and export it. */
#define ZT_GGML_DECODER(name, ...) extern zt_ggml_decoder *const zt_ggml_decode_##name;
ZT_GGML_BLOCK_TYPES(ZT_GGML_DECODER)
#undef ZT_GGML_DECODER

ZT_INLINE float zt_ggml_float(uint32_t bits){
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

/* Convert f16 to f32. No step makes a subnormal f32, because the host may have set its processor to
** flush subnormals to zero. */
ZT_INLINE float zt_ggml_half(uint32_t code){
  uint32_t magnitude = code & 0x7FFF, sign = (code & 0x8000) << 16, bits;
  float subnormal = (float)(int32_t)magnitude * 0x1p-24f;
  memcpy(&bits, &subnormal, sizeof(bits));
  if( magnitude>=0x400 ) bits = (magnitude<<13) + 0x38000000;
  if( magnitude>=0x7C00 ) bits = magnitude<<13 | 0x7F800000;
  return zt_ggml_float(bits | sign);
}

/* True if an f16 is infinite or NaN. Only then can an element be NaN: other elements are below
** 2^23. */
ZT_INLINE bool zt_ggml_is_special(uint32_t code){
  return (code & 0x7C00)==0x7C00;
}

/* Replace each NaN by 0x7FC00000, in blocks with a special scale. */
ZT_COLD void zt_ggml_settle(float *out, size_t n);

#endif
