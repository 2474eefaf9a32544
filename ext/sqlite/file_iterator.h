/*
** The position of a scan among the files of its source, or on the BLOB that is its source. The next
** files are prefetched if there are threads. Interface to code in file_iterator.c.
**
**   NONE --stand_on--> LISTED --open--> OPEN          container is there
**                                  \--> UNREADABLE    scan->error says why
**
** A failure that is not the file's goes into scan->err and leaves the state unchanged. The current
** file stays open at the end and when the scan begins again: the query may ask for it again.
*/
#ifndef ZT_SQLITE_FILE_ITERATOR_H
#define ZT_SQLITE_FILE_ITERATOR_H

#include "core/prefetch.h"
#include "sqlite/constraints.h"
#include "sqlite/files.h"

#define ZT_FILE_STEPS 16   /* The cost of opening a file, in rows */

typedef enum zt_file_state {
  ZT_FILE_NONE,                /* No file */
  ZT_FILE_LISTED,              /* A file that is not open */
  ZT_FILE_OPEN,                /* An open file, or a BLOB as far as it is needed */
  ZT_FILE_UNREADABLE           /* A file that cannot be read */
} zt_file_state;

/* Whether the file's stat is known. */
typedef enum zt_stat_state {
  ZT_STAT_UNASKED,
  ZT_STAT_KNOWN,
  ZT_STAT_FAILED               /* The call failed, or there is no file */
} zt_stat_state;

/* A file and its stat. */
typedef struct zt_file_place {
  zt_listed *file;             /* NULL: a BLOB */
  uint64_t id;                 /* The file's id: its place in the list may since belong to
                               ** another file */
  zt_stat_state asked;
  int error_number;            /* ZT_STAT_FAILED: errno, or 0 */
  zt_stat stat;                /* ZT_STAT_KNOWN */
} zt_file_place;

/* Initially zero, except scan and constraints. */
typedef struct zt_file_iterator {
  zt_scan *scan;               /* Borrowed; the iterator sets its path, container, source, error */
  const zt_constraints *constraints; /* Borrowed */
  zt_files files;              /* If the source is a text */
  bool by_path;                /* Only the files in `only`: */
  zt_listed **only;            /* files with the wanted paths, ascending; owned */
  size_t nOnly, onlyRoom;
  size_t next;                 /* Index of the next file */
  zt_prefetch prefetch;        /* Files after it, being opened; numbered like next */
  zt_freelist openings;        /* The jobs that open them */
  zt_file_state state;
  zt_file_place at;
  zt_container *container;     /* With a reference; scan->container is the same */
  zt_source *source;
  zt_error error;              /* scan->error points here */
  uint64_t steps;              /* The cost of all files so far, in rows */
} zt_file_iterator;

/* True if the failure in scan->err belongs to the file and does not end the query. */
bool zt_file_may_go_on(const zt_scan *scan);

/* List the wanted files of the source, or look them up. */
int zt_file_iterator_begin(zt_file_iterator *it);

/* True if there are several files. */
bool zt_file_iterator_has_several(const zt_file_iterator *it);

/* The next file; NULL: there is none, or a failure. */
zt_listed *zt_file_iterator_next(zt_file_iterator *it);

/* True if it already stands on that file. Stand on it; the caller leaves another file first. */
bool zt_file_iterator_is_on(const zt_file_iterator *it, const zt_listed *file);
void zt_file_iterator_stand_on(zt_file_iterator *it, zt_listed *file);

/* Return to a file in the state that it had before. */
void zt_file_iterator_return(zt_file_iterator *it, const zt_file_place *at);

/* Stand on a BLOB of that size, which must stay in place. Stand on a source that cannot be listed;
** the failure is in scan->err. */
void zt_file_iterator_stand_on_image(zt_file_iterator *it, sqlite3_value *image, uint64_t size);
void zt_file_iterator_stand_on_missing(zt_file_iterator *it);

/* Open the file, once. A failure is in scan->error if the query goes on, otherwise in scan->err. */
void zt_file_iterator_open(zt_file_iterator *it);

/* The file's stat; NULL: not known, or out of memory (*nomem). */
const zt_stat *zt_file_iterator_stat(zt_file_iterator *it, bool *nomem);

/* The entity tag of a remote file, from sqlite3_malloc64(); NULL: none, or out of memory
** (*nomem). */
char *zt_file_iterator_etag(zt_file_iterator *it, bool *nomem);

/* True if the source names just the file, or is the BLOB. */
bool zt_file_iterator_is_literal(const zt_file_iterator *it);

/* Leave the file; go before the first file; forget the source; free everything. */
void zt_file_iterator_leave(zt_file_iterator *it);
void zt_file_iterator_rewind(zt_file_iterator *it);
void zt_file_iterator_reset(zt_file_iterator *it);
void zt_file_iterator_clear(zt_file_iterator *it);

#endif
