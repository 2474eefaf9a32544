/*
** Calls in a pickle whose results are known. See pickle_calls.h.
**
**   bytes     := codecs.encode(text, "latin1") | bytes(bytes?) | bytearray(bytes?)
**              | bytearray(text, "latin-1")
**   datetime  := datetime(10 bytes: year u16, month, day, hour, minute, second, microsecond u24)
**   date      := date(4 bytes: year u16, month, day)
**   time      := time(6 bytes: hour, minute, second, microsecond u24)    ; all big-endian
**   number    := numpy's scalar(dtype, bytes): pickle_numpy.h
**
** The first bit of a datetime's month, and of a time's hour, tells which of two equal hours is
** meant (PEP 495), and is not shown. What has a time zone is not known.
*/
#include "container/pickle_calls.h"

#include <math.h>
#include "container/pickle_numpy.h"
#include "core/host.h"
#include "core/json.h"
#include "core/utf8.h"

#define CALLS_NESTED 4    /* Bytes that are made of bytes, at most so often */

enum {
  CALLS_BYTES = 1, CALLS_BYTEARRAY, CALLS_ENCODE, CALLS_DATETIME, CALLS_DATE, CALLS_TIME
};

static const zt_pickle_name calls_of_bytes[] = {
  { ZT_TEXT_INIT("_codecs"), ZT_TEXT_INIT("encode"), CALLS_ENCODE },
  { ZT_TEXT_INIT("builtins"), ZT_TEXT_INIT("bytes"), CALLS_BYTES },
  { ZT_TEXT_INIT("__builtin__"), ZT_TEXT_INIT("bytes"), CALLS_BYTES },
  { ZT_TEXT_INIT("builtins"), ZT_TEXT_INIT("bytearray"), CALLS_BYTEARRAY },
  { ZT_TEXT_INIT("__builtin__"), ZT_TEXT_INIT("bytearray"), CALLS_BYTEARRAY },
};

static const zt_pickle_name calls_of_dates[] = {
  { ZT_TEXT_INIT("datetime"), ZT_TEXT_INIT("datetime"), CALLS_DATETIME },
  { ZT_TEXT_INIT("datetime"), ZT_TEXT_INIT("date"), CALLS_DATE },
  { ZT_TEXT_INIT("datetime"), ZT_TEXT_INIT("time"), CALLS_TIME },
};

#define CALLS_COUNT(table) (sizeof(table)/sizeof(*(table)))

int zt_pickle_name_find(const zt_pickle_name *table, size_t n, const zt_pickle_value *global){
  for(size_t i=0; i<n; i++){
    if( zt_text_equal(global->name, table[i].name)
     && zt_text_equal(global->module, table[i].module) ) return table[i].meaning;
  }
  return 0;
}

int zt_pickle_meaning(const zt_pickle *p, zt_pickle_node node, const zt_pickle_name *table,
                      size_t n, zt_pickle_value *call){
  zt_pickle_value callee;
  zt_pickle_get(p, node, call);
  if( call->kind!=ZT_PICKLE_CALL || zt_pickle_kind_of(p, call->args)!=ZT_PICKLE_TUPLE ) return 0;
  zt_pickle_get(p, call->callee, &callee);
  return callee.kind==ZT_PICKLE_GLOBAL ? zt_pickle_name_find(table, n, &callee) : 0;
}

/* --- Bytes --- */

static bool calls_is_latin1(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value value;
  zt_text name;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  name = (zt_text){ (const char*)value.bytes.p, value.bytes.n };
  return value.kind==ZT_PICKLE_TEXT && (zt_text_is(name, "latin1") || zt_text_is(name, "latin-1")
                                        || zt_text_is(name, "iso-8859-1"));
}

