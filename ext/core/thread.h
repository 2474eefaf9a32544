/*
** Threads and monitors. Most code uses pool.h instead. Interface to code in thread_posix.c and
** thread_windows.c.
*/
#ifndef ZT_CORE_THREAD_H
#define ZT_CORE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* A lock with two condition variables. */
typedef struct zt_monitor zt_monitor;
typedef enum zt_signal { ZT_SIGNAL_WORK, ZT_SIGNAL_DONE, ZT_SIGNAL_COUNT } zt_signal;

/* Returns NULL if memory is short. */
zt_monitor *zt_monitor_new(void);
void zt_monitor_free(zt_monitor *m);

void zt_monitor_enter(zt_monitor *m);
void zt_monitor_leave(zt_monitor *m);

/* Releases the lock, waits for the signal or that many nanoseconds (below 0: without a limit), and
** takes the lock again. May return early. */
void zt_monitor_wait(zt_monitor *m, zt_signal what, int64_t nanoseconds);

/* Wakes one waiting thread, or all. */
void zt_monitor_signal(zt_monitor *m, zt_signal what, bool all);

typedef struct zt_thread zt_thread;

/* Starts a thread, which receives no signals of the process. NULL after a failure. */
zt_thread *zt_thread_start(void (*run)(void *context), void *context);
void zt_thread_join(zt_thread *t);   /* Waits for its end and frees it */

/* Returns how many processors the process may use, at least 1, by its affinity. On Linux, if files
** may be read, the quota of its control group counts, too. */
int zt_thread_processors(bool files);

/* Returns a number for this process, which differs after a fork. */
int64_t zt_thread_process(void);

#endif
