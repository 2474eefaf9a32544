/*
** zt_files(source): one row per file, readable or not.
**
**   CREATE TABLE zt_files(path, container, version, size, mtime, objects, components, stored_bytes, decoded_bytes,
**                         manifest_bytes, attributes, error, source HIDDEN);
**
** A file that cannot be read has its path, size and mtime, and the reason in error; it never ends a query. A file is looked
** at when a column is asked for that says so, and opened when one is that needs its manifest: a row that a condition on path,
** size or mtime drops costs no opening.
*/
#include "sqlite/describe.h"
#include "sqlite/tables.h"

enum {
  C_PATH, C_CONTAINER, C_VERSION, C_SIZE, C_MTIME, C_OBJECTS, C_COMPONENTS, C_STORED, C_DECODED, C_MANIFEST, C_ATTRIBUTES,
  C_ERROR, C_COUNT
};

/* What is computed once per row, when a column first asks. */
typedef struct row {
  bool summed;
  zt_totals totals;
} row;

static bool first(zt_scan *scan){
  ((row*)scan->row)->summed = false;
  return true;
}

static const zt_totals *totals(zt_scan *scan){
  row *r = scan->row;
  zt_object object;
  if( r->summed ) return &r->totals;
  r->summed = true;
  r->totals = ZT_TOTALS_NONE;
  for(uint32_t i=0; i<zt_container_objects(scan->container); i++){
    zt_container_object(scan->container, i, &object);
    zt_totals_add(&r->totals, scan->container, &object);
  }
  return &r->totals;
}

static void manifest_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const zt_container *c = scan->container;
  zt_attributes attributes;
  switch( i ){
    case C_CONTAINER:  zt_result_static(ctx, zt_container_format(c)); break;
    case C_VERSION:    zt_result_text(ctx, zt_container_version(c)); break;
    case C_OBJECTS:    zt_result_uint(ctx, zt_container_objects(c)); break;
    case C_COMPONENTS: zt_result_uint(ctx, zt_container_components(c)); break;
    case C_STORED:     if( totals(scan)->stored_known ) zt_result_uint(ctx, totals(scan)->stored); break;
    case C_DECODED:    if( totals(scan)->decoded_known ) zt_result_uint(ctx, totals(scan)->decoded); break;
    case C_MANIFEST:   zt_result_uint(ctx, zt_container_manifest_length(c)); break;
    case C_ATTRIBUTES:
      attributes = zt_container_attributes(c);
      zt_result_attributes(ctx, c, &attributes);
      break;
  }
}

/* Seconds and fraction are added last: one number of nanoseconds is more than a double holds. */
static double seconds(int64_t nanoseconds){
  int64_t whole = nanoseconds/1000000000, fraction = nanoseconds%1000000000;
  return (double)whole + (double)fraction*1e-9;
}

static void column(zt_scan *scan, sqlite3_context *ctx, int i){
  switch( i ){
    case C_PATH:
      if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT);
      break;
    case C_SIZE:
      if( zt_scan_stat(scan) ) zt_result_uint(ctx, zt_scan_stat(scan)->id.size);
      break;
    case C_MTIME:
      if( scan->path && zt_scan_stat(scan) ) sqlite3_result_double(ctx, seconds(zt_scan_stat(scan)->id.mtime));
      break;
    case C_ERROR:
      zt_scan_open(scan, ctx);
      if( scan->error ) sqlite3_result_text(ctx, scan->error->message, -1, SQLITE_TRANSIENT);
      break;
    default:
      zt_scan_open(scan, ctx);
      if( scan->container ) manifest_column(scan, ctx, i);
      break;
  }
}

const zt_table zt_table_files = {
  .name = "zt_files",
  .visible = "path TEXT, container TEXT, version TEXT, size INTEGER, mtime REAL, objects INTEGER, components INTEGER,"
             " stored_bytes INTEGER, decoded_bytes INTEGER, manifest_bytes INTEGER, attributes TEXT, error TEXT",
  .nVisible = C_COUNT,
  .rows = ZT_ROWS_FILES,
  .iPath = C_PATH,
  .iObject = -1,
  .light = 1u<<C_PATH | 1u<<C_SIZE | 1u<<C_MTIME,
  .row_size = sizeof(row),
  .first = first,
  .column = column,
};
