/*
** A cursor of the frame. Interface between scan.c, which goes from row to row and gives columns,
** and filter.c, which begins a scan.
*/
#ifndef ZT_SQLITE_CURSOR_H
#define ZT_SQLITE_CURSOR_H

#include "core/ahead.h"
#include "sqlite/automatic_index.h"
#include "sqlite/files.h"
#include "sqlite/module.h"
#include "sqlite/wanted.h"

#define ZT_CURSOR_POLL 65536       /* Objects and rows that are passed over between two questions
                                   ** whether to go on */
#define ZT_CURSOR_BLOB 65536       /* A BLOB of so many bytes is kept for the column source without
                                   ** looking whether a statement may ask for it */

/* The values that an argument has, one after the other. */
typedef struct zt_choice {
  sqlite3_value **a;           /* Owned, as they are */
  size_t n, i;                 /* How many; the current one */
} zt_choice;

typedef struct zt_cursor {
  sqlite3_vtab_cursor base;    /* First: SQLite's part */
  zt_scan scan;                /* What the table sees */
  int plan;                    /* ZT_PLAN_ bits */
  zt_choice choice[1+ZT_ARGUMENTS];   /* Values of source and arguments, if one of them is a list */
  bool asked;                  /* What follows is of arguments that were taken: */
  char *argument[ZT_ARGUMENTS];   /* Those of the query, owned; scan.argument has those in force */
  bool is_blob;                /* The source is a BLOB: */
  sqlite3_value *blob;         /* A copy, owned, if it is needed after xFilter; else NULL */
  uint64_t blob_size;          /* Its bytes */
  uint64_t number;             /* That tells the arguments from others; 0: not computed yet */
  zt_files files;              /* If the source is a text */
  zt_wanted wanted;
  bool patterns_known, patterns;   /* LIKE and GLOB may be made use of, if that is known */
  bool compound_known, compound;   /* The statement may be a compound one, if that is known */
  bool source_known, asks_source;  /* The column source may be asked for, if that is known */
  bool few;                    /* Only some of the files, */
  zt_listed **only;            /* those with the wanted paths, ascending; owned */
  size_t nOnly, onlyRoom;
  size_t iFile;                /* Of the next file */
  zt_ahead ahead;              /* Files that come after it, being opened; numbered as iFile is */
  zt_recycled openings;        /* The jobs that open them */
  zt_automatic_index automatic;
  uint64_t left;               /* Rows that may still come */
  sqlite3_stmt *sorted;        /* That gives the rows, in their order, if the files do not; NULL:
                               ** they do */
  bool eof;
  bool begun;                  /* The scan has come to the file or BLOB on which the
                               ** cursor stands: */
  bool standing;               /* It stands on one, perhaps since an earlier scan: */
  zt_listed *file;             /* The file; NULL: a BLOB */
  uint64_t file_id;            /* That it had then: the place in the list may be another file's
                               ** by now */
  bool opened;                 /* It was tried to open it */
  zt_container *container;     /* With a reference; scan.container is the same */
  zt_source *source;
  bool has_stat, tried_stat;   /* What the system says of it is known; it was asked */
  int stat_error;              /* Why it does not say (errno), or 0 */
  zt_stat stat;
  bool found;                  /* positions is up to date */
  zt_positions positions;      /* Objects of the current file that have a wanted name, ascending */
  uint64_t iObject;            /* Of the next object: in positions, or in the container */
  bool entered;                /* The table is at work on an object, or the file itself: */
  bool entered_file;
  uint32_t entered_object;
  bool on_row;                 /* It stands on a row of it */
  zt_ahead works;              /* The table's works on objects that come after it, numbered as
                               ** iObject is */
  zt_work *work;               /* That of an object that it came by, owned; NULL: there is none */
  unsigned want, want_now;     /* What was asked for in works on objects of this file, and what is
                               ** now of the current one */
  bool decoded;                /* object is entered_object's */
  zt_object object;
  zt_error err;                /* Its place is the current file */
  zt_error file_error;         /* What scan.error is taken from */
} zt_cursor;

/* The cursor that a table sees as this. */
static inline zt_cursor *zt_cursor_of(zt_scan *scan){
  return (zt_cursor*)((char*)scan - offsetof(zt_cursor, scan));
}

static inline const zt_table *zt_cursor_table(const zt_cursor *c){
  return ((const zt_vtab*)c->base.pVtab)->module->table;
}

/* True if what stands for a row is a file, readable or not, and no object. */
static inline bool zt_table_is_of_files(const zt_table *t){
  return t->rows==ZT_ROWS_FILES || t->rows==ZT_ROWS_OF_FILES;
}

/* True if the argument object names the one object whose rows the table has. */
static inline bool zt_table_is_of_one(const zt_table *t){
  return zt_table_argument(t, "object")>=0;
}

