/* The bytes of a pickle's file. See pickle_input.h. */
#include "container/pickle_input.h"

#include <assert.h>
#include "container/pickle_opcodes.h"
#include "core/host.h"

#define INPUT_WINDOW ((size_t)64 << 10)   /* Stored bytes that are read at once */
#define INPUT_PIECE ((size_t)64 << 10)    /* Decoded bytes that are skipped at once */

bool zt_pickle_has_mark(const uint8_t *p, size_t n){
  return n>=ZT_PICKLE_HEAD && p[0]==ZT_PICKLE_OP_PROTO && p[1]>=2 && p[1]<=5
      && zt_pickle_opcodes[p[2]].name && p[2]!=ZT_PICKLE_OP_PROTO;
}

zt_inflate_around zt_pickle_input_around(const zt_head_tail *input){
  const uint8_t *p = input->head.p;
  if( input->head.n<4 ) return ZT_INFLATE_BARE;
  if( p[0]==0x1F && p[1]==0x8B && p[2]==8 ) return ZT_INFLATE_GZIP;
  /* RFC 1950: the method, a window of 32 KiB, no dictionary, and the check of both bytes */
  if( p[0]==0x78 && !(p[1] & 0x20) && (p[0]*256+p[1])%31==0 ) return ZT_INFLATE_ZLIB;
  return ZT_INFLATE_BARE;
}

int zt_pickle_input_open(zt_builder *b, zt_inflate_around around, zt_pickle_input *out){
  *out = (zt_pickle_input){ .b = b, .around = around, .size = zt_source_size(b->source) };
  if( around==ZT_INFLATE_BARE ) return SQLITE_OK;
  out->inflate = zt_inflate_new(b->err);
  if( !out->inflate ) return b->err->rc;
  zt_inflate_begin(out->inflate, around);
  out->window = sqlite3_malloc64(INPUT_WINDOW);
  return out->window ? SQLITE_OK : zt_fail_nomem(b->err);
}

void zt_pickle_input_clear(zt_pickle_input *in){
  zt_inflate_free(in->inflate);
  sqlite3_free(in->window);
}

/* Where the stream has ended: true if it may go on, as another member of gzip. */
static bool input_goes_on(zt_pickle_input *in){
  return in->around==ZT_INFLATE_GZIP
      && (zt_inflate_next_member(in->inflate, &in->in)
          || (in->in.n==0 && in->at<zt_source_size(in->b->source)));
}

/* Decode up to n bytes; none only at the end of the stream, or of the last member of gzip. */
static int input_decode(zt_pickle_input *in, uint8_t *out, size_t n, size_t *got){
  zt_builder *b = in->b;
  size_t behind;
  assert( n>0 );
  for(*got=0; ; ){
    const uint64_t stored = zt_source_size(b->source)-in->at;
    if( in->in.n==0 && stored>0 ){
      const size_t piece = stored<INPUT_WINDOW ? (size_t)stored : INPUT_WINDOW;
      if( zt_interrupt_check(b->interrupt, b->err)
       || zt_source_read(b->source, in->at, in->window, piece, b->err) ) return b->err->rc;
      in->in = (zt_span){ in->window, piece };
      in->at += piece;
    }
    if( zt_inflate_next(in->inflate, &in->in, out, n, got, b->err) || *got>0 ) break;
    if( zt_inflate_ended(in->inflate, &behind) ){
      if( !input_goes_on(in) ) break;
    }else if( in->in.n==0 && in->at==zt_source_size(b->source) ){
      return zt_break(b->err, "E2", "deflate: the stored bytes end within the stream");
    }
  }
  in->position += *got;
  return b->err->rc;
}

int zt_pickle_input_read(zt_pickle_input *in, uint8_t *out, size_t n, size_t *got){
  zt_builder *b = in->b;
  size_t piece = 1;
  *got = 0;
  if( in->inflate ){
    while( *got<n && piece>0 ){
      if( input_decode(in, out+*got, n-*got, &piece) ) return b->err->rc;
      *got += piece;
    }
    return SQLITE_OK;
  }
  if( n>in->size-in->position ) n = (size_t)(in->size-in->position);
  if( zt_interrupt_check(b->interrupt, b->err)
   || zt_source_read(b->source, in->position, out, n, b->err) ) return b->err->rc;
  in->position += n;
  *got = n;
  return SQLITE_OK;
}

int zt_pickle_input_skip(zt_pickle_input *in, uint64_t n, uint64_t *skipped){
  uint8_t *piece;
  size_t got = 1;
  *skipped = 0;
  if( !in->inflate ){
    *skipped = n<in->size-in->position ? n : in->size-in->position;
    in->position += *skipped;
    return SQLITE_OK;
  }
  piece = sqlite3_malloc64(INPUT_PIECE);
  if( !piece ) return zt_fail_nomem(in->b->err);
  while( *skipped<n && got>0 ){
    const uint64_t remaining = n-*skipped;
    if( input_decode(in, piece, remaining<INPUT_PIECE ? (size_t)remaining : INPUT_PIECE, &got) ){
      break;
    }
    *skipped += got;
  }
  sqlite3_free(piece);
  return in->b->err->rc;
}

int zt_pickle_input_end(zt_pickle_input *in){
  uint64_t skipped, more;
  size_t behind = 0;
  assert( in->inflate );
  if( zt_pickle_input_skip(in, UINT64_MAX, &skipped) ) return in->b->err->rc;
  in->size = in->position;
  zt_inflate_ended(in->inflate, &behind);
  more = behind+in->in.n+(zt_source_size(in->b->source)-in->at);
  if( more==0 ) return SQLITE_OK;
  return zt_break(in->b->err, "E2", "deflate: %llu bytes follow behind the stream's end",
                  (unsigned long long)more);
}
