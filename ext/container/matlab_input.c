/* Elements of a MATLAB file. See matlab_input.h; matlab.c has the grammar. */
#include "container/matlab_input.h"

#define MATLAB_WORK ((uint64_t)4 << 20)   /* Decoded bytes between two checks for an interrupt */
#define MATLAB_ZLIB_HEAD 2
#define MATLAB_ZLIB_LEAST 8   /* Bytes of the shortest stream: head, an empty block, checksum */

void zt_matlab_close(zt_matlab_in *in){
  zt_inflate_free(in->inflate);
  in->inflate = NULL;
}

static bool matlab_fail_stream(zt_matlab_in *in, const char *fault){
  zt_break(in->err, "ML4", "the compressed element at byte %llu %s", in->offset, fault);
  return false;
}

bool zt_matlab_unpack(zt_matlab_in *in, uint64_t offset, uint64_t length){
  uint8_t head[MATLAB_ZLIB_HEAD];
  in->packed = true;
  in->at = 0;
  in->offset = offset;
  in->length = length;
  in->read = 0;
  in->in = (zt_span){ NULL, 0 };
  if( length<MATLAB_ZLIB_LEAST ) return matlab_fail_stream(in, "is too short for a zlib stream");
  if( zt_source_read(in->source, offset, head, sizeof(head), in->err) ) return false;
  if( (head[0] & 15)!=8 || (head[0]*256u+head[1])%31 || (head[1] & 0x20) ){
    return matlab_fail_stream(in, "is no zlib stream");
  }
  if( !in->inflate ) in->inflate = zt_inflate_new(in->err);
  if( in->inflate ) zt_inflate_begin(in->inflate, ZT_INFLATE_ZLIB);
  return in->inflate!=NULL;
}

void zt_matlab_return(zt_matlab_in *in, uint64_t at){
  in->packed = false;
  in->at = at;
  in->n = 0;   /* The window had compressed bytes */
}

/* Decode at most n bytes to out. *got is 0 only at the end of the stored bytes or of the stream,
** and where the window's bytes are not enough for one. */
static bool matlab_decode(zt_matlab_in *in, uint8_t *out, size_t n, size_t *got){
  if( in->in.n==0 ){
    const uint64_t remaining = in->length-in->read;
    in->in.p = in->window;
    in->in.n = remaining<ZT_MATLAB_WINDOW ? (size_t)remaining : ZT_MATLAB_WINDOW;
    if( zt_source_read(in->source, in->offset+in->read, in->window, in->in.n, in->err) ){
      return false;
    }
    in->read += in->in.n;
  }
  return zt_inflate_next(in->inflate, &in->in, out, n, got, in->err)==SQLITE_OK;
}

/* Decode n bytes to out. */
static bool matlab_inflate(zt_matlab_in *in, uint8_t *out, size_t n){
  size_t got = 0;
  while( n>0 ){
    if( !matlab_decode(in, out, n, &got) ) return false;
    if( got==0 && (in->in.n>0 || in->read==in->length) ){
      return matlab_fail_stream(in, "ends early");
    }
    out += got;
    n -= got;
    in->at += got;
  }
  return true;
}

bool zt_matlab_end(zt_matlab_in *in){
  uint8_t more;
  size_t got, behind;
  while( !zt_inflate_ended(in->inflate, &behind) ){
    const bool whole = in->read==in->length;
    if( !matlab_decode(in, &more, 1, &got) ) return false;
    if( got>0 ) return matlab_fail_stream(in, "decodes to more than its matrix");
    if( whole && !zt_inflate_ended(in->inflate, &behind) ){
      return matlab_fail_stream(in, "ends early");
    }
  }
  if( behind+in->in.n+(in->length-in->read)==0 ) return true;
  return matlab_fail_stream(in, "goes on behind its stream");
}

/* Copy n bytes of the file, at most a window. */
static bool matlab_copy(zt_matlab_in *in, uint8_t *out, size_t n){
  if( in->at<in->from || in->at-in->from>in->n || n>in->n-(size_t)(in->at-in->from) ){
    const uint64_t remaining = zt_source_size(in->source)-in->at;
    in->n = 0;
    if( zt_source_read(in->source, in->at, in->window,
                       remaining<ZT_MATLAB_WINDOW ? (size_t)remaining : ZT_MATLAB_WINDOW,
                       in->err) ) return false;
    in->n = remaining<ZT_MATLAB_WINDOW ? (size_t)remaining : ZT_MATLAB_WINDOW;
    in->from = in->at;
  }
  memcpy(out, in->window+(in->at-in->from), n);
  in->at += n;
  return true;
}

bool zt_matlab_take(zt_matlab_in *in, void *out, size_t n){
  uint8_t *p = out;
  if( in->err->rc ) return false;
  if( in->packed ) return matlab_inflate(in, p, n);
  if( n<=ZT_MATLAB_WINDOW/8 ) return matlab_copy(in, p, n);
  if( zt_source_read(in->source, in->at, p, n, in->err) ) return false;
  in->at += n;
  return true;
}

bool zt_matlab_pass(zt_matlab_in *in, uint64_t to){
  uint8_t dropped[2048];
  uint64_t work = 0;
  if( in->err->rc ) return false;
  if( !in->packed ) in->at = to;
  while( in->at<to ){
    const size_t n = to-in->at<sizeof(dropped) ? (size_t)(to-in->at) : sizeof(dropped);
    if( !matlab_inflate(in, dropped, n) ) return false;
    work += n;
    if( work<MATLAB_WORK ) continue;
    work = 0;
    if( zt_interrupt_check(in->interrupt, in->err) ) return false;
  }
  return true;
}

uint64_t zt_matlab_number(const zt_matlab_in *in, const uint8_t *p, unsigned width){
  uint64_t u = 0;
  if( in->big ) return zt_be(p, width);
  for(unsigned i=width; i-->0;) u = u<<8 | p[i];
  return u;
}

bool zt_matlab_next(zt_matlab_in *in, uint64_t end, zt_matlab_tag *out){
  const uint64_t at = in->at;
  uint8_t head[8];
  uint32_t first;
  if( !zt_claim(end, at, 8) ){
    if( !in->err->rc ) zt_break(in->err, "ML2", "byte %llu: no element has room here", at);
    return false;
  }
  if( !zt_matlab_take(in, head, 4) ) return false;
  first = (uint32_t)zt_matlab_number(in, head, 4);
  *out = (zt_matlab_tag){ .type = first & 0xFFFF, .data = at+4, .size = first>>16 };
  if( out->size ){
    out->next = at+8;
    if( out->size<=4 ) return true;
    zt_break(in->err, "ML2", "byte %llu: an element of %llu bytes within its head, which has room"
             " for 4", at, out->size);
    return false;
  }
  if( !zt_matlab_take(in, head, 4) ) return false;
  out->type = first;
  out->size = zt_matlab_number(in, head, 4);
  out->data = at+8;
  if( out->size>end-out->data ){
    zt_break(in->err, "ML2", "byte %llu: an element of %llu bytes goes beyond byte %llu, the end of"
             " what it is in", at, out->size, end);
    return false;
  }
  out->next = out->data+out->size;
  if( out->type!=ZT_MATLAB_MATRIX && out->type!=ZT_MATLAB_COMPRESSED ){
    const uint64_t padding = (8-out->size%8)%8;
    out->next += padding<end-out->next ? padding : end-out->next;
  }
  return true;
}
