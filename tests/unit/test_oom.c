/*
** Every allocation that core, container and tensor make fails once, and from there on. Whatever fails, the call says
** SQLITE_NOMEM, or gives the right result where it can do without that memory; and all memory is given back.
**
** The library gets an allocator that fails on demand before it is initialized. What libzstd and libcrypto allocate
** for themselves is not under its control.
*/
#include "tensors.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "container/container.h"
#include "container/content_id.h"
#include "core/json.h"
#include "core/keys.h"
#include "core/paths.h"
#include "rules.h"
#include "seekable.h"
#include "zt2.h"
#include "../oom/memory.h"
#include "tensor/check.h"
#include "tensor/content.h"
#include "tensor/stats.h"

/* --- The sweep --- */

/* Before each test: one that failed leaves the allocator armed. */
static int disarm(void **state){
  (void)state;
  memory_arm(0, false);
  return 0;
}

/* Something to do: returns SQLITE_OK after it proved that its result is right, or SQLITE_NOMEM, or `otherwise`. It cleans
** up after itself either way. */
typedef struct job {
  const char *what;
  int (*run)(const struct job *job);
  const void *context;
  int otherwise;          /* What comes of it with memory enough; SQLITE_OK for most */
  unsigned least;         /* Allocations that it makes at least */
} job;

static uint64_t sweeps, failures;

static void sweep(const job *j){
  for(int on=0; on<2; on++){
    unsigned n = 0, nomem = 0;
    do{
      size_t before = memory.outstanding;
      int rc;
      memory_arm(++n, on);
      rc = j->run(j);
      check( n<100000, "%s: no end", j->what );
      memory.fails_at = 0;
      check( memory.outstanding==before, "%s: allocation %u %s: %zd bytes were not given back", j->what, n, on ? "and all after it" :
          "alone", (ssize_t)(memory.outstanding-before) );
      if( memory.injected==0 ) check( rc==j->otherwise, "%s: %d", j->what, rc );
      else check( rc==SQLITE_NOMEM || rc==j->otherwise, "%s: allocation %u: %d", j->what, n, rc );
      nomem += rc==SQLITE_NOMEM;
      failures += memory.injected;
    }while( memory.injected>0 );
    check( n-1>=j->least, "%s: %u allocations", j->what, n-1 );
    check( j->least==0 || nomem>0, "%s: never SQLITE_NOMEM", j->what );
    sweeps++;
  }
}

/* After SQLITE_NOMEM there is no message, or none that says another thing. Clears the error. */
static int code_of(zt_error *err){
  int rc = err->rc;
  if( rc==SQLITE_NOMEM ) assert_null(err->message);
  else if( rc ) assert_non_null(err->message);
  zt_error_clear(err);
  return rc;
}

/* --- Sources and containers --- */

static int open_source_file(const job *j){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s = (zt_source*)&err;
  zt_source_open(j->context, NULL, &s, &err);
  assert_true((s==NULL)==(err.rc!=SQLITE_OK));
  zt_source_close(s);
  return code_of(&err);
}

static int open_source_image(const job *j){
  zt_error err = ZT_ERROR_NONE;
  zt_source *s = (zt_source*)&err;
  uint8_t byte;
  zt_source_open_image((zt_span){ j->context, 4 }, &s, &err);
  assert_true((s==NULL)==(err.rc!=SQLITE_OK));
  if( s ) zt_source_read(s, 3, &byte, 2, &err);
  zt_source_close(s);
  return code_of(&err);
}

static void test_sources(void **state){
  static const job jobs[] = {
    { "a file", open_source_file, "tests/golden/README.md", SQLITE_OK, 1 },
    { "no file", open_source_file, "tests/golden/none", SQLITE_ERROR, 2 },
    { "a directory", open_source_file, "tests/golden", SQLITE_ERROR, 2 },
    { "an image, read beyond its end", open_source_image, "abcd", SQLITE_ERROR, 2 },
  };
  (void)state;
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
}

/* A file to open, and what is in it if it opens. */
typedef struct file {
  const char *path;
  blob bytes;
  bool image;
  uint32_t objects, components;
  size_t manifest;
} file;

static int open_container(const job *j){
  const file *f = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_container *c = NULL;
  if( f->image ) zt_source_open_image(span_of(f->bytes), &source, &err);
  else zt_source_open(f->path, NULL, &source, &err);
  if( source ){
    c = (zt_container*)&err;
    zt_container_open(source, &c, &err);
    assert_true((c==NULL)==(err.rc!=SQLITE_OK));
    assert_true(!err.object.z && !err.component.z);
  }
  if( c ){
    assert_int_equal(zt_container_objects(c), f->objects);
    assert_int_equal(zt_container_components(c), f->components);
    assert_int_equal(zt_container_manifest(c).n, f->manifest);
    for(uint32_t i=0; i<f->objects; i++) assert_int_equal(zt_container_find(c, zt_container_name(c, i)), i);
  }
  zt_container_close(c);
  zt_source_close(source);
  return code_of(&err);
}

static void sweep_file(const char *path, int otherwise, unsigned least){
  for(int image=0; image<2; image++){
    file f = { .path = path, .bytes = read_file(path), .image = image };
    job j = { path, open_container, &f, otherwise, least };
    if( otherwise==SQLITE_OK ){
      zt_error err = ZT_ERROR_NONE;
      zt_source *source;
      zt_container *c;
      assert_int_equal(zt_source_open(path, NULL, &source, &err), SQLITE_OK);
      assert_int_equal(zt_container_open(source, &c, &err), SQLITE_OK);
      f.objects = zt_container_objects(c);
      f.components = zt_container_components(c);
      f.manifest = zt_container_manifest(c).n;
      zt_container_close(c);
      zt_source_close(source);
    }
    sweep(&j);
    free(f.bytes.p);
  }
}

