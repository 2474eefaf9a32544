/* A component's bytes: tensor/payload.h, tensor/encoding.h and container/dtype.h. */
#include "expectations.h"
#include "subject.h"

#include <zstd.h>
#include "core/digest.h"
#include "core/paths.h"
#include "container/dtype.h"
#include "container/schema.h"
#include "tensor/encoding.h"
#include "tensor/content.h"

#define HOSTILE "tests/formats/ztensor/hostile/"
#define ALL UINT64_MAX
#define OFFSET 128   /* The stored bytes' offset in the files made here */

static int set_up(void **state){
  return make_file(state) || open_db(state);
}

static int tear_down(void **state){
  return remove_file(state) | close_db(state);
}

/* --- A component in a file made here --- */

/* The stored bytes in the middle of others; no length is stated. */
static void open_subject(subject *s, blob stored, const char *encoding, bool as_file){
  place_subject(s, OFFSET, span_of(stored), 64, encoding, as_file);
}

/* --- zstd frames --- */

static void put_le32(blob *b, uint32_t u){
  for(int i=0; i<4; i++) put_byte(b, u >> 8*i & 0xFF);
}

enum { WITH_SIZE = 1, WITH_CHECKSUM = 2 };

static void put_frame(blob *b, const void *p, size_t n, int flags){
  ZSTD_CCtx *ctx = ZSTD_createCCtx();
  size_t room = ZSTD_compressBound(n), length;
  uint8_t *to = put_room(b, room);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, flags & WITH_SIZE);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, (flags & WITH_CHECKSUM)!=0);
  length = ZSTD_compress2(ctx, to, room, p, n);
  assert_false(ZSTD_isError(length));
  b->n -= room-length;
  ZSTD_freeCCtx(ctx);
}

static void put_skippable(blob *b, unsigned kind, uint32_t n){
  put_le32(b, 0x184D2A50u + kind);
  put_le32(b, n);
  put_repeated(b, 0x28, n);
}

/* A few bytes, however long it takes to get there, take little memory: who goes through many components does so in
** several threads. */
TEST(test_a_digest_takes_memory_for_what_there_is){
  const uint8_t content[100] = { 1 };
  char text[ZT_DIGEST_TEXT];
  zt_error err = ZT_ERROR_NONE;
  blob b = { 0 }, stored;
  sqlite3_int64 before;
  subject s;
  put_skippable(&b, 0, 20u<<20);
  put_frame(&b, content, sizeof(content), WITH_SIZE);
  stored = seal(&b);
  open_subject(&s, stored, "zstd", true);
  tell_length(&s, BY_FIELD, sizeof(content));
  sqlite3_memory_highwater(1);
  before = sqlite3_memory_used();
  assert_int_equal(zt_content_hash(&s.payload, ZT_TEXT("sha256"), text, &err), SQLITE_OK);
  assert_true(sqlite3_memory_highwater(0)-before<1<<20);
  close_subject(&s);
  free(stored.p);
}

/* --- Ranges --- */

/* The range, clipped, of the content: what every read must give. */
static void check_range(const subject *s, blob content, uint64_t start, uint64_t length, const char *row){
  zt_error err = ZT_ERROR_NONE;
  uint64_t from = start<content.n ? start : content.n, n = length<content.n-from ? length : content.n-from;
  zt_buffer out = { (uint8_t*)&err, 1 };
  int rc;
  s->payload.budget->decoded = 0;
  rc = zt_content_read(&s->payload, start, length, &out, &err);
  check( rc==SQLITE_OK, "%s, [%llu, +%llu): %s", row, (unsigned long long)start, (unsigned long long)length, err.message );
  assert_succeeded(&err, row);
  check( out.n==n, "%s, [%llu, +%llu): %llu bytes", row, (unsigned long long)start, (unsigned long long)length,
      (unsigned long long)out.n );
  check( (out.p==NULL)==(n==0), "%s", row );
  check( n==0 || memcmp(out.p, content.p+from, (size_t)n)==0, "%s, [%llu, +%llu)", row, (unsigned long long)start,
      (unsigned long long)length );
  zt_buffer_free(out.p);
}

static void check_all_ranges(const subject *s, blob content, const char *row){
  for(uint64_t start=0; start<=content.n+2; start++){
    for(uint64_t length=0; length<=content.n+2; length++) check_range(s, content, start, length, row);
    check_range(s, content, start, ALL, row);
    check_range(s, content, start, ALL-start, row);
  }
  check_range(s, content, ALL, ALL, row);
  check_range(s, content, (uint64_t)1<<63, (uint64_t)1<<63, row);
}

#define SMALL 23

static blob small_content(void){
  blob b = { 0 };
  for(unsigned i=0; i<SMALL; i++) put_byte(&b, i*i & 0xFF);
  return seal(&b);
}

enum { RAW, ONE_FRAME, NO_SIZE, CHECKSUM, FRAMES, SKIPPABLE, EMPTY_FRAMES, FORMS };

static blob stored_as(int form, blob content){
  blob b = { 0 };
  size_t third = content.n/3;
  switch( form ){
    case RAW: put(&b, content.p, content.n); break;
    case ONE_FRAME: put_frame(&b, content.p, content.n, WITH_SIZE); break;
    case NO_SIZE: put_frame(&b, content.p, content.n, 0); break;
    case CHECKSUM: put_frame(&b, content.p, content.n, WITH_SIZE|WITH_CHECKSUM); break;
    case FRAMES:
      put_frame(&b, content.p, third, WITH_SIZE);
      put_frame(&b, content.p+third, 1, WITH_CHECKSUM);
      put_frame(&b, content.p+third+1, content.n-third-1, 0);
      break;
    case SKIPPABLE:
      put_skippable(&b, 0, 5);
      put_frame(&b, content.p, third, 0);
      put_skippable(&b, 15, 0);
      put_skippable(&b, 7, 300);
      put_frame(&b, content.p+third, content.n-third, WITH_SIZE);
      put_skippable(&b, 1, 1);
      break;
    case EMPTY_FRAMES:
      put_frame(&b, NULL, 0, WITH_SIZE);
      put_frame(&b, content.p, content.n, 0);
      put_frame(&b, NULL, 0, WITH_CHECKSUM);
      break;
  }
  return seal(&b);
}

static const char *const form_names[] = { "raw", "one frame", "no content size", "a checksum", "three frames",
    "skippable frames", "empty frames" };

TEST(test_every_range_of_every_form_is_a_slice_of_the_whole){
  blob content = small_content();
  for(int form=0; form<FORMS; form++){
    for(int as_file=0; as_file<2; as_file++){
      for(int by=0; by<3; by++){
        blob stored;
        subject s;
        if( by && (form==RAW || as_file) ) continue;
        stored = stored_as(form, content);
        open_subject(&s, stored, form==RAW ? "raw" : "zstd", as_file);
        tell_length(&s, (known_by)by, SMALL);
        check_all_ranges(&s, content, form_names[form]);
        close_subject(&s);
        free(stored.p);
      }
    }
  }
  free(content.p);
}

