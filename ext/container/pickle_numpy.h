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
} zt_numpy_array;

/* True for a call that makes an array, whatever its arguments. */
bool zt_numpy_is_array(const zt_pickle *p, zt_pickle_node node);

/* Read an array. False if the node is not one. */
bool zt_numpy_read_array(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out);

/* Read the result of a ZT_CALL_NUMPY_SCALAR: a number, a text, or at most that many bytes. False if
** it is not known. */
bool zt_numpy_read_scalar(const zt_pickle *p, const zt_pickle_value *call, size_t most,
                          zt_pickle_result *out);

#endif
