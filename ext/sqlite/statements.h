/* Properties of a connection's running statements. Interface to code in statements.c. */
#ifndef ZT_SQLITE_STATEMENTS_H
#define ZT_SQLITE_STATEMENTS_H

#include <stdbool.h>
#include "core/host.h"

/* False if no running statement can contain an outer join: neither its text nor a TEMP view or
** trigger has one. (Views and triggers of other databases cannot use this extension.) */
bool zt_statements_join_outer(sqlite3 *db);

/* The same for UNION, EXCEPT and INTERSECT. */
bool zt_statements_are_compound(sqlite3 *db);

/* False if no running statement can ask for the column source, or for the rowid, which depends on
** it: neither name appears, nor does an OR or outer join, for which SQLite may ask by itself. */
bool zt_statements_ask_for_source(sqlite3 *db);

/* True if the connection still has that statement. A host may have finalized everything that
** sqlite3_next_stmt() returned. */
bool zt_statements_have(sqlite3 *db, const sqlite3_stmt *stmt);

#endif
