/*
** The encoding zt.zstd-seekable/1: frames that can be decoded separately, and a table of their
** places.
**
**   content := frame* table                  ; no frame if there is nothing to decode
**   frame   := a zstd frame (RFC 8878)       ; Y1: with a content checksum, without dictionary; Y2:
**                                            ;     each has as much content as the first, the last
**                                            ;     one at most that, and none more than 16 MiB
**   table   := 5E 2A 4D 18, size u32le, entry*, n u32le, flags u8, B1 EA 92 8F
**                                            ; Y3: a skippable frame of that size, n entries, which
**                                            ;     ends the content; no flag but bit 7, that
**                                            ;     entries have checksums
**   entry   := stored u32le, content u32le, checksum u32le ?
**                                            ; Y4: stored add up to where the table begins, content
**                                            ;     to decoded_length
** The lengths in the table are checked when a frame is decoded. Checksums in the table are those of
** the frames. Interface: encoding.h.
*/
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "core/output.h"
#include "core/prefetch.h"
#include "tensor/encoding.h"
#include "tensor/zstd_frame.h"

#define SEEKABLE_NAME "zt.zstd-seekable/1"
#define SEEKABLE_FRAME ((size_t)1 << 20)   /* Content of a frame that is written */
#define SEEKABLE_FRAME_MAX ((uint32_t)16 << 20)
#define SEEKABLE_SIDE_BY_SIDE_MAX ((uint64_t)128 << 20)   /* Content held by all readers of one
                                                          ** component */
#define SEEKABLE_ROW 2                   /* Consecutive frames before later ones are prefetched */
#define SEEKABLE_TABLE_HEAD 8
#define SEEKABLE_TABLE_FOOT 9
#define SEEKABLE_TAIL ((uint64_t)64 << 10)   /* Bytes that are asked for with the table, at most */
#define SEEKABLE_TABLE_ENTRY 8           /* Without checksum */
#define SEEKABLE_TABLE_MAGIC 0x184D2A5Eu
#define SEEKABLE_MAGIC 0x8F92EAB1u
#define SEEKABLE_CHECKSUMS 0x80
#define SEEKABLE_CONTENT_CHECKSUM 0x04   /* Frame header descriptor (RFC 8878 3.1.1.1.1) */

typedef struct seekable_decoder {
  zt_payload payload;
  uint32_t nFrame;
  uint64_t *stored;        /* nFrame+1 offsets of frames in the stored bytes, with the end; owned */
  uint64_t size;           /* Content of each frame but the last; 0 if there is none */
  uint64_t total;          /* Content of all frames */
  uint32_t iFrame;         /* The next frame */
  ZSTD_DCtx *ctx;
  uint8_t *in;             /* Stored bytes of a frame, owned; NULL at first, and for an image */
  size_t nIn;
  uint8_t *out;            /* Content of a frame that is read in part; owned */
  size_t n, at;            /* Its bytes, and how many were returned */
  uint64_t work;           /* Bytes of content since the last check for an interrupt */
  uint32_t row;            /* Consecutive frames read */
  zt_prefetch prefetch;    /* The next frames */
  struct seekable_job *spare;   /* Jobs whose memory is reused; owned */
} seekable_decoder;

/* A prefetched frame. */
typedef struct seekable_job {
  zt_job job;              /* First */
  seekable_decoder *of;
  struct seekable_job *next;   /* In the list of spare jobs */
  seekable_decoder d;      /* A copy, positioned at the frame; it owns only ctx, in and out */
  zt_error err;
} seekable_job;

static void seekable_free_jobs(seekable_job *j){
  while( j ){
    seekable_job *next = j->next;
    ZSTD_freeDCtx(j->d.ctx);
    sqlite3_free(j->d.in);
    sqlite3_free(j->d.out);
    sqlite3_free(j);
    j = next;
  }
}

static int seekable_fail(const char *rule, const char *what, zt_error *err){
  return zt_break(err, rule, "%s: %s", SEEKABLE_NAME, what);
}

static void seekable_close(zt_decoder *decoder){
  seekable_decoder *d = decoder;
  zt_prefetch_clear(&d->prefetch);
  seekable_free_jobs(d->spare);
  ZSTD_freeDCtx(d->ctx);
  sqlite3_free(d->stored);
  sqlite3_free(d->in);
  sqlite3_free(d->out);
  sqlite3_free(d);
}

/* --- The table --- */

