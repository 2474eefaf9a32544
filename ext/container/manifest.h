/*
** What drivers share whose manifest is one CBOR item: reading it, and the steps through its values.
** Interface to code in manifest.c.
**
** Byte strings are bytes; undefined and unassigned simple values null (RFC 8949 section 6.1);
** bignums (tags 2 and 3) of at most ZT_BIGNUM_MAX bytes integers; other tags are dropped. A key may
** be of any type; JSON quoted within JSON would double with every level of keys in keys: from the
** second level on, those that are arrays, maps or tagged are the bytes of their CBOR.
*/
#ifndef ZT_CONTAINER_MANIFEST_H
#define ZT_CONTAINER_MANIFEST_H

#include "container/builder.h"
#include "core/cbor.h"

/* Check all of the manifest, at whose first byte cbor stands, and add what is in it. Nothing is
** added so far, also when it is called again with strings in chunks joined. Failures are
** in cbor->err. */
typedef void zt_manifest_check(zt_builder *b, zt_cbor *cbor, const void *context);

/* Read the manifest, which is the n bytes at offset, and check it. If strings in chunks were met,
** they are joined and all is checked again: what was found wrong may be a consequence of not
** knowing them. No bytes are none, and not checked. */
int zt_manifest_open(zt_builder *b, uint64_t offset, uint64_t n, zt_manifest_check *check,
                     const void *context);

/* Decode from the manifest, which was checked, at a position depth levels deep. */
ZT_INLINE void zt_manifest_decode(const zt_container *c, size_t at, int depth, zt_cbor *out){
  zt_cbor_init_trusted(out, zt_container_kept(c), at, depth, out->err);
}

/* Position of a byte of the manifest. */
static inline size_t zt_manifest_position(const zt_container *c, const uint8_t *p){
  return (size_t)(p - c->kept.p);
}

/* The map at a position. `kind` is 0, or bits from ZT_MANIFEST_OWN on that are the driver's own:
** they come back in the level of who walks that map, and in none below. */
zt_value zt_manifest_map(size_t at, uint32_t kind);
#define ZT_MANIFEST_OWN 0x100u

/* The steps (driver.h). */
void zt_manifest_enter(zt_walk *w, const zt_value *of, zt_level *level);
bool zt_manifest_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);
void zt_manifest_skip(zt_walk *w, const zt_value *value);
extern const zt_steps zt_manifest_steps;

#endif
