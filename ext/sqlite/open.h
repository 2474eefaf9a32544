/* Opens files through the cache. Interface to code in open.c. */
#ifndef ZT_SQLITE_OPEN_H
#define ZT_SQLITE_OPEN_H

#include "sqlite/connection.h"

/* An opened file; both pointers are NULL on failure. */
typedef struct zt_opened {
  zt_container *container;   /* With a reference */
  zt_source *source;         /* Owned; NULL: not wanted */
  bool worth;                /* The cache lacks it and may keep it */
} zt_opened;

/* Open the file at path. state: the result of zt_os_stat() just now, of which only the kind must be
** known (size and times may be 0), or NULL. scan: the file is one of many that a pattern found.
** source: the opened file is wanted, too, to read components; it has the container's identity. */
int zt_open(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
            zt_opened *out, zt_error *err);

/* The same in two parts. The first may run in any thread, and checks `interrupt`; the second runs
** in the statement's thread. */
int zt_open_read(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
                 const zt_interrupt *interrupt, zt_opened *out, zt_error *err);
void zt_open_keep(zt_connection *c, const zt_opened *opened, bool scan);

#endif
