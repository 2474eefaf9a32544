/*
** For loops over many elements: also compiled for processors with 256- and 512-bit vectors, and
** chosen when the extension is loaded. Elsewhere plain C; the results are the same to the bit.
*/
#ifndef ZT_CORE_VECTOR_H
#define ZT_CORE_VECTOR_H

#include <stdint.h>   /* Also defines __GLIBC__: other loaders choose no clone */

#if defined(ZT_VECTOR)
/* Set from outside: the measurement of coverage would count a loop once for each processor. */
/* With ThreadSanitizer, gcc also instruments the choice, which runs before the sanitizer is
** initialized. */
#elif defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) \
 && !defined(__SANITIZE_THREAD__)
# if __GNUC__>=12
#  define ZT_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
# else
#  define ZT_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
# endif
/* No code reads floating point exceptions, and they would prevent vector loops that select a
** result. */
# define ZT_VECTOR ZT_VECTOR_CLONES __attribute__((optimize("O3", "no-trapping-math")))
/* clang does both by default. (Older versions do not know the architecture.) */
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__clang__) && __clang_major__>=18
# define ZT_VECTOR __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
# define ZT_VECTOR
#endif

/* Before an inner loop of 16 or fewer steps, which gcc would unroll before it looks for vectors. */
#if defined(__GNUC__) && !defined(__clang__)
# define ZT_ROLLED _Pragma("GCC unroll 1")
#else
# define ZT_ROLLED
#endif

#endif
