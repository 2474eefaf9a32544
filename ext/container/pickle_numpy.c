/*
** numpy's calls in a pickle. See pickle_numpy.h. M is numpy.core before numpy 2, and numpy._core.
**
**   dtype  := numpy.dtype(text | class, False, True), state (version, order, subdtype, names, ...)
**             ; text is kind and bytes, "f4", or one of numpy's letters and names; order "<", ">",
**             ; "|" or "="; a class is one of ml_dtypes, or numpy.record, whose bytes are in the
**             ; state
**   array  := M.multiarray._reconstruct(class, (0,), b"b"), state (version?, shape, dtype, fortran,
**             data)             ; data are bytes, or a list of objects
**           | M.numeric._frombuffer(data, dtype, shape, order, axes?)
**             ; order "C", "F", or "K": C, then transposed by axes
**           | function(...), the same state          ; of a class derived from ndarray
**           | F(M.multiarray._reconstruct, arguments, state, ...)      ; F is JAX's or dill's
**   masked := numpy.ma.core._mareconstruct(...), state: listed without values
**   scalar := M.multiarray.scalar(dtype, data)
**   joblib := NumpyArrayWrapper(), state { shape, dtype, order, numpy_array_alignment_bytes, ... }
**             ; after that BUILD come padding (u8 n, n bytes), unless the alignment is None or not
**             ; there, and the elements, or another pickle if they are objects
**
** In a record's dtype, the state has the names of fields, a dict of their dtypes and offsets, and
** flags, of which the lowest bit says that there are objects. A subarray's state has a pair of
** dtype and shape. Those of datetimes end with a pair: a dict; unit, count and two numbers.
*/
#include "container/pickle_numpy.h"

#include <assert.h>
#include <math.h>
#include "container/dtype.h"
#include "container/npy_types.h"
#include "core/host.h"

static bool numpy_is_given(const zt_pickle *p, zt_pickle_node node){
  return zt_pickle_kind_of(p, node)!=ZT_PICKLE_NONE;
}

#define NUMPY_DESCR_MAX 32   /* Characters of a type's text */
#define NUMPY_ENTRIES 64     /* Entries of a wrapper's state */
#define NUMPY_FIELDS 512     /* Fields that are shown, */
#define NUMPY_DEPTH 8        /* and their nesting; */
#define NUMPY_STATE 5        /* Items of an array's state; derived classes may have more */
#define NUMPY_SHOWN 65536    /* bytes that are shown, */
#define NUMPY_STEPS 16384    /* and entries that are looked at for them */
enum { NUMPY_ORDER = 1, NUMPY_SUBARRAY, NUMPY_NAMES, NUMPY_FIELD, NUMPY_SIZE, NUMPY_FLAGS = 7,
       NUMPY_UNIT };         /* Items of a dtype's state */

/* The type that a class of ml_dtypes names. */
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

/* Elements of fields, or of a subarray, of so many bytes each if `sized`. */
static void numpy_describe_fields(bool sized, uint64_t bytes, zt_npy *out){
  zt_npy_describe((zt_text){ NULL, 0 }, out);
  out->sized = sized;
  out->bytes = bytes;
  if( sized ) out->dtype = ZT_TEXT("u8");
}

/* The records of numpy.rec. */
static bool numpy_describe_record(const zt_pickle *p, const zt_pickle_value *class,
                                  zt_pickle_node state, zt_npy *out){
  int64_t bytes;
  if( !zt_text_is(class->module, "numpy") || !zt_text_is(class->name, "record")
   || !zt_pickle_integer(p, zt_pickle_child(p, state, NUMPY_SIZE), &bytes)
   || bytes<0 || bytes>INT32_MAX ) return false;
  numpy_describe_fields(true, (uint64_t)bytes, out);
  return true;
}

