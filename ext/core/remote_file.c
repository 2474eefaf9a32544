/*
** Positioned reads of one remote file. See remote_file.h.
**
** Its lock guards the blocks and the announcements; nothing waits under it. The first reader of a
** block that was asked for ends its request; others wait for that reader.
*/
#include "core/remote.h"

#if ZT_REMOTE
#include "core/remote_file.h"

#include <assert.h>
#include "core/fetch.h"
#include "core/hub.h"
#include "core/path.h"
#include "core/paths.h"
#include "core/s3.h"
#include "core/thread.h"

#define REMOTE_FILE_HEAD ((size_t)64 << 10)      /* Bytes of a head, and of a tail */
#define REMOTE_FILE_NEAR ((uint64_t)64 << 10)    /* Reads less than this apart belong together */
#define REMOTE_FILE_GROWN_MAX 16                 /* Most blocks for such reads that are kept, */
#define REMOTE_FILE_GROWN_BYTES ((uint64_t)16 << 20)   /* one for each thread; and their bytes */
#define REMOTE_FILE_SPENT 16                     /* Most places of removed ones that are known */
#define REMOTE_FILE_PART ((size_t)4 << 20)       /* Bytes of a request for many, and most bytes of a
                                                 ** block */
#define REMOTE_FILE_PARTS 8                      /* Requests of one read or announcement at once */
#define REMOTE_FILE_WHOLE ((uint64_t)64 << 20)   /* Most bytes of a file without ranges */
#define REMOTE_FILE_WHOLES ((uint64_t)1 << 20)   /* The same where others are on their way */
#define REMOTE_FILE_TURN ((int64_t)20*1000*1000) /* Nanoseconds between checks for an interrupt */
#define REMOTE_FILE_LED 4                        /* Most places that redirects led to */

/* Names of files whose last bytes matter. */
#define REMOTE_FILE_TAILS "*.zt *.npz *.pt *.pth *.bin"

typedef enum remote_block_state {
  REMOTE_BLOCK_ASKED,               /* Its request is under way */
  REMOTE_BLOCK_TAKEN,               /* A reader ends the request */
  REMOTE_BLOCK_READY,
  REMOTE_BLOCK_FAILED
} remote_block_state;

/* Bytes that will be read in order. */
typedef struct remote_announced {
  struct remote_announced *next;
  uint64_t at, end;          /* Not asked for yet */
  int blocks;                /* That are there */
} remote_announced;

/* Bytes [at, end) of grown blocks that were removed. */
typedef struct remote_spent {
  uint64_t at, end;
} remote_spent;

typedef struct remote_block {
  struct remote_block *next;
  uint64_t offset;
  size_t n;
  uint8_t *p;                /* Owned */
  remote_block_state state;
  int readers;
  bool kept;                 /* Until the file is closed */
  bool unread;               /* No read asked for it, and none has come */
  remote_announced *of;          /* NULL: none */
  uint64_t left;             /* Of an announced block: bytes that were not read */
  uint64_t used;             /* Of another one: when */
  uint64_t ahead;            /* Bytes that count as ahead */
  zt_fetch fetch;
} remote_block;

struct zt_remote_file {
  zt_remote *remote;
  char *path;                /* Owned, like all texts */
  char *plain;               /* The path as a name */
  zt_fetch_kind kind;
  const zt_fetch_scheme *scheme;   /* Of S3 and the hub */
  char *url, *name;          /* Of web and hub; of S3 and hub */
  zt_text bucket, key;       /* In path */
  zt_remote_state *state;
  uint8_t *image;            /* All of it; owned, NULL: it is read in ranges */
  uint64_t ahead;            /* Bytes of the image that count as ahead */
  zt_monitor *monitor;       /* Guards the members below */
  bool wired;                /* An answer came, which the next ones must equal: */
  char etag[ZT_HTTP_ETAG];
  int64_t modified;
  char *led[REMOTE_FILE_LED];       /* Where redirects led, the last one last */
  int nLed;
  remote_block *blocks;
  remote_announced *announcements;
  remote_spent spent[REMOTE_FILE_SPENT];   /* None touches another; the newest last */
  int nSpent;
  uint64_t clock;
  char *lost;                /* Why nothing more is asked for; owned, NULL: it is */
  const char *lost_kind;     /* Of that error; static */
};

zt_remote *zt_remote_file_remote(const zt_remote_file *f){ return f->remote; }
const zt_remote_state *zt_remote_file_state(const zt_remote_file *f){ return f->state; }

const char *zt_remote_file_plain_path(const zt_remote_file *f){
  return f->plain;
}

/* --- Where the file is --- */

