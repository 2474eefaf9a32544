/* The one virtual-table frame. See scan.h; plan.h has what xBestIndex promises. */
#include "sqlite/scan.h"

#include <math.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "core/paths.h"
#include "core/positions.h"
#include "sqlite/plan.h"
#include "sqlite/target.h"

#define POLL_FILES 64   /* Files between two questions whether to go on: no row may come for long */

/* A registered table, and what SQLite calls its client data. */
typedef struct module {
  zt_connection *connection;   /* With a reference */
  const zt_table *table;
} module;

typedef struct vtab {
  sqlite3_vtab base;           /* First: SQLite's part */
  const module *module;        /* Borrowed: outlives the table */
  char *source;                /* Arguments of CREATE VIRTUAL TABLE, owned; NULL: none */
  char *argument[ZT_ARGUMENTS];
} vtab;

typedef struct cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_scan scan;                /* What the table sees */
  int plan;                    /* ZT_PLAN_ bits */
  bool skip;                   /* on_error is 'skip' */
  bool in_object;              /* The table stands on a row of the current object (or the file) */
  bool eof;
  sqlite3_value *value;        /* The source argument, owned, if it is needed after xFilter; else NULL */
  char *argument[ZT_ARGUMENTS];   /* The other arguments of this query, owned; scan.argument has those that are in force */
  zt_paths paths;
  size_t iPath;                /* Of the next file */
  sqlite3_value *image;        /* The next file is this BLOB, valid within xFilter; NULL: it is not */
  zt_container *container;     /* Of the current file, with a reference; scan.container is the same */
  zt_source *source;
  bool must_exist;             /* The argument object names one that the only file must have */
  bool named;                  /* Only objects with these names are wanted: */
  char *names;                 /* The names one after the other, owned */
  zt_positions lengths;        /* The bytes of each */
  zt_positions wanted;         /* Objects of the current file that have one of them, ascending */
  uint64_t iObject;            /* Of the next object: in wanted, or in the container */
  bool decoded;                /* object is scan.object */
  zt_object object;
  zt_error err;                /* Its place is the current file */
  zt_error file_error;         /* What scan.error is taken from */
} cursor;

static const zt_table *table_of(const cursor *c){
  return ((const vtab*)c->base.pVtab)->module->table;
}

/* True if what stands for a row is a file, readable or not, and no object. */
static bool is_of_files(const zt_table *t){
  return t->rows==ZT_ROWS_FILES || t->rows==ZT_ROWS_OF_FILES;
}

static cursor *cursor_of(zt_scan *scan){
  return (cursor*)((char*)scan - offsetof(cursor, scan));
}

const zt_object *zt_scan_object(zt_scan *scan){
  cursor *c = cursor_of(scan);
  if( !c->decoded ){
    zt_container_object(c->container, scan->object, &c->object);
    c->decoded = true;
  }
  return &c->object;
}

zt_error zt_scan_error(zt_scan *scan){
  zt_error err = ZT_ERROR_NONE;
  err.path = cursor_of(scan)->err.path;
  if( !scan->on_file ) err.object = zt_container_name(scan->container, scan->object);
  return err;
}

/* --- Tables --- */

/* An argument of CREATE VIRTUAL TABLE without its quotes, owned. */
static char *dequote(const char *z){
  size_t n = strlen(z), w = 0;
  char *out = sqlite3_mprintf("%s", z);
  char quote = z[0];
  if( !out || n<2 || (quote!='\'' && quote!='"') || z[n-1]!=quote ) return out;
  for(size_t i=1; i<n-1; i++){
    out[w++] = z[i];
    if( z[i]==quote && z[i+1]==quote ) i++;
  }
  out[w] = 0;
  return out;
}

static int disconnect(sqlite3_vtab *p){
  vtab *v = (vtab*)p;
  sqlite3_free(v->source);
  for(int i=0; i<ZT_ARGUMENTS; i++) sqlite3_free(v->argument[i]);
  sqlite3_free(v);
  return SQLITE_OK;
}

