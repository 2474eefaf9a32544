/* xFilter: from the values of a query to the first row. See cursor.h. */
#include "sqlite/cursor.h"

#include "core/sort.h"
#include "sqlite/plan.h"
#include "sqlite/statements.h"
#include "sqlite/target.h"

/* --- Arguments --- */

/* An argument must be text, all of it; NULL is one that is not given. */
static int filter_take_text(zt_cursor *c, int i, sqlite3_value *value, const char **out){
  const char *name = zt_cursor_table(c)->arguments[i];
  *out = NULL;
  if( sqlite3_value_type(value)==SQLITE_NULL ) return SQLITE_OK;
  if( sqlite3_value_type(value)==SQLITE_BLOB ){
    return zt_fail(&c->err, SQLITE_ERROR, "the argument %s must be TEXT, not a BLOB", name);
  }
  *out = (const char*)sqlite3_value_text(value);
  if( !*out ) return zt_fail_nomem(&c->err);
  if( strlen(*out)==(size_t)sqlite3_value_bytes(value) ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR, "the argument %s has U+0000 in it", name);
}

/* Take argument i: that of the query, else that which the table was declared with. *same becomes
** false if it is another one than before. */
static int filter_take_argument(zt_cursor *c, int i, sqlite3_value *value, bool *same){
  const zt_vtab *v = (const zt_vtab*)c->base.pVtab;
  const char *z, *before = c->scan.argument[i];
  if( !value ){
    z = v->argument[i];
  }else if( filter_take_text(c, i, value, &z) ){
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
  return c->scan.argument[i] ? zt_module_check(zt_cursor_table(c), i, c->scan.argument[i], &c->err)
       : SQLITE_OK;
}

/* An argument that must be there is not: say how to call the table. */
static int filter_fail_usage(zt_cursor *c){
  const char *name = zt_cursor_table(c)->name;
  bool object = zt_table_is_of_one(zt_cursor_table(c));
  return zt_fail(&c->err, SQLITE_ERROR, "%s needs a source%s: SELECT * FROM %s('model.zt'%s)", name,
                 object ? " and an object" : "", name, object ? ", 'layer.weight'" : "");
}

/* Take the arguments after source. */
static int filter_take_arguments(zt_cursor *c, sqlite3_value **value, bool *same){
  const zt_table *t = zt_cursor_table(c);
  int on_error = zt_table_argument(t, "on_error"), object = zt_table_argument(t, "object");
  for(int i=0; i<zt_table_arguments(t); i++){
    if( filter_take_argument(c, i, value[i], same) ) return c->err.rc;
    if( i==object && !value[i] && !c->scan.argument[i] ) return filter_fail_usage(c);
  }
  c->scan.skip = on_error>=0 && c->scan.argument[on_error]
              && strcmp(c->scan.argument[on_error], "skip")==0;
  return SQLITE_OK;
}

/* --- Sources --- */

/* True if the statement may ask for the column source. SQLite compares it again where it takes the
** sides of an OR one by one. */
static bool filter_asks_for_source(zt_cursor *c){
  if( !c->source_known ) c->asks_source = zt_statements_ask_for_source(c->scan.connection->db);
  c->source_known = true;
  return c->asks_source;
}

/* The source is a BLOB. It is copied if its bytes are read after xFilter, or given back, or if that
** costs next to nothing. */
static int filter_take_blob(zt_cursor *c, sqlite3_value *value, bool *same){
  const uint8_t *p = sqlite3_value_blob(value);
  uint64_t n = (uint64_t)sqlite3_value_bytes(value);
  *same = *same && c->is_blob && c->blob && c->blob_size==n
       && (n==0 || memcmp(p, sqlite3_value_blob(c->blob), (size_t)n)==0);
  if( *same ) return SQLITE_OK;
  zt_cursor_leave_file(c);
  zt_files_clear(&c->files);
  sqlite3_value_free(c->blob);
  c->blob = NULL;
  c->is_blob = true;
  c->blob_size = n;
  if( !(c->plan & ZT_PLAN_BYTES) && n>ZT_CURSOR_BLOB && !filter_asks_for_source(c)
   && !c->automatic.text ) return SQLITE_OK;
  c->blob = sqlite3_value_dup(value);
  return c->blob ? SQLITE_OK : zt_fail_nomem(&c->err);
}

/* The source is a path, a pattern, a directory or a list. */
static int filter_take_path(zt_cursor *c, zt_text source, bool *same){
  bool same_source;
  if( zt_target_check_path(c->scan.connection, source, &c->err) ) return c->err.rc;
  if( c->is_blob || !c->files.source || c->files.nSource!=source.n
   || memcmp(c->files.source, source.z, source.n)!=0 ){
    zt_cursor_leave_file(c);
  }
  sqlite3_value_free(c->blob);
  c->blob = NULL;
  c->is_blob = false;
  if( zt_files_begin(&c->files, source, &same_source, &c->err) ) return c->err.rc;
  *same = *same && same_source;
  return SQLITE_OK;
}

/* Take the source: that of the query, else that which the table was declared with. *none: it
** is NULL. */
static int filter_take_source(zt_cursor *c, sqlite3_value *value, bool *same, bool *none){
  const zt_vtab *v = (const zt_vtab*)c->base.pVtab;
  const char *path;
  *none = value && sqlite3_value_type(value)==SQLITE_NULL;
  if( *none ) return SQLITE_OK;
  if( !value && !v->source ) return filter_fail_usage(c);
  if( !value ) return filter_take_path(c, (zt_text){ v->source, strlen(v->source) }, same);
  if( zt_target_path(c->scan.connection, value, &path, &c->err) ) return c->err.rc;
  if( !path ) return filter_take_blob(c, value, same);
  return filter_take_path(c, (zt_text){ path, (size_t)sqlite3_value_bytes(value) }, same);
}

/* --- Beginning --- */

static int filter_compare_listed(const void *context, const void *a, const void *b){
  (void)context;
  return strcmp((*(zt_listed *const*)a)->path.z, (*(zt_listed *const*)b)->path.z);
}

static int filter_add_only(zt_cursor *c, zt_listed *file){
  zt_listed **only;
  if( c->nOnly==c->onlyRoom ){
    size_t room = c->onlyRoom ? c->onlyRoom*2 : 4;
    only = sqlite3_realloc64(c->only, room*sizeof(zt_listed*));   /* NOLINT: of pointers */
    if( !only ) return zt_fail_nomem(&c->err);
    c->only = only;
    c->onlyRoom = room;
  }
  c->only[c->nOnly++] = file;
  return SQLITE_OK;
}

/* Find the files with the wanted paths. One is looked up, in the place of another one; of several,
** the source is listed once. */
static int filter_find_paths(zt_cursor *c){
  const zt_names *paths = &c->wanted.paths;
  zt_connection *connection = c->scan.connection;
  uint32_t n = zt_names_count(paths);
  bool sorted = (c->plan & ZT_PLAN_SORTED)!=0;
  const zt_interrupt interrupt = zt_connection_interrupt(connection);
  const zt_sort_by by = {
    .size = sizeof(zt_listed*),   /* NOLINT: of pointers */
    .compare = filter_compare_listed, .interrupt = &interrupt
  };
  zt_listed **only;
  c->nOnly = 0;
  if( n>1 && zt_files_list(&c->files, sorted, connection, &c->err) ){
    return c->err.rc;
  }
  for(uint32_t i=0; i<n; i++){
    zt_listed *file;
    if( zt_files_find(&c->files, zt_names_get(paths, i), connection, &file, &c->err) ){
      return c->err.rc;
    }
    if( file && filter_add_only(c, file) ) return c->err.rc;
  }
  for(size_t i=0; i<c->files.n && c->files.complete && c->files.nLost; i++){
    if( zt_cursor_is_lost(&c->files.a[i]) && filter_add_only(c, &c->files.a[i]) ) return c->err.rc;
  }
  if( c->nOnly<2 ) return SQLITE_OK;
  only = c->only;
  if( zt_sort(only, c->nOnly, &by, &c->err) ) return c->err.rc;
  for(size_t i=n=0; i<c->nOnly; i++) if( n==0 || only[n-1]!=only[i] ) only[n++] = only[i];
  c->nOnly = n;
  return SQLITE_OK;
}

/* Find the files to go through. */
static int filter_find_files(zt_cursor *c){
  bool sorted = (c->plan & ZT_PLAN_SORTED)!=0;
  c->few = !c->wanted.paths.any;
  if( c->few ) return filter_find_paths(c);
  return zt_files_list(&c->files, sorted, c->scan.connection, &c->err);
}

/* The source names nothing that could be listed: stand on it as on a file that cannot be read. */
static int filter_stand_on_missing(zt_cursor *c){
  c->standing = c->opened = c->tried_stat = true;
  c->scan.path = c->err.path;
  zt_cursor_set_file_error(c);
  if( zt_cursor_enter_object(c) ) return SQLITE_OK;
  c->eof = true;
  return c->err.rc ? zt_cursor_fail(c) : SQLITE_OK;
}

/* Go to the first row of a source that is a text. */
static int filter_begin_files(zt_cursor *c){
  if( filter_find_files(c)==SQLITE_OK ) return zt_cursor_advance(c);
  /* A path that names nothing is a file that cannot be read; anything else is wrong with
  ** the query. */
  if( c->err.rc!=SQLITE_ERROR || !c->err.path ) return zt_cursor_fail(c);
  zt_cursor_leave_file(c);
  c->err.path = c->files.source;
  if( zt_table_is_of_files(zt_cursor_table(c)) ) return filter_stand_on_missing(c);
  /* A URL that is a pattern may stand for many, which nobody asked to skip */
  if( !c->scan.skip || zt_path_is_url(c->files.source) ) return zt_cursor_fail(c);
  zt_error_clear(&c->err);
  c->eof = true;
  return SQLITE_OK;
}

/* Go to the first row of a BLOB. A BLOB that is the same as before is open already. */
static int filter_begin_blob(zt_cursor *c, sqlite3_value *image, bool same){
  const zt_table *t = zt_cursor_table(c);
  /* It has no path, and NULL equals nothing. SQLite 3.31 does not see to that: a row whose column
  ** is NULL passes its check of an IN. */
  if( (c->plan & ZT_PLAN_PATH) || c->wanted.path_patterns.like || c->wanted.path_patterns.glob ){
    c->eof = true;
    return SQLITE_OK;
  }
  c->begun = true;
  if( !same || !c->standing || c->scan.error ){
    zt_cursor_leave_file(c);
    zt_cursor_open_image(c, image);
    if( c->err.rc ){
      if( !zt_cursor_may_go_on(c) ) return zt_cursor_fail(c);
      zt_error_clear(&c->err);
      c->eof = true;
      return SQLITE_OK;
    }
  }
  if( !zt_table_is_of_files(t) ) return zt_cursor_advance(c);
  if( zt_cursor_enter_object(c) ) return SQLITE_OK;
  c->eof = true;
  return c->err.rc ? zt_cursor_fail(c) : SQLITE_OK;
}

/* Before SQLite 3.51, a LIKE or GLOB in the ON of an outer join reaches the table on the left,
** which must keep its rows. */
static bool filter_may_use_patterns(zt_cursor *c){
  if( !(c->plan & ZT_PLAN_PATTERNS) || sqlite3_libversion_number()>=3051000 ) return true;
  if( !c->patterns_known ) c->patterns = !zt_statements_join_outer(c->scan.connection->db);
  c->patterns_known = true;
  return c->patterns;
}

/* Before SQLite 3.46, each side of a UNION ALL is told the whole OFFSET, and SQLite believes that
** it was counted. */
static int filter_check_offset(zt_cursor *c){
  if( !c->wanted.offset || sqlite3_libversion_number()>=3046000 ) return SQLITE_OK;
  if( !c->compound_known ) c->compound = zt_statements_are_compound(c->scan.connection->db);
  c->compound_known = true;
  if( !c->compound ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR,
                 "SQLite %s cannot tell the OFFSET of a compound SELECT: write OFFSET 0+%llu",
                 sqlite3_libversion(), c->wanted.offset);
}

/* Take what a query asks for, beside source and arguments. */
static int filter_take_wanted(zt_cursor *c, sqlite3_value **argv){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  zt_scan *s = &c->scan;
  if( zt_wanted_take(&c->wanted, c->plan, argv, filter_may_use_patterns(c), &interrupt, &c->err)
   || filter_check_offset(c) ) return c->err.rc;
  s->range = c->wanted.range;
  s->ascending = (c->plan & ZT_PLAN_ASCENDING)!=0;
  s->descending = (c->plan & ZT_PLAN_DESCENDING)!=0;
  c->left = c->wanted.limit;
  return SQLITE_OK;
}

/* The object that an argument names is the one that is wanted. */
static int filter_take_object(zt_cursor *c){
  int object = zt_table_argument(zt_cursor_table(c), "object");
  const char *z = object<0 ? NULL : c->scan.argument[object];
  return object<0 ? SQLITE_OK
       : zt_names_set(&c->wanted.objects, (zt_text){ z, z ? strlen(z) : 0 }, &c->err);
}

void zt_cursor_rewind(zt_cursor *c){
  zt_ahead_stop(&c->ahead);
  zt_ahead_stop(&c->works);
  c->eof = c->on_row = c->begun = c->found = false;
  c->iFile = 0;
  c->iObject = 0;
}

int zt_cursor_begin_scan(zt_cursor *c, sqlite3_value *image, bool same){
  return c->is_blob ? filter_begin_blob(c, image, same) : filter_begin_files(c);
}

/* Begin with these values of source and arguments, NULL where the query gives none. A cursor that
** is asked for the same again keeps what it has opened of it. */
static int filter_begin(zt_cursor *c, sqlite3_value **value){
  bool same = c->asked, none = false;
  int rc;
  zt_cursor_rewind(c);
  if( filter_take_arguments(c, value+1, &same) ) return zt_cursor_fail(c);
  if( !same ) zt_cursor_leave_object(c);
  if( filter_take_source(c, value[0], &same, &none) || filter_take_object(c) ){
    return zt_cursor_fail(c);
  }
  if( !same ) c->number = 0;
  c->asked = true;
  c->eof = none;
  if( none ) return SQLITE_OK;
  switch( zt_automatic_filter(c, value[0], same, &rc) ){
    case ZT_AUTOMATIC_SERVED: return rc;
    case ZT_AUTOMATIC_AGAIN:  return filter_begin(c, value);
    default:                  return zt_cursor_begin_scan(c, value[0], same);
  }
}

/* --- Lists of arguments --- */

static int filter_add_choice(zt_cursor *c, zt_choice *choice, sqlite3_value *value){
  sqlite3_value **a = sqlite3_realloc64(choice->a, (choice->n+1)*sizeof(*a));   /* NOLINT: same */
  if( !a ) return zt_fail_nomem(&c->err);
  choice->a = a;
  a[choice->n] = sqlite3_value_dup(value);
  return a[choice->n] ? (choice->n++, SQLITE_OK) : zt_fail_nomem(&c->err);
}

/* Copy the values of source and arguments, which are given after each other once xFilter
** is over. */
static int filter_take_choices(zt_cursor *c, sqlite3_value **value){
#if SQLITE_VERSION_NUMBER>=3038000
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
#endif
  zt_cursor_clear_choices(c);
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    sqlite3_value *item = value[k];
    int rc = SQLITE_OK;
    if( !(c->plan & ZT_PLAN_LIST<<k) ){
      if( item && filter_add_choice(c, &c->choice[k], item) ) return c->err.rc;
      continue;
    }
#if SQLITE_VERSION_NUMBER>=3038000
    for(rc=sqlite3_vtab_in_first(value[k], &item); rc==SQLITE_OK && item;
        rc=sqlite3_vtab_in_next(value[k], &item)){
      if( filter_add_choice(c, &c->choice[k], item) ) return c->err.rc;
      if( c->choice[k].n%ZT_WANTED_POLL==0 && zt_interrupt_check(&interrupt, &c->err) ){
        return c->err.rc;
      }
    }
#endif
    if( rc!=SQLITE_OK && rc!=SQLITE_DONE ){
      return zt_fail(&c->err, rc, "the values of an IN cannot be had");
    }
    if( c->choice[k].n==0 ) c->eof = true;
  }
  return SQLITE_OK;
}

