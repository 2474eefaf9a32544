/* Protobuf's wire format: core/protobuf.h. */
#include "test.h"

#include <unistd.h>
#include "core/protobuf.h"

/* --- A message to read, out of an image and out of a file --- */

typedef struct opened {
  blob bytes;
  zt_error err;
  zt_source *source;
  zt_protobuf in;
  zt_message all;
} opened;

static char file_path[] = "/tmp/ztensor-protobuf-XXXXXX";

static void open_bytes(opened *o, blob bytes, bool file){
  *o = (opened){ .bytes = bytes, .err = ZT_ERROR_NONE };
  if( file ){
    write_file(file_path, bytes.p, bytes.n);
    assert_int_equal(zt_source_open(file_path, NULL, &o->source, &o->err), SQLITE_OK);
  }else{
    assert_int_equal(zt_source_open_image(span_of(bytes), &o->source, &o->err), SQLITE_OK);
  }
  zt_protobuf_open(o->source, NULL, &o->in, &o->err);
  o->all = zt_protobuf_all(&o->in);
}

static void close_bytes(opened *o){
  zt_protobuf_close(&o->in);
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

static void put_varint(blob *b, uint64_t u){
  for(; u>127; u>>=7) put_byte(b, (unsigned)(u & 127) | 128);
  put_byte(b, (unsigned)u);
}

static void put_tag(blob *b, unsigned number, unsigned type){
  put_varint(b, (uint64_t)number<<3 | type);
}

/* --- What is read --- */

TEST(test_fields_of_each_type){
  for(int file=0; file<2; file++){
    zt_wire_field f;
    opened o;
    open_bytes(&o, blob_of("08 96 01" "11 0102030405060708" "1a 03 616263" "25 01020304" "f8ffffff0f ffffffffffffffffff01" "32 00"), file);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==1 && f.type==ZT_WIRE_VARINT && f.value==150 && f.bytes.at==1 && f.bytes.end==3);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==2 && f.type==ZT_WIRE_FIXED64 && f.value==0x0807060504030201 && f.bytes.at==4 && f.bytes.end==12);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==3 && f.type==ZT_WIRE_BYTES && f.bytes.at==14 && f.bytes.end==17);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==4 && f.type==ZT_WIRE_FIXED32 && f.value==0x04030201);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==(1u<<29)-1 && f.value==UINT64_MAX);
    assert_true(zt_protobuf_next(&o.in, &o.all, &f));
    assert_true(f.number==6 && f.bytes.at==f.bytes.end);
    assert_false(zt_protobuf_next(&o.in, &o.all, &f));
    assert_false(zt_protobuf_next(&o.in, &o.all, &f));
    assert_succeeded(&o.err, "the end");
    close_bytes(&o);
  }
}

TEST(test_packed_numbers_and_bytes){
  for(int file=0; file<2; file++){
    zt_message varints = { 1, 4 }, numbers = { 4, 10 }, none = { 3, 3 };
    uint64_t u;
    zt_span text;
    opened o;
    open_bytes(&o, blob_of("ff 80 01 05 0100 0200 ff00 78"), file);
    assert_true(zt_protobuf_varint(&o.in, &varints, &u) && u==128);
    assert_true(zt_protobuf_varint(&o.in, &varints, &u) && u==5);
    assert_false(zt_protobuf_varint(&o.in, &varints, &u));
    assert_true(zt_protobuf_fixed(&o.in, &numbers, 2, &u) && u==1);
    assert_true(zt_protobuf_fixed(&o.in, &numbers, 4, &u) && u==0x00FF0002);
    assert_false(zt_protobuf_fixed(&o.in, &numbers, 4, &u));
    assert_true(zt_protobuf_bytes(&o.in, (zt_message){ 9, 11 }, &text) && text.n==2 && text.p[1]==0x78);
    assert_true(zt_protobuf_bytes(&o.in, none, &text) && text.n==0 && text.p!=NULL);
    assert_succeeded(&o.err, "all");
    close_bytes(&o);
  }
}

