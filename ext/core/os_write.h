/*
** The operating system's part of writing; reading calls none of it. Paths are as in os.h.
** Functions that return int return 0 or the errno value. Interface to code in os_write_posix.c or
** os_write_windows.c.
*/
#ifndef ZT_CORE_OS_WRITE_H
#define ZT_CORE_OS_WRITE_H

#include "core/interrupt.h"
#include "core/os.h"

/* Make a file for writing and reading back, in the directory that ends with path's last
** separator. *unnamed: it has no name that lasts, and vanishes with the process or
** zt_os_close(); else path is its name, and it is new (EEXIST). like: the file whose permission
** bits it gets, and whose owner if the system allows that; NULL, or a file that is not there: it
** gets those of any new file. */
int zt_os_create(const char *path, const char *like, bool *unnamed, zt_file *out);

/* 0 if a file may be made in the directory that ends with path's last separator, as far as that is
** known without trying. */
int zt_os_may_create(const char *path);

/* The size that no file of this process may exceed. POSIX systems end a process that tries. */
uint64_t zt_os_size_limit(void);

/* Write n bytes at the offset, in as many calls as it takes. */
int zt_os_write(zt_file file, uint64_t offset, const void *p, size_t n);

/* Cut a file, or make it longer with bytes that are 0. */
int zt_os_truncate(zt_file file, uint64_t size);

/* Return when a file's bytes are on the disk. A failure is told once: the next call may succeed,
** and the bytes may be lost all the same. */
int zt_os_sync(zt_file file);

/* Hand a file's bytes to the server that keeps it, which may refuse them. A disk of this machine
** has no such step. */
int zt_os_flush(zt_file file);

/* Return when the names of the directory are on the disk that ends with path's last separator. */
int zt_os_sync_directory(const char *path);

/* Hold the directory that ends with path's last separator until zt_os_close(), so that others who
** hold it wait: they do for at most ten seconds. An interrupt is a failure. -1: it is not held, as
** where the system has no such thing. */
zt_file zt_os_hold_directory(const char *path, const zt_interrupt *interrupt, zt_error *err);

/* Give an unnamed file a name that must be new (EEXIST). */
int zt_os_name(zt_file file, const char *path);

/* Give what `from` names the name `to` instead, which must be new (EEXIST). */
int zt_os_rename_new(const char *from, const char *to);

/* Let two names name each other's file, in one instant. ENOTSUP where there is no such thing. */
int zt_os_exchange(const char *path, const char *other);

/* Give a file a second name that must be new. */
int zt_os_link(const char *path, const char *second);

/* Give what `from` names the name `to`, in one instant, whatever that named. */
int zt_os_rename(const char *from, const char *to);

int zt_os_remove(const char *path);

/* A second descriptor of an open file, for reading. */
int zt_os_duplicate(zt_file file, zt_file *out);

/* A number that no other file's name is likely to have. */
uint64_t zt_os_random(void);

#endif
