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
** The one blob of a tensor is the component `data`. The writer makes indefinite-length maps.
*/
#include <assert.h>
#include "container/schema.h"
#include "core/host.h"

enum {
  ZT0_NAME, ZT0_OFFSET, ZT0_SIZE, ZT0_DTYPE, ZT0_SHAPE, ZT0_ENCODING, ZT0_LAYOUT, ZT0_ENDIANNESS,
  ZT0_CHECKSUM
};

static const zt_field zt0_fields[] = {
  ZT_FIELD(ZT0_NAME, "name", 0),
  ZT_FIELD(ZT0_OFFSET, "offset", 0),
  ZT_FIELD(ZT0_SIZE, "size", 0),
  ZT_FIELD(ZT0_DTYPE, "dtype", 0),
  ZT_FIELD(ZT0_SHAPE, "shape", 0),
  ZT_FIELD(ZT0_ENCODING, "encoding", ZT_NULLABLE),
  ZT_FIELD(ZT0_LAYOUT, "layout", 0),
  ZT_FIELD(ZT0_ENDIANNESS, "data_endianness", ZT_NULLABLE),
  ZT_FIELD(ZT0_CHECKSUM, "checksum", ZT_NULLABLE),
};

/* Required: the first six. */
static const zt_schema zt0_tensor_schema = {
  "a tensor's map", zt0_fields, sizeof(zt0_fields)/sizeof(*zt0_fields), 0x3F
};

/* A tensor as it is stored. */
typedef struct zt0_tensor {
  const uint8_t *at_name;   /* The name's item */
  zt_text name, layout;
  zt_component data;
} zt0_tensor;

static bool zt0_probe(const zt_ends *ends){
  return ends->head.n==8 && memcmp(ends->head.p, "ZTEN0001", 8)==0;
}

static int zt0_locate(const zt_ends *ends, zt_extent *out, zt_error *err){
  return zt_schema_locate(ends, 0, out, err);
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
        t->at_name = c->p;
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

static int zt0_walk(zt_container *c, zt_cbor *cbor){
  zt_error *err = cbor->err;
  zt_cbor_level level;
  zt_object object;
  zt0_tensor t;
  bool duplicate;
  c->version = ZT_TEXT("0.1.0");
  zt_cbor_skip_self_described(cbor);
  if( zt_cbor_peek(cbor)!=ZT_CBOR_ARRAY ){
    zt_cbor_fail_type(cbor, "A1", "an array as the root item");
  }
  if( err->rc || !zt_cbor_open(cbor, ZT_CBOR_ARRAY, &level) ) return err->rc;
  while( zt_cbor_more(cbor, &level) ){
    size_t at = zt_container_position(c, cbor->p);
    if( !zt_cbor_poll(cbor) ) return err->rc;
    if( zt_cbor_peek(cbor)!=ZT_CBOR_MAP ) zt_cbor_fail_type(cbor, "A2", "a tensor's map");
    zt0_read_tensor(cbor, &t, &object);
    if( err->rc || !zt_schema_range(cbor, c, t.data.offset, t.data.length) ) return err->rc;
    if( zt_positions_push(&c->first, c->components.n, err)
     || zt_positions_push(&c->components, at, err) ) return err->rc;
    if( zt_keys_add(&c->names, t.at_name, t.name, &duplicate, err) ) return err->rc;
    if( duplicate ) zt_cbor_fail(cbor, "A3", "two tensors have this name");
    err->object.z = NULL;
  }
  zt_cbor_finish(cbor);
  return err->rc;
}

/* The text of `sparse_format`, which is a custom field; z NULL if there is none. */
static zt_text zt0_sparse_format(const zt_container *c, const zt_object *object){
  zt_attribute_walk it;
  zt_text key, value = { NULL, 0 };
  zt_attributes_begin(c, &object->attributes, &it);
  while( zt_attributes_next(&it) ){
    if( zt_cbor_peek(&it.cbor)!=ZT_CBOR_TEXT ) zt_cbor_skip(&it.cbor);
    else if( zt_cbor_text(&it.cbor, &key) && zt_text_is(key, "sparse_format")
          && zt_cbor_peek(&it.cbor)==ZT_CBOR_TEXT ){
      zt_cbor_text(&it.cbor, &value);
      return value;
    }
    zt_cbor_skip(&it.cbor);
  }
  return value;
}

/* The specification's layouts are dense and sparse + sparse_format; the writer's dense, sparsecsr
** and sparsecoo. */
static void zt0_set_format(const zt_container *c, zt_object *object, zt_text layout){
  zt_text kind;
  object->format = layout;
  if( zt_text_is(layout, "dense") ) return;
  if( zt_text_is(layout, "sparsecsr") ) kind = ZT_TEXT("csr");
  else if( zt_text_is(layout, "sparsecoo") ) kind = ZT_TEXT("coo");
  else if( zt_text_is(layout, "sparse") ) kind = zt0_sparse_format(c, object);
  else kind = (zt_text){ NULL, 0 };
  if( kind.z && zt_text_is(kind, "csr") ) object->format = ZT_TEXT("sparse_csr");
  else if( kind.z && zt_text_is(kind, "coo") ) object->format = ZT_TEXT("sparse_coo");
  else object->foreign = true;
  object->one_blob = !object->foreign;
  if( kind.z && object->foreign ){
    object->format_prefix = "sparse_";
    object->format = kind;
  }
}

static bool zt0_is_field(zt_text key){
  return zt_schema_has(&zt0_tensor_schema, key);
}

static void zt0_decode(const zt_container *c, uint32_t i, zt0_tensor *t, zt_object *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = { .err = &unused };
  zt_container_decode(c, c->components.a[i], 1, &cbor);
  zt0_read_tensor(&cbor, t, out);
  assert( !unused.rc );
}

static void zt0_object(const zt_container *c, uint32_t i, zt_object *out){
  zt0_tensor t;
  zt0_decode(c, i, &t, out);
  out->name = t.name;
  out->attributes = (zt_attributes){
    .at = c->components.a[i], .depth = 1, .is_field = zt0_is_field
  };
  zt0_set_format(c, out, t.layout);
}

/* Component i is tensor i. */
static void zt0_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                          zt_component *out){
  zt_object ignored;
  zt0_tensor t;
  zt_text dtype;
  (void)k;
  (void)want;
  zt0_decode(c, i, &t, &ignored);
  *out = t.data;
  dtype = zt_schema_long_dtype(out->dtype);
  if( dtype.z ) out->dtype = dtype;
  else out->foreign = true;
}

const zt_driver zt_driver_zt0 = {
  "0.1", "ztensor", zt0_probe, zt0_locate, zt0_walk, zt0_object, zt0_component, NULL, 8, 64
};
