/* Stored elements and the dense form they stand for. See sparse.h. */
#include "tensor/sparse.h"

#include <assert.h>
#include "core/host.h"
#include "tensor/layout.h"

/* --- The dense form --- */

/* What a range of the dense form is filled from. */
typedef struct scatter {
  zt_tensor *tensor;
  uint64_t first;
  size_t n;
  uint8_t *out;
  uint8_t *seen;           /* One bit for each cell that has a value already; NULL while cells come in ascending order */
} scatter;

/* True if the cells ascend, each beyond the last one; *last, UINT64_MAX before the first, is that of the last entry. */
static bool ascend(const zt_entries *e, uint64_t *last){
  uint64_t before = *last;
  bool ok = e->n==0 || before==UINT64_MAX || e->cell[0]>before;
  for(size_t i=1; i<e->n; i++) ok &= e->cell[i]>e->cell[i-1];
  if( e->n ) *last = e->cell[e->n-1];
  return ok;
}

#define AHEAD 16   /* Entries from now on, whose memory is asked for already */

#if defined(__GNUC__)
# define PREFETCH(p) __builtin_prefetch((p), 1)
#else
# define PREFETCH(p) ((void)(p))
#endif

/* Put a value into a cell, or add it to the one that is there. */
ZT_INLINE bool add_value(const scatter *s, uint64_t cell, const void *value, size_t width){
  uint8_t *out = s->out + cell*width, bit = (uint8_t)(1u << cell%8);
  if( s->seen[cell/8] & bit ) return !s->tensor->object->strict && zt_add(s->tensor->dtype, out, value);
  s->seen[cell/8] |= bit;
  memcpy(out, value, width);
  return true;
}

/* The loops over a piece's entries, for elements of a width that the compiler knows. In ascending order no cell has a value
** yet; else, `seen` tells. False if values do not add up. */
ZT_INLINE bool put_values(const scatter *s, const zt_entries *e, size_t width){
  const uint8_t *value = e->value.u8;
  for(size_t i=0; i<e->n; i++){
    uint64_t cell = e->cell[i]-s->first;
    if( cell<s->n ) memcpy(s->out + cell*width, value + i*width, width);
  }
  return true;
}

ZT_INLINE bool add_values(const scatter *s, const zt_entries *e, size_t width){
  const uint8_t *value = e->value.u8;
  for(size_t i=0; i<e->n; i++){
    uint64_t cell = e->cell[i]-s->first, later = i+AHEAD<e->n ? e->cell[i+AHEAD]-s->first : 0;
    if( later<s->n ){
      PREFETCH(s->seen + later/8);
      PREFETCH(s->out + later*width);
    }
    if( cell<s->n && !add_value(s, cell, value + i*width, width) ) return false;
  }
  return true;
}

#define FOR_WIDTH(f) \
  static bool f##_entries(const scatter *s, const zt_entries *e){ \
    switch( s->tensor->dtype->width ){ \
      case 1: return f##_values(s, e, 1); \
      case 2: return f##_values(s, e, 2); \
      case 4: return f##_values(s, e, 4); \
      case 8: return f##_values(s, e, 8); \
      default: return f##_values(s, e, 16); \
    } \
  }

FOR_WIDTH(put)
FOR_WIDTH(add)

static int fail_repeated(zt_error *err){
  return zt_break(err, "L10", "two stored elements lie in one cell");
}

static int fail_add(const zt_dtype *dtype, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "the values of one cell add up to none that %s has", dtype->name);
}

/* Go through the stored elements. False, and no failure, if they turn out not to be in ascending order. */
static bool fill(scatter *s, zt_entries *e, zt_error *err){
  uint64_t last = UINT64_MAX;
  zt_tensor *t = s->tensor;
  if( t->layout->seek(t, s->first, s->n, err) ) return false;
  for(;;){
    if( t->layout->next(t, e, err) ) return false;
    if( e->n==0 ) return true;
    if( !s->seen && !ascend(e, &last) ) return false;
    if( !(s->seen ? add_entries(s, e) : put_entries(s, e)) ){
      if( t->object->strict ) fail_repeated(err);
      else fail_add(t->dtype, err);
      return false;
    }
  }
}