/* Bytes of which the place or the number is not known are not asked for ahead. */
TEST(test_what_is_not_expected){
  blob content = small_content();
  for(int way=0; way<5; way++){
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    subject s;
    open_subject(&s, content, "raw", true);
    s.component.shard = way==1 ? ZT_TEXT("s") : (zt_text){ NULL, 0 };
    s.component.fault = way==2 ? "a fault" : NULL;
    s.component.scattered = way==3;
    s.component.unsized = way==4;
    zt_payload_expect(&s.payload);
    s.component.shard.z = NULL;
    s.component.fault = NULL;
    s.component.scattered = s.component.unsized = false;
    assert_int_equal(zt_content_read(&s.payload, 0, ALL, &out, &err), SQLITE_OK);
    check( out.n==content.n && memcmp(out.p, content.p, content.n)==0, "way %d", way );
    zt_buffer_clear(&out);
    close_subject(&s);
  }
  free(content.p);
}

/* Encoded content has the length of the shape if it is dense, and its elements lie side by side. */
TEST(test_what_tells_a_length){
  blob content = small_content(), stored = stored_as(RAW+1, content);
  for(int strides=0; strides<2; strides++){
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    uint64_t n = 0;
    subject s;
    open_subject(&s, stored, "zstd", false);
    tell_length(&s, BY_SHAPE, content.n);
    s.object.has_strides = strides;
    s.budget.result = UINT64_MAX;
    assert_int_equal(zt_payload_length(&s.object, &s.component, &n), strides ? ZT_LENGTH_UNKNOWN : ZT_LENGTH_KNOWN);
    if( !strides ) assert_int_equal(n, content.n);
    assert_int_equal(zt_content_read(&s.payload, 0, ALL, &out, &err), SQLITE_OK);
    assert_int_equal(out.n, content.n);
    assert_memory_equal(out.p, content.p, content.n);
    zt_buffer_clear(&out);
    close_subject(&s);
  }
  free(stored.p);
  free(content.p);
}

TEST(test_every_range_of_nothing_is_empty){
  for(int form=0; form<4; form++){   /* Raw; a frame; a skippable one; no byte at all */
    for(int as_file=0; as_file<2; as_file++){
      for(int by=0; by<3; by++){
        blob stored = { 0 }, content = { 0 };
        subject s;
        if( form==1 ) put_frame(&stored, NULL, 0, WITH_CHECKSUM);
        if( form==2 ) put_skippable(&stored, 3, 9);
        open_subject(&s, stored, form==0 ? "raw" : "zstd", as_file);
        tell_length(&s, (known_by)by, 0);
        check_all_ranges(&s, content, "nothing");
        close_subject(&s);
        free(stored.p);
      }
    }
  }
}

/* --- Larger than ZT_WHOLE_MAX --- */

#define LARGE ((size_t)40<<20)

static blob large, large_stored;

/* Bytes that compress, and are nowhere the same for long. */
static void make_large(void){
  if( large.p ) return;
  put_room(&large, LARGE);
  for(size_t i=0; i<LARGE; i += 8){
    uint64_t u = (uint64_t)i/8 * 0x9E3779B97F4A7C15u >> 40;
    memcpy(large.p+i, &u, 8);
  }
  put_frame(&large_stored, large.p, LARGE/2, 0);
  put_skippable(&large_stored, 2, 100000);
  put_frame(&large_stored, large.p+LARGE/2, LARGE-LARGE/2, WITH_CHECKSUM);
}

static int free_large(void **state){
  (void)state;
  free(large.p);
  free(large_stored.p);
  large = large_stored = (blob){ 0 };
  return 0;
}

TEST(test_ranges_of_a_large_component){
  static const struct { uint64_t start, length; } ranges[] = {
    { 0, ALL }, { 0, 1 }, { 0, LARGE-1 }, { 1, ALL }, { LARGE-1, 1 }, { LARGE-1, ALL }, { LARGE, 1 }, { (256<<10)-1, 2 },
    { LARGE/2-1, 2 },
    { LARGE/2-5, 300000 }, { ZT_WHOLE_MAX-1, 2 }, { 0, ZT_WHOLE_MAX }, { 5000000, 5000000 }
  };
  make_large();
  for(int as_file=0; as_file<2; as_file++){
    subject s;
    open_subject(&s, large_stored, "zstd", as_file);
    for(size_t i=0; i<COUNT(ranges); i++){
      tell_length(&s, i%2 ? BY_FIELD : BY_SHAPE, LARGE);
      check_range(&s, large, ranges[i].start, ranges[i].length, "large");
    }
    tell_length(&s, BY_NOTHING, 0);
    check_range(&s, large, 0, ALL, "large, of unknown length");
    check_range(&s, large, LARGE-7, ALL, "large, of unknown length");
    close_subject(&s);
    open_subject(&s, large, "raw", as_file);
    for(size_t i=0; i<COUNT(ranges); i++) check_range(&s, large, ranges[i].start, ranges[i].length, "large, raw");
    close_subject(&s);
  }
}

/* Every rule holds for what is decoded piece by piece, too. */
TEST(test_rules_of_a_large_component){
  static const struct { const char *what; uint64_t told; size_t cut, more; const char *message; } rows[] = {
    { "E3: longer than told", LARGE-1, 0, 0, "zstd: decodes to more than the 41943039 bytes that the manifest states" },
    { "E3: shorter than told", LARGE+1, 0, 0, "zstd: decodes to 41943040 bytes, the manifest states 41943041" },
    { "E2: cut in its last byte", LARGE, 1, 0, "zstd: the stored bytes end within a frame" },
    { "E2: a byte too many", LARGE, 0, 1, "zstd: the stored bytes end within a frame" },
    { "E2: no frame after it", LARGE, 0, 8, "zstd: " },
  };
  make_large();
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob stored = { 0 };
    zt_buffer out;
    subject s;
    put(&stored, large_stored.p, large_stored.n-rows[i].cut);
    put_repeated(&stored, 0x28, rows[i].more);
    open_subject(&s, stored, "zstd", false);
    tell_length(&s, BY_FIELD, rows[i].told);
    check( zt_content_read(&s.payload, 0, ALL, &out, &err)==SQLITE_ERROR, "%s", rows[i].what );
    assert_failed(&err, rows[i].message, rows[i].what);
    assert_true(out.p==NULL && out.n==0);
    /* A part takes no more than its size */
    check( zt_content_read(&s.payload, 0, 1000, &out, &err)==SQLITE_OK, "%s", rows[i].what );
    assert_memory_equal(out.p, large.p, 1000);
    zt_buffer_free(out.p);
    close_subject(&s);
    free(stored.p);
  }
}

/* --- Interrupts --- */

typedef struct large_caller {
  caller caller;
  bool touch;           /* Write to the file at the first question */
} large_caller;

static bool answer_large(void *context){
  large_caller *c = context;
  bool stop = caller_stops(&c->caller);
  if( c->touch && c->caller.asked==1 ){
    FILE *f = fopen(file_path, "ab");
    fputc('x', f);
    fclose(f);
  }
  return stop;
}

enum { READ_ALL, READ_END, READ_UNKNOWN, READ_STORED, READ_RAW, READ_DIGEST, READS };

/* Read a large component in one of these ways. */
static int read_large(int how, const subject *zstd, const subject *plain, large_caller *c, zt_buffer *out, zt_error *err){
  subject s = how>=READ_STORED ? *plain : *zstd;
  const char *status;
  s.budget.interrupt = (zt_interrupt){ answer_large, c };
  s.payload = (zt_payload){ .source = s.source, .object = &s.object, .component = &s.component, .budget = &s.budget };
  *out = (zt_buffer){ NULL, 0 };
  tell_length(&s, how==READ_UNKNOWN ? BY_NOTHING : BY_FIELD, LARGE);
  s.component.digest = ZT_TEXT("crc32c:00000000");
  switch( how ){
    case READ_STORED: return zt_content_stored(&s.payload, out, err);
    case READ_DIGEST: return zt_content_digest(&s.payload, &status, err);
    case READ_END: return zt_content_read(&s.payload, LARGE-10, ALL, out, err);
    default: return zt_content_read(&s.payload, 0, ALL, out, err);
  }
}