/* Choose the next values. False after the last ones. */
static bool filter_next_choice(zt_cursor *c){
  for(int k=ZT_ARGUMENTS; k>=0; k--){
    if( ++c->choice[k].i<c->choice[k].n ) return true;
    c->choice[k].i = 0;
  }
  return false;
}

static int filter_begin_choice(zt_cursor *c){
  sqlite3_value *value[1+ZT_ARGUMENTS];
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    value[k] = c->choice[k].n ? c->choice[k].a[c->choice[k].i] : NULL;
  }
  return filter_begin(c, value);
}

/* At the end of the rows of some values, go to those of the next. */
int zt_cursor_go_on(zt_cursor *c, int rc){
  while( rc==SQLITE_OK && c->eof && (c->plan & ZT_PLAN_LISTS) && filter_next_choice(c) ){
    rc = filter_begin_choice(c);
  }
  return rc;
}

/* --- xFilter and xNext --- */

int zt_cursor_filter(sqlite3_vtab_cursor *p, int plan, const char *text, int argc,
                     sqlite3_value **argv){
  zt_cursor *c = (zt_cursor*)p;
  sqlite3_value *value[1+ZT_ARGUMENTS] = { NULL };
  int rc;
  (void)argc;
  zt_cursor_unsort(c);
  zt_automatic_end_scan(c);
  for(int k=0; k<=ZT_ARGUMENTS; k++) if( plan & ZT_PLAN_SOURCE<<k ) value[k] = *argv++;
  c->plan = plan;
  c->eof = false;
  zt_automatic_take(c, plan & ZT_PLAN_ALONE ? NULL : text, argv);
  if( filter_take_wanted(c, argv) ) return zt_cursor_fail(c);
  if( plan & ZT_PLAN_LISTS ){
    if( filter_take_choices(c, value) ) return zt_cursor_fail(c);
    return c->eof ? SQLITE_OK : zt_cursor_go_on(c, filter_begin_choice(c));
  }
  if( c->left==0 ){
    c->eof = true;
    return SQLITE_OK;
  }
  c->left--;
  rc = filter_begin(c, value);
  if( rc==SQLITE_OK && zt_cursor_lacks_order(c) ) rc = zt_cursor_sort(c, value[0], argv, text);
  return rc || !c->wanted.offset ? rc : zt_cursor_skip(c, c->wanted.offset);
}
