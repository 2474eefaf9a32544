/* The one virtual-table frame: going from row to row, columns, registration. See scan.h
** and cursor.h. */
#include "sqlite/cursor.h"

#include <assert.h>
#include <errno.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/sort.h"
#include "sqlite/plan.h"
#include "sqlite/target.h"

const zt_object *zt_scan_object(zt_scan *scan){
  zt_cursor *c = zt_cursor_of(scan);
  if( !c->decoded ){
    zt_container_object(c->container, scan->object, &c->object);
    c->decoded = true;
  }
  return &c->object;
}

zt_error zt_scan_error(zt_scan *scan){
  zt_error err = ZT_ERROR_NONE;
  err.path = zt_cursor_of(scan)->err.path;
  if( !scan->on_file ) err.object = zt_container_name(scan->container, scan->object);
  return err;
}

void zt_scan_fail(zt_scan *scan, sqlite3_context *ctx, zt_error *err){
  bool of_file = err->rc==SQLITE_ERROR || err->rc==SQLITE_TOOBIG;
  if( scan->skip && of_file && !zt_os_exhausted(err->system) ) zt_error_clear(err);
  else zt_result_error(ctx, err);
}

/* --- Opening and closing --- */

static int scan_open_cursor(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  const zt_table_module *m = ((zt_vtab*)p)->module;
  zt_cursor *c = sqlite3_malloc64(sizeof(*c));
  if( !c ) return SQLITE_NOMEM;
  memset(c, 0, sizeof(*c));
  c->base.pVtab = p;
  c->scan.on_file = zt_table_is_of_files(m->table);
  c->scan.connection = m->connection;
  c->scan.err = &c->err;
  if( m->table->row_size ){
    c->scan.row = sqlite3_malloc64(m->table->row_size);
    if( !c->scan.row ){
      sqlite3_free(c);
      return SQLITE_NOMEM;
    }
    memset(c->scan.row, 0, m->table->row_size);
  }
  zt_connection_enter(m->connection);
  *out = &c->base;
  return SQLITE_OK;
}

void zt_cursor_leave_object(zt_cursor *c){
  const zt_table *t = zt_cursor_table(c);
  if( c->entered && t->clear ) t->clear(&c->scan);
  c->entered = c->on_row = c->decoded = false;
}

void zt_cursor_leave_file(zt_cursor *c){
  zt_cursor_leave_object(c);
  zt_cursor_drop_works(c);
  zt_source_close(c->source);
  zt_container_close(c->container);
  zt_error_clear(&c->file_error);
  c->source = c->scan.source = NULL;
  c->container = NULL;
  c->scan.container = NULL;
  c->scan.path = c->err.path = NULL;
  c->scan.error = NULL;
  c->file = NULL;
  c->standing = c->opened = c->has_stat = c->tried_stat = c->found = false;
  c->stat_error = 0;
}

void zt_cursor_clear_choices(zt_cursor *c){
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    for(size_t i=0; i<c->choice[k].n; i++) sqlite3_value_free(c->choice[k].a[i]);
    sqlite3_free(c->choice[k].a);
    c->choice[k] = (zt_choice){ 0 };
  }
}

void zt_cursor_reset(zt_cursor *c){
  zt_cursor_unsort(c);
  zt_automatic_clear(c);
  zt_ahead_stop(&c->ahead);
  zt_cursor_leave_file(c);
  zt_cursor_clear_choices(c);
  zt_files_clear(&c->files);
  sqlite3_value_free(c->blob);
  for(int i=0; i<ZT_ARGUMENTS; i++){
    sqlite3_free(c->argument[i]);
    c->argument[i] = NULL;
    c->scan.argument[i] = NULL;
  }
  c->blob = NULL;
  c->asked = c->is_blob = false;
  c->number = 0;
}

static int scan_close_cursor(sqlite3_vtab_cursor *p){
  zt_cursor *c = (zt_cursor*)p;
  zt_cursor_reset(c);
  zt_ahead_clear(&c->ahead);
  zt_ahead_clear(&c->works);
  zt_recycled_clear(&c->openings);
  zt_wanted_clear(&c->wanted);
  zt_positions_clear(&c->positions);
  zt_error_clear(&c->err);
  zt_connection_leave(c->scan.connection);
  sqlite3_free(c->only);
  sqlite3_free(c->scan.row);
  sqlite3_free(c);
  return SQLITE_OK;
}

