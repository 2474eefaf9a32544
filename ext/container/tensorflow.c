/*
** Checkpoints of TensorFlow (tensor_bundle.proto): the index X.index is a table of LevelDB
** (leveldb_table.c), whose values are messages of protobuf. The tensors' bytes are in the files
** X.data-?????-of-????? beside it. The variables of a SavedModel are such files, too.
**
**   table  := header slice* entry*          ; in the order of their keys. TB3
**   header := "" BundleHeaderProto          ; TB1
**   slice  := 0x00 byte* BundleEntryProto   ; a part of a partitioned variable
**   entry  := name BundleEntryProto         ; TB2, TB4, TB5
**
** The fields that are read, with their numbers:
**
**   BundleHeaderProto   1 num_shards, 2 endianness, 3 version
**   VersionDef          1 producer
**   BundleEntryProto    1 dtype, 2 shape, 3 shard_id, 4 offset, 5 size, 6 crc32c, 7 slices
**   TensorShapeProto    2 dim, 3 unknown_rank
**   Dim                 1 size
**
**   TB1  the first key is empty, and its value is the header
**   TB2  names are UTF-8, and without U+0000
**   TB3  keys and slices, and TENSORFLOW_ENTRY bytes for each key, take at most 1 MiB plus
**        TENSORFLOW_TIMES the index's size
**   TB4  offset and size are not negative, and end within 64 bits
**   TB5  the file of data is one of num_shards
**   TB6  the slices of a partitioned variable have all of its elements once, its type, and the
**        shapes of their places (tensorflow_partition.c)
**   TB7  the header is not that of version 1: SavedTensorSlices of saved_tensor_slice.proto
**   TB8  each slice is one of a variable: a warning
**
** A tensor is listed if its place is wrong (TB4, TB5), its shape is unknown or too large, its type
** is not known, or its slices do not make it (TB6). crc32c, masked as in LevelDB, is that of the
** stored bytes; that of text is not, and is not shown. A partitioned variable has no bytes of its
** own: its components are its slices.
*/
#include "container/tensorflow.h"

#include "container/dtype.h"
#include "container/leveldb_table.h"
#include "container/shard.h"
#include "core/digest.h"
#include "core/host.h"
#include "core/protobuf.h"
#include "core/utf8.h"

#define TENSORFLOW_SPARE ((uint64_t)1 << 20)
#define TENSORFLOW_ENTRY 64   /* Bytes of an entry without its name, about as in memory */
#define TENSORFLOW_TIMES 16   /* Every 16th key of an index is whole */
#define TENSORFLOW_NO_SHARD UINT32_MAX   /* The number of a component whose place is wrong */
#define TENSORFLOW_SLICE 0x80000000u     /* Bit of a slice: its record's position is the rest */
#define TENSORFLOW_POLL 0xFFFFu   /* Objects between two checks for an interrupt, less 1 */
#define TENSORFLOW_SPEC(message) "tensor_bundle.proto, " message

static const zt_rule tensorflow_rules[] = {
  ZT_UNKNOWN("TB1", "tensorflow-header",
             "the first entry of an index is the header of a checkpoint (TensorFlow)",
             TENSORFLOW_SPEC("BundleHeaderProto")),
  ZT_ERROR("TB2", "tensorflow-name", "names are UTF-8, and without U+0000 (TensorFlow)",
           ZT_SPEC_SENSE),
  ZT_ERROR("TB3", "tensorflow-keys",
           "keys and slices, and 64 bytes for each key, take at most 1 MiB plus 16 times the"
           " index's size (TensorFlow)", ZT_SPEC_OURS),
  ZT_ERROR("TB4", "tensorflow-range",
           "a tensor's place is not negative, and ends within 64 bits (TensorFlow)",
           TENSORFLOW_SPEC("BundleEntryProto")),
  ZT_ERROR("TB5", "tensorflow-shard", "a tensor's file of data is one of the checkpoint's"
           " (TensorFlow)", TENSORFLOW_SPEC("BundleEntryProto")),
  ZT_ERROR("TB6", "tensorflow-slices", "the slices of a variable have its elements, each once"
           " (TensorFlow)", TENSORFLOW_SPEC("BundleEntryProto")),
  ZT_UNSUPPORTED("TB7", "tensorflow-version", "a checkpoint is of version 2 (TensorFlow)",
                 "saved_tensor_slice.proto, SavedTensorSlices"),
  ZT_WARNING("TB8", "tensorflow-slice", "each slice is one of a variable (TensorFlow)",
             TENSORFLOW_SPEC("BundleEntryProto")),
  ZT_RULES_END
};

