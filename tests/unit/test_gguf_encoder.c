/*
** container/gguf_encoder: attributes. Each is written by itself into a file without tensors, which GGUF's driver reads
** again: bytes, type and value are those that were given. Attributes of the files below tests/formats are copied byte by byte.
*/
#include "oom.h"

#include "container/encoder.h"
#include "container/gguf.h"
#include "container/value_cbor.h"

/* Runs an encoder over a draft without objects; out has the file. */
static int write_draft(zt_draft *d, const zt_encoder_options *options, blob *out, zt_error *err){
  const zt_encoder *encoder = zt_encoder_named(ZT_TEXT("gguf"));
  uint32_t none = 0;
  zt_encoder_run run = { .draft = d, .options = options, .order = &none };
  uint64_t n;
  if( zt_output_open_memory(100000000, &run.output, err) ) return err->rc;
  if( encoder->write(&run, err)==SQLITE_OK ){
    n = zt_output_size(run.output);
    zt_output_read(run.output, 0, put_room(out, (size_t)n), (size_t)n, err);
    *out = seal(out);
  }
  zt_output_close(run.output);
  return err->rc;
}

/* One attribute, checked and written. */
static int write_keyed(zt_text key, zt_span value, const char *type, blob *out, zt_error *err){
  const zt_encoder *encoder = zt_encoder_named(ZT_TEXT("gguf"));
  const zt_draft_attribute a = { .key = key, .value = value, .stored_type = zt_text_of(type) };
  zt_draft *d;
  if( encoder->check_attribute(&a, false, err) ) return err->rc;
  d = zt_draft_new(err);
  if( d && zt_draft_add_attribute(d, ZT_DRAFT_FILE, &a, err)==SQLITE_OK ) write_draft(d, &encoder->defaults, out, err);
  zt_draft_free(d);
  return err->rc;
}

static int write_attribute(zt_span value, const char *type, blob *out, zt_error *err){
  return write_keyed(ZT_TEXT("k"), value, type, out, err);
}

/* The word and the JSON of the file's only attribute, as its driver shows them: "u8 1". */
static void assert_shown(blob file, const char *want, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_container *c;
  zt_value attributes, key, value;
  zt_level level;
  zt_walk w;
  zt_text word;
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *got;
  assert_int_equal(zt_source_open_image(span_of(file), &source, &err), SQLITE_OK);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, row);
  attributes = zt_container_attributes(c);
  zt_walk_begin(c, &attributes, &w, &level, &err);
  assert_true(zt_walk_next(&w, &level, &key, &value));
  assert_text(key.text, "k", row);
  word = zt_walk_stored_type(&w, &value);
  sqlite3_str_append(text, word.z, (int)word.n);
  sqlite3_str_append(text, " ", 1);
  zt_value_json(c, &value, NULL, text, &err);
  assert_false(zt_walk_next(&w, &level, &key, &value));
  zt_walk_end(&w);
  assert_succeeded(&err, row);
  got = sqlite3_str_finish(text);
  check( strcmp(got, want)==0, "%s: %s, expected %s", row, got, want );
  sqlite3_free(got);
  zt_container_close(c);
  zt_source_close(source);
}

/* The value in CBOR becomes these bytes, from the type's number on, and is shown so. */
static void expect(const char *cbor, const char *type, const char *bytes, const char *shown){
  static const char head[] = "47475546 03000000 0000000000000000 0100000000000000 0100000000000000 6b";
  zt_error err = ZT_ERROR_NONE;
  blob value = { 0 }, want = { 0 }, out = { 0 };
  put_hex(&value, cbor);
  put_hex(&want, head);
  put_hex(&want, bytes);
  while( want.n%32 ) put_byte(&want, 0);
  write_attribute(span_of(value), type, &out, &err);
  assert_succeeded(&err, cbor);
  check( same_blob(out, want), "%s as %s: other bytes", cbor, type );
  assert_shown(out, shown, cbor);
  free(value.p);
  free(want.p);
  free(out.p);
}

