/* UTF-8 (RFC 3629). */
#ifndef ZT_CORE_UTF8_H
#define ZT_CORE_UTF8_H

#include "core/span.h"

/* True if the n bytes of p are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF, no character cut off. */
bool zt_utf8_valid_slow(const uint8_t *p, size_t n);

/* The same; most names are ASCII, which eight bytes at a time can show. */
static inline bool zt_utf8_valid(const uint8_t *p, size_t n){
  uint64_t w;
  while( n>=8 ){
    memcpy(&w, p, 8);
    if( w & 0x8080808080808080u ) return zt_utf8_valid_slow(p, n);
    p += 8;
    n -= 8;
  }
  for(size_t i=0; i<n; i++){
    if( p[i] & 0x80 ) return zt_utf8_valid_slow(p+i, n-i);
  }
  return true;
}

/* Bytes of the character that begins at p, n of them left: 1 to 4; 1 for a byte that begins none. */
size_t zt_utf8_length(const uint8_t *p, size_t n);

#endif
