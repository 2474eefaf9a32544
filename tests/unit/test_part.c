/*
** A component on its way into an output: tensor/part.h. Its stored bytes are those that test_frames.c decodes, whatever the pieces
** in which its decoded bytes come and the number of threads.
*/
#include "oom.h"
#include "frames.h"

#include "tensor/part.h"

#define EVERY_DIGEST 3

static const unsigned digests[EVERY_DIGEST] = { ZT_DIGEST_XXH3, ZT_DIGEST_CRC32C, ZT_DIGEST_SHA256 };

/* A part that is written behind other bytes. */
typedef struct making {
  zt_part_options options;
  int threads;             /* Beside this one */
  size_t piece;            /* Bytes given at once; 0: all */
  uint64_t most;           /* Of the output; 0: enough */
  zt_part_room *room;      /* NULL: one of its own */
  caller caller;
} making;

typedef struct made {
  blob bytes;              /* The whole output */
  zt_stored stored;
  char digest[ZT_DIGEST_TEXT];
  uint64_t decoded;
} made;

#define FRONT "in front"
#define FRONT_SIZE (sizeof(FRONT)-1)

static int take_pieces(zt_part *p, blob b, size_t piece, zt_error *err){
  for(size_t at=0, n=piece; at<b.n && !err->rc; at+=n){
    if( piece==0 || b.n-at<piece ) n = b.n-at;
    blob own = exact(b.p+at, n);
    zt_part_take(p, span_of(own), err);
    free(own.p);
  }
  return err->rc;
}

static int make_in(making *m, blob b, zt_part_room *room, zt_output *output, zt_budget *budget, made *out, zt_error *err){
  zt_part *p = NULL;
  if( zt_output_append(output, (zt_span){ (const uint8_t*)FRONT, FRONT_SIZE }, err) ) return err->rc;
  if( zt_part_open(&m->options, room, output, budget, &p, err)==SQLITE_OK && take_pieces(p, b, m->piece, err)==SQLITE_OK
   && zt_part_finish(p, &out->stored, out->digest, &out->decoded, err)==SQLITE_OK ){
    uint64_t n;
    uint8_t *bytes = zt_output_take(output, &n);
    out->bytes = exact(bytes, (size_t)n);
    sqlite3_free(bytes);
  }
  zt_part_close(p);
  return err->rc;
}

/* Free out->bytes.p. */
static int make(making *m, blob b, made *out, zt_error *err){
  zt_output *output = NULL;
  zt_pool *pool = zt_pool_new(m->threads);
  zt_part_room *room = m->room ? m->room : zt_part_room_new(err);
  zt_budget budget = { .decode = (uint64_t)1<<40, .pool = pool };
  if( m->caller.stop_at ) budget.interrupt = (zt_interrupt){ .interrupted = caller_stops, .context = &m->caller };
  *out = (made){ .decoded = 0 };
  if( room && zt_output_open_memory(m->most ? m->most : (uint64_t)1<<30, &output, err)==SQLITE_OK ){
    make_in(m, b, room, output, &budget, out, err);
  }
  zt_output_close(output);
  if( !m->room ) zt_part_room_free(room);
  zt_pool_free(pool);
  return err->rc;
}

static made made_of(making m, blob b, const char *row){
  zt_error err = ZT_ERROR_NONE;
  made out;
  make(&m, b, &out, &err);
  assert_succeeded(&err, row);
  return out;
}

static void digest_text(unsigned algorithm, zt_span bytes, char text[ZT_DIGEST_TEXT]){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d = zt_digest_begin(algorithm, &err);
  zt_digest_update(d, bytes);
  zt_digest_text(d, text);
  zt_digest_close(d);
}

/* The output is FRONT and the bytes. */
static void check_made(const made *m, zt_span expected, blob decoded, const char *row){
  check( m->bytes.n==FRONT_SIZE+expected.n && memcmp(m->bytes.p, FRONT, FRONT_SIZE)==0, "%s: %zu bytes", row, m->bytes.n );
  check( expected.n==0 || memcmp(m->bytes.p+FRONT_SIZE, expected.p, expected.n)==0, "%s: other bytes", row );
  check( m->stored.offset==FRONT_SIZE && m->stored.length==expected.n, "%s: [%llu, %llu]", row, (unsigned long long)m->stored.offset,
         (unsigned long long)m->stored.length );
  check( m->decoded==decoded.n, "%s: %llu decoded", row, (unsigned long long)m->decoded );
}

/* --- Bytes --- */

TEST(test_raw_bytes_stay_as_they_are){
  static const size_t sizes[] = { 0, 1, 8, 70001 }, pieces[] = { 0, 1, 3, 4096 };
  for(size_t i=0; i<COUNT(sizes); i++){
    for(size_t k=0; k<COUNT(pieces); k++){
      blob b = content_of(sizes[i], MIXED);
      made m = made_of((making){ .options = { .codec = ZT_CODEC_RAW }, .piece = pieces[k] }, b, "raw");
      check_made(&m, span_of(b), b, "raw");
      assert_string_equal(m.digest, "");
      assert_true(m.stored.xxh3==0 && m.stored.crc32==0);
      free(m.bytes.p);
      free(b.p);
    }
  }
}

