/*
** Numpy's types by their texts, "<f4", "|O", ">M8[ns]", and what they are in the model. Interface
** to code in npy_types.c.
*/
#ifndef ZT_CONTAINER_NPY_TYPES_H
#define ZT_CONTAINER_NPY_TYPES_H

#include "core/span.h"

typedef struct zt_npy_type {
  char kind;
  uint8_t width;                  /* Bytes; 0: any */
  uint8_t unit;                   /* Bytes of an element for each that the text counts; 0: as
                                  ** `width` */
  zt_text dtype, type, format;
  const char *no_values;          /* Why there are none; NULL: it is dense, or not known */
} zt_npy_type;

extern const zt_npy_type zt_npy_unknown, zt_npy_structured;

/* What a descr says. */
typedef struct zt_npy_descr {
  const zt_npy_type *type;
  bool big;
  bool sized;                     /* Its elements have bytes: */
  uint64_t bytes;
} zt_npy_descr;

zt_npy_descr zt_npy_type_of(zt_text text);

#endif
