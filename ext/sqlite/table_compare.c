/*
** zt_compare(source, object, other_source, other_object): one row: the distance between two tensors
** of equal shape, whatever their containers, layouts and dtypes.
**
**   elements         number of pairs
**   equal            number of pairs that are equal (-0 equals 0)
**   nans             number of pairs with a NaN; all columns below leave these pairs out
**   max_abs, mean_abs, rmse
**                    max, mean and root mean square of the absolute differences; NULL if there are
**                    no pairs
**   l2, other_l2     the norm of each tensor: the root of the sum of squares
**   dot, cosine      dot product and cosine of the two tensors as vectors; cosine is NULL if a norm
**                    is 0 or infinite
**   error            the reason why there is no comparison: shapes that differ, or missing values;
**                    the other columns are then NULL
**
** Values are compared as f64; integers are compared exactly with integers. There is no row if an
** argument is NULL. The tensors are read when a column is selected. The table does not use the
** frame, whose tables have one source.
**
** Bit k of idxNum is set if the query gives argument k. argv has these arguments in their order.
** The others are those of CREATE VIRTUAL TABLE.
*/
#include "sqlite/module.h"
#include "sqlite/tables.h"
#include "sqlite/target.h"
#include "tensor/compare.h"

enum {
  COMPARE_TABLE_ELEMENTS, COMPARE_TABLE_EQUAL, COMPARE_TABLE_NANS, COMPARE_TABLE_MAX,
  COMPARE_TABLE_MEAN, COMPARE_TABLE_RMSE, COMPARE_TABLE_L2, COMPARE_TABLE_OTHER_L2,
  COMPARE_TABLE_DOT, COMPARE_TABLE_COSINE, COMPARE_TABLE_ERROR, COMPARE_TABLE_SOURCE,
  COMPARE_TABLE_OBJECT, COMPARE_TABLE_OTHER_SOURCE, COMPARE_TABLE_OTHER_OBJECT
};
#define COMPARE_TABLE_ARGUMENTS 4
#define COMPARE_TABLE_COST 1e9   /* Reading two tensors costs more than any manifest */
#define COMPARE_TABLE_NEVER 1e99

static const zt_module_names compare_table_names = {
  "zt_compare", { "source", "object", "other_source", "other_object" }, COMPARE_TABLE_ARGUMENTS
};

typedef struct compare_table {
  sqlite3_vtab base;           /* First: SQLite's part */
  zt_connection *connection;   /* Borrowed: the module outlives its tables */
  sqlite3_value *given[COMPARE_TABLE_ARGUMENTS];   /* By CREATE VIRTUAL TABLE; owned, NULL: not */
} compare_table;

typedef struct compare_table_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  sqlite3_value *argument[COMPARE_TABLE_ARGUMENTS];   /* Owned; NULL before xFilter */
  bool eof;
  bool done;                   /* The next fields are set: */
  zt_error err;                /* Why there is no comparison */
  zt_comparison comparison;
} compare_table_cursor;

static int compare_table_disconnect(sqlite3_vtab *p){
  compare_table *t = (compare_table*)p;
  for(int k=0; k<COMPARE_TABLE_ARGUMENTS; k++) sqlite3_value_free(t->given[k]);
  sqlite3_free(t);
  return SQLITE_OK;
}

/* Only a statement makes a value of a text. */
static int compare_table_value(sqlite3 *db, const char *text, sqlite3_value **out, zt_error *err){
  sqlite3_stmt *stmt = NULL;
  if( sqlite3_prepare_v2(db, "SELECT ?1", -1, &stmt, NULL)==SQLITE_OK
   && sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC)==SQLITE_OK
   && sqlite3_step(stmt)==SQLITE_ROW ) *out = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
  sqlite3_finalize(stmt);
  return *out ? SQLITE_OK : zt_fail_nomem(err);
}

static int compare_table_take_all(compare_table *t, sqlite3 *db, int argc, const char *const *argv,
                                  zt_error *err){
  char *texts[COMPARE_TABLE_ARGUMENTS] = { NULL };
  zt_module_take_all(&compare_table_names, argc, argv, texts, err);
  for(int k=0; k<COMPARE_TABLE_ARGUMENTS; k++){
    if( texts[k] && !err->rc ) compare_table_value(db, texts[k], &t->given[k], err);
    sqlite3_free(texts[k]);
  }
  return err->rc;
}

