/*
** numpy's calls in a pickle: arrays, and numbers by themselves. Nothing is called. Interface to
** code in pickle_numpy.c; the calls, and how their arguments are, stand there.
*/
#ifndef ZT_CONTAINER_PICKLE_NUMPY_H
#define ZT_CONTAINER_PICKLE_NUMPY_H

#include "container/npy.h"
#include "container/pickle_result.h"

/* An array. */
typedef struct zt_numpy_array {
  zt_npy npy;              /* dtype, type, format, dense, big and sized of it; bytes of an element;
                           ** rank */
  const char *fault;       /* Static: what of it is not as numpy writes it; NULL: nothing. Then none
                           ** of the following counts */
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];   /* Of strides, as many as of dimensions: in
                           ** elements, and of no meaning where the product of the shape is
                           ** none of 64 bits */
  zt_pickle_bytes data;    /* Its bytes, if has_data */
  bool has_data;
  zt_pickle_node source;   /* The node that they are of */
  zt_pickle_node items;    /* A list of objects instead; 0: there is none */
} zt_numpy_array;

/* True if a call makes an array, whatever its arguments are. */
bool zt_numpy_is_array(const zt_pickle *p, zt_pickle_node node);

/* Read an array. False: it is none. */
bool zt_numpy_read_array(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out);

/* Read what a call of ZT_CALL_NUMPY_SCALAR gives: a number, a text, or bytes of at most so many.
** False: none that is known. */
bool zt_numpy_read_scalar(const zt_pickle *p, const zt_pickle_value *call, size_t most,
                          zt_pickle_result *out);

#endif
