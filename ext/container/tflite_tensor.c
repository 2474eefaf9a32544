/* Tensors of TensorFlow Lite as objects. See tflite.h; rule numbers: tflite.c. */
#include "container/tflite.h"

#include "container/dtype.h"
#include "container/manifest.h"
#include "container/shard.h"
#include "core/host.h"
#include "core/sort.h"
#include "core/utf8.h"

/* Numbers of fields in schema.fbs. */
enum {
  TFLITE_TENSOR_SHAPE = 0, TFLITE_TENSOR_TYPE = 1, TFLITE_TENSOR_BUFFER = 2, TFLITE_TENSOR_NAME = 3,
  TFLITE_TENSOR_QUANTIZATION = 4, TFLITE_TENSOR_VARIABLE = 5, TFLITE_TENSOR_SPARSITY = 6,
  TFLITE_TENSOR_SIGNATURE = 7, TFLITE_TENSOR_EXTERNAL = 10
};
enum {
  TFLITE_QUANTIZATION_MIN = 0, TFLITE_QUANTIZATION_MAX = 1, TFLITE_QUANTIZATION_SCALE = 2,
  TFLITE_QUANTIZATION_ZERO_POINT = 3, TFLITE_QUANTIZATION_KIND = 4,
  TFLITE_QUANTIZATION_DIMENSION = 6
};
enum { TFLITE_BLOCKS = 2, TFLITE_SEVERAL_AXES = 3 };   /* Kinds of details */
enum { TFLITE_BUFFER_DATA = 0, TFLITE_BUFFER_OFFSET = 1, TFLITE_BUFFER_SIZE = 2 };
enum {
  TFLITE_EXTERNAL_ID = 0, TFLITE_EXTERNAL_GROUP = 1, TFLITE_EXTERNAL_OFFSET = 2,
  TFLITE_EXTERNAL_LENGTH = 3, TFLITE_EXTERNAL_PACKING = 4
};
#define TFLITE_GROUP_NAME 0
#define TFLITE_OFFSET_MIN 2      /* Smaller offsets are none */

typedef enum tflite_kind {
  TFLITE_DENSE, TFLITE_UNKNOWN, TFLITE_STRING, TFLITE_RESOURCE, TFLITE_VARIANT, TFLITE_SPARSE
} tflite_kind;

static const struct { zt_text format; const char *no_values; } tflite_kinds[] = {
  [TFLITE_DENSE] = { ZT_TEXT_INIT("dense"), NULL },
  [TFLITE_UNKNOWN] = { ZT_TEXT_INIT("tflite.unknown"), NULL },
  [TFLITE_STRING] = { ZT_TEXT_INIT("tflite.string"), "its elements are text" },
  [TFLITE_RESOURCE] = { ZT_TEXT_INIT("tflite.resource"), "its elements are handles" },
  [TFLITE_VARIANT] = { ZT_TEXT_INIT("tflite.variant"), "its elements are of any type" },
  [TFLITE_SPARSE] = { ZT_TEXT_INIT("tflite.sparse"), "only blocks of a sparse tensor are stored" },
};

/* TensorType; type NULL: the same, dtype NULL: none. */
static const struct { const char *name, *dtype, *type; tflite_kind kind; } tflite_types[] = {
  { "FLOAT32", "f32", NULL, TFLITE_DENSE },
  { "FLOAT16", "f16", NULL, TFLITE_DENSE },
  { "INT32", "i32", NULL, TFLITE_DENSE },
  { "UINT8", "u8", NULL, TFLITE_DENSE },
  { "INT64", "i64", NULL, TFLITE_DENSE },
  { "STRING", "u8", NULL, TFLITE_STRING },
  { "BOOL", "bool", NULL, TFLITE_DENSE },
  { "INT16", "i16", NULL, TFLITE_DENSE },
  { "COMPLEX64", "f32", "complex64", TFLITE_DENSE },
  { "INT8", "i8", NULL, TFLITE_DENSE },
  { "FLOAT64", "f64", NULL, TFLITE_DENSE },
  { "COMPLEX128", "f64", "complex128", TFLITE_DENSE },
  { "UINT64", "u64", NULL, TFLITE_DENSE },
  { "RESOURCE", NULL, NULL, TFLITE_RESOURCE },
  { "VARIANT", NULL, NULL, TFLITE_VARIANT },
  { "UINT32", "u32", NULL, TFLITE_DENSE },
  { "UINT16", "u16", NULL, TFLITE_DENSE },
  { "INT4", "u8", "i4", TFLITE_DENSE },
  { "BFLOAT16", "bf16", NULL, TFLITE_DENSE },
  { "INT2", "u8", "i2", TFLITE_DENSE },
  { "UINT4", "u8", "u4", TFLITE_DENSE },
  { "FLOAT8_E4M3FN", "u8", "f8_e4m3fn", TFLITE_DENSE },
  { "FLOAT8_E5M2", "u8", "f8_e5m2", TFLITE_DENSE }
};
#define TFLITE_TYPES ((int64_t)(sizeof(tflite_types)/sizeof(*tflite_types)))

