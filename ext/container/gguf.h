/*
** The parts of GGUF's driver: gguf.c opens files and has the grammar, gguf_values.c walks through
** values. Interface between these.
*/
#ifndef ZT_CONTAINER_GGUF_H
#define ZT_CONTAINER_GGUF_H

#include "container/builder.h"
#include "container/ggml_types.h"

#define ZT_GGUF_HEADER 24           /* Bytes before the metadata */
#define ZT_GGUF_DEPTH_MAX 64
#define ZT_GGUF_NAME_MAX 63         /* ggml's limits: bytes of a name (GGML_MAX_NAME and NUL), */
#define ZT_GGUF_RANK_MAX 4          /* and dimensions */

/* Types of values. Those from ZT_GGUF_MANIFEST on are not the format's: maps and arrays made from
** parts of the metadata. */
enum {
  ZT_GGUF_U8, ZT_GGUF_I8, ZT_GGUF_U16, ZT_GGUF_I16, ZT_GGUF_U32, ZT_GGUF_I32, ZT_GGUF_F32,
  ZT_GGUF_BOOL, ZT_GGUF_TEXT, ZT_GGUF_ARRAY, ZT_GGUF_U64, ZT_GGUF_I64, ZT_GGUF_F64, ZT_GGUF_TYPES,
  ZT_GGUF_MANIFEST,     /* Map: metadata_kv, tensor_infos */
  ZT_GGUF_KEYS,         /* Map: all metadata */
  ZT_GGUF_INFOS,        /* Array of ZT_GGUF_INFO */
  ZT_GGUF_INFO,         /* Map: name, dimensions, type, offset */
  ZT_GGUF_DIMENSIONS,   /* Array of u64 */
  ZT_GGUF_OBJECT        /* Map: ggml_type, ne */
};

/* Their names and minimum bytes; texts and arrays may be longer. */
typedef struct zt_gguf_type {
  zt_text name;
  unsigned width;
} zt_gguf_type;
extern const zt_gguf_type zt_gguf_types[ZT_GGUF_TYPES];

/* The driver's state of a container. */
typedef struct zt_gguf_state {
  bool big;            /* Numbers are big-endian */
  uint64_t keys, tensors;
  size_t infos;        /* Position of the first one */
  uint64_t data;       /* File offset of the data */
  uint64_t alignment;
} zt_gguf_state;

ZT_INLINE uint32_t zt_gguf_u32(bool big, const uint8_t *p){
  return big ? (uint32_t)zt_be(p, 4) : zt_le32(p);
}

ZT_INLINE uint64_t zt_gguf_u64(bool big, const uint8_t *p){
  return big ? zt_be64(p) : zt_le64(p);
}

/* A tensor's checked info. */
typedef struct zt_gguf_info {
  zt_text name;
  uint32_t rank;
  size_t dimensions;   /* Position of the rank; the dimensions follow */
  size_t number;       /* Position of ggml's type */
  const zt_ggml_type *type;   /* NULL: unknown */
  uint64_t offset;
  size_t end;          /* Position behind it */
} zt_gguf_info;

void zt_gguf_read_info(const zt_container *c, size_t at, zt_gguf_info *out);

ZT_INLINE const zt_gguf_state *zt_gguf_of(const zt_container *c){
  return c->state;
}

extern const zt_steps zt_gguf_steps;

#endif
