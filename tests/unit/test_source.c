/* Opened files and images in memory: core/source.h, and what it takes of core/os.h. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "core/remote.h"
#include "core/source.h"

static char directory[] = "/tmp/ztensor-source-XXXXXX";

static int make_directory(void **state){
  (void)state;
  return mkdtemp(directory)==NULL;
}

static int remove_directory(void **state){
  (void)state;
  return remove_all(directory);
}

/* A path in the directory; the next call but three reuses the memory. */
static const char *in_directory(const char *name){
  static char paths[4][128];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
  return path;
}

static zt_source *open_file(const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  check( zt_source_open(path, NULL, &s, &err)==SQLITE_OK, "%s", err.message );
  assert_succeeded(&err, path);
  return s;
}

static zt_source *open_image(blob b){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  assert_int_equal(zt_source_open_image(span_of(b), &s, &err), SQLITE_OK);
  assert_succeeded(&err, "image");
  return s;
}

/* --- Reads --- */

#define SIZE 20

static blob twenty_bytes(void){
  blob b = { 0 };
  for(unsigned i=0; i<SIZE; i++) put_byte(&b, 0x40+i);
  return seal(&b);
}

/* Every offset and length, inside, at and beyond the end. */
static void check_reads(zt_source *s, blob content){
  assert_int_equal(zt_source_size(s), content.n);
  for(uint64_t offset=0; offset<=content.n+2; offset++){
    for(size_t n=0; n<=content.n+2; n++){
      zt_error err = ZT_ERROR_NONE;
      uint8_t *buffer = malloc(n);
      int rc = zt_source_read(s, offset, buffer, n, &err);
      if( offset+n<=content.n ){
        assert_int_equal(rc, SQLITE_OK);
        assert_succeeded(&err, "read");
        if( n ) assert_memory_equal(buffer, content.p+offset, n);
      }else{
        char expected[128];
        snprintf(expected, sizeof(expected), "ztensor: bytes %llu to %llu lie beyond the file's %zu",
            (unsigned long long)offset,
                 (unsigned long long)(offset+n), content.n);
        assert_int_equal(rc, SQLITE_ERROR);
        assert_string_equal(err.message, expected);
        zt_error_clear(&err);
      }
      free(buffer);
    }
  }
}

/* Offsets and lengths whose sum does not fit. Nothing may be written. */
static void check_far_reads(zt_source *s){
  static const struct { uint64_t offset; size_t n; } rows[] = {
    { UINT64_MAX, 1 }, { UINT64_MAX, 2 }, { UINT64_MAX-1, 2 }, { 1, SIZE_MAX }, { SIZE_MAX, SIZE_MAX }, { (uint64_t)1<<63, 1 },
    { (uint64_t)1<<63, SIZE_MAX/2+1 },
    { INT64_MAX, 1 }, { 0, SIZE_MAX }, { UINT64_MAX, 0 }, { SIZE+1, 0 }, { (uint64_t)1<<32, 4 }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    uint8_t byte = 0xEE;
    check( zt_source_read(s, rows[i].offset, &byte, rows[i].n, &err)==SQLITE_ERROR, "row %zu", i );
    assert_failed(&err, "lie beyond the file's 20", "far");
    assert_int_equal(byte, 0xEE);
  }
}

TEST(test_reads_of_a_file){
  blob content = twenty_bytes();
  const char *path = in_directory("twenty");
  zt_source *s;
  write_file(path, content.p, content.n);
  s = open_file(path);
  check_reads(s, content);
  check_far_reads(s);
  assert_null(zt_source_image(s).p);
  assert_int_equal(zt_source_image(s).n, 0);
  zt_source_close(s);
  free(content.p);
}

TEST(test_reads_of_an_image){
  blob content = twenty_bytes();
  zt_source *s = open_image(content);
  check_reads(s, content);
  check_far_reads(s);
  assert_ptr_equal(zt_source_image(s).p, content.p);
  assert_int_equal(zt_source_image(s).n, SIZE);
  assert_null(zt_source_identity(s));
  zt_source_close(s);
  free(content.p);
}

