/*
** Drafts that tests make: by hand, or of what a file has; and the bytes that an encoder makes of them. Components are in memory.
*/
#ifndef ZT_TESTS_UNIT_DRAFTS_H
#define ZT_TESTS_UNIT_DRAFTS_H

#include "test.h"

#include "container/encoder.h"
#include "container/dtype.h"
#include "container/value_cbor.h"
#include "core/digest.h"

/* The bytes of a component: decoded, and encoded if it is not raw, all borrowed. */
typedef struct supply {
  zt_span decoded, stored;
} supply;

#define SUPPLIES 256
static supply supplies[SUPPLIES];
static uint32_t supplies_n;
static uint64_t hash_bits = UINT64_MAX;   /* These bits of a part's xxh3 count; the others are 0 */

static inline zt_span bytes_of(const void *p, size_t n){
  return (zt_span){ p, n };
}

/* --- A draft, row by row --- */

static inline zt_draft *new_draft(void){
  zt_error err = ZT_ERROR_NONE;
  zt_draft *d = zt_draft_new(&err);
  assert_non_null(d);
  supplies_n = 0;
  return d;
}

static inline uint32_t add_object(zt_draft *d, const zt_draft_object *object, zt_error *err){
  uint32_t number = 0;
  zt_draft_add_object(d, object, &number, err);
  return number;
}

/* A dense object without a component. */
static inline uint32_t add_dense(zt_draft *d, const char *name, uint32_t rank, const uint64_t *shape, zt_error *err){
  const zt_draft_object object = { .name = zt_text_of(name), .layout = ZT_LAYOUT_DENSE, .rank = rank, .shape = shape };
  return add_object(d, &object, err);
}

static inline void add_supply(zt_draft *d, uint32_t object, zt_draft_component component, supply s, zt_error *err){
  assert_true( supplies_n<SUPPLIES );
  component.supply = supplies_n;
  component.decoded_length = s.decoded.n;
  if( component.codec==ZT_CODEC_UNKNOWN ) component.codec = ZT_CODEC_RAW;
  supplies[supplies_n++] = s;
  zt_draft_add_component(d, object, &component, err);
}

static inline void add_part(zt_draft *d, uint32_t object, const char *role, zt_dtype_id dtype, const void *p, size_t n,
                            unsigned digest, zt_error *err){
  const zt_draft_component c = { .role = zt_text_of(role), .element = zt_dtype_get(dtype), .digest = digest };
  add_supply(d, object, c, (supply){ .decoded = bytes_of(p, n) }, err);
}

/* An attribute whose value is CBOR in hexadecimal digits. */
static inline void add_attribute(zt_draft *d, uint32_t object, const char *key, const char *hex, const char *stored_type,
                                 zt_error *err){
  blob value = blob_of(hex);
  zt_draft_attribute a = { .key = zt_text_of(key), .value = span_of(value), .stored_type = { "", 0 } };
  if( stored_type ) a.stored_type = zt_text_of(stored_type);
  zt_draft_add_attribute(d, object, &a, err);
  free(value.p);
}

/* --- Its bytes --- */

static inline int digest_of(unsigned algorithm, zt_span a, zt_span b, char text[ZT_DIGEST_TEXT], zt_error *err){
  zt_digest *d = zt_digest_begin(algorithm, err);
  text[0] = 0;
  if( !d ) return err->rc;
  zt_digest_update(d, a);
  zt_digest_update(d, b);
  zt_digest_text(d, text);
  zt_digest_close(d);
  return SQLITE_OK;
}

/* A run's part(): the supply's bytes as they are. Digests are those of the stored bytes, but of zTensor 2's decoded ones. */
static inline int append_part(zt_encoder_run *run, uint32_t object, uint32_t place, zt_stored *out, zt_error *err){
  const zt_span none = { NULL, 0 };
  zt_draft_component c;
  const supply *s;
  zt_span stored;
  char text[ZT_DIGEST_TEXT], crc[ZT_DIGEST_TEXT];
  (void)object;
  zt_draft_component_get(run->draft, place, &c);
  s = &supplies[c.supply];
  stored = c.codec==ZT_CODEC_RAW ? s->decoded : s->stored;
  *out = (zt_stored){ .offset = zt_output_size(run->output) };
  if( run->xxh3 ) out->xxh3 = zt_digest_xxh3(stored) & hash_bits;
  if( digest_of(c.digest ? c.digest : ZT_DIGEST_CRC32, c.digest==ZT_DIGEST_XXH3 ? s->decoded : stored, none, text, err)
   || digest_of(ZT_DIGEST_CRC32, run->prefix, s->decoded, crc, err) ) return err->rc;
  if( c.digest==0 ) text[0] = 0;
  if( run->crc32 ) out->crc32 = (uint32_t)strtoul(crc+strlen("crc32:"), NULL, 16);
  if( (c.codec==ZT_CODEC_RAW && zt_output_append(run->output, run->prefix, err))
   || zt_output_append(run->output, stored, err) ) return err->rc;
  out->length = zt_output_size(run->output)-out->offset;
  return zt_draft_store(run->draft, place, out->offset, out->length, zt_text_of(text), err);
}

