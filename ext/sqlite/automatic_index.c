/* The index that a cursor makes for itself. See automatic_index.h. */
#include "sqlite/cursor.h"

#include "sqlite/capture.h"
#include "sqlite/key_hash.h"

/* A build may override these, to make an index wherever one is possible. */
#ifndef ZT_AUTOMATIC_LEAST
# define ZT_AUTOMATIC_LEAST 1024       /* Minimum number of steps before an index is made; */
# define ZT_AUTOMATIC_PATIENCE 65536   /* the same if no scan has come to its end */
#endif

#define AUTOMATIC_POLL 1024   /* Rows between two interrupt checks */

/* The data of a row beside its values. */
typedef struct automatic_row {
  uint32_t hash, next;     /* Of the key; next row in the same slot, from 1 on */
} automatic_row;

/* The same if columns are read from the file on demand, with the state of that file. */
typedef struct automatic_late_row {
  automatic_row row;       /* First */
  zt_file_place at;
} automatic_late_row;

/* --- Forgetting --- */

static void automatic_drop_rows(zt_automatic_index *a){
  zt_materialized_free(a->rows);
  sqlite3_free(a->slot);
  a->rows = NULL;
  a->slot = NULL;
  a->row = a->stood = 0;
}

/* The steps of all scans so far: rows given, and the cost of files. */
static uint64_t automatic_steps(const zt_cursor *c){
  return c->given + c->files.steps;
}

void zt_automatic_clear(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  automatic_drop_rows(a);
  sqlite3_free(a->base);
  a->base = NULL;
  a->since = a->before = automatic_steps(c);
  a->full = 0;
  a->refused = false;
  c->objects.passed = 0;
}

/* --- Columns --- */

/* The columns that are read from the file on demand: those that need an open file, if no column of
** the key does. */
static uint64_t automatic_late(const zt_cursor *c){
  const zt_key_columns *columns = &c->automatic.columns;
  const zt_table *t = c->scan.table;
  if( t->rows!=ZT_ROWS_FILES ) return 0;
  for(int k=0; k<columns->n; k++) if( !(t->light>>columns->a[k].column & 1) ) return 0;
  return columns->covering & ~t->light;
}

/* True if column k of the key is the object, whose value is among the plan's other values. */
static bool automatic_looks_up(const zt_cursor *c, int k){
  return (c->constraints.plan & ZT_PLAN_OBJECT)
      && c->automatic.columns.a[k].column==c->scan.table->iObject;
}

/* The number of materialized columns. */
static int automatic_count(const zt_automatic_index *a){
  int n = 0;
  for(uint64_t columns=a->kept; columns; columns&=columns-1) n++;
  return n;
}

static void automatic_take_columns(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  uint8_t n = 0;
  a->columns = zt_key_columns_read(a->text, c->scan.table);
  a->known = true;
  a->late = automatic_late(c);
  a->kept = a->columns.covering & ~a->late;
  for(int i=0; i<64; i++){
    a->place[i] = n;
    n = (uint8_t)(n + (a->kept>>i & 1));
  }
  a->narrows = false;
  for(int k=0; k<a->columns.n; k++) a->narrows |= automatic_looks_up(c, k);
}

/* --- When --- */

static void automatic_append_names(sqlite3_str *out, const zt_names *names){
  sqlite3_str_appendf(out, "%d %llu ", names->any, (uint64_t)names->n);
  sqlite3_str_append(out, names->bytes, (int)names->n);
}

static void automatic_append_patterns(sqlite3_str *out, const zt_patterns *patterns){
  sqlite3_str_appendf(out, "%d%s", patterns->like!=NULL, patterns->like ? patterns->like : "");
  sqlite3_str_appendchar(out, 1, 0);
  sqlite3_str_appendf(out, "%d%s", patterns->glob!=NULL, patterns->glob ? patterns->glob : "");
  sqlite3_str_appendchar(out, 1, 0);
}

/* Take all conditions beside the key. False if they are not the previous ones. */
static bool automatic_take_base(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  const zt_constraints *w = &c->constraints;
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *base;
  int n;
  bool same;
  automatic_append_names(out, &w->paths);
  if( !a->narrows ) automatic_append_names(out, &w->objects);
  automatic_append_patterns(out, &w->path_patterns);
  automatic_append_patterns(out, &w->object_patterns);
  sqlite3_str_appendf(out, "%llu %llu", w->range.first, w->range.last);
  n = sqlite3_str_length(out);
  base = sqlite3_str_finish(out);
  same = base && a->base && n==a->nBase && memcmp(base, a->base, (size_t)n)==0;
  if( !same && a->base ) zt_automatic_clear(c);
  sqlite3_free(a->base);
  a->base = base;
  a->nBase = n;
  return same;
}

