/*
** Encoding: the mirror of decoding in encoding.h. Decoded bytes are cut into frames of one size,
** which any thread encodes on its own, and which stand behind each other. So the same bytes and
** level give the same stored bytes with any number of threads. Interface between write.c and the
** files of the encodings, whose row in encoding.c has a zt_frames if it can encode.
*/
#ifndef ZT_TENSOR_FRAMES_H
#define ZT_TENSOR_FRAMES_H

#include "container/container.h"
#include "core/error.h"

/* Memory that an encoder took for a frame and needs for the next one as well. Without it, threads
** get new pages from the system for each frame, which takes longer than encoding. All zeros at
** first; the caller frees p with sqlite3_free(). */
typedef struct zt_frame_memory {
  void *p;
  size_t n;
  bool used;
} zt_frame_memory;

/* Decoded bytes of a component: zt_frames.size of them, or fewer in the last frame. */
typedef struct zt_frame {
  zt_span before;          /* The bytes in front of them, at most zt_frames.before */
  zt_span bytes;
  bool last;               /* No byte follows. A component without bytes is one such frame */
  int level;
  zt_frame_memory *memory; /* Borrowed; NULL: none is kept */
} zt_frame;

/* The lengths of a frame that was encoded; stored is 0 if it needs no bytes. */
typedef struct zt_frame_length {
  uint32_t stored, decoded;
} zt_frame_length;

typedef struct zt_frames {
  size_t size;             /* Decoded bytes of every frame but the last */
  size_t before;           /* Bytes in front of a frame that help to encode it; 0: none */
  int least, most;         /* Levels */

  /* Return how many bytes a frame of n decoded ones takes at most. */
  size_t (*bound)(size_t n);

  /* Encode a frame into out, which has room for bound() bytes. *n is their number, which may be 0
  ** for a frame without bytes. In any thread. A call allocates memory for itself alone: of 4 MiB,
  ** zstd takes below 1 MiB at level 1, 13 at 9, 50 at 19 and 66 at 22; of 1 MiB, 18 at 19 to 22;
  ** deflate 268 KiB. */
  int (*encode)(const zt_frame *frame, uint8_t *out, size_t *n, zt_error *err);

  /* Bytes of what stands behind n frames, and write them. NULL: nothing does. */
  size_t (*trailer_size)(const zt_frame_length *a, size_t n);
  void (*trailer)(const zt_frame_length *a, size_t n, uint8_t *out);
} zt_frames;

/* NULL: the codec does not encode. */
const zt_frames *zt_frames_of(zt_codec_id codec);

#endif
