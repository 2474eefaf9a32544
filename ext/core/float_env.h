/*
** The calling thread's floating-point environment (C11 7.6), in which all arithmetic of the
** extension runs: IEEE 754's default, which rounds to nearest, has subnormal numbers, and traps
** nothing. The host may have another one: torch.set_flush_denormal(), and libraries that are
** compiled with -ffast-math, make 0 of subnormal numbers; feenableexcept() makes a signal of a NaN.
** Each call that SQLite makes of a table or a function enters the default environment and leaves it
** on the way out. Threads that it starts inherit it.
**
** x86-64 and 64-bit ARM tell in one instruction whether the environment is another one. On other
** machines only the rounding is asked for.
*/
#ifndef ZT_CORE_FLOAT_ENV_H
#define ZT_CORE_FLOAT_ENV_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __x86_64__
# include <xmmintrin.h>
#endif

/* The host's environment. All zeros: it need not be restored. */
typedef struct zt_float_env {
  bool differs;
  fenv_t host;     /* If it differs */
} zt_float_env;

static inline bool zt_float_env_is_default(void){
#if defined(__x86_64__)
  return (_mm_getcsr() & 0xFFC0)==0x1F80;   /* MXCSR, without the flags that arithmetic sets */
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr==0;
#else
  return fegetround()==FE_TONEAREST;
#endif
}

/* Calls nest. *env needs zt_float_env_leave(). */
static inline void zt_float_env_enter(zt_float_env *env){
  env->differs = !zt_float_env_is_default() && fegetenv(&env->host)==0;
  if( env->differs ) fesetenv(FE_DFL_ENV);
}

static inline void zt_float_env_leave(const zt_float_env *env){
  if( env->differs ) fesetenv(&env->host);
}

#endif
