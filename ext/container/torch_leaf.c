/* Values that are not tensors. See torch_leaf.h. */
#include "container/torch_leaf.h"

#include "container/pickle_result.h"
#include "core/host.h"
#include "core/json.h"

#define LEAF_NAMES 8          /* Nesting of callees that are calls' results */
#define LEAF_QUANTIZER 16     /* Parts of a quantizer: torch has 3 or 4 */
#define LEAF_KEY_ITEMS 16     /* Items of a tuple in a key, */
#define LEAF_KEY_DEPTH 4      /* and its nesting; more is not shown */
#define LEAF_KEY_INTEGER 64   /* Bytes of an integer in a key: conversion takes quadratic time */

/* --- Names --- */

/* The value that names an opaque one: a call's callee, a storage's class. */
static void leaf_get_named(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out){
  zt_pickle_value class;
  zt_pickle_get(p, node, out);
  for(int i=0; i<LEAF_NAMES && out->kind==ZT_PICKLE_CALL; i++) zt_pickle_get(p, out->callee, out);
  if( out->kind==ZT_PICKLE_PERSISTENT ){
    zt_pickle_get(p, zt_pickle_child(p, out->args, 1), &class);
    if( class.kind==ZT_PICKLE_GLOBAL ) *out = class;
  }
}

/* Append a text of two, joined by a dot. */
static void leaf_put_dotted(zt_text module, zt_text name, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_TEXT, module.n+1+name.n);
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)module.z, module.n });
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)".", 1 });
  zt_cbor_put_items(out, (zt_span){ (const uint8_t*)name.z, name.n });
}

static void leaf_put_name(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_value value;
  char extension[40];
  leaf_get_named(p, node, &value);
  if( value.kind==ZT_PICKLE_GLOBAL ){
    leaf_put_dotted(value.module, value.name, out);
  }else if( value.kind==ZT_PICKLE_EXTENSION ){
    sqlite3_snprintf(sizeof(extension), extension, "copyreg.extension_%lld",
                     (long long)value.integer);
    zt_cbor_put_text(out, (zt_text){ extension, strlen(extension) });
  }else{
    zt_cbor_put_text(out, value.kind==ZT_PICKLE_PERSISTENT ? ZT_TEXT("persistent id")
                                                           : ZT_TEXT("unknown"));
  }
}

/* --- Sizes --- */

/* A value that does not fit took time, too. */
static bool leaf_take(uint64_t *remaining, uint64_t n){
  const bool fits = n<=*remaining;
  *remaining -= fits ? n : *remaining;
  return fits;
}

static bool leaf_fits(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *remaining);

static bool leaf_items_fit(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *remaining){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    if( !leaf_fits(p, node, depth+1, remaining) ) return false;
  }
  return true;
}

static bool leaf_part_fits(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *remaining){
  return !node || (leaf_take(remaining, 8) && leaf_fits(p, node, depth+1, remaining));
}

static bool leaf_call_fits(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *remaining){
  zt_pickle_result result;
  zt_pickle_value call;
  zt_pickle_get(p, node, &call);
  if( zt_pickle_read_result(p, node, ZT_TORCH_SHOWN_MAX, &result) ){
    return leaf_take(remaining, zt_pickle_result_size(&result));
  }
  return leaf_part_fits(p, call.args, depth, remaining)
      && leaf_part_fits(p, call.keywords, depth, remaining)
      && leaf_part_fits(p, call.state, depth, remaining)
      && leaf_part_fits(p, call.list, depth, remaining)
      && leaf_part_fits(p, call.dict, depth, remaining);
}

/* True if a value can be shown in *remaining bytes, which become fewer. */
static bool leaf_fits(const zt_pickle *p, zt_pickle_node node, int depth, uint64_t *remaining){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( depth>ZT_TORCH_SHOWN_DEPTH || !leaf_take(remaining, 9+value.bytes.n) ) return false;
  if( value.kind<ZT_PICKLE_TUPLE ) return true;
  if( value.kind<=ZT_PICKLE_DICT ) return leaf_items_fit(p, node, depth, remaining);
  if( value.kind==ZT_PICKLE_CALL && !leaf_call_fits(p, node, depth, remaining) ) return false;
  leaf_get_named(p, node, &value);
  return leaf_take(remaining, value.kind==ZT_PICKLE_GLOBAL ? 24+value.module.n+value.name.n : 48);
}

uint64_t zt_torch_size(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown,
                       uint64_t most, bool *fits){
  uint64_t remaining = most;
  zt_pickle_result result;
  zt_pickle_value value;
  *fits = true;
  zt_pickle_get(p, node, &value);
  if( shown>ZT_TORCH_NAMED ) return 24;
  if( value.kind<=ZT_PICKLE_TRUE ) return 1;
  if( value.kind<ZT_PICKLE_TUPLE ) return 9+value.bytes.n;
  if( value.kind==ZT_PICKLE_CALL && zt_pickle_read_result(p, node, SIZE_MAX, &result) ){
    return zt_pickle_result_size(&result);
  }
  if( shown==ZT_TORCH_WHOLE ){
    *fits = value.kind!=ZT_PICKLE_CALL
         || (leaf_part_fits(p, value.args, 0, &remaining)
             && leaf_part_fits(p, value.keywords, 0, &remaining));
  }
  leaf_get_named(p, node, &value);
  return most-remaining
       + (value.kind==ZT_PICKLE_GLOBAL ? 24+value.module.n+value.name.n : 48);
}

