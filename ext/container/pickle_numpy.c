/*
** numpy's calls in a pickle. See pickle_numpy.h. M is numpy.core before numpy 2, and numpy._core.
**
**   dtype  := numpy.dtype(text | class, False, True), state (version, order, subdtype, names, ...)
**             ; text is kind and bytes, "f4"; order "<", ">", "|" or "="; a class is one of
**             ; ml_dtypes
**   array  := M.multiarray._reconstruct(class, (0,), b"b"), state (version?, shape, dtype, fortran,
**             data)             ; data are bytes, or of objects a list
**           | M.numeric._frombuffer(data, dtype, shape, order, axes?)
**             ; order "C", "F", or "K": C, and then transposed by axes
**   masked := numpy.ma.core._mareconstruct(...), state: listed alone
**   scalar := M.multiarray.scalar(dtype, data)
*/
#include "container/pickle_numpy.h"

#include <math.h>
#include "container/dtype.h"
#include "core/host.h"

static zt_text numpy_text(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value value;
  if( !node ) return (zt_text){ NULL, 0 };
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_TEXT ) return (zt_text){ NULL, 0 };
  return (zt_text){ (const char*)value.bytes.p, value.bytes.n };
}

static bool numpy_is_given(const zt_pickle *p, zt_pickle_node node){
  return node && zt_pickle_kind_of(p, node)!=ZT_PICKLE_NONE;
}

/* --- Types --- */

#define NUMPY_DESCR_MAX 32   /* Characters of a type's text */

/* The type of ml_dtypes that a class is. */
static bool numpy_describe_class(const zt_pickle_value *class, bool big, zt_npy *out){
  const zt_dtype *dtype;
  if( !zt_text_is(class->module, "ml_dtypes") ) return false;
  dtype = zt_dtype_long(class->name);
  if( !dtype || zt_dtype_is_packed(dtype) ) return false;
  *out = (zt_npy){ .format = ZT_TEXT("dense"), .dense = true, .sized = true, .big = big,
                   .bytes = dtype->width };
  out->dtype = (zt_text){ dtype->storage, strlen(dtype->storage) };
  if( strcmp(dtype->storage, dtype->name)!=0 ){
    out->type = (zt_text){ dtype->name, strlen(dtype->name) };
  }
  return true;
}

/* Read a type. *kind is its letter, 0 of a class. False: it is none. */
static bool numpy_read_type(const zt_pickle *p, zt_pickle_node node, zt_npy *out, char *kind){
  char descr[NUMPY_DESCR_MAX+1];
  zt_pickle_value call, class;
  zt_pickle_node first;
  zt_text text, order;
  if( !node || zt_pickle_call(p, node, &call)!=ZT_CALL_NUMPY_DTYPE
   || (first = zt_pickle_child(p, call.args, 0))==0 ) return false;
  order = call.state ? numpy_text(p, zt_pickle_child(p, call.state, 1)) : ZT_TEXT("=");
  zt_pickle_get(p, first, &class);
  *kind = 0;
  if( class.kind==ZT_PICKLE_GLOBAL ){
    return numpy_describe_class(&class, zt_text_is(order, ">"), out);
  }
  text = numpy_text(p, first);
  if( text.n==0 || text.n>=NUMPY_DESCR_MAX || order.n!=1 ) return false;
  *kind = text.z[0];
  descr[0] = order.z[0];
  memcpy(descr+1, text.z, text.n);
  if( *kind=='O' ) text.n = 1;   /* Which has the bytes of a pointer */
  zt_npy_describe((zt_text){ descr, 1+text.n }, out);
  /* Fields, or a subarray in each element */
  if( call.state && (numpy_is_given(p, zt_pickle_child(p, call.state, 2))
                     || numpy_is_given(p, zt_pickle_child(p, call.state, 3))) ){
    const bool sized = out->sized;
    const uint64_t bytes = out->bytes;
    zt_npy_describe((zt_text){ NULL, 0 }, out);
    out->sized = sized;
    out->bytes = bytes;
    if( sized ) out->dtype = ZT_TEXT("u8");
    *kind = 'V';
  }
  return true;
}

/* --- Arrays --- */

/* A tuple of integers, or a list. */
static bool numpy_read_ints(const zt_pickle *p, zt_pickle_node node, uint32_t *n, int64_t *out){
  zt_pickle_value value;
  zt_pickle_cursor c;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  *n = 0;
  if( value.kind==ZT_PICKLE_INTEGER && !value.bytes.p ){   /* numpy takes a number for a tuple */
    out[(*n)++] = value.integer;
    return true;
  }
  if( value.kind!=ZT_PICKLE_TUPLE && value.kind!=ZT_PICKLE_LIST ) return false;
  c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    zt_pickle_get(p, node, &value);
    if( *n==ZT_MAX_RANK || value.kind!=ZT_PICKLE_INTEGER || value.bytes.p ) return false;
    out[(*n)++] = value.integer;
  }
  return true;
}

