/*
** Where a scan stands among the files of its source, or on the BLOB that is its source. Files that
** come next are opened ahead, where there are threads. Interface to code in file_iterator.c.
**
**   NONE --stand_on--> LISTED --open--> OPEN          container is there
**                                  \--> UNREADABLE    scan->error says why
**
** A failure that is not the file's is in scan->err, and leaves the state as it was. A file that the
** iterator stands on stays open after the last one, and when the scan begins again: the same may be
** asked for again.
*/
#ifndef ZT_SQLITE_FILE_ITERATOR_H
#define ZT_SQLITE_FILE_ITERATOR_H

#include "core/prefetch.h"
#include "sqlite/constraints.h"
#include "sqlite/files.h"

#define ZT_FILE_STEPS 16   /* Rows that opening a file is worth, for who counts what a scan takes */

typedef enum zt_file_state {
  ZT_FILE_NONE,                /* It stands on none */
  ZT_FILE_LISTED,              /* On one that nobody opened */
  ZT_FILE_OPEN,                /* On one that is open; or on a BLOB, if only as far as wanted */
  ZT_FILE_UNREADABLE           /* On one that cannot be read */
} zt_file_state;

/* Whether the system was asked what is there. */
typedef enum zt_stat_state {
  ZT_STAT_UNASKED,
  ZT_STAT_KNOWN,
  ZT_STAT_FAILED               /* It does not say, or there is nothing to ask for */
} zt_stat_state;

/* A file, and what the system says of it. */
typedef struct zt_file_place {
  zt_listed *file;             /* NULL: a BLOB */
  uint64_t id;                 /* That it had then: the place in the list may be another file's
                               ** by now */
  zt_stat_state asked;
  int error_number;            /* ZT_STAT_FAILED: errno, or 0 */
  zt_stat stat;                /* ZT_STAT_KNOWN */
} zt_file_place;

/* All zeros at first but for scan and wanted. */
typedef struct zt_file_iterator {
  zt_scan *scan;               /* Borrowed; path, container, source and error are set there */
  const zt_constraints *constraints; /* Borrowed */
  zt_files files;              /* If the source is a text */
  bool by_path;                /* Only some of the files: */
  zt_listed **only;            /* those with the wanted paths, ascending; owned */
  size_t nOnly, onlyRoom;
  size_t next;                 /* The place of the next file */
  zt_prefetch prefetch;        /* Files that come after it, being opened; numbered as next is */
  zt_freelist openings;        /* The jobs that open them */
  zt_file_state state;
  zt_file_place at;
  zt_container *container;     /* With a reference; scan->container is the same */
  zt_source *source;
  zt_error error;              /* What scan->error is taken from */
  uint64_t steps;              /* That the files it came by were worth */
} zt_file_iterator;

/* True if a file that cannot be read is no reason to end the query: what is wrong is that
** file's then. */
bool zt_file_may_go_on(const zt_scan *scan);

/* Begin with the files of the source, as wanted: those are listed, or looked for. */
int zt_file_iterator_begin(zt_file_iterator *it);

/* True if there are several files to go through. */
bool zt_file_iterator_has_several(const zt_file_iterator *it);

/* The next file; NULL: there is none, or a failure. */
zt_listed *zt_file_iterator_next(zt_file_iterator *it);

/* True if it stands on that file, which is neither asked for nor opened again then. Stand on it; if
** it was not, the file before is to be left first. */
bool zt_file_iterator_is_on(const zt_file_iterator *it, const zt_listed *file);
void zt_file_iterator_stand_on(zt_file_iterator *it, zt_listed *file);

/* The same of a file as it was when the iterator stood on it before. */
void zt_file_iterator_return(zt_file_iterator *it, const zt_file_place *at);

/* Stand on a BLOB of that size, open as far as wanted: its bytes stay where they are. Stand on a
** source that names nothing which could be listed, for the failure in scan->err. */
void zt_file_iterator_stand_on_image(zt_file_iterator *it, sqlite3_value *image, uint64_t size);
void zt_file_iterator_stand_on_missing(zt_file_iterator *it);

/* Open the file, once. What is wrong with it is in scan->error if the query goes on, and in
** scan->err if not. */
void zt_file_iterator_open(zt_file_iterator *it);

/* What the system says of the file; NULL: it cannot be told, or there is no memory (*nomem). */
const zt_stat *zt_file_iterator_stat(zt_file_iterator *it, bool *nomem);

/* True if the source names just the file, or is the BLOB. */
bool zt_file_iterator_is_literal(const zt_file_iterator *it);

/* Leave the file; go back to before the first one; forget the source; free what it has. */
void zt_file_iterator_leave(zt_file_iterator *it);
void zt_file_iterator_rewind(zt_file_iterator *it);
void zt_file_iterator_reset(zt_file_iterator *it);
void zt_file_iterator_clear(zt_file_iterator *it);

#endif
