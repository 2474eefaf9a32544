/* Listings of S3 and of the hub, and names in them: core/s3.h, core/hub.h, core/remote_search.h; dates: core/http_answer.h. */
#include "test.h"

#include "core/http_answer.h"
#include "core/hub.h"
#include "core/remote_search.h"
#include "core/s3.h"

/* The objects of a page as one text. */
typedef struct found { char text[1024]; size_t n; size_t most; } found;

static bool take(void *context, zt_text key, zt_remote_state *state){
  found *f = context;
  assert_non_null(state);
  f->n += (size_t)snprintf(f->text+f->n, sizeof(f->text)-f->n, "[%.*s %llu %lld %s]", (int)key.n, key.z, (unsigned long long)state->size,
      state->modified==INT64_MIN ? -1 : (long long)state->modified, state->etag);
  sqlite3_free(state);
  return --f->most>0;
}

static int read_s3(const char *xml, found *f, char **next, zt_error *err){
  blob page = exact(xml, strlen(xml));
  int rc = zt_s3_read_page((zt_span){ page.p, page.n }, f ? take : NULL, f, next, err);
  free(page.p);
  return rc;
}

#define ROOT(inside) "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\">" inside "</ListBucketResult>"
#define OBJECT(key, size) "<Contents><Key>" key "</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>" size "</Size></Contents>"

