/*
** Stored elements in ascending order of their cells, in bounded memory. Interface to code in
** sorted.c.
**
** Elements that are stored in that order are returned as they come. Otherwise as many of the
** smallest as fit are gathered and sorted, then the next ones, and so on. Each pass reads all
** stored elements.
*/
#ifndef ZT_TENSOR_SORTED_H
#define ZT_TENSOR_SORTED_H

#include "tensor/tensor.h"

/* The treatment of several stored elements in one cell. */
typedef enum zt_repeats {
  ZT_REPEATS_KEPT,         /* They stay separate, in storage order */
  ZT_REPEATS_ADDED         /* They are added up; some files must not have them (L10) */
} zt_repeats;

typedef struct zt_sorted zt_sorted;

/* Begin with the stored elements at positions first to first+n of a sparse tensor; n is 0 if it has
** no elements. Tensor and e are borrowed until zt_sorted_close(), which *out always needs. The
** whole range is checked before the first element is returned. */
int zt_sorted_open(zt_tensor *t, uint64_t first, uint64_t n, zt_repeats repeats, zt_entries *e,
                   zt_sorted **out, zt_error *err);

/* Put the next cells and values into e. Some may be outside the range. */
int zt_sorted_next(zt_sorted *s, zt_error *err);

/* With ZT_REPEATS_KEPT, return the number of entry i of e among all stored elements. */
uint64_t zt_sorted_number(const zt_sorted *s, size_t i);

void zt_sorted_close(zt_sorted *s);

/* Report why the values of one cell cannot be added: duplicates are forbidden (L10), or the sum is
** outside the type. */
int zt_sorted_fail_add(const zt_tensor *t, zt_error *err);

#endif
