/*
** What a pickle of torch.save calls: the few calls that have a meaning here, and the tensors that
** they make. Nothing is called. Interface to code in torch_call.c.
*/
#ifndef ZT_CONTAINER_TORCH_CALL_H
#define ZT_CONTAINER_TORCH_CALL_H

#include "container/dtype.h"
#include "container/pickle.h"

typedef enum zt_torch_meaning {
  ZT_TORCH_OPAQUE, ZT_TORCH_DICT, ZT_TORCH_SAME,   /* The last: what it is called with */
  ZT_TORCH_TENSOR, ZT_TORCH_TENSOR_V2, ZT_TORCH_TENSOR_V3, ZT_TORCH_QTENSOR, ZT_TORCH_PARAMETER,
  ZT_TORCH_VARIABLE, ZT_TORCH_SPARSE, ZT_TORCH_SIZE
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
  bool parameter, conj, neg;
} zt_torch_view;

/* What stands for a storage: set what *out has of that. False: it is none. */
bool zt_torch_read_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out);

/* What stands for a class, ('module', class, ...) before 1.6: that class; anything else is
** itself. */
zt_pickle_node zt_torch_class(const zt_pickle *p, zt_pickle_node node);

typedef struct zt_torch_tensor {
  bool sparse;               /* Coordinates in `indices`, and not in `view` */
  zt_torch_view view;        /* Of a dense one all, else the values' */
  zt_torch_view indices;
  uint32_t rank;             /* Of a sparse one */
  int64_t shape[ZT_MAX_RANK];
} zt_torch_tensor;

/* What a call of that meaning would make. False if it makes no tensor, or is not called as torch
** does. */
bool zt_torch_read_tensor(const zt_pickle *p, const zt_pickle_value *call,
                          zt_torch_meaning meaning, zt_torch_tensor *out);

#endif
