/*
** zTensor 2 (Draft 4).
**
**   file     := magic blobs footer          ; Z1: at least 48 bytes
**   footer   := manifest_offset u64le, manifest_length u64le, manifest_hash u64le, version u32le,
**            reserved u32le, magic
**               ; Z2: the magic number also ends the file; Z3: version is 2
**               ; Z4: the manifest is a blob (Z7) of 1 byte to 1 GiB; or offset, length and hash
**               ;     are 0: a data shard, which has none
**               ; Z5: manifest_hash is the XXH3-64 of the manifest's bytes
**   manifest := CBOR map, strict (C1 to C9, G1 to G6; S1 to S6)
**       shards     map name -> { size u64, digest digest }        ; Z6: 1 to 64 of A-Z a-z 0-9 . _
**                                                                 ;     -, the first no dot
**       objects    map name -> object                             ; Z8
**       attributes map name -> any                                ; Z8
**   object   := shape [u64] (H1, H2), layout text, attributes map, parts map name -> part
**                                                                 ; Z9: parts are not empty
**   part     := blob [offset u64, length u64]                     ; Z7: offset is a multiple of
**                                                                 ;     4096, from 4096 on, and the
**                                                                 ;     blob ends before the footer
**                                                                 ;     (of its shard)
**       shard text                                                ; Z10: one of the shards
**       dtype text, type text                                     ; Z11: dtype is one of twelve; L6
**       encoding text, decoded_length u64                         ; Z12: both, or neither
**       digest text                                               ; Z15: an algorithm of a-z 0-9, a
**                                                                 ;     colon, digits 0-9 a-f
**   name     := text                                              ; Z8: 1 to 1024 bytes
**                                                                 ;     without U+0000
**   Z13  blobs and manifest of a file are pairwise identical or disjoint; empty ones are exempt
**   Z16  a digest's algorithm is xxh3 or sha256, which is checked where bytes are
**   Z14  an object of a known layout has exactly that layout's parts, with the lengths that shape
**        and types demand
*/
#include "container/blobs.h"
#include "container/dtype.h"
#include "container/schema.h"
#include "container/shard.h"
#include "core/digest.h"

#define ZT2_MAGIC "\x89ZT2\r\n\x1a\n"
#define ZT2_FOOTER 40
#define ZT2_ALIGNMENT 4096
#define ZT2_CANONICAL ((unsigned)64 << 10)   /* Alignment of canonical files */
#define ZT2_NAME_MAX_BYTES 1024
#define ZT2_SHARD_NAME_MAX 64

