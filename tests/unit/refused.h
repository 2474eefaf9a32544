/*
** The system refuses on demand: these functions stand in for those of the C library, of POSIX threads and of SQLite, and fail when
** the test says so. tests/faults does the same to the loaded extension, for a file that is read or written; here are the functions
** that it does not reach, and several refusals at once.
**
** Only for Linux of 64 bits, where a function has the name that core/ calls: REFUSED_HERE.
*/
#ifndef ZT_TESTS_UNIT_REFUSED_H
#define ZT_TESTS_UNIT_REFUSED_H

#include "test.h"

#if defined(__linux__) && defined(__GLIBC__) && __SIZEOF_POINTER__==8
#define REFUSED_HERE 1

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALWAYS INT_MAX

/* Calls number `first` to `first+times-1` of a function fail with that errno value. */
static struct { const char *call; int error, first, times, made; } refusals[4];
static size_t n_refusals;

static struct {
  const char *quota;                /* The file that stands for /sys/fs/cgroup/cpu.max; NULL: that one */
  void (*stat)(struct stat *s);     /* Changes what stat() says; NULL: nothing does */
  cpu_set_t *processors;            /* That the process may use; NULL: the system's answer */
  rlim_t most;                      /* Bytes of a file; 0: the system's answer */
  size_t n_read;                    /* That the last pread() asked for */
} instead;

static inline void refuse(const char *call, int error, int first, int times){
  assert_true(n_refusals<COUNT(refusals));
  refusals[n_refusals].call = call;
  refusals[n_refusals].error = error;
  refusals[n_refusals].first = first;
  refusals[n_refusals].times = times;
  refusals[n_refusals++].made = 0;
}

static inline void refuse_nothing(void){
  memset(&instead, 0, sizeof(instead));
  n_refusals = 0;
}

/* How often the function of the first refusal was called. */
static inline int times_called(void){
  return refusals[0].made;
}

/* The errno value of this call, or 0. */
static inline int refused(const char *call){
  int error = 0;
  for(size_t i=0; i<n_refusals; i++){
    if( strcmp(refusals[i].call, call)!=0 ) continue;
    refusals[i].made++;
    if( refusals[i].made>=refusals[i].first && refusals[i].made-refusals[i].first<refusals[i].times ) error = refusals[i].error;
  }
  return error;
}

#define REAL(function) ((__typeof__(&function))(intptr_t)dlsym(RTLD_NEXT, #function))
/* Return from a stand-in if the call is refused: with errno, or with the errno value. */
#define REFUSE(call) do{ int e = refused(call); if( e ){ errno = e; return -1; } }while( 0 )
#define REFUSE_BY_VALUE(call) do{ int e = refused(call); if( e ) return e; }while( 0 )

static inline const char *instead_of(const char *path){
  return instead.quota && strcmp(path, "/sys/fs/cgroup/cpu.max")==0 ? instead.quota : path;
}

/* --- Files --- */

int open(const char *path, int flags, ...){
  mode_t mode = 0;
  const bool unnamed = (flags & O_TMPFILE)==O_TMPFILE;   /* O_DIRECTORY is part of it */
  if( (flags & O_CREAT) || unnamed ){
    va_list ap;
    va_start(ap, flags);
    mode = va_arg(ap, mode_t);
    va_end(ap);
  }
  REFUSE( flags & O_CREAT ? "open:create" : unnamed ? "open:tmpfile" : "open" );
  return (int)syscall(SYS_openat, AT_FDCWD, instead_of(path), flags, mode);
}

int stat(const char *restrict path, struct stat *restrict out){
  REFUSE( "stat" );
  if( fstatat(AT_FDCWD, instead_of(path), out, 0) ) return -1;
  if( instead.stat ) instead.stat(out);
  return 0;
}

int fstat(int fd, struct stat *out){
  REFUSE( "fstat" );
  return fstatat(fd, "", out, AT_EMPTY_PATH);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict out){
  const int n = (int)syscall(SYS_statx, fd, path, flags, mask, out);
  if( refused("statx") ) out->stx_mask &= ~STATX_BTIME;   /* A file system that knows none */
  return n;
}

/* EOF, which is no errno value: the file ends there. */
ssize_t pread(int fd, void *p, size_t n, off_t offset){
  const int e = refused("pread");
  instead.n_read = n;
  errno = e;
  return e==EOF ? 0 : e ? -1 : syscall(SYS_pread64, fd, p, n, offset);
}

/* EOF: no byte is written. INT_MAX: all bytes seem to be. */
ssize_t pwrite(int fd, const void *p, size_t n, off_t offset){
  const int e = refused("pwrite");
  errno = e;
  return e==EOF ? 0 : e==INT_MAX ? (ssize_t)n : e ? -1 : syscall(SYS_pwrite64, fd, p, n, offset);
}

