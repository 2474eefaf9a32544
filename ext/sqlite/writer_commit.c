/* The transaction of a writer: its begin, its COMMIT, its end. See writer.h. */
#include "sqlite/writer.h"

#include "core/os.h"
#include "sqlite/writer_load.h"

bool zt_writer_is_namesake(const zt_writer *a, const zt_writer *b){
  return a->stored && b->stored
      && sqlite3_stricmp(zt_writer_rows_name(a->stored), zt_writer_rows_name(b->stored))==0;
}

zt_writer *zt_writer_holder(zt_writer *w){
  for(zt_writer *older=w; older; older=older->next){
    if( !zt_writer_is_namesake(older, w) ) continue;
    if( older->rows.sources ) return older;
    if( older->created ) break;   /* Those before it were undone */
  }
  return w;
}

/* True if there are rows before the first one came, which a DROP TABLE that was undone brings back,
** or which were put there. */
static bool writer_has_others(zt_writer *w, int *rc){
  const bool loaded = zt_writer_rows_marked(w->stored, ZT_WRITER_LOADED, rc);
  return *rc==SQLITE_OK && (loaded || !zt_writer_rows_empty(w->stored, rc));
}

/* Set *target to the absolute path of the target; fail if no file can be written there. */
static int writer_find(const zt_writer *w, char **target, zt_error *err){
  err->path = w->arguments.path;
  if( zt_output_find(w->arguments.path, w->arguments.mode, target, err)==SQLITE_OK && !w->reads ){
    zt_output_check(*target, err);
  }
  return err->rc;
}

bool zt_writer_may_write(const zt_writer *w){
  zt_error err = ZT_ERROR_NONE;
  char *target;
  const bool may = writer_find(w, &target, &err)==SQLITE_OK;
  sqlite3_free(target);
  zt_error_clear(&err);
  return may;
}

int zt_writer_begin(zt_writer *w, zt_error *err){
  int rc;
  err->path = w->arguments.path;
  if( w->output ){
    return zt_fail(err, SQLITE_ERROR, "COMMIT has begun, and the database was busy: COMMIT again,"
                   " or ROLLBACK");
  }
  if( w->rows.sources ) return SQLITE_OK;
  rc = zt_writer_rows_prepare(w->stored);
  if( rc==SQLITE_OK && writer_has_others(w, &rc) ){
    return zt_fail(err, SQLITE_ERROR, "the table that keeps its rows has some of another"
                   " transaction: DROP the table and make it again");
  }
  if( rc ) return zt_writer_fail(w, rc, err);
  sqlite3_free(w->target);
  if( writer_find(w, &w->target, err) ) return err->rc;
  w->first = w->savepoints;
  w->budget = zt_connection_budget(w->connection);
  w->rows = (zt_draft_rows){
    .connection = w->connection, .encoder = w->arguments.encoder, .options = w->arguments.options,
    .drop_attributes = w->arguments.drop_attributes, .budget = &w->budget,
    .sources = zt_write_sources_new(w->connection, w->reads ? NULL : w->arguments.path, err)
  };
  w->supplies = zt_rows_supplies(&w->rows);
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
  zt_draft_free(w->draft);
  zt_supplies_clear(&w->supplies);
  sqlite3_free(w->target);
  w->rows.sources = NULL;
  w->draft = NULL;
  w->target = NULL;
  w->components = false;
  w->loaded = 0;
  w->savepoints = 0;
}

void zt_writer_rollback_to(zt_writer *w, int n){
  if( n<w->made_in ) writer_forget(w);   /* Its rows are back, or undone */
  w->savepoints = n+1;
}

/* --- Other tables --- */

/* True if the transaction has something to write. */
static bool writer_has_rows(zt_writer *w, int *rc){
  if( w->arguments.mode!=ZT_OUTPUT_UPDATE ) return !zt_writer_rows_empty(w->stored, rc);
  return zt_writer_rows_marked(w->stored, ZT_WRITER_CHANGED, rc);
}

