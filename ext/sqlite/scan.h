/*
** The one virtual-table frame. A source becomes paths, a path becomes a container, and a container
** has objects. A table defines only the rows of an object (or a file) and their columns. Interface
** to code in scan.c.
*/
#ifndef ZT_SQLITE_SCAN_H
#define ZT_SQLITE_SCAN_H

#include "core/prefetch.h"
#include "sqlite/connection.h"
#include "sqlite/table.h"
#include "sqlite/value.h"

/* A table's computation on an object's values. A table's own struct begins with this one. Threads
** may do it before the scan reaches the object. */
typedef struct zt_work {
  zt_job job;                  /* First; the frame's, like table */
  const zt_table *table;
  zt_source *source;           /* Borrowed, like container */
  const zt_container *container;
  uint32_t object;
  unsigned want;               /* Bits of the requested results, as the table numbers them */
  zt_budget budget;
  zt_error place;              /* File and object, for errors */
} zt_work;

/* Integers from first to last, both included; none if first is greater. */
typedef struct zt_range {
  uint64_t first, last;
} zt_range;

/* A cursor, as a table's functions see it. */
typedef struct zt_scan {
  const zt_table *table;
  zt_connection *connection;
  const char *path;              /* NULL for a BLOB */
  const zt_container *container; /* NULL if the file is not open */
  zt_source *source;             /* The file's bytes; NULL if no column in `bytes` is used */
  bool on_file;                  /* The current row belongs to the file, not to an object */
  uint32_t object;               /* Otherwise: index of the current object */
  void *row;                     /* row_size bytes */
  zt_error *err;                 /* Receives failures of open, first and next, which may set
                                 ** its object and component */
  zt_range range;                /* The wanted values of iPosition */
  bool ascending, descending;    /* The wanted order by iPosition */
  bool unordered;                /* Set by `first` if rows do not come in that order */
  bool skip;                     /* on_error is 'skip': skip unreadable rows, NULL for values */
  const char *argument[ZT_ARGUMENTS];   /* Values as text; NULL: not given, or NULL */
  const zt_error *error;         /* Why the file cannot be read; NULL: readable, or not tried */
} zt_scan;

/* ZT_ROWS_FILES: open the file, once, and set container or error. A failure that is not the file's
** becomes the result. */
void zt_scan_open(zt_scan *scan, sqlite3_context *ctx);

/* ZT_ROWS_FILES: the file's stat; only the size of a BLOB. NULL: not known. */
const zt_stat *zt_scan_stat(zt_scan *scan, sqlite3_context *ctx);

/* The entity tag of the current remote file, from sqlite3_malloc64(). NULL: none. */
char *zt_scan_etag(zt_scan *scan, sqlite3_context *ctx);

/* The current object, decoded. Valid until the scan moves on. */
const zt_object *zt_scan_object(zt_scan *scan);

/* The finished work on the current object, with at least the results in `want`. Valid until the
** scan moves on. NULL on failure: err has SQLITE_NOMEM or SQLITE_INTERRUPT. */
zt_work *zt_scan_work(zt_scan *scan, unsigned want, zt_error *err);

/* An error whose place is the current file, and object unless on_file. */
zt_error zt_scan_error(zt_scan *scan);

/* The result for an unreadable value: NULL with 'skip', else the failure. A failure that is not the
** file's is never skipped. Clears err. */
void zt_scan_fail(zt_scan *scan, sqlite3_context *ctx, zt_error *err);

#endif
