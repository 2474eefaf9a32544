/* Tensors of ONNX as objects. See onnx.h; rule numbers: onnx.c. */
#include "container/onnx.h"

#include "container/dtype.h"
#include "container/shard.h"
#include "core/host.h"
#include "core/utf8.h"

#define ONNX_MAP_FIRST 8   /* First capacity of a map */

/* Numbers of fields in onnx.proto. */
enum { ONNX_SPARSE_VALUES = 1, ONNX_SPARSE_INDICES = 2, ONNX_SPARSE_DIMS = 3 };
enum {
  ONNX_TENSOR_DIMS = 1, ONNX_TENSOR_TYPE = 2, ONNX_TENSOR_SEGMENT = 3, ONNX_TENSOR_FLOAT = 4,
  ONNX_TENSOR_INT32 = 5, ONNX_TENSOR_STRING = 6, ONNX_TENSOR_INT64 = 7, ONNX_TENSOR_NAME = 8,
  ONNX_TENSOR_RAW = 9, ONNX_TENSOR_DOUBLE = 10, ONNX_TENSOR_UINT64 = 11, ONNX_TENSOR_EXTERNAL = 13,
  ONNX_TENSOR_LOCATION = 14, ONNX_TENSOR_FIELDS = 15
};
enum { ONNX_DEFAULT = 0, ONNX_EXTERNAL = 1 };    /* Values of data_location */
enum { ONNX_ENTRY_KEY = 1, ONNX_ENTRY_VALUE = 2 };   /* StringStringEntry, OperatorSetId */

/* Types by number. */
static const zt_onnx_type onnx_types[] = {
  { NULL, NULL, 0 },                      { "f32", NULL, ONNX_TENSOR_FLOAT },
  { "u8", NULL, ONNX_TENSOR_INT32 },           { "i8", NULL, ONNX_TENSOR_INT32 },
  { "u16", NULL, ONNX_TENSOR_INT32 },          { "i16", NULL, ONNX_TENSOR_INT32 },
  { "i32", NULL, ONNX_TENSOR_INT32 },          { "i64", NULL, ONNX_TENSOR_INT64 },
  { NULL, "string", ONNX_TENSOR_STRING },      { "bool", NULL, ONNX_TENSOR_INT32 },
  { "f16", NULL, ONNX_TENSOR_INT32 },          { "f64", NULL, ONNX_TENSOR_DOUBLE },
  { "u32", NULL, ONNX_TENSOR_UINT64 },         { "u64", NULL, ONNX_TENSOR_UINT64 },
  { "f32", "complex64", ONNX_TENSOR_FLOAT },   { "f64", "complex128", ONNX_TENSOR_DOUBLE },
  { "bf16", NULL, ONNX_TENSOR_INT32 },         { "u8", "f8_e4m3fn", ONNX_TENSOR_INT32 },
  { "u8", "f8_e4m3fnuz", ONNX_TENSOR_INT32 },  { "u8", "f8_e5m2", ONNX_TENSOR_INT32 },
  { "u8", "f8_e5m2fnuz", ONNX_TENSOR_INT32 },  { "u8", "u4", ONNX_TENSOR_INT32 },
  { "u8", "i4", ONNX_TENSOR_INT32 },           { "u8", "f4_e2m1", ONNX_TENSOR_INT32 },
  { "u8", "f8_e8m0", ONNX_TENSOR_INT32 },      { "u8", "u2", ONNX_TENSOR_INT32 },
  /* The model does not know how elements of six bits are packed */
  { "u8", "i2", ONNX_TENSOR_INT32 },           { "u8", "f6_e2m3", ONNX_TENSOR_INT32 },
  { "u8", "f6_e3m2", ONNX_TENSOR_INT32 }
};
#define ONNX_TYPES (sizeof(onnx_types)/sizeof(*onnx_types))
#define ONNX_FLOAT 1
#define ONNX_INT64 7
#define ONNX_STRING 8

