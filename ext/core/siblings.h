/*
** The states of files, many of which are in one directory. The system looks up each name of a path.
** From the second file of a directory on, files are looked up in the open directory, by one name.
** If the directory is renamed meanwhile, the states are those of its files, as if they had been
** examined before. Interface to code in siblings.c.
*/
#ifndef ZT_CORE_SIBLINGS_H
#define ZT_CORE_SIBLINGS_H

#include "core/os.h"

/* All zeros at first. */
typedef struct zt_siblings {
  char *path;          /* The directory of the last file, with its separator; owned */
  size_t n;            /* Its bytes; 0: none */
  bool opened;         /* It was opened, or that failed: */
  zt_file directory;   /* then -1 */
} zt_siblings;

/* Examines a path as zt_os_stat() does. */
int zt_siblings_stat(zt_siblings *s, const char *path, zt_stat *out);

/* Forgets and closes the directory. */
void zt_siblings_clear(zt_siblings *s);

#endif
