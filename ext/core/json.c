/* JSON text. See json.h. */
#include "core/json.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void zt_json_text(sqlite3_str *out, zt_text text){
  size_t from = 0;
  sqlite3_str_append(out, "\"", 1);
  for(size_t i=0; i<text.n; i++){
    unsigned char ch = (unsigned char)text.z[i];
    if( ch>=0x20 && ch!='"' && ch!='\\' ) continue;
    if( i>from ) sqlite3_str_append(out, text.z+from, (int)(i-from));
    if( ch=='"' || ch=='\\' ) sqlite3_str_appendf(out, "\\%c", ch);
    else if( ch=='\n' ) sqlite3_str_append(out, "\\n", 2);
    else if( ch=='\r' ) sqlite3_str_append(out, "\\r", 2);
    else if( ch=='\t' ) sqlite3_str_append(out, "\\t", 2);
    else sqlite3_str_appendf(out, "\\u%04x", ch);
    from = i+1;
  }
  if( text.n>from ) sqlite3_str_append(out, text.z+from, (int)(text.n-from));
  sqlite3_str_append(out, "\"", 1);
}

void zt_hex(sqlite3_str *out, zt_span bytes){
  static const char digits[] = "0123456789abcdef";
  char buffer[512];
  size_t n = 0;
  for(size_t i=0; i<bytes.n; i++){
    buffer[n++] = digits[bytes.p[i]>>4];
    buffer[n++] = digits[bytes.p[i] & 15];
    if( n==sizeof(buffer) || i+1==bytes.n ){
      sqlite3_str_append(out, buffer, (int)n);
      n = 0;
    }
  }
}

/* The C library's conversions are exact, but use the locale's decimal point. */
static void json_use_point(char *z){
  const char *point = localeconv()->decimal_point;
  char *at;
  if( strcmp(point, ".")==0 || (at = strstr(z, point))==NULL ) return;
  *at = '.';
  memmove(at+1, at+strlen(point), strlen(at+strlen(point))+1);
}

/* Writes r with that many digits. Returns whether they read back as r. At a power of two the
** doubles above are farther apart than those below, so the next number up may do where the nearest
** does not. */
static bool json_write_real(char *z, size_t n, int digits, double r){
  char *p;
  (void)snprintf(z, n, "%.*g", digits, r);
  if( strtod(z, NULL)==r ) return true;
  (void)snprintf(z, n, "%.*e", digits-1, r);   /* %g would omit trailing zeros */
  for(p=z+strcspn(z, "e")-1; p>z && *p=='9'; p--) *p = '0';
  if( *p<'0' || *p>'8' ) return false;
  ++*p;
  return strtod(z, NULL)==r;
}

void zt_json_real(sqlite3_str *out, double r){
  char z[64];
  if( isnan(r) ){
    sqlite3_str_append(out, "null", 4);
    return;
  }
  if( isinf(r) ){
    sqlite3_str_appendall(out, r<0 ? "-9.0e+999" : "9.0e+999");
    return;
  }
  /* 15 digits distinguish normal doubles that have no more; subnormal ones may need fewer */
  for(int digits=fabs(r)<DBL_MIN ? 1 : 15; digits<=17; digits++){
    if( json_write_real(z, sizeof(z), digits, r) ) break;
  }
  json_use_point(z);
  sqlite3_str_appendall(out, z);
  if( !strpbrk(z, ".e") ) sqlite3_str_append(out, ".0", 2);
}

void zt_json_uint(sqlite3_str *out, uint64_t u){
  sqlite3_str_appendf(out, "%llu", (unsigned long long)u);
}

/* Divides the n limbs of a, most significant first, by 10^9. Returns the remainder. */
static uint32_t json_divide(uint32_t *a, size_t n){
  uint64_t r = 0;
  for(size_t i=0; i<n; i++){
    r = r<<32 | a[i];
    a[i] = (uint32_t)(r/1000000000u);
    r %= 1000000000u;
  }
  return (uint32_t)r;
}

/* Adds one to the n limbs of a, most significant first. The first limb is there for the carry. */
static void json_increment(uint32_t *a, size_t n){
  while( n-->0 && ++a[n]==0 ){}
}

bool zt_json_bignum(sqlite3_str *out, zt_span magnitude, bool negative){
  uint32_t a[ZT_BIGNUM_MAX/4+2] = { 0 };
  uint32_t parts[ZT_BIGNUM_MAX*8/29+2];
  size_t n, nParts = 0, first = 0;
  if( magnitude.n>ZT_BIGNUM_MAX ) return false;
  n = (magnitude.n+3)/4+1;
  for(size_t i=0; i<magnitude.n; i++){
    a[n-1-i/4] |= (uint32_t)magnitude.p[magnitude.n-1-i] << 8*(i%4);
  }
  if( negative ) json_increment(a, n);
  do{
    parts[nParts++] = json_divide(a+first, n-first);
    while( first<n && a[first]==0 ) first++;
  }while( first<n );
  if( negative ) sqlite3_str_appendchar(out, 1, '-');
  sqlite3_str_appendf(out, "%u", parts[--nParts]);
  while( nParts>0 ) sqlite3_str_appendf(out, "%09u", parts[--nParts]);
  return true;
}
