/*
** HDF5: elements as attributes' values, in CBOR. See hdf5.h.
**
** Integers, bit fields and enums are integers, floats are reals, an enum of FALSE and TRUE is a
** bool. Text of variable length is text; text of a fixed length is bytes, as h5py gives it, without
** its padding. Compounds and arrays are arrays. References, and types that are not known, are
** {"$opaque": ...}.
*/
#include "container/hdf5.h"

#include <math.h>

#define ELEMENT_DEPTH 56               /* Arrays in each other; CBOR has ZT_CBOR_MAX_DEPTH */

static int element_put(zt_hdf5 *h, const zt_hdf5_type *type, const uint8_t *p, int depth,
                     zt_cbor_out *out);

static void element_put_opaque(const char *what, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 1);
  zt_cbor_put_text(out, ZT_TEXT("$opaque"));
  zt_cbor_put_text(out, (zt_text){ what, strlen(what) });
}

/* HD16 */
static int element_check(zt_hdf5 *h, const zt_cbor_out *out){
  if( h->err->rc || out->n<=h->most ) return h->err->rc;
  return zt_break(h->err, "HD16", "the attributes' values take more memory than the file is worth");
}

/* --- Numbers --- */

/* An integer of `size` bytes, at most 8. */
static uint64_t element_raw(const uint8_t *p, uint32_t size, bool big){
  uint64_t u = 0;
  for(uint32_t i=0; i<size; i++) u = u<<8 | p[big ? i : size-1-i];
  return u;
}

static void element_put_integer(const zt_hdf5_type *t, const uint8_t *p, zt_cbor_out *out){
  uint64_t u;
  if( t->size>8 || t->precision==0 || t->precision>64 || t->offset>63 ){
    element_put_opaque("h5 integer", out);
    return;
  }
  u = element_raw(p, t->size, t->big)>>t->offset;
  if( t->precision<64 ){
    const uint64_t sign = (uint64_t)1<<(t->precision-1);
    u &= 2*sign-1;
    if( t->is_signed ) u = (u ^ sign)-sign;
  }
  if( t->is_signed && u>>63 ) zt_cbor_put_head(out, ZT_CBOR_NINT, ~u);
  else zt_cbor_put_uint(out, u);
}

/* A float of a sign, an exponent and a mantissa of those bits. */
static double element_float(uint64_t u, unsigned exponent_bits, unsigned mantissa_bits){
  const uint64_t mantissa = u & (((uint64_t)1<<mantissa_bits)-1);
  const int most = (1<<exponent_bits)-1, bias = most/2;
  const int exponent = (int)(u>>mantissa_bits) & most;
  double x;
  if( exponent==most ) x = mantissa ? NAN : INFINITY;
  else if( exponent==0 ) x = ldexp((double)mantissa, 1-bias-(int)mantissa_bits);
  else x = ldexp((double)(mantissa | (uint64_t)1<<mantissa_bits), exponent-bias-(int)mantissa_bits);
  return u>>(exponent_bits+mantissa_bits) & 1 ? -x : x;
}

static bool element_real(zt_hdf5_float kind, const uint8_t *p, bool big, double *out){
  switch( kind ){
    case ZT_HDF5_F16: *out = element_float(element_raw(p, 2, big), 5, 10); return true;
    case ZT_HDF5_BF16: *out = element_float(element_raw(p, 2, big), 8, 7); return true;
    case ZT_HDF5_F32: *out = element_float(element_raw(p, 4, big), 8, 23); return true;
    case ZT_HDF5_F64: *out = element_float(element_raw(p, 8, big), 11, 52); return true;
    case ZT_HDF5_F8_E5M2: *out = element_float(p[0], 5, 2); return true;
    default: return false;
  }
}

static void element_put_float(const zt_hdf5_type *t, const uint8_t *p, zt_cbor_out *out){
  double x;
  if( element_real(t->real, p, t->big, &x) ) zt_cbor_put_real(out, x);
  else element_put_opaque("h5 float", out);
}

