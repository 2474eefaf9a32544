/* Tensor files that are values of other files. See within.h. */
#include "container/within.h"

#include "core/host.h"

#define WITHIN_PROTO 0x80        /* Opcodes of pickles: the first one, */
#define WITHIN_FRAME 0x95        /* one with eight bytes that may follow, and the last one */
#define WITHIN_STOP '.'

bool zt_within_is_file(const uint8_t *first, uint64_t n, uint8_t last){
  static const zt_text begins[] = {
    ZT_TEXT_INIT("PK\3\4"), ZT_TEXT_INIT("\x89HDF\r\n\x1a\n"), ZT_TEXT_INIT("\x93NUMPY"),
    ZT_TEXT_INIT("GGUF"), ZT_TEXT_INIT("ZTEN"), ZT_TEXT_INIT("\x89ZT2\r\n\x1a\n"),
    ZT_TEXT_INIT("MATLAB 5.0 MAT"), ZT_TEXT_INIT("MATLAB 7.3 MAT"),
    ZT_TEXT_INIT("L1195470371460388")   /* As below, of the protocols 0 and 1 */
    /* None is longer than ZT_WITHIN_LEAST */
  };
  const bool pickle = first[0]==WITHIN_PROTO && first[1]>=2 && first[1]<=5;
  const uint8_t *number;
  for(size_t i=0; i<sizeof(begins)/sizeof(begins[0]); i++){
    if( memcmp(first, begins[i].z, begins[i].n)==0 ) return true;
  }
  if( memcmp(first+4, "TFL3", 4)==0 ) return true;
  if( first[8]=='{' && zt_le64(first)<=n-8 ) return true;   /* safetensors */
  /* torch.save before 1.6 begins with a pickle of a number, and does not end as one */
  number = first[2]==WITHIN_FRAME ? first+11 : first+2;
  return pickle && (last==WITHIN_STOP || memcmp(number, "\x8a\nl\xfc\x9c" "F", 6)==0);
}