static int remote_file_locate_hub(zt_remote_file *f, zt_error *err){
  zt_hub_place place;
  if( !zt_hub_split(f->path, &place) || place.path.n==0 ){
    return zt_fail_remote(err, "missing", "not the name of a file of the hub, whose org and repo"
                          " are of letters, digits, '-', '_' and '.':"
                          " hf://org/repo/path, hf://org/repo@revision/path or"
                          " hf://datasets/org/repo/path");
  }
  f->name = zt_hub_name(&place);
  if( !f->name ) return zt_fail_nomem(err);
  if( zt_hub_resolve(f->remote, &place, f->name, err) ) return err->rc;
  f->url = zt_hub_url(f->remote, &place);
  return f->url ? SQLITE_OK : zt_fail_nomem(err);
}

static int remote_file_locate(zt_remote_file *f, zt_error *err){
  if( sqlite3_strnicmp(f->path, "s3://", 5)==0 ){
    f->kind = ZT_FETCH_S3;
    f->scheme = &zt_s3_scheme;
    if( !zt_s3_split(f->path, &f->bucket, &f->key) || f->key.n==0 ){
      return zt_fail_remote(err, "missing", "not the name of an object: s3://bucket/key");
    }
    f->name = sqlite3_mprintf("%s", f->path);
    return f->name ? SQLITE_OK : zt_fail_nomem(err);
  }
  if( sqlite3_strnicmp(f->path, "hf://", 5)==0 ){
    f->kind = ZT_FETCH_HUB;
    f->scheme = &zt_hub_scheme;
    return remote_file_locate_hub(f, err);
  }
  f->kind = ZT_FETCH_WEB;
  f->plain[zt_url_decode((zt_text){ f->plain, strlen(f->plain) }, false, f->plain)] = 0;
  f->url = sqlite3_mprintf("%s", f->path);
  return f->url ? SQLITE_OK : zt_fail_nomem(err);
}

/* A request for n bytes at offset. */
static zt_fetch remote_file_fetch(const zt_remote_file *f, uint64_t offset, uint64_t n){
  zt_fetch fetch = {
    .remote = f->remote, .kind = f->kind, .scheme = f->scheme, .url = f->url,
    .name = f->name, .bucket = f->bucket, .key = f->key, .led = f->nLed ? f->led[f->nLed-1] : NULL,
    .what = f->state ? "read" : "open", .first = offset, .n = n
  };
  if( f->state && f->kind!=ZT_FETCH_HUB && zt_remote_state_is_strong(f->state) ){
    fetch.if_match = f->state->etag;
  }
  return fetch;
}

/* --- One state --- */

/* Keeps what an answer of the file's state says of it, for the next ones. */
static void remote_file_wire(zt_remote_file *f, const zt_http_answer *a){
  f->wired = true;
  memcpy(f->etag, a->etag, sizeof(f->etag));
  f->modified = a->modified;
}

/* Compares an answer with the first one of the file's state; or with the state if it was known
** before, by the tag, or by the time if the answer has none. The lock is held. */
static bool remote_file_is_same(zt_remote_file *f, const zt_fetch *fetch){
  const zt_http_answer *a = &fetch->http.answer;
  const bool hub = f->kind==ZT_FETCH_HUB;
  const char *own = hub ? fetch->etag : a->etag;
  if( a->total!=f->state->size ) return false;
  if( f->wired ) return a->modified==f->modified && strcmp(a->etag, f->etag)==0;
  assert( f->state->nEtag );   /* Only a file with a strong tag is not asked for again */
  if( *own ? strcmp(own, f->state->etag)!=0
           : !hub && a->modified!=f->state->modified ) return false;
  remote_file_wire(f, a);
  return true;
}

/* Keeps where a redirect led. The lock is held. */
static void remote_file_keep_led(zt_remote_file *f, zt_fetch *fetch){
  if( !fetch->hop || f->nLed==REMOTE_FILE_LED ) return;
  if( f->nLed>0 && strcmp(f->led[f->nLed-1], fetch->hop)==0 ) return;
  f->led[f->nLed++] = fetch->hop;
  fetch->hop = NULL;
}

/* Checks an answer with bytes. */
static int remote_file_check(zt_remote_file *f, zt_fetch *fetch, zt_error *err){
  bool same;
  assert( fetch->http.answer.ranged );
  zt_monitor_enter(f->monitor);
  same = remote_file_is_same(f, fetch);
  remote_file_keep_led(f, fetch);
  zt_monitor_leave(f->monitor);
  return same ? SQLITE_OK : zt_fetch_fail_changed(err);
}

