/*
** What a pickle of torch.save calls: the few calls that have a meaning here, and the tensors that
** they make. Nothing is called. Interface to code in torch_call.c.
*/
#ifndef ZT_CONTAINER_TORCH_CALL_H
#define ZT_CONTAINER_TORCH_CALL_H

#include "container/dtype.h"
#include "container/pickle.h"

typedef enum zt_torch_meaning {
  ZT_TORCH_OPAQUE,
  ZT_TORCH_SAME,             /* What it is called with */
  ZT_TORCH_DICT,             /* The entries that it is made of, or gets */
  ZT_TORCH_SIZE,             /* A tuple of integers */
  ZT_TORCH_TENSOR,           /* From here on, tensors */
  ZT_TORCH_TENSOR_V2, ZT_TORCH_TENSOR_V3, ZT_TORCH_QTENSOR, ZT_TORCH_SPARSE, ZT_TORCH_NESTED,
  ZT_TORCH_META, ZT_TORCH_WRAPPER, ZT_TORCH_UNINITIALIZED, ZT_TORCH_UNINITIALIZED_BUFFER,
  ZT_TORCH_PARAMETER, ZT_TORCH_VARIABLE,   /* Of another call's tensor */
  ZT_TORCH_FROM_TYPE         /* What a function gives that is among the arguments */
} zt_torch_meaning;

/* What a call means, whose parts are set in *call. */
zt_torch_meaning zt_torch_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call);

/* Argument i of a call; 0 if it has no such. */
zt_pickle_node zt_torch_argument(const zt_pickle *p, const zt_pickle_value *call, uint32_t i);

/* A view into a storage. Texts are borrowed from the pickle. */
typedef struct zt_torch_view {
  zt_text key, location;
  int64_t storage_elements;
  const zt_dtype *dtype;     /* NULL: it is not known */
  zt_text dtype_name;        /* As torch has it */
  zt_text quantized;         /* Static: torch.qint8 ...; z NULL: it is not quantized */
  bool untyped;              /* Elements of the storage are bytes */
  zt_text storage_class;     /* torch.FloatStorage: its name without the module */
  unsigned storage_width;    /* Bytes of an element of that; 0: it is not known */
  zt_text view_key;          /* Of a view of the storage, which is all that the tensor sees: so */
  int64_t view_offset;       /* many elements from that one on; z NULL: it sees the storage */
  int64_t view_elements;
  int64_t offset;
  uint32_t rank;
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];
  zt_pickle_node requires_grad;   /* 0: it is not said */
  zt_pickle_node quantizer;       /* 0: there is none */
  bool conj, neg;
} zt_torch_view;

/* What stands for a storage: set what *out has of that. False: it is none. */
bool zt_torch_read_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out);

/* What stands for a class, ('module', class, ...) before 1.6: that class; anything else is
** itself. */
zt_pickle_node zt_torch_class(const zt_pickle *p, zt_pickle_node node);

/* How a tensor's views make it. */
typedef enum zt_torch_layout {
  ZT_TORCH_DENSE,            /* One view */
  ZT_TORCH_COO,              /* values, indices */
  ZT_TORCH_CSR, ZT_TORCH_CSC, ZT_TORCH_BSR, ZT_TORCH_BSC,   /* values, indices, indptr */
  ZT_TORCH_RAGGED,           /* values, sizes, strides, offsets: rows of different shapes */
  ZT_TORCH_NO_BYTES,         /* A meta tensor: a shape and a type alone */
  ZT_TORCH_WRAPPED,          /* The same; tensors of its state are what it has */
  ZT_TORCH_NO_SHAPE,         /* Neither that */
  ZT_TORCH_ELSEWHERE         /* Tensors that are listed in other places, and not once more here */
} zt_torch_layout;

#define ZT_TORCH_VIEWS 4
#define ZT_TORCH_STATES 8

/* A tensor. */
typedef struct zt_torch_tensor {
  zt_torch_layout layout;
  uint32_t n;                /* Views that it has */
  zt_torch_view views[ZT_TORCH_VIEWS];   /* Those first */
  uint32_t rank;             /* Of the whole; of a dense one that of its view */
  int64_t shape[ZT_MAX_RANK];
  zt_torch_view type;        /* Without views: its dtype, dtype_name and quantized */
  zt_pickle_node requires_grad;   /* 0: it is not said */
  bool parameter;
  uint32_t states;           /* What has values of its own beside it: its state, as a rule a dict */
  zt_pickle_node state[ZT_TORCH_STATES];
} zt_torch_tensor;

/* Read a call whose meaning is a tensor's. False: it is not called as torch does, or more states
** than there may be are beside it. *call is what the calls around it, whose states are set, are
** made of. */
bool zt_torch_read_tensor(const zt_pickle *p, zt_pickle_value *call, zt_torch_meaning meaning,
                          zt_torch_tensor *out);

#endif
