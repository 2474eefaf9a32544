/* Distinct names and where one is: core/keys.h; names for what is named alike: core/renamed_duplicates.h; keys of a CBOR map that stand
** twice: core/duplicate_keys.h. */
#include "test.h"

#include "core/renamed_duplicates.h"
#include "core/keys.h"
#include "core/duplicate_keys.h"
#include "core/item.h"
#include "core/u32_array.h"

/* --- Helpers --- */

/* Add the text whose item begins at byte `at`, every other one in line if that is possible. Returns whether it was there
** already. */
static bool add(zt_keys *k, blob b, size_t at){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c;
  zt_text text = { NULL, 0 };
  zt_key key;
  bool duplicate = true;
  zt_cbor_init_trusted(&c, span_of(b), at, 0, &err);
  assert_true(zt_cbor_text(&c, &text));
  key = (zt_key){ text.n ? (uint32_t)((const uint8_t*)text.z-b.p) : 0, (uint32_t)text.n };
  if( k->n%2==1 && zt_keys_add_last(k, b.p, key) ) return false;
  assert_int_equal(zt_keys_add(k, b.p, key, &duplicate, &err), SQLITE_OK);
  assert_succeeded(&err, "add");
  return duplicate;
}

/* True if a map with these two keys, then with both in a definite and an indefinite map, has a key twice. */
static bool twice_in_map(const char *a, const char *b){
  int result[2];
  for(int indefinite=0; indefinite<2; indefinite++){
    zt_error err = ZT_ERROR_NONE;
    blob m = { 0 };
    zt_cbor c;
    put_byte(&m, indefinite ? 0xBF : 0xA2);
    put_hex(&m, a);
    put_byte(&m, 0x05);
    put_hex(&m, b);
    put_byte(&m, 0x06);
    if( indefinite ) put_byte(&m, 0xFF);
    m = seal(&m);
    zt_cbor_init(&c, m.p, m.n, &err);
    result[indefinite] = !zt_cbor_skip_unique(&c, "S2", "this test's map");
    if( result[indefinite] ) assert_failed(&err, "a key stands twice in this test's map", a);
    else assert_succeeded(&err, a);
    assert_ptr_equal(c.p, c.end);
    free(m.p);
  }
  assert_int_equal(result[0], result[1]);
  return result[0];
}

static bool is_text(const char *hex){ return hex[0]=='6' || hex[0]=='7'; }

static bool twice_in_set(const char *a, const char *b){
  blob both = { 0 };
  zt_keys k = { 0 };
  bool duplicate;
  size_t second;
  put_hex(&both, a);
  second = both.n;
  put_hex(&both, b);
  both = seal(&both);
  assert_false(add(&k, both, 0));
  duplicate = add(&k, both, second);
  assert_int_equal(k.n, duplicate ? 1 : 2);
  assert_true(k.a[0].at<=9);
  zt_keys_clear(&k);
  free(both.p);
  return duplicate;
}

/* --- Equality by value --- */

/* Each row holds encodings of one value; no two rows have the same value. */
static const char *const values[][6] = {
  { "00", "1800", "190000", "1a00000000", "1b0000000000000000" },
  { "6130", "780130", "79000130", "7a0000000130", "7b000000000000000130" },   /* "0" */
  { "4130", "580130", "5b000000000000000130" },                               /* h'30' */
  { "01", "1801", "190001" },
  { "20", "3800", "390000", "3b0000000000000000" },                           /* -1 */
  { "21", "3801" },
  { "17", "1817" }, { "1818", "190018" }, { "1819" },
  { "1bffffffffffffffff" }, { "3bffffffffffffffff" }, { "1b8000000000000000" },
  { "f93c00", "fa3f800000", "fb3ff0000000000000" },                           /* 1.0, which is not 1 */
  { "f93e00", "fa3fc00000", "fb3ff8000000000000" },                           /* 1.5 */
  { "fa47c35000", "fb40f86a0000000000" },                                     /* 100000.0 */
  { "fb3ff199999999999a" },
  { "f90000", "fa00000000", "fb0000000000000000" },
  { "f98000", "fa80000000", "fb8000000000000000" },                           /* -0.0, another bit pattern */
  { "f97c00", "fa7f800000", "fb7ff0000000000000" }, { "f9fc00", "faff800000" },
  { "f90001", "fa33800000", "fb3e70000000000000" },                           /* 2^-24, a half's least */
  { "f4" }, { "f5" }, { "f6" }, { "f7" }, { "e0" }, { "f820" }, { "f8ff" },
  { "40", "5800" }, { "60", "7800", "790000" }, { "4100" }, { "6100" }, { "420000" },
  { "6161" }, { "6141" }, { "626161" }, { "62c3bc" }, { "6375cc88" },         /* u-umlaut, composed and not */
  { "80", "9800", "9fff" }, { "8100", "9f00ff", "98011800" }, { "820001", "9f0001ff" }, { "820100" },
  { "8180", "9f9fffff", "819fff" },
  { "818100", "9f8100ff", "819f00ff" }, { "81f93c00", "81fa3f800000" }, { "8101", "9f1801ff" }, { "8120" }, { "816130" },
  { "814130" },
  { "a0", "b800", "bfff" }, { "a10001", "bf0001ff", "b80118001801" }, { "a10100" }, { "a1a000", "bfbfff00ff" },
  { "a20001 0203" },
  { "a200a10001 0203", "bf00bf0001ff0203ff" }, { "a1616100" }, { "a1416100" },
  { "c100", "d80100", "d9000100", "c11800" }, { "c200" }, { "c101" }, { "c1c100", "c1d80100" }, { "c180", "c19fff" },
  { "81c100" }, { "c18100" },
  { "c24101" }, { "c34101" }, { "d9d9f700", "da0000d9f700" },
};

