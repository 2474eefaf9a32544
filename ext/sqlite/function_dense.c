/*
** A tensor's values:
**
**   zt_dense(source, object [, dtype [, first, count]])   BLOB: row-major little-endian elements of that type; of `count`
**                                                         indices of the first dimension from `first` on, clipped at the end
**   zt_json(source, object)                               the same as nested JSON arrays
**   zt_value(source, object, i, j, ...)                   one element
**
** NULL if source or object is. What cannot be interpreted is an error that names what is wrong with which object.
*/
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "tensor/assemble.h"

/* A function's object, opened. Everything is closed by close_values(). */
typedef struct values {
  zt_budget budget;
  zt_target target;
  zt_tensor tensor;
} values;

static int open_values(sqlite3_context *ctx, sqlite3_value **args, values *v, zt_error *err){
  zt_connection *connection = sqlite3_user_data(ctx);
  v->budget = zt_connection_budget(connection);
  v->tensor = (zt_tensor){ 0 };
  if( zt_target_open(connection, args[0], true, &v->target, err) || zt_target_object(&v->target, args[1], err) ) return err->rc;
  return zt_target_tensor(&v->target, &v->budget, &v->tensor, err);
}

static void close_values(values *v){
  zt_tensor_close(&v->tensor);
  zt_target_close(&v->target);
}

/* Elements of one index of the first dimension; a failure for a scalar. */
static int slice(const zt_object *object, uint64_t first, uint64_t count, uint64_t *from, uint64_t *n, zt_error *err){
  uint64_t rows, each;
  if( object->rank==0 ) return zt_fail(err, SQLITE_ERROR, "a scalar has no first dimension to slice");
  rows = object->shape[0];
  each = rows ? object->elements/rows : 0;
  if( first>rows ) first = rows;
  if( count>rows-first ) count = rows-first;
  *from = first*each;
  *n = count*each;
  return SQLITE_OK;
}

static void dense(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer buffer = { NULL, 0 };
  const zt_dtype *as = NULL;
  uint64_t first = 0, count = UINT64_MAX, elements;
  bool sliced = n>4 && (sqlite3_value_type(args[3])!=SQLITE_NULL || sqlite3_value_type(args[4])!=SQLITE_NULL);
  values v;
  if( zt_target_null(args[0], args[1]) ) return;
  if( n>2 && zt_value_dtype(args[2], &as, &err) ) goto end;
  if( n>3 && zt_value_index(args[3], "zt_dense: first", 0, &first, &err) ) goto end;
  if( n>4 && zt_value_index(args[4], "zt_dense: count", UINT64_MAX, &count, &err) ) goto end;
  if( open_values(ctx, args, &v, &err)==SQLITE_OK ){
    elements = v.target.object.elements;
    if( sliced ) slice(&v.target.object, first, count, &first, &elements, &err);
    if( !err.rc ) zt_assemble(&v.tensor, as ? as : v.tensor.dtype, first, elements, &buffer, &err);
  }
  close_values(&v);
end:
  if( err.rc ) zt_result_error(ctx, &err);
  else zt_result_buffer(ctx, &buffer);
}

static void json(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out;
  values v;
  (void)n;
  if( zt_target_null(args[0], args[1]) ) return;
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  if( open_values(ctx, args, &v, &err)==SQLITE_OK ) zt_assemble_json(&v.tensor, out, &err);
  close_values(&v);
  if( err.rc ){
    sqlite3_free(sqlite3_str_finish(out));
    zt_result_error(ctx, &err);
  }else{
    zt_result_json(ctx, out);
  }
}

/* The flat position of an element with these indices. */
static int position_of(const zt_object *object, int n, sqlite3_value **indices, uint64_t *out, zt_error *err){
  *out = 0;
  if( (uint32_t)n!=object->rank ) return zt_fail(err, SQLITE_ERROR, "%d ind%s for %u dimension%s", n, n==1 ? "ex" : "ices", object->rank, object->rank==1 ? "" : "s");
  for(int d=0; d<n; d++){
    uint64_t i;
    if( zt_value_index(indices[d], "zt_value: an index", 0, &i, err) ) return err->rc;
    if( i>=object->shape[d] ) return zt_fail(err, SQLITE_ERROR, "index %llu in dimension %d, which has %llu", i, d, object->shape[d]);
    *out = *out*object->shape[d] + i;
  }
  return SQLITE_OK;
}

static void value(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  ZT_NUMBERS(ZT_ELEMENT_MAX/8) element;
  uint64_t position;
  values v;
  if( n<2 ){
    sqlite3_result_error(ctx, "ztensor: zt_value needs a source and an object: zt_value('model.zt', 'layer.weight', i, j)", -1);
    return;
  }
  for(int i=0; i<n; i++) if( sqlite3_value_type(args[i])==SQLITE_NULL ) return;
  if( open_values(ctx, args, &v, &err)==SQLITE_OK && position_of(&v.target.object, n-2, args+2, &position, &err)==SQLITE_OK
   && zt_tensor_read(&v.tensor, position, 1, &element, &err)==SQLITE_OK ){
    zt_result_scalar(ctx, zt_scalar_of(v.tensor.dtype, &element));
  }
  close_values(&v);
  if( err.rc ) zt_result_error(ctx, &err);
}

const zt_function zt_function_dense[] = {
  { "zt_dense", 2, SQLITE_UTF8|SQLITE_DIRECTONLY, dense },
  { "zt_dense", 3, SQLITE_UTF8|SQLITE_DIRECTONLY, dense },
  { "zt_dense", 5, SQLITE_UTF8|SQLITE_DIRECTONLY, dense },
  { "zt_json", 2, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, json },
  { "zt_value", -1, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, value },
  { NULL, 0, 0, NULL },
};
