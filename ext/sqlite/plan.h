/*
** What xBestIndex and xFilter of the frame agree on. Interface between plan.c and scan.c.
*/
#ifndef ZT_SQLITE_PLAN_H
#define ZT_SQLITE_PLAN_H

#include "sqlite/scan.h"

/* idxNum. For each of the first ZT_PLAN_VALUES bits that is set, argv has one value, in this order. */
enum {
  ZT_PLAN_SOURCE    = 0x01,
  ZT_PLAN_ARGUMENT  = 0x02,   /* The first argument after source; the next one has the next bit */
  ZT_PLAN_PATH      = 0x08,   /* path = ? */
  ZT_PLAN_OBJECT    = 0x10,   /* object = ?, or object IN (...) if ZT_PLAN_OBJECTS is set too */
  ZT_PLAN_LIKE      = 0x20,   /* path LIKE ? */
  ZT_PLAN_GLOB      = 0x40,   /* path GLOB ? */
  ZT_PLAN_EQ        = 0x80,   /* position = ?, and so on, of iPosition */
  ZT_PLAN_GT        = 0x100,
  ZT_PLAN_GE        = 0x200,
  ZT_PLAN_LT        = 0x400,
  ZT_PLAN_LE        = 0x800,
  ZT_PLAN_OBJECTS   = 0x1000, /* The object value is a sqlite3_vtab_in() list */
  ZT_PLAN_CONTAINER = 0x2000, /* A column is used that needs the file opened */
  ZT_PLAN_BYTES     = 0x4000, /* A column is used that reads beyond the manifest */
  ZT_PLAN_STAT      = 0x8000, /* ZT_ROWS_FILES: a column is used that needs what the system says of the file */
  ZT_PLAN_ECHO      = 0x10000,/* The column source is used */
};
#define ZT_PLAN_VALUES 12

/* SQLite's number of the table's column i: the arguments stand after the visible ones. */
int zt_plan_column(const zt_table *table, int i);

/* Fill in the plan. has_source: the table was declared with a source, so a query need not give one; utf8: the database's
** texts are compared as UTF-8, so that paths sorted by bytes are in the order of ORDER BY path. */
int zt_plan(const zt_table *table, bool has_source, bool utf8, sqlite3_index_info *info);

#endif
