/* The one virtual-table frame: cursors. See scan.h; plan.h has what xBestIndex promises. */
#include "sqlite/scan.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/positions.h"
#include "sqlite/files.h"
#include "sqlite/module.h"
#include "sqlite/plan.h"
#include "sqlite/statements.h"
#include "sqlite/target.h"
#include "sqlite/wanted.h"

#define SCAN_POLL 65536       /* Objects and rows that are passed over between two questions whether to go on */
#define SCAN_BLOB 65536       /* A BLOB of so many bytes is kept for the column source even if nothing else needs it */

/* The values that an argument has, one after the other. */
typedef struct scan_choice {
  sqlite3_value **a;           /* Owned, as they are */
  size_t n, i;                 /* How many; the current one */
} scan_choice;

typedef struct scan_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_scan scan;                /* What the table sees */
  int plan;                    /* ZT_PLAN_ bits */
  scan_choice choice[1+ZT_ARGUMENTS];   /* Values of source and arguments, if one of them is a list */
  bool asked;                  /* What follows is of arguments that were taken: */
  char *argument[ZT_ARGUMENTS];   /* Those of the query, owned; scan.argument has those in force */
  bool is_blob;                /* The source is a BLOB: */
  sqlite3_value *blob;         /* A copy, owned, if it is needed after xFilter; else NULL */
  uint64_t blob_size, blob_number;   /* Its bytes, and a number that tells it from others */
  uint64_t number;             /* The same of all arguments; 0: not computed yet */
  zt_files files;              /* If the source is a text */
  zt_wanted wanted;
  bool patterns_known, patterns;   /* LIKE and GLOB may be made use of, if that is known */
  bool compound_known, compound;   /* The statement may be a compound one, if that is known */
  bool few;                    /* Only some of the files, */
  zt_listed **only;            /* those with the wanted paths, ascending; owned */
  size_t nOnly, onlyRoom;
  size_t iFile;                /* Of the next file */
  uint64_t left;               /* Rows that may still come */
  bool eof;
  bool missing;                /* The source itself cannot be told, which a row is to say */
  bool begun;                  /* The scan has come to the file or BLOB on which the cursor stands: */
  bool standing;               /* It stands on one, perhaps since an earlier scan: */
  zt_listed *file;             /* The file; NULL: a BLOB */
  uint64_t file_id;            /* That it had then: the place in the list may be another file's by now */
  bool opened;                 /* It was tried to open it */
  zt_container *container;     /* With a reference; scan.container is the same */
  zt_source *source;
  bool has_stat, tried_stat;   /* What the system says of it is known; it was asked */
  zt_stat stat;
  bool found;                  /* positions is up to date */
  zt_positions positions;      /* Objects of the current file that have a wanted name, ascending */
  uint64_t iObject;            /* Of the next object: in positions, or in the container */
  bool entered;                /* The table is at work on an object, or the file itself: */
  bool entered_file;
  uint32_t entered_object;
  bool on_row;                 /* It stands on a row of it */
  bool decoded;                /* object is entered_object's */
  zt_object object;
  zt_error err;                /* Its place is the current file */
  zt_error file_error;         /* What scan.error is taken from */
} scan_cursor;

static const zt_table *scan_table(const scan_cursor *c){
  return ((const zt_vtab*)c->base.pVtab)->module->table;
}

/* True if what stands for a row is a file, readable or not, and no object. */
static bool scan_is_of_files(const zt_table *t){
  return t->rows==ZT_ROWS_FILES || t->rows==ZT_ROWS_OF_FILES;
}

/* True if the argument object names the one object whose rows the table has. */
static bool scan_is_of_one(const zt_table *t){
  return zt_table_argument(t, "object")>=0;
}

static scan_cursor *scan_cursor_of(zt_scan *scan){
  return (scan_cursor*)((char*)scan - offsetof(scan_cursor, scan));
}

const zt_object *zt_scan_object(zt_scan *scan){
  scan_cursor *c = scan_cursor_of(scan);
  if( !c->decoded ){
    zt_container_object(c->container, scan->object, &c->object);
    c->decoded = true;
  }
  return &c->object;
}

zt_error zt_scan_error(zt_scan *scan){
  zt_error err = ZT_ERROR_NONE;
  err.path = scan_cursor_of(scan)->err.path;
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
  scan_cursor *c = sqlite3_malloc64(sizeof(*c));
  if( !c ) return SQLITE_NOMEM;
  memset(c, 0, sizeof(*c));
  c->base.pVtab = p;
  c->scan.on_file = scan_is_of_files(m->table);
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
  zt_cache_hold(m->connection->cache);
  *out = &c->base;
  return SQLITE_OK;
}

/* Leave the current object, or the file's own rows. */
static void scan_leave_object(scan_cursor *c){
  const zt_table *t = scan_table(c);
  if( c->entered && t->clear ) t->clear(&c->scan);
  c->entered = c->on_row = c->decoded = false;
}

