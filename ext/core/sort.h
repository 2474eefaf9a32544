/* A stable sort that can be interrupted; qsort() is neither. Interface to code in sort.c. */
#ifndef ZT_CORE_SORT_H
#define ZT_CORE_SORT_H

#include "core/interrupt.h"

typedef struct zt_sort_by {
  size_t size;                     /* Bytes of an element */
  /* Less than, equal to or greater than 0 as x comes before, with or after y. */
  int (*compare)(const void *context, const void *x, const void *y);
  const void *context;             /* Borrowed, like interrupt */
  const zt_interrupt *interrupt;
} zt_sort_by;

/* Sorts n elements with as much memory again. Returns SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT
** (recorded in err). After a failure all elements are there, in any order. */
int zt_sort(void *a, size_t n, const zt_sort_by *by, zt_error *err);

#endif
