/* xBestIndex of the frame. See plan.h. */
#include "sqlite/plan.h"

#include "core/paths.h"
#include "sqlite/key_columns.h"

/*
** Costs are in steps over a row of an ordinary table, which is what SQLite counts in: to look at a
** file's state, to open one and check its manifest, to decode a row of it, to read a tensor.
*/
#define PLAN_STAT 3.0
#define PLAN_OPEN 100.0
#define PLAN_LOOKUP 10.0   /* A file that a join asks for again and again: it is open */
#define PLAN_ROW 2.0
#define PLAN_READ 100000.0
#define PLAN_LATE 1e60         /* An argument can be had only in another order of the join: for want
                               ** of a better one. Joins of five tables are thought to cost 1e30 */
#define PLAN_LACKING 1e90      /* That, or not at all, and it must be there: the query fails, but
                               ** with a message */
#define PLAN_DEFAULT 8.0      /* By what an argument that is not given multiplies: see
                               ** plan_price() */

/* How many there are, where nothing tells. */
#define PLAN_FILES 1000.0      /* Of a pattern, a directory or a list */
#define PLAN_SOME_FILES 4.0    /* Of a source that is known only when the query runs: mostly
                               ** a path */
#define PLAN_OBJECTS_OF_FILE 100.0
#define PLAN_ROWS_OF_OBJECT 10000.0   /* Elements, or slices */
#define PLAN_LARGE_OFFSET 100000
#define PLAN_LISTED 10.0       /* Values of an IN */
#define PLAN_INDEXED 3.0       /* By what an automatic index divides the price of a scan: so much
                               ** that rows are looked up in it rather than an ordinary table is
                               ** scanned for each, and not rather than by an index of that */
#define PLAN_INDEXED_DEAR 1.2  /* The same where there may be more rows than it holds, or tensors
                               ** are read for it: it is taken, but no join is turned round */
#define PLAN_NARROWS 10.0      /* By what a pattern, or one bound of a range, divides */

/* A constraint that may be pushed down: the one that the plan's bit stands for. */
typedef struct plan_term {
  int bit;
  int list;              /* The bit which says that the value is a list; 0: it is one value */
  int column;            /* SQLite's number; -1: the table has none such */
  unsigned char op;
  bool text;             /* Compared as text: only with the BINARY collation */
} plan_term;

/* xBestIndex at work. */
typedef struct plan_planner {
  const zt_plan_table *of;
  const zt_table *table;
  sqlite3_index_info *info;
  int plan;              /* ZT_PLAN_ bits */
  int nArgument;         /* Of argv */
  int used;              /* Constraints that are handed to xFilter, beside LIMIT and OFFSET */
  bool late;             /* An optional one can be had only in another order of the join */
  bool lacking;          /* An argument that must be there is not */
  int open;              /* Arguments whose values are not known before the query runs; before
                         ** SQLite 3.38, where none is, 0 */
  bool refused;          /* There is an argument, for another order of the join alone */
  bool sourceless;       /* It is the source, of which no term speaks */
  bool optional;         /* An optional one is given */
  int defaults;          /* How many are not */
  bool null_argument;    /* An optional argument may be NULL */
  bool looks_up;         /* Objects that a join names are looked up, */
  bool indexed;          /* and rows by other columns, in an automatic index */
  bool exact;            /* What was pushed down leaves nothing for SQLite to check */
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

/* True if SQLite's number is that of the table's column i, which may be none: the rowid, whose
** number is -1, is no column. */
static bool plan_is_column(const zt_table *table, int number, int i){
  return i>=0 && number==zt_table_number(table, i);
}

/* True if the table's columns in mask are used. Bit 63 of SQLite's word stands for all from there
** on; no table has that many. */
static bool plan_uses(const plan_planner *p, uint64_t mask){
  for(int i=0; i<62; i++){
    if( (mask>>i & 1) && (p->info->colUsed>>zt_table_number(p->table, i) & 1) ) return true;
  }
  return false;
}

static bool plan_is_binary(sqlite3_index_info *info, int i){
  const char *collation = sqlite3_vtab_collation(info, i);
  return collation && sqlite3_stricmp(collation, "BINARY")==0;
}

/* Ask for all values of an IN at once, where the host can: a directory is then read once, not once
** per value, and SQLite compares them with the affinity that it should. Of arguments, because it
** looks for plans without an IN, too, and takes it for a plan that there is none. */
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

/* The value that constraint i compares with, if it is known yet; else NULL. */
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

/* True if the bit is that of the argument object, where the table has one. */
static bool plan_is_object(const plan_planner *p, int bit){
  const int object = zt_table_argument(p->table, "object");
  return object>=0 && bit==ZT_PLAN_ARGUMENT_BIT(1+object);
}

/* The constraint to use for a term, the first that is usable; -1 if none is. *unusable: there is
** one that is not. */
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

/* True if a query without this argument is refused. */
static bool plan_is_required(const plan_planner *p, int bit){
  if( bit==ZT_PLAN_SOURCE ) return p->of->source==NULL;
  return plan_is_object(p, bit) && !p->of->object;
}

/* Hand constraint i to xFilter as the term's value. */
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
  if( !argument && !(term->bit & ZT_PLAN_RANGE) ) p->exact = false;
  if( optional && (!value || sqlite3_value_type(value)==SQLITE_NULL) ) p->null_argument = true;
}

