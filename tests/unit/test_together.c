/*
** The frames of one component of zstd on several threads: tensor/zstd_together.c. Which components it takes, and the same bytes
** or the same error as with one thread.
*/
#include "frames.h"
#include "tensors.h"

#include "core/pool.h"
#include "tensor/content.h"
#include "tensor/stream.h"

#define ALL UINT64_MAX

/* How content is stored. */
typedef enum form { ONE, TWO, MANY, EMPTY_ONES, SKIPPABLE, CHECKSUMS, UNSTATED, WIDE, JUNK_BEHIND, LESS, MORE, FORMS } form;

static const char *const form_names[FORMS] = { "one frame", "two frames", "many frames", "frames without content", "skippable frames",
  "checksums", "a frame that does not state its content", "a window of 2^28 bytes", "bytes behind the last frame", "less content than told",
  "more content than told" };

/* Whether threads can take it. */
static const bool form_taken[FORMS] = { [TWO] = true, [MANY] = true, [EMPTY_ONES] = true, [SKIPPABLE] = true, [CHECKSUMS] = true };

static void put_checked(blob *b, const uint8_t *p, size_t n){
  ZSTD_CCtx *ctx = ZSTD_createCCtx();
  size_t room = ZSTD_compressBound(n), length;
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
  length = ZSTD_compress2(ctx, put_room(b, room), room, p, n);
  assert_false(ZSTD_isError(length));
  b->n -= room-length;
  ZSTD_freeCCtx(ctx);
}

/* A frame with a window of 2^28 bytes that states its content: a raw block. */
static void put_wide_window(blob *b, const uint8_t *p, size_t n){
  put_hex(b, "28b52ffd 80 90");
  for(int i=0; i<4; i++) put_byte(b, (unsigned)(n>>8*i & 0xFF));
  for(int i=0; i<3; i++) put_byte(b, (unsigned)((n<<3 | 1)>>8*i & 0xFF));
  put(b, p, n);
}

static blob stored_as(form f, blob whole){
  const size_t third = whole.n/3;
  blob b = { 0 };
  if( f==ONE ) put_zstd(&b, whole.p, whole.n);
  else if( f==MANY ) for(size_t i=0; i<16; i++) put_zstd(&b, whole.p+i*whole.n/16, (i+1)*whole.n/16-i*whole.n/16);
  else if( f==UNSTATED ) put_zstd_wide(&b, whole.p, third);
  else if( f==WIDE ) put_wide_window(&b, whole.p, third);
  else if( f==CHECKSUMS ) put_checked(&b, whole.p, third);
  else put_zstd(&b, whole.p, third);
  if( f==EMPTY_ONES ) for(int i=0; i<3; i++) put_zstd(&b, NULL, 0);
  if( f==SKIPPABLE ) put_hex(&b, "512a4d18 03000000 010203");
  if( f!=ONE && f!=MANY ) put_zstd(&b, whole.p+third, whole.n-third-(f==LESS));
  if( f==SKIPPABLE ) put_hex(&b, "5f2a4d18 00000000");
  if( f==JUNK_BEHIND ) put_hex(&b, "00");
  if( f==MORE ) put_zstd(&b, whole.p, 1);
  return seal(&b);
}

static void open_frames(subject *s, blob stored, uint64_t total, bool as_file){
  place_subject(s, 100, span_of(stored), as_file ? 64 : 0, "zstd", as_file);
  tell_length(s, BY_FIELD, total);
}

TEST(test_which_components_several_threads_decode){
  zt_pool *pool = zt_pool_new(3);
  blob whole = content_of(40000, MIXED);
  for(form f=0; f<FORMS; f++){
    for(int as_file=0; as_file<2; as_file++){
      blob stored = stored_as(f, whole), out = { calloc(1, whole.n), whole.n, whole.n };
      zt_error err = ZT_ERROR_NONE;
      bool done = !form_taken[f];
      subject s;
      open_frames(&s, stored, whole.n, as_file);
      s.budget.pool = pool;
      zt_encoding_zstd.together(&s.payload, out.p, out.n, &done, &err);
      assert_succeeded(&err, form_names[f]);
      check( done==form_taken[f], "%s: %d", form_names[f], done );
      if( done ) assert_memory_equal(out.p, whole.p, whole.n);
      close_subject(&s);
      free(stored.p);
      free(out.p);
    }
  }
  zt_pool_free(pool);
  free(whole.p);
}

/* The result of a read. */
typedef struct answer {
  zt_buffer out;
  zt_error err;
  uint64_t decoded;
} answer;