TEST(test_a_large_read_can_be_interrupted_at_every_question){
  subject zstd, plain;
  make_large();
  open_subject(&zstd, large_stored, "zstd", false);
  open_subject(&plain, large, "raw", false);
  for(int how=0; how<READS; how++){
    zt_error err = ZT_ERROR_NONE;
    large_caller never = { { 0, 0 }, false };
    zt_buffer out;
    assert_int_equal(read_large(how, &zstd, &plain, &never, &out, &err), SQLITE_OK);
    zt_buffer_free(out.p);
    /* Every few megabytes; stored bytes, which are only copied, in larger pieces. */
    check( never.caller.asked>=(how==READ_STORED || how==READ_RAW ? 1 : 8), "%d: asked %d times", how, never.caller.asked );
    for(int stop=1; stop<=never.caller.asked; stop += never.caller.asked>1 ? never.caller.asked-1 : 1){
      large_caller c = { { 0, stop }, false };
      check( read_large(how, &zstd, &plain, &c, &out, &err)==SQLITE_INTERRUPT, "%d", how );
      assert_null(err.message);   /* SQLite has its own words */
      assert_int_equal(c.caller.asked, stop);
      assert_true(out.p==NULL && out.n==0);
      zt_error_clear(&err);
    }
  }
  close_subject(&zstd);
  close_subject(&plain);
}

/* Bytes read before and after a change belong to no one state of the file. */
TEST_WITH(test_a_file_that_changes_during_a_large_read_is_an_error, NULL, free_large){
  make_large();
  for(int how=0; how<READS; how++){
    zt_error err = ZT_ERROR_NONE;
    large_caller c = { { 0, 0 }, true };
    zt_buffer out;
    subject s;
    open_subject(&s, how>=READ_STORED ? large : large_stored, how>=READ_STORED ? "raw" : "zstd", true);
    check( read_large(how, &s, &s, &c, &out, &err)==SQLITE_ERROR, "%d", how );
    assert_failed(&err, "the file was written to while it was read", "changed");
    assert_true(out.p==NULL && out.n==0);
    close_subject(&s);
  }
}

TEST(test_a_file_that_is_cut_short_is_an_error){
  blob content = small_content();
  for(int form=0; form<FORMS; form++){
    for(int range=0; range<2; range++){
      blob stored = stored_as(form, content);
      zt_error err = ZT_ERROR_NONE;
      zt_buffer out;
      subject s;
      open_subject(&s, stored, form==RAW ? "raw" : "zstd", true);
      tell_length(&s, BY_FIELD, SMALL);
      assert_int_equal(truncate(file_path, OFFSET+1), 0);
      assert_int_equal(zt_content_read(&s.payload, (uint64_t)range, 20, &out, &err), SQLITE_ERROR);
      assert_failed(&err, "cut short", form_names[form]);
      assert_int_equal(zt_content_read(&s.payload, 0, ALL, &out, &err), SQLITE_ERROR);
      assert_failed(&err, "cut short", form_names[form]);
      assert_true(out.p==NULL && out.n==0);
      assert_int_equal(zt_content_stored(&s.payload, &out, &err), SQLITE_ERROR);
      assert_failed(&err, "cut short", form_names[form]);
      assert_true(out.p==NULL && out.n==0);
      close_subject(&s);
      free(stored.p);
    }
  }
  free(content.p);
}

/* --- Budgets --- */

static void assert_too_big(const subject *s, uint64_t start, uint64_t length, const char *message, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  s->payload.budget->decoded = 0;
  check( zt_content_read(&s->payload, start, length, &out, &err)==SQLITE_TOOBIG, "%s: %d %s", row, err.rc, err.message
      ? err.message : "" );
  check( strstr(err.message, message)!=NULL, "%s: '%s'", row, err.message );
  assert_true(out.p==NULL && out.n==0);
  zt_error_clear(&err);
}

TEST(test_results_beyond_the_limit_are_refused){
  static const uint64_t limits[] = { 0, 1, 2, 7, SMALL-2, SMALL-1, SMALL, SMALL+1 };
  blob content = small_content();
  for(int form=0; form<FORMS; form++){
    for(int by=0; by<3; by++){
      blob stored = stored_as(form, content);
      subject s;
      open_subject(&s, stored, form==RAW ? "raw" : "zstd", false);
      tell_length(&s, (known_by)by, SMALL);
      for(size_t i=0; i<COUNT(limits); i++){
        uint64_t limit = s.budget.result = limits[i];
        for(size_t k=0; k<COUNT(limits); k++){
          uint64_t length = limits[k]<SMALL ? limits[k] : SMALL;
          if( length<=limit ) check_range(&s, content, 0, length, form_names[form]);
          else assert_too_big(&s, 0, length, "are more than the limit of", form_names[form]);
          if( length<=limit ) check_range(&s, content, SMALL-length, ALL, form_names[form]);
          else assert_too_big(&s, SMALL-length, ALL, "are more than the limit of", form_names[form]);
        }
      }
      close_subject(&s);
      free(stored.p);
    }
  }
  free(content.p);
}

/* Before anything is read: the file is gone, and that is not what the message says. */
TEST(test_a_known_result_beyond_the_limit_is_refused_before_reading){
  static const char *const encodings[] = { "raw", "zstd" };
  blob content = small_content();
  for(int e=0; e<2; e++){
    for(int by=0; by<2; by++){
      zt_error err = ZT_ERROR_NONE;
      zt_buffer out;
      subject s;
      open_subject(&s, content, encodings[e], true);
      tell_length(&s, (known_by)by, SMALL);
      assert_int_equal(truncate(file_path, 0), 0);
      s.budget.result = SMALL-1;
      assert_too_big(&s, 0, ALL, "23 bytes are more than the limit of 22 on a result", encodings[e]);
      assert_int_equal(zt_content_stored(&s.payload, &out, &err), SQLITE_TOOBIG);
      assert_string_equal(err.message, "ztensor: 23 bytes are more than the limit of 22 on a result");
      assert_true(out.p==NULL && out.n==0);
      zt_error_clear(&err);
      close_subject(&s);
    }
  }
  free(content.p);
}

/* A stated length is refused before memory is allocated, however large it is. */
TEST(test_absurd_lengths_are_refused){
  static const struct { uint64_t elements; const char *dtype; const char *message; } rows[] = {
    { UINT64_MAX, "u8", "18446744073709551615 bytes are more than the limit of 1000000000" },
    { (uint64_t)1<<40, "u8", "1099511627776 bytes are more than the limit" },
    { (uint64_t)1<<60, "f64", "9223372036854775808 bytes are more than the limit" },
    { (uint64_t)1<<61, "f64", "shape and dtype make more than 2^64 bytes" },
    { UINT64_MAX, "u16", "shape and dtype make more than 2^64 bytes" },
    { ((uint64_t)1<<62)+4, "f32", "shape and dtype make more than 2^64 bytes" },   /* Wraps to 16 */
  };
  blob content = small_content(), stored = stored_as(ONE_FRAME, content);
  subject s;
  sqlite3_int64 highwater;
  open_subject(&s, stored, "zstd", false);
  for(size_t i=0; i<COUNT(rows); i++){
    tell_length(&s, BY_SHAPE, rows[i].elements);
    s.component.dtype = (zt_text){ rows[i].dtype, strlen(rows[i].dtype) };
    zt_dtype_decide(&s.component);
    sqlite3_memory_highwater(1);
    highwater = sqlite3_memory_highwater(0);
    assert_too_big(&s, 0, ALL, rows[i].message, "absurd");
    assert_true(sqlite3_memory_highwater(0)<highwater+10000);
  }
  close_subject(&s);
  free(stored.p);
  free(content.p);
}

