/* The pull decoder for CBOR: core/cbor.h, whose rules C1 to C9 each have rows here. */
#include "test.h"

/* --- Three readers of the same bytes: a whole decode, a skip, and a join --- */

/* Write the next item in RFC 7049's diagnostic notation, by zt_cbor_next() alone. */
static void render(zt_cbor *c, sqlite3_str *out){
  static const char *const words[] = { "false", "true", "null", "undefined" };
  zt_cbor_item item;
  zt_cbor_level level;
  bool first = true;
  if( !zt_cbor_next(c, &item) ) return;
  switch( item.type ){
    case ZT_CBOR_UINT: sqlite3_str_appendf(out, "%llu", (unsigned long long)item.n); return;
    case ZT_CBOR_NINT: sqlite3_str_appendf(out, "-1-%llu", (unsigned long long)item.n); return;
    case ZT_CBOR_BYTES:
      sqlite3_str_appendall(out, "h'");
      for(uint64_t i=0; i<item.n; i++) sqlite3_str_appendf(out, "%02x", item.p[i]);
      sqlite3_str_appendall(out, "'");
      return;
    case ZT_CBOR_TEXT: sqlite3_str_appendf(out, "\"%.*s\"", (int)item.n, item.p); return;
    case ZT_CBOR_SIMPLE:
      if( item.is_float ){
        char z[64];
        snprintf(z, sizeof(z), "%.17g", item.real);
        sqlite3_str_appendf(out, "%s%s", z, strpbrk(z, ".en") ? "" : ".0");
      }else if( item.n>=ZT_CBOR_FALSE && item.n<=ZT_CBOR_UNDEFINED ){
        sqlite3_str_appendall(out, words[item.n-ZT_CBOR_FALSE]);
      }else{
        sqlite3_str_appendf(out, "simple(%llu)", (unsigned long long)item.n);
      }
      return;
    case ZT_CBOR_TAG:
      sqlite3_str_appendf(out, "%llu(", (unsigned long long)item.n);
      item.n = 1;
      if( !zt_cbor_enter(c, &item, &level) ) return;
      while( zt_cbor_more(c, &level) ) render(c, out);
      sqlite3_str_appendall(out, ")");
      return;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      if( !zt_cbor_enter(c, &item, &level) ) return;
      sqlite3_str_appendall(out, item.type==ZT_CBOR_MAP ? "{" : "[");
      while( zt_cbor_more(c, &level) ){
        if( !first ) sqlite3_str_appendall(out, ", ");
        first = false;
        render(c, out);
        if( item.type==ZT_CBOR_MAP ){
          sqlite3_str_appendall(out, ": ");
          render(c, out);
        }
      }
      sqlite3_str_appendall(out, item.type==ZT_CBOR_MAP ? "}" : "]");
      return;
  }
}

/* All of b, decoded; the caller's to free. */
static char *decode(blob b, zt_error *err, bool *chunked){
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_cbor c;
  zt_cbor_init(&c, b.p, b.n, err);
  zt_cbor_skip_self_described(&c);
  render(&c, out);
  zt_cbor_finish(&c);
  assert_int_equal(c.depth!=0 && !err->rc, 0);
  if( chunked ) *chunked = c.chunked;
  return sqlite3_str_finish(out);
}

static bool skip_all(blob b, zt_error *err){
  zt_cbor c;
  bool ok;
  zt_cbor_init(&c, b.p, b.n, err);
  zt_cbor_skip_self_described(&c);
  ok = zt_cbor_skip(&c) && zt_cbor_finish(&c);
  if( ok ) assert_int_equal(c.depth, 0);
  return ok;
}

/* A copy of b without chunks. */
static blob join(blob b, zt_error *err){
  blob copy = exact(b.p, b.n), out;
  size_t n = zt_cbor_join(copy.p, copy.n, NULL, err);
  assert_true(n<=b.n);
  assert_true((n==0)==(err->rc!=SQLITE_OK));
  out = exact(copy.p, n);
  free(copy.p);
  return out;
}

/* The three readers' common answer about b: NULL if it is well-formed, else the message, which the caller frees. */
static char *verdict(blob b){
  zt_error decoded = ZT_ERROR_NONE, skipped = ZT_ERROR_NONE, joined = ZT_ERROR_NONE;
  char *text = decode(b, &decoded, NULL), *message;
  bool ok = skip_all(b, &skipped);
  blob j = join(b, &joined);
  assert_int_equal(ok, skipped.rc==SQLITE_OK);
  check( decoded.rc==skipped.rc && decoded.rc==joined.rc, "%d, %d, %d", decoded.rc, skipped.rc, joined.rc );
  if( !ok ){
    assert_string_equal(decoded.message, skipped.message);
    assert_string_equal(decoded.message, joined.message);
  }
  message = decoded.message;
  zt_error_clear(&skipped);
  zt_error_clear(&joined);
  sqlite3_free(text);
  free(j.p);
  return message;
}

static void assert_rejected(blob b, const char *what, const char *row){
  char *message = verdict(b);
  check( message!=NULL, "%s: accepted", row );
  check( strstr(message, what)!=NULL, "%s: '%s' is not in '%s'", row, what, message );
  sqlite3_free(message);
}

/* --- The examples of RFC 7049, appendix A --- */

