/* Opened containers of one connection. See cache.h. */
#include "sqlite/cache.h"

#include "core/freelist.h"
#include "core/host.h"
#include "core/thread.h"

#define CACHE_BUCKETS 1024   /* A power of two */
#define CACHE_EMPTIED 64     /* Most emptied containers: as many as may be opened ahead */
#define CACHE_LARGE ((size_t)1 << 20)   /* A container of this size takes long to read again */
#define CACHE_DROPPED 4096   /* A power of two */

typedef struct cache_entry {
  zt_identity id;                      /* The container's */
  zt_container *container;             /* With a reference */
  size_t bytes;
  uint64_t used;                       /* The period (below) of its last use */
  struct cache_entry *next;            /* In its bucket */
  struct cache_entry *newer, *older;   /* By last use, in its queue */
  struct cache_queue *queue;
} cache_entry;

/* Entries by last use. */
typedef struct cache_queue {
  cache_entry *newest, *oldest;
  size_t bytes, limit;
} cache_queue;

struct zt_cache {
  cache_entry *buckets[CACHE_BUCKETS];
  cache_queue asked;               /* Large containers, and those requested by path repeatedly */
  cache_queue fresh;               /* Those requested once: a statement may request any number. Its
                                   ** limit is all, but a quarter while statements run that have
                                   ** not come back to what was evicted: memory that was just used
                                   ** is faster than fresh memory */
  cache_queue passed;              /* Those opened by scans over many files, which evict nothing
                                   ** from the other queues */
  unsigned cursors;                /* Open cursors */
  uint64_t period;                 /* Incremented when the first of them opens */
  zt_monitor *monitor;             /* Guards entries and queues: several threads may open files.
                                   ** Owned */
  zt_container *emptied[CACHE_EMPTIED];   /* Memory of evicted containers, for the next ones */
  unsigned nEmptied;
  zt_freelist entries;             /* Memory for entries */
  zt_container_guess guess;        /* From the last kept container */
  uint64_t *dropped;               /* CACHE_DROPPED hashes of what the running statements evicted
                                   ** from `fresh`, each at its place; owned. NULL: none */
  bool missed;                     /* The last requested container was not cached */
  bool evicted;                    /* Keeping the last one evicted another, whose memory serves */
};

zt_cache *zt_cache_new(void){
  zt_cache *c = sqlite3_malloc64(sizeof(*c));
  if( c ){
    *c = (zt_cache){
      .monitor = zt_monitor_new(), .asked.limit = ZT_CACHE_HELD,
      .fresh.limit = ZT_CACHE_BYTES, .passed.limit = ZT_CACHE_BYTES/ZT_CACHE_SCAN
    };
  }
  if( c && !c->monitor ){
    sqlite3_free(c);
    c = NULL;
  }
  return c;
}

/* --- Entries and queues --- */

static cache_entry **cache_bucket_of(zt_cache *c, const zt_identity *id){
  return &c->buckets[(id->inode ^ id->inode>>10 ^ id->device) & (CACHE_BUCKETS-1)];
}

static void cache_unlink_use(cache_entry *e){
  cache_queue *q = e->queue;
  if( e->newer ) e->newer->older = e->older;
  else q->newest = e->older;
  if( e->older ) e->older->newer = e->newer;
  else q->oldest = e->newer;
  e->newer = e->older = NULL;
  q->bytes -= e->bytes;
}

static void cache_link_newest(zt_cache *c, cache_queue *q, cache_entry *e){
  e->queue = q;
  e->used = c->period;
  e->older = q->newest;
  if( q->newest ) q->newest->newer = e;
  else q->oldest = e;
  q->newest = e;
  q->bytes += e->bytes;
}

/* --- Recycling --- */

/* Keep an emptied container for reuse. It may be NULL. */
static void cache_put_emptied(zt_cache *c, zt_container *emptied){
  if( c->nEmptied<CACHE_EMPTIED && emptied ) c->emptied[c->nEmptied++] = emptied;
  else zt_container_close(emptied);
}

