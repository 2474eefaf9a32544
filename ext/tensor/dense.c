/*
** The layout dense: the component `data` holds the elements in row-major order (zTensor 1.2.0
** section 3).
**
**   D1  the data is as long as shape and type make it
*/
#include "core/host.h"
#include "tensor/layout.h"

static int dense_open(zt_tensor *t, zt_error *err){
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  zt_array *data = t->state = sqlite3_malloc64(sizeof(*data));
  if( !data ) return zt_fail_nomem(err);
  *data = (zt_array){ 0 };
  if( zt_tensor_component(t, "data", NULL, &component, err) ) return err->rc;
  zt_array_open_of(&payload, t->object->elements, "D1", data, err);
  t->dtype = data->dtype;
  return err->rc;
}

static void dense_close(zt_tensor *t){
  if( t->state ) zt_array_close(t->state);
}

static int dense_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  return n ? zt_array_read(t->state, first, n, out, err) : zt_array_check_empty(t->state, err);
}

const zt_layout zt_layout_dense = {
  .format = "dense", .open = dense_open, .close = dense_close, .read = dense_read
};
