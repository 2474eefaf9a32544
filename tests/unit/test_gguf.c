/*
** GGUF: every rule has a file that breaks it alone; files cut anywhere and changed anywhere; headers that arrive in pieces;
** walks through values. tests/sql/test_golden.py tests the contents of good files.
*/
#include "test.h"

#include <unistd.h>
#include "container/driver.h"
#include "container/ggml_types.h"
#include "core/paths.h"
#include "expectations.h"
#include "tensor/rule.h"

#define FOLDER "tests/formats/gguf/"
#define HOSTILE FOLDER "hostile/"
#define RULES 16

static zt_container *open_image(zt_span image, zt_error *err){
  zt_source *source;
  zt_container *c;
  assert_int_equal(zt_source_open_image(image, &source, err), SQLITE_OK);
  zt_container_open(source, NULL, &c, err);
  assert_true((c==NULL)==(err->rc!=SQLITE_OK));
  assert_true(err->object.z==NULL && err->component.z==NULL);
  zt_source_close(source);
  return c;
}

static zt_container *open_file(const char *path, zt_error *err){
  zt_source *source;
  zt_container *c = NULL;
  err->path = path;
  if( zt_source_open(path, NULL, &source, err)==SQLITE_OK ) zt_container_open(source, NULL, &c, err);
  zt_source_close(source);
  return c;
}

/* All that can be asked of a container. */
static void ask_value(const zt_container *c, const zt_value *value){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  assert_int_equal(zt_value_json(c, value, NULL, out, &err), SQLITE_OK);
  assert_int_equal(sqlite3_str_errcode(out), SQLITE_OK);
  sqlite3_free(sqlite3_str_finish(out));
}

static void ask_all(const zt_container *c){
  zt_value attributes = zt_container_attributes(c), manifest = zt_container_manifest(c);
  ask_value(c, &attributes);
  ask_value(c, &manifest);
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    zt_component component;
    zt_object o;
    zt_container_object(c, i, &o);
    ask_value(c, &o.attributes);
    assert_int_equal(zt_container_find(c, o.name), i);
    assert_int_equal(zt_container_first(c, i), i);
    zt_container_component(c, i, i, ZT_COMPONENT_ALL, &component);
    assert_true(zt_claim(c->file_size, component.offset, component.length));
  }
}

/* --- Rules --- */

/* The rules that the hostile files break, by the numbers in cases.json; and those files say what they shall. */
TEST(test_every_rule_has_a_file_and_a_row){
  sqlite3_stmt *cases = query("SELECT json_extract(value, '$.file'), json_extract(value, '$.number'), json_extract(value, '$.expect')"
                              " FROM json_each(?1)", HOSTILE "cases.json");
  bool seen[RULES+1] = { [5] = true };   /* GG5 takes more than 1 GiB: below */
  while( sqlite3_step(cases)==SQLITE_ROW ){
    const char *number = (const char*)sqlite3_column_text(cases, 1);
    zt_error err = ZT_ERROR_NONE;
    char path[200];
    zt_container *c;
    snprintf(path, sizeof(path), HOSTILE "%s", (const char*)sqlite3_column_text(cases, 0));
    c = open_file(path, &err);
    if( strcmp((const char*)sqlite3_column_text(cases, 2), "open_error")==0 ){
      check( err.rc==SQLITE_ERROR && err.rule && strcmp(err.rule, number)==0, "%s: %s", path, err.message );
      check( zt_rule_numbered(number)!=NULL, "%s has no row", number );
      if( strncmp(number, "GG", 2)==0 ) seen[atoi(number+2)] = true;
      zt_error_clear(&err);
    }else{
      assert_succeeded(&err, path);
      ask_all(c);
      zt_container_close(c);
    }
  }
  sqlite3_finalize(cases);
  for(int i=1; i<=RULES; i++) check( seen[i], "no file breaks GG%d", i );
}

/* --- Files cut and changed --- */

static void each_file(void (*todo)(blob, const char*)){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { 0 };
  zt_paths paths;
  assert_int_equal(zt_paths_find(FOLDER "*/*.gguf", &filter, &paths, &err), SQLITE_OK);
  assert_true(paths.n>50);
  for(size_t i=0; i<paths.n; i++){
    blob b = read_file(paths.a[i].z);
    if( b.n<3000 ) todo(b, paths.a[i].z);
    free(b.p);
  }
  zt_paths_clear(&paths);
}

static void cut_everywhere(blob b, const char *path){
  for(size_t n=0; n<b.n; n++){
    zt_error err = ZT_ERROR_NONE;
    uint8_t *p = malloc(n ? n : 1);
    zt_container *c;
    memcpy(p, b.p, n);
    c = open_image((zt_span){ p, n }, &err);
    check( c || err.rc==SQLITE_ERROR, "%s cut to %zu bytes", path, n );
    if( c ) ask_all(c);
    zt_container_close(c);
    zt_error_clear(&err);
    free(p);
  }
}

TEST(test_files_cut_anywhere){
  each_file(cut_everywhere);
}

