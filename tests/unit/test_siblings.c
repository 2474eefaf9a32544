/* The states of files in one directory: core/siblings.h. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/siblings.h"

static char tree[] = "/tmp/ztensor-siblings-XXXXXX";

static const char *in_tree(const char *name){
  static char path[128];
  snprintf(path, sizeof(path), "%s/%s", tree, name);
  return path;
}

/* Files a/1 to a/3 and b/1, of so many bytes. */
static int make_tree(void **state){
  (void)state;
  assert_non_null(mkdtemp(tree));
  assert_int_equal(mkdir(in_tree("a"), 0755), 0);
  assert_int_equal(mkdir(in_tree("b"), 0755), 0);
  write_file(in_tree("a/1"), "1", 1);
  write_file(in_tree("a/2"), "12", 2);
  write_file(in_tree("a/3"), "123", 3);
  write_file(in_tree("b/1"), "1234", 4);
  return 0;
}

static int remove_tree(void **state){
  (void)state;
  return remove_all(tree);
}

static void check_size(zt_siblings *s, const char *name, uint64_t size){
  zt_stat found, expected;
  assert_int_equal(zt_os_stat(in_tree(name), &expected), 0);
  assert_int_equal(zt_siblings_stat(s, in_tree(name), &found), 0);
  check( zt_same_state(&found.id, &expected.id) && found.id.size==size, "%s", name );
}

TEST(test_the_second_file_of_a_directory_opens_it){
  zt_siblings s = { 0 };
  check_size(&s, "a/1", 1);
  assert_false(s.opened);
  check_size(&s, "a/2", 2);
  assert_true(s.opened && s.directory>=0);
  check_size(&s, "a/3", 3);
  check_size(&s, "b/1", 4);
  assert_false(s.opened);
  check_size(&s, "a/1", 1);
  zt_siblings_clear(&s);
  assert_true(!s.path && s.n==0 && !s.opened);
}

/* A rewritten, a new and a removed file, a dangling link, and a name that is a directory. */
TEST(test_each_is_examined_anew){
  zt_siblings s = { 0 };
  zt_stat found;
  check_size(&s, "a/1", 1);
  check_size(&s, "a/2", 2);
  write_file(in_tree("a/2"), "123456", 6);
  check_size(&s, "a/2", 6);
  write_file(in_tree("a/new"), "12345", 5);
  check_size(&s, "a/new", 5);
  assert_int_equal(unlink(in_tree("a/new")), 0);
  assert_int_equal(zt_siblings_stat(&s, in_tree("a/new"), &found), ENOENT);
  assert_int_equal(found.kind, ZT_KIND_MISSING);
  assert_int_equal(symlink("nowhere", in_tree("a/link")), 0);
  assert_int_equal(zt_siblings_stat(&s, in_tree("a/link"), &found), ENOENT);
  assert_int_equal(zt_siblings_stat(&s, in_tree("a/1/below"), &found), ENOTDIR);
  assert_int_equal(zt_siblings_stat(&s, in_tree("a/"), &found), 0);
  assert_int_equal(found.kind, ZT_KIND_DIRECTORY);
  zt_siblings_clear(&s);
}

TEST(test_a_directory_that_was_renamed){
  zt_siblings s = { 0 };
  zt_stat found;
  char renamed[128];
  snprintf(renamed, sizeof(renamed), "%s", in_tree("c"));
  check_size(&s, "b/1", 4);
  assert_int_equal(zt_siblings_stat(&s, in_tree("b/none"), &found), ENOENT);
  assert_true(s.directory>=0);
  assert_int_equal(rename(in_tree("b"), renamed), 0);
  assert_int_equal(zt_siblings_stat(&s, in_tree("b/1"), &found), 0);
  assert_int_equal(found.id.size, 4);
  zt_siblings_clear(&s);
  assert_int_equal(zt_siblings_stat(&s, in_tree("b/1"), &found), ENOENT);
  assert_int_equal(zt_siblings_stat(&s, in_tree("b/1"), &found), ENOENT);
  assert_true(s.opened && s.directory<0);
  zt_siblings_clear(&s);
}

/* A name alone is one of the current directory. */
TEST(test_paths_without_a_directory){
  zt_siblings s = { 0 };
  zt_stat found;
  for(int i=0; i<2; i++){
    assert_int_equal(zt_siblings_stat(&s, "Makefile", &found), 0);
    assert_int_equal(found.kind, ZT_KIND_FILE);
    assert_int_equal(zt_siblings_stat(&s, "", &found), ENOENT);
  }
  assert_int_equal(s.n, 0);
  zt_siblings_clear(&s);
}

int main(void){
  return run_all("siblings", make_tree, remove_tree);
}
