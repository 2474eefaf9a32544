/* What the tables and functions of one connection share. See connection.h. */
#include "sqlite/connection.h"

int zt_connection_new(sqlite3 *db, bool nofs, zt_connection **out){
  zt_connection *c = sqlite3_malloc64(sizeof(*c));
  *out = NULL;
  if( !c ) return SQLITE_NOMEM;
  *c = (zt_connection){ .db = db, .references = 1, .nofs = nofs, .spare = zt_spare_new() };
  c->cache = zt_cache_new(ZT_CACHE_BYTES, zt_connection_interrupt(c));
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
  zt_spare_release(c->spare);
  sqlite3_free(c);
}

/* Before SQLite 3.41 nothing tells directly; but a statement that starts while another one runs, as one does whenever
** this is asked, ends at once with SQLITE_INTERRUPT. None is kept: it would keep the connection from closing. */
static bool interrupted_by_statement(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT 1", -1, &stmt, NULL);
  if( rc==SQLITE_OK ) rc = sqlite3_step(stmt);
  sqlite3_finalize(stmt);
  return rc==SQLITE_INTERRUPT;
}

static bool interrupted(void *context){
  zt_connection *c = context;
#if SQLITE_VERSION_NUMBER>=3041000
  if( sqlite3_libversion_number()>=3041000 ) return sqlite3_is_interrupted(c->db)!=0;
#endif
  return interrupted_by_statement(c->db);
}

zt_interrupt zt_connection_interrupt(zt_connection *c){
  return (zt_interrupt){ interrupted, c };
}

zt_budget zt_connection_budget(zt_connection *c){
  uint64_t limit = (uint64_t)sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1);
  return (zt_budget){ .result = limit, .decode = c->nofs ? limit : UINT64_MAX, .interrupt = zt_connection_interrupt(c),
                      .spare = c->spare };
}
