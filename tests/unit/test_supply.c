/*
** Where the bytes of a file that is written come from: tensor/supply.h. Here are the layouts and types; test_supply_stored.c has
** stored bytes, digests, the spool and sources that change.
*/
#include "supplied.h"
#include "zt2.h"

#define FORMATS "tests/formats/"
#define V12 FORMATS "ztensor/golden/v1.2/"

/* n elements 0, 1, 2 ... of a type, little-endian. */
static blob count_up(const char *dtype, size_t n){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_real(&b, dtype, (double)i);
  return b;
}

/* --- Dense tensors --- */

TEST(test_a_dense_tensor_as_it_is){
  recipe r = { .format = "dense", .rank = 2, .shape = { 2, 3 } };
  supplied s;
  zt_draft_object o;
  zt_draft_component c;
  zt_supply_request q;
  uint32_t number;
  add_part(&r, "data", "f32", NULL, count_up("f32", 6));
  q = supplied_alone(&s, &r);
  q.name = ZT_TEXT("renamed");
  q.codec = ZT_CODEC_ZSTD;
  q.level = 7;
  q.digest = ZT_DIGEST_CRC32C;
  q.bare = true;
  number = supplied_add(&s, &q);
  zt_draft_object_get(s.draft, number, &o);
  assert_text(o.name, "renamed", "name");
  assert_true(o.layout==ZT_LAYOUT_DENSE && o.rank==2 && o.shape[0]==2 && o.shape[1]==3 && !o.blocks && o.format.n==0);
  assert_int_equal(supplied_components(&s, number), 1);
  c = supplied_component(&s, number, "data");
  assert_true(c.codec==ZT_CODEC_ZSTD && c.level==7 && c.digest==ZT_DIGEST_CRC32C);
  assert_true(s.supplies.n==1 && s.supplies.a[0].kind==ZT_SUPPLY_ELEMENTS && s.supplies.a[0].bare && s.supplies.a[0].source==0);
  supplied_check(&s, number, "data", "f32", count_up("f32", 6), ALL_RULES);
  supplied_end(&s);
}

/* Scalars and tensors without elements, whose stored bytes are read and checked nonetheless. */
TEST(test_scalars_and_empty_tensors){
  static const struct { uint32_t rank; uint64_t shape[2]; size_t n; } rows[] = { { 0, { 0 }, 1 }, { 1, { 0 }, 0 }, { 2, { 3, 0 }, 0 } };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = { .format = "dense", .rank = rows[i].rank, .shape = { rows[i].shape[0], rows[i].shape[1] } };
    supplied s;
    zt_supply_request q;
    add_part(&r, "data", "i16", NULL, count_up("i16", rows[i].n));
    q = supplied_alone(&s, &r);
    supplied_check(&s, supplied_add(&s, &q), "data", "i16", count_up("i16", rows[i].n), ALL_RULES);
    supplied_end(&s);
  }
}

static void check_cast(const char *from, const char *to, double last, const char *fault){
  recipe r = { .format = "dense", .rank = 1, .shape = { 3 } };
  const double values[] = { 0, 1, last };
  blob bytes = { 0 }, expected = { 0 };
  supplied s;
  zt_supply_request q;
  for(size_t i=0; i<3; i++){
    put_real(&bytes, from, values[i]);
    if( !fault ) put_real(&expected, to, values[i]);
  }
  add_part(&r, "data", named(from)->storage, named(from)->storage==named(from)->name ? NULL : from, bytes);
  q = supplied_alone(&s, &r);
  q.as = named(to);
  if( fault ) supplied_fail(&s, supplied_add(&s, &q), "data", 0, SQLITE_ERROR, fault);
  else supplied_check(&s, supplied_add(&s, &q), "data", to, expected, 0);
  supplied_end(&s);
}

TEST(test_casts){
  check_cast("f32", "bf16", 2.5, NULL);
  check_cast("f64", "f32", -3, NULL);
  check_cast("i32", "f16", 1024, NULL);
  check_cast("f32", "u8", 255, NULL);
  check_cast("i64", "bool", 1, NULL);
  check_cast("f32", "f8_e4m3fn", -448, NULL);
  check_cast("f32", "u8", 256, "ztensor: <blob>: object 'x': element [2] is 256.0, which u8 does not have");
  check_cast("f32", "f4_e2m1", 7, "ztensor: <blob>: object 'x': element [2] is 7.0, which f4_e2m1 does not have");
}

/* Packed elements: an odd number of them leaves bits of the last byte, which are 0. */
TEST(test_packed_elements){
  recipe r = { .format = "dense", .rank = 1, .shape = { 3 } };
  supplied s;
  zt_supply_request q;
  add_part(&r, "data", "f32", NULL, count_up("f32", 3));
  q = supplied_alone(&s, &r);
  q.as = named("f4_e2m1");
  supplied_check(&s, supplied_add(&s, &q), "data", "f4_e2m1", blob_of("2004"), ALL_RULES);
  supplied_end(&s);
}

