/*
** The bytes that a row brings for a component (tensor/data_check.h): each rule with what obeys it and what breaks it.
*/
#include "test.h"

#include "container/dtype.h"
#include "tensor/data_check.h"

#define NOTHING ""

typedef struct given {
  zt_layout_id layout;
  const char *role;
  zt_dtype_id dtype;
  uint32_t rank;
  uint64_t shape[3];
  const char *hex;         /* The bytes */
  const char *fault;       /* NULL: they are right */
} given;

static void check_given(const given *g, size_t row, unsigned rules){
  const zt_draft_object object = { .name = ZT_TEXT_INIT("w"), .layout = g->layout, .rank = g->rank, .shape = g->shape };
  zt_error err = { .path = "x.zt", .object = ZT_TEXT_INIT("w") };
  blob bytes = blob_of(g->hex);
  char expected[300];
  const int rc = zt_data_check(&object, zt_text_of(g->role), zt_dtype_get(g->dtype), span_of(bytes), rules, &err);
  snprintf(expected, sizeof(expected), "ztensor: x.zt: object 'w': %s", g->fault ? g->fault : NOTHING);
  check( rc==(g->fault ? SQLITE_ERROR : SQLITE_OK) && rc==err.rc, "row %zu: %s", row, err.message ? err.message : "no error" );
  if( g->fault ) check( strcmp(err.message, expected)==0, "row %zu: %s", row, err.message );
  zt_error_clear(&err);
  free(bytes.p);
}

static void check_all(const given *rows, size_t n){
  for(size_t i=0; i<n; i++) check_given(&rows[i], i, 0);
}

#define DENSE(dtype, rank, ...) ZT_LAYOUT_DENSE, "data", ZT_DTYPE_##dtype, rank, { __VA_ARGS__ }

TEST(test_as_many_bytes_as_the_shape_has_elements){
  static const given rows[] = {
    { DENSE(f32, 2, 1, 2), "0000803f00000040", NULL },
    { DENSE(f64, 0, 0), "000000000000f03f", NULL },
    { DENSE(u8, 3, 2, 0, 3), NOTHING, NULL },
    { DENSE(u8, 3, UINT64_MAX, UINT64_MAX, 0), NOTHING, NULL },   /* An empty tensor, whatever its other dimensions are */
    { DENSE(complex128, 1, 1), "000000000000f03f0000000000000040", NULL },
    { DENSE(f32, 2, 1, 2), "0000803f000000", "2 elements of f32 are 8 bytes, and data has 7" },
    { DENSE(f32, 2, 1, 2), "0000803f0000004000", "2 elements of f32 are 8 bytes, and data has 9" },
    { DENSE(f64, 0, 0), NOTHING, "1 elements of f64 are 8 bytes, and data has 0" },
    { DENSE(u8, 2, 0, 5), "00", "0 elements of u8 are 0 bytes, and data has 1" },
    { DENSE(u8, 2, (uint64_t)1<<32, (uint64_t)1<<32), "00", "the shape has 2^64 elements or more" },
    { DENSE(u16, 1, (uint64_t)1<<63), NOTHING, "9223372036854775808 elements of u16 are more than 2^64 bytes" },
  };
  check_all(rows, COUNT(rows));
}

TEST(test_bools_are_0_or_1){
  static const given rows[] = {
    { DENSE(bool, 1, 4), "00010001", NULL },
    { DENSE(bool, 1, 4), "00010200", "byte 2 is 0x02: a bool is 0 or 1" },
    { DENSE(bool, 1, 2), "00ff", "byte 1 is 0xff: a bool is 0 or 1" },
    { DENSE(u8, 1, 2), "02ff", NULL },
    { ZT_LAYOUT_COO, "values", ZT_DTYPE_bool, 1, { 5 }, "0103", "byte 1 is 0x03: a bool is 0 or 1" },
  };
  check_all(rows, COUNT(rows));
}

