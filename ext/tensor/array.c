/* Elements of one type in a component. See array.h. */
#include "tensor/array.h"

#include <assert.h>
#include "core/host.h"

#define ARRAY_CHUNK 1024    /* Indices converted at once */
#define ARRAY_WINDOW 4096   /* Bytes of packed elements read at once */

/* Set the component in the error's place; array_leave() removes it on success. */
static void array_enter(zt_text role, zt_error *err){
  err->component = role;
}

static int array_leave(zt_error *err){
  if( !err->rc ) err->component.z = NULL;
  return err->rc;
}

int zt_array_open_part(const zt_payload *p, const zt_dtype *dtype, uint64_t base, uint64_t length,
                       zt_array *out, zt_error *err){
  const zt_dtype *storage = p->component->storage;
  *out = (zt_array){ .role = p->component->role, .dtype = dtype, .base = base, .length = length,
                     .canonical = (p->component->rules & ZT_RULE_CANONICAL_VALUES)!=0 };
  if( storage && zt_text_is(zt_payload_byte_order(p->component), "big") ) out->big = storage->unit;
  array_enter(out->role, err);
  zt_stream_open(p, &out->stream, err);
  return array_leave(err);
}

int zt_array_measure(const zt_payload *p, uint64_t *out, zt_error *err){
  zt_stream *s;
  array_enter(p->component->role, err);
  if( zt_stream_open(p, &s, err)==SQLITE_OK ) zt_stream_length(s, out, err);
  zt_stream_close(s);
  return array_leave(err);
}

/* Say why the component's elements have no type. */
static int array_fail_type(const zt_component *c, zt_error *err){
  array_enter(c->role, err);
  if( !c->dtype.z ) return zt_break(err, "L2", "it has no dtype that is known");
  if( !c->storage ){
    return zt_break(err, "L2", "dtype '%.*s' is not known", zt_shown(c->dtype), c->dtype.z);
  }
  if( !c->misplaced ){
    return zt_break(err, "L5", "%s%stype '%.*s' is not known", c->why_unknown ? c->why_unknown : "",
                    c->why_unknown ? ", so " : "", zt_shown(c->type), c->type.z);
  }
  return zt_break(err, "L6", "type '%.*s' is not stored as '%.*s'", zt_shown(c->type), c->type.z,
                  zt_shown(c->dtype), c->dtype.z);
}

int zt_array_dtype(const zt_payload *p, const zt_dtype **out, zt_error *err){
  zt_text order = zt_payload_byte_order(p->component);
  *out = p->component->element;
  if( !*out ) return array_fail_type(p->component, err);
  if( zt_text_is(order, "little") || zt_text_is(order, "big") ) return SQLITE_OK;
  array_enter(p->component->role, err);
  return zt_break(err, "L8", "byte order '%.*s' is not known", zt_shown(order), order.z);
}

int zt_array_open(const zt_payload *p, zt_array *out, zt_error *err){
  const zt_dtype *dtype = NULL;
  uint64_t bytes = 0;
  *out = (zt_array){ .role = p->component->role };
  if( zt_array_dtype(p, &dtype, err) || zt_array_measure(p, &bytes, err) ) return err->rc;
  if( bytes%dtype->bytes ){
    array_enter(out->role, err);
    return zt_break(err, "L3", "%llu bytes are no whole number of %s elements", bytes, dtype->name);
  }
  return zt_array_open_part(p, dtype, 0, bytes/dtype->bytes*dtype->elements, out, err);
}

