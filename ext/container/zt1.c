/*
** zTensor 1.0, 1.1 and 1.2 (specs: zTensor 1.1.0 parts I to III, 1.2.0 sections 1 to 5; 1.0 has
** none).
**
**   file     := "ZTEN1000" blobs manifest size magic
**   size     := u64le                       ; bytes of the manifest  (M1, M2)
**   magic    := "ZTEN1000"                  ; absent in 1.0, which distinguishes it
**   manifest := CBOR map                    ; B1: the root is a map; C1 to C9, S1 to S6
**       version text (B2: its part before the first dot is 1), attributes map (B3: no key occurs
**       twice),
**       objects map name -> object          ; `tensors` in 1.0; N1, B4: no name twice
**   object   := CBOR map                    ; B5
**       shape [u64] (H1, H2), format text, attributes map (B3), components map role -> component
**       (N1, B6: no role twice);
**       1.0: also dtype text; attributes are ignored
**   component := CBOR map                   ; B7
**       dtype text, type text, offset u64, length u64 (R1 to R3), uncompressed_length u64, encoding
**       text = raw, digest text;
**       1.0: dtype, type and uncompressed_length are ignored
*/
#include "container/dtype.h"
#include "container/schema.h"
#include "container/segments.h"
#include "core/cbor_write.h"

#define ZT1_MAGIC "ZTEN1000"
#define ZT1_MINOR_MAX 1000
#define ZT1_FEW 8   /* Roles of an object that are compared pairwise */

static const zt_rule zt1_rules[] = {
  ZT_SAME("B1", "root-type"),
  ZT_UNSUPPORTED("B2", "version", "the major version is the container's: 1, or 2",
                 ZT_SPEC_VERSIONS),
  ZT_SAME("B3", "duplicate-field"),
  ZT_SAME("B4", "duplicate-object"),
  ZT_SAME("B5", "object-type"),
  ZT_ERROR("B6", "duplicate-component", "no two components of an object have the same role",
           ZT_SPEC_CBOR("3.7")),
  ZT_ERROR("B7", "component-type", "a component is a map", ZT_SPEC_ZTENSOR_1("1")),
  ZT_RULES_END
};

#define ZT1_RULES { zt_rules_cbor, zt_rules_schema, zt_rules_name, zt1_rules }

enum { ZT1_VERSION, ZT1_ATTRIBUTES, ZT1_OBJECTS };
enum { ZT1_SHAPE = 10, ZT1_FORMAT, ZT1_OBJECT_DTYPE, ZT1_OBJECT_ATTRIBUTES, ZT1_COMPONENTS };

/* The schemas of 1.0, and of the later versions. */
typedef struct zt1_generation {
  zt_schema root, object, component;
} zt1_generation;

static const zt1_generation zt1_generation_1_0 = {
  ZT_SCHEMA("the root map", 1<<0 | 1<<2,
    ZT_FIELD(ZT1_VERSION, "version", 0),
    ZT_FIELD(ZT1_ATTRIBUTES, "attributes", ZT_NULLABLE),
    ZT_FIELD(ZT1_OBJECTS, "tensors", 0)),
  ZT_SCHEMA("the object's map", 0xF,
    ZT_FIELD(ZT1_OBJECT_DTYPE, "dtype", 0),
    ZT_FIELD(ZT1_SHAPE, "shape", 0),
    ZT_FIELD(ZT1_FORMAT, "format", 0),
    ZT_FIELD(ZT1_COMPONENTS, "components", 0)),
  ZT_SCHEMA("the component's map", 1<<0 | 1<<1,
    ZT_FIELD(ZT_PART_OFFSET, "offset", 0),
    ZT_FIELD(ZT_PART_LENGTH, "length", 0),
    ZT_FIELD(ZT_PART_ENCODING, "encoding", ZT_NULLABLE),
    ZT_FIELD(ZT_PART_DIGEST, "digest", ZT_NULLABLE))
};
static const zt1_generation zt1_generation_1_1 = {
  ZT_SCHEMA("the root map", 1<<0 | 1<<2,
    ZT_FIELD(ZT1_VERSION, "version", 0),
    ZT_FIELD(ZT1_ATTRIBUTES, "attributes", ZT_NULLABLE),
    ZT_FIELD(ZT1_OBJECTS, "objects", 0)),
  ZT_SCHEMA("the object's map", 1<<0 | 1<<1 | 1<<3,
    ZT_FIELD(ZT1_SHAPE, "shape", 0),
    ZT_FIELD(ZT1_FORMAT, "format", 0),
    ZT_FIELD(ZT1_OBJECT_ATTRIBUTES, "attributes", ZT_NULLABLE),
    ZT_FIELD(ZT1_COMPONENTS, "components", 0)),
  ZT_SCHEMA("the component's map", 1<<0 | 1<<2 | 1<<3,
    ZT_FIELD(ZT_PART_DTYPE, "dtype", 0),
    ZT_FIELD(ZT_PART_TYPE, "type", ZT_NULLABLE),
    ZT_FIELD(ZT_PART_OFFSET, "offset", 0),
    ZT_FIELD(ZT_PART_LENGTH, "length", 0),
    ZT_FIELD(ZT_PART_DECODED, "uncompressed_length", ZT_NULLABLE),
    ZT_FIELD(ZT_PART_ENCODING, "encoding", ZT_NULLABLE),
    ZT_FIELD(ZT_PART_DIGEST, "digest", ZT_NULLABLE))
};

