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

#include "core/os.h"
#include "sqlite/tables.h"

#ifdef _WIN32
# define EXPORT __declspec(dllexport)
#else
# define EXPORT __attribute__((visibility("default")))
#endif

/* What this connection has loaded, as zt_version() tells, if it lets itself be asked: an authorizer or a progress handler
** may be in the way, and then nothing may be taken for granted. SQLITE_NOMEM: there is no memory to ask with. */
typedef enum loaded { LOADED_NONE, LOADED_ALL, LOADED_NOFS, LOADED_UNKNOWN } loaded;

static int what_is_loaded(sqlite3 *db, loaded *out){
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT zt_version() GLOB '* nofs *'", -1, &stmt, NULL);
  *out = LOADED_UNKNOWN;
  if( rc==SQLITE_OK ){
    rc = sqlite3_step(stmt);
    if( rc==SQLITE_ROW ) *out = sqlite3_column_int(stmt, 0) ? LOADED_NOFS : LOADED_ALL;
  }else if( strstr(sqlite3_errmsg(db), "no such function") ){
    *out = LOADED_NONE;
  }
  sqlite3_finalize(stmt);
  return rc==SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/* --- Registration --- */

#define TABLE(name) &zt_table_##name,
#define MODULE(name) &zt_module_##name,
#define FUNCTION(name) zt_function_##name,
static const zt_table *const tables[] = { ZT_TABLES(TABLE) };
static const zt_module *const modules[] = { ZT_MODULES(MODULE) };
static const zt_function *const families[] = { ZT_FUNCTIONS(FUNCTION) };
#define N(array) (sizeof(array)/sizeof((array)[0]))

/* Function number i of all families; NULL behind the last one. */
static const zt_function *function_at(size_t i){
  for(size_t family=0; family<N(families); family++){
    for(const zt_function *f=families[family]; f->name; f++) if( i--==0 ) return f;
  }
  return NULL;
}

/* Take back the first tables, modules and functions. SQLite unloads a library whose loading has
** failed, so that nothing of it may be left. A function that cannot be taken back, as none can while a statement runs, keeps it. */
static void take_back(sqlite3 *db, size_t nTable, size_t nModule, size_t nFunction){
  int rc = SQLITE_OK;
  for(size_t i=0; i<nTable; i++) rc |= sqlite3_create_module_v2(db, tables[i]->name, NULL, NULL, NULL);
  for(size_t i=0; i<nModule; i++){
    rc |= sqlite3_create_module_v2(db, modules[i]->name, NULL, NULL, NULL);
  }
  for(size_t i=0; i<nFunction; i++){
    const zt_function *f = function_at(i);
    rc |= sqlite3_create_function_v2(db, f->name, f->nArg, f->flags, NULL, NULL, NULL, NULL, NULL);
  }
  if( rc ) zt_os_stay_loaded();
}

/* Register everything, or nothing. */
static int register_all(zt_connection *c){
  const zt_function *f;
  size_t nTable = 0, nModule = 0, nFunction = 0;
  int rc = SQLITE_OK;
  while( nTable<N(tables) && (rc = zt_scan_register(c, tables[nTable]))==SQLITE_OK ) nTable++;
  while( rc==SQLITE_OK && nModule<N(modules) ){
    const zt_module *m = modules[nModule];
    rc = sqlite3_create_module_v2(c->db, m->name, &m->methods, NULL, NULL);
    if( rc==SQLITE_OK ) nModule++;
  }
  while( rc==SQLITE_OK && (f = function_at(nFunction))!=NULL ){
    c->references++;
    rc = sqlite3_create_function_v2(c->db, f->name, f->nArg, f->flags, c, f->call, NULL, NULL, zt_connection_release);
    if( rc==SQLITE_OK ) nFunction++;
  }
  if( rc ) take_back(c->db, nTable, nModule, nFunction);
  return rc;
}

/* --- Entry points --- */

/* Take the SQLite library that this call comes from. One image of this file serves one library: a second one in the process
** would take the first one's place. Threads load it at the same time, and while others run: the pointer is written once. */
static bool take_api(const sqlite3_api_routines *api){
#ifdef SQLITE_CORE
  (void)api;
  return true;
#else
  const sqlite3_api_routines *first = __atomic_load_n(&sqlite3_api, __ATOMIC_ACQUIRE);
  if( first ) return first==api;
  return __atomic_compare_exchange_n(&sqlite3_api, &first, api, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || first==api;
#endif
}

/* Give the message that the load fails with; NULL: there was no memory for it. */
static int refuse(char **message, char *text){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int load(sqlite3 *db, char **message, const sqlite3_api_routines *api, bool nofs){
  zt_connection *c;
  loaded before;
  int rc;
  if( !take_api(api) ){
    return refuse(message, api->mprintf("ztensor serves another SQLite library in this process already: load a copy of the file"));
  }
  if( sqlite3_libversion_number()<3031000 ){
    return refuse(message, sqlite3_mprintf("ztensor needs SQLite 3.31 or later, this is %s", sqlite3_libversion()));
  }
  rc = what_is_loaded(db, &before);
  if( rc ) return rc;
  switch( before ){
    case LOADED_NONE: break;
    case LOADED_NOFS: return SQLITE_OK;
    case LOADED_UNKNOWN:
      return refuse(message, sqlite3_mprintf("ztensor: cannot tell what is loaded already: %s", sqlite3_errmsg(db)));
    case LOADED_ALL:
      return nofs ? refuse(message, sqlite3_mprintf("ztensor is loaded already, and opens files")) : SQLITE_OK;
  }
  rc = zt_connection_new(db, nofs, &c);
  if( rc ) return rc;
  rc = register_all(c);
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
