/* xBestIndex of the frame. See plan.h. */
#include "sqlite/plan.h"

#include "core/paths.h"
#include "sqlite/key_columns.h"

/* Costs are in steps over a row of an ordinary table, as SQLite counts: the costs to stat a file,
** to open one and check its manifest, to decode a row, to read a tensor. */
#define PLAN_STAT 3.0
#define PLAN_OPEN 100.0
#define PLAN_LOOKUP 10.0   /* A file that a join looks up repeatedly is open */
#define PLAN_ROW 2.0
#define PLAN_READ 100000.0
#define PLAN_LATE 1e60         /* Only another join order supplies an argument: a last resort.
                               ** SQLite estimates that joins of five tables cost 1e30 */
#define PLAN_LACKING 1e90      /* The same, or no join order does, for a required argument: the
                               ** query fails, but with a message */
#define PLAN_DEFAULT 8.0      /* Factor for each argument that is not given: see plan_price() */

/* Estimated numbers, where nothing is known. */
#define PLAN_FILES 1000.0      /* Files of a pattern, a directory or a list */
#define PLAN_SOME_FILES 4.0    /* Files of a source that is unknown until the query runs: mostly a
                               ** path */
#define PLAN_OBJECTS_OF_FILE 100.0
#define PLAN_ROWS_OF_OBJECT 10000.0   /* Elements or slices */
#define PLAN_LARGE_OFFSET 100000
#define PLAN_LISTED 10.0       /* Values of an IN */
#define PLAN_INDEXED 3.0       /* An automatic index divides the cost of a scan by this. It then
                               ** beats a scan of an ordinary table for each row, but not a lookup
                               ** in an index of that table */
#define PLAN_INDEXED_DEAR 1.2  /* The same if the rows may not fit, or tensors are read for it: it
                               ** is used, but does not change the join order */
#define PLAN_NARROWS 10.0      /* A pattern, or one bound of a range, divides by this */

/* A constraint that may be pushed down, as a bit of the plan. */
typedef struct plan_term {
  int bit;
  int list;              /* The bit if the value is a list; 0: it is one value */
  int column;            /* SQLite's number; -1: the table has no such column */
  unsigned char op;
  bool text;             /* Compared as text: needs the BINARY collation */
} plan_term;

/* The state of xBestIndex. */
typedef struct plan_planner {
  const zt_plan_table *of;
  const zt_table *table;
  sqlite3_index_info *info;
  int plan;              /* ZT_PLAN_ bits */
  int nArgument;         /* Number of values in argv */
  int used;              /* Constraints passed to xFilter, except LIMIT and OFFSET */
  bool late;             /* Only another join order supplies an optional argument */
  bool lacking;          /* A required argument is missing */
  int open;              /* Arguments whose values are unknown until the query runs; 0 before SQLite
                         ** 3.38, which gives no values */
  bool refused;          /* No plan, because another join order supplies an argument */
  bool sourceless;       /* No constraint gives the source */
  bool optional;         /* An optional argument is given */
  int defaults;          /* Number of optional arguments not given */
  bool null_argument;    /* An optional argument may be NULL */
  bool looks_up;         /* A join names objects, which are looked up */
  bool indexed;          /* An automatic index looks up rows by other columns */
  bool exact;            /* Pushed-down constraints leave SQLite nothing to check */
} plan_planner;

zt_plan_values zt_plan_values_of(int plan, sqlite3_value **argv){
  zt_plan_values values = { { NULL }, NULL };
  for(int i=0; i<ZT_PLAN_VALUES; i++) if( plan>>i & 1 ) values.at[i] = *argv++;
  values.key = argv;
  return values;
}

static int plan_column_or_none(const zt_table *table, int i){
  return i<0 ? -1 : zt_table_number(table, i);
}

/* True if SQLite's number is that of the table's column i. No column has i -1: the number -1 is
** that of the rowid. */
static bool plan_is_column(const zt_table *table, int number, int i){
  return i>=0 && number==zt_table_number(table, i);
}

