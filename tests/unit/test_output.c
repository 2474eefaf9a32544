/*
** Files in the making: core/output.h. tests/faults/test_writing.py has what each failure of the system does to a file that is
** written; here are those that meet another one.
*/
#include "refused.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../oom/memory.h"
#include "core/output.h"

static char dir[64], target[128];

static int make_folder(void **state){
  (void)state;
  umask(022);   /* Without one, a file may not stay unnamed: core/os_write_posix.c */
  strcpy(dir, "/tmp/test_output.XXXXXX");
  assert_non_null(mkdtemp(dir));
  snprintf(target, sizeof(target), "%s/a.zt", dir);
  return 0;
}

/* The names in the folder. */
static int count_names(void){
  DIR *d = opendir(dir);
  int n = -2;
  assert_non_null(d);
  while( readdir(d) ) n++;
  closedir(d);
  return n;
}

static void remove_content(void){
  DIR *d = opendir(dir);
  char path[400];
  for(struct dirent *e; (e = readdir(d))!=NULL; ){
    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
    if( unlink(path) ) rmdir(path);
  }
  closedir(d);
}

static int remove_folder(void **state){
  (void)state;
  remove_content();
  return rmdir(dir);
}

#define FOLDER_TEST(name) TEST_WITH(name, make_folder, remove_folder)

static zt_span text(const char *z){
  return (zt_span){ (const uint8_t*)z, strlen(z) };
}

static void assert_content(const char *path, const char *z){
  blob b = read_file(path);
  check( b.n==strlen(z) && memcmp(b.p, z, b.n)==0, "%s: '%.*s'", path, (int)b.n, (char*)b.p );
  free(b.p);
}

static zt_output *begin(zt_output_mode mode){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  zt_output_open(target, NULL, mode, true, &o, &err);
  assert_succeeded(&err, "open");
  return o;
}

/* A file with that content, up to its place. */
static zt_output *placed(zt_output_mode mode, const char *z){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = begin(mode);
  zt_output_append(o, text(z), &err);
  zt_output_sync(o, &err);
  zt_output_place(o, &err);
  assert_succeeded(&err, z);
  return o;
}

FOLDER_TEST(a_file_is_not_there_before_it_is_placed){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = begin(ZT_OUTPUT_CREATE);
  assert_int_equal(zt_output_append(o, text("abc"), &err), SQLITE_OK);
  assert_int_equal(access(target, F_OK), -1);
  zt_output_close(o);
  assert_int_equal(count_names(), 0);
  o = placed(ZT_OUTPUT_CREATE, "abc");
  assert_content(target, "abc");
  zt_output_keep(o);
  zt_output_close(o);
  assert_content(target, "abc");
  assert_int_equal(count_names(), 1);
}

FOLDER_TEST(a_file_that_is_not_kept_was_not_there){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = placed(ZT_OUTPUT_CREATE, "abc");
  assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
  assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
  zt_output_close(o);
  assert_int_equal(count_names(), 0);
  zt_output_close(placed(ZT_OUTPUT_REPLACE, "abc"));
  assert_int_equal(count_names(), 0);
}

FOLDER_TEST(a_replaced_file_comes_back_or_goes){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  struct stat s;
  write_file(target, "old", 3);
  chmod(target, 0640);
  for(int kept=0; kept<2; kept++) for(int mode=ZT_OUTPUT_REPLACE; mode<=ZT_OUTPUT_UPDATE; mode++){
    o = placed((zt_output_mode)mode, "new");
    assert_content(target, "new");
    assert_int_equal(count_names(), 2);
    if( kept ) zt_output_keep(o);
    else if( mode==ZT_OUTPUT_REPLACE ) assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
    zt_output_close(o);
    assert_content(target, kept ? "new" : "old");
    assert_int_equal(count_names(), 1);
    assert_int_equal(stat(target, &s), 0);
    assert_int_equal(s.st_mode & 07777, 0640);
  }
}

