/* Work done side by side: core/pool.h; and before it is asked for: core/prefetch.h. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/prefetch.h"

/* --- Tasks --- */

typedef struct numbered {
  zt_task task;
  uint64_t n, result;
  pthread_t by;
} numbered;

static void square(zt_task *task, const zt_interrupt *interrupt){
  numbered *t = (numbered*)task;
  (void)interrupt;
  t->result = t->n*t->n;
  t->by = pthread_self();
}

TEST(test_every_task_is_done_once_it_was_waited_for){
  for(int threads=0; threads<=8; threads++){
    zt_pool *pool = zt_pool_new(threads);
    zt_tasks tasks = { .pool = pool };
    numbered a[200] = { 0 };
    zt_error err = ZT_ERROR_NONE;
    assert_int_equal(pool!=NULL, threads>0);
    assert_int_equal(zt_pool_threads(pool), threads+1);
    for(size_t i=0; i<COUNT(a); i++){
      a[i].task.run = square;
      a[i].n = i;
      zt_pool_add(&tasks, &a[i].task, i%3==0);
    }
    for(size_t i=0; i<COUNT(a); i++){
      assert_int_equal(zt_pool_wait(&tasks, &a[i].task, NULL, &err), SQLITE_OK);
      assert_int_equal(a[i].result, i*i);
      if( threads==0 ) assert_true(pthread_equal(a[i].by, pthread_self()));
    }
    zt_pool_abandon(&tasks);
    zt_pool_free(pool);
  }
}

/* A task that another thread takes some time for. */
static void slow_square(zt_task *task, const zt_interrupt *interrupt){
  usleep(10*1000);
  square(task, interrupt);
}

TEST(test_who_waits_for_a_task_that_waits_runs_no_other){
  zt_pool *pool = zt_pool_new(1);
  zt_tasks tasks = { .pool = pool, .waits = true };
  numbered a[5] = { 0 };
  zt_error err = ZT_ERROR_NONE;
  size_t here = 0;
  for(size_t i=0; i<COUNT(a); i++){
    a[i].task.run = slow_square;
    zt_pool_add(&tasks, &a[i].task, false);
  }
  usleep(2*1000);   /* The thread most likely has the first one */
  assert_int_equal(zt_pool_wait(&tasks, &a[0].task, NULL, &err), SQLITE_OK);
  zt_pool_abandon(&tasks);
  for(size_t i=1; i<COUNT(a); i++) here += a[i].task.state==ZT_TASK_DONE && pthread_equal(a[i].by, pthread_self());
  check( here==0, "%zu", here );
  zt_pool_free(pool);
}

/* A task that ends only when it is told to. */
static void endless(zt_task *task, const zt_interrupt *interrupt){
  zt_error err = ZT_ERROR_NONE;
  numbered *t = (numbered*)task;
  while( zt_interrupt_check(interrupt, &err)==SQLITE_OK ) sched_yield();
  t->result = 1;
}

TEST(test_tasks_are_stopped_when_they_are_abandoned){
  zt_pool *pool = zt_pool_new(3);
  zt_tasks tasks = { .pool = pool };
  numbered a[6] = { 0 };
  for(size_t i=0; i<COUNT(a); i++){
    a[i].task.run = endless;
    zt_pool_add(&tasks, &a[i].task, false);
  }
  zt_pool_abandon(&tasks);   /* Returns when no thread runs one of them: their memory may be freed */
  for(size_t i=0; i<COUNT(a); i++) assert_true(a[i].task.state!=ZT_TASK_RUNNING);
  zt_pool_free(pool);
}

TEST(test_who_waits_can_be_interrupted){
  zt_pool *pool = zt_pool_new(1);
  zt_tasks tasks = { .pool = pool };
  numbered a[2] = { 0 };
  zt_error err = ZT_ERROR_NONE;
  caller c = { 0, 3 };
  zt_interrupt interrupt = { caller_stops, &c };
  for(size_t i=0; i<COUNT(a); i++){
    a[i].task.run = endless;
    zt_pool_add(&tasks, &a[i].task, false);
  }
  assert_int_equal(zt_pool_wait(&tasks, &a[0].task, &interrupt, &err), SQLITE_INTERRUPT);
  assert_int_equal(c.asked, 3);   /* Not again after it stopped */
  zt_error_clear(&err);
  zt_pool_abandon(&tasks);
  zt_pool_free(pool);
}

