/* Memory runs out in core and container: see oom.h. */
#include "oom.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include "container/container.h"
#include "container/zip.h"
#include "core/json.h"
#include "core/keys.h"
#include "items.h"
#include "core/u32_array.h"
#include "core/duplicate_keys.h"
#include "core/paths.h"
#include "expectations.h"

#define HOSTILE "tests/formats/ztensor/hostile/"
#define MOST_CALLS 300   /* Allocations for a file that is swept: a few make thousands */

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

TEST_WITH(test_sources, disarm, NULL){
  static const job jobs[] = {
    { "a file", open_source_file, "tests/formats/ztensor/golden/README.md", SQLITE_OK, 1 },
    { "no file", open_source_file, "tests/formats/ztensor/golden/none", SQLITE_ERROR, 2 },
    { "a directory", open_source_file, "tests/formats/ztensor/golden", SQLITE_ERROR, 2 },
    { "an image, read beyond its end", open_source_image, "abcd", SQLITE_ERROR, 2 },
  };
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
    zt_container_open(source, NULL, &c, &err);
    assert_true((c==NULL)==(err.rc!=SQLITE_OK));
    assert_true(!err.object.z && !err.component.z);
  }
  if( c ){
    assert_int_equal(zt_container_objects(c), f->objects);
    assert_int_equal(zt_container_components(c), f->components);
    assert_int_equal(zt_container_manifest_length(c), f->manifest);
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
      assert_int_equal(zt_container_open(source, NULL, &c, &err), SQLITE_OK);
      f.objects = zt_container_objects(c);
      f.components = zt_container_components(c);
      f.manifest = (size_t)zt_container_manifest_length(c);
      zt_container_close(c);
      zt_source_close(source);
    }
    sweep(&j);
    free(f.bytes.p);
  }
}

TEST_WITH(test_containers_of_every_generation, disarm, NULL){
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
  for(size_t i=0; i<COUNT(names); i++){
    char path[300];
    snprintf(path, sizeof(path), "tests/formats/ztensor/golden/%s.zt", names[i]);
    sweep_file(path, SQLITE_OK, 3);
  }
}

/* Sparse tensors of 0.1 whose format has no word here, and tensors of 1.0 with many components, are kept beside the manifest. */
TEST_WITH(test_what_is_kept_of_manifests, disarm, NULL){
  for(int old=0; old<2; old++){
    blob b = { 0 }, manifest = { 0 };
    const uint32_t n = old ? 60 : 2;   /* What is kept grows at one or another of its parts */
    file f = { .image = true, .objects = n, .components = old ? n : 9*n };
    job j = { old ? "0.1" : "1.0", open_container, &f, SQLITE_OK, 3 };
    if( old ) put_array(&manifest, n);
    else put_hex(&manifest, "a2 6776657273696f6e 63312e30 6774656e736f7273 a2");   /* "version": "1.0", "tensors" */
    for(uint32_t i=0; i<n; i++){
      const char name[] = { (char)('A'+i), 0 };
      if( !old ) put_text(&manifest, name);
      put_map(&manifest, old ? 8 : 4);
      if( old ){
        put_text(&manifest, "name");
        put_text(&manifest, name);
        put_hex(&manifest, "666f6666736574 1840 6473697a65 00 68656e636f64696e67 63726177");   /* offset 64, size 0, encoding raw */
        put_text(&manifest, "layout");
        put_text(&manifest, "sparse");
        put_text(&manifest, "sparse_format");
        put_text(&manifest, "bsr");
      }
      put_text(&manifest, "dtype");
      put_text(&manifest, "uint8");
      put_text(&manifest, "shape");
      put_array(&manifest, 0);
      if( old ) continue;
      put_text(&manifest, "format");
      put_text(&manifest, "own");
      put_text(&manifest, "components");
      put_map(&manifest, 9);
      for(int k=0; k<9; k++){
        put_text(&manifest, (char[]){ (char)('a'+k), 0 });
        put_hex(&manifest, "a2 666f6666736574 1840 666c656e677468 00");
      }
    }
    put(&b, old ? "ZTEN0001" : "ZTEN1000", 8);
    put_repeated(&b, 0, 56);
    put(&b, manifest.p, manifest.n);
    put_le64(&b, manifest.n);
    f.manifest = manifest.n;
    f.bytes = seal(&b);
    sweep(&j);
    free(f.bytes.p);
    free(manifest.p);
  }
}