static void scan_leave_file(scan_cursor *c){
  scan_leave_object(c);
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
}

static void scan_clear_choices(scan_cursor *c){
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    for(size_t i=0; i<c->choice[k].n; i++) sqlite3_value_free(c->choice[k].a[i]);
    sqlite3_free(c->choice[k].a);
    c->choice[k] = (scan_choice){ 0 };
  }
}

/* Back to the state of a new cursor, but for memory that is used again. */
static void scan_reset(scan_cursor *c){
  scan_leave_file(c);
  scan_clear_choices(c);
  zt_files_clear(&c->files);
  sqlite3_value_free(c->blob);
  for(int i=0; i<ZT_ARGUMENTS; i++){
    sqlite3_free(c->argument[i]);
    c->argument[i] = NULL;
    c->scan.argument[i] = NULL;
  }
  c->blob = NULL;
  c->asked = c->is_blob = c->missing = false;
  c->number = 0;
}

static int scan_close_cursor(sqlite3_vtab_cursor *p){
  scan_cursor *c = (scan_cursor*)p;
  scan_reset(c);
  zt_wanted_clear(&c->wanted);
  zt_positions_clear(&c->positions);
  zt_error_clear(&c->err);
  zt_cache_release(c->scan.connection->cache);
  sqlite3_free(c->only);
  sqlite3_free(c->scan.row);
  sqlite3_free(c);
  return SQLITE_OK;
}

/* Hand the recorded failure to SQLite. Nothing of what was begun is used again. */
static int scan_fail(scan_cursor *c){
  int rc = c->err.rc;
  sqlite3_vtab *v = c->base.pVtab;
  c->eof = true;
  if( rc && rc!=SQLITE_NOMEM ){
    sqlite3_free(v->zErrMsg);
    v->zErrMsg = c->err.message;
    c->err.message = NULL;
  }
  zt_error_clear(&c->err);
  scan_reset(c);
  c->err = ZT_ERROR_NONE;
  return rc;
}

/* --- Files --- */

/* True if a file that cannot be read is no reason to end the query. Being out of memory or interrupted always is; and what
** there was no descriptor for is not skipped as if the file were broken. */
static bool scan_may_go_on(const scan_cursor *c){
  return c->err.rc==SQLITE_ERROR
      && (scan_is_of_files(scan_table(c)) || (c->scan.skip && !zt_os_exhausted(c->err.system)));
}

/* What is wrong is the current file's, not the query's. */
static void scan_set_file_error(scan_cursor *c){
  c->file_error = c->err;
  c->err = (zt_error){ .path = c->file_error.path };
  c->scan.error = &c->file_error;
}

/* Open the current file, once. Failures are in c->err. */
static void scan_open_file(scan_cursor *c){
  if( c->opened || !c->file ) return;
  c->opened = true;
  zt_files_open(&c->files, c->file, c->scan.connection->cache, &c->container, (c->plan & ZT_PLAN_BYTES) ? &c->source : NULL,
                &c->err);
  c->scan.container = c->container;
  c->scan.source = c->source;
  if( !c->container ) return;
  c->stat.id = *zt_container_identity(c->container);   /* It may have been exchanged since */
  c->has_stat = c->tried_stat = true;
}

void zt_scan_open(zt_scan *scan, sqlite3_context *ctx){
  scan_cursor *c = scan_cursor_of(scan);
  scan_open_file(c);
  if( c->err.rc && scan_may_go_on(c) ) scan_set_file_error(c);
  if( c->err.rc ) zt_result_error(ctx, &c->err);
}

const zt_stat *zt_scan_stat(zt_scan *scan){
  scan_cursor *c = scan_cursor_of(scan);
  if( !c->tried_stat && c->file ) c->has_stat = zt_os_stat(c->file->path.z, &c->stat)==0;
  c->tried_stat = true;
  return c->has_stat ? &c->stat : NULL;
}

/* Open the BLOB, within xFilter. Its bytes are read after that only if a column needs them; then c->blob has them. */
static void scan_open_image(scan_cursor *c, sqlite3_value *image){
  c->standing = c->begun = c->opened = c->has_stat = c->tried_stat = true;
  c->stat = (zt_stat){ .id.size = c->blob_size };
  c->err.path = "<blob>";
  if( c->plan & ZT_PLAN_CONTAINER ) zt_target_open_image(c->scan.connection, c->blob ? c->blob : image, &c->container, &c->source, &c->err);
  if( !(c->plan & ZT_PLAN_BYTES) ){
    zt_source_close(c->source);
    c->source = NULL;
  }
  c->scan.container = c->container;
  c->scan.source = c->source;
  if( c->err.rc && scan_may_go_on(c) ) scan_set_file_error(c);
}

