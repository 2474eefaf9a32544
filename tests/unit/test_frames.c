/*
** Encoding in frames: tensor/frames.h. Each codec, level and size encodes into bytes that this program's decoder reads back
** and that the codec's own library accepts, within bound(), and that depend on the input and the level alone; and memory
** runs out in each allocation.
*/
#include "oom.h"
#include "subject.h"

#include <pthread.h>
#include <zlib.h>

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

static void fill(uint8_t *p, size_t n, content kind){
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

static blob content_of(size_t n, content kind){
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

static void free_encoded(encoded *e){
  free(e->bytes.p);
  free(e->lengths);
  *e = (encoded){ 0 };
}

/* The i-th frame, of count, of the bytes. What is in front and what it has are in memory of exactly their size. */
static int encode_frame(const zt_frames *f, blob b, size_t i, int level, uint8_t *out, size_t *n, zt_error *err){
  size_t at = i*f->size, length = b.n-at<f->size ? b.n-at : f->size, before = at<f->before ? at : f->before;
  blob front = exact(b.n ? b.p+at-before : NULL, before), bytes = exact(b.n ? b.p+at : NULL, length);
  zt_frame frame = { span_of(front), span_of(bytes), at+length==b.n, level };
  int rc = f->encode(&frame, out, n, err);
  free(front.p);
  free(bytes.p);
  return rc;
}

/* The whole component; each frame goes to memory of bound() bytes. */
static int encode_all(const zt_frames *f, blob b, int level, encoded *e, zt_error *err){
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

static encoded encode(const codec *c, blob b, int level){
  zt_error err = ZT_ERROR_NONE;
  encoded e;
  encode_all(zt_frames_of(c->id), b, level, &e, &err);
  assert_succeeded(&err, c->name);
  return e;
}

/* --- Decoding --- */

static void open_encoded(subject *s, const codec *c, const encoded *e, size_t n){
  place_subject(s, 100, span_of(e->bytes), 0, c->name, false);
  tell_length(s, BY_FIELD, n);
}

static void check_read(zt_stream *stream, blob b, uint64_t at, size_t n, const char *row){
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
static void check_decodes(const codec *c, const encoded *e, blob b, const char *row){
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

/* --- Every codec, level, size and content --- */

/* Sizes around a frame's, of which the slow levels have fewer. */
static size_t sizes_of(const codec *c, int level, size_t *sizes){
  const size_t all[] = { 0, 1, 2, c->size, c->size+1, c->size-1, 3*c->size+77 };
  size_t n = level<=6 ? COUNT(all) : level<=12 ? 5 : 3;
  memcpy(sizes, all, n*sizeof(*all));
  if( n==3 ) sizes[n++] = 150*KIB;
  return n;
}

TEST(test_every_level_and_size_decodes){
  for(size_t k=0; k<COUNT(codecs); k++){
    const codec *c = &codecs[k];
    const zt_frames *f = zt_frames_of(c->id);
    assert_non_null(f);
    check( f->size==c->size && f->least==c->least && f->most==c->most, "%s", c->name );
    for(int level=c->least; level<=c->most; level++){
      size_t sizes[8], n = sizes_of(c, level, sizes);
      for(size_t i=0; i<n; i++){
        for(content kind=RANDOM; kind<CONTENTS; kind++){
          blob b = content_of(sizes[i], kind);
          encoded e = encode(c, b, level);
          char row[120];
          snprintf(row, sizeof(row), "%s, level %d, %zu bytes, %s", c->name, level, b.n, content_names[kind]);
          check_decodes(c, &e, b, row);
          free_encoded(&e);
          free(b.p);
        }
      }
    }
  }
}

/* A level changes the bytes, and none is another one's at the ends. */
TEST(test_levels_differ){
  blob b = content_of(MIB, TEXT);
  for(size_t k=0; k<COUNT(codecs); k++){
    encoded least = encode(&codecs[k], b, codecs[k].least), most = encode(&codecs[k], b, codecs[k].most<10 ? codecs[k].most : 12);
    check( most.bytes.n<least.bytes.n, "%s: %zu, %zu", codecs[k].name, most.bytes.n, least.bytes.n );
    free_encoded(&least);
    free_encoded(&most);
  }
  free(b.p);
}

TEST(test_other_codecs_do_not_encode){
  for(zt_codec_id id=ZT_CODEC_UNKNOWN; id<ZT_CODEC_COUNT; id++){
    bool one = false;
    for(size_t k=0; k<COUNT(codecs); k++) one |= codecs[k].id==id;
    check( (zt_frames_of(id)!=NULL)==one, "codec %d", (int)id );
  }
}

/* --- What zstd's frames say --- */

static void check_head(const uint8_t *p, size_t n, size_t length, unsigned checksum){
  unsigned long long size = ZSTD_getFrameContentSize(p, n);
  check( zt_le32(p)==ZSTD_MAGICNUMBER && size==length, "%llu, %zu", size, length );
  check( (p[4] & 0x04)==checksum && (p[4] & 0x03)==0, "descriptor %02x", p[4] );
  assert_int_equal(ZSTD_findFrameCompressedSize(p, n), n);
}

TEST(test_heads_of_zstd_frames){
  static const size_t sizes[] = { 1, 5*MIB };
  for(size_t k=0; k<2; k++){
    for(size_t i=0; i<COUNT(sizes); i++){
      blob b = content_of(sizes[i], TEXT);
      encoded e = encode(&codecs[k], b, 3);
      const uint8_t *p = e.bytes.p;
      for(size_t j=0; j<e.count; j++){
        check_head(p, e.lengths[j].stored, e.lengths[j].decoded, codecs[k].id==ZT_CODEC_SEEKABLE ? 0x04 : 0);
        p += e.lengths[j].stored;
      }
      if( codecs[k].id==ZT_CODEC_ZSTD ) assert_ptr_equal(p, e.bytes.p+e.bytes.n);
      free_encoded(&e);
      free(b.p);
    }
  }
}

/* A component without bytes: one empty frame in zstd, so that something decodes. */
TEST(test_nothing){
  blob none = { 0 };
  encoded e = encode(&codecs[0], none, 3);
  check_head(e.bytes.p, e.bytes.n, 0, 0);
  free_encoded(&e);
  e = encode(&codecs[1], none, 3);
  blob expected = blob_of("5e2a4d18 09000000 00000000 00 b1ea928f");   /* As zTensor 2.1.2 writes it */
  assert_true(same_blob(e.bytes, expected));
  free(expected.p);
  free_encoded(&e);
}

/* --- The table of places --- */

TEST(test_the_seek_table){
  blob b = content_of(2*MIB+3, MIXED);
  encoded e = encode(&codecs[1], b, 1);
  const uint8_t *p;
  size_t stored = 0;
  assert_int_equal(e.count, 3);
  for(size_t i=0; i<3; i++) stored += e.lengths[i].stored;
  assert_int_equal(e.bytes.n, stored+8+3*8+9);
  p = e.bytes.p+stored;
  assert_int_equal(zt_le32(p), 0x184D2A5E);
  assert_int_equal(zt_le32(p+4), 3*8+9);
  for(size_t i=0; i<3; i++){
    assert_int_equal(zt_le32(p+8+8*i), e.lengths[i].stored);
    assert_int_equal(zt_le32(p+12+8*i), i<2 ? MIB : 3);
  }
  assert_int_equal(zt_le32(p+32), 3);
  assert_int_equal(p[36], 0);
  assert_int_equal(zt_le32(p+37), 0x8F92EAB1);
  free_encoded(&e);
  free(b.p);
}

/* zTensor 2.1.2's part of one byte, 0, differs in one thing: its frame states a window of 2 MiB, and not its content's size. */
TEST(test_a_part_like_the_library_s){
  blob zero = blob_of("00"), expected = blob_of("28b52ffd 2401 090000 00 682705db 5e2a4d18 11000000 0e000000 01000000 01000000 00 b1ea928f");
  encoded e = encode(&codecs[1], zero, 3);
  check( same_blob(e.bytes, expected), "%zu bytes", e.bytes.n );
  free(zero.p);
  free(expected.p);
  free_encoded(&e);
}

/* --- Deflate --- */

static blob one_shot(blob b, int level){
  z_stream z = { .next_in = b.p, .avail_in = (uInt)b.n };
  blob out = { malloc(b.n+b.n/8+100), b.n+b.n/8+100, 0 };
  assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_out = out.p;
  z.avail_out = (uInt)out.n;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.n = z.total_out;
  deflateEnd(&z);
  return out;
}

TEST(test_a_frame_of_deflate_is_zlib_s){
  static const size_t sizes[] = { 0, 1, 100, 70*KIB, MIB };
  for(int level=1; level<=9; level++){
    for(size_t i=0; i<COUNT(sizes); i++){
      for(content kind=RANDOM; kind<CONTENTS; kind++){
        blob b = content_of(sizes[i], kind), expected = one_shot(b, level);
        encoded e = encode(&codecs[2], b, level);
        check( same_blob(e.bytes, expected), "level %d, %zu bytes, %s", level, b.n, content_names[kind] );
        free(expected.p);
        free_encoded(&e);
        free(b.p);
      }
    }
  }
}

/* A frame ends at a byte, with an empty block; and it refers to bytes in front of it, so that little is lost. */
TEST(test_frames_of_deflate_are_one_stream){
  const size_t period = 30000;
  blob b = content_of(2*MIB, RANDOM), whole;
  encoded e;
  const uint8_t *end;
  for(size_t i=period; i<b.n; i++) b.p[i] = b.p[i-period];
  whole = one_shot(b, 6);
  e = encode(&codecs[2], b, 6);
  assert_int_equal(e.count, 2);
  end = e.bytes.p+e.lengths[0].stored;
  assert_memory_equal(end-4, "\x00\x00\xff\xff", 4);
  check( e.bytes.n<whole.n+whole.n/50, "%zu, %zu bytes", e.bytes.n, whole.n );
  check( e.lengths[1].stored<period/2, "%u bytes", e.lengths[1].stored );
  free(whole.p);
  free_encoded(&e);
  free(b.p);
}

/* --- The same input, the same bytes --- */

typedef struct crew_member {
  const zt_frames *f;
  blob b;
  size_t first, step, count;
  int level;
  blob *out;                  /* Of each frame */
  int rc;
} crew_member;

static void *encode_some(void *context){
  crew_member *m = context;
  zt_error err = ZT_ERROR_NONE;
  for(size_t i=m->first; i<m->count && !m->rc; i+=m->step){
    m->out[i] = (blob){ malloc(m->f->bound(m->f->size)), 0, 0 };
    m->rc = encode_frame(m->f, m->b, i, m->level, m->out[i].p, &m->out[i].n, &err);
  }
  return NULL;
}

/* Frames from back to front in four threads, after others of another level and content. */
TEST(test_bytes_depend_on_input_and_level_alone){
  for(size_t k=0; k<COUNT(codecs); k++){
    static const int levels[] = { 1, 3, 6, 9 };
    const zt_frames *f = zt_frames_of(codecs[k].id);
    for(size_t l=0; l<COUNT(levels); l++){
      blob b = content_of(4*f->size+5, MIXED), out[5] = { { 0 } };
      encoded e = encode(&codecs[k], b, levels[l]);
      pthread_t threads[4];
      crew_member crew[4];
      size_t at = 0;
      for(size_t i=0; i<4; i++){
        crew[i] = (crew_member){ .f = f, .b = b, .first = 3-i, .step = 4, .count = 5, .level = levels[l], .out = out };
        assert_int_equal(pthread_create(&threads[i], NULL, encode_some, &crew[i]), 0);
      }
      for(size_t i=0; i<4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
      for(size_t i=0; i<5; i++){
        assert_int_equal(out[i].n, e.lengths[i].stored);
        check( memcmp(out[i].p, e.bytes.p+at, out[i].n)==0, "%s, level %d, frame %zu", codecs[k].name, levels[l], i );
        at += out[i].n;
        free(out[i].p);
      }
      for(size_t i=0; i<4; i++) assert_int_equal(crew[i].rc, 0);
      free_encoded(&e);
      free(b.p);
    }
  }
}

/* --- Memory --- */

typedef struct case_of_frames {
  const codec *c;
  blob b;
  int level;
} case_of_frames;

static int run_encode(const job *j){
  const case_of_frames *k = j->context;
  zt_error err = ZT_ERROR_NONE;
  encoded e;
  encode_all(zt_frames_of(k->c->id), k->b, k->level, &e, &err);
  if( !err.rc ) check_decodes(k->c, &e, k->b, j->what);
  free_encoded(&e);
  return code_of(&err);
}

/* A decoder that is short of memory is another test's: only the encoder fails. */
static int run_encode_alone(const job *j){
  const case_of_frames *k = j->context;
  const zt_frames *f = zt_frames_of(k->c->id);
  zt_error err = ZT_ERROR_NONE;
  zt_frame frame = { { NULL, 0 }, span_of(k->b), true, k->level };
  uint8_t *out = malloc(f->bound(k->b.n));
  size_t n;
  f->encode(&frame, out, &n, &err);
  check( !err.rc || n==0, "%zu", n );
  free(out);
  return code_of(&err);
}

TEST_WITH(test_memory_runs_out, disarm, NULL){
  blob b = content_of(50*KIB, MIXED);
  for(size_t k=0; k<COUNT(codecs); k++){
    for(int level=1; level<=9; level+=4){
      case_of_frames c = { &codecs[k], b, level };
      job j = { codecs[k].name, run_encode_alone, &c, SQLITE_OK, 2 };
      memory_arm(0, false);
      assert_int_equal(run_encode(&j), SQLITE_OK);
      sweep(&j);
    }
  }
  check_sweeps(2*3*COUNT(codecs), 2*2*3*COUNT(codecs));
  free(b.p);
}

static int begin(void **state){
  return !begin_sweeps() || make_file(state);
}

int main(void){
  return run_all("frames", begin, remove_file);
}