static int declare(sqlite3 *db, const zt_table *t){
  sqlite3_str *sql = sqlite3_str_new(db);
  char *z;
  int rc;
  sqlite3_str_appendf(sql, "CREATE TABLE x(%s, source HIDDEN", t->visible);
  for(int i=0; i<zt_table_arguments(t); i++) sqlite3_str_appendf(sql, ", %s HIDDEN", t->arguments[i]);
  if( t->hidden ) sqlite3_str_appendf(sql, ", %s", t->hidden);
  sqlite3_str_appendall(sql, ")");
  z = sqlite3_str_finish(sql);
  rc = z ? sqlite3_declare_vtab(db, z) : SQLITE_NOMEM;
  sqlite3_free(z);
  return rc;
}

static bool is_utf8(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  bool utf8 = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &stmt, NULL)==SQLITE_OK && sqlite3_step(stmt)==SQLITE_ROW
           && sqlite3_stricmp((const char*)sqlite3_column_text(stmt, 0), "UTF-8")==0;
  sqlite3_finalize(stmt);
  return utf8;
}

/* xCreate and xConnect: arguments after the first three are the source and those after it. */
static int connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **out, char **message){
  const module *m = client;
  int most = 1+zt_table_arguments(m->table), rc;
  vtab *v;
  if( argc-3>most ){
    *message = sqlite3_mprintf("ztensor: %s takes at most %d argument%s", m->table->name, most, most>1 ? "s" : "");
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  rc = declare(db, m->table);
  if( rc ) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  v = sqlite3_malloc64(sizeof(*v));
  if( !v ) return SQLITE_NOMEM;
  *v = (vtab){ .module = m };
  if( argc>3 && (v->source = dequote(argv[3]))==NULL ) rc = SQLITE_NOMEM;
  for(int i=4; i<argc; i++) if( (v->argument[i-4] = dequote(argv[i]))==NULL ) rc = SQLITE_NOMEM;
  if( rc ) disconnect(&v->base);
  else *out = &v->base;
  return rc;
}

static int best_index(sqlite3_vtab *p, sqlite3_index_info *info){
  const vtab *v = (const vtab*)p;
  bool utf8 = info->nOrderBy==1 && is_utf8(v->module->connection->db);
  return zt_plan(v->module->table, v->source!=NULL, utf8, info);
}

/* --- Cursors --- */

static int open_cursor(sqlite3_vtab *p, sqlite3_vtab_cursor **out){
  const module *m = ((vtab*)p)->module;
  cursor *c = sqlite3_malloc64(sizeof(*c));
  if( !c ) return SQLITE_NOMEM;
  memset(c, 0, sizeof(*c));
  c->base.pVtab = p;
  c->scan.on_file = is_of_files(m->table);
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
  *out = &c->base;
  return SQLITE_OK;
}

/* Leave the current object, or the file's own rows. */
static void leave_object(cursor *c){
  const zt_table *t = table_of(c);
  if( c->in_object && t->clear ) t->clear(&c->scan);
  c->in_object = c->decoded = false;
}

static void close_file(cursor *c){
  leave_object(c);
  zt_source_close(c->source);
  zt_container_close(c->container);
  zt_error_clear(&c->file_error);
  c->source = c->scan.source = NULL;
  c->container = NULL;
  c->scan.container = NULL;
  c->scan.path = NULL;
  c->scan.error = NULL;
  c->scan.has_stat = false;
}

/* Back to the state of a new cursor. */
static void reset(cursor *c){
  close_file(c);
  zt_paths_clear(&c->paths);
  sqlite3_value_free(c->value);
  for(int i=0; i<ZT_ARGUMENTS; i++){
    sqlite3_free(c->argument[i]);
    c->argument[i] = NULL;
  }
  sqlite3_free(c->names);
  zt_positions_clear(&c->lengths);
  zt_positions_clear(&c->wanted);
  zt_error_clear(&c->err);
  c->err = ZT_ERROR_NONE;
  c->value = NULL;
  c->names = NULL;
  c->iPath = 0;
  c->image = NULL;
  c->named = c->must_exist = c->skip = c->eof = false;
}

static int close_cursor(sqlite3_vtab_cursor *p){
  cursor *c = (cursor*)p;
  reset(c);
  sqlite3_free(c->scan.row);
  sqlite3_free(c);
  return SQLITE_OK;
}

/* Hand the recorded failure to SQLite. */
static int fail(cursor *c){
  int rc = c->err.rc;
  sqlite3_vtab *v = c->base.pVtab;
  c->eof = true;
  if( rc==SQLITE_OK || rc==SQLITE_NOMEM ) return rc;
  sqlite3_free(v->zErrMsg);
  v->zErrMsg = c->err.message;
  c->err.message = NULL;
  zt_error_clear(&c->err);
  return rc;
}

/* --- Moving on --- */

static int compare_index(const void *a, const void *b){
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x>y) - (x<y);
}

