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

#endif