/* Attributes of a Constant without a TensorProto (onnx/defs, operator Constant): fields of an
** AttributeProto, and their equivalents in a tensor. */
static const struct onnx_value {
  const char *name;
  uint32_t number;         /* The field's */
  unsigned wire;           /* The field's type; lists of numbers may be packed */
  bool list;               /* One dimension; else a scalar */
  uint64_t type;
  unsigned data;           /* The equivalent field of a TensorProto */
} onnx_values[] = {
  { "value_float", 2, ZT_WIRE_FIXED32, false, ONNX_FLOAT, ONNX_TENSOR_FLOAT },
  { "value_int", 3, ZT_WIRE_VARINT, false, ONNX_INT64, ONNX_TENSOR_INT64 },
  { "value_string", 4, ZT_WIRE_BYTES, false, ONNX_STRING, ONNX_TENSOR_STRING },
  { "value_floats", 7, ZT_WIRE_FIXED32, true, ONNX_FLOAT, ONNX_TENSOR_FLOAT },
  { "value_ints", 8, ZT_WIRE_VARINT, true, ONNX_INT64, ONNX_TENSOR_INT64 },
  { "value_strings", 9, ZT_WIRE_BYTES, true, ONNX_STRING, ONNX_TENSOR_STRING }
};

/* A field of data. */
typedef struct onnx_field {
  zt_message bytes;        /* The last one's */
  uint32_t n;              /* Occurrences */
  bool packed;             /* The last one is bytes */
} onnx_field;

typedef struct onnx_tensor {
  zt_message name;
  zt_message whole;
  uint32_t pieces;
  uint32_t rank;
  uint64_t shape[ZT_MAX_RANK];
  uint64_t elements;
  bool negative, external;
  uint64_t type;           /* data_type, if typed */
  bool typed;
  uint64_t text;           /* Bytes of all strings */
  onnx_field fields[ONNX_TENSOR_FIELDS];
  unsigned data;           /* The field with its data; 0: none */
  const struct onnx_value *value;   /* NULL: a TensorProto */
} onnx_tensor;

const zt_onnx_type *zt_onnx_type_of(uint64_t number){
  return &onnx_types[number<ONNX_TYPES ? number : 0];
}

/* --- Messages --- */

zt_onnx_cursor zt_onnx_into(zt_onnx_cursor outer, uint32_t number){
  zt_onnx_cursor c = outer;
  c.number[c.depth-1] = number;
  c.level[c.depth++] = (zt_message){ 0, 0 };
  c.pieces = 0;
  return c;
}

/* Enter the next message of a level. */
static bool onnx_refill(zt_onnx_scan *s, zt_onnx_cursor *c, unsigned level){
  zt_wire_field f;
  if( level==0 ) return false;
  do{
    while( zt_protobuf_next(&s->in, &c->level[level-1], &f) ){
      if( f.number!=c->number[level-1] || f.type!=ZT_WIRE_BYTES ) continue;
      c->level[level] = f.bytes;
      if( level+1==c->depth ){
        if( c->pieces++==0 ) c->whole.at = f.bytes.at;
        c->whole.end = f.bytes.end;
      }
      return true;
    }
  }while( !s->err->rc && onnx_refill(s, c, level-1) );
  return false;
}

bool zt_onnx_next(zt_onnx_scan *s, zt_onnx_cursor *c, zt_wire_field *out){
  do{
    if( zt_protobuf_next(&s->in, &c->level[c->depth-1], out) ) return true;
  }while( !s->err->rc && onnx_refill(s, c, c->depth-1) );
  return false;
}

bool zt_onnx_find(zt_onnx_scan *s, zt_onnx_cursor *c, uint32_t number, zt_message *out){
  zt_wire_field f;
  while( zt_onnx_next(s, c, &f) ){
    if( f.number!=number || f.type!=ZT_WIRE_BYTES ) continue;
    *out = f.bytes;
    return true;
  }
  return false;
}

/* --- Kept texts --- */

/* OX9: true if n more bytes may be kept. */
static bool onnx_may_keep(zt_onnx_scan *s, uint64_t n){
  const uint64_t kept = (uint64_t)s->b->container->kept.n+s->items.n+s->path.n+s->map.text.n;
  if( s->err->rc ) return false;
  if( kept<=s->most && n<=s->most-kept ) return true;
  zt_break(s->err, "OX9", "names and what is shown as text take more than %llu bytes",
           (unsigned long long)s->most);
  return false;
}

bool zt_onnx_text(zt_onnx_scan *s, zt_message m, zt_span *out){
  return onnx_may_keep(s, m.end-m.at) && zt_protobuf_bytes(&s->in, m, out);
}

void zt_onnx_put_text(zt_onnx_scan *s, zt_cbor_out *o, zt_message m){
  zt_span text;
  if( zt_onnx_text(s, m, &text) ) zt_cbor_put_name(o, text);
}

