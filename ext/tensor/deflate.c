/*
** The encoding deflate: one stream of RFC 1951, as in zip archives; and the same with a header and
** a checksum around it, zlib and gzip. encoding.h has the rules E2 to E4, and core/inflate.h the
** decoder. The encoder, of deflate alone, is zlib.
**
** Many components may lie in the content of one stream, as a struct's arrays do in a MATLAB file. A
** decoder of a part of the content is left to the source when it is closed. The next one goes on
** from there, and does not decode to the end what was decoded to the end once. So reading parts in
** their order decodes the content twice, however many they are.
*/
#define ZLIB_CONST
#include <zlib.h>
#include "core/host.h"
#include "core/inflate.h"
#include "tensor/encoding.h"

#define DEFLATE_WINDOW ((size_t)128 << 10)
#define DEFLATE_FRAME ((size_t)1 << 20)     /* Content of a frame that is written */
#define DEFLATE_BEFORE ((size_t)32 << 10)   /* A match reaches back at most so far */
#define DEFLATE_FLUSH 16u                   /* More than the bytes that end a frame but the last */
#define DEFLATE_MEMORY 8                    /* zlib's default, and Python's */

typedef struct deflate_decoder {
  zt_resumable state;      /* First */
  zt_payload payload;      /* Of the current component */
  uint64_t offset, length; /* Its stored bytes */
  zt_inflate_around around;
  bool shared;             /* The source receives it */
  uint64_t position;       /* Bytes decoded so far */
  uint64_t sound;          /* Length of the content, once it was decoded to its end; UINT64_MAX: it
                           ** was not */
  zt_inflate *inflate;
  zt_span in;              /* Stored bytes not decoded yet */
  uint8_t *window;         /* They are read into this; NULL for an image */
  size_t room;             /* Its bytes */
  uint64_t read;           /* Stored bytes read so far */
  uint64_t work;           /* Bytes read and decoded since the last check for an interrupt */
} deflate_decoder;

static void deflate_free_state(zt_resumable *state){
  deflate_decoder *d = (deflate_decoder*)state;
  zt_inflate_free(d->inflate);
  sqlite3_free(d->window);
  sqlite3_free(d);
}

static void deflate_close(zt_decoder *decoder){
  deflate_decoder *d = decoder;
  if( d->shared ) zt_source_leave_state(d->payload.source, &d->state);
  else deflate_free_state(&d->state);
}

static zt_inflate_around deflate_around(const zt_payload *p){
  return p->component->codec==ZT_CODEC_ZLIB ? ZT_INFLATE_ZLIB
       : p->component->codec==ZT_CODEC_GZIP ? ZT_INFLATE_GZIP : ZT_INFLATE_BARE;
}

/* Begin with the first byte of the payload's content. */
static int deflate_begin(deflate_decoder *d, const zt_payload *p, zt_error *err){
  const uint64_t length = p->component->length;
  const size_t n = length<DEFLATE_WINDOW ? (size_t)length : DEFLATE_WINDOW;
  d->payload = *p;
  d->offset = p->component->offset;
  d->length = length;
  d->around = deflate_around(p);
  d->position = d->read = 0;
  d->in = (zt_span){ NULL, 0 };
  if( !d->inflate && (d->inflate = zt_inflate_new(err))==NULL ) return err->rc;
  if( !zt_source_image(p->source).p && d->room<n+1 ){
    sqlite3_free(d->window);
    d->room = 0;
    d->window = sqlite3_malloc64(n+1);
    if( !d->window ) return zt_fail_nomem(err);
    d->room = n+1;
  }
  zt_inflate_begin(d->inflate, d->around);
  return SQLITE_OK;
}

/* Begin anew with a decoder, or with a new one: NULL. */
static int deflate_open_in(deflate_decoder *d, const zt_payload *p, zt_decoder **out,
                           zt_error *err){
  *out = NULL;
  if( !d && (d = sqlite3_malloc64(sizeof(*d)))!=NULL ){
    *d = (deflate_decoder){ .state.free = deflate_free_state, .sound = UINT64_MAX };
  }
  if( !d ) return zt_fail_nomem(err);
  d->work = 0;
  if( deflate_begin(d, p, err) ) deflate_free_state(&d->state);
  else *out = d;
  return err->rc;
}

