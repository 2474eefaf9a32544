/*
** What a catalog of several machines tells files apart by.
**
**   zt_absolute(source)
**     TEXT: the same source from whichever directory it is asked for, by the one path of the
**     directory that it begins with; of a list a JSON array. Nothing need be there
**   zt_host()
**     TEXT: what this machine is called
**
** core/paths.h says how.
*/
#include "core/paths.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

/* Give a text of sqlite3_malloc64(), or the failure. */
static void absolute_result(sqlite3_context *ctx, char *text, zt_error *err){
  if( err->rc ) zt_result_error(ctx, err);
  else sqlite3_result_text(ctx, text, -1, sqlite3_free);
}

static void absolute_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  const char *path;
  char *out = NULL;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_path(sqlite3_user_data(ctx), args[0], &path, &err)==SQLITE_OK ){
    if( path ) zt_paths_absolute(path, &out, &err);
    else zt_fail(&err, SQLITE_ERROR, "a BLOB has no path");
  }
  absolute_result(ctx, out, &err);
}

static void absolute_host_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  const zt_connection *c = sqlite3_user_data(ctx);
  zt_error err = ZT_ERROR_NONE;
  char *out = NULL;
  (void)n;
  (void)args;
  if( c->nofs ) zt_fail(&err, SQLITE_ERROR, "this connection knows nothing of the machine");
  else out = zt_os_host(&err);
  absolute_result(ctx, out, &err);
}

const zt_function zt_function_absolute[] = {
  { "zt_absolute", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, absolute_function },
  { "zt_host", 0, SQLITE_UTF8|SQLITE_DIRECTONLY, absolute_host_function },
  { NULL, 0, 0, NULL },
};
