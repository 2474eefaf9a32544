/*
** Memory that runs out on demand: an allocator for SQLite, and for whatever else takes one, which counts its calls and lets
** the n-th of them fail, alone or with all after it. It knows how many bytes were not given back. Each allocation is one of
** malloc() and never grows in place, so that a sanitizer sees what is read or written beyond it, or behind a realloc().
*/
#ifndef ZT_TESTS_OOM_MEMORY_H
#define ZT_TESTS_OOM_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/host.h"

static struct memory {
  /* Several threads may count */
  atomic_size_t outstanding;          /* Bytes that were not given back */
  atomic_uint_fast64_t calls;         /* Since memory_arm() */
  uint64_t fails_at;       /* The number of the call that fails; 0: none */
  bool fails_on;           /* All after it, too */
  bool paused;             /* Calls neither fail nor count */
  atomic_uint_fast64_t injected;      /* Failures since memory_arm() */
  bool benign;             /* SQLite has said that it can do without, for now */
  atomic_uint_fast64_t nBenign;       /* Failures then */
} memory;

/* Let call number n fail from now on, and if `on` all after it; 0: let none. */
static inline void memory_arm(uint64_t n, bool on){
  memory.calls = 0;
  memory.injected = 0;
  memory.nBenign = 0;
  memory.fails_at = n;
  memory.fails_on = on;
}

/* Count a call. True if it must fail. */
static inline bool memory_fails(void){
  if( memory.paused ) return false;
  const uint64_t call = ++memory.calls;
  if( memory.fails_at==0 || call<memory.fails_at || (call>memory.fails_at && !memory.fails_on) ) return false;
  memory.injected++;
  memory.nBenign += memory.benign;
  return true;
}

#define MEMORY_HEAD 16     /* Bytes before each allocation, which keep its size; a multiple of every alignment */

static inline size_t memory_size(const void *p){
  size_t n = 0;
  if( p ) memcpy(&n, (const char*)p-MEMORY_HEAD, sizeof(n));
  return n;
}

static inline void *memory_malloc(size_t n){
  char *p;
  if( memory_fails() ) return NULL;
  p = malloc(n+MEMORY_HEAD);
  if( !p ){
    fprintf(stderr, "%zu bytes: the machine's own memory has run out\n", n);
    abort();
  }
  memcpy(p, &n, sizeof(n));
  memory.outstanding += n;
  return p+MEMORY_HEAD;
}

static inline void memory_free(void *p){
  if( !p ) return;
  memory.outstanding -= memory_size(p);
  free((char*)p-MEMORY_HEAD);
}

static inline void *memory_realloc(void *p, size_t n){
  void *to = memory_malloc(n);
  if( !to ) return NULL;
  if( p ) memcpy(to, p, memory_size(p)<n ? memory_size(p) : n);
  memory_free(p);
  return to;
}

/* --- SQLite's --- */

static void *memory_xMalloc(int n){ return memory_malloc((size_t)n); }
static void *memory_xRealloc(void *p, int n){ return memory_realloc(p, (size_t)n); }
static int memory_xSize(void *p){ return (int)memory_size(p); }
static int memory_xRoundup(int n){ return (n+7) & ~7; }
static int memory_xInit(void *unused){ (void)unused; return SQLITE_OK; }
static void memory_xShutdown(void *unused){ (void)unused; }

/* SQLite's hooks around what it can do without: the text of a failure's message, room in a hash table. */
static void memory_begin_benign(void){ memory.benign = true; }
static void memory_end_benign(void){ memory.benign = false; }

/* Give SQLite this allocator, and prepare what it keeps for good. Before anything else is asked of it. No lookaside memory:
** each allocation is one of these. */
static inline bool memory_install(void){
  static const sqlite3_mem_methods methods = { memory_xMalloc, memory_free, memory_xRealloc, memory_xSize, memory_xRoundup,
                                               memory_xInit, memory_xShutdown, NULL };
  uint8_t seed[8];
  if( sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) || sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) ) return false;
  if( sqlite3_initialize() ) return false;
  sqlite3_test_control(SQLITE_TESTCTRL_BENIGN_MALLOC_HOOKS, memory_begin_benign, memory_end_benign);
  sqlite3_randomness(sizeof(seed), seed);   /* Its first call prepares the generator */
  return true;
}

#endif
