/*
** A copy that leaves the processor's caches to others: for parts of results that are larger than
** the caches, and are not read soon. Ordinary stores first read each line that they replace.
*/
#ifndef ZT_CORE_COPY_H
#define ZT_CORE_COPY_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
# include <emmintrin.h>

static inline void zt_copy_past_caches(uint8_t *to, const uint8_t *from, size_t n){
  size_t i = (size_t)(-(uintptr_t)to & 15u);
  if( i>n ) i = n;
  memcpy(to, from, i);
  for(; n-i>=sizeof(__m128i); i+=sizeof(__m128i)){
    const __m128i x = _mm_loadu_si128((const __m128i*)(const void*)(from+i));
    _mm_stream_si128((__m128i*)(void*)(to+i), x);
  }
  memcpy(to+i, from+i, n-i);
  _mm_sfence();   /* The thread that gets the result sees all of it */
}

#else

static inline void zt_copy_past_caches(uint8_t *to, const uint8_t *from, size_t n){
  memcpy(to, from, n);
}

#endif

#endif