/* A kept object, followed by its dimensions of 32 bits. */
typedef struct tflite_tensor {
  uint64_t offset, length;
  const char *rule, *fault;       /* Static; NULL: none */
  uint32_t attributes;            /* Position, from the state's items on */
  uint32_t rank;
  uint32_t location, location_length;   /* External: its file, in the kept bytes */
  uint32_t packing, packing_length;     /* Of its bytes, in the kept bytes; empty: plain */
  int32_t type;                   /* Its number */
  tflite_kind kind;
  bool external, unsized, unshaped;
} tflite_tensor;

static void tflite_fault(tflite_tensor *t, const char *rule, const char *fault){
  if( t->fault ) return;
  t->rule = rule;
  t->fault = fault;
}

/* --- Texts --- */

bool zt_tflite_may_keep(zt_tflite_scan *s, uint64_t n){
  const uint64_t kept = (uint64_t)s->b->container->kept.n+s->items.n+s->name.n;
  if( s->err->rc ) return false;
  if( kept<=s->most && n<=s->most-kept ) return true;
  zt_break(s->err, "TL5", "names and what is shown as text take more than %llu bytes",
           (unsigned long long)s->most);
  return false;
}

/* Append the bytes of a text. */
static bool tflite_push(zt_tflite_scan *s, zt_flatbuffer_vector text, zt_cbor_out *out){
  uint8_t piece[512];
  for(uint32_t done=0; done<text.n && !s->err->rc; ){
    const uint32_t n = text.n-done<sizeof(piece) ? text.n-done : (uint32_t)sizeof(piece);
    if( !zt_pages_read(&s->in.pages, text.at+done, n, piece) ) break;
    zt_cbor_put_items(out, (zt_span){ piece, n });
    done += n;
  }
  return !s->err->rc;
}

bool zt_tflite_push_text(zt_tflite_scan *s, const zt_flatbuffer_table *t, unsigned field,
                         zt_cbor_out *out){
  zt_flatbuffer_vector text;
  zt_flatbuffer_elements(&s->in, t, field, 1, &text);
  return zt_tflite_may_keep(s, text.n) && tflite_push(s, text, out);
}

void zt_tflite_put_text(zt_tflite_scan *s, const zt_flatbuffer_table *t, unsigned field,
                        zt_cbor_out *out){
  zt_cbor_out text = { .err = s->err };
  uint64_t at;
  if( !zt_flatbuffer_field(&s->in, t, field, 4, &at) ) zt_cbor_put_null(out);
  else if( zt_tflite_push_text(s, t, field, &text) ){
    zt_cbor_put_name(out, (zt_span){ text.n ? text.p : (const uint8_t*)"", text.n });
  }
  zt_cbor_out_clear(&text);
}

/* --- Places of bytes --- */

bool zt_tflite_prepare_used(zt_tflite_scan *s){
  const uint64_t n = ((uint64_t)s->buffers.n+s->external.n)/8+1;
  s->used = sqlite3_malloc64(n);
  if( !s->used ) return zt_fail_nomem(s->err)==SQLITE_OK;
  memset(s->used, 0, (size_t)n);
  return true;
}

static void tflite_use_bit(zt_tflite_scan *s, uint64_t i){
  s->used[i/8] |= (uint8_t)(1<<i%8);
}

void zt_tflite_use(zt_tflite_scan *s, uint64_t buffer){
  if( buffer<s->buffers.n ) tflite_use_bit(s, buffer);
}

