/* Tensor files that are values of other files. Interface to code in within.c. */
#ifndef ZT_CONTAINER_WITHIN_H
#define ZT_CONTAINER_WITHIN_H

#include "core/span.h"

#define ZT_WITHIN_LEAST 17       /* Bytes; fewer are identifiers, among others */

/* True for n bytes that begin as a tensor file or a pickle does: the first ZT_WITHIN_LEAST of them,
** and the last one. */
bool zt_within_is_file(const uint8_t *first, uint64_t n, uint8_t last);

#endif
