/* Objects that keep what a manifest says of them. See encoder_kept.h. */
#include "container/encoder_kept.h"

#include "container/encoder_manifest.h"
#include "container/manifest.h"

/* Copy the next item as it is. */
static void kept_copy(zt_cbor *c, zt_cbor_out *out){
  const uint8_t *at = c->p;
  zt_cbor_skip(c);
  zt_cbor_put_items(out, (zt_span){ at, (size_t)(c->p-at) });
}

/* Read the next key, and its encoding. z NULL: it is not text. */
static zt_text kept_key(zt_cbor *c, zt_span *encoded){
  const uint8_t *at = c->p;
  zt_text key = { NULL, 0 };
  if( zt_cbor_peek(c)==ZT_CBOR_TEXT ) zt_cbor_text(c, &key);
  else zt_cbor_skip(c);
  *encoded = (zt_span){ at, (size_t)(c->p-at) };
  return key;
}

static bool kept_is(zt_text key, const char *word){
  return key.z && word && zt_text_equal(key, zt_text_of(word));
}

/* Count the pairs of the map that is next, but for a key. */
static uint64_t kept_count(zt_cbor c, const char *without){
  zt_cbor_level level;
  zt_span encoded;
  uint64_t n = 0;
  if( !zt_cbor_open(&c, ZT_CBOR_MAP, &level) ) return 0;
  while( zt_cbor_more(&c, &level) ){
    n += !kept_is(kept_key(&c, &encoded), without);
    zt_cbor_skip(&c);
  }
  return n;
}

/* --- Components --- */

static void kept_put_place(const zt_encoder_entry *entry, const zt_draft_component *d,
                           zt_cbor_out *out){
  if( entry->range ) zt_cbor_put_head(out, ZT_CBOR_ARRAY, 2);
  zt_cbor_put_uint(out, d->offset);
  if( entry->range ) zt_cbor_put_uint(out, d->length);
}

static void kept_put_component(zt_cbor *c, const zt_encoder_entry *entry,
                               const zt_draft_component *d, zt_cbor_out *out){
  zt_cbor_level level;
  zt_cbor_put_head(out, ZT_CBOR_MAP, kept_count(*c, NULL));
  if( !zt_cbor_open(c, ZT_CBOR_MAP, &level) ) return;
  while( zt_cbor_more(c, &level) ){
    zt_span encoded;
    const zt_text key = kept_key(c, &encoded);
    zt_cbor_put_items(out, encoded);
    if( d->elsewhere || !kept_is(key, entry->place) ){
      kept_copy(c, out);
    }else{
      zt_cbor_skip(c);
      kept_put_place(entry, d, out);
    }
  }
}

static void kept_put_components(const zt_encoder_run *run, uint32_t object, zt_cbor *c,
                                const zt_encoder_entry *entry, zt_cbor_out *out){
  zt_encoder_roles roles;
  zt_cbor_level level;
  zt_encoder_read_roles(run->draft, object, zt_text_compare, &roles);
  zt_cbor_put_head(out, ZT_CBOR_MAP, kept_count(*c, NULL));
  if( !zt_cbor_open(c, ZT_CBOR_MAP, &level) ) return;
  while( zt_cbor_more(c, &level) ){
    zt_span encoded;
    const zt_text role = kept_key(c, &encoded);
    uint32_t i = 0;
    zt_cbor_put_items(out, encoded);
    while( i+1<roles.n && !zt_text_equal(roles.a[i].role, role) ) i++;
    kept_put_component(c, entry, &roles.a[i], out);
  }
}

/* --- Objects --- */

/* True if a word stands before a key in deterministic encoding. */
static bool kept_is_behind(zt_text key, zt_span encoded, const char *word){
  if( key.z ) return zt_encoder_compare_keys(key, zt_text_of(word))>0;
  return encoded.p[0]>>5>ZT_CBOR_TEXT;
}

void zt_encoder_put_kept(const zt_encoder_run *run, uint32_t object, zt_cbor map,
                         const zt_encoder_entry *entry, zt_cbor_out *out){
  bool attributes = zt_draft_has_attributes(run->draft, object);
  zt_cbor_level level;
  zt_cbor_put_head(out, ZT_CBOR_MAP, kept_count(map, "attributes")+attributes);
  if( !zt_cbor_open(&map, ZT_CBOR_MAP, &level) ) return;
  while( zt_cbor_more(&map, &level) ){
    zt_span encoded;
    const zt_text key = kept_key(&map, &encoded);
    if( kept_is(key, "attributes") ){
      zt_cbor_skip(&map);
      continue;
    }
    if( attributes && kept_is_behind(key, encoded, "attributes") ){
      zt_encoder_put_attributes(run->draft, object, out);
      attributes = false;
    }
    zt_cbor_put_items(out, encoded);
    if( kept_is(key, entry->components) ) kept_put_components(run, object, &map, entry, out);
    else kept_copy(&map, out);
  }
  if( attributes ) zt_encoder_put_attributes(run->draft, object, out);
}