static void test_containers_of_every_generation(void **state){
  static const char *const names[] = {   /* Names in and out of order, strings in chunks, attributes, unknown fields */
    "v0.1/hand_custom_fields", "v0.1/hand_sparse", "v0.1/hand_padding_and_cbor", "v0.1/wheel_names", "v0.1/hand_17_bytes",
    "v1.0/hand_components",
    "v1.0/hand_unknown_fields", "v1.0/wheel_names", "v1.0/crate_crc32c", "v1.1/hand_cbor_variants", "v1.1/hand_quantized",
    "v1.1/wheel_names",
    "v1.1/crate_digests_attributes", "v1.2/hand_attributes", "v1.2/hand_attributes_indefinite", "v1.2/hand_cbor_chunks",
    "v1.2/hand_cbor_reversed",
    "v1.2/hand_cbor_wide", "v1.2/hand_names", "v1.2/hand_order", "v1.2/hand_unknown_fields", "v1.2/wheel_names",
    "v1.2/wheel_quantized", "v2/hand_attribute_kinds", "v2/hand_sharded", "v2/hand_unknown_fields", "v2/wheel_names", "v2/wheel_ranks",
    "v2/wheel_shared",
  };
  (void)state;
  for(size_t i=0; i<COUNT(names); i++){
    char path[300];
    snprintf(path, sizeof(path), "tests/golden/%s.zt", names[i]);
    sweep_file(path, SQLITE_OK, 3);
  }
}

/* A file that must be refused is refused, or memory was too short to say why. */
static void test_files_that_break_rules(void **state){
  (void)state;
  for(size_t i=0; i<COUNT(rule_files); i++){
    char path[300];
    if( !rule_files[i].message || !rule_of_manifest(&rule_files[i]) ) continue;
    snprintf(path, sizeof(path), "tests/hostile/%s.zt", rule_files[i].file);
    sweep_file(path, SQLITE_ERROR, 3);
  }
}

/* Thousands of objects, out of order: the index grows many times. Room ahead of need is not needed. */
static void test_a_container_of_many_objects(void **state){
  for(int ascending=0; ascending<2; ascending++){
    blob b = { 0 }, manifest = { 0 };
    file f = { .image = true, .objects = 3000, .components = 3000 };
    job j = { "many objects", open_container, &f, SQLITE_OK, ascending ? 5 : 10 };
    (void)state;
    put_map(&manifest, 2);
    put_text(&manifest, "version");
    put_text(&manifest, "1.2.0");
    put_text(&manifest, "objects");
    put_byte(&manifest, 0xBF);   /* How many is not said ahead */
    for(unsigned i=0; i<3000; i++){
      char name[16];
      snprintf(name, sizeof(name), "%08x", ascending ? i : i*2654435761u);
      put_text(&manifest, name);
      put_map(&manifest, 3);
      put_text(&manifest, "shape");
      put_array(&manifest, 0);
      put_text(&manifest, "format");
      put_text(&manifest, "dense");
      put_text(&manifest, "components");
      put_map(&manifest, 1);
      put_text(&manifest, "data");
      put_map(&manifest, 3);
      put_text(&manifest, "dtype");
      put_text(&manifest, "u8");
      put_text(&manifest, "offset");
      put_uint(&manifest, 64);
      put_text(&manifest, "length");
      put_uint(&manifest, 1);
    }
    put_byte(&manifest, 0xFF);
    put(&b, "ZTEN1000", 8);
    put_repeated(&b, 0, 64);
    put(&b, manifest.p, manifest.n);
    put_le64(&b, manifest.n);
    put(&b, "ZTEN1000", 8);
    f.bytes = b;
    f.manifest = manifest.n;
    sweep(&j);
    free(b.p);
    free(manifest.p);
  }
}

/* --- Keys --- */

typedef struct key_set {
  blob bytes;
  size_t at[300], n;
} key_set;

static int add_keys(const job *j){
  const key_set *set = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_keys k;
  bool duplicate = false;
  zt_keys_init(&k, span_of(set->bytes));
  for(size_t i=0; i<set->n && !err.rc; i++){
    zt_error unused = ZT_ERROR_NONE;
    zt_cbor c;
    zt_text text;
    zt_cbor_init_trusted(&c, k.bytes, set->at[i], 0, &unused);
    zt_cbor_text(&c, &text);
    if( zt_keys_add(&k, set->bytes.p+set->at[i], text, &duplicate, &err)==SQLITE_OK ) assert_int_equal(zt_keys_find(&k, text),
        i);
    assert_false(duplicate);
  }
  if( !err.rc ) assert_int_equal(k.at.n, set->n);
  zt_keys_clear(&k);
  return code_of(&err);
}

static int skip_unique(const job *j){
  const blob *map = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c;
  bool ok;
  zt_cbor_init(&c, map->p, map->n, &err);
  ok = zt_cbor_skip_unique(&c, "S2", "m");
  assert_int_equal(ok, err.rc==SQLITE_OK);
  if( ok ) assert_ptr_equal(c.p, c.end);
  return code_of(&err);
}

