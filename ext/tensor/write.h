/*
** Writing a file: a draft, its supplies and an encoder together. Independent of SQL: zt_writer,
** zt_pack and the tests use it. The same draft gives the same bytes with any number of threads.
** Interface to code in write.c; part.h appends the bytes of a component.
*/
#ifndef ZT_TENSOR_WRITE_H
#define ZT_TENSOR_WRITE_H

#include "container/encoder.h"
#include "tensor/supply.h"

/* All that is to be written. Everything is borrowed. */
typedef struct zt_write {
  const zt_encoder *encoder;
  zt_encoder_options options;
  zt_draft *draft;
  zt_supplies *supplies;
  zt_budget *budget;
} zt_write;

/* Check a draft as a whole, before a byte is written. */
int zt_write_check(const zt_write *w, zt_error *err);

/* The same for one object, with the attributes that it has so far. */
int zt_write_check_object(const zt_write *w, uint32_t object, zt_error *err);

/* Return the decoded bytes of all components; UINT64_MAX: 64 bits do not hold them. */
uint64_t zt_write_size(const zt_draft *draft);

/* Write it, and read back the sparse tensors that came by value, and the quantized ones: whether
** their components and attributes fit each other shows only then. A tensor that could not be read
** in its source is written as it is there. */
int zt_write_to(const zt_write *w, zt_output *output, zt_error *err);

#endif
