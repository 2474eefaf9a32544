/*
** An object's values: what its components together mean. THE table of layouts, and what each gives.
** A new layout is one row in layout.c, and a file of its own like dense.c. Interface to code in
** layout.c, and between it and the layouts.
**
** Whatever the layout, a tensor is an array of elements in the row-major order of its shape; the
** element at flat position i is that of the dense form. Rules (tests/formats has files
** for each):
**   L1  the format is known
**   L2  every component's dtype is known
**   L3  decoded lengths are what shape and types make
**   L4  every role of the format is there
**   L5  every component's logical type is known
**   L6  it stands on its own storage type
**   L7  no index is negative
**   L8  a component's byte order is little or big
**   L11 its elements are numbers, and the file has them: else it is listed, and nothing is wrong
** and where the file's rules say so (container.h):
**   L9  a bool is 0 or 1, and the spare bits of a last byte of packed elements are 0
**   L10 no two stored elements lie in one cell
** and those of each layout, in its file.
*/
#ifndef ZT_TENSOR_LAYOUT_H
#define ZT_TENSOR_LAYOUT_H

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

/* Open an object's values. err's place should name the object. *out needs zt_tensor_close() in
** any case. */
int zt_tensor_open(zt_source *source, const zt_container *c, const zt_object *object,
                   zt_budget *budget, zt_tensor *out, zt_error *err);
void zt_tensor_close(zt_tensor *t);

/* True if elements that are not stored are zero. */
bool zt_tensor_is_sparse(const zt_tensor *t);

/* Elements first to first+n of the dense form, as elements in memory. n is at least 1; or 0 if
** there are no elements, and then what is stored is checked all the same. */
int zt_tensor_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

/* n more elements were worked on: fail if the loop shall stop. Asks every million elements. */
int zt_tensor_poll(zt_tensor *t, uint64_t n, zt_error *err);

/* How many elements it is best to read at once, if all are wanted one after the other. */
uint64_t zt_tensor_window(const zt_tensor *t);

/* For layouts: the component of that role, or of the other one, which may be NULL (L4); and
** its bytes. */
int zt_tensor_component(const zt_tensor *t, const char *role, const char *other, zt_component *out,
                        zt_error *err);
zt_payload zt_tensor_payload(const zt_tensor *t, const zt_component *component);

/* For layouts: true if a component's bytes are stored as they are in this file. */
bool zt_tensor_is_plain(const zt_component *component);

/* For layouts: all elements of the component of that role. */
int zt_tensor_array(const zt_tensor *t, const char *role, zt_array *out, zt_error *err);

/* The same of as many elements as there must be: another length breaks the rule. And their
** type alone. */
int zt_tensor_array_of(const zt_tensor *t, const char *role, uint64_t length, const char *rule,
                       zt_array *out, zt_error *err);
int zt_tensor_dtype(const zt_tensor *t, const char *role, const zt_dtype **out, zt_error *err);

extern const zt_layout zt_layout_dense, zt_layout_csr, zt_layout_coo, zt_layout_quantized,
  zt_layout_mx, zt_layout_quant_group, zt_layout_ggml;

#endif