int zt_cursor_fail(zt_cursor *c){
  int rc = c->err.rc;
  sqlite3_vtab *v = c->base.pVtab;
  c->eof = true;
  if( rc && rc!=SQLITE_NOMEM ){
    sqlite3_free(v->zErrMsg);
    v->zErrMsg = c->err.message;
    c->err.message = NULL;
  }
  zt_error_clear(&c->err);
  zt_cursor_reset(c);
  c->err = ZT_ERROR_NONE;
  return rc;
}

/* --- Files --- */

/* Being out of memory or interrupted always is one; and what there was no descriptor for is not
** skipped as if the file were broken. */
bool zt_cursor_may_go_on(const zt_cursor *c){
  return c->err.rc==SQLITE_ERROR
      && (zt_table_is_of_files(zt_cursor_table(c))
          || (c->scan.skip && !zt_os_exhausted(c->err.system)));
}

/* What is wrong is the current file's, not the query's. */
void zt_cursor_set_file_error(zt_cursor *c){
  c->file_error = c->err;
  c->err = (zt_error){ .path = c->file_error.path };
  c->scan.error = &c->file_error;
}

/* What was told of the file is of the state that was opened now: a row is of one state alone. */
static int scan_check_told(zt_cursor *c){
  const zt_identity *id = zt_container_identity(c->container);
  if( !c->has_stat || zt_same_state(&c->stat.id, id) ) return SQLITE_OK;
  return zt_fail_changing(&c->err, "the file was replaced while it was read");
}

/* Threads to open files of the list that come next, if there is anything to be had by that. */
static zt_pool *scan_pool(zt_cursor *c){
  const bool several = c->iFile>0 && zt_cursor_files(c)>1;   /* It came by them one by one */
  zt_pool *pool = zt_connection_pool(c->scan.connection);   /* Also to read one that is large */
  return several && !c->files.again && c->files.complete ? pool : NULL;
}

/* Open the current file, once. Failures are in c->err. */
static void scan_open_file(zt_cursor *c){
  zt_source **source = (c->plan & ZT_PLAN_BYTES) ? &c->source : NULL;
  zt_pool *pool;
  if( c->opened || !c->file ) return;
  c->opened = true;
  if( c->has_stat ) zt_files_renew(&c->files, c->file, &c->stat.id);
  if( c->stat_error && !c->file->path.error_number ) zt_fail_os(&c->err, "open", c->stat_error);
  else if( (pool = scan_pool(c))!=NULL ) zt_cursor_open_ahead(c, pool, source!=NULL);
  else zt_files_open(&c->files, c->file, c->scan.connection->cache, &c->container, source, &c->err);
  if( c->container && scan_check_told(c) ){
    zt_container_close(c->container);
    c->container = NULL;
  }
  c->scan.container = c->container;
  c->scan.source = c->source;
  if( !c->container ) return;
  c->stat.id = *zt_container_identity(c->container);   /* Whatever was there when it was listed */
  c->has_stat = c->tried_stat = true;
}

void zt_scan_open(zt_scan *scan, sqlite3_context *ctx){
  zt_cursor *c = zt_cursor_of(scan);
  scan_open_file(c);
  if( c->err.rc && zt_cursor_may_go_on(c) ) zt_cursor_set_file_error(c);
  if( c->err.rc ) zt_result_error(ctx, &c->err);
}

const zt_stat *zt_scan_stat(zt_scan *scan, sqlite3_context *ctx){
  zt_cursor *c = zt_cursor_of(scan);
  int error_number = 0;
  if( c->tried_stat || !c->file ) return c->has_stat ? &c->stat : NULL;
  if( c->file->has_stat ) c->stat = c->file->stat;
  else if( zt_path_is_url(c->file->path.z) ) error_number = c->file->path.error_number;
  else error_number = zt_os_stat(c->file->path.z, &c->stat);
  if( error_number==ENOMEM ) sqlite3_result_error_nomem(ctx);
  c->tried_stat = error_number!=ENOMEM;
  c->has_stat = error_number==0;
  c->stat_error = error_number==ENOMEM ? 0 : error_number;
  return c->has_stat ? &c->stat : NULL;
}