TEST(test_keys_are_equal_by_value_alone){
  size_t pairs = 0;
  for(size_t i=0; i<COUNT(values); i++){
    for(size_t a=0; a<COUNT(values[i]) && values[i][a]; a++){
      for(size_t j=0; j<COUNT(values); j++){
        for(size_t b=0; b<COUNT(values[j]) && values[j][b]; b++){
          if( is_text(values[i][a]) && is_text(values[j][b]) ){
            check( twice_in_set(values[i][a], values[j][b])==(i==j), "%s and %s", values[i][a], values[j][b] );
          }
          check( twice_in_map(values[i][a], values[j][b])==(i==j), "%s and %s", values[i][a], values[j][b] );
          pairs++;
        }
      }
    }
  }
  assert_true(pairs>10000);
}

/* The hashes of unequal keys are nearly always different, so that these are seldom compared. Items that are cut, or too deep, equal none. */
TEST(test_items_that_differ){
  static const struct { const char *a, *b; int depth; } rows[] = {
    { "", "00", 0 }, { "00", "", 0 }, { "00", "20", 0 }, { "f4", "f90000", 0 }, { "f90000", "f4", 0 }, { "820102", "8101", 0 },
    { "8101", "820102", 0 }, { "8101", "8102", 0 }, { "a10001", "a10002", 0 }, { "a10001", "a10101", 0 }, { "9f01ff", "9f0102ff", 0 },
    { "c100", "c200", 0 }, { "c100", "c101", 0 }, { "8261614161", "8261616161", 0 }, { "6161", "6162", 0 }, { "6161", "626161", 0 },
    { "80", "80", ZT_CBOR_MAX_DEPTH }, { "8101", "81", 0 }, { "81", "81", 0 }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob both[2] = { blob_of(rows[i].a), blob_of(rows[i].b) };
    zt_cbor a, b;
    for(int swapped=0; swapped<2; swapped++){
      zt_cbor_init_trusted(&a, span_of(both[swapped]), 0, swapped ? 0 : rows[i].depth, &err);
      zt_cbor_init_trusted(&b, span_of(both[!swapped]), 0, swapped ? rows[i].depth : 0, &err);
      check( !zt_item_equal(&a, &b), "%s and %s", rows[i].a, rows[i].b );
      zt_error_clear(&err);
    }
    free(both[0].p);
    free(both[1].p);
  }
}

TEST(test_what_is_no_item_has_no_hash){
  static const struct { const char *hex; int depth; } rows[] = { { "", 0 }, { "82", 0 }, { "80", ZT_CBOR_MAX_DEPTH } };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    zt_cbor c;
    zt_cbor_init_trusted(&c, span_of(b), 0, rows[i].depth, &err);
    assert_int_equal(zt_item_hash(&c, 7), 0);
    assert_int_equal(err.rc, SQLITE_ERROR);
    zt_error_clear(&err);
    free(b.p);
  }
}

