/*
** The names in a directory, read at once. Interface to code in dirents.c.
*/
#ifndef ZT_CORE_DIRENTS_H
#define ZT_CORE_DIRENTS_H

#include "core/interrupt.h"
#include "core/os.h"

typedef struct zt_dirent {
  size_t at;             /* Of its name in the names */
  zt_kind kind;          /* ZT_KIND_UNKNOWN: the directory does not tell */
} zt_dirent;

/* All zeros: there are none. */
typedef struct zt_dirents {
  zt_dirent *a;           /* Owned */
  size_t n, room;
  char *names;           /* One after the other, each NUL-terminated; owned */
  size_t nNames, namesRoom;
} zt_dirents;

/* Read the directory at path: ascending by the bytes of the names, for what is found first among
** equals is not to depend on the file system. What the system says is *error_number, or 0: names
** may be missing then. SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
int zt_dirents_read(zt_dirents *e, const char *path, const zt_interrupt *interrupt,
                    int *error_number, zt_error *err);

/* Add a name of n bytes. SQLITE_OK or SQLITE_NOMEM (recorded in err). */
int zt_dirents_add(zt_dirents *e, const char *name, size_t n, zt_kind kind, zt_error *err);

static inline const char *zt_dirents_name(const zt_dirents *e, size_t i){
  return e->names+e->a[i].at;
}

/* Bytes of memory that they take. */
static inline size_t zt_dirents_memory(const zt_dirents *e){
  return e->room*sizeof(*e->a) + e->namesRoom;
}

void zt_dirents_clear(zt_dirents *e);

#endif