/* The source names this file, which is not there: no condition hides that. */
static bool scan_is_lost(const zt_listed *file){
  return file->path.literal && file->path.error_number;
}

/* The next file that is wanted; NULL: there is none. */
static zt_listed *scan_next_listed(scan_cursor *c){
  bool reversed = (c->plan & ZT_PLAN_REVERSED)!=0;
  size_t n = c->few ? c->nOnly : c->files.n;
  while( c->iFile<n ){
    size_t i = reversed ? n-1-c->iFile : c->iFile;
    zt_listed *file = c->few ? c->only[i] : &c->files.a[i];
    c->iFile++;
    if( scan_is_lost(file) || zt_wanted_path(&c->wanted, file->path.z) ) return file;
  }
  return NULL;
}

/* Stand on a file. One that the cursor stands on already is neither asked for nor opened again. */
static void scan_stand_on(scan_cursor *c, zt_listed *file){
  bool same = c->standing && c->file==file && c->file_id==file->id && !c->scan.error;
  if( !same ) scan_leave_file(c);
  c->file = file;
  c->file_id = file->id;
  c->standing = c->begun = true;
  c->scan.path = c->err.path = file->path.z;
}

/* Stand before the first object of the next file that can be read. False at the end and on failure; at the end, the cursor
** goes on standing where it is. */
static bool scan_next_file(scan_cursor *c){
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  for(;;){
    zt_listed *file = c->is_blob ? NULL : scan_next_listed(c);
    if( !file ) return false;
    if( c->iFile>1 && zt_interrupt_check(&interrupt, &c->err) ) return false;
    scan_stand_on(c, file);
    c->iObject = 0;
    if( scan_table(c)->rows==ZT_ROWS_FILES ) return true;
    scan_open_file(c);
    if( !c->err.rc ) return true;
    if( !scan_may_go_on(c) ) return false;
    scan_set_file_error(c);
    if( scan_is_of_files(scan_table(c)) ) return true;
  }
}

/* --- Objects --- */

static int scan_compare_index(const void *a, const void *b){
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x>y) - (x<y);
}

/* Look up the wanted names in the current file; each object once, even if it is wanted twice. */
static int scan_find_objects(scan_cursor *c){
  const zt_names *names = &c->wanted.objects;
  zt_positions *p = &c->positions;
  uint32_t n = 0;
  p->n = 0;
  c->found = true;
  for(uint32_t i=0; i<zt_names_count(names); i++){
    int64_t k = zt_container_find(c->container, zt_names_get(names, i));
    if( k>=0 && zt_positions_push(p, (size_t)k, &c->err) ) return c->err.rc;
  }
  if( p->n<2 ) return SQLITE_OK;
  qsort(p->a, p->n, sizeof(*p->a), scan_compare_index);
  for(uint32_t i=1; i<p->n; i++) if( p->a[i]!=p->a[n] ) p->a[++n] = p->a[i];
  p->n = n+1;
  return SQLITE_OK;
}

/* The one object that the argument names is not in the one file that the source names. */
static bool scan_lacks_object(scan_cursor *c){
  const zt_names *names = &c->wanted.objects;
  if( !scan_is_of_one(scan_table(c)) || c->positions.n || !zt_names_count(names) ) return false;
  return c->is_blob || (c->file && c->file->path.literal);
}

/* Choose the next object of the current file, or the file itself. */
static bool scan_next_object(scan_cursor *c){
  bool named = !c->wanted.objects.any;
  bool file_first = scan_table(c)->rows==ZT_ROWS_FILES_AND_OBJECTS && !named && !zt_wanted_filters(&c->wanted);
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  uint64_t n;
  if( named && !c->found && scan_find_objects(c) ) return false;
  if( named && scan_lacks_object(c) ){
    zt_target_no_object(c->container, zt_names_get(&c->wanted.objects, 0), &c->err);
    return false;
  }
  n = (named ? c->positions.n : zt_container_objects(c->container)) + (uint64_t)file_first;
  while( c->iObject<n ){
    uint64_t i = c->iObject++ - file_first;
    c->scan.on_file = file_first && c->iObject==1;
    if( c->scan.on_file ) return true;
    c->scan.object = named ? c->positions.a[i] : (uint32_t)i;
    if( !zt_wanted_filters(&c->wanted) || zt_wanted_object(&c->wanted, zt_container_name(c->container, c->scan.object)) ) return true;
    if( c->iObject%SCAN_POLL==0 && zt_interrupt_check(&interrupt, &c->err) ) return false;
  }
  return false;
}

/* What a table says, whose place in the error is left if it did not fail. */
static bool scan_said(scan_cursor *c, bool yes){
  if( !c->err.rc ) c->err.object.z = c->err.component.z = NULL;
  return yes && !c->err.rc;
}

