/*
** Encoders of ext/container: what a format cannot hold is an error that says what helps; what it can hold passes; and memory runs
** out in each allocation of writing.
*/
#include "oom.h"
#include "drafts.h"
#include "container/encoder_manifest.h"

#define LONG_NAME 65532

/* A row of a table: one object, or an attribute, and the end of the message; NULL: it can be held. */
typedef struct trial {
  const char *format, *name;
  zt_layout_id layout;
  zt_dtype_id dtype;
  uint32_t rank;
  const char *message;
} trial;

static char long_name[LONG_NAME+1];

static void check_trial(const trial *t, const zt_draft_object *object, const zt_draft_component *component){
  const zt_encoder *e = zt_encoder_named(zt_text_of(t->format));
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  const uint32_t o = add_object(d, object, &err);
  if( component ) add_supply(d, o, *component, (supply){ .decoded = bytes_of("", 0) }, &err);
  assert_succeeded(&err, t->format);
  e->check_object(d, o, &err);
  if( t->message ) assert_failed(&err, t->message, t->format);
  else assert_succeeded(&err, t->format);
  zt_draft_free(d);
}

/* The object of a trial: of shape 0, 0, ... and with a component data. */
static void check_shaped(const trial *t){
  static const uint64_t zeros[64];
  const zt_draft_object object = {
    .name = zt_text_of(t->name ? t->name : "w"), .layout = t->layout ? t->layout : ZT_LAYOUT_DENSE, .rank = t->rank,
    .shape = zeros, .blocks = t->layout==ZT_LAYOUT_GGML ? zt_ggml_type_named(ZT_TEXT("q4_k")) : NULL
  };
  const zt_draft_component data = { .role = ZT_TEXT("data"), .element = zt_dtype_get(t->dtype) };
  check_trial(t, &object, &data);
}

/* --- Types --- */

/* The types that a format has, of all; and what helps for others. */
static const struct { const char *format, *has; } held[] = {
  { "ztensor-2", " f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f8_e8m0"
                 " f4_e2m1 complex64 complex128 " },
  { "ztensor-1.2", " f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz"
                   " complex64 complex128 " },
  { "safetensors", " f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f8_e8m0"
                   " f4_e2m1 complex64 " },
  { "npy", " f64 f32 f16 i64 i32 i16 i8 u64 u32 u16 u8 bool complex64 complex128 " },
  { "npz", " f64 f32 f16 i64 i32 i16 i8 u64 u32 u16 u8 bool complex64 complex128 " },
  { "gguf", " f64 f32 f16 bf16 i64 i32 i16 i8 " },
};

TEST(test_types){
  for(size_t i=0; i<COUNT(held); i++){
    for(int id=0; id<ZT_DTYPE_COUNT; id++){
      const char *name = zt_dtype_get((zt_dtype_id)id)->name;
      char word[32], message[64];
      trial t = { .format = held[i].format, .dtype = (zt_dtype_id)id, .rank = 1 };
      snprintf(word, sizeof(word), " %s ", name);
      snprintf(message, sizeof(message), "%s cannot hold %s", held[i].format, name);
      if( !strstr(held[i].has, word) ) t.message = message;
      check_shaped(&t);
    }
  }
}

