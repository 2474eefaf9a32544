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
**   TB3  keys, and TENSORFLOW_ENTRY bytes for each, take at most 1 MiB plus TENSORFLOW_TIMES the
**        index's size
**   TB4  offset and size are not negative, and end within 64 bits
**   TB5  the file of data is one of num_shards
**
** A tensor is listed if its place is wrong (TB4, TB5), its shape is unknown or too large, or its
** type is not known. crc32c, masked as in LevelDB, is that of the stored bytes; that of text is
** not, and is not shown. A partitioned variable has no bytes of its own.
*/
#include "container/dtype.h"
#include "container/leveldb_table.h"
#include "container/manifest.h"
#include "container/shard.h"
#include "core/cbor_write.h"
#include "core/digest.h"
#include "core/host.h"
#include "core/protobuf.h"

#define TENSORFLOW_SPARE ((uint64_t)1 << 20)
#define TENSORFLOW_ENTRY 64   /* Bytes of an entry in memory, without its name */
#define TENSORFLOW_TIMES 16   /* Every 16th key of an index is whole */
#define TENSORFLOW_POLL 0xFFFFu   /* Objects between two checks for an interrupt, less 1 */
#define TENSORFLOW_SPEC(message) "tensor_bundle.proto, " message

static const zt_rule tensorflow_rules[] = {
  ZT_UNKNOWN("TB1", "tensorflow-header",
             "the first entry of an index is the header of a checkpoint (TensorFlow)",
             TENSORFLOW_SPEC("BundleHeaderProto")),
  ZT_ERROR("TB2", "tensorflow-name", "names are UTF-8, and without U+0000 (TensorFlow)",
           ZT_SPEC_SENSE),
  ZT_ERROR("TB3", "tensorflow-keys",
           "keys, and 64 bytes for each, take at most 1 MiB plus 16 times the index's size"
           " (TensorFlow)", ZT_SPEC_OURS),
  ZT_ERROR("TB4", "tensorflow-range",
           "a tensor's place is not negative, and ends within 64 bits (TensorFlow)",
           TENSORFLOW_SPEC("BundleEntryProto")),
  ZT_ERROR("TB5", "tensorflow-shard", "a tensor's file of data is one of the checkpoint's"
           " (TensorFlow)", TENSORFLOW_SPEC("BundleEntryProto")),
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
  return type<1 || type>=TENSORFLOW_TYPES || !tensorflow_types[type].dtype.z ? &tensorflow_unknown
       : &tensorflow_types[type];
}

/* --- Entries --- */

/* An entry as the message has it. */
typedef struct tensorflow_entry {
  int64_t type, shard, offset, size;
  uint32_t rank;
  bool ranked;             /* The rank is known, and at most ZT_MAX_RANK */
  int64_t shape[ZT_MAX_RANK];
  bool has_crc;
  uint32_t crc;            /* Masked */
  uint32_t slices;
} tensorflow_entry;

typedef struct tensorflow_state {
  int64_t shards;          /* num_shards */
  int64_t endianness;
  char version[24];
} tensorflow_state;

typedef struct tensorflow_scan {
  zt_builder *b;
  zt_error *err;
  zt_cbor_out item;        /* The current entry's */
  uint64_t metadata, most; /* TB3 */
} tensorflow_scan;

static int64_t tensorflow_signed(const zt_wire_field *f){ return (int64_t)f->value; }

/* The value of an int32 or an enum. */
static int64_t tensorflow_int32(const zt_wire_field *f){
  return (int32_t)(uint32_t)f->value;
}

static void tensorflow_read_dim(zt_protobuf *in, zt_message m, tensorflow_entry *out){
  int64_t size = 0;
  zt_wire_field f;
  while( zt_protobuf_next(in, &m, &f) ){
    if( f.number==1 && f.type==ZT_WIRE_VARINT ) size = tensorflow_signed(&f);
  }
  if( out->rank<ZT_MAX_RANK ) out->shape[out->rank] = size;
  else out->ranked = false;
  out->rank += out->ranked;
}

