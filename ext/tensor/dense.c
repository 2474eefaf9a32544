/*
** The layout dense: the component `data` holds the elements in row-major order (zTensor's
** specification, section 3), or at the object's strides; or `real` and `imag` hold the parts of
** complex ones, both so.
**
**   D1  the data has the length that shape and type demand; with strides, it ends behind the last
**       element that they reach. So does each part
** PyTorch stores lazily negated or conjugated data unchanged. Reading applies the operation.
*/
#include "core/host.h"
#include "tensor/strided.h"

typedef struct dense_state {
  zt_array data;
  zt_strided *strided;     /* NULL: elements lie in row-major order */
} dense_state;

static int dense_open_data(zt_tensor *t, dense_state *s, zt_error *err){
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  uint64_t length;
  if( t->object->layout==ZT_LAYOUT_COMPLEX_PARTS ){
    return zt_strided_measure(t->object, &length, err) ? err->rc
         : zt_tensor_parts(t, length, "D1", &s->data, err);
  }
  if( zt_tensor_component(t, "data", NULL, &component, err)
   || zt_strided_measure(t->object, &length, err) ) return err->rc;
  t->anywhere = zt_tensor_is_plain(&component) && !t->object->has_strides;
  return zt_array_open_of(&payload, length, "D1", &s->data, err);
}

static int dense_open(zt_tensor *t, zt_error *err){
  dense_state *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  *s = (dense_state){ .strided = NULL };
  if( dense_open_data(t, s, err) ) return err->rc;
  t->dtype = s->data.dtype;
  if( t->object->has_strides && t->object->elements>0 ){
    s->strided = zt_strided_new(t, &s->data, err);
  }
  return err->rc;
}

static void dense_close(zt_tensor *t){
  dense_state *s = t->state;
  zt_array_close(&s->data);
  zt_strided_free(s->strided);
}

/* Negate every `step`th of n numbers of `width` bytes, from the first on. Floats change their sign,
** so that 0 becomes -0; integers are negated modulo 2^bits. */
static void dense_negate(uint8_t *p, size_t n, size_t step, unsigned width, bool integer){
  const size_t top = zt_big_endian() ? 0 : width-1u;
  for(size_t i=0; i<n; i+=step){
    uint8_t *number = p+i*width;
    unsigned carry = 1;
    if( !integer ) number[top] ^= 0x80;
    for(unsigned k=0; k<width && integer; k++){
      uint8_t *byte = number+(zt_big_endian() ? width-1-k : k);
      carry += (uint8_t)~*byte;
      *byte = (uint8_t)carry;
      carry >>= 8;
    }
  }
}

static void dense_apply(const zt_tensor *t, uint8_t *p, size_t n){
  const zt_dtype *dtype = t->dtype;
  const bool complex = dtype->class==ZT_COMPLEX;
  const bool integer = dtype->class==ZT_INT || dtype->class==ZT_UINT;
  const size_t parts = complex ? 2*n : n;
  if( t->object->negate ) dense_negate(p, parts, 1, dtype->unit, integer);
  if( t->object->conjugate && complex ){
    dense_negate(p+dtype->unit, parts-1, 2, dtype->unit, false);
  }
}

static int dense_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  dense_state *s = t->state;
  if( n==0 ) return zt_array_check_empty(&s->data, err);
  if( s->strided ? zt_strided_read(s->strided, first, n, out, err)
    : zt_array_read(&s->data, first, n, out, err) ) return err->rc;
  if( t->object->negate || t->object->conjugate ) dense_apply(t, out, n);
  return SQLITE_OK;
}

const zt_layout zt_layout_dense = {
  .open = dense_open, .close = dense_close, .read = dense_read
};
