/* Stored elements and their dense form. See sparse.h. */
#include "tensor/sparse.h"

#include <assert.h>
#include "core/host.h"
#include "tensor/sorted.h"

/* A range of the dense form to fill. */
typedef struct sparse_scatter {
  zt_tensor *tensor;
  uint64_t first;
  size_t n;
  uint8_t *out;
  uint8_t *seen;           /* A bit for each cell with a value; NULL while cells ascend */
} sparse_scatter;

/* True if the cells, at least one, ascend strictly. *last is the previous cell, or UINT64_MAX at
** first. */
static bool sparse_ascend(const zt_entries *e, uint64_t *last){
  uint64_t before = *last;
  bool ok = before==UINT64_MAX || e->cell[0]>before;
  for(size_t i=1; i<e->n; i++) ok &= e->cell[i]>e->cell[i-1];
  *last = e->cell[e->n-1];
  return ok;
}

#define SPARSE_DISTANCE 16 /* Entries that are prefetched */

#if defined(__GNUC__)
# define SPARSE_PREFETCH(p) __builtin_prefetch((p), 1)
#else
# define SPARSE_PREFETCH(p) ((void)(p))
#endif

/* Put a value into a cell, or add it to the cell's value. */
ZT_INLINE bool sparse_add_value(const sparse_scatter *s, uint64_t cell, const void *value,
                                size_t width){
  uint8_t *out = s->out + cell*width, bit = (uint8_t)(1u << cell%8);
  if( s->seen[cell/8] & bit ){
    return !(s->tensor->object->rules & ZT_RULE_CELLS_UNIQUE)
        && zt_add(s->tensor->dtype, out, value);
  }
  s->seen[cell/8] |= bit;
  memcpy(out, value, width);
  return true;
}

/* Put or add a piece's entries, with a width that the compiler knows. False if values cannot be
** added. */
ZT_INLINE bool sparse_put_values(const sparse_scatter *s, const zt_entries *e, size_t width){
  const uint8_t *value = e->value.bytes;
  for(size_t i=0; i<e->n; i++){
    uint64_t cell = e->cell[i]-s->first;
    if( cell<s->n ) memcpy(s->out + cell*width, value + i*width, width);
  }
  return true;
}

ZT_INLINE bool sparse_add_values(const sparse_scatter *s, const zt_entries *e, size_t width){
  const uint8_t *value = e->value.bytes;
  for(size_t i=0; i<e->n; i++){
    uint64_t cell = e->cell[i]-s->first, later = i+SPARSE_DISTANCE<e->n
                  ? e->cell[i+SPARSE_DISTANCE]-s->first : 0;
    if( later<s->n ){
      SPARSE_PREFETCH(s->seen + later/8);
      SPARSE_PREFETCH(s->out + later*width);
    }
    if( cell<s->n && !sparse_add_value(s, cell, value + i*width, width) ) return false;
  }
  return true;
}

#define SPARSE_FOR_WIDTH(f) \
  static bool f##_entries(const sparse_scatter *s, const zt_entries *e){ \
    switch( s->tensor->dtype->width ){ \
      case 1: return f##_values(s, e, 1); \
      case 2: return f##_values(s, e, 2); \
      case 4: return f##_values(s, e, 4); \
      case 8: return f##_values(s, e, 8); \
      default: return f##_values(s, e, 16); \
    } \
  }

SPARSE_FOR_WIDTH(sparse_put)
SPARSE_FOR_WIDTH(sparse_add)

/* Go through the stored elements. False without an error if they are not in ascending order. */
static bool sparse_fill(sparse_scatter *s, zt_entries *e, zt_error *err){
  uint64_t last = UINT64_MAX;
  zt_tensor *t = s->tensor;
  if( t->layout->seek(t, s->first, s->n, err) ) return false;
  for(;;){
    if( t->layout->next(t, e, err) ) return false;
    if( e->n==0 ) return true;
    if( !s->seen && !sparse_ascend(e, &last) ) return false;
    if( !(s->seen ? sparse_add_entries(s, e) : sparse_put_entries(s, e)) ){
      zt_sorted_fail_add(t, err);
      return false;
    }
  }
}

