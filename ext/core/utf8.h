/* UTF-8 (RFC 3629). */
#ifndef ZT_CORE_UTF8_H
#define ZT_CORE_UTF8_H

#include "core/span.h"

/* True if the n bytes of p are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF, no
** character cut off. */
ZT_COLD bool zt_utf8_valid_slow(const uint8_t *p, size_t n);

/* The same. In line, since nearly all text is ASCII, which a few loads can show. */
ZT_INLINE bool zt_utf8_valid(const uint8_t *p, size_t n){
  uint64_t high = 0;
  if( n>=8 ){
    for(size_t i=0; i<n-8; i+=8) high |= zt_load64(p+i);
    high |= zt_load64(p+n-8);
  }else if( n>=4 ){
    high = zt_load32(p) | zt_load32(p+n-4);
  }else{
    for(size_t i=0; i<n; i++) high |= p[i];
  }
  return (high & 0x8080808080808080u)==0 || zt_utf8_valid_slow(p, n);
}

/* Bytes of the character that begins at p, n of them left: 1 to 4; 1 for a byte that
** begins none. */
size_t zt_utf8_length(const uint8_t *p, size_t n);

/* Write a code point, a surrogate as if it were a character's; at most 4 bytes, and how many. */
size_t zt_utf8_put(uint8_t *to, uint32_t u);

#endif
