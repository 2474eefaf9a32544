/*
** A model's content digest, which depends on its tensors and not on their packing. Interface to
** code in content_id.c.
*/
#ifndef ZT_CONTAINER_CONTENT_ID_H
#define ZT_CONTAINER_CONTENT_ID_H

#include "container/container.h"
#include "core/digest.h"

/*
** "sha256:..." over the deterministic CBOR value
**
**   ["zt.content/1", {object: {shape, layout, attributes?, parts: {part: {dtype, type?, digest}}}}]
**
** *known is false, and out is not set, if a part has no digest, and for generations before zTensor
** 2, whose digests cover the bytes as packed.
*/
int zt_content_id(const zt_container *c, char out[ZT_DIGEST_TEXT], bool *known, zt_error *err);

#endif
