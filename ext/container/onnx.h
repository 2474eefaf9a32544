/* ONNX: onnx.c finds tensors and has the grammar, onnx_tensor.c makes objects of them. */
#ifndef ZT_CONTAINER_ONNX_H
#define ZT_CONTAINER_ONNX_H

#include "container/builder.h"
#include "core/cbor_write.h"
#include "core/protobuf.h"
#include "core/renamed_duplicates.h"

#define ZT_ONNX_LEVELS 3                       /* Nested merged messages */

/* A type of elements, and the field for its values besides raw_data. */
typedef struct zt_onnx_type {
  const char *dtype, *type;   /* type NULL: the same; dtype NULL: none */
  unsigned field;
} zt_onnx_type;

/* The type with that number in onnx.proto; number 0, which has none, if it is unknown. */
const zt_onnx_type *zt_onnx_type_of(uint64_t number);

typedef enum zt_onnx_kind {
  ZT_ONNX_DENSE, ZT_ONNX_TEXTS, ZT_ONNX_UNKNOWN, ZT_ONNX_SPARSE_LINEAR, ZT_ONNX_SPARSE_ROWS
} zt_onnx_kind;

typedef enum zt_onnx_role { ZT_ONNX_DATA, ZT_ONNX_VALUES, ZT_ONNX_INDICES } zt_onnx_role;

/* A kept object, followed by its dimensions; a kept component. */
typedef struct zt_onnx_object {
  uint32_t attributes;   /* Position, from the state's items on */
  uint32_t rank;
  zt_onnx_kind kind;
} zt_onnx_object;

typedef struct zt_onnx_part {
  uint64_t offset, length;
  uint64_t decoded;      /* If it is encoded */
  uint32_t shard, shard_length;   /* External: position of the location in the kept bytes */
  zt_onnx_role role;
  uint32_t type;         /* Its number; 0: unknown */
  uint32_t field;
  zt_codec_id codec;     /* ZT_CODEC_UNKNOWN: onnx.string_data */
  bool external, unsized, to_end, scattered;
  const char *rule, *fault;   /* Static; NULL: none */
} zt_onnx_part;

/* The messages of a field, iterated as one. */
typedef struct zt_onnx_cursor {
  unsigned depth;
  uint32_t number[ZT_ONNX_LEVELS];    /* The field of the next level's messages */
  zt_message level[ZT_ONNX_LEVELS];   /* Rest of each */
  zt_message whole;                   /* The range of the innermost messages */
  uint32_t pieces;                    /* Number of these so far */
} zt_onnx_cursor;

/* A map with distinct keys. Values are numbers or bytes. */
typedef struct zt_onnx_map {
  zt_cbor_out text;        /* Bytes of keys, not CBOR */
  zt_keys keys;
  zt_wire_field *values;        /* Owned */
  uint32_t capacity;
} zt_onnx_map;

typedef struct zt_onnx_scan {
  zt_builder *b;
  zt_error *err;
  zt_protobuf in;
  zt_cbor_out items;       /* A map for each object: name, dims, attributes */
  zt_cbor_out path;        /* Bytes, not CBOR: a prefix of names, or a name */
  zt_renamed repeats;      /* Duplicate names */
  zt_onnx_map map;         /* The last one read */
  uint64_t nodes;
  uint64_t most;           /* Bytes that may be kept */
  int depth;               /* Of nested graphs */
} zt_onnx_scan;

/* Iterate over a message, or, from an unused cursor, over the messages of its field, merged. */
static inline zt_onnx_cursor zt_onnx_at(zt_message m){
  return (zt_onnx_cursor){ .depth = 1, .level = { m }, .whole = m, .pieces = 1 };
}
zt_onnx_cursor zt_onnx_into(zt_onnx_cursor outer, uint32_t number);

/* The next field; the next one of a number and of bytes. False at the end, and on failure. */
bool zt_onnx_next(zt_onnx_scan *s, zt_onnx_cursor *c, zt_wire_field *out);
bool zt_onnx_find(zt_onnx_scan *s, zt_onnx_cursor *c, uint32_t number, zt_message *out);

/* A text's bytes, borrowed until the next read. */
bool zt_onnx_text(zt_onnx_scan *s, zt_message m, zt_span *out);

void zt_onnx_put_key(zt_cbor_out *o, const char *key);
void zt_onnx_put_text(zt_onnx_scan *s, zt_cbor_out *o, zt_message m);

/* Append to the path. Setting its length shortens it. */
void zt_onnx_push(zt_onnx_scan *s, const char *z);
void zt_onnx_push_text(zt_onnx_scan *s, zt_message m);

/* Read a field's entries: keys, and values of that wire type (a number or bytes). The last value of
** a key counts. Then append the map. */
bool zt_onnx_read_map(zt_onnx_scan *s, zt_onnx_cursor c, uint32_t field, unsigned type);
void zt_onnx_put_map(zt_onnx_scan *s, zt_cbor_out *o);

/* Attributes of a tensor's place. */
typedef struct zt_onnx_place {
  const char *role;
  bool inside;             /* A node's: the path is its name; else the prefix of its name */
} zt_onnx_place;

/* Add a tensor or a sparse tensor as an object. */
bool zt_onnx_add(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c);
bool zt_onnx_add_sparse(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c);

/* The number of a Constant's attribute without a tensor, by name; -1: none. Add such an
** AttributeProto as an object named by the path. */
int zt_onnx_value(zt_onnx_scan *s, zt_message name);
bool zt_onnx_add_value(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c, int value);

#endif