/* Ends a request for bytes. After a failure that the next ones would share, nothing more is asked
** for: a statement that goes on after an error would wait for each of its tensors. */
static int remote_file_end(zt_remote_file *f, zt_fetch *fetch, zt_error *err){
  const char *shard = err->shard;
  bool lost;
  if( zt_fetch_end(fetch, err) ){
    lost = zt_fetch_is_lost(fetch);
  }else{
    err->shard = shard;
    lost = remote_file_check(f, fetch, err)!=SQLITE_OK;
    err->shard = NULL;
  }
  if( !lost || !err->kind ) return err->rc;
  zt_monitor_enter(f->monitor);
  if( !f->lost ){
    f->lost = sqlite3_mprintf("%s", err->parts.fault);
    f->lost_kind = err->kind;
  }
  zt_monitor_leave(f->monitor);
  return err->rc;
}

/* --- Blocks, under the lock --- */

static remote_block *remote_file_block_at(const zt_remote_file *f, uint64_t offset){
  remote_block *b = f->blocks;
  while( b && (b->state==REMOTE_BLOCK_FAILED || offset<b->offset || offset-b->offset>=b->n) ){
    b = b->next;
  }
  return b;
}

/* Returns where the next block begins; the file's size if there is none. */
static uint64_t remote_file_next_block(const zt_remote_file *f, uint64_t offset){
  uint64_t next = f->state->size;
  for(const remote_block *b=f->blocks; b; b=b->next){
    if( b->state!=REMOTE_BLOCK_FAILED && b->offset>offset && b->offset<next ) next = b->offset;
  }
  return next;
}

static void remote_file_drop_announcement(zt_remote_file *f, remote_announced *a){
  remote_announced **pp = &f->announcements;
  while( *pp!=a ) pp = &(*pp)->next;
  *pp = a->next;
  sqlite3_free(a);
}

/* Removes a block, which nobody reads, from the list. */
static void remote_file_unlink_block(zt_remote_file *f, remote_block *b){
  remote_block **pp = &f->blocks;
  while( *pp!=b ) pp = &(*pp)->next;
  *pp = b->next;
  if( b->of ){
    b->of->blocks--;
    if( b->of->blocks==0 && b->of->at==b->of->end ) remote_file_drop_announcement(f, b->of);
  }
}

static void remote_file_free_block(zt_remote_file *f, remote_block *b){
  zt_fetch_clear(&b->fetch);
  sqlite3_free(b->p);
  zt_remote_give_ahead(f->remote, b->ahead);
  sqlite3_free(b);
}

/* Asks for a block. NULL if memory is short, if too much is ahead, or if the file is lost. */
static remote_block *remote_file_ask(zt_remote_file *f, uint64_t offset, size_t n){
  remote_block *b;
  if( f->lost || !zt_remote_take_ahead(f->remote, n) ) return NULL;
  b = sqlite3_malloc64(sizeof(*b));
  if( b ){
    *b = (remote_block){ .next = f->blocks, .offset = offset, .n = n, .ahead = n,
                         .p = sqlite3_malloc64(n), .fetch = remote_file_fetch(f, offset, n),
                         .used = ++f->clock };
    b->fetch.buffer = b->p;
  }
  if( !b || !b->p ){
    sqlite3_free(b);
    zt_remote_give_ahead(f->remote, n);
    return NULL;
  }
  f->blocks = b;
  zt_fetch_begin(&b->fetch);
  return b;
}

/* Asks for announced bytes as far as is allowed. */
static void remote_file_ask_announced(zt_remote_file *f, remote_announced *a){
  while( a->at<a->end && a->blocks<REMOTE_FILE_PARTS ){
    const uint64_t next = remote_file_next_block(f, a->at), end = next<a->end ? next : a->end;
    const remote_block *there = remote_file_block_at(f, a->at);
    remote_block *b;
    if( there ){
      a->at = there->offset+there->n<a->end ? there->offset+there->n : a->end;
      continue;
    }
    b = remote_file_ask(f, a->at, end-a->at<REMOTE_FILE_PART ? (size_t)(end-a->at)
                                                             : REMOTE_FILE_PART);
    if( !b ) return;
    b->of = a;
    b->left = b->n;
    a->blocks++;
    a->at += b->n;
  }
  if( a->at==a->end && a->blocks==0 ) remote_file_drop_announcement(f, a);
}

/* Bytes that were announced and are read now are not asked for ahead any more. */
static void remote_file_skip_announced(zt_remote_file *f, uint64_t offset, uint64_t n){
  remote_announced *next;
  for(remote_announced *a=f->announcements; a; a=next){
    next = a->next;
    if( a->at<offset || a->at-offset>=n ) continue;
    a->at = offset+n<a->end ? offset+n : a->end;
    remote_file_ask_announced(f, a);
  }
}

