/*
** The definition of a table of the frame: its columns, arguments and rows, and its functions. A new
** table is one file that defines a zt_table, and one line in tables.h. Interface to code in
** table.c.
*/
#ifndef ZT_SQLITE_TABLE_H
#define ZT_SQLITE_TABLE_H

#include "container/container.h"
#include "core/host.h"

struct zt_scan;
struct zt_work;

/* Which rows a table has. */
typedef enum zt_rows_of {
  ZT_ROWS_FILES,               /* One per file, readable or not */
  ZT_ROWS_OF_FILES,            /* Some per file, readable or not; a faulty file does not end
                               ** the query */
  ZT_ROWS_OBJECTS,             /* One per object */
  ZT_ROWS_OF_OBJECTS,          /* Some per object */
  ZT_ROWS_FILES_AND_OBJECTS    /* Some for the file itself, then some per object */
} zt_rows_of;

#define ZT_ARGUMENTS 3   /* Maximum number of arguments after source */

/* Columns are numbered from 0, visible ones first, then hidden ones. Between the two, the frame
** declares and serves the arguments and a column that catches one argument too many. */
typedef struct zt_table {
  const char *name;
  const char *visible;         /* "path TEXT, object TEXT, ..." */
  const char *hidden;          /* "data BLOB HIDDEN, ..."; NULL: none */
  int nVisible;
  const char *arguments[ZT_ARGUMENTS];   /* Names of those after source. The frame interprets
                                         ** on_error and object, the table all others */
  const char *defaults[ZT_ARGUMENTS];    /* Default values of the table's own arguments */
  unsigned integers;           /* Bit i: argument i is an INTEGER, of digits from 0 to 2^32-1; else
                               ** TEXT */
  const char *choices[ZT_ARGUMENTS][3];  /* Allowed values, ended by NULL; none: any */
  /* Fail unless argument i may have this value. NULL: the rest of the table says all. */
  int (*check)(int i, const char *value, zt_error *err);
  zt_rows_of rows;
  int iPath, iObject;          /* Columns; -1: none */
  int iPosition;               /* An integer column that queries may restrict to a range;
                               ** 0: none */
  bool backward;               /* Rows of every object can come in descending order of iPosition;
                               ** else those of most can, and others set scan->unordered */
  uint64_t light;              /* ZT_ROWS_FILES: bit i: column i needs only the file's stat, no
                               ** container */
  uint64_t bytes;              /* Bit i: column i reads the file beyond its manifest */
  bool rows_read;              /* Finding the rows reads the file beyond its manifest, too */
  size_t row_size;             /* Bytes of the table's row state; zeroed when a cursor opens */

  /* Prepare for the rows of the current object. False on failure, which is in scan->err. The object
  ** stays open for a query that asks for its rows again, as `row IN (...)` does. May be NULL. */
  bool (*open)(struct zt_scan *scan);
  /* Go to the first row of the current object, or of the file itself. False if it has none, or on
  ** failure, which is in scan->err. May be called again. NULL: there is one row. */
  bool (*first)(struct zt_scan *scan);
  /* Go to the next row. False if there is none, or on failure. NULL: there is none. */
  bool (*next)(struct zt_scan *scan);
  /* Skip at most n rows within the object, and return their number. NULL: next is as fast. */
  uint64_t (*skip)(struct zt_scan *scan, uint64_t n);
  /* The scan leaves the object: free and zero the row state. NULL: it owns nothing. */
  void (*clear)(struct zt_scan *scan);
  /* A number that identifies the current row within its file (within its object if object is an
  ** argument), whatever the constraints are. NULL: the object's index. */
  uint64_t (*rowid)(struct zt_scan *scan);
  /* The result for column i of the current row. The frame serves iPath. */
  void (*column)(struct zt_scan *scan, sqlite3_context *ctx, int i);

  /* zt_scan_work(): the size of the table's struct, zeroed, which begins with a zt_work; the
  ** computation, in any thread; its cleanup; and whether an object may be prefetched. 0 and NULL:
  ** none. */
  size_t work_size;
  void (*work)(struct zt_work *work);
  void (*work_clear)(struct zt_work *work);
  bool (*prefetch)(const zt_container *container, uint32_t object);
} zt_table;

/* True if rows belong to files, readable or not. */
static inline bool zt_table_is_of_files(const zt_table *t){
  return t->rows==ZT_ROWS_FILES || t->rows==ZT_ROWS_OF_FILES;
}

/* The number of arguments after source; the index of the one with that name, or -1. */
int zt_table_arguments(const zt_table *table);
int zt_table_argument(const zt_table *table, const char *name);

/* True if the table has an argument object. */
static inline bool zt_table_is_of_one(const zt_table *t){
  return zt_table_argument(t, "object")>=0;
}

/* The name of column i; z is NULL after the last column. */
zt_text zt_table_name(const zt_table *table, int i);

/* From the table's number of a column to SQLite's, and back: -1 for an argument and the rowid. */
int zt_table_number(const zt_table *table, int i);
int zt_table_column(const zt_table *table, int number);

/* SQLite's number of the column that catches one argument too many; -1: the table has none. */
int zt_table_surplus(const zt_table *table);

#endif
