/*
** The walk through a pickle of torch.save: its values by dotted path, and the tensors among them.
** Nothing is known here of archives. Interface to code in torch_tree.c; the numbers of
** the rules are there.
*/
#ifndef ZT_CONTAINER_TORCH_TREE_H
#define ZT_CONTAINER_TORCH_TREE_H

#include "container/torch_call.h"
#include "core/cbor_write.h"

/* What is done with what the walk meets. A function that fails records why, and the walk ends. */
typedef struct zt_torch_visitor {
  /* A value that is no tensor. cycle: it contains itself, and was met within itself. */
  void (*leaf)(void *context, zt_text path, zt_pickle_node node, bool cycle);
  void (*tensor)(void *context, zt_text path, const zt_torch_tensor *tensor);
  void *context;
  bool no_paths;   /* Only the lengths of paths are right: it does not look at them */
} zt_torch_visitor;

/* Walk all values of a pickle of that many bytes, from the root on. Paths begin with the prefix, if
** that is not empty. */
int zt_torch_walk(const zt_pickle *p, zt_text prefix, size_t bytes,
                  const zt_torch_visitor *visitor, const zt_interrupt *interrupt, zt_error *err);

/* Append a value that is no tensor; arrays and maps, by what a path may lead to, only where they
** are what something opaque is called with. */
void zt_torch_put(const zt_pickle *p, zt_pickle_node node, bool cycle, zt_cbor_out *out);

/* About as many bytes as that appends. */
uint64_t zt_torch_size(const zt_pickle *p, zt_pickle_node node);

/* The same of all that is kept of a view beside its path. */
uint64_t zt_torch_view_size(const zt_pickle *p, const zt_torch_view *v);

/* Append what says how a tensor is quantized: an array. */
void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out);

#endif
