/* Text arguments of pickles. See pickle_text.h. */
#include "container/pickle_text.h"

#include "core/json_read.h"
#include "core/utf8.h"

#define TEXT_DIGITS_MAX 4300   /* Digits of an integer, as in Python: reading is quadratic */
#define TEXT_REAL_MAX 400      /* Characters of a real number */
#define TEXT_LIMBS (TEXT_DIGITS_MAX/9 + 2)

static const char text_no_escape[] = "an invalid escape";

size_t zt_pickle_trim(zt_span bytes){
  size_t n = bytes.n;
  while( n>1 && bytes.p[n-1]==(bytes.p[n-2]>>7 ? 0xFF : 0) ) n--;
  return n;
}

int64_t zt_pickle_small(zt_span bytes){
  uint64_t u = bytes.n && bytes.p[bytes.n-1]>>7 ? UINT64_MAX : 0;
  for(size_t i=bytes.n; i-->0; ) u = u<<8 | bytes.p[i];
  return (int64_t)u;
}

/* Multiply n limbs by a factor and add a number. Returns the new n. */
static size_t text_multiply(uint32_t *limbs, size_t n, uint32_t factor, uint32_t plus){
  uint64_t carry = plus;
  for(size_t i=0; i<n; i++){
    carry += (uint64_t)limbs[i]*factor;
    limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if( carry ) limbs[n++] = (uint32_t)carry;
  return n;
}

/* Write n limbs as bytes, negated if asked, with a sign bit. Returns the significant bytes. */
static size_t text_write_limbs(const uint32_t *limbs, size_t n, bool negative, uint8_t *out){
  bool carry = negative;
  for(size_t i=0; i<4*n+1; i++){
    uint8_t byte = (uint8_t)(i<4*n ? limbs[i/4]>>8*(i%4) : 0);
    out[i] = (uint8_t)(negative ? ~byte+carry : byte);
    carry = carry && byte==0;
  }
  return zt_pickle_trim((zt_span){ out, 4*n+1 });
}

const char *zt_pickle_decimal(zt_span text, uint8_t *out, size_t *n){
  uint32_t limbs[TEXT_LIMBS], part = 0, factor = 1;
  const size_t sign = text.n && (text.p[0]=='-' || text.p[0]=='+');
  size_t count = 0;
  if( text.n==sign ) return "no digits";
  if( text.n-sign>TEXT_DIGITS_MAX ) return "more than 4300 digits";
  for(size_t i=sign; i<text.n; i++){
    unsigned digit = text.p[i]-(unsigned)'0';
    if( digit>9 ) return "a character that is not a digit";
    part = part*10+digit;
    factor *= 10;
    if( factor==1000000000u || i+1==text.n ){
      count = text_multiply(limbs, count, factor, part);
      part = 0;
      factor = 1;
    }
  }
  *n = text_write_limbs(limbs, count, text.p[0]=='-', out);
  return NULL;
}

const char *zt_pickle_real(zt_span text, double *out){
  char room[TEXT_REAL_MAX+ZT_JSON_REAL_ROOM];
  const zt_text all = { (const char*)text.p, text.n };
  const size_t sign = text.n && (text.p[0]=='-' || text.p[0]=='+');
  const zt_text bare = { all.z+sign, all.n-sign };
  bool digits = zt_text_is(bare, "inf") || zt_text_is(bare, "nan");
  for(size_t i=0; i<text.n && !digits; i++){
    if( !text.p[i] || !strchr("+-.eE0123456789", text.p[i]) ) break;
    digits = text.p[i]>='0' && text.p[i]<='9';
  }
  for(size_t i=0; i<bare.n && digits; i++){
    digits = bare.z[i] && strchr("+-.eE0123456789infa", bare.z[i])!=NULL;
  }
  if( text.n>TEXT_REAL_MAX || !digits ) return "an invalid real number";
  *out = zt_json_read_real(all, room);
  return NULL;
}

/* Decode n digits of a base. False if one is missing or invalid. */
static bool text_digits(const uint8_t *p, const uint8_t *end, size_t n, int base, uint32_t *out){
  *out = 0;
  if( n>(size_t)(end-p) ) return false;
  for(size_t i=0; i<n; i++){
    int digit = zt_hex_digit((char)p[i]);
    if( digit<0 || digit>=base ) return false;
    *out = *out*(uint32_t)base+(uint32_t)digit;
  }
  return true;
}

/* Decode the escape after a backslash. Returns its length; 0: unknown. */
static size_t text_escape(const uint8_t *p, const uint8_t *end, uint8_t *out){
  static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
  const char *at = *p ? strchr(from, *p) : NULL;
  size_t n = 3;
  uint32_t u;
  if( at ){
    *out = (uint8_t)to[at-from];
    return 1;
  }
  if( *p=='x' ){
    if( !text_digits(p+1, end, 2, 16, &u) ) return 0;
  }else{
    while( n>0 && !text_digits(p, end, n, 8, &u) ) n--;
  }
  *out = (uint8_t)u;
  return n;
}

const char *zt_pickle_unquote(zt_span text, uint8_t *out, size_t *n){
  const uint8_t *p, *end, *first = out;
  if( text.n<2 || (text.p[0]!='\'' && text.p[0]!='"') || text.p[text.n-1]!=text.p[0] ){
    return "no quotes around the text";
  }
  p = text.p+1;
  end = text.p+text.n-1;
  while( p<end ){
    size_t length;
    if( *p!='\\' ){
      *out++ = *p++;
      continue;
    }
    if( ++p==end ) return text_no_escape;
    length = text_escape(p, end, out);
    if( length==0 && *p=='x' ) return text_no_escape;
    if( length==0 ) *out = '\\';
    out++;
    p += length;
  }
  *n = (size_t)(out-first);
  return NULL;
}

const char *zt_pickle_unescape(zt_span text, uint8_t *out, size_t *n){
  const uint8_t *p = text.p, *end = text.p+text.n, *first = out;
  while( p<end ){
    uint32_t u = *p++;
    if( u=='\\' && p<end && (*p=='u' || *p=='U') ){
      size_t digits = *p=='u' ? 4 : 8;
      if( !text_digits(p+1, end, digits, 16, &u) || u>0x10FFFF ) return text_no_escape;
      p += 1+digits;
    }else if( u=='\\' && p<end ){
      *out++ = '\\';
      u = *p++;
    }
    out += zt_utf8_put(out, u);
  }
  *n = (size_t)(out-first);
  return NULL;
}
