/*
** zt_stats(source, on_error): one row per object: statistics over its logical values. Implicit
** zeros of sparse objects count.
**
**   path, object
**   elements         number of elements of the dense form; unstored elements of a sparse tensor
**                    count as zero
**   zeros, nans, infs
**                    counts
**   min, max         INTEGER or REAL; these and the following columns cover finite values only, and
**                    are NULL if there are none
**   mean, std, l2    std is that of the population; l2 is the norm, the root of the sum of squares
**   error            the reason why the values cannot be read; the other columns except elements
**                    are then NULL
**
** The values are read when a column that needs them is selected.
*/
#include "sqlite/tables.h"
#include "tensor/stats.h"

#define STATS_TABLE_LARGE ((uint64_t)1 << 24)   /* Minimum elements of a large tensor */

enum {
  STATS_TABLE_PATH, STATS_TABLE_OBJECT, STATS_TABLE_ELEMENTS, STATS_TABLE_ZEROS, STATS_TABLE_NANS,
  STATS_TABLE_INFS, STATS_TABLE_MIN, STATS_TABLE_MAX, STATS_TABLE_MEAN, STATS_TABLE_STD,
  STATS_TABLE_L2, STATS_TABLE_ERROR, STATS_TABLE_COUNT
};

/* The statistics of an object, or the reason why there are none. */
typedef struct stats_table_work {
  zt_work work;                /* First */
  zt_error err;
  zt_stats stats;
} stats_table_work;

static void stats_table_do(zt_work *work){
  stats_table_work *w = (stats_table_work*)work;
  zt_object object;
  zt_tensor t;
  w->err = work->place;
  zt_container_object(work->container, work->object, &object);
  if( !zt_tensor_open(work->source, work->container, &object, &work->budget, &t, &w->err) ){
    zt_stats_compute(&t, &w->stats, &w->err);
  }
  work->job.unavailable = w->err.kind!=NULL;
  zt_tensor_close(&t);
}

static void stats_table_clear(zt_work *work){
  zt_error_clear(&((stats_table_work*)work)->err);
}

/* A large tensor is not prefetched: threads share its ranges when a column needs it. */
static bool stats_table_prefetch(const zt_container *container, uint32_t i){
  zt_object object;
  zt_container_object(container, i, &object);
  return object.elements<STATS_TABLE_LARGE;
}

static void stats_table_value_column(zt_scan *scan, sqlite3_context *ctx, int i){
  zt_error err = ZT_ERROR_NONE;
  const stats_table_work *w = (const stats_table_work*)zt_scan_work(scan, 0, &err);
  const zt_stats *s;
  if( zt_result_ends(ctx, w ? w->err.rc : err.rc) || !w ) return;
  if( i==STATS_TABLE_ERROR && w->err.rc ){
    sqlite3_result_text(ctx, w->err.message, -1, SQLITE_TRANSIENT);
  }
  if( w->err.rc || i==STATS_TABLE_ERROR ) return;
  s = &w->stats;
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
  .column = stats_table_column,
  .work_size = sizeof(stats_table_work),
  .work = stats_table_do,
  .work_clear = stats_table_clear,
  .prefetch = stats_table_prefetch,
};
