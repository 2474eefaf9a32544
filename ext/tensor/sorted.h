/*
** Stored elements in ascending order of their cells, in bounded memory. Interface to code in
** sorted.c.
**
** Where they are stored in that order, they are given as they come. Else the smallest are gathered,
** as many as there is room for, and sorted; then the next ones, until all were given. The stored
** elements are read as often as that needs.
*/
#ifndef ZT_TENSOR_SORTED_H
#define ZT_TENSOR_SORTED_H

#include "tensor/tensor.h"

/* What becomes of the stored elements of one cell. */
typedef enum zt_repeats {
  ZT_REPEATS_KEPT,         /* They stay as they are, in storage order */
  ZT_REPEATS_ADDED         /* They become one; in some files there may be none (L10) */
} zt_repeats;

typedef struct zt_sorted zt_sorted;

/* Begin with the stored elements at positions first to first+n, of a sparse tensor; n is 0 if it
** has no elements. Tensor and e are borrowed until zt_sorted_close(), which *out needs in any
** case. All of the range is checked before the first is given. */
int zt_sorted_open(zt_tensor *t, uint64_t first, uint64_t n, zt_repeats repeats, zt_entries *e,
                   zt_sorted **out, zt_error *err);

/* Put the next ones into e: cells and values, but no numbers. Some may be outside the range. */
int zt_sorted_next(zt_sorted *s, zt_error *err);

/* ZT_REPEATS_KEPT: the number of entry i of e among all that the object stores. */
uint64_t zt_sorted_number(const zt_sorted *s, size_t i);

void zt_sorted_close(zt_sorted *s);

/* The values of one cell do not make one: say why. Some files may have one alone (L10). */
int zt_sorted_fail_add(const zt_tensor *t, zt_error *err);

#endif