/* Read the place of a buffer's bytes. False if it has none, and after a failure. */
static bool tflite_read_buffer(zt_tflite_scan *s, uint32_t buffer, uint64_t *offset,
                               uint64_t *length){
  zt_flatbuffer_vector data;
  zt_flatbuffer_table table;
  if( !zt_flatbuffer_item(&s->in, s->buffers, buffer, &table) ) return false;
  if( zt_flatbuffer_elements_open(&s->in, &table, TFLITE_BUFFER_DATA, &data) && data.n ){
    *offset = data.at;
    *length = data.n;
    return true;
  }
  *offset = zt_flatbuffer_get(&s->in, &table, TFLITE_BUFFER_OFFSET, 8);
  *length = zt_flatbuffer_get(&s->in, &table, TFLITE_BUFFER_SIZE, 8);
  return *offset>=TFLITE_OFFSET_MIN && *length>0;
}

/* Set the place of a tensor's bytes. False if it has none, and after a failure. */
static bool tflite_find_bytes(zt_tflite_scan *s, uint64_t buffer, tflite_tensor *t){
  if( buffer>=s->buffers.n ){
    tflite_fault(t, "TL3", "its buffer is not one of the model's");
    t->unsized = true;
    return buffer>0;
  }
  tflite_use_bit(s, buffer);
  if( !tflite_read_buffer(s, (uint32_t)buffer, &t->offset, &t->length) ) return false;
  if( !zt_claim(s->in.size, t->offset, t->length) ){
    tflite_fault(t, "TL4", "its bytes go beyond the file");
    t->unsized = true;
  }
  return !s->err->rc;
}

static int tflite_compare_ids(const void *context, const void *x, const void *y){
  const uint64_t a = *(const uint64_t*)x, b = *(const uint64_t*)y;
  (void)context;
  return (a>b)-(a<b);
}

/* Make the list of external buffers' ids. */
static bool tflite_read_ids(zt_tflite_scan *s){
  const zt_sort_by by = {
    .size = sizeof(uint64_t), .compare = tflite_compare_ids, .interrupt = s->b->interrupt
  };
  zt_flatbuffer_table table;
  if( s->ids ) return true;
  s->ids = sqlite3_malloc64(((uint64_t)s->external.n+1)*sizeof(*s->ids));
  if( !s->ids ) return zt_fail_nomem(s->err)==SQLITE_OK;
  for(uint32_t i=0; i<s->external.n; i++){
    if( !zt_flatbuffer_item(&s->in, s->external, i, &table) ) return false;
    s->ids[i] = zt_flatbuffer_get(&s->in, &table, TFLITE_EXTERNAL_ID, 4)<<32 | i;
  }
  return !s->err->rc && zt_sort(s->ids, s->external.n, &by, s->err)==SQLITE_OK;
}

/* The first external buffer of that id. False if there is none, and after a failure. */
static bool tflite_find_external(zt_tflite_scan *s, uint64_t id, zt_flatbuffer_table *out){
  uint32_t low = 0, high = s->external.n;
  if( !tflite_read_ids(s) ) return false;
  while( low<high ){
    const uint32_t middle = low+(high-low)/2;
    if( s->ids[middle]>>32<id ) low = middle+1;
    else high = middle;
  }
  if( low==s->external.n || s->ids[low]>>32!=id ) return false;
  tflite_use_bit(s, (uint64_t)s->buffers.n+(uint32_t)s->ids[low]);
  return zt_flatbuffer_item(&s->in, s->external, (uint32_t)s->ids[low], out);
}

/* TL6. Keep the name of a group as the location of its file. */
static bool tflite_set_location(zt_tflite_scan *s, uint64_t group, tflite_tensor *t){
  zt_cbor_out text = { .err = s->err };
  zt_flatbuffer_table table;
  const char *fault;
  if( group>=s->groups.n ){
    tflite_fault(t, "TL6", "the model does not have the group of its external buffer");
    return true;
  }
  if( zt_flatbuffer_item(&s->in, s->groups, (uint32_t)group, &table)
   && zt_tflite_push_text(s, &table, TFLITE_GROUP_NAME, &text) ){
    const zt_text location = { text.n ? (const char*)text.p : "", text.n };
    t->external = zt_utf8_valid((const uint8_t*)location.z, location.n);
    fault = zt_shard_location_fault(location);
    if( fault ) tflite_fault(t, "TL6", fault);
    if( t->external ) zt_builder_location(s->b, location, !t->fault, &t->location);
    t->location_length = (uint32_t)location.n;
  }
  zt_cbor_out_clear(&text);
  return !s->err->rc;
}