/* --- Types (tensorflow/core/framework/types.proto) --- */

typedef struct tensorflow_type {
  zt_text dtype, type;     /* type.z NULL: the same */
  zt_text format;          /* z NULL: dense */
  const char *no_values;
  bool digest;             /* crc32c is that of the stored bytes */
} tensorflow_type;

#define TENSORFLOW_NONE { NULL, 0 }
#define TENSORFLOW_PLAIN(dtype) \
  { ZT_TEXT_INIT(dtype), TENSORFLOW_NONE, TENSORFLOW_NONE, NULL, true }
#define TENSORFLOW_TYPED(dtype, type) \
  { ZT_TEXT_INIT(dtype), ZT_TEXT_INIT(type), TENSORFLOW_NONE, NULL, true }
#define TENSORFLOW_LISTED(format, why, digest) \
  { ZT_TEXT_INIT("u8"), TENSORFLOW_NONE, ZT_TEXT_INIT("tensorflow." format), why, digest }
#define TENSORFLOW_QUANTIZED(format) \
  TENSORFLOW_LISTED(format, "its elements are quantized, and their scale is not in the file", true)
#define TENSORFLOW_SMALL(format) \
  TENSORFLOW_LISTED(format, "its elements of a few bits have a byte each", true)

static const tensorflow_type tensorflow_types[] = {
  [1] = TENSORFLOW_PLAIN("f32"), [2] = TENSORFLOW_PLAIN("f64"), [3] = TENSORFLOW_PLAIN("i32"),
  [4] = TENSORFLOW_PLAIN("u8"), [5] = TENSORFLOW_PLAIN("i16"), [6] = TENSORFLOW_PLAIN("i8"),
  [7] = TENSORFLOW_LISTED("string", "its elements are text", false),
  [8] = TENSORFLOW_TYPED("f32", "complex64"), [9] = TENSORFLOW_PLAIN("i64"),
  [10] = TENSORFLOW_PLAIN("bool"), [11] = TENSORFLOW_QUANTIZED("qint8"),
  [12] = TENSORFLOW_QUANTIZED("quint8"), [13] = TENSORFLOW_QUANTIZED("qint32"),
  [14] = TENSORFLOW_PLAIN("bf16"), [15] = TENSORFLOW_QUANTIZED("qint16"),
  [16] = TENSORFLOW_QUANTIZED("quint16"), [17] = TENSORFLOW_PLAIN("u16"),
  [18] = TENSORFLOW_TYPED("f64", "complex128"), [19] = TENSORFLOW_PLAIN("f16"),
  [20] = TENSORFLOW_LISTED("resource", "its elements are handles of a program", false),
  [21] = TENSORFLOW_LISTED("variant", "its elements are objects of a program", false),
  [22] = TENSORFLOW_PLAIN("u32"), [23] = TENSORFLOW_PLAIN("u64"),
  [24] = TENSORFLOW_TYPED("u8", "f8_e5m2"), [25] = TENSORFLOW_TYPED("u8", "f8_e4m3fn"),
  [26] = TENSORFLOW_TYPED("u8", "f8_e4m3fnuz"),
  [27] = TENSORFLOW_LISTED("float8_e4m3b11fnuz", "its elements are floats of another kind", true),
  [28] = TENSORFLOW_TYPED("u8", "f8_e5m2fnuz"),
  [29] = TENSORFLOW_SMALL("int4"), [30] = TENSORFLOW_SMALL("uint4"),
  [31] = TENSORFLOW_SMALL("int2"), [32] = TENSORFLOW_SMALL("uint2"),
  [33] = TENSORFLOW_SMALL("float4_e2m1fn")
};
#define TENSORFLOW_TYPES ((int64_t)(sizeof(tensorflow_types)/sizeof(*tensorflow_types)))

static const tensorflow_type tensorflow_unknown = TENSORFLOW_LISTED("unknown", NULL, false);

static const tensorflow_type *tensorflow_type_of(int64_t type){
  return type<1 || type>=TENSORFLOW_TYPES ? &tensorflow_unknown : &tensorflow_types[type];
}

/* --- Opening --- */

