/*
** The extension's version.
**
**   zt_version()
**     TEXT: the version of the extension and of its libraries; contains `nofs` if the extension
**     opens no files. libcurl is among them once it is loaded
*/
#include <zstd.h>
#include "core/http.h"
#include "core/sha256.h"
#include "sqlite/tables.h"

#define ZT_VERSION "0.1.0"

static void version_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  const zt_connection *c = sqlite3_user_data(ctx);
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  (void)n;
  (void)args;
  sqlite3_str_appendf(out, "%s%s (SQLite %s, zstd %s, %s", ZT_VERSION, c->nofs ? " nofs" : "",
                      sqlite3_libversion(), ZSTD_versionString(), zt_sha256_library());
#if ZT_REMOTE
  if( c->remote && zt_http_library() ) sqlite3_str_appendf(out, ", %s", zt_http_library());
#endif
  sqlite3_str_appendchar(out, 1, ')');
  zt_result_str(ctx, out);
}

const zt_function zt_function_version[] = {
  { "zt_version", 0, SQLITE_UTF8|SQLITE_INNOCUOUS, version_function },
  { NULL, 0, 0, NULL },
};
