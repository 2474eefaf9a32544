/* What the statements of a connection that run now look like. Interface to code in statements.c. */
#ifndef ZT_SQLITE_STATEMENTS_H
#define ZT_SQLITE_STATEMENTS_H

#include <stdbool.h>
#include "core/host.h"

/* False if no statement that runs now can have an outer join in it: neither its text nor a TEMP
** view or trigger speaks of one. (Views and triggers of other databases cannot use
** this extension.) */
bool zt_statements_join_outer(sqlite3 *db);

/* The same of UNION, EXCEPT and INTERSECT. */
bool zt_statements_are_compound(sqlite3 *db);

/* False if in none of them the column source can be asked for, or the rowid, which follows from it:
** neither's name is there, nor an OR or outer join, for which SQLite may ask by itself. */
bool zt_statements_ask_for_source(sqlite3 *db);

/* True if the connection still has that statement. A host may have finalized all that it came by
** with sqlite3_next_stmt(). */
bool zt_statements_have(sqlite3 *db, const sqlite3_stmt *stmt);

#endif