/* True if a column in mask is used. Bit 63 of SQLite's word stands for all columns from there on;
** no table has that many. */
static bool plan_uses(const plan_planner *p, uint64_t mask){
  for(int i=0; i<62; i++){
    if( (mask>>i & 1) && (p->info->colUsed>>zt_table_number(p->table, i) & 1) ) return true;
  }
  return false;
}

static bool plan_is_binary(sqlite3_index_info *info, int i){
  return sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY")==0;
}

/* Ask for all values of an IN at once, if the host can. A directory is then read once, not once per
** value, and SQLite compares the values with the right affinity. Arguments need it because SQLite
** also asks for a plan without INs, and if it gets none, assumes that there is no plan. */
static bool plan_takes_list(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 && sqlite3_vtab_in(info, i, -1) ){
    return sqlite3_vtab_in(info, i, 1)!=0;
  }
#else
  (void)info;
  (void)i;
#endif
  return false;
}

/* The value that constraint i compares with, if it is already known; else NULL. */
static sqlite3_value *plan_value(sqlite3_index_info *info, int i){
  sqlite3_value *value = NULL;
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 && sqlite3_vtab_rhs_value(info, i, &value)!=SQLITE_OK ){
    value = NULL;
  }
#else
  (void)info;
  (void)i;
#endif
  return value;
}

static bool plan_is_text(sqlite3_value *value){
  return value && sqlite3_value_type(value)==SQLITE_TEXT;
}

/* --- Constraints --- */

/* The term of argument k; source is argument 0. */
static plan_term plan_argument_term(const plan_planner *p, int k){
  return (plan_term){
    ZT_PLAN_ARGUMENT_BIT(k), ZT_PLAN_LIST_BIT(k), p->table->nVisible+k,
    SQLITE_INDEX_CONSTRAINT_EQ, false
  };
}

/* True if the bit is that of the table's argument object. */
static bool plan_is_object(const plan_planner *p, int bit){
  const int object = zt_table_argument(p->table, "object");
  return object>=0 && bit==ZT_PLAN_ARGUMENT_BIT(1+object);
}

/* The first usable constraint for a term; -1 if there is none. *unusable: there is an unusable
** one. */
static int plan_find(const plan_planner *p, const plan_term *term, bool *unusable){
  int found = -1;
  *unusable = false;
  for(int i=0; i<p->info->nConstraint && term->column>=0; i++){
    const struct sqlite3_index_constraint *constraint = &p->info->aConstraint[i];
    if( constraint->iColumn!=term->column || constraint->op!=term->op ) continue;
    if( !constraint->usable ) *unusable = true;
    else if( found<0 && (!term->text || plan_is_binary(p->info, i)) ) found = i;
  }
  return found;
}

/* True if a query without this argument fails. */
static bool plan_is_required(const plan_planner *p, int bit){
  if( bit==ZT_PLAN_SOURCE ) return p->of->source==NULL;
  return plan_is_object(p, bit) && !p->of->object;
}

/* True if constraint i may be the first comparison of row values: SQLite passes (a, b) > (x, y) as
** a >= x, and checks the rows again. It passes LIMIT all the same. A value that is known is none of
** a row. */
static bool plan_may_be_row(sqlite3_index_info *info, int i){
  const int op = info->aConstraint[i].op;
  return (op==SQLITE_INDEX_CONSTRAINT_GE || op==SQLITE_INDEX_CONSTRAINT_LE) && !plan_value(info, i);
}

/* Pass constraint i to xFilter as the term's value. */
static void plan_use(plan_planner *p, const plan_term *term, int i){
  bool argument = (term->bit & ZT_PLAN_ARGUMENTS)!=0;
  bool optional = argument && !plan_is_required(p, term->bit) && term->bit!=ZT_PLAN_SOURCE;
  sqlite3_value *value = optional ? plan_value(p->info, i) : NULL;
  p->plan |= term->bit;
  p->open += argument && sqlite3_libversion_number()>=3038000 && !plan_value(p->info, i);
  p->optional = p->optional || optional;
  p->used++;
  p->info->aConstraintUsage[i].argvIndex = ++p->nArgument;
  p->info->aConstraintUsage[i].omit = argument;
  if( term->list && plan_takes_list(p->info, i) ) p->plan |= term->list;
  if( !argument && (!(term->bit & ZT_PLAN_RANGE) || plan_may_be_row(p->info, i)) ) p->exact = false;
  if( optional && (!value || sqlite3_value_type(value)==SQLITE_NULL) ) p->null_argument = true;
}

