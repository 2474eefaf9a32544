/* A component's bytes from front to back and the elements among them: tensor/stream.h and tensor/array.h. */
#include "subject.h"
#include "tensors.h"

#include "tensor/array.h"
#include "tensor/encoding.h"
#include "tensor/stream.h"

/* --- A component at the very end of a file --- */

#define OFFSET 64

/* The object has `told` bytes, as u8 elements. */
static void open_subject(subject *s, const void *stored, size_t n, const char *encoding, known_by by, uint64_t told, bool as_file){
  place_subject(s, OFFSET, (zt_span){ stored, n }, 0, encoding, as_file);
  tell_length(s, by, told);
}

static zt_stream *open_stream(const subject *s){
  zt_error err = ZT_ERROR_NONE;
  zt_stream *stream;
  zt_stream_open(&s->payload, &stream, &err);
  assert_succeeded(&err, "open");
  return stream;
}

/* The stored bytes of n bytes of content, in these forms. */
enum { PLAIN, ONE_FRAME, FRAMES, FORMS };

static blob stored_as(int form, const uint8_t *content, size_t n){
  blob b = { 0 };
  if( form==PLAIN ) put(&b, content, n);
  if( form==ONE_FRAME ) put_zstd(&b, content, n);
  if( form==FRAMES ){
    put_zstd(&b, content, n/3);
    put_zstd(&b, NULL, 0);
    put_hex(&b, "512a4d18 03000000 010203");   /* A skippable one */
    put_zstd(&b, content+n/3, n-n/3);
  }
  return seal(&b);
}

static const char *encoding_of(int form){
  return form==PLAIN ? "raw" : "zstd";
}

/* Bytes that compress and are nowhere the same for long. */
static uint8_t *make_content(size_t n){
  uint8_t *p = malloc(n+8);
  for(size_t i=0; i<n; i+=8){
    uint64_t u = (uint64_t)i/8 * 0x9E3779B97F4A7C15u >> 40;
    memcpy(p+i, &u, 8);
  }
  return p;
}

/* --- Reads in any order --- */

/* The bytes that a stream has decoded after a read, by the rules in its header. */
typedef struct model {
  uint64_t position, decoded, total;
  bool known, encoded, kept;
} model;

static void model_read(model *m, uint64_t offset, uint64_t n){
  uint64_t end = offset<m->total && n<m->total-offset ? offset+n : m->total;
  if( n==0 && offset<m->total ) end = offset;
  if( !m->encoded || m->kept || (m->known && offset>=m->total && m->total>0) ) return;
  if( m->known && offset<m->position ){   /* A read that goes back: all of it, once and for all */
    m->decoded += m->total;
    m->kept = true;
    return;
  }
  if( m->known && offset==0 && n==m->total && m->position==0 ){   /* In one call, which leaves the stream where it was */
    m->decoded += n;
    return;
  }
  if( offset<m->position ) m->position = 0;
  if( end>m->position ){
    m->decoded += end-m->position;
    m->position = end;
  }
  if( offset+n>m->total || offset>m->total ) m->known = true;
}

static void check_read(zt_stream *stream, const subject *s, model *m, const uint8_t *content, uint64_t offset, size_t n, const char *row){
  zt_error err = ZT_ERROR_NONE;
  uint8_t *out = malloc(n+1);
  size_t want = offset>=m->total ? 0 : n<m->total-offset ? n : (size_t)(m->total-offset), got = 99;
  zt_stream_read(stream, offset, out, n, &got, &err);
  assert_succeeded(&err, row);
  check( got==want, "%s: %zu of %zu bytes at %llu", row, got, want, (unsigned long long)offset );
  check( memcmp(out, content+(want ? offset : 0), want)==0, "%s: [%llu, +%zu)", row, (unsigned long long)offset, n );
  model_read(m, offset, n);
  check( s->budget.decoded==m->decoded, "%s: [%llu, +%zu): %llu bytes decoded, expected %llu", row, (unsigned long long)offset, n,
         (unsigned long long)s->budget.decoded, (unsigned long long)m->decoded );
  free(out);
}

TEST(test_reads_in_any_order){
  static const size_t sizes[] = { 1, 2, 100, 5000, 700000 };
  static const char *const names[] = { "raw", "one frame", "frames" };
  for(size_t z=0; z<COUNT(sizes); z++){
    size_t n = sizes[z];
    uint8_t *content = make_content(n);
    for(int form=0; form<FORMS; form++){
      blob stored = stored_as(form, content, n);
      for(int by=0; by<3; by++){
        for(int as_file=0; as_file<2; as_file++){
          uint64_t seed = n+(uint64_t)form;
          model m = { .total = n, .known = by!=BY_NOTHING || form==PLAIN, .encoded = form!=PLAIN };
          subject s;
          zt_stream *stream;
          open_subject(&s, stored.p, stored.n, encoding_of(form), (known_by)by, n, as_file);
          stream = open_stream(&s);
          assert_int_equal(s.budget.decoded, 0);
          for(uint64_t at=0, piece=n/7+1; at<n; at+=piece) check_read(stream, &s, &m, content, at, (size_t)piece, names[form]);   /* Front to back */
          for(int i=0; i<(n>10000 ? 12 : 60); i++){
            uint64_t offset = random_below(&seed, n+3), length = i%3 ? random_below(&seed, n+5) : random_below(&seed, 9);
            check_read(stream, &s, &m, content, offset, (size_t)length, names[form]);
            if( i%5==0 ) check_read(stream, &s, &m, content, offset+length, 7, names[form]);   /* On from there */
            if( i%7==0 ) check_read(stream, &s, &m, content, 0, n, names[form]);               /* All of it */
          }
          check_read(stream, &s, &m, content, UINT64_MAX, 5, names[form]);
          zt_stream_close(stream);
          close_subject(&s);
        }
      }
      free(stored.p);
    }
    free(content);
  }
  zt_stream_close(NULL);
}

