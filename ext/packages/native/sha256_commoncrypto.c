/* SHA-256 by CommonCrypto, which macOS has. See core/sha256.h. */
#include "core/sha256.h"

#include <CommonCrypto/CommonDigest.h>
#include "core/host.h"

#define SHA256_STEP ((size_t)1<<30)   /* Bytes in one call, which counts in 32 bits */

struct zt_sha256 {
  CC_SHA256_CTX state;
};

zt_sha256 *zt_sha256_new(void){
  zt_sha256 *s = sqlite3_malloc64(sizeof(*s));
  if( s ) CC_SHA256_Init(&s->state);
  return s;
}

void zt_sha256_update(zt_sha256 *s, zt_span bytes){
  while( bytes.n>0 ){
    size_t n = bytes.n<SHA256_STEP ? bytes.n : SHA256_STEP;
    CC_SHA256_Update(&s->state, bytes.p, (CC_LONG)n);
    bytes.p += n;
    bytes.n -= n;
  }
}

void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]){
  CC_SHA256_Final(out, &s->state);
}

void zt_sha256_free(zt_sha256 *s){
  sqlite3_free(s);
}

const char *zt_sha256_library(void){
  return "CommonCrypto";
}
