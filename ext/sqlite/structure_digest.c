/* Digests of a file's rows. See structure_digest.h. */
#include "sqlite/structure_digest.h"

#include "core/host.h"
#include "sqlite/describe.h"
#include "tensor/payload.h"

#define STRUCTURE_CHUNK (64<<10) /* Bytes that are digested at once, with a check for an interrupt
                                 ** after them */

typedef struct structure {
  const zt_container *container;
  sqlite3_str *text;         /* Not digested yet */
  zt_digest *digest;
  const zt_interrupt *interrupt;
  zt_error *err;
} structure;

/* --- Writing --- */

/* Digest the gathered text, and check for an interrupt. */
static void structure_flush(structure *o){
  const char *z = sqlite3_str_value(o->text);
  const int n = sqlite3_str_length(o->text);
  const int rc = sqlite3_str_errcode(o->text);
  if( rc==SQLITE_TOOBIG ) zt_fail(o->err, rc, "a text is longer than SQLite's limit");
  else if( rc ) zt_fail_nomem(o->err);
  else if( n>0 ) zt_digest_update(o->digest, (zt_span){ (const uint8_t*)z, (size_t)n });
  sqlite3_str_reset(o->text);
  zt_interrupt_check(o->interrupt, o->err);
}

static void structure_put_number(structure *o, uint64_t u){
  char bytes[8];
  for(size_t i=0; i<8; i++) bytes[i] = (char)(u>>8*i & 0xFF);
  sqlite3_str_append(o->text, bytes, 8);
  if( sqlite3_str_length(o->text)>=STRUCTURE_CHUNK ) structure_flush(o);
}

static void structure_put_text(structure *o, zt_text text){
  structure_put_number(o, text.z ? text.n : UINT64_MAX);
  if( text.z && text.n ) sqlite3_str_append(o->text, text.z, (int)text.n);
}

static int structure_begin(structure *o, const zt_container *c, const zt_interrupt *interrupt,
                           zt_error *err){
  *o = (structure){ .container = c, .interrupt = interrupt, .err = err };
  zt_digest_new(ZT_TEXT("sha256"), &o->digest, err);
  if( !o->digest ) return err->rc;
  o->text = sqlite3_str_new(NULL);
  return SQLITE_OK;
}

static int structure_finish(structure *o, char out[ZT_DIGEST_TEXT]){
  structure_flush(o);
  if( !o->err->rc ) zt_digest_text(o->digest, out);
  sqlite3_free(sqlite3_str_finish(o->text));
  zt_digest_close(o->digest);
  return o->err->rc;
}

/* --- The architecture --- */

static void structure_put_object(structure *o, uint32_t i){
  zt_object object;
  zt_types types;
  zt_container_object(o->container, i, &object);
  types = zt_object_types(o->container, &object);
  structure_put_text(o, object.name);
  structure_put_text(o, object.format);
  structure_put_text(o, types.dtype);
  structure_put_text(o, types.type);
  structure_put_number(o, object.unshaped ? UINT64_MAX : object.rank);
  for(uint32_t k=0; !object.unshaped && k<object.rank; k++) structure_put_number(o,
                                                                                 object.shape[k]);
}

int zt_structure_architecture(const zt_container *c, const zt_interrupt *interrupt,
                              char out[ZT_DIGEST_TEXT], zt_error *err){
  uint32_t *order = zt_container_by_name(c, interrupt, err);
  structure o;
  if( order && structure_begin(&o, c, interrupt, err)==SQLITE_OK ){
    for(uint32_t i=0; i<zt_container_objects(c) && !err->rc; i++) structure_put_object(&o,
                                                                                       order[i]);
    structure_finish(&o, out);
  }
  sqlite3_free(order);
  return err->rc;
}

/* --- The layout --- */

/* Add an object's attributes, with their types: JSON does not tell text from bytes. */
static void structure_put_attributes(structure *o, const zt_object *object){
  zt_value key, value;
  zt_level level;
  zt_walk w;
  if( object->attributes.type==ZT_VALUE_NULL ) return;
  zt_value_json(o->container, &object->attributes, o->interrupt, o->text, o->err);
  zt_walk_begin(o->container, &object->attributes, &w, &level, o->err);
  while( zt_walk_next(&w, &level, &key, &value) ) structure_put_number(o, value.type);
  zt_walk_end(&w);
}

static void structure_put_component(structure *o, const zt_object *object, uint32_t k,
                                    uint64_t data){
  zt_component c;
  uint64_t decoded;
  bool known;
  zt_container_component(o->container, object->index, k, ZT_COMPONENT_ALL, &c);
  structure_put_text(o, c.role);
  structure_put_text(o, c.dtype);
  structure_put_text(o, c.type);
  structure_put_text(o, c.encoding);
  structure_put_text(o, zt_payload_byte_order(&c));
  structure_put_text(o, c.shard);
  structure_put_text(o, zt_structure_digest_of(&c));
  structure_put_number(o, (uint64_t)c.scattered | (uint64_t)c.unsized<<1);
  structure_put_number(o, c.scattered ? 0 : zt_payload_offset(&c) - (c.shard.z ? 0 : data));
  structure_put_number(o, c.unsized ? 0 : zt_payload_stored(&c));
  known = zt_payload_length(object, &c, &decoded)==ZT_LENGTH_KNOWN;
  structure_put_number(o, known);
  structure_put_number(o, known ? decoded : 0);
}

int zt_structure_layout(const zt_container *c, const zt_interrupt *interrupt,
                        char out[ZT_DIGEST_TEXT], zt_error *err){
  zt_object object;
  uint64_t data = 0;
  structure o;
  if( structure_begin(&o, c, interrupt, err) ) return err->rc;
  zt_structure_data_offset(c, &data);
  for(uint32_t i=0; i<zt_container_objects(c) && !err->rc; i++){
    zt_container_object(c, i, &object);
    structure_put_text(&o, object.name);
    structure_put_attributes(&o, &object);
    structure_put_number(&o, zt_container_first(c, i+1)-zt_container_first(c, i));
    for(uint32_t k=zt_container_first(c, i), end=zt_container_first(c, i+1); k<end; k++){
      structure_put_component(&o, &object, k, data);
    }
  }
  return structure_finish(&o, out);
}

/* --- Numbers --- */

bool zt_structure_data_offset(const zt_container *c, uint64_t *offset){
  const unsigned want = ZT_COMPONENT_OFFSET|ZT_COMPONENT_ENCODING|ZT_COMPONENT_SHARD;
  zt_component component;
  bool found = false;
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i), end=zt_container_first(c, i+1); k<end; k++){
      uint64_t at;
      zt_container_component(c, i, k, want, &component);
      at = zt_payload_offset(&component);
      if( component.scattered || component.shard.z || (found && at>=*offset) ) continue;
      *offset = at;
      found = true;
    }
  }
  return found;
}

uint64_t zt_structure_digests(const zt_container *c){
  zt_component component;
  uint64_t n = 0;
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i), end=zt_container_first(c, i+1); k<end; k++){
      zt_container_component(c, i, k, ZT_COMPONENT_DIGEST, &component);
      n += component.digest.z!=NULL;
    }
  }
  return n;
}

zt_text zt_structure_digest_of(const zt_component *component){
  if( component->skip || component->behind ) return ZT_TEXT("member");
  if( component->rules & ZT_RULE_DIGEST_OF_DECODED ) return ZT_TEXT("decoded");
  return ZT_TEXT("stored");
}
