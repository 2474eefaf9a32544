/*
** Other files that hold bytes of components: shards, which lie beside the file (zTensor 2; shard n
** of model.zt is model-n.zt), and external data, files anywhere below the directory (ONNX, TFLite)
** or beside the file (TensorFlow).
** Interface to code in shard.c.
**
**   X1  the shard exists
**   X2  it has the size stated in the table of shards
**   X3  it has the digest stated there
**   X4  it is of the same format: magic number and footer
**   X5  a file of external data exists below the directory of the file that names it, after
**       symbolic links are resolved
**   X6  it contains the bytes
**
** The path of such a file is relative, of parts other than `..`, separated by `/`.
*/
#ifndef ZT_CONTAINER_SHARD_H
#define ZT_CONTAINER_SHARD_H

#include "container/container.h"
#include "container/rule.h"

#define ZT_SPEC_EXTERNAL "ONNX, docs/ExternalData.md"

extern const zt_rule zt_rules_external[];   /* X5, X6; zt2.c has X1 to X4 */

/* Open the shard of that name and size that belongs to the source (X1, X2, X4). *out is NULL on
** failure. An image has no shards, and fails with a message that says so. */
int zt_shard_open(zt_source *source, zt_text name, uint64_t size, zt_source **out, zt_error *err);

/* A static text that states the fault of a location of external data, whether or not the file
** exists; NULL: no fault. */
const char *zt_shard_location_fault(zt_text location);

/* Open a file of external data (X5), likewise. beside: the location is a name that the source does
** not choose, and may be a link to anywhere. */
int zt_shard_open_external(zt_source *source, zt_text location, bool beside, zt_source **out,
                           zt_error *err);

#endif
