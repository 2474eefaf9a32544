/* core/cbor_write: what is put is read back as it was. */
#include "test.h"

#include "core/cbor_order.h"
#include "core/cbor_write.h"
#include "core/host.h"

static zt_error err;
static zt_cbor_out out;

static int setup(void **state){
  (void)state;
  err = ZT_ERROR_NONE;
  out = (zt_cbor_out){ .err = &err };
  return 0;
}

static int teardown(void **state){
  (void)state;
  zt_cbor_out_clear(&out);
  zt_error_clear(&err);
  return 0;
}

static void expect(const char *hex){
  char got[512] = "";
  for(size_t i=0; i<out.n; i++) sprintf(got+2*i, "%02x", out.p[i]);
  assert_string_equal(got, hex);
  zt_cbor_out_reset(&out);
}

TEST_WITH(test_numbers, setup, teardown){
  zt_cbor_put_int(&out, 0);
  zt_cbor_put_int(&out, -1);
  zt_cbor_put_int(&out, INT64_MIN);
  zt_cbor_put_uint(&out, UINT64_MAX);
  expect("00" "20" "3b7fffffffffffffff" "1bffffffffffffffff");
  zt_cbor_put_real(&out, 0.1);
  zt_cbor_put_bool(&out, true);
  zt_cbor_put_bool(&out, false);
  zt_cbor_put_null(&out);
  expect("fb3fb999999999999a" "f5" "f4" "f6");
}

TEST_WITH(test_a_bignum_is_an_integer_where_64_bits_hold_it, setup, teardown){
  static const uint8_t small[] = { 0, 0, 1, 0 }, large[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0 };
  zt_cbor_put_bignum(&out, false, (zt_span){ small, sizeof(small) });
  zt_cbor_put_bignum(&out, true, (zt_span){ small, sizeof(small) });
  zt_cbor_put_bignum(&out, false, (zt_span){ large, sizeof(large) });
  zt_cbor_put_bignum(&out, true, (zt_span){ large, sizeof(large) });
  expect("190100" "390100" "c249010000000000000000" "c349010000000000000000");
  zt_cbor_put_bignum(&out, false, (zt_span){ small, 2 });
  zt_cbor_put_bignum(&out, true, (zt_span){ small, 0 });
  expect("00" "20");
}

TEST_WITH(test_strings, setup, teardown){
  zt_cbor_put_text(&out, ZT_TEXT("ab"));
  zt_cbor_put_bytes(&out, (zt_span){ (const uint8_t*)"\xff", 1 });
  zt_cbor_put_name(&out, (zt_span){ (const uint8_t*)"\xc3\xa9", 2 });
  zt_cbor_put_name(&out, (zt_span){ (const uint8_t*)"\xc3", 1 });
  expect("626162" "41ff" "62c3a9" "41c3");
}

TEST_WITH(test_it_grows, setup, teardown){
  static uint8_t zeros[1000];
  zt_cbor_put_head(&out, ZT_CBOR_ARRAY, 2);
  zt_cbor_put_bytes(&out, (zt_span){ zeros, sizeof(zeros) });
  zt_cbor_put_items(&out, (zt_span){ zeros, 1 });
  assert_int_equal(out.n, 1+3+1000+1);
  assert_int_equal(out.p[1], 0x59);
}

/* Each key of a map is itself put by the caller, and may be anything. */
TEST_WITH(test_keys_that_are_put_twice, setup, teardown){
  static const struct { const char *key, *said; } rows[] = {
    { "6161", "key 'a' occurs twice" }, { "05", "a key of a map occurs twice" }, { "62", "a key of a map occurs twice" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob key = blob_of(rows[i].key);
    zt_cbor_order order;
    zt_cbor_opened map;
    zt_cbor_order_init(&order, &out, NULL);
    assert_true(zt_cbor_order_open(&order, true, &map));
    for(int k=0; k<2; k++){
      assert_true(zt_cbor_order_key(&order));
      zt_cbor_put_items(&out, span_of(key));
      assert_true(zt_cbor_order_value(&order));
      zt_cbor_put_null(&out);
    }
    zt_cbor_order_close(&order, &map);
    assert_false(zt_cbor_order_value(&order));
    assert_failed(&err, rows[i].said, rows[i].key);
    zt_cbor_order_clear(&order);
    zt_cbor_out_reset(&out);
    free(key.p);
  }
}

int main(void){
  return run_all("cbor_write", NULL, NULL);
}
