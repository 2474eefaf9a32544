/*
** zt_writer(path, ...): a table whose rows become a tensor file at COMMIT. A row is a tensor, a
** component of one, or an attribute.
**
**   name                 of the tensor; NULL if the row is an attribute of the file
**   source, object       the file that has the tensor, and its name there, `name` if it is NULL.
**                        A path is read at COMMIT, which fails if the file has changed since
**   data                 instead of source: the elements, row-major and little-endian. They wait in
**                        a temporary file
**   dtype, shape         with data: the type of the bytes, and a JSON array. With source: dtype is
**                        the type to convert to, NULL keeps it; shape is NULL or the source's own
**   format               NULL keeps the layout, with data `dense`. `dense` fills in zeros and
**                        dequantizes. With data also `sparse_csr` and `sparse_coo`. With source
**                        also its own, which keeps it
**   component            with data, of a sparse tensor: its role, `values`, `indices`, `indptr` or
**                        `coords`. There is one row for each, with the same name, format and shape
**   encoding, level, digest   of this row instead of the table's
**   key, value           an attribute, of the tensor `name` or of the file
**   type                 of the value, as in zt_attributes; NULL: by the value's own type
**   stored_type          the type in GGUF's own words; other formats ignore it
**   bytes                decoded bytes of the row; read only, so that only this number may be given
**
** Such a table is in temp, and only with the entry point sqlite3_ztensor_write_init. Rows are
** checked when they come, and kept in a table of SQLite's (writer_rows.h). All is written in xSync,
** whose errors reach the user and end the transaction: SQLite drops those of xCommit. After that,
** xCommit forgets the old file, and xRollback puts it back. SQLite locks the databases after xSync,
** and may find them busy; so xSync has it lock them before the target changes (writer_commit.c).
*/
#include "core/float_env.h"
#include "sqlite/module.h"
#include "sqlite/tables.h"
#include "sqlite/value.h"
#include "sqlite/writer.h"
#include "sqlite/writer_load.h"
#include "sqlite/writer_view.h"

/* Rows that a cursor shows. */
typedef enum writer_shows {
  WRITER_SHOWS_NONE,             /* None yet, or those outside of a transaction: none */
  WRITER_SHOWS_TRANSACTION,      /* Those of the open transaction */
  WRITER_SHOWS_FILE,             /* Those of the file, until the cursor is closed */
  WRITER_SHOWS_ENDED             /* Those of a transaction that has ended, or was undone in part */
} writer_shows;

typedef struct zt_writer_cursor {
  sqlite3_vtab_cursor base;      /* First: SQLite's part */
  struct zt_writer_cursor *next; /* Of the same table */
  writer_shows shows;
  int savepoints;                /* Those of the transaction in which it began */
  zt_writer_view *view;          /* Owned; NULL: none */
  sqlite3_stmt *rows;            /* Owned; NULL: there are none */
  bool eof;
} writer_cursor;

/* Make a failure a message of SQLite's, and clear it. Returns its code. */
static int writer_fail_as(char **message, zt_error *err){
  int rc = err->rc;
  if( err->message ){
    sqlite3_free(*message);
    *message = sqlite3_mprintf("%s", err->message);
    if( !*message ) rc = SQLITE_NOMEM;
  }
  zt_error_clear(err);
  return rc;
}

static int writer_fail(sqlite3_vtab *p, zt_error *err){
  return writer_fail_as(&p->zErrMsg, err);
}

/* --- Connecting --- */

static const char writer_schema[] =
  "CREATE TABLE x(name TEXT, source, object TEXT, data BLOB, dtype TEXT, shape TEXT, format TEXT,"
  " component TEXT, encoding TEXT, level, digest TEXT, key TEXT, value, type TEXT,"
  " stored_type TEXT, bytes INTEGER HIDDEN)";

static int writer_disconnect(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  zt_writer **at = &w->connection->writers;
  while( *at!=w ) at = &(*at)->next;
  *at = w->next;
  zt_writer_end(w);
  zt_writer_rows_close(w->stored);
  zt_writer_arguments_clear(&w->arguments);
  return zt_module_disconnect_plain(p);
}

