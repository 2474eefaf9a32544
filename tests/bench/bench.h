/*
** Every program of the benchmark shares the clock, and one way to fail.
**
** Each program prints one line, "seconds TAB result TAB result ...". The driver compares what the
** two sides found before it believes their seconds. Behind the seconds, after a space, may stand
** those of the processors.
*/
#ifndef ZT_BENCH_H
#define ZT_BENCH_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* A benchmark that goes on after an error measures something else. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
static inline void die(const char *zFormat, ...){
  va_list ap;
  va_start(ap, zFormat);
  vfprintf(stderr, zFormat, ap);
  va_end(ap);
  fputc('\n', stderr);
  exit(1);
}

static inline double seconds_now(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec*1e-9;
}

/* Seconds that have passed, and the processors' seconds of all threads of this process meanwhile. */
typedef struct stopwatch {
  double wall, cpu;
} stopwatch;

static inline double stopwatch_cpu(void){
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec*1e-9;
}

static inline stopwatch stopwatch_start(void){
  stopwatch now = {seconds_now(), stopwatch_cpu()};
  return now;
}

static inline stopwatch stopwatch_stop(stopwatch start){
  stopwatch passed = {seconds_now() - start.wall, stopwatch_cpu() - start.cpu};
  return passed;
}

/* The first field of a program's line. */
static inline void stopwatch_print(stopwatch passed){
  printf("%.9f %.9f", passed.wall, passed.cpu);
}

/* malloc, so that the baselines allocate like any C program; it may not fail half-way through a measurement. */
static inline void *must_alloc(size_t n){
  void *p = malloc(n ? n : 1);
  if( p==NULL ) die("out of memory: %zu bytes", n);
  return p;
}

/* Memory in big pages where there are any, as big results are made of them. */
static inline uint8_t *alloc_pages(size_t n){
  const size_t nPage = (size_t)2<<20;
  n = (n + nPage)/nPage*nPage;
  uint8_t *p = aligned_alloc(nPage, n);
  if( p==NULL ) die("out of memory: %zu bytes", n);
#ifdef MADV_HUGEPAGE
  madvise(p, n, MADV_HUGEPAGE);
#endif
  return p;
}

/* Allocates, writes and frees so much memory: harness.py says why. */
static inline void touch_memory(size_t n){
  void *p = alloc_pages(n);
  memset(p, 1, n);
  __asm__ volatile("" : : "r"(p) : "memory");  /* or the compiler would see that it is never read */
  free(p);
}

/*
** Order-dependent checksum of some bytes, continued from `sum`. Only runs of --check compute it, outside of any
** measurement: it proves that both sides hand out the same bytes, not only as many.
*/
static inline uint64_t checksum(uint64_t sum, const void *pData, size_t n){
  const uint8_t *a = pData;
  for(; n>=8; a+=8, n-=8){
    uint64_t word;
    memcpy(&word, a, 8);
    sum = (sum ^ word)*0x9E3779B97F4A7C15u;
    sum ^= sum>>29;
  }
  for(; n>0; a++, n--) sum = (sum ^ *a)*0x9E3779B97F4A7C15u;
  return sum;
}

#endif
