/* The values of a file's pickles, put into a container: tensors and arrays are objects, all others
** attributes. Interface to code in torch_values.c. */
#ifndef ZT_CONTAINER_TORCH_VALUES_H
#define ZT_CONTAINER_TORCH_VALUES_H

#include "container/torch_storage.h"

extern const zt_rule zt_rules_values[];   /* Of torch_tree.c and torch_object.c, too */

/* Read all pickles of the file, and set the container's version, attributes and manifest. */
int zt_torch_open_values(zt_builder *b, zt_torch_file *file);

#endif