/* Let the table work on the chosen object, or the file itself, if it does not already. */
static bool scan_open_object(scan_cursor *c){
  const zt_table *t = scan_table(c);
  if( c->entered && t->open && c->entered_file==c->scan.on_file && c->entered_object==c->scan.object ) return true;
  scan_leave_object(c);
  c->entered = true;
  c->entered_file = c->scan.on_file;
  c->entered_object = c->scan.object;
  return !t->open || scan_said(c, t->open(&c->scan));
}

/* Stand on the first row of the chosen object, or of the file itself, if it has one. */
static bool scan_enter_object(scan_cursor *c){
  const zt_table *t = scan_table(c);
  if( scan_open_object(c) && (!t->first || scan_said(c, t->first(&c->scan))) ) c->on_row = true;
  if( !c->err.rc ) return c->on_row;
  scan_leave_object(c);
  if( !c->scan.skip || !scan_may_go_on(c) ) return false;
  zt_error_clear(&c->err);
  c->err.object.z = c->err.component.z = NULL;
  return false;
}

/* Stand on the first row of the next object of the current file, or of the file itself. */
static bool scan_enter_next(scan_cursor *c){
  while( c->container && !c->err.rc && scan_next_object(c) ) if( scan_enter_object(c) ) return true;
  if( !c->err.rc || !c->scan.skip || !scan_may_go_on(c) ) return false;
  zt_error_clear(&c->err);
  c->err.object.z = c->err.component.z = NULL;
  return false;
}

/* --- Rows --- */

/* Go to the next row. At the end, what was opened stays open: the same may be asked for again. */
static int scan_advance(scan_cursor *c){
  const zt_table *t = scan_table(c);
  if( c->on_row && t->next && scan_said(c, t->next(&c->scan)) ) return SQLITE_OK;
  c->on_row = false;
  while( !c->err.rc ){
    if( !scan_is_of_files(t) && c->begun && scan_enter_next(c) ) return SQLITE_OK;
    if( c->err.rc || !scan_next_file(c) ) break;
    if( scan_is_of_files(t) && scan_enter_object(c) ) return SQLITE_OK;
  }
  c->eof = true;
  return c->err.rc ? scan_fail(c) : SQLITE_OK;
}

/* Pass over the rows that OFFSET leaves out. */
static int scan_skip(scan_cursor *c, uint64_t n){
  const zt_table *t = scan_table(c);
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  while( n>0 && !c->eof ){
    if( t->skip ) n -= t->skip(&c->scan, n);
    if( n>0 ){
      int rc = scan_advance(c);
      if( rc ) return rc;
      n--;
    }
    if( n>0 && n%SCAN_POLL==0 && zt_interrupt_check(&interrupt, &c->err) ) return scan_fail(c);
  }
  return SQLITE_OK;
}

/* --- Arguments --- */

/* An argument must be text, all of it; NULL is one that is not given. */
static int scan_take_text(scan_cursor *c, int i, sqlite3_value *value, const char **out){
  const char *name = scan_table(c)->arguments[i];
  *out = NULL;
  if( sqlite3_value_type(value)==SQLITE_NULL ) return SQLITE_OK;
  if( sqlite3_value_type(value)==SQLITE_BLOB ) return zt_fail(&c->err, SQLITE_ERROR, "the argument %s must be TEXT, not a BLOB", name);
  *out = (const char*)sqlite3_value_text(value);
  if( !*out ) return zt_fail_nomem(&c->err);
  if( strlen(*out)==(size_t)sqlite3_value_bytes(value) ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "the argument %s has U+0000 in it", name);
}

/* Take argument i: that of the query, else that which the table was declared with. *same becomes false if it is another one
** than before. */
static int scan_take_argument(scan_cursor *c, int i, sqlite3_value *value, bool *same){
  const zt_vtab *v = (const zt_vtab*)c->base.pVtab;
  const char *z, *before = c->scan.argument[i];
  if( !value ){
    z = v->argument[i];
  }else if( scan_take_text(c, i, value, &z) ){
    return c->err.rc;
  }
  if( c->asked && (z==before || (z && before && strcmp(z, before)==0)) ) return SQLITE_OK;
  *same = false;
  sqlite3_free(c->argument[i]);
  c->argument[i] = NULL;
  c->scan.argument[i] = z;
  if( value && z ){
    c->argument[i] = sqlite3_mprintf("%s", z);
    if( !c->argument[i] ) return zt_fail_nomem(&c->err);
    c->scan.argument[i] = c->argument[i];
  }
  return c->scan.argument[i] ? zt_module_check(scan_table(c), i, c->scan.argument[i], &c->err) : SQLITE_OK;
}

