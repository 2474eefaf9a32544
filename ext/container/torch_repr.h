/* What stands for a storage in protocol 0, which has no tuples for that: a line, as Python shows a
** tuple. Interface to code in torch_repr.c. */
#ifndef ZT_CONTAINER_TORCH_REPR_H
#define ZT_CONTAINER_TORCH_REPR_H

#include "core/span.h"

/* Texts are borrowed. */
typedef struct zt_torch_repr {
  zt_text class, key, location;   /* The class's name without its module */
  int64_t elements;
  zt_text view_key;               /* z NULL: there is no view */
  int64_t view_offset, view_elements;
} zt_torch_repr;

/* False: the line is none of a storage. */
bool zt_torch_repr_read(zt_text line, zt_torch_repr *out);

#endif
