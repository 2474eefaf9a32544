/*
** A pool of threads that run tasks in the order in which they were added. Interface to code in
** pool.c.
**
** One thread adds tasks, waits for them, and runs tasks while it waits. Without other threads, each
** task runs where it is waited for. Threads start when there are tasks, and end with the pool. A
** task is code of core, container or tensor; it uses nothing of SQLite but its memory.
**
** A forked process has only the thread that forked. Its copy of the pool has no threads: the
** waiting thread runs the tasks. This serves to close what is open: another thread may have held a
** lock of SQLite's memory at the fork, which then is never released.
*/
#ifndef ZT_CORE_POOL_H
#define ZT_CORE_POOL_H

#include <stdatomic.h>
#include "core/interrupt.h"
#include "core/thread.h"

#define ZT_THREADS_MAX 64          /* Most threads that compute */
#define ZT_POOL_MAX 128            /* Most threads of a pool: those that wait for servers, too */

typedef struct zt_pool zt_pool;

typedef enum zt_task_state { ZT_TASK_NEW, ZT_TASK_QUEUED, ZT_TASK_RUNNING, ZT_TASK_DONE }
  zt_task_state;

/* A task, the first member of its data. All zeros except run. */
typedef struct zt_task {
  /* Runs the task. After an interrupt its result is not used. */
  void (*run)(struct zt_task *task, const zt_interrupt *interrupt);
  struct zt_task *next;            /* In the queue */
  struct zt_tasks *tasks;
  zt_task_state state;             /* Private to the pool */
} zt_task;

/* The tasks of one waiting thread. All zeros except the pool, which is borrowed; NULL: no
** threads. */
typedef struct zt_tasks {
  zt_pool *pool;
  bool waits;                      /* They wait for other machines: who waits for one of them runs
                                   ** no other, which would keep it for longer */
  atomic_bool abandoned;           /* Interrupts running tasks */
  uint32_t running;                /* Other threads that run one of them */
} zt_tasks;

/* Makes a pool for up to `threads` threads beside the waiting one. None starts yet, and none ever
** where SQLite is not threadsafe. NULL if memory is short or threads is 0. */
zt_pool *zt_pool_new(int threads);

/* Ends all threads. There must be no tasks. */
void zt_pool_free(zt_pool *pool);

/* Returns how many threads may work, including the waiting one; 1 for NULL. */
int zt_pool_threads(const zt_pool *pool);

/* Raises the number of threads, for work that waits rather than computes. */
void zt_pool_widen(zt_pool *pool, int threads);

/* Adds a task. Its memory must stay until it was waited for or abandoned. An urgent task goes to
** the front of the queue. */
void zt_pool_add(zt_tasks *tasks, zt_task *task, bool urgent);

/* Waits until a task is done and meanwhile runs it, or others of `tasks` unless those wait. Returns
** SQLITE_OK, or SQLITE_INTERRUPT (recorded in err): the task may be incomplete, and all must be
** abandoned. */
int zt_pool_wait(zt_tasks *tasks, zt_task *task, const zt_interrupt *interrupt, zt_error *err);

/* Drops all tasks and interrupts the running ones. Returns when none runs. */
void zt_pool_abandon(zt_tasks *tasks);

#endif
