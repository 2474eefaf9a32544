/*
** Writing zTensor 2. With its defaults the file is in canonical form (specification, 6.3).
**
**   file     := magic { part } manifest footer      ; parts and manifest at multiples of `align`
**   part     := in the order of objects, and of the roles of each, bytewise. A part that is equal
**               to an earlier one is that one. The first empty part stands where the next thing
**               begins
**   manifest := CBOR in deterministic encoding (zt2.c). Blocks of ggml have the attributes
**               elems_per_block and block_bytes
*/
#include "container/encoder_manifest.h"

#include "container/encoder_checks.h"
#include "container/encoder_kept.h"
#include "container/manifest.h"
#include "core/host.h"
#include "core/keys.h"

#define ZT2_SIGNATURE "\x89ZT2\r\n\x1a\n"
#define ZT2_SIGNATURE_SIZE 8
#define ZT2_VERSION 2
#define ZT2_TRAILER 40
#define ZT2_NAME_MAX 1024
#define ZT2_COMPARED 4096   /* Bytes of two parts that are compared at once */

/* --- Checks --- */

static int zt2_check_name(zt_text name, const char *kind, zt_error *err){
  if( name.n==0 ) return zt_fail(err, SQLITE_ERROR, "ztensor-2 needs a name; name the %s", kind);
  return zt_encoder_check_name("ztensor-2", kind, name, ZT2_NAME_MAX, err);
}

#define ZT2_BLOCKS(name, ...) ZT_TEXT_INIT("gguf." #name "/1"),
static const zt_text zt2_blocks_words[ZT_GGML_PLAIN] = {
  ZT_GGML_BLOCK_TYPES(ZT2_BLOCKS)
  ZT_GGML_INNER_TYPES(ZT2_BLOCKS)
};

/* The word for a layout; n 0: zTensor 2 has none. */
static zt_text zt2_layout_word(const zt_draft_object *object){
  if( object->format.n ) return object->format;
  switch( object->layout ){
    case ZT_LAYOUT_DENSE: return ZT_TEXT("dense");
    case ZT_LAYOUT_CSR: return ZT_TEXT("zt.sparse_csr/1");
    case ZT_LAYOUT_COO: return ZT_TEXT("zt.sparse_coo/1");
    case ZT_LAYOUT_MX: return ZT_TEXT("zt.mx/1");
    case ZT_LAYOUT_QUANT_GROUP: return ZT_TEXT("zt.quant_group/1");
    case ZT_LAYOUT_GGML: return zt2_blocks_words[object->blocks->id];
    default: return (zt_text){ NULL, 0 };
  }
}

/* All types but those of ONNX. */
static bool zt2_holds(zt_dtype_id id){
  return id!=ZT_DTYPE_i4 && id!=ZT_DTYPE_u4 && id!=ZT_DTYPE_i2 && id!=ZT_DTYPE_u2;
}

static int zt2_check_object(const zt_draft *draft, uint32_t number, zt_error *err){
  zt_draft_object object;
  zt_draft_component component;
  zt_draft_object_get(draft, number, &object);
  if( zt2_check_name(object.name, "object", err) || object.kept ) return err->rc;
  if( object.layout==ZT_LAYOUT_COO && object.rank==0 ){
    return zt_fail(err, SQLITE_ERROR, "ztensor-2 cannot hold sparse_coo without a dimension;"
                   " format='dense' of zt_writer writes it dense");
  }
  if( zt2_layout_word(&object).n==0 ) return zt_encoder_fail_layout("ztensor-2", &object, err);
  if( object.layout==ZT_LAYOUT_DENSE ){
    return zt_encoder_check_dense("ztensor-2", draft, number, zt2_holds, err);
  }
  for(uint32_t at=0; (at = zt_draft_next_component(draft, number, at, &component))!=0; ){
    err->component = component.role;
    if( zt2_check_name(component.role, "component", err) ) return err->rc;
    if( component.element
     && zt_encoder_check_dtype("ztensor-2", component.element, zt2_holds, err) ) return err->rc;
  }
  err->component.z = NULL;
  return SQLITE_OK;
}

static int zt2_check_attribute(const zt_draft_attribute *attribute, bool of_object, zt_error *err){
  if( !attribute->kept_key && zt2_check_name(attribute->key, "attribute", err) ) return err->rc;
  return zt_encoder_check_depth(attribute, of_object, true, err);
}

/* --- Blocks of ggml --- */