TEST(test_a_forked_process_does_what_it_waits_for){
  zt_pool *pool = zt_pool_new(2);
  zt_tasks tasks = { .pool = pool };
  numbered first = { .task.run = square, .n = 3 }, then = { .task.run = square, .n = 5 };
  zt_error err = ZT_ERROR_NONE;
  int status = -1;
  pid_t child;
  zt_pool_add(&tasks, &first.task, false);
  assert_int_equal(zt_pool_wait(&tasks, &first.task, NULL, &err), SQLITE_OK);   /* There is a thread */
  child = fork();
  if( child==0 ){
    zt_pool_add(&tasks, &then.task, false);
    status = zt_pool_wait(&tasks, &then.task, NULL, &err);
    zt_pool_abandon(&tasks);
    zt_pool_free(pool);
    LEAVE_CHILD(status==SQLITE_OK && then.result==25 ? 0 : 1);
  }
  assert_true(child>0 && waitpid(child, &status, 0)==child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status)==0);
  zt_pool_free(pool);
}

typedef struct keeper {
  zt_task task;
  zt_monitor *monitor;
  bool waits;                /* For a signal; else it keeps the lock */
  atomic_int there, enough;
} keeper;

static void keep(zt_task *task, const zt_interrupt *interrupt){
  keeper *k = (keeper*)task;
  (void)interrupt;
  zt_monitor_enter(k->monitor);
  k->there = 1;
  while( !k->enough ){
    if( k->waits ) zt_monitor_wait(k->monitor, ZT_SIGNAL_DONE, -1);
    else usleep(1000);
  }
  zt_monitor_leave(k->monitor);
}

/* The child does not have the threads that would leave them. */
TEST(test_a_forked_process_enters_and_frees_monitors_that_threads_are_in){
  zt_pool *pool = zt_pool_new(2);
  zt_tasks tasks = { .pool = pool };
  keeper k[2] = { { .task.run = keep }, { .task.run = keep, .waits = true } };
  zt_error err = ZT_ERROR_NONE;
  int status;
  pid_t child;
  for(int i=0; i<2; i++){
    k[i].monitor = zt_monitor_new();
    zt_pool_add(&tasks, &k[i].task, false);
    while( !k[i].there ) usleep(1000);
  }
  zt_monitor_enter(k[1].monitor);   /* Its thread waits */
  zt_monitor_leave(k[1].monitor);
  child = fork();
  if( child==0 ){
    alarm(20);
    for(int i=0; i<2; i++){
      zt_monitor_enter(k[i].monitor);
      zt_monitor_wait(k[i].monitor, ZT_SIGNAL_DONE, 1);
      zt_monitor_leave(k[i].monitor);
      zt_monitor_free(k[i].monitor);
    }
    LEAVE_CHILD(0);
  }
  for(int i=0; i<2; i++){
    k[i].enough = 1;
    zt_monitor_signal(k[i].monitor, ZT_SIGNAL_DONE, true);
    assert_int_equal(zt_pool_wait(&tasks, &k[i].task, NULL, &err), SQLITE_OK);
    zt_monitor_free(k[i].monitor);
  }
  assert_true(child>0 && waitpid(child, &status, 0)==child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status)==0);
  zt_pool_free(pool);
}

static void *forks(void *unused){
  int status;
  for(int i=0; i<500; i++){
    const pid_t child = fork();
    if( child==0 ) _exit(0);
    if( child<0 || waitpid(child, &status, 0)!=child ) return unused;
  }
  return NULL;
}

