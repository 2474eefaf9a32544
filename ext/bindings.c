/* Functions of the library for programs that call C. See bindings.h. */
#include "bindings.h"

#include "sqlite/dense_into.h"

/* Return what SQLite says of its last failure, in *message. */
static int bindings_fail(sqlite3 *db, int rc, char **message){
  rc &= 0xff;
  *message = rc==SQLITE_NOMEM ? NULL : sqlite3_mprintf("%s", sqlite3_errmsg(db));
  return *message || rc==SQLITE_NOMEM ? rc : SQLITE_NOMEM;
}

static int bindings_refuse(char *text, char **message){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* Bind a value, which outlives the statement. */
static int bindings_bind(sqlite3_stmt *stmt, int i, const zt_binding *value){
  const void *bytes = value->bytes ? value->bytes : "";
  sqlite3_uint64 n = (sqlite3_uint64)value->nBytes;
  switch( value->type ){
    case SQLITE_INTEGER: return sqlite3_bind_int64(stmt, i, value->integer);
    case SQLITE_FLOAT: return sqlite3_bind_double(stmt, i, value->real);
    case SQLITE_TEXT: return sqlite3_bind_text64(stmt, i, bytes, n, SQLITE_STATIC, SQLITE_UTF8);
    case SQLITE_BLOB: return sqlite3_bind_blob64(stmt, i, bytes, n, SQLITE_STATIC);
    default: return sqlite3_bind_null(stmt, i);
  }
}

/* The value of parameter i; NULL: there is none. */
static const zt_binding *bindings_find(sqlite3_stmt *stmt, int i, int n, const zt_binding *values){
  const char *name = sqlite3_bind_parameter_name(stmt, i);
  if( n==0 ) return NULL;
  if( !values[0].name ) return i<=n ? &values[i-1] : NULL;
  for(int v=0; name && v<n; v++) if( strcmp(values[v].name, name+1)==0 ) return &values[v];
  return NULL;
}

static int bindings_bind_all(sqlite3_stmt *stmt, int n, const zt_binding *values, char **message){
  int parameters = sqlite3_bind_parameter_count(stmt);
  if( n>0 && !values[0].name && n!=parameters ){
    return bindings_refuse(sqlite3_mprintf("the SQL has %d parameters, and %d values are given",
                                           parameters, n), message);
  }
  for(int i=1; i<=parameters; i++){
    const zt_binding *value = bindings_find(stmt, i, n, values);
    const char *name = sqlite3_bind_parameter_name(stmt, i);
    int rc;
    if( !value ){
      return bindings_refuse(sqlite3_mprintf("there is no value for parameter %s",
                                             name ? name : "?"), message);
    }
    rc = bindings_bind(stmt, i, value);
    if( rc ) return bindings_fail(sqlite3_db_handle(stmt), rc, message);
  }
  return SQLITE_OK;
}

/* Prepare the one statement of a text. */
static int bindings_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, char **message){
  sqlite3_stmt *more = NULL;
  const char *rest = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, out, &rest);
  *message = NULL;
  if( rc ) return bindings_fail(db, rc, message);
  if( !*out || sqlite3_column_count(*out)==0 ){
    return bindings_refuse(sqlite3_mprintf("the SQL gives no rows"), message);
  }
  rc = sqlite3_prepare_v2(db, rest, -1, &more, NULL);
  sqlite3_finalize(more);
  if( rc==SQLITE_NOMEM || (rc==SQLITE_OK && !more) ) return rc;
  return bindings_refuse(sqlite3_mprintf("the SQL is more than one statement"), message);
}

int sqlite3_ztensor_arrow(sqlite3 *db, const char *sql, int nBinding, const zt_binding *bindings,
                          struct ArrowArrayStream *out, char **message){
  sqlite3_stmt *stmt = NULL;
  int rc = bindings_prepare(db, sql, &stmt, message);
  out->release = NULL;
  if( rc==SQLITE_OK ) rc = bindings_bind_all(stmt, nBinding, bindings, message);
  if( rc==SQLITE_OK ) rc = zt_arrow_run(stmt, out, message);
  sqlite3_finalize(stmt);
  return rc;
}

int sqlite3_ztensor_dense(sqlite3 *db, const zt_binding *source, const zt_binding *object,
                          const char *dtype, int64_t first, int64_t count, void *array, int64_t n,
                          char **message){
  zt_dense_into into = { { dtype, dtype ? strlen(dtype) : 0 }, array, (uint64_t)n };
  sqlite3_stmt *stmt = NULL;
  int rc = bindings_prepare(db, count<0 ? "SELECT zt_dense(?1, ?2, ?3)"
                                        : "SELECT zt_dense(?1, ?2, ?3, ?4, ?5)", &stmt, message);
  if( rc ){
    sqlite3_finalize(stmt);
    return rc;
  }
  rc = bindings_bind(stmt, 1, source);
  if( rc==SQLITE_OK ) rc = bindings_bind(stmt, 2, object);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_pointer(stmt, 3, &into, ZT_DENSE_INTO, NULL);
  if( rc==SQLITE_OK && count>=0 ) rc = sqlite3_bind_int64(stmt, 4, first);
  if( rc==SQLITE_OK && count>=0 ) rc = sqlite3_bind_int64(stmt, 5, count);
  if( rc==SQLITE_OK ) rc = sqlite3_step(stmt);
  rc = rc==SQLITE_ROW ? SQLITE_OK : bindings_fail(db, rc, message);
  sqlite3_finalize(stmt);
  return rc;
}

void sqlite3_ztensor_free(void *p){
  sqlite3_free(p);
}
