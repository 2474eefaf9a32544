/*
** What decoders of ggml's blocks share, and their names. Numbers of several bytes are little-
** endian, scales are f16 if nothing else is said.
*/
#ifndef ZT_TENSOR_GGML_BLOCKS_H
#define ZT_TENSOR_GGML_BLOCKS_H

#include "core/vector.h"
#include "tensor/ggml.h"

/* Pointers, since what is compiled for several processors must not be seen from outside
** its file: each compiler names the choice among its copies as it likes, and exports it. */
#define ZT_GGML_DECODER(name, ...) extern zt_ggml_decoder *const zt_ggml_decode_##name;
ZT_GGML_BLOCK_TYPES(ZT_GGML_DECODER)
#undef ZT_GGML_DECODER

ZT_INLINE float zt_ggml_float(uint32_t bits){
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

/* The f32 of an f16. No subnormal f32 is made on the way: a host may have told its processor to
** take those for zero. */
ZT_INLINE float zt_ggml_half(uint32_t code){
  uint32_t magnitude = code & 0x7FFF, sign = (code & 0x8000) << 16, bits;
  float subnormal = (float)(int32_t)magnitude * 0x1p-24f;
  memcpy(&bits, &subnormal, sizeof(bits));
  if( magnitude>=0x400 ) bits = (magnitude<<13) + 0x38000000;
  if( magnitude>=0x7C00 ) bits = magnitude<<13 | 0x7F800000;
  return zt_ggml_float(bits | sign);
}

/* True if an f16 is infinite or NaN. Only then can an element be NaN: all else is below 2^23. */
ZT_INLINE bool zt_ggml_is_special(uint32_t code){
  return (code & 0x7C00)==0x7C00;
}

/* Each NaN becomes the one that there is. For the blocks whose scale is special. */
ZT_COLD void zt_ggml_settle(float *out, size_t n);

#endif
