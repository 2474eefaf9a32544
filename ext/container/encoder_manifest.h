/* Parts of a manifest in deterministic CBOR that the encoders of zTensor 1.2 and 2 share. Interface
** to code in encoder_manifest.c. */
#ifndef ZT_CONTAINER_ENCODER_MANIFEST_H
#define ZT_CONTAINER_ENCODER_MANIFEST_H

#include "container/encoder.h"
#include "core/cbor_write.h"

/* The order of texts as keys, which is that of their encodings: shorter ones first. */
int zt_encoder_compare_keys(zt_text a, zt_text b);
int zt_encoder_compare_objects(const zt_draft *draft, uint32_t a, uint32_t b);

/* An object's components in some order of their roles, and their places in the draft. */
typedef struct zt_encoder_roles {
  zt_draft_component a[ZT_DRAFT_COMPONENTS];
  uint32_t place[ZT_DRAFT_COMPONENTS];
  uint32_t n;
} zt_encoder_roles;

void zt_encoder_read_roles(const zt_draft *draft, uint32_t object,
                           int (*compare)(zt_text, zt_text), zt_encoder_roles *out);

/* Append `attributes` and the map of an object's, or the file's; nothing if there are none. */
void zt_encoder_put_attributes(const zt_draft *draft, uint32_t object, zt_cbor_out *out);

/* Append `shape` and an object's. */
void zt_encoder_put_shape(const zt_draft_object *object, zt_cbor_out *out);

/* Fail with SQLITE_TOOBIG if readers would refuse a manifest for its length. */
int zt_encoder_check_manifest(const zt_cbor_out *manifest, zt_error *err);

/* Append every component, in bytewise order of roles, by a function of the caller. */
typedef int (*zt_encoder_component)(void *context, uint32_t object, uint32_t place);
int zt_encoder_each(zt_encoder_run *run, zt_encoder_component append, void *context,
                    zt_error *err);

#endif
