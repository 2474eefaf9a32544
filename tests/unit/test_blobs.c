/* Stored bytes in the order of the file: container/blobs.h. */
#include "zt2.h"

#include "container/blobs.h"

#define AT ((size_t)16384)
#define END ((size_t)24576)
#define XXH "xxh3:0123456789abcdef"

static zt_container *open_image(blob b){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c;
  assert_int_equal(zt_source_open_image(span_of(b), &source, &err), SQLITE_OK);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, "image");
  zt_source_close(source);
  return c;
}

/* The container of a zTensor 2 manifest that stands at AT, with the footer at END. */
static zt_container *container_of(const char *notation){
  size_t mark;
  blob b = zt2_file(zt2_manifest(notation, &mark), AT, END);
  zt_container *c = open_image(b);
  free(b.p);
  return c;
}

/* The container of a 1.2 file whose component k has the k-th of n ranges, as object k; its manifest stands at `at`. */
static zt_container *container_1_2(const uint64_t (*ranges)[2], size_t n, size_t at){
  blob b = { 0 }, m = { 0 };
  zt_container *c;
  put_map(&m, 2);
  put_text(&m, "version");
  put_text(&m, "1.2.0");
  put_text(&m, "objects");
  put_map(&m, n);
  for(size_t k=0; k<n; k++){
    char name[32];
    snprintf(name, sizeof(name), "o%zu", k);
    put_text(&m, name);
    put_map(&m, 3);
    put_text(&m, "shape");
    put_array(&m, 0);
    put_text(&m, "format");
    put_text(&m, "x");
    put_text(&m, "components");
    put_map(&m, 1);
    put_text(&m, "d");
    put_map(&m, 3);
    put_text(&m, "dtype");
    put_text(&m, "u8");
    put_text(&m, "offset");
    put_uint(&m, ranges[k][0]);
    put_text(&m, "length");
    put_uint(&m, ranges[k][1]);
  }
  put(&b, "ZTEN1000", 8);
  put_repeated(&b, 0, at-8);
  put(&b, m.p, m.n);
  put_le64(&b, m.n);
  put(&b, "ZTEN1000", 8);
  free(m.p);
  c = open_image(b);
  free(b.p);
  return c;
}

/* What the steps say, in words: a blob, with the number of its shard; a gap, M being where the manifest ends; after `!` what
** the blob overlaps. */
static char *steps_of(const zt_container *c){
  sqlite3_str *text = sqlite3_str_new(NULL);
  zt_error err = ZT_ERROR_NONE;
  zt_blobs blobs;
  zt_blob_step step;
  assert_int_equal(zt_blobs_sort(c, NULL, &blobs, &err), SQLITE_OK);
  while( zt_blobs_next(c, &blobs, &step) ){
    const zt_blob *both[2] = { step.blob, step.other };
    if( step.gap<step.end && step.gap>0 && step.gap==zt_container_manifest_offset(c)+zt_container_manifest_length(c) ){
      sqlite3_str_appendf(text, "gap M %llu, ", step.end);
    }else if( step.gap<step.end ){
      sqlite3_str_appendf(text, "gap %llu %llu, ", step.gap, step.end);
    }
    for(int i=0; i<2; i++){
      if( !both[i] ) continue;
      if( i==1 ) sqlite3_str_appendall(text, "!");
      if( both[i]->object==ZT_BLOB_MANIFEST ){
        sqlite3_str_appendall(text, "manifest, ");
      }else{
        zt_component m;
        zt_text name = zt_container_name(c, both[i]->object);
        zt_container_component(c, both[i]->object, both[i]->component, ZT_COMPONENT_ALL, &m);
        check( m.offset==both[i]->offset && m.length==both[i]->length && both[i]->length>0, "%.*s", (int)name.n, name.z );
        check( zt_container_shard_number(c, m.shard)==both[i]->shard, "%.*s", (int)name.n, name.z );
        sqlite3_str_appendf(text, "%.*s.%.*s", (int)name.n, name.z, (int)m.role.n, m.role.z);
        if( both[i]->shard ) sqlite3_str_appendf(text, "@%u", both[i]->shard);
        sqlite3_str_appendall(text, ", ");
      }
    }
    if( !step.blob ) sqlite3_str_appendall(text, "end, ");
  }
  assert_false(zt_blobs_next(c, &blobs, &step));
  zt_blobs_clear(&blobs);
  assert_null(blobs.a);
  return sqlite3_str_finish(text);
}

static void check_steps(zt_container *c, const char *expected, const char *row){
  char *steps = steps_of(c);
  check( strcmp(steps, expected)==0, "%s: '%s', expected '%s'", row, steps, expected );
  sqlite3_free(steps);
  zt_container_close(c);
}