/* An object's elements as tensor/assemble.h has them. */
static blob assembled(opened *f, uint32_t number, const zt_dtype *as, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer all;
  zt_tensor t;
  blob b;
  zt_container_object(f->container, number, &f->object);
  open_tensor(f, &t, row);
  zt_assemble(&t, as ? as : t.dtype, 0, f->object.elements, &all, &err);
  assert_succeeded(&err, row);
  b = exact(all.p, (size_t)all.n);
  zt_buffer_clear(&all);
  zt_tensor_close(&t);
  return b;
}

/* Big-endian numbers, columns first, steps and conjugates become row-major and little-endian. */
TEST(test_any_order_becomes_row_major){
  static const struct { const char *path; uint32_t least; } files[] = {
    { FORMATS "npy/golden/fortran.npy", 1 }, { FORMATS "npy/golden/big_f32.npy", 1 }, { FORMATS "npy/golden/big_fortran_c16.npy", 1 },
    { FORMATS "npy/golden/noncontiguous.npy", 1 }, { FORMATS "pytorch/golden/views.pt", 8 }, { FORMATS "pytorch/golden/modern_big.pt", 1 },
    { FORMATS "ztensor/golden/v0.1/hand_big_endian.zt", 1 }, { FORMATS "gguf/golden/big_endian.gguf", 1 },
    { FORMATS "npz/golden/deflated.npz", 12 }, { V12 "hand_complex.zt", 1 }
  };
  for(size_t i=0; i<COUNT(files); i++){
    uint32_t n = 0;
    supplied s;
    supplied_begin(&s);
    supplied_path(&s, files[i].path);
    for(uint32_t k=0; k<zt_container_objects(s.files[0].container); k++){
      zt_supply_request q = supplied_number(&s, k);
      uint32_t number;
      zt_container_object(s.files[0].container, k, &s.files[0].object);
      if( s.files[0].object.layout!=ZT_LAYOUT_DENSE ) continue;
      number = supplied_add(&s, &q);
      supplied_check(&s, number, "data", supplied_component(&s, number, "data").element->name,
                     assembled(&s.files[0], k, NULL, files[i].path), 0);
      n++;
    }
    check( n>=files[i].least, "%s: %u", files[i].path, n );
    supplied_end(&s);
  }
}

TEST(test_big_endian_numbers_become_little_endian){
  supplied s;
  zt_supply_request q;
  recipe r = { .format = "dense", .rank = 1, .shape = { 4 }, .old = true, .big = true };
  supplied_begin(&s);
  add_part(&r, "data", "int16", NULL, blob_of("0100 0200 0300 fffe"));   /* In this order; the file has each number's other way round */
  supplied_recipe(&s, &r);
  q = supplied_request(&s, "x");
  supplied_check(&s, supplied_add(&s, &q), "data", "i16", blob_of("0100 0200 0300 fffe"), 0);
  supplied_end(&s);
}

/* Pieces are bounded, and several. */
TEST(test_long_tensors_come_in_pieces){
  static const char *const types[] = { NULL, "f64", "bf16" };
  enum { MANY = 3000001 };
  for(size_t i=0; i<COUNT(types); i++){
    recipe r = { .format = "dense", .rank = 1, .shape = { MANY } };
    blob bytes = { 0 };
    supplied s;
    zt_supply_request q;
    zt_error err = ZT_ERROR_NONE;
    supplied_pieces got;
    uint32_t number;
    for(unsigned k=0; k<MANY; k++) put_bits(&bytes, 0x3F800000u + (k%100 << 16), 4);
    add_part(&r, "data", "f32", NULL, bytes);
    q = supplied_alone(&s, &r);
    q.as = types[i] ? named(types[i]) : NULL;
    number = supplied_add(&s, &q);
    supplied_read(&s, supplied_component(&s, number, "data").supply, 0, &got, &err);
    assert_succeeded(&err, "long");
    check( got.n>1 && got.longest<=(size_t)8<<20, "%zu pieces, of up to %zu", got.n, got.longest );
    blob expected = assembled(&s.files[0], 0, q.as, "long");
    assert_true(same_blob(got.bytes, expected));
    free(expected.p);
    free(got.bytes.p);
    supplied_end(&s);
  }
}

/* --- Rules of the target --- */

TEST(test_bools_of_the_source){
  recipe r = { .format = "dense", .rank = 1, .shape = { 4 } };
  supplied s;
  zt_supply_request q;
  uint32_t number;
  add_part(&r, "data", "bool", NULL, blob_of("00010200"));
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "bool", blob_of("00010200"), 0);
  supplied_fail(&s, number, "data", ZT_RULE_CANONICAL_VALUES, SQLITE_ERROR,
                "ztensor: <blob>: object 'x': component 'data': byte 2 is 0x02: a bool is 0 or 1");
  q.as = named("u8");   /* Nothing in the target is a bool */
  q.name = ZT_TEXT("u8");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "u8", blob_of("00010100"), ALL_RULES);
  supplied_end(&s);
}