/* Set *there if an object has the attribute; fail if that has another value. */
static int zt2_check_setting(const zt_draft *draft, uint32_t number,
                             const zt_draft_attribute *setting, bool *there, zt_error *err){
  zt_draft_attribute a;
  *there = false;
  for(uint32_t at=0; (at = zt_draft_next_attribute(draft, number, at, &a))!=0; ){
    if( !zt_text_equal(a.key, setting->key) ) continue;
    *there = true;
    if( a.value.n==setting->value.n && zt_equal(a.value.p, setting->value.p, a.value.n) ) break;
    return zt_fail(err, SQLITE_ERROR, "attribute '%.*s' is not that of these blocks; leave it out",
                   (int)a.key.n, a.key.z);
  }
  return SQLITE_OK;
}

/* Both are checked first: adding moves the names of the draft, which messages need. */
static int zt2_complete(zt_draft *draft, uint32_t number, zt_error *err){
  uint8_t bytes[2][ZT_CBOR_HEAD];
  zt_draft_attribute a[2] = { { .key = ZT_TEXT("elems_per_block") },
                              { .key = ZT_TEXT("block_bytes") } };
  bool there[2];
  zt_draft_object object;
  zt_draft_object_get(draft, number, &object);
  if( object.layout!=ZT_LAYOUT_GGML ) return SQLITE_OK;
  for(int i=0; i<2; i++){
    const unsigned value = i==0 ? object.blocks->elements : object.blocks->bytes;
    a[i].value = (zt_span){ bytes[i], zt_cbor_write_head(bytes[i], ZT_CBOR_UINT, value) };
    if( zt2_check_setting(draft, number, &a[i], &there[i], err) ) return err->rc;
  }
  for(int i=0; i<2 && !err->rc; i++){
    if( !there[i] ) zt_draft_add_attribute(draft, number, &a[i], err);
  }
  return err->rc;
}

/* --- Parts --- */

/* Parts that were written, to be found by length and hash. */
typedef struct zt2_part_key {
  uint64_t length, xxh3;
} zt2_part_key;

typedef struct zt2_parts {
  zt_keys keys;              /* Of `a`, each as 16 bytes */
  zt2_part_key *a;           /* Owned, as the next are */
  uint64_t *offsets;
  uint32_t n, capacity;
} zt2_parts;

static void zt2_parts_clear(zt2_parts *parts){
  zt_keys_clear(&parts->keys);
  sqlite3_free(parts->a);
  sqlite3_free(parts->offsets);
}

static int zt2_parts_grow(zt2_parts *parts, zt_error *err){
  const uint32_t capacity = parts->capacity ? 2*parts->capacity : 64;
  zt2_part_key *a;
  uint64_t *offsets;
  if( parts->n<parts->capacity ) return SQLITE_OK;
  a = sqlite3_realloc64(parts->a, capacity*sizeof(*a));
  if( a ) parts->a = a;
  offsets = sqlite3_realloc64(parts->offsets, capacity*sizeof(*offsets));
  if( offsets ) parts->offsets = offsets;
  if( !a || !offsets ) return zt_fail_nomem(err);
  parts->capacity = capacity;
  return SQLITE_OK;
}

/* True if n bytes at two places of an output are the same. */
static bool zt2_is_same(zt_output *output, uint64_t a, uint64_t b, uint64_t n, zt_error *err){
  uint8_t x[ZT2_COMPARED], y[ZT2_COMPARED];
  for(uint64_t at=0; at<n; at+=sizeof(x)){
    const size_t some = n-at<sizeof(x) ? (size_t)(n-at) : sizeof(x);
    if( zt_output_read(output, a+at, x, some, err)
     || zt_output_read(output, b+at, y, some, err) || memcmp(x, y, some)!=0 ) return false;
  }
  return true;
}

/* Find an earlier part that is equal to the last one, which is then cut off; or remember the last
** one. */
static int zt2_parts_share(zt2_parts *parts, zt_output *output, uint64_t before, zt_stored *part,
                           zt_error *err){
  const zt2_part_key key = { part->length, part->xxh3 };
  const zt_text text = { (const char*)&key, sizeof(key) };
  const int64_t found = zt_keys_find(&parts->keys, (const uint8_t*)parts->a, text);
  bool duplicate;
  if( found>=0 ){
    if( !zt2_is_same(output, parts->offsets[found], part->offset, part->length, err) ){
      return err->rc;
    }
    part->offset = parts->offsets[found];
    return zt_output_truncate(output, before, err);
  }
  if( zt2_parts_grow(parts, err) ) return err->rc;
  parts->a[parts->n] = key;
  parts->offsets[parts->n] = part->offset;
  return zt_keys_add(&parts->keys, (const uint8_t*)parts->a,
                     (zt_key){ parts->n++*(uint32_t)sizeof(key), sizeof(key) }, &duplicate, err);
}

