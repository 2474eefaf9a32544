/*
** Memory of objects of one size, kept for reuse: SQLite's allocator has one lock, and threads with
** small jobs spend more time waiting for it than working. Used by one thread, or under the owner's
** lock.
*/
#ifndef ZT_CORE_FREELIST_H
#define ZT_CORE_FREELIST_H

#include <stddef.h>
#include "core/host.h"

#define ZT_FREELIST_MAX 64         /* Most objects whose memory is kept */

/* All zeros at first. */
typedef struct zt_freelist {
  void *first;                     /* Each begins with the address of the next; owned */
  unsigned n;
} zt_freelist;

/* Returns memory for an object of n bytes, the same n in every call. NULL if memory is short. */
static inline void *zt_freelist_take(zt_freelist *r, size_t n){
  void **p = r->first;
  if( !p ) return sqlite3_malloc64(n);
  r->first = *p;
  r->n--;
  return p;
}

static inline void zt_freelist_give(zt_freelist *r, void *thing){
  void **p = thing;
  if( r->n==ZT_FREELIST_MAX ){
    sqlite3_free(p);
    return;
  }
  *p = r->first;
  r->first = p;
  r->n++;
}

static inline void zt_freelist_clear(zt_freelist *r){
  while( r->n>0 ) sqlite3_free(zt_freelist_take(r, 0));
}

#endif
