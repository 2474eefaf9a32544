/* What the operating systems have in common. See os.h; the rest is in os_posix.c and
** os_windows.c. */
#include "core/os_system.h"

#include <errno.h>
#include "core/host.h"

#define OS_COARSE_TICK ZT_SECOND   /* Of file systems that keep whole seconds (doubled below: FAT
                                   ** keeps every other one) */

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

zt_file zt_os_refuse(zt_kind kind, zt_error *err){
  zt_fail(err, SQLITE_ERROR, "is %s, not a regular file", zt_kind_name(kind));
  return -1;
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
