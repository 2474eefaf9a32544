/*
** The operating system, failing on demand: a library to be preloaded. Each of its calls that the extension makes asks a
** function of the test first, which says whether it fails and how, and may do anything to the files before it goes on.
**
** Only what happens below one directory is asked about, and the clock, madvise() and mmap() (under no path) if the test wants that.
** The calls are made by other names than those that they have here: a sanitizer makes them before dlsym() can be called.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* RTLD_NEXT, syscall() */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64   /* As ext/core/os_posix.c has it: what is defined here has the names that are called there, open64() */
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 1024        /* Descriptors that are followed */
#define DIRECTORIES 64    /* Directories that may be open at once */

/* Asked before a call, by the name of its function, of a path. Returns 0, or the errno value that it fails with. *n: how many
** bytes it is to read, which may be made less; a read of none is the end of the file. Of madvise(), the advice. */
typedef int question(const char *call, const char *path, size_t *n);

typedef struct directory {
  DIR *d;                 /* NULL: free */
  char path[PATH_MAX];
} directory;

/* A call that writes, before it is made, for the question to look at. */
typedef struct detail {
  int fd;                 /* Of the file; -1: none */
  const void *bytes;      /* pwrite() */
  size_t n;
  int64_t offset;         /* pwrite(); ftruncate(): the size */
  char other[PATH_MAX];   /* The second path: of link() and linkat(), and of rename() and renameat2() */
  unsigned flags;         /* open(), renameat2() */
} detail;