int zt_array_open_of(const zt_payload *p, uint64_t length, const char *rule, zt_array *out,
                     zt_error *err){
  const zt_dtype *dtype = NULL;
  uint64_t needed, bytes = 0;
  *out = (zt_array){ .role = p->component->role };
  if( zt_array_dtype(p, &dtype, err) || zt_array_open_part(p, dtype, 0, length, out, err) ){
    return err->rc;
  }
  array_enter(out->role, err);
  if( zt_stream_is_known(out->stream) ? zt_stream_length(out->stream, &bytes, err)
    : zt_array_measure(p, &bytes, err) ) return err->rc;   /* Which decodes apart from it */
  array_enter(out->role, err);
  if( !zt_dtype_size(dtype, length, &needed) ){
    return zt_break(err, rule, "%llu elements of %s are more than 2^64 bytes", length, dtype->name);
  }
  if( needed!=bytes ){
    return zt_break(err, rule, "%llu elements of %s are %llu bytes, and it has %llu", length,
                    dtype->name, needed, bytes);
  }
  return array_leave(err);
}

static int array_open_any(const zt_payload *p, uint64_t length, const char *rule, zt_array *out,
                          zt_error *err){
  return length==UINT64_MAX ? zt_array_open(p, out, err)
       : zt_array_open_of(p, length, rule, out, err);
}

int zt_array_open_parts(const zt_payload *real, const zt_payload *imag, uint64_t length,
                        const char *rule, zt_array *out, zt_error *err){
  zt_array *parts = sqlite3_malloc64(2*sizeof(*parts));
  const zt_dtype *dtype;
  *out = (zt_array){ .parts = parts };
  if( !parts ) return zt_fail_nomem(err);
  parts[0] = parts[1] = (zt_array){ .stream = NULL };
  if( array_open_any(real, length, rule, &parts[0], err)
   || array_open_any(imag, length, rule, &parts[1], err) ) return err->rc;
  dtype = parts[0].dtype;
  assert( dtype && parts[1].dtype );
  if( dtype!=parts[1].dtype || dtype->class!=ZT_FLOAT || dtype->unit<4 ){
    return zt_break(err, "L6", "real and imaginary parts are %s and %s, not both f32 or f64",
                    dtype->name, parts[1].dtype->name);
  }
  if( parts[0].length!=parts[1].length ){
    return zt_break(err, rule, "there are %llu real and %llu imaginary parts", parts[0].length,
                    parts[1].length);
  }
  out->dtype = zt_dtype_get(dtype->unit==8 ? ZT_DTYPE_complex128 : ZT_DTYPE_complex64);
  out->length = parts[0].length;
  return SQLITE_OK;
}

void zt_array_close(zt_array *a){
  zt_stream_close(a->stream);
  a->stream = NULL;
  if( !a->parts ) return;
  for(int i=0; i<2; i++) zt_array_close(&a->parts[i]);
  sqlite3_free(a->parts);
  a->parts = NULL;
}

void zt_array_trim(zt_array *a, uint64_t n){
  if( n<a->length && a->length-n<a->dtype->elements ) a->length = n;
}

static int array_read_bytes(zt_array *a, uint64_t offset, void *out, size_t n, zt_error *err){
  size_t got;
  array_enter(a->role, err);
  if( zt_stream_read(a->stream, a->base+offset, out, n, &got, err)==SQLITE_OK && got<n ){
    zt_break(err, "L3", "its bytes end at %llu", a->base+offset+got);
  }
  if( a->big && !err->rc ) zt_swap_bytes(out, n, a->big);
  return array_leave(err);
}

/* Check L9 for n booleans from element `first` on. */
static int array_check_bools(zt_array *a, uint64_t first, const uint8_t *p, size_t n,
                             zt_error *err){
  uint8_t bits = 0;
  size_t i = 0;
  for(size_t k=0; k<n; k++) bits |= p[k];
  if( bits<=1 ) return SQLITE_OK;
  while( p[i]<=1 ) i++;
  array_enter(a->role, err);
  return zt_break(err, "L9", "byte %llu is 0x%02x: a bool is 0 or 1", first+i, p[i]);
}

