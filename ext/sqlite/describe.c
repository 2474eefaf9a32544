/* What several tables show in the same words. See describe.h. */
#include "sqlite/describe.h"

#include "core/json.h"

#define DESCRIBE_DIGITS 21   /* Of a dimension, and a comma */

void zt_totals_add(zt_totals *t, const zt_container *c, const zt_object *object){
  zt_component component;
  uint64_t length;
  for(uint32_t k=zt_container_first(c, object->index), end=zt_container_first(c, object->index+1);
      k<end; k++){
    zt_container_component(c, object->index, k, ZT_COMPONENT_ALL, &component);
    t->stored_known = t->stored_known && zt_add64(t->stored, component.length, &t->stored);
    t->decoded_known = t->decoded_known
                    && zt_payload_length(object, &component, &length)==ZT_LENGTH_KNOWN
                    && zt_add64(t->decoded, length, &t->decoded);
  }
}

void zt_result_format(sqlite3_context *ctx, const zt_object *object){
  sqlite3_str *out;
  if( !object->format_prefix[0] ){
    zt_result_text(ctx, object->format);
    return;
  }
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  sqlite3_str_appendall(out, object->format_prefix);
  sqlite3_str_append(out, object->format.z, (int)object->format.n);
  zt_result_str(ctx, out);
}

void zt_result_shape(sqlite3_context *ctx, const zt_object *object){
  /* Written from its end */
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

void zt_result_attributes(sqlite3_context *ctx, const zt_container *c, const zt_attributes *a){
  sqlite3_str *out;
  zt_attribute_walk it;
  bool first = true;
  if( !a->at ){
    zt_result_json_text(ctx, ZT_TEXT("{}"));
    return;
  }
  out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  zt_attributes_begin(c, a, &it);
  sqlite3_str_appendchar(out, 1, '{');
  while( zt_attributes_next(&it) ){
    if( !first ) sqlite3_str_appendchar(out, 1, ',');
    first = false;
    zt_json_member(out, &it.cbor);
  }
  sqlite3_str_appendchar(out, 1, '}');
  zt_result_json(ctx, out);
}

void zt_result_type(sqlite3_context *ctx, const zt_component *component){
  zt_result_text(ctx, component->type.z ? component->type : component->dtype);
}
