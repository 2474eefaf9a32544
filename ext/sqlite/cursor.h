/*
** A cursor of the frame. It gives rows in the order of the scan over files and objects. Interface
** to code in cursor.c. Above it, cursor_order.h sorts rows, automatic_index.h gives rows from
** memory, filter.h chooses among these three, and methods.h is SQLite's side.
**
** A function that fails returns the code of the error in err. Only methods.c ends the query.
*/
#ifndef ZT_SQLITE_CURSOR_H
#define ZT_SQLITE_CURSOR_H

#include "sqlite/arguments.h"
#include "sqlite/automatic_index.h"
#include "sqlite/object_iterator.h"

#define ZT_CURSOR_BLOB 65536   /* Bytes of a BLOB that is always kept for the column source */

/* Where rows come from. */
typedef enum zt_rows_from {
  ZT_ROWS_FROM_SCAN,
  ZT_ROWS_FROM_SORTER,         /* The rows of the scan, sorted as the plan promised */
  ZT_ROWS_FROM_INDEX
} zt_rows_from;

/* A fact about the statement, found when it is first needed. */
typedef enum zt_answer {
  ZT_ANSWER_UNKNOWN,
  ZT_ANSWER_NO,
  ZT_ANSWER_YES
} zt_answer;

typedef struct zt_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_scan scan;                /* The part that a table sees */
  zt_arguments arguments;
  zt_constraints constraints;
  zt_file_iterator files;
  zt_object_iterator objects;
  uint64_t number;             /* A hash of source and arguments; 0: not computed yet */
  zt_rows_from from;
  bool eof;                    /* It is after the last row */
  uint64_t remaining;          /* Rows that LIMIT still allows */
  uint64_t given;              /* Rows given by the scan so far */
  sqlite3_stmt *sorter;        /* ZT_ROWS_FROM_SORTER: owned, unless the host finalized it */
  zt_automatic_index automatic;
  zt_answer outer_join, compound, asks_source;   /* The statement may have an outer join, be
                                                 ** a compound SELECT, select source */
  zt_answer own_patterns;                        /* LIKE and GLOB are SQLite's own */
  zt_error err;                /* Its place is the current file */
} zt_cursor;

/* The cursor that contains this scan. */
static inline zt_cursor *zt_cursor_of(zt_scan *scan){
  return (zt_cursor*)((char*)scan - offsetof(zt_cursor, scan));
}

/* Go before the first row; go to the first row. image: the BLOB, if the source is one; same: the
** arguments have not changed since the previous scan. */
void zt_cursor_rewind(zt_cursor *c);
int zt_cursor_begin(zt_cursor *c, sqlite3_value *image, bool same);

/* Go to the next row. */
int zt_cursor_advance(zt_cursor *c);

/* Skip 1 to n rows. *passed is their number. */
int zt_cursor_skip(zt_cursor *c, uint64_t n, uint64_t *passed);

/* Return to the row of this file. The table has one row for each file. */
void zt_cursor_return(zt_cursor *c, const zt_file_place *at);

/* Leave the current file. */
void zt_cursor_leave_file(zt_cursor *c);

/* The rowid and SQLite's column i of the scan's current row. */
sqlite3_int64 zt_cursor_rowid(zt_cursor *c);
void zt_cursor_other_column(zt_cursor *c, sqlite3_context *ctx, int i);

/* In line: once for each value of a million rows. The table has most columns itself. */
ZT_INLINE void zt_cursor_column(zt_cursor *c, sqlite3_context *ctx, int i){
  const zt_table *t = c->scan.table;
  if( i<t->nVisible && i!=t->iPath ) t->column(&c->scan, ctx, i);
  else zt_cursor_other_column(c, ctx, i);
}

#endif
