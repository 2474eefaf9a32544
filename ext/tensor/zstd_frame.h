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

#include "tensor/frames.h"

#define ZT_ZSTD_LEAST 1
#define ZT_ZSTD_MOST 22

size_t zt_zstd_bound(size_t n);   /* zt_frames.bound */

/* zt_frames.encode(), with a content checksum or without. The error is SQLITE_NOMEM or, which no
** version is known to give, libzstd's. */
int zt_zstd_encode(const zt_frame *frame, bool checksum, uint8_t *out, size_t *n, zt_error *err);

#endif
