/*
** Encoders of ext/container: the bytes that they make of drafts. Drafts of files that the formats' own libraries wrote become
** these very files; others are compared with bytes written by hand, or read back.
*/
#include "drafts.h"

#define FORMATS "tests/formats/"

/* --- Files of the formats' own libraries --- */

typedef struct file {
  const char *format, *path;
  bool by_row;             /* The library kept the order of its caller */
  uint64_t align;          /* 0: the default */
  unsigned digest;
  const char *twin;        /* The same tensors, stored; NULL: the file itself */
  size_t from;             /* Only bytes from there on: before it, the library shuffled metadata */
} file;

static const file files[] = {
  { .format = "ztensor-2", .path = FORMATS "ztensor/golden/v2/wheel_canonical.zt", .digest = ZT_DIGEST_XXH3 },
  { .format = "ztensor-2", .path = FORMATS "ztensor/golden/v2/wheel_convert_canonical.zt", .digest = ZT_DIGEST_XXH3 },
  { .format = "ztensor-2", .path = FORMATS "ztensor/golden/v2/wheel_zero_tensors.zt" },
  { .format = "safetensors", .path = FORMATS "safetensors/golden/dtypes.safetensors" },
  { .format = "safetensors", .path = FORMATS "safetensors/golden/dtypes_new.safetensors" },
  { .format = "safetensors", .path = FORMATS "safetensors/golden/names.safetensors", .from = 3183 },
  { .format = "safetensors", .path = FORMATS "safetensors/golden/nothing.safetensors" },
  { .format = "safetensors", .path = FORMATS "safetensors/golden/only_metadata.safetensors" },
  { .format = "gguf", .path = FORMATS "gguf/golden/dtypes.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/empty_tensors.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/kv_nested.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/kv_types.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/names.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/ranks.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/q_k.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/q_iq.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/q_legacy.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/q_ternary_mx.gguf", .by_row = true },
  { .format = "gguf", .path = FORMATS "gguf/golden/q_8_1_8_k.gguf", .by_row = true },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_bool.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_f16.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_f32.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_f64.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_i64.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/dtype_u8.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/complex64.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/complex128.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/empty.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/noncontiguous.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/rank6.npy" },
  { .format = "npy", .path = FORMATS "npy/golden/scalar.npy" },
  { .format = "npz", .path = FORMATS "npz/golden/stored.npz", .by_row = true },
  { .format = "npz", .path = FORMATS "npz/golden/positional.npz", .by_row = true },
  { .format = "npz", .path = FORMATS "npz/golden/deflated.npz", .by_row = true, .twin = FORMATS "npz/golden/stored.npz" },
};

static void print_difference(const char *path, blob got, blob expected){
  size_t i = 0;
  while( i<got.n && i<expected.n && got.p[i]==expected.p[i] ) i++;
  print_error("%s: %zu bytes, not %zu; byte %zu differs\n", path, got.n, expected.n, i);
}

TEST(test_files){
  for(size_t i=0; i<COUNT(files); i++){
    const file *f = &files[i];
    const bool zt = strncmp(f->format, "ztensor", 7)==0;
    zt_error err = ZT_ERROR_NONE;
    blob expected = read_file(f->path), other = f->twin ? read_file(f->twin) : expected, got;
    zt_container *c = open_file(f->path), *twin = f->twin ? open_file(f->twin) : c;
    zt_draft *d = draft_of(f->path, expected, c, twin, other, f->digest, zt, &err);
    got = encode(f->format, d, f->by_row, f->align, f->path);
    if( f->from ) memcpy(got.p, expected.p, f->from);
    if( !same_blob(got, expected) ) print_difference(f->path, got, expected);
    assert_true(same_blob(got, expected));
    if( f->twin ){
      free(other.p);
      zt_container_close(twin);
    }
    zt_container_close(c);
    free(expected.p);
    free(got.p);
  }
}