/* The strides of a shape in one of both orders. What does not fit 64 bits wraps. */
static void numpy_set_strides(zt_numpy_array *a, bool fortran){
  const uint32_t rank = a->npy.rank;
  uint64_t stride = 1;
  for(uint32_t i=0; i<rank; i++){
    const uint32_t d = fortran ? i : rank-1-i;
    a->strides[d] = (int64_t)stride;
    stride *= (uint64_t)a->shape[d];
  }
}

/* Transpose dimensions as axes say; false if they are no permutation. */
static bool numpy_transpose(zt_numpy_array *a, const int64_t *axes, uint32_t n){
  int64_t shape[ZT_MAX_RANK], strides[ZT_MAX_RANK];
  uint64_t seen = 0;
  if( n!=a->npy.rank ) return false;
  memcpy(shape, a->shape, n*sizeof(*shape));
  memcpy(strides, a->strides, n*sizeof(*strides));
  for(uint32_t i=0; i<n; i++){
    if( axes[i]<0 || axes[i]>=(int64_t)n || seen>>axes[i] & 1 ) return false;
    seen |= (uint64_t)1<<axes[i];
    a->shape[i] = shape[axes[i]];
    a->strides[i] = strides[axes[i]];
  }
  return true;
}

/* The bytes of the elements: of an array with a state, a text may be all of them, as
** Latin-1. */
static void numpy_read_data(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out){
  out->source = node;
  if( !node ){
    out->fault = "its data are not there";
  }else if( zt_pickle_kind_of(p, node)==ZT_PICKLE_LIST ){
    out->items = node;
  }else{
    out->has_data = zt_pickle_read_bytes(p, node, SIZE_MAX, &out->data);
    if( !out->has_data ) out->fault = "its data are no bytes";
  }
}

static bool numpy_fail(zt_numpy_array *out, const char *fault){
  out->fault = fault;
  return true;
}

/* (version?, shape, dtype, fortran, data) */
static bool numpy_read_state(const zt_pickle *p, zt_pickle_node state, zt_numpy_array *out){
  zt_pickle_value value;
  uint32_t at;
  char kind;
  if( !state ) return numpy_fail(out, "it has no state");
  zt_pickle_get(p, state, &value);
  if( value.kind!=ZT_PICKLE_TUPLE || value.n<4 ){
    return numpy_fail(out, "its state is not that of an array");
  }
  at = value.n>4;
  if( !numpy_read_type(p, zt_pickle_child(p, state, at+1), &out->npy, &kind) ){
    return numpy_fail(out, "its dtype is not known");
  }
  if( !numpy_read_ints(p, zt_pickle_child(p, state, at), &out->npy.rank, out->shape) ){
    out->npy.rank = 0;
    return numpy_fail(out, "its shape is not a tuple of dimensions");
  }
  zt_pickle_get(p, zt_pickle_child(p, state, at+2), &value);
  numpy_set_strides(out, value.kind==ZT_PICKLE_TRUE
                         || (value.kind==ZT_PICKLE_INTEGER && value.integer!=0));
  numpy_read_data(p, zt_pickle_child(p, state, at+3), out);
  return true;
}

/* (data, dtype, shape, order, axes?) */
static bool numpy_read_buffer(const zt_pickle *p, const zt_pickle_value *call,
                              zt_numpy_array *out){
  const zt_text order = numpy_text(p, zt_pickle_child(p, call->args, 3));
  const zt_pickle_node axes = zt_pickle_child(p, call->args, 4);
  int64_t permutation[ZT_MAX_RANK];
  uint32_t n;
  char kind;
  if( !numpy_read_type(p, zt_pickle_child(p, call->args, 1), &out->npy, &kind) ){
    return numpy_fail(out, "its dtype is not known");
  }
  if( !numpy_read_ints(p, zt_pickle_child(p, call->args, 2), &out->npy.rank, out->shape) ){
    out->npy.rank = 0;
    return numpy_fail(out, "its shape is not a tuple of dimensions");
  }
  numpy_set_strides(out, zt_text_is(order, "F"));
  numpy_read_data(p, zt_pickle_child(p, call->args, 0), out);
  if( zt_text_is(order, "K") && numpy_is_given(p, axes) ){
    if( !numpy_read_ints(p, axes, &n, permutation) || !numpy_transpose(out, permutation, n) ){
      return numpy_fail(out, "its axes are no permutation");
    }
  }else if( !zt_text_is(order, "C") && !zt_text_is(order, "F") && !zt_text_is(order, "K") ){
    return numpy_fail(out, "its order is neither C nor F");
  }
  return true;
}

bool zt_numpy_is_array(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value call;
  const zt_pickle_meaning meaning = zt_pickle_call(p, node, &call);
  return meaning>=ZT_CALL_NUMPY_ARRAY;
}