int zt_sparse_look(zt_tensor *t, uint64_t first, uint64_t n, zt_entries *entries, zt_error *err){
  if( t->layout->seek(t, first, n, err) ) return err->rc;
  do{
    if( t->layout->next(t, entries, err) || zt_tensor_poll(t, entries->n, err) ) return err->rc;
  }while( entries->n );
  return SQLITE_OK;
}

int zt_sparse_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  if( n ) memset(out, 0, n*t->dtype->width);
  return zt_sparse_fill(t, first, n, out, err);
}

/* If the cells turn out not to ascend, they are all filled again. */
int zt_sparse_fill(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  sparse_scatter s = { .tensor = t, .first = first, .n = n, .out = out };
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  if( !sparse_fill(&s, e, err) && !err->rc ){
    s.seen = sqlite3_malloc64(n/8+1);
    if( !s.seen ){
      zt_fail_nomem(err);
    }else{
      zt_os_advise_large(s.seen, n/8+1);
      memset(s.seen, 0, n/8+1);
      sparse_fill(&s, e, err);
    }
  }
  sqlite3_free(s.seen);
  sqlite3_free(e);
  return err->rc;
}

int zt_sparse_cells(zt_tensor *t, void (*take)(void *context, const void *values, size_t n),
                    void *context, zt_error *err){
  zt_sorted *s = NULL;
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  if( zt_sorted_open(t, 0, t->object->elements, ZT_REPEATS_ADDED, e, &s, err) ) goto end;
  while( zt_sorted_next(s, err)==SQLITE_OK && e->n ) take(context, &e->value, e->n);
end:
  zt_sorted_close(s);
  sqlite3_free(e);
  return err->rc;
}

/* One of two tensors whose cells are gone through together. */
typedef struct sparse_side {
  zt_tensor *tensor;
  zt_sorted *sorted;                               /* Owned */
  uint64_t cell;                                   /* The next one; UINT64_MAX: none is left */
  size_t at;                                       /* Its entry */
  zt_entries entries;
  ZT_NUMBERS(ZT_ENTRIES*ZT_ELEMENT_MAX/8) values;   /* Of cells of either tensor */
} sparse_side;

/* Go on to the next cell: that of entry `at`. */
static int sparse_side_next(sparse_side *s, zt_error *err){
  if( s->at==s->entries.n ){
    zt_tensor_enter(s->tensor, err);
    if( zt_sorted_next(s->sorted, err) ) return err->rc;
    s->at = 0;
  }
  s->cell = s->at<s->entries.n ? s->entries.cell[s->at] : UINT64_MAX;
  return SQLITE_OK;
}

static int sparse_side_open(sparse_side *s, zt_tensor *t, zt_error *err){
  s->tensor = t;
  s->at = s->entries.n = 0;
  zt_tensor_enter(t, err);
  return zt_sorted_open(t, 0, t->object->elements, ZT_REPEATS_ADDED, &s->entries, &s->sorted, err)
       ? err->rc : sparse_side_next(s, err);
}

/* Take the value of a cell as the i-th one: 0 if the side has none there. */
static int sparse_side_take(sparse_side *s, uint64_t cell, size_t i, zt_error *err){
  const size_t width = s->tensor->dtype->width;
  if( s->cell!=cell ){
    memset(s->values.bytes+i*width, 0, width);
    return SQLITE_OK;
  }
  memcpy(s->values.bytes+i*width, s->entries.value.bytes+s->at*width, width);
  s->at++;
  return sparse_side_next(s, err);
}

int zt_sparse_pairs(zt_tensor *const t[2],
                    int (*take)(void *context, const void *const elements[2], size_t n,
                                zt_error *err),
                    void *context, zt_error *err){
  sparse_side *side = sqlite3_malloc64(2*sizeof(*side));
  size_t n = 0;
  if( !side ) return zt_fail_nomem(err);
  side[0].sorted = side[1].sorted = NULL;
  for(int k=0; k<2 && !err->rc; k++) sparse_side_open(&side[k], t[k], err);
  while( !err->rc ){
    const void *const elements[2] = { &side[0].values, &side[1].values };
    const uint64_t cell = side[0].cell<side[1].cell ? side[0].cell : side[1].cell;
    if( n>0 && (n==ZT_ENTRIES || cell==UINT64_MAX) ){
      take(context, elements, n, err);
      n = 0;
      continue;
    }
    if( cell==UINT64_MAX ) break;
    for(int k=0; k<2 && !err->rc; k++) sparse_side_take(&side[k], cell, n, err);
    n++;
  }
  for(int k=0; k<2; k++) zt_sorted_close(side[k].sorted);
  sqlite3_free(side);
  return err->rc;
}

