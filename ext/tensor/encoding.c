/* The table of encodings. See encoding.h. */
#include "tensor/encoding.h"

static const zt_encoding raw = { "raw", NULL, NULL, NULL, NULL };

static const zt_encoding *const aEncoding[] = { &raw, &zt_encoding_zstd };

const zt_encoding *zt_encoding_of(zt_text name){
  for(size_t i=0; i<sizeof(aEncoding)/sizeof(*aEncoding); i++){
    if( name.n==strlen(aEncoding[i]->name) && memcmp(name.z, aEncoding[i]->name, name.n)==0 ) return aEncoding[i];
  }
  return NULL;
}
