/* The file, object and component that a function's arguments name. See target.h. */
#include "sqlite/target.h"

#include "core/paths.h"
#include "sqlite/open.h"
#include "sqlite/suggest.h"
#include "sqlite/value.h"

#define TARGET_LISTED 16   /* Most components listed in a message */

/* Bytes of one call that are worth its own threads. Tests are built with fewer. */
#ifndef ZT_CALL_WORTH
# define ZT_CALL_WORTH ((uint64_t)8 << 20)
#endif

bool zt_target_null(sqlite3_value *source, sqlite3_value *object){
  return sqlite3_value_type(source)==SQLITE_NULL
      || (object && sqlite3_value_type(object)==SQLITE_NULL);
}

int zt_target_open_image(zt_connection *c, sqlite3_value *blob, zt_container **container,
                         zt_source **source, zt_error *err){
  zt_interrupt interrupt = zt_connection_interrupt(c);
  const uint8_t *p = sqlite3_value_blob(blob);
  zt_span image = { p ? p : (const uint8_t*)"", (size_t)sqlite3_value_bytes(blob) };
  *container = NULL;
  *source = NULL;
  if( zt_source_open_image(image, source, err)
   || zt_container_open(*source, &interrupt, container, err) ){
    zt_source_close(*source);
    *source = NULL;
  }
  return err->rc;
}

int zt_target_check_path(const zt_connection *c, zt_text text, zt_error *err){
  if( c->nofs ){
    return zt_fail(err, SQLITE_ERROR, "the source must be a BLOB: this connection opens no files");
  }
  if( strlen(text.z)!=text.n ){
    return zt_fail(err, SQLITE_ERROR, "the source is a path with U+0000 in it");
  }
  return SQLITE_OK;
}

int zt_target_path(const zt_connection *c, sqlite3_value *source, const char **path, zt_error *err){
  zt_text text;
  *path = NULL;
  if( sqlite3_value_type(source)==SQLITE_BLOB ) return SQLITE_OK;
  if( sqlite3_value_type(source)!=SQLITE_TEXT ){
    return zt_fail(err, SQLITE_ERROR,
                   "the source must be a path (TEXT) or a tensor file (BLOB), not a number");
  }
  text = zt_value_text(source);
  if( !text.z ) return zt_fail_nomem(err);
  *path = text.z;
  return zt_target_check_path(c, text, err);
}

int zt_target_open(zt_connection *c, sqlite3_value *source, bool bytes, zt_target *out,
                   zt_error *err){
  const char *path;
  zt_opened opened;
  zt_stat state;
  out->path = NULL;
  out->container = NULL;
  out->source = NULL;
  out->pool = NULL;
  out->interrupt = zt_connection_interrupt(c);
  zt_float_env_enter(&out->env);
  if( zt_target_path(c, source, &path, err) ) return err->rc;
  err->path = path ? path : "<blob>";
  if( !path ) return zt_target_open_image(c, source, &out->container, &out->source, err);
  if( c->remote && zt_path_is_url(path) ){
    state = (zt_stat){ .kind = ZT_KIND_FILE };
    out->path = sqlite3_mprintf("%s", path);
    if( !out->path ) return zt_fail_nomem(err);
  }else if( zt_paths_one(path, &out->path, &state, err) ) return err->rc;
  err->path = out->path;
  if( zt_open(c, out->path, &state, false, bytes, &opened, err) ) return err->rc;
  out->container = opened.container;
  out->source = opened.source;
  return SQLITE_OK;
}

int zt_target_no_object(const zt_container *c, zt_text name, const zt_interrupt *interrupt,
                        zt_error *err){
  uint32_t n = zt_container_objects(c);
  zt_suggestion s;
  zt_suggest_begin(&s, name, interrupt, err);
  for(uint32_t k=0; k<n && zt_suggest_offer(&s, zt_container_name(c, k)); k++){}
  if( err->rc ) return err->rc;
  err->object = name;
  if( !s.best.z ) return zt_fail(err, SQLITE_ERROR, "no such object");
  return zt_fail(err, SQLITE_ERROR, "no such object; did you mean '%.*s'?", (int)s.best.n,
                 s.best.z);
}

int zt_target_object(zt_target *t, sqlite3_value *name, zt_error *err){
  zt_text text = zt_value_text(name);
  int64_t i = text.z ? zt_container_find(t->container, text) : -1;
  if( i>=0 ){
    zt_container_object(t->container, (uint32_t)i, &t->object);
    err->object = t->object.name;
    return SQLITE_OK;
  }
  if( sqlite3_value_type(name)==SQLITE_BLOB ){
    return zt_fail(err, SQLITE_ERROR, "the object's name must be TEXT, not a BLOB");
  }
  if( !text.z ) return zt_fail_nomem(err);
  return zt_target_no_object(t->container, text, &t->interrupt, err);
}

