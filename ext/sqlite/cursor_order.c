/* Rows in the order of their positions, where the files do not give them so. See cursor.h. */
#include "sqlite/cursor.h"

#include <stdlib.h>
#include "sqlite/plan.h"
#include "sqlite/statements.h"

/*
** A plan is made before it is known how many files a source names. It promises the order of
** positions for one, which costs nothing; of several, and of an object whose rows go forward alone,
** SQLite sorts the same rows within the scan:
**
**   SELECT NULL, "position", NULL, "value", rowid FROM "main"."zt_elements"(?1, ?2, ?3)
**    WHERE "position">=?4 ORDER BY +"position" DESC
*/

bool zt_cursor_lacks_order(const zt_cursor *c){
  if( !(c->plan & ZT_PLAN_ALONE) || c->eof ) return false;
  return c->scan.unordered || (!c->is_blob && zt_cursor_files(c)>1);
}

/* The name of the visible column i. */
static zt_text order_name(const zt_table *t, int i){
  const char *z = t->visible;
  for(; i>0; i--) z = strchr(z, ',')+2;
  return (zt_text){ z, strcspn(z, " ,") };
}

static void order_append_name(sqlite3_str *sql, const zt_table *t, int i){
  const zt_text name = order_name(t, i);
  sqlite3_str_appendf(sql, "\"%.*s\"", (int)name.n, name.z);
}

/* Visible columns in their places, those that nobody asks for as NULL, and the rowid. */
static void order_append_columns(sqlite3_str *sql, const zt_table *t, uint64_t used){
  for(int i=0; i<t->nVisible; i++){
    if( used>>i & 1 ) order_append_name(sql, t, i);
    else sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendall(sql, ", ");
  }
  sqlite3_str_appendall(sql, "rowid");
}

/* The conditions on positions, each with a value of its own. */
static void order_append_range(sqlite3_str *sql, const zt_table *t, int plan, int parameter){
  static const char *const operators[] = { "=", ">", ">=", "<", "<=" };
  const char *and = " WHERE ";
  for(int k=0; k<5; k++){
    if( !(plan & ZT_PLAN_EQ<<k) ) continue;
    sqlite3_str_appendall(sql, and);
    order_append_name(sql, t, t->iPosition);
    sqlite3_str_appendf(sql, "%s?%d", operators[k], ++parameter);
    and = " AND ";
  }
}

/* The statement's text; NULL: there is no memory for it. */
static char *order_text(const zt_cursor *c, uint64_t used){
  const zt_table *t = zt_cursor_table(c);
  const int parameters = 1+zt_table_arguments(t);
  sqlite3_str *sql = sqlite3_str_new(NULL);
  sqlite3_str_appendall(sql, "SELECT ");
  order_append_columns(sql, t, used);
  sqlite3_str_appendf(sql, " FROM %s(?1", ((const zt_vtab*)c->base.pVtab)->name);
  for(int i=2; i<=parameters; i++) sqlite3_str_appendf(sql, ", ?%d", i);
  sqlite3_str_appendall(sql, ")");
  order_append_range(sql, t, c->plan, parameters);
  sqlite3_str_appendall(sql, " ORDER BY +");
  order_append_name(sql, t, t->iPosition);
  if( c->plan & ZT_PLAN_DESCENDING ) sqlite3_str_appendall(sql, " DESC");
  return sqlite3_str_finish(sql);
}

static int order_bind(zt_cursor *c, sqlite3_value *source, sqlite3_value **argv){
  const int arguments = zt_table_arguments(zt_cursor_table(c));
  int n = 1, rc = source ? sqlite3_bind_value(c->sorted, n, source)
                         : sqlite3_bind_text64(c->sorted, n, c->files.source, c->files.nSource,
                                               SQLITE_TRANSIENT, SQLITE_UTF8);
  for(int i=0; i<arguments && rc==SQLITE_OK; i++){
    rc = sqlite3_bind_text(c->sorted, ++n, c->scan.argument[i], -1, SQLITE_TRANSIENT);
  }
  for(int bit=ZT_PLAN_PATH; bit<=ZT_PLAN_LE && rc==SQLITE_OK; bit<<=1){
    if( !(c->plan & bit) ) continue;
    if( bit>=ZT_PLAN_EQ ) rc = sqlite3_bind_value(c->sorted, ++n, *argv);
    argv++;
  }
  return rc;
}

/* What SQLite says is wrong is the failure of the scan, too. */
static int order_fail(zt_cursor *c, int rc){
  c->err.rc = rc;
  if( rc!=SQLITE_NOMEM ){
    c->err.message = sqlite3_mprintf("%s", sqlite3_errmsg(c->scan.connection->db));
  }
  return zt_cursor_fail(c);
}

int zt_cursor_sort(zt_cursor *c, sqlite3_value *source, sqlite3_value **argv, const char *columns){
  char *sql = order_text(c, strtoull(columns, NULL, 10));
  int rc = sql ? sqlite3_prepare_v2(c->scan.connection->db, sql, -1, &c->sorted, NULL)
               : SQLITE_NOMEM;
  sqlite3_free(sql);
  if( rc==SQLITE_OK ) rc = order_bind(c, source, argv);
  if( rc ) return order_fail(c, rc);
  zt_ahead_stop(&c->ahead);
  zt_cursor_leave_file(c);
  return zt_cursor_next_sorted(c);
}

int zt_cursor_next_sorted(zt_cursor *c){
  const int rc = sqlite3_step(c->sorted);
  if( rc==SQLITE_ROW ) return SQLITE_OK;
  if( rc!=SQLITE_DONE ) return order_fail(c, rc);
  c->eof = true;
  return SQLITE_OK;
}

/* Sorting takes away the subtype of JSON, which is what an array among the columns is. */
void zt_cursor_sorted_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const bool text = sqlite3_column_type(c->sorted, i)==SQLITE_TEXT;
  const unsigned char *z = text ? sqlite3_column_text(c->sorted, i) : NULL;
  sqlite3_result_value(ctx, sqlite3_column_value(c->sorted, i));
  if( z && z[0]=='[' && i!=zt_cursor_table(c)->iPath ) sqlite3_result_subtype(ctx, ZT_JSON_SUBTYPE);
}

sqlite3_int64 zt_cursor_sorted_rowid(const zt_cursor *c){
  return sqlite3_column_int64(c->sorted, zt_cursor_table(c)->nVisible);
}

void zt_cursor_unsort(zt_cursor *c){
  sqlite3_stmt *stmt = c->sorted;
  c->sorted = NULL;
  c->scan.unordered = false;
  if( stmt && zt_statements_have(c->scan.connection->db, stmt) ) sqlite3_finalize(stmt);
}
