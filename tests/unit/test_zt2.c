/*
** zTensor 2: what is in a file that is well made, or keeps a rule by a hair; and files that were cut or changed, which are
** refused without exception. test_container.c opens those that break a rule each.
*/
#include "zt2.h"

#include "container/driver.h"
#include "container/dtype.h"
#include "core/digest.h"
#include "core/paths.h"

#define AT ((size_t)16384)
#define END ((size_t)24576)

static zt_container *open_image(blob b, const char *path, zt_error *err){
  zt_source *source;
  zt_container *c;
  err->path = path;
  assert_int_equal(zt_source_open_image(span_of(b), &source, err), SQLITE_OK);
  zt_container_open(source, NULL, &c, err);
  assert_true((c==NULL)==(err->rc!=SQLITE_OK));
  assert_true(err->object.z==NULL && err->component.z==NULL);
  zt_source_close(source);
  return c;
}

#define RULES (ZT_RULE_DIGESTS_KNOWN|ZT_RULE_CELLS_UNIQUE|ZT_RULE_ORDER|ZT_RULE_CANONICAL_VALUES|ZT_RULE_DIGEST_OF_DECODED|ZT_RULE_PADDING_ZERO \
               |ZT_RULE_ANY_ALIGNMENT)

static void walk_over(const zt_container *c, const zt_value *of){
  zt_error err = ZT_ERROR_NONE;
  zt_value key, value;
  zt_level level;
  zt_walk w;
  zt_walk_begin(c, of, &w, &level, &err);
  while( zt_walk_next(&w, &level, &key, &value) ) check( key.type==ZT_VALUE_TEXT, "%d", key.type );
  zt_walk_end(&w);
  assert_succeeded(&err, "walk");
}

/* Everything that can be asked of a container that was opened. */
static void ask_all(const zt_container *c, const char *row){
  zt_value attributes = zt_container_attributes(c);
  zt_shard shard, found;
  for(uint32_t i=0; i<zt_container_shards(c); i++){
    zt_container_shard(c, i, &shard);
    check( zt_container_shard_number(c, shard.name)==i+1, "%s: shard %u", row, i );
    check( zt_container_shard_find(c, shard.name, &found) && found.size==shard.size, "%s: shard %u", row, i );
    check( zt_text_equal(found.digest, shard.digest), "%s: shard %u", row, i );
  }
  for(uint32_t i=0; i<=zt_container_objects(c); i++){
    zt_object o;
    if( i<zt_container_objects(c) ){
      zt_container_object(c, i, &o);
      check( zt_container_find(c, o.name)==i, "%s: object %u", row, i );
      check( zt_text_equal(o.name, zt_container_name(c, i)) && o.format.z && o.rank<=ZT_MAX_RANK && o.rules==RULES, "%s", row );
      attributes = o.attributes;
    }
    walk_over(c, &attributes);
  }
  for(uint32_t i=0, k=0; i<zt_container_objects(c); i++){
    check( zt_container_first(c, i)==k, "%s", row );
    for(; k<zt_container_first(c, i+1); k++){
      zt_component m, one;
      zt_container_component(c, i, k, ZT_COMPONENT_ALL, &m);
      check( m.offset>=ZT2_PAGE && m.offset%ZT2_PAGE==0, "%s: object %u", row, i );
      check( zt_claim((m.shard.z ? m.shard_size : c->file_size)-ZT2_FOOTER, m.offset, m.length), "%s", row );
      check( m.role.z && m.dtype.z && m.encoding.z && m.rules==RULES && m.digests==(ZT_DIGEST_XXH3|ZT_DIGEST_SHA256), "%s: object %u", row, i );
      check( m.has_decoded_length==!zt_text_is(m.encoding, "raw"), "%s: object %u", row, i );
      check( zt_component_find(c, i, m.role, &one) && one.offset==m.offset && one.length==m.length, "%s", row );
    }
  }
}

static blob file_of(const char *notation, size_t *mark){
  return zt2_file(zt2_manifest(notation, mark), AT, END);
}

/* --- What is in a file --- */

#define XXH "xxh3:0123456789abcdef"

