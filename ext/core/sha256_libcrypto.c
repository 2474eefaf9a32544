/* SHA-256 by libcrypto. See sha256.h. */
#include "core/sha256.h"

#if !ZT_SHA256_CNG
# include <openssl/crypto.h>
# include <openssl/evp.h>

zt_sha256 *zt_sha256_new(void){
  EVP_MD_CTX *evp = EVP_MD_CTX_new();
  if( evp && EVP_DigestInit_ex(evp, EVP_sha256(), NULL)==1 ) return (zt_sha256*)evp;
  EVP_MD_CTX_free(evp);
  return NULL;
}

void zt_sha256_update(zt_sha256 *s, zt_span bytes){
  EVP_DigestUpdate((EVP_MD_CTX*)s, bytes.p, bytes.n);
}

void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]){
  EVP_DigestFinal_ex((EVP_MD_CTX*)s, out, NULL);
}

void zt_sha256_free(zt_sha256 *s){
  EVP_MD_CTX_free((EVP_MD_CTX*)s);
}

const char *zt_sha256_library(void){
  return OpenSSL_version(OPENSSL_VERSION);
}
#endif
