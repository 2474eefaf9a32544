/*
** The encoding zstd, by libzstd. See encoding.h for its rules E2 to E4.
**
** What fits ZT_WHOLE_MAX is decoded in one call, straight into the result. Everything else goes through a window, which
** costs a copy, but can stop where the wanted range ends and be interrupted.
*/
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/encoding.h"

#define WINDOW ((size_t)256 << 10)
#define SINGLE_SEGMENT 0x20   /* Frame header descriptor: no window */
#define WINDOW_LOG_MAX 27     /* What libzstd takes for a stream unless told otherwise */

static int fail_zstd(size_t code, zt_error *err){
  if( ZSTD_getErrorCode(code)==ZSTD_error_memory_allocation ) return zt_fail_nomem(err);
  return zt_fail(err, SQLITE_ERROR, "zstd: %s", ZSTD_getErrorName(code));   /* E2 */
}

static int fail_long(const zt_decode_job *job, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "zstd: decodes to more than the %llu bytes that the manifest tells", job->total);   /* E3, E4 */
}

static int fail_short(const zt_decode_job *job, uint64_t n, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "zstd: decodes to %llu bytes, the manifest tells %llu", n, job->total);   /* E3 */
}

/* True if a frame or skippable frame of RFC 8878 may begin with the 4 bytes at p; libzstd knows older formats, too. */
static bool is_magic(const uint8_t *p){
  uint32_t magic = (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24;
  return magic==ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK)==ZSTD_MAGIC_SKIPPABLE_START;
}

static int fail_magic(zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "zstd: Unknown frame descriptor");   /* E2 */
}

/* Look at the head of each frame (RFC 8878 3.1.1.1): what libzstd refuses in part is refused in whole, in the same words, though
** decoding in one call needs no window. What is wrong behind the heads, decoding finds. */
static int check_frames(const uint8_t *p, size_t n, zt_error *err){
  while( n>=4 && !err->rc ){
    size_t frame = ZSTD_findFrameCompressedSize(p, n);
    if( !is_magic(p) ) return fail_magic(err);
    if( ZSTD_isError(frame) ) break;
    if( p[0]==0x28 && !(p[4] & SINGLE_SEGMENT) && 10u+(p[5]>>3)+((p[5] & 7)!=0)>WINDOW_LOG_MAX ){
      return zt_fail(err, SQLITE_ERROR, "zstd: Frame requires too much memory for decoding");
    }
    p += frame;
    n -= frame;
  }
  return SQLITE_OK;
}

static int whole(const zt_decode_job *job, uint8_t *out, zt_error *err){
  const zt_component *component = job->payload->component;
  zt_span image = zt_source_image(job->payload->source);
  size_t nStored = (size_t)component->length, n;
  ZSTD_DCtx *ctx = ZSTD_createDCtx();
  uint8_t *copy = NULL;
  const uint8_t *stored;
  if( !ctx ){
    zt_fail_nomem(err);
    goto end;
  }
  if( image.p ){
    stored = image.p+component->offset;
  }else{
    stored = copy = sqlite3_malloc64(nStored+1);
    if( !copy ) zt_fail_nomem(err);
    else zt_source_read(job->payload->source, component->offset, copy, nStored, err);
    if( err->rc ) goto end;
  }
  if( check_frames(stored, nStored, err) ) goto end;
  n = ZSTD_decompressDCtx(ctx, out, (size_t)job->total, stored, nStored);
  if( ZSTD_getErrorCode(n)==ZSTD_error_dstSize_tooSmall ) fail_long(job, err);
  else if( ZSTD_isError(n) ) fail_zstd(n, err);
  else if( n!=job->total ) fail_short(job, n, err);
end:
  sqlite3_free(copy);
  ZSTD_freeDCtx(ctx);
  return err->rc;
}

/* A stream being decoded. */
typedef struct stream {
  const zt_decode_job *job;
  ZSTD_DCtx *ctx;
  ZSTD_inBuffer in;
  uint8_t *window;         /* Stored bytes being read; NULL for an image */
  uint8_t *scratch;        /* Decoded bytes that nobody wants */
  uint64_t read;           /* Stored bytes taken so far */
  uint64_t position;       /* Decoded bytes so far */
  uint64_t polled;         /* read + position when the last question was asked */
  bool between;            /* Between two frames, not within one */
} stream;