static void element_put_complex(const zt_hdf5_type *t, const uint8_t *p, zt_cbor_out *out){
  zt_hdf5_type part = *t;
  part.size /= 2;
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, 2);
  element_put_float(&part, p, out);
  element_put_float(&part, p+part.size, out);
}

/* --- Text --- */

static void element_put_fixed(const zt_hdf5_type *t, const uint8_t *p, zt_cbor_out *out){
  const unsigned padding = t->bits & 15;   /* 0: ends at a NUL; 1: NULs; 2: spaces */
  size_t n = t->size;
  const uint8_t *end = padding==0 ? memchr(p, 0, n) : NULL;
  if( end ) n = (size_t)(end-p);
  while( padding==1 && n>0 && p[n-1]==0 ) n--;
  while( padding==2 && n>0 && p[n-1]==' ' ) n--;
  zt_cbor_put_bytes(out, (zt_span){ p, n });
}

/* Elements of variable length lie in a global heap. */
static int element_put_vlen(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t *p, int depth,
                          zt_cbor_out *out){
  const bool text = (t->bits & 15)==1;
  zt_hdf5_in in = zt_hdf5_in_of(h, (zt_span){ p, t->size });
  const uint64_t n = zt_hdf5_take(&in, 4), address = zt_hdf5_take_address(&in);
  const uint32_t index = (uint32_t)zt_hdf5_take(&in, 4);
  zt_hdf5_in inner = zt_hdf5_in_of(h, t->inner);
  zt_hdf5_block copy = { NULL, 0, 0 };
  zt_span data = { (const uint8_t*)"", 0 };
  zt_hdf5_type base;
  if( in.cut || zt_hdf5_type_read(h, &inner, ZT_HDF5_NESTED, &base) ){
    return zt_break(h->err, "HD11", "a type of variable length of another size");
  }
  if( n>0 && zt_hdf5_global(h, address, index, &data) ) return h->err->rc;
  if( n>data.n/base.size ){
    return zt_break(h->err, "HD9", "an element goes beyond its object in the global heap");
  }
  if( text ){
    const uint8_t *end = n ? memchr(data.p, 0, (size_t)n) : NULL;
    zt_cbor_put_name(out, (zt_span){ data.p, end ? (size_t)(end-data.p) : (size_t)n });
    return h->err->rc;
  }
  /* Elements in it may read another collection */
  if( zt_hdf5_put(h, data.p, (size_t)n*base.size, &copy)==SQLITE_OK ){
    zt_cbor_put_head(out, ZT_CBOR_ARRAY, n);
    for(uint64_t i=0; i<n && element_check(h, out)==SQLITE_OK; i++){
      element_put(h, &base, copy.p+i*base.size, depth-1, out);
    }
  }
  zt_hdf5_block_clear(&copy);
  return h->err->rc;
}

/* --- Types with others in them --- */

static int element_put_compound(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t *p, int depth,
                              zt_cbor_out *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, t->inner);
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, t->members);
  for(uint32_t i=0; i<t->members && element_check(h, out)==SQLITE_OK; i++){
    zt_hdf5_member m;
    if( zt_hdf5_member_read(h, &in, t, ZT_HDF5_NESTED, &m) ) break;
    if( m.array ) element_put_opaque("h5 array", out);
    else element_put(h, &m.type, p+m.offset, depth-1, out);
  }
  return h->err->rc;
}

/* The elements from dimension d on, at *p. */
static int element_put_nested(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t **p, uint32_t rank,
                            const uint64_t *shape, int depth, zt_cbor_out *out){
  if( depth<=0 ) return zt_break(h->err, "HD11", "values that are nested more than 56 deep");
  if( rank==0 ){
    element_put(h, t, *p, depth, out);
    *p += t->size;
    return element_check(h, out);
  }
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, shape[0]);
  for(uint64_t i=0; i<shape[0] && element_check(h, out)==SQLITE_OK; i++){
    element_put_nested(h, t, p, rank-1, shape+1, depth-1, out);
  }
  return h->err->rc;
}