static int compare_table_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                                 sqlite3_vtab **out, char **message){
  int rc = zt_module_connect_plain(
    db, "CREATE TABLE x(elements INTEGER, equal INTEGER, nans INTEGER, max_abs REAL,"
        " mean_abs REAL, rmse REAL, l2 REAL, other_l2 REAL, dot REAL, cosine REAL, error TEXT,"
        " source BLOB HIDDEN, object TEXT HIDDEN, other_source BLOB HIDDEN,"
        " other_object TEXT HIDDEN)", SQLITE_VTAB_DIRECTONLY, sizeof(compare_table), out);
  zt_error err = ZT_ERROR_NONE;
  compare_table *t;
  if( rc ) return rc;
  t = (compare_table*)*out;
  t->connection = client;
  compare_table_take_all(t, db, argc, argv, &err);
  *message = err.message;
  if( err.rc==SQLITE_OK ) return SQLITE_OK;
  *out = NULL;
  compare_table_disconnect(&t->base);
  return err.rc;
}

/* Return the first usable constraint on argument k, or -1. *given: there is one, usable or not. */
static int compare_table_term(const sqlite3_index_info *info, int k, bool *given){
  *given = false;
  for(int i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn!=COMPARE_TABLE_SOURCE+k
     || info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ ) continue;
    *given = true;
    if( info->aConstraint[i].usable ) return i;
  }
  return -1;
}

/* If only unusable constraints give an argument, another order of the joined tables may work. A
** missing argument is an error only in xFilter, because SQLite also asks for plans that it does not
** use. */
static int compare_table_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  const compare_table *t = (const compare_table*)p;
  int n = 0, given_before = 0;
  info->idxNum = 0;
  for(int k=0; k<COMPARE_TABLE_ARGUMENTS; k++){
    bool given;
    int i = compare_table_term(info, k, &given);
    if( i<0 && given ) return SQLITE_CONSTRAINT;
    if( i<0 ){
      given_before += t->given[k]!=NULL;
      continue;
    }
    info->idxNum |= 1<<k;
    info->aConstraintUsage[i].argvIndex = ++n;
    info->aConstraintUsage[i].omit = 1;
  }
  info->estimatedRows = 1;
  info->estimatedCost = COMPARE_TABLE_NEVER;
  if( n+given_before<COMPARE_TABLE_ARGUMENTS ) return SQLITE_OK;
  info->estimatedCost = COMPARE_TABLE_COST;
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return SQLITE_OK;
}

static int compare_table_open(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  const int rc = zt_module_open_plain(sizeof(compare_table_cursor), out);
  if( rc==SQLITE_OK ) zt_connection_enter(((compare_table*)p)->connection);
  return rc;
}

static void compare_table_clear(compare_table_cursor *c){
  for(int k=0; k<COMPARE_TABLE_ARGUMENTS; k++){
    sqlite3_value_free(c->argument[k]);
    c->argument[k] = NULL;
  }
  zt_error_clear(&c->err);
  c->err = ZT_ERROR_NONE;   /* Its place referred to closed files */
  c->done = false;
}

static int compare_table_close(sqlite3_vtab_cursor *p){
  compare_table_cursor *c = (compare_table_cursor*)p;
  compare_table_clear(c);
  zt_connection_leave(((compare_table*)p->pVtab)->connection);
  sqlite3_free(c);
  return SQLITE_OK;
}

static int compare_table_fail_usage(sqlite3_vtab *p){
  sqlite3_free(p->zErrMsg);
  p->zErrMsg = sqlite3_mprintf(
    "ztensor: zt_compare needs two sources and objects: SELECT * FROM zt_compare('a.zt',"
    " 'layer.weight', 'b.zt', 'layer.weight')");
  return p->zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int compare_table_filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc,
                                sqlite3_value **argv){
  compare_table_cursor *c = (compare_table_cursor*)p;
  const compare_table *t = (const compare_table*)p->pVtab;
  (void)unused;
  (void)argc;
  compare_table_clear(c);
  c->eof = false;
  for(int k=0, n=0; k<COMPARE_TABLE_ARGUMENTS; k++){
    const bool in_query = plan>>k & 1;
    if( !in_query && !t->given[k] ) return compare_table_fail_usage(p->pVtab);
    c->argument[k] = sqlite3_value_dup(in_query ? argv[n++] : t->given[k]);
    if( !c->argument[k] ) return SQLITE_NOMEM;
    if( sqlite3_value_type(c->argument[k])==SQLITE_NULL ) c->eof = true;
  }
  return SQLITE_OK;
}

static int compare_table_next(sqlite3_vtab_cursor *p){
  ((compare_table_cursor*)p)->eof = true;
  return SQLITE_OK;
}

