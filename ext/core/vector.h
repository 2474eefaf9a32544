/*
** For loops over many elements: compiled again for processors with 256- and 512-bit vectors, one of
** which is chosen when the extension is loaded. Plain C elsewhere; the results are the same to
** the bit.
*/
#ifndef ZT_CORE_VECTOR_H
#define ZT_CORE_VECTOR_H

#include <stdint.h>   /* Tells __GLIBC__, too: other loaders choose no clone */

/* Under ThreadSanitizer, gcc instruments what chooses the clone, too, which runs before there is a
** sanitizer to call. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) \
 && !defined(__SANITIZE_THREAD__)
# if __GNUC__>=12
#  define ZT_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
# else
#  define ZT_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
# endif
/* Floating point exceptions are nobody's business here: without that, choosing between two results
** is no vector loop. */
# define ZT_VECTOR ZT_VECTOR_CLONES __attribute__((optimize("O3", "no-trapping-math")))
/* clang does both by itself. (Older ones know no such architecture.) */
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__clang__) && __clang_major__>=18
# define ZT_VECTOR __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
# define ZT_VECTOR
#endif

#endif