void zt_onnx_put_key(zt_cbor_out *o, const char *key){
  zt_cbor_put_text(o, (zt_text){ key, strlen(key) });
}

void zt_onnx_push(zt_onnx_scan *s, const char *z){
  zt_cbor_put_items(&s->path, (zt_span){ (const uint8_t*)z, strlen(z) });
}

void zt_onnx_push_text(zt_onnx_scan *s, zt_message m){
  zt_span text;
  if( zt_onnx_text(s, m, &text) ) zt_cbor_put_items(&s->path, text);
}

static zt_text onnx_path(const zt_onnx_scan *s){
  return (zt_text){ s->path.n ? (const char*)s->path.p : "", s->path.n };
}

static const uint8_t *onnx_map_bytes(const zt_onnx_map *map){
  return map->text.n ? map->text.p : (const uint8_t*)"";
}

/* Set the value of a key, which is the last n bytes of the text. */
static bool onnx_map_set(zt_onnx_scan *s, size_t n, const zt_wire_field *value){
  zt_onnx_map *map = &s->map;
  const uint8_t *keys = onnx_map_bytes(map);
  const zt_key key = { (uint32_t)(map->text.n-n), (uint32_t)n };
  uint32_t i = map->keys.n;
  bool duplicate;
  if( zt_keys_add(&map->keys, keys, key, &duplicate, s->err) ) return false;
  if( duplicate ){
    i = (uint32_t)zt_keys_find(&map->keys, keys, (zt_text){ (const char*)keys+key.at, n });
  }
  if( i==map->capacity ){
    const uint32_t capacity = map->capacity ? 2*map->capacity : ONNX_MAP_FIRST;
    zt_wire_field *values = sqlite3_realloc64(map->values, capacity*sizeof(*values));
    if( !values ) return zt_fail_nomem(s->err)==SQLITE_OK;
    map->values = values;
    map->capacity = capacity;
  }
  map->values[i] = *value;
  return true;
}

bool zt_onnx_read_map(zt_onnx_scan *s, zt_onnx_cursor c, uint32_t field, unsigned type){
  zt_message entry;
  zt_keys_clear(&s->map.keys);
  zt_cbor_out_reset(&s->map.text);
  while( zt_onnx_find(s, &c, field, &entry) ){
    zt_wire_field f, value = { .type = type };
    zt_message key = { 0, 0 };
    zt_span text;
    while( zt_protobuf_next(&s->in, &entry, &f) ){
      if( f.number==ONNX_ENTRY_KEY && f.type==ZT_WIRE_BYTES ) key = f.bytes;
      if( f.number==ONNX_ENTRY_VALUE && f.type==type ) value = f;
    }
    if( !zt_onnx_text(s, key, &text) ) return false;
    zt_cbor_put_items(&s->map.text, text);
    if( s->err->rc || !onnx_map_set(s, text.n, &value) ) return false;
  }
  return !s->err->rc;
}

static int64_t onnx_map_find(const zt_onnx_map *map, const char *key){
  return zt_keys_find(&map->keys, onnx_map_bytes(map), (zt_text){ key, strlen(key) });
}

/* True if a key is there, and its text is empty. */
static bool onnx_map_is_empty(const zt_onnx_map *map, const char *key){
  const int64_t i = onnx_map_find(map, key);
  return i>=0 && map->values[i].bytes.at==map->values[i].bytes.end;
}

/* The bytes of a key's value; empty if there are none. */
static zt_message onnx_map_value(const zt_onnx_map *map, const char *key){
  const int64_t i = onnx_map_find(map, key);
  return i<0 ? (zt_message){ 0, 0 } : map->values[i].bytes;
}

void zt_onnx_put_map(zt_onnx_scan *s, zt_cbor_out *o){
  const zt_onnx_map *map = &s->map;
  zt_cbor_put_head(o, ZT_CBOR_MAP, map->keys.n);
  for(uint32_t i=0; i<map->keys.n; i++){
    const zt_text key = zt_keys_text(&map->keys, onnx_map_bytes(map), i);
    if( !onnx_may_keep(s, key.n) ) return;
    zt_cbor_put_name(o, (zt_span){ (const uint8_t*)key.z, key.n });
    if( map->values[i].type==ZT_WIRE_VARINT ) zt_cbor_put_int(o, (int64_t)map->values[i].value);
    else zt_onnx_put_text(s, o, map->values[i].bytes);
  }
}

