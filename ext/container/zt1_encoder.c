/*
** Writing zTensor 1.2 (specification 1.2.0).
**
**   file     := magic { part } manifest size magic   ; parts at multiples of `align`
**   part     := in the order of objects, and of the roles of each, bytewise; padding before it is 0
**   manifest := CBOR in deterministic encoding (zt1.c)
**   size     := u64le                                ; bytes of the manifest
*/
#include "container/encoder_checks.h"
#include "container/encoder_kept.h"
#include "container/encoder_manifest.h"
#include "container/manifest.h"
#include "core/host.h"

#define ZT1_SIGNATURE "ZTEN1000"
#define ZT1_SIGNATURE_SIZE 8

/* --- Checks --- */

/* The word for a layout; n 0: zTensor 1.2 has none. */
static zt_text zt1_layout_word(const zt_draft_object *object){
  if( object->format.n ) return object->format;
  switch( object->layout ){
    case ZT_LAYOUT_DENSE: return ZT_TEXT("dense");
    case ZT_LAYOUT_CSR: return ZT_TEXT("sparse_csr");
    case ZT_LAYOUT_COO: return ZT_TEXT("sparse_coo");
    case ZT_LAYOUT_QUANTIZED_GROUP: return ZT_TEXT("quantized_group");
    default: return (zt_text){ NULL, 0 };
  }
}

/* The types of section 2. */
static bool zt1_holds(zt_dtype_id id){
  const zt_dtype *dtype = zt_dtype_get(id);
  return !zt_dtype_is_packed(dtype) && id!=ZT_DTYPE_f8_e8m0;
}

static int zt1_check_name(const char *kind, zt_text name, zt_error *err){
  return zt_encoder_check_name("ztensor-1.2", kind, name, ZT_MAX_MANIFEST, err);
}

static int zt1_check_held(const zt_draft *draft, uint32_t number, zt_error *err){
  zt_draft_object object;
  zt_draft_component component;
  zt_draft_object_get(draft, number, &object);
  if( zt1_check_name("object", object.name, err) || object.kept ) return err->rc;
  if( zt1_layout_word(&object).n==0 ) return zt_encoder_fail_layout("ztensor-1.2", &object, err);
  if( object.layout==ZT_LAYOUT_DENSE ){
    return zt_encoder_check_dense("ztensor-1.2", draft, number, zt1_holds, err);
  }
  for(uint32_t at=0; (at = zt_draft_next_component(draft, number, at, &component))!=0; ){
    err->component = component.role;
    if( zt1_check_name("component", component.role, err) ) return err->rc;
    if( component.element
     && zt_encoder_check_dtype("ztensor-1.2", component.element, zt1_holds, err) ) return err->rc;
  }
  err->component.z = NULL;
  return SQLITE_OK;
}

static int zt1_check_attribute(const zt_draft_attribute *attribute, bool of_object, zt_error *err){
  if( !attribute->kept_key && zt1_check_name("attribute", attribute->key, err) ) return err->rc;
  return zt_encoder_check_depth(attribute, of_object, false, err);
}

/* --- Manifest --- */

typedef struct zt1_run {
  zt_encoder_run *run;
  zt_cbor_out manifest;
  zt_error *err;
} zt1_run;

/* The keys are in the order of their encodings. */
static void zt1_put_component(zt_cbor_out *o, const zt_draft_component *c){
  const bool logical = c->element && strcmp(c->element->name, c->element->storage)!=0;
  const bool encoded = c->codec!=ZT_CODEC_RAW;
  zt_cbor_put_text(o, c->role);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 3u + logical + (c->digest_text.n>0) + 2u*encoded);
  if( logical ){
    zt_cbor_put_text(o, ZT_TEXT("type"));
    zt_cbor_put_text(o, zt_text_of(c->element->name));
  }
  zt_cbor_put_text(o, ZT_TEXT("dtype"));
  zt_cbor_put_text(o, zt_text_of(c->element ? c->element->storage : "u8"));
  if( c->digest_text.n ){
    zt_cbor_put_text(o, ZT_TEXT("digest"));
    zt_cbor_put_text(o, c->digest_text);
  }
  zt_cbor_put_text(o, ZT_TEXT("length"));
  zt_cbor_put_uint(o, c->length);
  zt_cbor_put_text(o, ZT_TEXT("offset"));
  zt_cbor_put_uint(o, c->offset);
  if( encoded ){
    zt_cbor_put_text(o, ZT_TEXT("encoding"));
    zt_cbor_put_text(o, ZT_TEXT("zstd"));
    zt_cbor_put_text(o, ZT_TEXT("uncompressed_length"));
    zt_cbor_put_uint(o, c->decoded_length);
  }
}

/* The driver's number of an object is the position of its map. */
static zt_cbor zt1_object_map(const zt_container *c, uint32_t object, zt_error *err){
  return zt_manifest_decoder(c, c->objects.a[object], 2, err);
}

static bool zt1_says_more(const zt_container *c, uint32_t object, zt_text *field){
  zt_error unused = ZT_ERROR_NONE;
  return zt_encoder_find_unknown(zt1_object_map(c, object, &unused), &zt_schemas_1, "components",
                                 field);
}