static const zt_rule zt2_rules[] = {
  ZT_SAME("Z1", "footer"),
  ZT_ERROR("Z2", "footer-magic", "the file ends with its magic number (2)", ZT_SPEC_ZTENSOR_2),
  ZT_SAME("Z3", "version"),
  ZT_SAME("Z4", "manifest-size"),
  ZT_ERROR("Z5", "manifest-hash", "the manifest has the footer's hash (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("Z6", "shard-name",
           "a shard's name is 1 to 64 of A-Z a-z 0-9 . _ -, not beginning with a dot (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_SAME("Z7", "range"),
  ZT_SAME("Z8", "name"),
  ZT_ERROR("Z9", "no-parts", "an object has at least one part (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("Z10", "unknown-shard", "the table of shards has a part's shard (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("Z11", "storage-dtype", "a part's dtype is one of twelve types (2)", ZT_SPEC_ZTENSOR_2),
  ZT_SAME("Z12", "decoded-length"),
  ZT_ERROR("Z13", "blob-overlap", "two blobs of a file share all of their bytes, or none (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("Z14", "layout", "parts are those of the layout, as long as shape and types demand (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_SAME("Z15", "malformed-digest"),
  ZT_ERROR("Z16", "digest-algorithm", "the algorithm of a digest is xxh3 or sha256 (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("X1", "missing-shard", "a shard exists beside its file (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("X4", "shard-format", "a shard has its magic number and footer (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("X2", "shard-size", "a shard has the stated size (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("X3", "shard-digest", "a shard has the stated digest (2)", ZT_SPEC_ZTENSOR_2),
  ZT_RULES_END
};

enum { ZT2_SHARDS, ZT2_OBJECTS, ZT2_ATTRIBUTES };
enum { ZT2_PARTS = 10, ZT2_SHAPE, ZT2_LAYOUT, ZT2_OBJECT_ATTRIBUTES };
enum { ZT2_SIZE = 30, ZT2_SHARD_DIGEST };

/* In the order of the encoded keys (G3). */
static const zt_schema zt2_root_schema = ZT_SCHEMA("the root map", 1<<1,
  ZT_FIELD(ZT2_SHARDS, "shards", 0),
  ZT_FIELD(ZT2_OBJECTS, "objects", 0),
  ZT_FIELD(ZT2_ATTRIBUTES, "attributes", 0));
static const zt_schema zt2_object_schema = ZT_SCHEMA("the object's map", 1<<0 | 1<<1 | 1<<2,
  ZT_FIELD(ZT2_PARTS, "parts", 0),
  ZT_FIELD(ZT2_SHAPE, "shape", 0),
  ZT_FIELD(ZT2_LAYOUT, "layout", 0),
  ZT_FIELD(ZT2_OBJECT_ATTRIBUTES, "attributes", 0));
static const zt_schema zt2_part_schema = ZT_SCHEMA("the part's map", 1<<0 | 1<<2,
  ZT_FIELD(ZT_PART_BLOB, "blob", 0),
  ZT_FIELD(ZT_PART_TYPE, "type", 0),
  ZT_FIELD(ZT_PART_DTYPE, "dtype", 0),
  ZT_FIELD(ZT_PART_SHARD, "shard", 0),
  ZT_FIELD(ZT_PART_DIGEST, "digest", 0),
  ZT_FIELD(ZT_PART_ENCODING, "encoding", 0),
  ZT_FIELD(ZT_PART_DECODED, "decoded_length", 0));
static const zt_schema zt2_shard_schema = ZT_SCHEMA("the shard's map", 1<<0 | 1<<1,
  ZT_FIELD(ZT2_SIZE, "size", 0),
  ZT_FIELD(ZT2_SHARD_DIGEST, "digest", 0));

const zt_schemas zt_schemas_2 = { &zt2_root_schema, &zt2_object_schema, &zt2_part_schema };

/* --- Finding the manifest --- */

static zt_probe zt2_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_head_is(input, ZT2_MAGIC, 8) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* The place of a manifest. */
typedef struct zt2_extent {
  uint64_t offset, length;   /* 0 and 0: there is none */
  uint64_t hash;
} zt2_extent;

static int zt2_locate(const zt_head_tail *input, zt2_extent *out, zt_error *err){
  const uint8_t *footer;
  uint64_t version;
  if( input->size<8+ZT2_FOOTER ){
    return zt_break(err, "Z1", "%llu bytes are too few for a header and a footer", input->size);
  }
  footer = input->tail.p+input->tail.n-ZT2_FOOTER;
  if( !zt_tail_is(input, ZT2_MAGIC, 8) ){
    return zt_break(err, "Z2",
                    "the file does not end with its magic number: it is cut, or something follows");
  }
  *out = (zt2_extent){ zt_le64(footer), zt_le64(footer+8), zt_le64(footer+16) };
  version = zt_le64(footer+24) & UINT32_MAX;
  if( version!=2 ) return zt_break(err, "Z3", "version %llu is not 2", version);
  if( out->offset==0 && out->length==0 && out->hash==0 ) return SQLITE_OK;
  if( out->length==0 || out->length>ZT_MAX_MANIFEST ){
    return zt_break(err, "Z4", "the manifest's length, %llu, is not 1 to %llu", out->length,
                    ZT_MAX_MANIFEST);
  }
  if( out->offset<ZT2_ALIGNMENT || out->offset%ZT2_ALIGNMENT ){
    return zt_break(err, "Z4", "the manifest's offset, %llu, is no positive multiple of %d",
                    out->offset, ZT2_ALIGNMENT);
  }
  if( zt_claim(input->size-ZT2_FOOTER, out->offset, out->length) ) return SQLITE_OK;
  return zt_break(err, "Z4", "the manifest's offset %llu + length %llu lie beyond the footer, at"
                  " %llu", out->offset, out->length, input->size-ZT2_FOOTER);
}

static int zt2_check_head_tail(const zt_head_tail *input, zt_error *err){
  zt2_extent extent;
  return zt2_locate(input, &extent, err);
}

/* --- Names --- */

/* Z8. */
static bool zt2_read_name(zt_cbor *c, zt_text *out){
  const uint8_t *at = c->p;
  if( zt_cbor_peek(c)!=ZT_CBOR_TEXT ) return zt_cbor_fail_type(c, "S1", "text");
  if( !zt_cbor_text(c, out) ) return false;
  if( out->n>0 && out->n<=ZT2_NAME_MAX_BYTES && !zt_has_nul(out->z, out->n) ) return true;
  c->p = at;
  return zt_cbor_fail(c, "Z8",
                      out->n==0 ? "an empty name" : out->n>ZT2_NAME_MAX_BYTES
                      ? "a name of more than 1024 bytes" : "a name with U+0000 in it");
}

/* Z6. */
static bool zt2_is_shard_name(zt_text name){
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if( name.n==0 || name.n>ZT2_SHARD_NAME_MAX || name.z[0]=='.' ) return false;
  for(size_t i=0; i<name.n; i++) if( !memchr(allowed, name.z[i], sizeof(allowed)-1) ) return false;
  return true;
}

/* Read the next key of a map of names. It must follow the key *last; last->p is NULL at first. */
static bool zt2_next_key(zt_cbor *c, zt_span *last, zt_text *name){
  const uint8_t *at = c->p;
  if( !zt_cbor_poll(c) || !zt2_read_name(c, name) ) return false;
  if( last->p && !zt_cbor_ascends(last->p, last->n, at, (size_t)(c->p-at)) ){
    c->p = at;
    return zt_cbor_fail(c, "G3", "a map's keys do not ascend");
  }
  *last = (zt_span){ at, (size_t)(c->p-at) };
  return true;
}

/* --- Parts --- */

/* Set the meaning of dtype and type. In zTensor 2, bool is a logical type on u8, not one of the
** twelve storage types. */
static void zt2_decide(zt_component *part){
  const zt_dtype *u8 = zt_dtype_get(ZT_DTYPE_u8), *boolean = zt_dtype_get(ZT_DTYPE_bool);
  zt_dtype_decide(part);
  if( part->storage==boolean ) part->storage = part->element = NULL;
  if( !part->storage || !part->type.z ) return;
  if( zt_schema_is_foreign(part->type) ){
    part->element = NULL;
    part->misplaced = false;
  }
  if( !zt_text_is(part->type, "bool") ) return;
  part->misplaced = part->storage!=u8;
  part->element = part->misplaced ? NULL : boolean;
}

/* True if 8 characters are lowercase hexadecimal digits. A high bit of x+(0x80-c) is set where a
** byte is at least c. */
static bool zt2_is_hex8(const char *z){
  const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  uint64_t x = zt_load64(z), digits, letters;
  if( x & highs ) return false;
  digits = (x+ones*(0x80-'0')) & ~(x+ones*(0x80-'9'-1));
  letters = (x+ones*(0x80-'a')) & ~(x+ones*(0x80-'f'-1));
  return ((digits|letters) & highs)==highs;
}

/* Z15. The number of digits is left to the verification of the digest. */
static bool zt2_is_digest(zt_text digest){
  const char *z = digest.z;
  size_t i = 0, n = digest.n;
  while( i<n && ((z[i]>='a' && z[i]<='z') || (z[i]>='0' && z[i]<='9')) ) i++;
  if( i==0 || i+1>=n || z[i]!=':' ) return false;
  for(i++; n-i>=8; i+=8) if( !zt2_is_hex8(z+i) ) return false;
  for(; i<n; i++) if( !((z[i]>='0' && z[i]<='9') || (z[i]>='a' && z[i]<='f')) ) return false;
  return true;
}

/* Z7: a blob ends at byte `end` at the latest. */
static bool zt2_check_blob(zt_cbor *c, const zt_component *part, uint64_t end){
  if( part->offset<ZT2_ALIGNMENT || part->offset%ZT2_ALIGNMENT ){
    return zt_cbor_fail(c, "Z7", "offset %llu is no positive multiple of %d", part->offset,
                        ZT2_ALIGNMENT);
  }
  if( zt_claim(end, part->offset, part->length) ) return true;
  return zt_cbor_fail(c, "Z7", "offset %llu + length %llu lies beyond the data area's end, %llu",
                      part->offset, part->length, end);
}

/* Check the rules of a single part. */
static bool zt2_check_part(zt_cbor *c, const zt_container *container, zt_component *part){
  bool encoded = part->encoding.z!=NULL;
  zt_shard shard = { .size = container->file_size };
  zt2_decide(part);
  if( part->shard.z && !zt_container_shard_find(container, part->shard, &shard) ){
    return zt_cbor_fail(c, "Z10", "shard '%.*s' is not in the table of shards",
                        zt_shown(part->shard), part->shard.z);
  }
  if( !part->storage ){
    return zt_cbor_fail(c, "Z11", "dtype '%.*s' is not known", zt_shown(part->dtype),
                        part->dtype.z);
  }
  /* A storage type's name is an unknown logical type */
  if( part->misplaced && (!zt_dtype_storage(part->type) || zt_text_is(part->type, "bool")) ){
    return zt_cbor_fail(c, "L6", "type '%.*s' is not stored as '%.*s'", zt_shown(part->type),
                        part->type.z, zt_shown(part->dtype), part->dtype.z);
  }
  if( encoded!=part->has_decoded_length ){
    return zt_cbor_fail(c, "Z12",
                        encoded ? "an encoding without decoded_length"
                        : "decoded_length without an encoding");
  }
  if( part->digest.z && !zt2_is_digest(part->digest) ){
    return zt_cbor_fail(c, "Z15", "'%.*s' is no digest", zt_shown(part->digest), part->digest.z);
  }
  return zt2_check_blob(c, part, shard.size<ZT2_FOOTER ? 0 : shard.size-ZT2_FOOTER);
}

/* A check of a manifest. */
typedef struct zt2_walker {
  zt_cbor *c;
  zt_builder *builder;
  zt_container *container;   /* The builder's */
  uint64_t end;        /* End of the blobs so far, while each begins at that end or behind it */
  bool sort;           /* They are in another order or in shards: Z13 needs sorted blobs */
  uint32_t nParts;     /* Of the current object */
  zt_component part;   /* The last of them */
} zt2_walker;

/* Z13, as far as the order of blobs shows it. */
static bool zt2_note_blob(zt2_walker *w){
  const zt_component *part = &w->part;
  uint64_t manifest = w->container->manifest_offset, length = w->container->manifest_length;
  if( part->length==0 ) return true;
  if( part->shard.z || part->offset<w->end ){
    w->sort = true;
    return true;
  }
  w->end = part->offset+part->length;
  if( w->end<=manifest || part->offset>=manifest+length ) return true;
  if( part->offset==manifest && part->length==length ) return true;
  return zt_cbor_fail(w->c, "Z13", "bytes %llu to %llu overlap the manifest, %llu to %llu",
                      part->offset, w->end, manifest, manifest+length);
}

/* Check and add the next item, a map of parts. */
static bool zt2_check_parts(zt2_walker *w){
  zt_cbor *c = w->c;
  zt_span last = { NULL, 0 };
  zt_cbor_level level;
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map for 'parts'", &level) ) return false;
  if( level.remaining==0 ) return zt_cbor_fail(c, "Z9", "an object without parts");
  for(w->nParts=0; zt_cbor_more(c, &level); w->nParts++){
    w->part = (zt_component){ 0 };
    if( zt_builder_component(w->builder, zt_manifest_position(w->container, c->p)) ) return false;
    if( !zt2_next_key(c, &last, &w->part.role) ) return false;
    c->err->component = w->part.role;
    if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "S6", "a part's map");
    if( !zt_schema_part(c, &zt2_part_schema, ZT_SCHEMA_WANT_CHECK, &w->part)
     || !zt2_check_part(c, w->container, &w->part) || !zt2_note_blob(w) ) return false;
    c->err->component.z = NULL;
  }
  return c->err->rc==SQLITE_OK;
}

/* --- Objects --- */

/* Take the position of an attributes map, and check it unless it was checked before. */
static bool zt2_read_attributes(zt_cbor *c, const zt_container *container, zt_value *out){
  zt_span last = { NULL, 0 };
  zt_cbor_level level;
  zt_text key;
  zt_manifest_set_map(out, zt_manifest_position(container, c->p), 0);
  if( c->trusted ) return zt_cbor_skip(c);
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map for 'attributes'", &level) ) return false;
  while( zt_cbor_more(c, &level) ){
    if( !zt2_next_key(c, &last, &key) || !zt_cbor_skip(c) ) return false;
  }
  return c->err->rc==SQLITE_OK;
}

/* Read the next item, an object's map; check and add its parts if there is a walker. */
static bool zt2_read_object(zt_cbor *c, const zt_container *container, zt2_walker *w,
                            zt_object *out){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, &zt2_object_schema);
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT2_PARTS:             ok = w ? zt2_check_parts(w) : zt_cbor_skip(c); break;
      case ZT2_SHAPE:             ok = zt_schema_shape(c, out); break;
      case ZT2_LAYOUT:            ok = zt_fields_text(&f, &out->format); break;
      case ZT2_OBJECT_ATTRIBUTES: ok = zt2_read_attributes(c, container, &out->attributes); break;
      default: return c->err->rc==SQLITE_OK;
    }
  }
  return false;
}

/* Known layouts, and the model's names for them. */
static const struct { zt_text stored, format; zt_layout_id layout; } zt2_layouts[] = {
  { ZT_TEXT_INIT("dense"), ZT_TEXT_INIT("dense"), ZT_LAYOUT_DENSE },
  { ZT_TEXT_INIT("zt.sparse_csr/1"), ZT_TEXT_INIT("sparse_csr"), ZT_LAYOUT_CSR },
  { ZT_TEXT_INIT("zt.sparse_coo/1"), ZT_TEXT_INIT("sparse_coo"), ZT_LAYOUT_COO },
  { ZT_TEXT_INIT("zt.mx/1"), ZT_TEXT_INIT("zt.mx/1"), ZT_LAYOUT_MX },
  { ZT_TEXT_INIT("zt.quant_group/1"), ZT_TEXT_INIT("zt.quant_group/1"), ZT_LAYOUT_QUANT_GROUP },
};

/* The blocks of the layout gguf.TYPE/1; NULL if it is another layout, or its elements are plain. */
static const zt_ggml_type *zt2_blocks(zt_text layout){
  const zt_text before = ZT_TEXT("gguf."), behind = ZT_TEXT("/1");
  const zt_ggml_type *type;
  if( layout.n<before.n+behind.n || !zt_equal(layout.z, before.z, before.n)
   || !zt_equal(layout.z+layout.n-behind.n, behind.z, behind.n) ) return NULL;
  type = zt_ggml_type_named((zt_text){ layout.z+before.n, layout.n-before.n-behind.n });
  return type && type->id!=ZT_GGML_PLAIN ? type : NULL;
}

static void zt2_set_layout(zt_object *object){
  for(size_t i=0; i<sizeof(zt2_layouts)/sizeof(*zt2_layouts); i++){
    if( !zt_text_equal(object->format, zt2_layouts[i].stored) ) continue;
    object->format = zt2_layouts[i].format;
    object->layout = zt2_layouts[i].layout;
    return;
  }
  object->blocks = zt2_blocks(object->format);
  if( object->blocks ) object->layout = ZT_LAYOUT_GGML;
}

/* --- Encodings --- */

/* Set the codec; a part without an encoding is raw, but `raw` is no encoding's name. */
static void zt2_set_codec(zt_component *part){
  part->codec = zt_text_is(part->encoding, "zt.zstd-seekable/1") ? ZT_CODEC_SEEKABLE
              : ZT_CODEC_UNKNOWN;
}

/* --- Sizes of layouts (Z14) --- */

static uint64_t zt2_decoded_length(const zt_component *part){
  return part->has_decoded_length ? part->decoded_length : part->length;
}

/* True if a part has the length of n elements of its type, or its type is unknown. */
static bool zt2_has_length(const zt_component *part, uint64_t n){
  const zt_dtype *dtype = part->element;
  uint64_t bytes;
  return !dtype || (zt_dtype_size(dtype, n, &bytes) && bytes==zt2_decoded_length(part));
}

/* Find the current object's parts by role; false unless it has exactly these. */
static bool zt2_find_parts(const zt2_walker *w, const zt_text *roles, uint32_t n,
                           zt_component *out){
  uint32_t object = w->container->objects.n-1;
  if( w->nParts!=n ) return false;
  for(uint32_t i=0; i<n; i++){
    if( !zt_component_find(w->container, object, roles[i], &out[i]) ) return false;
  }
  return true;
}

static bool zt2_fail_layout(const zt2_walker *w, const zt_object *object, const char *what){
  return zt_cbor_fail(w->c, "Z14", "layout '%.*s': %s", zt_shown(object->format), object->format.z,
                      what);
}

static bool zt2_check_dense(const zt2_walker *w, const zt_object *object){
  const zt_text type = w->part.type.z ? w->part.type : w->part.dtype;
  if( w->nParts!=1 || !zt_text_is(w->part.role, "data") ){
    return zt2_fail_layout(w, object, "its one part is 'data'");
  }
  if( zt2_has_length(&w->part, object->elements) ) return true;
  w->c->err->component = w->part.role;
  return zt_cbor_fail(w->c, "Z14", "%llu elements of %.*s do not have %llu bytes", object->elements,
                      zt_shown(type), type.z, zt2_decoded_length(&w->part));
}

/* The number of indices, of u32 or u64; false if the part has another type or is no multiple of
** it. */
static bool zt2_count_indices(const zt_component *part, uint64_t *out){
  unsigned width = zt_text_is(part->dtype, "u32") ? 4 : zt_text_is(part->dtype, "u64") ? 8 : 0;
  if( width==0 || part->type.z || zt2_decoded_length(part)%width ) return false;
  *out = zt2_decoded_length(part)/width;
  return true;
}

static bool zt2_check_csr(const zt2_walker *w, const zt_object *object){
  static const zt_text roles[] = {
    ZT_TEXT_INIT("values"), ZT_TEXT_INIT("indices"), ZT_TEXT_INIT("indptr")
  };
  zt_component part[3];
  uint64_t n, pointers;
  if( object->rank!=2 ) return zt2_fail_layout(w, object, "it has two dimensions");
  if( !zt2_find_parts(w, roles, 3, part) ){
    return zt2_fail_layout(w, object, "its parts are 'values', 'indices' and 'indptr'");
  }
  if( !zt2_count_indices(&part[1], &n) || !zt2_count_indices(&part[2], &pointers)
   || !zt_text_equal(part[1].dtype, part[2].dtype) ){
    return zt2_fail_layout(w, object,
                           "indices and indptr are whole numbers of u32, or both of u64");
  }
  if( pointers==0 || pointers-1!=object->shape[0] ){
    return zt2_fail_layout(w, object, "indptr has an entry for each row, and one");
  }
  return zt2_has_length(&part[0], n)
      || zt2_fail_layout(w, object, "there are as many values as indices");
}

static bool zt2_check_coo(const zt2_walker *w, const zt_object *object){
  static const zt_text roles[] = { ZT_TEXT_INIT("values"), ZT_TEXT_INIT("coords") };
  zt_component part[2];
  uint64_t n;
  if( object->rank==0 ) return zt2_fail_layout(w, object, "it has at least one dimension");
  if( !zt2_find_parts(w, roles, 2, part) ){
    return zt2_fail_layout(w, object, "its parts are 'values' and 'coords'");
  }
  if( !zt2_count_indices(&part[1], &n) || n%object->rank ){
    return zt2_fail_layout(w, object, "coords are u32 or u64, as many for each dimension");
  }
  return zt2_has_length(&part[0], n/object->rank)
      || zt2_fail_layout(w, object, "there are as many values as coordinates in each dimension");
}

static bool zt2_check_layout(const zt2_walker *w, const zt_object *object){
  if( zt_text_is(object->format, "dense") ) return zt2_check_dense(w, object);
  if( zt_text_is(object->format, "zt.sparse_csr/1") ) return zt2_check_csr(w, object);
  if( zt_text_is(object->format, "zt.sparse_coo/1") ) return zt2_check_coo(w, object);
  return true;
}

/* --- The root --- */

static bool zt2_check_objects(zt2_walker *w){
  zt_container *container = w->container;
  zt_cbor *c = w->c;
  zt_span last = { NULL, 0 };
  zt_cbor_level level;
  zt_object object = { 0 };
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map for 'objects'", &level) ) return false;
  while( zt_cbor_more(c, &level) ){
    const uint8_t *at = c->p;
    bool duplicate;
    zt_text name;
    if( !zt2_next_key(c, &last, &name) ) return false;
    c->err->object = name;
    if( zt_builder_object(w->builder, name, zt_manifest_position(container, at), &duplicate) ){
      return false;
    }
    if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "S6", "an object's map");
    if( !zt2_read_object(c, container, w, &object) || !zt2_check_layout(w, &object) ) return false;
    c->err->object.z = NULL;
  }
  return c->err->rc==SQLITE_OK;
}

static bool zt2_read_shard(zt_cbor *c, zt_shard *out){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, &zt2_shard_schema);
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT2_SIZE:         ok = zt_fields_uint(&f, &out->size); break;
      case ZT2_SHARD_DIGEST: ok = zt_fields_text(&f, &out->digest); break;
      default: return c->err->rc==SQLITE_OK;
    }
  }
  return false;
}