/* Names in and out of order, escaped, tensors in another order than their bytes; and files that break rules. */
TEST_WITH(test_files_of_safetensors, disarm, NULL){
  static const struct { const char *name; int rc; } files[] = {
    { "golden/dtypes", SQLITE_OK }, { "golden/names", SQLITE_OK }, { "golden/hand_json", SQLITE_OK }, { "golden/hand_order", SQLITE_OK }, { "golden/only_metadata", SQLITE_OK },
    { "hostile/ok-offset-order", SQLITE_OK }, { "hostile/ok-escaped-everything", SQLITE_OK }, { "hostile/ok-blanks-first", SQLITE_OK },
    { "hostile/ok-700-tensors", SQLITE_OK }, { "hostile/O1-past-end", SQLITE_ERROR }, { "hostile/J8-latin-1", SQLITE_ERROR },
    { "hostile/O2-shape-real", SQLITE_ERROR }, { "hostile/O4-name-escaped", SQLITE_ERROR }, { "hostile/O4-metadata-key", SQLITE_ERROR },
    { "hostile/O8-overlap", SQLITE_ERROR }, { "hostile/O8-other-order", SQLITE_ERROR },
  };
  for(size_t i=0; i<COUNT(files); i++){
    char path[300];
    snprintf(path, sizeof(path), "tests/formats/safetensors/%s.safetensors", files[i].name);
    sweep_file(path, files[i].rc, 3);
  }
}

/* A file that must be refused is refused, or memory was too short to say why. */
TEST_WITH(test_files_that_break_rules, disarm, NULL){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") " FROM json_each(?1) WHERE " FIELD("expect") "='open_error'", HOSTILE "cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    char path[300];
    snprintf(path, sizeof(path), HOSTILE "%s", (const char*)sqlite3_column_text(cases, 0));
    sweep_file(path, SQLITE_ERROR, 3);
  }
  sqlite3_finalize(cases);
  assert_true(n>200);
}

/* The files of the other formats, sound and broken: what they give with memory enough is what is right. */
static int open_any(const job *j){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_container *c = NULL;
  if( zt_source_open(j->context, NULL, &source, &err)==SQLITE_OK ) zt_container_open(source, NULL, &c, &err);
  assert_true((c==NULL)==(err.rc!=SQLITE_OK));
  zt_container_close(c);
  zt_source_close(source);
  return code_of(&err);
}

TEST_WITH(test_files_of_every_other_format, disarm, NULL){
  glob_t found;
  unsigned n = 0;
  assert_int_equal(glob("tests/formats/[!z]*/golden/*", 0, NULL, &found), 0);
  assert_int_equal(glob("tests/formats/[!z]*/hostile/*.*", GLOB_APPEND, NULL, &found), 0);
  for(size_t i=0; i<found.gl_pathc; i++){
    job j = { found.gl_pathv[i], open_any, found.gl_pathv[i], SQLITE_OK, 0 };
    memory_arm(0, false);
    j.otherwise = open_any(&j);
    if( memory.calls>MOST_CALLS ) continue;
    sweep(&j);
    n++;
  }
  globfree(&found);
  check( n>1000, "%u files", n );
}

/* Of two end records that are not sound, or of one, memory is short when either is judged: that is what is said. */
static int open_archive(const job *j){
  const blob *b = j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_zip *zip = NULL;
  if( zt_source_open_image(span_of(*b), &source, &err)==SQLITE_OK ) zt_zip_open(source, NULL, &zip, &err);
  assert_null(zip);
  zt_source_close(source);
  if( memory.injected>0 ) assert_int_equal(err.rc, SQLITE_NOMEM);
  return code_of(&err);
}

TEST_WITH(test_end_records_of_archives, disarm, NULL){
  for(int i=0; i<4; i++){
    blob b = { 0 };
    job j = { "end records", open_archive, &b, SQLITE_ERROR, 3 };
    put_repeated(&b, 0, i<2 ? 0 : 2000);   /* In all that is searched first, or beyond it, too */
    for(int left=i%2; left>=0; left--){
      put(&b, "PK\5\6", 4);
      put_repeated(&b, 0, 8);
      put_repeated(&b, 1, 8);
      put_byte(&b, left ? 22 : 0);
      put_byte(&b, 0);
    }
    sweep(&j);
    free(b.p);
  }
}

