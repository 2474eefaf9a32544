/* Frames of zstd, by libzstd. See zstd_frame.h. */
#define ZSTD_STATIC_LINKING_ONLY   /* ZSTD_createCCtx_advanced(): shared libraries have it, too */
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/zstd_frame.h"

static void *zstd_frame_malloc(void *unused, size_t n){
  (void)unused;
  return sqlite3_malloc64(n);
}

static void zstd_frame_free(void *unused, void *p){
  (void)unused;
  sqlite3_free(p);
}

size_t zt_zstd_bound(size_t n){
  return ZSTD_compressBound(n);
}

int zt_zstd_encode(const zt_frame *frame, bool checksum, uint8_t *out, size_t *n, zt_error *err){
  const size_t length = frame->bytes.n;
  ZSTD_CCtx *ctx = ZSTD_createCCtx_advanced(
    (ZSTD_customMem){ zstd_frame_malloc, zstd_frame_free, NULL });
  *n = 0;
  if( !ctx ) return zt_fail_nomem(err);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, frame->level);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, checksum);
  *n = ZSTD_compress2(ctx, out, ZSTD_compressBound(length), frame->bytes.p, length);
  if( ZSTD_getErrorCode(*n)==ZSTD_error_memory_allocation ) zt_fail_nomem(err);
  else if( ZSTD_isError(*n) ) zt_fail(err, SQLITE_ERROR, "zstd: %s", ZSTD_getErrorName(*n));
  if( err->rc ) *n = 0;
  ZSTD_freeCCtx(ctx);
  return err->rc;
}