/* True if constraint i is known to be an IN. Before SQLite 3.38, none is known. */
static bool plan_is_list(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 ) return sqlite3_vtab_in(info, i, -1)!=0;
#else
  (void)info;
  (void)i;
#endif
  return false;
}

/* True if an argument is unusable because of the join order, not because SQLite asks for a plan
** without INs. If that one is refused, SQLite assumes that there is no plan, and may not ask for
** the one that exists. */
static bool plan_comes_later(const plan_planner *p, const plan_term *term){
  for(int i=0; i<p->info->nConstraint; i++){
    const struct sqlite3_index_constraint *constraint = &p->info->aConstraint[i];
    if( constraint->iColumn==term->column && constraint->op==term->op && !constraint->usable
     && !plan_is_list(p->info, i) ) return true;
  }
  return false;
}

/*
** True if a plan without this argument is refused when another join order supplies it. A high cost
** is not enough, since SQLite takes such a plan at times: large joins cost as much, SQLite 3.47 and
** later makes tables dearer than the dearest plan of a table that three of them look up, and there
** may be no other plan. Without a required argument that plan fails (before 3.38, where no IN is
** known, it is allowed); without an optional one it lacks rows. A source or object from the
** declaration is as good as a later one, which may come from this table's rows.
*/
static bool plan_refuses(const plan_planner *p, int bit){
  if( plan_is_required(p, bit) ) return sqlite3_libversion_number()>=3038000;
  return bit!=ZT_PLAN_SOURCE && !plan_is_object(p, bit);
}

/* True if constraints may cost more than they save. If two arguments come from two tables, SQLite
** asks for a plan with all tables that a constraint names, or in whose ON it is, and for plans with
** one of them. There is none if one of these tables takes its source from this table. */
static bool plan_leaves_all(const plan_planner *p){
  return p->open>=2;
}

/* True if constraint i is left to SQLite. SQLite passes the values of an IN of positions one by
** one. It asks for a plan without any IN, takes the one without an argument that is a list, and
** asks no more. */
static bool plan_leaves(const plan_planner *p, const plan_term *term, int i){
  if( term->bit==ZT_PLAN_EQ && (p->plan & ZT_PLAN_LISTS) ) return plan_is_list(p->info, i);
  return plan_leaves_all(p) && (term->bit & (ZT_PLAN_PATH|ZT_PLAN_OBJECT|ZT_PLAN_PATTERNS));
}

/* Note that the query does not give an argument. */
static void plan_omit(plan_planner *p, int bit, bool late){
  if( bit==ZT_PLAN_SOURCE && !late ) p->sourceless = true;
  if( plan_is_required(p, bit) ) p->lacking = true;
  else if( late ) p->late = true;
  else if( bit!=ZT_PLAN_SOURCE ) p->defaults++;
}

/* Choose among the constraints of a term. */
static void plan_choose_term(plan_planner *p, const plan_term *term){
  bool unusable;
  const int i = plan_find(p, term, &unusable);
  if( i>=0 && plan_leaves(p, term, i) ) return;
  if( i>=0 ){
    plan_use(p, term, i);
  }else if( term->bit & ZT_PLAN_ARGUMENTS ){
    plan_omit(p, term->bit, unusable);
    if( unusable && plan_refuses(p, term->bit) && plan_comes_later(p, term) ) p->refused = true;
  }
}

