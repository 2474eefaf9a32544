/* Walks through values, and values as JSON. See value.h. */
#include "container/value.h"

#include <assert.h>
#include "container/driver.h"
#include "core/json.h"

#define VALUE_POLL 256   /* Values between checks for an interrupt */

/* --- Walks --- */

static bool value_is_open(const zt_value *v){
  return v->type==ZT_VALUE_ARRAY || v->type==ZT_VALUE_MAP;
}

static void value_enter(zt_walk *w, const zt_value *of, zt_level *level){
  *level = (zt_level){ .map = of->type==ZT_VALUE_MAP, .over = !value_is_open(of) };
  if( !level->over ) w->container->driver->steps->enter(w, of, level);
}

void zt_walk_begin(const zt_container *c, const zt_value *of, zt_walk *out, zt_level *level,
                   zt_error *err){
  *out = (zt_walk){ .container = c, .err = err };
  value_enter(out, of, level);
}

void zt_walk_end(zt_walk *w){
  for(int i=0; i<ZT_WALK_TEXTS; i++) sqlite3_free(w->scratch[i].z);
  memset(w->scratch, 0, sizeof(w->scratch));
}

bool zt_walk_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  const zt_steps *steps = w->container->driver->steps;
  *key = *value = ZT_VALUE_NONE;
  if( level->over || w->err->rc ) return false;
  if( w->pending ) steps->skip(w, &w->last);
  level->over = w->err->rc || !steps->next(w, level, key, value);
  w->pending = !level->over && value_is_open(value);
  if( w->pending ) w->last = *value;
  return !level->over;
}

void zt_walk_enter(zt_walk *w, zt_level *level){
  assert( w->pending );
  w->pending = false;
  value_enter(w, &w->last, level);
}

char *zt_walk_room(zt_walk *w, int which, size_t n){
  char *z;
  if( n<=w->scratch[which].n ) return w->scratch[which].z;
  z = sqlite3_realloc64(w->scratch[which].z, n);
  if( !z ){
    zt_fail_nomem(w->err);
    return NULL;
  }
  w->scratch[which].z = z;
  w->scratch[which].n = n;
  return z;
}

zt_text zt_walk_stored_type(zt_walk *w, const zt_value *value){
  const zt_steps *steps = w->container->driver->steps;
  return steps->stored_type ? steps->stored_type(w, value) : (zt_text){ NULL, 0 };
}

bool zt_value_is_text(const zt_value *v, const char *text){
  return v->type==ZT_VALUE_TEXT && !v->tagged && v->text.n==strlen(text)
      && memcmp(v->text.z, text, v->text.n)==0;
}

/* --- JSON --- */

void zt_value_integer(const zt_value *v, sqlite3_str *out){
  if( v->bytes.p ) zt_json_bignum(out, v->bytes, v->negative);
  else if( !v->negative ) zt_json_uint(out, v->u);
  else if( v->u==UINT64_MAX ) sqlite3_str_appendall(out, "-18446744073709551616");
  else sqlite3_str_appendf(out, "-%llu", (unsigned long long)v->u+1);
}

static void value_write_bytes(const zt_value *v, sqlite3_str *out){
  sqlite3_str_append(out, "\"", 1);
  zt_hex(out, v->bytes);
  sqlite3_str_append(out, "\"", 1);
}

static int value_write(zt_walk *w, const zt_value *v, sqlite3_str *out);

/* Write a member's name, quoted. A non-text key becomes the text of its JSON form. */
static int value_write_key(const zt_walk *w, const zt_value *key, sqlite3_str *out){
  sqlite3_str *name;
  if( key->type==ZT_VALUE_TEXT && !key->tagged ){
    zt_json_text(out, key->text);
    return SQLITE_OK;
  }
  name = sqlite3_str_new(NULL);
  zt_value_name(w->container, key, w->interrupt, name, w->err);
  if( sqlite3_str_errcode(name)==SQLITE_NOMEM ) zt_fail_nomem(w->err);
  else if( sqlite3_str_errcode(name) ) zt_fail(w->err, SQLITE_TOOBIG, "a key is too long");
  zt_json_text(out, (zt_text){ sqlite3_str_value(name), (size_t)sqlite3_str_length(name) });
  sqlite3_free(sqlite3_str_finish(name));
  return w->err->rc;
}

/* Write the items of an array or map that the walk has just entered. */
static int value_write_contents(zt_walk *w, zt_level *level, sqlite3_str *out){
  zt_value key, value;
  bool first = true;
  sqlite3_str_append(out, level->map ? "{" : "[", 1);
  while( zt_walk_next(w, level, &key, &value) ){
    if( !first ) sqlite3_str_append(out, ",", 1);
    first = false;
    if( level->map ){
      if( value_write_key(w, &key, out) ) return w->err->rc;
      sqlite3_str_append(out, ":", 1);
    }
    if( value_write(w, &value, out) ) return w->err->rc;
    if( ++w->steps%VALUE_POLL==0 && zt_interrupt_check(w->interrupt, w->err) ) return w->err->rc;
  }
  sqlite3_str_append(out, level->map ? "}" : "]", 1);
  return w->err->rc;
}

/* Write the value of the walk's last step. */
static int value_write(zt_walk *w, const zt_value *v, sqlite3_str *out){
  zt_level level;
  switch( v->type ){
    case ZT_VALUE_NULL:    sqlite3_str_append(out, "null", 4); break;
    case ZT_VALUE_FALSE:   sqlite3_str_append(out, "false", 5); break;
    case ZT_VALUE_TRUE:    sqlite3_str_append(out, "true", 4); break;
    case ZT_VALUE_INTEGER: zt_value_integer(v, out); break;
    case ZT_VALUE_REAL:    zt_json_real(out, v->real); break;
    case ZT_VALUE_TEXT:    zt_json_text(out, v->text); break;
    case ZT_VALUE_BYTES:   value_write_bytes(v, out); break;
    case ZT_VALUE_ARRAY: case ZT_VALUE_MAP:
      zt_walk_enter(w, &level);
      return value_write_contents(w, &level, out);
  }
  return SQLITE_OK;
}

int zt_value_json(const zt_container *c, const zt_value *value, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err){
  zt_level level;
  zt_walk w;
  zt_walk_begin(c, value, &w, &level, err);
  w.interrupt = interrupt;
  if( value_is_open(value) ) value_write_contents(&w, &level, out);
  else value_write(&w, value, out);
  zt_walk_end(&w);
  return err->rc;
}

int zt_value_name(const zt_container *c, const zt_value *key, const zt_interrupt *interrupt,
                  sqlite3_str *out, zt_error *err){
  if( key->tagged || (key->type!=ZT_VALUE_TEXT && key->type!=ZT_VALUE_BYTES) ){
    return zt_value_json(c, key, interrupt, out, err);
  }
  if( key->type==ZT_VALUE_BYTES ) zt_hex(out, key->bytes);
  else if( key->text.n ) sqlite3_str_append(out, key->text.z, (int)key->text.n);
  return SQLITE_OK;
}