/* Keep the name of a packing, unless its bytes are the plain elements. */
static bool tflite_set_packing(zt_tflite_scan *s, const zt_flatbuffer_table *table,
                               tflite_tensor *t){
  zt_cbor_out text = { .err = s->err };
  if( zt_tflite_push_text(s, table, TFLITE_EXTERNAL_PACKING, &text) && text.n
   && !zt_text_is(((zt_text){ (const char*)text.p, text.n }), "unpacked") ){
    t->packing_length = (uint32_t)text.n;
    zt_builder_keep(s->b, text.p, text.n, &t->packing);
    if( !zt_utf8_valid(text.p, text.n) ) t->packing_length = 0;
    if( !t->packing_length ) tflite_fault(t, "TL6", "the packing of its bytes is not UTF-8");
  }
  zt_cbor_out_clear(&text);
  return !s->err->rc;
}

/* TL6 */
static bool tflite_set_external(zt_tflite_scan *s, uint64_t id, tflite_tensor *t){
  zt_flatbuffer_table table;
  if( tflite_find_external(s, id, &table) ){
    const uint64_t group = zt_flatbuffer_get(&s->in, &table, TFLITE_EXTERNAL_GROUP, 4);
    t->offset = zt_flatbuffer_get(&s->in, &table, TFLITE_EXTERNAL_OFFSET, 8);
    t->length = zt_flatbuffer_get(&s->in, &table, TFLITE_EXTERNAL_LENGTH, 8);
    if( t->length>UINT64_MAX-t->offset ){
      tflite_fault(t, "TL6", "offset and length of its external buffer go beyond 64 bits");
    }
    if( !tflite_set_location(s, group, t) || !tflite_set_packing(s, &table, t) ) return false;
  }else{
    tflite_fault(t, "TL6", "no external buffer of the model has its number");
  }
  t->unsized = t->fault!=NULL;
  return !s->err->rc;
}

/* True if nothing refers to a buffer that has bytes, or to an external buffer. */
static bool tflite_is_unused(zt_tflite_scan *s, uint64_t i){
  uint64_t offset, length;
  if( s->used[i/8] & 1<<i%8 ) return false;
  return i>=s->buffers.n || tflite_read_buffer(s, (uint32_t)i, &offset, &length);
}

bool zt_tflite_note_unused(zt_tflite_scan *s){
  const uint64_t all = (uint64_t)s->buffers.n+s->external.n;
  uint64_t first = 0, unused = 0;
  zt_flatbuffer_table table;
  const char *kind = "buffer";
  for(uint64_t i=0; i<all && !s->err->rc; i++){
    if( tflite_is_unused(s, i) && unused++==0 ) first = i;
  }
  if( unused>0 && first>=s->buffers.n
   && zt_flatbuffer_item(&s->in, s->external, (uint32_t)(first-s->buffers.n), &table) ){
    kind = "external buffer";
    first = zt_flatbuffer_get(&s->in, &table, TFLITE_EXTERNAL_ID, 4);
  }
  if( s->err->rc || unused==0 ) return !s->err->rc;
  return unused==1
    ? !zt_builder_note_file(s->b, "TL7", "neither a tensor nor metadata refers to %s %llu", kind,
                            first)
    : !zt_builder_note_file(s->b, "TL7", "neither tensors nor metadata refer to %llu buffers, the"
                            " first is %s %llu", unused, kind, first);
}

/* --- Attributes --- */

static void tflite_tensor_key(zt_tflite_scan *s, const char *key){
  zt_cbor_put_text(&s->items, (zt_text){ key, strlen(key) });
}

static void tflite_put_number(zt_tflite_scan *s, const char *key, uint64_t u){
  tflite_tensor_key(s, key);
  zt_cbor_put_uint(&s->items, u);
}

/* How a vector's elements are shown. */
typedef enum tflite_element { TFLITE_I32, TFLITE_I64, TFLITE_F32 } tflite_element;