static void test_keys(void **state){
  static key_set set;
  job j = { "keys", add_keys, &set, SQLITE_OK, 5 };
  (void)state;
  for(int kind=0; kind<3; kind++){   /* Ascending; not; ascending but for the last */
    set = (key_set){ .n = 300 };
    for(unsigned i=0; i<300; i++){
      char name[16];
      snprintf(name, sizeof(name), "%08x", kind==1 ? i*2654435761u : kind==2 && i==299 ? 0 : i+1);
      set.at[i] = set.bytes.n;
      put_text(&set.bytes, name);
    }
    sweep(&j);
    free(set.bytes.p);
  }
  for(int twice=0; twice<2; twice++){
    blob map = { 0 };
    j = (job){ "a map", skip_unique, &map, twice ? SQLITE_ERROR : SQLITE_OK, 3 };
    put_map(&map, 100);
    for(unsigned i=0; i<100; i++){
      put_uint(&map, twice && i==99 ? 50 : 99-i);
      put_uint(&map, i);
    }
    sweep(&j);
    free(map.p);
  }
}

/* Memory for more than is there now is welcome, not needed. */
static void test_positions(void **state){
  zt_error err = ZT_ERROR_NONE;
  zt_positions p = { 0 };
  (void)state;
  memory_arm(1, true);
  zt_positions_reserve(&p, 100);
  assert_true(memory.injected==1 && p.capacity==0);
  assert_int_equal(zt_positions_push(&p, 7, &err), SQLITE_NOMEM);
  assert_int_equal(p.n, 0);
  assert_int_equal(code_of(&err), SQLITE_NOMEM);
  memory_arm(0, false);
  zt_positions_reserve(&p, 100);
  assert_int_equal(p.capacity, 100);
  for(uint32_t i=0; i<50; i++) assert_int_equal(zt_positions_push(&p, i*i, &err), SQLITE_OK);
  memory_arm(1, true);
  zt_positions_trim(&p);
  assert_true(memory.injected==1 && p.capacity==100 && p.n==50);
  memory_arm(0, false);
  zt_positions_trim(&p);
  assert_true(p.capacity==50 && p.n==50);
  for(uint32_t i=0; i<50; i++) assert_int_equal(p.a[i], i*i);
  memory_arm(1, true);
  assert_int_equal(zt_positions_push(&p, 7, &err), SQLITE_NOMEM);
  memory_arm(0, false);
  assert_int_equal(code_of(&err), SQLITE_NOMEM);
  for(uint32_t i=0; i<50; i++) assert_int_equal(p.a[i], i*i);
  zt_positions_clear(&p);
  assert_true(!p.a && p.capacity==0);
}

/* --- Paths --- */

typedef struct search {
  const char *source, *only;
  size_t n;
} search;

static int find_paths(const job *j){
  const search *s = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { .files = "*.zt", .only = s->only };
  zt_paths paths;
  zt_paths_find(s->source, &filter, &paths, &err);
  if( err.rc ) assert_true(paths.n==0 && !paths.a);
  else assert_int_equal(paths.n, s->n);
  zt_paths_clear(&paths);
  return code_of(&err);
}

static int one_path(const job *j){
  const search *s = j->context;
  zt_error err = ZT_ERROR_NONE;
  char *path = (char*)&err;
  zt_stat stat;
  zt_paths_one(s->source, &path, &stat, &err);
  assert_true((path==NULL)==(err.rc!=SQLITE_OK));
  sqlite3_free(path);
  return code_of(&err);
}

static void test_paths(void **state){
  static search searches[] = {   /* n: set below where it is 1000 */
    { "tests/golden/v1.0", NULL, 1000 }, { "tests/golden/**/hand_*.zt", NULL, 1000 }, { "tests/*/v1.[01]/*ranks.zt", NULL, 2 },
    { "tests/golden/none*", NULL, 0 },
    { "tests/golden/v1.2/hand_names.zt", NULL, 1 }, { "file:tests/golden/v1.2/hand%5Fnames.zt", NULL, 1 },
    { "file:tests/golden/v1.1/wheel_*%2Ezt", NULL, 1000 },
    { "tests/golden/**/*.zt", "tests/golden/v1.2/hand_names.zt", 1 }, { "tests/golden", "tests/golden/none.zt", 0 },
  };
  static const search missing[] = { { "tests/none.zt", NULL, 0 }, { "file://host/none.zt", NULL, 0 },
      { "file:tests/none%2Ezt", NULL, 0 }, { "file:tests/%zz", NULL, 0 } };
  (void)state;
  for(size_t i=0; i<COUNT(searches); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = { .files = "*.zt" };
    zt_paths paths;
    job j = { searches[i].source, find_paths, &searches[i], SQLITE_OK, 2 };
    if( searches[i].n==1000 ){
      assert_int_equal(zt_paths_find(searches[i].source, &filter, &paths, &err), SQLITE_OK);
      assert_true(paths.n>5);
      searches[i].n = paths.n;
      zt_paths_clear(&paths);
    }
    sweep(&j);
  }
  for(size_t i=0; i<COUNT(missing); i++){
    job find = { missing[i].source, find_paths, &missing[i], SQLITE_ERROR, 1 },
        one = { missing[i].source, one_path, &missing[i], SQLITE_ERROR, 1 };
    sweep(&find);
    sweep(&one);
  }
  for(size_t i=4; i<6; i++){
    job one = { searches[i].source, one_path, &searches[i], SQLITE_OK, 1 };
    sweep(&one);
  }
}

