/* Values of attributes between SQL and files. See attribute_value.h. */
#include "sqlite/attribute_value.h"

#include <assert.h>
#include <math.h>
#include "core/cbor_order.h"
#include "core/grow.h"
#include "core/json_read.h"
#include "core/utf8.h"
#include "sqlite/describe.h"

static const char *const attribute_types[] = {
  [ZT_VALUE_NULL] = "null", [ZT_VALUE_FALSE] = "false", [ZT_VALUE_TRUE] = "true",
  [ZT_VALUE_INTEGER] = "integer", [ZT_VALUE_REAL] = "real", [ZT_VALUE_TEXT] = "text",
  [ZT_VALUE_BYTES] = "blob", [ZT_VALUE_ARRAY] = "array", [ZT_VALUE_MAP] = "object"
};

/* --- Numbers --- */

/* Put the integer of a decimal text, which may be any text. False: it is none of 64 bits. */
static bool attribute_put_decimal(zt_text text, zt_cbor_out *out){
  const bool negative = text.n && *text.z=='-';
  uint64_t u = 0;
  bool above = false;   /* The absolute value is 2^64 */
  for(size_t i=negative; i<text.n; i++){
    const unsigned digit = (unsigned)(unsigned char)text.z[i]-'0';
    if( digit>9 ) return false;
    if( zt_mul64(u, 10, &u) && zt_add64(u, digit, &u) ) continue;
    above = negative && i+1==text.n && zt_text_is(text, "-18446744073709551616");
    if( !above ) return false;
  }
  if( text.n==negative ) return false;
  if( above ) zt_cbor_put_head(out, ZT_CBOR_NINT, UINT64_MAX);
  else if( negative && u ) zt_cbor_put_head(out, ZT_CBOR_NINT, u-1);
  else zt_cbor_put_uint(out, u);
  return true;
}

/* True for a sign and digits, or digits alone. */
static bool attribute_is_decimal(zt_text text){
  const size_t negative = text.n && *text.z=='-';
  for(size_t i=negative; i<text.n; i++) if( text.z[i]<'0' || text.z[i]>'9' ) return false;
  return text.n>negative;
}

/* True for an infinite number as zt_attributes or SQLite's json_array() write it. */
static bool attribute_is_infinite(zt_text number){
  if( number.n && *number.z=='-' ) number = (zt_text){ number.z+1, number.n-1 };
  return zt_text_is(number, "9.0e+999") || zt_text_is(number, "9e999");
}

/* --- JSON --- */

typedef struct attribute_json {
  zt_json_reader reader;
  zt_cbor_order order;
  zt_cbor_out *out;
  char *room;          /* Owned: for a decoded text or a number */
  size_t capacity;
  zt_error *err;
} attribute_json;

static bool attribute_reserve(attribute_json *a, size_t n){
  char *room = zt_grow(a->room, &a->capacity, n, 1, a->err);
  if( room ) a->room = room;
  return room!=NULL;
}

static bool attribute_put_string(attribute_json *a, zt_json_string text){
  if( !text.escaped ) zt_cbor_put_text(a->out, text.raw);
  else if( attribute_reserve(a, text.raw.n) ){
    zt_cbor_put_text(a->out, (zt_text){ a->room, zt_json_unescape(text, a->room) });
  }
  return a->err->rc==SQLITE_OK;
}

static bool attribute_put_real(attribute_json *a, zt_text number){
  double real;
  if( !attribute_reserve(a, number.n+ZT_JSON_REAL_ROOM) ) return false;
  real = zt_json_read_real(number, a->room);
  if( isinf(real) && !attribute_is_infinite(number) ){
    zt_fail(a->err, SQLITE_ERROR, "number %.*s of a JSON value is beyond all reals",
            zt_shown(number), number.z);
    return false;
  }
  zt_cbor_put_shortest(a->out, real);
  return a->err->rc==SQLITE_OK;
}

/* An integer out of the reader's range may be one of CBOR's. */
static bool attribute_put_large(attribute_json *a, zt_text number){
  if( attribute_put_decimal(number, a->out) ) return a->err->rc==SQLITE_OK;
  zt_fail(a->err, SQLITE_ERROR, "integer %.*s of a JSON value is beyond 64 bits; with an exponent"
          " it is a real number", zt_shown(number), number.z);
  return false;
}

static bool attribute_put_json(attribute_json *a);

static bool attribute_put_items(attribute_json *a, zt_json_type type){
  const bool map = type==ZT_JSON_OBJECT;
  zt_cbor_opened opened;
  zt_json_level level;
  zt_json_string key;
  if( !zt_json_read_enter(&a->reader, type, &level)
   || !zt_cbor_order_open(&a->order, map, &opened) ) return false;
  while( zt_json_read_more(&a->reader, &level) ){
    if( map ){
      if( !zt_json_read_key(&a->reader, &key) || !zt_cbor_order_key(&a->order)
       || !attribute_put_string(a, key) || !zt_cbor_order_value(&a->order) ) return false;
    }else if( !zt_cbor_order_item(&a->order, &opened) ) return false;
    if( !attribute_put_json(a) ) return false;
  }
  return a->err->rc==SQLITE_OK && zt_cbor_order_close(&a->order, &opened);
}

