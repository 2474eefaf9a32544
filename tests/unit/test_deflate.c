/* tensor/deflate: streams of RFC 1951, read in any order, sound or not. */
#include "subject.h"

#include <isa-l/igzip_lib.h>
#include <zlib.h>
#include "core/inflate.h"
#include "tensor/stream.h"

static blob content_of(size_t n){
  blob b = { 0 };
  uint64_t seed = n+1;
  for(size_t i=0; i<n; i++) put_byte(&b, i>300 && random_below(&seed, 8) ? b.p[i-1-random_below(&seed, 300)] : (uint8_t)random64(&seed));
  return seal(&b);
}

static blob deflated(zt_span content){
  blob out = { 0 };
  struct isal_zstream s;
  size_t room = content.n+content.n/8+400;
  isal_deflate_stateless_init(&s);
  s.end_of_stream = 1;
  s.next_in = (uint8_t*)(uintptr_t)content.p;
  s.avail_in = (uint32_t)content.n;
  s.next_out = put_room(&out, room);
  s.avail_out = (uint32_t)room;
  assert_int_equal(isal_deflate_stateless(&s), COMP_OK);
  out.n = s.total_out;
  return seal(&out);
}

/* The end record of a member states the total size, which includes bytes outside the component. */
static void open_member(subject *s, blob stored, uint64_t total, uint64_t skip, uint64_t behind, bool as_file, zt_stream **out,
                        zt_error *err){
  place_subject(s, 5, span_of(stored), 7, "deflate", as_file);
  tell_length(s, BY_FIELD, total-skip-behind);
  s->component.skip = skip;
  s->component.behind = behind;
  zt_stream_open(&s->payload, out, err);
}

TEST(test_ranges){
  static const size_t sizes[] = { 0, 1, 100, 5000, 300000 };
  uint64_t seed = 3;
  for(size_t k=0; k<COUNT(sizes)*4; k++){
    blob content = content_of(sizes[k/4]), stored = deflated(span_of(content));
    uint64_t skip = content.n/3, behind = k%2 ? content.n/5 : 0, own = content.n-skip-behind, length;
    uint8_t *buffer = malloc(content.n+1);
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    subject s;
    open_member(&s, stored, content.n, skip, behind, k/2%2, &stream, &err);
    assert_succeeded(&err, "open");
    for(int i=0; i<50; i++){
      uint64_t at = i==0 ? 0 : random_below(&seed, (size_t)own+2);
      size_t n = i==0 ? content.n : random_below(&seed, (size_t)own+2), got;
      zt_stream_read(stream, at, buffer, n, &got, &err);
      assert_succeeded(&err, "read");
      check( got==(at>own ? 0 : n<own-at ? n : own-at), "%zu of %zu at %zu", got, n, (size_t)at );
      assert_memory_equal(buffer, content.p+skip+at, got);
    }
    assert_int_equal(zt_stream_length(stream, &length, &err), SQLITE_OK);
    assert_int_equal(length, own);
    zt_stream_close(stream);
    close_subject(&s);
    free(buffer);
    free(stored.p);
    free(content.p);
  }
}