TEST(test_spare_bits_of_the_source){
  supplied s;
  zt_supply_request q;
  uint32_t number;
  size_t at;
  blob file;
  supplied_begin(&s);
  file = zt2_file(zt2_manifest("{'objects': {'x': {'parts': {'data': {'blob': [4096, 2], 'type': 'f4_e2m1', 'dtype': 'u8'}},"
                               " 'shape': [3], 'layout': 'dense'}}}", &at), 8192, 0);
  memcpy(file.p+4096, "\x21\x1f", 2);
  open_bytes(&s.files[s.n++], file, "spare bits");
  q = supplied_request(&s, "x");
  number = supplied_add(&s, &q);
  supplied_fail(&s, number, "data", 0, SQLITE_ERROR,   /* The source's own rule */
                "ztensor: <blob>: object 'x': component 'data': the spare bits of the last byte, 0x1f, are not 0");
  supplied_end(&s);
}

/* --- Sparse tensors --- */

/* Rows of 4 columns: 3 0 | 2, with the values 1.5 -2 4. */
static recipe small_csr(const char *index, bool again){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { 2, 4 } };
  const unsigned width = named(index)->width, columns[] = { 3, again ? 3 : 0, 2 }, pointers[] = { 0, 2, 3 };
  blob indices = { 0 }, indptr = { 0 };
  for(size_t i=0; i<3; i++){
    put_bits(&indices, columns[i], width);
    put_bits(&indptr, pointers[i], width);
  }
  add_part(&r, "values", "f32", NULL, blob_of("0000c03f 000000c0 00008040"));
  add_part(&r, "indices", index, NULL, indices);
  add_part(&r, "indptr", index, NULL, indptr);
  return r;
}

static blob numbers(const char *dtype, size_t n, const unsigned *a){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_bits(&b, a[i], named(dtype)->width);
  return b;
}
#define NUMBERS(dtype, ...) numbers(dtype, COUNT(((const unsigned[]){ __VA_ARGS__ })), (const unsigned[]){ __VA_ARGS__ })

/* Columns ascend only where the target's rules ask for it. */
TEST(test_csr_is_kept_or_sorted){
  recipe r = small_csr("u64", false);
  supplied s;
  zt_supply_request q;
  zt_draft_object o;
  uint32_t number;
  q = supplied_alone(&s, &r);
  q.rules = ZT_RULE_U64_INDICES;
  number = supplied_add(&s, &q);
  zt_draft_object_get(s.draft, number, &o);
  assert_true(o.layout==ZT_LAYOUT_CSR && o.rank==2 && o.format.n==0);
  assert_int_equal(supplied_components(&s, number), 3);
  supplied_check(&s, number, "values", "f32", blob_of("0000c03f 000000c0 00008040"), 0);
  supplied_check(&s, number, "indices", "u64", NUMBERS("u64", 3, 0, 2), 0);
  supplied_check(&s, number, "indptr", "u64", NUMBERS("u64", 0, 2, 3), 0);
  supplied_check(&s, number, "values", "f32", blob_of("000000c0 0000c03f 00008040"), ZT_RULE_ORDER | ZT_RULE_CELLS_UNIQUE);
  supplied_check(&s, number, "indices", "u64", NUMBERS("u64", 0, 3, 2), ZT_RULE_ORDER | ZT_RULE_CELLS_UNIQUE);
  supplied_check(&s, number, "indptr", "u64", NUMBERS("u64", 0, 2, 3), ZT_RULE_ORDER | ZT_RULE_CELLS_UNIQUE);
  supplied_end(&s);
}

TEST(test_indices_of_4_bytes){
  for(int wide=0; wide<2; wide++){
    recipe r = small_csr("u32", false);
    supplied s;
    zt_supply_request q;
    uint32_t number;
    q = supplied_alone(&s, &r);
    q.rules = wide ? ZT_RULE_U64_INDICES : 0;
    number = supplied_add(&s, &q);
    supplied_check(&s, number, "indices", wide ? "u64" : "u32", NUMBERS(wide ? "u64" : "u32", 3, 0, 2), 0);
    supplied_check(&s, number, "indptr", wide ? "u64" : "u32", NUMBERS(wide ? "u64" : "u32", 0, 2, 3), 0);
    supplied_end(&s);
  }
}

