/* Frames of zstd, by libzstd. See zstd_frame.h. */
#define ZSTD_STATIC_LINKING_ONLY   /* ZSTD_createCCtx_advanced(): shared libraries have it, too */
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/zstd_frame.h"

#define ZSTD_FRAME_KEPT ((size_t)64 << 10)   /* Bytes of memory that is worth keeping */

static void *zstd_frame_malloc(void *memory, size_t n){
  zt_frame_memory *m = memory;
  if( !m || m->used || n<ZSTD_FRAME_KEPT ) return sqlite3_malloc64(n);
  if( n>m->n ){
    sqlite3_free(m->p);
    m->p = sqlite3_malloc64(n);
    m->n = m->p ? n : 0;
  }
  m->used = m->p!=NULL;
  return m->p;
}

static void zstd_frame_free(void *memory, void *p){
  zt_frame_memory *m = memory;
  if( m && p && p==m->p ) m->used = false;
  else sqlite3_free(p);
}

size_t zt_zstd_bound(size_t n){
  return ZSTD_compressBound(n);
}

int zt_zstd_encode(const zt_frame *frame, bool checksum, uint8_t *out, size_t *n, zt_error *err){
  const size_t length = frame->bytes.n;
  ZSTD_CCtx *ctx = ZSTD_createCCtx_advanced(
    (ZSTD_customMem){ zstd_frame_malloc, zstd_frame_free, frame->memory });
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
