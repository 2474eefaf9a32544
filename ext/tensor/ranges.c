/* Passes over elements of tensors, in ranges. See ranges.h. */
#include "tensor/ranges.h"

#include "core/host.h"
#include "core/prefetch.h"
#include "core/window.h"

/* Allocate a window for elements of the first tensor, and behind it one of the second. Windows are
** reused, because allocating them for each range would take longer than reading. */
static void *ranges_windows(const zt_ranges *r){
  uint64_t width = r->t[0]->dtype->width + (r->t[1] ? r->t[1]->dtype->width : 0);
  return zt_window_new(r->place ? 1 : (size_t)(r->window*width));
}

/* Return the elements of a range: at least a window's, whose size depends on the tensors alone. */
static uint64_t ranges_elements(const zt_ranges *r){
  return r->window>ZT_RANGE_ELEMENTS ? r->window : ZT_RANGE_ELEMENTS;
}

static uint64_t ranges_count(const zt_ranges *r){
  const uint64_t each = ranges_elements(r);
  return r->n/each + (r->n%each>0);
}

static void ranges_enter(const zt_ranges *r, const zt_tensor *t, zt_error *err){
  if( r->t[1] ) zt_tensor_enter(t, err);
}

/* Take range i of r's tensors, or of the same tensors opened again. */
static int ranges_take(const zt_ranges *r, zt_tensor *const t[2], uint64_t i, void *windows,
                       void *part, zt_error *err){
  const uint64_t each = ranges_elements(r), end = r->n-i*each<each ? r->n : (i+1)*each;
  void *window[2] = { windows, (uint8_t*)windows + r->window*r->t[0]->dtype->width };
  r->begin(r->context, part, i*each);
  for(uint64_t at=i*each; at<end; at+=r->window){
    const size_t n = end-at<r->window ? (size_t)(end-at) : (size_t)r->window;
    if( r->place ) window[0] = r->place(r->context, at);
    for(int k=0; k<2 && t[k]; k++){
      ranges_enter(r, t[k], err);
      if( zt_tensor_read(t[k], r->first+at, n, window[k], err) ) return err->rc;
    }
    if( r->take(part, (const void *const[2]){ window[0], window[1] }, n, err)
     || zt_tensor_poll(t[0], n, err) ) return err->rc;
  }
  return SQLITE_OK;
}

/* --- With one thread --- */

static int ranges_go_alone(const zt_ranges *r, zt_error *err){
  const uint64_t n = ranges_count(r);
  void *windows = ranges_windows(r), *part = sqlite3_malloc64(r->size);
  if( !windows || !part ) zt_fail_nomem(err);
  for(int k=0; k<2 && r->t[k] && n==0 && !err->rc; k++){
    ranges_enter(r, r->t[k], err);
    zt_tensor_read(r->t[k], 0, 0, windows, err);
  }
  for(uint64_t i=0; i<n && !err->rc; i++){
    if( ranges_take(r, r->t, i, windows, part, err)==SQLITE_OK ) r->merge(r->context, part);
  }
  zt_window_free(windows);
  sqlite3_free(part);
  return err->rc;
}

/* --- With several threads, each of which opens the tensors --- */

typedef struct ranges_run {
  const zt_ranges *of;
  zt_error place;                         /* The place of errors */
  _Atomic(void*) spare[ZT_THREADS_MAX];   /* Unused windows; owned */
} ranges_run;

typedef struct ranges_job {
  zt_job job;                /* First */
  ranges_run *of;
  void *part;
  zt_error err;
} ranges_job;

static void *ranges_borrow(ranges_run *run){
  void *windows;
  for(int i=0; i<ZT_THREADS_MAX; i++){
    windows = atomic_exchange(&run->spare[i], NULL);
    if( windows ) return windows;
  }
  return ranges_windows(run->of);
}

static void ranges_give_back(ranges_run *run, void *windows){
  void *none = NULL;
  for(int i=0; i<ZT_THREADS_MAX; i++, none=NULL){
    if( atomic_compare_exchange_strong(&run->spare[i], &none, windows) ) return;
  }
  zt_window_free(windows);
}

static void ranges_work(zt_job *job, const zt_interrupt *interrupt){
  ranges_job *j = (ranges_job*)job;
  const zt_ranges *r = j->of->of;
  void *windows = ranges_borrow(j->of);
  zt_tensor tensor[2] = { { 0 } }, *t[2] = { NULL, NULL };
  zt_budget budget[2];
  if( !windows ) zt_fail_nomem(&j->err);
  for(int k=0; k<2 && r->t[k] && !j->err.rc; k++){
    budget[k] = *r->t[k]->budget;
    budget[k].interrupt = *interrupt;
    budget[k].spare = NULL;
    budget[k].pool = NULL;
    t[k] = &tensor[k];
    ranges_enter(r, r->t[k], &j->err);
    zt_tensor_open(r->t[k]->source, r->t[k]->container, r->t[k]->object, &budget[k], t[k], &j->err);
  }
  if( !j->err.rc ) ranges_take(r, t, job->number, windows, j->part, &j->err);
  for(int k=0; k<2 && t[k]; k++) zt_tensor_close(t[k]);
  ranges_give_back(j->of, windows);
  job->memory = r->size;
}

static bool ranges_next(void *context, uint64_t *number){
  return ++*number<ranges_count(((const ranges_run*)context)->of);
}

static void ranges_drop(zt_job *job){
  ranges_job *j = (ranges_job*)job;
  sqlite3_free(j->part);
  zt_error_clear(&j->err);
  sqlite3_free(j);
}

static zt_job *ranges_make(void *context, uint64_t number){
  ranges_run *run = context;
  ranges_job *j = sqlite3_malloc64(sizeof(*j));
  (void)number;
  if( !j ) return NULL;
  *j = (ranges_job){ .job.work = ranges_work, .of = run, .err = run->place };
  j->part = sqlite3_malloc64(run->of->size);
  if( j->part ) return &j->job;
  sqlite3_free(j);
  return NULL;
}

static const zt_jobs ranges_jobs = { ranges_next, ranges_make, ranges_drop };

static int ranges_go_together(const zt_ranges *r, zt_error *err){
  const zt_interrupt interrupt = r->t[0]->budget->interrupt;
  const uint64_t n = ranges_count(r);
  zt_prefetch prefetch = {
    .jobs = &ranges_jobs, .tasks.pool = r->t[0]->budget->pool, .whole = true
  };
  ranges_run run = { .of = r, .place = *err };
  for(uint64_t i=0; i<n && !err->rc; i++){
    ranges_job *j = (ranges_job*)zt_prefetch_take(&prefetch, &run, i, n-1-i, &interrupt, err);
    if( !j ) break;
    if( j->err.rc ){
      *err = j->err;
      j->err = ZT_ERROR_NONE;
    }else{
      r->merge(r->context, j->part);
    }
    ranges_drop(&j->job);
  }
  zt_prefetch_clear(&prefetch);
  for(int i=0; i<ZT_THREADS_MAX; i++) zt_window_free(run.spare[i]);
  return err->rc;
}

int zt_ranges_go(const zt_ranges *r, zt_error *err){
  bool anywhere = r->t[0]->budget->pool && ranges_count(r)>1;
  for(int k=0; k<2 && r->t[k]; k++){
    anywhere = anywhere && r->t[k]->anywhere;
    zt_tensor_expect(r->t[k]);
  }
  return anywhere ? ranges_go_together(r, err) : ranges_go_alone(r, err);
}
