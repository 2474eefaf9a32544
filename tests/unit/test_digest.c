/* Digests: core/digest.h. */
#include "test.h"

#include <zlib.h>
#include "core/adler32.h"
#include "core/digest.h"

/* Opens the digest, which must be well-formed, takes the bytes in and tells whether they match. */
static bool matches(const char *text, const void *p, size_t n, size_t piece){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d;
  bool result;
  check( zt_digest_open((zt_text){ text, strlen(text) }, ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, &d, &err)==ZT_DIGEST_OK, "%s", text );
  assert_succeeded(&err, text);
  assert_non_null(d);
  for(size_t done=0; done<n;){
    size_t more = n-done<piece ? n-done : piece;
    zt_digest_update(d, (zt_span){ (const uint8_t*)p+done, more });
    done += more;
  }
  result = zt_digest_matches(d);
  zt_digest_close(d);
  return result;
}

/* --- Known values --- */

/* A message: `hex` bytes, or `repeat` times the first of them. */
static const struct { const char *what, *hex; size_t repeat; const char *digest; } known[] = {
  { "nothing", "", 0, "crc32c:00000000" },
  { "one byte", "61", 0, "crc32c:c1d04330" },
  { "the check value, 123456789", "313233343536373839", 0, "crc32c:e3069283" },
  { "RFC 3720 B.4, 32 zeros", "00", 32, "crc32c:8a9136aa" },
  { "RFC 3720 B.4, 32 ones", "ff", 32, "crc32c:62a8ab43" },
  { "RFC 3720 B.4, ascending", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 0, "crc32c:46dd794e" },
  { "RFC 3720 B.4, descending", "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100", 0, "crc32c:113fdb5c" },
  { "RFC 3720 B.4, an iSCSI read",
    "01c0000000000000 0000000000000000 14000000 00000400 00000014 00000018 2800000000000000 0200000000000000", 0,
    "crc32c:d9963a56" },
  { "nothing", "", 0, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
  { "FIPS 180, one block", "616263", 0, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
  { "FIPS 180, two blocks",
    "6162636462636465636465666465666765666768666768696768696a68696a6b696a6b6c6a6b6c6d6b6c6d6e6c6d6e6f6d6e6f706e6f7071", 0,
    "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
  { "FIPS 180, a million a", "61", 1000000, "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
  { "one byte", "bd", 0, "sha256:68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b" },
  { "55 zeros", "00", 55, "sha256:02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7" },
  { "56 zeros", "00", 56, "sha256:d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb" },
  { "64 zeros", "00", 64, "sha256:f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b" },
};

static blob message_of(size_t i){
  blob b = { 0 };
  if( !known[i].repeat ) return blob_of(known[i].hex);
  put_repeated(&b, (unsigned)strtoul(known[i].hex, NULL, 16), known[i].repeat);
  return seal(&b);
}

TEST(test_known_values){
  for(size_t i=0; i<COUNT(known); i++){
    blob b = message_of(i);
    check( matches(known[i].digest, b.p, b.n, b.n+1), "%s, %s", known[i].digest, known[i].what );
    free(b.p);
  }
}

TEST(test_known_values_in_pieces_of_every_size){
  for(size_t i=0; i<COUNT(known); i++){
    blob b = message_of(i);
    if( b.n<1000 ){
      for(size_t k=1; k<=b.n; k++) check( matches(known[i].digest, b.p, b.n, k), "%s by %zu", known[i].digest, k );
    }else{
      static const size_t pieces[] = { 1, 63, 64, 65, 4096, 262144 };
      for(size_t k=0; k<COUNT(pieces); k++) check( matches(known[i].digest, b.p, b.n, pieces[k]), "%s", known[i].digest );
    }
    free(b.p);
  }
}

/* A CRC of 32 bits, bit by bit, with that reflected polynomial. */
static uint32_t reference_crc(uint32_t polynomial, const uint8_t *p, size_t n){
  uint32_t crc = 0xFFFFFFFF;
  for(size_t i=0; i<n; i++){
    crc ^= p[i];
    for(int k=0; k<8; k++) crc = crc>>1 ^ (crc & 1 ? polynomial : 0);
  }
  return ~crc;
}

#define CRC32C 0x82F63B78u
#define CRC32 0xEDB88320u

TEST(test_crc32c_of_every_length_and_alignment){
  uint64_t seed = 32;
  for(size_t n=0; n<300; n++){
    for(size_t shift=0; shift<8; shift += n<40 ? 1 : 7){
      blob b = { 0 };
      char text[32];
      for(size_t i=0; i<n+shift; i++) put_byte(&b, (unsigned)random_below(&seed, 256));
      b = seal(&b);
      snprintf(text, sizeof(text), "crc32c:%08x", (unsigned)reference_crc(CRC32C, b.p+shift, n));
      check( matches(text, b.p+shift, n, n+1), "%zu bytes", n );
      check( matches(text, b.p+shift, n, 17), "%zu bytes", n );
      free(b.p);
    }
  }
}

/* The crc32 of zip archives is verified, but no manifest or query may name it. */
TEST(test_crc32){
  static const zt_text name = ZT_TEXT_INIT("crc32");
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d = NULL;
  uint8_t bytes[5000];
  uint64_t seed = 7;
  char text[32];
  for(size_t i=0; i<sizeof(bytes); i++) bytes[i] = (uint8_t)random64(&seed);
  for(size_t n=0; n<=sizeof(bytes); n += n<100 ? 1 : 700){
    snprintf(text, sizeof(text), "crc32:%08x", (unsigned)reference_crc(CRC32, bytes, n));
    for(size_t piece=1; piece<=n+1; piece += 1+piece*3){
      zt_text digest = { text, strlen(text) };
      assert_int_equal(zt_digest_open(digest, ZT_DIGEST_CRC32, &d, &err), ZT_DIGEST_OK);
      for(size_t at=0; at<n; at+=piece) zt_digest_update(d, (zt_span){ bytes+at, n-at<piece ? n-at : piece });
      check( zt_digest_matches(d), "%zu bytes by %zu", n, piece );
      zt_digest_close(d);
    }
  }
  assert_int_equal(reference_crc(CRC32, (const uint8_t*)"123456789", 9), 0xCBF43926);
  assert_int_equal(zt_digest_check(ZT_TEXT("crc32:cbf43926"), ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256), ZT_DIGEST_UNSUPPORTED);
  assert_int_equal(zt_digest_check(ZT_TEXT("crc32:cbf4392"), ZT_DIGEST_CRC32), ZT_DIGEST_MALFORMED);
  assert_int_equal(zt_digest_check(ZT_TEXT("crc32:0xcbf43926"), ZT_DIGEST_CRC32), ZT_DIGEST_MALFORMED);
  assert_false(zt_digest_known(name));
  assert_false(zt_digest_new(name, &d, &err));
  assert_null(d);
}

/* Also of the bytes whose sums are largest. */
TEST(test_adler32_of_every_length_and_alignment){
  enum { MOST = 5000 };
  uint8_t *p = malloc(MOST+64), *ones = malloc(MOST);
  assert_true(p && ones);
  for(size_t i=0; i<MOST+64; i++) p[i] = (uint8_t)(i*i>>3 ^ i);
  memset(ones, 255, MOST);
  for(size_t n=0; n<=MOST; n++){
    const uint8_t *q = p+n%64;
    check( zt_adler32(q, n)==adler32(1, q, (uInt)n), "%zu bytes", n );
    check( zt_adler32(ones, n)==adler32(1, ones, (uInt)n), "%zu bytes 0xff", n );
  }
  free(p);
  free(ones);
}

TEST(test_one_bit_more_or_less_does_not_match){
  for(size_t i=0; i<COUNT(known); i++){
    blob b = message_of(i);
    char other[80];
    for(size_t k=0; k<b.n; k += b.n<1000 ? 1 : 99991){
      b.p[k] ^= 0x10;
      assert_false(matches(known[i].digest, b.p, b.n, b.n));
      b.p[k] ^= 0x10;
    }
    if( b.n ) assert_false(matches(known[i].digest, b.p, b.n-1, b.n));
    for(size_t k=7; known[i].digest[k]; k++){   /* Each digit counts */
      strcpy(other, known[i].digest);
      other[k] = other[k]=='0' ? '1' : '0';
      assert_false(matches(other, b.p, b.n, b.n+1));
    }
    free(b.p);
  }
}

/* --- The text --- */

#define SHA_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

TEST(test_well_formed_texts){
  static const char *const of_123456789[] = {
    "crc32c:e3069283", "crc32c:E3069283", "crc32c:0xe3069283", "crc32c:0xE3069283", "crc32c:0XE3069283", "crc32c:0Xe3069283"
  };
  static const char *const of_nothing[] = {
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
    "sha256:E3b0C44298fC1c149aFBf4c8996fb92427ae41e4649b934ca495991b7852B855", "crc32c:00000000", "crc32c:0x00000000"
  };
  for(size_t i=0; i<COUNT(of_123456789); i++) check( matches(of_123456789[i], "123456789", 9, 9), "%s", of_123456789[i] );
  for(size_t i=0; i<COUNT(of_nothing); i++) check( matches(of_nothing[i], NULL, 0, 1), "%s", of_nothing[i] );
}

static const struct { const char *what; zt_text text; zt_digest_parse result; } texts[] = {
#define ROW(what, text, result) { what, ZT_TEXT_INIT(text), result }
  ROW("nothing", "", ZT_DIGEST_MALFORMED),
  ROW("no colon", "crc32c", ZT_DIGEST_MALFORMED),
  ROW("no colon, with digits", "crc32ce3069283", ZT_DIGEST_MALFORMED),
  ROW("no algorithm and no colon", "e3069283", ZT_DIGEST_MALFORMED),
  ROW("another separator", "crc32c=e3069283", ZT_DIGEST_MALFORMED),
  ROW("another separator, sha256", "sha256-" SHA_OF_NOTHING, ZT_DIGEST_MALFORMED),
  ROW("no digit", "crc32c:", ZT_DIGEST_MALFORMED),
  ROW("no digit after 0x", "crc32c:0x", ZT_DIGEST_MALFORMED),
  ROW("half of 0x", "crc32c:0", ZT_DIGEST_MALFORMED),
  ROW("7 digits", "crc32c:e306928", ZT_DIGEST_MALFORMED),
  ROW("9 digits", "crc32c:e30692830", ZT_DIGEST_MALFORMED),
  ROW("16 digits", "crc32c:00000000e3069283", ZT_DIGEST_MALFORMED),
  ROW("7 digits after 0x", "crc32c:0xe306928", ZT_DIGEST_MALFORMED),
  ROW("9 digits after 0x", "crc32c:0xe30692833", ZT_DIGEST_MALFORMED),
  ROW("8 characters with 0x", "crc32c:0xe30692", ZT_DIGEST_MALFORMED),
  ROW("0x twice", "crc32c:0x0xe3069283", ZT_DIGEST_MALFORMED),
  ROW("no digits, g", "crc32c:g3069283", ZT_DIGEST_MALFORMED),
  ROW("no digit at the end", "crc32c:e306928g", ZT_DIGEST_MALFORMED),
  ROW("a sign", "crc32c:+3069283", ZT_DIGEST_MALFORMED),
  ROW("a minus sign", "crc32c:-e306928", ZT_DIGEST_MALFORMED),
  ROW("a blank before the digits", "crc32c: e3069283", ZT_DIGEST_MALFORMED),
  ROW("a blank instead of a digit", "crc32c: 3069283", ZT_DIGEST_MALFORMED),
  ROW("a blank after the digits", "crc32c:e3069283 ", ZT_DIGEST_MALFORMED),
  ROW("a line end", "crc32c:e3069283\n", ZT_DIGEST_MALFORMED),
  ROW("a NUL after the digits", "crc32c:e3069283\0", ZT_DIGEST_MALFORMED),
  ROW("a NUL among the digits", "crc32c:e306928\0", ZT_DIGEST_MALFORMED),
  ROW("characters just beside the digits: /", "crc32c:/3069283", ZT_DIGEST_MALFORMED),
  ROW("characters just beside the digits: :", "crc32c::3069283", ZT_DIGEST_MALFORMED),
  ROW("characters just beside the digits: @", "crc32c:@3069283", ZT_DIGEST_MALFORMED),
  ROW("characters just beside the digits: G", "crc32c:G3069283", ZT_DIGEST_MALFORMED),
  ROW("characters just beside the digits: `", "crc32c:`3069283", ZT_DIGEST_MALFORMED),
  ROW("a control character that is a digit but for one bit", "crc32c:\x13" "3069283", ZT_DIGEST_MALFORMED),
  ROW("a byte above 0x7F", "crc32c:\xB3" "3069283", ZT_DIGEST_MALFORMED),
  ROW("a second colon", "crc32c:e3069283:", ZT_DIGEST_MALFORMED),
  ROW("sha256, 63 digits", "sha256:3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ZT_DIGEST_MALFORMED),
  ROW("sha256, 62 digits", "sha256:b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ZT_DIGEST_MALFORMED),
  ROW("sha256, 65 digits", "sha256:0" SHA_OF_NOTHING, ZT_DIGEST_MALFORMED),
  ROW("sha256, 66 digits", "sha256:00" SHA_OF_NOTHING, ZT_DIGEST_MALFORMED),
  ROW("sha256 with 0x, which only crc32c may have", "sha256:0x" SHA_OF_NOTHING, ZT_DIGEST_MALFORMED),
  ROW("sha256, no digit", "sha256:", ZT_DIGEST_MALFORMED),
  ROW("sha256, a bad digit", "sha256:z3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ZT_DIGEST_MALFORMED),
  ROW("sha256 with crc32c's digits", "sha256:e3069283", ZT_DIGEST_MALFORMED),
  ROW("crc32c with sha256's digits", "crc32c:" SHA_OF_NOTHING, ZT_DIGEST_MALFORMED),
  ROW("an empty algorithm", ":e3069283", ZT_DIGEST_UNSUPPORTED),
  ROW("only a colon", ":", ZT_DIGEST_UNSUPPORTED),
  ROW("md5", "md5:d41d8cd98f00b204e9800998ecf8427e", ZT_DIGEST_UNSUPPORTED),
  ROW("xxh3", "xxh3:2d06800538d394c2", ZT_DIGEST_UNSUPPORTED),
  ROW("xxh3-128", "xxh3-128:99aa06d3014798d86001c324468d497f", ZT_DIGEST_UNSUPPORTED),
  ROW("crc32", "crc32:cbf43926", ZT_DIGEST_UNSUPPORTED),
  ROW("crc32cc", "crc32cc:e3069283", ZT_DIGEST_UNSUPPORTED),
  ROW("CRC32C, names being exact", "CRC32C:e3069283", ZT_DIGEST_UNSUPPORTED),
  ROW("SHA256, names being exact", "SHA256:" SHA_OF_NOTHING, ZT_DIGEST_UNSUPPORTED),
  ROW("sha-256", "sha-256:" SHA_OF_NOTHING, ZT_DIGEST_UNSUPPORTED),
  ROW("sha25", "sha25:" SHA_OF_NOTHING, ZT_DIGEST_UNSUPPORTED),
  ROW("a blank before the name", " crc32c:e3069283", ZT_DIGEST_UNSUPPORTED),
  ROW("a blank after the name", "crc32c :e3069283", ZT_DIGEST_UNSUPPORTED),
  ROW("a NUL in the name", "crc32c\0:e3069283", ZT_DIGEST_UNSUPPORTED),
#undef ROW
};

TEST(test_texts_that_cannot_be_verified){
  for(size_t i=0; i<COUNT(texts); i++){
    zt_error err = ZT_ERROR_NONE;
    blob b = exact(texts[i].text.z, texts[i].text.n);   /* Not NUL-terminated */
    zt_digest *d = (zt_digest*)&err;
    check( zt_digest_open((zt_text){ (char*)b.p, b.n }, ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, &d, &err)==texts[i].result, "%s", texts[i].what );
    check( d==NULL, "%s", texts[i].what );
    assert_succeeded(&err, texts[i].what);
    free(b.p);
  }
}

TEST(test_no_text_at_all_is_malformed_and_no_digest_can_be_closed){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d;
  assert_int_equal(zt_digest_open((zt_text){ NULL, 0 }, ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, &d, &err), ZT_DIGEST_MALFORMED);
  assert_null(d);
  zt_digest_close(NULL);
}

/* --- By name --- */

static void update_in_pieces(zt_digest *d, const void *p, size_t n, size_t piece){
  for(size_t done=0; done<n; done+=piece){
    zt_digest_update(d, (zt_span){ (const uint8_t*)p+done, n-done<piece ? n-done : piece });
  }
}

/* The text of the bytes' digest, taken in in pieces; NULL: the algorithm is not known. */
static const char *text_of(const char *algorithm, const void *p, size_t n, size_t piece){
  static char text[ZT_DIGEST_TEXT];
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d = (zt_digest*)&err;
  bool found = zt_digest_new((zt_text){ algorithm, strlen(algorithm) }, &d, &err);
  assert_succeeded(&err, algorithm);
  assert_int_equal(d!=NULL, found);
  if( !found ) return NULL;
  update_in_pieces(d, p, n, piece);
  memset(text, 'x', sizeof(text));
  zt_digest_text(d, text);
  zt_digest_close(d);
  return text;
}

TEST(test_the_text_of_known_values){
  for(size_t i=0; i<COUNT(known); i++){
    blob b = message_of(i);
    char algorithm[8] = "";
    memcpy(algorithm, known[i].digest, 6);   /* Both have six letters */
    for(size_t piece=1; piece<=b.n+1; piece += b.n<1000 ? 7 : 77777) assert_string_equal(text_of(algorithm, b.p, b.n, piece), known[i].digest);
    free(b.p);
  }
}

TEST(test_a_digest_begins_anew){
  static const unsigned algorithms[] = { ZT_DIGEST_CRC32C, ZT_DIGEST_SHA256, ZT_DIGEST_XXH3, ZT_DIGEST_CRC32, ZT_DIGEST_XXH3_128 };
  const zt_span bytes = { (const uint8_t*)"123456789", 9 };
  for(size_t i=0; i<COUNT(algorithms); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_digest *d = zt_digest_begin(algorithms[i], &err);
    char first[ZT_DIGEST_TEXT], again[ZT_DIGEST_TEXT];
    zt_digest_update(d, bytes);
    zt_digest_text(d, first);
    assert_true(zt_digest_restart(d, &err));
    zt_digest_update(d, bytes);
    zt_digest_text(d, again);
    assert_string_equal(first, again);
    assert_true(zt_digest_restart(d, &err));   /* In the middle, too */
    zt_digest_update(d, bytes);
    assert_true(zt_digest_restart(d, &err));
    zt_digest_update(d, bytes);
    zt_digest_text(d, again);
    assert_string_equal(first, again);
    zt_digest_close(d);
  }
}

/* That of sha256 takes its memory anew. */
TEST(test_a_digest_that_cannot_begin_anew){
  zt_error err = ZT_ERROR_NONE;
  zt_digest *d = zt_digest_begin(ZT_DIGEST_SHA256, &err);
  sqlite3_hard_heap_limit64(1);
  assert_false(zt_digest_restart(d, &err));
  sqlite3_hard_heap_limit64(0);
  assert_int_equal(err.rc, SQLITE_NOMEM);
  zt_error_clear(&err);
  zt_digest_close(d);
}

/* The first eight bytes of a longer one. */
TEST(test_the_number_of_a_digest){
  static const struct { unsigned algorithm; uint64_t n; } rows[] = {
    { ZT_DIGEST_SHA256, 0x15E2B0D3C33891EBu }, { ZT_DIGEST_CRC32C, 0xE3069283u }, { ZT_DIGEST_CRC32, 0xCBF43926u }
  };
  const zt_span bytes = { (const uint8_t*)"123456789", 9 };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_digest *d = zt_digest_begin(rows[i].algorithm, &err);
    zt_digest_update(d, bytes);
    assert_true(zt_digest_number(d)==rows[i].n);
    zt_digest_close(d);
  }
}

/* The bytes over which xxHash checks itself. */
#define SANITY 2367
static const size_t sanity_pieces[] = { 1, 3, 16, 63, 64, 65, 255, 256, 257, 1024, SANITY };

static void make_sanity(uint8_t p[SANITY]){
  uint64_t generator = 2654435761u;
  for(size_t i=0; i<SANITY; i++, generator *= 11400714785074694797u) p[i] = (uint8_t)(generator>>56);
}

/* XXH3 of 64 bits, seed 0: the vectors that xxHash's own sanity check has. */
TEST(test_xxh3){
  static const struct { size_t n; const char *text; } rows[] = {
    { 0, "xxh3:2d06800538d394c2" },
    { 1, "xxh3:c44bdff4074eecdb" },
    { 6, "xxh3:27b56a84cd2d7325" },
    { 12, "xxh3:a713daf0dfbb77e7" },
    { 24, "xxh3:a3fe70bf9d3510eb" },
    { 48, "xxh3:397da259ecba1f11" },
    { 80, "xxh3:bcdefbbb2c47c90a" },
    { 195, "xxh3:cd94217ee362ec3a" },
    { 403, "xxh3:cdeb804d65c6dea4" },
    { 512, "xxh3:617e49599013cb6b" },
    { 2048, "xxh3:dd59e2c3a5f038e0" },
    { 2240, "xxh3:6e73a90539cf2948" },
    { 2367, "xxh3:cb37aeb9e5d361ed" },
  };
  uint8_t p[SANITY];
  make_sanity(p);
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t k=0; k<COUNT(sanity_pieces); k++){
      assert_string_equal(text_of("xxh3", p, rows[i].n, sanity_pieces[k]), rows[i].text);
    }
  }
}

/* XXH3 of 128 bits, seed 0, its canonical bytes from the first to the last: vectors of the same check. */
TEST(test_xxh3_128){
  static const struct { size_t n; const char *text; } rows[] = {
    { 0, "xxh3-128:99aa06d3014798d86001c324468d497f" },
    { 1, "xxh3-128:a6cd5e9392000f6ac44bdff4074eecdb" },
    { 6, "xxh3-128:082afe0b8162d12a3e7039bdda43cfc6" },
    { 12, "xxh3-128:6e3efd8fc7802b18061a192713f69ad9" },
    { 24, "xxh3-128:0ce966e4678d37611e7044d28b1b901d" },
    { 48, "xxh3-128:a002ac4e5478227ef942219aed80f67b" },
    { 81, "xxh3-128:4952f58181ab00425e8bafb9f95fb803" },
    { 222, "xxh3-128:337e09641b948717f1aebd597cec6b3a" },
    { 403, "xxh3-128:1b6de21e332dd73dcdeb804d65c6dea4" },
    { 512, "xxh3-128:18d2d110dcc9bca1617e49599013cb6b" },
    { 2048, "xxh3-128:f736557fd47073a5dd59e2c3a5f038e0" },
    { 2240, "xxh3-128:ccb134fbfa7ce49d6e73a90539cf2948" },
    { 2367, "xxh3-128:e89c0f6ff369b427cb37aeb9e5d361ed" },
  };
  uint8_t p[SANITY], bytes[ZT_DIGEST_XXH3_128_BYTES];
  make_sanity(p);
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t k=0; k<COUNT(sanity_pieces); k++){
      zt_error err = ZT_ERROR_NONE;
      zt_digest *d = zt_digest_begin(ZT_DIGEST_XXH3_128, &err);
      char text[ZT_DIGEST_TEXT], digits[33];
      assert_succeeded(&err, rows[i].text);
      update_in_pieces(d, p, rows[i].n, sanity_pieces[k]);
      zt_digest_xxh3_128(d, bytes);
      zt_digest_text(d, text);
      zt_digest_close(d);
      for(size_t b=0; b<sizeof(bytes); b++) sprintf(digits+2*b, "%02x", bytes[b]);
      assert_string_equal(text, rows[i].text);
      assert_string_equal(digits, rows[i].text+strlen("xxh3-128:"));
    }
  }
}

TEST(test_algorithms_are_known_by_their_exact_names){
  static const char *const unknown[] = { "", "SHA256", "sha-256", "sha25", "sha2566", "crc32", "crc32C", "xxh3 ", "xxh3-128", "xxh", "xxh64", "xxh3_64", "md5", "sha256:", "crc32c:00000000" };
  for(size_t i=0; i<COUNT(unknown); i++) check( text_of(unknown[i], "", 0, 1)==NULL, "'%s'", unknown[i] );
  assert_string_equal(text_of("crc32c", "", 0, 1), "crc32c:00000000");
  assert_string_equal(text_of("sha256", "", 0, 1), "sha256:" SHA_OF_NOTHING);
  assert_string_equal(ZT_DIGEST_ALGORITHMS, "'sha256', 'crc32c', 'xxh3'");
}

/* A digest's text, opened as a manifest's digest, matches the same bytes. */
TEST(test_texts_are_what_manifests_state){
  uint64_t seed = 40;
  for(size_t n=0; n<200; n+=13){
    uint8_t p[200];
    char text[ZT_DIGEST_TEXT];
    for(size_t i=0; i<n; i++) p[i] = (uint8_t)random_below(&seed, 256);
    strcpy(text, text_of("crc32c", p, n, 50));
    assert_true(matches(text, p, n, 1));
    strcpy(text, text_of("sha256", p, n, 50));
    assert_true(matches(text, p, n, 1));
  }
}

int main(void){
  return run_all("digest", NULL, NULL);
}
