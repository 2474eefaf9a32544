/*
** Files as Windows has them: core/os.h and core/paths.h there, and the extension as a host loads it. Not among the tests
** that run everywhere; tests/windows/run.sh runs it from the project's root, in build/windows.
*/
#include "test.h"

#include <errno.h>
#include <windows.h>
#include <winioctl.h>
#include "core/paths.h"
#include "core/source.h"

/* Beyond ASCII, of two, three and four bytes in UTF-8. */
#define TREE "build/windows/tree \xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80"
#define BACK "build\\windows\\tree \xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80"
#define SHARE_ALL (FILE_SHARE_READ|FILE_SHARE_WRITE|FILE_SHARE_DELETE)

/* --- What a test makes, through the system's own functions --- */

/* A path for the system: absolute, so that it may be of any length. The next call but three reuses the memory. */
static const wchar_t *wide_path(const char *path){
  static wchar_t paths[4][2000];
  static int next;
  wchar_t relative[1000], *out = paths[next++ % 4];
  assert_true(MultiByteToWideChar(CP_UTF8, 0, path, -1, relative, 1000)>0);
  wcscpy(out, L"\\\\?\\");
  assert_true(GetFullPathNameW(relative, 1900, out+4, NULL)>0);
  return out;
}

static void make_directory(const char *path){
  check( CreateDirectoryW(wide_path(path), NULL), "%s", path );
}

static HANDLE open_for_writing(const char *path){
  HANDLE h = CreateFileW(wide_path(path), GENERIC_WRITE, SHARE_ALL, NULL, OPEN_ALWAYS, 0, NULL);
  check( h!=INVALID_HANDLE_VALUE, "%s", path );
  return h;
}

static void write_wide(const char *path, const void *p, size_t n){
  HANDLE h = open_for_writing(path);
  DWORD written;
  assert_true(SetEndOfFile(h));
  assert_true(WriteFile(h, p, (DWORD)n, &written, NULL));
  assert_int_equal(written, n);
  CloseHandle(h);
}

static void copy_golden(const char *from, const char *to){
  check( CopyFileW(wide_path(from), wide_path(to), FALSE), "%s", to );
}

static void rename_to(const char *from, const char *to){
  check( MoveFileExW(wide_path(from), wide_path(to), MOVEFILE_REPLACE_EXISTING), "%s", to );
}

/* Remove what is below the directory, and the directory itself. */
static void remove_tree(const wchar_t *path){
  wchar_t below[2000];
  WIN32_FIND_DATAW entry;
  HANDLE h;
  swprintf(below, 2000, L"%ls\\*", path);
  h = FindFirstFileW(below, &entry);
  if( h==INVALID_HANDLE_VALUE ) return;
  do{
    if( wcscmp(entry.cFileName, L".")==0 || wcscmp(entry.cFileName, L"..")==0 ) continue;
    swprintf(below, 2000, L"%ls\\%ls", path, entry.cFileName);
    if( entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ) remove_tree(below);
    else DeleteFileW(below);
  }while( FindNextFileW(h, &entry) );
  FindClose(h);
  RemoveDirectoryW(path);
}

static int make_tree(void **state){
  wchar_t path[2000];
  (void)state;
  wcscpy(path, wide_path(TREE));
  remove_tree(path);
  return !CreateDirectoryW(path, NULL) || sqlite3_initialize();
}

static int clear_tree(void **state){
  wchar_t path[2000];
  (void)state;
  wcscpy(path, wide_path(TREE));
  remove_tree(path);
  return GetFileAttributesW(path)!=INVALID_FILE_ATTRIBUTES;
}

/* --- Files --- */

static zt_source *open_source(const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  zt_source_open(path, NULL, &s, &err);
  assert_succeeded(&err, path);
  return s;
}

static void assert_bytes(zt_source *s, uint64_t offset, const char *expected){
  zt_error err = ZT_ERROR_NONE;
  char buffer[16] = { 0 };
  zt_source_read(s, offset, buffer, strlen(expected), &err);
  assert_succeeded(&err, expected);
  assert_string_equal(buffer, expected);
}

