/*
** ztensor: tensor files as SQL tables. The entry points of the loadable extension:
**
**   sqlite3_ztensor_init        the entry point of `.load ./ztensor`
**   sqlite3_ztensor_nofs_init   the same for BLOB sources only; paths are refused
**   sqlite3_ztensor_write_init  the same as the first, and zt_writer, which writes files
**   sqlite3_ztensor_remote_init the same as the first, and sources on web servers, in S3 and on the
**                               hub, as far as ZTENSOR_REMOTE allows; zt_remote(). Builds with
**                               REMOTE=0 lack it
**
** Loading twice into one connection succeeds and changes nothing; the write and remote entry points
** add to what is there. Loading the nofs entry point after another one is refused, because the
** connection would keep opening files; and so is loading those two after it.
*/
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stdlib.h>
#include "bindings.h"
#include "core/os.h"
#include "sqlite/methods.h"
#include "sqlite/tables.h"

/* The entry point that this connection has loaded. */
typedef enum ztensor_loaded {
  ZTENSOR_LOADED_NONE, ZTENSOR_LOADED_ALL, ZTENSOR_LOADED_NOFS, ZTENSOR_LOADED_UNKNOWN
} ztensor_loaded;

/* Ask zt_version() for the loaded entry point. It is unknown if an authorizer or a progress handler
** prevents the query. SQLITE_NOMEM: the query ran out of memory. */
static int ztensor_what_is_loaded(sqlite3 *db, ztensor_loaded *out){
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT zt_version() GLOB '* nofs *'", -1, &stmt, NULL);
  *out = ZTENSOR_LOADED_UNKNOWN;
  if( rc==SQLITE_OK ){
    rc = sqlite3_step(stmt);
    if( rc==SQLITE_ROW ){
      *out = sqlite3_column_int(stmt, 0) ? ZTENSOR_LOADED_NOFS : ZTENSOR_LOADED_ALL;
    }
  }else if( strstr(sqlite3_errmsg(db), "no such function") ){
    *out = ZTENSOR_LOADED_NONE;
    /* sqlite3_open() takes the connection's last error for one of an automatic extension */
    (void)sqlite3_exec(db, "", NULL, NULL, NULL);
  }
  sqlite3_finalize(stmt);
  return rc==SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/* --- Registration --- */

#define ZTENSOR_TABLE(name) &zt_table_##name,
#define ZTENSOR_MODULE(name) &zt_module_##name,
#define ZTENSOR_FUNCTION(name) zt_function_##name,
static const zt_table *const ztensor_tables[] = { ZT_TABLES(ZTENSOR_TABLE) };
static const zt_module *const ztensor_modules[] = { ZT_MODULES(ZTENSOR_MODULE) };
static const zt_function *const ztensor_families[] = { ZT_FUNCTIONS(ZTENSOR_FUNCTION) };
#define ZTENSOR_AGGREGATE(name) &zt_aggregate_##name,
static const zt_aggregate *const ztensor_aggregates[] = { ZT_AGGREGATES(ZTENSOR_AGGREGATE) };
#define ZTENSOR_COUNT(array) (sizeof(array)/sizeof((array)[0]))

/* Function i of all families; NULL if there are fewer. */
static const zt_function *ztensor_function_at(size_t i){
  for(size_t family=0; family<ZTENSOR_COUNT(ztensor_families); family++){
    for(const zt_function *f=ztensor_families[family]; f->name; f++) if( i--==0 ) return f;
  }
  return NULL;
}

static int ztensor_register_aggregate(zt_connection *c, const zt_aggregate *a){
  c->references++;
  return sqlite3_create_function_v2(c->db, a->name, a->nArg, a->flags, c, NULL, a->step, a->end,
                                    zt_connection_release);
}

/* Remove the first tables, modules and functions, and all aggregates. SQLite unloads a library
** whose loading has failed, so nothing may remain registered. A function cannot be removed while a
** statement runs; then the library stays loaded. */
static void ztensor_take_back(sqlite3 *db, size_t nTable, size_t nModule, size_t nFunction){
  int rc = SQLITE_OK;
  for(size_t i=0; i<nTable; i++){
    rc |= sqlite3_create_module_v2(db, ztensor_tables[i]->name, NULL, NULL, NULL);
  }
  for(size_t i=0; i<nModule; i++){
    rc |= sqlite3_create_module_v2(db, ztensor_modules[i]->name, NULL, NULL, NULL);
  }
  for(size_t i=0; i<nFunction; i++){
    const zt_function *f = ztensor_function_at(i);
    rc |= sqlite3_create_function_v2(db, f->name, f->nArg, f->flags, NULL, NULL, NULL, NULL, NULL);
  }
  for(size_t i=0; i<ZTENSOR_COUNT(ztensor_aggregates); i++){
    const zt_aggregate *a = ztensor_aggregates[i];
    rc |= sqlite3_create_function_v2(db, a->name, a->nArg, a->flags, NULL, NULL, NULL, NULL, NULL);
  }
  if( rc ) zt_os_stay_loaded();
}

static void ztensor_take_back_all(sqlite3 *db){
  size_t nFunction = 0;
  while( ztensor_function_at(nFunction) ) nFunction++;
  ztensor_take_back(db, ZTENSOR_COUNT(ztensor_tables), ZTENSOR_COUNT(ztensor_modules), nFunction);
}

/* Register everything, or nothing. */
static int ztensor_register_all(zt_connection *c){
  const zt_function *f;
  size_t nTable = 0, nModule = 0, nFunction = 0;
  int rc = SQLITE_OK;
  while( nTable<ZTENSOR_COUNT(ztensor_tables)
      && (rc = zt_methods_register(c, ztensor_tables[nTable]))==SQLITE_OK ){
    nTable++;
  }
  while( rc==SQLITE_OK && nModule<ZTENSOR_COUNT(ztensor_modules) ){
    const zt_module *m = ztensor_modules[nModule];
    c->references++;
    rc = sqlite3_create_module_v2(c->db, m->name, &m->methods, c, zt_connection_release);
    if( rc==SQLITE_OK ) nModule++;
  }
  while( rc==SQLITE_OK && (f = ztensor_function_at(nFunction))!=NULL ){
    c->references++;
    rc = sqlite3_create_function_v2(c->db, f->name, f->nArg, f->flags, c, f->call, NULL, NULL,
                                    zt_connection_release);
    if( rc==SQLITE_OK ) nFunction++;
  }
  for(size_t i=0; rc==SQLITE_OK && i<ZTENSOR_COUNT(ztensor_aggregates); i++){
    rc = ztensor_register_aggregate(c, ztensor_aggregates[i]);
  }
  if( rc ) ztensor_take_back(c->db, nTable, nModule, nFunction);
  return rc;
}

/* --- Entry points --- */

typedef enum ztensor_entry {
  ZTENSOR_ENTRY_ALL, ZTENSOR_ENTRY_NOFS, ZTENSOR_ENTRY_WRITE, ZTENSOR_ENTRY_REMOTE
} ztensor_entry;

/* The state of the connection that an earlier entry point made; NULL: it cannot be asked. */
static zt_connection *ztensor_loaded_connection(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  zt_connection *c = NULL;
  if( sqlite3_prepare_v2(db, "SELECT zt_threads(?)", -1, &stmt, NULL)==SQLITE_OK
   && sqlite3_bind_pointer(stmt, 1, &c, ZT_CONNECTION_POINTER, NULL)==SQLITE_OK ){
    (void)sqlite3_step(stmt);
  }
  sqlite3_finalize(stmt);
  return c;
}

static bool ztensor_writer_is_there(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  bool there = false;
  if( sqlite3_prepare_v2(db, "SELECT 1 FROM pragma_module_list WHERE name='zt_writer'", -1, &stmt,
                         NULL)==SQLITE_OK ){
    there = sqlite3_step(stmt)==SQLITE_ROW;
  }
  sqlite3_finalize(stmt);
  return there;
}

/* Register zt_writer. */
static int ztensor_register_writer(zt_connection *c){
  c->references++;
  return sqlite3_create_module_v2(c->db, zt_module_writer.name, &zt_module_writer.methods, c,
                                  zt_connection_release);
}

#if ZT_REMOTE
/* Let the connection reach what the environment allows, and register zt_remote(). */
static int ztensor_register_remote(zt_connection *c, char **message){
  zt_error err = ZT_ERROR_NONE;
  int rc;
  if( c->remote ) return SQLITE_OK;
  rc = zt_remote_new(getenv("ZTENSOR_REMOTE"), zt_connection_interrupt(c), &c->remote, &err);
  if( rc==SQLITE_ERROR ){
    *message = err.message;
    err.message = NULL;
  }
  zt_error_clear(&err);
  for(const zt_function *f=zt_function_remote; rc==SQLITE_OK && f->name; f++){
    c->references++;
    rc = sqlite3_create_function_v2(c->db, f->name, f->nArg, f->flags, c, f->call, NULL, NULL,
                                    zt_connection_release);
  }
  for(const zt_function *f=zt_function_remote; rc && f->name; f++){
    sqlite3_create_function_v2(c->db, f->name, f->nArg, f->flags, NULL, NULL, NULL, NULL, NULL);
  }
  return rc;
}
#endif

/* Register what the entry point adds to the tables and functions of all. */
static int ztensor_register_more(zt_connection *c, ztensor_entry entry, char **message){
  (void)message;
  if( entry==ZTENSOR_ENTRY_WRITE && !ztensor_writer_is_there(c->db) ){
    return ztensor_register_writer(c);
  }
#if ZT_REMOTE
  if( entry==ZTENSOR_ENTRY_REMOTE ) return ztensor_register_remote(c, message);
#endif
  return SQLITE_OK;
}

/* Take the API of the calling SQLite library. An image of this file serves one library, because a
** second library in the process would overwrite the first one's pointer. The pointer is written
** once, because a thread may load the extension while others run it. */
static bool ztensor_take_api(const sqlite3_api_routines *api){
#ifdef SQLITE_CORE
  (void)api;
  return true;
#else
  const sqlite3_api_routines *first = __atomic_load_n(&sqlite3_api, __ATOMIC_ACQUIRE);
  if( first ) return first==api;
  return __atomic_compare_exchange_n(&sqlite3_api, &first, api, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) || first==api;
#endif
}

/* Set the message of a failed load; NULL: out of memory. */
static int ztensor_refuse(char **message, char *text){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int ztensor_refuse_unknown(sqlite3 *db, char **message){
  if( (sqlite3_errcode(db) & 0xff)==SQLITE_NOMEM ) return SQLITE_NOMEM;
  return ztensor_refuse(message, sqlite3_mprintf("ztensor: cannot tell what is loaded already: %s",
                                                 sqlite3_errmsg(db)));
}

/* Add to what an earlier entry point loaded. */
static int ztensor_load_more(sqlite3 *db, char **message, ztensor_entry entry){
  zt_connection *c;
  if( entry==ZTENSOR_ENTRY_ALL ) return SQLITE_OK;
  c = ztensor_loaded_connection(db);
  return c ? ztensor_register_more(c, entry, message) : ztensor_refuse_unknown(db, message);
}

static int ztensor_load_entry(sqlite3 *db, char **message, const sqlite3_api_routines *api,
                              ztensor_entry entry){
  zt_connection *c;
  ztensor_loaded before;
  int rc;
  if( !ztensor_take_api(api) ){
    return ztensor_refuse(message,
                          api->mprintf("ztensor serves another SQLite library in this process"
                                       " already: load a copy of the file"));
  }
  if( sqlite3_libversion_number()<3031000 ){
    return ztensor_refuse(message,
                          sqlite3_mprintf("ztensor needs SQLite 3.31 or later, this is %s",
                                          sqlite3_libversion()));
  }
  rc = ztensor_what_is_loaded(db, &before);
  if( rc ) return rc;
  switch( before ){
    case ZTENSOR_LOADED_NONE: break;
    case ZTENSOR_LOADED_NOFS:
      return entry==ZTENSOR_ENTRY_WRITE || entry==ZTENSOR_ENTRY_REMOTE
           ? ztensor_refuse(message,
                            sqlite3_mprintf("ztensor is loaded already, and opens no files"))
           : SQLITE_OK;
    case ZTENSOR_LOADED_UNKNOWN: return ztensor_refuse_unknown(db, message);
    case ZTENSOR_LOADED_ALL:
      if( entry==ZTENSOR_ENTRY_NOFS ){
        return ztensor_refuse(message,
                              sqlite3_mprintf("ztensor is loaded already, and opens files"));
      }
      return ztensor_load_more(db, message, entry);
  }
  rc = zt_connection_new(db, entry==ZTENSOR_ENTRY_NOFS, &c);
  if( rc ) return rc;
  rc = ztensor_register_all(c);
  if( rc==SQLITE_OK ){
    rc = ztensor_register_more(c, entry, message);
    if( rc ) ztensor_take_back_all(db);
  }
  zt_connection_release(c);
  return rc;
}

/* The connection that this thread loaded last; NULL: it failed, or was taken. */
static _Thread_local sqlite3 *ztensor_last;

sqlite3 *sqlite3_ztensor_loaded(void){
  sqlite3 *db = ztensor_last;
  ztensor_last = NULL;
  return db;
}

static int ztensor_load(sqlite3 *db, char **message, const sqlite3_api_routines *api,
                        ztensor_entry entry){
  int rc = ztensor_load_entry(db, message, api, entry);
  ztensor_last = rc ? NULL : db;
  return rc;
}

ZTENSOR_EXPORT int sqlite3_ztensor_init(sqlite3 *db, char **message,
                                        const sqlite3_api_routines *api);
ZTENSOR_EXPORT int sqlite3_ztensor_init(sqlite3 *db, char **message,
                                        const sqlite3_api_routines *api){
  return ztensor_load(db, message, api, ZTENSOR_ENTRY_ALL);
}

ZTENSOR_EXPORT int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message,
                                             const sqlite3_api_routines *api);
ZTENSOR_EXPORT int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message,
                                             const sqlite3_api_routines *api){
  return ztensor_load(db, message, api, ZTENSOR_ENTRY_NOFS);
}

ZTENSOR_EXPORT int sqlite3_ztensor_write_init(sqlite3 *db, char **message,
                                              const sqlite3_api_routines *api);
ZTENSOR_EXPORT int sqlite3_ztensor_write_init(sqlite3 *db, char **message,
                                              const sqlite3_api_routines *api){
  return ztensor_load(db, message, api, ZTENSOR_ENTRY_WRITE);
}

#if ZT_REMOTE
ZTENSOR_EXPORT int sqlite3_ztensor_remote_init(sqlite3 *db, char **message,
                                               const sqlite3_api_routines *api);
ZTENSOR_EXPORT int sqlite3_ztensor_remote_init(sqlite3 *db, char **message,
                                               const sqlite3_api_routines *api){
  return ztensor_load(db, message, api, ZTENSOR_ENTRY_REMOTE);
}
#endif
