/* Attributes of torch.save's tensors: their views, and what the pickle says of them. */
#ifndef ZT_CONTAINER_TORCH_ATTRIBUTES_H
#define ZT_CONTAINER_TORCH_ATTRIBUTES_H

#include "container/torch_call.h"
#include "core/cbor_write.h"

/* As in torch: dimensions of 1 are ignored, and empty tensors are contiguous. */
bool zt_torch_is_contiguous(const int64_t *shape, const int64_t *strides, uint32_t rank);

/* Append a tensor's attributes, a map. folder: what precedes the key of its storage; n may be 0. */
void zt_torch_put_attributes(const zt_pickle *p, zt_text folder, const zt_torch_tensor *tensor,
                             zt_cbor_out *out);

#endif
