/* The answers of servers, line by line: core/http_answer.h. */
#include "test.h"

#include "core/http_answer.h"
#include "core/os_net.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

/* Gives lines of headers, which end with "\n", and then a body. */
static void answer(zt_http_body *b, zt_http_request *r, const char *headers, int status, const char *body){
  *b = (zt_http_body){ .begun = false };
  zt_http_answer_init(&r->answer);
  for(const char *end; (end = strchr(headers, '\n'))!=NULL; headers=end+1){
    blob line = exact(headers, (size_t)(end+1-headers));
    assert_true( zt_http_body_header(b, r, (zt_text){ (const char*)line.p, line.n }) );
    free(line.p);
  }
  if( !body ) return;
  zt_http_body_begin(b, r, status);
  zt_http_body_add(b, r, (const uint8_t*)body, strlen(body));
}

/* The same of one header. */
static void answer_with(zt_http_request *r, int status, const char *header, const char *value){
  zt_http_body b;
  char headers[200];
  snprintf(headers, sizeof(headers), "HTTP/1.1 %d Word\r\n%s: %s\r\n\r\n", status, header, value);
  answer(&b, r, headers, status, "");
}

static void end(zt_http_body *b, zt_http_request *r, int status, zt_http_outcome expected){
  zt_http_body_end(b, r, status, ZT_HTTP_ANSWERED);
  assert_int_equal(r->answer.outcome, expected);
}

TEST(test_trailers_change_nothing){
  static const char *const trailers[] = { "ETag: \"other\"\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/2 : x\r\n", "Content-Encoding: gzip\r\n", "\r\n", "x" };
  for(size_t i=0; i<sizeof(trailers)/sizeof(*trailers); i++){
    uint8_t buffer[4];
    for(int ranged=0; ranged<2; ranged++){
      zt_http_request r = { .url = "http://x/", .most = 100, .n = ranged ? 4 : 0, .buffer = ranged ? buffer : NULL };
      zt_http_body b;
      answer(&b, &r, ranged ? "HTTP/1.1 206 Partial\r\nETag: \"e\"\r\nContent-Range: bytes 0-3/9\r\n\r\n" : "HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\n",
             ranged ? 206 : 200, "body");
      assert_true( zt_http_body_header(&b, &r, (zt_text){ trailers[i], strlen(trailers[i]) }) );
      end(&b, &r, ranged ? 206 : 200, ZT_HTTP_ANSWERED);
      assert_int_equal(r.answer.status, ranged ? 206 : 200);
      assert_string_equal(r.answer.etag, "\"e\"");
      assert_int_equal(r.answer.n, 4);
      assert_memory_equal(r.answer.body, "body", 4);
      assert_int_equal(r.answer.ranged, ranged);
      zt_http_answer_clear(&r.answer, r.buffer);
    }
  }
}

