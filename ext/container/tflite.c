/*
** TensorFlow Lite: a flatbuffer (core/flatbuffer.h) of schema.fbs, and bytes behind it.
**
**   file     := root:u32 "TFL3" ... data
**   model    := version:u32 subgraph* description? buffer* metadata* signature*
**               external_group* external_buffer*
**   subgraph := tensor* operator* name?
**   tensor   := shape:i32* type:i8 buffer:u32 name? quantization? is_variable:bool sparsity?
**               shape_signature:i32* external_buffer:u32
**                                     ; TL1: the name is UTF-8 without U+0000
**                                     ; TL2: at most ZT_MAX_RANK dimensions, none negative, whose
**                                     ; product fits 64 bits
**                                     ; TL3: the buffer is one of the model's
**   buffer   := data:u8* | offset:u64 size:u64
**                                     ; offset counts from the file's first byte, and is above 1.
**                                     ; TL4: the bytes lie within the file
**                                     ; TL7: a tensor or metadata refers to it: a warning
**   external_group  := name           ; a path below the model's directory (container/shard.h)
**   external_buffer := id:u32 group:u32 offset:u64 length:u64 packing?
**                                     ; TL6: it is there, and so is its group. TL7
**   quantization    := min:f32* max:f32* scale:f32* zero_point:i64* details? dimension:i32
**
**   TL5  names and values shown as text take at most 1 GiB, and not much more than the file
**
** All are tables, whose fields may be absent, in the order of their numbers in the schema. Buffer 0
** is the one of tensors without bytes. A tensor is an object if its buffer has bytes, or if it has
** an external buffer; the others are computed. They come by subgraph and index. Names of all
** subgraphs but the first begin with "name/", or with "subgraph_N/" if it has none; repeated names
** are followed by "#2", "#3" ...
**
** Quantized integers are shown as the integers they are, beside their scales.
*/
#include "container/tflite.h"

#include "container/manifest.h"
#include "container/shard.h"
#include "core/host.h"

static const zt_rule tflite_rules[] = {
  ZT_ERROR("TL1", "tflite-name", "a tensor's name is UTF-8 without U+0000 (TFLite)",
           ZT_SPEC_TFLITE("Tensor")),
  ZT_ERROR("TL2", "tflite-shape",
           "a tensor has at most 64 dimensions, none negative, whose product fits 64 bits (TFLite)",
           ZT_SPEC_TFLITE("Tensor")),
  ZT_ERROR("TL3", "tflite-buffer", "a tensor's buffer is one of the model's (TFLite)",
           ZT_SPEC_TFLITE("Tensor")),
  ZT_ERROR("TL4", "tflite-data", "a buffer's bytes lie within the file (TFLite)",
           ZT_SPEC_TFLITE("Buffer")),
  ZT_ERROR("TL5", "tflite-size",
           "names and values shown as text take at most 1 MiB plus 32 times the file's bytes,"
           " and 1 GiB (TFLite)", ZT_SPEC_OURS),
  ZT_ERROR("TL6", "tflite-external",
           "a tensor's external buffer is one of the model's, in a file below the model's directory"
           " (TFLite)", ZT_SPEC_TFLITE("ExternalBuffer")),
  ZT_WARNING("TL7", "tflite-unused",
             "a tensor or metadata refers to each buffer with bytes (TFLite)",
             ZT_SPEC_TFLITE("Model")),
  ZT_RULES_END
};

/* Numbers of fields in schema.fbs. */
enum {
  TFLITE_MODEL_VERSION = 0, TFLITE_MODEL_SUBGRAPHS = 2, TFLITE_MODEL_DESCRIPTION = 3,
  TFLITE_MODEL_BUFFERS = 4, TFLITE_MODEL_METADATA_BUFFERS = 5, TFLITE_MODEL_METADATA = 6,
  TFLITE_MODEL_SIGNATURES = 7, TFLITE_MODEL_GROUPS = 8, TFLITE_MODEL_EXTERNAL = 9
};
enum { TFLITE_SUBGRAPH_TENSORS = 0, TFLITE_SUBGRAPH_OPERATORS = 3, TFLITE_SUBGRAPH_NAME = 4 };
enum { TFLITE_METADATA_NAME = 0, TFLITE_METADATA_BUFFER = 1, TFLITE_SIGNATURE_KEY = 2 };

typedef struct tflite_state {
  char version[12];
  size_t items;            /* Position of the objects' items */
} tflite_state;

static void tflite_put_key(zt_cbor_out *o, const char *key){
  zt_cbor_put_text(o, (zt_text){ key, strlen(key) });
}

/* --- The model --- */

/* Set the prefix of a subgraph's names. */
static bool tflite_set_prefix(zt_tflite_scan *s, uint32_t i, const zt_flatbuffer_table *subgraph){
  char number[32];
  zt_cbor_out_reset(&s->name);
  if( i==0 ) return true;
  if( !zt_tflite_push_text(s, subgraph, TFLITE_SUBGRAPH_NAME, &s->name) ) return false;
  sqlite3_snprintf(sizeof(number), number, "subgraph_%u", i);
  if( s->name.n==0 ) zt_cbor_put_items(&s->name, (zt_span){ (uint8_t*)number, strlen(number) });
  zt_cbor_put_items(&s->name, (zt_span){ (const uint8_t*)"/", 1 });
  return !s->err->rc;
}