static int deflate_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  return deflate_open_in(NULL, p, out, err);
}

/* A place in the content of a payload. */
typedef struct deflate_place {
  const zt_payload *payload;
  uint64_t offset;
} deflate_place;

static bool deflate_is_of(const deflate_decoder *d, const zt_payload *p){
  return d->offset==p->component->offset && d->length==p->component->length
      && d->around==deflate_around(p);
}

/* A decoder of this content ranks by how far it is, but not beyond the place. One that is beyond it
** begins anew, and may know that the content is sound. Any other gives its memory. */
static uint64_t deflate_rank(const void *context, const zt_resumable *state){
  const deflate_place *place = context;
  const deflate_decoder *d = (const deflate_decoder*)state;
  if( !deflate_is_of(d, place->payload) ) return 0;
  return d->position<=place->offset ? d->position+2 : 1;
}

static int deflate_go_on(const zt_payload *p, uint64_t offset, zt_decoder **out,
                         uint64_t *position, zt_error *err){
  const zt_component *c = p->component;
  const bool part = c->skip || c->behind || c->number_skip || c->number_behind;
  const deflate_place place = { p, offset };
  deflate_decoder *d = NULL;
  *position = 0;
  if( !part ) return deflate_open(p, out, err);
  d = (deflate_decoder*)zt_source_take_state(p->source, &place, deflate_rank);
  if( d && deflate_is_of(d, p) && d->position<=offset ){
    d->payload = *p;
    *position = d->position;
    *out = d;
    return SQLITE_OK;
  }
  if( d && !deflate_is_of(d, p) ) d->sound = UINT64_MAX;
  deflate_open_in(d, p, out, err);
  if( *out ) ((deflate_decoder*)*out)->shared = true;
  return err->rc;
}

static bool deflate_sound(const zt_decoder *decoder, uint64_t n){
  return ((const deflate_decoder*)decoder)->sound==n;
}

/* Read more stored bytes if `in` is empty. */
static int deflate_refill(deflate_decoder *d, zt_error *err){
  const zt_component *component = d->payload.component;
  zt_span image = zt_source_image(d->payload.source);
  uint64_t remaining = component->length-d->read, at = component->offset+d->read;
  size_t n = remaining<DEFLATE_WINDOW ? (size_t)remaining : DEFLATE_WINDOW;
  if( d->in.n>0 || n==0 ) return SQLITE_OK;
  if( !image.p && zt_source_read(d->payload.source, at, d->window, n, err) ) return err->rc;
  d->in = (zt_span){ image.p ? image.p+at : d->window, n };
  d->read += n;
  d->work += n;
  return SQLITE_OK;
}

/* Where the stream has ended: true if it may go on, as another member of gzip. */
static bool deflate_goes_on(deflate_decoder *d){
  return d->around==ZT_INFLATE_GZIP
      && (zt_inflate_next_member(d->inflate, &d->in)
          || (d->in.n==0 && d->read<d->payload.component->length));
}

/* Where the stream ends, the stored bytes must end too. */
static int deflate_check_end(const deflate_decoder *d, size_t behind, zt_error *err){
  uint64_t more = behind+d->in.n+(d->payload.component->length-d->read);
  if( more==0 ) return SQLITE_OK;
  return zt_break(err, "E2", "deflate: %llu bytes follow behind the stream's end",
                  (unsigned long long)more);
}