/* The previous scan is over. c->eof: it came to its end; c->constraints: its conditions. The plan
** is parsed only here, when a second scan begins: most statements scan once. */
void zt_automatic_end_scan(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  const uint64_t steps = automatic_steps(c);
  if( !a->text || c->from==ZT_ROWS_FROM_INDEX ) return;
  if( !a->known ){
    automatic_take_columns(c);
    automatic_take_base(c);
  }
  if( c->eof ) a->full = steps-a->before+(a->narrows ? c->objects.passed : 0);
  a->before = steps;
  c->objects.passed = 0;
}

/* Take a new scan's plan, and the values of its key. */
void zt_automatic_take(zt_cursor *c, const char *text, const zt_plan_values *values){
  zt_automatic_index *a = &c->automatic;
  int at = 0;
  if( text!=a->text || c->constraints.plan!=a->plan ){
    zt_automatic_clear(c);
    a->text = text;
    a->plan = c->constraints.plan;
    a->known = false;
  }
  if( !a->text || !a->known ) return;
  for(int k=0; k<a->columns.n; k++){
    a->key[k] = automatic_looks_up(c, k) ? zt_plan_value(values, ZT_PLAN_OBJECT)
              : values->key[at++];
  }
}

/* True if scans with this base have taken as many steps as one over all rows, and enough to make an
** index, which takes some time however few the rows are. */
static bool automatic_pays(const zt_cursor *c){
  const zt_automatic_index *a = &c->automatic;
  const uint64_t steps = automatic_steps(c)-a->since;
  const uint64_t full = a->full ? a->full : ZT_AUTOMATIC_PATIENCE;
  const uint64_t least = a->plan & ZT_PLAN_BYTES ? 0 : ZT_AUTOMATIC_LEAST;
  return steps>least && steps>=full;
}

/* --- Making it --- */

static automatic_row *automatic_row_of(const zt_automatic_index *a, uint32_t row){
  return zt_materialized_extra(a->rows, row-1);
}

static void automatic_column(void *context, sqlite3_context *ctx, int i){
  zt_cursor *c = context;
  zt_cursor_column(c, ctx, zt_table_number(c->scan.table, i));
}

static void automatic_add(void *context, sqlite3_context *ctx, sqlite3_value **value){
  zt_cursor *c = context;
  zt_automatic_index *a = &c->automatic;
  uint64_t hash = 0;
  void *extra;
  int rc = SQLITE_OK;
  for(int k=0; k<a->columns.n && rc==SQLITE_OK; k++){
    const zt_key_column *key = &a->columns.a[k];
    rc = zt_key_hash(value[a->place[key->column]], key->collation, &hash);
  }
  if( rc==SQLITE_OK ) rc = zt_materialized_add(a->rows, zt_cursor_rowid(c), value);
  if( rc ){
    sqlite3_result_error_code(ctx, rc);
    return;
  }
  extra = zt_materialized_extra(a->rows, zt_materialized_count(a->rows)-1);
  ((automatic_row*)extra)->hash = (uint32_t)hash;
  if( a->late ) ((automatic_late_row*)extra)->at = c->files.at;
}

/* Materialize all rows. */
static int automatic_fill(zt_cursor *c, sqlite3_value *image){
  static const zt_capture_calls calls = { automatic_column, automatic_add };
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  zt_capture *capture;
  uint32_t n = 0;
  int rc = zt_capture_open(c->scan.connection->db, c->automatic.kept, &calls, c, &capture);
  if( rc ) return rc;
  rc = zt_cursor_begin(c, image, true);
  while( rc==SQLITE_OK && !c->eof ){
    if( ++n%AUTOMATIC_POLL==0 ) rc = zt_interrupt_check(&interrupt, &c->err);
    if( rc==SQLITE_OK ) rc = zt_capture_row(capture);
    if( rc==SQLITE_OK ) rc = zt_cursor_advance(c);
  }
  zt_capture_close(capture);
  return rc;
}

/* Link the rows by their hashes. Rows of one slot keep the scan's order. */
static int automatic_link(zt_automatic_index *a){
  const uint32_t n = zt_materialized_count(a->rows);
  uint32_t slots = 1;
  while( slots<n && slots<1u<<31 ) slots *= 2;
  if( !zt_materialized_charge(a->rows, slots*(uint64_t)sizeof(*a->slot)) ) return SQLITE_FULL;
  a->slot = sqlite3_malloc64(slots*(uint64_t)sizeof(*a->slot));
  if( !a->slot ) return SQLITE_NOMEM;
  memset(a->slot, 0, slots*sizeof(*a->slot));
  a->mask = slots-1;
  for(uint32_t i=n; i>0; i--){
    automatic_row *row = automatic_row_of(a, i);
    row->next = a->slot[row->hash & a->mask];
    a->slot[row->hash & a->mask] = i;
  }
  return SQLITE_OK;
}

