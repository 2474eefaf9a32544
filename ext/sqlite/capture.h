/*
** The values of a table's row, without a statement of the host. SQLite passes the results of a
** column's function only to a running statement. So a statement runs on a private connection
** without tables. Interface to code in capture.c.
*/
#ifndef ZT_SQLITE_CAPTURE_H
#define ZT_SQLITE_CAPTURE_H

#include "core/host.h"
#include "core/span.h"

typedef struct zt_capture zt_capture;

/* The result of a row's column i, and the receiver of all values. Both may fail with
** sqlite3_result_error_code() and the like. */
typedef struct zt_capture_calls {
  void (*column)(void *context, sqlite3_context *ctx, int i);
  void (*take)(void *context, sqlite3_context *ctx, sqlite3_value **value);
} zt_capture_calls;

/* Prepare for rows of these columns, in ascending order: bit i is column i. The limits of db apply.
** Returns an SQLite result code; *out is set only on success. */
int zt_capture_open(sqlite3 *db, uint64_t columns, const zt_capture_calls *calls, void *context,
                    zt_capture **out);

/* Call `column` for each column of a row, then `take` with all values. Returns the first error. */
int zt_capture_row(zt_capture *c);

void zt_capture_close(zt_capture *c);

#endif