TEST(test_decoding_beyond_the_limit_is_refused){
  blob content = small_content();
  for(int form=ONE_FRAME; form<FORMS; form++){
    for(int by=0; by<3; by++){
      blob stored = stored_as(form, content);
      subject s;
      open_subject(&s, stored, "zstd", false);
      tell_length(&s, (known_by)by, SMALL);
      for(uint64_t limit=0; limit<=SMALL; limit++){
        s.budget.decode = limit;
        if( limit==SMALL ) check_range(&s, content, 0, ALL, form_names[form]);
        else assert_too_big(&s, 0, ALL, "zstd: more than", form_names[form]);
        /* Those passed over count */
        if( limit<SMALL ) assert_too_big(&s, limit, 1, "bytes would have to be decoded", form_names[form]);
        if( limit>0 ) check_range(&s, content, limit-1, 1, form_names[form]);
        check_range(&s, content, 0, limit, form_names[form]);
      }
      close_subject(&s);
      free(stored.p);
    }
  }
  free(content.p);
}

/* --- Frames that are none --- */

/* Refused as a whole, and where the range goes up to the end. */
static void assert_refused(const char *what, blob stored, uint64_t told){
  for(int as_file=0; as_file<2; as_file++){
    for(int by=0; by<3; by++){
      for(uint64_t start=0; start<2; start++){
        zt_error err = ZT_ERROR_NONE;
        zt_buffer out;
        subject s;
        open_subject(&s, stored, "zstd", as_file);
        tell_length(&s, (known_by)by, told);
        check( zt_content_read(&s.payload, start, ALL, &out, &err)==SQLITE_ERROR, "%s, from byte %llu: accepted", what,
            (unsigned long long)start );
        assert_failed(&err, "zstd: ", what);
        assert_true(out.p==NULL && out.n==0);
        close_subject(&s);
      }
    }
  }
}

TEST(test_a_frame_cut_anywhere_is_refused){
  blob content = small_content();
  for(int form=ONE_FRAME; form<FORMS; form++){
    blob stored = stored_as(form, content);
    for(size_t n=1; n<stored.n; n++){
      zt_error err = ZT_ERROR_NONE;
      blob cut = exact(stored.p, n);
      zt_buffer out;
      subject s;
      open_subject(&s, cut, "zstd", n%2);
      tell_length(&s, BY_FIELD, SMALL);
      /* Cut between two frames, what is left decodes, but not to all the bytes. */
      if( form!=SKIPPABLE && form!=EMPTY_FRAMES ){
        check( zt_content_read(&s.payload, 0, ALL, &out, &err)==SQLITE_ERROR, "%s, %zu of %zu", form_names[form], n, stored.n );
        assert_failed(&err, "zstd: ", form_names[form]);
        assert_true(out.p==NULL && out.n==0);
        check( zt_content_read(&s.payload, 1, ALL, &out, &err)==SQLITE_ERROR, "%s, %zu of %zu", form_names[form], n, stored.n );
        assert_failed(&err, "zstd: ", form_names[form]);
      }else{
        int whole = zt_content_read(&s.payload, 0, ALL, &out, &err), range;
        zt_buffer_free(out.p);
        zt_error_clear(&err);
        range = zt_content_read(&s.payload, 1, ALL, &out, &err);
        zt_buffer_free(out.p);
        zt_error_clear(&err);
        check( whole==range, "%s, %zu of %zu: %d and %d", form_names[form], n, stored.n, whole, range );
      }
      close_subject(&s);
      free(cut.p);
    }
    free(stored.p);
  }
  free(content.p);
}

TEST(test_what_is_no_frame_is_refused){
  static const struct { const char *what, *hex; uint64_t told; } rows[] = {
    { "text", "68656c6c6f20776f726c64", 11 },
    { "three bytes of a magic number", "28b52f", 4 },
    { "a magic number alone", "28b52ffd", 4 },
    { "a header alone", "28b52ffd2004", 4 },
    { "a block of the reserved type", "28b52ffd2004 270000 61626364", 4 },
    { "a block longer than the bytes left", "28b52ffd2004 210000 616263", 4 },
    { "a reserved bit in the header", "28b52ffd2804 210000 61626364", 4 },
    { "a dictionary", "28b52ffd21 07 04 210000 61626364", 4 },
    { "a wrong checksum", "28b52ffd2404 210000 61626364 00000000", 4 },
    { "a cut checksum", "28b52ffd2404 210000 61626364 0000", 4 },
    { "another content size", "28b52ffd2005 210000 61626364", 5 },
    { "a byte after it", "28b52ffd2004 210000 61626364 00", 4 },
    { "four zeros after it", "28b52ffd2004 210000 61626364 00000000", 4 },
    { "a skippable frame cut in its size", "28b52ffd2004 210000 61626364 502a4d18 0400", 4 },
    { "a skippable frame cut in its content", "28b52ffd2004 210000 61626364 502a4d18 04000000 6162", 4 },
    { "a skippable frame of 4 GiB", "502a4d18 ffffffff", 4 },
    { "gzip", "1f8b0800000000000003 4b4c4a4e0100 6d480bed 04000000", 4 },
  };
  blob good = blob_of("28b52ffd2004 210000 61626364"), content = exact("abcd", 4);
  subject s;
  open_subject(&s, good, "zstd", false);   /* The rows are made from it */
  tell_length(&s, BY_FIELD, 4);
  check_all_ranges(&s, content, "by hand");
  close_subject(&s);
  free(good.p);
  free(content.p);
  for(size_t i=0; i<COUNT(rows); i++){
    blob stored = blob_of(rows[i].hex);
    assert_refused(rows[i].what, stored, rows[i].told);
    free(stored.p);
  }
}

/* libzstd may have been built to read the formats before RFC 8878, too; they are none of these files'. This frame of
** version 0.7 holds abcd in a raw block. */
TEST(test_frames_of_formats_before_the_standard_are_refused){
  blob stored = blob_of("27b52ffd 2004 400004 61626364 c00000"), after = { 0 };
  assert_refused("a frame of version 0.7", stored, 4);
  put_hex(&after, "28b52ffd2004 210000 61626364");
  put(&after, stored.p, stored.n);
  assert_refused("a frame of version 0.7 after another", after, 8);
  free(after.p);
  free(stored.p);
}

/* The same, at every place that its magic number may have in the windows through which the stored bytes are read. */
TEST(test_old_frames_are_refused_wherever_they_begin){
  for(unsigned short_by=0; short_by<=5; short_by++){
    blob stored = { 0 };
    put_skippable(&stored, 0, (256u<<10)-8-short_by);
    put_hex(&stored, "27b52ffd 2004 400004 61626364 c00000");
    assert_refused("a frame of version 0.7", stored, 4);
    free(stored.p);
  }
}