static const struct { const char *hex, *text; } examples[] = {
  { "00", "0" }, { "01", "1" }, { "0a", "10" }, { "17", "23" }, { "1818", "24" }, { "1819", "25" }, { "1864", "100" },
  { "1903e8", "1000" }, { "1a000f4240", "1000000" }, { "1b000000e8d4a51000", "1000000000000" },
  { "1bffffffffffffffff", "18446744073709551615" }, { "c249010000000000000000", "2(h'010000000000000000')" },
  { "3bffffffffffffffff", "-1-18446744073709551615" }, { "c349010000000000000000", "3(h'010000000000000000')" },
  { "20", "-1-0" }, { "29", "-1-9" }, { "3863", "-1-99" }, { "3903e7", "-1-999" },
  { "f90000", "0.0" }, { "f98000", "-0.0" }, { "f93c00", "1.0" }, { "fb3ff199999999999a", "1.1000000000000001" },
  { "f93e00", "1.5" }, { "f97bff", "65504.0" }, { "fa47c35000", "100000.0" }, { "fa7f7fffff", "3.4028234663852886e+38" },
  { "fb7e37e43c8800759c", "1.0000000000000001e+300" }, { "f90001", "5.9604644775390625e-08" }, { "f90400", "6.103515625e-05" },
  { "f9c400", "-4.0" }, { "fbc010666666666666", "-4.0999999999999996" },
  { "f97c00", "inf" }, { "f97e00", "nan" }, { "f9fc00", "-inf" }, { "fa7f800000", "inf" }, { "fa7fc00000", "nan" },
  { "faff800000", "-inf" }, { "fb7ff0000000000000", "inf" }, { "fb7ff8000000000000", "nan" }, { "fbfff0000000000000", "-inf" },
  { "f4", "false" }, { "f5", "true" }, { "f6", "null" }, { "f7", "undefined" }, { "f0", "simple(16)" },
  /* Appendix A also has f818, simple(24), which its own section 2.3 reserves: C5 refuses it. */
  { "f8ff", "simple(255)" }, { "f820", "simple(32)" },
  { "c074323031332d30332d32315432303a30343a30305a", "0(\"2013-03-21T20:04:00Z\")" }, { "c11a514b67b0", "1(1363896240)" },
  { "c1fb41d452d9ec200000", "1(1363896240.5)" }, { "d74401020304", "23(h'01020304')" },
  { "d818456449455446", "24(h'6449455446')" },
  { "d82076687474703a2f2f7777772e6578616d706c652e636f6d", "32(\"http://www.example.com\")" },
  { "40", "h''" }, { "4401020304", "h'01020304'" }, { "60", "\"\"" }, { "6161", "\"a\"" }, { "6449455446", "\"IETF\"" },
  { "62225c", "\"\"\\\"" }, { "62c3bc", "\"\xC3\xBC\"" }, { "63e6b0b4", "\"\xE6\xB0\xB4\"" },
  { "64f0908591", "\"\xF0\x90\x85\x91\"" },
  { "80", "[]" }, { "83010203", "[1, 2, 3]" }, { "8301820203820405", "[1, [2, 3], [4, 5]]" },
  { "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]" },
  { "a0", "{}" }, { "a201020304", "{1: 2, 3: 4}" }, { "a26161016162820203", "{\"a\": 1, \"b\": [2, 3]}" },
  { "826161a161626163", "[\"a\", {\"b\": \"c\"}]" },
  { "a56161614161626142616361436164614461656145", "{\"a\": \"A\", \"b\": \"B\", \"c\": \"C\", \"d\": \"D\", \"e\": \"E\"}" },
  { "5f42010243030405ff", "h'0102030405'" }, { "7f657374726561646d696e67ff", "\"streaming\"" },
  { "9fff", "[]" }, { "9f018202039f0405ffff", "[1, [2, 3], [4, 5]]" }, { "9f01820203820405ff", "[1, [2, 3], [4, 5]]" },
  { "83018202039f0405ff", "[1, [2, 3], [4, 5]]" }, { "83019f0203ff820405", "[1, [2, 3], [4, 5]]" },
  { "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]" },
  { "bf61610161629f0203ffff", "{\"a\": 1, \"b\": [2, 3]}" }, { "826161bf61626163ff", "[\"a\", {\"b\": \"c\"}]" },
  { "bf6346756ef563416d7421ff", "{\"Fun\": true, \"Amt\": -1-1}" },
};

TEST(test_the_examples_of_the_specification_decode){
  for(size_t i=0; i<COUNT(examples); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(examples[i].hex), joined;
    bool chunked, is_chunked = (b.p[0] & 0xDF)==0x5F;
    char *text = decode(b, &err, &chunked);
    assert_succeeded(&err, examples[i].hex);
    check( chunked==is_chunked, "%s", examples[i].hex );
    if( !is_chunked ) assert_string_equal(text, examples[i].text);
    sqlite3_free(text);
    assert_true(skip_all(b, &err));
    joined = join(b, &err);
    assert_succeeded(&err, examples[i].hex);
    check( is_chunked || same_blob(joined, b), "%s", examples[i].hex );
    text = decode(joined, &err, &chunked);
    assert_succeeded(&err, examples[i].hex);
    assert_false(chunked);
    assert_string_equal(text, examples[i].text);
    sqlite3_free(text);
    free(joined.p);
    free(b.p);
  }
}

TEST(test_every_example_cut_anywhere_fails){
  for(size_t i=0; i<COUNT(examples); i++){
    blob b = blob_of(examples[i].hex);
    for(size_t n=0; n<b.n; n++){
      blob cut = exact(b.p, n);
      assert_rejected(cut, "", examples[i].hex);
      free(cut.p);
    }
    free(b.p);
  }
}

TEST(test_every_example_with_a_byte_more_fails){
  for(size_t i=0; i<COUNT(examples); i++){
    blob b = { 0 };
    put_hex(&b, examples[i].hex);
    put_byte(&b, 0);
    b = seal(&b);
    assert_rejected(b, "1 bytes after the root item", examples[i].hex);
    free(b.p);
  }
}

/* Half floats against the formula of appendix D, all of them. */
TEST(test_every_half_float){
  for(unsigned bits=0; bits<0x10000; bits++){
    uint8_t p[3] = { 0xF9, (uint8_t)(bits>>8), (uint8_t)(bits & 0xFF) };
    zt_error err = ZT_ERROR_NONE;
    zt_cbor c;
    zt_cbor_item item;
    unsigned exponent = bits>>10 & 31, mantissa = bits & 1023;
    uint64_t sign = (uint64_t)(bits>>15)<<63, expected;
    double real;
    zt_cbor_init(&c, p, 3, &err);
    assert_true(zt_cbor_next(&c, &item) && item.is_float && item.type==ZT_CBOR_SIMPLE && item.n==0);
    if( exponent==31 && mantissa ){
      assert_true(item.real!=item.real);
      continue;
    }
    if( exponent==31 ) expected = sign | (uint64_t)0x7FF<<52;
    else if( exponent ) expected = sign | (uint64_t)(exponent-15+1023)<<52 | (uint64_t)mantissa<<42;
    else{
      real = (double)mantissa / 16777216.0;   /* 2^-24 each */
      memcpy(&expected, &real, 8);
      expected |= sign;
    }
    assert_memory_equal(&item.real, &expected, 8);
  }
}

/* --- The rules --- */

