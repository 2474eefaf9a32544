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
#define HISTOGRAM_TABLE_BINS "64"   /* By default */

typedef struct histogram_table_row {
  zt_histogram all;
  uint32_t bin;                /* The current one */
} histogram_table_row;

static void histogram_table_clear(zt_scan *scan){
  histogram_table_row *r = scan->row;
  zt_histogram_clear(&r->all);
  *r = (histogram_table_row){ 0 };
}

/* Return the number that the argument states, by decimal digits, with ".0" behind them if it is a
** REAL; 0 if it states none. */
static uint32_t histogram_table_bins(const char *text){
  const size_t digits = strspn(text, "0123456789");
  if( digits==0 || digits>5 || (text[digits] && strcmp(text+digits, ".0")!=0) ) return 0;
  return (uint32_t)strtoul(text, NULL, 10);
}

static int histogram_table_check(int i, const char *value, zt_error *err){
  const uint32_t bins = i==HISTOGRAM_ARGUMENT_BINS ? histogram_table_bins(value) : 1;
  if( bins>=1 && bins<=ZT_HISTOGRAM_MAX ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "bins must be an integer from 1 to %d, not '%s'",
                 ZT_HISTOGRAM_MAX, value);
}

static bool histogram_table_open(zt_scan *scan){
  histogram_table_row *r = scan->row;
  const zt_object *object = zt_scan_object(scan);
  zt_budget budget = zt_connection_budget(scan->connection);
  const char *text = scan->argument[HISTOGRAM_ARGUMENT_BINS];
  const uint32_t bins = histogram_table_bins(text ? text : HISTOGRAM_TABLE_BINS);
  zt_tensor t = { 0 };
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
  .defaults = { NULL, HISTOGRAM_TABLE_BINS },
  .integers = 1u<<HISTOGRAM_ARGUMENT_BINS,
  .check = histogram_table_check,
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
