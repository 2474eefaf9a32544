/*
** What the elements of ggml's blocks are (the types of container/ggml_types.h): to the bit what
** ggml's own dequantization gives on a machine that rounds a product and a sum one after the other,
** but that every NaN is 0x7FC00000, as machines differ in the NaN that they compute. Any bytes are
** a block. Decoders are in ggml.c, ggml_k.c and ggml_iq.c.
*/
#ifndef ZT_TENSOR_GGML_H
#define ZT_TENSOR_GGML_H

#include "container/ggml_types.h"

/* The elements of n blocks, which lie one after the other, at any address. */
typedef void zt_ggml_decoder(const uint8_t *blocks, float *out, size_t n);

/* NULL for a plain type, and where nobody defines what the elements are. */
zt_ggml_decoder *zt_ggml_decoder_of(const zt_ggml_type *type);

#endif
