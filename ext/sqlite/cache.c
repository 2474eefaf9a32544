/* Opened containers of one connection. See cache.h. */
#include "sqlite/cache.h"

#include "core/host.h"

#define BUCKETS 1024   /* A power of two */

typedef struct entry {
  zt_identity id;                  /* The container's */
  zt_container *container;         /* With a reference */
  size_t bytes;
  struct entry *next;              /* In its bucket */
  struct entry *newer, *older;     /* By last use, in its queue */
  struct queue *queue;
} entry;

/* Entries by last use. */
typedef struct queue {
  entry *newest, *oldest;
  size_t bytes, limit;
} queue;

struct zt_cache {
  entry *buckets[BUCKETS];
  queue asked;                     /* What was asked for by its path */
  queue passed;                    /* What scans over many files came by, so that they push nothing out of the other */
  size_t n;
  unsigned cursors;                /* That are open */
  zt_interrupt interrupt;
};

zt_cache *zt_cache_new(zt_interrupt interrupt){
  zt_cache *c = sqlite3_malloc64(sizeof(*c));
  if( c ) *c = (zt_cache){ .interrupt = interrupt, .asked.limit = ZT_CACHE_HELD, .passed.limit = ZT_CACHE_BYTES/ZT_CACHE_SCAN };
  return c;
}

static entry **bucket_of(zt_cache *c, const zt_identity *id){
  return &c->buckets[(id->inode ^ id->inode>>10 ^ id->device) & (BUCKETS-1)];
}

static void unlink_use(entry *e){
  queue *q = e->queue;
  if( e->newer ) e->newer->older = e->older;
  else q->newest = e->older;
  if( e->older ) e->older->newer = e->newer;
  else q->oldest = e->newer;
  e->newer = e->older = NULL;
  q->bytes -= e->bytes;
}

static void link_newest(queue *q, entry *e){
  e->queue = q;
  e->older = q->newest;
  if( q->newest ) q->newest->newer = e;
  else q->oldest = e;
  q->newest = e;
  q->bytes += e->bytes;
}

static void drop(zt_cache *c, entry *e){
  entry **pp = bucket_of(c, &e->id);
  while( *pp!=e ) pp = &(*pp)->next;
  *pp = e->next;
  unlink_use(e);
  c->n--;
  zt_container_close(e->container);
  sqlite3_free(e);
}

/* Make room in a queue. What a statement uses now stays: dropping it would free nothing, and somebody else who asks for it
** meanwhile would open it again. */
static void make_room(zt_cache *c, queue *q, size_t limit){
  entry *newer;
  for(entry *e=q->oldest; e && e!=q->newest && q->bytes>limit; e=newer){
    newer = e->newer;
    if( !zt_container_is_shared(e->container) ) drop(c, e);
  }
}

void zt_cache_hold(zt_cache *c){
  c->cursors++;
}

void zt_cache_release(zt_cache *c){
  if( --c->cursors==0 ) make_room(c, &c->asked, ZT_CACHE_BYTES-ZT_CACHE_BYTES/ZT_CACHE_SCAN);
}

void zt_cache_free(zt_cache *c){
  if( !c ) return;
  while( c->asked.newest ) drop(c, c->asked.newest);
  while( c->passed.newest ) drop(c, c->passed.newest);
  sqlite3_free(c);
}

static bool same(const zt_identity *a, const zt_identity *b){
  return a->inode==b->inode && a->device==b->device && a->size==b->size && a->mtime==b->mtime && a->ctime==b->ctime;
}

/* The container of a file in this state, which becomes the newest; NULL if there is none. An older state of the same file
** is dropped. What a scan came by is worth more once somebody asks for it. */
static zt_container *find(zt_cache *c, const zt_identity *id, bool scan){
  for(entry *e=*bucket_of(c, id); e; e=e->next){
    queue *q = scan ? e->queue : &c->asked;
    if( e->id.inode!=id->inode || e->id.device!=id->device ) continue;
    if( !same(&e->id, id) ){
      drop(c, e);
      return NULL;
    }
    if( q->newest!=e ){
      unlink_use(e);
      link_newest(q, e);
      make_room(c, q, q->limit);
    }
    return e->container;
  }
  return NULL;
}

/* Keep a container. Without memory for that it is just not kept. */
static void keep(zt_cache *c, zt_container *container, bool scan){
  queue *q = scan ? &c->passed : &c->asked;
  entry **bucket = bucket_of(c, zt_container_identity(container));
  entry *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return;
  *e = (entry){ .id = *zt_container_identity(container), .container = zt_container_ref(container), .bytes = zt_container_memory(container), .next = *bucket };
  *bucket = e;
  link_newest(q, e);
  c->n++;
  make_room(c, q, q->limit);
}

int zt_cache_open(zt_cache *c, const char *path, const zt_stat *state, bool scan, zt_container **out, zt_source **source,
                  zt_error *err){
  zt_container *found = NULL;
  zt_source *opened = NULL;
  zt_stat now;
  bool settled;
  *out = NULL;
  if( source ) *source = NULL;
  if( !source ){
    if( !state ){
      zt_os_stat(path, &now);   /* What is wrong, opening says */
      state = &now;
    }
    if( state->kind==ZT_KIND_FILE && state->id.inode ) found = find(c, &state->id, scan);
  }
  if( !found ){
    if( zt_source_open(path, state, &opened, err) ) return err->rc;
    settled = zt_os_settled(zt_source_identity(opened));
    found = find(c, zt_source_identity(opened), scan);
    if( !found ){
      if( zt_container_open(opened, &c->interrupt, out, err) ){
        zt_source_explain(opened, err);
        goto end;
      }
      if( zt_source_unchanged(opened, err) ) goto end;
      if( settled ) keep(c, *out, scan);
    }
  }
  if( found ) *out = zt_container_ref(found);
  if( source ){
    *source = opened;
    opened = NULL;
  }
end:
  if( err->rc ){
    zt_container_close(*out);
    *out = NULL;
  }
  zt_source_close(opened);
  return err->rc;
}

size_t zt_cache_bytes(const zt_cache *c){ return c->asked.bytes+c->passed.bytes; }
size_t zt_cache_entries(const zt_cache *c){ return c->n; }
