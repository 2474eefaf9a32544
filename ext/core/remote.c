/* Remote files of a connection. See remote.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include <assert.h>
#include <stdatomic.h>
#include "core/digest.h"
#include "core/grow.h"
#include "core/http.h"
#include "core/origins.h"
#include "core/sha256.h"
#include "core/thread.h"

#define REMOTE_SECOND ((int64_t)1000*1000*1000)
#define REMOTE_BUCKETS 1024        /* A power of two */
#define REMOTE_SEEN_MAX 65536      /* Most files that are remembered */
#define REMOTE_SEEN_BYTES ((size_t)16 << 20)
#define REMOTE_AHEAD ((uint64_t)64 << 20)   /* Most bytes of bodies ahead */
#define REMOTE_LISTS 64            /* Most times that what may be reached is narrowed */

/* Something that is remembered under a key. */
typedef struct remote_entry {
  struct remote_entry *next;       /* In its bucket */
  struct remote_entry *newer;      /* By age */
  char *key;                       /* Owned, like state and text */
  zt_remote_state *state;          /* Of a file; or NULL, and: */
  char *text;                      /* What was learned */
  int64_t seen;                    /* When the text was */
  uint64_t period;                 /* In which statement */
} remote_entry;

struct zt_remote {
  zt_interrupt interrupt;
  zt_http *http;                   /* Owned */
  zt_origins *lists[REMOTE_LISTS]; /* All must allow a request; owned */
  int nLists;
  zt_monitor *monitor;             /* Guards the members below; owned */
  zt_remote_settings settings;
  uint64_t retries;
  remote_entry *buckets[REMOTE_BUCKETS];
  remote_entry *oldest, *newest;
  size_t n, bytes;                 /* Entries, and about their bytes */
  unsigned cursors;
  uint64_t period;                 /* Incremented when the first cursor opens */
  uint64_t ahead;                  /* Bytes of bodies */
  int64_t whole;                   /* The process in which a file may be on its way as a whole */
  zt_remote_early *early;          /* The last one first */
};

int zt_remote_new(const char *allow, zt_interrupt interrupt, zt_remote **out, zt_error *err){
  zt_remote *r = sqlite3_malloc64(sizeof(*r));
  if( !allow ) allow = "*";
  *out = NULL;
  if( !r ) return zt_fail_nomem(err);
  memset(r, 0, sizeof(*r));
  r->interrupt = interrupt;
  r->settings = (zt_remote_settings){ .connections = 32, .timeout = 30, .retries = 3, .ttl = 1 };
  r->monitor = zt_monitor_new();
  r->http = zt_http_new();
  if( !r->monitor || !r->http ) zt_fail_nomem(err);
  else if( zt_remote_narrow(r, (zt_text){ allow, strlen(allow) }, err)==SQLITE_OK ){
    zt_http_set_connections(r->http, r->settings.connections);
    *out = r;
    return SQLITE_OK;
  }
  zt_remote_free(r);
  return err->rc;
}

static void remote_drop_entries(zt_remote *r){
  remote_entry *newer;
  for(remote_entry *e=r->oldest; e; e=newer){
    newer = e->newer;
    sqlite3_free(e->key);
    sqlite3_free(e->state);
    sqlite3_free(e->text);
    sqlite3_free(e);
  }
  memset(r->buckets, 0, sizeof(r->buckets));
  r->oldest = r->newest = NULL;
  r->n = r->bytes = 0;
}

void zt_remote_free(zt_remote *r){
  if( !r ) return;
  assert( !r->early );
  zt_http_free(r->http);
  for(int i=0; i<r->nLists; i++) zt_origins_free(r->lists[i]);
  remote_drop_entries(r);
  zt_monitor_free(r->monitor);
  sqlite3_free(r);
}

/* --- Settings --- */

