/*
** The arguments of one call of a table, copied for the duration of the scan. They come from xFilter
** or else from CREATE VIRTUAL TABLE. Interface to code in arguments.c.
**
** If an argument is a list, as in `source IN (...)`, the call stands for several calls, one for
** each combination of values.
*/
#ifndef ZT_SQLITE_ARGUMENTS_H
#define ZT_SQLITE_ARGUMENTS_H

#include "sqlite/module.h"
#include "sqlite/plan.h"

/* The kind of a source. */
typedef enum zt_source_state {
  ZT_SOURCE_NONE,              /* No arguments yet */
  ZT_SOURCE_TEXT,              /* Files: a path, a pattern, a directory or a list (files.h) */
  ZT_SOURCE_BLOB               /* A tensor file */
} zt_source_state;

/* The values of an argument. */
typedef struct zt_choice {
  sqlite3_value **a;           /* Owned, and so is each value */
  size_t n, i;                 /* Number of values; index of the current one */
} zt_choice;

/* Initially zero, except scan and vtab. */
typedef struct zt_arguments {
  zt_scan *scan;               /* Borrowed, like vtab. These functions set its argument, skip */
  const zt_vtab *vtab;
  zt_source_state source;
  sqlite3_value *blob;         /* ZT_SOURCE_BLOB: an owned copy if it is needed after xFilter;
                               ** else NULL */
  uint64_t blob_size;          /* Size of the BLOB in bytes */
  char *given[ZT_ARGUMENTS];   /* Arguments after source that the query gives; owned */
  zt_choice choice[1+ZT_ARGUMENTS];   /* Values of source and arguments, if one is a list */
} zt_arguments;

/* Take the arguments after source. NULL in values: the query does not give that argument. *same
** becomes false if an argument has changed. */
int zt_arguments_take(zt_arguments *a, sqlite3_value *const *values, bool *same);

/* Fail because a required argument is missing. */
int zt_arguments_fail_usage(const zt_arguments *a);

/* Take the source: a BLOB, copied if `copy`, or a text. zt_arguments_has_blob(): the BLOB has not
** changed. */
bool zt_arguments_has_blob(const zt_arguments *a, sqlite3_value *value);
int zt_arguments_take_blob(zt_arguments *a, sqlite3_value *value, bool copy);
void zt_arguments_take_text(zt_arguments *a);

/* Argument i after source as its column shows it. */
const char *zt_arguments_shown(const zt_arguments *a, int i);

/* Copy all values of source and arguments. *any is false if a list is empty. */
int zt_arguments_take_lists(zt_arguments *a, int plan, const zt_plan_values *values, bool *any);

/* The current combination; values[0] is the source. Go to the next: false after the last. */
void zt_arguments_chosen(const zt_arguments *a, sqlite3_value *values[1+ZT_ARGUMENTS]);
bool zt_arguments_choose_next(zt_arguments *a);

/* Free everything, and return to the initial state. */
void zt_arguments_clear(zt_arguments *a);

#endif