/* Release the cache's reference, which is the last one. While statements run, some memory is kept
** for the next containers. */
static void cache_close(zt_cache *c, zt_container *container){
  c->evicted = true;
  if( c->cursors>0 && c->nEmptied<CACHE_EMPTIED ){
    cache_put_emptied(c, zt_container_empty(container));
  }else{
    zt_container_close(container);
  }
}

/* --- Evicting --- */

static void cache_drop(zt_cache *c, cache_entry *e){
  cache_entry **pp = cache_bucket_of(c, &e->id);
  while( *pp!=e ) pp = &(*pp)->next;
  *pp = e->next;
  cache_unlink_use(e);
  cache_close(c, e->container);
  zt_freelist_give(&c->entries, e);
}

/* --- What comes back --- */

/* Never 0, which is an empty place. */
static uint64_t cache_hash(const zt_identity *id){
  uint64_t h = (uint64_t)id->inode ^ (uint64_t)id->mtime;
  h = (h ^ (uint64_t)id->device)*0x9E3779B97F4A7C15u;
  return (h ^ h>>32) | 1;
}

static void cache_remember_dropped(zt_cache *c, const zt_identity *id){
  const uint64_t hash = cache_hash(id);
  if( !c->dropped ){
    c->dropped = sqlite3_malloc64(CACHE_DROPPED*sizeof(*c->dropped));
    if( !c->dropped ) return;
    memset(c->dropped, 0, CACHE_DROPPED*sizeof(*c->dropped));
  }
  c->dropped[hash/2 & (CACHE_DROPPED-1)] = hash;
}

static bool cache_was_dropped(const zt_cache *c, const zt_identity *id){
  const uint64_t hash = cache_hash(id);
  return c->dropped && c->dropped[hash/2 & (CACHE_DROPPED-1)]==hash;
}

/* --- Evicting from a queue --- */

/* Evict from a queue. A container in use stays: dropping it would free nothing, and another request
** for it would open it again. */
static void cache_make_room(zt_cache *c, cache_queue *q, size_t limit){
  cache_entry *newer;
  for(cache_entry *e=q->oldest; e && e!=q->newest && q->bytes>limit; e=newer){
    newer = e->newer;
    if( zt_container_is_shared(e->container) ) continue;
    if( q==&c->fresh && c->cursors>0 ) cache_remember_dropped(c, &e->id);
    cache_drop(c, e);
  }
}

/* Evict from the queue of scans: first the entries of earlier statements, then the most recent
** ones. A scan larger than the queue then finds its first files when it runs again. Until then, it
** opens file after file in memory that is still in the processor's cache. */
static void cache_make_room_passed(zt_cache *c){
  cache_queue *q = &c->passed;
  cache_entry *older;
  while( q->bytes>q->limit && q->oldest!=q->newest && q->oldest->used!=c->period
      && !zt_container_is_shared(q->oldest->container) ) cache_drop(c, q->oldest);
  for(cache_entry *e=q->newest->older; e && q->bytes>q->limit; e=older){
    older = e->older;
    if( !zt_container_is_shared(e->container) ) cache_drop(c, e);
  }
}

/* --- Statements --- */

void zt_cache_hold(zt_cache *c){
  zt_monitor_enter(c->monitor);
  if( c->cursors++==0 ){
    c->period++;
    c->fresh.limit = ZT_CACHE_BYTES/ZT_CACHE_SCAN;
  }
  zt_monitor_leave(c->monitor);
}

void zt_cache_release(zt_cache *c){
  zt_monitor_enter(c->monitor);
  if( --c->cursors==0 ){
    while( c->nEmptied>0 ) zt_container_close(c->emptied[--c->nEmptied]);
    cache_make_room(c, &c->fresh, ZT_CACHE_BYTES/ZT_CACHE_SCAN);
    cache_make_room(c, &c->asked, ZT_CACHE_BYTES-2*(ZT_CACHE_BYTES/ZT_CACHE_SCAN));
    sqlite3_free(c->dropped);
    c->dropped = NULL;
    c->fresh.limit = ZT_CACHE_BYTES;   /* Functions do not say when their statement ends */
    c->evicted = false;
  }
  zt_monitor_leave(c->monitor);
}

