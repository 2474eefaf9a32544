/* xBestIndex of the frame. See plan.h. */
#include "sqlite/plan.h"

/* Estimates: what a whole source has, and by what a constraint divides that. */
#define ALL_ROWS 100000
#define PATH_FACTOR 100
#define OBJECT_FACTOR 1000
#define ROWS_OF_OBJECT 10000   /* Elements, or slices */
#define RANGE_FACTOR 10    /* Of one bound of a range */
#define OPEN_COST 1000.0   /* Beside the rows: listing directories, opening files */

/* A constraint that may be pushed down: the one that the plan's bit stands for. */
typedef struct term {
  int bit;
  int column;          /* SQLite's number; -1: the table has none such */
  unsigned char op;
  bool text;           /* Compared as text: only with the BINARY collation */
} term;

#define ARGUMENT_BITS (ZT_PLAN_SOURCE | ZT_PLAN_ARGUMENT | ZT_PLAN_ARGUMENT<<1)

int zt_table_arguments(const zt_table *table){
  int n = 0;
  while( n<ZT_ARGUMENTS && table->arguments[n] ) n++;
  return n;
}

int zt_table_argument(const zt_table *table, const char *name){
  for(int i=zt_table_arguments(table)-1; i>=0; i--) if( strcmp(table->arguments[i], name)==0 ) return i;
  return -1;
}

int zt_plan_column(const zt_table *table, int i){
  return i<table->nVisible ? i : i + 1 + zt_table_arguments(table);
}

static int column_or_none(const zt_table *table, int i){
  return i<0 ? -1 : zt_plan_column(table, i);
}

/* True if the table's columns in mask are used. Bit 63 of SQLite's word stands for all from there on; no table has that
** many. */
static bool uses(const zt_table *table, const sqlite3_index_info *info, uint64_t mask){
  for(int i=0; i<63; i++){
    if( (mask>>i & 1) && (info->colUsed>>zt_plan_column(table, i) & 1) ) return true;
  }
  return false;
}

static bool is_binary(sqlite3_index_info *info, int i){
  const char *collation = sqlite3_vtab_collation(info, i);
  return collation && sqlite3_stricmp(collation, "BINARY")==0;
}

/* Ask for all values of an IN at once, where the host can: a directory is then read once, not once per value. */
static bool takes_list(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 && sqlite3_vtab_in(info, i, -1) ) return sqlite3_vtab_in(info, i, 1)!=0;
#else
  (void)info;
  (void)i;
#endif
  return false;
}

/* Rows come in ascending order of path. */
static bool ordered_by_path(const zt_table *table, const sqlite3_index_info *info){
  return info->nOrderBy==1 && info->aOrderBy[0].iColumn==zt_plan_column(table, table->iPath) && !info->aOrderBy[0].desc;
}

static void estimate(const zt_table *table, int plan, sqlite3_index_info *info){
  sqlite3_int64 rows = ALL_ROWS;
  bool unique = false;
  if( plan & ZT_PLAN_PATH ) rows /= PATH_FACTOR;
  if( (plan & ZT_PLAN_OBJECT) || zt_table_argument(table, "object")>=0 ) rows /= OBJECT_FACTOR;
  if( table->iPosition ) rows *= ROWS_OF_OBJECT;
  if( plan & ZT_PLAN_EQ ) rows /= ROWS_OF_OBJECT;
  else if( plan & (ZT_PLAN_GT|ZT_PLAN_GE) ) rows /= RANGE_FACTOR;
  if( plan & (ZT_PLAN_LT|ZT_PLAN_LE) ) rows /= RANGE_FACTOR;
  if( table->rows==ZT_ROWS_FILES ) unique = (plan & ZT_PLAN_PATH)!=0;
  if( table->rows==ZT_ROWS_OBJECTS ) unique = (plan & ZT_PLAN_PATH) && (plan & ZT_PLAN_OBJECT) && !(plan & ZT_PLAN_OBJECTS);
  info->estimatedRows = unique || rows<1 ? 1 : rows;
  info->estimatedCost = (double)info->estimatedRows + ((plan & ZT_PLAN_PATH) ? OPEN_COST/PATH_FACTOR : OPEN_COST);
  if( unique ) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
}

