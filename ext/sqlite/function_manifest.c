/*
** zt_manifest(source): the manifest as it is, as JSON text with the JSON subtype (core/json.h says
** how CBOR becomes JSON). NULL if source is, or the file has none: a data shard.
*/
#include "core/json.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

static void manifest_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  zt_target t;
  zt_cbor c;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_open(sqlite3_user_data(ctx), args[0], false, &t, &err) ){
    zt_result_error(ctx, &err);
  }else if( zt_container_manifest(t.container).n ){
    sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
    zt_cbor_init_trusted(&c, zt_container_manifest(t.container), 0, 0, &err);
    zt_cbor_skip_self_described(&c);
    zt_json_item(out, &c);
    zt_result_json(ctx, out);
  }
  zt_target_close(&t);
}

const zt_function zt_function_manifest[] = {
  { "zt_manifest", 1, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, manifest_function },
  { NULL, 0, 0, NULL },
};
