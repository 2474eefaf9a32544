/* Calls with a meaning in torch.save's pickles, and their tensors. Nothing is called. */
#ifndef ZT_CONTAINER_TORCH_CALL_H
#define ZT_CONTAINER_TORCH_CALL_H

#include "container/dtype.h"
#include "container/pickle.h"

typedef enum zt_torch_meaning {
  ZT_TORCH_OPAQUE,
  ZT_TORCH_SAME,             /* Its first argument */
  ZT_TORCH_DICT,             /* The entries of its argument, and those put into it */
  ZT_TORCH_SIZE,             /* A tuple of integers */
  ZT_TORCH_TENSOR,           /* Tensors from here on */
  ZT_TORCH_TENSOR_V2, ZT_TORCH_TENSOR_V3, ZT_TORCH_QTENSOR, ZT_TORCH_SPARSE, ZT_TORCH_NESTED,
  ZT_TORCH_META, ZT_TORCH_WRAPPER, ZT_TORCH_UNINITIALIZED, ZT_TORCH_UNINITIALIZED_BUFFER,
  ZT_TORCH_PARAMETER, ZT_TORCH_VARIABLE,   /* A tensor made by another call */
  ZT_TORCH_FROM_TYPE         /* The result of a function among the arguments */
} zt_torch_meaning;

/* A node's meaning; *call is set to its value. */
zt_torch_meaning zt_torch_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call);

/* A view into a storage. Texts are borrowed from the pickle. */
typedef struct zt_torch_view {
  zt_text key, location;
  int64_t storage_elements;
  const zt_dtype *dtype;     /* NULL: unknown */
  zt_text dtype_name;        /* torch's name */
  zt_text quantized;         /* Static: torch.qint8 ...; z NULL: not quantized */
  bool untyped;              /* The storage's elements are bytes */
  zt_text storage_class;     /* torch.FloatStorage: its name without the module */
  unsigned storage_width;    /* Bytes of its element; 0: unknown */
  zt_text view_key;          /* A view of the storage, which bounds the tensor: */
  int64_t view_offset;       /* first element and number; view_key.z NULL: none */
  int64_t view_elements;
  int64_t offset;
  uint32_t rank;
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];
  zt_pickle_node requires_grad;   /* 0: not stated */
  zt_pickle_node quantizer;       /* 0: none */
  bool conj, neg;
} zt_torch_view;

/* Set the storage's fields of *out from a persistent id. False if the id is not a storage's. */
bool zt_torch_read_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out);

/* A tensor's layout, and its views. */
typedef enum zt_torch_layout {
  ZT_TORCH_DENSE,            /* The one view */
  ZT_TORCH_COO,              /* values, indices */
  ZT_TORCH_CSR, ZT_TORCH_CSC, ZT_TORCH_BSR, ZT_TORCH_BSC,   /* values, indices, indptr */
  ZT_TORCH_RAGGED,           /* values, sizes, strides, offsets: rows of different shapes */
  ZT_TORCH_NO_BYTES,         /* A meta tensor: shape and type */
  ZT_TORCH_WRAPPED,          /* Shape and type; its state has tensors */
  ZT_TORCH_NO_SHAPE,         /* Neither shape nor type */
  ZT_TORCH_UNREAD,           /* Its storage is not one that is read: shape and type, if known */
  ZT_TORCH_HIDDEN,           /* A value that may hold tensors, and is not understood */
  ZT_TORCH_ELSEWHERE         /* Its tensors are listed elsewhere */
} zt_torch_layout;

#define ZT_TORCH_VIEWS 4
#define ZT_TORCH_STATES 8

typedef struct zt_torch_tensor {
  zt_torch_layout layout;
  uint32_t n;                /* Number of views */
  zt_torch_view views[ZT_TORCH_VIEWS];
  uint32_t rank;             /* If dense, use the view's */
  int64_t shape[ZT_MAX_RANK];
  bool unshaped;             /* ZT_TORCH_UNREAD: its shape is not known */
  const char *reason;        /* ZT_TORCH_HIDDEN: static */
  zt_torch_view type;        /* Without views: dtype, dtype_name (n 0: not known), quantized */
  zt_pickle_node requires_grad;   /* 0: not stated */
  bool parameter;
  uint32_t states;           /* Other nodes with values, usually dicts */
  zt_pickle_node state[ZT_TORCH_STATES];
} zt_torch_tensor;

/* Read a call with a tensor's meaning. False if its arguments are not as torch writes them, or it
** has more than ZT_TORCH_STATES states. *call becomes the innermost call; states of outer calls are
** set. */
bool zt_torch_read_tensor(const zt_pickle *p, zt_pickle_value *call, zt_torch_meaning meaning,
                          zt_torch_tensor *out);

/* True for a storage that zt_torch_read_storage() refuses: an id in other words, as torch.package
** has, or a call of the bytes of another torch.save, as pickle.dump() has. */
bool zt_torch_is_unread_storage(const zt_pickle *p, zt_pickle_node node);

/* True for a call that describes a tensor whose elements torch.distributed.checkpoint put into
** other files. */
bool zt_torch_is_described(const zt_pickle *p, zt_pickle_node node);

/* True for such a call, and for one of PyTorch's functions that rebuild tensors, also of unknown
** ones. */
bool zt_torch_is_rebuilt(const zt_pickle *p, zt_pickle_node node);

/* Set what is known of the tensor of a call that zt_torch_read_tensor() refused. States, flags and
** requires_grad of *out stay as they are. */
void zt_torch_read_unread(const zt_pickle *p, const zt_pickle_value *call, zt_torch_tensor *out);

#endif
