/*
** What the two files of the driver of ONNX have in common: onnx_tensor.c, which makes objects of
** tensors, and onnx.c, which finds them, and has the grammar. Interface between these.
*/
#ifndef ZT_CONTAINER_ONNX_H
#define ZT_CONTAINER_ONNX_H

#include "container/builder.h"
#include "core/cbor_write.h"
#include "core/protobuf.h"
#include "core/renamed_duplicates.h"

#define ZT_ONNX_LEVELS 3                       /* Merged messages in each other */

/* A type of elements, and the field that has some if raw_data has not. */
typedef struct zt_onnx_type {
  const char *dtype, *type;   /* type NULL: the same; dtype NULL: there is none */
  unsigned field;
} zt_onnx_type;

/* The type of that number in onnx.proto; number 0, which is none, if it is not known. */
const zt_onnx_type *zt_onnx_type_of(uint64_t number);

/* What an object is. */
typedef enum zt_onnx_kind {
  ZT_ONNX_DENSE, ZT_ONNX_TEXTS, ZT_ONNX_UNKNOWN, ZT_ONNX_SPARSE_LINEAR, ZT_ONNX_SPARSE_ROWS
} zt_onnx_kind;

typedef enum zt_onnx_role { ZT_ONNX_DATA, ZT_ONNX_VALUES, ZT_ONNX_INDICES } zt_onnx_role;

/* What is kept of an object, the dimensions behind it; and of a component. */
typedef struct zt_onnx_object {
  uint32_t attributes;   /* Where they are, from the state's items on */
  uint32_t rank;
  zt_onnx_kind kind;
} zt_onnx_object;

typedef struct zt_onnx_part {
  uint64_t offset, length;
  uint64_t decoded;      /* Bytes after decoding, if it is encoded */
  uint32_t shard, shard_length;   /* Position of the location in the kept bytes; external alone */
  zt_onnx_role role;
  uint32_t type;         /* Its number; 0: unknown */
  uint32_t field;
  zt_codec_id codec;     /* ZT_CODEC_UNKNOWN: onnx.string_data */
  bool external, unsized, to_end, scattered;
  const char *rule, *fault;   /* Static; NULL: none */
} zt_onnx_part;

/* All messages of one field, one after the other, as if they were one. */
typedef struct zt_onnx_cursor {
  unsigned depth;
  uint32_t number[ZT_ONNX_LEVELS];    /* The field of each level that the next one is in */
  zt_message level[ZT_ONNX_LEVELS];   /* What is left of them */
  zt_message whole;                   /* From the first to the last of the innermost */
  uint32_t pieces;                    /* How many there were so far */
} zt_onnx_cursor;

/* A map's keys, of which none is there twice, and its values: numbers or bytes. */
typedef struct zt_onnx_map {
  zt_cbor_out text;        /* No CBOR: the keys one after the other */
  zt_keys keys;
  zt_wire_field *values;        /* Owned */
  uint32_t capacity;
} zt_onnx_map;

typedef struct zt_onnx_scan {
  zt_builder *b;
  zt_error *err;
  zt_protobuf in;
  zt_cbor_out items;       /* Of each object a map: name, dims, attributes */
  zt_cbor_out path;        /* No CBOR: what stands in front of names, then a name */
  zt_renamed repeats;      /* Of objects that are named alike */
  zt_onnx_map map;         /* The last one that was read */
  uint64_t nodes;
  uint64_t most;           /* Bytes that may be kept */
  int depth;               /* Of graphs */
} zt_onnx_scan;

/* Messages as they are, and those of a field of others, merged: the cursor into which must not have
** moved. */
static inline zt_onnx_cursor zt_onnx_at(zt_message m){
  return (zt_onnx_cursor){ .depth = 1, .level = { m }, .whole = m, .pieces = 1 };
}
zt_onnx_cursor zt_onnx_into(zt_onnx_cursor outer, uint32_t number);

/* The next field; the next one of that number whose value is bytes. False at the end, and after a
** failure. */
bool zt_onnx_next(zt_onnx_scan *s, zt_onnx_cursor *c, zt_wire_field *out);
bool zt_onnx_find(zt_onnx_scan *s, zt_onnx_cursor *c, uint32_t number, zt_message *out);

/* The bytes of a text, borrowed until more is read. */
bool zt_onnx_text(zt_onnx_scan *s, zt_message m, zt_span *out);

void zt_onnx_put_key(zt_cbor_out *o, const char *key);
void zt_onnx_put_text(zt_onnx_scan *s, zt_cbor_out *o, zt_message m);

/* Append to the path, which is made shorter by setting its length. */
void zt_onnx_push(zt_onnx_scan *s, const char *z);
void zt_onnx_push_text(zt_onnx_scan *s, zt_message m);

/* Read the entries of a field: pairs of a key, and a value of that wire type, a number or bytes. Of
** a key that comes again the last value counts. And put it. */
bool zt_onnx_read_map(zt_onnx_scan *s, zt_onnx_cursor c, uint32_t field, unsigned type);
void zt_onnx_put_map(zt_onnx_scan *s, zt_cbor_out *o);

/* What is to be said of a tensor beside itself. */
typedef struct zt_onnx_place {
  const char *role;
  bool inside;             /* It is a node's, not a graph's: the path is its name. Else that is what
                           ** is in front of its own name */
} zt_onnx_place;

/* Add a tensor, or a sparse one, as an object. */
bool zt_onnx_add(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c);
bool zt_onnx_add_sparse(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c);

/* Which of a Constant's attributes that are no tensor an attribute of this name is; -1: none. And
** add that, an AttributeProto, as an object whose name is the path. */
int zt_onnx_value(zt_onnx_scan *s, zt_message name);
bool zt_onnx_add_value(zt_onnx_scan *s, zt_onnx_place place, zt_onnx_cursor c, int value);

#endif
