/* container/value_cbor and core/cbor_order: values become deterministic CBOR. */
#include "oom.h"
#include "cbor_value.h"

#include <math.h>
#include "container/value_cbor.h"
#include "core/cbor_order.h"

static blob hex_blob(const char *hex){
  blob b = { 0 };
  put_hex(&b, hex);
  return seal(&b);
}

static void assert_hex(zt_span got, const char *hex, const char *row){
  blob want = hex_blob(hex);
  for(size_t i=0; i<got.n && i<want.n; i++){
    check( got.p[i]==want.p[i], "%s: byte %zu is %02x, expected %02x", row, i, got.p[i], want.p[i] );
  }
  check( got.n==want.n, "%s: %zu bytes, expected %zu", row, got.n, want.n );
  free(want.p);
}

/* A strict decoder takes what was written. */
static void assert_deterministic(zt_span got, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c;
  zt_cbor_init(&c, got.p, got.n, &err);
  zt_cbor_make_strict(&c);
  c.max_depth = ZT_CBOR_MAX_DEPTH;
  zt_cbor_skip(&c);
  zt_cbor_finish(&c);
  assert_succeeded(&err, row);
}

/* CBOR of any encoding becomes a value, and that becomes deterministic CBOR. */
static int rewrite(zt_span cbor, const zt_interrupt *interrupt, zt_cbor_out *out){
  zt_error *err = out->err;
  zt_value value;
  zt_container *c = value_of_cbor(cbor, &value, err);
  if( c ) zt_value_cbor(c, &value, interrupt, out, err);
  zt_container_close(c);
  return err->rc;
}

static void expect(const char *from, const char *to){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  blob b = hex_blob(from);
  zt_cbor_put_null(&out);   /* Earlier bytes stay */
  rewrite(span_of(b), NULL, &out);
  assert_succeeded(&err, from);
  assert_int_equal(out.p[0], 0xf6);
  assert_hex((zt_span){ out.p+1, out.n-1 }, to, from);
  assert_deterministic((zt_span){ out.p+1, out.n-1 }, from);
  zt_cbor_out_clear(&out);
  free(b.p);
}

static void expect_failure(const char *from, const char *what){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  blob b = hex_blob(from);
  zt_cbor_put_null(&out);
  rewrite(span_of(b), NULL, &out);
  assert_failed(&err, what, from);
  assert_int_equal(out.n, 1);   /* Nothing was added */
  zt_cbor_out_clear(&out);
  free(b.p);
}

TEST(test_scalars){
  expect("f6", "f6");
  expect("f4", "f4");
  expect("f5", "f5");
  expect("f7", "f6");          /* undefined */
  expect("f8ff", "f6");        /* An unassigned simple value */
  expect("60", "60");
  expect("7803616263", "63616263");
  expect("7f 6161 626263 ff", "63616263");
  expect("40", "40");
  expect("590002 ff00", "42ff00");
}

TEST(test_integers_are_shortest){
  expect("00", "00");
  expect("1b 0000000000000017", "17");
  expect("1b 0000000000000018", "1818");
  expect("1900ff", "18ff");
  expect("1a00000100", "190100");
  expect("1b 000000000000ffff", "19ffff");
  expect("1b 0000000000010000", "1a00010000");
  expect("1b 00000000ffffffff", "1affffffff");
  expect("1b 0000000100000000", "1b0000000100000000");
  expect("1b ffffffffffffffff", "1bffffffffffffffff");
  expect("3b 0000000000000000", "20");
  expect("3b 7fffffffffffffff", "3b7fffffffffffffff");
  expect("3b ffffffffffffffff", "3bffffffffffffffff");   /* -2^64 */
}

