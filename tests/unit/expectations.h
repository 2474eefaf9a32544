/*
** SQLite itself reads the JSON files with the expected contents of golden and hostile files.
*/
#ifndef ZT_TESTS_UNIT_EXPECTATIONS_H
#define ZT_TESTS_UNIT_EXPECTATIONS_H

#include "test.h"

static sqlite3 *db;

static inline int open_db(void **state){
  (void)state;
  return sqlite3_open(":memory:", &db);
}

static inline int close_db(void **state){
  (void)state;
  return sqlite3_close(db);
}

/* A member of the row's object. */
#define FIELD(name) "json_extract(value, '$." name "')"

/* The rows that sql gives for the JSON text in the file, which is ?1. */
static inline sqlite3_stmt *query(const char *sql, const char *path){
  sqlite3_stmt *statement;
  blob json = read_file(path);
  check( sqlite3_prepare_v2(db, sql, -1, &statement, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db) );
  assert_int_equal(sqlite3_bind_text(statement, 1, (char*)json.p, (int)json.n, SQLITE_TRANSIENT), SQLITE_OK);
  free(json.p);
  return statement;
}

static inline zt_text column(sqlite3_stmt *statement, int i){
  const char *z = (const char*)sqlite3_column_text(statement, i);
  return (zt_text){ z, (size_t)sqlite3_column_bytes(statement, i) };
}

#endif
