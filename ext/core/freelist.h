/*
** Memory of things of one size that come and go, kept for those that come next: SQLite's allocator
** has one lock, which threads at work on small things wait for more than they work. One thread's,
** or under a lock of its owner's.
*/
#ifndef ZT_CORE_FREELIST_H
#define ZT_CORE_FREELIST_H

#include <stddef.h>
#include "core/host.h"

#define ZT_FREELIST_MAX 64         /* Things whose memory is kept, at most */

/* All zeros at first. */
typedef struct zt_freelist {
  void *first;                     /* Each begins with the address of the next; owned */
  unsigned n;
} zt_freelist;

/* Memory for a thing of n bytes, always the same n. NULL: there is none. */
static inline void *zt_freelist_take(zt_freelist *r, size_t n){
  void **p = r->first;
  if( !p ) return sqlite3_malloc64(n);
  r->first = *p;
  r->n--;
  return p;
}

/* Give it back. */
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

/* Free what is kept. */
static inline void zt_freelist_clear(zt_freelist *r){
  while( r->n>0 ) sqlite3_free(zt_freelist_take(r, 0));
}

#endif