/* An argument that must be there is not: say how to call the table. */
static int scan_fail_usage(scan_cursor *c){
  const char *name = scan_table(c)->name;
  bool object = scan_is_of_one(scan_table(c));
  return zt_fail(&c->err, SQLITE_ERROR, "%s needs a source%s: SELECT * FROM %s('model.zt'%s)", name, object ? " and an object" : "", name,
                 object ? ", 'layer.weight'" : "");
}

/* Take the arguments after source. */
static int scan_take_arguments(scan_cursor *c, sqlite3_value **value, bool *same){
  const zt_table *t = scan_table(c);
  int on_error = zt_table_argument(t, "on_error"), object = zt_table_argument(t, "object");
  for(int i=0; i<zt_table_arguments(t); i++){
    if( scan_take_argument(c, i, value[i], same) ) return c->err.rc;
    if( i==object && !value[i] && !c->scan.argument[i] ) return scan_fail_usage(c);
  }
  c->scan.skip = on_error>=0 && c->scan.argument[on_error] && strcmp(c->scan.argument[on_error], "skip")==0;
  return SQLITE_OK;
}

/* --- Sources --- */

/*
** A number for a BLOB that follows from its content, of which no more than some hundred bytes are looked at: its size and
** ends, where generations have their magic numbers and hashes, and samples from all over it.
*/
static uint64_t scan_blob_number(const uint8_t *p, uint64_t n){
  enum { ENDS = 256, SAMPLES = 64, SAMPLE = 16 };
  uint64_t h = n;
  if( n<=2*ENDS ) return XXH3_64bits_withSeed(p, (size_t)n, n);
  h = XXH3_64bits_withSeed(p, ENDS, h);
  h = XXH3_64bits_withSeed(p+n-ENDS, ENDS, h);
  for(uint64_t i=0; i<SAMPLES; i++) h = XXH3_64bits_withSeed(p+(n-SAMPLE)/SAMPLES*i, SAMPLE, h);
  return h;
}

/* The source is a BLOB. It is copied if its bytes are read after xFilter, or if that costs next to nothing. */
static int scan_take_blob(scan_cursor *c, sqlite3_value *value, bool *same){
  const uint8_t *p = sqlite3_value_blob(value);
  uint64_t n = (uint64_t)sqlite3_value_bytes(value);
  *same = *same && c->is_blob && c->blob && c->blob_size==n && (n==0 || memcmp(p, sqlite3_value_blob(c->blob), (size_t)n)==0);
  if( *same ) return SQLITE_OK;
  scan_leave_file(c);
  zt_files_clear(&c->files);
  sqlite3_value_free(c->blob);
  c->blob = NULL;
  c->is_blob = true;
  c->blob_size = n;
  c->blob_number = scan_blob_number(p ? p : (const uint8_t*)"", n);
  if( !(c->plan & ZT_PLAN_BYTES) && n>SCAN_BLOB ) return SQLITE_OK;
  c->blob = sqlite3_value_dup(value);
  return c->blob ? SQLITE_OK : zt_fail_nomem(&c->err);
}

/* The source is a path, a pattern, a directory or a list. */
static int scan_take_path(scan_cursor *c, zt_text source, bool *same){
  bool same_source;
  if( zt_target_check_path(c->scan.connection, source, &c->err) ) return c->err.rc;
  if( c->is_blob || !c->files.source || c->files.nSource!=source.n || memcmp(c->files.source, source.z, source.n)!=0 ){
    scan_leave_file(c);
  }
  sqlite3_value_free(c->blob);
  c->blob = NULL;
  c->is_blob = false;
  if( zt_files_begin(&c->files, source, &same_source, &c->err) ) return c->err.rc;
  *same = *same && same_source;
  return SQLITE_OK;
}

/* Take the source: that of the query, else that which the table was declared with. *none: it is NULL. */
static int scan_take_source(scan_cursor *c, sqlite3_value *value, bool *same, bool *none){
  const zt_vtab *v = (const zt_vtab*)c->base.pVtab;
  const char *path;
  *none = value && sqlite3_value_type(value)==SQLITE_NULL;
  if( *none ) return SQLITE_OK;
  if( !value && !v->source ) return scan_fail_usage(c);
  if( !value ) return scan_take_path(c, (zt_text){ v->source, strlen(v->source) }, same);
  if( zt_target_path(c->scan.connection, value, &path, &c->err) ) return c->err.rc;
  if( !path ) return scan_take_blob(c, value, same);
  return scan_take_path(c, (zt_text){ path, (size_t)sqlite3_value_bytes(value) }, same);
}

/* --- Beginning --- */

static int scan_compare_listed(const void *a, const void *b){
  return strcmp((*(zt_listed *const*)a)->path.z, (*(zt_listed *const*)b)->path.z);
}

