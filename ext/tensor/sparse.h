/*
** Stored elements and their dense form. Interface between the sparse layouts (csr.c, coo.c) and
** their users, and to code in sparse.c.
**
** A cell without a stored element is zero. A single value in a cell keeps its exact bits. Several
** values of one cell add up in storage order, in the type's own arithmetic (as in scipy).
*/
#ifndef ZT_TENSOR_SPARSE_H
#define ZT_TENSOR_SPARSE_H

#include "tensor/convert.h"

struct zt_tensor;

#define ZT_ENTRIES 4096            /* Stored elements read at once */
#define ZT_ELEMENT_MAX 16          /* Bytes of the widest element */

typedef struct zt_entries {
  size_t n;                        /* 0: the end */
  uint64_t first;                  /* Number of the first entry among all stored elements */
  uint64_t cell[ZT_ENTRIES];       /* Flat position, less than the object's elements */
  ZT_NUMBERS(ZT_ENTRIES*ZT_ELEMENT_MAX/8) value;   /* n elements in memory */
} zt_entries;

/* Read elements first to first+n of the dense form. zt_sparse_fill() expects `out` to be all 0. */
int zt_sparse_read(struct zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);
int zt_sparse_fill(struct zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

/* Read the stored elements of first to first+n of the dense form, which go through `entries`. Fails
** if they cannot be read to the end. */
int zt_sparse_look(struct zt_tensor *t, uint64_t first, uint64_t n, zt_entries *entries,
                   zt_error *err);

/* Give the value of every cell with stored elements to `take`, once, in no particular order, in
** pieces of at most ZT_ENTRIES. Memory is bounded: cells that are not stored in ascending order
** take several passes over the stored elements. */
int zt_sparse_cells(struct zt_tensor *t, void (*take)(void *context, const void *values, size_t n),
                    void *context, zt_error *err);

/* Give the dense form, of at least one element, to `take` in order, `n` elements at a time and the
** rest at the end. They are in `window`, which `take` may change. Memory and time are as for
** zt_sparse_cells(). */
int zt_sparse_windows(struct zt_tensor *t, void *window, size_t n,
                      void (*take)(void *context, void *elements, size_t n), void *context,
                      zt_error *err);

/* Give the values of two sparse tensors of one shape to `take`, for every cell in which one of them
** has a stored element: once, in order, in pieces of at most ZT_ENTRIES. If both are of one object,
** it is opened twice. Memory and time are as for zt_sparse_cells(). The place of an error names the
** tensor that failed. */
int zt_sparse_pairs(struct zt_tensor *const t[2],
                    int (*take)(void *context, const void *const elements[2], size_t n,
                                zt_error *err),
                    void *context, zt_error *err);

/* The order of the stored elements: row-major, or that of the layout's columns or blocks. */
typedef struct zt_order {
  bool ascending;                  /* No cell is before an earlier element's */
  uint64_t at;                     /* If not: the first such element */
  uint64_t repeated;               /* Elements in the cell of an earlier one */
} zt_order;

/* Check all stored elements by every rule. Memory and time are as for zt_sparse_cells(). */
int zt_sparse_order(struct zt_tensor *t, zt_order *out, zt_error *err);

#endif
