/* The pull decoder for JSON: core/json_read.h, whose rules J1 to J11 each have rows here. */
#include "test.h"

#include "core/json_read.h"

/* --- Two readers of the same bytes: a whole decode, and a skip --- */

static void render_text(zt_json_string text, sqlite3_str *out){
  blob plain = exact(text.raw.z, text.raw.n);
  size_t n = zt_json_unescape(text, (char*)plain.p);
  assert_true(n<=text.raw.n && (text.escaped || n==text.raw.n));
  assert_true(zt_json_string_equal(text, (zt_text){ (char*)plain.p, n }));
  sqlite3_str_appendall(out, "'");
  for(size_t i=0; i<n; i++){
    if( plain.p[i]>=0x20 && plain.p[i]<0x7F ) sqlite3_str_appendchar(out, 1, (char)plain.p[i]);
    else sqlite3_str_appendf(out, "<%02x>", plain.p[i]);
  }
  sqlite3_str_appendall(out, "'");
  free(plain.p);
}

/* Write the next value so that its type can be told: integers as they are, others with a letter before them. */
static void render(zt_json_reader *r, sqlite3_str *out){
  zt_json_value value;
  zt_json_level level;
  zt_json_string key;
  bool first = true;
  if( !zt_json_read_next(r, &value) ) return;
  switch( value.type ){
    case ZT_JSON_NOTHING: fail(); return;
    case ZT_JSON_NULL: sqlite3_str_appendall(out, "null"); return;
    case ZT_JSON_FALSE: sqlite3_str_appendall(out, "false"); return;
    case ZT_JSON_TRUE: sqlite3_str_appendall(out, "true"); return;
    case ZT_JSON_INTEGER:
      sqlite3_str_appendf(out, "%s%llu", value.negative ? "-" : "", (unsigned long long)value.n);
      return;
    case ZT_JSON_LARGE: case ZT_JSON_REAL:
      assert_int_equal(value.n, 0);
      sqlite3_str_appendf(out, "%c:%.*s", value.type==ZT_JSON_REAL ? 'r' : 'l', (int)value.text.raw.n, value.text.raw.z);
      return;
    case ZT_JSON_TEXT: render_text(value.text, out); return;
    case ZT_JSON_ARRAY: case ZT_JSON_OBJECT:
      if( !zt_json_read_enter(r, value.type, &level) ) return;
      sqlite3_str_appendall(out, value.type==ZT_JSON_OBJECT ? "{" : "[");
      for(; zt_json_read_more(r, &level); first=false){
        if( !first ) sqlite3_str_appendall(out, ",");
        if( value.type==ZT_JSON_OBJECT ){
          if( !zt_json_read_key(r, &key) ) return;
          render_text(key, out);
          sqlite3_str_appendall(out, ":");
        }
        render(r, out);
      }
      sqlite3_str_appendall(out, value.type==ZT_JSON_OBJECT ? "}" : "]");
      return;
  }
}

/* The two readers' rendering of b, or NULL and an error. The caller owns both. */
static char *decode(blob b, zt_error *err){
  zt_error skipped = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_json_reader r;
  char *text;
  zt_json_read_init(&r, "manifest", span_of(b), err);
  render(&r, out);
  zt_json_read_finish(&r);
  text = sqlite3_str_finish(out);
  zt_json_read_init(&r, "manifest", span_of(b), &skipped);
  zt_json_read_skip(&r);
  zt_json_read_finish(&r);
  assert_int_equal(err->rc, skipped.rc);
  if( err->rc ){
    assert_string_equal(err->message, skipped.message);
    assert_ptr_equal(r.p, r.end);
    sqlite3_free(text);
    text = NULL;
  }else{
    assert_int_equal(r.depth, 0);
  }
  zt_error_clear(&skipped);
  return text;
}