static int element_put_array(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t *p, int depth,
                           zt_cbor_out *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, t->inner);
  uint64_t shape[ZT_HDF5_RANK];
  zt_hdf5_type base;
  for(uint32_t d=0; d<t->rank; d++) shape[d] = t->shape[d];
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &base) ) return h->err->rc;
  return element_put_nested(h, &base, &p, t->rank, shape, depth, out);
}

static int element_put_enum(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t *p, zt_cbor_out *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, t->inner);
  zt_hdf5_type base;
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &base) ) return h->err->rc;
  if( t->boolean && p[0]<=1 ) zt_cbor_put_bool(out, p[0]);
  else element_put_integer(&base, p, out);
  return SQLITE_OK;
}

static int element_put(zt_hdf5 *h, const zt_hdf5_type *t, const uint8_t *p, int depth,
                     zt_cbor_out *out){
  switch( t->class ){
    case ZT_HDF5_INTEGER: case ZT_HDF5_BITS: element_put_integer(t, p, out); break;
    case ZT_HDF5_FLOAT: element_put_float(t, p, out); break;
    case ZT_HDF5_COMPLEX: element_put_complex(t, p, out); break;
    case ZT_HDF5_TEXT: element_put_fixed(t, p, out); break;
    case ZT_HDF5_OPAQUE: zt_cbor_put_bytes(out, (zt_span){ p, t->size }); break;
    case ZT_HDF5_REFERENCE: element_put_opaque("h5 reference", out); break;
    case ZT_HDF5_TIME: element_put_opaque("h5 time", out); break;
    case ZT_HDF5_COMPOUND: element_put_compound(h, t, p, depth, out); break;
    case ZT_HDF5_ENUM: element_put_enum(h, t, p, out); break;
    case ZT_HDF5_VLEN: element_put_vlen(h, t, p, depth, out); break;
    default: element_put_array(h, t, p, depth, out); break;
  }
  return h->err->rc;
}

int zt_hdf5_value(zt_hdf5 *h, const zt_hdf5_type *type, zt_span data, uint32_t rank,
                  const uint64_t *shape, zt_cbor_out *out){
  const uint8_t *p = data.p;
  uint64_t n = 1, bytes;
  for(uint32_t d=0; d<rank; d++) if( !zt_mul64(n, shape[d], &n) ) n = UINT64_MAX;
  if( !zt_mul64(n, type->size, &bytes) || bytes>data.n ){
    return zt_break(h->err, "HD10", "an attribute with fewer bytes than its shape and type make");
  }
  if( n==0 ){   /* Outer dimensions need not be bounded by bytes */
    zt_cbor_put_head(out, ZT_CBOR_ARRAY, 0);
    return SQLITE_OK;
  }
  return element_put_nested(h, type, &p, rank, shape, ELEMENT_DEPTH, out);
}

bool zt_hdf5_enum_put(zt_hdf5 *h, const zt_hdf5_type *type, zt_cbor_out *out){
  zt_hdf5_in in = zt_hdf5_in_of(h, type->inner), names = zt_hdf5_in_of(h, type->names);
  zt_hdf5_type base;
  if( zt_hdf5_type_read(h, &in, ZT_HDF5_NESTED, &base) ) return false;
  zt_cbor_put_head(out, ZT_CBOR_MAP, type->members);
  for(uint32_t i=0; i<type->members && element_check(h, out)==SQLITE_OK; i++){
    const zt_text name = zt_hdf5_member_name(&names, type->version<3);
    zt_cbor_put_name(out, (zt_span){ (const uint8_t*)name.z, name.n });
    element_put_integer(&base, type->values.p+(size_t)i*type->size, out);
  }
  return !h->err->rc;
}
