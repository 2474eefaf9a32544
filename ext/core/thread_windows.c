/* Threads: Windows. See thread.h. */
#include "core/thread.h"

#ifdef _WIN32
#include <windows.h>
#include "core/host.h"

#define THREAD_MILLISECOND ((int64_t)1000*1000)
#define THREAD_STACK_BYTES ((SIZE_T)1 << 20)

struct zt_monitor {
  SRWLOCK lock;
  CONDITION_VARIABLE signal[ZT_SIGNAL_COUNT];
};

struct zt_thread {
  HANDLE handle;
  void (*run)(void *context);
  void *context;
};

/* --- Monitors: Windows' need no cleanup --- */

zt_monitor *zt_monitor_new(void){
  zt_monitor *m = sqlite3_malloc64(sizeof(*m));
  if( !m ) return NULL;
  InitializeSRWLock(&m->lock);
  for(int i=0; i<ZT_SIGNAL_COUNT; i++) InitializeConditionVariable(&m->signal[i]);
  return m;
}

void zt_monitor_free(zt_monitor *m){
  sqlite3_free(m);
}

void zt_monitor_enter(zt_monitor *m){
  AcquireSRWLockExclusive(&m->lock);
}

void zt_monitor_leave(zt_monitor *m){
  ReleaseSRWLockExclusive(&m->lock);
}

void zt_monitor_wait(zt_monitor *m, zt_signal what, int64_t nanoseconds){
  DWORD time = nanoseconds<0 ? INFINITE : (DWORD)(nanoseconds/THREAD_MILLISECOND)+1;
  SleepConditionVariableSRW(&m->signal[what], &m->lock, time, 0);
}

void zt_monitor_signal(zt_monitor *m, zt_signal what, bool all){
  if( all ) WakeAllConditionVariable(&m->signal[what]);
  else WakeConditionVariable(&m->signal[what]);
}

/* --- Threads --- */

static DWORD WINAPI thread_routine(void *p){
  zt_thread *t = p;
  t->run(t->context);
  return 0;
}

zt_thread *zt_thread_start(void (*run)(void *context), void *context){
  zt_thread *t = sqlite3_malloc64(sizeof(*t));
  if( !t ) return NULL;
  *t = (zt_thread){ .run = run, .context = context };
  t->handle = CreateThread(NULL, THREAD_STACK_BYTES, thread_routine, t, 0, NULL);
  if( t->handle ) return t;
  sqlite3_free(t);
  return NULL;
}

void zt_thread_join(zt_thread *t){
  WaitForSingleObject(t->handle, INFINITE);
  CloseHandle(t->handle);
  sqlite3_free(t);
}

/* --- Processors --- */

int zt_thread_processors(bool files){
  DWORD_PTR mine = 0, all = 0;
  int n = 0;
  (void)files;
  if( !GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) ) return 1;
  for(; mine; mine &= mine-1) n++;
  return n<1 ? 1 : n;
}

int64_t zt_thread_process(void){
  return (int64_t)GetCurrentProcessId();
}
#endif
