/*
** Names by which a catalog of several machines tells files apart.
**
**   zt_absolute(source)
**     TEXT: the same source as an absolute path, which does not depend on the current directory.
**     Symbolic links in its leading directory are resolved. A list gives a JSON array. The file
**     need not exist
**   zt_host(), zt_host(name)
**     TEXT: this machine's name. An argument sets the name for this connection, for machines whose
**     own name changes, such as containers; NULL restores the machine's own name
**
** core/paths.h has the details.
*/
#include "core/paths.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

/* Make the text, from sqlite3_malloc64(), or the failure the result. */
static void absolute_result(sqlite3_context *ctx, char *text, zt_error *err){
  if( err->rc ) zt_result_error(ctx, err);
  else sqlite3_result_text(ctx, text, -1, sqlite3_free);
}

static void absolute_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *connection = sqlite3_user_data(ctx);
  const zt_interrupt interrupt = zt_connection_interrupt(connection);
  zt_error err = ZT_ERROR_NONE;
  const char *path;
  char *out = NULL;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_path(connection, args[0], &path, &err)==SQLITE_OK ){
    if( path ) zt_paths_absolute(path, connection->remote!=NULL, &interrupt, &out, &err);
    else zt_fail(&err, SQLITE_ERROR, "a BLOB has no path");
  }
  absolute_result(ctx, out, &err);
}

/* Set the name; NULL restores the machine's own. */
static int absolute_set_host(zt_connection *c, sqlite3_value *value, zt_error *err){
  const zt_text name = zt_value_text(value);
  char *copy;
  if( sqlite3_value_type(value)==SQLITE_NULL ){
    sqlite3_free(c->host);
    c->host = NULL;
    return SQLITE_OK;
  }
  if( sqlite3_value_type(value)!=SQLITE_TEXT
   || (name.z && (name.n==0 || memchr(name.z, 0, name.n))) ){
    return zt_fail(err, SQLITE_ERROR, "a host's name is a text that is not empty");
  }
  copy = name.z ? sqlite3_mprintf("%s", name.z) : NULL;
  if( !copy ) return zt_fail_nomem(err);
  sqlite3_free(c->host);
  c->host = copy;
  return SQLITE_OK;
}

static char *absolute_host(const zt_connection *c, zt_error *err){
  char *copy;
  if( !c->host ) return zt_os_host(err);
  copy = sqlite3_mprintf("%s", c->host);
  if( !copy ) zt_fail_nomem(err);
  return copy;
}

static void absolute_host_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *c = sqlite3_user_data(ctx);
  zt_error err = ZT_ERROR_NONE;
  char *out = NULL;
  if( c->nofs ) zt_fail(&err, SQLITE_ERROR, "this connection does not read the machine's name");
  else if( n==0 || absolute_set_host(c, args[0], &err)==SQLITE_OK ) out = absolute_host(c, &err);
  absolute_result(ctx, out, &err);
}

const zt_function zt_function_absolute[] = {
  { "zt_absolute", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, absolute_function },
  { "zt_host", 0, SQLITE_UTF8|SQLITE_DIRECTONLY, absolute_host_function },
  { "zt_host", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, absolute_host_function },
  { NULL, 0, 0, NULL },
};
