/* The rows of a query. See filter.h. */
#include "sqlite/filter.h"

#include "sqlite/cursor_order.h"
#include "sqlite/own.h"
#include "sqlite/statements.h"
#include "sqlite/target.h"

/* --- The statement --- */

/* True if `ask` is true for the connection. The answer is kept. */
static bool filter_may_be(const zt_cursor *c, zt_answer *answer, bool (*ask)(sqlite3 *db)){
  if( *answer==ZT_ANSWER_UNKNOWN ){
    *answer = ask(c->scan.connection->db) ? ZT_ANSWER_YES : ZT_ANSWER_NO;
  }
  return *answer==ZT_ANSWER_YES;
}

/* A host's own LIKE may find other rows. Before SQLite 3.51, a LIKE or GLOB in the ON of an outer
** join reaches the left table, which must keep its rows. */
static bool filter_may_use_patterns(zt_cursor *c, int plan){
  if( !(plan & ZT_PLAN_PATTERNS) ) return true;
  if( !filter_may_be(c, &c->own_patterns, zt_own_patterns) ) return false;
  if( sqlite3_libversion_number()>=3051000 ) return true;
  return !filter_may_be(c, &c->outer_join, zt_statements_join_outer);
}

/* Before SQLite 3.46, each side of a UNION ALL receives the whole OFFSET, and SQLite assumes that
** the sides applied it. */
static int filter_check_offset(zt_cursor *c){
  if( !c->constraints.offset || sqlite3_libversion_number()>=3046000
   || !filter_may_be(c, &c->compound, zt_statements_are_compound) ) return SQLITE_OK;
  return zt_fail(&c->err, SQLITE_ERROR,
                 "SQLite %s hands the OFFSET of a compound SELECT to each side: write OFFSET"
                 " 0+%llu",
                 sqlite3_libversion(), c->constraints.offset);
}

/* --- The source --- */

/* True if a BLOB must be copied: its bytes are read or returned after xFilter, or it is small.
** SQLite itself asks for the source when it evaluates the sides of an OR one by one. */
static bool filter_copies(zt_cursor *c, uint64_t size){
  return (c->constraints.plan & ZT_PLAN_BYTES) || size<=ZT_CURSOR_BLOB || c->automatic.text
      || filter_may_be(c, &c->asks_source, zt_statements_ask_for_source);
}

static int filter_take_blob(zt_cursor *c, sqlite3_value *value, bool *same){
  *same = *same && zt_arguments_has_blob(&c->arguments, value);
  if( *same ) return SQLITE_OK;
  zt_cursor_leave_file(c);
  zt_files_clear(&c->files.files);
  return zt_arguments_take_blob(&c->arguments, value,
                                filter_copies(c, (uint64_t)sqlite3_value_bytes(value)));
}

/* Take a source that is a path, a pattern, a directory or a list. */
static int filter_take_path(zt_cursor *c, zt_text source, bool *same){
  zt_files *f = &c->files.files;
  const bool same_source = zt_files_are_of(f, source);
  if( zt_target_check_path(c->scan.connection, source, &c->err) ) return c->err.rc;
  if( !same_source ) zt_cursor_leave_file(c);
  *same = *same && same_source;
  zt_arguments_take_text(&c->arguments);
  return zt_files_begin(f, source, &c->err);
}

/* Take the source of the query, or else that of the table's declaration. */
static int filter_take_source(zt_cursor *c, sqlite3_value *value, bool *same){
  const char *path = c->arguments.vtab->source;
  if( !value && !path ) return zt_arguments_fail_usage(&c->arguments);
  if( !value ) return filter_take_path(c, (zt_text){ path, strlen(path) }, same);
  if( zt_target_path(c->scan.connection, value, &path, &c->err) ) return c->err.rc;
  if( !path ) return filter_take_blob(c, value, same);
  return filter_take_path(c, (zt_text){ path, (size_t)sqlite3_value_bytes(value) }, same);
}

/* --- Beginning --- */

/* Take the query's values, except source and arguments. */
static int filter_take_wanted(zt_cursor *c, int plan, const zt_plan_values *values){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  const bool patterns = filter_may_use_patterns(c, plan);
  zt_scan *s = &c->scan;
  if( zt_constraints_take(&c->constraints, plan, values, patterns, &interrupt, &c->err)
   || filter_check_offset(c) ) return c->err.rc;
  s->range = c->constraints.range;
  s->ascending = (plan & ZT_PLAN_ASCENDING)!=0;
  s->descending = (plan & ZT_PLAN_DESCENDING)!=0;
  c->remaining = c->constraints.limit;
  return SQLITE_OK;
}

/* If object is an argument, its value is the wanted object. */
static int filter_take_object(zt_cursor *c){
  const int object = zt_table_argument(c->scan.table, "object");
  const char *z = object<0 ? NULL : c->scan.argument[object];
  return object<0 ? SQLITE_OK
       : zt_names_set(&c->constraints.objects, (zt_text){ z, z ? strlen(z) : 0 }, &c->err);
}

