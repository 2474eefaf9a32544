/*
** The position of a scan among the objects of a file, and among the rows of an object. A table's
** work on the next objects is prefetched if there are threads. Interface to code in
** object_iterator.c.
**
**   NONE --come--> BEFORE --next--> BETWEEN --enter--> ON_ROW
**                                         <--next_row--
**
** If a table's rows belong to files, `enter` goes to a row of the file itself. The current object
** stays open when the scan begins again: the query may ask for its rows again.
*/
#ifndef ZT_SQLITE_OBJECT_ITERATOR_H
#define ZT_SQLITE_OBJECT_ITERATOR_H

#include "core/prefetch.h"
#include "core/u32_array.h"
#include "sqlite/file_iterator.h"

#define ZT_SCAN_POLL 65536     /* Objects and rows that are skipped between two checks for an
                               ** interrupt */

typedef enum zt_object_state {
  ZT_OBJECTS_NONE,             /* No file */
  ZT_OBJECTS_BEFORE,           /* Before the first object; the names are not looked up yet */
  ZT_OBJECTS_BETWEEN,          /* On no row */
  ZT_OBJECTS_ON_ROW
} zt_object_state;

/* The owner of the row state. */
typedef enum zt_entered {
  ZT_ENTERED_NOTHING,
  ZT_ENTERED_FILE,
  ZT_ENTERED_OBJECT
} zt_entered;

/* Initially zero, except scan, constraints and files. */
typedef struct zt_object_iterator {
  zt_scan *scan;               /* Borrowed, like the next two; on_file and object are set here */
  const zt_constraints *constraints;
  const zt_file_iterator *files;
  zt_object_state state;
  zt_u32_array positions;      /* Objects of the file that have a wanted name, ascending */
  uint64_t next;               /* The next object: in positions, or in the container */
  zt_entered entered;
  uint32_t entered_object;
  bool decoded;                /* object is the decoded scan->object */
  zt_object object;
  zt_prefetch works;           /* The table's work on the objects after it, numbered like next */
  zt_work *work;               /* The last finished work, owned; NULL: none */
  unsigned want, want_now;     /* Results requested so far in this file, and now for the current
                               ** object */
  uint64_t passed;             /* Objects that a lookup by name did not have to visit */
} zt_object_iterator;

/* Begin with the file. An object of it may still be open. */
void zt_object_iterator_come(zt_object_iterator *it);

/* Go to the first row of the next object that has rows, or of the file itself if the table has rows
** for it. False at the end and on failure. */
bool zt_object_iterator_next(zt_object_iterator *it);

/* Go to the first row of the chosen object, or of the file. */
bool zt_object_iterator_enter(zt_object_iterator *it);

/* Go to the next row of the same object or file. */
bool zt_object_iterator_next_row(zt_object_iterator *it);

/* zt_scan_object() and zt_scan_work() of scan.h. */
const zt_object *zt_object_iterator_decoded(zt_object_iterator *it);
zt_work *zt_object_iterator_work(zt_object_iterator *it, unsigned want, zt_error *err);

/* Leave the object, or the file's own rows; leave the file; go before the file; free everything. */
void zt_object_iterator_leave(zt_object_iterator *it);
void zt_object_iterator_leave_file(zt_object_iterator *it);
void zt_object_iterator_rewind(zt_object_iterator *it);
void zt_object_iterator_clear(zt_object_iterator *it);

#endif
