/*
** A reader of CBOR maps with known keys. It checks required, nullable and duplicate fields. The
** check at opening and the decoding of rows use the same reader. Interface to code in schema.c, for
** drivers.
**
** Rules for every such map (tests/formats has files for each):
**   S1  keys are text
**   S2  no key occurs twice, including unknown keys
**   S3  required fields are present
**   S4  null counts as absence if the field is nullable
**   S5  unknown fields are ignored
**   S6  a value has its field's type
** A strict decoder (cbor.h) demands keys in the order of their encodings, and the schema lists its
** fields in that order. Non-text keys are unknown keys to it.
*/
#ifndef ZT_CONTAINER_SCHEMA_H
#define ZT_CONTAINER_SCHEMA_H

#include "container/manifest.h"
#include "core/digest.h"
#include "core/duplicate_keys.h"

enum { ZT_NULLABLE = 1 };   /* Null counts as absence (S4) */

typedef struct zt_field {
  const char *name;
  uint8_t n;          /* Bytes of name */
  uint8_t head;       /* Initial byte of the encoded name */
  uint8_t flags;
  uint8_t id;         /* The driver's number of the field */
} zt_field;

#define ZT_FIELD(id, name, flags) \
  { name, sizeof(name) - 1, ZT_CBOR_TEXT<<5 | (sizeof(name) - 1), (flags), (id) }
#define ZT_FIELD_MAX 24   /* Above the length of all names, whose heads are therefore one byte */

/* The fields of a kind of map, at most 32, in the order of real writers. */
typedef struct zt_schema {
  const char *what;   /* "the root map", for messages */
  const zt_field *fields;
  int n;
  uint32_t required;  /* Bit i: field i is required */
} zt_schema;
#define ZT_SCHEMA(what, required, ...) \
  { what, (const zt_field[]){ __VA_ARGS__ }, \
    sizeof((const zt_field[]){ __VA_ARGS__ })/sizeof(zt_field), required }

/* A map being read. */
typedef struct zt_fields {
  zt_cbor *c;
  const zt_schema *schema;
  int expected;       /* Index of the next field in the schema's order: the last field's, plus 1 */
  uint32_t seen;      /* Bit i: field i occurred */
  uint32_t nulls;     /* Bit i: field i was null */
  uint32_t unknown;   /* Number of unknown keys */
  zt_span last;       /* Strict, from the first unknown key on: the last encoded key */
  zt_cbor_level level;
  const uint8_t *start;   /* First byte of the map, to read unknown keys again */
} zt_fields;

/* Begin to read the next item, which must be a map. */
ZT_INLINE bool zt_fields_open(zt_fields *f, zt_cbor *c, const zt_schema *schema){
  f->c = c;
  f->schema = schema;
  f->expected = 0;
  f->seen = f->nulls = f->unknown = 0;
  f->last = (zt_span){ NULL, 0 };
  f->start = c->p;
  return zt_cbor_open(c, ZT_CBOR_MAP, &f->level);
}

/* Begin to read the next item, which must be an array or map of that type; else the rule is
** broken. */
ZT_INLINE bool zt_schema_enter(zt_cbor *c, zt_cbor_type type, const char *rule,
                               const char *expected, zt_cbor_level *level){
  if( zt_cbor_peek(c)==type ) return zt_cbor_open(c, type, level);
  zt_cbor_fail_type(c, rule, expected);
  return false;
}

/* Read keys up to the next known field with a value, and return its id; the caller must read the
** value, which is next in c. Returns -1 at the map's end, when all rules are checked, and after a
** failure. */
ZT_COLD int zt_fields_next_slow(zt_fields *f);
ZT_INLINE int zt_fields_next(zt_fields *f){
  const zt_schema *schema = f->schema;
  const uint8_t *p = f->c->p;
  if( f->level.remaining==0 ){
    if( f->level.indefinite || f->unknown || f->nulls || (schema->required & ~f->seen) ){
      return zt_fields_next_slow(f);
    }
    f->c->depth--;
    return -1;
  }
  /* The former is also true after a failure */
  if( f->c->end-p<=ZT_FIELD_MAX || f->last.p ) return zt_fields_next_slow(f);
  /* Real writers write keys in the shortest form and the schema's order */
  for(int i=f->expected; i<schema->n; i++){
    const zt_field *field = &schema->fields[i];
    if( *p!=field->head || !zt_equal(p+1, field->name, field->n) ) continue;
    p += 1+field->n;
    if( *p==(ZT_CBOR_SIMPLE<<5 | ZT_CBOR_NULL) || (f->seen>>i & 1) ) break;
    f->c->p = p;
    f->level.remaining--;
    f->seen |= 1u<<i;
    f->expected = i+1;
    return field->id;
  }
  return zt_fields_next_slow(f);
}

/* Read the current field's value, which must be of that type; the message has the field's name. */
ZT_COLD bool zt_fields_fail(zt_fields *f, const char *type);
ZT_INLINE bool zt_fields_text(zt_fields *f, zt_text *out){
  if( zt_cbor_peek(f->c)!=ZT_CBOR_TEXT ) return zt_fields_fail(f, "text");
  return zt_cbor_text(f->c, out);
}
ZT_INLINE bool zt_fields_uint(zt_fields *f, uint64_t *out){
  if( zt_cbor_peek(f->c)!=ZT_CBOR_UINT ) return zt_fields_fail(f, "an unsigned integer");
  return zt_cbor_uint(f->c, out);
}

