/* SHA-256 by libcrypto. See sha256.h. */
#include "core/sha256.h"

#if !ZT_SHA256_CNG
/* libcrypto's preferred interface, EVP, reads OpenSSL's configuration file on its first call and
** loads the modules named there, which must not happen where paths may not be opened. */
# define OPENSSL_SUPPRESS_DEPRECATED
# include <openssl/crypto.h>
# include <openssl/sha.h>
# include "core/host.h"

struct zt_sha256 {
  SHA256_CTX state;
};

zt_sha256 *zt_sha256_new(void){
  zt_sha256 *s = sqlite3_malloc64(sizeof(*s));
  if( s ) SHA256_Init(&s->state);
  return s;
}

void zt_sha256_update(zt_sha256 *s, zt_span bytes){
  SHA256_Update(&s->state, bytes.p, bytes.n);
}

void zt_sha256_finish(zt_sha256 *s, uint8_t out[ZT_SHA256_BYTES]){
  SHA256_Final(out, &s->state);
}

void zt_sha256_free(zt_sha256 *s){
  sqlite3_free(s);
}

const char *zt_sha256_library(void){
  return OpenSSL_version(OPENSSL_VERSION);
}
#endif
