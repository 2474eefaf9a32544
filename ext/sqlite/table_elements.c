/*
** zt_elements(source, object, on_error): one row per element of a dense object, or per stored
** element of a sparse object. Rows come in storage order, or in the order of positions if a query
** asks for it.
**
**   path
**   position         index in the dense form, row-major, from 0
**   coords           the same index for each dimension, a JSON array
**   value            INTEGER or REAL; NaN is NULL; booleans are 0 and 1; complex numbers are JSON
**                    `[re, im]`; u64 above 2^63-1 is TEXT
**
** coords are made when they are selected. Values of dense objects are read when they are selected.
** The indices of sparse objects are always read: they decide which rows there are.
*/
#include "sqlite/tables.h"
#include "tensor/assemble.h"
#include "tensor/sorted.h"

enum { ELEMENTS_PATH, ELEMENTS_POSITION, ELEMENTS_COORDS, ELEMENTS_VALUE, ELEMENTS_COUNT };

#define ELEMENTS_WINDOW ((uint64_t)16 << 10)   /* Elements that are read at once */
#define ELEMENTS_BACKWARD ((uint64_t)1 << 20)  /* The limit for backward reads, each twice as large
                                               ** as the one before: some encodings must be read
                                               ** from their beginning each time */

typedef struct elements_row {
  zt_budget budget;
  zt_tensor tensor;
  uint64_t position;           /* Dense: the current element */
  uint64_t last;               /* Dense: the last wanted one, in the query's order */
  uint64_t from, until;        /* Dense: the window's elements: from <= position < until */
  uint64_t fit;                /* Dense: elements that are read at once, at most: few after a
                               ** failure */
  uint8_t *window;             /* Dense, owned */
  size_t i;                    /* Sparse: index in entries */
  zt_entries *entries;         /* Sparse, owned */
  zt_sorted *sorted;           /* Sparse, owned: source of entries if positions must ascend */
} elements_row;

static void elements_clear(zt_scan *scan){
  elements_row *r = scan->row;
  zt_sorted_close(r->sorted);
  zt_tensor_close(&r->tensor);
  sqlite3_free(r->window);
  sqlite3_free(r->entries);
  *r = (elements_row){ 0 };
}

/* Go before the first stored element of a range, in storage order or in order of positions. With
** 'skip', a tensor that cannot be read to the end has no rows, rather than some of them. */
static int elements_begin(zt_scan *scan, uint64_t first, uint64_t n){
  elements_row *r = scan->row;
  zt_tensor *t = &r->tensor;
  zt_sorted_close(r->sorted);
  r->sorted = NULL;
  r->i = r->entries->n = 0;
  if( !scan->ascending ){
    if( scan->skip && zt_sparse_look(t, first, n, r->entries, scan->err) ) return scan->err->rc;
    return t->layout->seek(t, first, n, scan->err);
  }
  return zt_sorted_open(t, first, n, ZT_REPEATS_KEPT, r->entries, &r->sorted, scan->err);
}

static int elements_load(zt_scan *scan){
  elements_row *r = scan->row;
  if( r->sorted ) return zt_sorted_next(r->sorted, scan->err);
  return r->tensor.layout->next(&r->tensor, r->entries, scan->err);
}

/* Go to the next wanted stored element, which may be the current one. */
static bool elements_find(zt_scan *scan){
  elements_row *r = scan->row;
  for(;;){
    for(; r->i<r->entries->n; r->i++){
      uint64_t cell = r->entries->cell[r->i];
      if( cell>=scan->range.first && cell<=scan->range.last ) return true;
    }
    r->i = 0;
    if( elements_load(scan) || r->entries->n==0 ) return false;
  }
}

static bool elements_first_stored(zt_scan *scan){
  elements_row *r = scan->row;
  uint64_t first = scan->range.first, elements = r->tensor.object->elements, n;
  if( first>scan->range.last || (first>=elements && first>0) ) return false;
  n = elements-first;
  if( n>1 && scan->range.last-first<n-1 ) n = scan->range.last-first+1;
  if( !r->entries ) r->entries = sqlite3_malloc64(sizeof(*r->entries));
  if( !r->entries ){
    zt_fail_nomem(scan->err);
    return false;
  }
  return elements_begin(scan, first, n)==SQLITE_OK && elements_find(scan);
}

static bool elements_first_dense(zt_scan *scan){
  elements_row *r = scan->row;
  uint64_t elements = r->tensor.object->elements, low = scan->range.first, high = scan->range.last;
  /* The stored bytes of an empty tensor are checked, too */
  if( elements==0 ) zt_tensor_read(&r->tensor, 0, 0, NULL, scan->err);
  if( low>high || low>=elements ) return false;
  if( high>=elements ) high = elements-1;
  r->position = scan->descending ? high : low;
  r->last = scan->descending ? low : high;
  return true;
}

static bool elements_next_dense(const zt_scan *scan){
  elements_row *r = scan->row;
  if( r->position==r->last ) return false;
  if( scan->descending ) r->position--;
  else r->position++;
  return true;
}

static bool elements_open(zt_scan *scan){
  elements_row *r = scan->row;
  const zt_object *object = zt_scan_object(scan);
  *r = (elements_row){
    .budget = zt_connection_budget(scan->connection), .fit = UINT64_MAX
  };
  scan->err->object = object->name;
  return zt_tensor_open(scan->source, scan->container, object, &r->budget, &r->tensor,
                        scan->err)==SQLITE_OK;
}

