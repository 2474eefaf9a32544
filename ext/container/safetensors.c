/*
** safetensors: a header of JSON, and behind it the bytes of dense tensors.
**
**   file     := length u64le, header, data
**   header   := { "__metadata__": metadata, name: tensor }           ; J1 to J11
**   metadata := { key: text } | null          ; the format's own library takes null for none
**   tensor   := { "dtype": text, "shape": [dimension], "data_offsets": [begin, end] }
**   O1   the header has at most 100,000,000 bytes, and ends within the file
**   O2   header, metadata and tensors are objects; values are of these types, dimensions, begin and
**        end integers from 0 to 2^64-1
**   O3   dtype, shape and data_offsets are present; other keys of a tensor are ignored
**   O4   no known key occurs twice in an object, however it is escaped; tensors' names are unique
**   N1   a name is without U+0000
**   O5   a shape has at most 64 dimensions, whose product fits 64 bits
**   O6   begin is at most end, and end is at most the length of data; both count from its beginning
**   O7   elements of less than a byte end with a byte
**   O8   no two tensors share a byte
**
** zt_check reports data that belong to no tensor, unknown dtypes, lengths that contradict shape and
** dtype, and what makes the format's own library refuse the file, although nothing else speaks
** against it (O10). Objects come in the order of their bytes; those that begin at the same byte
** come in the header's order.
*/
#include "container/safetensors.h"

#include "container/builder.h"
#include "container/dtype.h"
#include "container/json_values.h"
#include "core/duplicate_keys.h"
#include "core/json_read.h"

#define SAFETENSORS_LENGTH 8   /* Bytes before the header */
#define SAFETENSORS_HEADER_MAX ((uint64_t)100*1000*1000)   /* The format's own limit */
#define SAFETENSORS_LEAST 96   /* Typical minimum bytes of a tensor in the header */
#define SAFETENSORS_BLANKS 256 /* Maximum white space before the header's brace in a probe */
#define SAFETENSORS_POLL_TENSORS 65536u   /* Tensors between checks for an interrupt */
#define SAFETENSORS_SPEC "safetensors, format"

static const zt_rule safetensors_rules[] = {
  ZT_ERROR("O1", "header-length",
           "the header has at most 100,000,000 bytes, and ends within the file", SAFETENSORS_SPEC),
  ZT_ERROR("O2", "header-type", "values have the types that the format demands", SAFETENSORS_SPEC),
  ZT_ERROR("O3", "missing-key", "a tensor has dtype, shape and data_offsets", SAFETENSORS_SPEC),
  ZT_ERROR("O4", "duplicate-key", "no key occurs twice in an object, however it is escaped",
           SAFETENSORS_SPEC),
  ZT_ERROR("O5", "tensor-shape", "a shape has at most 64 dimensions, whose product fits 64 bits",
           ZT_SPEC_OURS),
  ZT_ERROR("O6", "data-offsets", "a tensor's bytes begin before they end, and lie within the data",
           SAFETENSORS_SPEC),
  ZT_ERROR("O7", "packed-end", "elements of less than a byte fill whole bytes", SAFETENSORS_SPEC),
  ZT_ERROR("O8", "tensor-overlap", "no two tensors share a byte", SAFETENSORS_SPEC),
  ZT_ERROR("O9", "hole", "every byte of the data belongs to a tensor", SAFETENSORS_SPEC),
  ZT_ERROR("O10", "safetensors-library",
           "the format's own library reads the file: no empty tensor is within another one, a"
           " shape's dimensions before a 0 have a product that fits 64 bits, and elements of 6 bits"
           " have as many bytes as their shape needs",
           "safetensors, Metadata::validate"),
  ZT_RULES_END
};

enum {
  SAFETENSORS_DTYPE = 1, SAFETENSORS_SHAPE = 2, SAFETENSORS_OFFSETS = 4, SAFETENSORS_ALL = 7
};

/* Types in the format's words and the model's, and the bits of an element of less than a byte.
** Frequent ones come first. */
typedef struct safetensors_type {
  zt_text word, dtype, type;
  unsigned bits;
} safetensors_type;

#define SAFETENSORS_PLAIN(word, dtype) { ZT_TEXT_INIT(word), ZT_TEXT_INIT(dtype), { NULL, 0 }, 0 }
#define SAFETENSORS_ON(word, dtype, type, bits) \
  { ZT_TEXT_INIT(word), ZT_TEXT_INIT(dtype), ZT_TEXT_INIT(type), bits }