/* A range of a file or an image is a source of its own, without a path. */
TEST(test_a_range){
  zt_error err = ZT_ERROR_NONE;
  blob b = twenty_bytes();
  for(int image=0; image<2; image++){
    zt_source *outer, *range;
    uint8_t bytes[4];
    write_file(in_directory("range"), b.p, b.n);
    outer = image ? open_image(b) : open_file(in_directory("range"));
    assert_int_equal(zt_source_open_range(outer, 5, 10, ZT_TEXT("in.zip"), &range, &err), SQLITE_OK);
    assert_true(zt_source_is_range(range) && !zt_source_is_range(outer));
    assert_int_equal(zt_source_size(range), 10);
    assert_int_equal(zt_source_image(range).n, image ? 10 : 0);
    assert_null(zt_source_path(range));
    assert_null(zt_source_identity(range));
    assert_string_equal(zt_source_name(range), zt_source_name(outer));
    assert_int_equal(zt_source_read(range, 6, bytes, 4, &err), SQLITE_OK);
    assert_memory_equal(bytes, "KLMN", 4);
    assert_int_equal(zt_source_unchanged(range, &err), SQLITE_OK);
    assert_int_equal(zt_source_read(range, 7, bytes, 4, &err), SQLITE_ERROR);
    assert_non_null(strstr(err.message, "bytes 7 to 11 lie beyond the file's 10"));
    zt_error_clear(&err);
    zt_source_close(range);
    zt_source_close(outer);
  }
  free(b.p);
}

TEST(test_empty_file_and_empty_image){
  blob nothing = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  write_file(in_directory("empty"), NULL, 0);
  s = open_file(in_directory("empty"));
  check_reads(s, nothing);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  zt_source_close(s);
  s = open_image(nothing);
  check_reads(s, nothing);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  zt_source_close(s);
  zt_source_close(NULL);
}

TEST(test_a_large_read){
  size_t n = (size_t)9<<20;
  blob b = { 0 };
  uint64_t seed = 9;
  uint8_t *buffer = malloc(n);
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  put_room(&b, n);
  for(size_t i=0; i<n; i += 8){
    uint64_t u = random64(&seed);
    memcpy(b.p+i, &u, 8);
  }
  write_file(in_directory("large"), b.p, n);
  s = open_file(in_directory("large"));
  assert_int_equal(zt_source_read(s, 0, buffer, n, &err), SQLITE_OK);
  assert_memory_equal(buffer, b.p, n);
  assert_int_equal(zt_source_read(s, 4097, buffer, n-4097, &err), SQLITE_OK);
  assert_memory_equal(buffer, b.p+4097, n-4097);
  zt_source_close(s);
  unlink(in_directory("large"));
  free(buffer);
  free(b.p);
}

/* Offsets and times of more than 32 bits, also where long has no more. The file is a hole but for its two ends. */
TEST(test_a_file_beyond_4_gib_and_2038){
  const uint64_t size = ((uint64_t)5<<30) + 3;
  const char *path = in_directory("far");
  struct timespec times[2] = { { 4102444800, 7 }, { 4102444800, 7 } };
  zt_error err = ZT_ERROR_NONE;
  uint8_t buffer[4];
  struct stat st;
  zt_source *s;
  int fd;
  write_file(path, "near", 4);
  fd = open(path, O_WRONLY);
  assert_int_equal(pwrite(fd, "end", 3, (off_t)size-3), 3);
  assert_int_equal(futimens(fd, times), 0);
  assert_int_equal(fstat(fd, &st), 0);
  close(fd);
  s = open_file(path);
  assert_int_equal(zt_source_size(s), size);
  assert_int_equal(zt_source_identity(s)->mtime, (int64_t)st.st_mtim.tv_sec*1000000000 + st.st_mtim.tv_nsec);
  assert_int_equal(zt_source_read(s, size-4, buffer, 4, &err), SQLITE_OK);
  assert_memory_equal(buffer, "\0end", 4);
  assert_int_equal(zt_source_read(s, (uint64_t)4<<30, buffer, 4, &err), SQLITE_OK);
  assert_memory_equal(buffer, "\0\0\0\0", 4);
  zt_source_close(s);
  unlink(path);
}