/* Choose among all constraints, in the order of their values in argv. */
static void plan_choose(plan_planner *p){
  const zt_table *t = p->table;
  const int position = t->iPosition ? t->iPosition : -1;
  const int path = plan_column_or_none(t, t->iPath), object = plan_column_or_none(t, t->iObject);
  const plan_term terms[] = {
    { ZT_PLAN_PATH, ZT_PLAN_PATHS, path, SQLITE_INDEX_CONSTRAINT_EQ, true },
    { ZT_PLAN_OBJECT, ZT_PLAN_OBJECTS, object, SQLITE_INDEX_CONSTRAINT_EQ, true },
    { ZT_PLAN_PATH_LIKE, 0, path, SQLITE_INDEX_CONSTRAINT_LIKE, false },
    { ZT_PLAN_PATH_GLOB, 0, path, SQLITE_INDEX_CONSTRAINT_GLOB, false },
    { ZT_PLAN_OBJECT_LIKE, 0, object, SQLITE_INDEX_CONSTRAINT_LIKE, false },
    { ZT_PLAN_OBJECT_GLOB, 0, object, SQLITE_INDEX_CONSTRAINT_GLOB, false },
    { ZT_PLAN_EQ, 0, position, SQLITE_INDEX_CONSTRAINT_EQ, false },
    { ZT_PLAN_GT, 0, position, SQLITE_INDEX_CONSTRAINT_GT, false },
    { ZT_PLAN_GE, 0, position, SQLITE_INDEX_CONSTRAINT_GE, false },
    { ZT_PLAN_LT, 0, position, SQLITE_INDEX_CONSTRAINT_LT, false },
    { ZT_PLAN_LE, 0, position, SQLITE_INDEX_CONSTRAINT_LE, false },
  };
  for(int k=0; k<=zt_table_arguments(t); k++){
    const plan_term term = plan_argument_term(p, k);
    plan_choose_term(p, &term);
  }
  for(size_t k=0; k<sizeof(terms)/sizeof(*terms); k++) plan_choose_term(p, &terms[k]);
}

/* --- The automatic index --- */

/* True if a scan with the plan has few rows anyway, or goes through the values of lists one by
** one. */
static bool plan_is_narrow(const plan_planner *p){
  bool path = (p->plan & ZT_PLAN_PATH) && !(p->plan & ZT_PLAN_PATHS);
  bool object = (p->plan & ZT_PLAN_OBJECT) && !(p->plan & ZT_PLAN_OBJECTS);
  if( p->plan & (ZT_PLAN_LISTS|ZT_PLAN_EQ) ) return true;
  return path && (object || p->table->rows==ZT_ROWS_FILES);
}

/* True if the scan avoids reading tensors that an index with this key would read: those of objects
** that no lookup names, and of rows that SQLite rejects by other columns first. */
static bool plan_reads_less(const plan_planner *p, const zt_key_columns *keys, bool looks_up){
  if( !(p->plan & ZT_PLAN_BYTES) ) return false;
  if( looks_up ) return true;
  for(int k=0; k<keys->n; k++) if( p->table->bytes>>keys->a[k].column & 1 ) return false;
  return !p->table->rows_read;
}

/* The key: the object that is looked up in each file, and other columns that a join pins. at: the
** constraint of each column; -1: it is passed to xFilter anyway. */
static zt_key_columns plan_key(const plan_planner *p, int *at){
  const zt_table *t = p->table;
  sqlite3_index_info *info = p->info;
  const int object = p->plan & ZT_PLAN_OBJECT ? plan_column_or_none(t, t->iObject) : -1;
  const bool one = object>=0 && !(p->plan & ZT_PLAN_OBJECTS);
  zt_key_columns keys = { .n = 0 };
  for(int i=0; i<info->nConstraint && one; i++){
    if( info->aConstraint[i].iColumn!=object || !info->aConstraintUsage[i].argvIndex ) continue;
    if( zt_key_columns_take(&keys, t, info, i) ) at[keys.n-1] = -1;
  }
  for(int i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn==object || info->aConstraintUsage[i].argvIndex ) continue;
    if( zt_key_columns_take(&keys, t, info, i) ) at[keys.n-1] = i;
  }
  return keys;
}

