/*
** Rows in the order of their positions, where the files do not give them so. Interface to code in
** cursor_order.c.
*/
#ifndef ZT_SQLITE_CURSOR_ORDER_H
#define ZT_SQLITE_CURSOR_ORDER_H

#include "sqlite/cursor.h"

/* True if the rows that were begun do not come in the order that the plan promised. */
bool zt_cursor_lacks_order(const zt_cursor *c);

/* Have SQLite sort them, and stand on the first. columns: those that are used, as the plan says. */
int zt_cursor_sort(zt_cursor *c, const zt_plan_values *values, const char *columns);

/* Go to the next of the sorted rows. */
int zt_cursor_next_sorted(zt_cursor *c);

/* SQLite's column i, and the rowid, of the current one. */
void zt_cursor_sorted_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_cursor_sorted_rowid(const zt_cursor *c);

/* Have nothing sorted any more. */
void zt_cursor_unsort(zt_cursor *c);

#endif