static bool zt2_check_shards(zt_cbor *c, zt_builder *b){
  zt_span last = { NULL, 0 };
  zt_cbor_level level;
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map for 'shards'", &level) ) return false;
  while( zt_cbor_more(c, &level) ){
    zt_shard shard = { 0 };
    bool duplicate;
    if( !zt2_next_key(c, &last, &shard.name) ) return false;
    if( !zt2_is_shard_name(shard.name) ){
      return zt_cbor_fail(c, "Z6", "'%.*s' is no name of a shard", zt_shown(shard.name),
                          shard.name.z);
    }
    /* Its number is the position of its map */
    if( zt_builder_shard(b, shard.name, zt_manifest_position(b->container, c->p), &duplicate) ){
      return false;
    }
    if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "S6", "a shard's map");
    if( !zt2_read_shard(c, &shard) ) return false;
    if( shard.size<8+ZT2_FOOTER ){
      return zt_cbor_fail(c, "Z7", "a shard of %llu bytes, too few for a header and a footer",
                          shard.size);
    }
    if( !zt2_is_digest(shard.digest) ){
      return zt_cbor_fail(c, "Z15", "'%.*s' is no digest", zt_shown(shard.digest), shard.digest.z);
    }
  }
  return c->err->rc==SQLITE_OK;
}

