/*
** zt_objects(source, on_error): one row per object (tensor), in the manifest's order.
**
**   CREATE TABLE zt_objects(path, object, format, dtype, type, shape, rank, elements, components, stored_bytes,
**                           decoded_bytes, attributes, source HIDDEN, on_error HIDDEN);
**
** dtype and type are those of the component that holds the values, NULL if there is none. Every manifest was checked as a
** whole before its first row: there are no rows of a damaged one.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"

enum {
  C_PATH, C_OBJECT, C_FORMAT, C_DTYPE, C_TYPE, C_SHAPE, C_RANK, C_ELEMENTS, C_COMPONENTS, C_STORED, C_DECODED, C_ATTRIBUTES,
  C_COUNT
};

/* Sums over the object's components. */
static void total_column(zt_scan *scan, sqlite3_context *ctx, int i){
  zt_totals t = ZT_TOTALS_NONE;
  zt_totals_add(&t, scan->container, zt_scan_object(scan));
  if( i==C_STORED && t.stored_known ) zt_result_uint(ctx, t.stored);
  else if( i==C_DECODED && t.decoded_known ) zt_result_uint(ctx, t.decoded);
}

static void column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_container *c = scan->container;
  zt_component values;
  switch( i ){
    case C_PATH:       if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT); break;
    case C_OBJECT:     zt_result_text(ctx, zt_container_name(c, scan->object)); break;
    case C_FORMAT:     zt_result_format(ctx, zt_scan_object(scan)); break;
    case C_DTYPE:      if( zt_component_values(c, scan->object, &values) ) zt_result_text(ctx, values.dtype); break;
    case C_TYPE:       if( zt_component_values(c, scan->object, &values) ) zt_result_type(ctx, &values); break;
    case C_SHAPE:      zt_result_shape(ctx, zt_scan_object(scan)); break;
    case C_RANK:       zt_result_uint(ctx, zt_scan_object(scan)->rank); break;
    case C_ELEMENTS:   zt_result_uint(ctx, zt_scan_object(scan)->elements); break;
    case C_ATTRIBUTES: zt_result_attributes(ctx, c, &zt_scan_object(scan)->attributes); break;
    case C_COMPONENTS: zt_result_uint(ctx, zt_container_first(c, scan->object+1)-zt_container_first(c, scan->object)); break;
    default:           total_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_objects = {
  .name = "zt_objects",
  .visible = "path TEXT, object TEXT, format TEXT, dtype TEXT, type TEXT, shape TEXT, rank INTEGER, elements INTEGER,"
             " components INTEGER, stored_bytes INTEGER, decoded_bytes INTEGER, attributes TEXT",
  .nVisible = C_COUNT,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OBJECTS,
  .iPath = C_PATH,
  .iObject = C_OBJECT,
  .column = column,
};