/* Read the entries at p, `width` bytes each (Y2). */
static int seekable_read_entries(seekable_decoder *d, const uint8_t *p, unsigned width,
                                 zt_error *err){
  uint64_t stored = 0, content = 0;
  d->stored = sqlite3_malloc64(((uint64_t)d->nFrame+1)*sizeof(*d->stored));
  if( !d->stored ) return zt_fail_nomem(err);
  for(uint32_t i=0; i<d->nFrame; i++, p+=width){
    uint32_t n = zt_le32(p+4);
    d->stored[i] = stored;
    stored += zt_le32(p);   /* 2^32 entries of 2^32 bytes fit */
    content += n;
    if( i==0 ) d->size = n;
    if( n>SEEKABLE_FRAME_MAX || n>d->size || (n<d->size && i+1<d->nFrame) ){
      return seekable_fail("Y2", "frames of other sizes than the first one's", err);
    }
  }
  d->stored[d->nFrame] = stored;
  d->total = content;
  return SQLITE_OK;
}

static int seekable_read_table(seekable_decoder *d, zt_error *err){
  const zt_component *c = d->payload.component;
  uint8_t foot[SEEKABLE_TABLE_FOOT], *table = NULL;
  uint64_t size, n, width, tail, end = c->offset+c->length;
  if( c->length<SEEKABLE_TABLE_HEAD+SEEKABLE_TABLE_FOOT ){
    return seekable_fail("Y3", "too short for a seek table", err);
  }
  tail = c->length<SEEKABLE_TAIL ? c->length : SEEKABLE_TAIL;
  zt_source_expect(d->payload.source, end-tail, tail);
  if( zt_source_read(d->payload.source, end-SEEKABLE_TABLE_FOOT, foot, SEEKABLE_TABLE_FOOT, err) ){
    return err->rc;
  }
  if( zt_le32(foot+5)!=SEEKABLE_MAGIC || (foot[4] & ~SEEKABLE_CHECKSUMS) ){
    return seekable_fail("Y3", "it does not end with a seek table", err);
  }
  n = zt_le32(foot);
  width = foot[4] ? SEEKABLE_TABLE_ENTRY+4 : SEEKABLE_TABLE_ENTRY;
  size = n*width+SEEKABLE_TABLE_FOOT;
  if( size>c->length-SEEKABLE_TABLE_HEAD ){
    return seekable_fail("Y3", "a seek table larger than all of it", err);
  }
  if( n>c->decoded_length && n-c->decoded_length>1 ){
    return seekable_fail("Y2", "more frames than bytes of content plus one", err);
  }
  table = sqlite3_malloc64(SEEKABLE_TABLE_HEAD+size);
  if( !table ) return zt_fail_nomem(err);
  d->nFrame = (uint32_t)n;
  if( zt_source_read(d->payload.source, end-size-SEEKABLE_TABLE_HEAD, table,
                     (size_t)(SEEKABLE_TABLE_HEAD+size), err) ) goto end;
  if( zt_le32(table)!=SEEKABLE_TABLE_MAGIC || zt_le32(table+4)!=size ){
    seekable_fail("Y3", "its seek table has another size than its entries", err);
  }else if( seekable_read_entries(d, table+SEEKABLE_TABLE_HEAD, (unsigned)width, err)==SQLITE_OK ){
    if( d->stored[d->nFrame]!=c->length-size-SEEKABLE_TABLE_HEAD ){
      seekable_fail("Y4", "the seek table states more or fewer stored bytes", err);
    }else if( d->total!=c->decoded_length ){
      seekable_fail("Y4", "the seek table states more or fewer bytes than decoded_length", err);
    }
  }
end:
  sqlite3_free(table);
  return err->rc;
}

static int seekable_open_decoder(const zt_payload *p, zt_decoder **out, zt_error *err){
  seekable_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = NULL;
  if( !d ) return zt_fail_nomem(err);
  *d = (seekable_decoder){ .payload = *p, .ctx = ZSTD_createDCtx() };
  if( !d->ctx ) zt_fail_nomem(err);
  else if( seekable_read_table(d, err)==SQLITE_OK
        && d->size*p->side_by_side>SEEKABLE_SIDE_BY_SIDE_MAX ){
    zt_fail(err, SQLITE_TOOBIG, "%s: %u readers of frames of %llu bytes each", SEEKABLE_NAME,
            p->side_by_side, d->size);
  }
  if( err->rc ) seekable_close(d);
  else *out = d;
  return err->rc;
}

/* --- Frames --- */

static size_t seekable_content_of(const seekable_decoder *d, uint32_t i){
  return (size_t)(i+1<d->nFrame ? d->size : d->total-i*d->size);
}

static int seekable_load(seekable_decoder *d, uint32_t i, zt_span *out, zt_error *err){
  zt_span image = zt_source_image(d->payload.source);
  uint64_t at = d->payload.component->offset+d->stored[i], n = d->stored[i+1]-d->stored[i];
  if( n>ZSTD_compressBound(SEEKABLE_FRAME_MAX)+SEEKABLE_FRAME_MAX/64 ){
    return seekable_fail("Y2", "a frame of more stored bytes than 16 MiB can need", err);
  }
  if( image.p ){
    *out = (zt_span){ image.p+at, (size_t)n };
    return SQLITE_OK;
  }
  if( n>d->nIn ){
    sqlite3_free(d->in);
    d->nIn = 0;
    d->in = sqlite3_malloc64(n);
    if( !d->in ) return zt_fail_nomem(err);
    d->nIn = (size_t)n;
  }
  *out = (zt_span){ d->in, (size_t)n };
  return zt_source_read(d->payload.source, at, d->in, (size_t)n, err);
}