/* --- Tensors --- */

/* OX5 */
static bool onnx_add_dimension(zt_onnx_scan *s, uint64_t at, uint64_t n, onnx_tensor *t){
  if( t->rank==ZT_MAX_RANK ){
    zt_break(s->err, "OX5", "byte %llu: a tensor of more than %d dimensions",
             (unsigned long long)at, ZT_MAX_RANK);
    return false;
  }
  t->negative |= n>>63!=0;
  t->shape[t->rank++] = n;
  return true;
}

/* Numbers, single or packed. */
static void onnx_read_dims(zt_onnx_scan *s, const zt_wire_field *f, onnx_tensor *t){
  zt_message m = f->bytes;
  uint64_t n;
  if( f->type==ZT_WIRE_VARINT ) onnx_add_dimension(s, m.at, f->value, t);
  if( f->type!=ZT_WIRE_BYTES ) return;
  while( zt_protobuf_varint(&s->in, &m, &n) && onnx_add_dimension(s, m.at, n, t) ){}
}

/* A field of data, if its wire type is right. */
static void onnx_read_data(const zt_wire_field *f, onnx_tensor *t){
  static const unsigned types[ONNX_TENSOR_FIELDS] = {
    [ONNX_TENSOR_FLOAT] = ZT_WIRE_FIXED32, [ONNX_TENSOR_DOUBLE] = ZT_WIRE_FIXED64,
    [ONNX_TENSOR_RAW] = ZT_WIRE_BYTES, [ONNX_TENSOR_STRING] = ZT_WIRE_BYTES
  };   /* Varints are 0 */
  onnx_field *field = &t->fields[f->number];
  if( f->type!=types[f->number] && f->type!=ZT_WIRE_BYTES ) return;
  field->bytes = f->bytes;
  field->packed = f->type==ZT_WIRE_BYTES;
  field->n++;
  if( f->number==ONNX_TENSOR_STRING ) t->text += f->bytes.end-f->bytes.at;
}

/* OX5. A negative dimension counts as 0. */
static bool onnx_count(zt_onnx_scan *s, onnx_tensor *t){
  zt_object object = { .rank = t->rank };
  for(uint32_t i=0; i<t->rank; i++) object.shape[i] = t->shape[i]>>63 ? 0 : t->shape[i];
  if( zt_object_count(&object) ){
    t->elements = object.elements;
    return true;
  }
  zt_break(s->err, "OX5", "byte %llu: the product of a tensor's dimensions does not fit 64 bits",
           (unsigned long long)t->whole.at);
  return false;
}

/* The field with the data, in onnx's order. */
static unsigned onnx_choose_data(const onnx_tensor *t){
  const unsigned own = t->type<ONNX_TYPES ? onnx_types[t->type].field : 0;
  if( own==ONNX_TENSOR_STRING ) return ONNX_TENSOR_STRING;
  if( t->external ) return ONNX_TENSOR_EXTERNAL;
  if( t->fields[ONNX_TENSOR_RAW].n ) return ONNX_TENSOR_RAW;
  return own && t->fields[own].n ? own : 0;
}

/* The value of an int32 or an enum, sign-extended. */
static uint64_t onnx_int32(const zt_wire_field *f){
  return (uint64_t)(int64_t)(int32_t)(uint32_t)f->value;
}

static void onnx_read_location(const zt_wire_field *f, onnx_tensor *t){
  if( f->type==ZT_WIRE_VARINT && onnx_int32(f)<=ONNX_EXTERNAL ){
    t->external = onnx_int32(f)==ONNX_EXTERNAL;
  }
}

