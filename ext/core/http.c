/*
** HTTP by libcurl. See http.h.
**
** One lock guards the queues and the states of transfers. The thread that drives is the only one
** that uses libcurl's multi handle and the transfers that it has; it holds no lock then. Others
** wait for their transfer's end, or to drive.
*/
#include "core/remote.h"

#if ZT_REMOTE
#include "core/http.h"

#include <assert.h>
#include <stdatomic.h>
#include "core/host.h"
#include "core/http_answer.h"
#include "core/os_net.h"
#include "core/thread.h"
#include "core/url.h"

#define HTTP_TURN 20               /* Milliseconds between two checks for an interrupt */
#define HTTP_TURN_DEAF 2           /* The same where a waiting libcurl cannot be woken */
#define HTTP_MS ((int64_t)1000*1000)
#define HTTP_STALE (HTTP_MS*1000)  /* Not driven for that long: no server is to blame */
#define HTTP_EASY 128              /* Most easy handles that are kept */
#define HTTP_KEPT 128L             /* Most network connections that are kept */
#define HTTP_AGENT "ztensor/0.1.0"

/* --- What is used of libcurl, whose numbers are its binary interface --- */

typedef void http_easy;
typedef void http_multi;

enum {
  HTTP_E_OK = 0, HTTP_E_UNSUPPORTED_PROTOCOL = 1, HTTP_E_COULDNT_RESOLVE_PROXY = 5,
  HTTP_E_COULDNT_RESOLVE_HOST = 6, HTTP_E_COULDNT_CONNECT = 7, HTTP_E_WEIRD_SERVER_REPLY = 8,
  HTTP_E_HTTP2 = 16, HTTP_E_PARTIAL_FILE = 18, HTTP_E_OUT_OF_MEMORY = 27,
  HTTP_E_OPERATION_TIMEDOUT = 28, HTTP_E_GOT_NOTHING = 52, HTTP_E_SEND_ERROR = 55,
  HTTP_E_RECV_ERROR = 56, HTTP_E_PEER_FAILED_VERIFICATION = 60, HTTP_E_SSL_CACERT_BADFILE = 77,
  HTTP_E_SSL_ISSUER_ERROR = 83, HTTP_E_SSL_INVALIDCERTSTATUS = 91, HTTP_E_HTTP2_STREAM = 92
};
enum {
  HTTP_OPT_FOLLOWLOCATION = 52, HTTP_OPT_FRESH_CONNECT = 74, HTTP_OPT_HTTPGET = 80,
  HTTP_OPT_NOSIGNAL = 99,
  HTTP_OPT_BUFFERSIZE = 98, HTTP_OPT_CONNECTTIMEOUT_MS = 156, HTTP_OPT_PROTOCOLS = 181,
  HTTP_OPT_PATH_AS_IS = 234, HTTP_OPT_SUPPRESS_CONNECT_HEADERS = 265, HTTP_OPT_HTTP09_ALLOWED = 285,
  HTTP_OPT_QUICK_EXIT = 322, HTTP_OPT_WRITEDATA = 10001, HTTP_OPT_URL = 10002,
  HTTP_OPT_PROXY = 10004,
  HTTP_OPT_USERAGENT = 10018, HTTP_OPT_HTTPHEADER = 10023, HTTP_OPT_HEADERDATA = 10029,
  HTTP_OPT_CAINFO = 10065, HTTP_OPT_PRIVATE = 10103, HTTP_OPT_OPENSOCKETDATA = 10164,
  HTTP_OPT_NOPROXY = 10177, HTTP_OPT_WRITEFUNCTION = 20011, HTTP_OPT_HEADERFUNCTION = 20079,
  HTTP_OPT_OPENSOCKETFUNCTION = 20163
};
enum { HTTP_INFO_PRIVATE = 0x100000+21, HTTP_INFO_RESPONSE_CODE = 0x200000+2 };
enum { HTTP_MULTI_OPT_MAXCONNECTS = 6 };
enum { HTTP_MSG_DONE = 1 };
#define HTTP_PROTO_HTTP_HTTPS 3L
#define HTTP_LIB_GLOBAL_DEFAULT 3L
#define HTTP_LIB_SOCKET_BAD (-1)
#define HTTP_LIB_VERSION_MIN 0x074200u   /* 7.66 */

typedef struct http_message {
  int msg;
  http_easy *easy;
  union { void *whatever; int result; } data;
} http_message;