static const struct { const char *rule, *sentence, *hex, *message; } rejects[] = {
  { "C1", "reserved 28, unsigned", "1c", "manifest byte 0: reserved initial byte 0x1c" },
  { "C1", "reserved 29, unsigned", "1d", "reserved initial byte 0x1d" },
  { "C1", "reserved 30, unsigned", "1e", "reserved initial byte 0x1e" },
  { "C1", "reserved 28, negative", "3c", "reserved initial byte 0x3c" },
  { "C1", "reserved 29, bytes", "5d", "reserved initial byte 0x5d" },
  { "C1", "reserved 30, text", "7e", "reserved initial byte 0x7e" },
  { "C1", "reserved 28, array", "9c", "reserved initial byte 0x9c" },
  { "C1", "reserved 29, map", "bd", "reserved initial byte 0xbd" },
  { "C1", "reserved 30, tag", "de00", "reserved initial byte 0xde" },
  { "C1", "reserved 28, simple", "fc", "reserved initial byte 0xfc" },
  { "C1", "reserved 29, simple", "fd", "reserved initial byte 0xfd" },
  { "C1", "reserved 30, simple", "fe", "reserved initial byte 0xfe" },
  { "C1", "reserved, as a chunk", "7f7cff", "manifest byte 1: reserved initial byte 0x7c" },
  { "C1", "reserved, as a map's value", "a1617c7c", "manifest byte 3: reserved initial byte 0x7c" },
  { "C2", "an indefinite unsigned integer", "1fff", "initial byte 0x1f: this type has no indefinite length" },
  { "C2", "an indefinite negative integer", "3fff", "initial byte 0x3f: this type has no indefinite length" },
  { "C2", "an indefinite tag", "df00", "initial byte 0xdf: this type has no indefinite length" },
  { "C3", "a break as the root", "ff", "manifest byte 0: a break where an item is expected" },
  { "C3", "a break in a definite array", "8201ff", "manifest byte 2: a break where an item is expected" },
  { "C3", "a break for a key of a definite map", "a1ff00", "manifest byte 1: a break where" },
  { "C3", "a break for a value of a definite map", "a100ff", "manifest byte 2: a break where" },
  { "C3", "a break after a key of an indefinite map", "bf00ff", "manifest byte 2: a break where an item is expected" },
  { "C3", "a break after a tag", "c1ff", "manifest byte 1: a break where" },
  { "C3", "a break in a definite array within an indefinite one", "9f8201ffff", "manifest byte 3: a break where" },
  { "C4", "a byte string within text", "7f4161ff", "manifest byte 1: a chunk of a string in chunks is a byte string" },
  { "C4", "text within a byte string", "5f6161ff", "a chunk of a string in chunks is text" },
  { "C4", "an integer within a byte string", "5f00ff", "a chunk of a string in chunks is an unsigned integer" },
  { "C4", "a negative integer within text", "7f20ff", "a chunk of a string in chunks is a negative integer" },
  { "C4", "an array within text", "7f80ff", "a chunk of a string in chunks is an array" },
  { "C4", "a map within text", "7fa0ff", "a chunk of a string in chunks is a map" },
  { "C4", "a tag within text", "7fc16161ff", "a chunk of a string in chunks is a tag" },
  { "C4", "null within text", "7ff6ff", "a chunk of a string in chunks is null" },
  { "C4", "chunks within chunks, text", "7f7f6161ffff", "manifest byte 1: a chunk of a string in chunks is text" },
  { "C4", "chunks within chunks, bytes", "5f41005f4100ffff",
    "manifest byte 3: a chunk of a string in chunks is a byte string" },
  { "C5", "simple(0) in two bytes", "f800", "manifest byte 0: a two-byte simple value below 32" },
  { "C5", "false in two bytes", "f814", "a two-byte simple value below 32" },
  { "C5", "simple(24) in two bytes", "f818", "a two-byte simple value below 32" },
  { "C5", "simple(31) in two bytes", "f81f", "a two-byte simple value below 32" },
  { "C6", "nothing at all", "", "manifest byte 0: the manifest ends in the middle of an item" },
  { "C6", "an argument of 1 byte, cut", "18", "the manifest ends in the middle of an item" },
  { "C6", "an argument of 2 bytes, cut", "1901", "the manifest ends in the middle of an item" },
  { "C6", "an argument of 4 bytes, cut", "1a010203", "the manifest ends in the middle of an item" },
  { "C6", "an argument of 8 bytes, cut", "1b01020304050607", "the manifest ends in the middle of an item" },
  { "C6", "a half float, cut", "f97c", "the manifest ends in the middle of an item" },
  { "C6", "a byte string longer than the bytes left", "4301 02", "a string of 3 bytes, 3 are left" },
  { "C6", "text longer than the bytes left", "6261", "a string of 2 bytes, 2 are left" },
  { "C6", "a string of 2^64-1 bytes", "5bffffffffffffffff00", "a string of 18446744073709551615 bytes" },
  { "C6", "a text of 2^63 bytes", "7b800000000000000000", "a string of 9223372036854775808 bytes" },
  { "C6", "a text of 2^32 bytes", "7b000000010000000000", "a string of 4294967296 bytes" },
  { "C6", "a chunk longer than the bytes left", "7f6361ff", "manifest byte 1: a string of 3 bytes" },
  { "C6", "an array of more items than bytes", "8301", "3 items declared, 2 bytes are left" },
  { "C6", "an array of 2^64-1 items", "9bffffffffffffffff00", "18446744073709551615 items declared" },
  { "C6", "a map of more pairs than half the bytes", "a2000102", "2 pairs declared, 4 bytes are left" },
  { "C6", "a map of 2^63 pairs, doubled 0", "bb800000000000000000", "9223372036854775808 pairs declared" },
  { "C6", "a map of 2^64-1 pairs", "bbffffffffffffffff0000", "18446744073709551615 pairs declared" },
  { "C6", "an indefinite array without its break", "9f0102", "the manifest ends in the middle of an item" },
  { "C6", "an indefinite map without its break", "bf0102", "the manifest ends in the middle of an item" },
  { "C6", "chunks without their break", "7f6161", "the manifest ends in the middle of an item" },
  { "C6", "a tag without its item", "c1", "the manifest ends in the middle of an item" },
  { "C7", "a continuation byte alone", "6180", "manifest byte 0: text that is not UTF-8" },
  { "C7", "an overlong '/'", "62c0af", "text that is not UTF-8" },
  { "C7", "an overlong NUL in three bytes", "63e08080", "text that is not UTF-8" },
  { "C7", "a surrogate", "63eda080", "text that is not UTF-8" },
  { "C7", "above U+10FFFF", "64f4908080", "text that is not UTF-8" },
  { "C7", "a character cut off", "62e6b0", "text that is not UTF-8" },
  { "C7", "in a text with a head of 2 bytes", "781a6162636465666768696a6b6c6d6e6f7071727374757677787980",
    "text that is not UTF-8" },
  { "C7", "in a text with a head of 3 bytes", "79001a6162636465666768696a6b6c6d6e6f7071727374757677787980",
    "text that is not UTF-8" },
  { "C7", "in a chunk", "7f6161618061 62ff", "manifest byte 3: text that is not UTF-8" },
  { "C7", "a character split over two chunks", "7f61c361bcff", "manifest byte 1: text that is not UTF-8" },
  { "C9", "a second item", "0000", "manifest byte 1: 1 bytes after the root item" },
  { "C9", "a second root", "80a0a0", "2 bytes after the root item" },
  { "C9", "a break after the root", "80ff", "1 bytes after the root item" },
  { "C9", "bytes after a self-described root", "d9d9f70000", "manifest byte 4: 1 bytes after the root item" },
  { "C9", "a self-described tag and nothing", "d9d9f7", "the manifest ends in the middle of an item" },
  { "C9", "a self-described tag behind the root", "00d9d9f7", "3 bytes after the root item" },
};