int ftruncate(int fd, off_t size){
  REFUSE( "ftruncate" );
  return (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd){
  REFUSE( "fsync" );
  return (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t mode){
  REFUSE( "fchmod" );
  return (int)syscall(SYS_fchmod, fd, mode);
}

/* Another user's file: nobody but root may make one, so this only seems to. */
int fchown(int fd, uid_t user, gid_t group){
  (void)fd, (void)user, (void)group;
  REFUSE( "fchown" );
  return 0;
}

int flock(int fd, int how){
  REFUSE( "flock" );
  return (int)syscall(SYS_flock, fd, how);
}

int faccessat(int fd, const char *path, int mode, int flags){
  REFUSE( "faccessat" );
  (void)flags;
  return (int)syscall(SYS_faccessat, fd, path, mode);
}

int linkat(int from, const char *path, int to, const char *other, int flags){
  REFUSE( "linkat" );
  return (int)syscall(SYS_linkat, from, path, to, other, flags);
}

int link(const char *path, const char *other){
  REFUSE( "link" );
  return (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other, 0);
}

int rename(const char *path, const char *other){
  REFUSE( "rename" );
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 0);
}

int renameat2(int from, const char *path, int to, const char *other, unsigned flags){
  REFUSE( "renameat2" );
  return (int)syscall(SYS_renameat2, from, path, to, other, flags);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *out){
  REFUSE( "getrlimit" );
  if( syscall(SYS_prlimit64, 0, resource, NULL, out) ) return -1;
  if( instead.most ) out->rlim_cur = instead.most;
  return 0;
}

/* --- The machine and its users --- */

int gethostname(char *name, size_t n){
  REFUSE( "gethostname" );
  return REAL(gethostname)(name, n);
}

int getpwuid_r(uid_t user, struct passwd *restrict out, char *restrict buffer, size_t n, struct passwd **restrict found){
  const int e = refused("getpwuid_r");
  static char nowhere[] = "";
  if( e ){
    *out = (struct passwd){ .pw_dir = nowhere };
    *found = e==ENOENT ? out : NULL;
    return e==ENOENT ? 0 : e;
  }
  return REAL(getpwuid_r)(user, out, buffer, n, found);
}

int dladdr(const void *address, Dl_info *out){
  return refused("dladdr") ? 0 : REAL(dladdr)(address, out);
}

int clock_gettime(clockid_t clock, struct timespec *out){
  REFUSE( "clock_gettime" );
  return (int)syscall(SYS_clock_gettime, clock, out);
}

int nanosleep(const struct timespec *time, struct timespec *rest){
  REFUSE( "nanosleep" );
  return (int)syscall(SYS_nanosleep, time, rest);
}

int sched_getaffinity(pid_t process, size_t n, cpu_set_t *out){
  REFUSE( "sched_getaffinity" );
  if( !instead.processors ) return REAL(sched_getaffinity)(process, n, out);
  memcpy(out, instead.processors, n);
  return 0;
}

/* --- Threads --- */

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes){
  REFUSE_BY_VALUE( "pthread_mutex_init" );
  return REAL(pthread_mutex_init)(mutex, attributes);
}

int pthread_cond_init(pthread_cond_t *restrict signal, const pthread_condattr_t *restrict attributes){
  REFUSE_BY_VALUE( "pthread_cond_init" );
  return REAL(pthread_cond_init)(signal, attributes);
}

int pthread_attr_init(pthread_attr_t *attributes){
  REFUSE_BY_VALUE( "pthread_attr_init" );
  return REAL(pthread_attr_init)(attributes);
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before){
  REFUSE_BY_VALUE( "pthread_sigmask" );
  return REAL(pthread_sigmask)(how, set, before);
}

int sqlite3_threadsafe(void){
  return refused("sqlite3_threadsafe") ? 0 : REAL(sqlite3_threadsafe)();
}

/* A mutex that excludes nobody: who seems to have it leaves nothing. */
static sqlite3_mutex *not_entered;

int sqlite3_mutex_try(sqlite3_mutex *mutex){
  if( !refused("sqlite3_mutex_try") ) return REAL(sqlite3_mutex_try)(mutex);
  not_entered = mutex;
  return SQLITE_OK;
}

void sqlite3_mutex_leave(sqlite3_mutex *mutex){
  if( !mutex || mutex!=not_entered ) REAL(sqlite3_mutex_leave)(mutex);
  else not_entered = NULL;
}

#else
#define REFUSED_HERE 0
#endif
#endif
