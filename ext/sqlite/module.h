/*
** What SQLite calls a module and a table: connecting, and the arguments of CREATE VIRTUAL TABLE.
** Interface to code in module.c.
**
**   CREATE VIRTUAL TABLE temp.m USING zt_objects('models', skip);
**   CREATE VIRTUAL TABLE temp.m USING zt_objects(source='models', on_error=skip);
**
** Arguments come in their order, or by name: in any order, after those that come in theirs. A name
** or a value that the table does not know is an error here, and not zero rows later.
*/
#ifndef ZT_SQLITE_MODULE_H
#define ZT_SQLITE_MODULE_H

#include "sqlite/scan.h"

/* A registered table, and what SQLite calls its client data. */
typedef struct zt_table_module {
  zt_connection *connection;   /* With a reference */
  const zt_table *table;
} zt_table_module;

typedef struct zt_vtab {
  sqlite3_vtab base;           /* First: SQLite's part */
  const zt_table_module *module;     /* Borrowed: outlives the table */
  char *source;                /* Arguments of CREATE VIRTUAL TABLE, owned; NULL: none */
  char *argument[ZT_ARGUMENTS];
  char *name;                  /* That a statement names it by, quoted, owned */
} zt_vtab;

/* xCreate, xConnect and xDisconnect. */
int zt_module_connect(sqlite3 *db, void *module, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **message);
int zt_module_disconnect(sqlite3_vtab *vtab);

/* sqlite3_declare_vtab(), whatever the host has limited the length of values and statements to. */
int zt_module_declare(sqlite3 *db, const char *sql);

/* The same for a table outside the frame: `size` bytes of its own, zeroed, which begin with a
** sqlite3_vtab or sqlite3_vtab_cursor. trust: SQLITE_VTAB_INNOCUOUS or SQLITE_VTAB_DIRECTONLY. */
int zt_module_connect_plain(sqlite3 *db, const char *sql, int trust, size_t size,
                            sqlite3_vtab **out);
int zt_module_disconnect_plain(sqlite3_vtab *vtab);
int zt_module_open_plain(size_t size, sqlite3_vtab_cursor **out);

/* Fail unless the table's argument i may have this value. */
int zt_module_check(const zt_table *table, int i, const char *value, zt_error *err);

#endif
