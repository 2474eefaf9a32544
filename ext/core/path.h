/* What the text of a path says; nobody asks the system. Interface to code in path.c. */
#ifndef ZT_CORE_PATH_H
#define ZT_CORE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes that stand between the names of a path. A slash is one everywhere. */
#ifdef _WIN32
# define ZT_SEPARATORS "/\\"
#else
# define ZT_SEPARATORS "/"
#endif

static inline bool zt_is_separator(char ch){
  const char other = ZT_SEPARATORS[1];   /* If there is another one */
  return ch=='/' || (other && ch==other);
}

/* The last name in a path. */
static inline const char *zt_path_name(const char *path){
  const char *name = path;
  for(; *path; path++) if( zt_is_separator(*path) ) name = path+1;
  return name;
}

/* True for `scheme://...`, whatever case it is in, but for file:. A scheme has two characters at
** least: Windows' drives have one. */
bool zt_path_is_url(const char *source);

/* Bytes of the scheme (RFC 3986, section 3.1) of any `scheme://...`; 0: it is none. */
size_t zt_path_scheme(const char *source);

/* True if a path begins with that directory; "." is that of all relative paths. */
bool zt_path_is_below(const char *path, const char *above);

#endif
