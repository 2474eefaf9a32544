/*
** Values of a pickle of torch.save that are no tensors, as they are shown: as CBOR, or as a key in
** a path. Interface to code in torch_leaf.c.
*/
#ifndef ZT_CONTAINER_TORCH_LEAF_H
#define ZT_CONTAINER_TORCH_LEAF_H

#include "container/torch_call.h"
#include "core/cbor_write.h"

/* How much of a value is shown at a place. */
typedef enum zt_torch_shown {
  ZT_TORCH_WHOLE,      /* With all that a call would be made with */
  ZT_TORCH_NAMED,      /* Only what would be called: the rest stands below it */
  ZT_TORCH_CYCLE,      /* It contains itself, and was met within itself */
  ZT_TORCH_REPEATED    /* It was shown in another place, and would be too often */
} zt_torch_shown;

/* The bytes that zt_torch_put() appends, about. *fits: all of the value can be shown; a call with
** more than `most` bytes, ZT_TORCH_SHOWN_MAX or less, or that is nested deeper than
** ZT_TORCH_SHOWN_DEPTH cannot. To find that out takes time as well, and counts. */
#define ZT_TORCH_SHOWN_MAX 65536
#define ZT_TORCH_SHOWN_DEPTH 16
uint64_t zt_torch_size(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown,
                       uint64_t most, bool *fits);

/* Append a value. A call is a map with the name of what would be called as $opaque, and whatever it
** has of args, kwargs, state and items; state and items of nested ones alone. */
void zt_torch_put(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown, zt_cbor_out *out);

/* The same of what says how a tensor is quantized: an array. */
void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out);

/* About as many bytes as are kept of a view beside its path. */
uint64_t zt_torch_view_size(const zt_pickle *p, const zt_torch_view *v);

/* A key that is no text, as Python shows it; up to `most` bytes, about. */
void zt_torch_show_key(const zt_pickle *p, zt_pickle_node node, int most, sqlite3_str *out);

#endif
