/*
** Writing GGUF: version 3, little-endian.
**
**   file     := "GGUF" version:u32 tensors:u64 keys:u64 metadata infos padding { tensor padding }
**   metadata := keys in bytewise order, or as they were added; general.alignment comes with them
**               if it is not 32. A value has its stored type, or str, i64, u64 (if an integer is
**               beyond i64), f64, bool, or arr[...] of one of these
**   infos    := name, dimensions (innermost first), ggml's type, offset from the first tensor
*/
#include "container/encoder.h"

#include "container/encoder_checks.h"
#include "container/gguf.h"
#include "core/cbor.h"
#include "core/host.h"

#define GGUF_VERSION 3
#define GGUF_ALIGN_KEY "general.alignment"
#define GGUF_ALIGN_TYPE "u32"     /* Readers refuse another one (GG14) */
#define GGUF_ALIGN_LEAST 8
#define GGUF_ALIGN 32             /* A file need not state this one */
#define GGUF_KEY_MAX 65535
#define GGUF_WORD 128             /* Bytes of a type's word; nested arrays are not deeper */

/* --- Attributes --- */

/* The inner word of "arr[...]"; n 0: the word is of no array. */
static zt_text gguf_inner(zt_text word){
  if( word.n<6 || memcmp(word.z, "arr[", 4)!=0 || word.z[word.n-1]!=']' ) return (zt_text){ "", 0 };
  return (zt_text){ word.z+4, word.n-5 };
}

/* GGUF's number of the type that a word names; ZT_GGUF_TYPES: it names none. An empty array of
** arrays has the word "arr" inside. */
static uint32_t gguf_type_of(zt_text word){
  zt_text inner = gguf_inner(word);
  const bool array = inner.n>0;
  for(; inner.n; inner = gguf_inner(word)) word = inner;
  for(uint32_t i=0; i<ZT_GGUF_TYPES; i++){
    if( zt_text_equal(word, zt_gguf_types[i].name) ) return array ? ZT_GGUF_ARRAY : i;
  }
  return ZT_GGUF_TYPES;
}

/* True if the value that is next has an integer beyond i64 anywhere in it. */
static bool gguf_is_above(zt_cbor c){
  zt_cbor_item item;
  for(uint64_t n=1; n>0 && zt_cbor_next(&c, &item); n--){
    if( item.type==ZT_CBOR_UINT && item.n>INT64_MAX ) return true;
    if( item.type==ZT_CBOR_ARRAY ) n += item.n;
  }
  return false;
}

/* Append to a word. False: it is too long. */
static bool gguf_append(char word[GGUF_WORD], size_t *n, zt_text more){
  if( more.n>GGUF_WORD-*n ) return false;
  memcpy(word+*n, more.z, more.n);
  *n += more.n;
  return true;
}

/* Append the word for the value that is next; the first item tells the type of an array. above: an
** integer is beyond i64. False: GGUF has none. */
static bool gguf_append_word(zt_cbor *c, bool above, char word[GGUF_WORD], size_t *n){
  zt_cbor_item item;
  if( !zt_cbor_next(c, &item) ) return false;
  switch( item.type ){
    case ZT_CBOR_TEXT: return gguf_append(word, n, ZT_TEXT("str"));
    case ZT_CBOR_UINT: return gguf_append(word, n, above ? ZT_TEXT("u64") : ZT_TEXT("i64"));
    case ZT_CBOR_NINT: return gguf_append(word, n, ZT_TEXT("i64"));
    case ZT_CBOR_SIMPLE:
      if( item.is_float ) return gguf_append(word, n, ZT_TEXT("f64"));
      return (item.n==ZT_CBOR_TRUE || item.n==ZT_CBOR_FALSE)
          && gguf_append(word, n, ZT_TEXT("bool"));
    case ZT_CBOR_ARRAY:   /* The length of a word bounds the depth */
      return item.n>0 && gguf_append(word, n, ZT_TEXT("arr["))
          && gguf_append_word(c, above, word, n) && gguf_append(word, n, ZT_TEXT("]"));
    default: return false;
  }
}