/* Make the index. The result is SQLITE_OK, or the reason why there is none. */
static int automatic_make(zt_cursor *c, sqlite3_value *image){
  zt_automatic_index *a = &c->automatic;
  const size_t extra = a->late ? sizeof(automatic_late_row) : sizeof(automatic_row);
  const bool any = c->constraints.objects.any;
  int rc;
  if( !zt_key_columns_have_own_collations(&a->columns, c->scan.connection->db) ){
    return SQLITE_ERROR;
  }
  a->rows = zt_materialized_new(automatic_count(a), extra);
  if( !a->rows ) return SQLITE_NOMEM;
  c->constraints.objects.any = any || a->narrows;
  rc = automatic_fill(c, image);
  c->constraints.objects.any = any;
  return rc ? rc : automatic_link(a);
}

/* --- Serving --- */

/* True if the row's object is the one that is looked up, as it is without an index. Before SQLite
** 3.38, `(object, rank) IN (SELECT ...)` is a lookup for each object, and SQLite only checks that
** the row is one of the list: it would give the row of '1' for '01', too. */
static bool automatic_is_wanted(const zt_cursor *c, uint32_t row){
  const zt_automatic_index *a = &c->automatic;
  const zt_names *names = &c->constraints.objects;
  if( !a->narrows || names->any ) return true;
  return zt_names_count(names)==1
      && zt_text_equal(zt_materialized_text(a->rows, row-1, a->place[c->scan.table->iObject]),
                       zt_names_get(names, 0));
}

/* Go to the first row, from this one on, whose key may be the wanted one. */
static void automatic_find(zt_cursor *c, uint32_t row){
  zt_automatic_index *a = &c->automatic;
  while( row && (automatic_row_of(a, row)->hash!=a->hash || !automatic_is_wanted(c, row)) ){
    row = automatic_row_of(a, row)->next;
  }
  a->row = row;
  c->eof = row==0;
}

void zt_automatic_next(zt_cursor *c){
  automatic_find(c, automatic_row_of(&c->automatic, c->automatic.row)->next);
}

/* Begin with the rows whose key may be the wanted one. NULL equals nothing. */
static int automatic_look_up(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  uint64_t hash = 0;
  c->from = ZT_ROWS_FROM_INDEX;
  for(int k=0; k<a->columns.n; k++){
    const zt_key_column *key = &a->columns.a[k];
    if( !key->is && sqlite3_value_type(a->key[k])==SQLITE_NULL ){
      c->eof = true;
      return SQLITE_OK;
    }
    if( zt_key_hash(a->key[k], key->collation, &hash) ) return zt_fail_nomem(&c->err);
  }
  a->hash = (uint32_t)hash;
  automatic_find(c, a->slot[a->hash & a->mask]);
  return SQLITE_OK;
}

/* The error concerns only the index: the scan begins as if no index had been tried. */
static void automatic_give_up(zt_cursor *c){
  automatic_drop_rows(&c->automatic);
  c->automatic.refused = true;
  zt_error_clear(&c->err);
  zt_cursor_rewind(c);
  zt_cursor_leave_file(c);
}

bool zt_automatic_filter(zt_cursor *c, sqlite3_value *image, int *rc){
  zt_automatic_index *a = &c->automatic;
  *rc = SQLITE_OK;
  if( !a->text || !a->known ) return false;
  if( !automatic_take_base(c) || a->refused ) return false;
  if( !a->rows ){
    if( !automatic_pays(c) ) return false;
    *rc = automatic_make(c, image);
    if( *rc==SQLITE_INTERRUPT ) return true;
    if( *rc ){
      automatic_give_up(c);
      return false;
    }
  }
  *rc = automatic_look_up(c);
  return true;
}

/* Stand on the current row's file, in the state that it had when the row was kept. */
static void automatic_stand(zt_cursor *c){
  zt_automatic_index *a = &c->automatic;
  const automatic_late_row *row = (const automatic_late_row*)automatic_row_of(a, a->row);
  if( a->stood==a->row || !row->at.file ) return;
  a->stood = a->row;
  zt_cursor_return(c, &row->at);
}

bool zt_automatic_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_automatic_index *a = &c->automatic;
  const int column = zt_table_column(c->scan.table, i);
  if( column<0 ) return false;   /* An argument */
  if( a->kept>>column & 1 ){
    zt_materialized_result(a->rows, a->row-1, a->place[column], ctx);
    return true;
  }
  if( a->late>>column & 1 ){
    automatic_stand(c);
    return false;
  }
  sqlite3_result_error_code(ctx, SQLITE_INTERNAL);   /* SQLite said that it is not used */
  return true;
}

sqlite3_int64 zt_automatic_rowid(const zt_cursor *c){
  return zt_materialized_rowid(c->automatic.rows, c->automatic.row-1);
}