static int writer_connect_as(sqlite3 *db, void *module, int argc, const char *const *argv,
                             bool create, sqlite3_vtab **out, char **message){
  zt_writer_arguments arguments = { .path = NULL };
  zt_float_env env;
  zt_error err = ZT_ERROR_NONE;
  zt_writer *w;
  int rc;
  if( sqlite3_stricmp(argv[1], "temp")!=0 ){
    zt_fail(&err, SQLITE_ERROR, "zt_writer is for temp alone: CREATE VIRTUAL TABLE temp.%s ...",
            argv[2]);
  }
  zt_float_env_enter(&env);   /* The file to update may be read */
  if( err.rc==SQLITE_OK ) zt_writer_arguments_read(argc-3, argv+3, &arguments, &err);
  zt_float_env_leave(&env);
  if( err.rc ){
    zt_writer_arguments_clear(&arguments);
    return writer_fail_as(message, &err);
  }
  rc = zt_module_connect_plain(db, writer_schema, SQLITE_VTAB_DIRECTONLY, sizeof(*w), out);
  if( rc ){
    zt_writer_arguments_clear(&arguments);
    return rc;
  }
  w = (zt_writer*)*out;
  w->connection = module;
  w->arguments = arguments;
  w->created = create;
  w->next = w->connection->writers;
  w->connection->writers = w;
  rc = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
  if( rc==SQLITE_OK ) rc = zt_writer_rows_open(db, argv[2], create, &w->stored, message);
  if( rc==SQLITE_OK ) return SQLITE_OK;
  writer_disconnect(*out);
  *out = NULL;
  return rc;
}

static int writer_create(sqlite3 *db, void *module, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message){
  return writer_connect_as(db, module, argc, argv, true, out, message);
}

static int writer_connect(sqlite3 *db, void *module, int argc, const char *const *argv,
                          sqlite3_vtab **out, char **message){
  return writer_connect_as(db, module, argc, argv, false, out, message);
}

static int writer_destroy(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  int rc;
  if( zt_writer_must_stay(zt_writer_holder(w), &rc) ) return SQLITE_LOCKED;
  if( rc==SQLITE_OK ) rc = zt_writer_rows_drop(w->stored);
  return rc ? rc : writer_disconnect(p);
}