TEST(test_every_rule_rejects){
  for(size_t i=0; i<COUNT(rejects); i++){
    blob b = blob_of(rejects[i].hex);
    assert_rejected(b, rejects[i].message, rejects[i].sentence);
    free(b.p);
  }
}

/* C8 has its rows in test_depth_64_is_accepted_and_65_is_not. */
TEST(test_every_rule_has_rows){
  for(char digit='1'; digit<='9'; digit++){
    size_t n = digit=='8';
    for(size_t i=0; i<COUNT(rejects); i++) n += rejects[i].rule[0]=='C' && rejects[i].rule[1]==digit;
    check( n>0, "C%c", digit );
  }
}

TEST(test_what_looks_odd_but_is_well_formed){
  static const struct { const char *sentence, *hex, *text; } rows[] = {
    { "tag 55799 before the root", "d9d9f780", "[]" },
    { "tag 55799 in eight bytes", "db000000000000d9f780", "[]" },
    { "tag 55799 twice: the second is an ordinary one", "d9d9f7d9d9f780", "55799([])" },
    { "another tag before the root", "c180", "1([])" },
    { "tag 55799 inside", "81d9d9f700", "[55799(0)]" },
    { "an array that just fits", "820001", "[0, 1]" },
    { "a map that just fits", "a200010203", "{0: 1, 2: 3}" },
    { "integers in more bytes than needed", "841800190000 1a00000000 1b0000000000000000", "[0, 0, 0, 0]" },
    { "lengths in more bytes than needed", "9900025800 7b000000000000000161", "[h'', \"a\"]" },
    { "a float as a key", "a1f93c0000", "{1.0: 0}" },
    { "the lowest and highest simple values", "83e0f3f8ff", "[simple(0), simple(19), simple(255)]" },
    { "the highest tag", "dbffffffffffffffff00", "18446744073709551615(0)" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    char *text = decode(b, &err, NULL);
    assert_succeeded(&err, rows[i].sentence);
    assert_string_equal(text, rows[i].text);
    assert_null(verdict(b));
    sqlite3_free(text);
    free(b.p);
  }
}

/* --- C8 --- */

static const struct { const char *what, *open, *close; } nests[] = {
  { "definite arrays", "81", "" },
  { "arrays with a head of 2 bytes", "9801", "" },
  { "indefinite arrays", "9f", "ff" },
  { "maps' values", "a100", "" },
  { "maps' keys", "a1", "00" },
  { "indefinite maps' values", "bf00", "ff" },
  { "tags", "c1", "" },
  { "self-described tags", "d9d9f7", "" },
};

static blob nested(size_t kind, int levels, bool mixed){
  blob b = { 0 };
  for(int i=0; i<levels; i++) put_hex(&b, nests[mixed ? ((size_t)i+kind)%COUNT(nests) : kind].open);
  put_byte(&b, 0);
  for(int i=levels; i-->0;) put_hex(&b, nests[mixed ? ((size_t)i+kind)%COUNT(nests) : kind].close);
  return seal(&b);
}

TEST(test_depth_64_is_accepted_and_65_is_not){
  for(size_t kind=0; kind<COUNT(nests); kind++){
    for(int mixed=0; mixed<2; mixed++){
      /* A self-described tag before the root is none of its levels. */
      int most = (mixed ? kind%COUNT(nests) : kind)==COUNT(nests)-1 ? 65 : 64;
      for(int levels=1; levels<=68; levels++){
        blob b = nested(kind, levels, mixed);
        if( levels<=most ) check( verdict(b)==NULL, "%s: %d levels", nests[kind].what, levels );
        else assert_rejected(b, "nested deeper than 64 levels", nests[kind].what);
        free(b.p);
      }
    }
  }
}

TEST(test_depth_far_beyond_the_limit_needs_no_stack){
  for(size_t kind=0; kind<COUNT(nests); kind++){
    blob b = nested(kind, 1000000, false);
    assert_rejected(b, "nested deeper than 64 levels", nests[kind].what);
    free(b.p);
  }
}

TEST(test_depth_counts_from_where_the_reader_is){
  for(int depth=0; depth<=64; depth++){
    for(int levels=1; levels<=66-depth; levels++){
      zt_error err = ZT_ERROR_NONE;
      blob b = nested(0, levels, false);
      zt_cbor c;
      zt_cbor_init_trusted(&c, span_of(b), 0, depth, &err);
      check( zt_cbor_skip(&c)==(depth+levels<=64), "%d + %d", depth, levels );
      if( depth+levels<=64 ) assert_int_equal(c.depth, depth);
      else assert_failed(&err, "nested deeper", "depth");
      free(b.p);
    }
  }
}

/* --- Heads of every width --- */

TEST(test_heads_of_every_width){
  static const unsigned widths[] = { 0, 1, 2, 4, 8 };
  static const uint64_t values[] = {
    0, 1, 22, 23, 24, 0xFE, 0xFF, 0x100, 0xFFFE, 0xFFFF, 0x10000, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, UINT64_MAX-1, UINT64_MAX
  };
  static const zt_cbor_type types[] = { ZT_CBOR_UINT, ZT_CBOR_NINT, ZT_CBOR_TAG };
  for(size_t t=0; t<COUNT(types); t++){
    for(size_t w=0; w<COUNT(widths); w++){
      for(size_t v=0; v<COUNT(values); v++){
        zt_error err = ZT_ERROR_NONE;
        blob b = { 0 };
        zt_cbor c;
        zt_cbor_item item;
        uint64_t u;
        if( least_width(values[v])>widths[w] ) continue;
        put_head_of(&b, types[t], values[v], widths[w]);
        b = seal(&b);
        zt_cbor_init(&c, b.p, b.n, &err);
        assert_true(zt_cbor_next(&c, &item));
        assert_int_equal(item.type, types[t]);
        assert_int_equal(item.n, values[v]);
        assert_ptr_equal(c.p, c.end);
        zt_cbor_init(&c, b.p, b.n, &err);
        if( types[t]==ZT_CBOR_UINT ){
          assert_true(zt_cbor_uint(&c, &u));
          assert_int_equal(u, values[v]);
          assert_ptr_equal(c.p, c.end);
        }
        free(b.p);
      }
    }
  }
}

TEST(test_strings_and_containers_with_heads_of_every_width){
  static const unsigned widths[] = { 0, 1, 2, 4, 8 };
  static const size_t lengths[] = { 0, 1, 23, 24, 255, 256, 65535, 65536 };
  for(unsigned type=ZT_CBOR_BYTES; type<=ZT_CBOR_MAP; type++){
    for(size_t w=0; w<COUNT(widths); w++){
      for(size_t l=0; l<COUNT(lengths); l++){
        size_t n = lengths[l];
        zt_error err = ZT_ERROR_NONE;
        blob b = { 0 };
        zt_cbor c;
        zt_cbor_item item;
        zt_cbor_level level;
        zt_text text;
        if( least_width(n)>widths[w] ) continue;
        put_head_of(&b, (zt_cbor_type)type, n, widths[w]);
        put_repeated(&b, 0x11, type==ZT_CBOR_MAP ? 2*n : n);
        b = seal(&b);
        zt_cbor_init(&c, b.p, b.n, &err);
        assert_true(zt_cbor_next(&c, &item));
        assert_true(item.type==(zt_cbor_type)type && !item.indefinite && item.n==n);
        if( type<=ZT_CBOR_TEXT ){
          assert_ptr_equal(item.p, b.p+b.n-n);
          assert_ptr_equal(c.p, c.end);
        }else{
          size_t count = 0;
          zt_cbor_init(&c, b.p, b.n, &err);
          assert_true(zt_cbor_open(&c, (zt_cbor_type)type, &level));
          assert_int_equal(c.depth, 1);
          for(; zt_cbor_more(&c, &level); count++){
            uint64_t u;
            assert_true(zt_cbor_uint(&c, &u) && u==0x11);
            if( type==ZT_CBOR_MAP ) assert_true(zt_cbor_uint(&c, &u) && u==0x11);
          }
          assert_int_equal(count, n);
          assert_int_equal(c.depth, 0);
          assert_ptr_equal(c.p, c.end);
        }
        if( type==ZT_CBOR_TEXT ){
          zt_cbor_init(&c, b.p, b.n, &err);
          assert_true(zt_cbor_text(&c, &text));
          assert_int_equal(text.n, n);
          if( n ) assert_ptr_equal(text.z, b.p+b.n-n);
          assert_non_null(text.z);
        }
        assert_succeeded(&err, "head");
        assert_true(skip_all(b, &err));
        free(b.p);
      }
    }
  }
}

/* --- What is in line says the same as what is not --- */

typedef struct outcome {
  bool ok;
  size_t at;           /* Position afterwards */
  int depth;
  uint64_t n;          /* The value, or the text's length, or the items left */
  bool indefinite;
  char text[64];
  char message[128];
} outcome;

enum { READ_UINT, READ_TEXT, READ_ARRAY, READ_MAP, READ_SKIP, READ_KINDS };

static outcome read_one(int what, bool slow, blob b, bool trusted){
  outcome o = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c;
  zt_text text = { "unset", 5 };
  zt_cbor_level level = { 0, false };
  uint64_t u = 0xABC;
  zt_cbor_init(&c, b.p, b.n, &err);
  c.trusted = trusted;
  switch( what ){
    case READ_UINT:
      o.ok = slow ? zt_cbor_uint_slow(&c, &u) : zt_cbor_uint(&c, &u);
      o.n = u;
      break;
    case READ_TEXT:
      o.ok = slow ? zt_cbor_text_slow(&c, &text) : zt_cbor_text(&c, &text);
      o.n = text.n;
      memcpy(o.text, text.z, text.n<sizeof(o.text) ? text.n : sizeof(o.text));
      break;
    case READ_ARRAY: case READ_MAP:{
      zt_cbor_type type = what==READ_MAP ? ZT_CBOR_MAP : ZT_CBOR_ARRAY;
      o.ok = slow ? zt_cbor_open_slow(&c, type, &level) : zt_cbor_open(&c, type, &level);
      o.n = o.ok ? level.remaining : 0;
      o.indefinite = o.ok && level.indefinite;
      break;
    }
    default:
      o.ok = slow ? zt_cbor_skip_slow(&c) : zt_cbor_skip(&c);
      break;
  }
  assert_int_equal(o.ok, err.rc==SQLITE_OK);
  o.at = (size_t)(c.p - b.p);
  o.depth = o.ok ? c.depth : 0;
  if( err.rc ){
    assert_non_null(err.message);
    assert_int_equal(o.at, b.n);
    snprintf(o.message, sizeof(o.message), "%s", err.message);
    if( what==READ_UINT ) assert_int_equal(u, 0);
    if( what==READ_TEXT ) assert_true(text.z && text.n==0);
  }
  zt_error_clear(&err);
  return o;
}

static void compare_paths(blob b, bool trusted){
  for(int what=0; what<READ_KINDS; what++){
    outcome fast = read_one(what, false, b, trusted), slow = read_one(what, true, b, trusted);
    if( fast.ok!=slow.ok || fast.at!=slow.at || fast.depth!=slow.depth || fast.n!=slow.n || fast.indefinite!=slow.indefinite
     || memcmp(fast.text, slow.text, sizeof(fast.text))!=0 || strcmp(fast.message, slow.message)!=0 ){
      for(size_t i=0; i<b.n; i++) print_error("%02x", b.p[i]);
      fail_msg(": getter %d: %d at %zu '%s', %d at %zu '%s'", what, fast.ok, fast.at, fast.message, slow.ok, slow.at,
          slow.message);
    }
  }
}

TEST(test_fast_and_slow_paths_agree_on_every_initial_byte_and_length){
  static const uint8_t fills[] = { 0x00, 0x01, 0x17, 0x18, 0x61, 0x80, 0xFF };
  for(unsigned initial=0; initial<256; initial++){
    for(size_t n=0; n<=40; n++){
      for(size_t f=0; f<COUNT(fills); f++){
        blob b = { 0 };
        put_repeated(&b, fills[f], n);
        if( n ) b.p[0] = (uint8_t)initial;
        b = seal(&b);
        compare_paths(b, false);
        free(b.p);
      }
    }
  }
}

/* Text of every length with either head, with every number of bytes after it: none is where the fast path gives up. */
TEST(test_fast_and_slow_paths_agree_on_text_with_and_without_bytes_after_it){
  for(size_t n=0; n<=40; n++){
    for(unsigned width=0; width<=8; width = width ? width*2 : 1){
      outcome alone = { 0 };
      if( least_width(n)>width ) continue;
      for(size_t after=0; after<=20; after++){
        blob b = { 0 };
        outcome o;
        put_head_of(&b, ZT_CBOR_TEXT, n, width);
        for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)('a'+i%26));
        put_repeated(&b, 0xFF, after);
        b = seal(&b);
        compare_paths(b, false);
        compare_paths(b, true);
        o = read_one(READ_TEXT, false, b, false);
        assert_true(o.ok && o.n==n);
        if( after==0 ) alone = o;
        assert_int_equal(o.at, alone.at);
        assert_memory_equal(o.text, alone.text, sizeof(o.text));
        o = read_one(READ_SKIP, false, b, false);
        assert_true(o.ok);
        assert_int_equal(o.at, alone.at);
        free(b.p);
      }
    }
  }
}

