/*
** The files that a remote source names. Interface between remote_search.c and paths.c.
**
**   https, http   that file, literally
**   s3            a key that exists; a pattern; a prefix for all files below it
**   hf            likewise
**
** A name without wildcards and without a slash at its end is a file if its last part looks like
** one (zt_paths_filter's files), without a request; else a listing tells.
*/
#ifndef ZT_CORE_REMOTE_SEARCH_H
#define ZT_CORE_REMOTE_SEARCH_H

#include "core/search.h"

/* Returns whether sources of this scheme are read. */
bool zt_remote_is_read(const char *url);

/* Adds the paths of a source, in no order. literal is set if the source is one file. */
void zt_remote_search(zt_search *w, const char *url, bool *literal);

/* Returns whether a key matches a pattern: `**` as a whole part is any depth; parts of the key that
** begin with a dot match only parts of the pattern that do. */
bool zt_remote_match(const char *pattern, const char *key);

#endif