/* All texts at once, then each encoding of each again. */
TEST(test_texts_of_every_head_in_one_set){
  blob all = { 0 };
  size_t at[COUNT(values)*6], n = 0, distinct = 0;
  zt_keys k = { 0 };
  for(size_t v=0; v<6; v++){
    for(size_t i=0; i<COUNT(values); i++){
      if( !values[i][v] || !is_text(values[i][v]) ) continue;
      distinct += v==0;
      at[n++] = all.n;
      put_hex(&all, values[i][v]);
    }
  }
  all = seal(&all);
  for(size_t i=0; i<n; i++) check( add(&k, all, at[i])==(i>=distinct), "key %zu", i );
  check( distinct==8 && n==distinct+6, "%zu, %zu", distinct, n );
  assert_int_equal(k.n, distinct);
  for(size_t i=0; i<distinct; i++) assert_true(k.a[i].n==0 || k.a[i].at>at[i]);
  zt_keys_clear(&k);
  free(all.p);
}

/* --- Texts in and out of order --- */

/* n names, those of `order` in its order (NULL: ascending); at[i] is where the i-th added one is. */
static blob names(size_t n, const size_t *order, size_t *at){
  blob b = { 0 };
  for(size_t i=0; i<n; i++){
    char z[32];
    snprintf(z, sizeof(z), "layer.%06zu", order ? order[i] : i);
    at[i] = b.n;
    put_text(&b, z);
  }
  return seal(&b);
}

static void shuffle(size_t *a, size_t n, uint64_t *seed){
  for(size_t i=0; i<n; i++) a[i] = i;
  for(size_t i=n; i>1; i--){
    size_t j = random_below(seed, i), x = a[i-1];
    a[i-1] = a[j];
    a[j] = x;
  }
}

TEST(test_every_key_is_found_and_no_other){
  static const size_t sizes[] = { 0, 1, 2, 3, 7, 8, 9, 10, 11, 15, 16, 17, 31, 32, 33, 100, 5000 };
  static const char *const missing[] = { "", "a", "layer", "layer.", "layer.00000", "layer.0000000", "layer.000000 ", "layer.9",
      "m", "\xF4\x8F\xBF\xBF" };
  uint64_t seed = 5;
  for(size_t s=0; s<COUNT(sizes); s++){
    for(int shuffled=0; shuffled<2; shuffled++){
      size_t n = sizes[s], *order = malloc((n+1)*sizeof(*order)), *at = malloc((n+1)*sizeof(*at));
      blob b;
      zt_keys k = { 0 };
      shuffle(order, n, &seed);
      b = names(n, shuffled ? order : NULL, at);
      for(size_t i=0; i<n; i++) assert_false(add(&k, b, at[i]));
      assert_int_equal(k.n, n);
      if( !shuffled ) assert_null(k.slots);
      if( shuffled && n>=31 ) assert_non_null(k.slots);
      for(size_t i=0; i<n; i++){
        char z[32];
        zt_text text;
        snprintf(z, sizeof(z), "layer.%06zu", shuffled ? order[i] : i);
        text = (zt_text){ z, strlen(z) };
        assert_int_equal(zt_keys_find(&k, b.p, text), i);
        assert_text(zt_keys_text(&k, b.p, (uint32_t)i), z, "text");
        text.n--;
        assert_int_equal(zt_keys_find(&k, b.p, text), -1);
        z[6] = '1';
        text.n++;
        assert_int_equal(zt_keys_find(&k, b.p, text), -1);
      }
      for(size_t i=0; i<COUNT(missing); i++){
        check( zt_keys_find(&k, b.p, (zt_text){ missing[i], strlen(missing[i]) })==-1, "%s", missing[i] );
      }
      zt_keys_clear(&k);
      assert_true(k.n==0 && !k.slots);
      free(b.p);
      free(at);
      free(order);
    }
  }
}

TEST(test_a_name_is_added_in_line_if_it_is_the_last){
  static const zt_key key[] = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 }, { 1, 2 } };   /* b, c, a, c, ca */
  static const uint8_t bytes[] = "bcac";
  zt_error err = ZT_ERROR_NONE;
  zt_keys k = { 0 };
  bool duplicate;
  assert_false(zt_keys_add_last(&k, bytes, key[0]));   /* There is no room yet */
  assert_int_equal(zt_keys_add(&k, bytes, key[0], &duplicate, &err), SQLITE_OK);
  assert_true(zt_keys_add_last(&k, bytes, key[1]));
  assert_false(zt_keys_add_last(&k, bytes, key[3]));   /* It is there */
  assert_false(zt_keys_add_last(&k, bytes, key[2]));   /* It sorts before */
  k.short_first = true;
  assert_false(zt_keys_add_last(&k, bytes, key[4]));
  k.short_first = false;
  assert_int_equal(k.n, 2);
  assert_int_equal(zt_keys_add(&k, bytes, key[2], &duplicate, &err), SQLITE_OK);
  assert_false(duplicate);
  assert_false(zt_keys_add_last(&k, bytes, key[4]));   /* A second run began: more names have to be compared */
  assert_int_equal(k.n, 3);
  assert_int_equal(zt_keys_find(&k, bytes, ZT_TEXT("c")), 1);
  zt_keys_clear(&k);
}