static bool tflite_subgraph(zt_tflite_scan *s, uint32_t i, const zt_flatbuffer_table *subgraph){
  zt_flatbuffer_vector tensors, operators;
  zt_flatbuffer_table tensor;
  zt_flatbuffer_elements(&s->in, subgraph, TFLITE_SUBGRAPH_OPERATORS, 4, &operators);
  s->operators += operators.n;
  zt_flatbuffer_tables(&s->in, subgraph, TFLITE_SUBGRAPH_TENSORS, &tensors);
  if( !tflite_set_prefix(s, i, subgraph) ) return false;
  for(uint32_t k=0; k<tensors.n && !s->err->rc; k++){
    if( !zt_flatbuffer_item(&s->in, tensors, k, &tensor)
     || !zt_tflite_add(s, i, k, &tensor) ) return false;
  }
  return !s->err->rc;
}

static bool tflite_subgraphs(zt_tflite_scan *s, zt_flatbuffer_vector subgraphs){
  zt_flatbuffer_table subgraph;
  for(uint32_t i=0; i<subgraphs.n && !s->err->rc; i++){
    if( !zt_flatbuffer_item(&s->in, subgraphs, i, &subgraph)
     || !tflite_subgraph(s, i, &subgraph) ) return false;
  }
  return !s->err->rc;
}

/* Metadata have buffers, once by a list of their own. */
static void tflite_use_metadata(zt_tflite_scan *s, const zt_flatbuffer_table *model){
  zt_flatbuffer_vector metadata, buffers;
  zt_flatbuffer_table t;
  zt_flatbuffer_tables(&s->in, model, TFLITE_MODEL_METADATA, &metadata);
  for(uint32_t i=0; i<metadata.n && zt_flatbuffer_item(&s->in, metadata, i, &t); i++){
    zt_tflite_use(s, zt_flatbuffer_get(&s->in, &t, TFLITE_METADATA_BUFFER, 4));
  }
  zt_flatbuffer_elements(&s->in, model, TFLITE_MODEL_METADATA_BUFFERS, 4, &buffers);
  for(uint32_t i=0; i<buffers.n && !s->err->rc; i++){
    zt_tflite_use(s, zt_pages_number(&s->in.pages, buffers.at+4*(uint64_t)i, 4));
  }
}

/* Append an array of the texts that a field of each table has. */
static void tflite_put_texts(zt_tflite_scan *s, zt_flatbuffer_vector tables, unsigned field,
                             zt_cbor_out *o){
  zt_flatbuffer_table t;
  zt_cbor_put_head(o, ZT_CBOR_ARRAY, tables.n);
  for(uint32_t i=0; i<tables.n && zt_flatbuffer_item(&s->in, tables, i, &t); i++){
    zt_tflite_put_text(s, &t, field, o);
  }
}

static void tflite_put_model(zt_tflite_scan *s, const zt_flatbuffer_table *model,
                             uint32_t subgraphs, zt_cbor_out *o){
  zt_flatbuffer_vector metadata, signatures;
  uint64_t at;
  const bool described = zt_flatbuffer_field(&s->in, model, TFLITE_MODEL_DESCRIPTION, 4, &at);
  zt_flatbuffer_tables(&s->in, model, TFLITE_MODEL_METADATA, &metadata);
  zt_flatbuffer_tables(&s->in, model, TFLITE_MODEL_SIGNATURES, &signatures);
  zt_cbor_put_head(o, ZT_CBOR_MAP, 2u+described+(metadata.n>0)+(signatures.n>0));
  tflite_put_key(o, "subgraphs");
  zt_cbor_put_uint(o, subgraphs);
  tflite_put_key(o, "operators");
  zt_cbor_put_uint(o, s->operators);
  if( described ){
    tflite_put_key(o, "description");
    zt_tflite_put_text(s, model, TFLITE_MODEL_DESCRIPTION, o);
  }
  if( metadata.n ){
    tflite_put_key(o, "metadata");
    tflite_put_texts(s, metadata, TFLITE_METADATA_NAME, o);
  }
  if( signatures.n ){
    tflite_put_key(o, "signatures");
    tflite_put_texts(s, signatures, TFLITE_SIGNATURE_KEY, o);
  }
}

