/* Byte ranges and checked arithmetic: core/span.h. */
#include "test.h"

#include "core/span.h"

#define MAX UINT64_MAX

/* --- Arithmetic --- */

TEST(test_claim_at_the_boundaries){
  static const struct { uint64_t total, off, len; bool fits; } rows[] = {
    { 0, 0, 0, true }, { 0, 0, 1, false }, { 0, 1, 0, false }, { 0, MAX, 0, false }, { 0, MAX, 1, false },
    { 10, 0, 10, true }, { 10, 0, 11, false }, { 10, 10, 0, true }, { 10, 10, 1, false }, { 10, 11, 0, false },
    { 10, 3, 7, true }, { 10, 3, 8, false }, { 10, 4, MAX-3, false }, { 10, MAX-3, 4, false }, { 10, MAX, 11, false },
    { MAX, 0, MAX, true }, { MAX, 1, MAX, false }, { MAX, MAX, 0, true }, { MAX, MAX, 1, false },
    { MAX, MAX-1, 1, true }, { MAX, MAX-1, 2, false }, { MAX, MAX, MAX, false },
    { (uint64_t)1<<63, (uint64_t)1<<63, 0, true }, { (uint64_t)1<<63, (uint64_t)1<<63, (uint64_t)1<<63, false },
    { (uint64_t)1<<32, ((uint64_t)1<<32)-1, 1, true }, { (uint64_t)1<<32, (uint64_t)1<<32, 1, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    check( zt_claim(rows[i].total, rows[i].off, rows[i].len)==rows[i].fits, "row %zu", i );
  }
  for(uint64_t total=0; total<12; total++){
    for(uint64_t off=0; off<14; off++){
      for(uint64_t len=0; len<14; len++) assert_int_equal(zt_claim(total, off, len), off+len<=total);
    }
  }
}

TEST(test_add_at_the_boundaries){
  static const struct { uint64_t a, b; bool fits; } rows[] = {
    { 0, 0, true }, { MAX, 0, true }, { 0, MAX, true }, { MAX, 1, false }, { 1, MAX, false }, { MAX-1, 1, true },
    { 1, MAX-1, true }, { 2, MAX-1, false }, { MAX, MAX, false }, { (uint64_t)1<<63, (uint64_t)1<<63, false },
    { (uint64_t)1<<63, ((uint64_t)1<<63)-1, true }, { MAX/2, MAX/2+1, true }, { MAX/2+1, MAX/2+1, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    uint64_t out = 0;
    check( zt_add64(rows[i].a, rows[i].b, &out)==rows[i].fits, "row %zu", i );
    check( !rows[i].fits || out==rows[i].a+rows[i].b, "row %zu", i );
  }
}

/* The upper 64 bits of a product, by halves. */
static uint64_t high_half(uint64_t a, uint64_t b){
  uint64_t al = a & 0xFFFFFFFF, ah = a>>32, bl = b & 0xFFFFFFFF, bh = b>>32;
  uint64_t low = al*bl, middle = ah*bl + (low>>32), other = al*bh + (middle & 0xFFFFFFFF);
  return ah*bh + (middle>>32) + (other>>32);
}

static void check_mul(uint64_t a, uint64_t b){
  uint64_t out = 0;
  bool fits = high_half(a, b)==0;
  check( zt_mul64(a, b, &out)==fits, "%llu * %llu", (unsigned long long)a, (unsigned long long)b );
  check( !fits || out==a*b, "%llu * %llu", (unsigned long long)a, (unsigned long long)b );
}

TEST(test_mul_at_the_boundaries){
  uint64_t seed = 1, out;
  assert_true(zt_mul64((uint64_t)1<<32, ((uint64_t)1<<32)-1, &out) && out==MAX-0xFFFFFFFF);
  assert_false(zt_mul64((uint64_t)1<<32, (uint64_t)1<<32, &out));
  assert_true(zt_mul64(3, MAX/3, &out) && out==MAX);   /* 2^64 - 1 is a multiple of 3 */
  assert_false(zt_mul64(3, MAX/3+1, &out));
  for(unsigned i=0; i<64; i++){
    for(unsigned j=0; j<64; j++){
      for(uint64_t d=0; d<3; d++){
        for(uint64_t e=0; e<3; e++) check_mul(((uint64_t)1<<i)+d-1, ((uint64_t)1<<j)+e-1);
      }
    }
  }
  for(int i=0; i<200000; i++){
    uint64_t a = random64(&seed) >> random_below(&seed, 64);
    uint64_t limit = a ? MAX/a : 0;
    check_mul(a, random64(&seed) >> random_below(&seed, 64));
    check_mul(a, limit);
    check_mul(a, limit+1);
    check_mul(0, a);
    check_mul(a, 0);
  }
}

TEST(test_byte_order){
  static const uint8_t p[8] = { 0x81, 0x02, 0x83, 0x04, 0x85, 0x06, 0x87, 0x08 };
  assert_int_equal(zt_be(p, 0), 0);
  assert_int_equal(zt_be(p, 1), 0x81);
  assert_int_equal(zt_be(p, 2), 0x8102);
  assert_int_equal(zt_be(p, 4), 0x81028304);
  assert_int_equal(zt_be(p, 8), 0x8102830485068708);
  assert_int_equal(zt_be64(p), 0x8102830485068708);
  assert_int_equal(zt_le64(p), 0x0887068504830281);
}

/* --- zt_equal and zt_has_nul: the overlapping words at both ends are what may go wrong --- */

#define LONGEST (ZT_BYTES_INLINE+8)

/* n bytes behind `shift` others, and the same alone; both end where their memory does. */
static void make_equal(size_t n, unsigned shift, uint8_t **a, uint8_t **b){
  *a = malloc(n+shift);
  *b = malloc(n);
  assert_true((*a || n+shift==0) && (*b || n==0));
  for(size_t i=0; i<n; i++) (*a)[shift+i] = (*b)[i] = (uint8_t)(i*37+1);
}

TEST(test_equal_of_every_length_and_every_differing_position){
  for(size_t n=0; n<=LONGEST; n++){
    for(unsigned shift=0; shift<8; shift++){
      uint8_t *a, *b;
      make_equal(n, shift, &a, &b);
      check( zt_equal(a+shift, b, n), "%zu bytes", n );
      for(size_t at=0; at<n; at++){
        for(unsigned bit=0; bit<8; bit++){
          b[at] = (uint8_t)(b[at] ^ 1u<<bit);
          check( !zt_equal(a+shift, b, n), "%zu bytes, byte %zu differs", n, at );
          check( !zt_equal(b, a+shift, n), "%zu bytes, byte %zu differs", n, at );
          b[at] = (uint8_t)(b[at] ^ 1u<<bit);
        }
      }
      free(a);
      free(b);
    }
  }
}

TEST(test_has_nul_of_every_length_and_position){
  for(size_t n=0; n<=LONGEST; n++){
    for(unsigned fill=1; fill<256; fill++){
      blob b = { 0 };
      put_repeated(&b, fill, n);
      b = seal(&b);
      check( !zt_has_nul((char*)b.p, n), "%zu bytes of 0x%02x", n, fill );
      for(size_t at=0; at<n; at++){
        b.p[at] = 0;
        check( zt_has_nul((char*)b.p, n), "%zu bytes of 0x%02x, byte %zu is 0", n, fill, at );
        b.p[at] = (uint8_t)fill;
      }
      free(b.p);
    }
  }
}

TEST(test_has_nul_is_not_misled_by_neighbours){
  /* x - 0x01..01 borrows from the byte above: 0x01 and 0x80 beside each other are what a careless trick takes for 0. */
  static const uint8_t odd[] = { 0x01, 0x80, 0x81, 0xFF, 0x7F, 0x02 };
  uint64_t seed = 7;
  for(int i=0; i<200000; i++){
    uint8_t a[LONGEST];
    size_t n = random_below(&seed, LONGEST+1);
    bool has = false;
    for(size_t k=0; k<n; k++){
      a[k] = random_below(&seed, 50)==0 ? 0 : odd[random_below(&seed, COUNT(odd))];
      has = has || a[k]==0;
    }
    assert_int_equal(zt_has_nul((char*)a, n), has);
  }
}

/* --- Texts --- */

static int sign(int c){ return (c>0) - (c<0); }

TEST(test_order_of_every_length_and_every_differing_position){
  for(size_t n=0; n<=LONGEST; n++){
    for(unsigned shift=0; shift<8; shift++){
      uint8_t *a, *b;
      make_equal(n, shift, &a, &b);
      check( zt_bytes_compare(a+shift, b, n)==0, "%zu bytes", n );
      for(size_t at=0; at<n; at++){
        const uint8_t before = b[at];
        for(unsigned x=0; x<256; x+=5){
          b[at] = (uint8_t)x;
          if( at+1<n ) b[at+1] = (uint8_t)~b[at+1];   /* The first difference alone counts */
          check( sign(zt_bytes_compare(a+shift, b, n))==sign(memcmp(a+shift, b, n)), "%zu bytes, byte %zu is 0x%02x", n, at, x );
          check( sign(zt_bytes_compare(b, a+shift, n))==sign(memcmp(b, a+shift, n)), "%zu bytes, byte %zu is 0x%02x", n, at, x );
          if( at+1<n ) b[at+1] = (uint8_t)~b[at+1];
        }
        b[at] = before;
      }
      free(a);
      free(b);
    }
  }
}

TEST(test_text_equality_and_order){
  static const zt_text ascending[] = {   /* No two are equal */
    ZT_TEXT_INIT(""), ZT_TEXT_INIT("\0"), ZT_TEXT_INIT("\0a"), ZT_TEXT_INIT("a"), ZT_TEXT_INIT("a\0"), ZT_TEXT_INIT("aa"),
    ZT_TEXT_INIT("ab"), ZT_TEXT_INIT("b"), ZT_TEXT_INIT("layer.10"), ZT_TEXT_INIT("layer.2"), ZT_TEXT_INIT("\x7f"),
    ZT_TEXT_INIT("\xC3\xBC"), ZT_TEXT_INIT("\xE6\xB0\xB4"), ZT_TEXT_INIT("\xEF\xBF\xBD"), ZT_TEXT_INIT("\xF0\x90\x85\x91"),
  };
  for(size_t i=0; i<COUNT(ascending); i++){
    for(size_t j=0; j<COUNT(ascending); j++){
      int c = zt_text_compare(ascending[i], ascending[j]);
      check( (c>0) - (c<0)==(i>j) - (i<j), "rows %zu and %zu", i, j );
      check( zt_text_equal(ascending[i], ascending[j])==(i==j), "rows %zu and %zu", i, j );
    }
  }
  assert_true(zt_text_is(ZT_TEXT("raw"), "raw"));
  assert_false(zt_text_is(ZT_TEXT("raw\0"), "raw"));
  assert_false(zt_text_is(ZT_TEXT("RAW"), "raw"));
  assert_true(zt_text_equal((zt_text){ NULL, 0 }, ZT_TEXT("")));
  assert_int_equal(zt_text_compare((zt_text){ NULL, 0 }, ZT_TEXT("")), 0);
}

int main(void){
  return run_all("span", NULL, NULL);
}