typedef struct http_version {
  int age;
  const char *version;
  unsigned int version_num;
} http_version;

typedef struct http_address {
  int family, socktype, protocol;
  unsigned int addrlen;
  uint8_t addr[];            /* A sockaddr */
} http_address;

static struct {
  int (*global_init)(long flags);
  http_version *(*version_info)(int age);
  http_easy *(*easy_init)(void);
  int (*easy_setopt)(http_easy *easy, int option, ...);
  int (*easy_getinfo)(http_easy *easy, int info, ...);
  void (*easy_reset)(http_easy *easy);
  void (*easy_cleanup)(http_easy *easy);
  void *(*slist_append)(void *list, const char *text);
  void (*slist_free_all)(void *list);
  http_multi *(*multi_init)(void);
  int (*multi_setopt)(http_multi *multi, int option, ...);
  int (*multi_add_handle)(http_multi *multi, http_easy *easy);
  int (*multi_remove_handle)(http_multi *multi, http_easy *easy);
  int (*multi_perform)(http_multi *multi, int *running);
  int (*multi_poll)(http_multi *multi, void *fds, unsigned int n, int ms, int *ready);
  int (*multi_wakeup)(http_multi *multi);   /* 7.68; NULL: none */
  http_message *(*multi_info_read)(http_multi *multi, int *left);
  int (*multi_cleanup)(http_multi *multi);
  char name[64];
} http_curl;

#define HTTP_SYMBOLS(X) \
  X(global_init) X(version_info) X(easy_init) X(easy_setopt) X(easy_getinfo) X(easy_reset) \
  X(easy_cleanup) X(slist_append) X(slist_free_all) X(multi_init) X(multi_setopt) \
  X(multi_add_handle) X(multi_remove_handle) X(multi_perform) X(multi_poll) X(multi_info_read) \
  X(multi_cleanup)

static bool http_load_from(void *library){
  const http_version *version;
#define HTTP_SYMBOL(f) if( !zt_net_symbol(library, "curl_" #f, &http_curl.f) ) return false;
  HTTP_SYMBOLS(HTTP_SYMBOL)
  (void)zt_net_symbol(library, "curl_multi_wakeup", &http_curl.multi_wakeup);
  version = http_curl.version_info(0);
  if( version->version_num<HTTP_LIB_VERSION_MIN
   || http_curl.global_init(HTTP_LIB_GLOBAL_DEFAULT) ) return false;
  sqlite3_snprintf(sizeof(http_curl.name), http_curl.name, "libcurl %s", version->version);
  return true;
}

static atomic_int http_loaded;     /* 0: not tried; 1: it is there; 2: there is none */

/* Loads the library once. False if there is none. */
static bool http_load(void){
#ifdef __APPLE__
  static const char *const names[] = { "libcurl.4.dylib", "/usr/lib/libcurl.4.dylib", NULL };
#else
  static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };
#endif
  sqlite3_mutex *once;
  if( http_loaded ) return http_loaded==1;
  once = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP3);
  sqlite3_mutex_enter(once);
  if( !http_loaded ){
    void *library = zt_net_library(names);
    http_loaded = library && http_load_from(library) ? 1 : 2;
  }
  sqlite3_mutex_leave(once);
  return http_loaded==1;
}

const char *zt_http_library(void){
  return http_loaded==1 ? http_curl.name : NULL;
}

/* --- State --- */

typedef enum http_state { HTTP_QUEUED, HTTP_ACTIVE, HTTP_ENDED } http_state;

typedef struct http_transfer {
  struct zt_http *h;
  zt_http_request *r;
  struct http_transfer *next, *before;   /* In the queue, or among the active ones */
  http_state state;
  int64_t process;           /* Which began it */
  bool cancelled;            /* It must end */
  http_easy *easy;                /* Active */
  void *headers;             /* libcurl's list */
  int64_t last;              /* When the last byte came */
  bool refused;              /* An address was not allowed */
  zt_http_body body;
} http_transfer;

/* A thread that waits. */
typedef struct http_waiter {
  zt_monitor *monitor;       /* Guards woken */
  bool woken;
  const http_transfer *transfer;   /* What it waits for; NULL: for a while */
  struct http_waiter *next;
} http_waiter;

typedef struct http_list {
  http_transfer *first, *last;
  int n;
} http_list;

