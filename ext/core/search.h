/*
** A walk over directories for the files that a pattern names. Interface between search.c, which
** walks, and paths.c, which classifies sources.
*/
#ifndef ZT_CORE_SEARCH_H
#define ZT_CORE_SEARCH_H

#include "core/paths.h"

struct search_place;
struct search_trial;

/* All zeros except the first three. */
typedef struct zt_search {
  const zt_paths_filter *filter;
  zt_paths *out;
  zt_error *err;             /* Receives every failure */
  bool (*files)(const char *name);   /* As in the filter */
  size_t nSource;            /* Length of the source's path if that is a directory, which must
                             ** exist; else 0 */

  /* Private to search.c: */
  size_t room;               /* Allocated members of out->a */
  char *path;                /* The path so far; owned */
  size_t n, capacity;
  char separator;            /* Between names: the source's last one, or a slash */
  struct search_place *links;   /* Directories entered through a symbolic link, with the rest of the
                                ** pattern. Each is entered once for a rest, or a farm of links
                                ** would have no end. Owned */
  size_t nLinks, linksRoom;
  unsigned steps;            /* Counts up to a check for an interrupt */
  struct search_trial *trial;   /* Of the directory that the path is in; borrowed */
} zt_search;

/* Adds the files that the pattern names below the directory `base` of n bytes ("" is the
** process's), in the order of the walk. */
void zt_search_below(zt_search *w, const char *base, size_t n, const char *pattern);

/* zt_search_append() adds a copy of a path with the members of `path`. zt_search_add() does so if
** the filter wants the path. zt_search_add_failed() adds a path that cannot be examined; if the
** only wanted path lies below, that one is added instead. */
void zt_search_append(zt_search *w, const char *z, zt_path path);
void zt_search_add(zt_search *w, const char *z, zt_path path);
void zt_search_add_failed(zt_search *w, const char *z, const char *action, int error_number);

/* Frees what a path owns; drops the paths from index n on. */
void zt_search_free_path(zt_path *path);
void zt_search_drop(zt_paths *p, size_t n);

/* Returns whether the errno value means that the path leads to nothing. */
bool zt_search_absent(int error_number);

/* Frees all but the results. */
void zt_search_clear(zt_search *w);

#endif
