/* Threads: POSIX. See thread.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#endif
#include "core/thread.h"

#ifndef _WIN32
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/host.h"
#include "core/os.h"

#define THREAD_SECOND ((int64_t)1000*1000*1000)
#define THREAD_STACK ((size_t)1 << 20)   /* Stack bytes: the default of some C libraries is small */
#define THREAD_FORK_TRIES 50      /* To take a lock before a fork, */
#define THREAD_FORK_PAUSE 1000000 /* and nanoseconds between two of them */

struct zt_monitor {
  pthread_mutex_t lock;
  pthread_cond_t signal[ZT_SIGNAL_COUNT];
  int forks;                       /* thread_forks when these were made */
};

struct zt_thread {
  pthread_t thread;
  void (*run)(void *context);
  void *context;
};

/* --- Monitors --- */

static atomic_int thread_forks;    /* That led to this process, while there were threads of ours */

static bool thread_make_monitor(zt_monitor *m){
  int made = 0;
  m->forks = atomic_load_explicit(&thread_forks, memory_order_relaxed);
  if( pthread_mutex_init(&m->lock, NULL) ) return false;
  while( made<ZT_SIGNAL_COUNT && pthread_cond_init(&m->signal[made], NULL)==0 ) made++;
  if( made==ZT_SIGNAL_COUNT ) return true;
  while( made-->0 ) pthread_cond_destroy(&m->signal[made]);
  pthread_mutex_destroy(&m->lock);
  return false;
}

zt_monitor *zt_monitor_new(void){
  zt_monitor *m = sqlite3_malloc64(sizeof(*m));
  if( m && thread_make_monitor(m) ) return m;
  sqlite3_free(m);
  return NULL;
}

/* Returns whether it is the parent's. A thread that the child does not have may hold its lock, or
** wait for its signals. */
static bool thread_left_monitor(const zt_monitor *m){
  return m->forks!=atomic_load_explicit(&thread_forks, memory_order_relaxed);
}

void zt_monitor_free(zt_monitor *m){
  if( m && !thread_left_monitor(m) ){
    for(int i=0; i<ZT_SIGNAL_COUNT; i++) pthread_cond_destroy(&m->signal[i]);
    pthread_mutex_destroy(&m->lock);
  }
  sqlite3_free(m);
}

void zt_monitor_enter(zt_monitor *m){
  if( thread_left_monitor(m) ) (void)thread_make_monitor(m);
  pthread_mutex_lock(&m->lock);
}

void zt_monitor_leave(zt_monitor *m){
  pthread_mutex_unlock(&m->lock);
}

void zt_monitor_wait(zt_monitor *m, zt_signal what, int64_t nanoseconds){
  struct timespec until;
  if( nanoseconds<0 || clock_gettime(CLOCK_REALTIME, &until) ){
    pthread_cond_wait(&m->signal[what], &m->lock);
    return;
  }
  nanoseconds += until.tv_nsec;
  until.tv_sec += (time_t)(nanoseconds/THREAD_SECOND);
  until.tv_nsec = (long)(nanoseconds%THREAD_SECOND);
  pthread_cond_timedwait(&m->signal[what], &m->lock, &until);
}

void zt_monitor_signal(zt_monitor *m, zt_signal what, bool all){
  if( all ) pthread_cond_broadcast(&m->signal[what]);
  else pthread_cond_signal(&m->signal[what]);
}

/* --- Threads --- */

/* A thread may hold a lock of SQLite's while another thread forks, which no thread of the child
** would release. So a fork waits for these locks while there are threads of ours. It waits for a
** short time only: who forks may hold one itself, or another copy of this code may have it. */
static const int thread_locks[] = { SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MEM };
#define THREAD_LOCKS (sizeof(thread_locks)/sizeof(thread_locks[0]))
static _Thread_local sqlite3_mutex *thread_held[THREAD_LOCKS];   /* By its fork, or NULL */
static atomic_int thread_running;

