/* Memory runs out where bytes are read: payloads, shards, digests. See oom.h. */
#include "oom.h"

#include "container/content_id.h"
#include "seekable.h"
#include "core/digest.h"
#include "tensor/content.h"
#include "tensors.h"

/* --- Payloads --- */

#define CONTENT 300000   /* More than the first room of a buffer that grows */

static char payload_path[] = "/tmp/ztensor-oom-XXXXXX";
static blob content;

typedef struct read {
  zt_source *source;
  zt_object object;
  zt_component component;
  uint64_t start, length;   /* Wanted */
} read_job;

static zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<40 };

static int read_payload(const job *j){
  const read_job *r = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_payload p = { .source = r->source, .object = &r->object, .component = &r->component, .budget = &budget };
  zt_buffer out = { (uint8_t*)&err, 7 };
  zt_content_read(&p, r->start, r->length, &out, &err);
  if( err.rc ){
    check( out.p==NULL, "%s", j->what );
    check( out.n==0, "%s: a failure, and a buffer of %llu bytes", j->what, (unsigned long long)out.n );
  }else{
    assert_int_equal(out.n, r->length<CONTENT-r->start ? r->length : CONTENT-r->start);
    assert_memory_equal(out.p, content.p+r->start, (size_t)out.n);
  }
  zt_buffer_free(out.p);
  return code_of(&err);
}

static int read_stored(const job *j){
  const read_job *r = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_payload p = { .source = r->source, .object = &r->object, .component = &r->component, .budget = &budget };
  zt_buffer out = { (uint8_t*)&err, 7 };
  zt_content_stored(&p, &out, &err);
  if( err.rc ) assert_true(out.p==NULL && out.n==0);
  else assert_int_equal(out.n, r->component.length);
  zt_buffer_free(out.p);
  return code_of(&err);
}

static int check_digest(const job *j){
  const read_job *r = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_payload p = { .source = r->source, .object = &r->object, .component = &r->component, .budget = &budget };
  const char *status = "unset";
  zt_content_digest(&p, &status, &err);
  if( err.rc ) assert_null(status);
  else assert_string_equal(status, "mismatch");
  return code_of(&err);
}

/* A component of the file that set_up_payload() wrote: zstd at 64, raw after it. */
static blob payload_file;
static size_t zstd_length;

static int set_up_payload(void **state){
  int fd = mkstemp(payload_path);
  size_t room = ZSTD_compressBound(CONTENT), n;
  (void)state;
  for(size_t i=0; i<CONTENT; i++) put_byte(&content, (unsigned)(i*i>>8 & 0xFF));
  put_repeated(&payload_file, 0, 64);
  put_room(&payload_file, room);
  n = ZSTD_compress(payload_file.p+64, room, content.p, CONTENT, 1);
  if( fd<0 || ZSTD_isError(n) ) return 1;
  zstd_length = n;
  payload_file.n = 64+n;
  put(&payload_file, content.p, content.n);
  write_file(payload_path, payload_file.p, payload_file.n);
  return close(fd);
}

static int tear_down_payload(void **state){
  (void)state;
  free(content.p);
  free(payload_file.p);
  return unlink(payload_path);
}

typedef enum payload_kind { PLAIN, ZSTD_KNOWN, ZSTD_UNKNOWN } payload_kind;

static read_job payload(payload_kind kind, bool image){
  zt_error err = ZT_ERROR_NONE;
  read_job r = {
    .object = { .format = ZT_TEXT_INIT("any"), .elements = CONTENT },
    .component = { .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u8"), .encoding = ZT_TEXT_INIT("zstd"), .codec = ZT_CODEC_ZSTD, .digests = ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, .offset = 64,
      .length = zstd_length,
      .has_decoded_length = kind==ZSTD_KNOWN, .decoded_length = CONTENT },
    .length = UINT64_MAX
  };
  if( kind==PLAIN ){
    r.component.encoding = ZT_TEXT("raw");
    r.component.codec = ZT_CODEC_RAW;
    r.component.offset = 64+zstd_length;
    r.component.length = CONTENT;
  }
  if( image ) assert_int_equal(zt_source_open_image(span_of(payload_file), &r.source, &err), SQLITE_OK);
  else assert_int_equal(zt_source_open(payload_path, NULL, &r.source, &err), SQLITE_OK);
  return r;
}

