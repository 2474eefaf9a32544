/* The upper halves of AVX's registers. See avx.h. */
#include "core/avx.h"

#if defined(__x86_64__) && defined(__GNUC__)
# include <immintrin.h>

__attribute__((target("avx")))
static void avx_zero_upper_halves(void){
  _mm256_zeroupper();
}

/* ISA-L uses them with AVX2 only. */
void zt_avx_leave(void){
  if( __builtin_cpu_supports("avx2") ) avx_zero_upper_halves();
}
#else
void zt_avx_leave(void){}
#endif
