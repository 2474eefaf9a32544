/*
** Fingerprints of files, and of models in several files (tensor/fingerprint.h).
**
**   zt_fingerprint(source)
**     TEXT `xxh3-128:hex` over the names and fingerprints of all tensors: equal for the same model
**     in any file format. NULL if the values of a tensor are not known; a broken tensor is an error
**   zt_fingerprint(object, fingerprint)
**     Aggregate: the fingerprint that a file with these tensors would have, for models in several
**     files. NULL without rows, or if an object or a fingerprint is NULL; a duplicate tensor name
**     is an error
**
** If several tensors have no values, the first by name decides.
*/
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "tensor/fingerprint.h"
#include "tensor/rule.h"

/* True if the fingerprint is not known, but nothing is broken. */
static bool fingerprint_function_is_none(const zt_error *err){
  return err->rc==SQLITE_ERROR && strcmp(zt_rule_of(err)->severity, ZT_SEVERITY_ERROR)!=0;
}

/* Enters the connection, which has threads only while statements run. */
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

/* --- Over rows --- */

typedef struct fingerprint_rows {
  zt_fingerprint_named *a;     /* Owned, with their names */
  size_t n, capacity;
  bool null;                   /* A row has a NULL, or failed */
} fingerprint_rows;

static void fingerprint_rows_clear(fingerprint_rows *r){
  for(size_t i=0; i<r->n; i++) sqlite3_free((char*)r->a[i].name.z);
  sqlite3_free(r->a);
  *r = (fingerprint_rows){ .null = true };
}

/* Make room for one more. False if memory is short. */
static bool fingerprint_rows_grow(fingerprint_rows *r){
  const size_t capacity = r->capacity ? 2*r->capacity : 16;
  zt_fingerprint_named *a;
  if( r->n<r->capacity ) return true;
  a = sqlite3_realloc64(r->a, (uint64_t)capacity*sizeof(*a));
  if( !a ) return false;
  r->a = a;
  r->capacity = capacity;
  return true;
}

/* Add a row's tensor. Neither value is NULL. */
static int fingerprint_rows_add(fingerprint_rows *r, sqlite3_value *object, sqlite3_value *text,
                                zt_error *err){
  zt_fingerprint_named named = { .name.n = 0 };
  const char *name = (const char*)sqlite3_value_text(object);
  const char *stated = (const char*)sqlite3_value_text(text);
  char *copy;
  if( !name || !stated || !fingerprint_rows_grow(r) ) return zt_fail_nomem(err);
  if( !zt_fingerprint_parse((zt_text){ stated, (size_t)sqlite3_value_bytes(text) }, named.bytes) ){
    return zt_fail(err, SQLITE_ERROR, "zt_fingerprint: '%s' is no tensor's fingerprint", stated);
  }
  named.name.n = (size_t)sqlite3_value_bytes(object);
  copy = sqlite3_malloc64((uint64_t)named.name.n+1);
  if( !copy ) return zt_fail_nomem(err);
  memcpy(copy, name, named.name.n);
  copy[named.name.n] = 0;
  named.name.z = copy;
  r->a[r->n++] = named;
  return SQLITE_OK;
}

static void fingerprint_rows_step(sqlite3_context *ctx, int n, sqlite3_value **args){
  fingerprint_rows *r = sqlite3_aggregate_context(ctx, sizeof(*r));
  zt_error err = ZT_ERROR_NONE;
  (void)n;
  if( !r ){
    sqlite3_result_error_nomem(ctx);
    return;
  }
  if( r->null ) return;
  if( sqlite3_value_type(args[0])==SQLITE_NULL || sqlite3_value_type(args[1])==SQLITE_NULL ){
    fingerprint_rows_clear(r);
  }else if( fingerprint_rows_add(r, args[0], args[1], &err) ){
    fingerprint_rows_clear(r);
    zt_result_error(ctx, &err);
  }
}

static void fingerprint_rows_end(sqlite3_context *ctx){
  fingerprint_rows *r = sqlite3_aggregate_context(ctx, 0);
  const zt_interrupt interrupt = zt_connection_interrupt(sqlite3_user_data(ctx));
  zt_fingerprint fingerprint;
  zt_error err = ZT_ERROR_NONE;
  if( !r ) return;
  if( !r->null && zt_fingerprint_join(r->a, r->n, &interrupt, &fingerprint, &err) ){
    zt_result_error(ctx, &err);
  }else if( !r->null ){
    sqlite3_result_text(ctx, fingerprint.text, -1, SQLITE_TRANSIENT);
  }
  fingerprint_rows_clear(r);
}

const zt_function zt_function_fingerprint[] = {
  { "zt_fingerprint", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, fingerprint_function },
  { NULL, 0, 0, NULL },
};

const zt_aggregate zt_aggregate_fingerprint = {
  "zt_fingerprint", 2, SQLITE_UTF8|SQLITE_DETERMINISTIC|SQLITE_INNOCUOUS, fingerprint_rows_step,
  fingerprint_rows_end
};
