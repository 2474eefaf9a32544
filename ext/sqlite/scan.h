/*
** The one virtual-table frame: a source argument becomes paths, paths become containers, containers
** become objects, and a table says only which rows an object (or a file) has and what is in their
** columns. Interface to code in scan.c, cursor_ahead.c, module.c and plan.c.
**
** A new table is one file that defines a zt_table, and one line in tables.h.
*/
#ifndef ZT_SQLITE_SCAN_H
#define ZT_SQLITE_SCAN_H

#include "core/ahead.h"
#include "sqlite/connection.h"
#include "sqlite/value.h"

typedef struct zt_scan zt_scan;

/* What a table computes of an object from its values: a table has its own behind this head. Threads
** may do it before the scan comes there. */
typedef struct zt_work {
  zt_job job;                  /* First: the frame's, as is the next */
  const struct zt_table *table;
  zt_source *source;           /* Borrowed, like the next */
  const zt_container *container;
  uint32_t object;
  unsigned want;               /* Bits of what was asked for, as the table has them */
  zt_budget budget;
  zt_error place;              /* Of what goes wrong: file and object */
} zt_work;

/* Which rows a table has. */
typedef enum zt_rows_of {
  ZT_ROWS_FILES,               /* One per file, readable or not */
  ZT_ROWS_OF_FILES,            /* Some per file, readable or not; nothing about a file ends
                               ** the query */
  ZT_ROWS_OBJECTS,             /* One per object */
  ZT_ROWS_OF_OBJECTS,          /* Some per object */
  ZT_ROWS_FILES_AND_OBJECTS    /* Some for the file itself, then some per object */
} zt_rows_of;

/* Whole numbers from first to last, both included; none if first is greater. */
typedef struct zt_range {
  uint64_t first, last;
} zt_range;

#define ZT_ARGUMENTS 3   /* Most arguments of a table after source */

/* Columns are numbered 0, 1, ... visible ones first, then hidden ones, as the table declares them;
** the frame puts the arguments (source and those after it) between the two, and a column that
** catches one argument too many, and answers for them. */
typedef struct zt_table zt_table;
struct zt_table {
  const char *name;
  const char *visible;         /* "path TEXT, object TEXT, ..." */
  const char *hidden;          /* "data BLOB HIDDEN, ..."; NULL: none */
  int nVisible;
  const char *arguments[ZT_ARGUMENTS];   /* Their names after source: on_error and object are the
                                         ** frame's, others the table's */
  const char *defaults[ZT_ARGUMENTS];    /* What those of the table's own mean if they are not
                                         ** given; NULL: NULL */
  const char *choices[ZT_ARGUMENTS][3];  /* The values that they can have, ended by NULL;
                                         ** none: any */
  zt_rows_of rows;
  int iPath, iObject;          /* Columns; -1: none */
  int iPosition;               /* A column of whole numbers that a query may want a range of;
                               ** 0: none */
  bool backward;               /* Rows can come in descending order of iPosition, too, */
  bool mostly_backward;        /* or those of most objects: scan->unordered says of which not */
  uint64_t light;              /* ZT_ROWS_FILES: bit i: column i needs no container, only what the
                               ** system says */
  uint64_t bytes;              /* Bit i: column i reads the file beyond its manifest */
  bool rows_read;              /* So does telling which rows there are */
  size_t row_size;             /* Bytes of the table's own state of a row; zeroed when a
                               ** cursor opens */

  /* Prepare for the rows of the current object: false on a failure, which is in scan->err. A query
  ** that asks for rows of one object again and again, as `row IN (...)` does, finds it open. NULL:
  ** nothing to do. */
  bool (*open)(zt_scan *scan);
  /* Stand on the first row of the current object, or of the file itself: false if it has none, or
  ** on a failure, which is in scan->err. May be called again. NULL: it has one. */
  bool (*first)(zt_scan *scan);
  /* Stand on the next row of the same: false if there is none, or on a failure. NULL: there
  ** is none. */
  bool (*next)(zt_scan *scan);
  /* Move on by at most n rows, to one that the object has. Returns by how many. NULL: next is
  ** as good. */
  uint64_t (*skip)(zt_scan *scan, uint64_t n);
  /* Free what the row state owns, and zero it: the scan leaves the object. NULL: it
  ** owns nothing. */
  void (*clear)(zt_scan *scan);
  /* A number of the current row that no other row of the same file (with an argument object: of the
  ** same object) has, whichever rows a query asks for. NULL: the object's index. */
  uint64_t (*rowid)(zt_scan *scan);
  /* Give column i of the current row, or a failure. iPath is the frame's. */
  void (*column)(zt_scan *scan, sqlite3_context *ctx, int i);

  /* What zt_scan_work() gives: bytes of the table's own struct, zeroed, which begins with a
  ** zt_work; do it, in any thread; free what it owns; and whether it may be done ahead, of an
  ** object that nobody asked for yet. 0 and NULL: there is none. */
  size_t work_size;
  void (*work)(zt_work *work);
  void (*work_clear)(zt_work *work);
  bool (*work_ahead)(const zt_container *container, uint32_t object);
};

/* What a table's functions see of a cursor. */
struct zt_scan {
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
};

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

/* The index of an argument of that name, -1 if the table has none. */
int zt_table_argument(const zt_table *table, const char *name);
int zt_table_arguments(const zt_table *table);   /* How many after source */

/* A value that stands for what cannot be had: NULL with 'skip', else the failure, which is cleared.
** What is no fault of the file always is a failure. */
void zt_scan_fail(zt_scan *scan, sqlite3_context *ctx, zt_error *err);

/* Register a table. */
int zt_scan_register(zt_connection *c, const zt_table *table);

#endif
