/*
** What is kept of the tensors and arrays in a file of torch.save, and what objects and components
** decode from it. Interface to code in torch_object.c; the numbers of the rules are there.
*/
#ifndef ZT_CONTAINER_TORCH_OBJECT_H
#define ZT_CONTAINER_TORCH_OBJECT_H

#include "container/torch_storage.h"
#include "container/torch_tree.h"
#include "core/renamed_duplicates.h"

/* What adds objects to a container. All zeros but for the first four: nothing was added yet. */
typedef struct zt_torch_objects {
  zt_builder *b;
  zt_torch_file *file;
  const zt_torch_pickle *read;   /* Whose tensors these are */
  zt_cbor_out attributes;        /* Of an object; its err is the builder's */
  zt_renamed names;              /* Of paths that several have */
  uint32_t *kept;                /* For each node of the pickle: where bytes that it is are kept, 0:
                                 ** nowhere; owned, NULL until there are some */
} zt_torch_objects;

/* Add an object, and its components. */
int zt_torch_add_tensor(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor);
int zt_torch_add_array(zt_torch_objects *o, zt_text path, const zt_numpy_array *array);

/* The pickle is done with: the next one's nodes are others. */
void zt_torch_objects_reset(zt_torch_objects *o);
void zt_torch_objects_clear(zt_torch_objects *o);

/* For the driver: decode. */
void zt_torch_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_torch_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                        zt_component *out);

#endif