struct zt_http {
  zt_monitor *monitor;       /* Guards all members but `multi` and what is the driver's */
  http_list queue, active;
  int connections;
  bool driven;
  http_waiter *waiters;
  int64_t process;           /* That has the multi handle */
  uint64_t requests, bytes;
  /* The driver's: */
  http_multi *multi;              /* NULL: none yet */
  http_easy *easy[HTTP_EASY];     /* Not in use */
  int nEasy;
  int64_t drove;             /* When it last drove */
  uint64_t private_hosts;    /* Bits of hosts that were asked on any address */
};

zt_http *zt_http_new(void){
  zt_http *h = sqlite3_malloc64(sizeof(*h));
  if( !h ) return NULL;
  *h = (zt_http){ .monitor = zt_monitor_new(), .connections = 1 };
  if( h->monitor ) return h;
  sqlite3_free(h);
  return NULL;
}

static bool http_is_ours(const zt_http *h){
  return h->process==zt_thread_process();
}

void zt_http_free(zt_http *h){
  zt_net_signals signals;
  if( !h ) return;
  assert( (!h->queue.first && !h->active.first) || !http_is_ours(h) );
  if( h->multi && http_is_ours(h) ){
    zt_net_hold_signals(&signals);
    while( h->nEasy>0 ) http_curl.easy_cleanup(h->easy[--h->nEasy]);
    http_curl.multi_cleanup(h->multi);
    zt_net_release_signals(&signals);
  }
  zt_monitor_free(h->monitor);
  sqlite3_free(h);
}

void zt_http_set_connections(zt_http *h, int n){
  zt_monitor_enter(h->monitor);
  h->connections = n;
  zt_monitor_leave(h->monitor);
}

void zt_http_counts(zt_http *h, uint64_t *requests, uint64_t *bytes){
  zt_monitor_enter(h->monitor);
  *requests = h->requests;
  *bytes = h->bytes;
  zt_monitor_leave(h->monitor);
}

static void http_append(http_list *list, http_transfer *t){
  t->next = NULL;
  t->before = list->last;
  if( list->last ) list->last->next = t;
  else list->first = t;
  list->last = t;
  list->n++;
}

static void http_remove(http_list *list, http_transfer *t){
  if( t->before ) t->before->next = t->next;
  else list->first = t->next;
  if( t->next ) t->next->before = t->before;
  else list->last = t->before;
  t->next = t->before = NULL;
  list->n--;
}

/* --- libcurl's callbacks --- */

static size_t http_on_body(char *p, size_t size, size_t n, void *context){
  http_transfer *t = context;
  long status = 0;
  n *= size;
  t->last = zt_os_elapsed();
  if( !t->body.begun ){
    http_curl.easy_getinfo(t->easy, HTTP_INFO_RESPONSE_CODE, &status);
    zt_http_body_begin(&t->body, t->r, (int)status);
  }
  return zt_http_body_add(&t->body, t->r, (const uint8_t*)p, n) ? n : 0;
}

static size_t http_on_header(char *p, size_t size, size_t n, void *context){
  http_transfer *t = context;
  n *= size;
  t->last = zt_os_elapsed();
  return zt_http_body_header(&t->body, t->r, (zt_text){ p, n }) ? n : 0;
}

/* Opens a socket only if the address may be connected to: the name may lead anywhere, and
** elsewhere than the last time. */
static int http_on_socket(void *context, int purpose, http_address *address){
  http_transfer *t = context;
  uint8_t bytes[16];
  const size_t n = zt_net_address(address->addr, bytes);
  (void)purpose;
  if( !t->r->any_address && !t->r->proxy && !zt_address_is_public(bytes, n) ){
    t->refused = true;
    return HTTP_LIB_SOCKET_BAD;
  }
  return zt_net_socket(address->family, address->socktype, address->protocol);
}

/* --- Transfers, by the thread that drives --- */

static bool http_set_headers(http_transfer *t){
  const zt_http_request *r = t->r;
  char range[64];
  const char *own[] = { "Accept-Encoding: identity", "Accept:", r->n ? range : NULL };
  if( r->suffix ) sqlite3_snprintf(sizeof(range), range, "Range: bytes=-%llu", r->n);
  else sqlite3_snprintf(sizeof(range), range, "Range: bytes=%llu-%llu", r->first, r->first+r->n-1);
  for(size_t i=0; i<sizeof(own)/sizeof(*own)+ZT_HTTP_HEADERS; i++){
    const size_t k = i-sizeof(own)/sizeof(*own);
    const char *text = i<sizeof(own)/sizeof(*own) ? own[i] : r->header[k];
    void *longer = text ? http_curl.slist_append(t->headers, text) : t->headers;
    if( text && !longer ) return false;
    t->headers = longer;
  }
  return true;
}