static int deflate_decode(deflate_decoder *d, uint8_t *out, size_t n, size_t *got, zt_error *err){
  size_t behind;
  if( n>ZT_POLL_BYTES ) n = ZT_POLL_BYTES;
  for(;;){
    if( deflate_refill(d, err) || zt_inflate_next(d->inflate, &d->in, out, n, got, err) ){
      return err->rc;
    }
    d->position += *got;
    d->work += *got;
    if( d->work>ZT_POLL_BYTES ){
      d->work = 0;
      if( zt_interrupt_check(&d->payload.budget->interrupt, err) ) return err->rc;
    }
    if( *got ) return SQLITE_OK;
    if( !zt_inflate_ended(d->inflate, &behind) ){
      /* All that was read is decoded */
      if( d->read==d->payload.component->length ) break;
    }else if( !deflate_goes_on(d) ){
      if( deflate_check_end(d, behind, err)==SQLITE_OK ) d->sound = d->position;
      return err->rc;
    }
  }
  return zt_break(err, "E2", "deflate: the stored bytes end within the stream");
}

static int deflate_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  deflate_decoder *d = decoder;
  *got = 0;
  if( deflate_decode(d, out, n, got, err) ) d->shared = false;
  return err->rc;
}

/* --- Encoding --- */

static voidpf deflate_malloc(voidpf unused, uInt n, uInt size){
  (void)unused;
  return sqlite3_malloc64((uint64_t)n*size);
}

static void deflate_free(voidpf unused, voidpf p){
  (void)unused;
  sqlite3_free(p);
}

static size_t deflate_bound(size_t n){
  return compressBound((uLong)n)+DEFLATE_FLUSH;
}

static int deflate_fail(int code, zt_error *err){
  if( code==Z_MEM_ERROR ) return zt_fail_nomem(err);
  return zt_fail(err, SQLITE_ERROR, "deflate: zlib's error %d", code);
}

/* Encode the frame, and end its bits at a byte: the stream ends, or an empty block follows. */
static int deflate_run(z_stream *z, const zt_frame *frame, zt_error *err){
  int code = Z_OK;
  if( frame->before.n ) code = deflateSetDictionary(z, frame->before.p, (uInt)frame->before.n);
  if( code==Z_OK ) code = deflate(z, frame->last ? Z_FINISH : Z_SYNC_FLUSH);
  if( code!=(frame->last ? Z_STREAM_END : Z_OK) ) return deflate_fail(code, err);
  if( z->avail_in || !z->avail_out ) return deflate_fail(Z_BUF_ERROR, err);
  return SQLITE_OK;
}

static int deflate_encode(const zt_frame *frame, uint8_t *out, size_t *n, zt_error *err){
  z_stream z = { .zalloc = deflate_malloc, .zfree = deflate_free };
  int code = deflateInit2(&z, frame->level, Z_DEFLATED, -MAX_WBITS, DEFLATE_MEMORY,
                          Z_DEFAULT_STRATEGY);
  *n = 0;
  if( code!=Z_OK ) return deflate_fail(code, err);
  z.next_in = frame->bytes.p;
  z.avail_in = (uInt)frame->bytes.n;
  z.next_out = out;
  z.avail_out = (uInt)deflate_bound(frame->bytes.n);
  if( deflate_run(&z, frame, err)==SQLITE_OK ) *n = (size_t)(z.next_out-out);
  deflateEnd(&z);
  return err->rc;
}

static const zt_frames deflate_frames = {
  .size = DEFLATE_FRAME, .before = DEFLATE_BEFORE, .least = 1, .most = 9,
  .bound = deflate_bound, .encode = deflate_encode
};

const zt_encoding zt_encoding_deflate = {
  .name = "deflate", .open = deflate_open, .next = deflate_next, .close = deflate_close,
  .frames = &deflate_frames, .go_on = deflate_go_on, .sound = deflate_sound
};

const zt_encoding zt_encoding_zlib = {
  .name = "zlib", .open = deflate_open, .next = deflate_next, .close = deflate_close,
  .go_on = deflate_go_on, .sound = deflate_sound
};

const zt_encoding zt_encoding_gzip = {
  .name = "gzip", .open = deflate_open, .next = deflate_next, .close = deflate_close,
  .go_on = deflate_go_on, .sound = deflate_sound
};