/* Read a type. *kind is its letter, or 0 for a class. False if it is not a type. */
static bool numpy_read_type(const zt_pickle *p, zt_pickle_node node, zt_npy *out, char *kind){
  char descr[NUMPY_DESCR_MAX+1];
  zt_pickle_value call, class;
  zt_pickle_node first;
  zt_text text, order;
  const char *named;
  if( zt_pickle_call(p, node, &call)!=ZT_CALL_NUMPY_DTYPE ) return false;
  first = zt_pickle_child(p, call.args, 0);
  order = ZT_TEXT("=");
  if( call.state ) zt_pickle_text(p, zt_pickle_child(p, call.state, 1), &order);
  zt_pickle_get(p, first, &class);
  *kind = 0;
  if( class.kind==ZT_PICKLE_GLOBAL ){
    if( numpy_describe_record(p, &class, call.state, out) ){
      *kind = 'V';
      return true;
    }
    return numpy_describe_class(&class, zt_text_is(order, ">"), out);
  }
  if( !zt_pickle_text(p, first, &text) || text.n==0 || text.n>=NUMPY_DESCR_MAX || order.n!=1 ){
    return false;
  }
  named = zt_npy_with_width(text);
  if( named ) text = (zt_text){ named, strlen(named) };
  *kind = text.z[0];
  descr[0] = order.z[0];
  memcpy(descr+1, text.z, text.n);
  if( *kind=='O' ) text.n = 1;   /* The number is the size of a pointer */
  zt_npy_describe((zt_text){ descr, 1+text.n }, out);
  /* Fields, or a subarray in each element */
  if( numpy_is_given(p, zt_pickle_child(p, call.state, NUMPY_SUBARRAY))
   || numpy_is_given(p, zt_pickle_child(p, call.state, NUMPY_NAMES)) ){
    numpy_describe_fields(out->sized, out->bytes, out);
    *kind = 'V';
  }
  return true;
}

/* A tuple or list of integers, or one: numpy accepts a number as a shape. */
static bool numpy_read_ints(const zt_pickle *p, zt_pickle_node node, uint32_t *n, int64_t *out){
  *n = 1;
  return zt_pickle_integer(p, node, out) || zt_pickle_integers(p, node, ZT_MAX_RANK, n, out);
}

/* Set the strides of a shape. Values beyond 64 bits wrap. */
static void numpy_set_strides(zt_numpy_array *a, bool fortran){
  const uint32_t rank = a->npy.rank;
  uint64_t stride = 1;
  a->fortran = fortran;
  for(uint32_t i=0; i<rank; i++){
    const uint32_t d = fortran ? i : rank-1-i;
    a->strides[d] = (int64_t)stride;
    stride *= (uint64_t)a->shape[d];
  }
}

/* Transpose dimensions by axes. False if these are not a permutation. */
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

/* Set the data: bytes, or a list of objects. In a state, a Latin-1 text may stand for bytes. */
static void numpy_read_data(const zt_pickle *p, zt_pickle_node node, zt_numpy_array *out){
  out->source = node;
  if( zt_pickle_kind_of(p, node)==ZT_PICKLE_LIST ){
    out->items = node;
  }else{
    out->has_data = zt_pickle_read_bytes(p, node, SIZE_MAX, &out->data);
    if( !out->has_data ) out->fault = "its data are not bytes";
  }
}

static bool numpy_fail(zt_numpy_array *out, const char *fault){
  out->fault = fault;
  return true;
}

/* The dtype and the shape. False if one of them is a fault. */
static bool numpy_read_layout(const zt_pickle *p, zt_pickle_node dtype, zt_pickle_node shape,
                              zt_numpy_array *out){
  char kind;
  out->dtype = dtype;
  if( !numpy_read_type(p, dtype, &out->npy, &kind) ) out->fault = "its dtype is not known";
  else if( !numpy_read_ints(p, shape, &out->npy.rank, out->shape) ){
    out->npy.rank = 0;
    out->fault = "its shape is invalid";
  }
  return !out->fault;
}