/* Frames are those of the encoding, with its trailer. */
TEST(test_pieces_and_threads_give_the_same_bytes){
  static const int threads[] = { 0, 1, 5 };
  for(size_t k=0; k<COUNT(codecs); k++){
    const codec *c = &codecs[k];
    const size_t sizes[] = { 0, 1, c->size-1, c->size, c->size+1, 9*c->size+77 };
    const size_t pieces[] = { 0, c->size, c->size+1, 100003 };
    for(size_t i=0; i<COUNT(sizes); i++){
      blob b = content_of(sizes[i], TEXT);
      encoded e = encode(c, b, 1);
      for(size_t t=0; t<COUNT(threads); t++){
        char row[100];
        made m = made_of((making){ .options = { .codec = c->id, .level = 1 }, .threads = threads[t], .piece = pieces[(i+t)%COUNT(pieces)] },
                         b, c->name);
        snprintf(row, sizeof(row), "%s, %zu bytes, %d threads", c->name, b.n, threads[t]);
        check_made(&m, span_of(e.bytes), b, row);
        free(m.bytes.p);
      }
      free_encoded(&e);
      free(b.p);
    }
  }
}

/* More frames than the trailer has room for at first. */
TEST(test_many_frames_with_a_table){
  for(size_t k=0; k<COUNT(codecs); k++){
    blob b = { 0 };
    encoded e;
    made m;
    if( codecs[k].id!=ZT_CODEC_SEEKABLE ) continue;
    put_repeated(&b, 7, 70*codecs[k].size);
    e = encode(&codecs[k], b, 1);
    m = made_of((making){ .options = { .codec = codecs[k].id, .level = 1 }, .threads = 1 }, b, "many frames");
    check_made(&m, span_of(e.bytes), b, "many frames");
    free(m.bytes.p);
    free_encoded(&e);
    free(b.p);
  }
}

