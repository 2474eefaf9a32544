/* The table of ggml's types. See ggml_types.h. */
#include "container/ggml_types.h"

#define GGML_BLOCKS(name, number, elements, bytes) \
  { ZT_GGML_##name, number, ZT_TEXT_INIT(#name), elements, bytes },
#define GGML_PLAIN(name, number) { ZT_GGML_PLAIN, number, ZT_TEXT_INIT(#name), 0, 0 },
static const zt_ggml_type ggml_types[] = {
  ZT_GGML_BLOCK_TYPES(GGML_BLOCKS) ZT_GGML_INNER_TYPES(GGML_BLOCKS)
  ZT_GGML_PLAIN_TYPES(GGML_PLAIN)
};

#define GGML_TYPES (sizeof(ggml_types)/sizeof(*ggml_types))

const zt_ggml_type *zt_ggml_type_numbered(uint32_t number){
  for(size_t i=0; i<GGML_TYPES; i++) if( ggml_types[i].number==number ) return &ggml_types[i];
  return NULL;
}

const zt_ggml_type *zt_ggml_type_named(zt_text name){
  for(size_t i=0; i<GGML_TYPES; i++){
    if( zt_text_equal(name, ggml_types[i].name) ) return &ggml_types[i];
  }
  return NULL;
}
