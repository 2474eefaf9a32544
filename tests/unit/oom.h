/*
** Every allocation of a call fails once, alone and with all later ones. The call returns SQLITE_NOMEM, or the right result if
** it can do without that memory; and all memory is given back. The allocations of libzstd and the C library count, too.
*/
#ifndef ZT_TESTS_UNIT_OOM_H
#define ZT_TESTS_UNIT_OOM_H

#include "test.h"

#include "../oom/libraries.h"

/* Runs before each test: a failed test leaves the allocator armed. */
static inline int disarm(void **state){
  (void)state;
  memory_arm(0, false);
  return 0;
}

/* A job returns SQLITE_OK after it proved that its result is right, or SQLITE_NOMEM, or `otherwise`. It always frees its
** memory. */
typedef struct job {
  const char *what;
  int (*run)(const struct job *job);
  const void *context;
  int otherwise;          /* The result with enough memory; SQLITE_OK for most */
  unsigned least;         /* Allocations that it makes at least */
} job;

static uint64_t sweeps, failures;

static inline void sweep(const job *j){
  for(int on=0; on<2; on++){
    unsigned n = 0, nomem = 0;
    do{
      size_t before = memory.outstanding;
      int rc;
      memory_arm(++n, on);
      rc = j->run(j);
      check( n<100000, "%s: no end", j->what );
      memory.fails_at = 0;
      check( memory.outstanding==before, "%s: allocation %u %s: %zd bytes were not given back", j->what, n, on ? "and all after it" :
          "alone", (ssize_t)(memory.outstanding-before) );
      if( memory.injected==0 ) check( rc==j->otherwise, "%s: %d", j->what, rc );
      else check( rc==SQLITE_NOMEM || rc==j->otherwise, "%s: allocation %u: %d", j->what, n, rc );
      nomem += rc==SQLITE_NOMEM;
      failures += memory.injected;
    }while( memory.injected>0 );
    check( n-1>=j->least, "%s: %u allocations", j->what, n-1 );
    check( j->least==0 || nomem>0, "%s: never SQLITE_NOMEM", j->what );
    sweeps++;
  }
}

/* SQLITE_NOMEM has no message. Clears the error. */
static inline int code_of(zt_error *err){
  int rc = err->rc;
  if( rc==SQLITE_NOMEM ) assert_null(err->message);
  else if( rc ) assert_non_null(err->message);
  zt_error_clear(err);
  return rc;
}

/* Runs before all tests. False: SQLite did not take the allocator. */
static inline bool begin_sweeps(void){
  return memory_install();
}

/* Runs last: the sweeps before it were not idle. */
static inline void check_sweeps(uint64_t least_sweeps, uint64_t least_failures){
  check( sweeps>=least_sweeps && failures>=least_failures, "%llu sweeps, %llu failures", (unsigned long long)sweeps,
         (unsigned long long)failures );
}

#endif
