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

/* Returns whether text is UTF-8 without U+0000, as names are. Of bytes from 1 to 0x7F, none has a
** high bit, nor has any after 1 is taken from it. */
ZT_INLINE bool zt_utf8_without_nul(zt_text text){
  const uint64_t ones = 0x0101010101010101u;
  const uint8_t *p = (const uint8_t*)text.z;
  uint64_t x, high = 0;
  if( text.n<8 ) return zt_utf8_valid(p, text.n) && !zt_has_nul(text.z, text.n);
  for(size_t i=0; i<text.n-8; i+=8){
    x = zt_load64(p+i);
    high |= (x-ones) | x;
  }
  x = zt_load64(p+text.n-8);
  high |= (x-ones) | x;
  return (high & 0x8080808080808080u)==0
      || (zt_utf8_valid_slow(p, text.n) && !zt_has_nul(text.z, text.n));
}

/* Returns the length of the character at p, 1 to 4 of n remaining bytes; 1 for an invalid byte. */
size_t zt_utf8_length(const uint8_t *p, size_t n);

/* Writes a code point, even a surrogate, in at most 4 bytes. Returns their number. */
size_t zt_utf8_put(uint8_t *to, uint32_t u);

#endif