bool zt_writer_must_stay(zt_writer *w, int *rc){
  const int statement = 1;   /* Savepoints of DROP TABLE itself */
  *rc = SQLITE_OK;
  return w->rows.sources && w->savepoints>statement && writer_has_rows(w, rc);
}

/* True if ROLLBACK TO has undone the table's own making: SQLite calls no method then. Another table
** may have its name by now. */
static bool writer_is_undone(const zt_writer *w){
  const char *name = zt_writer_rows_name(w->stored);
  for(const zt_writer *newer=w->connection->writers; newer!=w; newer=newer->next){
    if( newer->created && zt_writer_is_namesake(newer, w) ) return true;
  }
  return sqlite3_table_column_metadata(w->connection->db, "temp", name, NULL, NULL, NULL, NULL,
                                       NULL, NULL)==SQLITE_ERROR;
}

/* True if two paths name the same file now. */
static bool writer_is_one_file(const char *a, const char *b){
  zt_stat of, other;
  return zt_os_stat(a, &of)==0 && zt_os_stat(b, &other)==0 && of.id.device==other.id.device
      && of.id.inode==other.id.inode;
}

int zt_writer_check_others(zt_writer *w, bool placed, zt_error *err){
  int rc = SQLITE_OK;
  for(zt_writer *other=w->connection->writers; other; other=other->next){
    if( other==w || !other->rows.sources ) continue;
    if( placed ? !other->placed || !writer_is_one_file(w->target, other->target)
      : strcmp(w->target, other->target)!=0 || writer_is_undone(other)
       || !writer_has_rows(other, &rc) ) continue;
    return zt_fail(err, SQLITE_ERROR, "the tables '%s' and '%s' would both write this file in one"
                   " transaction", zt_writer_rows_name(other->stored),
                   zt_writer_rows_name(w->stored));
  }
  return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
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

/* The file that is updated is the one whose rows the transaction began with, even if it takes none
** of its tensors: another one has changes that would be lost. */
static int writer_check_loaded(const zt_writer *w, zt_error *err){
  zt_stat s;
  int n;
  if( w->loaded==0 ) return SQLITE_OK;
  n = zt_os_stat(w->target, &s);
  if( n && !zt_os_absent(n) ) return zt_fail_os(err, "look at the target", n);
  if( n==0 && zt_write_sources_has_state(w->rows.sources, w->loaded-1, &s.id) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "the file has changed since the transaction began");
}

static int writer_write(zt_writer *w, zt_draft *draft, zt_supplies *supplies, zt_error *err){
  const zt_write write = {
    .encoder = w->arguments.encoder, .options = w->rows.options, .draft = draft,
    .supplies = supplies, .budget = &w->budget
  };
  if( zt_writer_check_others(w, true, err) || writer_add_all(w, false, draft, supplies, err)
   || writer_add_all(w, true, draft, supplies, err)
   || zt_rows_complete(&w->rows, draft, supplies, err) || zt_write_check(&write, err)
   || writer_check_loaded(w, err)
   || zt_output_open(w->arguments.path, w->target, w->arguments.mode, w->arguments.sync,
                     &w->output, err)
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
  supplies.kept = w->loaded;   /* Even if it keeps none of its tensors */
  draft = zt_draft_new(err);
  if( draft ) writer_write(w, draft, &supplies, err);
  zt_writer_rows_reset(w->stored);
  zt_draft_free(draft);
  zt_supplies_clear(&supplies);
  zt_connection_leave(w->connection);
  w->made_in = w->savepoints;
  return err->rc;
}

/* --- The databases --- */

/* True if the transaction may change that database. */
static bool writer_changes(sqlite3 *db, const char *name){
#if SQLITE_VERSION_NUMBER>=3034000
  if( sqlite3_libversion_number()>=3034000 ){
    return sqlite3_txn_state(db, name)==SQLITE_TXN_WRITE;
  }
#endif
  (void)db;
  (void)name;
  return true;
}

/* Set *found to whether a write to the database that fails is undone: from a journal in a file, or
** in memory if the database has no file. It is where SQLite does not tell. Fails only for lack of
** memory. */
static int writer_find_journal(sqlite3 *db, const char *name, bool file, bool *found){
  char *sql = sqlite3_mprintf("PRAGMA \"%w\".journal_mode", name);
  sqlite3_stmt *mode = NULL;
  int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &mode, NULL) : SQLITE_NOMEM;
  *found = true;
  if( rc==SQLITE_OK && (rc = sqlite3_step(mode))==SQLITE_ROW ){
    const char *text = (const char*)sqlite3_column_text(mode, 0);
    if( !text ) rc = SQLITE_NOMEM;
    else *found = strcmp(text, "off")!=0 && (!file || strcmp(text, "memory")!=0);
  }
  sqlite3_finalize(mode);
  sqlite3_free(sql);
  return (rc & 0xff)==SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/* Set *out if the transaction may change a database other than temp, and a flush of each of those
** that fails is undone; else it leaves the database corrupt. It is set where SQLite does not tell.
** Fails only for lack of memory. */
static int writer_may_flush(sqlite3 *db, bool *out){
  sqlite3_stmt *list = NULL;
  int rc = sqlite3_prepare_v2(db, "PRAGMA database_list", -1, &list, NULL);
  bool told = false, changes = false, journals = true;
  while( rc==SQLITE_OK && journals && (rc = sqlite3_step(list))==SQLITE_ROW ){
    const char *name = (const char*)sqlite3_column_text(list, 1);
    const char *file = (const char*)sqlite3_column_text(list, 2);
    rc = name && file ? SQLITE_OK : SQLITE_NOMEM;
    told = true;
    if( rc || sqlite3_column_int(list, 0)==1 || !writer_changes(db, name) ) continue;
    changes = true;
    rc = writer_find_journal(db, name, *file!=0, &journals);
  }
  *out = !told || (changes && journals);
  sqlite3_finalize(list);
  return (rc & 0xff)==SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/* Have SQLite take the locks that it needs for its own commit, which it otherwise does after xSync.
** It takes them when it writes pages to a database, before that to commit. */
static int writer_lock_databases(zt_writer *w, zt_error *err){
  sqlite3 *db = w->connection->db;
  bool flushes;
  int rc = writer_may_flush(db, &flushes);
  if( rc==SQLITE_OK && flushes ) rc = sqlite3_db_cacheflush(db);
  switch( rc & 0xff ){
    case SQLITE_OK:
    case SQLITE_CANTOPEN: return SQLITE_OK;   /* Of temp, which needs no file until it is large */
    case SQLITE_BUSY: return err->rc = rc;
    case SQLITE_NOMEM: return zt_fail_nomem(err);
    default: return zt_fail(err, rc, "the database: %s", sqlite3_errstr(rc));
  }
}

/* Give the file the target's name. Another one that updates the target waits from its check on. */
static int writer_put_in_place(zt_writer *w, zt_error *err){
  const zt_file held = w->loaded ? zt_output_hold(w->output, &w->budget.interrupt, err) : -1;
  if( !err->rc && writer_check_loaded(w, err)==SQLITE_OK
   && zt_output_place(w->output, err)==SQLITE_OK ){
    w->placed = true;
  }
  zt_os_close(held);
  return err->rc;
}

int zt_writer_commit(zt_writer *w, zt_error *err){
  int rc = SQLITE_OK;
  if( !w->rows.sources || w->placed || writer_is_undone(w) ) return SQLITE_OK;
  err->path = w->arguments.path;
  if( !w->output && writer_has_rows(w, &rc) ) writer_make(w, err);
  if( rc==SQLITE_OK && !err->rc ) rc = zt_writer_rows_clear(w->stored);
  if( rc ) return zt_writer_fail(w, rc, err);
  if( err->rc || !w->output || writer_lock_databases(w, err) ) return err->rc;
  return writer_put_in_place(w, err);
}
