/* The keys of a pickle's dict. Interface to code in torch_twice.c. */
#ifndef ZT_CONTAINER_TORCH_TWICE_H
#define ZT_CONTAINER_TORCH_TWICE_H

#include "container/pickle.h"

/* The first key of a dict that another one equals, as Python compares numbers, texts and bytes; 0:
** there is none, or err is set. `bytes` are those of the pickle; to *compared the bytes of all keys
** that were gone through are added. */
zt_pickle_node zt_torch_twice(const zt_pickle *p, zt_pickle_node dict, size_t bytes,
                              uint64_t *compared, const zt_interrupt *interrupt, zt_error *err);

#endif
