/*
** An object opened for reading its elements, and what a layout has to give for that: what layouts
** find of its components. Interface to code in tensor.c; the layouts are in layout.h.
*/
#ifndef ZT_TENSOR_TENSOR_H
#define ZT_TENSOR_TENSOR_H

#include "tensor/array.h"
#include "tensor/sparse.h"

typedef struct zt_layout zt_layout;

/* An object opened for reading its elements. */
typedef struct zt_tensor {
  zt_source *source;               /* Borrowed, like the next three */
  const zt_container *container;
  const zt_object *object;
  zt_budget *budget;
  const zt_layout *layout;
  const zt_dtype *dtype;           /* Of its elements: the values' own type, f32 if they
                                   ** are computed */
  void *state;                     /* The layout's own */
  uint64_t stored;                 /* Sparse layouts: number of stored elements */
  uint64_t passed;                 /* Elements since the last question whether to go on */
  bool anywhere;                   /* To read elements in any place costs no more than those that
                                   ** follow the last ones */
} zt_tensor;

struct zt_layout {
  /* Find the components and check L1 to L6; set t->dtype, and t->state to memory from
  ** sqlite3_malloc64(). Reads no element, unless a length cannot be known otherwise. close is
  ** called also after a failure, state NULL or not. */
  int (*open)(zt_tensor *t, zt_error *err);
  void (*close)(zt_tensor *t);

  /* Elements first to first+n, as elements in memory; of a tensor without elements, n is 0, and all
  ** bytes are checked. NULL for sparse layouts, which have the next two instead. */
  int (*read)(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

  /* Stand before the first stored element that may be at position first or after it, and give the
  ** next ones in storage order, some of which may be outside first to first+n. All rules are
  ** checked of what is given. */
  int (*seek)(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err);
  int (*next)(zt_tensor *t, zt_entries *out, zt_error *err);
};

#define ZT_TENSOR_POLL ((uint64_t)1 << 20)   /* Elements between two questions whether to go on */

/* n more elements were worked on: fail if the loop shall stop. */
int zt_tensor_poll(zt_tensor *t, uint64_t n, zt_error *err);

/* The component of that role, or of the other one, which may be NULL (L4); and
** its bytes. */
int zt_tensor_component(const zt_tensor *t, const char *role, const char *other, zt_component *out,
                        zt_error *err);
zt_payload zt_tensor_payload(const zt_tensor *t, const zt_component *component);

/* True if a component's bytes are stored as they are in this file. */
bool zt_tensor_is_plain(const zt_component *component);

/* All elements of the component of that role. */
int zt_tensor_array(const zt_tensor *t, const char *role, zt_array *out, zt_error *err);

/* The same of as many elements as there must be: another length breaks the rule. And their
** type alone. */
int zt_tensor_array_of(const zt_tensor *t, const char *role, uint64_t length, const char *rule,
                       zt_array *out, zt_error *err);
int zt_tensor_dtype(const zt_tensor *t, const char *role, const zt_dtype **out, zt_error *err);

#endif
