/*
** What xBestIndex and xFilter of the frame agree on. Interface between plan.c and
** filter.c, wanted.c.
*/
#ifndef ZT_SQLITE_PLAN_H
#define ZT_SQLITE_PLAN_H

#include "sqlite/scan.h"

/* idxNum. For each of the first ZT_PLAN_VALUES bits that is set, argv has one value, in
** this order. With ZT_PLAN_ALONE, idxStr is colUsed in decimal digits. */
enum {
  ZT_PLAN_SOURCE      = 1<<0,
  ZT_PLAN_ARGUMENT    = 1<<1,    /* The first argument after source; the next ones have the
                                 ** next bits */
  ZT_PLAN_PATH        = 1<<4,    /* path = ?, or path IN (...) if ZT_PLAN_PATHS is set too */
  ZT_PLAN_OBJECT      = 1<<5,    /* object = ?, or object IN (...) if ZT_PLAN_OBJECTS is set too */
  ZT_PLAN_PATH_LIKE   = 1<<6,
  ZT_PLAN_PATH_GLOB   = 1<<7,
  ZT_PLAN_OBJECT_LIKE = 1<<8,
  ZT_PLAN_OBJECT_GLOB = 1<<9,
  ZT_PLAN_EQ          = 1<<10,   /* position = ?, and so on, of iPosition */
  ZT_PLAN_GT          = 1<<11,
  ZT_PLAN_GE          = 1<<12,
  ZT_PLAN_LT          = 1<<13,
  ZT_PLAN_LE          = 1<<14,
  ZT_PLAN_LIMIT       = 1<<15,
  ZT_PLAN_OFFSET      = 1<<16,
  ZT_PLAN_PATHS       = 1<<17,   /* The path value is a sqlite3_vtab_in() list */
  ZT_PLAN_OBJECTS     = 1<<18,   /* The object value is one */
  ZT_PLAN_CONTAINER   = 1<<19,   /* A column is used that needs the file opened */
  ZT_PLAN_BYTES       = 1<<20,   /* A column is used that reads beyond the manifest */
  ZT_PLAN_SORTED      = 1<<21,   /* Files must come in the order of their paths, */
  ZT_PLAN_REVERSED    = 1<<22,   /* from the last to the first */
  ZT_PLAN_ASCENDING   = 1<<23,   /* Rows of an object must come in the order of iPosition, */
  ZT_PLAN_DESCENDING  = 1<<24,   /* or in the opposite one, */
  ZT_PLAN_ALONE       = 1<<25,   /* in that order alone, whichever files they are of */
  ZT_PLAN_LIST        = 1<<26    /* The source value is a list, and with the next bits those of
                                 ** the arguments */
};
#define ZT_PLAN_LISTS (ZT_PLAN_LIST | ZT_PLAN_LIST<<1 | ZT_PLAN_LIST<<2 | ZT_PLAN_LIST<<3)
#define ZT_PLAN_VALUES 17
#define ZT_PLAN_PATTERNS \
  (ZT_PLAN_PATH_LIKE | ZT_PLAN_PATH_GLOB | ZT_PLAN_OBJECT_LIKE | ZT_PLAN_OBJECT_GLOB)

/* The place of a bit among the values. */
static inline int zt_plan_value(int bit){
  int i = 0;
  while( bit>>i!=1 ) i++;
  return i;
}

/* SQLite's number of the table's column i: the arguments stand after the visible ones, then what
** catches one argument too many, if the table has hidden columns of its own. */
int zt_plan_column(const zt_table *table, int i);

/* The number of that column; -1 if the table has none. */
int zt_plan_surplus(const zt_table *table);

/* What the planner is told about a table. */
typedef struct zt_plan_table {
  const zt_connection *connection;
  const zt_table *table;
  const char *source;    /* That the table was declared with, so that a query need not give one;
                         ** NULL: none */
  const char *object;    /* The same of the argument object */
} zt_plan_table;

/* Fill in the plan. SQLITE_ERROR: *message, from sqlite3_mprintf(), says what is wrong with
** the query. */
int zt_plan(const zt_plan_table *of, sqlite3_index_info *info, char **message);

#endif
