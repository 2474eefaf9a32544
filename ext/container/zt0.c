/*
** zTensor 0.1 (spec: zTensor 0.1.0).
**
**   file     := "ZTEN0001" blobs manifest size
**   size     := u64le                        ; bytes of the manifest  (M1, M2)
**   manifest := CBOR array of tensors        ; A1: the root is an array; C1 to C9
**   tensor   := CBOR map                     ; A2: every item is a map; S1 to S6
**       name text (N1; A3: no name twice), offset u64, size u64 (R1 to R3), dtype text, shape [u64]
**       (H1, H2), encoding text, layout text = dense, data_endianness text = little, checksum text;
**       any other key is an attribute
**
** The one blob of a tensor is the component `data`; that of a sparse tensor has all its arrays. The
** writer makes indefinite-length maps.
**
** The number of a component is the position of its tensor's map. An object has the same number,
** unless the model has no word for its sparse format. Then the object's number is the position of
** the format's name, which is kept behind the manifest: its length, "sparse_", and the text of
** sparse_format.
*/
#include "container/schema.h"

static const zt_rule zt0_rules[] = {
  ZT_ERROR("A1", "root-type", "the manifest is an array of tensors (0.1) or a map (1.x)",
           ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("A2", "object-type", "an object is a map", ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("A3", "duplicate-object", "no two objects have the same name", ZT_SPEC_CBOR("3.7")),
  ZT_RULES_END
};

enum {
  ZT0_NAME, ZT0_OFFSET, ZT0_SIZE, ZT0_DTYPE, ZT0_SHAPE, ZT0_ENCODING, ZT0_LAYOUT, ZT0_ENDIANNESS,
  ZT0_CHECKSUM
};

/* The first six are required. */
static const zt_schema zt0_tensor_schema = ZT_SCHEMA("a tensor's map", 0x3F,
  ZT_FIELD(ZT0_NAME, "name", 0),
  ZT_FIELD(ZT0_OFFSET, "offset", 0),
  ZT_FIELD(ZT0_SIZE, "size", 0),
  ZT_FIELD(ZT0_DTYPE, "dtype", 0),
  ZT_FIELD(ZT0_SHAPE, "shape", 0),
  ZT_FIELD(ZT0_ENCODING, "encoding", ZT_NULLABLE),
  ZT_FIELD(ZT0_LAYOUT, "layout", 0),
  ZT_FIELD(ZT0_ENDIANNESS, "data_endianness", ZT_NULLABLE),
  ZT_FIELD(ZT0_CHECKSUM, "checksum", ZT_NULLABLE));

/* A tensor as stored. */
typedef struct zt0_tensor {
  zt_text name, layout;
  zt_component data;
} zt0_tensor;

#define ZT0_MAGIC "ZTEN0001"

static zt_probe zt0_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_head_is(input, ZT0_MAGIC, 8) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* Read the next item, a tensor's map. The place in err is set as soon as the name is known. */
static void zt0_read_tensor(zt_cbor *c, zt0_tensor *t, zt_object *object){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, &zt0_tensor_schema);
  *t = (zt0_tensor){
    .layout = ZT_TEXT_INIT("dense"),
    .data = { .role = ZT_TEXT_INIT("data"), .byte_order = ZT_TEXT_INIT("little") }
  };
  while( ok ){
    switch( zt_fields_next(&f) ){
      case ZT0_NAME:
        if( zt_cbor_peek(c)!=ZT_CBOR_TEXT ) ok = zt_fields_text(&f, &t->name);
        else ok = zt_schema_name(c, &t->name);
        if( ok ) c->err->object = t->name;
        break;
      case ZT0_OFFSET:     ok = zt_fields_uint(&f, &t->data.offset); break;
      case ZT0_SIZE:       ok = zt_fields_uint(&f, &t->data.length); break;
      case ZT0_DTYPE:      ok = zt_fields_text(&f, &t->data.dtype); break;
      case ZT0_SHAPE:      ok = zt_schema_shape(c, object); break;
      case ZT0_ENCODING:   ok = zt_fields_text(&f, &t->data.encoding); break;
      case ZT0_LAYOUT:     ok = zt_fields_text(&f, &t->layout); break;
      case ZT0_ENDIANNESS: ok = zt_fields_text(&f, &t->data.byte_order); break;
      case ZT0_CHECKSUM:   ok = zt_fields_text(&f, &t->data.digest); break;
      default:             ok = false; break;
    }
  }
}

static void zt0_check(zt_builder *b, zt_cbor *cbor, const void *context){
  zt_container *c = b->container;
  zt_error *err = cbor->err;
  zt_cbor_level level;
  zt_object object;
  zt0_tensor t;
  bool duplicate;
  (void)context;
  zt_cbor_skip_self_described(cbor);
  if( !zt_schema_enter(cbor, ZT_CBOR_ARRAY, "A1", "an array as the root item", &level) ) return;
  while( zt_cbor_more(cbor, &level) ){
    size_t at = zt_manifest_position(c, cbor->p);
    if( !zt_cbor_poll(cbor) ) return;
    if( zt_cbor_peek(cbor)!=ZT_CBOR_MAP ) zt_cbor_fail_type(cbor, "A2", "a tensor's map");
    zt0_read_tensor(cbor, &t, &object);
    if( err->rc || !zt_schema_range(cbor, c, t.data.offset, t.data.length) ) return;
    if( zt_builder_object(b, t.name, at, &duplicate) ) return;
    if( duplicate ) zt_cbor_fail(cbor, "A3", "two tensors have this name");
    else if( zt_builder_component(b, at) ) return;
    err->object.z = NULL;
  }
  zt_cbor_finish(cbor);
}

/* --- Attributes: the other keys of a tensor's map --- */

#define ZT0_ATTRIBUTES ZT_MANIFEST_OWN   /* Known fields are skipped */

static bool zt0_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  while( zt_manifest_next(w, level, key, value) ){
    if( !(level->kind & ZT0_ATTRIBUTES) || key->type!=ZT_VALUE_TEXT || key->tagged
     || !zt_schema_has(&zt0_tensor_schema, key->text) ) return true;
    if( value->type==ZT_VALUE_ARRAY || value->type==ZT_VALUE_MAP ) zt_manifest_skip(w, value);
    *key = *value = ZT_VALUE_NONE;
  }
  return false;
}

