/* The names in a directory, read at once. Interface to code in dirents.c. */
#ifndef ZT_CORE_DIRENTS_H
#define ZT_CORE_DIRENTS_H

#include "core/interrupt.h"
#include "core/os.h"

typedef struct zt_dirent {
  size_t at;             /* Position of the name in `names` */
  zt_kind kind;          /* ZT_KIND_UNKNOWN if the directory does not tell */
} zt_dirent;

/* All zeros if empty. */
typedef struct zt_dirents {
  zt_dirent *a;           /* Owned */
  size_t n, room;
  char *names;           /* Each NUL-terminated; owned */
  size_t nNames, namesRoom;
} zt_dirents;

/* Reads the directory at path. Names are sorted bytewise, so results do not depend on the file
** system. *error_number is 0 or the errno value; names may then be missing. Returns SQLITE_OK,
** SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
int zt_dirents_read(zt_dirents *e, const char *path, const zt_interrupt *interrupt,
                    int *error_number, zt_error *err);

/* Adds a name of n bytes. Returns SQLITE_OK or SQLITE_NOMEM (recorded in err). */
int zt_dirents_add(zt_dirents *e, const char *name, size_t n, zt_kind kind, zt_error *err);

static inline const char *zt_dirents_name(const zt_dirents *e, size_t i){
  return e->names+e->a[i].at;
}

static inline size_t zt_dirents_memory(const zt_dirents *e){
  return e->room*sizeof(*e->a) + e->namesRoom;
}

void zt_dirents_clear(zt_dirents *e);

#endif