static const safetensors_type safetensors_types[] = {
  SAFETENSORS_PLAIN("BF16", "bf16"),
  SAFETENSORS_PLAIN("F16", "f16"),
  SAFETENSORS_PLAIN("F32", "f32"),
  SAFETENSORS_PLAIN("U8", "u8"),
  SAFETENSORS_PLAIN("I8", "i8"),
  SAFETENSORS_PLAIN("I32", "i32"),
  SAFETENSORS_PLAIN("I64", "i64"),
  SAFETENSORS_ON("F8_E4M3", "u8", "f8_e4m3fn", 0),
  SAFETENSORS_ON("F8_E5M2", "u8", "f8_e5m2", 0),
  SAFETENSORS_ON("F8_E8M0", "u8", "f8_e8m0", 0),
  SAFETENSORS_ON("F4", "u8", "f4_e2m1", 4),
  SAFETENSORS_PLAIN("BOOL", "bool"),
  SAFETENSORS_PLAIN("I16", "i16"),
  SAFETENSORS_PLAIN("U16", "u16"),
  SAFETENSORS_PLAIN("U32", "u32"),
  SAFETENSORS_PLAIN("U64", "u64"),
  SAFETENSORS_PLAIN("F64", "f64"),
  SAFETENSORS_ON("C64", "f32", "complex64", 0),
  SAFETENSORS_ON("F8_E4M3FNUZ", "u8", "f8_e4m3fnuz", 0),
  SAFETENSORS_ON("F8_E5M2FNUZ", "u8", "f8_e5m2fnuz", 0),
  /* The model does not have these types */
  SAFETENSORS_ON("F6_E2M3", "u8", "f6_e2m3", 6),
  SAFETENSORS_ON("F6_E3M2", "u8", "f6_e3m2", 6),
};

/* NULL: unknown. */
static const safetensors_type *safetensors_find_type(zt_json_string word){
  for(size_t i=0; i<sizeof(safetensors_types)/sizeof(*safetensors_types); i++){
    if( zt_json_string_equal(word, safetensors_types[i].word) ) return &safetensors_types[i];
  }
  return NULL;
}

/* --- Probing --- */

/* The header's first byte other than white space; 0 if none is near. */
static uint8_t safetensors_first(const zt_head_tail *input, zt_error *err){
  uint8_t bytes[SAFETENSORS_BLANKS];
  size_t n = sizeof(bytes), i = 0;
  if( input->head.p[SAFETENSORS_LENGTH]=='{' ) return '{';  /* The usual case, without a read */
  if( n>input->size-SAFETENSORS_LENGTH ) n = (size_t)(input->size-SAFETENSORS_LENGTH);
  if( zt_source_read(input->source, SAFETENSORS_LENGTH, bytes, n, err) ) return 0;
  while( i<n && (bytes[i]==' ' || bytes[i]=='\n' || bytes[i]=='\r' || bytes[i]=='\t') ) i++;
  return i<n ? bytes[i] : 0;
}

/* A plausible length and a brace are no magic number, but files of other tensor formats do not
** begin so. */
static zt_probe safetensors_probe(const zt_head_tail *input, zt_error *err){
  uint64_t length;
  if( input->head.n<=SAFETENSORS_LENGTH ) return ZT_PROBE_NO;
  length = zt_le64(input->head.p);
  if( length>SAFETENSORS_HEADER_MAX && length>input->size-SAFETENSORS_LENGTH ) return ZT_PROBE_NO;
  return safetensors_first(input, err)=='{' ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
}

/* O1. */
static int safetensors_header_length(const zt_head_tail *input, uint64_t *out, zt_error *err){
  uint64_t behind = input->size-SAFETENSORS_LENGTH;
  *out = zt_le64(input->head.p);
  if( *out>SAFETENSORS_HEADER_MAX ){
    return zt_break(err, "O1", "the header's length, %llu, is more than %llu", *out,
                    SAFETENSORS_HEADER_MAX);
  }
  if( *out>behind ){
    return zt_break(err, "O1",
                    "the header's length is %llu, but %llu bytes follow: the file is cut", *out,
                    behind);
  }
  return SQLITE_OK;
}