/* (version?, shape, dtype, fortran, data), which may be the first of a pair: derived classes, as
** those of astropy, have a dict beside it. */
static bool numpy_read_state(const zt_pickle *p, zt_pickle_node state, zt_numpy_array *out){
  zt_pickle_value value;
  uint32_t at;
  if( !state ) return numpy_fail(out, "it has no state");
  zt_pickle_get(p, state, &value);
  if( value.kind==ZT_PICKLE_TUPLE && value.n==2 ){
    state = zt_pickle_child(p, state, 0);
    zt_pickle_get(p, state, &value);
  }
  if( value.kind!=ZT_PICKLE_TUPLE || value.n<4 ) return numpy_fail(out, "its state is invalid");
  at = value.n>4;
  if( !numpy_read_layout(p, zt_pickle_child(p, state, at+1), zt_pickle_child(p, state, at), out) ){
    return true;
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
  const zt_pickle_node axes = zt_pickle_child(p, call->args, 4);
  int64_t permutation[ZT_MAX_RANK];
  zt_text order;
  uint32_t n;
  zt_pickle_text(p, zt_pickle_child(p, call->args, 3), &order);
  if( !numpy_read_layout(p, zt_pickle_child(p, call->args, 1), zt_pickle_child(p, call->args, 2),
                         out) ) return true;
  numpy_set_strides(out, zt_text_is(order, "F"));
  numpy_read_data(p, zt_pickle_child(p, call->args, 0), out);
  if( zt_text_is(order, "K") && numpy_is_given(p, axes) ){
    if( !numpy_read_ints(p, axes, &n, permutation) || !numpy_transpose(out, permutation, n) ){
      return numpy_fail(out, "its axes are not a permutation");
    }
  }else if( !zt_text_is(order, "C") && !zt_text_is(order, "F") && !zt_text_is(order, "K") ){
    return numpy_fail(out, "its order is neither C nor F");
  }
  return true;
}

/* (function, arguments, state, another's own): numpy's function, and the state of its array. */
static bool numpy_read_parts(const zt_pickle *p, const zt_pickle_value *call, zt_numpy_array *out){
  zt_pickle_value function;
  zt_pickle_get(p, zt_pickle_child(p, call->args, 0), &function);
  if( function.kind!=ZT_PICKLE_GLOBAL || !zt_text_is(function.name, "_reconstruct") ){
    return numpy_fail(out, "it is not made by numpy's function");
  }
  return numpy_read_state(p, zt_pickle_child(p, call->args, 2), out);
}

/* --- joblib --- */

/* The value of a key of a wrapper's state; 0: none. */
static zt_pickle_node numpy_entry(const zt_pickle *p, zt_pickle_node state, zt_text key){
  zt_pickle_cursor c;
  zt_pickle_node node;
  if( zt_pickle_kind_of(p, state)!=ZT_PICKLE_DICT ) return 0;
  c = zt_pickle_begin(p, state);
  for(int i=0; i<NUMPY_ENTRIES && (node = zt_pickle_next(p, &c))!=0; i++){
    const zt_pickle_node value = zt_pickle_next(p, &c);
    zt_text text;
    if( zt_pickle_text(p, node, &text) && zt_text_equal(text, key) ) return value;
  }
  return 0;
}

/* True if elements are objects, or have some. */
static bool numpy_has_objects(const zt_pickle *p, zt_pickle_node dtype, char kind){
  zt_pickle_value call;
  int64_t flags;
  if( kind=='O' ) return true;
  zt_pickle_get(p, dtype, &call);
  return zt_pickle_integer(p, zt_pickle_child(p, call.state, NUMPY_FLAGS), &flags) && (flags & 1);
}

/* The bytes of all elements. False if the shape is invalid. */
static bool numpy_count_bytes(const zt_numpy_array *a, uint64_t *out){
  *out = a->npy.bytes;
  for(uint32_t d=0; d<a->npy.rank; d++){
    if( a->shape[d]<0 || !zt_mul64(*out, (uint64_t)a->shape[d], out) ) return false;
  }
  return true;
}

bool zt_numpy_read_wrapper(const zt_pickle *p, zt_pickle_node node, zt_numpy_wrapper *out,
                           const char **fault){
  zt_pickle_value call;
  zt_numpy_array a = { .fault = NULL };
  char kind;
  *fault = NULL;
  *out = (zt_numpy_wrapper){ .bytes = 0 };
  if( zt_pickle_call(p, node, &call)!=ZT_CALL_JOBLIB_ARRAY ) return false;
  out->padded = numpy_is_given(p, numpy_entry(p, call.state,
                                              ZT_TEXT("numpy_array_alignment_bytes")));
  a.dtype = numpy_entry(p, call.state, ZT_TEXT("dtype"));
  if( !numpy_read_type(p, a.dtype, &a.npy, &kind) ){
    *fault = "its dtype is not known";
  }else if( numpy_has_objects(p, a.dtype, kind) ){
    out->pickle = true;
  }else if( !a.npy.sized ){
    *fault = "its elements have no size";
  }else if( !numpy_read_ints(p, numpy_entry(p, call.state, ZT_TEXT("shape")), &a.npy.rank, a.shape)
         || !numpy_count_bytes(&a, &out->bytes) ){
    *fault = "its shape is invalid";
  }
  return true;
}

/* Its elements are where the wrapper's place is. Those of objects are an array of another
** pickle. */
static bool numpy_read_joblib(const zt_pickle *p, zt_pickle_node node, const zt_pickle_value *call,
                              zt_numpy_array *out){
  zt_numpy_wrapper wrapper;
  zt_numpy_array inner;
  const char *fault;
  zt_text order;
  zt_numpy_read_wrapper(p, node, &wrapper, &fault);
  if( !numpy_read_layout(p, numpy_entry(p, call->state, ZT_TEXT("dtype")),
                         numpy_entry(p, call->state, ZT_TEXT("shape")), out) ) return true;
  zt_pickle_text(p, numpy_entry(p, call->state, ZT_TEXT("order")), &order);
  numpy_set_strides(out, zt_text_is(order, "F"));
  out->source = node;
  if( fault || !call->placed || wrapper.pickle!=(call->behind>0) ){
    return numpy_fail(out, "its elements are not there");
  }
  if( !wrapper.pickle ){
    out->has_data = out->placed = true;
    out->place = call->place;
    out->data.n = (size_t)wrapper.bytes;
  }else if( zt_numpy_read_array(p, call->behind, &inner) && !inner.fault && inner.items ){
    out->items = inner.items;
  }else{
    return numpy_fail(out, "its elements are not an array of objects");
  }
  return true;
}

/* --- Types as texts --- */

/* Append the unit of a datetime: [s], [25ns]. */
static void numpy_show_unit(const zt_pickle *p, zt_pickle_node unit, sqlite3_str *out){
  const zt_pickle_node parts = zt_pickle_child(p, unit, 1);
  zt_pickle_bytes name;
  int64_t count;
  char z[8];
  if( !zt_pickle_read_bytes(p, zt_pickle_child(p, parts, 0), sizeof(z), &name) ){
    zt_text text;
    if( !zt_pickle_text(p, zt_pickle_child(p, parts, 0), &text) ) return;
    name = (zt_pickle_bytes){ { (const uint8_t*)text.z, text.n }, false, text.n };
  }
  if( name.n==0 || name.n>sizeof(z) ) return;
  zt_pickle_copy_bytes(&name, (uint8_t*)z, name.n);
  for(size_t i=0; i<name.n; i++) if( (uint8_t)z[i]<' ' || (uint8_t)z[i]>'~' ) return;
  if( !zt_pickle_integer(p, zt_pickle_child(p, parts, 1), &count) || count==1 ) count = 0;
  sqlite3_str_appendall(out, "[");
  if( count ) sqlite3_str_appendf(out, "%lld", (long long)count);
  sqlite3_str_append(out, z, (int)name.n);
  sqlite3_str_appendall(out, "]");
}

/* A type without fields. */
static void numpy_put_text(const zt_pickle *p, const zt_pickle_value *call, zt_cbor_out *out){
  const zt_pickle_node first = zt_pickle_child(p, call->args, 0);
  sqlite3_str *shown = sqlite3_str_new(NULL);
  zt_text text = { NULL, 0 }, order = { NULL, 0 };
  zt_pickle_value class;
  zt_pickle_get(p, first, &class);
  zt_pickle_text(p, zt_pickle_child(p, call->state, NUMPY_ORDER), &order);
  if( class.kind==ZT_PICKLE_GLOBAL && class.name.n<=NUMPY_DESCR_MAX ){
    sqlite3_str_append(shown, class.name.z, (int)class.name.n);
  }else if( zt_pickle_text(p, first, &text) && text.n>0 && text.n<=NUMPY_DESCR_MAX ){
    const bool object = text.z[0]=='O', bare = order.n!=1 || *order.z=='=';
    sqlite3_str_append(shown, bare ? "|" : order.z, 1);
    sqlite3_str_append(shown, text.z, object ? 1 : (int)text.n);
    numpy_show_unit(p, zt_pickle_child(p, call->state, NUMPY_UNIT), shown);
  }
  if( sqlite3_str_errcode(shown) ) zt_fail_nomem(out->err);
  else zt_cbor_put_text(out, (zt_text){ sqlite3_str_value(shown) ? sqlite3_str_value(shown) : "",
                                        (size_t)sqlite3_str_length(shown) });
  sqlite3_free(sqlite3_str_finish(shown));
}

/* A type that is being shown. */
typedef struct numpy_shown {
  zt_cbor_out *out;
  size_t most;             /* Bytes of out */
  uint32_t steps;          /* Entries of fields that may still be looked at */
} numpy_shown;

/* The value of a key of a dict, from the cursor on, or before it; 0: none. Fields usually come in
** the order of their names. */
static zt_pickle_node numpy_field_of(const zt_pickle *p, zt_pickle_node dict, zt_text key,
                                     zt_pickle_cursor *c, numpy_shown *s){
  for(int again=0; again<2; again++){
    zt_pickle_node node;
    while( s->steps>0 && (node = zt_pickle_next(p, c))!=0 ){
      const zt_pickle_node value = zt_pickle_next(p, c);
      zt_text text;
      s->steps--;
      if( zt_pickle_text(p, node, &text) && zt_text_equal(text, key) ) return value;
    }
    *c = zt_pickle_begin(p, dict);
  }
  return 0;
}

static bool numpy_put_type(const zt_pickle *p, zt_pickle_node node, int depth, numpy_shown *s);

/* [name, dtype] or [name, dtype, shape of a subarray] */
static bool numpy_put_field(const zt_pickle *p, zt_text name, zt_pickle_node node, int depth,
                            numpy_shown *s){
  int64_t shape[ZT_MAX_RANK];
  zt_pickle_node sub = 0;
  zt_pickle_value call;
  uint32_t n = 0;
  if( zt_pickle_call(p, node, &call)==ZT_CALL_NUMPY_DTYPE ){
    sub = zt_pickle_child(p, call.state, NUMPY_SUBARRAY);
  }
  if( !numpy_read_ints(p, zt_pickle_child(p, sub, 1), &n, shape) ) sub = 0;
  zt_cbor_put_head(s->out, ZT_CBOR_ARRAY, sub ? 3 : 2);
  zt_cbor_put_text(s->out, name);
  if( !numpy_put_type(p, sub ? zt_pickle_child(p, sub, 0) : node, depth, s) ) return false;
  if( !sub ) return true;
  zt_cbor_put_head(s->out, ZT_CBOR_ARRAY, n);
  for(uint32_t i=0; i<n; i++) zt_cbor_put_int(s->out, shape[i]);
  return true;
}

/* Put the fields of a record. */
static bool numpy_put_fields(const zt_pickle *p, zt_pickle_node names, zt_pickle_node fields,
                             int depth, numpy_shown *s){
  zt_pickle_value value;
  zt_pickle_cursor c, of_fields;
  zt_pickle_node name;
  zt_pickle_get(p, names, &value);
  if( value.kind!=ZT_PICKLE_TUPLE || value.n>NUMPY_FIELDS || depth==NUMPY_DEPTH
   || zt_pickle_kind_of(p, fields)!=ZT_PICKLE_DICT ) return false;
  zt_cbor_put_head(s->out, ZT_CBOR_ARRAY, value.n);
  c = zt_pickle_begin(p, names);
  of_fields = zt_pickle_begin(p, fields);
  while( (name = zt_pickle_next(p, &c))!=0 ){
    zt_text text;
    zt_pickle_node field = 0;
    if( zt_pickle_text(p, name, &text) ) field = numpy_field_of(p, fields, text, &of_fields, s);
    if( s->out->n+text.n>s->most
     || !numpy_put_field(p, text, zt_pickle_child(p, field, 0), depth+1, s) ) return false;
  }
  return true;
}

/* False if it has too many fields, or they are not known. */
static bool numpy_put_type(const zt_pickle *p, zt_pickle_node node, int depth, numpy_shown *s){
  zt_pickle_node names;
  zt_pickle_value call;
  if( zt_pickle_call(p, node, &call)!=ZT_CALL_NUMPY_DTYPE ) return false;
  names = zt_pickle_child(p, call.state, NUMPY_NAMES);
  if( numpy_is_given(p, names) ){
    return numpy_put_fields(p, names, zt_pickle_child(p, call.state, NUMPY_FIELD), depth, s);
  }
  numpy_put_text(p, &call, s->out);
  return true;
}

void zt_numpy_put_descr(const zt_pickle *p, zt_pickle_node dtype, zt_cbor_out *out){
  const size_t n = out->n;
  numpy_shown s = { out, n+NUMPY_SHOWN, NUMPY_STEPS };
  if( numpy_put_type(p, dtype, 0, &s) || out->err->rc ) return;
  out->n = n;
  zt_cbor_put_null(out);
}

void zt_numpy_put_attributes(const zt_pickle *p, const zt_numpy_array *a, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 2);
  zt_cbor_put_text(out, ZT_TEXT("descr"));
  zt_numpy_put_descr(p, a->dtype, out);
  zt_cbor_put_text(out, ZT_TEXT("fortran_order"));
  zt_cbor_put_bool(out, a->fortran);
}

