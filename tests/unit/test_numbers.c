/*
** The encoding of numbers that are stored as another type than the component's: tensor/numbers.c. They are plain, or between other bytes
** of a stream of zlib.
*/
#include "subject.h"

#include <math.h>
#include <zlib.h>
#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "tensor/stream.h"

#define MANY 3000u

/* A component of f64 whose numbers are stored as u8, with `skip` bytes before them and `behind` behind them. */
static void open_numbers(subject *s, blob content, size_t n, size_t skip, size_t behind, bool packed, bool as_file){
  blob stored = exact(content.p, content.n);
  if( packed ){
    uLongf size = compressBound(content.n);
    free(stored.p);
    stored = (blob){ malloc(size), 0, 0 };
    assert_int_equal(compress(stored.p, &size, content.p, content.n), Z_OK);
    stored.n = size;
  }
  place_subject(s, 9, span_of(stored), 7, "numbers", as_file);
  free(stored.p);
  s->component.codec = ZT_CODEC_NUMBERS;
  s->component.dtype = ZT_TEXT("f64");
  zt_dtype_decide(&s->component);
  s->component.number = zt_dtype_named(ZT_TEXT("u8"));
  s->component.number_codec = packed ? ZT_CODEC_ZLIB : ZT_CODEC_RAW;
  s->component.number_skip = skip;
  s->component.number_behind = behind;
  s->component.has_decoded_length = true;
  s->component.decoded_length = 8*n;
}

static blob content_of(size_t skip, size_t n, size_t behind){
  blob b = { 0 };
  put_repeated(&b, 0xEE, skip);
  for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)(i*7 & 0xFF));
  put_repeated(&b, 0xDD, behind);
  return seal(&b);
}

static void read_numbers(zt_stream *stream, size_t first, size_t n, size_t all, const char *row){
  zt_error err = ZT_ERROR_NONE;
  const size_t want = first>=all ? 0 : n<all-first ? n : all-first;
  uint8_t *out = malloc(8*n+1);
  size_t got = 99;
  zt_stream_read(stream, 8*first, out, 8*n, &got, &err);
  assert_succeeded(&err, row);
  check( got==8*want, "%s: %zu bytes", row, got );
  if( zt_big_endian() ) zt_swap_bytes(out, got, 8);
  for(size_t i=0; i<want; i++){
    double x;
    memcpy(&x, out+8*i, 8);
    check( x==(double)((first+i)*7 & 0xFF), "%s: number %zu is %g", row, first+i, x );
  }
  free(out);
}

TEST(test_numbers_in_any_order){
  static const struct { size_t n, skip, behind; } rows[] = { { MANY, 0, 0 }, { MANY, 5000, 9 }, { MANY, 0, 6000 }, { 3, 70000, 0 }, { 0, 0, 0 }, { 0, 5, 5 } };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int kind=0; kind<4; kind++){
      const bool packed = kind%2;
      blob content = content_of(rows[i].skip, rows[i].n, packed ? rows[i].behind : 0);
      uint64_t seed = 5;
      zt_error err = ZT_ERROR_NONE;
      zt_stream *stream;
      char row[100];
      subject s;
      snprintf(row, sizeof(row), "row %zu, %d", i, kind);
      open_numbers(&s, content, rows[i].n, rows[i].skip, packed ? rows[i].behind : 0, packed, kind/2);
      zt_stream_open(&s.payload, &stream, &err);
      assert_succeeded(&err, row);
      read_numbers(stream, 0, rows[i].n, rows[i].n, row);
      for(int k=0; k<40; k++) read_numbers(stream, random_below(&seed, rows[i].n+3), random_below(&seed, rows[i].n+2), rows[i].n, row);
      for(size_t at=0; at<rows[i].n+2; at+=700) read_numbers(stream, at, 700, rows[i].n, row);
      for(int k=0; k<3; k++) read_numbers(stream, rows[i].n, 1, rows[i].n, row);
      read_numbers(stream, rows[i].n+5, 1, rows[i].n, row);
      zt_stream_close(stream);
      close_subject(&s);
      free(content.p);
    }
  }
}

