/*
** Other files that hold bytes of components: shards, which are siblings (zTensor 2; shard n of
** model.zt is model-n.zt), and external data, any files below the directory (ONNX). Interface to
** code in shard.c.
**
**   X1  the shard is there
**   X2  it has the size that the table of shards tells
**   X3  and its bytes the digest
**   X4  it is a file of the same format: magic number and footer
**   X5  a file of external data is there, below the directory of the file that names it, whatever
**       symbolic links say
**   X6  it has the bytes
**
** The path of such a file is relative, of parts that are not `..`, with `/` between them.
*/
#ifndef ZT_CONTAINER_SHARD_H
#define ZT_CONTAINER_SHARD_H

#include "container/container.h"
#include "container/rule.h"

#define ZT_SPEC_EXTERNAL "ONNX, docs/ExternalData.md"

extern const zt_rule zt_rules_external[];   /* X5, X6; X1 to X4 are zt2.c's */

/* Open the shard of that name and size, of the file that is the source (X1, X2, X4). An image has
** no siblings: a failure that says so. *out is NULL on failure. */
int zt_shard_open(zt_source *source, zt_text name, uint64_t size, zt_source **out, zt_error *err);

/* What is wrong with the location of a file of external data, whatever is there: a static text;
** NULL: nothing is. */
const char *zt_shard_location_fault(zt_text location);

/* Open a file of external data (X5), likewise. */
int zt_shard_open_external(zt_source *source, zt_text location, zt_source **out, zt_error *err);

#endif
