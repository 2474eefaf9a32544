/* All tables and functions. A new one needs a file table_NAME.c or function_NAME.c, and its name in
** a list here. */
#ifndef ZT_SQLITE_TABLES_H
#define ZT_SQLITE_TABLES_H

#include "sqlite/scan.h"

#define ZT_TABLES(X) \
  X(files) X(objects) X(components) X(attributes) X(elements) X(rows) X(stats) X(check) \
  X(histogram)

/* Tables outside the frame: they have no source, or two. */
#define ZT_MODULES(X) X(rules) X(compare) X(given)

/* The table that writes, which has an entry point of its own. */
#define ZT_WRITING_MODULES(X) X(writer)

/* Families of functions. Each is an array that ends with a NULL name. */
#define ZT_FUNCTIONS(X) \
  X(absolute) X(blob) X(dense) X(endpoint) X(hash) X(content_id) X(fingerprint) X(manifest) \
  X(threads) X(version)

/* Families of the entry point of remote sources. */
#define ZT_REMOTE_FUNCTIONS(X) X(remote)

/* Aggregate functions. */
#define ZT_AGGREGATES(X) X(fingerprint) X(pack) X(pack_data)

/* A scalar function. sqlite3_user_data() is the zt_connection. */
typedef struct zt_function {
  const char *name;
  int nArg;
  int flags;                   /* SQLITE_UTF8 and others; SQLITE_DIRECTONLY if it takes a
                               ** source */
  void (*call)(sqlite3_context *ctx, int n, sqlite3_value **args);
} zt_function;

/* An aggregate function. step runs for each row, end after the last row. */
typedef struct zt_aggregate {
  const char *name;
  int nArg;
  int flags;
  void (*step)(sqlite3_context *ctx, int n, sqlite3_value **args);
  void (*end)(sqlite3_context *ctx);
} zt_aggregate;

/* A table of ZT_MODULES. The client data of its xConnect is the zt_connection. */
typedef struct zt_module {
  const char *name;
  sqlite3_module methods;
} zt_module;

#define ZT_DECLARE_TABLE(name) extern const zt_table zt_table_##name;
#define ZT_DECLARE_MODULE(name) extern const zt_module zt_module_##name;
#define ZT_DECLARE_FUNCTION(name) extern const zt_function zt_function_##name[];
#define ZT_DECLARE_AGGREGATE(name) extern const zt_aggregate zt_aggregate_##name;
ZT_TABLES(ZT_DECLARE_TABLE)
ZT_MODULES(ZT_DECLARE_MODULE)
ZT_WRITING_MODULES(ZT_DECLARE_MODULE)
ZT_FUNCTIONS(ZT_DECLARE_FUNCTION)
ZT_REMOTE_FUNCTIONS(ZT_DECLARE_FUNCTION)
ZT_AGGREGATES(ZT_DECLARE_AGGREGATE)

/* SQLITE_RESULT_SUBTYPE, which headers before 3.45 lack: the function's result has a subtype. Later
** libraries may require the bit; older ones ignore it. */
#define ZT_RESULT_SUBTYPE 0x001000000

#endif
