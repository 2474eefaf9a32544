/* The table of layouts. See layout.h. */
#include "tensor/layout.h"

#include "core/host.h"

#define LAYOUT_SPARSE_WINDOW ((uint64_t)16 << 20) /* Each window reads all stored elements */

static const zt_layout *const layout_table[ZT_LAYOUT_COUNT] = {
  [ZT_LAYOUT_DENSE] = &zt_layout_dense,
  [ZT_LAYOUT_CSR] = &zt_layout_csr,
  [ZT_LAYOUT_CSR_JOINED] = &zt_layout_csr,
  [ZT_LAYOUT_CSC] = &zt_layout_csr,
  [ZT_LAYOUT_BSR] = &zt_layout_csr,
  [ZT_LAYOUT_BSC] = &zt_layout_csr,
  [ZT_LAYOUT_COO] = &zt_layout_coo,
  [ZT_LAYOUT_COO_JOINED] = &zt_layout_coo,
  [ZT_LAYOUT_COO_LINEAR] = &zt_layout_coo,
  [ZT_LAYOUT_COO_ROWS] = &zt_layout_coo,
  [ZT_LAYOUT_QUANTIZED_GROUP] = &zt_layout_quantized,
  [ZT_LAYOUT_MX] = &zt_layout_mx,
  [ZT_LAYOUT_QUANT_GROUP] = &zt_layout_quant_group,
  [ZT_LAYOUT_GGML] = &zt_layout_ggml,
  [ZT_LAYOUT_COMPLEX_PARTS] = &zt_layout_dense,
  [ZT_LAYOUT_SLICES] = &zt_layout_slices,
};

/* The fault of an object's bytes is the reason why its shape or its meaning is unknown. */
static int layout_fail_unknown(const zt_tensor *t, zt_error *err){
  zt_component component;
  if( zt_component_values(t->container, t->object, ZT_COMPONENT_ALL, &component)
   && (t->object->unshaped || component.fault) ){
    const zt_payload payload = zt_tensor_payload(t, &component);
    zt_stream *s = NULL;
    err->component = component.role;
    zt_stream_open(&payload, &s, err);
    zt_stream_close(s);
    if( err->rc ) return err->rc;
    err->component = (zt_text){ NULL, 0 };
  }
  return zt_break(err, "L1", "no meaning of format '%.*s' is known", zt_shown(t->object->format),
                  t->object->format.z);
}

int zt_tensor_open(zt_source *source, const zt_container *c, const zt_object *object,
                   zt_budget *budget, zt_tensor *out, zt_error *err){
  *out = (zt_tensor){
    .source = source, .container = c, .object = object, .budget = budget,
    .layout = layout_table[object->layout]
  };
  if( object->no_values ) return zt_break(err, "L11", "it has no values: %s", object->no_values);
  if( object->why_unknown ) return zt_break(err, "L1", "%s", object->why_unknown);
  if( object->fault ) return zt_break(err, object->fault_rule, "%s", object->fault);
  if( object->unshaped || !out->layout ) return layout_fail_unknown(out, err);
  return out->layout->open(out, err);
}

void zt_tensor_close(zt_tensor *t){
  if( t->state ) t->layout->close(t);
  sqlite3_free(t->state);
  *t = (zt_tensor){ 0 };
}

void zt_tensor_expect(const zt_tensor *t){
  const uint32_t i = t->object->index, end = zt_container_first(t->container, i+1);
  zt_component component;
  const zt_payload payload = zt_tensor_payload(t, &component);
  if( !zt_source_is_remote(t->source) ) return;
  for(uint32_t k=zt_container_first(t->container, i); k<end; k++){
    zt_container_component(t->container, i, k, ZT_COMPONENT_ALL, &component);
    zt_payload_expect(&payload);
  }
}

bool zt_tensor_is_sparse(const zt_tensor *t){
  return t->layout->next!=NULL;
}

int zt_tensor_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  return t->layout->read ? t->layout->read(t, first, n, out, err)
       : zt_sparse_read(t, first, n, out, err);
}

uint64_t zt_tensor_window(const zt_tensor *t){
  uint64_t n = (zt_tensor_is_sparse(t) ? LAYOUT_SPARSE_WINDOW : ZT_STREAM_PIECE)/t->dtype->width;
  return n<4*ZT_TENSOR_POLL ? n : 4*ZT_TENSOR_POLL;
}
