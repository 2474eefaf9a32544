/*
** zt_histogram(source, object, bins): one row per bin: the distribution of an object's finite
** values.
**
**   bin              from 0; there are 64 bins by default, and `bins` sets another number up to
**                    65,536
**   low, high        REAL, or INTEGER for integers beyond 2^53: the bin holds values from low up
**                    to, but not including, high; the last bin includes high
**   count            number of values
**
** Bins have equal widths, from the min to the max. There is one bin if all values are equal, and
** none if no value is finite.
*/
#include "sqlite/tables.h"
#include "tensor/histogram.h"

#include <stdlib.h>

enum { HISTOGRAM_TABLE_BIN, HISTOGRAM_TABLE_LOW, HISTOGRAM_TABLE_HIGH, HISTOGRAM_TABLE_ITEMS,
       HISTOGRAM_TABLE_COUNT };
enum { HISTOGRAM_ARGUMENT_OBJECT, HISTOGRAM_ARGUMENT_BINS };

typedef struct histogram_table_row {
  zt_histogram all;
  uint32_t bin;                /* The current one */
} histogram_table_row;

static void histogram_table_clear(zt_scan *scan){
  histogram_table_row *r = scan->row;
  zt_histogram_clear(&r->all);
  *r = (histogram_table_row){ 0 };
}

/* Reads the argument: decimal digits, with ".0" behind them where it is a REAL. */
static bool histogram_table_take_bins(zt_scan *scan, uint32_t *out){
  const char *text = scan->argument[HISTOGRAM_ARGUMENT_BINS];
  unsigned long n = 0;
  size_t digits = 0;
  if( !text ) text = "64";
  digits = strspn(text, "0123456789");
  if( digits>0 && digits<=5 && (text[digits]==0 || strcmp(text+digits, ".0")==0) ){
    n = strtoul(text, NULL, 10);
  }
  *out = (uint32_t)n;
  if( n>=1 && n<=ZT_HISTOGRAM_MAX ) return true;
  return zt_fail(scan->err, SQLITE_ERROR, "bins is '%s', and must be an integer from 1 to %d", text,
                 ZT_HISTOGRAM_MAX)==SQLITE_OK;
}

static bool histogram_table_open(zt_scan *scan){
  histogram_table_row *r = scan->row;
  const zt_object *object = zt_scan_object(scan);
  zt_budget budget = zt_connection_budget(scan->connection);
  zt_tensor t = { 0 };
  uint32_t bins;
  if( !histogram_table_take_bins(scan, &bins) ) return false;
  scan->err->object = object->name;
  if( zt_tensor_open(scan->source, scan->container, object, &budget, &t, scan->err)==SQLITE_OK ){
    zt_histogram_compute(&t, bins, &r->all, scan->err);
  }
  zt_tensor_close(&t);
  return !scan->err->rc;
}

static bool histogram_table_first(zt_scan *scan){
  histogram_table_row *r = scan->row;
  r->bin = 0;
  return r->all.bins>0;
}

static bool histogram_table_next(zt_scan *scan){
  histogram_table_row *r = scan->row;
  return ++r->bin<r->all.bins;
}

static uint64_t histogram_table_rowid(zt_scan *scan){
  return ((histogram_table_row*)scan->row)->bin;
}

static void histogram_table_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const histogram_table_row *r = scan->row;
  switch( i ){
    case HISTOGRAM_TABLE_BIN:  zt_result_uint(ctx, r->bin); break;
    case HISTOGRAM_TABLE_LOW:  zt_result_scalar(ctx, zt_histogram_edge(&r->all, r->bin)); break;
    case HISTOGRAM_TABLE_HIGH:
      zt_result_scalar(ctx, zt_histogram_edge(&r->all, r->bin+1));
      break;
    default:                   zt_result_uint(ctx, r->all.counts[r->bin]); break;
  }
}

const zt_table zt_table_histogram = {
  .name = "zt_histogram",
  .visible = "bin INTEGER, low, high, count INTEGER",
  .nVisible = HISTOGRAM_TABLE_COUNT,
  .arguments = { "object", "bins" },
  .defaults = { NULL, "64" },
  .rows = ZT_ROWS_OF_OBJECTS,
  .iPath = -1,
  .iObject = -1,
  .bytes = (1u<<HISTOGRAM_TABLE_COUNT)-1,
  .rows_read = true,
  .row_size = sizeof(histogram_table_row),
  .open = histogram_table_open,
  .first = histogram_table_first,
  .next = histogram_table_next,
  .clear = histogram_table_clear,
  .rowid = histogram_table_rowid,
  .column = histogram_table_column,
};
