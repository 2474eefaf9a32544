/*
** Calls whose results a pickle drops: they are made for what they do to their arguments, as a
** function is that sets an object's state (the sixth part of what __reduce__() may give). Interface
** to code in torch_dropped.c.
*/
#ifndef ZT_CONTAINER_TORCH_DROPPED_H
#define ZT_CONTAINER_TORCH_DROPPED_H

#include "container/pickle.h"

/* Give objects the states that dropped calls set. Afterwards those calls alone are dropped
** (zt_pickle_is_dropped()) that hold tensors which nothing else leads to. Takes time and memory
** only if a call is dropped: then 4 bytes and a bit for each node. */
int zt_torch_settle(zt_pickle *p, const zt_interrupt *interrupt, zt_error *err);

#endif