/* Returns the bit of a URL's host, whatever its port and case, and with or without a dot at its
** end. */
static uint64_t http_host_bit(const char *url){
  unsigned hash = 0;
  for(const char *z=strstr(url, "://")+3; *z && !strchr(":/?", *z); z++){
    if( *z!='.' ) hash = 31*hash + ((unsigned char)*z | 0x20u);
  }
  return (uint64_t)1<<(hash%64);
}

/* A connection to any address is none for a request that may use public ones alone. */
static int http_keep_apart(http_transfer *t){
  zt_http *h = t->h;
  const uint64_t bit = http_host_bit(t->r->url);
  if( t->r->any_address ) h->private_hosts |= bit;
  return http_curl.easy_setopt(t->easy, HTTP_OPT_FRESH_CONNECT,
                               !t->r->any_address && (h->private_hosts & bit) ? 1L : 0L);
}

static bool http_set_options(http_transfer *t){
  const zt_http_request *r = t->r;
  http_easy *e = t->easy;
  int bad = 0;
  bad |= http_curl.easy_setopt(e, HTTP_OPT_URL, r->url);
  bad |= http_keep_apart(t);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_PATH_AS_IS, 1L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_PROTOCOLS, HTTP_PROTO_HTTP_HTTPS);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_HTTPGET, 1L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_FOLLOWLOCATION, 0L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_HTTPHEADER, t->headers);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_USERAGENT, HTTP_AGENT);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_NOSIGNAL, 1L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_HTTP09_ALLOWED, 0L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_SUPPRESS_CONNECT_HEADERS, 1L);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_CONNECTTIMEOUT_MS, (long)(r->timeout/HTTP_MS));
  /* "": none, whatever the environment says */
  bad |= http_curl.easy_setopt(e, HTTP_OPT_PROXY, r->proxy ? r->proxy : "");
  bad |= http_curl.easy_setopt(e, HTTP_OPT_NOPROXY, "");
  bad |= http_curl.easy_setopt(e, HTTP_OPT_WRITEFUNCTION, http_on_body);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_WRITEDATA, t);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_HEADERFUNCTION, http_on_header);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_HEADERDATA, t);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_OPENSOCKETFUNCTION, http_on_socket);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_OPENSOCKETDATA, t);
  bad |= http_curl.easy_setopt(e, HTTP_OPT_PRIVATE, t);
  if( r->ca ) bad |= http_curl.easy_setopt(e, HTTP_OPT_CAINFO, r->ca);
  (void)http_curl.easy_setopt(e, HTTP_OPT_BUFFERSIZE, 256L<<10);
  (void)http_curl.easy_setopt(e, HTTP_OPT_QUICK_EXIT, 1L);   /* 7.87: do not wait for a resolver */
  return bad==0;
}

/* Makes the multi handle, which threads that do not drive may wake. */
static bool http_make_multi(zt_http *h){
  http_multi *multi = h->multi;
  if( multi ) return true;
  multi = http_curl.multi_init();
  if( multi ) (void)http_curl.multi_setopt(multi, HTTP_MULTI_OPT_MAXCONNECTS, HTTP_KEPT);
  zt_monitor_enter(h->monitor);
  h->multi = multi;
  zt_monitor_leave(h->monitor);
  return multi!=NULL;
}

/* Gives a transfer to libcurl. False: not even that. */
static bool http_start(zt_http *h, http_transfer *t){
  if( !http_make_multi(h) ) return false;
  t->last = zt_os_elapsed();
  t->easy = h->nEasy>0 ? h->easy[--h->nEasy] : http_curl.easy_init();
  return t->easy && http_set_headers(t) && http_set_options(t)
      && http_curl.multi_add_handle(h->multi, t->easy)==0;
}

/* Takes a transfer back from libcurl. */
static void http_stop(zt_http *h, http_transfer *t){
  if( t->easy ){
    (void)http_curl.multi_remove_handle(h->multi, t->easy);
    http_curl.easy_reset(t->easy);
    if( h->nEasy<HTTP_EASY ) h->easy[h->nEasy++] = t->easy;
    else http_curl.easy_cleanup(t->easy);
  }
  if( t->headers ) http_curl.slist_free_all(t->headers);   /* None without a library */
  t->easy = NULL;
  t->headers = NULL;
}

