/*
** A growing array of 32-bit numbers: positions in a manifest, which has at most 1 GiB, or indices
** of what is in it. There may be millions, so each costs four bytes. Interface to code in
** positions.c.
*/
#ifndef ZT_CORE_POSITIONS_H
#define ZT_CORE_POSITIONS_H

#include "core/error.h"

typedef struct zt_positions {
  uint32_t *a;           /* Owned */
  uint32_t n, capacity;
} zt_positions;

/* Make room for n, which is only an estimate: no failure if memory is short. */
void zt_positions_reserve(zt_positions *p, uint64_t n);

/* Make room for one more. SQLITE_OK or SQLITE_NOMEM, recorded. */
ZT_COLD int zt_positions_grow(zt_positions *p, zt_error *err);

ZT_INLINE int zt_positions_push(zt_positions *p, size_t value, zt_error *err){
  if( p->n==p->capacity && zt_positions_grow(p, err) ) return err->rc;
  p->a[p->n++] = (uint32_t)value;
  return 0;
}

/* Make room for n more. False: there is no memory. */
bool zt_positions_room(zt_positions *p, uint32_t n);

/* Add n for which there is room. */
void zt_positions_append(zt_positions *p, const uint32_t *a, uint32_t n);

/* Give back memory that was allocated ahead. */
void zt_positions_trim(zt_positions *p);

void zt_positions_clear(zt_positions *p);

#endif
