/*
** A writer of parts in the encoding zt.zstd-seekable/1 (tensor/seekable.c), sound or not: frames as a row describes them,
** and the table that belongs to them, changed where the row says so.
*/
#ifndef ZT_TESTS_UNIT_SEEKABLE_H
#define ZT_TESTS_UNIT_SEEKABLE_H

#include "test.h"

#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define SEEKABLE "zt.zstd-seekable/1"

static inline void put_le32(blob *b, uint64_t u){
  for(int i=0; i<4; i++) put_byte(b, u >> 8*i & 0xFF);
}

/* --- Frames --- */

enum {
  NO_CHECKSUM = 0x1, NO_CONTENT_SIZE = 0x2, DICTIONARY = 0x4
};

static inline size_t put_frame(blob *b, const void *p, size_t n, unsigned flags){
  static const char dictionary[] = "a dictionary of raw content, which no reader has: abcdefghijklmnopqrstuvwxyz";
  ZSTD_CCtx *ctx = ZSTD_createCCtx();
  size_t room = ZSTD_compressBound(n), length;
  uint8_t *to = put_room(b, room);
  assert_non_null(ctx);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, !(flags & NO_CONTENT_SIZE));
  ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, !(flags & NO_CHECKSUM));
  if( flags & DICTIONARY ) ZSTD_CCtx_loadDictionary(ctx, dictionary, sizeof(dictionary));
  length = ZSTD_compress2(ctx, to, room, p, n);
  check( !ZSTD_isError(length), "%s", ZSTD_getErrorName(length) );
  b->n -= room-length;
  ZSTD_freeCCtx(ctx);
  return length;
}

/* --- Sound parts --- */

#define SUMS 0x80   /* The table's flag: entries have checksums */

/* The part that decodes to these bytes, in frames of that much content; *starts, if given, becomes where each frame begins,
** and the table: n/each+2 of them, in malloc(). */
static inline blob seekable_part(const void *p, size_t n, size_t each, unsigned flags, size_t **starts){
  blob b = { 0 }, entries = { 0 };
  size_t count = 0;
  if( starts ){
    *starts = malloc((n/each+2)*sizeof(**starts));
    assert_non_null(*starts);
  }
  for(size_t at=0; at<n; at+=each, count++){
    size_t m = n-at<each ? n-at : each;
    if( starts ) (*starts)[count] = b.n;
    put_le32(&entries, put_frame(&b, (const uint8_t*)p+at, m, 0));
    put_le32(&entries, m);
    if( flags & SUMS ) put_le32(&entries, XXH64((const uint8_t*)p+at, m, 0));
  }
  if( starts ) (*starts)[count] = b.n;
  put_le32(&b, 0x184D2A5E);
  put_le32(&b, entries.n+9);
  put(&b, entries.p, entries.n);
  put_le32(&b, count);
  put_byte(&b, flags & SUMS);
  put_le32(&b, 0x8F92EAB1);
  free(entries.p);
  return seal(&b);
}

#endif
