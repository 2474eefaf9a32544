/* The table of encodings. See encoding.h. */
#include "tensor/encoding.h"

static const zt_encoding encoding_raw = { .name = "raw" };

static const zt_encoding *const encoding_table[ZT_CODEC_COUNT] = {
  [ZT_CODEC_RAW] = &encoding_raw,
  [ZT_CODEC_ZSTD] = &zt_encoding_zstd,
  [ZT_CODEC_SEEKABLE] = &zt_encoding_seekable,
  [ZT_CODEC_DEFLATE] = &zt_encoding_deflate,
  [ZT_CODEC_ZLIB] = &zt_encoding_zlib,
  [ZT_CODEC_GZIP] = &zt_encoding_gzip,
  [ZT_CODEC_PROTOBUF_VARINT] = &zt_encoding_varint,
  [ZT_CODEC_PROTOBUF_UNPACKED] = &zt_encoding_unpacked,
  [ZT_CODEC_KEPT] = &zt_encoding_kept,
  [ZT_CODEC_PIECES] = &zt_encoding_pieces,
  [ZT_CODEC_NUMBERS] = &zt_encoding_numbers,
  [ZT_CODEC_CHUNKED] = &zt_encoding_chunked,
};

const zt_encoding *zt_encoding_of(const zt_component *component){
  return encoding_table[component->codec];
}

const zt_frames *zt_frames_of(zt_codec_id codec){
  const zt_encoding *e = encoding_table[codec];
  return e ? e->frames : NULL;
}

int zt_encoding_whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err){
  const zt_encoding *e = zt_encoding_of(p->component);
  zt_decoder *d;
  size_t piece = 1;
  uint8_t one;
  if( e->whole ) return e->whole(p, out, n, got, err);
  *got = 0;
  if( e->open(p, &d, err) ) return err->rc;
  while( piece && *got<n && e->next(d, out+*got, (size_t)(n-*got), &piece, err)==SQLITE_OK ){
    *got += piece;
  }
  if( !err->rc && *got==n && e->next(d, &one, 1, &piece, err)==SQLITE_OK ) *got += piece;
  e->close(d);
  return err->rc;
}
