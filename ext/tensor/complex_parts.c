/*
** The layout of complex numbers whose parts are components of their own, `real` and `imag`, in
** row-major order or at the object's strides. The dense form has both parts of an element together.
**
** Rules are those of dense.c: D1 holds for each part. Both have one type, f32 or f64.
*/
#include "core/host.h"
#include "tensor/strided.h"

#define COMPLEX_PIECE 1024   /* Elements put together at once */

typedef struct complex_parts {
  zt_array parts[2];
  zt_strided *strided[2];        /* NULL: elements lie in row-major order */
} complex_parts;

static int complex_open_part(zt_tensor *t, const char *role, int i, uint64_t length, zt_error *err){
  complex_parts *s = t->state;
  zt_component component = { 0 };
  zt_payload payload = zt_tensor_payload(t, &component);
  if( zt_tensor_component(t, role, NULL, &component, err)
   || zt_array_open_of(&payload, length, "D1", &s->parts[i], err) ) return err->rc;
  if( t->object->has_strides ) s->strided[i] = zt_strided_new(t, &s->parts[i], err);
  return err->rc;
}

static int complex_open(zt_tensor *t, zt_error *err){
  complex_parts *s = t->state = sqlite3_malloc64(sizeof(*s));
  const zt_dtype *dtype;
  uint64_t length;
  if( !s ) return zt_fail_nomem(err);
  memset(s, 0, sizeof(*s));
  if( zt_strided_measure(t->object, &length, err)
   || complex_open_part(t, "real", 0, length, err)
   || complex_open_part(t, "imag", 1, length, err) ) return err->rc;
  dtype = s->parts[0].dtype;
  if( dtype!=s->parts[1].dtype || dtype->class!=ZT_FLOAT || dtype->unit<4 ){
    return zt_break(err, "L6", "real and imaginary parts are %s and %s, not both f32 or f64",
                    dtype->name, s->parts[1].dtype->name);
  }
  t->dtype = zt_dtype_get(dtype->unit==8 ? ZT_DTYPE_complex128 : ZT_DTYPE_complex64);
  return SQLITE_OK;
}

static void complex_close(zt_tensor *t){
  complex_parts *s = t->state;
  for(int i=0; i<2; i++){
    zt_array_close(&s->parts[i]);
    zt_strided_free(s->strided[i]);
  }
}

/* Read n elements of one part into every second place of `out`. */
static int complex_read_part(complex_parts *s, int i, uint64_t first, size_t n, uint8_t *out,
                             zt_error *err){
  const size_t unit = s->parts[i].dtype->unit;
  ZT_NUMBERS(COMPLEX_PIECE) piece;
  if( s->strided[i] ? zt_strided_read(s->strided[i], first, n, piece.bytes, err)
      : zt_array_read(&s->parts[i], first, n, piece.bytes, err) ) return err->rc;
  for(size_t k=0; k<n; k++) memcpy(out+(2*k+(size_t)i)*unit, piece.bytes+k*unit, unit);
  return SQLITE_OK;
}

static int complex_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  complex_parts *s = t->state;
  uint8_t *to = out;
  if( n==0 && zt_array_check_empty(&s->parts[0], err)==SQLITE_OK ){
    zt_array_check_empty(&s->parts[1], err);
  }
  while( n>0 && !err->rc ){
    const size_t m = n<COMPLEX_PIECE ? n : COMPLEX_PIECE;
    if( complex_read_part(s, 0, first, m, to, err)==SQLITE_OK ){
      complex_read_part(s, 1, first, m, to, err);
    }
    first += m;
    to += m*t->dtype->width;
    n -= m;
  }
  return err->rc;
}

const zt_layout zt_layout_complex_parts = {
  .open = complex_open, .close = complex_close, .read = complex_read
};