const zt_schemas zt_schemas_1 = {
  &zt1_generation_1_1.root, &zt1_generation_1_1.object, &zt1_generation_1_1.component
};

extern const zt_driver zt_driver_zt1_0, zt_driver_zt1_1;

static const zt1_generation *zt1_generation_of(const zt_container *c){
  return c->driver==&zt_driver_zt1_0 ? &zt1_generation_1_0 : &zt1_generation_1_1;
}

/* --- Finding the manifest --- */

/* A file of at most 8 bytes has one magic number, not two. */
static zt_probe zt1_probe(const zt_head_tail *input, bool both){
  const bool at_end = input->size>8 && zt_tail_is(input, ZT1_MAGIC, 8);
  return zt_head_is(input, ZT1_MAGIC, 8) && at_end==both ? ZT_PROBE_YES : ZT_PROBE_NO;
}

static zt_probe zt1_probe_1_0(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt1_probe(input, false);
}

static zt_probe zt1_probe_1_1(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt1_probe(input, true);
}

/* --- The usual object --- */

/* Nearly all objects are dense, with one component without encoding or digest, in this order and in
** the shortest form. These are read in one pass, words at a time. All others go to the readers
** below, which report faults. */
#define ZT1_USUAL_RANK 4
#define ZT1_USUAL_BYTES 160      /* Exceeds the longest one and a word read at its end */

#define ZT1_WORD_SHAPE "\xA3" "eshape"
#define ZT1_WORD_LAYOUT "fformatedensejcomponents\xA1"
#define ZT1_WORD_DTYPE "ddata" "\xA3" "edtype"   /* After the role */
#define ZT1_WORD_OFFSET "foffset"
#define ZT1_WORD_LENGTH "flength"

/* Skip a word. NULL: it is not there; p may be NULL. */
#define ZT1_PASS(p, word) zt1_pass((p), (word), sizeof(word)-1)
ZT_INLINE const uint8_t *zt1_pass(const uint8_t *p, const char *word, size_t n){
  return p && zt_equal(p, word, n) ? p+n : NULL;
}

ZT_INLINE const uint8_t *zt1_pass_uint(const uint8_t *p, uint64_t *out){
  unsigned width;
  return p ? zt_cbor_pass_uint(p, out, &width) : NULL;
}

/* ASCII text of one to eight bytes. */
ZT_INLINE const uint8_t *zt1_pass_short_text(const uint8_t *p, zt_text *out){
  size_t n = p ? *p - (size_t)(ZT_CBOR_TEXT<<5) : 0;
  if( n-1>=8 || (zt_le64(p+1) & (0x8080808080808080u >> (64-8*n)))!=0 ) return NULL;
  *out = (zt_text){ (const char*)p+1, n };
  return p+1+n;
}

/* A role and its component, in ZT1_USUAL_BYTES from its first byte on. NULL: not of the usual
** form. */
ZT_INLINE const uint8_t *zt1_pass_component(const uint8_t *p, zt_component *out){
  p = ZT1_PASS(p, ZT1_WORD_DTYPE);
  p = zt1_pass_short_text(p, &out->dtype);
  p = ZT1_PASS(p, ZT1_WORD_OFFSET);
  p = zt1_pass_uint(p, &out->offset);
  p = ZT1_PASS(p, ZT1_WORD_LENGTH);
  return zt1_pass_uint(p, &out->length);
}