/* --- Parts read side by side --- */

/* As many as there are threads, but not more than 16. */
TEST(test_a_read_in_parts){
  static const int threads[] = { 2, 15, 16, 40 };
  const size_t n = (size_t)16<<20;
  const int place = open(directory, O_RDONLY|O_DIRECTORY);
  uint8_t *buffer = malloc(n);
  blob b = { 0 };
  uint64_t seed = 4;
  put_room(&b, n);
  for(size_t i=0; i<n; i++) b.p[i] = (uint8_t)random64(&seed);
  for(size_t i=0; i<COUNT(threads); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_pool *pool = zt_pool_new(threads[i]);
    zt_source *s;
    write_file(in_directory("parts"), b.p, n);
    s = open_file(in_directory("parts"));
    zt_source_set_pool(s, pool);
    assert_int_equal(zt_source_read(s, 0, buffer, n, &err), SQLITE_OK);
    assert_memory_equal(buffer, b.p, n);
    assert_int_equal(truncate(in_directory("parts"), (off_t)n/2+5), 0);
    assert_int_equal(zt_source_read(s, 0, buffer, n, &err), SQLITE_ERROR);
    assert_failed(&err, "the file was cut short while it was read: byte 8388613 is missing", "cut");
    assert_true(dup2(place, (int)s->file)>=0);   /* It is a directory now, which nobody can read */
    assert_int_equal(zt_source_read(s, 0, buffer, n, &err), SQLITE_ERROR);
    assert_failed(&err, "cannot read: Is a directory", "a directory");
    zt_source_close(s);
    zt_pool_free(pool);
  }
  close(place);
  unlink(in_directory("parts"));
  free(buffer);
  free(b.p);
}

#if ZT_REMOTE
TEST(test_no_memory_for_a_remote_source){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  sqlite3_hard_heap_limit64(1);
  assert_int_equal(zt_source_open_remote(NULL, "https://h/m.zt", NULL, ZT_REMOTE_HEAD, &s, &err), SQLITE_NOMEM);
  sqlite3_hard_heap_limit64(0);
  assert_null(s);
  zt_error_clear(&err);
}
#endif

/* --- Paths beside a source --- */

TEST(test_paths_beside_a_source){
  static const struct { const char *path; bool stem; const char *name, *beside; } rows[] = {
    { "d/m.zt", false, "x y", "d/x y" }, { "d/m.zt", true, "-s.zt", "d/m-s.zt" }, { "d/.zt", true, "-s", "d/.zt-s" }, { "m", true, "-s", "m-s" },
    { "d/m.zt", false, "./x//y", "d/./x//y" }, { "", false, "x", "x" },
    { "s3://b/d/m.zt", false, "./x//y/.", "s3://b/d/x/y" }, { "s3://b/d/m.zt", false, "x y", "s3://b/d/x y" },
    { "s3://b/m.zt", true, "-s.zt", "s3://b/m-s.zt" }, { "hf://o/r/m.zt", false, "x y", "hf://o/r/x y" },
#if ZT_REMOTE
    { "https://h/m.zt?q=1", false, "x y", "https://h/x%20y" }, { "HTTP://h/m.zt", false, "x y", "HTTP://h/x%20y" },
    { "hTtp://h/m.zt#f", true, ".b c", "hTtp://h/m.b%20c" }, { "http://h/d/m.zt", false, "./a//.b/c", "http://h/d/a/.b/c" },
#endif
  };
  blob nothing = { 0 };
  zt_source *image = open_image(nothing);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_source *s;
    char *beside;
    assert_int_equal(zt_source_open_range(image, 0, 0, (zt_text){ rows[i].path, strlen(rows[i].path) }, &s, &err), SQLITE_OK);
    beside = zt_source_beside(s, rows[i].stem, (zt_text){ rows[i].name, strlen(rows[i].name) });
    assert_string_equal(beside, rows[i].beside);
    sqlite3_free(beside);
    zt_source_close(s);
  }
  zt_source_close(image);
}

