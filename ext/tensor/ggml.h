/*
** Decoders of ggml's blocks (the types of container/ggml_types.h), in ggml.c, ggml_k.c and
** ggml_iq.c. Elements have the bits of ggml's own dequantization on a machine that rounds products
** and sums separately, but every NaN is 0x7FC00000, because machines differ in the NaN that they
** compute. Any bytes are a valid block.
*/
#ifndef ZT_TENSOR_GGML_H
#define ZT_TENSOR_GGML_H

#include "container/ggml_types.h"

/* Decode n consecutive blocks at any address. */
typedef void zt_ggml_decoder(const uint8_t *blocks, float *out, size_t n);

/* NULL for plain types, and for types whose elements are not defined. */
zt_ggml_decoder *zt_ggml_decoder_of(const zt_ggml_type *type);

#endif