/* --- The same tensors in every format --- */

/* A draft of attributes and tensors that come in no order. */
static zt_draft *mixed_draft(bool attributes, const char *last){
  static const float numbers[] = { 0, 1, 2, 3, 4, 5 };
  static const uint64_t two_three[] = { 2, 3 }, six[] = { 6 }, none[] = { 3, 0, 2 };
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  uint32_t o = add_dense(d, "w \"q\" \xC3\xA9\xF0\x9F\x90\x8D", 2, two_three, &err);
  add_part(d, o, "data", ZT_DTYPE_f32, numbers, sizeof(numbers), 0, &err);
  o = add_dense(d, "a", 1, six, &err);
  add_part(d, o, "data", ZT_DTYPE_f32, numbers, sizeof(numbers), 0, &err);
  o = add_dense(d, "empty", 3, none, &err);
  add_part(d, o, "data", ZT_DTYPE_i64, "", 0, 0, &err);
  o = add_dense(d, last, 0, NULL, &err);
  add_part(d, o, "data", ZT_DTYPE_f64, "\0\0\0\0\0\0\xF0\x3F", 8, 0, &err);
  if( attributes ){
    add_attribute(d, ZT_DRAFT_FILE, "license", "634d4954", NULL, &err);
    add_attribute(d, ZT_DRAFT_FILE, "a \"key\"", "6178", NULL, &err);
  }
  assert_succeeded(&err, "draft");
  return d;
}

static zt_container *open_image(blob b, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c = NULL;
  assert_int_equal(zt_source_open_image(span_of(b), &source, &err), SQLITE_OK);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, row);
  zt_source_close(source);
  return c;
}

/* Every object of a draft is in a file, with its shape, types and bytes. */
static void check_same(blob b, zt_draft *d, const char *row){
  zt_container *c = open_image(b, row);
  check( zt_container_objects(c)==zt_draft_objects(d), "%s: %u objects", row, zt_container_objects(c) );
  for(uint32_t i=0; i<zt_draft_objects(d); i++){
    const int64_t found = zt_container_find(c, zt_draft_name(d, i));
    zt_draft_object expected;
    zt_draft_component part;
    zt_object o;
    check( found>=0, "%s: no '%.*s'", row, (int)zt_draft_name(d, i).n, zt_draft_name(d, i).z );
    zt_container_object(c, (uint32_t)found, &o);
    zt_draft_object_get(d, i, &expected);
    check( o.layout==expected.layout && o.rank==expected.rank, "%s: object %u", row, i );
    for(uint32_t k=0; k<o.rank; k++) check( o.shape[k]==expected.shape[k], "%s: object %u", row, i );
    for(uint32_t at=0; (at = zt_draft_next_component(d, i, at, &part))!=0; ){
      const zt_span bytes = supplies[part.supply].decoded;
      zt_component k;
      check( zt_component_find(c, (uint32_t)found, part.role, &k), "%s: object %u", row, i );
      check( k.element==part.element && k.codec==ZT_CODEC_RAW, "%s: object %u", row, i );
      check( own_length(&k)==bytes.n && zt_claim(b.n, k.offset, k.length), "%s: object %u", row, i );
      check( bytes.n==0 || memcmp(b.p+k.offset+k.skip, bytes.p, bytes.n)==0, "%s: object %u", row, i );
    }
  }
  zt_container_close(c);
}

static uint32_t index_of(const zt_container *c, const char *name){
  const int64_t i = zt_container_find(c, zt_text_of(name));
  check( i>=0, "%s", name );
  return (uint32_t)i;
}

