/*
** The one virtual-table frame: a source argument becomes paths, paths become containers, containers
** become objects, and a table says only which rows an object (or a file) has and what is in their
** columns. Interface to code in scan.c.
*/
#ifndef ZT_SQLITE_SCAN_H
#define ZT_SQLITE_SCAN_H

#include "core/prefetch.h"
#include "sqlite/connection.h"
#include "sqlite/table.h"
#include "sqlite/value.h"

/* What a table computes of an object from its values: a table has its own behind this head. Threads
** may do it before the scan comes there. */
typedef struct zt_work {
  zt_job job;                  /* First: the frame's, as is the next */
  const zt_table *table;
  zt_source *source;           /* Borrowed, like the next */
  const zt_container *container;
  uint32_t object;
  unsigned want;               /* Bits of what was asked for, as the table has them */
  zt_budget budget;
  zt_error place;              /* Of what goes wrong: file and object */
} zt_work;

/* Whole numbers from first to last, both included; none if first is greater. */
typedef struct zt_range {
  uint64_t first, last;
} zt_range;

/* What a table's functions see of a cursor. */
typedef struct zt_scan {
  const zt_table *table;
  zt_connection *connection;
  const char *path;              /* NULL for a BLOB */
  const zt_container *container; /* NULL if the file was not opened, or could not be */
  zt_source *source;             /* The file's bytes, if a column in `bytes` is used; else NULL */
  bool on_file;                  /* The current row is one of the file's own, not of an object */
  uint32_t object;               /* Else: index of the current object */
  void *row;                     /* row_size bytes */
  zt_error *err;                 /* For failures of first and next, which may set its object
                                 ** and component */
  zt_range range;                /* Of iPosition: rows outside it are not wanted */
  bool ascending, descending;    /* Rows must come in that order of iPosition */
  bool unordered;                /* They do not: the table says so in `first` */
  bool skip;                     /* on_error is 'skip': what cannot be had is left out, or NULL */
  const char *argument[ZT_ARGUMENTS];   /* Values as text; NULL: not given, or NULL */
  const zt_error *error;         /* Why the file cannot be read; NULL if it can, or nobody asked */
} zt_scan;

/* ZT_ROWS_FILES: open the file, once; container or error is set then. What is no fault of the file
** is the result. */
void zt_scan_open(zt_scan *scan, sqlite3_context *ctx);

/* ZT_ROWS_FILES: what the system says of the file; of a BLOB, its size alone. NULL: it cannot
** be told. */
const zt_stat *zt_scan_stat(zt_scan *scan, sqlite3_context *ctx);

/* The current object, decoded. Stays as it is until the scan moves on. */
const zt_object *zt_scan_object(zt_scan *scan);

/* The table's work on the current object, done, in which at least `want` is asked for. Stays as it
** is until the scan moves on. NULL on failure: SQLITE_NOMEM or SQLITE_INTERRUPT, recorded in
** err. */
zt_work *zt_scan_work(zt_scan *scan, unsigned want, zt_error *err);

/* An error whose place is the current file, and object unless on_file. */
zt_error zt_scan_error(zt_scan *scan);

/* A value that stands for what cannot be had: NULL with 'skip', else the failure, which is cleared.
** What is no fault of the file always is a failure. */
void zt_scan_fail(zt_scan *scan, sqlite3_context *ctx, zt_error *err);

#endif
