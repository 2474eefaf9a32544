/*
** Which values of a pickle hold a tensor, an array or a storage, however deep. Interface to code in
** torch_reach.c.
*/
#ifndef ZT_CONTAINER_TORCH_REACH_H
#define ZT_CONTAINER_TORCH_REACH_H

#include "container/pickle.h"

/* A bit for each node from 0 on, in memory from sqlite3_malloc64(). NULL on failure. Takes time and
** memory of about 8 bytes for each node and each child, once. */
uint8_t *zt_torch_reach(const zt_pickle *p, const zt_interrupt *interrupt, zt_error *err);

/* It is a tensor, an array or a storage itself. */
bool zt_torch_is_tensor(const zt_pickle *p, zt_pickle_node node);

/* The nodes that a call or an id consists of, 0 in places that have nothing. */
#define ZT_TORCH_PARTS 6
void zt_torch_parts(const zt_pickle *p, zt_pickle_node node, zt_pickle_node out[ZT_TORCH_PARTS]);

#endif
