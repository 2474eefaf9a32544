/* A pool of threads. See pool.h. */
#include "core/pool.h"

#include <assert.h>
#include "core/host.h"

#define POOL_PATIENCE ((int64_t)5*1000*1000)   /* Nanoseconds between two checks for an interrupt
                                               ** while waiting */

struct zt_pool {
  zt_monitor *monitor;             /* Protects all other members */
  zt_task *first, *last;           /* The queue */
  zt_thread *thread[ZT_POOL_MAX];
  int n;                           /* Threads started */
  atomic_int max_threads;          /* Their maximum, which may be read without the monitor */
  int idle;                        /* Threads that wait for work */
  bool ending;
  int64_t process;                 /* The process that has the threads */
};

/* --- Whether SQLite is threadsafe --- */

typedef struct pool_trial {
  sqlite3_mutex *mutex;            /* Held by the thread that starts the trial */
  bool excluded;
} pool_trial;

static void pool_try(void *context){
  pool_trial *t = context;
  t->excluded = sqlite3_mutex_try(t->mutex)!=SQLITE_OK;
  if( !t->excluded ) sqlite3_mutex_leave(t->mutex);
}

/* Returns whether SQLite's mutexes exclude other threads, as it was compiled and configured. This
** does not change once SQLite is initialized. */
static bool pool_is_possible(void){
  static atomic_int known;         /* 0: unknown; 1: yes; 2: no */
  pool_trial t = { .excluded = false };
  zt_thread *thread;
  if( known ) return known==1;
  if( !sqlite3_threadsafe() ) return false;
  t.mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  if( !t.mutex ) return false;
  sqlite3_mutex_enter(t.mutex);
  thread = zt_thread_start(pool_try, &t);
  if( thread ) zt_thread_join(thread);
  sqlite3_mutex_leave(t.mutex);
  sqlite3_mutex_free(t.mutex);
  if( thread ) known = t.excluded ? 1 : 2;
  return t.excluded;
}

/* --- The queue, protected by the monitor --- */

static void pool_put(zt_pool *p, zt_task *task, bool urgent){
  task->state = ZT_TASK_QUEUED;
  task->next = NULL;
  if( !p->first ){
    p->first = p->last = task;
  }else if( urgent ){
    task->next = p->first;
    p->first = task;
  }else{
    p->last->next = task;
    p->last = task;
  }
}

/* Takes the first task of `tasks`, or of any if that is NULL; only the task `only`, if it is given.
** NULL if there is none. */
static zt_task *pool_get(zt_pool *p, const zt_tasks *tasks, const zt_task *only){
  zt_task *before = NULL, *t = p->first;
  while( t && ((tasks && t->tasks!=tasks) || (only && t!=only)) ){
    before = t;
    t = t->next;
  }
  if( !t ) return NULL;
  if( before ) before->next = t->next;
  else p->first = t->next;
  if( p->last==t ) p->last = before;
  t->next = NULL;
  t->state = ZT_TASK_RUNNING;
  return t;
}

/* --- Threads --- */

static bool pool_is_abandoned(void *context){
  return atomic_load_explicit(&((zt_tasks*)context)->abandoned, memory_order_relaxed);
}

/* Runs a task, whose reads may wait. */
static void pool_run(zt_task *task, const zt_interrupt *interrupt){
  const zt_interrupt *before = zt_interrupt_enter(interrupt);
  task->run(task, interrupt);
  zt_interrupt_enter(before);
}

static void pool_work(void *context){
  zt_pool *p = context;
  zt_monitor_enter(p->monitor);
  while( !p->ending ){
    zt_task *task = pool_get(p, NULL, NULL);
    zt_tasks *tasks;
    zt_interrupt interrupt;
    if( !task ){
      p->idle++;
      zt_monitor_wait(p->monitor, ZT_SIGNAL_WORK, -1);
      p->idle--;
      continue;
    }
    tasks = task->tasks;
    tasks->running++;
    zt_monitor_leave(p->monitor);
    interrupt = (zt_interrupt){ pool_is_abandoned, tasks };
    pool_run(task, &interrupt);
    zt_monitor_enter(p->monitor);
    task->state = ZT_TASK_DONE;
    tasks->running--;
    zt_monitor_signal(p->monitor, ZT_SIGNAL_DONE, true);
  }
  zt_monitor_leave(p->monitor);
}

static bool pool_is_ours(const zt_pool *p){
  return p && p->process==zt_thread_process();
}

zt_pool *zt_pool_new(int threads){
  zt_pool *p;
  if( threads<1 ) return NULL;
  p = sqlite3_malloc64(sizeof(*p));
  if( !p ) return NULL;
  *p = (zt_pool){ .monitor = zt_monitor_new(), .process = zt_thread_process() };
  if( !p->monitor ){
    sqlite3_free(p);
    return NULL;
  }
  zt_pool_widen(p, threads);
  return p;
}

