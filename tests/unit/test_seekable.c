/*
** The encoding zt.zstd-seekable/1: tensor/seekable.c. Every rule broken alone, and kept by a hair; every range of a part
** against the whole; and what a range costs.
*/
#include "seekable.h"
#include "subject.h"

#include "tensor/content.h"
#include "tensor/encoding.h"
#include "tensor/stream.h"

#define ALL UINT64_MAX
#define OFFSET ((size_t)4096)   /* The part's offset in its file */
#define MIB ((size_t)1 << 20)

/* --- A part in a file --- */

/* The part between other bytes; it says that it decodes to `total` bytes. */
static void open_subject(subject *s, blob part, uint64_t total, bool as_file){
  /* Nothing behind an image: AddressSanitizer sees a read there. */
  place_subject(s, OFFSET, span_of(part), as_file ? 64 : 0, SEEKABLE, as_file);
  tell_length(s, BY_FIELD, total);
}

static blob counted(size_t n){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)((i*i+i/7) & 0xFF));
  return seal(&b);
}

/* Bytes that compress well, and are nowhere the same for long. */
static blob large_content(size_t n){
  blob b = { malloc(n), n, n };
  assert_non_null(b.p);
  for(size_t i=0; i<n; i++) b.p[i] = (uint8_t)(i%4096 ? i/4096 : i>>20);
  return b;
}

/* --- Ranges --- */

static void check_range(const subject *s, blob content, uint64_t start, uint64_t length, const char *row){
  zt_error err = ZT_ERROR_NONE;
  uint64_t from = start<content.n ? start : content.n, n = length<content.n-from ? length : content.n-from;
  zt_buffer out = { (uint8_t*)&err, 1 };
  s->payload.budget->decoded = 0;
  zt_content_read(&s->payload, start, length, &out, &err);
  check( err.rc==SQLITE_OK, "%s, [%llu, +%llu): %s", row, (unsigned long long)start, (unsigned long long)length, err.message );
  check( out.n==n, "%s, [%llu, +%llu): %llu bytes", row, (unsigned long long)start, (unsigned long long)length, (unsigned long long)out.n );
  check( n==0 || memcmp(out.p, content.p+from, (size_t)n)==0, "%s, [%llu, +%llu)", row, (unsigned long long)start, (unsigned long long)length );
  zt_buffer_free(out.p);
}

TEST(test_every_range_is_a_slice_of_the_whole){
  for(size_t n=0; n<=23; n = n<6 ? n+1 : n+4){   /* The last frame full and shorter */
    blob content = counted(n);
    for(size_t each=1; each<=n+1; each = each<6 ? each+1 : each*2){
      for(unsigned form=0; form<4; form++){
        blob part = seekable_part(content.p, n, each, form & 1 ? SUMS : 0, NULL);
        char row[100];
        subject s;
        snprintf(row, sizeof(row), "%zu bytes, %zu in a frame, form %u", n, each, form);
        open_subject(&s, part, n, form>=2);
        for(uint64_t start=0; start<=n+1; start++){
          for(uint64_t length=0; length<=n+1; length++) check_range(&s, content, start, length, row);
          check_range(&s, content, start, ALL, row);
        }
        check_range(&s, content, ALL, ALL, row);
        check_range(&s, content, (uint64_t)1<<63, (uint64_t)1<<63, row);
        close_subject(&s);
        free(part.p);
      }
    }
    free(content.p);
  }
}

/* One stream, read at any places in any order. */
static void read_piece(zt_stream *s, blob content, uint64_t offset, size_t n, const char *row){
  zt_error err = ZT_ERROR_NONE;
  uint64_t from = offset<content.n ? offset : content.n, want = n<content.n-from ? n : content.n-from;
  uint8_t *out = malloc(n+1);
  size_t got = 12345;
  assert_non_null(out);
  out[n] = 0xC3;
  zt_stream_read(s, offset, out, n, &got, &err);
  check( err.rc==SQLITE_OK, "%s, [%llu, +%zu): %s", row, (unsigned long long)offset, n, err.message );
  check( got==want, "%s, [%llu, +%zu): %zu bytes", row, (unsigned long long)offset, n, got );
  check( memcmp(out, content.p+from, got)==0 && out[n]==0xC3, "%s, [%llu, +%zu)", row, (unsigned long long)offset, n );
  free(out);
}

