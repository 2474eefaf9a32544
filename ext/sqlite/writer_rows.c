/* The rows of a writer in a table of SQLite's. See writer_rows.h. */
#include "sqlite/writer_rows.h"

#include "core/host.h"
#include "sqlite/value.h"

/* Columns of the table, in the order of ZT_STORED_. The marks have an owner without bytes. */
#define ROWS_COLUMNS "name, source, object, data, dtype, shape, format," \
  " component, encoding, level, digest, key, value, type, stored_type, owner, part," \
  " source_number, offset, length, loaded, kept, bytes, shown_dtype, shown_shape, shown_format," \
  " shown_encoding"
#define ROWS_SCHEMA "id INTEGER PRIMARY KEY, " ROWS_COLUMNS ", UNIQUE(owner, part)"
#define ROWS_NAMES "(id, " ROWS_COLUMNS ")"
#define ROWS_VALUES "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18," \
  "?19,?20,?21,?22,?23,?24,?25,?26,?27,?28)"

enum {
  ROWS_INSERT, ROWS_PUT, ROWS_UPDATE, ROWS_UPDATE_PUT, ROWS_DELETE, ROWS_GET, ROWS_OTHER,
  ROWS_TENSORS, ROWS_ATTRIBUTES, ROWS_MARKED, ROWS_MARK, ROWS_EMPTY, ROWS_CLEAR, ROWS_STATEMENTS
};

static const char *const rows_sql[ROWS_STATEMENTS] = {
  [ROWS_INSERT] = "INSERT INTO temp.\"%w_zt\" VALUES" ROWS_VALUES,
  [ROWS_PUT] = "INSERT OR REPLACE INTO temp.\"%w_zt\" VALUES" ROWS_VALUES,
  [ROWS_UPDATE] = "UPDATE temp.\"%w_zt\" SET" ROWS_NAMES "=" ROWS_VALUES "WHERE id=?29",
  [ROWS_UPDATE_PUT] = "UPDATE OR REPLACE temp.\"%w_zt\" SET" ROWS_NAMES "=" ROWS_VALUES
    "WHERE id=?29",
  [ROWS_DELETE] = "DELETE FROM temp.\"%w_zt\" WHERE id=?1",
  [ROWS_GET] = "SELECT * FROM temp.\"%w_zt\" WHERE id=?1",
  [ROWS_OTHER] = "SELECT * FROM temp.\"%w_zt\" WHERE owner=?1 AND part>='C' AND id<>?2 LIMIT 1",
  [ROWS_TENSORS] = "SELECT * FROM temp.\"%w_zt\" WHERE owner<>x'' AND part>='C' ORDER BY id",
  [ROWS_ATTRIBUTES] = "SELECT * FROM temp.\"%w_zt\" WHERE owner<>x'' AND part<'C' ORDER BY id",
  [ROWS_MARKED] = "SELECT 1 FROM temp.\"%w_zt\" WHERE owner=x'' AND part=?1",
  [ROWS_MARK] = "INSERT OR IGNORE INTO temp.\"%w_zt\"(id,owner,part) VALUES(?2,x'',?1)",
  [ROWS_EMPTY] = "SELECT 1 FROM temp.\"%w_zt\" WHERE owner<>x'' LIMIT 1",
  [ROWS_CLEAR] = "DELETE FROM temp.\"%w_zt\""
};

struct zt_writer_rows {
  sqlite3 *db;
  char *name;                    /* Owned */
  uint8_t *place;                /* Owner and part of the row that is being stored. Owned */
  uint64_t capacity;
  sqlite3_stmt *a[ROWS_STATEMENTS];
};

static int rows_execute(zt_writer_rows *r, const char *format, char **message){
  char *sql = sqlite3_mprintf(format, r->name);
  int rc = sql ? sqlite3_exec(r->db, sql, NULL, NULL, message) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return rc;
}

int zt_writer_rows_open(sqlite3 *db, const char *name, bool create, zt_writer_rows **out,
                        char **message){
  zt_writer_rows *r = sqlite3_malloc64(sizeof(*r));
  int rc = SQLITE_OK;
  *out = NULL;
  if( !r ) return SQLITE_NOMEM;
  *r = (zt_writer_rows){ .db = db, .name = sqlite3_mprintf("%s", name) };
  if( !r->name ) rc = SQLITE_NOMEM;
  else if( create ) rc = rows_execute(r, "CREATE TABLE temp.\"%w_zt\"(" ROWS_SCHEMA ")", message);
  if( rc ) zt_writer_rows_close(r);
  else *out = r;
  return rc;
}