/* --- The root --- */

void zt_encoder_put_kept_field(const zt_encoder_run *run, zt_text wanted, zt_cbor_out *out){
  zt_cbor c = zt_manifest_decoder(run->kept, 0, 0, out->err);
  zt_cbor_level level;
  if( !zt_cbor_open(&c, ZT_CBOR_MAP, &level) ) return;
  while( zt_cbor_more(&c, &level) ){
    zt_span encoded;
    const zt_text key = kept_key(&c, &encoded);
    if( key.z && zt_text_equal(key, wanted) ){
      zt_cbor_put_items(out, encoded);
      kept_copy(&c, out);
    }else{
      zt_cbor_skip(&c);
    }
  }
}

/* True if the next key is one of the schema's fields. It is read. */
static bool kept_next_is_known(zt_cbor *c, const zt_schema *known, zt_text *key, zt_span *encoded){
  *key = kept_key(c, encoded);
  return key->z && zt_schema_has(known, *key);
}

void zt_encoder_unknown_begin(const zt_encoder_run *run, const zt_schema *known, zt_error *err,
                              zt_encoder_unknown *out){
  const zt_container *c = run->kept;
  zt_encoder_unknown all;
  zt_text key;
  zt_span encoded;
  *out = (zt_encoder_unknown){ .known = known };
  if( !c || c->manifest.type!=ZT_VALUE_MAP ) return;
  out->c = zt_manifest_decoder(c, (size_t)c->manifest.at, 0, err);
  zt_cbor_open(&out->c, ZT_CBOR_MAP, &out->level);
  all = *out;
  while( zt_cbor_more(&all.c, &all.level) ){
    out->n += !kept_next_is_known(&all.c, known, &key, &encoded);
    zt_cbor_skip(&all.c);
  }
}

void zt_encoder_put_unknown(zt_encoder_unknown *u, const char *before, zt_cbor_out *out){
  while( u->n>0 ){
    zt_encoder_unknown at = *u;
    zt_span encoded;
    zt_text key;
    if( !zt_cbor_more(&at.c, &at.level) ) return;
    if( kept_next_is_known(&at.c, u->known, &key, &encoded) ){
      zt_cbor_skip(&at.c);
    }else{
      if( before && kept_is_behind(key, encoded, before) ) return;
      zt_cbor_put_items(out, encoded);
      kept_copy(&at.c, out);
      at.n--;
    }
    *u = at;
  }
}

/* True if a component among those that are next has a field that is not understood. */
static bool kept_find_in_components(zt_cbor c, const zt_schema *known, zt_text *field){
  zt_cbor_level components = { 0 }, level = { 0 };
  zt_span encoded;
  zt_cbor_open(&c, ZT_CBOR_MAP, &components);
  while( zt_cbor_more(&c, &components) ){
    zt_cbor_skip(&c);
    zt_cbor_open(&c, ZT_CBOR_MAP, &level);
    while( zt_cbor_more(&c, &level) ){
      if( !kept_next_is_known(&c, known, field, &encoded) ) return true;
      zt_cbor_skip(&c);
    }
  }
  return false;
}

bool zt_encoder_find_unknown(zt_cbor map, const zt_schemas *known, const char *components,
                             zt_text *field){
  zt_cbor_level level = { 0 };
  zt_span encoded;
  zt_cbor_open(&map, ZT_CBOR_MAP, &level);
  while( zt_cbor_more(&map, &level) ){
    zt_text key;
    if( !kept_next_is_known(&map, known->object, &key, &encoded) ){
      *field = key;
      return true;
    }
    if( kept_is(key, components) && kept_find_in_components(map, known->part, field) ) return true;
    zt_cbor_skip(&map);
  }
  return false;
}

/* True if the file has shards, and components in none of them. */
static bool kept_has_idle_shards(const zt_container *c){
  if( zt_container_shards(c)==0 ) return false;
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++){
      zt_component component;
      zt_container_component(c, i, k, ZT_COMPONENT_SHARD, &component);
      if( component.shard.z ) return false;
    }
  }
  return true;
}

bool zt_encoder_keeps_shards(const zt_encoder_run *run){
  const uint32_t n = run->kept ? zt_draft_objects(run->draft) : 0;
  zt_draft_component c;
  for(uint32_t i=0; i<n; i++){
    for(uint32_t at=0; (at = zt_draft_next_component(run->draft, i, at, &c))!=0; ){
      if( c.elsewhere ) return true;
    }
  }
  return run->kept && kept_has_idle_shards(run->kept);
}

bool zt_encoder_keeps_all(const zt_container *c, uint32_t object, zt_component *component){
  (void)c;
  (void)object;
  return !component->fault && !component->unsized && !component->scattered;
}
