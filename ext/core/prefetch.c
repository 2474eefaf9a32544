/* Prefetching. See prefetch.h. */
#include "core/prefetch.h"

#include "core/host.h"
#include "core/os.h"

/* Each constant names its measurement in tests/bench. */

/* Nanoseconds of remaining work that are worth a thread. Tests are built with 0. (threads-few) */
#ifndef ZT_PREFETCH_WORTH
# define ZT_PREFETCH_WORTH 1000000
#endif

/* A job that takes longer than this, plus the time for each byte of its result, probably waited.
** Several in a row count, as a processor may be busy. (threads-late, which waits; the last two:
** join-files, whose files take long to check and need no more threads) */
#define PREFETCH_LATE ((int64_t)1000*1000)
#define PREFETCH_LATE_BYTE 10
#define PREFETCH_LATE_JOBS 3

/* Groups for each thread (threads-late); most jobs of a group, and their time in nanoseconds:
** handing over a short job may take longer than the job (threads-tree). */
#define PREFETCH_EACH 2
#define PREFETCH_GROUP 16
#define PREFETCH_GROUP_TIME ((int64_t)250*1000)

/* Jobs that one thread runs in sequence. */
typedef struct prefetch_group {
  zt_task task;                    /* First */
  struct prefetch_group *next;
  uint32_t n, done, at;            /* Jobs, and how many were done and were taken */
  zt_job *job[PREFETCH_GROUP];
} prefetch_group;

static void prefetch_do(zt_job *job, const zt_interrupt *interrupt){
  const int64_t before = zt_os_elapsed();
  job->work(job, interrupt);
  job->took = zt_os_elapsed()-before;
}

/* The jobs behind one whose bytes could not be had are left to who requests them: a server that
** does not answer would be waited for again. */
static void prefetch_run(zt_task *task, const zt_interrupt *interrupt){
  prefetch_group *g = (prefetch_group*)task;
  bool unavailable = false;
  for(g->done=0; g->done<g->n && !unavailable; g->done++){
    prefetch_do(g->job[g->done], interrupt);
    unavailable = g->job[g->done]->unavailable;
  }
}

/* --- The list of groups --- */

static void prefetch_drop_first(zt_prefetch *a){
  prefetch_group *g = a->first;
  for(; g->at<g->n; g->at++) a->jobs->drop(g->job[g->at]);
  a->first = g->next;
  if( !a->first ) a->last = NULL;
  a->n--;
  zt_freelist_give(&a->freelist, g);
}

void zt_prefetch_stop(zt_prefetch *a){
  if( a->n>0 ) zt_pool_abandon(&a->tasks);
  while( a->first ) prefetch_drop_first(a);
  a->begun = false;
  a->window = 0;
}

void zt_prefetch_clear(zt_prefetch *a){
  zt_prefetch_stop(a);
  zt_freelist_clear(&a->freelist);
  *a = (zt_prefetch){ 0 };
}

/* Returns whether the first prefetched job has that number. */
static bool prefetch_has(const zt_prefetch *a, uint64_t number){
  return a->first && a->first->job[a->first->at]->number==number;
}

/* --- Making jobs --- */

static zt_job *prefetch_make(zt_prefetch *a, void *context, uint64_t number){
  zt_job *job = a->jobs->make(context, number);
  if( job ) job->number = number;
  return job;
}

static uint32_t prefetch_group_size(const zt_prefetch *a){
  const int64_t n = a->took>0 ? PREFETCH_GROUP_TIME/a->took : 1;
  return a->window<2 || n<1 ? 1 : n<PREFETCH_GROUP ? (uint32_t)n : PREFETCH_GROUP;
}

/* Makes a group of jobs after *number and advances it. NULL: there are none, or memory is short. */
static prefetch_group *prefetch_make_group(zt_prefetch *a, void *context, uint64_t *number){
  const uint32_t size = prefetch_group_size(a);
  prefetch_group *g = zt_freelist_take(&a->freelist, sizeof(*g));
  if( !g ) return NULL;
  *g = (prefetch_group){ .task.run = prefetch_run };
  while( g->n<size && a->jobs->next(context, number) ){
    zt_job *job = prefetch_make(a, context, *number);
    if( !job ) break;
    g->job[g->n++] = job;
  }
  if( g->n>0 ) return g;
  zt_freelist_give(&a->freelist, g);
  return NULL;
}

static void prefetch_add(zt_prefetch *a, prefetch_group *g){
  if( a->last ) a->last->next = g;
  else a->first = g;
  a->last = g;
  a->n++;
  zt_pool_add(&a->tasks, &g->task, false);
}