/* The end of the stream is looked at with the last number. */
TEST(test_streams_that_are_not_as_told){
  static const struct { size_t n, stored, behind, cut; const char *rule, *message; } rows[] = {
    { 10, 9, 0, 0, "E3", "zlib: decodes to 1 bytes less than stated" }, { 10, 10, 3, 0, "E3", "zlib: decodes to 3 bytes less than stated" },
    { 10, 11, 0, 0, "E4", "zlib: decodes to more than the 10 bytes" }, { 10, 10, 0, 1, "E2", "deflate: " }, { 10, 10, 0, 4, "E2", "deflate: " },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int one=0; one<2; one++){
      blob content = content_of(4, rows[i].stored, 0);
      zt_error err = ZT_ERROR_NONE;
      uint8_t out[200];
      zt_stream *stream;
      size_t got;
      subject s;
      open_numbers(&s, content, rows[i].n, 4, rows[i].behind, true, false);
      s.component.length -= rows[i].cut;
      zt_stream_open(&s.payload, &stream, &err);
      if( one ) zt_stream_read(stream, 8*(rows[i].n-1), out, 8, &got, &err);
      else zt_stream_read(stream, 0, out, 8*rows[i].n, &got, &err);
      check( err.rule && strcmp(err.rule, rows[i].rule)==0, "row %zu: %s", i, err.message ? err.message : "no error" );
      assert_failed(&err, rows[i].message, rows[i].rule);
      zt_stream_close(stream);
      close_subject(&s);
      free(content.p);
    }
  }
}

/* Some bytes are no number of the type. */
TEST(test_numbers_that_do_not_fit){
  blob content = content_of(0, 2000, 0);
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[2000];
  zt_stream *stream;
  size_t got;
  subject s;
  open_numbers(&s, content, 2000, 0, 0, false, false);
  s.component.dtype = ZT_TEXT("i8");
  zt_dtype_decide(&s.component);
  s.component.decoded_length = 2000;
  zt_stream_open(&s.payload, &stream, &err);
  assert_int_equal(zt_stream_read(stream, 1998, out, 2, &got, &err), SQLITE_ERROR);
  assert_string_equal(err.rule, "E6");
  assert_failed(&err, "number 1998, which is stored as u8, does not fit i8", "E6");
  zt_stream_close(stream);
  close_subject(&s);
  free(content.p);
}

typedef union wide {
  int64_t i;
  uint64_t u;
  double d;
} wide;

TEST(test_numbers_that_would_be_rounded){
  static const struct { const char *from, *to; wide a[3]; int refused; } rows[] = {
    { "i64", "f64", { { .i = 1 }, { .i = INT64_C(1)<<53 }, { .i = -(INT64_C(1)<<53) } }, -1 }, { "i64", "f64", { { .i = INT64_MIN }, { .i = (INT64_C(1)<<53)+1 }, { .i = 0 } }, 1 },
    { "i64", "f64", { { .i = 1 }, { .i = 2 }, { .i = INT64_MAX } }, 2 }, { "u64", "f64", { { .u = UINT64_C(1)<<63 }, { .u = 2 }, { .u = 3 } }, -1 },
    { "u64", "f64", { { .u = (UINT64_C(1)<<63)+1 }, { .u = UINT64_MAX }, { .u = 3 } }, 0 }, { "f64", "f32", { { .d = 0.5 }, { .d = (double)NAN }, { .d = 0.1 } }, 2 },
    { "f64", "f32", { { .d = 0.5 }, { .d = (double)NAN }, { .d = (double)-INFINITY } }, -1 }, { "f64", "i16", { { .d = -3 }, { .d = -0.0 }, { .d = 4 } }, -1 },
    { "f64", "i16", { { .d = -3 }, { .d = 1.5 }, { .d = 4 } }, 1 }, { "i64", "f32", { { .i = 1 << 24 }, { .i = -1 }, { .i = (1 << 24)+1 } }, 2 },
    { "f64", "bool", { { .d = 0.5 }, { .d = 0 }, { .d = 2 } }, -1 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const bool fits = rows[i].refused<0;
    zt_error err = ZT_ERROR_NONE;
    blob content = { 0 };
    uint8_t out[24];
    zt_stream *stream;
    char says[100];
    size_t got;
    subject s;
    for(int k=0; k<3; k++) for(int b=0; b<8; b++) put_byte(&content, rows[i].a[k].u>>8*b & 0xFF);
    open_numbers(&s, content, 3, 0, 0, false, false);
    s.component.number = zt_dtype_named((zt_text){ rows[i].from, strlen(rows[i].from) });
    s.component.dtype = (zt_text){ rows[i].to, strlen(rows[i].to) };
    zt_dtype_decide(&s.component);
    s.component.decoded_length = 3*s.component.storage->width;
    zt_stream_open(&s.payload, &stream, &err);
    check( zt_stream_read(stream, 0, out, (size_t)s.component.decoded_length, &got, &err)==(fits ? SQLITE_OK : SQLITE_ERROR), "row %zu: %s", i, err.message );
    snprintf(says, sizeof(says), "number %d, which is stored as %s, does not fit %s", rows[i].refused, rows[i].from, rows[i].to);
    if( !fits ) assert_failed(&err, says, "E6");
    zt_stream_close(stream);
    close_subject(&s);
    free(content.p);
  }
}

int main(void){
  return run_all("numbers", make_file, remove_file);
}
