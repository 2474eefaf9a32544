/* Which values of a pickle hold others at any depth: tensors, arrays and storages; or others. */
#ifndef ZT_CONTAINER_TORCH_REACH_H
#define ZT_CONTAINER_TORCH_REACH_H

#include "container/pickle.h"

/* The search finds each node that `is` names, its owners, and so on, up to owners that `ends`
** names. NULL: there are none. */
typedef struct zt_torch_search {
  bool (*is)(const zt_pickle *p, zt_pickle_node node);
  bool (*ends)(const zt_pickle *p, zt_pickle_node node);
} zt_torch_search;

extern const zt_torch_search zt_torch_tensors;

/* A bit for each node from 0 on; free it with sqlite3_free(). NULL on failure. Takes about 8 bytes
** for each node and each child. */
uint8_t *zt_torch_reach(const zt_pickle *p, const zt_torch_search *search,
                        const zt_interrupt *interrupt, zt_error *err);

/* A node's bit. */
static inline bool zt_torch_has_bit(const uint8_t *bits, zt_pickle_node node){
  return bits[node/8]>>(node%8) & 1;
}
static inline void zt_torch_set_bit(uint8_t *bits, zt_pickle_node node){
  bits[node/8] |= (uint8_t)(1u<<(node%8));
}

/* True if the node itself is a tensor, an array or a storage. */
bool zt_torch_is_tensor(const zt_pickle *p, zt_pickle_node node);

/* The nodes of a call or a persistent id; 0: none. */
#define ZT_TORCH_PARTS 6
void zt_torch_parts(const zt_pickle *p, zt_pickle_node node, zt_pickle_node out[ZT_TORCH_PARTS]);

#endif
