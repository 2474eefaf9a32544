/* The position of a scan among the files of its source. See file_iterator.h. */
#include "sqlite/file_iterator.h"

#include <assert.h>
#include <errno.h>
#include "core/sort.h"
#include "sqlite/plan.h"
#include "sqlite/target.h"

/* --- Failures --- */

/* Out of memory and interrupts always end the query. 'skip' does not hide a lack of descriptors:
** the file is not broken. */
bool zt_file_may_go_on(const zt_scan *scan){
  return scan->err->rc==SQLITE_ERROR
      && (zt_table_is_of_files(scan->table)
          || (scan->skip && !zt_os_exhausted(scan->err->system)));
}

/* If the query may go on, the failure becomes the file's. */
static void file_settle_failure(zt_file_iterator *it){
  zt_scan *scan = it->scan;
  if( !zt_file_may_go_on(scan) ) return;
  it->error = *scan->err;
  *scan->err = (zt_error){ .path = it->error.path };
  scan->error = &it->error;
  it->state = ZT_FILE_UNREADABLE;
}

/* --- The files of the scan --- */

/* True if the source names this file, but it does not exist. No constraint hides that. */
static bool file_is_lost(const zt_listed *file){
  return file->path.literal && file->path.error_number;
}

static size_t file_count(const zt_file_iterator *it){
  return it->by_path ? it->nOnly : it->files.n;
}

/* File i of the scan; NULL if the constraints exclude it. */
static zt_listed *file_get(const zt_file_iterator *it, size_t i){
  const size_t at = it->constraints->plan & ZT_PLAN_REVERSED ? file_count(it)-1-i : i;
  zt_listed *file = it->by_path ? it->only[at] : &it->files.a[at];
  assert( file );
  return file_is_lost(file) || zt_constraints_path(it->constraints, file->path.z) ? file : NULL;
}

static int file_compare_listed(const void *context, const void *a, const void *b){
  (void)context;
  return strcmp((*(zt_listed *const*)a)->path.z, (*(zt_listed *const*)b)->path.z);
}

static int file_add_only(zt_file_iterator *it, zt_listed *file){
  zt_listed **only;
  if( it->nOnly==it->onlyRoom ){
    const size_t room = it->onlyRoom ? it->onlyRoom*2 : 4;
    only = sqlite3_realloc64(it->only, room*sizeof(zt_listed*));   /* NOLINT: of pointers */
    if( !only ) return zt_fail_nomem(it->scan->err);
    it->only = only;
    it->onlyRoom = room;
  }
  it->only[it->nOnly++] = file;
  return SQLITE_OK;
}

/* Find the files with the wanted paths, and the lost ones. */
static int file_find_paths(zt_file_iterator *it, bool sorted){
  const zt_names *paths = &it->constraints->paths;
  zt_connection *connection = it->scan->connection;
  zt_files *f = &it->files;
  zt_error *err = it->scan->err;
  const uint32_t n = zt_names_count(paths);
  it->nOnly = 0;
  /* One path is looked up, and replaces a remembered one; for several, the source is listed once */
  if( n>1 && zt_files_list(f, sorted, false, connection, err) ) return err->rc;
  for(uint32_t i=0; i<n; i++){
    zt_listed *file;
    if( zt_files_find(f, zt_names_get(paths, i), connection, &file, err) ) return err->rc;
    if( file && file_add_only(it, file) ) return err->rc;
  }
  for(size_t i=0; i<f->n && f->complete && f->nLost; i++){
    if( file_is_lost(&f->a[i]) && file_add_only(it, &f->a[i]) ) return err->rc;
  }
  return SQLITE_OK;
}

/* Sort the found files by path, and remove duplicates. */
static int file_sort_only(zt_file_iterator *it){
  const zt_interrupt interrupt = zt_connection_interrupt(it->scan->connection);
  const zt_sort_by by = {
    .size = sizeof(zt_listed*),   /* NOLINT: of pointers */
    .compare = file_compare_listed, .interrupt = &interrupt
  };
  zt_listed **only = it->only;
  size_t n = 0;
  if( it->nOnly<2 ) return SQLITE_OK;
  if( zt_sort(only, it->nOnly, &by, it->scan->err) ) return it->scan->err->rc;
  for(size_t i=0; i<it->nOnly; i++) if( n==0 || only[n-1]!=only[i] ) only[n++] = only[i];
  it->nOnly = n;
  return SQLITE_OK;
}

/* True if the scan is likely to open all files, from the first one on. */
static bool file_opens_all(const zt_constraints *w){
  return (w->plan & (ZT_PLAN_CONTAINER | ZT_PLAN_FEW | ZT_PLAN_REVERSED))==ZT_PLAN_CONTAINER
      && !zt_constraints_filters_paths(w);
}