/* True if constraint i is known to be an IN. Before SQLite 3.38 none is. */
static bool plan_is_list(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 ) return sqlite3_vtab_in(info, i, -1)!=0;
#else
  (void)info;
  (void)i;
#endif
  return false;
}

/*
** True if an argument that is not usable is so because of the order of the join. SQLite looks for
** plans without an IN, too, where none can be used. It takes it for no plan at all if that one is
** refused, and may then not ask for the one that there is.
*/
static bool plan_comes_later(const plan_planner *p, const plan_term *term){
  for(int i=0; i<p->info->nConstraint; i++){
    const struct sqlite3_index_constraint *constraint = &p->info->aConstraint[i];
    if( constraint->iColumn==term->column && constraint->op==term->op && !constraint->usable
     && !plan_is_list(p->info, i) ) return true;
  }
  return false;
}

/*
** True if there is no plan without this argument where it can be had later. One that costs however
** much is taken at times: large joins cost as much, SQLite from 3.47 on makes tables dearer than
** the dearest plan of one that three of them look up, and there may be no other plan. Without an
** argument that must be there it fails, and without another one it lacks rows. A source or object
** that the table was declared with is as good as one that comes later: that may come from its rows.
*/
static bool plan_refuses(const plan_planner *p, int bit){
  if( plan_is_required(p, bit) ) return sqlite3_libversion_number()>=3038000;   /* See IN */
  return bit!=ZT_PLAN_SOURCE && !plan_is_object(p, bit);
}

/*
** True if constraints are not worth what they may cost. Where two arguments come from two tables,
** SQLite asks for a plan with all tables that a constraint names, or whose ON it stands in, and for
** plans with one of them: there is none if one of all of these has its source from this table. And
** with an IN of positions, whose values SQLite hands over one by one, it looks for a plan without
** any IN, takes what it gets without an argument that is a list, and asks no more.
*/
static bool plan_leaves_all(const plan_planner *p){
  return p->open>=2;
}

static bool plan_leaves(const plan_planner *p, const plan_term *term, int i){
  if( term->bit==ZT_PLAN_EQ && (p->plan & ZT_PLAN_LISTS) ) return plan_is_list(p->info, i);
  return plan_leaves_all(p) && (term->bit & (ZT_PLAN_PATH|ZT_PLAN_OBJECT|ZT_PLAN_PATTERNS));
}

/* An argument is not given with the query. */
static void plan_omit(plan_planner *p, int bit, bool late){
  if( bit==ZT_PLAN_SOURCE && !late ) p->sourceless = true;
  if( plan_is_required(p, bit) ) p->lacking = true;
  else if( late ) p->late = true;
  else if( bit!=ZT_PLAN_SOURCE ) p->defaults++;
}

/* Choose among the constraints that speak of a term. */
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

/* Choose among all of them, in the order of their values in argv. */
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

/* True if a scan with the plan is one of few rows as it is, or of values that are given after
** each other. */
static bool plan_is_narrow(const plan_planner *p){
  bool path = (p->plan & ZT_PLAN_PATH) && !(p->plan & ZT_PLAN_PATHS);
  bool object = (p->plan & ZT_PLAN_OBJECT) && !(p->plan & ZT_PLAN_OBJECTS);
  if( p->plan & (ZT_PLAN_LISTS|ZT_PLAN_EQ) ) return true;
  return path && (object || p->table->rows==ZT_ROWS_FILES);
}

