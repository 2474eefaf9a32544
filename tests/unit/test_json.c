/*
** JSON text, and what CBOR becomes of it: core/json.h, container/value.h, container/manifest.h.
**
** Numbers must not depend on the host's locale. The tests of that need none but "C": json.c and value.c are compiled into
** this program a second time, with a C library whose decimal point is a comma, or two bytes long. test_locale.c takes a real one.
*/
#include "real_text.h"

#include <locale.h>
#include <math.h>
#include "core/json.h"
#include "items.h"

/* --- A C library of another country --- */

static const char *foreign_point = ",";

static struct lconv *foreign_localeconv(void){
  static struct lconv l;
  static char point[8];
  snprintf(point, sizeof(point), "%s", foreign_point);
  l.decimal_point = point;
  return &l;
}

/* Replace the first `from` in z, which has room, with `to`. */
static void exchange(char *z, const char *from, const char *to){
  char *at = strstr(z, from);
  if( !at ) return;
  memmove(at+strlen(to), at+strlen(from), strlen(at+strlen(from))+1);
  memcpy(at, to, strlen(to));
}

static int foreign_snprintf(char *z, size_t n, const char *format, int digits, double r){
  int length;
  assert_true(n>=32);
  length = snprintf(z, n, format, digits, r);
  exchange(z, ".", foreign_point);
  return length;
}

static double foreign_strtod(const char *z, char **end){
  char point[400];
  assert_null(end);
  assert_null(strchr(z, '.'));   /* Only digits written by this library may be read by it */
  snprintf(point, sizeof(point), "%s", z);
  exchange(point, foreign_point, ".");
  return strtod(point, NULL);
}

#undef skip   /* cmocka's */
#define zt_json_text foreign_json_text
#define zt_json_bytes foreign_json_bytes
#define zt_hex foreign_hex
#define zt_json_real foreign_json_real
#define zt_json_uint foreign_json_uint
#define zt_json_bignum foreign_json_bignum
#define zt_value_json foreign_value_json
#define zt_value_name foreign_value_name
int zt_value_name(const zt_container *c, const zt_value *key, const zt_interrupt *interrupt, sqlite3_str *out, zt_error *err);
#define zt_value_integer foreign_value_integer
#define zt_value_is_text foreign_value_is_text
#define zt_walk_begin foreign_walk_begin
#define zt_walk_end foreign_walk_end
#define zt_walk_next foreign_walk_next
#define zt_walk_enter foreign_walk_enter
#define zt_walk_room foreign_walk_room
#define zt_walk_stored_type foreign_walk_stored_type
#define localeconv foreign_localeconv
#define snprintf foreign_snprintf
#define strtod foreign_strtod
#include "core/json.c"
#include "container/value.c"
#undef zt_json_text
#undef zt_json_bytes
#undef zt_hex
#undef zt_json_real
#undef zt_json_uint
#undef zt_json_bignum
#undef zt_value_json
#undef zt_value_name
#undef zt_value_integer
#undef zt_value_is_text
#undef zt_walk_begin
#undef zt_walk_end
#undef zt_walk_next
#undef zt_walk_enter
#undef zt_walk_room
#undef zt_walk_stored_type
#undef localeconv
#undef snprintf
#undef strtod

/* --- Helpers --- */

typedef void (*writer)(sqlite3_str *out, zt_cbor *c);

/* The JSON that `write` makes of the bytes, all of which it must take; the caller frees it. */
static char *written(blob b, writer write){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor c;
  char *z;
  zt_cbor_init(&c, b.p, b.n, &err);
  write(out, &c);
  assert_succeeded(&err, "JSON");
  assert_ptr_equal(c.p, c.end);
  assert_int_equal(c.depth, 0);
  assert_int_equal(sqlite3_str_errcode(out), SQLITE_OK);
  z = sqlite3_str_finish(out);
  return z ? z : sqlite3_mprintf("");
}

static void assert_json(const char *hex, const char *expected, writer write){
  blob b = blob_of(hex);
  char *z = written(b, write);
  check( strcmp(z, expected)==0, "%s: '%s', expected '%s'", hex, z, expected );
  sqlite3_free(z);
  free(b.p);
}