/* Offer an index on the columns that a join pins. Its values come after all others. */
static int plan_offer_index(plan_planner *p){
  sqlite3_index_info *info = p->info;
  zt_key_columns keys;
  int at[ZT_KEY_COLUMNS] = { 0 };
  if( plan_is_narrow(p) || plan_leaves_all(p) ) return SQLITE_OK;
  keys = plan_key(p, at);
  if( keys.n==0 || plan_reads_less(p, &keys, at[0]<0) ) return SQLITE_OK;
  keys.covering = zt_key_columns_used(p->table, info->colUsed);
  for(int k=0; k<keys.n; k++){
    keys.covering |= 1ull<<keys.a[k].column;
    if( at[k]<0 ){
      p->looks_up = true;
      continue;
    }
    info->aConstraintUsage[at[k]].argvIndex = ++p->nArgument;
    p->indexed = true;
  }
  info->idxStr = zt_key_columns_write(&keys, p->table);
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- Files --- */

/* The source, as far as it is known before the query runs. */
typedef enum plan_source {
  PLAN_IS_UNKNOWN, PLAN_IS_BLOB, PLAN_IS_TEXT, PLAN_IS_NOTHING
} plan_source;

static plan_source plan_source_of(plan_planner *p, const char **text){
  const plan_term source = plan_argument_term(p, 0);
  sqlite3_value *value;
  bool unusable;
  *text = p->of->source;
  if( !(p->plan & ZT_PLAN_SOURCE) ) return *text ? PLAN_IS_TEXT : PLAN_IS_NOTHING;
  value = plan_value(p->info, plan_find(p, &source, &unusable));
  if( !value ) return PLAN_IS_UNKNOWN;
  if( sqlite3_value_type(value)==SQLITE_BLOB ) return PLAN_IS_BLOB;
  if( !plan_is_text(value) ) return PLAN_IS_NOTHING;
  *text = (const char*)sqlite3_value_text(value);
  return *text ? PLAN_IS_TEXT : PLAN_IS_NOTHING;
}

/* The number of files that the query looks at. This does not ask the system: a name with a suffix
** is taken for a file's. */
static double plan_files(plan_planner *p){
  const char *text;
  switch( plan_source_of(p, &text) ){
    case PLAN_IS_UNKNOWN: return PLAN_SOME_FILES;
    case PLAN_IS_TEXT:
      if( !zt_glob_is_pattern(text) && strchr(zt_path_name(text), '.') ) return 1;
      return PLAN_FILES;
    default: return 1;
  }
}

/* True if the source may be one file, as far as is known before the query runs. */
static bool plan_may_be_one_file(plan_planner *p){
  const char *text;
  zt_stat stat;
  plan_source source = plan_source_of(p, &text);
  if( source==PLAN_IS_BLOB || source==PLAN_IS_UNKNOWN ) return true;
  if( source!=PLAN_IS_TEXT || p->of->connection->nofs ) return false;
  return !zt_path_is_url(text) && zt_os_stat(text, &stat)==0 && stat.kind!=ZT_KIND_DIRECTORY;
}

/* True if the column is compared with one value, which is known to be TEXT. */
static bool plan_compares_text(plan_planner *p, int column){
  const plan_term term = {
    0, 0, plan_column_or_none(p->table, column), SQLITE_INDEX_CONSTRAINT_EQ, true
  };
  bool unusable;
  int i = plan_find(p, &term, &unusable);
  return i>=0 && plan_is_text(plan_value(p->info, i));
}

/* True if the path, or path and object, identify a row. They do if they are compared as text. A
** comparison with a column of numbers converts them to numbers. */
static bool plan_is_unique(plan_planner *p){
  const zt_table *t = p->table;
  if( p->plan & (ZT_PLAN_PATHS|ZT_PLAN_OBJECTS) || !(p->plan & ZT_PLAN_PATH) ) return false;
  if( t->rows==ZT_ROWS_FILES ) return plan_compares_text(p, t->iPath);
  return t->rows==ZT_ROWS_OBJECTS && (p->plan & ZT_PLAN_OBJECT) && plan_compares_text(p, t->iPath)
      && plan_compares_text(p, t->iObject);
}

/* --- Costs --- */

static double plan_at_least_one(double n){
  return n<1 ? 1 : n;
}

/* The number of rows of one object that the query asks for. */
static double plan_rows_of_object(const plan_planner *p, int plan){
  double rows = p->table->iPosition ? PLAN_ROWS_OF_OBJECT : 1;
  if( plan & ZT_PLAN_EQ ) return 1;
  if( plan & (ZT_PLAN_GT|ZT_PLAN_GE) ) rows /= PLAN_NARROWS;
  if( plan & (ZT_PLAN_LT|ZT_PLAN_LE) ) rows /= PLAN_NARROWS;
  return plan_at_least_one(rows);
}

/* The number of objects of one file that the query asks for. */
static double plan_objects_of_file(const plan_planner *p, int plan){
  const zt_table *t = p->table;
  double objects = PLAN_OBJECTS_OF_FILE;
  if( zt_table_is_of_files(t) || zt_table_is_of_one(t) ) return 1;
  if( plan & ZT_PLAN_OBJECTS ) objects = PLAN_LISTED;
  else if( plan & ZT_PLAN_OBJECT ) return 1;
  if( plan & (ZT_PLAN_OBJECT_LIKE|ZT_PLAN_OBJECT_GLOB) ) objects /= PLAN_NARROWS;
  return plan_at_least_one(objects);
}

/* If an optional argument may be NULL, constraints save nothing. Otherwise SQLite 3.49 and later
** may use two scans for the two sides of an OR, and then check all arguments again; a NULL argument
** passes no check. */
static bool plan_may_discount(const plan_planner *p){
  return !p->null_argument || sqlite3_libversion_number()<3049000;
}

/* True if the WHERE clause being planned has only the listed terms: their numbers have no gap.
** SQLite lists no OR. It lists no term that compares two columns of this table either, but passes
** LIMIT all the same, at least in 3.40. */
static bool plan_sees_all(const sqlite3_index_info *info){
  for(int i=0; i<info->nConstraint; i++) if( info->aConstraint[i].iTermOffset!=i ) return false;
  return true;
}

/* SQLite plans each side of an OR by itself, up to 3.48 without the terms beside the OR. If sides
** give an argument different values, each must be a scan of its own. So a side with an argument is
** cheap, and the whole without one is dear. */
static double plan_price(const plan_planner *p, double cost){
  bool side = p->optional && p->sourceless && plan_sees_all(p->info);
  if( p->lacking && !side ) return PLAN_LACKING;
  if( p->late ) return PLAN_LATE;
  if( p->lacking ) return 1;
  for(int i=0; i<p->defaults; i++) cost *= PLAN_DEFAULT;
  return cost;
}

static void plan_estimate(plan_planner *p, double files){
  const zt_table *t = p->table;
  sqlite3_index_info *info = p->info;
  int plan = plan_may_discount(p) ? p->plan : 0;
  double objects, rows, cost, each = (p->plan & ZT_PLAN_CONTAINER) ? PLAN_OPEN : PLAN_STAT;
  if( plan & ZT_PLAN_PATHS ) files = files<PLAN_LISTED ? files : PLAN_LISTED;
  else if( plan & ZT_PLAN_PATH ) files = 1;
  if( ((plan & ZT_PLAN_PATH) || p->looks_up) && each>PLAN_LOOKUP ) each = PLAN_LOOKUP;
  if( plan & (ZT_PLAN_PATH_LIKE|ZT_PLAN_PATH_GLOB) ) files = plan_at_least_one(files/PLAN_NARROWS);
  objects = files*plan_objects_of_file(p, plan);
  rows = objects*plan_rows_of_object(p, plan);
  cost = files*each + rows*PLAN_ROW;
  if( p->indexed ){
    cost /= t->iPosition || (p->plan & ZT_PLAN_BYTES) ? PLAN_INDEXED_DEAR : PLAN_INDEXED;
    rows = plan_at_least_one(rows/PLAN_NARROWS);
  }
  if( p->plan & ZT_PLAN_BYTES ){
    cost += PLAN_READ * (t->rows==ZT_ROWS_OF_FILES ? files*PLAN_OBJECTS_OF_FILE : objects);
  }
  info->estimatedCost = plan_price(p, cost);
  info->estimatedRows = (sqlite3_int64)rows;
  if( plan && plan_is_unique(p) ){
    info->estimatedRows = 1;
    info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
  }
}

/* --- Order, LIMIT and OFFSET --- */

static bool plan_is_utf8(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  bool utf8 = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &stmt, NULL)==SQLITE_OK
           && sqlite3_step(stmt)==SQLITE_ROW
           && sqlite3_stricmp((const char*)sqlite3_column_text(stmt, 0), "UTF-8")==0;
  sqlite3_finalize(stmt);
  return utf8;
}

