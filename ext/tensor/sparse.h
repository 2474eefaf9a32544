/*
** Stored elements and the dense form they stand for. Interface between the sparse layouts (csr.c,
** coo.c) and those who read them; to code in sparse.c.
**
** A cell without a stored element is zero. A value that is alone in its cell keeps its exact bits;
** values of one cell add up in storage order, in the type's own arithmetic (scipy does the same).
*/
#ifndef ZT_TENSOR_SPARSE_H
#define ZT_TENSOR_SPARSE_H

#include "tensor/convert.h"

struct zt_tensor;

#define ZT_ENTRIES 4096            /* Stored elements that are read at once */
#define ZT_ELEMENT_MAX 16          /* Bytes of the widest element */

typedef struct zt_entries {
  size_t n;                        /* 0: there are no more */
  uint64_t first;                  /* Number of the first of them among all that the
                                   ** object stores */
  uint64_t cell[ZT_ENTRIES];       /* Flat position, less than the object's elements */
  ZT_NUMBERS(ZT_ENTRIES*ZT_ELEMENT_MAX/8) value;   /* n elements of the tensor's type, as
                                                   ** in memory */
} zt_entries;

/* The dense form's elements first to first+n; the same where `out` is all 0 already. */
int zt_sparse_read(struct zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);
int zt_sparse_fill(struct zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

/* Hand every cell that has a stored element to `take`, once, with its value, in no particular
** order, in pieces of at most ZT_ENTRIES. Takes bounded memory: where the cells are not stored in
** ascending order, the stored elements are read as often as that needs. */
int zt_sparse_cells(struct zt_tensor *t, void (*take)(void *context, const void *values, size_t n),
                    void *context, zt_error *err);

/* Hand the dense form to `take` in order, `n` elements at a time and the rest at the end: in
** `window`, which has room for n, and whose content `take` may change. There is at least one
** element. Memory and time are as for zt_sparse_cells(). */
int zt_sparse_windows(struct zt_tensor *t, void *window, size_t n,
                      void (*take)(void *context, void *elements, size_t n), void *context,
                      zt_error *err);

/* In which order the stored elements come. */
typedef struct zt_order {
  bool ascending;                  /* No cell is before that of an earlier element */
  uint64_t at;                     /* If not: the first element whose cell is */
  uint64_t repeated;               /* Elements whose cell an earlier one has */
} zt_order;

/* Go through all stored elements, checking every rule of them. Memory and time are as for
** zt_sparse_cells(). */
int zt_sparse_order(struct zt_tensor *t, zt_order *out, zt_error *err);

#endif