FOLDER_TEST(a_file_that_another_process_put_there_stays){
  zt_error err = ZT_ERROR_NONE;
  char other[140];
  snprintf(other, sizeof(other), "%s/other", dir);
  for(int had=0; had<2; had++){
    if( had ) write_file(target, "old", 3);
    zt_output *o = placed(ZT_OUTPUT_REPLACE, "new");
    write_file(other, "theirs", 6);
    assert_int_equal(rename(other, target), 0);
    assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
    zt_output_close(o);
    assert_content(target, "theirs");
    assert_int_equal(count_names(), 1);
    unlink(target);
  }
  write_file(target, "old", 3);
  zt_output *o = placed(ZT_OUTPUT_REPLACE, "new");
  unlink(target);
  assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
  zt_output_close(o);
  assert_int_equal(count_names(), 0);
}

FOLDER_TEST(of_two_that_create_one_file_the_second_fails){
  zt_error err = ZT_ERROR_NONE;
  zt_output *first = begin(ZT_OUTPUT_CREATE), *second = begin(ZT_OUTPUT_CREATE);
  zt_output_append(first, text("first"), &err);
  zt_output_append(second, text("second"), &err);
  assert_int_equal(zt_output_place(first, &err), SQLITE_OK);
  assert_int_equal(zt_output_place(second, &err), SQLITE_ERROR);
  assert_failed(&err, "there is a file already", "create");
  zt_output_close(second);
  zt_output_keep(first);
  zt_output_close(first);
  assert_content(target, "first");
  assert_int_equal(count_names(), 1);
}

FOLDER_TEST(of_two_that_replace_one_file_the_last_wins){
  zt_error err = ZT_ERROR_NONE;
  zt_output *first = begin(ZT_OUTPUT_REPLACE), *second = begin(ZT_OUTPUT_REPLACE);
  zt_output_append(first, text("first"), &err);
  zt_output_append(second, text("second"), &err);
  assert_int_equal(zt_output_place(second, &err), SQLITE_OK);
  assert_int_equal(zt_output_place(first, &err), SQLITE_OK);
  zt_output_keep(first);
  zt_output_keep(second);
  zt_output_close(first);
  zt_output_close(second);
  assert_content(target, "first");
  assert_int_equal(count_names(), 1);
}

/* Fails, in open and before, and makes nothing. */
static void assert_refused(const char *path, zt_output_mode mode, int rc, const char *what){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  const int n = count_names();
  char *found;
  check( zt_output_find(path, mode, &found, &err)==rc && found==NULL && strstr(err.message, what), "%s: %s", path, err.message );
  zt_error_clear(&err);
  check( zt_output_open(path, NULL, mode, true, &o, &err)==rc && strstr(err.message, what), "%s: %s", path, err.message );
  zt_error_clear(&err);
  assert_null(o);
  assert_int_equal(count_names(), n);
}

FOLDER_TEST(targets_that_cannot_be){
  char path[600], name[300];
  assert_refused(target, ZT_OUTPUT_UPDATE, SQLITE_ERROR, "there is no such file to update");
  write_file(target, "old", 3);
  assert_refused(target, ZT_OUTPUT_CREATE, SQLITE_ERROR, "there is a file already; mode='replace' replaces it");
  assert_refused(dir, ZT_OUTPUT_REPLACE, SQLITE_ERROR, "is a directory");
  assert_refused("/dev/null", ZT_OUTPUT_REPLACE, SQLITE_ERROR, "is a device");
  assert_refused("", ZT_OUTPUT_CREATE, SQLITE_ERROR, "is not a file's name");
  snprintf(path, sizeof(path), "%s/fifo", dir);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_refused(path, ZT_OUTPUT_REPLACE, SQLITE_ERROR, "is a FIFO");
  snprintf(path, sizeof(path), "%s/none/a.zt", dir);
  assert_refused(path, ZT_OUTPUT_CREATE, SQLITE_ERROR, "looking at its directory: No such file or directory");
  snprintf(path, sizeof(path), "%s/a.zt", target);
  assert_refused(path, ZT_OUTPUT_CREATE, SQLITE_ERROR, "looking at its directory: Not a directory");
  snprintf(path, sizeof(path), "%s/dangling", dir);
  assert_int_equal(symlink("nowhere", path), 0);
  assert_refused(path, ZT_OUTPUT_REPLACE, SQLITE_ERROR, "is a symbolic link that leads to no file; remove it, or write to the path that it names");
  memset(name, 'n', 256);
  name[256] = 0;
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  assert_refused(path, ZT_OUTPUT_CREATE, SQLITE_ERROR, "looking at the target: File name too long");
}