static const zt_steps zt0_steps = {
  .enter = zt_manifest_enter, .next = zt0_next, .skip = zt_manifest_skip
};

/* --- Layouts --- */

/* The text of `sparse_format`, a custom field; z NULL if there is none. */
static zt_text zt0_sparse_format(const zt_container *c, const zt_value *attributes){
  zt_error unused = ZT_ERROR_NONE;
  zt_value key, value;
  zt_level level;
  zt_walk w;
  zt_text found = { NULL, 0 };
  zt_walk_begin(c, attributes, &w, &level, &unused);
  while( !found.z && zt_walk_next(&w, &level, &key, &value) ){
    if( zt_value_is_text(&key, "sparse_format") && value.type==ZT_VALUE_TEXT && !value.tagged ){
      found = value.text;
    }
  }
  zt_walk_end(&w);
  return found;
}

/* The specification's layouts are dense and sparse + sparse_format; the writer's are dense,
** sparsecsr and sparsecoo. Returns a sparse_format for which the model has no word, else z NULL. */
static zt_text zt0_set_layout(const zt_container *c, zt_object *object, zt_text layout){
  const zt_text none = { NULL, 0 };
  zt_text kind = none;
  object->format = layout;
  if( zt_text_is(layout, "dense") ){
    object->layout = ZT_LAYOUT_DENSE;
    return none;
  }
  if( zt_text_is(layout, "sparsecsr") ) kind = ZT_TEXT("csr");
  else if( zt_text_is(layout, "sparsecoo") ) kind = ZT_TEXT("coo");
  else if( zt_text_is(layout, "sparse") ) kind = zt0_sparse_format(c, &object->attributes);
  if( !kind.z ) return none;
  if( zt_text_is(kind, "csr") ){
    object->format = ZT_TEXT("sparse_csr");
    object->layout = ZT_LAYOUT_CSR_JOINED;
  }else if( zt_text_is(kind, "coo") ){
    object->format = ZT_TEXT("sparse_coo");
    object->layout = ZT_LAYOUT_COO_JOINED;
  }
  return object->layout ? none : kind;
}