/* Notes that a block is removed. */
static void remote_file_spend(zt_remote_file *f, const remote_block *b){
  remote_spent whole = { b->offset, b->offset+b->n };
  int n = 0;
  for(int i=0; i<f->nSpent; i++){
    const remote_spent s = f->spent[i];
    if( s.end<whole.at || s.at>whole.end ){
      f->spent[n++] = s;
    }else{
      if( s.at<whole.at ) whole.at = s.at;
      if( s.end>whole.end ) whole.end = s.end;
    }
  }
  if( n==REMOTE_FILE_SPENT ) memmove(f->spent, f->spent+1, (size_t)--n*sizeof(*f->spent));
  f->spent[n++] = whole;
  f->nSpent = n;
}

/* Returns where the bytes that were not asked for yet end. Each of several threads reads its own
** tensors: those behind may be another one's, which has read them. */
static uint64_t remote_file_new_end(const zt_remote_file *f, uint64_t offset){
  uint64_t end = remote_file_next_block(f, offset);
  for(int i=0; i<f->nSpent; i++){
    if( f->spent[i].at>offset && f->spent[i].at<end ) end = f->spent[i].at;
  }
  return end;
}

/* Returns how many bytes to ask for at a read: they grow as reads follow each other. 0: no block is
** for it. */
static size_t remote_file_growth(const zt_remote_file *f, uint64_t offset, size_t n){
  const remote_block *before = NULL;
  size_t grown;
  if( n>=REMOTE_FILE_PART ) return 0;
  for(const remote_block *b=f->blocks; b; b=b->next){
    const uint64_t behind = b->offset+b->n;
    if( b->state!=REMOTE_BLOCK_FAILED && behind<=offset && offset-behind<REMOTE_FILE_NEAR
     && (!before || behind>before->offset+before->n) ) before = b;
  }
  if( !before || before->kept ) return n;
  grown = before->n<REMOTE_FILE_NEAR/2 ? REMOTE_FILE_NEAR : 2*before->n;
  if( grown>REMOTE_FILE_PART ) grown = REMOTE_FILE_PART;
  return grown>n ? grown : n;
}

/* Asks for up to n bytes from offset on, where a block ends. No reader may come for them. */
static void remote_file_ask_behind(zt_remote_file *f, uint64_t offset, size_t n){
  const uint64_t fresh = remote_file_new_end(f, offset-1)-offset;
  remote_block *b = fresh>0 ? remote_file_ask(f, offset, fresh<n ? (size_t)fresh : n) : NULL;
  if( b ) b->unread = true;
}

/* Asks for a read's bytes, and for more behind them as reads follow each other. Where the block
** that was asked for last is in the way, the more lie behind it: two threads may take turns such
** that each tensor is asked for before the one in front of it, and no request would grow. Returns
** whether a block has the first bytes. */
static bool remote_file_ask_grown(zt_remote_file *f, uint64_t offset, size_t n){
  const remote_block *last = f->blocks;
  const size_t growth = remote_file_growth(f, offset, n);
  const uint64_t fresh = remote_file_new_end(f, offset)-offset;
  size_t grown = growth;
  if( remote_file_block_at(f, offset) ) return true;
  if( fresh<grown ) grown = fresh>n ? (size_t)fresh : n;
  remote_file_skip_announced(f, offset, grown>n ? grown : n);
  if( grown==0 || !remote_file_ask(f, offset, grown) ) return false;
  if( grown<growth && remote_file_block_at(f, offset+grown)==last ){
    remote_file_ask_behind(f, last->offset+last->n, growth);
  }
  return true;
}

/* Removes what is read or failed, and the small blocks that were not used for longest. */
static remote_block *remote_file_take_useless(zt_remote_file *f){
  remote_block *oldest = NULL;
  uint64_t bytes = 0;
  int grown = 0;
  for(remote_block *b=f->blocks; b; b=b->next){
    if( b->kept || b->readers>0 ) continue;
    if( b->state==REMOTE_BLOCK_FAILED || (b->of && b->state==REMOTE_BLOCK_READY && b->left==0) ){
      remote_announced *a = b->of;
      const bool more = a && (a->at<a->end || a->blocks>1);
      remote_file_unlink_block(f, b);
      if( more ) remote_file_ask_announced(f, a);
      return b;
    }
    if( b->of || (b->state!=REMOTE_BLOCK_READY && !b->unread) ) continue;
    grown++;
    bytes += b->n;
    if( !oldest || b->used<oldest->used ) oldest = b;
  }
  if( grown<=REMOTE_FILE_GROWN_MAX && bytes<=REMOTE_FILE_GROWN_BYTES ) return NULL;
  remote_file_unlink_block(f, oldest);
  if( !oldest->unread ) remote_file_spend(f, oldest);
  return oldest;
}

