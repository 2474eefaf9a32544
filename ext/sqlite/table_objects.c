/*
** zt_objects(source, on_error): one row per object (tensor), in the manifest's order.
**
**   CREATE TABLE zt_objects(path, object, format, dtype, type, shape, rank, elements, components,
**                           stored_bytes, decoded_bytes, attributes, source HIDDEN,
**                           on_error HIDDEN);
**
** dtype and type are those of the component that holds the values, NULL if there is none. Every
** manifest was checked as a whole before its first row: there are no rows of a damaged one.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"

enum {
  OBJECTS_PATH, OBJECTS_OBJECT, OBJECTS_FORMAT, OBJECTS_DTYPE, OBJECTS_TYPE, OBJECTS_SHAPE,
  OBJECTS_RANK, OBJECTS_ELEMENTS, OBJECTS_COMPONENTS, OBJECTS_STORED, OBJECTS_DECODED,
  OBJECTS_ATTRIBUTES, OBJECTS_COUNT
};

/* What is found out once per row, when a column first asks. */
typedef struct objects_row {
  bool looked, found;          /* The component that holds the values was looked for; there
                               ** is one: */
  zt_component values;
  bool summed;
  zt_totals totals;
} objects_row;

static bool objects_first(zt_scan *scan){
  objects_row *r = scan->row;
  r->looked = r->summed = false;
  return true;
}

static void objects_values_column(zt_scan *scan, sqlite3_context *ctx, int i){
  objects_row *r = scan->row;
  if( !r->looked ) r->found = zt_component_values(scan->container, scan->object, &r->values);
  r->looked = true;
  if( r->found && i==OBJECTS_DTYPE ) zt_result_text(ctx, r->values.dtype);
  else if( r->found ) zt_result_type(ctx, &r->values);
}

/* Sums over the object's components. */
static void objects_total_column(zt_scan *scan, sqlite3_context *ctx, int i){
  objects_row *r = scan->row;
  if( !r->summed ){
    r->totals = ZT_TOTALS_NONE;
    zt_totals_add(&r->totals, scan->container, zt_scan_object(scan));
    r->summed = true;
  }
  if( i==OBJECTS_STORED && r->totals.stored_known ) zt_result_uint(ctx, r->totals.stored);
  else if( i==OBJECTS_DECODED && r->totals.decoded_known ) zt_result_uint(ctx, r->totals.decoded);
}

/* What is not known of an object without a shape. */
static void objects_shape_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_object *object = zt_scan_object(scan);
  if( object->unshaped ) return;
  if( i==OBJECTS_SHAPE ) zt_result_shape(ctx, object);
  else zt_result_uint(ctx, i==OBJECTS_RANK ? object->rank : object->elements);
}

static void objects_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_container *c = scan->container;
  switch( i ){
    case OBJECTS_PATH:
      if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT);
      break;
    case OBJECTS_OBJECT:     zt_result_text(ctx, zt_container_name(c, scan->object)); break;
    case OBJECTS_FORMAT:     zt_result_text(ctx, zt_scan_object(scan)->format); break;
    case OBJECTS_DTYPE:
    case OBJECTS_TYPE:       objects_values_column(scan, ctx, i); break;
    case OBJECTS_SHAPE:
    case OBJECTS_RANK:
    case OBJECTS_ELEMENTS:   objects_shape_column(scan, ctx, i); break;
    case OBJECTS_ATTRIBUTES: zt_result_attributes(ctx, c, &zt_scan_object(scan)->attributes); break;
    case OBJECTS_COMPONENTS:
      zt_result_uint(ctx,
                     zt_container_first(c, scan->object+1)-zt_container_first(c, scan->object));
      break;
    default:                 objects_total_column(scan, ctx, i); break;
  }
}

const zt_table zt_table_objects = {
  .name = "zt_objects",
  .visible = "path TEXT, object TEXT, format TEXT, dtype TEXT, type TEXT, shape TEXT,"
             " rank INTEGER, elements INTEGER, components INTEGER, stored_bytes INTEGER,"
             " decoded_bytes INTEGER, attributes TEXT",
  .nVisible = OBJECTS_COUNT,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_OBJECTS,
  .iPath = OBJECTS_PATH,
  .iObject = OBJECTS_OBJECT,
  .row_size = sizeof(objects_row),
  .first = objects_first,
  .column = objects_column,
};