/* A shape whose product fits 64 bits, even without regard to a 0 behind it. */
ZT_INLINE const uint8_t *zt1_pass_shape(const uint8_t *p){
  uint64_t size, product = 1;
  uint32_t rank;
  p = ZT1_PASS(p, ZT1_WORD_SHAPE);
  rank = p ? *p - (uint32_t)(ZT_CBOR_ARRAY<<5) : 0;
  if( !p || rank>ZT1_USUAL_RANK ) return NULL;
  p++;
  for(uint32_t i=0; i<rank; i++){
    p = zt1_pass_uint(p, &size);
    if( !p || !zt_mul64(product, size, &product) ) return NULL;
  }
  return p;
}

/* Check the next object's map and add its component. False: it is not of the usual form, and
** nothing was read. Failures are recorded in c->err. */
static bool zt1_check_usual(zt_cbor *c, zt_builder *b){
  const uint8_t *p = c->p, *role;
  zt_component component;
  if( c->end-p<ZT1_USUAL_BYTES || b->container->driver!=&zt_driver_zt1_1 ) return false;
  p = zt1_pass_shape(p);
  role = p = ZT1_PASS(p, ZT1_WORD_LAYOUT);
  p = zt1_pass_component(p, &component);
  if( !p ) return false;
  c->p = p;
  c->err->component = ZT_TEXT("data");
  if( zt_schema_range(c, b->container, component.offset, component.length) ){
    c->err->component.z = NULL;
    zt_builder_component(b, zt_manifest_position(b->container, role));
  }
  return true;
}

/* --- Components --- */

/* Check and add the next item, a map of components. */
static bool zt1_check_components(zt_cbor *c, zt_builder *b){
  zt_container *container = b->container;
  const uint8_t *start = c->p;
  zt_cbor_level level;
  zt_component component;
  zt_text roles[ZT1_FEW];
  uint32_t n = 0;
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map for 'components'", &level) ) return false;
  for(; zt_cbor_more(c, &level); n++){
    zt_text role;
    if( zt_builder_component(b, zt_manifest_position(container, c->p)) ) return false;
    if( !zt_schema_name(c, &role) ) return false;
    for(uint32_t i=0; i<n && i<ZT1_FEW; i++){
      if( zt_text_equal(roles[i], role) ){
        return zt_cbor_fail(c, "B6", "component '%.*s' stands twice", zt_shown(role), role.z);
      }
    }
    if( n<ZT1_FEW ) roles[n] = role;
    else if( !zt_cbor_poll(c) ) return false;
    c->err->component = role;
    if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "B7", "a component's map");
    component.offset = component.length = 0;   /* For compilers: the schema requires both */
    if( !zt_schema_part(c, &zt1_generation_of(container)->component, ZT_SCHEMA_WANT_CHECK,
                        &component) ) return false;
    if( !zt_schema_range(c, container, component.offset, component.length) ) return false;
    c->err->component.z = NULL;
  }
  if( n>ZT1_FEW ){
    zt_cbor again = *c;
    again.p = start;
    if( !zt_cbor_skip_unique(&again, "B6", "'components'") ) c->p = c->end;
  }
  return c->err->rc==SQLITE_OK;
}

/* --- Objects --- */

/* Take the position of an attributes map, and check it unless it was checked before. */
static bool zt1_read_attributes(zt_cbor *c, const zt_container *container, zt_value *out){
  zt_manifest_set_map(out, zt_manifest_position(container, c->p), 0);
  if( c->trusted ) return zt_cbor_skip(c);
  if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "S6", "a map for 'attributes'");
  return zt_cbor_skip_unique(c, "B3", "'attributes'");
}

/* Read the next item, an object's map, and in 1.0 its dtype, as stored. If `check` is not NULL,
** check the components and add them there. Otherwise reading ends before the components if they are
** the last field, as in real files. */
static bool zt1_read_object(zt_cbor *c, const zt_container *container, zt_builder *check,
                            zt_object *out, zt_text *dtype){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, &zt1_generation_of(container)->object);
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT1_SHAPE:             ok = zt_schema_shape(c, out); break;
      case ZT1_FORMAT:            ok = zt_fields_text(&f, &out->format); break;
      case ZT1_OBJECT_DTYPE:      ok = zt_fields_text(&f, dtype); break;
      case ZT1_OBJECT_ATTRIBUTES: ok = zt1_read_attributes(c, container, &out->attributes); break;
      case ZT1_COMPONENTS:
        if( check ) ok = zt1_check_components(c, check);
        else if( f.level.remaining==0 && !f.level.indefinite ) return true;
        else ok = zt_cbor_skip(c);
        break;
      default: return c->err->rc==SQLITE_OK;
    }
  }
  return false;
}

