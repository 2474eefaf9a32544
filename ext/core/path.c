/* Questions about the text of a path. See path.h. */
#include "core/path.h"

#include <string.h>
#include "core/host.h"

bool zt_path_is_below(const char *path, const char *above){
  size_t n = strlen(above);
  if( strcmp(above, ".")==0 && !(path[0]=='.' && zt_is_separator(path[1])) ){
    return !zt_is_separator(*path);
  }
  return n>0 && strncmp(path, above, n)==0
      && (zt_is_separator(above[n-1]) || zt_is_separator(path[n]));
}

size_t zt_path_scheme(const char *source){
  size_t n = 0;
  while( (source[n]>='a' && source[n]<='z') || (source[n]>='A' && source[n]<='Z')
      || (n>0 && source[n] && strchr("0123456789+-.", source[n])) ) n++;
  return n>1 && strncmp(source+n, "://", 3)==0 ? n : 0;
}

bool zt_path_is_url(const char *source){
  const size_t n = zt_path_scheme(source);
  return n>0 && !(n==4 && sqlite3_strnicmp(source, "file", 4)==0);
}

size_t zt_path_end(const char *path){
  const bool web = sqlite3_strnicmp(path, "http://", 7)==0
                || sqlite3_strnicmp(path, "https://", 8)==0;
  return web ? strcspn(path, "?#") : strlen(path);
}