static zt_text target_role_of(const zt_target *t, uint32_t k){
  zt_component component;
  zt_container_component(t->container, t->object.index, k, ZT_COMPONENT_ROLE, &component);
  return component.role;
}

/* "a, b, c", in memory from sqlite3_malloc64(). */
static char *target_list_components(const zt_target *t){
  sqlite3_str *out = sqlite3_str_new(NULL);
  uint32_t first = zt_container_first(t->container, t->object.index);
  uint32_t n = zt_container_first(t->container, t->object.index+1) - first;
  for(uint32_t i=0; i<n && i<TARGET_LISTED; i++){
    zt_text role = target_role_of(t, first+i);
    sqlite3_str_appendf(out, "%s'%.*s'", i ? ", " : "", zt_shown(role), role.z);
  }
  if( n>TARGET_LISTED ) sqlite3_str_appendall(out, ", ...");
  return sqlite3_str_finish(out);
}

/* The only component. If there are several, the failure lists them. */
static int target_only_component(zt_target *t, zt_error *err){
  uint32_t first = zt_container_first(t->container, t->object.index);
  uint32_t n = zt_container_first(t->container, t->object.index+1) - first;
  char *list;
  if( n==0 ) return zt_fail(err, SQLITE_ERROR, "it has no component");
  if( n==1 ){
    zt_container_component(t->container, t->object.index, first, ZT_COMPONENT_ALL, &t->component);
    return SQLITE_OK;
  }
  list = target_list_components(t);
  if( !list ) return zt_fail_nomem(err);
  zt_fail(err, SQLITE_ERROR, "name one of its components: %s", list);
  sqlite3_free(list);
  return err->rc;
}

/* Fail: no component has that role. The message suggests the probable one, or else lists all. */
static int target_no_component(zt_target *t, zt_text role, zt_error *err){
  uint32_t k = zt_container_first(t->container, t->object.index);
  uint32_t end = zt_container_first(t->container, t->object.index+1);
  zt_suggestion s;
  char *list;
  zt_suggest_begin(&s, role, &t->interrupt, err);
  for(uint32_t i=k; i<end && zt_suggest_offer(&s, target_role_of(t, i)); i++){}
  if( err->rc ) return err->rc;
  err->component = role;
  if( k==end ) return zt_fail(err, SQLITE_ERROR, "no such component; it has none");
  if( s.best.z ){
    return zt_fail(err, SQLITE_ERROR, "no such component; did you mean '%.*s'?", (int)s.best.n,
                   s.best.z);
  }
  list = target_list_components(t);
  if( list ) zt_fail(err, SQLITE_ERROR, "no such component; it has %s", list);
  else zt_fail_nomem(err);
  sqlite3_free(list);
  return err->rc;
}

int zt_target_component(zt_target *t, sqlite3_value *role, zt_error *err){
  zt_text text;
  if( !role || sqlite3_value_type(role)==SQLITE_NULL ){
    if( target_only_component(t, err) ) return err->rc;
  }else{
    if( sqlite3_value_type(role)==SQLITE_BLOB ){
      return zt_fail(err, SQLITE_ERROR, "the component's name must be TEXT, not a BLOB");
    }
    text = zt_value_text(role);
    if( !text.z ) return zt_fail_nomem(err);
    if( !zt_component_find(t->container, t->object.index, text, &t->component) ){
      return target_no_component(t, text, err);
    }
  }
  err->component = t->component.role;
  return SQLITE_OK;
}

int zt_target_tensor(const zt_target *t, zt_budget *budget, zt_tensor *out, zt_error *err){
  return zt_tensor_open(t->source, t->container, &t->object, budget, out, err);
}

void zt_target_threads(zt_connection *c, zt_target *t, uint64_t bytes, zt_budget *budget){
  if( budget->pool || bytes<ZT_CALL_WORTH ) return;
  t->pool = budget->pool = zt_pool_new(zt_connection_threads(c)-1);
  zt_source_set_pool(t->source, t->pool);
}

void zt_target_close(zt_target *t){
  zt_source_close(t->source);
  zt_pool_free(t->pool);
  zt_container_close(t->container);
  sqlite3_free(t->path);
  zt_float_env_leave(&t->env);
}