/* Open the BLOB, within xFilter. Its bytes are read after that only if a column needs them; then
** c->blob has them. */
void zt_cursor_open_image(zt_cursor *c, sqlite3_value *image){
  c->standing = c->begun = c->opened = c->has_stat = c->tried_stat = true;
  c->stat = (zt_stat){ .id.size = c->blob_size };
  c->err.path = "<blob>";
  if( c->plan & ZT_PLAN_CONTAINER ){
    zt_target_open_image(c->scan.connection, c->blob ? c->blob : image, &c->container, &c->source,
                         &c->err);
  }
  if( !(c->plan & ZT_PLAN_BYTES) ){
    zt_source_close(c->source);
    c->source = NULL;
  }
  c->scan.container = c->container;
  c->scan.source = c->source;
  if( c->err.rc && zt_cursor_may_go_on(c) ) zt_cursor_set_file_error(c);
}

size_t zt_cursor_files(const zt_cursor *c){
  return c->few ? c->nOnly : c->files.n;
}

zt_listed *zt_cursor_file(const zt_cursor *c, size_t i){
  const size_t at = c->plan & ZT_PLAN_REVERSED ? zt_cursor_files(c)-1-i : i;
  zt_listed *file = c->few ? c->only[at] : &c->files.a[at];
  assert( file );
  return zt_cursor_is_lost(file) || zt_wanted_path(&c->wanted, file->path.z) ? file : NULL;
}

/* The next file that is wanted; NULL: there is none. */
static zt_listed *scan_next_listed(zt_cursor *c){
  const size_t n = zt_cursor_files(c);
  while( c->iFile<n ){
    zt_listed *file = zt_cursor_file(c, c->iFile++);
    if( file ) return file;
  }
  return NULL;
}

/* Stand on a file. One that the cursor stands on already is neither asked for nor opened again. */
static void scan_stand_on(zt_cursor *c, zt_listed *file){
  bool same = c->standing && c->file==file && c->file_id==file->id && !c->scan.error;
  if( !same ) zt_cursor_leave_file(c);
  zt_automatic_count_file(c, file);
  c->file = file;
  c->file_id = file->id;
  c->standing = c->begun = true;
  c->scan.path = c->err.path = file->path.z;
}

void zt_cursor_stand_on(zt_cursor *c, zt_listed *file){
  scan_stand_on(c, file);
  zt_cursor_enter_object(c);
}

/* Stand before the first object of the next file that can be read. False at the end and on failure;
** at the end, the cursor goes on standing where it is. */
static bool scan_next_file(zt_cursor *c){
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  for(;;){
    zt_listed *file = c->is_blob ? NULL : scan_next_listed(c);
    if( !file ) return false;
    if( c->iFile>1 && zt_interrupt_check(&interrupt, &c->err) ) return false;
    scan_stand_on(c, file);
    c->iObject = 0;
    if( zt_cursor_table(c)->rows==ZT_ROWS_FILES ) return true;
    scan_open_file(c);
    if( !c->err.rc ) return true;
    if( !zt_cursor_may_go_on(c) ) return false;
    zt_cursor_set_file_error(c);
    if( zt_table_is_of_files(zt_cursor_table(c)) ) return true;
  }
}

/* --- Objects --- */

static int scan_compare_index(const void *unused, const void *a, const void *b){
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  (void)unused;
  return (x>y) - (x<y);
}

/* Look up the wanted names in the current file; each object once, even if it is wanted twice. */
static int scan_find_objects(zt_cursor *c){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  const zt_sort_by by = {
    .size = sizeof(uint32_t), .compare = scan_compare_index, .interrupt = &interrupt
  };
  const zt_names *names = &c->wanted.objects;
  zt_positions *p = &c->positions;
  uint32_t n = 0;
  p->n = 0;
  c->found = true;
  c->automatic.passed += zt_container_objects(c->container);
  for(uint32_t i=0; i<zt_names_count(names); i++){
    int64_t k = zt_container_find(c->container, zt_names_get(names, i));
    if( k>=0 && zt_positions_push(p, (size_t)k, &c->err) ) return c->err.rc;
    if( (i+1)%ZT_WANTED_POLL==0 && zt_interrupt_check(&interrupt, &c->err) ) return c->err.rc;
  }
  if( p->n<2 ) return SQLITE_OK;
  if( zt_sort(p->a, p->n, &by, &c->err) ) return c->err.rc;
  for(uint32_t i=1; i<p->n; i++) if( p->a[i]!=p->a[n] ) p->a[++n] = p->a[i];
  p->n = n+1;
  return SQLITE_OK;
}

