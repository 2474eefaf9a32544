/* Pages of a source: core/pages.h. */
#include "test.h"

#include <unistd.h>
#include "core/pages.h"

typedef struct opened {
  blob bytes;
  zt_error err;
  zt_source *source;
  zt_pages in;
} opened;

static char file_path[] = "/tmp/ztensor-pages-XXXXXX";

#define COUNTED (3*(size_t)ZT_PAGES+1)   /* More than are in memory; the last is not whole */
#define BYTES (COUNTED*ZT_PAGE-7)

static blob numbered_bytes(void){
  blob b = { 0 };
  for(size_t i=0; i<BYTES; i++) put_byte(&b, (unsigned)(i*2654435761u>>24) & 0xFF);
  return seal(&b);
}

static void open_bytes(opened *o){
  *o = (opened){ .bytes = numbered_bytes(), .err = ZT_ERROR_NONE };
  write_file(file_path, o->bytes.p, o->bytes.n);
  assert_int_equal(zt_source_open(file_path, NULL, &o->source, &o->err), SQLITE_OK);
  zt_pages_open(o->source, NULL, &o->in, &o->err);
}

static void close_bytes(opened *o){
  zt_pages_close(&o->in);
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

TEST(test_bytes_on_either_side_of_a_page_and_of_those_in_memory){
  uint8_t bytes[2*4096+2];
  opened o;
  open_bytes(&o);
  for(size_t round=0; round<2; round++){
    for(size_t page=1; page<COUNTED; page+=round+1){
      for(size_t before=0; before<=8; before++){
        const size_t at = page*ZT_PAGE-before;
        check( zt_pages_number(&o.in, at, 8)==zt_le64(o.bytes.p+at), "byte %zu", at );
      }
    }
  }
  for(size_t at=1; at<=BYTES-sizeof(bytes); at+=40001){
    assert_true(zt_pages_read(&o.in, at, sizeof(bytes), bytes));
    assert_memory_equal(bytes, o.bytes.p+at, sizeof(bytes));
  }
  assert_int_equal(zt_pages_number(&o.in, BYTES-1, 1), o.bytes.p[BYTES-1]);
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
  open_bytes(&o);
  o.in.interrupt = &interrupt;
  for(size_t page=0; page<COUNTED && !o.err.rc; page++, read++) zt_pages_number(&o.in, page*ZT_PAGE, 1);
  assert_int_equal(o.err.rc, SQLITE_INTERRUPT);
  assert_int_equal(read, 21);
  close_bytes(&o);
}

TEST(test_many_reads_of_an_image_can_be_interrupted){
  int left = 3;
  zt_interrupt interrupt = { stop, &left };
  uint8_t byte = 0, image[] = { 7 };
  opened o;
  size_t read = 0;
  open_bytes(&o);
  o.in.interrupt = &interrupt;
  o.in.image = image;
  while( zt_pages_read(&o.in, 0, 1, &byte) ) read++;
  o.in.image = NULL;
  assert_int_equal(o.err.rc, SQLITE_INTERRUPT);
  assert_int_equal(byte, 7);
  assert_int_equal(read, 4*65536-1);
  close_bytes(&o);
}

int main(void){
  return run_all("pages", make_file, remove_file);
}
