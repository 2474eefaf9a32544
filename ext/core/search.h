/*
** A walk over directories for what a pattern names. Interface between search.c, which walks, and
** paths.c, which says what a source is.
*/
#ifndef ZT_CORE_SEARCH_H
#define ZT_CORE_SEARCH_H

#include "core/paths.h"

struct search_place;
struct search_trial;

/* Zeros but for the first three. */
typedef struct zt_search {
  const zt_paths_filter *filter;
  zt_paths *out;
  zt_error *err;             /* Of every failure */
  bool (*files)(const char *name);   /* Which names are wanted, as in the filter; NULL: any */
  size_t nSource;            /* Length of the source's path, if that is a directory: it was there,
                             ** and must be; else 0 */

  /* search.c's: */
  size_t room;               /* Allocated members of out->a */
  char *path;                /* The path so far; owned */
  size_t n, capacity;
  char separator;            /* Between the names that are found: the source's last, a slash if it
                             ** has none */
  struct search_place *links;   /* Directories entered through a symbolic link: each once for what
                             ** follows in the pattern, or a farm of links has no end. Owned */
  size_t nLinks;
  unsigned steps;            /* For questions whether to go on */
  struct search_trial *trial;   /* Of the directory that the path is in; borrowed */
} zt_search;

/* Add what the pattern names below the directory that the n bytes of base name; "" is the
** process's. In the order in which it is found. */
void zt_search_below(zt_search *w, const char *base, size_t n, const char *pattern);

/* Add a copy of a path, with what is known of it; the same if the filter wants it; and one of which
** it cannot be told what is there, or below it, for that reason: nor, then, of the only one wanted,
** if it leads there. */
void zt_search_append(zt_search *w, const char *found, zt_path as);
void zt_search_add(zt_search *w, const char *found, zt_path as);
void zt_search_add_failed(zt_search *w, const char *found, const char *action, int error_number);

/* True if the error means that no path leads to anything. */
bool zt_search_absent(int error_number);

/* Free what it has, but for the results. */
void zt_search_clear(zt_search *w);

#endif