static int writer_rename(sqlite3_vtab *p, const char *name){
  (void)name;
  sqlite3_free(p->zErrMsg);
  p->zErrMsg = sqlite3_mprintf("ztensor: a zt_writer cannot be renamed");
  return p->zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int writer_shadow_name(const char *name){
  return sqlite3_stricmp(name, "zt")==0;
}

/* --- Reading --- */

/* The plans: all rows; the row of that number; those of that name. */
static int writer_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  (void)p;
  info->idxNum = ZT_WRITER_ALL;
  info->estimatedCost = 1e6;
  for(int i=0; i<info->nConstraint; i++){
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    const bool rowid = c->iColumn<0;
    if( !c->usable || c->op!=SQLITE_INDEX_CONSTRAINT_EQ || (!rowid && c->iColumn!=ZT_ROW_NAME) ){
      continue;
    }
    if( info->idxNum!=ZT_WRITER_ALL && !rowid ) continue;
    if( !rowid && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY")!=0 ) continue;
    for(int k=0; k<info->nConstraint; k++) info->aConstraintUsage[k].argvIndex = 0;
    info->aConstraintUsage[i].argvIndex = 1;
    info->idxNum = rowid ? ZT_WRITER_BY_ID : ZT_WRITER_BY_NAME;
    info->estimatedCost = rowid ? 1 : 10;
    if( rowid ) break;
  }
  return SQLITE_OK;
}

static int writer_open(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  zt_writer *w = (zt_writer*)p;
  const int rc = zt_module_open_plain(sizeof(writer_cursor), out);
  if( rc==SQLITE_OK ){
    ((writer_cursor*)*out)->next = w->cursors;
    w->cursors = (writer_cursor*)*out;
  }
  return rc;
}

static int writer_close(sqlite3_vtab_cursor *p){
  writer_cursor *c = (writer_cursor*)p;
  writer_cursor **at = &((zt_writer*)p->pVtab)->cursors;
  while( *at!=c ) at = &(*at)->next;
  *at = c->next;
  sqlite3_finalize(c->rows);
  zt_writer_view_close(c->view);
  sqlite3_free(c);
  return SQLITE_OK;
}

/* The rest of a cursor's rows are gone, if it shows those of the transaction, and began within the
** savepoint of that number; -1: anywhere. */
static void writer_end_cursors(zt_writer *w, int savepoint){
  for(zt_writer *of=w->connection->writers; of; of=of->next){
    for(writer_cursor *c=zt_writer_is_namesake(of, w) ? of->cursors : NULL; c; c=c->next){
      if( c->shows==WRITER_SHOWS_TRANSACTION && c->savepoints>savepoint ){
        c->shows = WRITER_SHOWS_ENDED;
      }
    }
  }
}

/* Fail if the cursor's rows are gone: to end there would be a shorter answer. */
static int writer_check_cursor(const writer_cursor *c, zt_error *err){
  if( c->shows!=WRITER_SHOWS_ENDED ) return SQLITE_OK;
  err->path = ((zt_writer*)c->base.pVtab)->arguments.path;
  return zt_fail(err, SQLITE_ABORT, "the transaction whose rows this statement reads has ended, or"
                 " was undone in part");
}

static int writer_next(sqlite3_vtab_cursor *p){
  writer_cursor *c = (writer_cursor*)p;
  zt_error err = ZT_ERROR_NONE;
  int rc;
  if( writer_check_cursor(c, &err) ) return writer_fail(p->pVtab, &err);
  rc = c->rows ? sqlite3_step(c->rows) : SQLITE_DONE;
  c->eof = rc!=SQLITE_ROW;
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* True if a SELECT of mode update shows the file as it is: outside of a transaction, and where none
** can write the file. Otherwise the transaction has begun: an UPDATE of nothing begins it, if the
** SELECT comes first. With PRAGMA query_only there is no such transaction. */
static bool writer_shows_file(zt_writer *w, int *rc){
  *rc = SQLITE_OK;
  if( !w->begun && sqlite3_get_autocommit(w->connection->db) ) return true;
  if( !zt_writer_may_write(w) ) return true;
  if( !w->begun ) *rc = zt_writer_rows_touch(w->stored);
  return *rc==SQLITE_READONLY;
}

/* Decide which rows the cursor shows. With mode update, those of the file are there once the
** transaction has begun. */
static int writer_see(writer_cursor *c, zt_error *err){
  zt_writer *w = zt_writer_holder((zt_writer*)c->base.pVtab);
  int rc;
  if( writer_check_cursor(c, err) || c->shows==WRITER_SHOWS_FILE ) return err->rc;
  if( !w->rows.sources && w->arguments.mode==ZT_OUTPUT_UPDATE ){
    if( writer_shows_file(w, &rc) ){
      if( zt_writer_view_open(w, &c->view, err)==SQLITE_OK ) c->shows = WRITER_SHOWS_FILE;
      return err->rc;
    }
    if( rc ) return zt_writer_fail(w, rc, err);
  }else if( !w->rows.sources && !w->begun ){   /* CREATE in a transaction begins without xBegin */
    return SQLITE_OK;
  }
  if( zt_writer_begin(w, err) || zt_writer_load(w, err) ) return err->rc;
  if( c->shows==WRITER_SHOWS_NONE ) c->savepoints = w->savepoints;
  c->shows = WRITER_SHOWS_TRANSACTION;
  return SQLITE_OK;
}

static int writer_filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc,
                         sqlite3_value **argv){
  writer_cursor *c = (writer_cursor*)p;
  zt_writer *w = (zt_writer*)p->pVtab;
  const sqlite3_int64 last = sqlite3_last_insert_rowid(w->connection->db);
  zt_float_env env;
  zt_error err = ZT_ERROR_NONE;
  int rc = SQLITE_OK;
  (void)unused;
  sqlite3_finalize(c->rows);
  c->rows = NULL;
  zt_float_env_enter(&env);
  writer_see(c, &err);
  zt_float_env_leave(&env);
  sqlite3_set_last_insert_rowid(w->connection->db, last);
  if( err.rc ) return writer_fail(p->pVtab, &err);
  if( c->shows!=WRITER_SHOWS_NONE ){
    rc = zt_writer_rows_select(c->view ? zt_writer_view_rows(c->view) : w->stored,
                               (zt_writer_plan)plan, argc ? argv[0] : NULL, &c->rows);
  }
  return rc ? rc : writer_next(p);
}

static int writer_eof(sqlite3_vtab_cursor *p){
  return ((writer_cursor*)p)->eof;
}

static int writer_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  zt_error err = ZT_ERROR_NONE;
  if( writer_check_cursor((writer_cursor*)p, &err) ) return writer_fail(p->pVtab, &err);
  *out = sqlite3_column_int64(((writer_cursor*)p)->rows, ZT_STORED_ID);
  return SQLITE_OK;
}