/* The one object that the argument names is not in the one file that the source names; with 'skip'
** that is no matter. */
static bool scan_lacks_object(zt_cursor *c){
  const zt_names *names = &c->wanted.objects;
  if( c->scan.skip || !zt_table_is_of_one(zt_cursor_table(c)) || c->positions.n
   || !zt_names_count(names) ) return false;
  return c->is_blob || (c->file && c->file->path.literal);
}

/* Fail if the statement shall end. */
static int scan_ask(zt_cursor *c){
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  return zt_interrupt_check(&interrupt, &c->err);
}

uint64_t zt_cursor_objects(const zt_cursor *c){
  return c->wanted.objects.any ? zt_container_objects(c->container) : c->positions.n;
}

bool zt_cursor_object(const zt_cursor *c, uint64_t i, uint32_t *object){
  *object = c->wanted.objects.any ? (uint32_t)i : c->positions.a[i];
  return !zt_wanted_filters(&c->wanted)
      || zt_wanted_object(&c->wanted, zt_container_name(c->container, *object));
}

static void scan_fail_object(zt_cursor *c){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  zt_target_no_object(c->container, zt_names_get(&c->wanted.objects, 0), &interrupt, &c->err);
}

/* Choose the next object of the current file, or the file itself. */
static bool scan_next_object(zt_cursor *c){
  bool named = !c->wanted.objects.any;
  bool file_first = zt_cursor_table(c)->rows==ZT_ROWS_FILES_AND_OBJECTS
                 && !(c->plan & ZT_PLAN_OBJECT) && !zt_wanted_filters(&c->wanted);
  uint64_t n;
  if( named && !c->found && scan_find_objects(c) ) return false;
  if( named && scan_lacks_object(c) ){
    scan_fail_object(c);
    return false;
  }
  n = zt_cursor_objects(c) + (uint64_t)file_first;
  while( c->iObject<n ){
    uint64_t i = c->iObject++ - file_first;
    c->scan.on_file = file_first && c->iObject==1;
    if( c->scan.on_file ) return true;
    if( zt_cursor_object(c, i, &c->scan.object) ) return true;
    if( c->iObject%ZT_CURSOR_POLL==0 && scan_ask(c) ) return false;
  }
  return false;
}

/* What a table says, whose place in the error is left if it did not fail. */
static bool scan_said(zt_cursor *c, bool yes){
  if( !c->err.rc ) c->err.object.z = c->err.component.z = NULL;
  return yes && !c->err.rc;
}

/* An object, or the rest of one, cannot be had: with 'skip' that is passed over. */
static void scan_pass_over(zt_cursor *c){
  zt_cursor_leave_object(c);
  if( !c->scan.skip || !zt_cursor_may_go_on(c) ) return;
  zt_error_clear(&c->err);
  c->err.object.z = c->err.component.z = NULL;
}

/* Let the table work on the chosen object, or the file itself, if it does not already. Most tables
** begin with its first row, and keep nothing of it. */
static bool scan_open_object(zt_cursor *c){
  const zt_table *t = zt_cursor_table(c);
  if( !t->open && !t->clear ){
    c->decoded = false;
    return true;
  }
  if( c->entered && t->open && c->entered_file==c->scan.on_file
   && c->entered_object==c->scan.object ) return true;
  zt_cursor_leave_object(c);
  c->entered = true;
  c->entered_file = c->scan.on_file;
  c->entered_object = c->scan.object;
  return !t->open || scan_said(c, t->open(&c->scan));
}

/* True if the object's rows that are wanted can be counted. */
static bool scan_may_count(zt_cursor *c){
  if( !c->wanted.uncounted || zt_scan_object(&c->scan)->elements<=INT64_MAX ) return true;
  zt_fail(&c->err, SQLITE_ERROR, "with LIMIT, a column of numbers beyond 2^63 cannot be compared"
          " with what is no INTEGER: write + before the column");
  return false;
}

bool zt_cursor_enter_object(zt_cursor *c){
  const zt_table *t = zt_cursor_table(c);
  if( scan_open_object(c) && scan_may_count(c)
   && (!t->first || scan_said(c, t->first(&c->scan))) ) c->on_row = true;
  if( c->err.rc ) scan_pass_over(c);
  return c->on_row;
}

