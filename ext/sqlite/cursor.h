/*
** A cursor of the frame: which rows there are, in the order of the scan over files and objects.
** Interface to code in cursor.c; above it are cursor_order.h and automatic_index.h, which give rows
** in another order or from memory, filter.h, which chooses among them, and methods.h.
**
** A function that fails returns the code of what it recorded in err, and methods.c alone ends the
** query for it.
*/
#ifndef ZT_SQLITE_CURSOR_H
#define ZT_SQLITE_CURSOR_H

#include "sqlite/arguments.h"
#include "sqlite/automatic_index.h"
#include "sqlite/object_iterator.h"

#define ZT_CURSOR_BLOB 65536   /* A BLOB of so many bytes is kept for the column source without
                               ** looking whether a statement may ask for it */

/* Where rows come from. */
typedef enum zt_rows_from {
  ZT_ROWS_FROM_SCAN,
  ZT_ROWS_FROM_SORTER,         /* Those of the scan, in the order that the plan promised */
  ZT_ROWS_FROM_INDEX
} zt_rows_from;

/* What is found out of a statement when it is asked for. */
typedef enum zt_answer {
  ZT_ANSWER_UNKNOWN,
  ZT_ANSWER_NO,
  ZT_ANSWER_YES
} zt_answer;

typedef struct zt_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_scan scan;                /* What the table sees */
  zt_arguments arguments;
  zt_constraints constraints;
  zt_file_iterator files;
  zt_object_iterator objects;
  uint64_t number;             /* That tells the arguments from others; 0: not computed yet */
  zt_rows_from from;
  bool eof;                    /* It is behind the last row */
  uint64_t remaining;          /* Rows that may still come */
  uint64_t given;              /* Rows asked for one after the other, so far */
  sqlite3_stmt *sorter;        /* ZT_ROWS_FROM_SORTER: owned, while the host does not finalize it */
  zt_automatic_index automatic;
  zt_answer outer_join, compound, asks_source;   /* The statement may have such a join, be such a
                                                 ** SELECT, ask for the column source */
  zt_error err;                /* Its place is the current file */
} zt_cursor;

/* The cursor that a table sees as this. */
static inline zt_cursor *zt_cursor_of(zt_scan *scan){
  return (zt_cursor*)((char*)scan - offsetof(zt_cursor, scan));
}

/* Go back to before the first row of what is asked for; go to it. image: the BLOB, if the source
** is one; same: the arguments are those of the scan before. */
void zt_cursor_rewind(zt_cursor *c);
int zt_cursor_begin(zt_cursor *c, sqlite3_value *image, bool same);

/* Go to the next row. */
int zt_cursor_advance(zt_cursor *c);

/* Pass over at most n rows, at least one. Returns how many in *passed. */
int zt_cursor_skip(zt_cursor *c, uint64_t n, uint64_t *passed);

/* Stand on the row of this file, of a table that has one for each, as it was before. */
void zt_cursor_return(zt_cursor *c, const zt_file_place *at);

/* Leave the current file. */
void zt_cursor_leave_file(zt_cursor *c);

/* The rowid, and SQLite's column i, of the row on which the scan stands. */
sqlite3_int64 zt_cursor_rowid(zt_cursor *c);
void zt_cursor_column(zt_cursor *c, sqlite3_context *ctx, int i);

#endif
