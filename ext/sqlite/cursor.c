/* A cursor of the frame. See cursor.h. */
#include "sqlite/cursor.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- Files --- */

void zt_cursor_leave_file(zt_cursor *c){
  zt_object_iterator_leave_file(&c->objects);
  zt_file_iterator_leave(&c->files);
}

/* Leave the current file, unless it is this one, which keeps its stat and stays open. */
static void cursor_leave_for(zt_cursor *c, const zt_listed *file){
  if( !zt_file_iterator_is_on(&c->files, file) ) zt_cursor_leave_file(c);
  zt_object_iterator_come(&c->objects);
}

/* Go before the first object of the next readable file. False at the end and on failure. At the
** end, the current file stays current. */
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

/* At the end, the current file stays open: the query may ask for it again. */
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

/* Go to the first row of the current file. If a table's rows belong to files, there is no other
** file. */
static int cursor_begin_here(zt_cursor *c){
  if( !zt_table_is_of_files(c->scan.table) ) return zt_cursor_advance(c);
  c->eof = !zt_object_iterator_enter(&c->objects);
  return c->err.rc;
}

/* The source names nothing that can be listed: it counts as an unreadable file. */
static int cursor_begin_missing(zt_cursor *c){
  zt_cursor_leave_file(c);
  if( c->err.kind ) return c->err.rc;   /* A listing of remote files failed: no row, no 'skip' */
  c->err.path = c->files.files.source;
  if( zt_table_is_of_files(c->scan.table) ){
    zt_file_iterator_stand_on_missing(&c->files);
    return cursor_begin_here(c);
  }
  /* A URL with wildcards may stand for many files: 'skip' does not cover these */
  if( !c->scan.skip || zt_path_is_url(c->files.files.source) ) return c->err.rc;
  zt_error_clear(&c->err);
  c->eof = true;
  return SQLITE_OK;
}

/* A path that names nothing is an unreadable file. Any other failure is the query's. */
static int cursor_begin_files(zt_cursor *c){
  const int rc = zt_file_iterator_begin(&c->files);
  if( rc==SQLITE_OK ) return zt_cursor_advance(c);
  return rc==SQLITE_ERROR && c->err.path ? cursor_begin_missing(c) : rc;
}

/* A BLOB that has not changed is open already. */
static int cursor_begin_blob(zt_cursor *c, sqlite3_value *image, bool same){
  const zt_arguments *a = &c->arguments;
  /* A BLOB has no path, and NULL equals nothing. SQLite 3.31 does not check that: a row whose
  ** column is NULL passes its check of an IN. */
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

/* A hash that distinguishes the source from others whose rows may differ. If a BLOB is not kept,
** the hash depends on the data read from it, as its rows do. */
static uint64_t cursor_source_number(const zt_cursor *c){
  const zt_arguments *a = &c->arguments;
  const char *error = c->scan.error ? c->scan.error->message : NULL;
  if( a->source!=ZT_SOURCE_BLOB ) return XXH3_64bits(c->files.files.source, c->files.files.nSource);
  if( a->blob ) return XXH3_64bits(sqlite3_value_blob(a->blob), (size_t)a->blob_size);
  if( c->scan.container ) return zt_container_number(c->scan.container);
  return error ? XXH3_64bits_withSeed(error, strlen(error), a->blob_size) : a->blob_size;
}

/* A hash of source and arguments. */
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

/* RIGHT and FULL JOIN, and OR, treat rows with equal rowids as the same row, even from scans with
** different constraints. So the rowid depends on the arguments, the path and the row's place in the
** file, not on the files listed before. */
sqlite3_int64 zt_cursor_rowid(zt_cursor *c){
  zt_scan *scan = &c->scan;
  const uint64_t row = scan->table->rowid ? scan->table->rowid(scan) : scan->object;
  uint64_t file = cursor_number(c);
  if( scan->path ) file = XXH3_64bits_withSeed(scan->path, strlen(scan->path), file);
  return (sqlite3_int64)((file+row) & INT64_MAX);
}

/* --- Columns --- */

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

/* Argument column i, where 0 is source. The column after the last argument, which catches one too
** many, is NULL. */
static void cursor_argument_column(const zt_cursor *c, sqlite3_context *ctx, int i){
  const char *z;
  if( i==0 ){
    cursor_source_column(c, ctx);
    return;
  }
  if( i>zt_table_arguments(c->scan.table) ) return;
  z = zt_arguments_shown(&c->arguments, i-1);
  if( z && (c->scan.table->integers>>(i-1) & 1) ) zt_result_uint(ctx, strtoul(z, NULL, 10));
  else if( z ) sqlite3_result_text(ctx, z, -1, SQLITE_TRANSIENT);
}

void zt_cursor_other_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = c->scan.table;
  const int column = zt_table_column(t, i);
  if( column<0 ) cursor_argument_column(c, ctx, i-t->nVisible);
  else if( column!=t->iPath ) t->column(&c->scan, ctx, column);
  else if( c->scan.path ) sqlite3_result_text(ctx, c->scan.path, -1, SQLITE_TRANSIENT);
}