TEST(test_a_stream_is_read_in_any_order){
  static const size_t eaches[] = { 1, 7, 64, 100, 999, 1000, 5000 };
  blob content = counted(1000);
  uint64_t random = 3;
  for(size_t e=0; e<COUNT(eaches); e++){
    for(int as_file=0; as_file<2; as_file++){
      const size_t each = eaches[e], pieces[] = { 1, 2, 3, each>1 ? each-1 : 1, each, each+1, 3*each+1, 1000, 1001 };
      blob part = seekable_part(content.p, content.n, each, SUMS, NULL);
      zt_error err = ZT_ERROR_NONE;
      zt_stream *stream;
      uint64_t length = 0;
      char row[100];
      subject s;
      snprintf(row, sizeof(row), "%zu in a frame", each);
      open_subject(&s, part, content.n, as_file);
      assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
      for(size_t i=0; i<COUNT(pieces); i++){
        size_t n = pieces[i];
        for(uint64_t at=0; at<1010; at+=n) read_piece(stream, content, at, n, row);
        for(uint64_t at=1010/n+1; at-->0; ) read_piece(stream, content, at*n, n, row);
      }
      for(int i=0; i<3000; i++){
        uint64_t from = random_below(&random, 1005);
        read_piece(stream, content, from, random_below(&random, i%3 ? 20 : 1100), row);
      }
      for(int i=0; i<3; i++) read_piece(stream, content, 0, 1000, row);
      read_piece(stream, content, ALL, 1, row);
      assert_int_equal(zt_stream_length(stream, &length, &err), SQLITE_OK);
      assert_int_equal(length, 1000);
      zt_stream_close(stream);
      close_subject(&s);
      free(part.p);
    }
  }
  free(content.p);
}

/* A place behind the end, within the last frame and not, and where there is no frame. */
TEST(test_places_behind_the_end){
  static const struct { uint64_t n, first, to, position; } rows[] = { { 0, 0, 5, 0 }, { 50, 41, 60, 50 }, { 50, 0, 60, 40 }, { 50, 0, 59, 40 }, { 50, 41, 49, 49 } };
  blob content = counted(50);
  for(size_t i=0; i<COUNT(rows); i++){
    blob part = seekable_part(content.p, (size_t)rows[i].n, 20, 0, NULL);
    zt_error err = ZT_ERROR_NONE;
    zt_decoder *decoder;
    uint64_t position = 7;
    uint8_t byte;
    size_t got;
    subject s;
    open_subject(&s, part, rows[i].n, false);
    assert_int_equal(zt_encoding_seekable.open(&s.payload, &decoder, &err), SQLITE_OK);
    if( rows[i].first ){
      zt_encoding_seekable.seek(decoder, rows[i].first, &position, &err);
      zt_encoding_seekable.next(decoder, &byte, 1, &got, &err);
    }
    zt_encoding_seekable.seek(decoder, rows[i].to, &position, &err);
    assert_succeeded(&err, "seek");
    check( position==rows[i].position, "row %zu: %llu", i, (unsigned long long)position );
    zt_encoding_seekable.close(decoder);
    close_subject(&s);
    free(part.p);
  }
  free(content.p);
}

/* Each reader of a component has a frame's content in memory: so many that this is too much cannot be opened. */
TEST(test_readers_side_by_side){
  blob content = large_content(16*MIB), part = seekable_part(content.p, content.n, content.n, 0, NULL);
  for(unsigned readers=8; readers<10; readers++){
    zt_error err = ZT_ERROR_NONE;
    zt_decoder *decoder;
    subject s;
    open_subject(&s, part, content.n, false);
    s.payload.side_by_side = readers;
    zt_encoding_seekable.open(&s.payload, &decoder, &err);
    if( readers==8 ) zt_encoding_seekable.close(decoder);
    else{
      assert_int_equal(err.rc, SQLITE_TOOBIG);
      assert_string_equal(err.message, "ztensor: " SEEKABLE ": 9 readers of frames of 16777216 bytes each");
      zt_error_clear(&err);
    }
    assert_succeeded(&err, "side by side");
    close_subject(&s);
  }
  free(content.p);
  free(part.p);
}

/* Larger than what is decoded in one call; frames of the most content that there may be, and of a byte less. */
TEST(test_ranges_of_a_large_part){
  static const size_t eaches[] = { 16*MIB, 16*MIB-1, 4*MIB, 300000 };
  blob content = large_content(40*MIB+5);
  for(size_t e=0; e<COUNT(eaches); e++){
    size_t each = eaches[e];
    blob part = seekable_part(content.p, content.n, each, 0, NULL);
    for(int as_file=0; as_file<2; as_file++){
      const struct { uint64_t start, length; } ranges[] = {
        { 0, ALL }, { 1, ALL }, { 0, content.n-1 }, { 0, 1 }, { each-1, 2 }, { each, 1 }, { each, each }, { 2*each-1, each+2 }, { content.n-1, 5 },
        { content.n, 5 }, { ZT_WHOLE_MAX-1, 2 }, { 0, ZT_WHOLE_MAX } };
      subject s;
      open_subject(&s, part, content.n, as_file);
      for(size_t i=0; i<COUNT(ranges); i++) check_range(&s, content, ranges[i].start, ranges[i].length, "large");
      close_subject(&s);
    }
    free(part.p);
  }
  free(content.p);
}

/* --- What a range costs --- */

