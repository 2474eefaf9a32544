/*
** An object opened for reading its elements, the interface of layouts, and access to components for
** layouts. Interface to code in tensor.c; the layouts are in layout.h.
*/
#ifndef ZT_TENSOR_TENSOR_H
#define ZT_TENSOR_TENSOR_H

#include "tensor/array.h"
#include "tensor/sparse.h"

typedef struct zt_layout zt_layout;

typedef struct zt_tensor {
  zt_source *source;               /* Borrowed, like the next three */
  const zt_container *container;
  const zt_object *object;
  zt_budget *budget;
  const zt_layout *layout;
  const zt_dtype *dtype;           /* The values' own type; f32 if they are computed */
  void *state;                     /* The layout's */
  uint64_t stored;                 /* Sparse layouts: number of stored elements */
  uint64_t passed;                 /* Elements since the last check for an interrupt */
  bool anywhere;                   /* Random access costs no more than sequential reading */
} zt_tensor;

struct zt_layout {
  /* Find the components and check L1 to L6; set t->dtype, and t->state to memory from
  ** sqlite3_malloc64(). This reads no element unless a length cannot be known otherwise. close is
  ** called even after a failure if state is not NULL. */
  int (*open)(zt_tensor *t, zt_error *err);
  void (*close)(zt_tensor *t);

  /* Read elements first to first+n into memory. For a tensor without elements, n is 0, and all
  ** bytes are checked. NULL for sparse layouts, which have the next two instead. */
  int (*read)(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

  /* Move to the first stored element that may be at position first or later, and return the next
  ** ones in storage order. Some may lie outside first to first+n. All rules of them are checked. */
  int (*seek)(zt_tensor *t, uint64_t first, uint64_t n, zt_error *err);
  int (*next)(zt_tensor *t, zt_entries *out, zt_error *err);
};

#define ZT_TENSOR_POLL ((uint64_t)1 << 20)   /* Elements between checks for an interrupt */

/* Count n more elements of work, and fail after an interrupt. */
int zt_tensor_poll(zt_tensor *t, uint64_t n, zt_error *err);

/* Make the tensor the place of errors, where there is another one. */
void zt_tensor_enter(const zt_tensor *t, zt_error *err);

/* Find the component of a role, or of the other role, which may be NULL (L4); and its bytes. The
** object's rules hold for it, which may be more than the file's. */
int zt_tensor_component(const zt_tensor *t, const char *role, const char *other, zt_component *out,
                        zt_error *err);
zt_payload zt_tensor_payload(const zt_tensor *t, const zt_component *component);

/* True if a component's bytes are stored in this file without encoding. */
bool zt_tensor_is_plain(const zt_component *component);

/* Open all elements of a role's component. */
int zt_tensor_array(const zt_tensor *t, const char *role, zt_array *out, zt_error *err);

/* Open all values: the component `values`, or of complex ones `real` and `imag` (P3). */
int zt_tensor_values(const zt_tensor *t, zt_array *out, zt_error *err);

/* Open `real` and `imag`. As zt_array_open_parts(). */
int zt_tensor_parts(const zt_tensor *t, uint64_t length, const char *rule, zt_array *out,
                    zt_error *err);

/* The same, where another length breaks the rule; and return only their type. */
int zt_tensor_array_of(const zt_tensor *t, const char *role, uint64_t length, const char *rule,
                       zt_array *out, zt_error *err);
int zt_tensor_dtype(const zt_tensor *t, const char *role, const zt_dtype **out, zt_error *err);

#endif