/* --- States of decoders --- */

static int freed;

static void free_state(zt_resumable *state){
  (void)state;
  freed++;
}

static uint64_t rank_state(const void *first, const zt_resumable *state){
  return (uint64_t)(state-(const zt_resumable*)first);
}

/* A source has room for few; what is left then is freed at once. */
TEST(test_states_that_are_left){
  zt_resumable states[ZT_RESUMABLES+2] = { 0 };
  blob nothing = { 0 };
  zt_source *s = open_image(nothing);
  freed = 0;
  for(size_t i=0; i<COUNT(states); i++){
    states[i].free = free_state;
    zt_source_leave_state(s, &states[i]);
  }
  assert_int_equal(freed, 2);
  assert_ptr_equal(zt_source_take_state(s, states, rank_state), &states[ZT_RESUMABLES-1]);
  zt_source_close(s);
  assert_int_equal(freed, COUNT(states)-1);
}

/* --- A file that changes while it is open --- */

TEST(test_a_file_that_is_cut_short_while_it_is_open){
  blob content = twenty_bytes();
  const char *path = in_directory("cut");
  for(off_t size=0; size<SIZE; size++){
    zt_error err = ZT_ERROR_NONE;
    uint8_t buffer[SIZE];
    char expected[128];
    zt_source *s;
    write_file(path, content.p, content.n);
    s = open_file(path);
    assert_int_equal(truncate(path, size), 0);
    assert_int_equal(zt_source_size(s), SIZE);
    assert_int_equal(zt_source_read(s, 0, buffer, (size_t)size, &err), SQLITE_OK);
    if( size ) assert_memory_equal(buffer, content.p, (size_t)size);
    for(off_t offset=0; offset<SIZE; offset++){
      if( zt_source_read(s, (uint64_t)offset, buffer, (size_t)(SIZE-offset), &err)==SQLITE_OK ) fail_msg("%d of %d",
          (int)offset, (int)size);
      snprintf(expected, sizeof(expected), "the file was cut short while it was read: byte %d is missing",
          (int)(offset<size ? size : offset));
      assert_failed(&err, expected, "cut");
    }
    assert_int_equal(zt_source_unchanged(s, &err), SQLITE_ERROR);
    assert_failed(&err, "the file was written to while it was read", "cut");
    zt_source_close(s);
  }
  free(content.p);
}

static void set_time(const char *path, time_t seconds, long nanoseconds){
  struct timespec times[2] = { { seconds, nanoseconds }, { seconds, nanoseconds } };
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(test_a_file_that_is_written_to_is_noticed){
  blob content = twenty_bytes();
  const char *path = in_directory("written");
  zt_error err = ZT_ERROR_NONE;
  zt_source *s;
  FILE *f;
  write_file(path, content.p, content.n);
  set_time(path, 1000000000, 5);
  s = open_file(path);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  set_time(path, 1000000000, 6);                       /* A nanosecond later */
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_ERROR);
  assert_failed(&err, "the file was written to while it was read", "mtime");
  set_time(path, 999999999, 5);                        /* Or earlier */
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_ERROR);
  assert_failed(&err, "the file was written to while it was read", "mtime");
  set_time(path, 1000000000, 5);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  f = fopen(path, "ab");
  assert_int_equal(fputc('x', f), 'x');
  fclose(f);
  set_time(path, 1000000000, 5);                       /* The same time, another size */
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_ERROR);
  assert_failed(&err, "the file was written to while it was read", "size");
  assert_int_equal(zt_source_size(s), SIZE);
  zt_source_close(s);
  free(content.p);
}