TEST(test_cures){
  static const trial trials[] = {
    { .format = "npz", .dtype = ZT_DTYPE_bf16, .message = "npz cannot hold bf16; give dtype 'f32'" },
    { .format = "npy", .dtype = ZT_DTYPE_f8_e5m2, .message = "npy cannot hold f8_e5m2; give dtype 'f32'" },
    { .format = "ztensor-1.2", .dtype = ZT_DTYPE_f4_e2m1, .message = "ztensor-1.2 cannot hold f4_e2m1; give dtype 'f32'" },
    { .format = "ztensor-2", .dtype = ZT_DTYPE_i4, .message = "ztensor-2 cannot hold i4; give dtype 'i8'" },
    { .format = "ztensor-2", .dtype = ZT_DTYPE_u2, .message = "ztensor-2 cannot hold u2; give dtype 'u8'" },
    { .format = "gguf", .dtype = ZT_DTYPE_u4, .message = "gguf cannot hold u4; give dtype 'i8'" },
    { .format = "gguf", .dtype = ZT_DTYPE_bool, .message = "gguf cannot hold bool; give dtype 'i8'" },
    { .format = "gguf", .dtype = ZT_DTYPE_u8, .message = "gguf cannot hold u8; give dtype 'i16'" },
    { .format = "gguf", .dtype = ZT_DTYPE_u16, .message = "gguf cannot hold u16; give dtype 'i32'" },
    { .format = "gguf", .dtype = ZT_DTYPE_u32, .message = "gguf cannot hold u32; give dtype 'i64'" },
    { .format = "gguf", .dtype = ZT_DTYPE_u64, .message = "gguf cannot hold u64; give dtype 'i64'" },
    { .format = "gguf", .dtype = ZT_DTYPE_complex64,
      .message = "gguf cannot hold complex64, nor other complex numbers; leave it out" },
    { .format = "safetensors", .dtype = ZT_DTYPE_complex128,
      .message = "safetensors cannot hold complex128; give dtype 'complex64'" },
  };
  for(size_t i=0; i<COUNT(trials); i++) check_shaped(&trials[i]);
}

/* A type that is not known; a component that is no data. */
TEST(test_components){
  static const char *const dense[] = { "ztensor-2", "ztensor-1.2", "safetensors", "npy", "npz", "gguf" };
  static const uint64_t shape[] = { 3 };
  for(size_t i=0; i<COUNT(dense); i++){
    const zt_draft_object object = { .name = ZT_TEXT("w"), .layout = ZT_LAYOUT_DENSE, .rank = 1, .shape = shape };
    const zt_draft_component untyped = { .role = ZT_TEXT("data") },
                             values = { .role = ZT_TEXT("values"), .element = zt_dtype_get(ZT_DTYPE_f32) };
    trial t = { .format = dense[i], .message = "cannot hold bytes without a type" };
    check_trial(&t, &object, &untyped);
    t.message = "a dense tensor has the component 'data' alone, and no 'values'";
    check_trial(&t, &object, &values);
    t.message = NULL;
    check_trial(&t, &object, NULL);   /* There are no components yet */
  }
}

/* Those of a sparse object may have any name, and no type. */
TEST(test_components_of_sparse_objects){
  static const uint64_t shape[] = { 3 };
  static const struct { const char *role, *message; bool zt2; } roles[] = {
    { "other", NULL, false }, { "a\xFF", "names are UTF-8; rename the component", false }, { "", "needs a name; name the component", true }
  };
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2" };
  for(size_t i=0; i<COUNT(formats); i++) for(size_t k=0; k<COUNT(roles); k++){
    const zt_draft_object object = { .name = ZT_TEXT("w"), .layout = ZT_LAYOUT_COO, .rank = 1, .shape = shape };
    const zt_draft_component untyped = { .role = zt_text_of(roles[k].role) };
    const trial t = { .format = formats[i], .message = i==0 || !roles[k].zt2 ? roles[k].message : NULL };
    check_trial(&t, &object, &untyped);
  }
}

/* The last of an odd number of nibbles. */
TEST(test_nibbles){
  static const struct { uint64_t shape[2]; bool odd; } shapes[] = {
    { { 3, 5 }, true }, { { 3, 4 }, false }, { { 0, 5 }, false }, { { UINT64_MAX, 1 }, true }, { { UINT64_MAX, 2 }, false }
  };
  for(size_t i=0; i<COUNT(shapes); i++){
    const zt_draft_object object = { .name = ZT_TEXT("w"), .layout = ZT_LAYOUT_DENSE, .rank = 2, .shape = shapes[i].shape };
    const zt_draft_component data = { .role = ZT_TEXT("data"), .element = zt_dtype_get(ZT_DTYPE_f4_e2m1) };
    trial t = { .format = "safetensors" };
    if( shapes[i].odd ) t.message = "cannot hold an odd number of f4_e2m1 elements; give dtype 'f8_e4m3fn'";
    check_trial(&t, &object, &data);
    t = (trial){ .format = "ztensor-2" };
    check_trial(&t, &object, &data);
  }
}

/* --- Layouts, names and ranks --- */

