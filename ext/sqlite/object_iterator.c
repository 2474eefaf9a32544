/* The position of a scan among the objects of a file. See object_iterator.h. */
#include "sqlite/object_iterator.h"

#include "core/sort.h"
#include "sqlite/plan.h"
#include "sqlite/target.h"

/* --- The objects of the scan --- */

static int object_compare_index(const void *unused, const void *a, const void *b){
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  (void)unused;
  return (x>y) - (x<y);
}

/* Sort the positions and remove duplicates: an object may be wanted twice. */
static int object_sort_positions(zt_object_iterator *it, const zt_interrupt *interrupt){
  const zt_sort_by by = {
    .size = sizeof(uint32_t), .compare = object_compare_index, .interrupt = interrupt
  };
  zt_u32_array *p = &it->positions;
  uint32_t n = 0;
  if( p->n<2 ) return SQLITE_OK;
  if( zt_sort(p->a, p->n, &by, it->scan->err) ) return it->scan->err->rc;
  for(uint32_t i=1; i<p->n; i++) if( p->a[i]!=p->a[n] ) p->a[++n] = p->a[i];
  p->n = n+1;
  return SQLITE_OK;
}

/* Look up the wanted names in the file. */
static int object_find(zt_object_iterator *it){
  const zt_interrupt interrupt = zt_connection_interrupt(it->scan->connection);
  const zt_container *container = it->scan->container;
  const zt_names *names = &it->constraints->objects;
  zt_error *err = it->scan->err;
  it->positions.n = 0;
  it->passed += zt_container_objects(container);
  for(uint32_t i=0; i<zt_names_count(names); i++){
    const int64_t k = zt_container_find(container, zt_names_get(names, i));
    if( k>=0 && zt_u32_array_push(&it->positions, (size_t)k, err) ) return err->rc;
    if( (i+1)%ZT_CONSTRAINTS_POLL==0 && zt_interrupt_check(&interrupt, err) ) return err->rc;
  }
  return object_sort_positions(it, &interrupt);
}

/* True if the one object that the argument names is missing in the one file that the source names.
** With 'skip', that is not a failure. */
static bool object_is_lacking(const zt_object_iterator *it){
  return !it->scan->skip && zt_table_is_of_one(it->scan->table) && it->positions.n==0
      && zt_names_count(&it->constraints->objects)>0 && zt_file_iterator_is_literal(it->files);
}

static void object_fail_lacking(zt_object_iterator *it){
  const zt_interrupt interrupt = zt_connection_interrupt(it->scan->connection);
  zt_target_no_object(it->scan->container, zt_names_get(&it->constraints->objects, 0), &interrupt,
                      it->scan->err);
}

/* The number of the file's candidate objects. Candidate i; false if the constraints exclude it. */
static uint64_t object_count(const zt_object_iterator *it){
  return it->constraints->objects.any ? zt_container_objects(it->scan->container) : it->positions.n;
}

static bool object_get(const zt_object_iterator *it, uint64_t i, uint32_t *object){
  *object = it->constraints->objects.any ? (uint32_t)i : it->positions.a[i];
  return !zt_constraints_filters(it->constraints)
      || zt_constraints_object(it->constraints, zt_container_name(it->scan->container, *object));
}

/* True if the file itself has wanted rows. */
static bool object_file_has_rows(const zt_object_iterator *it){
  return it->scan->table->rows==ZT_ROWS_FILES_AND_OBJECTS
      && !(it->constraints->plan & ZT_PLAN_OBJECT)
      && !zt_constraints_filters(it->constraints);
}

ZT_COLD static int object_ask(const zt_scan *scan){
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  return zt_interrupt_check(&interrupt, scan->err);
}

/* Look up the wanted objects. */
ZT_COLD static int object_begin(zt_object_iterator *it){
  if( !it->constraints->objects.any ){
    if( object_find(it) ) return it->scan->err->rc;
    if( object_is_lacking(it) ) object_fail_lacking(it);
    if( it->scan->err->rc ) return it->scan->err->rc;
  }
  it->state = ZT_OBJECTS_BETWEEN;
  return SQLITE_OK;
}