TEST(test_order){
  static const struct { const char *format; bool attributes; const char *names[2]; } formats[] = {
    { "ztensor-2", true, { "a", "empty" } }, { "ztensor-1.2", true, { "a", "empty" } },
    { "safetensors", true, { "zero", "empty" } },   /* Of 8 bytes: f64 behind i64 */
    { "gguf", true, { "a", "empty" } }, { "npz", false, { "a", "empty" } },
  };
  for(size_t i=0; i<COUNT(formats); i++){
    for(int by_row=0; by_row<2; by_row++){
      zt_draft *twin, *d = mixed_draft(formats[i].attributes, "zero");
      blob b = encode(formats[i].format, d, by_row, 0, formats[i].format);
      zt_container *c = open_image(b, formats[i].format);
      const bool sorted_manifest = strncmp(formats[i].format, "ztensor", 7)==0;
      twin = mixed_draft(false, "zero");
      check_same(b, twin, formats[i].format);
      if( by_row && !sorted_manifest ){
        check( index_of(c, "w \"q\" \xC3\xA9\xF0\x9F\x90\x8D")==0 && index_of(c, "zero")==3, "%s", formats[i].format );
      }else if( strcmp(formats[i].format, "safetensors")==0 ){
        check( index_of(c, "empty")<index_of(c, "zero") && index_of(c, "a")==2, "%s", formats[i].format );
      }else if( !sorted_manifest ){
        check( index_of(c, "a")==0 && index_of(c, "empty")==1 && index_of(c, "zero")==3, "%s", formats[i].format );
      }
      zt_draft_free(twin);
      zt_container_close(c);
      free(b.p);
    }
  }
}

/* The place of the first component of an object. */
static uint64_t offset_in(blob b, const char *name){
  zt_container *c = open_image(b, name);
  zt_component k;
  uint64_t offset;
  assert_true(zt_component_find(c, index_of(c, name), ZT_TEXT("data"), &k));
  offset = k.offset;
  zt_container_close(c);
  return offset;
}

TEST(test_parts_in_order){
  static const char first[] = "w \"q\" \xC3\xA9\xF0\x9F\x90\x8D";
  blob b = encode("ztensor-1.2", mixed_draft(false, "zero"), false, 0, "1.2");
  assert_true(offset_in(b, "a")==64 && offset_in(b, "empty")==128 && offset_in(b, first)==128 && offset_in(b, "zero")==192);
  free(b.p);
  b = encode("ztensor-1.2", mixed_draft(false, "zero"), true, 128, "1.2 by row");
  assert_true(offset_in(b, first)==128 && offset_in(b, "a")==256 && offset_in(b, "zero")==384);
  free(b.p);
  b = encode("ztensor-2", mixed_draft(false, "zero"), false, 4096, "2");
  assert_true(offset_in(b, "a")==4096 && offset_in(b, first)==4096 && offset_in(b, "zero")==8192);   /* Equal parts */
  free(b.p);
}

/* No objects. npy must have one. */
TEST(test_nothing){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npz" };
  for(size_t i=0; i<COUNT(formats); i++){
    blob b = encode(formats[i], new_draft(), false, 0, formats[i]);
    zt_container *c = open_image(b, formats[i]);
    assert_int_equal(zt_container_objects(c), 0);
    zt_container_close(c);
    free(b.p);
  }
}

/* 64 dimensions, the first of the most digits there are. */
TEST(test_rank_64){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "npy", "npz" };
  uint64_t shape[64];
  for(int i=0; i<64; i++) shape[i] = i==63 ? 0 : i==0 ? UINT64_MAX>>1 : 1;
  for(size_t i=0; i<COUNT(formats); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_draft *d = new_draft();
    const uint32_t o = add_dense(d, "x", 64, shape, &err);
    blob b;
    zt_object object;
    zt_container *c;
    add_part(d, o, "data", ZT_DTYPE_u8, "", 0, 0, &err);
    b = encode(formats[i], d, false, 0, formats[i]);
    c = open_image(b, formats[i]);
    zt_container_object(c, 0, &object);
    check( object.rank==64 && memcmp(object.shape, shape, sizeof(shape))==0, "%s", formats[i] );
    zt_container_close(c);
    free(b.p);
  }
}

