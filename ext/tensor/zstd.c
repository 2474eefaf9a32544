/*
** The encoding zstd, by libzstd. See encoding.h for its rules E2 to E4.
**
** Content up to ZT_WHOLE_MAX is decoded in one call, straight into the result. Other content passes
** through a window, which costs a copy, but can be interrupted, and stops at the end of the range.
** Several threads decode the frames of a whole content (zstd_together.c).
*/
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/encoding.h"
#include "tensor/zstd_frame.h"

#define ZSTD_WINDOW ((size_t)256 << 10)
#define ZSTD_WINDOW_LOG_MAX 27     /* libzstd's default limit for a stream */
#define ZSTD_WINDOW_MAX ((uint64_t)1 << ZSTD_WINDOW_LOG_MAX)
#define ZSTD_WINDOW_LOG_ANY 31     /* The limit of any decoder */
#define ZSTD_FRAME ((size_t)4 << 20)   /* Content of a frame that is written */

static int zstd_fail(size_t code, zt_error *err){
  if( ZSTD_getErrorCode(code)==ZSTD_error_memory_allocation ) return zt_fail_nomem(err);
  return zt_break(err, "E2", "zstd: %s", ZSTD_getErrorName(code));
}

static int zstd_fail_magic(zt_error *err){
  return zt_break(err, "E2", "zstd: Unknown frame descriptor");
}

/* Return the largest window of each reader: all readers together may use as much as one. */
static int zstd_window_log(unsigned readers){
  int log = ZSTD_WINDOW_LOG_MAX;
  for(unsigned n=1; n<readers; n*=2) log--;
  return log;
}

/* The window of the frame at p, of which n bytes with all of its header are there, is too large.
** The frame is broken if no decoder allows such a window, or if the window is a content longer than
** the manifest states. Otherwise only this program's limit is lower. */
static int zstd_fail_window(const zt_payload *reader, const uint8_t *p, size_t n, zt_error *err){
  const bool single = (p[4] & ZT_ZSTD_SINGLE_SEGMENT)!=0;
  unsigned long long most = 1ull << zstd_window_log(reader->side_by_side);
  uint64_t reported;
  if( !single && 10+(p[5]>>3)>ZSTD_WINDOW_LOG_ANY ){
    return zt_break(err, "E2", "zstd: Frame requires too much memory for decoding");
  }
  if( single && zt_payload_length(reader->object, reader->component, &reported)==ZT_LENGTH_KNOWN
   && ZSTD_getFrameContentSize(p, n)>reported ){
    return zt_payload_fail_long(reported, zt_encoding_zstd.name, err);
  }
  if( reader->side_by_side<2 ){
    return zt_fail(err, SQLITE_TOOBIG,
                   "zstd: a frame's window is more than the limit of %llu bytes", most);
  }
  return zt_fail(err, SQLITE_TOOBIG,
                 "zstd: a frame's window is more than the limit of %llu bytes for each of %u"
                 " readers", most, reader->side_by_side);
}

/* True if a block is too large (3.1.1.2.4). */
static bool zstd_has_large_block(const uint8_t *p, size_t n, zt_zstd_head h){
  uint64_t most = zt_zstd_block_max(h);
  bool last = false;
  for(size_t i=h.size; !last && i+ZT_ZSTD_BLOCK_HEAD<=n; ){
    const zt_zstd_block block = zt_zstd_read_block(p+i);
    if( block.content>most ) return true;
    last = block.last;
    i += block.size;
  }
  return false;
}

/* Check the headers of frames and blocks, so that decoding in one call, which needs no window,
** fails like decoding in pieces, with the same messages. Decoding itself finds all other faults. */
static int zstd_check_frames(const zt_payload *reader, const uint8_t *p, size_t n, zt_error *err){
  while( n>=4 ){
    size_t frame = ZSTD_findFrameCompressedSize(p, n);
    if( !zt_zstd_is_magic(p) ) return zstd_fail_magic(err);
    if( ZSTD_getErrorCode(frame)==ZSTD_error_frameParameter_windowTooLarge ){
      return zstd_fail_window(reader, p, n, err);
    }
    if( ZSTD_isError(frame) ) break;
    if( p[0]==0x28 ){
      zt_zstd_head h = zt_zstd_read_head(p, frame);
      if( h.window>ZSTD_WINDOW_MAX && !(p[4] & ZT_ZSTD_SINGLE_SEGMENT) ){
        return zstd_fail_window(reader, p, frame, err);
      }
      if( zstd_has_large_block(p, frame, h) ){
        return zt_break(err, "E2", "zstd: Data corruption detected");
      }
    }
    p += frame;
    n -= frame;
  }
  return SQLITE_OK;
}

static int zstd_whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err){
  const zt_component *component = p->component;
  zt_span image = zt_source_image(p->source);
  size_t nStored = (size_t)component->length, decoded;
  ZSTD_DCtx *ctx = ZSTD_createDCtx();
  uint8_t *copy = NULL;
  const uint8_t *stored;
  *got = 0;
  if( !image.p ) copy = sqlite3_malloc64(nStored+1);
  stored = image.p ? image.p+component->offset : copy;
  if( !ctx || !stored ){
    zt_fail_nomem(err);
    goto end;
  }
  if( copy && zt_source_read(p->source, component->offset, copy, nStored, err) ) goto end;
  if( zstd_check_frames(p, stored, nStored, err) ) goto end;
  decoded = ZSTD_decompressDCtx(ctx, out, (size_t)n, stored, nStored);
  if( ZSTD_getErrorCode(decoded)==ZSTD_error_dstSize_tooSmall ) *got = n+1;
  else if( ZSTD_isError(decoded) ) zstd_fail(decoded, err);
  else *got = decoded;
end:
  sqlite3_free(copy);
  ZSTD_freeDCtx(ctx);
  return err->rc;
}