static void tensorflow_read_shape(zt_protobuf *in, zt_message m, tensorflow_entry *out){
  zt_wire_field f;
  while( zt_protobuf_next(in, &m, &f) ){
    if( f.number==2 && f.type==ZT_WIRE_BYTES ) tensorflow_read_dim(in, f.bytes, out);
    else if( f.number==3 && f.type==ZT_WIRE_VARINT && f.value ) out->ranked = false;
  }
}

static void tensorflow_read_number(const zt_wire_field *f, tensorflow_entry *out){
  switch( f->number ){
    case 1: out->type = tensorflow_int32(f); break;
    case 3: out->shard = tensorflow_int32(f); break;
    case 4: out->offset = tensorflow_signed(f); break;
    case 5: out->size = tensorflow_signed(f); break;
    default: break;
  }
}

static bool tensorflow_read_entry(tensorflow_scan *s, zt_span value, tensorflow_entry *out){
  zt_message all = { 0, value.n };
  zt_protobuf in;
  zt_wire_field f;
  *out = (tensorflow_entry){ .ranked = true };
  zt_protobuf_open_bytes(value, s->b->interrupt, &in, s->err);
  while( zt_protobuf_next(&in, &all, &f) ){
    if( f.type==ZT_WIRE_VARINT ) tensorflow_read_number(&f, out);
    else if( f.number==2 && f.type==ZT_WIRE_BYTES ) tensorflow_read_shape(&in, f.bytes, out);
    else if( f.number==7 && f.type==ZT_WIRE_BYTES ) out->slices++;
    else if( f.number==6 && f.type==ZT_WIRE_FIXED32 ){
      out->has_crc = true;
      out->crc = (uint32_t)f.value;
    }
  }
  zt_protobuf_close(&in);
  return !s->err->rc;
}

/* --- The manifest: a map of the header and of all entries --- */

static void tensorflow_put_key(zt_cbor_out *o, const char *key){
  zt_cbor_put_text(o, (zt_text){ key, strlen(key) });
}

static void tensorflow_put_int(zt_cbor_out *o, const char *key, int64_t i){
  tensorflow_put_key(o, key);
  zt_cbor_put_int(o, i);
}

/* Bytes of an item before the map of its attributes: heads of the item and of the key. */
#define TENSORFLOW_ATTRIBUTES (1+sizeof("attributes"))

/* crc32c follows unmasked, as a digest's text; null if it is none. */
static void tensorflow_put_crc(const tensorflow_entry *e, zt_cbor_out *o){
  const uint32_t rotated = e->crc-ZT_LEVELDB_MASK;
  char digest[sizeof("crc32c:00000000")];
  tensorflow_put_key(o, "digest");
  if( !e->has_crc || !tensorflow_type_of(e->type)->digest ){
    zt_cbor_put_null(o);
    return;
  }
  sqlite3_snprintf(sizeof(digest), digest, "crc32c:%08x", rotated>>17 | rotated<<15);
  zt_cbor_put_text(o, (zt_text){ digest, sizeof(digest)-1 });
}

static void tensorflow_put_entry(zt_span name, const tensorflow_entry *e, zt_cbor_out *o){
  zt_cbor_put_head(o, ZT_CBOR_MAP, 7);
  tensorflow_put_key(o, "attributes");
  zt_cbor_put_head(o, ZT_CBOR_MAP, 1+(e->slices>0));
  tensorflow_put_int(o, "tensor_type", e->type);
  if( e->slices ) tensorflow_put_int(o, "slices", e->slices);
  tensorflow_put_key(o, "shape");
  if( e->ranked ) zt_cbor_put_head(o, ZT_CBOR_ARRAY, e->rank);
  else zt_cbor_put_null(o);
  for(uint32_t i=0; e->ranked && i<e->rank; i++) zt_cbor_put_int(o, e->shape[i]);
  tensorflow_put_int(o, "shard_id", e->shard);
  tensorflow_put_int(o, "offset", e->offset);
  tensorflow_put_int(o, "size", e->size);
  tensorflow_put_crc(e, o);
  tensorflow_put_key(o, "key");
  zt_cbor_put_name(o, name);
}

/* Read the next item behind its key. */
static int64_t tensorflow_take_int(zt_cbor *c){
  zt_cbor_item item;
  zt_cbor_skip(c);
  zt_cbor_next(c, &item);
  return item.type==ZT_CBOR_NINT ? -1-(int64_t)item.n : (int64_t)item.n;
}

