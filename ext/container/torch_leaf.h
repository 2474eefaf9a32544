/* Values that are not tensors: as CBOR, or as a key in a path. */
#ifndef ZT_CONTAINER_TORCH_LEAF_H
#define ZT_CONTAINER_TORCH_LEAF_H

#include "container/torch_call.h"
#include "core/cbor_write.h"

/* How a value is shown. */
typedef enum zt_torch_shown {
  ZT_TORCH_WHOLE,      /* With the call's arguments */
  ZT_TORCH_NAMED,      /* The callee alone; the rest stands below it */
  ZT_TORCH_CYCLE,      /* It contains itself */
  ZT_TORCH_REPEATED    /* It is shown elsewhere, and too often to repeat */
} zt_torch_shown;

/* The approximate bytes that zt_torch_put() appends. *fits is false for a call with more than
** `most` bytes (at most ZT_TORCH_SHOWN_MAX), or deeper than ZT_TORCH_SHOWN_DEPTH. Measuring takes
** time as well, so it counts. */
#define ZT_TORCH_SHOWN_MAX 65536
#define ZT_TORCH_SHOWN_DEPTH 16
uint64_t zt_torch_size(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown,
                       uint64_t most, bool *fits);

/* Append a value. A call is a map with its callee as $opaque, and with args and kwargs. Nested
** calls also have state and items. */
void zt_torch_put(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown, zt_cbor_out *out);

/* Append a quantizer, as an array. */
void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out);

/* The approximate bytes that are kept of a view, without its path. */
uint64_t zt_torch_view_size(const zt_pickle *p, const zt_torch_view *v);

/* Append a key as Python shows it, up to about `most` bytes. */
void zt_torch_show_key(const zt_pickle *p, zt_pickle_node node, int most, sqlite3_str *out);

#endif