/* Make room for the announced objects, as far as the manifest could hold them: an object is longer
** than its fields' names. */
static void zt1_reserve(zt_builder *b, const zt_cbor_level *level){
  uint64_t most = b->container->kept.n/sizeof("shapeformatcomponents");
  uint64_t n = level->remaining<most ? level->remaining : most;
  zt_builder_reserve(b, n, n);
}

static bool zt1_check_duplicate(zt_cbor *c, bool duplicate){
  return !duplicate || zt_cbor_fail(c, "B4", "two objects have this name");
}

/* Check and add the next object. Its number is the position of its map. */
static bool zt1_check_object(zt_cbor *c, zt_builder *b){
  zt_object object;
  zt_text name, dtype;
  bool duplicate;
  if( !zt_cbor_poll(c) || !zt_schema_name(c, &name) ) return false;
  c->err->object = name;
  if( zt_builder_object(b, name, zt_manifest_position(b->container, c->p), &duplicate)
   || !zt1_check_duplicate(c, duplicate) ) return false;
  if( !zt1_check_usual(c, b) ){
    if( zt_cbor_peek(c)!=ZT_CBOR_MAP ) return zt_cbor_fail_type(c, "B5", "an object's map");
    zt1_read_object(c, b->container, b, &object, &dtype);
  }
  if( c->err->rc ) return false;
  c->err->object.z = NULL;
  return true;
}

static bool zt1_check_objects(zt_cbor *c, zt_builder *b){
  zt_segments *others;
  zt_cbor_level level;
  bool duplicate, ok = true;
  if( !zt_schema_enter(c, ZT_CBOR_MAP, "S6", "a map of objects", &level) ) return false;
  zt1_reserve(b, &level);
  others = level.indefinite ? NULL : zt_segments_begin(c, b, zt1_check_object);
  while( ok && zt_cbor_more(c, &level) ){
    if( others && zt_segments_take(others, c, b, &level.remaining, &duplicate) ){
      ok = zt1_check_duplicate(c, duplicate);
    }else{
      ok = !c->err->rc && zt1_check_object(c, b);
    }
  }
  zt_segments_end(others);
  return ok && !c->err->rc;
}

/* --- The root --- */

/* The minor version: the digits behind "1." up to the next dot. 0 if there are none, -1 if they are
** no number or a long one. */
static int zt1_minor_of(zt_text version){
  int minor = 0;
  size_t i = 2;
  if( version.n<2 ) return 0;
  for(; i<version.n && version.z[i]!='.'; i++){
    if( version.z[i]<'0' || version.z[i]>'9' || minor>ZT1_MINOR_MAX ) return -1;
    minor = 10*minor + version.z[i]-'0';
  }
  return i>2 ? minor : -1;
}

/* Set the rules of the version (1.1.0 part I, 1.2.0 sections 1, 3 and 4). */
static void zt1_set_rules(zt_container *c){
  int minor = zt1_minor_of(c->version);
  c->newer = minor<0 || minor>2;
  c->rules = ZT_RULE_PADDING_ZERO;
  if( c->driver==&zt_driver_zt1_1 && (minor<0 || minor>1) ){
    c->rules |= ZT_RULE_U64_INDICES|ZT_RULE_DECODED_LENGTH;
  }
}

static bool zt1_check_version(zt_cbor *c, zt_text version){
  if( version.n==0 || version.z[0]!='1' || (version.n>1 && version.z[1]!='.') ){
    return zt_cbor_fail(c, "B2", "version '%.*s' is not 1.x", zt_shown(version), version.z);
  }
  return true;
}

static void zt1_check(zt_builder *b, zt_cbor *cbor, const void *context){
  zt_container *c = b->container;
  zt_fields f;
  bool ok;
  (void)context;
  zt_cbor_skip_self_described(cbor);
  ok = zt_cbor_peek(cbor)==ZT_CBOR_MAP ? zt_fields_open(&f, cbor, &zt1_generation_of(c)->root)
     : zt_cbor_fail_type(cbor, "B1", "a map as the root item");
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT1_VERSION:
        ok = zt_fields_text(&f, &c->version) && zt1_check_version(cbor, c->version);
        break;
      case ZT1_ATTRIBUTES: ok = zt1_read_attributes(cbor, c, &c->attributes); break;
      case ZT1_OBJECTS:    ok = zt1_check_objects(cbor, b); break;
      default:             ok = false; break;
    }
  }
  if( !cbor->err->rc ) zt1_set_rules(c);
  zt_cbor_finish(cbor);
}