TEST(test_fast_and_slow_paths_agree_on_integers_with_and_without_bytes_after_them){
  static const uint64_t values[] = { 0, 23, 24, 255, 256, 65535, 65536, 0xFFFFFFFF, 0x100000000, UINT64_MAX };
  for(size_t v=0; v<COUNT(values); v++){
    for(unsigned width=0; width<=8; width = width ? width*2 : 1){
      if( least_width(values[v])>width ) continue;
      for(size_t after=0; after<=20; after++){
        blob b = { 0 };
        outcome o;
        put_head_of(&b, ZT_CBOR_UINT, values[v], width);
        put_repeated(&b, 0xFF, after);
        b = seal(&b);
        compare_paths(b, false);
        o = read_one(READ_UINT, false, b, false);
        assert_true(o.ok && o.n==values[v] && o.at==1+width);
        o = read_one(READ_SKIP, false, b, false);
        assert_true(o.ok && o.at==1+width);
        free(b.p);
      }
    }
  }
}

TEST(test_fast_and_slow_paths_agree_on_containers_at_every_depth){
  for(unsigned type=ZT_CBOR_ARRAY; type<=ZT_CBOR_MAP; type++){
    for(unsigned n=0; n<=26; n++){
      for(size_t after=0; after<=60; after++){
        for(int depth=62; depth<=64; depth++){
          blob b = { 0 };
          bool ok[2];
          zt_cbor_level levels[2] = { { 0, false }, { 0, false } };
          size_t at[2];
          put_head(&b, (zt_cbor_type)type, n);
          put_repeated(&b, 0, after);
          b = seal(&b);
          for(int slow=0; slow<2; slow++){
            zt_error err = ZT_ERROR_NONE;
            zt_cbor c;
            zt_cbor_init(&c, b.p, b.n, &err);
            c.depth = depth;
            ok[slow] = slow ? zt_cbor_open_slow(&c, (zt_cbor_type)type, &levels[1])
                            : zt_cbor_open(&c, (zt_cbor_type)type, &levels[0]);
            at[slow] = (size_t)(c.p - b.p);
            if( ok[slow] ) assert_int_equal(c.depth, depth+1);
            zt_error_clear(&err);
          }
          assert_int_equal(ok[0], ok[1]);
          assert_int_equal(ok[0], depth<64 && (type==ZT_CBOR_MAP ? 2*n : n)<=after);
          assert_int_equal(at[0], at[1]);
          if( ok[0] ) assert_true(levels[0].remaining==n && levels[1].remaining==n && !levels[0].indefinite && !levels[1].indefinite);
          free(b.p);
        }
      }
    }
  }
}

