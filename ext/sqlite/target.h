/*
** The file, object and component that a function's arguments name. Interface to code in target.c.
*/
#ifndef ZT_SQLITE_TARGET_H
#define ZT_SQLITE_TARGET_H

#include "core/float_env.h"
#include "sqlite/connection.h"
#include "tensor/layout.h"

/* Everything is valid until zt_target_close(). */
typedef struct zt_target {
  char *path;                  /* Owned; NULL for a BLOB */
  zt_container *container;
  zt_source *source;           /* NULL if only the manifest was requested */
  zt_interrupt interrupt;
  zt_pool *pool;               /* This call's own threads; owned; NULL: it has none */
  zt_object object;
  zt_component component;
  zt_float_env env;            /* The host's, which the default replaces until it is closed */
} zt_target;

/* True if a required argument is NULL: then the function's result is NULL. */
bool zt_target_null(sqlite3_value *source, sqlite3_value *object);

/* *path is the text of a source value, or NULL for a BLOB. Fail if the value is neither, or if this
** connection may not open the path. The value must not be NULL. */
int zt_target_path(const zt_connection *c, sqlite3_value *source, const char **path, zt_error *err);

/* Fail if this connection opens no files, or if the text contains U+0000. */
int zt_target_check_path(const zt_connection *c, zt_text text, zt_error *err);

/* Open the one file that a source value names (TEXT path or file: URI, or BLOB image). bytes:
** out->source is wanted, too. Sets err's place, which is valid until zt_target_close(). */
int zt_target_open(zt_connection *c, sqlite3_value *source, bool bytes, zt_target *out,
                   zt_error *err);

/* Find an object by name, then a component by role; role NULL or a NULL value: the only component.
** A failure names the missing one and suggests the probable one. Otherwise err's place names what
** was found. */
int zt_target_object(zt_target *t, sqlite3_value *name, zt_error *err);
int zt_target_component(zt_target *t, sqlite3_value *role, zt_error *err);

/* Open the object's values. *out always needs zt_tensor_close(), before zt_target_close(). */
int zt_target_tensor(const zt_target *t, zt_budget *budget, zt_tensor *out, zt_error *err);

/* Let several threads read or make so many bytes. If no cursor is open, whose threads would help,
** the threads are this call's own and end with zt_target_close(). */
void zt_target_threads(zt_connection *c, zt_target *t, uint64_t bytes, zt_budget *budget);

/* Fail: no object has that name. */
int zt_target_no_object(const zt_container *c, zt_text name, const zt_interrupt *interrupt,
                        zt_error *err);

void zt_target_close(zt_target *t);

/* Open the image in a BLOB value, which must not change while *source is open. */
int zt_target_open_image(zt_connection *c, sqlite3_value *blob, zt_container **container,
                         zt_source **source, zt_error *err);

#endif