/* A frame's whole and its parts are both readable or both refused, for every window size (RFC 8878 3.1.1.1.2). */
TEST(test_windows_of_every_size_are_treated_alike_in_whole_and_in_part){
  static const struct { uint64_t start, length; } ranges[] = { { 0, ALL }, { 1, ALL }, { 0, 3 }, { 3, 1 } };
  unsigned readable = 0;
  for(unsigned descriptor=0; descriptor<256; descriptor++){
    for(int sized=0; sized<2; sized++){   /* Without and with a content size */
      int first = SQLITE_OK;
      char hex[64];
      if( sized ) snprintf(hex, sizeof(hex), "28b52ffd 80 %02x 04000000 210000 61626364", descriptor);
      else snprintf(hex, sizeof(hex), "28b52ffd 00 %02x 210000 61626364", descriptor);
      for(size_t i=0; i<COUNT(ranges); i++){
        zt_error err = ZT_ERROR_NONE;
        blob stored = blob_of(hex);
        zt_buffer out;
        subject s;
        int rc;
        open_subject(&s, stored, "zstd", false);
        tell_length(&s, BY_FIELD, 4);
        rc = zt_content_read(&s.payload, ranges[i].start, ranges[i].length, &out, &err);
        if( rc==SQLITE_OK ) assert_memory_equal(out.p, &"abcd"[ranges[i].start], (size_t)out.n);
        if( i==0 ) first = rc;
        check( rc==first, "window descriptor %02x: %d as a whole, %d in part", descriptor, first, rc );
        zt_buffer_free(out.p);
        zt_error_clear(&err);
        close_subject(&s);
        free(stored.p);
      }
      readable += first==SQLITE_OK;
    }
  }
  assert_true(readable>=2*14*8 && readable<2*256);   /* RFC 8878 asks for 8 MiB, 2^23, at least */
}

/* --- Encodings and lengths --- */

TEST(test_encodings_are_known_by_their_exact_names){
  static const char *const unknown[] = { "", "RAW", "Raw", "raw ", "ra", "raww", "ZSTD", "zst", "zstd1", "lz4", "gzip",
      "none" };
  zt_component m = { .encoding = ZT_TEXT_INIT("raw") };
  zt_schema_set_codec(&m);
  assert_int_equal(m.codec, ZT_CODEC_RAW);
  assert_non_null(zt_encoding_of(&m));
  m.encoding = ZT_TEXT("zstd");
  zt_schema_set_codec(&m);
  assert_ptr_equal(zt_encoding_of(&m), &zt_encoding_zstd);
  for(size_t i=0; i<COUNT(unknown); i++){
    zt_error err = ZT_ERROR_NONE;
    blob content = small_content();
    zt_buffer out;
    char message[64];
    uint64_t n;
    subject s;
    m.encoding = (zt_text){ unknown[i], strlen(unknown[i]) };
    zt_schema_set_codec(&m);
    assert_null(zt_encoding_of(&m));
    open_subject(&s, content, unknown[i], false);
    tell_length(&s, BY_FIELD, SMALL);
    assert_int_equal(zt_payload_length(&s.object, &s.component, &n), ZT_LENGTH_UNKNOWN);
    snprintf(message, sizeof(message), "encoding '%s' is not known", unknown[i]);
    for(uint64_t length=0; length<2; length++){
      assert_int_equal(zt_content_read(&s.payload, 0, length-1, &out, &err), SQLITE_ERROR);
      assert_failed(&err, message, unknown[i]);
      assert_true(out.p==NULL && out.n==0);
    }
    assert_int_equal(zt_content_stored(&s.payload, &out, &err), SQLITE_OK);   /* As they are, they can be had */
    assert_int_equal(out.n, SMALL);
    assert_memory_equal(out.p, content.p, SMALL);
    zt_buffer_free(out.p);
    close_subject(&s);
    free(content.p);
  }
}

TEST(test_lengths){
  static const struct { const char *encoding, *format, *role, *dtype, *type; bool foreign_format, foreign_dtype, stated;
      zt_length_state state; uint64_t n; } rows[] = {
    /* 100 elements, 30 stored bytes, 77 stated */
    { "raw", "dense", "data", "f32", NULL, false, false, false, ZT_LENGTH_KNOWN, 30 },
    { "raw", "dense", "data", "f32", NULL, false, false, true, ZT_LENGTH_KNOWN, 30 },
    { "raw", "any", "any", "any", NULL, true, true, false, ZT_LENGTH_KNOWN, 30 },
    { "zstd", "dense", "data", "f32", NULL, false, false, true, ZT_LENGTH_KNOWN, 77 },
    { "zstd", "any", "any", "any", NULL, true, true, true, ZT_LENGTH_KNOWN, 77 },
    { "zstd", "dense", "data", "f32", NULL, false, false, false, ZT_LENGTH_KNOWN, 400 },
    { "zstd", "dense", "data", "u8", "f8_e4m3fn", false, false, false, ZT_LENGTH_KNOWN, 100 },
    { "zstd", "dense", "data", "u8", "f4_e2m1", false, false, false, ZT_LENGTH_KNOWN, 50 },
    { "zstd", "dense", "data", "u8", "f4_e2m1", false, true, false, ZT_LENGTH_UNKNOWN, 0 },   /* In 1.x */
    { "zstd", "dense", "data", "f32", "complex64", false, false, false, ZT_LENGTH_KNOWN, 800 },
    { "zstd", "dense", "data", "f64", "complex128", false, false, false, ZT_LENGTH_KNOWN, 1600 },
    { "zstd", "dense", "data", "f32", "f32", false, false, false, ZT_LENGTH_KNOWN, 400 },
    { "zstd", "dense", "data", "f64", "complex64", false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "f32", "f16", false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "f32", "unheard of", false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "unheard of", NULL, false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "complex64", NULL, false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "f32", NULL, false, true, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "data", "f32", NULL, true, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "dense", "values", "f32", NULL, false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "sparse_csr", "values", "f32", NULL, false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "zstd", "sparse_csr", "data", "f32", NULL, false, false, false, ZT_LENGTH_UNKNOWN, 0 },
    { "lz4", "dense", "data", "f32", NULL, false, false, true, ZT_LENGTH_UNKNOWN, 0 },
  };
#define TEXT(z) { z, z ? strlen(z) : 0 }
  for(size_t i=0; i<COUNT(rows); i++){
    zt_object o = { .format = TEXT(rows[i].format), .elements = 100 };
    zt_component c = { .role = TEXT(rows[i].role), .dtype = TEXT(rows[i].dtype), .type = TEXT(rows[i].type),
      .encoding = TEXT(rows[i].encoding), .codec = codec_of(rows[i].encoding), .length = 30, .has_decoded_length = rows[i].stated, .decoded_length = 77 };
    uint64_t n;
    o.layout = rows[i].foreign_format ? ZT_LAYOUT_UNKNOWN : strcmp(rows[i].format, "dense")==0 ? ZT_LAYOUT_DENSE : ZT_LAYOUT_CSR;
    zt_dtype_decide(&c);
    if( rows[i].foreign_dtype ) c.element = NULL;
    check( zt_payload_length(&o, &c, &n)==rows[i].state, "row %zu", i );
    if( rows[i].state==ZT_LENGTH_KNOWN ) check( n==rows[i].n, "row %zu: %llu", i, (unsigned long long)n );
  }
}

