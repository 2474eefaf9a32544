/* Decoder of deflate streams, by zlib, for machines on which ISA-L is wrong. See inflate.h. */
#include "core/inflate.h"

#if !ZT_INFLATE_ISAL

#include <zlib.h>
#include "core/host.h"

#define INFLATE_PIECE ((size_t)1 << 30)   /* zlib counts in 32 bits */

struct zt_inflate {
  z_stream stream;
  bool ended;
};

static void *inflate_alloc(void *unused, uInt n, uInt size){
  (void)unused;
  return sqlite3_malloc64((sqlite3_uint64)n*size);
}

static void inflate_release(void *unused, void *p){
  (void)unused;
  sqlite3_free(p);
}

zt_inflate *zt_inflate_new(zt_error *err){
  zt_inflate *d = sqlite3_malloc64(sizeof(*d));
  if( d ){
    d->stream = (z_stream){ .zalloc = inflate_alloc, .zfree = inflate_release };
    d->ended = false;
    if( inflateInit2(&d->stream, -MAX_WBITS)==Z_OK ) return d;
    sqlite3_free(d);
  }
  zt_fail_nomem(err);
  return NULL;
}

void zt_inflate_free(zt_inflate *d){
  if( d ) inflateEnd(&d->stream);
  sqlite3_free(d);
}

void zt_inflate_reset(zt_inflate *d){
  zt_inflate_begin(d, ZT_INFLATE_BARE);
}

void zt_inflate_begin(zt_inflate *d, zt_inflate_around around){
  int bits = around==ZT_INFLATE_ZLIB ? MAX_WBITS
           : around==ZT_INFLATE_GZIP ? MAX_WBITS+16 : -MAX_WBITS;
  inflateReset2(&d->stream, bits);   /* Fails for other numbers of bits alone */
  d->ended = false;
}

/* zlib tells what is wrong by a message alone: they begin with these words. All others are about
** the description of a block. */
static const struct { const char *begin, *what; } inflate_faults[] = {
  { "invalid literal/length code", "an invalid code" },
  { "invalid distance code", "an invalid code" },
  { "invalid distance too far back", "a distance that reaches before the first byte" },
  { "incorrect header check", "an invalid header" },
  { "unknown compression method", "an invalid header" },
  { "unknown header flags set", "an invalid header" },
  { "invalid window size", "an invalid header" },
  { "header crc mismatch", "an invalid header" },
  { "incorrect data check", "its bytes do not have the checksum behind" },
  { "incorrect length check", "its bytes do not have the checksum behind" },
};

static int inflate_fail(const z_stream *s, int code, zt_error *err){
  const char *what = code==Z_NEED_DICT ? "it needs a dictionary" : "an invalid block";
  if( code==Z_MEM_ERROR ) return zt_fail_nomem(err);
  for(size_t i=0; s->msg && i<sizeof(inflate_faults)/sizeof(inflate_faults[0]); i++){
    if( strcmp(s->msg, inflate_faults[i].begin)==0 ) what = inflate_faults[i].what;
  }
  return zt_break(err, "E2", "deflate: %s", what);
}

int zt_inflate_next(zt_inflate *d, zt_span *in, uint8_t *out, size_t n, size_t *n_read,
                    zt_error *err){
  z_stream *s = &d->stream;
  size_t taken = in->n<INFLATE_PIECE ? in->n : INFLATE_PIECE;
  int code = Z_OK;
  if( n>INFLATE_PIECE ) n = INFLATE_PIECE;
  memcpy(&s->next_in, &in->p, sizeof(s->next_in));   /* Not a pointer to const in every zlib */
  s->avail_in = (uInt)taken;
  s->next_out = out;
  s->avail_out = (uInt)n;
  if( !d->ended ) code = inflate(s, Z_NO_FLUSH);
  d->ended = d->ended || code==Z_STREAM_END;
  *n_read = n-s->avail_out;
  /* Nothing was to be read or to be written: the next call has more */
  if( code!=Z_OK && code!=Z_STREAM_END && code!=Z_BUF_ERROR ) return inflate_fail(s, code, err);
  taken -= s->avail_in;
  if( taken ) in->p += taken;   /* It may be NULL */
  in->n -= taken;
  return SQLITE_OK;
}

bool zt_inflate_ended(const zt_inflate *d, size_t *behind){
  *behind = 0;   /* zlib takes no byte behind the end */
  return d->ended;
}

#endif
