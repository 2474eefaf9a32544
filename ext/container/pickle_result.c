/*
** Results of calls in a pickle. See pickle_result.h.
**
**   datetime  := datetime(10 bytes: year u16, month, day, hour, minute, second, microsecond u24)
**   date      := date(4 bytes: year u16, month, day)
**   time      := time(6 bytes: hour, minute, second, microsecond u24)    ; all big-endian
**   number    := numpy's scalar(dtype, bytes): pickle_numpy.h
**
** The first bit of a datetime's month, and of a time's hour, tells two equal hours apart (PEP 495).
** It is not shown. Values with a time zone are not known.
*/
#include "container/pickle_result.h"

#include <math.h>
#include <stdio.h>
#include "container/pickle_numpy.h"
#include "core/host.h"
#include "core/json.h"
#include "core/utf8.h"

static bool result_is_date(const uint8_t *b, unsigned month){
  static const uint8_t days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  const unsigned year = (unsigned)b[0]<<8 | b[1];
  return year>=1 && year<=9999 && month>=1 && month<=12 && b[3]>=1 && b[3]<=days[month-1];
}

/* Write a time: hour, minute, second, microseconds. */
static bool result_show_time(const uint8_t *b, unsigned hour, char *out, int room){
  const unsigned micro = (unsigned)b[3]<<16 | (unsigned)b[4]<<8 | b[5];
  if( hour>23 || b[1]>59 || b[2]>59 || micro>999999 ) return false;
  sqlite3_snprintf(room, out, micro ? "%02u:%02u:%02u.%06u" : "%02u:%02u:%02u", hour, b[1], b[2],
                   micro);
  return true;
}

/* Write a date in ISO form. False if the call is not as Python makes it. */
static bool result_read_date(const zt_pickle *p, const zt_pickle_value *call,
                            zt_pickle_meaning meaning, char *out, int room){
  uint8_t b[10];
  zt_pickle_bytes bytes;
  const size_t n = meaning==ZT_CALL_DATETIME ? 10 : meaning==ZT_CALL_DATE ? 4 : 6;
  unsigned month;
  if( !zt_pickle_child(p, call->args, 0) || zt_pickle_child(p, call->args, 1)
   || !zt_pickle_read_bytes(p, zt_pickle_child(p, call->args, 0), sizeof(b), &bytes)
   || bytes.n!=n ) return false;
  zt_pickle_copy_bytes(&bytes, b, n);
  if( meaning==ZT_CALL_TIME ) return result_show_time(b, b[0] & 0x7Fu, out, room);
  month = meaning==ZT_CALL_DATETIME ? b[2] & 0x7Fu : b[2];
  if( !result_is_date(b, month) ) return false;
  sqlite3_snprintf(room, out, "%04u-%02u-%02u", (unsigned)b[0]<<8 | b[1], month, b[3]);
  if( meaning==ZT_CALL_DATE ) return true;
  out[10] = 'T';
  return result_show_time(b+4, b[4], out+11, room-11);
}

bool zt_pickle_read_result(const zt_pickle *p, zt_pickle_node node, size_t most,
                           zt_pickle_result *out){
  zt_pickle_value call;
  const zt_pickle_meaning meaning = zt_pickle_call(p, node, &call);
  if( meaning==ZT_CALL_OTHER || call.keywords || call.state || call.list || call.dict ){
    return false;
  }
  out->zeros = 0;
  if( meaning<=ZT_CALL_ENCODE ){
    out->kind = ZT_RESULT_BYTES;
    return zt_pickle_read_bytes(p, node, most, &out->bytes);
  }
  if( meaning<=ZT_CALL_TIME ){
    out->kind = ZT_RESULT_TEXT;
    return result_read_date(p, &call, meaning, out->text, (int)sizeof(out->text));
  }
  return meaning==ZT_CALL_NUMPY_SCALAR && zt_numpy_read_scalar(p, &call, most, out);
}

/* Write the text or bytes of a result, in at most that many bytes. Returns their number. */
static size_t result_make(const zt_pickle_result *r, uint8_t *out){
  uint8_t *to = out;
  zt_pickle_copy_bytes(&r->bytes, out, r->bytes.n);
  if( r->kind==ZT_RESULT_BYTES ) return r->bytes.n;
  /* Four bytes of UTF-32 become at most four of UTF-8 */
  for(size_t i=0; i<r->bytes.n; i+=4){
    to += zt_utf8_put(to, r->big ? (uint32_t)zt_be(out+i, 4) : zt_le32(out+i));
  }
  return (size_t)(to-out);
}

static void result_put_made(const zt_pickle_result *r, zt_cbor_out *out){
  uint8_t *p = sqlite3_malloc64((uint64_t)r->bytes.n+1);
  size_t n;
  if( !p ){
    zt_fail_nomem(out->err);
    return;
  }
  n = result_make(r, p);
  if( r->kind==ZT_RESULT_BYTES ) zt_cbor_put_bytes(out, (zt_span){ p, n });
  else zt_cbor_put_text(out, (zt_text){ (const char*)p, n });
  sqlite3_free(p);
}