/* Begin with these values of source and arguments; NULL: the query does not give this one. If none
** has changed, the cursor keeps everything it has opened. A NULL source names no file and does not
** count as a change. */
static int filter_begin(zt_cursor *c, sqlite3_value *const *value){
  const bool none = value[0] && sqlite3_value_type(value[0])==SQLITE_NULL;
  bool same = c->arguments.source!=ZT_SOURCE_NONE;
  int rc;
  zt_cursor_rewind(c);
  if( zt_arguments_take(&c->arguments, value+1, &same) ) return c->err.rc;
  if( !same ) zt_object_iterator_leave(&c->objects);
  if( (!none && filter_take_source(c, value[0], &same)) || filter_take_object(c) ) return c->err.rc;
  if( !same ){
    c->number = 0;
    zt_automatic_clear(c);
  }
  c->eof = none;
  if( none ) return SQLITE_OK;
  return zt_automatic_filter(c, value[0], &rc) ? rc : zt_cursor_begin(c, value[0], same);
}

/* Until there is a row, begin with the next combination of list values. */
static int filter_go_on(zt_cursor *c, int rc){
  sqlite3_value *value[1+ZT_ARGUMENTS];
  while( rc==SQLITE_OK && c->eof && (c->constraints.plan & ZT_PLAN_LISTS)
      && zt_arguments_choose_next(&c->arguments) ){
    zt_arguments_chosen(&c->arguments, value);
    rc = filter_begin(c, value);
  }
  return rc;
}

/* Copy the values of lists, which are used after xFilter returns, and begin with the first
** combination. */
static int filter_begin_lists(zt_cursor *c, const zt_plan_values *values){
  sqlite3_value *value[1+ZT_ARGUMENTS];
  bool any;
  if( zt_arguments_take_lists(&c->arguments, c->constraints.plan, values, &any) ) return c->err.rc;
  c->eof = !any;
  if( !any ) return SQLITE_OK;
  zt_arguments_chosen(&c->arguments, value);
  return filter_go_on(c, filter_begin(c, value));
}

/* --- Rows --- */

/* Skip the n rows of OFFSET. */
static int filter_skip(zt_cursor *c, uint64_t n){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && n>0 && !c->eof ){
    uint64_t passed = 1;
    rc = c->from==ZT_ROWS_FROM_SORTER ? zt_cursor_next_sorted(c) : zt_cursor_skip(c, n, &passed);
    n -= passed;
    if( rc==SQLITE_OK && n>0 && n%ZT_SCAN_POLL==0 ) rc = zt_interrupt_check(&interrupt, &c->err);
  }
  return rc;
}

/* Count a row for LIMIT. False if no more are allowed. */
static bool filter_count(zt_cursor *c){
  c->eof = c->remaining==0;
  if( !c->eof ) c->remaining--;
  return !c->eof;
}

int zt_filter(zt_cursor *c, int plan, const char *text, sqlite3_value **argv){
  const zt_plan_values values = zt_plan_values_of(plan, argv);
  int rc;
  zt_cursor_unsort(c);
  zt_automatic_end_scan(c);
  c->from = ZT_ROWS_FROM_SCAN;
  c->eof = false;
  if( filter_take_wanted(c, plan, &values) ) return c->err.rc;
  zt_automatic_take(c, plan & ZT_PLAN_ALONE ? NULL : text, &values);
  if( plan & ZT_PLAN_LISTS ) return filter_begin_lists(c, &values);
  if( !filter_count(c) ) return SQLITE_OK;
  rc = filter_begin(c, values.at);
  if( rc==SQLITE_OK && zt_cursor_lacks_order(c) ) rc = zt_cursor_sort(c, &values, text);
  return rc || !c->constraints.offset ? rc : filter_skip(c, c->constraints.offset);
}

int zt_filter_next(zt_cursor *c){
  if( c->from==ZT_ROWS_FROM_INDEX ){
    zt_automatic_next(c);
    return SQLITE_OK;
  }
  if( !filter_count(c) ) return SQLITE_OK;
  c->given++;
  if( c->from==ZT_ROWS_FROM_SORTER ) return zt_cursor_next_sorted(c);
  if( zt_cursor_advance(c) ) return c->err.rc;
  return c->eof ? filter_go_on(c, SQLITE_OK) : SQLITE_OK;
}

/* Of rows from a sorter or an index. */
ZT_ASIDE static void filter_kept_column(zt_cursor *c, sqlite3_context *ctx, int i){
  if( c->from==ZT_ROWS_FROM_SORTER ) zt_cursor_sorted_column(c, ctx, i);
  else if( !zt_automatic_column(c, ctx, i) ) zt_cursor_column(c, ctx, i);
}

void zt_filter_column(zt_cursor *c, sqlite3_context *ctx, int i){
  if( c->from==ZT_ROWS_FROM_SCAN ) zt_cursor_column(c, ctx, i);
  else filter_kept_column(c, ctx, i);
}

sqlite3_int64 zt_filter_rowid(zt_cursor *c){
  switch( c->from ){
    case ZT_ROWS_FROM_SORTER: return zt_cursor_sorted_rowid(c);
    case ZT_ROWS_FROM_INDEX:  return zt_automatic_rowid(c);
    default:                  return zt_cursor_rowid(c);
  }
}

void zt_filter_reset(zt_cursor *c){
  zt_cursor_unsort(c);
  zt_automatic_clear(c);
  zt_object_iterator_leave_file(&c->objects);
  zt_file_iterator_reset(&c->files);
  zt_arguments_clear(&c->arguments);
  c->number = 0;
}