/* Adds the requested job, so that its thread waits, and not the caller, which makes further jobs
** meanwhile. If memory is short, the caller runs it. */
static void prefetch_add_requested(zt_prefetch *a, void *context, uint64_t number){
  prefetch_group *g = zt_freelist_take(&a->freelist, sizeof(*g));
  if( !g ) return;
  *g = (prefetch_group){ .task.run = prefetch_run, .job[0] = prefetch_make(a, context, number) };
  g->n = g->job[0]!=NULL;
  if( g->n>0 ) prefetch_add(a, g);
  else zt_freelist_give(&a->freelist, g);
}

/* Adds groups after the job of that number up to the window. Jobs that are not made here run when
** they are requested. */
static void prefetch_fill(zt_prefetch *a, void *context, uint64_t number){
  const uint32_t max_groups = a->window+prefetch_has(a, number);
  if( a->last ) number = a->last->job[a->last->n-1]->number;
  while( a->n<max_groups ){
    prefetch_group *g = prefetch_make_group(a, context, &number);
    if( !g ) return;
    prefetch_add(a, g);
  }
}

static uint64_t prefetch_max_groups(const zt_prefetch *a){
  const uint64_t threads = PREFETCH_EACH*(uint64_t)zt_pool_threads(a->tasks.pool);
  const uint64_t each = a->largest*prefetch_group_size(a),
      room = ZT_PREFETCH_BYTES/(each ? each : 1);
  return threads<room ? threads : room;
}

/* Opens the window at once. */
static void prefetch_open(zt_prefetch *a){
  const uint64_t max_groups = prefetch_max_groups(a);
  a->window = a->early && a->early<max_groups ? a->early : (uint32_t)max_groups;
}

/* Doubles the window after a request without a gap. */
static void prefetch_widen(zt_prefetch *a, uint64_t remaining){
  const uint64_t max_groups = prefetch_max_groups(a);
  if( a->window==0 && (uint64_t)a->took<(uint64_t)ZT_PREFETCH_WORTH/remaining ) return;
  if( a->window>0 ) a->window *= 2;
  else a->window = a->early ? a->early : 1;
  if( a->window>max_groups ) a->window = (uint32_t)max_groups;
}

/* --- Taking them --- */

/* Learns from a finished job. */
static void prefetch_learn(zt_prefetch *a, const zt_job *job){
  const int64_t computing = PREFETCH_LATE + PREFETCH_LATE_BYTE*(int64_t)job->memory;
  const int threads = 2*zt_pool_threads(a->tasks.pool);
  a->took = job->took;
  if( job->memory>a->largest ) a->largest = job->memory;
  a->late = job->took<computing ? 0 : a->late+1;
  if( !a->slow || a->late<PREFETCH_LATE_JOBS ) return;
  a->late = 0;
  zt_pool_widen(a->tasks.pool, threads<ZT_PREFETCH_WAITING ? threads : ZT_PREFETCH_WAITING);
}

/* Takes the next job and waits for its group. */
static zt_job *prefetch_pop(zt_prefetch *a, const zt_interrupt *interrupt, zt_error *err){
  prefetch_group *g = a->first;
  zt_job *job;
  if( g->at==0 && zt_pool_wait(&a->tasks, &g->task, interrupt, err) ) return NULL;
  if( g->at>=g->done ) prefetch_do(g->job[g->at], interrupt);
  job = g->job[g->at++];
  if( g->at==g->n ) prefetch_drop_first(a);
  return job;
}

zt_job *zt_prefetch_take(zt_prefetch *a, void *context, uint64_t number, uint64_t remaining,
                         const zt_interrupt *interrupt, zt_error *err){
  zt_job *job;
  if( zt_interrupt_check(interrupt, err) ) return NULL;
  if( !a->begun || (a->first ? !prefetch_has(a, number) : number<=a->last_number) ){
    zt_prefetch_stop(a);
    if( a->whole && a->tasks.pool ) prefetch_open(a);
  }else if( remaining>0 && a->tasks.pool && (!a->first || a->first->at==0) ){
    prefetch_widen(a, remaining);
  }
  if( a->tasks.waits && a->window>0 && !a->first ) prefetch_add_requested(a, context, number);
  if( !a->first || a->first->at==0 ) prefetch_fill(a, context, number);
  a->begun = true;
  a->last_number = number;
  if( prefetch_has(a, number) ){
    job = prefetch_pop(a, interrupt, err);
  }else if( (job = prefetch_make(a, context, number))!=NULL ){
    prefetch_do(job, interrupt);
  }else{
    zt_fail_nomem(err);
  }
  if( job ) prefetch_learn(a, job);
  return job;
}