/* Stand on the first row of the next object of the current file, or of the file itself. */
static bool scan_enter_next(zt_cursor *c){
  while( c->container && !c->err.rc && scan_next_object(c) ){
    if( zt_cursor_enter_object(c) ) return true;
  }
  if( c->err.rc ) scan_pass_over(c);
  return false;
}

/* --- Rows --- */

/* At the end, what was opened stays open: the same may be asked for again. */
int zt_cursor_advance(zt_cursor *c){
  const zt_table *t = zt_cursor_table(c);
  if( c->sorted ) return zt_cursor_next_sorted(c);
  if( c->on_row && t->next && scan_said(c, t->next(&c->scan)) ) return SQLITE_OK;
  c->on_row = false;
  if( c->err.rc ) scan_pass_over(c);
  while( !c->err.rc ){
    if( !zt_table_is_of_files(t) && c->begun && scan_enter_next(c) ) return SQLITE_OK;
    if( c->err.rc || !scan_next_file(c) ) break;
    if( zt_table_is_of_files(t) && zt_cursor_enter_object(c) ) return SQLITE_OK;
  }
  c->eof = true;
  return c->err.rc ? zt_cursor_fail(c) : SQLITE_OK;
}

int zt_cursor_skip(zt_cursor *c, uint64_t n){
  const zt_table *t = zt_cursor_table(c);
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  while( n>0 && !c->eof ){
    if( t->skip && !c->sorted ) n -= t->skip(&c->scan, n);
    if( n>0 ){
      int rc = zt_cursor_advance(c);
      if( rc ) return rc;
      n--;
    }
    if( n>0 && n%ZT_CURSOR_POLL==0 && zt_interrupt_check(&interrupt, &c->err) ){
      return zt_cursor_fail(c);
    }
  }
  return SQLITE_OK;
}

static int scan_next(sqlite3_vtab_cursor *p){
  zt_cursor *c = (zt_cursor*)p;
  int rc;
  if( c->automatic.serving ) return zt_automatic_next(c);
  if( c->left==0 ){
    c->eof = true;
    return SQLITE_OK;
  }
  c->left--;
  c->automatic.steps++;
  rc = zt_cursor_advance(c);
  return c->eof ? zt_cursor_go_on(c, rc) : rc;
}

static int scan_eof(sqlite3_vtab_cursor *p){
  return ((zt_cursor*)p)->eof;
}

static int scan_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  const zt_vtab *v = (const zt_vtab*)p;
  int object = zt_table_argument(v->module->table, "object");
  zt_plan_table of = {
    v->module->connection, v->module->table, v->source, object<0 ? NULL : v->argument[object]
  };
  char *message = NULL;
  int rc = zt_plan(&of, info, &message);
  if( !message ) return rc;
  sqlite3_free(p->zErrMsg);
  p->zErrMsg = message;
  return rc;
}

/* --- Columns --- */

/* A number that tells the source from others of which a row may differ. That of a BLOB which is not
** kept follows from what was read of it: so does every row. */
static uint64_t scan_source_number(const zt_cursor *c){
  const char *error = c->scan.error ? c->scan.error->message : NULL;
  if( !c->is_blob ) return XXH3_64bits(c->files.source, c->files.nSource);
  if( c->blob && c->blob_size>0 ){
    return XXH3_64bits(sqlite3_value_blob(c->blob), (size_t)c->blob_size);
  }
  if( c->container ) return zt_container_number(c->container);
  return error ? XXH3_64bits_withSeed(error, strlen(error), c->blob_size) : c->blob_size;
}

/* An argument as its column shows it; NULL if that is NULL. */
static const char *scan_argument(const zt_cursor *c, int i){
  const zt_table *t = zt_cursor_table(c);
  if( c->scan.argument[i] ) return c->scan.argument[i];
  return i==zt_table_argument(t, "on_error") ? "abort" : t->defaults[i];
}

/* A number of the source and the arguments. */
static uint64_t scan_number(zt_cursor *c){
  if( c->number ) return c->number;
  c->number = scan_source_number(c);
  for(int i=0; i<zt_table_arguments(zt_cursor_table(c)); i++){
    const char *z = scan_argument(c, i);
    if( z ) c->number = XXH3_64bits_withSeed(z, strlen(z), c->number+(uint64_t)i+1);
  }
  if( !c->number ) c->number = 1;
  return c->number;
}

