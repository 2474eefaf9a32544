/* SQLite's methods of the virtual-table frame. See methods.h. */
#include "sqlite/methods.h"

#include "core/float_env.h"
#include "sqlite/filter.h"

/* --- Opening and closing --- */

static int methods_open(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  const zt_vtab *v = (const zt_vtab*)p;
  const zt_table *table = v->module->table;
  /* The table's row state follows the cursor in memory */
  zt_cursor *c = sqlite3_malloc64(sizeof(*c)+table->row_size);
  if( !c ) return SQLITE_NOMEM;
  memset(c, 0, sizeof(*c)+table->row_size);
  c->scan = (zt_scan){
    .table = table, .connection = v->module->connection, .err = &c->err, .row = c+1,
    .on_file = zt_table_is_of_files(table)
  };
  c->arguments = (zt_arguments){ .scan = &c->scan, .vtab = v };
  c->files.scan = c->objects.scan = &c->scan;
  c->files.constraints = c->objects.constraints = &c->constraints;
  c->objects.files = &c->files;
  zt_connection_enter(c->scan.connection);
  *out = &c->base;
  return SQLITE_OK;
}

static int methods_close(sqlite3_vtab_cursor *p){
  zt_cursor *c = (zt_cursor*)p;
  zt_filter_reset(c);
  zt_object_iterator_clear(&c->objects);
  zt_file_iterator_clear(&c->files);
  zt_constraints_clear(&c->constraints);
  zt_error_clear(&c->err);
  zt_connection_leave(c->scan.connection);
  sqlite3_free(c);
  return SQLITE_OK;
}

/* --- Rows --- */

/* Report a failure to SQLite, and discard everything that was begun. */
ZT_COLD static int methods_fail(zt_cursor *c, int rc){
  sqlite3_vtab *v = c->base.pVtab;
  if( c->err.message ){
    sqlite3_free(v->zErrMsg);
    v->zErrMsg = c->err.message;
    c->err.message = NULL;
  }
  zt_error_clear(&c->err);
  zt_filter_reset(c);
  c->err = ZT_ERROR_NONE;
  c->eof = true;
  return rc;
}

static int methods_filter(sqlite3_vtab_cursor *p, int plan, const char *text, int argc,
                          sqlite3_value **argv){
  zt_cursor *c = (zt_cursor*)p;
  zt_float_env env;
  int rc;
  zt_float_env_enter(&env);
  rc = zt_filter(c, plan, text, argv);
  zt_float_env_leave(&env);
  (void)argc;
  return rc ? methods_fail(c, rc) : SQLITE_OK;
}

static int methods_next(sqlite3_vtab_cursor *p){
  zt_cursor *c = (zt_cursor*)p;
  zt_float_env env;
  int rc;
  zt_float_env_enter(&env);
  rc = zt_filter_next(c);
  zt_float_env_leave(&env);
  return rc ? methods_fail(c, rc) : SQLITE_OK;
}

static int methods_eof(sqlite3_vtab_cursor *p){
  return ((zt_cursor*)p)->eof;
}

static int methods_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  zt_float_env env;
  zt_float_env_enter(&env);
  zt_filter_column((zt_cursor*)p, ctx, i);
  zt_float_env_leave(&env);
  return SQLITE_OK;
}

static int methods_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  *out = zt_filter_rowid((zt_cursor*)p);
  return SQLITE_OK;
}

/* --- Plans --- */

static int methods_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  const zt_vtab *v = (const zt_vtab*)p;
  const int object = zt_table_argument(v->module->table, "object");
  const zt_plan_table of = {
    v->module->connection, v->module->table, v->source, object<0 ? NULL : v->argument[object]
  };
  char *message = NULL;
  const int rc = zt_plan(&of, info, &message);
  if( !message ) return rc;
  sqlite3_free(p->zErrMsg);
  p->zErrMsg = message;
  return rc;
}

/* --- Registration --- */

/* xCreate is xConnect: the table is eponymous, and CREATE VIRTUAL TABLE can give it a name, too. */
static const sqlite3_module methods_of_tables = {
  .iVersion = 0,
  .xCreate = zt_module_connect,
  .xConnect = zt_module_connect,
  .xBestIndex = methods_best_index,
  .xDisconnect = zt_module_disconnect,
  .xDestroy = zt_module_disconnect,
  .xOpen = methods_open,
  .xClose = methods_close,
  .xFilter = methods_filter,
  .xNext = methods_next,
  .xEof = methods_eof,
  .xColumn = methods_column,
  .xRowid = methods_rowid,
};

static void methods_release(void *p){
  zt_table_module *m = p;
  zt_connection_release(m->connection);
  sqlite3_free(m);
}

int zt_methods_register(zt_connection *c, const zt_table *table){
  zt_table_module *m = sqlite3_malloc64(sizeof(*m));
  if( !m ) return SQLITE_NOMEM;
  c->references++;
  *m = (zt_table_module){ c, table };
  return sqlite3_create_module_v2(c->db, table->name, &methods_of_tables, m, methods_release);
}
