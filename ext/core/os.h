/*
** The interface to the operating system. Only these files call it. Paths are UTF-8; on POSIX
** systems they are any bytes that the system accepts. Interface to code in os.c, and in os_posix.c
** or os_windows.c.
*/
#ifndef ZT_CORE_OS_H
#define ZT_CORE_OS_H

#include "core/error.h"
#include "core/path.h"

#define ZT_OS_MESSAGE 256   /* Bytes of a message */

/* Returns the text of the errno value n, in the buffer or static: strerror() may share one buffer
** among threads. */
const char *zt_os_message(int n, char buffer[ZT_OS_MESSAGE]);

/* Converts the decoded path of a file: URI (RFC 8089) to the system's: on Windows, /C:/x becomes
** C:/x. */
void zt_os_from_uri(char *path);

/* Returns the machine's name, from sqlite3_malloc64(). NULL with the reason in err after a
** failure. */
char *zt_os_host(zt_error *err);

/* Returns the user's home directory, from sqlite3_malloc64(). NULL with the reason in err if there
** is none. */
char *zt_os_home(zt_error *err);

/* An open file, or -1. */
typedef intptr_t zt_file;

typedef enum zt_kind {
  ZT_KIND_MISSING, ZT_KIND_FILE, ZT_KIND_DIRECTORY, ZT_KIND_FIFO, ZT_KIND_SOCKET, ZT_KIND_DEVICE,
  ZT_KIND_UNKNOWN
} zt_kind;

/* The identity of a file and of its content: two states with equal identity have equal content, if
** they are settled (zt_os_settled()). */
typedef struct zt_identity {
  uint64_t device, inode, size;
  int64_t mtime, ctime;           /* Nanoseconds since 1970 */
  uint64_t tag;                   /* Of a remote file, for its ETag; else 0 */
} zt_identity;

/* Returns whether a path or descriptor shows the same content at two moments close to each other. A
** change that keeps size and mtime goes unseen. ctime also changes with names and rights, so it
** does not count here. Long-lived caches compare all members. */
static inline bool zt_same_state(const zt_identity *a, const zt_identity *b){
  return a->size==b->size && a->mtime==b->mtime && a->tag==b->tag;
}

typedef struct zt_stat {
  zt_kind kind;
  zt_identity id;
  const struct zt_remote_state *remote;   /* Of a remote file: the state that a listing states;
                                          ** borrowed. NULL: unknown, or a local file */
} zt_stat;

/* Examines a path and follows symbolic links. Returns 0 or the errno value; kind is then
** ZT_KIND_MISSING. */
int zt_os_stat(const char *path, zt_stat *out);

/* Returns the birth time of a path's target in nanoseconds since 1970, because inode numbers are
** reused by newer files. 0 if the system does not tell. */
int64_t zt_os_birth(const char *path);

/* Returns 0 if the path exists, even as a dangling symbolic link; else the errno value. */
int zt_os_exists(const char *path);

/* Returns whether the errno value means that nothing is there, rather than that it cannot be
** examined. */
bool zt_os_absent(int error_number);

/* Returns whether the process or the system has no file descriptors left. */
bool zt_os_exhausted(int error_number);

/* Returns the canonical path: absolute, without `.`, `..` and symbolic links, from
** sqlite3_malloc64(). NULL with the errno value in *error_number, which is 0 if memory is short. */
char *zt_os_resolve(const char *path, int *error_number);

/* Returns a kind's name for messages: "a directory". */
const char *zt_kind_name(zt_kind kind);

/* Opens a regular file for reading. known is a fresh result of zt_os_stat() or NULL. Anything but a
** regular file is refused without opening it. *out is the state of the opened file. Returns -1 with
** the reason in err after a failure. */
zt_file zt_os_open(const char *path, const zt_stat *known, zt_stat *out, zt_error *err);
void zt_os_close(zt_file file);

/* Examines an open file. Returns 0 or the errno value. */
int zt_os_fstat(zt_file file, zt_stat *out);

/* Reads n bytes at the offset, in as many calls as necessary. Returns the number read, less than n
** only at the end of the file; -1 with the errno value in *error_number. */
int64_t zt_os_read(zt_file file, uint64_t offset, void *buffer, size_t n, int *error_number);

/* Returns whether a file that has this identity now is old enough for any later change to show in
** its times: a change within one tick of a file system's clock may keep them. */
bool zt_os_settled(const zt_identity *id);

/* Returns nanoseconds above 0 from a monotonic clock. */
int64_t zt_os_elapsed(void);

/* Requests large pages for a large buffer that is about to be filled. */
void zt_os_advise_large(void *p, size_t n);

/* Maps n bytes of zeros; pages take memory once they are touched. NULL if the system gives none. */
void *zt_os_map(size_t n);
void zt_os_unmap(void *p, size_t n);

typedef struct zt_directory zt_directory;
zt_directory *zt_os_opendir(const char *path, int *error_number);

/* Returns the next name except `.` and `..`. NULL at the end (*error_number is 0) or after a
** failure (its errno value). *kind is ZT_KIND_UNKNOWN for symbolic links, and where the directory
** does not tell. */
const char *zt_os_readdir(zt_directory *d, zt_kind *kind, int *error_number);
void zt_os_closedir(zt_directory *d);

/* Keeps the extension's code loaded until the process ends, whoever closes the library. */
void zt_os_stay_loaded(void);

#endif
