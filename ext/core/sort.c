/* Sorting by merging halves that are sorted. See sort.h. */
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

/* True if thing x comes behind thing y. */
static bool sort_is_behind(const sort_state *s, const uint8_t *x, const uint8_t *y){
  return s->by->compare(s->by->context, x, y)>0;
}

/* Merge the ascending runs x..y and y..end into another place, which has them all, too, if it shall
** not go on: false. In line, for sizes that are known. */
ZT_INLINE bool sort_merge_of(sort_state *s, const uint8_t *x, const uint8_t *y, const uint8_t *end,
                             uint8_t *to, size_t size){
  const uint8_t *const middle = y;
  bool go_on = true;
  if( sort_is_behind(s, y-size, y) ){
    for(; x<middle && y<end && (go_on = sort_go_on(s)); to+=size){
      const bool behind = sort_is_behind(s, x, y);
      memcpy(to, behind ? y : x, size);
      *(behind ? &y : &x) += size;
    }
  }
  memcpy(to, x, (size_t)(middle-x));
  memcpy(to+(middle-x), y, (size_t)(end-y));
  return go_on;
}

static bool sort_merge(sort_state *s, const uint8_t *x, const uint8_t *y, const uint8_t *end,
                       uint8_t *to){
  switch( s->by->size ){
    case 4:  return sort_merge_of(s, x, y, end, to, 4);
    case 8:  return sort_merge_of(s, x, y, end, to, 8);
    case 16: return sort_merge_of(s, x, y, end, to, 16);
    default: return sort_merge_of(s, x, y, end, to, s->by->size);
  }
}

/* Make from..end of b ascend; a has the same things there. A half is done before the other one is
** begun, while it is in the cache. */
static bool sort_range(sort_state *s, uint8_t *a, size_t from, size_t end, uint8_t *b){
  const size_t middle = from+(end-from)/2, size = s->by->size;
  if( end-from<2 ) return true;
  return sort_range(s, b, from, middle, a) && sort_range(s, b, middle, end, a)
      && sort_merge(s, a+from*size, a+middle*size, a+end*size, b+from*size);
}

int zt_sort(void *things, size_t n, const zt_sort_by *by, zt_error *err){
  sort_state s = { by, err, 0 };
  uint8_t *other;
  if( n<2 ) return SQLITE_OK;
  other = sqlite3_malloc64((uint64_t)n*by->size);
  if( !other ) return zt_fail_nomem(err);
  memcpy(other, things, n*by->size);
  sort_range(&s, other, 0, n, things);
  sqlite3_free(other);
  return err->rc;
}
