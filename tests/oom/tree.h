/*
** A directory of links to files of the project, some of which cannot be read, with a name of its own in each run: TREE, in the
** statements.
*/
#ifndef ZT_TESTS_OOM_TREE_H
#define ZT_TESTS_OOM_TREE_H

#include "tensors.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE "$TREE"

static char tree[] = "/tmp/ztensor-oom-XXXXXX";

static inline void tree_link(const char *to, const char *name){
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", tree, name);
  assert_int_equal(symlink(to, path), 0);
}

static inline void tree_file(const char *file, const char *name){
  char to[PATH_MAX];
  assert_non_null(realpath(file, to));
  tree_link(to, name);
}

static inline void tree_directory(const char *name){
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", tree, name);
  assert_int_equal(mkdir(path, 0755), 0);
}

/* A tensor so large that the memory of a result is kept for the next one. No pattern finds it. */
static inline void tree_large(void){
  recipe r = { .format = "dense", .rank = 2, .shape = { 1, 5<<20 } };
  char path[PATH_MAX];
  blob bytes = { 0 }, file;
  put_repeated(&bytes, 7, 5<<20);
  add_part(&r, "data", "u8", NULL, bytes);
  file = file_of(&r);
  snprintf(path, sizeof(path), "%s/large", tree);
  write_file(path, file.p, file.n);
  free(file.p);
  clear_recipe(&r);
}

static inline int make_tree(void **state){
  (void)state;
  assert_non_null(mkdtemp(tree));
  tree_directory("sub");
  tree_directory("sub/deeper");
  tree_directory("directory.zt");
  tree_file("tests/formats/ztensor/golden/v1.2/wheel_save_file.zt", "a.zt");
  tree_file("tests/formats/ztensor/golden/v1.2/wheel_attributes.zt", "sub/b.zt");
  tree_file("tests/formats/ztensor/golden/v2/hand_unknown_fields.zt", "sub/deeper/c.zt");
  tree_file("tests/formats/ztensor/hostile/0.1-cbor-cut.zt", "cut.zt");
  tree_link("loop.zt", "loop.zt");
  tree_link("sub", "linked");
  tree_large();
  return 0;
}

static inline int remove_tree(void **state){
  char command[PATH_MAX];
  (void)state;
  snprintf(command, sizeof(command), "rm -r %s", tree);
  return system(command);
}

/* A statement in which TREE stands for the directory, in malloc(). */
static inline char *with_tree(const char *sql){
  blob b = { 0 };
  const char *at;
  for(; (at = strstr(sql, TREE))!=NULL; sql = at+strlen(TREE)){
    put(&b, sql, (size_t)(at-sql));
    put(&b, tree, strlen(tree));
  }
  put(&b, sql, strlen(sql)+1);
  return (char*)b.p;
}

#endif
