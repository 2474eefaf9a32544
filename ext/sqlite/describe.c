/* Columns that several tables share. See describe.h. */
#include "sqlite/describe.h"

#define DESCRIBE_DIGITS 21   /* Length of a dimension and a comma */

void zt_totals_add(zt_totals *t, const zt_container *c, const zt_object *object){
  zt_component component;
  uint64_t length;
  const unsigned stored = ZT_COMPONENT_LENGTH|ZT_COMPONENT_ENCODING|ZT_COMPONENT_DECODED;
  for(uint32_t k=zt_container_first(c, object->index), end=zt_container_first(c, object->index+1);
      k<end; k++){
    zt_container_component(c, object->index, k, stored, &component);
    if( component.codec!=ZT_CODEC_RAW && !component.has_decoded_length ){   /* The type may tell */
      zt_container_component(c, object->index, k, ZT_COMPONENT_ALL, &component);
    }
    t->stored_known = t->stored_known && !component.unsized
                   && zt_add64(t->stored, zt_payload_stored(&component), &t->stored);
    t->decoded_known = t->decoded_known
                    && zt_payload_length(object, &component, &length)==ZT_LENGTH_KNOWN
                    && zt_add64(t->decoded, length, &t->decoded);
  }
}

void zt_totals_join(zt_totals *t, const zt_totals *other){
  t->stored_known = t->stored_known && other->stored_known
                 && zt_add64(t->stored, other->stored, &t->stored);
  t->decoded_known = t->decoded_known && other->decoded_known
                  && zt_add64(t->decoded, other->decoded, &t->decoded);
}

static zt_text describe_type(const zt_component *component){
  return component->type.z ? component->type : component->dtype;
}

zt_types zt_object_types(const zt_container *c, const zt_object *object){
  zt_types types = { object->dtype, object->dtype };
  zt_component values;
  if( zt_component_values(c, object, ZT_COMPONENT_DTYPE|ZT_COMPONENT_TYPE, &values) ){
    types = (zt_types){ values.dtype, describe_type(&values) };
  }
  if( object->type.z ) types.type = object->type;
  return types;
}

void zt_result_shape(sqlite3_context *ctx, const zt_object *object){
  /* The text is written from its end */
  char text[ZT_MAX_RANK*DESCRIBE_DIGITS+2], *end = text+sizeof(text), *p = end;
  *--p = ']';
  for(uint32_t i=object->rank; i-->0; ){
    uint64_t n = object->shape[i];
    do *--p = (char)('0'+n%10); while( n/=10 );
    if( i>0 ) *--p = ',';
  }
  *--p = '[';
  zt_result_json_text(ctx, (zt_text){ p, (size_t)(end-p) });
}

void zt_result_value(sqlite3_context *ctx, const zt_container *c, const zt_value *value,
                     zt_interrupt interrupt){
  zt_error err = ZT_ERROR_NONE;
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  if( zt_value_json(c, value, &interrupt, out, &err)==SQLITE_OK ){
    zt_result_json(ctx, out);
    return;
  }
  sqlite3_free(sqlite3_str_finish(out));
  zt_result_error(ctx, &err);
}

void zt_result_attributes(sqlite3_context *ctx, const zt_container *c, const zt_value *attributes,
                          zt_interrupt interrupt){
  if( attributes->type==ZT_VALUE_NULL ) zt_result_json_text(ctx, ZT_TEXT("{}"));
  else zt_result_value(ctx, c, attributes, interrupt);
}

void zt_result_type(sqlite3_context *ctx, const zt_component *component){
  zt_result_text(ctx, describe_type(component));
}
