/*
** zt_rows(source, object, dtype, on_error): one row per index of the first dimension.
**
**   path
**   row              from 0
**   vector           that slice, row-major little-endian, as `dtype` (default `f32`)
**
** vector is made when it is selected. If the component is raw and dense, only the vector's bytes
** are read. Rows of any other component are read forward.
*/
#include "sqlite/tables.h"
#include "tensor/assemble.h"

enum { ROWS_PATH, ROWS_ROW, ROWS_VECTOR, ROWS_COUNT };
enum { ROWS_ARGUMENT_OBJECT, ROWS_ARGUMENT_DTYPE };

#define ROWS_DTYPE "f32"   /* By default */
#define ROWS_TOGETHER ((uint64_t)1 << 20)   /* Bytes of small rows that are read at once */

typedef struct rows_row {
  zt_budget budget;
  zt_tensor tensor;
  const zt_dtype *as;
  uint64_t row, last;          /* The current row, and the last wanted one in the query's
                               ** order */
  uint64_t elements;           /* Elements per row */
  uint64_t expected;           /* The row after the last row read; 0: none was read */
  uint64_t fit;                /* Rows that are read together, at most: few after a failure */
  zt_buffer window;            /* Rows that were read together, converted */
  uint64_t from, until;        /* Rows of the window: from <= row < until */
  bool looked;                 /* A sparse tensor was found to be readable */
} rows_row;

static void rows_clear(zt_scan *scan){
  rows_row *r = scan->row;
  zt_tensor_close(&r->tensor);
  zt_buffer_clear(&r->window);
  *r = (rows_row){ 0 };
}

static bool rows_open(zt_scan *scan){
  rows_row *r = scan->row;
  const zt_object *object = zt_scan_object(scan);
  const char *given = scan->argument[ROWS_ARGUMENT_DTYPE], *dtype = given ? given : ROWS_DTYPE;
  *r = (rows_row){
    .budget = zt_connection_budget(scan->connection),
    .fit = UINT64_MAX
  };
  if( zt_dtype_find((zt_text){ dtype, strlen(dtype) }, &r->as, scan->err) ) return false;
  scan->err->object = object->name;
  if( object->rank==0 && !object->unshaped ){
    return zt_fail(scan->err, SQLITE_ERROR, "a scalar has no rows")==SQLITE_OK;
  }
  if( object->rank>0 && object->shape[0] ) r->elements = object->elements/object->shape[0];
  return zt_tensor_open(scan->source, scan->container, object, &r->budget, &r->tensor,
                        scan->err)==SQLITE_OK;
}

/* With 'skip', a sparse tensor that cannot be read to the end has no rows. One of no rows is read,
** too: what is wrong with it shows in none. */
static bool rows_can_be_read(zt_scan *scan){
  rows_row *r = scan->row;
  zt_entries *entries;
  bool sound = false;
  if( r->looked || !zt_tensor_is_sparse(&r->tensor) ) return true;
  if( !scan->skip && zt_scan_object(scan)->shape[0]>0 ) return true;
  entries = sqlite3_malloc64(sizeof(*entries));
  r->budget = zt_connection_budget(scan->connection);
  scan->err->object = r->tensor.object->name;
  if( !entries ) zt_fail_nomem(scan->err);
  else sound = zt_sparse_look(&r->tensor, 0, r->tensor.object->elements, entries, scan->err)==0;
  sqlite3_free(entries);
  r->looked = sound;
  return sound;
}

static bool rows_first(zt_scan *scan){
  rows_row *r = scan->row;
  uint64_t n = zt_scan_object(scan)->shape[0], low = scan->range.first, high = scan->range.last;
  if( low>high || (low>=n && n>0) || !rows_can_be_read(scan) || n==0 ) return false;
  if( high>=n ) high = n-1;
  r->row = scan->descending ? high : low;
  r->last = scan->descending ? low : high;
  return true;
}

static bool rows_next(zt_scan *scan){
  rows_row *r = scan->row;
  if( r->row==r->last ) return false;
  if( scan->descending ) r->row--;
  else r->row++;
  return true;
}

static uint64_t rows_skip(zt_scan *scan, uint64_t n){
  rows_row *r = scan->row;
  uint64_t remaining = scan->descending ? r->row-r->last : r->last-r->row;
  if( n>remaining ) n = remaining;
  if( scan->descending ) r->row -= n;
  else r->row += n;
  return n;
}

