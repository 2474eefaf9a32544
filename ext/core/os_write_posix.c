/* Writing files: POSIX. See os_write.h. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the C library's */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* O_TMPFILE, renameat2() */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "core/os_write.h"

#ifndef _WIN32
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifdef __linux__
# include <sys/syscall.h>
#endif
#include <time.h>
#include "core/host.h"
#include "core/os_posix.h"

/* Permission bits: of files that get another file's, of new ones before the umask, and all of them
** but those that give rights to whoever runs a file */
#define OS_WRITE_PRIVATE (S_IRUSR|S_IWUSR)
#define OS_WRITE_MODE (S_IRUSR|S_IWUSR|S_IRGRP|S_IWGRP|S_IROTH|S_IWOTH)
#define OS_WRITE_BITS (S_IRWXU|S_IRWXG|S_IRWXO)
#define OS_WRITE_FD_PATH 32       /* Bytes of a descriptor's path in /proc */
#define OS_WRITE_MAX ((size_t)1<<30)   /* Bytes in one call */
#define OS_WRITE_TRIES 1000       /* To hold a directory, */
#define OS_WRITE_PAUSE 10000000   /* and nanoseconds between two of them */
#define OS_WRITE_NOREPLACE 1u     /* RENAME_NOREPLACE and RENAME_EXCHANGE of Linux */
#define OS_WRITE_EXCHANGE 2u

/* --- Making files --- */

/* The directory that ends with the path's last separator, owned. NULL if memory is short. */
static char *os_write_directory(const char *path){
  const size_t n = (size_t)(zt_path_name(path)-path);
  return sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? path : ".");
}

static void os_write_fd_path(int fd, char out[OS_WRITE_FD_PATH]){
  (void)snprintf(out, OS_WRITE_FD_PATH, "/proc/self/fd/%d", fd);
}

/* True if an unnamed file can get a name later, and has the permission bits that a named one would
** have. Before Linux 6.0, some file systems gave unnamed files all bits, whatever the umask. */
static bool os_write_may_stay_unnamed(int fd, bool private){
  char path[OS_WRITE_FD_PATH];
  struct stat s;
  os_write_fd_path(fd, path);
  if( faccessat(AT_FDCWD, path, F_OK, 0) || fstat(fd, &s) ) return false;
  return private || (s.st_mode & OS_WRITE_BITS)!=OS_WRITE_MODE;
}

/* A file without a name in path's directory; -1 where the system has none, or could not name it
** later. */
static int os_write_create_unnamed(const char *path, bool private){
#ifdef O_TMPFILE
  const mode_t mode = private ? OS_WRITE_PRIVATE : OS_WRITE_MODE;
  char *directory = os_write_directory(path);
  int fd;
  if( !directory ) return -1;
  ZT_OS_UNINTERRUPTED( (fd = open(directory, O_TMPFILE|O_RDWR|O_CLOEXEC, mode))<0 );
  sqlite3_free(directory);
  if( fd<0 || os_write_may_stay_unnamed(fd, private) ) return fd;
  close(fd);
#else
  (void)path;
  (void)private;
#endif
  return -1;
}

/* Gives a file the rights of another one. The owner is changed where that is allowed, which is for
** root. A file system without permission bits shows the same ones for all files. */
static int os_write_take_rights(int fd, const struct stat *like){
  struct stat own;
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = fstat(fd, &own))!=0 );
  if( rc ) return errno;
  if( own.st_uid!=like->st_uid || own.st_gid!=like->st_gid ){
    ZT_OS_UNINTERRUPTED( (rc = fchown(fd, like->st_uid, like->st_gid))!=0 );
    if( rc ) ZT_OS_UNINTERRUPTED( (rc = fchown(fd, (uid_t)-1, like->st_gid))!=0 );
  }
  if( ((own.st_mode ^ like->st_mode) & OS_WRITE_BITS)==0 ) return 0;
  ZT_OS_UNINTERRUPTED( (rc = fchmod(fd, like->st_mode & OS_WRITE_BITS))!=0 );
  return rc ? errno : 0;
}