#define OBJECT(name, parts) "'" name "': {'parts': {" parts "}, 'shape': [], 'layout': 'x/1'}"
#define PART(name, offset, length) "'" name "': {'blob': [" offset ", " length "], 'dtype': 'u8'}"
#define IN(name, offset, length, shard) "'" name "': {'blob': [" offset ", " length "], 'dtype': 'u8', 'shard': '" shard "'}"
#define SHARDS "'shards': {'s': {'size': 65536, 'digest': '" XXH "'}, 't': {'size': 65536, 'digest': '" XXH "'}}, "

TEST(test_what_lies_between){
  static const struct { const char *what, *manifest, *expected; } rows[] = {
    { "no blob", "{'objects': {}}", "gap 8 16384, manifest, gap M 24576, end, " },
    { "one", "{'objects': {" OBJECT("w", PART("a", "4096", "16")) "}}",
      "gap 8 4096, w.a, gap 4112 16384, manifest, gap M 24576, end, " },
    { "empty ones are none", "{'objects': {" OBJECT("w", PART("a", "4096", "0")) "}}",
      "gap 8 16384, manifest, gap M 24576, end, " },
    { "up to the manifest, and from behind it to the footer",
      "{'objects': {" OBJECT("w", PART("a", "4096", "12288") ", " PART("b", "20480", "4096")) "}}",
      "gap 8 4096, w.a, manifest, gap M 20480, w.b, end, " },
    { "in the file's order, not the manifest's",
      "{'objects': {" OBJECT("v", PART("a", "12288", "1")) ", " OBJECT("w", PART("a", "8192", "4096") ", " PART("b", "4096", "4096")) "}}",
      "gap 8 4096, w.b, w.a, v.a, gap 12289 16384, manifest, gap M 24576, end, " },
    { "identical ones, in the manifest's order",
      "{'objects': {" OBJECT("v", PART("a", "8192", "16") ", " PART("b", "4096", "16")) ", " OBJECT("w", PART("a", "4096", "16")) "}}",
      "gap 8 4096, v.b, w.a, gap 4112 8192, v.a, gap 8208 16384, manifest, gap M 24576, end, " },
    { "shards have no gaps",
      "{" SHARDS "'objects': {" OBJECT("w", IN("a", "8192", "16", "t") ", " IN("b", "4096", "16", "s") ", " PART("c", "4096", "16") ", " IN("d", "4096", "4096", "t")) "}}",
      "gap 8 4096, w.c, gap 4112 16384, manifest, gap M 24576, end, w.b@1, w.d@2, w.a@2, " },
    { "all in shards",
      "{" SHARDS "'objects': {" OBJECT("w", IN("a", "4096", "16", "s")) "}}",
      "gap 8 16384, manifest, gap M 24576, end, w.a@1, " },
  };
  for(size_t i=0; i<COUNT(rows); i++) check_steps(container_of(rows[i].manifest), rows[i].expected, rows[i].what);
}

TEST(test_a_data_shard_is_one_gap){
  blob b = zt2_data_shard(8192), least = zt2_data_shard(8);
  check_steps(open_image(b), "gap 8 8192, end, ", "data shard");
  check_steps(open_image(least), "end, ", "48 bytes");
  free(b.p);
  free(least.p);
}

/* 1.2 allows what zTensor 2 forbids, so that it shows what the steps say of it. */
TEST(test_what_overlaps){
  static const struct { const char *what; uint64_t ranges[4][2]; size_t n; const char *expected; } rows[] = {
    { "adjacent", { { 64, 64 }, { 128, 64 } }, 2, "gap 8 64, o0.d, o1.d, gap 192 1024, manifest, end, " },
    { "by a byte", { { 64, 65 }, { 128, 64 } }, 2, "gap 8 64, o0.d, o1.d, !o0.d, gap 192 1024, manifest, end, " },
    { "identical", { { 64, 65 }, { 64, 65 } }, 2, "gap 8 64, o0.d, o1.d, gap 129 1024, manifest, end, " },
    { "a prefix, which comes first", { { 64, 65 }, { 64, 32 } }, 2, "gap 8 64, o1.d, o0.d, !o1.d, gap 129 1024, manifest, end, " },
    { "within", { { 64, 512 }, { 128, 64 } }, 2, "gap 8 64, o0.d, o1.d, !o0.d, gap 576 1024, manifest, end, " },
    { "the one that ends last, not the one before", { { 64, 512 }, { 128, 64 }, { 320, 64 } }, 3,
      "gap 8 64, o0.d, o1.d, !o0.d, o2.d, !o0.d, gap 576 1024, manifest, end, " },
    { "identical ones with a third", { { 64, 128 }, { 64, 128 }, { 128, 128 } }, 3,
      "gap 8 64, o0.d, o1.d, o2.d, !o0.d, gap 256 1024, manifest, end, " },
    { "a chain", { { 64, 65 }, { 128, 65 }, { 192, 65 } }, 3,
      "gap 8 64, o0.d, o1.d, !o0.d, o2.d, !o1.d, gap 257 1024, manifest, end, " },
    { "an empty one within", { { 64, 128 }, { 128, 0 } }, 2, "gap 8 64, o0.d, gap 192 1024, manifest, end, " },
    { "from the header's end", { { 64, 960 }, { 0, 0 } }, 2, "gap 8 64, o0.d, manifest, end, " },
  };
  for(size_t i=0; i<COUNT(rows); i++) check_steps(container_1_2(rows[i].ranges, rows[i].n, 1024), rows[i].expected, rows[i].what);
}

