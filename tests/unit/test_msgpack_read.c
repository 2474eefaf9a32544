/* msgpack: core/msgpack_read.h. The files of tests/formats/msgpack/hostile break each rule. */
#include "test.h"

#include <unistd.h>
#include "core/msgpack_read.h"

typedef struct opened {
  blob bytes;
  zt_error err;
  zt_source *source;
  zt_pages in;
  zt_msgpack_range rest;
} opened;

static void open_hex(opened *o, const char *hex){
  *o = (opened){ .bytes = blob_of(hex), .err = ZT_ERROR_NONE };
  assert_int_equal(zt_source_open_image(span_of(o->bytes), &o->source, &o->err), SQLITE_OK);
  zt_pages_open(o->source, NULL, &o->in, &o->err);
  o->rest = (zt_msgpack_range){ 0, o->bytes.n };
}

static void close_bytes(opened *o){
  zt_pages_close(&o->in);
  zt_source_close(o->source);
  zt_error_clear(&o->err);
  free(o->bytes.p);
}

/* The shortest and the longest form of each type. */
TEST(test_integers){
  static const struct { const char *hex; zt_msgpack_type type; uint64_t n; } rows[] = {
    { "00", ZT_MSGPACK_UINT, 0 }, { "7f", ZT_MSGPACK_UINT, 127 }, { "cc80", ZT_MSGPACK_UINT, 128 }, { "cd0100", ZT_MSGPACK_UINT, 256 },
    { "ceffffffff", ZT_MSGPACK_UINT, UINT32_MAX }, { "cfffffffffffffffff", ZT_MSGPACK_UINT, UINT64_MAX },
    { "ff", ZT_MSGPACK_INT, UINT64_MAX }, { "e0", ZT_MSGPACK_INT, (uint64_t)-32 }, { "d080", ZT_MSGPACK_INT, (uint64_t)-128 },
    { "d18000", ZT_MSGPACK_INT, (uint64_t)-32768 }, { "d280000000", ZT_MSGPACK_INT, (uint64_t)INT32_MIN },
    { "d38000000000000000", ZT_MSGPACK_INT, (uint64_t)1<<63 }, { "d07f", ZT_MSGPACK_UINT, 127 }, { "d37fffffffffffffff", ZT_MSGPACK_UINT, INT64_MAX }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_msgpack_item item;
    opened o;
    open_hex(&o, rows[i].hex);
    check( zt_msgpack_next(&o.in, &o.rest, &item) && item.type==rows[i].type && item.n==rows[i].n, "%s", rows[i].hex );
    check( o.rest.at==o.rest.end && !zt_msgpack_next(&o.in, &o.rest, &item), "%s", rows[i].hex );
    assert_succeeded(&o.err, rows[i].hex);
    close_bytes(&o);
  }
}

TEST(test_what_counts_bytes_or_items){
  static const struct { const char *hex; zt_msgpack_type type; uint64_t n; int ext; uint64_t at; } rows[] = {
    { "a161", ZT_MSGPACK_TEXT, 1, 0, 1 }, { "d90161", ZT_MSGPACK_TEXT, 1, 0, 2 }, { "da000161", ZT_MSGPACK_TEXT, 1, 0, 3 },
    { "db0000000161", ZT_MSGPACK_TEXT, 1, 0, 5 }, { "c40161", ZT_MSGPACK_BYTES, 1, 0, 2 }, { "c5000161", ZT_MSGPACK_BYTES, 1, 0, 3 },
    { "c60000000161", ZT_MSGPACK_BYTES, 1, 0, 5 }, { "d4ff61", ZT_MSGPACK_EXT, 1, -1, 2 }, { "d5076161", ZT_MSGPACK_EXT, 2, 7, 2 },
    { "d80100000000000000000000000000000000", ZT_MSGPACK_EXT, 16, 1, 2 }, { "c7000a", ZT_MSGPACK_EXT, 0, 10, 3 },
    { "c800018061", ZT_MSGPACK_EXT, 1, -128, 4 }, { "c9000000010161", ZT_MSGPACK_EXT, 1, 1, 6 }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_msgpack_item item;
    opened o;
    open_hex(&o, rows[i].hex);
    check( zt_msgpack_next(&o.in, &o.rest, &item) && item.type==rows[i].type && item.n==rows[i].n && item.ext==rows[i].ext, "%s", rows[i].hex );
    check( item.bytes.at==rows[i].at && item.bytes.end==o.rest.end && o.rest.at==o.rest.end, "%s", rows[i].hex );
    close_bytes(&o);
  }
}

TEST(test_reals_and_constants){
  zt_msgpack_item item;
  opened o;
  open_hex(&o, "ca3fc00000 cbbff8000000000000 c0 c2 c3");
  assert_true(zt_msgpack_next(&o.in, &o.rest, &item) && item.type==ZT_MSGPACK_REAL && item.real==1.5);
  assert_true(zt_msgpack_next(&o.in, &o.rest, &item) && item.type==ZT_MSGPACK_REAL && item.real==-1.5);
  assert_true(zt_msgpack_next(&o.in, &o.rest, &item) && item.type==ZT_MSGPACK_NIL);
  assert_true(zt_msgpack_next(&o.in, &o.rest, &item) && item.type==ZT_MSGPACK_FALSE);
  assert_true(zt_msgpack_next(&o.in, &o.rest, &item) && item.type==ZT_MSGPACK_TRUE);
  assert_false(zt_msgpack_next(&o.in, &o.rest, &item));
  assert_succeeded(&o.err, "all");
  close_bytes(&o);
}