TEST(test_layouts){
  static const trial trials[] = {
    { .format = "npz", .layout = ZT_LAYOUT_CSR, .message = "npz cannot hold sparse_csr; format='dense' of zt_writer writes it dense" },
    { .format = "npy", .layout = ZT_LAYOUT_COO, .message = "npy cannot hold sparse_coo; format='dense' of zt_writer writes it dense" },
    { .format = "safetensors", .layout = ZT_LAYOUT_CSR, .message = "safetensors cannot hold sparse_csr; format='dense'" },
    { .format = "safetensors", .layout = ZT_LAYOUT_GGML, .message = "safetensors cannot hold blocks of q4_k; give dtype 'f32'" },
    { .format = "npz", .layout = ZT_LAYOUT_GGML, .message = "npz cannot hold blocks of q4_k; give dtype 'f32'" },
    { .format = "ztensor-1.2", .layout = ZT_LAYOUT_GGML, .message = "ztensor-1.2 cannot hold blocks of q4_k; give dtype 'f32'" },
    { .format = "gguf", .layout = ZT_LAYOUT_GGML, .dtype = ZT_DTYPE_u8, .rank = 2 },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_GGML, .dtype = ZT_DTYPE_u8, .rank = 2 },
    { .format = "gguf", .layout = ZT_LAYOUT_COO, .message = "gguf cannot hold sparse_coo; format='dense' of zt_writer writes it dense" },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_QUANTIZED_GROUP,
      .message = "ztensor-2 cannot hold quantized_group; format='dense' of zt_writer writes it dense" },
    { .format = "ztensor-1.2", .layout = ZT_LAYOUT_QUANTIZED_GROUP },
    { .format = "ztensor-1.2", .layout = ZT_LAYOUT_MX, .message = "ztensor-1.2 cannot hold zt.mx/1; format='dense'" },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_MX }, { .format = "ztensor-2", .layout = ZT_LAYOUT_QUANT_GROUP },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_BSR, .message = "ztensor-2 cannot hold sparse_bsr; format='dense'" },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_COO_LINEAR, .message = "ztensor-2 cannot hold this layout; format='dense'" },
    { .format = "ztensor-2", .layout = ZT_LAYOUT_CSR, .dtype = ZT_DTYPE_i4, .rank = 2,
      .message = "component 'data': ztensor-2 cannot hold i4; give dtype 'i8'" },
    { .format = "ztensor-1.2", .layout = ZT_LAYOUT_CSR, .dtype = ZT_DTYPE_f8_e8m0, .rank = 2,
      .message = "component 'data': ztensor-1.2 cannot hold f8_e8m0; give dtype 'f32'" },
  };
  for(size_t i=0; i<COUNT(trials); i++) check_shaped(&trials[i]);
}

/* A layout that no reader knows, and its stored word. */
TEST(test_unknown_layout){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "npz", "gguf" };
  for(size_t i=0; i<COUNT(formats); i++){
    zt_draft_object object = { .name = ZT_TEXT("w"), .layout = ZT_LAYOUT_UNKNOWN };
    trial t = { .format = formats[i], .message = "cannot hold a layout that is not known; leave it out" };
    check_trial(&t, &object, NULL);
    object.format = ZT_TEXT("someone.else/1");
    if( i<2 ) t.message = NULL;
    check_trial(&t, &object, NULL);
  }
}

TEST(test_names){
  memset(long_name, 'x', LONG_NAME);
  for(size_t i=0; i<COUNT(held); i++){
    static const struct { const char *format; size_t most; } lengths[] = {
      { "ztensor-2", 1024 }, { "npz", 65531 }, { "gguf", 63 }
    };
    trial t = { .format = held[i].format };
    zt_draft_object object = { .layout = ZT_LAYOUT_DENSE };
    const bool named = strcmp(t.format, "npy")!=0;
    object.name = ZT_TEXT("a\0b");
    if( named ) t.message = "names cannot hold U+0000; rename the object";
    check_trial(&t, &object, NULL);
    object.name = ZT_TEXT("a\xFF");
    if( named ) t.message = "names are UTF-8; rename the object";
    check_trial(&t, &object, NULL);
    object.name = ZT_TEXT("");
    t.message = strcmp(t.format, "ztensor-2")==0 ? "needs a name; name the object" : NULL;
    check_trial(&t, &object, NULL);
    for(size_t k=0; k<COUNT(lengths); k++){
      if( strcmp(lengths[k].format, t.format)!=0 ) continue;
      object.name = (zt_text){ long_name, lengths[k].most };
      t.message = NULL;
      check_trial(&t, &object, NULL);
      object.name.n++;
      t.message = "names have at most";
      check_trial(&t, &object, NULL);
    }
  }
  check_shaped(&(trial){ .format = "safetensors", .name = "__metadata__",
                         .message = "safetensors cannot hold a tensor of this name; rename it" });
  check_shaped(&(trial){ .format = "ztensor-2", .name = "__metadata__" });
}

