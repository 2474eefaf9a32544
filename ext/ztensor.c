/*
** ztensor: tensor files (zTensor 0.1 to 2) as SQL tables. The entry points of the loadable extension:
**
**   sqlite3_ztensor_init        what `.load ./ztensor` calls
**   sqlite3_ztensor_nofs_init   the same tables and functions for BLOB sources only: nothing opens a path
**
** Loading twice into one connection succeeds and changes nothing. What is refused is loading the nofs entry point where
** the other one is in force: whoever asks for nofs must not believe to have it.
*/
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "sqlite/tables.h"

#ifdef _WIN32
# define EXPORT __declspec(dllexport)
#else
# define EXPORT __attribute__((visibility("default")))
#endif

/* What this connection has loaded, as zt_version() tells, if it lets itself be asked: an authorizer or a progress handler
** may be in the way, and then nothing may be taken for granted. */
typedef enum loaded { LOADED_NONE, LOADED_ALL, LOADED_NOFS, LOADED_UNKNOWN } loaded;

static loaded what_is_loaded(sqlite3 *db){
  sqlite3_stmt *stmt = NULL;
  loaded found = LOADED_UNKNOWN;
  if( sqlite3_prepare_v2(db, "SELECT zt_version() GLOB '* nofs *'", -1, &stmt, NULL) ){
    if( strstr(sqlite3_errmsg(db), "no such function") ) found = LOADED_NONE;
  }else if( sqlite3_step(stmt)==SQLITE_ROW ){
    found = sqlite3_column_int(stmt, 0) ? LOADED_NOFS : LOADED_ALL;
  }
  sqlite3_finalize(stmt);
  return found;
}

static int register_functions(zt_connection *c, const zt_function *f){
  int rc = SQLITE_OK;
  for(; f->name && rc==SQLITE_OK; f++){
    c->references++;
    rc = sqlite3_create_function_v2(c->db, f->name, f->nArg, f->flags, c, f->call, NULL, NULL, zt_connection_release);
  }
  return rc;
}

/* Take the SQLite library that this call comes from. One image of this file serves one library: a second one in the process
** would take the first one's place. Threads load it at the same time, and while others run: the pointer is written once. */
static bool take_api(const sqlite3_api_routines *api){
#ifdef SQLITE_CORE
  (void)api;
  return true;
#else
  const sqlite3_api_routines *first = __atomic_load_n(&sqlite3_api, __ATOMIC_ACQUIRE);
  if( !first && __atomic_compare_exchange_n(&sqlite3_api, &first, api, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ) return true;
  return first==api;
#endif
}

static int load(sqlite3 *db, char **message, const sqlite3_api_routines *api, bool nofs){
#define TABLE(name) &zt_table_##name,
#define FUNCTION(name) zt_function_##name,
  static const zt_table *const tables[] = { ZT_TABLES(TABLE) };
  static const zt_function *const functions[] = { ZT_FUNCTIONS(FUNCTION) };
  zt_connection *c;
  int rc;
  if( !take_api(api) ){
    *message = api->mprintf("ztensor serves another SQLite library in this process already: load a copy of the file");
    return SQLITE_ERROR;
  }
  if( sqlite3_libversion_number()<3031000 ){
    *message = sqlite3_mprintf("ztensor needs SQLite 3.31 or later, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  switch( what_is_loaded(db) ){
    case LOADED_NONE: break;
    case LOADED_NOFS: return SQLITE_OK;
    case LOADED_UNKNOWN:
      *message = sqlite3_mprintf("ztensor: cannot tell what is loaded already: %s", sqlite3_errmsg(db));
      return SQLITE_ERROR;
    case LOADED_ALL:
      if( !nofs ) return SQLITE_OK;
      *message = sqlite3_mprintf("ztensor is loaded already, and opens files");
      return SQLITE_ERROR;
  }
  rc = zt_connection_new(db, nofs, &c);
  if( rc ) return rc;
  for(size_t i=0; i<sizeof(tables)/sizeof(*tables) && rc==SQLITE_OK; i++) rc = zt_scan_register(c, tables[i]);
  for(size_t i=0; i<sizeof(functions)/sizeof(*functions) && rc==SQLITE_OK; i++) rc = register_functions(c, functions[i]);
  zt_connection_release(c);
  return rc;
}

EXPORT int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
EXPORT int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api){
  return load(db, message, api, false);
}

EXPORT int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
EXPORT int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const sqlite3_api_routines *api){
  return load(db, message, api, true);
}
