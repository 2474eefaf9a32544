/* What is done of a scan before it comes there: opening files, and works on objects. See
** cursor.h. */
#include "sqlite/cursor.h"

#include "sqlite/plan.h"

/* --- Files --- */

typedef struct cursor_opening {
  zt_job job;                  /* First */
  zt_cursor *cursor;           /* Whose job it is */
  zt_cache *cache;             /* Borrowed, like the file */
  const zt_listed *file;
  bool source;                 /* Its bytes are wanted, too */
  zt_opened opened;
  zt_error err;
} cursor_opening;

static void cursor_read(zt_job *job, const zt_interrupt *interrupt){
  cursor_opening *o = (cursor_opening*)job;
  zt_files_read(o->file, o->cache, o->source, interrupt, &o->opened, &o->err);
  if( o->opened.container ) job->memory = zt_container_memory(o->opened.container);
}

static zt_job *cursor_make(void *context, uint64_t number){
  zt_cursor *c = context;
  cursor_opening *o = zt_recycled_take(&c->openings, sizeof(*o));
  if( !o ) return NULL;
  *o = (cursor_opening){
    .job.work = cursor_read, .cursor = c, .cache = c->scan.connection->cache,
    .file = zt_cursor_file(c, (size_t)number), .source = (c->plan & ZT_PLAN_BYTES)!=0
  };
  o->err.path = o->file->path.z;
  zt_cache_prepare(o->cache);
  return &o->job;
}

static void cursor_drop(zt_job *job){
  cursor_opening *o = (cursor_opening*)job;
  zt_container_close(o->opened.container);
  zt_source_close(o->opened.source);
  zt_error_clear(&o->err);
  zt_recycled_give(&o->cursor->openings, o);
}

static bool cursor_next(void *context, uint64_t *number){
  const zt_cursor *c = context;
  for(size_t i=(size_t)*number+1; i<zt_cursor_files(c); i++){
    const zt_listed *file = zt_cursor_file(c, i);
    if( !file ) continue;
    *number = i;
    return !file->path.error_number;
  }
  return false;
}

static const zt_jobs cursor_jobs = { cursor_next, cursor_make, cursor_drop };

/* True if what was opened, or not, is of another state of the file than what was told of it
** since. */
static bool cursor_is_stale(const zt_cursor *c, const cursor_opening *o){
  const zt_identity *id = o->opened.container ? zt_container_identity(o->opened.container) : NULL;
  return c->has_stat && (!id || !zt_same_state(id, &c->stat.id));
}

/* What was opened is the cursor's from here on. False: it is to be tried again, alone: the file was
** replaced meanwhile; or that it was not opened is no fault of its own, and may be that of what
** else was being done. */
static bool cursor_take_over(zt_cursor *c, cursor_opening *o){
  if( o->err.rc!=SQLITE_INTERRUPT
   && ((o->err.rc && !zt_error_is_of_file(&o->err)) || cursor_is_stale(c, o)) ) return false;
  c->err = o->err;
  c->container = o->opened.container;
  c->source = o->opened.source;
  if( c->container ) zt_files_keep(&c->files, c->file, o->cache, &o->opened);
  o->err = ZT_ERROR_NONE;
  o->opened = (zt_opened){ NULL, NULL, false };
  return true;
}

void zt_cursor_open_ahead(zt_cursor *c, zt_pool *pool, bool source){
  const zt_interrupt interrupt = zt_connection_interrupt(c->scan.connection);
  zt_ahead *a = &c->ahead;
  zt_job *job;
  bool taken;
  a->jobs = &cursor_jobs;
  a->tasks.pool = pool;
  a->slow = true;
  job = zt_ahead_take(a, c, c->iFile-1, zt_cursor_files(c)-c->iFile, &interrupt, &c->err);
  if( !job ) return;
  taken = cursor_take_over(c, (cursor_opening*)job);
  cursor_drop(job);
  if( taken ) return;
  zt_ahead_stop(a);
  zt_files_open(&c->files, c->file, c->scan.connection->cache, &c->container,
                source ? &c->source : NULL, &c->err);
}

/* --- Works on objects --- */

static void cursor_work(zt_job *job, const zt_interrupt *interrupt){
  zt_work *w = (zt_work*)job;
  w->budget.interrupt = *interrupt;
  w->table->work(w);
}

static zt_job *cursor_make_work(void *context, uint64_t number){
  zt_cursor *c = context;
  const zt_table *t = zt_cursor_table(c);
  zt_work *w = sqlite3_malloc64(t->work_size);
  if( !w ) return NULL;
  memset(w, 0, t->work_size);
  w->job.work = cursor_work;
  w->table = t;
  w->source = c->source;
  w->container = c->container;
  zt_cursor_object(c, number, &w->object);
  w->want = number==c->iObject-1 ? c->want_now : c->want;
  w->budget = zt_connection_budget(c->scan.connection);
  w->budget.spare = NULL;
  if( zt_cursor_objects(c)>1 && t->work_ahead(w->container, w->object) ){
    w->budget.pool = NULL;   /* One thread is for it */
  }
  w->place.path = c->err.path;
  w->place.object = zt_container_name(c->container, w->object);
  return &w->job;
}

static void cursor_drop_work(zt_job *job){
  zt_work *w = (zt_work*)job;
  w->table->work_clear(w);
  sqlite3_free(w);
}

static bool cursor_next_work(void *context, uint64_t *number){
  const zt_cursor *c = context;
  uint32_t object;
  for(uint64_t i=*number+1; i<zt_cursor_objects(c); i++){
    if( !zt_cursor_object(c, i, &object) ) continue;
    *number = i;
    return zt_cursor_table(c)->work_ahead(c->container, object);
  }
  return false;
}

static const zt_jobs cursor_works = { cursor_next_work, cursor_make_work, cursor_drop_work };

void zt_cursor_drop_works(zt_cursor *c){
  zt_ahead_stop(&c->works);
  if( c->work ) cursor_drop_work(&c->work->job);
  c->work = NULL;
  c->want = 0;
}

zt_work *zt_scan_work(zt_scan *scan, unsigned want, zt_error *err){
  zt_cursor *c = zt_cursor_of(scan);
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  zt_ahead *a = &c->works;
  zt_job *job;
  if( c->work && c->work->object==scan->object && (c->work->want & want)==want ) return c->work;
  if( c->work ) cursor_drop_work(&c->work->job);
  c->work = NULL;
  if( (c->want & want)!=want ) zt_ahead_stop(a);   /* What is ahead lacks it */
  c->want |= want;
  c->want_now = want;
  a->jobs = &cursor_works;
  a->tasks.pool = zt_connection_pool(scan->connection);
  job = zt_ahead_take(a, c, c->iObject-1, zt_cursor_objects(c)-c->iObject, &interrupt, err);
  c->work = (zt_work*)job;
  return c->work;
}