TEST(test_fast_and_slow_paths_agree_on_random_bytes){
  uint64_t seed = 7049;
  unsigned good = 0;
  for(int i=0; i<60000; i++){
    blob b = { 0 };
    size_t n = random_below(&seed, 34);
    for(size_t k=0; k<n; k++) put_byte(&b, (unsigned)random_below(&seed, 256));
    if( n && i%2 ) b.p[0] = (uint8_t)(0x60 | random_below(&seed, 32));
    for(size_t k=1; k<n && i%4; k++) b.p[k] &= 0x7F;
    b = seal(&b);
    compare_paths(b, false);
    good += read_one(READ_SKIP, false, b, false).ok;
    free(b.p);
  }
  assert_true(good>5000);
}

/* --- Small promises --- */

TEST(test_types_are_named_in_messages){
  static const struct { const char *hex, *found; } rows[] = {
    { "", "the end of the manifest" }, { "00", "an unsigned integer" }, { "20", "a negative integer" },
    { "40", "a byte string" },
    { "60", "text" }, { "7f", "text" }, { "80", "an array" }, { "a0", "a map" }, { "c0", "a tag" }, { "f4", "a boolean" },
    { "f5", "a boolean" }, { "f6", "null" }, { "f7", "undefined" }, { "f90000", "a float" }, { "fa00000000", "a float" },
    { "fb", "a float" }, { "ff", "a break" }, { "e0", "a simple value" }, { "f820", "a simple value" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = blob_of(rows[i].hex);
    char expected[100];
    zt_cbor c;
    zt_cbor_init(&c, b.p, b.n, &err);
    assert_false(zt_cbor_fail_type(&c, NULL, "a piano"));
    snprintf(expected, sizeof(expected), "ztensor: manifest byte 0: expected a piano, found %s", rows[i].found);
    assert_string_equal(err.message, expected);
    assert_ptr_equal(c.p, c.end);
    zt_error_clear(&err);
    free(b.p);
  }
}

TEST(test_the_first_failure_stays_and_everything_after_it_fails){
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("8300 1c 6161 80 00 00 00 00 00 00 00 00");
  zt_cbor c;
  zt_cbor_item item;
  zt_cbor_level level, inner = { 3, false };
  zt_text text;
  uint64_t u;
  char *first;
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_cbor_open(&c, ZT_CBOR_ARRAY, &level));
  assert_true(zt_cbor_more(&c, &level) && zt_cbor_uint(&c, &u) && u==0);
  assert_true(zt_cbor_more(&c, &level));
  u = 7;
  assert_false(zt_cbor_uint(&c, &u));
  assert_int_equal(u, 0);
  first = sqlite3_mprintf("%s", err.message);
  assert_string_equal(first, "ztensor: manifest byte 2: reserved initial byte 0x1c");
  for(int round=0; round<2; round++){
    u = 7;
    text = ZT_TEXT("old");
    item = (zt_cbor_item){ .n = 7, .real = 7, .is_float = true, .indefinite = true };
    assert_false(zt_cbor_uint(&c, &u));
    assert_false(zt_cbor_text(&c, &text));
    assert_false(zt_cbor_next(&c, &item));
    assert_false(zt_cbor_open(&c, ZT_CBOR_ARRAY, &inner));
    assert_false(zt_cbor_open(&c, ZT_CBOR_MAP, &inner));
    assert_false(zt_cbor_skip(&c));
    assert_false(zt_cbor_more(&c, &level));
    assert_false(zt_cbor_null(&c));
    assert_false(zt_cbor_finish(&c));
    assert_false(zt_cbor_fail(&c, NULL, "another failure"));
    zt_cbor_skip_self_described(&c);
    assert_int_equal(u, 0);
    assert_true(text.z && text.n==0);
    assert_true(item.n==0 && item.p==NULL && !item.indefinite && !item.is_float);
    assert_int_equal(zt_cbor_peek(&c), ZT_CBOR_SIMPLE);
    assert_string_equal(err.message, first);
  }
  sqlite3_free(first);
  zt_error_clear(&err);
  free(b.p);
}

