/*
** A container in the making: what the driver's open() hands objects and components to. It owns the
** only arrays that grow. Interface to code in builder.c, for drivers.
*/
#ifndef ZT_CONTAINER_BUILDER_H
#define ZT_CONTAINER_BUILDER_H

#include <assert.h>
#include "container/driver.h"

/*
** The metadata's bytes are read into the kept bytes, in which drivers count positions; what
** decoding a row needs beside them, unescaped names for instance, is appended. The builder
** remembers one 32-bit number of each object and of each component, which is the driver's own: a
** position in the kept bytes. Kept bytes move when they grow: hold positions, not pointers,
** meanwhile.
*/
struct zt_builder {
  zt_source *source;
  zt_container *container;
  const zt_interrupt *interrupt;   /* May be NULL */
  zt_error *err;                   /* Of every failure */
  uint64_t prefetched;             /* What the kept bytes' memory holds of the source beyond them,
                                   ** or before there are any: from there on */
  size_t nPrefetched;              /* so many bytes */
};

/* Read n bytes of the source, from offset on, to where zt_builder_read() may find them: as long as
** nothing is kept. */
int zt_builder_prefetch(zt_builder *b, uint64_t offset, size_t n);

/* Read n bytes of the source, from offset on, into the kept bytes, asking between pieces whether to
** go on. They are the manifest. Called again with the bytes that follow, it appends those; nothing
** else may be kept in between. Bounds are the driver's to check, against the size and some limit
** (ZT_MAX_MANIFEST), before this allocates. */
int zt_builder_read(zt_builder *b, uint64_t offset, uint64_t n);

/* The manifest ends after n of the bytes that were read. */
void zt_builder_cut(zt_builder *b, size_t n);

/* Append n bytes to the kept ones; *at is where they are. p NULL: they are zero, and the
** caller's to write. */
int zt_builder_keep(zt_builder *b, const void *p, size_t n, uint32_t *at);

/* Make room for as many as are announced, or for n kept bytes; an estimate alone: no failure if
** memory is short. */
void zt_builder_reserve_kept(zt_builder *b, uint64_t n);
void zt_builder_reserve(zt_builder *b, uint64_t objects, uint64_t components);

/* A new object, whose name lies in the kept bytes; components that are added next are its own.
** *duplicate: an object has that name already, and nothing was added. */
static inline int zt_builder_object(zt_builder *b, zt_text name, size_t number, bool *duplicate);

/* A new component of the last object. */
static inline int zt_builder_component(zt_builder *b, size_t number);

/* A new shard, likewise. */
int zt_builder_shard(zt_builder *b, zt_text name, size_t number, bool *duplicate);

/* Put all objects, of which each has one component, in another order: number order[i] becomes
** number i. What order holds afterwards is of no use. */
int zt_builder_reorder(zt_builder *b, uint32_t *order);

/* Forget all objects, components and shards. */
void zt_builder_clear(zt_builder *b);

/* Give back memory that was allocated ahead: when all is added. */
void zt_builder_trim(zt_builder *b);

/* --- In line: once for each of a million objects --- */

/* A name in the kept bytes; the empty one may be anywhere. */
ZT_INLINE zt_key zt_builder_key(const zt_container *c, zt_text name){
  size_t at = name.n ? (size_t)((const uint8_t*)name.z - c->kept.p) : 0;
  assert( zt_claim(c->kept.n, at, name.n) );
  return (zt_key){ (uint32_t)at, (uint32_t)name.n };
}

ZT_INLINE int zt_builder_object(zt_builder *b, zt_text name, size_t number, bool *duplicate){
  zt_container *c = b->container;
  if( zt_keys_add(&c->names, c->kept.p, zt_builder_key(c, name), duplicate, b->err)
   || *duplicate || zt_u32_array_push(&c->objects, number, b->err) ) return b->err->rc;
  if( c->single+1==c->objects.n && c->components.n==c->single ){
    c->single++;
    return SQLITE_OK;
  }
  return zt_u32_array_push(&c->first, c->components.n, b->err);
}

ZT_INLINE int zt_builder_component(zt_builder *b, size_t number){
  return zt_u32_array_push(&b->container->components, number, b->err);
}

#endif
