/*
** What of a source a query wants, from the values that xFilter gets: paths, objects, a range of
** rows. All of it is copied, so that it lasts as long as the scan; memory is used again by the next
** one. Interface to code in constraints.c.
*/
#ifndef ZT_SQLITE_CONSTRAINTS_H
#define ZT_SQLITE_CONSTRAINTS_H

#include "core/u32_array.h"
#include "sqlite/plan.h"

/* Texts that a column is compared with, each NUL-terminated, one after the other. */
typedef struct zt_names {
  bool any;              /* The comparison excludes nothing that can be told by the text */
  char *bytes;           /* Owned */
  size_t n, room;        /* Bytes used and allocated */
  zt_u32_array at;       /* Where each begins */
} zt_names;

static inline uint32_t zt_names_count(const zt_names *names){
  return names->at.n;
}

static inline zt_text zt_names_get(const zt_names *names, uint32_t i){
  size_t end = i+1<names->at.n ? names->at.a[i+1] : names->n;
  return (zt_text){ names->bytes+names->at.a[i], end-names->at.a[i]-1 };
}

/* One text instead of those that were there. */
int zt_names_set(zt_names *names, zt_text text, zt_error *err);
void zt_names_clear(zt_names *names);

/* A LIKE or GLOB, which SQLite checks again; NULL: none. Owned. */
typedef struct zt_patterns {
  char *like, *glob;
} zt_patterns;

typedef struct zt_constraints {
  int plan;              /* ZT_PLAN_ bits */
  zt_names paths, objects;
  zt_patterns path_patterns, object_patterns;
  zt_range range;        /* Of iPosition */
  bool uncounted;        /* Of rows beyond 2^63, which are shown as text, only SQLite can tell how
                         ** they compare: but limit and offset count those that are wanted */
  uint64_t limit;        /* Most rows; UINT64_MAX: all */
  uint64_t offset;       /* Rows before the first one */
} zt_constraints;

#define ZT_CONSTRAINTS_POLL 1024 /* Values of a list, and names looked up in a list, between two
                                   ** checks for an interrupt */

/* Take the values of the plan behind those of the arguments. patterns: LIKE and GLOB may be made
** use of. */
int zt_constraints_take(zt_constraints *w, int plan, const zt_plan_values *values, bool patterns,
                        const zt_interrupt *interrupt, zt_error *err);

/* True if the patterns leave a path, or an object's name. */
bool zt_constraints_path(const zt_constraints *w, const char *path);
bool zt_constraints_object(const zt_constraints *w, zt_text name);

/* True if objects are told by their names at all, and files by their paths. */
static inline bool zt_constraints_filters(const zt_constraints *w){
  return w->object_patterns.like || w->object_patterns.glob;
}
static inline bool zt_constraints_filters_paths(const zt_constraints *w){
  return w->path_patterns.like || w->path_patterns.glob;
}

void zt_constraints_clear(zt_constraints *w);

#endif