/* --- Decoding --- */

static void zt0_decode(const zt_container *c, size_t at, zt0_tensor *t, zt_object *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, at, 1, &unused);
  zt0_read_tensor(&cbor, t, out);
  assert( !unused.rc );
}

static void zt0_object(const zt_container *c, uint32_t i, zt_object *out){
  uint32_t number = c->objects.a[i], at = c->components.a[i];
  zt0_tensor t;
  zt0_decode(c, at, &t, out);
  zt_manifest_set_map(&out->attributes, at, ZT0_ATTRIBUTES);
  zt0_set_layout(c, out, t.layout);
  if( number!=at ){
    const char *z = (const char*)c->kept.p+number;
    out->format = (zt_text){ z+sizeof(uint32_t), zt_load32(z) };
  }
}

/* Component i is tensor i. */
static void zt0_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  zt_object ignored;
  zt0_tensor t;
  (void)i;
  (void)want;
  zt0_decode(c, c->components.a[k], &t, &ignored);
  *out = t.data;
  out->rules = c->rules;
  zt_schema_long_dtype(t.data.dtype, out);
  zt_schema_set_codec(out);
  /* Compressed bytes were little-endian before */
  if( out->codec!=ZT_CODEC_RAW && zt_text_is(out->byte_order, "big") ){
    out->byte_order = ZT_TEXT("little");
  }
  out->digests = ZT_SCHEMA_DIGESTS;
}

/* --- Opening --- */

/* Keep the names of sparse formats for which the model has no words. */
static int zt0_keep_formats(zt_builder *b){
  static const zt_text prefix = ZT_TEXT_INIT("sparse_");
  zt_container *c = b->container;
  for(uint32_t i=0; i<c->objects.n; i++){
    zt_object object;
    zt_text kind;
    zt0_tensor t;
    uint32_t at, n;
    zt0_decode(c, c->components.a[i], &t, &object);
    if( !zt_text_is(t.layout, "sparse") ) continue;
    object.layout = ZT_LAYOUT_UNKNOWN;
    zt_manifest_set_map(&object.attributes, c->components.a[i], ZT0_ATTRIBUTES);
    kind = zt0_set_layout(c, &object, t.layout);
    if( !kind.z ) continue;
    n = (uint32_t)(prefix.n+kind.n);
    at = (uint32_t)((const uint8_t*)kind.z - c->kept.p);   /* Kept bytes may move */
    if( zt_builder_keep(b, &n, sizeof(n), &c->objects.a[i])
     || zt_builder_keep(b, prefix.z, prefix.n, &n)
     || zt_builder_keep(b, NULL, kind.n, &n) ) return b->err->rc;
    memcpy(c->kept.p+n, c->kept.p+at, kind.n);
  }
  return SQLITE_OK;
}

static int zt0_open(zt_builder *b, const zt_head_tail *input){
  b->container->version = ZT_TEXT("0.1.0");
  return zt_schema_open(b, input, 0, zt0_check) ? b->err->rc : zt0_keep_formats(b);
}

const zt_driver zt_driver_zt0 = {
  .name = "0.1", .format = "ztensor", .own_attributes = true, .tailed = ZT0_MAGIC,
  .files = "*.zt",
  .rules = { zt_rules_cbor, zt_rules_schema, zt_rules_name, zt0_rules },
  .probe = zt0_probe, .open = zt0_open,
  .object = zt0_object, .component = zt0_component, .steps = &zt0_steps
};