static zt_http_outcome http_outcome_of(const http_transfer *t, int result){
  if( t->body.stopped ) return t->body.outcome;
  switch( result ){
    case HTTP_E_OK: return ZT_HTTP_ANSWERED;
    case HTTP_E_OUT_OF_MEMORY:
      /* It says so of a header that is too long, too */
      return t->body.headers>0 && !t->body.begun ? ZT_HTTP_NOT_HTTP : ZT_HTTP_NO_MEMORY;
    case HTTP_E_COULDNT_RESOLVE_HOST: case HTTP_E_COULDNT_RESOLVE_PROXY: return ZT_HTTP_NO_NAME;
    case HTTP_E_OPERATION_TIMEDOUT: return ZT_HTTP_TIMEOUT;
    case HTTP_E_SSL_CACERT_BADFILE: return ZT_HTTP_BAD_CA;
    case HTTP_E_PEER_FAILED_VERIFICATION: case HTTP_E_SSL_ISSUER_ERROR:
    case HTTP_E_SSL_INVALIDCERTSTATUS: return ZT_HTTP_BAD_CERTIFICATE;
    case HTTP_E_UNSUPPORTED_PROTOCOL: case HTTP_E_WEIRD_SERVER_REPLY: return ZT_HTTP_NOT_HTTP;
    case HTTP_E_PARTIAL_FILE: case HTTP_E_GOT_NOTHING: case HTTP_E_SEND_ERROR:
    case HTTP_E_RECV_ERROR: case HTTP_E_HTTP2: case HTTP_E_HTTP2_STREAM: return ZT_HTTP_CUT;
    default: return t->refused ? ZT_HTTP_REFUSED_ADDRESS : ZT_HTTP_NO_CONNECTION;
  }
}

/* Ends a transfer: its answer is complete, and the threads that wait for it wake. */
static void http_end(zt_http *h, http_transfer *t, zt_http_outcome outcome){
  long status = 0;
  if( t->easy ) http_curl.easy_getinfo(t->easy, HTTP_INFO_RESPONSE_CODE, &status);
  http_stop(h, t);
  zt_http_body_end(&t->body, t->r, (int)status, outcome);
  zt_monitor_enter(h->monitor);
  http_remove(&h->active, t);
  t->state = HTTP_ENDED;
  h->bytes += t->body.came;
  for(http_waiter *w=h->waiters; w; w=w->next){
    if( w->transfer!=t ) continue;
    zt_monitor_enter(w->monitor);
    w->woken = true;
    zt_monitor_signal(w->monitor, ZT_SIGNAL_DONE, true);
    zt_monitor_leave(w->monitor);
  }
  zt_monitor_leave(h->monitor);
}

static bool http_is_cancelled(zt_http *h, const http_transfer *t){
  bool cancelled;
  zt_monitor_enter(h->monitor);
  cancelled = t->cancelled;
  zt_monitor_leave(h->monitor);
  return cancelled;
}

/* Moves transfers from the queue as far as there are connections. Returns the first new one. */
static http_transfer *http_take_queued(zt_http *h){
  http_transfer *first = NULL;
  zt_monitor_enter(h->monitor);
  while( h->queue.first && h->active.n<h->connections ){
    http_transfer *t = h->queue.first;
    http_remove(&h->queue, t);
    http_append(&h->active, t);
    t->state = HTTP_ACTIVE;
    h->requests++;
    if( !first ) first = t;
  }
  zt_monitor_leave(h->monitor);
  return first;
}

static void http_start_queued(zt_http *h){
  http_transfer *next;
  for(http_transfer *t=http_take_queued(h); t; t=next){
    next = t->next;
    if( http_is_cancelled(h, t) ) http_end(h, t, ZT_HTTP_CANCELLED);
    else if( !http_load() ) http_end(h, t, ZT_HTTP_NO_LIBRARY);
    else if( !http_start(h, t) ) http_end(h, t, ZT_HTTP_NO_MEMORY);
  }
}

static void http_end_cancelled(zt_http *h){
  http_transfer *next;
  for(http_transfer *t=h->active.first; t; t=next){
    next = t->next;
    if( http_is_cancelled(h, t) ) http_end(h, t, ZT_HTTP_CANCELLED);
  }
}

