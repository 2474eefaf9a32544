/* The one function of zstd's compressor that the decoder of zt.zstd-seekable/1 needs. */
#include <zstd.h>

size_t ZSTD_compressBound(size_t n){
  return ZSTD_COMPRESSBOUND(n);
}