/* A new file under the old name is another file: the open one stays what it was. */
TEST(test_a_file_that_is_replaced_is_read_on){
  blob content = twenty_bytes();
  const char *path = in_directory("replaced");
  zt_error err = ZT_ERROR_NONE;
  uint8_t buffer[SIZE];
  zt_source *s;
  write_file(path, content.p, content.n);
  s = open_file(path);
  write_file(in_directory("new"), "short", 5);
  assert_int_equal(rename(in_directory("new"), path), 0);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  assert_int_equal(zt_source_read(s, 0, buffer, SIZE, &err), SQLITE_OK);
  assert_memory_equal(buffer, content.p, SIZE);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(zt_source_read(s, 1, buffer, SIZE-1, &err), SQLITE_OK);
  assert_memory_equal(buffer, content.p+1, SIZE-1);
  zt_source_close(s);
  free(content.p);
}

/* --- Opening --- */

TEST(test_identity_is_what_the_system_says){
  const char *path = in_directory("identity");
  const zt_identity *id;
  zt_source *s;
  zt_stat z;
  struct stat st;
  write_file(path, "four", 4);
  set_time(path, 1234567890, 987654321);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(zt_os_stat(path, &z), 0);
  s = open_file(path);
  id = zt_source_identity(s);
  assert_non_null(id);
  assert_memory_equal(id, &z.id, sizeof(*id));
  assert_int_equal(z.kind, ZT_KIND_FILE);
  assert_int_equal(id->device, st.st_dev);
  assert_int_equal(id->inode, st.st_ino);
  assert_int_equal(id->size, 4);
  assert_int_equal(id->mtime, 1234567890987654321);
  assert_int_equal(id->ctime, (int64_t)st.st_ctim.tv_sec*1000000000 + st.st_ctim.tv_nsec);
  zt_source_close(s);
}

static void check_refused(const char *path, const zt_stat *known, const char *message){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s = (zt_source*)&err;
  err.path = "the place";
  check( zt_source_open(path, known, &s, &err)==SQLITE_ERROR, "%s", path );
  check( s==NULL, "%s", path );
  assert_failed(&err, message, path);
}

/* Nothing of this may block. */
TEST(test_what_is_no_regular_file_is_refused){
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_directory("socket"));
  assert_int_equal(bind(fd, (struct sockaddr*)&address, sizeof(address)), 0);
  assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
  assert_int_equal(symlink("fifo", in_directory("link to fifo")), 0);
  assert_int_equal(symlink("nowhere", in_directory("link to nowhere")), 0);
  check_refused(directory, NULL, "ztensor: the place: is a directory, not a regular file");
  check_refused(in_directory("fifo"), NULL, "ztensor: the place: is a FIFO, not a regular file");
  check_refused(in_directory("link to fifo"), NULL, "ztensor: the place: is a FIFO, not a regular file");
  check_refused(in_directory("socket"), NULL, "ztensor: the place: is a socket, not a regular file");
  check_refused("/dev/null", NULL, "ztensor: the place: is a device, not a regular file");
  check_refused(in_directory("missing"), NULL, "ztensor: the place: cannot open: No such file or directory");
  check_refused(in_directory("link to nowhere"), NULL, "ztensor: the place: cannot open: No such file or directory");
  check_refused("", NULL, "ztensor: the place: cannot open: No such file or directory");
  close(fd);
}

/* A program without standard input gets descriptor 0 for the first file that it opens: a descriptor like any other. */
TEST(test_descriptor_0_is_a_descriptor){
  zt_error err = ZT_ERROR_NONE;
  int kept = dup(0), rc;
  uint8_t buffer[4] = { 0 };
  zt_source *s;
  bool has_identity = false;
  write_file(in_directory("zero"), "four", 4);
  close(0);
  rc = zt_source_open(in_directory("zero"), NULL, &s, &err);
  if( !rc ){
    has_identity = zt_source_identity(s)!=NULL;
    rc = zt_source_read(s, 0, buffer, 4, &err);
    zt_source_close(s);
  }
  if( kept>=0 ){
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
  }
  assert_int_equal(rc, SQLITE_OK);
  assert_true(has_identity);
  assert_memory_equal(buffer, "four", 4);
}