int zt_remote_narrow(zt_remote *r, zt_text list, zt_error *err){
  zt_origins *added;
  if( r->nLists==REMOTE_LISTS ){
    return zt_fail(err, SQLITE_ERROR, "what may be reached was narrowed %d times already",
                   REMOTE_LISTS-1);
  }
  if( zt_origins_new(list, &added, err)==SQLITE_OK ) r->lists[r->nLists++] = added;
  return err->rc;
}

void zt_remote_put_allowed(sqlite3_str *out, const zt_remote *r){
  if( r->nLists==1 ){
    zt_origins_put_json(out, r->lists[0]);
    return;
  }
  for(int i=0; i<r->nLists; i++){
    sqlite3_str_appendchar(out, 1, i ? ',' : '[');
    zt_origins_put_json(out, r->lists[i]);
  }
  sqlite3_str_appendchar(out, 1, ']');
}

int zt_remote_check(zt_remote *r, const struct zt_reach *reach, bool *any_address, zt_error *err){
  *any_address = true;
  for(int i=0; i<r->nLists; i++){
    bool any;
    if( !zt_origins_allow(r->lists[i], reach, &any) ){
      return zt_fail_remote(err, "denied", reach->from
                            ? "a redirect that is not allowed (ZTENSOR_REMOTE, zt_remote())"
                            : "not allowed (ZTENSOR_REMOTE, zt_remote())");
    }
    *any_address = *any_address && any;
  }
  return SQLITE_OK;
}

void zt_remote_set(zt_remote *r, const zt_remote_settings *settings){
  zt_monitor_enter(r->monitor);
  r->settings = *settings;
  zt_monitor_leave(r->monitor);
  zt_http_set_connections(r->http, settings->connections);
}

zt_remote_settings zt_remote_get(const zt_remote *r){
  zt_remote_settings settings;
  zt_monitor_enter(r->monitor);
  settings = r->settings;
  zt_monitor_leave(r->monitor);
  return settings;
}

zt_remote_counts zt_remote_count(zt_remote *r){
  zt_remote_counts counts;
  zt_http_counts(r->http, &counts.requests, &counts.bytes);
  zt_monitor_enter(r->monitor);
  counts.retries = r->retries;
  zt_monitor_leave(r->monitor);
  return counts;
}

void zt_remote_count_retry(zt_remote *r){
  zt_monitor_enter(r->monitor);
  r->retries++;
  zt_monitor_leave(r->monitor);
}

struct zt_http *zt_remote_http(zt_remote *r){
  return r->http;
}

const zt_interrupt *zt_remote_interrupt(const zt_remote *r){
  const zt_interrupt *current = zt_interrupt_current();
  return current ? current : &r->interrupt;
}

void zt_remote_hold(zt_remote *r){
  zt_monitor_enter(r->monitor);
  if( r->cursors++==0 ) r->period++;
  zt_monitor_leave(r->monitor);
}

void zt_remote_release(zt_remote *r){
  zt_monitor_enter(r->monitor);
  r->cursors--;
  zt_monitor_leave(r->monitor);
}

bool zt_remote_take_ahead(zt_remote *r, uint64_t n){
  bool fits;
  zt_monitor_enter(r->monitor);
  fits = n<=REMOTE_AHEAD-r->ahead;
  if( fits ) r->ahead += n;
  zt_monitor_leave(r->monitor);
  return fits;
}

void zt_remote_give_ahead(zt_remote *r, uint64_t n){
  zt_monitor_enter(r->monitor);
  r->ahead -= n;
  zt_monitor_leave(r->monitor);
}

bool zt_remote_take_whole(zt_remote *r){
  bool taken;
  zt_monitor_enter(r->monitor);
  taken = r->whole!=zt_thread_process();
  if( taken ) r->whole = zt_thread_process();
  zt_monitor_leave(r->monitor);
  return taken;
}

void zt_remote_give_whole(zt_remote *r){
  zt_monitor_enter(r->monitor);
  r->whole = 0;
  zt_monitor_leave(r->monitor);
}

/* --- States --- */