static int scan_add_only(scan_cursor *c, zt_listed *file){
  zt_listed **only;
  if( c->nOnly==c->onlyRoom ){
    size_t room = c->onlyRoom ? c->onlyRoom*2 : 4;
    only = sqlite3_realloc64(c->only, room*sizeof(*only));
    if( !only ) return zt_fail_nomem(&c->err);
    c->only = only;
    c->onlyRoom = room;
  }
  c->only[c->nOnly++] = file;
  return SQLITE_OK;
}

/* Find the files with the wanted paths. One is looked up; of several, the source is listed once. */
static int scan_find_paths(scan_cursor *c){
  const zt_names *paths = &c->wanted.paths;
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  uint32_t n = zt_names_count(paths);
  bool sorted = (c->plan & ZT_PLAN_SORTED)!=0;
  zt_listed **only;
  c->nOnly = 0;
  if( n>ZT_FILES_LOOKED/2 && zt_files_list(&c->files, sorted, interrupt, &c->err) ) return c->err.rc;
  for(uint32_t i=0; i<n; i++){
    zt_listed *file;
    if( zt_files_find(&c->files, zt_names_get(paths, i), interrupt, &file, &c->err) ) return c->err.rc;
    if( file && scan_add_only(c, file) ) return c->err.rc;
  }
  for(size_t i=0; i<c->files.n && c->files.complete; i++){
    if( scan_is_lost(&c->files.a[i]) && scan_add_only(c, &c->files.a[i]) ) return c->err.rc;
  }
  only = c->only;
  qsort(only, c->nOnly, sizeof(*only), scan_compare_listed);
  for(size_t i=n=0; i<c->nOnly; i++) if( n==0 || only[n-1]!=only[i] ) only[n++] = only[i];
  c->nOnly = n;
  return SQLITE_OK;
}

/* Find the files to go through. */
static int scan_find_files(scan_cursor *c){
  bool sorted = (c->plan & ZT_PLAN_SORTED)!=0;
  c->few = !c->wanted.paths.any;
  if( c->few ) return scan_find_paths(c);
  if( zt_files_list(&c->files, sorted, zt_connection_interrupt(c->scan.connection), &c->err) ) return c->err.rc;
  if( !(c->plan & ZT_PLAN_ONE_FILE) || c->files.n<2 ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "it was one file when the statement was prepared; there are several by now");
}

/* The source names nothing that could be listed: stand on it as on a file that cannot be read. */
static int scan_stand_on_missing(scan_cursor *c){
  c->standing = c->opened = c->tried_stat = true;
  c->scan.path = c->err.path;
  scan_set_file_error(c);
  if( scan_enter_object(c) ) return SQLITE_OK;
  c->eof = true;
  return c->err.rc ? scan_fail(c) : SQLITE_OK;
}

/* Go to the first row of a source that is a text. */
static int scan_begin_files(scan_cursor *c){
  if( scan_find_files(c)==SQLITE_OK ) return scan_advance(c);
  /* A path that names nothing is a file that cannot be read; anything else is wrong with the query. */
  if( c->err.rc!=SQLITE_ERROR || !c->err.path ) return scan_fail(c);
  scan_leave_file(c);
  c->err.path = c->files.source;
  if( scan_is_of_files(scan_table(c)) ) return scan_stand_on_missing(c);
  if( !c->scan.skip ) return scan_fail(c);
  zt_error_clear(&c->err);
  c->eof = true;
  return SQLITE_OK;
}

/* Go to the first row of a BLOB. A BLOB that is the same as before is open already. */
static int scan_begin_blob(scan_cursor *c, sqlite3_value *image, bool same){
  const zt_table *t = scan_table(c);
  if( !c->wanted.paths.any || c->wanted.path_patterns.like || c->wanted.path_patterns.glob ){   /* It has no path */
    c->eof = true;
    return SQLITE_OK;
  }
  c->begun = true;
  if( !same || !c->standing || c->scan.error ){
    scan_leave_file(c);
    scan_open_image(c, image);
    if( c->err.rc ){
      if( !scan_may_go_on(c) ) return scan_fail(c);
      zt_error_clear(&c->err);
      c->eof = true;
      return SQLITE_OK;
    }
  }
  if( !scan_is_of_files(t) ) return scan_advance(c);
  if( scan_enter_object(c) ) return SQLITE_OK;
  c->eof = true;
  return c->err.rc ? scan_fail(c) : SQLITE_OK;
}

/* Before SQLite 3.51, a LIKE or GLOB in the ON of an outer join reaches the table on the left, which must keep its rows. */
static bool scan_may_use_patterns(scan_cursor *c){
  if( !(c->plan & ZT_PLAN_PATTERNS) || sqlite3_libversion_number()>=3051000 ) return true;
  if( !c->patterns_known ) c->patterns = !zt_statements_join_outer(c->scan.connection->db);
  c->patterns_known = true;
  return c->patterns;
}

