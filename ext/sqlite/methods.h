/* The tables of the frame as SQLite calls them. Interface to code in methods.c. */
#ifndef ZT_SQLITE_METHODS_H
#define ZT_SQLITE_METHODS_H

#include "sqlite/scan.h"

int zt_methods_register(zt_connection *c, const zt_table *table);

#endif
