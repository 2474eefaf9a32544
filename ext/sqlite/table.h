/*
** What a table of the frame says of itself: its columns, its arguments, which rows it has, and the
** functions that give them. A new table is one file that defines a zt_table, and one line in
** tables.h. Interface to code in table.c.
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
  ZT_ROWS_OF_FILES,            /* Some per file, readable or not; nothing about a file ends
                               ** the query */
  ZT_ROWS_OBJECTS,             /* One per object */
  ZT_ROWS_OF_OBJECTS,          /* Some per object */
  ZT_ROWS_FILES_AND_OBJECTS    /* Some for the file itself, then some per object */
} zt_rows_of;

#define ZT_ARGUMENTS 3   /* Most arguments of a table after source */

/* Columns are numbered 0, 1, ... visible ones first, then hidden ones, as the table declares them;
** the frame puts the arguments (source and those after it) between the two, and a column that
** catches one argument too many, and answers for them. */
typedef struct zt_table {
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
  bool (*open)(struct zt_scan *scan);
  /* Stand on the first row of the current object, or of the file itself: false if it has none, or
  ** on a failure, which is in scan->err. May be called again. NULL: it has one. */
  bool (*first)(struct zt_scan *scan);
  /* Stand on the next row of the same: false if there is none, or on a failure. NULL: there
  ** is none. */
  bool (*next)(struct zt_scan *scan);
  /* Move on by at most n rows, to one that the object has. Returns by how many. NULL: next is
  ** as good. */
  uint64_t (*skip)(struct zt_scan *scan, uint64_t n);
  /* Free what the row state owns, and zero it: the scan leaves the object. NULL: it
  ** owns nothing. */
  void (*clear)(struct zt_scan *scan);
  /* A number of the current row that no other row of the same file (with an argument object: of the
  ** same object) has, whichever rows a query asks for. NULL: the object's index. */
  uint64_t (*rowid)(struct zt_scan *scan);
  /* Give column i of the current row, or a failure. iPath is the frame's. */
  void (*column)(struct zt_scan *scan, sqlite3_context *ctx, int i);

  /* What zt_scan_work() gives: bytes of the table's own struct, zeroed, which begins with a
  ** zt_work; do it, in any thread; free what it owns; and whether it may be done ahead, of an
  ** object that nobody asked for yet. 0 and NULL: there is none. */
  size_t work_size;
  void (*work)(struct zt_work *work);
  void (*work_clear)(struct zt_work *work);
  bool (*prefetch)(const zt_container *container, uint32_t object);
} zt_table;

/* True if what stands for a row is a file, readable or not, and no object. */
static inline bool zt_table_is_of_files(const zt_table *t){
  return t->rows==ZT_ROWS_FILES || t->rows==ZT_ROWS_OF_FILES;
}

/* How many arguments there are after source, and the index of the one with that name; -1: the table
** has none such. */
int zt_table_arguments(const zt_table *table);
int zt_table_argument(const zt_table *table, const char *name);

/* True if the argument object names the one object whose rows the table has. */
static inline bool zt_table_is_of_one(const zt_table *t){
  return zt_table_argument(t, "object")>=0;
}

/* The name of the table's column i; z NULL: there are no more. */
zt_text zt_table_name(const zt_table *table, int i);

/* SQLite's number of the table's column i: the arguments stand after the visible ones, then what
** catches one argument too many, if the table has hidden columns of its own. And the table's number
** of SQLite's: -1 for an argument, and for the rowid. */
int zt_table_number(const zt_table *table, int i);
int zt_table_column(const zt_table *table, int number);

/* SQLite's number of the column that catches one argument too many; -1: the table has none. */
int zt_table_surplus(const zt_table *table);

#endif
