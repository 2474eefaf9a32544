/* The names in a directory. See dirents.h. */
#include "core/dirents.h"

#include "core/host.h"
#include "core/sort.h"

#define DIRENTS_POLL 256   /* Entries between two questions whether to go on */
#define DIRENTS_ROOM 32    /* For so many at first, */
#define DIRENTS_NAMES 1024 /* and so many bytes of names */

int zt_dirents_add(zt_dirents *e, const char *name, size_t n, zt_kind kind, zt_error *err){
  if( e->n==e->room ){
    const size_t room = e->room ? e->room*2 : DIRENTS_ROOM;
    zt_dirent *a = sqlite3_realloc64(e->a, room*sizeof(*a));
    if( !a ) return zt_fail_nomem(err);
    e->a = a;
    e->room = room;
  }
  if( n>=e->namesRoom-e->nNames ){
    const size_t room = 2*e->namesRoom + n + DIRENTS_NAMES;
    char *names = sqlite3_realloc64(e->names, room);
    if( !names ) return zt_fail_nomem(err);
    e->names = names;
    e->namesRoom = room;
  }
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
