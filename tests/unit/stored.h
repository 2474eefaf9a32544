/* A layout that tests make: stored elements of any type, in pieces of any size. */
#ifndef ZT_TESTS_UNIT_STORED_H
#define ZT_TESTS_UNIT_STORED_H

#include "tensors.h"

typedef struct stored {
  const zt_dtype *dtype;
  uint64_t n, at;
  size_t piece;
  unsigned passes;
  void (*make)(uint64_t i, uint64_t *cell, uint64_t *value);
} stored;

static inline int stored_seek(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err){
  stored *s = t->state;
  (void)first;
  (void)n;
  s->at = 0;
  s->passes++;
  return err->rc;
}

static inline int stored_next(zt_tensor *t, zt_entries *out, zt_error *err){
  stored *s = t->state;
  out->first = s->at;
  out->n = s->n-s->at<s->piece ? (size_t)(s->n-s->at) : s->piece;
  for(size_t i=0; i<out->n; i++){
    uint64_t value;
    s->make(s->at++, &out->cell[i], &value);
    if( zt_big_endian() ) value <<= 64-8*s->dtype->width;   /* Its low bytes, first in memory */
    memcpy(out->value.u8+i*s->dtype->width, &value, s->dtype->width);
  }
  return err->rc;
}

static const zt_layout stored_layout = { .seek = stored_seek,
                                         .next = stored_next };

static inline zt_tensor stored_tensor(stored *s, zt_object *object, uint64_t elements){
  static zt_budget budget = { .result = 1000000000, .decode = (uint64_t)1<<40 };
  *object = (zt_object){ .rank = 1, .shape = { elements }, .elements = elements };
  return (zt_tensor){ .object = object, .budget = &budget, .layout = &stored_layout,
                      .dtype = s->dtype, .state = s, .stored = s->n };
}

#endif
