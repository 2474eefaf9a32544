/*
** A container under construction, to which the driver's open() adds objects and components. It owns
** the only growing arrays. Interface to code in builder.c, for drivers.
*/
#ifndef ZT_CONTAINER_BUILDER_H
#define ZT_CONTAINER_BUILDER_H

#include <assert.h>
#include "container/driver.h"

/*
** The metadata's bytes are read into the kept bytes, and drivers count positions in these. Other
** data that decoding needs, such as unescaped names, are appended. The builder stores one 32-bit
** number for each object and component, which the driver chooses: usually a position in the kept
** bytes. Kept bytes move when they grow: hold positions across such calls, not pointers.
*/
struct zt_builder {
  zt_source *source;
  zt_container *container;
  const zt_interrupt *interrupt;   /* May be NULL */
  zt_error *err;                   /* Receives every failure */
  uint64_t prefetched;             /* Offset in the source of bytes prefetched behind the kept
                                   ** ones */
  size_t nPrefetched;              /* Number of prefetched bytes */
};

/* The most bytes that a driver keeps which makes its own metadata of a file of that size. */
#define ZT_METADATA_LEAST ((uint64_t)1 << 20)      /* Of a small file, */
#define ZT_METADATA_TIMES 32                       /* and times the size of a large one */
static inline uint64_t zt_builder_most(uint64_t size){
  const uint64_t most = ZT_METADATA_LEAST+size*ZT_METADATA_TIMES;
  return size>ZT_MAX_MANIFEST/ZT_METADATA_TIMES || most>ZT_MAX_MANIFEST ? ZT_MAX_MANIFEST : most;
}

/* Prefetch n bytes of the source from offset on, for zt_builder_read(). Nothing may be kept yet. */
int zt_builder_prefetch(zt_builder *b, uint64_t offset, size_t n);

/* Append n bytes of the source from offset on to the kept bytes, and check for an interrupt between
** pieces. They are the manifest; later calls must continue it, and nothing else may be kept in
** between. The driver must first check bounds against the size and a limit (ZT_MAX_MANIFEST),
** because this allocates. */
int zt_builder_read(zt_builder *b, uint64_t offset, uint64_t n);

/* End the manifest after the first n bytes that were read. */
void zt_builder_cut(zt_builder *b, size_t n);

/* Append n bytes to the kept ones; *at is their position. p NULL: they are zero, for the caller to
** write. */
int zt_builder_keep(zt_builder *b, const void *p, size_t n, uint32_t *at);

/* The same, of bytes that the caller writes at once. */
int zt_builder_room(zt_builder *b, size_t n, uint32_t *at);

/* Make room for n kept bytes, or for an announced number of objects and components. These are
** hints: they do not fail if memory is short. */
void zt_builder_reserve_kept(zt_builder *b, uint64_t n);
void zt_builder_reserve(zt_builder *b, uint64_t objects, uint64_t components);

/* Add a shard, as zt_builder_object() below adds an object. */
int zt_builder_shard(zt_builder *b, zt_text name, size_t number, bool *duplicate);

/* Add a fault for zt_check. The object may be added later; the rule's number is static. */
int zt_builder_note(zt_builder *b, uint32_t object, const char *rule, const char *fault);

/* The same of the file, with a fault in the format of sqlite3_mprintf(). */
int zt_builder_note_file(zt_builder *b, const char *rule, const char *format, ...);

/* Keep the location of external data once: *at is its position in the kept bytes. sound: it has no
** fault, and is added as a shard. */
int zt_builder_location(zt_builder *b, zt_text location, bool sound, uint32_t *at);

/* Reorder objects with one component each: number order[i] becomes number i. Overwrites order. */
int zt_builder_reorder(zt_builder *b, uint32_t *order);

/* Remove all objects, components and shards. */
void zt_builder_clear(zt_builder *b);

/* Free memory that was allocated ahead, when all is added. */
void zt_builder_trim(zt_builder *b);

/* --- In line: called for each of a million objects --- */

/* The key of a name in the kept bytes; the empty name may be anywhere. */
ZT_INLINE zt_key zt_builder_key(const zt_container *c, zt_text name){
  size_t at = name.n ? (size_t)((const uint8_t*)name.z - c->kept.p) : 0;
  assert( zt_claim(c->kept.n, at, name.n) );
  return (zt_key){ (uint32_t)at, (uint32_t)name.n };
}

/* Add an object, whose name lies in the kept bytes; the next components belong to it. *duplicate:
** an object already has that name, and nothing was added. */
ZT_INLINE int zt_builder_object(zt_builder *b, zt_text name, size_t number, bool *duplicate){
  zt_container *c = b->container;
  const zt_key key = zt_builder_key(c, name);
  *duplicate = false;
  if( !zt_keys_add_last(&c->names, c->kept.p, key)
   && (zt_keys_add(&c->names, c->kept.p, key, duplicate, b->err) || *duplicate) ) return b->err->rc;
  if( zt_u32_array_push(&c->objects, number, b->err) ) return b->err->rc;
  if( c->single+1==c->objects.n && c->components.n==c->single ){
    c->single++;
    return SQLITE_OK;
  }
  return zt_u32_array_push(&c->first, c->components.n, b->err);
}

/* Add a component to the last object. */
ZT_INLINE int zt_builder_component(zt_builder *b, size_t number){
  return zt_u32_array_push(&b->container->components, number, b->err);
}

#endif
