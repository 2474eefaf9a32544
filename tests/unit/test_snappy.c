/* Blocks of Snappy: core/snappy.h. */
#include "test.h"

#include "core/snappy.h"

TEST(test_blocks){
  static const struct { const char *hex, *text; } rows[] = {
    { "00", "" }, { "01 00 61", "a" }, { "03 08 616263", "abc" }, { "06 08 616263 0a0300", "abcabc" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i].hex);
    uint8_t out[16];
    zt_span body;
    uint64_t n;
    check( zt_snappy_length(span_of(b), &body, &n) && n==strlen(rows[i].text), "%s", rows[i].hex );
    check( zt_snappy_decode(body, out, (size_t)n) && (n==0 || memcmp(out, rows[i].text, (size_t)n)==0), "%s", rows[i].hex );
    free(b.p);
  }
}

/* No length, one beyond 32 bits, and one that so few bytes cannot make. */
TEST(test_what_is_no_length){
  static const char *const rows[] = { "", "80", "ffffffff", "8080808080", "808080808000", "ffffffff7f", "ff7f00" };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = blob_of(rows[i]);
    zt_span body;
    uint64_t n;
    check( !zt_snappy_length(span_of(b), &body, &n), "%s", rows[i] );
    free(b.p);
  }
}

int main(void){
  return run_all("snappy", NULL, NULL);
}
