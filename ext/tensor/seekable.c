/*
** The encoding zt.zstd-seekable/1 (zTensor 2): frames that can be decoded by themselves, and a table of where they are.
**
**   content := frame+ table                  ; nothing if there is nothing to decode but an empty table
**   frame   := a zstd frame (RFC 8878)       ; Y1: with a content checksum, without dictionary; Y2: each has as much content as
**                                            ;     the first, the last one at most that, and none more than 16 MiB
**   table   := 5E 2A 4D 18, size u32le, entry*, n u32le, flags u8, B1 EA 92 8F
**                                            ; Y3: a skippable frame of that size, n entries, which ends the content; no
**                                            ;     flag but bit 7, that entries have checksums
**   entry   := stored u32le, content u32le, checksum u32le ?
**                                            ; Y4: stored add up to where the table begins, content to decoded_length
** What a table tells of a frame's length is checked when that is decoded; its checksum is the frame's own. Interface: encoding.h.
*/
#include <zstd.h>
#include <zstd_errors.h>
#include "core/host.h"
#include "tensor/encoding.h"

#define NAME "zt.zstd-seekable/1"
#define FRAME_MAX ((uint32_t)16 << 20)
#define SIDE_BY_SIDE_MAX ((uint64_t)128 << 20)   /* Content of frames that several readers of one component may hold */
#define TABLE_HEAD 8
#define TABLE_FOOT 9
#define CHECKSUMS 0x80
#define CONTENT_CHECKSUM 0x04   /* Frame header descriptor (RFC 8878 3.1.1.1.1) */

struct zt_decoder {
  zt_payload payload;
  uint32_t nFrame;
  uint64_t *stored;        /* nFrame+1: where each frame begins among the stored bytes, and the last one ends; owned */
  uint64_t size;           /* Of the content of each frame but the last; 0 if there is none */
  uint64_t total;          /* Content of all */
  uint32_t iFrame;         /* Of the next one */
  ZSTD_DCtx *ctx;
  uint8_t *in;             /* Stored bytes of a frame; NULL for an image, and before the first; owned */
  size_t nIn;
  uint8_t *out;            /* Content of a frame, if it was wanted in part; owned */
  size_t n, at;            /* Its bytes, and how many were handed out */
};

static int fail(const char *rule, const char *what, zt_error *err){
  return zt_break(err, rule, "%s: %s", NAME, what);
}

static uint32_t le32(const uint8_t *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24;
}

static void close(zt_decoder *d){
  if( !d ) return;
  ZSTD_freeDCtx(d->ctx);
  sqlite3_free(d->stored);
  sqlite3_free(d->in);
  sqlite3_free(d->out);
  sqlite3_free(d);
}

/* --- The table --- */

/* Take the entries at p, `width` bytes each (Y2). */
static int read_entries(zt_decoder *d, const uint8_t *p, unsigned width, zt_error *err){
  uint64_t stored = 0, content = 0;
  d->stored = sqlite3_malloc64(((uint64_t)d->nFrame+1)*sizeof(*d->stored));
  if( !d->stored ) return zt_fail_nomem(err);
  for(uint32_t i=0; i<d->nFrame; i++, p+=width){
    uint32_t n = le32(p+4);
    d->stored[i] = stored;
    stored += le32(p);   /* 2^32 entries of 2^32 bytes fit */
    content += n;
    if( i==0 ) d->size = n;
    if( n>FRAME_MAX || n>d->size || (n<d->size && i+1<d->nFrame) ){
      return fail("Y2", "frames of other sizes than the first one's", err);
    }
  }
  d->stored[d->nFrame] = stored;
  d->total = content;
  return SQLITE_OK;
}

static int read_table(zt_decoder *d, zt_error *err){
  const zt_component *c = d->payload.component;
  uint8_t foot[TABLE_FOOT], *table = NULL;
  uint64_t size, n, width, end = c->offset+c->length;
  if( c->length<TABLE_HEAD+TABLE_FOOT ) return fail("Y3", "too short for a seek table", err);
  if( zt_source_read(d->payload.source, end-TABLE_FOOT, foot, TABLE_FOOT, err) ) return err->rc;
  if( le32(foot+5)!=0x8F92EAB1u || (foot[4] & ~CHECKSUMS) ) return fail("Y3", "it does not end with a seek table", err);
  n = le32(foot);
  width = foot[4] ? 12 : 8;
  size = n*width+TABLE_FOOT;
  if( size>c->length-TABLE_HEAD ) return fail("Y3", "a seek table larger than all of it", err);
  if( n>c->decoded_length && n-c->decoded_length>1 ) return fail("Y2", "more frames than bytes, and one", err);
  table = sqlite3_malloc64(TABLE_HEAD+size);
  if( !table ) return zt_fail_nomem(err);
  d->nFrame = (uint32_t)n;
  if( zt_source_read(d->payload.source, end-size-TABLE_HEAD, table, (size_t)(TABLE_HEAD+size), err) ) goto end;
  if( le32(table)!=0x184D2A5Eu || le32(table+4)!=size ) fail("Y3", "its seek table has another size than its entries", err);
  else if( read_entries(d, table+TABLE_HEAD, (unsigned)width, err)==SQLITE_OK ){
    if( d->stored[d->nFrame]!=c->length-size-TABLE_HEAD ) fail("Y4", "the seek table tells of more or fewer stored bytes", err);
    else if( d->total!=c->decoded_length ) fail("Y4", "the seek table tells of more or fewer bytes than decoded_length", err);
  }
end:
  sqlite3_free(table);
  return err->rc;
}

