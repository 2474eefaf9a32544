/* The names in a directory. See entries.h. */
#include "core/entries.h"

#include "core/host.h"
#include "core/sort.h"

#define ENTRIES_POLL 256   /* Entries between two questions whether to go on */
#define ENTRIES_ROOM 32    /* For so many at first, */
#define ENTRIES_NAMES 1024 /* and so many bytes of names */

int zt_entries_add(zt_entries *e, const char *name, size_t n, zt_kind kind, zt_error *err){
  if( e->n==e->room ){
    const size_t room = e->room ? e->room*2 : ENTRIES_ROOM;
    zt_entry *a = sqlite3_realloc64(e->a, room*sizeof(*a));
    if( !a ) return zt_fail_nomem(err);
    e->a = a;
    e->room = room;
  }
  if( n>=e->namesRoom-e->nNames ){
    const size_t room = 2*e->namesRoom + n + ENTRIES_NAMES;
    char *names = sqlite3_realloc64(e->names, room);
    if( !names ) return zt_fail_nomem(err);
    e->names = names;
    e->namesRoom = room;
  }
  memcpy(e->names+e->nNames, name, n);
  e->names[e->nNames+n] = 0;
  e->a[e->n++] = (zt_entry){ e->nNames, kind };
  e->nNames += n+1;
  return SQLITE_OK;
}

static int entries_compare(const void *context, const void *a, const void *b){
  const char *names = context;
  return strcmp(names+((const zt_entry*)a)->at, names+((const zt_entry*)b)->at);
}

int zt_entries_read(zt_entries *e, const char *path, const zt_interrupt *interrupt,
                    int *error_number, zt_error *err){
  zt_directory *d = zt_os_opendir(path, error_number);
  const char *name;
  zt_kind kind;
  while( d && !err->rc && (name = zt_os_readdir(d, &kind, error_number))!=NULL ){
    if( zt_entries_add(e, name, strlen(name), kind, err)==SQLITE_OK && e->n%ENTRIES_POLL==0 ){
      zt_interrupt_check(interrupt, err);
    }
  }
  zt_os_closedir(d);
  if( !err->rc ){
    const zt_sort_by by = {
      .size = sizeof(*e->a), .compare = entries_compare, .context = e->names,
      .interrupt = interrupt
    };
    zt_sort(e->a, e->n, &by, err);
  }
  return err->rc;
}

void zt_entries_clear(zt_entries *e){
  sqlite3_free(e->a);
  sqlite3_free(e->names);
  *e = (zt_entries){ 0 };
}