static bool onnx_read_tensor(zt_onnx_scan *s, zt_onnx_cursor c, onnx_tensor *t){
  zt_wire_field f;
  *t = (onnx_tensor){ 0 };
  while( zt_onnx_next(s, &c, &f) ){
    switch( f.number ){
      case ONNX_TENSOR_DIMS: onnx_read_dims(s, &f, t); break;
      case ONNX_TENSOR_TYPE:
        t->typed |= f.type==ZT_WIRE_VARINT;
        if( f.type==ZT_WIRE_VARINT ) t->type = onnx_int32(&f);
        break;
      case ONNX_TENSOR_NAME:
        if( f.type==ZT_WIRE_BYTES ) t->name = f.bytes;
        break;
      case ONNX_TENSOR_LOCATION: onnx_read_location(&f, t); break;
      case ONNX_TENSOR_SEGMENT: t->fields[ONNX_TENSOR_SEGMENT].n += f.type==ZT_WIRE_BYTES; break;
      case ONNX_TENSOR_FLOAT: case ONNX_TENSOR_INT32: case ONNX_TENSOR_STRING:
      case ONNX_TENSOR_INT64: case ONNX_TENSOR_RAW: case ONNX_TENSOR_DOUBLE:
      case ONNX_TENSOR_UINT64:
        onnx_read_data(&f, t);
        break;
      default: break;
    }
  }
  t->whole = c.whole;
  t->pieces = c.pieces;
  t->data = onnx_choose_data(t);
  return !s->err->rc && onnx_count(s, t);
}

/* --- Places of data --- */

/* A decimal number; false if it is invalid. If empty, *out is unchanged. */
static bool onnx_decimal(zt_onnx_scan *s, zt_message m, uint64_t *out){
  zt_span z;
  uint64_t n = 0;
  if( m.at==m.end ) return true;
  if( m.end-m.at>20 || !zt_onnx_text(s, m, &z) ) return false;
  for(size_t i=0; i<z.n; i++){
    if( z.p[i]<'0' || z.p[i]>'9' ) return false;
    if( !zt_mul64(n, 10, &n) || !zt_add64(n, (uint64_t)(z.p[i]-'0'), &n) ) return false;
  }
  *out = n;
  return true;
}

/* OX8; s->map is external_data. */
static void onnx_set_external(zt_onnx_scan *s, zt_onnx_part *out){
  const zt_message offset = onnx_map_value(&s->map, "offset");
  const zt_message length = onnx_map_value(&s->map, "length");
  const zt_message location = onnx_map_value(&s->map, "location");
  zt_span text;
  out->rule = "OX8";
  out->to_end = out->unsized = length.at==length.end;
  if( !onnx_decimal(s, offset, &out->offset) || !onnx_decimal(s, length, &out->length)
   || onnx_map_is_empty(&s->map, "offset") || onnx_map_is_empty(&s->map, "length")
   || out->length>UINT64_MAX-out->offset ){
    out->fault = "offset and length of its external data are no decimal numbers of 64 bits";
  }
  if( !zt_onnx_text(s, location, &text) ) return;
  out->external = zt_utf8_valid(text.p, text.n);
  if( !out->fault ) out->fault = zt_shard_location_fault((zt_text){ (const char*)text.p, text.n });
  if( out->external ){
    out->shard_length = (uint32_t)text.n;
    zt_builder_location(s->b, (zt_text){ (const char*)text.p, text.n }, !out->fault, &out->shard);
  }
  if( !out->fault ) return;
  out->unsized = true;
  out->to_end = false;
  out->offset = out->length = 0;
}

/* OX10: values one by one, or packed in several pieces. */
static void onnx_set_scattered(const onnx_tensor *t, zt_onnx_part *out){
  out->codec = ZT_CODEC_PROTOBUF_UNPACKED;
  out->offset = t->whole.at;
  out->length = t->whole.end-t->whole.at;
  out->scattered = out->unsized = true;
  if( t->pieces<2 ) return;
  out->rule = "OX10";
  out->fault = "its values are in several messages";
}

/* The decoded bytes; UINT64_MAX if unknown. */
static uint64_t onnx_decoded(const onnx_tensor *t, const zt_onnx_part *part){
  const zt_onnx_type *type = &onnx_types[part->type];
  const char *name = type->type ? type->type : type->dtype;
  const zt_dtype *dtype = name ? zt_dtype_named((zt_text){ name, strlen(name) }) : NULL;
  uint64_t bytes;
  return dtype && zt_dtype_size(dtype, t->elements, &bytes) ? bytes : UINT64_MAX;
}

