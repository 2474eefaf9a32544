/*
** The values of a table's row, had where no statement of the host asks for them: SQLite hands what
** a column's function gives only to a statement that runs. So one does, of a connection of its own,
** which nobody else sees and in which there is no table. Interface to code in capture.c.
*/
#ifndef ZT_SQLITE_CAPTURE_H
#define ZT_SQLITE_CAPTURE_H

#include "core/host.h"
#include "core/span.h"

typedef struct zt_capture zt_capture;

/* What a row's columns are, and what becomes of them. Both may fail: sqlite3_result_error_code()
** and the like. */
typedef struct zt_capture_calls {
  void (*column)(void *context, sqlite3_context *ctx, int i);
  void (*take)(void *context, sqlite3_context *ctx, sqlite3_value **value);
} zt_capture_calls;

/* Prepare for rows of these columns, ascending: bit i is column i. The result is bound by the
** limits that db has. An SQLite result code; *out is set on success alone. */
int zt_capture_open(sqlite3 *db, uint64_t columns, const zt_capture_calls *calls, void *context,
                    zt_capture **out);

/* Call `column` for each column of a row, and then `take` with all of their values. What of them
** failed first is the result. */
int zt_capture_row(zt_capture *c);

void zt_capture_close(zt_capture *c);

#endif