static void sweep_reads(const char *what, payload_kind kind, unsigned least){
  static const struct { uint64_t start, length; } ranges[] = { { 0, UINT64_MAX }, { 0, 10 }, { 200000, 70000 },
      { 1, UINT64_MAX } };
  for(int image=0; image<2; image++){
    read_job r = payload(kind, image);
    for(size_t i=0; i<COUNT(ranges); i++){
      job j = { what, read_payload, &r, SQLITE_OK, least };
      r.start = ranges[i].start;
      r.length = ranges[i].length;
      sweep(&j);
    }
    zt_source_close(r.source);
  }
}

TEST_WITH(test_raw_payloads, disarm, NULL){
  sweep_reads("raw", PLAIN, 1);
}

TEST_WITH(test_zstd_payloads_of_unknown_length, disarm, NULL){
  sweep_reads("zstd, the length not known", ZSTD_UNKNOWN, 3);
}

TEST_WITH(test_zstd_payloads_of_known_length, disarm, NULL){
  sweep_reads("zstd, the length known", ZSTD_KNOWN, 1);
}

TEST_WITH(test_stored_bytes_and_digests, disarm, NULL){
  static const char *const digests[] = { "crc32c:00000000",
      "sha256:0000000000000000000000000000000000000000000000000000000000000000" };
  for(int image=0; image<2; image++){
    read_job r = payload(PLAIN, image);
    job stored = { "stored", read_stored, &r, SQLITE_OK, 1 };
    sweep(&stored);
    for(size_t i=0; i<COUNT(digests); i++){
      job digest = { digests[i], check_digest, &r, SQLITE_OK, image ? 1 : 2 };
      r.component.digest = (zt_text){ digests[i], strlen(digests[i]) };
      sweep(&digest);
    }
    zt_source_close(r.source);
  }
}

/* Failures of payloads: each has a message, or there was no memory for one. */
TEST_WITH(test_payloads_that_cannot_be_read, disarm, NULL){
  read_job r = payload(ZSTD_KNOWN, true);
  job j = { "a frame cut", read_payload, &r, SQLITE_ERROR, 2 };
  r.component.length = 100;
  r.component.has_decoded_length = false;
  sweep(&j);
  r.component.encoding = ZT_TEXT("lz4");
  j.what = "an unknown encoding";
  j.least = 1;
  sweep(&j);
  zt_source_close(r.source);
}

/* --- Frames with a table: zt.zstd-seekable/1 --- */

TEST_WITH(test_seekable_payloads, disarm, NULL){
  static const struct { uint64_t start, length; } ranges[] = { { 0, UINT64_MAX }, { 0, 10 }, { 200000, 70000 }, { 299999, 5 }, { 1, UINT64_MAX } };
  static const size_t eaches[] = { 40000, 300000 };
  char path[] = "/tmp/ztensor-oom-seekable-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd>=0 && close(fd)==0);
  for(size_t e=0; e<COUNT(eaches); e++){
    blob stored = seekable_part(content.p, CONTENT, eaches[e], SUMS, NULL);
    write_file(path, stored.p, stored.n);
    for(int image=0; image<2; image++){
      for(int broken=0; broken<2; broken++){
        zt_error err = ZT_ERROR_NONE;
        read_job r = { .object = { .format = ZT_TEXT_INIT("any"), .elements = CONTENT },
          .component = { .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u8"), .encoding = ZT_TEXT_INIT(SEEKABLE), .codec = ZT_CODEC_SEEKABLE, .length = stored.n-(size_t)broken,
                         .has_decoded_length = true, .decoded_length = CONTENT } };
        if( image ) assert_int_equal(zt_source_open_image(span_of(stored), &r.source, &err), SQLITE_OK);
        else assert_int_equal(zt_source_open(path, NULL, &r.source, &err), SQLITE_OK);
        for(size_t i=0; i<COUNT(ranges); i++){
          job j = { SEEKABLE, read_payload, &r, broken ? SQLITE_ERROR : SQLITE_OK, broken ? 3 : 4 };
          r.start = ranges[i].start;
          r.length = ranges[i].length;
          sweep(&j);
        }
        zt_source_close(r.source);
      }
    }
    free(stored.p);
  }
  unlink(path);
}

/* --- Shards, and what a model is identified by --- */

