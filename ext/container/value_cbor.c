/* Values as deterministic CBOR. See value_cbor.h. */
#include "container/value_cbor.h"

#include <assert.h>
#include "core/cbor_order.h"

#define VALUE_CBOR_POLL 256   /* Values between checks for an interrupt */

/* Values on their way. */
typedef struct value_writer {
  zt_cbor_order order;
  zt_cbor_out *out;
  const zt_container *container;
  const zt_interrupt *interrupt;
  zt_error *err;
  uint64_t steps;
  int keys;            /* Arrays and maps around the value that are keys */
} value_writer;

static bool value_fail(const value_writer *v, const char *message){
  zt_fail(v->err, SQLITE_ERROR, "%s", message);
  return false;
}

/* Put all but arrays and maps. */
static bool value_put_scalar(value_writer *v, const zt_value *value){
  switch( value->type ){
    case ZT_VALUE_NULL:  zt_cbor_put_null(v->out); break;
    case ZT_VALUE_FALSE: zt_cbor_put_bool(v->out, false); break;
    case ZT_VALUE_TRUE:  zt_cbor_put_bool(v->out, true); break;
    case ZT_VALUE_REAL:  zt_cbor_put_shortest(v->out, value->real); break;
    case ZT_VALUE_TEXT:  zt_cbor_put_text(v->out, value->text); break;
    case ZT_VALUE_BYTES: zt_cbor_put_bytes(v->out, value->bytes); break;
    default:
      zt_cbor_put_head(v->out, value->negative ? ZT_CBOR_NINT : ZT_CBOR_UINT, value->u);
      break;
  }
  return v->err->rc==SQLITE_OK;
}

static bool value_check(const value_writer *v, const zt_value *value){
  if( value->type==ZT_VALUE_INTEGER && value->bytes.p ){
    return value_fail(v, "an integer beyond 64 bits cannot be written as a number;"
                      " it can be written as text");
  }
  return !value->tagged || value_fail(v, "a value with a CBOR tag cannot be written: tags cannot be"
                                         " kept");
}

static bool value_put(value_writer *v, zt_walk *w, const zt_value *value);
static bool value_put_contents(value_writer *v, zt_walk *w, zt_level *level);

/* Put a value that the walk stands before, or behind. */
static bool value_put_alone(value_writer *v, const zt_value *value){
  zt_level level;
  zt_walk w;
  bool ok;
  if( !value_check(v, value) ) return false;
  if( value->type!=ZT_VALUE_ARRAY && value->type!=ZT_VALUE_MAP ) return value_put_scalar(v, value);
  zt_walk_begin(v->container, value, &w, &level, v->err);
  ok = value_put_contents(v, &w, &level);
  zt_walk_end(&w);
  return ok;
}

static bool value_put_key(value_writer *v, const zt_value *key){
  const bool open = key->type==ZT_VALUE_ARRAY || key->type==ZT_VALUE_MAP;
  bool ok;
  if( v->keys>0 && key->type==ZT_VALUE_BYTES ){   /* A walk shows arrays in keys so */
    return value_fail(v, "a key that has keys of bytes or arrays cannot be written");
  }
  v->keys += open;
  ok = value_put_alone(v, key);
  v->keys -= open;
  return ok;
}

/* Put the items of the array or map that the walk has just entered. */
static bool value_put_contents(value_writer *v, zt_walk *w, zt_level *level){
  zt_cbor_opened opened;
  zt_value key, value;
  if( !zt_cbor_order_open(&v->order, level->map, &opened) ) return false;
  while( zt_walk_next(w, level, &key, &value) ){
    if( level->map ){
      if( !zt_cbor_order_key(&v->order) || !value_put_key(v, &key)
       || !zt_cbor_order_value(&v->order) ) return false;
    }else if( !zt_cbor_order_item(&v->order, &opened) ) return false;
    if( !value_put(v, w, &value) ) return false;
    if( ++v->steps%VALUE_CBOR_POLL==0 && zt_interrupt_check(v->interrupt, v->err) ) return false;
  }
  return v->err->rc==SQLITE_OK && zt_cbor_order_close(&v->order, &opened);
}

/* Put the value of the walk's last step. */
static bool value_put(value_writer *v, zt_walk *w, const zt_value *value){
  zt_level level;
  if( !value_check(v, value) ) return false;
  if( value->type!=ZT_VALUE_ARRAY && value->type!=ZT_VALUE_MAP ) return value_put_scalar(v, value);
  zt_walk_enter(w, &level);
  return value_put_contents(v, w, &level);
}

int zt_value_cbor(const zt_container *c, const zt_value *value, const zt_interrupt *interrupt,
                  zt_cbor_out *out, zt_error *err){
  value_writer v = { .out = out, .container = c, .interrupt = interrupt, .err = err };
  const size_t n = out->n;
  assert( out->err==err );
  zt_cbor_order_init(&v.order, out, interrupt);
  value_put_alone(&v, value);
  zt_cbor_order_clear(&v.order);
  if( err->rc ) out->n = n;
  return err->rc;
}