/* Every repeated key is found, after ascending keys and among hashed ones. */
TEST(test_a_repeated_name_is_seen_wherever_it_stands){
  uint64_t seed = 6;
  for(size_t n=1; n<40; n++){
    for(size_t twice=0; twice<n; twice++){
      for(int shuffled=0; shuffled<2; shuffled++){
        size_t order[40], at[41];
        char z[32];
        blob b;
        zt_keys k = { 0 };
        shuffle(order, n, &seed);
        b = names(n, shuffled ? order : NULL, at);
        snprintf(z, sizeof(z), "layer.%06zu", shuffled ? order[twice] : twice);
        at[n] = b.n;
        put_text(&b, z);
          for(size_t i=0; i<n; i++) assert_false(add(&k, b, at[i]));
        for(int again=0; again<3; again++){
          assert_true(add(&k, b, at[n]));
          assert_int_equal(k.n, n);
          assert_int_equal(zt_keys_find(&k, b.p, (zt_text){ z, strlen(z) }), twice);
        }
        zt_keys_clear(&k);
        free(b.p);
      }
    }
  }
}

/* Ascending keys, a lower one, and ascending ones again: the keys before the lower one are kept. */
TEST(test_order_may_be_lost_at_any_key){
  for(size_t before=1; before<60; before++){
    size_t order[61], at[61];
    blob b;
    zt_keys k = { 0 };
    for(size_t i=0; i<before; i++) order[i] = i+1;
    order[before] = 0;
    b = names(before+1, order, at);
    for(size_t i=0; i<before; i++) assert_false(add(&k, b, at[i]));
    assert_false(add(&k, b, at[before]));
    assert_null(k.slots);   /* It begins a run */
    for(size_t i=0; i<=before; i++){
      char z[32];
      snprintf(z, sizeof(z), "layer.%06zu", order[i]);
      assert_int_equal(zt_keys_find(&k, b.p, (zt_text){ z, strlen(z) }), i);
      assert_true(add(&k, b, at[i]));
    }
    zt_keys_clear(&k);
    free(b.p);
  }
}

/* Runs of ascending names, one within the other: as many as may be without a table, and more. A name that is there already,
** in whatever run, is seen, and is in no way of those that are added after it. */
TEST(test_names_that_ascend_in_runs){
  for(size_t runs=1; runs<=ZT_KEYS_RUNS+2; runs++){
    for(size_t length=1; length<=40; length+=13){
      size_t n = runs*length, *order = malloc(n*sizeof(*order)), *at = malloc(n*sizeof(*at));
      blob b;
      zt_keys k = { 0 };
      for(size_t r=0; r<runs; r++){
        for(size_t i=0; i<length; i++) order[r*length+i] = i*runs + (runs-1-r);
      }
      b = names(n, order, at);
      for(size_t i=0; i<n; i++){
        assert_false(add(&k, b, at[i]));
        for(size_t again=i%7; again<=i; again+=7) assert_true(add(&k, b, at[again]));
        assert_int_equal(k.n, i+1);
      }
      check( (k.slots==NULL)==(runs<=ZT_KEYS_RUNS), "%zu runs of %zu", runs, length );
      for(size_t i=0; i<n; i++){
        char z[32];
        snprintf(z, sizeof(z), "layer.%06zu", order[i]);
        assert_int_equal(zt_keys_find(&k, b.p, (zt_text){ z, strlen(z) }), i);
        snprintf(z, sizeof(z), "layer.%06zux", order[i]);
        assert_int_equal(zt_keys_find(&k, b.p, (zt_text){ z, strlen(z) }), -1);
      }
      zt_keys_clear(&k);
      free(b.p);
      free(order);
      free(at);
    }
  }
}

