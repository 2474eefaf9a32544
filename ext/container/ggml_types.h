/*
** THE table of ggml's types, by which GGUF says what a tensor consists of (the enumeration
** ggml_type of ggml.h, and the blocks of ggml-common.h). Plain types are dtypes of the same name;
** the others are blocks: some bytes that stand for some elements, one after the other in a row.
** What a block's elements are is in tensor/ggml.h; a new type is one row below, and its decoder
** there.
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

/* The same of types that ggml has only within computations: nobody defines what their elements
** are. */
#define ZT_GGML_INNER_TYPES(X) \
  X(q8_1,     9,  32,  36) \
  X(q8_k,    15, 256, 292)

/* The place in the table. Those with a decoder come first. */
typedef enum zt_ggml_id {
#define ZT_GGML_ID(name, ...) ZT_GGML_##name,
  ZT_GGML_BLOCK_TYPES(ZT_GGML_ID)
  ZT_GGML_INNER_TYPES(ZT_GGML_ID)
#undef ZT_GGML_ID
  ZT_GGML_PLAIN            /* None of them: a plain type */
} zt_ggml_id;

typedef struct zt_ggml_type {
  zt_ggml_id id;
  uint32_t number;         /* What GGUF calls it */
  zt_text name;            /* In lower case; of a plain type the dtype's */
  unsigned elements;       /* Of a block, of which `bytes` is the length; both 0 of a plain type,
                           ** for which its dtype knows */
  unsigned bytes;
} zt_ggml_type;

/* The type of that number or name; NULL if there is none, or no longer (4, 5, 31 to 33, 36
** to 38). */
const zt_ggml_type *zt_ggml_type_numbered(uint32_t number);
const zt_ggml_type *zt_ggml_type_named(zt_text name);

#endif