/* Put the JSON value that is next. */
static bool attribute_put_json(attribute_json *a){
  zt_json_value v;
  if( !zt_json_read_next(&a->reader, &v) ) return false;
  switch( v.type ){
    case ZT_JSON_FALSE: case ZT_JSON_TRUE: zt_cbor_put_bool(a->out, v.type==ZT_JSON_TRUE); break;
    case ZT_JSON_INTEGER:
      if( v.negative && v.n ) zt_cbor_put_head(a->out, ZT_CBOR_NINT, v.n-1);
      else zt_cbor_put_uint(a->out, v.n);
      break;
    case ZT_JSON_LARGE: return attribute_put_large(a, v.text.raw);
    case ZT_JSON_REAL:  return attribute_put_real(a, v.text.raw);
    case ZT_JSON_TEXT:  return attribute_put_string(a, v.text);
    case ZT_JSON_ARRAY: case ZT_JSON_OBJECT: return attribute_put_items(a, v.type);
    default: zt_cbor_put_null(a->out); break;
  }
  return a->err->rc==SQLITE_OK;
}

/* Put JSON that must be an array, or an object. False: it is another value; or a failure. */
static bool attribute_put_document(zt_text json, zt_json_type type, zt_cbor_out *out,
                                   zt_error *err){
  attribute_json a = { .out = out, .err = err };
  zt_json_read_init(&a.reader, "JSON value", (zt_span){ (const uint8_t*)json.z, json.n }, err);
  if( zt_json_read_peek(&a.reader)!=type ) return false;
  zt_cbor_order_init(&a.order, out, NULL);
  if( attribute_put_json(&a) ) zt_json_read_finish(&a.reader);
  zt_cbor_order_clear(&a.order);
  sqlite3_free(a.room);
  err->rule = NULL;   /* Rules are about files */
  return err->rc==SQLITE_OK;
}

/* --- SQL to CBOR --- */

/* True with the type's meaning; the type NULL means the SQL value's own. */
static bool attribute_read_type(sqlite3_value *value, sqlite3_value *type, zt_value_type *out,
                                zt_error *err){
  const zt_text word = zt_value_text(type);
  if( sqlite3_value_type(type)==SQLITE_NULL ){
    switch( sqlite3_value_type(value) ){
      case SQLITE_INTEGER: *out = ZT_VALUE_INTEGER; break;
      case SQLITE_FLOAT:   *out = ZT_VALUE_REAL; break;
      case SQLITE_TEXT:    *out = ZT_VALUE_TEXT; break;
      case SQLITE_BLOB:    *out = ZT_VALUE_BYTES; break;
      default:             *out = ZT_VALUE_NULL; break;
    }
    return true;
  }
  for(size_t i=0; i<sizeof(attribute_types)/sizeof(*attribute_types); i++){
    *out = (zt_value_type)i;
    if( word.z && word.n==strlen(attribute_types[i])
     && zt_equal(word.z, attribute_types[i], word.n) ) return true;
  }
  if( sqlite3_value_type(type)==SQLITE_TEXT && !word.z ) zt_fail_nomem(err);
  else zt_fail(err, SQLITE_ERROR, "unknown type '%.*s' of an attribute; the types are null, true,"
               " false, integer, real, text, array, object and blob", zt_shown(word),
               word.z ? word.z : "");
  return false;
}

static void attribute_put_text(zt_text text, zt_cbor_out *out, zt_error *err){
  if( zt_utf8_valid((const uint8_t*)text.z, text.n) ) zt_cbor_put_text(out, text);
  else zt_fail(err, SQLITE_ERROR, "value '%.*s' is not UTF-8; a BLOB can hold it", zt_shown(text),
               text.z);
}

/* A number of 53 bits and zeros. */
static bool attribute_put_exact(sqlite3_int64 i, zt_cbor_out *out){
  const double real = (double)i;
  if( real>=0x1p63 || (sqlite3_int64)real!=i ) return false;
  zt_cbor_put_shortest(out, real);
  return true;
}

/* Put a TEXT. False: it is not of that type; or a failure. */
static bool attribute_put_of_text(zt_text text, zt_value_type type, zt_cbor_out *out,
                                  zt_error *err){
  switch( type ){
    case ZT_VALUE_TEXT:    attribute_put_text(text, out, err); return true;
    case ZT_VALUE_INTEGER: return attribute_put_decimal(text, out);
    case ZT_VALUE_ARRAY:   return attribute_put_document(text, ZT_JSON_ARRAY, out, err);
    case ZT_VALUE_MAP:     return attribute_put_document(text, ZT_JSON_OBJECT, out, err);
    default:               return false;
  }
}

