/*
** Walks through the values of an archive's members. See archive.h. Each step is made by the
** member's own driver: `at` of a value, and of a walk, has the member in its upper half, and the
** place in the member below. Two maps are the archive's own:
**
**   attributes   the items of all members' attributes, one after the other; before each key stands
**                the member's path and a slash
**   manifests    each member's manifest; the key is its path
*/
#include "container/archive.h"

#include <assert.h>
#include "core/host.h"

#define ARCHIVE_SHIFT 32
#define ARCHIVE_BELOW UINT32_MAX

/* `kind` of the two maps, and of their levels; members' own kinds have other bits. */
#define ARCHIVE_ATTRIBUTES 0x80000000u
#define ARCHIVE_MANIFESTS 0x40000000u

/* Before 0, which is the whole archive, come members from 1 on. */
static uint64_t archive_at(uint32_t k, uint64_t at){
  assert( at<=ARCHIVE_BELOW );
  return ((uint64_t)k+1)<<ARCHIVE_SHIFT | at;
}

static uint32_t archive_member_of(uint64_t at){
  return (uint32_t)(at>>ARCHIVE_SHIFT)-1;
}

zt_value zt_archive_value(uint32_t k, zt_value value){
  value.at = archive_at(k, value.at);
  return value;
}

zt_value zt_archive_attributes(void){
  return (zt_value){ .type = ZT_VALUE_MAP, .kind = ARCHIVE_ATTRIBUTES, .at = 0 };
}

zt_value zt_archive_manifests(void){
  return (zt_value){ .type = ZT_VALUE_MAP, .kind = ARCHIVE_MANIFESTS, .at = 1 };
}

static zt_value archive_inner_value(const zt_value *value){
  zt_value inner = *value;
  inner.at &= ARCHIVE_BELOW;
  return inner;
}

/* Let a member's driver make a step: the walk goes through that member until archive_return(). */
static const zt_steps *archive_go_in(zt_walk *w, uint32_t k){
  const zt_container *inner = zt_archive_of(w->container)->a[k].inner;
  w->container = inner;
  w->at &= ARCHIVE_BELOW;
  return inner->driver->steps;
}

static void archive_return(zt_walk *w, const zt_container *archive, uint32_t k){
  w->container = archive;
  w->at = archive_at(k, w->at & ARCHIVE_BELOW);
}

static void archive_enter_member(zt_walk *w, uint32_t k, const zt_value *of, zt_level *level){
  const zt_container *archive = w->container;
  archive_go_in(w, k)->enter(w, of, level);
  archive_return(w, archive, k);
}

/* Enter the attributes of the first member from k on that has some; over: there is none. */
static bool archive_enter_attributes(zt_walk *w, uint32_t k, zt_level *level){
  const zt_archive *a = zt_archive_of(w->container);
  for(; k<a->n; k++){
    zt_value attributes;
    if( !a->a[k].inner ) continue;
    attributes = zt_container_attributes(a->a[k].inner);
    if( attributes.type!=ZT_VALUE_MAP ) continue;
    *level = (zt_level){ .map = true };
    archive_enter_member(w, k, &attributes, level);
    assert( !(level->kind & (ARCHIVE_ATTRIBUTES|ARCHIVE_MANIFESTS)) );
    level->kind |= ARCHIVE_ATTRIBUTES;
    return true;
  }
  w->at = archive_at(a->n, 0);
  return false;
}

static void archive_enter(zt_walk *w, const zt_value *of, zt_level *level){
  const zt_value inner = archive_inner_value(of);
  if( of->kind & ARCHIVE_MANIFESTS ){
    level->kind = ARCHIVE_MANIFESTS;
    level->remaining = zt_archive_of(w->container)->n;
  }else if( of->kind & ARCHIVE_ATTRIBUTES ){
    level->over = !archive_enter_attributes(w, 0, level);
  }else{
    archive_enter_member(w, archive_member_of(of->at), &inner, level);
  }
}