/* Before SQLite 3.46, each side of a UNION ALL is told the whole OFFSET, and SQLite believes that it was counted. */
static int scan_check_offset(scan_cursor *c){
  if( !c->wanted.offset || sqlite3_libversion_number()>=3046000 ) return SQLITE_OK;
  if( !c->compound_known ) c->compound = zt_statements_are_compound(c->scan.connection->db);
  c->compound_known = true;
  if( !c->compound ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "SQLite %s cannot tell the OFFSET of a compound SELECT: write OFFSET 0+%llu",
                 sqlite3_libversion(), c->wanted.offset);
}

/* Take what a query asks for, beside source and arguments. */
static int scan_take_wanted(scan_cursor *c, sqlite3_value **argv){
  zt_scan *s = &c->scan;
  if( zt_wanted_take(&c->wanted, c->plan, argv, scan_may_use_patterns(c), &c->err) || scan_check_offset(c) ) return c->err.rc;
  s->range = c->wanted.range;
  s->ascending = (c->plan & ZT_PLAN_ASCENDING)!=0;
  s->descending = (c->plan & ZT_PLAN_DESCENDING)!=0;
  c->left = c->wanted.limit;
  return SQLITE_OK;
}

/* The object that an argument names is the one that is wanted. */
static int scan_take_object(scan_cursor *c){
  int object = zt_table_argument(scan_table(c), "object");
  const char *z = object<0 ? NULL : c->scan.argument[object];
  return object<0 ? SQLITE_OK : zt_names_set(&c->wanted.objects, (zt_text){ z, z ? strlen(z) : 0 }, &c->err);
}

/* Begin with these values of source and arguments, NULL where the query gives none. A cursor that is asked for the same again
** keeps what it has opened of it. */
static int scan_begin(scan_cursor *c, sqlite3_value **value){
  bool same = c->asked, none = false;
  c->eof = c->on_row = c->begun = c->found = false;
  c->iFile = 0;
  c->iObject = 0;
  if( scan_take_arguments(c, value+1, &same) ) return scan_fail(c);
  if( !same ) scan_leave_object(c);
  if( scan_take_source(c, value[0], &same, &none) || scan_take_object(c) ) return scan_fail(c);
  if( !same ) c->number = 0;
  c->asked = true;
  c->eof = none;
  if( none ) return SQLITE_OK;
  return c->is_blob ? scan_begin_blob(c, value[0], same) : scan_begin_files(c);
}

/* --- Lists of arguments --- */

static int scan_add_choice(scan_cursor *c, scan_choice *choice, sqlite3_value *value){
  sqlite3_value **a = sqlite3_realloc64(choice->a, (choice->n+1)*sizeof(*a));
  if( !a ) return zt_fail_nomem(&c->err);
  choice->a = a;
  a[choice->n] = sqlite3_value_dup(value);
  return a[choice->n] ? (choice->n++, SQLITE_OK) : zt_fail_nomem(&c->err);
}

/* Copy the values of source and arguments, which are given after each other once xFilter is over. */
static int scan_take_choices(scan_cursor *c, sqlite3_value **value){
  scan_clear_choices(c);
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    sqlite3_value *item = value[k];
    int rc = SQLITE_OK;
    if( !(c->plan & ZT_PLAN_LIST<<k) ){
      if( item && scan_add_choice(c, &c->choice[k], item) ) return c->err.rc;
      continue;
    }
#if SQLITE_VERSION_NUMBER>=3038000
    for(rc=sqlite3_vtab_in_first(value[k], &item); rc==SQLITE_OK && item; rc=sqlite3_vtab_in_next(value[k], &item)){
      if( scan_add_choice(c, &c->choice[k], item) ) return c->err.rc;
    }
#endif
    if( rc!=SQLITE_OK && rc!=SQLITE_DONE ) return zt_fail(&c->err, rc, "the values of an IN cannot be had");
    if( c->choice[k].n==0 ) c->eof = true;
  }
  return SQLITE_OK;
}

/* Choose the next values. False after the last ones. */
static bool scan_next_choice(scan_cursor *c){
  for(int k=ZT_ARGUMENTS; k>=0; k--){
    if( ++c->choice[k].i<c->choice[k].n ) return true;
    c->choice[k].i = 0;
  }
  return false;
}

static int scan_begin_choice(scan_cursor *c){
  sqlite3_value *value[1+ZT_ARGUMENTS];
  for(int k=0; k<=ZT_ARGUMENTS; k++) value[k] = c->choice[k].n ? c->choice[k].a[c->choice[k].i] : NULL;
  return scan_begin(c, value);
}

/* At the end of the rows of some values, go to those of the next. */
static int scan_go_on(scan_cursor *c, int rc){
  while( rc==SQLITE_OK && c->eof && (c->plan & ZT_PLAN_LISTS) && scan_next_choice(c) ) rc = scan_begin_choice(c);
  return rc;
}