/* A value being appended. */
typedef struct gguf_value {
  zt_cbor cbor;
  sqlite3_str *out;
  zt_text key, type;   /* type: the word of all of the value */
  zt_error *err;
} gguf_value;

static bool gguf_fail_value(const gguf_value *v){
  zt_fail(v->err, SQLITE_ERROR, "attribute '%.*s' is not of the type %.*s of gguf",
          zt_shown(v->key), v->key.z, zt_shown(v->type), v->type.z);
  return false;
}

static void gguf_put_number(sqlite3_str *out, uint64_t u, unsigned width){
  uint8_t bytes[8];
  zt_put_le(bytes, u, width);
  sqlite3_str_append(out, (const char*)bytes, (int)width);
}

static void gguf_put_text(sqlite3_str *out, zt_text text){
  gguf_put_number(out, text.n, 8);
  sqlite3_str_append(out, text.z, (int)text.n);
}

/* An integer of so many bytes. */
static bool gguf_put_integer(const gguf_value *v, const zt_cbor_item *item, uint32_t type){
  const unsigned width = zt_gguf_types[type].width;
  const bool is_signed = *zt_gguf_types[type].name.z=='i';
  const uint64_t max = UINT64_MAX >> (64-8*width+is_signed);
  if( (item->type!=ZT_CBOR_UINT && item->type!=ZT_CBOR_NINT) || item->n>max
   || (item->type==ZT_CBOR_NINT && !is_signed) ) return gguf_fail_value(v);
  gguf_put_number(v->out, item->type==ZT_CBOR_NINT ? ~item->n : item->n, width);
  return true;
}

/* A real number; an f32 must be one exactly. */
static bool gguf_put_real(const gguf_value *v, const zt_cbor_item *item, uint32_t type){
  const double real = item->real;
  const float narrow = (float)real;
  uint64_t bits;
  uint32_t bits32;
  if( !item->is_float ) return gguf_fail_value(v);
  memcpy(&bits, &real, sizeof(bits));
  memcpy(&bits32, &narrow, sizeof(bits32));
  if( type==ZT_GGUF_F64 ) gguf_put_number(v->out, bits, 8);
  else if( (double)narrow==real || real!=real ) gguf_put_number(v->out, bits32, 4);
  else{
    zt_fail(v->err, SQLITE_ERROR, "attribute '%.*s' is not exactly of the type %.*s of gguf;"
            " f64 in its place holds it", zt_shown(v->key), v->key.z, zt_shown(v->type), v->type.z);
    return false;
  }
  return true;
}

static bool gguf_put_value(gguf_value *v, zt_text word);

static bool gguf_put_array(gguf_value *v, const zt_cbor_item *item, zt_text word){
  const zt_text inner = gguf_inner(word);
  zt_cbor_level level;
  const uint32_t type = gguf_type_of(inner);
  if( item->type!=ZT_CBOR_ARRAY || type==ZT_GGUF_TYPES
   || !zt_cbor_enter(&v->cbor, item, &level) ) return gguf_fail_value(v);
  gguf_put_number(v->out, type, 4);
  gguf_put_number(v->out, item->n, 8);
  for(uint64_t i=0; i<item->n; i++) if( !gguf_put_value(v, inner) ) return false;
  v->cbor.depth--;
  return true;
}

/* Append the value that is next as the type that a word names. */
static bool gguf_put_value(gguf_value *v, zt_text word){
  const uint32_t type = gguf_type_of(word);
  zt_cbor_item item;
  if( !zt_cbor_next(&v->cbor, &item) ) return false;
  switch( type ){
    case ZT_GGUF_ARRAY: return gguf_put_array(v, &item, word);
    case ZT_GGUF_F32: case ZT_GGUF_F64: return gguf_put_real(v, &item, type);
    case ZT_GGUF_TEXT:   /* gguf.c reads text that is not UTF-8 as bytes */
      if( item.type!=ZT_CBOR_TEXT && item.type!=ZT_CBOR_BYTES ) return gguf_fail_value(v);
      gguf_put_text(v->out, (zt_text){ (const char*)item.p, (size_t)item.n });
      return true;
    case ZT_GGUF_BOOL:
      if( item.type!=ZT_CBOR_SIMPLE || item.is_float
       || (item.n!=ZT_CBOR_TRUE && item.n!=ZT_CBOR_FALSE) ) return gguf_fail_value(v);
      gguf_put_number(v->out, item.n==ZT_CBOR_TRUE, 1);
      return true;
    case ZT_GGUF_TYPES: return gguf_fail_value(v);
    default: return gguf_put_integer(v, &item, type);
  }
}

