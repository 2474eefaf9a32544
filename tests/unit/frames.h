/*
** Components of any codec that encodes, in frames (tensor/frames.h): content, the encoded bytes, and a check that this program's
** decoder gives the content back.
*/
#ifndef ZT_TESTS_UNIT_FRAMES_H
#define ZT_TESTS_UNIT_FRAMES_H

#include "subject.h"

#include "tensor/encoding.h"
#include "tensor/stream.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

typedef struct codec {
  zt_codec_id id;
  const char *name;
  size_t size;           /* Of a frame */
  int least, most;
} codec;

static const codec codecs[] = {
  { ZT_CODEC_ZSTD, "zstd", 4*MIB, 1, 22 },
  { ZT_CODEC_SEEKABLE, "zt.zstd-seekable/1", MIB, 1, 22 },
  { ZT_CODEC_DEFLATE, "deflate", MIB, 1, 9 },
};

/* --- Content --- */

typedef enum content { RANDOM, TEXT, ZEROS, MIXED, CONTENTS } content;

static const char *const content_names[] = { "random", "text", "zeros", "mixed" };

static inline void fill(uint8_t *p, size_t n, content kind){
  static const char *const words[] = { "attention ", "weight ", "layer ", "norm ", "0.125, ", "\n", "mlp.", "bias = " };
  uint64_t random = 7;
  if( kind==RANDOM ) for(size_t i=0; i<n; i++) p[i] = (uint8_t)(random64(&random)>>32);
  else if( kind==ZEROS ) memset(p, 0, n);
  else if( kind==TEXT ){
    for(size_t i=0; i<n; ){
      const char *word = words[random_below(&random, COUNT(words))];
      for(; *word && i<n; word++) p[i++] = (uint8_t)*word;
    }
  }else{
    /* Runs that match far behind, noise, and the exponents of weights */
    for(size_t i=0; i<n; i++){
      unsigned part = (unsigned)(i>>13)%3;
      p[i] = part==0 ? (uint8_t)(random64(&random)>>32) : part==1 && i>=30000 ? p[i-30000] : (uint8_t)(i&1 ? 0x3C : random64(&random)>>40);
    }
  }
}

static inline blob content_of(size_t n, content kind){
  blob b = { malloc(n+1), n, n };
  assert_non_null(b.p);
  fill(b.p, n, kind);
  return b;
}

/* --- Encoding a component --- */

typedef struct encoded {
  blob bytes;
  zt_frame_length *lengths;   /* In malloc() */
  size_t count;
} encoded;

static inline void free_encoded(encoded *e){
  free(e->bytes.p);
  free(e->lengths);
  *e = (encoded){ 0 };
}

/* The i-th frame, of count, of the bytes. What is in front and what it has are in memory of exactly their size. */
static inline int encode_frame(const zt_frames *f, blob b, size_t i, int level, uint8_t *out, size_t *n, zt_error *err){
  size_t at = i*f->size, length = b.n-at<f->size ? b.n-at : f->size, before = at<f->before ? at : f->before;
  blob front = exact(b.n ? b.p+at-before : NULL, before), bytes = exact(b.n ? b.p+at : NULL, length);
  zt_frame frame = { span_of(front), span_of(bytes), at+length==b.n, level, NULL };
  int rc = f->encode(&frame, out, n, err);
  free(front.p);
  free(bytes.p);
  return rc;
}

/* The whole component; each frame goes to memory of bound() bytes. */
static inline int encode_all(const zt_frames *f, blob b, int level, encoded *e, zt_error *err){
  *e = (encoded){ .count = b.n ? (b.n-1)/f->size+1 : 1 };
  e->lengths = malloc(e->count*sizeof(*e->lengths));
  assert_non_null(e->lengths);
  for(size_t i=0; i<e->count && !err->rc; i++){
    size_t length = b.n-i*f->size<f->size ? b.n-i*f->size : f->size, n = 12345;
    uint8_t *out = malloc(f->bound(length)+1);
    assert_non_null(out);
    out[f->bound(length)] = 0xC3;
    encode_frame(f, b, i, level, out, &n, err);
    check( err->rc || n<=f->bound(length), "%zu of %zu bytes", n, f->bound(length) );
    assert_int_equal(out[f->bound(length)], 0xC3);
    if( !err->rc ) put(&e->bytes, out, n);
    e->lengths[i] = (zt_frame_length){ (uint32_t)n, (uint32_t)length };
    free(out);
  }
  if( f->trailer && !err->rc ){
    blob t = { malloc(f->trailer_size(e->lengths, e->count)), 0, 0 };
    assert_non_null(t.p);
    f->trailer(e->lengths, e->count, t.p);
    put(&e->bytes, t.p, f->trailer_size(e->lengths, e->count));
    free(t.p);
  }
  return err->rc;
}

static inline encoded encode(const codec *c, blob b, int level){
  zt_error err = ZT_ERROR_NONE;
  encoded e;
  encode_all(zt_frames_of(c->id), b, level, &e, &err);
  assert_succeeded(&err, c->name);
  return e;
}

/* --- Decoding --- */

static inline void open_encoded(subject *s, const codec *c, const encoded *e, size_t n){
  place_subject(s, 100, span_of(e->bytes), 0, c->name, false);
  tell_length(s, BY_FIELD, n);
}

static inline void check_read(zt_stream *stream, blob b, uint64_t at, size_t n, const char *row){
  zt_error err = ZT_ERROR_NONE;
  size_t want = at>b.n ? 0 : b.n-at<n ? b.n-(size_t)at : n, got = 12345;
  uint8_t *out = malloc(n+1);
  assert_non_null(out);
  zt_stream_read(stream, at, out, n, &got, &err);
  assert_succeeded(&err, row);
  check( got==want, "%s: %zu bytes", row, got );
  check( got==0 || memcmp(out, b.p+at, got)==0, "%s, [%llu, +%zu)", row, (unsigned long long)at, n );
  free(out);
}

/* All of it, which checks every rule of the encoding, and then pieces in any order. */
static inline void check_decodes(const codec *c, const encoded *e, blob b, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_stream *stream;
  uint64_t length = 12345, random = 5;
  subject s;
  open_encoded(&s, c, e, b.n);
  zt_stream_open(&s.payload, &stream, &err);
  assert_succeeded(&err, row);
  check_read(stream, b, 0, b.n+1, row);
  zt_stream_length(stream, &length, &err);
  assert_succeeded(&err, row);
  check( length==b.n, "%s: %llu", row, (unsigned long long)length );
  if( c->id==ZT_CODEC_SEEKABLE ){
    for(int i=0; i<6; i++) check_read(stream, b, random_below(&random, b.n+1), 1+random_below(&random, 300), row);
    for(size_t at=c->size; at<b.n; at+=c->size) check_read(stream, b, at-1, 2, row);
  }
  zt_stream_close(stream);
  close_subject(&s);
}

#endif