TEST(test_ranks){
  check_shaped(&(trial){ .format = "gguf", .rank = 4 });
  check_shaped(&(trial){ .format = "gguf", .rank = 5,
                         .message = "gguf tensors have at most 4 dimensions, and this one has 5" });
  for(size_t i=0; i<COUNT(held)-1; i++) check_shaped(&(trial){ .format = held[i].format, .rank = 64 });
}

/* --- Attributes --- */

/* A value in CBOR, and whether the formats hold it: z zTensor, s safetensors, g gguf. */
typedef struct value_trial {
  const char *hex, *stored_type, *formats, *message;
} value_trial;

static void check_value(const char *format, char letter, const value_trial *v, bool of_object){
  const zt_encoder *e = zt_encoder_named(zt_text_of(format));
  zt_error err = ZT_ERROR_NONE;
  blob value = blob_of(v->hex);
  const zt_draft_attribute a = { .key = ZT_TEXT("k"), .value = span_of(value),
                                 .stored_type = v->stored_type ? zt_text_of(v->stored_type) : ZT_TEXT("") };
  e->check_attribute(&a, of_object, &err);
  if( !of_object && strchr(v->formats, letter) ){
    check( err.rc==SQLITE_OK, "%s: %s: %s", format, v->hex, err.message );
  }else if( of_object && letter!='z' ){
    assert_failed(&err, "cannot hold attributes of an object; drop='attributes' leaves them out", v->hex);
  }else if( letter=='z' ){
    assert_succeeded(&err, v->hex);
  }else if( letter=='s' ){
    assert_failed(&err, "safetensors holds text attributes alone; give 'k' as text", v->hex);
  }else if( letter=='n' ){
    assert_failed(&err, "cannot hold attributes; leave 'k' out", v->hex);
  }else{
    assert_failed(&err, v->message ? v->message : "gguf cannot hold attribute 'k'", v->hex);
  }
  free(value.p);
}

TEST(test_attributes){
  static const char *const other = "of the type";
  const value_trial values[] = {
    { "6178", NULL, "zsg", NULL }, { "60", NULL, "zsg", NULL }, { "01", NULL, "zg", NULL },
    { "1bffffffffffffffff", NULL, "zg", NULL }, { "3b7fffffffffffffff", NULL, "zg", NULL },
    { "3b8000000000000000", NULL, "z", other },   /* Below -2^63 */
    { "f5", NULL, "zg", NULL }, { "f94100", NULL, "zg", NULL }, { "f6", NULL, "z", NULL }, { "4101", NULL, "z", NULL },
    { "a0", NULL, "z", NULL }, { "820102", NULL, "zg", NULL }, { "82016178", NULL, "z", other },
    { "8201f6", NULL, "z", other }, { "81820102", NULL, "zg", NULL }, { "80", NULL, "z", NULL },
    { "80", "arr[u8]", "zg", NULL }, { "18ff", "u8", "zg", NULL }, { "190100", "u8", "z", other }, { "20", "u8", "z", other },
    { "387f", "i8", "zg", NULL }, { "3880", "i8", "z", other }, { "187f", "i8", "zg", NULL }, { "1880", "i8", "z", other },
    { "f94100", "f32", "zg", NULL }, { "fb3fb999999999999a", "f32", "z", other }, { "f97e00", "f32", "zg", NULL },
    { "01", "f32", "z", other }, { "f5", "bool", "zg", NULL }, { "01", "bool", "z", other }, { "01", "nonsense", "z", other },
    { "41ff", "str", "zg", NULL }, { "01", "str", "z", other }, { "01", "arr[u8]", "z", other },
    { "820102", "arr[u8]", "zg", NULL },
  };
  static const struct { const char *format; char letter; } formats[] = {
    { "ztensor-2", 'z' }, { "ztensor-1.2", 'z' }, { "safetensors", 's' }, { "gguf", 'g' }, { "npy", 'n' }, { "npz", 'n' }
  };
  for(size_t i=0; i<COUNT(values); i++){
    for(size_t k=0; k<COUNT(formats); k++){
      check_value(formats[k].format, formats[k].letter, &values[i], false);
      check_value(formats[k].format, formats[k].letter, &values[i], true);
    }
  }
}

