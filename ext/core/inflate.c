/* Decoder of deflate streams, by ISA-L. See inflate.h. */
#include "core/inflate.h"

#if ZT_INFLATE_ISAL

#include <isa-l/igzip_lib.h>
#include "core/avx.h"
#include "core/host.h"

#define INFLATE_PIECE ((size_t)1 << 30)   /* ISA-L counts in 32 bits */

struct zt_inflate {
  struct inflate_state state;
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
  isal_inflate_init(&d->state);
}

void zt_inflate_begin(zt_inflate *d, zt_inflate_around around){
  isal_inflate_init(&d->state);
  if( around==ZT_INFLATE_ZLIB ) d->state.crc_flag = ISAL_ZLIB;
  if( around==ZT_INFLATE_GZIP ) d->state.crc_flag = ISAL_GZIP;
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

int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *n_read,
                    zt_error *err){
  struct inflate_state *s = &d->state;
  size_t taken = in->n<INFLATE_PIECE ? in->n : INFLATE_PIECE;
  int code;
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
