/*
** The rows of a statement as columns of Apache Arrow. See arrow.h.
**
** Values are copied once, from SQLite into the buffers that are given away. Rows are kept in
** batches, because 32-bit offsets bound a column's bytes. A column's type is known only after the
** last row; so all batches are there before the first is given away, and those of an earlier type
** (no values yet, integers before the first real) are then changed in place.
*/
#include "sqlite/arrow.h"

#include <errno.h>
#include "core/utf8.h"

#define ARROW_ROWS_FIRST 1024               /* Rows that a batch has room for at first, */
#define ARROW_ROWS_MAX 65536                /* and at most */
#define ARROW_BYTES_MAX ((size_t)64 << 20)  /* Bytes of a column that end a batch. With one more
                                            ** value of SQLite's usual limit, they are less than
                                            ** 2^31 */

/* The type of a column, in the order in which values change it. */
typedef enum arrow_type { ARROW_NONE, ARROW_INT, ARROW_REAL, ARROW_TEXT, ARROW_BLOB } arrow_type;

static const char *const arrow_formats[] = { "n", "l", "g", "u", "z" };
static const char *const arrow_words[] = { "NULL", "an integer", "a real", "text", "a BLOB" };

/* A column of a batch. Owned memory, from sqlite3_malloc64(). */
typedef struct arrow_part {
  arrow_type type;
  int64_t nNull;
  uint8_t *valid;        /* A bit for each row; NULL: no row is NULL */
  void *values;          /* int64_t or double for each row, or int32_t offsets, one more; NULL:
                         ** there are no values */
  uint8_t *bytes;        /* Of text and BLOBs */
  size_t nBytes, room;   /* Bytes used and allocated */
} arrow_part;

typedef struct arrow_batch {
  int64_t rows;
  arrow_part *parts;     /* One for each column */
} arrow_batch;

typedef struct arrow_result {
  sqlite3_stmt *stmt;    /* Borrowed, until all rows are there */
  int columns;
  char **names;
  arrow_type *types;
  arrow_batch *batches;
  size_t nBatch, batchRoom;
  size_t next;           /* Batch to give away */
  int64_t room;          /* Rows that the last batch has room for */
  int64_t total;         /* Rows of all batches */
  int rc;                /* The failure's, after which nothing is done */
  char *message;
} arrow_result;

/* --- Memory --- */

static void arrow_part_clear(arrow_part *p){
  sqlite3_free(p->valid);
  sqlite3_free(p->values);
  sqlite3_free(p->bytes);
  *p = (arrow_part){ .type = ARROW_NONE };
}

static void arrow_free(arrow_result *r){
  for(size_t b=0; b<r->nBatch; b++){
    arrow_part *parts = r->batches[b].parts;
    for(int i=0; parts && i<r->columns; i++) arrow_part_clear(&parts[i]);
    sqlite3_free(parts);
  }
  for(int i=0; r->names && i<r->columns; i++) sqlite3_free(r->names[i]);
  sqlite3_free(r->names);
  sqlite3_free(r->types);
  sqlite3_free(r->batches);
  sqlite3_free(r->message);
  sqlite3_free(r);
}

static int arrow_nomem(arrow_result *r){
  r->rc = SQLITE_NOMEM;
  return r->rc;
}

static void *arrow_zeros(size_t n, size_t size){
  void *p = sqlite3_malloc64(n*size + 1);
  if( p ) memset(p, 0, n*size + 1);
  return p;
}

/* Make room for `to` instead of `from` bytes, the new ones 0. */
static void *arrow_grow(arrow_result *r, void *old, size_t from, size_t to){
  uint8_t *p = sqlite3_realloc64(old, to);
  if( !p ) arrow_nomem(r);
  else memset(p+from, 0, to-from);
  return p;
}

/* Bytes of `values` for that many rows. Offsets are one more than rows. */
static size_t arrow_width(arrow_type type, int64_t rows){
  return type>=ARROW_TEXT ? (size_t)(rows+1)*sizeof(int32_t) : (size_t)rows*8;
}

/* --- Rows --- */

