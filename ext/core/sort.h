/*
** Sorting that keeps equal things in their order, and can be interrupted: qsort() does neither.
** Interface to code in sort.c.
*/
#ifndef ZT_CORE_SORT_H
#define ZT_CORE_SORT_H

#include "core/interrupt.h"

typedef struct zt_sort_by {
  size_t size;                     /* Bytes of a thing */
  /* Less than, equal to or greater than 0, as x comes before, with or after y. */
  int (*compare)(const void *context, const void *x, const void *y);
  const void *context;             /* Borrowed, like the next */
  const zt_interrupt *interrupt;
} zt_sort_by;

/* Make n things ascend, in as much memory again. Returns SQLITE_OK, SQLITE_NOMEM or
** SQLITE_INTERRUPT (recorded in err); on failure they are all there, in any order. */
int zt_sort(void *a, size_t n, const zt_sort_by *by, zt_error *err);

#endif