static void onnx_set_range(const onnx_tensor *t, zt_onnx_part *out){
  const onnx_field *field = &t->fields[t->data];
  const bool plain = t->data==ONNX_TENSOR_RAW || t->data==ONNX_TENSOR_FLOAT
                  || t->data==ONNX_TENSOR_DOUBLE;
  if( t->data==0 ){
    out->offset = t->whole.at;
  }else if( t->data==ONNX_TENSOR_STRING ){
    out->codec = ZT_CODEC_UNKNOWN;
    out->scattered = true;
    out->offset = t->whole.at;
    out->length = t->text;
  }else if( t->data==ONNX_TENSOR_RAW || (field->n==1 && field->packed) ){
    out->codec = plain ? ZT_CODEC_RAW : ZT_CODEC_PROTOBUF_VARINT;
    out->offset = field->bytes.at;
    out->length = field->bytes.end-field->bytes.at;
  }else{
    onnx_set_scattered(t, out);
  }
}

/* Add a tensor as a component of the last object. s->map is its external_data. The bytes of a
** sparse tensor's parts are those of their own dimensions: its shape says nothing of them. */
static bool onnx_add_part(zt_onnx_scan *s, const onnx_tensor *t, zt_onnx_role role,
                          const char *rule, const char *fault){
  zt_onnx_part part = {
    .role = role, .codec = ZT_CODEC_RAW, .field = t->value ? t->value->number : t->data
  };
  uint32_t at = 0;
  part.type = t->type<ONNX_TYPES ? (uint32_t)t->type : 0;
  part.decoded = onnx_decoded(t, &part);
  if( t->data==ONNX_TENSOR_EXTERNAL ) onnx_set_external(s, &part);
  else onnx_set_range(t, &part);
  if( t->negative ){
    part.rule = "OX6";
    part.fault = "a dimension is negative";
  }else if( t->fields[ONNX_TENSOR_SEGMENT].n ){
    part.rule = "OX7";
    part.fault = "it is a segment of a tensor";
  }else if( fault ){
    part.rule = rule;
    part.fault = fault;
  }else if( role!=ZT_ONNX_DATA && t->data && t->data!=ONNX_TENSOR_EXTERNAL
         && part.codec==ZT_CODEC_RAW && part.decoded<UINT64_MAX && part.length!=part.decoded ){
    part.rule = "D1";
    part.fault = "it has not the bytes that its dimensions demand";
  }
  return !s->err->rc && !zt_builder_keep(s->b, &part, sizeof(part), &at)
      && !zt_builder_component(s->b, at);
}

/* --- Objects --- */

static void onnx_put_dims(zt_onnx_scan *s, const char *key, const uint64_t *shape, uint32_t rank){
  zt_onnx_put_key(&s->items, key);
  zt_cbor_put_head(&s->items, ZT_CBOR_ARRAY, rank);
  for(uint32_t i=0; i<rank; i++) zt_cbor_put_int(&s->items, (int64_t)shape[i]);
}

/* Begin an object's item, up to its attributes. */
static void onnx_begin_item(zt_onnx_scan *s, zt_text name, const uint64_t *shape, uint32_t rank){
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, 3);
  zt_onnx_put_key(&s->items, "name");
  zt_cbor_put_text(&s->items, name);
  onnx_put_dims(s, "dims", shape, rank);
  zt_onnx_put_key(&s->items, "attributes");
}

static bool onnx_keep_object(zt_onnx_scan *s, zt_text name, zt_onnx_object object,
                             const uint64_t *shape){
  const zt_container *c = s->b->container;
  uint32_t at, text, dims;
  bool duplicate;
  if( zt_builder_keep(s->b, &object, sizeof(object), &at)
   || zt_builder_keep(s->b, NULL, 8*(size_t)object.rank, &dims)
   || zt_builder_keep(s->b, name.z, name.n, &text) ) return false;
  for(uint32_t i=0; i<object.rank; i++){
    const uint64_t n = shape[i]>>63 ? 0 : shape[i];
    memcpy(c->kept.p+dims+8*(size_t)i, &n, 8);
  }
  return !zt_builder_object(s->b, (zt_text){ (const char*)c->kept.p+text, name.n }, at, &duplicate);
}