/* --- A tensor --- */

/* The fields of a tensor's object that were read. */
typedef struct safetensors_tensor {
  unsigned found;             /* SAFETENSORS_ bits */
  zt_json_string dtype;
  zt_object *object;          /* Receives rank, shape and elements; may be NULL */
  size_t offsets;             /* Position of data_offsets */
  uint64_t begin, end;
} safetensors_tensor;

/* O5. */
static bool safetensors_read_shape(zt_json_reader *r, zt_object *out){
  const uint8_t *at = r->p;
  zt_json_level level;
  if( !zt_json_read_open(r, ZT_JSON_ARRAY, &level) ) return false;
  for(out->rank=0; zt_json_read_more(r, &level); out->rank++){
    if( out->rank==ZT_MAX_RANK ){
      return zt_json_read_fail(r, "O5", "a shape of more than %d dimensions", ZT_MAX_RANK);
    }
    if( !zt_json_read_uint(r, &out->shape[out->rank]) ) return false;
  }
  if( r->err->rc ) return false;
  if( zt_object_count(out) ) return true;
  r->p = at;
  return zt_json_read_fail(r, "O5", "the product of the shape is beyond 64 bits");
}

static bool safetensors_read_offsets(zt_json_reader *r, safetensors_tensor *out){
  const uint8_t *at = r->p;
  zt_json_level level;
  out->offsets = (size_t)(at-r->base);
  if( zt_json_read_usual(r, "[") && zt_json_read_uint(r, &out->begin)
   && zt_json_read_usual(r, ",") && zt_json_read_uint(r, &out->end)
   && zt_json_read_usual(r, "]") ) return true;
  if( r->err->rc ) return false;
  r->p = at;   /* There is white space, or not two numbers */
  if( !zt_json_read_open(r, ZT_JSON_ARRAY, &level) ) return false;
  if( zt_json_read_more(r, &level) && zt_json_read_uint(r, &out->begin)
   && zt_json_read_more(r, &level) && zt_json_read_uint(r, &out->end)
   && !zt_json_read_more(r, &level) ) return r->err->rc==SQLITE_OK;
  return zt_json_read_fail(r, "O2", "data_offsets are not two numbers");
}

/* The field of a key; 0: unknown. */
static unsigned safetensors_field(zt_json_string key){
  if( zt_json_string_is(key, "dtype") ) return SAFETENSORS_DTYPE;
  if( zt_json_string_is(key, "shape") ) return SAFETENSORS_SHAPE;
  if( zt_json_string_is(key, "data_offsets") ) return SAFETENSORS_OFFSETS;
  return 0;
}

/* Read a tensor's object in the form of nearly all writers: these fields in this order, without
** white space. False after a failure, and for other forms, which are left unread. */
static bool safetensors_read_usual(zt_json_reader *r, safetensors_tensor *out){
  const uint8_t *at = r->p;
  if( zt_json_read_usual(r, "{\"dtype\":") && zt_json_read_text(r, &out->dtype)
   && zt_json_read_usual(r, ",\"shape\":") && safetensors_read_shape(r, out->object)
   && zt_json_read_usual(r, ",\"data_offsets\":") && safetensors_read_offsets(r, out)
   && zt_json_read_usual(r, "}") ){
    out->found = SAFETENSORS_ALL;
    return true;
  }
  if( !r->err->rc ) r->p = at;
  return false;
}

/* Read the next value, a tensor's object, up to the last wanted field. `want` with further bits
** reads the whole object. */
static bool safetensors_read_tensor(zt_json_reader *r, unsigned want, safetensors_tensor *out){
  zt_json_level level;
  zt_json_string key;
  bool ok = zt_json_read_open(r, ZT_JSON_OBJECT, &level);
  while( ok && want && zt_json_read_more(r, &level) ){
    const uint8_t *at = r->p;
    unsigned field;
    if( !zt_json_read_key(r, &key) ) return false;
    field = safetensors_field(key);
    if( out->found & field ){
      r->p = at;
      return zt_json_read_fail(r, "O4", "a key stands twice");
    }
    out->found |= field;
    want &= ~field;
    switch( field ){
      case SAFETENSORS_DTYPE: ok = zt_json_read_text(r, &out->dtype); break;
      case SAFETENSORS_SHAPE:
        ok = out->object ? safetensors_read_shape(r, out->object) : zt_json_read_skip(r);
        break;
      case SAFETENSORS_OFFSETS: ok = safetensors_read_offsets(r, out); break;
      default: ok = zt_json_read_poll(r) && zt_json_read_skip(r); break;
    }
  }
  return ok && r->err->rc==SQLITE_OK;
}