/* Provide stored bytes if all so far are used up. */
static int refill(stream *s, zt_error *err){
  const zt_payload *p = s->job->payload;
  zt_span image = zt_source_image(p->source);
  uint64_t left = p->component->length - s->read;
  size_t n = left<WINDOW ? (size_t)left : WINDOW;
  if( s->in.pos<s->in.size || n==0 ) return SQLITE_OK;
  if( !image.p && zt_source_read(p->source, p->component->offset+s->read, s->window, n, err) ) return err->rc;
  s->in = (ZSTD_inBuffer){ image.p ? image.p+p->component->offset+s->read : s->window, n, 0 };
  s->read += n;
  return SQLITE_OK;
}

/* Decode once into out, n bytes long; *got is how many came. */
static int step(stream *s, uint8_t *out, size_t n, size_t *got, zt_error *err){
  ZSTD_outBuffer buffer = { out, n, 0 };
  size_t rc, before;
  *got = 0;
  if( refill(s, err) ) return err->rc;
  before = s->in.pos;
  if( s->between && s->in.size-s->in.pos>=4 && !is_magic((const uint8_t*)s->in.src+s->in.pos) ) return fail_magic(err);
  rc = ZSTD_decompressStream(s->ctx, &buffer, &s->in);
  if( ZSTD_isError(rc) ) return fail_zstd(rc, err);
  if( buffer.pos>0 || s->in.pos>before ) s->between = rc==0;
  *got = buffer.pos;
  s->position += buffer.pos;
  if( s->position>s->job->payload->budget->decode ){
    return zt_fail(err, SQLITE_TOOBIG, "zstd: more than %llu bytes would have to be decoded", s->job->payload->budget->decode);
  }
  if( s->read+s->position-s->polled>ZT_POLL_BYTES ){
    s->polled = s->read+s->position;
    zt_interrupt_check(&s->job->payload->budget->interrupt, err);
  }
  return err->rc;
}

static bool exhausted(const stream *s){
  return s->in.pos==s->in.size && s->read==s->job->payload->component->length;
}

/* Decode up to position `to`, throwing the bytes away. False if the content ends before, or on failure. */
static bool pass_over(stream *s, uint64_t to, zt_error *err){
  size_t got;
  while( s->position<to ){
    uint64_t n = to - s->position;
    if( step(s, s->scratch, n<WINDOW ? (size_t)n : WINDOW, &got, err) ) return false;
    if( got==0 && exhausted(s) ) return false;
  }
  return true;
}

/* Decode the wanted bytes into the sink. False if the content ends before they all came, or on failure. */
static bool take(stream *s, zt_sink *sink, zt_error *err){
  uint64_t left = s->job->length;
  while( left>0 ){
    size_t n, got;
    uint8_t *out = sink->room(sink, &n, err);
    if( !out || step(s, out, n<left ? n : (size_t)left, &got, err) ) return false;
    if( got==0 && exhausted(s) ) return false;
    left -= got;
    if( sink->commit(sink, got, err) ) return false;
  }
  return true;
}

/* All content is decoded: nothing may be left, and the last frame must be whole. */
static void finish(stream *s, zt_error *err){
  size_t got;
  while( !err->rc && !exhausted(s) ){
    if( step(s, s->scratch, 1, &got, err) ) return;
    if( got>0 ){
      fail_long(s->job, err);
      return;
    }
  }
  if( !err->rc && !s->between ) zt_fail(err, SQLITE_ERROR, "zstd: the stored bytes end within a frame");   /* E2 */
}

static int decode(const zt_decode_job *job, zt_sink *sink, zt_error *err){
  stream s = { .job = job, .between = true };
  bool all = job->known && job->start+job->length==job->total;
  s.ctx = ZSTD_createDCtx();
  s.scratch = sqlite3_malloc64(WINDOW);
  s.window = sqlite3_malloc64(WINDOW);
  if( !s.ctx || !s.scratch || !s.window ){
    zt_fail_nomem(err);
  }else{
    bool came = pass_over(&s, job->start, err) && take(&s, sink, err);
    if( !err->rc && (all || !came) ) finish(&s, err);
    if( !err->rc && job->known && !came ) fail_short(job, s.position, err);
  }
  sqlite3_free(s.window);
  sqlite3_free(s.scratch);
  ZSTD_freeDCtx(s.ctx);
  return err->rc;
}

const zt_encoding zt_encoding_zstd = { "zstd", whole, decode };
