/* Tensor files that are values of other files. See within.h. */
#include "container/within.h"

#include "core/host.h"

#define WITHIN_PROTO 0x80        /* Opcodes of pickles: the first one, */
#define WITHIN_FRAME 0x95        /* one with eight bytes that may follow, and the last one */
#define WITHIN_STOP '.'

static bool within_begins(const uint8_t *p, size_t n, zt_text text){
  return memcmp(p, text.z, n<text.n ? n : text.n)==0;
}

bool zt_within_is_torch(const uint8_t *p, size_t n){
  static const zt_text number = ZT_TEXT_INIT("\x8a\x0a" ZT_TORCH_MAGIC);   /* LONG1 */
  static const zt_text decimal = ZT_TEXT_INIT("L119547037146038801333356L\n");
  size_t at;
  if( n<2+number.n ) return false;
  at = p[2]==WITHIN_FRAME ? 11 : 2;
  return p[0]==WITHIN_PROTO ? within_begins(p+at, n-at, number) : within_begins(p, n, decimal);
}

static bool within_is_pickle(const uint8_t *first, uint8_t last){
  return first[0]==WITHIN_PROTO && first[1]>=2 && first[1]<=5 && last==WITHIN_STOP;
}

bool zt_within_is_file(const uint8_t *first, uint64_t n, uint8_t last){
  static const zt_text begins[] = {
    ZT_TEXT_INIT("PK\3\4"), ZT_TEXT_INIT("\x89HDF\r\n\x1a\n"), ZT_TEXT_INIT("\x93NUMPY"),
    ZT_TEXT_INIT("GGUF"), ZT_TEXT_INIT("ZTEN"), ZT_TEXT_INIT("\x89ZT2\r\n\x1a\n"),
    ZT_TEXT_INIT("MATLAB 5.0 MAT"), ZT_TEXT_INIT("MATLAB 7.3 MAT")
    /* None is longer than ZT_WITHIN_LEAST */
  };
  for(size_t i=0; i<sizeof(begins)/sizeof(begins[0]); i++){
    if( memcmp(first, begins[i].z, begins[i].n)==0 ) return true;
  }
  if( memcmp(first+4, "TFL3", 4)==0 ) return true;
  if( first[8]=='{' && zt_le64(first)<=n-8 ) return true;   /* safetensors */
  return within_is_pickle(first, last) || zt_within_is_torch(first, ZT_WITHIN_LEAST);
}
