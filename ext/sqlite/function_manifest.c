/*
** A file's own description.
**
**   zt_manifest(source)
**     TEXT: the manifest, as JSON; for GGUF, `metadata_kv` and `tensor_infos`. NULL if the file has
**     no manifest, such as a data shard
**
** container/value.h has the details.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

static void manifest_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_target t;
  zt_value manifest;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_open(sqlite3_user_data(ctx), args[0], false, &t, &err) ){
    zt_result_error(ctx, &err);
  }else{
    manifest = zt_container_manifest(t.container);
    if( manifest.type!=ZT_VALUE_NULL ){
      zt_result_value(ctx, t.container, &manifest, t.interrupt);
    }
  }
  zt_target_close(&t);
}

const zt_function zt_function_manifest[] = {
  { "zt_manifest", 1, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, manifest_function },
  { NULL, 0, 0, NULL },
};