/* An item is skipped with all that is in it, and the next one is 7. */
TEST(test_skipping){
  static const char *const rows[] = {
    "05 07", "90 07", "80 07", "93 01 02 03 07", "82 a161 91 90 a162 81 05 06 07", "dc0002 a161 c40161 07", "de0001 01 dd00000001 c0 07"
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_msgpack_item item;
    opened o;
    open_hex(&o, rows[i]);
    check( zt_msgpack_next(&o.in, &o.rest, &item) && zt_msgpack_skip(&o.in, &o.rest, &item, 0), "%s", rows[i] );
    check( zt_msgpack_next(&o.in, &o.rest, &item) && item.n==7 && o.rest.at==o.rest.end, "%s", rows[i] );
    close_bytes(&o);
  }
}

TEST(test_depth){
  for(int depth=ZT_MSGPACK_DEPTH-2; depth<=ZT_MSGPACK_DEPTH; depth++){
    zt_msgpack_item item;
    opened o;
    open_hex(&o, "91 91 05");
    assert_true(zt_msgpack_next(&o.in, &o.rest, &item));
    if( depth==ZT_MSGPACK_DEPTH-2 ) assert_true(zt_msgpack_skip(&o.in, &o.rest, &item, depth));
    else assert_false(zt_msgpack_skip(&o.in, &o.rest, &item, depth));
    if( depth>ZT_MSGPACK_DEPTH-2 ) assert_failed(&o.err, "nested more than 64 deep", "MP3");
    close_bytes(&o);
  }
}

TEST(test_what_is_no_msgpack){
  static const struct { const char *hex, *what; } rows[] = {
    { "c1", "byte 0: no item begins with 0xC1" }, { "cd00", "byte 0: a number goes beyond what it is in" },
    { "a2 61", "byte 0: a text goes beyond what it is in" }, { "c402 61", "byte 0: a byte string goes beyond what it is in" },
    { "d5 01 61", "byte 0: an extension goes beyond what it is in" }, { "c701", "byte 0: an extension goes beyond what it is in" },
    { "92 01", "byte 0: an array goes beyond what it is in" }, { "82 01 02 03", "byte 0: a map goes beyond what it is in" },
    { "92 91 c0", "byte 3: an array or map goes beyond what it is in" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_msgpack_item item;
    opened o;
    open_hex(&o, rows[i].hex);
    if( zt_msgpack_next(&o.in, &o.rest, &item) ) check( !zt_msgpack_skip(&o.in, &o.rest, &item, 0), "%s", rows[i].hex );
    assert_failed(&o.err, rows[i].what, rows[i].hex);
    close_bytes(&o);
  }
}

/* A later page is gone when it is read: with a number, and with the type of an extension. */
TEST(test_a_file_that_is_cut_short){
  static const char *const heads[] = { "ce", "c702" };
  char path[] = "/tmp/ztensor-msgpack-XXXXXX";
  close(mkstemp(path));
  for(size_t i=0; i<COUNT(heads); i++){
    zt_msgpack_item item;
    blob head = blob_of(heads[i]);
    opened o = { .err = ZT_ERROR_NONE };
    put_repeated(&o.bytes, 0xC0, ZT_PAGE-head.n);
    put(&o.bytes, head.p, head.n);
    put_repeated(&o.bytes, 0, 10);
    write_file(path, o.bytes.p, o.bytes.n);
    assert_int_equal(zt_source_open(path, NULL, &o.source, &o.err), SQLITE_OK);
    zt_pages_open(o.source, NULL, &o.in, &o.err);
    o.rest = (zt_msgpack_range){ 0, o.bytes.n };
    while( o.rest.at<ZT_PAGE-head.n ) assert_true(zt_msgpack_next(&o.in, &o.rest, &item));
    assert_int_equal(truncate(path, (off_t)ZT_PAGE), 0);
    assert_false(zt_msgpack_next(&o.in, &o.rest, &item));
    assert_failed(&o.err, "the file was cut short while it was read", heads[i]);
    close_bytes(&o);
    free(head.p);
  }
  assert_int_equal(unlink(path), 0);
}

static bool stop_third(void *context){
  return ++*(int*)context==3;
}

TEST(test_a_long_array_can_be_interrupted){
  for(int stopping=0; stopping<2; stopping++){
    int asked = stopping ? 0 : 3;
    const zt_interrupt interrupt = { stop_third, &asked };
    zt_msgpack_item item;
    opened o;
    open_hex(&o, "");
    put_hex(&o.bytes, "dd00030d40");   /* 200,000 items */
    put_repeated(&o.bytes, 0xC0, 200000);
    o.in.image = o.bytes.p;
    o.in.size = o.rest.end = o.bytes.n;
    o.in.interrupt = &interrupt;
    assert_true(zt_msgpack_next(&o.in, &o.rest, &item));
    assert_int_equal(zt_msgpack_skip(&o.in, &o.rest, &item, 0), !stopping);
    assert_int_equal(o.err.rc, stopping ? SQLITE_INTERRUPT : SQLITE_OK);
    assert_int_equal(asked, stopping ? 3 : 6);
    assert_true(stopping ? o.rest.at<o.rest.end : o.rest.at==o.rest.end);
    close_bytes(&o);
  }
}

int main(void){
  return run_all("msgpack_read", NULL, NULL);
}