/* --- Manifest --- */

typedef struct zt2_run {
  zt_encoder_run *run;
  zt2_parts parts;
  zt_cbor_out manifest;
  zt_error *err;
} zt2_run;

static int zt2_write_part(void *context, uint32_t object, const zt_draft_component *component,
                          uint32_t place){
  zt2_run *r = context;
  zt_output *output = r->run->output;
  const uint64_t before = zt_output_size(output);
  zt_stored stored;
  if( component->elsewhere ) return SQLITE_OK;
  if( zt_encoder_align(r->run, r->err) || r->run->part(r->run, object, place, &stored, r->err) ){
    return r->err->rc;
  }
  if( zt2_parts_share(&r->parts, output, before, &stored, r->err) ) return r->err->rc;
  zt_draft_move(r->run->draft, place, stored.offset);
  return SQLITE_OK;
}

static void zt2_put_part(zt_cbor_out *o, const zt_draft_component *c){
  const bool logical = c->element && strcmp(c->element->name, c->element->storage)!=0;
  const bool is_bool = c->element && c->element->id==ZT_DTYPE_bool;
  const bool encoded = c->codec!=ZT_CODEC_RAW;
  zt_cbor_put_text(o, c->role);
  zt_cbor_put_head(o, ZT_CBOR_MAP,
                   2u + (logical || is_bool) + (c->digest_text.n>0) + 2u*encoded);
  zt_cbor_put_text(o, ZT_TEXT("blob"));
  zt_cbor_put_head(o, ZT_CBOR_ARRAY, 2);
  zt_cbor_put_uint(o, c->offset);
  zt_cbor_put_uint(o, c->length);
  if( logical || is_bool ){
    zt_cbor_put_text(o, ZT_TEXT("type"));
    zt_cbor_put_text(o, zt_text_of(c->element->name));
  }
  zt_cbor_put_text(o, ZT_TEXT("dtype"));
  zt_cbor_put_text(o, zt_text_of(!c->element || is_bool ? "u8" : c->element->storage));
  if( c->digest_text.n ){
    zt_cbor_put_text(o, ZT_TEXT("digest"));
    zt_cbor_put_text(o, c->digest_text);
  }
  if( encoded ){
    zt_cbor_put_text(o, ZT_TEXT("encoding"));
    zt_cbor_put_text(o, ZT_TEXT("zt.zstd-seekable/1"));
    zt_cbor_put_text(o, ZT_TEXT("decoded_length"));
    zt_cbor_put_uint(o, c->decoded_length);
  }
}

/* The driver's number of an object is the position of its name, which its map follows. */
static zt_cbor zt2_object_map(const zt_container *c, uint32_t object, zt_error *err){
  zt_cbor map = zt_manifest_decoder(c, c->objects.a[object], 2, err);
  zt_cbor_skip(&map);
  return map;
}

static bool zt2_says_more(const zt_container *c, uint32_t object, zt_text *field){
  zt_error unused = ZT_ERROR_NONE;
  return zt_encoder_find_unknown(zt2_object_map(c, object, &unused), &zt_schemas_2, "parts",
                                 field);
}

static void zt2_put_kept(zt2_run *r, uint32_t number, uint32_t kept){
  static const zt_encoder_entry entry = { "parts", "blob", true };
  zt_encoder_put_kept(r->run, number, zt2_object_map(r->run->kept, kept, r->err), &entry,
                      &r->manifest);
}

static void zt2_put_object(zt2_run *r, uint32_t number){
  zt_cbor_out *o = &r->manifest;
  const bool attributes = zt_draft_has_attributes(r->run->draft, number);
  zt_draft_object object;
  zt_encoder_roles roles;
  zt_draft_object_get(r->run->draft, number, &object);
  zt_cbor_put_text(o, object.name);
  if( object.kept ){
    zt2_put_kept(r, number, object.kept-1);
    return;
  }
  zt_encoder_read_roles(r->run->draft, number, zt_encoder_compare_keys, &roles);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 3+attributes);
  zt_cbor_put_text(o, ZT_TEXT("parts"));
  zt_cbor_put_head(o, ZT_CBOR_MAP, roles.n);
  for(uint32_t k=0; k<roles.n; k++) zt2_put_part(o, &roles.a[k]);
  zt_encoder_put_shape(&object, o);
  zt_cbor_put_text(o, ZT_TEXT("layout"));
  zt_cbor_put_text(o, zt2_layout_word(&object));
  zt_encoder_put_attributes(r->run->draft, number, o);
}

