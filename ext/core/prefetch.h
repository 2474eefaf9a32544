/*
** Prefetching: a pool runs numbered jobs ahead of a caller that requests them in a known order.
** Interface to code in prefetch.c.
**
** The first job is not prefetched. If its time suggests that the remaining ones are worth it, one
** job is prefetched, then two, four ... as long as the caller skips none; a gap starts again. Where
** jobs wait for other machines, several are prefetched as soon as a second one is requested, and
** where all are likely to be requested, with the first one; the caller then runs none that a thread
** can run. Number and memory are bounded, so a caller that stops early has wasted little.
*/
#ifndef ZT_CORE_PREFETCH_H
#define ZT_CORE_PREFETCH_H

#include "core/freelist.h"
#include "core/pool.h"

#define ZT_PREFETCH_BYTES ((uint64_t)64 << 20) /* Most bytes of unrequested results */
#define ZT_PREFETCH_WAITING 32                /* Threads where jobs wait rather than compute */

/* A job, the first member of its data and result. */
typedef struct zt_job {
  /* Runs in any thread. Errors are part of the result. */
  void (*work)(struct zt_job *job, const zt_interrupt *interrupt);
  uint64_t number;
  uint64_t memory;           /* Bytes of the result, set by work */
  bool unavailable;          /* Bytes of a remote file could not be had, set by work */
  int64_t took;              /* Nanoseconds of work */
} zt_job;

struct prefetch_group;

/* Callbacks for jobs. context is that of zt_prefetch_take(). */
typedef struct zt_jobs {
  /* Advances *number to the next job. False if there is none to prefetch. */
  bool (*next)(void *context, uint64_t *number);
  /* Makes a job, all zeros except work. NULL if memory is short. */
  zt_job *(*make)(void *context, uint64_t number);
  /* Frees a job, done or not. */
  void (*drop)(zt_job *job);
} zt_jobs;

/* All zeros at first. The caller sets jobs and the pool before use. */
typedef struct zt_prefetch {
  const zt_jobs *jobs;
  zt_tasks tasks;
  bool whole;                /* All jobs are likely to be requested: prefetch beside the first */
  uint32_t early;            /* Groups that are prefetched first; 0: one, or with `whole` as many as
                             ** there may be */
  bool slow;                 /* Jobs may wait rather than compute: more threads than processors may
                             ** help */
  struct prefetch_group *first, *last; /* Groups in the order of their jobs; owned */
  zt_freelist freelist;      /* Memory of groups */
  uint32_t n;                /* Groups */
  uint32_t window;           /* Groups that may be prefetched */
  uint64_t last_number;      /* Last requested number, if begun */
  bool begun;
  uint64_t largest;          /* Largest memory of a result */
  int64_t took;              /* Nanoseconds of the last job */
  uint32_t late;             /* Successive jobs that seem to have waited */
} zt_prefetch;

/* Returns the finished job of that number, which the caller drops. remaining estimates how many
** requests follow. NULL on SQLITE_NOMEM or SQLITE_INTERRUPT (recorded in err). */
zt_job *zt_prefetch_take(zt_prefetch *a, void *context, uint64_t number, uint64_t remaining,
                         const zt_interrupt *interrupt, zt_error *err);

/* Drops all prefetched and running jobs, and begins anew. */
void zt_prefetch_stop(zt_prefetch *a);

/* Does the same and frees all memory. */
void zt_prefetch_clear(zt_prefetch *a);

#endif