TEST(test_values_of_sparse_tensors_are_cast){
  recipe r = small_csr("u64", false);
  supplied s;
  zt_supply_request q;
  uint32_t number;
  q = supplied_alone(&s, &r);
  q.as = named("f16");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "values", "f16", blob_of("003e 00c0 0044"), 0);
  supplied_check(&s, number, "values", "f16", blob_of("00c0 003e 0044"), ZT_RULE_ORDER);
  q.as = named("u8");
  q.name = ZT_TEXT("y");
  number = supplied_add(&s, &q);
  supplied_fail(&s, number, "values", 0, SQLITE_ERROR, "ztensor: <blob>: object 'x': stored element 1 is no value of u8");
  supplied_fail(&s, number, "values", ZT_RULE_ORDER, SQLITE_ERROR, "ztensor: <blob>: object 'x': stored element 1 is no value of u8");
  supplied_end(&s);
}

/* Where no two may lie in one cell, they are an error; in a dense tensor, they add up. */
TEST(test_two_stored_elements_in_one_cell){
  recipe r = small_csr("u64", true);
  supplied s;
  zt_supply_request q;
  uint32_t number;
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "values", "f32", blob_of("0000c03f 000000c0 00008040"), 0);
  supplied_fail(&s, number, "values", ZT_RULE_CELLS_UNIQUE, SQLITE_ERROR,
                "ztensor: <blob>: object 'x': two stored elements lie in one cell; format='dense' of zt_writer adds them");
  supplied_fail(&s, number, "values", ZT_RULE_CELLS_UNIQUE | ZT_RULE_ORDER, SQLITE_ERROR,
                "ztensor: <blob>: object 'x': two stored elements lie in one cell; format='dense' of zt_writer adds them");
  q.as = named("f16");   /* The sum of converted values may be another one */
  q.name = ZT_TEXT("f16");
  number = supplied_add(&s, &q);
  supplied_fail(&s, number, "values", 0, SQLITE_ERROR,
                "ztensor: <blob>: object 'x': two stored elements lie in one cell; format='dense' of zt_writer adds them");
  q.as = NULL;
  q.dense = true;
  q.name = ZT_TEXT("dense");
  number = supplied_add(&s, &q);
  assert_int_equal(supplied_components(&s, number), 1);
  supplied_check(&s, number, "data", "f32", blob_of("00000000 00000000 00000000 000000bf 00000000 00000000 00008040 00000000"), 0);
  supplied_check(&s, number, "data", "f32", blob_of("00000000 00000000 00000000 000000bf 00000000 00000000 00008040 00000000"), ALL_RULES);
  q.as = named("f16");
  q.name = ZT_TEXT("dense.f16");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "f16", blob_of("0000 0000 0000 00b8 0000 0000 0044 0000"), ALL_RULES);
  supplied_end(&s);
}

/* The source's own rule holds for what becomes dense, too. */
TEST(test_a_repeated_cell_that_the_source_forbids){
  supplied s;
  zt_supply_request q;
  supplied_begin(&s);
  supplied_path(&s, FORMATS "ztensor/hostile/2-L10-two.zt");
  q = supplied_request(&s, "w");
  q.dense = true;
  supplied_fail(&s, supplied_add(&s, &q), "data", 0, SQLITE_ERROR,
                "ztensor: " FORMATS "ztensor/hostile/2-L10-two.zt: object 'w': two stored elements lie in one cell");
  supplied_end(&s);
}

/* f8_e8m0 has no 0, which cells without a stored element of other types are. */
TEST(test_stored_elements_do_not_become_those_of_a_type_without_0){
  recipe r = small_csr("u64", false);
  supplied s;
  zt_supply_request q;
  q = supplied_alone(&s, &r);
  q.as = named("f8_e8m0");
  supplied_refuse(&s, &q, SQLITE_ERROR,
                  "ztensor: x.zt: object 'x': cells without a stored element are another number in f8_e8m0 than in f32; format='dense' of zt_writer converts them");
  supplied_end(&s);
}

/* More stored elements than a window holds, whose columns descend within each row. */
TEST(test_many_stored_elements){
  enum { ROWS = 70, COLUMNS = 300, MANY = ROWS*COLUMNS };
  for(int sorted=0; sorted<2; sorted++){
    recipe r = { .format = "sparse_csr", .rank = 2, .shape = { ROWS, 2*COLUMNS } };
    blob values = { 0 }, indices = { 0 }, indptr = { 0 }, v = { 0 }, i = { 0 }, p = { 0 };
    supplied s;
    zt_supply_request q;
    uint32_t number;
    for(unsigned row=0; row<=ROWS; row++){
      put_le64(&indptr, row*COLUMNS);
      put_le64(&p, row*COLUMNS);
      for(unsigned k=0; k<COLUMNS && row<ROWS; k++){
        const unsigned at = COLUMNS-1-k, expected = sorted ? k : at;
        put_bits(&values, row*COLUMNS+at, 4);
        put_le64(&indices, 2*at);
        put_bits(&v, row*COLUMNS+expected, 4);
        put_le64(&i, 2*expected);
      }
    }
    add_part(&r, "values", "u32", NULL, values);
    add_part(&r, "indices", "u64", NULL, indices);
    add_part(&r, "indptr", "u64", NULL, indptr);
    q = supplied_alone(&s, &r);
    number = supplied_add(&s, &q);
    supplied_check(&s, number, "values", "u32", v, sorted ? ALL_RULES : 0);
    supplied_check(&s, number, "indices", "u64", i, sorted ? ALL_RULES : 0);
    supplied_check(&s, number, "indptr", "u64", p, sorted ? ALL_RULES : 0);
    supplied_end(&s);
  }
}

