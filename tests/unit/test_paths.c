/* The paths that a source names: core/paths.h, on a temporary tree of files, links and directories. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/paths.h"

/* --- The tree --- */

static char tree[] = "/tmp/ztensor-paths-XXXXXX";

static const char *const directories[] = {
  ".dir", "dir.zt", "empty", "other", "sub", "sub/.hidden", "sub/deep", "sub/deep/deeper"
};
static const char *const files[] = {
  ".dir/inside.zt", ".hidden.zt", "a.zt", "b.zt", "dir.zt/i.zt", "note.txt", "other/1.zt", "other/st*r.zt", "other/star.zt",
  "other/x1.zt",
  "other/x[1].zt", "sub/.hidden/g.zt", "sub/.s.zt", "sub/c.zt", "sub/d.ZT", "sub/deep/deeper/f.zt", "sub/deep/e.zt",
  "\xC3\xBC.zt"
};
static const struct { const char *name, *target; } links[] = {
  { "broken.zt", "nowhere" }, { "link.zt", "a.zt" }, { "linkdir", "sub" }, { "loop.zt", "loop.zt" }, { "sub/deep/self", "." },
  { "sub/up", ".." }
};

/* Threads that read directories ahead. */
static zt_pool *pool;

static char *in_tree(const char *name){
  char *path = malloc(sizeof(tree)+strlen(name)+1);
  sprintf(path, "%s%s%s", tree, *name ? "/" : "", name);
  return path;
}

static int make_tree(void **state){
  (void)state;
  pool = zt_pool_new(3);
  assert_non_null(pool);
  assert_non_null(mkdtemp(tree));
  for(size_t i=0; i<COUNT(directories); i++){
    char *path = in_tree(directories[i]);
    assert_int_equal(mkdir(path, 0755), 0);
    free(path);
  }
  for(size_t i=0; i<COUNT(files); i++){
    char *path = in_tree(files[i]);
    write_file(path, files[i], strlen(files[i]));
    free(path);
  }
  for(size_t i=0; i<COUNT(links); i++){
    char *path = in_tree(links[i].name);
    assert_int_equal(symlink(links[i].target, path), 0);
    free(path);
  }
  {
    char *path = in_tree("fifo.zt");
    assert_int_equal(mkfifo(path, 0600), 0);
    free(path);
  }
  return 0;
}

static int remove_tree(void **state){
  (void)state;
  zt_pool_free(pool);
  return remove_all(tree);
}

/* The tree as working directory, for tests that need it. */
static int home = -1;

static int enter_tree(void **state){
  (void)state;
  home = open(".", O_RDONLY);
  return home<0 || chdir(tree);
}

static int leave_tree(void **state){
  int rc = fchdir(home);
  (void)state;
  close(home);
  return rc;
}

/* --- Helpers --- */

static bool is_zt(const char *name){ return zt_glob_match("*.zt", 4, name) || zt_glob_match("*.gguf", 6, name); }
static bool is_upper(const char *name){ return zt_glob_match("*.ZT", 4, name); }

static zt_paths_filter any(void){
  return (zt_paths_filter){ .files = is_zt };
}

static void assert_same_paths(const zt_paths *a, const zt_paths *b, const char *source){
  check( a->n==b->n && a->sorted==b->sorted && a->literal==b->literal, "%s: %zu, %zu", source, a->n, b->n );
  for(size_t i=0; i<a->n; i++){
    const zt_path *x = &a->a[i], *y = &b->a[i];
    check( strcmp(x->z, y->z)==0, "%s: '%s', '%s'", source, x->z, y->z );
    check( x->literal==y->literal && x->regular==y->regular && x->error_number==y->error_number, "%s: '%s'", source, x->z );
    check( (x->action==NULL)==(y->action==NULL) && (!x->action || strcmp(x->action, y->action)==0), "%s: '%s'", source, x->z );
  }
}

/* Threads find the same. */
static zt_paths find(const char *source, const zt_paths_filter *filter){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter with = *filter;
  zt_paths paths, same;
  char *copy = malloc(strlen(source)+1);
  strcpy(copy, source);
  check( zt_paths_find(copy, filter, &paths, &err)==SQLITE_OK, "%s: %s", source, err.message );
  with.pool = pool;
  check( zt_paths_find(copy, &with, &same, &err)==SQLITE_OK, "%s: %s", source, err.message );
  assert_same_paths(&paths, &same, source);
  zt_paths_clear(&same);
  assert_succeeded(&err, source);
  free(copy);
  return paths;
}

/* Ascending, each path once, and `regular` only where it is true. */
static void assert_in_order(const zt_paths *paths, const char *source){
  check( paths->sorted, "%s", source );
  for(size_t i=0; i<paths->n; i++){
    struct stat s;
    if( i>0 ) check( strcmp(paths->a[i-1].z, paths->a[i].z)<0, "%s: '%s', '%s'", source, paths->a[i-1].z, paths->a[i].z );
    if( paths->a[i].regular ) check( stat(paths->a[i].z, &s)==0 && S_ISREG(s.st_mode), "%s: '%s'", source, paths->a[i].z );
  }
}

/* The paths are those of the list, names separated by blanks, each behind the prefix. */
static void assert_paths(const zt_paths *paths, const char *source, const char *prefix, const char *expected){
  size_t i = 0;
  assert_in_order(paths, source);
  while( *expected ){
    size_t n = strcspn(expected, " ");
    char path[256];
    snprintf(path, sizeof(path), "%s%.*s", prefix, (int)n, expected);
    check( i<paths->n, "%s: no '%s'", source, path );
    check( strcmp(paths->a[i].z, path)==0, "%s: '%s', expected '%s'", source, paths->a[i].z, path );
    assert_int_equal(paths->a[i].error_number, 0);
    i++;
    expected += n;
    expected += strspn(expected, " ");
  }
  check( i==paths->n, "%s: '%s' too much", source, paths->a[i].z );
}

/* --- Patterns and directories --- */

#define OF_OTHER "other/1.zt other/st*r.zt other/star.zt other/x1.zt other/x[1].zt "
#define ALL_ZT "a.zt b.zt broken.zt dir.zt/i.zt fifo.zt link.zt linkdir/c.zt linkdir/deep/deeper/f.zt linkdir/deep/e.zt " \
  "loop.zt " OF_OTHER "sub/c.zt sub/deep/deeper/f.zt sub/deep/e.zt \xC3\xBC.zt"
#define ALL "a.zt b.zt broken.zt dir.zt/i.zt fifo.zt link.zt linkdir/c.zt linkdir/d.ZT linkdir/deep/deeper/f.zt " \
  "linkdir/deep/e.zt loop.zt note.txt " OF_OTHER "sub/c.zt sub/d.ZT sub/deep/deeper/f.zt sub/deep/e.zt \xC3\xBC.zt"

