/*
** The part of a source that a query wants, from the values that xFilter gets: paths, objects, a
** range of rows. All of it is copied and lasts as long as the scan; the next scan reuses the
** memory. Interface to code in constraints.c.
*/
#ifndef ZT_SQLITE_CONSTRAINTS_H
#define ZT_SQLITE_CONSTRAINTS_H

#include "core/u32_array.h"
#include "sqlite/plan.h"

/* Texts that a column is compared with, NUL-terminated, one after the other. */
typedef struct zt_names {
  bool any;              /* Any text may satisfy the comparison */
  char *bytes;           /* Owned */
  size_t n, room;        /* Bytes used and allocated */
  zt_u32_array at;       /* Offset of each */
} zt_names;

static inline uint32_t zt_names_count(const zt_names *names){
  return names->at.n;
}

static inline zt_text zt_names_get(const zt_names *names, uint32_t i){
  size_t end = i+1<names->at.n ? names->at.a[i+1] : names->n;
  return (zt_text){ names->bytes+names->at.a[i], end-names->at.a[i]-1 };
}

/* Replace all names by this text. */
int zt_names_set(zt_names *names, zt_text text, zt_error *err);
void zt_names_clear(zt_names *names);

/* A LIKE and a GLOB, owned, which SQLite checks again; NULL: none. */
typedef struct zt_patterns {
  char *like, *glob;
} zt_patterns;

typedef struct zt_constraints {
  int plan;              /* ZT_PLAN_ bits */
  zt_names paths, objects;
  zt_patterns path_patterns, object_patterns;
  zt_range range;        /* Of iPosition */
  bool uncounted;        /* LIMIT or OFFSET counts wanted rows, but only SQLite can compare rows
                         ** from 2^63 on, which are shown as text */
  uint64_t limit;        /* Maximum number of rows; UINT64_MAX: all */
  uint64_t offset;       /* Number of rows to skip */
} zt_constraints;

#define ZT_CONSTRAINTS_POLL 1024 /* Values of a list, and names looked up in a list, between two
                                 ** interrupt checks */

/* Take the values of the plan that follow the arguments. patterns: LIKE and GLOB may be used. */
int zt_constraints_take(zt_constraints *w, int plan, const zt_plan_values *values, bool patterns,
                        const zt_interrupt *interrupt, zt_error *err);

/* True if the patterns accept a path, or an object's name. */
bool zt_constraints_path(const zt_constraints *w, const char *path);
bool zt_constraints_object(const zt_constraints *w, zt_text name);

/* True if there are patterns for objects' names, or for paths. */
static inline bool zt_constraints_filters(const zt_constraints *w){
  return w->object_patterns.like || w->object_patterns.glob;
}
static inline bool zt_constraints_filters_paths(const zt_constraints *w){
  return w->path_patterns.like || w->path_patterns.glob;
}

void zt_constraints_clear(zt_constraints *w);

#endif
