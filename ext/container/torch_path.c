/* Paths of values in a pickle. See torch_path.h. */
#include "container/torch_path.h"

#include <assert.h>
#include "container/torch_leaf.h"
#include "core/host.h"

void zt_torch_path_add(zt_torch_path *path, const char *z, size_t n, zt_error *err){
  if( n==0 ) return;
  if( n>ZT_TORCH_PATH_MAX-path->n ){
    zt_break(err, "PT6", "a path of more than %d bytes", (int)ZT_TORCH_PATH_MAX);
    return;
  }
  if( path->measured ){
    path->n += n;
    return;
  }
  if( n>path->room-path->n ){
    size_t room = path->room+path->room/2+n+64;
    char *p = sqlite3_realloc64(path->z, room);
    if( !p ){
      zt_fail_nomem(err);
      return;
    }
    path->z = p;
    path->room = room;
  }
  assert( path->z );
  memcpy(path->z+path->n, z, n);
  path->n += n;
}

void zt_torch_path_add_index(zt_torch_path *path, uint64_t u, zt_error *err){
  char z[24], *p = z+sizeof(z);
  do *--p = (char)('0'+u%10); while( (u /= 10)>0 );
  zt_torch_path_add(path, p, (size_t)(z+sizeof(z)-p), err);
}

/* U+0000, which no name has, is written as Python shows it. */
static void path_add_text(zt_torch_path *path, const char *z, size_t n, zt_error *err){
  for(const char *nul; !err->rc && n>0 && (nul = memchr(z, 0, n))!=NULL; ){
    const size_t before = (size_t)(nul-z);
    zt_torch_path_add(path, z, before, err);
    if( !err->rc ) zt_torch_path_add(path, "\\x00", 4, err);
    z += before+1;
    n -= before+1;
  }
  if( !err->rc ) zt_torch_path_add(path, z, n, err);
}

void zt_torch_path_add_key(zt_torch_path *path, const zt_pickle *p, zt_pickle_node node,
                           zt_error *err){
  sqlite3_str *shown;
  zt_text text;
  int64_t integer;
  if( zt_pickle_text(p, node, &text) ){
    path_add_text(path, text.z, text.n, err);
    return;
  }
  if( zt_pickle_integer(p, node, &integer) && integer>=0 ){
    zt_torch_path_add_index(path, (uint64_t)integer, err);
    return;
  }
  shown = sqlite3_str_new(NULL);
  zt_torch_show_key(p, node, (int)ZT_TORCH_PATH_MAX, shown);
  if( sqlite3_str_errcode(shown)==SQLITE_NOMEM ) zt_fail_nomem(err);
  else if( sqlite3_str_errcode(shown) ) zt_fail(err, SQLITE_TOOBIG, "a key is too long");
  else path_add_text(path, sqlite3_str_value(shown), (size_t)sqlite3_str_length(shown), err);
  sqlite3_free(sqlite3_str_finish(shown));
}