TEST(test_pages_of_s3){
  static const struct { const char *xml, *objects, *next; } rows[] = {
    { ROOT(""), "", NULL }, { ROOT(OBJECT("a.zt", "3")), "[a.zt 3 1255369830 \"e\"]", NULL },
    { ROOT("<!-- c --><EncodingType>url</EncodingType>" OBJECT("a+b%2B%25%C3%BC//..", "0")), "[a b+%\xC3\xBC//.. 0 1255369830 \"e\"]", NULL },
    { ROOT(OBJECT("a+b%2B&amp;&lt;&#65;&#xfc;", "1")), "[a+b%2B&<A\xC3\xBC 1 1255369830 \"e\"]", NULL },
    { ROOT(OBJECT("&#xE000;&#x20AC;&#x1F600;", "1")), "[\xEE\x80\x80\xE2\x82\xAC\xF0\x9F\x98\x80 1 1255369830 \"e\"]", NULL },
    { ROOT("<IsTruncated>true</IsTruncated><NextContinuationToken>t=/+</NextContinuationToken>" OBJECT("a", "1")), "[a 1 1255369830 \"e\"]", "t=/+" },
    { ROOT("<IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken>"), "", NULL },
    { ROOT("<Contents><Size>18446744073709551615</Size><Owner><Key>no</Key></Owner><Key>k</Key></Contents>"), "[k 18446744073709551615 -1 ]", NULL },
    { ROOT("<Other a='>' b=\"/\"/><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>"), "", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    found f = { .most = 99 };
    char *next;
    check( read_s3(rows[i].xml, &f, &next, &err)==SQLITE_OK, "%s: %s", rows[i].xml, err.message );
    check( strcmp(f.text, rows[i].objects)==0, "%s: %s", rows[i].xml, f.text );
    if( rows[i].next ) assert_string_equal(next, rows[i].next);
    else assert_null(next);
    sqlite3_free(next);
  }
}

TEST(test_the_rest_of_a_page_is_read_without_objects){
  zt_error err = ZT_ERROR_NONE;
  found f = { .most = 1 };
  char *next;
  assert_int_equal(read_s3(ROOT(OBJECT("a", "1") OBJECT("b", "1")), &f, &next, &err), SQLITE_OK);
  assert_string_equal(f.text, "[a 1 1255369830 \"e\"]");
  assert_int_equal(read_s3(ROOT(OBJECT("a", "1") OBJECT("b", "-1")), &f, &next, &err), SQLITE_ERROR);
  zt_error_clear(&err);
}

TEST(test_what_is_no_page_of_s3){
  static const char *const rows[] = {
    "", " ", "text", "<html></html>", "<Error><Code>X</Code></Error>", "<ListBucketResult>", "<ListBucketResult></Other>", "<ListBucketResult/>x", "<ListBucketResult/><a/>",
    "</ListBucketResult>", "<ListBucketResult", "<ListBucketResult a='", "<?xml", "<!-- ", "<!DOCTYPE x><ListBucketResult/>", "<ListBucketResult><![CDATA[x]]></ListBucketResult>",
    ROOT(OBJECT("", "1")), ROOT(OBJECT("a", "")), ROOT(OBJECT("a", "1x")), ROOT(OBJECT("a", "18446744073709551616")), ROOT(OBJECT("&#0;", "1")), ROOT(OBJECT("&x;", "1")),
    ROOT(OBJECT("&#xD800;", "1")), ROOT(OBJECT("&#1114112;", "1")), ROOT(OBJECT("&", "1")), ROOT("<Contents><Size>1</Size></Contents>"),
    ROOT("<EncodingType>url</EncodingType>" OBJECT("%zz", "1")), ROOT("<EncodingType>url</EncodingType>" OBJECT("a%00", "1")), ROOT("<IsTruncated>true</IsTruncated>"),
    ROOT("<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"), ROOT(OBJECT("&#11141120;", "1")), ROOT(OBJECT("&#z;", "1")), ROOT(OBJECT("&#a;", "1")), ROOT(OBJECT("&#6z5;", "1")),
    "<ListBucketResult>&#6", "<ListBucketResult <a/>", ROOT("<IsTruncated>true</IsTruncated><NextContinuationToken/>"),
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    char *next;
    check( read_s3(rows[i], NULL, &next, &err)==SQLITE_ERROR && !next, "'%s'", rows[i] );
    assert_string_equal(zt_error_kind(&err), "transient");
    zt_error_clear(&err);
  }
}

/* A key has at most 4096 bytes when it is decoded, and three times as many before. */
TEST(test_long_keys){
  static const struct { size_t n; const char *piece, *message; } rows[] = {
    { 4096, "a", NULL }, { 4097, "a", "a key that is none" }, { 4096, "%41", NULL }, { 4097, "%41", "a text that is too long" }
  };
  char *xml = malloc(20000);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    char *next;
    strcpy(xml, "<ListBucketResult><EncodingType>url</EncodingType><Contents><Size>1</Size><Key>");
    for(size_t k=0, at=strlen(xml); k<rows[i].n; k++, at+=strlen(rows[i].piece)) strcpy(xml+at, rows[i].piece);
    strcat(xml, "</Key></Contents></ListBucketResult>");
    check( (read_s3(xml, NULL, &next, &err)==SQLITE_OK)==(rows[i].message==NULL), "%d of '%s'", (int)rows[i].n, rows[i].piece );
    if( rows[i].message ) assert_non_null(strstr(err.message, rows[i].message));
    zt_error_clear(&err);
  }
  free(xml);
}

/* A page that is cut anywhere is none. */
TEST(test_a_cut_page){
  static const char whole[] = ROOT("<IsTruncated>false</IsTruncated>" OBJECT("a&amp;b", "12"));
  char cut[sizeof(whole)];
  for(size_t n=0; n<sizeof(whole)-1; n++){
    zt_error err = ZT_ERROR_NONE;
    char *next;
    memcpy(cut, whole, n);
    cut[n] = 0;
    check( read_s3(cut, NULL, &next, &err)==SQLITE_ERROR, "%d bytes", (int)n );
    zt_error_clear(&err);
  }
}