int zt_file_iterator_begin(zt_file_iterator *it){
  const bool sorted = (it->constraints->plan & ZT_PLAN_SORTED)!=0;
  it->by_path = !it->constraints->paths.any;
  if( !it->by_path ){
    return zt_files_list(&it->files, sorted, file_opens_all(it->constraints), it->scan->connection,
                         it->scan->err);
  }
  return file_find_paths(it, sorted) ? it->scan->err->rc : file_sort_only(it);
}

bool zt_file_iterator_has_several(const zt_file_iterator *it){
  return file_count(it)>1;
}

/* --- Prefetching --- */

typedef struct file_opening {
  zt_job job;                  /* First */
  zt_file_iterator *it;        /* Borrowed, like file */
  const zt_listed *file;
  bool source;                 /* The opened file is wanted, too */
  zt_opened opened;
  zt_error err;
} file_opening;

static void file_read(zt_job *job, const zt_interrupt *interrupt){
  file_opening *o = (file_opening*)job;
  zt_files_read(o->file, o->it->scan->connection, o->source, interrupt, &o->opened, &o->err);
  if( o->opened.source && !zt_source_hold_ahead(o->opened.source) ){
    zt_source_close(o->opened.source);
    o->opened.source = NULL;
  }
  if( o->opened.container ) job->memory = zt_container_memory(o->opened.container);
}

static zt_job *file_make_job(void *context, uint64_t number){
  zt_file_iterator *it = context;
  file_opening *o = zt_freelist_take(&it->openings, sizeof(*o));
  if( !o ) return NULL;
  *o = (file_opening){
    .job.work = file_read, .it = it, .file = file_get(it, (size_t)number),
    .source = (it->constraints->plan & ZT_PLAN_BYTES)!=0
  };
  o->err.path = o->file->path.z;
  zt_cache_prepare(it->scan->connection->cache);
  return &o->job;
}

static void file_drop_job(zt_job *job){
  file_opening *o = (file_opening*)job;
  zt_container_close(o->opened.container);
  zt_source_close(o->opened.source);
  zt_error_clear(&o->err);
  zt_freelist_give(&o->it->openings, o);
}

static bool file_next_job(void *context, uint64_t *number){
  const zt_file_iterator *it = context;
  for(size_t i=(size_t)*number+1; i<file_count(it); i++){
    const zt_listed *file = file_get(it, i);
    if( !file ) continue;
    *number = i;
    return !file->path.error_number;
  }
  return false;
}

static const zt_jobs file_jobs = { file_next_job, file_make_job, file_drop_job };

/* True if a stat taken meanwhile shows another state than the job opened. The job may have opened
** none. */
static bool file_is_stale(const zt_file_place *at, const file_opening *o){
  const zt_identity *id = o->opened.container ? zt_container_identity(o->opened.container) : NULL;
  return at->asked==ZT_STAT_KNOWN && (!id || !zt_same_state(id, &at->stat.id));
}

static void file_take(zt_file_iterator *it, const zt_opened *opened){
  it->container = opened->container;
  it->source = opened->source;
}

/* Take over the opened file. False if it must be opened again, alone: the file was replaced
** meanwhile, or the failure is not the file's and may come from other jobs. */
static bool file_take_over(zt_file_iterator *it, file_opening *o){
  if( o->err.rc!=SQLITE_INTERRUPT
   && ((o->err.rc && !zt_error_is_of_file(&o->err) && !o->err.kind)
       || file_is_stale(&it->at, o)) ) return false;
  *it->scan->err = o->err;
  file_take(it, &o->opened);
  if( it->container ) zt_files_keep(&it->files, it->at.file, it->scan->connection, &o->opened);
  o->err = ZT_ERROR_NONE;
  o->opened = (zt_opened){ NULL, NULL, false };
  return true;
}

/* True if the job could not keep the file open. */
static bool file_lacks_source(const file_opening *o){
  return o->source && o->opened.container && !o->opened.source;
}

static void file_open_alone(zt_file_iterator *it){
  const bool source = (it->constraints->plan & ZT_PLAN_BYTES)!=0;
  zt_scan *scan = it->scan;
  zt_opened opened;
  if( zt_files_open(&it->files, it->at.file, scan->connection, source, &opened, scan->err) ) return;
  file_take(it, &opened);
}

/* Remote files are asked for over all connections at once: beside the first one, or beside the
** second if the query may want but one. (remote-headers-hub) */
static void file_look_ahead(zt_file_iterator *it){
  const uint32_t requests = zt_connection_requests(it->scan->connection);
  zt_prefetch *a = &it->prefetch;
  a->early = requests>0 && zt_path_is_url(it->at.file->path.z) ? requests-1 : 0;
  a->tasks.waits = a->early>0;
  a->whole = a->early>0 && !(it->constraints->plan & ZT_PLAN_FEW);
}