static sqlite3_mutex *thread_try_lock(int which){
  const struct timespec pause = { 0, THREAD_FORK_PAUSE };
  sqlite3_mutex *lock = sqlite3_mutex_alloc(which);
  for(int tries=0; lock && sqlite3_mutex_try(lock)!=SQLITE_OK; tries++){
    if( tries==THREAD_FORK_TRIES ) return NULL;
    nanosleep(&pause, NULL);
  }
  return lock;
}

static void thread_before_fork(void){
  if( atomic_load(&thread_running)==0 ) return;
  for(size_t i=0; i<THREAD_LOCKS; i++) thread_held[i] = thread_try_lock(thread_locks[i]);
}

static void thread_after_fork(void){
  for(size_t i=0; i<THREAD_LOCKS; i++){
    sqlite3_mutex_leave(thread_held[i]);
    thread_held[i] = NULL;
  }
}

static void thread_begin_child(void){
  thread_after_fork();
  atomic_fetch_add_explicit(&thread_forks, 1, memory_order_relaxed);
}

static void thread_watch_forks(void){
  (void)pthread_atfork(thread_before_fork, thread_after_fork, thread_begin_child);
}

static void *thread_run(void *p){
  zt_thread *t = p;
  t->run(t->context);
  return NULL;
}

/* Starts the thread with all signals blocked: they are for the host. */
static bool thread_create(zt_thread *t){
  pthread_attr_t attributes;
  sigset_t all, before;
  int rc;
  if( pthread_attr_init(&attributes) ) return false;
  sigfillset(&all);
  pthread_attr_setstacksize(&attributes, THREAD_STACK);   /* A failure leaves the default */
  rc = pthread_sigmask(SIG_SETMASK, &all, &before);
  if( rc==0 ){
    rc = pthread_create(&t->thread, &attributes, thread_run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
  return rc==0;
}

zt_thread *zt_thread_start(void (*run)(void *context), void *context){
  static pthread_once_t forks = PTHREAD_ONCE_INIT;
  zt_thread *t = sqlite3_malloc64(sizeof(*t));
  if( !t ) return NULL;
  pthread_once(&forks, thread_watch_forks);
  *t = (zt_thread){ .run = run, .context = context };
  atomic_fetch_add(&thread_running, 1);
  if( thread_create(t) ) return t;
  atomic_fetch_sub(&thread_running, 1);
  sqlite3_free(t);
  return NULL;
}

void zt_thread_join(zt_thread *t){
  pthread_join(t->thread, NULL);
  atomic_fetch_sub(&thread_running, 1);
  sqlite3_free(t);
}

/* --- Processors --- */

#ifdef __linux__
/* Reads two numbers from a file; the first may be "max". False if they are not there. */
static bool thread_read_quota(const char *path, int64_t *quota, int64_t *period){
  char text[64], *end;
  zt_error unused = ZT_ERROR_NONE;
  zt_stat state;
  int error_number;
  zt_file file = zt_os_open(path, NULL, &state, &unused);
  int64_t n = file<0 ? -1 : zt_os_read(file, 0, text, sizeof(text)-1, &error_number);
  zt_os_close(file);
  zt_error_clear(&unused);
  if( n<=0 ) return false;
  text[n] = 0;
  *quota = strtoll(text, &end, 10);
  *period = end>text ? strtoll(end, NULL, 10) : 0;
  return *quota>0 && *period>0;
}

/* Returns how many of n processors the quota of the container's control group allows; n without a
** quota. */
static int thread_quota(int n){
  int64_t quota, period, processors;
  if( !thread_read_quota("/sys/fs/cgroup/cpu.max", &quota, &period) ) return n;
  processors = (quota+period-1)/period;
  return processors<n ? (int)processors : n;
}
#endif

int zt_thread_processors(bool files){
  long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
  cpu_set_t set;
  if( sched_getaffinity(0, sizeof(set), &set)==0 ) n = CPU_COUNT(&set);
  if( files ) n = thread_quota((int)n);
#else
  (void)files;
#endif
  return n<1 ? 1 : (int)n;
}

int64_t zt_thread_process(void){
  return getpid();
}
#endif
