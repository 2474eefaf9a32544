/* Small components that are read with those around them: tensor/ahead.h. */
#include "test.h"

#include <unistd.h>
#include "tensor/ahead.h"

#define FILE_BYTES ((size_t)300000)

/* A file of random bytes, and bytes that are read ahead of it. */
typedef struct reading {
  char path[64];
  uint8_t *content;
  zt_source *source;
  zt_ahead ahead;
} reading;

static void begin(reading *r){
  zt_error err = ZT_ERROR_NONE;
  uint64_t seed = 7;
  int fd;
  *r = (reading){ .path = "/tmp/ztensor-ahead-XXXXXX", .content = malloc(FILE_BYTES+1) };   /* A byte more, for a longer file */
  for(size_t i=0; i<FILE_BYTES+1; i++) r->content[i] = (uint8_t)random64(&seed);
  fd = mkstemp(r->path);
  assert_true(fd>=0);
  close(fd);
  write_file(r->path, r->content, FILE_BYTES);
  zt_source_open(r->path, NULL, &r->source, &err);
  assert_succeeded(&err, r->path);
}

static void end(reading *r){
  zt_ahead_clear(&r->ahead);
  zt_source_close(r->source);
  unlink(r->path);
  free(r->content);
}

static zt_component raw(uint64_t offset, uint64_t n){
  return (zt_component){ .codec = ZT_CODEC_RAW, .offset = offset, .length = n };
}

/* True if the component's bytes are in memory; these are the right ones. */
static bool has(reading *r, zt_component c){
  zt_error err = ZT_ERROR_NONE;
  zt_source with;
  const size_t n = (size_t)c.length;
  uint8_t *got = malloc(n+1);
  const bool there = zt_ahead_has(&r->ahead, r->source, &c, &with);
  if( there ){
    assert_int_equal(zt_source_read(&with, c.offset, got, n, &err), SQLITE_OK);
    assert_memory_equal(got, r->content+c.offset, n);
  }
  free(got);
  return there;
}

TEST(test_components_side_by_side){
  reading r;
  begin(&r);
  assert_false(has(&r, raw(100000, 64)));   /* Nothing lies before it */
  for(uint64_t at=100064; at+64<=FILE_BYTES; at+=128) check( has(&r, raw(at, 64)), "%d", (int)at );
  zt_ahead_leave(&r.ahead);
  assert_false(has(&r, raw(100064, 64)));
  assert_true(has(&r, raw(100128, 16384)));
  end(&r);
}

TEST(test_components_that_are_read_alone){
  static const char fault[] = "it is broken";
  reading r;
  zt_component c;
  zt_error err = ZT_ERROR_NONE;
  zt_source *image, with;
  begin(&r);
  assert_true(has(&r, raw(100, 64)));
  assert_true(has(&r, raw(20000, 64)));     /* It was read with the first one */
  assert_false(has(&r, raw(200000, 64)));   /* Far behind */
  assert_false(has(&r, raw(150000, 64)));   /* Before the last one */
  assert_false(has(&r, raw(150064, 16385)));
  assert_false(has(&r, raw(150064, 0)));
  assert_false(has(&r, raw(FILE_BYTES-10, 11)));
  assert_false(has(&r, raw(UINT64_MAX, 11)));
  c = raw(150064, 64);
  c.codec = ZT_CODEC_ZSTD;
  assert_false(has(&r, c));
  c = raw(150064, 64);
  c.shard = ZT_TEXT("shard");
  assert_false(has(&r, c));
  c = raw(150064, 64);
  c.fault = fault;
  assert_false(has(&r, c));
  assert_true(has(&r, raw(150064, 64)));
  assert_int_equal(zt_source_open_image((zt_span){ r.content, FILE_BYTES }, &image, &err), SQLITE_OK);
  c = raw(0, 64);
  zt_ahead_leave(&r.ahead);
  assert_false(zt_ahead_has(&r.ahead, image, &c, &with));
  zt_source_close(image);
  end(&r);
}

/* Bytes beyond those in memory come from the file. */
TEST(test_reads_beyond_the_bytes){
  zt_error err = ZT_ERROR_NONE;
  reading r;
  zt_source with;
  uint8_t got[100];
  const zt_component c = raw(0, 64);
  begin(&r);
  assert_true(zt_ahead_has(&r.ahead, r.source, &c, &with));
  for(uint64_t at=r.ahead.n-150; at<r.ahead.n+50; at+=50){
    assert_int_equal(zt_source_read(&with, at, got, sizeof(got), &err), SQLITE_OK);
    assert_memory_equal(got, r.content+at, sizeof(got));
  }
  assert_int_equal(zt_source_read(&with, FILE_BYTES-1, got, 2, &err), SQLITE_ERROR);
  assert_failed(&err, "lie beyond the file's 300000", "beyond");
  end(&r);
}

/* What has changed shows at last. Nothing is read ahead of a file that has. */
TEST(test_files_that_change){
  reading r;
  for(int shorter=0; shorter<2; shorter++){
    zt_error err = ZT_ERROR_NONE;
    begin(&r);
    assert_true(has(&r, raw(0, 64)));
    write_file(r.path, r.content, shorter ? 1000 : FILE_BYTES+1);
    assert_true(has(&r, raw(64, 64)));
    assert_int_equal(zt_source_unchanged(r.source, &err), SQLITE_ERROR);
    assert_failed(&err, "the file was written to while it was read", "changed");
    zt_ahead_leave(&r.ahead);
    assert_false(has(&r, raw(128, 64)));
    end(&r);
  }
}

int main(void){
  return run_all("ahead", NULL, NULL);
}
