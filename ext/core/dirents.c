/* The names in a directory. See dirents.h. */
#include "core/dirents.h"

#include "core/grow.h"
#include "core/host.h"
#include "core/sort.h"

#define DIRENTS_POLL 256   /* Entries between two checks for an interrupt */

int zt_dirents_add(zt_dirents *e, const char *name, size_t n, zt_kind kind, zt_error *err){
  zt_dirent *a = zt_grow(e->a, &e->room, (uint64_t)e->n+1, sizeof(*a), err);
  char *names = zt_grow(e->names, &e->namesRoom, (uint64_t)e->nNames+n+1, 1, err);
  if( a ) e->a = a;
  if( names ) e->names = names;
  if( err->rc ) return err->rc;
  memcpy(e->names+e->nNames, name, n);
  e->names[e->nNames+n] = 0;
  e->a[e->n++] = (zt_dirent){ e->nNames, kind };
  e->nNames += n+1;
  return SQLITE_OK;
}

static int dirents_compare(const void *context, const void *a, const void *b){
  const char *names = context;
  return strcmp(names+((const zt_dirent*)a)->at, names+((const zt_dirent*)b)->at);
}

int zt_dirents_read(zt_dirents *e, const char *path, const zt_interrupt *interrupt,
                    int *error_number, zt_error *err){
  zt_directory *d = zt_os_opendir(path, error_number);
  const char *name;
  zt_kind kind;
  while( d && !err->rc && (name = zt_os_readdir(d, &kind, error_number))!=NULL ){
    if( zt_dirents_add(e, name, strlen(name), kind, err)==SQLITE_OK && e->n%DIRENTS_POLL==0 ){
      zt_interrupt_check(interrupt, err);
    }
  }
  zt_os_closedir(d);
  if( !err->rc ){
    const zt_sort_by by = {
      .size = sizeof(*e->a), .compare = dirents_compare, .context = e->names,
      .interrupt = interrupt
    };
    zt_sort(e->a, e->n, &by, err);
  }
  return err->rc;
}

void zt_dirents_clear(zt_dirents *e){
  sqlite3_free(e->a);
  sqlite3_free(e->names);
  *e = (zt_dirents){ 0 };
}
