/*
** A model's content digest: container/content_id.h. It is that of a CBOR value written by hand; the same for the same
** tensors however they are packed, another for any other tensors.
*/
#include "zt2.h"

#include "container/content_id.h"
#include "core/digest.h"

#define AT ((size_t)32768)

static zt_container *open_image(blob b, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c;
  assert_int_equal(zt_source_open_image(span_of(b), &source, &err), SQLITE_OK);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, row);
  zt_source_close(source);
  return c;
}

/* The digest; "" if it is not known. */
static void identify(blob b, char out[ZT_DIGEST_TEXT], const char *row){
  zt_container *c = open_image(b, row);
  zt_error err = ZT_ERROR_NONE;
  bool known = false;
  zt_content_id(c, out, &known, &err);
  assert_succeeded(&err, row);
  if( !known ) out[0] = 0;
  zt_container_close(c);
}

static void identify_notation(const char *notation, size_t at, char out[ZT_DIGEST_TEXT]){
  size_t mark;
  blob b = zt2_file(zt2_manifest(notation, &mark), at, AT+8192);
  identify(b, out, notation);
  free(b.p);
}

static void sha256(blob b, char out[ZT_DIGEST_TEXT]){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d;
  assert_true(zt_digest_new(ZT_TEXT("sha256"), &d, &err));
  assert_succeeded(&err, "sha256");
  zt_digest_update(d, span_of(b));
  zt_digest_text(d, out);
  zt_digest_close(d);
}

/* The sha256 of the CBOR value in the notation. */
static void expect(const char *value, char out[ZT_DIGEST_TEXT]){
  size_t mark;
  blob b = zt2_manifest(value, &mark);
  sha256(b, out);
  free(b.p);
}

#define D1 "xxh3:0123456789abcdef"
#define D2 "xxh3:fedcba9876543210"
#define D3 "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* --- The value --- */