static int open_decoder(const zt_payload *p, zt_decoder **out, zt_error *err){
  zt_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = NULL;
  if( !d ) return zt_fail_nomem(err);
  *d = (zt_decoder){ .payload = *p, .ctx = ZSTD_createDCtx() };
  if( !d->ctx ) zt_fail_nomem(err);
  else if( read_table(d, err)==SQLITE_OK && d->size*p->side_by_side>SIDE_BY_SIDE_MAX ){
    zt_fail(err, SQLITE_TOOBIG, "%s: %u readers of frames of %llu bytes each", NAME, p->side_by_side, d->size);
  }
  if( err->rc ) close(d);
  else *out = d;
  return err->rc;
}

/* --- Frames --- */

static size_t content_of(const zt_decoder *d, uint32_t i){
  return (size_t)(i+1<d->nFrame ? d->size : d->total-i*d->size);
}

/* The stored bytes of a frame. */
static int load(zt_decoder *d, uint32_t i, zt_span *out, zt_error *err){
  zt_span image = zt_source_image(d->payload.source);
  uint64_t at = d->payload.component->offset+d->stored[i], n = d->stored[i+1]-d->stored[i];
  if( n>ZSTD_compressBound(FRAME_MAX)+FRAME_MAX/64 ) return fail("Y2", "a frame of more stored bytes than 16 MiB can need", err);
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
static int decode(zt_decoder *d, uint8_t *out, zt_error *err){
  size_t n = content_of(d, d->iFrame), got;
  zt_span frame = { NULL, 0 };
  if( load(d, d->iFrame, &frame, err) ) return err->rc;
  if( frame.n<5 || le32(frame.p)!=ZSTD_MAGICNUMBER ) return fail("Y1", "no frame where the seek table tells of one", err);
  if( !(frame.p[4] & CONTENT_CHECKSUM) ) return fail("Y1", "a frame without a content checksum", err);
  got = ZSTD_findFrameCompressedSize(frame.p, frame.n);
  if( ZSTD_isError(got) || got!=frame.n ) return fail("Y1", "a frame of another size than the seek table tells", err);
  got = ZSTD_decompressDCtx(d->ctx, out, n, frame.p, frame.n);
  if( ZSTD_getErrorCode(got)==ZSTD_error_memory_allocation ) return zt_fail_nomem(err);
  if( ZSTD_isError(got) && ZSTD_getErrorCode(got)!=ZSTD_error_dstSize_tooSmall ) return zt_break(err, "Y1", "%s: %s", NAME, ZSTD_getErrorName(got));
  if( got!=n ) return fail("Y2", "a frame of other content than the seek table tells", err);
  d->iFrame++;
  return SQLITE_OK;
}

static int whole(const zt_payload *p, uint8_t *out, uint64_t n, uint64_t *got, zt_error *err){
  zt_decoder *d;
  *got = 0;
  open_decoder(p, &d, err);
  if( !d ) return err->rc;
  if( d->total>n ) *got = d->total;
  else while( d->iFrame<d->nFrame && decode(d, out+*got, err)==SQLITE_OK ) *got += content_of(d, d->iFrame-1);
  close(d);
  return err->rc;
}

static int next(zt_decoder *d, uint8_t *out, size_t n, size_t *got, zt_error *err){
  *got = 0;
  if( d->at==d->n ){
    if( d->iFrame==d->nFrame ) return SQLITE_OK;
    if( zt_interrupt_check(&d->payload.budget->interrupt, err) ) return err->rc;
    d->n = d->at = 0;
    if( content_of(d, d->iFrame)<=n ){
      *got = content_of(d, d->iFrame);
      if( decode(d, out, err) ) *got = 0;
      return err->rc;
    }
    if( !d->out && (d->out = sqlite3_malloc64(d->size))==NULL ) return zt_fail_nomem(err);
    if( decode(d, d->out, err) ) return err->rc;
    d->n = content_of(d, d->iFrame-1);
  }
  *got = d->n-d->at<n ? d->n-d->at : n;
  memcpy(out, d->out+d->at, *got);
  d->at += *got;
  return SQLITE_OK;
}

static int seek(zt_decoder *d, uint64_t offset, uint64_t *position, zt_error *err){
  uint64_t i = d->size ? offset/d->size : 0;
  if( i>=d->nFrame ) i = d->nFrame ? d->nFrame-1 : 0;
  if( d->n>0 && i+1==d->iFrame ){   /* Within the frame that is there */
    d->at = offset-i*d->size<d->n ? (size_t)(offset-i*d->size) : d->n;
    *position = i*d->size+d->at;
    return SQLITE_OK;
  }
  d->n = d->at = 0;
  d->iFrame = (uint32_t)i;
  *position = i*d->size;
  return err->rc;
}

const zt_encoding zt_encoding_seekable = { NAME, false, true, whole, open_decoder, next, close, seek };