TEST(test_keys){
  static const struct { const char *format; zt_text key; const char *message; } keys[] = {
    { "ztensor-2", ZT_TEXT_INIT(""), "needs a name; name the attribute" }, { "ztensor-1.2", ZT_TEXT_INIT(""), NULL },
    { "ztensor-2", ZT_TEXT_INIT("a\0"), "rename the attribute" }, { "ztensor-1.2", ZT_TEXT_INIT("\xC0"), "rename the attribute" },
    { "gguf", ZT_TEXT_INIT("\xFF"), "gguf names are UTF-8" }, { "safetensors", ZT_TEXT_INIT("\xFF"), "safetensors names are UTF-8" },
  };
  for(size_t i=0; i<COUNT(keys); i++){
    const zt_draft_attribute a = { .key = keys[i].key, .value = bytes_of("\x61x", 2), .stored_type = { "", 0 } };
    zt_error err = ZT_ERROR_NONE;
    zt_encoder_named(zt_text_of(keys[i].format))->check_attribute(&a, false, &err);
    if( keys[i].message ) assert_failed(&err, keys[i].message, keys[i].format);
    else assert_succeeded(&err, keys[i].format);
  }
}

/* --- Whole drafts --- */

static void check_whole(const char *format, zt_draft *d, const char *message){
  zt_error err = ZT_ERROR_NONE;
  check_draft(zt_encoder_named(zt_text_of(format)), d, &err);
  if( message ) assert_failed(&err, message, format);
  else assert_succeeded(&err, format);
  zt_draft_free(d);
}

static zt_draft *two_named(const char *a, const char *b){
  static const uint64_t shape[] = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  add_part(d, add_dense(d, a, 1, shape, &err), "data", ZT_DTYPE_u8, "", 0, 0, &err);
  if( b ) add_part(d, add_dense(d, b, 1, shape, &err), "data", ZT_DTYPE_u8, "", 0, 0, &err);
  assert_succeeded(&err, a);
  return d;
}

TEST(test_drafts){
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d;
  check_whole("npy", two_named("a", NULL), NULL);
  check_whole("npy", two_named("a", "b"), "npy holds one tensor, and there are 2; npz holds any number");
  check_whole("npy", new_draft(), "npy holds one tensor, and there are 0");
  check_whole("npz", two_named("a.npy", "b"), NULL);
  check_whole("npz", two_named("a.npy", "a"), "object 'a.npy': numpy would read this name as that of 'a'; rename one");
  check_whole("npz", two_named("", ".npy"), "object '.npy': numpy would read this name as that of ''");
  d = new_draft();
  add_attribute(d, ZT_DRAFT_FILE, "general.alignment", "1821", "u32", &err);
  check_whole("gguf", d, "attribute 'general.alignment' must be a u32 and a power of two from 8 on");
}

TEST(test_blocks_of_another_size){
  static const uint64_t shape[] = { 32 };
  const zt_draft_object object = { .name = ZT_TEXT("q"), .layout = ZT_LAYOUT_GGML, .rank = 1, .shape = shape,
                                   .blocks = zt_ggml_type_named(ZT_TEXT("q4_0")) };
  zt_error err = ZT_ERROR_NONE;
  for(int i=0; i<2; i++){
    zt_draft *d = new_draft();
    add_attribute(d, add_object(d, &object, &err), i ? "block_bytes" : "elems_per_block", "11", NULL, &err);
    check_whole("ztensor-2", d, i ? "attribute 'block_bytes' is not that of these blocks; leave it out" : "'elems_per_block' is not");
  }
}

