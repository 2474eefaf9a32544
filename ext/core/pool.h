/*
** Work done side by side: threads that take tasks, in the order in which these were added.
** Interface to code in pool.c.
**
** One thread adds tasks and waits for them, and works while it waits: with no other thread at all
** everything gets done, one task after the other, in the place where it is waited for. Threads
** start when there are tasks for them, and end with the pool. A task is core, container and tensor
** code; it knows nothing of SQLite but its memory.
**
** A process that was forked has no threads but the one that forked. There a pool of its parent's
** has none, either: what is waited for is done by who waits. That is for closing what is open: a
** thread may have held a lock of SQLite's memory when it was forked, which then nobody gives back.
*/
#ifndef ZT_CORE_POOL_H
#define ZT_CORE_POOL_H

#include <stdatomic.h>
#include "core/interrupt.h"
#include "core/thread.h"

#define ZT_THREADS_MAX 64

typedef struct zt_pool zt_pool;

typedef enum zt_task_state { ZT_TASK_NEW, ZT_TASK_QUEUED, ZT_TASK_RUNNING, ZT_TASK_DONE }
  zt_task_state;

/* A task: the head of what it works on. Filled with zeros but for run. */
typedef struct zt_task {
  /* Do it. interrupt is whom it asks whether to go on; if not, what it leaves is of no matter. */
  void (*run)(struct zt_task *task, const zt_interrupt *interrupt);
  struct zt_task *next;            /* In the queue */
  struct zt_tasks *of;
  zt_task_state state;             /* The pool's */
} zt_task;

/* The tasks of one who waits for them. Filled with zeros but for the pool, borrowed; NULL: there
** are no threads. */
typedef struct zt_tasks {
  zt_pool *pool;
  atomic_bool abandoned;           /* Whoever works on one shall stop */
  uint32_t running;                /* How many other threads are at work on one */
} zt_tasks;

/* A pool for up to so many threads beside the one that waits, of which none is started; and none
** ever is where SQLite's memory is not made for several. NULL: there is no memory, or none shall
** be. */
zt_pool *zt_pool_new(int threads);

/* End all threads. There must be no tasks left. */
void zt_pool_free(zt_pool *pool);

/* How many threads a pool has for work, with the one that waits; 1 for NULL. */
int zt_pool_threads(const zt_pool *pool);

/* Have so many threads from now on, if that is more: for work that waits rather than computes. */
void zt_pool_widen(zt_pool *pool, int threads);

/* Add a task, whose memory stays until it was waited for or abandoned; urgent: to be done before
** all others that are not begun. */
void zt_pool_add(zt_tasks *tasks, zt_task *task, bool urgent);

/* Wait until a task that was added is done; meanwhile, do it, or others of the same. Returns
** SQLITE_OK, or SQLITE_INTERRUPT (recorded in err): the task may then not be done, or not whole,
** and all are to be abandoned. */
int zt_pool_wait(zt_tasks *tasks, zt_task *task, const zt_interrupt *interrupt, zt_error *err);

/* Forget all tasks, and stop those that are being done: returns when none is. */
void zt_pool_abandon(zt_tasks *tasks);

#endif