/* --- zTensor 1.2, byte by byte --- */

static void put_key(blob *b, const char *key, const char *text){
  put_text(b, key);
  put_text(b, text);
}

static void put_number(blob *b, const char *key, uint64_t u){
  put_text(b, key);
  put_uint(b, u);
}

TEST(test_zt1_bytes){
  static const uint64_t shape[] = { 3 };
  const uint8_t bytes[3] = { 0x38, 0x39, 0x40 };
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  uint32_t o = add_dense(d, "w", 1, shape, &err);
  blob expected = { 0 }, got;
  size_t manifest;
  add_part(d, o, "data", ZT_DTYPE_f8_e4m3fn, bytes, 3, ZT_DIGEST_CRC32C, &err);
  add_attribute(d, o, "bb", "f6", NULL, &err);
  add_attribute(d, o, "c", "f94100", NULL, &err);
  add_attribute(d, ZT_DRAFT_FILE, "license", "634d4954", NULL, &err);
  o = add_dense(d, "longer", 0, NULL, &err);
  add_supply(d, o, (zt_draft_component){ .role = ZT_TEXT("data"), .element = zt_dtype_get(ZT_DTYPE_i16), .codec = ZT_CODEC_ZSTD },
             (supply){ bytes_of("xy", 2), bytes_of("stored", 6) }, &err);
  assert_succeeded(&err, "draft");
  got = encode("ztensor-1.2", d, false, 0, "1.2");
  put(&expected, "ZTEN1000", 8);
  put_repeated(&expected, 0, 56);
  put(&expected, "stored", 6);
  put_repeated(&expected, 0, 58);
  put(&expected, bytes, 3);
  manifest = expected.n;
  put_map(&expected, 3);
  put_text(&expected, "objects");
  put_map(&expected, 2);
  put_text(&expected, "w");
  put_map(&expected, 4);
  put_text(&expected, "shape");
  put_array(&expected, 1);
  put_uint(&expected, 3);
  put_key(&expected, "format", "dense");
  put_text(&expected, "attributes");
  put_map(&expected, 2);
  put_text(&expected, "c");
  put_hex(&expected, "f94100");
  put_text(&expected, "bb");
  put_hex(&expected, "f6");
  put_text(&expected, "components");
  put_map(&expected, 1);
  put_text(&expected, "data");
  put_map(&expected, 5);
  put_key(&expected, "type", "f8_e4m3fn");
  put_key(&expected, "dtype", "u8");
  put_key(&expected, "digest", "crc32c:00000000");
  digest_of(ZT_DIGEST_CRC32C, bytes_of(bytes, 3), bytes_of("", 0), (char*)expected.p+expected.n-15, &err);
  put_number(&expected, "length", 3);
  put_number(&expected, "offset", 128);
  put_text(&expected, "longer");
  put_map(&expected, 3);
  put_text(&expected, "shape");
  put_array(&expected, 0);
  put_key(&expected, "format", "dense");
  put_text(&expected, "components");
  put_map(&expected, 1);
  put_text(&expected, "data");
  put_map(&expected, 5);
  put_key(&expected, "dtype", "i16");
  put_number(&expected, "length", 6);
  put_number(&expected, "offset", 64);
  put_key(&expected, "encoding", "zstd");
  put_number(&expected, "uncompressed_length", 2);
  put_key(&expected, "version", "1.2.0");
  put_text(&expected, "attributes");
  put_map(&expected, 1);
  put_key(&expected, "license", "MIT");
  put_le64(&expected, expected.n-manifest);
  put(&expected, "ZTEN1000", 8);
  if( !same_blob(got, expected) ) print_difference("ztensor-1.2", got, expected);
  assert_true(same_blob(got, expected));
  free(expected.p);
  free(got.p);
}

/* --- Layouts of zTensor --- */

