/* Rows of writers as parts of a draft. See draft_rows.h. */
#include "sqlite/draft_rows.h"

#include "container/value_cbor.h"
#include "core/json_read.h"
#include "sqlite/attribute_value.h"
#include "sqlite/target.h"
#include "sqlite/value.h"
#include "tensor/data_check.h"
#include "tensor/frames.h"

static const char *const rows_columns[ZT_ROW_COLUMNS] = {
  "name", "source", "object", "data", "dtype", "shape", "format", "component", "encoding", "level",
  "digest", "key", "value", "type", "stored_type"
};

const char *zt_row_column(int i){
  return rows_columns[i];
}

static bool rows_has(sqlite3_value **v, int i){
  return v[i] && sqlite3_value_type(v[i])!=SQLITE_NULL;
}

/* Read a column that is text if it is there. */
static int rows_text(sqlite3_value **v, int i, zt_text *out, zt_error *err){
  *out = (zt_text){ NULL, 0 };
  if( !rows_has(v, i) ) return SQLITE_OK;
  if( sqlite3_value_type(v[i])!=SQLITE_TEXT ){
    return zt_fail(err, SQLITE_ERROR, "%s must be TEXT", rows_columns[i]);
  }
  *out = zt_value_text(v[i]);
  return out->z ? SQLITE_OK : zt_fail_nomem(err);
}

/* Fail if one of the columns, which end with -1, is not NULL. */
static int rows_without(sqlite3_value **v, const int *columns, const char *kind, zt_error *err){
  for(int i=0; columns[i]>=0; i++){
    if( rows_has(v, columns[i]) ){
      return zt_fail(err, SQLITE_ERROR, "%s has no %s", kind, rows_columns[columns[i]]);
    }
  }
  return SQLITE_OK;
}

/* --- Encoding, level, digest --- */

static const struct {
  const char *word;
  zt_codec_id codec;
} rows_codecs[] = {
  { "raw", ZT_CODEC_RAW }, { "zstd", ZT_CODEC_SEEKABLE }, { "zstd", ZT_CODEC_ZSTD },
  { "deflate", ZT_CODEC_DEFLATE }
};

static const struct {
  const char *word;
  unsigned digest;
} rows_digests[] = {
  { "none", 0 }, { "xxh3", ZT_DIGEST_XXH3 }, { "sha256", ZT_DIGEST_SHA256 },
  { "crc32c", ZT_DIGEST_CRC32C }
};

#define DRAFT_ROWS_COUNT(array) (sizeof(array)/sizeof(*(array)))

void zt_rows_list(sqlite3_str *list, const char *word, const char *last){
  if( sqlite3_str_length(list)>0 ) sqlite3_str_appendall(list, last ? last : ", ");
  sqlite3_str_appendf(list, "'%s'", word);
}

int zt_rows_fail_formats(const char *text, zt_error *err){
  sqlite3_str *list = sqlite3_str_new(NULL);
  char *z;
  for(int i=0; zt_encoders[i]; i++){
    zt_rows_list(list, zt_encoders[i]->name, zt_encoders[i+1] ? NULL : " and ");
  }
  z = sqlite3_str_finish(list);
  if( !z ) return zt_fail_nomem(err);
  zt_fail(err, SQLITE_ERROR, "%s; the formats are %s", text, z);
  sqlite3_free(z);
  return err->rc;
}

int zt_rows_format(zt_text word, const zt_encoder **out, zt_error *err){
  char *text;
  *out = zt_encoder_named(word);
  if( *out ) return SQLITE_OK;
  if( zt_has_nul(word.z, word.n) ) return zt_rows_fail_formats("format has U+0000 in it", err);
  text = sqlite3_mprintf("there is no format '%.*s' to write", zt_shown(word), word.z);
  if( !text ) return zt_fail_nomem(err);
  zt_rows_fail_formats(text, err);
  sqlite3_free(text);
  return err->rc;
}

