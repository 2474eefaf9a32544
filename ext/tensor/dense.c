/*
** The layout dense: the component `data` holds the elements in row-major order (zTensor's
** specification, section 3); or, where the object has strides, each of them where these lead.
**
**   D1  the data is as long as shape and type make it; with strides, it ends behind the last
**       element that they lead to
*/
#include "core/host.h"
#include "tensor/layout.h"

/* How many elements the data has: with strides, those from the first to the last one. */
static int dense_measure(const zt_object *object, uint64_t *out, zt_error *err){
  *out = object->elements;
  if( !object->has_strides || object->elements==0 ) return SQLITE_OK;
  *out = 1;
  for(uint32_t d=0; d<object->rank; d++){
    uint64_t n;
    if( !zt_mul64(object->shape[d]-1, object->strides[d], &n) || !zt_add64(*out, n, out) ){
      return zt_break(err, "D1", "the strides lead beyond 2^64 elements");
    }
  }
  return SQLITE_OK;
}

static int dense_open(zt_tensor *t, zt_error *err){
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  zt_array *data = t->state = sqlite3_malloc64(sizeof(*data));
  uint64_t length;
  if( !data ) return zt_fail_nomem(err);
  *data = (zt_array){ 0 };
  if( zt_tensor_component(t, "data", NULL, &component, err)
   || dense_measure(t->object, &length, err) ) return err->rc;
  zt_array_open_of(&payload, length, "D1", data, err);
  t->dtype = data->dtype;
  return err->rc;
}

static void dense_close(zt_tensor *t){
  if( t->state ) zt_array_close(t->state);
}

/* Where the element at flat position i is; *run: how many follow it, itself included, one after
** the other. */
static uint64_t dense_place(const zt_object *object, uint64_t i, uint64_t *run){
  uint64_t at = 0;
  *run = 1;
  for(uint32_t d=object->rank; d-->0; ){
    uint64_t index = i%object->shape[d];
    if( d+1==object->rank && object->strides[d]==1 ) *run = object->shape[d]-index;
    at += index*object->strides[d];
    i /= object->shape[d];
  }
  return at;
}

static int dense_read_strided(zt_tensor *t, uint64_t first, size_t n, uint8_t *out, zt_error *err){
  for(size_t i=0; i<n; ){
    uint64_t run, at = dense_place(t->object, first+i, &run);
    size_t m = run<n-i ? (size_t)run : n-i;
    if( zt_array_read(t->state, at, m, out+i*t->dtype->width, err)
     || zt_tensor_poll(t, m, err) ) return err->rc;
    i += m;
  }
  return SQLITE_OK;
}

static int dense_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  if( n==0 ) return zt_array_check_empty(t->state, err);
  return t->object->has_strides ? dense_read_strided(t, first, n, out, err)
       : zt_array_read(t->state, first, n, out, err);
}

const zt_layout zt_layout_dense = {
  .open = dense_open, .close = dense_close, .read = dense_read
};
