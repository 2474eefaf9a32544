/*
** The SQLite API for every file but ztensor.c.
**
** All memory comes from sqlite3_malloc64(), so that a host can limit it and a test can make each
** allocation fail. With -DSQLITE_CORE (unit tests, static linking) the same sources call the
** library directly.
*/
#ifndef ZT_CORE_HOST_H
#define ZT_CORE_HOST_H

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#endif
