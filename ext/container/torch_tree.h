/*
** What a pickle of torch.save means: the walk through its values by dotted path, and the tensors
** among them. Nothing is known here of archives. Interface to code in torch_tree.c; the numbers of
** the rules are there.
*/
#ifndef ZT_CONTAINER_TORCH_TREE_H
#define ZT_CONTAINER_TORCH_TREE_H

#include "container/dtype.h"
#include "container/pickle.h"
#include "core/cbor_write.h"

/* A view into a storage. Texts are borrowed from the pickle. */
typedef struct zt_torch_view {
  zt_text key, location;
  int64_t storage_elements;
  const zt_dtype *dtype;     /* NULL: it is not known */
  zt_text dtype_name;        /* As torch has it */
  zt_text quantized;         /* Static: torch.qint8 ...; z NULL: it is not quantized */
  bool untyped;              /* Elements of the storage are bytes */
  int64_t offset;
  uint32_t rank;
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];
  zt_pickle_node requires_grad;   /* 0: it is not said */
  zt_pickle_node quantizer;       /* 0: there is none */
  bool parameter, conj, neg;
} zt_torch_view;

typedef struct zt_torch_tensor {
  bool sparse;               /* Coordinates in `indices`, and not in `view` */
  zt_torch_view view;        /* Of a dense one all, else the values' */
  zt_torch_view indices;
  uint32_t rank;             /* Of a sparse one */
  int64_t shape[ZT_MAX_RANK];
} zt_torch_tensor;

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

/* Append what says how a tensor is quantized: an array. */
void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out);

#endif
