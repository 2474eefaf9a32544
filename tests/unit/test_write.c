/*
** Writing a file: a draft, its supplies and an encoder together (tensor/write.h). test_encoder.c has the formats' bytes.
*/
#include "supplied.h"

#include "tensor/write.h"

#define FORMATS "tests/formats/"
#define V12 FORMATS "ztensor/golden/v1.2/"

/* --- Objects by value --- */

static void begin_spool(supplied *s){
  zt_error err = ZT_ERROR_NONE;
  supplied_begin(s);
  assert_int_equal(zt_output_open_memory(SUPPLIED_ENOUGH, &s->supplies.spool, &err), SQLITE_OK);
}

static uint32_t put_object(supplied *s, const char *name, zt_layout_id layout, uint32_t rank, const uint64_t *shape){
  const zt_draft_object object = { .name = zt_text_of(name), .layout = layout, .format = ZT_TEXT(""), .rank = rank, .shape = shape };
  zt_error err = ZT_ERROR_NONE;
  uint32_t number;
  zt_draft_add_object(s->draft, &object, &number, &err);
  assert_succeeded(&err, name);
  return number;
}

/* A component whose bytes wait in the spool; frees them. */
static void put_component(supplied *s, uint32_t object, const char *role, const char *dtype, blob bytes){
  const zt_supply supply = { .kind = ZT_SUPPLY_BYTES, .offset = zt_output_size(s->supplies.spool), .length = bytes.n };
  zt_draft_component c = { .role = zt_text_of(role), .element = dtype ? named(dtype) : NULL, .decoded_length = bytes.n, .codec = ZT_CODEC_RAW };
  zt_error err = ZT_ERROR_NONE;
  zt_output_append(s->supplies.spool, span_of(bytes), &err);
  zt_supplies_add(&s->supplies, &supply, &c.supply, &err);
  zt_draft_add_component(s->draft, object, &c, &err);
  assert_succeeded(&err, role);
  free(bytes.p);
}

static void put_dense(supplied *s, const char *name, const char *dtype, uint64_t n, const char *hex){
  put_component(s, put_object(s, name, ZT_LAYOUT_DENSE, 1, &n), "data", dtype, blob_of(hex));
}

static void put_attribute(supplied *s, uint32_t object, const char *key, const char *hex){
  blob value = blob_of(hex);
  const zt_draft_attribute a = { .key = zt_text_of(key), .value = span_of(value), .stored_type = ZT_TEXT("") };
  zt_error err = ZT_ERROR_NONE;
  zt_draft_add_attribute(s->draft, object, &a, &err);
  assert_succeeded(&err, key);
  free(value.p);
}

static zt_write write_of(supplied *s, const char *format){
  const zt_encoder *e = zt_encoder_named(zt_text_of(format));
  check( e!=NULL, "%s", format );
  return (zt_write){ .encoder = e, .options = e->defaults, .draft = s->draft, .supplies = &s->supplies, .budget = &s->budget };
}

/* The file; checked before it is written. */
static blob written(const zt_write *w, zt_error *err){
  zt_output *output = NULL;
  blob b = { 0 };
  if( zt_write_check(w, err)==SQLITE_OK && zt_output_open_memory(SUPPLIED_ENOUGH, &output, err)==SQLITE_OK
   && zt_write_to(w, output, err)==SQLITE_OK ){
    uint64_t n;
    uint8_t *p = zt_output_take(output, &n);
    b = exact(p, (size_t)n);
    sqlite3_free(p);
  }
  zt_output_close(output);
  return b;
}

static blob written_well(const zt_write *w){
  zt_error err = ZT_ERROR_NONE;
  blob b = written(w, &err);
  assert_succeeded(&err, w->encoder->name);
  assert_null(err.object.z);   /* A later message would name it */
  return b;
}

static void refused(const zt_write *w, int rc, const char *message){
  zt_error err = { .path = "x.zt" };
  blob b = written(w, &err);
  check( err.rc==rc, "%s: %d, %s", w->encoder->name, err.rc, err.message ? err.message : "no message" );
  if( message ) check( strcmp(err.message, message)==0, "%s", err.message );
  zt_error_clear(&err);
  free(b.p);
}

/* --- Checks before the first byte --- */