static detail now;        /* One thread writes */
static question *ask;     /* NULL: nobody asks */
static char root[PATH_MAX];
static size_t nRoot;
static bool pathless;     /* Calls without a path are asked about, too */
static _Thread_local bool asking;   /* The calls of this thread are now the test's own */
static char files[FILES][PATH_MAX];   /* By descriptor; "": none of those below the root */
static directory directories[DIRECTORIES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   /* Guards the directories, which threads open side by side */

/* The test's interface: what is called below `below` is asked about from now on; NULL ends it. */
void zt_faults(question *q, const char *below, int with_pathless);
int zt_faults_open(void);
const detail *zt_faults_detail(void);

void zt_faults(question *q, const char *below, int with_pathless){
  ask = q;
  pathless = with_pathless!=0;
  nRoot = strlen(below);
  memcpy(root, below, nRoot+1);
}

const detail *zt_faults_detail(void){
  return &now;
}

/* How many files and directories below the root are open. */
int zt_faults_open(void){
  int n = 0;
  for(int i=0; i<FILES; i++) n += files[i][0]!=0;
  for(int i=0; i<DIRECTORIES; i++) n += directories[i].d!=NULL;
  return n;
}

#define REAL(function) ((__typeof__(&function))(intptr_t)dlsym(RTLD_NEXT, #function))

static bool watched(const char *path){
  return ask && !asking && path && *path && strncmp(path, root, nRoot)==0;
}

/* True if the call is to fail; errno is set then. */
static bool fails(const char *call, const char *path, size_t *n){
  size_t unused = 0;
  int before = errno, e;
  asking = true;
  e = ask(call, path, n ? n : &unused);
  asking = false;
  errno = e ? e : before;
  return e!=0;
}

static bool path_fails(const char *call, const char *path){
  return watched(path) && fails(call, path, NULL);
}

static const char *path_of(int fd){
  return fd>=0 && fd<FILES ? files[fd] : NULL;
}

/* That entry, by whom holds the lock. */
static directory *find(DIR *d){
  for(int i=0; i<DIRECTORIES; i++) if( directories[i].d==d ) return &directories[i];
  return NULL;
}

static void follow(DIR *d, const char *path){
  pthread_mutex_lock(&lock);
  directory *free = find(NULL);
  if( free ){
    free->d = d;
    strcpy(free->path, path);
  }
  pthread_mutex_unlock(&lock);
}

/* The path of a directory that is followed. Only who has it open asks, so it stays. */
static const char *path_of_directory(DIR *d){
  pthread_mutex_lock(&lock);
  const directory *known = find(d);
  pthread_mutex_unlock(&lock);
  return known ? known->path : NULL;
}

static void forget(DIR *d){
  pthread_mutex_lock(&lock);
  directory *known = find(d);
  if( known ) known->d = NULL;
  pthread_mutex_unlock(&lock);
}

/* --- The calls --- */

int open(const char *path, int flags, ...){
  bool of_test = !watched(path);
  mode_t mode = 0;
  int fd;
  if( flags & O_CREAT ){
    va_list ap;
    va_start(ap, flags);
    mode = va_arg(ap, mode_t);
    va_end(ap);
  }
  if( flags & (O_CREAT|__O_TMPFILE) ){
    now = (detail){ .fd = -1, .flags = (unsigned)flags };
    if( path_fails(flags & O_CREAT ? "open:create" : "open:tmpfile", path) ) return -1;
  }else if( path_fails("open", path) ){
    return -1;
  }
  fd = openat(AT_FDCWD, path, flags, mode);
  if( fd>=0 && fd<FILES && !of_test ) strcpy(files[fd], path);
  return fd;
}

int close(int fd){
  const char *path = path_of(fd);
  bool failing = path_fails("close", path);
  int e = errno, rc;
  if( path && *path ) files[fd][0] = 0;
  rc = (int)syscall(SYS_close, fd);   /* As Linux has it: closed, whatever it says */
  if( !failing ) return rc;
  errno = e;
  return -1;
}

ssize_t pread(int fd, void *buffer, size_t n, off_t offset){
  struct iovec all = { buffer, n };
  if( watched(path_of(fd)) && fails("pread", path_of(fd), &all.iov_len) ) return -1;
  return preadv(fd, &all, 1, offset);
}

int stat(const char *restrict path, struct stat *restrict out){
  return path_fails("stat", path) ? -1 : fstatat(AT_FDCWD, path, out, 0);
}

int lstat(const char *restrict path, struct stat *restrict out){
  return path_fails("lstat", path) ? -1 : fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict out){
  return path_fails("statx", path) ? -1 : (int)syscall(SYS_statx, fd, path, flags, mask, out);
}

char *realpath(const char *restrict path, char *restrict out){
  return path_fails("realpath", path) ? NULL : REAL(realpath)(path, out);
}

int fstat(int fd, struct stat *out){
  return path_fails("fstat", path_of(fd)) ? -1 : fstatat(fd, "", out, AT_EMPTY_PATH);
}

/* --- The calls that write --- */

/* True if a call that writes is to fail: to a file, and to names. */
static bool write_fails(const char *call, int fd, const void *bytes, size_t *n, off_t offset){
  if( !watched(path_of(fd)) ) return false;
  now = (detail){ .fd = fd, .bytes = bytes, .n = n ? *n : 0, .offset = (int64_t)offset };
  return fails(call, path_of(fd), n);
}

static bool names_fail(const char *call, const char *path, const char *other, unsigned flags, int fd){
  if( !watched(path) ) return false;
  now = (detail){ .fd = fd, .flags = flags };
  if( other ) strncpy(now.other, other, PATH_MAX-1);
  return fails(call, path, NULL);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset){
  if( write_fails("pwrite", fd, bytes, &n, offset) ) return -1;
  return syscall(SYS_pwrite64, fd, bytes, n, offset);
}

int ftruncate(int fd, off_t size){
  return write_fails("ftruncate", fd, NULL, NULL, size) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd){
  return write_fails("fsync", fd, NULL, NULL, 0) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t mode){
  return write_fails("fchmod", fd, NULL, NULL, 0) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t user, gid_t group){
  return write_fails("fchown", fd, NULL, NULL, 0) ? -1 : (int)syscall(SYS_fchown, fd, user, group);
}

/* A second descriptor: the only use that there is. */
int fcntl(int fd, int command, ...){
  va_list ap;
  va_start(ap, command);
  const long argument = va_arg(ap, long);
  va_end(ap);
  const bool of_test = !watched(path_of(fd));
  if( command==F_DUPFD_CLOEXEC && write_fails("fcntl", fd, NULL, NULL, 0) ) return -1;
  const int again = (int)syscall(SYS_fcntl, fd, command, argument);
  if( command==F_DUPFD_CLOEXEC && again>=0 && again<FILES && !of_test ) memmove(files[again], files[fd], PATH_MAX);
  return again;
}

/* A name for the file of a descriptor, by its path in /proc; that name is the path asked about. */
int linkat(int from, const char *path, int to, const char *other, int flags){
  int fd = -1;
  if( strncmp(path, "/proc/self/fd/", 14)==0 ) fd = atoi(path+14);
  if( names_fail("linkat", other, other, (unsigned)flags, fd) ) return -1;
  return (int)syscall(SYS_linkat, from, path, to, other, flags);
}

int link(const char *path, const char *other){
  return names_fail("link", path, other, 0, -1) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other, 0);
}