TEST(test_pages_of_the_hub){
  static const struct { const char *json, *files; } rows[] = {
    { "[]", "" }, { "[{\"type\":\"directory\",\"path\":\"d\",\"oid\":\"x\"}]", "" },
    { "[{\"type\":\"file\",\"path\":\"a \\u00fc.zt\",\"size\":3,\"oid\":\"abc\"}]", "[a \xC3\xBC.zt 3 -1 \"abc\"]" },
    { "[{\"lfs\":{\"oid\":\"sha\",\"size\":9,\"pointerSize\":1},\"oid\":\"abc\",\"size\":9,\"path\":\"d/m\",\"type\":\"file\",\"x\":[{}]}]", "[d/m 9 -1 \"sha\"]" },
    { "[{\"type\":\"file\",\"path\":\"a\",\"size\":0}]", "[a 0 -1 ]" },
    { "[{\"type\":\"file\",\"path\":\"a\",\"size\":1,\"oid\":\"abc\",\"lfs\":null}]", "[a 1 -1 \"abc\"]" },
  };
  static const char *const bad[] = {
    "", "{}", "[", "[1]", "[{}", "[{\"type\":\"file\",\"path\":\"a\"}]", "[{\"type\":\"file\",\"size\":1}]", "[{\"type\":\"file\",\"path\":\"\",\"size\":1}]",
    "[{\"type\":\"file\",\"path\":\"a\",\"size\":-1}]", "[{\"type\":\"file\",\"path\":\"a\",\"size\":1.5}]", "[{\"type\":\"file\",\"path\":\"a\\u0000b\",\"size\":1}]", "[] []",
    "[{\"type\":\"file\",\"path\":\"a\",\"size\":\"1\"}]", "[{\"path\":\"\\x\"}]", "[{\"lfs\":{1}}]", "[{1:2}]",
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    found f = { .most = 99 };
    blob page = exact(rows[i].json, strlen(rows[i].json));
    check( zt_hub_read_page((zt_span){ page.p, page.n }, take, &f, &err)==SQLITE_OK, "%s: %s", rows[i].json, err.message );
    check( strcmp(f.text, rows[i].files)==0, "%s: %s", rows[i].json, f.text );
    free(page.p);
  }
  for(size_t i=0; i<COUNT(bad); i++){
    zt_error err = ZT_ERROR_NONE;
    blob page = exact(bad[i], strlen(bad[i]));
    check( zt_hub_read_page((zt_span){ page.p, page.n }, NULL, NULL, &err)==SQLITE_ERROR, "%s", bad[i] );
    assert_string_equal(zt_error_kind(&err), "transient");
    zt_error_clear(&err);
    free(page.p);
  }
}

TEST(test_sources){
  static const struct { const char *source, *type, *repo, *revision, *path; } hub[] = {
    { "hf://org/m/a/b.zt", "models", "org/m", "main", "a/b.zt" }, { "hf://org/m", "models", "org/m", "main", "" }, { "hf://org/m/", "models", "org/m", "main", "" },
    { "hf://org/m@refs%2Fpr%2F1/x", "models", "org/m", "refs%2Fpr%2F1", "x" }, { "hf://datasets/org/d@v1/x", "datasets", "org/d", "v1", "x" },
    { "hf://spaces/org/s/x", "spaces", "org/s", "main", "x" }, { "hf://models/org/m/x", "models", "org/m", "main", "x" },
    { "hf://Org.Z_0/M-9/x", "models", "Org.Z_0/M-9", "main", "x" },
  };
  static const char *const no_repository[] = { "hf://", "hf://org", "hf://org/", "hf:///m/x", "hf://org/m@/x", "hf://../m/x", "hf://org/..", "hf://a b/m/x", "hf://org/m@../x", "hf://datasets/org",
    "hf://o~g/m/x", "hf://o^g/m/x", "hf://o@g/m/x", "hf://org/m@a b/x", "hf://org/m@a?b/x" };
  static const char *const no_bucket[] = { "s3://", "s3:///k", "s3://a b/k", "s3://../k", "s3://b?x/k", "s3://b@c/k", "s3://b^c/k", "s3://b~c/k" };
  zt_hub_place place;
  zt_text bucket, key;
  for(size_t i=0; i<COUNT(hub); i++){
    check( zt_hub_split(hub[i].source, &place), "%s", hub[i].source );
    assert_true(place.type.n==strlen(hub[i].type) && memcmp(place.type.z, hub[i].type, place.type.n)==0);
    assert_true(place.repo.n==strlen(hub[i].repo) && memcmp(place.repo.z, hub[i].repo, place.repo.n)==0);
    assert_true(place.revision.n==strlen(hub[i].revision) && memcmp(place.revision.z, hub[i].revision, place.revision.n)==0);
    assert_true(place.path.n==strlen(hub[i].path) && memcmp(place.path.z, hub[i].path, place.path.n)==0);
  }
  for(size_t i=0; i<COUNT(no_repository); i++) check( !zt_hub_split(no_repository[i], &place), "%s", no_repository[i] );
  for(size_t i=0; i<COUNT(no_bucket); i++) check( !zt_s3_split(no_bucket[i], &bucket, &key), "%s", no_bucket[i] );
  assert_true(zt_s3_split("s3://b.x-y_Z0/a//../k", &bucket, &key));
  assert_true(zt_text_is(bucket, "b.x-y_Z0") && zt_text_is(key, "a//../k"));
  for(int n=255; n<=256; n++){
    char longest[300];
    snprintf(longest, sizeof(longest), "s3://%0*d/k", n, 0);
    assert_int_equal(zt_s3_split(longest, &bucket, &key), n==255);
  }
}

