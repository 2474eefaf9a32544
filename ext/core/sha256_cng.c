/* SHA-256 by Windows' own Cryptography API: Next Generation. See sha256.h. */
#include "core/sha256.h"

#if ZT_SHA256_CNG
# include <windows.h>
# include <bcrypt.h>
# include "core/host.h"

# define SHA256_STEP ((size_t)1<<30)   /* Bytes in one call, which counts in 32 bits */

struct zt_sha256 {
  BCRYPT_ALG_HANDLE algorithm;
  BCRYPT_HASH_HANDLE hash;
};

zt_sha256 *zt_sha256_new(void){
  zt_sha256 *s = sqlite3_malloc64(sizeof(*s));
  if( !s ) return NULL;
  *s = (zt_sha256){ NULL, NULL };
  if( BCryptOpenAlgorithmProvider(&s->algorithm, BCRYPT_SHA256_ALGORITHM, NULL, 0)==0
   && BCryptCreateHash(s->algorithm, &s->hash, NULL, 0, NULL, 0, 0)==0 ) return s;
  zt_sha256_free(s);
  return NULL;
}

void zt_sha256_update(zt_sha256 *s, zt_span bytes){
  while( bytes.n>0 ){
    size_t n = bytes.n<SHA256_STEP ? bytes.n : SHA256_STEP;
    uint8_t *p;
    memcpy(&p, &bytes.p, sizeof(p));   /* CNG only reads, but its parameter is not const */
    BCryptHashData(s->hash, p, (ULONG)n, 0);
    bytes.p += n;
    bytes.n -= n;
  }
}

void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]){
  BCryptFinishHash(s->hash, out, ZT_SHA256_BYTES, 0);
}

void zt_sha256_free(zt_sha256 *s){
  if( !s ) return;
  if( s->hash ) BCryptDestroyHash(s->hash);
  if( s->algorithm ) BCryptCloseAlgorithmProvider(s->algorithm, 0);
  sqlite3_free(s);
}

const char *zt_sha256_library(void){
  return "CNG";
}
#endif