TEST(test_spare_bits_are_0){
  static const given rows[] = {
    { DENSE(f4_e2m1, 1, 3), "210f", NULL },
    { DENSE(f4_e2m1, 1, 4), "21ff", NULL },
    { DENSE(f4_e2m1, 1, 3), "211f", "the spare bits of the last byte, 0x1f, are not 0" },
    { DENSE(f4_e2m1, 1, 3), "21", "3 elements of f4_e2m1 are 2 bytes, and data has 1" },
    { DENSE(u2, 1, 5), "ff03", NULL },
    { DENSE(u2, 1, 5), "ff04", "the spare bits of the last byte, 0x04, are not 0" },
    { DENSE(u2, 1, 7), "ff40", "the spare bits of the last byte, 0x40, are not 0" },
    { DENSE(i4, 1, 0), NOTHING, NULL },
  };
  check_all(rows, COUNT(rows));
}

#define COO(role, dtype, rank, ...) ZT_LAYOUT_COO, role, ZT_DTYPE_##dtype, rank, { __VA_ARGS__ }
#define ONE "0100000000000000"
#define TWO "0200000000000000"
#define ZERO "0000000000000000"

TEST(test_coordinates_are_within_the_shape){
  static const given rows[] = {
    { COO("coords", u64, 2, 2, 3), ZERO ONE TWO ONE, NULL },   /* Rows 0 and 1, columns 2 and 1 */
    { COO("coords", u32, 2, 2, 3), "00000000010000000200000001000000", NULL },
    { COO("coords", u64, 2, 2, 3), NOTHING, NULL },
    { COO("coords", u64, 2, 2, 3), ZERO TWO TWO ONE, "index 1 is 2, beyond the dimension of 2" },
    { COO("coords", u64, 2, 2, 3), ZERO ONE TWO "0300000000000000", "index 3 is 3, beyond the dimension of 3" },
    { COO("coords", u64, 2, 2, 3), ZERO "ffffffffffffffff", "index 1 is 18446744073709551615, beyond the dimension of 3" },
    { COO("coords", u32, 1, 1), "00000000ffffffff", "index 1 is 4294967295, beyond the dimension of 1" },
    { COO("coords", u64, 2, 2, 3), ZERO ONE TWO, "3 coordinates are not a whole number for each of 2 dimensions" },
    { COO("coords", u64, 0, 0), ZERO, "1 coordinates are not a whole number for each of 0 dimensions" },
    { COO("coords", u64, 2, 2, 3), ZERO "01", "9 bytes are no whole number of u64" },
    { COO("coords", u32, 1, 3), "0000", "2 bytes are no whole number of u32" },
    { COO("coords", i64, 2, 2, 3), ZERO ONE, "indices are of u64 or u32, not i64" },
    { COO("coords", u16, 1, 3), "0000", "indices are of u64 or u32, not u16" },
  };
  check_all(rows, COUNT(rows));
}

#define CSR(role, dtype, ...) ZT_LAYOUT_CSR, role, ZT_DTYPE_##dtype, 2, { __VA_ARGS__ }

TEST(test_columns_are_within_the_shape){
  static const given rows[] = {
    { CSR("indices", u64, 2, 3), TWO ZERO ONE, NULL },   /* What only indptr shows, their order, is not asked for here */
    { CSR("indices", u64, 2, 3), NOTHING, NULL },
    { CSR("indices", u32, 3, 2), "0100000002000000", "index 1 is 2, beyond the dimension of 2" },
    { CSR("indices", u64, 9, 0), ZERO, "index 0 is 0, beyond the dimension of 0" },
    { CSR("indices", u64, 2, 3), "00", "1 bytes are no whole number of u64" },
    { CSR("indices", f32, 2, 3), "00000000", "indices are of u64 or u32, not f32" },
  };
  check_all(rows, COUNT(rows));
}

