/*
** The encoding of numbers that are stored as another type than the component's: usually a narrower
** one, which saves room. Their bytes are plain, or a stream of zlib in turn, between other bytes of
** its content. Decoding converts them (convert.h).
**
**   E6  the type can express each number: none is rounded. A bool is only whether it is 0
*/
#include <assert.h>
#include <math.h>
#include "core/host.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"

#define NUMBERS_PIECE 1024   /* Numbers converted at once */
#define NUMBERS_WIDTH 8      /* Bytes of the widest number */

typedef struct numbers {
  zt_payload payload;
  zt_component component;        /* Of the payload: that of the stored bytes */
  zt_decoder *inner;             /* NULL: the numbers are plain, or no byte was decoded yet */
  const zt_dtype *from, *to;
  bool swap;                     /* Their byte order is not this machine's */
  uint64_t n;                    /* How many they are */
  uint64_t at;                   /* The next one to convert */
  bool ended;                    /* The stream of zlib is sound up to its end */
  size_t begin, end;             /* Bytes of `converted` that are next */
  ZT_NUMBERS(NUMBERS_PIECE) stored;
  ZT_NUMBERS(NUMBERS_PIECE) converted;
  ZT_NUMBERS(NUMBERS_PIECE) again;   /* `converted`, converted back */
} numbers;

static void numbers_close(zt_decoder *decoder){
  numbers *d = decoder;
  if( d->inner ) zt_encoding_zlib.close(d->inner);
  sqlite3_free(d);
}

static bool numbers_are_plain(const numbers *d){
  return d->component.codec==ZT_CODEC_RAW;
}

static int numbers_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  const zt_component *component = p->component;
  numbers *d = sqlite3_malloc64(sizeof(*d));
  *out = d;
  if( !d ) return zt_fail_nomem(err);
  assert( component->storage && component->number->width<=NUMBERS_WIDTH );
  memset(d, 0, sizeof(*d));
  d->component = *component;
  d->component.codec = component->number_codec;
  d->payload = *p;
  d->payload.component = &d->component;
  d->from = component->number;
  d->to = component->storage;
  d->swap = component->number_big!=zt_big_endian();
  d->n = component->decoded_length/d->to->width;
  return SQLITE_OK;
}

/* Decode n bytes of the stream of zlib to out; NULL: pass over them. */
static int numbers_inflate(numbers *d, uint8_t *out, uint64_t n, zt_error *err){
  uint8_t dropped[4096];
  while( n>0 ){
    const size_t most = out || n<sizeof(dropped) ? (size_t)n : sizeof(dropped);
    size_t got;
    if( zt_encoding_zlib.next(d->inner, out ? out : dropped, most, &got, err) ) return err->rc;
    if( got==0 ) return zt_break(err, "E3", "zlib: decodes to %llu bytes less than stated", n);
    if( out ) out += got;
    n -= got;
  }
  return SQLITE_OK;
}

/* Pass over what lies behind the numbers: the stream ends there. */
static int numbers_end(numbers *d, zt_error *err){
  const uint64_t end = d->component.number_skip+d->n*d->from->width;
  uint8_t one;
  size_t got = 0;
  if( d->ended || numbers_are_plain(d) ) return SQLITE_OK;
  d->ended = zt_encoding_zlib.sound(d->inner, end+d->component.number_behind);
  if( d->ended ) return SQLITE_OK;
  if( numbers_inflate(d, NULL, d->component.number_behind, err)
   || zt_encoding_zlib.next(d->inner, &one, 1, &got, err) ) return err->rc;
  if( got ) return zt_payload_fail_long(d->n*d->from->width, "zlib", err);
  d->ended = true;
  return SQLITE_OK;
}