/* Z13, for sorted blobs. */
static int zt2_check_blobs(const zt_container *c, const zt_interrupt *interrupt, zt_error *err){
  zt_blob_step step;
  zt_blobs blobs;
  zt_blobs_sort(c, interrupt, &blobs, err);
  while( !err->rc && zt_blobs_next(c, &blobs, &step) ){
    if( step.other ) zt_blobs_fail(c, &step, "Z13", err);
  }
  zt_blobs_clear(&blobs);
  return err->rc;
}

/* context: the manifest's extent. */
static void zt2_check(zt_builder *b, zt_cbor *cbor, const void *context){
  const zt2_extent *extent = context;
  zt_container *c = b->container;
  zt2_walker w = { .c = cbor, .builder = b, .container = c };
  zt_error *err = cbor->err;
  zt_fields f;
  bool ok;
  if( zt_digest_xxh3(zt_container_kept(c))!=extent->hash ){
    zt_break(err, "Z5", "the manifest does not have its hash, %016llx", extent->hash);
    return;
  }
  zt_cbor_make_strict(cbor);
  c->names.short_first = c->shard_names.short_first = true;   /* As encoded */
  ok = zt_cbor_peek(cbor)==ZT_CBOR_MAP ? zt_fields_open(&f, cbor, &zt2_root_schema)
     : zt_cbor_fail_type(cbor, "S6", "a map as the root item");
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT2_SHARDS:     ok = zt2_check_shards(cbor, b); break;
      case ZT2_OBJECTS:    ok = zt2_check_objects(&w); break;
      case ZT2_ATTRIBUTES: ok = zt2_read_attributes(cbor, c, &c->attributes); break;
      default:             ok = false; break;
    }
  }
  zt_cbor_finish(cbor);
  if( !err->rc && w.sort ) zt2_check_blobs(c, cbor->interrupt, err);
}