/* An entry's item, which tensorflow_put_entry() wrote. */
typedef struct tensorflow_item {
  tensorflow_entry entry;
  zt_text digest;          /* z NULL: none */
} tensorflow_item;

static void tensorflow_take(const zt_container *c, uint32_t i, tensorflow_item *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor cbor = zt_manifest_decoder(c, c->objects.a[i], 2, &unused);
  tensorflow_entry *e = &out->entry;
  zt_cbor_level level;
  zt_cbor_item item;
  *out = (tensorflow_item){ .entry = { .rank = 0 } };
  zt_cbor_open(&cbor, ZT_CBOR_MAP, &level);
  zt_cbor_skip(&cbor);
  zt_cbor_open(&cbor, ZT_CBOR_MAP, &level);
  e->type = tensorflow_take_int(&cbor);
  if( level.remaining>1 ) e->slices = (uint32_t)tensorflow_take_int(&cbor);
  zt_cbor_skip(&cbor);
  zt_cbor_next(&cbor, &item);
  e->ranked = item.type==ZT_CBOR_ARRAY;
  e->rank = e->ranked ? (uint32_t)item.n : 0;
  for(uint32_t d=0; d<e->rank; d++){
    zt_cbor_next(&cbor, &item);
    e->shape[d] = item.type==ZT_CBOR_NINT ? -1-(int64_t)item.n : (int64_t)item.n;
  }
  e->shard = tensorflow_take_int(&cbor);
  e->offset = tensorflow_take_int(&cbor);
  e->size = tensorflow_take_int(&cbor);
  zt_cbor_skip(&cbor);
  zt_cbor_next(&cbor, &item);
  if( item.type==ZT_CBOR_TEXT ) out->digest = (zt_text){ (const char*)item.p, (size_t)item.n };
}

/* --- Opening --- */

