/*
** Byte ranges, byte order and the one place of overflow-checked arithmetic. Sizes and offsets that
** come from a file are uint64_t and pass through these functions before anything is allocated,
** added up or read.
*/
#ifndef ZT_CORE_SPAN_H
#define ZT_CORE_SPAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For the few functions that every byte of a manifest goes through: in line they keep the position
** in a register, where a call would take it through memory at every item. */
#if defined(__GNUC__)
# define ZT_INLINE static inline __attribute__((always_inline))
#else
# define ZT_INLINE static inline
#endif

/* For what those functions call when something is unusual: compilers then keep the usual
** way straight. */
#if defined(__GNUC__)
# define ZT_COLD __attribute__((cold, noinline))
#else
# define ZT_COLD
#endif

/* For functions that take a format: its place among the arguments, and that of the first value.
** Compilers check the values where %llu names uint64_t, which is where long has 32 bits; elsewhere
** they would see another type of the same size. */
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

/* Borrowed UTF-8 text, not NUL-terminated. z is NULL where there is no text at all, which the empty
** text is not. */
typedef struct zt_text {
  const char *z;
  size_t n;
} zt_text;

/* The text of a string literal: a constant initializer, and as an expression. */
#define ZT_TEXT_INIT(literal) { (literal), sizeof(literal) - 1 }
#define ZT_TEXT(literal) ((zt_text)ZT_TEXT_INIT(literal))

/* Eight or four bytes as a number, in the machine's own order. */
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

/* True if n bytes are equal. In line, for the short words that manifests consist of: the last bytes
** are compared in one piece, some of them a second time. */
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

/* True if one of n bytes is 0. In line, for names. */
ZT_INLINE bool zt_has_nul(const char *z, size_t n){
  const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  uint64_t x, found = 0;
  if( n<8 ) return n>0 && memchr(z, 0, n)!=NULL;
  for(size_t i=0; i<n-8; i+=8){
    x = zt_load64(z+i);
    found |= (x-ones) & ~x & highs;   /* A high bit is set where a byte is 0, and only if one is */
  }
  x = zt_load64(z+n-8);
  return (found | ((x-ones) & ~x & highs))!=0;
}

static inline bool zt_text_equal(zt_text a, zt_text b){
  return a.n==b.n && zt_equal(a.z, b.z, a.n);
}

#define zt_text_is(text, literal) zt_text_equal((text), ZT_TEXT(literal))

/* Order by bytes, which is the order of code points. */
static inline int zt_text_compare(zt_text a, zt_text b){
  size_t n = a.n<b.n ? a.n : b.n;
  int c = n ? memcmp(a.z, b.z, n) : 0;
  return c ? c : (a.n>b.n) - (a.n<b.n);
}

/* True if the range [off, off+len) lies within the first total bytes; in subtraction form, so
** nothing can wrap. */
static inline bool zt_claim(uint64_t total, uint64_t off, uint64_t len){
  return off<=total && len<=total-off;
}

/* *out = a + b; false, and *out of no meaning, where 64 bits do not hold it. */
static inline bool zt_add64(uint64_t a, uint64_t b, uint64_t *out){
#if defined(__GNUC__)
  return !__builtin_add_overflow(a, b, out);
#else
  *out = a+b;
  return b<=UINT64_MAX-a;
#endif
}

/* *out = a * b; false, and *out of no meaning, where 64 bits do not hold it. */
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

/* The same of 8 bytes; compilers make one load and a swap of it. */
ZT_INLINE uint64_t zt_be64(const uint8_t *p){
  return (uint64_t)p[0]<<56 | (uint64_t)p[1]<<48 | (uint64_t)p[2]<<40 | (uint64_t)p[3]<<32
       | (uint64_t)p[4]<<24 | (uint64_t)p[5]<<16 | (uint64_t)p[6]<<8 | (uint64_t)p[7];
}

static inline uint32_t zt_le16(const uint8_t *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8;
}

static inline uint32_t zt_le32(const uint8_t *p){
  return zt_le16(p) | zt_le16(p+2)<<16;
}

/* Little-endian u64 (a footer's manifest size); one load, as above. */
ZT_INLINE uint64_t zt_le64(const uint8_t *p){
  return (uint64_t)zt_le32(p) | (uint64_t)zt_le32(p+4)<<32;
}

/* The value of a hexadecimal digit of either case, -1 for any other character. */
static inline int zt_hex_digit(char ch){
  if( ch>='0' && ch<='9' ) return ch-'0';
  if( ch>='a' && ch<='f' ) return ch-'a'+10;
  if( ch>='A' && ch<='F' ) return ch-'A'+10;
  return -1;
}

#endif