typedef struct tensorflow_scan {
  zt_builder *b;
  zt_error *err;
  uint64_t metadata, most; /* TB3 */
  zt_tensorflow_slices slices;
} tensorflow_scan;

/* TB4, TB5: the number of the broken rule and its text; NULL if the place is sound. */
static const char *tensorflow_fault(const zt_tensorflow_state *state,
                                    const zt_tensorflow_entry *e, const char **rule){
  *rule = "TB4";
  if( e->offset<0 || e->size<0 ) return "its offset or its size is negative";
  if( e->size>INT64_MAX-e->offset ) return "its offset and its size make more than 2^63 bytes";
  *rule = "TB5";
  if( e->shard<0 || e->shard>=state->shards ){
    return "the number of its file of data is negative, or not below the number of files";
  }
  *rule = NULL;
  return NULL;
}

/* The name of a file of data, owned. NULL: out of memory. X is empty in a directory's `.index`. */
static char *tensorflow_shard_name(const zt_container *c, int64_t shard){
  const zt_tensorflow_state *state = c->state;
  const zt_text stem = { (const char*)c->kept.p+c->stem.at, c->stem.n };
  return sqlite3_mprintf("%.*s.data-%05lld-of-%05lld", zt_text_is(stem, ".index") ? 0 : (int)stem.n,
                         stem.z, (sqlite3_int64)shard, (sqlite3_int64)state->shards);
}

/* The index of a file of data among the shards, which is added if need be. */
static int tensorflow_add_shard(zt_builder *b, int64_t shard, uint32_t *out){
  const zt_container *c = b->container;
  char *name = tensorflow_shard_name(c, shard);
  const size_t n = name ? strlen(name) : 0;
  int64_t known;
  uint32_t at;
  bool duplicate;
  if( !name ) return zt_fail_nomem(b->err);
  known = zt_keys_find(&c->shard_names, c->kept.p, (zt_text){ name, n });
  *out = known>=0 ? (uint32_t)known : c->shards.n;
  if( known<0 && zt_builder_keep(b, name, n, &at)==SQLITE_OK ){
    zt_builder_shard(b, (zt_text){ (const char*)c->kept.p+at, n }, 0, &duplicate);
  }
  sqlite3_free(name);
  return b->err->rc;
}

/* TB3 for n more bytes. */
static bool tensorflow_check_room(tensorflow_scan *s, uint64_t n){
  s->metadata += n;
  if( s->metadata<=s->most ) return true;
  zt_break(s->err, "TB3", "its keys and slices, and %d bytes for each key, take more than %llu"
           " bytes", TENSORFLOW_ENTRY, s->most);
  return false;
}

/* TB2, TB3. A slice's key is no name. */
static bool tensorflow_check_key(tensorflow_scan *s, zt_span key){
  if( !tensorflow_check_room(s, key.n+TENSORFLOW_ENTRY) ) return false;
  if( *key.p && !zt_utf8_without_nul((zt_text){ (const char*)key.p, key.n }) ){
    zt_break(s->err, "TB2", "a name is not UTF-8, or has U+0000 in it");
  }
  return !s->err->rc;
}

/* Keep an entry. Slices, whose keys begin with 0, come before all variables. */
static bool tensorflow_keep(tensorflow_scan *s, zt_span key, zt_span value,
                            zt_tensorflow_entry *e, uint32_t *at){
  const size_t records = s->slices.n;
  zt_tensorflow_state *state = s->b->container->state;
  uint8_t fault = ZT_SLICES_SOUND;
  if( zt_tensorflow_read(value, s->b->interrupt, e, s->err)
   || (*key.p && e->slices
       && zt_tensorflow_slices_add(&s->slices, s->b, key, value, e, &fault))
   || !tensorflow_check_room(s, s->slices.n-records)
   || zt_tensorflow_keep(s->b, key, e, tensorflow_type_of(e->type)->digest, fault, at) ){
    return false;
  }
  state->n++;
  return *key.p || zt_u32_array_push(&s->slices.keys, *at, s->err)==SQLITE_OK;
}

/* Add the component of each slice from that record on, whose number is that of its record. */
static bool tensorflow_add_slices(tensorflow_scan *s, const zt_tensorflow_entry *e, size_t record){
  while( record<s->slices.n ){
    zt_tensorflow_slice slice;
    zt_text role;
    zt_span box;
    const size_t n = zt_tensorflow_slice_at(s->slices.p+record, e->rank, &slice, &role, &box);
    if( zt_builder_component(s->b, TENSORFLOW_SLICE|record) ) return false;
    record += n;
  }
  return true;
}

