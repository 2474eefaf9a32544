/* Two containers of one file that were opened in different ways. For tests/fuzz, too. */
#ifndef ZT_TESTS_SAME_H
#define ZT_TESTS_SAME_H

#include "container/driver.h"

static inline bool same_positions(const zt_u32_array *a, const zt_u32_array *b){
  return a->n==b->n && (a->n==0 || memcmp(a->a, b->a, a->n*sizeof(*a->a))==0);
}

static inline bool same_keys(const zt_keys *a, const zt_keys *b){
  for(uint32_t i=0; i<a->n && i<b->n; i++){
    if( a->a[i].at!=b->a[i].at || a->a[i].n!=b->a[i].n ) return false;
  }
  return a->n==b->n;
}

static inline bool same_words(const char *a, const char *b){
  return a && b ? strcmp(a, b)==0 : a==b;
}

/* Their difference, or the message why there is none; NULL: they are the same. */
static inline const char *difference(const zt_container *a, const zt_error *aErr, const zt_container *b, const zt_error *bErr){
  if( aErr->rc!=bErr->rc ) return "result code";
  if( !same_words(aErr->rule, bErr->rule) ) return "rule";
  if( !same_words(aErr->message, bErr->message) ) return "message";
  if( !a || !b ) return a==b ? NULL : "container";
  if( !same_keys(&a->names, &b->names) ) return "names";
  if( !same_positions(&a->objects, &b->objects) ) return "objects";
  if( !same_positions(&a->components, &b->components) ) return "components";
  if( !same_positions(&a->first, &b->first) ) return "first components";
  return a->single==b->single ? NULL : "single";
}

#endif
