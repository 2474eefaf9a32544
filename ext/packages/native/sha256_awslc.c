/*
** SHA-256 by the assembly of AWS-LC, which has the instructions that processors have for it. What
** surrounds that there is left out: it looks at the environment, and is much. See core/sha256.h.
*/
#include "core/sha256.h"
#include "core/host.h"

#if defined(__x86_64__)
# include <cpuid.h>
#elif defined(__aarch64__)
# include <sys/auxv.h>
#else
# error "AWS-LC's assembly is for x86-64 and AArch64"
#endif

#define SHA256_BLOCK ((size_t)64)
#define SHA256_LENGTH ((size_t)8)   /* Bytes at the end of the last block that tell the length */

typedef void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t n);
sha256_blocks sha256_block_data_order_hw, sha256_block_data_order_nohw;

struct zt_sha256 {
  sha256_blocks *blocks;
  uint32_t state[8];
  uint64_t taken;                     /* Bytes so far */
  uint8_t rest[SHA256_BLOCK];         /* Those that make no block yet */
};

#if defined(__x86_64__)
sha256_blocks sha256_block_data_order_ssse3;

static sha256_blocks *sha256_choose(void){
  const unsigned sse41 = 1u<<19, sha = 1u<<29;   /* Leaf 1, ECX; leaf 7, EBX */
  const unsigned ssse3 = 1u<<9;                  /* Leaf 1, ECX */
  unsigned a, b, c, d, b7, c7, d7;
  if( !__get_cpuid(1, &a, &b, &c, &d) || !(c & ssse3) ) return sha256_block_data_order_nohw;
  if( !(c & sse41) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) || !(b7 & sha) ){
    return sha256_block_data_order_ssse3;
  }
  return sha256_block_data_order_hw;
}
#else
static sha256_blocks *sha256_choose(void){
  const unsigned long sha2 = 1ul<<6;             /* HWCAP_SHA2 */
  return getauxval(AT_HWCAP) & sha2 ? sha256_block_data_order_hw : sha256_block_data_order_nohw;
}
#endif

/* Asking a processor takes long where it is a virtual one. All threads find the same. */
static sha256_blocks *sha256_chosen(void){
  static sha256_blocks *chosen;
  sha256_blocks *f = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if( !f ){
    f = sha256_choose();
    __atomic_store_n(&chosen, f, __ATOMIC_RELAXED);
  }
  return f;
}

zt_sha256 *zt_sha256_new(void){
  zt_sha256 *s = sqlite3_malloc64(sizeof(*s));
  if( !s ) return NULL;
  *s = (zt_sha256){
    .blocks = sha256_chosen(),
    .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
  };
  return s;
}

void zt_sha256_update(zt_sha256 *s, zt_span bytes){
  size_t held = (size_t)(s->taken%SHA256_BLOCK), n;
  s->taken += bytes.n;
  if( held>0 ){
    n = bytes.n<SHA256_BLOCK-held ? bytes.n : SHA256_BLOCK-held;
    memcpy(s->rest+held, bytes.p, n);
    if( held+n<SHA256_BLOCK ) return;
    s->blocks(s->state, s->rest, 1);
    bytes.p += n;
    bytes.n -= n;
  }
  n = bytes.n/SHA256_BLOCK;
  if( n>0 ) s->blocks(s->state, bytes.p, n);
  if( bytes.n%SHA256_BLOCK>0 ){
    memcpy(s->rest, bytes.p+n*SHA256_BLOCK, bytes.n%SHA256_BLOCK);
  }
}

void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]){
  size_t held = (size_t)(s->taken%SHA256_BLOCK);
  s->rest[held++] = 0x80;
  if( held>SHA256_BLOCK-SHA256_LENGTH ){
    memset(s->rest+held, 0, SHA256_BLOCK-held);
    s->blocks(s->state, s->rest, 1);
    held = 0;
  }
  memset(s->rest+held, 0, SHA256_BLOCK-SHA256_LENGTH-held);
  for(unsigned i=0; i<SHA256_LENGTH; i++){
    s->rest[SHA256_BLOCK-1-i] = (uint8_t)(s->taken*8 >> 8*i);
  }
  s->blocks(s->state, s->rest, 1);
  for(unsigned i=0; i<ZT_SHA256_BYTES; i++) out[i] = (uint8_t)(s->state[i/4] >> 8*(3-i%4));
}

void zt_sha256_free(zt_sha256 *s){
  sqlite3_free(s);
}

const char *zt_sha256_library(void){
  return "AWS-LC";
}
