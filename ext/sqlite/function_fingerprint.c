/*
** A file's fingerprint (tensor/fingerprint.h).
**
**   zt_fingerprint(source)
**     TEXT `xxh3-128:hex` over the names and fingerprints of all tensors: equal for the same model,
**     whatever file it is in. NULL if the values of a tensor are not known; a broken tensor is an
**     error
**
** Of several tensors without values the first by name decides.
*/
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "tensor/fingerprint.h"
#include "tensor/rule.h"

/* True if something is not known, and nothing is wrong. */
static bool fingerprint_function_is_none(const zt_error *err){
  return err->rc==SQLITE_ERROR && strcmp(zt_rule_of(err)->severity, ZT_SEVERITY_ERROR)!=0;
}

/* Threads are a statement's, for as long as this takes. */
static void fingerprint_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *connection = sqlite3_user_data(ctx);
  zt_fingerprint fingerprint;
  zt_error err = ZT_ERROR_NONE;
  zt_budget budget;
  zt_target t;
  bool none = false;
  (void)n;
  if( zt_target_null(args[0], NULL) ) return;
  zt_connection_enter(connection);
  budget = zt_connection_budget(connection);
  if( zt_target_open(connection, args[0], true, &t, &err)==SQLITE_OK ){
    zt_fingerprint_file(t.source, t.container, &budget, &fingerprint, &err);
    none = fingerprint_function_is_none(&err);
  }
  zt_target_close(&t);
  zt_connection_leave(connection);
  if( none ) zt_error_clear(&err);
  else if( err.rc ) zt_result_error(ctx, &err);
  else sqlite3_result_text(ctx, fingerprint.text, -1, SQLITE_TRANSIENT);
}

const zt_function zt_function_fingerprint[] = {
  { "zt_fingerprint", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, fingerprint_function },
  { NULL, 0, 0, NULL },
};
