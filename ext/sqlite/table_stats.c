/*
** zt_stats(source, on_error): one row per object, statistics over its logical values: implicit
** zeros of sparse objects count.
**
**   CREATE TABLE zt_stats(path, object, elements, zeros, nans, infs, min, max, mean, std, l2,
**                         error, source HIDDEN, on_error HIDDEN);
**
** min to l2 are over the finite values, NULL if there are none; std is the population's. An object
** that cannot be interpreted has NULLs and the reason in `error`. The values are read when one of
** these columns is selected.
*/
#include "sqlite/tables.h"
#include "tensor/stats.h"

enum {
  STATS_TABLE_PATH, STATS_TABLE_OBJECT, STATS_TABLE_ELEMENTS, STATS_TABLE_ZEROS, STATS_TABLE_NANS,
  STATS_TABLE_INFS, STATS_TABLE_MIN, STATS_TABLE_MAX, STATS_TABLE_MEAN, STATS_TABLE_STD,
  STATS_TABLE_L2, STATS_TABLE_ERROR, STATS_TABLE_COUNT
};

typedef struct stats_table_row {
  bool done;                   /* What follows is the current object's: */
  zt_error err;                /* Why there are no statistics */
  zt_stats stats;
} stats_table_row;

static bool stats_table_first(zt_scan *scan){
  stats_table_row *r = scan->row;
  r->done = false;
  return true;
}

static void stats_table_clear(zt_scan *scan){
  stats_table_row *r = scan->row;
  zt_error_clear(&r->err);
  r->done = false;
}

/* The current object's statistics, or why there are none. */
static const stats_table_row *stats_table_compute(zt_scan *scan){
  stats_table_row *r = scan->row;
  zt_budget budget = zt_connection_budget(scan->connection);
  zt_tensor t;
  if( r->done ) return r;
  zt_error_clear(&r->err);
  r->err = zt_scan_error(scan);
  r->done = true;
  if( zt_tensor_open(scan->source, scan->container, zt_scan_object(scan), &budget, &t,
                     &r->err)==SQLITE_OK ){
    zt_stats_compute(&t, &r->stats, &r->err);
  }
  zt_tensor_close(&t);
  return r;
}

/* Being out of memory or interrupted is no property of the object, and ends the query. */
static bool stats_table_ends_query(int rc){
  return rc==SQLITE_NOMEM || rc==SQLITE_INTERRUPT;
}

static void stats_table_value_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const stats_table_row *r = stats_table_compute(scan);
  const zt_stats *s = &r->stats;
  if( stats_table_ends_query(r->err.rc) ){
    if( r->err.rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(ctx);
    else sqlite3_result_error_code(ctx, r->err.rc);
    return;
  }
  if( i==STATS_TABLE_ERROR && r->err.rc ){
    sqlite3_result_text(ctx, r->err.message, -1, SQLITE_TRANSIENT);
  }
  if( r->err.rc || i==STATS_TABLE_ERROR ) return;
  switch( i ){
    case STATS_TABLE_ZEROS: zt_result_uint(ctx, s->zeros); return;
    case STATS_TABLE_NANS:  zt_result_uint(ctx, s->nans); return;
    case STATS_TABLE_INFS:  zt_result_uint(ctx, s->infs); return;
    default: break;
  }
  if( s->finite==0 ) return;
  switch( i ){
    case STATS_TABLE_MIN:  zt_result_scalar(ctx, s->min); break;
    case STATS_TABLE_MAX:  zt_result_scalar(ctx, s->max); break;
    case STATS_TABLE_MEAN: sqlite3_result_double(ctx, s->mean); break;
    case STATS_TABLE_STD:  sqlite3_result_double(ctx, s->std); break;
    case STATS_TABLE_L2:   sqlite3_result_double(ctx, s->l2); break;
    default: break;
  }
}

static void stats_table_column(zt_scan *scan, sqlite3_context *ctx, int i){
  switch( i ){
    case STATS_TABLE_PATH:
      if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT);
      break;
    case STATS_TABLE_OBJECT:
      zt_result_text(ctx, zt_container_name(scan->container, scan->object));
      break;
    case STATS_TABLE_ELEMENTS:
      if( !zt_scan_object(scan)->unshaped ) zt_result_uint(ctx, zt_scan_object(scan)->elements);
      break;
    default:                   stats_table_value_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_stats = {
  .name = "zt_stats",
  .visible = "path TEXT, object TEXT, elements INTEGER, zeros INTEGER, nans INTEGER,"
             " infs INTEGER, min, max, mean REAL, std REAL, l2 REAL, error TEXT",
  .nVisible = STATS_TABLE_COUNT,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OBJECTS,
  .iPath = STATS_TABLE_PATH,
  .iObject = STATS_TABLE_OBJECT,
  .bytes = (1u<<STATS_TABLE_COUNT)-(1u<<STATS_TABLE_ZEROS),
  .row_size = sizeof(stats_table_row),
  .first = stats_table_first,
  .clear = stats_table_clear,
  .column = stats_table_column,
};
