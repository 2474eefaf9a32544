/*
** The calling thread's floating-point environment (C11 7.6), in which all arithmetic of the
** extension runs: IEEE 754's default, which rounds to nearest, has subnormal numbers, and traps
** nothing. The host may have another one: torch.set_flush_denormal(), and libraries that are
** compiled with -ffast-math, make 0 of subnormal numbers; feenableexcept() makes a signal of a NaN.
** Each call that SQLite makes of a table or a function, and in which numbers can be computed,
** enters the default environment and leaves it on the way out. Threads that it starts inherit it.
**
** x86-64 and 64-bit ARM tell in one or two instructions whether the environment is another one. On
** other machines only the rounding is asked for.
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
#ifdef __x86_64__
  bool only_mxcsr;   /* Then it is here, and not in `host` */
  uint32_t mxcsr;
#endif
  fenv_t host;
} zt_float_env;

#ifdef __x86_64__
/* The defaults, without the flags that arithmetic sets. C libraries compute with the x87, too, when
** they read and write decimals; its precision does not matter there. */
# define ZT_FLOAT_ENV_MXCSR 0x1F80u
# define ZT_FLOAT_ENV_MXCSR_CONTROL 0xFFC0u
# define ZT_FLOAT_ENV_X87 0x003Fu
# define ZT_FLOAT_ENV_X87_CONTROL 0x0C3Fu

static inline bool zt_float_env_x87_is_default(void){
  uint16_t control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  return (control & ZT_FLOAT_ENV_X87_CONTROL)==ZT_FLOAT_ENV_X87;
}

/* True if no more than MXCSR is to be changed, which is done: fegetenv() takes far longer, and
** hosts that make 0 of subnormal numbers need no more. */
static inline bool zt_float_env_enter_mxcsr(zt_float_env *env){
  const bool x87 = zt_float_env_x87_is_default();
  env->mxcsr = _mm_getcsr();
  env->differs = !x87 || (env->mxcsr & ZT_FLOAT_ENV_MXCSR_CONTROL)!=ZT_FLOAT_ENV_MXCSR;
  env->only_mxcsr = env->differs && x87;
  if( env->only_mxcsr ) _mm_setcsr(ZT_FLOAT_ENV_MXCSR);
  return env->only_mxcsr;
}
#endif

/* Calls nest. *env needs zt_float_env_leave(). */
static inline void zt_float_env_enter(zt_float_env *env){
#if defined(__x86_64__)
  if( zt_float_env_enter_mxcsr(env) ) return;
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  env->differs = fpcr!=0;
#else
  env->differs = fegetround()!=FE_TONEAREST;
#endif
  env->differs = env->differs && fegetenv(&env->host)==0;
  if( env->differs ) fesetenv(FE_DFL_ENV);
}

static inline void zt_float_env_leave(const zt_float_env *env){
  if( !env->differs ) return;
#ifdef __x86_64__
  if( env->only_mxcsr ){
    _mm_setcsr(env->mxcsr);
    return;
  }
#endif
  fesetenv(&env->host);
}

#endif