bool zt_pickle_read_bytes(const zt_pickle *p, zt_pickle_node node, size_t most,
                          zt_pickle_bytes *out){
  zt_pickle_value value;
  bool encoded = false;
  for(int i=0; i<CALLS_NESTED; i++){
    zt_pickle_value call;
    zt_pickle_node first;
    int meaning = zt_pickle_meaning(p, node, calls_of_bytes, CALLS_COUNT(calls_of_bytes), &call);
    if( !meaning ) break;
    if( call.keywords || call.state || call.list || call.dict ) return false;
    first = zt_pickle_child(p, call.args, 0);
    if( zt_pickle_child(p, call.args, 1) ){
      encoded = calls_is_latin1(p, zt_pickle_child(p, call.args, 1));
      if( !encoded || zt_pickle_child(p, call.args, 2) || meaning==CALLS_BYTES ) return false;
    }else if( meaning==CALLS_ENCODE ){
      return false;
    }
    if( !first ){
      *out = (zt_pickle_bytes){ { (const uint8_t*)"", 0 }, false, 0 };
      return true;
    }
    node = first;
    if( encoded ) break;
  }
  zt_pickle_get(p, node, &value);
  *out = (zt_pickle_bytes){ value.bytes, false, value.bytes.n };
  if( value.bytes.n/2>most ) return false;
  if( value.kind==ZT_PICKLE_BYTES ) return !encoded;
  if( value.kind!=ZT_PICKLE_TEXT ) return false;
  out->latin1 = encoded;
  return encoded ? zt_pickle_latin1(p, node, &out->n) : value.string;
}

void zt_pickle_copy_bytes(const zt_pickle_bytes *b, uint8_t *out, size_t n){
  const uint8_t *p = b->span.p;
  if( !b->latin1 ){
    if( n ) memcpy(out, p, n);
    return;
  }
  for(size_t i=0; i<n; i++){
    if( *p<0x80 ){
      out[i] = *p++;
    }else{
      out[i] = (uint8_t)(p[0]<<6 | (p[1] & 0x3F));
      p += 2;
    }
  }
}

/* --- Dates --- */

static bool calls_is_date(const uint8_t *b, unsigned month){
  static const uint8_t days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  const unsigned year = (unsigned)b[0]<<8 | b[1];
  return year>=1 && year<=9999 && month>=1 && month<=12 && b[3]>=1 && b[3]<=days[month-1];
}

/* Append a time: hour, minute, second, microseconds. */
static bool calls_show_time(const uint8_t *b, unsigned hour, char *out, int room){
  const unsigned micro = (unsigned)b[3]<<16 | (unsigned)b[4]<<8 | b[5];
  if( hour>23 || b[1]>59 || b[2]>59 || micro>999999 ) return false;
  sqlite3_snprintf(room, out, micro ? "%02u:%02u:%02u.%06u" : "%02u:%02u:%02u", hour, b[1], b[2],
                   micro);
  return true;
}

/* The ISO text of a date. False: it is none, or not called as Python does. */
static bool calls_read_date(const zt_pickle *p, zt_pickle_node node, char *out, int room){
  uint8_t b[10];
  zt_pickle_value call;
  zt_pickle_bytes bytes;
  const int meaning = zt_pickle_meaning(p, node, calls_of_dates, CALLS_COUNT(calls_of_dates),
                                        &call);
  const size_t n = meaning==CALLS_DATETIME ? 10 : meaning==CALLS_DATE ? 4 : 6;
  unsigned month;
  if( !meaning || call.keywords || call.state || call.list || call.dict
   || !zt_pickle_child(p, call.args, 0) || zt_pickle_child(p, call.args, 1)
   || !zt_pickle_read_bytes(p, zt_pickle_child(p, call.args, 0), sizeof(b), &bytes)
   || bytes.n!=n ){
    return false;
  }
  zt_pickle_copy_bytes(&bytes, b, n);
  if( meaning==CALLS_TIME ) return calls_show_time(b, b[0] & 0x7Fu, out, room);
  month = meaning==CALLS_DATETIME ? b[2] & 0x7Fu : b[2];
  if( !calls_is_date(b, month) ) return false;
  sqlite3_snprintf(room, out, "%04u-%02u-%02u", (unsigned)b[0]<<8 | b[1], month, b[3]);
  if( meaning==CALLS_DATE ) return true;
  out[10] = 'T';
  return calls_show_time(b+4, b[4], out+11, room-11);
}