static void tflite_put_vector(zt_tflite_scan *s, const char *key, zt_flatbuffer_vector v,
                              tflite_element element){
  const unsigned width = element==TFLITE_I64 ? 8 : 4;
  if( !zt_tflite_may_keep(s, 9*(uint64_t)v.n) ) return;
  tflite_tensor_key(s, key);
  zt_cbor_put_head(&s->items, ZT_CBOR_ARRAY, v.n);
  for(uint32_t i=0; i<v.n && !s->err->rc; i++){
    const uint64_t u = zt_pages_number(&s->in.pages, v.at+(uint64_t)i*width, width);
    const uint32_t bits = (uint32_t)u;
    float real;
    memcpy(&real, &bits, sizeof(real));
    if( element==TFLITE_F32 ) zt_cbor_put_shortest(&s->items, (double)real);
    else zt_cbor_put_int(&s->items, element==TFLITE_I64 ? (int64_t)u : (int32_t)bits);
  }
}

typedef struct tflite_quantization {
  zt_flatbuffer_table table;
  zt_flatbuffer_vector min, max, scale, zero_point;
  unsigned kind;           /* Of its details; 0: none */
} tflite_quantization;

static void tflite_read_quantization(zt_tflite_scan *s, const zt_flatbuffer_table *tensor,
                                     tflite_quantization *q){
  zt_flatbuffer *in = &s->in;
  *q = (tflite_quantization){ 0 };
  if( !zt_flatbuffer_child(in, tensor, TFLITE_TENSOR_QUANTIZATION, &q->table) ) return;
  zt_flatbuffer_elements(in, &q->table, TFLITE_QUANTIZATION_MIN, 4, &q->min);
  zt_flatbuffer_elements(in, &q->table, TFLITE_QUANTIZATION_MAX, 4, &q->max);
  zt_flatbuffer_elements(in, &q->table, TFLITE_QUANTIZATION_SCALE, 4, &q->scale);
  zt_flatbuffer_elements(in, &q->table, TFLITE_QUANTIZATION_ZERO_POINT, 8, &q->zero_point);
  q->kind = (unsigned)zt_flatbuffer_get(in, &q->table, TFLITE_QUANTIZATION_KIND, 1);
}

/* Append the kind of quantization, and for blocks the numbers of the tensors with their scales, and
** the axes if there are several. */
static void tflite_put_details(zt_tflite_scan *s, const tflite_quantization *q){
  static const char *const kinds[] = {
    NULL, "CustomQuantization", "BlockwiseQuantization", "MultiAxisQuantization"
  };
  static const char *const fields[] = { "scales", "zero_points", "block_size" };
  zt_flatbuffer_table details;
  zt_flatbuffer_vector axes = { 0, 0 };
  const bool several = q->kind==TFLITE_SEVERAL_AXES;
  const bool blocks = (q->kind==TFLITE_BLOCKS || several)
    && zt_flatbuffer_child(&s->in, &q->table, TFLITE_QUANTIZATION_KIND+1, &details);
  if( q->kind==0 ) return;
  tflite_tensor_key(s, "quantization_details");
  if( blocks && several ) zt_flatbuffer_elements(&s->in, &details, 3, 4, &axes);
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, (blocks ? 4u : 1u)+(axes.n>0));
  if( q->kind>=sizeof(kinds)/sizeof(*kinds) ){
    tflite_put_number(s, "kind", q->kind);
  }else{
    tflite_tensor_key(s, "kind");
    tflite_tensor_key(s, kinds[q->kind]);
  }
  for(unsigned i=0; blocks && i<3; i++){
    tflite_tensor_key(s, fields[i]);
    zt_cbor_put_int(&s->items, (int32_t)(uint32_t)zt_flatbuffer_get(&s->in, &details, i, 4));
  }
  if( axes.n ) tflite_put_vector(s, "quantized_dimensions", axes, TFLITE_I32);
}

static void tflite_put_quantization(zt_tflite_scan *s, const tflite_quantization *q){
  if( q->min.n ) tflite_put_vector(s, "min", q->min, TFLITE_F32);
  if( q->max.n ) tflite_put_vector(s, "max", q->max, TFLITE_F32);
  if( q->scale.n ) tflite_put_vector(s, "scale", q->scale, TFLITE_F32);
  if( q->zero_point.n ) tflite_put_vector(s, "zero_point", q->zero_point, TFLITE_I64);
  if( q->scale.n ){
    const uint64_t u = zt_flatbuffer_get(&s->in, &q->table, TFLITE_QUANTIZATION_DIMENSION, 4);
    tflite_tensor_key(s, "quantized_dimension");
    zt_cbor_put_int(&s->items, (int32_t)(uint32_t)u);
  }
  tflite_put_details(s, q);
}