/* True if the scan reads tensors that an index with this key would read in vain: those of objects
** that nobody looks up, and of rows of which SQLite compares other columns first. */
static bool plan_reads_less(const plan_planner *p, const zt_key_columns *keys, bool looks_up){
  if( !(p->plan & ZT_PLAN_BYTES) ) return false;
  if( looks_up ) return true;
  for(int k=0; k<keys->n; k++) if( p->table->bytes>>keys->a[k].column & 1 ) return false;
  return !p->table->rows_read;
}

/* The key: the object that is looked up in each file, and what else a join pins. at: of each column
** the constraint; -1: it is handed to xFilter anyway. */
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

/* Offer an index by what a join pins. Its values come after all others. */
static int plan_offer_index(plan_planner *p){
  sqlite3_index_info *info = p->info;
  zt_key_columns keys;
  int at[ZT_KEY_COLUMNS];
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

/* What the source is, as far as it is known before the query runs. */
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

/* How many files the query has to look at. Nobody asks the system: a name that ends in a suffix is
** taken for a file's. */
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

/* True if the source is one file, as far as that is known before the query runs. */
static bool plan_may_be_one_file(plan_planner *p){
  const char *text;
  zt_stat stat;
  plan_source source = plan_source_of(p, &text);
  if( source==PLAN_IS_BLOB || source==PLAN_IS_UNKNOWN ) return true;
  if( source!=PLAN_IS_TEXT || p->of->connection->nofs ) return false;
  return !zt_path_is_url(text) && zt_os_stat(text, &stat)==0 && stat.kind!=ZT_KIND_DIRECTORY;
}

/* True if the term's constraint compares with a value that is known to be TEXT, and with
** one alone. */
static bool plan_compares_text(plan_planner *p, int column){
  const plan_term term = {
    0, 0, plan_column_or_none(p->table, column), SQLITE_INDEX_CONSTRAINT_EQ, true
  };
  bool unusable;
  int i = plan_find(p, &term, &unusable);
  return i>=0 && plan_is_text(plan_value(p->info, i));
}

/*
** A row is alone with its path, or its path and object. That holds where these are compared as
** text: a column of numbers makes numbers of the names that it is compared with.
*/
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

/* Rows of one object that the query asks for. */
static double plan_rows_of_object(const plan_planner *p, int plan){
  double rows = p->table->iPosition ? PLAN_ROWS_OF_OBJECT : 1;
  if( plan & ZT_PLAN_EQ ) return 1;
  if( plan & (ZT_PLAN_GT|ZT_PLAN_GE) ) rows /= PLAN_NARROWS;
  if( plan & (ZT_PLAN_LT|ZT_PLAN_LE) ) rows /= PLAN_NARROWS;
  return plan_at_least_one(rows);
}

/* Objects of one file that the query asks for. */
static double plan_objects_of_file(const plan_planner *p, int plan){
  const zt_table *t = p->table;
  double objects = PLAN_OBJECTS_OF_FILE;
  if( zt_table_is_of_files(t) || zt_table_is_of_one(t) ) return 1;
  if( plan & ZT_PLAN_OBJECTS ) objects = PLAN_LISTED;
  else if( plan & ZT_PLAN_OBJECT ) return 1;
  if( plan & (ZT_PLAN_OBJECT_LIKE|ZT_PLAN_OBJECT_GLOB) ) objects /= PLAN_NARROWS;
  return plan_at_least_one(objects);
}

/*
** Where an optional argument may be NULL, constraints save nothing. SQLite from 3.49 on may
** otherwise take the two sides of an OR for two scans, and then check all arguments again; an
** argument that is NULL passes no check.
*/
static bool plan_may_discount(const plan_planner *p){
  return !p->null_argument || sqlite3_libversion_number()<3049000;
}

/*
** True if the WHERE clause being planned has no term but those that are listed: their numbers have
** no gap. SQLite does not list one that compares two columns of this table, and hands over LIMIT
** all the same, 3.40 at least; nor an OR.
*/
static bool plan_sees_all(const sqlite3_index_info *info){
  for(int i=0; i<info->nConstraint; i++) if( info->aConstraint[i].iTermOffset!=i ) return false;
  return true;
}

/*
** SQLite plans the sides of an OR by themselves, up to 3.48 without what stands beside the OR.
** Where sides give an argument different values, each must be a scan of its own: that is what makes
** a side with an argument cheap, and the whole without one dear.
*/
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

/* --- Order, and how many rows --- */

static bool plan_is_utf8(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  bool utf8 = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &stmt, NULL)==SQLITE_OK
           && sqlite3_step(stmt)==SQLITE_ROW
           && sqlite3_stricmp((const char*)sqlite3_column_text(stmt, 0), "UTF-8")==0;
  sqlite3_finalize(stmt);
  return utf8;
}

