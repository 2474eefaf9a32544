/* The values of a header in JSON. See json_values.h. */
#include "container/json_values.h"

#include <assert.h>
#include "core/host.h"

void zt_json_values_decode(const zt_container *c, size_t at, zt_error *unused,
                           zt_json_reader *out){
  zt_json_read_init(out, "header", (zt_span){ c->kept.p, (size_t)c->manifest_length }, unused);
  out->p += at;
  out->any_bytes = true;
}

static void json_values_enter(zt_walk *w, const zt_value *of, zt_level *level){
  w->at = of->at+1;   /* After the bracket */
  level->remaining = 0; /* 0 before the first value, 1 after it */
}

static void json_values_skip(zt_walk *w, const zt_value *value){
  zt_error unused = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_values_decode(w->container, (size_t)value->at, &unused, &r);
  zt_json_read_skip(&r);
  w->at = (uint64_t)(r.p-r.base);
}

static bool json_values_set_text(zt_walk *w, int which, zt_json_string text, zt_value *out){
  char *z;
  out->type = ZT_VALUE_TEXT;
  out->text = text.raw;
  if( !text.escaped ) return true;
  z = zt_walk_room(w, which, text.raw.n);
  if( !z ) return false;
  out->text = (zt_text){ z, zt_json_unescape(text, z) };
  return true;
}

/* A real number, or an integer beyond 64 bits, which SQLite reads as real, too. */
static bool json_values_set_real(zt_walk *w, zt_text number, zt_value *out){
  char *z = zt_walk_room(w, ZT_WALK_VALUE, number.n+ZT_JSON_REAL_ROOM);
  if( !z ) return false;
  out->type = ZT_VALUE_REAL;
  out->real = zt_json_read_real(number, z);
  return true;
}

static bool json_values_set_value(zt_walk *w, const zt_json_value *value, zt_value *out){
  switch( value->type ){
    case ZT_JSON_FALSE:  out->type = ZT_VALUE_FALSE; return true;
    case ZT_JSON_TRUE:   out->type = ZT_VALUE_TRUE; return true;
    case ZT_JSON_ARRAY:  out->type = ZT_VALUE_ARRAY; return true;
    case ZT_JSON_OBJECT: out->type = ZT_VALUE_MAP; return true;
    case ZT_JSON_TEXT:   return json_values_set_text(w, ZT_WALK_VALUE, value->text, out);
    case ZT_JSON_LARGE: case ZT_JSON_REAL: return json_values_set_real(w, value->text.raw, out);
    case ZT_JSON_INTEGER:
      out->type = ZT_VALUE_INTEGER;
      out->negative = value->negative && value->n>0;
      out->u = out->negative ? value->n-1 : value->n;
      return true;
    default: return true;   /* null */
  }
}

static bool json_values_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  zt_json_level here = { level->map ? '}' : ']', level->remaining==0 };
  zt_error unused = ZT_ERROR_NONE;
  zt_json_string name;
  zt_json_reader r;
  zt_json_value read;
  bool more;
  zt_json_values_decode(w->container, (size_t)w->at, &unused, &r);
  more = zt_json_read_more(&r, &here);
  level->remaining = 1;
  if( more && level->map ){
    key->at = (uint64_t)(r.p-r.base);
    zt_json_read_key(&r, &name);
    if( !json_values_set_text(w, ZT_WALK_KEY, name, key) ) return false;
  }
  zt_json_read_blanks(&r);
  value->at = (uint64_t)(r.p-r.base);
  if( more ) zt_json_read_next(&r, &read);
  w->at = (uint64_t)(r.p-r.base);
  assert( !unused.rc );
  return more && json_values_set_value(w, &read, value);
}

const zt_steps zt_json_values_steps = {
  .enter = json_values_enter, .next = json_values_next, .skip = json_values_skip
};
