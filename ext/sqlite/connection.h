/*
** The state that the tables and functions of one database connection share. Interface to code in
** connection.c.
*/
#ifndef ZT_SQLITE_CONNECTION_H
#define ZT_SQLITE_CONNECTION_H

#include "core/host.h"
#include "core/pool.h"
#include "core/remote.h"
#include "sqlite/cache.h"
#include "tensor/buffer.h"

/* The result of sqlite3_user_data() in a function, and the client data of a table. */
typedef struct zt_connection {
  sqlite3 *db;               /* Borrowed; it outlives this */
  int references;            /* One per registered table and function */
  bool nofs;                 /* BLOB sources only: no path is ever opened */
  zt_cache *cache;           /* Owned */
  zt_spare *spare;           /* Memory of results, with a reference */
  int64_t asked, looked;     /* Times of the progress handler's last turn and of the last check for
                             ** an interrupt; 0: never */
  char *host;                /* The name for this machine; NULL: its own name. Owned */
  int threads;               /* Most threads of a statement; 0: the number of processors */
  struct zt_writer *writers; /* Its tables that write files. SQLite's */
  zt_remote *remote;         /* Reads URLs; NULL: they are refused. Owned */
  unsigned cursors;          /* Open cursors, and running functions that use threads */
  zt_pool *pool;             /* Threads while cursors > 0; NULL: none yet. Owned */
} zt_connection;

/* The type of a pointer to a zt_connection*, which SQL cannot make: zt_threads() of such a value
** sets the target to its connection. */
#define ZT_CONNECTION_POINTER "zt_connection"

#define ZT_THREADS_DEFAULT 16   /* Most threads, unless zt_threads() sets the number */
#ifndef ZT_THREADS              /* A build may define a number to replace that of the processors */
# define ZT_THREADS 0
#endif

/* A new connection state with one reference. *out is NULL if out of memory. */
int zt_connection_new(sqlite3 *db, bool nofs, zt_connection **out);
void zt_connection_release(void *c);   /* Release one reference of a zt_connection; void for
                                       ** SQLite's destructors */

/* Call these when a table's cursor opens and closes, and when a function that uses threads begins
** and ends. The last call frees the memory and threads that only statements need. */
void zt_connection_enter(zt_connection *c);
void zt_connection_leave(zt_connection *c);

/* The number of threads that a statement may use. */
int zt_connection_threads(const zt_connection *c);

/* Requests to servers that may be under way at once; 0: none. */
uint32_t zt_connection_requests(const zt_connection *c);

/* Threads, after zt_connection_enter(); NULL: there is only the caller's thread. */
zt_pool *zt_connection_pool(zt_connection *c);

/* The same, with as many threads as there may be requests under way, for work that waits for
** servers. */
zt_pool *zt_connection_waiting_pool(zt_connection *c);

/* The bounds on one call, from the connection's limits. */
zt_budget zt_connection_budget(zt_connection *c);

/* Checks whether the running statement must end: after sqlite3_interrupt(), or because the host's
** progress handler says so. The handler gets its turn here as if SQLite were at work. Only for the
** thread that runs the statement. */
zt_interrupt zt_connection_interrupt(zt_connection *c);

#endif