/* --- Reading from blocks --- */

/* Waits until a block's bytes are there, or are known not to come. Its reader is counted. */
static void remote_file_finish_block(zt_remote_file *f, remote_block *b, zt_error *err){
  bool mine;
  zt_monitor_enter(f->monitor);
  mine = b->state==REMOTE_BLOCK_ASKED;
  if( mine ) b->state = REMOTE_BLOCK_TAKEN;
  while( !mine && b->state==REMOTE_BLOCK_TAKEN && !err->rc ){
    zt_monitor_wait(f->monitor, ZT_SIGNAL_DONE, REMOTE_FILE_TURN);
    zt_monitor_leave(f->monitor);
    zt_interrupt_check(zt_remote_interrupt(f->remote), err);
    zt_monitor_enter(f->monitor);
  }
  zt_monitor_leave(f->monitor);
  if( !mine ) return;
  remote_file_end(f, &b->fetch, err);
  zt_monitor_enter(f->monitor);
  b->state = err->rc ? REMOTE_BLOCK_FAILED : REMOTE_BLOCK_READY;
  zt_monitor_signal(f->monitor, ZT_SIGNAL_DONE, true);
  zt_monitor_leave(f->monitor);
}

/* Copies what a block has of [offset, offset+n). Returns how many bytes; 0 if it failed. */
static size_t remote_file_copy_block(zt_remote_file *f, remote_block *b, uint64_t offset,
                                     uint8_t *buffer,
                              size_t n, zt_error *err){
  const size_t from = (size_t)(offset-b->offset), most = b->n-from;
  size_t copied = 0;
  remote_block *useless;
  if( b->of ) zt_http_poke(zt_remote_http(f->remote));
  remote_file_finish_block(f, b, err);
  if( !err->rc && b->state==REMOTE_BLOCK_READY ){
    copied = n<most ? n : most;
    memcpy(buffer, b->p+from, copied);
  }
  zt_monitor_enter(f->monitor);
  b->readers--;
  b->used = ++f->clock;
  b->left = b->left>copied ? b->left-copied : 0;
  while( (useless = remote_file_take_useless(f))!=NULL ){
    zt_monitor_leave(f->monitor);
    remote_file_free_block(f, useless);
    zt_monitor_enter(f->monitor);
  }
  zt_monitor_leave(f->monitor);
  return copied;
}

/* --- Reading without blocks --- */

/* Reads a part with a request of its own. */
static int remote_file_end_part(zt_remote_file *f, zt_fetch *fetch, zt_error *err){
  remote_file_end(f, fetch, err);
  zt_fetch_clear(fetch);
  return err->rc;
}

static size_t remote_file_part_size(size_t n){
  return n>REMOTE_FILE_PART*REMOTE_FILE_PARTS*2 ? 2*REMOTE_FILE_PART : REMOTE_FILE_PART;
}

/* Reads n bytes into the buffer by several requests at once. */
static int remote_file_read_parts(zt_remote_file *f, uint64_t offset, uint8_t *buffer, size_t n,
                           zt_error *err){
  const size_t each = remote_file_part_size(n), count = n/each + (n%each>0);
  const char *shard = err->shard;
  zt_fetch *fetch = sqlite3_malloc64(REMOTE_FILE_PARTS*sizeof(*fetch));
  size_t begun = 0, ended = 0;
  if( !fetch ) return zt_fail_nomem(err);
  while( ended<count && !err->rc ){
    for(; begun<count && begun-ended<REMOTE_FILE_PARTS; begun++){
      const size_t at = begun*each;
      zt_monitor_enter(f->monitor);
      fetch[begun%REMOTE_FILE_PARTS] = remote_file_fetch(f, offset+at, n-at<each ? n-at : each);
      zt_monitor_leave(f->monitor);
      fetch[begun%REMOTE_FILE_PARTS].buffer = buffer+at;
      zt_fetch_begin(&fetch[begun%REMOTE_FILE_PARTS]);
    }
    err->shard = shard;
    remote_file_end_part(f, &fetch[ended++%REMOTE_FILE_PARTS], err);
  }
  while( ended<begun ) zt_fetch_clear(&fetch[ended++%REMOTE_FILE_PARTS]);
  sqlite3_free(fetch);
  return err->rc;
}

/* Reads the first bytes that no block has, at most n, and returns their number; 0 if they are asked
** for as a block now. */
static size_t remote_file_read_missing(zt_remote_file *f, uint64_t offset, uint8_t *buffer,
                                       size_t n,
                                zt_error *err){
  uint64_t next;
  bool asked;
  zt_monitor_enter(f->monitor);
  next = remote_file_next_block(f, offset);
  if( next-offset<n ) n = (size_t)(next-offset);
  asked = remote_file_ask_grown(f, offset, n);
  zt_monitor_leave(f->monitor);
  if( asked || remote_file_read_parts(f, offset, buffer, n, err) ) return 0;
  return n;
}

