/* Manifests of zTensor 1.2 and 2. See encoder_manifest.h. */
#include "container/encoder_manifest.h"

#include <assert.h>
#include "core/host.h"

int zt_encoder_compare_keys(zt_text a, zt_text b){
  if( a.n!=b.n ) return a.n<b.n ? -1 : 1;
  return zt_text_compare(a, b);
}

int zt_encoder_compare_objects(const zt_draft *draft, uint32_t a, uint32_t b){
  return zt_encoder_compare_keys(zt_draft_name(draft, a), zt_draft_name(draft, b));
}

/* By insertion: there are few. */
void zt_encoder_read_roles(const zt_draft *draft, uint32_t object,
                           int (*compare)(zt_text, zt_text), zt_encoder_roles *out){
  zt_draft_component component;
  out->n = 0;
  for(uint32_t at=0; (at = zt_draft_next_component(draft, object, at, &component))!=0; ){
    uint32_t i = out->n++;
    assert( out->n<=ZT_DRAFT_COMPONENTS );
    for(; i>0 && compare(component.role, out->a[i-1].role)<0; i--){
      out->a[i] = out->a[i-1];
      out->place[i] = out->place[i-1];
    }
    out->a[i] = component;
    out->place[i] = at;
  }
}

void zt_encoder_put_attributes(const zt_draft *draft, uint32_t object, zt_cbor_out *out){
  uint32_t n;
  zt_draft_attribute *a;
  if( !zt_draft_has_attributes(draft, object) ) return;
  a = zt_draft_sort_attributes(draft, object, zt_encoder_compare_keys, &n, out->err);
  zt_cbor_put_text(out, ZT_TEXT("attributes"));
  zt_cbor_put_head(out, ZT_CBOR_MAP, n);
  for(uint32_t i=0; i<n && !out->err->rc; i++){
    zt_cbor_put_text(out, a[i].key);
    zt_cbor_put_items(out, a[i].value);
  }
  sqlite3_free(a);
}

/* The value lies in the maps `attributes` and of the root; of an object, also in `objects` and the
** object's. */
int zt_encoder_check_depth(const zt_draft_attribute *attribute, bool of_object, bool strict,
                           zt_error *err){
  const int around = of_object ? 4 : 2;
  zt_error unused = ZT_ERROR_NONE;
  zt_cbor c;
  zt_cbor_init(&c, attribute->value.p, attribute->value.n, &unused);
  if( strict ) zt_cbor_make_strict(&c);
  c.depth = around;
  if( zt_cbor_skip(&c) ) return SQLITE_OK;
  if( unused.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  zt_error_clear(&unused);
  return err->rc ? err->rc
       : zt_fail(err, SQLITE_ERROR, "attribute '%.*s' is nested deeper than %d levels, which"
                 " readers refuse; make it flatter, or text", zt_shown(attribute->key),
                 attribute->key.z, c.max_depth-around);
}

void zt_encoder_put_shape(const zt_draft_object *object, zt_cbor_out *out){
  zt_cbor_put_text(out, ZT_TEXT("shape"));
  zt_cbor_put_head(out, ZT_CBOR_ARRAY, object->rank);
  for(uint32_t i=0; i<object->rank; i++) zt_cbor_put_uint(out, object->shape[i]);
}

int zt_encoder_check_manifest(const zt_cbor_out *manifest, zt_error *err){
  if( err->rc || manifest->n<=ZT_MAX_MANIFEST ) return err->rc;
  return zt_fail(err, SQLITE_TOOBIG, "the manifest would have %llu bytes, more than %llu",
                 (unsigned long long)manifest->n, (unsigned long long)ZT_MAX_MANIFEST);
}

/* The file's size behind all components, if those that are encoded take no bytes. */
static uint64_t encoder_expected(const zt_encoder_run *run){
  const uint32_t n = zt_draft_objects(run->draft);
  const uint64_t align = run->options->align;
  uint64_t size = zt_output_size(run->output);
  zt_draft_component c;
  for(uint32_t i=0; i<n; i++){
    for(uint32_t at=0; (at = zt_draft_next_component(run->draft, i, at, &c))!=0; ){
      if( c.elsewhere || c.codec!=ZT_CODEC_RAW || c.decoded_length==ZT_DRAFT_UNKNOWN ) continue;
      if( !zt_add64(size, (align-size%align)%align, &size)
       || !zt_add64(size, c.decoded_length, &size) ) return UINT64_MAX;
    }
  }
  return size;
}

int zt_encoder_each(zt_encoder_run *run, zt_encoder_component append, void *context,
                    zt_error *err){
  const uint32_t n = zt_draft_objects(run->draft);
  zt_encoder_roles roles;
  if( zt_output_expect(run->output, encoder_expected(run), err) ) return err->rc;
  for(uint32_t i=0; i<n && !err->rc; i++){
    const uint32_t object = run->order[i];
    zt_encoder_read_roles(run->draft, object, zt_text_compare, &roles);
    for(uint32_t k=0; k<roles.n && !err->rc; k++){
      append(context, object, &roles.a[k], roles.place[k]);
    }
  }
  return err->rc;
}
