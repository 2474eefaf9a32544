/* Parallel checks of objects. See segments.h. */
#include "container/segments.h"

/* Minimum bytes of a segment. Tests are built with fewer. */
#ifndef ZT_SEGMENT
# define ZT_SEGMENT ((size_t)1 << 20)
#endif
#define SEGMENTS_EACH 4          /* Per thread: they end at different times */
#define SEGMENTS_SEARCH 65536    /* Bytes in which to search for an object */

typedef struct segments_one {
  zt_task task;                  /* First */
  const zt_segments *of;
  const uint8_t *begin, *limit;  /* The first object's name, and the next segment's beginning */
  const uint8_t *end;            /* Behind the last sound object */
  uint32_t n;                    /* Number of sound objects */
  zt_container found;            /* The sound objects, and possibly a part of another */
} segments_one;

struct zt_segments {
  zt_tasks tasks;
  zt_cbor cbor;                  /* At the first object */
  zt_builder builder;
  zt_segments_check *check;
  uint64_t objects;              /* Estimated objects of a segment */
  uint32_t n, next;              /* Segments, and the first that is not yet passed */
  segments_one a[];
};

/* --- In other threads --- */

/* A container for objects alone, with the earlier settings of c. */
static zt_container segments_container(const zt_container *c){
  return (zt_container){
    .driver = c->driver, .file_size = c->file_size, .version = c->version, .rules = c->rules,
    .newer = c->newer, .begin = c->begin, .end = c->end, .gap = c->gap,
    .kept = { c->kept.p, c->kept.n, c->kept.capacity }, .manifest_offset = c->manifest_offset,
    .manifest_length = c->manifest_length, .names.short_first = c->names.short_first
  };
}

static void segments_clear(segments_one *s){
  zt_builder b = { .container = &s->found };
  zt_builder_clear(&b);
  s->n = 0;
}

static void segments_run(zt_task *task, const zt_interrupt *interrupt){
  segments_one *s = (segments_one*)task;
  const zt_segments *all = s->of;
  zt_error err = ZT_ERROR_NONE;
  zt_cbor c = all->cbor;
  zt_builder b = all->builder;
  c.p = s->begin;
  c.err = b.err = &err;
  zt_cbor_set_interrupt(&c, interrupt);
  b.container = &s->found;
  b.interrupt = interrupt;
  zt_builder_reserve(&b, all->objects, all->objects);
  while( c.p<s->limit && all->check(&c, &b) && !c.chunked ){
    s->end = c.p;
    s->n = s->found.objects.n;
  }
  zt_error_clear(&err);
}

/* --- Guesses --- */

/* Forget why a guess failed. An interrupt, which the host may report only once, goes to err. */
static void segments_forget(zt_error *guess, zt_error *err){
  if( guess->rc==SQLITE_INTERRUPT ) zt_fail_interrupt(err);
  zt_error_clear(guess);
}

/* Skip the name and the map of an object; false if there is something else. */
static bool segments_skip_object(zt_cbor *c, const uint8_t **map){
  zt_text name;
  if( !zt_cbor_text(c, &name) ) return false;
  *map = c->p;
  return zt_cbor_peek(c)==ZT_CBOR_MAP && zt_cbor_skip(c) && !c->chunked;
}

/* The first bytes of a map: its head and its first key, if that is a short text. */
static zt_span segments_beginning(const uint8_t *map){
  return (zt_span){ map, map[1]>>5==ZT_CBOR_TEXT && (map[1] & 31)<24 ? 2+(map[1] & 31u) : 2 };
}

/* The next map with these first bytes. */
static const uint8_t *segments_find(const uint8_t *p, size_t n, zt_span like){
  for(size_t i=0; i+like.n<=n; i++){
    const uint8_t *at = memchr(p+i, like.p[0], n-i-like.n+1);
    if( !at ) return NULL;
    if( memcmp(at, like.p, like.n)==0 ) return at;
    i = (size_t)(at-p);
  }
  return NULL;
}

/* The first name that seems to stand behind p; NULL: none is near. */
static const uint8_t *segments_guess(const zt_cbor *cbor, const uint8_t *p, zt_span like){
  const size_t remaining = (size_t)(cbor->end-p);
  zt_error guess = ZT_ERROR_NONE;
  zt_cbor c = *cbor;
  bool found;
  c.err = &guess;
  c.p = segments_find(p, remaining<SEGMENTS_SEARCH ? remaining : SEGMENTS_SEARCH, like);
  found = c.p && zt_cbor_skip(&c) && zt_cbor_peek(&c)==ZT_CBOR_TEXT;
  segments_forget(&guess, cbor->err);
  return found ? c.p : NULL;
}

