/* URLs, percent-encoding, redirects and addresses: core/url.h; and what may be reached: core/origins.h. */
#include "test.h"

#include "core/origins.h"
#include "core/url.h"

static bool parses(const char *url, zt_url *out){
  zt_error err = ZT_ERROR_NONE;
  const bool parsed = zt_url_parse(url, out, &err)==SQLITE_OK;
  zt_error_clear(&err);
  return parsed;
}

static char *target(const zt_url *url){
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_url_put_origin(out, url);
  zt_url_put_target(out, url);
  return sqlite3_str_finish(out);
}

TEST(test_what_is_sent_for_a_url){
  static const struct { const char *url, *sent; } rows[] = {
    { "https://h", "https://h/" }, { "HTTPS://Host.Example/A", "https://host.example/A" }, { "http://h:80/x", "http://h/x" },
    { "http://h:443/", "http://h:443/" }, { "https://h:8443/a?b=c&d", "https://h:8443/a?b=c&d" }, { "https://h?q", "https://h/?q" },
    { "https://h/a#part", "https://h/a" }, { "https://h/a b/\xC3\xBC", "https://h/a%20b/%C3%BC" }, { "https://h/a%20b", "https://h/a%20b" },
    { "https://h//a/../b/./c", "https://h//a/../b/./c" }, { "http://[::1]:9000/k", "http://[::1]:9000/k" }, { "https://h/a+b*[c]", "https://h/a+b*[c]" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_url url;
    char *sent;
    check( parses(rows[i].url, &url), "%s", rows[i].url );
    sent = target(&url);
    check( strcmp(sent, rows[i].sent)==0, "%s: %s", rows[i].url, sent );
    sqlite3_free(sent);
  }
}

TEST(test_what_is_no_url){
  static const char *const rows[] = {
    "", "h", "ftp://h/", "https:/h", "https://", "https:///a", "https://?q", "https://user@h/", "https://u:p@h/", "https://h:0/", "https://h:65536/",
    "https://h:1a/", "https://h:-1/", "https://h:000443/", "https://h~/", "https://h o/", "https://h\t/", "https://h/a\nb", "https://[::1/", "https://[x]/", "https://[]/", "https://h%41/", "https://a\\b/",
  };
  zt_url url;
  char longest[300];
  for(size_t i=0; i<COUNT(rows); i++) check( !parses(rows[i], &url), "'%s'", rows[i] );
  for(int n=255; n<=256; n++){
    snprintf(longest, sizeof(longest), "https://%0*d/", n, 0);
    check( parses(longest, &url)==(n==255), "a host of %d bytes", n );
  }
}

TEST(test_encoding_of_keys){
  static const struct { const char *key, *with, *without; } rows[] = {
    { "a/b", "a/b", "a%2Fb" }, { "a b+c", "a%20b%2Bc", "a%20b%2Bc" }, { "..//x", "..//x", "..%2F%2Fx" }, { "-._~", "-._~", "-._~" },
    { "\xC3\xBC", "%C3%BC", "%C3%BC" }, { "!*'()", "%21%2A%27%28%29", "%21%2A%27%28%29" }, { "%41&=?#", "%2541%26%3D%3F%23", "%2541%26%3D%3F%23" },
    { "\"<>[]\\^`{|}@:;,$", "%22%3C%3E%5B%5D%5C%5E%60%7B%7C%7D%40%3A%3B%2C%24", "%22%3C%3E%5B%5D%5C%5E%60%7B%7C%7D%40%3A%3B%2C%24" },
  };
  for(size_t i=0; i<COUNT(rows); i++) for(int slashes=0; slashes<2; slashes++){
    const zt_text key = { rows[i].key, strlen(rows[i].key) };
    sqlite3_str *out = sqlite3_str_new(NULL);
    char *z, decoded[64];
    zt_url_put_encoded(out, key, slashes!=0);
    z = sqlite3_str_finish(out);
    check( strcmp(z, slashes ? rows[i].with : rows[i].without)==0, "%s: %s", rows[i].key, z );
    assert_int_equal(zt_url_decode((zt_text){ z, strlen(z) }, true, decoded), key.n);
    assert_memory_equal(decoded, key.z, key.n);
    sqlite3_free(z);
  }
}

TEST(test_decoding){
  char out[16];
  assert_int_equal(zt_url_decode(ZT_TEXT("a+b%2b%zz%4"), true, out), 9);
  assert_memory_equal(out, "a b+%zz%4", 9);
  assert_int_equal(zt_url_decode(ZT_TEXT("a+b"), false, out), 3);
  assert_memory_equal(out, "a+b", 3);
  assert_true(zt_url_is_encoded(ZT_TEXT("a%2Fb")));
  assert_false(zt_url_is_encoded(ZT_TEXT("a%2")));
  assert_false(zt_url_is_encoded(ZT_TEXT("%zz")));
  assert_false(zt_url_is_encoded(ZT_TEXT("%4z")));
}

TEST(test_where_redirects_lead){
  static const struct { const char *location, *url; } rows[] = {
    { "https://other/x", "https://other/x" }, { "//other/x?y", "https://other/x?y" }, { "/x", "https://h:8443/x" }, { "x?y=/../z", "https://h:8443/a/b/x?y=/../z" },
    { "../x", "https://h:8443/a/x" }, { "../../../x", "https://h:8443/x" }, { "./", "https://h:8443/a/b/" }, { "?n", "https://h:8443/a/b/c?n" },
    { "", "https://h:8443/a/b/c" }, { "x#part", "https://h:8443/a/b/x" }, { "file:///etc/passwd", "file:///etc/passwd" }, { "..", "https://h:8443/a/" },
    { "a:b", "a:b" }, { "./a:b", "https://h:8443/a/b/a:b" }, { "xy/../z", "https://h:8443/a/b/z" }, { ".x/../y", "https://h:8443/a/b/y" },
    { NULL, "https://h:8443/a/b/c" },
  }, of_no_path[] = { { "x", "https://h/x" }, { "?q", "https://h/?q" }, { "", "https://h/" } };
  zt_url base;
  assert_true(parses("https://h:8443/a/b/c?d", &base));
  for(size_t i=0; i<COUNT(rows); i++){
    char *url = zt_url_resolve(&base, (zt_text){ rows[i].location, rows[i].location ? strlen(rows[i].location) : 0 });
    check( url && strcmp(url, rows[i].url)==0, "row %d: %s", (int)i, url );
    sqlite3_free(url);
  }
  assert_true(parses("https://h", &base));
  for(size_t i=0; i<COUNT(of_no_path); i++){
    char *url = zt_url_resolve(&base, (zt_text){ of_no_path[i].location, strlen(of_no_path[i].location) });
    check( url && strcmp(url, of_no_path[i].url)==0, "'%s': %s", of_no_path[i].location, url );
    sqlite3_free(url);
  }
}

TEST(test_dots){
  static const char *const with[] = { ".", "..", "a/..", "../a", "a/./b", "a/%2e%2E/b", "a/.%2e", "a%2f..%2Fb", "a\\..\\b", "/%2e" };
  static const char *const without[] = { "", "a", "...", "a..b/c", ".a", "a./b", "..a", "a/.../b", "%2e%2e%2e" };
  for(size_t i=0; i<COUNT(with); i++) check( zt_url_has_dots((zt_text){ with[i], strlen(with[i]) }), "%s", with[i] );
  for(size_t i=0; i<COUNT(without); i++) check( !zt_url_has_dots((zt_text){ without[i], strlen(without[i]) }), "%s", without[i] );
}

TEST(test_public_addresses){
  static const struct { uint8_t address[16]; size_t n; bool public; } rows[] = {
    { { 8, 8, 8, 8 }, 4, true }, { { 127, 0, 0, 1 }, 4, false }, { { 10, 1, 2, 3 }, 4, false }, { { 172, 15, 0, 1 }, 4, true }, { { 172, 16, 0, 1 }, 4, false },
    { { 172, 31, 255, 255 }, 4, false }, { { 172, 32, 0, 1 }, 4, true }, { { 192, 168, 1, 1 }, 4, false }, { { 169, 254, 169, 254 }, 4, false },
    { { 100, 64, 0, 1 }, 4, false }, { { 100, 128, 0, 1 }, 4, true }, { { 0, 0, 0, 0 }, 4, false }, { { 224, 0, 0, 1 }, 4, false }, { { 255, 255, 255, 255 }, 4, false },
    { { 198, 18, 0, 1 }, 4, false }, { { 198, 20, 0, 1 }, 4, true },
    { { 0x20, 0x01, 0x48, 0x60 }, 16, true }, { { 0 }, 16, false }, { { [15] = 1 }, 16, false }, { { 0xFE, 0x80 }, 16, false }, { { 0xFD, 0 }, 16, false },
    { { 0xFF, 2 }, 16, false }, { { [10] = 0xFF, 0xFF, 127, 0, 0, 1 }, 16, false }, { { [10] = 0xFF, 0xFF, 8, 8, 8, 8 }, 16, true },
    { { 0, 0x64, 0xFF, 0x9B, [12] = 10, 0, 0, 1 }, 16, false }, { { 0x20, 0x02, 127, 0, 0, 1 }, 16, false }, { { 0x20, 0x02, 8, 8, 8, 8 }, 16, true },
    { { 0x20, 0x01, 0x0D, 0xB8 }, 16, false }, { { 0x20, 0x01, 0, 0 }, 16, false }, { { 8, 8, 8, 8 }, 0, false },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    check( zt_address_is_public(rows[i].address, rows[i].n)==rows[i].public, "row %d", (int)i );
  }
}

/* --- What may be reached --- */

/* Returns 0 if the list does not allow it, 1 if it does, 2 with any address. from: a redirect; or NULL. */
static int allows(const char *list, const char *name, const char *url, const char *from){
  zt_error err = ZT_ERROR_NONE;
  zt_origins *o;
  zt_url to, before;
  zt_reach reach = { .url = &to };
  bool any, allowed;
  check( zt_origins_new((zt_text){ list, strlen(list) }, &o, &err)==SQLITE_OK, "%s: %s", list, err.message );
  check( parses(url, &to), "%s", url );
  if( from && parses(from, &before) ) reach.from = &before;
  if( name ) reach.name = (zt_text){ name, strlen(name) };
  allowed = zt_origins_allow(o, &reach, &any);
  assert_true(allowed || !any);
  zt_origins_free(o);
  return allowed ? 1+any : 0;
}

TEST(test_what_lists_allow){
  static const struct { const char *list, *name, *url, *from; int allowed; } rows[] = {
    { "*", NULL, "https://h/a", NULL, 1 }, { "*", NULL, "http://h/a", NULL, 0 }, { "", NULL, "https://h/a", NULL, 0 }, { "https://h", NULL, "https://h/a", NULL, 2 },
    { "https://h", NULL, "https://h:444/a", NULL, 0 }, { "https://h:443/", NULL, "https://H/a", NULL, 2 }, { "https://h", NULL, "http://h/a", NULL, 0 },
    { "https://h", NULL, "https://h.evil/a", NULL, 0 }, { "https://h/a", NULL, "https://h/a", NULL, 2 }, { "https://h/a", NULL, "https://h/a/b?c", NULL, 2 },
    { "https://h/a", NULL, "https://h/ab", NULL, 0 }, { "https://h/a/", NULL, "https://h/a/b", NULL, 2 }, { "https://h/a", NULL, "https://h/a/../b", NULL, 0 },
    { "https://h/a", NULL, "https://h/%61/b", NULL, 2 }, { "https://h/a", NULL, "https://h/a/%2e%2e/b", NULL, 0 }, { "https://h", NULL, "https://h/a/../b", NULL, 2 },
    { "  https://x   http://10.0.0.5:9000 ", NULL, "http://10.0.0.5:9000/b/k", NULL, 2 },
    /* Names */
    { "*", "s3://b/k", "https://b.s3.us-east-1.amazonaws.com/k", NULL, 1 }, { "s3://b", "s3://b/k", "https://b.s3.x.amazonaws.com/k", NULL, 1 },
    { "s3://b/", "s3://bc/k", "https://bc.s3.x.amazonaws.com/k", NULL, 0 }, { "s3://b/p/", "s3://b/p/k", "https://e/b/p/k", NULL, 1 }, { "s3://b/p", "s3://b/pk", "https://e/b/pk", NULL, 0 },
    { "s3://b/p", "s3://b/p/../k", "https://e/b/p/../k", NULL, 0 }, { "s3://b/p", "s3://b/p/k", "http://127.0.0.1:9000/b/p/k", NULL, 0 },
    { "s3://b/p http://127.0.0.1:9000/none", "s3://b/p/k", "http://127.0.0.1:9000/b/p/k", NULL, 2 }, { "http://127.0.0.1:9000", "s3://b/p/k", "http://127.0.0.1:9000/b/p/k", NULL, 2 },
    { "hf://org/", "hf://org/model/f", "https://huggingface.co/org/model/resolve/main/f", NULL, 1 }, { "hf://other/", "hf://org/model/f", "https://huggingface.co/x", NULL, 0 },
    { "hf://org/", "s3://org/f", "https://e/org/f", NULL, 0 }, { "hf://", "hf://org/model/f", "https://huggingface.co/x", NULL, 1 },
    { "s3://b/p", "s3://b/p", "https://e/b/p", NULL, 1 }, { "s3://b", NULL, "https://e/b", NULL, 0 }, { "s3://b", "s3:", "https://e/b", NULL, 0 },
    { "http://127.0.0.1:9000 s3://b", "s3://b/k", "http://127.0.0.1:9000/b/k", NULL, 2 },
    { "https://h/a%4", NULL, "https://h/a%4/b", NULL, 2 }, { "https://h/a%4", NULL, "https://h/a%4", NULL, 2 }, { "https://h/a%zz", NULL, "https://h/a%zz", NULL, 2 }, { "https://h/a%zz", NULL, "https://h/a%zy", NULL, 0 },
    /* Redirects */
    { "hf://org/", "hf://org/m/f", "https://cdn-lfs.hf.co/x", "https://huggingface.co/y", 1 }, { "hf://org/", "hf://org/m/f", "https://hf.co.evil/x", "https://huggingface.co/y", 0 },
    { "hf://org/", "hf://org/m/f", "https://evilhf.co/x", "https://huggingface.co/y", 0 }, { "hf://org/", "hf://org/m/f", "https://cdn.hf.co:8443/x", "https://huggingface.co/y", 0 },
    { "hf://org/", "hf://org/m/f", "http://cdn.hf.co/x", "https://huggingface.co/y", 0 }, { "https://huggingface.co", "hf://org/m/f", "https://cdn.hf.co/x", "https://huggingface.co/y", 1 },
    { "https://huggingface.co", NULL, "https://cdn.hf.co/x", "https://huggingface.co/y", 0 }, { "s3://b", "s3://b/k", "https://cdn.hf.co/x", "https://e/b/k", 0 },
    { "https://h/a", NULL, "https://h/b", "https://h/a", 0 }, { "hf://org/", "hf://org/m/f", "https://huggingface.co/z", "https://huggingface.co/y", 1 },
    { "https://huggingface.co", "s3://b/k", "https://cdn.hf.co/x", "https://huggingface.co/y", 0 }, { "https://huggingface.co", "hf://org/m/f", "https://evil/x", "https://huggingface.co/y", 0 },
    { "https://other", "hf://org/m/f", "https://cdn.hf.co/x", "https://huggingface.co/y", 0 },
    { "hf://org/ http://cdn.hf.co/none", "hf://org/m/f", "http://cdn.hf.co/x", "https://huggingface.co/y", 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    check( allows(rows[i].list, rows[i].name, rows[i].url, rows[i].from)==rows[i].allowed, "'%s' and %s", rows[i].list, rows[i].url );
  }
}

TEST(test_what_is_no_entry){
  static const char *const rows[] = { "host", "ftp://h", "**", "https://", "https://u@h", "https://h/a?b", "https://h#x", "s3:", "https://h:99999", "file:///a" };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_origins *o;
    check( zt_origins_new((zt_text){ rows[i], strlen(rows[i]) }, &o, &err)==SQLITE_ERROR && !o, "%s", rows[i] );
    check( strstr(err.message, rows[i])!=NULL, "%s", err.message );
    zt_error_clear(&err);
  }
  zt_origins_free(NULL);
}

int main(void){
  return run_all("url", NULL, NULL);
}