/* --- Checking the header --- */

/* Tensors of one kind that the format's own library does not read. */
typedef struct safetensors_refused {
  zt_key first;        /* A name */
  uint32_t n;
} safetensors_refused;

typedef struct safetensors_walker {
  zt_builder *b;
  zt_json_reader r;
  uint64_t data;       /* Offset of the data */
  uint64_t length;     /* Bytes of the data */
  bool metadata;       /* __metadata__ was read */
  bool sort;           /* Tensors are not in the order of their bytes */
  uint64_t begin;      /* Of the last tensor, while sort is false */
  uint64_t from, end;  /* The bytes of the tensor with the maximum end so far, */
  uint32_t furthest;   /* and its index */
  safetensors_refused within;   /* Empty ones within others */
  safetensors_refused wide;     /* Dimensions before a 0 */
  safetensors_refused uneven;   /* Bytes of elements of 6 bits */
  zt_object object;    /* The last one */
} safetensors_walker;

static size_t safetensors_position(const safetensors_walker *w){
  return (size_t)(w->r.p-w->r.base);
}

/* Find a key's text in the kept bytes, or append it there if it is escaped. */
static bool safetensors_keep(safetensors_walker *w, zt_json_string key, zt_text *out){
  zt_json_reader *r = &w->r;
  const size_t from = (size_t)((const uint8_t*)key.raw.z-r->base);
  const uint8_t *before = r->base, *base;
  zt_container *c = w->b->container;
  uint32_t at = 0;
  *out = key.raw;
  if( !key.escaped ) return true;
  if( zt_builder_keep(w->b, NULL, zt_json_unescaped_length(key), &at) ) return false;
  base = c->kept.p;   /* Kept bytes may have moved */
  r->p = base+(r->p-before);
  r->end = base+(r->end-before);
  r->poll = base+(r->poll-before);
  r->base = base;
  key.raw.z = (const char*)base+from;
  *out = (zt_text){ (const char*)base+at, zt_json_unescape(key, (char*)c->kept.p+at) };
  return true;
}

static bool safetensors_fail_at(safetensors_walker *w, size_t at, const char *rule,
                                const char *what){
  w->r.p = w->r.base+at;
  return zt_json_read_fail(&w->r, rule, "%s", what);
}

/* An iterator over the keys of __metadata__, for zt_duplicate_keys_find(). */
typedef struct safetensors_keys {
  zt_json_reader from, at;
  zt_json_level level;
} safetensors_keys;

static void safetensors_rewind(void *context){
  safetensors_keys *k = context;
  k->at = k->from;
  zt_json_read_open(&k->at, ZT_JSON_OBJECT, &k->level);
}

static bool safetensors_next_key(void *context, uint64_t seed, size_t *at, uint64_t *hash){
  safetensors_keys *k = context;
  zt_json_string key, value;
  if( !zt_json_read_more(&k->at, &k->level) || !zt_json_read_poll(&k->at) ) return false;
  *at = (size_t)(k->at.p-k->at.base);
  zt_json_read_key(&k->at, &key);
  *hash = zt_json_string_hash(key, seed);
  return zt_json_read_text(&k->at, &value);
}

static bool safetensors_equal_keys(void *context, size_t a, size_t b){
  safetensors_keys *k = context;
  zt_json_reader r = k->from;
  zt_json_string one, other;
  r.p = r.base+a;
  zt_json_read_text(&r, &one);
  r.p = r.base+b;
  zt_json_read_text(&r, &other);
  return zt_json_strings_equal(one, other);
}

/* O4, for n keys that do not ascend. `from` stands at their object. */
static bool safetensors_check_keys(safetensors_walker *w, zt_json_reader from, uint64_t n){
  safetensors_keys context = { .from = from };
  const zt_duplicate_keys keys = {
    .rewind = safetensors_rewind, .next = safetensors_next_key, .equal = safetensors_equal_keys,
    .context = &context, .n = n, .bytes = (size_t)(from.end-from.base),
    .interrupt = w->b->interrupt, .err = w->r.err
  };
  size_t found;
  context.from.any_bytes = true;   /* UTF-8 was checked before */
  if( zt_duplicate_keys_find(&keys, &found) ) return false;
  return found==SIZE_MAX
      || safetensors_fail_at(w, found, "O4", "a key stands twice in __metadata__");
}

