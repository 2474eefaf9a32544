/* What the manifest tells of a component's bytes. See payload.h. */
#include "tensor/payload.h"

#include "container/dtype.h"
#include "core/digest.h"
#include "tensor/encoding.h"

static bool payload_is_raw(const zt_component *component){
  const zt_encoding *encoding = zt_encoding_of(component);
  return encoding && !encoding->next;
}

zt_length_state zt_payload_length(const zt_object *object, const zt_component *component,
                                  uint64_t *out){
  const zt_dtype *dtype;
  *out = component->length;
  if( payload_is_raw(component) ) return ZT_LENGTH_KNOWN;
  if( !zt_encoding_of(component) ) return ZT_LENGTH_UNKNOWN;
  *out = component->decoded_length;
  if( component->has_decoded_length ) return ZT_LENGTH_KNOWN;
  dtype = zt_dtype_of(component);
  if( !dtype || object->foreign || !zt_text_is(object->format, "dense")
   || !zt_text_is(component->role, "data") ){
    return ZT_LENGTH_UNKNOWN;
  }
  return zt_dtype_size(dtype, object->elements, out) ? ZT_LENGTH_KNOWN : ZT_LENGTH_OVERFLOW;
}

unsigned zt_payload_digests(const zt_component *component){
  return component->digest_is_of_decoded ? ZT_DIGESTS_2 : ZT_DIGESTS_1;
}

zt_text zt_payload_byte_order(const zt_component *component){
  const zt_dtype *dtype = component->foreign ? NULL : zt_dtype_storage(component->dtype);
  bool big = zt_text_is(component->byte_order, "big");
  if( big && (!payload_is_raw(component) || (dtype && dtype->unit==1)) ) return ZT_TEXT("little");
  return component->byte_order;
}