/* Offsets have 64 bits; the end of a file is no failure of the system's. */
TEST_WITH(test_reads_beyond_4_gib, make_tree, clear_tree){
  const char *path = TREE "/large";
  LARGE_INTEGER at = { .QuadPart = (INT64_C(5)<<30) - 4 };
  zt_error err = ZT_ERROR_NONE;
  int error_number;
  char buffer[16];
  zt_source *s;
  zt_stat state_of;
  zt_file file;
  DWORD n;
  HANDLE h = open_for_writing(path);
  assert_true(DeviceIoControl(h, FSCTL_SET_SPARSE, NULL, 0, NULL, 0, &n, NULL));
  assert_true(SetFilePointerEx(h, at, NULL, FILE_BEGIN));
  assert_true(WriteFile(h, "tail", 4, &n, NULL));
  CloseHandle(h);
  s = open_source(path);
  assert_int_equal(zt_source_size(s), UINT64_C(5)<<30);
  assert_bytes(s, (uint64_t)at.QuadPart, "tail");
  assert_bytes(s, (uint64_t)at.QuadPart+1, "ail");
  zt_source_close(s);
  file = zt_os_open(path, NULL, &state_of, &err);
  assert_int_equal(zt_os_read(file, (uint64_t)at.QuadPart, buffer, sizeof(buffer), &error_number), 4);
  assert_int_equal(zt_os_read(file, UINT64_C(6)<<30, buffer, sizeof(buffer), &error_number), 0);
  assert_int_equal(error_number, 0);
  zt_os_close(file);
}

/* 100 ns is the finest that the system tells. */
TEST_WITH(test_identity, make_tree, clear_tree){
  const int64_t units = 133500000012345678;   /* Since 1601 */
  FILETIME t = { (DWORD)(units & 0xFFFFFFFF), (DWORD)(units>>32) };
  zt_stat a, b, again;
  zt_source *s;
  HANDLE h;
  write_wide(TREE "/a", "four", 4);
  write_wide(TREE "/b", "four", 4);
  h = open_for_writing(TREE "/a");
  assert_true(SetFileTime(h, NULL, NULL, &t));
  CloseHandle(h);
  assert_int_equal(zt_os_stat(TREE "/a", &a), 0);
  assert_int_equal(zt_os_stat(TREE "/b", &b), 0);
  assert_int_equal(zt_os_stat(BACK "\\a", &again), 0);
  assert_int_equal(a.kind, ZT_KIND_FILE);
  assert_int_equal(a.id.size, 4);
  assert_int_equal(a.id.mtime, (units - INT64_C(116444736000000000))*100);
  assert_true(a.id.inode!=0 && a.id.inode!=b.id.inode && a.id.device==b.id.device);
  assert_memory_equal(&a, &again, sizeof(a));
  assert_true(zt_os_settled(&(zt_identity){ .mtime = a.id.mtime, .ctime = a.id.mtime }));
  assert_false(zt_os_settled(&(zt_identity){ .mtime = a.id.mtime, .ctime = INT64_MAX }));
  s = open_source(TREE "/a");
  assert_memory_equal(zt_source_identity(s), &a.id, sizeof(a.id));
  zt_source_close(s);
}

/* A reader does not hinder other users of the file. */
TEST_WITH(test_others_may_write_rename_and_delete, make_tree, clear_tree){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  zt_stat before, after;
  write_wide(TREE "/open", "first", 5);
  assert_int_equal(zt_os_stat(TREE "/open", &before), 0);
  s = open_source(TREE "/open");
  rename_to(TREE "/open", TREE "/aside");
  write_wide(TREE "/open", "other", 5);
  assert_bytes(s, 0, "first");
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  assert_int_equal(zt_os_stat(TREE "/open", &after), 0);
  assert_int_not_equal(after.id.inode, before.id.inode);
  write_wide(TREE "/aside", "longer", 6);
  assert_bytes(s, 0, "longe");
  zt_source_unchanged(s, &err);
  assert_failed(&err, "the file was written to while it was read", "longer");
  assert_true(DeleteFileW(wide_path(TREE "/aside")));
  assert_bytes(s, 0, "longe");
  write_wide(TREE "/open", "", 0);
  zt_source_close(s);
  s = open_source(TREE "/open");
  assert_int_equal(zt_source_size(s), 0);
  zt_source_close(s);
}

static void assert_refused(const char *path, const char *what){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  assert_int_equal(zt_source_open(path, NULL, &s, &err), SQLITE_ERROR);
  assert_null(s);
  assert_failed(&err, what, path);
}

TEST_WITH(test_what_is_no_file, make_tree, clear_tree){
  char malformed[100];
  snprintf(malformed, sizeof(malformed), "cannot open: %s", strerror(EILSEQ));
  assert_refused(TREE, "is a directory, not a regular file");
  assert_refused(TREE "\\", "is a directory, not a regular file");
  assert_refused("NUL", "is a device, not a regular file");
  assert_refused(TREE "/missing", "cannot open: No such file or directory");
  assert_refused(TREE "/missing/file", "cannot open: No such file or directory");
  assert_refused(TREE "/*?.zt", "cannot open: No such file or directory");
  assert_refused("", "cannot open: No such file or directory");
  assert_refused(TREE "/\xFF", malformed);
}

