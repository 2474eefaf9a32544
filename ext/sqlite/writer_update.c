/* Rows of a writer when they come. See writer.h. */
#include "sqlite/writer.h"

#include "container/dtype.h"
#include "core/json.h"
#include "sqlite/value.h"

#define WRITER_NONE ((sqlite3_int64)-1)

int zt_writer_fail(const zt_writer *w, int rc, zt_error *err){
  if( rc==SQLITE_NOMEM ) return zt_fail_nomem(err);
  if( rc==SQLITE_INTERRUPT ) return zt_fail_interrupt(err);
  return zt_fail(err, rc, "%s", sqlite3_errmsg(w->connection->db));
}

/* --- Values of a row --- */

/* The values of a row that comes, and facts of the row that it replaces. */
typedef struct writer_values {
  sqlite3_value *column[ZT_ROW_COLUMNS];   /* Borrowed from the caller, */
  sqlite3_value *owned[ZT_ROW_COLUMNS];    /* or a copy */
  sqlite3_int64 source, offset, length;    /* WRITER_NONE: unknown */
  bool loaded, kept;
} writer_values;

static void writer_values_clear(writer_values *v){
  for(int i=0; i<ZT_ROW_COLUMNS; i++) sqlite3_value_free(v->owned[i]);
}

static sqlite3_int64 writer_number(sqlite3_stmt *s, int column){
  return sqlite3_column_type(s, column)==SQLITE_NULL ? WRITER_NONE
       : sqlite3_column_int64(s, column);
}

/* True if a change of the column makes stored bytes other ones. */
static bool writer_is_request(int column){
  return column!=ZT_ROW_NAME && column!=ZT_ROW_KEY && column!=ZT_ROW_VALUE && column!=ZT_ROW_TYPE
      && column!=ZT_ROW_STORED_TYPE;
}

/* Take what an UPDATE leaves alone from the row that is there. */
static int writer_take_old(zt_writer *w, sqlite3_int64 old, writer_values *v, zt_error *err){
  int rc;
  sqlite3_stmt *s = zt_writer_rows_get(w->stored, old, &rc);
  if( !s ) return rc ? zt_writer_fail(w, rc, err) : zt_fail(err, SQLITE_ERROR, "no such row");
  v->loaded = sqlite3_column_int(s, ZT_STORED_LOADED)!=0;
  v->kept = sqlite3_column_int(s, ZT_STORED_KEPT)!=0;
  for(int i=0; i<ZT_ROW_COLUMNS; i++){
    if( !sqlite3_value_nochange(v->column[i]) ){
      v->kept = v->kept && !writer_is_request(i);
      continue;
    }
    v->owned[i] = sqlite3_value_dup(sqlite3_column_value(s, ZT_STORED_COLUMNS+i));
    if( !v->owned[i] ) return zt_fail_nomem(err);
    if( i==ZT_ROW_SOURCE ) v->source = writer_number(s, ZT_STORED_SOURCE);
    if( i==ZT_ROW_DATA ){
      v->offset = writer_number(s, ZT_STORED_OFFSET);
      v->length = writer_number(s, ZT_STORED_LENGTH);
    }
    v->column[i] = v->owned[i];
  }
  return SQLITE_OK;
}

/* Say where the row's bytes are. Numbers that are none of the writer's were put into its table. */
static int writer_place(const zt_writer *w, const writer_values *v, zt_row *row, zt_error *err){
  const zt_write_sources *s = w->rows.sources;
  *row = (zt_row){ .source_number = UINT32_MAX, .keep = v->kept, .bare = v->loaded };
  if( (v->source!=WRITER_NONE && (v->source<0 || v->source>=UINT32_MAX
                                  || !zt_write_sources_has(s, (uint32_t)v->source)))
   || (v->length!=WRITER_NONE
       && (v->length<0 || v->offset<0
           || !zt_write_sources_has_bytes(s, (uint64_t)v->offset, (uint64_t)v->length))) ){
    return zt_fail(err, SQLITE_CORRUPT_VTAB, "the table that keeps its rows was changed");
  }
  if( v->source>=0 ) row->source_number = (uint32_t)v->source;
  if( v->length>=0 ){
    row->spooled = true;
    row->offset = (uint64_t)v->offset;
    row->data.n = (size_t)v->length;
  }
  return SQLITE_OK;
}

int zt_writer_read(zt_writer *w, sqlite3_value **columns, sqlite3_stmt *stored, zt_row *out,
                   zt_error *err){
  const writer_values v = {
    .source = writer_number(stored, ZT_STORED_SOURCE),
    .offset = writer_number(stored, ZT_STORED_OFFSET),
    .length = writer_number(stored, ZT_STORED_LENGTH),
    .loaded = sqlite3_column_int(stored, ZT_STORED_LOADED)!=0,
    .kept = sqlite3_column_int(stored, ZT_STORED_KEPT)!=0
  };
  if( writer_place(w, &v, out, err) ) return err->rc;
  return zt_row_read(&w->rows, columns, out, err);
}