/* A result of bytes that wait in the spool. */
static int writer_result_spooled(zt_writer *w, sqlite3_context *ctx, uint64_t offset, uint64_t n){
  zt_error err = ZT_ERROR_NONE;
  uint8_t *p;
  if( !w->rows.sources || !zt_write_sources_has_bytes(w->rows.sources, offset, n) ){
    sqlite3_result_error_code(ctx, SQLITE_CORRUPT_VTAB);
    return SQLITE_OK;
  }
  if( n>zt_connection_budget(w->connection).result ){
    sqlite3_result_error_toobig(ctx);
    return SQLITE_OK;
  }
  p = sqlite3_malloc64(n+1);
  err.path = w->arguments.path;
  if( !p ) zt_fail_nomem(&err);
  else if( n ){
    zt_output_read(zt_write_sources_spooled(w->rows.sources), offset, p, (size_t)n, &err);
  }
  if( err.rc ){
    sqlite3_free(p);
    zt_result_error(ctx, &err);
  }else{
    sqlite3_result_blob64(ctx, p, n, sqlite3_free);
  }
  return SQLITE_OK;
}

/* The image of a BLOB that is a row's source. */
static int writer_result_source(zt_writer *w, sqlite3_context *ctx, sqlite3_stmt *s){
  uint64_t offset, length;
  const uint32_t number = (uint32_t)sqlite3_column_int64(s, ZT_STORED_SOURCE);
  if( !w->rows.sources || !zt_write_sources_has(w->rows.sources, number)
   || zt_write_sources_path(w->rows.sources, number, &offset, &length) ){
    return SQLITE_OK;
  }
  return writer_result_spooled(w, ctx, offset, length);
}

static int writer_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  const int from = i==ZT_WRITER_BYTES ? ZT_STORED_BYTES : zt_stored_shown(i);
  sqlite3_stmt *s = ((writer_cursor*)p)->rows;
  zt_writer *w = zt_writer_holder((zt_writer*)p->pVtab);
  zt_error err = ZT_ERROR_NONE;
  if( sqlite3_vtab_nochange(ctx) ) return SQLITE_OK;
  if( writer_check_cursor((writer_cursor*)p, &err) ){
    zt_result_error(ctx, &err);
    return SQLITE_OK;
  }
  if( i==ZT_ROW_DATA && sqlite3_column_type(s, ZT_STORED_LENGTH)!=SQLITE_NULL
   && sqlite3_column_type(s, ZT_STORED_COLUMNS+ZT_ROW_KEY)==SQLITE_NULL ){
    return writer_result_spooled(w, ctx, (uint64_t)sqlite3_column_int64(s, ZT_STORED_OFFSET),
                                 (uint64_t)sqlite3_column_int64(s, ZT_STORED_LENGTH));
  }
  if( i==ZT_ROW_SOURCE && sqlite3_column_type(s, from)==SQLITE_NULL
   && sqlite3_column_type(s, ZT_STORED_SOURCE)!=SQLITE_NULL ){
    return writer_result_source(w, ctx, s);
  }
  sqlite3_result_value(ctx, sqlite3_column_value(s, from));
  return SQLITE_OK;
}

/* --- Writing --- */

static int writer_change(zt_writer *w, int argc, sqlite3_value **argv, sqlite3_int64 *id,
                         zt_error *err){
  const bool replaces = sqlite3_value_type(argv[0])!=SQLITE_NULL;
  const sqlite3_int64 old = replaces ? sqlite3_value_int64(argv[0]) : 0;
  if( argc==1 ){
    const int rc = zt_writer_rows_delete(w->stored, old);
    return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
  }
  if( sqlite3_value_type(argv[1])!=SQLITE_NULL && sqlite3_value_int64(argv[1])<=0 ){
    return zt_fail(err, SQLITE_ERROR, "rowid must be an integer above 0");
  }
  return zt_writer_store(w, old, sqlite3_value_type(argv[1])==SQLITE_NULL ? 0
                         : sqlite3_value_int64(argv[1]), argv+2, argv[2+ZT_WRITER_BYTES], NULL,
                         id, err);
}