/* The source names this file, which is not there: no condition hides that. */
static inline bool zt_cursor_is_lost(const zt_listed *file){
  return file->path.literal && file->path.error_number;
}

/* --- scan.c --- */

/* Leave the current object, or the file's own rows; the current file; go back to the state of a new
** cursor, but for memory that is used again. */
void zt_cursor_leave_object(zt_cursor *c);
void zt_cursor_leave_file(zt_cursor *c);
void zt_cursor_reset(zt_cursor *c);
void zt_cursor_clear_choices(zt_cursor *c);

/* Hand the recorded failure to SQLite. Nothing of what was begun is used again. */
int zt_cursor_fail(zt_cursor *c);

/* True if a file that cannot be read is no reason to end the query; what is wrong is then
** that file's. */
bool zt_cursor_may_go_on(const zt_cursor *c);
void zt_cursor_set_file_error(zt_cursor *c);

/* File i of those that the scan goes through, if it is wanted; else NULL. */
zt_listed *zt_cursor_file(const zt_cursor *c, size_t i);
size_t zt_cursor_files(const zt_cursor *c);   /* How many it goes through */

/* Stand on the BLOB, open. Failures are in c->err, or the file's. */
void zt_cursor_open_image(zt_cursor *c, sqlite3_value *image);

/* Stand on the row of this file, of a table that has one for each. */
void zt_cursor_stand_on(zt_cursor *c, zt_listed *file);

/* The rowid, and SQLite's column i, of the row on which the scan stands. */
void zt_cursor_rowid(zt_cursor *c, sqlite3_int64 *out);
void zt_cursor_column(zt_cursor *c, sqlite3_context *ctx, int i);

/* Stand on the first row of the chosen object, or of the file itself, if it has one. */
bool zt_cursor_enter_object(zt_cursor *c);

/* Go to the next row. */
int zt_cursor_advance(zt_cursor *c);

/* Pass over the n rows that OFFSET leaves out. */
int zt_cursor_skip(zt_cursor *c, uint64_t n);

/* Object i of those of the current file that the scan goes through: false if it is not wanted. */
bool zt_cursor_object(const zt_cursor *c, uint64_t i, uint32_t *object);
uint64_t zt_cursor_objects(const zt_cursor *c);   /* How many it goes through */

/* --- cursor_order.c --- */

/* True if the rows that were begun do not come in the order that the plan promised. */
bool zt_cursor_lacks_order(const zt_cursor *c);

/* Have SQLite sort them. source: the argument, NULL: the query gives none; argv: the values behind
** the arguments; columns: those that are used, as the plan says. */
int zt_cursor_sort(zt_cursor *c, sqlite3_value *source, sqlite3_value **argv, const char *columns);

/* Go to the next of the sorted rows. */
int zt_cursor_next_sorted(zt_cursor *c);

/* Visible column i, and the rowid, of the current one. */
void zt_cursor_sorted_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_cursor_sorted_rowid(const zt_cursor *c);

/* Have nothing sorted any more. */
void zt_cursor_unsort(zt_cursor *c);

/* --- cursor_ahead.c --- */

/* Forget the works on objects of the current file. */
void zt_cursor_drop_works(zt_cursor *c);

/* Open the current file of several that the scan goes through, and begin with those that follow.
** Failures are in c->err. */
void zt_cursor_open_ahead(zt_cursor *c, zt_pool *pool, bool source);

/* --- automatic_index.c --- */

/* A scan is over, and c->eof tells if it came to its end; one begins with this plan and values. */
void zt_automatic_end_scan(zt_cursor *c);
void zt_automatic_take(zt_cursor *c, const char *text, sqlite3_value **argv);

/* Its arguments are taken. same: they are those of the one before. */
zt_automatic_answer zt_automatic_filter(zt_cursor *c, sqlite3_value *image, bool same, int *rc);

/* The scan comes by a file. */
void zt_automatic_count_file(zt_cursor *c, const zt_listed *file);

/* Rows of the index. Of a column that it left out, false: the scan stands where it is had. */
int zt_automatic_next(zt_cursor *c);
bool zt_automatic_column(zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_automatic_rowid(const zt_cursor *c);

void zt_automatic_clear(zt_cursor *c);

/* --- filter.c --- */

/* xFilter. */
int zt_cursor_filter(sqlite3_vtab_cursor *p, int plan, const char *text, int argc,
                     sqlite3_value **argv);

/* Go back to before the first row of what is asked for, and to it. same: the BLOB, image, is the
** one that was asked for before. */
void zt_cursor_rewind(zt_cursor *c);
int zt_cursor_begin_scan(zt_cursor *c, sqlite3_value *image, bool same);

/* rc is of the rows of some arguments: at their end, go to those of the next. */
int zt_cursor_go_on(zt_cursor *c, int rc);

#endif