TEST(test_floats_are_shortest){
  expect("fb 0000000000000000", "f90000");
  expect("fb 8000000000000000", "f98000");
  expect("fb 3ff0000000000000", "f93c00");
  expect("fb bff8000000000000", "f9be00");
  expect("fb 40effc0000000000", "f97bff");          /* 65504, the largest half */
  expect("fb 40f0000000000000", "fa47800000");      /* 65536 */
  expect("fb 3f10000000000000", "f90400");          /* 2^-14, the smallest normal half */
  expect("fb 3f0ff80000000000", "f903ff");          /* The largest subnormal half */
  expect("fb 3e70000000000000", "f90001");          /* 2^-24, the smallest half */
  expect("fb 3e60000000000000", "fa33000000");      /* 2^-25 */
  expect("fb 3e78000000000000", "fa33c00000");      /* 1.5 * 2^-24 */
  expect("fb 3ff0040000000000", "f93c01");
  expect("fb 3ff0020000000000", "fa3f801000");
  expect("fb 3ff0000020000000", "fa3f800001");
  expect("fb 3ff0000010000000", "fb3ff0000010000000");
  expect("fb 3fb999999999999a", "fb3fb999999999999a");
  expect("fb 36a0000000000000", "fa00000001");      /* The smallest float */
  expect("fb 3690000000000000", "fb3690000000000000");
  expect("fb 47efffffe0000000", "fa7f7fffff");      /* The largest float */
  expect("fb 47f0000000000000", "fb47f0000000000000");
  expect("fb 0000000000000001", "fb0000000000000001");
  expect("fa 7f800000", "f97c00");
  expect("fb fff0000000000000", "f9fc00");
  expect("fb fff8000000000001", "f97e00");
  expect("fa 7fc01234", "f97e00");
  expect("f9 7e01", "f97e00");
}

/* Every half, and the floats about each, as the strict decoder of core/cbor knows them. */
TEST(test_every_half){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  for(uint32_t half=0; half<0x10000; half++){
    uint8_t bytes[3] = { 0xf9, (uint8_t)(half>>8), (uint8_t)half };
    zt_cbor_item item;
    zt_cbor c;
    zt_cbor_init(&c, bytes, 3, &err);
    assert_true(zt_cbor_next(&c, &item));
    zt_cbor_out_reset(&out);
    zt_cbor_put_shortest(&out, item.real);
    if( isnan(item.real) ) bytes[1] = 0x7e, bytes[2] = 0;
    check( out.n==3 && memcmp(out.p, bytes, 3)==0, "half %04x", half );
    if( isnan(item.real) ) continue;
    for(int k=0; k<4; k++){
      double near = k<2 ? (double)nextafterf((float)item.real, k ? INFINITY : -INFINITY)
                        : nextafter(item.real, k==3 ? INFINITY : -INFINITY);
      zt_cbor_item back;
      zt_cbor_out_reset(&out);
      zt_cbor_put_shortest(&out, near);
      assert_deterministic((zt_span){ out.p, out.n }, "near a half");
      zt_cbor_init(&c, out.p, out.n, &err);
      assert_true(zt_cbor_next(&c, &back));
      check( back.is_float && memcmp(&back.real, &near, sizeof(near))==0, "near half %04x", half );
    }
  }
  zt_cbor_out_clear(&out);
}

TEST(test_arrays){
  expect("80", "80");
  expect("9fff", "80");
  expect("9f 01 9f 02 ff 80 ff", "83 01 8102 80");
  expect("9b0000000000000001 1800", "8100");
  expect("98 18 0000000000000000 0000000000000000 0000000000000000",
         "9818 0000000000000000 0000000000000000 0000000000000000");
  expect("82 9f 7f 6161 6162 ff ff a0", "82 81626162 a0");
}

TEST(test_maps_are_sorted){
  expect("a0", "a0");
  expect("bfff", "a0");
  expect("a2 6162 01 6161 02", "a2 6161 02 6162 01");
  expect("a3 626161 01 617a 02 60 03", "a3 60 03 617a 02 626161 01");   /* Shorter keys come first */
  expect("bf 20 01 1864 02 0a 03 6161 04 8120 05 f4 06 4101 07 ff",     /* RFC 8949 4.2.1 */
         "a7 0a 03 1864 02 20 01 4101 07 6161 04 8120 05 f4 06");
  expect("a2 6162 a2 6164 01 6163 02 6161 82 a2 02 02 01 01 05",
         "a2 6161 82 a2 01 01 02 02 05 6162 a2 6163 02 6164 01");
  expect("a1 a2 02 02 01 01 9f 01 ff", "a1 a2 01 01 02 02 8101");       /* A key is a map itself */
  expect("a2 82 02 01 00 9f 01 02 ff 01", "a2 82 01 02 01 82 02 01 00");
  expect("a2 1b0000000000000002 01 01 02", "a2 01 02 02 01");           /* Sorted as they are written */
}