static bool attribute_put_of_integer(sqlite3_int64 i, zt_value_type type, zt_cbor_out *out){
  switch( type ){
    case ZT_VALUE_INTEGER: zt_cbor_put_int(out, i); return true;
    case ZT_VALUE_REAL:    return attribute_put_exact(i, out);
    case ZT_VALUE_TRUE: case ZT_VALUE_FALSE:
      zt_cbor_put_bool(out, type==ZT_VALUE_TRUE);
      return i==(type==ZT_VALUE_TRUE);
    default: return false;
  }
}

/* Put a value. False: it is not of that type; or a failure. */
static bool attribute_put(sqlite3_value *value, zt_value_type type, zt_cbor_out *out,
                          zt_error *err){
  zt_span bytes;
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER: return attribute_put_of_integer(sqlite3_value_int64(value), type, out);
    case SQLITE_FLOAT:
      zt_cbor_put_shortest(out, sqlite3_value_double(value));
      return type==ZT_VALUE_REAL;
    case SQLITE_TEXT: {
      const zt_text text = zt_value_text(value);
      if( text.z ) return attribute_put_of_text(text, type, out, err);
      zt_fail_nomem(err);
      return false;
    }
    case SQLITE_BLOB:
      bytes.p = sqlite3_value_blob(value);
      bytes.n = (size_t)sqlite3_value_bytes(value);
      if( bytes.n && !bytes.p ) zt_fail_nomem(err);
      zt_cbor_put_bytes(out, bytes);
      return type==ZT_VALUE_BYTES;
    default:
      if( type==ZT_VALUE_REAL ) zt_cbor_put_shortest(out, NAN);
      else zt_cbor_put_null(out);
      return type==ZT_VALUE_REAL || type==ZT_VALUE_NULL;
  }
}

static int attribute_fail(sqlite3_value *value, zt_value_type type, zt_error *err){
  const zt_text text = zt_value_text(value);
  const char *word = attribute_types[type];
  switch( sqlite3_value_type(value) ){
    case SQLITE_NULL: return zt_fail(err, SQLITE_ERROR, "value NULL is not of type %s", word);
    case SQLITE_BLOB: return zt_fail(err, SQLITE_ERROR, "a BLOB value is not of type %s", word);
    default: break;
  }
  if( !text.z ) return zt_fail_nomem(err);
  if( type==ZT_VALUE_INTEGER && attribute_is_decimal(text) ){
    return zt_fail(err, SQLITE_ERROR, "integer %.*s is beyond 64 bits; type 'text' keeps its"
                   " digits", zt_shown(text), text.z);
  }
  return zt_fail(err, SQLITE_ERROR, "value '%.*s' is not of type %s", zt_shown(text), text.z, word);
}

int zt_attribute_cbor(sqlite3_value *value, sqlite3_value *type, zt_cbor_out *out, zt_error *err){
  const size_t n = out->n;
  zt_value_type meaning;
  assert( out->err==err );
  if( attribute_read_type(value, type, &meaning, err)
   && !attribute_put(value, meaning, out, err) && !err->rc ) attribute_fail(value, meaning, err);
  if( err->rc ) out->n = n;
  return err->rc;
}

/* --- To SQL --- */

const char *zt_attribute_type_of(const zt_value *value){
  return attribute_types[value->type];
}

/* An integer of any size: INTEGER if it fits in SQLite's, else decimal TEXT. */
static void attribute_result_integer(sqlite3_context *ctx, const zt_value *v){
  sqlite3_str *out;
  if( !v->bytes.p && v->u<=INT64_MAX ){
    sqlite3_result_int64(ctx, v->negative ? -1-(sqlite3_int64)v->u : (sqlite3_int64)v->u);
    return;
  }
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  zt_value_integer(v, out);
  zt_result_str(ctx, out);
}

void zt_attribute_result_value(sqlite3_context *ctx, const zt_container *c, const zt_value *v,
                               zt_interrupt interrupt){
  switch( v->type ){
    case ZT_VALUE_NULL:    break;
    case ZT_VALUE_FALSE: case ZT_VALUE_TRUE:
      sqlite3_result_int(ctx, v->type==ZT_VALUE_TRUE);
      break;
    case ZT_VALUE_INTEGER: attribute_result_integer(ctx, v); break;
    case ZT_VALUE_REAL:    sqlite3_result_double(ctx, v->real); break;
    case ZT_VALUE_TEXT:    zt_result_text(ctx, v->text); break;
    case ZT_VALUE_BYTES:
      sqlite3_result_blob64(ctx, v->bytes.n ? (const void*)v->bytes.p : "", v->bytes.n,
                            SQLITE_TRANSIENT);
      break;
    case ZT_VALUE_ARRAY: case ZT_VALUE_MAP: zt_result_value(ctx, c, v, interrupt); break;
  }
}
