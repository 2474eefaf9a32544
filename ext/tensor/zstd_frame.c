/* Frames of zstd, by libzstd. See zstd_frame.h. */
#define ZSTD_STATIC_LINKING_ONLY   /* ZSTD_createCCtx_advanced(): shared libraries have it, too */
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/zstd_frame.h"

#define ZSTD_BLOCK_MAX ((uint64_t)128 << 10)
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

bool zt_zstd_is_skippable(const uint8_t *p){
  return (zt_le32(p) & ZSTD_MAGIC_SKIPPABLE_MASK)==ZSTD_MAGIC_SKIPPABLE_START;
}

bool zt_zstd_is_magic(const uint8_t *p){
  return zt_le32(p)==ZSTD_MAGICNUMBER || zt_zstd_is_skippable(p);
}

zt_zstd_head zt_zstd_read_head(const uint8_t *p, size_t n){
  static const uint8_t dictionary[] = { 0, 1, 2, 4 }, content[] = { 0, 2, 4, 8 };
  bool single = (p[4] & ZT_ZSTD_SINGLE_SEGMENT)!=0;
  unsigned flag = p[4]>>6, log = 10u+(p[5]>>3);
  zt_zstd_head h = {
    5u + !single + dictionary[p[4] & 3] + (single && flag==0 ? 1u : content[flag]), 0,
    ZSTD_getFrameContentSize(p, n)
  };
  if( single ) h.window = h.content;
  else h.window = ((uint64_t)1 << log) + (((uint64_t)1 << log)/8)*(p[5] & 7);
  return h;
}

uint64_t zt_zstd_block_max(zt_zstd_head h){
  return h.window<ZSTD_BLOCK_MAX ? h.window : ZSTD_BLOCK_MAX;
}

zt_zstd_block zt_zstd_read_block(const uint8_t *p){
  uint32_t head = (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16, content = head>>3;
  bool repeated = (head>>1 & 3)==1;
  return (zt_zstd_block){ ZT_ZSTD_BLOCK_HEAD+(repeated ? 1 : content), content, head & 1 };
}