/* Look up the wanted names in the file just opened; each object once, even if it is wanted twice. */
static int find_wanted(cursor *c){
  const char *name = c->names;
  uint32_t n = 0;
  c->wanted.n = 0;
  for(uint32_t i=0; i<c->lengths.n; name += c->lengths.a[i++]){
    int64_t k = zt_container_find(c->container, (zt_text){ name, c->lengths.a[i] });
    if( k>=0 && zt_positions_push(&c->wanted, (size_t)k, &c->err) ) return c->err.rc;
  }
  if( c->wanted.n==0 && c->must_exist ) return zt_target_no_object(c->container, (zt_text){ c->names, c->lengths.a[0] }, &c->err);
  if( c->wanted.n<2 ) return SQLITE_OK;
  qsort(c->wanted.a, c->wanted.n, sizeof(*c->wanted.a), compare_index);
  for(uint32_t i=1; i<c->wanted.n; i++){
    if( c->wanted.a[i]!=c->wanted.a[n] ) c->wanted.a[++n] = c->wanted.a[i];
  }
  c->wanted.n = n+1;
  return SQLITE_OK;
}

/* Open the path that the list has next. */
static void open_path(cursor *c, const zt_path *path){
  static const zt_stat regular = { .kind = ZT_KIND_FILE };
  zt_scan *s = &c->scan;
  const zt_stat *state = c->paths.literal ? &c->paths.stat : path->regular ? &regular : NULL;
  s->path = c->err.path = path->z;
  if( path->error_number ) zt_fail_os(&c->err, path->action, path->error_number);
  if( c->plan & ZT_PLAN_STAT ){
    int error_number = zt_os_stat(path->z, &s->stat);
    s->has_stat = error_number==0;
    if( s->has_stat ) state = &s->stat;
    else zt_fail_os(&c->err, "open", error_number);
  }
  if( !c->err.rc && (c->plan & ZT_PLAN_CONTAINER) ){
    zt_cache_open(s->connection->cache, path->z, state, !c->paths.literal, &c->container,
                  (c->plan & ZT_PLAN_BYTES) ? &c->source : NULL, &c->err);
    if( c->container ) s->stat.id = *zt_container_identity(c->container);   /* It may have been exchanged since */
  }
}

/* Open the BLOB. Its bytes are read after xFilter only if a column needs them; then it is a copy of the cursor's own. */
static void open_image(cursor *c){
  sqlite3_value *image = c->image;
  c->image = NULL;
  c->err.path = "<blob>";
  c->scan.has_stat = true;
  c->scan.stat = (zt_stat){ .id.size = (uint64_t)sqlite3_value_bytes(image) };
  if( c->plan & ZT_PLAN_CONTAINER ) zt_target_open_image(c->scan.connection, image, &c->container, &c->source, &c->err);
  if( c->plan & ZT_PLAN_BYTES ) return;
  zt_source_close(c->source);
  c->source = NULL;
}

