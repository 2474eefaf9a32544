/*
** The rows of a zt_writer until COMMIT, in a table of SQLite's own beside it in temp, NAME_rows. So
** savepoints, statements that fail, UPDATE, DELETE and ROLLBACK are SQLite's. Interface to code in
** writer_rows.c.
*/
#ifndef ZT_SQLITE_WRITER_ROWS_H
#define ZT_SQLITE_WRITER_ROWS_H

#include "sqlite/draft_rows.h"

/* Columns of a stored row: its number, those of zt_row_read(), and facts. */
enum {
  ZT_STORED_ID,
  ZT_STORED_COLUMNS = 1,                  /* The first of ZT_ROW_COLUMNS; data is always NULL */
  ZT_STORED_OWNER = ZT_STORED_COLUMNS+ZT_ROW_COLUMNS,   /* BLOB: the file or an object's name */
  ZT_STORED_PART,                         /* TEXT: T, C and the role, or A and the key */
  ZT_STORED_SOURCE,                       /* Number of the source; NULL: it has none */
  ZT_STORED_OFFSET, ZT_STORED_LENGTH,     /* Of data in the spool; NULL: it has none */
  ZT_STORED_LOADED,                       /* 1: it came from the file that is updated */
  ZT_STORED_KEPT,                         /* 1: and its stored bytes stay */
  ZT_STORED_BYTES,                        /* Decoded bytes */
  ZT_STORED_DTYPE, ZT_STORED_SHAPE, ZT_STORED_FORMAT,   /* Of what will be written */
  ZT_STORED_ENCODING,
  ZT_STORED_COUNT
};

/* The column of a stored row with what a SELECT shows of one of zt_row_read(), but for bytes. */
int zt_stored_shown(int column);

typedef struct zt_writer_rows zt_writer_rows;

/* Statements over the table of that name. create: make it. *message is SQLite's, if any. */
int zt_writer_rows_open(sqlite3 *db, const char *name, bool create, zt_writer_rows **out,
                        char **message);
int zt_writer_rows_drop(zt_writer_rows *r);
sqlite3 *zt_writer_rows_db(const zt_writer_rows *r);
const char *zt_writer_rows_name(const zt_writer_rows *r);
void zt_writer_rows_close(zt_writer_rows *r);

/* Prepare all statements: after an interrupt, SQLite prepares none in xSync. Result codes here and
** below are SQLite's, with the message in sqlite3_errmsg(). */
int zt_writer_rows_prepare(zt_writer_rows *r);

/* A row to be stored, beside its columns. */
typedef struct zt_stored_row {
  sqlite3_int64 id;              /* 0: a new number */
  sqlite3_value **columns;       /* NULL: SQL's NULL */
  const zt_row *row;
  sqlite3_int64 source;          /* -1: none; the same for the next two */
  sqlite3_int64 offset, length;
  bool loaded, kept;
  uint64_t bytes;                /* ZT_DRAFT_UNKNOWN: that is not known */
  const char *dtype;             /* NULL: none */
  zt_text shape, format, encoding;
} zt_stored_row;

/* Store a row; old: in place of the row of that number; 0: a new one. replace: rows that are in its
** way are deleted. One statement, which changes all or nothing. *id: the number of a new row.
** SQLITE_CONSTRAINT: there is such a row. */
int zt_writer_rows_store(zt_writer_rows *r, const zt_stored_row *row, sqlite3_int64 old,
                         bool replace, sqlite3_int64 *id);
int zt_writer_rows_delete(zt_writer_rows *r, sqlite3_int64 id);

/* End the statements of the next three, which otherwise stay open and lock tables of the database:
** their rows are no longer needed. */
void zt_writer_rows_reset(zt_writer_rows *r);

/* The row of that number, until the next call; NULL: there is none, or an error (*rc). */
sqlite3_stmt *zt_writer_rows_get(zt_writer_rows *r, sqlite3_int64 id, int *rc);

/* Another row with bytes of the same object; the same. */
sqlite3_stmt *zt_writer_rows_other(zt_writer_rows *r, zt_text object, sqlite3_int64 not, int *rc);

/* Go through all rows in the order of their numbers: tensors and components, or attributes. NULL:
** the end, or an error (*rc). begin: anew. */
sqlite3_stmt *zt_writer_rows_next(zt_writer_rows *r, bool attributes, bool begin, int *rc);

/* Have SQLite begin the writer's transaction, by a statement that changes nothing. */
int zt_writer_rows_touch(zt_writer_rows *r);

/* A new statement over all rows, over the row of a number, or over those of an object's name. */
typedef enum zt_writer_plan { ZT_WRITER_ALL, ZT_WRITER_BY_ID, ZT_WRITER_BY_NAME } zt_writer_plan;
int zt_writer_rows_select(zt_writer_rows *r, zt_writer_plan plan, sqlite3_value *value,
                          sqlite3_stmt **out);

/* Facts about the transaction of an update, which a rollback undoes. LOADED comes first. */
typedef enum zt_writer_mark { ZT_WRITER_LOADED, ZT_WRITER_CHANGED } zt_writer_mark;
bool zt_writer_rows_marked(zt_writer_rows *r, zt_writer_mark mark, int *rc);
int zt_writer_rows_mark(zt_writer_rows *r, zt_writer_mark mark);

/* True if there is no row. */
bool zt_writer_rows_empty(zt_writer_rows *r, int *rc);

/* Delete everything. */
int zt_writer_rows_clear(zt_writer_rows *r);

#endif
