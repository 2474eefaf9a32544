/* Rows of a writer when they come. See writer.h. */
#include "sqlite/writer.h"

#include "container/dtype.h"
#include "core/json.h"
#include "sqlite/value.h"

#define WRITER_NONE ((sqlite3_int64)-1)

int zt_writer_fail_of(sqlite3 *db, int rc, zt_error *err){
  static const char own[] = "ztensor: ";
  const char *message;
  if( rc==SQLITE_NOMEM ) return zt_fail_nomem(err);
  if( rc==SQLITE_INTERRUPT ) return zt_fail_interrupt(err);
  message = sqlite3_errmsg(db);
  if( strncmp(message, own, strlen(own))==0 ){   /* Another table said it, with its place */
    err->path = NULL;
    err->object.z = err->component.z = NULL;
    message += strlen(own);
  }
  return zt_fail(err, rc, "%s", message);
}

int zt_writer_fail(const zt_writer *w, int rc, zt_error *err){
  return zt_writer_fail_of(zt_writer_rows_db(w->stored), rc, err);
}

/* --- Values of a row --- */

/* The values of a row that comes, and facts of the row that it replaces. */
typedef struct writer_values {
  sqlite3_value *column[ZT_ROW_COLUMNS];   /* Borrowed from the caller, */
  sqlite3_value *owned[ZT_ROW_COLUMNS];    /* or a copy */
  sqlite3_int64 source, offset, length;    /* WRITER_NONE: unknown */
  bool loaded, kept;
  sqlite3_int64 bytes;                     /* That it must have; WRITER_NONE: any */
  sqlite3_value *asked[ZT_ROW_COLUMNS];    /* What it must then show, borrowed; NULL: anything */
} writer_values;

static void writer_values_clear(writer_values *v){
  for(int i=0; i<ZT_ROW_COLUMNS; i++) sqlite3_value_free(v->owned[i]);
}

static sqlite3_int64 writer_number(sqlite3_stmt *s, int column){
  return sqlite3_column_type(s, column)==SQLITE_NULL ? WRITER_NONE
       : sqlite3_column_int64(s, column);
}

/* True if a change of the column makes stored bytes, or an attribute's key, other ones. */
static bool writer_is_request(int column){
  return column!=ZT_ROW_NAME && column!=ZT_ROW_VALUE && column!=ZT_ROW_TYPE
      && column!=ZT_ROW_STORED_TYPE;
}

/* --- Values that an UPDATE leaves alone --- */

/* True if both values are the same one. */
static bool writer_is_equal(sqlite3_value *a, sqlite3_value *b, zt_error *err){
  const int type = sqlite3_value_type(a);
  double x, y;
  const void *p, *q;
  int n, m;
  if( type!=sqlite3_value_type(b) ) return false;
  switch( type ){
    case SQLITE_NULL: return true;
    case SQLITE_INTEGER: return sqlite3_value_int64(a)==sqlite3_value_int64(b);
    case SQLITE_FLOAT:
      x = sqlite3_value_double(a);
      y = sqlite3_value_double(b);
      return memcmp(&x, &y, sizeof(x))==0;   /* NOLINT: their bits, so that -0.0 is not 0.0 */
    default:
      p = type==SQLITE_TEXT ? (const void*)sqlite3_value_text(a) : sqlite3_value_blob(a);
      q = type==SQLITE_TEXT ? (const void*)sqlite3_value_text(b) : sqlite3_value_blob(b);
      n = sqlite3_value_bytes(a);
      m = sqlite3_value_bytes(b);
      if( (!p && (n!=0 || type==SQLITE_TEXT)) || (!q && (m!=0 || type==SQLITE_TEXT)) ){
        zt_fail_nomem(err);
        return false;
      }
      return n==m && !err->rc && (n==0 || memcmp(p, q, (size_t)n)==0);
  }
}

/* True if a value is the n bytes there in the spool. */
static bool writer_is_spooled(const zt_writer *w, sqlite3_value *value, uint64_t offset,
                              uint64_t n, zt_error *err){
  zt_output *spool = zt_write_sources_spooled(w->rows.sources);
  const void *given;
  bool same = false;
  uint8_t *p;
  if( sqlite3_value_type(value)!=SQLITE_BLOB || (uint64_t)sqlite3_value_bytes(value)!=n
   || !zt_write_sources_has_bytes(w->rows.sources, offset, n) ) return false;
  if( n==0 ) return true;
  given = sqlite3_value_blob(value);
  p = sqlite3_malloc64(n);
  if( !given || !p ) zt_fail_nomem(err);
  else if( zt_output_read(spool, offset, p, (size_t)n, err)==SQLITE_OK ){
    same = memcmp(p, given, (size_t)n)==0;
  }
  sqlite3_free(p);
  return same;
}