static void expect_failure(const char *cbor, const char *type, const char *what){
  zt_error err = ZT_ERROR_NONE;
  blob value = { 0 }, out = { 0 };
  put_hex(&value, cbor);
  write_attribute(span_of(value), type, &out, &err);
  assert_null(out.p);
  assert_failed(&err, what, cbor);
  free(value.p);
}

static const char cannot[] = "gguf cannot hold attribute 'k': it holds text, numbers, booleans and arrays of one type;"
                             " an empty array needs a stored_type";

TEST(test_integers_at_their_limits){
  static const struct { const char *type, *number, *least, *most, *least_bytes, *most_bytes, *least_shown, *most_shown, *below, *above; } rows[] = {
    { "u8", "00000000", "00", "18ff", "00", "ff", "0", "255", "20", "190100" },
    { "i8", "01000000", "387f", "187f", "80", "7f", "-128", "127", "3880", "1880" },
    { "u16", "02000000", "00", "19ffff", "0000", "ffff", "0", "65535", "20", "1a00010000" },
    { "i16", "03000000", "397fff", "197fff", "0080", "ff7f", "-32768", "32767", "398000", "198000" },
    { "u32", "04000000", "00", "1affffffff", "00000000", "ffffffff", "0", "4294967295", "20", "1b0000000100000000" },
    { "i32", "05000000", "3a7fffffff", "1a7fffffff", "00000080", "ffffff7f", "-2147483648", "2147483647", "3a80000000", "1a80000000" },
    { "u64", "0a000000", "00", "1bffffffffffffffff", "0000000000000000", "ffffffffffffffff", "0", "18446744073709551615", "20", NULL },
    { "i64", "0b000000", "3b7fffffffffffffff", "1b7fffffffffffffff", "0000000000000080", "ffffffffffffff7f", "-9223372036854775808",
      "9223372036854775807", "3b8000000000000000", "1b8000000000000000" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char bytes[64], shown[64], what[64];
    snprintf(bytes, sizeof(bytes), "%s%s", rows[i].number, rows[i].least_bytes);
    snprintf(shown, sizeof(shown), "%s %s", rows[i].type, rows[i].least_shown);
    expect(rows[i].least, rows[i].type, bytes, shown);
    snprintf(bytes, sizeof(bytes), "%s%s", rows[i].number, rows[i].most_bytes);
    snprintf(shown, sizeof(shown), "%s %s", rows[i].type, rows[i].most_shown);
    expect(rows[i].most, rows[i].type, bytes, shown);
    snprintf(what, sizeof(what), "attribute 'k' is not of the type %s of gguf", rows[i].type);
    expect_failure(rows[i].below, rows[i].type, what);
    if( rows[i].above ) expect_failure(rows[i].above, rows[i].type, what);
    expect_failure("f93c00", rows[i].type, what);   /* 1.0 */
    expect_failure("f5", rows[i].type, what);
    expect_failure("6131", rows[i].type, what);
    expect_failure("8100", rows[i].type, what);
    expect_failure("f6", rows[i].type, what);
  }
}

TEST(test_the_alignment_is_a_u32){
  static const struct { const char *cbor, *type; bool fails; } rows[] = {
    { "1840", "", false }, { "1840", "u32", false }, { "08", "", false }, { "1a00100000", "", false },
    { "1840", "i64", true }, { "1840", "u64", true }, { "1840", "arr[u32]", true }, { "811840", "", true }, { "811840", "arr[u32]", true },
    { "04", "", true }, { "00", "u32", true }, { "1821", "u32", true }, { "20", "", true }, { "1a80000000", "", true }, { "6138", "", true },
    { "f95400", "", true }, { "f5", "u32", true }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob value = { 0 }, out = { 0 };
    put_hex(&value, rows[i].cbor);
    write_keyed(ZT_TEXT("general.alignment"), span_of(value), rows[i].type, &out, &err);
    if( rows[i].fails ){
      assert_null(out.p);
      assert_failed(&err, "attribute 'general.alignment' must be a u32 and a power of two from 8 on", rows[i].cbor);
    }else{
      assert_succeeded(&err, rows[i].cbor);
      check( zt_le32(out.p+49)==ZT_GGUF_U32, "%s as '%s': another type", rows[i].cbor, rows[i].type );
    }
    free(value.p);
    free(out.p);
  }
}

TEST(test_reals){
  expect("f93e00", "f32", "06000000 0000c03f", "f32 1.5");
  expect("f98000", "f32", "06000000 00000080", "f32 -0.0");
  expect("f97c00", "f32", "06000000 0000807f", "f32 9.0e+999");
  expect("f97e00", "f32", "06000000 0000c07f", "f32 null");
  expect("fa7f7fffff", "f32", "06000000 ffff7f7f", "f32 3.4028234663852886e+38");
  expect("fa00000001", "f32", "06000000 01000000", "f32 1.401298464324817e-45");
  expect("f93e00", "f64", "0c000000 000000000000f83f", "f64 1.5");
  expect("fb3fb999999999999a", "f64", "0c000000 9a9999999999b93f", "f64 0.1");
  expect("f97e00", "f64", "0c000000 000000000000f87f", "f64 null");
  expect("f9fc00", "f64", "0c000000 000000000000f0ff", "f64 -9.0e+999");
  expect_failure("fb3fb999999999999a", "f32", "attribute 'k' is not exactly of the type f32 of gguf; f64 in its place holds it");
  expect_failure("fb47f0000000000000", "f32", "not exactly");   /* Beyond all of f32 */
  expect_failure("fb3690000000000000", "f32", "not exactly");   /* It would be 0 */
  expect_failure("01", "f32", "is not of the type f32");
  expect_failure("01", "f64", "is not of the type f64");
  expect_failure("f6", "f64", "is not of the type f64");
}

TEST(test_text_and_booleans){
  expect("60", "str", "08000000 0000000000000000", "str \"\"");
  expect("626162", "str", "08000000 0200000000000000 6162", "str \"ab\"");
  expect("63610062", "str", "08000000 0300000000000000 610062", "str \"a\\u0000b\"");
  expect("f4", "bool", "07000000 00", "bool false");
  expect("f5", "bool", "07000000 01", "bool true");
  expect_failure("01", "str", "is not of the type str");
  expect("41ff", "str", "08000000 0100000000000000 ff", "str \"ff\"");
  expect_failure("01", "bool", "is not of the type bool");
  expect_failure("f6", "bool", "is not of the type bool");
  expect_failure("f90000", "bool", "is not of the type bool");
}

TEST(test_arrays){
  expect("83010203", "arr[u8]", "09000000 00000000 0300000000000000 010203", "arr[u8] [1,2,3]");
  expect("8220387f", "arr[i8]", "09000000 01000000 0200000000000000 ff80", "arr[i8] [-1,-128]");
  expect("8101", "arr[u16]", "09000000 02000000 0100000000000000 0100", "arr[u16] [1]");
  expect("8120", "arr[i16]", "09000000 03000000 0100000000000000 ffff", "arr[i16] [-1]");
  expect("8101", "arr[u32]", "09000000 04000000 0100000000000000 01000000", "arr[u32] [1]");
  expect("8120", "arr[i32]", "09000000 05000000 0100000000000000 ffffffff", "arr[i32] [-1]");
  expect("82f93e00f97e00", "arr[f32]", "09000000 06000000 0200000000000000 0000c03f 0000c07f", "arr[f32] [1.5,null]");
  expect("82f4f5", "arr[bool]", "09000000 07000000 0200000000000000 0001", "arr[bool] [false,true]");
  expect("82616160", "arr[str]", "09000000 08000000 0200000000000000 0100000000000000 61 0000000000000000", "arr[str] [\"a\",\"\"]");
  expect("8101", "arr[u64]", "09000000 0a000000 0100000000000000 0100000000000000", "arr[u64] [1]");
  expect("8120", "arr[i64]", "09000000 0b000000 0100000000000000 ffffffffffffffff", "arr[i64] [-1]");
  expect("81f93e00", "arr[f64]", "09000000 0c000000 0100000000000000 000000000000f83f", "arr[f64] [1.5]");
  expect("80", "arr[f32]", "09000000 06000000 0000000000000000", "arr[f32] []");
  expect_failure("82016161", "arr[u8]", "attribute 'k' is not of the type arr[u8] of gguf");
  expect_failure("82 01 190100", "arr[u8]", "is not of the type arr[u8]");
  expect_failure("81fb3fb999999999999a", "arr[f32]", "is not exactly of the type arr[f32] of gguf; f64 in its place holds it");
  expect_failure("01", "arr[u8]", "is not of the type arr[u8]");
  expect_failure("a0", "arr[u8]", "is not of the type arr[u8]");
}

TEST(test_nested_arrays){
  expect("82 8101 820203", "arr[arr[u8]]", "09000000 09000000 0200000000000000"
         "00000000 0100000000000000 01 00000000 0200000000000000 0203", "arr[arr[u8]] [[1],[2,3]]");
  expect("82 80 8101", "arr[arr[u8]]", "09000000 09000000 0200000000000000"
         "00000000 0000000000000000 00000000 0100000000000000 01", "arr[arr[u8]] [[],[1]]");
  expect("80", "arr[arr]", "09000000 09000000 0000000000000000", "arr[arr] []");
  expect("81 80", "arr[arr[arr]]", "09000000 09000000 0100000000000000 09000000 0000000000000000", "arr[arr[arr]] [[]]");
  expect("81 81 616b", "arr[arr[str]]", "09000000 09000000 0100000000000000 08000000 0100000000000000 0100000000000000 6b",
         "arr[arr[str]] [[\"k\"]]");
  expect_failure("81 01", "arr[arr[u8]]", "is not of the type arr[arr[u8]]");
  expect_failure("81 8101", "arr[u8]", "is not of the type arr[u8]");
  expect_failure("81 80", "arr[arr]", "is not of the type arr[arr]");
}

/* As deep as the reader goes. */
TEST(test_deep_arrays){
  zt_error err = ZT_ERROR_NONE;
  blob value = { 0 }, out = { 0 }, word = { 0 }, shown = { 0 };
  for(int i=0; i<ZT_GGUF_DEPTH_MAX; i++){
    put_byte(&value, 0x81);
    put(&word, "arr[", 4);
  }
  put_byte(&value, 1);
  put(&word, "u8", 2);
  put_repeated(&word, ']', ZT_GGUF_DEPTH_MAX);
  put(&shown, word.p, word.n);
  put_byte(&word, 0);
  put_byte(&shown, ' ');
  put_repeated(&shown, '[', ZT_GGUF_DEPTH_MAX);
  put_byte(&shown, '1');
  put_repeated(&shown, ']', ZT_GGUF_DEPTH_MAX);
  put_byte(&shown, 0);
  write_attribute(span_of(value), (const char*)word.p, &out, &err);
  assert_succeeded(&err, "deep");
  assert_shown(out, (const char*)shown.p, "deep");
  free(out.p);
  out = (blob){ 0 };
  write_attribute(span_of(value), "", &out, &err);   /* A type is found up to another depth */
  assert_failed(&err, cannot, "deep");
  free(value.p);
  free(word.p);
  free(shown.p);
}

TEST(test_words_that_name_no_type){
  static const char *const words[] = {
    "int", "U8", "u8 ", "f16", "arr", "arr[]", "arr[", "arr[u8", "arr[u8]]", "arr[int]", "arr[arr[]]", "arr[arr[int]]", "[u8]", "str[u8]",
  };
  static const char *const values[] = { "00", "80", "8100", "8180" };
  for(size_t i=0; i<COUNT(words); i++){
    for(size_t k=0; k<COUNT(values); k++){
      char what[64];
      snprintf(what, sizeof(what), "attribute 'k' is not of the type %s of gguf", words[i]);
      expect_failure(values[k], words[i], what);
    }
  }
}

TEST(test_types_by_the_value){
  expect("626162", "", "08000000 0200000000000000 6162", "str \"ab\"");
  expect("00", "", "0b000000 0000000000000000", "i64 0");
  expect("20", "", "0b000000 ffffffffffffffff", "i64 -1");
  expect("1b7fffffffffffffff", "", "0b000000 ffffffffffffff7f", "i64 9223372036854775807");
  expect("1b8000000000000000", "", "0a000000 0000000000000080", "u64 9223372036854775808");
  expect("f93e00", "", "0c000000 000000000000f83f", "f64 1.5");
  expect("f5", "", "07000000 01", "bool true");
  expect("8101", "", "09000000 0b000000 0100000000000000 0100000000000000", "arr[i64] [1]");
  expect("82 01 1b8000000000000000", "", "09000000 0a000000 0200000000000000 0100000000000000 0000000000000080",
         "arr[u64] [1,9223372036854775808]");
  expect("82 8101 811b8000000000000000", "", "09000000 09000000 0200000000000000 0a000000 0100000000000000 0100000000000000"
         "0a000000 0100000000000000 0000000000000080", "arr[arr[u64]] [[1],[9223372036854775808]]");
  expect("816161", "", "09000000 08000000 0100000000000000 0100000000000000 61", "arr[str] [\"a\"]");
  expect("82f4f5", "", "09000000 07000000 0200000000000000 0001", "arr[bool] [false,true]");
  expect("81f93e00", "", "09000000 0c000000 0100000000000000 000000000000f83f", "arr[f64] [1.5]");
  expect("82 8101 80", "", "09000000 09000000 0200000000000000 0b000000 0100000000000000 0100000000000000 0b000000 0000000000000000",
         "arr[arr[i64]] [[1],[]]");
  expect_failure("3b8000000000000000", "", "is not of the type i64");
  expect_failure("82 20 1b8000000000000000", "", "is not of the type arr[i64]");
  expect_failure("82 01 f93c00", "", "is not of the type arr[i64]");
  expect_failure("82 01 6161", "", "is not of the type arr[i64]");
  expect_failure("82 01 8101", "", "is not of the type arr[i64]");
  expect_failure("f6", "", cannot);
  expect_failure("40", "", cannot);
  expect_failure("a0", "", cannot);
  expect_failure("80", "", cannot);
  expect_failure("8180", "", cannot);
  expect_failure("81f6", "", cannot);
  expect_failure("81a0", "", cannot);
}

TEST(test_attributes_of_objects){
  zt_error err = ZT_ERROR_NONE;
  const zt_draft_attribute a = { .key = ZT_TEXT_INIT("k"), .value = { (const uint8_t*)"\x01", 1 }, .stored_type = ZT_TEXT_INIT("") };
  zt_encoder_named(ZT_TEXT("gguf"))->check_attribute(&a, true, &err);
  assert_failed(&err, "gguf cannot hold attributes of an object; drop='attributes' leaves them out", "of an object");
}

TEST(test_an_attribute_without_a_name){
  zt_error err = ZT_ERROR_NONE;
  const zt_draft_attribute a = { .key = ZT_TEXT_INIT(""), .value = { (const uint8_t*)"\x01", 1 }, .stored_type = ZT_TEXT_INIT("") };
  zt_encoder_named(ZT_TEXT("gguf"))->check_attribute(&a, false, &err);
  assert_failed(&err, "gguf cannot hold an attribute without a name", "an empty key");
}

/* --- Copies --- */

static blob metadata_of(const zt_container *c){
  return exact(c->kept.p, zt_gguf_of(c)->infos);
}

static void add_all(const zt_container *c, zt_draft *d, const char *path){
  const zt_value attributes = zt_container_attributes(c);
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  zt_value key, value;
  zt_level level;
  zt_walk w, words;
  zt_walk_begin(c, &attributes, &w, &level, &err);
  while( zt_walk_next(&w, &level, &key, &value) ){
    const zt_value none = ZT_VALUE_NONE;
    zt_draft_attribute a = { .key = key.text };
    zt_level unused;
    zt_walk_begin(c, &none, &words, &unused, &err);
    a.stored_type = zt_walk_stored_type(&words, &value);
    zt_cbor_out_reset(&out);
    zt_value_cbor(c, &value, NULL, &out, &err);
    a.value = (zt_span){ out.p, out.n };
    zt_draft_add_attribute(d, ZT_DRAFT_FILE, &a, &err);
    zt_walk_end(&words);
  }
  zt_walk_end(&w);
  zt_cbor_out_clear(&out);
  assert_succeeded(&err, path);
}

/* The metadata come out as they are in the file; why: the message if they cannot. */
static void copy(const char *path, const char *why){
  const zt_encoder *encoder = zt_encoder_named(ZT_TEXT("gguf"));
  zt_encoder_options options = encoder->defaults;
  zt_error err = ZT_ERROR_NONE;
  zt_source *source, *copied;
  zt_container *c, *other;
  zt_draft *d = zt_draft_new(&err);
  blob out = { 0 }, a, b;
  zt_source_open(path, NULL, &source, &err);
  zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, path);
  add_all(c, d, path);
  options.by_row = true;
  options.align = 32;
  write_draft(d, &options, &out, &err);
  if( why ) assert_failed(&err, why, path);
  else{
    assert_succeeded(&err, path);
    assert_int_equal(zt_source_open_image(span_of(out), &copied, &err), SQLITE_OK);
    zt_container_open(copied, NULL, &other, &err);
    assert_succeeded(&err, path);
    a = metadata_of(c);
    b = metadata_of(other);
    check( same_blob(a, b), "%s: other metadata", path );
    free(a.p);
    free(b.p);
    zt_container_close(other);
    zt_source_close(copied);
  }
  free(out.p);
  zt_container_close(c);
  zt_source_close(source);
  zt_draft_free(d);
}

