/*
** A statement, run again and again while one of its allocations fails, or that one and all after it. It fails with
** SQLITE_NOMEM, after rows that are right, or makes do without that memory and gives exactly what it gives with memory
** enough; and then everything is as if nothing had happened: the connection gives the right answer, and no more memory is
** held.
*/
#ifndef ZT_TESTS_OOM_SWEEP_H
#define ZT_TESTS_OOM_SWEEP_H

#include "test.h"

#include "libraries.h"
#include "rows.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define EACH 400       /* Allocations that fail in turn; beyond, */
#define BEYOND 150     /* about so many of those that are left */
#define SLACK 4096     /* Bytes more that may be held: an index that could not be cut to its size, a schema that was half read */
#define LEAST 20       /* A statement makes more allocations than that, or it is not what is meant here */

/* Statements may name TREE, the directory that tree.h makes. */
typedef struct oom_case {
  const char *sql;
  const char *image;   /* ?1 is a BLOB of this file; NULL: there is no ?1 */
  const char *error;   /* The statement fails, and the message contains this; NULL: it has rows */
  const char *setup;   /* Statements before it, with memory enough */
  const char *after;   /* A query that shows what the statement wrote: no rows if it fails; NULL: it writes nothing */
  bool utf16, nofs;    /* The database's encoding; the entry point */
} oom_case;

static struct totals {
  unsigned cases;
  uint64_t injected;     /* Failures */
  uint64_t nomem, same;  /* Runs that failed with SQLITE_NOMEM; that gave the same as with memory enough */
  uint64_t passed_over;  /* Allocations that did not fail in turn */
} totals;

/* --- Answers --- */

typedef struct answer {
  int rc;
  uint64_t *rows;        /* A hash of each, owned */
  size_t n, room;
  char message[1000];    /* The failure's */
} answer;

static inline void answer_free(answer *a){
  free(a->rows);
  *a = (answer){ 0 };
}

static inline void add_row(answer *a, sqlite3_stmt *s){
  memory.paused = true;   /* The host's own allocations do not count */
  if( a->n==a->room ){
    a->room = a->room*2+64;
    a->rows = realloc(a->rows, a->room*sizeof(*a->rows));
    assert_non_null(a->rows);
  }
  a->rows[a->n++] = hash_row(0, s, 0);
  memory.paused = false;
}

/* --- Running --- */

static inline void execute(sqlite3 *db, const char *sql){
  check( sqlite3_exec(db, sql, NULL, NULL, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db) );
}

static inline sqlite3 *open_database(const oom_case *c){
  char *message = NULL;
  sqlite3 *db;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  if( c->utf16 ) execute(db, "PRAGMA encoding = 'UTF-16'");
  check( (c->nofs ? sqlite3_ztensor_nofs_init : sqlite3_ztensor_init)(db, &message, NULL)==SQLITE_OK, "%s", message );
  if( c->setup ) execute(db, c->setup);
  return db;
}

/* Prepare the statement if it is not, and run it to its end. */
static inline answer ask(sqlite3 *db, const char *sql, const blob *image, sqlite3_stmt **stmt){
  answer a = { 0 };
  if( !*stmt ){
    a.rc = sqlite3_prepare_v2(db, sql, -1, stmt, NULL);
    if( a.rc==SQLITE_OK && image->p ) a.rc = sqlite3_bind_blob(*stmt, 1, image->p, (int)image->n, SQLITE_STATIC);
  }
  if( a.rc==SQLITE_OK ) while( (a.rc = sqlite3_step(*stmt))==SQLITE_ROW ) add_row(&a, *stmt);
  memory.paused = true;
  if( a.rc!=SQLITE_DONE ) snprintf(a.message, sizeof(a.message), "%s", sqlite3_errmsg(db));
  memory.paused = false;
  if( *stmt ) sqlite3_reset(*stmt);
  return a;
}

static inline answer ask_once(sqlite3 *db, const char *sql){
  blob none = { 0 };
  sqlite3_stmt *s = NULL;
  answer a = ask(db, sql, &none, &s);
  sqlite3_finalize(s);
  return a;
}

