/*
** Encoding in frames where memory runs out, in each allocation, and in several threads at once. test_frames.c has the rest.
*/
#include "oom.h"
#include "frames.h"

#include <pthread.h>

/* --- Threads --- */

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

/* Frames in four threads have the bytes of frames in one. */
TEST(test_threads_give_the_same_bytes){
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

static int run_encode_alone(const job *j){
  const case_of_frames *k = j->context;
  const zt_frames *f = zt_frames_of(k->c->id);
  zt_error err = ZT_ERROR_NONE;
  zt_frame frame = { { NULL, 0 }, span_of(k->b), true, k->level, NULL };
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
  return run_all("oom_frames", begin, remove_file);
}