void zt_pool_free(zt_pool *p){
  if( !p ) return;
  if( pool_is_ours(p) ){
    assert( !p->first );
    zt_monitor_enter(p->monitor);
    p->ending = true;
    zt_monitor_signal(p->monitor, ZT_SIGNAL_WORK, true);
    zt_monitor_leave(p->monitor);
    for(int i=0; i<p->n; i++) zt_thread_join(p->thread[i]);
    zt_monitor_free(p->monitor);
  }
  sqlite3_free(p);
}

int zt_pool_threads(const zt_pool *p){
  return p ? p->max_threads+1 : 1;
}

void zt_pool_widen(zt_pool *p, int threads){
  if( threads>ZT_POOL_MAX ) threads = ZT_POOL_MAX;
  if( p && threads>p->max_threads ) p->max_threads = threads;
}

/* Starts another thread if possible. Without any, the waiting thread does the work. */
static void pool_start_one(zt_pool *p){
  if( p->n==p->max_threads ) return;
  if( p->n==0 && !pool_is_possible() ) p->max_threads = 0;
  else if( (p->thread[p->n] = zt_thread_start(pool_work, p))!=NULL ) p->n++;
}

/* --- Tasks --- */

void zt_pool_add(zt_tasks *tasks, zt_task *task, bool urgent){
  zt_pool *p = tasks->pool;
  bool wakes;
  task->tasks = tasks;
  task->state = ZT_TASK_QUEUED;
  if( !pool_is_ours(p) ) return;
  zt_monitor_enter(p->monitor);
  pool_put(p, task, urgent);
  wakes = p->idle>0;
  if( !wakes ) pool_start_one(p);
  zt_monitor_leave(p->monitor);
  /* A thread that wakes up before the monitor is left waits again */
  if( wakes ) zt_monitor_signal(p->monitor, ZT_SIGNAL_WORK, false);
}

/* The waiting thread's interrupt, which may report only once. */
typedef struct pool_latch {
  const zt_interrupt *outer;
  bool stopped;
} pool_latch;

static bool pool_is_interrupted(void *context){
  pool_latch *l = context;
  const zt_interrupt *outer = l->outer;
  if( !l->stopped && outer && outer->interrupted ) l->stopped = outer->interrupted(outer->context);
  return l->stopped;
}

/* Runs a task in the waiting thread. */
static int pool_do(zt_task *task, const zt_interrupt *interrupt, const pool_latch *latch,
                   zt_error *err){
  pool_run(task, interrupt);
  task->state = ZT_TASK_DONE;
  return latch->stopped ? zt_fail_interrupt(err) : SQLITE_OK;
}

int zt_pool_wait(zt_tasks *tasks, zt_task *task, const zt_interrupt *outer, zt_error *err){
  zt_pool *p = tasks->pool;
  pool_latch latch = { outer, false };
  zt_interrupt interrupt = { pool_is_interrupted, &latch };
  if( !pool_is_ours(p) ){
    return task->state==ZT_TASK_DONE ? SQLITE_OK : pool_do(task, &interrupt, &latch, err);
  }
  zt_monitor_enter(p->monitor);
  while( task->state!=ZT_TASK_DONE && !latch.stopped ){
    zt_task *other = pool_get(p, tasks,
                              tasks->waits || task->state==ZT_TASK_QUEUED ? task : NULL);
    if( other ){
      zt_monitor_leave(p->monitor);
      pool_run(other, &interrupt);
      zt_monitor_enter(p->monitor);
      other->state = ZT_TASK_DONE;
      continue;
    }
    zt_monitor_wait(p->monitor, ZT_SIGNAL_DONE, POOL_PATIENCE);
    if( task->state==ZT_TASK_DONE ) break;
    zt_monitor_leave(p->monitor);
    pool_is_interrupted(&latch);
    zt_monitor_enter(p->monitor);
  }
  zt_monitor_leave(p->monitor);
  return latch.stopped ? zt_fail_interrupt(err) : SQLITE_OK;
}

void zt_pool_abandon(zt_tasks *tasks){
  zt_pool *p = tasks->pool;
  if( !pool_is_ours(p) ) return;
  atomic_store_explicit(&tasks->abandoned, true, memory_order_relaxed);
  zt_monitor_enter(p->monitor);
  for(zt_task *t; (t = pool_get(p, tasks, NULL))!=NULL; ) t->state = ZT_TASK_NEW;
  while( tasks->running>0 ) zt_monitor_wait(p->monitor, ZT_SIGNAL_DONE, -1);
  zt_monitor_leave(p->monitor);
  atomic_store_explicit(&tasks->abandoned, false, memory_order_relaxed);
}