int zt_os_create(const char *path, const char *like, bool *unnamed, zt_file *out){
  const int flags = O_CREAT|O_EXCL|O_RDWR|O_CLOEXEC;
  struct stat s;
  int fd, rc = 0;
  if( like ) ZT_OS_UNINTERRUPTED( (rc = stat(like, &s))!=0 );
  if( rc && !zt_os_absent(errno) ) return errno;
  if( rc ) like = NULL;
  fd = os_write_create_unnamed(path, like!=NULL);
  *unnamed = fd>=0;
  if( fd<0 ){
    const mode_t mode = like ? OS_WRITE_PRIVATE : OS_WRITE_MODE;
    ZT_OS_UNINTERRUPTED( (fd = open(path, flags, mode))<0 );
    if( fd<0 ) return errno;
  }
  fd = zt_os_above_standard(fd);
  rc = fd<0 ? errno : like ? os_write_take_rights(fd, &s) : 0;
  if( rc ){
    zt_os_close(fd);
    if( !*unnamed ) unlink(path);
    return rc;
  }
  *out = fd;
  return 0;
}

int zt_os_may_create(const char *path){
  char *directory = os_write_directory(path);
  int rc;
  if( !directory ) return ENOMEM;
  ZT_OS_UNINTERRUPTED( (rc = faccessat(AT_FDCWD, directory, W_OK|X_OK, AT_EACCESS))!=0 );
  rc = rc ? errno : 0;
  sqlite3_free(directory);
  return rc;
}

uint64_t zt_os_size_limit(void){
  struct rlimit most;
  if( getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur==RLIM_INFINITY ) return INT64_MAX;
  return most.rlim_cur<(rlim_t)INT64_MAX ? (uint64_t)most.rlim_cur : INT64_MAX;
}

int zt_os_duplicate(zt_file file, zt_file *out){
  int fd;
  ZT_OS_UNINTERRUPTED( (fd = fcntl((int)file, F_DUPFD_CLOEXEC, STDERR_FILENO+1))<0 );
  if( fd<0 ) return errno;
  *out = fd;
  return 0;
}

/* --- Bytes --- */

int zt_os_write(zt_file file, uint64_t offset, const void *p, size_t n){
  const uint8_t *at = p;
  while( n>0 ){
    const size_t some = n<OS_WRITE_MAX ? n : OS_WRITE_MAX;
    ssize_t n_written;
    ZT_OS_UNINTERRUPTED( (n_written = pwrite((int)file, at, some, (off_t)offset))<0 );
    if( n_written<0 ) return errno;
    if( n_written==0 ) return EIO;
    at += n_written;
    offset += (uint64_t)n_written;
    n -= (size_t)n_written;
  }
  return 0;
}

int zt_os_truncate(zt_file file, uint64_t size){
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = ftruncate((int)file, (off_t)size))!=0 );
  return rc ? errno : 0;
}

int zt_os_sync(zt_file file){
  int rc;
#ifdef F_FULLFSYNC
  /* fsync() leaves bytes in the disk's own memory there. A file system on a network has no other
  ** way. */
  ZT_OS_UNINTERRUPTED( (rc = fcntl((int)file, F_FULLFSYNC))!=0 );
  if( rc==0 ) return 0;
  if( errno!=ENOTSUP && errno!=EINVAL && errno!=ENOTTY ) return errno;
#endif
  ZT_OS_UNINTERRUPTED( (rc = fsync((int)file))!=0 );
  return rc ? errno : 0;
}

/* Closing any descriptor of a file makes a network's file system send what it holds back. */
int zt_os_flush(zt_file file){
  zt_file again = -1;
  int rc = zt_os_duplicate(file, &again);
  if( rc ) return rc;
  errno = 0;
  return close((int)again) && errno!=EINTR ? errno : 0;   /* It is closed after EINTR, too */
}

/* Open the directory of a path. Returns 0 or the errno value. */
static int os_write_open_directory(const char *path, int *fd){
  char *directory = os_write_directory(path);
  int n;
  *fd = -1;
  if( !directory ) return ENOMEM;
  ZT_OS_UNINTERRUPTED( (*fd = open(directory, O_RDONLY|O_DIRECTORY|O_CLOEXEC))<0 );
  n = *fd<0 ? errno : 0;
  sqlite3_free(directory);
  return n;
}

