/*
** THE table of ggml's types, which GGUF's tensors have (the enumeration ggml_type of ggml.h, and
** the blocks of ggml-common.h). Plain types are dtypes of the same name. The others are blocks:
** some bytes for some elements, one after the other in a row. tensor/ggml.h describes the blocks'
** elements; a new type is one row below, and its decoder there.
*/
#ifndef ZT_CONTAINER_GGML_TYPES_H
#define ZT_CONTAINER_GGML_TYPES_H

#include "core/span.h"

/* X(name, number): plain types. */
#define ZT_GGML_PLAIN_TYPES(X) \
  X(f32, 0)  X(f16, 1)  X(i8, 24)  X(i16, 25)  X(i32, 26)  X(i64, 27)  X(f64, 28)  X(bf16, 30)

/* X(name, number, elements, bytes): types of blocks. Each has a decoder of its name. */
#define ZT_GGML_BLOCK_TYPES(X) \
  X(q4_0,     2,  32,  18) \
  X(q4_1,     3,  32,  20) \
  X(q5_0,     6,  32,  22) \
  X(q5_1,     7,  32,  24) \
  X(q8_0,     8,  32,  34) \
  X(q2_k,    10, 256,  84) \
  X(q3_k,    11, 256, 110) \
  X(q4_k,    12, 256, 144) \
  X(q5_k,    13, 256, 176) \
  X(q6_k,    14, 256, 210) \
  X(iq2_xxs, 16, 256,  66) \
  X(iq2_xs,  17, 256,  74) \
  X(iq3_xxs, 18, 256,  98) \
  X(iq1_s,   19, 256,  50) \
  X(iq4_nl,  20,  32,  18) \
  X(iq3_s,   21, 256, 110) \
  X(iq2_s,   22, 256,  82) \
  X(iq4_xs,  23, 256, 136) \
  X(iq1_m,   29, 256,  56) \
  X(tq1_0,   34, 256,  54) \
  X(tq2_0,   35, 256,  66) \
  X(mxfp4,   39,  32,  17) \
  X(nvfp4,   40,  64,  36) \
  X(q1_0,    41, 128,  18) \
  X(q2_0,    42,  64,  18)

/* The same, for types that ggml uses only within computations; their elements have no
** definition. */
#define ZT_GGML_INNER_TYPES(X) \
  X(q8_1,     9,  32,  36) \
  X(q8_k,    15, 256, 292)

/* Index in the table; types with decoders come first. */
typedef enum zt_ggml_id {
#define ZT_GGML_ID(name, ...) ZT_GGML_##name,
  ZT_GGML_BLOCK_TYPES(ZT_GGML_ID)
  ZT_GGML_INNER_TYPES(ZT_GGML_ID)
#undef ZT_GGML_ID
  ZT_GGML_PLAIN            /* All plain types */
} zt_ggml_id;

/* True for the attributes in which zTensor 2 states a type's sizes: they follow from the type. */
static inline bool zt_ggml_is_setting(zt_text key){
  return zt_text_is(key, "elems_per_block") || zt_text_is(key, "block_bytes");
}

typedef struct zt_ggml_type {
  zt_ggml_id id;
  uint32_t number;         /* GGUF's number */
  zt_text name;            /* In lower case; a plain type has its dtype's name */
  unsigned elements;       /* Elements and bytes of a block; 0 and 0 for a plain type */
  unsigned bytes;
} zt_ggml_type;

/* The type of that number or name; NULL if there is none, or no longer (4, 5, 31 to 33, 36 to
** 38). */
const zt_ggml_type *zt_ggml_type_numbered(uint32_t number);
const zt_ggml_type *zt_ggml_type_named(zt_text name);

#endif
