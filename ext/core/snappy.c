/*
** Blocks of Snappy. See snappy.h.
**
**   block   := length element*       ; length: a varint of at most 32 bits, of the decoded bytes
**   element := tag more* literal*    ; by the tag's lowest two bits:
**     0  tag>>2 plus 1 literal bytes; 60 to 63: as many little-endian bytes, less 59, have that
**        number less 1
**     1  a copy of 4 + (tag>>2 & 7) bytes; its distance is tag>>5 and a byte, 11 bits
**     2  a copy of tag>>2 plus 1 bytes; its distance has 2 little-endian bytes
**     3  the same with 4 bytes
** A distance is at least 1 and leads to bytes that are decoded; a copy may overlap itself.
*/
#include "core/snappy.h"

#define SNAPPY_TIMES 22   /* The shortest element that makes 64 bytes has 3 */

bool zt_snappy_length(zt_span block, zt_span *body, uint64_t *out){
  *out = 0;
  for(size_t i=0; i<block.n && i<5; i++){
    *out |= (uint64_t)(block.p[i] & 0x7F) << 7*i;
    if( block.p[i] & 0x80 ) continue;
    *body = (zt_span){ block.p+i+1, block.n-i-1 };
    return *out<=UINT32_MAX && *out/SNAPPY_TIMES<=body->n;
  }
  return false;
}

/* A little-endian number of n bytes, which are consumed. False if they are not there. */
static bool snappy_number(zt_span *in, size_t n, uint32_t *out){
  if( in->n<n ) return false;
  *out = 0;
  for(size_t i=n; i-->0;) *out = *out<<8 | in->p[i];
  in->p += n;
  in->n -= n;
  return true;
}

static bool snappy_literal(zt_span *in, unsigned tag, uint8_t *out, size_t n, size_t *at){
  uint32_t length = tag>>2;
  if( length>=60 && !snappy_number(in, length-59, &length) ) return false;
  if( length>=in->n || length>=n-*at ) return false;
  memcpy(out+*at, in->p, (size_t)length+1);
  in->p += (size_t)length+1;
  in->n -= (size_t)length+1;
  *at += (size_t)length+1;
  return true;
}

static bool snappy_copy(zt_span *in, unsigned tag, uint8_t *out, size_t n, size_t *at){
  const unsigned kind = tag & 3;
  size_t length = kind==1 ? 4+(tag>>2 & 7) : (tag>>2)+1;
  uint32_t distance;
  if( !snappy_number(in, kind==1 ? 1 : kind==2 ? 2 : 4, &distance) ) return false;
  if( kind==1 ) distance |= (tag>>5)<<8;
  if( distance==0 || distance>*at || length>n-*at ) return false;
  for(; length>0; length--, ++*at) out[*at] = out[*at-distance];
  return true;
}

bool zt_snappy_decode(zt_span body, uint8_t *out, size_t n){
  size_t at = 0;
  while( body.n>0 ){
    const unsigned tag = *body.p++;
    body.n--;
    if( tag & 3 ? !snappy_copy(&body, tag, out, n, &at)
                : !snappy_literal(&body, tag, out, n, &at) ) return false;
  }
  return at==n;
}
