/* UTF-8 (RFC 3629). */
#ifndef ZT_CORE_UTF8_H
#define ZT_CORE_UTF8_H

#include "core/span.h"

/* Returns whether n bytes are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF, no
** truncated character. */
ZT_COLD bool zt_utf8_valid_slow(const uint8_t *p, size_t n);

/* The same, inline: nearly all text is ASCII, which a few loads detect. */
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

/* Returns the length of the character at p, 1 to 4 of n remaining bytes; 1 for an invalid byte. */
size_t zt_utf8_length(const uint8_t *p, size_t n);

/* Writes a code point, even a surrogate, in at most 4 bytes. Returns their number. */
size_t zt_utf8_put(uint8_t *to, uint32_t u);

#endif
