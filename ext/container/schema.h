/*
** Reading a CBOR map whose keys are known: which fields there are, which must be there, which may be null. One reader
** serves the check at opening and the decoding of a row. Interface to code in schema.c, for drivers.
**
** Rules, for every such map (tests/hostile has files for each):
**   S1  keys are text
**   S2  no key twice, unknown keys included
**   S3  required fields are there
**   S4  null counts as absence where the field may be null
**   S5  unknown fields are ignored
**   S6  a value has its field's type
*/
#ifndef ZT_CONTAINER_SCHEMA_H
#define ZT_CONTAINER_SCHEMA_H

#include "container/driver.h"

enum { ZT_REQUIRED = 1, ZT_NULLABLE = 2 };

typedef struct zt_field {
  const char *name;
  uint8_t n;          /* Bytes of name */
  uint8_t flags;
  uint8_t id;         /* The driver's own number for it */
} zt_field;

#define ZT_FIELD(id, name, flags) { name, sizeof(name) - 1, (flags), (id) }

/* The fields of one kind of map, at most 32, in the order in which real writers put them. */
typedef struct zt_schema {
  const char *what;   /* "the root map", for messages */
  const zt_field *fields;
  int n;
} zt_schema;

/* A map being read. */
typedef struct zt_fields {
  zt_cbor *c;
  const zt_schema *schema;
  int expected;       /* The field that comes next if the writer keeps the schema's order */
  int current;        /* The field whose value is next */
  uint32_t seen;      /* Bit i: field i was met, be it null */
  uint32_t present;   /* Bit i: field i has a value */
  uint32_t unknown;   /* How many unknown keys were met */
  zt_cbor start;      /* Where the map begins, to look again at unknown keys */
  zt_cbor_level level;
} zt_fields;

/* Begin to read the next item, which must be a map. */
bool zt_fields_open(zt_fields *f, zt_cbor *c, const zt_schema *schema);

/* Read keys up to the next known field that has a value, and return its id: the value is next in c and must be read by
** the caller. Returns -1 at the map's end and after a failure; all rules are checked by then. */
int zt_fields_next(zt_fields *f);

/* The current field's value, which must be of the type; the field's name is in the message. */
bool zt_fields_text(zt_fields *f, zt_text *out);
bool zt_fields_uint(zt_fields *f, uint64_t *out);

/* True if a schema has a field of that name. */
bool zt_schema_has(const zt_schema *schema, zt_text name);

/* Rules that the generations 0.1 to 1.2 share.
**   N1  an object's or component's name is text without U+0000
**   H1  shape is an array of unsigned integers, at most ZT_MAX_RANK of them
**   H2  the product of the dimensions fits 64 bits, unless one is 0
**   R1  offset is a multiple of 64, for empty components too
**   R2  a component with bytes does not begin before byte 8
**   R3  offset and offset + length do not lie beyond the manifest's first byte
*/
bool zt_schema_name(zt_cbor *c, zt_text *out);
bool zt_schema_shape(zt_cbor *c, zt_object *out);
bool zt_schema_range(zt_cbor *c, const zt_container *container, uint64_t offset, uint64_t length);

/* Place a manifest whose size is the u64 that ends `magic` bytes before the file's end (0.1, 1.0: 0; 1.1: 8).
**   M1  header, size and footer fit the file
**   M2  the manifest has at least one byte, at most ZT_MAX_MANIFEST, at most those between header and footer
*/
int zt_schema_locate(const zt_ends *ends, unsigned magic, zt_extent *out, zt_error *err);

/* A dtype of 0.1 and 1.0 (float32 ...) in the model's short form; z NULL if it is none of theirs. */
zt_text zt_schema_long_dtype(zt_text name);

#endif
