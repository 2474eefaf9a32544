/* The files of a source. See files.h. */
#include "sqlite/files.h"

#include <stdlib.h>
#include "core/list.h"
#include "core/sort.h"

/* Close the file's kept container. */
static void files_evict(zt_files *f, zt_listed *file){
  if( file->kept ) f->bytes -= zt_container_memory(file->kept);
  zt_container_close(file->kept);
  file->kept = NULL;
}

static void files_forget(zt_files *f, zt_listed *file){
  files_evict(f, file);
  sqlite3_free(file->path.z);
  sqlite3_free(file->path.remote);
  *file = (zt_listed){ 0 };
}

/* Forget the files, but not the source. */
static void files_empty(zt_files *f){
  for(size_t i=0; i<f->n; i++) files_forget(f, &f->a[i]);
  sqlite3_free(f->a);
  sqlite3_free(f->index);
  f->a = NULL;
  f->index = NULL;
  f->n = f->next = f->nLost = 0;
  f->complete = f->sorted = false;
}

void zt_files_clear(zt_files *f){
  files_empty(f);
  sqlite3_free(f->source);
  *f = (zt_files){ 0 };
}

int zt_files_begin(zt_files *f, zt_text source, zt_error *err){
  if( zt_files_are_of(f, source) ){
    f->again = true;
    return SQLITE_OK;
  }
  zt_files_clear(f);
  f->source = sqlite3_malloc64(source.n+1);
  if( !f->source ) return zt_fail_nomem(err);
  memcpy(f->source, source.z, source.n);
  f->source[source.n] = 0;
  f->nSource = source.n;
  return SQLITE_OK;
}

/* Move the paths into the list. */
static void files_take(zt_files *f, zt_listed *a, zt_paths *paths){
  for(size_t i=0; i<paths->n; i++){
    bool there = paths->literal && paths->a[i].error_number==0 && !zt_path_is_url(paths->a[i].z);
    a[i] = (zt_listed){ .path = paths->a[i], .id = ++f->last_id };
    a[i].has_stat = there;
    f->nLost += paths->a[i].literal && paths->a[i].error_number;
    if( there ) a[i].stat = paths->stat;
    a[i].stat.remote = paths->a[i].remote;
    paths->a[i].z = NULL;
    paths->a[i].remote = NULL;
  }
}

int zt_files_list(zt_files *f, bool sorted, bool opened, zt_connection *connection, zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(connection);
  const zt_paths_filter filter = {
    .files = zt_container_files, .interrupt = interrupt, .pool = zt_connection_pool(connection),
    .remote = connection->remote, .opened = opened
  };
  zt_paths paths;
  if( f->complete && (f->sorted || !sorted) ) return SQLITE_OK;
  files_empty(f);
  err->path = f->source;
  if( zt_paths_find(f->source, &filter, &paths, err) ) return err->rc;
  if( sorted && !paths.sorted && zt_paths_sort(&paths, &interrupt, err) ){
    zt_paths_clear(&paths);
    return err->rc;
  }
  f->a = sqlite3_malloc64((paths.n+1)*sizeof(*f->a));
  if( f->a ){
    files_take(f, f->a, &paths);
    f->n = paths.n;
    f->complete = true;
    f->sorted = paths.sorted;
  }else{
    zt_fail_nomem(err);
  }
  zt_paths_clear(&paths);
  return err->rc;
}

static zt_listed *files_search(zt_files *f, const char *path){
  for(size_t i=0; i<f->n; i++){
    if( f->a[i].path.z && strcmp(f->a[i].path.z, path)==0 ) return &f->a[i];
  }
  return NULL;
}

static int files_compare(const void *path, const void *file){
  return strcmp(path, ((const zt_listed*)file)->path.z);
}

static int files_compare_indexed(const void *path, const void *at){
  return files_compare(path, *(zt_listed *const*)at);
}

static int files_compare_both(const void *unused, const void *a, const void *b){
  (void)unused;
  return files_compare_indexed((*(zt_listed *const*)a)->path.z, b);
}

/* The index, made if there is none. NULL on failure. */
static zt_listed **files_index(zt_files *f, const zt_interrupt *interrupt, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(zt_listed*), .compare = files_compare_both, .interrupt = interrupt
  };
  zt_listed **index;
  if( f->index ) return f->index;
  index = sqlite3_malloc64(f->n*sizeof(zt_listed*));
  if( !index ){
    zt_fail_nomem(err);
    return NULL;
  }
  for(size_t i=0; i<f->n; i++) index[i] = &f->a[i];
  if( zt_sort(index, f->n, &by, err)==SQLITE_OK ) f->index = index;
  else sqlite3_free(index);
  return f->index;
}