/* True if a file that cannot be read is no reason to end the query. Being out of memory or interrupted always is; and what
** there was no descriptor for is not skipped as if the file were broken. */
static bool may_go_on(const cursor *c){
  return c->err.rc==SQLITE_ERROR && (is_of_files(table_of(c)) || (c->skip && !zt_os_exhausted(c->err.system)));
}

/* What is wrong is the current file's, not the query's. */
static void set_file_error(cursor *c){
  c->file_error = c->err;
  c->err = (zt_error){ .path = c->file_error.path };
  c->scan.error = &c->file_error;
}

/* Stand before the first object of the next file that can be read. False at the end and on failure. */
static bool next_file(cursor *c){
  zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  for(;;){
    close_file(c);
    if( c->iPath%POLL_FILES==POLL_FILES-1 && zt_interrupt_check(&interrupt, &c->err) ) return false;
    if( c->image ) open_image(c);
    else if( c->iPath<c->paths.n ) open_path(c, &c->paths.a[c->iPath++]);
    else return false;
    if( c->err.rc && !may_go_on(c) ) return false;
    c->scan.container = c->container;
    c->scan.source = c->source;
    c->iObject = 0;
    if( !c->err.rc ) return !c->named || !c->container || find_wanted(c)==SQLITE_OK;
    set_file_error(c);
    if( is_of_files(table_of(c)) ) return true;
  }
}

/* Stand before the rows of the next object, or of the file itself. */
static bool next_object(cursor *c){
  uint64_t n = c->named ? c->wanted.n : zt_container_objects(c->container);
  bool file_first = table_of(c)->rows==ZT_ROWS_FILES_AND_OBJECTS && !c->named;
  c->scan.on_file = file_first && c->iObject==0;
  if( c->iObject>=n+file_first ) return false;
  if( !c->scan.on_file ){
    uint64_t i = c->iObject-file_first;
    c->scan.object = c->named ? c->wanted.a[i] : (uint32_t)i;
  }
  c->iObject++;
  return true;
}

/* What a table's first or next says, whose place in the error is left if it did not fail. */
static bool found(cursor *c, bool row){
  if( !c->err.rc ) c->err.object.z = c->err.component.z = NULL;
  return row && !c->err.rc;
}

/* Stand on the first row of the current object, or the file itself, if it has one. */
static bool enter_object(cursor *c){
  const zt_table *t = table_of(c);
  c->in_object = true;
  if( !t->first || found(c, t->first(&c->scan)) ) return true;
  leave_object(c);
  return false;
}

/* Stand on the first row of the next object of the current file, or of the file itself. */
static bool enter_next(cursor *c){
  while( c->container && !c->err.rc && next_object(c) ) if( enter_object(c) ) return true;
  return false;
}

/* Go to the next row. */
static int advance(cursor *c){
  const zt_table *t = table_of(c);
  if( c->in_object && t->next && found(c, t->next(&c->scan)) ) return SQLITE_OK;
  while( !c->err.rc ){
    leave_object(c);
    if( !is_of_files(t) && enter_next(c) ) return SQLITE_OK;
    if( c->err.rc || !next_file(c) ) break;
    if( is_of_files(t) && enter_object(c) ) return SQLITE_OK;
  }
  c->eof = true;
  return c->err.rc ? fail(c) : SQLITE_OK;
}

/* --- Beginning --- */

/* The values that idxNum says are there, in its bits' order. */
typedef struct arguments {
  sqlite3_value *source, *argument[ZT_ARGUMENTS], *path, *object, *like, *glob, *eq, *gt, *ge, *lt, *le;
} arguments;