TEST(test_null_is_consumed_and_nothing_else_is){
  static const char *const others[] = { "f7", "f4", "00", "60", "16", "e0", "f816", "d6f6" };
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("f6f6");
  zt_cbor c;
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_cbor_null(&c) && zt_cbor_null(&c) && !zt_cbor_null(&c));
  assert_ptr_equal(c.p, c.end);
  free(b.p);
  for(size_t i=0; i<COUNT(others); i++){
    b = blob_of(others[i]);
    zt_cbor_init(&c, b.p, b.n, &err);
    assert_false(zt_cbor_null(&c));
    assert_ptr_equal(c.p, b.p);
    free(b.p);
  }
  assert_succeeded(&err, "null");
}

TEST(test_a_trusted_reader_starts_anywhere_and_counts_from_the_first_byte){
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("83 1903e8 62c3bc 1c");
  zt_cbor c;
  zt_text text;
  uint64_t u;
  zt_cbor_init_trusted(&c, span_of(b), 1, 1, &err);
  assert_true(zt_cbor_uint(&c, &u) && u==1000);
  assert_true(zt_cbor_text(&c, &text));
  assert_text(text, "\xC3\xBC", "trusted");
  assert_false(zt_cbor_skip(&c));
  assert_failed(&err, "manifest byte 7: reserved", "trusted");
  free(b.p);
}

TEST(test_text_in_chunks_is_noted_checked_and_not_handed_out){
  zt_error err = ZT_ERROR_NONE;
  blob b = blob_of("82 7f6161 6162ff 01");
  zt_cbor c;
  zt_cbor_level level;
  zt_text text;
  uint64_t u;
  zt_cbor_init(&c, b.p, b.n, &err);
  assert_true(zt_cbor_open(&c, ZT_CBOR_ARRAY, &level));
  assert_false(c.chunked);
  assert_true(zt_cbor_text(&c, &text));
  assert_text(text, "", "chunks");
  assert_true(c.chunked);
  assert_true(zt_cbor_uint(&c, &u) && u==1);
  free(b.p);
}

/* --- Joining chunks --- */

static void assert_joined(blob b, blob expected, const char *row){
  zt_error err = ZT_ERROR_NONE;
  blob j = join(b, &err);
  assert_succeeded(&err, row);
  check( j.n<=b.n, "%s: %zu bytes became %zu", row, b.n, j.n );
  check( same_blob(j, expected), "%s: %zu bytes, expected %zu", row, j.n, expected.n );
  free(j.p);
}

TEST(test_join_by_hand){
  static const struct { const char *what, *hex, *expected; } rows[] = {
    { "nothing in chunks", "a2616101616282f4f6", "a2616101616282f4f6" },
    { "no chunk at all, text", "7fff", "60" },
    { "no chunk at all, bytes", "5fff", "40" },
    { "one empty chunk", "7f60ff", "60" },
    { "only empty chunks", "5f40404040ff", "40" },
    { "empty chunks around", "7f60616160 616260ff", "626162" },
    { "one chunk", "7f6161ff", "6161" },
    { "chunks with long heads", "7f 7b000000000000000161 780162 ff", "626162" },
    { "in an array", "837f6161ff 01 5f41004101ff", "83616101420001" },
    { "a key and its value", "a17f61616162ff 5f4100ff", "a16261624100" },
    { "in a tag", "c27f6161ff", "c26161" },
    { "in an indefinite map in an indefinite array", "9fbf7f6161ff5fffffff", "9fbf616140ffff" },
    { "deep", "818181817f6161ff", "818181816161" },
    { "a self-described root", "d9d9f7817f6161ff", "816161" },
    { "definite strings with long heads stay as they are", "82 7b000000000000000161 7f6162ff", "82 7b000000000000000161 6162" },
    { "a characters' boundary between chunks", "7f62c3bc63e6b0b4ff", "65c3bce6b0b4" },
    { "floats and simple values after it are moved", "847fff f93c00 fb3ff199999999999a f8ff",
      "8460f93c00fb3ff199999999999af8ff" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i].hex), expected = blob_of(rows[i].expected);
    assert_joined(b, expected, rows[i].what);
    free(b.p);
    free(expected.p);
  }
}

/* Chunks of one size, as many as make the joined head as long as 1, 2, 3 and 5 bytes. */
TEST(test_join_many_small_chunks){
  static const size_t totals[] = { 0, 1, 22, 23, 24, 25, 254, 255, 256, 257, 65534, 65535, 65536, 65537, 200000 };
  static const size_t sizes[] = { 1, 2, 23, 24, 255, 256 };
  for(size_t t=0; t<COUNT(totals); t++){
    for(size_t s=0; s<COUNT(sizes); s++){
      for(unsigned type=ZT_CBOR_BYTES; type<=ZT_CBOR_TEXT; type++){
        blob b = { 0 }, expected = { 0 };
        put_map(&b, 1);
        put_map(&expected, 1);
        put_uint(&b, 7);
        put_uint(&expected, 7);
        put_byte(&b, type<<5 | 31);
        put_head(&expected, (zt_cbor_type)type, totals[t]);
        for(size_t done=0; done<totals[t];){
          size_t n = totals[t]-done<sizes[s] ? totals[t]-done : sizes[s];
          put_head(&b, (zt_cbor_type)type, n);
          for(size_t i=0; i<n; i++, done++){
            put_byte(&b, (unsigned)('a'+done%26));
            put_byte(&expected, (unsigned)('a'+done%26));
          }
        }
        put_byte(&b, 0xFF);
        b = seal(&b);
        assert_joined(b, expected, "many chunks");
        free(b.p);
        free(expected.p);
      }
    }
  }
}

