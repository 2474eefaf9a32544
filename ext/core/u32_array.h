/*
** A growing array of 32-bit numbers: positions in a manifest, which has at most 1 GiB, or indices
** of what is in it. There may be millions, so each costs four bytes. Interface to code in
** u32_array.c.
*/
#ifndef ZT_CORE_U32_ARRAY_H
#define ZT_CORE_U32_ARRAY_H

#include "core/error.h"

typedef struct zt_u32_array {
  uint32_t *a;           /* Owned */
  uint32_t n, capacity;
} zt_u32_array;

/* Make room for n, which is only an estimate: no failure if memory is short. */
void zt_u32_array_reserve(zt_u32_array *p, uint64_t n);

/* Make room for one more. SQLITE_OK or SQLITE_NOMEM, recorded. */
ZT_COLD int zt_u32_array_grow(zt_u32_array *p, zt_error *err);

ZT_INLINE int zt_u32_array_push(zt_u32_array *p, size_t value, zt_error *err){
  if( p->n==p->capacity && zt_u32_array_grow(p, err) ) return err->rc;
  p->a[p->n++] = (uint32_t)value;
  return 0;
}

/* Make room for n more. False: there is no memory. */
bool zt_u32_array_room(zt_u32_array *p, uint32_t n);

/* Add n for which there is room. */
void zt_u32_array_append(zt_u32_array *p, const uint32_t *a, uint32_t n);

/* Give back memory that was allocated ahead. */
void zt_u32_array_trim(zt_u32_array *p);

void zt_u32_array_clear(zt_u32_array *p);

#endif