int rename(const char *path, const char *other){
  return names_fail("rename", path, other, 0, -1) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 0);
}

int unlink(const char *path){
  return names_fail("unlink", path, NULL, 0, -1) ? -1 : unlinkat(AT_FDCWD, path, 0);
}

int faccessat(int fd, const char *path, int mode, int flags){
  return path_fails("faccessat", path) ? -1 : (int)syscall(SYS_faccessat, fd, path, mode, flags);
}

int renameat2(int from, const char *path, int to, const char *other, unsigned flags){
  if( names_fail("renameat2", path, other, flags, -1) ) return -1;
  return (int)syscall(SYS_renameat2, from, path, to, other, flags);
}

DIR *opendir(const char *path){
  bool of_test = !watched(path);
  DIR *d;
  if( path_fails("opendir", path) ) return NULL;
  d = REAL(opendir)(path);
  if( d && !of_test ) follow(d, path);
  return d;
}

struct dirent *readdir(DIR *d){
  return path_fails("readdir", path_of_directory(d)) ? NULL : REAL(readdir)(d);
}

int closedir(DIR *d){
  bool failing = path_fails("closedir", path_of_directory(d));
  int e = errno, rc;
  forget(d);
  rc = REAL(closedir)(d);
  if( !failing ) return rc;
  errno = e;
  return -1;
}

int madvise(void *p, size_t n, int advice){
  size_t what = (size_t)advice;
  return ask && !asking && pathless && fails("madvise", "", &what) ? -1 : (int)syscall(SYS_madvise, p, n, advice);
}

/* Of anonymous memory: the C library's own calls do not come here. */
void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t offset){
  if( ask && !asking && pathless && fd<0 && fails("mmap", "", NULL) ) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, p, n, protection, flags, fd, offset);
}

/* True if the code at this address is in a library whose file's name begins so. */
static bool is_in(const void *code, const char *name){
  Dl_info where;
  const char *file;
  if( !dladdr(code, &where) || !where.dli_fname ) return false;
  file = strrchr(where.dli_fname, '/');
  return strncmp(file ? file+1 : where.dli_fname, name, strlen(name))==0;
}

/* True if the extension makes the call that returns to this address. Under AddressSanitizer it is made by a function of that. */
static bool is_from_extension(const void *caller){
  void *frames[4];
  const int n = is_in(caller, "libasan") ? backtrace(frames, 4) : 0;
  for(int i=0; i<n; i++) if( is_in(frames[i], "ztensor") ) return true;
  return is_in(caller, "ztensor");
}

/* Python looks at the clock while it holds a lock of its own, which the question would wait for. */
int clock_gettime(clockid_t clock, struct timespec *out){
  if( ask && !asking && pathless && is_from_extension(__builtin_return_address(0)) && fails("clock_gettime", "", NULL) ) return -1;
  return (int)syscall(SYS_clock_gettime, clock, out);
}
