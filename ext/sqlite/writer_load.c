/*
** The rows of a file that is updated. See writer_load.h.
**
** They come from the table's own statements, as a user would insert them.
*/
#include "sqlite/writer_load.h"

#include "container/value_cbor.h"
#include "sqlite/attribute_value.h"
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
  return rc ? zt_writer_fail_of(w->connection->db, rc, err) : SQLITE_OK;
}

/* --- Attributes --- */

/* A walk through all attributes of a file, in the order of zt_attributes. */
typedef struct load_walk {
  const zt_container *container;
  bool objects;                  /* Those of objects, too */
  bool walking;
  uint32_t next;                 /* 0: the file; else 1 and the object */
  zt_walk walk;
  zt_level level;
} load_walk;

/* The next attribute. */
static bool load_walk_next(load_walk *l, zt_value *key, zt_value *value, zt_error *err){
  zt_value all;
  zt_object object;
  for(;;){
    if( l->walking && zt_walk_next(&l->walk, &l->level, key, value) ) return true;
    if( l->walking ) zt_walk_end(&l->walk);
    l->walking = false;
    if( err->rc || l->next>(l->objects ? zt_container_objects(l->container) : 0) ) return false;
    if( l->next==0 ){
      all = zt_container_attributes(l->container);
    }else{
      zt_container_object(l->container, l->next-1, &object);
      all = object.attributes;
    }
    l->next++;
    zt_walk_begin(l->container, &all, &l->walk, &l->level, err);
    l->walking = true;
  }
}