FOLDER_TEST(names_links_and_rights){
  zt_error err = ZT_ERROR_NONE;
  char path[600], name[300];
  struct stat s;
  const mode_t mask = umask(027);
  for(int i=0; i<255; i++) name[i] = "\xE6\xBC\xA2"[i%3];
  name[255] = 0;
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  zt_output *o;
  for(int i=0; i<2; i++){
    assert_int_equal(zt_output_open(path, NULL, ZT_OUTPUT_REPLACE, false, &o, &err), SQLITE_OK);
    assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
    zt_output_keep(o);
    zt_output_close(o);
  }
  umask(mask);
  assert_int_equal(stat(path, &s), 0);
  assert_int_equal(s.st_mode & 07777, 0640);
  unlink(path);
  memset(name, 0x80, 210);   /* No character begins */
  name[210] = 0;
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  assert_int_equal(zt_output_open(path, NULL, ZT_OUTPUT_CREATE, false, &o, &err), SQLITE_OK);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  zt_output_keep(o);
  zt_output_close(o);
  assert_int_equal(unlink(path), 0);
  /* A symbolic link stays one; another hard link keeps the old bytes */
  write_file(target, "old", 3);
  snprintf(path, sizeof(path), "%s/link", dir);
  assert_int_equal(symlink("a.zt", path), 0);
  snprintf(name, sizeof(name), "%s/hard", dir);
  assert_int_equal(link(target, name), 0);
  assert_int_equal(zt_output_open(path, NULL, ZT_OUTPUT_REPLACE, true, &o, &err), SQLITE_OK);
  assert_int_equal(zt_output_append(o, text("new"), &err), SQLITE_OK);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  zt_output_keep(o);
  zt_output_close(o);
  assert_int_equal(lstat(path, &s), 0);
  assert_true(S_ISLNK(s.st_mode));
  assert_content(target, "new");
  assert_content(name, "old");
}

/* A target that becomes a directory after it was examined is left alone. */
FOLDER_TEST(a_directory_is_never_exchanged){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = begin(ZT_OUTPUT_REPLACE);
  struct stat s;
  assert_int_equal(mkdir(target, 0700), 0);
  assert_int_equal(zt_output_place(o, &err), SQLITE_ERROR);
  assert_failed(&err, "is a directory", "place");
  zt_output_close(o);
  assert_int_equal(stat(target, &s), 0);
  assert_true(S_ISDIR(s.st_mode));
  assert_int_equal(count_names(), 1);
}

/* --- Bytes --- */

