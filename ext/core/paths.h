/*
** Resolution of a source argument to paths. Interface to code in paths.c, and in glob.c for
** patterns.
**
**   path         an existing name is taken literally, even with `*` or `[` in it
**   pattern      `*` `?` `[a-z]` `[!a-z]` within one name, `**` as a whole name for any depth;
**                names with a leading dot match only a pattern with a leading dot
**   directory    all files below it whose name matches: `directory/` `**` `/` files
**   pattern/     the same of each directory that it matches
**   ~            the home directory; `~/...` a path, pattern or directory below it. The path of
**                the home directory itself has no wildcards
**   file: URI    RFC 8089 with no host or `localhost`, percent-decoded, then path, pattern or
**                directory
**   URL          any other `scheme://` (zt_path_is_url()): remote files (remote_search.h), or
**                refused without a look at the disk
**   list         a JSON array of sources, each as above (list.h)
**
** Symbolic links are followed. A link to a directory is not followed if the path already contains
** that directory, or if the rest of the pattern was matched there before. Directories are never
** results. Paths that are too long for the system do not exist: patterns do not match them, and a
** directory that contains them cannot be listed completely.
*/
#ifndef ZT_CORE_PATHS_H
#define ZT_CORE_PATHS_H

#include "core/interrupt.h"
#include "core/os.h"
#include "core/path.h"
#include "core/pool.h"

#define ZT_PATHS_MAX 10000000   /* Most paths of one source */

typedef struct zt_path {
  char *z;             /* NUL-terminated; owned by the list */
  bool literal;        /* The source, or a list's element, is this path */
  bool regular;        /* The system reported a regular file */
  int error_number;    /* errno value if nothing is there, or if it or what is below cannot be
                       ** examined; EACCES for a URL. 0: none */
  const char *action;  /* Failed action: "open", "list the directory"; static */
  struct zt_remote_state *remote;   /* The state that a listing states (remote.h); owned by the
                                    ** list, NULL: unknown, or a local file */
} zt_path;

typedef struct zt_paths {
  zt_path *a;          /* Distinct paths; owned */
  size_t n;
  bool sorted;         /* Sorted bytewise. False only for a list, whose sources keep their order */
  bool literal;        /* The source, which is not a list, is one path, which has this state: */
  zt_stat stat;
} zt_paths;

/* A filter of paths. All members are borrowed for the call. */
typedef struct zt_paths_filter {
  bool (*files)(const char *name);               /* Selects files by name where the source is a
                                                 ** directory; NULL: all */
  const char *only;                              /* Only this path, if the source contains it: no
                                                 ** directory is listed. NULL: any */
  bool (*keep)(void *context, const char *path); /* Selects paths; NULL: all */
  void *context;
  zt_interrupt interrupt;
  zt_pool *pool;                                 /* Threads that prefetch directories; NULL: none */
  struct zt_remote *remote;                      /* Reads URLs; NULL: they are refused */
  bool opened;                                   /* The files that are found are opened soon */
} zt_paths_filter;

/* Finds the paths of a source that pass the filter. A missing literal path and a URL are not
** failures: they become paths with an error_number, whatever the filter says. A URL with wildcards
** is a failure, because it stands for unknown files. A pattern or directory without files is an
** empty result. Faults of a list belong to the query: err->path is NULL then, or the element while
** it is read. The result is empty after a failure. */
int zt_paths_find(const char *source, const zt_paths_filter *filter, zt_paths *out, zt_error *err);
void zt_paths_clear(zt_paths *p);

/* Sorts the paths bytewise. */
int zt_paths_sort(zt_paths *p, const zt_interrupt *interrupt, zt_error *err);

/* Records a failure for a path with an error_number. */
int zt_path_fail(const zt_path *path, zt_error *err);

/* Returns the single path of a source, from sqlite3_malloc64(). A pattern or list is a failure.
** *stat is the path's state, if it exists. */
int zt_paths_one(const char *source, char **out, zt_stat *stat, zt_error *err);

/* Returns the path of a file that will be written, from sqlite3_malloc64(): the text itself, also
** with wildcards, or what `~/...` and a file: URI stand for unless something of that name exists. A
** URL is a failure. */
int zt_paths_target(const char *text, char **out, zt_error *err);

/* Returns an equivalent source that does not depend on the current directory, from
** sqlite3_malloc64(). The directory at the front of a path or pattern becomes canonical, without
** symbolic links; the rest stays, and a list keeps its order as a JSON array. Missing files are not
** failures; a directory that the system does not resolve is one. urls: a URL stays as it is; else
** it is a failure. */
int zt_paths_absolute(const char *source, bool urls, const zt_interrupt *interrupt, char **out,
                      zt_error *err);

/* Returns whether the source has wildcards. */
bool zt_glob_is_pattern(const char *source);

/* Returns whether name matches a segment of n bytes of a pattern. */
bool zt_glob_match(const char *pattern, size_t n, const char *name);

/* Returns whether name matches one of several such patterns, separated by spaces, whatever the case
** of its ASCII letters. */
bool zt_glob_match_any(const char *patterns, const char *name);

#endif
