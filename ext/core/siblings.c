/* The states of files in one directory. See siblings.h. */
#include "core/siblings.h"

#include "core/host.h"
#include "core/path.h"

void zt_siblings_clear(zt_siblings *s){
  if( s->opened ) zt_os_close(s->directory);
  sqlite3_free(s->path);
  *s = (zt_siblings){ 0 };
}

/* Remembers the directory, the first n bytes of path. If memory is short, there is none. */
static void siblings_begin(zt_siblings *s, const char *path, size_t n){
  zt_siblings_clear(s);
  s->path = sqlite3_malloc64(n+1);
  if( !s->path ) return;
  memcpy(s->path, path, n);
  s->path[n] = 0;
  s->n = n;
}

int zt_siblings_stat(zt_siblings *s, const char *path, zt_stat *out){
  const char *name = zt_path_name(path);
  const size_t n = (size_t)(name-path);
  if( n==0 || !*name ) return zt_os_stat(path, out);
  if( s->n!=n || memcmp(s->path, path, n)!=0 ){
    siblings_begin(s, path, n);
    return zt_os_stat(path, out);
  }
  if( !s->opened ){
    s->directory = zt_os_open_directory(s->path);
    s->opened = true;
  }
  if( s->directory>=0 && zt_os_stat_in(s->directory, name, out)==0 ) return 0;
  return zt_os_stat(path, out);   /* Its failures count */
}