int zt_sparse_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  if( n ) memset(out, 0, n*t->dtype->width);
  return zt_sparse_fill(t, first, n, out, err);
}

/* What was filled until order was lost is filled again: the cells are the same. */
int zt_sparse_fill(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  scatter s = { .tensor = t, .first = first, .n = n, .out = out };
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  if( !fill(&s, e, err) && !err->rc ){
    s.seen = sqlite3_malloc64(n/8+1);
    if( !s.seen ){
      zt_fail_nomem(err);
    }else{
      zt_os_advise_large(s.seen, n/8+1);
      memset(s.seen, 0, n/8+1);
      fill(&s, e, err);
    }
  }
  sqlite3_free(s.seen);
  sqlite3_free(e);
  return err->rc;
}

/* --- The cells alone --- */

#define CELLS ((size_t)1 << 19)   /* Cells that are sorted at once */
#define DIGIT 11                  /* Bits that one pass of the sort looks at */

/* Cells with their values: the smallest that were met so far. */
typedef struct smallest {
  const zt_dtype *dtype;
  bool strict;             /* No cell may come twice */
  size_t n, capacity;
  uint64_t from, to;       /* Cells that are looked for: from <= cell < to, or all from there on if `all` */
  bool all;
  uint64_t *cell, *other;  /* capacity of each, the second for sorting */
  uint8_t *value, *otherValue;
} smallest;

static void clear_smallest(smallest *h){
  sqlite3_free(h->cell);
  sqlite3_free(h->other);
  sqlite3_free(h->value);
  sqlite3_free(h->otherValue);
}

static int new_smallest(smallest *h, const zt_dtype *dtype, uint64_t stored, zt_error *err){
  *h = (smallest){ .dtype = dtype, .all = true, .capacity = stored<CELLS ? (size_t)stored+1 : CELLS };
  h->cell = sqlite3_malloc64(h->capacity*sizeof(*h->cell));
  h->other = sqlite3_malloc64(h->capacity*sizeof(*h->cell));
  h->value = sqlite3_malloc64(h->capacity*dtype->width);
  h->otherValue = sqlite3_malloc64(h->capacity*dtype->width);
  return h->cell && h->other && h->value && h->otherValue ? SQLITE_OK : zt_fail_nomem(err);
}

/* Sort by cell; those of one cell stay in their order. */
static void sort(smallest *h){
  uint64_t most = 0;
  for(size_t i=0; i<h->n; i++) most |= h->cell[i];
  for(unsigned shift=0; shift<64 && most>>shift; shift+=DIGIT){
    size_t count[1<<DIGIT] = { 0 }, sum = 0;
    void *swap;
    for(size_t i=0; i<h->n; i++) count[h->cell[i]>>shift & ((1<<DIGIT)-1)]++;
    for(size_t d=0; d<(size_t)1<<DIGIT; d++){
      size_t c = count[d];
      count[d] = sum;
      sum += c;
    }
    for(size_t i=0; i<h->n; i++){
      size_t to = count[h->cell[i]>>shift & ((1<<DIGIT)-1)]++;
      h->other[to] = h->cell[i];
      memcpy(h->otherValue+to*h->dtype->width, h->value+i*h->dtype->width, h->dtype->width);
    }
    swap = h->cell; h->cell = h->other; h->other = swap;
    swap = h->value; h->value = h->otherValue; h->otherValue = swap;
  }
}

/* Sort, and add up the values of each cell. */
static int combine(smallest *h, zt_error *err){
  unsigned width = h->dtype->width;
  size_t k = 0;
  sort(h);
  for(size_t i=1; i<h->n; i++){
    if( h->cell[i]!=h->cell[k] ){
      h->cell[++k] = h->cell[i];
      memmove(h->value+k*width, h->value+i*width, width);
    }else if( h->strict ){
      return fail_repeated(err);
    }else if( !zt_add(h->dtype, h->value+k*width, h->value+i*width) ){
      return fail_add(h->dtype, err);
    }
  }
  if( h->n ) h->n = k+1;
  return SQLITE_OK;
}

/* Make room: keep the smaller half of the cells, and look for no larger ones in this pass. */
static int make_room(smallest *h, zt_error *err){
  if( combine(h, err) || h->n<=h->capacity/2 ) return err->rc;
  h->n = h->capacity/2;
  h->to = h->cell[h->n];
  h->all = false;
  return SQLITE_OK;
}