TEST(test_groups_are_passed_over){
  static const char *const groups[] = {
    "0b 0c", "0b 08 05 0c", "0b 13 14 0c 0b 0c", "0b 12 02 0b0b 15 00000000 11 0000000000000000 0c"
  };
  for(size_t i=0; i<COUNT(groups); i++){
    blob b = { 0 };
    zt_wire_field f;
    opened o;
    put_hex(&b, groups[i]);
    put_hex(&b, "28 07");
    put_hex(&b, groups[i]);
    open_bytes(&o, seal(&b), false);
    check( zt_protobuf_next(&o.in, &o.all, &f) && f.number==5 && f.value==7, "%s", groups[i] );
    check( !zt_protobuf_next(&o.in, &o.all, &f), "%s", groups[i] );
    assert_succeeded(&o.err, groups[i]);
    close_bytes(&o);
  }
}

/* --- What is refused: PB1 to PB3 --- */

TEST(test_what_is_no_message){
  static const struct { const char *hex, *rule, *what; } rows[] = {
    { "08 ffffffffffffffffff7f", "PB1", "byte 1: a varint of more than 64 bits" },
    { "08 ffffffffffffffffff02", "PB1", "byte 1: a varint of more than 64 bits" },
    { "08 8080808080808080808001", "PB1", "byte 1: a varint of more than 64 bits" },
    { "ffffffffffffffffff7f", "PB1", "byte 0: a varint of more than 64 bits" },
    { "00 00", "PB2", "byte 0: no field has the number 0 and the type 0" },
    { "8080808010 00", "PB2", "byte 0: no field has the number 536870912 and the type 0" },
    { "0e", "PB2", "byte 0: no field has the number 1 and the type 6" },
    { "0f", "PB2", "byte 0: no field has the number 1 and the type 7" },
    { "0c", "PB2", "byte 0: a group ends that did not begin" },
    { "0b 14", "PB2", "byte 1: groups do not end as they begin" },
    { "0b 0f", "PB2", "byte 1: no field has the number 1 and the type 7" },
    { "0b", "PB3", "byte 0: a group goes beyond the message that it is in" },
    { "0b 12 05 00", "PB3", "byte 2: a field goes beyond the message that it is in" },
    { "08", "PB3", "byte 1: a field goes beyond the message that it is in" },
    { "08 80", "PB3", "byte 1: a varint goes beyond the message that it is in" },
    { "80", "PB3", "byte 0: a varint goes beyond the message that it is in" },
    { "0a 02 00", "PB3", "byte 1: a field goes beyond the message that it is in" },
    { "0a ffffffffffffffffff01", "PB3", "byte 1: a field goes beyond the message that it is in" },
    { "0d 000000", "PB3", "byte 1: a number goes beyond the message that it is in" },
    { "09 00000000000000", "PB3", "byte 1: a number goes beyond the message that it is in" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int file=0; file<2; file++){
      zt_wire_field f;
      opened o;
      open_bytes(&o, blob_of(rows[i].hex), file);
      check( !zt_protobuf_next(&o.in, &o.all, &f), "%s", rows[i].hex );
      check( o.err.rule && strcmp(o.err.rule, rows[i].rule)==0, "%s: %s", rows[i].hex, o.err.rule ? o.err.rule : "none" );
      assert_failed(&o.err, rows[i].what, rows[i].hex);
      close_bytes(&o);
    }
  }
}

TEST(test_groups_are_nested_at_most_64_deep){
  for(int depth=64; depth<=65; depth++){
    blob b = { 0 };
    zt_wire_field f;
    opened o;
    put_repeated(&b, 0x0b, (size_t)depth);
    put_repeated(&b, 0x0c, (size_t)depth);
    open_bytes(&o, seal(&b), false);
    assert_false(zt_protobuf_next(&o.in, &o.all, &f));
    if( depth==64 ) assert_succeeded(&o.err, "64");
    else assert_failed(&o.err, "byte 64: groups are nested more than 64 deep", "65");
    close_bytes(&o);
  }
}

/* --- Pieces --- */

