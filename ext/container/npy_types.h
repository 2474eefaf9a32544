/* Numpy's types by their texts ("<f4", "|O", ">M8[ns]"), and in the model. */
#ifndef ZT_CONTAINER_NPY_TYPES_H
#define ZT_CONTAINER_NPY_TYPES_H

#include "core/span.h"

typedef struct zt_npy_type {
  char kind;
  uint8_t width;                  /* Bytes; 0: any */
  uint8_t unit;                   /* Bytes per unit of the text's number; 0: `width` */
  zt_text dtype, type, format;
  const char *no_values;          /* Static: why it has none; NULL: it is dense, or unknown */
} zt_npy_type;

extern const zt_npy_type zt_npy_unknown, zt_npy_structured;

/* A decoded descr. */
typedef struct zt_npy_descr {
  const zt_npy_type *type;
  bool big;
  bool sized;                     /* Elements have one size: bytes */
  uint64_t bytes;
} zt_npy_descr;

zt_npy_descr zt_npy_type_of(zt_text text);

/* The text "f4" of numpy's letters and names "f", "float32", static, if they have the same width on
** all machines: "l", "p" and "int" do not. NULL: it is none of these. */
const char *zt_npy_with_width(zt_text name);

#endif
