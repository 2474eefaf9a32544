/*
** Dimensions of stride 0, as expand() of PyTorch makes them: all of their indices have the same
** elements. A file of few bytes may state 2^63 elements in this way, so passes over the values read
** each of them once, and count it as often as it occurs. Interface to code in broadcast.c.
*/
#ifndef ZT_TENSOR_BROADCAST_H
#define ZT_TENSOR_BROADCAST_H

#include "tensor/layout.h"

/* A tensor with one index in each dimension of stride 0. `once` points into it. */
typedef struct zt_broadcast {
  zt_object object;
  zt_tensor opened;
  zt_tensor *once;         /* The tensor itself if no dimension repeats its elements */
  uint64_t times;          /* How often it has each element of `once`, at least 1 */
} zt_broadcast;

/* Open it. Another tensor of the same shape may be given, which is NULL otherwise: then only
** dimensions that have stride 0 in both count. err's place should name the object. *out always
** needs zt_broadcast_close(), before the tensor is closed. */
int zt_broadcast_open(zt_tensor *t, const zt_tensor *other, zt_broadcast *out, zt_error *err);
void zt_broadcast_close(zt_broadcast *b);

#endif