/* Open the file, and prefetch the next ones. */
static void file_prefetch(zt_file_iterator *it, zt_pool *pool){
  const zt_interrupt interrupt = zt_connection_interrupt(it->scan->connection);
  const uint64_t remaining = file_count(it)-it->next;
  zt_prefetch *a = &it->prefetch;
  zt_job *job;
  bool taken, lacking;
  a->jobs = &file_jobs;
  a->tasks.pool = pool;
  a->slow = true;
  file_look_ahead(it);
  job = zt_prefetch_take(a, it, it->next-1, remaining, &interrupt, it->scan->err);
  if( !job ) return;
  lacking = file_lacks_source((file_opening*)job);
  taken = !lacking && file_take_over(it, (file_opening*)job);
  file_drop_job(job);
  if( taken ) return;
  if( !lacking ) zt_prefetch_stop(a);
  file_open_alone(it);
}

/* --- Opening --- */

/* Threads to open the next files of the list; NULL if they would not help. */
static zt_pool *file_pool(const zt_file_iterator *it){
  const bool several = it->next>0 && file_count(it)>1;   /* The scan visits them one by one */
  zt_connection *c = it->scan->connection;
  const bool remote = c->remote && several && zt_path_is_url(it->at.file->path.z);
  zt_pool *pool = remote ? zt_connection_waiting_pool(c)
                : zt_connection_pool(c);   /* Also needed to read a large file */
  return several && !it->files.again && it->files.complete ? pool : NULL;
}

static void file_close(zt_file_iterator *it){
  zt_source_close(it->source);
  zt_container_close(it->container);
  it->source = it->scan->source = NULL;
  it->container = NULL;
  it->scan->container = NULL;
}

/* Fail if the stat is of another state than the opened one: a row shows a single state. */
static void file_check_told(zt_file_iterator *it){
  const zt_identity *id = zt_container_identity(it->container);
  if( it->at.asked!=ZT_STAT_KNOWN || zt_same_state(&it->at.stat.id, id) ) return;
  zt_fail_changing(it->scan->err, "the file was replaced while it was read");
  file_close(it);
}

static void file_try_open(zt_file_iterator *it){
  const zt_file_place *at = &it->at;
  zt_pool *pool;
  if( at->asked==ZT_STAT_KNOWN ) zt_files_renew(&it->files, at->file, &at->stat.id);
  if( at->error_number && !at->file->path.error_number ){
    zt_fail_os(it->scan->err, "open", at->error_number);
  }else if( (pool = file_pool(it))!=NULL ){
    file_prefetch(it, pool);
  }else{
    file_open_alone(it);
  }
  if( it->container ) file_check_told(it);
}

void zt_file_iterator_open(zt_file_iterator *it){
  if( it->state!=ZT_FILE_LISTED ) return;
  file_try_open(it);
  if( !it->container ){
    file_settle_failure(it);
    return;
  }
  it->state = ZT_FILE_OPEN;
  it->scan->container = it->container;
  it->scan->source = it->source;
  it->at.stat.id = *zt_container_identity(it->container);   /* It may have changed since listing */
  it->at.asked = ZT_STAT_KNOWN;
}

#if ZT_REMOTE
/* Finds the state of a remote file: that of its listing, or of its opening, or the one that was
** seen when opening it failed. False if memory is short. */
static bool file_ask_remote(zt_file_iterator *it){
  zt_remote *remote = it->scan->connection->remote;
  zt_file_place *at = &it->at;
  const char *path = at->file->path.z;
  zt_remote_state *seen = NULL;
  bool nomem = false;
  if( at->file->stat.remote ){
    nomem = !zt_remote_identity(path, at->file->stat.remote, &at->stat.id);
    if( !nomem ) at->asked = ZT_STAT_KNOWN;
    return !nomem;
  }
  zt_file_iterator_open(it);
  if( it->state==ZT_FILE_UNREADABLE ) seen = zt_remote_seen(remote, path, &nomem);
  if( seen ) nomem = !zt_remote_identity(path, seen, &at->stat.id);
  if( it->state!=ZT_FILE_OPEN && !nomem ) at->asked = seen ? ZT_STAT_KNOWN : ZT_STAT_FAILED;
  sqlite3_free(seen);
  return !nomem;
}
#endif

const zt_stat *zt_file_iterator_stat(zt_file_iterator *it, bool *nomem){
  zt_file_place *at = &it->at;
  const zt_listed *file = at->file;
  *nomem = false;
#if ZT_REMOTE
  if( at->asked==ZT_STAT_UNASKED && file && it->scan->connection->remote
   && zt_path_is_url(file->path.z) ) *nomem = !file_ask_remote(it);
#endif
  if( at->asked==ZT_STAT_UNASKED && file && !*nomem ){
    if( file->has_stat ) at->stat = file->stat;
    else if( zt_path_is_url(file->path.z) ) at->error_number = file->path.error_number;
    else at->error_number = zt_os_stat(file->path.z, &at->stat);
    *nomem = at->error_number==ENOMEM;
    if( *nomem ) at->error_number = 0;
    else at->asked = at->error_number ? ZT_STAT_FAILED : ZT_STAT_KNOWN;
  }
  return at->asked==ZT_STAT_KNOWN ? &at->stat : NULL;
}