/* --- Failures on the way --- */

/* A draft with all that an encoder writes. */
static int fill_draft(zt_draft *d, const char *format, zt_error *err){
  static const uint64_t shape[] = { 2, 32 };
  static const uint8_t bytes[256];
  const zt_draft_object blocks = { .name = ZT_TEXT("blocks"), .layout = ZT_LAYOUT_GGML, .rank = 2, .shape = shape,
                                   .blocks = zt_ggml_type_named(ZT_TEXT("q4_0")) };
  const bool zt = strncmp(format, "ztensor", 7)==0, numpy = strncmp(format, "np", 2)==0;
  const unsigned digest = zt ? zt_encoder_named(zt_text_of(format))->defaults.digest : 0;
  uint32_t o = add_dense(d, "w", 2, shape, err);
  if( err->rc ) return err->rc;
  add_part(d, o, "data", ZT_DTYPE_f32, bytes, sizeof(bytes), digest, err);
  if( zt && !err->rc ) add_attribute(d, o, "key", "8201820203", NULL, err);
  if( !numpy && !err->rc ) add_attribute(d, ZT_DRAFT_FILE, "key", "6178", NULL, err);
  if( strcmp(format, "npy")==0 || err->rc ) return err->rc;
  o = add_dense(d, "a", 2, shape, err);
  if( !err->rc ) add_part(d, o, "data", ZT_DTYPE_f32, bytes, sizeof(bytes), digest, err);
  if( err->rc || (strcmp(format, "ztensor-2")!=0 && strcmp(format, "gguf")!=0) ) return err->rc;
  o = add_object(d, &blocks, err);
  if( !err->rc ) add_part(d, o, "data", ZT_DTYPE_u8, bytes, 36, digest, err);
  return err->rc;
}

/* The bytes of that draft, from sqlite3_malloc64(). */
static uint8_t *write_filled(const char *format, uint64_t most, size_t *n, zt_error *err){
  const zt_encoder *e = zt_encoder_named(zt_text_of(format));
  zt_draft *d = zt_draft_new(err);
  uint8_t *out = NULL;
  supplies_n = 0;
  if( d && fill_draft(d, format, err)==SQLITE_OK ) out = encode_with(e, d, &e->defaults, most, n, err);
  zt_draft_free(d);
  return out;
}

static blob expected;

static int write_file_job(const job *j){
  zt_error err = ZT_ERROR_NONE;
  size_t n = 0;
  uint8_t *p = write_filled(j->context, (uint64_t)1<<30, &n, &err);
  assert_true((p==NULL)==(err.rc!=SQLITE_OK));
  if( p ) assert_true(same_blob((blob){ .p = p, .n = n }, expected));
  sqlite3_free(p);
  return code_of(&err);
}

TEST_WITH(test_memory, disarm, NULL){
  for(size_t i=0; i<COUNT(held); i++){
    const job j = { held[i].format, write_file_job, held[i].format, SQLITE_OK, 8 };
    zt_error err = ZT_ERROR_NONE;
    uint8_t *p = write_filled(j.what, (uint64_t)1<<30, &expected.n, &err);
    assert_succeeded(&err, j.what);
    expected.p = p;
    sweep(&j);
    sqlite3_free(p);
  }
  check_sweeps(12, 200);
}

