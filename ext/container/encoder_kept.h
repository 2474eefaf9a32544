/*
** Objects of zTensor 1.2 and 2 that are kept: what the manifest says of them is copied byte for
** byte, fields without a meaning as well. Places of bytes and attributes alone are new. Interface
** to code in encoder_kept.c.
*/
#ifndef ZT_CONTAINER_ENCODER_KEPT_H
#define ZT_CONTAINER_ENCODER_KEPT_H

#include "container/encoder.h"
#include "container/schema.h"
#include "core/cbor_write.h"

/* Keys of a generation of manifests. */
typedef struct zt_encoder_entry {
  const char *components;        /* Of an object: the map of its components */
  const char *place;             /* Of a component: its offset, */
  bool range;                    /* or an array of offset and length */
} zt_encoder_entry;

/* Append the map of a kept object, at whose map in run->kept the decoder stands. */
void zt_encoder_put_kept(const zt_encoder_run *run, uint32_t object, zt_cbor map,
                         const zt_encoder_entry *entry, zt_cbor_out *out);

/* Append a key of the kept file's root map with its value. Nothing if there is none. */
void zt_encoder_put_kept_field(const zt_encoder_run *run, zt_text key, zt_cbor_out *out);

/* The fields of the kept file's root map that are not understood, in their order. They are put in
** between the others. */
typedef struct zt_encoder_unknown {
  const zt_schema *known;
  zt_cbor c;
  zt_cbor_level level;
  uint64_t n;                    /* Those that were not put yet */
} zt_encoder_unknown;

void zt_encoder_unknown_begin(const zt_encoder_run *run, const zt_schema *known, zt_error *err,
                              zt_encoder_unknown *out);

/* Append those that stand before a key in deterministic encoding; NULL: all that remain. */
void zt_encoder_put_unknown(zt_encoder_unknown *u, const char *before, zt_cbor_out *out);

/* True if an object, at whose map the decoder stands, or a component of it has a field that is not
** understood. *field: its key; z NULL: that is not text. */
bool zt_encoder_find_unknown(zt_cbor map, const zt_schemas *known, const char *components,
                             zt_text *field);

/* True if a component of a kept object is in a shard; or if none was, and no row has said that the
** table of shards goes. */
bool zt_encoder_keeps_shards(const zt_encoder_run *run);

/* zt_encoder.keeps for formats that keep everything. */
bool zt_encoder_keeps_all(const zt_container *c, uint32_t object, zt_component *component);

#endif
