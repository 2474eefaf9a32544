/*
** Byte ranges, byte order and the one place of overflow-checked arithmetic. Sizes and offsets that come from a file are
** uint64_t and pass through these functions before anything is allocated, added up or read.
*/
#ifndef ZT_CORE_SPAN_H
#define ZT_CORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed byte range. */
typedef struct zt_span {
  const uint8_t *p;
  size_t n;
} zt_span;

/* Borrowed UTF-8 text, not NUL-terminated. z is NULL where there is no text at all, which the empty text is not. */
typedef struct zt_text {
  const char *z;
  size_t n;
} zt_text;

/* The text of a string literal: a constant initializer, and as an expression. */
#define ZT_TEXT_INIT(literal) { (literal), sizeof(literal) - 1 }
#define ZT_TEXT(literal) ((zt_text)ZT_TEXT_INIT(literal))

static inline bool zt_text_equal(zt_text a, zt_text b){
  return a.n==b.n && (a.n==0 || memcmp(a.z, b.z, a.n)==0);
}

#define zt_text_is(text, literal) zt_text_equal((text), ZT_TEXT(literal))

/* Order by bytes, which is the order of code points. */
static inline int zt_text_compare(zt_text a, zt_text b){
  size_t n = a.n<b.n ? a.n : b.n;
  int c = n ? memcmp(a.z, b.z, n) : 0;
  return c ? c : (a.n>b.n) - (a.n<b.n);
}

/* True if the range [off, off+len) lies within the first total bytes; in subtraction form, so nothing can wrap. */
static inline bool zt_claim(uint64_t total, uint64_t off, uint64_t len){
  return off<=total && len<=total-off;
}

/* *out = a + b; false, and *out untouched, where 64 bits do not hold it. */
static inline bool zt_add64(uint64_t a, uint64_t b, uint64_t *out){
  if( b>UINT64_MAX-a ) return false;
  *out = a+b;
  return true;
}

/* *out = a * b; false, and *out untouched, where 64 bits do not hold it. */
static inline bool zt_mul64(uint64_t a, uint64_t b, uint64_t *out){
  if( a!=0 && b>UINT64_MAX/a ) return false;
  *out = a*b;
  return true;
}

/* Big-endian unsigned integer of 1, 2, 4 or 8 bytes (CBOR's arguments). */
static inline uint64_t zt_be(const uint8_t *p, unsigned n){
  uint64_t u = 0;
  for(unsigned i=0; i<n; i++) u = u<<8 | p[i];
  return u;
}

/* Little-endian u64 (a footer's manifest size). */
static inline uint64_t zt_le64(const uint8_t *p){
  uint64_t u = 0;
  for(unsigned i=8; i-->0;) u = u<<8 | p[i];
  return u;
}

#endif