/* Names that are put in another order are found there: in the order of names, in runs, and in no order. Names that are added
** later are found to be new or repeated. */
TEST(test_names_that_are_put_in_another_order){
  uint64_t seed = 8;
  for(size_t n=1; n<200; n+=n<12 ? 1 : 47){
    for(int how=0; how<3; how++){
      size_t *order = malloc(n*sizeof(*order)), *at = malloc(n*sizeof(*at));
      zt_keys k = { 0 };
      blob b;
      shuffle(order, n, &seed);
      b = names(n, NULL, at);
      for(size_t i=0; i<n; i++) assert_false(add(&k, b, at[how==0 ? order[i] : i]));
      for(size_t i=0; i<n; i++){
        size_t to = how==0 ? i : how==1 ? (i+n/2)%n : order[i];
        k.a[i] = (zt_key){ (uint32_t)at[to]+1, 12 };
      }
      assert_int_equal(zt_keys_reordered(&k, b.p, &(zt_error){ 0 }), SQLITE_OK);
      for(size_t i=0; i<n; i++) assert_int_equal(zt_keys_find(&k, b.p, zt_keys_text(&k, b.p, (uint32_t)i)), i);
      assert_int_equal(zt_keys_find(&k, b.p, ZT_TEXT("layer.")), -1);
      for(size_t i=0; i<n; i++) assert_true(add(&k, b, at[i]));
      assert_int_equal(k.n, n);
      if( how==0 ) assert_null(k.slots);
      zt_keys_clear(&k);
      free(b.p);
      free(at);
      free(order);
    }
  }
}

/* A set of `n` names from at[first] on: without an order ascending, else in one that has no runs. */
static zt_keys set_of(blob b, const size_t *at, size_t first, size_t n, const size_t *order){
  zt_keys k = { 0 };
  for(size_t i=0; i<n; i++) assert_false(add(&k, b, at[first+(order ? order[i] : i)]));
  return k;
}

/* A set that ascends takes those of another one over that ascend behind its own, and refuses all others unchanged. */
TEST(test_a_set_is_appended_to_another){
  enum { N = 100 };
  static const struct { const char *what; size_t first, n, other_first, other_n, taken; bool mixed, other_mixed, appended; } rows[] = {
    { "to nothing", 0, 0, 0, 5, 5, false, false, true },
    { "directly behind", 0, 5, 5, 9, 9, false, false, true },
    { "with a gap", 0, 5, 40, 30, 30, false, false, true },
    { "a part", 0, 5, 5, 9, 3, false, false, true },
    { "none", 0, 5, 5, 9, 0, false, false, false },
    { "before", 10, 5, 0, 5, 5, false, false, false },
    { "with the last name again", 0, 5, 4, 5, 5, false, false, false },
    { "to what is in no order", 0, 50, 50, 5, 5, true, false, false },
    { "what is in no order", 0, 5, 5, 50, 50, false, true, false },
    { "what is in two runs", 0, 5, 8, 2, 2, false, true, false },
  };
  static const size_t swapped[] = { 1, 0 };
  size_t at[N], order[50];
  uint64_t seed = 11;
  blob b = names(N, NULL, at);
  shuffle(order, COUNT(order), &seed);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_keys k = set_of(b, at, rows[i].first, rows[i].n, rows[i].mixed ? order : NULL);
    zt_keys other = set_of(b, at, rows[i].other_first, rows[i].other_n, !rows[i].other_mixed ? NULL : rows[i].other_n==2 ? swapped : order);
    size_t n = rows[i].n + (rows[i].appended ? rows[i].taken : 0);
    check( zt_keys_append(&k, b.p, &other, (uint32_t)rows[i].taken)==rows[i].appended, "%s", rows[i].what );
    check( k.n==n, "%s: %u names", rows[i].what, (unsigned)k.n );
    for(size_t j=0; j<n; j++){
      size_t place = j<rows[i].n ? rows[i].first+(rows[i].mixed ? order[j] : j) : rows[i].other_first+j-rows[i].n;
      check( k.a[j].at==at[place]+1 && zt_keys_find(&k, b.p, zt_keys_text(&k, b.p, (uint32_t)j))==(int64_t)j, "%s: %zu", rows[i].what, j );
    }
    check( zt_keys_find(&k, b.p, ZT_TEXT("layer.000099"))==-1, "%s", rows[i].what );
    zt_keys_clear(&k);
    zt_keys_clear(&other);
  }
  free(b.p);
}

/* Names with heads longer than needed are found, too, in both kinds of set. */
TEST(test_names_with_long_heads){
  for(int descending=0; descending<2; descending++){
    static const char *const hex[] = { "780161", "79000162", "7a0000000163", "7b000000000000000164" };
    size_t at[4];
    blob b = { 0 };
    zt_keys k = { 0 };
    for(size_t i=0; i<4; i++){
      at[i] = b.n;
      put_hex(&b, hex[descending ? 3-i : i]);
    }
    b = seal(&b);
    for(size_t i=0; i<4; i++) assert_false(add(&k, b, at[i]));
    for(char name='a'; name<='d'; name++) assert_int_equal(zt_keys_find(&k, b.p, (zt_text){ &name, 1 }), descending
        ? 'd'-name : name-'a');
    zt_keys_clear(&k);
    free(b.p);
  }
}