/* All frames but those that the range lies in are no frames at all. */
TEST(test_a_range_reads_the_frames_that_it_needs_and_no_other){
  static const size_t eaches[] = { 1, 5, 8, 30 };
  blob content = counted(64);
  for(size_t e=0; e<COUNT(eaches); e++){
    size_t each = eaches[e], n = (content.n+each-1)/each, *starts;
    blob part = seekable_part(content.p, content.n, each, SUMS, &starts);
    for(size_t from=0; from<n; from++){
      for(size_t to=from; to<n; to++){
        uint64_t begin = from*each, end = (to+1)*each<content.n ? (to+1)*each : content.n;
        blob damaged = exact(part.p, part.n);
        memset(damaged.p, 0xAA, starts[from]);
        memset(damaged.p+starts[to+1], 0xAA, starts[n]-starts[to+1]);
        for(int as_file=0; as_file<2; as_file++){
          zt_error err = ZT_ERROR_NONE;
          char row[100];
          zt_buffer out;
          subject s;
          if( as_file && to-from>2 ) continue;
          snprintf(row, sizeof(row), "frames %zu to %zu of %zu", from, to, n);
          open_subject(&s, damaged, content.n, as_file);
          check_range(&s, content, begin, end-begin, row);
          check_range(&s, content, end-1, 1, row);
          check_range(&s, content, begin, 1, row);
          for(int side=0; side<2; side++){   /* A byte more does need another */
            if( side ? end==content.n : begin==0 ) continue;
            zt_content_read(&s.payload, side ? begin : begin-1, end-begin+1, &out, &err);
            check( err.rule && strcmp(err.rule, "Y1")==0, "%s: %s", row, err.message ? err.message : "accepted" );
            assert_failed(&err, SEEKABLE ": no frame where the seek table states one", row);
          }
          close_subject(&s);
        }
        free(damaged.p);
      }
    }
    free(part.p);
    free(starts);
  }
  free(content.p);
}