/* Ends what takes too long. */
static void http_end_late(zt_http *h){
  const int64_t now = zt_os_elapsed();
  const bool stale = h->drove && now-h->drove>HTTP_STALE;
  http_transfer *next;
  for(http_transfer *t=h->active.first; t; t=next){
    next = t->next;
    if( stale ) t->last = now;
    if( now-t->last>t->r->timeout ) http_end(h, t, ZT_HTTP_TIMEOUT);
  }
  h->drove = now;
}

/* Ends what libcurl finished. Returns whether there was something. */
static bool http_end_done(zt_http *h){
  http_message *m;
  bool any = false;
  int left;
  while( h->multi && (m = http_curl.multi_info_read(h->multi, &left))!=NULL ){
    http_transfer *t = NULL;
    const int result = m->data.result;
    if( m->msg!=HTTP_MSG_DONE ) continue;
    http_curl.easy_getinfo(m->easy, HTTP_INFO_PRIVATE, &t);
    http_end(h, t, http_outcome_of(t, result));
    any = true;
  }
  return any;
}

/* How a thread drives. */
typedef enum http_pace {
  HTTP_ENDS,                 /* It only ends what was cancelled: nothing is sent */
  HTTP_PASSES,               /* It makes progress with all transfers */
  HTTP_WAITS                 /* And waits a little if there is none */
} http_pace;

static void http_progress(zt_http *h, bool waits){
  int running;
  http_start_queued(h);
  if( h->multi ){
    (void)http_curl.multi_perform(h->multi, &running);
    if( !http_end_done(h) && h->active.first && waits ){
      (void)http_curl.multi_poll(h->multi, NULL, 0,
                                 http_curl.multi_wakeup ? HTTP_TURN : HTTP_TURN_DEAF, NULL);
    }
  }
  http_end_late(h);
}

/* What was cancelled ends before anything is sent. */
static void http_drive(zt_http *h, http_pace pace){
  zt_net_signals signals;
  zt_net_hold_signals(&signals);
  http_end_cancelled(h);
  if( pace!=HTTP_ENDS ) http_progress(h, pace==HTTP_WAITS);
  zt_net_release_signals(&signals);
}

/* --- Requests, by any thread --- */

/* A forked process has no use for its parent's connections: they stay as they are. */
static void http_check_process(zt_http *h){
  if( http_is_ours(h) ) return;
  h->multi = NULL;
  h->nEasy = 0;
  h->active = (http_list){ 0 };
  h->queue = (http_list){ 0 };
  h->waiters = NULL;
  h->driven = false;
  h->process = zt_thread_process();
}

/* Has the thread that drives look at the queues. h's lock is held. */
static void http_wake_driver(zt_http *h){
  if( h->driven && h->multi && http_curl.multi_wakeup ) (void)http_curl.multi_wakeup(h->multi);
}

void zt_http_begin(zt_http *h, zt_http_request *r){
  http_transfer *t = sqlite3_malloc64(sizeof(*t));
  r->transfer = t;
  zt_http_answer_init(&r->answer);
  if( !t ){
    r->answer.outcome = ZT_HTTP_NO_MEMORY;
    return;
  }
  *t = (http_transfer){ .h = h, .r = r, .process = zt_thread_process() };
  zt_monitor_enter(h->monitor);
  http_check_process(h);
  http_append(&h->queue, t);
  http_wake_driver(h);
  zt_monitor_leave(h->monitor);
}

/* Sleeps until it is woken or the time is over. h's lock is held before and after. */
static void http_sleep(zt_http *h, const http_transfer *t, int64_t nanoseconds){
  http_waiter w = { .monitor = zt_monitor_new(), .transfer = t, .next = h->waiters };
  http_waiter **pp = &h->waiters;
  if( !w.monitor ){   /* Memory is short */
    zt_monitor_wait(h->monitor, ZT_SIGNAL_DONE, HTTP_MS);
    return;
  }
  h->waiters = &w;
  zt_monitor_leave(h->monitor);
  zt_monitor_enter(w.monitor);
  if( !w.woken ) zt_monitor_wait(w.monitor, ZT_SIGNAL_DONE, nanoseconds);
  zt_monitor_leave(w.monitor);
  zt_monitor_enter(h->monitor);
  while( *pp!=&w ) pp = &(*pp)->next;
  *pp = w.next;
  zt_monitor_free(w.monitor);
}