/* Find a path in the complete list, where it appears once. */
static int files_find_listed(zt_files *f, const char *path, const zt_interrupt *interrupt,
                             zt_listed **out, zt_error *err){
  zt_listed **index, **at;
  if( f->sorted || f->n==0 ){
    *out = f->n ? bsearch(path, f->a, f->n, sizeof(*f->a), files_compare) : NULL;
    return SQLITE_OK;
  }
  index = files_index(f, interrupt, err);
  if( !index ) return err->rc;
  at = bsearch(path, index, f->n, sizeof(zt_listed*), files_compare_indexed);
  *out = at ? *at : NULL;
  return SQLITE_OK;
}

/* Look up one path without listing the source. It replaces a remembered one. */
static int files_look(zt_files *f, const char *path, zt_connection *connection, zt_listed **out,
                      zt_error *err){
  const zt_paths_filter filter = {
    .files = zt_container_files, .only = path, .interrupt = zt_connection_interrupt(connection),
    .remote = connection->remote
  };
  zt_paths paths;
  if( !f->a ){
    f->a = sqlite3_malloc64(ZT_FILES_LOOKED*sizeof(*f->a));
    if( !f->a ) return zt_fail_nomem(err);
    memset(f->a, 0, ZT_FILES_LOOKED*sizeof(*f->a));
    f->n = ZT_FILES_LOOKED;
  }
  err->path = f->source;
  if( zt_paths_find(f->source, &filter, &paths, err) ) return err->rc;
  if( paths.n>0 ){
    *out = &f->a[f->next];
    f->next = (f->next+1) % ZT_FILES_LOOKED;
    files_forget(f, *out);
    files_take(f, *out, &paths);
  }
  zt_paths_clear(&paths);
  return SQLITE_OK;
}

int zt_files_find(zt_files *f, zt_text path, zt_connection *connection, zt_listed **out,
                  zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(connection);
  *out = NULL;
  if( strlen(path.z)!=path.n ) return SQLITE_OK;   /* No path has U+0000 in it */
  if( zt_list_is(f->source) && zt_files_list(f, f->sorted, false, connection, err) ) return err->rc;
  if( f->complete ) return files_find_listed(f, path.z, &interrupt, out, err);
  *out = files_search(f, path.z);
  return *out ? SQLITE_OK : files_look(f, path.z, connection, out, err);
}

/* Keep an opened container for reuse. In a list that is scanned repeatedly, the first containers
** are as good as any. Among files that were looked up, the last one is the most likely to be
** requested again. */
static void files_keep(zt_files *f, zt_listed *file, zt_container *container){
  const size_t bytes = zt_container_memory(container);
  files_evict(f, file);
  for(size_t i=0; i<f->n && !f->complete && f->bytes+bytes>ZT_FILES_BYTES; i++){
    files_evict(f, &f->a[i]);
  }
  if( f->bytes+bytes>ZT_FILES_BYTES ) return;
  file->kept = zt_container_ref(container);
  f->bytes += bytes;
}

void zt_files_renew(zt_files *f, zt_listed *file, const zt_identity *now){
  if( file->kept && !zt_same_state(zt_container_identity(file->kept), now) ) files_evict(f, file);
}

int zt_files_read(const zt_listed *file, zt_connection *connection, bool source,
                  const zt_interrupt *interrupt, zt_opened *out, zt_error *err){
  static const zt_stat regular = { .kind = ZT_KIND_FILE };
  const zt_stat *state = file->has_stat || file->stat.remote ? &file->stat
                       : file->path.regular ? &regular : NULL;
  *out = (zt_opened){ NULL, NULL, false };
  if( zt_path_fail(&file->path, err) ) return err->rc;
  return zt_open_read(connection, file->path.z, state, !file->path.literal, source, interrupt, out,
                      err);
}

void zt_files_keep(zt_files *f, zt_listed *file, zt_connection *connection,
                   const zt_opened *opened){
  zt_open_keep(connection, opened, !file->path.literal);
  if( !f->complete || f->again ) files_keep(f, file, opened->container);
}

int zt_files_open(zt_files *f, zt_listed *file, zt_connection *connection, bool source,
                  zt_opened *out, zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(connection);
  if( file->kept && !source && !file->path.error_number ){
    *out = (zt_opened){ zt_container_ref(file->kept), NULL, false };
    return SQLITE_OK;
  }
  if( zt_files_read(file, connection, source, &interrupt, out, err) ) return err->rc;
  zt_files_keep(f, file, connection, out);
  return SQLITE_OK;
}