/* --- Values --- */

/* An integer's magnitude, big-endian. True if the integer is negative: -1 minus that. */
static bool leaf_get_magnitude(zt_span bytes, uint8_t *out){
  const bool negative = bytes.p[bytes.n-1]>>7;
  for(size_t i=0; i<bytes.n; i++){
    uint8_t byte = bytes.p[bytes.n-1-i];
    out[i] = negative ? (uint8_t)~byte : byte;
  }
  return negative;
}

static void leaf_put_integer(const zt_pickle_value *value, zt_cbor_out *out){
  const zt_span bytes = value->bytes;
  bool negative;
  uint8_t *p;
  if( !bytes.p ){
    zt_cbor_put_int(out, value->integer);
    return;
  }
  p = sqlite3_malloc64(bytes.n);
  if( !p ){
    zt_fail_nomem(out->err);
    return;
  }
  negative = leaf_get_magnitude(bytes, p);
  zt_cbor_put_bignum(out, negative, (zt_span){ p, bytes.n });
  sqlite3_free(p);
}

static void leaf_put(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out);

static void leaf_put_items(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( value.kind==ZT_PICKLE_DICT ) zt_cbor_put_head(out, ZT_CBOR_MAP, value.n/2);
  else zt_cbor_put_head(out, ZT_CBOR_ARRAY, value.n);
  while( (node = zt_pickle_next(p, &c))!=0 ) leaf_put(p, node, out);
}

static void leaf_put_part(const zt_pickle *p, zt_text key, zt_pickle_node node, zt_cbor_out *out){
  if( !node ) return;
  zt_cbor_put_text(out, key);
  leaf_put(p, node, out);
}

static void leaf_put_opaque(const zt_pickle *p, zt_pickle_node node, uint32_t members,
                            zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 1+members);
  zt_cbor_put_text(out, ZT_TEXT("$opaque"));
  leaf_put_name(p, node, out);
}

static void leaf_put_call(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_value call;
  zt_pickle_get(p, node, &call);
  leaf_put_opaque(p, node, 1u+(call.keywords!=0)+(call.state!=0)+(call.list!=0)+(call.dict!=0),
                  out);
  leaf_put_part(p, ZT_TEXT("args"), call.args, out);
  leaf_put_part(p, ZT_TEXT("kwargs"), call.keywords, out);
  leaf_put_part(p, ZT_TEXT("state"), call.state, out);
  leaf_put_part(p, ZT_TEXT("items"), call.list, out);
  leaf_put_part(p, call.list ? ZT_TEXT("pairs") : ZT_TEXT("items"), call.dict, out);
}

/* Append a value that fits. */
static void leaf_put(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  zt_pickle_result result;
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  switch( value.kind ){
    case ZT_PICKLE_NONE:    zt_cbor_put_null(out); break;
    case ZT_PICKLE_FALSE:   zt_cbor_put_bool(out, false); break;
    case ZT_PICKLE_TRUE:    zt_cbor_put_bool(out, true); break;
    case ZT_PICKLE_INTEGER: leaf_put_integer(&value, out); break;
    case ZT_PICKLE_REAL:    zt_cbor_put_real(out, value.real); break;
    case ZT_PICKLE_TEXT:
      zt_cbor_put_text(out, (zt_text){ (const char*)value.bytes.p, value.bytes.n });
      break;
    case ZT_PICKLE_BYTES:   zt_cbor_put_bytes(out, value.bytes); break;
    case ZT_PICKLE_TUPLE: case ZT_PICKLE_LIST: case ZT_PICKLE_SET: case ZT_PICKLE_DICT:
      leaf_put_items(p, node, out);
      break;
    case ZT_PICKLE_CALL:
      if( zt_pickle_read_result(p, node, ZT_TORCH_SHOWN_MAX, &result) ){
        zt_pickle_put_result(&result, out);
      }else{
        leaf_put_call(p, node, out);
      }
      break;
    default: leaf_put_opaque(p, node, 0, out); break;
  }
}

void zt_torch_put(const zt_pickle *p, zt_pickle_node node, zt_torch_shown shown,
                  zt_cbor_out *out){
  zt_pickle_result result;
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( shown>ZT_TORCH_NAMED ){
    zt_cbor_put_head(out, ZT_CBOR_MAP, 1);
    zt_cbor_put_text(out, ZT_TEXT("$opaque"));
    zt_cbor_put_text(out, shown==ZT_TORCH_CYCLE ? ZT_TEXT("cycle") : ZT_TEXT("repeated"));
  }else if( value.kind!=ZT_PICKLE_CALL ){
    leaf_put(p, node, out);
  }else if( zt_pickle_read_result(p, node, SIZE_MAX, &result) ){
    zt_pickle_put_result(&result, out);
  }else if( shown==ZT_TORCH_NAMED ){
    leaf_put_opaque(p, node, 0, out);
  }else{
    leaf_put_opaque(p, node, 1u+(value.keywords!=0), out);
    leaf_put_part(p, ZT_TEXT("args"), value.args, out);
    leaf_put_part(p, ZT_TEXT("kwargs"), value.keywords, out);
  }
}

