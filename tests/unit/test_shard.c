/*
** Bytes that lie in sibling files: container/shard.h, and what becomes of them in streams, tensors and findings.
*/
#include "findings.h"
#include "seekable.h"
#include "zt2.h"

#include <sys/stat.h>
#include "container/shard.h"
#include "tensor/content.h"

static char dir[] = "/tmp/ztensor-shard-XXXXXX";

static int set_up(void **state){
  (void)state;
  return mkdtemp(dir)==NULL || sqlite3_initialize();
}

static int tear_down(void **state){
  (void)state;
  return remove_all(dir);
}

/* Nothing of the test before is left. */
static int empty(void **state){
  (void)state;
  return remove_all(dir) || mkdir(dir, 0700);
}

/* A path below the directory, until the fourth call from now on. */
static const char *at(const char *name){
  static char paths[4][400];
  static unsigned next;
  char *path = paths[next++%4];
  snprintf(path, 400, "%s/%s", dir, name);
  return path;
}

static void save(const char *name, blob b){
  write_file(at(name), b.p, b.n);
  free(b.p);
}

static const char *xxh3(const void *p, size_t n){
  static char text[8][32];
  static unsigned next;
  char *z = text[next++%8];
  snprintf(z, 32, "xxh3:%016llx", (unsigned long long)XXH3_64bits(p, n));
  return z;
}

#define WRONG "xxh3:0123456789abcdef"

/* A data shard with these bytes from 4096 on. */
static blob data_shard(const void *p, size_t n){
  blob b = zt2_data_shard(ZT2_PAGE+n);
  memcpy(b.p+ZT2_PAGE, p, n);
  return b;
}

static void save_model(const char *name, const char *notation){
  size_t mark;
  save(name, zt2_file(zt2_manifest(notation, &mark), ZT2_PAGE, 0));
}

/* A model of one object, w, of 8 bytes in a shard of that name, size and digest. */
static void save_small(const char *name, const char *shard, size_t size, const char *digest, const char *more){
  char notation[1000];
  snprintf(notation, sizeof(notation), "{'shards': {'%s': {'size': %zu, 'digest': '%s'}}, 'objects': {'w': {'parts': {'data': {'blob': [4096, 8], 'dtype': 'u8', 'shard': '%s'%s}}, 'shape': [8], 'layout': 'dense'}}}", shard, size, digest, shard, more);
  save_model(name, notation);
}

#define SMALL ((size_t)ZT2_PAGE+8+ZT2_FOOTER)   /* Bytes of the shard that has 8 */

/* The decoded bytes of a component of the file, or the failure. */
static void read_component(const opened *o, uint32_t object, uint32_t k, zt_buffer *out, zt_error *err){
  zt_component component;
  zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<40 };
  zt_object x;
  zt_payload p = { .source = o->source, .object = &x, .component = &component, .budget = &budget };
  zt_container_object(o->container, object, &x);
  zt_container_component(o->container, object, k, ZT_COMPONENT_ALL, &component);
  zt_content_read(&p, 0, UINT64_MAX, out, err);
}

static void check_bytes(const char *model, const char *expected, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  opened o;
  open_path(&o, at(model));
  read_component(&o, 0, 0, &out, &err);
  assert_succeeded(&err, row);
  check( out.n==8 && memcmp(out.p, expected, 8)==0, "%s: '%.8s'", row, (char*)out.p );
  zt_buffer_clear(&out);
  close_opened(&o);
}