/* True if the query only needs equal rows to be adjacent. Before 3.53, SQLite also says so for a
** GROUP BY whose order an ORDER BY relies on. */
static bool plan_wants_groups(sqlite3_index_info *info){
#if SQLITE_VERSION_NUMBER>=3038000
  int distinct = sqlite3_libversion_number()>=3038000 ? sqlite3_vtab_distinct(info) : 0;
  return distinct==2 || (distinct==1 && sqlite3_libversion_number()>=3053000);
#else
  (void)info;
  return false;
#endif
}

/* True if the rows to group are adjacent: those of one path are, and in it those of one object. */
static bool plan_is_adjacent(const plan_planner *p){
  const zt_table *t = p->table;
  bool path = false;
  for(int i=0; i<p->info->nOrderBy; i++){
    int column = p->info->aOrderBy[i].iColumn;
    if( plan_is_column(t, column, t->iPath) ) path = true;
    else if( !plan_is_column(t, column, t->iObject) ) return false;
  }
  return path;
}

/* True if rows can come in descending order. If only most objects allow it, others are sorted. */
static bool plan_goes_backward(const zt_table *t, int order){
  return t->backward || order==ZT_PLAN_ALONE;
}

/* The bits for the wanted order; 0: rows do not come in it. Files come in the order of their paths,
** ascending or descending; rows of an object in that of iPosition, if the table has one. Objects
** come as they are stored, not in the order of their names. */
static int plan_order(plan_planner *p){
  const zt_table *t = p->table;
  const struct sqlite3_index_orderby *by = p->info->aOrderBy;
  int n = p->info->nOrderBy, order = 0;
  if( n>0 && plan_is_column(t, by->iColumn, t->iPath) ){
    if( !plan_is_utf8(p->of->connection->db) ) return 0;
    order = by->desc ? ZT_PLAN_SORTED|ZT_PLAN_REVERSED : ZT_PLAN_SORTED;
    by++;
    n--;
  }
  if( n==0 ) return order;
  if( n>1 || !t->iPosition || by->iColumn!=t->iPosition ) return 0;
  /* Rows of an index come in the order of the scan that filled it */
  if( !order && !p->info->idxStr && plan_may_be_one_file(p) ) order = ZT_PLAN_ALONE;
  if( !order || (by->desc && !plan_goes_backward(t, order)) ) return 0;
  return order | (by->desc ? ZT_PLAN_DESCENDING : ZT_PLAN_ASCENDING);
}

