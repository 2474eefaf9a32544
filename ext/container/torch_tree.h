/* The walk through a pickle of torch.save: values by dotted path, and the tensors among them. It
** knows nothing of archives. Rule numbers: torch_tree.c. */
#ifndef ZT_CONTAINER_TORCH_TREE_H
#define ZT_CONTAINER_TORCH_TREE_H

#include "container/pickle_numpy.h"
#include "container/torch_leaf.h"

/* A value: a tensor, an array, or any other, with node and shown. A tensor that is not read has its
** node, too. */
typedef struct zt_torch_found {
  zt_text path;
  uint64_t size;                   /* Approximate bytes that are kept of it, with its path */
  const zt_torch_tensor *tensor;   /* NULL: none */
  const zt_numpy_array *array;     /* NULL: none */
  zt_pickle_node node;
  zt_torch_shown shown;
} zt_torch_found;

/* Receives each value. If `visit` records an error, the walk ends. */
typedef struct zt_torch_visitor {
  void (*visit)(void *context, const zt_torch_found *found);
  void *context;
  bool plain;      /* Not PyTorch's: empty containers are values, and of a call only its callee is
                   ** one, beside the arrays among its arguments; its arrays' types are shown */
  bool no_paths;   /* Paths are not used: only their lengths are right */
} zt_torch_visitor;

/* Walk all values of a pickle of that many bytes. Paths begin with the prefix, if any. */
int zt_torch_walk(const zt_pickle *p, zt_text prefix, size_t bytes,
                  const zt_torch_visitor *visitor, const zt_interrupt *interrupt, zt_error *err);

#endif