/* A stream that failed in a frame goes on with another, and fails in that one again. */
TEST(test_a_stream_outlives_a_damaged_frame){
  size_t *starts;
  blob content = counted(40), part = seekable_part(content.p, content.n, 10, 0, &starts);
  part.p[starts[2]-1] ^= 1;   /* The second frame's checksum */
  for(int as_file=0; as_file<2; as_file++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    uint8_t out[40];
    size_t got;
    subject s;
    open_subject(&s, part, content.n, as_file);
    assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
    for(int i=0; i<3; i++){
      read_piece(stream, content, 0, 10, "first");
      read_piece(stream, content, 3, 4, "first");
      for(size_t from=8; from<20; from+=5){
        for(int again=0; again<2; again++){
          assert_int_equal(zt_stream_read(stream, from, out, 4, &got, &err), SQLITE_ERROR);
          assert_int_equal(got, 0);
          assert_string_equal(err.rule, "Y1");
          assert_failed(&err, SEEKABLE ": Restored data doesn't match checksum", "second");
        }
      }
      read_piece(stream, content, 20, 7, "third");
      read_piece(stream, content, 35, 10, "fourth");
      assert_int_equal(zt_stream_read(stream, 0, out, 40, &got, &err), SQLITE_ERROR);
      zt_error_clear(&err);
    }
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(content.p);
  free(part.p);
  free(starts);
}

/* Memory holds the table, a frame's stored bytes and its content, but not the whole. libzstd's own memory does not count. */
TEST(test_memory_is_bounded_by_a_frame_and_the_table){
  enum { EACH = 65536, FRAMES = 200 };
  blob content = { malloc(EACH*FRAMES), EACH*FRAMES, EACH*FRAMES };
  uint64_t random = 7;
  blob part;
  for(size_t i=0; i<content.n; i+=8){
    uint64_t u = random64(&random);
    memcpy(content.p+i, &u, 8);
  }
  part = seekable_part(content.p, content.n, EACH, SUMS, NULL);
  for(int as_file=0; as_file<2; as_file++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    sqlite3_int64 before, most;
    uint8_t out[10];
    size_t got;
    subject s;
    open_subject(&s, part, content.n, as_file);
    before = sqlite3_memory_used();
    sqlite3_memory_highwater(1);
    assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
    for(uint64_t at=content.n-5; at>70001; at-=70001){
      assert_int_equal(zt_stream_read(stream, at, out, 10, &got, &err), SQLITE_OK);
      assert_memory_equal(out, content.p+at, got);
    }
    most = sqlite3_memory_highwater(0)-before;
    /* Content, stored bytes, what is passed over at once, the table */
    check( most<EACH + (as_file ? EACH+1000 : 0) + (256<<10) + 20*FRAMES + 4096, "%lld bytes", (long long)most );
    zt_stream_close(stream);
    assert_int_equal(sqlite3_memory_used(), before);
    close_subject(&s);
  }
  free(content.p);
  free(part.p);
}

/* Skipped bytes of a frame count as decoded; earlier frames do not. */
TEST(test_what_a_range_decodes_is_charged){
  blob content = counted(1000), part = seekable_part(content.p, content.n, 100, 0, NULL);
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  subject s;
  open_subject(&s, part, content.n, false);
  s.budget.decode = 100;
  check_range(&s, content, 900, 100, "a frame");
  check_range(&s, content, 399, 1, "its last byte");
  check_range(&s, content, 350, 50, "its second half");
  check_range(&s, content, 300, 100, "all of it");
  s.budget.decoded = 0;
  assert_int_equal(zt_content_read(&s.payload, 300, 101, &out, &err), SQLITE_TOOBIG);
  assert_string_equal(err.message, "ztensor: " SEEKABLE ": more than 100 bytes would have to be decoded");
  assert_null(err.rule);
  zt_error_clear(&err);
  close_subject(&s);
  free(content.p);
  free(part.p);
}

TEST(test_a_read_can_be_interrupted_before_the_frame_that_makes_4_mib){
  blob content = large_content(36*MIB), part = seekable_part(content.p, content.n, 3*MIB, 0, NULL);
  for(int whole=0; whole<2; whole++){
    for(int stop=1; stop<=7; stop++){
      caller c = { 0, stop };
      zt_error err = ZT_ERROR_NONE;
      zt_buffer out;
      subject s;
      open_subject(&s, part, content.n, false);
      s.budget.interrupt = (zt_interrupt){ caller_stops, &c };
      zt_content_read(&s.payload, whole ? 0 : 1, ALL, &out, &err);
      if( stop<=6 ){
        check( err.rc==SQLITE_INTERRUPT, "%d: %d", stop, err.rc );
        assert_null(err.message);   /* SQLite has its own words */
        assert_true(out.p==NULL && out.n==0);
        assert_int_equal(c.asked, stop);
      }else{
        assert_succeeded(&err, "never");
        assert_int_equal(c.asked, 6);
      }
      zt_buffer_clear(&out);
      zt_error_clear(&err);
      close_subject(&s);
    }
  }
  free(content.p);
  free(part.p);
}

TEST(test_a_file_that_is_cut_short_or_changed_is_an_error){
  blob content = counted(100), part = seekable_part(content.p, content.n, 10, SUMS, NULL);
  for(int range=0; range<2; range++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    uint8_t out[100];
    size_t got;
    subject s;
    open_subject(&s, part, content.n, true);
    assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
    read_piece(stream, content, 0, 5, "before");
    assert_int_equal(truncate(file_path, (off_t)OFFSET+30), 0);
    assert_int_equal(zt_stream_read(stream, range ? 95 : 0, out, range ? 5 : 100, &got, &err), SQLITE_ERROR);
    assert_null(err.rule);
    assert_failed(&err, "cut short", "cut");
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(content.p);
  free(part.p);
}

/* --- The rules --- */

/* A frame of the row, and what is wrong with it. */
typedef struct row_frame {
  const char *content;     /* NULL: none, and the row's end */
  unsigned flags;
  int kind;                /* Kind of the bytes in its place */
  int stored, size;        /* Added to its entry */
  int32_t flip;            /* This byte of it, counted from its end, is another; 0: none */
} row_frame;

enum { FRAME, SKIPPABLE, TWO_FRAMES, FRAME_AND_SKIPPABLE, NOTHING, LEGACY };

typedef struct row {
  const char *rule, *what, *message;   /* message NULL: accepted */
  row_frame frames[6];
  int total;               /* Added to decoded_length */
  const char *before, *between, *after;   /* Bytes before the frames, before the table, behind it */
  unsigned flags;          /* The table's, as written */
  bool sums;               /* Entries have checksums */
  int64_t n;               /* Added to the table's number of entries */
  int64_t size;            /* and its head too many of bytes */
  bool no_table;
  uint32_t head, magic;    /* In the place of its magic numbers */
  size_t cut;              /* Bytes at the end that are not there */
  const char *back;        /* The message of who may read it backwards, if it is another */
} row;

#define NONE "no frame where the seek table states one"
#define OTHER_SIZE "a frame of another size than the seek table states"
#define OTHER_CONTENT "a frame of other content than the seek table states"
#define UNEQUAL "frames of other sizes than the first one's"
#define NO_TABLE "it does not end with a seek table"
#define WRONG_SIZE "its seek table has another size than its entries"
#define STORED "the seek table states more or fewer stored bytes"
#define DECODED "the seek table states more or fewer bytes than decoded_length"
#define TOO_LARGE "a seek table larger than all of it"
#define TOO_SHORT "too short for a seek table"
#define A { .content = "abcd" }
#define B { .content = "efgh" }
#define C { .content = "ij" }

static const row rows[] = {
  { "", "three frames", NULL, .frames = { A, B, C } },
  { "", "a full last one", NULL, .frames = { A, B } },
  { "", "one", NULL, .frames = { A } },
  { "", "one of no content", NULL, .frames = { { .content = "" } } },
  { "", "the last of no content", NULL, .frames = { A, { .content = "" } } },
  { "", "none", NULL, .frames = { { 0 } } },
  { "", "none, with checksums", NULL, .sums = true, .flags = SUMS },
  { "", "checksums in the table", NULL, .frames = { A, B, C }, .sums = true, .flags = SUMS },
  { "", "content sizes that no frame tells", NULL, .frames = { { "abcd", NO_CONTENT_SIZE }, { "efgh", NO_CONTENT_SIZE }, { "i", NO_CONTENT_SIZE } } },
  /* Y1: a zstd frame, with a content checksum, without dictionary */
  { "Y1", "no checksum", "a frame without a content checksum", .frames = { { "abcd", NO_CHECKSUM }, B, C } },
  { "Y1", "no checksum of the last", "a frame without a content checksum", .frames = { A, B, { "ij", NO_CHECKSUM } } },
  { "Y1", "a wrong checksum", "Restored data doesn't match checksum", .frames = { A, { "efgh", .flip = 1 }, C } },
  { "Y1", "another byte", "Restored data doesn't match checksum", .frames = { A, { "efgh", .flip = 5 }, C } },
  { "Y1", "a dictionary", "Dictionary mismatch", .frames = { A, { "efghijklmnopqrstuvwxyz", .flags = DICTIONARY, .kind = LEGACY, .size = -18 }, C } },
  { "Y1", "another magic number", NONE, .frames = { { "abcd", .flip = 17 }, B, C } },
  { "Y1", "a skippable frame", NONE, .frames = { A, { "efgh", .kind = SKIPPABLE }, C } },
  { "Y1", "a skippable frame, the last", NONE, .frames = { A, B, { "ij", .kind = SKIPPABLE } } },
  { "Y1", "no bytes at all", NONE, .frames = { A, { "efgh", .kind = NOTHING }, C } },
  { "Y1", "no bytes of one without content", NONE, .frames = { { "", .kind = NOTHING } } },
  { "Y1", "a skippable frame behind it", OTHER_SIZE, .frames = { A, { "efgh", .kind = FRAME_AND_SKIPPABLE }, C } },
  { "Y1", "two frames in one entry", OTHER_SIZE, .frames = { A, { "efgh", .kind = TWO_FRAMES }, C } },
  { "Y1", "an entry a byte too long", OTHER_SIZE, .back = NONE, .frames = { { "abcd", .stored = 1 }, { "efgh", .stored = -1 }, C } },
  { "Y1", "an entry a byte too short", OTHER_SIZE, .back = NONE, .frames = { { "abcd", .stored = -1 }, { "efgh", .stored = 1 }, C } },
  { "Y1", "an entry shorter than a head", NONE, .frames = { { "abcd", .stored = -13 }, { "efgh", .stored = 13 }, C } },
  { "Y1", "bytes between frames and table, which the last entry has", OTHER_SIZE, .frames = { A, B, { "ij", .stored = 3 } }, .between = "xyz" },
  { "Y1", "bytes before the frames, which the first entry has", NONE, .frames = { { "abcd", .stored = 3 }, B, C }, .before = "xyz" },
  /* Y2: each has as much content as the first, the last one at most that, and none more than 16 MiB */
  { "Y2", "a shorter one in the middle", UNEQUAL, .frames = { A, { .content = "efg" }, C } },
  { "Y2", "a longer one in the middle", UNEQUAL, .frames = { A, { .content = "efghi" }, C } },
  { "Y2", "a longer one at the end", UNEQUAL, .frames = { A, B, { .content = "ijklm" } } },
  { "Y2", "a longer second of two", UNEQUAL, .frames = { A, { .content = "efghi" } } },
  { "Y2", "all of no content", "more frames than bytes of content plus one", .frames = { { .content = "" }, { .content = "" } } },
  { "Y2", "the first of no content", UNEQUAL, .frames = { { .content = "" }, B } },
  { "Y2", "a frame of less content than its entry tells", OTHER_CONTENT, .frames = { A, { "efg", .size = 1 }, C } },
  { "Y2", "a frame of less content, and no word of it", OTHER_CONTENT, .frames = { A, { "efg", NO_CONTENT_SIZE, .size = 1 }, C } },
  { "Y2", "a frame of more content than its entry tells", OTHER_CONTENT, .frames = { A, { "efghi", .size = -1 }, C } },
  { "Y2", "a frame of more content, and no word of it", OTHER_CONTENT, .frames = { A, { "efghi", NO_CONTENT_SIZE, .size = -1 }, C } },
  { "Y2", "the last of more content", OTHER_CONTENT, .frames = { A, B, { "ijk", .size = -1 } } },
  { "Y2", "the last of less content", OTHER_CONTENT, .frames = { A, B, { "i", .size = 1 } } },
  { "Y2", "an only one of no content", OTHER_CONTENT, .frames = { { "", .size = 1 } } },
  { "Y2", "an only one of some", OTHER_CONTENT, .frames = { { "a", .size = -1 } } },
  { "Y2", "an entry of 4 GiB", UNEQUAL, .frames = { { "abcd", .size = -5 }, B } },
  /* Y3: a skippable frame of that size, n entries, which ends the content; no flag but bit 7 */
  { "Y3", "no table", NO_TABLE, .frames = { A, B, C }, .no_table = true },
  { "Y3", "no byte", TOO_SHORT, .no_table = true },
  { "Y3", "a byte less than an empty table", TOO_SHORT, .cut = 1 },
  { "Y3", "a table cut by a byte", NO_TABLE, .frames = { A, B, C }, .cut = 1 },
  { "Y3", "a table without its foot", NO_TABLE, .frames = { A, B, C }, .cut = 9 },
  { "Y3", "a byte behind it", NO_TABLE, .frames = { A, B, C }, .after = "x" },
  { "Y3", "a foot behind it", TOO_LARGE, .frames = { A, B, C }, .after = "\x03\x01\x01\x01\x80\xB1\xEA\x92\x8F" },
  { "Y3", "another magic number at its end", NO_TABLE, .frames = { A, B, C }, .magic = 0x8F92EAB0 },
  { "Y3", "another magic number at its head", WRONG_SIZE, .frames = { A, B, C }, .head = 0x184D2A5D },
  { "Y3", "a reserved flag", NO_TABLE, .frames = { A, B, C }, .flags = 0x40 },
  { "Y3", "an unused flag", NO_TABLE, .frames = { A, B, C }, .flags = 0x01 },
  { "Y3", "a reserved flag beside bit 7", NO_TABLE, .frames = { A, B, C }, .sums = true, .flags = 0x84 },
  { "Y3", "bit 7 without checksums", WRONG_SIZE, .frames = { A, B, C }, .flags = SUMS },
  { "Y3", "checksums without bit 7", WRONG_SIZE, .frames = { A, B, C }, .sums = true },
  { "Y3", "a size a byte too large", WRONG_SIZE, .frames = { A, B, C }, .size = 1 },
  { "Y3", "a size a byte too small", WRONG_SIZE, .frames = { A, B, C }, .size = -1 },
  { "Y3", "a size an entry too large", WRONG_SIZE, .frames = { A, B, C }, .size = 8 },
  { "Y3", "an entry too many", WRONG_SIZE, .frames = { A, B, C }, .n = 1 },
  { "Y3", "an entry too few", WRONG_SIZE, .frames = { A, B, C }, .n = -1 },
  { "Y3", "no entry for three frames", WRONG_SIZE, .frames = { A, B, C }, .n = -3 },
  { "Y3", "more entries than there are bytes", TOO_LARGE, .frames = { A, B, C }, .n = 100 },
  { "Y3", "2^32-1 entries", TOO_LARGE, .frames = { A, B, C }, .n = 0xFFFFFFFF-3 },
  { "Y3", "2^29 entries, whose size is 0 of 32 bits", TOO_LARGE, .frames = { A, B, C }, .n = (1<<29)-3 },
  { "Y3", "an entry of none", TOO_LARGE, .n = 1 },
  /* Y4: stored add up to where the table begins, content to decoded_length */
  { "Y4", "a byte before the frames", STORED, .frames = { A, B, C }, .before = "x" },
  { "Y4", "a byte between frames and table", STORED, .frames = { A, B, C }, .between = "x" },
  { "Y4", "a frame of which no entry tells", STORED, .frames = { A, B, C }, .between = "\x50\x2A\x4D\x18\x01\x01\x01\x01" },
  { "Y4", "an entry of a byte less", STORED, .frames = { A, B, { "ij", .stored = -1 } } },
  { "Y4", "an entry of a byte more", STORED, .frames = { { "abcd", .stored = 1 }, B, C } },
  { "Y4", "stored bytes that add up to 2^32 more", STORED, .frames = { { "abcd", .stored = -20 }, { "efgh", .stored = 20 }, C }, .total = 0 },
  { "Y4", "stored bytes of an empty part", STORED, .between = "x" },
  { "Y4", "a decoded_length of a byte more", DECODED, .frames = { A, B, C }, .total = 1 },
  { "Y4", "a decoded_length of a byte less", DECODED, .frames = { A, B, C }, .total = -1 },
  { "Y4", "a decoded_length of nothing", DECODED, .frames = { A }, .total = -4 },
  { "Y4", "a decoded_length of an empty part", DECODED, .total = 1 },
  { "Y4", "the last entry a byte more", DECODED, .frames = { A, B, { "ij", .size = 1 } } , .total = -1 },
};

static void put_row_frame(blob *b, const row_frame *f){
  size_t n = strlen(f->content), before = b->n;
  switch( f->kind ){
    case SKIPPABLE:
      put_le32(b, 0x184D2A50);
      put_le32(b, n);
      put(b, f->content, n);
      break;
    case TWO_FRAMES:
      put_frame(b, f->content, n/2, 0);
      put_frame(b, f->content+n/2, n-n/2, 0);
      break;
    case NOTHING: break;
    case LEGACY:   /* A frame that names a dictionary, 1: its descriptor says so, and the number follows */
      put_hex(b, "28b52ffd 25 01 04 2100 00");
      put(b, f->content, 4);
      put_le32(b, XXH64(f->content, 4, 0));
      break;
    default: put_frame(b, f->content, n, f->flags); break;
  }
  if( f->kind==FRAME_AND_SKIPPABLE ) put_hex(b, "502a4d18 00000000");
  if( f->flip ) b->p[b->n-(size_t)f->flip] ^= 1;
  assert_true(b->n>=before);
}

static blob part_of(const row *r, uint64_t *total){
  blob b = { 0 }, entries = { 0 };
  uint32_t n = 0;
  size_t bytes;
  *total = 0;
  if( r->before ) put(&b, r->before, strlen(r->before));
  for(const row_frame *f=r->frames; f->content; f++, n++){
    size_t before = b.n;
    put_row_frame(&b, f);
    put_le32(&entries, b.n-before+(uint64_t)(int64_t)f->stored);
    put_le32(&entries, strlen(f->content)+(uint64_t)(int64_t)f->size);
    if( r->sums ) put_le32(&entries, XXH64(f->content, strlen(f->content), 0));
    *total += strlen(f->content)+(uint64_t)(int64_t)f->size;
  }
  *total += (uint64_t)(int64_t)r->total;
  if( r->between ) put(&b, r->between, strlen(r->between));
  if( !r->no_table ){
    put_le32(&b, r->head ? r->head : 0x184D2A5E);
    put_le32(&b, entries.n+9+(uint64_t)r->size);
    put(&b, entries.p, entries.n);
    put_le32(&b, n+(uint64_t)r->n);
    put_byte(&b, r->flags);
    put_le32(&b, r->magic ? r->magic : 0x8F92EAB1);
  }
  if( r->after ) put(&b, r->after, strlen(r->after));
  bytes = b.n-r->cut;
  b.n = bytes;
  free(entries.p);
  return seal(&b);
}

/* Whole, in pieces, and backwards; from memory and from a file. */
static void check_row(const row *r, blob part, uint64_t total, const char *content){
  char expected[200];
  for(int as_file=0; as_file<2; as_file++){
    for(size_t piece=1; piece<=20; piece = piece<4 ? piece+1 : piece*2){
      for(int back=0; back<2; back++){
        zt_error err = ZT_ERROR_NONE;
        uint8_t out[64], all[64] = { 0 };
        zt_stream *stream;
        zt_buffer buffer;
        subject s;
        open_subject(&s, part, total, as_file);
        zt_content_read(&s.payload, 0, ALL, &buffer, &err);
        for(int k=0; k<2; k++){
          if( r->message ){
            check( err.rc!=SQLITE_OK, "%s, %s: accepted", r->rule, r->what );
            snprintf(expected, sizeof(expected), "ztensor: " SEEKABLE ": %s", back && r->back && strstr(err.message, r->back) ? r->back : r->message);
            check( err.rc==SQLITE_ERROR, "%s, %s: accepted", r->rule, r->what );
            check( strcmp(err.message, expected)==0, "%s, %s: '%s', expected '%s'", r->rule, r->what, err.message, expected );
            check( err.rule && strcmp(err.rule, r->rule)==0, "%s, %s: against %s", r->rule, r->what, err.rule ? err.rule : "no rule" );
            check( buffer.p==NULL && buffer.n==0, "%s", r->what );
          }else{
            assert_succeeded(&err, r->what);
            if( k==0 ) check( buffer.n==total && (total==0 || memcmp(buffer.p, content, (size_t)total)==0), "%s", r->what );
            else check( memcmp(all, content, (size_t)total)==0, "%s: in pieces of %zu", r->what, piece );
          }
          zt_error_clear(&err);
          zt_buffer_clear(&buffer);
          if( k ) break;
          assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
          for(uint64_t i=0, n=total/piece+1; i<n && !err.rc; i++){
            uint64_t at = (back ? n-1-i : i)*piece;
            size_t got;
            zt_stream_read(stream, at, out, piece, &got, &err);
            if( at<64 ) memcpy(all+at, out, got<64-at ? got : 64-(size_t)at);
            if( at>1000 ) break;
          }
          zt_stream_close(stream);
        }
        close_subject(&s);
      }
    }
  }
}

TEST(test_a_part_that_breaks_a_rule_is_refused_for_it){
  for(size_t i=0; i<COUNT(rows); i++){
    char content[64] = "";
    uint64_t total;
    blob part = part_of(&rows[i], &total);
    for(const row_frame *f=rows[i].frames; f->content; f++) strcat(content, f->content);
    if( total>1000 ) total = 1000;   /* Nothing like it is there */
    check_row(&rows[i], part, total, content);
    free(part.p);
  }
}

TEST(test_every_rule_has_rows){
  static const char *const all[] = { "Y1", "Y2", "Y3", "Y4", "" };
  for(size_t i=0; i<COUNT(all); i++){
    size_t n = 0;
    for(size_t k=0; k<COUNT(rows); k++) n += strcmp(rows[k].rule, all[i])==0 && !rows[k].message==!all[i][0];
    check( n>=3, "%s: %zu rows", all[i], n );
  }
}

/* Frames of 16 MiB and no more, and a stored frame that is longer than any of that content need be. */
TEST(test_frames_of_more_than_16_mib){
  blob b = { 0 };
  uint64_t n = 17*MIB;
  for(size_t more=0; more<2; more++){
    blob content = large_content(16*MIB+more), part = seekable_part(content.p, content.n, content.n, SUMS, NULL);
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    subject s;
    open_subject(&s, part, content.n, more);
    if( more ){
      assert_int_equal(zt_content_read(&s.payload, 5, 1, &out, &err), SQLITE_ERROR);
      assert_string_equal(err.rule, "Y2");
      assert_failed(&err, UNEQUAL, "16 MiB and a byte");
    }else{
      check_range(&s, content, 0, ALL, "16 MiB");
      check_range(&s, content, 16*MIB-1, 2, "16 MiB");
    }
    close_subject(&s);
    free(part.p);
    free(content.p);
  }
  put_frame(&b, "a", 1, 0);
  put_repeated(&b, 0, (size_t)n-b.n);
  put_hex(&b, "5e2a4d18 11000000");
  put_le32(&b, n);
  put_hex(&b, "01000000 01000000 00 b1ea928f");
  for(int as_file=0; as_file<2; as_file++){
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    subject s;
    open_subject(&s, b, 1, as_file);
    assert_int_equal(zt_content_read(&s.payload, 0, ALL, &out, &err), SQLITE_ERROR);
    assert_string_equal(err.rule, "Y2");
    assert_failed(&err, "a frame of more stored bytes than 16 MiB can need", "17 MiB of stored bytes");
    close_subject(&s);
  }
  free(b.p);
}

/* A frame that decodes to very much writes no byte beyond what its entry tells: AddressSanitizer looks. */
TEST(test_a_frame_that_decodes_to_much_more_than_told){
  blob content = large_content(8*MIB);
  for(unsigned flags=0; flags<=NO_CONTENT_SIZE; flags+=NO_CONTENT_SIZE){
    blob b = { 0 };
    size_t n = put_frame(&b, content.p, content.n, flags);
    put_hex(&b, "5e2a4d18 11000000");
    put_le32(&b, n);
    put_hex(&b, "64000000 01000000 00 b1ea928f");
    for(uint64_t start=0; start<2; start++){
      zt_error err = ZT_ERROR_NONE;
      zt_buffer out;
      subject s;
      open_subject(&s, b, 100, false);
      assert_int_equal(zt_content_read(&s.payload, start, ALL, &out, &err), SQLITE_ERROR);
      assert_string_equal(err.rule, "Y2");
      assert_failed(&err, OTHER_CONTENT, "much more");
      close_subject(&s);
    }
    free(b.p);
  }
  free(content.p);
}

/* Each byte of a part changed: it is refused, or decodes to the same (a checksum of the table is another's business). */
TEST(test_any_byte_changed_is_found_or_makes_no_difference){
  size_t *starts, same = 0;
  blob content = counted(50), part = seekable_part(content.p, content.n, 20, SUMS, &starts);
  for(size_t i=0; i<part.n; i++){
    for(int bit=0; bit<8; bit++){
      zt_error err = ZT_ERROR_NONE;
      blob changed = exact(part.p, part.n);
      zt_buffer out;
      subject s;
      changed.p[i] ^= (uint8_t)(1<<bit);
      open_subject(&s, changed, content.n, false);
      if( zt_content_read(&s.payload, 0, ALL, &out, &err)==SQLITE_OK ){
        check( out.n==content.n && memcmp(out.p, content.p, content.n)==0, "byte %zu, bit %d: other content", i, bit );
        same++;
      }else{
        check( err.rc==SQLITE_ERROR && err.rule && err.rule[0]=='Y', "byte %zu, bit %d: %s", i, bit, err.message );
      }
      zt_buffer_clear(&out);
      zt_error_clear(&err);
      close_subject(&s);
      free(changed.p);
    }
  }
  check( same<=3*32+3*8, "%zu changes make no difference", same );
  free(content.p);
  free(part.p);
  free(starts);
}

TEST(test_a_part_cut_anywhere_is_refused){
  blob content = counted(50), part = seekable_part(content.p, content.n, 20, 0, NULL);
  for(size_t n=0; n<part.n; n++){
    zt_error err = ZT_ERROR_NONE;
    blob cut = exact(part.p, n);
    zt_buffer out;
    subject s;
    open_subject(&s, cut, content.n, n%2);
    check( zt_content_read(&s.payload, 7, 1, &out, &err)==SQLITE_ERROR && strcmp(err.rule, "Y3")==0, "%zu bytes", n );
    zt_error_clear(&err);
    close_subject(&s);
    free(cut.p);
  }
  free(content.p);
  free(part.p);
}

/* An encoding that the driver does not know is not decoded, whatever its name. */
TEST(test_an_encoding_that_the_driver_does_not_know){
  blob content = counted(10), part = seekable_part(content.p, content.n, 5, 0, NULL);
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  subject s;
  open_subject(&s, part, content.n, false);
  s.component.codec = ZT_CODEC_UNKNOWN;
  assert_int_equal(zt_content_read(&s.payload, 0, ALL, &out, &err), SQLITE_ERROR);
  assert_string_equal(err.rule, "E1");
  assert_failed(&err, "encoding '" SEEKABLE "' is not known", "E1");
  close_subject(&s);
  free(content.p);
  free(part.p);
}

int main(void){
  return run_all("seekable", make_file, remove_file);
}