/* Decode the next frame into out, which has room for its content. */
static int seekable_decode(seekable_decoder *d, uint8_t *out, zt_error *err){
  size_t n = seekable_content_of(d, d->iFrame), got;
  zt_span frame = { NULL, 0 };
  if( seekable_load(d, d->iFrame, &frame, err) ) return err->rc;
  if( frame.n<5 || zt_le32(frame.p)!=ZSTD_MAGICNUMBER ){
    return seekable_fail("Y1", "no frame where the seek table states one", err);
  }
  if( !(frame.p[4] & SEEKABLE_CONTENT_CHECKSUM) ){
    return seekable_fail("Y1", "a frame without a content checksum", err);
  }
  got = ZSTD_findFrameCompressedSize(frame.p, frame.n);
  if( ZSTD_isError(got) || got!=frame.n ){
    return seekable_fail("Y1", "a frame of another size than the seek table states", err);
  }
  got = ZSTD_decompressDCtx(d->ctx, out, n, frame.p, frame.n);
  if( ZSTD_getErrorCode(got)==ZSTD_error_memory_allocation ) return zt_fail_nomem(err);
  if( ZSTD_isError(got) && ZSTD_getErrorCode(got)!=ZSTD_error_dstSize_tooSmall ){
    return zt_break(err, "Y1", "%s: %s", SEEKABLE_NAME, ZSTD_getErrorName(got));
  }
  if( got!=n ){
    return seekable_fail("Y2", "a frame of other content than the seek table states", err);
  }
  d->iFrame++;
  return SQLITE_OK;
}

static int seekable_whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got,
                          zt_error *err){
  zt_decoder *decoder;
  seekable_decoder *d;
  *got = 0;
  seekable_open_decoder(p, &decoder, err);
  d = decoder;
  if( !d ) return err->rc;
  if( d->total>n ) *got = d->total;
  else while( d->iFrame<d->nFrame && seekable_decode(d, out+*got, err)==SQLITE_OK ){
    *got += seekable_content_of(d, d->iFrame-1);
  }
  seekable_close(d);
  return err->rc;
}

static int seekable_poll(seekable_decoder *d, zt_error *err){
  d->work += d->size;
  if( d->work<ZT_POLL_BYTES ) return SQLITE_OK;
  d->work = 0;
  return zt_interrupt_check(&d->payload.budget->interrupt, err);
}

/* --- Frames ahead --- */

static void seekable_work(zt_job *job, const zt_interrupt *interrupt){
  seekable_job *j = (seekable_job*)job;
  seekable_decoder *d = &j->d;
  (void)interrupt;
  if( !d->ctx ) d->ctx = ZSTD_createDCtx();
  if( !d->out ) d->out = sqlite3_malloc64(d->size);
  if( !d->ctx || !d->out ) zt_fail_nomem(&j->err);
  else seekable_decode(d, d->out, &j->err);
  job->memory = d->size;
}

typedef struct seekable_run {
  seekable_decoder *d;
  const zt_error *place;   /* The place of errors */
} seekable_run;

static bool seekable_follows(void *context, uint64_t *number){
  return ++*number<((const seekable_run*)context)->d->nFrame;
}

static zt_job *seekable_make(void *context, uint64_t number){
  const seekable_run *run = context;
  seekable_job *j = run->d->spare;
  if( j ){
    run->d->spare = j->next;
  }else{
    j = sqlite3_malloc64(sizeof(*j));
    if( !j ) return NULL;
    *j = (seekable_job){ .job.work = seekable_work, .of = run->d, .d = *run->d };
    j->d.ctx = NULL;
    j->d.in = j->d.out = NULL;
    j->d.nIn = 0;
  }
  j->d.iFrame = (uint32_t)number;
  j->err = *run->place;
  return &j->job;
}

static void seekable_drop(zt_job *job){
  seekable_job *j = (seekable_job*)job;
  zt_error_clear(&j->err);
  j->next = j->of->spare;
  j->of->spare = j;
}

static const zt_jobs seekable_jobs = { seekable_follows, seekable_make, seekable_drop };

/* True if frames may be prefetched: there are threads, frames have content, and no other reader of
** this component prefetches frames too. */
static bool seekable_has_help(const seekable_decoder *d){
  return d->payload.budget->pool && d->size>0 && d->payload.side_by_side<2;
}

