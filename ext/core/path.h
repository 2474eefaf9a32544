/* Questions about the text of a path, without the system. Interface to code in path.c. */
#ifndef ZT_CORE_PATH_H
#define ZT_CORE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes that separate the names of a path. A slash is one everywhere. */
#ifdef _WIN32
# define ZT_SEPARATORS "/\\"
#else
# define ZT_SEPARATORS "/"
#endif

static inline bool zt_is_separator(char ch){
  const char other = ZT_SEPARATORS[1];   /* NUL if there is no other one */
  return ch=='/' || (other && ch==other);
}

/* Returns the last name in a path. */
static inline const char *zt_path_name(const char *path){
  const char *name = path;
  for(; *path; path++) if( zt_is_separator(*path) ) name = path+1;
  return name;
}

/* Returns whether the source is `scheme://...` in any case, except file:. A scheme has at least two
** characters, because Windows' drives have one. */
bool zt_path_is_url(const char *source);

/* Returns the length of the scheme (RFC 3986, section 3.1) of any `scheme://...`; 0 for other
** texts. */
size_t zt_path_scheme(const char *source);

/* Returns the length of a path without the query and the fragment that a URL of a web server may
** have. */
size_t zt_path_end(const char *path);

/* Returns whether a path begins with the directory `above`; "." contains all relative paths. */
bool zt_path_is_below(const char *path, const char *above);

#endif
