/* Decoder of deflate streams, by ISA-L. See inflate.h. */
#include "core/inflate.h"

#if ZT_INFLATE_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include "core/avx.h"
#include "core/host.h"

#define INFLATE_PIECE ((size_t)1 << 30)   /* ISA-L counts in 32 bits */

/* The parts of gzip's header (RFC 1952, 2.3), in their order, and the flag of each. */
typedef enum inflate_part {
  INFLATE_FIXED, INFLATE_EXTRA_SIZE, INFLATE_EXTRA, INFLATE_NAME, INFLATE_COMMENT, INFLATE_CHECK,
  INFLATE_DATA
} inflate_part;
static const uint8_t inflate_part_flags[] = { 0, 4, 4, 8, 16, 2 };

struct zt_inflate {
  struct inflate_state state;
  inflate_part part;         /* Of gzip's header, which is next; INFLATE_DATA: none is */
  uint32_t at;               /* Bytes of the part that were read */
  uint8_t flags;
  uint32_t extra, crc;       /* Size of the extra field, and CRC-32 of the header so far */
};

zt_inflate *zt_inflate_new(zt_error *err){
  zt_inflate *d = sqlite3_malloc64(sizeof(*d));
  if( d ) zt_inflate_reset(d);
  else zt_fail_nomem(err);
  return d;
}

void zt_inflate_free(zt_inflate *d){
  sqlite3_free(d);
}

void zt_inflate_reset(zt_inflate *d){
  zt_inflate_begin(d, ZT_INFLATE_BARE);
}

/* ISA-L reads a header of gzip wrong that comes in several pieces: it is read here. */
void zt_inflate_begin(zt_inflate *d, zt_inflate_around around){
  const bool gzip = around==ZT_INFLATE_GZIP;
  isal_inflate_init(&d->state);
  if( around==ZT_INFLATE_ZLIB ) d->state.crc_flag = ISAL_ZLIB;
  if( gzip ) d->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
  d->part = gzip ? INFLATE_FIXED : INFLATE_DATA;
  d->at = d->extra = d->crc = 0;
  d->flags = 0;
}

static int inflate_fail(int code, zt_error *err){
  const char *what = code==ISAL_INVALID_SYMBOL ? "an invalid code"
                   : code==ISAL_INCORRECT_CHECKSUM ? "its bytes do not have the checksum behind"
                   : code==ISAL_NEED_DICT ? "it needs a dictionary"
                   : code==ISAL_INVALID_WRAPPER || code==ISAL_UNSUPPORTED_METHOD
                     ? "an invalid header"
                   : code==ISAL_INVALID_LOOKBACK ? "a distance that reaches before the first byte"
                   : "an invalid block";
  return zt_break(err, "E2", "deflate: %s", what);
}

/* Take the next byte of the header's part. *last is whether the part ends with it. False if it is
** invalid. */
static bool inflate_take_byte(zt_inflate *d, uint8_t byte, bool *last){
  static const uint8_t begin[] = { 0x1F, 0x8B, 8 };
  const uint32_t at = d->at++;
  if( d->part==INFLATE_CHECK ){
    *last = at==1;
    return byte==(uint8_t)(d->crc>>8*at);
  }
  d->crc = crc32_gzip_refl(d->crc, &byte, 1);
  zt_avx_leave();
  if( d->part==INFLATE_FIXED ){
    *last = at==9;
    if( at==3 ) d->flags = byte;
    return at<sizeof(begin) ? byte==begin[at] : at!=3 || byte<0x20;   /* No other flag is known */
  }
  if( d->part==INFLATE_EXTRA_SIZE ) d->extra |= (uint32_t)byte<<8*at;
  *last = d->part==INFLATE_EXTRA_SIZE ? at==1 : d->part==INFLATE_EXTRA ? at+1==d->extra : byte==0;
  return true;
}

/* Take gzip's header from the front of *in, as far as it is there. */
static int inflate_take_header(zt_inflate *d, zt_span *in, zt_error *err){
  while( d->part!=INFLATE_DATA ){
    const bool there = d->part==INFLATE_FIXED
                    || ((d->flags & inflate_part_flags[d->part])
                        && (d->part!=INFLATE_EXTRA || d->extra>0));
    bool last = !there;
    if( there && in->n==0 ) return SQLITE_OK;
    if( there && !inflate_take_byte(d, *in->p, &last) ){
      return inflate_fail(ISAL_INVALID_WRAPPER, err);
    }
    if( there ) *in = (zt_span){ in->p+1, in->n-1 };
    if( last ){
      d->part++;
      d->at = 0;
    }
  }
  return SQLITE_OK;
}

int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *n_read,
                    zt_error *err){
  struct inflate_state *s = &d->state;
  size_t taken;
  int code;
  *n_read = 0;
  if( inflate_take_header(d, in, err) || d->part!=INFLATE_DATA ) return err->rc;
  taken = in->n<INFLATE_PIECE ? in->n : INFLATE_PIECE;
  if( n>INFLATE_PIECE ) n = INFLATE_PIECE;
  memcpy(&s->next_in, &in->p, sizeof(s->next_in));   /* ISA-L only reads, but its pointer is not
                                                     ** const */
  s->avail_in = (uint32_t)taken;
  s->next_out = out;
  s->avail_out = (uint32_t)n;
  code = s->block_state==ISAL_BLOCK_FINISH ? ISAL_DECOMP_OK : isal_inflate(s);
  zt_avx_leave();
  *n_read = n-s->avail_out;
  /* After a failure, avail_in may be too large */
  if( code<0 || code==ISAL_NEED_DICT || s->avail_in>taken ) return inflate_fail(code, err);
  taken -= s->avail_in;
  if( taken ) in->p += taken;   /* It may be NULL */
  in->n -= taken;
  return SQLITE_OK;
}

bool zt_inflate_ended(const zt_inflate *d, size_t *behind){
  /* Whole bytes in the bit buffer */
  *behind = d->state.block_state==ISAL_BLOCK_FINISH ? (size_t)(d->state.read_in_length/8) : 0;
  return d->state.block_state==ISAL_BLOCK_FINISH;
}

#endif