TEST(test_what_is_in_a_file){
  size_t mark;
  zt_error err = ZT_ERROR_NONE;
  blob b = file_of("{'shards': {'b': {'size': 8232, 'digest': '" XXH "'}, 'a-1': {'size': 9000, 'digest': '" XXH "'}}, "
    "'objects': {'w': {'parts': {'data': {'blob': [4096, 3], 'type': 'complex64', 'dtype': 'f32', 'shard': 'a-1', 'digest': '" XXH
    "', 'encoding': 'x/1', 'decoded_length': 48}}, 'shape': [2, 3], 'layout': 'dense', 'attributes': {'k': 1, 'kk': [2]}}, "
    "'aa': {'parts': {'coords': {'blob': [8192, 8], 'dtype': 'u32'}, 'values': {'blob': [4096, 1], 'dtype': 'u8'}}, 'shape': [7, 7], "
    "'layout': 'zt.sparse_coo/1'}, 'ab': {'parts': {'q': {'blob': [4096, 0], 'dtype': 'i8'}}, 'shape': [], 'layout': 'sparse_coo'}, "
    "'ac': {'parts': {'q': {'blob': [4096, 0], 'dtype': 'i8'}}, 'shape': [0, 5], 'layout': 'acme.x/1'}}, 'attributes': {'k': true}}", &mark);
  zt_container *c = open_image(b, NULL, &err);
  zt_value attributes;
  zt_object o;
  zt_component m;
  zt_shard s;
  assert_succeeded(&err, "file");
  ask_all(c, "file");
  assert_text(zt_container_version(c), "2", "version");
  assert_string_equal(zt_container_format(c), "ztensor");
  assert_int_equal(zt_container_manifest_offset(c), AT);
  assert_int_equal(zt_container_end(c), END);
  assert_int_equal(c->file_size, END+ZT2_FOOTER);
  assert_int_equal(zt_container_rules(c), RULES);
  assert_false(zt_container_is_newer(c));
  attributes = zt_container_attributes(c);
  assert_true(attributes.type==ZT_VALUE_MAP && attributes.at>0);
  assert_int_equal(zt_container_shards(c), 2);
  zt_container_shard(c, 1, &s);
  assert_text(s.name, "a-1", "shard");
  assert_text(s.digest, XXH, "shard");
  assert_int_equal(s.size, 9000);
  assert_int_equal(zt_container_shard_number(c, ZT_TEXT("a-1")), 2);
  assert_int_equal(zt_container_shard_number(c, (zt_text){ NULL, 0 }), 0);
  assert_false(zt_container_shard_find(c, ZT_TEXT("a"), &s));
  assert_int_equal(zt_container_objects(c), 4);
  assert_int_equal(zt_container_components(c), 5);
  assert_int_equal(zt_container_find(c, ZT_TEXT("aa")), 1);
  assert_int_equal(zt_container_find(c, ZT_TEXT("a")), -1);
  zt_container_object(c, 0, &o);
  assert_text(o.format, "dense", "format");
  assert_true(o.rank==2 && o.shape[0]==2 && o.shape[1]==3 && o.elements==6 && o.layout==ZT_LAYOUT_DENSE && o.attributes.type==ZT_VALUE_MAP);
  zt_container_component(c, 0, 0, ZT_COMPONENT_ALL, &m);
  assert_text(m.role, "data", "role");
  assert_text(m.dtype, "f32", "dtype");
  assert_text(m.type, "complex64", "type");
  assert_text(m.encoding, "x/1", "encoding");
  assert_text(m.shard, "a-1", "shard");
  assert_text(m.digest, XXH, "digest");
  assert_text(m.byte_order, "little", "byte order");
  assert_true(m.offset==4096 && m.length==3 && m.has_decoded_length && m.decoded_length==48 && m.shard_size==9000);
  assert_true(m.codec==ZT_CODEC_UNKNOWN && m.element && strcmp(m.element->name, "complex64")==0);
  zt_container_object(c, 1, &o);
  assert_text(o.format, "sparse_coo", "format");
  assert_int_equal(o.layout, ZT_LAYOUT_COO);
  assert_int_equal(o.attributes.type, ZT_VALUE_NULL);
  zt_container_component(c, 1, 2, ZT_COMPONENT_ALL, &m);
  assert_text(m.role, "values", "role");
  assert_text(m.encoding, "raw", "encoding");
  assert_true(m.codec==ZT_CODEC_RAW && m.offset==4096 && m.length==1 && !m.has_decoded_length && !m.type.z && !m.digest.z && !m.shard.z);
  zt_container_object(c, 2, &o);
  assert_text(o.format, "sparse_coo", "another generation's word");
  assert_true(o.layout==ZT_LAYOUT_UNKNOWN && o.rank==0 && o.elements==1);
  zt_container_object(c, 3, &o);
  assert_text(o.format, "acme.x/1", "format");
  assert_true(o.layout==ZT_LAYOUT_UNKNOWN && o.rank==2 && o.elements==0);
  zt_container_close(c);
  free(b.p);
}

