/* JSON text. See json.h. */
#include "core/json.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Where JSON goes: plainly, or as the contents of a quoted text (the name of a member that is
** itself JSON). */
typedef struct json_sink {
  sqlite3_str *out;
  bool in_key;     /* Within a key that is no text */
  bool quoted;     /* Quotes and backslashes are escaped once more */
} json_sink;

static void json_emit(const json_sink *w, const char *z, size_t n){
  size_t from = 0;
  for(size_t i=0; i<n && w->quoted; i++){
    if( z[i]!='"' && z[i]!='\\' ) continue;
    if( i>from ) sqlite3_str_append(w->out, z+from, (int)(i-from));
    sqlite3_str_append(w->out, "\\", 1);
    from = i;
  }
  if( n>from ) sqlite3_str_append(w->out, z+from, (int)(n-from));
}

static void json_emit_text(const json_sink *w, zt_text text){
  size_t from = 0;
  json_emit(w, "\"", 1);
  for(size_t i=0; i<text.n; i++){
    unsigned char ch = (unsigned char)text.z[i];
    char escape[8];
    if( ch>=0x20 && ch!='"' && ch!='\\' ) continue;
    json_emit(w, text.z+from, i-from);
    if( ch=='"' || ch=='\\' ) sqlite3_snprintf(sizeof(escape), escape, "\\%c", ch);
    else if( ch=='\n' || ch=='\r' || ch=='\t' ){
      sqlite3_snprintf(sizeof(escape), escape, "\\%c", ch=='\n' ? 'n' : ch=='\r' ? 'r' : 't');
    }else{
      sqlite3_snprintf(sizeof(escape), escape, "\\u%04x", ch);
    }
    json_emit(w, escape, strlen(escape));
    from = i+1;
  }
  if( text.n>from ) json_emit(w, text.z+from, text.n-from);
  json_emit(w, "\"", 1);
}

