/* The table of encodings. See encoding.h. */
#include "tensor/encoding.h"

/* In zTensor 2 a component without an encoding is raw */
static const zt_encoding encoding_raw = { .name = "raw", .of_1 = true };

static const zt_encoding *const encoding_table[] = {
  &encoding_raw, &zt_encoding_zstd, &zt_encoding_seekable
};

int zt_encoding_fail_long(const zt_encoding *e, uint64_t told, zt_error *err){
  return zt_break(err, "E4", "%s: decodes to more than the %llu bytes that the manifest tells",
                  e->name, told);
}

const zt_encoding *zt_encoding_of(const zt_component *component){
  zt_text name = component->encoding;
  if( component->strict && !component->has_decoded_length ) return &encoding_raw;
  for(size_t i=0; i<sizeof(encoding_table)/sizeof(encoding_table[0]); i++){
    const zt_encoding *e = encoding_table[i];
    if( !zt_text_equal(name, (zt_text){ e->name, strlen(e->name) }) ) continue;
    return (component->strict ? e->of_2 : e->of_1) ? e : NULL;
  }
  return NULL;
}