TEST(test_coo_keeps_its_order){
  recipe r = { .format = "sparse_coo", .rank = 3, .shape = { 2, 3, 4 } };
  supplied s;
  zt_supply_request q;
  uint32_t number;
  add_part(&r, "values", "i16", NULL, blob_of("0700 ffff 0300"));
  add_part(&r, "coords", "u64", NULL, NUMBERS("u64", 1, 0, 1, /**/ 2, 0, 1, /**/ 3, 0, 3));
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  assert_int_equal(supplied_components(&s, number), 2);
  supplied_check(&s, number, "values", "i16", blob_of("0700 ffff 0300"), ALL_RULES);
  supplied_check(&s, number, "coords", "u64", NUMBERS("u64", 1, 0, 1, 2, 0, 1, 3, 0, 3), ALL_RULES);
  supplied_end(&s);
}

/* Those of 0.1, in one component, and ONNX's flat positions and rows of indices become components of the two layouts. */
TEST(test_other_ways_to_store_elements){
  recipe r = { .format = "sparsecsr", .rank = 2, .shape = { 2, 4 }, .old = true };
  supplied s;
  zt_supply_request q;
  zt_draft_object o;
  uint32_t number;
  blob joined = NUMBERS("u64", 0, 2, 3, /**/ 1, 3, 2);
  put_hex(&joined, "0000c03f 000000c0 00008040");
  add_part(&r, "data", "float32", NULL, joined);
  q = supplied_alone(&s, &r);
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "values", "f32", blob_of("0000c03f 000000c0 00008040"), ALL_RULES);
  supplied_check(&s, number, "indices", "u64", NUMBERS("u64", 1, 3, 2), ALL_RULES);
  supplied_check(&s, number, "indptr", "u64", NUMBERS("u64", 0, 2, 3), ALL_RULES);
  supplied_path(&s, FORMATS "onnx/golden/sparse_nodes.onnx");
  q = supplied_request(&s, "sp.linear");
  number = supplied_add(&s, &q);
  zt_draft_object_get(s.draft, number, &o);
  assert_true(o.layout==ZT_LAYOUT_COO && o.rank==2);
  supplied_check(&s, number, "values", "f32", blob_of("0000c03f 000000c0 00004040"), ALL_RULES);
  supplied_check(&s, number, "coords", "u64", NUMBERS("u64", 0, 1, 2, /**/ 1, 1, 3), ALL_RULES);
  q = supplied_request(&s, "sp.coords");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "values", "f64", blob_of("000000000000e03f 0000000000000080"), ALL_RULES);
  supplied_check(&s, number, "coords", "u64", NUMBERS("u64", 0, 2, /**/ 1, 0), ALL_RULES);
  supplied_end(&s);
}

TEST(test_layouts_that_no_format_holds){
  supplied s;
  zt_supply_request q;
  uint32_t number;
  supplied_begin(&s);
  supplied_path(&s, FORMATS "pytorch/golden/torch_2.7/csc.pt");
  q = supplied_request(&s, "m");
  supplied_refuse(&s, &q, SQLITE_ERROR,
                  "ztensor: x.zt: object 'm': no format holds 'torch.sparse_csc'; format='dense' of zt_writer writes it dense");
  q.dense = true;
  q.name = ZT_TEXT("dense");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "f32", assembled(&s.files[0], q.object, NULL, "csc"), ALL_RULES);
  supplied_end(&s);
}

/* No rule of the target is about the order of stored elements that become dense. */
TEST(test_rows_of_a_column_in_any_order_become_dense){
  static const uint8_t rows[16] = { [8] = 2 }, swapped[16] = { 2 };   /* 0 and 2: those of the first column */
  enum { AT = 1152 };
  blob file = read_file(FORMATS "pytorch/golden/torch_2.7/csc.pt");
  supplied s;
  zt_supply_request q;
  uint32_t number;
  assert_memory_equal(file.p+AT, rows, sizeof(rows));
  memcpy(file.p+AT, swapped, sizeof(swapped));
  supplied_begin(&s);
  open_bytes(&s.files[s.n++], file, "csc");
  q = supplied_request(&s, "m");
  q.dense = true;
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "f32", assembled(&s.files[0], q.object, NULL, "csc"), ALL_RULES);
  supplied_end(&s);
}

/* --- Quantized tensors and blocks --- */