static void zt1_put_kept(zt1_run *r, uint32_t number, uint32_t kept){
  static const zt_encoder_entry entry = { "components", "offset", false };
  zt_encoder_put_kept(r->run, number, zt1_object_map(r->run->kept, kept, r->err), &entry,
                      &r->manifest);
}

static void zt1_put_object(zt1_run *r, uint32_t number){
  zt_cbor_out *o = &r->manifest;
  zt_draft_object object;
  zt_encoder_roles roles;
  zt_draft_object_get(r->run->draft, number, &object);
  zt_cbor_put_text(o, object.name);
  if( object.kept ){
    zt1_put_kept(r, number, object.kept-1);
    return;
  }
  zt_encoder_read_roles(r->run->draft, number, zt_encoder_compare_keys, &roles);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 3u + zt_draft_has_attributes(r->run->draft, number));
  zt_encoder_put_shape(&object, o);
  zt_cbor_put_text(o, ZT_TEXT("format"));
  zt_cbor_put_text(o, zt1_layout_word(&object));
  zt_encoder_put_attributes(r->run->draft, number, o);
  zt_cbor_put_text(o, ZT_TEXT("components"));
  zt_cbor_put_head(o, ZT_CBOR_MAP, roles.n);
  for(uint32_t k=0; k<roles.n; k++) zt1_put_component(o, &roles.a[k]);
}

static int zt1_put_manifest(zt1_run *r){
  zt_cbor_out *o = &r->manifest;
  const zt_draft *draft = r->run->draft;
  const uint32_t n = zt_draft_objects(draft);
  uint32_t *order = zt_draft_sort(draft, zt_encoder_compare_objects, r->run->interrupt, r->err);
  zt_encoder_unknown unknown;
  zt_encoder_unknown_begin(r->run, zt_schemas_1.root, r->err, &unknown);
  zt_cbor_put_head(o, ZT_CBOR_MAP,
                   2u + zt_draft_has_attributes(draft, ZT_DRAFT_FILE) + unknown.n);
  zt_encoder_put_unknown(&unknown, "objects", o);
  zt_cbor_put_text(o, ZT_TEXT("objects"));
  zt_cbor_put_head(o, ZT_CBOR_MAP, n);
  for(uint32_t i=0; i<n && !r->err->rc; i++) zt1_put_object(r, order[i]);
  zt_encoder_put_unknown(&unknown, "version", o);
  zt_cbor_put_text(o, ZT_TEXT("version"));
  zt_cbor_put_text(o, ZT_TEXT("1.2.0"));
  zt_encoder_put_unknown(&unknown, "attributes", o);
  zt_encoder_put_attributes(draft, ZT_DRAFT_FILE, o);
  zt_encoder_put_unknown(&unknown, NULL, o);
  sqlite3_free(order);
  return zt_encoder_check_manifest(o, r->err);
}

/* --- File --- */

static int zt1_write_part(void *context, uint32_t object, const zt_draft_component *component,
                          uint32_t place){
  zt1_run *r = context;
  zt_stored stored;
  (void)component;
  if( zt_encoder_align(r->run, r->err) ) return r->err->rc;
  return r->run->part(r->run, object, place, &stored, r->err);
}

static int zt1_write_manifest(zt1_run *r){
  uint8_t footer[8+ZT1_SIGNATURE_SIZE];
  if( zt1_put_manifest(r) ) return r->err->rc;
  zt_put_le(footer, r->manifest.n, 8);
  memcpy(footer+8, ZT1_SIGNATURE, ZT1_SIGNATURE_SIZE);   /* NOLINT: bytes, and no text */
  if( zt_output_append(r->run->output, (zt_span){ r->manifest.p, r->manifest.n }, r->err) ){
    return r->err->rc;
  }
  return zt_output_append(r->run->output, (zt_span){ footer, sizeof(footer) }, r->err);
}

static int zt1_write(zt_encoder_run *run, zt_error *err){
  zt1_run r = { .run = run, .manifest = { .err = err }, .err = err };
  const zt_span magic = { (const uint8_t*)ZT1_SIGNATURE, ZT1_SIGNATURE_SIZE };
  if( zt_output_append(run->output, magic, err)==SQLITE_OK
   && zt_encoder_each(run, zt1_write_part, &r, err)==SQLITE_OK ){
    zt1_write_manifest(&r);
  }
  zt_cbor_out_clear(&r.manifest);
  return err->rc;
}

extern const zt_driver zt_driver_zt1_1;

const zt_encoder zt_encoder_zt1 = {
  .name = "ztensor-1.2", .driver = &zt_driver_zt1_1, .version = "1.2",
  .defaults = { .align = 64, .codec = ZT_CODEC_RAW, .level = 3, .digest = ZT_DIGEST_CRC32C },
  .least_align = 64, .codecs = 1u<<ZT_CODEC_RAW | 1u<<ZT_CODEC_ZSTD,
  .digests = ZT_DIGEST_CRC32C | ZT_DIGEST_SHA256, .object_attributes = true,
  .rules = ZT_RULE_CANONICAL_VALUES | ZT_RULE_U64_INDICES | ZT_RULE_DECODED_LENGTH,
  .keeps = zt_encoder_keeps_all, .says_more = zt1_says_more, .check_object = zt1_check_held,
  .check_attribute = zt1_check_attribute,
  .compare = zt_draft_compare_names, .write = zt1_write
};
