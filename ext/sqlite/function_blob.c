/*
** Decoded bytes.
**
**   zt_blob(source, object [, component [, start [, length]]])
**     BLOB: the decoded bytes of one component in the file's byte order, or `length` of them
**     (default: all) from `start`, clipped at the end. `component` may be left out if there is only
**     one
*/
#include "sqlite/tables.h"
#include "sqlite/target.h"

static void blob_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *connection = sqlite3_user_data(ctx);
  zt_budget budget = zt_connection_budget(connection);
  zt_error err = ZT_ERROR_NONE;
  zt_buffer buffer = { NULL, 0 };
  uint64_t start = 0, length = UINT64_MAX, bytes = 0;
  zt_target t;
  zt_payload payload;
  if( zt_target_null(args[0], args[1]) ) return;
  if( n>3 && zt_value_index(args[3], "zt_blob: start", 0, &start, &err) ) goto end;
  if( n>4 && zt_value_index(args[4], "zt_blob: length", UINT64_MAX, &length, &err) ) goto end;
  if( zt_target_open(connection, args[0], true, &t, &err)==SQLITE_OK
   && zt_target_object(&t, args[1], &err)==SQLITE_OK
   && zt_target_component(&t, n>2 ? args[2] : NULL, &err)==SQLITE_OK ){
    payload = (zt_payload){
      .source = t.source, .object = &t.object, .component = &t.component, .budget = &budget
    };
    if( zt_payload_length(&t.object, &t.component, &bytes)!=ZT_LENGTH_KNOWN ) bytes = budget.result;
    zt_target_threads(connection, &t, length<bytes ? length : bytes, &budget);
    zt_content_read(&payload, start, length, &buffer, &err);
  }
  zt_target_close(&t);
end:
  if( err.rc ) zt_result_error(ctx, &err);
  else zt_result_buffer(ctx, &buffer);
}

const zt_function zt_function_blob[] = {
  { "zt_blob", 2, SQLITE_UTF8|SQLITE_DIRECTONLY, blob_function },
  { "zt_blob", 3, SQLITE_UTF8|SQLITE_DIRECTONLY, blob_function },
  { "zt_blob", 4, SQLITE_UTF8|SQLITE_DIRECTONLY, blob_function },
  { "zt_blob", 5, SQLITE_UTF8|SQLITE_DIRECTONLY, blob_function },
  { NULL, 0, 0, NULL },
};
