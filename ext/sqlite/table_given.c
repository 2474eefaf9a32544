/*
** zt_given(usage): one row for each value that the query compares `value` or `text` with. A
** query without such a value fails with the message `usage`.
**
**   value            the value that stands after `=` or in `IN`
**   text             the same, if the query compares `text` with it: numbers become text
**
** It serves views that make no sense without some value: `SELECT g.value AS path FROM zt_given('...
** needs a path: ...') AS g` fails with that message, before its first row, unless a query names a
** path. A view that puts the rows of a table of TEXT beside it with UNION ALL takes `text`: SQLite
** 3.41 passes a value into such a view only if the columns' affinities are alike. It opens nothing,
** so it also works with the nofs entry point and in views stored in a database. It does not use the
** frame, whose tables all have a source.
*/
#include "sqlite/module.h"
#include "sqlite/tables.h"

enum { GIVEN_VALUE, GIVEN_TEXT, GIVEN_USAGE, GIVEN_COLUMNS };

typedef struct given_cursor {
  sqlite3_vtab_cursor base;                  /* First: SQLite's part */
  sqlite3_value *column[GIVEN_COLUMNS];      /* Owned */
  bool done;
} given_cursor;

static int given_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message){
  (void)client;
  (void)argc;
  (void)argv;
  (void)message;
  return zt_module_connect_plain(db, "CREATE TABLE x(value BLOB, text TEXT, usage TEXT HIDDEN)",
                                 SQLITE_VTAB_INNOCUOUS, sizeof(**out), out);
}

/* Return the usable equality constraint on a column, or -1. *later: an unusable one exists, which
** needs another order of the tables. */
static int given_term(const sqlite3_index_info *info, int column, bool *later){
  for(int i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn!=column
     || info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ ) continue;
    if( info->aConstraint[i].usable ) return i;
    *later = true;
  }
  return -1;
}

/* Bit i of the plan is set if column i is given; argv has these columns in order. SQLite compares
** the value again, so that affinity and collation hold. */
static int given_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  int n = 0;
  (void)p;
  info->idxNum = 0;
  for(int k=0; k<GIVEN_COLUMNS; k++){
    bool later = false;
    int i = given_term(info, k, &later);
    if( i<0 && later ) return SQLITE_CONSTRAINT;
    if( i<0 ) continue;
    info->idxNum |= 1<<k;
    info->aConstraintUsage[i].argvIndex = ++n;
  }
  info->estimatedRows = 1;
  info->estimatedCost = 1;
  return SQLITE_OK;
}

static int given_open(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  (void)p;
  return zt_module_open_plain(sizeof(given_cursor), out);
}

static void given_clear(given_cursor *c){
  for(int k=0; k<GIVEN_COLUMNS; k++){
    sqlite3_value_free(c->column[k]);
    c->column[k] = NULL;
  }
}

static int given_close(sqlite3_vtab_cursor *p){
  given_clear((given_cursor*)p);
  sqlite3_free(p);
  return SQLITE_OK;
}

static int given_fail(sqlite3_vtab_cursor *p){
  sqlite3_value *usage = ((given_cursor*)p)->column[GIVEN_USAGE];
  const char *text = usage ? (const char*)sqlite3_value_text(usage) : NULL;
  sqlite3_free(p->pVtab->zErrMsg);
  p->pVtab->zErrMsg = sqlite3_mprintf("ztensor: %s", text ? text : "zt_given needs a value: "
                                      "SELECT * FROM zt_given('what to say') WHERE value = 'x'");
  return p->pVtab->zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int given_filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc,
                        sqlite3_value **argv){
  given_cursor *c = (given_cursor*)p;
  (void)unused;
  (void)argc;
  given_clear(c);
  c->done = false;
  for(int k=0; k<GIVEN_COLUMNS; k++){
    if( !(plan & 1<<k) ) continue;
    c->column[k] = sqlite3_value_dup(*argv++);
    if( !c->column[k] ) return SQLITE_NOMEM;
  }
  return plan & (1<<GIVEN_VALUE | 1<<GIVEN_TEXT) ? SQLITE_OK : given_fail(p);
}

static int given_next(sqlite3_vtab_cursor *p){
  ((given_cursor*)p)->done = true;
  return SQLITE_OK;
}

static int given_eof(sqlite3_vtab_cursor *p){
  return ((given_cursor*)p)->done;
}

static int given_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  sqlite3_value *value = ((given_cursor*)p)->column[i];
  if( i==GIVEN_TEXT ) return zt_result_as_text(ctx, value);
  if( value ) sqlite3_result_value(ctx, value);
  return SQLITE_OK;
}

static int given_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  *out = zt_module_rowid(((given_cursor*)p)->column, GIVEN_COLUMNS);
  return SQLITE_OK;
}

/* No xCreate: CREATE VIRTUAL TABLE would add nothing but a name. */
const zt_module zt_module_given = { "zt_given", {
  .iVersion = 0,
  .xConnect = given_connect,
  .xBestIndex = given_best_index,
  .xDisconnect = zt_module_disconnect_plain,
  .xOpen = given_open,
  .xClose = given_close,
  .xFilter = given_filter,
  .xNext = given_next,
  .xEof = given_eof,
  .xColumn = given_column,
  .xRowid = given_rowid,
} };
