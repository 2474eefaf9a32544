/* Which values hold others. See torch_reach.h. The search goes from each value to its owners, and
** visits each node once, so cycles are harmless. */
#include "container/torch_reach.h"

#include <assert.h>
#include "container/pickle_numpy.h"
#include "container/torch_call.h"
#include "core/host.h"

#define REACH_POLL 0xFFFF   /* Nodes between checks for an interrupt, less 1 */

typedef struct reach {
  const zt_pickle *p;
  const zt_torch_search *search;
  const zt_interrupt *interrupt;
  zt_error *err;
  uint32_t *first;          /* For each node and one more: where its owners begin */
  uint32_t *owners;
  uint32_t *list;           /* Found nodes whose owners were not visited */
  uint32_t n;
  uint8_t *found;
} reach;

void zt_torch_parts(const zt_pickle *p, zt_pickle_node node, zt_pickle_node out[ZT_TORCH_PARTS]){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  memset(out, 0, ZT_TORCH_PARTS*sizeof(*out));
  if( value.kind==ZT_PICKLE_PERSISTENT ) out[0] = value.args;
  if( value.kind!=ZT_PICKLE_CALL ) return;
  out[0] = value.callee;
  out[1] = value.args;
  out[2] = value.keywords;
  out[3] = value.list;
  out[4] = value.dict;
  out[5] = value.state;
}

bool zt_torch_is_tensor(const zt_pickle *p, zt_pickle_node node){
  zt_torch_view view;
  zt_pickle_value call;
  switch( zt_pickle_kind_of(p, node) ){
    case ZT_PICKLE_PERSISTENT:
      return zt_torch_read_storage(p, node, &view) || zt_torch_is_unread_storage(p, node);
    case ZT_PICKLE_CALL:
      return zt_torch_call(p, node, &call)>=ZT_TORCH_TENSOR || zt_numpy_is_array(p, node)
          || zt_torch_is_unread_storage(p, node) || zt_torch_is_rebuilt(p, node);
    default: return false;
  }
}

/* Count an owner of a node, or store it. */
static void reach_owner(reach *r, zt_pickle_node node, zt_pickle_node owner, bool put){
  if( put ) r->owners[--r->first[node+1]] = owner;
  else r->first[node+1]++;
}

/* Count or store the owners of all nodes. */
static bool reach_children(reach *r, bool put){
  const uint32_t n = zt_pickle_nodes(r->p);
  for(zt_pickle_node node=1; node<=n; node++){
    zt_pickle_node parts[ZT_TORCH_PARTS], child;
    zt_pickle_cursor c = zt_pickle_begin(r->p, node);
    if( (node & REACH_POLL)==0 && zt_interrupt_check(r->interrupt, r->err) ) return false;
    while( (child = zt_pickle_next(r->p, &c))!=0 ) reach_owner(r, child, node, put);
    zt_torch_parts(r->p, node, parts);
    for(int i=0; i<ZT_TORCH_PARTS; i++) if( parts[i] ) reach_owner(r, parts[i], node, put);
  }
  return true;
}

static void reach_add(reach *r, zt_pickle_node node){
  if( zt_torch_has_bit(r->found, node) || (r->search->ends && r->search->ends(r->p, node)) ) return;
  zt_torch_set_bit(r->found, node);
  r->list[r->n++] = node;
}

/* Once stored, the owners of node i are in first[i+1] to first[i+2]. */
static void reach_run(reach *r){
  const uint32_t n = zt_pickle_nodes(r->p);
  for(zt_pickle_node node=1; node<=n; node++){
    if( (node & REACH_POLL)==0 && zt_interrupt_check(r->interrupt, r->err) ) return;
    if( r->search->is(r->p, node) ) reach_add(r, node);
  }
  while( r->n>0 ){
    const zt_pickle_node node = r->list[--r->n];
    for(uint32_t i=r->first[node+1]; i<r->first[node+2]; i++) reach_add(r, r->owners[i]);
  }
}

const zt_torch_search zt_torch_tensors = { zt_torch_is_tensor, NULL };

uint8_t *zt_torch_reach(const zt_pickle *p, const zt_torch_search *search,
                        const zt_interrupt *interrupt, zt_error *err){
  const uint64_t n = (uint64_t)zt_pickle_nodes(p)+3;
  reach r = { .p = p, .search = search, .interrupt = interrupt, .err = err };
  r.first = sqlite3_malloc64(n*sizeof(*r.first));
  r.list = sqlite3_malloc64(n*sizeof(*r.list));
  r.found = sqlite3_malloc64(n/8+1);
  if( !r.first || !r.list || !r.found ){
    zt_fail_nomem(err);
    goto end;
  }
  memset(r.first, 0, (size_t)n*sizeof(*r.first));
  memset(r.found, 0, (size_t)n/8+1);
  if( !reach_children(&r, false) ) goto end;
  for(uint64_t i=1; i<n; i++) r.first[i] += r.first[i-1];
  r.owners = sqlite3_malloc64((r.first[n-1]+(uint64_t)1)*sizeof(*r.owners));
  if( !r.owners ) zt_fail_nomem(err);
  else if( reach_children(&r, true) ) reach_run(&r);
end:
  sqlite3_free(r.first);
  sqlite3_free(r.list);
  sqlite3_free(r.owners);
  if( err->rc ){
    sqlite3_free(r.found);
    r.found = NULL;
  }
  return r.found;
}
