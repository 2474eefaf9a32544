/* Facts of the manifest about a component's bytes. See payload.h. */
#include "tensor/payload.h"

#include "container/dtype.h"

uint64_t zt_payload_offset(const zt_component *component){
  return component->codec==ZT_CODEC_RAW ? component->offset+component->skip : component->offset;
}

uint64_t zt_payload_stored(const zt_component *component){
  return component->codec==ZT_CODEC_RAW ? component->length-component->skip-component->behind
       : component->length;
}

zt_length_state zt_payload_length(const zt_object *object, const zt_component *component,
                                  uint64_t *out){
  if( component->to_end || (component->unsized && (!component->scattered || component->fault)) ){
    *out = 0;
    return ZT_LENGTH_UNKNOWN;
  }
  if( component->codec==ZT_CODEC_RAW ){
    *out = component->length-component->skip-component->behind;
    return ZT_LENGTH_KNOWN;
  }
  *out = component->length;
  if( component->codec==ZT_CODEC_UNKNOWN ) return ZT_LENGTH_UNKNOWN;
  *out = component->decoded_length;
  if( component->has_decoded_length ) return ZT_LENGTH_KNOWN;
  if( !component->element || object->layout!=ZT_LAYOUT_DENSE || object->has_strides
   || !zt_text_is(component->role, "data") ){
    return ZT_LENGTH_UNKNOWN;
  }
  return zt_dtype_size(component->element, object->elements, out) ? ZT_LENGTH_KNOWN
       : ZT_LENGTH_OVERFLOW;
}

int zt_payload_fail_long(uint64_t reported, const char *encoding, zt_error *err){
  return zt_break(err, "E4", "%s: decodes to more than the %llu bytes that the manifest states",
                  encoding, reported);
}

zt_text zt_payload_byte_order(const zt_component *component){
  const zt_dtype *dtype = component->storage;
  bool big = zt_text_is(component->byte_order, "big");
  if( component->mixed ) return component->byte_order;
  if( big && dtype && dtype->unit==1 ) return ZT_TEXT("little");
  return component->byte_order;
}

void zt_payload_expect(const zt_payload *p){
  const zt_component *c = p->component;
  if( c->shard.z || c->fault || c->scattered || c->unsized ) return;
  zt_source_expect(p->source, zt_payload_offset(c), zt_payload_stored(c));
}
