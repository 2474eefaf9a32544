/*
** The operating system: the only place that knows one. Paths are UTF-8 (on POSIX systems: whatever
** bytes the system has). Interface to code in os.c, and in os_posix.c or os_windows.c.
*/
#ifndef ZT_CORE_OS_H
#define ZT_CORE_OS_H

#include "core/error.h"
#include "core/path.h"

#define ZT_OS_MESSAGE 256   /* Bytes of a message */

/* What the errno value n means: in the buffer or for ever, since strerror() may use one buffer for
** all threads. */
const char *zt_os_message(int n, char buffer[ZT_OS_MESSAGE]);

/* The path of a file: URI (RFC 8089), decoded, becomes one of the system's: on Windows, /C:/x
** becomes C:/x. */
void zt_os_from_uri(char *path);

/* What the machine is called, in memory from sqlite3_malloc64(); NULL with the reason in err where
** nobody can tell. */
char *zt_os_host(zt_error *err);

/* The user's home directory, in memory from sqlite3_malloc64(); NULL with the reason in err if
** there is none. */
char *zt_os_home(zt_error *err);

/* An open file; -1 is none. */
typedef intptr_t zt_file;

typedef enum zt_kind {
  ZT_KIND_MISSING, ZT_KIND_FILE, ZT_KIND_DIRECTORY, ZT_KIND_FIFO, ZT_KIND_SOCKET, ZT_KIND_DEVICE,
  ZT_KIND_UNKNOWN
} zt_kind;

/* Who a file is and which content it has: two states of one file with equal identity have equal
** content, if the state is settled (below). */
typedef struct zt_identity {
  uint64_t device, inode, size;
  int64_t mtime, ctime;           /* Nanoseconds since 1970 */
} zt_identity;

/* True if what is at one path, or behind one descriptor, is taken for the same at two moments that
** are close to each other: a change that leaves size and time as they were goes unseen. ctime
** changes with a file's names and rights, too. Who keeps content for long compares all of them. */
static inline bool zt_same_state(const zt_identity *a, const zt_identity *b){
  return a->size==b->size && a->mtime==b->mtime;
}

typedef struct zt_stat {
  zt_kind kind;
  zt_identity id;
} zt_stat;

/* What the path names, symbolic links followed. Returns 0 or the errno value; kind is then
** ZT_KIND_MISSING. */
int zt_os_stat(const char *path, zt_stat *out);

/* When what the path names was made, symbolic links followed, in nanoseconds since 1970: an inode's
** number is used again for another file, which was made later. 0: the system does not tell. */
int64_t zt_os_birth(const char *path);

/* 0 if the path names something, be it a symbolic link to nowhere; else the errno value. */
int zt_os_exists(const char *path);

/* True if the error means that nothing is there, rather than that it cannot be told. */
bool zt_os_absent(int error_number);

/* True if it is the process, or the system, that has no descriptors for more files: no fault of
** a file. */
bool zt_os_exhausted(int error_number);

/* The one path of what the path names, symbolic links and all: absolute, without `.` and `..`. In
** memory from sqlite3_malloc64(); NULL with the errno value in *error_number, 0 if memory is
** short. */
char *zt_os_resolve(const char *path, int *error_number);

/* What a kind is called in a message: "a directory". */
const char *zt_kind_name(zt_kind kind);

/* Open a regular file for reading. known is what zt_os_stat() said of the path just now, or NULL if
** nobody asked: anything but a regular file is refused without opening it. Returns -1 with the
** reason in err on failure. *out is the opened file's state. */
zt_file zt_os_open(const char *path, const zt_stat *known, zt_stat *out, zt_error *err);
void zt_os_close(zt_file file);

/* The state of an open file. */
int zt_os_fstat(zt_file file, zt_stat *out);

/* Read n bytes at the offset, in as many calls as it takes. Returns the number read, less than n
** only at the end of the file, or -1 with the reason in *error_number. */
int64_t zt_os_read(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number);

/* True if a file with this identity, looked at now, is old enough for a later change to show in its
** times: a change within one tick of a file system's clock may leave the times as they were. */
bool zt_os_settled(const zt_identity *id);

/* Nanoseconds, above 0, by a clock that nobody sets: for what lies between two times. */
int64_t zt_os_elapsed(void);

/* Ask for large pages behind the bytes of a large buffer that is about to be filled. */
void zt_os_advise_large(void *p, size_t n);

/* n bytes of pages that are nobody else's: 0, and there only once they are touched. NULL if the
** system gives none. */
void *zt_os_map(size_t n);
void zt_os_unmap(void *p, size_t n);

/* A directory being read. */
typedef struct zt_directory zt_directory;
zt_directory *zt_os_opendir(const char *path, int *error_number);
/* The next name in it, `.` and `..` left out, or NULL: at the end, or if it cannot be read on, and
** why is in *error_number. *kind is ZT_KIND_UNKNOWN where the directory does not tell (or tells a
** symbolic link). */
const char *zt_os_readdir(zt_directory *d, zt_kind *kind, int *error_number);
void zt_os_closedir(zt_directory *d);

/* Keep the extension's code in the process to its end, whoever closes the library. */
void zt_os_stay_loaded(void);

#endif