/* Consume ORDER BY, GROUP BY and DISTINCT if the order of the rows satisfies them. */
static void plan_consume_order(plan_planner *p){
  int order;
  if( p->info->nOrderBy==0 || (p->plan & ZT_PLAN_LISTS) ) return;
  if( plan_wants_groups(p->info) && plan_is_adjacent(p) ){
    p->info->orderByConsumed = 1;
    return;
  }
  order = plan_order(p);
  p->plan |= order;
  p->info->orderByConsumed = order!=0;
}

/* Tell xFilter which columns are used, if it may have to sort rows. */
static int plan_tell_columns(const plan_planner *p){
  if( !(p->plan & ZT_PLAN_ALONE) ) return SQLITE_OK;
  p->info->idxStr = sqlite3_mprintf("%llu", p->info->colUsed);
  p->info->needToFreeIdxStr = 1;
  return p->info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

#if SQLITE_VERSION_NUMBER>=3038000
/* True if OFFSET may be counted here. Before 3.46, SQLite passes it to each side of a UNION ALL,
** which is detected and refused when the query runs. There, OFFSET is counted only if SQLite would
** need long to skip the rows. */
static bool plan_may_offset(sqlite3_index_info *info, int i){
  sqlite3_value *value = plan_value(info, i);
  if( sqlite3_libversion_number()>=3046000 ) return true;
  return value && sqlite3_value_type(value)==SQLITE_INTEGER
      && sqlite3_value_int64(value)>=PLAN_LARGE_OFFSET;
}
#endif

/* Count LIMIT and OFFSET here if SQLite removes no rows: no term is left for it to check, and the
** rows come in the order asked for. */
static void plan_count(plan_planner *p){
#if SQLITE_VERSION_NUMBER>=3038000
  sqlite3_index_info *info = p->info;
  int limit = -1, offset = -1, others = 0;
  bool has_offset = false;
  for(int i=0; i<info->nConstraint; i++){
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    if( constraint->op==SQLITE_INDEX_CONSTRAINT_OFFSET ) has_offset = true;
    if( constraint->op==SQLITE_INDEX_CONSTRAINT_LIMIT ) limit = constraint->usable ? i : -1;
    else if( constraint->op==SQLITE_INDEX_CONSTRAINT_OFFSET ) offset = constraint->usable ? i : -1;
    else others++;
  }
  if( others!=p->used || !p->exact || (info->nOrderBy && !info->orderByConsumed) ) return;
  if( limit<0 || has_offset!=(offset>=0) || !plan_sees_all(info) ) return;
  if( has_offset && !plan_may_offset(info, offset) ) return;
  for(int i=0; i<info->nConstraint; i++){
    if( i!=limit && i!=offset && sqlite3_vtab_in(info, i, -1) ) return;
  }
  info->aConstraintUsage[limit].argvIndex = ++p->nArgument;
  info->aConstraintUsage[limit].omit = 1;
  p->plan |= ZT_PLAN_LIMIT;
  if( offset<0 ) return;
  info->aConstraintUsage[offset].argvIndex = ++p->nArgument;
  info->aConstraintUsage[offset].omit = 1;
  p->plan |= ZT_PLAN_OFFSET;
#else
  (void)p;
#endif
}

/* True if the query may want few of the rows. */
static bool plan_wants_few(const sqlite3_index_info *info){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 ){
    for(int i=0; i<info->nConstraint; i++){
      if( info->aConstraint[i].op==SQLITE_INDEX_CONSTRAINT_LIMIT ) return true;
    }
    return false;
  }
#else
  (void)info;
#endif
  return true;
}

