/* The functions of a cursor that tables call. See scan.h. */
#include "sqlite/cursor.h"

void zt_scan_open(zt_scan *scan, sqlite3_context *ctx){
  zt_file_iterator_open(&zt_cursor_of(scan)->files);
  if( scan->err->rc ) zt_result_error(ctx, scan->err);
}

const zt_stat *zt_scan_stat(zt_scan *scan, sqlite3_context *ctx){
  bool nomem;
  const zt_stat *stat = zt_file_iterator_stat(&zt_cursor_of(scan)->files, &nomem);
  if( nomem ) sqlite3_result_error_nomem(ctx);
  return stat;
}

char *zt_scan_etag(zt_scan *scan, sqlite3_context *ctx){
  bool nomem;
  char *etag = zt_file_iterator_etag(&zt_cursor_of(scan)->files, &nomem);
  if( nomem ) sqlite3_result_error_nomem(ctx);
  return etag;
}

const zt_object *zt_scan_object(zt_scan *scan){
  return zt_object_iterator_decoded(&zt_cursor_of(scan)->objects);
}

zt_work *zt_scan_work(zt_scan *scan, unsigned want, zt_error *err){
  return zt_object_iterator_work(&zt_cursor_of(scan)->objects, want, err);
}

zt_error zt_scan_error(zt_scan *scan){
  zt_error err = ZT_ERROR_NONE;
  err.path = scan->err->path;
  if( !scan->on_file ) err.object = zt_container_name(scan->container, scan->object);
  return err;
}

void zt_scan_fail(zt_scan *scan, sqlite3_context *ctx, zt_error *err){
  const bool of_file = err->rc==SQLITE_ERROR || err->rc==SQLITE_TOOBIG;
  if( scan->skip && of_file && !zt_os_exhausted(err->system) ) zt_error_clear(err);
  else zt_result_error(ctx, err);
}