typedef struct zstd_decoder {
  zt_payload payload;
  ZSTD_DCtx *ctx;
  ZSTD_inBuffer in;
  uint8_t *window;         /* Stored bytes are read into this; NULL for an image */
  uint64_t read;           /* Stored bytes read so far */
  uint64_t work;           /* Bytes read and decoded since the last check for an interrupt */
  uint64_t begin;          /* Offset of the current frame in the stored bytes */
  bool between;            /* Not within a frame */
} zstd_decoder;

static void zstd_close(zt_decoder *decoder){
  zstd_decoder *d = decoder;
  ZSTD_freeDCtx(d->ctx);
  sqlite3_free(d->window);
  sqlite3_free(d);
}

static int zstd_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  zstd_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = NULL;
  if( !d ) return zt_fail_nomem(err);
  *d = (zstd_decoder){ .payload = *p, .ctx = ZSTD_createDCtx(), .between = true };
  if( !zt_source_image(p->source).p ) d->window = sqlite3_malloc64(ZSTD_WINDOW);
  if( !d->ctx || (!d->window && !zt_source_image(p->source).p) ){
    zstd_close(d);
    return zt_fail_nomem(err);
  }
  ZSTD_DCtx_setParameter(d->ctx, ZSTD_d_windowLogMax, zstd_window_log(p->side_by_side));
  *out = d;
  return SQLITE_OK;
}

/* Read more stored bytes if `in` is empty. */
static int zstd_refill(zstd_decoder *d, zt_error *err){
  const zt_payload *p = &d->payload;
  zt_span image = zt_source_image(p->source);
  uint64_t remaining = p->component->length - d->read;
  size_t n = remaining<ZSTD_WINDOW ? (size_t)remaining : ZSTD_WINDOW;
  if( d->in.pos<d->in.size || n==0 ) return SQLITE_OK;
  if( !image.p && zt_source_read(p->source, p->component->offset+d->read, d->window, n, err) ){
    return err->rc;
  }
  d->in = (ZSTD_inBuffer){ image.p ? image.p+p->component->offset+d->read : d->window, n, 0 };
  d->read += n;
  d->work += n;
  return SQLITE_OK;
}

/* The same of the current frame, whose header may have come in two pieces. */
static int zstd_fail_current(const zstd_decoder *d, zt_error *err){
  const zt_component *c = d->payload.component;
  const uint64_t rest = c->length-d->begin;
  const size_t n = rest<ZT_ZSTD_HEAD_MAX ? (size_t)rest : ZT_ZSTD_HEAD_MAX;
  uint8_t head[ZT_ZSTD_HEAD_MAX];
  if( zt_source_read(d->payload.source, c->offset+d->begin, head, n, err) ) return err->rc;
  return zstd_fail_window(&d->payload, head, n, err);
}

/* Decode a piece into out, at most n bytes; *got may be 0. */
static int zstd_step(zstd_decoder *d, uint8_t *out, size_t n, size_t *got, zt_error *err){
  ZSTD_outBuffer buffer = { out, n, 0 };
  size_t rc, before;
  if( zstd_refill(d, err) ) return err->rc;
  before = d->in.pos;
  if( d->between ) d->begin = d->read-(d->in.size-before);
  if( d->between && d->in.size-d->in.pos>=4
   && !zt_zstd_is_magic((const uint8_t*)d->in.src+d->in.pos) ){
    return zstd_fail_magic(err);
  }
  rc = ZSTD_decompressStream(d->ctx, &buffer, &d->in);
  if( ZSTD_getErrorCode(rc)==ZSTD_error_frameParameter_windowTooLarge ){
    return zstd_fail_current(d, err);
  }
  if( ZSTD_isError(rc) ) return zstd_fail(rc, err);
  if( buffer.pos>0 || d->in.pos>before ) d->between = rc==0;
  *got = buffer.pos;
  d->work += buffer.pos;
  if( d->work<=ZT_POLL_BYTES ) return SQLITE_OK;
  d->work = 0;
  return zt_interrupt_check(&d->payload.budget->interrupt, err);
}

static bool zstd_exhausted(const zstd_decoder *d){
  return d->in.pos==d->in.size && d->read==d->payload.component->length;
}

static int zstd_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  zstd_decoder *d = decoder;
  *got = 0;
  if( n>ZT_POLL_BYTES ) n = ZT_POLL_BYTES;
  do{
    if( zstd_step(d, out, n, got, err) || *got ) return err->rc;
  }while( !zstd_exhausted(d) );
  if( !d->between ) zt_break(err, "E2", "zstd: the stored bytes end within a frame");
  return err->rc;
}

/* No frame has a checksum: a digest covers the stored bytes. */
static int zstd_encode(const zt_frame *frame, uint8_t *out, size_t *n, zt_error *err){
  return zt_zstd_encode(frame, false, out, n, err);
}

static const zt_frames zstd_frames = {
  .size = ZSTD_FRAME, .least = ZT_ZSTD_LEAST, .most = ZT_ZSTD_MOST, .bound = zt_zstd_bound,
  .encode = zstd_encode
};

const zt_encoding zt_encoding_zstd = {
  .name = "zstd", .whole = zstd_whole, .open = zstd_open, .next = zstd_next, .close = zstd_close,
  .frames = &zstd_frames, .together = zt_zstd_together
};