/* Add an object named by the path, with a number after a duplicate name. */
static bool onnx_add_object(zt_onnx_scan *s, zt_onnx_kind kind, const uint64_t *shape,
                            uint32_t rank, zt_message at){
  const zt_container *c = s->b->container;
  const size_t n = s->path.n;
  zt_text name = onnx_path(s);
  if( !onnx_may_keep(s, 2*(uint64_t)n+24*(uint64_t)rank+256) ) return false;
  if( !zt_utf8_without_nul((zt_text){ (const char*)s->path.p, n }) ){
    zt_break(s->err, "OX4", "byte %llu: the name of this tensor, or of its node, is not UTF-8, or"
             " has U+0000 in it", (unsigned long long)at.at);
    return false;
  }
  if( zt_container_find(c, name)>=0
   && zt_renamed_name(&s->repeats, &c->names, c->kept.p, name, &name, s->err) ) return false;
  onnx_begin_item(s, name, shape, rank);
  return onnx_keep_object(s, name, (zt_onnx_object){ (uint32_t)s->items.n, rank, kind }, shape);
}

static void onnx_put_strings(zt_onnx_scan *s, zt_onnx_cursor c, const onnx_tensor *t){
  const uint32_t number = t->value ? t->value->number : ONNX_TENSOR_STRING;
  zt_message text;
  zt_onnx_put_key(&s->items, "strings");
  zt_cbor_put_head(&s->items, ZT_CBOR_ARRAY, t->fields[ONNX_TENSOR_STRING].n);
  while( zt_onnx_find(s, &c, number, &text) ) zt_onnx_put_text(s, &s->items, text);
}

/* Append the attributes of the tensor with the values; indices may be NULL. Leaves external_data in
** s->map. */
static bool onnx_put_attributes(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c,
                                const onnx_tensor *t, const onnx_tensor *indices){
  static const char *const fields[ONNX_TENSOR_FIELDS] = {
    [ONNX_TENSOR_FLOAT] = "float_data", [ONNX_TENSOR_INT32] = "int32_data",
    [ONNX_TENSOR_INT64] = "int64_data", [ONNX_TENSOR_RAW] = "raw_data",
    [ONNX_TENSOR_DOUBLE] = "double_data", [ONNX_TENSOR_UINT64] = "uint64_data",
    [ONNX_TENSOR_EXTERNAL] = "external"
  };
  const bool external = t->data==ONNX_TENSOR_EXTERNAL, texts = t->data==ONNX_TENSOR_STRING;
  const bool named = place.inside && t->name.at<t->name.end;
  zt_cbor_out *o = &s->items;
  if( external && !zt_onnx_read_map(s, c, ONNX_TENSOR_EXTERNAL, ZT_WIRE_BYTES) ) return false;
  zt_cbor_put_head(o, ZT_CBOR_MAP, 2u+t->typed+place.inside+external+named+(indices!=NULL));
  zt_onnx_put_key(o, "role");
  zt_onnx_put_key(o, place.role);
  if( t->typed ){
    zt_onnx_put_key(o, "data_type");
    zt_cbor_put_int(o, (int64_t)t->type);
  }
  if( place.inside ){
    zt_onnx_put_key(o, "where");
    zt_cbor_put_text(o, onnx_path(s));
  }
  if( external ){
    zt_onnx_put_key(o, "external_data");
    zt_onnx_put_map(s, o);
  }
  if( !texts ){
    zt_onnx_put_key(o, "field");
    if( t->value ) zt_onnx_put_key(o, t->value->name);
    else if( fields[t->data] ) zt_onnx_put_key(o, fields[t->data]);
    else zt_cbor_put_null(o);
  }
  if( named ){
    zt_onnx_put_key(o, "tensor_name");
    zt_onnx_put_text(s, o, t->name);
  }
  if( texts ) onnx_put_strings(s, c, t);
  if( indices ) onnx_put_dims(s, "indices_shape", indices->shape, indices->rank);
  return !s->err->rc;
}

static bool onnx_add(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c,
                     const onnx_tensor *t){
  const zt_onnx_kind kind = t->type==0 || t->type>=ONNX_TYPES ? ZT_ONNX_UNKNOWN
                          : t->type==ONNX_STRING ? ZT_ONNX_TEXTS : ZT_ONNX_DENSE;
  return onnx_add_object(s, kind, t->shape, t->rank, t->whole)
      && onnx_put_attributes(s, place, c, t, NULL)
      && onnx_add_part(s, t, ZT_ONNX_DATA, NULL, NULL);
}

/* The path is the name; for an initializer, its prefix. */
bool zt_onnx_add(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c){
  const size_t n = s->path.n;
  onnx_tensor t;
  if( !onnx_read_tensor(s, c, &t) ) return false;
  if( !place.inside ) zt_onnx_push_text(s, t.name);
  if( !onnx_add(s, place, c, &t) ) return false;
  s->path.n = n;
  return true;
}

