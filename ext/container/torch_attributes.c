/* Attributes of torch.save's tensors. See torch_attributes.h. */
#include "container/torch_attributes.h"

#include "container/torch_leaf.h"
#include "core/host.h"

static void attributes_put_ints(zt_cbor_out *out, const int64_t *a, uint32_t n){
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, n);
  for(uint32_t i=0; i<n; i++) zt_cbor_put_int(out, a[i]);
}

bool zt_torch_is_contiguous(const int64_t *shape, const int64_t *strides, uint32_t rank){
  uint64_t expected = 1;
  for(uint32_t i=0; i<rank; i++) if( shape[i]==0 ) return true;
  for(uint32_t i=rank; i-->0; ){
    if( shape[i]==1 ) continue;
    if( strides[i]<0 || (uint64_t)strides[i]!=expected ) return false;
    if( shape[i]<0 || !zt_mul64(expected, (uint64_t)shape[i], &expected) ) return false;
  }
  return true;
}

static void attributes_put_flag(zt_cbor_out *out, zt_text key, bool is){
  zt_cbor_put_text(out, key);
  zt_cbor_put_bool(out, is);
}

static void attributes_put_view(zt_cbor_out *out, zt_text folder, const zt_torch_view *v){
  zt_cbor_put_text(out, ZT_TEXT("storage"));
  zt_cbor_put_head(out, ZT_CBOR_TEXT, folder.n+v->key.n);
  if( folder.n ) zt_cbor_put_items(out, (zt_span){ (const uint8_t*)folder.z, folder.n });
  if( v->key.n ) zt_cbor_put_items(out, (zt_span){ (const uint8_t*)v->key.z, v->key.n });
  zt_cbor_put_text(out, ZT_TEXT("storage_offset"));
  zt_cbor_put_int(out, v->offset);
  zt_cbor_put_text(out, ZT_TEXT("stride"));
  attributes_put_ints(out, v->strides, v->rank);
  zt_cbor_put_text(out, ZT_TEXT("location"));
  zt_cbor_put_text(out, v->location);
  zt_cbor_put_text(out, ZT_TEXT("storage_elements"));
  zt_cbor_put_int(out, v->storage_elements);
  if( !v->view_key.z ) return;
  zt_cbor_put_text(out, ZT_TEXT("view"));
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, 3);
  zt_cbor_put_text(out, v->view_key);
  zt_cbor_put_int(out, v->view_offset);
  zt_cbor_put_int(out, v->view_elements);
}

void zt_torch_put_attributes(const zt_pickle *p, zt_text folder, const zt_torch_tensor *tensor,
                             zt_cbor_out *out){
  const zt_torch_view *v = tensor->layout==ZT_TORCH_DENSE ? &tensor->views[0] : NULL;
  const zt_pickle_node grad = tensor->requires_grad, quantizer = v ? v->quantizer : 0;
  const bool plain = v && !quantizer && !v->quantized.z, conj = v && v->conj, neg = v && v->neg;
  zt_cbor_put_head(out, ZT_CBOR_MAP, (v ? 5u+(v->view_key.z!=NULL) : 0u)+(grad!=0)+(quantizer!=0)
                                     +plain+conj+neg+tensor->parameter);
  if( v ) attributes_put_view(out, folder, v);
  if( grad ){
    zt_cbor_put_text(out, ZT_TEXT("requires_grad"));
    if( zt_pickle_kind_of(p, grad)>ZT_PICKLE_TRUE ) zt_cbor_put_null(out);
    else zt_torch_put(p, grad, ZT_TORCH_WHOLE, out);
  }
  if( quantizer ){
    zt_cbor_put_text(out, ZT_TEXT("quantizer"));
    zt_torch_put_quantizer(p, quantizer, out);
  }
  if( plain ){
    attributes_put_flag(out, ZT_TEXT("contiguous"),
                    zt_torch_is_contiguous(v->shape, v->strides, v->rank));
  }
  if( conj ) attributes_put_flag(out, ZT_TEXT("conj"), true);
  if( neg ) attributes_put_flag(out, ZT_TEXT("neg"), true);
  if( tensor->parameter ) attributes_put_flag(out, ZT_TEXT("parameter"), true);
}
