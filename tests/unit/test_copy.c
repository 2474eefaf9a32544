/* Copies past the caches: core/copy.h. */
#include "test.h"

#include "core/copy.h"

/* At each place of a line, and of each length up to three lines: these bytes are copied, and no others. */
TEST(test_a_copy_has_the_bytes_and_no_others){
  enum { LINE = 64, MOST = 3*LINE };
  uint8_t from[MOST+LINE], to[MOST+2*LINE], want[sizeof(to)];
  for(size_t i=0; i<sizeof(from); i++) from[i] = (uint8_t)(i*7+1);
  for(size_t at=0; at<LINE; at++){
    for(size_t n=0; n<=MOST; n++){
      const size_t start = (at*5+n)%LINE;
      memset(to, 0xEE, sizeof(to));
      memset(want, 0xEE, sizeof(want));
      memcpy(want+at, from+start, n);
      zt_copy_past_caches(to+at, from+start, n);
      check( memcmp(to, want, sizeof(to))==0, "%zu bytes at %zu", n, at );
    }
  }
}

int main(void){
  return run_all("copy", NULL, NULL);
}