static const uint64_t two_four[] = { 2, 4 };
#define POINTERS "0000000000000000 0200000000000000 0300000000000000"
#define COLUMNS "0000000000000000 0300000000000000 0200000000000000"
#define THREE "0000c03f 000000c0 00008040"

TEST(test_components_of_sparse_objects_fit){
  static const struct { zt_layout_id layout; const char *dtype, *values, *indices, *indptr, *coords, *fault; } rows[] = {
    { ZT_LAYOUT_CSR, "f32", THREE, COLUMNS, POINTERS, NULL, NULL },
    { ZT_LAYOUT_CSR, "f32", NULL, COLUMNS, POINTERS, NULL, "a component is missing: sparse_csr has values, indices and indptr" },
    { ZT_LAYOUT_CSR, "f32", THREE, NULL, POINTERS, NULL, "a component is missing: sparse_csr has values, indices and indptr" },
    { ZT_LAYOUT_CSR, "f32", THREE, COLUMNS, NULL, NULL, "a component is missing: sparse_csr has values, indices and indptr" },
    { ZT_LAYOUT_CSR, "f32", "0000c03f", COLUMNS, POINTERS, NULL, "1 values have 3 places" },
    { ZT_LAYOUT_COO, "f32", "0000c03f", NULL, NULL, "0100000000000000 0200000000000000", NULL },
    { ZT_LAYOUT_COO, "f32", "0000c03f", NULL, NULL, NULL, "a component is missing: sparse_coo has values and coords" },
    { ZT_LAYOUT_COO, "f32", NULL, NULL, NULL, "0100000000000000 0200000000000000", "a component is missing: sparse_coo has values and coords" },
    { ZT_LAYOUT_COO, "f32", THREE, NULL, NULL, "0100000000000000 0200000000000000", "3 values have 1 places" },
    { ZT_LAYOUT_COO, NULL, THREE, NULL, NULL, "0100000000000000 0200000000000000", "a component is missing: sparse_coo has values and coords" },
    /* Half of a last byte may be no value */
    { ZT_LAYOUT_CSR, "f4_e2m1", "2103", COLUMNS, POINTERS, NULL, NULL },
    { ZT_LAYOUT_CSR, "f4_e2m1", "2113", COLUMNS, POINTERS, NULL, "component 'values': the spare bits of the last byte, 0x13, are not 0" },
    { ZT_LAYOUT_CSR, "f4_e2m1", "21", COLUMNS, POINTERS, NULL, "2 values have 3 places" },
    { ZT_LAYOUT_CSR, "f4_e2m1", "210300", COLUMNS, POINTERS, NULL, "6 values have 3 places" },
    { ZT_LAYOUT_COO, "f4_e2m1", "02", NULL, NULL, "0100000000000000 0200000000000000", NULL },
    { ZT_LAYOUT_COO, "f4_e2m1", "0200", NULL, NULL, "0100000000000000 0200000000000000", "4 values have 1 places" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char message[200];
    supplied s;
    zt_write w;
    uint32_t object;
    begin_spool(&s);
    object = put_object(&s, "w", rows[i].layout, 2, two_four);
    if( rows[i].values ) put_component(&s, object, "values", rows[i].dtype, blob_of(rows[i].values));
    if( rows[i].indices ) put_component(&s, object, "indices", "u64", blob_of(rows[i].indices));
    if( rows[i].indptr ) put_component(&s, object, "indptr", "u64", blob_of(rows[i].indptr));
    if( rows[i].coords ) put_component(&s, object, "coords", "u64", blob_of(rows[i].coords));
    w = write_of(&s, "ztensor-2");
    snprintf(message, sizeof(message), "ztensor: x.zt: object 'w': %s", rows[i].fault ? rows[i].fault : "");
    if( rows[i].fault ) refused(&w, SQLITE_ERROR, message);
    else free(written_well(&w).p);
    supplied_end(&s);
  }
}

/* A scalar has one place for each of its coords; places may be so many that their values would have more than 2^64 bytes. */
TEST(test_places_without_dimensions_and_beyond_2_64_bytes){
  for(int many=0; many<2; many++){
    zt_draft_component coords = { .role = ZT_TEXT_INIT("coords"), .element = named("u8"), .decoded_length = many ? (uint64_t)1<<62 : 1 };
    zt_error err = { .path = "x.zt" };
    supplied s;
    zt_write w;
    uint32_t object;
    begin_spool(&s);
    object = put_object(&s, "w", ZT_LAYOUT_COO, (uint32_t)many, two_four);
    put_component(&s, object, "values", "f64", blob_of("0000000000000000 0000000000000000"));
    zt_draft_add_component(s.draft, object, &coords, &err);
    w = write_of(&s, "ztensor-2");
    assert_int_equal(zt_write_check(&w, &err), SQLITE_ERROR);
    assert_string_equal(err.message, many ? "ztensor: x.zt: object 'w': 2 values have 4611686018427387904 places"
                                          : "ztensor: x.zt: object 'w': 2 values have 1 places");
    zt_error_clear(&err);
    supplied_end(&s);
  }
}

/* Dimensions besides a 0 fit in libraries' 63 bits of bytes. Bytes without a type have no size of an element. */
TEST(test_shapes_with_a_0){
  static const struct { const char *dtype; uint64_t other; bool fits; } rows[] = {
    { "f64", (uint64_t)1<<59, true }, { "f64", (uint64_t)1<<60, false }, { "f64", (uint64_t)1<<62, false }, { "u8", (uint64_t)1<<62, true },
    { "u8", (uint64_t)1<<63, false }, { NULL, (uint64_t)1<<62, true }, { NULL, (uint64_t)1<<63, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const uint64_t shape[] = { 0, rows[i].other };
    zt_error err = { .path = "x.zt" };
    supplied s;
    zt_write w;
    begin_spool(&s);
    put_component(&s, put_object(&s, "w", ZT_LAYOUT_DENSE, 2, shape), "data", rows[i].dtype, (blob){ 0 });
    w = write_of(&s, "ztensor-1.2");
    w.encoder = &(zt_encoder){ .name = "any", .check_object = w.encoder->check_object, .check_attribute = w.encoder->check_attribute };
    zt_write_check_object(&w, 0, &err);
    check( (err.message && strstr(err.message, "the shape overflows: its dimensions besides 0 make more than 2^63 bytes"))==!rows[i].fits,
           "row %zu: %s", i, err.message ? err.message : "no error" );
    zt_error_clear(&err);
    supplied_end(&s);
  }
}

/* The first object that the format cannot hold ends the check, and so does the first whose components do not fit. */
TEST(test_objects_behind_a_fault){
  supplied s;
  zt_write w;
  begin_spool(&s);
  put_dense(&s, "a", "bf16", 1, "803f");
  put_dense(&s, "b", "bf16", 1, "803f");
  w = write_of(&s, "npz");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'a': npz cannot hold bf16; give dtype 'f32'");
  supplied_end(&s);
}

/* A message names the object; that of a file's attribute does not. */
TEST(test_what_the_format_cannot_hold){
  supplied s;
  zt_write w;
  zt_error err = { .path = "x.npz" };
  begin_spool(&s);
  put_dense(&s, "a", "u8", 1, "01");
  put_dense(&s, "w", "bf16", 1, "803f");
  w = write_of(&s, "npz");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'w': npz cannot hold bf16; give dtype 'f32'");
  assert_int_equal(zt_write_check_object(&w, 0, &err), SQLITE_OK);
  assert_text(err.object, "a", "the place is the object's");
  assert_int_equal(zt_write_check_object(&w, 1, &err), SQLITE_ERROR);
  assert_string_equal(err.message, "ztensor: x.npz: object 'w': npz cannot hold bf16; give dtype 'f32'");
  zt_error_clear(&err);
  supplied_end(&s);

  begin_spool(&s);
  put_dense(&s, "a", "u8", 1, "01");
  put_attribute(&s, 0, "k", "01");
  w = write_of(&s, "safetensors");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'a': safetensors cannot hold attributes of an object; drop='attributes' leaves them out");
  supplied_end(&s);

  begin_spool(&s);
  put_attribute(&s, ZT_DRAFT_FILE, "k", "01");
  w = write_of(&s, "safetensors");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: safetensors holds text attributes alone; give 'k' as text");
  supplied_end(&s);

  begin_spool(&s);
  put_dense(&s, "a", "u8", 1, "01");
  put_dense(&s, "a.npy", "u8", 1, "01");
  w = write_of(&s, "npz");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'a.npy': numpy would read this name as that of 'a'; rename one");
  supplied_end(&s);
}

TEST(test_the_size_of_all_components){
  static const uint64_t most = UINT64_MAX;
  supplied s;
  zt_draft_component c = { .role = ZT_TEXT_INIT("data"), .element = named("u8"), .codec = ZT_CODEC_RAW };
  zt_error err = ZT_ERROR_NONE;
  begin_spool(&s);
  assert_int_equal(zt_write_size(s.draft), 0);
  put_dense(&s, "a", "u16", 2, "01020304");
  put_dense(&s, "b", "u8", 3, "010203");
  assert_int_equal(zt_write_size(s.draft), 7);
  c.decoded_length = most-7;
  zt_draft_add_component(s.draft, put_object(&s, "c", ZT_LAYOUT_DENSE, 1, &most), &c, &err);
  assert_true(zt_write_size(s.draft)==UINT64_MAX);
  c.decoded_length = 1;
  zt_draft_add_component(s.draft, put_object(&s, "d", ZT_LAYOUT_DENSE, 1, &most), &c, &err);
  assert_true(zt_write_size(s.draft)==UINT64_MAX);   /* 2^64 */
  supplied_end(&s);
}

/* --- Sparse objects by value are read back --- */

static void check_sparse_of(const char *type, const char *format, zt_layout_id layout, const char *values, const char *indices,
                            const char *indptr, const char *fault){
  supplied s;
  zt_write w;
  uint32_t object;
  char message[200];
  begin_spool(&s);
  put_dense(&s, "first", "u8", 1, "01");
  object = put_object(&s, "w", layout, 2, two_four);
  put_component(&s, object, "values", type, blob_of(values));
  put_component(&s, object, layout==ZT_LAYOUT_CSR ? "indices" : "coords", "u64", blob_of(indices));
  if( indptr ) put_component(&s, object, "indptr", "u64", blob_of(indptr));
  w = write_of(&s, format);
  snprintf(message, sizeof(message), "ztensor: x.zt: object 'w': %s", fault ? fault : "");
  if( fault ) refused(&w, SQLITE_ERROR, message);
  else free(written_well(&w).p);
  supplied_end(&s);
}

static void check_sparse(const char *format, zt_layout_id layout, const char *values, const char *indices, const char *indptr, const char *fault){
  check_sparse_of("f32", format, layout, values, indices, indptr, fault);
}

#define UNSORTED "0300000000000000 0000000000000000 0200000000000000"
#define TWICE "0300000000000000 0300000000000000 0200000000000000"

TEST(test_sparse_objects_are_read_back){
  check_sparse("ztensor-2", ZT_LAYOUT_CSR, THREE, COLUMNS, POINTERS, NULL);
  check_sparse("ztensor-1.2", ZT_LAYOUT_CSR, THREE, UNSORTED, POINTERS, NULL);   /* 1.2 has no such rules */
  check_sparse("ztensor-1.2", ZT_LAYOUT_CSR, THREE, TWICE, POINTERS, NULL);
  check_sparse("ztensor-2", ZT_LAYOUT_CSR, THREE, UNSORTED, POINTERS, "column 0 in row 0 follows column 3");
  check_sparse("ztensor-2", ZT_LAYOUT_CSR, THREE, TWICE, POINTERS, "column 3 in row 0 follows column 3");
  check_sparse("ztensor-2", ZT_LAYOUT_CSR, THREE, COLUMNS, "0000000000000000 0200000000000000 0400000000000000",
               "indptr ends with 4, and there are 3 values");
  check_sparse("ztensor-2", ZT_LAYOUT_COO, "0000c03f 000000c0", "0100000000000000 0000000000000000 0300000000000000 0300000000000000", NULL, NULL);
  check_sparse("ztensor-2", ZT_LAYOUT_COO, "0000c03f 000000c0", "0100000000000000 0100000000000000 0300000000000000 0300000000000000", NULL,
               "two stored elements lie in one cell");
  check_sparse("ztensor-1.2", ZT_LAYOUT_COO, "0000c03f 000000c0", "0100000000000000 0100000000000000 0300000000000000 0300000000000000", NULL, NULL);
}

/* The first one of several with a fault is named. */
TEST(test_several_sparse_objects_are_read_back){
  for(int bad=0; bad<4; bad++){
    supplied s;
    zt_write w;
    begin_spool(&s);
    for(int i=0; i<3; i++){
      const uint32_t object = put_object(&s, (const char*[]){ "a", "b", "c" }[i], ZT_LAYOUT_CSR, 2, two_four);
      put_component(&s, object, "values", "f32", blob_of(THREE));
      put_component(&s, object, "indices", "u64", blob_of(i==bad ? UNSORTED : COLUMNS));
      put_component(&s, object, "indptr", "u64", blob_of(POINTERS));
    }
    w = write_of(&s, "ztensor-2");
    if( bad==3 ) free(written_well(&w).p);
    else{
      char message[100];
      snprintf(message, sizeof(message), "ztensor: x.zt: object '%c': column 0 in row 0 follows column 3", 'a'+bad);
      refused(&w, SQLITE_ERROR, message);
    }
    supplied_end(&s);
  }
}

/* Two elements in one cell, which zTensor 2 has not. */
TEST(test_two_elements_in_one_cell){
  static const struct { zt_layout_id layout; const char *role, *values, *pointers, *message; } rows[] = {
    { ZT_LAYOUT_CSR, "indices", "0000000000000000 0000000000000000 0200000000000000", POINTERS, "column 0 in row 0 follows column 0" },
    { ZT_LAYOUT_COO, "coords", "0000000000000000 0000000000000000 0100000000000000" "0300000000000000 0300000000000000 0000000000000000", NULL,
      "two stored elements lie in one cell" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    supplied s;
    zt_write w;
    char message[100];
    uint32_t object;
    begin_spool(&s);
    object = put_object(&s, "w", rows[i].layout, 2, two_four);
    put_component(&s, object, "values", "f32", blob_of(THREE));
    put_component(&s, object, rows[i].role, "u64", blob_of(rows[i].values));
    if( rows[i].pointers ) put_component(&s, object, "indptr", "u64", blob_of(rows[i].pointers));
    w = write_of(&s, "ztensor-2");
    snprintf(message, sizeof(message), "ztensor: x.zt: object 'w': %s", rows[i].message);
    refused(&w, SQLITE_ERROR, message);
    supplied_end(&s);
  }
}

/* An object that stays need not have the components of its layout. */
TEST(test_a_kept_object_without_components){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { 2, 4 } };
  supplied s;
  zt_write w;
  zt_supply_request q = supplied_alone(&s, &r);
  opened o;
  q.keeps = supplied_keeps(&q);
  supplied_add(&s, &q);
  w = write_of(&s, "ztensor-1.2");
  open_bytes(&o, written_well(&w), "kept");
  assert_true(o.object.layout==ZT_LAYOUT_CSR && zt_container_first(o.container, 1)==0);
  close_opened(&o);
  supplied_end(&s);
}

/* The object has more dimensions than its layout, so that it cannot be opened. */
TEST(test_a_sparse_object_that_cannot_be_opened){
  static const uint64_t shape[] = { 2, 4, 1 };
  supplied s;
  zt_write w;
  uint32_t object;
  begin_spool(&s);
  object = put_object(&s, "w", ZT_LAYOUT_CSR, 3, shape);
  put_component(&s, object, "values", "f32", blob_of(THREE));
  put_component(&s, object, "indices", "u64", blob_of(COLUMNS));
  put_component(&s, object, "indptr", "u64", blob_of(POINTERS));
  w = write_of(&s, "ztensor-1.2");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'w': sparse_csr has two dimensions, not 3");
  supplied_end(&s);
}

TEST(test_the_last_byte_of_packed_values_has_spare_bits){
  check_sparse_of("f4_e2m1", "ztensor-2", ZT_LAYOUT_CSR, "2103", COLUMNS, POINTERS, NULL);
  check_sparse_of("f4_e2m1", "ztensor-2", ZT_LAYOUT_CSR, "2143", COLUMNS, POINTERS,
                  "component 'values': the spare bits of the last byte, 0x43, are not 0");
  check_sparse_of("f4_e2m1", "ztensor-2", ZT_LAYOUT_CSR, "21", COLUMNS, POINTERS, "2 values have 3 places");
  check_sparse_of("f4_e2m1", "ztensor-2", ZT_LAYOUT_CSR, "210300", COLUMNS, POINTERS, "6 values have 3 places");
  check_sparse_of("f4_e2m1", "ztensor-2", ZT_LAYOUT_COO, "03", "0100000000000000 0300000000000000", NULL, NULL);
}

/* --- Lengths --- */

/* The spool has another length than the draft: metadata that lied. A header of npz does not count. */
TEST(test_a_length_that_metadata_had_otherwise){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz" };
  for(size_t i=0; i<COUNT(formats); i++){
    supplied s;
    zt_write w;
    zt_error err = { .path = "x.zt" };
    begin_spool(&s);
    put_dense(&s, "w", "f32", 2, "0000803f00000040");
    w = write_of(&s, formats[i]);
    assert_int_equal(zt_write_check(&w, &err), SQLITE_OK);
    s.supplies.a[0].length = 4;
    refused(&w, SQLITE_ERROR, "ztensor: x.zt: object 'w': component 'data': the source has 4 bytes, and its metadata said 8");
    supplied_end(&s);
  }
}

/* --- The same bytes --- */

/* Tensors of any layout; by reference, with conversions. */
static void put_mixed(supplied *s){
  zt_supply_request q;
  supplied_path(s, V12 "hand_sparse.zt");
  q = supplied_request(s, "csr.f32");
  q.codec = ZT_CODEC_SEEKABLE;
  q.level = 3;
  q.digest = ZT_DIGEST_SHA256;
  supplied_add(s, &q);
  q = supplied_request(s, "coo.f64");
  q.as = named("f32");
  supplied_add(s, &q);
  q = supplied_request(s, "csr.bf16");
  q.dense = true;
  supplied_add(s, &q);
}

TEST(test_threads_and_rows_give_the_same_bytes){
  blob first = { 0 };
  for(int threads=0; threads<4; threads++){
    supplied s;
    zt_write w;
    blob b;
    begin_spool(&s);
    if( threads%2 ) put_dense(&s, "a", "f32", 2, "0000803f00000040");
    put_mixed(&s);
    if( threads%2==0 ) put_dense(&s, "a", "f32", 2, "0000803f00000040");
    s.budget.pool = zt_pool_new(threads);
    w = write_of(&s, "ztensor-2");
    b = written_well(&w);
    check( first.n==0 || same_blob(first, b), "%d threads", threads );
    free(first.p);
    first = b;
    zt_pool_free(s.budget.pool);
    s.budget.pool = NULL;
    supplied_end(&s);
  }
  free(first.p);
}

/* Objects stand by name, or as they were added. */
TEST(test_the_order_of_objects){
  for(int by_row=0; by_row<2; by_row++){
    supplied s;
    zt_write w;
    opened o;
    zt_object object;
    begin_spool(&s);
    put_dense(&s, "b", "u8", 1, "02");
    put_dense(&s, "a", "u8", 1, "01");
    w = write_of(&s, "npz");
    w.options.by_row = by_row;
    open_bytes(&o, written_well(&w), "order");
    zt_container_object(o.container, 0, &object);
    assert_text(object.name, by_row ? "b" : "a", "first");
    close_opened(&o);
    supplied_end(&s);
  }
}

/* A tensor by value and by reference, and stored bytes that are kept. */
TEST(test_by_value_and_by_reference){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz" };
  for(size_t i=0; i<COUNT(formats); i++){
    blob files[3];
    for(int way=0; way<3; way++){
      supplied s;
      zt_write w;
      begin_spool(&s);
      if( way==0 ){
        put_dense(&s, "w", "f32", 2, "0000803f00000040");
      }else{
        zt_supply_request q;
        open_bytes(&s.files[s.n++], files[0], "by value");
        files[0] = exact(files[0].p, files[0].n);
        q = supplied_number(&s, 0);
        q.name = ZT_TEXT("w");
        if( way==2 ) q.keeps = supplied_keeps(&q);
        supplied_add(&s, &q);
      }
      w = write_of(&s, formats[i]);
      files[way] = written_well(&w);
      supplied_end(&s);
    }
    check( same_blob(files[0], files[1]), "%s", formats[i] );
    check( same_blob(files[0], files[2]), "%s, kept", formats[i] );
    for(int way=0; way<3; way++) free(files[way].p);
  }
}

/* Kept digests stay those of the file; kept frames are not encoded again. */
TEST(test_kept_parts_keep_their_digests){
  blob bytes = read_file(V12 "wheel_checksums.zt");
  supplied s;
  zt_write w;
  opened o;
  zt_component before, after;
  zt_supply_request q;
  begin_spool(&s);
  supplied_path(&s, V12 "wheel_checksums.zt");
  q = supplied_request(&s, "crc32c.zstd.f32");
  q.keeps = supplied_keeps(&q);
  q.digest = ZT_DIGEST_SHA256;   /* Of parts that are encoded anew */
  supplied_add(&s, &q);
  w = write_of(&s, "ztensor-1.2");
  open_bytes(&o, written_well(&w), "kept");
  zt_component_find(q.file.container, q.object, ZT_TEXT("data"), &before);
  zt_component_find(o.container, 0, ZT_TEXT("data"), &after);
  assert_true(zt_text_equal(before.digest, after.digest) && after.codec==ZT_CODEC_ZSTD && before.length==after.length);
  assert_memory_equal(bytes.p+before.offset, o.bytes.p+after.offset, (size_t)before.length);
  close_opened(&o);
  supplied_end(&s);
  free(bytes.p);
}

/* --- Failures while it is written --- */

TEST(test_interrupts){
  for(int at=1; at<4; at++){
    supplied s;
    caller c = { .stop_at = at };
    zt_write w;
    blob big = { 0 };
    const uint64_t n = (uint64_t)12<<20;
    put_repeated(&big, 7, (size_t)n);
    begin_spool(&s);
    put_component(&s, put_object(&s, "w", ZT_LAYOUT_DENSE, 1, &n), "data", "u8", big);
    s.budget.interrupt = (zt_interrupt){ .interrupted = caller_stops, .context = &c };
    w = write_of(&s, "ztensor-2");
    refused(&w, SQLITE_INTERRUPT, NULL);
    assert_int_equal(c.asked, at);
    supplied_end(&s);
  }
}

TEST(test_an_output_that_is_full){
  static const char *const formats[] = { "ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz" };
  for(size_t i=0; i<COUNT(formats); i++){
    supplied s;
    zt_write w;
    blob b;
    begin_spool(&s);
    put_dense(&s, "w", "f32", 2, "0000803f00000040");
    w = write_of(&s, formats[i]);
    b = written_well(&w);
    for(size_t most=0; most<b.n; most += most<200 ? 1 : 1+b.n/50){
      zt_output *output = NULL;
      zt_error err = ZT_ERROR_NONE;
      assert_int_equal(zt_output_open_memory(most, &output, &err), SQLITE_OK);
      check( zt_write_to(&w, output, &err)==SQLITE_TOOBIG, "%s: %zu of %zu bytes, %d", formats[i], most, b.n, err.rc );
      zt_error_clear(&err);
      zt_output_close(output);
    }
    free(b.p);
    supplied_end(&s);
  }
}

/* The file that is updated is opened first. */
TEST(test_a_kept_file_that_cannot_be_opened){
  supplied s;
  zt_write w;
  zt_supply_request q;
  begin_spool(&s);
  supplied_path(&s, V12 "wheel_checksums.zt");
  q = supplied_request(&s, "crc32c.zstd.f32");
  q.keeps = supplied_keeps(&q);
  supplied_add(&s, &q);
  s.fails_at = 1;
  w = write_of(&s, "ztensor-1.2");
  refused(&w, SQLITE_ERROR, "ztensor: x.zt: cannot open it");
  supplied_end(&s);
}

static bool extend_once(void *context){
  zt_interrupt *i = context;
  if( i->context ) extend_file(i->context, 100000);
  i->context = NULL;
  return false;
}

/* The source changes when the last byte has been read of it. */
TEST(test_a_source_that_changes){
  char path[] = "/tmp/ztensor-write-XXXXXX", message[100];
  const int fd = mkstemp(path);
  blob bytes = read_file(V12 "wheel_checksums.zt");
  zt_interrupt change = { .context = path };
  supplied s;
  zt_write w;
  zt_supply_request q;
  assert_true(fd>=0 && close(fd)==0);
  write_file(path, bytes.p, bytes.n);
  begin_spool(&s);
  supplied_path(&s, path);
  q = supplied_request(&s, "crc32c.zstd.f32");
  q.keeps = supplied_keeps(&q);
  supplied_add(&s, &q);
  w = write_of(&s, "ztensor-1.2");
  s.budget.interrupt = (zt_interrupt){ .interrupted = extend_once, .context = &change };
  snprintf(message, sizeof(message), "ztensor: %s: the file was written to while it was read", path);
  refused(&w, SQLITE_ERROR, message);
  assert_null(change.context);
  supplied_end(&s);
  unlink(path);
  free(bytes.p);
}

int main(void){
  return run_all("write", NULL, NULL);
}
