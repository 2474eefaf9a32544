/* Sorting by merging runs that get longer and longer. See sort.h. */
#include "core/sort.h"

#include "core/host.h"

#define SORT_POLL 256   /* Comparisons between two questions whether to go on */

typedef struct sort_state {
  const zt_sort_by *by;
  zt_error *err;
  uint64_t steps;
} sort_state;

static bool sort_go_on(sort_state *s){
  if( ++s->steps%SORT_POLL==0 ) zt_interrupt_check(s->by->interrupt, s->err);
  return s->err->rc==SQLITE_OK;
}

/* True if thing i of a comes behind thing k. */
static bool sort_is_behind(const sort_state *s, const uint8_t *a, size_t i, size_t k){
  return s->by->compare(s->by->context, a+i*s->by->size, a+k*s->by->size)>0;
}

/* Merge the ascending runs from..middle and middle..end of a into b. False if it shall not go on; a
** is as it was. */
static bool sort_merge(sort_state *s, const uint8_t *a, size_t from, size_t middle, size_t end,
                       uint8_t *b){
  const size_t size = s->by->size;
  size_t i = from, k = middle;
  uint8_t *to = b+from*size;
  if( middle<end && sort_is_behind(s, a, middle-1, middle) ){
    for(; i<middle && k<end; to+=size){
      if( !sort_go_on(s) ) return false;
      memcpy(to, a + (sort_is_behind(s, a, i, k) ? k++ : i++)*size, size);
    }
  }
  memcpy(to, a+i*size, (middle-i)*size);
  memcpy(to+(middle-i)*size, a+k*size, (end-k)*size);
  return true;
}

int zt_sort(void *things, size_t n, const zt_sort_by *by, zt_error *err){
  sort_state s = { by, err, 0 };
  uint8_t *other, *a = things, *b;
  bool merged = true;
  if( n<2 ) return SQLITE_OK;
  b = other = sqlite3_malloc64((uint64_t)n*by->size);
  if( !other ) return zt_fail_nomem(err);
  for(size_t run=1; merged && run<n; run*=2){
    uint8_t *filled = b;
    for(size_t i=0; merged && i<n; i+=2*run){
      size_t middle = run<n-i ? i+run : n;
      merged = sort_merge(&s, a, i, middle, middle<n && run<n-middle ? middle+run : n, b);
    }
    if( !merged ) break;
    b = a;
    a = filled;
  }
  if( a!=(uint8_t*)things ) memcpy(things, a, n*by->size);
  sqlite3_free(other);
  return err->rc;
}