/* One that others may not read just now is there, and says why it cannot be read. */
TEST_WITH(test_a_file_that_is_locked, make_tree, clear_tree){
  HANDLE h;
  zt_stat s;
  write_wide(TREE "/locked", "four", 4);
  h = CreateFileW(wide_path(TREE "/locked"), GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
  assert_true(h!=INVALID_HANDLE_VALUE);
  assert_int_equal(zt_os_exists(TREE "/locked"), 0);
  assert_int_equal(zt_os_stat(TREE "/locked", &s), 0);
  assert_refused(TREE "/locked", "cannot open: Permission denied");
  CloseHandle(h);
}

/* --- Paths --- */

static bool never(void *context){
  (void)context;
  return false;
}

static bool is_zt(const char *name){ return zt_glob_match_any("*.zt", name); }

/* The paths that the source finds, each followed by a bar. */
static void assert_found(const char *source, const char *expected){
  zt_paths_filter filter = { .files = is_zt, .interrupt = { never, NULL } };
  zt_error err = ZT_ERROR_NONE;
  char found[4000] = "";
  zt_paths p;
  zt_paths_find(source, &filter, &p, &err);
  assert_succeeded(&err, source);
  for(size_t i=0; i<p.n; i++){
    assert_int_equal(p.a[i].error_number, 0);
    strcat(strcat(found, p.a[i].z), "|");
  }
  check( strcmp(found, expected)==0, "%s finds %s, expected %s", source, found, expected );
  zt_paths_clear(&p);
}

static void make_files(void){
  make_directory(TREE "/in");
  make_directory(TREE "/in/\xC3\xBC");
  write_wide(TREE "/in/a.zt", "x", 1);
  write_wide(TREE "/in/b.txt", "x", 1);
  write_wide(TREE "/in/\xC3\xBC/[c].zt", "x", 1);
}

/* Names are joined as the source's are. */
TEST_WITH(test_separators, make_tree, clear_tree){
  make_files();
  assert_found(TREE "/in/*.zt", TREE "/in/a.zt|");
  assert_found(BACK "\\in\\*.zt", BACK "\\in\\a.zt|");
  assert_found(BACK "\\*\\?.zt", BACK "\\in\\a.zt|");
  assert_found(BACK "\\**\\*.zt", BACK "\\in\\a.zt|" BACK "\\in\\\xC3\xBC\\[c].zt|");
  assert_found(TREE "/in", TREE "/in/a.zt|" TREE "/in/\xC3\xBC/[c].zt|");
  assert_found(BACK "\\in\\", BACK "\\in\\a.zt|" BACK "\\in\\\xC3\xBC\\[c].zt|");
  assert_found(BACK "\\in\\\xC3\xBC\\[c].zt", BACK "\\in\\\xC3\xBC\\[c].zt|");   /* There is such a file */
  assert_found(BACK "\\in\\\xC3\xBC\\[a-d].zt", "");
}

/* The tree's absolute path in UTF-8, with slashes or backslashes. */
static void absolute(char separator, char *out, int n){
  assert_true(WideCharToMultiByte(CP_UTF8, 0, wide_path(TREE)+4, -1, out, n, NULL, NULL)>0);
  for(char *z=out; *z; z++) if( *z=='\\' ) *z = separator;
}

TEST_WITH(test_drive_letters_and_uris, make_tree, clear_tree){
  char root[1000], source[2000], expected[2000];
  make_files();
  absolute('\\', root, sizeof(root));
  assert_int_equal(root[1], ':');
  snprintf(source, sizeof(source), "%s\\in\\*", root);
  snprintf(expected, sizeof(expected), "%s\\in\\a.zt|%s\\in\\b.txt|", root, root);
  assert_found(source, expected);
  snprintf(source, sizeof(source), "%s\\in\\a.zt", root+2);   /* On the current drive */
  snprintf(expected, sizeof(expected), "%s|", source);
  assert_found(source, expected);
  snprintf(source, sizeof(source), "\\\\?\\%s\\in", root);
  snprintf(expected, sizeof(expected), "%s\\a.zt|%s\\\xC3\xBC\\[c].zt|", source, source);
  assert_found(source, expected);
  absolute('/', root, sizeof(root));
  snprintf(source, sizeof(source), "file:///%s/in/*.zt", root);
  snprintf(expected, sizeof(expected), "%s/in/a.zt|", root);
  assert_found(source, expected);
  snprintf(source, sizeof(source), "file:/%c%%3a%s/in/%%C3%%bc/%%5bc%%5D.zt", root[0], root+2);
  snprintf(expected, sizeof(expected), "%s/in/\xC3\xBC/[c].zt|", root);
  assert_found(source, expected);
}

#define LEVEL "/a name of sixty-four bytes, so that few of them are a long path."

/* A path beyond MAX_PATH, and one where only the pattern that lists the directory is. */
TEST_WITH(test_long_paths, make_tree, clear_tree){
  char path[1000] = TREE, file[1100], expected[2400] = "";
  for(int i=0; i<6; i++){
    strcat(path, LEVEL);
    make_directory(path);
    snprintf(file, sizeof(file), "%s/x.zt", path);
    write_wide(file, "four", 4);
    zt_source_close(open_source(file));
    snprintf(expected, sizeof(expected), "%s|", file);
    assert_found(file, expected);
    snprintf(file, sizeof(file), "%s/*.zt", path);
    assert_found(file, expected);
  }
  for(size_t n=235; n<=262; n++){   /* Each length around the limits */
    snprintf(file, sizeof(file), "%s/", TREE);
    memset(file+strlen(file), 0, 300);
    memset(file+strlen(file), 'n', n-strlen(file));
    make_directory(file);
    strcat(file, "/y.zt");
    write_wide(file, "four", 4);
    snprintf(expected, sizeof(expected), "%s|", file);
    file[strlen(file)-5] = 0;
    assert_found(file, expected);
  }
}

/* --- The extension, as a host loads it --- */

static sqlite3 *load(void){
  sqlite3 *db;
  char *message = NULL;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  check( sqlite3_load_extension(db, "build/windows/ztensor", NULL, &message)==SQLITE_OK, "%s", message );
  return db;
}

static void assert_answer(sqlite3 *db, const char *sql, const char *expected){
  sqlite3_stmt *stmt;
  check( sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)==SQLITE_OK, "%s", sqlite3_errmsg(db) );
  check( sqlite3_step(stmt)==SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db) );
  check( strcmp((const char*)sqlite3_column_text(stmt, 0), expected)==0, "%s: %s, expected %s", sql,
         sqlite3_column_text(stmt, 0), expected );
  sqlite3_finalize(stmt);
}

