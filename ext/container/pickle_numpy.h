/* numpy's calls in a pickle: arrays and scalars. Nothing is called. Grammar: pickle_numpy.c. */
#ifndef ZT_CONTAINER_PICKLE_NUMPY_H
#define ZT_CONTAINER_PICKLE_NUMPY_H

#include "container/npy.h"
#include "container/pickle_result.h"

typedef struct zt_numpy_array {
  zt_npy npy;              /* dtype, type, format, dense, big, sized, rank; bytes of an element */
  const char *fault;       /* Static: how it differs from arrays that numpy writes, and then the
                           ** fields below are not set; NULL: none */
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];   /* Strides in elements, undefined if the
                                                      ** shape's product exceeds 64 bits */
  zt_pickle_bytes data;    /* Set if has_data */
  bool has_data;
  zt_pickle_node source;   /* The node of the bytes */
  zt_pickle_node items;    /* A list of objects instead; 0: none */
  bool placed;             /* The data are not in the pickle, but in the file, */
  uint64_t place;          /* at this offset; data.n of them */
  zt_pickle_node dtype;
  bool fortran;            /* Column-major */
} zt_numpy_array;

/* What follows a wrapper of joblib in the file. */
typedef struct zt_numpy_wrapper {
  bool padded;             /* A byte, and as many of padding as it says */
  bool pickle;             /* Then another pickle, */
  uint64_t bytes;          /* or so many bytes of elements */
} zt_numpy_wrapper;

/* True for a wrapper. *fault: why it does not say what follows; NULL: none. */
bool zt_numpy_read_wrapper(const zt_pickle *p, zt_pickle_node node, zt_numpy_wrapper *out,
                           const char **fault);

/* True for a call that makes an array, whatever its arguments. */
bool zt_numpy_is_array(const zt_pickle *p, zt_pickle_node node);

/* Read an array. False if the node is not one. */
bool zt_numpy_read_array(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out);

/* Append a dtype as an npy header has it: a text, or a list of fields. */
void zt_numpy_put_descr(const zt_pickle *p, zt_pickle_node dtype, zt_cbor_out *out);

/* Append an array's attributes: descr, fortran_order. */
void zt_numpy_put_attributes(const zt_pickle *p, const zt_numpy_array *a, zt_cbor_out *out);

/* Read the result of a ZT_CALL_NUMPY_SCALAR: a number, a text, or at most that many bytes. False if
** it is not known. */
bool zt_numpy_read_scalar(const zt_pickle *p, const zt_pickle_value *call, size_t most,
                          zt_pickle_result *out);

#endif
