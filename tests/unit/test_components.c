/*
** Objects whose components do not fit their layout, as few drivers give them: an opened object gets another layout, shape, strides,
** block, or number of dimensions that are stored whole.
*/
#include "tensors.h"
#include "zt2.h"

#include "tensor/compare.h"

/* An object of a recipe, or of zTensor 2, that a test changes. */
typedef struct changed {
  recipe recipe;
  opened opened;
  zt_tensor tensor;
} changed;

static blob numbers(unsigned width, size_t n, const uint64_t *a){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_bits(&b, a[i], width);
  return b;
}
#define NUMBERS(width, ...) numbers(width, COUNT(((const uint64_t[]){ __VA_ARGS__ })), (const uint64_t[]){ __VA_ARGS__ })

static void begin(changed *c, const char *format, uint32_t rank, const uint64_t *shape){
  *c = (changed){ .recipe = { .format = format, .rank = rank } };
  memcpy(c->recipe.shape, shape, rank*sizeof(*shape));
}

static void open_changed(changed *c, zt_layout_id layout){
  open_recipe(&c->opened, &c->recipe, NULL, c->recipe.format);
  c->opened.object.layout = layout;
}

static void open_notation(changed *c, const char *object, zt_layout_id layout){
  char notation[700];
  size_t mark;
  *c = (changed){ .recipe = { .n = 0 } };
  snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", object);
  open_bytes(&c->opened, zt2_file(zt2_manifest(notation, &mark), 16384, 0), object);
  c->opened.object.layout = layout;
}

static void end(changed *c){
  zt_tensor_close(&c->tensor);
  close_opened(&c->opened);
  clear_recipe(&c->recipe);
}

/* Opening fails, or reading all elements does. */
static void refuse(changed *c, const char *rule, const char *message){
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[1024];
  assert_true(c->opened.object.elements<=sizeof(out)/16);
  if( zt_tensor_open(c->opened.source, c->opened.container, &c->opened.object, &c->opened.budget, &c->tensor, &err)==SQLITE_OK ){
    zt_tensor_read(&c->tensor, 0, (size_t)c->opened.object.elements, out, &err);
  }
  check( err.rule && strcmp(err.rule, rule)==0, "%s: %s", message, err.rule ? err.rule : "no rule" );
  assert_failed(&err, message, rule);
  end(c);
}

static void expect_bytes(changed *c, const void *want, size_t n){
  zt_error err = ZT_ERROR_NONE;
  uint8_t out[256];
  open_tensor(&c->opened, &c->tensor, "changed");
  assert_int_equal(c->opened.object.elements*c->tensor.dtype->width, n);
  for(int again=0; again<2; again++){
    zt_tensor_read(&c->tensor, 0, (size_t)c->opened.object.elements, out, &err);
    assert_succeeded(&err, "changed");
    if( zt_big_endian() ) zt_swap_bytes(out, n, c->tensor.dtype->unit);
    assert_memory_equal(out, want, n);
  }
  end(c);
}

static const uint64_t two_three[] = { 2, 3 };

TEST(test_a_component_that_is_not_there){
  static const struct { zt_layout_id layout; const char *role; } rows[] = {
    { ZT_LAYOUT_COO_JOINED, "data" }, { ZT_LAYOUT_CSR_JOINED, "data" }, { ZT_LAYOUT_COMPLEX_PARTS, "real" }, { ZT_LAYOUT_COO_LINEAR, "values" },
  };
  static const char mx[] = "'parts': {'%s': {'blob': [4096, 16], 'type': '%s', 'dtype': 'u8'}}, 'shape': [8, 4], 'layout': 'zt.mx/1',"
    " 'attributes': {'axis': 0, 'block_size': 8, 'scale_form': 'e8m0_exponent'}";
  for(size_t i=0; i<COUNT(rows); i++){
    char message[100];
    changed c;
    begin(&c, "other", 2, two_three);
    add_part(&c.recipe, "other", "u8", NULL, NUMBERS(1, 1));
    open_changed(&c, rows[i].layout);
    snprintf(message, sizeof(message), "other needs a component '%s'", rows[i].role);
    refuse(&c, "L4", message);
  }
  for(int k=0; k<2; k++){
    char object[400];
    changed c;
    snprintf(object, sizeof(object), mx, k ? "data" : "more", k ? "f4_e2m1" : "u8");
    open_notation(&c, object, ZT_LAYOUT_MX);
    refuse(&c, "L4", k ? "zt.mx/1 needs a component 'scales'" : "zt.mx/1 needs a component 'data'");
    open_notation(&c, "'parts': {'zeros': {'blob': [4096, 8], 'dtype': 'u32'}}, 'shape': [1, 16], 'layout': 'zt.quant_group/1', 'attributes': {'axis': 1,"
                  " 'bits': 4, 'packing': {'word': 'u32', 'order': 'msb_first', 'per_word': 8}, 'group_size': 1, 'scale_form': 'f16_factors', 'zero_point': {'form': 'tensor', 'packing': 'same_as_data'}}",
                  ZT_LAYOUT_QUANT_GROUP);
    refuse(&c, "L4", "zt.quant_group/1 needs a component 'data'");
    open_notation(&c, "'parts': {'more': {'blob': [4096, 34], 'dtype': 'u8'}}, 'shape': [32], 'layout': 'gguf.q8_0/1'", ZT_LAYOUT_GGML);
    refuse(&c, "L4", "gguf.q8_0/1 needs a component 'data'");
  }
}