/* --- Maps --- */

TEST(test_a_map_is_passed_over_whole){
  static const struct { const char *what, *hex; size_t n; } rows[] = {
    { "an empty map", "a0 00", 1 },
    { "an empty indefinite map", "bfff 00", 2 },
    { "text keys", "a2616100616201 00", 7 },
    { "keys and values of all kinds", "a5 00 80 80 a0 c100 c101 f6 f6 6161 7f6161ff 00", 17 },
    { "maps within are not judged", "a1 00 a2 00010002 00", 7 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    zt_cbor c;
    zt_cbor_init(&c, b.p, b.n, &err);
    check( zt_cbor_skip_unique(&c, "S2", "m"), "%s", rows[i].what );
    assert_succeeded(&err, rows[i].what);
    check( (size_t)(c.p - b.p)==rows[i].n, "%s: at %zu", rows[i].what, (size_t)(c.p - b.p) );
    assert_int_equal(c.depth, 0);
    free(b.p);
  }
}

TEST(test_what_is_wrong_with_a_map_is_said){
  static const struct { const char *what, *hex, *message; } rows[] = {
    { "no map", "80", "expected a map, found an array" },
    { "nothing", "", "expected a map, found the end of the manifest" },
    { "a key twice at once", "a2 00 01 00 01", "manifest byte 3: a key stands twice in m" },
    { "a key twice after others", "a4 00 01 02 03 04 05 1800 01", "manifest byte 7: a key stands twice in m" },
    { "a text twice in order", "a2 6161 01 6161 01", "manifest byte 4: a key stands twice in m" },
    { "a text twice out of order", "a3 6162 01 6161 01 6162 01", "manifest byte 7: a key stands twice in m" },
    { "a bad key", "a1 1c 01", "manifest byte 1: reserved initial byte 0x1c" },
    { "a bad value", "a1 00 1c", "manifest byte 2: reserved initial byte 0x1c" },
    { "a key cut off", "bf 00 00 19", "the manifest ends in the middle of an item" },
    { "no break", "bf 00 00", "the manifest ends in the middle of an item" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    zt_cbor c;
    zt_cbor_init(&c, b.p, b.n, &err);
    check( !zt_cbor_skip_unique(&c, "S2", "m"), "%s", rows[i].what );
    assert_failed(&err, rows[i].message, rows[i].what);
    free(b.p);
  }
}

/* Keys in chunks are compared after the join. */
TEST(test_keys_in_chunks_are_left_for_later){
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("a2 7f6161ff 00 6161 01");
  zt_cbor c;
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_cbor_skip_unique(&c, "S2", "m"));
  assert_true(c.chunked);
  b.n = zt_cbor_join(b.p, b.n, NULL, &err);
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_false(zt_cbor_skip_unique(&c, "S2", "m"));
  assert_failed(&err, "a key stands twice in m", "joined");
  free(b.p);
}

/* --- Many keys --- */

/* That many keys are distinct, and found to be in a time that a chain of all of them would exceed by far. */
static void assert_distinct(uint32_t n, void (*put_key)(blob *b, uint32_t i)){
  zt_error err = ZT_ERROR_NONE;
  blob b = { 0 };
  zt_cbor c;
  put_map(&b, n);
  for(uint32_t i=0; i<n; i++){
    put_key(&b, i);
    put_byte(&b, 0xF6);
  }
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_cbor_skip_unique(&c, "S2", "m"));
  free(b.p);
}

static void put_scattered_name(blob *b, uint32_t i){
  char z[32];
  snprintf(z, sizeof(z), "%08x.weight", i*2654435761u);
  put_text(b, z);
}

static void put_ascending_name(blob *b, uint32_t i){
  char z[32];
  snprintf(z, sizeof(z), "%08x.weight", i);
  put_text(b, z);
}

static void put_descending_name(blob *b, uint32_t i){
  put_ascending_name(b, UINT32_MAX-i);
}

