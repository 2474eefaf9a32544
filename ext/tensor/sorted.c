/* Stored elements in ascending order of their cells. See sorted.h. */
#include "tensor/sorted.h"

#include "core/host.h"

#define SORTED_CELLS ((size_t)1 << 19)   /* Stored elements sorted at once */
#define SORTED_DIGIT 11                  /* Bits of one pass of the radix sort */

/* A pass over the stored elements gathers the smallest ones, by cell, then by number. It begins
** where the last pass ended, possibly among the elements of one cell. */
struct zt_sorted {
  zt_tensor *tensor;       /* Borrowed, like e */
  zt_entries *e;
  zt_repeats repeats;
  uint64_t first, end;     /* The range: first <= cell < end */
  bool in_order;           /* Stored in order; of the fields below, only `least` is used */
  uint64_t least;          /* The smallest cell that may come next */
  uint64_t from, from_number;   /* The begin of the pass */
  uint64_t to, to_number;  /* Its end, where the next pass begins; to==end: there is none */
  size_t n, capacity;      /* Gathered elements */
  size_t given;            /* Returned elements */
  uint64_t *cell, *other_cell;     /* capacity of each, the second for sorting */
  uint64_t *number, *other_number; /* NULL where repeats are added */
  uint8_t *value, *other_value;
};

static int sorted_allocate(zt_sorted *s, zt_error *err){
  uint64_t stored = s->tensor->stored, width = s->tensor->dtype->width;
  s->capacity = stored<SORTED_CELLS ? (size_t)stored+1 : SORTED_CELLS;
  s->cell = sqlite3_malloc64(s->capacity*sizeof(*s->cell));
  s->other_cell = sqlite3_malloc64(s->capacity*sizeof(*s->cell));
  s->value = sqlite3_malloc64(s->capacity*width);
  s->other_value = sqlite3_malloc64(s->capacity*width);
  if( !s->cell || !s->other_cell || !s->value || !s->other_value ) return zt_fail_nomem(err);
  if( s->repeats==ZT_REPEATS_ADDED ) return SQLITE_OK;
  s->number = sqlite3_malloc64(s->capacity*sizeof(*s->number));
  s->other_number = sqlite3_malloc64(s->capacity*sizeof(*s->number));
  return s->number && s->other_number ? SQLITE_OK : zt_fail_nomem(err);
}

void zt_sorted_close(zt_sorted *s){
  if( !s ) return;
  sqlite3_free(s->cell);
  sqlite3_free(s->other_cell);
  sqlite3_free(s->number);
  sqlite3_free(s->other_number);
  sqlite3_free(s->value);
  sqlite3_free(s->other_value);
  sqlite3_free(s);
}

/* True if the cells of e in the range ascend. *least becomes the smallest cell that may follow. */
static bool sorted_ascend(const zt_sorted *s, uint64_t *least){
  uint64_t step = s->repeats==ZT_REPEATS_ADDED, n = s->end-s->first;
  bool ok = true;
  for(size_t i=0; i<s->e->n; i++){
    uint64_t cell = s->e->cell[i];
    if( cell-s->first>=n ) continue;
    ok &= cell>=*least;
    *least = cell+step;
  }
  return ok;
}

/* Set in_order. Reading stops at the first element out of order. */
static int sorted_look(zt_sorted *s, zt_error *err){
  zt_tensor *t = s->tensor;
  if( t->layout->seek(t, s->first, s->end-s->first, err) ) return err->rc;
  do{
    if( t->layout->next(t, s->e, err) || zt_tensor_poll(t, s->e->n, err) ) return err->rc;
    if( !sorted_ascend(s, &s->least) ) return SQLITE_OK;
  }while( s->e->n );
  s->in_order = true;
  s->least = 0;
  return SQLITE_OK;
}

/* Sort the elements by one digit of their cells, stably. */
static void sorted_by_digit(zt_sorted *s, unsigned shift){
  const size_t mask = ((size_t)1<<SORTED_DIGIT)-1;
  unsigned width = s->tensor->dtype->width;
  size_t count[1<<SORTED_DIGIT] = { 0 }, sum = 0;
  void *swap;
  for(size_t i=0; i<s->n; i++) count[s->cell[i]>>shift & mask]++;
  for(size_t d=0; d<=mask; d++){
    size_t c = count[d];
    count[d] = sum;
    sum += c;
  }
  for(size_t i=0; i<s->n; i++){
    size_t to = count[s->cell[i]>>shift & mask]++;
    s->other_cell[to] = s->cell[i];
    if( s->number ) s->other_number[to] = s->number[i];
    memcpy(s->other_value+to*width, s->value+i*width, width);
  }
  swap = s->cell; s->cell = s->other_cell; s->other_cell = swap;
  swap = s->number; s->number = s->other_number; s->other_number = swap;
  swap = s->value; s->value = s->other_value; s->other_value = swap;
}

