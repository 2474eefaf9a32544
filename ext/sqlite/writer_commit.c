/* The transaction of a writer: its begin, its COMMIT, its end. See writer.h. */
#include "sqlite/writer.h"

#include "sqlite/writer_load.h"

int zt_writer_begin(zt_writer *w, zt_error *err){
  int rc;
  if( w->output ){
    err->path = w->arguments.path;
    return zt_fail(err, SQLITE_ERROR, "COMMIT has begun, and the database was busy: COMMIT again,"
                   " or ROLLBACK");
  }
  if( w->rows.sources ) return SQLITE_OK;
  err->path = w->arguments.path;
  rc = zt_writer_rows_prepare(w->stored);
  if( rc ) return zt_writer_fail(w, rc, err);
  if( zt_output_check(w->arguments.path, w->arguments.mode, err) ) return err->rc;
  w->budget = zt_connection_budget(w->connection);
  w->rows = (zt_draft_rows){
    .connection = w->connection, .encoder = w->arguments.encoder, .options = w->arguments.options,
    .drop_attributes = w->arguments.drop_attributes, .budget = &w->budget,
    .sources = zt_write_sources_new(w->connection, w->arguments.path, err)
  };
  return err->rc;
}

/* Forget the file; the target is as it was. */
static void writer_forget(zt_writer *w){
  zt_output_close(w->output);
  w->output = NULL;
  w->placed = false;
}

void zt_writer_end(zt_writer *w){
  writer_forget(w);
  zt_write_sources_free(w->rows.sources);
  w->rows.sources = NULL;
  w->savepoints = 0;
}

void zt_writer_rollback_to(zt_writer *w, int n){
  if( n<w->made_in ) writer_forget(w);   /* Its rows are back, or undone */
  w->savepoints = n+1;
}

/* --- The draft --- */

static int writer_add(zt_writer *w, sqlite3_stmt *s, zt_draft *draft, zt_supplies *supplies,
                      zt_error *err){
  sqlite3_value *columns[ZT_ROW_COLUMNS];
  uint32_t object;
  zt_row row;
  for(int i=0; i<ZT_ROW_COLUMNS; i++) columns[i] = sqlite3_column_value(s, ZT_STORED_COLUMNS+i);
  if( zt_writer_read(w, columns, s, &row, err)==SQLITE_OK ){
    zt_row_add(&w->rows, &row, draft, supplies, &object, err);
  }
  zt_row_clear(&row);
  if( !err->rc ) err->object.z = NULL;
  return err->rc;
}

/* Add all tensors and components, or all attributes. */
static int writer_add_all(zt_writer *w, bool attributes, zt_draft *draft, zt_supplies *supplies,
                          zt_error *err){
  int rc = SQLITE_OK;
  sqlite3_stmt *s = zt_writer_rows_next(w->stored, attributes, true, &rc);
  while( s && !err->rc && writer_add(w, s, draft, supplies, err)==SQLITE_OK ){
    zt_interrupt_check(&w->budget.interrupt, err);
    s = zt_writer_rows_next(w->stored, attributes, false, &rc);
  }
  return rc && !err->rc ? zt_writer_fail(w, rc, err) : err->rc;
}

static int writer_write(zt_writer *w, zt_draft *draft, zt_supplies *supplies, zt_error *err){
  const zt_write write = {
    .encoder = w->arguments.encoder, .options = w->rows.options, .draft = draft,
    .supplies = supplies, .budget = &w->budget
  };
  if( writer_add_all(w, false, draft, supplies, err)
   || writer_add_all(w, true, draft, supplies, err)
   || zt_rows_complete(&w->rows, draft, supplies, err) || zt_write_check(&write, err)
   || zt_output_open(w->arguments.path, w->arguments.mode, w->arguments.sync, &w->output, err)
   || zt_write_to(&write, w->output, err) ) return err->rc;
  return zt_output_sync(w->output, err);
}

/* Make the file, which is not yet the target. */
static int writer_make(zt_writer *w, zt_error *err){
  zt_supplies supplies;
  zt_draft *draft;
  zt_connection_enter(w->connection);
  zt_write_sources_look_again(w->rows.sources);
  w->budget = zt_connection_budget(w->connection);
  supplies = zt_rows_supplies(&w->rows);
  supplies.spool = zt_write_sources_spooled(w->rows.sources);
  draft = zt_draft_new(err);
  if( draft ) writer_write(w, draft, &supplies, err);
  zt_writer_rows_reset(w->stored);
  zt_draft_free(draft);
  zt_supplies_clear(&supplies);
  zt_connection_leave(w->connection);
  w->made_in = w->savepoints;
  return err->rc;
}

/* True if the transaction has something to write. */
static bool writer_has_rows(zt_writer *w, int *rc){
  if( w->arguments.mode!=ZT_OUTPUT_UPDATE ) return !zt_writer_rows_empty(w->stored, rc) && !*rc;
  return zt_writer_rows_marked(w->stored, ZT_WRITER_CHANGED, rc) && !*rc;
}

/* --- The databases --- */

/* True if the transaction may change a database other than temp. */
static bool writer_changes_databases(sqlite3 *db){
#if SQLITE_VERSION_NUMBER>=3039000
  if( sqlite3_libversion_number()>=3039000 ){
    const char *name;
    for(int i=0; (name = sqlite3_db_name(db, i))!=NULL; i++){
      if( i!=1 && sqlite3_txn_state(db, name)==SQLITE_TXN_WRITE ) return true;
    }
    return false;
  }
#endif
  (void)db;
  return true;
}

/* Have SQLite take the locks that it needs for its own commit, which it otherwise does after xSync.
** It takes them when it writes pages to a database, before that to commit. */
static int writer_lock_databases(zt_writer *w, zt_error *err){
  sqlite3 *db = w->connection->db;
  const int rc = writer_changes_databases(db) ? sqlite3_db_cacheflush(db) : SQLITE_OK;
  switch( rc & 0xff ){
    case SQLITE_OK: return SQLITE_OK;
    case SQLITE_CANTOPEN: return SQLITE_OK;   /* Of temp, which needs no file until it is large */
    case SQLITE_BUSY: return err->rc = rc;
    case SQLITE_NOMEM: return zt_fail_nomem(err);
    default: return zt_fail(err, rc, "the database: %s", sqlite3_errstr(rc));
  }
}

int zt_writer_commit(zt_writer *w, zt_error *err){
  int rc = SQLITE_OK;
  if( !w->rows.sources || w->placed ) return SQLITE_OK;
  err->path = w->arguments.path;
  if( !w->output && writer_has_rows(w, &rc) ) writer_make(w, err);
  if( rc==SQLITE_OK && !err->rc ) rc = zt_writer_rows_clear(w->stored);
  if( rc && !err->rc ) return zt_writer_fail(w, rc, err);
  if( err->rc || !w->output || writer_lock_databases(w, err)
   || zt_output_place(w->output, err) ) return err->rc;
  w->placed = true;
  return SQLITE_OK;
}