static void put_number(blob *b, uint32_t i){ put_uint(b, i); }
static void put_high_number(blob *b, uint32_t i){ put_uint(b, (uint64_t)i<<32); }
static void put_number_in_an_array(blob *b, uint32_t i){ put_array(b, 1); put_high_number(b, i); }
static void put_tag_number(blob *b, uint32_t i){ put_head(b, ZT_CBOR_TAG, (uint64_t)i<<32); put_uint(b, 0); }
static void put_real(blob *b, uint32_t i){
  double r = i;
  uint64_t u;
  memcpy(&u, &r, 8);
  put_byte(b, 0xFB);
  for(int k=0; k<8; k++) put_byte(b, (unsigned)(u >> 8*(7-k) & 0xFF));
}

TEST(test_a_hundred_thousand_keys_take_no_time){
  assert_distinct(100000, put_ascending_name);
  assert_distinct(100000, put_scattered_name);
  assert_distinct(100000, put_descending_name);
  assert_distinct(100000, put_number);
}

/* Keys whose lower bits are all the same are as fast as others: doubles, for one, that are whole numbers. */
TEST(test_no_kind_of_key_is_slow){
  assert_distinct(100000, put_real);
  assert_distinct(100000, put_high_number);
  assert_distinct(100000, put_number_in_an_array);
  assert_distinct(100000, put_tag_number);
}

/* A map of n shuffled names of 8 digits, those at `twice` (n: none) and before it being the same; where each key stands. */
static blob shuffled(uint32_t n, uint32_t first, uint32_t twice, size_t *at){
  blob b = { 0 };
  put_map(&b, n);
  for(uint32_t i=0; i<n; i++){
    char z[16];
    if( i==twice ) *at = b.n;
    snprintf(z, sizeof(z), "%08x", (i==twice ? first : i)*2654435761u);
    put_text(&b, z);
    put_byte(&b, 0xF6);
  }
  return b;
}

/* Keys in order take none; of others, no more are gathered at once than half of the manifest's bytes have room for. */
TEST(test_memory_is_bounded){
  static const struct { uint32_t n; size_t most; } rows[] = { { 32, 0 }, { 33, 33*8 }, { 65536, 65536*8 }, { 400000, 400000*10/2 } };
  for(size_t i=0; i<COUNT(rows); i++){
    size_t at = 0, more = 0;
    blob b = shuffled(rows[i].n, 0, rows[i].n, &at);
    zt_error err = ZT_ERROR_NONE;
    sqlite3_int64 before = sqlite3_memory_used(), most;
    zt_cbor c;
    zt_cbor_init(&c, b.p, b.n, &err);
    sqlite3_memory_highwater(1);
    check( zt_cbor_skip_unique(&c, "S2", "m"), "%u", rows[i].n );
    most = sqlite3_memory_highwater(0)-before;
    more = most>0 ? 64 : 0;   /* SQLite's own allocations, and its first random number */
    check( most<=(sqlite3_int64)(rows[i].most+more), "%u: %lld bytes", rows[i].n, (long long)most );
    assert_int_equal(sqlite3_memory_used(), before);
    free(b.p);
  }
}

/* In whatever part of all keys it is. */
TEST(test_the_first_key_that_stands_twice_is_named){
  const uint32_t n = 200000;
  uint64_t seed = 5;
  for(int round=0; round<12; round++){
    uint32_t twice = 1+(uint32_t)random_below(&seed, n-1), first = (uint32_t)random_below(&seed, twice);
    size_t at = 0;
    blob b = shuffled(n, first, twice, &at);
    zt_error err = ZT_ERROR_NONE;
    char message[80];
    zt_cbor c;
    if( round%2 ) memcpy(b.p+b.n-10, b.p+5, 10);   /* The last key is the first one: not the first that is there twice */
    zt_cbor_init(&c, b.p, b.n, &err);
    assert_false(zt_cbor_skip_unique(&c, "S2", "m"));
    snprintf(message, sizeof(message), "manifest byte %zu: a key stands twice in m", at);
    assert_failed(&err, message, "shuffled");
    free(b.p);
  }
}

/* Keys of their own positions, of which the last may be the first again. All hashes lie in the lower half of their range. */
typedef struct crowd {
  size_t n, next, twice;   /* twice: the key that equals the first one */
  int passes;
} crowd;

static void crowd_rewind(void *context){
  crowd *c = context;
  c->next = 0;
  c->passes++;
}

static bool crowd_next(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  crowd *c = context;
  const uint64_t key = c->next==c->twice ? 0 : c->next;
  (void)seed;
  *at = c->next;
  *hash = key<<32 | (uint32_t)(key*30000);
  return c->next++<c->n;
}

