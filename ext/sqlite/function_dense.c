/*
** A tensor's values.
**
**   zt_dense(source, object [, dtype [, first [, count]]])
**     BLOB: the tensor as an array, row-major and little-endian: sparse tensors are filled with
**     zeros, quantized tensors dequantized, big-endian values swapped. `dtype` converts (default:
**     the tensor's own type; f32 if quantized); `first, count` slice the first dimension, clipped
**     at the end
**   zt_json(source, object [, dtype [, first [, count]]])
**     TEXT: the same as nested JSON arrays, with the fewest digits that read back as the same
**     double; NaN is null, infinities are 9.0e+999 and -9.0e+999
**   zt_value(source, object, i, j, ...)
**     one element, as `value` in zt_elements
**
** A tensor that cannot be interpreted is an error that names the object and the fault.
**
** In place of `dtype`, C code may bind a pointer to an array that takes the elements
** (dense_into.h).
*/
#include "sqlite/dense_into.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "tensor/assemble.h"

/* A function's opened object. All zeros at first; dense_function_close_values() closes it, opened
** or not. */
typedef struct dense_function_values {
  zt_budget budget;
  zt_target target;
  zt_tensor tensor;
  const zt_dtype *as;      /* The requested type */
  zt_slice slice;          /* The requested elements */
} dense_function_values;

static int dense_function_open_values(sqlite3_context *ctx, sqlite3_value **args,
                                      dense_function_values *v, zt_error *err){
  zt_connection *connection = sqlite3_user_data(ctx);
  v->budget = zt_connection_budget(connection);
  if( zt_target_open(connection, args[0], true, &v->target, err)
   || zt_target_object(&v->target, args[1], err) ) return err->rc;
  return zt_target_tensor(&v->target, &v->budget, &v->tensor, err);
}

static void dense_function_close_values(dense_function_values *v){
  zt_tensor_close(&v->tensor);
  zt_target_close(&v->target);
}

/* True if argument i exists and is not NULL. */
static bool dense_function_has(int n, sqlite3_value **args, int i){
  return n>i && sqlite3_value_type(args[i])!=SQLITE_NULL;
}

/* Open the object of zt_dense or zt_json, whose last three arguments are optional. Messages call
** two of them `first` and `count`. */
static int dense_function_open(sqlite3_context *ctx, int n, sqlite3_value **args, const char *first,
                               const char *count, dense_function_values *v, zt_error *err){
  bool sliced = dense_function_has(n, args, 3) || dense_function_has(n, args, 4);
  uint64_t row = 0, rows = UINT64_MAX, bytes = 0;
  if( n>2 && zt_value_dtype(args[2], &v->as, err) ) return err->rc;
  if( n>3 && zt_value_index(args[3], first, 0, &row, err) ) return err->rc;
  if( n>4 && zt_value_index(args[4], count, UINT64_MAX, &rows, err) ) return err->rc;
  if( dense_function_open_values(ctx, args, v, err) ) return err->rc;
  if( !v->as ) v->as = v->tensor.dtype;
  v->slice = zt_slice_all(&v->target.object);
  if( sliced && zt_slice_of(&v->target.object, row, rows, &v->slice, err) ) return err->rc;
  if( !zt_dtype_size(v->as, v->slice.n, &bytes) ) bytes = 0;   /* An error, which comes later */
  zt_target_threads(sqlite3_user_data(ctx), &v->target, bytes, &v->budget);
  return SQLITE_OK;
}

/* Put the elements into an array of C code's, or only tell their type. The result is NULL. */
static void dense_function_into(sqlite3_context *ctx, int n, sqlite3_value **args,
                                const zt_dense_into *into){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer buffer = { into->p, into->n };
  dense_function_values v = { 0 };
  dense_function_open(ctx, n, args, "zt_dense: first", "zt_dense: count", &v, &err);
  if( !err.rc ){
    if( into->own ) *into->own = v.tensor.dtype->name;
    else if( !into->dtype.z || zt_dtype_find(into->dtype, &v.as, &err)==SQLITE_OK ){
      zt_assemble_into(&v.tensor, v.as, v.slice.first, v.slice.n, &buffer, &err);
    }
  }
  dense_function_close_values(&v);
  if( err.rc ) zt_result_error(ctx, &err);
}