/* TB4, TB5: the number of the broken rule and its text; NULL if the place is sound. */
static const char *tensorflow_fault(const tensorflow_state *state, const tensorflow_entry *e,
                                    const char **rule){
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

/* The name of a file of data, owned. NULL: out of memory. */
static char *tensorflow_shard_name(const zt_container *c, int64_t shard){
  const tensorflow_state *state = c->state;
  return sqlite3_mprintf("%.*s.data-%05lld-of-%05lld", (int)c->stem.n,
                         (const char*)c->kept.p+c->stem.at, (sqlite3_int64)shard,
                         (sqlite3_int64)state->shards);
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

/* TB2, TB3. A slice's key is no name. */
static bool tensorflow_check_key(tensorflow_scan *s, zt_span key){
  s->metadata += key.n+TENSORFLOW_ENTRY;
  if( s->metadata>s->most ){
    zt_break(s->err, "TB3", "its keys, and %d bytes for each, take more than %llu bytes",
             TENSORFLOW_ENTRY, s->most);
  }else if( *key.p
   && (!zt_utf8_valid(key.p, key.n) || zt_has_nul((const char*)key.p, key.n)) ){
    zt_break(s->err, "TB2", "a name is not UTF-8, or has U+0000 in it");
  }
  return !s->err->rc;
}

/* Keep an entry as the next item of the manifest, and add its object. The name ends the item. */
static bool tensorflow_add(tensorflow_scan *s, zt_span name, const tensorflow_entry *e){
  const zt_container *c = s->b->container;
  uint32_t at;
  bool duplicate;
  zt_cbor_out_reset(&s->item);
  tensorflow_put_entry(name, e, &s->item);
  if( s->err->rc || zt_builder_keep(s->b, s->item.p, s->item.n, &at) ) return false;
  if( *name.p==0 ) return true;
  if( zt_builder_object(s->b, (zt_text){ (const char*)c->kept.p+c->kept.n-name.n, name.n }, at,
                        &duplicate) ) return false;
  return e->slices || zt_builder_component(s->b, at)==SQLITE_OK;
}

/* Slices, whose keys begin with 0, are in the manifest alone. */
static bool tensorflow_scan_entry(tensorflow_scan *s, zt_span key, zt_span value){
  tensorflow_entry entry;
  if( !tensorflow_check_key(s, key) ) return false;
  if( *key.p ) s->err->object = (zt_text){ (const char*)key.p, key.n };
  if( !tensorflow_read_entry(s, value, &entry) || !tensorflow_add(s, key, &entry) ) return false;
  s->err->object.z = NULL;
  return true;
}

/* TB1: the header, which is kept as the manifest's first member. */
static bool tensorflow_read_header(tensorflow_scan *s, zt_span value){
  tensorflow_state *state = s->b->container->state;
  zt_message all = { 0, value.n };
  int64_t producer = 0;
  zt_protobuf in;
  zt_wire_field f, v;
  zt_protobuf_open_bytes(value, s->b->interrupt, &in, s->err);
  while( zt_protobuf_next(&in, &all, &f) ){
    if( f.number==1 && f.type==ZT_WIRE_VARINT ) state->shards = tensorflow_int32(&f);
    if( f.number==2 && f.type==ZT_WIRE_VARINT ) state->endianness = tensorflow_int32(&f);
    if( f.number!=3 || f.type!=ZT_WIRE_BYTES ) continue;
    while( zt_protobuf_next(&in, &f.bytes, &v) ){
      if( v.number==1 && v.type==ZT_WIRE_VARINT ) producer = tensorflow_int32(&v);
    }
  }
  zt_protobuf_close(&in);
  sqlite3_snprintf(sizeof(state->version), state->version, "%lld", (sqlite3_int64)producer);
  return !s->err->rc;
}

/* Begin the manifest: {"header": {...}, "entries": [ */
static bool tensorflow_begin(tensorflow_scan *s){
  static const zt_span begin = { (const uint8_t*)"\x9f", 1 };   /* Of an array up to a break */
  zt_container *c = s->b->container;
  const tensorflow_state *state = c->state;
  zt_cbor_out *o = &s->item;
  size_t attributes;
  uint32_t at;
  zt_cbor_put_head(o, ZT_CBOR_MAP, 2);
  tensorflow_put_key(o, "header");
  attributes = o->n;
  zt_cbor_put_head(o, ZT_CBOR_MAP, 2);
  tensorflow_put_int(o, "num_shards", state->shards);
  tensorflow_put_key(o, "endianness");
  if( state->endianness==0 || state->endianness==1 ){
    tensorflow_put_key(o, state->endianness ? "BIG" : "LITTLE");
  }else{
    zt_cbor_put_int(o, state->endianness);
  }
  tensorflow_put_key(o, "entries");
  zt_cbor_put_items(o, begin);
  if( s->err->rc || zt_builder_keep(s->b, o->p, o->n, &at) ) return false;
  c->attributes = zt_manifest_map(at+attributes, 0);
  c->manifest = zt_manifest_map(at, 0);
  c->version = (zt_text){ state->version, strlen(state->version) };
  return true;
}

/* Add the files of data. Each component's number becomes the index of its file. */
static bool tensorflow_add_shards(zt_builder *b){
  zt_container *c = b->container;
  int64_t last = -1;
  uint32_t shard = 0;
  tensorflow_item item;
  const char *rule;
  for(uint32_t i=0; i<c->objects.n; i++){
    if( (i & TENSORFLOW_POLL)==0 && zt_interrupt_check(b->interrupt, b->err) ) return false;
    tensorflow_take(c, i, &item);
    if( item.entry.slices || tensorflow_fault(c->state, &item.entry, &rule) ) continue;
    if( item.entry.shard!=last && tensorflow_add_shard(b, item.entry.shard, &shard) ) return false;
    last = item.entry.shard;
    c->components.a[zt_container_first(c, i)] = shard;
  }
  return true;
}

static bool tensorflow_scan_table(tensorflow_scan *s, zt_leveldb *table){
  zt_span key = { NULL, 0 }, value;
  uint32_t at;
  if( !zt_leveldb_next(table, &key, &value) || key.n ){
    if( !s->err->rc ) zt_break(s->err, "TB1", "its first entry is not a checkpoint's header");
    return false;
  }
  if( !tensorflow_read_header(s, value) || !tensorflow_begin(s) ) return false;
  while( zt_leveldb_next(table, &key, &value) ){
    if( !tensorflow_scan_entry(s, key, value) ) return false;
  }
  return !s->err->rc && !zt_builder_keep(s->b, "\xff", 1, &at) && tensorflow_add_shards(s->b);
}

/* Keep X, the name of the index without its extension. */
static int tensorflow_keep_stem(zt_builder *b){
  zt_container *c = b->container;
  const zt_text stem = zt_container_stem(zt_source_path(b->source));
  uint32_t at;
  c->named_by_path = true;
  if( zt_builder_keep(b, stem.z, stem.n, &at) ) return b->err->rc;
  c->stem = (zt_key){ at, (uint32_t)stem.n };
  return SQLITE_OK;
}

static int tensorflow_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  tensorflow_scan s = {
    .b = b, .err = b->err, .item = { .err = b->err },
    .most = TENSORFLOW_SPARE+TENSORFLOW_TIMES*input->size   /* Of at most 1 GiB, by LT1 */
  };
  tensorflow_state *state = sqlite3_malloc64(sizeof(*state));
  zt_leveldb table;
  if( !state ) return zt_fail_nomem(b->err);
  *state = (tensorflow_state){ .shards = 0 };
  c->state = state;
  c->state_size = sizeof(*state);
  if( zt_leveldb_open(b->source, b->interrupt, &table, b->err)==SQLITE_OK
   && tensorflow_keep_stem(b)==SQLITE_OK ) tensorflow_scan_table(&s, &table);
  zt_leveldb_close(&table);
  zt_cbor_out_clear(&s.item);
  c->manifest_length = c->file_size;
  return b->err->rc;
}

static void tensorflow_close(zt_container *c){
  sqlite3_free(c->state);
}

static zt_probe tensorflow_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_tail_is(input, ZT_LEVELDB_MAGIC, 8) ? ZT_PROBE_YES : ZT_PROBE_NO;
}