char *zt_file_iterator_etag(zt_file_iterator *it, bool *nomem){
#if ZT_REMOTE
  const zt_remote_state *listed = it->at.file ? it->at.file->stat.remote : NULL;
  zt_remote_state *seen = NULL;
  const char *etag = NULL;
  char *out;
  *nomem = false;
  if( !it->container && !listed ) zt_file_iterator_stat(it, nomem);
  if( it->container ) etag = zt_container_etag(it->container);
  else if( listed ) etag = listed->etag;
  else if( it->at.file && it->scan->connection->remote
        && (seen = zt_remote_seen(it->scan->connection->remote, it->at.file->path.z,
                                nomem))!=NULL ){
    etag = seen->etag;
  }
  out = etag && *etag ? sqlite3_mprintf("%s", etag) : NULL;
  if( etag && *etag && !out ) *nomem = true;
  sqlite3_free(seen);
  return out;
#else
  (void)it;
  *nomem = false;
  return NULL;
#endif
}

/* --- The current file --- */

zt_listed *zt_file_iterator_next(zt_file_iterator *it){
  const zt_interrupt interrupt = zt_connection_interrupt(it->scan->connection);
  zt_listed *file = NULL;
  while( !file && it->next<file_count(it) ) file = file_get(it, it->next++);
  if( file && it->next>1 && zt_interrupt_check(&interrupt, it->scan->err) ) return NULL;
  return file;
}

bool zt_file_iterator_is_on(const zt_file_iterator *it, const zt_listed *file){
  return (it->state==ZT_FILE_LISTED || it->state==ZT_FILE_OPEN)
      && it->at.file==file && it->at.id==file->id;
}

void zt_file_iterator_stand_on(zt_file_iterator *it, zt_listed *file){
  it->steps += file->kept ? 1 : ZT_FILE_STEPS;
  it->at.file = file;
  it->at.id = file->id;
  if( it->state==ZT_FILE_NONE ) it->state = ZT_FILE_LISTED;
  it->scan->path = it->scan->err->path = file->path.z;
}

void zt_file_iterator_return(zt_file_iterator *it, const zt_file_place *at){
  zt_file_iterator_stand_on(it, at->file);
  if( it->state==ZT_FILE_LISTED ) it->at = *at;
  it->next = 0;   /* The scan does not continue with the next files of the list */
}

void zt_file_iterator_stand_on_image(zt_file_iterator *it, sqlite3_value *image, uint64_t size){
  zt_scan *scan = it->scan;
  it->state = ZT_FILE_OPEN;
  it->at.asked = ZT_STAT_KNOWN;
  it->at.stat = (zt_stat){ .id.size = size };
  scan->err->path = "<blob>";
  if( it->constraints->plan & ZT_PLAN_CONTAINER ){
    zt_target_open_image(scan->connection, image, &it->container, &it->source, scan->err);
  }
  if( !(it->constraints->plan & ZT_PLAN_BYTES) ){
    zt_source_close(it->source);
    it->source = NULL;
  }
  scan->container = it->container;
  scan->source = it->source;
  file_settle_failure(it);
}

void zt_file_iterator_stand_on_missing(zt_file_iterator *it){
  it->at.asked = ZT_STAT_FAILED;
  it->scan->path = it->scan->err->path;
  file_settle_failure(it);
}

bool zt_file_iterator_is_literal(const zt_file_iterator *it){
  return !it->at.file || it->at.file->path.literal;
}

/* --- Leaving --- */

void zt_file_iterator_leave(zt_file_iterator *it){
  zt_scan *scan = it->scan;
  file_close(it);
  zt_error_clear(&it->error);
  scan->path = scan->err->path = NULL;
  scan->error = NULL;
  it->at = (zt_file_place){ 0 };
  it->state = ZT_FILE_NONE;
}

void zt_file_iterator_rewind(zt_file_iterator *it){
  zt_prefetch_stop(&it->prefetch);
  it->next = 0;
}

void zt_file_iterator_reset(zt_file_iterator *it){
  zt_prefetch_stop(&it->prefetch);
  zt_file_iterator_leave(it);
  zt_files_clear(&it->files);
}

void zt_file_iterator_clear(zt_file_iterator *it){
  zt_file_iterator_reset(it);
  zt_prefetch_clear(&it->prefetch);
  zt_freelist_clear(&it->openings);
  sqlite3_free(it->only);
}