/* Move the next frame's content to d->out, and prefetch later frames. */
static int seekable_take(seekable_decoder *d, zt_error *err){
  const zt_interrupt interrupt = d->payload.budget->interrupt;
  seekable_run run = { d, err };
  seekable_job *j;
  d->prefetch.jobs = &seekable_jobs;
  d->prefetch.tasks.pool = d->payload.budget->pool;
  j = (seekable_job*)zt_prefetch_take(&d->prefetch, &run, d->iFrame, d->nFrame-1-d->iFrame,
                                      &interrupt, err);
  if( !j ) return err->rc;
  if( j->err.rc ){
    *err = j->err;
    j->err = ZT_ERROR_NONE;
  }else{
    uint8_t *before = d->out;
    d->out = j->d.out;
    j->d.out = before;
    d->iFrame++;
  }
  seekable_drop(&j->job);
  return err->rc;
}

static int seekable_fetch(seekable_decoder *d, zt_error *err){
  if( seekable_has_help(d) && ++d->row>SEEKABLE_ROW ) return seekable_take(d, err);
  if( !d->out && (d->out = sqlite3_malloc64(d->size))==NULL ) return zt_fail_nomem(err);
  return seekable_decode(d, d->out, err);
}

static int seekable_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  seekable_decoder *d = decoder;
  *got = 0;
  if( d->at==d->n ){
    if( d->iFrame==d->nFrame ) return SQLITE_OK;
    if( seekable_poll(d, err) ) return err->rc;
    d->n = d->at = 0;
    if( seekable_content_of(d, d->iFrame)<=n && !seekable_has_help(d) ){
      *got = seekable_content_of(d, d->iFrame);
      if( seekable_decode(d, out, err) ) *got = 0;
      return err->rc;
    }
    if( seekable_fetch(d, err) ) return err->rc;
    d->n = seekable_content_of(d, d->iFrame-1);
  }
  *got = d->n-d->at<n ? d->n-d->at : n;
  memcpy(out, d->out+d->at, *got);
  d->at += *got;
  return SQLITE_OK;
}

static int seekable_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  seekable_decoder *d = decoder;
  uint64_t i = d->size ? offset/d->size : 0;
  if( i>=d->nFrame ) i = d->nFrame ? d->nFrame-1 : 0;
  if( d->n>0 && i+1==d->iFrame ){   /* Within the decoded frame */
    d->at = offset-i*d->size<d->n ? (size_t)(offset-i*d->size) : d->n;
    *position = i*d->size+d->at;
    return SQLITE_OK;
  }
  d->n = d->at = 0;
  d->iFrame = (uint32_t)i;
  d->row = 0;
  *position = i*d->size;
  return err->rc;
}

/* --- Encoding --- */

/* Nothing to decode has no frame. */
static int seekable_encode(const zt_frame *frame, uint8_t *out, size_t *n, zt_error *err){
  *n = 0;
  return frame->bytes.n ? zt_zstd_encode(frame, true, out, n, err) : SQLITE_OK;
}

static size_t seekable_count(const zt_frame_length *a, size_t n){
  return n==1 && a->stored==0 ? 0 : n;
}

static size_t seekable_trailer_size(const zt_frame_length *a, size_t n){
  return SEEKABLE_TABLE_HEAD+seekable_count(a, n)*SEEKABLE_TABLE_ENTRY+SEEKABLE_TABLE_FOOT;
}

/* The table. Its entries have no checksums, like those of zTensor's library: frames have them. */
static void seekable_trailer(const zt_frame_length *a, size_t n, uint8_t *out){
  const size_t size = seekable_trailer_size(a, n), count = seekable_count(a, n);
  uint8_t *p = out+SEEKABLE_TABLE_HEAD;
  zt_put_le(out, SEEKABLE_TABLE_MAGIC, 4);
  zt_put_le(out+4, (uint32_t)(size-SEEKABLE_TABLE_HEAD), 4);
  for(size_t i=0; i<count; i++, p+=SEEKABLE_TABLE_ENTRY){
    zt_put_le(p, a[i].stored, 4);
    zt_put_le(p+4, a[i].decoded, 4);
  }
  zt_put_le(p, (uint32_t)count, 4);
  p[4] = 0;
  zt_put_le(p+5, SEEKABLE_MAGIC, 4);
}

static const zt_frames seekable_frames = {
  .size = SEEKABLE_FRAME, .least = ZT_ZSTD_LEAST, .most = ZT_ZSTD_MOST, .bound = zt_zstd_bound,
  .encode = seekable_encode, .trailer_size = seekable_trailer_size, .trailer = seekable_trailer
};

const zt_encoding zt_encoding_seekable = {
  .name = SEEKABLE_NAME, .whole = seekable_whole, .open = seekable_open_decoder,
  .next = seekable_next, .close = seekable_close, .seek = seekable_seek, .frames = &seekable_frames
};