TEST(test_quantized_components_are_copied){
  static const char *const roles[] = { "packed_weight", "scales", "zeros" };
  supplied s;
  zt_supply_request q;
  zt_draft_object o;
  blob file = read_file(V12 "hand_quantized.zt");
  uint32_t number;
  supplied_begin(&s);
  supplied_path(&s, V12 "hand_quantized.zt");
  q = supplied_request(&s, "model.layers.0.self_attn.q_proj");
  number = supplied_add(&s, &q);
  zt_draft_object_get(s.draft, number, &o);
  assert_true(o.layout==ZT_LAYOUT_QUANTIZED_GROUP && supplied_components(&s, number)==3);
  for(size_t i=0; i<COUNT(roles); i++){
    zt_component c;
    assert_true(zt_component_find(q.file.container, q.object, zt_text_of(roles[i]), &c));
    supplied_check(&s, number, roles[i], c.element->name, exact(file.p+c.offset, (size_t)c.length), ALL_RULES);
  }
  q.as = named("f16");
  q.name = ZT_TEXT("cast");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "f16", assembled(&s.files[0], q.object, q.as, "cast"), ALL_RULES);
  q.as = NULL;
  q.dense = true;
  q.name = ZT_TEXT("dense");
  number = supplied_add(&s, &q);
  supplied_check(&s, number, "data", "f32", assembled(&s.files[0], q.object, NULL, "dense"), ALL_RULES);
  supplied_end(&s);
  free(file.p);
}