sqlite3 *zt_writer_rows_db(const zt_writer_rows *r){
  return r->db;
}

const char *zt_writer_rows_name(const zt_writer_rows *r){
  return r->name;
}

static void rows_finalize(zt_writer_rows *r){
  for(int i=0; i<ROWS_STATEMENTS; i++){
    sqlite3_finalize(r->a[i]);
    r->a[i] = NULL;
  }
}

int zt_writer_rows_drop(zt_writer_rows *r){
  rows_finalize(r);
  return rows_execute(r, "DROP TABLE IF EXISTS temp.\"%w_zt\"", NULL);
}

void zt_writer_rows_close(zt_writer_rows *r){
  if( !r ) return;
  rows_finalize(r);
  sqlite3_free(r->name);
  sqlite3_free(r->place);
  sqlite3_free(r);
}

int zt_writer_rows_prepare(zt_writer_rows *r){
  int rc = SQLITE_OK;
  for(int i=0; i<ROWS_STATEMENTS && rc==SQLITE_OK; i++){
    char *sql;
    if( r->a[i] ) continue;
    sql = sqlite3_mprintf(rows_sql[i], r->name);
    rc = sql ? sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &r->a[i], NULL)
       : SQLITE_NOMEM;
    sqlite3_free(sql);
  }
  return rc;
}

/* Run a statement that gives no rows. */
static int rows_run(sqlite3_stmt *s){
  sqlite3_step(s);
  return sqlite3_reset(s);
}

/* --- Places --- */

/* The owner of a name, of name.n+1 bytes: one that tells objects from the file, and the name. */
static void rows_put_owner(zt_text name, uint8_t *out){
  out[0] = name.z!=NULL;
  if( name.z ) memcpy(out+1, name.z, name.n);
}

/* Bind an owner to a statement that stays. */
static int rows_bind_owner(sqlite3_stmt *s, int i, zt_text name){
  uint8_t *owner = sqlite3_malloc64((uint64_t)name.n+1);
  if( !owner ) return SQLITE_NOMEM;
  rows_put_owner(name, owner);
  return sqlite3_bind_blob64(s, i, owner, (uint64_t)name.n+1, sqlite3_free);
}

static bool rows_reserve(zt_writer_rows *r, uint64_t n){
  uint8_t *place = n<=r->capacity ? r->place : sqlite3_realloc64(r->place, n);
  if( !place ) return false;
  r->place = place;
  if( n>r->capacity ) r->capacity = n;
  return true;
}

/* Bind owner and part, which stay until the next call. */
static int rows_bind_place(zt_writer_rows *r, sqlite3_stmt *s, const zt_row *row){
  const bool attribute = row->from==ZT_ROW_FROM_ATTRIBUTE;
  const bool component = row->from==ZT_ROW_FROM_DATA && row->layout!=ZT_LAYOUT_DENSE;
  const zt_text rest = attribute ? row->key : component ? row->role : ZT_TEXT("");
  const uint64_t owner = (uint64_t)row->name.n+1, part = (uint64_t)rest.n+1;
  char *text;
  int rc;
  if( !rows_reserve(r, owner+part) ) return SQLITE_NOMEM;
  text = (char*)r->place+owner;
  rows_put_owner(row->name, r->place);
  text[0] = (char)(attribute ? 'A' : component ? 'C' : 'T');
  if( rest.n ) memcpy(text+1, rest.z, rest.n);
  rc = sqlite3_bind_blob64(s, ZT_STORED_OWNER+1, r->place, owner, SQLITE_STATIC);
  return rc ? rc : sqlite3_bind_text64(s, ZT_STORED_PART+1, text, part, SQLITE_STATIC,
                                       SQLITE_UTF8);
}

/* These leave NULL to parameters that were cleared. Texts are the caller's until the statement has
** run. */

static int rows_bind_text(sqlite3_stmt *s, int i, zt_text text){
  return text.z ? sqlite3_bind_text64(s, i, text.z, text.n, SQLITE_STATIC, SQLITE_UTF8) : SQLITE_OK;
}

static int rows_bind_number(sqlite3_stmt *s, int i, sqlite3_int64 n){
  return n<0 ? SQLITE_OK : sqlite3_bind_int64(s, i, n);
}

