/*
** Where a scan stands among the objects of a file, and among the rows of one. What a table computes
** of objects that come next is computed ahead, where there are threads. Interface to code in
** object_iterator.c.
**
**   NONE --come--> BEFORE --next--> BETWEEN --enter--> ON_ROW
**                                         <--next_row--
**
** Of a table whose rows are of files, `enter` stands on a row of the file itself. An object that
** the table is at work on stays open when the scan begins again: rows of the same may be asked for
** again.
*/
#ifndef ZT_SQLITE_OBJECT_ITERATOR_H
#define ZT_SQLITE_OBJECT_ITERATOR_H

#include "core/prefetch.h"
#include "core/u32_array.h"
#include "sqlite/file_iterator.h"

#define ZT_SCAN_POLL 65536     /* Objects and rows that are passed over between two questions
                               ** whether to go on */

typedef enum zt_object_state {
  ZT_OBJECTS_NONE,             /* The scan did not come to a file */
  ZT_OBJECTS_BEFORE,           /* Before the first object: which are wanted is not known yet */
  ZT_OBJECTS_BETWEEN,          /* On no row */
  ZT_OBJECTS_ON_ROW
} zt_object_state;

/* What the table is at work on. */
typedef enum zt_entered {
  ZT_ENTERED_NOTHING,
  ZT_ENTERED_FILE,
  ZT_ENTERED_OBJECT
} zt_entered;

/* All zeros at first but for scan, wanted and files. */
typedef struct zt_object_iterator {
  zt_scan *scan;               /* Borrowed, like the next two; on_file and object are set there */
  const zt_constraints *constraints;
  const zt_file_iterator *files;
  zt_object_state state;
  zt_u32_array positions;      /* Objects of the file that have a wanted name, ascending */
  uint64_t next;               /* The next object: in positions, or in the container */
  zt_entered entered;
  uint32_t entered_object;
  bool decoded;                /* object is scan->object's */
  zt_object object;
  zt_prefetch works;           /* The table's works on objects that come after it, numbered as
                               ** next is */
  zt_work *work;               /* That of an object that it came by, owned; NULL: there is none */
  unsigned want, want_now;     /* What was asked for in works on objects of this file, and what is
                               ** now of the current one */
  uint64_t passed;             /* Objects that were passed over for others that are wanted */
} zt_object_iterator;

/* The scan comes to the file, at work on an object of it or not. */
void zt_object_iterator_come(zt_object_iterator *it);

/* Stand on the first row of the next object that has one, or of the file itself, where the table
** has rows for that. False at the end, and on a failure. */
bool zt_object_iterator_next(zt_object_iterator *it);

/* The same of the chosen object, or the file. */
bool zt_object_iterator_enter(zt_object_iterator *it);

/* Stand on the next row of the same. */
bool zt_object_iterator_next_row(zt_object_iterator *it);

/* The object, decoded, and the table's work on it (scan.h). */
const zt_object *zt_object_iterator_decoded(zt_object_iterator *it);
zt_work *zt_object_iterator_work(zt_object_iterator *it, unsigned want, zt_error *err);

/* Leave the object, or the file's own rows; leave the file; go back to before it; free what
** it has. */
void zt_object_iterator_leave(zt_object_iterator *it);
void zt_object_iterator_leave_file(zt_object_iterator *it);
void zt_object_iterator_rewind(zt_object_iterator *it);
void zt_object_iterator_clear(zt_object_iterator *it);

#endif
