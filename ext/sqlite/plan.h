/*
** What xBestIndex and xFilter of the frame agree on. Interface between plan.c, which makes a plan,
** and filter.c, which carries it out.
*/
#ifndef ZT_SQLITE_PLAN_H
#define ZT_SQLITE_PLAN_H

#include <limits.h>
#include "sqlite/scan.h"

/* idxNum. For each of the first ZT_PLAN_VALUES bits that is set, argv has one value, in
** this order, and behind these the values of an automatic index's key (automatic_index.h), which is
** idxStr then. With ZT_PLAN_ALONE, idxStr is colUsed in decimal digits. */
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
#define ZT_PLAN_VALUES 17

/* Source is argument 0. Their bits, those which say that their values are lists, and all of
** either. */
#define ZT_PLAN_ARGUMENT_BIT(k) (ZT_PLAN_SOURCE<<(k))
#define ZT_PLAN_LIST_BIT(k) (ZT_PLAN_LIST<<(k))
#define ZT_PLAN_ARGUMENTS (ZT_PLAN_ARGUMENT_BIT(1+ZT_ARGUMENTS) - ZT_PLAN_SOURCE)
#define ZT_PLAN_LISTS ((1<<(1+ZT_ARGUMENTS)) * ZT_PLAN_LIST - ZT_PLAN_LIST)

#define ZT_PLAN_PATTERNS \
  (ZT_PLAN_PATH_LIKE | ZT_PLAN_PATH_GLOB | ZT_PLAN_OBJECT_LIKE | ZT_PLAN_OBJECT_GLOB)
#define ZT_PLAN_RANGE (ZT_PLAN_EQ | ZT_PLAN_GT | ZT_PLAN_GE | ZT_PLAN_LT | ZT_PLAN_LE)

_Static_assert(ZT_PLAN_ARGUMENT_BIT(1)==ZT_PLAN_ARGUMENT, "source is followed by the arguments");
_Static_assert(ZT_PLAN_ARGUMENT_BIT(1+ZT_ARGUMENTS)==ZT_PLAN_PATH, "a bit for each argument");
_Static_assert(1<<(ZT_PLAN_VALUES-1)==ZT_PLAN_OFFSET, "the last value");
_Static_assert(ZT_PLAN_LIST<=INT_MAX>>(1+ZT_ARGUMENTS), "idxNum is an int");

/* The values of argv, each in the place of its bit; NULL where the plan has none. */
typedef struct zt_plan_values {
  sqlite3_value *at[ZT_PLAN_VALUES];
  sqlite3_value **key;           /* Those behind them */
} zt_plan_values;

zt_plan_values zt_plan_values_of(int plan, sqlite3_value **argv);

static inline sqlite3_value *zt_plan_value(const zt_plan_values *values, int bit){
#if defined(__GNUC__)
  return values->at[__builtin_ctz((unsigned)bit)];
#else
  int i = 0;
  while( bit>>i!=1 ) i++;
  return values->at[i];
#endif
}

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