static int rows_bind_value(sqlite3_stmt *s, int i, sqlite3_value *value){
  zt_text text;
  switch( value ? sqlite3_value_type(value) : SQLITE_NULL ){
    case SQLITE_NULL: return SQLITE_OK;
    case SQLITE_TEXT:
      text = zt_value_text(value);
      return text.z ? rows_bind_text(s, i, text) : SQLITE_NOMEM;
    default: return sqlite3_bind_value(s, i, value);
  }
}

static int rows_bind_columns(sqlite3_stmt *s, sqlite3_value **columns){
  int rc = SQLITE_OK;
  for(int i=0; i<ZT_ROW_COLUMNS && rc==SQLITE_OK; i++){
    const bool image = i==ZT_ROW_SOURCE && columns[i]
      && sqlite3_value_type(columns[i])==SQLITE_BLOB;
    if( i!=ZT_ROW_DATA && !image ) rc = rows_bind_value(s, ZT_STORED_COLUMNS+i+1, columns[i]);
  }
  return rc;
}

/* Bind all columns of a row; parameter i+1 is column i. */
static int rows_bind(zt_writer_rows *r, sqlite3_stmt *s, const zt_stored_row *row){
  int rc = row->id ? sqlite3_bind_int64(s, ZT_STORED_ID+1, row->id)
         : sqlite3_bind_null(s, ZT_STORED_ID+1);
  if( rc ) return rc;
  if( (rc = rows_bind_columns(s, row->columns))!=0
   || (rc = rows_bind_place(r, s, row->row))!=0
   || (rc = rows_bind_number(s, ZT_STORED_SOURCE+1, row->source))!=0
   || (rc = rows_bind_number(s, ZT_STORED_OFFSET+1, row->offset))!=0
   || (rc = rows_bind_number(s, ZT_STORED_LENGTH+1, row->length))!=0
   || (rc = sqlite3_bind_int(s, ZT_STORED_LOADED+1, row->loaded))!=0
   || (rc = sqlite3_bind_int(s, ZT_STORED_KEPT+1, row->kept))!=0 ) return rc;
  if( row->row->from!=ZT_ROW_FROM_ATTRIBUTE && row->bytes!=ZT_DRAFT_UNKNOWN
   && (rc = sqlite3_bind_int64(s, ZT_STORED_BYTES+1, (sqlite3_int64)row->bytes))!=0 ) return rc;
  if( (rc = sqlite3_bind_text(s, ZT_STORED_DTYPE+1, row->dtype, -1, SQLITE_STATIC))!=0
   || (rc = rows_bind_text(s, ZT_STORED_SHAPE+1, row->shape))!=0
   || (rc = rows_bind_text(s, ZT_STORED_FORMAT+1, row->format))!=0 ) return rc;
  return rows_bind_text(s, ZT_STORED_ENCODING+1, row->encoding);
}

/* --- Rows --- */

int zt_stored_shown(int column){
  switch( column ){
    case ZT_ROW_DTYPE: return ZT_STORED_DTYPE;
    case ZT_ROW_SHAPE: return ZT_STORED_SHAPE;
    case ZT_ROW_FORMAT: return ZT_STORED_FORMAT;
    default: return ZT_STORED_COLUMNS+column;
  }
}

int zt_writer_rows_store(zt_writer_rows *r, const zt_stored_row *row, sqlite3_int64 old,
                         bool replace, sqlite3_int64 *id){
  sqlite3_stmt *s = r->a[(old ? ROWS_UPDATE : ROWS_INSERT) + (replace ? 1 : 0)];
  int rc = rows_bind(r, s, row);
  if( rc==SQLITE_OK && old ) rc = sqlite3_bind_int64(s, ZT_STORED_COUNT+1, old);
  if( rc==SQLITE_OK ) rc = rows_run(s);
  else sqlite3_reset(s);
  sqlite3_clear_bindings(s);
  if( rc==SQLITE_OK && !old ) *id = sqlite3_last_insert_rowid(r->db);
  return rc;
}

int zt_writer_rows_delete(zt_writer_rows *r, sqlite3_int64 id){
  const int rc = sqlite3_bind_int64(r->a[ROWS_DELETE], 1, id);
  return rc ? rc : rows_run(r->a[ROWS_DELETE]);
}

/* Step to a row; NULL: none, and the statement is reset. */
static sqlite3_stmt *rows_step(sqlite3_stmt *s, int *rc){
  if( sqlite3_step(s)==SQLITE_ROW ){
    *rc = SQLITE_OK;
    return s;
  }
  *rc = sqlite3_reset(s);
  return NULL;
}

