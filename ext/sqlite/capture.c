/* The values of a row without a statement of the host. See capture.h. */
#include "sqlite/capture.h"

#include "sqlite/tables.h"

struct zt_capture {
  sqlite3 *db;
  sqlite3_stmt *row;
  zt_capture_calls calls;
  void *context;
};

static void capture_column(sqlite3_context *ctx, int n, sqlite3_value **value){
  zt_capture *c = sqlite3_user_data(ctx);
  (void)n;
  c->calls.column(c->context, ctx, sqlite3_value_int(value[0]));
}

static void capture_take(sqlite3_context *ctx, int n, sqlite3_value **value){
  zt_capture *c = sqlite3_user_data(ctx);
  (void)n;
  c->calls.take(c->context, ctx, value);
}

/* SELECT take(value(0), value(3)) */
static int capture_prepare(zt_capture *c, uint64_t columns){
  sqlite3_str *sql = sqlite3_str_new(c->db);
  const char *before = "SELECT take(";
  char *z;
  int rc;
  for(int i=0; i<64; i++){
    if( !(columns>>i & 1) ) continue;
    sqlite3_str_appendf(sql, "%svalue(%d)", before, i);
    before = ", ";
  }
  sqlite3_str_appendall(sql, columns ? ")" : "SELECT take()");
  z = sqlite3_str_finish(sql);
  rc = z ? sqlite3_prepare_v2(c->db, z, -1, &c->row, NULL) : SQLITE_NOMEM;
  sqlite3_free(z);
  return rc;
}

int zt_capture_open(sqlite3 *db, uint64_t columns, const zt_capture_calls *calls, void *context,
                    zt_capture **out){
  const int open = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  zt_capture *c = sqlite3_malloc64(sizeof(*c));
  const int gives = SQLITE_UTF8|ZT_RESULT_SUBTYPE, takes = SQLITE_UTF8|SQLITE_SUBTYPE;
  int rc;
  if( !c ) return SQLITE_NOMEM;
  *c = (zt_capture){ .calls = *calls, .context = context };
  rc = sqlite3_open_v2(":memory:", &c->db, open, NULL);
  if( rc==SQLITE_OK ){
    sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1));
    rc = sqlite3_create_function_v2(c->db, "value", 1, gives, c, capture_column, NULL, NULL, NULL);
  }
  if( rc==SQLITE_OK ){
    rc = sqlite3_create_function_v2(c->db, "take", -1, takes, c, capture_take, NULL, NULL, NULL);
  }
  if( rc==SQLITE_OK ) rc = capture_prepare(c, columns);
  if( rc==SQLITE_OK ) *out = c;
  else zt_capture_close(c);
  return rc;
}

int zt_capture_row(zt_capture *c){
  int rc = sqlite3_step(c->row), reset = sqlite3_reset(c->row);
  return rc==SQLITE_ROW ? reset : rc==SQLITE_DONE ? SQLITE_INTERNAL : rc;
}

void zt_capture_close(zt_capture *c){
  if( !c ) return;
  sqlite3_finalize(c->row);
  sqlite3_close(c->db);
  sqlite3_free(c);
}
