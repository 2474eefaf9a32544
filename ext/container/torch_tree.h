/*
** The walk through a pickle of torch.save: its values by dotted path, and the tensors among them.
** Nothing is known here of archives. Interface to code in torch_tree.c; the numbers of
** the rules are there.
*/
#ifndef ZT_CONTAINER_TORCH_TREE_H
#define ZT_CONTAINER_TORCH_TREE_H

#include "container/pickle_numpy.h"
#include "container/torch_leaf.h"

/* What is done with what the walk meets; size is about as many bytes as are kept of it, its path
** included. A function that fails records why, and the walk ends. */
typedef struct zt_torch_visitor {
  /* A value that is no tensor. */
  void (*leaf)(void *context, zt_text path, uint64_t size, zt_pickle_node node,
               zt_torch_shown shown);
  void (*tensor)(void *context, zt_text path, uint64_t size, const zt_torch_tensor *tensor);
  void (*array)(void *context, zt_text path, uint64_t size, const zt_numpy_array *array);
  void *context;
  bool no_paths;   /* Only the lengths of paths are right: it does not look at them */
} zt_torch_visitor;

/* Walk all values of a pickle of that many bytes, from the root on. Paths begin with the prefix, if
** that is not empty. */
int zt_torch_walk(const zt_pickle *p, zt_text prefix, size_t bytes,
                  const zt_torch_visitor *visitor, const zt_interrupt *interrupt, zt_error *err);

#endif