int zt_remote_file_read(zt_remote_file *f, uint64_t offset, uint8_t *buffer, size_t n,
                        zt_error *err){
  const char *shard = err->shard;
  if( f->image ){
    memcpy(buffer, f->image+offset, n);
    err->shard = NULL;
    return SQLITE_OK;
  }
  while( n>0 && !err->rc ){
    size_t got;
    remote_block *b;
    err->shard = shard;
    zt_monitor_enter(f->monitor);
    b = remote_file_block_at(f, offset);
    if( b ){
      b->readers++;
      b->unread = false;
    }else if( f->lost ){
      err->shard = NULL;   /* The text has it */
      zt_fail_remote(err, f->lost_kind, "%s", f->lost);
    }
    zt_monitor_leave(f->monitor);
    if( err->rc ) break;
    got = b ? remote_file_copy_block(f, b, offset, buffer, n, err)
            : remote_file_read_missing(f, offset, buffer, n, err);
    offset += got;
    buffer += got;
    n -= got;
  }
  if( !err->rc ) err->shard = NULL;   /* What is wrong with the bytes is no failure to read them */
  if( err->kind ) zt_remote_forget(f->remote, f->path);   /* The next statement asks again */
  return err->rc;
}

/* Asks for bytes that are about to be read, unless a block has them. The lock is held. */
static void remote_file_ask_early(zt_remote_file *f, uint64_t offset, size_t n){
  const uint64_t next = remote_file_next_block(f, offset);
  if( next-offset<n ) n = (size_t)(next-offset);
  (void)remote_file_ask_grown(f, offset, n);
}

/* Announces bytes that take several requests. The lock is held. */
static void remote_file_announce(zt_remote_file *f, uint64_t offset, uint64_t n){
  remote_announced *a = sqlite3_malloc64(sizeof(*a));
  if( !a ) return;   /* They are read without */
  *a = (remote_announced){ .next = f->announcements, .at = offset, .end = offset+n };
  f->announcements = a;
  remote_file_ask_announced(f, a);
}

void zt_remote_file_expect(zt_remote_file *f, uint64_t offset, uint64_t n){
  if( f->image || offset>=f->state->size ) return;
  if( n>f->state->size-offset ) n = f->state->size-offset;
  zt_monitor_enter(f->monitor);
  if( n<REMOTE_FILE_PART ) remote_file_ask_early(f, offset, (size_t)n);
  else remote_file_announce(f, offset, n);
  zt_monitor_leave(f->monitor);
}

bool zt_remote_file_hold_ahead(zt_remote_file *f){
  if( !f->image || f->ahead>0 ) return true;
  if( !zt_remote_take_ahead(f->remote, f->state->size) ) return false;
  f->ahead = f->state->size;
  return true;
}

/* --- Opening --- */

/* Makes the state that an answer states. It must not contradict the one that is known: one content
** has one size. */
static int remote_file_adopt(zt_remote_file *f, const zt_fetch *fetch, const zt_remote_state *known,
                             zt_error *err){
  const zt_http_answer *a = &fetch->http.answer;
  const bool hub = f->kind==ZT_FETCH_HUB;
  const char *etag = hub && *fetch->etag ? fetch->etag : a->etag;
  const uint64_t size = a->status==206 ? a->total : a->status==416 ? 0 : a->n;
  sqlite3_free(f->state);
  f->state = zt_remote_state_new(size, hub ? INT64_MIN : a->modified,
                                 (zt_text){ etag, strlen(etag) });
  if( !f->state ) return zt_fail_nomem(err);
  f->state->whole = a->status==200;
  remote_file_wire(f, a);
  if( known && zt_remote_state_is_strong(known) && strcmp(known->etag, f->state->etag)==0
   && known->size!=size ) return zt_fetch_fail_changed(err);
  zt_remote_see(f->remote, f->path, f->state);
  return SQLITE_OK;
}

/* Keeps the bytes of an answer: those of a head or a tail as a block, all others as the image. */
static int remote_file_keep(zt_remote_file *f, zt_fetch *fetch, zt_error *err){
  zt_http_answer *a = &fetch->http.answer;
  remote_block *b;
  if( a->status==200 ){
    f->image = a->body ? a->body : sqlite3_malloc64(1);
    a->body = NULL;
    return f->image ? SQLITE_OK : zt_fail_nomem(err);
  }
  if( a->n==0 ) return SQLITE_OK;
  b = sqlite3_malloc64(sizeof(*b));
  if( !b ) return zt_fail_nomem(err);
  *b = (remote_block){ .next = f->blocks, .offset = a->first, .n = a->n, .p = a->body,
                       .state = REMOTE_BLOCK_READY, .kept = true };
  f->blocks = b;
  a->body = NULL;
  return SQLITE_OK;
}

