/*
** Rows of a cursor: those that xFilter is to give, wherever they come from. Interface to code in
** filter.c.
*/
#ifndef ZT_SQLITE_FILTER_H
#define ZT_SQLITE_FILTER_H

#include "sqlite/cursor.h"

/* Begin as xFilter says: stand on the first row. */
int zt_filter(zt_cursor *c, int plan, const char *text, sqlite3_value **argv);

/* Go to the next row. */
int zt_filter_next(zt_cursor *c);

/* SQLite's column i, and the rowid, of the current one. */
void zt_filter_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_filter_rowid(zt_cursor *c);

/* Go back to the state of a new cursor, but for memory that is used again. */
void zt_filter_reset(zt_cursor *c);

#endif
