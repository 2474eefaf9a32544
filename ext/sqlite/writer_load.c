/*
** The rows of a file that is updated. See writer_load.h.
**
** They come from the table's own statements, as a user would insert them.
*/
#include "sqlite/writer_load.h"

#include "sqlite/value.h"

#define LOAD_OBJECTS "SELECT object FROM zt_objects(?1)"
#define LOAD_ATTRIBUTES "SELECT object, key, value, type, stored_type FROM zt_attributes(?1)"

/* The columns of a row: those that the statement's columns fill, and NULL. */
typedef struct load_row {
  sqlite3_value *column[ZT_ROW_COLUMNS];
} load_row;

static int load_statement(zt_writer *w, const char *sql, sqlite3_stmt **out, zt_error *err){
  int rc = sqlite3_prepare_v2(w->connection->db, sql, -1, out, NULL);
  if( rc==SQLITE_OK ){
    rc = sqlite3_bind_text(*out, 1, w->arguments.path, -1, SQLITE_TRANSIENT);
  }
  return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
}

/* True if the row is the attribute that states the file's alignment, which becomes the argument
** unless that was given. */
static bool load_is_align(zt_writer *w, const load_row *row){
  const zt_encoder *e = w->arguments.encoder;
  const zt_text key = zt_value_text(row->column[ZT_ROW_KEY]);
  uint64_t align;
  if( !e->align_key || !key.z || !zt_text_equal(key, zt_text_of(e->align_key)) ) return false;
  align = (uint64_t)sqlite3_value_int64(row->column[ZT_ROW_VALUE]);
  if( w->arguments.options.align==e->defaults.align && align>=e->least_align
   && align<=ZT_ENCODER_ALIGN_MOST && (align & (align-1))==0 ) w->rows.options.align = align;
  return true;
}

/* Store a row for each row of a statement. to: the columns that its columns fill. */
static int load_rows(zt_writer *w, const char *sql, const int *to, sqlite3_value *null,
                     sqlite3_value *path, zt_error *err){
  sqlite3_stmt *s = NULL;
  sqlite3_int64 id;
  int rc = SQLITE_DONE;
  load_statement(w, sql, &s, err);
  while( !err->rc && (rc = sqlite3_step(s))==SQLITE_ROW ){
    load_row row;
    for(int i=0; i<ZT_ROW_COLUMNS; i++) row.column[i] = null;
    if( path ) row.column[ZT_ROW_SOURCE] = path;
    for(int i=0; to[i]>=0; i++){
      row.column[to[i]] = sqlite3_value_dup(sqlite3_column_value(s, i));
      if( !row.column[to[i]] ) zt_fail_nomem(err);
    }
    if( !err->rc && !load_is_align(w, &row) ){
      zt_writer_store(w, 0, 0, row.column, true, &id, err);
    }
    for(int i=0; to[i]>=0; i++) sqlite3_value_free(row.column[to[i]]);
  }
  if( !err->rc && rc!=SQLITE_DONE ) zt_writer_fail(w, rc, err);
  sqlite3_finalize(s);
  return err->rc;
}

/* Values that no row has: NULL and the path. */
static int load_constants(zt_writer *w, sqlite3_value *out[2], zt_error *err){
  sqlite3_stmt *s = NULL;
  if( load_statement(w, "SELECT NULL, ?1", &s, err)==SQLITE_OK && sqlite3_step(s)==SQLITE_ROW ){
    for(int i=0; i<2; i++) out[i] = sqlite3_value_dup(sqlite3_column_value(s, i));
  }
  sqlite3_finalize(s);
  return err->rc || (out[0] && out[1]) ? err->rc : zt_fail_nomem(err);
}

/* Fail unless the table's format is the file's. */
static int load_check_format(zt_writer *w, sqlite3_value *path, zt_error *err){
  zt_supply_file file;
  uint32_t number;
  const zt_encoder *own;
  if( zt_write_sources_add(w->rows.sources, path, &number, &file, err) ) return err->rc;
  own = zt_encoder_of(file.container);
  if( own==w->arguments.encoder ) return SQLITE_OK;
  if( own ){
    return zt_fail(err, SQLITE_ERROR, "the file is %s, which format='%s' updates", own->name,
                   own->name);
  }
  return zt_fail(err, SQLITE_ERROR, "files of its format and version cannot be updated; write its"
                 " rows to another file");
}

int zt_writer_load(zt_writer *w, zt_error *err){
  static const int objects[] = { ZT_ROW_NAME, -1 };
  static const int attributes[] = {
    ZT_ROW_NAME, ZT_ROW_KEY, ZT_ROW_VALUE, ZT_ROW_TYPE, ZT_ROW_STORED_TYPE, -1
  };
  sqlite3_value *constants[2] = { NULL, NULL };
  int rc = SQLITE_OK;
  if( w->arguments.mode!=ZT_OUTPUT_UPDATE
   || zt_writer_rows_marked(w->stored, ZT_WRITER_LOADED, &rc) ) return SQLITE_OK;
  if( rc==SQLITE_OK ) rc = zt_writer_rows_clear(w->stored);   /* Of a load that failed */
  if( rc ) return zt_writer_fail(w, rc, err);
  if( load_constants(w, constants, err)==SQLITE_OK
   && load_check_format(w, constants[1], err)==SQLITE_OK
   && load_rows(w, LOAD_OBJECTS, objects, constants[0], constants[1], err)==SQLITE_OK ){
    const char *sql = w->arguments.encoder->object_attributes
      ? LOAD_ATTRIBUTES : LOAD_ATTRIBUTES " WHERE object IS NULL";
    load_rows(w, sql, attributes, constants[0], NULL, err);
  }
  if( !err->rc && (rc = zt_writer_rows_mark(w->stored, ZT_WRITER_LOADED))!=0 ){
    zt_writer_fail(w, rc, err);
  }
  sqlite3_value_free(constants[0]);
  sqlite3_value_free(constants[1]);
  return err->rc;
}