/* A step of member k's driver. */
static bool archive_next_of(zt_walk *w, uint32_t k, zt_level *level, zt_value *key,
                            zt_value *value){
  const zt_container *archive = w->container;
  const bool found = archive_go_in(w, k)->next(w, level, key, value);
  archive_return(w, archive, k);
  if( !found ) return false;
  *key = zt_archive_value(k, *key);
  *value = zt_archive_value(k, *value);
  return true;
}

/* Put the member's path before a key. Keys that are not text become it. */
static bool archive_rename(zt_walk *w, uint32_t k, zt_value *key){
  const zt_archive_member *m = &zt_archive_of(w->container)->a[k];
  const zt_value inner = archive_inner_value(key);
  sqlite3_str *name;
  size_t n;
  char *z;
  assert( m->path.z );   /* Those without, numpy's arrays, have no attributes */
  name = sqlite3_str_new(NULL);
  sqlite3_str_append(name, m->path.z, (int)m->path.n);
  sqlite3_str_append(name, "/", 1);
  zt_value_name(m->inner, &inner, w->interrupt, name, w->err);
  n = (size_t)sqlite3_str_length(name);
  if( sqlite3_str_errcode(name)==SQLITE_NOMEM ) zt_fail_nomem(w->err);
  else if( sqlite3_str_errcode(name) ) zt_fail(w->err, SQLITE_TOOBIG, "a key is too long");
  z = w->err->rc ? NULL : zt_walk_room(w, ZT_WALK_KEY, n+1);
  if( z ){
    memcpy(z, sqlite3_str_value(name), n);
    *key = (zt_value){ .type = ZT_VALUE_TEXT, .text = { z, n }, .at = key->at };
  }
  sqlite3_free(sqlite3_str_finish(name));
  return z!=NULL;
}

static bool archive_next_attribute(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  for(;;){
    const uint32_t k = archive_member_of(w->at);
    bool found;
    level->kind &= ~ARCHIVE_ATTRIBUTES;
    found = archive_next_of(w, k, level, key, value);
    level->kind |= ARCHIVE_ATTRIBUTES;
    if( found ) return archive_rename(w, k, key);
    if( w->err->rc || !archive_enter_attributes(w, k+1, level) ) return false;
    *key = *value = ZT_VALUE_NONE;
  }
}

static bool archive_next_manifest(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  const zt_archive *a = zt_archive_of(w->container);
  const uint32_t k = a->n-(uint32_t)level->remaining;
  const zt_archive_member *m = &a->a[k];
  if( level->remaining==0 ) return false;
  level->remaining--;
  *key = (zt_value){ .type = ZT_VALUE_TEXT, .text = m->path, .at = archive_at(k, 0) };
  if( !m->path.z ) key->text = ZT_TEXT("");
  *value = m->inner ? zt_container_manifest(m->inner) : ZT_VALUE_NONE;
  *value = zt_archive_value(k, *value);
  return true;
}

static bool archive_next(zt_walk *w, zt_level *level, zt_value *key, zt_value *value){
  if( level->kind & ARCHIVE_MANIFESTS ) return archive_next_manifest(w, level, key, value);
  if( level->kind & ARCHIVE_ATTRIBUTES ) return archive_next_attribute(w, level, key, value);
  return archive_next_of(w, archive_member_of(w->at), level, key, value);
}

static void archive_skip(zt_walk *w, const zt_value *value){
  const zt_container *archive = w->container;
  const uint32_t k = archive_member_of(value->at);
  const zt_value inner = archive_inner_value(value);
  archive_go_in(w, k)->skip(w, &inner);
  archive_return(w, archive, k);
}

static zt_text archive_stored_type(zt_walk *w, const zt_value *value){
  const zt_container *archive = w->container;
  const uint64_t at = w->at;
  const uint32_t k = archive_member_of(value->at);
  const zt_value inner = archive_inner_value(value);
  const zt_steps *steps = archive_go_in(w, k);
  zt_text type = { NULL, 0 };
  if( steps->stored_type ) type = steps->stored_type(w, &inner);
  w->container = archive;
  w->at = at;
  return type;
}

const zt_steps zt_archive_steps = {
  .enter = archive_enter, .next = archive_next, .skip = archive_skip,
  .stored_type = archive_stored_type
};
