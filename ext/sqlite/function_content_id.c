/*
** The model's content digest (container/content_id.h).
**
**   zt_content_id(source)
**     TEXT `sha256:hex`: the model's content digest, over the digests of its parts. It is equal for
**     the same tensors with digests of the same algorithm, however they are packed. NULL if a part
**     has no digest, or the format has no content digest
*/
#include "container/content_id.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"

static void content_id_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_error err = ZT_ERROR_NONE;
  char text[ZT_DIGEST_TEXT];
  bool known = false;
  zt_target t;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  if( zt_target_open(sqlite3_user_data(ctx), args[0], false, &t, &err)==SQLITE_OK ){
    zt_content_id(t.container, text, &known, &err);
  }
  zt_target_close(&t);
  if( err.rc ) zt_result_error(ctx, &err);
  else if( known ) sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

const zt_function zt_function_content_id[] = {
  { "zt_content_id", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, content_id_function },
  { NULL, 0, 0, NULL },
};