/* Fail over a word, and name those that there are: the words that the format has, of n. */
static int rows_fail_word(const zt_encoder *encoder, const char *kind, zt_text word,
                          const char *const *has, int n, zt_error *err){
  sqlite3_str *list = sqlite3_str_new(NULL);
  char *z;
  for(int i=0; i<n; i++) zt_rows_list(list, has[i], i==n-1 ? " and " : NULL);
  z = sqlite3_str_finish(list);
  if( !z ) return zt_fail_nomem(err);
  zt_fail(err, SQLITE_ERROR, "%s has no %s '%.*s'; it has %s", encoder->name, kind,
          zt_shown(word), word.z, z);
  sqlite3_free(z);
  return err->rc;
}

int zt_rows_codec(const zt_encoder *encoder, zt_text word, zt_codec_id *out, zt_error *err){
  const char *has[DRAFT_ROWS_COUNT(rows_codecs)];
  int n = 0;
  for(size_t i=0; i<DRAFT_ROWS_COUNT(rows_codecs); i++){
    if( !(encoder->codecs & 1u<<rows_codecs[i].codec) ) continue;
    if( zt_text_equal(word, zt_text_of(rows_codecs[i].word)) ){
      *out = rows_codecs[i].codec;
      return SQLITE_OK;
    }
    has[n++] = rows_codecs[i].word;
  }
  return rows_fail_word(encoder, "encoding", word, has, n, err);
}

int zt_rows_digest(const zt_encoder *encoder, zt_text word, unsigned *out, zt_error *err){
  const char *has[DRAFT_ROWS_COUNT(rows_digests)];
  int n = 0;
  for(size_t i=0; i<DRAFT_ROWS_COUNT(rows_digests); i++){
    if( (encoder->digests & rows_digests[i].digest)!=rows_digests[i].digest ) continue;
    if( zt_text_equal(word, zt_text_of(rows_digests[i].word)) ){
      *out = rows_digests[i].digest;
      return SQLITE_OK;
    }
    has[n++] = rows_digests[i].word;
  }
  return rows_fail_word(encoder, "digest", word, has, n, err);
}

/* Fail, because the encoding has no levels; another one of the format may. */
static int rows_fail_level(const zt_encoder *encoder, zt_error *err){
  for(size_t i=0; i<DRAFT_ROWS_COUNT(rows_codecs); i++){
    if( rows_codecs[i].codec!=ZT_CODEC_RAW && (encoder->codecs & 1u<<rows_codecs[i].codec) ){
      return zt_fail(err, SQLITE_ERROR, "level needs encoding='%s'", rows_codecs[i].word);
    }
  }
  return zt_fail(err, SQLITE_ERROR, "%s has no use for level", encoder->name);
}

int zt_rows_level(const zt_encoder *encoder, zt_codec_id codec, int64_t level, int *out,
                  zt_error *err){
  const zt_frames *frames = codec==ZT_CODEC_RAW ? NULL : zt_frames_of(codec);
  if( !frames ) return rows_fail_level(encoder, err);
  if( level<frames->least || level>frames->most ){
    return zt_fail(err, SQLITE_ERROR, "level must be %d to %d, not %lld", frames->least,
                   frames->most, (long long)level);
  }
  *out = (int)level;
  return SQLITE_OK;
}

static int rows_read_options(const zt_draft_rows *r, sqlite3_value **v, zt_row *out,
                             zt_error *err){
  zt_text encoding, digest;
  out->codec = r->options.codec;
  out->level = r->options.level;
  out->digest = r->options.digest;
  if( rows_text(v, ZT_ROW_ENCODING, &encoding, err) || rows_text(v, ZT_ROW_DIGEST, &digest, err)
   || (encoding.z && zt_rows_codec(r->encoder, encoding, &out->codec, err))
   || (digest.z && zt_rows_digest(r->encoder, digest, &out->digest, err)) ) return err->rc;
  if( !rows_has(v, ZT_ROW_LEVEL) ) return SQLITE_OK;
  if( sqlite3_value_type(v[ZT_ROW_LEVEL])!=SQLITE_INTEGER ){
    return zt_fail(err, SQLITE_ERROR, "level must be an integer");
  }
  return zt_rows_level(r->encoder, out->codec, sqlite3_value_int64(v[ZT_ROW_LEVEL]), &out->level,
                       err);
}