TEST(test_an_informational_answer_is_followed_by_another){
  zt_http_request r = { .url = "http://x/", .most = 100 };
  zt_http_body b;
  answer(&b, &r, "HTTP/1.1 103 Early\r\nLink: <a>; rel=\"next\"\r\nContent-Encoding: br\r\nLocation: /a\r\nETag: 1\r\nRetry-After: 4\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 200, "x");
  end(&b, &r, 200, ZT_HTTP_ANSWERED);
  assert_null(r.answer.next);
  assert_null(r.answer.location);
  assert_string_equal(r.answer.etag, "");
  assert_int_equal(r.answer.retry_after, -1);
  zt_http_answer_clear(&r.answer, NULL);
}

TEST(test_the_next_page){
  static const struct { const char *link, *next; } rows[] = {
    { "<http://x/2>; rel=\"next\"", "http://x/2" }, { "</1>; rel=\"prev\", </3>; REL=\"NEXT\"", "/3" }, { "<>; rel=\"next\"", "" },
    { "</1>; rel=\"first\"", NULL }, { "</1>; rel=\"prev\", </3>; rel=\"last\"", NULL }, { "</1", NULL }, { "", NULL }, { "</1>", NULL },
    { "none", NULL }, { "</1>; rel=\"nex", NULL }, { "</1>; title=\"<\"; rel=\"next\"", NULL },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_http_request r = { .url = "http://x/", .most = 100 };
    answer_with(&r, 200, "lInK", rows[i].link);
    if( rows[i].next ) assert_string_equal(r.answer.next, rows[i].next);
    else assert_null(r.answer.next);
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_how_long_to_wait){
  static const struct { const char *text; int seconds; } rows[] = {
    { "0", 0 }, { " 120 ", 120 }, { "2147483648", INT32_MAX }, { "99999999999999999999", -1 }, { "-1", -1 }, { "1.5", -1 }, { "", -1 }, { "soon", -1 },
    { "Sun, 06 Nov 1994 08:49:37 GMT", 0 }, { "Fri, 31 Dec 9999 23:59:59 GMT", INT32_MAX }, { "Sun, 06 Nov 1994 08:49:37 CET", -1 },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_http_request r = { .url = "http://x/" };
    answer_with(&r, 503, "Retry-After", rows[i].text);
    assert_int_equal(r.answer.retry_after, rows[i].seconds);
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_how_long_to_wait_until_a_date){
  zt_http_request r = { .url = "http://x/" };
  const time_t then = time(NULL)+1000;
  struct tm parts;
  char date[100];
  strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&then, &parts));
  answer_with(&r, 503, "Retry-After", date);
  assert_in_range(r.answer.retry_after, 900, 1000);
  zt_http_answer_clear(&r.answer, NULL);
}

TEST(test_a_time_of_change_that_is_no_date_is_not_known){
  static const struct { const char *text; int64_t modified; } rows[] = {
    { "Thu, 01 Jan 1970 00:00:09 GMT", 9 }, { "soon", INT64_MIN }, { "Thu, 01 Jan 1970 00:00:09 CET", INT64_MIN }
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_http_request r = { .url = "http://x/" };
    answer_with(&r, 200, "Last-Modified", rows[i].text);
    assert_int_equal(r.answer.modified, rows[i].modified);
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_dates){
  static const struct { const char *text; int64_t seconds; } rows[] = {
    { "Thu, 01 Jan 1970 00:00:00 GMT", 0 }, { "Tue, 29 Feb 2000 23:59:60 GMT", 951868800 }, { "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
    { "Fri, 01 Mar 1900 00:00:00 GMT", -2203891200 }, { "1970-01-01T00:00:00Z", 0 }, { "2000-02-29T23:59:59.999999999Z", 951868799 }, { "0000-03-01T00:00:00Z", -62162035200 },
  };
  static const char *const others[] = { "", "Thu", "Thu, 01 Jan 1970 00:00:00 GMT ", "Thu, 00 Jan 1970 00:00:00 GMT", "Thu, 32 Jan 1970 00:00:00 GMT",
    "Thu, 01 Jon 1970 00:00:00 GMT", "Thu, 01-Jan 1970 00:00:00 GMT", "Thu, 01 Jan-1970 00:00:00 GMT", "Thu, 01 Jan x970 00:00:00 GMT", "Thu, 01 Jan 1970-00:00:00 GMT",
    "Thu, 01 Jan 1970 24:00:00 GMT", "Thu, 01 Jan 1970 00:60:00 GMT", "Thu, 01 Jan 1970 00:00:61 GMT", "Thu, 01 Jan 1970 00:00-00 GMT", "Thu, 01 Jan 1970 00-00:00 GMT",
    "Thu, x1 Jan 1970 00:00:00 GMT", "Thu  01 Jan 1970 00:00:00 GMT", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-32T00:00:00Z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00",
    "1970/01-01T00:00:00Z", "1970-01/01T00:00:00Z", "1970-01-01T00:00:00.Zx", "197", "1970-01-01T25:00:00Z",
    "1970-01-00T00:00:00Z", "Thu, 01 Jan 1970 x0:00:00 GMT", "Thu, 01 Jan 1970 00:x0:00 GMT", "Thu, 01 Jan 1970 00:00:x0 GMT" };
  int64_t seconds;
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    blob text = exact(rows[i].text, strlen(rows[i].text));
    assert_true( zt_http_date((zt_text){ (const char*)text.p, text.n }, &seconds) );
    assert_int_equal(seconds, rows[i].seconds);
    free(text.p);
  }
  for(size_t i=0; i<sizeof(others)/sizeof(*others); i++){
    blob text = exact(others[i], strlen(others[i]));
    if( zt_http_date((zt_text){ (const char*)text.p, text.n }, &seconds) ) fail_msg("'%s' is a date", others[i]);
    free(text.p);
  }
}

/* A range has 4 bytes from 2 on, or the last 4. */
TEST(test_a_range_is_the_one_that_was_asked_for){
  static const struct { const char *range; bool suffix; int status; const char *body; zt_http_outcome outcome; } rows[] = {
    { "bytes 2-5/10", false, 206, "abcd", ZT_HTTP_ANSWERED }, { "bytes 2-4/5", false, 206, "abc", ZT_HTTP_ANSWERED }, { "bytes 2-4/10", false, 206, "abc", ZT_HTTP_WRONG_RANGE },
    { "bytes 1-4/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 2-6/10", false, 206, "abcde", ZT_HTTP_WRONG_RANGE }, { "bytes 2-5/5", false, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 2-5/*", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes */10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "items 2-5/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 5-2/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 2-5/10x", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 2-/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 2-5/99999999999999999999", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 2-5/2", false, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 2-5/18446744073709551616", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes -5/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 2/10", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 2-5", false, 206, "abcd", ZT_HTTP_WRONG_RANGE }, { "bytes 0-1/2", false, 206, "ab", ZT_HTTP_WRONG_RANGE },
    { "bytes 2-5/10", false, 206, "abc", ZT_HTTP_CUT }, { "bytes 2-5/10", false, 206, "abcde", ZT_HTTP_WRONG_RANGE }, { "bytes 2-5/10", false, 200, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 6-9/10", true, 206, "abcd", ZT_HTTP_ANSWERED }, { "bytes 0-2/3", true, 206, "abc", ZT_HTTP_ANSWERED }, { "bytes 5-8/10", true, 206, "abcd", ZT_HTTP_WRONG_RANGE },
    { "bytes 7-9/10", true, 206, "abc", ZT_HTTP_WRONG_RANGE },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    uint8_t buffer[4] = "....";
    zt_http_request r = { .url = "http://x/", .first = rows[i].suffix ? 0 : 2, .n = 4, .suffix = rows[i].suffix, .buffer = i%2 ? buffer : NULL };
    zt_http_body b;
    char headers[200];
    snprintf(headers, sizeof(headers), "HTTP/1.1 206 Partial\r\nContent-Range: %s\r\n\r\n", rows[i].range);
    answer(&b, &r, headers, rows[i].status, rows[i].body);
    zt_http_body_end(&b, &r, rows[i].status, ZT_HTTP_ANSWERED);
    if( r.answer.outcome!=rows[i].outcome ) fail_msg("%s: outcome %d", rows[i].range, r.answer.outcome);
    if( rows[i].outcome==ZT_HTTP_ANSWERED ){
      assert_int_equal(r.answer.n, strlen(rows[i].body));
      assert_memory_equal(r.answer.body, rows[i].body, r.answer.n);
      assert_int_equal(r.answer.first, strtol(rows[i].range+6, NULL, 10));
    }
    zt_http_answer_clear(&r.answer, r.buffer);
  }
}

TEST(test_bodies_that_are_no_range){
  static const struct { const char *header; int status; const char *body; zt_http_outcome outcome; } rows[] = {
    { "x: y", 200, "12345678", ZT_HTTP_ANSWERED }, { "x: y", 200, "123456789", ZT_HTTP_TOO_LONG }, { "Content-Length: 9", 200, "1", ZT_HTTP_TOO_LONG },
    { "Content-Length: 8", 200, "12345678", ZT_HTTP_ANSWERED }, { "Content-Encoding: gzip", 200, "1", ZT_HTTP_ENCODED }, { "Content-Encoding: Identity", 200, "1", ZT_HTTP_ANSWERED },
    { "Content-Encoding:", 200, "1", ZT_HTTP_ANSWERED }, { "Content-Encoding: gzip", 404, "1", ZT_HTTP_ANSWERED }, { "Content-Length: 1x", 200, "1", ZT_HTTP_ANSWERED },
    { "Content-Length: x", 200, "1", ZT_HTTP_ANSWERED },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_http_request r = { .url = "http://x/", .most = 8 };
    zt_http_body b;
    char headers[200];
    snprintf(headers, sizeof(headers), "HTTP/1.1 200 OK\r\n%s\r\n\r\n", rows[i].header);
    answer(&b, &r, headers, rows[i].status, rows[i].body);
    end(&b, &r, rows[i].status, rows[i].outcome);
    if( rows[i].outcome==ZT_HTTP_ANSWERED ) assert_memory_equal(r.answer.body, rows[i].body, r.answer.n);
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_a_range_that_is_not_there_states_the_total){
  zt_http_request r = { .url = "http://x/", .first = 20, .n = 4 };
  zt_http_body b;
  answer(&b, &r, "HTTP/1.1 416 Range\r\nContent-Range: bytes */10\r\n\r\n", 416, "");
  end(&b, &r, 416, ZT_HTTP_ANSWERED);
  assert_int_equal(r.answer.total, 10);
  zt_http_answer_clear(&r.answer, NULL);
}

/* A word that was sent is not shown: it could be a secret. */
TEST(test_a_servers_word){
  static const struct { const char *header, *body, *word; } rows[] = {
    { "x: y", "<Error><Code>NoSuchKey</Code></Error>", "NoSuchKey" }, { "x: y", "<Code>No</Code><Code>Such</Code>", "No" }, { "x: y", "<Code>Cut", "Cut" },
    { "x: y", "<Code></Code>", "" }, { "x: y", "<Code>A B</Code>", "" }, { "x: y", "<Code>Secret</Code>", "" }, { "x: y", "<Code>path</Code>", "" }, { "x: y", "<Code", "" },
    { "X-Error-Code: EntryNotFound", "<Code>Other</Code>", "EntryNotFound" }, { "X-Error-Code: a\tb", "", "" },
    { "X-Error-Code: a\x7f", "", "" }, { "x: y", "<Code>A{</Code>", "" },
    { "x: y", "<Code>Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</Code>", "" },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_http_request r = { .url = "http://x/path", .header = { "Authorization: Bearer Secret" } };
    zt_http_body b;
    char headers[200];
    snprintf(headers, sizeof(headers), "HTTP/1.1 404 Not Found\r\n%s\r\n\r\n", rows[i].header);
    answer(&b, &r, headers, 404, rows[i].body);
    end(&b, &r, 404, ZT_HTTP_ANSWERED);
    assert_string_equal(r.answer.word, rows[i].word);
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_a_word_is_looked_for_in_all_headers){
  for(int last=0; last<2; last++){
    zt_http_request r = { .url = "http://x/path" };
    zt_http_body b;
    for(int i=0; i<ZT_HTTP_HEADERS; i++) r.header[i] = last && i==ZT_HTTP_HEADERS-1 ? "X: NoSuchKey" : "X: y";
    answer(&b, &r, "HTTP/1.1 404 Not Found\r\n\r\n", 404, "<Code>NoSuchKey</Code>");
    end(&b, &r, 404, ZT_HTTP_ANSWERED);
    assert_string_equal(r.answer.word, last ? "" : "NoSuchKey");
    zt_http_answer_clear(&r.answer, NULL);
  }
}

TEST(test_headers_are_bounded){
  char *line = malloc(ZT_HTTP_HEADER_BYTES+1);
  for(size_t more=0; more<2; more++){
    zt_http_request r = { .url = "http://x/" };
    zt_http_body b = { .begun = false };
    zt_http_answer_init(&r.answer);
    memset(line, 'x', ZT_HTTP_HEADER_BYTES+1);
    assert_int_equal( zt_http_body_header(&b, &r, (zt_text){ line, ZT_HTTP_HEADER_BYTES+more }), more==0 );
    assert_int_equal( zt_http_body_header(&b, &r, (zt_text){ line, 1 }), more==1 );
    assert_true( zt_http_body_header(&b, &r, (zt_text){ line, 0 }) );
    zt_http_body_end(&b, &r, 200, ZT_HTTP_ANSWERED);
    assert_int_equal(r.answer.outcome, ZT_HTTP_NOT_HTTP);
    zt_http_answer_clear(&r.answer, NULL);
  }
  free(line);
}

/* The body of a failure explains it: it may be cut, by the server or here. */
TEST(test_a_failures_body_may_be_cut){
  zt_http_request r = { .url = "http://x/" };
  uint8_t piece[1024];
  zt_http_body b;
  memset(piece, 'x', sizeof(piece));
  answer(&b, &r, "HTTP/1.1 500 Error\r\n\r\n", 500, "<Code>Slow</Code>");
  for(size_t n=17; n+sizeof(piece)<=ZT_HTTP_ERROR_BODY; n+=sizeof(piece)) assert_true( zt_http_body_add(&b, &r, piece, sizeof(piece)) );
  assert_false( zt_http_body_add(&b, &r, piece, sizeof(piece)) );
  assert_false( zt_http_body_add(&b, &r, piece, sizeof(piece)) );
  zt_http_body_end(&b, &r, 500, ZT_HTTP_CUT);
  assert_int_equal(r.answer.outcome, ZT_HTTP_ANSWERED);
  assert_string_equal(r.answer.word, "Slow");
  zt_http_answer_clear(&r.answer, NULL);
}

TEST(test_an_answer_without_a_status_is_none){
  zt_http_request r = { .url = "http://x/" };
  zt_http_body b;
  answer(&b, &r, "no status\n", 0, NULL);
  end(&b, &r, 0, ZT_HTTP_NOT_HTTP);
  zt_http_answer_clear(&r.answer, NULL);
  answer(&b, &r, "no status\n", 0, "a body");
  zt_http_body_end(&b, &r, 0, ZT_HTTP_CUT);
  assert_int_equal(r.answer.outcome, ZT_HTTP_CUT);
  zt_http_answer_clear(&r.answer, NULL);
}

/* The bytes of a network address, as a socket takes it. */
TEST(test_addresses_of_sockets){
  struct sockaddr_in four = { .sin_family = AF_INET };
  struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
  struct sockaddr other = { .sa_family = AF_UNIX };
  uint8_t bytes[16];
  memcpy(&four.sin_addr, "\x7f\0\0\1", 4);
  memcpy(&six.sin6_addr, "0123456789abcdef", 16);
  assert_int_equal(zt_net_address(&four, bytes), 4);
  assert_memory_equal(bytes, "\x7f\0\0\1", 4);
  assert_int_equal(zt_net_address(&six, bytes), 16);
  assert_memory_equal(bytes, "0123456789abcdef", 16);
  assert_int_equal(zt_net_address(&other, bytes), 0);
}

/* Addresses as they are written in URLs. */
TEST(test_hosts_that_are_addresses){
  static const struct { const char *host; size_t n; uint8_t first; } rows[] = {
    { "127.0.0.1", 4, 127 }, { "0x7f.1", 4, 127 }, { "10.0.0.1..", 4, 10 }, { "[fe80::1]", 16, 0xFE }, { "[fe80::1", 0, 0 }, { "[zz]", 0, 0 }, { "[]", 0, 0 }, { "...", 0, 0 }, { "", 0, 0 },
    { "host", 0, 0 }, { "0000000000000000000000000000000000000000000000000000000000000001", 0, 0 },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    uint8_t bytes[16] = { 0 };
    if( zt_net_literal(rows[i].host, strlen(rows[i].host), bytes)!=rows[i].n || bytes[0]!=rows[i].first ) fail_msg("%s", rows[i].host);
  }
}

TEST(test_a_library_that_is_not_there){
  static const char *const names[] = { "libnone.so.1", "libnone.so.2", NULL };
  assert_null(zt_net_library(names));
}

static bool is_pending(void){
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE)==1;
}

/* A connection that breaks raises SIGPIPE, which would end the process: it is taken, unless it was there before. */
TEST(test_signals_are_held){
  sigset_t pipe, before;
  zt_net_signals s;
  zt_net_hold_signals(&s);
  raise(SIGPIPE);
  zt_net_release_signals(&s);
  assert_false(is_pending());
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  raise(SIGPIPE);
  zt_net_hold_signals(&s);
  zt_net_release_signals(&s);
  assert_true(is_pending());
  signal(SIGPIPE, SIG_IGN);   /* Drops it */
  assert_false(is_pending());
  signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int main(void){
  return run_all("http_answer", NULL, NULL);
}