/* --- Results --- */

bool zt_pickle_read_result(const zt_pickle *p, zt_pickle_node node, size_t most,
                           zt_pickle_result *out){
  if( zt_pickle_kind_of(p, node)!=ZT_PICKLE_CALL ) return false;
  out->kind = ZT_RESULT_TEXT;
  out->zeros = 0;
  if( calls_read_date(p, node, out->text, (int)sizeof(out->text)) ) return true;
  out->kind = ZT_RESULT_BYTES;
  return zt_pickle_read_bytes(p, node, most, &out->bytes)
      || zt_numpy_read_scalar(p, node, most, out);
}

/* What is made of the bytes of a result, in that many of memory; returns how many bytes it is. */
static size_t calls_make(const zt_pickle_result *r, uint8_t *out){
  uint8_t *to = out;
  zt_pickle_copy_bytes(&r->bytes, out, r->bytes.n);
  if( r->kind==ZT_RESULT_BYTES ) return r->bytes.n;
  /* Four bytes of UTF-32 become at most four of UTF-8 */
  for(size_t i=0; i<r->bytes.n; i+=4){
    to += zt_utf8_put(to, r->big ? (uint32_t)zt_be(out+i, 4) : zt_le32(out+i));
  }
  return (size_t)(to-out);
}

static void calls_put_made(const zt_pickle_result *r, zt_cbor_out *out){
  uint8_t *p = sqlite3_malloc64((uint64_t)r->bytes.n+1);
  size_t n;
  if( !p ){
    zt_fail_nomem(out->err);
    return;
  }
  n = calls_make(r, p);
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
    default: calls_put_made(r, out); break;
  }
}

void zt_pickle_show_real(double real, sqlite3_str *out){
  if( isnan(real) ) sqlite3_str_appendall(out, "nan");
  else if( isinf(real) ) sqlite3_str_appendall(out, real<0 ? "-inf" : "inf");
  else zt_json_real(out, real);
}

static void calls_show_made(const zt_pickle_result *r, sqlite3_str *out){
  uint8_t made[ZT_PICKLE_KEY_BYTES];
  size_t n;
  if( r->bytes.n>sizeof(made) ){
    sqlite3_str_appendall(out, "...");
    return;
  }
  n = calls_make(r, made);
  if( r->kind==ZT_RESULT_BYTES ) zt_hex(out, (zt_span){ made, n });
  else sqlite3_str_append(out, (const char*)made, (int)n);
}

void zt_pickle_show_result(const zt_pickle_result *r, sqlite3_str *out){
  switch( r->kind ){
    case ZT_RESULT_BOOL:     sqlite3_str_appendall(out, r->integer ? "True" : "False"); break;
    case ZT_RESULT_INTEGER:  sqlite3_str_appendf(out, "%lld", (long long)r->integer); break;
    case ZT_RESULT_UNSIGNED: sqlite3_str_appendf(out, "%llu", (unsigned long long)r->u); break;
    case ZT_RESULT_REAL:     zt_pickle_show_real(r->real, out); break;
    case ZT_RESULT_COMPLEX:
      sqlite3_str_appendall(out, "(");
      zt_pickle_show_real(r->real, out);
      if( !signbit(r->imag) ) sqlite3_str_appendall(out, "+");
      zt_pickle_show_real(r->imag, out);
      sqlite3_str_appendall(out, "j)");
      break;
    case ZT_RESULT_TEXT:     sqlite3_str_appendall(out, r->text); break;
    default:                 calls_show_made(r, out); break;
  }
}

uint64_t zt_pickle_result_size(const zt_pickle_result *r){
  return r->kind<ZT_RESULT_UTF32 ? 32 : 9+(uint64_t)r->bytes.n+r->zeros;
}