/* The same random steps on an output and on plain memory. */
static void compare_steps(zt_output *o, uint64_t seed){
  zt_error err = ZT_ERROR_NONE;
  const size_t most = (size_t)12<<20;
  uint8_t *model = calloc(1, most), *got = malloc(most), *random = malloc((size_t)2<<20), *p;
  size_t n = 0;
  assert_true(model && got && random);
  for(size_t i=0; i<(size_t)2<<20; i++) random[i] = (uint8_t)random64(&seed);
  for(int step=0; step<600; step++){
    size_t some = random_below(&seed, (size_t)1<<random_below(&seed, 20)), at = n ? random_below(&seed, n) : 0;
    const size_t within = n-at<some ? n-at : some;
    switch( random_below(&seed, 8) ){
      case 0: case 1:
        if( some>most-n ) break;
        zt_output_append(o, (zt_span){ random+step, some }, &err);
        memcpy(model+n, random+step, some);
        n += some;
        break;
      case 2:
        if( some>most-n ) break;
        zt_output_append_zeros(o, some, &err);
        memset(model+n, 0, some);
        n += some;
        break;
      case 3:
        if( some>most-n ) break;
        zt_output_room(o, some, &p, &err);
        if( some/2 ) memcpy(p, random+step, some/2);   /* No room for no byte */
        zt_output_filled(o, some/2);
        memcpy(model+n, random+step, some/2);
        n += some/2;
        break;
      case 4:
        zt_output_patch(o, at, (zt_span){ random+2*step, within }, &err);
        memcpy(model+at, random+2*step, within);
        break;
      case 5:
        zt_output_read(o, at, got, within, &err);
        assert_memory_equal(got, model+at, within);
        break;
      case 6:
        if( random_below(&seed, 4) ) break;
        zt_output_truncate(o, at, &err);
        n = at;
        break;
      case 7:
        zt_output_expect(o, random_below(&seed, most), &err);
        break;
    }
    assert_succeeded(&err, "step");
    assert_int_equal(zt_output_size(o), n);
  }
  zt_output_append_zeros(o, 5000, &err);
  zt_source *s;
  assert_int_equal(zt_output_source(o, &s, &err), SQLITE_OK);
  assert_int_equal(zt_source_size(s), n+5000);
  assert_int_equal(zt_source_read(s, 0, got, n, &err), SQLITE_OK);
  assert_memory_equal(got, model, n);
  zt_source_close(s);
  free(model);
  free(got);
  free(random);
}

FOLDER_TEST(steps_give_the_bytes_that_memory_has){
  for(uint64_t seed=1; seed<=8; seed++){
    zt_error err = ZT_ERROR_NONE;
    zt_output *file = begin(ZT_OUTPUT_REPLACE), *memory_output;
    uint64_t n;
    compare_steps(file, seed);
    assert_int_equal(zt_output_place(file, &err), SQLITE_OK);
    zt_output_keep(file);
    assert_int_equal(zt_output_open_memory(1<<24, &memory_output, &err), SQLITE_OK);
    compare_steps(memory_output, seed);
    uint8_t *p = zt_output_take(memory_output, &n);
    blob b = read_file(target);
    assert_int_equal(b.n, n);
    assert_memory_equal(b.p, p, b.n);
    free(b.p);
    sqlite3_free(p);
    zt_output_close(memory_output);
    zt_output_close(file);
  }
}

FOLDER_TEST(a_hole_takes_no_space){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = begin(ZT_OUTPUT_CREATE);
  struct stat s;
  zt_output_append_zeros(o, (uint64_t)1<<40, &err);
  zt_output_append(o, text("end"), &err);
  zt_output_append_zeros(o, (uint64_t)1<<40, &err);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  assert_int_equal(stat(target, &s), 0);
  assert_true((uint64_t)s.st_size==((uint64_t)2<<40)+3);
  assert_true(s.st_blocks<=64);
  zt_output_close(o);
}

FOLDER_TEST(a_size_that_is_expected_is_not_the_size){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o = begin(ZT_OUTPUT_CREATE);
  struct stat s;
  zt_output_append(o, text("abc"), &err);
  assert_int_equal(zt_output_expect(o, (uint64_t)1<<40, &err), SQLITE_OK);
  assert_int_equal(zt_output_expect(o, UINT64_MAX, &err), SQLITE_OK);   /* No file may have so many */
  assert_int_equal(zt_output_size(o), 3);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  assert_int_equal(stat(target, &s), 0);
  assert_int_equal(s.st_size, 3);
  zt_output_close(o);
}

