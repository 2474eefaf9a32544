/*
** What writing needs of the operating system; reading calls none of it. Paths are as in os.h.
** Functions that return int return 0 or the errno value. Interface to code in os_write_posix.c or
** os_write_windows.c.
*/
#ifndef ZT_CORE_OS_WRITE_H
#define ZT_CORE_OS_WRITE_H

#include "core/os.h"

/* Make a file for writing and reading back, in the directory that ends with path's last separator.
** *unnamed: it has no name, and vanishes with the process; else path is its name, and it is new
** (EEXIST). mode: its permission bits; -1: those that the process gives new files. */
int zt_os_create(const char *path, int mode, bool *unnamed, zt_file *out);

/* The permission bits of what the path names. */
int zt_os_mode(const char *path, int *mode);

/* Write n bytes at the offset, in as many calls as it takes. */
int zt_os_write(zt_file file, uint64_t offset, const void *p, size_t n);

/* Cut a file, or make it longer with bytes that are 0. */
int zt_os_truncate(zt_file file, uint64_t size);

/* Return when a file's bytes are on the disk; when a directory's names are. */
int zt_os_sync(zt_file file);
int zt_os_sync_directory(const char *path);

/* Give an unnamed file a name that must be new (EEXIST). */
int zt_os_name(zt_file file, const char *path);

/* Give a file a second name that must be new. */
int zt_os_link(const char *path, const char *second);

/* Give what `from` names the name `to`, in one instant, whatever that named. */
int zt_os_rename(const char *from, const char *to);

int zt_os_remove(const char *path);

/* A number that no other file's name is likely to have. */
uint64_t zt_os_random(void);

#endif
