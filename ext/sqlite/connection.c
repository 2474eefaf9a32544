/* The state that the tables and functions of a connection share. See connection.h. */
#include "sqlite/connection.h"

#include "core/os.h"
#include "core/remote_file.h"

/* Minimum nanoseconds between two statements that give the progress handler its turn. Each takes a
** fifth of a millisecond. */
#define CONNECTION_PAUSE ((int64_t)20*1000*1000)

/* The same between two that only check for sqlite3_interrupt(), if SQLite has no function for that.
** Each takes a hundredth of that time. */
#define CONNECTION_GLANCE ((int64_t)2*1000*1000)

int zt_connection_new(sqlite3 *db, bool nofs, zt_connection **out){
  zt_connection *c = sqlite3_malloc64(sizeof(*c));
  *out = NULL;
  if( !c ) return SQLITE_NOMEM;
  *c = (zt_connection){ .db = db, .references = 1, .nofs = nofs, .spare = zt_spare_new() };
  c->cache = zt_cache_new();
  if( !c->cache || !c->spare ){
    zt_connection_release(c);
    return SQLITE_NOMEM;
  }
  *out = c;
  return SQLITE_OK;
}

void zt_connection_release(void *p){
  zt_connection *c = p;
  if( --c->references>0 ) return;
  zt_cache_free(c->cache);
#if ZT_REMOTE
  zt_remote_free(c->remote);
#endif
  zt_spare_release(c->spare);
  sqlite3_free(c->host);
  sqlite3_free(c);
}

void zt_connection_enter(zt_connection *c){
  c->cursors++;
  zt_cache_hold(c->cache);
#if ZT_REMOTE
  if( c->remote ) zt_remote_hold(c->remote);
#endif
}

void zt_connection_leave(zt_connection *c){
  zt_cache_release(c->cache);
#if ZT_REMOTE
  if( c->remote && c->cursors==1 ) zt_remote_file_drop_begun(c->remote);
  if( c->remote ) zt_remote_release(c->remote);
#endif
  if( --c->cursors>0 ) return;
  zt_pool_free(c->pool);
  c->pool = NULL;
}

int zt_connection_threads(const zt_connection *c){
  static atomic_int processors[2];   /* Without and with reading a file; 0: unknown yet */
  atomic_int *known = &processors[!c->nofs];
  const int n = c->threads ? c->threads : ZT_THREADS;
  if( n>0 ) return n;
  if( *known==0 ) *known = zt_thread_processors(!c->nofs);
  return *known<ZT_THREADS_DEFAULT ? *known : ZT_THREADS_DEFAULT;
}

zt_pool *zt_connection_pool(zt_connection *c){
  if( !c->pool && c->cursors>0 ) c->pool = zt_pool_new(zt_connection_threads(c)-1);
  return c->pool;
}

uint32_t zt_connection_requests(const zt_connection *c){
#if ZT_REMOTE
  if( c->remote ) return (uint32_t)zt_remote_get(c->remote).connections;
#endif
  (void)c;
  return 0;
}

_Static_assert(ZT_REMOTE_CONNECTIONS_MAX<=ZT_POOL_MAX, "a thread waits for each request");

zt_pool *zt_connection_waiting_pool(zt_connection *c){
  const int n = (int)zt_connection_requests(c);
  if( !c->pool && c->cursors>0 && n>1 ) c->pool = zt_pool_new(n-1);
  zt_pool_widen(c->pool, n);
  return zt_connection_pool(c);
}

/* SQLite counts only the instructions of its virtual machine, and calls a host's progress handler
** after every n of one statement. A scan that finds nothing, or one long value, runs none. So this
** statement, of some 7,000 instructions, runs in its place from time to time. It reads no table,
** calls no function and is finalized at once: a kept one would keep the connection from closing.
** For an authorizer it is a SELECT, like the statement around it. */
static const char connection_steps[] =
  "WITH t(x) AS (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9))"
  " SELECT 1 FROM t AS a, t AS b, t AS c WHERE a.x+b.x+c.x<0";

/* True if SQLite ends a statement that starts while another one runs, which is always the case
** here. It does so at once after sqlite3_interrupt(), or if the progress handler says so. */
static bool connection_ends(sqlite3 *db, const char *sql){
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
  if( rc==SQLITE_OK ) rc = sqlite3_step(stmt);
  sqlite3_finalize(stmt);
  return rc==SQLITE_INTERRUPT;
}

static bool connection_interrupted(void *context){
  zt_connection *c = context;
  const int64_t now = zt_os_elapsed();
  bool ends = false;
  if( !c->asked || now-c->asked>=CONNECTION_PAUSE ){
    ends = connection_ends(c->db, connection_steps);
    c->asked = c->looked = zt_os_elapsed();
    return ends;
  }
#if SQLITE_VERSION_NUMBER>=3041000
  if( sqlite3_libversion_number()>=3041000 ) return sqlite3_is_interrupted(c->db);
#endif
  if( now-c->looked<CONNECTION_GLANCE ) return false;
  ends = connection_ends(c->db, "SELECT 1");
  c->looked = zt_os_elapsed();
  return ends;
}

zt_interrupt zt_connection_interrupt(zt_connection *c){
  return (zt_interrupt){ connection_interrupted, c };
}

zt_budget zt_connection_budget(zt_connection *c){
  uint64_t limit = (uint64_t)sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1);
  return (zt_budget){ .result = limit, .decode = c->nofs ? limit : UINT64_MAX,
                      .interrupt = zt_connection_interrupt(c), .pool = zt_connection_pool(c),
                      .spare = c->spare };
}