static arguments take_arguments(int plan, sqlite3_value **argv){
  arguments a = { 0 };
  sqlite3_value **const into[ZT_PLAN_VALUES] = { &a.source, &a.argument[0], &a.argument[1], &a.path, &a.object, &a.like, &a.glob,
                                                 &a.eq, &a.gt, &a.ge, &a.lt, &a.le };
  for(int i=0; i<ZT_PLAN_VALUES; i++) if( plan>>i & 1 ) *into[i] = *argv++;
  return a;
}

/* An argument must be text, all of it. */
static int take_text(cursor *c, int i, sqlite3_value *value){
  const char *name = table_of(c)->arguments[i], *z;
  if( sqlite3_value_type(value)==SQLITE_BLOB ) return zt_fail(&c->err, SQLITE_ERROR, "the argument %s must be TEXT, not a BLOB", name);
  z = (const char*)sqlite3_value_text(value);
  if( !z ) return zt_fail_nomem(&c->err);
  if( strlen(z)==(size_t)sqlite3_value_bytes(value) ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "the argument %s has U+0000 in it", name);
}

/* Take the arguments after source: those of the query, else those that the table was declared with. */
static int set_arguments(cursor *c, const arguments *a){
  const vtab *v = (const vtab*)c->base.pVtab;
  for(int i=0; i<zt_table_arguments(table_of(c)); i++){
    sqlite3_value *value = a->argument[i];
    c->scan.argument[i] = value ? NULL : v->argument[i];
    if( !value || sqlite3_value_type(value)==SQLITE_NULL ) continue;
    if( take_text(c, i, value) ) return c->err.rc;
    c->argument[i] = sqlite3_mprintf("%s", (const char*)sqlite3_value_text(value));
    if( !c->argument[i] ) return zt_fail_nomem(&c->err);
    c->scan.argument[i] = c->argument[i];
  }
  return SQLITE_OK;
}

static int set_on_error(cursor *c){
  int i = zt_table_argument(table_of(c), "on_error");
  const char *z = i<0 ? NULL : c->scan.argument[i];
  c->skip = z && strcmp(z, "skip")==0;
  if( !z || c->skip || strcmp(z, "abort")==0 ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "on_error must be 'abort' or 'skip', not '%s'", z);
}

static const zt_range nothing = { 1, 0 };

/* Narrow the range to what compares with v as op (a ZT_PLAN_ bit) says. SQLite compares again, so that what is hard to say
** may be left as it is: what is no number, and numbers with fraction or beyond 2^53. */
static void narrow(zt_range *range, sqlite3_value *v, int op){
  bool lower = (op & (ZT_PLAN_EQ|ZT_PLAN_GT|ZT_PLAN_GE))!=0, upper = (op & (ZT_PLAN_EQ|ZT_PLAN_LT|ZT_PLAN_LE))!=0;
  sqlite3_int64 i;
  double r;
  if( !v ) return;
  switch( sqlite3_value_numeric_type(v) ){
    case SQLITE_INTEGER:
      i = sqlite3_value_int64(v);
      if( i==INT64_MAX || i==INT64_MIN ) return;
      i += (op==ZT_PLAN_GT) - (op==ZT_PLAN_LT);
      break;
    case SQLITE_FLOAT:
      r = sqlite3_value_double(v);
      if( fabs(r)>9e15 || (op==ZT_PLAN_EQ && floor(r)!=r) ) return;
      i = (sqlite3_int64)(lower ? ceil(r) : floor(r));
      break;
    case SQLITE_NULL:
      *range = nothing;
      return;
    default:
      return;
  }
  if( upper && i<0 ) *range = nothing;
  if( lower && i>0 && (uint64_t)i>range->first ) range->first = (uint64_t)i;
  if( upper && i>=0 && (uint64_t)i<range->last ) range->last = (uint64_t)i;
}