/* --- Values of a Constant without a TensorProto --- */

int zt_onnx_value(zt_onnx_scan *s, zt_message name){
  zt_span text;
  if( !zt_onnx_text(s, name, &text) ) return -1;
  for(size_t i=0; i<sizeof(onnx_values)/sizeof(*onnx_values); i++){
    const char *is = onnx_values[i].name;
    if( text.n==strlen(is) && memcmp(text.p, is, text.n)==0 ) return (int)i;
  }
  return -1;
}

/* The number of elements in a field. */
static uint64_t onnx_count_values(zt_onnx_scan *s, const zt_wire_field *f, unsigned wire){
  zt_message m = f->bytes;
  uint64_t n = 0, value;
  if( f->type==wire ) return 1;
  if( wire==ZT_WIRE_FIXED32 ) return (m.end-m.at)/4+((m.end-m.at)%4>0);   /* A cut value counts */
  while( m.at<m.end && zt_protobuf_varint(&s->in, &m, &value) ) n++;
  return n;
}

bool zt_onnx_add_value(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c, int value){
  const struct onnx_value *v = &onnx_values[value];
  onnx_tensor t = { .type = v->type, .typed = true, .data = v->data, .value = v, .elements = 1 };
  zt_onnx_cursor at = c;
  onnx_field *field = &t.fields[v->data];
  uint64_t n = 0;
  zt_wire_field f;
  while( zt_onnx_next(s, &at, &f) ){
    if( f.number!=v->number || (f.type!=v->wire && !(v->list && f.type==ZT_WIRE_BYTES)) ) continue;
    field->bytes = f.bytes;
    field->packed = f.type!=v->wire;
    field->n++;
    n += onnx_count_values(s, &f, v->wire);
    if( v->wire==ZT_WIRE_BYTES ) t.text += f.bytes.end-f.bytes.at;
  }
  if( n==0 && v->data!=ONNX_TENSOR_STRING ) t.data = 0;
  t.whole = at.whole;
  t.pieces = at.pieces;
  t.rank = v->list;
  if( v->list ) t.shape[0] = t.elements = n;
  return !s->err->rc && onnx_add(s, place, c, &t);
}

/* --- Sparse tensors --- */

static bool onnx_read_sparse_dims(zt_onnx_scan *s, zt_onnx_cursor c, onnx_tensor *out){
  zt_wire_field f;
  *out = (onnx_tensor){ 0 };
  while( zt_onnx_next(s, &c, &f) ) if( f.number==ONNX_SPARSE_DIMS ) onnx_read_dims(s, &f, out);
  out->whole = c.whole;
  return !s->err->rc && onnx_count(s, out);
}

/* A sparse tensor has the name of its values. */
bool zt_onnx_add_sparse(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c){
  const zt_onnx_cursor values_at = zt_onnx_into(c, ONNX_SPARSE_VALUES);
  const zt_onnx_cursor indices_at = zt_onnx_into(c, ONNX_SPARSE_INDICES);
  const size_t n = s->path.n;
  onnx_tensor values, indices, dense;
  bool rows, sound;
  if( !onnx_read_sparse_dims(s, c, &dense) || !onnx_read_tensor(s, indices_at, &indices)
   || !onnx_read_tensor(s, values_at, &values) ) return false;
  rows = indices.rank==2 && indices.shape[1]==dense.rank;
  sound = rows || indices.rank==1;
  values.negative |= dense.negative;
  if( !place.inside ) zt_onnx_push_text(s, values.name);
  if( !onnx_add_object(s, rows ? ZT_ONNX_SPARSE_ROWS : ZT_ONNX_SPARSE_LINEAR, dense.shape,
                       dense.rank, dense.whole)
   || !onnx_put_attributes(s, place, values_at, &values, &indices)
   || !onnx_add_part(s, &values, ZT_ONNX_VALUES, NULL, NULL) ) return false;
  if( indices.data==ONNX_TENSOR_EXTERNAL
   && !zt_onnx_read_map(s, indices_at, ONNX_TENSOR_EXTERNAL, ZT_WIRE_BYTES) ) return false;
  s->path.n = n;
  return onnx_add_part(s, &indices, ZT_ONNX_INDICES, "OX3",
                       sound ? NULL : "it has neither one dimension, nor two of which the second"
                       " is the tensor's rank");
}
