/* Flatbuffers: core/flatbuffer.h. The files of tests/formats/tflite/hostile break each rule. */
#include "test.h"

#include <unistd.h>
#include "core/flatbuffer.h"

/* --- A flatbuffer to read, out of an image and out of a file --- */

typedef struct opened {
  blob bytes;
  zt_error err;
  zt_source *source;
  zt_flatbuffer in;
} opened;

static char file_path[] = "/tmp/ztensor-flatbuffer-XXXXXX";

static void open_bytes(opened *o, blob bytes, bool file){
  *o = (opened){ .bytes = bytes, .err = ZT_ERROR_NONE };
  if( file ){
    write_file(file_path, bytes.p, bytes.n);
    assert_int_equal(zt_source_open(file_path, NULL, &o->source, &o->err), SQLITE_OK);
  }else{
    assert_int_equal(zt_source_open_image(span_of(bytes), &o->source, &o->err), SQLITE_OK);
  }
  zt_flatbuffer_open(o->source, NULL, &o->in, &o->err);
}

static void close_bytes(opened *o){
  zt_flatbuffer_close(&o->in);
  zt_source_close(o->source);
  zt_error_clear(&o->err);
  free(o->bytes.p);
}

static int make_file(void **state){
  const int fd = mkstemp(file_path);
  (void)state;
  return fd<0 || close(fd);
}

static int remove_file(void **state){
  (void)state;
  return unlink(file_path);
}

/* The root at 16, behind its vtable: field 0 is the byte 7, field 1 is absent, field 2 a vector of two tables, which are the same
** one without fields. */
#define SMALL \
  "10000000 0a00 1000 0c00 0000 0400 0000" "0c000000 0c000000 00000000 07000000" "02000000 0c000000 08000000" "0400 0400 04000000"

TEST(test_fields_of_a_table){
  for(int file=0; file<2; file++){
    zt_flatbuffer_table root, child;
    zt_flatbuffer_vector tables, bytes;
    uint64_t at;
    opened o;
    open_bytes(&o, blob_of(SMALL), file);
    assert_true(zt_flatbuffer_root(&o.in, &root));
    assert_true(root.at==16 && root.vtable==4 && root.size==16 && root.fields==3);
    assert_true(zt_flatbuffer_field(&o.in, &root, 0, 4, &at) && at==28);
    assert_int_equal(zt_flatbuffer_get(&o.in, &root, 0, 1), 7);
    assert_false(zt_flatbuffer_field(&o.in, &root, 1, 4, &at));
    assert_false(zt_flatbuffer_field(&o.in, &root, 3, 4, &at));
    assert_int_equal(zt_flatbuffer_get(&o.in, &root, 1, 8), 0);
    assert_false(zt_flatbuffer_child(&o.in, &root, 1, &child));
    assert_false(zt_flatbuffer_elements(&o.in, &root, 1, 1, &bytes));
    assert_true(bytes.n==0);
    assert_true(zt_flatbuffer_tables(&o.in, &root, 2, &tables) && tables.n==2 && tables.at==36);
    for(uint32_t i=0; i<2; i++){
      assert_true(zt_flatbuffer_item(&o.in, tables, i, &child));
      assert_true(child.at==48 && child.vtable==44 && child.fields==0 && child.size==4);
    }
    assert_succeeded(&o.err, "all");
    close_bytes(&o);
  }
}

/* Each time its references take 8 bytes; the file has 52. */
TEST(test_a_vector_of_tables_that_is_read_again_and_again){
  zt_flatbuffer_table root;
  zt_flatbuffer_vector tables;
  opened o;
  unsigned n = 0;
  open_bytes(&o, blob_of(SMALL), false);
  assert_true(zt_flatbuffer_root(&o.in, &root));
  while( zt_flatbuffer_tables(&o.in, &root, 2, &tables) ) n++;
  assert_int_equal(n, 52/8);
  assert_true(tables.n==0);
  assert_failed(&o.err, "vectors of tables take more bytes than the file", "FB4");
  close_bytes(&o);
}