static bool elements_first(zt_scan *scan){
  elements_row *r = scan->row;
  r->budget = zt_connection_budget(scan->connection);
  scan->err->object = r->tensor.object->name;
  if( !zt_tensor_is_sparse(&r->tensor) ) return elements_first_dense(scan);
  scan->unordered = scan->descending;
  return elements_first_stored(scan);
}

static bool elements_next(zt_scan *scan){
  elements_row *r = scan->row;
  if( !r->entries ) return elements_next_dense(scan);
  r->budget = zt_connection_budget(scan->connection);
  r->i++;
  scan->err->object = r->tensor.object->name;
  return elements_find(scan);
}

/* Elements of a dense object are skipped by arithmetic. Stored elements of a sparse object must be
** visited. */
static uint64_t elements_skip(zt_scan *scan, uint64_t n){
  elements_row *r = scan->row;
  uint64_t remaining = scan->descending ? r->position-r->last : r->last-r->position;
  if( r->entries ) return 0;
  if( n>remaining ) n = remaining;
  if( scan->descending ) r->position -= n;
  else r->position += n;
  return n;
}

static uint64_t elements_position(const elements_row *r){
  return r->entries ? r->entries->cell[r->i] : r->position;
}

static uint64_t elements_rowid(zt_scan *scan){
  const elements_row *r = scan->row;
  if( !r->entries ) return r->position;
  return r->sorted ? zt_sorted_number(r->sorted, r->i) : r->entries->first+r->i;
}

/* Return the number of elements to read from the current one on. A query that read the last window
** will probably read the next one. */
static uint64_t elements_ahead(const zt_scan *scan){
  const elements_row *r = scan->row;
  uint64_t passed = scan->descending ? r->from-r->position : r->position-r->until;
  uint64_t remaining = scan->descending ? r->position-r->last : r->last-r->position,
      n = ELEMENTS_WINDOW;
  if( r->until==0 || passed>ELEMENTS_WINDOW ) return 1;
  if( scan->descending && n<2*(r->until-r->from) ) n = 2*(r->until-r->from);
  if( n>ELEMENTS_BACKWARD ) n = ELEMENTS_BACKWARD;
  return n<=remaining ? n : remaining+1;
}

/* Read n elements of a dense object into the window, from the current one on in the query's
** order. With 'skip', read fewer if that fails, so that an element without a value does not take
** those of the elements before it. */
static int elements_read(zt_scan *scan, uint64_t n, zt_error *err){
  elements_row *r = scan->row;
  uint64_t from;
  r->from = r->until = 0;
  for(;;){
    if( n>r->fit ) n = r->fit;
    from = scan->descending ? r->position+1-n : r->position;
    if( zt_tensor_read(&r->tensor, from, (size_t)n, r->window, err)==SQLITE_OK ) break;
    r->fit = n>1 ? n/2 : 1;
    if( n==1 || !scan->skip || err->rc!=SQLITE_ERROR ) return err->rc;
    zt_error_clear(err);
    *err = zt_scan_error(scan);
  }
  if( r->fit<=UINT64_MAX/2 ) r->fit *= 2;
  r->from = from;
  r->until = from+n;
  return SQLITE_OK;
}

/* Return the current element of a dense object, through the window. */
static const void *elements_own_load(zt_scan *scan, zt_error *err){
  elements_row *r = scan->row;
  unsigned width = r->tensor.dtype->width;
  if( r->position<r->from || r->position>=r->until ){
    const uint64_t n = elements_ahead(scan);
    const uint64_t room = scan->descending ? ELEMENTS_BACKWARD : ELEMENTS_WINDOW;
    r->budget = zt_connection_budget(scan->connection);
    if( !r->window ) r->window = sqlite3_malloc64(room*width);
    if( !r->window ) zt_fail_nomem(err);
    if( err->rc || elements_read(scan, n, err) ) return NULL;
  }
  return r->window + (r->position-r->from)*width;
}

static void elements_value_column(zt_scan *scan, sqlite3_context *ctx){
  const elements_row *r = scan->row;
  zt_error err = zt_scan_error(scan);
  const void *element;
  if( r->entries ) element = r->entries->value.bytes + r->i*r->tensor.dtype->width;
  else element = elements_own_load(scan, &err);
  if( err.rc ) zt_scan_fail(scan, ctx, &err);
  else zt_result_scalar(ctx, zt_scalar_of(r->tensor.dtype, element));
}

static void elements_coords_column(zt_scan *scan, sqlite3_context *ctx){
  sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  zt_json_coords(json, zt_scan_object(scan), elements_position(scan->row));
  zt_result_json(ctx, json);
}

static void elements_column(zt_scan *scan, sqlite3_context *ctx, int i){
  switch( i ){
    case ELEMENTS_POSITION: zt_result_uint(ctx, elements_position(scan->row)); break;
    case ELEMENTS_COORDS:   elements_coords_column(scan, ctx); break;
    default:                elements_value_column(scan, ctx); break;
  }
}

const zt_table zt_table_elements = {
  .name = "zt_elements",
  .visible = "path TEXT, position INTEGER, coords TEXT, value",
  .nVisible = ELEMENTS_COUNT,
  .arguments = { "object", "on_error" },
  .rows = ZT_ROWS_OF_OBJECTS,
  .iPath = ELEMENTS_PATH,
  .iObject = -1,
  .iPosition = ELEMENTS_POSITION,
  .bytes = 1u<<ELEMENTS_VALUE,
  .rows_read = true,
  .row_size = sizeof(elements_row),
  .open = elements_open,
  .first = elements_first,
  .next = elements_next,
  .skip = elements_skip,
  .clear = elements_clear,
  .rowid = elements_rowid,
  .column = elements_column,
};
