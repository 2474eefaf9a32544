/*
** Threads, and how they wait for each other. Interface to code in thread_posix.c and
** thread_windows.c; who wants work done side by side uses pool.h.
*/
#ifndef ZT_CORE_THREAD_H
#define ZT_CORE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* A lock, and two things that may be waited for by who has it. */
typedef struct zt_monitor zt_monitor;
typedef enum zt_signal { ZT_SIGNAL_WORK, ZT_SIGNAL_DONE, ZT_SIGNAL_COUNT } zt_signal;

/* NULL if memory is short. */
zt_monitor *zt_monitor_new(void);
void zt_monitor_free(zt_monitor *m);

void zt_monitor_enter(zt_monitor *m);
void zt_monitor_leave(zt_monitor *m);

/* Let go of the lock until somebody signals, or that many nanoseconds have passed (below 0: however
** long), and take it again. May return before that. */
void zt_monitor_wait(zt_monitor *m, zt_signal what, int64_t nanoseconds);

/* Wake one that waits, or all. */
void zt_monitor_signal(zt_monitor *m, zt_signal what, bool all);

typedef struct zt_thread zt_thread;

/* Start a thread, to which no signal of the process is delivered. NULL: there is none to be had. */
zt_thread *zt_thread_start(void (*run)(void *context), void *context);
void zt_thread_join(zt_thread *t);   /* Wait for its end, and free it */

/* How many processors the process may use, at least 1: its affinity counts and, on Linux, if a file
** may be read, the quota of its control group. */
int zt_thread_processors(bool files);

/* A number of this process: another one after a fork. */
int64_t zt_thread_process(void);

#endif