TEST(test_the_digest_is_that_of_the_value_written_by_hand){
  static const struct { const char *objects, *value; } rows[] = {
    { "{}", "{}" },
    { "{'w': {'parts': {'data': {'blob': [4096, 4], 'dtype': 'f32', 'digest': '" D1 "'}}, 'shape': [], 'layout': 'dense'}}",
      "{'w': {'parts': {'data': {'dtype': 'f32', 'digest': '" D1 "'}}, 'shape': [], 'layout': 'dense'}}" },
    { "{'w': {'parts': {'data': {'blob': [4096, 4], 'type': 'bool', 'dtype': 'u8', 'shard': 's', 'digest': '" D3 "', 'encoding': 'x/1', 'decoded_length': 6}}, 'shape': [2, 3], 'layout': 'dense', 'attributes': {}}}",
      "{'w': {'parts': {'data': {'type': 'bool', 'dtype': 'u8', 'digest': '" D3 "'}}, 'shape': [2, 3], 'layout': 'dense', 'attributes': {}}}" },
    { "{'b': {'parts': {'x': {'blob': [4096, 1], 'dtype': 'u8', 'digest': '" D1 "'}, 'yy': {'blob': [8192, 1], 'dtype': 'i8', 'digest': '" D2 "'}}, 'shape': [18446744073709551615], 'layout': 'acme/7', 'attributes': {'k': {1: [<f93c00>, -5, null]}, 'kk': 'v'}}, "
      "'aa': {'parts': {'data': {'blob': [4096, 0], 'dtype': 'i64', 'digest': '" D2 "'}}, 'shape': [0], 'layout': 'dense'}}",
      "{'b': {'parts': {'x': {'dtype': 'u8', 'digest': '" D1 "'}, 'yy': {'dtype': 'i8', 'digest': '" D2 "'}}, 'shape': [18446744073709551615], 'layout': 'acme/7', 'attributes': {'k': {1: [<f93c00>, -5, null]}, 'kk': 'v'}}, "
      "'aa': {'parts': {'data': {'dtype': 'i64', 'digest': '" D2 "'}}, 'shape': [0], 'layout': 'dense'}}" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char notation[2000], value[2000], got[ZT_DIGEST_TEXT], want[ZT_DIGEST_TEXT];
    snprintf(notation, sizeof(notation), "{'shards': {'s': {'size': 9000, 'digest': '" D1 "'}}, 'objects': %s}", rows[i].objects);
    snprintf(value, sizeof(value), "['zt.content/1', %s]", rows[i].value);
    identify_notation(notation, AT, got);
    expect(value, want);
    check( strcmp(got, want)==0, "%s: %s, expected %s", rows[i].objects, got, want );
  }
}

static void put_key_of(blob *b, const char *key, const char *text){
  put_text(b, key);
  put_text(b, text);
}

/* Heads of one, two and more bytes; names of every length that has another head. */
TEST(test_many_objects_of_long_names){
  static const size_t counts[] = { 1, 23, 24, 255, 256, 300 };
  for(size_t i=0; i<COUNT(counts); i++){
    blob manifest = { 0 }, value = { 0 }, file;
    char got[ZT_DIGEST_TEXT], want[ZT_DIGEST_TEXT];
    put_map(&manifest, 1);
    put_text(&manifest, "objects");
    put_map(&manifest, counts[i]);
    put_array(&value, 2);
    put_text(&value, "zt.content/1");
    put_map(&value, counts[i]);
    for(size_t k=0; k<counts[i]; k++){
      for(int side=0; side<2; side++){
        blob *b = side ? &value : &manifest;
        put_head(b, ZT_CBOR_TEXT, k+1);
        put_repeated(b, 'n', k+1);
        put_map(b, 3);
        put_text(b, "parts");
        put_map(b, 1);
        put_text(b, "p");
        put_map(b, side ? 2 : 3);
        if( !side ){
          put_text(b, "blob");
          put_array(b, 2);
          put_uint(b, 4096);
          put_uint(b, 1);
        }
        put_key_of(b, "dtype", "u8");
        put_key_of(b, "digest", D1);
        put_text(b, "shape");
        put_array(b, 0);
        put_key_of(b, "layout", "x/1");
      }
    }
    file = zt2_file(manifest, 8192, 0);
    identify(file, got, "many");
    sha256(value, want);
    check( strcmp(got, want)==0, "%zu objects: %s, expected %s", counts[i], got, want );
    free(file.p);
    free(value.p);
  }
}

/* --- What makes a difference --- */

#define BASE "{'shards': {'s': {'size': 65536, 'digest': '" D2 "'}}, 'objects': {" \
  "'w': {'parts': {'data': {'blob': [4096, 8], 'dtype': 'f32', 'digest': '" D1 "'}}, 'shape': [2], 'layout': 'dense', 'attributes': {'k': 1}}, " \
  "'ww': {'parts': {'coords': {'blob': [8192, 8], 'dtype': 'u32', 'digest': '" D2 "'}, 'values': {'blob': [12288, 2], 'dtype': 'u8', 'digest': '" D3 "'}}, 'shape': [9], 'layout': 'zt.sparse_coo/1'}}}"

typedef enum verdict { SAME, OTHER, UNKNOWN } verdict;

TEST(test_what_makes_a_difference){
  static const struct { verdict verdict; const char *what, *from, *to; } rows[] = {
    { SAME, "nothing", "[2]", "[2]" },
    { SAME, "another offset", "[4096, 8]", "[20480, 8]" },
    { SAME, "a blob that two have", "[4096, 8]", "[8192, 8]" },
    { SAME, "a shard", "'dtype': 'f32', ", "'dtype': 'f32', 'shard': 's', " },
    { SAME, "an encoding", "[4096, 8], 'dtype': 'f32', 'digest': '" D1 "'", "[4096, 5], 'dtype': 'f32', 'digest': '" D1 "', 'encoding': 'x/1', 'decoded_length': 8" },
    { SAME, "no table of shards", "'shards': {'s': {'size': 65536, 'digest': '" D2 "'}}, ", "" },
    { SAME, "attributes of the file", "'layout': 'zt.sparse_coo/1'}}", "'layout': 'zt.sparse_coo/1'}}, 'attributes': {'a': 1}" },
    { SAME, "an unknown field of a part", "{'blob': [4096, 8]", "{'a': [1, {2: 3}], 'blob': [4096, 8]" },
    { SAME, "an unknown field behind all", "'digest': '" D1 "'", "'digest': '" D1 "', 'zzzzzzzz': <f97e00>" },
    { SAME, "an unknown field of an object", "'w': {", "'w': {'a': {}, " },
    { SAME, "a part's key that is no text", "{'blob': [4096, 8]", "{7: 1, 'blob': [4096, 8]" },
    { SAME, "a part's key that is an array", "'dtype': 'f32', 'digest': '" D1 "'", "'dtype': 'f32', 'digest': '" D1 "', [1]: 2" },
    { SAME, "an object's key that is no text", "'w': {", "'w': {-1: {}, " },
    { SAME, "an unknown field of the root", "{'shards'", "{'a': true, 'shards'" },
    { OTHER, "a dtype", "'dtype': 'f32'", "'dtype': 'i32'" },
    { OTHER, "a type", "'dtype': 'f32'", "'type': 'f32', 'dtype': 'f32'" },
    { OTHER, "another type", "'dtype': 'u8'", "'type': 'bool', 'dtype': 'u8'" },
    { OTHER, "a shape of another rank", "[2]", "[2, 1]" },
    { OTHER, "a shape", "[9]", "[8]" },
    { OTHER, "an object's name", "'w': {", "'v': {" },
    { OTHER, "an object's longer name", "'ww': {", "'www': {" },
    { OTHER, "a digest", D1, D2 },
    { OTHER, "a digest of another algorithm", D1, D3 },
    { OTHER, "one of the other object", D3, D1 },
    { OTHER, "a layout", "'layout': 'zt.sparse_coo/1'", "'layout': 'zt.sparse_coo/2'" },
    { OTHER, "an attribute's value", "{'k': 1}", "{'k': 2}" },
    { OTHER, "an attribute's type", "{'k': 1}", "{'k': '1'}" },
    { OTHER, "an attribute's key", "{'k': 1}", "{'K': 1}" },
    { OTHER, "an attribute more", "{'k': 1}", "{'k': 1, 'kk': 1}" },
    { OTHER, "no attribute", "{'k': 1}", "{}" },
    { OTHER, "no attributes", ", 'attributes': {'k': 1}", "" },
    { OTHER, "an object more", "'ww': {", "'x': {'parts': {'data': {'blob': [16384, 0], 'dtype': 'u8', 'digest': '" D1 "'}}, 'shape': [0], 'layout': 'dense'}, 'ww': {" },
    { OTHER, "no object", NULL, "{'objects': {}}" },
    { UNKNOWN, "no digest", ", 'digest': '" D1 "'", "" },
    { UNKNOWN, "no digest of the last part", ", 'digest': '" D3 "'", "" },
    { UNKNOWN, "no digest of one of two", "'dtype': 'u32', 'digest': '" D2 "'", "'dtype': 'u32'" },
  };
  char base[ZT_DIGEST_TEXT];
  identify_notation(BASE, AT, base);
  assert_int_equal(strlen(base), 71);
  for(size_t i=0; i<COUNT(rows); i++){
    char *notation, got[ZT_DIGEST_TEXT];
    notation = zt2_replaced(BASE, rows[i].from, rows[i].to);
    identify_notation(notation, AT, got);
    switch( rows[i].verdict ){
      case SAME: check( strcmp(got, base)==0, "%s: '%s'", rows[i].what, got ); break;
      case OTHER: check( got[0] && strcmp(got, base)!=0, "%s: '%s'", rows[i].what, got ); break;
      default: check( !got[0], "%s: '%s'", rows[i].what, got ); break;
    }
    for(size_t k=0; k<i; k++){   /* All others differ from one another, too */
      char *other, text[ZT_DIGEST_TEXT];
      if( rows[i].verdict!=OTHER || rows[k].verdict!=OTHER ) continue;
      other = zt2_replaced(BASE, rows[k].from, rows[k].to);
      identify_notation(other, AT, text);
      check( strcmp(got, text)!=0, "%s and %s", rows[i].what, rows[k].what );
      free(other);
    }
    free(notation);
  }
}

TEST(test_the_place_of_the_manifest_makes_no_difference){
  char base[ZT_DIGEST_TEXT], got[ZT_DIGEST_TEXT];
  identify_notation(BASE, AT, base);
  identify_notation(BASE, 16384, got);
  assert_string_equal(got, base);
  identify_notation(BASE, 20480, got);
  assert_string_equal(got, base);
}

/* --- Where there is none --- */

TEST(test_older_generations_and_data_shards_have_none){
  static const char *const files[] = { "v0.1/wheel_names", "v1.0/wheel_names", "v1.1/crate_digests_attributes", "v1.2/hand_digests", "v2/hand_sharded-part-1" };
  for(size_t i=0; i<COUNT(files); i++){
    char path[100], got[ZT_DIGEST_TEXT];
    blob b;
    snprintf(path, sizeof(path), "tests/formats/ztensor/golden/%s.zt", files[i]);
    b = read_file(path);
    identify(b, got, path);
    check( !got[0], "%s: %s", path, got );
    free(b.p);
  }
}

int main(void){
  return run_all("content_id", NULL, NULL);
}
