/*
** For loops over many elements: compiled a second time for processors with 256-bit vectors, one of which is chosen when the
** extension is loaded. Plain C elsewhere; the results are the same to the bit.
*/
#ifndef ZT_CORE_VECTOR_H
#define ZT_CORE_VECTOR_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
# define ZT_VECTOR __attribute__((target_clones("avx2", "default"), optimize("O3", "no-trapping-math")))
#else
# define ZT_VECTOR
#endif

#endif