void zt_cache_free(zt_cache *c){
  if( !c ) return;
  while( c->asked.newest ) cache_drop(c, c->asked.newest);
  while( c->fresh.newest ) cache_drop(c, c->fresh.newest);
  while( c->passed.newest ) cache_drop(c, c->passed.newest);
  zt_freelist_clear(&c->entries);
  sqlite3_free(c->dropped);
  zt_monitor_free(c->monitor);
  sqlite3_free(c);
}

/* --- Finding --- */

static bool cache_same(const zt_identity *a, const zt_identity *b){
  return a->inode==b->inode && a->device==b->device && a->size==b->size && a->mtime==b->mtime
      && a->ctime==b->ctime && a->tag==b->tag;
}

/* The container of a file in this state, which becomes the newest; NULL if there is none. An entry
** is dropped if it has an older state of the file, or if this path would give its object another
** name. A request by path moves an entry that a scan opened to `asked`. */
static zt_container *cache_find(zt_cache *c, const char *path, const zt_identity *id, bool scan){
  cache_entry *e = *cache_bucket_of(c, id);
  cache_queue *q;
  while( e && (e->id.inode!=id->inode || e->id.device!=id->device) ) e = e->next;
  if( !e ) return NULL;
  if( !cache_same(&e->id, id) || !zt_container_fits(e->container, path) ){
    cache_drop(c, e);
    return NULL;
  }
  q = scan ? e->queue : &c->asked;
  cache_unlink_use(e);
  cache_link_newest(c, q, e);
  if( q==&c->asked ) cache_make_room(c, q, q->limit);
  return e->container;
}

zt_container *zt_cache_find(zt_cache *c, const char *path, const zt_identity *id, bool scan,
                            zt_cache_help *help){
  zt_container *found;
  zt_monitor_enter(c->monitor);
  found = cache_find(c, path, id, scan);
  c->missed = !found;
  if( !found && !scan && cache_was_dropped(c, id) ) c->fresh.limit = ZT_CACHE_BYTES;
  if( found ) zt_container_ref(found);
  else if( help ){
    *help = (zt_cache_help){ c->nEmptied>0 ? c->emptied[--c->nEmptied] : NULL, c->guess };
  }
  zt_monitor_leave(c->monitor);
  return found;
}

/* --- Keeping --- */

static bool cache_has(zt_cache *c, const zt_identity *id){
  cache_entry *e = *cache_bucket_of(c, id);
  while( e && !cache_same(&e->id, id) ) e = e->next;
  return e!=NULL;
}

/* Keep a container. If memory is short, it is not kept. */
static void cache_keep(zt_cache *c, zt_container *container, bool scan){
  bool large = zt_container_memory(container)>=CACHE_LARGE;
  cache_queue *q = scan ? &c->passed : large ? &c->asked : &c->fresh;
  cache_entry **bucket = cache_bucket_of(c, zt_container_identity(container));
  cache_entry *e = zt_freelist_take(&c->entries, sizeof(*e));
  if( !e ) return;
  *e = (cache_entry){
    .id = *zt_container_identity(container), .container = zt_container_ref(container),
    .bytes = zt_container_memory(container), .next = *bucket
  };
  *bucket = e;
  cache_link_newest(c, q, e);
  if( scan ) cache_make_room_passed(c);
  else cache_make_room(c, q, q->limit);
}

void zt_cache_keep(zt_cache *c, zt_container *container, bool scan){
  zt_monitor_enter(c->monitor);
  c->guess = zt_container_like(container);
  c->evicted = false;
  /* Two threads may have opened the same file */
  if( !cache_has(c, zt_container_identity(container)) ) cache_keep(c, container, scan);
  zt_monitor_leave(c->monitor);
}

void zt_cache_prepare(zt_cache *c){
  zt_container *made = NULL;
  zt_container_guess guess;
  bool prepares;
  zt_monitor_enter(c->monitor);
  guess = c->guess;
  prepares = c->missed && !c->evicted && c->nEmptied<CACHE_EMPTIED;
  zt_monitor_leave(c->monitor);
  if( prepares ) made = zt_container_prepare(guess);
  if( !made ) return;
  zt_monitor_enter(c->monitor);
  cache_put_emptied(c, made);
  zt_monitor_leave(c->monitor);
}