/* Check L9 for the spare bits of the last byte. */
static int array_check_spare(zt_array *a, zt_error *err){
  unsigned packed = a->dtype->elements, used = (unsigned)(a->length%packed);
  uint8_t byte;
  if( used==0 || array_read_bytes(a, a->length/packed, &byte, 1, err) || byte>>(8/packed*used)==0 ){
    return err->rc;
  }
  array_enter(a->role, err);
  return zt_break(err, "L9", "the spare bits of the last byte, 0x%02x, are not 0", byte);
}

/* Packed elements are read through a window, because they take more bytes in memory than stored. */
static int array_read_packed(zt_array *a, uint64_t first, size_t n, uint8_t *out, zt_error *err){
  uint8_t window[ARRAY_WINDOW];
  size_t packed = a->dtype->elements;
  while( n>0 ){
    unsigned skip = (unsigned)(first%packed);
    size_t m = n<packed*(ARRAY_WINDOW-1) ? n : packed*(ARRAY_WINDOW-1);
    if( array_read_bytes(a, first/packed, window, (skip+m+packed-1)/packed, err) ) return err->rc;
    zt_unpack(a->dtype, window, skip, out, m);
    first += m;
    out += m;
    n -= m;
  }
  return SQLITE_OK;
}

/* Put n elements together of their parts. */
static int array_read_parts(zt_array *a, uint64_t first, size_t n, uint8_t *out, zt_error *err){
  const size_t unit = a->parts[0].dtype->width;
  ZT_NUMBERS(ARRAY_CHUNK) chunk;
  for(size_t m; n>0; n-=m, first+=m, out+=2*m*unit){
    m = n<ARRAY_CHUNK ? n : ARRAY_CHUNK;
    for(size_t i=0; i<2; i++){
      if( zt_array_read(&a->parts[i], first, m, &chunk, err) ) return err->rc;
      for(size_t k=0; k<m; k++) memcpy(out+(2*k+i)*unit, chunk.bytes+k*unit, unit);
    }
  }
  return SQLITE_OK;
}

int zt_array_read(zt_array *a, uint64_t first, size_t n, void *out, zt_error *err){
  assert( zt_claim(a->length, first, n) );
  if( a->parts ) return array_read_parts(a, first, n, out, err);
  if( zt_dtype_is_packed(a->dtype) ){
    if( array_read_packed(a, first, n, out, err)==SQLITE_OK && a->canonical && first+n==a->length ){
      array_check_spare(a, err);
    }
    return err->rc;
  }
  if( array_read_bytes(a, first*a->dtype->width, out, n*a->dtype->width, err) ) return err->rc;
  if( a->canonical && a->dtype->class==ZT_BOOL && array_check_bools(a, first, out, n, err) ){
    return err->rc;
  }
  if( zt_big_endian() ) zt_swap_bytes(out, n*a->dtype->width, a->dtype->unit);
  return SQLITE_OK;
}

int zt_array_read_indices(zt_array *a, uint64_t first, size_t n, uint64_t *out, zt_error *err){
  const zt_dtype *u64 = zt_dtype_get(ZT_DTYPE_u64);
  ZT_NUMBERS(ARRAY_CHUNK) chunk;
  if( a->dtype==u64 ) return zt_array_read(a, first, n, out, err);
  while( n>0 ){
    size_t m = n<ARRAY_CHUNK ? n : ARRAY_CHUNK, done;
    if( zt_array_read(a, first, m, &chunk, err) ) return err->rc;
    done = zt_convert(a->dtype, &chunk, u64, out, m);
    if( done<m ){
      array_enter(a->role, err);
      return zt_break(err, "L7", "entry %llu is negative", first+done);
    }
    first += m;
    out += m;
    n -= m;
  }
  return SQLITE_OK;
}

int zt_array_check_empty(zt_array *a, zt_error *err){
  if( a->length ) return SQLITE_OK;
  if( !a->parts ) return array_read_bytes(a, 0, NULL, 0, err);
  for(int i=0; i<2 && !err->rc; i++) zt_array_check_empty(&a->parts[i], err);
  return err->rc;
}