/*
** The arguments are equality constraints on hidden columns, and omitted: the cursor itself echoes them. One that is not
** usable yet gives SQLITE_CONSTRAINT, so that the planner tries another order of the join. All other constraints
** only narrow down what is opened, decoded and read; SQLite checks them again. The first constraint of each kind is used.
*/
int zt_plan(const zt_table *table, bool has_source, bool utf8, sqlite3_index_info *info){
  const int nArgument = zt_table_arguments(table), iPosition = table->iPosition ? table->iPosition : -1;
  const term terms[ZT_PLAN_VALUES] = {
    { ZT_PLAN_SOURCE, table->nVisible, SQLITE_INDEX_CONSTRAINT_EQ, false },
    { ZT_PLAN_ARGUMENT, nArgument>0 ? table->nVisible+1 : -1, SQLITE_INDEX_CONSTRAINT_EQ, false },
    { ZT_PLAN_ARGUMENT<<1, nArgument>1 ? table->nVisible+2 : -1, SQLITE_INDEX_CONSTRAINT_EQ, false },
    { ZT_PLAN_PATH, column_or_none(table, table->iPath), SQLITE_INDEX_CONSTRAINT_EQ, true },
    { ZT_PLAN_OBJECT, column_or_none(table, table->iObject), SQLITE_INDEX_CONSTRAINT_EQ, true },
    { ZT_PLAN_LIKE, column_or_none(table, table->iPath), SQLITE_INDEX_CONSTRAINT_LIKE, false },
    { ZT_PLAN_GLOB, column_or_none(table, table->iPath), SQLITE_INDEX_CONSTRAINT_GLOB, false },
    { ZT_PLAN_EQ, iPosition, SQLITE_INDEX_CONSTRAINT_EQ, false },
    { ZT_PLAN_GT, iPosition, SQLITE_INDEX_CONSTRAINT_GT, false },
    { ZT_PLAN_GE, iPosition, SQLITE_INDEX_CONSTRAINT_GE, false },
    { ZT_PLAN_LT, iPosition, SQLITE_INDEX_CONSTRAINT_LT, false },
    { ZT_PLAN_LE, iPosition, SQLITE_INDEX_CONSTRAINT_LE, false },
  };
  int plan = 0, nArg = 0;
  for(int t=0; t<ZT_PLAN_VALUES; t++){
    bool argument = (terms[t].bit & ARGUMENT_BITS)!=0;
    for(int i=0; i<info->nConstraint && terms[t].column>=0; i++){
      const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
      if( constraint->iColumn!=terms[t].column || constraint->op!=terms[t].op ) continue;
      if( !constraint->usable && argument ) return SQLITE_CONSTRAINT;
      if( !constraint->usable || (terms[t].text && !is_binary(info, i)) ) continue;
      plan |= terms[t].bit;
      info->aConstraintUsage[i].argvIndex = ++nArg;
      info->aConstraintUsage[i].omit = argument;
      if( terms[t].bit==ZT_PLAN_OBJECT && takes_list(info, i) ) plan |= ZT_PLAN_OBJECTS;
      break;
    }
  }
  if( table->rows!=ZT_ROWS_FILES || uses(table, info, ~table->light) ) plan |= ZT_PLAN_CONTAINER;
  if( table->rows_read || uses(table, info, table->bytes) ) plan |= ZT_PLAN_BYTES;
  if( uses(table, info, table->light & ~((uint64_t)1<<table->iPath)) ) plan |= ZT_PLAN_STAT;
  if( info->colUsed>>table->nVisible & 1 ) plan |= ZT_PLAN_ECHO;
  estimate(table, plan, info);
  if( !(plan & ZT_PLAN_SOURCE) && !has_source ) info->estimatedCost = 1e12;
  info->orderByConsumed = utf8 && ordered_by_path(table, info);
  info->idxNum = plan;
  return SQLITE_OK;
}