static void check_attribute_number(blob b, const char *key, uint64_t expected){
  zt_error err = ZT_ERROR_NONE;
  zt_container *c = open_image(b, key);
  zt_object o;
  zt_value k, v;
  zt_level level;
  zt_walk walk;
  bool found = false;
  zt_container_object(c, 0, &o);
  zt_walk_begin(c, &o.attributes, &walk, &level, &err);
  while( zt_walk_next(&walk, &level, &k, &v) ){
    found |= zt_value_is_text(&k, key) && v.type==ZT_VALUE_INTEGER && v.u==expected;
  }
  zt_walk_end(&walk);
  check( found, "%s", key );
  zt_container_close(c);
}

/* ggml's blocks, whose settings are there already, in part or not at all. */
TEST(test_zt2_blocks){
  static const uint64_t shape[] = { 2, 32 };
  const zt_draft_object object = { .name = ZT_TEXT("q"), .layout = ZT_LAYOUT_GGML, .rank = 2, .shape = shape,
                                   .blocks = zt_ggml_type_named(ZT_TEXT("q4_0")) };
  uint8_t bytes[36] = { 1, 2, 3 };
  for(int given=0; given<4; given++){
    zt_error err = ZT_ERROR_NONE;
    zt_draft *d = new_draft();
    const uint32_t o = add_object(d, &object, &err);
    zt_container *c;
    zt_object read;
    blob b;
    add_supply(d, o, (zt_draft_component){ .role = ZT_TEXT("data"), .element = given==3 ? NULL : zt_dtype_get(ZT_DTYPE_u8) },
               (supply){ .decoded = bytes_of(bytes, sizeof(bytes)) }, &err);
    add_attribute(d, o, "other", "01", NULL, &err);
    if( given&1 ) add_attribute(d, o, "block_bytes", "12", NULL, &err);
    if( given&2 ) add_attribute(d, o, "elems_per_block", "1820", NULL, &err);
    b = encode("ztensor-2", d, false, 4096, "blocks");
    check_attribute_number(b, "elems_per_block", 32);
    check_attribute_number(b, "block_bytes", 18);
    check_attribute_number(b, "other", 1);
    c = open_image(b, "blocks");
    zt_container_object(c, 0, &read);
    assert_int_equal(read.layout, ZT_LAYOUT_GGML);
    assert_ptr_equal(read.blocks, object.blocks);
    assert_text(read.format, "gguf.q4_0/1", "blocks");
    zt_container_close(c);
    free(b.p);
  }
}

/* Parts are shared if their bytes are equal, whatever their hashes. */
TEST(test_parts_of_one_hash){
  static const char *const bytes[] = { "abc", "abd", "abc", "ab" };
  static const uint64_t offsets[] = { 4096, 8192, 4096, 12288 };
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  zt_container *c;
  blob b;
  for(uint64_t i=0; i<COUNT(bytes); i++){
    const uint64_t shape[] = { strlen(bytes[i]) };
    add_part(d, add_dense(d, (const char[]){ (char)('a'+i), 0 }, 1, shape, &err), "data", ZT_DTYPE_u8, bytes[i], strlen(bytes[i]), 0, &err);
  }
  hash_bits = 0;
  b = encode("ztensor-2", d, true, 4096, "parts");
  hash_bits = UINT64_MAX;
  c = open_image(b, "parts");
  for(uint32_t i=0; i<COUNT(bytes); i++){
    zt_component read;
    zt_container_component(c, i, zt_container_first(c, i), ZT_COMPONENT_ALL, &read);
    check( read.offset==offsets[i] && memcmp(b.p+read.offset, bytes[i], strlen(bytes[i]))==0, "%u: at %llu", i, (unsigned long long)read.offset );
  }
  zt_container_close(c);
  free(b.p);
}