void zt_json_text(sqlite3_str *out, zt_text text){
  const json_sink w = { out, false, false };
  json_emit_text(&w, text);
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

/* The C library's conversions are exact, but write the host's decimal point. */
static void json_use_point(char *z){
  const char *point = localeconv()->decimal_point;
  char *at;
  if( strcmp(point, ".")==0 || (at = strstr(z, point))==NULL ) return;
  *at = '.';
  memmove(at+1, at+strlen(point), strlen(at+strlen(point))+1);
}

/* Write r with that many digits; true if they read back as r. At a power of two the doubles above
** are farther apart than those below, and the next number up may do where the nearest does not. */
static bool json_write_real(char *z, size_t n, int digits, double r){
  char *p;
  (void)snprintf(z, n, "%.*g", digits, r);
  if( strtod(z, NULL)==r ) return true;
  (void)snprintf(z, n, "%.*e", digits-1, r);   /* %g would leave zeros at the end out */
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
  /* 15 digits tell normal doubles apart that have no more; subnormal ones may need fewer. */
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

void zt_json_integer(sqlite3_str *out, const zt_cbor_item *item){
  if( item->type==ZT_CBOR_UINT ) zt_json_uint(out, item->n);
  else if( item->n==UINT64_MAX ) sqlite3_str_appendall(out, "-18446744073709551616");
  else sqlite3_str_appendf(out, "-%llu", (unsigned long long)item->n+1);
}

/* Divide the n limbs of a, most significant first, by 10^9; returns the remainder. */
static uint32_t json_divide(uint32_t *a, size_t n){
  uint64_t r = 0;
  for(size_t i=0; i<n; i++){
    r = r<<32 | a[i];
    a[i] = (uint32_t)(r/1000000000u);
    r %= 1000000000u;
  }
  return (uint32_t)r;
}

/* Add one to the n limbs of a, most significant first; the first one is there for the carry. */
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

static void json_write_item(const json_sink *w, zt_cbor *c);

/* The item that tag number `tag` is put on. */
static void json_tagged(const json_sink *w, zt_cbor *c, uint64_t tag){
  zt_cbor after = *c;
  zt_cbor_item item;
  if( (tag==2 || tag==3) && zt_cbor_peek(c)==ZT_CBOR_BYTES && zt_cbor_next(&after, &item)
   && zt_json_bignum(w->out, (zt_span){ item.p, (size_t)item.n }, tag==3) ){
    *c = after;
  }else{
    json_write_item(w, c);
  }
}

/* A key, without quotes around it. JSON quoted within JSON would double with every level of keys in
** keys: from the second level on, those that are arrays, maps or tagged are written as the
** hexadecimal form of their CBOR. */
static void json_write_key(const json_sink *w, zt_cbor *c, bool quoted){
  const json_sink inner = { w->out, true, quoted };
  const uint8_t *at = c->p;
  zt_cbor_type type = zt_cbor_peek(c);
  zt_cbor_item item;
  if( type==ZT_CBOR_TEXT || type==ZT_CBOR_BYTES ){
    if( !zt_cbor_next(c, &item) ) return;
    if( type==ZT_CBOR_TEXT ) sqlite3_str_append(w->out, (const char*)item.p, (int)item.n);
    else zt_hex(w->out, (zt_span){ item.p, (size_t)item.n });
  }else if( w->in_key && (type==ZT_CBOR_ARRAY || type==ZT_CBOR_MAP || type==ZT_CBOR_TAG) ){
    if( zt_cbor_skip(c) ) zt_hex(w->out, (zt_span){ at, (size_t)(c->p - at) });
  }else{
    json_write_item(&inner, c);
  }
}

static void json_write_member(const json_sink *w, zt_cbor *c){
  if( zt_cbor_peek(c)==ZT_CBOR_TEXT ){
    json_write_item(w, c);
  }else{
    json_emit(w, "\"", 1);
    json_write_key(w, c, true);
    json_emit(w, "\"", 1);
  }
  json_emit(w, ":", 1);
  json_write_item(w, c);
}

/* The items of an array or the members of a map, whose head is item. */
static void json_contents(const json_sink *w, zt_cbor *c, const zt_cbor_item *item){
  bool map = item->type==ZT_CBOR_MAP;
  zt_cbor_level level;
  bool first = true;
  if( !zt_cbor_enter(c, item, &level) ) return;
  json_emit(w, map ? "{" : "[", 1);
  while( zt_cbor_more(c, &level) ){
    if( !first ) json_emit(w, ",", 1);
    first = false;
    if( map ) json_write_member(w, c);
    else json_write_item(w, c);
  }
  json_emit(w, map ? "}" : "]", 1);
}

static void json_write_item(const json_sink *w, zt_cbor *c){
  zt_cbor_item item;
  if( !zt_cbor_next(c, &item) ) return;
  switch( item.type ){
    case ZT_CBOR_UINT: case ZT_CBOR_NINT:
      zt_json_integer(w->out, &item);
      break;
    case ZT_CBOR_BYTES:
      json_emit(w, "\"", 1);
      zt_hex(w->out, (zt_span){ item.p, (size_t)item.n });
      json_emit(w, "\"", 1);
      break;
    case ZT_CBOR_TEXT:
      json_emit_text(w, (zt_text){ (const char*)item.p, (size_t)item.n });
      break;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      json_contents(w, c, &item);
      break;
    case ZT_CBOR_TAG:
      json_tagged(w, c, item.n);
      break;
    case ZT_CBOR_SIMPLE:
      if( item.is_float ) zt_json_real(w->out, item.real);
      else if( item.n==ZT_CBOR_TRUE ) json_emit(w, "true", 4);
      else if( item.n==ZT_CBOR_FALSE ) json_emit(w, "false", 5);
      else json_emit(w, "null", 4);   /* RFC 8949 section 6.1 has null for undefined and
                                      ** the unassigned */
      break;
  }
}

void zt_json_item(sqlite3_str *out, zt_cbor *c){
  const json_sink w = { out, false, false };
  json_write_item(&w, c);
}

void zt_json_member(sqlite3_str *out, zt_cbor *c){
  const json_sink w = { out, false, false };
  json_write_member(&w, c);
}

void zt_json_key(sqlite3_str *out, zt_cbor *c){
  const json_sink w = { out, false, false };
  json_write_key(&w, c, false);
}