TEST(test_skipping_decodes_no_more_than_it_must){
  enum { SIZE = 600000 };
  uint8_t *content = make_content(SIZE), byte;
  blob stored = stored_as(ONE_FRAME, content, SIZE);
  for(int by=0; by<3; by++){
    zt_error err = ZT_ERROR_NONE;
    subject s;
    zt_stream *stream;
    size_t got;
    open_subject(&s, stored.p, stored.n, "zstd", (known_by)by, SIZE, false);
    stream = open_stream(&s);
    for(uint64_t at=1000; at<SIZE; at+=150000){   /* Forward: each byte once */
      assert_int_equal(zt_stream_read(stream, at, &byte, 1, &got, &err), SQLITE_OK);
      assert_true(got==1 && byte==content[at]);
      assert_int_equal(s.budget.decoded, at+1);
    }
    s.budget.decoded = 0;
    assert_int_equal(zt_stream_read(stream, 5, &byte, 1, &got, &err), SQLITE_OK);   /* Back */
    assert_true(got==1 && byte==content[5]);
    assert_int_equal(s.budget.decoded, by==BY_NOTHING ? 6 : SIZE);   /* All of it where that is known to be not too much */
    for(uint64_t at=SIZE-1; at>SIZE-100; at--){
      assert_int_equal(zt_stream_read(stream, at, &byte, 1, &got, &err), SQLITE_OK);
      assert_true(got==1 && byte==content[at]);
      if( by!=BY_NOTHING ) assert_int_equal(s.budget.decoded, SIZE);   /* And never again */
    }
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(stored.p);
  free(content);
}

/* A fault at the end does not spoil the bytes before it, in any order of reads. */
TEST(test_going_back_before_a_fault){
  enum { SIZE = 600000 };
  uint8_t *content = make_content(SIZE), byte;
  blob stored = stored_as(ONE_FRAME, content, SIZE);
  for(int by=0; by<2; by++){
    zt_error err = ZT_ERROR_NONE;
    subject s;
    zt_stream *stream;
    size_t got;
    open_subject(&s, stored.p, stored.n-1, "zstd", by ? BY_FIELD : BY_NOTHING, SIZE, false);   /* Cut */
    stream = open_stream(&s);
    for(uint64_t at=1000; at>0; at-=100){
      assert_int_equal(zt_stream_read(stream, at, &byte, 1, &got, &err), SQLITE_OK);
      assert_true(got==1 && byte==content[at]);
    }
    assert_int_equal(zt_stream_read(stream, SIZE-1, &byte, 1, &got, &err), SQLITE_ERROR);
    zt_error_clear(&err);
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(stored.p);
  free(content);
}

TEST(test_the_length){
  uint8_t *content = make_content(1000);
  for(int form=0; form<FORMS; form++){
    blob stored = stored_as(form, content, 1000);
    for(int by=0; by<3; by++){
      zt_error err = ZT_ERROR_NONE;
      bool known = form==PLAIN || by!=BY_NOTHING;
      uint64_t n = 5;
      model m;
      subject s;
      zt_stream *stream;
      open_subject(&s, stored.p, stored.n, encoding_of(form), (known_by)by, 1000, false);
      stream = open_stream(&s);
      for(int again=0; again<2; again++){
        assert_int_equal(zt_stream_length(stream, &n, &err), SQLITE_OK);
        assert_int_equal(n, 1000);
        assert_int_equal(s.budget.decoded, known ? 0 : 1000);   /* Once */
      }
      m = (model){ .total = 1000, .known = true, .encoded = form!=PLAIN, .decoded = s.budget.decoded, .position = known ? 0 : 1000 };
      check_read(stream, &s, &m, content, 10, 20, "after the length");
      zt_stream_close(stream);
      close_subject(&s);
    }
    free(stored.p);
  }
  free(content);
}

TEST(test_no_content){
  static const struct { const char *what, *encoding, *hex, *fault; } rows[] = {
    { "raw", "raw", "", NULL }, { "no stored byte", "zstd", "", NULL }, { "an empty frame", "zstd", "28b52ffd 20 00 010000", NULL },
    { "a skippable frame", "zstd", "502a4d18 01000000 00", NULL }, { "no frame", "zstd", "00112233 44", "zstd: Unknown frame descriptor" },
    { "a frame cut", "zstd", "28b52ffd 20 00 0100", "zstd: " }, { "a frame that is not empty", "zstd", "28b52ffd2004 210000 61626364", "zstd: decodes to more than the 0 bytes" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob stored = blob_of(rows[i].hex);
    for(int by=0; by<3; by++){
      zt_error err = ZT_ERROR_NONE;
      subject s;
      zt_stream *stream;
      uint8_t byte;
      size_t got = 9;
      uint64_t n = 9;
      if( by==BY_NOTHING && i==6 ) continue;   /* The length is not known */
      open_subject(&s, stored.p, stored.n, rows[i].encoding, (known_by)by, 0, false);
      stream = open_stream(&s);
      for(size_t ask=0; ask<2; ask++){   /* Even where nothing is wanted, all is looked at */
        zt_stream_read(stream, 0, &byte, ask, &got, &err);
        assert_int_equal(got, 0);
        if( rows[i].fault && (ask || by!=BY_NOTHING) ) assert_failed(&err, rows[i].fault, rows[i].what);
        else assert_succeeded(&err, rows[i].what);
      }
      zt_stream_close(stream);
      stream = open_stream(&s);
      zt_stream_length(stream, &n, &err);
      if( rows[i].fault && by==BY_NOTHING ) assert_failed(&err, rows[i].fault, rows[i].what);
      else{
        assert_succeeded(&err, rows[i].what);
        assert_int_equal(n, 0);
      }
      zt_stream_close(stream);
      close_subject(&s);
    }
    free(stored.p);
  }
}

/* --- Content that is not as told --- */

/* The fault shows with the last byte that is told, and not before. */
TEST(test_content_that_is_not_as_told){
  enum { SIZE = 300000 };
  static const struct { const char *what; uint64_t told; size_t cut; const char *more; uint64_t good; const char *message; } rows[] = {
    /* good: bytes that can be read */
    { "E4: longer", SIZE-1, 0, "", SIZE-2, "zstd: decodes to more than the 299999 bytes that the manifest states" },
    { "E4: much longer", 5, 0, "", 4, "zstd: decodes to more than the 5 bytes that the manifest states" },
    { "E3: shorter", SIZE+1, 0, "", SIZE, "zstd: decodes to 300000 bytes, the manifest states 300001" },
    { "E3: much shorter", 4*SIZE, 0, "", SIZE, "zstd: decodes to 300000 bytes, the manifest states 1200000" },
    { "E2: cut", SIZE, 1, "", 200000, "zstd: " },
    { "E2: garbage behind", SIZE, 0, "6761726261676521", SIZE-1, "zstd: Unknown frame descriptor" },
    { "E2: a byte behind", SIZE, 0, "00", SIZE-1, "zstd: " },
    { "E2: a frame cut behind", SIZE, 0, "28b52ffd 20", SIZE-1, "zstd: " },
    { "E4: a frame behind", SIZE, 0, "28b52ffd2004 210000 61626364", SIZE-1, "zstd: decodes to more than the 300000 bytes that the manifest states" },
  };
  uint8_t *content = make_content(SIZE), *out = malloc(4*SIZE);
  for(size_t i=0; i<COUNT(rows); i++){
    for(int by=0; by<2; by++){
      for(int as_file=0; as_file<2; as_file++){
        zt_error err = ZT_ERROR_NONE;
        blob stored = { 0 };
        subject s;
        zt_stream *stream;
        size_t got;
        put_zstd(&stored, content, SIZE);
        stored.n -= rows[i].cut;
        put_hex(&stored, rows[i].more);
        open_subject(&s, stored.p, stored.n, "zstd", (known_by)by, rows[i].told, as_file);
        stream = open_stream(&s);
        for(int again=0; again<2; again++){   /* A failure is none for ever */
          assert_int_equal(zt_stream_read(stream, 0, out, (size_t)rows[i].good, &got, &err), SQLITE_OK);
          check( got==rows[i].good && memcmp(out, content, got)==0, "%s: %zu", rows[i].what, got );
          got = 99;
          check( zt_stream_read(stream, rows[i].good, out, (size_t)(rows[i].told-rows[i].good), &got, &err)==SQLITE_ERROR, "%s: accepted", rows[i].what );
          check( got==0, "%s", rows[i].what );
          assert_failed(&err, rows[i].message, rows[i].what);
          got = 99;
          check( zt_stream_read(stream, 0, out, (size_t)rows[i].told, &got, &err)==SQLITE_ERROR && got==0, "%s: accepted as a whole", rows[i].what );
          zt_error_clear(&err);
        }
        zt_stream_close(stream);
        stream = open_stream(&s);
        check( zt_stream_read(stream, rows[i].told-1, out, 100, &got, &err)==SQLITE_ERROR && got==0, "%s: accepted the last byte", rows[i].what );
        assert_failed(&err, rows[i].message, rows[i].what);
        zt_stream_close(stream);
        close_subject(&s);
        free(stored.p);
      }
    }
  }
  free(out);
  free(content);
}

/* The same is said of a frame whether it begins the content, or its header is in two of the pieces that are read. */
TEST(test_windows_that_are_too_large){
#define LIMIT "zstd: a frame's window is more than the limit of 134217728 bytes"
  static const struct { const char *header; uint64_t known; unsigned readers; int rc; const char *message; } rows[] = {
    { "28b52ffd a0 00000010 010000", (uint64_t)1<<28, 1, SQLITE_TOOBIG, LIMIT },       /* As many bytes as are told */
    { "28b52ffd 00 90 010000", true, 1, SQLITE_TOOBIG, LIMIT },                        /* 2^28 bytes */
    { "28b52ffd 00 88 010000", true, 3, SQLITE_TOOBIG, "zstd: a frame's window is more than the limit of 33554432 bytes for each of 3 readers" },
    { "28b52ffd 00 f8 010000", true, 1, SQLITE_ERROR, "zstd: Frame requires too much memory for decoding" },   /* 2^41 bytes */
    { "28b52ffd a0 00000010 010000", true, 1, SQLITE_ERROR, "zstd: decodes to more than the 99 bytes that the manifest states" },
    { "28b52ffd a0 00000010 010000", false, 1, SQLITE_TOOBIG, LIMIT },                 /* A single segment */
    { "28b52ffd e0 ffffffffffffffff 010000", true, 1, SQLITE_ERROR, "zstd: decodes to more than the 99 bytes that the manifest states" },
    { "28b52ffd e0 ffffffffffffffff 010000", false, 1, SQLITE_TOOBIG, LIMIT },
  };
  static const size_t before[] = { 0, (256<<10)-1, (256<<10)-3, (256<<10)-5, (256<<10)-6, 256<<10 };
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t k=0; k<COUNT(before); k++){
      for(int as_file=0; as_file<2; as_file++){
        zt_error err = ZT_ERROR_NONE;
        blob stored = { 0 };
        uint8_t out[2];
        subject s;
        zt_stream *stream;
        size_t got;
        if( before[k] ){   /* A skippable frame */
          put_hex(&stored, "512a4d18");
          put_bits(&stored, before[k]-8, 4);
          put_repeated(&stored, 7, before[k]-8);
        }
        put_hex(&stored, rows[i].header);
        open_subject(&s, stored.p, stored.n, "zstd", rows[i].known ? BY_FIELD : BY_NOTHING,
                     rows[i].known>1 ? rows[i].known : 99, as_file);
        s.payload.side_by_side = rows[i].readers;
        stream = open_stream(&s);
        check( zt_stream_read(stream, 0, out, 2, &got, &err)==rows[i].rc && got==0, "row %zu, %zu: %d", i, before[k], err.rc );
        check( strcmp(err.message+9, rows[i].message)==0, "row %zu, %zu: %s", i, before[k], err.message );
        zt_error_clear(&err);
        zt_stream_close(stream);
        close_subject(&s);
        free(stored.p);
      }
    }
  }
}

/* The stated bytes and those around them are more than 64 bits count. */
TEST(test_content_of_more_than_2_64_bytes){
  static const struct { uint64_t told, skip, behind; bool fits; } rows[] = {
    { UINT64_MAX, 0, 0, true }, { UINT64_MAX, 1, 0, false }, { UINT64_MAX-1, 1, 0, true }, { UINT64_MAX-1, 1, 1, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int known=0; known<2; known++){
      zt_error err = ZT_ERROR_NONE;
      zt_stream *stream;
      subject s;
      open_subject(&s, "", 0, "zstd", known ? BY_FIELD : BY_NOTHING, rows[i].told, false);
      s.component.skip = rows[i].skip;
      s.component.behind = rows[i].behind;
      zt_stream_open(&s.payload, &stream, &err);
      if( rows[i].fits || !known ) assert_succeeded(&err, "it fits");
      else{
        assert_int_equal(err.rc, SQLITE_TOOBIG);
        assert_string_equal(err.message, "ztensor: shape and dtype make more than 2^64 bytes");
        assert_null(stream);
      }
      zt_error_clear(&err);
      zt_stream_close(stream);
      close_subject(&s);
    }
  }
}

/* Where there is no content, any place is its end. */
TEST(test_places_behind_no_content){
  static const struct { const zt_encoding *encoding; zt_codec_id codec; } rows[] = {
    { &zt_encoding_kept, ZT_CODEC_KEPT }, { &zt_encoding_pieces, ZT_CODEC_PIECES }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_decoder *decoder;
    uint64_t position = 7;
    uint8_t byte;
    size_t got = 7;
    subject s;
    open_subject(&s, "", 0, "raw", BY_FIELD, 0, false);
    s.component.codec = rows[i].codec;
    assert_int_equal(rows[i].encoding->open(&s.payload, &decoder, &err), SQLITE_OK);
    assert_int_equal(rows[i].encoding->seek(decoder, 5, &position, &err), SQLITE_OK);
    assert_int_equal(rows[i].encoding->next(decoder, &byte, 1, &got, &err), SQLITE_OK);
    check( position==0 && got==0, "row %zu: %llu, %zu", i, (unsigned long long)position, got );
    rows[i].encoding->close(decoder);
    close_subject(&s);
  }
}

/* An array of bytes needs no dtype; its order is that of bytes. */
TEST(test_an_array_of_a_component_without_a_dtype){
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[3];
  zt_array a;
  subject s;
  open_subject(&s, "abc", 3, "raw", BY_FIELD, 3, false);
  s.component.storage = NULL;
  s.component.byte_order = ZT_TEXT("big");
  assert_int_equal(zt_array_open_part(&s.payload, named("u8"), 0, 3, &a, &err), SQLITE_OK);
  assert_int_equal(zt_array_read(&a, 0, 3, out, &err), SQLITE_OK);
  assert_memory_equal(out, "abc", 3);
  assert_int_equal(a.big, 0);
  zt_array_close(&a);
  close_subject(&s);
}

/* All bytes may be skipped, and more than there are: where the length is not stated, decoding shows it. */
TEST(test_content_that_ends_before_the_bytes_that_are_skipped){
  blob stored = stored_as(ONE_FRAME, (const uint8_t*)"0123456789", 10);
  for(uint64_t skip=9; skip<=11; skip++){
    zt_error err = ZT_ERROR_NONE;
    uint64_t n = 7;
    subject s;
    zt_stream *stream;
    open_subject(&s, stored.p, stored.n, "zstd", BY_NOTHING, 1, false);
    s.component.skip = skip;
    stream = open_stream(&s);
    zt_stream_length(stream, &n, &err);
    if( skip>10 ) assert_failed(&err, "zstd: decodes to 10 bytes, and 11 lie around its own", "skipped");
    else{
      assert_succeeded(&err, "skipped");
      assert_int_equal(n, 10-skip);
    }
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(stored.p);
}

/* Stored bytes that are more than one call decodes, though their content is not: it is not kept, either. */
TEST(test_much_that_is_stored_for_little){
  enum { SKIPPED = 33<<20 };
  blob b = { 0 };
  put_hex(&b, "512a4d18");
  put_bits(&b, SKIPPED, 4);
  put_repeated(&b, 0, SKIPPED);
  put_zstd(&b, "0123456789", 10);
  for(int back=0; back<2; back++){
    zt_error err = ZT_ERROR_NONE;
    uint8_t out[10];
    subject s;
    zt_stream *stream;
    size_t got;
    open_subject(&s, b.p, b.n, "zstd", BY_FIELD, 10, false);
    stream = open_stream(&s);
    if( back ) zt_stream_read(stream, 3, out, 5, &got, &err);
    zt_stream_read(stream, 0, out, 10, &got, &err);
    assert_succeeded(&err, "much");
    assert_int_equal(got, 10);
    assert_memory_equal(out, "0123456789", 10);
    assert_int_equal(s.budget.decoded, back ? 18 : 10);
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(b.p);
}

/* A second read at the end gives the same answer. */
TEST(test_content_that_is_too_short_stays_so){
  uint8_t out[10];
  blob stored = stored_as(ONE_FRAME, (const uint8_t*)"0123456789", 10);
  zt_error err = ZT_ERROR_NONE;
  subject s;
  zt_stream *stream;
  size_t got;
  open_subject(&s, stored.p, stored.n, "zstd", BY_FIELD, 12, false);
  stream = open_stream(&s);
  for(int again=0; again<3; again++){
    check( zt_stream_read(stream, 10, out, 2, &got, &err)==SQLITE_ERROR, "time %d: accepted, %zu bytes", again, got );
    assert_failed(&err, "zstd: decodes to 10 bytes, the manifest states 12", "too short");
  }
  zt_stream_close(stream);
  close_subject(&s);
  free(stored.p);
}

/* Where nothing is told, the end shows it. */
TEST(test_faults_of_content_of_unknown_length){
  static const struct { const char *what; size_t cut; const char *more; bool ok; } rows[] = {
    { "sound", 0, "", true }, { "another frame", 0, "28b52ffd2004 210000 61626364", true }, { "cut", 1, "", false }, { "garbage", 0, "6761726261676521", false }, { "a byte", 0, "00", false },
  };
  enum { SIZE = 300000 };   /* More than one block of a frame */
  uint8_t *content = make_content(SIZE), *out = malloc(SIZE+1000);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob stored = { 0 };
    subject s;
    zt_stream *stream;
    uint64_t n;
    size_t got;
    put_zstd(&stored, content, SIZE);
    stored.n -= rows[i].cut;
    put_hex(&stored, rows[i].more);
    open_subject(&s, stored.p, stored.n, "zstd", BY_NOTHING, 0, false);
    stream = open_stream(&s);
    assert_int_equal(zt_stream_read(stream, 0, out, 100, &got, &err), SQLITE_OK);
    check( zt_stream_read(stream, 0, out, SIZE+1000, &got, &err)==(rows[i].ok ? SQLITE_OK : SQLITE_ERROR), "%s: %d %s", rows[i].what, err.rc, err.message ? err.message : "" );
    if( rows[i].ok ) assert_int_equal(got, SIZE+(i==1)*4);
    else assert_failed(&err, "zstd: ", rows[i].what);
    check( zt_stream_length(stream, &n, &err)==(rows[i].ok ? SQLITE_OK : SQLITE_ERROR), "%s: %d %s", rows[i].what, err.rc, err.message ? err.message : "" );
    zt_error_clear(&err);
    zt_stream_close(stream);
    close_subject(&s);
    free(stored.p);
  }
  free(out);
  free(content);
}

/* Decoded bytes in front that are none of the component's: read in any way, they are not there. */
TEST(test_bytes_in_front_are_skipped){
  enum { BYTES = 3000 };
  static const size_t skips[] = { 0, 1, 128, BYTES-1, BYTES };
  uint8_t *content = make_content(BYTES), *out = malloc(BYTES);
  for(int form=0; form<FORMS; form++){
    for(size_t i=0; i<COUNT(skips); i++){
      for(int by=0; by<3; by++){
        zt_error err = ZT_ERROR_NONE;
        blob stored = stored_as(form, content, BYTES);
        size_t n = BYTES-skips[i], got;
        uint64_t length = 0;
        zt_stream *stream;
        subject s;
        open_subject(&s, stored.p, stored.n, form==PLAIN ? "raw" : "zstd", (known_by)by, n, false);
        s.component.skip = skips[i];
        stream = open_stream(&s);
        assert_int_equal(zt_stream_length(stream, &length, &err), SQLITE_OK);
        assert_int_equal(length, n);
        for(size_t from=0; from<=n; from+=n/3+1){   /* And back to the front */
          assert_int_equal(zt_stream_read(stream, from, out, BYTES, &got, &err), SQLITE_OK);
          assert_int_equal(got, n-from);
          if( got ) assert_memory_equal(out, content+skips[i]+from, got);
          assert_int_equal(zt_stream_read(stream, 0, out, n ? 1 : 0, &got, &err), SQLITE_OK);
          if( n ) assert_int_equal(out[0], content[skips[i]]);
        }
        zt_stream_close(stream);
        close_subject(&s);
        free(stored.p);
      }
    }
  }
  free(out);
  free(content);
}

TEST(test_what_cannot_be_opened){
  static const struct { const char *encoding, *dtype; uint64_t elements; int rc; const char *message; } rows[] = {
    { "lz4", "u8", 4, SQLITE_ERROR, "encoding 'lz4' is not known" }, { "", "u8", 4, SQLITE_ERROR, "encoding '' is not known" },
    { "zstd", "f64", (uint64_t)1<<61, SQLITE_TOOBIG, "shape and dtype make more than 2^64 bytes" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream = (zt_stream*)&err;
    subject s;
    open_subject(&s, "abcd", 4, rows[i].encoding, BY_SHAPE, rows[i].elements, false);
    s.component.dtype = (zt_text){ rows[i].dtype, strlen(rows[i].dtype) };
    zt_dtype_decide(&s.component);
    assert_int_equal(zt_stream_open(&s.payload, &stream, &err), rows[i].rc);
    assert_null(stream);
    check( strstr(err.message, rows[i].message)!=NULL, "%s", err.message );
    zt_error_clear(&err);
    close_subject(&s);
  }
}

/* The payload and its component may go; opening reads nothing. */
TEST(test_a_stream_keeps_its_component){
  uint8_t out[10];
  for(int form=0; form<FORMS; form++){
    blob stored = stored_as(form, (const uint8_t*)"0123456789", 10);
    zt_error err = ZT_ERROR_NONE;
    subject s;
    zt_stream *stream;
    size_t got;
    open_subject(&s, stored.p, stored.n, encoding_of(form), BY_FIELD, 10, true);
    stream = open_stream(&s);
    memset(&s.component, 0xFF, sizeof(s.component));
    memset(&s.payload, 0xFF, sizeof(s.payload));
    assert_int_equal(zt_stream_read(stream, 2, out, 8, &got, &err), SQLITE_OK);
    assert_true(got==8 && memcmp(out, "23456789", 8)==0);
    assert_int_equal(truncate(file_path, 0), 0);
    assert_int_equal(zt_stream_read(stream, 0, out, 10, &got, &err), SQLITE_ERROR);
    assert_failed(&err, "", "gone");
    zt_stream_close(stream);
    close_subject(&s);
    free(stored.p);
  }
}

/* Bytes read before and after belong to no one state of the file. */
TEST(test_a_file_that_changes_between_two_reads){
  uint8_t *content = make_content(900000), out[10];
  for(int form=0; form<FORMS; form++){
    blob stored = stored_as(form, content, 900000);
    zt_error err = ZT_ERROR_NONE;
    subject s;
    zt_stream *stream;
    FILE *f;
    size_t got;
    open_subject(&s, stored.p, stored.n, encoding_of(form), BY_FIELD, 900000, true);
    stream = open_stream(&s);
    assert_int_equal(zt_stream_read(stream, 0, out, 10, &got, &err), SQLITE_OK);
    f = fopen(file_path, "ab");
    fputc('x', f);
    fclose(f);
    assert_int_equal(zt_stream_read(stream, 10, out, 10, &got, &err), SQLITE_ERROR);
    assert_failed(&err, "the file was written to while it was read", "changed");
    zt_stream_close(stream);
    close_subject(&s);
    free(stored.p);
  }
  free(content);
}

/* --- Budgets and interrupts --- */

/* Bytes that are decoded again count again. */
TEST(test_the_budget_counts_across_reads){
  uint8_t *content = make_content(1000), out[1000];
  blob stored = stored_as(ONE_FRAME, content, 1000);
  for(int by=0; by<3; by++){
    zt_error err = ZT_ERROR_NONE;
    subject s;
    zt_stream *stream, *other;
    size_t got;
    open_subject(&s, stored.p, stored.n, "zstd", (known_by)by, 1000, false);
    s.budget.decode = 1500;
    stream = open_stream(&s);
    other = open_stream(&s);   /* They share it */
    assert_int_equal(zt_stream_read(stream, 0, out, 600, &got, &err), SQLITE_OK);
    assert_int_equal(zt_stream_read(other, 100, out, 400, &got, &err), SQLITE_OK);
    assert_int_equal(s.budget.decoded, 1100);
    assert_int_equal(zt_stream_read(stream, 600, out, 300, &got, &err), SQLITE_OK);
    assert_int_equal(s.budget.decoded, 1400);
    assert_int_equal(zt_stream_read(stream, 0, out, 100, &got, &err), SQLITE_OK);
    assert_int_equal(s.budget.decoded, 1500);
    assert_int_equal(zt_stream_read(stream, 100, out, 1, &got, &err), SQLITE_TOOBIG);
    assert_string_equal(err.message, "ztensor: zstd: more than 1500 bytes would have to be decoded");
    assert_int_equal(got, 0);
    zt_error_clear(&err);
    assert_int_equal(zt_stream_read(other, 999, out, 1, &got, &err), SQLITE_TOOBIG);
    zt_error_clear(&err);
    zt_stream_close(stream);
    stream = open_stream(&s);
    assert_int_equal(zt_stream_read(stream, 0, out, 1000, &got, &err), SQLITE_TOOBIG);
    zt_error_clear(&err);
    zt_stream_close(stream);
    zt_stream_close(other);
    close_subject(&s);
    open_subject(&s, content, 1000, "raw", (known_by)by, 1000, false);   /* Nothing is decoded of what is raw */
    s.budget.decode = 0;
    stream = open_stream(&s);
    assert_int_equal(zt_stream_read(stream, 0, out, 1000, &got, &err), SQLITE_OK);
    assert_int_equal(s.budget.decoded, 0);
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(stored.p);
  free(content);
}

/* Every few megabytes, be they read in small pieces or passed over; and not much more often. */
TEST(test_asking_whether_to_go_on){
  enum { SIZE = 24<<20, PIECE = 64<<10 };
  uint8_t *content = make_content(SIZE), *out = malloc(SIZE);
  for(int form=0; form<FORMS; form++){
    blob stored = stored_as(form, content, SIZE);
    for(int way=0; way<3; way++){   /* Pieces; all at once; the last byte alone */
      int most = 0;
      if( way==1 && form!=PLAIN ) continue;   /* One call of the decoder, up to ZT_WHOLE_MAX */
      for(int stop=0; stop<=3; stop++){
        zt_error err = ZT_ERROR_NONE;
        caller c = { 0, stop };
        subject s;
        zt_stream *stream;
        size_t got;
        int rc = SQLITE_OK;
        if( stop>most && stop ) continue;
        open_subject(&s, stored.p, stored.n, encoding_of(form), BY_SHAPE, SIZE, false);
        s.budget.interrupt = (zt_interrupt){ caller_stops, &c };
        stream = open_stream(&s);
        if( way==0 ) for(uint64_t at=0; at<SIZE && rc==SQLITE_OK; at+=PIECE) rc = zt_stream_read(stream, at, out, PIECE, &got, &err);
        if( way==1 ) rc = zt_stream_read(stream, 0, out, SIZE, &got, &err);
        if( way==2 ) rc = zt_stream_read(stream, SIZE-1, out, 1, &got, &err);
        check( rc==(stop ? SQLITE_INTERRUPT : SQLITE_OK), "form %d, way %d, stop %d: %d", form, way, stop, rc );
        if( stop ){
          assert_int_equal(c.asked, stop);
          assert_int_equal(got, 0);
          assert_null(err.message);   /* SQLite has its own words */
        }else{
          most = c.asked;
          if( form==PLAIN && way==2 ) assert_int_equal(c.asked, 0);
          else check( c.asked>=SIZE/(8<<20) && c.asked<=SIZE/(1<<20), "form %d, way %d: asked %d times", form, way, c.asked );
        }
        zt_error_clear(&err);
        zt_stream_close(stream);
        close_subject(&s);
      }
    }
    free(stored.p);
  }
  free(content);
  free(out);
}

/* --- Arrays --- */

/* A component of that type around these bytes, raw or zstd. */
static void open_typed(subject *s, const char *dtype, const char *type, const void *p, size_t n, bool zstd){
  blob stored = stored_as(zstd ? ONE_FRAME : PLAIN, p, n);
  open_subject(s, stored.p, stored.n, zstd ? "zstd" : "raw", BY_FIELD, n, false);
  s->component.dtype = (zt_text){ dtype, strlen(dtype) };
  s->component.type = (zt_text){ type, type ? strlen(type) : 0 };
  zt_dtype_decide(&s->component);
  free(stored.p);
}

static const struct { const char *dtype, *type; } array_types[] = { { "f64", NULL }, { "f32", NULL }, { "f16", NULL }, { "bf16", NULL }, { "i64", NULL }, { "i32", NULL }, { "i16", NULL },
  { "i8", NULL }, { "u64", NULL }, { "u32", NULL }, { "u16", NULL }, { "u8", NULL }, { "bool", NULL }, { "u8", "f8_e4m3fn" }, { "u8", "f8_e8m0" }, { "f32", "complex64" },
  { "f64", "complex128" } };

TEST(test_elements_of_every_type_and_byte_order){
  uint8_t *content = make_content(800);
  for(size_t i=0; i<COUNT(array_types); i++){
    const zt_dtype *d = named(array_types[i].type ? array_types[i].type : array_types[i].dtype);
    size_t n = 800/d->width;
    for(int kind=0; kind<3; kind++){   /* Raw, zstd, big-endian */
      zt_error err = ZT_ERROR_NONE;
      uint8_t *want = malloc(800), *out;
      zt_array a;
      subject s;
      open_typed(&s, array_types[i].dtype, array_types[i].type, content, 800, kind==1);
      if( kind==2 ) s.component.byte_order = ZT_TEXT("big");
      memcpy(want, content, 800);
      if( (kind==2)!=zt_big_endian() ) zt_swap_bytes(want, 800, d->unit);
      assert_int_equal(zt_array_open(&s.payload, &a, &err), SQLITE_OK);
      assert_null(err.component.z);
      assert_true(a.dtype==d && a.length==n);
      for(size_t first=0; first<=n; first += n/6+1){
        for(size_t m=0; m<=n-first; m += n/9+1){
          out = malloc(m*d->width+1);
          assert_int_equal(zt_array_read(&a, first, m, out, &err), SQLITE_OK);
          check( memcmp(out, want+first*d->width, m*d->width)==0, "%s, %d: [%zu, +%zu)", d->name, kind, first, m );
          free(out);
        }
      }
      zt_array_close(&a);
      zt_array_close(&a);
      close_subject(&s);
      free(want);
    }
  }
  free(content);
}

/* 0.1 has several arrays in one component, all of which is reversed in units of its own elements. */
TEST(test_parts_of_a_big_endian_component){
  static const struct { const char *dtype, *part; uint64_t base, length; unsigned unit; } rows[] = {
    { "f32", "u64", 0, 3, 4 }, { "f32", "u64", 24, 2, 4 }, { "f32", "f32", 40, 2, 4 }, { "f64", "u64", 8, 2, 8 }, { "f16", "u64", 16, 1, 2 }, { "f16", "f16", 2, 5, 2 },
    { "u8", "u64", 8, 3, 1 }, { "bool", "bool", 3, 9, 1 }, { "i64", "u8", 0, 48, 8 },
  };
  uint8_t content[48];
  for(unsigned i=0; i<48; i++) content[i] = (uint8_t)(i*5+1);
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_dtype *d = named(rows[i].part);
    for(int big=0; big<2; big++){
      zt_error err = ZT_ERROR_NONE;
      uint8_t want[48], out[48];
      zt_array a;
      subject s;
      if( zt_big_endian() ) continue;
      open_typed(&s, rows[i].dtype, NULL, content, 48, false);
      if( big ) s.component.byte_order = ZT_TEXT("big");
      memcpy(want, content, 48);
      if( big ) zt_swap_bytes(want, 48, rows[i].unit);
      assert_int_equal(zt_array_open_part(&s.payload, d, rows[i].base, rows[i].length, &a, &err), SQLITE_OK);
      assert_int_equal(zt_array_read(&a, 0, (size_t)rows[i].length, out, &err), SQLITE_OK);
      check( memcmp(out, want+rows[i].base, (size_t)rows[i].length*d->width)==0, "row %zu", i );
      if( rows[i].length>1 && d->width>=rows[i].unit ){
        assert_int_equal(zt_array_read(&a, 1, (size_t)rows[i].length-1, out, &err), SQLITE_OK);
        check( memcmp(out, want+rows[i].base+d->width, (size_t)(rows[i].length-1)*d->width)==0, "row %zu", i );
      }
      zt_array_close(&a);
      close_subject(&s);
    }
  }
}

/* Two in a byte: at odd places, of odd numbers, across the windows that they come through. */
TEST(test_packed_elements){
  enum { BYTES = 2600 };
  static const size_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 1021, 1022, 1023, 1024, 1025, 1026, 2045, 2046, 2047, 2048, 2049, 5190 };
  uint8_t *content = make_content(BYTES);
  for(int zstd=0; zstd<2; zstd++){
    zt_error err = ZT_ERROR_NONE;
    zt_array a;
    subject s;
    open_typed(&s, "u8", "f4_e2m1", content, BYTES, zstd);
    assert_int_equal(zt_array_open(&s.payload, &a, &err), SQLITE_OK);
    assert_true(a.length==2*BYTES && a.dtype->elements==2);
    for(size_t first=0; first<10; first++){
      for(size_t i=0; i<COUNT(counts); i++){
        size_t from = i%2 ? first : 2*BYTES-first-counts[i];
        uint8_t *out = malloc(counts[i]+1);
        if( from+counts[i]>2*BYTES ) from = 0;
        out[counts[i]] = 0xC3;
        assert_int_equal(zt_array_read(&a, from, counts[i], out, &err), SQLITE_OK);
        for(size_t k=0; k<counts[i]; k++){
          uint8_t byte = content[(from+k)/2];
          check( out[k]==((from+k)%2 ? byte>>4 : byte & 0xF), "[%zu, +%zu): element %zu", from, counts[i], k );
        }
        assert_int_equal(out[counts[i]], 0xC3);
        free(out);
      }
    }
    zt_array_close(&a);
    close_subject(&s);
  }
  free(content);
}

TEST(test_indices_of_every_type){
  static const char *const types[] = { "u64", "i64", "u32", "i32", "u16", "i16", "u8", "i8" };
  enum { COUNT_OF = 2600 };
  for(size_t i=0; i<COUNT(types); i++){
    const zt_dtype *d = named(types[i]);
    bool is_signed = d->class==ZT_INT;
    static const size_t bad[] = { 0, 1, 1023, 1024, 1025, 2048, 2599, COUNT_OF };   /* The last: none */
    for(size_t k=0; k<COUNT(bad); k++){
      static const size_t firsts[] = { 0, 1, 1000, 2599 };
      zt_error err = ZT_ERROR_NONE;
      uint64_t largest = is_signed ? (~(uint64_t)0 >> (65-8*d->width)) : (~(uint64_t)0 >> (64-8*d->width));
      blob b = { 0 };
      zt_array a;
      subject s;
      for(uint64_t e=0; e<COUNT_OF; e++) put_bits(&b, e==bad[k] ? ~(uint64_t)0 : e%3 ? e & 0x7F : largest-e%5, d->width);
      open_typed(&s, types[i], NULL, b.p, b.n, k%2);
      assert_int_equal(zt_array_open(&s.payload, &a, &err), SQLITE_OK);
      for(size_t f=0; f<COUNT(firsts); f++){
        size_t n = COUNT_OF-firsts[f];
        uint64_t *out = malloc(n*8);
        bool wrong = is_signed && bad[k]<COUNT_OF && bad[k]>=firsts[f];
        zt_array_read_indices(&a, firsts[f], n, out, &err);
        if( wrong ){
          char message[100];
          snprintf(message, sizeof(message), "component 'data': entry %zu is negative", bad[k]);
          assert_failed(&err, message, types[i]);
          err.component.z = NULL;
        }else{
          assert_succeeded(&err, types[i]);
          for(size_t e=0; e<n; e++){
            uint64_t at = e+firsts[f], want = at==bad[k] ? largest : at%3 ? at & 0x7F : largest-at%5;
            check( out[e]==want, "%s: entry %llu is %llu", types[i], (unsigned long long)at, (unsigned long long)out[e] );
          }
        }
        free(out);
      }
      zt_array_close(&a);
      close_subject(&s);
      free(b.p);
    }
  }
}

TEST(test_arrays_that_cannot_be_opened){
  static const struct { const char *dtype, *type; bool foreign; size_t n; const char *message; } rows[] = {
    { "f128", NULL, false, 16, "component 'data': dtype 'f128' is not known" }, { "complex64", NULL, false, 16, "component 'data': dtype 'complex64' is not known" },
    { "", NULL, false, 16, "component 'data': dtype '' is not known" }, { "f32", NULL, true, 16, "component 'data': dtype 'f32' is not known" },
    { "u8", "f7", false, 16, "component 'data': type 'f7' is not known" }, { "u8", "f4_e2m1", true, 16, "component 'data': type 'f4_e2m1' is not known" },
    { "u8", "complex64", false, 16, "component 'data': type 'complex64' is not stored as 'u8'" }, { "f64", "f32", false, 16, "component 'data': type 'f32' is not stored as 'f64'" },
    { "f32", NULL, false, 15, "component 'data': 15 bytes are no whole number of f32 elements" }, { "f64", "complex128", false, 24, "component 'data': 24 bytes are no whole number of complex128 elements" },
    { "i16", NULL, false, 1, "component 'data': 1 bytes are no whole number of i16 elements" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int zstd=0; zstd<2; zstd++){
      zt_error err = ZT_ERROR_NONE;
      uint8_t bytes[24] = { 0 };
      zt_array a;
      subject s;
      open_typed(&s, rows[i].dtype, rows[i].type, bytes, rows[i].n, zstd);
      if( rows[i].foreign ){   /* The driver does not know the type, or with none, the dtype */
        if( !rows[i].type ) s.component.storage = NULL;
        s.component.element = NULL;
        s.component.misplaced = false;
      }
      assert_int_equal(zt_array_open(&s.payload, &a, &err), SQLITE_ERROR);
      assert_failed(&err, rows[i].message, rows[i].message);
      zt_array_close(&a);
      close_subject(&s);
    }
  }
}

/* Failures name the component; what goes well leaves the place as it was. */
TEST(test_places){
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[100];
  uint64_t n;
  zt_array a;
  subject s;
  err.path = "p";
  err.object = ZT_TEXT("o");
  open_typed(&s, "u16", NULL, "0123456789", 10, true);
  assert_int_equal(zt_array_measure(&s.payload, &n, &err), SQLITE_OK);
  assert_true(n==10 && err.component.z==NULL);
  assert_int_equal(zt_array_open_part(&s.payload, named("u16"), 4, 5, &a, &err), SQLITE_OK);   /* The caller's length is two too large */
  assert_int_equal(zt_array_read(&a, 0, 3, out, &err), SQLITE_OK);
  if( zt_big_endian() ) zt_swap_bytes(out, 6, 2);
  assert_memory_equal(out, "456789", 6);
  assert_null(err.component.z);
  assert_int_equal(zt_array_read(&a, 0, 5, out, &err), SQLITE_ERROR);
  assert_string_equal(err.message, "ztensor: p: object 'o': component 'data': its bytes end at 10");
  zt_error_clear(&err);
  zt_array_close(&a);
  s.file.p[OFFSET] ^= 0xFF;
  err.component.z = NULL;
  s.component.has_decoded_length = false;
  s.component.role = ZT_TEXT("values");
  assert_int_equal(zt_array_measure(&s.payload, &n, &err), SQLITE_ERROR);
  assert_string_equal(err.message, "ztensor: p: object 'o': component 'values': zstd: Unknown frame descriptor");
  zt_error_clear(&err);
  close_subject(&s);
}

TEST(test_arrays_without_elements_are_checked){
  for(int bad=0; bad<2; bad++){
    zt_error err = ZT_ERROR_NONE;
    zt_array a;
    subject s;
    open_typed(&s, "f32", NULL, "", 0, true);
    s.file.p[OFFSET] ^= bad ? 1 : 0;
    assert_int_equal(zt_array_open(&s.payload, &a, &err), SQLITE_OK);
    assert_int_equal(zt_array_read(&a, 0, 0, NULL, &err), bad ? SQLITE_ERROR : SQLITE_OK);
    zt_error_clear(&err);
    assert_int_equal(zt_array_check_empty(&a, &err), bad ? SQLITE_ERROR : SQLITE_OK);
    if( bad ) assert_failed(&err, "component 'data': zstd: Unknown frame descriptor", "empty");
    zt_array_close(&a);
    close_subject(&s);
  }
}

int main(void){
  return run_all("stream", make_file, remove_file);
}