static int zt2_put_manifest(zt2_run *r){
  zt_cbor_out *o = &r->manifest;
  const uint32_t n = zt_draft_objects(r->run->draft);
  const bool shards = zt_encoder_keeps_shards(r->run);
  uint32_t *order = zt_draft_sort(r->run->draft, zt_encoder_compare_objects, r->run->interrupt,
                                  r->err);
  zt_encoder_unknown unknown;
  zt_encoder_unknown_begin(r->run, zt_schemas_2.root, r->err, &unknown);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 1u + zt_draft_has_attributes(r->run->draft, ZT_DRAFT_FILE)
                                     + shards + unknown.n);
  zt_encoder_put_unknown(&unknown, "shards", o);
  if( shards ) zt_encoder_put_kept_field(r->run, ZT_TEXT("shards"), o);
  zt_encoder_put_unknown(&unknown, "objects", o);
  zt_cbor_put_text(o, ZT_TEXT("objects"));
  zt_cbor_put_head(o, ZT_CBOR_MAP, n);
  for(uint32_t i=0; i<n && !r->err->rc; i++) zt2_put_object(r, order[i]);
  zt_encoder_put_unknown(&unknown, "attributes", o);
  zt_encoder_put_attributes(r->run->draft, ZT_DRAFT_FILE, o);
  zt_encoder_put_unknown(&unknown, NULL, o);
  sqlite3_free(order);
  return zt_encoder_check_manifest(o, r->err);
}

static int zt2_write_manifest(zt2_run *r){
  zt_output *output = r->run->output;
  uint8_t footer[ZT2_TRAILER] = { 0 };
  uint64_t offset;
  if( zt2_put_manifest(r) || zt_encoder_align(r->run, r->err) ) return r->err->rc;
  offset = zt_output_size(output);
  zt_put_le(footer, offset, 8);
  zt_put_le(footer+8, r->manifest.n, 8);
  zt_put_le(footer+16, zt_digest_xxh3((zt_span){ r->manifest.p, r->manifest.n }), 8);
  footer[24] = ZT2_VERSION;
  memcpy(footer+32, ZT2_SIGNATURE, ZT2_SIGNATURE_SIZE);   /* NOLINT: bytes, and no text */
  if( zt_output_append(output, (zt_span){ r->manifest.p, r->manifest.n }, r->err) ){
    return r->err->rc;
  }
  return zt_output_append(output, (zt_span){ footer, sizeof(footer) }, r->err);
}

static int zt2_write(zt_encoder_run *run, zt_error *err){
  zt2_run r = { .run = run, .manifest = { .err = err }, .err = err };
  const zt_span magic = { (const uint8_t*)ZT2_SIGNATURE, ZT2_SIGNATURE_SIZE };
  run->xxh3 = true;
  if( zt_output_append(run->output, magic, err)==SQLITE_OK
   && zt_encoder_each(run, zt2_write_part, &r, err)==SQLITE_OK ){
    zt2_write_manifest(&r);
  }
  zt2_parts_clear(&r.parts);
  zt_cbor_out_clear(&r.manifest);
  return err->rc;
}

extern const zt_driver zt_driver_zt2;

const zt_encoder zt_encoder_zt2 = {
  .name = "ztensor-2", .driver = &zt_driver_zt2, .suffix = ".zt",
  .defaults = { .align = 65536, .codec = ZT_CODEC_RAW, .level = 3, .digest = ZT_DIGEST_XXH3 },
  .least_align = 4096, .codecs = 1u<<ZT_CODEC_RAW | 1u<<ZT_CODEC_SEEKABLE,
  .digests = ZT_DIGEST_XXH3 | ZT_DIGEST_SHA256, .object_attributes = true,
  .rules = ZT_RULE_CELLS_UNIQUE | ZT_RULE_ORDER | ZT_RULE_CANONICAL_VALUES
         | ZT_RULE_DIGEST_OF_DECODED,
  .keeps = zt_encoder_keeps_all, .says_more = zt2_says_more,
  .check_object = zt2_check_object, .check_attribute = zt2_check_attribute,
  .complete = zt2_complete, .compare = zt_draft_compare_names, .write = zt2_write
};