void zt_pickle_put_result(const zt_pickle_result *r, zt_cbor_out *out){
  switch( r->kind ){
    case ZT_RESULT_BOOL:     zt_cbor_put_bool(out, r->integer!=0); break;
    case ZT_RESULT_INTEGER:  zt_cbor_put_int(out, r->integer); break;
    case ZT_RESULT_UNSIGNED: zt_cbor_put_uint(out, r->u); break;
    case ZT_RESULT_REAL:     zt_cbor_put_real(out, r->real); break;
    case ZT_RESULT_COMPLEX:
      zt_cbor_put_head(out, ZT_CBOR_ARRAY, 2);
      zt_cbor_put_real(out, r->real);
      zt_cbor_put_real(out, r->imag);
      break;
    case ZT_RESULT_TEXT:
      zt_cbor_put_text(out, (zt_text){ r->text, strlen(r->text) });
      break;
    default: result_put_made(r, out); break;
  }
}

static uint64_t result_round(uint64_t n, uint64_t unit){
  return (n+unit/2)/unit*unit;
}

/* Append a whole number below 10^17, after which `point` stands: Python shows 10^16 and more with
** an exponent, and as few digits as tell it from other doubles. */
static void result_show_whole(double real, const char *point, sqlite3_str *out){
  const char *sign = signbit(real) ? "-" : "";
  uint64_t n = (uint64_t)fabs(real), unit = 100;
  char z[24];
  int digits;
  if( n<10000000000000000 ){
    sqlite3_str_appendf(out, "%s%llu%s", sign, (unsigned long long)n, point);
    return;
  }
  while( unit>1 && (double)result_round(n, unit)!=fabs(real) ) unit /= 10;
  digits = snprintf(z, sizeof(z), "%llu", (unsigned long long)result_round(n, unit));
  while( digits>1 && z[digits-1]=='0' ) digits--;
  sqlite3_str_appendf(out, "%s%c%s%.*se+16", sign, z[0], digits>1 ? "." : "", digits-1, z+1);
}

static void result_show_real(double real, const char *point, sqlite3_str *out){
  if( isnan(real) ) sqlite3_str_appendall(out, "nan");
  else if( isinf(real) ) sqlite3_str_appendall(out, real<0 ? "-inf" : "inf");
  else if( real==trunc(real) && fabs(real)<1e17 ) result_show_whole(real, point, out);
  else zt_json_real(out, real);
}

void zt_pickle_show_real(double real, sqlite3_str *out){
  result_show_real(real, ".0", out);
}

/* Python shows no point in whole parts, and a real part of +0 not at all. */
static void result_show_complex(const zt_pickle_result *r, sqlite3_str *out){
  const bool real = r->real!=0 || signbit(r->real);
  if( real ){
    sqlite3_str_appendall(out, "(");
    result_show_real(r->real, "", out);
    if( !signbit(r->imag) || isnan(r->imag) ) sqlite3_str_appendall(out, "+");
  }
  result_show_real(r->imag, "", out);
  sqlite3_str_appendall(out, real ? "j)" : "j");
}

static void result_show_made(const zt_pickle_result *r, sqlite3_str *out){
  uint8_t made[ZT_PICKLE_KEY_BYTES];
  size_t n;
  if( r->bytes.n>sizeof(made) ){
    sqlite3_str_appendall(out, "...");
    return;
  }
  n = result_make(r, made);
  if( r->kind==ZT_RESULT_BYTES ) zt_hex(out, (zt_span){ made, n });
  else sqlite3_str_append(out, (const char*)made, (int)n);
}

void zt_pickle_show_result(const zt_pickle_result *r, sqlite3_str *out){
  switch( r->kind ){
    case ZT_RESULT_BOOL:     sqlite3_str_appendall(out, r->integer ? "True" : "False"); break;
    case ZT_RESULT_INTEGER:  sqlite3_str_appendf(out, "%lld", (long long)r->integer); break;
    case ZT_RESULT_UNSIGNED: sqlite3_str_appendf(out, "%llu", (unsigned long long)r->u); break;
    case ZT_RESULT_REAL:     zt_pickle_show_real(r->real, out); break;
    case ZT_RESULT_COMPLEX:  result_show_complex(r, out); break;
    case ZT_RESULT_TEXT:     sqlite3_str_appendall(out, r->text); break;
    default:                 result_show_made(r, out); break;
  }
}

uint64_t zt_pickle_result_size(const zt_pickle_result *r){
  return r->kind<ZT_RESULT_UTF32 ? 32 : 9+(uint64_t)r->bytes.n+r->zeros;
}
