/*
** A digest of stored values.
**
**   zt_hash(source, object, [component,] algorithm)
**     TEXT `algorithm:hex`, over the decoded bytes: `sha256`, `crc32c`, `xxh3`. `component` may be
**     left out if there is only one
*/
#include "sqlite/tables.h"
#include "sqlite/target.h"

/* Find the component; role NULL: the only one. If `algorithm` names a component instead, the
** message lists the algorithms. */
static int hash_function_component(zt_target *t, sqlite3_value *role, zt_text algorithm,
                                   zt_error *err){
  if( !role && !zt_digest_known(algorithm)
   && zt_component_find(t->container, t->object.index, algorithm, &t->component) ){
    return zt_fail(err, SQLITE_ERROR, "'%.*s' is a component: name an algorithm after it: "
                   ZT_DIGEST_ALGORITHMS, zt_shown(algorithm), algorithm.z);
  }
  return zt_target_component(t, role, err);
}

static void hash_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *connection = sqlite3_user_data(ctx);
  zt_budget budget = zt_connection_budget(connection);
  zt_error err = ZT_ERROR_NONE;
  zt_text algorithm = zt_value_text(args[n-1]);
  char text[ZT_DIGEST_TEXT];
  zt_target t;
  zt_payload payload;
  if( zt_target_null(args[0], args[1]) ) return;
  if( !algorithm.z ){
    sqlite3_result_error(ctx, "ztensor: zt_hash: name an algorithm: " ZT_DIGEST_ALGORITHMS, -1);
    return;
  }
  if( zt_target_open(connection, args[0], true, &t, &err)==SQLITE_OK
   && zt_target_object(&t, args[1], &err)==SQLITE_OK
   && hash_function_component(&t, n>3 ? args[2] : NULL, algorithm, &err)==SQLITE_OK ){
    payload = (zt_payload){
      .source = t.source, .object = &t.object, .component = &t.component, .budget = &budget
    };
    zt_target_threads(connection, &t, t.component.length, &budget);
    zt_content_hash(&payload, algorithm, text, &err);
  }
  zt_target_close(&t);
  if( err.rc ) zt_result_error(ctx, &err);
  else sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

const zt_function zt_function_hash[] = {
  { "zt_hash", 3, SQLITE_UTF8|SQLITE_DIRECTONLY, hash_function },
  { "zt_hash", 4, SQLITE_UTF8|SQLITE_DIRECTONLY, hash_function },
  { NULL, 0, 0, NULL },
};
