/* Writing files: POSIX. See os_write.h. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the C library's */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* O_TMPFILE */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "core/os_write.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/host.h"

#define OS_WRITE_MODE 0666    /* Of new files, before the umask */
#define OS_WRITE_FD_PATH 32   /* Bytes of a descriptor's path in /proc */

/* Make a call until it was not a signal that ended it. */
#define OS_WRITE_UNINTERRUPTED(failed) do errno = 0; while( (failed) && errno==EINTR )

static void os_fd_path(int fd, char out[OS_WRITE_FD_PATH]){
  snprintf(out, OS_WRITE_FD_PATH, "/proc/self/fd/%d", fd);
}

/* A file without a name in a directory; -1 where the system has none, or could not name it later. */
static int os_create_unnamed(const char *directory){
#ifdef O_TMPFILE
  char path[OS_WRITE_FD_PATH];
  int fd;
  OS_WRITE_UNINTERRUPTED( (fd = open(directory, O_TMPFILE|O_RDWR|O_CLOEXEC, OS_WRITE_MODE))<0 );
  if( fd<0 ) return -1;
  os_fd_path(fd, path);
  if( access(path, F_OK)==0 ) return fd;
  close(fd);
#else
  (void)directory;
#endif
  return -1;
}

int zt_os_create(const char *path, int mode, bool *unnamed, zt_file *out){
  const size_t n = (size_t)(zt_path_name(path)-path);
  char *directory = sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? path : ".");
  int fd, rc = 0;
  if( !directory ) return ENOMEM;
  fd = os_create_unnamed(directory);
  *unnamed = fd>=0;
  sqlite3_free(directory);
  if( fd<0 ){
    OS_WRITE_UNINTERRUPTED( (fd = open(path, O_CREAT|O_EXCL|O_RDWR|O_CLOEXEC, OS_WRITE_MODE))<0 );
    if( fd<0 ) return errno;
  }
  if( mode>=0 && fchmod(fd, (mode_t)mode) ) rc = errno;
  if( rc ){
    close(fd);
    if( !*unnamed ) unlink(path);
    return rc;
  }
  *out = fd;
  return 0;
}

int zt_os_mode(const char *path, int *mode){
  struct stat s;
  int rc;
  OS_WRITE_UNINTERRUPTED( (rc = stat(path, &s))!=0 );
  if( rc ) return errno;
  *mode = (int)(s.st_mode & 0777);
  return 0;
}

int zt_os_write(zt_file file, uint64_t offset, const void *p, size_t n){
  const uint8_t *at = p;
  while( n>0 ){
    ssize_t got;
    OS_WRITE_UNINTERRUPTED( (got = pwrite((int)file, at, n, (off_t)offset))<0 );
    if( got<0 ) return errno;
    if( got==0 ) return EIO;
    at += got;
    offset += (uint64_t)got;
    n -= (size_t)got;
  }
  return 0;
}

int zt_os_truncate(zt_file file, uint64_t size){
  int rc;
  OS_WRITE_UNINTERRUPTED( (rc = ftruncate((int)file, (off_t)size))!=0 );
  return rc ? errno : 0;
}

int zt_os_sync(zt_file file){
  int rc;
#ifdef F_FULLFSYNC
  /* Where fsync() leaves bytes in the disk's own memory */
  OS_WRITE_UNINTERRUPTED( (rc = fcntl((int)file, F_FULLFSYNC))!=0 );
  if( rc==0 ) return 0;
#endif
  OS_WRITE_UNINTERRUPTED( (rc = fsync((int)file))!=0 );
  return rc ? errno : 0;
}

int zt_os_sync_directory(const char *path){
  const size_t n = (size_t)(zt_path_name(path)-path);
  char *directory = sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? path : ".");
  int fd, rc;
  if( !directory ) return ENOMEM;
  OS_WRITE_UNINTERRUPTED( (fd = open(directory, O_RDONLY|O_DIRECTORY|O_CLOEXEC))<0 );
  rc = fd<0 ? errno : 0;
  sqlite3_free(directory);
  if( rc ) return rc;
  rc = zt_os_sync(fd);
  close(fd);
  return rc==EINVAL || rc==ENOTSUP ? 0 : rc;   /* File systems without such a thing */
}

int zt_os_name(zt_file file, const char *path){
  char from[OS_WRITE_FD_PATH];
  int rc;
  os_fd_path((int)file, from);
  OS_WRITE_UNINTERRUPTED( (rc = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW))!=0 );
  return rc ? errno : 0;
}

int zt_os_link(const char *path, const char *second){
  int rc;
  OS_WRITE_UNINTERRUPTED( (rc = link(path, second))!=0 );
  return rc ? errno : 0;
}

int zt_os_rename(const char *from, const char *to){
  int rc;
  OS_WRITE_UNINTERRUPTED( (rc = rename(from, to))!=0 );
  return rc ? errno : 0;
}

int zt_os_remove(const char *path){
  int rc;
  OS_WRITE_UNINTERRUPTED( (rc = unlink(path))!=0 );
  return rc ? errno : 0;
}

uint64_t zt_os_random(void){
  uint64_t n;
  sqlite3_randomness(sizeof(n), &n);
  return n;
}

#endif