TEST(test_patterns_of_keys){
  static const struct { const char *pattern, *key; bool matches; } rows[] = {
    { "*.zt", "a.zt", true }, { "*.zt", "d/a.zt", false }, { "d/*.zt", "d/a.zt", true }, { "**/*.zt", "a.zt", true }, { "**/*.zt", "d/e/a.zt", true }, { "**", "d/a", true },
    { "**", ".h/a", false }, { "**/*.zt", "d/.h/a.zt", false }, { "d/**/x/*.zt", "d/x/a.zt", true }, { "d/**/x/*.zt", "d/e/x/f/x/a.zt", true }, { "d/**/x/*.zt", "d/e/x/f/a.zt", false },
    { ".h/*", ".h/a", true }, { "*", ".a", false }, { ".*", ".a", true }, { "a?c", "abc", true }, { "a?c", "a/c", false }, { "[a-c]/x", "b/x", true }, { "[a-c]/x", "d/x", false },
    { "a//*", "a//b", true }, { "a/*", "a//b", false }, { "**/a/**/b", "x/a/y/z/b", true }, { "**/a/**/b", "x/a/y/z/c", false }, { "d/*", "d", false }, { "d", "d/x", false },
    { "**x/a", "yx/a", true }, { "**x/a", "b/yx/a", false },
  };
  char longest[4098];
  for(size_t i=0; i<COUNT(rows); i++) check( zt_remote_match(rows[i].pattern, rows[i].key)==rows[i].matches, "%s and %s", rows[i].pattern, rows[i].key );
  memset(longest, 'a', sizeof(longest));
  longest[4097] = 0;
  assert_false(zt_remote_match("*", longest));
  assert_true(zt_remote_match("*", longest+1));
}

TEST(test_dates){
  static const struct { const char *text; int64_t seconds; } rows[] = {
    { "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 }, { "Thu, 01 Jan 1970 00:00:00 GMT", 0 }, { "Tue, 29 Feb 2000 23:59:59 GMT", 951868799 }, { "2009-10-12T17:50:30.000Z", 1255369830 },
    { "2026-01-01T00:00:00Z", 1767225600 }, { "", -1 }, { "Sun, 06 Nov 1994 08:49:37", -1 }, { "Sun, 06 Nox 1994 08:49:37 GMT", -1 }, { "2009-13-12T17:50:30Z", -1 }, { "2009-10-12", -1 },
    { "Sun, 06 Nov 1994 24:49:37 GMT", -1 }, { "Sun, 06 Nov 1994 08:49:37 GMTx", -1 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    int64_t seconds;
    const bool is = zt_http_date((zt_text){ rows[i].text, strlen(rows[i].text) }, &seconds);
    check( rows[i].seconds<0 ? !is : is && seconds==rows[i].seconds, "%s", rows[i].text );
  }
}

int main(void){
  return run_all("listings", NULL, NULL);
}