zt_remote_state *zt_remote_state_new(uint64_t size, int64_t modified, zt_text etag){
  zt_remote_state *s = sqlite3_malloc64(sizeof(*s)+etag.n+1);
  if( !s ) return NULL;
  *s = (zt_remote_state){ .size = size, .modified = modified, .seen = zt_os_elapsed(),
                          .nEtag = etag.n };
  if( etag.n ) memcpy(s->etag, etag.z, etag.n);
  s->etag[etag.n] = 0;
  return s;
}

zt_remote_state *zt_remote_state_copy(const zt_remote_state *state){
  zt_remote_state *s = zt_remote_state_new(state->size, state->modified,
                                           (zt_text){ state->etag, state->nEtag });
  if( s ){
    s->seen = state->seen;
    s->whole = state->whole;
  }
  return s;
}

bool zt_remote_state_is_strong(const zt_remote_state *state){
  return state->nEtag>0 && strncmp(state->etag, "W/", 2)!=0;
}

/* Hashes a text so that no stranger can choose another one with the same hash. False if memory is
** short. */
static bool remote_hash(const char *z, uint64_t out[2]){
  uint8_t hash[ZT_SHA256_BYTES];
  zt_sha256 *s = zt_sha256_new();
  if( !s ) return false;
  zt_sha256_update(s, (zt_span){ (const uint8_t*)z, strlen(z) });
  zt_sha256_finish(s, hash);
  zt_sha256_free(s);
  out[0] = zt_be64(hash);
  out[1] = zt_be64(hash+8);
  return true;
}

bool zt_remote_identity(const char *path, const zt_remote_state *state, zt_identity *out){
  uint64_t of_path[2], of_etag[2];
  if( !remote_hash(path, of_path) || !remote_hash(state->etag, of_etag) ) return false;
  *out = (zt_identity){
    .device = of_path[0], .inode = of_path[1], .size = state->size,
    .mtime = state->modified>INT64_MAX/REMOTE_SECOND || state->modified<0
             ? INT64_MIN : state->modified*REMOTE_SECOND,
    .tag = of_etag[0] | 1
  };
  return true;
}

bool zt_remote_is_fresh(zt_remote *r, int64_t seen){
  return zt_os_elapsed()-seen<(int64_t)zt_remote_get(r).ttl*REMOTE_SECOND;
}

/* --- What is remembered, under the lock --- */

static remote_entry **remote_bucket(zt_remote *r, const char *key){
  return &r->buckets[zt_digest_xxh3((zt_span){ (const uint8_t*)key, strlen(key) })
                     & (REMOTE_BUCKETS-1)];
}

static remote_entry *remote_find(zt_remote *r, const char *key){
  remote_entry *e = *remote_bucket(r, key);
  while( e && strcmp(e->key, key)!=0 ) e = e->next;
  return e;
}

/* Returns a new entry, which takes the key; older ones make room together. */
static remote_entry *remote_add(zt_remote *r, char *key){
  remote_entry *e = sqlite3_malloc64(sizeof(*e)), **bucket;
  if( !e ) return NULL;
  if( r->n==REMOTE_SEEN_MAX || r->bytes>REMOTE_SEEN_BYTES ) remote_drop_entries(r);
  bucket = remote_bucket(r, key);
  *e = (remote_entry){ .key = key, .next = *bucket };
  *bucket = e;
  if( r->newest ) r->newest->newer = e;
  else r->oldest = e;
  r->newest = e;
  r->n++;
  r->bytes += sizeof(*e)+strlen(key);
  return e;
}

/* Returns the entry of a key, made if there is none. It takes the key. NULL if memory is short. */
static remote_entry *remote_get(zt_remote *r, char *key){
  remote_entry *e = key ? remote_find(r, key) : NULL;
  if( !e && key && (e = remote_add(r, key))!=NULL ) return e;
  sqlite3_free(key);
  return e;
}