static uint64_t rows_rowid(zt_scan *scan){
  return ((rows_row*)scan->row)->row;
}

/* Return the number of rows of `size` bytes to read at once, from the current one on: one, or
** several small ones if the query reads them in turn. */
static uint64_t rows_together(const zt_scan *scan, uint64_t size){
  const rows_row *r = scan->row;
  uint64_t n = 1, remaining = scan->descending ? 1 : r->last-r->row+1, most = size
      ? ROWS_TOGETHER/size
             : 1;
  bool in_turn = r->expected>0 && r->row-r->expected<most;
  /* A row must not begin within a byte */
  bool apart = r->elements%r->as->elements!=0;
  if( size==0 || apart ) return 1;
  if( zt_tensor_is_sparse(&r->tensor) ) n = zt_tensor_window(&r->tensor)/r->elements;
  else if( in_turn ) n = most;
  if( n>r->budget.result/size ) n = r->budget.result/size;
  return n<1 ? 1 : n<remaining ? n : remaining;
}

/* Read *n rows from the current one on. With 'skip', read fewer if that fails, so that a row
** without a vector does not take those of the rows before it. */
static int rows_load(zt_scan *scan, uint64_t size, uint64_t *n, zt_buffer *out, zt_error *err){
  rows_row *r = scan->row;
  *n = rows_together(scan, size);
  if( *n>r->fit ) *n = r->fit;
  while( zt_assemble(&r->tensor, r->as, r->row*r->elements, *n*r->elements, out, err) ){
    const bool last = *n==1 || !scan->skip || err->rc!=SQLITE_ERROR;
    r->fit = *n = *n>1 ? *n/2 : 1;
    if( last ) return err->rc;
    zt_error_clear(err);
    *err = zt_scan_error(scan);
  }
  if( r->fit<=UINT64_MAX/2 ) r->fit *= 2;
  return SQLITE_OK;
}

static void rows_vector_column(zt_scan *scan, sqlite3_context *ctx){
  rows_row *r = scan->row;
  zt_error err = zt_scan_error(scan);
  uint64_t n, size = 0;
  zt_buffer vectors;
  zt_dtype_size(r->as, r->elements, &size);
  if( r->row>=r->from && r->row<r->until ){
    sqlite3_result_blob64(ctx, r->window.p + (r->row-r->from)*size, size, SQLITE_TRANSIENT);
    return;
  }
  r->budget = zt_connection_budget(scan->connection);
  zt_buffer_clear(&r->window);
  r->from = r->until = 0;
  if( rows_load(scan, size, &n, &vectors, &err) ){
    zt_scan_fail(scan, ctx, &err);
    return;
  }
  r->expected = r->row+n;
  if( n==1 && (size==0 || size>=ROWS_TOGETHER) ){
    zt_result_buffer(ctx, &vectors);
  }else{
    r->window = vectors;
    r->from = r->row;
    r->until = r->expected;
    sqlite3_result_blob64(ctx, vectors.p, size, SQLITE_TRANSIENT);
  }
}

static void rows_column(zt_scan *scan, sqlite3_context *ctx, int i){
  switch( i ){
    case ROWS_ROW:  zt_result_uint(ctx, ((rows_row*)scan->row)->row); break;
    default:        rows_vector_column(scan, ctx); break;
  }
}

const zt_table zt_table_rows = {
  .name = "zt_rows",
  .visible = "path TEXT, row INTEGER, vector BLOB",
  .nVisible = ROWS_COUNT,
  .arguments = { "object", "dtype", "on_error" },
  .defaults = { NULL, ROWS_DTYPE },
  .rows = ZT_ROWS_OF_OBJECTS,
  .iPath = ROWS_PATH,
  .iObject = -1,
  .iPosition = ROWS_ROW,
  .backward = true,
  .bytes = 1u<<ROWS_VECTOR,
  .rows_read = true,
  .row_size = sizeof(rows_row),
  .open = rows_open,
  .first = rows_first,
  .next = rows_next,
  .skip = rows_skip,
  .clear = rows_clear,
  .rowid = rows_rowid,
  .column = rows_column,
};