FOLDER_TEST(sizes_that_no_file_may_have){
  struct rlimit before, most;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  most = (struct rlimit){ 100000, before.rlim_max };
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);   /* Beyond it, the system would end the process */
  for(int i=0; i<2; i++){
    zt_error err = ZT_ERROR_NONE;
    zt_output *o = begin(ZT_OUTPUT_CREATE);
    assert_int_equal(zt_output_append(o, text("abc"), &err), SQLITE_OK);
    assert_int_equal(zt_output_append_zeros(o, i ? UINT64_MAX : 100000, &err), SQLITE_FULL);
    assert_non_null(strstr(err.message, "writing: File too large"));
    zt_error_clear(&err);
    assert_int_equal(zt_output_append(o, text("abc"), &err), SQLITE_FULL);   /* It sticks */
    zt_error_clear(&err);
    assert_int_equal(zt_output_place(o, &err), SQLITE_FULL);
    zt_error_clear(&err);
    zt_output_close(o);
    assert_int_equal(count_names(), 0);
  }
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* The place of a failure to write is the target, also while bytes come from somewhere else. */
FOLDER_TEST(failures_name_the_target){
  zt_error err = { .path = "source.zt", .object = { "w", 1 } };
  char expected[PATH_MAX+100];
  zt_output *o = begin(ZT_OUTPUT_CREATE);
  snprintf(expected, sizeof(expected), "ztensor: %s: writing: File too large", target);
  assert_int_equal(zt_output_append(o, text("abc"), &err), SQLITE_OK);
  assert_int_equal(zt_output_append_zeros(o, UINT64_MAX, &err), SQLITE_FULL);
  assert_string_equal(err.message, expected);
  assert_string_equal(err.path, "source.zt");
  assert_int_equal(err.object.n, 1);
  zt_error_clear(&err);
  zt_output_close(o);
}

TEST(a_target_in_the_root){
  zt_error err = ZT_ERROR_NONE;
  char *found;
  assert_int_equal(zt_output_find("/none-such.zt", ZT_OUTPUT_CREATE, &found, &err), SQLITE_OK);
  assert_string_equal(found, "/none-such.zt");
  if( zt_output_check(found, &err) ) check( strstr(err.message, "making a file in its directory: "), "%s", err.message );   /* Only root may */
  sqlite3_free(found);
  zt_error_clear(&err);
}

TEST(memory_has_a_bound){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  uint64_t n;
  assert_int_equal(zt_output_open_memory(10000, &o, &err), SQLITE_OK);
  assert_null(zt_output_take(o, &n));
  assert_int_equal(n, 0);
  assert_int_equal(zt_output_append_zeros(o, 10000, &err), SQLITE_OK);
  assert_int_equal(zt_output_append(o, text("a"), &err), SQLITE_TOOBIG);
  assert_string_equal(err.message, "ztensor: more than 10000 bytes");
  zt_error_clear(&err);
  assert_int_equal(zt_output_append(o, text(""), &err), SQLITE_TOOBIG);
  zt_error_clear(&err);
  zt_output_close(o);
}

#if REFUSED_HERE
/* --- A system that refuses --- */

/* Writes "new" while the refusals last: the result, and with what it is undone after that. */
static int write_refused(zt_output_mode mode, bool keep, zt_error *err){
  zt_output *o;
  err->path = "it";
  if( zt_output_open(target, NULL, mode, true, &o, err)==SQLITE_OK && zt_output_append(o, text("new"), err)==SQLITE_OK
   && zt_output_place(o, err)==SQLITE_OK ){
    if( keep ) zt_output_keep(o);
    else zt_output_undo(o, err);
  }
  zt_output_close(o);
  refuse_nothing();
  return err->rc;
}