/* True if a value is what a SELECT shows in the row that is there. */
static bool writer_is_shown(const zt_writer *w, sqlite3_stmt *s, int column, sqlite3_value *value,
                            zt_error *err){
  const sqlite3_int64 source = writer_number(s, ZT_STORED_SOURCE);
  uint64_t offset, length;
  if( column==ZT_ROW_DATA && writer_number(s, ZT_STORED_LENGTH)!=WRITER_NONE
   && sqlite3_column_type(s, ZT_STORED_COLUMNS+ZT_ROW_KEY)==SQLITE_NULL ){
    return writer_is_spooled(w, value, (uint64_t)writer_number(s, ZT_STORED_OFFSET),
                             (uint64_t)writer_number(s, ZT_STORED_LENGTH), err);
  }
  if( column==ZT_ROW_SOURCE && source>=0 && source<UINT32_MAX
   && zt_write_sources_has(w->rows.sources, (uint32_t)source)
   && !zt_write_sources_path(w->rows.sources, (uint32_t)source, &offset, &length) ){
    return writer_is_spooled(w, value, offset, length, err);
  }
  return writer_is_equal(value, sqlite3_column_value(s, zt_stored_shown(column)), err);
}

/* Take the column of the row that is there. */
static int writer_take_column(sqlite3_stmt *s, int i, writer_values *v, zt_error *err){
  v->owned[i] = sqlite3_value_dup(sqlite3_column_value(s, ZT_STORED_COLUMNS+i));
  if( !v->owned[i] ) return zt_fail_nomem(err);
  if( i==ZT_ROW_SOURCE ) v->source = writer_number(s, ZT_STORED_SOURCE);
  if( i==ZT_ROW_DATA ){
    v->offset = writer_number(s, ZT_STORED_OFFSET);
    v->length = writer_number(s, ZT_STORED_LENGTH);
  }
  v->column[i] = v->owned[i];
  return SQLITE_OK;
}

/* Take what an UPDATE leaves alone from the row that is there: columns that it does not name, and
** in a row that keeps its stored bytes those that it sets to what they are.
**
** UPDATE ... FROM names all columns in versions of SQLite that keep its rows in between, bytes
** among them. So what is given as it was shown is left alone there. Whether the statement asked for
** it shows no more: if the tensor is another one, it must then show that. */
static int writer_take_columns(const zt_writer *w, sqlite3_stmt *s, bool all, writer_values *v,
                               zt_error *err){
  bool same[ZT_ROW_COLUMNS] = { false }, changed = false;
  for(int i=0; i<ZT_ROW_COLUMNS; i++){
    same[i] = sqlite3_value_nochange(v->column[i]) || writer_is_shown(w, s, i, v->column[i], err);
    changed = changed || (!same[i] && writer_is_request(i));
  }
  for(int i=0; i<ZT_ROW_COLUMNS && !err->rc; i++){
    const bool given = !sqlite3_value_nochange(v->column[i]);
    if( !same[i] || (given && !all && (changed || !v->kept)) ) continue;
    if( given && zt_stored_shown(i)!=ZT_STORED_COLUMNS+i
     && !(same[ZT_ROW_SOURCE] && same[ZT_ROW_OBJECT]) ) v->asked[i] = v->column[i];
    writer_take_column(s, i, v, err);
  }
  v->kept = v->kept && !changed;
  if( sqlite3_column_type(s, ZT_STORED_COLUMNS+ZT_ROW_KEY)!=SQLITE_NULL
   && !(same[ZT_ROW_VALUE] && same[ZT_ROW_TYPE] && same[ZT_ROW_STORED_TYPE]) ){
    v->offset = v->length = WRITER_NONE;   /* The value that waits there is another one */
  }
  return err->rc;
}

