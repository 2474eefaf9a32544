/*
** The files of a source, for one cursor. If a query asks for the same source again, as the inner
** table of a join does, the files are not listed again and open containers stay open. Interface to
** code in files.c.
*/
#ifndef ZT_SQLITE_FILES_H
#define ZT_SQLITE_FILES_H

#include "core/paths.h"
#include "sqlite/open.h"

#define ZT_FILES_LOOKED 16                    /* Remembered paths that were looked
                                              ** up one by one */
#define ZT_FILES_BYTES ((size_t)64 << 20)     /* Most bytes of manifests that a cursor keeps open */

/* A file of the list. */
typedef struct zt_listed {
  zt_path path;              /* Owned */
  uint64_t id;               /* Unique among all files this list ever had */
  bool has_stat;             /* stat is known */
  zt_stat stat;
  zt_container *kept;        /* With a reference; NULL: not open */
} zt_listed;

typedef struct zt_files {
  char *source;              /* Owned; NULL: no source yet */
  size_t nSource;
  bool complete;             /* All files of the source; else those looked up */
  bool sorted;               /* By their paths */
  bool again;                /* The source was used before: opened containers are kept */
  zt_listed *a;              /* Owned */
  zt_listed **index;         /* Owned; the files by path, made for a lookup if they are not sorted;
                             ** else NULL */
  size_t n;
  size_t nLost;              /* Files that the source names but that do not exist */
  size_t next;               /* Not complete: the file to forget next */
  uint64_t last_id;
  size_t bytes;              /* Of the containers kept */
} zt_files;

/* True if the files are of this source. Begin with this source. */
static inline bool zt_files_are_of(const zt_files *f, zt_text source){
  return f->source && f->nSource==source.n && memcmp(f->source, source.z, source.n)==0;
}
int zt_files_begin(zt_files *f, zt_text source, zt_error *err);

/* List all files; sorted: by path. */
int zt_files_list(zt_files *f, bool sorted, bool opened, zt_connection *connection, zt_error *err);

/* *out is the file at this path, also if the source names it and it does not exist; NULL if the
** source does not name it. Valid until the next call. */
int zt_files_find(zt_files *f, zt_text path, zt_connection *connection, zt_listed **out,
                  zt_error *err);

/* Open a file of the list; source: as in open.h. */
int zt_files_open(zt_files *f, zt_listed *file, zt_connection *connection, bool source,
                  zt_opened *out, zt_error *err);

/* The same in two parts, for a file that is not open. The first may run in any thread. */
int zt_files_read(const zt_listed *file, zt_connection *connection, bool source,
                  const zt_interrupt *interrupt, zt_opened *out, zt_error *err);
void zt_files_keep(zt_files *f, zt_listed *file, zt_connection *connection,
                   const zt_opened *opened);

/* The file now has this identity: drop a container that was opened with another one. */
void zt_files_renew(zt_files *f, zt_listed *file, const zt_identity *now);

void zt_files_clear(zt_files *f);

#endif