static void turn_into_fifo(struct stat *s){
  if( s->st_nlink==2 ) s->st_mode = (s->st_mode & ~(mode_t)S_IFMT)|S_IFIFO;   /* The old file with its hidden name */
}

static void turn_into_another(struct stat *s){
  s->st_dev++;
}

/* The file system decides how a file gets its name; the file is the same. */
FOLDER_TEST(other_ways_to_a_name){
  static const struct { const char *call; int error, first, times; const char *other; int other_error; } rows[] = {
    { "open:tmpfile", EOPNOTSUPP, 1, ALWAYS, NULL, 0 }, { "open:tmpfile", EOPNOTSUPP, 1, ALWAYS, "renameat2", EOPNOTSUPP },
    { "open:tmpfile", EOPNOTSUPP, 1, ALWAYS, "renameat2", EPERM }, { "renameat2", ENOSYS, 1, ALWAYS, NULL, 0 },
    { "linkat", EEXIST, 2, 1, NULL, 0 }, { "linkat", EEXIST, 2, 5, NULL, 0 }, { "faccessat", ENOENT, 2, 1, NULL, 0 },
    { "fsync", EINVAL, 2, 1, NULL, 0 }, { "fsync", ENOTSUP, 2, 1, NULL, 0 }
  };
  for(size_t i=0; i<COUNT(rows); i++) for(int had=0; had<2; had++){
    zt_error err = ZT_ERROR_NONE;
    if( had ) write_file(target, "old", 3);
    refuse(rows[i].call, rows[i].error, rows[i].first, rows[i].times);
    if( rows[i].other ) refuse(rows[i].other, rows[i].other_error, 1, ALWAYS);
    write_refused(ZT_OUTPUT_REPLACE, true, &err);
    assert_succeeded(&err, rows[i].call);
    assert_content(target, "new");
    assert_int_equal(count_names(), 1);
    unlink(target);
  }
}