static int compare_table_eof(sqlite3_vtab_cursor *p){
  return ((compare_table_cursor*)p)->eof;
}

/* Open the file of argument k and its tensor. */
static int compare_table_open_tensor(compare_table_cursor *c, int k, zt_target *target,
                                     zt_budget *budget, zt_tensor *out, zt_error *err){
  zt_connection *connection = ((compare_table*)c->base.pVtab)->connection;
  *err = ZT_ERROR_NONE;
  return zt_target_open(connection, c->argument[k], true, target, err)
      || zt_target_object(target, c->argument[k+1], err) ? err->rc
       : zt_target_tensor(target, budget, out, err);
}

/* Compare the tensors, once, or record why there is no comparison. */
static void compare_table_compute(compare_table_cursor *c){
  zt_budget budget = zt_connection_budget(((compare_table*)c->base.pVtab)->connection);
  zt_budget budgets[2] = { budget, budget };
  zt_target target[2] = { { 0 } };
  zt_tensor tensor[2] = { { 0 } };
  if( c->done ) return;
  c->done = true;
  for(int i=0; i<2 && !c->err.rc; i++){
    compare_table_open_tensor(c, 2*i, &target[i], &budgets[i], &tensor[i], &c->err);
  }
  if( !c->err.rc ) zt_compare(&tensor[0], &tensor[1], &c->comparison, &c->err);
  for(int i=0; i<2; i++){
    zt_tensor_close(&tensor[i]);
    zt_target_close(&target[i]);
  }
}

static void compare_table_result(const zt_comparison *r, sqlite3_context *ctx, int i){
  switch( i ){
    case COMPARE_TABLE_ELEMENTS: zt_result_uint(ctx, r->elements); return;
    case COMPARE_TABLE_EQUAL:    zt_result_uint(ctx, r->equal); return;
    case COMPARE_TABLE_NANS:     zt_result_uint(ctx, r->nans); return;
    default: break;
  }
  if( r->pairs==0 ) return;
  switch( i ){
    case COMPARE_TABLE_MAX:      sqlite3_result_double(ctx, r->max_abs); break;
    case COMPARE_TABLE_MEAN:     sqlite3_result_double(ctx, r->mean_abs); break;
    case COMPARE_TABLE_RMSE:     sqlite3_result_double(ctx, r->rmse); break;
    case COMPARE_TABLE_L2:       sqlite3_result_double(ctx, r->l2); break;
    case COMPARE_TABLE_OTHER_L2: sqlite3_result_double(ctx, r->other_l2); break;
    case COMPARE_TABLE_DOT:      sqlite3_result_double(ctx, r->dot); break;
    case COMPARE_TABLE_COSINE:   if( r->has_cosine ) sqlite3_result_double(ctx, r->cosine); break;
    default: break;
  }
}

static int compare_table_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  compare_table_cursor *c = (compare_table_cursor*)p;
  if( i==COMPARE_TABLE_OBJECT || i==COMPARE_TABLE_OTHER_OBJECT ){
    return zt_result_as_text(ctx, c->argument[i-COMPARE_TABLE_SOURCE]);
  }
  if( i>=COMPARE_TABLE_SOURCE ){
    sqlite3_result_value(ctx, c->argument[i-COMPARE_TABLE_SOURCE]);
    return SQLITE_OK;
  }
  compare_table_compute(c);
  if( zt_result_ends(ctx, c->err.rc) ) return SQLITE_OK;
  if( i!=COMPARE_TABLE_ERROR ){
    if( !c->err.rc ) compare_table_result(&c->comparison, ctx, i);
  }else if( c->err.rc ){
    sqlite3_result_text(ctx, c->err.message, -1, SQLITE_TRANSIENT);
  }
  return SQLITE_OK;
}

static int compare_table_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  *out = zt_module_rowid(((compare_table_cursor*)p)->argument, COMPARE_TABLE_ARGUMENTS);
  return SQLITE_OK;
}

/* xCreate is xConnect: the table is eponymous, and CREATE VIRTUAL TABLE can give it a name, too. */
const zt_module zt_module_compare = { "zt_compare", {
  .iVersion = 0,
  .xCreate = compare_table_connect,
  .xConnect = compare_table_connect,
  .xBestIndex = compare_table_best_index,
  .xDisconnect = compare_table_disconnect,
  .xDestroy = compare_table_disconnect,
  .xOpen = compare_table_open,
  .xClose = compare_table_close,
  .xFilter = compare_table_filter,
  .xNext = compare_table_next,
  .xEof = compare_table_eof,
  .xColumn = compare_table_column,
  .xRowid = compare_table_rowid,
} };