TEST(test_keys_occur_once){
  expect_failure("a2 6161 01 6161 02", "key 'a' occurs twice");
  expect_failure("a3 6161 01 6162 03 6161 02", "key 'a' occurs twice");
  expect_failure("a2 7f 6161 ff 01 6161 02", "key 'a' occurs twice");
  expect_failure("a2 01 01 1b0000000000000001 02", "a key of a map occurs twice");
  expect_failure("81 a1 00 a2 f93c00 01 fb3ff0000000000000 02", "a key of a map occurs twice");
  expect_failure("a2 9f 01 ff 00 8101 00", "a key of a map occurs twice");
  expect("a3 00 00 f90000 00 6130 00", "a3 00 00 6130 00 f90000 00");   /* Of different types */
}

TEST(test_tags_cannot_be_kept){
  expect_failure("c1 01", "tag");
  expect_failure("d9d9f7 01", "tag");
  expect_failure("82 01 d8 2a 6161", "tag");
  expect_failure("a1 c1 01 02", "tag");
  expect_failure("a1 01 c1 8102", "tag");
  expect_failure("c2 4101", "tag");
}

TEST(test_integers_beyond_64_bits){
  expect_failure("c2 49 010000000000000000", "beyond 64 bits");
  expect_failure("c3 49 010000000000000000", "beyond 64 bits");
  expect_failure("81 c2 49 010000000000000000", "beyond 64 bits");
  expect_failure("a1 c3 49 010000000000000000 00", "beyond 64 bits");
}

/* A walk shows such keys as bytes. */
TEST(test_keys_in_keys){
  expect("a1 a1 01 02 03", "a1 a1 01 02 03");
  expect_failure("a1 a1 8101 02 03", "keys of bytes or arrays");
  expect_failure("a1 81 a1 4101 02 03", "keys of bytes or arrays");
  expect("a1 81 4101 03", "a1 81 4101 03");
  expect("a1 01 a1 4101 03", "a1 01 a1 4101 03");
}

static blob nested(const char *open, const char *inner, int levels){
  blob b = { 0 };
  for(int i=0; i<levels; i++) put_hex(&b, open);
  put_hex(&b, inner);
  return seal(&b);
}

TEST(test_depth){
  static const char *const opens[] = { "81", "a161 61" };
  for(size_t i=0; i<COUNT(opens); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_cbor_out out = { .err = &err };
    blob b = nested(opens[i], "00", ZT_CBOR_MAX_DEPTH), more = nested(opens[i], "00", ZT_CBOR_MAX_DEPTH+1);
    rewrite(span_of(b), NULL, &out);
    assert_succeeded(&err, opens[i]);
    assert_int_equal(out.n, b.n);
    assert_memory_equal(out.p, b.p, b.n);
    zt_cbor_out_reset(&out);
    rewrite(span_of(more), NULL, &out);
    assert_failed(&err, "64 levels", opens[i]);
    zt_cbor_out_clear(&out);
    free(b.p);
    free(more.p);
  }
}

/* Depth is bounded without a walk, too. */
TEST(test_open_levels){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  zt_cbor_opened opened;
  zt_cbor_order order;
  zt_cbor_order_init(&order, &out, NULL);
  for(int i=0; i<ZT_CBOR_MAX_DEPTH; i++){
    assert_true(zt_cbor_order_open(&order, i%2==1, &opened));
    assert_true(i%2==0 ? zt_cbor_order_item(&order, &opened) : zt_cbor_order_key(&order));
  }
  assert_false(zt_cbor_order_open(&order, false, &opened));
  assert_false(zt_cbor_order_key(&order));
  assert_false(zt_cbor_order_close(&order, &opened));
  assert_failed(&err, "nested deeper than 64 levels", "open levels");
  zt_cbor_order_clear(&order);
  zt_cbor_out_clear(&out);
}