static int zt1_open_1_1(zt_builder *b, const zt_head_tail *input){
  return zt_schema_open(b, input, 8, zt1_check);
}

/* --- Decoding --- */

static void zt1_set_layout(zt_object *object){
  static const struct { zt_text format; zt_layout_id layout; } words[] = {
    { ZT_TEXT_INIT("dense"), ZT_LAYOUT_DENSE },
    { ZT_TEXT_INIT("sparse_csr"), ZT_LAYOUT_CSR },
    { ZT_TEXT_INIT("sparse_coo"), ZT_LAYOUT_COO },
    { ZT_TEXT_INIT("quantized_group"), ZT_LAYOUT_QUANTIZED_GROUP },
  };
  for(size_t i=0; i<sizeof(words)/sizeof(*words); i++){
    if( zt_text_equal(object->format, words[i].format) ) object->layout = words[i].layout;
  }
}

static void zt1_decode_object(const zt_container *c, uint32_t i, zt_object *out, zt_text *dtype){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->objects.a[i], 2, &unused);
  zt1_read_object(&cbor, c, NULL, out, dtype);
  zt1_set_layout(out);
  assert( !unused.rc );
}

static void zt1_object(const zt_container *c, uint32_t i, zt_object *out){
  zt_text unused;
  zt1_decode_object(c, i, out, &unused);
}

/* Write the map of an object of 1.0 without components. */
static void zt1_put_head(const zt_object *object, zt_text dtype, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 4);
  zt_cbor_put_text(out, ZT_TEXT("dtype"));
  zt_cbor_put_text(out, dtype);
  zt_cbor_put_text(out, ZT_TEXT("shape"));
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, object->rank);
  for(uint32_t d=0; d<object->rank; d++) zt_cbor_put_uint(out, object->shape[d]);
  zt_cbor_put_text(out, ZT_TEXT("format"));
  zt_cbor_put_text(out, object->format);
  zt_cbor_put_text(out, ZT_TEXT("components"));
  zt_cbor_put_head(out, ZT_CBOR_MAP, 0);
}

/* In 1.0, components take their dtype from their tensor. A tensor may have a million components,
** and its map may list them before the dtype. So the map of a tensor with many components is kept
** once more without them, and the object's number is the position of this copy. */
static int zt1_keep_heads(zt_builder *b){
  zt_container *c = b->container;
  zt_cbor_out head = { .err = b->err };
  zt_object object = { .rank = 0 };
  zt_text dtype = { NULL, 0 };
  for(uint32_t i=0; i<c->objects.n && !b->err->rc; i++){
    if( zt_container_first(c, i+1)-zt_container_first(c, i)<=ZT1_FEW ) continue;
    if( zt_interrupt_check(b->interrupt, b->err) ) break;
    zt1_decode_object(c, i, &object, &dtype);
    zt_cbor_out_reset(&head);
    zt1_put_head(&object, dtype, &head);
    if( !b->err->rc ) zt_builder_keep(b, head.p, head.n, &c->objects.a[i]);
  }
  zt_cbor_out_clear(&head);
  return b->err->rc;
}

static int zt1_open_1_0(zt_builder *b, const zt_head_tail *input){
  return zt_schema_open(b, input, 0, zt1_check) ? b->err->rc : zt1_keep_heads(b);
}

/* In 1.0 a component has its tensor's dtype, but indices of sparse tensors are u64. */
static void zt1_set_dtype_1_0(const zt_container *c, uint32_t i, zt_component *out){
  const bool is_index = zt_text_is(out->role, "indices") || zt_text_is(out->role, "indptr")
                     || zt_text_is(out->role, "coords");
  zt_text dtype = { NULL, 0 }, format = { NULL, 0 };
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->objects.a[i], 2, &unused);
  zt_fields f;
  zt_fields_open(&f, &cbor, &zt1_generation_1_0.object);
  while( !unused.rc && (!dtype.z || (is_index && !format.z)) ){
    switch( zt_fields_next(&f) ){
      case ZT1_OBJECT_DTYPE: zt_fields_text(&f, &dtype); break;
      case ZT1_FORMAT:       zt_fields_text(&f, &format); break;
      default:               zt_cbor_skip(&cbor); break;
    }
  }
  assert( !unused.rc );
  if( is_index && (zt_text_is(format, "sparse_csr") || zt_text_is(format, "sparse_coo")) ){
    out->dtype = ZT_TEXT("u64");
    out->storage = out->element = zt_dtype_get(ZT_DTYPE_u64);
    return;
  }
  zt_schema_long_dtype(dtype, out);
}