/* As a check that compares each with each has it: something overlaps, or nothing does. */
TEST(test_random_ranges_against_comparing_each_with_each){
  uint64_t seed = 20240229;
  unsigned with = 0, without = 0;
  for(int round=0; round<500; round++){
    uint64_t ranges[8][2];
    size_t n = 1+random_below(&seed, 8);
    zt_container *c;
    zt_error err = ZT_ERROR_NONE;
    zt_blobs blobs;
    zt_blob_step step;
    bool expected = false, found = false, used[16] = { false };
    uint64_t covered = 0, gaps = 0;
    for(size_t i=0; i<n; i++){
      ranges[i][0] = 64*(1+random_below(&seed, 12));
      ranges[i][1] = 64*random_below(&seed, 3);
      for(uint64_t at=ranges[i][0]; at<ranges[i][0]+ranges[i][1]; at += 64) used[at/64] = true;
      for(size_t k=0; k<i; k++){
        bool same = ranges[i][0]==ranges[k][0] && ranges[i][1]==ranges[k][1];
        expected |= !same && ranges[i][1] && ranges[k][1] && ranges[i][0]<ranges[k][0]+ranges[k][1] && ranges[k][0]<ranges[i][0]+ranges[i][1];
      }
    }
    c = container_1_2((const uint64_t(*)[2])ranges, n, 1024);
    assert_int_equal(zt_blobs_sort(c, NULL, &blobs, &err), SQLITE_OK);
    while( zt_blobs_next(c, &blobs, &step) ){
      found |= step.other!=NULL;
      if( step.gap<step.end ) gaps += step.end-step.gap;
    }
    for(size_t i=0; i<16; i++) covered += used[i] ? 64 : 0;
    check( found==expected, "round %d", round );
    check( gaps==1024-8-covered, "round %d: %llu bytes between", round, (unsigned long long)gaps );
    (*(found ? &with : &without))++;
    zt_blobs_clear(&blobs);
    zt_container_close(c);
  }
  assert_true(with>50 && without>50);
}

TEST(test_an_overlap_is_told_in_the_place_of_the_later_blob){
  static const uint64_t ranges[2][2] = { { 64, 65 }, { 128, 64 } };
  zt_container *c = container_1_2(ranges, 2, 1024);
  zt_error err = ZT_ERROR_NONE;
  zt_blobs blobs;
  zt_blob_step step;
  err.path = "a.zt";
  assert_int_equal(zt_blobs_sort(c, NULL, &blobs, &err), SQLITE_OK);
  while( zt_blobs_next(c, &blobs, &step) && !step.other );
  assert_int_equal(zt_blobs_fail(c, &step, "Z14", &err), SQLITE_ERROR);
  assert_string_equal(err.rule, "Z14");
  assert_failed(&err, "ztensor: a.zt: object 'o1': component 'd': bytes 128 to 192 overlap those of object 'o0': component 'd', 64 to 129", "two");
  /* The manifest has no place of its own: the other one's is named */
  step = (zt_blob_step){ .blob = &blobs.a[2], .other = &blobs.a[0] };
  assert_true(step.blob->object==ZT_BLOB_MANIFEST);
  zt_blobs_fail(c, &step, "Z14", &err);
  assert_failed(&err, "object 'o0': component 'd': bytes 64 to 129 overlap those of the manifest, 1024 to ", "manifest");
  zt_blobs_clear(&blobs);
  zt_container_close(c);
}

int main(void){
  return run_all("blobs", NULL, NULL);
}