static void set_range(cursor *c, const arguments *a){
  c->scan.range = (zt_range){ 0, UINT64_MAX };
  narrow(&c->scan.range, a->eq, ZT_PLAN_EQ);
  narrow(&c->scan.range, a->gt, ZT_PLAN_GT);
  narrow(&c->scan.range, a->ge, ZT_PLAN_GE);
  narrow(&c->scan.range, a->lt, ZT_PLAN_LT);
  narrow(&c->scan.range, a->le, ZT_PLAN_LE);
}

/* A value that a name or path is compared with: text can be looked up, NULL and a BLOB equal none, and a number may equal
** several texts, depending on what SQLite compares it with, which it does again anyway. */
typedef enum comparand { COMPARE_TEXT, COMPARE_NONE, COMPARE_ANY } comparand;

static comparand comparand_of(sqlite3_value *value){
  switch( sqlite3_value_type(value) ){
    case SQLITE_TEXT: return COMPARE_TEXT;
    case SQLITE_NULL: case SQLITE_BLOB: return COMPARE_NONE;
    default: return COMPARE_ANY;
  }
}

/* Remember one wanted name. */
static int add_name(cursor *c, sqlite3_value *value, sqlite3_str *names){
  comparand kind = comparand_of(value);
  zt_text text;
  if( kind==COMPARE_ANY ) c->named = false;
  if( kind!=COMPARE_TEXT ) return SQLITE_OK;
  text = zt_value_text(value);
  if( !text.z ) return zt_fail_nomem(&c->err);
  sqlite3_str_append(names, text.z, (int)text.n);
  return zt_positions_push(&c->lengths, text.n, &c->err);
}

/* The name that the argument object gives: the one object whose rows the table has. */
static int set_object(cursor *c, int i){
  const char *z = c->scan.argument[i];
  c->named = true;
  if( !z ) return SQLITE_OK;
  c->names = sqlite3_mprintf("%s", z);
  if( !c->names ) return zt_fail_nomem(&c->err);
  return zt_positions_push(&c->lengths, strlen(z), &c->err);
}

/* The names of an object constraint. */
static int set_names(cursor *c, sqlite3_value *value){
  int i = zt_table_argument(table_of(c), "object");
  sqlite3_str *names;
  int rc = SQLITE_OK, rcStr;
  if( i>=0 ) return set_object(c, i);
  if( !value ) return SQLITE_OK;
  c->named = true;
  names = sqlite3_str_new(NULL);
#if SQLITE_VERSION_NUMBER>=3038000
  if( c->plan & ZT_PLAN_OBJECTS ){
    sqlite3_value *item;
    for(rc=sqlite3_vtab_in_first(value, &item); rc==SQLITE_OK && item; rc=sqlite3_vtab_in_next(value, &item)){
      if( add_name(c, item, names) ) break;
    }
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }else
#endif
  add_name(c, value, names);
  rcStr = sqlite3_str_errcode(names);
  c->names = sqlite3_str_finish(names);
  return rc || rcStr ? zt_fail(&c->err, rc ? rc : rcStr, "the names cannot be had") : c->err.rc;
}

typedef struct path_constraints {
  const char *like, *glob;
} path_constraints;

static bool is_ascii(const char *z){
  while( *z && !(*z & 0x80) ) z++;
  return *z==0;
}

/* May a path satisfy the LIKE and GLOB constraints? SQLite asks its own functions again; a host may have replaced like()
** by one that knows more letters than ASCII's, so nothing else is decided here. */
static bool keep_path(void *context, const char *path){
  const path_constraints *p = context;
  if( !is_ascii(path) ) return true;
  return (!p->like || sqlite3_strlike(p->like, path, 0)==0) && (!p->glob || sqlite3_strglob(p->glob, path)==0);
}

static const char *pattern_of(sqlite3_value *value){
  const char *z = value && sqlite3_value_type(value)==SQLITE_TEXT ? (const char*)sqlite3_value_text(value) : NULL;
  return z && is_ascii(z) ? z : NULL;
}

