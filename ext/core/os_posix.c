/* The operating system: POSIX. See os.h. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the C library's */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* d_type, st_mtim, madvise(), dladdr() */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64   /* For sizes, inodes and positions of 64 bits where long has 32 */
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64          /* Times from 2038 on */
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "core/os_system.h"

#ifndef _WIN32
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
# include <sys/syscall.h>
#endif
#include <time.h>
#include "core/host.h"
#include "core/os_posix.h"

#define OS_TICK (ZT_SECOND/100)    /* Longest tick of a kernel's clock for file times */
#define OS_READ_MAX ((size_t)INT_MAX/2)   /* Bytes in one call */
#define OS_LARGE ((size_t)4<<20)   /* Smaller buffers are not worth large pages */
#define OS_LARGE_PAGE ((uintptr_t)2<<20)
#define OS_HOST 255                      /* Most bytes of a host's name */
#define OS_HOME_ENTRY ((size_t)16<<10)   /* Most bytes of a user's entry */

#ifdef __APPLE__
# define OS_MTIME st_mtimespec
# define OS_CTIME st_ctimespec
#else
# define OS_MTIME st_mtim
# define OS_CTIME st_ctim
#endif

const char *zt_os_message(int n, char buffer[ZT_OS_MESSAGE]){
#ifdef __GLIBC__
  /* GNU's strerror_r() returns the text, which need not be in the buffer */
  return strerror_r(n, buffer, ZT_OS_MESSAGE);
#else
  if( strerror_r(n, buffer, ZT_OS_MESSAGE) ) snprintf(buffer, ZT_OS_MESSAGE, "error %d", n);
  return buffer;
#endif
}

static int64_t os_nanoseconds(struct timespec t){
  int64_t s = (int64_t)t.tv_sec;
  if( s>INT64_MAX/ZT_SECOND-1 || s<INT64_MIN/ZT_SECOND+1 ) return s<0 ? INT64_MIN : INT64_MAX;
  return s*ZT_SECOND + t.tv_nsec;
}

static zt_kind os_kind_of(mode_t mode){
  if( S_ISREG(mode) ) return ZT_KIND_FILE;
  if( S_ISDIR(mode) ) return ZT_KIND_DIRECTORY;
  if( S_ISFIFO(mode) ) return ZT_KIND_FIFO;
  if( S_ISSOCK(mode) ) return ZT_KIND_SOCKET;
  if( S_ISCHR(mode) || S_ISBLK(mode) ) return ZT_KIND_DEVICE;
  return ZT_KIND_UNKNOWN;
}

static void os_from_stat(const struct stat *s, zt_stat *out){
  out->kind = os_kind_of(s->st_mode);
  out->id = (zt_identity){
    .device = (uint64_t)s->st_dev, .inode = (uint64_t)s->st_ino,
    .size = s->st_size>0 ? (uint64_t)s->st_size : 0, .mtime = os_nanoseconds(s->OS_MTIME),
    .ctime = os_nanoseconds(s->OS_CTIME)
  };
}

int zt_os_stat(const char *path, zt_stat *out){
  struct stat s;
  int rc;
  *out = (zt_stat){ 0 };
  ZT_OS_UNINTERRUPTED( (rc = stat(path, &s))!=0 );
  if( rc ) return errno;
  os_from_stat(&s, out);
  return 0;
}

#if defined(__linux__) && defined(STATX_BTIME)
# ifdef __GLIBC_PREREQ
#  if __GLIBC_PREREQ(2, 28)
#   define OS_STATX statx
#  endif
# endif
# ifndef OS_STATX   /* Older ones lack the function */
#  define OS_STATX(...) syscall(SYS_statx, __VA_ARGS__)
# endif

int64_t zt_os_birth(const char *path){
  struct statx s;
  long rc;
  ZT_OS_UNINTERRUPTED( (rc = OS_STATX(AT_FDCWD, path, AT_STATX_SYNC_AS_STAT, STATX_BTIME, &s))!=0 );
  if( rc || !(s.stx_mask & STATX_BTIME) ) return 0;
  return os_nanoseconds((struct timespec){ .tv_sec = s.stx_btime.tv_sec,
                                           .tv_nsec = (long)s.stx_btime.tv_nsec });
}
#elif defined(__APPLE__)
int64_t zt_os_birth(const char *path){
  struct stat s;
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = stat(path, &s))!=0 );
  return rc ? 0 : os_nanoseconds(s.st_birthtimespec);
}
#else
int64_t zt_os_birth(const char *path){
  (void)path;
  return 0;
}
#endif

int zt_os_exists(const char *path){
  struct stat s;
  int rc;
  ZT_OS_UNINTERRUPTED( (rc = lstat(path, &s))!=0 );
  return rc ? errno : 0;
}

char *zt_os_resolve(const char *path, int *error_number){
  char *found, *out;
  ZT_OS_UNINTERRUPTED( (found = realpath(path, NULL))==NULL );
  *error_number = found ? 0 : errno;
  if( !found ) return NULL;
  out = sqlite3_mprintf("%s", found);
  free(found);
  return out;
}