zt_remote_state *zt_remote_seen(zt_remote *r, const char *path, bool *nomem){
  remote_entry *e;
  zt_remote_state *out;
  zt_monitor_enter(r->monitor);
  e = remote_find(r, path);
  out = e && e->state ? zt_remote_state_copy(e->state) : NULL;
  if( e && e->state && !out ) *nomem = true;
  zt_monitor_leave(r->monitor);
  return out;
}

void zt_remote_see(zt_remote *r, const char *path, const zt_remote_state *state){
  zt_remote_state *copy = zt_remote_state_copy(state);
  remote_entry *e;
  if( !copy ) return;   /* It is not remembered */
  zt_monitor_enter(r->monitor);
  e = remote_get(r, sqlite3_mprintf("%s", path));
  if( e ){
    sqlite3_free(e->state);
    e->state = copy;
    r->bytes += copy->nEtag;
  }else{
    sqlite3_free(copy);
  }
  zt_monitor_leave(r->monitor);
}

void zt_remote_forget(zt_remote *r, const char *path){
  remote_entry *e;
  zt_monitor_enter(r->monitor);
  e = remote_find(r, path);
  if( e ){
    sqlite3_free(e->state);
    e->state = NULL;
  }
  zt_monitor_leave(r->monitor);
}

bool zt_remote_may_put_early(zt_remote *r, const char *path){
  const remote_entry *seen;
  const zt_remote_early *other;
  int n = 1;
  bool may;
  zt_monitor_enter(r->monitor);
  seen = remote_find(r, path);
  for(other=r->early; other && strcmp(other->path, path)!=0; other=other->next) n++;
  may = n<r->settings.connections && !other && !(seen && seen->state);
  zt_monitor_leave(r->monitor);
  return may;
}

void zt_remote_put_early(zt_remote *r, zt_remote_early *early){
  zt_monitor_enter(r->monitor);
  early->next = r->early;
  r->early = early;
  zt_monitor_leave(r->monitor);
}

zt_remote_early *zt_remote_take_early(zt_remote *r, const char *path){
  zt_remote_early **pp = &r->early, *early;
  zt_monitor_enter(r->monitor);
  while( *pp && path && strcmp((*pp)->path, path)!=0 ) pp = &(*pp)->next;
  early = *pp;
  if( early ) *pp = early->next;
  zt_monitor_leave(r->monitor);
  return early;
}

/* A key that no path is. */
static char *remote_key(const char *kind, const char *name){
  return sqlite3_mprintf("%s\n%s", kind, name);
}

bool zt_remote_learn(zt_remote *r, const char *kind, const char *name, const char *value){
  char *text = sqlite3_mprintf("%s", value);
  remote_entry *e;
  zt_monitor_enter(r->monitor);
  e = text ? remote_get(r, remote_key(kind, name)) : NULL;
  if( e ){
    sqlite3_free(e->text);
    e->text = text;
    e->seen = zt_os_elapsed();
    e->period = r->period;
    r->bytes += strlen(text);
  }else{
    sqlite3_free(text);
  }
  zt_monitor_leave(r->monitor);
  return e!=NULL;
}

char *zt_remote_learned(zt_remote *r, const char *kind, const char *name, bool still, bool *nomem){
  char *key = remote_key(kind, name), *out = NULL;
  bool missed = key==NULL;
  const remote_entry *e;
  zt_monitor_enter(r->monitor);
  e = key ? remote_find(r, key) : NULL;
  if( e && e->text && (!still || (r->cursors>0 && e->period==r->period)
                       || zt_os_elapsed()-e->seen<(int64_t)r->settings.ttl*REMOTE_SECOND) ){
    out = sqlite3_mprintf("%s", e->text);
    missed = out==NULL;
  }
  zt_monitor_leave(r->monitor);
  sqlite3_free(key);
  if( missed && nomem ) *nomem = true;
  return out;
}
#else
typedef int zt_remote_is_left_out;   /* A file of C has a declaration */
#endif