/* Values in one component or in two: with neither, the first is asked for. */
TEST(test_values_in_two_components){
  static const char *const roles[][2] = { { "coords", "other" }, { "coords", "real" }, { "real", "imag" } };
  static const char *const missing[] = { "'values'", "'imag'", "'coords'" };
  for(size_t i=0; i<COUNT(roles); i++){
    changed c;
    begin(&c, "sparse_coo", 1, (const uint64_t[]){ 4 });
    for(int k=0; k<2; k++) add_part(&c.recipe, roles[i][k], strcmp(roles[i][k], "coords") ? "f32" : "u8", NULL, NUMBERS(strcmp(roles[i][k], "coords") ? 4 : 1, 0));
    open_changed(&c, ZT_LAYOUT_COO);
    c.opened.object.rules |= ZT_RULE_SPLIT_VALUES;
    refuse(&c, "L4", missing[i]);
  }
}

/* --- sparse_coo --- */

/* A part states any length. */
#define STATED(length) ", 'encoding': 'zt.zstd-seekable/1', 'decoded_length': " length "}"

static void begin_coo(changed *c, uint32_t rank, const uint64_t *shape, const char *role, blob values, blob coords, unsigned width, zt_layout_id layout){
  begin(c, "sparse_coo", rank, shape);
  add_part(&c->recipe, "values", "u8", NULL, values);
  add_part(&c->recipe, role, width==8 ? "u64" : width==4 ? "f32" : "u8", NULL, coords);
  open_changed(c, layout);
}

TEST(test_a_byte_order_that_is_not_known){
  for(int csr=0; csr<2; csr++){
    changed c;
    begin(&c, csr ? "sparsecsr" : "sparsecoo", 2, two_three);
    c.recipe.old = true;
    c.recipe.order = "middle";
    add_part(&c.recipe, "data", "int16", NULL, NUMBERS(8, 0, 0, 0, 0));
    open_recipe(&c.opened, &c.recipe, NULL, "middle");
    refuse(&c, "L8", "byte order 'middle' is not known");
  }
}

/* The last dimensions are stored whole. */
TEST(test_dimensions_that_are_stored_whole){
  static const uint64_t huge[] = { 0, (uint64_t)1<<40, (uint64_t)1<<40 }, flat[] = { 3, 0 };
  changed c;
  begin_coo(&c, 2, two_three, "coords", NUMBERS(1, 7, 8, 9), NUMBERS(8, 1), 8, ZT_LAYOUT_COO);
  c.opened.object.whole = 1;
  expect_bytes(&c, "\0\0\0\7\10\11", 6);
  begin_coo(&c, 2, two_three, "coords", NUMBERS(1, 7, 8, 9, 9), NUMBERS(8, 1), 8, ZT_LAYOUT_COO);
  c.opened.object.whole = 1;
  refuse(&c, "K1", "coords has 1 entries for 1 values in 1 dimensions");
  for(int i=0; i<2; i++){   /* Their product is beyond 2^64, or 0 */
    for(int values=0; values<2; values++){
      begin_coo(&c, i ? 2 : 3, i ? flat : huge, "coords", values ? NUMBERS(1, 7) : (blob){ 0 }, (blob){ 0 }, 8, ZT_LAYOUT_COO);
      c.opened.object.whole = i ? 1 : 2;
      if( values ) refuse(&c, "K1", "coords has 0 entries for 0 values in 1 dimensions");
      else expect_bytes(&c, "", 0);
    }
  }
}