/* --- Checks --- */

/* A row with bytes of an object of that name is there: a component may join others. */
static int writer_check_other(zt_writer *w, const zt_row *row, sqlite3_int64 old, bool replace,
                              const zt_stored_row *stored, zt_error *err){
  int rc;
  sqlite3_stmt *s;
  zt_text format, shape;
  const char *part;
  if( row->from==ZT_ROW_FROM_ATTRIBUTE ) return SQLITE_OK;
  s = zt_writer_rows_other(w->stored, row->name, old, &rc);
  if( !s ) return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
  part = (const char*)sqlite3_column_text(s, ZT_STORED_PART);
  if( !part ) return zt_fail_nomem(err);
  if( part[0]=='C' && row->from==ZT_ROW_FROM_DATA && row->layout!=ZT_LAYOUT_DENSE ){
    format = zt_value_text(sqlite3_column_value(s, ZT_STORED_FORMAT));
    shape = zt_value_text(sqlite3_column_value(s, ZT_STORED_SHAPE));
    if( !format.z || !shape.z ) return zt_fail_nomem(err);
    if( zt_text_equal(format, stored->format) && zt_text_equal(shape, stored->shape) ){
      return SQLITE_OK;
    }
    return zt_fail(err, SQLITE_ERROR, "its components differ in format or shape");
  }
  if( replace && part[0]=='T' && row->layout==ZT_LAYOUT_DENSE ) return SQLITE_OK;
  return zt_fail(err, SQLITE_CONSTRAINT, "there is an object of this name");
}

/* Text of a shape, owned. */
static char *writer_shape(const zt_draft_object *object){
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendchar(out, 1, '[');
  for(uint32_t i=0; i<object->rank; i++){
    if( i ) sqlite3_str_appendchar(out, 1, ',');
    zt_json_uint(out, object->shape[i]);
  }
  sqlite3_str_appendchar(out, 1, ']');
  return sqlite3_str_finish(out);
}

/* Describe the object of a draft: its type is that of its values. */
static int writer_describe(const zt_draft *draft, uint32_t object, zt_stored_row *out, char **shape,
                           zt_error *err){
  zt_draft_object o;
  zt_draft_component c;
  zt_draft_object_get(draft, object, &o);
  out->format = zt_rows_layout(&o);
  *shape = writer_shape(&o);
  if( !*shape ) return zt_fail_nomem(err);
  out->shape = zt_text_of(*shape);
  for(uint32_t at=0; (at = zt_draft_next_component(draft, object, at, &c))!=0; ){
    const bool values = zt_text_is(c.role, "data") || zt_text_is(c.role, "values");
    out->bytes += c.decoded_length;
    if( c.element && (values || !out->dtype) ) out->dtype = c.element->name;
  }
  return SQLITE_OK;
}

/* --- Storing --- */

/* A row on its way into the table. */
typedef struct writer_storing {
  zt_writer *w;
  zt_row row;
  zt_stored_row stored;
  zt_draft *draft;
  zt_supplies supplies;
  char *shape;
  uint8_t *bytes;                /* Owned; NULL: the row's are the caller's */
  bool replace;
} writer_storing;

/* Check the row against the format, and learn what it will be. */
static int writer_check(writer_storing *s, zt_error *err){
  zt_writer *w = s->w;
  uint32_t object = ZT_DRAFT_FILE;
  if( s->row.from==ZT_ROW_FROM_ATTRIBUTE ){
    return zt_row_check(&w->rows, &s->row, NULL, NULL, object, err);
  }
  s->draft = zt_draft_new(err);
  s->supplies = zt_rows_supplies(&w->rows);
  if( !s->draft || zt_row_add(&w->rows, &s->row, s->draft, &s->supplies, &object, err)
   || zt_row_check(&w->rows, &s->row, s->draft, &s->supplies, object, err) ) return err->rc;
  return writer_describe(s->draft, object, &s->stored, &s->shape, err);
}

/* Read bytes that an UPDATE leaves alone: they must fit its other columns, too. */
static int writer_fetch(writer_storing *s, zt_error *err){
  if( s->row.from!=ZT_ROW_FROM_DATA || !s->row.spooled ) return SQLITE_OK;
  s->bytes = sqlite3_malloc64((uint64_t)s->row.data.n+1);
  if( !s->bytes ) return zt_fail_nomem(err);
  if( s->row.data.n && zt_output_read(zt_write_sources_spooled(s->w->rows.sources), s->row.offset,
                                      s->bytes, s->row.data.n, err) ) return err->rc;
  s->row.data.p = s->bytes;
  s->row.spooled = false;
  return SQLITE_OK;
}

