/*
** Doing what will be asked for before it is: jobs in an order that is known, each named by a
** number, run by a pool while the caller is at work on the ones before. Interface to code in
** prefetch.c.
**
** The first is not done ahead. If what is left looks worth it by the time that it took, one is done
** ahead after it, then two, four ... as long as they are asked for one after the other; who passes
** over some begins again. Where all are sure to be asked for, it begins with many. What is ahead is
** bounded in number and memory, so that whoever stops early has read little in vain.
*/
#ifndef ZT_CORE_PREFETCH_H
#define ZT_CORE_PREFETCH_H

#include "core/freelist.h"
#include "core/pool.h"

#define ZT_PREFETCH_BYTES ((uint64_t)64 << 20) /* Most bytes of jobs that nobody asked for yet */
#define ZT_PREFETCH_WAITING 32                /* Threads, where jobs wait rather than compute */

/* A job: the head of what it works on, and of what comes of it. */
typedef struct zt_job {
  /* Do it, in any thread. What goes wrong is part of the result. */
  void (*work)(struct zt_job *job, const zt_interrupt *interrupt);
  uint64_t number;
  uint64_t memory;           /* Bytes that the result takes, set by work */
  int64_t took;              /* Nanoseconds that it took */
} zt_job;

struct prefetch_group;

/* How jobs are made. context is as given to zt_prefetch_take(). */
typedef struct zt_jobs {
  /* The number of what follows number, if that may be done ahead; false: nothing. */
  bool (*next)(void *context, uint64_t *number);
  /* A new job, zeros but for work. NULL: out of memory. */
  zt_job *(*make)(void *context, uint64_t number);
  /* Free one, done or not. */
  void (*drop)(zt_job *job);
} zt_jobs;

/* All zeros at first; jobs and pool are set before it is used. */
typedef struct zt_prefetch {
  const zt_jobs *jobs;
  zt_tasks tasks;
  bool whole;                /* All will be asked for: there is no need to begin with few */
  bool slow;                 /* Jobs may wait rather than compute: then more threads than
                             ** processors are of use */
  struct prefetch_group *first, *last; /* Jobs in their order, several to a task where they are
                             ** short; owned */
  zt_freelist freelist;      /* Memory of groups */
  uint32_t n;                /* Groups */
  uint32_t window;           /* How many may be ahead */
  uint64_t last_number;      /* That was last asked for */
  bool begun;                /* There is one */
  uint64_t largest;          /* Memory of a result, so far */
  int64_t took;              /* Nanoseconds that the last one took */
  uint32_t late;             /* How many in a row seem to have waited */
} zt_prefetch;

/* The job of that number, done, which the caller drops. left is about how many may be asked for
** after it. NULL on failure: SQLITE_NOMEM, or SQLITE_INTERRUPT (recorded in err). */
zt_job *zt_prefetch_take(zt_prefetch *a, void *context, uint64_t number, uint64_t remaining,
                         const zt_interrupt *interrupt, zt_error *err);

/* Drop all that is ahead, and what is being done; begin anew. */
void zt_prefetch_stop(zt_prefetch *a);

/* The same, and free what it has. */
void zt_prefetch_clear(zt_prefetch *a);

#endif