/* True if equal rows must stand side by side, and nothing more is asked for. Versions before 3.53
** say so, too, of a GROUP BY whose order an ORDER BY relies on. */
static bool plan_wants_groups(sqlite3_index_info *info){
#if SQLITE_VERSION_NUMBER>=3038000
  int distinct = sqlite3_libversion_number()>=3038000 ? sqlite3_vtab_distinct(info) : 0;
  return distinct==2 || (distinct==1 && sqlite3_libversion_number()>=3053000);
#else
  (void)info;
  return false;
#endif
}

/* Rows of one path stand side by side, and among them those of one object. */
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

/* Where the rows of an object can come in descending order at times, sorting helps out. */
static bool plan_goes_backward(const zt_table *t, int order){
  return t->backward || (t->mostly_backward && order==ZT_PLAN_ALONE);
}

/*
** Files come in the order of their paths, or the other way round; the rows of an object in that of
** iPosition, where it has one. Objects come as they are stored, which is not the order of
** their names.
*/
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
  /* Rows of an index come in the order of the scan that it was made of */
  if( !order && !p->info->idxStr && plan_may_be_one_file(p) ) order = ZT_PLAN_ALONE;
  if( !order || (by->desc && !plan_goes_backward(t, order)) ) return 0;
  return order | (by->desc ? ZT_PLAN_DESCENDING : ZT_PLAN_ASCENDING);
}

/* Consume ORDER BY, GROUP BY and DISTINCT where the order of the rows gives them. */
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

/* Say which columns are used, where xFilter may have to sort rows. */
static int plan_tell_columns(const plan_planner *p){
  if( !(p->plan & ZT_PLAN_ALONE) ) return SQLITE_OK;
  p->info->idxStr = sqlite3_mprintf("%llu", p->info->colUsed);
  p->info->needToFreeIdxStr = 1;
  return p->info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

#if SQLITE_VERSION_NUMBER>=3038000
/*
** True if OFFSET may be counted here. Before 3.46, SQLite hands it to each side of a UNION ALL,
** which is told when the query runs, and refused: so there, only what SQLite itself would take long
** to pass over.
*/
static bool plan_may_offset(sqlite3_index_info *info, int i){
  sqlite3_value *value = plan_value(info, i);
  if( sqlite3_libversion_number()>=3046000 ) return true;
  return value && sqlite3_value_type(value)==SQLITE_INTEGER
      && sqlite3_value_int64(value)>=PLAN_LARGE_OFFSET;
}
#endif

/*
** LIMIT and OFFSET are counted here where nobody else takes rows away: no term is left for SQLite
** to check, and the rows come in the order asked for.
*/
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

/* One argument too many would otherwise be a condition on the first hidden column. */
static bool plan_has_surplus(const plan_planner *p){
  const int column = zt_table_surplus(p->table);
  for(int i=0; i<p->info->nConstraint && column>=0; i++){
    if( p->info->aConstraint[i].iColumn==column ) return true;
  }
  return false;
}

/*
** The arguments are equality constraints on hidden columns, and omitted: the cursor itself echoes
** them. Where one is not usable yet there is no plan, or one that costs more than any other. All
** other constraints only narrow down what is opened, decoded and read; SQLite checks them
** again. Of each kind the first that is usable is taken, and then what an automatic index would
** be by.
*/
int zt_plan(const zt_plan_table *of, sqlite3_index_info *info, char **message){
  const zt_table *t = of->table;
  plan_planner p = { .of = of, .table = t, .info = info, .exact = true };
  if( plan_has_surplus(&p) ){
    *message = sqlite3_mprintf("ztensor: %s takes at most %d arguments", t->name,
                               1+zt_table_arguments(t));
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
  info->idxNum = p.plan;
  return plan_tell_columns(&p);
}