/* If those of the standard streams are all that a program may have, a file gets none. */
TEST(test_descriptors_of_the_standard_streams_alone){
  zt_error err = ZT_ERROR_NONE;
  struct rlimit before, few;
  int kept = dup(0), rc;
  zt_source *s;
  write_file(in_directory("few"), "four", 4);
  getrlimit(RLIMIT_NOFILE, &before);
  few = before;
  few.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &few);
  close(0);
  rc = zt_source_open(in_directory("few"), NULL, &s, &err);
  setrlimit(RLIMIT_NOFILE, &before);
  if( kept>=0 ){
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
  }
  assert_int_equal(rc, SQLITE_ERROR);
  assert_failed(&err, "cannot open: Too many open files", "few");
}

/* Known facts about a path spare a system call, and are verified where it matters. */
TEST(test_opening_with_what_is_known){
  const char *path = in_directory("known");
  zt_error err = ZT_ERROR_NONE;
  zt_stat known, missing = { .kind = ZT_KIND_MISSING };
  zt_source *s;
  write_file(path, "four", 4);
  assert_int_equal(zt_os_stat(path, &known), 0);
  write_file(path, "twelve bytes", 12);
  assert_int_equal(zt_source_open(path, &known, &s, &err), SQLITE_OK);
  assert_int_equal(zt_source_size(s), 12);
  assert_int_equal(zt_source_unchanged(s, &err), SQLITE_OK);
  zt_source_close(s);
  assert_int_equal(zt_source_open(path, &missing, &s, &err), SQLITE_OK);   /* It has come since */
  assert_int_equal(zt_source_size(s), 12);
  zt_source_close(s);
  check_refused(in_directory("gone"), &missing, "cannot open: No such file or directory");
  check_refused(in_directory("gone"), &known, "cannot open: No such file or directory");
  assert_int_equal(mkfifo(in_directory("exchanged"), 0600), 0);
  check_refused(in_directory("exchanged"), &known, "is a FIFO, not a regular file");
  check_refused(directory, &known, "is a directory, not a regular file");
  assert_int_equal(zt_os_stat(directory, &known), 0);
  assert_int_equal(known.kind, ZT_KIND_DIRECTORY);
  check_refused(path, &known, "is a directory, not a regular file");       /* Not opened to find out */
}

/* --- The rest of core/os.h --- */

TEST(test_stat_and_exists){
  zt_stat s = { .kind = ZT_KIND_FILE, .id = { 1, 1, 1, 1, 1, 1 } };
  assert_int_equal(zt_os_stat(in_directory("missing"), &s), ENOENT);
  assert_int_equal(s.kind, ZT_KIND_MISSING);
  assert_int_equal(zt_os_exists(in_directory("missing")), ENOENT);
  assert_int_equal(symlink("nowhere", in_directory("broken")), 0);
  assert_int_equal(zt_os_stat(in_directory("broken"), &s), ENOENT);
  assert_int_equal(zt_os_exists(in_directory("broken")), 0);
  assert_int_equal(zt_os_exists(directory), 0);
  assert_int_equal(zt_os_stat("/dev/null", &s), 0);
  assert_int_equal(s.kind, ZT_KIND_DEVICE);
  assert_string_equal(zt_kind_name(ZT_KIND_FILE), "a regular file");
  assert_string_equal(zt_kind_name(ZT_KIND_DIRECTORY), "a directory");
}

