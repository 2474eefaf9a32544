/*
** Modules and tables in SQLite's sense: connecting, and the arguments of CREATE VIRTUAL TABLE.
** Interface to code in module.c.
**
**   CREATE VIRTUAL TABLE temp.m USING zt_objects('models', skip);
**   CREATE VIRTUAL TABLE temp.m USING zt_objects(source='models', on_error=skip);
**
** Positional arguments come first. Named arguments follow in any order. An unknown name or value is
** an error at once, not zero rows later.
*/
#ifndef ZT_SQLITE_MODULE_H
#define ZT_SQLITE_MODULE_H

#include "sqlite/scan.h"

/* A registered table: the client data of its module. */
typedef struct zt_table_module {
  zt_connection *connection;   /* Holds a reference */
  const zt_table *table;
} zt_table_module;

typedef struct zt_vtab {
  sqlite3_vtab base;           /* First: SQLite's part */
  const zt_table_module *module;     /* Borrowed; outlives the table */
  char *source;                /* Arguments of CREATE VIRTUAL TABLE, owned; NULL: none */
  char *argument[ZT_ARGUMENTS];
  char *name;                  /* Quoted name for statements; owned */
} zt_vtab;

/* xCreate, xConnect and xDisconnect. */
int zt_module_connect(sqlite3 *db, void *module, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **message);
int zt_module_disconnect(sqlite3_vtab *vtab);

/* sqlite3_declare_vtab(), independent of the host's limits on values and statements. */
int zt_module_declare(sqlite3 *db, const char *sql);

/* xConnect, xDisconnect and xOpen of a table outside the frame. *out has `size` zeroed bytes that
** begin with a sqlite3_vtab or sqlite3_vtab_cursor. trust is SQLITE_VTAB_INNOCUOUS or
** SQLITE_VTAB_DIRECTONLY. */
int zt_module_connect_plain(sqlite3 *db, const char *sql, int trust, size_t size,
                            sqlite3_vtab **out);
int zt_module_disconnect_plain(sqlite3_vtab *vtab);
int zt_module_open_plain(size_t size, sqlite3_vtab_cursor **out);

/* xRowid of a row that consists of these values; a NULL pointer stands for NULL. It is a hash: OR,
** and RIGHT and FULL JOIN treat rows with equal rowids as the same row. */
sqlite3_int64 zt_module_rowid(sqlite3_value *const *value, int n);

/* The parts of an argument as SQLite passes it: the length of the name in `name = value`, 0 if z
** does not have this form; and a value without its quotes, owned. */
size_t zt_module_argument_name(const char *z, const char **value);
char *zt_module_dequote(const char *z);

/* The arguments that a table takes. */
typedef struct zt_module_names {
  const char *table;           /* Static, as the names are */
  const char *a[1+ZT_ARGUMENTS];
  int n;
} zt_module_names;

/* Take the arguments of CREATE VIRTUAL TABLE: values[i] is the owned text of argument i, or stays
** NULL. values are to be freed in any case. */
int zt_module_take_all(const zt_module_names *names, int argc, const char *const *argv,
                       char **values, zt_error *err);

/* Fail unless the table's argument i may have this value. Equal integers become equal texts: `4.0`
** becomes `4`. */
int zt_module_check(const zt_table *table, int i, char *value, zt_error *err);

#endif
