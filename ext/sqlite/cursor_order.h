/*
** Rows sorted by position, if the scan does not give them in that order. Interface to code in
** cursor_order.c.
*/
#ifndef ZT_SQLITE_CURSOR_ORDER_H
#define ZT_SQLITE_CURSOR_ORDER_H

#include "sqlite/cursor.h"

/* True if the scan does not give rows in the order that the plan promised. */
bool zt_cursor_lacks_order(const zt_cursor *c);

/* Sort the rows in SQLite, and go to the first. columns: the used columns, as the plan has them. */
int zt_cursor_sort(zt_cursor *c, const zt_plan_values *values, const char *columns);

/* Go to the next sorted row. */
int zt_cursor_next_sorted(zt_cursor *c);

/* SQLite's column i and the rowid of the current row. */
void zt_cursor_sorted_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_cursor_sorted_rowid(const zt_cursor *c);

/* Drop the sorted rows. */
void zt_cursor_unsort(zt_cursor *c);

#endif