/* A room for one number of threads, and then for another. */
TEST(test_a_room_for_other_threads){
  static const int threads[] = { 1, 1, 3, 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_part_room *room = zt_part_room_new(&err);
  blob b = content_of(3*MIB+5, TEXT);
  for(size_t k=0; k<COUNT(codecs); k++){
    encoded e = encode(&codecs[k], b, 1);
    for(size_t t=0; t<COUNT(threads); t++){
      made m = made_of((making){ .options = { .codec = codecs[k].id, .level = 1 }, .threads = threads[t], .room = room }, b, codecs[k].name);
      check_made(&m, span_of(e.bytes), b, codecs[k].name);
      free(m.bytes.p);
    }
    free_encoded(&e);
  }
  zt_part_room_free(room);
  free(b.p);
}

TEST(test_a_level_is_the_encoding_s){
  blob b = content_of(MIB+5, TEXT);
  for(size_t k=0; k<COUNT(codecs); k++){
    encoded e = encode(&codecs[k], b, 9);
    made m = made_of((making){ .options = { .codec = codecs[k].id, .level = 9 }, .threads = 1 }, b, codecs[k].name);
    check_made(&m, span_of(e.bytes), b, codecs[k].name);
    free(m.bytes.p);
    free_encoded(&e);
  }
  free(b.p);
}

/* One room serves parts of any encoding and number of threads, one after the other. */
TEST(test_a_room_is_used_again){
  zt_error err = ZT_ERROR_NONE;
  zt_part_room *room = zt_part_room_new(&err);
  for(size_t i=0; i<12; i++){
    const codec *c = &codecs[i%COUNT(codecs)];
    blob b = content_of(i%2 ? 30 : c->size+9, i%2 ? TEXT : MIXED);
    encoded e = encode(c, b, 1);
    made m = made_of((making){ .options = { .codec = c->id, .level = 1 }, .threads = (int)(i/4), .room = room }, b, c->name);
    check_made(&m, span_of(e.bytes), b, c->name);
    free(m.bytes.p);
    free_encoded(&e);
    free(b.p);
  }
  zt_part_room_free(room);
  zt_part_room_free(NULL);
}

/* --- Digests --- */

/* Published check values of "123456789". */
TEST(test_digests_of_known_bytes){
  static const struct { unsigned digest; const char *text; } rows[] = {
    { ZT_DIGEST_CRC32C, "crc32c:e3069283" }, { ZT_DIGEST_SHA256, "sha256:15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225" },
  };
  blob b = exact("123456789", 9);
  for(size_t i=0; i<COUNT(rows); i++){
    made m = made_of((making){ .options = { .codec = ZT_CODEC_RAW, .digest = rows[i].digest, .crc32 = true }, .piece = 2 }, b, "known");
    assert_string_equal(m.digest, rows[i].text);
    assert_true(m.stored.crc32==0xCBF43926);
    free(m.bytes.p);
  }
  free(b.p);
}

/* Each digest covers stored bytes or decoded ones; xxh3 is that of stored bytes, crc32 that of decoded ones. */
static void check_digests(zt_codec_id id, blob b, const char *row){
  for(size_t i=0; i<2*EVERY_DIGEST; i++){
    const bool of_decoded = i>=EVERY_DIGEST;
    const zt_part_options options = { .codec = id, .level = 1, .digest = digests[i%EVERY_DIGEST], .digest_of_decoded = of_decoded,
                                      .xxh3 = true, .crc32 = true };
    made m = made_of((making){ .options = options, .piece = 50000 }, b, row);
    const zt_span stored = { m.bytes.p+FRONT_SIZE, m.bytes.n-FRONT_SIZE };
    char expected[ZT_DIGEST_TEXT], crc[ZT_DIGEST_TEXT];
    digest_text(options.digest, of_decoded ? span_of(b) : stored, expected);
    digest_text(ZT_DIGEST_CRC32, span_of(b), crc);
    check( strcmp(m.digest, expected)==0, "%s: %s, not %s", row, m.digest, expected );
    check( m.stored.crc32==strtoul(crc+strlen("crc32:"), NULL, 16), "%s: %08x", row, m.stored.crc32 );
    check( m.stored.xxh3==zt_digest_xxh3(stored), "%s: %016llx", row, (unsigned long long)m.stored.xxh3 );
    free(m.bytes.p);
  }
}

TEST(test_digests_of_stored_and_of_decoded_bytes){
  blob b = content_of(2*MIB+9, TEXT), none = { 0 };
  check_digests(ZT_CODEC_RAW, b, "raw");
  check_digests(ZT_CODEC_RAW, none, "nothing, raw");
  for(size_t k=0; k<COUNT(codecs); k++){
    check_digests(codecs[k].id, b, codecs[k].name);
    check_digests(codecs[k].id, none, codecs[k].name);
  }
  free(b.p);
}

/* --- Failures --- */

/* The output is full: at once, in the middle of frames that others encode, or at the trailer. */
TEST(test_an_output_that_is_full){
  blob b = content_of(6*MIB, RANDOM);
  for(size_t k=0; k<=COUNT(codecs); k++){
    const zt_part_options options = { .codec = k<COUNT(codecs) ? codecs[k].id : ZT_CODEC_RAW, .level = 1 };
    made whole = made_of((making){ .options = options }, b, "whole");
    const uint64_t most[] = { FRONT_SIZE, FRONT_SIZE+MIB/2, whole.bytes.n-1 };
    for(size_t i=0; i<COUNT(most); i++){
      making m = { .options = options, .threads = 2, .most = most[i], .piece = 70000 };
      zt_error err = ZT_ERROR_NONE;
      made out;
      make(&m, b, &out, &err);
      check( err.rc==SQLITE_TOOBIG, "%d, %s", err.rc, err.message ? err.message : "no message" );
      assert_null(out.bytes.p);
      zt_error_clear(&err);
    }
    free(whole.bytes.p);
  }
  free(b.p);
}

/* An interrupt ends a part, with what waits for threads. */
TEST(test_interrupts){
  blob b = content_of(20*MIB, TEXT);
  for(size_t k=0; k<=COUNT(codecs); k++){
    for(int threads=0; threads<3; threads+=2){
      making m = { .options = { .codec = k<COUNT(codecs) ? codecs[k].id : ZT_CODEC_RAW, .level = 1 }, .threads = threads, .piece = 300000,
                   .caller = { .stop_at = 3 } };
      zt_error err = ZT_ERROR_NONE;
      made out;
      make(&m, b, &out, &err);
      check( err.rc==SQLITE_INTERRUPT, "codec %zu: %d, asked %d times", k, err.rc, m.caller.asked );
      assert_null(out.bytes.p);
      zt_error_clear(&err);
    }
  }
  free(b.p);
}

/* --- Memory --- */

static int run_make(const job *j){
  const codec *c = j->context;
  making m = { .options = { .codec = c ? c->id : ZT_CODEC_RAW, .level = 1, .digest = ZT_DIGEST_SHA256, .xxh3 = true, .crc32 = true } };
  zt_error err = ZT_ERROR_NONE;
  blob b = content_of(c ? c->size+5 : 100, ZEROS);
  made out;
  if( make(&m, b, &out, &err)==SQLITE_OK ) check( out.decoded==b.n && out.stored.length==out.bytes.n-FRONT_SIZE, "%s", j->what );
  free(out.bytes.p);
  free(b.p);
  return code_of(&err);
}

TEST_WITH(test_memory_runs_out, disarm, NULL){
  const job jobs[] = {
    { "raw", run_make, NULL, SQLITE_OK, 5 }, { "zstd", run_make, &codecs[0], SQLITE_OK, 8 },
    { "seekable", run_make, &codecs[1], SQLITE_OK, 9 }, { "deflate", run_make, &codecs[2], SQLITE_OK, 8 },
  };
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
  check_sweeps(2*COUNT(jobs), 50);
}

int main(void){
  return begin_sweeps() ? run_all("part", NULL, NULL) : 1;
}
