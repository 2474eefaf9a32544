/*
** Writing safetensors: what its own library writes, but for the order of __metadata__, which that
** one shuffles.
**
**   file   := header_length u64le, header, data
**   header := JSON, padded with spaces to a multiple of 8:
**             {"__metadata__":{key:text},name:{"dtype":..,"shape":[..],"data_offsets":[..]}}
**             and the other members that a tensor of a file that is updated has
**   data   := tensors by type, widest first, and by name; no byte between two. Those of a file that
**             is updated may be of types that are not known; they come last
*/
#include "container/encoder.h"

#include "container/encoder_checks.h"
#include "container/encoder_kept.h"
#include "container/safetensors.h"
#include "core/cbor.h"
#include "core/host.h"
#include "core/json.h"

#define SAFETENSORS_HEADER_MOST 100000000u
#define SAFETENSORS_PADDING 8

/* The format's types in the order of its own library, which sorts by it, descending. */
typedef struct safetensors_row {
  zt_dtype_id id;
  const char *name;
} safetensors_row;

static const safetensors_row safetensors_types_sorted[] = {
  { ZT_DTYPE_bool, "BOOL" }, { ZT_DTYPE_f4_e2m1, "F4" }, { ZT_DTYPE_u8, "U8" },
  { ZT_DTYPE_i8, "I8" }, { ZT_DTYPE_f8_e5m2, "F8_E5M2" }, { ZT_DTYPE_f8_e4m3fn, "F8_E4M3" },
  { ZT_DTYPE_f8_e8m0, "F8_E8M0" }, { ZT_DTYPE_f8_e4m3fnuz, "F8_E4M3FNUZ" },
  { ZT_DTYPE_f8_e5m2fnuz, "F8_E5M2FNUZ" }, { ZT_DTYPE_i16, "I16" }, { ZT_DTYPE_u16, "U16" },
  { ZT_DTYPE_f16, "F16" }, { ZT_DTYPE_bf16, "BF16" }, { ZT_DTYPE_i32, "I32" },
  { ZT_DTYPE_u32, "U32" }, { ZT_DTYPE_f32, "F32" }, { ZT_DTYPE_complex64, "C64" },
  { ZT_DTYPE_f64, "F64" }, { ZT_DTYPE_i64, "I64" }, { ZT_DTYPE_u64, "U64" }
};
#define SAFETENSORS_TYPES (sizeof(safetensors_types_sorted)/sizeof(*safetensors_types_sorted))

/* The place of a type in that table; -1: it is not there. */
static int safetensors_place(zt_dtype_id id){
  for(size_t i=0; i<SAFETENSORS_TYPES; i++) if( safetensors_types_sorted[i].id==id ) return (int)i;
  return -1;
}

static bool safetensors_holds(zt_dtype_id id){ return safetensors_place(id)>=0; }

/* The place of an object's type, which was checked; -1: a kept object has another type. */
static int safetensors_type_of(const zt_draft *d, uint32_t object){
  zt_draft_component data;
  zt_draft_data(d, object, &data);
  return data.element ? safetensors_place(data.element->id) : -1;
}

/* The library cannot read a tensor whose last byte has spare bits. */
static int safetensors_check_count(const zt_draft *d, uint32_t number, zt_error *err){
  zt_draft_object object;
  zt_draft_component data;
  unsigned elements = 1;
  zt_draft_object_get(d, number, &object);
  zt_draft_data(d, number, &data);
  if( !data.element || !zt_dtype_is_packed(data.element) ) return SQLITE_OK;
  for(uint32_t i=0; i<object.rank; i++){
    elements = (unsigned)(elements*(object.shape[i]%data.element->elements));
  }
  if( elements%data.element->elements==0 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "safetensors cannot hold an odd number of %s elements; give"
                 " dtype 'f8_e4m3fn'", data.element->name);
}

static int safetensors_check_object(const zt_draft *d, uint32_t number, zt_error *err){
  const zt_text name = zt_draft_name(d, number);
  if( zt_text_is(name, "__metadata__") ){
    return zt_fail(err, SQLITE_ERROR, "safetensors cannot hold a tensor of this name; rename it");
  }
  zt_draft_object object;
  zt_draft_object_get(d, number, &object);
  if( zt_encoder_check_name("safetensors", "object", name, SAFETENSORS_HEADER_MOST, err)
   || object.kept
   || zt_encoder_check_dense("safetensors", d, number, safetensors_holds, err) ) return err->rc;
  return safetensors_check_count(d, number, err);
}

