/*
** Filters of chunks, undone from the last to the first. See chunk_filters.h.
**
**   zlib         a stream of RFC 1950: two bytes, a deflate stream, Adler-32 of the decoded bytes
**   shuffle      the first bytes of all elements, then their second bytes ..., and the rest
**   fletcher32   the data, and a u32le: the sums of its 16-bit words, and of these sums, modulo
**                65535
**
** A stream of zlib that another filter packs again has a size of its own, which is not stated: that
** of a compressor, which adds little to bytes that it cannot make fewer.
**
**   CH1  a chunk decodes to exactly its size, and a stream in a stream is not much longer than that
**   CH2  checksums of chunks are right
** Rules: E2 (encoding.h) is that of deflate.
*/
#include "tensor/chunk_filters.h"

#include "core/adler32.h"
#include "core/host.h"
#include "core/vector.h"

#define FILTERS_SUM 4                   /* Bytes of a checksum */
#define FILTERS_ZLIB_HEAD 2
#define FILTERS_WORDS 360               /* Words whose sums of sums fit 32 bits */
#define FILTERS_SPARE 4096              /* A zlib stream may be so much longer than its content, */
#define FILTERS_SPARE_PART 64           /* and by this part of it */

void zt_unfilter_clear(zt_unfilter *u){
  zt_inflate_free(u->inflate);
  sqlite3_free(u->stored);
  sqlite3_free(u->half[0]);
  sqlite3_free(u->half[1]);
  *u = (zt_unfilter){ .inflate = NULL };
}

static uint8_t *filters_room(uint8_t **p, uint64_t *room, uint64_t n, zt_error *err){
  if( *p && *room>=n ) return *p;
  sqlite3_free(*p);
  *room = 0;
  *p = sqlite3_malloc64(n+1);
  if( *p ) *room = n;
  else zt_fail_nomem(err);
  return *p;
}

uint8_t *zt_unfilter_room(zt_unfilter *u, uint64_t n, zt_error *err){
  return filters_room(&u->stored, &u->stored_room, n, err);
}

/* CH1 */
static int filters_fail_size(uint64_t n, uint64_t wanted, zt_error *err){
  return zt_break(err, "CH1", "a chunk decodes to %llu bytes, and has %llu", (unsigned long long)n,
                  (unsigned long long)wanted);
}

/* --- zlib --- */

/* Decode a stream of *n bytes, or of at most *n, which become those that it has. */
static int filters_inflate(zt_unfilter *u, zt_span in, bool exact, uint8_t *out, uint64_t *n,
                           zt_error *err){
  uint8_t one;
  size_t got = 0, more = 0, behind = 0;
  if( in.n<FILTERS_ZLIB_HEAD || (in.p[0] & 15)!=8 || (in.p[0]<<8 | in.p[1])%31 || in.p[1] & 0x20 ){
    return zt_break(err, "E2", "deflate: a chunk that is no zlib stream");
  }
  if( !u->inflate && (u->inflate = zt_inflate_new(err))==NULL ) return err->rc;
  zt_inflate_reset(u->inflate);
  in.p += FILTERS_ZLIB_HEAD;
  in.n -= FILTERS_ZLIB_HEAD;
  if( zt_inflate_next(u->inflate, &in, out, (size_t)*n, &got, err)
   || zt_inflate_next(u->inflate, &in, &one, 1, &more, err) ) return err->rc;
  if( exact && got+more!=*n ) return filters_fail_size(got+more, *n, err);
  if( more ){
    return zt_break(err, "CH1", "a chunk decodes to a stream of more than %llu bytes, which are"
                    " the most that one of its own has", (unsigned long long)*n);
  }
  *n = got;
  if( !zt_inflate_ended(u->inflate, &behind) || behind+in.n<FILTERS_SUM ){
    return zt_break(err, "E2", "deflate: the stored bytes end within the stream");
  }
  in.p -= behind;
  if( zt_be(in.p, FILTERS_SUM)==zt_adler32(out, got) ) return SQLITE_OK;
  return zt_break(err, "E2", "deflate: a chunk whose Adler-32 is wrong");
}

/* --- Shuffle --- */

/* Elements of 2, 4 and 8 bytes in the order of their bytes, by shifts. */
#define FILTERS_UNSHUFFLE(bits, expression) \
  ZT_VECTOR static void filters_unshuffle##bits(const uint8_t *in, size_t n, uint8_t *out){ \
    for(size_t i=0; i<n; i++){ \
      const uint##bits##_t u = (uint##bits##_t)(expression); \
      memcpy(out+i*sizeof(u), &u, sizeof(u)); \
    } \
  }
#define FILTERS_BYTE(type, k) (type)((type)in[i+(k)*n]<<8*(k))
FILTERS_UNSHUFFLE(16, FILTERS_BYTE(uint32_t, 0) | FILTERS_BYTE(uint32_t, 1))
FILTERS_UNSHUFFLE(32, FILTERS_BYTE(uint32_t, 0) | FILTERS_BYTE(uint32_t, 1)
                      | FILTERS_BYTE(uint32_t, 2) | FILTERS_BYTE(uint32_t, 3))
