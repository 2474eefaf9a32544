/*
** Dropped calls. See torch_dropped.h.
**
**   setter(object, state)     ; sets the state of an object without one: paths below the object's
**   anything else             ; stands for itself (torch_tree.c)
*/
#include "container/torch_dropped.h"

#include "container/torch_call.h"
#include "container/torch_reach.h"
#include "core/host.h"

#define DROPPED_POLL 0xFFFF   /* Nodes between checks for an interrupt, less 1 */
#define DROPPED_ROUNDS 8      /* A state may have objects whose states are set later */

typedef struct dropped {
  zt_pickle *p;
  const zt_interrupt *interrupt;
  zt_error *err;
  uint8_t *seen;              /* A bit for each reached node */
  uint32_t *list;             /* Reached nodes whose children were not visited */
  uint32_t n, steps;
} dropped;

static void dropped_add(dropped *d, zt_pickle_node node){
  if( !node || zt_torch_has_bit(d->seen, node) ) return;
  zt_torch_set_bit(d->seen, node);
  d->list[d->n++] = node;
}

/* Visit a node and all that it leads to. True if a tensor is new among these. */
static bool dropped_see(dropped *d, zt_pickle_node node){
  bool tensor = false;
  dropped_add(d, node);
  while( d->n>0 && !d->err->rc ){
    zt_pickle_node parts[ZT_TORCH_PARTS], child;
    zt_pickle_cursor c;
    node = d->list[--d->n];
    if( (++d->steps & DROPPED_POLL)==0 ) zt_interrupt_check(d->interrupt, d->err);
    tensor = tensor || zt_torch_is_tensor(d->p, node);
    c = zt_pickle_begin(d->p, node);
    while( (child = zt_pickle_next(d->p, &c))!=0 ) dropped_add(d, child);
    zt_torch_parts(d->p, node, parts);
    for(int i=0; i<ZT_TORCH_PARTS; i++) dropped_add(d, parts[i]);
  }
  return tensor;
}

/* The call of a reached object and an unreached state: set the object's state. */
static bool dropped_set_state(dropped *d, zt_pickle_node node){
  zt_pickle_value call, object;
  zt_pickle_node to, state;
  zt_pickle_get(d->p, node, &call);
  to = zt_pickle_child(d->p, call.args, 0);
  state = zt_pickle_child(d->p, call.args, 1);
  if( !state || zt_pickle_child(d->p, call.args, 2) || !zt_torch_has_bit(d->seen, to)
   || zt_torch_has_bit(d->seen, state) || zt_pickle_kind_of(d->p, to)!=ZT_PICKLE_CALL ){
    return false;
  }
  zt_pickle_get(d->p, to, &object);
  if( object.state ) return false;
  zt_pickle_set_state(d->p, to, state);
  dropped_see(d, state);
  zt_pickle_clear_dropped(d->p, node);
  return true;
}

/* True if an object got a state. */
static bool dropped_set_states(dropped *d){
  bool any = false;
  for(zt_pickle_node node=1; node<=zt_pickle_nodes(d->p) && !d->err->rc; node++){
    if( !zt_pickle_is_dropped(d->p, node) ) continue;
    if( zt_torch_has_bit(d->seen, node) ) zt_pickle_clear_dropped(d->p, node);
    else any = dropped_set_state(d, node) || any;
  }
  return any;
}

/* Calls with a meaning only make a result. */
static void dropped_see_rest(dropped *d){
  zt_pickle_value call;
  for(zt_pickle_node node=1; node<=zt_pickle_nodes(d->p) && !d->err->rc; node++){
    if( zt_pickle_is_dropped(d->p, node)
     && (zt_torch_has_bit(d->seen, node) || zt_torch_call(d->p, node, &call)!=ZT_TORCH_OPAQUE
         || !dropped_see(d, node)) ) zt_pickle_clear_dropped(d->p, node);
  }
}

int zt_torch_set_dropped_states(zt_pickle *p, const zt_interrupt *interrupt, zt_error *err){
  const uint64_t n = (uint64_t)zt_pickle_nodes(p)+1;
  dropped d = { .p = p, .interrupt = interrupt, .err = err };
  if( !zt_pickle_has_dropped(p) ) return SQLITE_OK;
  d.seen = sqlite3_malloc64(n/8+1);
  d.list = sqlite3_malloc64(n*sizeof(*d.list));
  if( d.seen && d.list ){
    memset(d.seen, 0, (size_t)(n/8+1));
    dropped_see(&d, zt_pickle_root(p));
    for(int i=0; i<DROPPED_ROUNDS && dropped_set_states(&d); i++){}
    dropped_see_rest(&d);
  }else{
    zt_fail_nomem(err);
  }
  sqlite3_free(d.seen);
  sqlite3_free(d.list);
  return err->rc;
}
