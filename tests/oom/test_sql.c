/*
** Memory runs out in SQL: in each allocation of each of many statements, of SQLite's, the extension's, libzstd's and the C
** library's; and in each allocation of loading the extension. sweep.h says what must come of it. That every table, function
** and column is among the statements is a test of its own.
**
** The argument is the extension as a file, for sqlite3_load_extension(). A second one is a pattern of the tests to run.
*/
#include "cases.h"
#include "complete.h"
#include "loading.h"
#include "writes.h"

#define N(a) (sizeof(a)/sizeof(*(a)))

/* Before each test: one that failed leaves the allocator armed. */
static int disarm(void **state){
  (void)state;
  memory_arm(0, false);
  memory.paused = false;
  return 0;
}

static void test_case(void **state){
  oom_case c = *(const oom_case*)*state;
  char *sql = with_tree(c.sql), *setup = c.setup ? with_tree(c.setup) : NULL;
  c.sql = sql;
  c.setup = setup;
  sweep(&c);
  free(sql);
  free(setup);
}

/* The scripts that keep a catalog: one statement that reads every file and writes hundreds of rows, all or none. */
static void test_refresh(void **state){
  blob script = read_file("sql/catalog.sql"), refresh = read_file("sql/refresh.sql"), all = { 0 };
  oom_case c = { .sql = "INSERT INTO refresh(source) VALUES ('" TREE "')",
                 .after = "SELECT path, source, size, error FROM files UNION ALL SELECT path, object, elements, type FROM objects"
                          " UNION ALL SELECT path, object, length, digest FROM components"
                          " UNION ALL SELECT path, object, value, key FROM attributes"
                          " UNION ALL SELECT source, files, added, broken FROM refresh" };
  const char *now;
  (void)state;
  put(&refresh, "", 1);
  now = strstr((char*)refresh.p, "-- ---- Now");
  assert_non_null(now);
  put(&all, script.p, script.n);
  put(&all, refresh.p, (size_t)(now-(char*)refresh.p));
  put(&all, "", 1);
  c.setup = (char*)all.p;
  test_case(&(void*){ &c });
  free(script.p);
  free(refresh.p);
  free(all.p);
}

/* Every format has a statement about its smallest sound file. */
static void test_every_format(void **state){
  static const char files[] = "SELECT path, min(size) FROM zt_files('tests/formats') WHERE objects > 0 AND path LIKE '%/golden/%'"
                              " GROUP BY container";
  static const char all[] = "SELECT f.container, f.version, f.attributes, f.architecture, f.layout, o.object, o.format, o.shape, o.attributes,"
                            " o.fingerprint, c.component, c.data, c.hash, zt_manifest(f.path)"
                            " FROM zt_files(%Q) AS f, zt_objects(f.path) AS o, zt_components(f.path) AS c WHERE c.object = o.object";
  sqlite3 *db = open_database(&(oom_case){ .setup = NULL });
  used paths = query_names(db, files);
  (void)state;
  sqlite3_close(db);
  assert_true(paths.n>=7);
  for(size_t i=0; i<paths.n; i++){
    char *sql = sqlite3_mprintf(all, paths.a[i]);
    sweep(&(oom_case){ .sql = sql });
    sqlite3_free(sql);
  }
  used_free(&paths);
}

static void test_complete(void **state){
  used u = { 0 };
  (void)state;
  for(size_t i=0; i<N(cases); i++){
    char *sql = with_tree(cases[i].sql);
    sqlite3 *db = open_database(&(oom_case){ .setup = NULL });
    if( !cases[i].setup && !cases[i].after && !cases[i].error ) note_used(&u, db, sql);
    sqlite3_close(db);
    free(sql);
  }
  check_complete(&u);
  used_free(&u);
}

/* Hosts end all statements that a connection has before they close it, those of the extension too. */
static void test_a_host_finalizes_what_sorts_rows(void **state){
  static const char sql[] = "SELECT position FROM zt_elements((SELECT '[\"" SMALL "\", \"./" SMALL "\"]'), 'blk.0.attn.q')"
                            " ORDER BY position DESC";
  sqlite3 *db = open_database(&(oom_case){ .setup = NULL });
  sqlite3_stmt *stmt;
  int n = 0;
  (void)state;
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  assert_int_equal(sqlite3_column_int(stmt, 0), 11);
  for(; (stmt = sqlite3_next_stmt(db, NULL))!=NULL; n++) assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  assert_int_equal(n, 2);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Last: the sweeps above were no idle ones, in none of the libraries. */
static void test_failures_were_injected(void **state){
  (void)state;
  assert_true(totals.cases>N(cases));
  assert_true(totals.injected>50*totals.cases && totals.nomem>50*totals.cases);
  assert_true(libraries.zstd>100 && libraries.directories>10);
}

int main(int argc, char **argv){
  static const struct CMUnitTest first[] = {
    cmocka_unit_test_setup(test_complete, disarm),
    cmocka_unit_test_setup(test_loading, disarm),
    cmocka_unit_test_setup(test_loading_nofs, disarm),
    cmocka_unit_test_setup(test_loading_write, disarm),
    cmocka_unit_test_setup(test_loading_twice, disarm),
    cmocka_unit_test_setup(test_loading_a_library, disarm),
  }, last[] = {
    cmocka_unit_test_setup(test_every_format, disarm),
    cmocka_unit_test_setup(test_refresh, disarm),
    cmocka_unit_test_setup(test_a_host_finalizes_what_sorts_rows, disarm),
    cmocka_unit_test_setup(test_failures_were_injected, disarm),
  };
  struct CMUnitTest tests[N(first)+N(cases)+N(writes)+N(last)];
  int failed;
  if( argc<2 || argc>3 || !memory_install() ){
    fprintf(stderr, "usage: %s EXTENSION [PATTERN]\n", argv[0]);
    return 1;
  }
  extension = argv[1];
  if( argc>2 ) cmocka_set_test_filter(argv[2]);
  memcpy(tests, first, sizeof(first));
  for(size_t i=0; i<N(cases); i++){
    void *c;
    memcpy(&c, &(const oom_case*){ &cases[i] }, sizeof(c));
    tests[N(first)+i] = (struct CMUnitTest){ cases[i].sql, test_case, disarm, NULL, c };
  }
  for(size_t i=0; i<N(writes); i++){
    void *w;
    memcpy(&w, &(const oom_write*){ &writes[i] }, sizeof(w));
    tests[N(first)+N(cases)+i] = (struct CMUnitTest){ writes[i].sql, test_write, disarm, NULL, w };
  }
  memcpy(tests+N(first)+N(cases)+N(writes), last, sizeof(last));
  failed = _cmocka_run_group_tests("out of memory in SQL", tests, N(tests), make_tree, remove_tree);
  printf("oom: %u cases, %llu failures injected (%llu in libzstd, %llu in opendir()): %llu times SQLITE_NOMEM,"
         " %llu times the same result; %llu allocations beyond the %dth of a statement passed over\n", totals.cases, (unsigned long long)totals.injected,
         (unsigned long long)libraries.zstd, (unsigned long long)libraries.directories,
         (unsigned long long)totals.nomem, (unsigned long long)totals.same, (unsigned long long)totals.passed_over, EACH);
  return failed;
}