/* O2 and O4, for the keys and values of __metadata__. */
static bool safetensors_read_metadata(safetensors_walker *w){
  const zt_json_reader from = w->r;
  zt_json_level level;
  zt_json_string key, value;
  zt_text last = { NULL, 0 };
  bool ascend = true;
  uint64_t n = 0;
  w->metadata = true;
  if( w->r.p<w->r.end && *w->r.p=='n' ) return zt_json_read_skip(&w->r);
  w->b->container->attributes = (zt_value){ .type = ZT_VALUE_MAP, .at = safetensors_position(w) };
  if( !zt_json_read_open(&w->r, ZT_JSON_OBJECT, &level) ) return false;
  for(; zt_json_read_more(&w->r, &level) && zt_json_read_poll(&w->r); n++){
    if( !zt_json_read_key(&w->r, &key) || !zt_json_read_text(&w->r, &value) ) return false;
    ascend = ascend && !key.escaped && (!last.z || zt_text_compare(last, key.raw)<0);
    last = key.raw;
  }
  if( w->r.err->rc ) return false;
  return ascend || safetensors_check_keys(w, from, n);
}

/* O10, for object i. */
static void safetensors_refuse(const safetensors_walker *w, uint32_t i, safetensors_refused *out){
  if( out->n++==0 ) out->first = w->b->container->names.a[i];
}

/* O10: a product from the left, as the format's own library computes it. */
static bool safetensors_is_wide(const zt_object *object){
  uint64_t product = 1;
  for(uint32_t i=0; i<object->rank; i++){
    if( !zt_mul64(product, object->shape[i], &product) ) return true;
  }
  return false;
}

static void safetensors_note_refused(const safetensors_walker *w, const safetensors_refused *what,
                                     const char *fault){
  const zt_text name = { (const char*)w->b->container->kept.p+what->first.at, what->first.n };
  char others[64] = "";
  if( what->n==0 || w->b->err->rc ) return;
  if( what->n>1 ) sqlite3_snprintf(sizeof(others), others, " (the first of %u)", what->n);
  zt_builder_note_file(w->b, "O10", "object '%.*s' %s, and safetensors' library refuses this%s",
                       zt_shown(name), name.z, fault, others);
}

/* O8 and O10, for tensors in the order of their bytes: object i has bytes begin to end. */
static bool safetensors_claim(safetensors_walker *w, uint32_t i, uint64_t begin, uint64_t end){
  zt_text other;
  if( begin==end ){
    if( w->from<begin && begin<w->end ) safetensors_refuse(w, i, &w->within);
    return true;
  }
  if( begin<w->end ){
    other = zt_container_name(w->b->container, w->furthest);
    zt_break(w->r.err, "O8", "bytes %llu to %llu overlap those of object '%.*s', %llu to %llu",
             w->data+begin, w->data+end, zt_shown(other), other.z, w->data+w->from,
             w->data+w->end);
    return false;
  }
  w->from = begin;
  w->end = end;
  w->furthest = i;
  return true;
}

/* O3, O6 and O7: the rules of a single tensor. at is its position. */
static bool safetensors_check_tensor(safetensors_walker *w, const safetensors_tensor *t, size_t at){
  static const char *const names[] = { "dtype", "shape", "data_offsets" };
  const safetensors_type *type = NULL;
  for(int i=0; i<3; i++){
    if( t->found & 1u<<i ) continue;
    w->r.p = w->r.base+at;
    return zt_json_read_fail(&w->r, "O3", "'%s' is missing", names[i]);
  }
  w->r.p = w->r.base+t->offsets;
  if( t->begin>t->end ){
    return zt_json_read_fail(&w->r, "O6", "data_offsets begin at %llu and end at %llu", t->begin,
                             t->end);
  }
  if( t->end>w->length ){
    return zt_json_read_fail(&w->r, "O6", "data_offsets end at %llu, but there are %llu bytes",
                             t->end, w->length);
  }
  /* Four elements of 4 or 6 bits are whole bytes */
  if( t->object->elements%4 ) type = safetensors_find_type(t->dtype);
  if( type && t->object->elements%8*type->bits%8 ){
    return zt_json_read_fail(&w->r, "O7", "%llu elements of %u bits do not end with a byte",
                             t->object->elements, type->bits);
  }
  return true;
}

