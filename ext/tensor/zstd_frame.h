/*
** Frames of zstd: RFC 8878, for the encodings zstd and zt.zstd-seekable/1.
**
** Each frame has its content size, its decoder's window is its content, and no other frame is
** needed. It depends on the bytes, the level and the version of libzstd alone. Therefore each frame
** has a new context: one that was used before may give other bytes, because libzstd 1.5.5 and later
** hash with a salt that its earlier frames determine.
*/
#ifndef ZT_TENSOR_ZSTD_FRAME_H
#define ZT_TENSOR_ZSTD_FRAME_H

#include "core/span.h"
#include "tensor/frames.h"
#include "tensor/payload.h"

#define ZT_ZSTD_LEAST 1
#define ZT_ZSTD_MOST 22

size_t zt_zstd_bound(size_t n);   /* zt_frames.bound */

/* zt_frames.encode(), with a content checksum or without. The error is SQLITE_NOMEM or, which no
** version is known to give, libzstd's. */
int zt_zstd_encode(const zt_frame *frame, bool checksum, uint8_t *out, size_t *n, zt_error *err);

/* --- Headers --- */

#define ZT_ZSTD_HEAD_MAX 18           /* Bytes of a frame's header (RFC 8878 3.1.1.1) */
#define ZT_ZSTD_BLOCK_HEAD 3          /* Bytes of a block's header (3.1.1.2) */
#define ZT_ZSTD_SINGLE_SEGMENT 0x20   /* Frame header descriptor: no window */
#define ZT_ZSTD_CHECKSUM 0x04         /* The same: 4 bytes stand behind the last block */

/* True if a frame or skippable frame of RFC 8878 may begin with the 4 bytes at p. libzstd also
** decodes older formats. */
bool zt_zstd_is_magic(const uint8_t *p);
bool zt_zstd_is_skippable(const uint8_t *p);

typedef struct zt_zstd_head {
  size_t size;             /* Bytes of the header */
  uint64_t window;
  uint64_t content;        /* UINT64_MAX or one less: not stated */
} zt_zstd_head;

/* Read the header of a frame, not a skippable one, which is whole in the n bytes at p. */
zt_zstd_head zt_zstd_read_head(const uint8_t *p, size_t n);

/* Return the most bytes that a block may have (3.1.1.2.4). */
uint64_t zt_zstd_block_max(zt_zstd_head h);

typedef struct zt_zstd_block {
  uint32_t size;           /* Stored bytes with the header */
  uint32_t content;        /* Block_Size: for a repeated byte that of the content */
  bool last;
} zt_zstd_block;

zt_zstd_block zt_zstd_read_block(const uint8_t *p);

/* --- Decoding --- */

/* zt_encoding.together() */
int zt_zstd_together(const zt_payload *p, uint8_t *out, uint64_t n, bool *done, zt_error *err);

#endif