/* Choose the next object of the file, or the file itself. */
static bool object_choose_next(zt_object_iterator *it){
  zt_scan *scan = it->scan;
  uint64_t n;
  scan->on_file = false;
  if( it->state==ZT_OBJECTS_BEFORE ){
    if( object_begin(it) ) return false;
    scan->on_file = object_file_has_rows(it);
    if( scan->on_file ) return true;
  }
  n = object_count(it);
  while( it->next<n ){
    if( object_get(it, it->next++, &scan->object) ) return true;
    if( it->next%ZT_SCAN_POLL==0 && object_ask(scan) ) return false;
  }
  return false;
}

/* --- Rows --- */

/* The result of a table's function. If it did not fail, any place that it set in err is removed. */
static bool object_said(zt_error *err, bool yes){
  if( !err->rc ) err->object.z = err->component.z = NULL;
  return yes && !err->rc;
}

/* Leave an object that cannot be read, or not to its end. With 'skip', drop the failure. */
ZT_COLD static void object_pass_over(zt_object_iterator *it){
  zt_error *err = it->scan->err;
  zt_object_iterator_leave(it);
  if( !it->scan->skip || !zt_file_may_go_on(it->scan) ) return;
  zt_error_clear(err);
  err->object.z = err->component.z = NULL;
}

/* True if the row state belongs to the chosen object or file. */
static bool object_is_entered(const zt_object_iterator *it){
  const zt_scan *scan = it->scan;
  return scan->on_file ? it->entered==ZT_ENTERED_FILE
       : it->entered==ZT_ENTERED_OBJECT && it->entered_object==scan->object;
}

/* Let the table open the chosen object or file, unless it is open already. Most tables have no
** `open` and keep nothing. */
static bool object_open(zt_object_iterator *it){
  zt_scan *scan = it->scan;
  const zt_table *t = scan->table;
  if( !t->open && !t->clear ){
    it->decoded = false;
    return true;
  }
  if( t->open && object_is_entered(it) ) return true;
  zt_object_iterator_leave(it);
  it->entered = scan->on_file ? ZT_ENTERED_FILE : ZT_ENTERED_OBJECT;
  it->entered_object = scan->object;
  return !t->open || object_said(scan->err, t->open(scan));
}

/* True if the wanted rows of the object can be counted. */
static bool object_may_count(zt_object_iterator *it){
  if( !it->constraints->uncounted
     || zt_object_iterator_decoded(it)->elements<=INT64_MAX ) return true;
  zt_fail(it->scan->err, SQLITE_ERROR, "with LIMIT, a column of numbers beyond 2^63 cannot be"
          " compared with a value that is not an INTEGER: write + before the column");
  return false;
}

bool zt_object_iterator_enter(zt_object_iterator *it){
  zt_scan *scan = it->scan;
  const zt_table *t = scan->table;
  if( object_open(it) && object_may_count(it)
   && (!t->first || object_said(scan->err, t->first(scan))) ){
    it->state = ZT_OBJECTS_ON_ROW;
    return true;
  }
  if( scan->err->rc ) object_pass_over(it);
  return false;
}

bool zt_object_iterator_next(zt_object_iterator *it){
  const zt_scan *scan = it->scan;
  if( it->state==ZT_OBJECTS_NONE ) return false;
  while( scan->container && !scan->err->rc && object_choose_next(it) ){
    if( zt_object_iterator_enter(it) ) return true;
  }
  if( scan->err->rc ) object_pass_over(it);
  return false;
}

bool zt_object_iterator_next_row(zt_object_iterator *it){
  zt_scan *scan = it->scan;
  if( it->state!=ZT_OBJECTS_ON_ROW ) return false;
  if( scan->table->next && object_said(scan->err, scan->table->next(scan)) ) return true;
  it->state = ZT_OBJECTS_BETWEEN;
  if( scan->err->rc ) object_pass_over(it);
  return false;
}

