/* Writer of CBOR. See cbor_write.h. */
#include "core/cbor_write.h"

#include "core/grow.h"
#include "core/host.h"

ZT_COLD static bool cbor_write_grow(zt_cbor_out *o, size_t n){
  uint8_t *p = zt_grow(o->p, &o->capacity, (uint64_t)o->n+n, 1, o->err);
  if( p ) o->p = p;
  return p!=NULL;
}

/* Makes room for n more bytes. False after a failure. */
ZT_INLINE bool cbor_write_reserve(zt_cbor_out *o, size_t n){
  return !o->err->rc && (n<=o->capacity-o->n || cbor_write_grow(o, n));
}

static void cbor_write_raw(zt_cbor_out *o, const void *p, size_t n){
  if( n==0 || !cbor_write_reserve(o, n) ) return;
  memcpy(o->p+o->n, p, n);
  o->n += n;
}

/* Writes a head and the bytes that it counts. */
ZT_INLINE void cbor_write_string(zt_cbor_out *o, zt_cbor_type type, const void *p, size_t n){
  if( !cbor_write_reserve(o, n+ZT_CBOR_HEAD) ) return;
  o->n += zt_cbor_write_head(o->p+o->n, type, n);
  if( n ) memcpy(o->p+o->n, p, n);
  o->n += n;
}

void zt_cbor_put_head(zt_cbor_out *o, zt_cbor_type type, uint64_t n){
  if( cbor_write_reserve(o, ZT_CBOR_HEAD) ) o->n += zt_cbor_write_head(o->p+o->n, type, n);
}

void zt_cbor_put_text(zt_cbor_out *o, zt_text text){
  cbor_write_string(o, ZT_CBOR_TEXT, text.z, text.n);
}

void zt_cbor_put_bytes(zt_cbor_out *o, zt_span bytes){
  cbor_write_string(o, ZT_CBOR_BYTES, bytes.p, bytes.n);
}

void zt_cbor_put_int(zt_cbor_out *o, int64_t i){
  if( i<0 ) zt_cbor_put_head(o, ZT_CBOR_NINT, ~(uint64_t)i);
  else zt_cbor_put_head(o, ZT_CBOR_UINT, (uint64_t)i);
}

void zt_cbor_put_uint(zt_cbor_out *o, uint64_t u){
  zt_cbor_put_head(o, ZT_CBOR_UINT, u);
}

void zt_cbor_put_bignum(zt_cbor_out *o, bool negative, zt_span magnitude){
  while( magnitude.n && magnitude.p[0]==0 ){
    magnitude.p++;
    magnitude.n--;
  }
  if( magnitude.n<=8 ){
    zt_cbor_put_head(o, negative ? ZT_CBOR_NINT : ZT_CBOR_UINT,
                     zt_be(magnitude.p, (unsigned)magnitude.n));
  }else{
    zt_cbor_put_head(o, ZT_CBOR_TAG, negative ? 3 : 2);   /* RFC 8949 section 3.4.3 */
    zt_cbor_put_bytes(o, magnitude);
  }
}

/* Writes a float of `width` bytes. */
static void cbor_write_float(zt_cbor_out *o, uint64_t bits, unsigned width){
  uint8_t item[9] = { (uint8_t)(ZT_CBOR_SIMPLE<<5 | (width==2 ? 25 : width==4 ? 26 : 27)) };
  for(unsigned i=width; i>0; i--, bits>>=8) item[i] = (uint8_t)bits;
  cbor_write_raw(o, item, 1+width);
}

void zt_cbor_put_real(zt_cbor_out *o, double real){
  uint64_t bits;
  memcpy(&bits, &real, sizeof(bits));
  cbor_write_float(o, bits, 8);
}

/* *out = the half float of the value that a float's bits have. False: there is none. */
static bool cbor_write_half(uint32_t bits, uint32_t *out){
  const uint32_t mantissa = bits & 0x7FFFFF, whole = mantissa | 0x800000;
  const int exponent = (int)(bits>>23 & 255)-127;
  const uint32_t sign = bits>>16 & 0x8000;
  int shift;
  if( (bits & 0x7FFFFFFF)==0 ){
    *out = sign;
    return true;
  }
  if( exponent==128 ){   /* Infinite */
    *out = sign | 0x7C00;
    return true;
  }
  if( exponent<-24 || exponent>15 ) return false;
  shift = exponent<-14 ? -1-exponent : 13;   /* Subnormal halves have fewer bits */
  if( whole & (((uint32_t)1<<shift)-1) ) return false;
  *out = sign | (exponent<-14 ? whole>>shift : (uint32_t)(exponent+15)<<10 | mantissa>>13);
  return true;
}

void zt_cbor_put_shortest(zt_cbor_out *o, double real){
  const float narrow = (float)real;
  const bool exact = (double)narrow==real;
  uint32_t bits, half = 0x7E00;
  memcpy(&bits, &narrow, sizeof(bits));
  if( real!=real || (exact && cbor_write_half(bits, &half)) ) cbor_write_float(o, half, 2);
  else if( exact ) cbor_write_float(o, bits, 4);
  else zt_cbor_put_real(o, real);
}

void zt_cbor_put_bool(zt_cbor_out *o, bool truth){
  zt_cbor_put_head(o, ZT_CBOR_SIMPLE, truth ? ZT_CBOR_TRUE : ZT_CBOR_FALSE);
}

void zt_cbor_put_null(zt_cbor_out *o){
  zt_cbor_put_head(o, ZT_CBOR_SIMPLE, ZT_CBOR_NULL);
}

void zt_cbor_put_items(zt_cbor_out *o, zt_span items){
  cbor_write_raw(o, items.p, items.n);
}

void zt_cbor_put_name(zt_cbor_out *o, zt_span name){
  if( zt_utf8_valid(name.p, name.n) ) zt_cbor_put_text(o, (zt_text){ (const char*)name.p, name.n });
  else zt_cbor_put_bytes(o, name);
}

void zt_cbor_out_reset(zt_cbor_out *o){
  o->n = 0;
}

void zt_cbor_out_clear(zt_cbor_out *o){
  sqlite3_free(o->p);
  *o = (zt_cbor_out){ .err = o->err };
}