static void tflite_put_type(zt_tflite_scan *s, int32_t type){
  tflite_tensor_key(s, "tensor_type");
  if( type>=0 && type<TFLITE_TYPES ) tflite_tensor_key(s, tflite_types[type].name);
  else zt_cbor_put_int(&s->items, type);
}

static void tflite_put_attributes(zt_tflite_scan *s, uint32_t subgraph, uint32_t index,
                                  const zt_flatbuffer_table *tensor, int32_t type){
  const bool variable = zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_VARIABLE, 1)!=0;
  const uint64_t external = zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_EXTERNAL, 4);
  zt_flatbuffer_vector signature;
  tflite_quantization q;
  tflite_read_quantization(s, tensor, &q);
  zt_flatbuffer_elements(&s->in, tensor, TFLITE_TENSOR_SIGNATURE, 4, &signature);
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, 4u+(q.min.n>0)+(q.max.n>0)+2u*(q.scale.n>0)
                   +(q.zero_point.n>0)+(q.kind>0)+variable+(signature.n>0)+(external>0));
  tflite_put_number(s, "subgraph", subgraph);
  tflite_put_number(s, "tensor", index);
  tflite_put_number(s, "buffer", zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_BUFFER, 4));
  tflite_put_type(s, type);
  tflite_put_quantization(s, &q);
  if( variable ){
    tflite_tensor_key(s, "is_variable");
    zt_cbor_put_bool(&s->items, true);
  }
  if( signature.n ) tflite_put_vector(s, "shape_signature", signature, TFLITE_I32);
  if( external ) tflite_put_number(s, "external_buffer", external);
}

/* --- Objects --- */

/* TL2; NULL: no fault. */
static const char *tflite_shape_fault(zt_tflite_scan *s, zt_flatbuffer_vector shape){
  zt_object object = { .rank = shape.n };
  if( shape.n>ZT_MAX_RANK ) return "it has more than 64 dimensions";
  for(uint32_t i=0; i<shape.n; i++){
    object.shape[i] = zt_pages_number(&s->in.pages, shape.at+4*(uint64_t)i, 4);
    if( object.shape[i]>INT32_MAX ) return "a dimension is negative";
  }
  return zt_object_count(&object) ? NULL : "the product of its dimensions does not fit 64 bits";
}

/* Keep an object with its dimensions and name. */
static bool tflite_keep(zt_tflite_scan *s, const tflite_tensor *t, zt_flatbuffer_vector shape,
                        zt_text name){
  const zt_container *c = s->b->container;
  uint32_t at, dims, text;
  bool duplicate;
  if( zt_builder_keep(s->b, t, sizeof(*t), &at)
   || zt_builder_keep(s->b, NULL, 4*(size_t)t->rank, &dims)
   || zt_builder_keep(s->b, name.z, name.n, &text) ) return false;
  for(uint32_t i=0; i<t->rank; i++){
    const uint32_t n = (uint32_t)zt_pages_number(&s->in.pages, shape.at+4*(uint64_t)i, 4);
    memcpy(c->kept.p+dims+4*(size_t)i, &n, 4);
  }
  return !s->err->rc
      && !zt_builder_object(s->b, (zt_text){ (const char*)c->kept.p+text, name.n }, at, &duplicate)
      && !zt_builder_component(s->b, at);
}

/* TL1. The name of a tensor, with a number behind it if it repeats. */
static bool tflite_name(zt_tflite_scan *s, const zt_flatbuffer_table *tensor, zt_text *out){
  const zt_container *c = s->b->container;
  if( !zt_tflite_push_text(s, tensor, TFLITE_TENSOR_NAME, &s->name) ) return false;
  *out = (zt_text){ s->name.n ? (const char*)s->name.p : "", s->name.n };
  if( !zt_utf8_without_nul(*out) ){
    zt_break(s->err, "TL1", "byte %llu: the name of this tensor, or of its subgraph, is not UTF-8,"
             " or has U+0000 in it", (unsigned long long)tensor->at);
    return false;
  }
  return zt_container_find(c, *out)<0
      || zt_renamed_name(&s->repeats, &c->names, c->kept.p, *out, out, s->err)==SQLITE_OK;
}

static tflite_kind tflite_kind_of(zt_tflite_scan *s, const zt_flatbuffer_table *tensor,
                                  int32_t type){
  uint64_t at;
  if( zt_flatbuffer_field(&s->in, tensor, TFLITE_TENSOR_SPARSITY, 4, &at) ) return TFLITE_SPARSE;
  return type>=0 && type<TFLITE_TYPES ? tflite_types[type].kind : TFLITE_UNKNOWN;
}