/* True if SQLite reads it as JSON. */
static bool is_json(const char *z){
  sqlite3 *db;
  sqlite3_stmt *statement;
  bool valid;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_valid(?)", -1, &statement, NULL), SQLITE_OK);
  sqlite3_bind_text(statement, 1, z, -1, SQLITE_STATIC);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  valid = sqlite3_column_int(statement, 0)!=0;
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return valid;
}

static double double_of(uint64_t bits){
  double r;
  memcpy(&r, &bits, 8);
  return r;
}

/* --- Items of all kinds --- */

TEST(test_items_of_all_kinds){
  static const struct { const char *hex, *json; } rows[] = {
    { "00", "0" }, { "17", "23" }, { "1bffffffffffffffff", "18446744073709551615" },
    { "1b8000000000000000", "9223372036854775808" },
    { "20", "-1" }, { "3b7fffffffffffffff", "-9223372036854775808" }, { "3bffffffffffffffff", "-18446744073709551616" },
    { "3bfffffffffffffffe", "-18446744073709551615" }, { "38ff", "-256" },
    { "40", "\"\"" }, { "4300abff", "\"00abff\"" }, { "60", "\"\"" }, { "6161", "\"a\"" }, { "62c3bc", "\"\xC3\xBC\"" },
    { "64f0908591", "\"\xF0\x90\x85\x91\"" },
    { "80", "[]" }, { "8101", "[1]" }, { "83010203", "[1,2,3]" }, { "8301820203820405", "[1,[2,3],[4,5]]" },
    { "9fff", "[]" }, { "9f018202039f0405ffff", "[1,[2,3],[4,5]]" },
    { "a0", "{}" }, { "bfff", "{}" }, { "a26161016162820203", "{\"a\":1,\"b\":[2,3]}" },
    { "bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}" },
    { "f4", "false" }, { "f5", "true" }, { "f6", "null" }, { "f7", "null" }, { "e0", "null" }, { "f3", "null" },
    { "f8ff", "null" }, { "f820", "null" },
    { "c000", "0" }, { "c074323031332d30332d32315432303a30343a30305a", "\"2013-03-21T20:04:00Z\"" }, { "d9d9f7c1c0f5", "true" },
    { "c18200c102", "[0,2]" }, { "d74401020304", "\"01020304\"" },
    { "f90000", "0.0" }, { "f98000", "-0.0" }, { "f93c00", "1.0" }, { "f93e00", "1.5" }, { "f97bff", "65504.0" },
    { "fa47c35000", "100000.0" },
    { "fb7e37e43c8800759c", "1e+300" }, { "fbc010666666666666", "-4.1" }, { "fa7f7fffff", "3.4028234663852886e+38" },
    { "f97c00", "9.0e+999" }, { "faff800000", "-9.0e+999" }, { "fb7ff0000000000000", "9.0e+999" }, { "f97e00", "null" },
    { "fbfff8000000000001", "null" },
    { "c249010000000000000000", "18446744073709551616" }, { "c349010000000000000000", "-18446744073709551617" },
    { "c240", "0" }, { "c340", "-1" }, { "c24100", "0" }, { "c34100", "-1" }, { "c241ff", "255" }, { "c341ff", "-256" },
    { "c24400000001", "1" },
    { "c25802012c", "300" },
    { "c201", "1" }, { "c26161", "\"a\"" }, { "c2c24101", "1" }, { "c2c14101", "\"01\"" }, { "c1c24101", "1" },
    { "c4820203", "[2,3]" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    assert_json(rows[i].hex, rows[i].json, json_item);
    check( is_json(rows[i].json), "%s", rows[i].json );
  }
}

TEST(test_escapes){
  for(unsigned u=0; u<0x80; u++){
    char hex[16], expected[32];
    snprintf(hex, sizeof(hex), "6361%02x7a", u);
    if( u=='"' || u=='\\' ) snprintf(expected, sizeof(expected), "\"a\\%cz\"", (int)u);
    else if( u=='\n' ) snprintf(expected, sizeof(expected), "\"a\\nz\"");
    else if( u=='\r' ) snprintf(expected, sizeof(expected), "\"a\\rz\"");
    else if( u=='\t' ) snprintf(expected, sizeof(expected), "\"a\\tz\"");
    else if( u<0x20 ) snprintf(expected, sizeof(expected), "\"a\\u%04xz\"", u);
    else snprintf(expected, sizeof(expected), "\"a%cz\"", (int)u);
    assert_json(hex, expected, json_item);
    assert_true(is_json(expected));
  }
  assert_json("66 22 5c 0a 00 22 22", "\"\\\"\\\\\\n\\u0000\\\"\\\"\"", json_item);
  assert_json("63 e280a8", "\"\xE2\x80\xA8\"", json_item);   /* U+2028 needs none in JSON */
}

TEST(test_long_byte_strings){
  static const size_t lengths[] = { 255, 256, 257, 511, 512, 513, 5000 };
  for(size_t l=0; l<COUNT(lengths); l++){
    blob b = { 0 };
    char *z;
    put_head(&b, ZT_CBOR_BYTES, lengths[l]);
    for(size_t i=0; i<lengths[l]; i++) put_byte(&b, (unsigned)(i*7 & 0xFF));
    z = written(b, json_item);
    assert_int_equal(strlen(z), 2*lengths[l]+2);
    for(size_t i=0; i<lengths[l]; i++){
      char two[3];
      snprintf(two, sizeof(two), "%02x", (unsigned)(i*7 & 0xFF));
      assert_memory_equal(z+1+2*i, two, 2);
    }
    sqlite3_free(z);
    free(b.p);
  }
}

/* --- Keys --- */

TEST(test_keys_of_every_kind){
  static const struct { const char *hex, *key, *member; } rows[] = {   /* The member's value is 1 */
    { "60", "", "\"\":1" },
    { "6161", "a", "\"a\":1" },
    { "63610a22", "a\n\"", "\"a\\n\\\"\":1" },
    { "4201ff", "01ff", "\"01ff\":1" },
    { "40", "", "\"\":1" },
    { "00", "0", "\"0\":1" },
    { "20", "-1", "\"-1\":1" },
    { "3bffffffffffffffff", "-18446744073709551616", "\"-18446744073709551616\":1" },
    { "f4", "false", "\"false\":1" },
    { "f5", "true", "\"true\":1" },
    { "f6", "null", "\"null\":1" },
    { "f7", "null", "\"null\":1" },
    { "f93e00", "1.5", "\"1.5\":1" },
    { "f97e00", "null", "\"null\":1" },
    { "f97c00", "9.0e+999", "\"9.0e+999\":1" },
    { "80", "[]", "\"[]\":1" },
    { "82016161", "[1,\"a\"]", "\"[1,\\\"a\\\"]\":1" },
    { "824101f6", "[\"01\",null]", "\"[\\\"01\\\",null]\":1" },
    { "a1616101", "{\"a\":1}", "\"{\\\"a\\\":1}\":1" },
    { "a10102", "{\"1\":2}", "\"{\\\"1\\\":2}\":1" },
    { "a1810102", "{\"8101\":2}", "\"{\\\"8101\\\":2}\":1" },     /* A key in a key: the second level as its CBOR */
    { "a1a1010203", "{\"a10102\":3}", "\"{\\\"a10102\\\":3}\":1" },
    { "a1c10102", "{\"c101\":2}", "\"{\\\"c101\\\":2}\":1" },
    { "81a1810102", "[{\"8101\":2}]", "\"[{\\\"8101\\\":2}]\":1" },
    { "c101", "1", "\"1\":1" },
    { "c16161", "\"a\"", "\"\\\"a\\\"\":1" },                      /* The JSON form of a tagged text has its quotes */
    { "c249010000000000000000", "18446744073709551616", "\"18446744073709551616\":1" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char hex[64], object[128];
    assert_json(rows[i].hex, rows[i].key, json_key);
    snprintf(hex, sizeof(hex), "a1%s01", rows[i].hex);
    snprintf(object, sizeof(object), "{%s}", rows[i].member);
    assert_json(hex, object, json_item);
    assert_true(is_json(object));
  }
}

/* JSON within JSON doubles its backslashes with every level: 60 levels of keys must not make 2^60 bytes. */
TEST(test_keys_in_keys_stay_short){
  for(size_t levels=1; levels<=63; levels++){
    blob b = { 0 };
    char *z;
    put_repeated(&b, 0xA1, levels);
    put_text(&b, "\"");
    put_repeated(&b, 0x00, levels);
    z = written(b, json_item);
    check( strlen(z)<400, "%zu levels: %zu bytes", levels, strlen(z) );
    assert_true(is_json(z));
    sqlite3_free(z);
    free(b.p);
  }
}

/* --- Bignums --- */

TEST(test_bignums_against_known_values){
  static const struct { const char *magnitude, *positive, *negative; } rows[] = {
    { "", "0", "-1" }, { "00", "0", "-1" }, { "000000000000", "0", "-1" }, { "01", "1", "-2" }, { "09", "9", "-10" },
    { "3b9ac9ff", "999999999", "-1000000000" }, { "3b9aca00", "1000000000", "-1000000001" },
    { "ffffffff", "4294967295", "-4294967296" },
    { "0100000000", "4294967296", "-4294967297" }, { "ffffffffffffffff", "18446744073709551615", "-18446744073709551616" },
    { "010000000000000000", "18446744073709551616", "-18446744073709551617" },
    { "00ffffffffffffffff", "18446744073709551615", "-18446744073709551616" },
    { "0de0b6b3a7640000", "1000000000000000000", "-1000000000000000001" },
    { "0de0b6b3a763ffff", "999999999999999999", "-1000000000000000000" },
    { "033b2e3c9fd0803ce8000000", "1000000000000000000000000000", "-1000000000000000000000000001" },
    { "ffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455",
      "-340282366920938463463374607431768211456" },
    { "0100000000000000000000000000000000", "340282366920938463463374607431768211456",
      "-340282366920938463463374607431768211457" },
    { "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
      "-115792089237316195423570985008687907853269984665640564039457584007913129639936" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int negative=0; negative<2; negative++){
      blob b = blob_of(rows[i].magnitude);
      sqlite3_str *out = sqlite3_str_new(NULL);
      char *z;
      assert_true(zt_json_bignum(out, span_of(b), negative));
      z = sqlite3_str_finish(out);
      assert_string_equal(z, negative ? rows[i].negative : rows[i].positive);
      sqlite3_free(z);
      free(b.p);
    }
  }
}

/* Multiply the n decimal digits of z, least significant first, by 256 and add a byte. Returns the new number of digits. */
static size_t shift_in(uint8_t *z, size_t n, unsigned byte){
  unsigned carry = byte;
  for(size_t i=0; i<n || carry; i++){
    if( i==n ) z[n++] = 0;
    carry += z[i]*256u;
    z[i] = (uint8_t)(carry%10);
    carry /= 10;
  }
  return n;
}

TEST(test_bignums_of_every_length_against_school_arithmetic){
  uint64_t seed = 2;
  for(size_t length=0; length<=ZT_BIGNUM_MAX; length += length<70 ? 1 : 106){
    for(int kind=0; kind<4; kind++){
      static uint8_t digits[ZT_BIGNUM_MAX*3];
      static char expected[ZT_BIGNUM_MAX*3];
      blob b = { 0 };
      sqlite3_str *out = sqlite3_str_new(NULL);
      char *z;
      size_t n = 0;
      for(size_t i=0; i<length; i++) put_byte(&b, kind==0 ? 0xFF : kind==1 ? 0 : (unsigned)random_below(&seed, 256));
      b = seal(&b);
      for(size_t i=0; i<length; i++) n = shift_in(digits, n, b.p[i]);
      if( kind==3 ){   /* -1 - n */
        size_t at = 0;
        while( at<n && digits[at]==9 ) digits[at++] = 0;
        if( at==n ) digits[n++] = 1;
        else digits[at]++;
      }
      if( n==0 ) digits[n++] = 0;
      snprintf(expected, sizeof(expected), "%s", kind==3 ? "-" : "");
      for(size_t i=0, at=strlen(expected); i<n; i++){
        expected[at+i] = (char)('0'+digits[n-1-i]);
        expected[at+i+1] = 0;
      }
      assert_true(zt_json_bignum(out, span_of(b), kind==3));
      z = sqlite3_str_finish(out);
      assert_string_equal(z, expected);
      sqlite3_free(z);
      free(b.p);
    }
  }
}

TEST(test_a_bignum_above_the_limit_is_shown_as_bytes){
  for(size_t length=ZT_BIGNUM_MAX; length<=ZT_BIGNUM_MAX+2; length++){
    blob b = { 0 };
    sqlite3_str *out = sqlite3_str_new(NULL);
    zt_span magnitude;
    char *z;
    put_byte(&b, 0xC2);
    put_head(&b, ZT_CBOR_BYTES, length);
    put_repeated(&b, 0xFF, length);
    magnitude = (zt_span){ b.p+b.n-length, length };
    assert_int_equal(zt_json_bignum(out, magnitude, false), length<=ZT_BIGNUM_MAX);
    if( length>ZT_BIGNUM_MAX ) assert_int_equal(sqlite3_str_length(out), 0);
    sqlite3_free(sqlite3_str_finish(out));
    z = written(b, json_item);
    if( length<=ZT_BIGNUM_MAX ){
      assert_int_equal(strlen(z), 2467);   /* Digits of 2^8192 - 1 */
      assert_memory_equal(z, "1090748135619415929462984244733782", 34);
    }else{
      assert_int_equal(strlen(z), 2*length+2);
      assert_memory_equal(z, "\"ffff", 5);
    }
    sqlite3_free(z);
    free(b.p);
  }
}

/* --- Floats --- */

/* Doubles of all kinds: powers of two and ten with their neighbours, and random ones. Calls f for each. */
static void for_many_doubles(void (*f)(double r)){
  uint64_t seed = 754;
  for(uint64_t exponent=0; exponent<0x7FF; exponent++){
    for(uint64_t d=0; d<3; d++) f(double_of((exponent<<52)+d-(exponent>0)));
  }
  for(int e=-323; e<=308; e++){
    char z[16];
    uint64_t bits;
    double r;
    snprintf(z, sizeof(z), "1e%d", e);
    r = strtod(z, NULL);
    memcpy(&bits, &r, 8);
    for(uint64_t d=0; d<3; d++) f(double_of(bits+d-1));
  }
  for(int i=0; i<3000; i++){
    f(double_of(random64(&seed) & ~((uint64_t)1<<62)));                       /* Below 2 */
    f((double)random_below(&seed, 1000000)/1000);                            /* As people write them */
    f((double)(random64(&seed) >> random_below(&seed, 64)));
  }
}

static bool is_finite(double r){
  return r-r==0;
}

static void check_reads_back(double r){
  char z[64];
  double back;
  if( !is_finite(r) ) return;
  real_text(r, z, sizeof(z));
  back = strtod(z, NULL);
  check( memcmp(&back, &r, 8)==0, "%a is '%s'", r, z );
  check( strpbrk(z, ".e")!=NULL && strspn(z, "-+.e0123456789")==strlen(z), "%a is '%s'", r, z );
  check( strlen(z)<=24, "%a is '%s'", r, z );
}

TEST(test_floats_read_back_as_the_same_double){
  for_many_doubles(check_reads_back);
}

TEST(test_some_floats){
  static const struct { double r; const char *text; } rows[] = {
    { 0.0, "0.0" }, { -0.0, "-0.0" }, { 1.0, "1.0" }, { -1.0, "-1.0" }, { 0.1, "0.1" }, { 0.2+0.1, "0.30000000000000004" },
    { 1.0/3, "0.3333333333333333" },
    { 2.0/3, "0.6666666666666666" }, { 100.0, "100.0" }, { 123456.0, "123456.0" }, { 1e14, "100000000000000.0" },
    { 1e15, "1e+15" }, { 1e21, "1e+21" },
    { 1e22, "1e+22" }, { 1e23, "1e+23" }, { 1e-4, "0.0001" }, { 1e-5, "1e-05" }, { 1.5e300, "1.5e+300" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" }, { 9007199254740992.0, "9007199254740992.0" },
    { 3.141592653589793, "3.141592653589793" },
    { 5.0e-1, "0.5" }, { 1e300*1e10, "9.0e+999" }, { -1e300*1e10, "-9.0e+999" },
  };
  char z[64];
  for(size_t i=0; i<COUNT(rows); i++){
    real_text(rows[i].r, z, sizeof(z));
    assert_string_equal(z, rows[i].text);
    assert_true(is_json(z));
  }
  real_text(double_of(0x7FF8000000000000), z, sizeof(z));
  assert_string_equal(z, "null");
  real_text(double_of(0xFFF0000000000001), z, sizeof(z));
  assert_string_equal(z, "null");
}

/* Significant digits of a number's text, zeros at the end left out. */
static size_t significant(const char *z){
  size_t n = 0, last = 0;
  for(; *z && *z!='e'; z++){
    if( *z<'0' || *z>'9' || (n==0 && *z=='0') ) continue;
    n++;
    if( *z!='0' ) last = n;
  }
  return last;
}

/* True if a number of `digits` digits, either of the two next to r, reads back as r. */
static bool fewer_will_do(double r, size_t digits){
  char z[64], *e;
  snprintf(z, sizeof(z), "%.*e", (int)digits-1, r);
  if( strtod(z, NULL)==r ) return true;
  e = strchr(z, 'e');
  for(int up=0; up<2; up++){   /* The nearest one may lie just outside where another is within, at powers of two */
    char other[80], mantissa[64];
    long long m = 0;
    size_t k = 0;
    for(const char *p=z; p<e; p++) if( *p>='0' && *p<='9' ) mantissa[k++] = *p;
    mantissa[k] = 0;
    m = strtoll(mantissa, NULL, 10) + (up ? 1 : -1);
    snprintf(other, sizeof(other), "%s%llde%d", r<0 ? "-" : "", m, atoi(e+1)-(int)digits+1);
    if( strtod(other, NULL)==r ) return true;
  }
  return false;
}

static void check_fewest_digits(double r){
  char z[64];
  size_t n;
  if( !is_finite(r) || r==0 ) return;
  real_text(r, z, sizeof(z));
  n = significant(z);
  check( n>=1 && n<=17, "%a is '%s'", r, z );
  check( n==1 || !fewer_will_do(r, n-1), "%a is '%s', but %zu digits suffice", r, z, n-1 );
}

static void check_fewest_digits_of_most(double r){
  int exponent;
  if( fabs(r)>=2.2250738585072014e-308 && fabs(frexp(r, &exponent))!=0.5 ) check_fewest_digits(r);
}

TEST(test_floats_have_the_fewest_digits){
  for_many_doubles(check_fewest_digits_of_most);
}

/* Two kinds that are special. Subnormal doubles need fewer digits than 15: the least of all is 5e-324. Below a power of two
** doubles are twice as close as above it: the 16 digits that suffice for 2^-24 (RFC 7049 appendix A) or 2^-1017 are not the
** nearest 16. */
TEST(test_floats_with_unusual_neighbours_have_the_fewest_digits){
  char z[64];
  real_text(double_of(1), z, sizeof(z));
  assert_string_equal(z, "5e-324");
  real_text(ldexp(1, -24), z, sizeof(z));
  assert_string_equal(z, "5.960464477539063e-08");
  real_text(ldexp(1, -1017), z, sizeof(z));
  assert_string_equal(z, "7.120236347223045e-307");
  for_many_doubles(check_fewest_digits);
}

/* --- The decimal point --- */

static void check_foreign(double r){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char z[64], *foreign;
  real_text(r, z, sizeof(z));
  foreign_json_real(out, r);
  foreign = sqlite3_str_finish(out);
  check( strcmp(z, foreign)==0, "'%s', at home '%s'", foreign, z );
  sqlite3_free(foreign);
}

TEST(test_a_foreign_decimal_point_changes_nothing){
  static const char *const points[] = { ",", "\xD9\xAB", "::" };
  for(size_t i=0; i<COUNT(points); i++){
    foreign_point = points[i];
    for_many_doubles(check_foreign);
  }
}

/* The next item, an array. */
static void foreign_item(sqlite3_str *out, zt_cbor *c){
  zt_value root;
  zt_container items = items_behind(0x81, c->p, (size_t)(c->end-c->p), &root);
  root.at = 1;
  foreign_value_json(&items, &root, NULL, out, c->err);
  zt_cbor_skip(c);
  free(items.kept.p);
}

TEST(test_a_foreign_decimal_point_within_items){
  blob b = blob_of("83 f93e00 a1f93e0000 63 312c35");
  char *z;
  foreign_point = ",";
  z = written(b, foreign_item);
  assert_string_equal(z, "[1.5,{\"1.5\":0},\"1,5\"]");
  sqlite3_free(z);
  free(b.p);
}

int main(void){
  return run_all("json", NULL, NULL);
}