/* --- Arrays --- */

/* True if a call of another meaning makes an array: its state is numpy's, (version, shape, dtype,
** fortran, data). Classes derived from ndarray may be made by functions of their own. */
static bool numpy_is_made(const zt_pickle *p, zt_pickle_node node, zt_pickle_meaning meaning){
  zt_pickle_value call, state, dtype;
  int64_t version;
  if( meaning!=ZT_CALL_OTHER || zt_pickle_kind_of(p, node)!=ZT_PICKLE_CALL ) return false;
  zt_pickle_get(p, node, &call);
  zt_pickle_get(p, call.state, &state);
  return state.kind==ZT_PICKLE_TUPLE && state.n>=NUMPY_STATE
      && zt_pickle_integer(p, zt_pickle_child(p, call.state, 0), &version) && version==1
      && zt_pickle_call(p, zt_pickle_child(p, call.state, 2), &dtype)==ZT_CALL_NUMPY_DTYPE;
}

bool zt_numpy_is_array(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value call;
  const zt_pickle_meaning meaning = zt_pickle_call(p, node, &call);
  return meaning>=ZT_CALL_NUMPY_ARRAY || numpy_is_made(p, node, meaning);
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
    case ZT_CALL_NUMPY_PARTS:  return numpy_read_parts(p, &call, out);
    case ZT_CALL_JOBLIB_ARRAY: return numpy_read_joblib(p, node, &call, out);
    case ZT_CALL_JOBLIB_FILE:
      return numpy_fail(out, "its elements are in a file of its own, as joblib did before 0.10");
    case ZT_CALL_ARRAY_UNREAD:
      return numpy_fail(out, "it is an array of a kind that is not read");
    default: return numpy_is_made(p, node, meaning) && numpy_read_state(p, call.state, out);
  }
}

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

/* A number of that kind: at most 8 bytes, or two numbers in 16. */
static bool numpy_set_number(char kind, const zt_npy *type, const uint8_t *bytes,
                             zt_pickle_result *out){
  const size_t width = (size_t)type->bytes/(kind=='c' ? 2 : 1);
  uint64_t bits[2] = { 0, 0 };
  assert( width>0 );   /* No type of numbers is without bytes */
  for(size_t i=0; i<2 && i*width<type->bytes; i++){
    for(size_t k=0; k<width; k++){
      const size_t at = i*width+(type->big ? k : width-1-k);
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

/* A text of UTF-32, or bytes. numpy strips the zeros at the end. */
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
  if( !numpy_read_type(p, zt_pickle_child(p, call->args, 0), &type, &kind)
   || !zt_pickle_read_bytes(p, from, most, &data) || !type.sized || data.n!=type.bytes ){
    return false;
  }
  if( kind=='U' || kind=='S' ) return numpy_set_text(kind, &type, &data, out);
  if( !type.dense || !kind ) return false;
  assert( type.bytes<=sizeof(bytes) );
  zt_pickle_copy_bytes(&data, bytes, data.n);
  return numpy_set_number(kind, &type, bytes, out);
}