static int arrow_fail(arrow_result *r, int column, const char *what, const char *cure){
  r->message = sqlite3_mprintf("column '%s': row %lld %s: %s", r->names[column], r->total, what,
                               cure);
  r->rc = r->message ? SQLITE_ERROR : SQLITE_NOMEM;
  return r->rc;
}

/* A value of another type than the column's. */
static int arrow_fail_mixed(arrow_result *r, int column, arrow_type type){
  char what[80], cure[160];
  sqlite3_snprintf(sizeof(what), what, "has %s, and an earlier one has %s", arrow_words[type],
                   arrow_words[r->types[column]]);
  sqlite3_snprintf(sizeof(cure), cure, "a column of Arrow has one type; CAST(%.60s AS TEXT) gives"
                   " it one", r->names[column]);
  return arrow_fail(r, column, what, cure);
}

/* True if a double holds the integer. */
static bool arrow_is_exact(int64_t i){
  return i>=-((int64_t)1<<53) && i<=((int64_t)1<<53);
}

static int arrow_fail_inexact(arrow_result *r, int column, int64_t i){
  char what[80];
  sqlite3_snprintf(sizeof(what), what, "or one before it has the integer %lld", i);
  return arrow_fail(r, column, what, "a column of reals does not hold it, CAST AS TEXT does");
}

/* Turn the integers of a part into reals. */
static int arrow_to_reals(arrow_result *r, int column, arrow_part *p, int64_t rows){
  if( p->type!=ARROW_INT ) return r->rc;
  for(int64_t i=0; i<rows && p->values; i++){
    int64_t integer;
    double real;
    memcpy(&integer, (uint8_t*)p->values + i*8, 8);
    if( !arrow_is_exact(integer) ) return arrow_fail_inexact(r, column, integer);
    real = (double)integer;
    memcpy((uint8_t*)p->values + i*8, &real, 8);
  }
  p->type = ARROW_REAL;
  return r->rc;
}

/* Let the last batch's part have the type of a value, and room for it. */
static int arrow_adopt(arrow_result *r, int column, arrow_part *p, arrow_type type, int64_t row){
  arrow_type *known = &r->types[column];
  if( *known==ARROW_NONE || (*known==ARROW_INT && type==ARROW_REAL) ) *known = type;
  if( *known!=type && !(*known==ARROW_REAL && type==ARROW_INT) ){
    return arrow_fail_mixed(r, column, type);
  }
  if( p->type==ARROW_NONE ){
    p->values = arrow_grow(r, NULL, 0, arrow_width(*known, r->room));
    p->type = *known;
  }
  return *known==ARROW_REAL ? arrow_to_reals(r, column, p, row) : r->rc;
}

static int arrow_put_null(arrow_result *r, arrow_part *p, int64_t row){
  if( !p->valid ){
    p->valid = sqlite3_malloc64((uint64_t)r->room/8);
    if( !p->valid ) return arrow_nomem(r);
    memset(p->valid, 0xff, (size_t)r->room/8);
  }
  p->valid[row/8] &= (uint8_t)~(1u << (row%8));
  p->nNull++;
  return SQLITE_OK;
}

static int arrow_put_number(arrow_result *r, int column, arrow_part *p, arrow_type type,
                            int64_t row){
  int64_t integer;
  double real;
  if( p->type!=ARROW_REAL ){
    integer = sqlite3_column_int64(r->stmt, column);
    memcpy((uint8_t*)p->values + row*8, &integer, 8);
    return SQLITE_OK;
  }
  if( type==ARROW_INT && !arrow_is_exact(integer = sqlite3_column_int64(r->stmt, column)) ){
    return arrow_fail_inexact(r, column, integer);
  }
  real = sqlite3_column_double(r->stmt, column);
  memcpy((uint8_t*)p->values + row*8, &real, 8);
  return SQLITE_OK;
}