/* --- Quantizers --- */

void zt_torch_put_quantizer(const zt_pickle *p, zt_pickle_node node, zt_cbor_out *out){
  uint64_t remaining = ZT_TORCH_SHOWN_MAX;
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_TUPLE || value.n>LEAF_QUANTIZER ){
    zt_cbor_put_null(out);
    return;
  }
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, value.n);
  c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    const zt_pickle_kind kind = zt_pickle_kind_of(p, node);
    if( kind==ZT_PICKLE_GLOBAL ) leaf_put_name(p, node, out);
    else if( kind>ZT_PICKLE_DICT ) leaf_put_opaque(p, node, 0, out);
    else if( leaf_fits(p, node, 0, &remaining) ) leaf_put(p, node, out);
    else zt_cbor_put_null(out);
  }
}

/* The approximate bytes that zt_torch_put_quantizer() appends. */
static uint64_t leaf_quantizer_size(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  uint64_t size = 64, remaining = ZT_TORCH_SHOWN_MAX;
  for(int i=0; i<LEAF_QUANTIZER && (node = zt_pickle_next(p, &c))!=0; i++){
    size += 64;
    leaf_fits(p, node, 0, &remaining);
  }
  return size+ZT_TORCH_SHOWN_MAX-remaining;
}

uint64_t zt_torch_view_size(const zt_pickle *p, const zt_torch_view *v){
  uint64_t size = 256+v->key.n+v->location.n+v->dtype_name.n+v->rank*(uint64_t)48;
  return v->quantizer ? size+leaf_quantizer_size(p, v->quantizer) : size;
}

/* --- Keys --- */

static void leaf_show_integer(const zt_pickle_value *value, sqlite3_str *out){
  uint8_t magnitude[LEAF_KEY_INTEGER];
  const zt_span bytes = value->bytes;
  if( !bytes.p ){
    sqlite3_str_appendf(out, "%lld", (long long)value->integer);
  }else if( bytes.n>sizeof(magnitude) ){
    sqlite3_str_appendall(out, "...");
  }else{
    bool negative = leaf_get_magnitude(bytes, magnitude);
    zt_json_bignum(out, (zt_span){ magnitude, bytes.n }, negative);
  }
}

static void leaf_show(const zt_pickle *p, zt_pickle_node node, int depth, int most,
                      sqlite3_str *out);

static void leaf_show_tuple(const zt_pickle *p, zt_pickle_node node, int depth, int most,
                            sqlite3_str *out){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  if( depth==LEAF_KEY_DEPTH || value.n>LEAF_KEY_ITEMS ){
    sqlite3_str_appendall(out, "...");
    return;
  }
  sqlite3_str_append(out, "(", 1);
  for(uint32_t i=0; i<value.n; i++){
    if( i ) sqlite3_str_append(out, ", ", 2);
    leaf_show(p, zt_pickle_next(p, &c), depth+1, most, out);
    if( sqlite3_str_length(out)>most ) break;
  }
  sqlite3_str_appendall(out, value.n==1 ? ",)" : ")");
}

static void leaf_show(const zt_pickle *p, zt_pickle_node node, int depth, int most,
                      sqlite3_str *out){
  zt_pickle_result result;
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  switch( value.kind ){
    case ZT_PICKLE_NONE:    sqlite3_str_appendall(out, "None"); break;
    case ZT_PICKLE_FALSE:   sqlite3_str_appendall(out, "False"); break;
    case ZT_PICKLE_TRUE:    sqlite3_str_appendall(out, "True"); break;
    case ZT_PICKLE_REAL:    zt_pickle_show_real(value.real, out); break;
    case ZT_PICKLE_INTEGER: leaf_show_integer(&value, out); break;
    case ZT_PICKLE_TEXT:
      sqlite3_str_append(out, (const char*)value.bytes.p, (int)value.bytes.n);
      break;
    case ZT_PICKLE_BYTES:   zt_hex(out, value.bytes); break;
    case ZT_PICKLE_GLOBAL:
      sqlite3_str_append(out, value.module.z, (int)value.module.n);
      sqlite3_str_append(out, ".", 1);
      sqlite3_str_append(out, value.name.z, (int)value.name.n);
      break;
    case ZT_PICKLE_TUPLE:   leaf_show_tuple(p, node, depth, most, out); break;
    default:
      if( zt_pickle_read_result(p, node, ZT_PICKLE_KEY_BYTES, &result) ){
        zt_pickle_show_result(&result, out);
      }else{
        sqlite3_str_appendall(out, "...");
      }
      break;
  }
}

void zt_torch_show_key(const zt_pickle *p, zt_pickle_node node, int most, sqlite3_str *out){
  leaf_show(p, node, 0, most, out);
}