static int zt2_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  zt2_extent extent = { 0 };
  if( zt2_locate(input, &extent, b->err) ) return b->err->rc;
  c->version = ZT_TEXT("2");
  c->rules = ZT_RULE_CELLS_UNIQUE|ZT_RULE_ORDER|ZT_RULE_CANONICAL_VALUES|ZT_RULE_DIGEST_OF_DECODED
           | ZT_RULE_PADDING_ZERO|ZT_RULE_ANY_ALIGNMENT|ZT_RULE_DIGESTS_KNOWN;
  c->begin = 8;
  c->end = input->size-ZT2_FOOTER;
  c->gap = ZT2_CANONICAL;
  return zt_manifest_open(b, extent.offset, extent.length, zt2_check, &extent);
}

/* --- Decoding --- */

static void zt2_object(const zt_container *c, uint32_t i, zt_object *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->objects.a[i], 2, &unused);
  zt_text name;
  zt_cbor_text(&cbor, &name);
  zt2_read_object(&cbor, c, NULL, out);
  zt2_set_layout(out);
  assert( !unused.rc );
}

static void zt2_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  const zt_text raw = out->encoding;
  const bool decide = want & ZT_COMPONENT_ELEMENT;
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->components.a[k], 4, &unused);
  zt_shard shard;
  (void)i;
  zt_cbor_text(&cbor, &out->role);
  out->digests = ZT_DIGEST_XXH3|ZT_DIGEST_SHA256;
  want &= ~(unsigned)(ZT_COMPONENT_ROLE|ZT_COMPONENT_BYTE_ORDER|ZT_COMPONENT_ELEMENT);
  if( decide ) want |= ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE;
  if( want ) zt_schema_part(&cbor, &zt2_part_schema, want, out);
  assert( !unused.rc );
  if( decide ) zt2_decide(out);
  if( out->encoding.z!=raw.z ) zt2_set_codec(out);
  if( (want & ZT_COMPONENT_SHARD) && out->shard.z
   && zt_container_shard_find(c, out->shard, &shard) ){
    out->shard_size = shard.size;
  }
}

static void zt2_shard(const zt_container *c, uint32_t i, zt_shard *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->shards.a[i], 2, &unused);
  zt2_read_shard(&cbor, out);
  assert( !unused.rc );
  out->digests = ZT_DIGEST_XXH3|ZT_DIGEST_SHA256;
}

const zt_driver zt_driver_zt2 = {
  .name = "2", .format = "ztensor", .own_attributes = true, .tailed = ZT2_MAGIC,
  .rules = { zt_rules_cbor, zt_rules_cbor_strict, zt_rules_schema, zt2_rules },
  .probe = zt2_probe, .open = zt2_open, .object = zt2_object,
  .component = zt2_component, .steps = &zt_manifest_steps, .shard = zt2_shard,
  .check_head_tail = zt2_check_head_tail
};
