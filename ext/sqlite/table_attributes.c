/*
** zt_attributes(source, on_error): one row per key of the top level of `attributes`: the file's own
** first (object is NULL), then each object's, in the manifest's order.
**
**   CREATE TABLE zt_attributes(path, object, key, value, type, source HIDDEN, on_error HIDDEN);
**
** value is a SQL value, arrays and maps as JSON text; type has json_each()'s words, and blob.
** Integers beyond 64 signed bits are decimal text of type integer; NaN, which SQLite has no value
** for, is NULL of type real.
*/
#include "core/json.h"
#include "sqlite/tables.h"

enum {
  ATTRIBUTES_PATH, ATTRIBUTES_OBJECT, ATTRIBUTES_KEY, ATTRIBUTES_VALUE, ATTRIBUTES_TYPE,
  ATTRIBUTES_COUNT
};

typedef struct attributes_row {
  zt_attribute_walk walk;
  zt_cbor key, value;      /* Before the current row's */
} attributes_row;

static bool attributes_next(zt_scan *scan){
  attributes_row *r = scan->row;
  if( !zt_attributes_next(&r->walk) ) return false;
  r->key = r->walk.cbor;
  zt_cbor_skip(&r->walk.cbor);
  r->value = r->walk.cbor;
  zt_cbor_skip(&r->walk.cbor);
  return true;
}

/* Where the key is in the manifest. */
static uint64_t attributes_rowid(zt_scan *scan){
  const attributes_row *r = scan->row;
  return (uint64_t)(r->key.p - r->key.base);
}

static bool attributes_first(zt_scan *scan){
  attributes_row *r = scan->row;
  zt_attributes a = scan->on_file ? zt_container_attributes(scan->container)
                  : zt_scan_object(scan)->attributes;
  zt_attributes_begin(scan->container, &a, &r->walk);
  return attributes_next(scan);
}

/* A bignum (RFC 7049, 2.4.2) that 64 bits hold becomes the integer that it is. */
static bool attributes_shorten(zt_cbor_item *item, bool negative){
  size_t zeros = 0, n = (size_t)item->n;
  while( zeros<n && item->p[zeros]==0 ) zeros++;
  if( n-zeros>8 ) return false;
  item->type = negative ? ZT_CBOR_NINT : ZT_CBOR_UINT;
  item->n = zt_be(item->p+zeros, (unsigned)(n-zeros));
  return true;
}

/* Read the item that the value is, tags dropped; *bignum is 2 or 3 if the innermost one was that of
** a bignum that can be shown as an integer but is beyond 64 bits, else 0. */
static void attributes_untag(zt_cbor *c, zt_cbor_item *item, int *bignum){
  *bignum = 0;
  while( zt_cbor_next(c, item) && item->type==ZT_CBOR_TAG ){
    *bignum = item->n==2 || item->n==3 ? (int)item->n : 0;
  }
  if( *bignum==0 ) return;
  if( item->type!=ZT_CBOR_BYTES || item->n>ZT_BIGNUM_MAX || attributes_shorten(item, *bignum==3) ){
    *bignum = 0;
  }
}

static const char *attributes_type_of(const zt_cbor_item *item, int bignum){
  switch( item->type ){
    case ZT_CBOR_UINT: case ZT_CBOR_NINT: return "integer";
    case ZT_CBOR_BYTES: return bignum ? "integer" : "blob";
    case ZT_CBOR_TEXT: return "text";
    case ZT_CBOR_ARRAY: return "array";
    case ZT_CBOR_MAP: return "object";
    default: break;
  }
  if( item->is_float ) return "real";
  return item->n==ZT_CBOR_TRUE ? "true" : item->n==ZT_CBOR_FALSE ? "false" : "null";
}

/* An integer of any size: INTEGER if SQLite has it, else decimal TEXT. */
static void attributes_result_integer(sqlite3_context *ctx, const zt_cbor_item *item, int bignum){
  sqlite3_str *out;
  if( !bignum && item->n<=INT64_MAX ){
    sqlite3_result_int64(ctx,
                         item->type==ZT_CBOR_UINT ? (sqlite3_int64)item->n
                         : -1-(sqlite3_int64)item->n);
    return;
  }
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  if( bignum ) zt_json_bignum(out, (zt_span){ item->p, (size_t)item->n }, bignum==3);
  else zt_json_integer(out, item);
  zt_result_str(ctx, out);
}

static void attributes_result_value(sqlite3_context *ctx, zt_cbor at){
  zt_cbor c = at;
  zt_cbor_item item;
  sqlite3_str *out;
  int bignum;
  attributes_untag(&c, &item, &bignum);
  switch( item.type ){
    case ZT_CBOR_UINT: case ZT_CBOR_NINT:
      attributes_result_integer(ctx, &item, 0);
      break;
    case ZT_CBOR_BYTES:
      if( bignum ) attributes_result_integer(ctx, &item, bignum);
      else sqlite3_result_blob64(ctx, item.n ? (const void*)item.p : "", item.n, SQLITE_TRANSIENT);
      break;
    case ZT_CBOR_TEXT:
      zt_result_text(ctx, (zt_text){ (const char*)item.p, (size_t)item.n });
      break;
    case ZT_CBOR_ARRAY: case ZT_CBOR_MAP:
      out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
      zt_json_item(out, &at);
      zt_result_json(ctx, out);
      break;
    default:
      if( item.is_float ) sqlite3_result_double(ctx, item.real);
      else if( item.n==ZT_CBOR_TRUE || item.n==ZT_CBOR_FALSE ){
        sqlite3_result_int(ctx, item.n==ZT_CBOR_TRUE);
      }
      break;
  }
}

static void attributes_result_key(sqlite3_context *ctx, zt_cbor key){
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  zt_json_key(out, &key);
  zt_result_str(ctx, out);
}

static void attributes_column(zt_scan *scan, sqlite3_context *ctx, int i){
  const attributes_row *r = scan->row;
  zt_cbor value = r->value;
  zt_cbor_item item;
  int bignum;
  switch( i ){
    case ATTRIBUTES_PATH:
      if( scan->path ) sqlite3_result_text(ctx, scan->path, -1, SQLITE_TRANSIENT);
      break;
    case ATTRIBUTES_OBJECT:
      if( !scan->on_file ) zt_result_text(ctx, zt_container_name(scan->container, scan->object));
      break;
    case ATTRIBUTES_KEY:    attributes_result_key(ctx, r->key); break;
    case ATTRIBUTES_VALUE:  attributes_result_value(ctx, r->value); break;
    case ATTRIBUTES_TYPE:
      attributes_untag(&value, &item, &bignum);
      zt_result_static(ctx, attributes_type_of(&item, bignum));
      break;
  }
}

const zt_table zt_table_attributes = {
  .name = "zt_attributes",
  .visible = "path TEXT, object TEXT, key TEXT, value, type TEXT",
  .nVisible = ATTRIBUTES_COUNT,
  .arguments = { "on_error" },
  .rows = ZT_ROWS_FILES_AND_OBJECTS,
  .iPath = ATTRIBUTES_PATH,
  .iObject = ATTRIBUTES_OBJECT,
  .row_size = sizeof(attributes_row),
  .first = attributes_first,
  .next = attributes_next,
  .rowid = attributes_rowid,
  .column = attributes_column,
};