/* Every component of a file, whose bytes may be in others. The first failure is the result. */
static int read_all(const job *j){
  const char *path = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_container *c = NULL;
  zt_budget limits = { .result = 1000000000, .decode = UINT64_MAX };
  zt_source_open(path, NULL, &source, &err);
  if( source ) zt_container_open(source, NULL, &c, &err);
  for(uint32_t i=0; c && !err.rc && i<zt_container_objects(c); i++){
    zt_object object;
    zt_container_object(c, i, &object);
    for(uint32_t k=zt_container_first(c, i); !err.rc && k<zt_container_first(c, i+1); k++){
      zt_component component;
      zt_payload p = { .source = source, .object = &object, .component = &component, .budget = &limits };
      const char *status = NULL;
      zt_buffer out;
      zt_container_component(c, i, k, ZT_COMPONENT_ALL, &component);
      zt_content_read(&p, 0, UINT64_MAX, &out, &err);
      if( err.rc ) assert_true(out.p==NULL && out.n==0);
      zt_buffer_clear(&out);
      if( !err.rc ) zt_content_digest(&p, &status, &err);
    }
  }
  zt_container_close(c);
  zt_source_close(source);
  return code_of(&err);
}

TEST_WITH(test_shards, disarm, NULL){
  static const struct { const char *path; int otherwise; } files[] = {
    { "tests/formats/ztensor/golden/v2/hand_sharded.zt", SQLITE_OK },
    { "tests/formats/ztensor/golden/v2/hand_sharded_missing.zt", SQLITE_ERROR },
    { "tests/formats/ztensor/golden/v2/crate_overlay.zt", SQLITE_OK },
  };
  for(size_t i=0; i<COUNT(files); i++){
    job j = { files[i].path, read_all, files[i].path, files[i].otherwise, 8 };
    sweep(&j);
  }
}

typedef struct id_job {
  opened *o;
  blob want;
} id_job;

static int identify(const job *j){
  id_job *q = (id_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE;
  char text[ZT_DIGEST_TEXT] = "";
  bool known = false;
  zt_content_id(q->o->container, text, &known, &err);
  if( !err.rc ){
    blob got = { 0 };
    put_byte(&got, known);
    if( known ) put(&got, text, strlen(text));
    if( !q->want.p ) q->want = exact(got.p, got.n);
    else check( same_blob(got, q->want), "%s: '%s'", j->what, text );
    free(got.p);
  }
  return code_of(&err);
}

TEST_WITH(test_content_ids, disarm, NULL){
  static const char *const names[] = { "v2/wheel_names", "v2/hand_unknown_fields", "v2/hand_sharded", "v2/hand_bad_data" };
  for(size_t i=0; i<COUNT(names); i++){
    char path[100];
    opened o;
    id_job context = { &o, { 0 } };
    job j = { names[i], identify, &context, SQLITE_OK, 1 };
    snprintf(path, sizeof(path), "tests/formats/ztensor/golden/%s.zt", names[i]);
    open_path(&o, path);
    assert_int_equal(identify(&j), SQLITE_OK);   /* With enough memory, for the comparison */
    sweep(&j);
    close_opened(&o);
    free(context.want.p);
  }
}

/* --- Digests by name, types by name --- */

static int hash(const job *j){
  const read_job *r = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_payload p = { .source = r->source, .object = &r->object, .component = &r->component, .budget = &budget };
  char text[ZT_DIGEST_TEXT];
  budget.decoded = 0;
  zt_content_hash(&p, (zt_text){ j->what, strlen(j->what) }, text, &err);
  if( !err.rc ) check( strncmp(text, j->what, strlen(j->what))==0 && strlen(text)>=15, "%s: %s", j->what, text );
  return code_of(&err);
}

TEST_WITH(test_hashes, disarm, NULL){
  static const char *const algorithms[] = { "crc32c", "sha256", "xxh3", "none" };
  for(int kind=PLAIN; kind<=ZSTD_UNKNOWN; kind++){
    for(int image=0; image<2; image++){
      read_job r = payload((payload_kind)kind, image);
      for(size_t i=0; i<COUNT(algorithms); i++){
        job j = { algorithms[i], hash, &r, i<3 ? SQLITE_OK : SQLITE_ERROR, i<3 ? 2 : 1 };
        sweep(&j);
      }
      zt_source_close(r.source);
    }
  }
}

static int find_dtype(const job *j){
  zt_error err = ZT_ERROR_NONE;
  const zt_dtype *d = (const zt_dtype*)&err;
  zt_dtype_find((zt_text){ j->what, strlen(j->what) }, &d, &err);
  assert_int_equal(d==NULL, err.rc!=SQLITE_OK);
  return code_of(&err);
}

TEST_WITH(test_a_dtype_that_is_not_known, disarm, NULL){
  job j = { "float", find_dtype, NULL, SQLITE_ERROR, 3 };
  sweep(&j);
}

TEST_WITH(test_failures_were_injected, disarm, NULL){
  check_sweeps(150, 1000);
}

int main(void){
  if( !begin_sweeps() ) return 1;
  return run_all("oom payload", set_up_payload, tear_down_payload);
}
