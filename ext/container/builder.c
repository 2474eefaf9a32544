/* Containers under construction. See builder.h. */
#include "container/builder.h"

#include "core/os.h"

#define BUILDER_PIECE ((size_t)16 << 20)   /* Bytes of a manifest per read */
#define BUILDER_POLL_OBJECTS 65536u
#define BUILDER_KEPT_MAX (UINT32_MAX - 1)  /* Positions have 32 bits */

/* Set the kept bytes' capacity. A version inside them moves with them. */
static uint8_t *builder_resize(zt_container *c, size_t capacity){
  const uintptr_t from = (uintptr_t)c->kept.p, version = (uintptr_t)c->version.z;
  const bool moves = c->version.z && version>=from && version-from<c->kept.n;
  uint8_t *p = sqlite3_realloc64(c->kept.p, capacity);
  if( !p ) return NULL;
  if( moves ) c->version.z = (const char*)p+(version-from);
  c->kept.p = p;
  c->kept.capacity = capacity;
  return p;
}

/* Make room for n more kept bytes. The first read gets its exact size; appends grow
** geometrically. */
static int builder_reserve(zt_builder *b, uint64_t n){
  zt_container *c = b->container;
  const bool first = c->kept.n==0;
  uint64_t capacity = c->kept.n+n+1;
  if( n>BUILDER_KEPT_MAX-c->kept.n ) return zt_fail(b->err, SQLITE_TOOBIG, "too much metadata");
  if( c->kept.p && capacity<=c->kept.capacity ) return SQLITE_OK;
  if( !first && capacity<c->kept.capacity+c->kept.capacity/2 ){
    capacity = c->kept.capacity+c->kept.capacity/2;
  }
  if( !builder_resize(c, (size_t)capacity) ) return zt_fail_nomem(b->err);
  /* Memory with advice on a part cannot grow without a copy */
  if( first ) zt_os_advise_large(c->kept.p, (size_t)capacity);
  return SQLITE_OK;
}

int zt_builder_prefetch(zt_builder *b, uint64_t offset, size_t n){
  zt_container *c = b->container;
  assert( c->kept.n==0 );
  if( builder_reserve(b, n) || zt_source_read(b->source, offset, c->kept.p, n, b->err) ){
    return b->err->rc;
  }
  b->prefetched = offset;
  b->nPrefetched = n;
  return SQLITE_OK;
}

/* As zt_source_read(), to the end of the kept bytes, where prefetched bytes may already be. */
static int builder_fetch(zt_builder *b, uint64_t offset, size_t n){
  zt_container *c = b->container;
  uint8_t *p = c->kept.p+c->kept.n;
  if( offset>=b->prefetched && zt_claim(b->nPrefetched, offset-b->prefetched, n) ){
    b->nPrefetched -= (size_t)(offset-b->prefetched);
    if( offset>b->prefetched ) memmove(p, p+(offset-b->prefetched), b->nPrefetched);
    b->nPrefetched -= n;
    b->prefetched = offset+n;
    return SQLITE_OK;
  }
  b->nPrefetched = 0;
  return zt_source_read(b->source, offset, p, n, b->err);
}

int zt_builder_read(zt_builder *b, uint64_t offset, uint64_t n){
  zt_container *c = b->container;
  assert( zt_claim(c->file_size, offset, n) );
  assert( c->kept.n==0 || c->manifest_offset+c->manifest_length==offset );
  assert( c->kept.n==c->manifest_length );   /* So prefetched bytes are intact */
  /* A server may claim any size: memory for its bytes grows as they come */
  if( !zt_source_is_remote(b->source) && builder_reserve(b, n) ) return b->err->rc;
  if( c->kept.n==0 ) c->manifest_offset = offset;
  c->from_file = true;
  while( n>0 ){
    size_t piece = n<BUILDER_PIECE ? (size_t)n : BUILDER_PIECE;
    if( c->kept.n>0 && zt_interrupt_check(b->interrupt, b->err) ) return b->err->rc;
    if( builder_reserve(b, piece) || builder_fetch(b, offset, piece) ) return b->err->rc;
    offset += piece;
    n -= piece;
    c->kept.n += piece;
    c->manifest_length += piece;
  }
  return SQLITE_OK;
}

void zt_builder_cut(zt_builder *b, size_t n){
  assert( n<=b->container->kept.n );
  b->container->kept.n = n;
  b->container->manifest_length = n;
}

int zt_builder_room(zt_builder *b, size_t n, uint32_t *at){
  zt_container *c = b->container;
  const int rc = builder_reserve(b, n);
  if( rc ) return rc;
  *at = (uint32_t)c->kept.n;
  c->kept.n += n;
  return SQLITE_OK;
}

