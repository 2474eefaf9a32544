/* Sorts rows if a scan does not give them in the promised order. See cursor_order.h. */
#include "sqlite/cursor_order.h"

#include <stdlib.h>
#include "sqlite/statements.h"

/*
** A plan is made before the number of files is known. It promises the order of positions, which
** costs nothing for one file. For several files, or an object whose rows only go forward, SQLite
** sorts the same rows within the scan:
**
**   SELECT NULL, "position", NULL, "value", rowid FROM "main"."zt_elements"(?1, ?2, ?3)
**    WHERE "position">=?4 ORDER BY +"position" DESC
*/

bool zt_cursor_lacks_order(const zt_cursor *c){
  if( !(c->constraints.plan & ZT_PLAN_ALONE) || c->eof ) return false;
  return c->scan.unordered || (c->arguments.source==ZT_SOURCE_TEXT
                               && zt_file_iterator_has_several(&c->files));
}

static void order_append_name(sqlite3_str *sql, const zt_table *t, int i){
  const zt_text name = zt_table_name(t, i);
  sqlite3_str_appendf(sql, "\"%.*s\"", (int)name.n, name.z);
}

/* The visible columns in their places, unused ones as NULL, and the rowid. */
static void order_append_columns(sqlite3_str *sql, const zt_table *t, uint64_t used){
  for(int i=0; i<t->nVisible; i++){
    if( used>>i & 1 ) order_append_name(sql, t, i);
    else sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendall(sql, ", ");
  }
  sqlite3_str_appendall(sql, "rowid");
}

/* The constraints on positions, each with its own parameter. */
static void order_append_range(sqlite3_str *sql, const zt_table *t, int plan, int parameter){
  static const struct { int bit; const char *z; } operators[] = {
    { ZT_PLAN_EQ, "=" }, { ZT_PLAN_GT, ">" }, { ZT_PLAN_GE, ">=" }, { ZT_PLAN_LT, "<" },
    { ZT_PLAN_LE, "<=" }
  };
  const char *and = " WHERE ";
  for(size_t k=0; k<sizeof(operators)/sizeof(*operators); k++){
    if( !(plan & operators[k].bit) ) continue;
    sqlite3_str_appendall(sql, and);
    order_append_name(sql, t, t->iPosition);
    sqlite3_str_appendf(sql, "%s?%d", operators[k].z, ++parameter);
    and = " AND ";
  }
}

/* The statement's text. NULL: out of memory. */
static char *order_text(const zt_cursor *c, uint64_t used){
  const zt_table *t = c->scan.table;
  const int parameters = 1+zt_table_arguments(t);
  sqlite3_str *sql = sqlite3_str_new(NULL);
  sqlite3_str_appendall(sql, "SELECT ");
  order_append_columns(sql, t, used);
  sqlite3_str_appendf(sql, " FROM %s(?1", ((const zt_vtab*)c->base.pVtab)->name);
  for(int i=2; i<=parameters; i++) sqlite3_str_appendf(sql, ", ?%d", i);
  sqlite3_str_appendall(sql, ")");
  order_append_range(sql, t, c->constraints.plan, parameters);
  sqlite3_str_appendall(sql, " ORDER BY +");
  order_append_name(sql, t, t->iPosition);
  if( c->constraints.plan & ZT_PLAN_DESCENDING ) sqlite3_str_appendall(sql, " DESC");
  return sqlite3_str_finish(sql);
}

static int order_bind(zt_cursor *c, const zt_plan_values *values){
  sqlite3_value *source = zt_plan_value(values, ZT_PLAN_SOURCE);
  const int arguments = zt_table_arguments(c->scan.table);
  const zt_files *f = &c->files.files;
  int n = 1, rc = source ? sqlite3_bind_value(c->sorter, n, source)
                         : sqlite3_bind_text64(c->sorter, n, f->source, f->nSource,
                                               SQLITE_TRANSIENT, SQLITE_UTF8);
  for(int i=0; i<arguments && rc==SQLITE_OK; i++){
    rc = sqlite3_bind_text(c->sorter, ++n, c->scan.argument[i], -1, SQLITE_TRANSIENT);
  }
  for(int bit=ZT_PLAN_EQ; bit<=ZT_PLAN_LE && rc==SQLITE_OK; bit<<=1){
    if( c->constraints.plan & bit ) rc = sqlite3_bind_value(c->sorter, ++n,
                                                            zt_plan_value(values, bit));
  }
  return rc;
}

/* SQLite's error becomes the failure of the scan. */
static int order_fail(zt_cursor *c, int rc){
  c->err.rc = rc;
  if( rc!=SQLITE_NOMEM ){
    c->err.message = sqlite3_mprintf("%s", sqlite3_errmsg(c->scan.connection->db));
  }
  return rc;
}

int zt_cursor_sort(zt_cursor *c, const zt_plan_values *values, const char *columns){
  char *sql = order_text(c, strtoull(columns, NULL, 10));
  int rc = sql ? sqlite3_prepare_v2(c->scan.connection->db, sql, -1, &c->sorter, NULL)
               : SQLITE_NOMEM;
  sqlite3_free(sql);
  if( rc==SQLITE_OK ) rc = order_bind(c, values);
  if( rc ) return order_fail(c, rc);
  zt_cursor_rewind(c);
  zt_cursor_leave_file(c);
  c->from = ZT_ROWS_FROM_SORTER;
  return zt_cursor_next_sorted(c);
}

int zt_cursor_next_sorted(zt_cursor *c){
  const int rc = sqlite3_step(c->sorter);
  if( rc==SQLITE_ROW ) return SQLITE_OK;
  if( rc!=SQLITE_DONE ) return order_fail(c, rc);
  c->eof = true;
  return SQLITE_OK;
}

/* Sorting drops the JSON subtype, which arrays among the columns have: restore it. */
void zt_cursor_sorted_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const unsigned char *z = NULL;
  if( i>=c->scan.table->nVisible ){
    zt_cursor_column(c, ctx, i);
    return;
  }
  if( sqlite3_column_type(c->sorter, i)==SQLITE_TEXT ) z = sqlite3_column_text(c->sorter, i);
  sqlite3_result_value(ctx, sqlite3_column_value(c->sorter, i));
  if( z && z[0]=='[' && i!=c->scan.table->iPath ) sqlite3_result_subtype(ctx, ZT_JSON_SUBTYPE);
}

sqlite3_int64 zt_cursor_sorted_rowid(const zt_cursor *c){
  return sqlite3_column_int64(c->sorter, c->scan.table->nVisible);
}

void zt_cursor_unsort(zt_cursor *c){
  sqlite3_stmt *stmt = c->sorter;
  c->sorter = NULL;
  c->scan.unordered = false;
  if( stmt && zt_statements_have(c->scan.connection->db, stmt) ) sqlite3_finalize(stmt);
}
