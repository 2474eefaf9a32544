/*
** What a source argument names: one path, or all that a pattern, a directory or a list finds.
** Interface to code in paths.c, and glob.c for the pattern language.
**
**   path         a name that exists is taken literally, even with `*` or `[` in it
**   pattern      `*` `?` `[a-z]` `[!a-z]` within one name, `**` as a whole name for any depth;
**                names that begin with a dot only where the pattern's name does
**   directory    all files below it whose name matches: `directory/` `**` `/` files
**   ~            the home directory, and `~/...` what is below it, then as above; nothing in what
**                the home directory itself is called is a pattern
**   file: URI    RFC 8089 with no host or `localhost`, percent-decoded, then path, pattern or
**                directory
**   URL          any other `scheme://` (zt_path_is_url()): refused, and never looked for here
**   list         a JSON array of sources, each as above (list.h)
**
** Symbolic links to files are followed, and those to directories too, each directory once for what
** is left of the pattern, unless they lead back to a directory that the path already goes through.
** Directories are never results. What is too long for the system to take is no path: a pattern with
** such a name in it finds nothing there, and a directory that has what no path leads to cannot
** be listed.
*/
#ifndef ZT_CORE_PATHS_H
#define ZT_CORE_PATHS_H

#include "core/interrupt.h"
#include "core/os.h"
#include "core/path.h"
#include "core/pool.h"

#define ZT_PATHS_MAX 10000000   /* Most paths that one source may find */

typedef struct zt_path {
  char *z;             /* NUL-terminated; owned by the list */
  bool literal;        /* The source, or an element of its list, names just this */
  bool regular;        /* The system said that it is a regular file */
  int error_number;    /* Not 0: nothing is there, or nobody can tell what is, or is below; errno.
                       ** Of a URL, EACCES */
  const char *action;  /* What cannot be done then: "open", "list the directory"; static */
} zt_path;

typedef struct zt_paths {
  zt_path *a;          /* Each path once; owned */
  size_t n;
  bool sorted;         /* Ascending by bytes: always but for a list, whose sources keep
                       ** their order */
  bool literal;        /* One path that the source itself named, no list, and what is there: */
  zt_stat stat;
} zt_paths;

/* Which paths are wanted. Everything in it is borrowed for the call. */
typedef struct zt_paths_filter {
  bool (*files)(const char *name);               /* True of the names of the files that a directory
                                                 ** as source stands for; NULL: of all */
  const char *only;                              /* Just this path, if the source names it: no
                                                 ** directory is listed. NULL: any */
  bool (*keep)(void *context, const char *path); /* NULL: all */
  void *context;
  zt_interrupt interrupt;
  zt_pool *pool;                                 /* Threads that read directories which come next;
                                                 ** NULL: none */
} zt_paths_filter;

/* Find what the source names, restricted by the filter. Neither a literal path that names nothing
** nor a pattern or directory with nothing in it is a failure: the first is a path with an
** error_number, whatever the filter says. So is a URL; one that is a pattern is a failure, for
** nobody can tell what it stands for. What is wrong with a list is one of the query and no
** file's: err has no path then, or the element's while it was recorded. The list is empty after a
** failure. */
int zt_paths_find(const char *source, const zt_paths_filter *filter, zt_paths *out, zt_error *err);
void zt_paths_clear(zt_paths *p);

/* Make them ascend. */
int zt_paths_sort(zt_paths *p, const zt_interrupt *interrupt, zt_error *err);

/* Record why a path cannot be opened, if it is known: its error_number, or that it is a URL. */
int zt_path_fail(const zt_path *path, zt_error *err);

/* The one path that a source names, as zt_paths_find() would, in memory from sqlite3_malloc64(); a
** pattern or list is a failure. *stat is what is there, if anything. */
int zt_paths_one(const char *source, char **out, zt_stat *stat, zt_error *err);

/* The same source from whichever directory it is asked for, in memory from sqlite3_malloc64(): the
** directory that a path or a pattern begins with becomes the one path of it, links and all; the
** rest stays, and so does the order of a list. Of a list, *out is a JSON array. What is not there
** is no failure; a directory that the system does not let be found is one. */
int zt_paths_absolute(const char *source, const zt_interrupt *interrupt, char **out, zt_error *err);

/* True if the source has a pattern's characters in it. */
bool zt_glob_is_pattern(const char *source);

/* True if name matches one segment of a pattern, which ends at n bytes. */
bool zt_glob_match(const char *pattern, size_t n, const char *name);

/* True if name matches one of several such patterns, a space between two. */
bool zt_glob_match_any(const char *patterns, const char *name);

#endif
