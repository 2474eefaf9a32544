/* Tensor files that are values of other files. Interface to code in within.c. */
#ifndef ZT_CONTAINER_WITHIN_H
#define ZT_CONTAINER_WITHIN_H

#include "core/span.h"

#define ZT_WITHIN_LEAST 17       /* Bytes; fewer are identifiers, among others */

/* True for n bytes that begin as a tensor file or a pickle does: the first ZT_WITHIN_LEAST of them,
** and the last one, which is a '.' of a pickle of protocols 2 to 5; give '.' if it may be any. */
bool zt_within_is_file(const uint8_t *first, uint64_t n, uint8_t last);

/* The number that torch.save began with before 1.6, 0x1950a86a20f9469cfc6c, little-endian. */
#define ZT_TORCH_MAGIC "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

/* True for n bytes that begin with a pickle of that number, as far as they go; false for less than
** the shortest one without its end. */
bool zt_within_is_torch(const uint8_t *p, size_t n);

#endif