/* Thousands of objects, out of order: the index grows many times. Room ahead of need is not needed. */
TEST_WITH(test_a_container_of_many_objects, disarm, NULL){
  for(int ascending=0; ascending<2; ascending++){
    blob b = { 0 }, manifest = { 0 };
    file f = { .image = true, .objects = 3000, .components = 3000 };
    job j = { "many objects", open_container, &f, SQLITE_OK, ascending ? 5 : 10 };
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
  zt_keys k = { 0 };
  bool duplicate = false;
  for(size_t i=0; i<set->n && !err.rc; i++){
    zt_error unused = ZT_ERROR_NONE;
    zt_cbor c;
    zt_text text;
    zt_key key;
    zt_cbor_init_trusted(&c, span_of(set->bytes), set->at[i], 0, &unused);
    zt_cbor_text(&c, &text);
    key = (zt_key){ (uint32_t)((const uint8_t*)text.z-set->bytes.p), (uint32_t)text.n };
    if( zt_keys_add(&k, set->bytes.p, key, &duplicate, &err)==SQLITE_OK ){
      assert_int_equal(zt_keys_find(&k, set->bytes.p, text), i);
    }
    assert_false(duplicate);
  }
  if( !err.rc ) assert_int_equal(k.n, set->n);
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

TEST_WITH(test_keys, disarm, NULL){
  static key_set set;
  job j = { "keys", add_keys, &set, SQLITE_OK, 5 };
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
    j = (job){ "a map", skip_unique, &map, twice ? SQLITE_ERROR : SQLITE_OK, 1 };
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
TEST_WITH(test_u32_array, disarm, NULL){
  zt_error err = ZT_ERROR_NONE;
  zt_u32_array p = { 0 };
  memory_arm(1, true);
  zt_u32_array_reserve(&p, 100);
  assert_true(memory.injected==1 && p.capacity==0);
  assert_int_equal(zt_u32_array_push(&p, 7, &err), SQLITE_NOMEM);
  assert_int_equal(p.n, 0);
  assert_int_equal(code_of(&err), SQLITE_NOMEM);
  memory_arm(0, false);
  zt_u32_array_reserve(&p, 100);
  assert_int_equal(p.capacity, 100);
  for(uint32_t i=0; i<50; i++) assert_int_equal(zt_u32_array_push(&p, i*i, &err), SQLITE_OK);
  memory_arm(1, true);
  zt_u32_array_trim(&p);
  assert_true(memory.injected==1 && p.capacity==100 && p.n==50);
  memory_arm(0, false);
  zt_u32_array_trim(&p);
  assert_true(p.capacity==50 && p.n==50);
  for(uint32_t i=0; i<50; i++) assert_int_equal(p.a[i], i*i);
  memory_arm(1, true);
  assert_int_equal(zt_u32_array_push(&p, 7, &err), SQLITE_NOMEM);
  memory_arm(0, false);
  assert_int_equal(code_of(&err), SQLITE_NOMEM);
  for(uint32_t i=0; i<50; i++) assert_int_equal(p.a[i], i*i);
  zt_u32_array_clear(&p);
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
  zt_paths_filter filter = { .files = zt_container_files, .only = s->only };
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

#define FOLDER "tests/formats/ztensor/golden"
#define GOLDEN FOLDER "/"

TEST_WITH(test_paths, disarm, NULL){
  static search searches[] = {   /* n: set below where it is 1000 */
    { GOLDEN "v1.0", NULL, 1000 }, { GOLDEN "**/hand_*.zt", NULL, 1000 }, { "tests/formats/*/golden/v1.[01]/*ranks.zt", NULL, 2 },
    { GOLDEN "none*", NULL, 0 },
    { GOLDEN "v1.2/hand_names.zt", NULL, 1 }, { "file:" GOLDEN "v1.2/hand%5Fnames.zt", NULL, 1 }, { "~/none/none.zt", NULL, 1 },
    { "file:" GOLDEN "v1.1/wheel_*%2Ezt", NULL, 1000 },
    { GOLDEN "**/*.zt", GOLDEN "v1.2/hand_names.zt", 1 }, { FOLDER, GOLDEN "none.zt", 0 },
    { "tests/none.zt", NULL, 1 }, { "file:tests/none%2Ezt", NULL, 1 },
    { "[\"" GOLDEN "v1.2/hand_n*.zt\", \"tests/none.zt\", \"" GOLDEN "v1.2/hand_names.zt\"]", NULL, 1000 },
    { "[\"" GOLDEN "v2\", \"" GOLDEN "v1.2\", \"~/none.zt\", \"file:tests/%6eone.zt\"]", NULL, 1000 },
  };
  static const search wrong[] = { { "file://host/none.zt", NULL, 0 }, { "file:tests/%zz", NULL, 0 }, { "[\"a\", 1]", NULL, 0 },
      { "[\"" FOLDER "\", \"[]\"]", NULL, 0 }, { "[\"file://host/a\"]", NULL, 0 } };
  for(size_t i=0; i<COUNT(searches); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = { .files = zt_container_files };
    zt_paths paths;
    job j = { searches[i].source, find_paths, &searches[i], SQLITE_OK, 2 };
    if( searches[i].n==1000 ){
      assert_int_equal(zt_paths_find(searches[i].source, &filter, &paths, &err), SQLITE_OK);
      assert_true(paths.n>1);
      searches[i].n = paths.n;
      zt_paths_clear(&paths);
    }
    sweep(&j);
  }
  for(size_t i=0; i<COUNT(wrong); i++){
    job find = { wrong[i].source, find_paths, &wrong[i], SQLITE_ERROR, 1 },
        one = { wrong[i].source, one_path, &wrong[i], SQLITE_ERROR, 1 };
    sweep(&find);
    sweep(&one);
  }
  for(size_t i=4; i<7; i++){   /* Those of one file */
    job one = { searches[i].source, one_path, &searches[i], SQLITE_OK, 1 };
    sweep(&one);
  }
}

/* Links to directories are remembered: that takes memory, too. */
TEST_WITH(test_paths_with_links, disarm, NULL){
  static const char *const sources[] = { "", "/*/x.zt", "/**/*/*.zt" };
  char tree[] = "/tmp/ztensor-oom-links-XXXXXX", path[200], other[32];
  assert_non_null(mkdtemp(tree));
  snprintf(path, sizeof(path), "%s/real", tree);
  assert_int_equal(mkdir(path, 0755), 0);
  snprintf(path, sizeof(path), "%s/real/x.zt", tree);
  write_file(path, "x", 1);
  for(int i=0; i<9; i++){
    snprintf(path, sizeof(path), "%s/other%d", tree, i);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/link%d", tree, i);
    snprintf(other, sizeof(other), "other%d", i);
    assert_int_equal(symlink(i%2 ? other : "real", path), 0);
  }
  for(size_t i=0; i<COUNT(sources); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_paths_filter filter = { .files = zt_container_files };
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
  assert_int_equal(remove_all(tree), 0);
}

/* --- Joins and JSON --- */

static int join(const job *j){
  const blob *b = j->context;
  zt_error err = ZT_ERROR_NONE;
  blob copy = exact(b->p, b->n);
  size_t n = zt_cbor_join(copy.p, copy.n, NULL, &err);
  assert_int_equal(n==0, err.rc!=SQLITE_OK);
  free(copy.p);
  return code_of(&err);
}

TEST_WITH(test_joins, disarm, NULL){
  blob good = blob_of("a27f61616162ff5f4100ff 6163 9f7f6161ffff"), bad = blob_of("a27f61616162ff5f4100ff 6163 9f7f0061ffff");
  job j = { "a join", join, &good, SQLITE_OK, 0 };   /* Joining is done in place */
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

/* The text, or SQLITE_NOMEM: never another text. */
static int convert(const job *j){
  const conversion *x = j->context;
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor c;
  char *z;
  int rc;
  zt_cbor_init(&c, x->cbor.p, x->cbor.n, &err);
  json_item(out, &c);
  rc = err.rc ? err.rc : sqlite3_str_errcode(out);
  z = sqlite3_str_finish(out);
  if( err.rc ){   /* A failed text is not shown */
    sqlite3_free(z);
    z = NULL;
  }
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

TEST_WITH(test_json, disarm, NULL){
  char hex[300] = "81 7864", text[200] = "[\"";
  sweep_json("an item", "83 6161 f93e00 a1 6162 4401020304", "[\"a\",1.5,{\"b\":\"01020304\"}]");
  for(int i=0; i<100; i++){   /* Longer than the result's first room */
    strcat(hex, "61");
    strcat(text, "a");
  }
  strcat(text, "\"]");
  sweep_json("text that makes the result grow", hex, text);
}

/* Keys that are not text are written on the side first: what fails there must not be lost. */
TEST_WITH(test_json_keys, disarm, NULL){
  sweep_json("an integer as a key", "a1 01 02", "{\"1\":2}");
  sweep_json("an array as a key", "a1 82016161 02", "{\"[1,\\\"a\\\"]\":2}");
  sweep_json("bytes as a key", "a1 4401020304 02", "{\"01020304\":2}");
}

TEST_WITH(test_failures_were_injected, disarm, NULL){
  check_sweeps(1000, 10000);
}

int main(void){
  if( !begin_sweeps() ) return 1;
  return run_all("oom container", open_db, close_db);
}