/* Keep an entry, and add its object, whose component has the number of its file of data for now. A
** slice is in the manifest, and a component of its variable. */
static bool tensorflow_add(tensorflow_scan *s, zt_span key, zt_span value){
  const zt_container *c = s->b->container;
  const size_t record = s->slices.n;
  zt_tensorflow_entry e;
  const char *rule;
  zt_text name;
  uint32_t at;
  bool duplicate;
  if( !tensorflow_check_key(s, key) ) return false;
  if( *key.p ) s->err->object = (zt_text){ (const char*)key.p, key.n };
  if( !tensorflow_keep(s, key, value, &e, &at) ) return false;
  s->err->object.z = NULL;
  if( *key.p==0 ) return true;
  name = (zt_text){ (const char*)c->kept.p+c->kept.n-key.n, key.n };
  if( zt_builder_object(s->b, name, at, &duplicate) ) return false;
  if( e.slices ) return tensorflow_add_slices(s, &e, record);
  return zt_builder_component(s->b, tensorflow_fault(c->state, &e, &rule)
                                    ? TENSORFLOW_NO_SHARD : (size_t)e.shard)==SQLITE_OK;
}

/* TB1: the header. */
static bool tensorflow_read_header(tensorflow_scan *s, zt_span value){
  zt_container *c = s->b->container;
  zt_tensorflow_state *state = c->state;
  zt_message all = { 0, value.n };
  int32_t producer = 0;
  zt_protobuf in;
  zt_wire_field f, v;
  zt_protobuf_open_bytes(value, s->b->interrupt, &in, s->err);
  while( zt_protobuf_next(&in, &all, &f) ){
    if( f.number==1 && f.type==ZT_WIRE_BYTES ){   /* SavedTensorSlices.meta */
      zt_break(s->err, "TB7", "it is a checkpoint of version 1, which is not read");
      break;
    }
    if( f.number==1 && f.type==ZT_WIRE_VARINT ) state->shards = (int32_t)(uint32_t)f.value;
    if( f.number==2 && f.type==ZT_WIRE_VARINT ) state->endianness = (int32_t)(uint32_t)f.value;
    if( f.number!=3 || f.type!=ZT_WIRE_BYTES ) continue;
    while( zt_protobuf_next(&in, &f.bytes, &v) ){
      if( v.number==1 && v.type==ZT_WIRE_VARINT ) producer = (int32_t)(uint32_t)v.value;
    }
  }
  zt_protobuf_close(&in);
  sqlite3_snprintf(sizeof(state->version), state->version, "%d", producer);
  c->version = (zt_text){ state->version, strlen(state->version) };
  zt_tensorflow_set_map(&c->attributes, 0, ZT_TENSORFLOW_HEADER, 2);
  zt_tensorflow_set_map(&c->manifest, 0, ZT_TENSORFLOW_MANIFEST, 2);
  state->items = c->kept.n;
  return !s->err->rc;
}

/* Move a slice's record, which follows `base`, to the kept bytes' part: its number and its file. */
static bool tensorflow_place_slice(zt_builder *b, uint32_t base, uint32_t *number){
  zt_container *c = b->container;
  zt_tensorflow_slice slice;
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  const char *rule;
  *number = base+(*number & ~TENSORFLOW_SLICE);
  memcpy(&slice, c->kept.p+*number, sizeof(slice));
  zt_tensorflow_entry_at(c, slice.item, &item, &e);
  if( tensorflow_fault(c->state, &e, &rule) ) return true;
  if( tensorflow_add_shard(b, e.shard, &slice.shard) ) return false;
  memcpy(c->kept.p+*number, &slice, sizeof(slice));
  return true;
}

