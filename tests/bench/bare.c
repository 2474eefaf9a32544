/*
** An extension whose table is what SQLite itself takes for the rows of a virtual table: bare(n) has n rows, and neither
** opens nor computes anything. Of its columns the integer `length` is 1, and the text `object` is a name of usual length.
*/
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <string.h>

enum { COLUMN_LENGTH, COLUMN_OBJECT, COLUMN_N };

static const char zName[] = "model.layers.0.mlp.up_proj.weight";

typedef struct bare_cursor {
  sqlite3_vtab_cursor base;
  sqlite3_int64 i, n;
} bare_cursor;

static int bare_connect(sqlite3 *db, void *pAux, int argc, const char *const *argv, sqlite3_vtab **ppTab, char **pzErr){
  (void)pAux, (void)argc, (void)argv, (void)pzErr;
  *ppTab = sqlite3_malloc(sizeof(**ppTab));
  if( *ppTab==NULL ) return SQLITE_NOMEM;
  memset(*ppTab, 0, sizeof(**ppTab));
  return sqlite3_declare_vtab(db, "CREATE TABLE x(length INTEGER, object TEXT, n HIDDEN)");
}

static int bare_disconnect(sqlite3_vtab *pTab){
  sqlite3_free(pTab);
  return SQLITE_OK;
}

static int bare_best_index(sqlite3_vtab *pTab, sqlite3_index_info *p){
  (void)pTab;
  for(int i=0; i<p->nConstraint; i++){
    if( p->aConstraint[i].iColumn!=COLUMN_N ) continue;
    if( !p->aConstraint[i].usable ) return SQLITE_CONSTRAINT;
    p->aConstraintUsage[i].argvIndex = 1;
    p->aConstraintUsage[i].omit = 1;
  }
  return SQLITE_OK;
}

static int bare_open(sqlite3_vtab *pTab, sqlite3_vtab_cursor **pp){
  bare_cursor *p = sqlite3_malloc(sizeof(*p));
  (void)pTab;
  if( p==NULL ) return SQLITE_NOMEM;
  memset(p, 0, sizeof(*p));
  *pp = &p->base;
  return SQLITE_OK;
}

static int bare_close(sqlite3_vtab_cursor *pCursor){
  sqlite3_free(pCursor);
  return SQLITE_OK;
}

static int bare_filter(sqlite3_vtab_cursor *pCursor, int idxNum, const char *zIdx, int argc, sqlite3_value **argv){
  bare_cursor *p = (bare_cursor*)pCursor;
  (void)idxNum, (void)zIdx;
  p->i = 0;
  p->n = argc>0 ? sqlite3_value_int64(argv[0]) : 0;
  return SQLITE_OK;
}

static int bare_next(sqlite3_vtab_cursor *pCursor){
  ((bare_cursor*)pCursor)->i++;
  return SQLITE_OK;
}

static int bare_eof(sqlite3_vtab_cursor *pCursor){
  bare_cursor *p = (bare_cursor*)pCursor;
  return p->i>=p->n;
}

static int bare_column(sqlite3_vtab_cursor *pCursor, sqlite3_context *pCtx, int i){
  (void)pCursor;
  if( i==COLUMN_OBJECT ) sqlite3_result_text(pCtx, zName, (int)sizeof(zName) - 1, SQLITE_STATIC);
  else sqlite3_result_int64(pCtx, 1);
  return SQLITE_OK;
}

static int bare_rowid(sqlite3_vtab_cursor *pCursor, sqlite3_int64 *pRowid){
  *pRowid = ((bare_cursor*)pCursor)->i;
  return SQLITE_OK;
}

static const sqlite3_module bare_module = {
  .xConnect = bare_connect, .xDisconnect = bare_disconnect, .xBestIndex = bare_best_index,
  .xOpen = bare_open, .xClose = bare_close, .xFilter = bare_filter, .xNext = bare_next,
  .xEof = bare_eof, .xColumn = bare_column, .xRowid = bare_rowid,
};

int sqlite3_bare_init(sqlite3 *db, char **pzErr, const sqlite3_api_routines *pApi){
  (void)pzErr;
  SQLITE_EXTENSION_INIT2(pApi);
  return sqlite3_create_module(db, "bare", &bare_module, NULL);
}