/* A draft stays as it is if it is given a part that it has already, or more parts than an object may have. */
TEST(test_rows_that_are_there){
  const uint8_t byte = 7;
  zt_draft *d = new_draft();
  zt_error err = ZT_ERROR_NONE;
  zt_draft_component part;
  zt_draft_attribute attribute;
  char role[16] = "0";
  uint32_t first = add_dense(d, "first", 0, NULL, &err), n = 0;
  assert_succeeded(&err, "an object");
  add_dense(d, "first", 0, NULL, &err);
  assert_failed(&err, "there is an object of this name", "an object again");
  assert_int_equal(add_dense(d, "second", 0, NULL, &err), first+1);
  add_attribute(d, first, "key", "01", "", &err);
  add_attribute(d, first+1, "key", "02", "", &err);   /* Of another object */
  assert_succeeded(&err, "attributes");
  add_attribute(d, first, "key", "03", "", &err);
  assert_failed(&err, "there is an attribute 'key' already", "an attribute again");
  add_attribute(d, first, "later", "04", "", &err);
  add_part(d, first, role, ZT_DTYPE_u8, &byte, 1, 0, &err);
  assert_succeeded(&err, "rows behind those that are refused");
  add_part(d, first, role, ZT_DTYPE_u8, &byte, 1, 0, &err);
  assert_failed(&err, "there is a component of this name", "a component again");
  for(uint32_t i=1; i<ZT_DRAFT_COMPONENTS; i++){
    snprintf(role, sizeof(role), "%u", i);
    add_part(d, first, role, ZT_DTYPE_u8, &byte, 1, 0, &err);
  }
  assert_succeeded(&err, "all components");
  add_part(d, first, "more", ZT_DTYPE_u8, &byte, 1, 0, &err);
  check( err.rc==SQLITE_TOOBIG, "one more component: %d", err.rc );
  zt_error_clear(&err);
  for(uint32_t at=0; (at = zt_draft_next_component(d, first, at, &part))!=0; n++){
    snprintf(role, sizeof(role), "%u", n);
    check( zt_text_equal(part.role, zt_text_of(role)), "component %u: %.*s", n, (int)part.role.n, part.role.z );
  }
  assert_int_equal(n, ZT_DRAFT_COMPONENTS);
  n = 0;
  for(uint32_t at=0; (at = zt_draft_next_attribute(d, first, at, &attribute))!=0; n++){
    check( zt_text_equal(attribute.key, zt_text_of(n ? "later" : "key")), "attribute %u", n );
    check( attribute.value.n==1 && *attribute.value.p==(n ? 4 : 1), "attribute %u: %u", n, *attribute.value.p );
  }
  assert_int_equal(n, 2);
  assert_int_equal(zt_draft_objects(d), 2);
  assert_int_equal(zt_draft_find(d, ZT_TEXT("second")), first+1);
  zt_draft_free(d);
}

/* Texts have no room, though the rows have. */
TEST_WITH(test_no_memory_for_texts, disarm, NULL){
  static char word[10000];
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = new_draft();
  const uint32_t o = add_dense(d, "w", 0, NULL, &err);
  zt_draft_component c = { .role = ZT_TEXT("data") };
  const zt_text long_word = { word, sizeof(word) };
  memset(word, 'x', sizeof(word));
  add_supply(d, o, c, (supply){ .decoded = bytes_of("", 0) }, &err);
  add_attribute(d, o, "key", "01", NULL, &err);
  assert_succeeded(&err, "rows");
  memory_arm(1, true);
  c.role = long_word;
  assert_int_equal(zt_draft_add_component(d, o, &c, &err), SQLITE_NOMEM);
  zt_error_clear(&err);
  assert_false(zt_draft_has_attribute(d, o, long_word, &err));
  assert_int_equal(err.rc, SQLITE_NOMEM);
  zt_error_clear(&err);
  memory_arm(0, false);
  assert_true(zt_draft_has_attribute(d, o, ZT_TEXT("key"), &err));
  assert_false(zt_draft_has_attribute(d, o, long_word, &err));
  zt_draft_free(d);
}

/* A draft is used again unless it has become large: by its attributes, or by its texts. */
TEST(test_a_draft_is_used_again){
  for(int large=0; large<3; large++){
    zt_error err = ZT_ERROR_NONE;
    zt_draft *d = new_draft();
    const uint32_t o = add_dense(d, "w", 0, NULL, &err);
    char key[5000];
    memset(key, 'k', sizeof(key));
    key[large==2 ? sizeof(key)-1 : 2] = 0;
    for(int i=0; i<(large==1 ? 40 : 1); i++){
      key[0] = (char)('0'+i);
      add_attribute(d, o, key, "01", NULL, &err);
    }
    assert_succeeded(&err, "attributes");
    d = zt_draft_reuse(d);
    assert_int_equal(d!=NULL, large==0);
    if( d ) assert_int_equal(zt_draft_objects(d), 0);
    zt_draft_free(d);
  }
  assert_null(zt_draft_reuse(NULL));
}