/* Keep the slices' records, and add the files of data. Each component's number becomes the index of
** its file, or the position of its slice's record. */
static bool tensorflow_add_shards(tensorflow_scan *s){
  zt_builder *b = s->b;
  zt_container *c = b->container;
  uint32_t last = TENSORFLOW_NO_SHARD, index = 0, base;
  if( s->slices.n>=TENSORFLOW_SLICE ) return zt_fail_nomem(s->err), false;
  if( zt_builder_keep(b, s->slices.p, s->slices.n, &base) ) return false;
  for(uint32_t k=0; k<c->components.n; k++){
    const uint32_t shard = c->components.a[k];
    if( (k & TENSORFLOW_POLL)==TENSORFLOW_POLL && zt_interrupt_check(b->interrupt, b->err) ){
      return false;
    }
    if( shard==TENSORFLOW_NO_SHARD ) continue;
    if( shard & TENSORFLOW_SLICE ){
      if( !tensorflow_place_slice(b, base, &c->components.a[k]) ) return false;
      continue;
    }
    if( shard!=last && tensorflow_add_shard(b, shard, &index) ) return false;
    last = shard;
    c->components.a[k] = index;
  }
  return true;
}

/* TB8. A variable whose slices are not sound may have more of them than were looked at. */
static bool tensorflow_note_slices(tensorflow_scan *s){
  const zt_tensorflow_slices *slices = &s->slices;
  if( slices->faulty || slices->found>=slices->keys.n ) return true;
  return zt_builder_note_file(s->b, "TB8", "%llu of its slices are of no variable",
                              slices->keys.n-slices->found)==SQLITE_OK;
}

static bool tensorflow_scan_table(tensorflow_scan *s, zt_leveldb *table){
  zt_span key = { NULL, 0 }, value;
  if( !zt_leveldb_next(table, &key, &value) || key.n ){
    if( !s->err->rc ) zt_break(s->err, "TB1", "its first entry is not a checkpoint's header");
    return false;
  }
  if( !tensorflow_read_header(s, value) ) return false;
  zt_builder_reserve_kept(s->b, 2*s->b->container->file_size);   /* Keys share bytes there */
  while( zt_leveldb_next(table, &key, &value) ) if( !tensorflow_add(s, key, value) ) return false;
  return !s->err->rc && tensorflow_add_shards(s) && tensorflow_note_slices(s);
}

/* Keep X, the name of the index without its extension. */
static int tensorflow_keep_stem(zt_builder *b){
  zt_container *c = b->container;
  const zt_text stem = zt_container_stem(zt_source_plain_path(b->source));
  uint32_t at;
  c->named_by_path = true;
  if( zt_builder_keep(b, stem.z, stem.n, &at) ) return b->err->rc;
  c->stem = (zt_key){ at, (uint32_t)stem.n };
  return SQLITE_OK;
}

static int tensorflow_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  tensorflow_scan s = {
    .b = b, .err = b->err,
    .most = TENSORFLOW_SPARE+TENSORFLOW_TIMES*input->size   /* Of at most 1 GiB, by LT1 */
  };
  zt_tensorflow_state *state = sqlite3_malloc64(sizeof(*state));
  zt_leveldb table;
  if( !state ) return zt_fail_nomem(b->err);
  *state = (zt_tensorflow_state){ .shards = 0 };
  c->state = state;
  c->state_size = sizeof(*state);
  if( zt_leveldb_open(b->source, b->interrupt, &table, b->err)==SQLITE_OK
   && tensorflow_keep_stem(b)==SQLITE_OK ) tensorflow_scan_table(&s, &table);
  zt_leveldb_close(&table);
  zt_tensorflow_slices_clear(&s.slices);
  c->manifest_length = c->file_size;
  return b->err->rc;
}

static void tensorflow_close(zt_container *c){
  sqlite3_free(c->state);
}

static zt_probe tensorflow_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_tail_is(input, ZT_LEVELDB_MAGIC, 8) ? ZT_PROBE_END : ZT_PROBE_NO;
}

/* --- Decoding --- */

/* Set the shape; false if it is unknown, or has a negative or too many elements. */
static bool tensorflow_set_object_shape(const zt_tensorflow_entry *e, zt_object *out){
  out->rank = 0;
  out->elements = 1;
  if( !e->ranked ) return false;
  for(uint32_t d=0; d<e->rank; d++){
    if( e->shape[d]<0 ) return false;
    out->shape[d] = (uint64_t)e->shape[d];
  }
  out->rank = e->rank;
  if( zt_object_count(out) ) return true;
  out->rank = 0;
  out->elements = 1;
  return false;
}