/* Each fork gives back SQLite's locks that it took, and no others. */
TEST(test_threads_of_the_host_that_fork_at_once){
  zt_pool *pool = zt_pool_new(1);
  zt_tasks tasks = { .pool = pool };
  numbered first = { .task.run = square, .n = 3 };
  pthread_t threads[4];
  zt_error err = ZT_ERROR_NONE;
  void *failed;
  zt_pool_add(&tasks, &first.task, false);
  assert_int_equal(zt_pool_wait(&tasks, &first.task, NULL, &err), SQLITE_OK);   /* There is a thread */
  alarm(120);   /* A lock that no one gives back would be waited for forever */
  for(int i=0; i<4; i++) assert_int_equal(pthread_create(&threads[i], NULL, forks, &err), 0);
  for(int i=0; i<4; i++){
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  zt_pool_free(pool);
  alarm(0);
}

/* --- Ahead --- */

typedef struct series {
  uint64_t end, made, done, dropped;   /* Jobs */
  pthread_t caller;
  uint64_t requested, by_caller;       /* The job that it waits for, and how many others it ran */
  uint64_t ahead;                      /* The greatest number for which one was made */
  uint64_t memory;                     /* A result's size */
  int64_t nanoseconds;                 /* That a job takes at least */
  pthread_mutex_t lock;
} series;

typedef struct series_job {
  zt_job job;
  series *of;
  uint64_t result;
} series_job;

static void series_work(zt_job *job, const zt_interrupt *interrupt){
  series_job *j = (series_job*)job;
  struct timespec pause = { 0, (long)j->of->nanoseconds };
  (void)interrupt;
  if( pause.tv_nsec ) nanosleep(&pause, NULL);
  j->result = job->number*10;
  job->memory = j->of->memory;
  pthread_mutex_lock(&j->of->lock);
  j->of->done++;
  j->of->by_caller += job->number!=j->of->requested && pthread_equal(pthread_self(), j->of->caller);
  pthread_mutex_unlock(&j->of->lock);
}

/* Every third number is wanted. */
static bool series_next(void *context, uint64_t *number){
  *number += 3;
  return *number<((series*)context)->end;
}

static zt_job *series_make(void *context, uint64_t number){
  series *s = context;
  series_job *j = calloc(1, sizeof(*j));
  assert_non_null(j);
  j->job.work = series_work;
  j->of = s;
  s->made++;
  if( number>s->ahead ) s->ahead = number;
  return &j->job;
}

static void series_drop(zt_job *job){
  ((series_job*)job)->of->dropped++;
  free(job);
}

static const zt_jobs series_jobs = { series_next, series_make, series_drop };

/* Take the job of a number: the right one, done. */
static void take(zt_prefetch *a, series *s, uint64_t number){
  zt_error err = ZT_ERROR_NONE;
  zt_job *job;
  pthread_mutex_lock(&s->lock);
  s->requested = number;
  pthread_mutex_unlock(&s->lock);
  job = zt_prefetch_take(a, s, number, (s->end-1-number)/3, NULL, &err);
  assert_succeeded(&err, "a job");
  assert_non_null(job);
  assert_int_equal(job->number, number);
  assert_int_equal(((series_job*)job)->result, number*10);
  series_drop(job);
}

TEST(test_jobs_come_in_order_and_each_once){
  for(int threads=0; threads<=8; threads+=2){
    series s = { .end = 3000, .lock = PTHREAD_MUTEX_INITIALIZER };
    zt_pool *pool = zt_pool_new(threads);
    zt_prefetch a = { .jobs = &series_jobs, .tasks.pool = pool };
    for(uint64_t i=0; i<s.end; i+=3) take(&a, &s, i);
    assert_int_equal(s.made, 1000);
    assert_int_equal(s.done, 1000);
    assert_int_equal(s.dropped, 1000);
    zt_prefetch_clear(&a);
    zt_pool_free(pool);
  }
}

/* One is done as it is asked for, then one is ahead, two, four ... at most two for each thread. */
TEST(test_what_is_ahead_grows){
  static const uint64_t ahead[] = { 0, 2, 4, 7, 8, 9, 10 };
  series s = { .end = 3000, .nanoseconds = 2*1000*1000, .lock = PTHREAD_MUTEX_INITIALIZER };
  zt_pool *pool = zt_pool_new(1);
  zt_prefetch a = { .jobs = &series_jobs, .tasks.pool = pool };
  for(uint64_t i=0; i<COUNT(ahead); i++){
    take(&a, &s, 3*i);
    check( s.ahead==3*ahead[i], "%llu: %llu", (unsigned long long)i, (unsigned long long)s.ahead/3 );
  }
  take(&a, &s, 3*50);   /* Some were passed over: it begins again */
  assert_int_equal(s.ahead, 3*50);
  zt_prefetch_clear(&a);
  assert_int_equal(s.dropped, s.made);
  zt_pool_free(pool);
}

TEST(test_large_results_are_few){
  series s = { .end = 3000, .nanoseconds = 2*1000*1000, .memory = ZT_PREFETCH_BYTES/2, .lock = PTHREAD_MUTEX_INITIALIZER };
  zt_pool *pool = zt_pool_new(8);
  zt_prefetch a = { .jobs = &series_jobs, .tasks.pool = pool };
  for(uint64_t i=0; i<20; i++){
    take(&a, &s, 3*i);
    check( s.ahead<=3*(i+2), "%llu: %llu", (unsigned long long)i, (unsigned long long)s.ahead/3 );
  }
  zt_prefetch_clear(&a);
  zt_pool_free(pool);
}

/* Jobs that wait for something slow get more threads than there were. */
TEST(test_who_waits_is_not_alone){
  for(int slow=0; slow<2; slow++){
    series s = { .end = 3000, .nanoseconds = 5*1000*1000, .lock = PTHREAD_MUTEX_INITIALIZER };
    zt_pool *pool = zt_pool_new(1);
    zt_prefetch a = { .jobs = &series_jobs, .tasks.pool = pool, .slow = slow };
    for(uint64_t i=0; i<60; i++) take(&a, &s, 3*i);
    assert_int_equal(zt_pool_threads(pool), slow ? ZT_PREFETCH_WAITING+1 : 2);
    zt_prefetch_clear(&a);
    zt_pool_free(pool);
  }
}

/* If jobs wait for other machines, the caller runs none but that which it waits for, and several are ahead at once. */
TEST(test_who_asks_for_jobs_that_wait_runs_no_other){
  series s = { .end = 300, .nanoseconds = 2*1000*1000, .caller = pthread_self(), .lock = PTHREAD_MUTEX_INITIALIZER };
  zt_pool *pool = zt_pool_new(8);
  zt_prefetch a = { .jobs = &series_jobs, .tasks = { .pool = pool, .waits = true }, .whole = true, .early = 5 };
  for(uint64_t i=0; i<100; i++){
    take(&a, &s, 3*i);
    if( i==0 ) assert_int_equal(s.ahead, 3*5);
  }
  assert_int_equal(s.done, 100);
  check( s.by_caller==0, "%llu", (unsigned long long)s.by_caller );
  zt_prefetch_clear(&a);
  zt_pool_free(pool);
}

/* --- Memory used again --- */

TEST(test_memory_is_used_again){
  const sqlite3_int64 before = sqlite3_memory_used();
  zt_freelist r = { 0 };
  void *a[ZT_FREELIST_MAX+1];
  for(size_t i=0; i<COUNT(a); i++) assert_non_null(a[i] = zt_freelist_take(&r, 40));
  for(size_t i=0; i<COUNT(a); i++) zt_freelist_give(&r, a[i]);
  assert_int_equal(r.n, ZT_FREELIST_MAX);   /* One was freed */
  for(size_t i=ZT_FREELIST_MAX; i-->0;) assert_ptr_equal(zt_freelist_take(&r, 40), a[i]);
  assert_true(r.n==0 && !r.first);
  for(size_t i=0; i<ZT_FREELIST_MAX; i++) zt_freelist_give(&r, a[i]);
  zt_freelist_clear(&r);
  assert_true(r.n==0 && sqlite3_memory_used()==before);
}

static bool yes_from_the_tenth(void *context){
  return ++*(int*)context>=10;
}

/* Each is so short that neither it nor who waits for it asks. */
TEST(test_many_short_jobs_can_be_interrupted){
  for(int threads=0; threads<=8; threads+=2){
    series s = { .end = 3000, .lock = PTHREAD_MUTEX_INITIALIZER };
    zt_pool *pool = zt_pool_new(threads);
    zt_prefetch a = { .jobs = &series_jobs, .tasks.pool = pool };
    zt_error err = ZT_ERROR_NONE;
    zt_job *job = NULL;
    int asked = 0;
    zt_interrupt interrupt = { yes_from_the_tenth, &asked };
    uint64_t i = 0;
    for(; i<s.end && (job = zt_prefetch_take(&a, &s, i, (s.end-1-i)/3, &interrupt, &err))!=NULL; i += 3) series_drop(job);
    check( err.rc==SQLITE_INTERRUPT && !job && asked==10, "%d threads: %d, asked %d times", threads, err.rc, asked );
    zt_error_clear(&err);
    zt_prefetch_clear(&a);
    assert_true(s.made==s.dropped && s.done<=s.made && s.made<1000);
    zt_pool_free(pool);
  }
}

int main(void){
  return run_all("pool", NULL, NULL);
}