/* Keep the model, and then each object's item. */
static void tflite_keep_items(zt_tflite_scan *s, const zt_flatbuffer_table *model,
                              uint32_t subgraphs){
  zt_container *c = s->b->container;
  tflite_state *state = c->state;
  zt_cbor_out o = { .err = s->err };
  size_t attributes;
  uint32_t at = 0, items = 0;
  zt_cbor_put_head(&o, ZT_CBOR_MAP, 2);
  tflite_put_key(&o, "model");
  attributes = o.n;
  tflite_put_model(s, model, subgraphs, &o);
  tflite_put_key(&o, "tensors");
  zt_cbor_put_head(&o, ZT_CBOR_ARRAY, c->objects.n);
  if( !s->err->rc && !zt_builder_keep(s->b, o.p, o.n, &at)
   && !zt_builder_keep(s->b, s->items.p, s->items.n, &items) ){
    state->items = at+o.n;
    zt_manifest_set_map(&c->attributes, at+attributes, 0);
    zt_manifest_set_map(&c->manifest, at, 0);
  }
  zt_cbor_out_clear(&o);
}

static void tflite_set_version(zt_tflite_scan *s, const zt_flatbuffer_table *model){
  zt_container *c = s->b->container;
  tflite_state *state = c->state;
  uint64_t at;
  if( !zt_flatbuffer_field(&s->in, model, TFLITE_MODEL_VERSION, 4, &at) ) return;
  sqlite3_snprintf(sizeof(state->version), state->version, "%u",
                   (unsigned)zt_pages_number(&s->in.pages, at, 4));
  c->version = (zt_text){ state->version, strlen(state->version) };
}

static void tflite_scan_model(zt_tflite_scan *s){
  zt_flatbuffer_table model;
  zt_flatbuffer_vector subgraphs;
  if( !zt_flatbuffer_root(&s->in, &model) ) return;
  zt_flatbuffer_tables(&s->in, &model, TFLITE_MODEL_BUFFERS, &s->buffers);
  zt_flatbuffer_tables(&s->in, &model, TFLITE_MODEL_GROUPS, &s->groups);
  zt_flatbuffer_tables(&s->in, &model, TFLITE_MODEL_EXTERNAL, &s->external);
  zt_flatbuffer_tables(&s->in, &model, TFLITE_MODEL_SUBGRAPHS, &subgraphs);
  if( !zt_tflite_prepare_used(s) || !tflite_subgraphs(s, subgraphs) ) return;
  tflite_use_metadata(s, &model);
  if( !zt_tflite_note_unused(s) ) return;
  tflite_set_version(s, &model);
  tflite_keep_items(s, &model, subgraphs.n);
}

static int tflite_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  tflite_state *state = sqlite3_malloc64(sizeof(*state));
  zt_tflite_scan s = {
    .b = b, .err = b->err, .items = { .err = b->err }, .name = { .err = b->err },
    .most = zt_builder_most(input->size)
  };
  if( !state ) return zt_fail_nomem(b->err);
  *state = (tflite_state){ .items = 0 };
  c->state = state;
  c->state_size = sizeof(*state);
  c->rules = ZT_RULE_VIEWS;
  zt_flatbuffer_open(b->source, b->interrupt, &s.in, b->err);
  tflite_scan_model(&s);
  zt_flatbuffer_close(&s.in);
  zt_cbor_out_clear(&s.items);
  zt_cbor_out_clear(&s.name);
  zt_renamed_clear(&s.repeats);
  sqlite3_free(s.ids);
  sqlite3_free(s.used);
  return b->err->rc;
}

static void tflite_close(zt_container *c){
  sqlite3_free(c->state);
}

static zt_probe tflite_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return input->head.n>=8 && memcmp(input->head.p+4, "TFL3", 4)==0 ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* --- Decoding --- */

static void tflite_decode_object(const zt_container *c, uint32_t i, zt_object *out){
  const tflite_state *state = c->state;
  zt_tflite_object(c, i, state->items, out);
}

static void tflite_decode_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                                    zt_component *out){
  (void)i;
  (void)want;
  zt_tflite_component(c, k, out);
}

static void tflite_decode_shard(const zt_container *c, uint32_t i, zt_shard *out){
  (void)c;
  (void)i;
  out->external = true;
  out->size = 0;
  out->digest = (zt_text){ NULL, 0 };
  out->digests = 0;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         a model of any schema version: tensors with bytes, of all subgraphs
**   known by     `TFL3` at byte 4
**   version      the schema's
**   manifest     the model's fields, and all tensors
**   attributes   `subgraphs`, `operators` (their numbers), `description`; names of `metadata` and
**                `signatures`
**   objects      by subgraph and index
**   of objects   `subgraph`, `tensor`, `buffer`, `tensor_type`; `scale`, `zero_point`,
**                `quantized_dimension`, `min`, `max`, `quantization_details`, `is_variable`,
**                `shape_signature`, `external_buffer`
**   components   one, `data`: raw. `shard`: the file of an external buffer
*/
const zt_driver zt_driver_tflite = {
  .name = "tflite",
  .format = "tflite",
  .files = "*.tflite",
  .rules = { zt_rules_flatbuffer, tflite_rules, zt_rules_external },
  .probe = tflite_probe,
  .open = tflite_open,
  .object = tflite_decode_object,
  .component = tflite_decode_component,
  .steps = &zt_manifest_steps,
  .shard = tflite_decode_shard,
  .close = tflite_close,
};