TEST(test_byte_order){
  static const struct { const char *stored, *encoding, *dtype; bool foreign; const char *expected; } rows[] = {
    { "little", "raw", "f32", false, "little" }, { "big", "raw", "f32", false, "big" }, { "big", "raw", "f64", false, "big" },
    { "big", "raw", "bf16", false, "big" },
    { "big", "raw", "u8", false, "little" }, { "big", "raw", "i8", false, "little" }, { "big", "raw", "bool", false, "little" },
    { "big", "zstd", "f32", false, "big" }, { "big", "lz4", "f32", false, "big" },
    { "middle", "raw", "f32", false, "middle" }, { "middle", "zstd", "u8", false, "middle" },
    { "big", "raw", "unheard of", false, "big" }, { "big", "raw", "u8", true, "big" }, { "Big", "raw", "f32", false, "Big" },
    { "", "raw", "f32", false, "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_component c = { .dtype = TEXT(rows[i].dtype), .encoding = TEXT(rows[i].encoding), .byte_order = TEXT(rows[i].stored), .codec = codec_of(rows[i].encoding) };
    zt_dtype_decide(&c);
    if( rows[i].foreign ) c.storage = NULL;
    assert_text(zt_payload_byte_order(&c), rows[i].expected, rows[i].stored);
  }
#undef TEXT
}

/* --- The table of types --- */

static const zt_dtype *decided(zt_component *c){
  zt_dtype_decide(c);
  return c->element;
}

TEST(test_the_table_of_types){
  static const struct { const char *name, *storage; unsigned width, unit; } rows[] = {
    { "f64", "f64", 8, 8 }, { "f32", "f32", 4, 4 }, { "f16", "f16", 2, 2 }, { "bf16", "bf16", 2, 2 },
    { "i64", "i64", 8, 8 }, { "i32", "i32", 4, 4 },
    { "i16", "i16", 2, 2 }, { "i8", "i8", 1, 1 }, { "u64", "u64", 8, 8 }, { "u32", "u32", 4, 4 }, { "u16", "u16", 2, 2 },
    { "u8", "u8", 1, 1 }, { "bool", "bool", 1, 1 },
    { "f8_e4m3fn", "u8", 1, 1 }, { "f8_e5m2", "u8", 1, 1 }, { "f8_e4m3fnuz", "u8", 1, 1 }, { "f8_e5m2fnuz", "u8", 1, 1 },
    { "f8_e8m0", "u8", 1, 1 }, { "f4_e2m1", "u8", 1, 1 }, { "i4", "u8", 1, 1 }, { "u4", "u8", 1, 1 }, { "i2", "u8", 1, 1 }, { "u2", "u8", 1, 1 },
    { "complex64", "f32", 8, 4 }, { "complex128", "f64", 16, 8 },
  };
  static const char *const unknown[] = { "", "f", "f3", "f322", "F32", "float32", "f8_e4m3", "complex", "u3", "i128" };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_text name = { rows[i].name, strlen(rows[i].name) }, storage = { rows[i].storage, strlen(rows[i].storage) };
    zt_component c = { .dtype = storage, .type = name };
    const zt_dtype *d = decided(&c);
    bool is_storage = strcmp(rows[i].name, rows[i].storage)==0;
    check( d!=NULL, "%s", rows[i].name );
    assert_string_equal(d->name, rows[i].name);
    assert_string_equal(d->storage, rows[i].storage);
    check( d->width==rows[i].width && d->unit==rows[i].unit, "%s: %u, %u", rows[i].name, d->width, d->unit );
    check( zt_dtype_storage(name)==(is_storage ? d : NULL), "%s", rows[i].name );
    c.type.z = NULL;
    check( decided(&c)==zt_dtype_storage(storage), "%s", rows[i].name );
    for(size_t k=0; k<COUNT(rows); k++){   /* A type stands on its own storage type alone */
      c = (zt_component){ .dtype = { rows[k].name, strlen(rows[k].name) }, .type = name };
      check( (decided(&c)!=NULL)==(strcmp(rows[k].name, rows[i].storage)==0), "%s on %s", rows[i].name, rows[k].name );
      check( c.misplaced==(c.storage && !c.element), "%s on %s", rows[i].name, rows[k].name );
    }
  }
  for(size_t i=0; i<COUNT(unknown); i++){
    zt_text name = { unknown[i], strlen(unknown[i]) };
    zt_component c = { .dtype = name }, typed = { .dtype = ZT_TEXT_INIT("u8"), .type = name };
    assert_null(zt_dtype_storage(name));
    assert_null(decided(&c));
    assert_null(decided(&typed));
    assert_false(typed.misplaced);
  }
}