/* List the paths that a source text names. */
static int list_paths(cursor *c, const char *source, const arguments *a){
  path_constraints constraints = { pattern_of(a->like), pattern_of(a->glob) };
  zt_paths_filter filter = { .files = ZT_CONTAINER_FILES, .interrupt = zt_connection_interrupt(c->scan.connection) };
  if( a->path && comparand_of(a->path)==COMPARE_NONE ) return SQLITE_OK;
  if( a->path && comparand_of(a->path)==COMPARE_TEXT ) filter.only = zt_value_text(a->path).z;
  if( constraints.like || constraints.glob ){
    filter.keep = keep_path;
    filter.context = &constraints;
  }
  c->err.path = source;
  return zt_paths_find(source, &filter, &c->paths, &c->err);
}

/* An argument that must be there is not: say how to call the table. */
static int fail_usage(cursor *c){
  const char *name = table_of(c)->name;
  bool object = zt_table_argument(table_of(c), "object")>=0;
  return zt_fail(&c->err, SQLITE_ERROR, "%s needs a source%s: SELECT * FROM %s('model.zt'%s)", name, object ? " and an object" : "", name,
                 object ? ", 'layer.weight'" : "");
}

/* The source that CREATE VIRTUAL TABLE gave. */
static int set_declared_source(cursor *c, const arguments *a){
  const vtab *v = (const vtab*)c->base.pVtab;
  if( !v->source ) return fail_usage(c);
  if( zt_target_check_path(c->scan.connection, (zt_text){ v->source, strlen(v->source) }, &c->err) ) return c->err.rc;
  return list_paths(c, v->source, a);
}

/* Take the source argument: a path is listed, a BLOB opened by and by. */
static int set_source(cursor *c, const arguments *a){
  const char *path;
  if( !a->source ) return set_declared_source(c, a);
  if( sqlite3_value_type(a->source)==SQLITE_NULL ) return SQLITE_OK;
  if( c->plan & (ZT_PLAN_BYTES|ZT_PLAN_ECHO) ){
    c->value = sqlite3_value_dup(a->source);
    if( !c->value ) return zt_fail_nomem(&c->err);
  }
  if( zt_target_path(c->scan.connection, c->value ? c->value : a->source, &path, &c->err) ) return c->err.rc;
  if( path ) return list_paths(c, path, a);
  if( !a->path && !a->like && !a->glob ) c->image = c->value ? c->value : a->source;   /* Those want a path */
  return SQLITE_OK;
}

/* True if the argument object is not there, not even as NULL. */
static bool lacks_object(const cursor *c, const arguments *a){
  int i = zt_table_argument(table_of(c), "object");
  return i>=0 && !a->argument[i] && !c->scan.argument[i];
}

/* The source names nothing: stand on it as on a file that cannot be read. */
static int stand_on_missing(cursor *c){
  c->scan.path = c->err.path;
  set_file_error(c);
  if( enter_object(c) ) return SQLITE_OK;
  c->eof = true;
  return c->err.rc ? fail(c) : SQLITE_OK;
}

/* Go to the first row that the arguments ask for. */
static int begin(cursor *c, const arguments *a){
  set_range(c, a);
  if( set_arguments(c, a)==SQLITE_OK && table_of(c)->begin ) table_of(c)->begin(&c->scan);
  if( c->err.rc || set_on_error(c) || set_names(c, a->object) ) return fail(c);
  if( lacks_object(c, a) ){
    fail_usage(c);
    return fail(c);
  }
  if( set_source(c, a)==SQLITE_OK ){
    c->must_exist = c->lengths.n && zt_table_argument(table_of(c), "object")>=0 && (c->image || c->paths.literal);
    return advance(c);
  }
  /* A path that names nothing is a file that cannot be read; anything else is wrong with the query. */
  if( c->err.rc!=SQLITE_ERROR || !c->err.path ) return fail(c);
  if( table_of(c)->rows==ZT_ROWS_OF_FILES ) return stand_on_missing(c);
  if( !c->skip ) return fail(c);
  zt_error_clear(&c->err);
  c->eof = true;
  return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *p, int plan, const char *unused, int argc, sqlite3_value **argv){
  cursor *c = (cursor*)p;
  arguments a = take_arguments(plan, argv);
  (void)unused;
  (void)argc;
  reset(c);
  c->plan = plan;
  return begin(c, &a);
}