typedef struct sparse_window {
  zt_tensor *tensor;
  uint8_t *p;
  uint64_t first;          /* Its first element */
  size_t n;                /* Its room in elements */
  void (*take)(void *context, void *elements, size_t n);
  void *context;
} sparse_window;

/* Give the window to the caller, and begin the next one. */
static int sparse_give(sparse_window *w, zt_error *err){
  const uint64_t remaining = w->tensor->object->elements-w->first;
  const size_t n = remaining<w->n ? (size_t)remaining : w->n;
  w->take(w->context, w->p, n);
  memset(w->p, 0, w->n*w->tensor->dtype->width);
  w->first += n;
  return zt_tensor_poll(w->tensor, n, err);
}

static int sparse_put_in_windows(sparse_window *w, const zt_entries *e, zt_error *err){
  const unsigned width = w->tensor->dtype->width;
  for(size_t i=0; i<e->n; i++){
    while( e->cell[i]-w->first>=w->n ) if( sparse_give(w, err) ) return err->rc;
    memcpy(w->p + (e->cell[i]-w->first)*width, e->value.bytes + i*width, width);
  }
  return SQLITE_OK;
}

int zt_sparse_windows(zt_tensor *t, void *window, size_t n,
                      void (*take)(void *context, void *elements, size_t n), void *context,
                      zt_error *err){
  sparse_window w = { t, window, 0, n, take, context };
  zt_sorted *s = NULL;
  zt_entries *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  memset(window, 0, n*t->dtype->width);
  if( zt_sorted_open(t, 0, t->object->elements, ZT_REPEATS_ADDED, e, &s, err) ) goto end;
  while( zt_sorted_next(s, err)==SQLITE_OK && e->n ) if( sparse_put_in_windows(&w, e, err) ) break;
  while( !err->rc && w.first<t->object->elements ) sparse_give(&w, err);
end:
  zt_sorted_close(s);
  sqlite3_free(e);
  return err->rc;
}

/* Replace cells by their numbers in the layout's order, if it is one of columns or of blocks: line
** by line, block by block, and row-major within a block. */
static void sparse_number_cells(const zt_object *o, zt_entries *e){
  const bool columns = o->layout==ZT_LAYOUT_CSC || o->layout==ZT_LAYOUT_BSC || o->by_columns;
  const uint64_t height = o->block[0], width = o->block[1];
  if( !columns && o->layout!=ZT_LAYOUT_BSR ) return;
  for(size_t i=0; i<e->n; i++){
    const uint64_t row = e->cell[i]/o->shape[1], column = e->cell[i]%o->shape[1];
    const uint64_t y = row/height, x = column/width;
    const uint64_t block = columns ? x*(o->shape[0]/height)+y : y*(o->shape[1]/width)+x;
    e->cell[i] = block*height*width + row%height*width + column%width;
  }
}

/* Compare each cell of a piece with the previous one, first *last (UINT64_MAX: none). */
static void sparse_compare_cells(const zt_entries *e, uint64_t *last, zt_order *out){
  for(size_t i=0; i<e->n; i++){
    if( *last!=UINT64_MAX && e->cell[i]<*last && out->ascending ){
      out->ascending = false;
      out->at = e->first+i;
    }
    if( e->cell[i]==*last ) out->repeated++;
    *last = e->cell[i];
  }
}

static void sparse_count_cells(void *context, const void *values, size_t n){
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
    sparse_number_cells(t->object, e);
    sparse_compare_cells(e, &last, out);
  }while( e->n );
  if( out->ascending && out->repeated==0 ) goto end;
  if( zt_sparse_cells(t, sparse_count_cells, &cells, err)==SQLITE_OK ){
    out->repeated = t->stored-cells;
  }
end:
  sqlite3_free(e);
  return err->rc;
}