bool zt_numpy_read_array(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out){
  zt_pickle_value call;
  const zt_pickle_meaning meaning = zt_pickle_call(p, node, &call);
  *out = (zt_numpy_array){ .npy.format = ZT_TEXT_INIT("numpy.unknown") };
  switch( meaning ){
    case ZT_CALL_NUMPY_ARRAY:  return numpy_read_state(p, call.state, out);
    case ZT_CALL_NUMPY_BUFFER: return numpy_read_buffer(p, &call, out);
    case ZT_CALL_NUMPY_MASKED:
      numpy_read_state(p, call.state, out);
      out->npy.format = ZT_TEXT("numpy.masked");
      out->npy.no_values = "its elements may be masked";
      out->npy.dense = false;
      return true;
    default: return false;
  }
}

/* --- Numbers by themselves --- */

/* The value of a 16-bit float (IEEE 754). */
static double numpy_half(uint64_t bits){
  const unsigned exponent = bits>>10 & 31, fraction = bits & 1023;
  const double sign = bits>>15 & 1 ? -1.0 : 1.0;
  if( exponent==31 ) return fraction ? (double)NAN : sign*(double)INFINITY;
  if( exponent==0 ) return sign*ldexp(fraction, -24);
  return sign*ldexp(1024+fraction, (int)exponent-25);
}

static double numpy_real(uint64_t bits, uint64_t width){
  const uint32_t low = (uint32_t)bits;
  double real;
  float single;
  if( width==2 ) return numpy_half(bits);
  memcpy(&single, &low, sizeof(single));
  if( width==4 ) return (double)single;
  memcpy(&real, &bits, sizeof(real));
  return real;
}

/* A number of that kind and width, at most 8 bytes, or of 16 two. */
static bool numpy_set_number(char kind, const zt_npy *type, const uint8_t *bytes,
                             zt_pickle_result *out){
  const unsigned width = (unsigned)type->bytes/(kind=='c' ? 2 : 1);
  uint64_t bits[2] = { 0, 0 };
  for(unsigned i=0; i<2 && i*width<type->bytes; i++){
    for(unsigned k=0; k<width; k++){
      const unsigned at = i*width+(type->big ? k : width-1-k);
      bits[i] = bits[i]<<8 | bytes[at];
    }
  }
  out->u = bits[0];
  out->integer = (int64_t)bits[0];
  out->real = numpy_real(bits[0], width);
  out->imag = numpy_real(bits[1], width);
  if( kind=='i' && width<8 && bits[0]>>(8*width-1) ) out->integer -= (int64_t)1<<8*width;
  switch( kind ){
    case 'b': out->kind = ZT_RESULT_BOOL; return true;
    case 'i': out->kind = ZT_RESULT_INTEGER; return true;
    case 'u': out->kind = ZT_RESULT_UNSIGNED; return true;
    case 'f': out->kind = ZT_RESULT_REAL; return true;
    case 'c': out->kind = ZT_RESULT_COMPLEX; return true;
    default: return false;
  }
}

/* A text of UTF-32, or bytes: without the zeros at their end, as numpy gives them. */
static bool numpy_set_text(char kind, const zt_npy *type, const zt_pickle_bytes *data,
                           zt_pickle_result *out){
  uint8_t unit[4] = { 0 };
  const size_t width = kind=='U' ? 4 : 1;
  zt_pickle_bytes remaining = *data;
  size_t end = 0;
  out->kind = kind=='U' ? ZT_RESULT_UTF32 : ZT_RESULT_BYTES;
  out->bytes = *data;
  out->big = type->big;
  for(size_t i=0; i<data->n; i+=width){
    uint32_t u = 0;
    for(size_t k=0; k<width; k++){
      zt_pickle_copy_bytes(&remaining, &unit[k], 1);
      remaining.span.p += remaining.latin1 && *remaining.span.p>=0x80 ? 2 : 1;
      u |= unit[k];
    }
    if( u ) end = i+width;
    if( kind=='U' ) u = type->big ? (uint32_t)zt_be(unit, 4) : zt_le32(unit);
    if( kind=='U' && (u>0x10FFFF || (u>=0xD800 && u<0xE000)) ) return false;
  }
  out->bytes.n = end;
  out->zeros = data->n-end;
  return true;
}

bool zt_numpy_read_scalar(const zt_pickle *p, const zt_pickle_value *call, size_t most,
                          zt_pickle_result *out){
  const zt_pickle_node from = zt_pickle_child(p, call->args, 1);
  uint8_t bytes[16];
  zt_pickle_bytes data;
  zt_npy type;
  char kind;
  if( !numpy_read_type(p, zt_pickle_child(p, call->args, 0), &type, &kind) || !from
   || !zt_pickle_read_bytes(p, from, most, &data) || !type.sized || data.n!=type.bytes ){
    return false;
  }
  if( kind=='U' || kind=='S' ) return numpy_set_text(kind, &type, &data, out);
  if( !type.dense || type.bytes>sizeof(bytes) || !kind ) return false;
  zt_pickle_copy_bytes(&data, bytes, data.n);
  return numpy_set_number(kind, &type, bytes, out);
}
