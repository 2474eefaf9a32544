/*
** Byte ranges, byte order and overflow-checked arithmetic. Sizes and offsets from a file are
** uint64_t and pass through these functions before anything is allocated, added up or read.
*/
#ifndef ZT_CORE_SPAN_H
#define ZT_CORE_SPAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For the few functions that process every byte of a manifest: inline they keep the position in a
** register instead of memory. `make coverage` has them as functions, so that it counts each branch
** once and not in every caller. */
#if defined(ZT_INLINE)
#elif defined(__GNUC__)
# define ZT_INLINE static inline __attribute__((always_inline))
#else
# define ZT_INLINE static inline
#endif

/* Fuzzers seldom find the checksum of what they changed, so that those of metadata hold there. */
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
# define ZT_TRUST_CHECKSUMS true
#else
# define ZT_TRUST_CHECKSUMS false
#endif

/* For the slow paths of those functions, so that compilers keep the usual path straight. */
#if defined(__GNUC__)
# define ZT_COLD __attribute__((cold, noinline))
#else
# define ZT_COLD
#endif

/* For other paths than the usual one, which are no slower: compilers keep them out of its
** function. */
#if defined(__GNUC__)
# define ZT_ASIDE __attribute__((noinline))
#else
# define ZT_ASIDE
#endif

/* For functions with a format: the positions of the format and of its first value. Compilers check
** the values where %llu means uint64_t, which is where long has 32 bits; elsewhere uint64_t is
** another type of the same size. */
#if defined(__GNUC__) && !defined(_WIN32) && ULONG_MAX<UINT64_MAX
# define ZT_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
# define ZT_FORMAT(text, first)
#endif

/* A borrowed byte range. */
typedef struct zt_span {
  const uint8_t *p;
  size_t n;
} zt_span;

/* Borrowed UTF-8 text, not NUL-terminated. z is NULL if there is no text; the empty text has
** another z. */
typedef struct zt_text {
  const char *z;
  size_t n;
} zt_text;

/* The text of a string literal: as a constant initializer, and as an expression. */
#define ZT_TEXT_INIT(literal) { "" literal, sizeof(literal) - 1 }
#define ZT_TEXT(literal) ((zt_text)ZT_TEXT_INIT(literal))

/* Loads in the machine's byte order. */
ZT_INLINE uint64_t zt_load64(const void *p){
  uint64_t u;
  memcpy(&u, p, sizeof(u));
  return u;
}
ZT_INLINE uint32_t zt_load32(const void *p){
  uint32_t u;
  memcpy(&u, p, sizeof(u));
  return u;
}

/* Returns whether n bytes are equal. Inline for the short words of manifests. The last bytes are
** compared in one piece, some of them twice. */
ZT_INLINE bool zt_equal(const void *a, const void *b, size_t n){
  const uint8_t *p = a, *q = b;
  if( n<4 ){
    for(size_t i=0; i<n; i++) if( p[i]!=q[i] ) return false;
    return true;
  }
  if( n<=8 ) return zt_load32(p)==zt_load32(q) && zt_load32(p+n-4)==zt_load32(q+n-4);
  for(size_t i=0; i<n-8; i+=8) if( zt_load64(p+i)!=zt_load64(q+i) ) return false;
  return zt_load64(p+n-8)==zt_load64(q+n-8);
}

/* Returns whether one of n bytes is 0. Inline for names. */
ZT_INLINE bool zt_has_nul(const char *z, size_t n){
  const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  uint64_t x, found = 0;
  if( n<8 ) return n>0 && memchr(z, 0, n)!=NULL;
  for(size_t i=0; i<n-8; i+=8){
    x = zt_load64(z+i);
    found |= (x-ones) & ~x & highs;   /* High bits mark zero bytes, and are 0 without any */
  }
  x = zt_load64(z+n-8);
  return (found | ((x-ones) & ~x & highs))!=0;
}

static inline bool zt_text_equal(zt_text a, zt_text b){
  return a.n==b.n && zt_equal(a.z, b.z, a.n);
}

#define zt_text_is(text, literal) zt_text_equal((text), ZT_TEXT(literal))

/* Returns whether [off, off+len) lies within the first total bytes. The subtraction cannot wrap. */
static inline bool zt_claim(uint64_t total, uint64_t off, uint64_t len){
  return off<=total && len<=total-off;
}

/* *out = a + b. False if the sum needs more than 64 bits; *out is then undefined. */
static inline bool zt_add64(uint64_t a, uint64_t b, uint64_t *out){
#if defined(__GNUC__)
  return !__builtin_add_overflow(a, b, out);
#else
  *out = a+b;
  return b<=UINT64_MAX-a;
#endif
}

/* *out = a * b. False if the product needs more than 64 bits; *out is then undefined. */
static inline bool zt_mul64(uint64_t a, uint64_t b, uint64_t *out){
#if defined(__GNUC__)
  return !__builtin_mul_overflow(a, b, out);
#else
  *out = a*b;
  return a==0 || b<=UINT64_MAX/a;
#endif
}

/* Big-endian unsigned integer of 0 to 8 bytes. */
static inline uint64_t zt_be(const uint8_t *p, unsigned n){
  uint64_t u = 0;
  for(unsigned i=0; i<n; i++) u = u<<8 | p[i];
  return u;
}

/* The same for 8 bytes, which compilers turn into one load and a swap. */
ZT_INLINE uint64_t zt_be64(const uint8_t *p){
  return (uint64_t)p[0]<<56 | (uint64_t)p[1]<<48 | (uint64_t)p[2]<<40 | (uint64_t)p[3]<<32
       | (uint64_t)p[4]<<24 | (uint64_t)p[5]<<16 | (uint64_t)p[6]<<8 | (uint64_t)p[7];
}

#define ZT_BYTES_INLINE 64   /* Most names are shorter; memcmp() compares longer ones */

/* Compares n bytes as memcmp() does. Inline for names. The last bytes are compared in one piece,
** some of them twice. */
ZT_INLINE int zt_bytes_compare(const void *a, const void *b, size_t n){
  const uint8_t *p = a, *q = b;
  uint64_t x, y;
  if( n<8 || n>ZT_BYTES_INLINE ) return n ? memcmp(p, q, n) : 0;
  for(size_t i=0; i<n-8; i+=8){
    x = zt_be64(p+i);
    y = zt_be64(q+i);
    if( x!=y ) return x<y ? -1 : 1;
  }
  x = zt_be64(p+n-8);
  y = zt_be64(q+n-8);
  return (x>y) - (x<y);
}

/* Bytewise order, which is the order of code points. */
static inline int zt_text_compare(zt_text a, zt_text b){
  const int c = zt_bytes_compare(a.z, b.z, a.n<b.n ? a.n : b.n);
  return c ? c : (a.n>b.n) - (a.n<b.n);
}

static inline uint32_t zt_le16(const uint8_t *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8;
}

static inline uint32_t zt_le32(const uint8_t *p){
  return zt_le16(p) | zt_le16(p+2)<<16;
}

/* Also one load. */
ZT_INLINE uint64_t zt_le64(const uint8_t *p){
  return (uint64_t)zt_le32(p) | (uint64_t)zt_le32(p+4)<<32;
}

/* Returns the value of a hexadecimal digit of either case, or -1. */
static inline int zt_hex_digit(char ch){
  if( ch>='0' && ch<='9' ) return ch-'0';
  if( ch>='a' && ch<='f' ) return ch-'a'+10;
  if( ch>='A' && ch<='F' ) return ch-'A'+10;
  return -1;
}

#endif
