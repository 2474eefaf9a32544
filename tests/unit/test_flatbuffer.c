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
  assert_int_equal(zt_flatbuffer_number(&o.in, 0, 4), 0);
  close_bytes(&o);
}

/* --- Pages --- */

#define PAGES (3*(size_t)ZT_FLATBUFFER_PAGES+1)   /* More than are in memory; the last is not whole */
#define BYTES (PAGES*ZT_FLATBUFFER_PAGE-7)

static blob numbered_bytes(void){
  blob b = { 0 };
  for(size_t i=0; i<BYTES; i++) put_byte(&b, (unsigned)(i*2654435761u>>24) & 0xFF);
  return seal(&b);
}

TEST(test_bytes_on_either_side_of_a_page_and_of_those_in_memory){
  uint8_t bytes[2*4096+2];
  opened o;
  open_bytes(&o, numbered_bytes(), true);
  for(size_t round=0; round<2; round++){
    for(size_t page=1; page<PAGES; page+=round+1){
      for(size_t before=0; before<=8; before++){
        const size_t at = page*ZT_FLATBUFFER_PAGE-before;
        check( zt_flatbuffer_number(&o.in, at, 8)==zt_le64(o.bytes.p+at), "byte %zu", at );
      }
    }
  }
  for(size_t at=1; at<=BYTES-sizeof(bytes); at+=40001){
    assert_true(zt_flatbuffer_read(&o.in, at, sizeof(bytes), bytes));
    assert_memory_equal(bytes, o.bytes.p+at, sizeof(bytes));
  }
  assert_int_equal(zt_flatbuffer_number(&o.in, BYTES-1, 1), o.bytes.p[BYTES-1]);
  assert_succeeded(&o.err, "all");
  close_bytes(&o);
}

static bool stop(void *context){
  return --*(int*)context<0;
}

TEST(test_many_pages_can_be_interrupted){
  int left = 20;
  zt_interrupt interrupt = { stop, &left };
  opened o;
  size_t read = 0;
  open_bytes(&o, numbered_bytes(), true);
  o.in.interrupt = &interrupt;
  for(size_t page=0; page<PAGES && !o.err.rc; page++, read++) zt_flatbuffer_number(&o.in, page*ZT_FLATBUFFER_PAGE, 1);
  assert_int_equal(o.err.rc, SQLITE_INTERRUPT);
  assert_int_equal(read, 21);
  close_bytes(&o);
}

int main(void){
  return run_all("flatbuffer", make_file, remove_file);
}