/* --- A shape --- */

static int rows_fail_shape(zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "shape must be a JSON array of at most %d integers from 0 on",
                 ZT_MAX_RANK);
}

static int rows_read_shape(zt_text text, zt_row *out, zt_error *err){
  zt_error unused = ZT_ERROR_NONE;
  zt_json_reader json;
  zt_json_value value;
  zt_json_level level;
  bool ok;
  zt_json_read_init(&json, "shape", (zt_span){ (const uint8_t*)text.z, text.n }, &unused);
  ok = zt_json_read_open(&json, ZT_JSON_ARRAY, &level);
  while( ok && zt_json_read_more(&json, &level) ){
    ok = out->rank<ZT_MAX_RANK && zt_json_read_next(&json, &value) && value.type==ZT_JSON_INTEGER
      && !(value.negative && value.n);
    if( ok ) out->shape[out->rank++] = value.n;
  }
  ok = ok && zt_json_read_finish(&json);
  if( unused.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  zt_error_clear(&unused);
  return ok || err->rc ? err->rc : rows_fail_shape(err);
}

/* --- A tensor of a file --- */

static int rows_read_source(sqlite3_value **v, zt_row *out, zt_error *err){
  static const int without[] = { ZT_ROW_COMPONENT, ZT_ROW_VALUE, ZT_ROW_TYPE, ZT_ROW_STORED_TYPE,
                                 -1 };
  zt_text shape;
  out->from = ZT_ROW_FROM_SOURCE;
  out->source = v[ZT_ROW_SOURCE];
  if( rows_without(v, without, "a tensor with a source", err)
   || rows_text(v, ZT_ROW_OBJECT, &out->object, err) || rows_text(v, ZT_ROW_SHAPE, &shape, err)
   || rows_text(v, ZT_ROW_FORMAT, &out->format, err) ) return err->rc;
  if( !out->object.z ) out->object = out->name;
  out->dense = out->format.z && zt_text_is(out->format, "dense");
  out->shaped = shape.z!=NULL;
  if( out->shaped && rows_read_shape(shape, out, err) ) return err->rc;
  return rows_has(v, ZT_ROW_DTYPE) ? zt_value_dtype(v[ZT_ROW_DTYPE], &out->dtype, err) : SQLITE_OK;
}

/* --- A tensor's bytes --- */

static int rows_read_layout(zt_text word, zt_layout_id *out, zt_error *err){
  if( !word.z || zt_text_is(word, "dense") ) *out = ZT_LAYOUT_DENSE;
  else if( zt_text_is(word, "sparse_csr") ) *out = ZT_LAYOUT_CSR;
  else if( zt_text_is(word, "sparse_coo") ) *out = ZT_LAYOUT_COO;
  else{
    return zt_fail(err, SQLITE_ERROR, "format with data is 'dense', 'sparse_csr' or 'sparse_coo',"
                   " not '%.*s'", zt_shown(word), word.z);
  }
  return SQLITE_OK;
}

static int rows_read_data(sqlite3_value **v, zt_row *out, zt_error *err){
  static const int without[] = { ZT_ROW_OBJECT, ZT_ROW_VALUE, ZT_ROW_TYPE, ZT_ROW_STORED_TYPE, -1 };
  const uint8_t *p;
  zt_text shape, format;
  out->from = ZT_ROW_FROM_DATA;
  if( rows_without(v, without, "a tensor with data", err) ) return err->rc;
  if( sqlite3_value_type(v[ZT_ROW_DATA])!=SQLITE_BLOB && !out->spooled ){
    return zt_fail(err, SQLITE_ERROR, "data must be a BLOB");
  }
  if( !rows_has(v, ZT_ROW_DTYPE) || !rows_has(v, ZT_ROW_SHAPE) ){
    return zt_fail(err, SQLITE_ERROR, "data needs dtype and shape");
  }
  if( zt_value_dtype(v[ZT_ROW_DTYPE], &out->dtype, err)
   || rows_text(v, ZT_ROW_SHAPE, &shape, err) || rows_read_shape(shape, out, err)
   || rows_text(v, ZT_ROW_FORMAT, &format, err) || rows_read_layout(format, &out->layout, err)
   || rows_text(v, ZT_ROW_COMPONENT, &out->role, err) ) return err->rc;
  if( !out->role.z && out->layout!=ZT_LAYOUT_DENSE ){
    return zt_fail(err, SQLITE_ERROR, "data of a sparse tensor needs a component");
  }
  if( !out->role.z ) out->role = ZT_TEXT("data");
  if( out->spooled ) return SQLITE_OK;
  p = sqlite3_value_blob(v[ZT_ROW_DATA]);
  out->data = (zt_span){ p ? p : (const uint8_t*)"", (size_t)sqlite3_value_bytes(v[ZT_ROW_DATA]) };
  return SQLITE_OK;
}

/* --- An attribute --- */

/* Fail as the making of an attribute's value did, and name the attribute. */
static int rows_fail_value(zt_text key, zt_error *of, zt_error *err){
  switch( of->rc ){
    case SQLITE_NOMEM: zt_fail_nomem(err); break;
    case SQLITE_INTERRUPT: zt_fail_interrupt(err); break;
    default:
      zt_fail(err, of->rc, "attribute '%.*s': %s", zt_shown(key), key.z, of->parts.fault);
      break;
  }
  zt_error_clear(of);
  return err->rc;
}

/* Read a value that waits in the spool. */
static int rows_read_kept(const zt_draft_rows *r, zt_row *out, zt_error *err){
  zt_output *spool = zt_write_sources_spooled(r->sources);
  const size_t n = out->data.n-1;
  uint8_t stored;
  if( out->data.n==0 ){   /* The kind, at least, is there */
    return zt_fail(err, SQLITE_CORRUPT_VTAB, "the table that keeps its rows was changed");
  }
  out->value.p = sqlite3_malloc64((uint64_t)n+1);
  if( !out->value.p ) return zt_fail_nomem(err);
  out->value.n = n;
  out->value.capacity = n+1;
  if( zt_output_read(spool, out->offset, &stored, 1, err) ) return err->rc;
  out->stored = stored!=0;
  return zt_output_read(spool, out->offset+1, out->value.p, n, err);
}

static int rows_read_attribute(const zt_draft_rows *r, sqlite3_value **v, zt_row *out,
                               zt_error *err){
  static const int without[] = {
    ZT_ROW_SOURCE, ZT_ROW_OBJECT, ZT_ROW_DATA, ZT_ROW_DTYPE, ZT_ROW_SHAPE, ZT_ROW_FORMAT,
    ZT_ROW_COMPONENT, ZT_ROW_ENCODING, ZT_ROW_LEVEL, ZT_ROW_DIGEST, -1
  };
  zt_error of = ZT_ERROR_NONE;
  out->from = ZT_ROW_FROM_ATTRIBUTE;
  out->value.err = err;
  if( rows_without(v, without, "an attribute", err) || rows_text(v, ZT_ROW_KEY, &out->key, err)
   || rows_text(v, ZT_ROW_STORED_TYPE, &out->stored_type, err) ) return err->rc;
  if( out->spooled ) return rows_read_kept(r, out, err);
  out->value.err = &of;
  zt_attribute_cbor(v[ZT_ROW_VALUE], v[ZT_ROW_TYPE], &out->value, &of);
  out->value.err = err;
  return of.rc ? rows_fail_value(out->key, &of, err) : SQLITE_OK;
}

/* Fail if a word has U+0000 in it: a message would end there, and show a word that is none. */
static int rows_check_words(sqlite3_value **v, zt_error *err){
  static const int words[] = {
    ZT_ROW_DTYPE, ZT_ROW_FORMAT, ZT_ROW_COMPONENT, ZT_ROW_ENCODING, ZT_ROW_DIGEST, ZT_ROW_TYPE,
    ZT_ROW_STORED_TYPE
  };
  for(size_t i=0; i<DRAFT_ROWS_COUNT(words); i++){
    if( v[words[i]] && sqlite3_value_type(v[words[i]])==SQLITE_TEXT ){
      const zt_text word = zt_value_text(v[words[i]]);
      if( !word.z ) return zt_fail_nomem(err);
      if( zt_has_nul(word.z, word.n) ){
        return zt_fail(err, SQLITE_ERROR, "%s has U+0000 in it", rows_columns[words[i]]);
      }
    }
  }
  return SQLITE_OK;
}

int zt_row_read(const zt_draft_rows *r, sqlite3_value **columns, zt_row *out, zt_error *err){
  if( rows_text(columns, ZT_ROW_NAME, &out->name, err) ) return err->rc;
  err->object = out->name;
  if( rows_check_words(columns, err) ) return err->rc;
  if( rows_has(columns, ZT_ROW_KEY) ) return rows_read_attribute(r, columns, out, err);
  if( rows_has(columns, ZT_ROW_VALUE) ) return zt_fail(err, SQLITE_ERROR, "value needs a key");
  if( !out->name.z ) return zt_fail(err, SQLITE_ERROR, "a tensor needs a name");
  if( rows_has(columns, ZT_ROW_SOURCE) || out->source_number!=UINT32_MAX ){
    if( rows_has(columns, ZT_ROW_DATA) || out->spooled ){
      return zt_fail(err, SQLITE_ERROR, "a tensor has source or data, not both");
    }
    rows_read_source(columns, out, err);
  }else if( rows_has(columns, ZT_ROW_DATA) || out->spooled ){
    rows_read_data(columns, out, err);
  }else{
    return zt_fail(err, SQLITE_ERROR, "a tensor needs source or data; an attribute, a key");
  }
  return err->rc ? err->rc : rows_read_options(r, columns, out, err);
}

void zt_row_clear(zt_row *row){
  zt_cbor_out_clear(&row->value);
}

/* --- Adding --- */

zt_supplies zt_rows_supplies(const zt_draft_rows *r){
  return (zt_supplies){ .open = zt_write_sources_open, .context = r->sources };
}

/* True if the row is an attribute that the format cannot hold, and the writer leaves such out. */
static bool rows_drops(const zt_draft_rows *r, const zt_row *row){
  return row->name.z && r->drop_attributes;
}

static zt_draft_attribute rows_attribute(const zt_row *row){
  return (zt_draft_attribute){
    .key = row->key, .value = { row->value.p, row->value.n }, .stored = row->stored,
    .stored_type = row->stored_type.z ? row->stored_type : ZT_TEXT(""), .kept_key = row->keep
  };
}

static int rows_add_attribute(const zt_draft_rows *r, const zt_row *row, zt_draft *draft,
                              uint32_t *object, zt_error *err){
  const zt_draft_attribute a = rows_attribute(row);
  int64_t found;
  *object = ZT_DRAFT_FILE;
  if( rows_drops(r, row) ) return SQLITE_OK;
  if( row->name.z ){
    found = zt_draft_find(draft, row->name);
    if( found<0 ) return zt_fail(err, SQLITE_ERROR, "there is no such object for its attribute"
                                 " '%.*s'", zt_shown(row->key), row->key.z);
    *object = (uint32_t)found;
  }
  return zt_draft_add_attribute(draft, *object, &a, err);
}

/* The object of a component: one of an earlier row, or a new one. */
static int rows_object_of(const zt_row *row, zt_draft *draft, uint32_t *number, zt_error *err){
  const zt_draft_object object = {
    .name = row->name, .layout = row->layout, .format = ZT_TEXT(""), .rank = row->rank,
    .shape = row->shape
  };
  const int64_t found = row->layout==ZT_LAYOUT_DENSE ? -1 : zt_draft_find(draft, row->name);
  zt_draft_object other;
  if( found<0 ) return zt_draft_add_object(draft, &object, number, err);
  *number = (uint32_t)found;
  zt_draft_object_get(draft, *number, &other);
  if( other.layout==row->layout && other.rank==row->rank
   && memcmp(other.shape, row->shape, row->rank*sizeof(*row->shape))==0 ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its components differ in format or shape");
}

static int rows_add_data(const zt_draft_rows *r, zt_row *row, zt_draft *draft,
                         zt_supplies *supplies, uint32_t *object, zt_error *err){
  zt_draft_component c = {
    .role = row->role, .element = row->dtype, .decoded_length = row->data.n,
    .codec = row->codec, .level = row->level, .digest = row->digest
  };
  zt_supply supply = {
    .kind = ZT_SUPPLY_BYTES, .offset = row->offset, .length = row->data.n
  };
  zt_draft_object checked;
  if( rows_object_of(row, draft, object, err) ) return err->rc;
  supplies->spool = zt_write_sources_spooled(r->sources);
  if( !row->spooled ){
    zt_draft_object_get(draft, *object, &checked);
    err->component = row->role;
    if( zt_data_check(&checked, row->role, row->dtype, row->data, r->encoder->rules, err) ){
      return err->rc;
    }
    err->component.z = NULL;
  }
  return zt_supplies_add(supplies, &supply, &c.supply, err)
      || zt_draft_add_component(draft, *object, &c, err) ? err->rc : SQLITE_OK;
}

/* Open a row's source, and find its object. */
static int draft_open(const zt_draft_rows *r, zt_row *row, zt_supply_file *file, uint32_t *object,
                     zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(r->connection);
  int64_t i;
  if( row->source_number!=UINT32_MAX
    ? zt_write_sources_open(r->sources, row->source_number, file, err)
    : zt_write_sources_add(r->sources, row->source, &row->source_number, file, err) ){
    return err->rc;
  }
  i = zt_container_find(file->container, row->object);
  if( i<0 ){
    err->path = zt_source_name(file->source);
    return zt_target_no_object(file->container, row->object, &interrupt, err);
  }
  *object = (uint32_t)i;
  return SQLITE_OK;
}

zt_text zt_rows_layout(const zt_draft_object *o){
  switch( o->layout ){
    case ZT_LAYOUT_DENSE: return ZT_TEXT("dense");
    case ZT_LAYOUT_CSR: return ZT_TEXT("sparse_csr");
    case ZT_LAYOUT_COO: return ZT_TEXT("sparse_coo");
    case ZT_LAYOUT_QUANTIZED_GROUP: return ZT_TEXT("quantized_group");
    case ZT_LAYOUT_MX: return ZT_TEXT("zt.mx/1");
    case ZT_LAYOUT_QUANT_GROUP: return ZT_TEXT("zt.quant_group/1");
    case ZT_LAYOUT_GGML: return o->blocks->name;
    default: return o->format;
  }
}

/* A format that is neither NULL nor dense is the source's own, or what becomes of it. */
static int rows_check_format(const zt_row *row, const zt_object *source, const zt_draft *draft,
                             uint32_t number, zt_error *err){
  zt_draft_object object;
  if( !row->format.z || row->dense ) return SQLITE_OK;
  zt_draft_object_get(draft, number, &object);
  if( zt_text_equal(source->format, row->format)
   || zt_text_equal(zt_rows_layout(&object), row->format) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its format is '%.*s': format is NULL, which keeps it, or"
                 " 'dense'", zt_shown(source->format), source->format.z);
}

/* *as: the type to convert to; NULL: none. The type of the stored numbers, which zt_objects and a
** SELECT show, is no request where the values have another one: f8 in u8, or quantized ones. */
static int rows_read_as(const zt_row *row, const zt_supply_file *file, const zt_object *o,
                        const zt_dtype **as, zt_error *err){
  const bool quantized = zt_layout_is_quantized(o->layout), keeps = row->format.z && !row->dense;
  zt_component values = { .storage = NULL };
  *as = row->dtype;
  if( !row->dtype || (quantized && row->dense) ) return SQLITE_OK;
  if( !zt_component_values(file->container, o, ZT_COMPONENT_ALL, &values) ){
    values.storage = NULL;
  }
  if( !quantized ){
    if( row->dtype!=values.storage || row->dtype==values.element || !values.element ){
      return SQLITE_OK;
    }
    return zt_fail(err, SQLITE_ERROR, "%s is the type of its stored numbers, and %s that of its"
                   " values: dtype is NULL, which keeps them, or another one", row->dtype->name,
                   values.element->name);
  }
  if( values.storage && (row->dtype==values.storage || row->dtype==values.element) ){
    *as = NULL;
    if( keeps ) return SQLITE_OK;
    return zt_fail(err, SQLITE_ERROR, "%s is the type of its stored numbers: dtype is NULL, which"
                   " keeps them, or format is 'dense'", row->dtype->name);
  }
  if( !keeps ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its format '%.*s' has types of its own: dtype is NULL, or"
                 " format is 'dense'", zt_shown(row->format), row->format.z);
}

/* A shape beside a source says what is there already. */
static int rows_check_shape(const zt_row *row, const zt_object *source, zt_error *err){
  if( !row->shaped || (source->rank==row->rank
   && memcmp(source->shape, row->shape, row->rank*sizeof(*row->shape))==0) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its source has another shape: shape is NULL, which keeps that,"
                 " or the same");
}

/* A row of a file that is updated gets other bytes: what the metadata say beside its columns might
** contradict them, and stays with the stored ones alone. */
static int rows_check_lost(const zt_draft_rows *r, const zt_row *row, const zt_container *c,
                           uint32_t object, zt_error *err){
  zt_text field = { NULL, 0 };
  if( !row->bare || row->keep || !r->encoder->says_more
   || !r->encoder->says_more(c, object, &field) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "the manifest has a field %s%.*s%sof it, which is not"
                 " understood and would be lost with its stored bytes; INSERT it into another"
                 " file, or again under another name", field.z ? "'" : "", zt_shown(field),
                 field.z ? field.z : "", field.z ? "' " : "");
}

static int rows_add_source(const zt_draft_rows *r, zt_row *row, zt_draft *draft,
                           zt_supplies *supplies, uint32_t *object, zt_error *err){
  zt_supply_request request = {
    .name = row->name, .dense = row->dense, .keeps = row->keep ? r->encoder->keeps : NULL,
    .bare = row->bare,
    .rules = r->encoder->rules, .codec = row->codec, .level = row->level,
    .digest = row->digest, .budget = r->budget
  };
  zt_object source;
  if( draft_open(r, row, &request.file, &request.object, err)
   || rows_check_lost(r, row, request.file.container, request.object, err) ) return err->rc;
  request.source = row->source_number;
  if( !row->dtype && !row->shaped && !row->format.z ){
    return zt_supplies_add_object(supplies, &request, draft, object, err);
  }
  zt_container_object(request.file.container, request.object, &source);
  if( rows_read_as(row, &request.file, &source, &request.as, err)
   || rows_check_shape(row, &source, err)
   || zt_supplies_add_object(supplies, &request, draft, object, err) ) return err->rc;
  return rows_check_format(row, &source, draft, *object, err);
}

int zt_row_add(const zt_draft_rows *r, zt_row *row, zt_draft *draft, zt_supplies *supplies,
               uint32_t *object, zt_error *err){
  err->object = row->name;
  switch( row->from ){
    case ZT_ROW_FROM_ATTRIBUTE: return rows_add_attribute(r, row, draft, object, err);
    case ZT_ROW_FROM_DATA: return rows_add_data(r, row, draft, supplies, object, err);
    default: return rows_add_source(r, row, draft, supplies, object, err);
  }
}

/* --- Attributes that come along --- */

/* Add an attribute of a source's object, unless a row gave another one. */
static int rows_bring(const zt_draft_rows *r, zt_draft *draft, uint32_t number,
                      const zt_supply_file *file, const zt_value *key, const zt_value *value,
                      zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(r->connection);
  zt_draft_attribute a = { .key = key->text, .stored_type = ZT_TEXT("") };
  zt_error of = ZT_ERROR_NONE;
  zt_cbor_out out = { .err = &of };
  if( key->type!=ZT_VALUE_TEXT || key->tagged ){
    return zt_fail(err, SQLITE_ERROR, "a key of its attributes is not text");
  }
  if( zt_draft_has_attribute(draft, number, key->text, err) || err->rc ) return err->rc;
  if( zt_value_cbor(file->container, value, &interrupt, &out, &of) ){
    rows_fail_value(key->text, &of, err);
  }else{
    a.value = (zt_span){ out.p, out.n };
    zt_draft_add_attribute(draft, number, &a, err);
  }
  zt_cbor_out_clear(&out);
  return err->rc;
}

/* Settings of blocks follow from their type, and are nothing to other tensors. */
static int rows_bring_all(const zt_draft_rows *r, zt_draft *draft, uint32_t number,
                          const zt_supply_file *file, uint32_t from, zt_error *err){
  zt_object object;
  zt_walk walk;
  zt_level level;
  zt_value key, value;
  bool blocks;
  if( !zt_container_has_own_attributes(file->container) ) return SQLITE_OK;
  zt_container_object(file->container, from, &object);
  if( object.attributes.type!=ZT_VALUE_MAP ) return SQLITE_OK;
  blocks = object.layout==ZT_LAYOUT_GGML;
  zt_walk_begin(file->container, &object.attributes, &walk, &level, err);
  while( !err->rc && zt_walk_next(&walk, &level, &key, &value) ){
    if( blocks && key.type==ZT_VALUE_TEXT && zt_ggml_is_setting(key.text) ) continue;
    rows_bring(r, draft, number, file, &key, &value, err);
  }
  zt_walk_end(&walk);
  return err->rc;
}

/* Bring the attributes of the object's source, if it has one. */
static int rows_complete_object(const zt_draft_rows *r, zt_draft *draft, zt_supplies *supplies,
                                uint32_t number, zt_error *err){
  zt_draft_component c;
  const zt_supply *supply;
  zt_supply_file file;
  if( !zt_draft_next_component(draft, number, 0, &c) ) return SQLITE_OK;
  supply = &supplies->a[c.supply];
  if( supply->kind==ZT_SUPPLY_BYTES || supply->bare ) return SQLITE_OK;
  if( r->drop_attributes ) return SQLITE_OK;
  err->object = zt_draft_name(draft, number);
  if( zt_write_sources_open(r->sources, supply->source, &file, err) ) return err->rc;
  return rows_bring_all(r, draft, number, &file, supply->object, err);
}

int zt_rows_complete(const zt_draft_rows *r, zt_draft *draft, zt_supplies *supplies,
                     zt_error *err){
  const uint32_t n = zt_draft_objects(draft);
  for(uint32_t i=0; i<n && !err->rc; i++) rows_complete_object(r, draft, supplies, i, err);
  if( !err->rc ) err->object.z = NULL;
  return err->rc;
}

int zt_row_check(const zt_draft_rows *r, zt_row *row, zt_draft *draft, zt_supplies *supplies,
                 uint32_t object, zt_error *err){
  const zt_write w = { .encoder = r->encoder, .draft = draft };
  const zt_draft_attribute a = rows_attribute(row);
  if( row->from==ZT_ROW_FROM_ATTRIBUTE ){
    if( rows_drops(r, row) ) return SQLITE_OK;
    return r->encoder->check_attribute(&a, row->name.z!=NULL, err);
  }
  if( rows_complete_object(r, draft, supplies, object, err) ) return err->rc;
  return zt_write_check_object(&w, object, err);
}