/* O10: zt_check compares the bytes of types that the model has, but not of those of 6 bits. */
static bool safetensors_is_uneven(const safetensors_tensor *t){
  const zt_text word = t->dtype.raw;
  if( word.n<3 || memcmp(word.z, "F6_", 3)!=0 || !safetensors_find_type(t->dtype) ) return false;
  return t->end-t->begin!=t->object->elements/4*3;   /* O7: four of them are whole bytes */
}

/* Check and add a tensor, whose name was read. */
static bool safetensors_add(safetensors_walker *w, zt_text name){
  zt_container *c = w->b->container;
  safetensors_tensor t = { .object = &w->object };
  size_t at = safetensors_position(w);
  const uint8_t *after;
  bool duplicate;
  if( c->objects.n==0 ){   /* Later than metadata, which may need memory itself */
    size_t most = (size_t)(w->r.end-w->r.p)/SAFETENSORS_LEAST;
    zt_builder_reserve(w->b, most, most);
  }
  if( zt_builder_object(w->b, name, at, &duplicate) ) return false;
  if( duplicate ) return zt_json_read_fail(&w->r, "O4", "the name stands twice");
  if( !safetensors_read_usual(&w->r, &t) && !safetensors_read_tensor(&w->r, ~0u, &t) ) return false;
  after = w->r.p;
  if( !safetensors_check_tensor(w, &t, at) ) return false;
  w->r.p = after;
  if( w->object.elements==0 && safetensors_is_wide(&w->object) ){
    safetensors_refuse(w, c->objects.n-1, &w->wide);
  }
  if( safetensors_is_uneven(&t) ) safetensors_refuse(w, c->objects.n-1, &w->uneven);
  w->sort |= t.begin<w->begin;
  w->begin = t.begin;
  if( !w->sort && !safetensors_claim(w, c->objects.n-1, t.begin, t.end) ) return false;
  return zt_builder_component(w->b, t.offsets)==SQLITE_OK;
}

/* Read the next member of the header. */
static bool safetensors_read_member(safetensors_walker *w){
  const size_t at = safetensors_position(w);
  zt_json_string key;
  zt_text name;
  bool ok;
  if( !zt_json_read_key(&w->r, &key) ) return false;
  if( zt_json_string_is(key, "__metadata__") ){
    if( w->metadata ) return safetensors_fail_at(w, at, "O4", "__metadata__ stands twice");
    return safetensors_read_metadata(w);
  }
  if( !safetensors_keep(w, key, &name) ) return false;
  if( key.escaped && zt_has_nul(name.z, name.n) ){
    return safetensors_fail_at(w, at, "N1", "a name with U+0000 in it");
  }
  w->r.err->object = name;
  ok = safetensors_add(w, name);
  w->r.err->object.z = NULL;
  return ok;
}

/* --- Tensors in another order than their bytes --- */

/* The beginning of each tensor, and its index in the header. */
typedef struct safetensors_order {
  uint64_t *begin;   /* Both owned */
  uint32_t *object;
} safetensors_order;

static bool safetensors_before(uint64_t begin, uint32_t object, uint64_t than, uint32_t other){
  return begin!=than ? begin<than : object<other;
}

static void safetensors_swap(safetensors_order *o, size_t i, size_t k){
  uint64_t begin = o->begin[i];
  uint32_t object = o->object[i];
  o->begin[i] = o->begin[k];
  o->object[i] = o->object[k];
  o->begin[k] = begin;
  o->object[k] = object;
}

/* Hoare's partition around the first of n; returns the number of tensors on its left side, from 1
** to n-1. */
static size_t safetensors_divide(safetensors_order *o, size_t from, size_t n){
  const uint64_t begin = o->begin[from];
  const uint32_t object = o->object[from];
  size_t i = from, k = from+n-1;
  for(;;){
    while( safetensors_before(o->begin[i], o->object[i], begin, object) ) i++;
    while( safetensors_before(begin, object, o->begin[k], o->object[k]) ) k--;
    if( i>=k ) return k+1-from;
    safetensors_swap(o, i++, k--);
  }
}

