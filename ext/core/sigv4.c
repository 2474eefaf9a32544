/*
** Signatures of requests to S3. See sigv4.h.
**
** AWS, "Signature Version 4":
**   request   := "GET" LF path LF query LF { name ":" value LF } LF signed LF hash of the body
**   signed    := the names of the headers in lower case, ascending, separated by ";"
**   scope     := date "/" region "/" service "/aws4_request"
**   to sign   := "AWS4-HMAC-SHA256" LF time LF scope LF hex of the SHA-256 of request
**   key       := HMAC over date, region, service and "aws4_request" in turn, from "AWS4" secret
**   signature := hex of the HMAC of "to sign"
** For S3 the path is encoded once, and not normalised.
*/
#include "core/sigv4.h"

#include "core/sha256.h"

#define SIGV4_BLOCK 64
#define SIGV4_DATE 8
#define SIGV4_HEX (2*ZT_HMAC_BYTES+1)

/* The SHA-256 of no bytes. */
static const char sigv4_empty[] =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void sigv4_hex(const uint8_t bytes[ZT_HMAC_BYTES], char out[SIGV4_HEX]){
  static const char digits[] = "0123456789abcdef";
  for(size_t i=0; i<ZT_HMAC_BYTES; i++){
    out[2*i] = digits[bytes[i]>>4];
    out[2*i+1] = digits[bytes[i] & 15];
  }
  out[SIGV4_HEX-1] = 0;
}

/* Hashes two ranges, one behind the other. False if memory is short. */
static bool sigv4_sha256(zt_span a, zt_span b, uint8_t out[ZT_SHA256_BYTES]){
  zt_sha256 *s = zt_sha256_new();
  if( !s ) return false;
  zt_sha256_update(s, a);
  zt_sha256_update(s, b);
  zt_sha256_finish(s, out);
  zt_sha256_free(s);
  return true;
}

bool zt_hmac_sha256(zt_span key, zt_span message, uint8_t out[ZT_HMAC_BYTES]){
  const zt_span none = { (const uint8_t*)"", 0 };
  uint8_t inner[SIGV4_BLOCK], outer[SIGV4_BLOCK], hash[ZT_SHA256_BYTES] = { 0 };
  if( key.n>SIGV4_BLOCK ){
    if( !sigv4_sha256(key, none, hash) ) return false;
    key = (zt_span){ hash, sizeof(hash) };
  }
  for(size_t i=0; i<SIGV4_BLOCK; i++){
    const uint8_t byte = i<key.n ? key.p[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5C;
  }
  return sigv4_sha256((zt_span){ inner, sizeof(inner) }, message, hash)
      && sigv4_sha256((zt_span){ outer, sizeof(outer) }, (zt_span){ hash, sizeof(hash) }, out);
}

static zt_span sigv4_span(zt_text text){
  return (zt_span){ (const uint8_t*)text.z, text.n };
}

/* The signing key of a day. */
static bool sigv4_key(const zt_sigv4 *r, uint8_t key[ZT_HMAC_BYTES]){
  const zt_text parts[] = {
    { r->time, SIGV4_DATE }, r->region, r->service, ZT_TEXT_INIT("aws4_request")
  };
  char *secret = sqlite3_mprintf("AWS4%.*s", (int)r->secret.n, r->secret.z);
  zt_span current = { (const uint8_t*)secret, r->secret.n+4 };
  bool done = secret!=NULL;
  for(size_t i=0; done && i<sizeof(parts)/sizeof(*parts); i++){
    done = zt_hmac_sha256(current, sigv4_span(parts[i]), key);
    current = (zt_span){ key, ZT_HMAC_BYTES };
  }
  sqlite3_free(secret);
  return done;
}

/* The names of the headers that are signed. */
static char *sigv4_names(const zt_sigv4 *r){
  return sqlite3_mprintf("host;x-amz-content-sha256;x-amz-date%s%s",
                         r->requester_pays ? ";x-amz-request-payer" : "",
                         r->token.n ? ";x-amz-security-token" : "");
}

static char *sigv4_request(const zt_sigv4 *r, const char *names){
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendf(out, "GET\n%.*s\n%.*s\nhost:%.*s\nx-amz-content-sha256:%s\nx-amz-date:%s\n",
                      (int)r->path.n, r->path.z, (int)r->query.n, r->query.z, (int)r->host.n,
                      r->host.z, sigv4_empty, r->time);
  if( r->requester_pays ) sqlite3_str_appendall(out, "x-amz-request-payer:requester\n");
  if( r->token.n ){
    sqlite3_str_appendf(out, "x-amz-security-token:%.*s\n", (int)r->token.n, r->token.z);
  }
  sqlite3_str_appendf(out, "\n%s\n%s", names, sigv4_empty);
  return sqlite3_str_finish(out);
}

static char *sigv4_scope(const zt_sigv4 *r){
  return sqlite3_mprintf("%.*s/%.*s/%.*s/aws4_request", SIGV4_DATE, r->time, (int)r->region.n,
                         r->region.z, (int)r->service.n, r->service.z);
}

/* Returns the Authorization header. NULL if memory is short. */
static char *sigv4_authorization(const zt_sigv4 *r){
  uint8_t key[ZT_HMAC_BYTES], hash[ZT_HMAC_BYTES];
  char hex[SIGV4_HEX], *names = sigv4_names(r), *scope = sigv4_scope(r), *to_sign = NULL;
  char *request = names ? sigv4_request(r, names) : NULL, *out = NULL;
  const zt_span none = { (const uint8_t*)"", 0 };
  if( !scope || !request || !sigv4_key(r, key)
   || !sigv4_sha256((zt_span){ (const uint8_t*)request, strlen(request) }, none, hash) ) goto end;
  sigv4_hex(hash, hex);
  to_sign = sqlite3_mprintf("AWS4-HMAC-SHA256\n%s\n%s\n%s", r->time, scope, hex);
  if( !to_sign || !zt_hmac_sha256((zt_span){ key, sizeof(key) },
                                  (zt_span){ (const uint8_t*)to_sign, strlen(to_sign) }, hash) ){
    goto end;
  }
  sigv4_hex(hash, hex);
  out = sqlite3_mprintf("Authorization: AWS4-HMAC-SHA256 Credential=%.*s/%s, SignedHeaders=%s,"
                        " Signature=%s", (int)r->key_id.n, r->key_id.z, scope, names, hex);
end:
  sqlite3_free(names);
  sqlite3_free(scope);
  sqlite3_free(request);
  sqlite3_free(to_sign);
  return out;
}

int zt_sigv4_sign(const zt_sigv4 *r, char *out[ZT_SIGV4_HEADERS], int *n, zt_error *err){
  int made = 0;
  bool whole = true;
  out[made++] = sigv4_authorization(r);
  out[made++] = sqlite3_mprintf("x-amz-content-sha256: %s", sigv4_empty);
  out[made++] = sqlite3_mprintf("x-amz-date: %s", r->time);
  if( r->requester_pays ) out[made++] = sqlite3_mprintf("x-amz-request-payer: requester");
  if( r->token.n ){
    out[made++] = sqlite3_mprintf("x-amz-security-token: %.*s", (int)r->token.n, r->token.z);
  }
  for(int i=0; i<made; i++) whole = whole && out[i];
  *n = made;
  if( whole ) return SQLITE_OK;
  while( made>0 ) sqlite3_free(out[--made]);
  *n = 0;
  return zt_fail_nomem(err);
}
