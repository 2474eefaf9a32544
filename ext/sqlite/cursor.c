/* A cursor of the frame. See cursor.h. */
#include "sqlite/cursor.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- Files --- */

void zt_cursor_leave_file(zt_cursor *c){
  zt_object_iterator_leave_file(&c->objects);
  zt_file_iterator_leave(&c->files);
}

/* Come to a file. One that the cursor stands on already is neither asked for nor opened again. */
static void cursor_leave_for(zt_cursor *c, const zt_listed *file){
  if( !zt_file_iterator_is_on(&c->files, file) ) zt_cursor_leave_file(c);
  zt_object_iterator_come(&c->objects);
}

/* Stand before the first object of the next file that can be read. False at the end and on failure;
** at the end, the cursor goes on standing where it is. */
static bool cursor_next_file(zt_cursor *c){
  const zt_table *t = c->scan.table;
  zt_listed *file;
  while( c->arguments.source==ZT_SOURCE_TEXT && (file = zt_file_iterator_next(&c->files))!=NULL ){
    cursor_leave_for(c, file);
    zt_file_iterator_stand_on(&c->files, file);
    if( t->rows==ZT_ROWS_FILES ) return true;
    zt_file_iterator_open(&c->files);
    if( c->err.rc ) return false;
    if( c->scan.container || zt_table_is_of_files(t) ) return true;
  }
  return false;
}

void zt_cursor_return(zt_cursor *c, const zt_file_place *at){
  cursor_leave_for(c, at->file);
  zt_file_iterator_return(&c->files, at);
  zt_object_iterator_enter(&c->objects);
}

/* --- Rows --- */

/* At the end, what was opened stays open: the same may be asked for again. */
int zt_cursor_advance(zt_cursor *c){
  const bool of_files = zt_table_is_of_files(c->scan.table);
  if( zt_object_iterator_next_row(&c->objects) ) return SQLITE_OK;
  while( !c->err.rc ){
    if( !of_files && zt_object_iterator_next(&c->objects) ) return SQLITE_OK;
    if( c->err.rc || !cursor_next_file(c) ) break;
    if( of_files && zt_object_iterator_enter(&c->objects) ) return SQLITE_OK;
  }
  c->eof = true;
  return c->err.rc;
}

int zt_cursor_skip(zt_cursor *c, uint64_t n, uint64_t *passed){
  const zt_table *t = c->scan.table;
  *passed = t->skip ? t->skip(&c->scan, n) : 0;
  if( *passed==n ) return SQLITE_OK;
  ++*passed;
  return zt_cursor_advance(c);
}

/* --- Beginning --- */

/* Stand on the first row of what the cursor stands on: of a table whose rows are of files, there is
** no other file. */
static int cursor_begin_here(zt_cursor *c){
  if( !zt_table_is_of_files(c->scan.table) ) return zt_cursor_advance(c);
  c->eof = !zt_object_iterator_enter(&c->objects);
  return c->err.rc;
}

/* The source names nothing that could be listed: a file that cannot be read. */
static int cursor_begin_missing(zt_cursor *c){
  zt_cursor_leave_file(c);
  c->err.path = c->files.files.source;
  if( zt_table_is_of_files(c->scan.table) ){
    zt_file_iterator_stand_on_missing(&c->files);
    return cursor_begin_here(c);
  }
  /* A URL that is a pattern may stand for many, which nobody asked to skip */
  if( !c->scan.skip || zt_path_is_url(c->files.files.source) ) return c->err.rc;
  zt_error_clear(&c->err);
  c->eof = true;
  return SQLITE_OK;
}

/* A path that names nothing is a file that cannot be read; anything else is wrong with
** the query. */
static int cursor_begin_files(zt_cursor *c){
  const int rc = zt_file_iterator_begin(&c->files);
  if( rc==SQLITE_OK ) return zt_cursor_advance(c);
  return rc==SQLITE_ERROR && c->err.path ? cursor_begin_missing(c) : rc;
}

/* A BLOB that is the same as before is open already. */
static int cursor_begin_blob(zt_cursor *c, sqlite3_value *image, bool same){
  const zt_arguments *a = &c->arguments;
  /* It has no path, and NULL equals nothing. SQLite 3.31 does not see to that: a row whose column
  ** is NULL passes its check of an IN. */
  c->eof = (c->constraints.plan & ZT_PLAN_PATH) || zt_constraints_filters_paths(&c->constraints);
  if( c->eof ) return SQLITE_OK;
  if( !same || c->files.state!=ZT_FILE_OPEN ){
    zt_cursor_leave_file(c);
    zt_file_iterator_stand_on_image(&c->files, a->blob ? a->blob : image, a->blob_size);
    if( c->err.rc ) return c->err.rc;
  }
  zt_object_iterator_come(&c->objects);
  return cursor_begin_here(c);
}

