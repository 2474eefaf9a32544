/* Duplicate keys of a pickle's dict. */
#ifndef ZT_CONTAINER_TORCH_DICT_H
#define ZT_CONTAINER_TORCH_DICT_H

#include "container/pickle.h"

/* The first key of a dict that another key equals, as Python compares numbers, texts and bytes. 0
** if there is none, or on failure. `bytes` is the pickle's size; *compared grows by the bytes of
** the keys that were read. */
zt_pickle_node zt_torch_duplicate_key(const zt_pickle *p, zt_pickle_node dict, size_t bytes,
                              uint64_t *compared, const zt_interrupt *interrupt, zt_error *err);

#endif
