/*
** The encoding of numbers that are stored as another type than the component's: usually a narrower
** one, which saves room. Their bytes may be encoded in turn. Decoding converts them (convert.h).
**
**   E6  the type can express each number
*/
#include <assert.h>
#include "core/host.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "tensor/stream.h"

#define NUMBERS_PIECE 1024   /* Numbers converted at once */
#define NUMBERS_WIDTH 8      /* Bytes of the widest number */

typedef struct numbers {
  zt_stream *stream;             /* The stored numbers */
  const zt_dtype *from, *to;
  bool swap;                     /* Their byte order is not this machine's */
  uint64_t n;                    /* How many they are */
  uint64_t at;                   /* The next one to convert */
  size_t begin, end;             /* Bytes of `to` that are next */
  ZT_NUMBERS(NUMBERS_PIECE) stored;
  ZT_NUMBERS(NUMBERS_PIECE) converted;
} numbers;

static void numbers_close(zt_decoder *decoder){
  numbers *d = decoder;
  zt_stream_close(d->stream);
  sqlite3_free(d);
}

static int numbers_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  zt_component stored = *p->component;
  zt_payload payload = *p;
  numbers *d = sqlite3_malloc64(sizeof(*d));
  *out = NULL;
  if( !d ) return zt_fail_nomem(err);
  assert( stored.storage && stored.number->width<=NUMBERS_WIDTH );
  memset(d, 0, sizeof(*d));
  d->from = stored.number;
  d->to = stored.storage;
  d->swap = stored.number_big!=zt_big_endian();
  d->n = stored.decoded_length/d->to->width;
  stored.codec = stored.number_codec;
  stored.skip = stored.number_skip;
  stored.behind = stored.number_behind;
  stored.decoded_length = d->n*d->from->width;
  payload.component = &stored;
  if( zt_stream_open(&payload, &d->stream, err) ) numbers_close(d);
  else *out = d;
  return err->rc;
}

/* Convert the next numbers. `end` stays 0 if there are none. */
static int numbers_refill(numbers *d, zt_error *err){
  const size_t most = d->n-d->at<NUMBERS_PIECE ? (size_t)(d->n-d->at) : NUMBERS_PIECE;
  size_t got, n, done;
  d->begin = d->end = 0;
  if( zt_stream_read(d->stream, d->at*d->from->width, &d->stored, most*d->from->width, &got, err) ){
    return err->rc;
  }
  n = got/d->from->width;
  if( d->swap ) zt_swap_bytes(&d->stored, got, d->from->unit);
  done = zt_convert(d->from, &d->stored, d->to, &d->converted, n);
  if( done<n ){
    return zt_break(err, "E6", "number %llu, which is stored as %s, does not fit %s", d->at+done,
                    d->from->name, d->to->name);
  }
  if( zt_big_endian() ) zt_swap_bytes(&d->converted, n*d->to->width, d->to->unit);
  d->at += n;
  d->end = n*d->to->width;
  return SQLITE_OK;
}

static int numbers_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  numbers *d = decoder;
  *got = 0;
  if( d->begin==d->end && numbers_refill(d, err) ) return err->rc;
  *got = d->end-d->begin<n ? d->end-d->begin : n;
  memcpy(out, d->converted.bytes+d->begin, *got);
  d->begin += *got;
  return SQLITE_OK;
}

static int numbers_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  numbers *d = decoder;
  (void)err;
  d->at = offset/d->to->width<d->n ? offset/d->to->width : d->n;
  d->begin = d->end = 0;
  *position = d->at*d->to->width;
  return SQLITE_OK;
}

const zt_encoding zt_encoding_numbers = {
  .name = "numbers", .open = numbers_open, .next = numbers_next, .close = numbers_close,
  .seek = numbers_seek
};