static int arrow_put_bytes(arrow_result *r, int column, arrow_part *p, arrow_type type){
  const uint8_t *from = type==ARROW_TEXT ? sqlite3_column_text(r->stmt, column)
                                         : sqlite3_column_blob(r->stmt, column);
  size_t n = (size_t)sqlite3_column_bytes(r->stmt, column);
  if( !from && (n || type==ARROW_TEXT) ) return arrow_nomem(r);
  if( type==ARROW_TEXT && !zt_utf8_valid(from, n) ){
    return arrow_fail(r, column, "has text that is not UTF-8", "CAST AS BLOB gives its bytes");
  }
  if( n>INT32_MAX - p->nBytes ){
    return arrow_fail(r, column, "is too long", "32 bits must count a column's bytes");
  }
  if( n>p->room - p->nBytes ){
    size_t room = (p->nBytes+n)*2 + 4096;
    uint8_t *bytes = sqlite3_realloc64(p->bytes, room);
    if( !bytes ) return arrow_nomem(r);
    p->bytes = bytes;
    p->room = room;
  }
  if( n ) memcpy(p->bytes + p->nBytes, from, n);
  p->nBytes += n;
  return SQLITE_OK;
}

/* Set the offset behind a row. A row without a value ends where it begins. */
static void arrow_end_bytes(arrow_part *p, int64_t row){
  ((int32_t*)p->values)[row+1] = (int32_t)p->nBytes;
}

static int arrow_put(arrow_result *r, int column, arrow_part *p, int64_t row){
  arrow_type type = ARROW_NONE;
  switch( sqlite3_column_type(r->stmt, column) ){
    case SQLITE_INTEGER: type = ARROW_INT; break;
    case SQLITE_FLOAT: type = ARROW_REAL; break;
    case SQLITE_TEXT: type = ARROW_TEXT; break;
    case SQLITE_BLOB: type = ARROW_BLOB; break;
    default: break;
  }
  if( type==ARROW_NONE ){
    arrow_put_null(r, p, row);
  }else if( p->type==type || arrow_adopt(r, column, p, type, row)==SQLITE_OK ){
    if( p->type>=ARROW_TEXT ) arrow_put_bytes(r, column, p, type);
    else arrow_put_number(r, column, p, type, row);
  }
  if( p->type>=ARROW_TEXT && p->values ) arrow_end_bytes(p, row);
  return r->rc;
}

/* --- Batches --- */

static int arrow_batch_begin(arrow_result *r){
  if( r->nBatch==r->batchRoom ){
    size_t room = r->batchRoom*2 + 4;
    const size_t size = sizeof(*r->batches);
    void *grown = arrow_grow(r, r->batches, r->batchRoom*size, room*size);
    if( !grown ) return r->rc;
    r->batches = grown;
    r->batchRoom = room;
  }
  r->room = r->nBatch ? ARROW_ROWS_MAX : ARROW_ROWS_FIRST;
  r->batches[r->nBatch] = (arrow_batch){ 0, arrow_zeros((size_t)r->columns, sizeof(arrow_part)) };
  if( !r->batches[r->nBatch].parts ) return arrow_nomem(r);
  r->nBatch++;
  return SQLITE_OK;
}

/* Give the first batch the room of the others. */
static int arrow_batch_grow(arrow_result *r, arrow_batch *b){
  int64_t room = r->room*4;
  for(int i=0; i<r->columns && !r->rc; i++){
    arrow_part *p = &b->parts[i];
    void *grown;
    if( p->values ){
      grown = arrow_grow(r, p->values, arrow_width(p->type, r->room), arrow_width(p->type, room));
      if( grown ) p->values = grown;
    }
    if( p->valid && !r->rc ){
      grown = arrow_grow(r, p->valid, (size_t)r->room/8, (size_t)room/8);
      if( grown ){
        p->valid = grown;
        memset(p->valid + r->room/8, 0xff, (size_t)(room-r->room)/8);
      }
    }
  }
  r->room = room;
  return r->rc;
}

static bool arrow_batch_is_full(const arrow_result *r, const arrow_batch *b){
  if( b->rows==ARROW_ROWS_MAX ) return true;
  for(int i=0; i<r->columns; i++) if( b->parts[i].nBytes>=ARROW_BYTES_MAX ) return true;
  return false;
}