/* Patterns below the tree, and what they find there. */
static const struct { const char *pattern, *expected; } patterns[] = {
  /* Patterns within one name. Directories, and links to them, are no results; links to nowhere and to themselves are. */
  { "*", "a.zt b.zt broken.zt fifo.zt link.zt loop.zt note.txt \xC3\xBC.zt" },
  { "*.zt", "a.zt b.zt broken.zt fifo.zt link.zt loop.zt \xC3\xBC.zt" },
  { "?.zt", "a.zt b.zt \xC3\xBC.zt" },
  { "[ab].zt", "a.zt b.zt" },
  { "[!a].zt", "b.zt \xC3\xBC.zt" },
  { "a.*", "a.zt" },
  { "?ink*", "link.zt" },
  { "none*", "" },
  { "A*", "" },
  /* Hidden names only where the pattern's name begins with a dot. */
  { ".*", ".hidden.zt" },
  { ".*.zt", ".hidden.zt" },
  { ".*/*", ".dir/inside.zt" },
  { ".*/**", ".dir/inside.zt" },
  { "[.]*", "" },
  { "?hidden.zt", "" },
  /* Any depth, and a link to a directory within it: one way through the pattern does not hide another. */
  { "**/*/e.zt", "linkdir/deep/e.zt sub/deep/e.zt" },
  { "**/*/*/e.zt", "linkdir/deep/e.zt sub/deep/e.zt" },
  { "**/linkdir/*.zt", "linkdir/c.zt" },
  { "**/linkdir/**/*.zt", "linkdir/c.zt linkdir/deep/deeper/f.zt linkdir/deep/e.zt" },
  { "**/.*", ".hidden.zt linkdir/.s.zt sub/.s.zt" },
  { "**/.hidden/*.zt", "linkdir/.hidden/g.zt sub/.hidden/g.zt" },
  { "sub/.hidden/*", "sub/.hidden/g.zt" },
  { "sub/.*/*", "sub/.hidden/g.zt" },
  /* Several names. */
  { "*/*.zt", "dir.zt/i.zt linkdir/c.zt " OF_OTHER "sub/c.zt" },
  { "*/*", "dir.zt/i.zt linkdir/c.zt linkdir/d.ZT " OF_OTHER "sub/c.zt sub/d.ZT" },
  { "sub/*.zt", "sub/c.zt" },
  { "s*/c.zt", "sub/c.zt" },
  { "*/c.zt", "linkdir/c.zt sub/c.zt" },
  { "*//c.zt", "linkdir/c.zt sub/c.zt" },
  { "sub//*.zt", "sub//c.zt" },
  { "*.zt/*", "dir.zt/i.zt" },
  { "dir.zt/*", "dir.zt/i.zt" },
  { "a.zt/*", "" },
  { "*/none/*", "" },
  { "none/*.zt", "" },
  { "empty/*", "" },
  { "empty/**", "" },
  { "*/st*r.zt", "other/st*r.zt other/star.zt" },
  { "other/x[[]1].zt", "other/x[1].zt" },
  { "**/x[1].zt", "other/x1.zt" },
  { "**/*[1].zt", "other/1.zt other/x1.zt" },
  /* Any depth. */
  { "**", ALL },
  { "**/", ALL_ZT },
  { "**/**", ALL },
  { "**/*", ALL },
  { "**/*.zt", ALL_ZT },
  { "**/**/*.zt", ALL_ZT },
  { "**//*.zt", ALL_ZT },
  { "**/e.zt", "linkdir/deep/e.zt sub/deep/e.zt" },
  { "**/a.zt", "a.zt" },
  { "**/deep/*.zt", "linkdir/deep/e.zt sub/deep/e.zt" },
  { "**/deep/**", "linkdir/deep/deeper/f.zt linkdir/deep/e.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
  { "**/deep/**/*.zt", "linkdir/deep/deeper/f.zt linkdir/deep/e.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
  { "sub/**", "sub/c.zt sub/d.ZT sub/deep/deeper/f.zt sub/deep/e.zt" },
  { "sub/**/*.zt", "sub/c.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
  { "*/**/f.zt", "linkdir/deep/deeper/f.zt sub/deep/deeper/f.zt" },
  { "a**.zt", "a.zt" },
  /* Cycles: a link to a directory that the path goes through, or to one above the pattern's first. */
  { "sub/*/*.zt", "sub/deep/e.zt" },
  { "*/up/*.zt", "" },
  { "*/deep/self/*.zt", "" },
  { "sub/deep/*/*.zt", "sub/deep/deeper/f.zt" },
  { "linkdir/**/c.zt", "linkdir/c.zt" },
  { "sub/deep/**/a.zt", "" },
  /* The way that the pattern itself names may go anywhere. */
  { "sub/up/*.zt", "sub/up/a.zt sub/up/b.zt sub/up/broken.zt sub/up/fifo.zt sub/up/link.zt sub/up/loop.zt sub/up/\xC3\xBC.zt" },
  { "sub/../[a]*", "sub/../a.zt" },
  { "*/./c.zt", "linkdir/./c.zt sub/./c.zt" },
  { "[s]ub/../[a]*", "sub/../a.zt" },
  { "[s]ub/deep/../*/e.zt", "sub/deep/../deep/e.zt" },
  { "sub/*/./../../[a].zt", "sub/deep/./../../a.zt" },
  { "sub/**/../[c].zt", "sub/deep/../c.zt" },
};

TEST(test_patterns){
  for(size_t i=0; i<COUNT(patterns); i++){
    zt_paths_filter filter = any();
    char *source = in_tree(patterns[i].pattern), prefix[sizeof(tree)+1];
    zt_paths paths = find(source, &filter);
    snprintf(prefix, sizeof(prefix), "%s/", tree);
    assert_paths(&paths, source, prefix, patterns[i].expected);
    assert_false(paths.literal);
    zt_paths_clear(&paths);
    assert_true(paths.n==0 && !paths.a);
    free(source);
  }
}

TEST(test_a_directory_stands_for_the_files_below_it){
  static const struct { const char *directory, *prefix; bool (*files)(const char*); const char *expected; } rows[] = {
    { "", "/", is_zt, ALL_ZT },
    { "/", "/", is_zt, ALL_ZT },
    { "sub", "/sub/", is_zt, "c.zt deep/deeper/f.zt deep/e.zt" },
    { "sub/", "/sub/", is_zt, "c.zt deep/deeper/f.zt deep/e.zt" },
    { "sub", "/sub/", is_upper, "d.ZT" },
    { "sub", "/sub/", NULL, "c.zt d.ZT deep/deeper/f.zt deep/e.zt" },
    { "linkdir", "/linkdir/", is_zt, "c.zt deep/deeper/f.zt deep/e.zt" },
    { "sub/deep/self", "/sub/deep/self/", is_zt, "deeper/f.zt e.zt" },
    { "dir.zt", "/dir.zt/", is_zt, "i.zt" },
    { ".dir", "/.dir/", is_zt, "inside.zt" },
    { "empty", "/empty/", is_zt, "" },
    { "*/", "/", is_zt, "dir.zt/i.zt linkdir/c.zt linkdir/deep/deeper/f.zt linkdir/deep/e.zt " OF_OTHER
      "sub/c.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
    { "s*/", "/", is_upper, "sub/d.ZT" },
    { "s*/", "/", NULL, "sub/c.zt sub/d.ZT sub/deep/deeper/f.zt sub/deep/e.zt" },
    { "*/deep/", "/", is_zt, "linkdir/deep/deeper/f.zt linkdir/deep/e.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
    { "*.zt/", "/", is_zt, "dir.zt/i.zt" },
    { "**/", "/", is_zt, ALL_ZT },
    { "none*/", "/", is_zt, "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_paths_filter filter = any();
    char source[128], prefix[128];
    zt_paths paths;
    snprintf(source, sizeof(source), "%s%s%s", tree, *rows[i].directory && *rows[i].directory!='/' ? "/" : "",
        rows[i].directory);
    snprintf(prefix, sizeof(prefix), "%s%s", tree, rows[i].prefix);
    filter.files = rows[i].files;
    paths = find(source, &filter);
    assert_paths(&paths, source, prefix, rows[i].expected);
    assert_false(paths.literal);
    zt_paths_clear(&paths);
  }
}

TEST_WITH(test_relative_sources, enter_tree, leave_tree){
  static const struct { const char *source, *prefix, *expected; } rows[] = {
    { "*.zt", "", "a.zt b.zt broken.zt fifo.zt link.zt loop.zt \xC3\xBC.zt" },
    { "./*.zt", "./", "a.zt b.zt broken.zt fifo.zt link.zt loop.zt \xC3\xBC.zt" },
    { "**/*.zt", "", ALL_ZT },
    { "sub/*.zt", "sub/", "c.zt" },
    { "sub", "sub/", "c.zt deep/deeper/f.zt deep/e.zt" },
    { "sub/", "sub/", "c.zt deep/deeper/f.zt deep/e.zt" },
    { ".", "./", ALL_ZT },
    { "*/up/*.zt", "", "" },
    { "a.zt", "", "a.zt" },
    { "./a.zt", "", "./a.zt" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_paths_filter filter = any();
    zt_paths paths = find(rows[i].source, &filter);
    assert_paths(&paths, rows[i].source, rows[i].prefix, rows[i].expected);
    zt_paths_clear(&paths);
  }
}

/* A pattern may begin at the root, and a directory's own name may look like a pattern. */
TEST_WITH(test_unusual_first_directories, enter_tree, leave_tree){
  static const struct { const char *source, *prefix; } rows[] = { { "odd[1]*", "odd[1]*/" }, { "odd[1]*/", "odd[1]*/" },
      { "odd*/*.zt", "odd[1]*/" } };
  char source[128], prefix[128];
  zt_paths_filter filter = any();
  zt_paths paths;
  assert_int_equal(strncmp(tree, "/tmp/", 5), 0);
  snprintf(source, sizeof(source), "/[t]mp/%s/[a].zt", tree+5);
  snprintf(prefix, sizeof(prefix), "%s/", tree);
  paths = find(source, &filter);
  assert_paths(&paths, source, prefix, "a.zt");
  zt_paths_clear(&paths);
  assert_int_equal(mkdir("odd[1]*", 0755), 0);
  write_file("odd[1]*/z.zt", "z", 1);
  for(size_t i=0; i<COUNT(rows); i++){
    paths = find(rows[i].source, &filter);
    assert_paths(&paths, rows[i].source, rows[i].prefix, "z.zt");
    zt_paths_clear(&paths);
  }
  assert_int_equal(unlink("odd[1]*/z.zt"), 0);
  assert_int_equal(rmdir("odd[1]*"), 0);
}

/* --- Literal names --- */

TEST(test_a_name_that_exists_is_taken_literally){
  static const struct { const char *name; zt_kind kind; uint64_t size; } rows[] = {
    { "a.zt", ZT_KIND_FILE, 4 }, { ".hidden.zt", ZT_KIND_FILE, 10 }, { "note.txt", ZT_KIND_FILE, 8 },
    { "other/x[1].zt", ZT_KIND_FILE, 13 },
    { "other/st*r.zt", ZT_KIND_FILE, 13 }, { "link.zt", ZT_KIND_FILE, 4 }, { "fifo.zt", ZT_KIND_FIFO, 0 },
    { "\xC3\xBC.zt", ZT_KIND_FILE, 5 },
    { "broken.zt", ZT_KIND_MISSING, 0 }, { "loop.zt", ZT_KIND_MISSING, 0 }, { "sub/up/sub/up/a.zt", ZT_KIND_FILE, 4 },
    { "sub//c.zt", ZT_KIND_FILE, 8 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = any();
    char *source = in_tree(rows[i].name), *one;
    zt_paths paths = find(source, &filter);
    zt_stat stat;
    check( paths.literal && paths.n==1 && paths.a[0].literal, "%s", source );
    check( paths.a[0].regular==(rows[i].kind==ZT_KIND_FILE), "%s", source );
    assert_string_equal(paths.a[0].z, source);
    check( (paths.a[0].error_number!=0)==(rows[i].kind==ZT_KIND_MISSING), "%s", source );   /* A link to nowhere */
    check( paths.stat.kind==rows[i].kind && paths.stat.id.size==rows[i].size, "%s", source );
    zt_paths_clear(&paths);
    assert_int_equal(zt_paths_one(source, &one, &stat, &err), SQLITE_OK);
    assert_string_equal(one, source);
    check( stat.kind==rows[i].kind && stat.id.size==rows[i].size, "%s", source );
    sqlite3_free(one);
    free(source);
  }
}

static bool keep_none(void *context, const char *path){
  (void)context;
  (void)path;
  return false;
}

/* A literal path of nothing is a result, and the one path: what opens it says why not. */
static void check_nothing(const char *source, const char *path, int error_number){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  zt_paths paths = find(source, &filter);
  zt_stat stat;
  char *one;
  check( paths.n==1 && strcmp(paths.a[0].z, path)==0, "%s: %zu", source, paths.n );
  check( paths.literal && paths.a[0].literal && !paths.a[0].regular, "%s", source );
  check( paths.a[0].error_number==error_number && strcmp(paths.a[0].action, "open")==0, "%s: %d", source, paths.a[0].error_number );
  assert_int_equal(paths.stat.kind, ZT_KIND_MISSING);
  zt_paths_clear(&paths);
  for(int i=0; i<3; i++){   /* Nor does a filter hide it */
    filter = any();
    if( i==0 ) filter.only = path;
    if( i==1 ) filter.only = "another";
    if( i==2 ) filter.keep = keep_none;
    paths = find(source, &filter);
    check( paths.n==1 && paths.a[0].error_number==error_number, "%s: %zu", source, paths.n );
    zt_paths_clear(&paths);
  }
  assert_int_equal(zt_paths_one(source, &one, &stat, &err), SQLITE_OK);
  assert_string_equal(one, path);
  assert_int_equal(stat.kind, ZT_KIND_MISSING);
  sqlite3_free(one);
}

TEST(test_a_literal_name_of_nothing_is_a_result){
  static const struct { const char *name; int error_number; } rows[] = {
    { "none.zt", ENOENT }, { "sub/none/a.zt", ENOENT }, { "a.zt/", ENOTDIR }, { "a.zt/b.zt", ENOTDIR },
  };
  char deep[5001];
  for(size_t i=0; i<COUNT(rows); i++){
    char *source = in_tree(rows[i].name);
    check_nothing(source, source, rows[i].error_number);
    free(source);
  }
  check_nothing("", "", ENOENT);
  check_nothing("file:///none/%61.zt", "/none/a.zt", ENOENT);
  check_nothing("file:", "", ENOENT);
  /* Too long for the system, as a name and as a path */
  memset(deep, 'x', 300);
  deep[300] = 0;
  check_nothing(deep, deep, ENAMETOOLONG);
  for(size_t i=0; i<5000; i++) deep[i] = i%10==9 ? '/' : 'x';
  deep[5000] = 0;
  check_nothing(deep, deep, ENAMETOOLONG);
}

TEST(test_one_path_is_a_file_or_directory_and_no_pattern){
  zt_error err = ZT_ERROR_NONE;
  char *source = in_tree("*.zt"), *one;
  zt_stat stat;
  assert_int_equal(zt_paths_one(source, &one, &stat, &err), SQLITE_ERROR);
  assert_failed(&err, "exactly one file is needed, not a pattern", source);
  assert_null(one);
  free(source);
  source = in_tree("sub");
  assert_int_equal(zt_paths_one(source, &one, &stat, &err), SQLITE_OK);
  assert_string_equal(one, source);
  assert_int_equal(stat.kind, ZT_KIND_DIRECTORY);
  sqlite3_free(one);
  free(source);
}

/* --- file: URIs --- */

static void check_uri(const char *uri, const char *name, bool as_one){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  char *path = in_tree(name), *one;
  zt_paths paths = find(uri, &filter);
  zt_stat stat;
  check( paths.n==1 && strcmp(paths.a[0].z, path)==0, "%s: '%s'", uri, paths.n ? paths.a[0].z : "nothing" );
  zt_paths_clear(&paths);
  if( as_one ){
    check( zt_paths_one(uri, &one, &stat, &err)==SQLITE_OK, "%s", uri );
    assert_string_equal(one, path);
    assert_int_equal(stat.kind, ZT_KIND_FILE);
    sqlite3_free(one);
  }
  free(path);
}

TEST(test_uris){
  static const struct { const char *before, *after, *name; bool one; } rows[] = {   /* The tree's path stands between */
    { "file://", "/a.zt", "a.zt", true },
    { "file:", "/a.zt", "a.zt", true },
    { "file://localhost", "/a.zt", "a.zt", true },
    { "file://", "/%61.zt", "a.zt", true },
    { "file://", "/%61%2e%7A%74", "a.zt", true },
    { "file://", "%2Fa.zt", "a.zt", true },
    { "file://", "/%C3%BC.zt", "\xC3\xBC.zt", true },
    { "file://", "/%c3%bc.zt", "\xC3\xBC.zt", true },
    { "file://", "/\xC3\xBC.zt", "\xC3\xBC.zt", true },
    { "file://", "/other/x%5B1%5D.zt", "other/x[1].zt", true },
    { "file://", "/other/x[1].zt", "other/x[1].zt", true },
    { "file://", "/other/st%2Ar.zt", "other/st*r.zt", true },
    { "file://", "/%0a.zt", "\n.zt", false },   /* Nothing is there */
    { "file://", "/[a].zt", "a.zt", false },
    { "file://", "/%5Ba%5D.zt", "a.zt", false },
    { "file://", "/dir.zt", "dir.zt/i.zt", false },
    { "file://", "/dir.zt/", "dir.zt/i.zt", false },
    { "file:", "/**/i.zt", "dir.zt/i.zt", false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char uri[256];
    snprintf(uri, sizeof(uri), "%s%s%s", rows[i].before, tree, rows[i].after);
    check_uri(uri, rows[i].name, rows[i].one);
  }
}

TEST_WITH(test_a_relative_uri_and_a_file_with_the_name_of_one, enter_tree, leave_tree){
  zt_error err = ZT_ERROR_NONE;
  char *one;
  zt_stat stat;
  assert_int_equal(zt_paths_one("file:a%2Ezt", &one, &stat, &err), SQLITE_OK);
  assert_string_equal(one, "a.zt");
  sqlite3_free(one);
  assert_int_equal(zt_paths_one("file:./a.zt", &one, &stat, &err), SQLITE_OK);
  assert_string_equal(one, "./a.zt");
  sqlite3_free(one);
  write_file("file:odd%2Ezt", "odd", 3);
  assert_int_equal(zt_paths_one("file:odd%2Ezt", &one, &stat, &err), SQLITE_OK);
  assert_string_equal(one, "file:odd%2Ezt");
  assert_int_equal(stat.id.size, 3);
  sqlite3_free(one);
  assert_int_equal(zt_paths_one("file:file:odd%252Ezt", &one, &stat, &err), SQLITE_OK);   /* Decoded once */
  assert_string_equal(one, "file:odd%2Ezt");
  sqlite3_free(one);
  assert_int_equal(unlink("file:odd%2Ezt"), 0);
  check_nothing("file:file:a.zt", "file:a.zt", ENOENT);
}

/* Each URI ends in two NULs, so that a reader that runs over the first one is found out without harm. */
static void assert_bad_uri(const char *uri, const char *message){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  zt_paths paths;
  zt_stat stat;
  size_t n = strlen(uri);
  char *copy = calloc(n+4, 1), *one;
  memcpy(copy, uri, n);
  check( zt_paths_find(copy, &filter, &paths, &err)==SQLITE_ERROR, "'%s' is accepted", uri );
  assert_failed(&err, message, uri);
  assert_int_equal(paths.n, 0);
  check( zt_paths_one(copy, &one, &stat, &err)==SQLITE_ERROR, "'%s' is accepted", uri );
  assert_failed(&err, message, uri);
  assert_null(one);
  free(copy);
}

TEST(test_bad_uris){
  static const struct { const char *uri, *message; } rows[] = {
    { "file://", "a file: URI with a host other than localhost" },
    { "file://host/a.zt", "a file: URI with a host other than localhost" },
    { "file://localhost", "a file: URI with a host other than localhost" },
    { "file://localhos/a.zt", "a file: URI with a host other than localhost" },
    { "file://localhost:80/a.zt", "a file: URI with a host other than localhost" },
    { "file://127.0.0.1/a.zt", "a file: URI with a host other than localhost" },
    { "file://%6Cocalhost/a.zt", "a file: URI with a host other than localhost" },
    { "file:///tmp/a.zt?mode=ro", "a file: URI with a query or fragment" },
    { "file:///tmp/a.zt?", "a file: URI with a query or fragment" },
    { "file:///tmp/a.zt#part", "a file: URI with a query or fragment" },
    { "file:///tmp/?.zt", "a file: URI with a query or fragment" },
    { "file:///tmp/%", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%zz", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%z1", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%0z", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%%41", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/% 41", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%-1", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%+4", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%g0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%G0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%@0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%`0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%:0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%/0", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%\xB4" "1", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/%00", "a file: URI with a bad percent-encoding" },
    { "file:///tmp/a%00b.zt", "a file: URI with a bad percent-encoding" },
  };
  for(size_t i=0; i<COUNT(rows); i++) assert_bad_uri(rows[i].uri, rows[i].message);
}

/* The second digit counts as much as the first. */
TEST(test_bad_second_digits_in_uris){
  static const char *const uris[] = { "file:///tmp/%4z", "file:///tmp/%1g", "file:///tmp/%f%41", "file:///tmp/%4/a.zt",
      "file:///tmp/%F-1" };
  for(size_t i=0; i<COUNT(uris); i++) assert_bad_uri(uris[i], "a file: URI with a bad percent-encoding");
}

TEST(test_uris_cut_after_the_first_digit){
  assert_bad_uri("file:///tmp/x%4", "a file: URI with a bad percent-encoding");
  assert_bad_uri("file:%4", "a file: URI with a bad percent-encoding");
}

/* 0x14 is '4' but for one bit. */
TEST(test_control_characters_are_no_digits_in_uris){
  assert_bad_uri("file:///tmp/%\x14\x11", "a file: URI with a bad percent-encoding");
  assert_bad_uri("file:///tmp/%4\x11", "a file: URI with a bad percent-encoding");
}

/* --- Home --- */

/* The environment's HOME is that, until the next one; NULL: there is none. */
static void set_home(const char *path){
  if( path ) assert_int_equal(setenv("HOME", path, 1), 0);
  else assert_int_equal(unsetenv("HOME"), 0);
}

static void check_home(const char *source, const char *prefix, const char *expected){
  zt_paths_filter filter = any();
  zt_paths paths = find(source, &filter);
  assert_paths(&paths, source, prefix, expected);
  zt_paths_clear(&paths);
}

TEST_WITH(test_home, enter_tree, leave_tree){
  char below[sizeof(tree)+1], *closed = in_tree("");
  snprintf(below, sizeof(below), "%s/", tree);
  for(int slash=0; slash<2; slash++){
    set_home(slash ? below : tree);   /* A slash at its end makes no difference */
    check_home("~/a.zt", below, "a.zt");
    check_home("~/sub", below, "sub/c.zt sub/deep/deeper/f.zt sub/deep/e.zt");
    check_home("~/*.zt", below, "a.zt b.zt broken.zt fifo.zt link.zt loop.zt \xC3\xBC.zt");
    check_home("~/*/c.zt", below, "linkdir/c.zt sub/c.zt");
    check_home("~/**/e.zt", below, "linkdir/deep/e.zt sub/deep/e.zt");
    check_home("~/other/x[1].zt", below, "other/x[1].zt");
    check_home("~", below, ALL_ZT);
    check_home("~/", below, ALL_ZT);
  }
  set_home("/");
  assert_int_equal(strncmp(tree, "/tmp/", 5), 0);
  snprintf(below, sizeof(below), "~%s", tree);
  free(closed);
  closed = in_tree("a.zt");
  {
    char source[sizeof(tree)+16];
    snprintf(source, sizeof(source), "~%s/a.zt", tree);
    check_home(source, "", closed);
  }
  free(closed);
  set_home(tree);
  closed = in_tree("none.zt");
  check_nothing("~/none.zt", closed, ENOENT);
  free(closed);
}

/* The home directory's name is not a pattern. */
TEST_WITH(test_a_home_whose_name_looks_like_a_pattern, enter_tree, leave_tree){
  char named[64], prefix[72];
  assert_int_equal(mkdir("h[1]*", 0755), 0);
  assert_int_equal(mkdir("h1", 0755), 0);
  write_file("h[1]*/z.zt", "z", 1);
  write_file("h1/y.zt", "y", 1);
  snprintf(named, sizeof(named), "%s/h[1]*", tree);
  snprintf(prefix, sizeof(prefix), "%s/", named);
  set_home(named);
  check_home("~", prefix, "z.zt");
  check_home("~/*.zt", prefix, "z.zt");
  check_home("~/**", prefix, "z.zt");
  check_home("~/[z].zt", prefix, "z.zt");
  assert_int_equal(unlink("h[1]*/z.zt") | unlink("h1/y.zt") | rmdir("h[1]*") | rmdir("h1"), 0);
}

/* Without HOME it is what the system's users have; a name that exists is taken literally; `~user` is a name as any other. */
TEST_WITH(test_what_home_is_not, enter_tree, leave_tree){
  zt_error err = ZT_ERROR_NONE;
  char *one;
  zt_stat stat;
  set_home("/none");
  check_nothing("~x/a.zt", "~x/a.zt", ENOENT);
  check_nothing("a/~/b.zt", "a/~/b.zt", ENOENT);
  check_nothing("file:~/b.zt", "~/b.zt", ENOENT);
  assert_int_equal(mkdir("~", 0755), 0);
  write_file("~/a.zt", "a", 1);
  check_home("~/a.zt", "", "~/a.zt");
  check_home("~", "", "~/a.zt");
  check_nothing("~/b.zt", "/none/b.zt", ENOENT);
  assert_int_equal(unlink("~/a.zt") | rmdir("~"), 0);
  for(int i=0; i<2; i++){
    set_home(i ? "" : NULL);
    assert_int_equal(zt_paths_one("~/none/a.zt", &one, &stat, &err), SQLITE_OK);
    assert_true(one[0]=='/' && strcmp(one+strlen(one)-10, "/none/a.zt")==0);
    sqlite3_free(one);
  }
  set_home(tree);
}

/* --- Lists --- */

/* As assert_paths(), but in the order in which they come, below the working directory. */
static void check_list(const char *source, bool sorted, const char *expected){
  zt_paths_filter filter = any();
  zt_paths paths = find(source, &filter);
  zt_error err = ZT_ERROR_NONE;
  blob got = { 0 };
  for(size_t i=0; i<paths.n; i++){
    if( i ) put_byte(&got, ' ');
    put(&got, paths.a[i].z, strlen(paths.a[i].z));
  }
  put_byte(&got, 0);
  check( strcmp((char*)got.p, expected)==0, "%s: %s", source, (char*)got.p );
  check( paths.sorted==sorted, "%s", source );
  assert_false(paths.literal);
  assert_int_equal(zt_paths_sort(&paths, &filter.interrupt, &err), SQLITE_OK);
  assert_in_order(&paths, source);
  free(got.p);
  zt_paths_clear(&paths);
}

TEST_WITH(test_lists, enter_tree, leave_tree){
  char uri[128], odd[256];
  check_list("[]", true, "");
  check_list("[\"a.zt\"]", true, "a.zt");
  check_list("[\"a.zt\", \"b.zt\"]", true, "a.zt b.zt");
  check_list(" [ \"b.zt\" , \"a.zt\" ] ", false, "b.zt a.zt");
  check_list("[\"sub\", \"*.zt\", \"note.txt\"]", false,
             "sub/c.zt sub/deep/deeper/f.zt sub/deep/e.zt a.zt b.zt broken.zt fifo.zt link.zt loop.zt \xC3\xBC.zt note.txt");
  check_list("[\"[ab].zt\", \"sub/**/e.zt\"]", true, "a.zt b.zt sub/deep/e.zt");
  check_list("[\"other/x[1].zt\", \"other/x[[]1].zt\", \"other/x[0-9].zt\"]", false, "other/x[1].zt other/x1.zt");
  check_list("[\"\\u00fc.zt\"]", true, "\xC3\xBC.zt");
  /* Each path once, where it comes first; links to directories are followed for each source. */
  check_list("[\"b.zt\", \"a.zt\", \"b.zt\", \"[a-b].zt\", \"a.zt\"]", false, "b.zt a.zt");
  check_list("[\"a.zt\", \"a.zt\"]", true, "a.zt");
  check_list("[\"a.zt\", \"./a.zt\"]", false, "a.zt ./a.zt");
  check_list("[\"link*/c.zt\", \"**/c.zt\"]", true, "linkdir/c.zt sub/c.zt");
  /* Missing files */
  check_list("[\"none.zt\", \"a.zt\", \"none*.zt\", \"empty\"]", false, "none.zt a.zt");
  /* Lists of all kinds */
  set_home(tree);
  snprintf(uri, sizeof(uri), "[\"~/b.zt\", \"file://%s/%%61.zt\"]", tree);
  snprintf(odd, sizeof(odd), "%s/b.zt %s/a.zt", tree, tree);
  check_list(uri, false, odd);
}

TEST_WITH(test_what_a_list_knows_of_its_paths, enter_tree, leave_tree){
  static const char source[] = "[\"none.zt\", \"a.zt\", \"sub\", \"fifo.zt\", \"loop.zt\", \"[b].zt\"]";
  static const struct { const char *path; bool literal, regular; int error_number; } rows[] = {
    { "none.zt", true, false, ENOENT }, { "a.zt", true, true, 0 }, { "sub/c.zt", false, true, 0 },
    { "sub/deep/deeper/f.zt", false, true, 0 }, { "sub/deep/e.zt", false, true, 0 }, { "fifo.zt", true, false, 0 },
    { "loop.zt", true, false, ELOOP }, { "b.zt", false, true, 0 },
  };
  zt_paths_filter filter = any();
  zt_paths paths = find(source, &filter);
  assert_int_equal(paths.n, COUNT(rows));
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_path *p = &paths.a[i];
    assert_string_equal(p->z, rows[i].path);
    check( p->literal==rows[i].literal && p->error_number==rows[i].error_number, "%s: %d", p->z, p->error_number );
    check( !p->regular || rows[i].regular, "%s", p->z );   /* Not every file system tells */
    if( p->error_number ) assert_string_equal(p->action, "open");
  }
  zt_paths_clear(&paths);
}

static bool stop_at_the_third(void *context){
  return ++*(int*)context>=3;
}

/* Lists of every length, in an order without order: sorted, or interrupted and whole. */
TEST_WITH(test_sorting, enter_tree, leave_tree){
  for(size_t n=0; n<2000; n += n<40 ? 1 : 397){
    for(int stop=0; stop<2; stop++){
      blob source = { 0 };
      zt_paths_filter filter = any();
      zt_error err = ZT_ERROR_NONE;
      zt_paths paths;
      size_t found;
      int asked = 0;
      put(&source, "[", 1);
      for(size_t i=0; i<n; i++){
        char name[32];
        put(&source, name, (size_t)snprintf(name, sizeof(name), "%s\"none/%zu\"", i ? "," : "", i*7919%(n+n/2)));
      }
      put(&source, "]", 2);
      paths = find((char*)source.p, &filter);
      found = paths.n;
      if( stop ) filter.interrupt = (zt_interrupt){ stop_at_the_third, &asked };
      if( zt_paths_sort(&paths, &filter.interrupt, &err)==SQLITE_OK ){
        assert_in_order(&paths, (char*)source.p);
        assert_int_equal(paths.n, found);
      }else{
        assert_int_equal(err.rc, SQLITE_INTERRUPT);
        assert_false(paths.sorted);
      }
      check( err.rc==SQLITE_OK || (stop && n>100), "%zu", n );
      check( stop==0 || n<1000 || err.rc==SQLITE_INTERRUPT, "%zu", n );
      zt_error_clear(&err);
      zt_paths_clear(&paths);
      free(source.p);
    }
  }
}

/* The name of a file comes before what it says. */
TEST_WITH(test_a_file_with_the_name_of_a_list, enter_tree, leave_tree){
  write_file("[\"a.zt\"]", "x", 1);
  check_home("[\"a.zt\"]", "", "[\"a.zt\"]");
  assert_int_equal(unlink("[\"a.zt\"]"), 0);
}

TEST_WITH(test_lists_that_fail, enter_tree, leave_tree){
  static const struct { const char *source, *message; } rows[] = {
    { "[\"a.zt\", 7]", "ztensor: the source is a list: element 1 is a number, not text" },
    { "[\"a.zt\"", "ztensor: the source is a list: byte 7: the array ends without ]" },
    { "[\"a.zt\", [\"b.zt\"]]", "ztensor: the source is a list: element 1 is an array, not text" },
    { "[\"a.zt\", \"[\\\"b.zt\\\"]\"]", "ztensor: [\"b.zt\"]: a list of sources cannot be an element of a list" },
    { "[\"a.zt\", \"file://host/b.zt\"]", "ztensor: file://host/b.zt: a file: URI with a host other than localhost" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = any();
    zt_paths paths;
    err.path = rows[i].source;
    assert_int_equal(zt_paths_find(rows[i].source, &filter, &paths, &err), SQLITE_ERROR);
    assert_string_equal(err.message, rows[i].message);
    assert_null(err.path);   /* No file's failure */
    assert_true(paths.n==0 && !paths.a);
    zt_error_clear(&err);
  }
}

TEST_WITH(test_one_path_is_no_list, enter_tree, leave_tree){
  static const char *const sources[] = { "[\"a.zt\"]", "[]", "[1]", "[\"a.zt" };
  for(size_t i=0; i<COUNT(sources); i++){
    zt_error err = ZT_ERROR_NONE;
    char *one;
    zt_stat stat;
    assert_int_equal(zt_paths_one(sources[i], &one, &stat, &err), SQLITE_ERROR);
    assert_failed(&err, "exactly one file is needed, not a list", sources[i]);
    assert_null(one);
  }
}

TEST(test_an_interrupt_ends_a_list){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  zt_paths paths;
  int asked = 0;
  filter.interrupt = (zt_interrupt){ stop_at_the_third, &asked };
  assert_int_equal(zt_paths_find("[\"a\", \"b\", \"c\", \"d\"]", &filter, &paths, &err), SQLITE_INTERRUPT);
  assert_int_equal(asked, 3);
  assert_null(err.message);
  assert_true(paths.n==0 && !paths.a);
  zt_error_clear(&err);
}

typedef struct patience {
  int asked, most;
} patience;

static bool no_patience(void *context){
  patience *p = context;
  return ++p->asked>p->most;
}

/* Each element is asked about once; what comes behind, too, may be long. */
TEST(test_an_interrupt_ends_the_search_for_repeated_paths){
  enum { N = 5000 };
  blob source = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  zt_paths paths;
  patience p = { 0, N };
  for(int i=0; i<N; i++){
    char name[32];
    put(&source, name, (size_t)snprintf(name, sizeof(name), "%c\"none/%d\"", i ? ',' : '[', i*7919%4000));
  }
  put(&source, "]", 2);
  filter.interrupt = (zt_interrupt){ no_patience, &p };
  assert_int_equal(zt_paths_find((char*)source.p, &filter, &paths, &err), SQLITE_INTERRUPT);
  assert_int_equal(p.asked, N+1);
  assert_true(paths.n==0 && !paths.a);
  zt_error_clear(&err);
  p = (patience){ 0, 1<<30 };
  assert_int_equal(zt_paths_find((char*)source.p, &filter, &paths, &err), SQLITE_OK);
  assert_int_equal(paths.n, 4000);
  zt_paths_clear(&paths);
  free(source.p);
}

/* --- Filters --- */

/* Every path that can be made of the tree's names up to some depth, links followed, and some odd spellings. */
static char **candidates;
static size_t nCandidates;

static void add_candidate(const char *path){
  candidates = realloc(candidates, (nCandidates+1)*sizeof(*candidates));
  candidates[nCandidates] = malloc(strlen(path)+1);
  strcpy(candidates[nCandidates++], path);
}

static void add_candidates(const char *directory, int depth){
  int error_number;
  zt_directory *d = zt_os_opendir(*directory ? directory : ".", &error_number);
  zt_kind kind;
  const char *name;
  if( !d ) return;
  while( (name = zt_os_readdir(d, &kind, &error_number))!=NULL ){
    char path[256];
    snprintf(path, sizeof(path), "%s%s%s", directory, *directory ? "/" : "", name);
    add_candidate(path);
    if( depth>1 ) add_candidates(path, depth-1);
  }
  zt_os_closedir(d);
}

static void add_odd_candidates(void){
  static const char *const odd[] = {
    "", "/", "//a.zt", "/./a.zt", "/../a.zt", "/sub/../a.zt", "/sub/./c.zt", "/sub//c.zt", "/sub/", "/a.zt/", "/none.zt",
    "/none/a.zt", "/sub/up/../a.zt", "/.", "/..",
    "/empty/none.zt", "/sub/up/sub/up/a.zt", "a.zt", "/a.zt2", "/a.z", "/other/x1", "2/a.zt"
  };
  for(size_t i=0; i<COUNT(odd); i++){
    char path[256];
    snprintf(path, sizeof(path), "%s%s", tree, odd[i]);
    add_candidate(path);
  }
  add_candidate("");
  add_candidate("a.zt");
  add_candidate("/");
  add_candidate("sub/c.zt");
}

static void free_candidates(void){
  for(size_t i=0; i<nCandidates; i++) free(candidates[i]);
  free(candidates);
  candidates = NULL;
  nCandidates = 0;
}

/* `only` gives just what filtering the whole list would. Returns how many candidates were in it. */
static size_t check_only(const char *source){
  zt_paths_filter filter = any();
  zt_paths all = find(source, &filter);
  size_t n = 0;
  for(size_t i=0; i<nCandidates; i++){
    zt_paths paths;
    bool in = false;
    for(size_t k=0; k<all.n; k++) in = in || strcmp(all.a[k].z, candidates[i])==0;
    filter.only = candidates[i];
    paths = find(source, &filter);
    check( paths.n==in, "%s: only '%s' gives %zu", source, candidates[i], paths.n );
    if( in ) assert_string_equal(paths.a[0].z, candidates[i]);
    check( paths.literal==all.literal, "%s", source );
    zt_paths_clear(&paths);
    n += in;
  }
  zt_paths_clear(&all);
  return n;
}

TEST(test_only_one_path_equals_filtering_the_list){
  static const char *const others[] = { "", "sub", "sub/", "linkdir", "a.zt", "other/x[1].zt", "broken.zt", "sub/up" };
  size_t n = 0;
  add_candidates(tree, 5);
  add_odd_candidates();
  assert_true(nCandidates>200);
  for(size_t i=0; i<COUNT(patterns); i++){
    char *source = in_tree(patterns[i].pattern);
    n += check_only(source);
    free(source);
  }
  for(size_t i=0; i<COUNT(others); i++){
    char *source = in_tree(others[i]);
    n += check_only(source);
    free(source);
  }
  assert_true(n>200);
  free_candidates();
}

TEST_WITH(test_only_one_path_of_relative_sources, enter_tree, leave_tree){
  static const char *const sources[] = { "*.zt", "./*.zt", "**/*.zt", "**", "sub", "sub/", ".", "*/*", "a.zt", "sub/../*.zt",
      "[\"sub\", \"*.zt\", \"sub/c.zt\", \"./sub\", \"loop.zt\"]" };
  size_t n = 0;
  add_candidates("", 3);
  add_candidates(".", 3);
  add_candidates("sub/..", 2);
  for(size_t i=0; i<COUNT(sources); i++) n += check_only(sources[i]);
  assert_true(n>60);
  free_candidates();
}

static bool keep_if_named(void *context, const char *path){
  return strstr(path, context)!=NULL;
}

TEST(test_keep){
  static const struct { const char *pattern, *part, *expected; } rows[] = {
    { "**/*.zt", "deep", "linkdir/deep/deeper/f.zt linkdir/deep/e.zt sub/deep/deeper/f.zt sub/deep/e.zt" },
    { "**/*.zt", "linkdir/", "linkdir/c.zt linkdir/deep/deeper/f.zt linkdir/deep/e.zt" },
    { "*.zt", "a", "a.zt" }, { "*.zt", "none", "" }, { "a.zt", "a.zt", "a.zt" }, { "a.zt", "b.zt", "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char part[32], *source = in_tree(rows[i].pattern), prefix[sizeof(tree)+1];
    zt_paths_filter filter = any();
    zt_paths paths;
    snprintf(part, sizeof(part), "/%s", rows[i].part);
    filter.keep = keep_if_named;
    filter.context = part + (strcmp(rows[i].part, "deep")==0 || strstr(rows[i].part, "none")!=NULL);
    snprintf(prefix, sizeof(prefix), "%s/", tree);
    paths = find(source, &filter);
    assert_paths(&paths, source, prefix, rows[i].expected);
    zt_paths_clear(&paths);
    free(source);
  }
}

/* --- Interrupts, and what cannot be read --- */

TEST(test_an_interrupt_ends_the_walk){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = any();
  zt_paths paths;
  int asked = 0;
  filter.interrupt = (zt_interrupt){ stop_at_the_third, &asked };
  assert_int_equal(zt_paths_find(tree, &filter, &paths, &err), SQLITE_INTERRUPT);
  assert_null(err.message);
  assert_int_equal(asked, 3);
  assert_true(paths.n==0 && !paths.a);
  zt_error_clear(&err);
}

/* Find while so many files can be opened and no more: where that is none, a directory cannot be listed, not even by the
** superuser. */
static zt_paths find_with_descriptors(const char *source, const zt_paths_filter *filter, unsigned n){
  zt_error err = ZT_ERROR_NONE;
  struct rlimit before, fewer;
  zt_paths paths;
  int next = dup(0);
  assert_true(next>=0);
  close(next);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  fewer = before;
  fewer.rlim_cur = (rlim_t)next+n;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &fewer), 0);
  zt_paths_find(source, filter, &paths, &err);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_succeeded(&err, source);
  return paths;
}

static zt_paths find_without_descriptors(const char *source, const zt_paths_filter *filter){
  return find_with_descriptors(source, filter, 0);
}

/* --- Threads --- */

static char wide[] = "/tmp/ztensor-wide-XXXXXX";

/* 30 directories of 100 files. */
static int make_wide(void **state){
  char path[100];
  (void)state;
  assert_non_null(mkdtemp(wide));
  for(int d=0; d<30; d++){
    snprintf(path, sizeof(path), "%s/%d", wide, d);
    assert_int_equal(mkdir(path, 0755), 0);
    for(int i=0; i<100; i++){
      snprintf(path, sizeof(path), "%s/%d/%d.zt", wide, d, i);
      write_file(path, "", 0);
    }
  }
  return 0;
}

static int remove_wide(void **state){
  (void)state;
  assert_int_equal(remove_all(wide), 0);
  strcpy(wide+strlen(wide)-6, "XXXXXX");
  return 0;
}

/* Each takes a descriptor, of which one directory after the other needs one. */
TEST_WITH(test_threads_list_with_as_many_descriptors_as_one_does, make_wide, remove_wide){
  zt_paths_filter filter = any();
  zt_paths expected = find(wide, &filter);
  assert_int_equal(expected.n, 3000);
  filter.pool = pool;
  for(int i=0; i<50; i++){
    zt_paths paths = find_with_descriptors(wide, &filter, 1);
    assert_same_paths(&expected, &paths, wide);
    zt_paths_clear(&paths);
  }
  zt_paths_clear(&expected);
}

/* And each has a directory's names. */
TEST_WITH(test_threads_list_in_as_much_memory_as_one_does, make_wide, remove_wide){
  zt_paths_filter filter = any();
  sqlite3_int64 most = 0;
  sqlite3_memory_highwater(1);
  for(int i=0; i<20; i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths paths;
    int rc;
    if( i>0 ) sqlite3_hard_heap_limit64(most+4096);   /* For what threads work on */
    filter.pool = i>0 ? pool : NULL;
    rc = zt_paths_find(wide, &filter, &paths, &err);
    sqlite3_hard_heap_limit64(0);
    if( i==0 ) most = sqlite3_memory_highwater(0);
    assert_int_equal(rc, SQLITE_OK);
    assert_int_equal(paths.n, 3000);
    zt_paths_clear(&paths);
  }
}

/* An interrupt counts even if the callback says yes only once, as a progress handler does. */
typedef struct once {
  atomic_int asked;
  int at;
} once;

static bool stop_once(void *context){
  once *o = context;
  return ++o->asked==o->at;
}

TEST_WITH(test_an_interrupt_is_heard_by_threads, make_wide, remove_wide){
  int interrupted = 0;
  for(int at=1; at<80; at++){
    for(int threads=0; threads<2; threads++){
      once o = { .at = at };
      zt_error err = ZT_ERROR_NONE;
      zt_paths_filter filter = any();
      zt_paths paths;
      int rc;
      filter.interrupt = (zt_interrupt){ stop_once, &o };
      filter.pool = threads ? pool : NULL;
      rc = zt_paths_find(wide, &filter, &paths, &err);
      check( rc==(o.asked>=at ? SQLITE_INTERRUPT : SQLITE_OK), "%d, %d threads: %d", at, threads, rc );
      interrupted += rc==SQLITE_INTERRUPT;
      zt_paths_clear(&paths);
      zt_error_clear(&err);
    }
  }
  assert_true(interrupted>60);
}

TEST(test_a_directory_that_cannot_be_listed_is_a_result){
  static const struct { const char *source, *path; } rows[] = {
    { "sub", "sub" }, { "sub/*.zt", "sub/" }, { "sub/**/*.zt", "sub/" }, { "other/x*", "other/" }, { "", "" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_paths_filter filter = any();
    char *source = in_tree(rows[i].source), *path = in_tree(rows[i].path);
    zt_paths paths = find_without_descriptors(source, &filter);
    check( paths.n==1 && strcmp(paths.a[0].z, path)==0, "%s: %zu, '%s'", source, paths.n, paths.n ? paths.a[0].z : "" );
    assert_int_equal(paths.a[0].error_number, EMFILE);
    assert_false(paths.literal || paths.a[0].regular);
    zt_paths_clear(&paths);
    filter.keep = keep_if_named;
    filter.context = (char[]){ "nothing has this name" };
    paths = find_without_descriptors(source, &filter);
    assert_int_equal(paths.n, 0);
    zt_paths_clear(&paths);
    free(path);
    free(source);
  }
}

TEST_WITH(test_the_working_directory_has_a_name_when_it_cannot_be_listed, enter_tree, leave_tree){
  static const char *const sources[] = { "./*.zt", ".", "*.zt", "**/*.zt" };
  for(size_t i=0; i<COUNT(sources); i++){
    zt_paths_filter filter = any();
    zt_paths paths = find_without_descriptors(sources[i], &filter);
    struct stat s;
    assert_int_equal(paths.n, 1);
    assert_int_equal(paths.a[0].error_number, EMFILE);
    check( stat(paths.a[0].z, &s)==0 && S_ISDIR(s.st_mode), "%s: '%s' is the name of no directory", sources[i], paths.a[0].z );
    zt_paths_clear(&paths);
  }
}

/* Without permission, too. The superuser has every permission; there the directory is listed. */
TEST(test_a_directory_without_permission_is_a_result){
  zt_paths_filter filter = any();
  char *closed = in_tree("sub/deep"), *source = in_tree("sub");
  zt_paths paths;
  assert_int_equal(chmod(closed, 0000), 0);
  paths = find(source, &filter);
  if( geteuid()==0 ){
    assert_int_equal(paths.n, 3);
  }else{
    assert_int_equal(paths.n, 2);
    assert_string_equal(paths.a[1].z, closed);
    assert_int_equal(paths.a[1].error_number, EACCES);
  }
  assert_in_order(&paths, source);
  zt_paths_clear(&paths);
  assert_int_equal(chmod(closed, 0755), 0);
  free(closed);
  free(source);
}

/* Longer than the walk's first room for a path, deeper than anything else here. */
TEST_WITH(test_long_paths, enter_tree, leave_tree){
  char pattern[6000] = "long/**/x.zt";
  zt_paths_filter filter = any();
  zt_paths paths;
  assert_int_equal(mkdir("long", 0755), 0);
  assert_int_equal(chdir("long"), 0);
  for(int depth=0; depth<12; depth++){
    char name[201];
    memset(name, 'a'+depth, 200);
    name[200] = 0;
    assert_int_equal(mkdir(name, 0755), 0);
    assert_int_equal(chdir(name), 0);
  }
  write_file("x.zt", "x", 1);
  assert_int_equal(chdir(tree), 0);
  for(int i=0; i<2; i++){
    paths = find(pattern, &filter);
    assert_int_equal(paths.n, 1);
    assert_int_equal(strlen(paths.a[0].z), 4+12*201+5);
    zt_paths_clear(&paths);
    strcpy(pattern, "long/*/*/*/*/*/*/*/*/*/*/*/*/*");
  }
}

/* Names in patterns, and an only path, that are too long: by one byte, as the system counts, and by many. */
TEST_WITH(test_what_is_too_long_finds_nothing, enter_tree, leave_tree){
  static const size_t lengths[] = { 256, 300, 5000 };
  static const char *const before[] = { "", "sub/", "*/", "**/", "sub/*/", "s*/", "./", "none/" }, *const after[] = { "", "/", "/*", "/**", "/a.zt", "*" };
  zt_paths_filter filter = any();
  size_t n = 0;
  for(size_t l=0; l<COUNT(lengths); l++){
    for(size_t b=0; b<COUNT(before); b++){
      for(size_t a=0; a<COUNT(after); a++){
        static const char *const sources[] = { "*.zt", "**", "**/*.zt", "sub", ".", "*/*", "a.zt", "[\"a.zt\", \"sub\"]" };
        char path[5100];
        zt_paths paths;
        snprintf(path, sizeof(path), "%s%0*d%s", before[b], (int)lengths[l], 0, after[a]);
        if( zt_glob_is_pattern(path) ){
          paths = find(path, &filter);
          check( paths.n==0, "%s: '%s'", path, paths.a[0].z );
          zt_paths_clear(&paths);
          n++;
        }
        for(size_t i=0; i<COUNT(sources); i++){
          zt_paths_filter one = any();
          one.only = path;
          paths = find(sources[i], &one);
          check( paths.n==0, "%s: '%s'", sources[i], path );
          zt_paths_clear(&paths);
        }
      }
    }
  }
  assert_int_equal(n, COUNT(lengths)*(4*6 + 4*3));
}

/* A file that is there, where no path that the system takes leads to: its directory cannot be listed, whichever way it is asked. */
TEST_WITH(test_a_directory_with_paths_too_long_cannot_be_listed, enter_tree, leave_tree){
  char above[5000] = "", name[201];
  static const char *const sources[] = { "endless", "endless/**", "endless/**/x.zt", "endless/**/*.zt" };
  int depth = 0;
  memset(name, 'd', 200);
  name[200] = 0;
  assert_int_equal(mkdir("endless", 0755) | chdir("endless"), 0);
  strcpy(above, "endless");
  for(; depth<25; depth++){
    assert_int_equal(mkdir(name, 0755) | chdir(name), 0);
    if( strlen(above)+201<PATH_MAX ) sprintf(above+strlen(above), "/%s", name);
  }
  write_file("x.zt", "x", 1);
  assert_int_equal(chdir(tree), 0);
  for(size_t i=0; i<COUNT(sources); i++){
    zt_paths_filter filter = any();
    zt_paths paths = find(sources[i], &filter);
    check( paths.n==1 && strcmp(paths.a[0].z, above)==0, "%s: %zu, '%s'", sources[i], paths.n, paths.n ? paths.a[0].z : "" );
    assert_int_equal(paths.a[0].error_number, ENAMETOOLONG);
    assert_string_equal(paths.a[0].action, "list the directory");
    zt_paths_clear(&paths);
    filter.only = above;
    paths = find(sources[i], &filter);
    check( paths.n==1 && strcmp(paths.a[0].z, above)==0, "%s: %zu", sources[i], paths.n );
    zt_paths_clear(&paths);
    strcat(above, "/x.zt");
    paths = find(sources[i], &filter);
    check( paths.n==0, "%s: %zu", sources[i], paths.n );
    zt_paths_clear(&paths);
    above[strlen(above)-5] = 0;
  }
}

TEST(test_paths_below_a_directory){
  static const struct { const char *path, *above; bool below; } rows[] = {
    { "a/b", "a", true }, { "a/b", "a/", true }, { "ab", "a", false }, { "a", "a", false }, { "/a", "/", true }, { "b/a", "a", false },
    { "a", ".", true }, { "./a", ".", true }, { ".a", ".", true }, { "/a", ".", false }, { ".", ".", true }, { "a", "", false }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    check( zt_path_is_below(rows[i].path, rows[i].above)==rows[i].below, "%s below %s", rows[i].path, rows[i].above );
  }
}

/* The first failure stays. */
TEST(test_a_url_that_is_not_read){
  zt_error err = ZT_ERROR_NONE;
  const zt_path url = { .z = "xy://z", .error_number = EACCES };
  assert_int_equal(zt_path_fail(&url, &err), SQLITE_ERROR);
  assert_int_equal(err.system, EACCES);
  assert_failed(&err, "a URL of scheme 'xy' is not read", "first");
  zt_fail(&err, SQLITE_TOOBIG, "before");
  assert_int_equal(zt_path_fail(&url, &err), SQLITE_TOOBIG);
  assert_int_equal(err.system, 0);
  zt_error_clear(&err);
}

/* A directory whose own name has wildcards stands in a pattern as it is. One that is gone has no path any more. */
TEST(test_absolute_patterns){
  static const zt_interrupt nobody = { NULL, NULL };
  char *place = in_tree("w[1]*"), *expected = in_tree("w[[]1][*]/x?.zt"), *resolved = realpath(tree, NULL), *out;
  zt_error err = ZT_ERROR_NONE;
  const int here = open(".", O_RDONLY|O_DIRECTORY);
  assert_true(here>=0 && resolved);
  assert_int_equal(mkdir(place, 0755), 0);
  assert_int_equal(chdir(place), 0);
  assert_int_equal(zt_paths_absolute("x?.zt", false, &nobody, &out, &err), SQLITE_OK);
  assert_string_equal(out+strlen(resolved), expected+strlen(tree));
  sqlite3_free(out);
  assert_int_equal(rmdir(place), 0);
  assert_int_equal(zt_paths_absolute("none/x.zt", false, &nobody, &out, &err), SQLITE_OK);
  assert_string_equal(out, "none/x.zt");
  sqlite3_free(out);
  assert_int_equal(fchdir(here), 0);
  close(here);
  free(resolved);
  free(expected);
  free(place);
}

TEST(test_urls){
  static const char *const urls[] = {
    "s3://b/k", "S3://b", "https://h/*", "gs://", "a+b-c.1://x", "filex://x", "hf://o/r", "fil://x", "s3://*"
  };
  static const char *const others[] = {
    "", "s3", "s3:", "s3:/b", "s3:/", "://x", "C://x", "c:\\x", "1s://x", "s 3://x", "./s3://b", "/s3://b", "file://x", "FILE:///x", "-a://x",
    "[\"s3://b\"]", "~/s3://b"
  };
  for(size_t i=0; i<sizeof(urls)/sizeof(*urls); i++) assert_true(zt_path_is_url(urls[i]));
  for(size_t i=0; i<sizeof(others)/sizeof(*others); i++) assert_false(zt_path_is_url(others[i]));
}

int main(void){
  return run_all("paths", make_tree, remove_tree);
}

TEST_WITH(test_targets, enter_tree, leave_tree){
  static const struct { const char *text, *path; } rows[] = {
    { "new.zt", "new.zt" }, { "a*[b].zt", "a*[b].zt" }, { "[\"a.zt\"]", "[\"a.zt\"]" }, { "~x/a.zt", "~x/a.zt" }, { "file", "file" },
    { "file:new.zt", "new.zt" }, { "FILE:/x/a%20%2a.zt", "/x/a *.zt" }, { "file://localhost/x.zt", "/x.zt" }, { "~/n.zt", "/home/of/n.zt" }
  };
  static const struct { const char *text, *said; } bad[] = {
    { "s3://b/x.zt", "a URL of scheme 's3' is not written" }, { "https://h/x", "a URL of scheme 'https' is not written" },
    { "file://h/x.zt", "a host other than localhost" }, { "file:a%0.zt", "bad percent-encoding" }, { "file:a.zt#x", "query or fragment" }
  };
  char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *out;
  zt_error err = ZT_ERROR_NONE;
  assert_int_equal(setenv("HOME", "/home/of/", 1), 0);
  for(size_t i=0; i<COUNT(rows); i++){
    check( zt_paths_target(rows[i].text, &out, &err)==SQLITE_OK, "%s", rows[i].text );
    assert_string_equal(out, rows[i].path);
    sqlite3_free(out);
  }
  for(size_t i=0; i<COUNT(bad); i++){
    assert_int_equal(zt_paths_target(bad[i].text, &out, &err), SQLITE_ERROR);
    assert_failed(&err, bad[i].said, bad[i].text);
    assert_null(out);
  }
  if( before ) setenv("HOME", before, 1);
  free(before);
}