static int collect(smallest *h, const zt_entries *e, zt_error *err){
  unsigned width = h->dtype->width;
  for(size_t i=0; i<e->n; i++){
    if( e->cell[i]<h->from || (!h->all && e->cell[i]>=h->to) ) continue;
    if( h->n==h->capacity ){
      if( make_room(h, err) ) return err->rc;
      if( !h->all && e->cell[i]>=h->to ) continue;
    }
    h->cell[h->n] = e->cell[i];
    memcpy(h->value+h->n*width, e->value.u8+i*width, width);
    h->n++;
  }
  return SQLITE_OK;
}

typedef void (*taker)(void *context, const void *values, size_t n);

/* Hand out the cells in ascending order, as many in one pass over the stored elements as there is room for. */
static int take_sorted(zt_tensor *t, zt_entries *e, taker take, void *context, zt_error *err){
  smallest h;
  if( new_smallest(&h, t->dtype, t->stored, err) ) goto end;
  h.strict = t->object->strict;
  do{
    h.n = 0;
    h.all = true;
    if( t->layout->seek(t, 0, t->object->elements, err) ) goto end;
    do{
      if( t->layout->next(t, e, err) || collect(&h, e, err) ) goto end;
    }while( e->n );
    if( combine(&h, err) ) goto end;
    for(size_t i=0; i<h.n; i+=ZT_ENTRIES){
      size_t n = h.n-i<ZT_ENTRIES ? h.n-i : ZT_ENTRIES;
      take(context, h.value+i*t->dtype->width, n);
    }
    h.from = h.to;
  }while( !h.all );
end:
  clear_smallest(&h);
  return err->rc;
}

/* Go through the stored elements; NULL: see only whether they are in ascending order. False, and no failure, if they are not. */
static bool take_ascending(zt_tensor *t, zt_entries *e, taker take, void *context, zt_error *err){
  uint64_t last = UINT64_MAX;
  if( t->layout->seek(t, 0, t->object->elements, err) ) return false;
  for(;;){
    if( t->layout->next(t, e, err) || !ascend(e, &last) ) return false;
    if( e->n==0 ) return true;
    if( take ) take(context, &e->value, e->n);
  }
}

/* Hand out the cells, which were in ascending order just before. */
static int take_ordered(zt_tensor *t, zt_entries *e, taker take, void *context, zt_error *err){
  if( take_ascending(t, e, take, context, err) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "its indices were written to while they were read");
}

int zt_sparse_cells(zt_tensor *t, taker take, void *context, zt_error *err){
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  if( take_ascending(t, e, NULL, NULL, err) ) take_ordered(t, e, take, context, err);
  else if( !err->rc ) take_sorted(t, e, take, context, err);
  sqlite3_free(e);
  return err->rc;
}

/* --- Their order --- */

/* Compare the cells of a piece with one another, and with *last, the one before: UINT64_MAX if there is none. */
static void compare_cells(const zt_entries *e, uint64_t *last, zt_order *out){
  for(size_t i=0; i<e->n; i++){
    if( *last!=UINT64_MAX && e->cell[i]<*last && out->ascending ){
      out->ascending = false;
      out->at = e->first+i;
    }
    if( e->cell[i]==*last ) out->repeated++;
    *last = e->cell[i];
  }
}

static void count_cells(void *context, const void *values, size_t n){
  (void)values;
  *(uint64_t*)context += n;
}

int zt_sparse_order(zt_tensor *t, zt_order *out, zt_error *err){
  uint64_t last = UINT64_MAX, cells = 0;
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  *out = (zt_order){ .ascending = true };
  if( !e ) return zt_fail_nomem(err);
  if( t->layout->seek(t, 0, t->object->elements, err) ) goto end;
  do{
    if( t->layout->next(t, e, err) || zt_tensor_poll(t, e->n, err) ) goto end;
    compare_cells(e, &last, out);
  }while( e->n );
  if( out->ascending && out->repeated==0 ) goto end;
  if( zt_sparse_cells(t, count_cells, &cells, err)==SQLITE_OK ) out->repeated = t->stored-cells;
end:
  sqlite3_free(e);
  return err->rc;
}