zt_file zt_os_open_any(const char *path, int *error_number){
  int fd;
  /* A FIFO would wait for a writer without O_NONBLOCK */
  ZT_OS_UNINTERRUPTED( (fd = open(path, O_RDONLY|O_CLOEXEC|O_NONBLOCK|O_NOCTTY))<0 );
  fd = zt_os_above_standard(fd);
  *error_number = fd<0 ? errno : 0;
  return fd;
}

void zt_os_close(zt_file file){
  if( file>=0 ) close((int)file);
}

int zt_os_fstat(zt_file file, zt_stat *out){
  struct stat s;
  int rc;
  *out = (zt_stat){ 0 };
  ZT_OS_UNINTERRUPTED( (rc = fstat((int)file, &s))!=0 );
  if( rc ) return errno;
  os_from_stat(&s, out);
  return 0;
}

int64_t zt_os_read_once(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number){
  ssize_t n_read;
  if( n>OS_READ_MAX ) n = OS_READ_MAX;
  ZT_OS_UNINTERRUPTED( (n_read = pread((int)file, buffer, n, (off_t)offset))<0 );
  if( n_read<0 ) *error_number = errno;
  return n_read;
}

bool zt_os_now(int64_t *now, int64_t *tick){
  struct timespec t;
  if( clock_gettime(CLOCK_REALTIME, &t) ) return false;
  *now = os_nanoseconds(t);
  *tick = OS_TICK;
  return true;
}

int64_t zt_os_elapsed(void){
  struct timespec t;
  if( clock_gettime(CLOCK_MONOTONIC, &t) ) return 1;
  return os_nanoseconds(t)+1;
}

void zt_os_advise_large(void *p, size_t n){
#ifdef MADV_HUGEPAGE
  uintptr_t from = ((uintptr_t)p + OS_LARGE_PAGE-1) & ~(OS_LARGE_PAGE-1);
  uintptr_t to = ((uintptr_t)p + n) & ~(OS_LARGE_PAGE-1);
  /* The system may ignore this. OS_LARGE has room for a large page wherever it begins. */
  if( n>=OS_LARGE ) (void)madvise((void*)from, to-from, MADV_HUGEPAGE);
#else
  (void)p;
  (void)n;
#endif
}

void *zt_os_map(size_t n){
  void *p = mmap(NULL, n, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
  return p==MAP_FAILED ? NULL : p;
}

void zt_os_unmap(void *p, size_t n){
  (void)munmap(p, n);
}

zt_directory *zt_os_opendir(const char *path, int *error_number){
  DIR *d;
  ZT_OS_UNINTERRUPTED( (d = opendir(path))==NULL );
  *error_number = d ? 0 : errno;
  return (zt_directory*)d;
}

const char *zt_os_readdir(zt_directory *d, zt_kind *kind, int *error_number){
  struct dirent *entry;
  do{
    ZT_OS_UNINTERRUPTED( (entry = readdir((DIR*)d))==NULL );
  }while( entry && (strcmp(entry->d_name, ".")==0 || strcmp(entry->d_name, "..")==0) );
  *error_number = entry ? 0 : errno;
  if( !entry ) return NULL;
  *kind = ZT_KIND_UNKNOWN;
#ifdef DTTOIF
  *kind = os_kind_of((mode_t)DTTOIF(entry->d_type));
#endif
  return entry->d_name;
}

void zt_os_closedir(zt_directory *d){
  if( d ) closedir((DIR*)d);
}

void zt_os_stay_loaded(void){
  static const char here;
  Dl_info self;
  /* This reference is never released. A program that has the extension linked in is not a library,
  ** and stays loaded anyway. */
  if( dladdr(&here, &self) ) (void)dlopen(self.dli_fname, RTLD_NOW|RTLD_NOLOAD|RTLD_NODELETE);
}

static char *os_copy(const char *path, zt_error *err){
  char *out = sqlite3_mprintf("%s", path);
  if( !out ) zt_fail_nomem(err);
  return out;
}

/* Returns the home directory from the system's user database, for an environment without HOME. */
static char *os_home_of_user(zt_error *err){
  struct passwd user, *found = NULL;
  char *buffer = sqlite3_malloc64(OS_HOME_ENTRY), *home = NULL;
  if( !buffer ){
    zt_fail_nomem(err);
    return NULL;
  }
  (void)getpwuid_r(getuid(), &user, buffer, OS_HOME_ENTRY, &found);   /* NULL after a failure */
  if( found && *user.pw_dir ) home = os_copy(user.pw_dir, err);
  else zt_os_homeless(err);
  sqlite3_free(buffer);
  return home;
}

char *zt_os_home(zt_error *err){
  const char *named = getenv("HOME");
  return named && *named ? os_copy(named, err) : os_home_of_user(err);
}

char *zt_os_host(zt_error *err){
  char name[OS_HOST+1];
  if( gethostname(name, OS_HOST) ){
    zt_fail_os(err, "tell the host's name", errno);
    return NULL;
  }
  name[OS_HOST] = 0;   /* A name that is cut may lack its NUL */
  return os_copy(name, err);
}

void zt_os_from_uri(char *path){
  (void)path;   /* It is the system's path */
}
#endif