FILTERS_UNSHUFFLE(64, FILTERS_BYTE(uint64_t, 0) | FILTERS_BYTE(uint64_t, 1)
                      | FILTERS_BYTE(uint64_t, 2) | FILTERS_BYTE(uint64_t, 3)
                      | FILTERS_BYTE(uint64_t, 4) | FILTERS_BYTE(uint64_t, 5)
                      | FILTERS_BYTE(uint64_t, 6) | FILTERS_BYTE(uint64_t, 7))

static bool filters_little_endian(void){
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first==1;
}

static void filters_unshuffle(const uint8_t *in, uint64_t bytes, uint32_t width, uint8_t *out){
  const size_t n = (size_t)(bytes/width), rest = (size_t)(bytes%width);
  if( width==2 && filters_little_endian() ) filters_unshuffle16(in, n, out);
  else if( width==4 && filters_little_endian() ) filters_unshuffle32(in, n, out);
  else if( width==8 && filters_little_endian() ) filters_unshuffle64(in, n, out);
  else{
    for(uint32_t k=0; k<width; k++){
      for(size_t i=0; i<n; i++) out[i*width+k] = in[k*n+i];
    }
  }
  if( rest ) memcpy(out+n*width, in+n*width, rest);
}

/* --- Fletcher's checksum --- */

static uint32_t filters_fletcher(const uint8_t *p, uint64_t n){
  uint32_t sum = 0, sums = 0;
  uint64_t words = n/2;
  while( words>0 ){
    uint64_t piece = words<FILTERS_WORDS ? words : FILTERS_WORDS;
    words -= piece;
    for(; piece>0; piece--, p+=2){
      sum += (uint32_t)p[0]<<8 | p[1];
      sums += sum;
    }
    sum = (sum & 0xFFFF)+(sum>>16);
    sums = (sums & 0xFFFF)+(sums>>16);
  }
  if( n%2 ){
    sum += (uint32_t)p[0]<<8;
    sums += sum;
    sum = (sum & 0xFFFF)+(sum>>16);
    sums = (sums & 0xFFFF)+(sums>>16);
  }
  sum = (sum & 0xFFFF)+(sum>>16);
  sums = (sums & 0xFFFF)+(sums>>16);
  return sums<<16 | sum;
}

/* HDF5 before 1.6.3 swapped the bytes of each half, and readers accept both. */
static int filters_check_sum(const uint8_t *p, uint64_t n, zt_error *err){
  const uint32_t sum = filters_fletcher(p, n), stored = zt_le32(p+n);
  const uint32_t swapped = (stored & 0x00FF00FFu)<<8 | (stored>>8 & 0x00FF00FFu);
  if( stored==sum || swapped==sum ) return SQLITE_OK;
  return zt_break(err, "CH2", "fletcher32: a chunk whose checksum is wrong");
}

/* --- All --- */

/* Bytes that remain after filter i is undone: the filters before it may have added checksums. If
** they made zlib streams, *exact is false, and these are the most. */
static uint64_t filters_size(const zt_chunks *c, const zt_chunk *chunk, uint32_t i, bool *exact){
  uint64_t n = c->bytes;
  *exact = true;
  for(uint32_t k=0; k<i; k++){
    if( chunk->skipped>>k & 1 ) continue;
    if( c->filter[k].id==ZT_FILTER_FLETCHER32 ) n += FILTERS_SUM;
    if( c->filter[k].id!=ZT_FILTER_ZLIB ) continue;
    n += n/FILTERS_SPARE_PART+FILTERS_SPARE;   /* Of 31 filters, less than twice, and 200 KiB */
    *exact = false;
  }
  return n;
}

int zt_unfilter_chunk(zt_unfilter *u, const zt_chunks *c, const zt_chunk *chunk, uint8_t *stored,
                      uint64_t n, uint8_t *out, zt_error *err){
  const uint8_t *data = stored;
  unsigned next = 0;
  for(uint32_t i=c->filters; i-->0; ){
    const zt_chunk_filter *f = &c->filter[i];
    bool exact;
    uint64_t size = filters_size(c, chunk, i, &exact);
    uint8_t *to;
    if( chunk->skipped>>i & 1 ) continue;
    if( f->id==ZT_FILTER_FLETCHER32 ){
      if( n<FILTERS_SUM ) return filters_fail_size(n, size, err);
      n -= FILTERS_SUM;
      if( filters_check_sum(data, n, err) ) return err->rc;
      continue;
    }
    if( f->id==ZT_FILTER_SHUFFLE && f->width==0 ){
      return zt_break(err, "CH1", "a chunk is shuffled by elements of 0 bytes");
    }
    if( f->id==ZT_FILTER_SHUFFLE && (f->width<2 || n<f->width) ) continue;
    to = i==0 ? out   /* size is c->bytes */
       : filters_room(&u->half[next], &u->half_room[next], size>n ? size : n, err);
    next ^= 1;
    if( !to ) return err->rc;
    if( f->id==ZT_FILTER_ZLIB ){
      if( filters_inflate(u, (zt_span){ data, (size_t)n }, exact, to, &size, err) ) return err->rc;
      n = size;
    }else{
      if( to==out && n!=size ) return filters_fail_size(n, size, err);
      filters_unshuffle(data, n, f->width, to);
    }
    data = to;
  }
  if( n!=c->bytes ) return filters_fail_size(n, c->bytes, err);
  if( data!=out ) memcpy(out, data, (size_t)n);
  return SQLITE_OK;
}