static int safetensors_check_attribute(const zt_draft_attribute *attribute, bool of_object,
                                       zt_error *err){
  if( of_object ) return zt_encoder_fail_attribute("safetensors", err);
  if( !attribute->kept_key
   && zt_encoder_check_name("safetensors", "attribute", attribute->key, SAFETENSORS_HEADER_MOST,
                            err) ) return err->rc;
  if( attribute->value.n && attribute->value.p[0]>>5==ZT_CBOR_TEXT ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "safetensors holds text attributes alone; give '%.*s' as text",
                 zt_shown(attribute->key), attribute->key.z);
}

/* By type, descending, then by name. */
static int safetensors_compare(const zt_draft *d, uint32_t a, uint32_t b){
  const int types = safetensors_type_of(d, b)-safetensors_type_of(d, a);
  return types ? types : zt_draft_compare_names(d, a, b);
}

/* --- Header --- */

/* A text with the escapes of serde_json: quotes, backslashes and control characters. */
static void safetensors_put_text(sqlite3_str *out, zt_text text){
  static const char escapes[] = "btnvfr";
  size_t plain = 0;   /* The first byte that is not appended yet */
  sqlite3_str_appendchar(out, 1, '"');
  for(size_t i=0; i<text.n; i++){
    const unsigned char ch = (unsigned char)text.z[i];
    if( ch>=0x20 && ch!='"' && ch!='\\' ) continue;
    sqlite3_str_append(out, text.z+plain, (int)(i-plain));
    plain = i+1;
    if( ch>=0x20 ) sqlite3_str_appendf(out, "\\%c", ch);
    else if( ch>=8 && ch<=13 && ch!=11 ) sqlite3_str_appendf(out, "\\%c", escapes[ch-8]);
    else sqlite3_str_appendf(out, "\\u%04x", ch);
  }
  sqlite3_str_append(out, text.z+plain, (int)(text.n-plain));
  sqlite3_str_appendchar(out, 1, '"');
}

static void safetensors_put_metadata(zt_encoder_run *run, sqlite3_str *out, zt_error *err){
  uint32_t n;
  zt_draft_attribute *a = zt_draft_sort_attributes(run->draft, ZT_DRAFT_FILE, zt_text_compare, &n,
                                                   err);
  if( n ) sqlite3_str_appendall(out, "\"__metadata__\":{");
  for(uint32_t i=0; a && i<n; i++){
    zt_cbor cbor;
    zt_cbor_item item;
    zt_cbor_init(&cbor, a[i].value.p, a[i].value.n, err);
    zt_cbor_next(&cbor, &item);
    if( i ) sqlite3_str_appendchar(out, 1, ',');
    safetensors_put_text(out, a[i].key);
    sqlite3_str_appendchar(out, 1, ':');
    safetensors_put_text(out, (zt_text){ (const char*)item.p, (size_t)item.n });
  }
  if( n ) sqlite3_str_appendchar(out, 1, '}');
  sqlite3_free(a);
}

/* A type's word, of a kept object its own. */
static void safetensors_put_type(const zt_encoder_run *run, uint32_t number, uint32_t kept,
                                 sqlite3_str *out){
  zt_text word;
  if( kept ){
    word = zt_safetensors_word(run->kept, kept-1);
    sqlite3_str_append(out, word.z, (int)word.n);
  }else{
    sqlite3_str_appendall(
      out, safetensors_types_sorted[safetensors_type_of(run->draft, number)].name);
  }
}

static bool safetensors_says_more(const zt_container *c, uint32_t object, zt_text *field){
  zt_safetensors_others others;
  zt_text member;
  zt_safetensors_others_begin(c, object, &others);
  return zt_safetensors_others_next(&others, field, &member);
}

/* The members of a kept object that are none of the format's. */
static void safetensors_put_others(const zt_container *c, uint32_t kept, sqlite3_str *out){
  zt_safetensors_others others;
  zt_text name, member;
  zt_safetensors_others_begin(c, kept, &others);
  while( zt_safetensors_others_next(&others, &name, &member) ){
    sqlite3_str_appendchar(out, 1, ',');
    sqlite3_str_append(out, member.z, (int)member.n);
  }
}

