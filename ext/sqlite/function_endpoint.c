/*
** The place of a remote source.
**
**   zt_endpoint(source)
**     TEXT: the host that a URL of https, http, s3 or hf is requested from, with its port unless
**     that is the scheme's; NULL for other sources. Nothing is sent
*/
#include "core/endpoint.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

static void endpoint_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  const zt_connection *connection = sqlite3_user_data(ctx);
  zt_error err = ZT_ERROR_NONE;
  const char *path;
  char *host = NULL;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_path(connection, args[0], &path, &err)==SQLITE_OK && path ){
    host = zt_endpoint(path, &err);
  }
  if( err.rc ) zt_result_error(ctx, &err);
  else if( host ) sqlite3_result_text(ctx, host, -1, sqlite3_free);
}

const zt_function zt_function_endpoint[] = {
  { "zt_endpoint", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, endpoint_function },
  { NULL, 0, 0, NULL },
};