/* Logical types that zTensor 2 added; 1.x does not have them. */
static bool zt1_is_later_type(zt_text type){
  return zt_text_is(type, "f8_e8m0") || zt_text_is(type, "f4_e2m1")
      || zt_schema_is_foreign(type);
}

/* 1.1 has logical types among its dtypes (part II section 4). */
static void zt1_set_dtype_1_1(const zt_container *c, zt_component *out){
  static const struct { zt_text stored, dtype, type; } words[] = {
    { ZT_TEXT_INIT("f8_e4m3"), ZT_TEXT_INIT("u8"), ZT_TEXT_INIT("f8_e4m3fn") },
    { ZT_TEXT_INIT("f8_e5m2"), ZT_TEXT_INIT("u8"), ZT_TEXT_INIT("f8_e5m2") },
    { ZT_TEXT_INIT("complex64"), ZT_TEXT_INIT("f32"), ZT_TEXT_INIT("complex64") },
    { ZT_TEXT_INIT("complex128"), ZT_TEXT_INIT("f64"), ZT_TEXT_INIT("complex128") },
  };
  if( c->version.n<3 || memcmp(c->version.z, "1.1", 3)!=0
   || (c->version.n>3 && c->version.z[3]!='.') ) return;
  for(size_t i=0; i<sizeof(words)/sizeof(*words); i++){
    if( zt_text_equal(out->dtype, words[i].stored) ){
      out->dtype = words[i].dtype;
      if( !out->type.z ) out->type = words[i].type;
      return;
    }
  }
}

/* Set the meaning of dtype and type. */
static void zt1_decide(zt_component *out){
  zt_dtype_decide(out);
  if( !out->type.z || !zt1_is_later_type(out->type) ) return;
  out->element = NULL;
  out->misplaced = false;
}

/* Read a component as stored, which is not of the usual form. */
static ZT_COLD void zt1_decode_unusual(const zt_container *c, size_t at, unsigned want,
                                       zt_component *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, at, 4, &unused);
  zt_cbor_text(&cbor, &out->role);
  if( want ) zt_schema_part(&cbor, &zt1_generation_of(c)->component, want, out);
  assert( !unused.rc );
}

/* Read a component as stored. */
static void zt1_decode_component(const zt_container *c, size_t at, unsigned want,
                                 zt_component *out){
  if( c->driver==&zt_driver_zt1_1 && c->kept.n-at>=ZT1_USUAL_BYTES
   && zt1_pass_component(c->kept.p+at, out) ){
    out->role = ZT_TEXT("data");
  }else{
    zt1_decode_unusual(c, at, want, out);
  }
}

static void zt1_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  const unsigned types = ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE, whole = want;
  want &= ~(unsigned)(ZT_COMPONENT_ROLE|ZT_COMPONENT_BYTE_ORDER|ZT_COMPONENT_ELEMENT);
  if( whole & (ZT_COMPONENT_ELEMENT|ZT_COMPONENT_TYPE) ){   /* They follow from dtype and type */
    want |= whole & ZT_COMPONENT_ELEMENT ? types : ZT_COMPONENT_DTYPE;
  }
  zt1_decode_component(c, c->components.a[k], want, out);
  if( want & ZT_COMPONENT_ENCODING ) zt_schema_set_codec(out);
  out->digests = ZT_SCHEMA_DIGESTS;
  if( !(want & types) ) return;
  if( c->driver==&zt_driver_zt1_0 ){
    zt1_set_dtype_1_0(c, i, out);
    return;
  }
  zt1_set_dtype_1_1(c, out);
  if( whole & ZT_COMPONENT_ELEMENT ) zt1_decide(out);
}

const zt_driver zt_driver_zt1_0 = {
  .name = "1.0", .format = "ztensor", .own_attributes = true, .tailed = ZT1_MAGIC,
  .rules = ZT1_RULES,
  .probe = zt1_probe_1_0, .open = zt1_open_1_0,
  .object = zt1_object, .component = zt1_component, .steps = &zt_manifest_steps
};
const zt_driver zt_driver_zt1_1 = {
  .name = "1.1", .format = "ztensor", .own_attributes = true, .tailed = ZT1_MAGIC,
  .rules = ZT1_RULES,
  .probe = zt1_probe_1_1, .open = zt1_open_1_1,
  .object = zt1_object, .component = zt1_component, .steps = &zt_manifest_steps
};