int zt_sorted_fail_add(const zt_tensor *t, zt_error *err){
  if( t->object->rules & ZT_RULE_CELLS_UNIQUE ){
    return zt_break(err, "L10", "two stored elements lie in one cell");
  }
  return zt_fail(err, SQLITE_ERROR, "the sum of the values of one cell does not fit %s",
                 t->dtype->name);
}

static int sorted_add(zt_sorted *s, zt_error *err){
  const zt_tensor *t = s->tensor;
  unsigned width = t->dtype->width;
  size_t k = 0;
  for(size_t i=1; i<s->n; i++){
    if( s->cell[i]!=s->cell[k] ){
      s->cell[++k] = s->cell[i];
      memmove(s->value+k*width, s->value+i*width, width);
    }else if( (t->object->rules & ZT_RULE_CELLS_UNIQUE)
           || !zt_add(t->dtype, s->value+k*width, s->value+i*width) ){
      return zt_sorted_fail_add(t, err);
    }
  }
  if( s->n ) s->n = k+1;
  return SQLITE_OK;
}

/* Sort the gathered elements. Those of one cell stay in storage order, or become one. */
static int sorted_sort(zt_sorted *s, zt_error *err){
  uint64_t most = 0;
  for(size_t i=0; i<s->n; i++) most |= s->cell[i];
  for(unsigned shift=0; shift<64 && most>>shift; shift+=SORTED_DIGIT) sorted_by_digit(s, shift);
  return s->repeats==ZT_REPEATS_ADDED ? sorted_add(s, err) : SQLITE_OK;
}

/* Keep the smaller half, and end the pass there. Later elements of the last cell have higher
** numbers than those read so far, so comparing cells is enough. */
static int sorted_make_room(zt_sorted *s, zt_error *err){
  if( sorted_sort(s, err) || s->n<=s->capacity/2 ) return err->rc;
  s->n = s->capacity/2;
  s->to = s->cell[s->n];
  s->to_number = s->number ? s->number[s->n] : 0;
  return SQLITE_OK;
}

static bool sorted_wants(const zt_sorted *s, uint64_t cell, uint64_t number){
  if( cell>=s->to || cell<s->from ) return false;
  return cell>s->from || number>=s->from_number;
}

static int sorted_collect(zt_sorted *s, zt_error *err){
  const zt_entries *e = s->e;
  unsigned width = s->tensor->dtype->width;
  for(size_t i=0; i<e->n; i++){
    if( !sorted_wants(s, e->cell[i], e->first+i) ) continue;
    if( s->n==s->capacity ){
      if( sorted_make_room(s, err) ) return err->rc;
      if( e->cell[i]>=s->to ) continue;
    }
    s->cell[s->n] = e->cell[i];
    if( s->number ) s->number[s->n] = e->first+i;
    memcpy(s->value+s->n*width, e->value.bytes+i*width, width);
    s->n++;
  }
  return SQLITE_OK;
}

/* Gather the smallest elements that were not returned yet. */
static int sorted_gather(zt_sorted *s, zt_error *err){
  zt_tensor *t = s->tensor;
  s->n = s->given = 0;
  s->from = s->to;
  s->from_number = s->to_number;
  s->to = s->end;
  if( t->layout->seek(t, s->first, s->end-s->first, err) ) return err->rc;
  do{
    if( t->layout->next(t, s->e, err) || zt_tensor_poll(t, s->e->n, err) ) return err->rc;
    if( sorted_collect(s, err) ) return err->rc;
  }while( s->e->n );
  return sorted_sort(s, err);
}

int zt_sorted_open(zt_tensor *t, uint64_t first, uint64_t n, zt_repeats repeats, zt_entries *e,
                   zt_sorted **out, zt_error *err){
  zt_sorted *s = *out = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  *s = (zt_sorted){ .tensor = t, .e = e, .repeats = repeats, .first = first, .end = first+n,
                    .to = first };
  if( sorted_look(s, err) ) return err->rc;
  e->n = 0;
  return s->in_order ? t->layout->seek(t, first, n, err) : sorted_allocate(s, err);
}

int zt_sorted_next(zt_sorted *s, zt_error *err){
  zt_tensor *t = s->tensor;
  unsigned width = t->dtype->width;
  size_t n;
  if( s->in_order ){
    if( t->layout->next(t, s->e, err) || zt_tensor_poll(t, s->e->n, err) ) return err->rc;
    if( sorted_ascend(s, &s->least) ) return SQLITE_OK;
    return zt_fail(err, SQLITE_ERROR, "its indices were written to while they were read");
  }
  if( s->given==s->n && s->to<s->end && sorted_gather(s, err) ) return err->rc;
  n = s->n-s->given<ZT_ENTRIES ? s->n-s->given : ZT_ENTRIES;
  memcpy(s->e->cell, s->cell+s->given, n*sizeof(*s->cell));
  memcpy(s->e->value.bytes, s->value+s->given*width, n*width);
  s->e->n = n;
  s->given += n;
  return SQLITE_OK;
}

uint64_t zt_sorted_number(const zt_sorted *s, size_t i){
  return s->in_order ? s->e->first+i : s->number[s->given-s->e->n+i];
}