TEST(test_metadata_of_files_are_copied){
  static const char *const files[] = {
    "align_64", "align_8", "dtypes", "kv_empty_arrays", "kv_nested", "names", "q_k", "split/model-00001-of-00003",
    "split/model-00003-of-00003", "version_2"
  };
  for(size_t i=0; i<COUNT(files); i++){
    char path[128];
    snprintf(path, sizeof(path), "tests/formats/gguf/golden/%s.gguf", files[i]);
    copy(path, NULL);
  }
  copy("tests/formats/gguf/golden/kv_types.gguf", NULL);   /* With text that is not UTF-8 */
}

/* --- Memory --- */

typedef struct attribute { const char *cbor, *type; } attribute;

static int write_job(const job *j){
  const attribute *a = j->context;
  zt_error err = ZT_ERROR_NONE;
  blob value = { 0 }, out = { 0 };
  put_hex(&value, a->cbor);
  if( write_attribute(span_of(value), a->type, &out, &err)==SQLITE_OK ) assert_int_equal(out.n%32, 0);
  else assert_null(out.p);
  free(value.p);
  free(out.p);
  return code_of(&err);
}

TEST_WITH(test_memory_runs_out, disarm, NULL){
  static const attribute number = { "01", "" }, nested = { "82 81 6161 81 616262", "" }, wrong = { "01", "f32" }, none = { "f6", "" };
  const job jobs[] = {
    { "a number", write_job, &number, SQLITE_OK, 5 }, { "nested arrays", write_job, &nested, SQLITE_OK, 5 },
    { "a wrong type", write_job, &wrong, SQLITE_ERROR, 2 }, { "no type", write_job, &none, SQLITE_ERROR, 2 },
  };
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
  check_sweeps(2*COUNT(jobs), 30);
}

int main(void){
  return begin_sweeps() ? run_all("gguf_encoder", NULL, NULL) : 1;
}
