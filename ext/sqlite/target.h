/*
** What the arguments (source, object, component) of a function name. Interface to code in target.c.
*/
#ifndef ZT_SQLITE_TARGET_H
#define ZT_SQLITE_TARGET_H

#include "sqlite/connection.h"
#include "tensor/layout.h"

/* Everything is valid until zt_target_close(). */
typedef struct zt_target {
  char *path;                  /* Owned; NULL for a BLOB */
  zt_container *container;
  zt_source *source;           /* NULL if only the manifest was asked for */
  zt_interrupt interrupt;
  zt_object object;
  zt_component component;
} zt_target;

/* True if an argument that must be there is NULL: the function's result is NULL then. */
bool zt_target_null(sqlite3_value *source, sqlite3_value *object);

/* What a source value is: *path is its text if that is a path this connection may open, NULL for a
** BLOB; anything else is a failure. The value is not NULL. */
int zt_target_path(const zt_connection *c, sqlite3_value *source, const char **path, zt_error *err);

/* Fail if this connection opens no files, or the text has U+0000 in it. */
int zt_target_check_path(const zt_connection *c, zt_text text, zt_error *err);

/* Open the one file that a source value names (TEXT path or file: URI; BLOB image), with its bytes
** if asked. err's place is set, and stays valid until the close. */
int zt_target_open(zt_connection *c, sqlite3_value *source, bool bytes, zt_target *out,
                   zt_error *err);

/* Find an object by name, then a component by role; role NULL or NULL value: the only one there is.
** One that does not exist is a failure that names it, and the one that was probably meant. err's
** place then names what was found. */
int zt_target_object(zt_target *t, sqlite3_value *name, zt_error *err);
int zt_target_component(zt_target *t, sqlite3_value *role, zt_error *err);

/* Open the object's values. *out needs zt_tensor_close() in any case, before zt_target_close(). */
int zt_target_tensor(const zt_target *t, zt_budget *budget, zt_tensor *out, zt_error *err);

/* Fail: there is no object of that name. */
int zt_target_no_object(const zt_container *c, zt_text name, const zt_interrupt *interrupt,
                        zt_error *err);

void zt_target_close(zt_target *t);

/* Open the image in a BLOB value, which must stay as it is while *source is open. */
int zt_target_open_image(zt_connection *c, sqlite3_value *blob, zt_container **container,
                         zt_source **source, zt_error *err);

#endif