/* Read the stored bytes of the next n numbers. */
static int numbers_read(numbers *d, size_t n, zt_error *err){
  const zt_component *component = &d->component;
  const uint64_t skip = component->number_skip;
  uint64_t position;
  if( numbers_are_plain(d) ){
    return zt_source_read(d->payload.source,
                          component->offset+skip+d->at*d->from->width,
                          &d->stored, n*d->from->width, err);
  }
  if( !d->inner && (zt_encoding_zlib.go_on(&d->payload, skip, &d->inner, &position, err)
   || numbers_inflate(d, NULL, skip-position, err)) ) return err->rc;
  return numbers_inflate(d, d->stored.bytes, n*d->from->width, err);
}

/* --- Converting --- */

/* True if a conversion may round a number. */
static bool numbers_may_round(const zt_dtype *from, const zt_dtype *to){
  if( to->class==ZT_BOOL ) return false;
  if( from->class==ZT_FLOAT ) return to->class!=ZT_FLOAT || to->width<from->width;
  return to->class==ZT_FLOAT && from->width>=to->width;
}

/* True if number i is the same as after it was converted, and back. Its NaN may have other bits. */
static bool numbers_is_same(const numbers *d, size_t i){
  const zt_scalar a = zt_scalar_of(d->from, d->stored.bytes+i*d->from->width);
  const zt_scalar b = zt_scalar_of(d->from, d->again.bytes+i*d->from->width);
  if( a.class==ZT_FLOAT ) return a.real==b.real || (isnan(a.real) && isnan(b.real));
  return a.i==b.i && a.u==b.u;
}

/* Convert n numbers. Returns how many of them are exact, up to the first one that is not. */
static size_t numbers_convert(numbers *d, size_t n){
  const size_t done = zt_convert(d->from, &d->stored, d->to, &d->converted, n);
  size_t back, i = 0;
  if( !numbers_may_round(d->from, d->to) ) return done;
  back = zt_convert(d->to, &d->converted, d->from, &d->again, done);
  if( memcmp(&d->again, &d->stored, back*d->from->width)==0 ) return back;
  while( i<back && numbers_is_same(d, i) ) i++;
  return i;
}

/* Convert the next numbers. `end` stays 0 if there are none. */
static int numbers_refill(numbers *d, zt_error *err){
  const size_t n = d->n-d->at<NUMBERS_PIECE ? (size_t)(d->n-d->at) : NUMBERS_PIECE;
  size_t done;
  d->begin = d->end = 0;
  if( numbers_read(d, n, err) ) return err->rc;
  if( d->swap ) zt_swap_bytes(&d->stored, n*d->from->width, d->from->unit);
  done = numbers_convert(d, n);
  if( done<n ){
    return zt_break(err, "E6", "number %llu, which is stored as %s, does not fit %s", d->at+done,
                    d->from->name, d->to->name);
  }
  if( zt_big_endian() ) zt_swap_bytes(&d->converted, n*d->to->width, d->to->unit);
  d->at += n;
  d->end = n*d->to->width;
  return n==0 ? numbers_end(d, err) : SQLITE_OK;
}

static int numbers_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  numbers *d = decoder;
  *got = 0;
  if( d->begin==d->end && numbers_refill(d, err) ) return err->rc;
  *got = d->end-d->begin<n ? d->end-d->begin : n;
  if( *got ) memcpy(out, d->converted.bytes+d->begin, *got);
  d->begin += *got;
  return SQLITE_OK;
}

/* A stream of zlib begins anew if it has to go back. */
static int numbers_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  numbers *d = decoder;
  const uint64_t here = d->at*d->to->width-(d->end-d->begin);
  (void)err;
  *position = here;
  if( !numbers_are_plain(d) && offset>=here ) return SQLITE_OK;
  d->begin = d->end = 0;
  d->at = 0;
  if( numbers_are_plain(d) ){
    d->at = offset/d->to->width<d->n ? offset/d->to->width : d->n;
  }else if( d->inner ){
    zt_encoding_zlib.close(d->inner);
    d->inner = NULL;
    d->ended = false;
  }
  *position = d->at*d->to->width;
  return SQLITE_OK;
}

const zt_encoding zt_encoding_numbers = {
  .name = "numbers", .open = numbers_open, .next = numbers_next, .close = numbers_close,
  .seek = numbers_seek
};