/* The bytes with as many spaces before and behind them. */
static blob between(const char *p, size_t n, size_t before, size_t behind){
  blob b = { 0 };
  put_repeated(&b, ' ', before);
  put(&b, p, n);
  put_repeated(&b, ' ', behind);
  return seal(&b);
}

/* --- What is accepted --- */

#define ROW(text, rendering) { (text), sizeof(text)-1, (rendering) }

static const struct { const char *text; size_t n; const char *rendering; } good[] = {
  ROW("null", "null"), ROW("true", "true"), ROW("false", "false"),
  ROW("0", "0"), ROW("-0", "-0"), ROW("7", "7"), ROW("-1", "-1"), ROW("1234567890", "1234567890"),
  ROW("9007199254740993", "9007199254740993"), ROW("9223372036854775807", "9223372036854775807"),
  ROW("9223372036854775808", "9223372036854775808"), ROW("18446744073709551615", "18446744073709551615"),
  ROW("18446744073709551616", "l:18446744073709551616"), ROW("99999999999999999999", "l:99999999999999999999"),
  ROW("100000000000000000000000000", "l:100000000000000000000000000"),
  ROW("-9223372036854775808", "-9223372036854775808"), ROW("-9223372036854775809", "l:-9223372036854775809"),
  ROW("0.0", "r:0.0"), ROW("-0.5", "r:-0.5"), ROW("1.25", "r:1.25"), ROW("1e5", "r:1e5"), ROW("1E+5", "r:1E+5"), ROW("0e-0", "r:0e-0"),
  ROW("123.456e789", "r:123.456e789"), ROW("18446744073709551616.5", "r:18446744073709551616.5"), ROW("1e00", "r:1e00"),
  ROW("\"\"", "''"), ROW("\"a\"", "'a'"), ROW("\"abcdefg\"", "'abcdefg'"), ROW("\"abcdefgh\"", "'abcdefgh'"),
  ROW("\"model.layers.0.self_attn.q_proj.weight\"", "'model.layers.0.self_attn.q_proj.weight'"),
  ROW("\"/\x7F'\"", "'/<7f>''"), ROW("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "'\"\\/<08><0c><0a><0d><09>'"),
  ROW("\"\\u0061\\u00fC\\u6c34\\ud834\\uDD1E\\u0000\"", "'a<c3><bc><e6><b0><b4><f0><9d><84><9e><00>'"),
  ROW("\"\\ud800\\udc00\\udbff\\udfff\\ud7ff\\ue000\\uffff\"", "'<f0><90><80><80><f4><8f><bf><bf><ed><9f><bf><ee><80><80><ef><bf><bf>'"),
  ROW("\"12345\\u002078901234567890\"", "'12345 78901234567890'"), ROW("\"\\\\u0041\"", "'\\u0041'"),
  ROW("\"\xC3\xBC\xE6\xB0\xB4\xF0\x90\x85\x91\"", "'<c3><bc><e6><b0><b4><f0><90><85><91>'"),
  ROW("\"1234567\xC3\xBC\\n\"", "'1234567<c3><bc><0a>'"), ROW("\"\xC2\x80\xF4\x8F\xBF\xBF\"", "'<c2><80><f4><8f><bf><bf>'"),
  ROW("[]", "[]"), ROW("[ ]", "[]"), ROW("{}", "{}"), ROW("{\n}", "{}"), ROW("[[],{},[[]]]", "[[],{},[[]]]"),
  ROW("[1,\"a\",null,true,-2.5]", "[1,'a',null,true,r:-2.5]"), ROW(" [ 1 , 2\t]\r\n", "[1,2]"),
  ROW("{\"a\":1}", "{'a':1}"), ROW("{ \"a\" : [ 1 ] , \"b\" : { } }", "{'a':[1],'b':{}}"), ROW("{\"\":{\"\":\"\"}}", "{'':{'':''}}"),
  ROW("{\"a\":1,\"a\":2}", "{'a':1,'a':2}"), ROW("{\"]\":[\"}\"]}", "{']':['}']}"),
  ROW("{\"w\":{\"dtype\":\"F32\",\"shape\":[2,0],\"data_offsets\":[0,12345678901]}}",
      "{'w':{'dtype':'F32','shape':[2,0],'data_offsets':[0,12345678901]}}"),
};

/* Alone, and amid spaces: what is read in words of eight bytes is then read so. */
TEST(test_good){
  for(size_t i=0; i<COUNT(good); i++){
    for(size_t spaces=0; spaces<=24; spaces+=8){
      blob b = between(good[i].text, good[i].n, spaces, spaces);
      zt_error err = ZT_ERROR_NONE;
      char *text = decode(b, &err);
      assert_succeeded(&err, good[i].text);
      check( strcmp(text, good[i].rendering)==0, "%s: %s", good[i].text, text );
      sqlite3_free(text);
      free(b.p);
    }
  }
}

/* --- What is not --- */

#define BAD(rule, text, message) { (text), sizeof(text)-1, (rule), (message) }

static const struct { const char *text; size_t n; const char *rule, *message; } bad[] = {
  BAD("J1", "nul", "byte 0: a value was expected"), BAD("J1", "True", "byte 0: a value was expected"),
  BAD("J1", "nan", "byte 0: a value was expected"), BAD("J1", "NaN", "byte 0: a value was expected"), BAD("J1", "Infinity", "byte 0: a value was expected"),
  BAD("J1", "[+1]", "byte 1: a value was expected"), BAD("J1", "[.5]", "byte 1: a value was expected"), BAD("J1", "[,1]", "byte 1: a value was expected"),
  BAD("J1", "[1,,2]", "byte 3: a value was expected"), BAD("J1", "'a'", "byte 0: a value was expected"), BAD("J1", "/**/1", "byte 0: a value was expected"),
  BAD("J1", "\xEF\xBB\xBF{}", "byte 0: a value was expected"), BAD("J1", "{\"a\":}", "byte 5: a value was expected"), BAD("J1", "[\v1]", "byte 1: a value was expected"),
  BAD("J1", "\0", "byte 0: a value was expected"), BAD("J1", "]", "byte 0: a value was expected"), BAD("J1", "[tru]", "byte 1: a value was expected"),
  BAD("J2", "{1:2}", "byte 1: a name was expected"), BAD("J2", "{,}", "byte 1: a name was expected"), BAD("J2", "{a:1}", "byte 1: a name was expected"),
  BAD("J2", "{\"a\",1}", "byte 4: a colon was expected"), BAD("J2", "{\"a\" 1}", "byte 5: a colon was expected"), BAD("J2", "{\"a\"}", "byte 4: a colon was expected"),
  BAD("J2", "{\"a\":1,}", "byte 7: a comma stands before }"), BAD("J2", "{\"a\":1 \"b\":2}", "byte 7: a comma or } was expected"),
  BAD("J2", "{\"a\":1]", "byte 6: a comma or } was expected"), BAD("J2", "{\"a\":1,2}", "byte 7: a name was expected"),
  BAD("J3", "[1,]", "byte 3: a comma stands before ]"), BAD("J3", "[1 2]", "byte 3: a comma or ] was expected"),
  BAD("J3", "[1}", "byte 2: a comma or ] was expected"), BAD("J3", "[\"a\":1]", "byte 4: a comma or ] was expected"),
  BAD("J3", "[1;2]", "byte 2: a comma or ] was expected"), BAD("J3", "[1//\n]", "byte 2: a comma or ] was expected"),
  BAD("J3", "[0x10]", "byte 2: a comma or ] was expected"),
  BAD("J3", "[1\f]", "byte 2: a comma or ] was expected"), BAD("J3", "[1\0]", "byte 2: a comma or ] was expected"),
  BAD("J4", "[01]", "byte 1: a leading zero"), BAD("J4", "[-012]", "byte 2: a leading zero"), BAD("J4", "[00]", "byte 1: a leading zero"),
  BAD("J4", "[1.]", "byte 3: a digit was expected"), BAD("J4", "[1.e5]", "byte 3: a digit was expected"), BAD("J4", "[1e]", "byte 3: a digit was expected"),
  BAD("J4", "[1e+]", "byte 4: a digit was expected"), BAD("J4", "[-]", "byte 2: a digit was expected"),
  BAD("J4", "[--1]", "byte 2: a digit was expected"), BAD("J4", "[-a]", "byte 2: a digit was expected"),
  BAD("J5", "\"a\nb\"", "byte 2: a control character in a text must be escaped"), BAD("J5", "\"\0\"", "byte 1: a control"),
  BAD("J5", "\"\x1F\"", "byte 1: a control"), BAD("J5", "\"0123456789\tb\"", "byte 11: a control"),
  BAD("J6", "\"\\a\"", "byte 1: no such escape"), BAD("J6", "\"\\'\"", "byte 1: no such escape"), BAD("J6", "\"\\x41\"", "byte 1: no such escape"),
  BAD("J6", "\"\\u12\"", "byte 1: no such escape"), BAD("J6", "\"\\u123g\"", "byte 1: no such escape"), BAD("J6", "\"\\U0041\"", "byte 1: no such"),
  BAD("J6", "\"\\\0\"", "byte 1: no such escape"), BAD("J6", "\"0123456789\\u 123\"", "byte 11: no such escape"),
  BAD("J7", "\"\\ud800\"", "byte 1: half of a surrogate pair"), BAD("J7", "\"\\udc00\"", "byte 1: half"), BAD("J7", "\"\\udfff\\ud800\"", "byte 1: half"),
  BAD("J7", "\"\\ud800\\u0041\"", "byte 1: half"), BAD("J7", "\"\\udbff\\ue000\"", "byte 1: half"), BAD("J7", "\"\\ud834\\ud834\"", "byte 1: half"),
  BAD("J7", "\"\\ud800\\udc0g\"", "byte 1: half"), BAD("J7", "\"\\ud800 \\udc00\"", "byte 1: half"), BAD("J7", "\"a\\ud800x\"", "byte 2: half"),
  BAD("J8", "\"\x80\"", "byte 1: text that is not UTF-8"), BAD("J8", "\"ab\xFF\"", "byte 3: text that"), BAD("J8", "\"\xC0\xAF\"", "byte 1: text that"),
  BAD("J8", "\"\xE0\x80\xAF\"", "byte 1: text that"), BAD("J8", "\"\xC3\xBC\xED\xA0\x80\"", "byte 3: text that"),
  BAD("J8", "\"\xF4\x90\x80\x80\"", "byte 1: text that"), BAD("J8", "\"\xE6\xB0\"", "byte 1: text that"),
  BAD("J8", "\"0123456789abcdef\xC3\"", "byte 17: text that"), BAD("J8", "{\"\xFC\":1}", "byte 2: text that"),
  BAD("J8", "\"\\n\xFC\"", "byte 3: text that"),
  BAD("J10", "{}{}", "byte 2: 2 bytes after the root value"), BAD("J10", "[]]", "byte 2: 1 bytes after"), BAD("J10", "1 2", "byte 2: 1 bytes after"),
  BAD("J10", "{}\0", "byte 2: 1 bytes after"), BAD("J10", "nulls", "byte 4: 1 bytes after"), BAD("J10", "\"a\",", "byte 3: 1 bytes after"),
  BAD("J11", "", "byte 0: it ends where a value is to begin"), BAD("J11", " ", "byte 1: it ends where"), BAD("J11", "[", "byte 1: the array ends without ]"),
  BAD("J11", "[1", "byte 2: the array ends without ]"), BAD("J11", "[1,", "byte 3: the array ends without ]"), BAD("J11", "{", "byte 1: the object ends without }"),
  BAD("J11", "{\"a\"", "byte 4: the object ends amid a member"), BAD("J11", "{\"a\":", "byte 5: it ends where"),
  BAD("J11", "{\"a\":1", "byte 6: the object ends without }"), BAD("J11", "{\"a\":1,", "byte 7: the object ends without }"),
  BAD("J11", "\"", "byte 1: a text ends without \""), BAD("J11", "\"0123456789", "byte 11: a text ends"), BAD("J11", "\"a\\\"", "byte 4: a text ends"),
  BAD("J11", "-", "byte 1: a number ends without a digit"), BAD("J11", "1.", "byte 2: a number ends"), BAD("J11", "1e", "byte 2: a number ends"),
  BAD("J11", "1e-", "byte 3: a number ends"),
};

static void assert_bad(blob b, const char *rule, const char *message, const char *row){
  zt_error err = ZT_ERROR_NONE;
  char *text = decode(b, &err);
  check( !text, "%s: %s", row, text );
  check( err.rule && strcmp(err.rule, rule)==0, "%s: rule %s: %s", row, err.rule, err.message );
  assert_failed(&err, message, row);
}

TEST(test_bad){
  for(size_t i=0; i<COUNT(bad); i++){
    blob b = exact(bad[i].text, bad[i].n);
    assert_bad(b, bad[i].rule, bad[i].message, bad[i].text);
    free(b.p);
    if( strcmp(bad[i].rule, "J11")==0 ) continue;   /* Which spaces behind them would mend */
    b = between(bad[i].text, bad[i].n, 0, 24);
    assert_bad(b, bad[i].rule, "manifest byte ", bad[i].text);
    free(b.p);
  }
}

TEST(test_every_rule_has_a_row){
  for(int rule=1; rule<=11; rule++){
    char name[16];
    size_t rows = rule==9;   /* test_depth() */
    snprintf(name, sizeof(name), "J%d", rule);
    for(size_t i=0; i<COUNT(bad); i++) rows += strcmp(bad[i].rule, name)==0;
    check( rows>0, "%s", name );
  }
}

/* J9 */
TEST(test_depth){
  for(size_t levels=63; levels<=66; levels++){
    for(int objects=0; objects<2; objects++){
      blob b = { 0 };
      for(size_t i=0; i<levels; i++) put(&b, objects ? "{\"a\":" : "[", objects ? 5 : 1);
      if( objects ) put(&b, "1", 1);
      put_repeated(&b, objects ? '}' : ']', levels);
      b = seal(&b);
      if( levels>64 ) assert_bad(b, "J9", "nested deeper than 64 levels", "depth");
      else{
        zt_error err = ZT_ERROR_NONE;
        sqlite3_free(decode(b, &err));
        assert_succeeded(&err, "depth");
      }
      free(b.p);
    }
  }
}

/* A document that is cut anywhere is broken, and nothing behind its end is read. */
TEST(test_cut){
  static const char text[] =
    "{\"__metadata__\":{\"format\":\"pt\",\"\\u00e9\\ud83d\\ude00\":\"\xC3\xA9\xF0\x9F\x98\x80\"}, \"w\" : {\"dtype\":\"F32\",\"shape\":[2,3],"
    "\"data_offsets\":[0,24]},\"x\":[null,true,false,-1.5e+10,18446744073709551615,\"0123456789abcdef\"]}";
  zt_error err = ZT_ERROR_NONE;
  blob whole = exact(text, sizeof(text)-1);
  char *rendering = decode(whole, &err);
  assert_succeeded(&err, "whole");
  assert_string_equal(rendering, "{'__metadata__':{'format':'pt','<c3><a9><f0><9f><98><80>':'<c3><a9><f0><9f><98><80>'},'w':{'dtype':'F32',"
                      "'shape':[2,3],'data_offsets':[0,24]},'x':[null,true,false,r:-1.5e+10,18446744073709551615,'0123456789abcdef']}");
  sqlite3_free(rendering);
  for(size_t n=0; n<whole.n; n++){
    blob b = exact(text, n);
    char *got = decode(b, &err);
    check( !got, "%d: %s", (int)n, got );
    assert_failed(&err, "manifest byte ", "cut");
    free(b.p);
  }
  free(whole.p);
}

/* --- Readers that expect a type --- */

TEST(test_expected){
  static const struct { const char *text, *as_uint, *as_text, *as_array; } rows[] = {
    { "5", "", "byte 0: expected text, found an integer", "byte 0: expected an array, found an integer" },
    { "-5", "byte 0: expected an unsigned integer, found a negative integer", "expected text, found a negative integer", "found a negative" },
    { "-0", "byte 0: expected an unsigned integer, found a negative integer", "expected text, found a negative integer", "found a negative" },
    { "1.0", "found a number that is no integer", "expected text, found a number that is no integer", "found a number that is no" },
    { "18446744073709551616", "expected an unsigned integer, found an integer beyond 64 bits", "found an integer beyond", "found an integer beyond" },
    { " null", "byte 1: expected an unsigned integer, found null", "byte 1: expected text, found null", "byte 1: expected an array, found null" },
    { "true", "found a boolean", "found a boolean", "found a boolean" },
    { "\"5\"", "expected an unsigned integer, found text", "", "found text" },
    { "[]", "expected an unsigned integer, found an array", "expected text, found an array", "" },
    { "{}", "found an object", "found an object", "expected an array, found an object" },
    { "x", "byte 0: a value was expected", "byte 0: a value was expected", "byte 0: a value was expected" },
    { "", "byte 0: it ends where a value is to begin", "byte 0: it ends where", "byte 0: it ends where" },
    { "01", "byte 0: a leading zero", "byte 0: a leading zero", "byte 0: a leading zero" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t spaces=0; spaces<=24; spaces+=24){
      const char *const messages[] = { rows[i].as_uint, rows[i].as_text, rows[i].as_array };
      blob b = between(rows[i].text, strlen(rows[i].text), 0, rows[i].text[0] ? spaces : 0);
      for(int as=0; as<3; as++){
        zt_error err = ZT_ERROR_NONE;
        zt_json_reader r;
        zt_json_level level;
        zt_json_string text;
        uint64_t u;
        bool ok;
        zt_json_read_init(&r, "manifest", span_of(b), &err);
        ok = as==0 ? zt_json_read_uint(&r, &u) : as==1 ? zt_json_read_text(&r, &text) : zt_json_read_open(&r, ZT_JSON_ARRAY, &level);
        assert_int_equal(ok, messages[as][0]==0);
        if( ok ) assert_succeeded(&err, rows[i].text);
        else assert_failed(&err, messages[as], rows[i].text);
        assert_true(ok || r.p==r.end);
      }
      free(b.p);
    }
  }
}

/* Arrays that are entered one by one are no deeper than those that are skipped. */
TEST(test_depth_of_opened_arrays){
  blob b = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_level level;
  put_repeated(&b, '[', ZT_JSON_MAX_DEPTH+1);
  b = seal(&b);
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  for(int i=0; i<ZT_JSON_MAX_DEPTH; i++) assert_true(zt_json_read_open(&r, ZT_JSON_ARRAY, &level));
  assert_false(zt_json_read_open(&r, ZT_JSON_ARRAY, &level));
  assert_failed(&err, "nested deeper than 64 levels", "J9");
  free(b.p);
}

TEST(test_the_real_of_no_text){
  char room[ZT_JSON_REAL_ROOM];
  assert_true(zt_json_read_real((zt_text){ "", 0 }, room)==0);
}

/* In line, where 20 bytes are left, and not. */
TEST(test_uint){
  static const char *const texts[] = {
    "0", "1", "10", "98", "123", "9876", "10203", "654321", "9080706", "99999999", "10000000", "123456789", "9876543210", "100000000000",
    "1234567890123456789", "9999999999999999999", "12345678901234567890", "18446744073709551615"
  };
  for(size_t i=0; i<COUNT(texts); i++){
    for(size_t behind=0; behind<=24; behind+=8){
      blob b = { 0 };
      zt_error err = ZT_ERROR_NONE;
      zt_json_reader r;
      uint64_t u;
      put(&b, texts[i], strlen(texts[i]));
      put_repeated(&b, i%3==0 ? ',' : i%3==1 ? ']' : '}', behind);
      b = seal(&b);
      zt_json_read_init(&r, "manifest", span_of(b), &err);
      assert_true(zt_json_read_uint(&r, &u));
      assert_true(u==strtoull(texts[i], NULL, 10));
      assert_int_equal(r.p-r.base, strlen(texts[i]));
      free(b.p);
    }
  }
}

/* After a failure nothing more is read, and the first message stays. */
TEST(test_sticky){
  static const char text[] = "[1 2, \"a\", {}, 3, 4, 5, 6, 7, 8, 9]";
  blob b = exact(text, sizeof(text)-1);
  zt_error err = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_level level, other;
  zt_json_value value;
  zt_json_string key;
  uint64_t u;
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  assert_true(zt_json_read_open(&r, ZT_JSON_ARRAY, &level));
  assert_true(zt_json_read_more(&r, &level) && zt_json_read_uint(&r, &u));
  assert_int_equal(u, 1);
  assert_false(zt_json_read_more(&r, &level));
  assert_false(zt_json_read_more(&r, &level));
  assert_false(zt_json_read_uint(&r, &u));
  assert_int_equal(u, 0);
  assert_false(zt_json_read_text(&r, &key));
  assert_int_equal(key.raw.n, 0);
  assert_false(zt_json_read_key(&r, &key));
  assert_false(zt_json_read_next(&r, &value));
  assert_int_equal(value.type, ZT_JSON_NOTHING);
  assert_false(zt_json_read_open(&r, ZT_JSON_OBJECT, &other));
  assert_false(zt_json_read_skip(&r));
  assert_false(zt_json_read_finish(&r));
  assert_int_equal(zt_json_read_peek(&r), ZT_JSON_NOTHING);
  assert_failed(&err, "manifest byte 3: a comma or ] was expected", "sticky");
  free(b.p);
}

/* --- Texts --- */

TEST(test_equal){
  static const struct { const char *text, *plain; bool equal; } rows[] = {
    { "\"w\"", "w", true }, { "\"\\u0077\"", "w", true }, { "\"\\u0077\"", "x", false }, { "\"\\u0077\"", "", false },
    { "\"\\u0077\"", "ww", false }, { "\"\\u0077w\"", "w", false }, { "\"d\\u0074ype\"", "dtype", true }, { "\"d\\u0074ypes\"", "dtype", false },
    { "\"\\u00e9\"", "\xC3\xA9", true }, { "\"\\u00e9\"", "\xC3", false }, { "\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", true },
    { "\"\xC3\xA9\\n\"", "\xC3\xA9\n", true }, { "\"\\\\n\"", "\n", false }, { "\"\\\\n\"", "\\n", true }, { "\"\"", "", true },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = exact(rows[i].text, strlen(rows[i].text));
    zt_error err = ZT_ERROR_NONE;
    zt_json_reader r;
    zt_json_string text;
    zt_json_read_init(&r, "manifest", span_of(b), &err);
    assert_true(zt_json_read_text(&r, &text));
    check( zt_json_string_equal(text, (zt_text){ rows[i].plain, strlen(rows[i].plain) })==rows[i].equal, "%s, %s", rows[i].text, rows[i].plain );
    free(b.p);
  }
}

/* Two texts are compared by what they mean, wherever escapes cut either. */
TEST(test_equal_texts){
  static const struct { const char *a, *b; bool equal; } rows[] = {
    { "\"\"", "\"\"", true }, { "\"\"", "\"w\"", false }, { "\"w\"", "\"w\"", true }, { "\"w\"", "\"x\"", false }, { "\"w\"", "\"ww\"", false },
    { "\"weight\"", "\"we\\u0069ght\"", true }, { "\"weight\"", "\"we\\u0069gh\"", false }, { "\"weighs\"", "\"we\\u0069ght\"", false },
    { "\"w\\u0065ight\"", "\"wei\\u0067ht\"", true }, { "\"\\u0077\"", "\"\\u0077\"", true }, { "\"\\u0077\"", "\"\\u0078\"", false },
    { "\"a\\u00e9b\"", "\"a\xC3\xA9" "b\"", true }, { "\"\\u00e9\"", "\"\\u00e8\"", false },
    { "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"", true }, { "\"\\n\"", "\"\\u000a\"", true }, { "\"\\n\"", "\"\\\\n\"", false },
    { "\"\\u0000\"", "\"\"", false }, { "\"\\u0000\"", "\"\\u0000\\u0000\"", false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b[2] = { exact(rows[i].a, strlen(rows[i].a)), exact(rows[i].b, strlen(rows[i].b)) };
    zt_json_string text[2];
    for(int k=0; k<2; k++){
      zt_error err = ZT_ERROR_NONE;
      zt_json_reader r;
      zt_json_read_init(&r, "manifest", span_of(b[k]), &err);
      assert_true(zt_json_read_text(&r, &text[k]));
    }
    check( zt_json_strings_equal(text[0], text[1])==rows[i].equal, "%s, %s", rows[i].a, rows[i].b );
    check( zt_json_strings_equal(text[1], text[0])==rows[i].equal, "%s, %s", rows[i].b, rows[i].a );
    free(b[0].p);
    free(b[1].p);
  }
}

TEST(test_any_bytes){
  blob b = exact("\"\xFF\xED\xA0\x80\\n\"", 8);
  zt_error err = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_string text;
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  r.any_bytes = true;
  assert_true(zt_json_read_text(&r, &text));
  assert_true(zt_json_string_is(text, "\xFF\xED\xA0\x80\n"));
  free(b.p);
}

/* --- Interrupts --- */

TEST(test_interrupt){
  size_t n = 4*ZT_JSON_POLL_BYTES;
  blob b = { 0 };
  caller c = { 0, 3 };
  const zt_interrupt interrupt = { caller_stops, &c };
  zt_error err = ZT_ERROR_NONE;
  zt_json_reader r;
  put_byte(&b, '[');
  while( b.n<n ) put(&b, "{\"a\":[12345]},", 14);
  put(&b, "0]", 2);
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  assert_true(zt_json_read_skip(&r) && zt_json_read_finish(&r));   /* Without an interrupt callback */
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  zt_json_read_set_interrupt(&r, &interrupt);
  assert_false(zt_json_read_skip(&r));
  assert_int_equal(c.asked, 3);
  assert_int_equal(err.rc, SQLITE_INTERRUPT);
  zt_error_clear(&err);
  free(b.p);
}

/* No memory is needed but for a message. */
TEST(test_no_memory){
  blob b = exact("[\"\\n\",{\"a\":1},x]", 16);
  zt_error err = ZT_ERROR_NONE;
  zt_json_reader r;
  sqlite3_hard_heap_limit64(1);
  zt_json_read_init(&r, "manifest", span_of(b), &err);
  assert_false(zt_json_read_skip(&r));
  sqlite3_hard_heap_limit64(0);
  assert_int_equal(err.rc, SQLITE_NOMEM);
  zt_error_clear(&err);
  free(b.p);
}

int main(void){
  return run_all("json_read", NULL, NULL);
}