static int next(sqlite3_vtab_cursor *p){
  return advance((cursor*)p);
}

static int eof(sqlite3_vtab_cursor *p){
  return ((cursor*)p)->eof;
}

/* A number for the current file, which is the same whenever it is asked. BLOBs are told apart by their manifests. */
static uint64_t file_number(const cursor *c){
  zt_span manifest;
  if( c->scan.path ) return XXH3_64bits(c->scan.path, strlen(c->scan.path));
  if( !c->container ) return c->scan.stat.id.size;
  manifest = zt_container_manifest(c->container);
  return XXH3_64bits(manifest.p, manifest.n);
}

/* RIGHT and FULL JOIN, and OR, take rows with one rowid for the same row, though they come from scans with different
** constraints: so it follows from the path and the row's place in the file, and not from what was listed before. */
static int rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *out){
  cursor *c = (cursor*)p;
  const zt_table *t = table_of(c);
  uint64_t row = t->rowid ? t->rowid(&c->scan) : c->scan.object;
  *out = (sqlite3_int64)((file_number(c)+row) & INT64_MAX);
  return SQLITE_OK;
}

/* The value of the argument column i, counted from the source. */
static void argument(const cursor *c, sqlite3_context *ctx, int i){
  const vtab *v = (const vtab*)c->base.pVtab;
  if( i>0 && i-1==zt_table_argument(table_of(c), "on_error") ) zt_result_static(ctx, c->skip ? "skip" : "abort");
  else if( i>0 && c->scan.argument[i-1] ) sqlite3_result_text(ctx, c->scan.argument[i-1], -1, SQLITE_TRANSIENT);
  else if( i>0 && table_of(c)->defaults[i-1] ) zt_result_static(ctx, table_of(c)->defaults[i-1]);
  else if( i>0 ) sqlite3_result_null(ctx);
  else if( c->value ) sqlite3_result_value(ctx, c->value);
  else sqlite3_result_text(ctx, v->source, -1, SQLITE_TRANSIENT);
}

static int column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i){
  cursor *c = (cursor*)p;
  const zt_table *t = table_of(c);
  int nArguments = 1 + zt_table_arguments(t);
  if( i<t->nVisible ) t->column(&c->scan, ctx, i);
  else if( i<t->nVisible+nArguments ) argument(c, ctx, i-t->nVisible);
  else t->column(&c->scan, ctx, i-nArguments);
  return SQLITE_OK;
}

/* --- Registration --- */

/* xCreate is xConnect: the table is eponymous and can be given a name, too. */
static const sqlite3_module methods = {
  .iVersion = 0,
  .xCreate = connect,
  .xConnect = connect,
  .xBestIndex = best_index,
  .xDisconnect = disconnect,
  .xDestroy = disconnect,
  .xOpen = open_cursor,
  .xClose = close_cursor,
  .xFilter = filter,
  .xNext = next,
  .xEof = eof,
  .xColumn = column,
  .xRowid = rowid,
};

static void module_free(void *p){
  module *m = p;
  zt_connection_release(m->connection);
  sqlite3_free(m);
}

int zt_scan_register(zt_connection *c, const zt_table *table){
  module *m = sqlite3_malloc64(sizeof(*m));
  if( !m ) return SQLITE_NOMEM;
  c->references++;
  *m = (module){ c, table };
  return sqlite3_create_module_v2(c->db, table->name, &methods, m, module_free);
}