/* Append an attribute: key, type, value. */
static int gguf_put_attribute(sqlite3_str *out, const zt_draft_attribute *a, zt_error *err){
  gguf_value v = { .out = out, .key = a->key, .err = err };
  char word[GGUF_WORD];
  size_t n = 0;
  zt_text type = a->stored_type;
  if( a->stored ){
    gguf_put_text(out, a->key);
    sqlite3_str_append(out, (const char*)a->value.p, (int)a->value.n);
    return err->rc;
  }
  zt_cbor_init(&v.cbor, a->value.p, a->value.n, err);
  if( type.n==0 && zt_text_is(a->key, GGUF_ALIGN_KEY) ) type = ZT_TEXT(GGUF_ALIGN_TYPE);
  if( type.n==0 ){
    zt_cbor c = v.cbor;
    if( !gguf_append_word(&c, gguf_is_above(c), word, &n) ){
      return zt_fail(err, SQLITE_ERROR, "gguf cannot hold attribute '%.*s': it holds text, numbers,"
                     " booleans and arrays of one type; an empty array needs a stored_type",
                     zt_shown(a->key), a->key.z);
    }
    type = (zt_text){ word, n };
  }
  v.type = type;
  gguf_put_text(out, a->key);
  gguf_put_number(out, gguf_type_of(type), 4);
  gguf_put_value(&v, type);
  return err->rc;
}

/* The number of an alignment; 0: it is none. That of a file that is updated was read (GG14). */
static uint64_t gguf_read_align(const zt_draft_attribute *a, zt_error *err){
  zt_cbor cbor;
  zt_cbor_item item;
  if( a->stored ) return a->value.n==8 ? zt_le32(a->value.p+4) : 0;
  zt_cbor_init(&cbor, a->value.p, a->value.n, err);
  if( !zt_cbor_next(&cbor, &item) || item.type!=ZT_CBOR_UINT || item.n<GGUF_ALIGN_LEAST
   || item.n>ZT_ENCODER_ALIGN_MOST || (item.n & (item.n-1))!=0 ) return 0;
  return item.n;
}

static int gguf_check_align(const zt_draft_attribute *a, zt_error *err){
  if( gguf_read_align(a, err)!=0
   && (a->stored_type.n==0 || zt_text_is(a->stored_type, GGUF_ALIGN_TYPE)) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "attribute '" GGUF_ALIGN_KEY "' must be a " GGUF_ALIGN_TYPE
                 " and a power of two from %d on", GGUF_ALIGN_LEAST);
}

static int gguf_check_attribute(const zt_draft_attribute *attribute, bool of_object,
                                zt_error *err){
  sqlite3_str *out;
  if( of_object ) return zt_encoder_fail_attribute("gguf", err);
  if( !attribute->kept_key
   && zt_encoder_check_name("gguf", "attribute", attribute->key, GGUF_KEY_MAX, err) ){
    return err->rc;
  }
  if( attribute->key.n==0 && !attribute->kept_key ){
    return zt_fail(err, SQLITE_ERROR, "gguf cannot hold an attribute without a name");
  }
  if( attribute->stored ) return SQLITE_OK;
  if( zt_text_is(attribute->key, GGUF_ALIGN_KEY) ) return gguf_check_align(attribute, err);
  out = sqlite3_str_new(NULL);
  gguf_put_attribute(out, attribute, err);
  if( sqlite3_str_errcode(out)==SQLITE_NOMEM ) zt_fail_nomem(err);
  sqlite3_free(sqlite3_str_finish(out));
  return err->rc;
}