static void change_everywhere(blob b, const char *path){
  static const uint8_t with[] = { 0x00, 0x01, 0x7F, 0x80, 0xFF };
  for(size_t i=4; i<b.n && i<600; i++){
    for(size_t k=0; k<COUNT(with); k++){
      zt_error err = ZT_ERROR_NONE;
      uint8_t old = b.p[i];
      zt_container *c;
      b.p[i] = with[k];
      c = open_image((zt_span){ b.p, b.n }, &err);
      check( c || err.rc==SQLITE_ERROR, "%s: byte %zu is 0x%02x", path, i, with[k] );
      if( c ) ask_all(c);
      zt_container_close(c);
      zt_error_clear(&err);
      b.p[i] = old;
    }
  }
}

TEST(test_files_with_one_byte_changed){
  each_file(change_everywhere);
}

/* --- Headers in pieces, and how long they may be --- */

static void put_le32(blob *b, uint32_t u){
  for(int i=0; i<4; i++) put_byte(b, u >> 8*i & 0xFF);
}

static void put_string(blob *b, const char *z){
  put_le64(b, strlen(z));
  put(b, z, strlen(z));
}

/* A header of so many keys and tensors. */
static blob header(uint64_t tensors, uint64_t keys){
  blob b = { 0 };
  put(&b, "GGUF", 4);
  put_le32(&b, 3);
  put_le64(&b, tensors);
  put_le64(&b, keys);
  return b;
}

enum { TYPE_U8 = 0, TYPE_TEXT = 8, TYPE_ARRAY = 9 };

/* A key whose value is an array of texts. */
static void put_texts(blob *b, const char *key, uint32_t n){
  put_string(b, key);
  put_le32(b, TYPE_ARRAY);
  put_le32(b, TYPE_TEXT);
  put_le64(b, n);
  for(uint32_t i=0; i<n; i++){
    char z[32];
    snprintf(z, sizeof(z), "token %u", (unsigned)i);
    put_string(b, z);
  }
}

static void put_info(blob *b, const char *name, uint64_t n, uint64_t offset){
  put_string(b, name);
  put_le32(b, 1);
  put_le64(b, n);
  put_le32(b, 0);
  put_le64(b, offset);
}

static char *make_file(blob b){
  static char path[] = "/tmp/ztensor-gguf-XXXXXX";
  FILE *f;
  int fd;
  memcpy(path+sizeof(path)-7, "XXXXXX", 6);
  fd = mkstemp(path);
  assert_true(fd>=0);
  f = fdopen(fd, "wb");
  assert_int_equal(fwrite(b.p, 1, b.n, f), b.n);
  fclose(f);
  return path;
}

/* More than the first pieces, whose ends lie anywhere in texts and numbers. */
TEST(test_a_header_of_many_pieces){
  blob b = header(2, 3);
  zt_error err = ZT_ERROR_NONE;
  char *path;
  zt_container *c;
  zt_object o;
  size_t end;
  put_texts(&b, "tokens", 40000);
  put_texts(&b, "none", 0);
  put_texts(&b, "more", 30000);
  put_info(&b, "first", 3, 0);
  put_info(&b, "second", 1, 32);
  end = b.n;
  put_repeated(&b, 0, (32-b.n%32)%32+64);
  path = make_file(b);
  c = open_file(path, &err);
  assert_succeeded(&err, "a file");
  assert_int_equal(zt_container_manifest_length(c), end-24);
  assert_true(zt_container_memory(c)<end+2000);
  zt_container_object(c, 1, &o);
  assert_int_equal(o.elements, 1);
  ask_all(c);
  zt_container_close(c);
  remove(path);
  free(b.p);
}

TEST(test_headers_above_their_bound){
  static const struct { uint64_t tensors, keys; uint32_t type; uint64_t count; } rows[] = {
    { (uint64_t)1<<26, 0, 0, 0 }, { 0, (uint64_t)1<<27, 0, 0 }, { 0, 1, TYPE_TEXT, (uint64_t)1<<28 }, { 0, 1, TYPE_U8, (uint64_t)1<<31 },
    { 0, 1, TYPE_ARRAY, (uint64_t)1<<27 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = header(rows[i].tensors, rows[i].keys);
    zt_error err = ZT_ERROR_NONE;
    sqlite3_int64 used = sqlite3_memory_highwater(1);
    char *path;
    put_string(&b, "key");
    put_le32(&b, TYPE_ARRAY);
    put_le32(&b, rows[i].type);
    put_le64(&b, rows[i].count);
    path = make_file(b);
    extend_file(path, (uint64_t)1<<33);
    used = sqlite3_memory_used();
    assert_null(open_file(path, &err));
    check( err.rule && strcmp(err.rule, "GG5")==0, "row %zu: %s", i, err.message );
    assert_true(sqlite3_memory_highwater(0)-used<1<<20);
    zt_error_clear(&err);
    remove(path);
    free(b.p);
  }
}

int main(void){
  return run_all("gguf", open_db, close_db);
}
