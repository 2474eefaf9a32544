/*
** Files of all formats while the system fails to read, and while the caller wants no more: each read and each question in turn. What
** was begun ends with that failure, and gives all memory back.
*/
#include "archive.h"

#include <errno.h>
#include <glob.h>
#include <unistd.h>
#include "container/container.h"
#include "tensor/stats.h"

#define MOST_READS 600        /* Of one file: the few that take more are tried at some of them */
#define MOST_ELEMENTS 20000   /* Of an object whose values are read */

/* --- Reads, one of which fails --- */

static int reads, failing_read;   /* Counted from 1; 0: none fails */

ssize_t pread(int fd, void *p, size_t n, off_t at){
  if( ++reads==failing_read ){
    errno = EIO;
    return -1;
  }
  return lseek(fd, at, SEEK_SET)<0 ? -1 : read(fd, p, n);
}

static bool is_of_the_system(const zt_error *err){
  return err->rc!=SQLITE_OK && err->message && strstr(err->message, strerror(EIO));
}

/* --- What is done with a file --- */

/* The statistics of each object with few elements. */
static int read_values(zt_source *source, const zt_container *c, const zt_interrupt *interrupt, zt_error *err){
  for(uint32_t i=0; i<zt_container_objects(c) && !err->rc; i++){
    zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<30, .interrupt = *interrupt };
    zt_error failed = ZT_ERROR_NONE;
    zt_object object;
    zt_tensor t;
    zt_stats stats;
    zt_container_object(c, i, &object);
    if( object.elements>MOST_ELEMENTS ) continue;
    if( zt_tensor_open(source, c, &object, &budget, &t, &failed)==SQLITE_OK ) zt_stats_compute(&t, &stats, &failed);
    zt_tensor_close(&t);
    if( failed.rc==SQLITE_INTERRUPT || is_of_the_system(&failed) ) *err = failed;
    else zt_error_clear(&failed);   /* An object without statistics */
  }
  return err->rc;
}

static int read_all(const char *path, bool values, caller *who, zt_error *err){
  const zt_interrupt interrupt = { caller_stops, who };
  zt_container *c = NULL;
  zt_source *source = NULL;
  if( zt_source_open(path, NULL, &source, err)==SQLITE_OK && zt_container_open(source, &interrupt, &c, err)==SQLITE_OK && values ){
    read_values(source, c, &interrupt, err);
  }
  zt_container_close(c);
  zt_source_close(source);
  return err->rc;
}

/* Do it once in peace, then fail read or question `*at` in turn. Returns how many there were. */
static int fail_each(const char *path, bool values, bool question){
  int all = 1;
  for(int at=0; at<=all; at += 1+all/MOST_READS){
    const sqlite3_int64 before = sqlite3_memory_used();
    zt_error err = ZT_ERROR_NONE;
    caller who = { 0, question ? at : 0 };
    reads = 0;
    failing_read = question ? 0 : at;
    read_all(path, values, &who, &err);
    failing_read = 0;
    if( at==0 ){
      check( err.rc==SQLITE_OK, "%s: %s", path, err.message );
      all = question ? who.asked : reads;
    }else if( question ){
      check( err.rc==SQLITE_INTERRUPT && who.asked==at, "%s: question %d: %d, asked %d times", path, at, err.rc, who.asked );
    }else{
      check( is_of_the_system(&err), "%s: read %d: %d, %s", path, at, err.rc,
             err.message ? err.message : "no message" );
    }
    zt_error_clear(&err);
    check( sqlite3_memory_used()==before, "%s: %d: memory is left", path, at );
  }
  return all;
}

/* Beside them are descriptions, and files that they refer to. */
static bool is_file_of_tensors(const char *path){
  zt_error err = ZT_ERROR_NONE;
  caller who = { 0, 0 };
  const bool opens = read_all(path, false, &who, &err)==SQLITE_OK;
  zt_error_clear(&err);
  return opens;
}

/* pattern: of paths; least: so many reads or questions in all. */
static void fail_all(const char *pattern, bool values, bool question, int least){
  glob_t found;
  int n = 0;
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for(size_t i=0; i<found.gl_pathc; i++){
    if( is_file_of_tensors(found.gl_pathv[i]) ) n += fail_each(found.gl_pathv[i], values, question);
  }
  globfree(&found);
  check( n>least, "%d in all", n );
}

#define GOLDEN "tests/formats/*/golden/*"

TEST(test_each_read_of_opening_fails){
  fail_all(GOLDEN, false, false, 1000);
}

TEST(test_each_read_of_values_fails){
  fail_all(GOLDEN, true, false, 1000);
}

TEST(test_each_question_is_answered_yes){
  fail_all(GOLDEN, true, true, 100);
}

/* Files with peculiarities, of which the whole is read all the same. */
TEST(test_each_read_and_question_of_odd_files){
  static const char *const patterns[] = {
    "tests/formats/archive/hostile/*.zip", "tests/formats/pytorch/hostile/*.pt", "tests/formats/pickle/hostile/*.pkl",
  };
  for(size_t i=0; i<COUNT(patterns); i++){
    fail_all(patterns[i], false, false, 50);
    fail_all(patterns[i], false, true, 20);
  }
}

/* Bytes that are not read with those before them: a member behind an array and one that is called like a tensor file, and the counts of
** storages. */
TEST(test_each_read_of_what_lies_apart){
  char directory[] = "/tmp/ztensor-reads-XXXXXX", path[64];
  archive a = { 0 };
  blob b = { 0 };
  char *array = NULL;
  size_t n = 0;
  FILE *file = open_memstream(&array, &n);
  fputs("\x93NUMPY\1", file);
  fwrite("\0\x36\0{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1, 57, file);
  fwrite("abcd", 1, 4, file);
  fclose(file);
  assert_non_null(mkdtemp(directory));
  add_member(&a, (archived){ .name = "a.npy", .data = array, .length = n });
  add_member(&a, (archived){ .name = "b.gguf", .data = "no GGUF" });
  for(int i=0; i<3; i++) add_member(&a, (archived){ .name = "text", .data = "text", .padding = 40000 });
  b = end_archive(&a, "");
  snprintf(path, sizeof(path), "%s/a.zip", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  free(array);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  fail_each(path, true, true);
  b = (blob){ 0 };
  put(&b, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." "\x80\2M\xe9\3." "\x80\2}.(", 26);
  for(int i=0; i<3; i++){
    char line[100];
    put(&b, line, (size_t)snprintf(line, sizeof(line), "P('storage', <class 'torch.FloatStorage'>, '%d', 'cpu', 50000)\n", i));
  }
  put(&b, "l.(V0\nV1\nV2\nl.", 14);
  for(int i=0; i<3; i++){
    put_le64(&b, 50000);
    put_repeated(&b, 0, 200000);
  }
  snprintf(path, sizeof(path), "%s/a.pt", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  b = (blob){ 0 };
  put(&b, "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k\x8\0\0\0", 37);
  put_le64(&b, 8000000);   /* A long text */
  put_repeated(&b, 'x', 8000000);
  snprintf(path, sizeof(path), "%s/a.gguf", directory);
  write_file(path, b.p, b.n);
  free(b.p);
  assert_true(is_file_of_tensors(path));
  fail_each(path, true, false);
  assert_int_equal(remove_all(directory), 0);
}

int main(void){
  return run_all("failing reads", NULL, NULL);
}