TEST(test_a_data_shard_has_no_objects){
  static const size_t ends[] = { 8, 4096, 4097, 8192 };
  for(size_t i=0; i<COUNT(ends); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = zt2_data_shard(ends[i]);
    zt_container *c = open_image(b, NULL, &err);
    assert_succeeded(&err, "data shard");
    assert_text(zt_container_version(c), "2", "version");
    assert_int_equal(zt_container_objects(c), 0);
    assert_int_equal(zt_container_shards(c), 0);
    assert_int_equal(zt_container_manifest_length(c), 0);
    assert_int_equal(zt_container_attributes(c).type, ZT_VALUE_NULL);
    assert_int_equal(zt_container_manifest(c).type, ZT_VALUE_NULL);
    assert_int_equal(zt_container_end(c), ends[i]);
    assert_int_equal(zt_container_find(c, ZT_TEXT("w")), -1);
    ask_all(c, "data shard");
    zt_container_close(c);
    free(b.p);
  }
}

/* Files that keep a rule by a hair, and those that break one of what is read later. */
/* NAME:DIGITS, both of small letters and digits, and DIGITS hexadecimal. */
TEST(test_digests_are_a_name_and_digits){
  static const struct { const char *digest; bool sound; } rows[] = {
    { "a:0", true }, { "sha256:0123456789abcdef", true }, { "x9:12345678abc", true }, { "crc:az", false }, { "crc:12345678g", false }, { "crc:1234567g", false },
    { "crc:12345678/", false }, { "crc:12345678:", false }, { "crc:12345678`", false }, { "crc:123456\xc3\xa9", false }, { "crc:1234567\xc3\xa9", false }, { ":12", false },
    { "crc:", false }, { "crc", false }, { "", false }, { "c{c:12", false }, { "cRc:12", false }, { "c/:12", false }, { "c::12", false }, { "crc:1234567A", false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char text[300];
    zt_error err = ZT_ERROR_NONE;
    snprintf(text, sizeof(text), "{'objects': {'w': {'parts': {'data': {'blob': [4096, 3], 'dtype': 'u8', 'digest': '%s'}}, 'shape': [3], 'layout': 'dense'}}}",
             rows[i].digest);
    size_t mark;
    blob b = file_of(text, &mark);
    zt_container *c = open_image(b, NULL, &err);
    check( (c!=NULL)==rows[i].sound, "%s: %s", rows[i].digest, err.message ? err.message : "opens" );
    if( !c ) check( strcmp(err.rule, "Z15")==0 && strstr(err.message, "is no digest"), "%s: %s", rows[i].digest, err.message );
    zt_error_clear(&err);
    zt_container_close(c);
    free(b.p);
  }
}

TEST(test_all_that_opens_can_be_asked){
  static const char *const patterns[] = { "tests/formats/ztensor/hostile/2-*.zt", "tests/formats/ztensor/golden/v2/*.zt" };
  unsigned n = 0;
  for(size_t p=0; p<COUNT(patterns); p++){
    zt_paths_filter filter = { 0 };
    zt_error found = ZT_ERROR_NONE;
    zt_paths paths;
    assert_int_equal(zt_paths_find(patterns[p], &filter, &paths, &found), SQLITE_OK);
    for(size_t i=0; i<paths.n; i++){
      zt_error err = ZT_ERROR_NONE;
      blob b = read_file(paths.a[i].z);
      zt_container *c = open_image(b, NULL, &err);
      if( c ) ask_all(c, paths.a[i].z);
      n += c!=NULL;
      zt_error_clear(&err);
      zt_container_close(c);
      free(b.p);
    }
    zt_paths_clear(&paths);
  }
  assert_true(n>150);
}

/* --- Many blobs --- */

/* n objects of a blob each, a page long, whose places a permutation of them gives; the last is `more` bytes longer. */
static blob many(size_t n, size_t stride, size_t more, size_t *mark){
  blob manifest = { 0 };
  put_map(&manifest, 1);
  put_text(&manifest, "objects");
  put_map(&manifest, n);
  for(size_t i=0; i<n; i++){
    char name[16];
    size_t place = i*stride%n;
    snprintf(name, sizeof(name), "%08zu", i);
    put_text(&manifest, name);
    put_map(&manifest, 3);
    put_text(&manifest, "parts");
    put_map(&manifest, 1);
    put_text(&manifest, "a");
    put_map(&manifest, 2);
    put_text(&manifest, "blob");
    put_array(&manifest, 2);
    put_uint(&manifest, (place+1)*ZT2_PAGE);
    put_uint(&manifest, ZT2_PAGE + (place==n/2 ? more : 0));
    put_text(&manifest, "dtype");
    put_text(&manifest, "u8");
    put_text(&manifest, "shape");
    put_array(&manifest, 0);
    put_text(&manifest, "layout");
    put_text(&manifest, "x/1");
  }
  *mark = ZT2_NO_MARK;
  return zt2_file(manifest, (n+1)*ZT2_PAGE, 0);
}

TEST(test_one_overlap_among_many_blobs_in_any_order_is_found){
  static const size_t strides[] = { 1, 4096, 1237, 2047 };   /* Prime to 4097 */
  for(size_t i=0; i<COUNT(strides); i++){
    for(size_t more=0; more<2; more++){
      zt_error err = ZT_ERROR_NONE;
      size_t mark;
      blob b = many(4097, strides[i], more, &mark);
      zt_container *c = open_image(b, NULL, &err);
      if( more ) assert_failed(&err, "bytes 8396800 to 8400896 overlap those of object '", "one byte too many");
      else assert_succeeded(&err, "many");
      zt_container_close(c);
      free(b.p);
    }
  }
}

/* --- Cut and changed files --- */

#define SMALL "tests/formats/ztensor/golden/v2/hand_attribute_kinds.zt"

static void check_refused(blob b, const char *what, size_t at){
  zt_error err = ZT_ERROR_NONE;
  check( open_image(b, "small.zt", &err)==NULL, "%s %zu: accepted", what, at );
  check( err.rc==SQLITE_ERROR && err.rule, "%s %zu: %s", what, at, err.message );
  check( strncmp(err.message, "ztensor: small.zt: ", 19)==0, "%s %zu: %s", what, at, err.message );
  zt_error_clear(&err);
}

TEST(test_a_file_cut_anywhere_is_refused){
  blob b = read_file(SMALL);
  for(size_t n=0; n<b.n; n++){
    blob cut = exact(b.p, n);
    check_refused(cut, "cut to", n);
    free(cut.p);
  }
  free(b.p);
}

TEST(test_a_file_with_bytes_after_its_end_is_refused){
  blob b = read_file(SMALL);
  for(size_t more=1; more<=ZT2_PAGE; more = more<70 ? more+1 : more*2){
    blob longer = { 0 };
    put(&longer, b.p, b.n);
    put_repeated(&longer, more%2 ? 0 : 0x89, more);
    longer = seal(&longer);
    check_refused(longer, "and so many bytes more:", more);
    free(longer.p);
  }
  free(b.p);
}

/* No bit of the magic, the manifest and the footer may change, except the reserved ones. */
TEST(test_any_bit_changed_is_found){
  blob b = read_file(SMALL);
  zt_error err = ZT_ERROR_NONE;
  zt_container *c = open_image(b, NULL, &err);
  size_t at, n;
  unsigned accepted = 0;
  assert_succeeded(&err, SMALL);
  at = (size_t)zt_container_manifest_offset(c);
  n = (size_t)zt_container_manifest_length(c);
  zt_container_close(c);
  for(size_t i=0; i<b.n; i++){
    bool reserved = i>=b.n-12 && i<b.n-8;
    if( i>=8 && (i<at || (i>=at+n && i<b.n-ZT2_FOOTER)) ) continue;
    for(int bit=0; bit<8; bit++){
      b.p[i] ^= (uint8_t)(1<<bit);
      if( reserved ){
        c = open_image(b, NULL, &err);
        assert_succeeded(&err, "reserved");
        zt_container_close(c);
        accepted++;
      }else{
        check_refused(b, "changed at", i);
      }
      b.p[i] ^= (uint8_t)(1<<bit);
    }
  }
  assert_int_equal(accepted, 32);
  free(b.p);
}

/* The same with the hash put right: whatever is in a manifest then, it is refused, or all that it says can be read. */
TEST(test_a_manifest_with_any_byte_changed_is_refused_or_sound){
  static const uint8_t flips[] = { 0x01, 0x02, 0x20, 0x40, 0x80, 0xFF };
  unsigned refused = 0, sound = 0;
  size_t mark;
  blob manifest = zt2_manifest("{'shards': {'s': {'size': 65536, 'digest': '" XXH "'}}, 'objects': {'v': {'parts': {'data': {'blob': [8192, 3], 'dtype': "
    "'f32', 'shard': 's', 'encoding': 'x/1', 'decoded_length': 16}}, 'shape': [2, 2], 'layout': 'dense', 'attributes': {'a': {1: <f93c00>}}}, 'w': {'parts': "
    "{'indptr': {'blob': [12288, 12], 'dtype': 'u32'}, 'values': {'blob': [8192, 6], 'type': 'f8_e5m2', 'dtype': 'u8'}, 'indices': {'blob': "
    "[4096, 24], 'dtype': 'u32'}}, 'shape': [2, 9], 'layout': 'zt.sparse_csr/1'}}}", &mark);
  for(size_t i=0; i<manifest.n; i++){
    for(size_t f=0; f<COUNT(flips); f++){
      zt_error err = ZT_ERROR_NONE;
      blob changed = { 0 }, b;
      zt_container *c;
      put(&changed, manifest.p, manifest.n);
      changed.p[i] ^= flips[f];
      b = zt2_file(changed, AT, END);
      c = open_image(b, "a.zt", &err);
      if( c ) ask_all(c, "changed");
      else check( err.rc==SQLITE_ERROR && err.rule && strncmp(err.message, "ztensor: a.zt: ", 15)==0, "byte %zu: %s", i, err.message );
      refused += !c;
      sound += c!=NULL;
      zt_error_clear(&err);
      zt_container_close(c);
      free(b.p);
    }
  }
  assert_true(refused>10*sound/2 && sound>20);
  free(manifest.p);
}

/* Cut short with hash and footer put right. */
TEST(test_a_manifest_cut_anywhere_is_refused){
  size_t mark;
  blob manifest = zt2_manifest("{'objects': {'w': {'parts': {'data': {'blob': [4096, 16], 'dtype': 'f32'}}, 'shape': [4], 'layout': 'dense'}}}", &mark);
  for(size_t n=1; n<manifest.n; n++){
    blob cut = { 0 }, b;
    zt_error err = ZT_ERROR_NONE;
    put(&cut, manifest.p, n);
    b = zt2_file(cut, AT, END);
    check( open_image(b, "a.zt", &err)==NULL && err.rule, "%zu bytes", n );
    check( strstr(err.message, "manifest byte ")!=NULL, "%zu bytes: %s", n, err.message );
    zt_error_clear(&err);
    free(b.p);
  }
  free(manifest.p);
}

int main(void){
  return run_all("zt2", NULL, NULL);
}
