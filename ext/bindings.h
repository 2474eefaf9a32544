/*
** Functions of the library for a program that has loaded the extension, and calls C: they give what
** results of SQL cannot, and are not reachable from SQL. ext/packages/python calls them. Interface
** to code in bindings.c; sqlite3_ztensor_loaded() is in ztensor.c.
**
** A result code is SQLite's. *message is then what is wrong, from sqlite3_malloc64(), or NULL for
** SQLITE_NOMEM; sqlite3_ztensor_free() frees it.
*/
#ifndef ZT_BINDINGS_H
#define ZT_BINDINGS_H

#include "sqlite/arrow.h"

#ifdef _WIN32
# define ZTENSOR_EXPORT __declspec(dllexport)
#else
# define ZTENSOR_EXPORT __attribute__((visibility("default")))
#endif

/* A value of a parameter. Everything is borrowed. */
typedef struct zt_binding {
  const char *name;        /* Without its prefix, UTF-8; NULL: of a parameter by its place */
  int type;                /* SQLITE_INTEGER and others */
  int64_t integer;
  double real;
  const void *bytes;       /* Of TEXT, in UTF-8, and of a BLOB */
  int64_t nBytes;
} zt_binding;

/* Return the connection into which this thread loaded the extension last, by any entry point, and
** forget it; NULL: there is none. It is valid as long as the program keeps it open. */
ZTENSOR_EXPORT sqlite3 *sqlite3_ztensor_loaded(void);

/* Run a statement, and make *out a stream of its rows (arrow.h). Bindings are all by name, or one
** for each parameter in their order; names that the statement does not have are ignored. */
ZTENSOR_EXPORT int sqlite3_ztensor_arrow(sqlite3 *db, const char *sql, int nBinding,
                                         const zt_binding *bindings, struct ArrowArrayStream *out,
                                         char **message);

/* Do as zt_dense(source, object, dtype, first, count) into an array of exactly n bytes, whose
** elements are little-endian on every machine; dtype NULL: the tensor's own; count -1: all, first
** is then 0. The array has any bytes after a failure. */
ZTENSOR_EXPORT int sqlite3_ztensor_dense(sqlite3 *db, const zt_binding *source,
                                         const zt_binding *object, const char *dtype,
                                         int64_t first, int64_t count, void *array, int64_t n,
                                         char **message);

/* Set *dtype to the name of the type that zt_dense(source, object) has: the tensor's own one, and
** f32 if it is quantized. It is static. No value is read. */
ZTENSOR_EXPORT int sqlite3_ztensor_dtype(sqlite3 *db, const zt_binding *source,
                                         const zt_binding *object, const char **dtype,
                                         char **message);

ZTENSOR_EXPORT void sqlite3_ztensor_free(void *p);

#endif
