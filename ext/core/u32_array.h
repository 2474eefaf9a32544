/*
** A growing array of 32-bit numbers, which are positions in a manifest of at most 1 GiB, or
** indices. Millions of them cost four bytes each. Interface to code in u32_array.c.
*/
#ifndef ZT_CORE_U32_ARRAY_H
#define ZT_CORE_U32_ARRAY_H

#include "core/error.h"

typedef struct zt_u32_array {
  uint32_t *a;           /* Owned */
  uint32_t n, capacity;
} zt_u32_array;

/* Makes room for n numbers, an estimate: lack of memory is not a failure. */
void zt_u32_array_reserve(zt_u32_array *p, uint64_t n);

/* Makes room for one more. Returns SQLITE_OK or SQLITE_NOMEM (recorded). */
ZT_COLD int zt_u32_array_grow(zt_u32_array *p, zt_error *err);

ZT_INLINE int zt_u32_array_push(zt_u32_array *p, size_t value, zt_error *err){
  if( p->n==p->capacity && zt_u32_array_grow(p, err) ) return err->rc;
  p->a[p->n++] = (uint32_t)value;
  return 0;
}

/* Makes room for n more. False if memory is short. */
bool zt_u32_array_room(zt_u32_array *p, uint32_t n);

/* Appends n numbers, for which there is room. */
void zt_u32_array_append(zt_u32_array *p, const uint32_t *a, uint32_t n);

/* Gives unused room back. */
void zt_u32_array_trim(zt_u32_array *p);

void zt_u32_array_clear(zt_u32_array *p);

#endif
