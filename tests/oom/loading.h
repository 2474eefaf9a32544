/*
** Loading while memory runs out: it succeeds as a whole, or fails with SQLITE_NOMEM and leaves nothing behind, so that it can
** be tried again.
*/
#ifndef ZT_TESTS_OOM_LOADING_H
#define ZT_TESTS_OOM_LOADING_H

#include "complete.h"

int sqlite3_ztensor_write_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

typedef int (*entry_point)(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static const char *extension;   /* The file, for sqlite3_load_extension() */

/* How many of the extension's functions and tables a connection has. */
static inline size_t count_registered(sqlite3 *db){
  used functions = registered(db, FUNCTIONS), modules = registered(db, MODULES);
  size_t n = functions.n+modules.n;
  used_free(&functions);
  used_free(&modules);
  return n;
}

/* How many a connection has after that entry point; NULL: none. */
static inline size_t count_loaded(entry_point load){
  char *message = NULL;
  sqlite3 *db;
  size_t n;
  if( !load ) return 0;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  assert_int_equal(load(db, &message, NULL), SQLITE_OK);
  n = count_registered(db);
  sqlite3_close(db);
  assert_true(n>=20);
  return n;
}

/* A way to load, into a connection on which `before` was called already, if it is not NULL. */
typedef struct loading {
  const char *what;
  entry_point load, before;
  const char *error;       /* It fails, and the message contains this; NULL: it succeeds */
} loading;

/* How many there are after it. */
static inline size_t count_all(const loading *l){
  if( l->error ) return count_loaded(l->before);
  return count_loaded(l->load==sqlite3_ztensor_write_init ? l->load : sqlite3_ztensor_init);
}

static inline int load_extension(sqlite3 *db, char **message, const sqlite3_api_routines *unused){
  (void)unused;
  sqlite3_enable_load_extension(db, 1);
  return sqlite3_load_extension(db, extension, NULL, message);
}

/* As SQL does it: a statement is running. */
static inline int select_extension(sqlite3 *db, char **message, const sqlite3_api_routines *unused){
  char *sql;
  int rc;
  (void)unused;
  sqlite3_enable_load_extension(db, 1);
  memory.paused = true;
  sql = sqlite3_mprintf("SELECT load_extension(%Q)", extension);
  memory.paused = false;
  rc = sqlite3_exec(db, sql, NULL, NULL, message);
  sqlite3_free(sql);
  return rc;
}

/* SQLite makes SQLITE_ERROR of every failure of a file's entry point, and has a message of its own. */
static inline bool is_file(const loading *l){
  return l->load==load_extension || l->load==select_extension;
}

static inline void check_loaded(const loading *l, int rc, const char *message, uint64_t n){
  bool expected, nomem = memory.injected>0 && (rc==SQLITE_NOMEM || (is_file(l) && rc==SQLITE_ERROR));
  if( nomem ) totals.nomem++;
  else if( memory.injected ) totals.same++;
  if( nomem && !is_file(l) ) check( message==NULL, "%s: allocation %llu: '%s'", l->what, (unsigned long long)n, message );
  if( nomem ) return;
  if( l->error ) expected = rc==SQLITE_ERROR && message && strstr(message, l->error);
  else expected = rc==SQLITE_OK;
  check( expected, "%s: allocation %llu: %d, '%s'", l->what, (unsigned long long)n, rc, message ? message : "" );
}

/* SQLite may fail after the entry point succeeded, when it notes the library: then everything is there. Within a statement
** functions cannot be taken back. */
static inline bool may_be_left(const loading *l, int rc, size_t found, size_t all){
  return rc!=SQLITE_OK && ((is_file(l) && found==all) || l->load==select_extension);
}

/* One try, with memory for all but allocation n. True if that was needed. */
static inline bool try_loading(const loading *l, uint64_t n, bool on, size_t there, size_t all){
  size_t before = memory.outstanding;
  char *message = NULL;
  sqlite3 *db;
  bool injected;
  size_t found;
  int rc;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  if( l->before ) assert_int_equal(l->before(db, &message, NULL), SQLITE_OK);
  memory_arm(n, on);
  rc = l->load(db, &message, NULL);
  memory.fails_at = 0;
  injected = memory.injected>0;
  totals.injected += memory.injected;
  check_loaded(l, rc, message, n);
  sqlite3_free(message);
  message = NULL;
  found = count_registered(db);
  if( !may_be_left(l, rc, found, all) ){
    check( found==(rc==SQLITE_OK ? all : there), "%s: allocation %llu failed: %d, and %zu of %zu are there", l->what,
           (unsigned long long)n, rc, found, rc==SQLITE_OK ? all : there );
  }
  if( rc!=SQLITE_OK && !l->error && l->load!=select_extension ){
    check( l->load(db, &message, NULL)==SQLITE_OK, "%s: again: '%s'", l->what, message );
    assert_int_equal(count_registered(db), all);
  }
  for(int i=0; i<2; i++){   /* A registered name works, a withdrawn one is unknown: no call may lead nowhere */
    answer a = ask_once(db, i ? "SELECT zt_version()" : "SELECT zt_blob(NULL, NULL)");
    if( count_registered(db)==all ) assert_true(a.rc==SQLITE_DONE && a.n==1);
    answer_free(&a);
  }
  close_database(db, before, l->what);
  return injected;
}

static inline void sweep_loading(const loading *l, unsigned least){
  size_t there = count_loaded(l->before), all = count_all(l);
  for(int on=0; on<2; on++){
    uint64_t n = 1, nomem = totals.nomem;
    while( try_loading(l, n, on, there, all) ) n++;
    check( n>least && totals.nomem>nomem, "%s: %llu runs", l->what, (unsigned long long)n );
  }
  totals.cases++;
}

static void test_loading(void **state){
  static const loading l = { "loading", sqlite3_ztensor_init, NULL, NULL };
  (void)state;
  sweep_loading(&l, 50);
}

static void test_loading_nofs(void **state){
  static const loading l = { "loading the nofs entry point", sqlite3_ztensor_nofs_init, NULL, NULL };
  (void)state;
  sweep_loading(&l, 50);
}

static void test_loading_write(void **state){
  static const loading l = { "loading the write entry point", sqlite3_ztensor_write_init, NULL, NULL };
  (void)state;
  sweep_loading(&l, 50);
}

static void test_loading_twice(void **state){
  static const loading rows[] = {
    { "loading again", sqlite3_ztensor_init, sqlite3_ztensor_init, NULL },
    { "loading nofs again", sqlite3_ztensor_nofs_init, sqlite3_ztensor_nofs_init, NULL },
    { "loading after nofs", sqlite3_ztensor_init, sqlite3_ztensor_nofs_init, NULL },
    { "loading nofs too late", sqlite3_ztensor_nofs_init, sqlite3_ztensor_init, "loaded already" },
    { "loading write later", sqlite3_ztensor_write_init, sqlite3_ztensor_init, NULL },
    { "loading write again", sqlite3_ztensor_write_init, sqlite3_ztensor_write_init, NULL },
    { "loading write after nofs", sqlite3_ztensor_write_init, sqlite3_ztensor_nofs_init, "opens no files" },
    { "loading nofs after write", sqlite3_ztensor_nofs_init, sqlite3_ztensor_write_init, "loaded already" },
  };
  (void)state;
  for(size_t i=0; i<COUNT(rows); i++) sweep_loading(&rows[i], 10);
}

static void test_loading_a_library(void **state){
  static const loading rows[] = {
    { "sqlite3_load_extension()", load_extension, NULL, NULL },
    { "load_extension()", select_extension, NULL, NULL },
  };
  (void)state;
  for(size_t i=0; i<COUNT(rows); i++) sweep_loading(&rows[i], 50);
}

#endif
