/* Code for all operating systems. See os.h. */
#include "core/os_system.h"

#include <errno.h>
#include "core/host.h"

#define OS_COARSE_TICK ZT_SECOND   /* For file systems that keep whole seconds (doubled below,
                                   ** because FAT keeps every other one) */

const char *zt_kind_name(zt_kind kind){
  switch( kind ){
    case ZT_KIND_MISSING: return "missing";
    case ZT_KIND_FILE: return "a regular file";
    case ZT_KIND_DIRECTORY: return "a directory";
    case ZT_KIND_FIFO: return "a FIFO";
    case ZT_KIND_SOCKET: return "a socket";
    case ZT_KIND_DEVICE: return "a device";
    default: return "no regular file";
  }
}

static zt_file os_refuse(zt_kind kind, zt_error *err){
  zt_fail(err, SQLITE_ERROR, "is %s, not a regular file", zt_kind_name(kind));
  return -1;
}

zt_file zt_os_open(const char *path, const zt_stat *known, zt_stat *out, zt_error *err){
  zt_file file = -1;
  int n = 0;
  if( known ) *out = *known;
  else n = zt_os_stat(path, out);
  if( n==0 && out->kind!=ZT_KIND_FILE && out->kind!=ZT_KIND_MISSING ){
    return os_refuse(out->kind, err);
  }
  if( n==0 ) file = zt_os_open_any(path, &n);
  if( n==0 ) n = zt_os_fstat(file, out);
  if( n==0 && out->kind==ZT_KIND_FILE ) return file;
  zt_os_close(file);
  if( n==0 ) return os_refuse(out->kind, err);   /* It was replaced meanwhile */
  zt_fail_os(err, "open", n);
  return -1;
}

int64_t zt_os_read(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number){
  size_t done = 0;
  *error_number = 0;
  if( offset>(uint64_t)INT64_MAX-n ){
    *error_number = EOVERFLOW;
    return -1;
  }
  while( done<n ){
    const int64_t n_read = zt_os_read_once(file, offset+done, (char*)buffer+done, n-done,
                                           error_number);
    if( n_read<0 ) return -1;
    if( n_read==0 ) break;
    done += (size_t)n_read;
  }
  return (int64_t)done;
}

bool zt_os_absent(int error_number){
  return error_number==ENOENT || error_number==ENOTDIR || error_number==ELOOP;
}

bool zt_os_exhausted(int error_number){
  return error_number==EMFILE || error_number==ENFILE;
}

char *zt_os_homeless(zt_error *err){
  zt_fail(err, SQLITE_ERROR, "there is no home directory for ~ to stand for");
  return NULL;
}

bool zt_os_settled(const zt_identity *id){
  int64_t now, tick, last = id->mtime>id->ctime ? id->mtime : id->ctime;
  bool coarse = id->mtime%ZT_SECOND==0 && id->ctime%ZT_SECOND==0;
  if( !zt_os_now(&now, &tick) ) return false;
  return last<now - 2*(coarse ? OS_COARSE_TICK : tick);
}