/* An array of n empty maps, and a map of n keys in descending order. */
static blob large(uint32_t n){
  blob b = { 0 };
  put_array(&b, 2);
  put_array(&b, n);
  for(uint32_t i=0; i<n; i++) put_map(&b, 0);
  put_map(&b, n);
  for(uint32_t i=n; i-->0; ){
    put_uint(&b, i);
    put_uint(&b, i);
  }
  return seal(&b);
}

TEST(test_many_items){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  blob b = large(70000);
  rewrite(span_of(b), NULL, &out);
  assert_succeeded(&err, "large");
  assert_deterministic((zt_span){ out.p, out.n }, "large");
  assert_int_equal(out.n, b.n);
  assert_hex((zt_span){ out.p+70006, 8 }, "ba 00011170 0000 01", "the map begins with its least key");
  zt_cbor_out_clear(&out);
  free(b.p);
}

TEST(test_interrupts){
  blob b = large(1000);
  caller c = { 0, 0 };
  const zt_interrupt interrupt = { caller_stops, &c };
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  int asked;
  rewrite(span_of(b), &interrupt, &out);
  assert_succeeded(&err, "not interrupted");
  asked = c.asked;
  assert_true(asked>8);   /* Of the walk, and of sorting */
  for(int i=1; i<=asked; i++){
    c = (caller){ 0, i };
    zt_cbor_out_reset(&out);
    assert_int_equal(rewrite(span_of(b), &interrupt, &out), SQLITE_INTERRUPT);
    assert_int_equal(out.n, 0);
    zt_error_clear(&err);
  }
  zt_cbor_out_clear(&out);
  free(b.p);
}

/* Settings are texts and integers of 64 bits, without tags. */
TEST(test_plain_values){
  static const struct { const char *cbor; bool text, integer, natural; } rows[] = {
    { "6161", true, false, false }, { "c16161", false, false, false }, { "6162", false, false, false }, { "626161", false, false, false },
    { "05", false, true, true }, { "20", false, true, false }, { "c105", false, false, false }, { "c249010000000000000000", false, false, false },
    { "f6", false, false, false }, { "4161", false, false, false }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = hex_blob(rows[i].cbor);
    zt_value v;
    zt_container *c = value_of_cbor(span_of(b), &v, &err);
    check( zt_value_is_text(&v, "a")==rows[i].text, "%s", rows[i].cbor );
    check( zt_value_is_int(&v)==rows[i].integer && zt_value_is_uint(&v)==rows[i].natural, "%s", rows[i].cbor );
    zt_container_close(c);
    free(b.p);
  }
}

/* --- Memory --- */

static int rewrite_job(const job *j){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &err };
  const blob *b = j->context;
  if( rewrite(span_of(*b), NULL, &out)==SQLITE_OK ) assert_deterministic((zt_span){ out.p, out.n }, j->what);
  else assert_int_equal(out.n, 0);
  zt_cbor_out_clear(&out);
  return code_of(&err);
}

TEST_WITH(test_memory_runs_out, disarm, NULL){
  blob sorted = hex_blob("82 a2 6161 01 6162 02 9f ff"), unsorted = large(200), twice = hex_blob("a2 00 01 00 01");
  blob tagged = hex_blob("c1 00"), key = hex_blob("a1 a2 02 02 01 01 01");
  const job jobs[] = {
    { "sorted", rewrite_job, &sorted, SQLITE_OK, 4 }, { "unsorted", rewrite_job, &unsorted, SQLITE_OK, 6 },
    { "twice", rewrite_job, &twice, SQLITE_ERROR, 4 }, { "tagged", rewrite_job, &tagged, SQLITE_ERROR, 3 },
    { "a map as a key", rewrite_job, &key, SQLITE_OK, 4 },
  };
  for(size_t i=0; i<COUNT(jobs); i++) sweep(&jobs[i]);
  check_sweeps(2*COUNT(jobs), 40);
  free(sorted.p);
  free(unsorted.p);
  free(twice.p);
  free(tagged.p);
  free(key.p);
}

int main(void){
  return begin_sweeps() ? run_all("value_cbor", NULL, NULL) : 1;
}
