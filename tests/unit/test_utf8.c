/* UTF-8, RFC 3629: core/utf8.h. */
#include "test.h"

#include "core/utf8.h"

/* One row per boundary of RFC 3629 section 4. */
static const struct { const char *what, *hex; bool valid; } rows[] = {
  { "nothing", "", true },
  { "U+0000", "00", true },
  { "U+0001", "01", true },
  { "U+0001 behind U+0000", "0001", true },
  { "U+007F", "7f", true },
  { "U+0080, the first of two bytes", "c280", true },
  { "U+07FF, the last of two bytes", "dfbf", true },
  { "U+0800, the first of three", "e0a080", true },
  { "U+0FFF", "e0bfbf", true },
  { "U+1000", "e18080", true },
  { "U+CFFF", "ecbfbf", true },
  { "U+D7FF, before the surrogates", "ed9fbf", true },
  { "U+E000, after the surrogates", "ee8080", true },
  { "U+FEFF, the byte order mark", "efbbbf", true },
  { "U+FFFD", "efbfbd", true },
  { "U+FFFF, the last of three bytes", "efbfbf", true },
  { "U+10000, the first of four", "f0908080", true },
  { "U+3FFFF", "f0bfbfbf", true },
  { "U+40000", "f1808080", true },
  { "U+FFFFF", "f3bfbfbf", true },
  { "U+100000", "f4808080", true },
  { "U+10FFFF, the last of all", "f48fbfbf", true },
  { "U+110000", "f4908080", false },
  { "U+13FFFF", "f4bfbfbf", false },
  { "U+140000", "f5808080", false },
  { "U+1FFFFF", "f7bfbfbf", false },
  { "five bytes", "f888808080", false },
  { "six bytes", "fc8480808080", false },
  { "0xFE", "fe", false },
  { "0xFF", "ff", false },
  { "overlong U+0000 in two bytes", "c080", false },
  { "overlong '/' in two bytes", "c0af", false },
  { "overlong U+007F in two bytes", "c1bf", false },
  { "overlong U+0000 in three", "e08080", false },
  { "overlong U+07FF in three", "e09fbf", false },
  { "overlong U+0000 in four", "f0808080", false },
  { "overlong U+FFFF in four", "f08fbfbf", false },
  { "U+D800, the first surrogate", "eda080", false },
  { "U+DBFF", "edafbf", false },
  { "U+DC00", "edb080", false },
  { "U+DFFF, the last surrogate", "edbfbf", false },
  { "U+10000 as a pair of surrogates (CESU-8)", "eda080edb080", false },
  { "a continuation byte alone", "80", false },
  { "the last continuation byte alone", "bf", false },
  { "two bytes, cut", "c3", false },
  { "three bytes, cut after two", "e6b0", false },
  { "three bytes, cut after one", "e6", false },
  { "four bytes, cut after three", "f09085", false },
  { "four bytes, cut after two", "f090", false },
  { "four bytes, cut after one", "f0", false },
  { "two bytes, the second is ASCII", "c341", false },
  { "two bytes, the second begins another", "c3c3bc", false },
  { "three bytes, the third is ASCII", "e6b041", false },
  { "three bytes, the third begins another", "e6b0c3bc", false },
  { "four bytes, the fourth is ASCII", "f0908541", false },
  { "four bytes, the third is ASCII", "f0904191", false },
  { "a continuation byte too many", "c3bcbc", false },
  { "one of each length", "41c3bce6b0b4f0908591", true },
};

TEST(test_boundaries){
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i].hex);
    check( zt_utf8_valid(b.p, b.n)==rows[i].valid, "%s", rows[i].what );
    check( zt_utf8_valid_slow(b.p, b.n)==rows[i].valid, "%s", rows[i].what );
    free(b.p);
  }
}

/* The eight bytes that are looked at together, and what is left over, must not hide anything. */
TEST(test_boundaries_within_ascii){
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t before=0; before<=17; before++){
      for(size_t after=0; after<=9; after++){
        blob b = { 0 };
        put_repeated(&b, 'a', before);
        put_hex(&b, rows[i].hex);
        put_repeated(&b, 'z', after);
        b = seal(&b);
        check( zt_utf8_valid(b.p, b.n)==rows[i].valid, "%s after %zu bytes", rows[i].what, before );
        check( zt_utf8_without_nul((zt_text){ (const char*)b.p, b.n })==(rows[i].valid && (b.n==0 || !memchr(b.p, 0, b.n))),
               "%s after %zu bytes, without U+0000", rows[i].what, before );
        free(b.p);
      }
    }
  }
}

/* An independent reference: the code point, and whether it has to be written in that many bytes. Returns the length of
** the character at p, 0 if there is none. */
static size_t reference_length(const uint8_t *p, size_t n){
  static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
  size_t len = p[0]<0x80 ? 1 : (p[0] & 0xE0)==0xC0 ? 2 : (p[0] & 0xF0)==0xE0 ? 3 : (p[0] & 0xF8)==0xF0 ? 4 : 0;
  uint32_t u;
  if( len<=1 ) return len;
  if( n<len ) return 0;
  u = p[0] & (0x7Fu >> len);
  for(size_t i=1; i<len; i++){
    if( (p[i] & 0xC0)!=0x80 ) return 0;
    u = u<<6 | (p[i] & 0x3Fu);
  }
  if( u<least[len] || u>0x10FFFF || (u>=0xD800 && u<=0xDFFF) ) return 0;
  return len;
}