/* Quicksort of n tensors. Unlike qsort() it takes no memory and can be interrupted. The pivot is
** random, so no header can make it slow. */
static int safetensors_order_sort(safetensors_order *o, size_t from, size_t n, uint64_t seed,
                                  const zt_builder *b){
  while( n>1 && !b->err->rc ){
    size_t remaining;
    seed = seed*6364136223846793005u + 1442695040888963407u;
    safetensors_swap(o, from, from + (size_t)((seed>>32)%n));
    remaining = safetensors_divide(o, from, n);
    if( n>SAFETENSORS_POLL_TENSORS ) zt_interrupt_check(b->interrupt, b->err);
    if( remaining<=n/2 ){
      safetensors_order_sort(o, from, remaining, seed, b);
      from += remaining;
      n -= remaining;
    }else{
      safetensors_order_sort(o, from+remaining, n-remaining, seed, b);
      n = remaining;
    }
  }
  return b->err->rc;
}

/* Read the data_offsets at a position. */
static void safetensors_offsets(const zt_container *c, size_t at, safetensors_tensor *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_values_decode(c, at, &unused, &r);
  safetensors_read_offsets(&r, out);
  assert( !unused.rc );
}

static bool safetensors_poll(const zt_builder *b, uint32_t i){
  return i%SAFETENSORS_POLL_TENSORS!=SAFETENSORS_POLL_TENSORS-1
      || !zt_interrupt_check(b->interrupt, b->err);
}

/* O8 and O10, for all tensors, listed in the order of their bytes. */
static int safetensors_claim_all(safetensors_walker *w, const uint32_t *objects){
  const zt_container *c = w->b->container;
  w->from = w->end = 0;
  w->within.n = 0;
  for(uint32_t i=0; i<c->objects.n && safetensors_poll(w->b, i); i++){
    safetensors_tensor t = { 0 };
    safetensors_offsets(c, c->components.a[objects[i]], &t);
    w->r.err->object = zt_container_name(c, objects[i]);
    if( !safetensors_claim(w, objects[i], t.begin, t.end) ) break;
    w->r.err->object.z = NULL;
  }
  return w->r.err->rc;
}

/* Put all tensors in the order of their bytes, and check O8 and O10. */
static int safetensors_sort(safetensors_walker *w){
  zt_container *c = w->b->container;
  const uint32_t n = c->objects.n;
  uint64_t seed;
  safetensors_order o = {
    sqlite3_malloc64((uint64_t)n*sizeof(*o.begin)), sqlite3_malloc64((uint64_t)n*sizeof(*o.object))
  };
  if( !o.begin || !o.object ){
    zt_fail_nomem(w->r.err);
    goto end;
  }
  for(uint32_t i=0; i<n && safetensors_poll(w->b, i); i++){
    safetensors_tensor t = { 0 };
    safetensors_offsets(c, c->components.a[i], &t);
    o.begin[i] = t.begin;
    o.object[i] = i;
  }
  sqlite3_randomness(sizeof(seed), &seed);
  if( w->r.err->rc || safetensors_order_sort(&o, 0, n, seed, w->b) ) goto end;
  sqlite3_free(o.begin);
  o.begin = NULL;
  if( !safetensors_claim_all(w, o.object) ) zt_builder_reorder(w->b, o.object);
end:
  sqlite3_free(o.begin);
  sqlite3_free(o.object);
  return w->r.err->rc;
}

/* --- The driver --- */

static int safetensors_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  safetensors_walker w = { .b = b };
  zt_json_level level;
  uint64_t n;
  if( safetensors_header_length(input, &n, b->err) ) return b->err->rc;
  if( zt_builder_read(b, SAFETENSORS_LENGTH, n) ) return b->err->rc;
  w.data = SAFETENSORS_LENGTH+n;
  w.length = input->size-w.data;
  zt_json_read_init(&w.r, "header", (zt_span){ c->kept.p, (size_t)n }, b->err);
  zt_json_read_set_interrupt(&w.r, b->interrupt);
  w.r.type_rule = "O2";
  zt_json_read_blanks(&w.r);
  c->begin = SAFETENSORS_LENGTH;
  c->rules = ZT_RULE_NO_GAP;
  c->manifest = (zt_value){ .type = ZT_VALUE_MAP, .at = safetensors_position(&w) };
  if( !zt_json_read_open(&w.r, ZT_JSON_OBJECT, &level) ) return b->err->rc;
  while( zt_json_read_more(&w.r, &level) && zt_json_read_poll(&w.r) ){
    if( !safetensors_read_member(&w) ) return b->err->rc;
  }
  if( !zt_json_read_finish(&w.r) || (w.sort && safetensors_sort(&w)) ) return b->err->rc;
  safetensors_note_refused(&w, &w.within, "has no bytes and is within another one");
  safetensors_note_refused(&w, &w.wide,
                           "has dimensions before a 0 whose product is beyond 64 bits");
  safetensors_note_refused(&w, &w.uneven, "does not have the bytes that its shape needs");
  return b->err->rc;
}