/* Put the row's bytes into the spool. */
static int writer_spool(writer_storing *s, zt_error *err){
  uint64_t offset = 0;
  if( s->row.from!=ZT_ROW_FROM_DATA || s->stored.offset>=0 ) return SQLITE_OK;
  if( zt_write_sources_spool(s->w->rows.sources, s->row.data, &offset, err) ) return err->rc;
  s->stored.offset = (sqlite3_int64)offset;
  s->stored.length = (sqlite3_int64)s->row.data.n;
  return SQLITE_OK;
}

static int writer_insert(writer_storing *s, sqlite3_int64 old, sqlite3_int64 *id, zt_error *err){
  zt_writer *w = s->w;
  const int rc = zt_writer_rows_store(w->stored, &s->stored, old, s->replace, id);
  const int extended = rc ? sqlite3_extended_errcode(w->connection->db) : 0;
  if( rc==SQLITE_OK ) return SQLITE_OK;
  if( (rc & 0xff)!=SQLITE_CONSTRAINT ) return zt_writer_fail(w, rc, err);
  return zt_fail(err, SQLITE_CONSTRAINT, "there is %s", extended!=SQLITE_CONSTRAINT_UNIQUE
                 ? "a row of this rowid" : s->row.from!=ZT_ROW_FROM_ATTRIBUTE
                 ? "a component of this name" : "an attribute of this name");
}

/* The object's name in the source, which a later name does not change. */
static int writer_keep_object(writer_values *v, zt_row *row, zt_error *err){
  if( row->from!=ZT_ROW_FROM_SOURCE || sqlite3_value_type(v->column[ZT_ROW_OBJECT])!=SQLITE_NULL ){
    return SQLITE_OK;
  }
  sqlite3_value_free(v->owned[ZT_ROW_OBJECT]);
  v->owned[ZT_ROW_OBJECT] = sqlite3_value_dup(v->column[ZT_ROW_NAME]);
  v->column[ZT_ROW_OBJECT] = v->owned[ZT_ROW_OBJECT];
  return v->owned[ZT_ROW_OBJECT] ? SQLITE_OK : zt_fail_nomem(err);
}

static int writer_store(writer_storing *s, writer_values *v, sqlite3_int64 old, sqlite3_int64 *id,
                        zt_error *err){
  if( writer_place(s->w, v, &s->row, err) || zt_row_read(&s->w->rows, v->column, &s->row, err)
   || writer_keep_object(v, &s->row, err) || writer_fetch(s, err) || writer_check(s, err)
   || writer_check_other(s->w, &s->row, old, s->replace, &s->stored, err)
   || writer_spool(s, err) ) return err->rc;
  s->stored.columns = v->column;
  s->stored.row = &s->row;
  if( s->row.from==ZT_ROW_FROM_SOURCE ){
    s->stored.source = s->row.source_number;
    v->column[ZT_ROW_SHAPE] = NULL;   /* That of the source, which may become another one */
  }
  s->stored.loaded = v->loaded;
  s->stored.kept = s->row.keep;
  return writer_insert(s, old, id, err);
}

int zt_writer_store(zt_writer *w, sqlite3_int64 old, sqlite3_int64 new, sqlite3_value **values,
                    bool loaded, sqlite3_int64 *id, zt_error *err){
  writer_values v = {
    .source = WRITER_NONE, .offset = WRITER_NONE, .length = WRITER_NONE, .loaded = loaded,
    .kept = loaded
  };
  writer_storing s = {
    .w = w, .row = { .source_number = UINT32_MAX },
    .stored = { .id = new, .source = WRITER_NONE, .offset = WRITER_NONE, .length = WRITER_NONE },
    .replace = !loaded && sqlite3_vtab_on_conflict(w->connection->db)==SQLITE_REPLACE
  };
  memcpy(v.column, values, sizeof(v.column));
  if( old==0 || writer_take_old(w, old, &v, err)==SQLITE_OK ){
    s.stored.offset = v.offset;
    s.stored.length = v.length;
    s.stored.encoding = (zt_text){ NULL, 0 };
    writer_store(&s, &v, old, id, err);
  }
  zt_writer_rows_reset(w->stored);
  zt_row_clear(&s.row);
  zt_draft_free(s.draft);
  zt_supplies_clear(&s.supplies);
  sqlite3_free(s.shape);
  sqlite3_free(s.bytes);
  writer_values_clear(&v);
  return err->rc;
}
