/* The table of encodings. See encoding.h. */
#include "tensor/encoding.h"

static const zt_encoding raw = { .name = "raw", .of_1 = true };   /* In zTensor 2 a component without an encoding is raw */

static const zt_encoding *const aEncoding[] = { &raw, &zt_encoding_zstd, &zt_encoding_seekable };

int zt_encoding_fail_long(const zt_encoding *e, uint64_t told, zt_error *err){
  return zt_break(err, "E4", "%s: decodes to more than the %llu bytes that the manifest tells", e->name, told);
}

const zt_encoding *zt_encoding_of(const zt_component *component){
  zt_text name = component->encoding;
  if( component->strict && !component->has_decoded_length ) return &raw;
  for(size_t i=0; i<sizeof(aEncoding)/sizeof(aEncoding[0]); i++){
    const zt_encoding *e = aEncoding[i];
    if( !zt_text_equal(name, (zt_text){ e->name, strlen(e->name) }) ) continue;
    return (component->strict ? e->of_2 : e->of_1) ? e : NULL;
  }
  return NULL;
}