int zt_builder_keep(zt_builder *b, const void *p, size_t n, uint32_t *at){
  const int rc = zt_builder_room(b, n, at);
  if( rc ) return rc;
  if( p && n ) memcpy(b->container->kept.p+*at, p, n);
  else memset(b->container->kept.p+*at, 0, n);
  return SQLITE_OK;
}

void zt_builder_reserve_kept(zt_builder *b, uint64_t n){
  zt_container *c = b->container;
  if( n>c->kept.capacity && n<BUILDER_KEPT_MAX ) builder_resize(c, (size_t)n);
}

void zt_builder_reserve(zt_builder *b, uint64_t objects, uint64_t components){
  zt_keys_reserve(&b->container->names, objects);
  zt_u32_array_reserve(&b->container->objects, objects);
  if( components!=objects ) zt_u32_array_reserve(&b->container->first, objects);
  zt_u32_array_reserve(&b->container->components, components);
}

int zt_builder_shard(zt_builder *b, zt_text name, size_t number, bool *duplicate){
  zt_container *c = b->container;
  if( zt_keys_add(&c->shard_names, c->kept.p, zt_builder_key(c, name), duplicate, b->err)
   || *duplicate ) return b->err->rc;
  return zt_u32_array_push(&c->shards, number, b->err);
}

int zt_builder_note(zt_builder *b, uint32_t object, const char *rule, const char *fault){
  zt_note note;
  uint32_t at, behind;
  if( b->container->notes.n==ZT_NOTES_MAX ) return SQLITE_OK;
  memset(&note, 0, sizeof(note));   /* Its padding is kept, too */
  note.object = object;
  note.rule = rule;
  if( zt_builder_keep(b, &note, sizeof(note), &at)
   || zt_builder_keep(b, fault, strlen(fault)+1, &behind) ) return b->err->rc;
  return zt_u32_array_push(&b->container->notes, at, b->err);
}

int zt_builder_note_file(zt_builder *b, const char *rule, const char *format, ...){
  va_list arguments;
  char *fault;
  va_start(arguments, format);
  fault = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  if( !fault ) return zt_fail_nomem(b->err);
  zt_builder_note(b, ZT_NOTE_OF_FILE, rule, fault);
  sqlite3_free(fault);
  return b->err->rc;
}

int zt_builder_location(zt_builder *b, zt_text location, bool sound, uint32_t *at){
  const zt_container *c = b->container;
  const int64_t known = zt_keys_find(&c->shard_names, c->kept.p, location);
  bool duplicate;
  if( known>=0 ){
    *at = c->shard_names.a[known].at;
    return SQLITE_OK;
  }
  if( zt_builder_keep(b, location.z, location.n, at) || !sound ) return b->err->rc;
  return zt_builder_shard(b, (zt_text){ (const char*)c->kept.p+*at, location.n }, 0, &duplicate);
}

/* Move objects along the cycles of the permutation. */
int zt_builder_reorder(zt_builder *b, uint32_t *order){
  zt_container *c = b->container;
  assert( c->components.n==c->objects.n );
  for(uint32_t i=0; i<c->objects.n; i++){
    const zt_key name = c->names.a[i];
    const uint32_t object = c->objects.a[i], component = c->components.a[i];
    uint32_t k = i, next;
    for(; (next = order[k])!=i; k=next){
      c->names.a[k] = c->names.a[next];
      c->objects.a[k] = c->objects.a[next];
      c->components.a[k] = c->components.a[next];
      order[k] = k;
    }
    c->names.a[k] = name;
    c->objects.a[k] = object;
    c->components.a[k] = component;
    order[k] = k;
    if( i%BUILDER_POLL_OBJECTS==0 && zt_interrupt_check(b->interrupt, b->err) ) return b->err->rc;
  }
  return zt_keys_reordered(&c->names, c->kept.p, b->err);
}

void zt_builder_clear(zt_builder *b){
  zt_container *c = b->container;
  zt_keys_clear(&c->names);
  zt_u32_array_clear(&c->objects);
  c->single = 0;
  zt_u32_array_clear(&c->first);
  zt_u32_array_clear(&c->components);
  zt_keys_clear(&c->shard_names);
  zt_u32_array_clear(&c->shards);
  zt_u32_array_clear(&c->notes);
}

void zt_builder_trim(zt_builder *b){
  zt_container *c = b->container;
  if( c->kept.capacity>c->kept.n+1 ) builder_resize(c, c->kept.n+1);
  zt_keys_trim(&c->names);
  zt_u32_array_trim(&c->objects);
  zt_u32_array_trim(&c->first);
  zt_u32_array_trim(&c->components);
  zt_keys_trim(&c->shard_names);
  zt_u32_array_trim(&c->shards);
}
