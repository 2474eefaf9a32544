/* What a statement answers, in a form that can be compared; and allocations that fail, which must not change it. For the
** targets that ask one statement several times. */
#ifndef ZT_TESTS_ANSWERS_H
#define ZT_TESTS_ANSWERS_H

#include "fuzz.h"
#include "../oom/memory.h"

/* --- Answers --- */

typedef struct answer {
  int rc;                  /* SQLITE_DONE, or the failure */
  int64_t rows;
  uint64_t sum;            /* Of the rows' hashes, the same in any order; and of the failure's message */
  int64_t allocations;
} answer;

static uint64_t hash(uint64_t h, const void *p, size_t n){
  const uint8_t *bytes = p;
  for(size_t i=0; i<n; i++) h = (h ^ bytes[i]) * 0x100000001B3u;
  return h;
}

static uint64_t hash_row(sqlite3_stmt *s){
  uint64_t h = 0xCBF29CE484222325u;
  memory.paused = true;    /* Reading a column may allocate, too; failures there are none of the extension's */
  for(int i=0; i<sqlite3_column_count(s); i++){
    int type = sqlite3_column_type(s, i);
    sqlite3_int64 integer = sqlite3_column_int64(s, i);
    double real = sqlite3_column_double(s, i);
    h = hash(h, &type, sizeof(type));
    if( type==SQLITE_INTEGER ) h = hash(h, &integer, sizeof(integer));
    if( type==SQLITE_FLOAT ) h = hash(h, &real, sizeof(real));
    if( type==SQLITE_TEXT ) h = hash(h, sqlite3_column_text(s, i), (size_t)sqlite3_column_bytes(s, i));
    if( type==SQLITE_BLOB ) h = hash(h, sqlite3_column_blob(s, i), (size_t)sqlite3_column_bytes(s, i));
  }
  memory.paused = false;
  return h;
}

/* Run a statement to its end. bind gives it its values. */
static answer ask(sqlite3 *db, const char *sql, void (*bind)(sqlite3_stmt *s)){
  answer a = { 0 };
  sqlite3_stmt *s = NULL;
  uint64_t calls = memory.calls;
  a.rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
  if( a.rc==SQLITE_OK ){
    bind(s);
    while( (a.rc = sqlite3_step(s))==SQLITE_ROW ){
      a.rows++;
      a.sum += hash_row(s);
    }
  }
  CHECK(a.rc==SQLITE_DONE || a.rc==SQLITE_ERROR || a.rc==SQLITE_TOOBIG || a.rc==SQLITE_INTERRUPT
        || (a.rc==SQLITE_NOMEM && memory.injected>0), "%s: %d, %s", sql, a.rc, sqlite3_errmsg(db));
  if( a.rc==SQLITE_ERROR ) a.sum += hash(0, sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
  sqlite3_finalize(s);
  a.allocations = (int64_t)(memory.calls-calls);
  return a;
}

/* Run it again while allocation number `at` fails, and those after it if `on`: that must give SQLITE_NOMEM or make no
** difference. */
static void ask_failing(sqlite3 *db, const char *sql, void (*bind)(sqlite3_stmt *s), const answer *expected, int64_t at, bool on){
  answer a;
  memory_arm((uint64_t)at, on);
  a = ask(db, sql, bind);
  memory_arm(0, false);
  if( a.rc==SQLITE_NOMEM || a.rc==SQLITE_INTERRUPT || expected->rc==SQLITE_INTERRUPT ) return;
  CHECK(a.rc==expected->rc && a.rows==expected->rows && a.sum==expected->sum,
        "%s: allocation %lld failed: %d and %lld rows, else %d and %lld rows; or others: %s", sql, (long long)at, a.rc,
        (long long)a.rows, expected->rc, (long long)expected->rows, sqlite3_errmsg(db));
}

#endif
