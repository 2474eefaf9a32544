/* Storages in protocol 0, which has no tuples for ids: a line with Python's repr of the tuple. */
#ifndef ZT_CONTAINER_TORCH_REPR_H
#define ZT_CONTAINER_TORCH_REPR_H

#include "core/span.h"

/* Texts are borrowed. */
typedef struct zt_torch_repr {
  zt_text class, key, location;   /* class without its module */
  int64_t elements;
  zt_text view_key;               /* z NULL: no view */
  int64_t view_offset, view_elements;
} zt_torch_repr;

/* False if the line is not a storage's. */
bool zt_torch_repr_read(zt_text line, zt_torch_repr *out);

#endif