/* A host that loads and unloads, twice. */
TEST(test_loading){
  for(int i=0; i<2; i++){
    sqlite3 *db = load();
    assert_answer(db, "SELECT zt_version() GLOB '*CNG)'", "1");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
  }
}

/* A shard lies beside its file, whose own name has no dot where the directory's has one. */
TEST_WITH(test_shards_beside_a_path_with_backslashes, make_tree, clear_tree){
  sqlite3 *db = load();
  make_directory(TREE "/model.v1");
  copy_golden("tests/formats/ztensor/golden/v2/hand_sharded.zt", TREE "/model.v1/m");
  copy_golden("tests/formats/ztensor/golden/v2/hand_sharded-part-1.zt", TREE "/model.v1/m-part-1.zt");
  assert_answer(db, "SELECT zt_blob('" BACK "\\model.v1\\m', 'far', 'data')"
                    "  = zt_blob('tests\\formats\\ztensor\\golden\\v2\\hand_sharded.zt', 'far', 'data')", "1");
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Replaced in one step or written anew in its place: the cache takes none for the other. */
TEST_WITH(test_a_changed_file_is_noticed, make_tree, clear_tree){
  static const struct { const char *golden, *objects; } rows[] = {
    { "tests/formats/ztensor/golden/v1.1/wheel_names.zt", "17" }, { "tests/formats/ztensor/golden/v1.2/wheel_ranks.zt", "13" },
    { "tests/formats/ztensor/golden/v0.1/wheel_ranks.zt", "11" },
  };
  const char *sql = "SELECT count(*)||'' FROM zt_objects('" BACK "\\now.zt')";
  sqlite3 *db = load();
  for(size_t i=0; i<2*COUNT(rows); i++){
    const char *golden = rows[i%COUNT(rows)].golden, *objects = rows[i%COUNT(rows)].objects;
    if( i<COUNT(rows) ){
      copy_golden(golden, TREE "/new.zt");
      rename_to(TREE "/new.zt", TREE "/now.zt");
    }else{
      blob b = read_file(golden);
      write_wide(TREE "/now.zt", b.p, b.n);
      free(b.p);
    }
    assert_answer(db, sql, objects);
    Sleep(200);   /* From now on it may be cached */
    assert_answer(db, sql, objects);
    assert_answer(db, sql, objects);
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int main(void){
  return run_all("windows", NULL, NULL);
}