/* zTensor 1.2 has them as u8. */
TEST(test_bytes_without_a_type){
  static const uint64_t shape[] = { 0 };
  const zt_draft_object object = { .name = ZT_TEXT("w"), .layout = ZT_LAYOUT_COO, .rank = 1, .shape = shape };
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  const uint32_t o = add_object(d, &object, &err);
  zt_component read;
  zt_container *c;
  blob b;
  add_part(d, o, "values", ZT_DTYPE_f8_e5m2, "", 0, 0, &err);
  add_part(d, o, "coords", ZT_DTYPE_u64, "", 0, 0, &err);
  add_supply(d, o, (zt_draft_component){ .role = ZT_TEXT("other") }, (supply){ .decoded = bytes_of("xyz", 3) }, &err);
  b = encode("ztensor-1.2", d, false, 0, "untyped");
  c = open_image(b, "untyped");
  assert_true(zt_component_find(c, 0, ZT_TEXT("other"), &read));
  assert_text(read.dtype, "u8", "other");
  assert_true(read.type.z==NULL && read.length==3);
  assert_true(zt_component_find(c, 0, ZT_TEXT("values"), &read));
  assert_text(read.type, "f8_e5m2", "values");
  zt_container_close(c);
  free(b.p);
}

TEST(test_sparse){
  static const uint64_t shape[] = { 2, 3 }, indices[] = { 0, 2 }, indptr[] = { 0, 1, 2 }, coords[] = { 0, 1, 0, 2 };
  static const float values[] = { 1, 2 };
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2" };
  for(size_t i=0; i<COUNT(formats); i++){
    zt_draft_object object = { .name = ZT_TEXT("csr"), .layout = ZT_LAYOUT_CSR, .rank = 2, .shape = shape };
    zt_error err = ZT_ERROR_NONE;
    zt_draft *d = new_draft();
    const zt_encoder *e = zt_encoder_named(zt_text_of(formats[i]));
    uint32_t o = add_object(d, &object, &err);
    uint8_t *p;
    size_t n;
    blob b;
    add_part(d, o, "values", ZT_DTYPE_f32, values, sizeof(values), 0, &err);
    add_part(d, o, "indptr", ZT_DTYPE_u64, indptr, sizeof(indptr), 0, &err);
    add_part(d, o, "indices", ZT_DTYPE_u64, indices, sizeof(indices), 0, &err);
    object.name = ZT_TEXT("coo");
    object.layout = ZT_LAYOUT_COO;
    o = add_object(d, &object, &err);
    add_part(d, o, "values", ZT_DTYPE_f32, values, sizeof(values), 0, &err);
    add_part(d, o, "coords", ZT_DTYPE_u64, coords, sizeof(coords), 0, &err);
    p = encode_with(e, d, &e->defaults, (uint64_t)1<<30, &n, &err);
    assert_succeeded(&err, formats[i]);
    b = exact(p, n);
    sqlite3_free(p);
    check_same(b, d, formats[i]);
    zt_draft_free(d);
    free(b.p);
  }
}

/* --- The table --- */

TEST(test_names){
  static const struct { const char *path, *format; } paths[] = {
    { "a.zt", "ztensor-2" }, { "x/A.SAFETENSORS", "safetensors" }, { "a.gguf", "gguf" }, { "a.npy", "npy" }, { "a.npz", "npz" },
    { ".zt", NULL }, { "zt", NULL }, { "a.pt", NULL }, { "a.zt.bak", NULL },
  };
  for(size_t i=0; i<COUNT(paths); i++){
    const zt_encoder *e = zt_encoder_for(paths[i].path);
    check( paths[i].format ? e && strcmp(e->name, paths[i].format)==0 : !e, "%s", paths[i].path );
  }
  assert_null(zt_encoder_named(ZT_TEXT("pytorch")));
  assert_non_null(zt_encoder_named(ZT_TEXT("ztensor-1.2")));
}

int main(void){
  sqlite3_initialize();
  return run_all("encoder", NULL, NULL);
}