TEST(test_sizes_of_types){
  static const struct { const char *dtype, *type; uint64_t elements; bool fits; uint64_t n; } rows[] = {
    { "f32", NULL, 0, true, 0 }, { "f32", NULL, 1, true, 4 }, { "f32", NULL, (uint64_t)1<<62, false, 0 },
    { "f32", NULL, ((uint64_t)1<<62)-1, true, UINT64_MAX-3 },
    { "u8", NULL, UINT64_MAX, true, UINT64_MAX }, { "u16", NULL, (uint64_t)1<<63, false, 0 },
    { "u16", NULL, ((uint64_t)1<<63)-1, true, UINT64_MAX-1 },
    { "u8", "f4_e2m1", 0, true, 0 }, { "u8", "f4_e2m1", 1, true, 1 }, { "u8", "f4_e2m1", 2, true, 1 },
    { "u8", "f4_e2m1", UINT64_MAX, true, (uint64_t)1<<63 },
    { "u8", "i2", 0, true, 0 }, { "u8", "i2", 4, true, 1 }, { "u8", "u2", 5, true, 2 }, { "u8", "u2", UINT64_MAX, true, (uint64_t)1<<62 },
    { "f64", "complex128", (uint64_t)1<<60, false, 0 }, { "f64", "complex128", ((uint64_t)1<<60)-1, true, UINT64_MAX-15 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_component c = { .dtype = { rows[i].dtype, strlen(rows[i].dtype) },
        .type = { rows[i].type, rows[i].type ? strlen(rows[i].type) : 0 } };
    uint64_t n = 0;
    check( zt_dtype_size(decided(&c), rows[i].elements, &n)==rows[i].fits, "row %zu", i );
    check( !rows[i].fits || n==rows[i].n, "row %zu: %llu", i, (unsigned long long)n );
  }
}

/* --- Digests --- */

static const char *status_of(const subject *s, const char *digest){
  zt_error err = ZT_ERROR_NONE;
  zt_component c = s->component;
  zt_payload p = s->payload;
  const char *status = "unset";
  c.digest = (zt_text){ digest, digest ? strlen(digest) : 0 };
  p.component = &c;
  assert_int_equal(zt_content_digest(&p, &status, &err), SQLITE_OK);
  assert_succeeded(&err, digest ? digest : "none");
  return status;
}

TEST(test_digests_are_of_the_stored_bytes){
  blob content = exact("123456789", 9), stored = { 0 };
  put_frame(&stored, content.p, content.n, WITH_SIZE);
  for(int as_file=0; as_file<2; as_file++){
    subject s;
    open_subject(&s, content, "raw", as_file);
    assert_null(status_of(&s, NULL));
    assert_string_equal(status_of(&s, "crc32c:e3069283"), "ok");
    assert_string_equal(status_of(&s, "crc32c:0xE3069283"), "ok");
    assert_string_equal(status_of(&s, "crc32c:e3069284"), "mismatch");
    assert_string_equal(status_of(&s, "sha256:15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"), "ok");
    assert_string_equal(status_of(&s, "sha256:15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb224"), "mismatch");
    assert_string_equal(status_of(&s, "crc32c:e306928"), "malformed");
    assert_string_equal(status_of(&s, ""), "malformed");
    assert_string_equal(status_of(&s, "md5:25f9e794323b453885f5181f1b624d0b"), "unsupported");
    close_subject(&s);
    open_subject(&s, stored, "zstd", as_file);
    tell_length(&s, BY_FIELD, 9);
    assert_string_equal(status_of(&s, "crc32c:e3069283"), "mismatch");
    close_subject(&s);
    open_subject(&s, (blob){ NULL, 0, 0 }, "raw", as_file);
    assert_string_equal(status_of(&s, "crc32c:00000000"), "ok");
    assert_string_equal(status_of(&s, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), "ok");
    assert_string_equal(status_of(&s, "crc32c:00000001"), "mismatch");
    close_subject(&s);
  }
  free(stored.p);
  free(content.p);
}

TEST(test_a_digest_of_a_file_that_is_gone_is_an_error){
  blob content = small_content();
  zt_error err = ZT_ERROR_NONE;
  const char *status = "unset";
  subject s;
  open_subject(&s, content, "raw", true);
  s.component.digest = ZT_TEXT("crc32c:00000000");
  assert_int_equal(truncate(file_path, OFFSET), 0);
  assert_int_equal(zt_content_digest(&s.payload, &status, &err), SQLITE_ERROR);
  assert_failed(&err, "cut short", "digest");
  assert_null(status);
  close_subject(&s);
  free(content.p);
}

/* --- Golden and hostile files --- */

/* An opened file, through its path or its bytes. */
typedef struct opened {
  blob bytes;
  zt_source *source;
  zt_container *container;
} opened;

static opened open_file(const char *path, bool image){
  zt_error err = ZT_ERROR_NONE;
  opened f = { .bytes = { 0 } };
  if( image ){
    f.bytes = read_file(path);
    assert_int_equal(zt_source_open_image(span_of(f.bytes), &f.source, &err), SQLITE_OK);
  }else{
    assert_int_equal(zt_source_open(path, NULL, &f.source, &err), SQLITE_OK);
  }
  zt_container_open(f.source, NULL, &f.container, &err);
  assert_succeeded(&err, path);
  return f;
}

static void close_file(opened *f){
  zt_container_close(f->container);
  zt_source_close(f->source);
  free(f->bytes.p);
}

static bool has_sha256(zt_buffer b, const char *hex){
  zt_error err = ZT_ERROR_NONE;
  char text[80];
  zt_digest *d;
  bool matches;
  snprintf(text, sizeof(text), "sha256:%s", hex);
  assert_int_equal(zt_digest_open((zt_text){ text, strlen(text) }, ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, &d, &err), ZT_DIGEST_OK);
  zt_digest_update(d, (zt_span){ b.p, (size_t)b.n });
  matches = zt_digest_matches(d);
  zt_digest_close(d);
  return matches;
}

static zt_budget generous = { .result = 1000000000, .decode = (uint64_t)1<<40 };

static void check_golden_component(const opened *f, uint32_t i, uint32_t k, sqlite3_stmt *expected, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_object object;
  zt_component component;
  zt_payload p = { .source = f->source, .object = &object, .component = &component, .budget = &generous };
  zt_buffer out;
  const char *status;
  int rc;
  zt_container_object(f->container, i, &object);
  zt_container_component(f->container, i, k, ZT_COMPONENT_ALL, &component);
  if( component.shard.z && (zt_source_image(f->source).p || sqlite3_column_type(expected, 0)==SQLITE_NULL) ){
    check( zt_content_stored(&p, &out, &err)==SQLITE_ERROR && err.rule && strcmp(err.rule, "X1")==0, "%s: %s", row, err.message );
    zt_error_clear(&err);
    return;
  }
  assert_int_equal(zt_content_stored(&p, &out, &err), SQLITE_OK);
  check( has_sha256(out, (const char*)sqlite3_column_text(expected, 0)), "%s: stored", row );
  zt_buffer_free(out.p);
  rc = zt_content_read(&p, 0, ALL, &out, &err);
  if( sqlite3_column_type(expected, 1)==SQLITE_NULL ){
    check( rc==SQLITE_ERROR && err.message, "%s: decoded", row );
    zt_error_clear(&err);
  }else{
    check( rc==SQLITE_OK, "%s: %s", row, err.message );
    check( out.n==(uint64_t)sqlite3_column_int64(expected, 1), "%s: %llu bytes", row, (unsigned long long)out.n );
    check( has_sha256(out, (const char*)sqlite3_column_text(expected, 2)), "%s: decoded", row );
  }
  zt_buffer_free(out.p);
  assert_int_equal(zt_content_digest(&p, &status, &err), SQLITE_OK);
  if( sqlite3_column_type(expected, 3)==SQLITE_NULL ){
    check( !status || strcmp(status, "unsupported")==0 || strcmp(status, "malformed")==0, "%s: digest %s", row, status );
  }else{
    check( status && strcmp(status, sqlite3_column_int(expected, 3) ? "ok" : "mismatch")==0, "%s: digest %s", row, status
        ? status : "none" );
  }
  check( zt_text_equal(zt_payload_byte_order(&component), (zt_text){ (const char*)sqlite3_column_text(expected, 4),
      (size_t)sqlite3_column_bytes(expected, 4) }),
         "%s: byte order", row );
}

TEST(test_golden_components_decode_to_the_right_bytes){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { 0 };
  zt_paths paths;
  unsigned components = 0;
  assert_int_equal(zt_paths_find("tests/formats/ztensor/golden/v*/*.zt", &filter, &paths, &err), SQLITE_OK);
  for(size_t p=0; p<paths.n; p++){
    const char *path = paths.a[p].z;
    char json[300];
    sqlite3_stmt *expected;
    snprintf(json, sizeof(json), "%.*s.expected.json", (int)strlen(path)-3, path);
    expected = query("SELECT " FIELD("stored_sha256") ", " FIELD("decoded_length") ", " FIELD("decoded_sha256") ", "
      FIELD("digest_ok") ", " FIELD("byte_order") " FROM json_each(?1, '$.objects['||?2||'].components') ORDER BY id", json);
    for(int image=0; image<2; image++){
      opened f = open_file(path, image);
      for(uint32_t i=0; i<zt_container_objects(f.container); i++){
        sqlite3_reset(expected);
        sqlite3_bind_int64(expected, 2, i);
        for(uint32_t k=zt_container_first(f.container, i); k<zt_container_first(f.container, i+1); k++, components++){
          char row[400];
          snprintf(row, sizeof(row), "%s, object %u, component %u", path, i, k);
          assert_int_equal(sqlite3_step(expected), SQLITE_ROW);
          check_golden_component(&f, i, k, expected, row);
        }
      }
      close_file(&f);
    }
    sqlite3_finalize(expected);
  }
  assert_true(components>1000);
  zt_paths_clear(&paths);
}

/* The rule of an encoding that a hostile file breaks. */
typedef struct broken_rule {
  const char *file, *rule, *message;
} broken_rule;

/* The named component cannot be read, as a whole or up to its end; the message names it. */
static void check_unreadable(const opened *f, zt_text object_name, zt_text role, const broken_rule *rule){
  zt_object object;
  zt_component component;
  zt_payload p = { .source = f->source, .object = &object, .component = &component, .budget = &generous };
  char expected[500];
  zt_buffer out;
  zt_container_object(f->container, (uint32_t)zt_container_find(f->container, object_name), &object);
  assert_true(zt_component_find(f->container, object.index, role, &component));
  for(uint64_t start=0; start<3; start++){
    zt_error err = ZT_ERROR_NONE;
    int rc;
    err.path = "p";
    err.object = object_name;
    err.component = role;
    rc = zt_content_read(&p, start, ALL, &out, &err);
    check( rc==SQLITE_ERROR || (rc==SQLITE_TOOBIG && (strstr(rule->message, "limit")!=NULL || strcmp(rule->rule, "F2")==0)), "%s: %d", rule->file, rc );
    snprintf(expected, sizeof(expected), "ztensor: p: object '%.*s': component '%.*s': ", (int)object_name.n, object_name.z,
        (int)role.n, role.z);
    check( strncmp(err.message, expected, strlen(expected))==0, "%s: %s", rule->file, err.message );
    if( rc==SQLITE_ERROR && start==0 ) check( err.rule && strcmp(err.rule, rule->rule)==0, "%s: against %s", rule->file, err.rule ? err.rule : "no rule" );
    if( start==0 ) check( strcmp(err.message+strlen(expected), rule->message)==0, "%s: '%s', expected '%s'", rule->file,
        err.message, rule->message );
    assert_true(out.p==NULL && out.n==0);
    zt_error_clear(&err);
  }
}

static void check_readable(const opened *f, zt_text except_object, zt_text except_role, const char *row){
  for(uint32_t i=0; i<zt_container_objects(f->container); i++){
    zt_object object;
    zt_container_object(f->container, i, &object);
    for(uint32_t k=zt_container_first(f->container, i); k<zt_container_first(f->container, i+1); k++){
      zt_error err = ZT_ERROR_NONE;
      zt_component component;
      zt_payload p = { .source = f->source, .object = &object, .component = &component, .budget = &generous };
      zt_buffer out;
      zt_container_component(f->container, i, k, ZT_COMPONENT_ALL, &component);
      if( zt_text_equal(object.name, except_object) && zt_text_equal(component.role, except_role) ) continue;
      check( zt_content_read(&p, 0, ALL, &out, &err)==SQLITE_OK, "%s, object %u: %s", row, i, err.message );
      zt_buffer_free(out.p);
    }
  }
}

TEST(test_hostile_components_cannot_be_read){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("expect") "='lists_but_no_bytes', " FIELD("object") ", "
    "coalesce(" FIELD("component") ", 'data'), " FIELD("number") ", " FIELD("message") " FROM json_each(?1) WHERE " FIELD("expect")
    " NOT IN ('open_error', 'lists_only')",
    HOSTILE "cases.json");
  unsigned unreadable = 0;
  while( sqlite3_step(cases)==SQLITE_ROW ){
    const char *file = (const char*)sqlite3_column_text(cases, 0);
    broken_rule rule = { file, (const char*)sqlite3_column_text(cases, 4), (const char*)sqlite3_column_text(cases, 5) };
    zt_text object = { (const char*)sqlite3_column_text(cases, 2), (size_t)sqlite3_column_bytes(cases, 2) };
    zt_text role = { (const char*)sqlite3_column_text(cases, 3), (size_t)sqlite3_column_bytes(cases, 3) };
    bool broken = sqlite3_column_int(cases, 1)!=0;
    char path[300];
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    check( !broken || (rule.rule && rule.message), "%s: which rule does it break?", file );
    for(int image=0; image<2; image++){
      opened f = open_file(path, image);
      if( broken ) check_unreadable(&f, object, role, &rule);
      check_readable(&f, broken ? object : (zt_text){ NULL, 0 }, broken ? role : (zt_text){ "\1", 1 }, file);
      close_file(&f);
    }
    unreadable += broken;
  }
  assert_true(unreadable>=30);
  sqlite3_finalize(cases);
}

