/* One request, whatever it takes. See fetch.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include "core/fetch.h"

#include <stdlib.h>
#include "core/origins.h"
#include "core/os_net.h"

#define FETCH_SECOND ((int64_t)1000*1000*1000)
#define FETCH_REDIRECTS 5
#define FETCH_REGIONS 1            /* How often S3 may name another region */
#define FETCH_PAUSE (FETCH_SECOND/10)   /* Before the second try, at most; then twice that ... */
#define FETCH_PAUSE_MAX (20*FETCH_SECOND)
#define FETCH_RETRY_AFTER 20       /* Seconds that a server may ask for */

/* What becomes of a try. */
typedef enum fetch_verdict { FETCH_DONE, FETCH_FAILED, FETCH_AGAIN, FETCH_REPEAT } fetch_verdict;

int zt_fetch_fail_changed(zt_error *err){
  return zt_fail_remote(err, "transient", "the file changed while it was read");
}

/* --- Preparing a try --- */

static const char *fetch_env(const char *name){
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* Returns whether a host is an entry of no_proxy, or is below it. */
static bool fetch_is_exempt(zt_text host, zt_text entry){
  while( entry.n>0 && *entry.z=='.' ) entry = (zt_text){ entry.z+1, entry.n-1 };
  if( zt_text_is(entry, "*") ) return true;
  if( entry.n==0 || host.n<entry.n ) return false;
  if( sqlite3_strnicmp(host.z+host.n-entry.n, entry.z, (int)entry.n)!=0 ) return false;
  return host.n==entry.n || host.z[host.n-entry.n-1]=='.';
}

/* Returns the proxy for a URL; NULL: none. */
static const char *fetch_proxy(const zt_url *url){
  const char *proxy = fetch_env(url->tls ? "https_proxy" : "http_proxy"), *exempt;
  if( !proxy && url->tls ) proxy = fetch_env("HTTPS_PROXY");
  if( !proxy ) proxy = fetch_env("all_proxy");
  if( !proxy ) proxy = fetch_env("ALL_PROXY");
  if( !proxy ) return NULL;
  exempt = fetch_env("no_proxy");
  if( !exempt ) exempt = fetch_env("NO_PROXY");
  while( exempt && *exempt ){
    const size_t n = strcspn(exempt, ", ");
    if( fetch_is_exempt(url->host, (zt_text){ exempt, n }) ) return NULL;
    exempt += n;
    exempt += strspn(exempt, ", ");
  }
  return proxy;
}

/* Returns the file of CA certificates; NULL: the system's. */
static const char *fetch_ca(const zt_fetch *f){
  const char *ca = f->kind==ZT_FETCH_S3 ? fetch_env("AWS_CA_BUNDLE") : NULL;
  if( !ca ) ca = fetch_env("CURL_CA_BUNDLE");
  return ca ? ca : fetch_env("SSL_CERT_FILE");
}

int zt_fetch_add_header(zt_fetch *f, char *header, zt_error *err){
  if( !header ) return zt_fail_nomem(err);
  if( f->nHeader==ZT_FETCH_HEADERS || strpbrk(header, "\r\n") ){
    sqlite3_free(header);
    return zt_fail_remote(err, "denied", "a credential that no header can have");
  }
  f->header[f->nHeader++] = header;
  return SQLITE_OK;
}

static void fetch_drop_try(zt_fetch *f){
  while( f->nHeader>0 ) sqlite3_free(f->header[--f->nHeader]);
  sqlite3_free(f->sent);
  f->sent = NULL;
}

/* Makes the text of the URL that is sent, of one that may have bytes that no request may. */
static char *fetch_encode(const zt_url *url, zt_error *err){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *z;
  zt_url_put_origin(out, url);
  zt_url_put_target(out, url);
  z = sqlite3_str_finish(out);
  if( !z ) zt_fail_nomem(err);
  return z;
}

static int fetch_fail_address(zt_error *err){
  return zt_fail_remote(err, "denied", "its host has an address that is not public, which only an"
                        " entry of ZTENSOR_REMOTE that names the host allows");
}

/* Returns whether a host is an address that is not public, or this machine's name, as it is
** written: behind a proxy no address is seen. */
static bool fetch_is_private(zt_text host){
  static const char local[] = "localhost";
  const size_t n = sizeof(local)-1;
  uint8_t address[16];
  const size_t bytes = zt_net_literal(host.z, host.n, address);
  if( bytes ) return !zt_address_is_public(address, bytes);
  while( host.n>0 && host.z[host.n-1]=='.' ) host.n--;
  return host.n>=n && sqlite3_strnicmp(host.z+host.n-n, local, (int)n)==0
      && (host.n==n || host.z[host.n-n-1]=='.');
}

/* Checks that the URL may be asked; `from` led to it, or is NULL. */
static int fetch_check(zt_fetch *f, const zt_url *url, const char *from, zt_error *err){
  zt_url before;
  zt_error unused = ZT_ERROR_NONE;
  zt_reach reach = { .url = url };
  if( f->name ) reach.name = (zt_text){ f->name, strlen(f->name) };
  if( from && zt_url_parse(from, &before, &unused)==SQLITE_OK ) reach.from = &before;
  zt_error_clear(&unused);
  if( zt_remote_check(f->remote, &reach, &f->http.any_address, err) ) return err->rc;
  return !f->http.any_address && fetch_is_private(url->host) ? fetch_fail_address(err) : SQLITE_OK;
}

/* Fails for a URL that cannot be used, which asking again does not change. */
static int fetch_deny(zt_error *err){
  if( err->rc==SQLITE_ERROR && !err->kind ) err->kind = "denied";
  return err->rc;
}

static int fetch_conditions(zt_fetch *f, zt_error *err){
  if( f->if_match
   && zt_fetch_add_header(f, sqlite3_mprintf("If-Match: %s", f->if_match), err) ) return err->rc;
  if( f->if_none_match
   && zt_fetch_add_header(f, sqlite3_mprintf("If-None-Match: %s", f->if_none_match), err) ){
    return err->rc;
  }
  return SQLITE_OK;
}

/* Prepares the next try: its URL, the check, credentials and conditions. */
static int fetch_prepare(zt_fetch *f, zt_error *err){
  const char *at = f->hop ? f->hop : f->led && !f->was_led ? f->led : f->url;
  const char *from = at==f->url ? NULL : f->url;
  zt_url url;
  fetch_drop_try(f);
  if( f->scheme && f->scheme->sign ){
    if( f->scheme->sign(f, &f->sent, err) ) return fetch_deny(err);
    if( zt_url_parse(f->sent, &url, err)
     || fetch_check(f, &url, NULL, err) ) return fetch_deny(err);
  }else{
    if( zt_url_parse(at, &url, err) || fetch_check(f, &url, from, err) ) return fetch_deny(err);
    f->sent = fetch_encode(&url, err);
    if( !f->sent ) return err->rc;
    if( f->scheme && f->scheme->authorize(f, &url, err) ) return fetch_deny(err);
  }
  if( fetch_conditions(f, err) ) return err->rc;
  f->http.url = f->sent;
  for(int i=0; i<ZT_HTTP_HEADERS; i++) f->http.header[i] = i<f->nHeader ? f->header[i] : NULL;
  f->http.ca = fetch_ca(f);
  f->http.proxy = fetch_proxy(&url);
  f->http.first = f->first;
  f->http.n = f->n;
  f->http.suffix = f->suffix;
  f->http.buffer = f->buffer;
  f->http.most = f->most;
  f->http.timeout = zt_remote_get(f->remote).timeout*FETCH_SECOND;
  return SQLITE_OK;
}

int zt_fetch_check(zt_fetch *f, zt_error *err){
  fetch_prepare(f, err);
  fetch_drop_try(f);
  return err->rc;
}

static int fetch_send(zt_fetch *f, zt_error *err){
  zt_http_clear(&f->http);
  if( fetch_prepare(f, err) ) return err->rc;
  zt_http_begin(zt_remote_http(f->remote), &f->http);
  f->begun = true;
  return SQLITE_OK;
}

void zt_fetch_begin(zt_fetch *f){
  zt_error again = ZT_ERROR_NONE;   /* zt_fetch_end() finds it again, in its place */
  (void)fetch_send(f, &again);
  zt_error_clear(&again);
}

void zt_fetch_clear(zt_fetch *f){
  if( f->begun ) zt_http_cancel(zt_remote_http(f->remote), &f->http);
  f->begun = false;
  zt_http_clear(&f->http);
  fetch_drop_try(f);
  sqlite3_free(f->hop);
  f->hop = NULL;
}

/* --- Judging an answer --- */

/* Returns whether the try went to the origin that the source names, which a redirect within it does
** not leave. */
static bool fetch_is_own(const zt_fetch *f){
  zt_error unread = ZT_ERROR_NONE;
  zt_url own, at;
  const bool same = f->url && zt_url_parse(f->url, &own, &unread)==SQLITE_OK
                 && zt_url_parse(f->sent, &at, &unread)==SQLITE_OK
                 && zt_url_same_origin(&own, &at);
  zt_error_clear(&unread);
  return same;
}

static void fetch_learn(zt_fetch *f){
  if( f->scheme && f->scheme->learn && fetch_is_own(f) ) f->scheme->learn(f);
}

/* Follows a redirect. */
static fetch_verdict fetch_redirect(zt_fetch *f, zt_error *err){
  const zt_http_answer *a = &f->http.answer;
  zt_url from, to;
  const char *refused = NULL;
  char *target;
  if( f->redirects==FETCH_REDIRECTS ){
    zt_fail_remote(err, "denied", "more than %d redirects", FETCH_REDIRECTS);
    return FETCH_FAILED;
  }
  if( !a->location || f->kind==ZT_FETCH_S3 || zt_url_parse(f->sent, &from, err) ){
    zt_fail_remote(err, "denied", "cannot %s: %d, a redirect that is not followed", f->what,
                   a->status);
    return FETCH_FAILED;
  }
  target = zt_url_resolve(&from, (zt_text){ a->location, strlen(a->location) });
  if( !target ){
    zt_fail_nomem(err);
    return FETCH_FAILED;
  }
  if( zt_url_parse(target, &to, err) ){
    refused = "a URL of another scheme, without a host, or with a password";
  }else if( from.tls && !to.tls ){
    refused = "another scheme than https";
  }
  if( refused ){
    zt_error_clear(err);
    zt_fail_remote(err, "denied", "a redirect to %s", refused);
    sqlite3_free(target);
    return FETCH_FAILED;
  }
  fetch_learn(f);
  f->redirects++;
  sqlite3_free(f->hop);
  f->hop = target;
  return FETCH_AGAIN;
}

/* Returns the kind of an error by the server's word and its status. */
static const char *fetch_kind_of(const zt_http_answer *a){
  static const struct { const char *word, *kind; } words[] = {
    { "NoSuchKey", "missing" }, { "NoSuchBucket", "missing" }, { "RepoNotFound", "missing" },
    { "EntryNotFound", "missing" }, { "RevisionNotFound", "missing" },
    /* S3 says these with status 400 */
    { "InvalidToken", "denied" }, { "ExpiredToken", "denied" }
  };
  for(size_t i=0; i<sizeof(words)/sizeof(*words); i++){
    if( strcmp(a->word, words[i].word)==0 ) return words[i].kind;
  }
  switch( a->status ){
    case 404: case 410: return "missing";
    case 401: case 403: case 407: return "denied";
    default: return "transient";
  }
}

static bool fetch_is_repeated(int status){
  return status==408 || status==429 || status==500 || (status>=502 && status<=504);
}

/* Returns whether an answer of its own refuses a try that had no credentials. */
static bool fetch_is_anonymous(const zt_fetch *f){
  const int status = f->http.answer.status;
  if( !f->scheme || f->hop || (status!=401 && status!=403) ) return false;
  for(int i=0; i<f->nHeader; i++){
    if( strncmp(f->header[i], "Authorization:", 14)==0 ) return false;
  }
  return true;
}

static void fetch_fail_status(const zt_fetch *f, zt_error *err){
  const zt_http_answer *a = &f->http.answer;
  const bool anonymous = fetch_is_anonymous(f);
  zt_fail_remote(err, fetch_kind_of(a), "cannot %s: %d%s%s%s%s", f->what, a->status,
                 a->word[0] ? " " : "", a->word, anonymous ? ", " : "",
                 anonymous ? f->scheme->anonymous : "");
}

/* Starts from the source's own URL once if a place that it led to before is there no more. */
static bool fetch_forget_led(zt_fetch *f){
  const bool led = f->led && !f->was_led && !f->hop;
  f->was_led = true;
  return led;
}

/* A body that is none of what was asked for may be another one the next time. */
static fetch_verdict fetch_judge_body(zt_fetch *f, zt_error *err){
  if( !f->accept || f->accept(f, err)==SQLITE_OK ) return FETCH_DONE;
  return err->rc==SQLITE_ERROR ? FETCH_REPEAT : FETCH_FAILED;
}

static fetch_verdict fetch_judge_status(zt_fetch *f, zt_error *err){
  const zt_http_answer *a = &f->http.answer;
  switch( a->status ){
    case 200: case 206:
      if( a->status==206 && f->n==0 ) break;   /* A part, which was not asked for */
      fetch_learn(f);
      return fetch_judge_body(f, err);
    case 304:
      if( f->if_none_match ) return FETCH_DONE;
      break;
    case 416:
      if( a->total==0 && f->first==0 && !f->buffer ) return FETCH_DONE;   /* An empty file opens */
      zt_fail_remote(err, "transient", f->if_match ? "the file changed while it was read"
                     : "the server has other bytes than those asked for (416)");
      return FETCH_FAILED;
    case 412:
      zt_fetch_fail_changed(err);
      return FETCH_FAILED;
    case 301: case 302: case 303: case 307: case 308:
      if( f->kind==ZT_FETCH_S3 ) break;
      return fetch_redirect(f, err);
    default: break;
  }
  if( f->scheme && f->scheme->move && f->regions<FETCH_REGIONS && f->scheme->move(f, err) ){
    f->regions++;
    return FETCH_AGAIN;
  }
  if( err->rc ) return FETCH_FAILED;
  if( fetch_forget_led(f) ) return FETCH_AGAIN;
  if( f->kind==ZT_FETCH_S3 && a->location ) return fetch_redirect(f, err);
  fetch_fail_status(f, err);
  return fetch_is_repeated(a->status) ? FETCH_REPEAT : FETCH_FAILED;
}

bool zt_fetch_is_lost(const zt_fetch *f){
  const zt_http_answer *a = &f->http.answer;
  switch( a->outcome ){
    case ZT_HTTP_ANSWERED:
      return a->status==404 || a->status==410 || a->status==412 || a->status==416;
    case ZT_HTTP_NO_NAME: case ZT_HTTP_NO_CONNECTION: case ZT_HTTP_TIMEOUT: return true;
    default: return false;
  }
}

/* What a try without an answer is: its kind, and its text. */
static fetch_verdict fetch_judge(zt_fetch *f, zt_error *err){
  const zt_http_answer *a = &f->http.answer;
  switch( a->outcome ){
    case ZT_HTTP_ANSWERED: return fetch_judge_status(f, err);
    case ZT_HTTP_NO_MEMORY: zt_fail_nomem(err); return FETCH_FAILED;
    case ZT_HTTP_CANCELLED: zt_fail_interrupt(err); return FETCH_FAILED;
    case ZT_HTTP_LEFT: return FETCH_AGAIN;
    case ZT_HTTP_NO_LIBRARY:
      zt_fail_remote(err, "denied", "remote sources need libcurl 7.66 or later: install the package"
                     " libcurl4, or libcurl");
      return FETCH_FAILED;
    case ZT_HTTP_REFUSED_ADDRESS:
      fetch_fail_address(err);
      return FETCH_FAILED;
    case ZT_HTTP_BAD_CERTIFICATE:
      zt_fail_remote(err, "denied", "the server's certificate does not prove who it is");
      return FETCH_FAILED;
    case ZT_HTTP_BAD_CA:
      zt_fail_remote(err, "denied", "the file of CA certificates cannot be used");
      return FETCH_FAILED;
    case ZT_HTTP_TOO_LONG:
      if( f->n>0 ){
        zt_fail_remote(err, "denied", "the server does not read ranges, and the file is too large"
                       " to be read whole");
      }else{
        zt_fail_remote(err, "transient", "an answer of more than %llu bytes", f->most);
      }
      return FETCH_FAILED;
    case ZT_HTTP_NO_NAME:
      zt_fail_remote(err, "transient", "the host's name does not resolve");
      break;
    case ZT_HTTP_NO_CONNECTION:
      zt_fail_remote(err, "transient", "no connection to the server");
      break;
    case ZT_HTTP_TIMEOUT:
      zt_fail_remote(err, "transient", "the server did not answer in time");
      break;
    case ZT_HTTP_CUT: zt_fail_remote(err, "transient", "the answer was cut short"); break;
    case ZT_HTTP_ENCODED:
      zt_fail_remote(err, "transient", "the server encoded the bytes, which was not asked for");
      break;
    case ZT_HTTP_WRONG_RANGE:
      zt_fail_remote(err, "transient", "the server sent other bytes than those asked for");
      break;
    case ZT_HTTP_NOT_HTTP: zt_fail_remote(err, "transient", "the answer is no HTTP"); break;
  }
  if( !fetch_forget_led(f) ) return FETCH_REPEAT;
  zt_error_clear(err);
  return FETCH_AGAIN;
}

/* Waits before the next try. The failure so far is dropped, unless no try is left. */
static fetch_verdict fetch_pause(zt_fetch *f, zt_error *err){
  const int after = f->http.answer.outcome==ZT_HTTP_ANSWERED ? f->http.answer.retry_after : -1;
  const int retries = f->once ? 0 : zt_remote_get(f->remote).retries;
  int64_t longest = FETCH_PAUSE, pause;
  uint32_t random;
  if( f->tries>=retries || after>FETCH_RETRY_AFTER ) return FETCH_FAILED;
  for(int i=0; i<f->tries && longest<FETCH_PAUSE_MAX; i++) longest *= 2;
  if( longest>FETCH_PAUSE_MAX ) longest = FETCH_PAUSE_MAX;
  sqlite3_randomness(sizeof(random), &random);
  pause = after>0 ? after*FETCH_SECOND : longest/UINT16_MAX*(random & UINT16_MAX);
  f->tries++;
  zt_remote_count_retry(f->remote);
  zt_error_clear(err);
  return zt_http_pause(zt_remote_http(f->remote), pause, zt_remote_interrupt(f->remote), err)
       ? FETCH_FAILED : FETCH_AGAIN;
}

int zt_fetch_end(zt_fetch *f, zt_error *err){
  fetch_verdict verdict = FETCH_AGAIN;
  const char *shard = err->shard;
  while( verdict==FETCH_AGAIN ){
    err->shard = shard;
    if( !f->begun && fetch_send(f, err) ) return err->rc;
    if( zt_http_wait(zt_remote_http(f->remote), &f->http, zt_remote_interrupt(f->remote), err) ){
      f->begun = false;
      return err->rc;
    }
    f->begun = false;
    verdict = fetch_judge(f, err);
    if( verdict==FETCH_REPEAT ) verdict = fetch_pause(f, err);
  }
  err->shard = NULL;
  return err->rc;
}
#else
typedef int zt_fetch_is_left_out;   /* A file of C has a declaration */
#endif