/* A stream that is not as told: reading all of it in one piece, or in several, says what. */
static void expect_fault(blob stored, uint64_t total, const char *rule, const char *what){
  for(int k=0; k<4; k++){
    uint8_t buffer[70000];
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream = NULL;
    uint64_t at = 0;
    size_t got = 1;
    subject s;
    open_member(&s, stored, total, 0, 0, k%2, &stream, &err);
    while( got && zt_stream_read(stream, at, buffer, k<2 ? sizeof(buffer) : 333, &got, &err)==SQLITE_OK ) at += got;
    check( err.rule && strcmp(err.rule, rule)==0, "%s: rule %s, %s", what, err.rule ? err.rule : "none", err.message ? err.message : "" );
    assert_failed(&err, what, rule);
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(stored.p);
}

TEST(test_streams_that_are_not_as_told){
  blob content = content_of(60000), stored = deflated(span_of(content)), more = { 0 };
  for(size_t cut=1; cut<stored.n; cut += cut<40 ? 1 : 977){
    expect_fault(exact(stored.p, stored.n-cut), content.n, "E2", "deflate: ");
  }
  for(size_t n=1; n<20; n++){
    put(&more, stored.p, stored.n);
    put_repeated(&more, 0, n);
    expect_fault(seal(&more), content.n, "E2", "follow behind the stream's end");
  }
  expect_fault(exact(stored.p, stored.n), content.n-1, "E4", "decodes to more than the 59999 bytes");
  expect_fault(exact(stored.p, stored.n), 10, "E4", "decodes to more than the 10 bytes");
  expect_fault(exact(stored.p, stored.n), content.n+1, "E3", "decodes to 60000 bytes, the manifest states 60001");
  expect_fault(blob_of("ffffffffffffffff"), 100, "E2", "deflate: an invalid block");
  expect_fault(blob_of(""), 100, "E2", "the stored bytes end within the stream");
  expect_fault(blob_of("0300"), 100, "E3", "decodes to 0 bytes, the manifest states 100");
  free(stored.p);
  free(content.p);
}

/* Append n bits of a code, whose first bit is its highest. */
static void put_code(blob *b, size_t *bits, unsigned code, unsigned n){
  for(unsigned i=n; i-->0; ++*bits){
    if( *bits%8==0 ) *put_room(b, 1) = 0;
    b->p[*bits/8] |= (uint8_t)((code>>i & 1) << *bits%8);
  }
}

/* A byte of zeros and n times 258 of them, by the fixed codes (RFC 1951, 3.2.6): ISA-L's own compressor writes such streams
** wrong on big-endian machines. */
static blob deflated_zeros(size_t n){
  blob out = { 0 };
  size_t bits = 0;
  put_code(&out, &bits, 6, 3);          /* The last block, of the second type */
  put_code(&out, &bits, 0x30, 8);       /* 0 */
  for(size_t i=0; i<n; i++){
    put_code(&out, &bits, 0xC5, 8);     /* 258 bytes */
    put_code(&out, &bits, 0, 5);        /* from 1 byte before */
  }
  put_code(&out, &bits, 0, 7);          /* The end */
  return seal(&out);
}

/* A bomb costs what is asked of it. */
TEST(test_a_bomb){
  const size_t times = ((size_t)64<<20)/258;
  blob stored = deflated_zeros(times);
  uint8_t buffer[100];
  zt_error err = ZT_ERROR_NONE;
  zt_stream *stream;
  size_t got;
  subject s;
  open_member(&s, stored, 1+258*times, 0, 0, false, &stream, &err);
  assert_int_equal(zt_stream_read(stream, 1000, buffer, sizeof(buffer), &got, &err), SQLITE_OK);
  assert_int_equal(got, sizeof(buffer));
  check( s.budget.decoded<=2000, "%llu bytes were decoded", (unsigned long long)s.budget.decoded );
  zt_stream_close(stream);
  close_subject(&s);
  free(stored.p);
}

/* --- Members of gzip --- */

static void put_little(blob *b, uint32_t number, unsigned n){
  for(unsigned i=0; i<n; i++) put_byte(b, (uint8_t)(number>>8*i));
}

/* A member of gzip with the parts of the header that the flags name. */
static void put_member(blob *out, zt_span content, uint8_t flags){
  static const char text[] = "text";
  blob stored = deflated(content);
  const size_t begin = out->n;
  put(out, "\x1f\x8b\x08", 3);
  put_byte(out, flags);
  put(out, "\0\0\0\0\0\3", 6);
  if( flags & 4 ) put_little(out, 300, 2);
  if( flags & 4 ) put_repeated(out, 0x1F, 300);
  if( flags & 8 ) put(out, text, sizeof(text));
  if( flags & 16 ) put(out, text, sizeof(text));
  if( flags & 2 ) put_little(out, (uint32_t)crc32(0, out->p+begin, (unsigned)(out->n-begin)), 2);
  put(out, stored.p, stored.n);
  put_little(out, (uint32_t)crc32(0, content.p, (unsigned)content.n), 4);
  put_little(out, (uint32_t)content.n, 4);
  free(stored.p);
}

/* Decode members whose bytes come in two pieces, `room` bytes at a time; the number of decoded bytes. */
static size_t decode_members(zt_span bytes, size_t cut, size_t room, uint8_t *out, bool *ended, zt_error *err){
  blob pieces[2] = { exact(bytes.p, cut), exact(bytes.p+cut, bytes.n-cut) };
  zt_inflate *d = zt_inflate_new(err);
  size_t n = 0, got, behind;
  zt_inflate_begin(d, ZT_INFLATE_GZIP);
  for(int k=0; k<2 && !err->rc; k++){
    zt_span in = span_of(pieces[k]);
    do{
      if( zt_inflate_next(d, &in, out+n, room, &got, err) ) break;
      n += got;
      *ended = zt_inflate_ended(d, &behind);
      assert_true(!*ended || behind==0);
    }while( got>0 || (*ended && zt_inflate_next_member(d, &in)) );
    assert_true(err->rc || in.n==0);
  }
  zt_inflate_free(d);
  for(int k=0; k<2; k++) free(pieces[k].p);
  return n;
}

/* Each part of a header, and what follows it, may be cut anywhere. */
TEST(test_members_in_two_pieces){
  static const uint8_t flags[] = { 0, 4, 8, 16, 2, 31 };
  static const size_t rooms[] = { 1, 5, 1000 };
  blob content = content_of(100), members = { 0 }, stored;
  uint8_t out[2000];
  for(size_t i=0; i<COUNT(flags); i++){
    put_member(&members, (zt_span){ content.p, i ? 0 : 50 }, flags[i]);
    put_repeated(&members, 0, i);
    if( i==2 ) put_member(&members, (zt_span){ content.p+50, 50 }, 31);
  }
  stored = seal(&members);
  for(size_t cut=0; cut<=stored.n; cut++){
    for(size_t i=0; i<COUNT(rooms); i++){
      zt_error err = ZT_ERROR_NONE;
      bool ended = false;
      const size_t n = decode_members(span_of(stored), cut, rooms[i], out, &ended, &err);
      assert_succeeded(&err, "members");
      check( ended && n==content.n, "cut at %zu: %zu bytes, %d", cut, n, ended );
      assert_memory_equal(out, content.p, n);
    }
  }
  free(stored.p);
  free(content.p);
}

/* A change of any byte of the second member is noticed, as the header has a checksum, too; so is its end at any byte. */
TEST(test_a_member_with_a_wrong_byte){
  blob content = content_of(100), members = { 0 }, stored;
  uint8_t out[2000];
  size_t begin;
  put_member(&members, span_of(content), 0);
  begin = members.n;
  put_member(&members, span_of(content), 31);
  stored = seal(&members);
  for(size_t at=begin+1; at<stored.n; at++){   /* The first byte tells it from other bytes behind */
    for(int k=0; k<2; k++){
      zt_error err = ZT_ERROR_NONE;
      bool ended = false;
      stored.p[at] ^= 1;
      decode_members(span_of(stored), k ? begin+5 : stored.n, 1000, out, &ended, &err);
      stored.p[at] ^= 1;
      check( err.rc || !ended, "byte %zu", at-begin );
      zt_error_clear(&err);
      decode_members((zt_span){ stored.p, at }, k ? begin : at, 1000, out, &ended, &err);
      check( err.rc==SQLITE_OK && !ended, "cut at byte %zu", at-begin );
    }
  }
  free(stored.p);
  free(content.p);
}

/* As a component: parts of members with zeros between and behind, and then other bytes. The windows end everywhere in a member. */
TEST(test_a_component_of_members){
  enum { TOTAL = 300000, EACH = 100 };
  blob content = content_of(TOTAL), members = { 0 }, stored;
  uint8_t *buffer = malloc(TOTAL);
  for(size_t i=0; i<TOTAL; i += EACH){
    put_member(&members, (zt_span){ content.p+i, EACH }, i%3 ? 31 : 0);
    put_repeated(&members, 0, i%7);
  }
  put_repeated(&members, 0, 200000);
  put(&members, "more", 4);
  stored = seal(&members);
  for(int k=0; k<4; k++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    size_t got;
    subject s;
    place_subject(&s, 5, (zt_span){ stored.p, stored.n-(k<2 ? 4 : 0) }, 7, "deflate", k%2);
    s.component.codec = ZT_CODEC_GZIP;
    tell_length(&s, BY_FIELD, TOTAL);
    zt_stream_open(&s.payload, &stream, &err);
    zt_stream_read(stream, 0, buffer, TOTAL, &got, &err);
    if( k>=2 ) assert_failed(&err, "deflate: 4 bytes follow behind the stream's end", "E2");
    else{
      assert_succeeded(&err, "members");
      assert_true(got==TOTAL && memcmp(buffer, content.p, TOTAL)==0);
      zt_stream_read(stream, TOTAL/2, buffer, 1000, &got, &err);
      assert_succeeded(&err, "a part");
      assert_true(got==1000 && memcmp(buffer, content.p+TOTAL/2, 1000)==0);
    }
    zt_stream_close(stream);
    close_subject(&s);
  }
  free(buffer);
  free(stored.p);
  free(content.p);
}

/* --- Parts of one stream --- */

/* Open the bytes of the content from `skip` on, with `behind` behind them. */
static zt_stream *open_part(const subject *s, uint64_t total, uint64_t skip, uint64_t behind, zt_component *component, zt_budget *budget){
  zt_payload payload = s->payload;
  zt_stream *stream;
  zt_error err = ZT_ERROR_NONE;
  *component = s->component;
  component->skip = skip;
  component->behind = behind;
  component->has_decoded_length = true;
  component->decoded_length = total-skip-behind;
  *budget = s->budget;
  payload.component = component;
  payload.budget = budget;
  zt_stream_open(&payload, &stream, &err);
  assert_succeeded(&err, "open");
  return stream;
}

/* Parts in any order, some of them open at a time, some read to their end and some not: each has its bytes, and as many bytes count as
** if it had been decoded alone. */
TEST(test_parts_in_any_order){
  enum { TOTAL = 400000, OPEN = 3 };
  blob content = content_of(TOTAL), stored = deflated(span_of(content));
  for(int as_file=0; as_file<2; as_file++){
    uint64_t seed = 11, skip[OPEN], own[OPEN];
    uint8_t *buffer = malloc(TOTAL);
    zt_component component[OPEN];
    zt_budget budget[OPEN];
    zt_stream *stream[OPEN] = { NULL };
    subject s;
    place_subject(&s, 5, span_of(stored), 7, "deflate", as_file);
    for(int i=0; i<400; i++){
      const int k = i%OPEN;
      zt_error err = ZT_ERROR_NONE;
      size_t n, got;
      zt_stream_close(stream[k]);
      skip[k] = i%5 ? random_below(&seed, TOTAL) : (uint64_t)i*TOTAL/400;
      own[k] = (size_t)random_below(&seed, (size_t)(TOTAL-skip[k]));
      stream[k] = open_part(&s, TOTAL, skip[k], TOTAL-skip[k]-own[k], &component[k], &budget[k]);
      n = i%3 ? (size_t)own[k] : (size_t)own[k]/2;
      zt_stream_read(stream[k], 0, buffer, n, &got, &err);
      assert_succeeded(&err, "read");
      assert_int_equal(got, n);
      assert_memory_equal(buffer, content.p+skip[k], n);
      if( n>0 && budget[k].decoded!=(n==own[k] ? TOTAL : skip[k]+n) ) fail_msg("%llu bytes count", (unsigned long long)budget[k].decoded);
      if( n==0 ) continue;
      zt_stream_read(stream[k], n/2, buffer, n, &got, &err);   /* Back */
      assert_succeeded(&err, "read back");
      assert_memory_equal(buffer, content.p+skip[k]+n/2, got);
    }
    for(int k=0; k<OPEN; k++) zt_stream_close(stream[k]);
    close_subject(&s);
    free(buffer);
  }
  free(stored.p);
  free(content.p);
}

static bool count_question(void *context){
  ++*(int*)context;
  return false;
}

/* Each 4 MiB that are decoded ask once. Parts in their order cost two passes: the first one shows that all is sound. */
TEST(test_parts_in_order_are_not_decoded_again_and_again){
  enum { PARTS = 32 };
  const size_t times = ((size_t)64<<20)/258, total = 1+258*times, own = total/PARTS;
  blob stored = deflated_zeros(times);
  uint8_t *buffer = malloc(own);
  int asked = 0;
  subject s;
  place_subject(&s, 5, span_of(stored), 7, "deflate", true);
  s.budget.interrupt = (zt_interrupt){ count_question, &asked };
  for(size_t i=0; i<PARTS; i++){
    zt_error err = ZT_ERROR_NONE;
    zt_component component;
    zt_budget budget;
    zt_stream *stream = open_part(&s, total, i*own, total-(i+1)*own, &component, &budget);
    size_t got;
    zt_stream_read(stream, 0, buffer, own, &got, &err);
    assert_succeeded(&err, "part");
    assert_int_equal(budget.decoded, total);
    zt_stream_close(stream);
  }
  check( asked<=2*16+4, "asked %d times", asked );
  close_subject(&s);
  free(buffer);
  free(stored.p);
}

#if ZT_INFLATE_ISAL
/* Headers and checksums stand around a stream of no bytes. */
TEST(test_headers_and_checksums){
  static const struct { zt_inflate_around around; const char *hex, *said; } rows[] = {
    { ZT_INFLATE_ZLIB, "789c 0300 00000001", NULL }, { ZT_INFLATE_GZIP, "1f8b0800000000000003 0300 00000000 00000000", NULL },
    { ZT_INFLATE_ZLIB, "78bb 00000001 0300 00000001", "deflate: it needs a dictionary" },
    { ZT_INFLATE_ZLIB, "7701 0300 00000001", "deflate: an invalid header" },
    { ZT_INFLATE_ZLIB, "789c 0300 00000002", "deflate: its bytes do not have the checksum behind" },
    { ZT_INFLATE_GZIP, "1e8b0800000000000003 0300", "deflate: an invalid header" },
    { ZT_INFLATE_GZIP, "1f8b0700000000000003 0300", "deflate: an invalid header" },
    { ZT_INFLATE_GZIP, "1f8b0800000000000003 0300 01000000 00000000", "deflate: its bytes do not have the checksum behind" },
    { ZT_INFLATE_BARE, "07", "deflate: an invalid block" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_inflate *d = zt_inflate_new(&err);
    blob b = blob_of(rows[i].hex);
    zt_span in = span_of(b);
    uint8_t byte;
    size_t n = 1, behind;
    zt_inflate_begin(d, rows[i].around);
    zt_inflate_next(d, &in, &byte, 1, &n, &err);
    if( rows[i].said ) assert_failed(&err, rows[i].said, rows[i].hex);
    else assert_true(err.rc==SQLITE_OK && n==0 && in.n==0 && zt_inflate_ended(d, &behind) && behind==0);
    zt_inflate_free(d);
    free(b.p);
  }
}

/* Room for more bytes than ISA-L counts. */
TEST(test_room_beyond_a_gigabyte){
  const size_t room = ((size_t)1<<30)+1;
  zt_error err = ZT_ERROR_NONE;
  blob content = content_of(1000), stored = deflated(span_of(content));
  zt_span in = span_of(stored);
  zt_inflate *d = zt_inflate_new(&err);
  uint8_t *p = malloc(room);   /* Of which few pages are touched */
  size_t n, behind;
  assert_non_null(p);
  assert_int_equal(zt_inflate_next(d, &in, p, room, &n, &err), SQLITE_OK);
  assert_true(n==content.n && zt_inflate_ended(d, &behind));
  assert_memory_equal(p, content.p, n);
  free(p);
  zt_inflate_free(d);
  free(stored.p);
  free(content.p);
}
#endif

/* Each part is read to the end of the stream, and is told of a fault there, also behind parts that were read before it. */
TEST(test_each_part_of_a_broken_stream_is_broken){
  enum { TOTAL = 90000, PARTS = 9 };
  blob content = content_of(TOTAL), stored = deflated(span_of(content)), more = { 0 }, longer;
  put(&more, stored.p, stored.n);
  put_byte(&more, 0);
  longer = seal(&more);
  for(int k=0; k<3; k++){
    const zt_span bytes = k==0 ? span_of(longer) : k==1 ? (zt_span){ stored.p, stored.n-1 } : span_of(stored);
    const uint64_t total = k==2 ? TOTAL+1 : TOTAL;
    uint8_t buffer[TOTAL/PARTS];
    subject s;
    place_subject(&s, 5, bytes, 7, "deflate", true);
    for(int i=0; i<2*PARTS; i++){
      const uint64_t own = TOTAL/PARTS, skip = (uint64_t)(i%PARTS)*own;
      zt_error err = ZT_ERROR_NONE;
      zt_component component;
      zt_budget budget;
      zt_stream *stream = open_part(&s, total, skip, total-skip-own, &component, &budget);
      size_t got;
      if( i>=PARTS ){   /* Those that are read in part are not */
        zt_stream_read(stream, 0, buffer, 10, &got, &err);
        assert_succeeded(&err, "its beginning");
        assert_memory_equal(buffer, content.p+skip, 10);
      }
      zt_stream_read(stream, 0, buffer, sizeof(buffer), &got, &err);
      assert_failed(&err, k==2 ? "decodes to 90000 bytes, the manifest states 90001" : "deflate: ", k==2 ? "E3" : "E2");
      zt_stream_close(stream);
    }
    close_subject(&s);
  }
  free(longer.p);
  free(stored.p);
  free(content.p);
}

/* Read one byte of a part, and close its stream. */
static int read_one(zt_stream *stream, uint64_t offset, zt_error *err){
  uint8_t byte;
  size_t got;
  const int rc = zt_stream_read(stream, offset, &byte, 1, &got, err);
  zt_stream_close(stream);
  return rc;
}

/* A part goes on from the nearer of two decoders that were left, and not from one of another content. */
TEST(test_a_part_goes_on_from_the_nearest_place){
  enum { MIB = 1<<20 };
  const size_t times = ((size_t)64<<20)/258, total = 1+258*times;
  blob stored = deflated_zeros(times);
  zt_error err = ZT_ERROR_NONE;
  zt_component component[2];
  zt_budget budget[2];
  zt_stream *open[2];
  int asked = 0;
  subject s;
  place_subject(&s, 5, span_of(stored), 7, "deflate", true);
  s.budget.interrupt = (zt_interrupt){ count_question, &asked };
  for(int k=0; k<2; k++) open[k] = open_part(&s, total, (k ? 20u : 40u)*MIB, 10, &component[k], &budget[k]);
  for(int k=0; k<2; k++){
    uint8_t byte;
    size_t got;
    zt_stream_read(open[k], 0, &byte, 1, &got, &err);
  }
  for(int k=0; k<2; k++) zt_stream_close(open[k]);
  assert_succeeded(&err, "two places");
  asked = 0;
  for(unsigned k=0; k<2; k++) read_one(open_part(&s, total, (k ? 23u : 43u)*MIB, 10, component, budget), 0, &err);
  assert_succeeded(&err, "on from there");
  check( asked<=2, "asked %d times", asked );
  s.component.length--;
  read_one(open_part(&s, total, 1, 10, component, budget), 0, &err);
  assert_succeeded(&err, "another length");
  s.component.codec = ZT_CODEC_ZLIB;
  read_one(open_part(&s, total, 1, 10, component, budget), 0, &err);
  assert_failed(&err, "deflate: ", "another encoding");
  close_subject(&s);
  free(stored.p);
}

/* Bytes that are known to be sound are charged nonetheless; a read of more than the part has is one of all of it. */
TEST(test_the_end_of_a_part){
  enum { TOTAL = 90000 };
  blob content = content_of(TOTAL), stored = deflated(span_of(content));
  uint8_t *buffer = malloc(TOTAL);
  subject s;
  place_subject(&s, 5, span_of(stored), 7, "deflate", true);
  for(int limited=0; limited<2; limited++){
    zt_error err = ZT_ERROR_NONE;
    zt_component component;
    zt_budget budget;
    zt_stream *stream = open_part(&s, TOTAL, 0, 50000, &component, &budget);
    size_t got;
    if( limited ) budget.decode = 60000;
    zt_stream_read(stream, 0, buffer, TOTAL, &got, &err);
    if( limited ) check( err.rc==SQLITE_TOOBIG && got==0, "%d", err.rc );
    else{
      assert_succeeded(&err, "more than it has");
      assert_int_equal(got, 40000);
      assert_memory_equal(buffer, content.p, got);
    }
    zt_error_clear(&err);
    zt_stream_close(stream);
  }
  close_subject(&s);
  free(buffer);
  free(stored.p);
  free(content.p);
}

/* More than is decoded between two questions: read at once, and read again from its beginning, for which all of it is kept. */
TEST(test_interrupts_of_long_reads){
  const size_t times = ((size_t)24<<20)/258, total = 1+258*times;
  blob stored = deflated_zeros(times);
  uint8_t *buffer = malloc(total);
  int most = 0;
  for(int stop=0; stop<=most; stop++){
    zt_error err = ZT_ERROR_NONE;
    caller c = { .stop_at = stop };
    size_t got;
    zt_stream *stream;
    subject s;
    open_member(&s, stored, total, 0, 0, false, &stream, &err);
    s.budget.interrupt = (zt_interrupt){ caller_stops, &c };
    if( zt_stream_read(stream, 1, buffer, total-9, &got, &err)==SQLITE_OK ) zt_stream_read(stream, 0, buffer, total, &got, &err);
    check( err.rc==(stop ? SQLITE_INTERRUPT : SQLITE_OK), "stop %d: %d", stop, err.rc );
    if( stop ) assert_int_equal(c.asked, stop);
    else most = c.asked;
    zt_error_clear(&err);
    zt_stream_close(stream);
    close_subject(&s);
  }
  check( most>=6, "asked %d times", most );
  free(buffer);
  free(stored.p);
}

/* More stored bytes without content than are read at once: empty blocks. */
TEST(test_many_blocks_without_content){
  blob b = { 0 };
  uint8_t buffer[10];
  zt_error err = ZT_ERROR_NONE;
  zt_stream *stream;
  size_t got;
  subject s;
  for(int i=0; i<60000; i++) put_hex(&b, "00 0000ffff");
  put_hex(&b, "01 0300fcff 616263");
  open_member(&s, b, 3, 0, 0, true, &stream, &err);
  assert_int_equal(zt_stream_read(stream, 0, buffer, sizeof(buffer), &got, &err), SQLITE_OK);
  assert_int_equal(got, 3);
  assert_memory_equal(buffer, "abc", 3);
  zt_stream_close(stream);
  close_subject(&s);
  free(b.p);
}

int main(void){
  return run_all("deflate", make_file, remove_file);
}