TEST(test_odd_but_good_components_decode_to_the_right_bytes){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("object") ", " FIELD("component") ", "
    FIELD("bytes_sha256") " FROM json_each(?1) WHERE " FIELD("bytes_sha256") " IS NOT NULL", HOSTILE "cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    const char *file = (const char*)sqlite3_column_text(cases, 0);
    zt_error err = ZT_ERROR_NONE;
    char path[300];
    opened f;
    zt_object object;
    zt_component component;
    zt_payload p;
    zt_buffer out;
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    f = open_file(path, n%2);
    zt_container_object(f.container, (uint32_t)zt_container_find(f.container,
        (zt_text){ (const char*)sqlite3_column_text(cases, 1), (size_t)sqlite3_column_bytes(cases, 1) }), &object);
    assert_true(zt_component_find(f.container, object.index, (zt_text){ (const char*)sqlite3_column_text(cases, 2),
        (size_t)sqlite3_column_bytes(cases, 2) }, &component));
    p = (zt_payload){ .source = f.source, .object = &object, .component = &component, .budget = &generous };
    check( zt_content_read(&p, 0, ALL, &out, &err)==SQLITE_OK, "%s: %s", file, err.message );
    check( has_sha256(out, (const char*)sqlite3_column_text(cases, 3)), "%s", file );
    zt_buffer_free(out.p);
    close_file(&f);
  }
  assert_true(n>=30);
  sqlite3_finalize(cases);
}

TEST(test_hostile_digests){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("object") ", " FIELD("component") ", "
    "CASE " FIELD("finding") " WHEN 'digest-mismatch' THEN 'mismatch' WHEN 'malformed-digest' THEN 'malformed' ELSE 'unsupported' END"
    " FROM json_each(?1) WHERE " FIELD("expect") "='digest_mismatch'", HOSTILE "cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    const char *file = (const char*)sqlite3_column_text(cases, 0), *object_name = (const char*)sqlite3_column_text(cases, 1);
    char path[300];
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    for(int image=0; image<2; image++){
      opened f = open_file(path, image);
      for(uint32_t i=0; i<zt_container_objects(f.container); i++){
        zt_error err = ZT_ERROR_NONE;
        zt_object object;
        zt_component component;
        zt_payload p = { .source = f.source, .object = &object, .component = &component, .budget = &generous };
        const char *status;
        zt_container_object(f.container, i, &object);
        assert_true(zt_component_values(f.container, &object, ZT_COMPONENT_ALL, &component));
        assert_int_equal(zt_content_digest(&p, &status, &err), SQLITE_OK);
        if( zt_text_equal(object.name, (zt_text){ object_name, strlen(object_name) }) ){
          check( status && strcmp((const char*)sqlite3_column_text(cases, 3), status)==0, "%s: %s", file, status );
        }else{
          check( (status==NULL)==(component.digest.z==NULL) && (!status || strcmp(status, "ok")==0), "%s: %s", file, status );
        }
      }
      close_file(&f);
    }
  }
  assert_true(n>=18);
  sqlite3_finalize(cases);
}

int main(void){
  return run_all("payload", set_up, tear_down);
}