/* A random item, written to b with strings in chunks here and there, and to `plain` as the join must have it. */
static void put_random_item(blob *b, blob *plain, uint64_t *seed, int depth);

static unsigned random_width(uint64_t *seed, uint64_t n){
  unsigned width = least_width(n);
  if( random_below(seed, 4)==0 ) while( width<8 && random_below(seed, 2) ) width = width ? width*2 : 1;
  return width;
}

static void put_both(blob *b, blob *plain, const void *p, size_t n){
  put(b, p, n);
  put(plain, p, n);
}

static void put_head_in_both(blob *b, blob *plain, zt_cbor_type type, uint64_t n, uint64_t *seed){
  unsigned width = random_width(seed, n);
  put_head_of(b, type, n, width);
  put_head_of(plain, type, n, width);
}

static void put_random_characters(blob *b, size_t n, uint64_t *seed, bool text){
  static const char *const characters[] = { "a", "Z", "\xC3\xBC", "\xE6\xB0\xB4", "\xF0\x90\x85\x91" };
  for(size_t i=0; i<n; i++){
    const char *z = characters[random_below(seed, COUNT(characters))];
    if( text ) put(b, z, strlen(z));
    else put_byte(b, (unsigned)random_below(seed, 256));
  }
}

static void put_random_string(blob *b, blob *plain, zt_cbor_type type, uint64_t *seed){
  blob content = { 0 };
  size_t chunks = random_below(seed, 2) ? random_below(seed, random_below(seed, 10)==0 ? 300 : 6) : 0;
  if( chunks==0 && random_below(seed, 4) ){
    put_random_characters(&content, random_below(seed, random_below(seed, 8)==0 ? 400 : 30), seed, type==ZT_CBOR_TEXT);
    put_head_in_both(b, plain, type, content.n, seed);
    put_both(b, plain, content.p, content.n);
  }else{
    put_byte(b, (unsigned)type<<5 | 31);
    for(size_t i=0; i<chunks; i++){
      blob chunk = { 0 };
      put_random_characters(&chunk, random_below(seed, random_below(seed, 8)==0 ? 300 : 4), seed, type==ZT_CBOR_TEXT);
      put_head_of(b, type, chunk.n, random_width(seed, chunk.n));
      put(b, chunk.p, chunk.n);
      put(&content, chunk.p, chunk.n);
      free(chunk.p);
    }
    put_byte(b, 0xFF);
    put_head(plain, type, content.n);
    put(plain, content.p, content.n);
  }
  free(content.p);
}

static void put_random_item(blob *b, blob *plain, uint64_t *seed, int depth){
  zt_cbor_type type = (zt_cbor_type)random_below(seed, depth<5 ? 8 : 4);
  size_t n = random_below(seed, 5);
  uint8_t buffer[9] = { 0 };
  switch( type ){
    case ZT_CBOR_UINT: case ZT_CBOR_NINT:
      put_head_in_both(b, plain, type, random64(seed) >> random_below(seed, 64), seed);
      break;
    case ZT_CBOR_BYTES: case ZT_CBOR_TEXT:
      put_random_string(b, plain, type, seed);
      break;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:{
      bool indefinite = random_below(seed, 3)==0;
      buffer[0] = (uint8_t)(type<<5 | 31);
      if( indefinite ) put_both(b, plain, buffer, 1);
      else put_head_in_both(b, plain, type, n, seed);
      for(size_t i=0; i<(type==ZT_CBOR_MAP ? 2*n : n); i++) put_random_item(b, plain, seed, depth+1);
      buffer[0] = 0xFF;
      if( indefinite ) put_both(b, plain, buffer, 1);
      break;
    }
    case ZT_CBOR_TAG:
      put_head_in_both(b, plain, type, random_below(seed, 1000), seed);   /* Never 55799 */
      put_random_item(b, plain, seed, depth+1);
      break;
    case ZT_CBOR_SIMPLE:
      for(int i=1; i<9; i++) buffer[i] = (uint8_t)random64(seed);
      buffer[0] = (uint8_t)(0xF9+random_below(seed, 3));
      if( n==0 ){
        put_both(b, plain, buffer, (size_t)1 + (2u<<(buffer[0]-0xF9)));
      }else if( n==1 ){
        buffer[0] = 0xF8;
        buffer[1] |= 0x20;
        put_both(b, plain, buffer, 2);
      }else{
        buffer[0] = (uint8_t)(0xE0+random_below(seed, 24));
        put_both(b, plain, buffer, 1);
      }
      break;
  }
}

TEST(test_join_of_random_structures){
  uint64_t seed = 1;
  unsigned shorter = 0;
  for(int i=0; i<4000; i++){
    blob b = { 0 }, plain = { 0 }, again;
    zt_error err = ZT_ERROR_NONE;
    bool chunked;
    put_random_item(&b, &plain, &seed, 0);
    b = seal(&b);
    plain = seal(&plain);
    assert_joined(b, plain, "random");
    shorter += plain.n<b.n;
    again = join(plain, &err);                 /* Nothing is left to join */
    assert_true(same_blob(again, plain));
    sqlite3_free(decode(plain, &err, &chunked));
    assert_succeeded(&err, "random");
    assert_false(chunked);
    free(again.p);
    free(plain.p);
    free(b.p);
  }
  assert_true(shorter>1000);
}

/* The three readers agree about well-formed bytes, and about bytes that are changed or cut. */
TEST(test_readers_agree_on_damaged_structures){
  uint64_t seed = 99;
  unsigned bad = 0, good = 0;
  for(int i=0; i<20000; i++){
    blob b = { 0 }, plain = { 0 }, cut;
    char *message;
    put_random_item(&b, &plain, &seed, 2);
    if( i%3==0 ) b.p[random_below(&seed, b.n)] = (uint8_t)random64(&seed);
    if( i%3==1 ) b.p[random_below(&seed, b.n)] ^= (uint8_t)(1u<<random_below(&seed, 8));
    cut = exact(b.p, i%3==2 ? random_below(&seed, b.n) : b.n);
    message = verdict(cut);
    if( message ) bad++;
    else good++;
    if( i%3==2 ) assert_non_null(message);
    sqlite3_free(message);
    free(cut.p);
    free(b.p);
    free(plain.p);
  }
  assert_true(bad>8000 && good>2000);
}

int main(void){
  return run_all("cbor", NULL, NULL);
}
