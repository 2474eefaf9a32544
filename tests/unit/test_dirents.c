/* The names in a directory: core/dirents.h. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include "core/dirents.h"

enum { NAMES = 300 };   /* More than are read between two questions whether to go on */

static char tree[] = "/tmp/ztensor-dirents-XXXXXX";

/* In an order that is none. */
static int make_tree(void **state){
  char path[100];
  (void)state;
  assert_non_null(mkdtemp(tree));
  for(int i=0; i<NAMES; i++){
    snprintf(path, sizeof(path), "%s/%03d", tree, i*7%NAMES);
    if( i%3==0 ) assert_int_equal(mkdir(path, 0755), 0);
    else write_file(path, "", 0);
  }
  return 0;
}

static int remove_tree(void **state){
  (void)state;
  return remove_all(tree);
}

static bool stop(void *context){
  (void)context;
  return true;
}

TEST(test_names_ascend){
  const zt_interrupt nobody = { NULL, NULL };
  zt_error err = ZT_ERROR_NONE;
  zt_dirents e = { 0 };
  int error_number;
  assert_int_equal(zt_dirents_read(&e, tree, &nobody, &error_number, &err), SQLITE_OK);
  assert_int_equal(error_number, 0);
  assert_int_equal(e.n, NAMES);
  for(int i=0; i<NAMES; i++){
    char name[8];
    snprintf(name, sizeof(name), "%03d", i);
    assert_string_equal(zt_dirents_name(&e, (size_t)i), name);
    if( e.a[i].kind!=ZT_KIND_UNKNOWN ) assert_int_equal(e.a[i].kind==ZT_KIND_DIRECTORY, i*43%NAMES%3==0);   /* 7 * 43 is 1 */
  }
  assert_true(zt_dirents_memory(&e)>=NAMES*(sizeof(*e.a)+4));
  zt_dirents_clear(&e);
  assert_true(e.n==0 && zt_dirents_memory(&e)==0);
}

TEST(test_what_cannot_be_listed){
  const zt_interrupt nobody = { NULL, NULL };
  zt_error err = ZT_ERROR_NONE;
  zt_dirents e = { 0 };
  int error_number;
  assert_int_equal(zt_dirents_read(&e, "/nonesuch/none", &nobody, &error_number, &err), SQLITE_OK);
  assert_int_equal(error_number, ENOENT);
  assert_int_equal(e.n, 0);
}

TEST(test_an_interrupt_ends_it){
  const zt_interrupt somebody = { stop, NULL };
  zt_error err = ZT_ERROR_NONE;
  zt_dirents e = { 0 };
  int error_number;
  assert_int_equal(zt_dirents_read(&e, tree, &somebody, &error_number, &err), SQLITE_INTERRUPT);
  assert_true(e.n<NAMES);
  zt_dirents_clear(&e);
  zt_error_clear(&err);
}

int main(void){
  return run_all("dirents", make_tree, remove_tree);
}
