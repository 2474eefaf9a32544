/* XXH3 for processors with AVX2. Interface to code in xxh3_avx2.c. */
#ifndef ZT_CORE_XXH3_AVX2_H
#define ZT_CORE_XXH3_AVX2_H

#include <stddef.h>
#include <stdint.h>

/* 0 if all sources are one file, which can include xxHash only once. */
#ifndef ZT_XXH3_AVX2
# if defined(__x86_64__) && defined(__GNUC__)
#  define ZT_XXH3_AVX2 1
# else
#  define ZT_XXH3_AVX2 0
# endif
#endif

#if ZT_XXH3_AVX2
/* XXH3_64bits_update() of an ordinary XXH3_state_t, and XXH3_64bits(). Only where
** __builtin_cpu_supports("avx2"). */
void zt_xxh3_update_avx2(void *state, const void *p, size_t n);
uint64_t zt_xxh3_avx2(const void *p, size_t n);
#endif

#endif
