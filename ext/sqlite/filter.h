/* The rows of a query, from the scan, a sorter or an index. Interface to code in filter.c. */
#ifndef ZT_SQLITE_FILTER_H
#define ZT_SQLITE_FILTER_H

#include "sqlite/cursor.h"

/* xFilter: go to the first row. */
int zt_filter(zt_cursor *c, int plan, const char *text, sqlite3_value **argv);

int zt_filter_next(zt_cursor *c);

void zt_filter_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_filter_rowid(zt_cursor *c);

/* Return to the state of a new cursor, but keep memory for reuse. */
void zt_filter_reset(zt_cursor *c);

#endif
