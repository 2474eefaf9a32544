/*
** The sqlite3 shell of this system needs this to run on another SQLite than the one that it was built with. It is linked into
** the library under test, whose own code does not see it:
**
**   sqlite3_sourceid()   the shell compares it with the library that it was built with, and gives up if it differs.
**                        In the library under test the function has another name (sqlite3_own_sourceid).
**   the others           the shell imports them, and an older library does not have them.
*/
#include "sqlite3.h"

const char *sqlite3_sourceid(void){ return SHELL_SOURCE_ID; }

#if SQLITE_VERSION_NUMBER<3034000
int sqlite3_txn_state(sqlite3 *db, const char *schema);
int sqlite3_txn_state(sqlite3 *db, const char *schema){
  (void)schema;
  return !sqlite3_get_autocommit(db);
}
#endif

#if SQLITE_VERSION_NUMBER<3037000
sqlite3_int64 sqlite3_changes64(sqlite3 *db);
sqlite3_int64 sqlite3_changes64(sqlite3 *db){ return sqlite3_changes(db); }

sqlite3_int64 sqlite3_total_changes64(sqlite3 *db);
sqlite3_int64 sqlite3_total_changes64(sqlite3 *db){ return sqlite3_total_changes(db); }
#endif

#if SQLITE_VERSION_NUMBER<3038000
int sqlite3_error_offset(sqlite3 *db);
int sqlite3_error_offset(sqlite3 *db){
  (void)db;
  return -1;   /* Not known */
}
#endif