static void safetensors_put_tensor(zt_encoder_run *run, uint32_t number, uint64_t *offset,
                                   sqlite3_str *out){
  zt_draft_object object;
  zt_draft_component data;
  zt_draft_object_get(run->draft, number, &object);
  zt_draft_data(run->draft, number, &data);
  safetensors_put_text(out, object.name);
  sqlite3_str_appendall(out, ":{\"dtype\":\"");
  safetensors_put_type(run, number, object.kept, out);
  sqlite3_str_appendall(out, "\",\"shape\":[");
  for(uint32_t i=0; i<object.rank; i++){
    sqlite3_str_appendf(out, "%s%llu", i ? "," : "", object.shape[i]);
  }
  sqlite3_str_appendf(out, "],\"data_offsets\":[%llu,%llu]", *offset,
                      *offset+data.decoded_length);
  if( object.kept ) safetensors_put_others(run->kept, object.kept-1, out);
  sqlite3_str_appendchar(out, 1, '}');
  *offset += data.decoded_length;
}

/* Fail if the header is longer than readers allow, or than a text of SQLite's may be. */
static int safetensors_check_header(sqlite3_str *out, zt_error *err){
  if( sqlite3_str_errcode(out)!=SQLITE_TOOBIG
   && sqlite3_str_length(out)<=(int)SAFETENSORS_HEADER_MOST ) return err->rc;
  return zt_fail(err, SQLITE_TOOBIG, "a header of safetensors has at most %u bytes",
                 SAFETENSORS_HEADER_MOST);
}

/* The header's text, in memory from sqlite3_malloc64(). NULL on failure. */
static char *safetensors_header(zt_encoder_run *run, uint64_t *n, zt_error *err){
  const uint32_t objects = zt_draft_objects(run->draft);
  sqlite3_str *out = sqlite3_str_new(NULL);
  uint64_t offset = 0;
  char *header;
  sqlite3_str_appendchar(out, 1, '{');
  safetensors_put_metadata(run, out, err);
  for(uint32_t i=0; i<objects && !err->rc; i++){
    if( sqlite3_str_length(out)>1 ) sqlite3_str_appendchar(out, 1, ',');
    safetensors_put_tensor(run, run->order[i], &offset, out);
    safetensors_check_header(out, err);
  }
  sqlite3_str_appendchar(out, 1, '}');
  while( sqlite3_str_length(out)%SAFETENSORS_PADDING!=0 ) sqlite3_str_appendchar(out, 1, ' ');
  safetensors_check_header(out, err);
  *n = (uint64_t)sqlite3_str_length(out);
  header = sqlite3_str_finish(out);
  if( header && !err->rc ) return header;
  if( !header ) zt_fail_nomem(err);
  sqlite3_free(header);
  return NULL;
}

static int safetensors_write(zt_encoder_run *run, zt_error *err){
  const uint32_t objects = zt_draft_objects(run->draft);
  uint8_t length[8];
  uint64_t n;
  char *header = safetensors_header(run, &n, err);
  if( !header ) return err->rc;
  zt_put_le(length, n, sizeof(length));
  if( zt_output_append(run->output, (zt_span){ length, sizeof(length) }, err)==SQLITE_OK ){
    zt_output_append(run->output, (zt_span){ (const uint8_t*)header, (size_t)n }, err);
  }
  sqlite3_free(header);
  for(uint32_t i=0; i<objects && !err->rc; i++){
    zt_draft_component data;
    zt_stored stored;
    const uint32_t object = run->order[i], place = zt_draft_data(run->draft, object, &data);
    run->part(run, object, place, &stored, err);
  }
  return err->rc;
}

extern const zt_driver zt_driver_safetensors;

const zt_encoder zt_encoder_safetensors = {
  .name = "safetensors", .driver = &zt_driver_safetensors, .suffix = ".safetensors",
  .defaults = { .codec = ZT_CODEC_RAW }, .codecs = 1u<<ZT_CODEC_RAW,
  .rules = ZT_RULE_CANONICAL_VALUES,
  .keeps = zt_encoder_keeps_all, .says_more = safetensors_says_more,
  .check_object = safetensors_check_object, .check_attribute = safetensors_check_attribute,
  .compare = safetensors_compare, .write = safetensors_write
};