/* --- Tensors --- */

/* ggml's number of a plain type; -1: it has none. */
static int gguf_plain_number(zt_dtype_id id){
  switch( id ){
#define GGUF_PLAIN(name, number) case ZT_DTYPE_##name: return number;
    ZT_GGML_PLAIN_TYPES(GGUF_PLAIN)
#undef GGUF_PLAIN
    default: return -1;
  }
}

static bool gguf_holds(zt_dtype_id id){ return gguf_plain_number(id)>=0; }

static int gguf_check_object(const zt_draft *d, uint32_t number, zt_error *err){
  zt_draft_object object;
  zt_draft_object_get(d, number, &object);
  if( zt_encoder_check_name("gguf", "object", object.name, ZT_GGUF_NAME_MAX, err)
   || object.kept ) return err->rc;
  if( object.rank>ZT_GGUF_RANK_MAX ){
    return zt_fail(err, SQLITE_ERROR, "gguf tensors have at most %d dimensions, and this one has"
                   " %u; give data with another shape", ZT_GGUF_RANK_MAX, object.rank);
  }
  if( object.layout==ZT_LAYOUT_GGML ) return SQLITE_OK;
  return zt_encoder_check_dense("gguf", d, number, gguf_holds, err);
}

/* Bytes of a type that is not known go up to the next tensor, whose info follows. The order of
** bytes in a big-endian file is not kept. */
static bool gguf_keeps(const zt_container *c, uint32_t object, zt_component *component){
  const zt_gguf_state *s = zt_gguf_of(c);
  uint64_t end = c->file_size;
  zt_gguf_info next;
  if( s->big ) return false;
  if( !component->unsized ) return true;
  if( object+1<zt_container_objects(c) ){
    zt_gguf_read_info(c, c->objects.a[object+1], &next);
    end = s->data+next.offset;
  }
  if( end<component->offset ) return false;
  component->length = end-component->offset;
  return true;
}

/* The stored bytes of an object, and ggml's number of its type. */
static uint64_t gguf_data(const zt_encoder_run *run, uint32_t number, uint32_t *type){
  zt_draft_object object;
  zt_draft_component data;
  zt_component kept;
  zt_gguf_info info;
  zt_draft_object_get(run->draft, number, &object);
  zt_draft_data(run->draft, number, &data);
  if( !object.kept ){
    *type = object.layout==ZT_LAYOUT_GGML ? object.blocks->number
          : (uint32_t)gguf_plain_number(data.element->id);
    return data.decoded_length;
  }
  zt_gguf_read_info(run->kept, run->kept->objects.a[object.kept-1], &info);
  *type = zt_gguf_u32(false, run->kept->kept.p+info.number);
  zt_container_component(run->kept, object.kept-1, object.kept-1, ZT_COMPONENT_ALL, &kept);
  gguf_keeps(run->kept, object.kept-1, &kept);
  return kept.length;
}

static void gguf_put_info(zt_encoder_run *run, uint32_t number, uint64_t *offset,
                          sqlite3_str *out){
  const uint64_t align = run->options->align;
  zt_draft_object object;
  uint32_t type;
  const uint64_t length = gguf_data(run, number, &type);
  zt_draft_object_get(run->draft, number, &object);
  gguf_put_text(out, object.name);
  gguf_put_number(out, object.rank, 4);
  for(uint32_t i=object.rank; i>0; i--) gguf_put_number(out, object.shape[i-1], 8);
  gguf_put_number(out, type, 4);
  gguf_put_number(out, *offset, 8);
  *offset += length+(align-length%align)%align;
}

/* The file's attribute general.alignment: 0 if it has none. */
static int gguf_stated_align(const zt_draft *draft, uint64_t *out, zt_error *err){
  zt_draft_attribute a;
  *out = 0;
  for(uint32_t at=0; (at = zt_draft_next_attribute(draft, ZT_DRAFT_FILE, at, &a))!=0; ){
    if( zt_text_is(a.key, GGUF_ALIGN_KEY) ) *out = gguf_read_align(&a, err);
  }
  return err->rc;
}