bool zt_tflite_add(zt_tflite_scan *s, uint32_t subgraph, uint32_t index,
                   const zt_flatbuffer_table *tensor){
  const uint64_t external = zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_EXTERNAL, 4);
  const uint64_t buffer = zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_BUFFER, 4);
  const size_t prefix = s->name.n;
  zt_flatbuffer_vector shape;
  const char *fault;
  tflite_tensor t = { 0 };
  zt_text name;
  if( external ? !tflite_set_external(s, external, &t) : !tflite_find_bytes(s, buffer, &t) ){
    return !s->err->rc;
  }
  t.type = (int32_t)zt_flatbuffer_get(&s->in, tensor, TFLITE_TENSOR_TYPE, 1);
  if( t.type>INT8_MAX ) t.type -= 256;
  t.kind = tflite_kind_of(s, tensor, t.type);
  zt_flatbuffer_elements(&s->in, tensor, TFLITE_TENSOR_SHAPE, 4, &shape);
  fault = tflite_shape_fault(s, shape);
  if( fault ) tflite_fault(&t, "TL2", fault);
  t.unshaped = fault!=NULL;
  t.rank = fault ? 0 : shape.n;
  if( !tflite_name(s, tensor, &name)
   || !zt_tflite_may_keep(s, 2*(uint64_t)name.n+512) ) return false;
  zt_cbor_put_head(&s->items, ZT_CBOR_MAP, 3);
  tflite_tensor_key(s, "name");
  zt_cbor_put_text(&s->items, name);
  tflite_put_vector(s, "shape", shape, TFLITE_I32);
  tflite_tensor_key(s, "attributes");
  t.attributes = (uint32_t)s->items.n;
  tflite_put_attributes(s, subgraph, index, tensor, t.type);
  if( s->err->rc || !tflite_keep(s, &t, shape, name) ) return false;
  s->name.n = prefix;
  return true;
}

/* --- Decoding --- */

static tflite_tensor tflite_kept(const zt_container *c, uint32_t at){
  tflite_tensor t;
  memcpy(&t, c->kept.p+at, sizeof(t));
  return t;
}

static zt_text tflite_static_text(const char *z){
  return (zt_text){ z, z ? strlen(z) : 0 };
}

void zt_tflite_object(const zt_container *c, uint32_t i, size_t items, zt_object *out){
  const tflite_tensor t = tflite_kept(c, c->objects.a[i]);
  out->format = tflite_kinds[t.kind].format;
  out->layout = t.kind==TFLITE_DENSE && !t.unshaped ? ZT_LAYOUT_DENSE : ZT_LAYOUT_UNKNOWN;
  out->no_values = t.unshaped ? NULL : tflite_kinds[t.kind].no_values;
  out->unshaped = t.unshaped;
  out->rank = t.rank;
  for(uint32_t k=0; k<t.rank; k++){
    uint32_t n;
    memcpy(&n, c->kept.p+c->objects.a[i]+sizeof(t)+4*(size_t)k, 4);
    out->shape[k] = n;
  }
  zt_object_count(out);
  zt_manifest_set_map(&out->attributes, items+t.attributes, 0);
}

void zt_tflite_component(const zt_container *c, uint32_t k, zt_component *out){
  const tflite_tensor t = tflite_kept(c, c->components.a[k]);
  const bool known = t.type>=0 && t.type<TFLITE_TYPES;
  out->role = ZT_TEXT("data");
  out->dtype = tflite_static_text(known ? tflite_types[t.type].dtype : NULL);
  out->type = tflite_static_text(known ? tflite_types[t.type].type : NULL);
  if( out->dtype.z ) zt_dtype_decide(out);
  if( t.packing_length ){
    out->codec = ZT_CODEC_UNKNOWN;
    out->encoding = (zt_text){ (const char*)c->kept.p+t.packing, t.packing_length };
  }
  out->offset = t.unsized ? 0 : t.offset;
  out->length = t.unsized ? 0 : t.length;
  out->unsized = t.unsized;
  out->fault_rule = t.rule;
  out->fault = t.fault;
  if( !t.external ) return;
  out->external = true;
  out->shard = (zt_text){ (const char*)c->kept.p+t.location, t.location_length };
}