/* True if there is an argument too many. It would be a condition on the first hidden column. */
static bool plan_has_surplus(const plan_planner *p){
  const int column = zt_table_surplus(p->table);
  for(int i=0; i<p->info->nConstraint && column>=0; i++){
    if( p->info->aConstraint[i].iColumn==column ) return true;
  }
  return false;
}

/*
** Arguments are equality constraints on hidden columns. They are omitted, because the cursor echoes
** them. If one is not usable yet, there is no plan, or one that costs more than any other. All
** other constraints only narrow what is opened, decoded and read; SQLite checks them again. The
** first usable constraint of each kind is taken, and then the key of an automatic index.
*/
int zt_plan(const zt_plan_table *of, sqlite3_index_info *info, char **message){
  const zt_table *t = of->table;
  plan_planner p = { .of = of, .table = t, .info = info, .exact = true };
  if( plan_has_surplus(&p) ){
    const int most = 1+zt_table_arguments(t);
    *message = sqlite3_mprintf("ztensor: %s takes at most %d argument%s", t->name, most,
                               most>1 ? "s" : "");
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  plan_choose(&p);
  if( p.refused ) return SQLITE_CONSTRAINT;
  if( t->rows!=ZT_ROWS_FILES || plan_uses(&p, ~t->light) ) p.plan |= ZT_PLAN_CONTAINER;
  if( t->rows_read || plan_uses(&p, t->bytes) ) p.plan |= ZT_PLAN_BYTES;
  if( plan_offer_index(&p) ) return SQLITE_NOMEM;
  plan_estimate(&p, plan_files(&p));
  plan_consume_order(&p);
  plan_count(&p);
  if( plan_wants_few(info) ) p.plan |= ZT_PLAN_FEW;
  info->idxNum = p.plan;
  return plan_tell_columns(&p);
}
