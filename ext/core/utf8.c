/* UTF-8. See utf8.h. */
#include "core/utf8.h"

size_t zt_utf8_length(const uint8_t *p, size_t n){
  /* The second byte distinguishes overlong forms, surrogates and values above U+10FFFF (RFC 3629
  ** section 4). */
  uint8_t lo = 0x80, hi = 0xBF;
  size_t len;
  if( p[0]<0xC2 || p[0]>0xF4 ) return 1;
  len = p[0]<0xE0 ? 2 : p[0]<0xF0 ? 3 : 4;
  if( p[0]==0xE0 ) lo = 0xA0;
  if( p[0]==0xED ) hi = 0x9F;
  if( p[0]==0xF0 ) lo = 0x90;
  if( p[0]==0xF4 ) hi = 0x8F;
  if( n<len || p[1]<lo || p[1]>hi ) return 1;
  for(size_t i=2; i<len; i++){
    if( (p[i] & 0xC0)!=0x80 ) return 1;
  }
  return len;
}

bool zt_utf8_valid_slow(const uint8_t *p, size_t n){
  while( n>0 ){
    size_t len = zt_utf8_length(p, n);
    if( len==1 && *p>=0x80 ) return false;
    p += len;
    n -= len;
  }
  return true;
}

size_t zt_utf8_put(uint8_t *to, uint32_t u){
  const size_t n = u<0x80 ? 1 : u<0x800 ? 2 : u<0x10000 ? 3 : 4;
  if( n==1 ){
    to[0] = (uint8_t)u;
    return n;
  }
  for(size_t i=n; i-->1; u>>=6) to[i] = (uint8_t)(0x80 | (u & 0x3F));
  to[0] = (uint8_t)(0xF00>>n | u);   /* As many ones as bytes, then a zero */
  return n;
}