void zt_writer_rows_reset(zt_writer_rows *r){
  sqlite3_reset(r->a[ROWS_GET]);
  sqlite3_reset(r->a[ROWS_OTHER]);
  sqlite3_reset(r->a[ROWS_TENSORS]);
  sqlite3_reset(r->a[ROWS_ATTRIBUTES]);
}

sqlite3_stmt *zt_writer_rows_get(zt_writer_rows *r, sqlite3_int64 id, int *rc){
  sqlite3_stmt *s = r->a[ROWS_GET];
  sqlite3_reset(s);
  *rc = sqlite3_bind_int64(s, 1, id);
  return *rc ? NULL : rows_step(s, rc);
}

sqlite3_stmt *zt_writer_rows_other(zt_writer_rows *r, zt_text object, sqlite3_int64 not, int *rc){
  sqlite3_stmt *s = r->a[ROWS_OTHER];
  sqlite3_reset(s);
  *rc = rows_bind_owner(s, 1, object);
  if( *rc==SQLITE_OK ) *rc = sqlite3_bind_int64(s, 2, not);
  return *rc ? NULL : rows_step(s, rc);
}

sqlite3_stmt *zt_writer_rows_next(zt_writer_rows *r, bool attributes, bool begin, int *rc){
  sqlite3_stmt *s = r->a[attributes ? ROWS_ATTRIBUTES : ROWS_TENSORS];
  if( begin ) sqlite3_reset(s);
  return rows_step(s, rc);
}

int zt_writer_rows_touch(zt_writer_rows *r){
  return rows_execute(r, "DELETE FROM temp.\"%w\" WHERE 0", NULL);
}

/* The name of an owner as a parameter; no object has NULL or a BLOB. */
static int rows_bind_name(sqlite3_stmt *s, sqlite3_value *name){
  const zt_text text = zt_value_text(name);
  const int type = sqlite3_value_type(name);
  if( !text.z && type!=SQLITE_NULL && type!=SQLITE_BLOB ) return SQLITE_NOMEM;
  return rows_bind_owner(s, 1, text);
}

int zt_writer_rows_select(zt_writer_rows *r, zt_writer_plan plan, sqlite3_value *value,
                          sqlite3_stmt **out){
  static const char *const where[] = {
    [ZT_WRITER_ALL] = "owner<>x''", [ZT_WRITER_BY_ID] = "owner<>x'' AND id=?1",
    [ZT_WRITER_BY_NAME] = "owner=?1"
  };
  char *sql = sqlite3_mprintf("SELECT * FROM temp.\"%w_zt\" WHERE %s ORDER BY id", r->name,
                              where[plan]);
  int rc = sql ? sqlite3_prepare_v2(r->db, sql, -1, out, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if( rc || plan==ZT_WRITER_ALL ) return rc;
  return plan==ZT_WRITER_BY_NAME ? rows_bind_name(*out, value)
       : sqlite3_bind_value(*out, 1, value);
}

/* --- The transaction --- */

/* Marks have numbers that no row has. Where there is a mark, there is number 0, so that the next
** row's number by itself is above it. */
static const char *const rows_marks[] = { "loaded", "changed" };
static const sqlite3_int64 rows_mark_ids[] = { 0, -1 };

/* True if a statement gives a row. */
static bool rows_is_there(sqlite3_stmt *s, int *rc){
  const bool there = sqlite3_step(s)==SQLITE_ROW;
  *rc = sqlite3_reset(s);
  return there;
}

bool zt_writer_rows_marked(zt_writer_rows *r, zt_writer_mark mark, int *rc){
  *rc = sqlite3_bind_text(r->a[ROWS_MARKED], 1, rows_marks[mark], -1, SQLITE_STATIC);
  return *rc==SQLITE_OK && rows_is_there(r->a[ROWS_MARKED], rc);
}

int zt_writer_rows_mark(zt_writer_rows *r, zt_writer_mark mark){
  sqlite3_stmt *s = r->a[ROWS_MARK];
  int rc = sqlite3_bind_text(s, 1, rows_marks[mark], -1, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(s, 2, rows_mark_ids[mark]);
  return rc ? rc : rows_run(s);
}

bool zt_writer_rows_empty(zt_writer_rows *r, int *rc){
  return !rows_is_there(r->a[ROWS_EMPTY], rc);
}

int zt_writer_rows_clear(zt_writer_rows *r){
  return rows_run(r->a[ROWS_CLEAR]);
}
