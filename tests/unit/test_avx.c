/* core/avx: the upper halves of AVX's registers are zero behind what calls ISA-L. */
#include "test.h"

#include <zlib.h>
#include "core/digest.h"
#include "core/inflate.h"

#define REGISTERS 16
#define BYTES 5000   /* ISA-L has other code for few bytes */

#if defined(__x86_64__) && defined(__GNUC__)
# define UPPER_HALF(i) "vextractf128 $1, %%ymm" #i ", 16*" #i "(%0)\n"

/* Returns how many registers have an upper half that is not zero. */
static size_t used_upper_halves(void){
  uint64_t halves[REGISTERS][2] = { { 0 } };
  size_t n = 0;
  if( !__builtin_cpu_supports("avx2") ) return 0;
  __asm__ volatile(
    UPPER_HALF(0) UPPER_HALF(1) UPPER_HALF(2) UPPER_HALF(3) UPPER_HALF(4) UPPER_HALF(5) UPPER_HALF(6) UPPER_HALF(7)
    UPPER_HALF(8) UPPER_HALF(9) UPPER_HALF(10) UPPER_HALF(11) UPPER_HALF(12) UPPER_HALF(13) UPPER_HALF(14) UPPER_HALF(15)
    : : "r"(halves) : "memory"
  );
  for(size_t i=0; i<REGISTERS; i++) n += halves[i][0]!=0 || halves[i][1]!=0;
  return n;
}
#else
static size_t used_upper_halves(void){
  return 0;
}
#endif

static void random_bytes(uint8_t *p, size_t n){
  uint64_t seed = n;
  for(size_t i=0; i<n; i++) p[i] = (uint8_t)random_below(&seed, 256);
}

TEST(test_digests){
  static const unsigned algorithms[] = { ZT_DIGEST_CRC32C, ZT_DIGEST_CRC32, ZT_DIGEST_SHA256, ZT_DIGEST_XXH3, ZT_DIGEST_XXH3_128 };
  uint8_t p[BYTES];
  random_bytes(p, BYTES);
  for(size_t i=0; i<COUNT(algorithms); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_digest *d = zt_digest_begin(algorithms[i], &err);
    size_t used;
    assert_succeeded(&err, "begin");
    zt_digest_update(d, (zt_span){ p, BYTES });
    used = used_upper_halves();
    zt_digest_close(d);
    check( used==0, "%zu registers behind the digest %x", used, algorithms[i] );
  }
}

TEST(test_inflating){
  uint8_t p[BYTES], stored[2*BYTES], out[BYTES];
  uLongf n = sizeof(stored);
  zt_error err = ZT_ERROR_NONE;
  zt_inflate *d = zt_inflate_new(&err);
  zt_span in;
  size_t n_read, used;
  assert_succeeded(&err, "new");
  random_bytes(p, BYTES);
  assert_int_equal(compress(stored, &n, p, BYTES), Z_OK);
  in = (zt_span){ stored, n };
  zt_inflate_begin(d, ZT_INFLATE_ZLIB);
  zt_inflate_next(d, &in, out, BYTES, &n_read, &err);
  used = used_upper_halves();
  assert_succeeded(&err, "next");
  assert_int_equal(n_read, BYTES);
  assert_memory_equal(out, p, BYTES);
  check( used==0, "%zu registers", used );
  zt_inflate_free(d);
}

int main(void){
  return run_all("avx", NULL, NULL);
}