static bool reference_valid(const uint8_t *p, size_t n){
  while( n>0 ){
    size_t len = reference_length(p, n);
    if( len==0 ) return false;
    p += len;
    n -= len;
  }
  return true;
}

static void compare(const uint8_t *p, size_t n){
  bool valid = reference_valid(p, n);
  size_t len = n ? reference_length(p, n) : 0;
  if( zt_utf8_valid(p, n)!=valid || zt_utf8_valid_slow(p, n)!=valid || (n && zt_utf8_length(p, n)!=(len ? len : 1)) ){
    fail_msg("%zu bytes: %02x %02x %02x %02x", n, p[0], n>1 ? p[1] : 0u, n>2 ? p[2] : 0u, n>3 ? p[3] : 0u);
  }
}

TEST(test_every_sequence_of_one_to_three_bytes){
  uint8_t p[3];
  unsigned valid[4] = { 0 };
  for(unsigned u=0; u<0x1000000; u++){
    p[0] = (uint8_t)(u>>16);
    p[1] = (uint8_t)(u>>8 & 0xFF);
    p[2] = (uint8_t)(u & 0xFF);
    if( (u & 0xFFFF)==0 ) compare(p, 1);
    if( (u & 0xFF)==0 ) compare(p, 2);
    compare(p, 3);
    if( (u & 0xFFFF)==0 ) valid[1] += zt_utf8_valid(p, 1);
    if( (u & 0xFF)==0 ) valid[2] += zt_utf8_valid(p, 2);
    valid[3] += zt_utf8_valid(p, 3);
  }
  /* 128 characters of one byte, 1,920 of two and 61,440 of three. */
  assert_int_equal(valid[1], 128);
  assert_int_equal(valid[2], 128*128 + 1920);
  assert_int_equal(valid[3], 128*128*128 + 2*128*1920 + 61440);
}

TEST(test_random_sequences_of_four_bytes){
  uint64_t seed = 3629;
  unsigned valid = 0;
  for(int i=0; i<3000000; i++){
    uint64_t u = random64(&seed);
    uint8_t p[4] = { (uint8_t)(u>>56), (uint8_t)(u>>48 & 0xFF), (uint8_t)(u>>40 & 0xFF), (uint8_t)(u>>32 & 0xFF) };
    if( i%2 ){   /* As good as a character of four bytes */
      p[0] = (uint8_t)(0xF0 | (p[0] & 7));
      for(int k=1; k<4; k++) if( (u>>k & 15)!=0 ) p[k] = (uint8_t)(0x80 | (p[k] & 0x3F));
    }
    compare(p, 4);
    valid += zt_utf8_valid(p, 4);
  }
  assert_true(valid>300000);
}

TEST(test_every_character_of_four_bytes){
  for(uint32_t u=0x10000; u<=0x10FFFF; u++){
    uint8_t p[4] = { (uint8_t)(0xF0 | u>>18), (uint8_t)(0x80 | (u>>12 & 63)), (uint8_t)(0x80 | (u>>6 & 63)),
        (uint8_t)(0x80 | (u & 63)) };
    if( !zt_utf8_valid(p, 4) || zt_utf8_length(p, 4)!=4 ) fail_msg("U+%X", u);
  }
}

TEST(test_random_text){
  static const char *const pieces[] = {
    "a", "zz", "\xC3\xBC", "\xE6\xB0\xB4", "\xF0\x90\x85\x91", "abcdefgh", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"
  };
  uint64_t seed = 11;
  unsigned broken = 0;
  for(int i=0; i<100000; i++){
    uint8_t p[96];
    size_t n = 0;
    for(size_t k=random_below(&seed, 8); k>0; k--){
      const char *piece = pieces[random_below(&seed, COUNT(pieces))];
      memcpy(p+n, piece, strlen(piece));
      n += strlen(piece);
    }
    assert_true(zt_utf8_valid(p, n));
    if( n==0 ) continue;
    if( i%2 ) p[random_below(&seed, n)] ^= (uint8_t)(1u<<random_below(&seed, 8));
    else n = random_below(&seed, n);
    assert_int_equal(zt_utf8_valid(p, n), reference_valid(p, n));
    broken += !zt_utf8_valid(p, n);
  }
  assert_true(broken>20000);
}

/* Every code point, and surrogates as Python's surrogatepass has them. */
TEST(test_code_points_are_written){
  for(uint32_t u=0; u<=0x10FFFF; u++){
    const bool surrogate = u>=0xD800 && u<0xE000;
    uint8_t p[4];
    const size_t n = zt_utf8_put(p, u);
    uint32_t back = n==1 ? p[0] : p[0] & (0x7Fu>>n);
    for(size_t i=1; i<n; i++) back = back<<6 | (p[i] & 0x3Fu);
    assert_int_equal(back, u);
    assert_int_equal(n, u<0x80 ? 1 : u<0x800 ? 2 : u<0x10000 ? 3 : 4);
    assert_int_equal(zt_utf8_valid(p, n), !surrogate);
  }
}

int main(void){
  return run_all("utf8", NULL, NULL);
}
