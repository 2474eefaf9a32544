/* The dotted path of a value in a pickle, as it is built. PT6 (torch_tree.c): it has at most
** ZT_TORCH_PATH_MAX bytes, and no U+0000. */
#ifndef ZT_CONTAINER_TORCH_PATH_H
#define ZT_CONTAINER_TORCH_PATH_H

#include "container/pickle.h"

#define ZT_TORCH_PATH_MAX ((size_t)1 << 20)

typedef struct zt_torch_path {
  char *z;         /* Owned; stays NULL if only measured */
  size_t n, room;
  bool measured;   /* Only the length is needed */
} zt_torch_path;

void zt_torch_path_add(zt_torch_path *path, const char *z, size_t n, zt_error *err);
void zt_torch_path_add_index(zt_torch_path *path, uint64_t u, zt_error *err);

/* A key of a dict: a text as it is, others as Python shows them. */
void zt_torch_path_add_key(zt_torch_path *path, const zt_pickle *p, zt_pickle_node node,
                           zt_error *err);

#endif
