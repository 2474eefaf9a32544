/* Access to the components of an opened object. See tensor.h. */
#include "tensor/tensor.h"

int zt_tensor_poll(zt_tensor *t, uint64_t n, zt_error *err){
  t->passed += n;
  if( t->passed<ZT_TENSOR_POLL ) return SQLITE_OK;
  t->passed = 0;
  return zt_interrupt_check(&t->budget->interrupt, err);
}

void zt_tensor_enter(const zt_tensor *t, zt_error *err){
  err->path = zt_source_name(t->source);
  err->object = t->object->name;
}

int zt_tensor_component(const zt_tensor *t, const char *role, const char *other, zt_component *out,
                        zt_error *err){
  const uint32_t i = t->object->index;
  if( zt_component_find(t->container, i, (zt_text){ role, strlen(role) }, out)
   || (other && zt_component_find(t->container, i, (zt_text){ other, strlen(other) }, out)) ){
    out->rules |= t->object->rules;
    return SQLITE_OK;
  }
  return zt_break(err, "L4", "%.*s needs a component '%s'", zt_shown(t->object->format),
                  t->object->format.z, role);
}

zt_payload zt_tensor_payload(const zt_tensor *t, const zt_component *component){
  return (zt_payload){ .source = t->source, .object = t->object, .component = component,
                       .budget = t->budget };
}

bool zt_tensor_is_plain(const zt_component *component){
  return component->codec==ZT_CODEC_RAW && !component->shard.z && !component->fault;
}

int zt_tensor_array(const zt_tensor *t, const char *role, zt_array *out, zt_error *err){
  zt_component component;
  zt_payload payload = zt_tensor_payload(t, &component);
  *out = (zt_array){ 0 };
  return zt_tensor_component(t, role, NULL, &component, err) ? err->rc
       : zt_array_open(&payload, out, err);
}

int zt_tensor_parts(const zt_tensor *t, uint64_t length, const char *rule, zt_array *out,
                    zt_error *err){
  zt_component real, imag;
  const zt_payload payloads[2] = { zt_tensor_payload(t, &real), zt_tensor_payload(t, &imag) };
  *out = (zt_array){ 0 };
  return zt_tensor_component(t, "real", NULL, &real, err)
      || zt_tensor_component(t, "imag", NULL, &imag, err) ? err->rc
       : zt_array_open_parts(&payloads[0], &payloads[1], length, rule, out, err);
}

int zt_tensor_values(const zt_tensor *t, zt_array *out, zt_error *err){
  const uint32_t i = t->object->index;
  zt_component component;
  /* Components that a format does not know may have any name */
  return (t->object->rules & ZT_RULE_SPLIT_VALUES)
      && !zt_component_find(t->container, i, ZT_TEXT("values"), &component)
      && zt_component_find(t->container, i, ZT_TEXT("real"), &component)
       ? zt_tensor_parts(t, UINT64_MAX, "P3", out, err) : zt_tensor_array(t, "values", out, err);
}

int zt_tensor_array_of(const zt_tensor *t, const char *role, uint64_t length, const char *rule,
                       zt_array *out, zt_error *err){
  zt_component component;
  zt_payload payload = zt_tensor_payload(t, &component);
  *out = (zt_array){ 0 };
  return zt_tensor_component(t, role, NULL, &component, err) ? err->rc
       : zt_array_open_of(&payload, length, rule, out, err);
}

int zt_tensor_dtype(const zt_tensor *t, const char *role, const zt_dtype **out, zt_error *err){
  zt_component component;
  zt_payload payload = zt_tensor_payload(t, &component);
  return zt_tensor_component(t, role, NULL, &component, err) ? err->rc
       : zt_array_dtype(&payload, out, err);
}
