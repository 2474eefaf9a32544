/* Merge sort. See sort.h. */
#include "core/sort.h"

#include "core/host.h"

#define SORT_POLL 256   /* Comparisons between two checks for an interrupt */

typedef struct sort_state {
  const zt_sort_by *by;
  zt_error *err;
  uint64_t steps;
} sort_state;

static bool sort_continues(sort_state *s){
  if( ++s->steps%SORT_POLL==0 ) zt_interrupt_check(s->by->interrupt, s->err);
  return s->err->rc==SQLITE_OK;
}

static bool sort_is_behind(const sort_state *s, const uint8_t *x, const uint8_t *y){
  return s->by->compare(s->by->context, x, y)>0;
}

/* Merges the sorted runs x..y and y..end into `to`. After an interrupt, `to` has all elements and
** the result is false. Inline, for constant sizes. */
ZT_INLINE bool sort_merge_of(sort_state *s, const uint8_t *x, const uint8_t *y, const uint8_t *end,
                             uint8_t *to, size_t size){
  const uint8_t *const middle = y;
  bool continues = true;
  if( sort_is_behind(s, y-size, y) ){
    for(; x<middle && y<end && (continues = sort_continues(s)); to+=size){
      const bool behind = sort_is_behind(s, x, y);
      memcpy(to, behind ? y : x, size);
      *(behind ? &y : &x) += size;
    }
  }
  memcpy(to, x, (size_t)(middle-x));
  memcpy(to+(middle-x), y, (size_t)(end-y));
  return continues;
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

/* Sorts from..end of b; a has the same elements there. Each half is finished while it is in the
** cache. */
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