zt_file zt_os_hold_directory(const char *path, const zt_interrupt *interrupt, zt_error *err){
  const struct timespec between = { 0, OS_WRITE_PAUSE };
  int fd, rc = -1;
  if( os_write_open_directory(path, &fd) ) return -1;
  for(int i=0; i<OS_WRITE_TRIES; i++){
    ZT_OS_UNINTERRUPTED( (rc = flock(fd, LOCK_EX|LOCK_NB))!=0 );
    if( rc==0 || errno!=EWOULDBLOCK ) break;
    if( zt_interrupt_check(interrupt, err) ) break;
    nanosleep(&between, NULL);
  }
  if( rc==0 ) return fd;
  close(fd);
  return -1;
}

int zt_os_sync_directory(const char *path){
  int fd, rc = os_write_open_directory(path, &fd);
  if( rc ) return rc;
  rc = zt_os_sync(fd);
  close(fd);
  return rc==EINVAL || rc==ENOTSUP ? 0 : rc;   /* File systems without such a thing */
}

/* --- Names --- */

int zt_os_name(zt_file file, const char *path){
  char from[OS_WRITE_FD_PATH];
  int rc;
  os_write_fd_path((int)file, from);
  ZT_OS_UNINTERRUPTED( (rc = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW))!=0 );
  return rc ? errno : 0;
}

#ifdef __GLIBC_PREREQ
# if __GLIBC_PREREQ(2, 28)
#  define OS_WRITE_RENAMEAT2 renameat2
# endif
#endif
#if !defined(OS_WRITE_RENAMEAT2) && defined(__linux__) && defined(SYS_renameat2)
/* Others lack the function */
# define OS_WRITE_RENAMEAT2(...) syscall(SYS_renameat2, __VA_ARGS__)
#endif

/* Renames as the flags say. ENOTSUP where the system or the file system cannot: a filter of system
** calls says EPERM then. */
static int os_write_rename_as(const char *from, const char *to, unsigned flags){
#ifdef OS_WRITE_RENAMEAT2
  long rc;
  ZT_OS_UNINTERRUPTED( (rc = OS_WRITE_RENAMEAT2(AT_FDCWD, from, AT_FDCWD, to, flags))!=0 );
#elif defined(RENAME_SWAP) && defined(RENAME_EXCL)
  int rc;
  const unsigned own = flags==OS_WRITE_EXCHANGE ? RENAME_SWAP : RENAME_EXCL;
  ZT_OS_UNINTERRUPTED( (rc = renamex_np(from, to, own))!=0 );
#else
  const int rc = -1;
  (void)from;
  (void)to;
  (void)flags;
  errno = ENOTSUP;
#endif
  if( rc==0 ) return 0;
  return errno==EINVAL || errno==ENOSYS || errno==EOPNOTSUPP || errno==EPERM ? ENOTSUP : errno;
}

int zt_os_rename_new(const char *from, const char *to){
  int rc = os_write_rename_as(from, to, OS_WRITE_NOREPLACE);
  if( rc!=ENOTSUP ) return rc;
  rc = zt_os_link(from, to);
  if( rc==0 ) zt_os_remove(from);
  return rc;
}

int zt_os_exchange(const char *path, const char *other){
  return os_write_rename_as(path, other, OS_WRITE_EXCHANGE);
}

int zt_os_link(const char *path, const char *second){
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = link(path, second))!=0 );
  return rc ? errno : 0;
}

int zt_os_rename(const char *from, const char *to){
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = rename(from, to))!=0 );
  return rc ? errno : 0;
}

int zt_os_remove(const char *path){
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = unlink(path))!=0 );
  return rc ? errno : 0;
}

uint64_t zt_os_random(void){
  uint64_t n;
  sqlite3_randomness(sizeof(n), &n);
  return n ^ (uint64_t)getpid()<<32;   /* A process and its child have the same numbers */
}

#endif