/* The steps before the first byte. */
static inline int check_draft(const zt_encoder *e, zt_draft *d, zt_error *err){
  zt_draft_attribute a;
  for(uint32_t i=0; i<=zt_draft_objects(d) && !err->rc; i++){
    const uint32_t object = i<zt_draft_objects(d) ? i : ZT_DRAFT_FILE;
    for(uint32_t at=0; !err->rc && (at = zt_draft_next_attribute(d, object, at, &a))!=0; ){
      e->check_attribute(&a, object!=ZT_DRAFT_FILE, err);
    }
    if( object==ZT_DRAFT_FILE || err->rc ) continue;
    if( e->check_object(d, object, err)==SQLITE_OK && e->complete ) e->complete(d, object, err);
  }
  if( !err->rc && e->check_draft ) e->check_draft(d, err);
  return err->rc;
}

/* Write a draft into memory. The bytes are from sqlite3_malloc64(). */
static inline uint8_t *encode_with(const zt_encoder *e, zt_draft *d, const zt_encoder_options *options, uint64_t most, size_t *n,
                                   zt_error *err){
  zt_encoder_run run = { .draft = d, .options = options, .part = append_part };
  uint32_t *order = NULL;
  uint8_t *out = NULL;
  uint64_t size;
  *n = 0;
  if( check_draft(e, d, err)==SQLITE_OK ) order = zt_draft_sort(d, options->by_row ? NULL : e->compare, NULL, err);
  if( order && zt_output_open_memory(most, &run.output, err)==SQLITE_OK ){
    run.order = order;
    if( e->write(&run, err)==SQLITE_OK ){
      out = zt_output_take(run.output, &size);
      *n = (size_t)size;
    }
    assert_null(run.prefix.p);
    zt_output_close(run.output);
  }
  sqlite3_free(order);
  return out;
}

/* The file of a draft, which is freed. Only options that the defaults have otherwise are given. */
static inline blob encode(const char *format, zt_draft *d, bool by_row, uint64_t align, const char *row){
  const zt_encoder *e = zt_encoder_named(zt_text_of(format));
  zt_error err = ZT_ERROR_NONE;
  zt_encoder_options options;
  uint8_t *p;
  size_t n;
  blob out;
  check( e!=NULL, "%s", format );
  options = e->defaults;
  options.by_row = by_row;
  if( align ) options.align = align;
  p = encode_with(e, d, &options, (uint64_t)1<<30, &n, &err);
  assert_succeeded(&err, row);
  zt_draft_free(d);
  out = exact(p, n);
  sqlite3_free(p);
  return out;
}

/* --- A draft of a file --- */

static inline zt_container *open_file(const char *path){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source = NULL;
  zt_container *c = NULL;
  if( zt_source_open(path, NULL, &source, &err)==SQLITE_OK ) zt_container_open(source, NULL, &c, &err);
  assert_succeeded(&err, path);
  zt_source_close(source);
  return c;
}

static inline void copy_attributes(const zt_container *c, zt_draft *d, uint32_t object, const zt_value *of, zt_error *err){
  zt_level level;
  zt_walk walk;
  zt_value key, value;
  zt_walk_begin(c, of, &walk, &level, err);
  while( zt_walk_next(&walk, &level, &key, &value) ){
    zt_cbor_out cbor = { .err = err };
    zt_draft_attribute a = { .key = key.text, .stored_type = zt_walk_stored_type(&walk, &value) };
    zt_value_cbor(c, &value, NULL, &cbor, err);
    a.value = bytes_of(cbor.p, cbor.n);
    zt_draft_add_attribute(d, object, &a, err);
    zt_cbor_out_clear(&cbor);
  }
  zt_walk_end(&walk);
}

/* The bytes of a raw component alone: those of npz have a header before them. */
static inline uint64_t own_length(const zt_component *c){
  return c->length-c->skip-c->behind;
}

/* The same for the file's bytes: raw components, and deflated members of npz with the decoded bytes of another file, whose
** objects have the same names and order. */
static inline zt_draft *draft_of(const char *path, blob bytes, const zt_container *c, const zt_container *twin, blob twin_bytes,
                                 unsigned digest, bool attributes, zt_error *err){
  zt_draft *d = new_draft();
  zt_value of_file = zt_container_attributes(c);
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    zt_object o;
    zt_draft_object object;
    uint32_t number;
    zt_container_object(c, i, &o);
    object = (zt_draft_object){ .name = o.name, .layout = o.layout, .blocks = o.blocks, .rank = o.rank, .shape = o.shape };
    number = add_object(d, &object, err);
    for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++){
      zt_component part, decoded;
      zt_container_component(c, i, k, ZT_COMPONENT_ALL, &part);
      zt_container_component(twin, i, k, ZT_COMPONENT_ALL, &decoded);
      check( zt_claim(bytes.n, part.offset, part.length), "%s", path );
      check( decoded.codec==ZT_CODEC_RAW, "%s: %.*s", path, (int)part.encoding.n, part.encoding.z );
      add_supply(d, number,
                 (zt_draft_component){ .role = part.role, .element = part.element, .codec = part.codec, .digest = digest },
                 (supply){ bytes_of(twin_bytes.p+decoded.offset+decoded.skip, (size_t)own_length(&decoded)),
                           bytes_of(bytes.p+part.offset, (size_t)part.length) }, err);
    }
    if( attributes && o.attributes.type==ZT_VALUE_MAP ) copy_attributes(c, d, number, &o.attributes, err);
  }
  if( of_file.type==ZT_VALUE_MAP ) copy_attributes(c, d, ZT_DRAFT_FILE, &of_file, err);
  assert_succeeded(err, path);
  return d;
}

#endif