static void dense_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer buffer = { NULL, 0 };
  dense_function_values v = { 0 };
  const zt_dense_into *into = n>2 ? sqlite3_value_pointer(args[2], ZT_DENSE_INTO) : NULL;
  if( zt_target_null(args[0], args[1]) ) return;
  if( into ){
    dense_function_into(ctx, n, args, into);
    return;
  }
  if( dense_function_open(ctx, n, args, "zt_dense: first", "zt_dense: count", &v,
                          &err)==SQLITE_OK ){
    zt_assemble(&v.tensor, v.as, v.slice.first, v.slice.n, &buffer, &err);
  }
  dense_function_close_values(&v);
  if( err.rc ) zt_result_error(ctx, &err);
  else zt_result_buffer(ctx, &buffer);
}

static void dense_function_json(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  dense_function_values v = { 0 };
  zt_buffer out = { NULL, 0 };
  if( zt_target_null(args[0], args[1]) ) return;
  if( dense_function_open(ctx, n, args, "zt_json: first", "zt_json: count", &v, &err)==SQLITE_OK ){
    zt_assemble_json(&v.tensor, v.as, &v.slice, &out, &err);
  }
  dense_function_close_values(&v);
  if( err.rc ) zt_result_error(ctx, &err);
  else zt_result_json_buffer(ctx, &out);
}

/* Compute the row-major position of the element with these indices. */
static int dense_function_position_of(const zt_object *object, int n, sqlite3_value **indices,
                                      uint64_t *out, zt_error *err){
  *out = 0;
  if( (uint32_t)n!=object->rank ){
    return zt_fail(err, SQLITE_ERROR, "%d ind%s for %u dimension%s", n, n==1 ? "ex" : "ices",
                   object->rank, object->rank==1 ? "" : "s");
  }
  for(int d=0; d<n; d++){
    uint64_t i;
    if( zt_value_index(indices[d], "zt_value: an index", 0, &i, err) ) return err->rc;
    if( i>=object->shape[d] ){
      return zt_fail(err, SQLITE_ERROR, "index %llu in dimension %d, which has %llu", i, d,
                     object->shape[d]);
    }
    *out = *out*object->shape[d] + i;
  }
  return SQLITE_OK;
}

static void dense_function_value(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  ZT_NUMBERS(ZT_ELEMENT_MAX/8) element;
  uint64_t position;
  dense_function_values v = { 0 };
  if( n<2 ){
    sqlite3_result_error(ctx,
                         "ztensor: zt_value needs a source and an object: zt_value('model.zt',"
                         " 'layer.weight', i, j)", -1);
    return;
  }
  for(int i=0; i<n; i++) if( sqlite3_value_type(args[i])==SQLITE_NULL ) return;
  if( dense_function_open_values(ctx, args, &v, &err)==SQLITE_OK
   && dense_function_position_of(&v.target.object, n-2, args+2, &position, &err)==SQLITE_OK
   && zt_tensor_read(&v.tensor, position, 1, &element, &err)==SQLITE_OK ){
    zt_result_scalar(ctx, zt_scalar_of(v.tensor.dtype, &element));
  }
  dense_function_close_values(&v);
  if( err.rc ) zt_result_error(ctx, &err);
}

const zt_function zt_function_dense[] = {
  { "zt_dense", 2, SQLITE_UTF8|SQLITE_DIRECTONLY, dense_function },
  { "zt_dense", 3, SQLITE_UTF8|SQLITE_DIRECTONLY, dense_function },
  { "zt_dense", 4, SQLITE_UTF8|SQLITE_DIRECTONLY, dense_function },
  { "zt_dense", 5, SQLITE_UTF8|SQLITE_DIRECTONLY, dense_function },
  { "zt_json", 2, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, dense_function_json },
  { "zt_json", 3, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, dense_function_json },
  { "zt_json", 4, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, dense_function_json },
  { "zt_json", 5, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, dense_function_json },
  { "zt_value", -1, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, dense_function_value },
  { NULL, 0, 0, NULL },
};
