/*
** What the tables and functions of one database connection share. Interface to code in
** connection.c.
*/
#ifndef ZT_SQLITE_CONNECTION_H
#define ZT_SQLITE_CONNECTION_H

#include "core/host.h"
#include "core/pool.h"
#include "sqlite/cache.h"
#include "tensor/buffer.h"

/* What sqlite3_user_data() gives in a function, and the client data of a table. */
typedef struct zt_connection {
  sqlite3 *db;               /* Borrowed: outlives this */
  int references;            /* One per registered table and function */
  bool nofs;                 /* BLOB sources only: no path is ever opened */
  zt_cache *cache;           /* Owned */
  zt_spare *spare;           /* Memory of results, with a reference */
  int64_t asked, looked;     /* When the progress handler last had its turn, and when it was last
                             ** looked for an interrupt; 0: never */
  char *host;                /* The name of this machine; NULL: its own. Owned */
  int threads;               /* That a statement may use; 0: as many as there are processors */
  unsigned cursors;          /* That are open */
  zt_pool *pool;             /* Threads while there are cursors; NULL: none yet. Owned */
} zt_connection;

#define ZT_THREADS_DEFAULT 16   /* Most threads, unless zt_threads() says so */
#ifndef ZT_THREADS              /* A build may have another number than that of the processors */
# define ZT_THREADS 0
#endif

/* A connection's state, with one reference. *out is NULL when out of memory. */
int zt_connection_new(sqlite3 *db, bool nofs, zt_connection **out);
void zt_connection_release(void *c);   /* Give up one reference of a zt_connection; void for
                                       ** SQLite's destructors */

/* A table's cursor opens, or closes, and so does a function that uses threads: with the last one,
** what a statement alone needs ends. */
void zt_connection_enter(zt_connection *c);
void zt_connection_leave(zt_connection *c);

/* How many threads a statement may use. */
int zt_connection_threads(const zt_connection *c);

/* Threads for who has a cursor open; NULL: there is to be one alone. */
zt_pool *zt_connection_pool(zt_connection *c);

/* The bounds on one call, from the connection's limits. */
zt_budget zt_connection_budget(zt_connection *c);

/* Tells whether the running statement shall end: sqlite3_interrupt() was called, or the host's
** progress handler, which gets its turn here as if SQLite were at work, says so. For the thread
** that runs the statement. */
zt_interrupt zt_connection_interrupt(zt_connection *c);

#endif
