/*
** The files that a source names, as one cursor sees them while its statement runs. A source that is
** asked for again, as the inner side of a join does for each row of the outer one, is neither
** listed nor looked for again, and containers that were opened stay open. Interface to code
** in files.c.
*/
#ifndef ZT_SQLITE_FILES_H
#define ZT_SQLITE_FILES_H

#include "core/paths.h"
#include "sqlite/open.h"

#define ZT_FILES_LOOKED 16                    /* Paths that were looked for one by one and
                                              ** are remembered */
#define ZT_FILES_BYTES ((size_t)64 << 20)     /* Most bytes of manifests that a cursor keeps open */

/* A file of the list. */
typedef struct zt_listed {
  zt_path path;              /* Owned */
  uint64_t id;               /* No other file that this list had or has has it */
  bool has_stat;             /* What is there is known: */
  zt_stat stat;
  zt_container *kept;        /* With a reference; NULL: it is not open */
} zt_listed;

typedef struct zt_files {
  char *source;              /* Owned; NULL: nothing was asked for yet */
  size_t nSource;
  bool complete;             /* All files of the source; else those looked for */
  bool sorted;               /* By their paths */
  bool again;                /* The source was asked for before: what is opened is kept */
  zt_listed *a;              /* Owned */
  zt_listed **index;         /* Owned; them by their paths, where they are not in that order and one
                             ** was looked up; else NULL */
  size_t n;
  size_t nLost;              /* How many of them are named by the source and not there */
  size_t next;               /* Of those looked for: the one to forget next */
  uint64_t last_id;
  size_t bytes;              /* Of the containers kept */
} zt_files;

/* True if files of this source were asked for before. From here on they are. */
static inline bool zt_files_are_of(const zt_files *f, zt_text source){
  return f->source && f->nSource==source.n && memcmp(f->source, source.z, source.n)==0;
}
int zt_files_begin(zt_files *f, zt_text source, zt_error *err);

/* List all of them; sorted: in the order of their paths, whatever the source says. */
int zt_files_list(zt_files *f, bool sorted, zt_connection *connection, zt_error *err);

/* *out is the file at this path, or NULL if the source does not name it; where the source names one
** that is not there, that. It is valid until the next call. */
int zt_files_find(zt_files *f, zt_text path, zt_connection *connection, zt_listed **out,
                  zt_error *err);

/* Open a file of the list; source: the file itself is wanted, too (open.h). */
int zt_files_open(zt_files *f, zt_listed *file, zt_connection *connection, bool source,
                  zt_opened *out, zt_error *err);

/* The same in two parts of a file that is not open: the first in any thread. */
int zt_files_read(const zt_listed *file, zt_connection *connection, bool source,
                  const zt_interrupt *interrupt, zt_opened *out, zt_error *err);
void zt_files_keep(zt_files *f, zt_listed *file, zt_connection *connection,
                   const zt_opened *opened);

/* The system says that the file is this by now: if it was opened as another, it is opened again. */
void zt_files_renew(zt_files *f, zt_listed *file, const zt_identity *now);

void zt_files_clear(zt_files *f);

#endif