static int writer_update(sqlite3_vtab *p, int argc, sqlite3_value **argv, sqlite3_int64 *id){
  zt_writer *w = zt_writer_holder((zt_writer*)p);
  const sqlite3_int64 last = sqlite3_last_insert_rowid(w->connection->db);
  zt_float_env env;
  zt_error err = ZT_ERROR_NONE;
  zt_float_env_enter(&env);
  if( zt_writer_begin(w, &err)==SQLITE_OK && zt_writer_load(w, &err)==SQLITE_OK
   && zt_writer_check_others(w, false, &err)==SQLITE_OK ){
    err.path = w->arguments.path;
    err.object.z = NULL;
    if( writer_change(w, argc, argv, id, &err)==SQLITE_OK
     && w->arguments.mode==ZT_OUTPUT_UPDATE ){
      const int rc = zt_writer_rows_mark(w->stored, ZT_WRITER_CHANGED);
      if( rc ) zt_writer_fail(w, rc, &err);
    }
  }
  zt_float_env_leave(&env);
  sqlite3_set_last_insert_rowid(w->connection->db, last);   /* SQLite sets that of an INSERT */
  return writer_fail(p, &err);
}

static int writer_begin(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  w->begun = true;
  w->savepoints = 0;
  return SQLITE_OK;
}

static int writer_sync(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  zt_float_env env;
  zt_error err = ZT_ERROR_NONE;
  zt_float_env_enter(&env);
  writer_end_cursors(w, -1);
  zt_writer_commit(w, &err);
  zt_float_env_leave(&env);
  return writer_fail(p, &err);
}

static int writer_rollback(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  writer_end_cursors(w, -1);
  zt_writer_end(w);
  w->begun = false;
  return SQLITE_OK;
}

static int writer_commit(sqlite3_vtab *p){
  zt_writer *w = (zt_writer*)p;
  if( w->output ) zt_output_keep(w->output);
  return writer_rollback(p);
}

/* Savepoint number n begins. Rows are SQLite's, and so are their savepoints: what follows tells
** what becomes of cursors and of the file. */
static int writer_savepoint(sqlite3_vtab *p, int n){
  ((zt_writer*)p)->savepoints = n+1;
  return SQLITE_OK;
}

/* Savepoint number n and those within it are one with what is around them. */
static int writer_release(sqlite3_vtab *p, int n){
  zt_writer *w = (zt_writer*)p;
  for(zt_writer *of=w->connection->writers; of; of=of->next){
    writer_cursor *c = zt_writer_is_namesake(of, w) ? of->cursors : NULL;
    for(; c; c=c->next) if( c->savepoints>n ) c->savepoints = n;
  }
  if( w->first>n ) w->first = n;
  w->savepoints = n;
  return SQLITE_OK;
}

/* Savepoint number n begins again. -1: that which is the transaction. If all rows came after it,
** there is nothing to commit: the table itself may be undone, and another one have its name. */
static int writer_rollback_to(sqlite3_vtab *p, int n){
  zt_writer *w = (zt_writer*)p;
  writer_end_cursors(w, n);
  if( w->first>n ) zt_writer_end(w);
  zt_writer_rollback_to(w, n);
  return SQLITE_OK;
}

const zt_module zt_module_writer = {
  "zt_writer",
  { .iVersion = 3, .xCreate = writer_create, .xConnect = writer_connect,
    .xBestIndex = writer_best_index, .xDisconnect = writer_disconnect, .xDestroy = writer_destroy,
    .xOpen = writer_open, .xClose = writer_close, .xFilter = writer_filter, .xNext = writer_next,
    .xEof = writer_eof, .xColumn = writer_column, .xRowid = writer_rowid,
    .xUpdate = writer_update, .xBegin = writer_begin, .xSync = writer_sync,
    .xCommit = writer_commit, .xRollback = writer_rollback, .xRename = writer_rename,
    .xSavepoint = writer_savepoint, .xRelease = writer_release,
    .xRollbackTo = writer_rollback_to, .xShadowName = writer_shadow_name }
};
