/*
** XXH3 for processors with AVX2: xxHash chooses its inner loop at compile time, so it is compiled a
** second time. See digest.c.
*/
#include "core/xxh3_avx2.h"

#if ZT_XXH3_AVX2
# include <immintrin.h>
# include <stdlib.h>
# include <string.h>
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2")
# endif
# define XXH_VECTOR 2   /* XXH_AVX2 */
# define XXH_INLINE_ALL
# include <xxhash.h>

void zt_xxh3_update_avx2(void *state, const void *p, size_t n){
  XXH3_64bits_update(state, p, n);
}

uint64_t zt_xxh3_avx2(const void *p, size_t n){
  return XXH3_64bits(p, n);
}

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
