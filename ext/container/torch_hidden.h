/* Values in a pickle that may hold tensors, and are not understood. Interface to code in
** torch_hidden.c. */
#ifndef ZT_CONTAINER_TORCH_HIDDEN_H
#define ZT_CONTAINER_TORCH_HIDDEN_H

#include "container/torch_reach.h"

/* True for bytes that begin as a tensor file or a pickle does. */
bool zt_torch_is_file(const zt_pickle *p, zt_pickle_node node);

/* True if a storage is among a call's arguments, or is the first of a tuple among them: the
** function makes a tensor of it. */
bool zt_torch_has_storage(const zt_pickle *p, const zt_pickle_value *call);

/* True for a call that makes a function's code, as cloudpickle and dill have it. */
bool zt_torch_is_code(const zt_pickle *p, const zt_pickle_value *call);

/* Bytes that are neither an array's nor a code's, and what holds them. */
extern const zt_torch_search zt_torch_hidden;

#endif
