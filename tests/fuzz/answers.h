/* A statement's answer, in a form that can be compared; and failing allocations, which must not change it. For the
** targets that ask one statement several times. */
#ifndef ZT_TESTS_ANSWERS_H
#define ZT_TESTS_ANSWERS_H

#include "fuzz.h"
#include "../oom/memory.h"
#include "../oom/rows.h"

/* --- Answers --- */

typedef struct answer {
  int rc;                  /* SQLITE_DONE, or the failure */
  int64_t rows;
  uint64_t sum;            /* The sum of the rows' hashes, the same in any order; and the hash of the failure's message */
  int64_t allocations;
} answer;

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
      memory.paused = true;    /* Failures to read a column are none of the extension's */
      a.sum += hash_row(0, s, 0);
      memory.paused = false;
    }
  }
  CHECK(a.rc==SQLITE_DONE || a.rc==SQLITE_ERROR || a.rc==SQLITE_TOOBIG || a.rc==SQLITE_INTERRUPT
        || (a.rc==SQLITE_NOMEM && memory.injected>0), "%s: %d, %s", sql, a.rc, sqlite3_errmsg(db));
  if( a.rc==SQLITE_ERROR ) a.sum += XXH3_64bits(sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
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