TEST(test_reading_a_directory){
  char path[128];
  int error_number = 0, n = 0;
  zt_directory *d;
  zt_kind kind;
  const char *name;
  snprintf(path, sizeof(path), "%s", in_directory("listed"));
  assert_int_equal(mkdir(path, 0755), 0);
  d = zt_os_opendir(path, &error_number);
  assert_non_null(d);
  assert_null(zt_os_readdir(d, &kind, &error_number));
  assert_int_equal(error_number, 0);
  zt_os_closedir(d);
  write_file(in_directory("listed/file"), "x", 1);
  assert_int_equal(mkdir(in_directory("listed/.directory"), 0755), 0);
  assert_int_equal(symlink("file", in_directory("listed/link")), 0);
  d = zt_os_opendir(path, &error_number);
  for(; (name = zt_os_readdir(d, &kind, &error_number))!=NULL; n++){
    if( strcmp(name, "file")==0 ) assert_true(kind==ZT_KIND_FILE || kind==ZT_KIND_UNKNOWN);
    else if( strcmp(name, ".directory")==0 ) assert_true(kind==ZT_KIND_DIRECTORY || kind==ZT_KIND_UNKNOWN);
    else{
      assert_string_equal(name, "link");
      assert_int_equal(kind, ZT_KIND_UNKNOWN);
    }
  }
  assert_int_equal(n, 3);
  assert_int_equal(error_number, 0);
  zt_os_closedir(d);
  d = zt_os_opendir(path, &error_number);
  close(dirfd((DIR*)d));                               /* It cannot be read: that is not its end */
  assert_null(zt_os_readdir(d, &kind, &error_number));
  assert_int_equal(error_number, EBADF);
  zt_os_closedir(d);
  assert_null(zt_os_opendir(in_directory("missing"), &error_number));
  assert_int_equal(error_number, ENOENT);
  zt_os_closedir(NULL);
}

/* A change within one tick of the clock that stamps files may leave their times as they were. */
TEST(test_settled){
  struct timespec now;
  int64_t t, second = 1000000000;
  zt_identity id = { 0 };
  assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
  t = (int64_t)now.tv_sec*second + now.tv_nsec;
  id.mtime = id.ctime = t-10*second+1;
  assert_true(zt_os_settled(&id));
  id.mtime = id.ctime = t+10*second+1;                 /* In the future */
  assert_false(zt_os_settled(&id));
  id.mtime = t-10*second+1;                            /* One of the two */
  assert_false(zt_os_settled(&id));
  id.ctime = id.mtime;
  id.mtime = t+10*second+1;
  assert_false(zt_os_settled(&id));
  id.mtime = id.ctime = (t/second - 1)*second;         /* Whole seconds: it may be a file system that keeps no more */
  assert_false(zt_os_settled(&id));
  id.mtime = id.ctime = (t/second - 10)*second;
  assert_true(zt_os_settled(&id));
  id.mtime = INT64_MAX;
  assert_false(zt_os_settled(&id));
  id.mtime = id.ctime = INT64_MIN;
  assert_true(zt_os_settled(&id));
}

TEST(test_advice_about_large_pages_touches_no_byte){
  size_t n = (size_t)9<<20;
  uint8_t *p = malloc(n);
  memset(p, 0x5A, n);
  zt_os_advise_large(p, n);
  zt_os_advise_large(p+1, n-1);
  zt_os_advise_large(p, 0);
  zt_os_advise_large(NULL, 0);
  for(size_t i=0; i<n; i++) if( p[i]!=0x5A ) fail_msg("byte %zu", i);
  free(p);
}

#if !defined(_WIN32)
/* Pages of one's own: 0, and to be written to, also after others were given back. */
TEST(test_mapping){
  static const size_t sizes[] = { 1, 4096, 100001, ((size_t)6<<20)+12345 };
  for(size_t i=0; i<COUNT(sizes); i++){
    for(int again=0; again<2; again++){
      uint8_t *p = zt_os_map(sizes[i]);
      size_t wrong = 0;
      assert_non_null(p);
      for(size_t b=0; b<sizes[i]; b++) wrong += p[b]!=0;
      assert_int_equal(wrong, 0);
      memset(p, 0x5A, sizes[i]);
      zt_os_unmap(p, sizes[i]);
    }
  }
  assert_null(zt_os_map(SIZE_MAX-((size_t)2<<20)));   /* More than any address space has */
}
#endif

int main(void){
  return run_all("source", make_directory, remove_directory);
}
