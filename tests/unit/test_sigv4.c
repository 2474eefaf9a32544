/* Signatures of requests to S3: core/sigv4.h; the files of AWS's tools: core/s3_config.h. */
#include "test.h"

#include "core/s3_config.h"
#include "core/sigv4.h"

static const char hex[] = "0123456789abcdef";

static void check_hmac(const char *key, size_t nKey, const char *message, const char *expected){
  uint8_t out[ZT_HMAC_BYTES];
  char text[2*ZT_HMAC_BYTES+1] = { 0 };
  assert_true(zt_hmac_sha256((zt_span){ (const uint8_t*)key, nKey }, (zt_span){ (const uint8_t*)message, strlen(message) }, out));
  for(int i=0; i<ZT_HMAC_BYTES; i++){
    text[2*i] = hex[out[i]>>4];
    text[2*i+1] = hex[out[i] & 15];
  }
  assert_string_equal(text, expected);
}

/* RFC 4231, test cases 1, 2 and 6 */
TEST(test_hmac){
  char long_key[131];
  memset(long_key, 0xAA, sizeof(long_key));
  check_hmac("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 20, "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  check_hmac("Jefe", 4, "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  check_hmac(long_key, sizeof(long_key), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* AWS's published example: GET of a bucket's list, 2013-05-24. */
static zt_sigv4 example(void){
  return (zt_sigv4){
    .host = ZT_TEXT_INIT("examplebucket.s3.amazonaws.com"), .path = ZT_TEXT_INIT("/"), .query = ZT_TEXT_INIT("max-keys=2&prefix=J"),
    .region = ZT_TEXT_INIT("us-east-1"), .service = ZT_TEXT_INIT("s3"), .key_id = ZT_TEXT_INIT("AKIAIOSFODNN7EXAMPLE"),
    .secret = ZT_TEXT_INIT("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), .time = "20130524T000000Z"
  };
}

static void free_headers(char **headers, int n){
  for(int i=0; i<n; i++) sqlite3_free(headers[i]);
}

TEST(test_the_published_signature){
  zt_sigv4 request = example();
  zt_error err = ZT_ERROR_NONE;
  char *headers[ZT_SIGV4_HEADERS];
  int n;
  assert_int_equal(zt_sigv4_sign(&request, headers, &n, &err), SQLITE_OK);
  assert_int_equal(n, 3);
  assert_string_equal(headers[0], "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      " SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  assert_string_equal(headers[1], "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_string_equal(headers[2], "x-amz-date: 20130524T000000Z");
  free_headers(headers, n);
}

TEST(test_what_a_signature_covers){
  char *first[ZT_SIGV4_HEADERS], *headers[ZT_SIGV4_HEADERS];
  zt_error err = ZT_ERROR_NONE;
  int n, m;
  zt_sigv4 request = example();
  assert_int_equal(zt_sigv4_sign(&request, first, &n, &err), SQLITE_OK);
  for(int i=0; i<7; i++){
    request = example();
    switch( i ){
      case 0: request.host = ZT_TEXT("other"); break;
      case 1: request.path = ZT_TEXT("/a%20b//..%2F%2B/%C3%BC"); break;
      case 2: request.query = ZT_TEXT("max-keys=3&prefix=J"); break;
      case 3: request.region = ZT_TEXT("eu-west-1"); break;
      case 4: request.secret = ZT_TEXT("other"); break;
      case 5: request.token = ZT_TEXT("session"); break;
      case 6: request.requester_pays = true; break;
    }
    assert_int_equal(zt_sigv4_sign(&request, headers, &m, &err), SQLITE_OK);
    check( strcmp(headers[0], first[0])!=0, "%d", i );
    assert_int_equal(m, i<5 ? 3 : 4);
    if( i==5 ) assert_string_equal(headers[3], "x-amz-security-token: session");
    if( i==6 ) assert_string_equal(headers[3], "x-amz-request-payer: requester");
    if( i==5 ) assert_non_null(strstr(headers[0], "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    free_headers(headers, m);
  }
  free_headers(first, n);
}

TEST(test_profiles){
  static const char file[] =
    "# a comment\n[default]\naws_access_key_id = AAA\r\naws_secret_access_key=se=cret+/\n; other\n  region = ignored\n"
    "[profile two]\nregion=eu-west-1\n[three\nregion = eu-west-2\ns3 =\n  endpoint_url = nested\n[ three ]\nregion=x";
  static const struct { const char *section, *key, *value; } rows[] = {
    { "default", "aws_access_key_id", "AAA" }, { "default", "aws_secret_access_key", "se=cret+/" }, { "default", "region", "" },
    { "profile two", "region", "eu-west-2" }, { "profile two", "endpoint_url", "" }, { "two", "region", "" }, { "three", "region", "x" }, { "default", "aws_access", "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_text value = zt_s3_ini((zt_text){ file, sizeof(file)-1 }, rows[i].section, rows[i].key);
    check( value.n==strlen(rows[i].value) && memcmp(value.z, rows[i].value, value.n)==0, "%s: %.*s", rows[i].key, (int)value.n, value.z );
  }
}

int main(void){
  return run_all("sigv4", NULL, NULL);
}