/* *there: false if no row has that number. */
static int writer_take_old(const zt_writer *w, sqlite3_int64 old, sqlite3_value *bytes,
                           writer_values *v, bool *there, zt_error *err){
  int rc;
  sqlite3_stmt *s = zt_writer_rows_get(w->stored, old, &rc);
  const bool all = !sqlite3_value_nochange(bytes);
  *there = s!=NULL;
  if( !s ) return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
  v->loaded = sqlite3_column_int(s, ZT_STORED_LOADED)!=0;
  v->kept = sqlite3_column_int(s, ZT_STORED_KEPT)!=0;
  if( all && writer_is_equal(bytes, sqlite3_column_value(s, ZT_STORED_BYTES), err) ){
    v->bytes = WRITER_NONE;
  }else if( all && sqlite3_value_type(bytes)==SQLITE_NULL && !err->rc ){
    return zt_fail(err, SQLITE_ERROR, "bytes follows from the other columns");
  }
  return err->rc ? err->rc : writer_take_columns(w, s, all, v, err);
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

/* A row on its way into the table. */
typedef struct writer_storing {
  zt_writer *w;
  zt_row row;
  zt_stored_row stored;
  char *shape;
  uint8_t *bytes;                /* Owned; NULL: the row's are the caller's */
  bool replace;
  bool stays;                    /* An UPDATE leaves its name alone */
} writer_storing;

/* --- Checks --- */

/* True if another row with bytes of the object could only be a whole tensor, as this one is: then
** they have the same place, and the table refuses or replaces one of them. */
static bool writer_is_alone(const writer_storing *s, sqlite3_int64 old){
  return s->row.from==ZT_ROW_FROM_SOURCE && !s->w->components && old==0 && s->stored.id==0;
}

/* A row with bytes of an object of that name is there: a component may join others. An UPDATE
** changes the shape of one after the other: COMMIT compares those that stay with their object. */
static int writer_check_other(writer_storing *storing, sqlite3_int64 old, zt_error *err){
  zt_writer *w = storing->w;
  const zt_row *row = &storing->row;
  const zt_stored_row *stored = &storing->stored;
  const bool component = row->from==ZT_ROW_FROM_DATA && row->layout!=ZT_LAYOUT_DENSE;
  int rc;
  sqlite3_stmt *s;
  zt_text format, shape;
  const char *part;
  if( row->from==ZT_ROW_FROM_ATTRIBUTE || writer_is_alone(storing, old) ) return SQLITE_OK;
  w->components |= component;
  s = zt_writer_rows_other(w->stored, row->name, old, &rc);
  if( !s ) return rc ? zt_writer_fail(w, rc, err) : SQLITE_OK;
  part = (const char*)sqlite3_column_text(s, ZT_STORED_PART);
  if( !part ) return zt_fail_nomem(err);
  if( part[0]=='C' && component ){
    format = zt_value_text(sqlite3_column_value(s, ZT_STORED_FORMAT));
    shape = zt_value_text(sqlite3_column_value(s, ZT_STORED_SHAPE));
    if( !format.z || !shape.z ) return zt_fail_nomem(err);
    if( storing->stays
     || (zt_text_equal(format, stored->format) && zt_text_equal(shape, stored->shape)) ){
      return SQLITE_OK;
    }
    return zt_fail(err, SQLITE_ERROR, "its components differ in format or shape");
  }
  if( storing->replace && part[0]=='T' && !component ) return SQLITE_OK;
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

/* Describe the object of a draft: its type is that of its values, NULL if it is not known. */
static int writer_describe(const zt_draft *draft, uint32_t object, zt_stored_row *out, char **shape,
                           zt_error *err){
  zt_draft_object o;
  zt_draft_component c;
  bool decided = false;
  zt_draft_object_get(draft, object, &o);
  out->format = zt_rows_layout(&o);
  *shape = writer_shape(&o);
  if( !*shape ) return zt_fail_nomem(err);
  out->shape = zt_text_of(*shape);
  for(uint32_t at=0; (at = zt_draft_next_component(draft, object, at, &c))!=0; ){
    const bool values = zt_text_is(c.role, "data") || zt_text_is(c.role, "values")
      || zt_text_is(c.role, "packed_weight");
    if( c.decoded_length==ZT_DRAFT_UNKNOWN ) out->bytes = ZT_DRAFT_UNKNOWN;
    if( out->bytes!=ZT_DRAFT_UNKNOWN ) out->bytes += c.decoded_length;
    if( values || (!decided && !out->dtype) ) out->dtype = c.element ? c.element->name : NULL;
    decided |= values;
  }
  return SQLITE_OK;
}

/* --- Storing --- */

/* Check the row against the format, and learn what it will be. */
static int writer_check(writer_storing *s, zt_error *err){
  zt_writer *w = s->w;
  uint32_t object = ZT_DRAFT_FILE;
  if( s->row.from==ZT_ROW_FROM_ATTRIBUTE ){
    return zt_row_check(&w->rows, &s->row, NULL, NULL, object, err);
  }
  if( !w->draft && !(w->draft = zt_draft_new(err)) ) return err->rc;
  if( zt_row_add(&w->rows, &s->row, w->draft, &w->supplies, &object, err)
   || zt_row_check(&w->rows, &s->row, w->draft, &w->supplies, object, err) ) return err->rc;
  err->object = s->row.name;   /* The draft's goes if storing the row ends the transaction */
  return writer_describe(w->draft, object, &s->stored, &s->shape, err);
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

/* Fail if the row is not what the statement says of it besides. */
static int writer_check_shown(const writer_storing *s, const writer_values *v, zt_error *err){
  const zt_text shown[ZT_ROW_COLUMNS] = {
    [ZT_ROW_DTYPE] = zt_text_of(s->stored.dtype ? s->stored.dtype : ""),
    [ZT_ROW_SHAPE] = s->stored.shape, [ZT_ROW_FORMAT] = s->stored.format
  };
  for(int i=0; i<ZT_ROW_COLUMNS; i++){
    zt_text asked;
    if( !v->asked[i] || sqlite3_value_type(v->asked[i])==SQLITE_NULL ) continue;
    asked = zt_value_text(v->asked[i]);
    if( !asked.z ) return zt_fail_nomem(err);
    if( zt_text_equal(asked, shown[i]) ) continue;
    return zt_fail(err, SQLITE_ERROR, "its %s was '%.*s', and is '%.*s' in its new source; an"
                   " UPDATE without FROM leaves open no question which is meant", zt_row_column(i),
                   zt_shown(asked), asked.z, zt_shown(shown[i]), shown[i].z);
  }
  if( v->bytes==WRITER_NONE
   || (s->row.from!=ZT_ROW_FROM_ATTRIBUTE && (uint64_t)v->bytes==s->stored.bytes) ){
    return SQLITE_OK;
  }
  return zt_fail(err, SQLITE_ERROR, "bytes follows from the other columns");
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
  const int extended = rc ? sqlite3_extended_errcode(zt_writer_rows_db(w->stored)) : 0;
  if( rc==SQLITE_OK ) return SQLITE_OK;
  if( (rc & 0xff)!=SQLITE_CONSTRAINT ) return zt_writer_fail(w, rc, err);
  if( extended==SQLITE_CONSTRAINT_UNIQUE && s->row.from==ZT_ROW_FROM_ATTRIBUTE ){
    return zt_fail(err, SQLITE_CONSTRAINT, "there is an attribute '%.*s'", zt_shown(s->row.key),
                   s->row.key.z);
  }
  if( extended!=SQLITE_CONSTRAINT_UNIQUE ){
    return zt_fail(err, SQLITE_CONSTRAINT, "there is a row of this rowid");
  }
  return zt_fail(err, SQLITE_CONSTRAINT, "there is %s of this name",
                 s->row.from==ZT_ROW_FROM_SOURCE ? "an object" : "a component");
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
   || writer_check_shown(s, v, err) || writer_check_other(s, old, err)
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

/* Read the number of bytes that a statement says the row has. */
static int writer_take_bytes(sqlite3_value *bytes, writer_values *v, zt_error *err){
  if( !bytes || sqlite3_value_nochange(bytes) || sqlite3_value_type(bytes)==SQLITE_NULL ){
    return SQLITE_OK;
  }
  v->bytes = sqlite3_value_int64(bytes);
  if( sqlite3_value_type(bytes)==SQLITE_INTEGER && v->bytes>=0 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "bytes follows from the other columns");
}

int zt_writer_store(zt_writer *w, sqlite3_int64 old, sqlite3_int64 new, sqlite3_value **values,
                    sqlite3_value *bytes, const zt_writer_loaded *loaded, sqlite3_int64 *id,
                    zt_error *err){
  writer_values v = {
    .source = WRITER_NONE, .offset = loaded ? loaded->offset : WRITER_NONE,
    .length = loaded ? loaded->length : WRITER_NONE, .loaded = loaded!=NULL,
    .kept = loaded!=NULL, .bytes = WRITER_NONE
  };
  writer_storing s = {
    .w = w, .row = { .source_number = UINT32_MAX },
    .stored = { .id = new, .source = WRITER_NONE, .offset = WRITER_NONE, .length = WRITER_NONE },
    .stays = old!=0 && sqlite3_value_nochange(values[ZT_ROW_NAME]),
    .replace = !loaded && sqlite3_vtab_on_conflict(w->connection->db)==SQLITE_REPLACE
  };
  bool there = true;   /* False: the same UPDATE has replaced the row by an earlier one */
  memcpy(v.column, values, sizeof(v.column));
  if( writer_take_bytes(bytes, &v, err)==SQLITE_OK
   && (old==0 || writer_take_old(w, old, bytes, &v, &there, err)==SQLITE_OK) && there ){
    s.stored.offset = v.offset;
    s.stored.length = v.length;
    s.stored.encoding = (zt_text){ NULL, 0 };
    writer_store(&s, &v, old, id, err);
  }
  zt_writer_rows_reset(w->stored);
  zt_row_clear(&s.row);
  w->draft = zt_draft_reuse(w->draft);
  zt_supplies_empty(&w->supplies);
  sqlite3_free(s.shape);
  sqlite3_free(s.bytes);
  writer_values_clear(&v);
  if( !err->rc ) err->object.z = NULL;   /* One of these values */
  return err->rc;
}