/* A message of many fields, of which the last has the bytes of all. */
TEST(test_a_file_is_read_in_pieces){
  uint64_t seed = 7, n = 0;
  blob b = { 0 };
  zt_wire_field f;
  opened o;
  for(unsigned i=0; i<60000; i++){
    put_tag(&b, 1+i%1000, ZT_WIRE_VARINT);
    put_varint(&b, random64(&seed) >> i%64);
    put_tag(&b, 7, ZT_WIRE_BYTES);
    put_varint(&b, i%300);
    put_repeated(&b, i & 0xFF, i%300);
  }
  open_bytes(&o, seal(&b), true);
  seed = 7;
  while( zt_protobuf_next(&o.in, &o.all, &f) ){
    unsigned i = (unsigned)(n/2);
    zt_span text;
    if( n++%2==0 ){
      check( f.number==1+i%1000 && f.value==random64(&seed) >> i%64, "field %u", i );
    }else{
      check( f.bytes.end-f.bytes.at==i%300 && zt_protobuf_bytes(&o.in, f.bytes, &text) && text.n==i%300, "bytes %u", i );
      for(size_t k=0; k<text.n; k++) check( text.p[k]==(i & 0xFF), "bytes %u", i );
    }
  }
  assert_succeeded(&o.err, "all");
  assert_int_equal(n, 120000);
  close_bytes(&o);
}

/* Earlier bytes are readable again, and skipped bytes are not read. */
TEST(test_places_may_be_in_any_order){
  blob b = { 0 };
  uint64_t seed = 3;
  zt_span text;
  opened o;
  for(unsigned i=0; i<500000; i++) put_byte(&b, (unsigned)(random64(&seed) & 0xFF));
  open_bytes(&o, seal(&b), true);
  for(unsigned i=0; i<300; i++){
    uint64_t at = random_below(&seed, o.bytes.n);
    size_t n = random_below(&seed, i%10 ? 50 : 200000);
    if( n>o.bytes.n-at ) n = (size_t)(o.bytes.n-at);
    assert_true(zt_protobuf_bytes(&o.in, (zt_message){ at, at+n }, &text));
    assert_int_equal(text.n, n);
    if( n ) assert_memory_equal(text.p, o.bytes.p+at, n);
  }
  assert_succeeded(&o.err, "all");
  close_bytes(&o);
}

TEST(test_a_failure_stays){
  zt_message m = { 0, 2 };
  zt_wire_field f;
  zt_span text;
  uint64_t u;
  opened o;
  open_bytes(&o, blob_of("0f 08 01"), false);
  assert_false(zt_protobuf_next(&o.in, &o.all, &f));
  assert_false(zt_protobuf_next(&o.in, &o.all, &f));
  assert_false(zt_protobuf_varint(&o.in, &m, &u));
  assert_false(zt_protobuf_fixed(&o.in, &m, 1, &u));
  assert_false(zt_protobuf_bytes(&o.in, m, &text));
  assert_failed(&o.err, "type 7", "the first");
  close_bytes(&o);
}

static bool stop(void *context){
  return --*(int*)context<0;
}

TEST(test_a_long_message_can_be_interrupted){
  for(int file=0; file<2; file++){
    int left = 2;
    zt_interrupt interrupt = { stop, &left };
    blob b = { 0 };
    zt_wire_field f;
    opened o;
    for(unsigned i=0; i<400000; i++) put_hex(&b, "0801");
    open_bytes(&o, seal(&b), file);
    o.in.interrupt = &interrupt;
    while( zt_protobuf_next(&o.in, &o.all, &f) ){}
    assert_int_equal(o.err.rc, SQLITE_INTERRUPT);
    close_bytes(&o);
  }
}

/* Bytes that are not held any more, or not yet, are gone when they are read. */
TEST(test_a_file_that_is_cut_short){
  for(int fixed=0; fixed<2; fixed++){
    zt_message m = { 400000, 400008 };
    blob b = { 0 };
    zt_span text;
    uint64_t u;
    opened o;
    put_repeated(&b, 8, 500000);
    open_bytes(&o, seal(&b), true);
    assert_true(zt_protobuf_bytes(&o.in, (zt_message){ 0, 8 }, &text));
    assert_int_equal(truncate(file_path, 1000), 0);
    assert_false(fixed ? zt_protobuf_fixed(&o.in, &m, 8, &u) : zt_protobuf_varint(&o.in, &m, &u));
    assert_failed(&o.err, "the file was cut short while it was read", fixed ? "fixed" : "varint");
    close_bytes(&o);
  }
}

int main(void){
  return run_all("protobuf", make_file, remove_file);
}