void zt_cursor_rewind(zt_cursor *c){
  zt_object_iterator_rewind(&c->objects);
  zt_file_iterator_rewind(&c->files);
  c->eof = false;
}

int zt_cursor_begin(zt_cursor *c, sqlite3_value *image, bool same){
  return c->arguments.source==ZT_SOURCE_BLOB ? cursor_begin_blob(c, image, same)
                                             : cursor_begin_files(c);
}

/* --- Rowids --- */

/* A number that tells the source from others of which a row may differ. That of a BLOB which is not
** kept follows from what was read of it: so does every row. */
static uint64_t cursor_source_number(const zt_cursor *c){
  const zt_arguments *a = &c->arguments;
  const char *error = c->scan.error ? c->scan.error->message : NULL;
  if( a->source!=ZT_SOURCE_BLOB ) return XXH3_64bits(c->files.files.source, c->files.files.nSource);
  if( a->blob && a->blob_size>0 ){
    return XXH3_64bits(sqlite3_value_blob(a->blob), (size_t)a->blob_size);
  }
  if( c->scan.container ) return zt_container_number(c->scan.container);
  return error ? XXH3_64bits_withSeed(error, strlen(error), a->blob_size) : a->blob_size;
}

/* A number of the source and the arguments. */
static uint64_t cursor_number(zt_cursor *c){
  if( c->number ) return c->number;
  c->number = cursor_source_number(c);
  for(int i=0; i<zt_table_arguments(c->scan.table); i++){
    const char *z = zt_arguments_shown(&c->arguments, i);
    if( z ) c->number = XXH3_64bits_withSeed(z, strlen(z), c->number+(uint64_t)i+1);
  }
  if( !c->number ) c->number = 1;
  return c->number;
}

/* RIGHT and FULL JOIN, and OR, take rows with one rowid for the same row, though they come from
** scans with different constraints: so it follows from the arguments, the path and the row's place
** in the file, and not from what was listed before. */
sqlite3_int64 zt_cursor_rowid(zt_cursor *c){
  zt_scan *scan = &c->scan;
  const uint64_t row = scan->table->rowid ? scan->table->rowid(scan) : scan->object;
  uint64_t file = cursor_number(c);
  if( scan->path ) file = XXH3_64bits_withSeed(scan->path, strlen(scan->path), file);
  return (sqlite3_int64)((file+row) & INT64_MAX);
}

/* --- Columns --- */

/* The column source. */
static void cursor_source_column(const zt_cursor *c, sqlite3_context *ctx){
  const zt_arguments *a = &c->arguments;
  zt_error err = ZT_ERROR_NONE;
  if( a->source!=ZT_SOURCE_BLOB ){
    zt_result_text(ctx, (zt_text){ c->files.files.source, c->files.files.nSource });
  }else if( a->blob ){
    sqlite3_result_value(ctx, a->blob);
  }else{
    err.path = "<blob>";
    zt_fail(&err, SQLITE_ERROR,
            "the column source of a BLOB of more than %d bytes is kept only if another column"
            " reads the BLOB",
            ZT_CURSOR_BLOB);
    zt_result_error(ctx, &err);
  }
}

/* The value of the argument column i, counted from the source; behind the last one, of the column
** that catches one too many. */
static void cursor_argument_column(const zt_cursor *c, sqlite3_context *ctx, int i){
  const char *z;
  if( i==0 ){
    cursor_source_column(c, ctx);
    return;
  }
  if( i>zt_table_arguments(c->scan.table) ) return;
  z = zt_arguments_shown(&c->arguments, i-1);
  if( z ) sqlite3_result_text(ctx, z, -1, SQLITE_TRANSIENT);
}

void zt_cursor_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = c->scan.table;
  const int column = zt_table_column(t, i);
  if( column<0 ) cursor_argument_column(c, ctx, i-t->nVisible);
  else if( column!=t->iPath ) t->column(&c->scan, ctx, column);
  else if( c->scan.path ) sqlite3_result_text(ctx, c->scan.path, -1, SQLITE_TRANSIENT);
}