static answer read_with(subject *s, zt_pool *pool){
  answer a = { .err = ZT_ERROR_NONE };
  s->budget.pool = pool;
  s->budget.decoded = 0;
  zt_content_read(&s->payload, 0, ALL, &a.out, &a.err);
  a.decoded = s->budget.decoded;
  return a;
}

static void free_answer(answer *a){
  zt_buffer_clear(&a->out);
  zt_error_clear(&a->err);
}

/* Return whether the read succeeded. */
static bool check_same(subject *s, zt_pool *pool, const char *row, size_t i){
  answer one = read_with(s, NULL), many = read_with(s, pool);
  const bool sound = one.err.rc==SQLITE_OK;
  check( one.err.rc==many.err.rc, "%s, %zu: %d, with threads %d", row, i, one.err.rc, many.err.rc );
  check( sound || strcmp(one.err.message, many.err.message)==0, "%s, %zu: %s, with threads %s", row, i, one.err.message, many.err.message );
  check( !sound || one.decoded==many.decoded, "%s, %zu: other bytes charged", row, i );
  check( one.out.n==many.out.n && (one.out.n==0 || memcmp(one.out.p, many.out.p, (size_t)one.out.n)==0), "%s, %zu: other bytes", row, i );
  free_answer(&one);
  free_answer(&many);
  return sound;
}

TEST(test_any_byte_changed_or_cut_gives_the_same_with_threads){
  zt_pool *pool = zt_pool_new(3);
  blob whole = content_of(600, TEXT);
  for(form f=0; f<FORMS; f++){
    blob stored = stored_as(f, whole);
    size_t sound = 0, faults = 0;
    for(size_t i=0; i<stored.n; i++){
      for(int bit=-1; bit<8; bit++){
        blob changed = exact(stored.p, stored.n);
        subject s;
        if( bit<0 ) changed.n = i;   /* Cut there */
        else changed.p[i] ^= (uint8_t)(1<<bit);
        open_frames(&s, changed, whole.n, false);
        if( check_same(&s, pool, form_names[f], i) ) sound++;
        else faults++;
        close_subject(&s);
        free(changed.p);
      }
    }
    check( faults>=stored.n, "%s: %zu of %zu changes are faults", form_names[f], faults, faults+sound );   /* Each cut */
    free(stored.p);
  }
  zt_pool_free(pool);
  free(whole.p);
}

TEST(test_any_number_of_threads_gives_the_same){
  blob whole = content_of(6*MIB, MIXED);
  for(form f=0; f<FORMS; f++){
    blob stored = stored_as(f, whole);
    for(int threads=1; threads<=8; threads*=2){
      zt_pool *pool = zt_pool_new(threads);
      subject s;
      open_frames(&s, stored, whole.n, true);
      check_same(&s, pool, form_names[f], (size_t)threads);
      close_subject(&s);
      zt_pool_free(pool);
    }
    free(stored.p);
  }
  free(whole.p);
}

/* More headers than content is worth are not read: hostile files have a frame for every 9 bytes. */
TEST(test_many_frames_without_content_are_left_to_one_thread){
  zt_pool *pool = zt_pool_new(3);
  blob whole = content_of(1000, TEXT), stored = { 0 };
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[1000];
  bool done = true;
  subject s;
  put_zstd(&stored, whole.p, 500);
  for(int i=0; i<1000; i++) put_hex(&stored, "28b52ffd 20 00 010000");
  put_zstd(&stored, whole.p+500, 500);
  open_frames(&s, stored, whole.n, false);
  s.budget.pool = pool;
  zt_encoding_zstd.together(&s.payload, out, sizeof(out), &done, &err);
  assert_succeeded(&err, "many frames");
  assert_false(done);
  check( check_same(&s, pool, "many frames", 1), "it is sound" );
  close_subject(&s);
  zt_pool_free(pool);
  free(stored.p);
  free(whole.p);
}