TEST(test_coords_with_strides){
  static const uint64_t shape[] = { 2, 3, 1 };
  static const struct {
    uint32_t rank, whole;
    uint64_t n, step, each, first, second;   /* Strides of values */
    const char *bytes, *rule, *says;   /* What it reads as, or the error */
  } rows[] = {
    { 3, 0, 2, (uint64_t)1<<63, 1, 1, 0, NULL, "K1", "coords has 5 entries for 2 values in 3" }, { 2, 0, 2, UINT64_MAX, 1, 1, 0, NULL, "K1", "coords has 5 entries for 2 values in 2" },
    { 2, 0, 2, 1, UINT64_MAX, 1, 0, NULL, "K1", "coords has 5 entries for 2 values in 2" }, { 2, 0, UINT64_MAX, 1, 2, 2, 0, NULL, "D1", "the strides lead beyond 2^64 elements" },
    { 2, 0, 3, 3, 1, 1, 0, NULL, "K1", "there are 2 values for 3 coordinates with strides" }, { 2, 0, 2, 3, 1, 2, 0, NULL, "K1", "there are 2 values for 2 coordinates with strides" },
    { 2, 0, 2, 3, 1, 1, 0, "\0\7\0\0\0\10", NULL, NULL }, { 2, 0, 2, 1, 3, 1, 0, "\0\7\0\0\0\10", NULL, NULL }, { 1, 0, 2, 77, 4, 1, 0, NULL, "K2", "coordinate 2 of value 1 in dimension 0, which has 2" },
    { 2, 1, 2, 77, 4, 0, 1, NULL, "K1", "there are 2 values for 2 coordinates with strides" }, { 3, 1, 2, 1, 3, 1, 77, "\0\7\0\0\0\10", NULL, NULL },
    { 2, 0, 1, 4, 77, 1, 0, NULL, "K1", "there are 2 values for 1 coordinates with strides" }, { 0, 0, 2, 77, 77, 1, 0, NULL, "K1", "coords has 5 entries for 2 values in 0" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    changed c;
    begin_coo(&c, rows[i].rank, shape, "coords", NUMBERS(1, 7, 8), NUMBERS(8, 0, 1, 9, 1, 2), 8, ZT_LAYOUT_COO);
    c.opened.object.has_strides = true;
    c.opened.object.whole = rows[i].whole;
    c.opened.object.strides[ZT_COO_COORDINATES] = rows[i].n;
    c.opened.object.strides[ZT_COO_BY_DIMENSION] = rows[i].step;
    c.opened.object.strides[ZT_COO_BY_COORDINATE] = rows[i].each;
    c.opened.object.strides[ZT_COO_VALUES] = rows[i].first;
    c.opened.object.strides[ZT_COO_VALUES+1] = rows[i].second;
    if( rows[i].bytes ) expect_bytes(&c, rows[i].bytes, 6);
    else refuse(&c, rows[i].rule, rows[i].says);
  }
}

TEST(test_positions_and_rows_of_indices){
  static const uint64_t ten[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 9 };
  blob values = { 0 }, indices = { 0 };
  changed c;
  begin_coo(&c, 2, two_three, "indices", NUMBERS(1, 7, 8), NUMBERS(8, 5, 1), 8, ZT_LAYOUT_COO_LINEAR);
  expect_bytes(&c, "\0\10\0\0\0\7", 6);
  begin_coo(&c, 2, two_three, "indices", NUMBERS(1, 7, 8), NUMBERS(4, 5, 1), 4, ZT_LAYOUT_COO_LINEAR);
  refuse(&c, "K3", "indices are integers, not f32");
  begin_coo(&c, 2, two_three, "indices", (blob){ 0 }, (blob){ 0 }, 8, ZT_LAYOUT_COO_LINEAR);
  expect_bytes(&c, "\0\0\0\0\0\0", 6);
  begin_coo(&c, 0, two_three, "indices", NUMBERS(1, 7), (blob){ 0 }, 8, ZT_LAYOUT_COO_ROWS);   /* A scalar's row is empty */
  expect_bytes(&c, "\7", 1);
  for(uint64_t i=0; i<5000; i++){   /* Fewer rows than values are read at once; the last one counts */
    put_byte(&values, i>=4991);
    for(int d=0; d<9; d++) put_bits(&indices, 0, 8);
    put_bits(&indices, i%9, 8);
  }
  begin_coo(&c, 10, ten, "indices", values, indices, 8, ZT_LAYOUT_COO_ROWS);
  expect_bytes(&c, "\1\1\1\1\1\1\1\1\1", 9);
}

TEST(test_more_indices_than_64_bits_count){
  changed c;
  open_notation(&c, "'parts': {'values': {'blob': [4096, 8], 'dtype': 'u8'" STATED("4611686018427387904") ", 'indices': {'blob': [8192, 8], 'dtype': 'u8'"
                STATED("8") "}, 'shape': [1, 1, 1, 1, 1, 1, 1, 1], 'layout': 'odd'", ZT_LAYOUT_COO_ROWS);
  refuse(&c, "K1", "indices has 8 entries for 4611686018427387904 values with 8 each");
  open_notation(&c, "'parts': {'indptr': {'blob': [12288, 2], 'dtype': 'u8'}, 'values': {'blob': [4096, 8], 'dtype': 'u8'" STATED("16") ","
                " 'indices': {'blob': [8192, 8], 'dtype': 'u8'" STATED("4611686018427387904") "}, 'shape': [4, 4], 'layout': 'odd'", ZT_LAYOUT_BSR);
  c.opened.object.block[0] = c.opened.object.block[1] = 4;
  refuse(&c, "P3", "there are 4611686018427387904 indices of blocks of 16, and 16 values");
}

/* So many readers would need too much memory: one goes through all dimensions, for as many coordinates as are gathered at once, and
** again from the beginning. */
TEST(test_coords_that_one_reader_gathers){
  enum { RANK = 63, MANY = 140000 };   /* More than 2^23/RANK */
  uint64_t shape[RANK];
  blob values = { 0 }, coords = { 0 };
  changed c;
  for(int d=0; d<RANK; d++) shape[d] = d==RANK-1 ? 2 : 1;
  put_repeated(&values, 0, MANY);
  put_repeated(&coords, 0, RANK*MANY);
  values.p[MANY-1] = 9;
  values.p[0] = 3;
  coords.p[RANK*MANY-2] = 1;   /* The last one but one's */
  values.p[MANY-2] = 5;
  begin(&c, "sparse_coo", RANK, shape);
  add_part(&c.recipe, "values", "u8", NULL, values);
  add_part(&c.recipe, "coords", "u8", NULL, coords)->storing = ZSTD_WIDE;
  open_changed(&c, ZT_LAYOUT_COO);
  expect_bytes(&c, "\14\5", 2);
}

/* An object of zTensor 2 whose cells may have two stored elements: values of the type, and one coordinate for each. */
static void open_few(changed *c, const char *type, uint64_t n, uint64_t bytes){
  const bool plain = strcmp(type, "f32")==0;
  char object[400];
  snprintf(object, sizeof(object), "'parts': {'coords': {'blob': [8192, %llu], 'dtype': 'u8'}, 'values': {'blob': [4096, %llu], %s%s%s'dtype': '%s'}},"
           " 'shape': [1000], 'layout': 'odd'", (unsigned long long)n, (unsigned long long)bytes, plain ? "" : "'type': '", plain ? "" : type,
           plain ? "" : "', ", plain ? "f32" : "u8");
  open_notation(c, object, ZT_LAYOUT_COO);
  c->opened.object.rules &= ~(unsigned)(ZT_RULE_CELLS_UNIQUE | ZT_RULE_ORDER);
}

/* Values of one cell may have a sum that the type does not have. */
/* Going back decodes them again, which may be too much. */
TEST(test_coords_that_are_gathered_again){
  enum { RANK = 63, MANY = 140000 };
  uint64_t shape[RANK];
  blob values = { 0 }, coords = { 0 };
  zt_error err = ZT_ERROR_NONE;
  uint8_t out;
  changed c;
  for(int d=0; d<RANK; d++) shape[d] = 1;
  put_repeated(&values, 0, MANY);
  put_repeated(&coords, 0, RANK*MANY);
  begin(&c, "sparse_coo", RANK, shape);
  add_part(&c.recipe, "values", "u8", NULL, values);
  add_part(&c.recipe, "coords", "u8", NULL, coords)->storing = ZSTD_WIDE;
  open_changed(&c, ZT_LAYOUT_COO);
  open_tensor(&c.opened, &c.tensor, "again");
  assert_int_equal(zt_tensor_read(&c.tensor, 0, 1, &out, &err), SQLITE_OK);
  c.opened.budget.decode = c.opened.budget.decoded+100;
  assert_int_equal(zt_tensor_read(&c.tensor, 0, 1, &out, &err), SQLITE_TOOBIG);
  zt_error_clear(&err);
  end(&c);
}

TEST(test_comparison_of_sums_that_do_not_fit){
  for(int k=0; k<2; k++){
    zt_error err = ZT_ERROR_NONE;
    zt_comparison result;
    changed c[2];
    open_few(&c[k], "f4_e2m1", 2, 1);
    c[k].opened.bytes.p[4096] = 0x77;   /* 6, twice */
    open_few(&c[!k], "f32", 0, 0);
    for(int i=0; i<2; i++) open_tensor(&c[i].opened, &c[i].tensor, "sums");
    zt_compare(&c[0].tensor, &c[1].tensor, &result, &err);
    assert_failed(&err, "the sum of the values of one cell does not fit f4_e2m1", "sums");
    for(int i=0; i<2; i++) end(&c[i]);
  }
}

/* Cells without a stored element are another number in a type without 0. */
TEST(test_comparison_of_cells_that_are_not_stored){
  zt_error err = ZT_ERROR_NONE;
  zt_comparison result;
  changed c[2];
  open_few(&c[0], "f8_e8m0", 0, 0);
  open_few(&c[1], "f32", 0, 0);
  for(int i=0; i<2; i++) open_tensor(&c[i].opened, &c[i].tensor, "nothing");
  zt_compare(&c[0].tensor, &c[1].tensor, &result, &err);
  assert_succeeded(&err, "nothing");
  assert_true(result.max_abs==0x1p-127 && result.equal==0 && result.pairs==1000);
  for(int i=0; i<2; i++) end(&c[i]);
}

TEST(test_comparison_of_more_than_2_64_stored_elements){
  zt_error err = ZT_ERROR_NONE;
  zt_comparison result;
  changed c[2];
  for(int k=0; k<2; k++){
    open_notation(&c[k], "'parts': {'coords': {'blob': [8192, 8], 'dtype': 'u8'" STATED("9223372036854775808") ", 'values': {'blob': [4096, 8], 'dtype': 'u8'"
                  STATED("9223372036854775808") "}, 'shape': [9], 'layout': 'odd'", ZT_LAYOUT_COO);
    open_tensor(&c[k].opened, &c[k].tensor, "many");
  }
  zt_compare(&c[0].tensor, &c[1].tensor, &result, &err);
  assert_failed(&err, "component 'coords': zt.zstd-seekable/1: too short for a seek table", "many");
  for(int k=0; k<2; k++) end(&c[k]);
}

/* --- sparse_csr --- */

static void begin_csr(changed *c, const uint64_t *shape, zt_layout_id layout){
  begin(c, "sparse_csr", 2, shape);
  add_part(&c->recipe, "values", "u8", NULL, (blob){ 0 });
  add_part(&c->recipe, "indices", "u8", NULL, (blob){ 0 });
  add_part(&c->recipe, "indptr", "u8", NULL, NUMBERS(1, 0));
  open_changed(c, layout);
}

TEST(test_blocks_of_more_than_2_64_elements){
  static const uint64_t shape[] = { 0, (uint64_t)1<<40 };
  changed c;
  begin_csr(&c, shape, ZT_LAYOUT_BSR);
  c.opened.object.block[0] = c.opened.object.block[1] = (uint64_t)1<<40;
  refuse(&c, "P8", "blocks of 1099511627776 x 1099511627776 do not fill 0 x 1099511627776");
}

/* Where nothing is stored, the stored bytes are looked at nonetheless. */
TEST(test_empty_components_that_are_broken){
  for(int k=0; k<2; k++){
    const char *const stated = STATED("0");
    char object[600];
    changed c;
    snprintf(object, sizeof(object), "'parts': {'indptr': {'blob': [12288, 2], 'dtype': 'u8'}, 'values': {'blob': [4096, %d], 'dtype': 'u8'%s,"
             " 'indices': {'blob': [8192, %d], 'dtype': 'u8'%s}, 'shape': [1, 4], 'layout': 'odd'", k ? 8 : 0, k ? stated : "}", k ? 0 : 8,
             k ? "}" : stated);
    open_notation(&c, object, ZT_LAYOUT_CSR);
    refuse(&c, "Y3", k ? "component 'values': zt.zstd-seekable/1: too short for a seek table"
                       : "component 'indices': zt.zstd-seekable/1: too short for a seek table");
  }
}

/* --- Complex numbers of two components --- */

static void begin_parts(changed *c, uint64_t n, const char *real, blob first, const char *imag, blob second){
  begin(c, "other", 1, &n);
  add_part(&c->recipe, "real", real, NULL, first);
  add_part(&c->recipe, "imag", imag, NULL, second);
  open_changed(c, ZT_LAYOUT_COMPLEX_PARTS);
}

TEST(test_parts_of_complex_numbers){
  static const struct { const char *real, *imag; unsigned widths[2]; const char *message; } rows[] = {
    { "f32", "f64", { 4, 8 }, "real and imaginary parts are f32 and f64, not both f32 or f64" },
    { "i32", "i32", { 4, 4 }, "real and imaginary parts are i32 and i32, not both f32 or f64" },
    { "f16", "f16", { 2, 2 }, "real and imaginary parts are f16 and f16, not both f32 or f64" },
  };
  changed c;
  begin_parts(&c, 2, "f32", NUMBERS(4, 1, 2), "f32", NUMBERS(4, 3, 4));
  expect_bytes(&c, "\1\0\0\0\3\0\0\0\2\0\0\0\4\0\0\0", 16);
  for(size_t i=0; i<COUNT(rows); i++){
    begin_parts(&c, 1, rows[i].real, NUMBERS(rows[i].widths[0], 1), rows[i].imag, NUMBERS(rows[i].widths[1], 1));
    refuse(&c, "L6", rows[i].message);
  }
  begin(&c, "sparse_coo", 1, (const uint64_t[]){ 4 });
  add_part(&c.recipe, "real", "f32", NULL, NUMBERS(4, 1, 2));
  add_part(&c.recipe, "imag", "f32", NULL, NUMBERS(4, 1));
  add_part(&c.recipe, "coords", "u8", NULL, NUMBERS(1, 0, 1));
  open_changed(&c, ZT_LAYOUT_COO);
  c.opened.object.rules |= ZT_RULE_SPLIT_VALUES;
  refuse(&c, "P3", "there are 2 real and 1 imaginary parts");
}

TEST(test_strides_of_complex_numbers){
  changed c;
  begin_parts(&c, 2, "f32", NUMBERS(4, 1, 9, 2), "f32", NUMBERS(4, 3, 9, 4));
  c.opened.object.has_strides = true;
  c.opened.object.strides[0] = 2;
  expect_bytes(&c, "\1\0\0\0\3\0\0\0\2\0\0\0\4\0\0\0", 16);
  begin_parts(&c, 3, "f32", NUMBERS(4, 1), "f32", NUMBERS(4, 3));
  c.opened.object.has_strides = true;
  c.opened.object.strides[0] = (uint64_t)1<<63;
  refuse(&c, "D1", "the strides lead beyond 2^64 elements");
}

TEST(test_many_and_no_complex_numbers){
  enum { MANY = 3000 };
  blob real = { 0 }, imag = { 0 };
  zt_error err = ZT_ERROR_NONE;
  double *out = malloc(2*MANY*sizeof(*out));
  changed c;
  for(unsigned i=0; i<MANY; i++){
    put_real(&real, "f64", i);
    put_real(&imag, "f64", -1.0*i);
  }
  begin_parts(&c, MANY, "f64", real, "f64", imag);
  open_tensor(&c.opened, &c.tensor, "many");
  zt_tensor_read(&c.tensor, 0, MANY, out, &err);
  assert_succeeded(&err, "many");
  for(unsigned i=0; i<MANY; i++) check( out[2*i]==i && out[2*i+1]==-1.0*i, "element %u", i );
  end(&c);
  free(out);
  begin_parts(&c, 0, "f64", (blob){ 0 }, "f64", (blob){ 0 });
  expect_bytes(&c, "", 0);
  begin_parts(&c, 0, "f64", (blob){ 0 }, "f64", (blob){ 0 });
  end(&c);
  open_notation(&c, "'parts': {'imag': {'blob': [8192, 8], 'dtype': 'f64'}, 'real': {'blob': [4096, 8], 'dtype': 'f64'" STATED("0") "}, 'shape': [0], 'layout': 'odd'",
                ZT_LAYOUT_COMPLEX_PARTS);
  refuse(&c, "D1", "0 elements of f64 are 0 bytes, and it has 8");
  open_notation(&c, "'parts': {'imag': {'blob': [8192, 0], 'dtype': 'f64'}, 'real': {'blob': [4096, 8], 'dtype': 'f64'" STATED("0") "}, 'shape': [0], 'layout': 'odd'",
                ZT_LAYOUT_COMPLEX_PARTS);
  refuse(&c, "Y3", "component 'real': zt.zstd-seekable/1: too short for a seek table");
}

/* --- Blocks and groups --- */

/* Part of a block is read by itself. */
TEST(test_a_part_of_a_block_that_cannot_be_decoded){
  zt_error err = ZT_ERROR_NONE;
  float out[5];
  changed c;
  open_notation(&c, "'parts': {'data': {'blob': [4096, 9], 'dtype': 'u8'" STATED("34") "}, 'shape': [32], 'layout': 'gguf.q8_0/1'", ZT_LAYOUT_GGML);
  open_tensor(&c.opened, &c.tensor, "block");
  assert_int_equal(zt_tensor_read(&c.tensor, 0, 5, out, &err), SQLITE_ERROR);
  assert_failed(&err, "component 'data': zt.zstd-seekable/1: ", "block");
  end(&c);
}

/* The components of empty tensors are looked at, too. */
TEST(test_groups_that_cannot_be_decoded){
#define QUANT(zeros, scales, n, shape, zero_point) \
  "'parts': {'data': {'blob': [4096, " n "], 'dtype': 'u8'}, " zeros "'scales': {'blob': [8192, " scales "}, 'shape': [" shape "], 'layout': 'zt.quant_group/1'," \
  " 'attributes': {'axis': 1, 'bits': 4, 'packing': {'word': 'u8', 'order': 'lsb_first', 'per_word': 2}, 'group_size': 1, 'scale_form': 'f16_factors'," \
  " 'zero_point': {" zero_point "}}"
#define PACKED_ZEROS "'form': 'tensor', 'packing': 'same_as_data'"
  static const struct { const char *object; zt_layout_id layout; const char *role; } rows[] = {
    { QUANT("'zeros': {'blob': [12288, 5], 'dtype': 'u8'" STATED("4") ", ", "16], 'dtype': 'f16'}", "4", "1, 8", PACKED_ZEROS), ZT_LAYOUT_QUANT_GROUP, "zeros" },
    { QUANT("", "5], 'dtype': 'f16'" STATED("0"), "0", "0, 8", "'form': 'none'"), ZT_LAYOUT_QUANT_GROUP, "scales" },
    { QUANT("", "0], 'dtype': 'f16'}", "0", "0, 8", "'form': 'none'"), ZT_LAYOUT_QUANT_GROUP, NULL },
    { "'parts': {'data': {'blob': [4096, 5], 'type': 'f4_e2m1', 'dtype': 'u8'" STATED("0") ", 'scales': {'blob': [8192, 0], 'type': 'f8_e8m0', 'dtype': 'u8'}},"
      " 'shape': [0, 8], 'layout': 'zt.mx/1', 'attributes': {'axis': 1, 'block_size': 8, 'scale_form': 'e8m0_exponent'}", ZT_LAYOUT_MX, "data" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char message[100];
    changed c;
    open_notation(&c, rows[i].object, rows[i].layout);
    if( !rows[i].role ) expect_bytes(&c, "", 0);
    else{
      snprintf(message, sizeof(message), "component '%s': zt.zstd-seekable/1: too short for a seek table", rows[i].role);
      refuse(&c, "Y3", message);
    }
  }
}

/* An object without a known shape, whose bytes have no fault. */
TEST(test_an_object_without_a_shape){
  changed c;
  begin(&c, "dense", 1, two_three);
  add_part(&c.recipe, "data", "u8", NULL, NUMBERS(1, 1, 2));
  open_changed(&c, ZT_LAYOUT_DENSE);
  c.opened.object.unshaped = true;
  refuse(&c, "L1", "no meaning of format 'dense' is known");
}

int main(void){
  return run_all("components", NULL, NULL);
}
