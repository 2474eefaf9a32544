/*
** Whether collations and operators of a connection are SQLite's own. A host may replace them:
** NOCASE by one that knows letters beyond ASCII, LIKE by a search for a part of a text. SQLite does
** not tell. But its own ones treat U+0000 as no others do. Interface to code in own.c.
*/
#ifndef ZT_SQLITE_OWN_H
#define ZT_SQLITE_OWN_H

#include <stdbool.h>
#include "core/host.h"

/* True if they are SQLite's own. False if not, and if that is unknown. */
bool zt_own_nocase(sqlite3 *db);
bool zt_own_rtrim(sqlite3 *db);
bool zt_own_patterns(sqlite3 *db);   /* LIKE, in both of its ways with case, and GLOB */

#endif
