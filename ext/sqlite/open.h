/*
** Opening a file: its container is the cache's, or read now, and the cache's then. Interface to
** code in open.c.
*/
#ifndef ZT_SQLITE_OPEN_H
#define ZT_SQLITE_OPEN_H

#include "sqlite/connection.h"

/* What opening a file gave; both NULL on failure. */
typedef struct zt_opened {
  zt_container *container;   /* With a reference */
  zt_source *source;         /* Owned; NULL: it was not wanted */
  bool worth;                /* The cache does not have it, and may */
} zt_opened;

/* Open the file at path. state is what zt_os_stat() said of the path just now, of which only the
** kind need be known (size and times 0), or NULL if nobody asked; scan: it is one of many that a
** pattern found; source: the opened file is wanted, too, for reading components: it has the
** container's identity. */
int zt_open(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
            zt_opened *out, zt_error *err);

/* The same in two parts: the first may be done in any thread, and asks whom it is told whether to
** go on; the second is for the thread that runs the statement. */
int zt_open_read(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
                 const zt_interrupt *interrupt, zt_opened *out, zt_error *err);
void zt_open_keep(zt_connection *c, const zt_opened *opened, bool scan);

#endif
