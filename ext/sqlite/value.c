/* Conversion of SQLite's values and results. See value.h. */
#include "sqlite/value.h"

#include <math.h>
#include "tensor/assemble.h"

zt_text zt_value_text(sqlite3_value *v){
  const char *z;
  if( sqlite3_value_type(v)==SQLITE_NULL || sqlite3_value_type(v)==SQLITE_BLOB ){
    return (zt_text){ NULL, 0 };
  }
  z = (const char*)sqlite3_value_text(v);
  return (zt_text){ z, z ? (size_t)sqlite3_value_bytes(v) : 0 };
}

bool zt_value_whole(sqlite3_value *v, uint64_t *out){
  double r;
  switch( sqlite3_value_numeric_type(v) ){
    case SQLITE_INTEGER:
      *out = (uint64_t)sqlite3_value_int64(v);
      return sqlite3_value_int64(v)>=0;
    case SQLITE_FLOAT:
      r = sqlite3_value_double(v);
      if( !(r>=0) || r>=9007199254740992.0 || floor(r)!=r ) return false;
      *out = (uint64_t)r;
      return true;
    default:
      return false;
  }
}

const char *zt_value_shown(sqlite3_value *v){
  return sqlite3_value_type(v)==SQLITE_BLOB ? "a BLOB" : (const char*)sqlite3_value_text(v);
}

int zt_value_index(sqlite3_value *v, const char *what, uint64_t otherwise, uint64_t *out,
                   zt_error *err){
  *out = otherwise;
  if( sqlite3_value_type(v)==SQLITE_NULL || zt_value_whole(v, out) ) return SQLITE_OK;
  *out = otherwise;
  return zt_fail(err, SQLITE_ERROR, "%s must be an integer from 0 on, not '%s'", what,
                 zt_value_shown(v));
}

int zt_value_dtype(sqlite3_value *v, const zt_dtype **out, zt_error *err){
  zt_text text = zt_value_text(v);
  if( sqlite3_value_type(v)==SQLITE_NULL ) return SQLITE_OK;
  if( !text.z && sqlite3_value_type(v)!=SQLITE_BLOB ) return zt_fail_nomem(err);
  return zt_dtype_find(text.z ? text : ZT_TEXT("a BLOB"), out, err);
}

void zt_result_scalar(sqlite3_context *ctx, zt_scalar value){
  sqlite3_str *json;
  switch( value.class ){
    case ZT_FLOAT: sqlite3_result_double(ctx, value.real); break;
    case ZT_INT:   sqlite3_result_int64(ctx, value.i); break;
    case ZT_UINT: case ZT_BOOL: zt_result_uint(ctx, value.u); break;
    case ZT_COMPLEX:
      json = sqlite3_str_new(sqlite3_context_db_handle(ctx));
      zt_json_scalar(json, value);
      zt_result_json(ctx, json);
      break;
  }
}

void zt_result_text(sqlite3_context *ctx, zt_text text){
  if( text.z ) sqlite3_result_text64(ctx, text.z, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  else sqlite3_result_null(ctx);
}

int zt_result_as_text(sqlite3_context *ctx, sqlite3_value *v){
  const int type = v ? sqlite3_value_type(v) : SQLITE_NULL;
  zt_text text;
  if( type!=SQLITE_INTEGER && type!=SQLITE_FLOAT ){
    if( v ) sqlite3_result_value(ctx, v);
    return SQLITE_OK;
  }
  text = zt_value_text(v);
  if( !text.z ) return SQLITE_NOMEM;
  zt_result_text(ctx, text);
  return SQLITE_OK;
}

void zt_result_static(sqlite3_context *ctx, const char *literal){
  sqlite3_result_text(ctx, literal, -1, SQLITE_STATIC);
}

void zt_result_uint(sqlite3_context *ctx, uint64_t u){
  char z[24];
  if( u<=INT64_MAX ){
    sqlite3_result_int64(ctx, (sqlite3_int64)u);
    return;
  }
  sqlite3_snprintf(sizeof(z), z, "%llu", u);
  sqlite3_result_text(ctx, z, -1, SQLITE_TRANSIENT);
}

void zt_result_str(sqlite3_context *ctx, sqlite3_str *str){
  int rc = sqlite3_str_errcode(str);
  int n = sqlite3_str_length(str);
  char *z = sqlite3_str_finish(str);
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(ctx);
  else if( rc ) sqlite3_result_error_toobig(ctx);
  else if( !z ) zt_result_static(ctx, "");
  else{
    sqlite3_result_text64(ctx, z, (sqlite3_uint64)n, sqlite3_free, SQLITE_UTF8);
    return;
  }
  sqlite3_free(z);
}

void zt_result_json(sqlite3_context *ctx, sqlite3_str *json){
  zt_result_str(ctx, json);
  sqlite3_result_subtype(ctx, ZT_JSON_SUBTYPE);
}

void zt_result_json_buffer(sqlite3_context *ctx, zt_buffer *json){
  sqlite3_result_text64(ctx, (char*)json->p, json->n, zt_buffer_free, SQLITE_UTF8);
  *json = (zt_buffer){ NULL, 0 };
  sqlite3_result_subtype(ctx, ZT_JSON_SUBTYPE);
}

void zt_result_json_text(sqlite3_context *ctx, zt_text json){
  zt_result_text(ctx, json);
  sqlite3_result_subtype(ctx, ZT_JSON_SUBTYPE);
}

void zt_result_buffer(sqlite3_context *ctx, zt_buffer *buffer){
  if( buffer->n==0 ) sqlite3_result_zeroblob(ctx, 0);
  else sqlite3_result_blob64(ctx, buffer->p, buffer->n, zt_buffer_free);
  *buffer = (zt_buffer){ NULL, 0 };
}

bool zt_result_ends(sqlite3_context *ctx, int rc){
  switch( rc ){
    case SQLITE_NOMEM: sqlite3_result_error_nomem(ctx); return true;
    case SQLITE_INTERRUPT: sqlite3_result_error_code(ctx, rc); return true;
    default: return false;
  }
}

void zt_result_error(sqlite3_context *ctx, zt_error *err){
  if( err->rc==SQLITE_NOMEM ){
    sqlite3_result_error_nomem(ctx);
  }else{
    if( err->message ) sqlite3_result_error(ctx, err->message, -1);
    sqlite3_result_error_code(ctx, err->rc);
  }
  zt_error_clear(err);
}