/* --- Comparing --- */

/* The statement's result with enough memory, and the memory held after it. */
typedef struct expectation {
  const oom_case *c;
  blob image;
  answer answer, after;
  uint64_t calls;        /* Allocations of preparing and running it on a new connection */
  size_t held;           /* Bytes by the connection after it */
} expectation;

/* The first n rows are right. */
static inline bool same_rows(const answer *a, const answer *expected, size_t n){
  return n<=expected->n && (n==0 || memcmp(a->rows, expected->rows, n*sizeof(*a->rows))==0);
}

static inline void check_same(const answer *a, const answer *expected, const char *sql){
  check( a->rc==expected->rc && strcmp(a->message, expected->message)==0, "%s: %d, '%s' instead of %d, '%s'", sql, a->rc, a->message,
         expected->rc, expected->message );
  check( a->n==expected->n && same_rows(a, expected, a->n), "%s: %zu rows instead of %zu, or others", sql, a->n, expected->n );
}

/* The failure's own message. SQLite may lose its text, which it can do without; the code is the same. */
static inline bool same_message(const answer *a, const answer *expected){
  if( strcmp(a->message, expected->message)==0 ) return true;
  return memory.nBenign>0 && strcmp(a->message, sqlite3_errstr(expected->rc))==0;
}

/* Checks a run in which allocation `at` failed. */
static inline void check_answer(const answer *a, const expectation *e, uint64_t at, bool on){
  const answer *expected = &e->answer;
  const char *how = on ? "and all after it" : "alone";
  if( a->rc==SQLITE_NOMEM ){
    totals.nomem++;
    check( same_rows(a, expected, a->n), "%s: allocation %llu %s: other rows before the failure", e->c->sql, (unsigned long long)at, how );
    check( strcmp(a->message, "out of memory")==0, "%s: allocation %llu %s: '%s'", e->c->sql, (unsigned long long)at, how, a->message );
    return;
  }
  totals.same++;
  check( a->rc==expected->rc && same_message(a, expected) && a->n==expected->n && same_rows(a, expected, a->n),
         "%s: allocation %llu %s: %d, '%s' and %zu rows instead of %d, '%s' and %zu rows; or others", e->c->sql, (unsigned long long)at,
         how, a->rc, a->message, a->n, expected->rc, expected->message, expected->n );
}

/* The statement wrote everything, or nothing. */
static inline void check_after(sqlite3 *db, const expectation *e, bool done){
  answer a;
  if( !e->c->after ) return;
  a = ask_once(db, e->c->after);
  if( done ) check_same(&a, &e->after, e->c->after);
  else check( a.rc==SQLITE_DONE && a.n==0, "%s: it failed, and left %zu rows", e->c->sql, a.n );
  answer_free(&a);
}

/* Bytes held since there were `before`, what SQLite keeps only to be faster left out. */
static inline size_t held_since(sqlite3 *db, size_t before){
  sqlite3_db_release_memory(db);
  return memory.outstanding-before;
}

static inline void close_database(sqlite3 *db, size_t before, const char *sql){
  check( sqlite3_close(db)==SQLITE_OK, "%s: the connection cannot be closed", sql );
  check( memory.outstanding==before, "%s: %zd bytes were not given back", sql, (ssize_t)(memory.outstanding-before) );
}

/* --- The sweep --- */

static inline expectation expect(const oom_case *c){
  expectation e = { .c = c };
  size_t before = memory.outstanding;
  sqlite3 *db = open_database(c);
  sqlite3_stmt *s = NULL;
  bool right;
  if( c->image ) e.image = read_file(c->image);
  memory_arm(0, false);
  e.answer = ask(db, c->sql, &e.image, &s);
  e.calls = memory.calls;
  sqlite3_finalize(s);
  if( c->after ) e.after = ask_once(db, c->after);
  e.held = held_since(db, before);
  close_database(db, before, c->sql);
  if( c->error ) right = e.answer.rc==SQLITE_ERROR && strstr(e.answer.message, c->error);
  else right = e.answer.rc==SQLITE_DONE && (e.answer.n>0 || e.after.n>0);
  check( right, "%s: %d, '%s'", c->sql, e.answer.rc, e.answer.message );
  check( e.calls>=LEAST, "%s: %llu allocations", c->sql, (unsigned long long)e.calls );
  return e;
}