/* Read the wanted fields of tensor i. */
static void safetensors_tensor_of(const zt_container *c, uint32_t i, unsigned want,
                                  safetensors_tensor *out){
  zt_error unused = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_values_decode(c, c->objects.a[i], &unused, &r);
  safetensors_read_tensor(&r, want, out);
  assert( !unused.rc );
}

static void safetensors_object(const zt_container *c, uint32_t i, zt_object *out){
  safetensors_tensor t = { .object = out };
  safetensors_tensor_of(c, i, SAFETENSORS_SHAPE, &t);
  out->format = ZT_TEXT("dense");
  out->layout = ZT_LAYOUT_DENSE;
}

zt_text zt_safetensors_word(const zt_container *c, uint32_t i){
  safetensors_tensor t = { 0 };
  safetensors_tensor_of(c, i, SAFETENSORS_DTYPE, &t);
  return t.dtype.raw;
}

void zt_safetensors_others_begin(const zt_container *c, uint32_t i, zt_safetensors_others *out){
  out->unused = ZT_ERROR_NONE;
  zt_json_values_decode(c, c->objects.a[i], &out->unused, &out->r);
  zt_json_read_open(&out->r, ZT_JSON_OBJECT, &out->level);
}

bool zt_safetensors_others_next(zt_safetensors_others *o, zt_text *name, zt_text *member){
  while( zt_json_read_more(&o->r, &o->level) ){
    const uint8_t *at = o->r.p;
    zt_json_string key;
    zt_json_read_key(&o->r, &key);
    zt_json_read_skip(&o->r);
    if( safetensors_field(key) ) continue;
    *name = key.raw;
    *member = (zt_text){ (const char*)at, (size_t)(o->r.p-at) };
    return true;
  }
  return false;
}

/* An unknown type is shown as stored. */
static void safetensors_set_type(const zt_container *c, uint32_t i, zt_component *out){
  safetensors_tensor t = { 0 };
  const safetensors_type *type;
  safetensors_tensor_of(c, i, SAFETENSORS_DTYPE, &t);
  type = safetensors_find_type(t.dtype);
  out->dtype = t.dtype.raw;
  if( !type ) return;
  out->dtype = type->dtype;
  out->type = type->type;
  if( type->bits==6 ) out->why_unknown = "no specification defines the packing of its elements";
  zt_dtype_decide(out);
}

static void safetensors_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                                  zt_component *out){
  safetensors_tensor t = { 0 };
  out->role = ZT_TEXT("data");
  if( want & (ZT_COMPONENT_OFFSET|ZT_COMPONENT_LENGTH) ){
    safetensors_offsets(c, c->components.a[k], &t);
    out->offset = c->manifest_offset+c->manifest_length+t.begin;
    out->length = t.end-t.begin;
  }
  if( want & (ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE|ZT_COMPONENT_ELEMENT) ){
    safetensors_set_type(c, i, out);
  }
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         all
**   known by     a length, and the header's brace
**   version      NULL
**   manifest     the header's JSON
**   attributes   each key of `__metadata__`, as text
**   objects      in the order of their bytes, not of the header
**   of objects   none
**   components   one, `data`: raw
*/
const zt_driver zt_driver_safetensors = {
  .name = "safetensors", .format = "safetensors", .files = "*.safetensors",
  .rules = { zt_rules_json, zt_rules_name, safetensors_rules }, .probe = safetensors_probe,
  .open = safetensors_open, .object = safetensors_object, .component = safetensors_component,
  .steps = &zt_json_values_steps
};