static bool crowd_equal(void *context, size_t a, size_t b){
  const crowd *c = context;
  return a==0 && b==c->twice;
}

/* A part of the range may have more keys than room: then the parts are made smaller, unless a key was found that stands twice. */
TEST(test_hashes_that_crowd){
  static const struct { size_t twice, found; bool again; } rows[] = {
    { SIZE_MAX, SIZE_MAX, true }, { 69999, 69999, true }, { 100, 100, false }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    crowd c = { 70000, 0, rows[i].twice, 0 };
    const zt_duplicate_keys keys = { crowd_rewind, crowd_next, crowd_equal, &c, c.n, 100000, NULL, &err };
    size_t found;
    assert_int_equal(zt_duplicate_keys_find(&keys, &found), SQLITE_OK);
    assert_true(found==rows[i].found);
    check( c.passes==(rows[i].again ? 5 : 2), "%zu: %d", i, c.passes );   /* One of 2 parts and all of 4, or 2 parts */
  }
}

/* The caller adds the names one by one then. */
TEST(test_no_memory_for_a_set_that_is_appended){
  size_t at[20];
  blob b = names(20, NULL, at);
  zt_keys k = set_of(b, at, 0, 5, NULL), other = set_of(b, at, 5, 15, NULL);
  sqlite3_hard_heap_limit64(1);
  assert_false(zt_keys_append(&k, b.p, &other, 15));
  sqlite3_hard_heap_limit64(0);
  assert_int_equal(k.n, 5);
  assert_true(zt_keys_append(&k, b.p, &other, 15) && k.n==20);
  zt_keys_clear(&k);
  zt_keys_clear(&other);
  free(b.p);
}

/* Numbers of names beyond 32 bits are not expected: nothing is reserved for them. */
TEST(test_room_for_too_many){
  zt_keys k = { 0 };
  zt_u32_array a = { 0 };
  zt_keys_reserve(&k, (uint64_t)1<<32);
  zt_u32_array_reserve(&a, (uint64_t)1<<32);
  assert_true(k.capacity==0 && a.capacity==0);
  assert_true(zt_u32_array_room(&a, 0) && zt_u32_array_room(&a, 5) && a.capacity>=5);
  assert_true(zt_u32_array_room(&a, 1));
  zt_u32_array_clear(&a);
}

/* Many that are all the same take no longer. */
TEST(test_one_key_many_times){
  zt_error err = ZT_ERROR_NONE;
  blob b = { 0 };
  zt_cbor c;
  put_map(&b, 300000);
  for(uint32_t i=0; i<300000; i++){
    put_uint(&b, 7);
    put_byte(&b, 0xF6);
  }
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_false(zt_cbor_skip_unique(&c, "S2", "m"));
  assert_failed(&err, "manifest byte 7: a key stands twice in m", "the same");
  free(b.p);
}

/* The name that the next thing gets which is named as key i is. */
static char *next_name(zt_renamed *d, const zt_keys *k, blob b, uint32_t i){
  zt_error err = ZT_ERROR_NONE;
  zt_text out = { NULL, 0 };
  assert_int_equal(zt_renamed_name(d, k, b.p, zt_keys_text(k, b.p, i), &out, &err), SQLITE_OK);
  assert_succeeded(&err, "a name");
  char *name = malloc(out.n+1);
  assert_non_null(name);
  memcpy(name, out.z, out.n);
  name[out.n] = 0;
  return name;
}

TEST(test_what_is_named_alike_gets_numbers){
  static const char *const names[] = { "a", "", "a#3", "b" };
  static const struct { uint32_t i; const char *name; } asked[] = {
    { 3, "b#2" }, { 0, "a#2" }, { 0, "a#4" }, { 1, "#2" }, { 3, "b#3" }, { 2, "a#3#2" }, { 0, "a#5" }
  };
  zt_renamed d = { 0 };
  zt_keys k = { 0 };
  blob b = { 0 };
  size_t at[COUNT(names)];
  for(size_t i=0; i<COUNT(names); i++){
    at[i] = b.n;
    put_text(&b, names[i]);
  }
  b = seal(&b);
  for(size_t i=0; i<COUNT(names); i++) assert_false(add(&k, b, at[i]));
  for(size_t i=0; i<COUNT(asked); i++){
    char *name = next_name(&d, &k, b, asked[i].i);
    assert_string_equal(name, asked[i].name);
    free(name);
  }
  zt_renamed_clear(&d);
  zt_keys_clear(&k);
  free(b.p);
}

int main(void){
  return run_all("keys", NULL, NULL);
}