static void tensorflow_object(const zt_container *c, uint32_t i, zt_object *out){
  const tensorflow_type *type;
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  zt_tensorflow_entry_at(c, c->objects.a[i], &item, &e);
  type = tensorflow_type_of(e.type);
  out->format = type->format.z ? type->format : ZT_TEXT("dense");
  out->layout = type->format.z ? ZT_LAYOUT_UNKNOWN : ZT_LAYOUT_DENSE;
  out->no_values = type->no_values;
  zt_tensorflow_set_map(&out->attributes, c->objects.a[i], ZT_TENSORFLOW_OBJECT, 1+(e.slices>0));
  if( !tensorflow_set_object_shape(&e, out) ){
    out->unshaped = true;
    out->layout = ZT_LAYOUT_UNKNOWN;
    out->why_unknown = "its shape is unknown, has a negative dimension, or more than 2^64 elements";
  }
  if( e.slices==0 ) return;
  out->format = ZT_TEXT("tensorflow.sliced");
  out->dtype = type->dtype;
  out->type = type->type;
  if( out->layout!=ZT_LAYOUT_DENSE ) return;
  out->layout = ZT_LAYOUT_SLICES;
  out->fault = zt_tensorflow_slices_faults[item.fault];
  out->fault_rule = "TB6";
}

/* Set the file of data; `index` is its index among the shards. */
static void tensorflow_place(const zt_container *c, const zt_tensorflow_entry *e, uint32_t index,
                             zt_component *out){
  out->fault = tensorflow_fault(c->state, e, &out->fault_rule);
  out->unsized = out->fault!=NULL;
  out->offset = out->fault ? 0 : (uint64_t)e->offset;
  out->length = out->fault ? 0 : (uint64_t)e->size;
  if( out->fault ) return;
  out->external = out->beside = true;
  out->shard = zt_keys_text(&c->shard_names, c->kept.p, index);
}

static void tensorflow_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                                 zt_component *out){
  const zt_tensorflow_state *state = c->state;
  const tensorflow_type *type;
  uint32_t index = c->components.a[k], at = c->objects.a[i];
  zt_tensorflow_slice slice;
  zt_tensorflow_item item;
  zt_tensorflow_entry e;
  out->role = ZT_TEXT("data");
  zt_tensorflow_item_at(c, at, &item);
  if( item.sliced ){
    zt_tensorflow_entry_at(c, at, &item, &e);
    zt_tensorflow_slice_at(c->kept.p+index, e.rank, &slice, &out->role, &out->box);
    index = slice.shard;
    at = slice.item;
    zt_tensorflow_item_at(c, at, &item);
  }
  type = tensorflow_type_of(item.type);
  out->dtype = type->dtype;
  out->type = type->type;
  if( !(want & ~(unsigned)(ZT_COMPONENT_ROLE|ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE)) ) return;
  zt_tensorflow_entry_at(c, at, &item, &e);
  zt_dtype_decide(out);
  out->mixed = type->format.z!=NULL;
  if( state->endianness==1 ) out->byte_order = ZT_TEXT("big");
  else if( state->endianness ) out->byte_order = ZT_TEXT("unknown");
  out->digest = item.digest;
  out->digests = item.digest.z ? ZT_DIGEST_CRC32C : 0;
  tensorflow_place(c, &e, index, out);
}

static void tensorflow_shard(const zt_container *c, uint32_t i, zt_shard *out){
  (void)c;
  (void)i;
  out->external = true;
  out->size = 0;
  out->digest = (zt_text){ NULL, 0 };
  out->digests = 0;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         the index of a checkpoint, and its files of data
**   known by     the footer of a LevelDB table, `0xdb4775248b80fb57`
**   version      the writer's `producer`
**   manifest     the header and all entries
**   attributes   `num_shards`, `endianness`
**   objects      in the order of their names
**   of objects   `tensor_type`, the type's number; `slices`, of a partitioned variable
**   components   one, `data`: raw; of a partitioned variable its slices, each called by its first
**                index and length in each dimension, `0,2:-`; `shard`: the file of data;
**                `byte_order` may be `big`
*/
const zt_driver zt_driver_tensorflow = {
  .name = "tensorflow",
  .format = "tensorflow",
  .files = "*.index",
  .rules = { zt_rules_leveldb, zt_rules_protobuf, tensorflow_rules, zt_rules_external },
  .probe = tensorflow_probe,
  .open = tensorflow_open,
  .object = tensorflow_object,
  .component = tensorflow_component,
  .steps = &zt_tensorflow_steps,
  .shard = tensorflow_shard,
  .close = tensorflow_close,
};
