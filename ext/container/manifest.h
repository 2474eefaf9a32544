/*
** Manifests that are one CBOR item: reading them, and walks through their values. Interface to code
** in manifest.c, for drivers.
**
** Byte strings become bytes; undefined and unassigned simple values become null (RFC 8949 section
** 6.1); bignums (tags 2 and 3) of at most ZT_BIGNUM_MAX bytes become integers; other tags are
** dropped. A key may be of any type. JSON quoted within JSON would double with every level of keys
** in keys; therefore from the second level on, keys that are arrays, maps or tagged become the
** bytes of their CBOR.
*/
#ifndef ZT_CONTAINER_MANIFEST_H
#define ZT_CONTAINER_MANIFEST_H

#include "container/builder.h"
#include "core/cbor.h"

/* Check the whole manifest, at whose first byte cbor stands, and add its objects. Nothing is added
** before a call, including the second call with joined chunks. Failures are recorded in
** cbor->err. */
typedef void zt_manifest_check(zt_builder *b, zt_cbor *cbor, const void *context);

/* Read the manifest, n bytes at offset, and check it. If it has strings in chunks, they are joined
** and all is checked again, because faults of the first check may result from the chunks. If n is
** 0, nothing is read or checked. */
int zt_manifest_open(zt_builder *b, uint64_t offset, uint64_t n, zt_manifest_check *check,
                     const void *context);

/* A decoder of the checked manifest at a position, depth levels deep. */
ZT_INLINE zt_cbor zt_manifest_decoder(const zt_container *c, size_t at, int depth, zt_error *err){
  zt_cbor cbor;
  zt_cbor_init_trusted(&cbor, zt_container_kept(c), at, depth, err);
  return cbor;
}

/* The position of a byte of the manifest. */
static inline size_t zt_manifest_position(const zt_container *c, const uint8_t *p){
  return (size_t)(p - c->kept.p);
}

/* Set the map at a position. `kind` is 0 or the driver's own bits from ZT_MANIFEST_OWN on, which a
** walk through that map finds in its level; the levels below do not have them. A result would be
** copied right after it was written, for which processors wait. */
void zt_manifest_set_map(zt_value *out, size_t at, uint32_t kind);
#define ZT_MANIFEST_OWN 0x100u

/* Read the next item as a value; of an array or map only its head. */
void zt_manifest_read(zt_cbor *c, zt_value *out);

/* The steps (driver.h). */
void zt_manifest_enter(zt_walk *w, const zt_value *of, zt_level *level);
bool zt_manifest_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);
void zt_manifest_skip(zt_walk *w, const zt_value *value);
extern const zt_steps zt_manifest_steps;

#endif