FOLDER_TEST(refusals_that_meet_another_one){
  static const struct {
    zt_output_mode mode;
    bool keep;
    const char *call;
    int error, first, times;
    const char *other;
    int other_error, other_first;
    const char *fault;
  } rows[] = {
    { ZT_OUTPUT_REPLACE, true, "open:tmpfile", EOPNOTSUPP, 1, ALWAYS, "open:create", EEXIST, 1, "making a file in its directory: File exists" },
    { ZT_OUTPUT_REPLACE, true, "open:tmpfile", EOPNOTSUPP, 1, ALWAYS, "fchmod", EIO, 1, "making a file in its directory: Input/output error" },
    { ZT_OUTPUT_REPLACE, true, "renameat2", ENOSYS, 1, ALWAYS, "link", EMLINK, 1, "naming the file: Too many links" },
    { ZT_OUTPUT_REPLACE, true, "renameat2", ENOSYS, 1, ALWAYS, "link", EEXIST, 1, "there is a file already; mode='replace' replaces it" },
    { ZT_OUTPUT_REPLACE, true, "renameat2", ENOSYS, 1, ALWAYS, "stat", EIO, 3, "naming the file: Input/output error" },
    { ZT_OUTPUT_REPLACE, true, "renameat2", ENOSYS, 1, ALWAYS, "rename", EIO, 1, "naming the file: Input/output error" },
    { ZT_OUTPUT_REPLACE, true, "linkat", EEXIST, 2, ALWAYS, NULL, 0, 0, "there is a file already; mode='replace' replaces it" },
    { ZT_OUTPUT_REPLACE, true, "pwrite", EOF, 1, 1, NULL, 0, 0, "writing: Input/output error" },
    { ZT_OUTPUT_REPLACE, false, "rename", EIO, 1, ALWAYS, NULL, 0, 0, "putting the old file back: Input/output error; it is " },
    { ZT_OUTPUT_REPLACE, false, "stat", EIO, 4, ALWAYS, NULL, 0, 0, "putting the old file back: Input/output error; it is " },
    { ZT_OUTPUT_CREATE, false, "stat", EIO, 2, ALWAYS, NULL, 0, 0, "removing the new file: Input/output error" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    if( rows[i].mode==ZT_OUTPUT_REPLACE ) write_file(target, "old", 3);
    refuse(rows[i].call, rows[i].error, rows[i].first, rows[i].times);
    if( rows[i].other ) refuse(rows[i].other, rows[i].other_error, rows[i].other_first, ALWAYS);
    check( write_refused(rows[i].mode, rows[i].keep, &err)!=SQLITE_OK && strstr(err.message, rows[i].fault), "%zu: %s", i, err.message );
    assert_content(target, rows[i].keep ? "old" : "new");
    assert_int_equal(count_names(), !rows[i].keep && rows[i].mode==ZT_OUTPUT_REPLACE ? 2 : 1);
    zt_error_clear(&err);
    remove_content();
  }
}

/* Each step says what the first failure said. */
FOLDER_TEST(the_first_failure_sticks){
  static const uint8_t large[(size_t)64<<10] = { 0 };
  uint8_t *p;
  for(int step=0; step<10; step++){
    zt_error err = ZT_ERROR_NONE;
    zt_source *s;
    zt_output *o = begin(ZT_OUTPUT_CREATE);
    char byte;
    zt_output_append(o, text("abc"), &err);
    assert_int_equal(zt_output_append_zeros(o, UINT64_MAX, &err), SQLITE_FULL);
    zt_error_clear(&err);
    switch( step ){
      case 0: zt_output_append(o, (zt_span){ large, sizeof(large) }, &err); break;
      case 1: zt_output_append_zeros(o, UINT64_MAX, &err); break;
      case 2: zt_output_patch(o, 0, text("x"), &err); break;
      case 3: zt_output_expect(o, 100, &err); break;
      case 4: zt_output_read(o, 0, &byte, 1, &err); break;
      case 5: zt_output_truncate(o, 0, &err); break;
      case 6: zt_output_room(o, 1, &p, &err); break;
      case 7: zt_output_source(o, &s, &err); break;
      case 8: zt_output_sync(o, &err); break;
      default: zt_output_place(o, &err);
    }
    check( err.rc==SQLITE_FULL && strstr(err.message, "writing: File too large"), "%d: %s", step, err.message );
    zt_error_clear(&err);
    zt_output_close(o);
  }
}

/* Bytes are patched and read back across the end of those in the file, which must be written first; so must a hole at its end. */
FOLDER_TEST(a_window_that_cannot_be_written){
  static const uint8_t large[(size_t)64<<10] = { 0 };
  for(int step=0; step<4; step++){
    zt_error err = ZT_ERROR_NONE;
    zt_output *o = begin(ZT_OUTPUT_CREATE);
    char six[6];
    zt_output_append(o, (zt_span){ large, sizeof(large) }, &err);
    if( step==2 ) zt_output_append_zeros(o, sizeof(large), &err);
    else zt_output_append(o, text("abcdef"), &err);
    assert_succeeded(&err, "append");
    refuse(step==2 ? "ftruncate" : step==3 ? "pread" : "pwrite", step==3 ? EOF : EIO, 1, ALWAYS);
    if( step==0 ) zt_output_patch(o, sizeof(large)-3, text("uvwxyz"), &err);
    else zt_output_read(o, sizeof(large)-3+(step==2 ? 100 : 0), six, 6, &err);
    check( err.rc==SQLITE_IOERR && strstr(err.message, step==3 ? "reading back: Input/output error" : "writing: Input/output error"),
           "%d: %s", step, err.message );
    refuse_nothing();
    zt_error_clear(&err);
    zt_output_close(o);
  }
}

FOLDER_TEST(what_is_at_the_target_is_looked_at_again){
  zt_error err = ZT_ERROR_NONE;
  struct stat s;
  write_file(target, "old", 3);
  refuse("renameat2", ENOSYS, 1, ALWAYS);
  instead.stat = turn_into_fifo;
  assert_int_equal(write_refused(ZT_OUTPUT_REPLACE, true, &err), SQLITE_ERROR);
  assert_failed(&err, "is a FIFO, and no file can be written there", "by a link");
  assert_content(target, "old");
  /* A directory that cannot be put back keeps its hidden name */
  unlink(target);
  zt_output *o = begin(ZT_OUTPUT_REPLACE);
  assert_int_equal(mkdir(target, 0700), 0);
  refuse("renameat2", EIO, 2, ALWAYS);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  assert_int_equal(times_called(), 2);
  refuse_nothing();
  zt_output_keep(o);
  zt_output_close(o);
  assert_int_equal(stat(target, &s), 0);
  assert_true(S_ISREG(s.st_mode));
  assert_int_equal(count_names(), 2);
  /* A file of another device is another process's */
  remove_content();
  write_file(target, "old", 3);
  o = placed(ZT_OUTPUT_REPLACE, "new");
  instead.stat = turn_into_another;
  assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
  refuse_nothing();
  zt_output_close(o);
  assert_content(target, "new");
  assert_int_equal(count_names(), 1);
}

FOLDER_TEST(undone_without_sync){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  write_file(target, "old", 3);
  refuse("fsync", EIO, 1, ALWAYS);
  assert_int_equal(zt_output_open(target, NULL, ZT_OUTPUT_REPLACE, false, &o, &err), SQLITE_OK);
  assert_int_equal(zt_output_place(o, &err), SQLITE_OK);
  assert_int_equal(zt_output_undo(o, &err), SQLITE_OK);
  assert_int_equal(times_called(), 0);
  refuse_nothing();
  zt_output_close(o);
  assert_content(target, "old");
}
#endif

/* --- Memory that runs out --- */

static int write_all(bool in_memory, zt_error *err){
  zt_output *o;
  zt_source *s;
  if( in_memory ) zt_output_open_memory(1<<20, &o, err);
  else zt_output_open(target, NULL, ZT_OUTPUT_REPLACE, true, &o, err);
  if( o && zt_output_append(o, text("new"), err)==SQLITE_OK && zt_output_append_zeros(o, 9000, err)==SQLITE_OK
   && zt_output_source(o, &s, err)==SQLITE_OK ){
    zt_source_close(s);
    if( !in_memory && zt_output_place(o, err)==SQLITE_OK ) zt_output_keep(o);
  }
  zt_output_close(o);
  return err->rc;
}

/* way 0: in memory; 1: the files exchange their names; 2: by hard links; 3: the first hidden name is taken. */
FOLDER_TEST(each_allocation_fails){
  for(int way=0; way<(REFUSED_HERE ? 4 : 2); way++){
    int rc = SQLITE_NOMEM;
    for(uint64_t n=1; rc; n++){
      zt_error err = ZT_ERROR_NONE;
      write_file(target, "old", 3);
#if REFUSED_HERE
      if( way==2 ) refuse("renameat2", ENOSYS, 1, ALWAYS);
      if( way==3 ) refuse("linkat", EEXIST, 2, 1);
#endif
      const size_t before = memory.outstanding;
      memory_arm(n, n%2);
      rc = write_all(way==0, &err);
      memory_arm(0, false);
#if REFUSED_HERE
      refuse_nothing();
#endif
      assert_int_equal(rc, memory.injected || rc ? SQLITE_NOMEM : SQLITE_OK);
      zt_error_clear(&err);
      assert_int_equal(memory.outstanding, before);
      assert_int_equal(count_names(), 1);
      if( rc ) assert_content(target, "old");
      assert_true(n<100);
    }
  }
}

int main(void){
  memory_install();
  return run_all("output", NULL, NULL);
}
