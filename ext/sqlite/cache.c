/* Opened containers of one connection. See cache.h. */
#include "sqlite/cache.h"

#include "core/host.h"

#define BUCKETS 1024   /* A power of two */

typedef struct entry {
  zt_identity id;                  /* The container's */
  zt_container *container;         /* With a reference */
  size_t bytes;
  struct entry *next;              /* In its bucket */
  struct entry *newer, *older;     /* By last use */
} entry;

struct zt_cache {
  entry *buckets[BUCKETS];
  entry *newest, *oldest;
  size_t bytes, limit, n;
  zt_interrupt interrupt;
};

zt_cache *zt_cache_new(size_t bytes, zt_interrupt interrupt){
  zt_cache *c = sqlite3_malloc64(sizeof(*c));
  if( c ) *c = (zt_cache){ .limit = bytes, .interrupt = interrupt };
  return c;
}

static entry **bucket_of(zt_cache *c, const zt_identity *id){
  return &c->buckets[(id->inode ^ id->inode>>10 ^ id->device) & (BUCKETS-1)];
}

static void unlink_use(zt_cache *c, entry *e){
  if( e->newer ) e->newer->older = e->older;
  else c->newest = e->older;
  if( e->older ) e->older->newer = e->newer;
  else c->oldest = e->newer;
  e->newer = e->older = NULL;
}

static void link_newest(zt_cache *c, entry *e){
  e->older = c->newest;
  if( c->newest ) c->newest->newer = e;
  else c->oldest = e;
  c->newest = e;
}

static void drop(zt_cache *c, entry *e){
  entry **pp = bucket_of(c, &e->id);
  while( *pp!=e ) pp = &(*pp)->next;
  *pp = e->next;
  unlink_use(c, e);
  c->bytes -= e->bytes;
  c->n--;
  zt_container_close(e->container);
  sqlite3_free(e);
}

void zt_cache_free(zt_cache *c){
  if( !c ) return;
  while( c->newest ) drop(c, c->newest);
  sqlite3_free(c);
}

static bool same(const zt_identity *a, const zt_identity *b){
  return a->inode==b->inode && a->device==b->device && a->size==b->size && a->mtime==b->mtime && a->ctime==b->ctime;
}

/* The container of a file in this state, which becomes the newest; NULL if there is none. An older state of the same file
** is dropped. */
static zt_container *find(zt_cache *c, const zt_identity *id){
  for(entry *e=*bucket_of(c, id); e; e=e->next){
    if( e->id.inode!=id->inode || e->id.device!=id->device ) continue;
    if( !same(&e->id, id) ){
      drop(c, e);
      return NULL;
    }
    if( c->newest!=e ){
      unlink_use(c, e);
      link_newest(c, e);
    }
    return e->container;
  }
  return NULL;
}

/* Keep a container. Without memory for that it is just not kept. */
static void keep(zt_cache *c, zt_container *container){
  entry **bucket = bucket_of(c, zt_container_identity(container));
  entry *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return;
  *e = (entry){ .id = *zt_container_identity(container), .container = zt_container_ref(container), .bytes = zt_container_memory(container), .next = *bucket };
  *bucket = e;
  link_newest(c, e);
  c->bytes += e->bytes;
  c->n++;
  while( c->bytes>c->limit && c->oldest!=e ) drop(c, c->oldest);
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
    if( state->kind==ZT_KIND_FILE && state->id.inode ) found = find(c, &state->id);
  }
  if( !found ){
    if( zt_source_open(path, state, &opened, err) ) return err->rc;
    settled = zt_os_settled(zt_source_identity(opened));
    found = find(c, zt_source_identity(opened));
    if( !found ){
      if( zt_container_open(opened, &c->interrupt, out, err) ){
        zt_source_explain(opened, err);
        goto end;
      }
      if( zt_source_unchanged(opened, err) ) goto end;
      if( settled && (!scan || c->bytes+zt_container_memory(*out)<=c->limit/ZT_CACHE_SCAN) ) keep(c, *out);
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

size_t zt_cache_bytes(const zt_cache *c){ return c->bytes; }
size_t zt_cache_entries(const zt_cache *c){ return c->n; }