/* Divide the bytes behind the first object into segments. */
static void segments_divide(zt_segments *s, uint32_t n, zt_span like){
  const uint8_t *const first = s->cbor.p;
  const size_t each = (size_t)(s->cbor.end-first)/n;
  for(uint32_t i=1; i<n && !s->cbor.err->rc; i++){
    const uint8_t *begin = segments_guess(&s->cbor, first+i*each, like);
    if( !begin || (s->n>0 && begin<=s->a[s->n-1].begin) ) continue;
    if( s->n>0 ) s->a[s->n-1].limit = begin;
    s->a[s->n++] = (segments_one){
      .task.run = segments_run, .of = s, .begin = begin, .limit = s->cbor.end,
      .found = segments_container(s->builder.container)
    };
  }
}

zt_segments *zt_segments_begin(const zt_cbor *cbor, zt_builder *b, zt_segments_check *check){
  zt_pool *pool = zt_source_pool(b->source);
  const size_t most = SEGMENTS_EACH*(size_t)zt_pool_threads(pool);
  const size_t wanted = (size_t)(cbor->end-cbor->p)/ZT_SEGMENT, n = wanted<most ? wanted : most;
  zt_error guess = ZT_ERROR_NONE;
  zt_cbor c = *cbor;
  const uint8_t *map = NULL;
  zt_segments *s;
  c.err = &guess;
  if( !pool || n<2 || !segments_skip_object(&c, &map) || map+1==c.p ){
    segments_forget(&guess, cbor->err);
    return NULL;
  }
  s = sqlite3_malloc64(sizeof(*s)+n*sizeof(*s->a));
  if( !s ) return NULL;
  *s = (zt_segments){ .tasks.pool = pool, .cbor = *cbor, .builder = *b, .check = check };
  s->objects = (uint64_t)(cbor->end-cbor->p)/n/(uint64_t)(c.p-cbor->p);
  segments_divide(s, (uint32_t)n, segments_beginning(map));
  for(uint32_t i=0; i<s->n; i++) zt_pool_add(&s->tasks, &s->a[i].task, false);
  return s;
}

/* --- Taking over --- */

/* Append all objects of a segment. False unless their names follow the earlier ones and every
** object in both containers has one component. */
static bool segments_append(const segments_one *s, zt_container *c){
  const zt_container *found = &s->found;
  if( found->single<s->n || zt_container_first(found, s->n)!=s->n ) return false;
  if( c->single!=c->objects.n || c->components.n!=c->single ) return false;
  if( !zt_u32_array_room(&c->objects, s->n) || !zt_u32_array_room(&c->components, s->n)
   || !zt_keys_append(&c->names, c->kept.p, &found->names, s->n) ) return false;
  zt_u32_array_append(&c->objects, found->objects.a, s->n);
  zt_u32_array_append(&c->components, found->components.a, s->n);
  c->single += s->n;
  return true;
}

/* Add the objects of a segment one by one. */
static bool segments_add(const segments_one *s, zt_cbor *cbor, zt_builder *b, bool *duplicate){
  const zt_container *found = &s->found;
  for(uint32_t i=0; i<s->n; i++){
    const zt_text name = zt_keys_text(&found->names, found->kept.p, i);
    if( zt_builder_object(b, name, found->objects.a[i], duplicate) ) return false;
    if( *duplicate ){
      cbor->err->object = name;
      cbor->p = found->kept.p+found->objects.a[i];
      return true;
    }
    for(uint32_t k=zt_container_first(found, i); k<zt_container_first(found, i+1); k++){
      if( zt_builder_component(b, found->components.a[k]) ) return false;
    }
  }
  cbor->p = s->end;
  return true;
}

bool zt_segments_take(zt_segments *s, zt_cbor *cbor, zt_builder *b, uint64_t *remaining,
                      bool *duplicate){
  segments_one *one;
  bool added;
  *duplicate = false;
  while( s->next<s->n && s->a[s->next].begin<cbor->p ) s->next++;
  one = &s->a[s->next];
  if( s->next==s->n || one->begin!=cbor->p ) return false;
  s->next++;
  if( zt_pool_wait(&s->tasks, &one->task, b->interrupt, cbor->err) ) return false;
  if( one->n==0 || one->n-1>*remaining ) return false;
  *remaining -= one->n-1;
  added = segments_append(one, b->container);
  if( added ) cbor->p = one->end;
  else added = segments_add(one, cbor, b, duplicate);
  segments_clear(one);
  return added;
}

void zt_segments_end(zt_segments *s){
  if( !s ) return;
  zt_pool_abandon(&s->tasks);
  for(uint32_t i=0; i<s->n; i++) segments_clear(&s->a[i]);
  sqlite3_free(s);
}