/* Bytes that the file does not have, which the component's length says: those of headers, and those of a frame's content. */
TEST(test_a_file_that_ends_before_the_component){
  zt_pool *pool = zt_pool_new(3);
  for(int as_file=0; as_file<2; as_file++){
    for(int headers=0; headers<2; headers++){
      blob whole = content_of(40000, MIXED), stored = { 0 }, out = { calloc(1, whole.n+2000), 0, 0 };
      zt_error err = ZT_ERROR_NONE;
      bool done = true;
      subject s;
      if( !as_file && !headers ) headers = 1;   /* An image's bytes are not read, but used where they are */
      put_zstd(&stored, whole.p, whole.n);
      if( !headers ){
        put_hex(&stored, "28b52ffd a0 d0070000");   /* 2000 bytes */
        put_hex(&stored, "813e00");                 /* In one raw block, the last */
        put_repeated(&stored, 3, 600);
      }
      place_subject(&s, 100, span_of(stored), 0, "zstd", as_file);
      tell_length(&s, BY_FIELD, whole.n+(headers ? 0 : 2000));
      s.component.length += headers ? 300 : 1400;
      s.budget.pool = pool;
      zt_encoding_zstd.together(&s.payload, out.p, whole.n+(headers ? 1 : 2000), &done, &err);
      assert_succeeded(&err, "cut");
      assert_false(done);
      close_subject(&s);
      free(stored.p);
      free(out.p);
      free(whole.p);
    }
  }
  zt_pool_free(pool);
}

/* A frame whose content may be decoded in one call, but whose stored bytes are more than that, in raw blocks. */
TEST(test_a_frame_of_more_stored_bytes_than_content){
  enum { BLOCK = 128*1024 };
  const size_t n = (size_t)ZT_WHOLE_MAX;
  zt_pool *pool = zt_pool_new(1);
  zt_error err = ZT_ERROR_NONE;
  blob stored = { 0 };
  uint8_t *out = malloc(n+3);
  bool done = true;
  subject s;
  put_hex(&stored, "28b52ffd 80 38");
  for(int i=0; i<4; i++) put_byte(&stored, (unsigned)(n>>8*i & 0xFF));
  for(size_t at=0; at<n; at+=BLOCK){
    for(int i=0; i<3; i++) put_byte(&stored, (unsigned)((BLOCK<<3 | (at+BLOCK==n))>>8*i & 0xFF));
    put_repeated(&stored, 7, BLOCK);
  }
  put_zstd(&stored, "abc", 3);
  open_frames(&s, stored, n+3, false);
  s.budget.pool = pool;
  zt_encoding_zstd.together(&s.payload, out, n+3, &done, &err);
  assert_succeeded(&err, "stored bytes");
  assert_false(done);
  close_subject(&s);
  zt_pool_free(pool);
  free(out);
  free(stored.p);
}

/* Threads decode what the budget allows, for one reader. */
TEST(test_budgets_and_readers){
  zt_pool *pool = zt_pool_new(3);
  blob whole = content_of(40000, MIXED), stored = stored_as(MANY, whole);
  uint8_t *out = malloc(whole.n);
  for(int way=0; way<3; way++){
    zt_error err = ZT_ERROR_NONE;
    zt_stream *stream;
    size_t got;
    subject s;
    open_frames(&s, stored, whole.n, true);
    s.budget.pool = pool;
    if( way==1 ) s.budget.decode = 39999;
    if( way==2 ) s.payload.side_by_side = 2;
    memset(out, 0, whole.n);
    assert_int_equal(zt_stream_open(&s.payload, &stream, &err), SQLITE_OK);
    zt_stream_read(stream, 0, out, whole.n, &got, &err);
    if( way==1 ){
      assert_int_equal(err.rc, SQLITE_TOOBIG);
      assert_string_equal(err.message, "ztensor: zstd: more than 39999 bytes would have to be decoded");
    }else{
      assert_succeeded(&err, "budget");
      assert_memory_equal(out, whole.p, whole.n);
      assert_int_equal(s.budget.decoded, whole.n);
    }
    zt_error_clear(&err);
    zt_stream_close(stream);
    close_subject(&s);
  }
  zt_pool_free(pool);
  free(out);
  free(stored.p);
  free(whole.p);
}

static bool stops_at_once(void *context){
  (void)context;
  return true;
}

TEST(test_an_interrupt_is_the_only_error){
  zt_pool *pool = zt_pool_new(3);
  blob whole = content_of(40000, MIXED), stored = stored_as(MANY, whole);
  zt_error err = ZT_ERROR_NONE;
  uint8_t *out = malloc(whole.n);
  bool done = true;
  subject s;
  open_frames(&s, stored, whole.n, false);
  s.budget.pool = pool;
  s.budget.interrupt = (zt_interrupt){ stops_at_once, NULL };
  assert_int_equal(zt_encoding_zstd.together(&s.payload, out, whole.n, &done, &err), SQLITE_INTERRUPT);
  assert_false(done);
  zt_error_clear(&err);
  close_subject(&s);
  zt_pool_free(pool);
  free(out);
  free(stored.p);
  free(whole.p);
}

int main(void){
  return run_all("together", make_file, remove_file);
}