/* True if a value's columns in SQL make these bytes. */
static bool load_is_whole(sqlite3_stmt *s, const zt_cbor_out *stored, zt_error *err){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor_out shown = { .err = &unused };
  bool whole = zt_attribute_cbor(sqlite3_column_value(s, 2), sqlite3_column_value(s, 3), &shown,
                                 &unused)==SQLITE_OK
    && stored->n==shown.n && memcmp(stored->p, shown.p, shown.n)==0;
  if( unused.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  zt_cbor_out_clear(&shown);
  zt_error_clear(&unused);
  return whole;
}

/* Put bytes into the spool, where the row finds them. own: they are the format's, and not CBOR. */
static int load_spool(zt_writer *w, bool own, const zt_cbor_out *stored, zt_writer_loaded *out,
                      zt_error *err){
  const uint8_t kind = own;
  const zt_span bytes = { stored->p, stored->n };
  uint64_t offset, behind;
  if( zt_write_sources_spool(w->rows.sources, (zt_span){ &kind, 1 }, &offset, err)
   || zt_write_sources_spool(w->rows.sources, bytes, &behind, err) ) return err->rc;
  *out = (zt_writer_loaded){ (sqlite3_int64)offset, (sqlite3_int64)bytes.n+1 };
  return SQLITE_OK;
}

/* Keep the bytes of a value that SQL does not show whole, or that are not CBOR. */
static int load_keep_value(zt_writer *w, load_walk *l, sqlite3_stmt *s, zt_writer_loaded *out,
                           zt_error *err){
  zt_cbor_out stored = { .err = err };
  zt_value key, value;
  bool own;
  if( !load_walk_next(l, &key, &value, err) ) return err->rc;
  if( key.type!=ZT_VALUE_TEXT || key.tagged ){
    return zt_fail(err, SQLITE_ERROR, "the key '%s' of an attribute is not text: the file cannot be"
                   " updated", (const char*)sqlite3_column_text(s, 1));
  }
  if( zt_value_stored(l->container, &key, &value, &stored, &own, err)==SQLITE_OK
   && (own || !load_is_whole(s, &stored, err)) && !err->rc ) load_spool(w, own, &stored, out, err);
  zt_cbor_out_clear(&stored);
  return err->rc;
}

/* --- Rows --- */

/* Store a row for each row of a statement. to: the columns that its columns fill. */
static int load_rows(zt_writer *w, const char *sql, const int *to, load_walk *attributes,
                     sqlite3_value *null, sqlite3_value *path, zt_error *err){
  sqlite3_stmt *s = NULL;
  sqlite3_int64 id;
  int rc = SQLITE_DONE;
  load_statement(w, sql, &s, err);
  while( !err->rc && (rc = sqlite3_step(s))==SQLITE_ROW ){
    load_row row;
    zt_writer_loaded loaded = { -1, -1 };
    for(int i=0; i<ZT_ROW_COLUMNS; i++) row.column[i] = null;
    if( path ) row.column[ZT_ROW_SOURCE] = path;
    for(int i=0; to[i]>=0; i++){
      row.column[to[i]] = sqlite3_value_dup(sqlite3_column_value(s, i));
      if( !row.column[to[i]] ) zt_fail_nomem(err);
    }
    if( !err->rc ) err->object = zt_value_text(row.column[ZT_ROW_NAME]);
    if( !err->rc && attributes ) load_keep_value(w, attributes, s, &loaded, err);
    if( !err->rc ) zt_writer_store(w, 0, 0, row.column, NULL, &loaded, &id, err);
    err->object.z = NULL;
    for(int i=0; to[i]>=0; i++) sqlite3_value_free(row.column[to[i]]);
  }
  if( !err->rc && rc!=SQLITE_DONE ) zt_writer_fail_of(w->connection->db, rc, err);
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

/* Fail if the file has something that no row shows: the new one would lack it. */
static int load_check_unlisted(const zt_container *c, zt_error *err){
  const zt_text what = zt_container_unlisted(c);
  if( what.n==0 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "beside its rows the file has %.*s, which an update would lose;"
                 " INSERT its rows into another file", zt_shown(what), what.z);
}

/* Fail unless the table's format is the file's, and rows show all that it has. */
static int load_check_format(zt_writer *w, sqlite3_value *path, load_walk *attributes,
                             zt_error *err){
  zt_supply_file file;
  uint32_t number;
  const zt_encoder *own;
  if( zt_write_sources_add(w->rows.sources, path, &number, &file, err) ) return err->rc;
  w->loaded = number+1;
  own = zt_encoder_of(file.container);
  *attributes = (load_walk){
    .container = zt_container_ref((zt_container*)file.container),
    .objects = w->arguments.encoder->object_attributes
  };
  if( own==w->arguments.encoder ) return load_check_unlisted(file.container, err);
  if( own ){
    return zt_fail(err, SQLITE_ERROR, "the file is %s, which format='%s' updates", own->name,
                   own->name);
  }
  return zt_writer_arguments_fail_read_only(err);
}

int zt_writer_load(zt_writer *w, zt_error *err){
  static const int objects[] = { ZT_ROW_NAME, -1 };
  static const int attributes[] = {
    ZT_ROW_NAME, ZT_ROW_KEY, ZT_ROW_VALUE, ZT_ROW_TYPE, ZT_ROW_STORED_TYPE, -1
  };
  sqlite3_value *constants[2] = { NULL, NULL };
  load_walk attributes_of = { .container = NULL };
  int rc = SQLITE_OK;
  if( w->arguments.mode!=ZT_OUTPUT_UPDATE
   || zt_writer_rows_marked(w->stored, ZT_WRITER_LOADED, &rc) ) return SQLITE_OK;
  if( rc==SQLITE_OK ) rc = zt_writer_rows_clear(w->stored);   /* Of a load that failed */
  if( rc ) return zt_writer_fail(w, rc, err);
  if( load_constants(w, constants, err)==SQLITE_OK
   && load_check_format(w, constants[1], &attributes_of, err)==SQLITE_OK
   && load_rows(w, LOAD_OBJECTS, objects, NULL, constants[0], constants[1], err)==SQLITE_OK ){
    const char *sql = w->arguments.encoder->object_attributes
      ? LOAD_ATTRIBUTES : LOAD_ATTRIBUTES " WHERE object IS NULL";
    load_rows(w, sql, attributes, &attributes_of, constants[0], NULL, err);
  }
  if( attributes_of.walking ) zt_walk_end(&attributes_of.walk);
  zt_container_close((zt_container*)attributes_of.container);
  if( !err->rc && (rc = zt_writer_rows_mark(w->stored, ZT_WRITER_LOADED))!=0 ){
    zt_writer_fail(w, rc, err);
  }
  sqlite3_value_free(constants[0]);
  sqlite3_value_free(constants[1]);
  return err->rc;
}