const zt_object *zt_object_iterator_decoded(zt_object_iterator *it){
  if( !it->decoded ) zt_container_object(it->scan->container, it->scan->object, &it->object);
  it->decoded = true;
  return &it->object;
}

/* --- Work on objects --- */

static void object_run_job(zt_job *job, const zt_interrupt *interrupt){
  zt_work *w = (zt_work*)job;
  w->budget.interrupt = *interrupt;
  w->table->work(w);
}

static zt_job *object_make_job(void *context, uint64_t number){
  const zt_object_iterator *it = context;
  const zt_scan *scan = it->scan;
  const zt_table *t = scan->table;
  zt_work *w = sqlite3_malloc64(t->work_size);
  if( !w ) return NULL;
  memset(w, 0, t->work_size);
  w->job.work = object_run_job;
  w->table = t;
  w->source = scan->source;
  w->container = scan->container;
  object_get(it, number, &w->object);
  w->want = number==it->next-1 ? it->want_now : it->want;
  w->budget = zt_connection_budget(scan->connection);
  w->budget.spare = NULL;
  if( object_count(it)>1 && t->prefetch(w->container, w->object) ){
    w->budget.pool = NULL;   /* The job has one thread */
  }
  w->place.path = scan->err->path;
  w->place.object = zt_container_name(w->container, w->object);
  return &w->job;
}

static void object_drop_job(zt_job *job){
  zt_work *w = (zt_work*)job;
  w->table->work_clear(w);
  sqlite3_free(w);
}

static bool object_next_job(void *context, uint64_t *number){
  const zt_object_iterator *it = context;
  uint32_t object;
  for(uint64_t i=*number+1; i<object_count(it); i++){
    if( !object_get(it, i, &object) ) continue;
    *number = i;
    return it->scan->table->prefetch(it->scan->container, object);
  }
  return false;
}

static const zt_jobs object_jobs = { object_next_job, object_make_job, object_drop_job };

static void object_drop_work(zt_object_iterator *it){
  if( it->work ) object_drop_job(&it->work->job);
  it->work = NULL;
}

zt_work *zt_object_iterator_work(zt_object_iterator *it, unsigned want, zt_error *err){
  const zt_scan *scan = it->scan;
  const zt_interrupt interrupt = zt_connection_interrupt(scan->connection);
  zt_prefetch *a = &it->works;
  uint64_t remaining;
  if( it->work && it->work->object==scan->object && (it->work->want & want)==want ) return it->work;
  object_drop_work(it);
  if( (it->want & want)!=want ) zt_prefetch_stop(a); /* Prefetched work lacks it */
  it->want |= want;
  it->want_now = want;
  a->jobs = &object_jobs;
  a->tasks.pool = zt_connection_pool(scan->connection);
  remaining = object_count(it)-it->next;
  it->work = (zt_work*)zt_prefetch_take(a, it, it->next-1, remaining, &interrupt, err);
  return it->work;
}

/* --- Coming and leaving --- */

void zt_object_iterator_come(zt_object_iterator *it){
  it->state = ZT_OBJECTS_BEFORE;
  it->next = 0;
}

void zt_object_iterator_leave(zt_object_iterator *it){
  const zt_table *t = it->scan->table;
  if( it->entered!=ZT_ENTERED_NOTHING && t->clear ) t->clear(it->scan);
  it->entered = ZT_ENTERED_NOTHING;
  it->decoded = false;
  if( it->state==ZT_OBJECTS_ON_ROW ) it->state = ZT_OBJECTS_BETWEEN;
}

void zt_object_iterator_leave_file(zt_object_iterator *it){
  zt_object_iterator_leave(it);
  zt_prefetch_stop(&it->works);
  object_drop_work(it);
  it->want = 0;
  it->state = ZT_OBJECTS_NONE;
}

void zt_object_iterator_rewind(zt_object_iterator *it){
  zt_prefetch_stop(&it->works);
  it->state = ZT_OBJECTS_NONE;
}

void zt_object_iterator_clear(zt_object_iterator *it){
  zt_object_iterator_leave_file(it);
  zt_prefetch_clear(&it->works);
  zt_u32_array_clear(&it->positions);
}
