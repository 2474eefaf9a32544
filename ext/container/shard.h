/*
** Shards: sibling files that hold bytes of components (zTensor 2). Shard n of model.zt is
** model-n.zt. Interface to code in shard.c.
**
**   X1  the shard is there
**   X2  it has the size that the table of shards tells
**   X3  and its bytes the digest
**   X4  it is a file of the same format: magic number and footer
*/
#ifndef ZT_CONTAINER_SHARD_H
#define ZT_CONTAINER_SHARD_H

#include "container/container.h"

/* Open the shard of that name and size, of the file that is the source (X1, X2, X4). An image has
** no siblings: a failure that says so. *out is NULL on failure. */
int zt_shard_open(zt_source *source, zt_text name, uint64_t size, zt_source **out, zt_error *err);

#endif
