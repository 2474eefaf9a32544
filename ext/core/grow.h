/* Growth of arrays. */
#ifndef ZT_CORE_GROW_H
#define ZT_CORE_GROW_H

#include "core/error.h"
#include "core/host.h"

#define ZT_GROW_MIN 512   /* Bytes of the first allocation */

/* Makes room for n elements of `size` bytes, and for twice *room if that is more. Returns the
** array, which may have moved. NULL if memory is short (recorded in err); p is then unchanged. */
static inline void *zt_grow(void *p, size_t *room, uint64_t n, size_t size, zt_error *err){
  if( p && n<=*room ) return p;
  if( n<2*(uint64_t)*room ) n = 2*(uint64_t)*room;
  if( n<ZT_GROW_MIN/size ) n = ZT_GROW_MIN/size;
  p = sqlite3_realloc64(p, n*size);
  if( p ) *room = (size_t)n;
  else zt_fail_nomem(err);
  return p;
}

#endif
