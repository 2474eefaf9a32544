/*
** The arguments of one call of a table: what xFilter got, else what the table was declared with,
** taken over so that they last as long as the scan. Interface to code in arguments.c.
**
** Where an argument is a list, as in `source IN (...)`, the call stands for one call for each
** choice among the values.
*/
#ifndef ZT_SQLITE_ARGUMENTS_H
#define ZT_SQLITE_ARGUMENTS_H

#include "sqlite/module.h"
#include "sqlite/plan.h"

/* What the source is. */
typedef enum zt_source_state {
  ZT_SOURCE_NONE,              /* No arguments were taken yet */
  ZT_SOURCE_TEXT,              /* Files: a path, a pattern, a directory or a list (files.h) */
  ZT_SOURCE_BLOB               /* A tensor file */
} zt_source_state;

/* The values that an argument has, one after the other. */
typedef struct zt_choice {
  sqlite3_value **a;           /* Owned, as they are */
  size_t n, i;                 /* How many; the current one */
} zt_choice;

/* All zeros at first but for scan and vtab. */
typedef struct zt_arguments {
  zt_scan *scan;               /* Borrowed, like the next; argument and skip are set there */
  const zt_vtab *vtab;
  zt_source_state source;
  sqlite3_value *blob;         /* ZT_SOURCE_BLOB: a copy, owned, if it is needed after xFilter;
                               ** else NULL */
  uint64_t blob_size;          /* Its bytes */
  char *given[ZT_ARGUMENTS];   /* Arguments after source that the query gives; owned */
  zt_choice choice[1+ZT_ARGUMENTS];   /* Values of source and arguments, if one of them is
                                      ** a list */
} zt_arguments;

/* Take the arguments after source, values[0] being the first, NULL where the query gives none.
** *same becomes false if one is another than before. */
int zt_arguments_take(zt_arguments *a, sqlite3_value *const *values, bool *same);

/* Fail: an argument that must be there is not. */
int zt_arguments_fail_usage(const zt_arguments *a);

/* Take the source: a BLOB, which is the same as before if zt_arguments_has_blob() says so, copied
** if `copy`; or a text. */
bool zt_arguments_has_blob(const zt_arguments *a, sqlite3_value *value);
int zt_arguments_take_blob(zt_arguments *a, sqlite3_value *value, bool copy);
void zt_arguments_take_text(zt_arguments *a);

/* Argument i after source as its column shows it; NULL if that is NULL. */
const char *zt_arguments_shown(const zt_arguments *a, int i);

/* Copy the values of source and arguments, of lists all; false in *any if a list is empty. */
int zt_arguments_take_lists(zt_arguments *a, int plan, const zt_plan_values *values, bool *any);

/* The current choice among them, values[0] being the source. Choose the next: false after the
** last one. */
void zt_arguments_chosen(const zt_arguments *a, sqlite3_value *values[1+ZT_ARGUMENTS]);
bool zt_arguments_choose_next(zt_arguments *a);

/* Free what it has, and be as at first. */
void zt_arguments_clear(zt_arguments *a);

#endif