/* Ends the request for a head. */
static int remote_file_take_head(zt_remote_file *f, zt_fetch *fetch, const zt_remote_state *known,
                          zt_error *err){
  if( zt_fetch_end(fetch, err) ) return err->rc;
  if( fetch->http.answer.status==304 ){
    assert( known );   /* No other request is done with it */
    f->state = zt_remote_state_new(known->size, known->modified,
                                   (zt_text){ known->etag, known->nEtag });
    if( !f->state ) return zt_fail_nomem(err);
    zt_remote_see(f->remote, f->path, f->state);
    return SQLITE_OK;
  }
  if( remote_file_adopt(f, fetch, known, err) || remote_file_keep(f, fetch, err) ) return err->rc;
  remote_file_keep_led(f, fetch);
  return SQLITE_OK;
}

/* Ends the request for a tail, which only saves a later one. But it must be of the head's state. */
static int remote_file_take_tail(zt_remote_file *f, zt_fetch *fetch, zt_error *err){
  zt_error failed = ZT_ERROR_NONE;
  const remote_block *head = f->blocks;
  if( zt_fetch_end(fetch, &failed)==SQLITE_OK && fetch->http.answer.status==206
   && remote_file_check(f, fetch, err)==SQLITE_OK && (!head || head->n<f->state->size) ){
    remote_file_keep(f, fetch, err);
  }
  if( err->kind ) zt_remote_forget(f->remote, f->path);
  if( failed.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  if( failed.rc==SQLITE_INTERRUPT ) zt_fail_interrupt(err);
  zt_error_clear(&failed);
  return err->rc;
}

/* Returns whether the last bytes of a file of this name are worth a request beside the first. */
static bool remote_file_has_tail(const zt_remote_file *f){
  return zt_glob_match_any(REMOTE_FILE_TAILS, zt_path_name(f->plain));
}

/* Ends the request for a head. *whole: a large file may come. Otherwise one that does is asked for
** again, once no other may. */
static int remote_file_end_head(zt_remote_file *f, zt_fetch *head, const zt_remote_state *known,
                                bool *whole, zt_error *err){
  zt_error small = *err;
  const zt_http_answer *a = &head->http.answer;
  if( *whole ) return remote_file_take_head(f, head, known, err);
  remote_file_take_head(f, head, known, &small);
  if( !small.rc || a->outcome!=ZT_HTTP_TOO_LONG || a->status!=200 ){
    *err = small;
    return err->rc;
  }
  zt_error_clear(&small);
  while( !(*whole = zt_remote_take_whole(f->remote)) ){
    if( zt_http_pause(zt_remote_http(f->remote), REMOTE_FILE_TURN, zt_remote_interrupt(f->remote),
                      err) ) return err->rc;
  }
  head->most = REMOTE_FILE_WHOLE;
  return remote_file_take_head(f, head, known, err);
}

/* A file whose head was asked for before it is opened. */
typedef struct remote_begun {
  zt_remote_early early;     /* First */
  zt_remote_file *file;      /* Owned */
  zt_fetch head;
} remote_begun;

static int remote_file_open_begun(remote_begun *b, const zt_remote_state *known, zt_error *err){
  bool whole = false;
  remote_file_end_head(b->file, &b->head, known, &whole, err);
  if( whole ) zt_remote_give_whole(b->file->remote);
  zt_fetch_clear(&b->head);
  return err->rc;
}

static int remote_file_open_head(zt_remote_file *f, const zt_remote_state *known, zt_remote_ask ask,
                          zt_error *err){
  const bool small = known && known->size>0 && known->size<=2*REMOTE_FILE_HEAD;
  const bool has_tail = ask==ZT_REMOTE_HEAD && !small && remote_file_has_tail(f);
  zt_fetch head = remote_file_fetch(f, 0, small ? known->size : REMOTE_FILE_HEAD);
  zt_fetch tail = remote_file_fetch(f, 0, REMOTE_FILE_HEAD);
  bool whole = zt_remote_take_whole(f->remote);
  assert( known || ask==ZT_REMOTE_HEAD );
  head.most = whole ? REMOTE_FILE_WHOLE : REMOTE_FILE_WHOLES;
  if( ask==ZT_REMOTE_CHANGE && known->nEtag ) head.if_none_match = known->etag;
  tail.suffix = tail.once = true;
  zt_fetch_begin(&head);
  if( has_tail ) zt_fetch_begin(&tail);
  remote_file_end_head(f, &head, known, &whole, err);
  if( whole ) zt_remote_give_whole(f->remote);
  if( !err->rc && has_tail && !f->image ) remote_file_take_tail(f, &tail, err);
  zt_fetch_clear(&head);
  zt_fetch_clear(&tail);
  return err->rc;
}

/* Nothing is asked, but what may not be reached is not shown either. */
static int remote_file_open_known(zt_remote_file *f, const zt_remote_state *known, zt_error *err){
  zt_fetch fetch = remote_file_fetch(f, 0, 1);
  f->state = zt_remote_state_copy(known);
  if( !f->state ) return zt_fail_nomem(err);
  return zt_fetch_check(&fetch, err);
}

/* Makes a file that is located, but not opened. NULL after a failure. */
static zt_remote_file *remote_file_new(zt_remote *r, const char *path, zt_error *err){
  zt_remote_file *f = sqlite3_malloc64(sizeof(*f));
  if( !f ){
    zt_fail_nomem(err);
    return NULL;
  }
  memset(f, 0, sizeof(*f));
  f->remote = r;
  f->path = sqlite3_mprintf("%s", path);
  f->plain = sqlite3_mprintf("%.*s", (int)zt_path_end(path), path);
  f->monitor = zt_monitor_new();
  if( !f->path || !f->plain || !f->monitor ? zt_fail_nomem(err) : remote_file_locate(f, err) ){
    zt_remote_file_close(f);
    return NULL;
  }
  return f;
}

/* Those whose last bytes matter, too, are asked for both at once, when they are opened. */
void zt_remote_file_begin(zt_remote *r, const char *path){
  zt_error failed = ZT_ERROR_NONE;
  zt_remote_file *f = zt_remote_may_put_early(r, path) ? remote_file_new(r, path, &failed) : NULL;
  remote_begun *b = f && !remote_file_has_tail(f) ? sqlite3_malloc64(sizeof(*b)) : NULL;
  zt_error_clear(&failed);
  if( b ){
    *b = (remote_begun){ .early.path = f->path, .file = f,
                         .head = remote_file_fetch(f, 0, REMOTE_FILE_HEAD) };
    b->head.most = REMOTE_FILE_WHOLES;
    zt_fetch_begin(&b->head);
    zt_remote_put_early(r, &b->early);
  }else{
    zt_remote_file_close(f);
  }
}

void zt_remote_file_drop_begun(zt_remote *r){
  zt_remote_early *early;
  while( (early = zt_remote_take_early(r, NULL))!=NULL ){
    remote_begun *b = (remote_begun*)early;
    zt_fetch_clear(&b->head);
    zt_remote_file_close(b->file);
    sqlite3_free(b);
  }
}

int zt_remote_file_open(zt_remote *r, const char *path, const zt_remote_state *known,
                        zt_remote_ask ask, zt_remote_file **out, zt_error *err){
  remote_begun *b = ask==ZT_REMOTE_HEAD ? (remote_begun*)zt_remote_take_early(r, path) : NULL;
  zt_remote_file *f = b ? b->file : remote_file_new(r, path, err);
  *out = NULL;
  if( b ) remote_file_open_begun(b, known, err);
  else if( f && ask!=ZT_REMOTE_NOTHING ) remote_file_open_head(f, known, ask, err);
  else if( f ) remote_file_open_known(f, known, err);
  sqlite3_free(b);
  /* Of a file that is gone, or cannot be reached, the state is not what was seen before */
  if( err->kind ) zt_remote_forget(r, path);
  if( err->rc ) zt_remote_file_close(f);
  else *out = f;
  return err->rc;
}

void zt_remote_file_close(zt_remote_file *f){
  if( !f ) return;
  while( f->blocks ){
    remote_block *b = f->blocks;
    f->blocks = b->next;
    remote_file_free_block(f, b);
  }
  while( f->announcements ){
    remote_announced *a = f->announcements;
    f->announcements = a->next;
    sqlite3_free(a);
  }
  while( f->nLed>0 ) sqlite3_free(f->led[--f->nLed]);
  zt_remote_give_ahead(f->remote, f->ahead);
  zt_monitor_free(f->monitor);
  sqlite3_free(f->path);
  sqlite3_free(f->plain);
  sqlite3_free(f->url);
  sqlite3_free(f->name);
  sqlite3_free(f->state);
  sqlite3_free(f->image);
  sqlite3_free(f->lost);
  sqlite3_free(f);
}
#else
typedef int zt_remote_file_is_left_out;   /* A file of C has a declaration */
#endif