/* Links to directories are remembered: that takes memory, too. */
static void test_paths_with_links(void **state){
  static const char *const sources[] = { "", "/*/x.zt", "/**/*/*.zt" };
  char tree[] = "/tmp/ztensor-oom-links-XXXXXX", path[200], command[100];
  (void)state;
  assert_non_null(mkdtemp(tree));
  snprintf(path, sizeof(path), "%s/real", tree);
  assert_int_equal(mkdir(path, 0755), 0);
  snprintf(path, sizeof(path), "%s/real/x.zt", tree);
  write_file(path, "x", 1);
  for(int i=0; i<9; i++){
    snprintf(path, sizeof(path), "%s/other%d", tree, i);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/link%d", tree, i);
    snprintf(command, sizeof(command), "other%d", i);
    assert_int_equal(symlink(i%2 ? command : "real", path), 0);
  }
  for(size_t i=0; i<COUNT(sources); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = { .files = "*.zt" };
    zt_paths paths;
    search s = { path, NULL, 0 };
    job j = { sources[i], find_paths, &s, SQLITE_OK, 5 };
    snprintf(path, sizeof(path), "%s%s", tree, sources[i]);
    assert_int_equal(zt_paths_find(path, &filter, &paths, &err), SQLITE_OK);
    assert_true(paths.n>0);
    s.n = paths.n;
    zt_paths_clear(&paths);
    sweep(&j);
  }
  snprintf(command, sizeof(command), "rm -rf %s", tree);
  assert_int_equal(system(command), 0);
}

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
    .component = { .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u8"), .encoding = ZT_TEXT_INIT("zstd"), .offset = 64,
      .length = zstd_length,
      .has_decoded_length = kind==ZSTD_KNOWN, .decoded_length = CONTENT },
    .length = UINT64_MAX
  };
  if( kind==PLAIN ){
    r.component.encoding = ZT_TEXT("raw");
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

static void test_raw_payloads(void **state){
  (void)state;
  sweep_reads("raw", PLAIN, 1);
}

static void test_zstd_payloads_of_unknown_length(void **state){
  (void)state;
  sweep_reads("zstd, the length not known", ZSTD_UNKNOWN, 3);
}

static void test_zstd_payloads_of_known_length(void **state){
  (void)state;
  sweep_reads("zstd, the length known", ZSTD_KNOWN, 1);
}

static void test_stored_bytes_and_digests(void **state){
  static const char *const digests[] = { "crc32c:00000000",
      "sha256:0000000000000000000000000000000000000000000000000000000000000000" };
  (void)state;
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
static void test_payloads_that_cannot_be_read(void **state){
  read_job r = payload(ZSTD_KNOWN, true);
  job j = { "a frame cut", read_payload, &r, SQLITE_ERROR, 2 };
  (void)state;
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

static void test_seekable_payloads(void **state){
  static const struct { uint64_t start, length; } ranges[] = { { 0, UINT64_MAX }, { 0, 10 }, { 200000, 70000 }, { 299999, 5 }, { 1, UINT64_MAX } };
  static const size_t eaches[] = { 40000, 300000 };
  char path[] = "/tmp/ztensor-oom-seekable-XXXXXX";
  int fd = mkstemp(path);
  (void)state;
  assert_true(fd>=0 && close(fd)==0);
  for(size_t e=0; e<COUNT(eaches); e++){
    blob stored = seekable_part(content.p, CONTENT, eaches[e], SUMS, NULL);
    write_file(path, stored.p, stored.n);
    for(int image=0; image<2; image++){
      for(int broken=0; broken<2; broken++){
        zt_error err = ZT_ERROR_NONE;
        read_job r = { .object = { .format = ZT_TEXT_INIT("any"), .elements = CONTENT, .strict = true },
          .component = { .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u8"), .encoding = ZT_TEXT_INIT(SEEKABLE), .strict = true, .length = stored.n-(size_t)broken,
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
  if( source ) zt_container_open(source, &c, &err);
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

static void test_shards(void **state){
  static const struct { const char *path; int otherwise; } files[] = {
    { "tests/golden/v2/hand_sharded.zt", SQLITE_OK }, { "tests/golden/v2/hand_sharded_missing.zt", SQLITE_ERROR }, { "tests/golden/v2/crate_overlay.zt", SQLITE_OK },
  };
  (void)state;
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

static void test_content_ids(void **state){
  static const char *const names[] = { "v2/wheel_names", "v2/hand_unknown_fields", "v2/hand_sharded", "v2/hand_bad_data" };
  (void)state;
  for(size_t i=0; i<COUNT(names); i++){
    char path[100];
    opened o;
    id_job context = { &o, { 0 } };
    job j = { names[i], identify, &context, SQLITE_OK, 1 };
    snprintf(path, sizeof(path), "tests/golden/%s.zt", names[i]);
    open_path(&o, path);
    assert_int_equal(identify(&j), SQLITE_OK);   /* Of all memory, to compare with */
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

static void test_hashes(void **state){
  static const char *const algorithms[] = { "crc32c", "sha256", "xxh3", "none" };
  (void)state;
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

static void test_a_dtype_that_is_not_known(void **state){
  job j = { "float32", find_dtype, NULL, SQLITE_ERROR, 3 };
  (void)state;
  sweep(&j);
}

/* --- Values --- */

/* What is asked of an object, and what comes of it. */
typedef enum question { ELEMENTS, RANGE, BYTES, CONVERTED, PACKED, NOT_ALL, TEXT, STATISTICS, QUESTIONS } question;

typedef struct tensor_job {
  opened *o;
  question question;
  blob want;               /* Filled where it is empty */
} tensor_job;

static void keep_or_compare(blob *want, const void *p, size_t n, const char *what){
  if( !want->p ) *want = exact(p ? p : "", n);
  else check( want->n==n && memcmp(want->p, p ? p : "", n)==0, "%s: another result", what );
}

static int ask_tensor(const job *j){
  tensor_job *q = (tensor_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out = { NULL, 0 };
  zt_tensor t;
  zt_stats stats;
  uint64_t n = q->o->object.elements, elements[2000];
  q->o->budget.decoded = 0;
  if( zt_tensor_open(q->o->source, q->o->container, &q->o->object, &q->o->budget, &t, &err)==SQLITE_OK ){
    if( q->question==RANGE ) n = n>3 ? n/3 : n;
    switch( q->question ){
      case ELEMENTS: case RANGE:
        assert_true(n*t.dtype->width<=sizeof(elements));
        zt_tensor_read(&t, q->question==RANGE ? 1 : 0, (size_t)n, elements, &err);
        if( !err.rc ) keep_or_compare(&q->want, elements, (size_t)n*t.dtype->width, j->what);
        break;
      case BYTES: zt_assemble(&t, t.dtype, 0, n, &out, &err); break;
      case CONVERTED: zt_assemble(&t, named("f64"), 0, n, &out, &err); break;
      case PACKED: zt_assemble(&t, named("f4_e2m1"), 0, n, &out, &err); break;
      case NOT_ALL: zt_assemble(&t, named("f8_e8m0"), 0, n, &out, &err); break;
      case STATISTICS:
        zt_stats_compute(&t, &stats, &err);
        if( !err.rc ) keep_or_compare(&q->want, &stats.mean, sizeof(stats.mean), j->what);
        break;
      default: {
        sqlite3_str *text = sqlite3_str_new(NULL);
        char *z;
        zt_assemble_json(&t, text, &err);
        if( !err.rc && sqlite3_str_errcode(text)==SQLITE_NOMEM ) zt_fail_nomem(&err);
        z = sqlite3_str_finish(text);
        if( !err.rc ) keep_or_compare(&q->want, z, strlen(z), j->what);
        sqlite3_free(z);
      }
    }
    if( q->question>=BYTES && q->question<=NOT_ALL && !err.rc ) keep_or_compare(&q->want, out.p, (size_t)out.n, j->what);
  }
  if( err.rc ) assert_true(out.p==NULL && out.n==0);
  zt_buffer_clear(&out);
  zt_tensor_close(&t);
  return code_of(&err);
}

static blob bytes_of(const uint8_t *p, size_t n, unsigned width){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_bits(&b, p[i], width);
  return b;
}

enum { DENSE, CSR, COO, QUANTIZED, OLD_CSR, OLD_COO, EMPTY, LAYOUTS };

/* Small objects of small values. Of those that are sparse, one cell has two, out of order. */
static recipe layout_of(int layout){
  static const uint8_t data[] = { 1, 2, 3, 0, 5, 6 }, indptr[] = { 0, 2, 4 }, indices[] = { 2, 0, 1, 1 }, ones[] = { 1, 1, 1, 1 }, rows[] = { 1, 0, 1, 1 };
  static const char *const formats[] = { "dense", "sparse_csr", "sparse_coo", "quantized_group", "sparsecsr", "sparsecoo", "sparse_coo" };
  recipe r = { .format = formats[layout], .rank = 2, .shape = { 2, 3 }, .old = layout==OLD_CSR || layout==OLD_COO };
  blob b = { 0 };
  switch( layout ){
    case DENSE: add_part(&r, "data", "i16", NULL, bytes_of(data, 6, 2)); break;
    case CSR:
      add_part(&r, "values", "u16", NULL, bytes_of(ones, 4, 2));
      add_part(&r, "indices", "i32", NULL, bytes_of(indices, 4, 4));
      add_part(&r, "indptr", "u64", NULL, bytes_of(indptr, 3, 8));
      break;
    case COO:
      b = bytes_of(rows, 4, 4);
      for(size_t i=0; i<4; i++) put_bits(&b, indices[i], 4);
      add_part(&r, "values", "u16", NULL, bytes_of(ones, 4, 2));
      add_part(&r, "coords", "u32", NULL, b);
      break;
    case QUANTIZED:
      r.shape[1] = 8;
      put_map(&r.attributes, 3);
      put_key_uint(&r.attributes, "bits", 2);
      put_key_uint(&r.attributes, "group_size", 4);
      put_key_text(&r.attributes, "packing", "4_per_u8");
      add_part(&r, "packed_weight", "u8", NULL, bytes_of((const uint8_t*)"\x1B\x1B\xE4\x00", 4, 1));
      for(size_t i=0; i<4; i++) put_real(&b, "f16", 1);
      add_part(&r, "scales", "f16", NULL, b);
      add_part(&r, "zeros", "u8", NULL, bytes_of(ones, 4, 1));
      break;
    case OLD_CSR:
      b = bytes_of(indptr, 3, 8);
      for(size_t i=0; i<4; i++) put_bits(&b, indices[i], 8);
      for(size_t i=0; i<4; i++) put_real(&b, "f32", 2);
      add_part(&r, "data", "float32", NULL, b);
      break;
    case OLD_COO:
      for(size_t i=0; i<4; i++){
        put_bits(&b, rows[i], 8);
        put_bits(&b, indices[i], 8);
        put_real(&b, "f64", 2);
      }
      add_part(&r, "data", "float64", NULL, b);
      break;
    default:
      r.shape[1] = 0;
      add_part(&r, "values", "f32", NULL, bytes_of(NULL, 0, 4));
      add_part(&r, "coords", "u8", NULL, bytes_of(NULL, 0, 1));
      break;
  }
  return r;
}

static void test_values_of_every_layout(void **state){
  static const char *const what[] = { "dense", "csr", "coo", "quantized", "csr of 0.1", "coo of 0.1", "nothing" };
  static char path[] = "/tmp/ztensor-oom-values-XXXXXX";
  int fd = mkstemp(path);
  (void)state;
  assert_true(fd>=0 && close(fd)==0);
  for(int layout=0; layout<LAYOUTS; layout++){
    for(int s=RAW; s<=ZSTD_STATED; s++){
      for(int image=0; image<2; image++){
        recipe r = layout_of(layout);
        opened o;
        if( r.old && s==ZSTD_STATED ) s = ZSTD;
        for(size_t i=0; i<r.n; i++) r.parts[i].storing = (storing)s;
        open_recipe(&o, &r, image ? NULL : path, what[layout]);
        for(int q=0; q<QUESTIONS; q++){
          tensor_job context = { &o, (question)q, { 0 } };
          job j = { what[layout], ask_tensor, &context, q==NOT_ALL && layout!=EMPTY ? SQLITE_ERROR : SQLITE_OK, layout==DENSE ? 2 : 3 };
          memory_arm(0, false);
          assert_int_equal(ask_tensor(&j), j.otherwise);   /* Of all memory, to compare with */
          sweep(&j);
          free(context.want.p);
        }
        close_opened(&o);
        clear_recipe(&r);
      }
      if( layout>=OLD_CSR && layout<=OLD_COO && s==ZSTD ) break;
    }
  }
  unlink(path);
}

/* Those of zTensor 2 that compute values. All bytes are zeros, which all have meanings. */
static void test_values_of_computed_layouts(void **state){
  static const char *const objects[] = {
    "'parts': {'data': {'blob': [4096, 16], 'type': 'f4_e2m1', 'dtype': 'u8'}, 'scales': {'blob': [8192, 4], 'type': 'f8_e8m0', 'dtype': 'u8'}},"
      "'shape': [8, 4], 'layout': 'zt.mx/1', 'attributes': {'axis': 0, 'block_size': 8, 'scale_form': 'e8m0_exponent'}",
    "'parts': {'data': {'blob': [4096, 8], 'dtype': 'u32'}, 'zeros': {'blob': [8192, 8], 'dtype': 'u32'}, 'scales': {'blob': [12288, 32], 'dtype': 'f16'}},"
      "'shape': [1, 16], 'layout': 'zt.quant_group/1', 'attributes': {'axis': 1, 'bits': 4, 'packing': {'word': 'u32', 'order': 'msb_first', 'per_word': 8}, 'group_size': 1,"
      "'scale_form': 'f16_factors', 'zero_point': {'form': 'tensor', 'packing': 'same_as_data'}}" };
  (void)state;
  for(size_t i=0; i<COUNT(objects); i++){
    char notation[1000];
    size_t mark;
    opened o;
    snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", objects[i]);
    open_bytes(&o, zt2_file(zt2_manifest(notation, &mark), 16384, 0), objects[i]);
    for(int q=0; q<QUESTIONS; q++){
      tensor_job context = { &o, (question)q, { 0 } };
      job j = { objects[i], ask_tensor, &context, q==NOT_ALL ? SQLITE_ERROR : SQLITE_OK, 3 };
      memory_arm(0, false);
      assert_int_equal(ask_tensor(&j), j.otherwise);
      sweep(&j);
      free(context.want.p);
    }
    close_opened(&o);
  }
}

/* What is wrong with an object is said, or memory was too short to say it. */
static void test_values_that_break_rules(void **state){
  (void)state;
  for(size_t i=0; i<COUNT(rule_files); i++){
    char path[300];
    if( !rule_files[i].message || !rule_of_values(&rule_files[i]) || rule_is_made(&rule_files[i]) ) continue;
    snprintf(path, sizeof(path), "tests/hostile/%s.zt", rule_files[i].file);
    for(int q=BYTES; q<QUESTIONS; q++){
      opened o;
      tensor_job context = { &o, (question)q, { 0 } };
      job j = { rule_files[i].file, ask_tensor, &context, SQLITE_ERROR, 1 };
      uint32_t bad = 0;
      open_path(&o, path);
      for(uint32_t k=0; k<zt_container_objects(o.container); k++){   /* The one that is at fault */
        zt_error err = ZT_ERROR_NONE;
        zt_buffer out = { NULL, 0 };
        zt_tensor t;
        zt_container_object(o.container, k, &o.object);
        memory_arm(0, false);
        if( zt_tensor_open(o.source, o.container, &o.object, &o.budget, &t, &err)==SQLITE_OK ) zt_assemble(&t, t.dtype, 0, o.object.elements, &out, &err);
        if( err.rc ) bad = k;
        zt_buffer_clear(&out);
        zt_tensor_close(&t);
        zt_error_clear(&err);
      }
      zt_container_object(o.container, bad, &o.object);
      if( q==BYTES || q==TEXT || q==STATISTICS ) sweep(&j);
      close_opened(&o);
    }
  }
}

/* --- Findings --- */

typedef struct check_job {
  opened *o;
  bool full;
  blob want;               /* Rules and messages, one after the other; filled where it is empty */
} check_job;

static int check_file(const job *j){
  check_job *q = (check_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  zt_budget limits = { .result = 1000000000, .decode = (uint64_t)1<<40 };
  zt_check *c = (zt_check*)&err;
  blob got = { 0 };
  zt_check_open(q->o->source, q->o->container, q->full, &limits, j->what, &c, &err);
  assert_true((c==NULL)==(err.rc!=SQLITE_OK));
  while( c && zt_check_next(c, &found, &err) ){
    assert_true(found.rc!=SQLITE_OK && found.rc!=SQLITE_NOMEM && found.rc!=SQLITE_INTERRUPT);
    assert_non_null(found.message);
    if( found.rule ) put(&got, found.rule, strlen(found.rule));
    put(&got, found.message, strlen(found.message));
    put(&got, found.parts.fault, strlen(found.parts.fault));
    zt_error_clear(&found);
    found = ZT_ERROR_NONE;
  }
  assert_null(found.message);
  zt_check_close(c);
  if( !err.rc ) keep_or_compare(&q->want, got.p, got.n, j->what);
  else check( got.n<=q->want.n && (got.n==0 || memcmp(got.p, q->want.p, got.n)==0), "%s: other findings before the failure", j->what );
  free(got.p);
  return code_of(&err);
}

static void test_findings(void **state){
  static const char *const names[] = {
    "golden/v0.1/hand_sparse", "golden/v0.1/hand_unrecognised", "golden/v1.0/hand_unknown_fields", "golden/v1.1/hand_digests",
    "golden/v1.1/hand_sparse_types", "golden/v1.2/hand_bad_objects", "golden/v1.2/hand_gaps", "golden/v1.2/hand_padding",
    "golden/v1.2/hand_quantized", "golden/v1.2/hand_shared_blob", "golden/v1.2/hand_sparse", "golden/v1.2/hand_unknown_type",
    "golden/v1.2/hand_zstd", "golden/v1.2/wheel_sparse", "hostile/1.2-ok-odd-names", "hostile/1.2-ok-zero-length-at-end",
    "golden/v2/hand_bad_data", "golden/v2/hand_sharded", "golden/v2/hand_unknown_vocabulary", "golden/v2/hand_sharded_missing",
    "golden/v2/hand_seekable_frames", "golden/v2/crate_overlay", "golden/v2/wheel_quant", "golden/v2/wheel_sparse",
  };
  (void)state;
  for(size_t i=0; i<COUNT(names); i++){
    for(int full=0; full<2; full++){
      opened o;
      char path[300];
      check_job context = { &o, full, { 0 } };
      job j = { names[i], check_file, &context, SQLITE_OK, full ? 4 : 2 };
      snprintf(path, sizeof(path), "tests/%s.zt", names[i]);
      if( i%2 ) open_path(&o, path);
      else open_bytes(&o, read_file(path), path);
      assert_int_equal(check_file(&j), SQLITE_OK);   /* Of all memory, to compare with */
      sweep(&j);
      close_opened(&o);
      free(context.want.p);
    }
  }
}

/* What zTensor 2 demands of data: every question about such an object fails, or memory was too short to say why. */
static void test_values_that_break_rules_of_data(void **state){
  static const struct { const char *what, *object, *hex[3]; } rows[] = {
    { "L9, a bool", "'parts': {'data': {'blob': [4096, 4], 'type': 'bool', 'dtype': 'u8'}}, 'shape': [4], 'layout': 'dense'", { "01000201" } },
    { "L9, a spare half", "'parts': {'data': {'blob': [4096, 2], 'type': 'f4_e2m1', 'dtype': 'u8'}}, 'shape': [3], 'layout': 'dense'", { "2111" } },
    { "L10", "'parts': {'coords': {'blob': [4096, 12], 'dtype': 'u32'}, 'values': {'blob': [8192, 3], 'dtype': 'u8'}}, 'shape': [4], 'layout': 'zt.sparse_coo/1'", { "020000000100000002000000", "010101" } },
    { "P7", "'parts': {'indptr': {'blob': [4096, 8], 'dtype': 'u32'}, 'values': {'blob': [8192, 2], 'dtype': 'u8'}, 'indices': {'blob': [12288, 8], 'dtype': 'u32'}}, 'shape': [1, 4], 'layout': 'zt.sparse_csr/1'",
      { "0000000002000000", "0101", "0200000001000000" } },
  };
  (void)state;
  for(size_t i=0; i<COUNT(rows); i++){
    char notation[1000];
    size_t mark;
    blob image;
    opened o;
    snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", rows[i].object);
    image = zt2_file(zt2_manifest(notation, &mark), 16384, 0);
    for(size_t k=0; k<3 && rows[i].hex[k]; k++){
      blob bytes = blob_of(rows[i].hex[k]);
      memcpy(image.p+ZT2_PAGE*(k+1), bytes.p, bytes.n);
      free(bytes.p);
    }
    open_bytes(&o, image, rows[i].what);
    for(int q=0; q<QUESTIONS; q++){
      tensor_job context = { &o, (question)q, { 0 } };
      check_job of_file = { &o, q%2, { 0 } };
      job j = { rows[i].what, ask_tensor, &context, SQLITE_ERROR, 2 }, check_j = { rows[i].what, check_file, &of_file, SQLITE_OK, 2 };
      if( q!=RANGE ) sweep(&j);
      if( q<2 ){
        memory_arm(0, false);
        assert_int_equal(check_file(&check_j), SQLITE_OK);
        sweep(&check_j);
        free(of_file.want.p);
      }
      free(context.want.p);
    }
    close_opened(&o);
  }
}

/* --- Joins and JSON --- */

static int join(const job *j){
  const blob *b = j->context;
  zt_error err = ZT_ERROR_NONE;
  blob copy = exact(b->p, b->n);
  size_t n = zt_cbor_join(copy.p, copy.n, &err);
  assert_int_equal(n==0, err.rc!=SQLITE_OK);
  free(copy.p);
  return code_of(&err);
}

static void test_joins(void **state){
  blob good = blob_of("a27f61616162ff5f4100ff 6163 9f7f6161ffff"), bad = blob_of("a27f61616162ff5f4100ff 6163 9f7f0061ffff");
  job j = { "a join", join, &good, SQLITE_OK, 0 };   /* Joining is done in place */
  (void)state;
  sweep(&j);
  j = (job){ "a join of what is malformed", join, &bad, SQLITE_ERROR, 2 };
  sweep(&j);
  free(good.p);
  free(bad.p);
}

typedef struct conversion {
  blob cbor;
  char *expected;
} conversion;

/* The text, or SQLITE_NOMEM in sqlite3_str's own place for errors: never another text. */
static int convert(const job *j){
  const conversion *x = j->context;
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor c;
  char *z;
  int rc;
  zt_cbor_init(&c, x->cbor.p, x->cbor.n, &err);
  zt_json_item(out, &c);
  rc = sqlite3_str_errcode(out);
  z = sqlite3_str_finish(out);
  if( rc==SQLITE_OK ) check( z && strcmp(z, x->expected)==0, "%s: '%s' instead of '%s'", j->what, z ? z : "", x->expected );
  else assert_null(z);
  sqlite3_free(z);
  zt_error_clear(&err);
  return rc;
}

static void sweep_json(const char *what, const char *hex, const char *expected){
  conversion x = { blob_of(hex), sqlite3_mprintf("%s", expected) };
  job j = { what, convert, &x, SQLITE_OK, 2 };
  sweep(&j);
  sqlite3_free(x.expected);
  free(x.cbor.p);
}

static void test_json(void **state){
  char hex[300] = "81 7864", text[200] = "[\"";
  (void)state;
  sweep_json("an item", "83 6161 f93e00 a1 6162 4401020304", "[\"a\",1.5,{\"b\":\"01020304\"}]");
  for(int i=0; i<100; i++){   /* Longer than the result's first room */
    strcat(hex, "61");
    strcat(text, "a");
  }
  strcat(text, "\"]");
  sweep_json("text that makes the result grow", hex, text);
}

/* Keys that are not text are written on the side first: what fails there must not be lost. */
static void test_json_keys(void **state){
  (void)state;
  sweep_json("an integer as a key", "a1 01 02", "{\"1\":2}");
  sweep_json("an array as a key", "a1 82016161 02", "{\"[1,\\\"a\\\"]\":2}");
  sweep_json("bytes as a key", "a1 4401020304 02", "{\"01020304\":2}");
}

/* Last: the sweeps above were no idle ones. */
static void test_failures_were_injected(void **state){
  (void)state;
  assert_true(sweeps>1000);
  assert_true(failures>10000);
}

int main(void){
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(test_sources, disarm),
    cmocka_unit_test_setup(test_containers_of_every_generation, disarm),
    cmocka_unit_test_setup(test_files_that_break_rules, disarm),
    cmocka_unit_test_setup(test_a_container_of_many_objects, disarm),
    cmocka_unit_test_setup(test_keys, disarm),
    cmocka_unit_test_setup(test_positions, disarm),
    cmocka_unit_test_setup(test_paths, disarm),
    cmocka_unit_test_setup(test_paths_with_links, disarm),
    cmocka_unit_test_setup(test_raw_payloads, disarm),
    cmocka_unit_test_setup(test_zstd_payloads_of_unknown_length, disarm),
    cmocka_unit_test_setup(test_zstd_payloads_of_known_length, disarm),
    cmocka_unit_test_setup(test_stored_bytes_and_digests, disarm),
    cmocka_unit_test_setup(test_payloads_that_cannot_be_read, disarm),
    cmocka_unit_test_setup(test_seekable_payloads, disarm),
    cmocka_unit_test_setup(test_shards, disarm),
    cmocka_unit_test_setup(test_content_ids, disarm),
    cmocka_unit_test_setup(test_hashes, disarm),
    cmocka_unit_test_setup(test_a_dtype_that_is_not_known, disarm),
    cmocka_unit_test_setup(test_values_of_every_layout, disarm),
    cmocka_unit_test_setup(test_values_of_computed_layouts, disarm),
    cmocka_unit_test_setup(test_values_that_break_rules, disarm),
    cmocka_unit_test_setup(test_findings, disarm),
    cmocka_unit_test_setup(test_values_that_break_rules_of_data, disarm),
    cmocka_unit_test_setup(test_joins, disarm),
    cmocka_unit_test_setup(test_json, disarm),
    cmocka_unit_test_setup(test_json_keys, disarm),
    cmocka_unit_test_setup(test_failures_were_injected, disarm),
  };
  if( !memory_install() ) return 1;
  return cmocka_run_group_tests_name("oom", tests, set_up_payload, tear_down_payload);
}
