/*
** A zt_writer: its arguments, its rows, and the file of the open transaction. The table's methods
** are in table_writer.c, what a row becomes when it comes in writer_update.c, COMMIT in
** writer_commit.c.
*/
#ifndef ZT_SQLITE_WRITER_H
#define ZT_SQLITE_WRITER_H

#include "sqlite/writer_arguments.h"
#include "sqlite/writer_rows.h"

typedef struct zt_writer_view zt_writer_view;   /* In writer_view.h */

typedef struct zt_writer {
  sqlite3_vtab base;             /* First: SQLite's part */
  zt_connection *connection;
  zt_writer_arguments arguments;
  zt_writer_rows *stored;        /* Owned */
  bool created;                  /* By CREATE VIRTUAL TABLE; false: connected to a table again */
  bool reads;                    /* A view's: it shows the rows of the file, and writes nothing */
  struct zt_writer *next;        /* Another one of the connection */
  zt_writer_view *view;          /* One that cursors have; NULL: none. Theirs */
  struct zt_writer_cursor *cursors;   /* All that are open. SQLite's */

  /* Of the open transaction: */
  bool begun;                    /* xBegin was called */
  int savepoints;                /* Those that are open, statements' own ones with them */
  int first;                     /* Those that were open when the first row came, and still are */
  zt_budget budget;
  zt_draft_rows rows;            /* rows.sources is owned; NULL: no row came yet */
  uint32_t loaded;               /* The source whose rows came first, plus 1; 0: none */
  zt_draft *draft;               /* Empty, for the next row that is checked; owned. NULL: none, */
  zt_supplies supplies;          /* and its supplies, owned */
  bool components;               /* A component of a sparse tensor came: others may join it */
  char *target;                  /* Its absolute path when the first row came; owned */
  zt_output *output;             /* The file, from xSync on; owned */
  bool placed;                   /* And its target is it */
  int made_in;                   /* Savepoints that were open when it was made */
} zt_writer;

/* Columns of the table. */
enum { ZT_WRITER_BYTES = ZT_ROW_COLUMNS, ZT_WRITER_COLUMNS };

/* True if both are of one name: SQLite connects a table again when it has read the schema again,
** and keeps the one that has the open transaction until that ends. */
bool zt_writer_is_namesake(const zt_writer *a, const zt_writer *b);

/* The one of these that has the transaction's rows; otherwise w. */
zt_writer *zt_writer_holder(zt_writer *w);

/* Make the transaction ready for rows: the target may be written, unless the writer only reads, and
** statements are prepared. */
int zt_writer_begin(zt_writer *w, zt_error *err);

/* True if a file can be written there, as far as is known before. */
bool zt_writer_may_write(const zt_writer *w);

/* Fail if another table of the connection has rows for the same file in this transaction: one of
** the two would be lost. placed: if it has written that file, whatever the paths were before. */
int zt_writer_check_others(zt_writer *w, bool placed, zt_error *err);

/* What a row of the file that is updated has beside its columns: the bytes of an attribute's value
** in the spool, if SQL does not show all of it; otherwise -1. */
typedef struct zt_writer_loaded {
  sqlite3_int64 offset, length;
} zt_writer_loaded;

/* Store a row. old: the number of the row that it replaces; 0: none. new: its number; 0: any.
** sqlite3_value_nochange() tells the columns that an UPDATE leaves alone. bytes: what the statement
** says of the column; NULL: nothing. loaded: the row is one of the file that is updated; else
** NULL. */
int zt_writer_store(zt_writer *w, sqlite3_int64 old, sqlite3_int64 new, sqlite3_value **values,
                    sqlite3_value *bytes, const zt_writer_loaded *loaded, sqlite3_int64 *id,
                    zt_error *err);

/* Write the rows to the target. The old file can be put back until the output is kept. SQLITE_BUSY,
** without a message: another connection reads a database that the transaction changes; the
** transaction stays, the target is as it was, and the next call goes on from there. */
int zt_writer_commit(zt_writer *w, zt_error *err);

/* True if there are rows and a savepoint is open: a ROLLBACK TO that undoes the table's DROP would
** bring them back without their bytes, and without xSync. */
bool zt_writer_must_stay(zt_writer *w, int *rc);

/* Savepoint n, and those in it, are undone, and n is open again. */
void zt_writer_rollback_to(zt_writer *w, int n);

/* Forget the transaction's files. */
void zt_writer_end(zt_writer *w);

/* A row that is read back from its columns. *out always needs zt_row_clear(). */
int zt_writer_read(zt_writer *w, sqlite3_value **columns, sqlite3_stmt *stored, zt_row *out,
                   zt_error *err);

/* Record SQLite's own error: that of the rows' statements, or that of another connection. */
int zt_writer_fail(const zt_writer *w, int rc, zt_error *err);
int zt_writer_fail_of(sqlite3 *db, int rc, zt_error *err);

#endif
