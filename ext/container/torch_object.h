/* Objects of torch.save's tensors and arrays, kept and decoded. Rules: torch_object.c. */
#ifndef ZT_CONTAINER_TORCH_OBJECT_H
#define ZT_CONTAINER_TORCH_OBJECT_H

#include "container/torch_storage.h"
#include "container/torch_tree.h"
#include "core/renamed_duplicates.h"

/* Adds objects to a container. Set the first four fields, and all others to zeros. */
typedef struct zt_torch_objects {
  zt_builder *b;
  zt_torch_file *file;
  const zt_torch_pickle *read;   /* The current pickle */
  zt_cbor_out attributes;        /* An object's; err is the builder's */
  zt_renamed names;              /* Duplicate paths */
  uint32_t latin1;               /* Position of the encoding of bytes written as text; 0: none */
  uint32_t *kept;                /* For each node, the position of its kept bytes, or 0; owned, NULL
                                 ** until needed */
} zt_torch_objects;

/* Add an object and its components. */
int zt_torch_add_tensor(zt_torch_objects *o, zt_text path, const zt_torch_tensor *tensor);
int zt_torch_add_array(zt_torch_objects *o, zt_text path, const zt_numpy_array *array);

/* Add an object for another tensor file in the file, which is not read: it has no values. */
int zt_torch_add_other(zt_torch_objects *o, zt_text path);

/* End the current pickle: the next one has other nodes. */
void zt_torch_objects_reset(zt_torch_objects *o);
void zt_torch_objects_clear(zt_torch_objects *o);

/* Decode, for the driver. */
void zt_torch_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_torch_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                        zt_component *out);

#endif