TEST(test_after_a_failure_all_is_absent){
  zt_flatbuffer_table root, child;
  zt_flatbuffer_vector bytes;
  uint64_t at;
  opened o;
  open_bytes(&o, blob_of(SMALL), false);
  assert_true(zt_flatbuffer_root(&o.in, &root));
  zt_fail(&o.err, SQLITE_ERROR, "the first");
  assert_false(zt_flatbuffer_field(&o.in, &root, 0, 1, &at));
  assert_false(zt_flatbuffer_child(&o.in, &root, 2, &child));
  assert_false(zt_flatbuffer_elements(&o.in, &root, 2, 4, &bytes));
  assert_int_equal(zt_flatbuffer_get(&o.in, &root, 0, 1), 0);
  assert_int_equal(zt_pages_number(&o.in.pages, 0, 4), 0);
  close_bytes(&o);
}

TEST(test_what_is_no_flatbuffer){
  static const struct { const char *hex, *said; } roots[] = {
    { "0000", "the file ends before its root" }, { "10000000", "byte 0: a reference leads beyond the file" },
    { "04000000 00000080", "byte 4: a table's vtable does not lie within the file" }
  };
  /* The field 2 of the root is a reference, at byte 28, to something at byte 32: beyond the file, or with such a vtable */
  static const struct { const char *hex, *said; } children[] = {
    { "10000000 0a00 1000 0c00 0000 0c00 0000" "0c000000 0c000000 00000000 ff000000", "byte 28: a reference leads beyond the file" },
    { "10000000 0a00 1000 0c00 0000 0c00 0000" "0c000000 0c000000 00000000 04000000 00000080",
      "byte 32: a table's vtable does not lie within the file" }
  };
  for(size_t i=0; i<COUNT(roots)+COUNT(children); i++){
    const bool root_fails = i<COUNT(roots);
    const char *said = root_fails ? roots[i].said : children[i-COUNT(roots)].said;
    zt_flatbuffer_table root, child;
    opened o;
    open_bytes(&o, blob_of(root_fails ? roots[i].hex : children[i-COUNT(roots)].hex), false);
    check( zt_flatbuffer_root(&o.in, &root)==!root_fails, "%zu", i );
    if( !root_fails ) check( !zt_flatbuffer_child(&o.in, &root, 2, &child), "%zu", i );
    assert_failed(&o.err, said, "no flatbuffer");
    close_bytes(&o);
  }
}

/* The root's vtable lies in a later page than the root, and is gone when it is read. */
TEST(test_a_file_that_is_cut_short){
  zt_flatbuffer_table root;
  blob b = { 0 };
  opened o;
  put_hex(&b, "04000000 00000000");
  put_repeated(&b, 0, 2*ZT_PAGE);
  memcpy(b.p+4, "\x00\xf0\xff\xff", 4);   /* A page of 4096 bytes behind it */
  open_bytes(&o, seal(&b), true);
  assert_int_equal(truncate(file_path, ZT_PAGE), 0);
  assert_false(zt_flatbuffer_root(&o.in, &root));
  assert_failed(&o.err, "the file was cut short while it was read", "vtable");
  close_bytes(&o);
}

static bool stop_soon(void *context){
  return ++*(int*)context>=2;
}

TEST(test_many_tables_can_be_interrupted){
  int asked = 0;
  const zt_interrupt interrupt = { stop_soon, &asked };
  zt_flatbuffer_table root, child;
  zt_flatbuffer_vector tables;
  uint32_t n = 0;
  opened o;
  open_bytes(&o, blob_of(SMALL), false);
  o.in.pages.interrupt = &interrupt;
  assert_true(zt_flatbuffer_root(&o.in, &root) && zt_flatbuffer_tables(&o.in, &root, 2, &tables));
  while( zt_flatbuffer_item(&o.in, tables, n%2, &child) ) n++;
  assert_int_equal(o.err.rc, SQLITE_INTERRUPT);
  assert_int_equal(n, (2*65536-1-6)/3);   /* Each takes three reads; the root and the vector took six */
  close_bytes(&o);
}

int main(void){
  return run_all("flatbuffer", make_file, remove_file);
}