/* The fields of a component's map (1.x) or a part's (zTensor 2). A field's bit among the wanted
** ones is 1<<id, its ZT_COMPONENT_. */
enum {
  ZT_PART_DTYPE = 1, ZT_PART_TYPE, ZT_PART_OFFSET, ZT_PART_LENGTH, ZT_PART_DECODED,
  ZT_PART_ENCODING, ZT_PART_DIGEST, ZT_PART_SHARD = 9,
  ZT_PART_BLOB = 16   /* Offset and length */
};
_Static_assert(1<<ZT_PART_DTYPE==ZT_COMPONENT_DTYPE && 1<<ZT_PART_TYPE==ZT_COMPONENT_TYPE
               && 1<<ZT_PART_OFFSET==ZT_COMPONENT_OFFSET && 1<<ZT_PART_LENGTH==ZT_COMPONENT_LENGTH
               && 1<<ZT_PART_DECODED==ZT_COMPONENT_DECODED
               && 1<<ZT_PART_ENCODING==ZT_COMPONENT_ENCODING
               && 1<<ZT_PART_DIGEST==ZT_COMPONENT_DIGEST && 1<<ZT_PART_SHARD==ZT_COMPONENT_SHARD,
               "fields have the places of the bits that want them");

/* Read the next item, a component's map, as stored, up to the last wanted field. */
#define ZT_SCHEMA_WANT_CHECK (~0u)   /* Includes bits of no field, so that the whole map is read */
bool zt_schema_blob(zt_cbor *c, zt_component *out);
ZT_INLINE bool zt_schema_part(zt_cbor *c, const zt_schema *schema, unsigned want,
                              zt_component *out){
  zt_fields f;
  bool ok = zt_fields_open(&f, c, schema);
  while( ok && want ){
    const int id = zt_fields_next(&f);
    switch( id ){
      case ZT_PART_DTYPE:    ok = zt_fields_text(&f, &out->dtype); break;
      case ZT_PART_TYPE:     ok = zt_fields_text(&f, &out->type); break;
      case ZT_PART_OFFSET:   ok = zt_fields_uint(&f, &out->offset); break;
      case ZT_PART_LENGTH:   ok = zt_fields_uint(&f, &out->length); break;
      case ZT_PART_DECODED:
        ok = out->has_decoded_length = zt_fields_uint(&f, &out->decoded_length);
        break;
      case ZT_PART_ENCODING: ok = zt_fields_text(&f, &out->encoding); break;
      case ZT_PART_DIGEST:   ok = zt_fields_text(&f, &out->digest); break;
      case ZT_PART_SHARD:    ok = zt_fields_text(&f, &out->shard); break;
      case ZT_PART_BLOB:
        ok = zt_schema_blob(c, out);
        want &= ~(unsigned)(ZT_COMPONENT_OFFSET|ZT_COMPONENT_LENGTH);
        break;
      default: return c->err->rc==SQLITE_OK;
    }
    want &= ~(1u<<id);
  }
  return ok;
}

/* True if the schema has a field of that name. */
bool zt_schema_has(const zt_schema *schema, zt_text name);

/* The schemas of a generation that is written, for its encoder. */
typedef struct zt_schemas {
  const zt_schema *root, *object, *part;
} zt_schemas;
extern const zt_schemas zt_schemas_1;   /* 1.1 and 1.2 */
extern const zt_schemas zt_schemas_2;

/*
** Rules that the generations 0.1 to 1.2 share; zTensor 2 also has H1 and H2.
**   N1  the name of an object or component is text without U+0000
**   H1  shape is an array of at most ZT_MAX_RANK unsigned integers
**   H2  the product of the dimensions fits 64 bits, unless one is 0
**   R1  offset is a multiple of 64, also for empty components
**   R2  a component with bytes begins at byte 8 or later
**   R3  offset and offset + length are at most the manifest's offset
*/
ZT_COLD bool zt_schema_name_slow(zt_cbor *c, zt_text *out);
ZT_INLINE bool zt_schema_name(zt_cbor *c, zt_text *out){
  const zt_span bytes = zt_cbor_short_text(c);
  const zt_text name = { (const char*)bytes.p, bytes.n };
  zt_text slow;
  bool ok;
  if( bytes.p && (c->trusted || zt_utf8_without_nul(name)) ){
    *out = zt_cbor_take_text(c, bytes);
    return true;
  }
  ok = zt_schema_name_slow(c, &slow);   /* The caller's variable stays in a register */
  *out = slow;
  return ok;
}
bool zt_schema_shape(zt_cbor *c, zt_object *out);
bool zt_schema_range(zt_cbor *c, const zt_container *container, uint64_t offset, uint64_t length);

extern const zt_rule zt_rules_schema[];   /* The rules above and below */

/*
** Locate a manifest whose size is a u64 before the last `magic` bytes of the file (0.1 and 1.0: 0;
** 1.1: 8).
**   M1  header, size and footer fit the file
**   M2  the manifest has 1 to ZT_MAX_MANIFEST bytes, which fit between header and footer
*/
typedef struct zt_extent {
  uint64_t offset, length;
} zt_extent;
int zt_schema_locate(const zt_head_tail *input, unsigned magic, zt_extent *out, zt_error *err);

/* Open a file of 0.1 to 1.2: read its manifest, located as above, and check it. */
int zt_schema_open(zt_builder *b, const zt_head_tail *input, unsigned magic,
                   zt_manifest_check *check);

/* True if the type exists in other formats only, so that no generation of zTensor has the name. */
bool zt_schema_is_foreign(zt_text type);

/* Set the dtype of a component from a name of 0.1 and 1.0 (float32 ...): the model's short form and
** its meaning; or the name itself without meaning if it is unknown. */
void zt_schema_long_dtype(zt_text name, zt_component *out);

/* Set the codec of an encoding of 0.1 to 1.2. */
void zt_schema_set_codec(zt_component *out);

#define ZT_SCHEMA_DIGESTS (ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256)   /* Those of 0.1 to 1.2 */

#endif