/* --- Decoding --- */

/* Set the shape; false if it is unknown, or has a negative or too many elements. */
static bool tensorflow_set_shape(const tensorflow_entry *e, zt_object *out){
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
  tensorflow_item item;
  tensorflow_take(c, i, &item);
  type = tensorflow_type_of(item.entry.type);
  out->format = type->format.z ? type->format : ZT_TEXT("dense");
  out->layout = type->format.z ? ZT_LAYOUT_UNKNOWN : ZT_LAYOUT_DENSE;
  out->no_values = type->no_values;
  out->attributes = zt_manifest_map(c->objects.a[i]+TENSORFLOW_ATTRIBUTES, 0);
  if( !tensorflow_set_shape(&item.entry, out) ){
    out->unshaped = true;
    out->layout = ZT_LAYOUT_UNKNOWN;
    out->why_unknown = "its shape is unknown, has a negative dimension, or more than 2^64 elements";
  }
  if( item.entry.slices==0 ) return;
  out->format = ZT_TEXT("tensorflow.sliced");
  out->layout = ZT_LAYOUT_UNKNOWN;
  out->no_values = "it is stored as slices, which are not put together";
}

static void tensorflow_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                                 zt_component *out){
  const tensorflow_state *state = c->state;
  const tensorflow_type *type;
  tensorflow_item item;
  (void)want;
  tensorflow_take(c, i, &item);
  type = tensorflow_type_of(item.entry.type);
  out->role = ZT_TEXT("data");
  out->dtype = type->dtype;
  out->type = type->type;
  zt_dtype_decide(out);
  out->mixed = type->format.z!=NULL;
  if( state->endianness==1 ) out->byte_order = ZT_TEXT("big");
  else if( state->endianness ) out->byte_order = ZT_TEXT("unknown");
  out->digest = item.digest;
  out->digests = item.digest.z ? ZT_DIGEST_CRC32C : 0;
  out->fault = tensorflow_fault(state, &item.entry, &out->fault_rule);
  out->unsized = out->fault!=NULL;
  out->offset = out->fault ? 0 : (uint64_t)item.entry.offset;
  out->length = out->fault ? 0 : (uint64_t)item.entry.size;
  if( out->fault ) return;
  out->external = out->beside = true;
  out->shard = zt_keys_text(&c->shard_names, c->kept.p, c->components.a[k]);
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
**   components   one, `data`: raw; `shard`: the file of data; `byte_order` may be `big`
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
  .steps = &zt_manifest_steps,
  .shard = tensorflow_shard,
  .close = tensorflow_close,
};