/* Has another waiting thread drive. h's lock is held. */
static void http_hand_over(zt_http *h){
  http_waiter *w = h->waiters;
  while( w && (!w->transfer || w->woken) ) w = w->next;
  if( !w ) return;
  zt_monitor_enter(w->monitor);
  w->woken = true;
  zt_monitor_signal(w->monitor, ZT_SIGNAL_DONE, true);
  zt_monitor_leave(w->monitor);
}

/* Drives, or waits until another thread did something. h's lock is held before and after. */
static void http_turn(zt_http *h, const http_transfer *t, http_pace pace){
  if( h->driven ){
    http_sleep(h, t, HTTP_TURN*HTTP_MS);
    return;
  }
  h->driven = true;
  zt_monitor_leave(h->monitor);
  http_drive(h, pace);
  zt_monitor_enter(h->monitor);
  h->driven = false;
}

void zt_http_poke(zt_http *h){
  bool drives;
  zt_monitor_enter(h->monitor);
  drives = !h->driven && h->active.first && http_is_ours(h);
  if( drives ) h->driven = true;
  zt_monitor_leave(h->monitor);
  if( !drives ) return;
  http_drive(h, HTTP_PASSES);
  zt_monitor_enter(h->monitor);
  h->driven = false;
  http_hand_over(h);
  zt_monitor_leave(h->monitor);
}

/* Returns whether a transfer has ended; another thread then drives. */
static bool http_has_ended(zt_http *h, const http_transfer *t){
  bool ended;
  zt_monitor_enter(h->monitor);
  ended = t->state==HTTP_ENDED;
  if( ended && !h->driven ) http_hand_over(h);
  zt_monitor_leave(h->monitor);
  return ended;
}

/* Ends a request that is the parent's, if it is. False: it is ours, or ended before the fork. */
static bool http_leave(zt_http_request *r){
  http_transfer *t = r->transfer;
  if( t->process==zt_thread_process() || t->state==HTTP_ENDED ) return false;
  t->state = HTTP_ENDED;
  r->answer.outcome = ZT_HTTP_LEFT;
  return true;
}

/* The interrupt is checked before each turn, which may send what is queued. */
int zt_http_wait(zt_http *h, zt_http_request *r, const zt_interrupt *interrupt, zt_error *err){
  const http_transfer *t = r->transfer;
  if( t && http_leave(r) ) return SQLITE_OK;
  while( t && !http_has_ended(h, t) ){
    if( zt_interrupt_check(interrupt, err) ){
      zt_http_cancel(h, r);
      return err->rc;
    }
    zt_monitor_enter(h->monitor);
    if( t->state!=HTTP_ENDED ) http_turn(h, t, HTTP_WAITS);
    zt_monitor_leave(h->monitor);
  }
  return SQLITE_OK;
}

void zt_http_cancel(zt_http *h, zt_http_request *r){
  http_transfer *t = r->transfer;
  if( !t || http_leave(r) ) return;
  zt_monitor_enter(h->monitor);
  if( t->state==HTTP_QUEUED ){
    http_remove(&h->queue, t);
    t->state = HTTP_ENDED;
    r->answer.outcome = ZT_HTTP_CANCELLED;
  }
  t->cancelled = true;
  http_wake_driver(h);
  while( t->state!=HTTP_ENDED ) http_turn(h, t, HTTP_ENDS);
  if( !h->driven ) http_hand_over(h);
  zt_monitor_leave(h->monitor);
}

void zt_http_clear(zt_http_request *r){
  assert( !r->transfer || r->transfer->state==HTTP_ENDED );
  sqlite3_free(r->transfer);
  r->transfer = NULL;
  zt_http_answer_clear(&r->answer, r->buffer);
}

int zt_http_pause(zt_http *h, int64_t nanoseconds, const zt_interrupt *interrupt, zt_error *err){
  const int64_t until = zt_os_elapsed()+nanoseconds;
  int64_t left;
  while( (left = until-zt_os_elapsed())>0 ){
    if( zt_interrupt_check(interrupt, err) ) return err->rc;
    zt_monitor_enter(h->monitor);
    http_sleep(h, NULL, left<HTTP_TURN*HTTP_MS ? left : HTTP_TURN*HTTP_MS);
    zt_monitor_leave(h->monitor);
  }
  return SQLITE_OK;
}
#else
typedef int zt_http_is_left_out;   /* A file of C has a declaration */
#endif
