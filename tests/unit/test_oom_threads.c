/*
** Memory runs out while several threads decode, convert, compare and check. See oom.h. The pool has one thread beside that of the
** test, and it has started before memory is short: what it took is not given back.
*/
#include "oom.h"

#include "core/pool.h"
#include "seekable.h"
#include "subject.h"
#include "tensor/check.h"
#include "tensor/compare.h"
#include "tensor/content.h"
#include "tensor/encoding.h"
#include "tensors.h"

static zt_pool *pool;

/* Once with all memory, and then with less and less. */
static void sweep_with_threads(const job *j){
  memory_arm(0, false);
  assert_int_equal(j->run(j), j->otherwise);
  sweep(j);
}

static blob content_of(size_t n){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)(i*i>>8 & 0xFF));
  return b;
}

/* --- Encodings --- */

typedef struct encoded_job {
  subject subject;
  blob content;
} encoded_job;

/* A failure leaves the content to one thread. */
static int decode_together(const job *j){
  const encoded_job *e = j->context;
  zt_error err = ZT_ERROR_NONE;
  uint8_t *out = malloc(e->content.n);
  bool done = false;
  zt_encoding_zstd.together(&e->subject.payload, out, e->content.n, &done, &err);
  if( done ) assert_memory_equal(out, e->content.p, e->content.n);
  else assert_true(memory.injected>0);
  free(out);
  return code_of(&err);
}

static int hash_pieces(const job *j){
  const encoded_job *e = j->context;
  zt_error err = ZT_ERROR_NONE;
  char text[ZT_DIGEST_TEXT];
  zt_content_hash(&e->subject.payload, ZT_TEXT("crc32c"), text, &err);
  if( !err.rc ) assert_true(strncmp(text, "crc32c:", 7)==0);
  return code_of(&err);
}

static void sweep_encoded(const char *encoding, blob stored, blob content, int (*run)(const job *j), unsigned least){
  for(int as_file=0; as_file<2; as_file++){
    encoded_job e = { .content = content };
    job j = { encoding, run, &e, SQLITE_OK, least };
    place_subject(&e.subject, 100, span_of(stored), 0, encoding, as_file);
    tell_length(&e.subject, BY_FIELD, content.n);
    e.subject.payload.object = &e.subject.object;
    e.subject.payload.component = &e.subject.component;
    e.subject.payload.budget = &e.subject.budget;
    e.subject.budget.pool = pool;
    sweep_with_threads(&j);
    close_subject(&e.subject);
  }
}

TEST_WITH(test_frames_of_zstd, disarm, NULL){
  blob content = content_of(40000), stored = { 0 };
  for(size_t i=0; i<8; i++) put_zstd(&stored, content.p+i*5000, 5000);
  sweep_encoded("zstd", stored, content, decode_together, 0);
  free(stored.p);
  free(content.p);
}

TEST_WITH(test_frames_with_a_table, disarm, NULL){
  blob content = content_of(400000), stored = seekable_part(content.p, content.n, 20000, 0, NULL);
  sweep_encoded(SEEKABLE, stored, content, hash_pieces, 4);
  free(stored.p);
  free(content.p);
}

/* --- Ranges --- */

#define ELEMENTS ((size_t)5 << 19)   /* They are in five ranges */

typedef struct ranges_job_of {
  opened *o;
  const char *as;          /* NULL: compare */
} ranges_job_of;

static int go_through(const job *j){
  const ranges_job_of *r = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t, other;
  zt_buffer out = { NULL, 0 };
  zt_comparison c;
  r->o->budget.pool = pool;
  zt_tensor_open(r->o->source, r->o->container, &r->o->object, &r->o->budget, &t, &err);
  if( !err.rc && r->as ){
    zt_assemble(&t, named(r->as), 0, r->o->object.elements, &out, &err);
    if( !err.rc ) assert_int_equal(out.n, 2*ELEMENTS);
    zt_buffer_clear(&out);
  }else if( !err.rc ){
    if( zt_tensor_open(r->o->source, r->o->container, &r->o->object, &r->o->budget, &other, &err)==SQLITE_OK
     && zt_compare(&t, &other, &c, &err)==SQLITE_OK ) assert_true(c.pairs==ELEMENTS && c.equal==ELEMENTS);
    zt_tensor_close(&other);
  }
  zt_tensor_close(&t);
  return code_of(&err);
}

TEST_WITH(test_ranges, disarm, NULL){
  static const char *const types[] = { "i16", NULL, "f4_e2m1" };
  recipe r = { .format = "dense", .rank = 1, .shape = { ELEMENTS } };
  blob data = { 0 };
  opened o;
  put_repeated(&data, 1, ELEMENTS);
  data.p[3*ELEMENTS/5+7] = 7;   /* f4_e2m1 does not have it */
  add_part(&r, "data", "u8", NULL, data);
  open_recipe(&o, &r, NULL, "ranges");
  for(size_t i=0; i<COUNT(types); i++){
    ranges_job_of context = { &o, types[i] };
    job j = { types[i] ? types[i] : "a comparison", go_through, &context, i==2 ? SQLITE_ERROR : SQLITE_OK, 4 };
    sweep_with_threads(&j);
  }
  close_opened(&o);
  clear_recipe(&r);
}

/* --- Checks --- */

static int check_all(const job *j){
  const opened *o = j->context;
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  const zt_budget limits = { .result = 1000000000, .decode = (uint64_t)1<<40, .pool = pool };
  zt_check *c = NULL;
  size_t n = 0;
  zt_check_open(o->source, o->container, true, &limits, j->what, &c, &err);
  while( c && zt_check_next(c, &found, &err) ){
    zt_error_clear(&found);
    found = ZT_ERROR_NONE;
    n++;
  }
  zt_check_close(c);
  if( !err.rc ) assert_true(n>10);
  return code_of(&err);
}

TEST_WITH(test_findings, disarm, NULL){
  opened o;
  job j = { "hand_bad_objects", check_all, &o, SQLITE_OK, 6 };
  open_path(&o, "tests/formats/ztensor/golden/v1.2/hand_bad_objects.zt");
  sweep_with_threads(&j);
  close_opened(&o);
}

TEST_WITH(test_failures_were_injected, disarm, NULL){
  check_sweeps(16, 150);
}

static int begin(void **state){
  if( !begin_sweeps() || make_file(state) ) return 1;
  pool = zt_pool_new(1);
  return pool==NULL;
}

static int end(void **state){
  zt_pool_free(pool);
  return remove_file(state);
}

int main(void){
  return run_all("oom threads", begin, end);
}