static int arrow_take_row(arrow_result *r){
  const bool full = r->nBatch==0 || arrow_batch_is_full(r, &r->batches[r->nBatch-1]);
  arrow_batch *b;
  if( full && arrow_batch_begin(r) ) return r->rc;
  b = &r->batches[r->nBatch-1];
  if( b->rows==r->room && arrow_batch_grow(r, b) ) return r->rc;
  for(int i=0; i<r->columns && !r->rc; i++) arrow_put(r, i, &b->parts[i], b->rows);
  b->rows++;
  r->total++;
  return r->rc;
}

/* The type of a column in which all values are NULL. */
static arrow_type arrow_declared(sqlite3_stmt *stmt, int column){
  static const struct { const char *word; arrow_type type; } words[] = {
    { "INTEGER", ARROW_INT }, { "REAL", ARROW_REAL }, { "TEXT", ARROW_TEXT },
    { "BLOB", ARROW_BLOB },
  };
  const char *declared = sqlite3_column_decltype(stmt, column);
  for(size_t i=0; declared && i<sizeof(words)/sizeof(words[0]); i++){
    if( sqlite3_stricmp(declared, words[i].word)==0 ) return words[i].type;
  }
  return ARROW_NONE;
}

/* Give the parts of all batches their column's type. */
static int arrow_settle(arrow_result *r, int column){
  if( r->types[column]==ARROW_NONE ) r->types[column] = arrow_declared(r->stmt, column);
  for(size_t b=0; b<r->nBatch && !r->rc; b++){
    arrow_part *p = &r->batches[b].parts[column];
    if( p->type==ARROW_NONE && r->types[column]!=ARROW_NONE ){
      p->type = r->types[column];
      p->values = arrow_grow(r, NULL, 0, arrow_width(p->type, r->batches[b].rows));
    }
    if( r->types[column]==ARROW_REAL ) arrow_to_reals(r, column, p, r->batches[b].rows);
  }
  return r->rc;
}

/* --- Streams --- */

static void arrow_release_schema(struct ArrowSchema *s){
  for(int64_t i=0; i<s->n_children; i++){
    struct ArrowSchema *child = s->children[i];
    if( child && child->release ) child->release(child);
  }
  sqlite3_free(s->private_data);
  s->release = NULL;
}

/* What arrays and schemas with children allocate at once: the children, and pointers to them. */
static int arrow_schema_columns(struct ArrowArrayStream *stream, struct ArrowSchema *out){
  arrow_result *r = stream->private_data;
  size_t n = (size_t)r->columns;
  struct ArrowSchema *children;
  children = arrow_zeros(n, sizeof(*children)+sizeof(children));   /* NOLINT: and a pointer */
  if( !children ) return ENOMEM;
  *out = (struct ArrowSchema){ .format = "+s", .name = "", .n_children = r->columns,
                               .children = (struct ArrowSchema**)(children+n),
                               .release = arrow_release_schema, .private_data = children };
  for(size_t i=0; i<n; i++){
    char *name = sqlite3_mprintf("%s", r->names[i]);
    if( !name ){
      out->release(out);
      return ENOMEM;
    }
    children[i] = (struct ArrowSchema){ .format = arrow_formats[r->types[i]], .name = name,
                                        .flags = ARROW_FLAG_NULLABLE, .private_data = name,
                                        .release = arrow_release_schema };
    out->children[i] = &children[i];
  }
  return 0;
}

/* The memory of a column that was given away. */
typedef struct arrow_given {
  arrow_part part;
  const void *buffers[3];
} arrow_given;

static void arrow_release_column(struct ArrowArray *a){
  arrow_given *given = a->private_data;
  arrow_part_clear(&given->part);
  sqlite3_free(given);
  a->release = NULL;
}

/* Columns are released one by one, because a consumer may move one away. */
static void arrow_release_array(struct ArrowArray *a){
  for(int64_t i=0; i<a->n_children; i++){
    struct ArrowArray *child = a->children[i];
    if( child && child->release ) child->release(child);
  }
  sqlite3_free(a->private_data);
  a->release = NULL;
}

