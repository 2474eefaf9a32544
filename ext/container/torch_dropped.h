/* Calls with dropped results, made for their effect on their arguments, such as a function that
** sets an object's state (the sixth item of __reduce__()). */
#ifndef ZT_CONTAINER_TORCH_DROPPED_H
#define ZT_CONTAINER_TORCH_DROPPED_H

#include "container/pickle.h"

/* Give objects the states that dropped calls set. Afterwards, the calls still dropped
** (zt_pickle_is_dropped()) hold tensors that nothing else leads to. Without dropped calls this is
** free; else it takes 4 bytes and a bit per node. */
int zt_torch_set_dropped_states(zt_pickle *p, const zt_interrupt *interrupt, zt_error *err);

#endif