TEST(test_blocks_are_copied){
  static const struct { const char *path, *object; } rows[] = {
    { FORMATS "gguf/golden/q_8_1_8_k.gguf", "int.q8_1" }, { FORMATS "gguf/golden/q_8_1_8_k.gguf", "int.q8_k" },   /* Without decoders */
    { FORMATS "gguf/golden/big_endian_q.gguf", NULL }, { FORMATS "gguf/golden/q_k.gguf", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob file = read_file(rows[i].path);
    supplied s;
    supplied_begin(&s);
    supplied_path(&s, rows[i].path);
    for(uint32_t k=0; k<zt_container_objects(s.files[0].container); k++){
      zt_supply_request q = supplied_number(&s, k);
      zt_draft_object o;
      zt_component c;
      zt_object from;
      uint32_t number;
      zt_container_object(q.file.container, k, &from);
      if( from.layout!=ZT_LAYOUT_GGML || (rows[i].object && !zt_text_equal(from.name, zt_text_of(rows[i].object))) ) continue;
      if( strstr(rows[i].path, "big_endian") ){
        supplied_refuse(&s, &q, SQLITE_ERROR, "ztensor: " FORMATS "gguf/golden/big_endian_q.gguf: object 'q8': the order of the bytes in a"
                        " big-endian file's blocks is not known");
        continue;
      }
      number = supplied_add(&s, &q);
      zt_draft_object_get(s.draft, number, &o);
      assert_true(o.layout==ZT_LAYOUT_GGML && o.blocks==from.blocks);
      zt_container_component(q.file.container, k, zt_container_first(q.file.container, k), ZT_COMPONENT_ALL, &c);
      supplied_check(&s, number, "data", "u8", exact(file.p+c.offset, (size_t)c.length), ALL_RULES);
    }
    supplied_end(&s);
    free(file.p);
  }
}

/* A file of zTensor 2 with one object of so many bytes in one part. */
static void open_zt2(supplied *s, const char *layout, const char *dtype, const char *shape, const char *more, blob data){
  char notation[500];
  size_t mark;
  blob file;
  snprintf(notation, sizeof(notation), "{'objects': {'x': {'parts': {'data': {'blob': [4096, %zu], 'dtype': %s%s}}, 'shape': [%s],"
           " 'layout': '%s'}}}", data.n, dtype, more, shape, layout);
  file = zt2_file(zt2_manifest(notation, &mark), 4096*(data.n/4096+2), 0);
  if( data.n ) memcpy(file.p+4096, data.p, data.n);
  free(data.p);
  open_bytes(&s->files[s->n++], file, notation);
}

static blob zeros(size_t n){
  blob b = { 0 };
  put_repeated(&b, 0, n);
  return b;
}

TEST(test_blocks_fill_the_rows){
  static const struct { const char *layout, *shape, *fault; size_t n; } rows[] = {
    { "gguf.q8_1/1", "2, 32", NULL, 72 },
    { "gguf.q8_1/1", "32, 2", "ztensor: x.zt: object 'x': its source is no whole number of blocks of q8_1", 72 },
    { "gguf.q8_1/1", "", "ztensor: x.zt: object 'x': its source is no whole number of blocks of q8_1", 36 },
    { "gguf.q8_1/1", "2, 32", "ztensor: x.zt: object 'x': its source has 71 bytes where blocks of q8_1 need 72", 71 },
    { "gguf.q8_0/1", "1, 32", NULL, 34 },
    { "gguf.q8_0/1", "1, 31", "ztensor: <blob>: object 'x': the last dimension, of 31, is no multiple of 32", 34 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    supplied s;
    zt_supply_request q;
    supplied_begin(&s);
    open_zt2(&s, rows[i].layout, "'u8'", rows[i].shape, "", zeros(rows[i].n));
    q = supplied_request(&s, "x");
    if( rows[i].fault ) supplied_refuse(&s, &q, SQLITE_ERROR, rows[i].fault);
    else supplied_check(&s, supplied_add(&s, &q), "data", "u8", zeros(rows[i].n), ALL_RULES);
    supplied_end(&s);
  }
}

/* A file of zTensor 2 with the object that the notation says. The bytes stand from 4096 on, before `end`. */
static zt_supply_request open_object(supplied *s, const char *object, const char *hex, size_t end){
  char notation[700];
  size_t mark;
  blob data = blob_of(hex), file;
  snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", object);
  file = zt2_file(zt2_manifest(notation, &mark), end, 0);
  memcpy(file.p+4096, data.p, data.n);
  free(data.p);
  supplied_begin(s);
  open_bytes(&s->files[s->n++], file, object);
  return supplied_request(s, "x");
}

/* An encoded part states any length. */
#define STATED(length) ", 'encoding': 'zt.zstd-seekable/1', 'decoded_length': " length "}"
#define MANY_INDICES "'indices': {'blob': [8192, 8], 'dtype': 'u32'" STATED("9223372036854775808")

TEST(test_sparse_tensors_of_more_than_2_64_bytes){
  static const struct { const char *object, *as, *message; unsigned rules; } rows[] = {
    { "'parts': {'coords': {'blob': [8192, 8], 'dtype': 'u32'" STATED("9223372036854775808") ","
      " 'values': {'blob': [4096, 8], 'dtype': 'u8'" STATED("2305843009213693952") "}, 'shape': [9], 'layout': 'zt.sparse_coo/1'", "f64",
      "ztensor: x.zt: object 'x': 2305843009213693952 elements of f64 are more than 2^64 bytes", 0 },
    { "'parts': {'indptr': {'blob': [12288, 8], 'dtype': 'u32'}, 'values': {'blob': [4096, 8], 'dtype': 'u8'" STATED("2305843009213693952")
      ", " MANY_INDICES "}, 'shape': [1, 9], 'layout': 'zt.sparse_csr/1'", "f64",
      "ztensor: x.zt: object 'x': 2305843009213693952 elements of f64 are more than 2^64 bytes", 0 },
    { "'parts': {'indptr': {'blob': [12288, 8], 'dtype': 'u32'}, 'values': {'blob': [4096, 8], 'dtype': 'u8'" STATED("2305843009213693952")
      ", " MANY_INDICES "}, 'shape': [1, 9], 'layout': 'zt.sparse_csr/1'", "u8",
      "ztensor: x.zt: object 'x': 2305843009213693952 elements of u64 are more than 2^64 bytes", ZT_RULE_U64_INDICES },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    supplied s;
    zt_supply_request q = open_object(&s, rows[i].object, "00", 16384);
    q.as = named(rows[i].as);
    q.rules = rows[i].rules;
    supplied_refuse(&s, &q, SQLITE_TOOBIG, rows[i].message);
    supplied_end(&s);
  }
}

/* The layouts of blocks bind neither parts nor lengths. */
TEST(test_blocks_that_are_not_sound){
  static const struct { const char *object, *message; } rows[] = {
    { "'parts': {'data': {'blob': [4096, 36], 'dtype': 'u8'}, 'more': {'blob': [8192, 4], 'dtype': 'u8'}}, 'shape': [32], 'layout': 'gguf.q8_1/1'",
      "ztensor: x.zt: object 'x': its source is no whole number of blocks of q8_1" },
    { "'parts': {'data': {'blob': [4096, 36], 'dtype': 'u8'}}, 'shape': [17293822569102704640], 'layout': 'gguf.q8_1/1'",
      "ztensor: x.zt: object 'x': its source is no whole number of blocks of q8_1" },
    { "'parts': {'data': {'blob': [4096, 36], 'dtype': 'u8', 'encoding': 'new/1', 'decoded_length': 36}}, 'shape': [32], 'layout': 'gguf.q8_1/1'",
      "ztensor: x.zt: object 'x': component 'data': encoding 'new/1' is not known" },
    { "'parts': {'more': {'blob': [4096, 34], 'dtype': 'u8'}}, 'shape': [32], 'layout': 'gguf.q8_0/1'",
      "ztensor: <blob>: object 'x': gguf.q8_0/1 needs a component 'data'" },
    { "'parts': {'data': {'blob': [4096, 36], 'type': 'new', 'dtype': 'u8'}}, 'shape': [32], 'layout': 'gguf.q8_1/1'",
      "ztensor: x.zt: object 'x': component 'data': type 'new' is not known" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    supplied s;
    zt_supply_request q = open_object(&s, rows[i].object, "00", 12288);
    supplied_refuse(&s, &q, SQLITE_ERROR, rows[i].message);
    supplied_end(&s);
  }
}

TEST(test_blocks_become_dense){
  supplied s;
  zt_supply_request q = open_object(&s, "'parts': {'data': {'blob': [4096, 34], 'dtype': 'u8'}}, 'shape': [32], 'layout': 'gguf.q8_0/1'",
                                    "0038 7f 80", 8192);   /* 0.5 times 127, -128, 0 ... */
  blob expected = blob_of("00007e42 000080c2");
  put_repeated(&expected, 0, 30*4);
  q.dense = true;
  supplied_check(&s, supplied_add(&s, &q), "data", "f32", expected, ALL_RULES);
  supplied_end(&s);
}

/* Components are copied in pieces, and those without bytes are read and checked nonetheless. */
TEST(test_long_and_empty_components_are_copied){
  static const struct { size_t blocks; const char *shape; } rows[] = { { 0, "0, 32" }, { 40000, "40000, 32" } };
  for(size_t i=0; i<COUNT(rows); i++){
    const size_t n = rows[i].blocks*34;
    supplied s;
    zt_supply_request q;
    zt_error err = ZT_ERROR_NONE;
    supplied_pieces got;
    blob data = zeros(n), expected = zeros(n);
    for(size_t k=0; k<n; k++) data.p[k] = expected.p[k] = (uint8_t)(k*k>>3);
    supplied_begin(&s);
    open_zt2(&s, "gguf.q8_0/1", "'u8'", rows[i].shape, "", data);
    q = supplied_request(&s, "x");
    supplied_read(&s, supplied_component(&s, supplied_add(&s, &q), "data").supply, 0, &got, &err);
    assert_succeeded(&err, rows[i].shape);
    check( got.n==(n+ZT_STREAM_PIECE-1)/ZT_STREAM_PIECE && same_blob(got.bytes, expected), "%zu bytes: %zu pieces", n, got.n );
    free(got.bytes.p);
    free(expected.p);
    supplied_end(&s);
  }
}

TEST(test_components_that_cannot_be_decoded){
  supplied s;
  zt_supply_request q = open_object(&s, "'parts': {'data': {'blob': [4096, 9], 'dtype': 'u8'" STATED("34") "}, 'shape': [32],"
                                    " 'layout': 'gguf.q8_0/1'", "0102", 8192);
  zt_error err = { .path = "x.zt" };
  supplied_pieces got;
  check( supplied_read(&s, supplied_component(&s, supplied_add(&s, &q), "data").supply, 0, &got, &err)==SQLITE_ERROR, "%d", err.rc );
  assert_failed(&err, "component 'data': zt.zstd-seekable/1: ", "not zstd");
  free(got.bytes.p);
  supplied_end(&s);
}

/* A column that no row has. It is found with whatever is read, and is no matter of two in one cell. */
TEST(test_stored_elements_outside){
  static const char *const roles[] = { "values", "indices", "indptr" };
  for(int way=0; way<3; way++){
    recipe r = small_csr("u64", false);
    supplied s;
    zt_supply_request q;
    uint32_t number;
    r.shape[1] = 3;
    q = supplied_alone(&s, &r);
    number = supplied_add(&s, &q);
    for(size_t i=0; i<COUNT(roles); i++){
      supplied_fail(&s, number, roles[i], way==0 ? 0 : way==1 ? ZT_RULE_CELLS_UNIQUE : ALL_RULES, SQLITE_ERROR,
                    "ztensor: <blob>: object 'x': column 3 in row 0, of 3 columns");
    }
    supplied_end(&s);
  }
}

TEST(test_what_no_row_can_have){
  static const uint64_t many = (uint64_t)1<<61;
  supplied s;
  zt_supply_request q;
  recipe r = { .format = "dense", .rank = 1, .shape = { 1 } };
  supplied_begin(&s);
  add_part(&r, "data", "f32", "complex64", blob_of("0000803f00000040"));
  supplied_recipe(&s, &r);
  q = supplied_request(&s, "x");
  q.as = named("f32");
  supplied_refuse(&s, &q, SQLITE_ERROR, "ztensor: x.zt: object 'x': complex64 is complex and cannot become f32");
  r = (recipe){ .format = "sparse_coo", .rank = 1, .shape = { many } };
  add_part(&r, "values", "u8", NULL, zeros(1));
  add_part(&r, "coords", "u64", NULL, zeros(8));
  supplied_recipe(&s, &r);
  q = supplied_request(&s, "x");
  q.dense = true;
  q.as = named("f64");
  supplied_refuse(&s, &q, SQLITE_TOOBIG, "ztensor: x.zt: object 'x': 2305843009213693952 elements of f64 are more than 2^64 bytes");
  supplied_end(&s);
}

int main(void){
  return run_all("supply", NULL, NULL);
}