static int arrow_give_column(arrow_part *p, int64_t rows, struct ArrowArray *out){
  static const int64_t empty = 0;   /* What offsets and bytes point to where there are none */
  arrow_given *given = sqlite3_malloc64(sizeof(*given));
  if( !given ) return ENOMEM;
  given->part = *p;
  given->buffers[0] = p->valid;
  given->buffers[1] = p->values ? p->values : &empty;
  given->buffers[2] = p->bytes ? (const void*)p->bytes : &empty;
  *out = (struct ArrowArray){ .length = rows, .null_count = p->type==ARROW_NONE ? rows : p->nNull,
                              .n_buffers = p->type==ARROW_NONE ? 0 : p->type>=ARROW_TEXT ? 3 : 2,
                              .buffers = given->buffers, .private_data = given,
                              .release = arrow_release_column };
  *p = (arrow_part){ .type = ARROW_NONE };
  return 0;
}

static int arrow_next_batch(struct ArrowArrayStream *stream, struct ArrowArray *out){
  arrow_result *r = stream->private_data;
  static const void *no_validity[1] = { NULL };
  size_t n = (size_t)r->columns;
  struct ArrowArray *children;
  *out = (struct ArrowArray){ .release = NULL };
  if( r->next==r->nBatch ) return 0;
  children = arrow_zeros(n, sizeof(*children)+sizeof(children));   /* NOLINT: and a pointer */
  if( !children ) return ENOMEM;
  *out = (struct ArrowArray){ .length = r->batches[r->next].rows, .n_buffers = 1,
                              .n_children = r->columns, .buffers = no_validity,
                              .children = (struct ArrowArray**)(children+n),
                              .release = arrow_release_array, .private_data = children };
  for(size_t i=0; i<n; i++){
    out->children[i] = &children[i];
    if( arrow_give_column(&r->batches[r->next].parts[i], out->length, &children[i]) ){
      out->release(out);
      return ENOMEM;
    }
  }
  r->next++;
  return 0;
}

static const char *arrow_last_error(struct ArrowArrayStream *stream){
  (void)stream;
  return "out of memory";
}

static void arrow_release_stream(struct ArrowArrayStream *stream){
  arrow_free(stream->private_data);
  stream->release = NULL;
}

/* --- A run --- */

static arrow_result *arrow_new(sqlite3_stmt *stmt){
  int n = sqlite3_column_count(stmt);
  arrow_result *r = sqlite3_malloc64(sizeof(*r));
  if( !r ) return NULL;
  *r = (arrow_result){ .stmt = stmt, .columns = n };
  r->names = arrow_zeros((size_t)n, sizeof(*r->names));
  r->types = arrow_zeros((size_t)n, sizeof(*r->types));
  for(int i=0; i<n && r->names && r->types; i++){
    const char *name = sqlite3_column_name(stmt, i);
    r->names[i] = name ? sqlite3_mprintf("%s", name) : NULL;
    if( !r->names[i] ) break;
  }
  if( r->names && r->types && (n==0 || r->names[n-1]) ) return r;
  arrow_free(r);
  return NULL;
}

static int arrow_fill(arrow_result *r){
  int rc = SQLITE_ROW;
  while( !r->rc && (rc = sqlite3_step(r->stmt))==SQLITE_ROW ) arrow_take_row(r);
  if( !r->rc && rc!=SQLITE_DONE ){
    r->message = sqlite3_mprintf("%s", sqlite3_errmsg(sqlite3_db_handle(r->stmt)));
    r->rc = r->message ? rc & 0xff : SQLITE_NOMEM;
  }
  for(int i=0; i<r->columns && !r->rc; i++) arrow_settle(r, i);
  sqlite3_reset(r->stmt);
  r->stmt = NULL;
  return r->rc;
}

int zt_arrow_run(sqlite3_stmt *stmt, struct ArrowArrayStream *out, char **message){
  arrow_result *r = arrow_new(stmt);
  int rc;
  *message = NULL;
  *out = (struct ArrowArrayStream){ .release = NULL };
  if( !r ) return SQLITE_NOMEM;
  rc = arrow_fill(r);
  if( rc ){
    if( rc!=SQLITE_NOMEM ){
      *message = r->message;
      r->message = NULL;
    }
    arrow_free(r);
    return rc;
  }
  *out = (struct ArrowArrayStream){ arrow_schema_columns, arrow_next_batch, arrow_last_error,
                                    arrow_release_stream, r };
  return SQLITE_OK;
}
