/*
** The agreement between xBestIndex and xFilter of the frame. Interface between plan.c, which makes
** a plan, and filter.c, which carries it out.
*/
#ifndef ZT_SQLITE_PLAN_H
#define ZT_SQLITE_PLAN_H

#include <limits.h>
#include "sqlite/scan.h"

/* idxNum. argv has one value for each of the first ZT_PLAN_VALUES bits that is set, in this order,
** and then the values of an automatic index's key (automatic_index.h). idxStr is that key. With
** ZT_PLAN_ALONE, idxStr is colUsed in decimal digits. */
enum {
  ZT_PLAN_SOURCE      = 1<<0,
  ZT_PLAN_ARGUMENT    = 1<<1,    /* The first argument after source; the next bits are the next
                                 ** ones */
  ZT_PLAN_PATH        = 1<<4,    /* path = ?, or path IN (...) if ZT_PLAN_PATHS is set too */
  ZT_PLAN_OBJECT      = 1<<5,    /* object = ?, or object IN (...) if ZT_PLAN_OBJECTS is set too */
  ZT_PLAN_PATH_LIKE   = 1<<6,
  ZT_PLAN_PATH_GLOB   = 1<<7,
  ZT_PLAN_OBJECT_LIKE = 1<<8,
  ZT_PLAN_OBJECT_GLOB = 1<<9,
  ZT_PLAN_EQ          = 1<<10,   /* iPosition = ?, and so on */
  ZT_PLAN_GT          = 1<<11,
  ZT_PLAN_GE          = 1<<12,
  ZT_PLAN_LT          = 1<<13,
  ZT_PLAN_LE          = 1<<14,
  ZT_PLAN_LIMIT       = 1<<15,
  ZT_PLAN_OFFSET      = 1<<16,
  ZT_PLAN_PATHS       = 1<<17,   /* The path value is a sqlite3_vtab_in() list */
  ZT_PLAN_OBJECTS     = 1<<18,   /* The object value is such a list */
  ZT_PLAN_CONTAINER   = 1<<19,   /* A used column needs the file opened */
  ZT_PLAN_BYTES       = 1<<20,   /* A used column reads the file beyond its manifest */
  ZT_PLAN_SORTED      = 1<<21,   /* Files must be sorted by path, */
  ZT_PLAN_REVERSED    = 1<<22,   /* in descending order */
  ZT_PLAN_ASCENDING   = 1<<23,   /* Rows of an object must ascend by iPosition, */
  ZT_PLAN_DESCENDING  = 1<<24,   /* or descend; */
  ZT_PLAN_ALONE       = 1<<25,   /* all rows must, whatever their files */
  ZT_PLAN_LIST        = 1<<26,   /* The source value is a list; the next bits say so of the
                                 ** arguments */
  ZT_PLAN_FEW         = 1<<30    /* There is a LIMIT, whoever counts it, or SQLite does not tell */
};
#define ZT_PLAN_VALUES 17

/* Argument 0 is source. The bit of argument k; its bit for a list; all bits of each kind. */
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
_Static_assert(ZT_PLAN_LISTS<ZT_PLAN_FEW && ZT_PLAN_FEW<=INT_MAX, "idxNum is an int");

/* The values of argv, each at the number of its bit; NULL: not in the plan. */
typedef struct zt_plan_values {
  sqlite3_value *at[ZT_PLAN_VALUES];
  sqlite3_value **key;           /* The values after these */
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

/* The table to plan for. */
typedef struct zt_plan_table {
  const zt_connection *connection;
  const zt_table *table;
  const char *source;    /* From the table's declaration, so that a query need not give one; NULL:
                         ** none */
  const char *object;    /* The same for the argument object */
} zt_plan_table;

/* Fill in the plan. On SQLITE_ERROR, *message, from sqlite3_mprintf(), describes the error in the
** query. */
int zt_plan(const zt_plan_table *of, sqlite3_index_info *info, char **message);

#endif