TEST(test_a_manifest_that_is_too_large){
  zt_error err = ZT_ERROR_NONE;
  assert_int_equal(zt_encoder_check_manifest(&(zt_cbor_out){ .n = (size_t)ZT_MAX_MANIFEST }, &err), SQLITE_OK);
  assert_int_equal(zt_encoder_check_manifest(&(zt_cbor_out){ .n = (size_t)ZT_MAX_MANIFEST+1 }, &err), SQLITE_TOOBIG);
  assert_string_equal(err.message, "ztensor: the manifest would have 1073741825 bytes, more than 1073741824");
  assert_int_equal(zt_encoder_check_manifest(&(zt_cbor_out){ .n = 0 }, &err), SQLITE_TOOBIG);   /* It stays */
  zt_error_clear(&err);
}

/* The message about an attribute that is too deep needs memory, too. */
TEST_WITH(test_no_memory_for_depth, disarm, NULL){
  uint8_t value[80];
  const zt_draft_attribute a = { .key = ZT_TEXT("k"), .value = { value, sizeof(value) }, .stored_type = ZT_TEXT("") };
  zt_error err = ZT_ERROR_NONE;
  memset(value, 0x81, sizeof(value));
  memory_arm(1, true);
  assert_int_equal(zt_encoder_check_depth(&a, true, true, &err), SQLITE_NOMEM);
  memory_arm(0, false);
  zt_error_clear(&err);
  zt_encoder_check_depth(&a, true, true, &err);
  assert_failed(&err, "attribute 'k' is nested deeper than 28 levels", "depth");
}

/* Sizes that are not known, or that nobody can have, are not expected. */
TEST(test_sizes_that_are_not_expected){
  static const uint64_t lengths[][2] = { { ZT_DRAFT_UNKNOWN, 3 }, { UINT64_MAX-30, 3 }, { UINT64_MAX-74, 3 }, { 3, UINT64_MAX-30 } };
  static const uint64_t shape[] = { 3 };
  for(size_t i=0; i<COUNT(lengths); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_draft *d = new_draft();
    size_t n;
    uint8_t *p;
    for(int k=0; k<2; k++){
      const uint32_t o = add_dense(d, k ? "b" : "a", 1, shape, &err);
      zt_draft_component c = { .role = ZT_TEXT("data"), .element = zt_dtype_get(ZT_DTYPE_u8), .codec = ZT_CODEC_RAW };
      c.supply = supplies_n;
      c.decoded_length = lengths[i][k];
      supplies[supplies_n++] = (supply){ .decoded = bytes_of("abc", 3) };
      zt_draft_add_component(d, o, &c, &err);
    }
    p = encode_with(zt_encoder_named(ZT_TEXT("ztensor-1.2")), d, &zt_encoder_named(ZT_TEXT("ztensor-1.2"))->defaults, 1<<20, &n, &err);
    assert_succeeded(&err, "sizes");
    assert_true(p && n>64+67 && memcmp(p+64, "abc", 3)==0 && memcmp(p+128, "abc", 3)==0);
    sqlite3_free(p);
    zt_draft_free(d);
  }
}

/* Every size of an output that is too small. */
TEST(test_room){
  for(size_t i=0; i<COUNT(held); i++){
    zt_error err = ZT_ERROR_NONE;
    size_t size, n;
    uint8_t *p = write_filled(held[i].format, (uint64_t)1<<30, &size, &err);
    sqlite3_free(p);
    for(size_t most=0; most<size; most += most<4096 || size-most<4096 ? 1 : 4096-most%4096){
      p = write_filled(held[i].format, most, &n, &err);
      check( !p && err.rc==SQLITE_TOOBIG, "%s: %zu of %zu bytes: %d", held[i].format, most, size, err.rc );
      zt_error_clear(&err);
    }
    p = write_filled(held[i].format, size, &n, &err);
    assert_succeeded(&err, held[i].format);
    assert_int_equal(n, size);
    sqlite3_free(p);
  }
}

int main(void){
  if( !begin_sweeps() ) return 1;
  return run_all("encoder_checks", NULL, NULL);
}
