/* Dimensions of stride 0. See broadcast.h. */
#include "tensor/broadcast.h"

#include "core/host.h"

/* True if dimension d of a tensor repeats its elements. Strides of sparse layouts are those of
** indices. */
static bool broadcast_repeats(const zt_tensor *t, uint32_t d){
  return t->layout==&zt_layout_dense && t->object->has_strides && t->object->strides[d]==0;
}

int zt_broadcast_open(zt_tensor *t, const zt_tensor *other, zt_broadcast *out, zt_error *err){
  const uint64_t elements = t->object->elements;
  out->object = *t->object;
  out->opened = (zt_tensor){ 0 };
  out->once = t;
  out->times = 1;
  for(uint32_t d=0; d<t->object->rank && elements>0; d++){
    if( !broadcast_repeats(t, d) || (other && !broadcast_repeats(other, d)) ) continue;
    out->times *= t->object->shape[d];
    out->object.shape[d] = 1;
  }
  if( out->times==1 ) return SQLITE_OK;
  out->object.elements = elements/out->times;
  out->once = &out->opened;
  return zt_tensor_open(t->source, t->container, &out->object, t->budget, out->once, err);
}

void zt_broadcast_close(zt_broadcast *b){
  if( b->once==&b->opened ) zt_tensor_close(&b->opened);
}