TEST(test_pointers_rise_from_0){
  static const given rows[] = {
    { CSR("indptr", u64, 2, 3), ZERO ONE TWO, NULL },
    { CSR("indptr", u64, 2, 3), ZERO ZERO ZERO, NULL },
    { CSR("indptr", u64, 0, 3), ZERO, NULL },
    { CSR("indptr", u32, 2, 3), "000000000100000001000000", NULL },
    { CSR("indptr", u64, 2, 3), ONE ONE TWO, "indptr begins with 0 and never falls: entry 0 is 1" },
    { CSR("indptr", u64, 2, 3), ZERO TWO ONE, "indptr begins with 0 and never falls: entry 2 is 1" },
    { CSR("indptr", u64, 2, 3), ZERO ONE, "indptr has 2 entries for 2 rows, not one more" },
    { CSR("indptr", u64, 2, 3), ZERO ONE TWO TWO, "indptr has 4 entries for 2 rows, not one more" },
    { CSR("indptr", u64, 0, 3), NOTHING, "indptr has 0 entries for 0 rows, not one more" },
    { CSR("indptr", u64, UINT64_MAX, 3), NOTHING, "indptr has 0 entries for 18446744073709551615 rows, not one more" },
    { CSR("indptr", u64, 2, 3), ZERO ONE "02", "17 bytes are no whole number of u64" },
    { CSR("indptr", bool, 2, 3), "000101", "indices are of u64 or u32, not bool" },
  };
  check_all(rows, COUNT(rows));
}

TEST(test_stored_values_are_whole_elements){
  static const given rows[] = {
    { CSR("values", f32, 2, 3), "0000803f00000040", NULL },
    { COO("values", complex64, 2, 2, 3), NOTHING, NULL },
    { COO("values", f4_e2m1, 2, 2, 3), "ff", NULL },   /* Both elements of the byte */
    { CSR("values", f32, 2, 3), "0000803f0000", "6 bytes are no whole number of f32" },
    { COO("values", complex64, 2, 2, 3), "0000803f", "4 bytes are no whole number of complex64" },
  };
  check_all(rows, COUNT(rows));
}

TEST(test_an_object_has_the_components_of_its_layout){
  static const given rows[] = {
    { ZT_LAYOUT_DENSE, "values", ZT_DTYPE_u8, 1, { 1 }, "00", "dense has no component 'values': its components are data alone" },
    { CSR("data", u8, 1, 1), "00", "sparse_csr has no component 'data': its components are values, indices and indptr" },
    { CSR("coords", u64, 1, 1), ZERO, "sparse_csr has no component 'coords': its components are values, indices and indptr" },
    { COO("indptr", u64, 2, 1, 1), ZERO, "sparse_coo has no component 'indptr': its components are values and coords" },
    { COO(NOTHING, u64, 2, 1, 1), ZERO, "sparse_coo has no component '': its components are values and coords" },
    { ZT_LAYOUT_CSR, "values", ZT_DTYPE_u8, 1, { 1 }, "00", "sparse_csr has two dimensions, not 1" },
    { ZT_LAYOUT_CSR, "indptr", ZT_DTYPE_u64, 3, { 1, 1, 1 }, ZERO ZERO, "sparse_csr has two dimensions, not 3" },
    { ZT_LAYOUT_CSR, "indices", ZT_DTYPE_u64, 0, { 0 }, ZERO, "sparse_csr has two dimensions, not 0" },
  };
  check_all(rows, COUNT(rows));
}

/* The format's rule: 1.2 has no indices of 4 bytes. */
TEST(test_indices_that_a_format_wants_of_8_bytes){
  static const given rows[] = {
    { COO("coords", u32, 1, 3), "00000000", "indices are of u64, not u32" },
    { COO("coords", u64, 1, 3), ZERO, NULL },
    { CSR("indices", u32, 2, 3), "00000000", "indices are of u64, not u32" },
    { CSR("indptr", u32, 0, 3), "00000000", "indices are of u64, not u32" },
  };
  for(size_t i=0; i<COUNT(rows); i++) check_given(&rows[i], i, ZT_RULE_U64_INDICES);
}

int main(void){
  return run_all("data_check", NULL, NULL);
}