static inline void expectation_free(expectation *e){
  answer_free(&e->answer);
  answer_free(&e->after);
  free(e->image.p);
}

/* The allocation to fail after number n; the first `each` fail in turn. */
static inline uint64_t following(uint64_t n, uint64_t calls, uint64_t each){
  uint64_t step = n<each || calls<=each ? 1 : (calls-each)/BEYOND+1;
  totals.passed_over += step-1;
  return n+step;
}

/* One run on a new connection. True if an allocation failed. */
static inline bool run_new(const expectation *e, uint64_t at, bool on){
  size_t before = memory.outstanding, held;
  sqlite3 *db = open_database(e->c);
  sqlite3_stmt *s = NULL;
  answer a;
  memory_arm(at, on);
  a = ask(db, e->c->sql, &e->image, &s);
  memory.fails_at = 0;
  totals.injected += memory.injected;
  if( memory.injected==0 ) check_same(&a, &e->answer, e->c->sql);
  else check_answer(&a, e, at, on);
  check_after(db, e, a.rc!=SQLITE_NOMEM);
  if( a.rc==SQLITE_NOMEM ){   /* As if nothing had happened */
    answer again = ask(db, e->c->sql, &e->image, &s);
    check_same(&again, &e->answer, e->c->sql);
    check_after(db, e, true);
    answer_free(&again);
  }
  answer_free(&a);
  sqlite3_finalize(s);
  held = held_since(db, before);
  check( held<=e->held+SLACK, "%s: allocation %llu failed, and %zu bytes are held instead of %zu", e->c->sql,
         (unsigned long long)at, held, e->held );
  close_database(db, before, e->c->sql);
  return memory.injected>0;
}

/* On a new connection each time: preparing, connecting to the tables and all that is first are part of it. */
static inline void sweep_new(const expectation *e){
  for(int on=0; on<2; on++){
    uint64_t n = 1, nomem = totals.nomem;
    while( run_new(e, n, on) ) n = following(n, e->calls, EACH);
    check( n>LEAST && totals.nomem>nomem, "%s: %llu runs, never SQLITE_NOMEM", e->c->sql, (unsigned long long)n );
  }
}

/* One statement on one connection, run again and again: what a connection remembers is there. Statements with rows alone need
** no memory at all for a second run, perhaps. */
static inline void sweep_again(const expectation *e){
  size_t before = memory.outstanding, held;
  sqlite3 *db = open_database(e->c);
  sqlite3_stmt *s = NULL;
  answer a = ask(db, e->c->sql, &e->image, &s);
  check_same(&a, &e->answer, e->c->sql);
  answer_free(&a);
  held = held_since(db, before);
  for(int on=0; on<2; on++){
    for(uint64_t n=1; ; n=following(n, e->calls, EACH)){
      memory_arm(n, on);
      a = ask(db, e->c->sql, &e->image, &s);
      memory.fails_at = 0;
      totals.injected += memory.injected;
      if( memory.injected==0 ) check_same(&a, &e->answer, e->c->sql);
      else check_answer(&a, e, n, on);
      answer_free(&a);
      check( held_since(db, before)<=held+SLACK, "%s: allocation %llu of a second run failed, and %zu bytes are held instead of %zu",
             e->c->sql, (unsigned long long)n, held_since(db, before), held );
      if( memory.injected==0 ) break;
    }
  }
  sqlite3_finalize(s);
  close_database(db, before, e->c->sql);
}

static inline void sweep(const oom_case *c){
  expectation e = expect(c);
  sweep_new(&e);
  if( !c->after ) sweep_again(&e);
  totals.cases++;
  expectation_free(&e);
}

#endif