/* `words`: the message, in which @ stands for the shard's path. */
static void check_refused(const char *model, const char *shard, const char *rule, const char *words, const char *row){
  zt_error err = ZT_ERROR_NONE;
  char expected[1000];
  const char *mark = strchr(words, '@');
  zt_buffer out;
  opened o;
  if( mark ) snprintf(expected, sizeof(expected), "ztensor: %.*s%s%s", (int)(mark-words), words, at(shard), mark+1);
  else snprintf(expected, sizeof(expected), "ztensor: %s", words);
  open_path(&o, at(model));
  read_component(&o, 0, 0, &out, &err);
  check( err.rc==SQLITE_ERROR, "%s: accepted", row );
  check( strcmp(err.message, expected)==0, "%s: '%s', expected '%s'", row, err.message, expected );
  check( err.rule && strcmp(err.rule, rule)==0, "%s: against %s", row, err.rule ? err.rule : "no rule" );
  assert_true(out.p==NULL && out.n==0);
  zt_error_clear(&err);
  close_opened(&o);
}

/* --- Where a shard is --- */

TEST_WITH(test_a_shard_lies_beside_its_file, empty, NULL){
  static const struct { const char *model, *name, *shard; } rows[] = {
    { "m.zt", "s", "m-s.zt" }, { "m.zt", "part-1", "m-part-1.zt" }, { "m.zt", "a.b", "m-a.b.zt" }, { "m.zt", "x.zt", "m-x.zt.zt" }, { "m.zt", "-", "m--.zt" },
    { "m.zt", "_.", "m-_..zt" }, { "m.zt", "00001-of-00002", "m-00001-of-00002.zt" },
    { "m.zt", "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", "m-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.zt" },
    { "plain", "s", "plain-s.zt" }, { "m.tar", "s", "m-s.zt" }, { "m.ZT", "s", "m-s.zt" }, { "a.b.c.zt", "s", "a.b.c-s.zt" }, { "m.zt.zt", "s", "m.zt-s.zt" },
    { ".zt", "s", ".zt-s.zt" }, { "v1.2", "s", "v1-s.zt" }, { "zt", "s", "zt-s.zt" }, { "x.zt/m", "s", "x.zt/m-s.zt" }, { "x.zt/m.zt", "s", "x.zt/m-s.zt" }, { "%s %d.zt", "s", "%s %d-s.zt" },
    { "m-s.zt", "s", "m-s-s.zt" }, { "\xC3\xA9.zt", "s", "\xC3\xA9-s.zt" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    empty(NULL);
    assert_int_equal(mkdir(at("x.zt"), 0755), 0);
    save_small(rows[i].model, rows[i].name, SMALL, WRONG, "");
    check_refused(rows[i].model, rows[i].shard, "X1", "shard @: cannot open: No such file or directory", rows[i].shard);
    save(rows[i].shard, data_shard("ABCDEFGH", 8));
    check_bytes(rows[i].model, "ABCDEFGH", rows[i].shard);
  }
}

/* X1: the shard is there. */
TEST_WITH(test_a_shard_that_is_no_file_is_refused, empty, NULL){
  save_small("m.zt", "s", SMALL, WRONG, "");
  assert_int_equal(mkdir(at("m-s.zt"), 0755), 0);
  check_refused("m.zt", "m-s.zt", "X1", "shard @: is a directory, not a regular file", "a directory");
  assert_int_equal(rmdir(at("m-s.zt")), 0);
  assert_int_equal(mkfifo(at("m-s.zt"), 0600), 0);
  check_refused("m.zt", "m-s.zt", "X1", "shard @: is a FIFO, not a regular file", "a FIFO");
  assert_int_equal(unlink(at("m-s.zt")), 0);
  assert_int_equal(symlink("nothing", at("m-s.zt")), 0);
  check_refused("m.zt", "m-s.zt", "X1", "shard @: cannot open: No such file or directory", "a link to nothing");
  assert_int_equal(unlink(at("m-s.zt")), 0);
  save("elsewhere", data_shard("linked..", 8));
  assert_int_equal(symlink("elsewhere", at("m-s.zt")), 0);
  check_bytes("m.zt", "linked..", "a link to a file");
  if( geteuid()==0 ) return;   /* Root may read everything */
  assert_int_equal(chmod(at("elsewhere"), 0), 0);
  check_refused("m.zt", "m-s.zt", "X1", "shard @: cannot open: Permission denied", "unreadable");
}

/* X4: it is a file of zTensor 2. */
TEST_WITH(test_a_shard_that_is_another_file_is_refused, empty, NULL){
  blob zeros = data_shard("ABCDEFGH", 8), cut = data_shard("ABCDEFGH", 8);
  save_small("m.zt", "s", SMALL, WRONG, "");
  memset(zeros.p, 0, zeros.n);
  save("m-s.zt", zeros);
  check_refused("m.zt", "m-s.zt", "X4", "shard @: not a file of zTensor 2: another magic number", "zeros");
  cut.p[cut.n-1] ^= 1;
  save("m-s.zt", cut);
  check_refused("m.zt", "m-s.zt", "X4", "shard @: the file does not end with its magic number: it is cut, or something follows", "another end");
}

TEST_WITH(test_an_image_has_no_shards, empty, NULL){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  opened o;
  save_small("m.zt", "s", SMALL, WRONG, "");
  save("m-s.zt", data_shard("ABCDEFGH", 8));
  open_bytes(&o, read_file(at("m.zt")), "image");
  read_component(&o, 0, 0, &out, &err);
  assert_string_equal(err.rule, "X1");
  assert_string_equal(err.message, "ztensor: its bytes are in shard 's', a file beside this one; a BLOB has none");
  zt_error_clear(&err);
  assert_findings(&o, "", "X1 X1:w.data", "image");
  close_opened(&o);
}

/* X2: it has the size that the table tells. */
TEST_WITH(test_a_shard_has_the_size_that_the_table_tells, empty, NULL){
  static const size_t sizes[] = { 0, 1, SMALL-1, SMALL+1, 2*SMALL };
  save_small("m.zt", "s", SMALL, WRONG, "");
  for(size_t i=0; i<COUNT(sizes); i++){
    char words[100];
    blob b = { 0 };
    put_repeated(&b, 1, sizes[i]);
    save("m-s.zt", b);
    snprintf(words, sizeof(words), "shard @ has %zu bytes, and should have %zu", sizes[i], SMALL);
    check_refused("m.zt", "m-s.zt", "X2", words, "size");
  }
}

/* --- What is in it --- */

/* A model of its own, whose tensors others have, too. */
TEST_WITH(test_a_shard_may_be_a_model, empty, NULL){
  size_t mark;
  blob b = zt2_file(zt2_manifest("{'objects': {'x': {'parts': {'data': {'blob': [4096, 8], 'dtype': 'u8'}}, 'shape': [8], 'layout': 'dense'}}}", &mark), 2*ZT2_PAGE, 0);
  memcpy(b.p+ZT2_PAGE, "a model!", 8);
  save_small("m.zt", "s", b.n, xxh3(b.p, b.n), "");
  save("m-s.zt", b);
  check_bytes("m.zt", "a model!", "of the model");
  check_bytes("m-s.zt", "a model!", "of the shard");
}

/* Shards that have shards of their own: those are of the other model. */
TEST_WITH(test_a_shard_with_shards_of_its_own, empty, NULL){
  blob b;
  save("m-s-t.zt", data_shard("inner...", 8));
  save_small("m-s.zt", "t", SMALL, WRONG, "");
  b = read_file(at("m-s.zt"));
  save_small("m.zt", "s", b.n, xxh3(b.p, b.n), "");
  check_bytes("m-s.zt", "inner...", "the shard's shard");
  check_bytes("m.zt", (char*)b.p+ZT2_PAGE, "the shard's own bytes");
  free(b.p);
}

#define MANY 60

TEST_WITH(test_one_shard_has_bytes_of_many_components, empty, NULL){
  blob bytes = { 0 }, notation = { 0 }, shard;
  char text[200];
  opened o;
  for(unsigned i=0; i<MANY; i++){
    put_repeated(&bytes, i, 10);
    put_repeated(&bytes, 0, ZT2_PAGE-10);
  }
  shard = data_shard(bytes.p, bytes.n);
  snprintf(text, sizeof(text), "{'shards': {'s': {'size': %zu, 'digest': '%s'}}, 'objects': {", shard.n, xxh3(shard.p, shard.n));
  put(&notation, text, strlen(text));
  for(unsigned i=0; i<MANY; i++){
    snprintf(text, sizeof(text), "'w%02u': {'parts': {'data': {'blob': [%u, 10], 'dtype': 'u8', 'shard': 's'}}, 'shape': [10], 'layout': 'dense'}, ", i, (i/2+1)*ZT2_PAGE);   /* Each blob is of two */
    put(&notation, text, strlen(text));
  }
  put(&notation, "}}", 3);
  save_model("m.zt", (char*)notation.p);
  save("m-s.zt", shard);
  open_path(&o, at("m.zt"));
  for(uint32_t i=0; i<MANY; i++){
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    read_component(&o, MANY-1-i, MANY-1-i, &out, &err);
    assert_succeeded(&err, "many");
    check( out.n==10 && out.p[0]==(MANY-1-i)/2 && out.p[9]==(MANY-1-i)/2, "component %u", MANY-1-i );
    zt_buffer_clear(&out);
  }
  assert_findings(&o, "", "", "many");
  close_opened(&o);
  free(bytes.p);
  free(notation.p);
}

/* A sparse tensor whose parts lie in two shards and in the file, one of them encoded. */
TEST_WITH(test_parts_of_one_tensor_in_several_shards, empty, NULL){
  static const uint8_t indices[] = { 2,0,0,0, 0,0,0,0, 1,0,0,0 }, indptr[] = { 0,0,0,0, 1,0,0,0, 3,0,0,0 }, want[] = { 0, 0, 7, 8, 9, 0 };
  blob encoded = seekable_part(indices, sizeof(indices), 4, SUMS, NULL), a = data_shard("\x07\x08\x09", 3), b = data_shard(encoded.p, encoded.n), file;
  char notation[1500];
  size_t mark;
  uint8_t out[6];
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t;
  opened o;
  snprintf(notation, sizeof(notation), "{'shards': {'a': {'size': %zu, 'digest': '%s'}, 'b': {'size': %zu, 'digest': '%s'}}, 'objects': {'x': {'parts': {"
    "'indptr': {'blob': [4096, 12], 'dtype': 'u32', 'digest': '%s'}, 'values': {'blob': [4096, 3], 'dtype': 'u8', 'shard': 'a', 'digest': '%s'}, "
    "'indices': {'blob': [4096, %zu], 'dtype': 'u32', 'shard': 'b', 'digest': '%s', 'encoding': '" SEEKABLE "', 'decoded_length': 12}}, 'shape': [2, 3], 'layout': 'zt.sparse_csr/1'}}}",
    a.n, xxh3(a.p, a.n), b.n, xxh3(b.p, b.n), xxh3(indptr, 12), xxh3("\x07\x08\x09", 3), encoded.n, xxh3(indices, 12));
  file = zt2_file(zt2_manifest(notation, &mark), 2*ZT2_PAGE, 0);
  memcpy(file.p+ZT2_PAGE, indptr, sizeof(indptr));
  save("m.zt", file);
  save("m-a.zt", a);
  save("m-b.zt", b);
  open_path(&o, at("m.zt"));
  open_tensor(&o, &t, "sparse");
  zt_tensor_read(&t, 0, 6, out, &err);
  assert_succeeded(&err, "sparse");
  assert_memory_equal(out, want, 6);
  zt_tensor_close(&t);
  assert_findings(&o, "", "", "sparse");
  assert_int_equal(unlink(at("m-b.zt")), 0);   /* The lost shard is one finding; its tensor has no other */
  assert_findings(&o, "", "X1 X1:x.indices", "a shard is lost");
  b = data_shard(encoded.p, encoded.n);
  b.p[ZT2_PAGE+encoded.n-60] ^= 1;
  save("m-b.zt", b);
  assert_findings(&o, "", "X3 Y1:x.indices", "a frame is damaged");
  close_opened(&o);
  free(encoded.p);
}

/* --- Findings --- */

/* The shard's bytes; digests of the shard and of the component; the component's type; and what a full check finds, of which a quick one finds a digest's form. */
TEST_WITH(test_findings_of_shards, empty, NULL){
  static const struct { const char *row, *bytes; size_t size; const char *shard, *part, *type, *full, *last; } rows[] = {
    { "all is well", "\x01\x00\x01\x01\x00\x00\x00\x01", SMALL, "ok", "ok", "bool", "", NULL },
    { "X3", "12345678", SMALL, "wrong", "ok", NULL, "X3", "shard 's' does not have the digest 'xxh3:0123456789abcdef'" },
    { "X3 of sha256", "12345678", SMALL, "sha256:0000000000000000000000000000000000000000000000000000000000000000", "ok", NULL, "X3",
      "shard 's' does not have the digest 'sha256:0000000000000000000000000000000000000000000000000000000000000000'" },
    { "the component's digest", "12345678", SMALL, "ok", "wrong", NULL, "W8:w.data", "the decoded bytes do not have the digest 'xxh3:0123456789abcdef'" },
    { "both", "12345678", SMALL, "wrong", "wrong", NULL, "X3 W8:w.data", "the decoded bytes do not have the digest 'xxh3:0123456789abcdef'" },
    { "no digest of the component, and a bool", "\x01\x00\x01\x01\x00\x00\x00\x02", SMALL, "ok", NULL, "bool", "L9:w.data", "byte 7 is 0x02: a bool is 0 or 1" },
    { "a digest, and a bool", "\x01\x00\x01\x01\x00\x00\x00\x02", SMALL, "ok", "ok", "bool", "L9:w.data", "byte 7 is 0x02: a bool is 0 or 1" },
    { "all that there is", "\x01\x00\x01\x01\x00\x00\x00\x02", SMALL, "wrong", "wrong", "bool", "X3 W8:w.data L9:w.data", "byte 7 is 0x02: a bool is 0 or 1" },
    { "an algorithm that is not known", "12345678", SMALL, "crc32c:00000000", "ok", NULL, "Z16", "the digest of shard 's', 'crc32c:00000000', is unsupported" },
    { "no digest at all", "12345678", SMALL, "xxh3:00", "ok", NULL, "W7", "the digest of shard 's', 'xxh3:00', is malformed" },
    { "another size", "12345678", SMALL+1, "ok", "ok", NULL, "X2 X2:w.data", NULL },
    { "another size, and no digest of the component", "12345678", SMALL+1, "ok", NULL, "bool", "X2 X2:w.data", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = data_shard(rows[i].bytes, 8);
    const char *of_part = rows[i].part, *shard = strcmp(rows[i].shard, "ok")==0 ? xxh3(b.p, b.n) : strcmp(rows[i].shard, "wrong")==0 ? WRONG : rows[i].shard;
    char notation[1000];
    opened o;
    snprintf(notation, sizeof(notation), "{'shards': {'s': {'size': %zu, 'digest': '%s'}}, 'objects': {'w': {'parts': {'data': {'blob': [4096, 8]%s, 'dtype': 'u8', 'shard': 's'%s%s%s}}, 'shape': [8], 'layout': 'dense'}}}", rows[i].size, shard,
      rows[i].type ? ", 'type': 'bool'" : "", of_part ? ", 'digest': '" : "", !of_part ? "" : strcmp(of_part, "ok")==0 ? xxh3(rows[i].bytes, 8) : WRONG, of_part ? "'" : "");
    save_model("m.zt", notation);
    save("m-s.zt", b);
    open_path(&o, at("m.zt"));
    /* A digest's form is the manifest's */
    assert_findings(&o, strcmp(rows[i].full, "Z16")==0 || strcmp(rows[i].full, "W7")==0 ? rows[i].full : "", rows[i].full, rows[i].row);
    if( rows[i].last ) assert_last(&o, rows[i].full, rows[i].last, rows[i].row);
    close_opened(&o);
  }
}

/* In the table's order; also those that no component has bytes in. */
TEST_WITH(test_each_shard_is_looked_at_once, empty, NULL){
  opened o;
  save_model("m.zt", "{'shards': {'a': {'size': 4144, 'digest': '" WRONG "'}, 'b': {'size': 4144, 'digest': '" WRONG "'}, 'c': {'size': 4145, 'digest': '" WRONG "'}}, 'objects': "
    "{'v': {'parts': {'data': {'blob': [4096, 8], 'dtype': 'u8', 'shard': 'b'}}, 'shape': [8], 'layout': 'dense'}, 'w': {'parts': {'data': {'blob': [4096, 8], 'dtype': 'u8', 'shard': 'b'}}, 'shape': [8], 'layout': 'dense'}}}");
  save("m-a.zt", data_shard("12345678", 8));
  save("m-c.zt", data_shard("12345678", 8));
  open_path(&o, at("m.zt"));
  assert_findings(&o, "", "X3 X1 X2 X1:v.data X1:w.data", "three");
  close_opened(&o);
}

/* A quick check, and opening tensors, touch no shard: a FIFO would keep who opens it waiting, or be named. */
TEST_WITH(test_a_quick_check_opens_no_shard, empty, NULL){
  opened o;
  zt_tensor t;
  save_small("m.zt", "s", SMALL, WRONG, ", 'encoding': '" SEEKABLE "', 'decoded_length': 8");
  assert_int_equal(mkfifo(at("m-s.zt"), 0600), 0);
  open_path(&o, at("m.zt"));
  assert_findings(&o, "", "X1 X1:w.data", "a FIFO");
  open_tensor(&o, &t, "a FIFO");
  zt_tensor_close(&t);
  close_opened(&o);
}

/* A stream keeps its shard open: what takes its place meanwhile is another file. */
TEST_WITH(test_a_shard_that_is_replaced_or_cut_while_it_is_read, empty, NULL){
  zt_error err = ZT_ERROR_NONE;
  zt_component component;
  zt_budget budget = { .result = 1000, .decode = 1000 };
  zt_stream *stream;
  uint8_t out[8];
  size_t got;
  opened o;
  save_small("m.zt", "s", SMALL, WRONG, "");
  save("m-s.zt", data_shard("ABCDEFGH", 8));
  open_path(&o, at("m.zt"));
  zt_container_component(o.container, 0, 0, ZT_COMPONENT_ALL, &component);
  zt_payload p = { .source = o.source, .object = &o.object, .component = &component, .budget = &budget };
  assert_int_equal(zt_stream_open(&p, &stream, &err), SQLITE_OK);
  assert_int_equal(zt_stream_read(stream, 0, out, 4, &got, &err), SQLITE_OK);
  save("new", data_shard("ijklmnop", 8));
  assert_int_equal(rename(at("new"), at("m-s.zt")), 0);
  assert_int_equal(zt_stream_read(stream, 4, out+4, 4, &got, &err), SQLITE_OK);
  assert_memory_equal(out, "ABCDEFGH", 8);
  zt_stream_close(stream);
  assert_int_equal(zt_stream_open(&p, &stream, &err), SQLITE_OK);
  assert_int_equal(zt_stream_read(stream, 0, out, 8, &got, &err), SQLITE_OK);
  assert_memory_equal(out, "ijklmnop", 8);
  assert_int_equal(truncate(at("m-s.zt"), 4100), 0);
  assert_int_equal(zt_stream_read(stream, 0, out, 8, &got, &err), SQLITE_ERROR);
  assert_failed(&err, "cut short", "cut");
  zt_stream_close(stream);
  close_opened(&o);
}

int main(void){
  return run_all("shard", set_up, tear_down);
}
