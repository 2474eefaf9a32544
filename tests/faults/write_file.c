/*
** A library of one function for test_writing.py, which writes a file by way of core/output.h as writers of tensor files do.
*/
#include <stdio.h>
#include "core/host.h"
#include "core/output.h"

#define CHUNK ((size_t)80<<10)

__attribute__((visibility("default")))
int write_file(const char *path, int mode, int sync, unsigned seed, int chunks, int keep, char *message, int nMessage);

/* Small parts between holes, and chunks that go straight to the file; the number of chunks comes first, at the end. */
static void write_parts(zt_output *o, unsigned seed, int chunks, zt_error *err){
  static uint8_t chunk[CHUNK];
  uint8_t head[8] = { 0 };
  zt_output_append(o, (zt_span){ head, sizeof(head) }, err);
  for(int i=0; i<chunks; i++){
    memset(chunk, (int)(seed+(unsigned)i) & 0xFF, sizeof(chunk));
    zt_output_append(o, (zt_span){ chunk, i%2 ? sizeof(chunk) : 100 }, err);
    zt_output_append_zeros(o, 70000, err);
  }
  zt_put_le(head, (uint64_t)chunks<<32 | seed, 8);
  if( !err->rc ) zt_output_patch(o, 0, (zt_span){ head, sizeof(head) }, err);
}

int write_file(const char *path, int mode, int sync, unsigned seed, int chunks, int keep, char *message, int nMessage){
  zt_error err = ZT_ERROR_NONE;
  zt_output *o;
  int rc;
  err.path = path;
  if( zt_output_open(path, NULL, (zt_output_mode)mode, sync!=0, &o, &err)==SQLITE_OK ){
    write_parts(o, seed, chunks, &err);
    if( !err.rc ) zt_output_sync(o, &err);
    if( !err.rc ) zt_output_place(o, &err);
    if( !err.rc && keep ) zt_output_keep(o);
    else if( !err.rc ) zt_output_undo(o, &err);
    zt_output_close(o);
  }
  snprintf(message, (size_t)nMessage, "%s", err.message ? err.message : "");
  rc = err.rc;
  zt_error_clear(&err);
  return rc;
}