/* RIGHT and FULL JOIN, and OR, take rows with one rowid for the same row, though they come from
** scans with different constraints: so it follows from the arguments, the path and the row's place
** in the file, and not from what was listed before. */
void zt_cursor_rowid(zt_cursor *c, sqlite3_int64 *out){
  const zt_table *t = zt_cursor_table(c);
  uint64_t row, file;
  if( c->sorted ){
    *out = zt_cursor_sorted_rowid(c);
    return;
  }
  row = t->rowid ? t->rowid(&c->scan) : c->scan.object;
  file = scan_number(c);
  if( c->scan.path ) file = XXH3_64bits_withSeed(c->scan.path, strlen(c->scan.path), file);
  *out = (sqlite3_int64)((file+row) & INT64_MAX);
}

static int scan_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  zt_cursor *c = (zt_cursor*)p;
  if( c->automatic.serving ) *out = zt_automatic_rowid(c);
  else zt_cursor_rowid(c, out);
  return SQLITE_OK;
}

/* The column source. */
static void scan_source_column(const zt_cursor *c, sqlite3_context *ctx){
  zt_error err = ZT_ERROR_NONE;
  if( !c->is_blob ){
    zt_result_text(ctx, (zt_text){ c->files.source, c->files.nSource });
  }else if( c->blob ){
    sqlite3_result_value(ctx, c->blob);
  }else{
    err.path = "<blob>";
    zt_fail(&err, SQLITE_ERROR,
            "of a BLOB of more than %d bytes, the column source is kept only if its bytes are read",
            ZT_CURSOR_BLOB);
    zt_result_error(ctx, &err);
  }
}

/* The value of the argument column i, counted from the source; behind the last one, of the column
** that catches one too many. */
static void scan_argument_column(const zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = zt_cursor_table(c);
  const char *z;
  if( i==0 ){
    scan_source_column(c, ctx);
    return;
  }
  if( i>zt_table_arguments(t) ) return;
  z = scan_argument(c, i-1);
  if( z ) sqlite3_result_text(ctx, z, -1, SQLITE_TRANSIENT);
}

void zt_cursor_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = zt_cursor_table(c);
  int nArguments;
  if( c->sorted && i<t->nVisible ){
    zt_cursor_sorted_column(c, ctx, i);
    return;
  }
  if( i==t->iPath ){
    if( c->scan.path ) sqlite3_result_text(ctx, c->scan.path, -1, SQLITE_TRANSIENT);
    return;
  }
  if( i<t->nVisible ){
    t->column(&c->scan, ctx, i);
    return;
  }
  nArguments = 2 + zt_table_arguments(t);
  if( i<t->nVisible+nArguments ) scan_argument_column(c, ctx, i-t->nVisible);
  else t->column(&c->scan, ctx, i-nArguments);
}

static int scan_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  zt_cursor *c = (zt_cursor*)p;
  if( !c->automatic.serving || !zt_automatic_column(c, ctx, i) ) zt_cursor_column(c, ctx, i);
  return SQLITE_OK;
}

/* --- Registration --- */

/* xCreate is xConnect: the table is eponymous and can be given a name, too. */
static const sqlite3_module scan_methods = {
  .iVersion = 0,
  .xCreate = zt_module_connect,
  .xConnect = zt_module_connect,
  .xBestIndex = scan_best_index,
  .xDisconnect = zt_module_disconnect,
  .xDestroy = zt_module_disconnect,
  .xOpen = scan_open_cursor,
  .xClose = scan_close_cursor,
  .xFilter = zt_cursor_filter,
  .xNext = scan_next,
  .xEof = scan_eof,
  .xColumn = scan_column,
  .xRowid = scan_rowid,
};

static void scan_module_free(void *p){
  zt_table_module *m = p;
  zt_connection_release(m->connection);
  sqlite3_free(m);
}

int zt_scan_register(zt_connection *c, const zt_table *table){
  zt_table_module *m = sqlite3_malloc64(sizeof(*m));
  if( !m ) return SQLITE_NOMEM;
  c->references++;
  *m = (zt_table_module){ c, table };
  return sqlite3_create_module_v2(c->db, table->name, &scan_methods, m, scan_module_free);
}