/* --- xFilter and xNext --- */

static int scan_filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc, sqlite3_value **argv){
  scan_cursor *c = (scan_cursor*)p;
  sqlite3_value *value[1+ZT_ARGUMENTS] = { NULL };
  int rc;
  (void)unused;
  (void)argc;
  for(int k=0; k<=ZT_ARGUMENTS; k++) if( plan & ZT_PLAN_SOURCE<<k ) value[k] = *argv++;
  c->plan = plan;
  c->eof = false;
  if( scan_take_wanted(c, argv) ) return scan_fail(c);
  if( plan & ZT_PLAN_LISTS ){
    if( scan_take_choices(c, value) ) return scan_fail(c);
    return c->eof ? SQLITE_OK : scan_go_on(c, scan_begin_choice(c));
  }
  if( c->left==0 ){
    c->eof = true;
    return SQLITE_OK;
  }
  c->left--;
  rc = scan_begin(c, value);
  return rc || !c->wanted.offset ? rc : scan_skip(c, c->wanted.offset);
}

static int scan_next(sqlite3_vtab_cursor *p){
  scan_cursor *c = (scan_cursor*)p;
  if( c->left==0 ){
    c->eof = true;
    return SQLITE_OK;
  }
  c->left--;
  return scan_go_on(c, scan_advance(c));
}

static int scan_eof(sqlite3_vtab_cursor *p){
  return ((scan_cursor*)p)->eof;
}

static int scan_best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  const zt_vtab *v = (const zt_vtab*)p;
  int object = zt_table_argument(v->module->table, "object");
  zt_plan_table of = { v->module->connection, v->module->table, v->source, object<0 ? NULL : v->argument[object] };
  char *message = NULL;
  int rc = zt_plan(&of, info, &message);
  if( !message ) return rc;
  sqlite3_free(p->zErrMsg);
  p->zErrMsg = message;
  return rc;
}

/* --- Columns --- */

/* A number of the source and the arguments. */
static uint64_t scan_number(scan_cursor *c){
  if( c->number ) return c->number;
  c->number = c->is_blob ? c->blob_number : XXH3_64bits(c->files.source, c->files.nSource);
  for(int i=0; i<ZT_ARGUMENTS; i++){
    const char *z = c->scan.argument[i];
    if( z ) c->number = XXH3_64bits_withSeed(z, strlen(z), c->number+(uint64_t)i+1);
  }
  if( !c->number ) c->number = 1;
  return c->number;
}

/* RIGHT and FULL JOIN, and OR, take rows with one rowid for the same row, though they come from scans with different
** constraints: so it follows from the arguments, the path and the row's place in the file, and not from what was listed
** before. */
static int scan_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  scan_cursor *c = (scan_cursor*)p;
  const zt_table *t = scan_table(c);
  uint64_t row = t->rowid ? t->rowid(&c->scan) : c->scan.object, file = scan_number(c);
  if( c->scan.path ) file = XXH3_64bits_withSeed(c->scan.path, strlen(c->scan.path), file);
  *out = (sqlite3_int64)((file+row) & INT64_MAX);
  return SQLITE_OK;
}

/* The column source. */
static void scan_source_column(const scan_cursor *c, sqlite3_context *ctx){
  zt_error err = ZT_ERROR_NONE;
  if( !c->is_blob ){
    zt_result_text(ctx, (zt_text){ c->files.source, c->files.nSource });
  }else if( c->blob ){
    sqlite3_result_value(ctx, c->blob);
  }else{
    err.path = "<blob>";
    zt_fail(&err, SQLITE_ERROR, "of a BLOB of more than %d bytes, the column source is kept only if its bytes are read", SCAN_BLOB);
    zt_result_error(ctx, &err);
  }
}

/* The value of the argument column i, counted from the source; behind the last one, of the column that catches one too many. */
static void scan_argument_column(const scan_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = scan_table(c);
  const char *z;
  if( i==0 ){
    scan_source_column(c, ctx);
    return;
  }
  if( i>zt_table_arguments(t) ) return;
  z = c->scan.argument[i-1];
  if( z ) sqlite3_result_text(ctx, z, -1, SQLITE_TRANSIENT);
  else if( i-1==zt_table_argument(t, "on_error") ) zt_result_static(ctx, "abort");
  else if( t->defaults[i-1] ) zt_result_static(ctx, t->defaults[i-1]);
}

static int scan_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  scan_cursor *c = (scan_cursor*)p;
  const zt_table *t = scan_table(c);
  int nArguments = 2 + zt_table_arguments(t);
  if( i<t->nVisible ) t->column(&c->scan, ctx, i);
  else if( i<t->nVisible+nArguments ) scan_argument_column(c, ctx, i-t->nVisible);
  else t->column(&c->scan, ctx, i-nArguments);
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
  .xFilter = scan_filter,
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