/* Take the alignment that an attribute states. It must be the argument's, if that was given. */
static int gguf_choose_align(const zt_encoder_run *run, zt_encoder_options *options, bool *stated,
                             zt_error *err){
  uint64_t align;
  *options = *run->options;
  if( gguf_stated_align(run->draft, &align, err) ) return err->rc;
  *stated = align!=0;
  if( align==0 || align==options->align ) return SQLITE_OK;
  if( options->align_given ){
    return zt_fail(err, SQLITE_ERROR, "attribute '" GGUF_ALIGN_KEY "' is %llu, and align %llu;"
                   " change one, or leave it out",
                   (unsigned long long)align, (unsigned long long)options->align);
  }
  options->align = align;
  return SQLITE_OK;
}

static int gguf_put_metadata(zt_encoder_run *run, bool stated, sqlite3_str *out,
                             zt_error *err){
  const bool aligned = run->options->align!=GGUF_ALIGN && !stated;
  const uint32_t align = (uint32_t)run->options->align;
  uint32_t n;
  zt_draft_attribute *a = zt_draft_sort_attributes(run->draft, ZT_DRAFT_FILE,
                                                   run->options->by_row ? NULL : zt_text_compare,
                                                   &n, err);
  if( !a ) return err->rc;
  gguf_put_number(out, zt_draft_objects(run->draft), 8);
  gguf_put_number(out, n+aligned, 8);
  if( aligned ){
    gguf_put_text(out, ZT_TEXT(GGUF_ALIGN_KEY));
    gguf_put_number(out, ZT_GGUF_U32, 4);
    gguf_put_number(out, align, 4);
  }
  for(uint32_t i=0; i<n && !err->rc; i++) gguf_put_attribute(out, &a[i], err);
  sqlite3_free(a);
  return err->rc;
}

/* Append header, metadata and infos. */
static int gguf_write_header(zt_encoder_run *run, bool stated, zt_error *err){
  sqlite3_str *out = sqlite3_str_new(NULL);
  uint64_t offset = 0;
  int rc;
  sqlite3_str_append(out, "GGUF", 4);
  gguf_put_number(out, GGUF_VERSION, 4);
  gguf_put_metadata(run, stated, out, err);
  for(uint32_t i=0; i<zt_draft_objects(run->draft) && !err->rc; i++){
    gguf_put_info(run, run->order[i], &offset, out);
  }
  rc = sqlite3_str_errcode(out);
  if( rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  else if( rc ) zt_fail(err, rc, "too much metadata");
  if( !err->rc ){
    const zt_span bytes = { (const uint8_t*)sqlite3_str_value(out),
                            (size_t)sqlite3_str_length(out) };
    zt_output_append(run->output, bytes, err);
  }
  sqlite3_free(sqlite3_str_finish(out));
  return err->rc;
}

static int gguf_write(zt_encoder_run *run, zt_error *err){
  zt_encoder_options options;
  bool stated = false;
  if( gguf_choose_align(run, &options, &stated, err) ) return err->rc;
  run->options = &options;
  if( gguf_write_header(run, stated, err) || zt_encoder_align(run, err) ) return err->rc;
  for(uint32_t i=0; i<zt_draft_objects(run->draft) && !err->rc; i++){
    zt_draft_component data;
    zt_stored stored;
    const uint32_t object = run->order[i], place = zt_draft_data(run->draft, object, &data);
    if( run->part(run, object, place, &stored, err)==SQLITE_OK ) zt_encoder_align(run, err);
  }
  return err->rc;
}

extern const zt_driver zt_driver_gguf;

const zt_encoder zt_encoder_gguf = {
  .name = "gguf", .driver = &zt_driver_gguf, .suffix = ".gguf",
  .defaults = { .align = GGUF_ALIGN, .codec = ZT_CODEC_RAW }, .least_align = GGUF_ALIGN_LEAST,
  .codecs = 1u<<ZT_CODEC_RAW,
  .keeps = gguf_keeps, .check_object = gguf_check_object, .check_attribute = gguf_check_attribute,
  .compare = zt_draft_compare_names, .write = gguf_write
};
